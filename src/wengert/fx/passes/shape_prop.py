"""``ShapeProp``: runs a graph and notes in each node the shape and dtype of its value."""

from __future__ import annotations

from typing import Any, NamedTuple

import wengert as torch

from ..._base.constants import Size, memory_format
from ..._base.dtypes import dtype
from ..._tape.tensor import Tensor
from .._compatibility import compatibility
from ..interpreter import Interpreter
from ..node import Node, map_aggregate

__all__ = ["ShapeProp", "TensorMetadata"]

_FORMATS = (torch.contiguous_format, torch.channels_last, torch.channels_last_3d)


@compatibility(is_backward_compatible=True)
class TensorMetadata(NamedTuple):
    """What a node's ``meta["tensor_meta"]`` says of its value."""

    shape: Size
    dtype: dtype
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: memory_format | None
    is_quantized: bool
    qparams: dict[str, Any]


def _is_contiguous(t: Tensor, form: memory_format) -> bool:
    try:
        return bool(t.is_contiguous(memory_format=form))
    except (RuntimeError, ValueError):  # it has not as many dimensions
        return False


def _extract_tensor_metadata(result: Tensor, include_contiguity: bool = True) -> TensorMetadata:
    form = None
    if include_contiguity and not result.is_sparse:
        form = next((f for f in _FORMATS if _is_contiguous(result, f)), None)
    stride = () if result.is_sparse else result.stride()
    return TensorMetadata(result.shape, result.dtype, result.requires_grad, stride, form, False, {})


@compatibility(is_backward_compatible=True)
class ShapeProp(Interpreter):
    """Runs a graph and notes what its values are like: ``meta["tensor_meta"]`` and ``meta["type"]`` of the nodes.

    >>> import wengert as torch
    >>> from wengert.fx.passes.shape_prop import ShapeProp
    >>> gm = torch.fx.symbolic_trace(lambda x: x.sum(0))
    >>> _ = ShapeProp(gm).propagate(torch.ones(2, 3))
    >>> [tuple(n.meta["tensor_meta"].shape) for n in gm.graph.nodes]
    [(2, 3), (3,), (3,)]
    """

    def __init__(self, gm: Any, fake_mode: Any = None) -> None:
        super().__init__(gm)
        self.fake_mode = fake_mode
        self.fake_module = None
        self.real_module = self.module

    def run_node(self, n: Node) -> Any:
        """Run one node and note what its value is like.

        Raises:
            RuntimeError: the node raised an error.
        """
        try:
            result = super().run_node(n)
        except Exception as e:
            raise RuntimeError(f"ShapeProp error for: node={n.format_node()} with meta={n.meta}") from e
        found = False

        def described(obj: Any) -> Any:
            nonlocal found
            if not isinstance(obj, Tensor):
                return obj
            found = True
            return _extract_tensor_metadata(obj)

        meta = map_aggregate(result, described)
        if found:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Run the graph; its result."""
        return super().run(*args)
