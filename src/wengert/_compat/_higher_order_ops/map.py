"""``map``: a function of each slice along dim 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert as torch
from wengert.utils import _higher_order as operators
from wengert.utils._higher_order import is_written
from wengert.utils._pytree import tree_flatten, tree_map, tree_unflatten

from ._written import Flat

__all__ = ["map"]


def map(f: Callable[..., Any], xs: Any, *args: Any) -> Any:
    """``f(x, *args)`` for each slice ``x`` of ``xs`` along dim 0, stacked. ``xs``: a tensor, or a container of them.

    >>> import wengert as torch
    >>> from wengert._higher_order_ops.map import map
    >>> map(lambda x, y: x.sum() + y, torch.ones(2, 3), torch.tensor(1.))
    tensor([4., 4.])
    """
    leaves, spec = tree_flatten(xs)
    if not leaves or any(t.ndim == 0 or t.shape[0] != leaves[0].shape[0] or not t.shape[0] for t in leaves):
        shapes = [t.shape for t in leaves]
        raise RuntimeError(f"Leading dimensions of mapped xs must be consistent. Got shapes {shapes}.")
    if is_written():
        flat = Flat(xs, *args)
        return flat.result(operators.map_impl(flat.function(f), leaves, flat.tensors[len(leaves) :]))
    outs = [f(tree_unflatten([t[i] for t in leaves], spec), *args) for i in range(leaves[0].shape[0])]
    return tree_map(lambda *ys: torch.stack(ys), outs[0], *outs[1:])


_fake_map = map  # a loop in Python, with which PyTorch's tests compare
