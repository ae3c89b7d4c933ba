"""Reading and adding along one dimension at the positions of an index tensor, and cyclic shifts along it.

NOTE [ Lines ]
    A line consists of the elements of an array that differ in their index along ``dim`` only. An index along ``dim``
    points to this position in the contiguous array: the index times the dimension's stride, plus the beginning of its
    line. Positions are computed block by block, so that they stay in the cache. Reading may be cut anywhere; where a
    position can be written twice, each line belongs to one thread, which takes its elements in order.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from .._base.dtypes import INT64
from .._base.registry import plain
from . import intp
from .accumulate import add_rows
from .compiled import FEWEST, with_kernel
from .cuts import cut_parts
from .library import COLONS, concatenate, in_lib
from .threads import parallel_map, single_threaded

_BLOCK = 1 << 15  # elements of a block
FEW = 1 << 10  # elements up to which blocks gain nothing
_COST = (
    0.5  # ns for an element that count where threads are weighed: calls are short, and a thread's lines are cut ones
)
COLON = slice(None)


@in_lib
def along(shape: tuple[int, ...], index: Any, dim: int) -> Any:
    """Flat positions of ``index`` along ``dim`` in a contiguous array of this shape, each element in its own line."""
    if not shape or not index.ndim:
        return index
    if index.size > FEW:
        return _places(index, *_lines(shape, index.shape, dim))
    step, begins = _small_lines(shape, index.shape, dim)
    if index.dtype is not INT64:
        index = index.astype(INT64)
    if step is not None:
        index = index * step
    return index if begins is None else index + begins


@plain
def plain_along(lib: Any, shape: tuple[int, ...], index: Any, dim: int) -> Any:
    if not shape or not index.ndim:
        return index
    step, begins = math.prod(shape[dim + 1 :]), 0
    for d, n in enumerate(index.shape):
        if d != dim:
            begins = begins + lib.arange(n).reshape((n,) + (1,) * (len(shape) - d - 1)) * math.prod(shape[d + 1 :])
    return index.astype(np.int64) * step + begins


def _places(index: Any, step: Any, begins: Any) -> Any:
    if index.dtype.itemsize < 8:
        index = index.astype(np.int64)
    if step is not None:
        index = index * step
        return index if begins is None else np.add(index, begins, index)
    return index if begins is None else index + begins


def _lines(shape: tuple[int, ...], lengths: tuple[int, ...], dim: int) -> tuple[Any, Any]:
    """The stride of ``dim`` and the beginnings of the lines, for an index of this shape.

    The stride is ``None`` if it is 1, the beginnings are ``None`` for a single line. The stride is an array, because
    NumPy takes an array faster than an int.
    """
    step = along_dim = 1
    begins: Any = None
    for d in range(len(shape) - 1, -1, -1):
        if d == dim:
            along_dim = step
        elif lengths[d] > 1:
            here = (np.arange(lengths[d]) * step).reshape((lengths[d],) + (1,) * (len(shape) - d - 1))
            begins = here if begins is None else here + begins
        step *= shape[d]
    if begins is not None and begins.ndim < len(shape):
        begins = begins.reshape((1,) * (len(shape) - begins.ndim) + begins.shape)
    return (None if along_dim == 1 else np.array(along_dim)), begins


@functools.lru_cache(64)
def _small_lines(shape: tuple[int, ...], lengths: tuple[int, ...], dim: int) -> tuple[Any, Any]:
    """``_lines`` with the beginnings spread over the index: NumPy adds arrays of one shape in half the time."""
    step, begins = _lines(shape, lengths, dim)
    return step, begins if begins is None else np.broadcast_to(begins, lengths).copy()


def _part(begins: Any, key: tuple[Any, ...]) -> Any:
    """The beginnings of the lines for a part of the index."""
    if begins is None:
        return None
    return begins[tuple([k if begins.shape[d] > 1 else 0 if type(k) is int else COLON for d, k in enumerate(key)])]


def _by_block(begins: Any, blocks: list[Any], shape: tuple[int, ...]) -> Any:
    """A function from a block of an index of this shape to the beginnings of its lines."""
    if begins is None or begins.shape[0] > 1 or len(blocks[0]) > 1:
        return lambda key: _part(begins, key)
    # the same for all blocks; see _small_lines
    rows = blocks[0][0]
    tile = np.broadcast_to(begins, (rows.stop - rows.start, *shape[1:])).copy()
    return lambda key: tile[: key[0].stop - key[0].start]


def rows_of(index: Any, shape: tuple[int, ...], dim: int) -> Any:
    """The row numbers that an index was expanded from, or ``None`` if it was not expanded from row numbers."""
    if dim or index.ndim < 2 or index.shape[1:] != shape[1:] or any(index.strides[1:]):
        return None
    return index[(slice(None), *[0] * (index.ndim - 1))]


def read_along(x: Any, index: Any, dim: int) -> Any:
    """The elements of a contiguous array at ``index`` along ``dim``, which is in range."""
    if index.size <= FEW and x.ndim and index.dtype is INT64:  # what follows, in one call
        if x.ndim > 1:
            step, begins = _small_lines(x.shape, index.shape, dim)
            if step is not None:
                index = index * step
            if begins is not None:
                index = index + begins
        return x.ravel()[index]  # NumPy takes from a vector, without ``take``, in two thirds of the time
    if index.size < 2 * _BLOCK:
        return intp.take(x if x.ndim else np.asarray(x), along(x.shape, index, dim))
    rows = rows_of(index, x.shape, dim)
    return _read_lines(index, x, dim) if rows is None else intp.take(x, rows, 0)


@with_kernel("compiled_places.read_along")
def _read_lines(index: Any, x: Any, dim: int) -> Any:
    flat = x.reshape(-1)
    step, begins = _lines(x.shape, index.shape, dim)
    r = np.empty(index.shape, x.dtype)
    blocks = cut_parts(index.shape, _BLOCK)
    begins_of = _by_block(begins, blocks, index.shape)

    def work(key: Any) -> None:
        intp.take(flat, _places(index[key], step, begins_of(key)), None, r[key], "wrap")  # "raise" would make a copy

    parallel_map(work, blocks, index.size * _COST / 1000)
    return r


def write_along(r: Any, index: Any, dim: int, values: Any, write: Any) -> None:
    """``write(elements of r, places, values)`` for the places of an index along ``dim`` in a contiguous array."""
    flat = r.reshape(-1)
    many = isinstance(values, np.ndarray) and values.ndim > 0
    if index.size < 2 * _BLOCK:
        write(flat, along(r.shape, index, dim).reshape(-1), values.reshape(-1) if many else values)
        return
    step, begins = _lines(r.shape, index.shape, dim)

    def work(key: Any) -> None:
        part = index[key]
        theirs = values[key] if many else values
        blocks = cut_parts(part.shape, _BLOCK)
        begins_of = _by_block(_part(begins, key), blocks, part.shape)
        for k in blocks:
            at = _places(part[k], step, begins_of(k))
            write(flat, at.reshape(-1), theirs[k].reshape(-1) if many else theirs)

    parallel_map(work, _parts_of_lines(index.shape, dim, r.itemsize))


def _parts_of_lines(shape: tuple[int, ...], dim: int, itemsize: int) -> list[Any]:
    """Parts of an index that hold whole lines, one for each thread: slices of its longest other dimension."""
    others = [d for d in range(len(shape)) if d != dim]
    if not others or single_threaded(math.prod(shape) * _COST / 1000):
        return [(COLON,)]
    axis = max(others, key=shape.__getitem__)
    n = shape[axis]
    aligned = -(-128 // (math.prod(shape[axis + 1 :]) * itemsize))  # so that two threads do not write to one cache line
    width = max(-(-n // (4 if axis < dim else 2)), aligned)
    return [COLONS[axis] + (slice(i, i + width),) for i in range(0, n, width)]


def add_along(r: Any, index: Any, dim: int, values: Any) -> None:
    """Add values at ``index`` along ``dim`` in a contiguous array."""
    if index.size < FEW:
        np.add.at(r.ravel(), along(r.shape, index, dim).ravel(), values.ravel())
        return
    rows = rows_of(index, r.shape, dim)
    if rows is None:
        _add_lines(index, r, dim, values)
    else:
        add_rows(r, rows, math.prod(r.shape[1:]), values)


@with_kernel("compiled_places.add_along", least=FEWEST)
def _add_lines(index: Any, r: Any, dim: int, values: Any) -> None:
    write_along(r, index, dim, values, _add)


def _add(flat: Any, at: Any, values: Any) -> None:
    add_rows(flat, at, 1, values)


def assign(flat: Any, at: Any, values: Any) -> None:
    flat[at] = values


_UNSIGNED = np.dtype(np.uint64)


def all_below(index: Any, n: int) -> bool:
    """Whether all elements of a non-empty int64 array are at least 0 and less than ``n``."""
    if index.size <= 16:
        values = index.ravel().tolist()
        return _up_to(n).issuperset(values) if n <= 64 else min(values) >= 0 and max(values) < n
    unsigned = index.view(_UNSIGNED)  # negative numbers are large as unsigned ones
    if index.size > FEW:
        return bool(np.maximum.reduce(unsigned, None) < n)
    return unsigned.item(unsigned.argmax()) < n


@functools.lru_cache
def _up_to(n: int) -> frozenset[int]:
    """The indices of ``n`` elements, which Python finds all values of a short list in sooner than their extrema."""
    return frozenset(range(n))


def check_range(index: Any, dim: int, n: int) -> None:
    """Raise PyTorch's error if an index along a dimension of size ``n`` is out of range."""
    if not index.size or (index.dtype.itemsize == 8 and all_below(index, n)):
        return
    bad = first_outside(index, 0, n)
    if bad is not None:
        raise RuntimeError(f"index {bad} is out of bounds for dimension {dim} with size {n}")


