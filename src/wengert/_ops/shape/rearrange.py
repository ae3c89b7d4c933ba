"""Rearranged copies: diagonals, triangles, flips, rolls, repetitions."""

from __future__ import annotations

import functools
import itertools
from sys import _getframe as getframe
from typing import Any

import numpy as np

from ..._arrays import intp
from ..._arrays.along import flipped, rolled
from ..._arrays.layouts import always_rows, channels_last, in_rows, like, needless, rows
from ..._arrays.library import copyto, putmask
from ..._base.constants import type_name
from ..._base.dtypes import BY_NUMPY, INT64, as_dtype
from ..._base.errors import unexpected_keyword
from ..._base.modes import slow_always
from ..._base.registry import plain_body, public
from ..._kinds.dims import as_int, normal_dim, normal_dims, not_a_bool
from ..._kinds.fronts import in_usual_call
from ..._kinds.keywords import with_axis, with_out
from ..._kinds.laid_out import lay
from ..._kinds.linear import linear
from ..._kinds.out import EXACT
from ..._kinds.slow_path import require
from ..._payloads.batching import for_each_example
from ..._payloads.meta import no_kernel, on_meta
from ..._payloads.transforms import Batched
from ..._tape.inplace import inplace_one_by_one
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import Tensor, wrap
from ..._tape.view_chain import with_node_name
from ..._tape.views import count_write_at, unrecorded
from ..._tensor_api.construct import no_pinning, placed
from ..create.convert import clone
from ..create.filled import element
from ..create.makers import allocate
from ..indexing.copy_fill import fill_
from ..indexing.index_primitive import index
from .join import in_order
from .strided import as_strided, checked_diagonal
from .strided import diagonal as diagonal_of
from .view_copies import named_copy
from .views import reshape_public, view_public
from .views_primitive import expand, given_twice, ints, listed_ints, none_given, payload, unsqueeze_dim


# ---- flips, rolls, triangles
@linear(
    layout=like,
    transpose=lambda xp, g, dims: xp.flip_dims(g, dims),
    node="FlipBackward0",
    batch=("dim", ("dims",)),
    samples=[((2, 3), ((0,),)), ((2, 3), ((1, 0),)), ((2,), ((),))],
)
def flip_dims(lib, self, dims):
    """Reverse some dimensions."""
    return flipped(self, dims)


_flipped = like(flipped)


@linear(
    transpose=lambda xp, g, k, dims: xp.rotate(g, -k, dims),
    node="Rot90Backward0",
    batch=("dim", ("dims",)),
    samples=[((2, 3), (1, (0, 1))), ((2, 3, 2), (-1, (2, 0))), ((2, 3), (2, (0, 1)))],
)
def rotate(lib, self, k, dims):
    """Rotate by ``k`` quarter turns in the plane of two dimensions."""
    a, b = dims
    if not k % 4:
        return self.copy()
    r = _flipped(self, {1: (b,), 2: (a, b), 3: (a,)}[k % 4])
    return r.swapaxes(a, b) if k % 2 else r


@needless("{a}.flags.c_contiguous")
def _as_joined(fn: Any) -> Any:
    """The rule of layout: along dims PyTorch joins two parts, which keeps channels last if neither is empty."""
    joined, other = channels_last(fn), always_rows(fn)

    def run(self: Any, shifts: Any, dims: Any) -> Any:
        parts = dims and self.size and all(s % self.shape[d] for s, d in zip(shifts, dims, strict=True))
        return (joined if parts else other)(self, shifts, dims)

    return run


