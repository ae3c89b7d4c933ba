"""``scan``: applies a function along a dim, with a value carried from step to step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert as torch
from wengert._kinds.dims import normal_dim
from wengert._tape.tensor import Tensor
from wengert.utils import _higher_order as operators
from wengert.utils._higher_order import is_written
from wengert.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

from ._written import Flat

__all__ = ["scan"]


def scan(
    combine_fn: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any, *, dim: int = 0, reverse: bool = False
) -> tuple[Any, Any]:
    """``carry, y = combine_fn(carry, x)`` for each slice ``x`` of ``xs`` along a dim, from ``carry = init``.

    ``init`` and ``xs`` are tensors or containers of tensors. ``reverse`` begins at the last slice.

    Returns the last carry and all ``y``, stacked along that dim in the order of the slices.

    Raises:
        RuntimeError, ValueError: ``xs`` or ``init`` is neither a tensor nor a container of tensors.

    >>> import wengert as torch
    >>> from wengert._higher_order_ops.scan import scan
    >>> scan(lambda c, x: (c + x, c + x), torch.tensor(0.), torch.tensor([1., 2., 3.]))
    (tensor(6.), tensor([1., 3., 6.]))
    """
    leaves, spec = tree_flatten(xs)
    if not leaves:
        return init, []
    for given, name in ((tree_leaves(init), "init"), (leaves, "xs")):
        if not given or not all(isinstance(t, Tensor) for t in given):
            raise RuntimeError(f"{name} leaves must be a Tensor")
    dim = normal_dim(dim, leaves[0].ndim)
    if is_written():
        return _written(combine_fn, init, xs, dim, reverse)
    carry, outs = init, []
    steps = range(leaves[0].shape[dim])
    for i in reversed(steps) if reverse else steps:
        carry, y = combine_fn(carry, tree_unflatten([t.select(dim, i) for t in leaves], spec))
        outs.append(y)
    if reverse:
        outs.reverse()
    return carry, tree_map(lambda *ys: torch.stack(ys, dim), outs[0], *outs[1:])


_fake_scan = scan  # a loop in Python, with which PyTorch's tests compare


def _written(combine_fn: Any, init: Any, xs: Any, dim: int, reverse: bool) -> Any:
    """``scan`` while a graph is written: of rows, in order."""
    flat = Flat(init, xs)
    count = len(tree_leaves(init))
    rows = [t.movedim(dim, 0) if dim else t for t in flat.tensors[count:]]
    rows = [t.flip([0]) if reverse else t for t in rows]
    made = operators.scan(flat.function(combine_fn), flat.tensors[:count], rows, ())
    stacked = [t.flip([0]) if reverse else t for t in made[count:]]
    return flat.result([*made[:count], *[t.movedim(0, dim) if dim else t for t in stacked]])
