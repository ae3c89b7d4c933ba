"""Shapes: views and copies of the same elements; pairs of transposes."""

from __future__ import annotations


from typing import Any

import numpy as np

from .._kinds import linear

from .._tensor import Tensor


def _batch_shape(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    return getattr(U, info.name)(inner[0], (inner[0].shape[0], *p[0]))


@linear(
    transpose=lambda xp, g, self_shape, size: xp.reshape(g, self_shape),
    view=True,
    node="ViewBackward0",
    batch=_batch_shape,
    samples=[((3, 4), ((4, 3),))],
)
def reshape(lib, self, size):
    """The same elements in another shape, in row-major order."""
    return self.reshape(size)


@linear(
    transpose=lambda xp, g, self_shape, size: xp.sum_to(g, self_shape),
    view=True,
    batch=lambda U, info, inner, mine, p: U.expand(
        U.reshape(inner[0], (inner[0].shape[0],) + (1,) * (len(p[0]) - inner[0].ndim + 1) + tuple(inner[0].shape[1:])),
        (inner[0].shape[0], *p[0]),
    ),
    samples=[((3, 1), ((3, 4),)), ((4,), ((2, 3, 4),)), ((), ((2, 2),))],
)
def expand(lib, self, size):
    """The tensor as if repeated along dimensions of size one."""
    return lib.broadcast_to(self, size)


@linear(
    transpose=lambda xp, g, self_shape, size: xp.expand(g, self_shape),
    batch=lambda U, info, inner, mine, p: U.sum_to(
        inner[0] if inner[0].ndim - 1 == len(p[0]) else U.sum_dim(inner[0], tuple(range(1, inner[0].ndim - len(p[0]))), False),
        (inner[0].shape[0], *p[0]),
    ),
    samples=[((3, 4), ((3, 1),)), ((2, 3, 4), ((4,),)), ((2, 2), ((),))],
)
def sum_to(lib, self, size):
    """Undo a broadcast: the elements summed down to a shape."""
    lead = self.ndim - len(size)
    dims = tuple(range(lead)) + tuple(i + lead for i, n in enumerate(size) if n == 1 and self.shape[i + lead] != 1)
    return lib.add.reduce(self, dims, None, None, True).reshape(size)


@linear(
    transpose=lambda xp, g, dims: xp.permute(g, tuple(sorted(range(len(dims)), key=dims.__getitem__))),
    view=True,
    batch=lambda U, info, inner, mine, p: U.permute(inner[0], (0, *(d + 1 for d in p[0]))),
    samples=[((2, 3, 4), ((2, 0, 1),))],
)
def permute(lib, self, dims):
    """Dimensions reordered; every dim is given as a number from 0."""
    return self.transpose(dims)