@linear(
    layout=_as_joined,
    transpose=lambda xp, g, shifts, dims: xp.roll_dims(g, tuple(-s for s in shifts), dims),
    node="RollBackward0",
    batch=lambda U, info, inner, mine, p: (
        U.roll_dims(inner[0], p[0], tuple(d + 1 for d in p[1]))
        if p[1]
        else U.reshape(U.roll_dims(U.reshape(inner[0], (inner[0].shape[0], -1)), p[0], (1,)), tuple(inner[0].shape))
    ),
    samples=[((2, 3), ((1,), (0,))), ((4, 3), ((-1, 2), (0, 1))), ((4,), ((1, 1), (0, 0))), ((2, 3), ((2,), ()))],
)
def roll_dims(lib, self, shifts, dims):
    """Shift elements cyclically along dimensions; without dims, in row-major order."""
    if not dims:
        return rolled(self.reshape(-1), shifts[0], 0).reshape(self.shape)
    for shift, dim in zip(shifts, dims, strict=True):
        self = rolled(self, shift, dim)
    return self


@plain_body
def plain_roll_dims(lib, self, shifts, dims):
    return lib.roll(self, shifts, dims) if dims else lib.roll(self, shifts[0])


@linear(
    layout=rows,
    transpose=lambda xp, g, diagonal: xp.lower_triangle(g, diagonal),
    node="TrilBackward0",
    batch="shape",
    samples=[((3, 4), (0,)), ((2, 3, 3), (-1,))],
)
def lower_triangle(lib, self, diagonal):
    """A copy with zeros above a diagonal of the last two dimensions."""
    return _without(lib, self, diagonal, True)


@plain_body
def plain_lower_triangle(lib, self, diagonal):
    return lib.tril(self, diagonal)


@linear(
    layout=rows,
    transpose=lambda xp, g, diagonal: xp.upper_triangle(g, diagonal),
    node="TriuBackward0",
    batch="shape",
    samples=[((3, 4), (0,)), ((2, 3, 3), (1,))],
)
def upper_triangle(lib, self, diagonal):
    """A copy with zeros below a diagonal of the last two dimensions."""
    return _without(lib, self, diagonal, False)


@plain_body
def plain_upper_triangle(lib, self, diagonal):
    return lib.triu(self, diagonal)


def _without(lib: Any, x: Any, diagonal: int, lower: bool) -> Any:
    outside, zero = _outside(x.shape[-2], x.shape[-1], diagonal, lower), _zero(x.dtype)
    if x.size > _SMALL:
        return lib.where(outside, zero, x)
    r = x.copy("K")
    putmask(r, outside, zero) if x.ndim == 2 else copyto(r, zero, where=outside)
    return r


_SMALL = 4096  # elements up to which this is faster than ``where``
_MOST = 1 << 20  # elements of the largest mask that is cached


def _outside(rows: int, cols: int, diagonal: int, lower: bool) -> Any:
    """A mask of what the lower or upper triangle lacks; cached, since the same masks are needed again and again."""
    return (_kept_outside if rows * cols <= _MOST else _new_outside)(rows, cols, diagonal, lower)


def _new_outside(rows: int, cols: int, diagonal: int, lower: bool) -> Any:
    return ~np.tri(rows, cols, diagonal, np.bool_) if lower else np.tri(rows, cols, diagonal - 1, np.bool_)


_kept_outside = functools.lru_cache(16)(_new_outside)
_zero = functools.lru_cache(32)(lambda dtype: np.zeros((), dtype))


def _spelt(numbers: tuple[Any, ...], given: dict[str, Any], name: str, function: str) -> tuple[int, ...]:
    """The ints of a function that takes any number of them, or one argument of this name."""
    if numbers and not given:
        for n in numbers:
            if type(n) is not int:
                break
        else:
            return numbers
    for key in given:
        if key != name:
            raise unexpected_keyword(function, key, (name,))
    if bool(given) == bool(numbers):
        raise given_twice(function, name) if given else none_given(function, name)
    if given and not isinstance(given[name], (tuple, list)):
        raise TypeError(f"{function}(): argument '{name}' must be tuple of ints, not {type_name(given[name])}")
    return ints((given[name],) if given else numbers, function, name)


