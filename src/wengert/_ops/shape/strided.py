"""Views of a part of the elements, and the operators that carry cotangents back through them.

A view of a part and the operator that writes its cotangent into zeros are each other's transposes: ``select`` and
``select_backward``, ``slice_dim`` and ``slice_backward``, ``diagonal_view`` and ``diagonal_backward``, ``unfold_view``
and ``unfold_backward``, ``as_strided_view`` and ``as_strided_backward``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._arrays import intp
from ..._arrays.library import COLONS
from ..._arrays.memory import bytes_around, repeats, restrided
from ..._base.registry import ARRAYS, REGISTRY, plain_body, public
from ..._kinds.dims import as_int, normal_dim
from ..._kinds.keywords import with_axis, with_out
from ..._kinds.linear import linear
from ..._kinds.out import EXACT
from ..._kinds.slow_path import no_complex_grad
from ..._payloads.meta import Meta
from ..._payloads.transforms import one_example
from ..._tape.fast_results import view_result
from ..._tape.promotion import cast, logical_dtype
from ..._tape.tensor import Tensor, alias_payload
from ..._tape.view_chain import replay, with_node_name
from ..._tensor_api.layout import strides_of
from .view_chain import view_scatter
from .views_primitive import Lifted, lifted_dims, listed_ints, payload


# ---- one index, one slice
@linear(
    transpose=lambda xp, g, self_shape, dim, index: xp.select_backward(g, self_shape, dim, index),
    view=True,
    batch=lifted_dims(0),
    samples=[((3, 4), (0, 2)), ((3, 4), (1, 0)), ((2,), (0, 1))],
)
def select(lib, self, dim, index):
    """A view of the slice at one index of one dimension, without that dimension."""
    return self[COLONS[dim] + (index, ...)]


@linear(
    transpose=lambda xp, g, size, dim, index: xp.select(g, dim, index),
    batch=("dim", ("dim",), ("size",)),
    samples=[((4,), ((3, 4), 0, 2)), ((3,), ((3, 4), 1, 0)), ((), ((2,), 0, 1))],
)
def select_backward(lib, self, size, dim, index):
    """Zeros of ``size`` with the tensor at one index of one dimension."""
    r = lib.zeros(size, self.dtype)
    r[COLONS[dim] + (index,)] = self
    return r


@linear(
    transpose=lambda xp, g, self_shape, dim, start, end, step: xp.slice_backward(g, self_shape, dim, start, end, step),
    view=True,
    node="SliceBackward0",
    batch=lifted_dims(0),
    samples=[((5, 4), (0, 1, 4, 1)), ((5, 4), (0, 0, 5, 2)), ((3, 4), (1, 2, 2, 1))],
)
def slice_dim(lib, self, dim, start, end, step):
    """A view of every ``step``-th index from ``start`` to ``end`` of one dimension."""
    return self[COLONS[dim] + (slice(start, end, step),)]


@linear(
    transpose=lambda xp, g, size, dim, start, end, step: xp.slice_dim(g, dim, start, end, step),
    batch=("dim", ("dim",), ("size",)),
    samples=[((3, 4), ((5, 4), 0, 1, 4, 1)), ((3, 4), ((5, 4), 0, 0, 5, 2))],
)
def slice_backward(lib, self, size, dim, start, end, step):
    """Zeros of ``size`` with the tensor in a slice of one dimension."""
    r = lib.zeros(size, self.dtype)
    r[COLONS[dim] + (slice(start, end, step),)] = self
    return r


# ---- diagonals
@linear(
    transpose=lambda xp, g, self_shape, offset, dim1, dim2: xp.diagonal_backward(g, self_shape, offset, dim1, dim2),
    view=True,
    node="DiagonalBackward0",
    batch=lifted_dims(1, 2),
    samples=[((3, 4), (0, 0, 1)), ((2, 3, 4), (1, 2, 0)), ((2, 3), (-1, 0, 1)), ((2, 2), (5, 0, 1))],
)
def diagonal_view(lib, self, offset, dim1, dim2):
    """A view of the diagonal of two dimensions, as the last dimension."""
    r = self.diagonal(offset, dim1, dim2)
    if self.flags.writeable:
        r.flags.writeable = True
    return r


@plain_body
def plain_diagonal_view(lib, self, offset, dim1, dim2):
    return self.diagonal(offset, dim1, dim2)


@linear(
    transpose=lambda xp, g, size, offset, dim1, dim2: xp.diagonal_view(g, offset, dim1, dim2),
    batch=("dim", ("dim1", "dim2"), ("size",)),
    samples=[((3,), ((3, 4), 0, 0, 1)), ((3, 1), ((2, 3, 4), 1, 2, 0))],
)
def diagonal_backward(lib, self, size, offset, dim1, dim2):
    """Zeros of ``size`` with the tensor on a diagonal."""
    r = lib.zeros(size, self.dtype)
    d = r.diagonal(offset, dim1, dim2)
    d.flags.writeable = True
    d[...] = self
    return r


@plain_body
def plain_diagonal_backward(lib, self, size, offset, dim1, dim2):
    r = lib.zeros(size, self.dtype)
    r.diagonal(offset, dim1, dim2)[...] = self
    return r


# ---- sliding windows
def _windows(a: Any, dim: int, size: int, step: int, writeable: bool, strided: Any = None) -> Any:
    """A view of the windows of ``a`` along a dimension, with their elements in a new last dimension."""
    if not a.ndim:
        return a.reshape(1)[:size]
    n = (a.shape[dim] - size) // step + 1
    strides = a.strides
    shape = (*a.shape[:dim], n, *a.shape[dim + 1 :], size)
    strides = (*strides[:dim], strides[dim] * step, *strides[dim + 1 :], strides[dim])
    if strided is not None:
        return strided(a, shape, strides)
    if a.flags.c_contiguous and a.size:
        r = np.ndarray(shape, a.dtype, a, 0, strides)
        if not writeable:
            r.setflags(False)  # see ``locked``
        return r
    return restrided(a, shape, strides, a.__array_interface__["data"][0], writeable)


@linear(
    transpose=lambda xp, g, self_shape, dimension, size, step: xp.unfold_backward(g, self_shape, dimension, size, step),
    view=True,
    node="UnfoldBackward0",
    batch=Lifted(
        lambda name, shape, p, size: (
            ((name, (p[0] + 1, *p[1:])),) if shape else (("unsqueeze_dim", (1,)), ("slice_dim", (1, 0, p[1], 1)))
        )
    ),
    samples=[((5, 2), (0, 3, 1)), ((2, 6), (1, 2, 3)), ((2, 6), (1, 2, 2)), ((3,), (0, 3, 1))],
)
def unfold_view(lib, self, dimension, size, step):
    """A view of all windows along a dimension, with their elements in a new last dimension."""
    return _windows(self, dimension, size, step, self.flags.writeable)


@plain_body
def plain_unfold_view(lib, self, dimension, size, step):
    return _windows(self, dimension, size, step, True, lib.strided)


@linear(
    transpose=lambda xp, g, size, dimension, width, step: xp.unfold_view(g, dimension, width, step),
    batch=("dim", ("dimension",), ("size",)),
    samples=[((3, 2, 3), ((5, 2), 0, 3, 1)), ((2, 2, 2), ((2, 6), 1, 2, 3))],
)
def unfold_backward(lib, self, size, dimension, width, step):
    """Zeros of ``size`` with the windows added; overlapping windows add up."""
    r = lib.zeros(size, self.dtype)
    if not r.ndim:
        return r + lib.add.reduce(self, None)
    if step >= width:
        _windows(r, dimension, width, step, True)[...] = self
        return r
    n = self.shape[dimension]
    for k in range(width):
        r[COLONS[dimension] + (slice(k, k + step * (n - 1) + 1, step),)] += self[..., k]
    return r


@plain_body
def plain_unfold_backward(lib, self, size, dimension, width, step):
    r = lib.zeros(size, self.dtype)
    if not r.ndim:
        return r + self.sum()
    n = self.shape[dimension]
    for k in range(width):
        r[COLONS[dimension] + (slice(k, k + step * (n - 1) + 1, step),)] += self[..., k]
    return r


# ---- strides by hand
def at_strides(a: Any, size: tuple[int, ...], stride: tuple[int, ...], offset: int) -> Any:
    """The view of a's memory with this size and strides (in elements), from ``offset`` elements after a's first on."""
    step = a.itemsize
    address = a.__array_interface__["data"][0] + offset * step
    return restrided(a, size, tuple(s * step for s in stride), address, a.flags.writeable)


def _span(size: tuple[int, ...], stride: tuple[int, ...]) -> tuple[int, int]:
    """The first and last element that a size and strides reach."""
    reach = [(n - 1) * s for n, s in zip(size, stride, strict=True)]
    return sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)


def _flat_index(size: tuple[int, ...], stride: tuple[int, ...], start: int) -> Any:
    """The flat index of each element of a strided view."""
    lines = [np.arange(n) * s for n, s in zip(size, stride, strict=True)]
    return sum(np.ix_(*lines), np.full(size, start, np.int64))


def _store(size: Any, stride: Any, offset: int, shape: Any, own: Any) -> tuple[int, int]:
    """The origin and length of memory that holds both a tensor and a strided view of its memory."""
    lo1, hi1 = _span(shape, own)
    lo2, hi2 = _span(size, stride)
    lo, hi = min(lo1, lo2 + offset), max(hi1, hi2 + offset)
    return -lo, hi - lo + 1


def _in_rows(a: Any, size: Any, stride: Any, offset: int, own: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """``stride`` and ``own`` with a's strides in the leading dims, as those of ``vmap``, of which a view changes none.

    Then the view shows a's memory; a copy would have zeros between the elements.
    """
    rows = []
    for k, (n, s) in enumerate(zip(a.shape, a.strides, strict=True)):
        if k == len(size) or (n, own[k]) != (size[k], stride[k]):
            break
        first, last = (offset + reach for reach in _span(size[k + 1 :], stride[k + 1 :]))
        if first < 0 or max(last, _span(a.shape[k + 1 :], own[k + 1 :])[1]) >= own[k]:
            break
        rows.append(s // a.itemsize)
    return (*rows, *stride[len(rows) :]), (*rows, *own[len(rows) :])


def _lift_strided(name: str, shape: Any, p: Any, size: int) -> Any:
    length = _store(p[0], p[1], p[2], shape, p[3])[1]
    return ((name, ((size, *p[0]), (length, *p[1]), p[2], (length, *p[3]))),)


def _batch_strided_back(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    g = inner[0]
    length = _store(p[1], p[2], p[3], p[0], p[4])[1]
    n = g.shape[0]
    return U.as_strided_backward(g, (n, *p[0]), (n, *p[1]), (length, *p[2]), p[3], (length, *p[4]))


@linear(
    transpose=lambda xp, g, self_shape, size, stride, storage_offset, own: xp.as_strided_backward(
        g, self_shape, size, stride, storage_offset, own
    ),
    view=True,
    node="AsStridedBackward0",
    batch=Lifted(_lift_strided),
    samples=[
        ((3, 4), ((2, 2), (1, 5), 1, (4, 1))),
        ((5,), ((3, 3), (1, 1), 0, (1,))),
        ((2, 3), ((3, 2), (1, 3), 0, (3, 1))),
    ],
)
def as_strided_view(lib, self, size, stride, storage_offset, own):
    """A view with any size and strides of the memory of a tensor with strides ``own``.

    ``storage_offset`` counts from the tensor's first element. On a tensor with other strides than ``own`` the result is
    that of a copy with strides ``own``.
    """
    if 0 in size:
        return at_strides(self, size, stride, storage_offset)
    if self.ndim == len(own):
        stride, own = _in_rows(self, size, stride, storage_offset, own)
    if self.ndim == len(own) and all(
        n == 1 or s == t * self.itemsize for n, s, t in zip(self.shape, self.strides, own, strict=True)
    ):
        # a tangent, or another array of the same layout, may have less memory than the tensor that was asked first
        first, last = (storage_offset + n for n in _span(size, stride))
        before, after = bytes_around(self)
        if -first * self.itemsize <= before and (last + 1) * self.itemsize <= after:
            return at_strides(self, size, stride, storage_offset)
    start, length = _store(size, stride, storage_offset, self.shape, own)
    memory = lib.zeros(length, self.dtype)
    at_strides(memory, self.shape, own, start)[...] = self
    return at_strides(memory, size, stride, start + storage_offset)


@plain_body
def plain_as_strided_view(lib, self, size, stride, storage_offset, own):
    step = self.itemsize
    if 0 in size or all(n == 1 or s == t * step for n, s, t in zip(self.shape, self.strides, own, strict=True)):
        return lib.strided(self, size, tuple([s * step for s in stride]), storage_offset * step)
    start, length = _store(size, stride, storage_offset, self.shape, own)
    memory = lib.zeros(length, self.dtype)
    lib.strided(memory, self.shape, tuple([s * step for s in own]), start * step)[...] = self
    return lib.strided(memory, size, tuple([s * step for s in stride]), (start + storage_offset) * step)


@linear(
    transpose=lambda xp, g, input_size, size, stride, storage_offset, own: xp.as_strided_view(
        g, size, stride, storage_offset, own
    ),
    batch=_batch_strided_back,
    samples=[((2, 2), ((3, 4), (2, 2), (1, 5), 1, (4, 1))), ((3, 3), ((5,), (3, 3), (1, 1), 0, (1,)))],
)
def as_strided_backward(lib, self, input_size, size, stride, storage_offset, own):
    """The transpose of ``as_strided_view`` on a tensor of ``input_size`` and strides ``own``.

    Elements of the view that share memory add up. The sum is divided by the number of input elements that share that
    memory, as in PyTorch (NOTE [ as_strided Backward and layout-aware/agnostic autograd ]).
    """
    if 0 in size or 0 in input_size:
        return lib.zeros(input_size, self.dtype)
    start, length = _store(size, stride, storage_offset, input_size, own)
    memory = lib.zeros(length, self.dtype)
    lib.add_at(memory, lib.table(_flat_index(size, stride, start + storage_offset).reshape(-1)), self.reshape(-1))
    mine = lib.table(_flat_index(input_size, own, start))
    if repeats(input_size, own):
        count = intp.bincount(mine.reshape(-1), minlength=length)
        memory = memory / lib.cast(lib.maximum(count, 1), memory.dtype)
    if type(memory) is np.ndarray:  # in the input's own layout
        return at_strides(memory, input_size, own, start)
    return memory[mine]


# ---- public functions
@public("torch.select Tensor.select")
@with_axis
def select_public(input: Tensor, dim: int, index: int) -> Tensor:
    """A view of the slice at one index of a dimension, without that dimension.

    >>> torch.tensor([[1, 2], [3, 4]]).select(1, -1)
    tensor([2, 4])
    """
    shape = payload(input, "select").shape
    if not shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    if type(dim) is not int or not 0 <= dim < len(shape):
        dim = normal_dim(dim, len(shape), "select")
    index = normal_index(index, shape, dim)
    a = input._payload
    if type(a) is not np.ndarray:
        return select(input, dim, index)
    return view_result(SELECT, input, (dim, index), a[COLONS[dim] + (index, ...)])


def normal_index(index: Any, shape: Any, dim: int) -> int:
    """An index of a dimension, counted from 0; raises PyTorch's error if it is out of range."""
    if type(index) is not int:
        index = as_int(index, "select", argument="index")
    n = shape[dim]
    if -n <= index < n:
        return index if index >= 0 else index + n
    raise IndexError(f"select(): index {index} out of range for tensor of size {list(shape)} at dimension {dim}")