def first_outside(index: Any, least: int, n: int) -> int | None:
    """The first element, in row-major order, below ``least`` or not below ``n``: PyTorch's errors name it."""
    if least <= int(np.minimum.reduce(index, None)) and int(np.maximum.reduce(index, None)) < n:
        return None
    outside = (index < least) | (index >= n)
    return int(index[outside][0])


def flipped(x: Any, dims: tuple[int, ...]) -> Any:
    """The array with some dims in reverse, in NumPy's order."""
    return x[_backwards(x.ndim, dims)].copy()


@functools.lru_cache(256)
def _backwards(ndim: int, dims: tuple[int, ...]) -> tuple[slice, ...]:
    return tuple([slice(None, None, -1 if d in dims else None) for d in range(ndim)])


def rolled(x: Any, shift: int, dim: int) -> Any:
    """The array with its elements shifted cyclically along a dim, in rows."""
    n = x.shape[dim]
    first = -shift % n if n else 0
    if x.size <= 64 and type(x) is np.ndarray and x.flags.c_contiguous:  # what follows takes three NumPy calls
        return intp.take(x, _from_first(n, first), dim)
    lead = COLONS[dim]
    r = concatenate((x[lead + (slice(first, None),)], x[lead + (slice(0, first),)]), dim)
    return r if r.flags.c_contiguous else np.ascontiguousarray(r)


@functools.lru_cache(256)
def _from_first(n: int, first: int) -> Any:
    """The positions of ``n`` elements from the one at ``first`` on."""
    return np.arange(first, first + n, dtype=intp.INTP) % max(n, 1)