@public("torch.flip Tensor.flip")
def flip(input: Tensor, *dims: Any, **given: Any) -> Tensor:
    """A copy with some dimensions in reverse order.

    >>> torch.arange(3).flip(0)
    tensor([2, 1, 0])
    """
    ndim = payload(input, "flip").ndim
    return flip_dims(input, normal_dims(_spelt(dims, given, "dims", "flip"), ndim, "flip"))


@public("torch.fliplr Tensor.fliplr")
def fliplr(input: Tensor) -> Tensor:
    """A copy with the columns in reverse order.

    >>> torch.fliplr(torch.tensor([[1, 2], [3, 4]]))
    tensor([[2, 1],
            [4, 3]])
    """
    if payload(input, "fliplr").ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return flip_dims(input, (1,))


@public("torch.flipud Tensor.flipud")
def flipud(input: Tensor) -> Tensor:
    """A copy with the rows in reverse order.

    >>> torch.flipud(torch.tensor([[1, 2], [3, 4]]))
    tensor([[3, 4],
            [1, 2]])
    """
    if payload(input, "flipud").ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return flip_dims(input, (0,))


@public("torch.rot90 Tensor.rot90")
def rot90(input: Tensor, k: int = 1, dims: Any = (0, 1)) -> Tensor:
    """A copy rotated by ``k`` quarter turns in the plane of two dimensions, from the first towards the second.

    >>> torch.tensor([[1, 2], [3, 4]]).rot90()
    tensor([[2, 4],
            [1, 3]])
    """
    ndim = payload(input, "rot90").ndim
    plane = listed_ints(dims, "rot90", "dims")
    if len(plane) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(plane)}")
    if ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {ndim}")
    first, second = normal_dim(plane[0], ndim, "rot90"), normal_dim(plane[1], ndim, "rot90")
    if first == second:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {plane[0]} and dim1 = {plane[1]}")
    return rotate(input, as_int(k, "rot90", argument="turns"), (first, second))


@public("torch.roll Tensor.roll")
def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """A copy with the elements shifted cyclically along dimensions.

    Without ``dims`` the elements are shifted in row-major order.

    >>> torch.arange(4).roll(1)
    tensor([3, 0, 1, 2])
    """
    a = payload(input, "roll")
    if type(shifts) is type(dims) is int and a.ndim:  # the usual call
        return roll_dims(input, (shifts,), (normal_dim(dims, a.ndim, "roll"),))
    steps = ints((shifts,), "roll", "shifts")
    if not steps:
        raise RuntimeError("`shifts` required")
    along = () if dims is None else ints((dims,), "roll", "dims")
    if not along and len(steps) == 1:
        return roll_dims(input, steps, ())
    if len(steps) != len(along):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(steps)}, dims:{len(along)}")
    if not a.ndim:
        raise IndexError(f"Dimension specified as {along[0]} but tensor has no dimensions")
    return roll_dims(input, steps, tuple(normal_dim(d, a.ndim, "roll") for d in along))


def _triangle(name: str, op: Any, part: str, what: str) -> Any:
    def triangle(input: Tensor, diagonal: int = 0) -> Tensor:
        if payload(input, name).ndim < 2:
            raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
        return op(input, as_int(diagonal, name, argument="diagonal"))

    triangle.__name__ = triangle.__qualname__ = name
    triangle.__doc__ = f"""A copy with zeros {what} a diagonal (0: the main one) of the last two dimensions.

    >>> torch.ones(2, 2).{name}()
    tensor([[1., {"0" if name == "tril" else "1"}.],
            [{"1" if name == "tril" else "0"}., 1.]])
    """
    unless = "type(diagonal) is not int or a.ndim < 2"
    fn = in_usual_call(with_out(EXACT)(triangle), f"{part}_triangle", "diagonal", unless)
    public(f"torch.{name} Tensor.{name}")(fn)
    in_place = inplace_one_by_one(triangle, name + "_")

    @functools.wraps(in_place)
    def direct(self: Tensor, diagonal: int = 0) -> Tensor:
        a = self._payload
        if type(a) is np.ndarray and a.ndim > 1 and type(diagonal) is int and a.flags.writeable:
            if unrecorded(self, None):
                copyto(a, _zero(a.dtype), where=_outside(a.shape[-2], a.shape[-1], diagonal, name == "tril"))
                count_write_at(self, getframe(1))
                return self
        return in_place(self, diagonal)

    public(f"Tensor.{name}_")(direct)
    return triangle