@public("torch.narrow Tensor.narrow")
@with_axis
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """A view of ``length`` elements of a dimension, from ``start`` on.

    >>> torch.arange(5).narrow(0, 1, 3)
    tensor([1, 2, 3])
    """
    shape = payload(input, "narrow").shape
    if not shape:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if isinstance(start, Tensor) and (start._payload.ndim or start._payload.dtype.kind not in "iu"):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    if type(length) is not int:
        length = as_int(length, "narrow", argument="length")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    dim = normal_dim(dim, len(shape), "narrow")
    if type(start) is not int:
        start = as_int(start, "narrow", argument="start")
    n = shape[dim]
    if not -n <= start <= n:
        raise IndexError(f"start out of range (expected to be in range of [{-n}, {n}], but got {start})")
    if start < 0:
        start += n
    if start + length > n:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    a = input._payload
    if type(a) is not np.ndarray:
        return slice_dim(input, dim, start, start + length, 1)
    return view_result(SLICE, input, (dim, start, start + length, 1), a[COLONS[dim] + (slice(start, start + length),)])


def checked_diagonal(name: str, ndim: int, dim1: int, dim2: int) -> tuple[int, int]:
    """The two dims of a diagonal, counted from 0; raises if they are equal."""
    if type(dim1) is type(dim2) is int and 0 <= dim1 < ndim and 0 <= dim2 < ndim and dim1 != dim2:  # the usual case
        return dim1, dim2
    d1, d2 = normal_dim(dim1, ndim, name), normal_dim(dim2, ndim, name)
    if d1 == d2:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return d1, d2


