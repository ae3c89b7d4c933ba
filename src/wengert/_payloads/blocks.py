"""Compressed sparse tensors of blocks, of layout ``torch.sparse_bsr`` or ``torch.sparse_bsc``.

A ``Blocks`` is a ``Compressed`` whose elements are blocks of one size: its *grid* is a CSR (CSC) array with two dense
dimensions, which holds a block where a matrix holds an element.

ends      of shape (*batch, n_major // block + 1)
minor     of shape (*batch, nnz)
values    of shape (*batch, nnz, rows of a block, columns of a block, *dense)

Blocks are made, converted, and what keeps zeros runs on them; all else is refused, as most of it is in PyTorch.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from .._arrays import intp
from .._arrays.library import BY_DTYPE
from .._base.constants import sparse_bsc, sparse_bsr, sparse_csc, sparse_csr
from .._base.registry import ARRAYS, XP
from .._base.silence import silence
from .compressed import COMPRESSED, COMPRESSED_DEPTH, Compressed, in_layout, refusal
from .compressed_errors import layout_name, letters
from .compressed_indices import coordinates
from .sparse import Sparse
from .stored import KEEP_ZERO, StoredOperators
from .transforms import VALUE_DTYPES

GRIDS = {sparse_bsr: sparse_csr, sparse_bsc: sparse_csc}


class Blocks(Compressed):
    """A compressed sparse array of blocks."""

    __slots__ = ()

    def __init__(self, ends: Any, minor: Any, values: Any, shape: tuple[int, ...], layout: Any) -> None:
        super().__init__(ends, minor, values, shape, layout)
        self.dtype = made = VALUE_DTYPES[values.dtype, COMPRESSED_DEPTH - 1]
        BY_DTYPE[made] = BLOCKS

    dense_dim = property(lambda self: self.values.ndim - self.minor.ndim - 2)
    blocksize = property(lambda self: self.values.shape[self.minor.ndim : self.minor.ndim + 2])

    @property
    def grid(self) -> Compressed:
        """The blocks as elements with two dense dimensions."""
        d = self.minor.ndim - 1
        (r, c), dense = self.blocksize, self.shape[d + 2 :]
        shape = (*self.shape[:d], self.shape[d] // r, self.shape[d + 1] // c, r, c, *dense)
        return Compressed(self.ends, self.minor, self.values, shape, GRIDS[self.layout])

    def to_dense(self) -> Any:
        """The dense array."""
        return self.grid.to_dense().swapaxes(self.minor.ndim, self.minor.ndim + 1).reshape(self.shape)

    @property
    def mT(self) -> Blocks:
        """The transpose: the transposed blocks in the other layout."""
        d = self.minor.ndim
        shape = (*self.shape[: d - 1], self.shape[d], self.shape[d - 1], *self.shape[d + 1 :])
        other = sparse_bsc if self.layout is sparse_bsr else sparse_bsr
        return Blocks(self.ends, self.minor, self.values.swapaxes(d, d + 1), shape, other)

    @staticmethod
    def with_dense(info: Any, *args: Any) -> Any:
        """Raise: no operator takes blocks and other tensors."""
        raise refusal(next(a._payload for a in args if isinstance(getattr(a, "_payload", None), Blocks)), info.name)


def of_grid(grid: Compressed, layout: Any) -> Blocks:
    """The array whose grid this is."""
    d = grid.minor.ndim - 1
    rows, columns, r, c, *dense = grid.shape[d:]
    return Blocks(grid.ends, grid.minor, grid.values, (*grid.shape[:d], rows * r, columns * c, *dense), layout)


def in_grid(a: Any, d: int, size: tuple[int, int]) -> Any:
    """A view of a dense array, with ``d`` batch dimensions, of shape (*batch, rows, columns, *size, *dense)."""
    (r, c), (n, m) = size, a.shape[d : d + 2]
    return a.reshape(*a.shape[:d], n // r, r, m // c, c, *a.shape[d + 2 :]).swapaxes(d + 1, d + 2)


def in_blocks(x: Any, layout: Any, size: tuple[int, int], dense_dim: int = 0) -> Blocks:
    """An array of any layout in blocks of this size."""
    kind = f"sparse_{letters(layout).lower()}"
    if isinstance(x, Blocks):
        if x.blocksize != size:
            name = f"to_{kind}" if x.layout is layout else f"sparse_compressed_to_{kind}"
            raise RuntimeError(
                f"{name}: conversion from {layout_name(x)} to {layout_name(layout)} with blocksize changed from "
                f"{list(x.blocksize)} to {list(size)} is not supported"
            )
        return x if x.layout is layout else of_grid(in_layout(x.grid, GRIDS[layout]), layout)
    d = x.ndim - 2 - dense_dim
    n, m = x.shape[d : d + 2]
    sparse = isinstance(x, (Compressed, Sparse))
    name = f"{'coo' if isinstance(x, Sparse) else 'sparse_compressed' if sparse else 'dense'}_to_{kind}"
    if min(size) < 1:
        raise RuntimeError(f"{name}: blocksize needs to be positive, but got {list(size)}")
    if n % size[0] or m % size[1]:
        raise RuntimeError(
            f"{name}: tensor sparse size ({n},{m}) must be divisible by given blocksize ({size[0]},{size[1]})"
        )
    if not sparse:
        return of_grid(in_layout(in_grid(x, d, size), GRIDS[layout], 2 + dense_dim), layout)
    held = in_layout(x, GRIDS[layout])  # a block with a stored element is stored, even if the element is zero
    pattern = in_blocks(held.like(np.ones_like(held.values)).to_dense(), layout, size, dense_dim)
    return pattern.like(blocks_at(x.to_dense(), pattern))


def in_coo(x: Blocks) -> Sparse:
    """All elements of the blocks, row by row, in the layout COO."""
    batch, row, column = coordinates(x.grid)
    (r, c), shape = x.blocksize, x.shape[: x.minor.ndim - 1]
    whole = (len(batch), r, c)
    rows = np.broadcast_to(row[:, None, None] * r + np.arange(r)[:, None], whole).reshape(-1)
    columns = np.broadcast_to(column[:, None, None] * c + np.arange(c), whole).reshape(-1)
    batches = intp.repeat(batch, r * c)
    order = np.lexsort((columns, rows, batches))
    places = (*(np.unravel_index(batches, shape) if shape else ()), rows, columns)
    values = x.values.reshape(-1, *x.shape[len(shape) + 2 :])
    return Sparse(np.array([a[order] for a in places], np.int64), values[order], x.shape, True)


def blocks_at(a: Any, x: Blocks) -> Any:
    """The elements of a dense array at the indices of x, in the shape of its values."""
    grid = x.grid
    d = x.minor.ndim - 1
    rows = in_grid(a, d, x.blocksize).reshape(math.prod(x.shape[:d]), *grid.shape[d:])
    return rows[coordinates(grid)].reshape(x.values.shape)


class Operators(StoredOperators):
    """The raw functions of operators on blocks, by the operators' names."""

    def __getattr__(self, name: str) -> Any:
        return getattr(COMPRESSED, name) if name in _AS_COMPRESSED else super().__getattr__(name)

    def refusal_of(self, name: str, args: tuple[Any, ...]) -> Exception:
        return refusal(next((a for a in args if isinstance(a, Blocks)), None), name)

    def add(self, x: Any, y: Any, factor: Any = 1) -> Any:
        """The sum of arrays with the same indices, or with a dense array."""
        if not isinstance(x, Blocks) or not isinstance(y, Blocks):
            x, y = (a.to_dense() if isinstance(a, Blocks) else a for a in (x, y))
            return x + y * y.dtype.type(factor)
        if x.layout is not y.layout or x.values.shape != y.values.shape or not _same(x, y):
            raise refusal(x, "add")
        return x.like(ARRAYS.add(x.values, y.values if factor == 1 else y.values * y.values.dtype.type(factor)))

    def mul(self, x: Any, y: Any) -> Any:
        """The product with a number."""
        x, y = (x, y) if isinstance(x, Blocks) else (y, x)
        if isinstance(y, Compressed) or np.ndim(y):
            raise refusal(x, "mul")
        return x.like(x.values * y)


def _same(x: Blocks, y: Blocks) -> bool:
    return all(a is b or np.array_equal(a, b) for a, b in ((x.ends, y.ends), (x.minor, y.minor)))


_AS_COMPRESSED = frozenset((*KEEP_ZERO.split(), "copy", "fill_number", "matrix_t", "transpose_dims"))
BLOCKS: Any = Operators()
XP[Blocks] = BLOCKS

silence(sys.modules[__name__])