tril = _triangle("tril", lower_triangle, "lower", "above")
triu = _triangle("triu", upper_triangle, "upper", "below")


def _triangle_indices(name: str, rows: Any) -> None:
    def indices(
        row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None, layout: Any = None,
        pin_memory: Any = None, requires_grad: Any = False,
    ) -> Tensor:  # fmt: skip
        if requires_grad:
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        if pin_memory:
            no_pinning(pin_memory)
        for what, n in (("row", row), ("col", col)):
            if n < 0:
                raise RuntimeError(f"{what} must be non-negative, got{n}")
        np_dtype = INT64 if dtype is None else as_dtype(dtype, name).np
        if np_dtype is not INT64 and np_dtype != np.int32:
            require(wrap(np.zeros((), np_dtype)), "", name)
        if device is None and row < 32 and col < 32 and type(row) is type(col) is type(offset) is int:
            return wrap(known(row, offset, col, np_dtype).copy())
        return wrap(placed(made(row, offset, col, np_dtype), device, name))

    def made(row: int, offset: int, col: int, np_dtype: Any) -> Any:
        return np.array(rows(row, offset, col), np_dtype).reshape(2, -1)

    known = functools.lru_cache(128)(made)

    indices.__name__ = indices.__qualname__ = name
    what = "lower" if name == "tril_indices" else "upper"
    indices.__doc__ = f"The row and column numbers, as two rows, of the {what} triangle of a matrix of this size."
    public(f"torch.{name}")(indices)


_triangle_indices("tril_indices", np.tril_indices)
_triangle_indices("triu_indices", np.triu_indices)


# ---- diagonals
@linear(
    transpose=lambda xp, g, offset, dim1, dim2: xp.diagonal_view(g, offset, dim1, dim2),
    node="DiagEmbedBackward0",
    batch=("dim", ("dim1", "dim2")),
    samples=[((3,), (0, 0, 1)), ((3,), (-1, 0, 1)), ((2, 3), (1, 1, 0)), ((2, 3), (0, 0, 2))],
)
def embed_diagonal(lib, self, offset, dim1, dim2):
    """Zeros with the last dimension of the input on a diagonal of two dimensions."""
    n = self.shape[-1] + abs(offset)
    size = list(self.shape[:-1])
    for d in sorted((dim1, dim2)):
        size.insert(d, n)
    r = lib.zeros(size, self.dtype)
    part = r.diagonal(offset, dim1, dim2)
    part.flags.writeable = True
    part[...] = self
    return r