@public("torch.diagonal Tensor.diagonal")
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A view of the diagonal of two dimensions, as a new last dimension.

    >>> torch.arange(9).reshape(3, 3).diagonal(1)
    tensor([1, 5])
    """
    a = payload(input, "diagonal")
    d1, d2 = checked_diagonal("diagonal", a.ndim, dim1, dim2)
    if type(offset) is not int:
        offset = as_int(offset, "diagonal", argument="offset")
    if type(a) is not np.ndarray:
        return diagonal_view(input, offset, d1, d2)
    return view_result(DIAGONAL, input, (offset, d1, d2), _diagonal_raw(a, offset, d1, d2))


DIAGONAL, SELECT, SLICE, UNFOLD = (REGISTRY[n] for n in ("diagonal_view", "select", "slice_dim", "unfold_view"))
_diagonal_raw = ARRAYS.diagonal_view


@public("linalg.diagonal")
def linalg_diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """``torch.diagonal`` of the last two dimensions.

    >>> torch.linalg.diagonal(torch.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])
    """
    return diagonal(A, offset, dim1, dim2)


@public("Tensor.unfold")
def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """A view of the windows of ``size`` elements, one every ``step`` elements along a dimension; they are the last dim.

    >>> torch.arange(5).unfold(0, 3, 2)
    tensor([[0, 1, 2],
            [2, 3, 4]])
    """
    shape = self._payload.shape
    dimension = normal_dim(dimension, len(shape), "unfold")
    if type(size) is not int or type(step) is not int:
        size, step = as_int(size, "unfold", argument="size"), as_int(step, "unfold", argument="step")
    n = shape[dimension] if shape else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > n:
        raise RuntimeError(f"maximum size for tensor at dimension {dimension} is {n} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    a = self._payload
    if type(a) is not np.ndarray:
        return unfold_view(self, dimension, size, step)
    r = _windows(a, dimension, size, step, a.flags.writeable)
    return view_result(UNFOLD, self, (dimension, size, step), r)


def _params_inside(a: Any, size: Any, stride: Any, storage_offset: Any) -> tuple[Any, ...]:
    """``strided_params`` inside of a transform, where a value's own elements are its storage."""
    own = strides_of(one_example(a))
    start = 0 if storage_offset is None else as_int(storage_offset, "as_strided", argument="start")
    need, have = start + _span(size, stride)[1] + 1, _span(tuple(a.shape), own)[1] + 1
    if 0 not in size and (start < 0 or need > have):
        raise RuntimeError(
            f"result = tensor.as_strided({list(size)}, {list(stride)}, {start}) can access memory outside of `tensor`: "
            f"it reaches beyond the {have} elements of a value inside of a transform"
        )
    return size, stride, start, own


