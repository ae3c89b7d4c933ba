"""Combinations of several tensors: blocks on a diagonal, grids, products and combinations of elements."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..._base.errors import warn_once
from ..._base.registry import public
from ..._kinds.general import general
from ..._tape.fast_results import view_result
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import Tensor, wrap
from ..indexing.index_primitive import index
from .broadcasting import listed, row, tensor_list
from .join import stack
from .views import reshape_public
from .views_primitive import EXPAND, VIEW, expand, expanded, payload, view


def _corners(shapes: Any) -> list[tuple[int, int, int, int]]:
    """The first and last row and column of each block of a block diagonal matrix."""
    rows = cols = 0
    found = []
    for m, n in shapes:
        found.append((rows, rows + m, cols, cols + n))
        rows, cols = rows + m, cols + n
    return found


@general(
    tensors=-1,
    promote=True,
    grad=lambda xp, g, tensors_shape: tuple(
        xp.slice_dim(xp.slice_dim(g, 0, a, b, 1), 1, c, d, 1) for a, b, c, d in _corners(tensors_shape)
    ),
    holomorphic=False,
    node="BlockDiagBackward0",
    batch="loop",
    dtypes="fcib",
    samples=lambda rng: [(([rng.standard_normal((2, 3)), rng.standard_normal((1, 2))],), ())],
)
def blocks(lib, tensors):
    """A block diagonal matrix."""
    corners = _corners([t.shape for t in tensors])
    r = lib.zeros((corners[-1][1], corners[-1][3]), tensors[0].dtype)
    for t, (a, b, c, d) in zip(tensors, corners, strict=True):
        r[a:b, c:d] = t
    return r


@public("torch.block_diag")
def block_diag(*tensors: Any) -> Tensor:
    """A block diagonal matrix of tensors with at most two dimensions.

    >>> torch.block_diag(torch.ones(1, 2), torch.tensor(2.))
    tensor([[1., 1., 0.],
            [0., 0., 2.]])
    """
    tensors = listed(tensors)
    if not tensors:
        return wrap(np.zeros((1, 0), np.float32))
    for k, x in enumerate(tensor_list(tensors, "block_diag")):
        if x._payload.ndim > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {k} has "
                f"{x._payload.ndim} dimensions"
            )
    return blocks([row(x) for x in tensors])


@public("torch.meshgrid")
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Expand vectors to views on the grid that they span, with one dimension for each vector.

    ``indexing``: "ij" (the first vector varies along the first dimension) or "xy" (along the second).

    >>> a, b = torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij")
    >>> a
    tensor([[0, 0, 0],
            [1, 1, 1]])
    """
    vectors = tensor_list(listed(tensors), "meshgrid")
    if not vectors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if indexing is None:
        warn_once(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.", UserWarning
        )
        indexing = "ij"
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    dtype = logical_dtype(vectors[0])
    for x in vectors:
        if x._payload.ndim > 1:
            raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {x!r}")
        if logical_dtype(x) is not dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    swap = indexing == "xy" and len(vectors) >= 2
    if swap:
        vectors[:2] = vectors[1::-1]
    sizes = tuple([x._payload.size for x in vectors])
    grids = [_along(x, i, sizes) for i, x in enumerate(vectors)]
    if swap:
        grids[:2] = grids[1::-1]
    return tuple(grids)


def _along(x: Tensor, dim: int, sizes: tuple[int, ...]) -> Tensor:
    """A vector along a dimension of a grid."""
    a = x._payload
    shape = (1,) * dim + (sizes[dim],) + (1,) * (len(sizes) - dim - 1)
    if type(a) is not np.ndarray:
        return expand(view(x, shape), sizes)
    column = view_result(VIEW, x, (shape,), a.reshape(shape), 3)
    return view_result(EXPAND, column, (sizes,), expanded(column._payload, sizes), 3)


@public("torch.cartesian_prod")
def cartesian_prod(*tensors: Any) -> Tensor:
    """The rows of the Cartesian product of vectors.

    >>> torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([3]))
    tensor([[1, 3],
            [2, 3]])
    """
    tensors = listed(tensors)
    for x in tensor_list(tensors, "cartesian_prod"):
        if x._payload.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(x._payload.shape)}")
    if len(tensors) == 1:
        return tensors[0]
    grids = meshgrid(*tensors, indexing="ij")
    return stack([reshape_public(x, (x._payload.size,)) for x in grids], 1)


@public("torch.combinations")
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All combinations of ``r`` elements of a vector, one in each row, in the order of the vector.

    >>> torch.combinations(torch.tensor([1, 2, 3]))
    tensor([[1, 2],
            [1, 3],
            [2, 3]])
    """
    if payload(input, "combinations").ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input._payload.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return wrap(np.empty(0, logical_dtype(input)))
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    n = input._payload.size
    rows = np.fromiter(itertools.chain.from_iterable(choose(range(n), r)), np.int64).reshape(-1, r)
    return stack([index([input, wrap(rows[:, k].copy())], (0,)) for k in range(r)], 1)