@public("torch.diag_embed Tensor.diag_embed")
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Zeros with the last dimension of the input on a diagonal of two dimensions.

    >>> torch.tensor([1, 2]).diag_embed()
    tensor([[1, 0],
            [0, 2]])
    """
    ndim = payload(input, "diag_embed").ndim
    if not ndim:
        raise IndexError("Dimension specified as -1 but tensor has no dimensions")
    d1, d2 = checked_diagonal("diag_embed", ndim + 1, dim1, dim2)
    return embed_diagonal(input, as_int(offset, "diag_embed", argument="offset"), d1, d2)


@public("torch.diag Tensor.diag")
@with_out(EXACT)
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """A matrix with a vector on its diagonal, or a copy of a matrix's diagonal.

    >>> torch.diag(torch.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])
    """
    ndim = payload(input, "diag").ndim
    if ndim == 1:
        return diag_embed(input, diagonal)
    if ndim == 2:
        return named_copy(diagonal_of(input, diagonal))
    raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {ndim}D")


@public("torch.diagflat Tensor.diagflat")
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """A matrix with all elements of the input on its diagonal.

    >>> torch.diagflat(torch.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
    """
    return diag_embed(reshape_public(input, (payload(input, "diagflat").size,)), offset)


@public("Tensor.fill_diagonal_ torch.fill_diagonal_")
def fill_diagonal_(self: Tensor, fill_value: float, wrap: bool = False) -> Tensor:
    """Write a number on the main diagonal; ``wrap`` starts a new diagonal after each square of a tall matrix.

    >>> torch.zeros(2, 2).fill_diagonal_(5)
    tensor([[5., 0.],
            [0., 5.]])
    """
    if type(wrap) is not bool:
        raise not_a_bool("fill_diagonal_", "wrap", wrap)
    shape = tuple(self._payload.shape)
    if len(shape) < 2:
        raise RuntimeError("dimensions must larger than 1")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    a = self._payload
    if type(a) is np.ndarray and len(shape) == 2 and not wrap and a.flags.carray and unrecorded(self, None):
        a.reshape(-1)[: min(shape) * shape[1] : shape[1] + 1] = element(fill_value, logical_dtype(self))
        count_write_at(self, getframe(1))
        return self
    height, width, step = shape[0], shape[1], sum(self.stride())
    if min(shape):
        fill_(as_strided(self, (min(shape),), (step,)), fill_value)
    if wrap and len(shape) == 2 and height > width + 1:
        start = self.storage_offset() + self.stride(0) * (width + 1)
        more = (height * width + width) // (width + 1) - width
        fill_(as_strided(self, (more,), (step,), start), fill_value)
    return self


# ---- repetitions
@functools.lru_cache(256)
def _interleaved(shape: tuple[int, ...], repeats: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """The shapes of the result and of the input with each dimension's repetitions in front; the result's own shape."""
    padded = (1,) * (len(repeats) - len(shape)) + shape
    return (
        tuple(itertools.chain.from_iterable(zip(repeats, padded, strict=True))),
        tuple(itertools.chain.from_iterable((1, n) for n in padded)),
        tuple([a * b for a, b in zip(repeats, padded, strict=True)]),
    )


@linear(
    transpose=lambda xp, g, self_shape, repeats: xp.reshape(
        xp.sum_to(xp.reshape(g, _interleaved(self_shape, repeats)[0]), _interleaved(self_shape, repeats)[1]), self_shape
    ),
    batch=lambda U, info, inner, mine, p: U.repeat(
        U.reshape(inner[0], (inner[0].shape[0],) + (1,) * (len(p[0]) - inner[0].ndim + 1) + tuple(inner[0].shape[1:])),
        (1, *p[0]),
    ),
    samples=[((2, 3), ((2, 1),)), ((3,), ((2, 2),)), ((), ((3,),)), ((2, 3), ((1, 0),))],
)
def repeat(lib, self, repeats):
    """Repeat the tensor along each dimension."""
    full, mine, size = _interleaved(self.shape, repeats)
    r = allocate(lib.empty, full, self.dtype)
    r[...] = self.reshape(mine)
    return r.reshape(size)


@public("Tensor.repeat")
def repeat_public(self: Tensor, *repeats: Any, **given: Any) -> Tensor:
    """A copy that repeats the tensor along each dimension; additional numbers add dimensions in front.

    >>> torch.tensor([1, 2]).repeat(2, 2)
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    counts = _spelt(repeats, given, "repeats", "repeat")
    if len(counts) < self._payload.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    if min(counts, default=0) < 0:
        sizes = [
            n * s
            for n, s in zip(counts, (1,) * (len(counts) - self._payload.ndim) + tuple(self._payload.shape), strict=True)
        ]
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(sizes)}: {sizes}")
    return repeat(self, counts)