def strided_params(input: Tensor, size: Any, stride: Any, storage_offset: Any, name: str) -> tuple[Any, ...]:
    """The parameters of ``as_strided_view``, checked against the bounds of the storage."""
    if getattr(input._payload, "is_traced", False):
        input._payload.tracer.stop(f"{name} reads the storage")
    a = alias_payload(input) if isinstance(input._payload, np.generic) else input._payload
    size, stride = listed_ints(size, name), listed_ints(stride, name, "stride")
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(n < 0 for n in size):
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(size)}: {list(size)}")
    if any(s < 0 for s in stride):
        raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}")
    if not isinstance(a, (np.ndarray, Meta)):
        return _params_inside(a, size, stride, storage_offset)
    before, after = (a.offset, 0) if isinstance(a, Meta) else bytes_around(a)
    here = before // a.itemsize
    start = here if storage_offset is None else as_int(storage_offset, "as_strided", argument="start")
    if start < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {start}")
    if 0 not in size:  # PyTorch does not check the bounds of an empty view
        if isinstance(a, Meta):
            return size, stride, start - here, tuple(s // a.itemsize for s in a.strides)
        need = before % a.itemsize + (start + _span(size, stride)[1] + 1) * a.itemsize
        have = before + after
        if need > have:
            raise RuntimeError(
                f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {start}, and itemsize "
                f"{a.itemsize} requiring a storage size of {need} are out of bounds for storage of size {have}"
            )
    return size, stride, start - here, tuple(s // a.itemsize for s in a.strides)


@public("torch.as_strided Tensor.as_strided")
def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A view of the tensor's storage with any size and strides (counted in elements).

    >>> torch.arange(6).as_strided((2, 2), (1, 2), 1)
    tensor([[1, 3],
            [2, 4]])
    """
    payload(input, "as_strided")
    return as_strided_view(input, *strided_params(input, size, stride, storage_offset, "as_strided"))


def _scatter_into(input: Tensor, src: Tensor, chain: Any, name: str, node: str) -> Tensor:
    payload(input, name)
    have = tuple(replay(np.empty(tuple(input._payload.shape), np.bool_), chain).shape)
    if tuple(src._payload.shape) != have:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {list(src._payload.shape)}, "
            "slice size = "
            f"{list(have)}"
        )
    made = with_node_name(view_scatter(input, cast(src, logical_dtype(input)), chain), node)
    return no_complex_grad(name, made) if name in ("select_scatter", "slice_scatter") else made


@public("torch.select_scatter Tensor.select_scatter")
@with_axis
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy of ``input`` with ``src`` at one index of a dimension.

    >>> torch.zeros(2, 2).select_scatter(torch.ones(2), 0, 0)
    tensor([[1., 1.],
            [0., 0.]])
    """
    shape = payload(input, "select_scatter").shape
    dim = normal_dim(dim, len(shape), "select_scatter")
    return _scatter_into(
        input, src, (("select", (dim, normal_index(index, shape, dim))),), "select_scatter", "SelectScatterBackward0"
    )


@public("torch.slice_scatter Tensor.slice_scatter")
@with_out(EXACT)
def slice_scatter(
    input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """A copy of ``input`` with ``src`` in a slice of a dimension.

    >>> torch.slice_scatter(torch.zeros(4), torch.ones(2), start=1, end=3)
    tensor([0., 1., 1., 0.])
    """
    shape = payload(input, "slice_scatter").shape
    dim = normal_dim(dim, len(shape), "slice_scatter")
    if step < 1:
        raise RuntimeError("slice step must be positive")
    start, end, step = slice(start, end, step).indices(shape[dim])
    chain = (("slice_dim", (dim, start, max(start, end), step)),)
    return _scatter_into(input, src, chain, "slice_scatter", "SliceScatterBackward0")


@public("torch.diagonal_scatter Tensor.diagonal_scatter")
def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A copy of ``input`` with ``src`` on a diagonal.

    >>> torch.diagonal_scatter(torch.zeros(2, 2), torch.ones(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    d1, d2 = checked_diagonal("diagonal_scatter", payload(input, "diagonal_scatter").ndim, dim1, dim2)
    return _scatter_into(
        input, src, (("diagonal_view", (offset, d1, d2)),), "diagonal_scatter", "DiagonalScatterBackward0"
    )


@public("torch.as_strided_scatter Tensor.as_strided_scatter")
def as_strided_scatter(input: Tensor, src: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A copy of ``input`` with ``src`` where ``input.as_strided(size, stride, storage_offset)`` would be.

    >>> torch.as_strided_scatter(torch.zeros(4), torch.ones(2), (2,), (2,))
    tensor([1., 0., 1., 0.])
    """
    p = strided_params(input, size, stride, storage_offset, "as_strided_scatter")
    chain = (("as_strided_view", p),)
    return _scatter_into(input, src, chain, "as_strided_scatter", "AsStridedScatterBackward0")
