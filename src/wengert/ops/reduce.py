"""Reductions."""

from __future__ import annotations

from .._kinds import linear
from .._registry import public


def kept(shape, dim):
    """The shape with the reduced dims set to one."""
    dims = {d % len(shape) for d in ((dim,) if isinstance(dim, int) else dim)} if shape else ()
    return tuple(1 if i in dims else n for i, n in enumerate(shape))


@linear(
    transpose=lambda xp, g, self_shape: xp.expand(g, self_shape),
    node="SumBackward0",
    batch=lambda U, info, inner, mine, p: U.sum_dim(inner[0], tuple(range(1, inner[0].ndim)), False),
    samples=[((3, 4), ()), ((), ())],
)
def sum_all(lib, self):
    """Sum of all elements."""
    return lib.add.reduce(self, None)


@linear(
    transpose=lambda xp, g, self_shape, dim, keepdim: xp.expand(
        g if keepdim else xp.reshape(g, kept(self_shape, dim)), self_shape
    ),
    node="SumBackward1",
    batch=("dim", ("dim",)),
    samples=[((3, 4), ((1,), False)), ((2, 3, 4), ((0, -1), True))],
)
def sum_dim(lib, self, dim, keepdim):
    """Sum over some dims."""
    return lib.add.reduce(self, dim, None, None, keepdim)


@public("torch.sum Tensor.sum")
def sum(input, dim=None, keepdim=False, *, dtype=None):
    """Sum of the elements, of all of them or along dims."""
    return sum_all(input) if dim is None else sum_dim(input, dim, keepdim)