@public("torch.tile Tensor.tile")
def tile(input: Tensor, *dims: Any, **given: Any) -> Tensor:
    """``repeat`` with the numbers aligned to the last dimensions.

    >>> torch.tensor([[1, 2]]).tile(2)
    tensor([[1, 2, 1, 2]])
    """
    counts = _spelt(dims, given, "dims", "tile")
    return repeat_public(input, (1,) * (payload(input, "tile").ndim - len(counts)) + counts)


@public("torch.repeat_interleave Tensor.repeat_interleave")
@with_axis
def repeat_interleave(
    input: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Repeat each element, or each slice along ``dim``; ``repeats`` is one count for all or a tensor of counts.

    >>> torch.tensor([1, 2]).repeat_interleave(2)
    tensor([1, 1, 2, 2])
    >>> torch.tensor([1, 2]).repeat_interleave(torch.tensor([1, 3]))
    tensor([1, 2, 2, 2])
    """
    a = payload(input, "repeat_interleave")
    plain = not slow_always and input._node is None and type(a) is np.ndarray
    if plain and dim is None and type(repeats) is int and repeats >= 0 and output_size is None:
        return wrap(a.repeat(repeats))
    if output_size is not None and isinstance(repeats, Tensor) and isinstance(repeats._payload, Batched):
        one = lambda x, r: repeat_interleave(x, r, dim, output_size=output_size)
        if (each := for_each_example(one, input, repeats)) is not None:
            return each  # type: ignore[no-any-return]
    if repeats is None:
        return wrap(_counted(_counts(input), None, output_size))
    if dim is None:
        input, dim = reshape_public(input, (input._payload.size,)), 0
    shape = tuple(input._payload.shape)
    dim = normal_dim(dim, len(shape), "repeat_interleave")
    if not isinstance(repeats, Tensor):
        n = as_int(repeats, "repeat_interleave", argument="repeats")
        if n < 0:
            raise RuntimeError("Repeats must be non-negative")
        if output_size is not None and output_size != n * shape[dim]:
            raise RuntimeError(
                f"repeat_interleave: Invalid output_size, expected {n * shape[dim]} but got {output_size}"
            )
        if plain:
            return wrap(in_order(input._payload.repeat(n, dim)))
        more = expand(unsqueeze_dim(input, dim + 1), (*shape[: dim + 1], n, *shape[dim + 1 :]))
        return view_public(clone(more, "C"), (*shape[:dim], shape[dim] * n, *shape[dim + 1 :]))
    if repeats._payload.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    counts = _counts(repeats)
    n = shape[dim] if shape else 1
    if counts.ndim == 0 or counts.size == 1:
        counts = np.broadcast_to(counts.reshape(()), (n,))
    elif counts.size != n:
        raise RuntimeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {counts.size} and "
            f"input.size({dim}) = {n}"
        )
    where = wrap(_counted(counts, np.int64, output_size))
    if not shape:
        input = reshape_public(input, (1,))
    return lay(with_node_name(index([input, where], (dim,)), "IndexSelectBackward0"), in_rows)


def _counts(repeats: Tensor) -> Any:
    a = repeats._payload
    if on_meta(a):
        raise no_kernel("repeat_interleave.Tensor")
    if not isinstance(a, (np.ndarray, np.generic)):
        raise RuntimeError(
            "vmap: repeat_interleave() with a tensor of repeats has a result whose shape depends on its values"
        )
    dtype = logical_dtype(repeats)
    if dtype.kind != "i" or dtype.itemsize < 4:
        raise NotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{BY_NUMPY[dtype].scalar_name}'")
    if a.ndim > 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    if a.size and a.min() < 0:
        raise RuntimeError("repeats can not be negative")
    return a


def _counted(counts: Any, dtype: Any, output_size: int | None) -> Any:
    r = intp.repeat(np.arange(counts.size, dtype=dtype or counts.dtype), counts)
    if output_size is not None and output_size != r.size:
        raise RuntimeError("allocated size does not match required size")
    return r
