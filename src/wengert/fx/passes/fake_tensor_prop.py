"""``FakeTensorProp``: notes the values of a graph's nodes, in a ``FakeTensorMode`` without their data."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import wengert as torch

from ..interpreter import Interpreter
from ..node import Node, map_aggregate
from .shape_prop import _extract_tensor_metadata

__all__ = ["FakeTensorProp"]


class FakeTensorProp(Interpreter):
    """Runs a graph and notes the value of each node in ``meta["val"]``, and what it is like in ``"tensor_meta"``.

    Args:
        mode: a ``FakeTensorMode``; without one, the graph runs with data.

    >>> import wengert as torch
    >>> from wengert.fx.passes.fake_tensor_prop import FakeTensorProp
    >>> gm = torch.fx.symbolic_trace(lambda x: x.sum(0))
    >>> _ = FakeTensorProp(gm).propagate(torch.ones(2, 3))
    >>> [tuple(n.meta["val"].shape) for n in gm.graph.nodes]
    [(2, 3), (3,), (3,)]
    """

    def __init__(self, module: Any, mode: Any = None) -> None:
        super().__init__(module)
        self._mode = mode

    def run_node(self, n: Node) -> Any:
        """Run one node and note its value."""
        result = super().run_node(n)
        meta = map_aggregate(result, lambda a: _extract_tensor_metadata(a) if isinstance(a, torch.Tensor) else None)
        n.meta["val"] = result
        if meta is not None:
            n.meta["tensor_meta"] = meta
        return result

    def propagate(self, *args: Any) -> Any:
        """Run the graph; its result."""
        if self._mode is not None:
            args = tuple([self._mode.from_tensor(a) if isinstance(a, torch.Tensor) else a for a in args])
        return self.propagate_dont_convert_inputs(*args)

    def propagate_dont_convert_inputs(self, *args: Any) -> Any:
        """Run the graph on inputs as they are; its result."""
        with nullcontext() if self._mode is None else self._mode:
            return super().run(*args)
