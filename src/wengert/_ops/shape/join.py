"""Joining and splitting: ``cat`` and ``split_with_sizes`` are transposes, as are ``stack`` and ``unbind``."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np

from ..._arrays.layouts import in_channels_last, is_channels_last, relaid
from ..._arrays.layouts import in_order as strides_in_order
from ..._arrays.library import COLONS, NEW_AT, concatenate
from ..._base.constants import type_name
from ..._base.errors import noted
from ..._base.modes import slow_if_recording
from ..._base.registry import ARRAYS, REGISTRY, Operator, plain_body, public
from ..._kinds.dims import REQUIRED, as_int, normal_dim
from ..._kinds.general import general
from ..._kinds.keywords import with_axis, with_out
from ..._kinds.out import convertible, write_out
from ..._kinds.slow_path import misfit
from ..._tape.fast_results import result_of, view_results, without_history
from ..._tape.tensor import Tensor
from ..._tape.unrecorded import unrecorded_here
from .broadcasting import LISTS, cube, row, tensor_list, vector
from .strided import slice_dim
from .views import reshape_public
from .views_primitive import ints, lifted_dims, payload

# PyTorch's concatenations raise this Python error for an ``out`` that cannot hold the result
_CONCATENATED = convertible("torch.cat(): input types can't be cast to the desired output type {Out}", TypeError)


# ---- primitives
def _cat_back(xp: Any, g: Any, tensors_shape: Any, dim: Any, needs: Any) -> Any:
    legacy = [len(shape) != g.ndim for shape in tensors_shape]
    sizes = [0 if skip else shape[dim] for skip, shape in zip(legacy, tensors_shape, strict=True)]
    return tuple(
        None if not need else xp.zeros((0,), g.dtype) if skip else xp.slice_dim(g, dim, end - n, end, 1)
        for n, end, skip, need in zip(sizes, accumulate(sizes), legacy, needs, strict=True)
    )


def _tangent_list(xp: Any, tangents: Any, operands: Any) -> list[Any]:
    return [xp.zeros_like(x) if t is None else t for t, x in zip(tangents, operands, strict=True)]


@general(
    tensors=-1,
    promote=True,
    grad=_cat_back,
    jvp=lambda xp, tangents, result, *args: xp.cat(_tangent_list(xp, tangents, args[:-1]), args[-1]),
    holomorphic=False,
    batch=("dim", ("dim",)),
    dtypes="fcib",
    samples=lambda rng: [
        (([rng.standard_normal((2, 3)), rng.standard_normal((1, 3))],), (0,)),
        (([rng.standard_normal((2, 3)), rng.standard_normal((2, 0)), rng.standard_normal((2, 1))],), (1,)),
    ],
)
def cat(lib, tensors, dim):
    """Concatenate tensors along a dimension; the shape ``(0,)`` is compatible with any other."""
    ranks = [t.ndim for t in tensors]
    rank = max(ranks)
    if rank != min(ranks):
        tensors = [t for t in tensors if t.ndim == rank]
    return in_order(concatenate(tensors, dim), tensors)


@plain_body
def plain_cat(lib, tensors, dim):
    rank = max(t.ndim for t in tensors)
    return lib.concatenate([t for t in tensors if t.ndim == rank], dim)


def in_order(r: Any, arrays: Any = ()) -> Any:
    """The array in row-major order, or channels-last if all ``arrays`` are; NumPy keeps the order of its inputs."""
    if r.ndim > 3 and arrays and all(map(is_channels_last, arrays)):
        return in_channels_last(r)
    return r if r.flags.c_contiguous else np.ascontiguousarray(r)


@general(
    tensors=-1,
    promote=True,
    grad=lambda xp, g, dim: tuple(xp.unbind(g, dim)),
    jvp=lambda xp, tangents, result, *args: xp.stack(_tangent_list(xp, tangents, args[:-1]), args[-1]),
    holomorphic=False,
    batch=("dim", ("dim",)),
    dtypes="fcib",
    samples=lambda rng: (
        [(([rng.standard_normal((2, 3)), rng.standard_normal((2, 3))],), (dim,)) for dim in (0, 1, 2)]
        + [(([rng.standard_normal(()), rng.standard_normal(())],), (0,))]
    ),
)
def stack(lib, tensors, dim):
    """Stack tensors of one shape along a new dimension."""
    return _stacked(tensors, dim)


@plain_body
def plain_stack(lib, tensors, dim):
    return lib.stack(tensors, dim)


def _stacked(arrays: Any, dim: int) -> Any:
    index = NEW_AT[dim]
    r = concatenate([a[index] for a in arrays], dim)
    if r.ndim == 5 and dim < 2 and all(map(is_channels_last, arrays)):
        return relaid(r, strides_in_order(r.shape, (0, 1, 3, 4, 2), r.itemsize))
    return r if r.flags.c_contiguous else in_order(r)


def _split_jvp(name: str) -> Any:
    return lambda xp, tangents, result, self, *p: getattr(xp, name)(tangents[0], *p)


@general(
    outputs=-1,
    view=True,
    grad=lambda xp, g, dim: xp.cat(list(g), dim),
    jvp=_split_jvp("split"),
    holomorphic=False,
    batch=lifted_dims(1),
    dtypes="fcib",
    samples=[((5, 2), (2, 0)), ((2, 4), (4, 1)), ((2, 3), (5, 1))],
)
def split(lib, self, split_size, dim):
    """Split along a dimension into pieces of ``split_size``; the last may be smaller."""
    n = self.shape[dim]
    lead = COLONS[dim]
    if not n or not split_size:
        return (self[...],)
    return tuple([self[lead + (slice(i, i + split_size),)] for i in range(0, n, split_size)])


@general(
    outputs=-1,
    view=True,
    grad=lambda xp, g, dim: xp.cat(list(g), dim),
    jvp=_split_jvp("split_with_sizes"),
    holomorphic=False,
    batch=lifted_dims(1),
    dtypes="fcib",
    samples=[((5, 2), ((2, 3), 0)), ((2, 4), ((1, 0, 3), 1))],
)
def split_with_sizes(lib, self, split_sizes, dim):
    """Split along a dimension into pieces of the given sizes."""
    lead = COLONS[dim]
    return tuple(
        [self[lead + (slice(end - n, end),)] for n, end in zip(split_sizes, accumulate(split_sizes), strict=True)]
    )


@general(
    outputs=-1,
    view=True,
    grad=lambda xp, g, dim: xp.stack(list(g), dim),
    jvp=_split_jvp("unbind"),
    holomorphic=False,
    batch=lifted_dims(0),
    dtypes="fcib",
    samples=[((3, 2), (0,)), ((2, 3), (1,))],
)
def unbind(lib, self, dim):
    """The slices at each index of a dimension."""
    if self.ndim == 2:
        return tuple(self.T if dim else self)  # NumPy makes the views in one go; of a vector it would make scalars
    if self.ndim == 1:
        return tuple([self[i, ...] for i in range(self.shape[0])])
    lead = COLONS[dim]
    return tuple([self[lead + (i, ...)] for i in range(self.shape[dim])])


CAT, STACK, SPLIT, SPLIT_WITH_SIZES, UNBIND = (
    REGISTRY[name] for name in ("cat", "stack", "split", "split_with_sizes", "unbind")
)
SLICES, PIECES = ARRAYS.unbind, ARRAYS.split
assert CAT.saves.uses == ("tensors_shape", "dim", "needs")


# ---- joining
def _plain_arrays(tensors: Any) -> tuple[list[Any], list[Any]]:
    """The payloads and nodes of a list of tensors; none unless they are NumPy arrays of one dtype and no mode is on."""
    arrays: list[Any] = []
    edges: list[Any] = []
    if type(tensors) not in LISTS or (slow_if_recording and not unrecorded_here()):
        return arrays, edges
    dtype = None
    for x in tensors:
        if type(x) is not Tensor:
            return [], []
        a = x._payload
        if type(a) is not np.ndarray:
            return [], []
        if a.dtype is not dtype:
            if dtype is not None:
                return [], []
            dtype = a.dtype
        arrays.append(a)
        edges.append(x._node)
    return arrays, [None] * len(edges) if slow_if_recording else edges


@public("torch.cat torch.concat torch.concatenate")
def cat_public(tensors: Any, dim: int = 0, *, out: Tensor | None = None, axis: int | None = None) -> Tensor:
    """Concatenate tensors along a dimension, in their common dtype.

    As in PyTorch, a one-dimensional tensor without elements is compatible with any other.

    >>> torch.cat([torch.ones(2), torch.zeros(1)])
    tensor([1., 1., 0.])
    """
    if out is not None:
        return write_out(out, cat_public, (tensors, dim if axis is None else axis), None, _CONCATENATED)
    if axis is not None:
        dim = axis
    arrays, edges = _plain_arrays(tensors)
    if arrays and type(dim) is int:
        try:
            r = concatenate(arrays, dim)
        except ValueError:
            pass  # the checks below raise the error
        else:
            if r.ndim > 3 or not r.flags.c_contiguous:
                r = in_order(r, arrays)
            if edges.count(None) == len(edges):
                return without_history(r)
            shapes = [a.shape for a in arrays]
            needs = tuple([e is not None for e in edges])
            return result_of(CAT, tuple(edges), [shapes, dim if dim >= 0 else dim + r.ndim, needs], r)
    tensors = tensor_list(tensors, "cat")
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    shapes = [x._payload.shape for x in tensors]
    first = shapes[0]
    ndim = len(first)
    if ndim and shapes.count(first) == len(shapes):  # the usual case needs no more checks
        return cat(tensors, normal_dim(dim, ndim, "cat"))
    for place, s in enumerate(shapes):
        if not s:
            raise RuntimeError(f"zero-dimensional tensor (at position {place}) cannot be concatenated")
    kept = [k for k, s in enumerate(shapes) if tuple(s) != (0,)]
    if not kept:
        normal_dim(dim, 1, "cat")
        return cat(tensors, 0)
    first = shapes[kept[0]]
    ndim = len(first)
    dim = normal_dim(dim, ndim, "cat")
    for k in () if getattr(tensors[0]._payload, "is_sparse", False) else kept[1:]:  # sparse ones check for themselves
        s = shapes[k]
        if len(s) != ndim:
            raise RuntimeError(f"Tensors must have same number of dimensions: got {ndim} and {len(s)}")
        for i, (n, m) in enumerate(zip(first, s, strict=True)):
            if i != dim and n != m:
                raise noted(
                    RuntimeError(
                        f"Sizes of tensors must match except in dimension {dim}. Expected size {n} but got size {m} "
                        f"for tensor number {k} in the list."
                    ),
                    f"Why: the first tensor has shape {list(first)}, tensor number {k} {list(s)}.",
                    _other_dim(first, s),
                    code="W014",
                )
    return cat(tensors, dim)


def _other_dim(first: tuple[int, ...], other: tuple[int, ...]) -> str:
    """Advice for two shapes that do not fit along the given dimension."""
    differ = [k for k, (n, m) in enumerate(zip(first, other, strict=True)) if n != m]
    if len(differ) == 1:
        return f"What to do: join them along the dimension in which they differ: dim={differ[0]}."
    return "What to do: pad or crop them to sizes that agree in all dimensions but the joined one."


@public("torch.stack")
def stack_public(tensors: Any, dim: int = 0, *, out: Tensor | None = None, axis: int | None = None) -> Tensor:
    """Stack tensors of one shape along a new dimension.

    >>> torch.stack([torch.zeros(2), torch.ones(2)], dim=1)
    tensor([[0., 1.],
            [0., 1.]])
    """
    if out is not None:
        return write_out(out, stack_public, (tensors, dim if axis is None else axis), None, _CONCATENATED)
    if axis is not None:
        dim = axis
    arrays, edges = _plain_arrays(tensors)
    if arrays and type(dim) is int and -1 <= dim <= arrays[0].ndim:
        if dim < 0:
            dim = arrays[0].ndim
        try:
            r = _stacked(arrays, dim)
        except (ValueError, IndexError):
            pass  # the checks below raise the error
        else:
            return without_history(r) if edges.count(None) == len(edges) else result_of(STACK, tuple(edges), [dim], r)
    tensors = tensor_list(tensors, "stack")
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    first = tensors[0]._payload.shape
    for place, x in enumerate(tensors):
        if x._payload.shape != first:
            raise noted(
                RuntimeError(
                    f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and "
                    f"{list(x._payload.shape)} "
                    f"at entry {place}"
                ),
                "What to do: torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True) fills up the shorter ones; "
                "torch.cat joins them along a dimension that they have.",
                code="W014",
            )
    return stack(tensors, normal_dim(dim, len(first) + 1, "stack"))


def _joined(tensors: Any, name: str, at_least: Any, least: int) -> Any:
    """The tensors with at least ``least`` dimensions: ``at_least`` of each."""
    if type(tensors) in LISTS and tensors:
        for x in tensors:
            if type(x) is not Tensor or x._payload.ndim < least:
                break
        else:
            return tensors
    tensors = tensor_list(tensors, name)
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return list(map(at_least, tensors))


@public("torch.hstack")
@with_out(_CONCATENATED)
def hstack(tensors: Any) -> Tensor:
    """Concatenate tensors along the second dimension, vectors along their only dimension.

    >>> torch.hstack((torch.tensor([1]), torch.tensor([2, 3])))
    tensor([1, 2, 3])
    """
    tensors = _joined(tensors, "hstack", vector, 1)
    return cat_public(tensors, 0 if tensors[0]._payload.ndim == 1 else 1)


@public("torch.vstack torch.row_stack")
@with_out(_CONCATENATED)
def vstack(tensors: Any) -> Tensor:
    """Concatenate tensors along the first dimension; vectors become rows.

    >>> torch.vstack((torch.tensor([1, 2]), torch.tensor([3, 4])))
    tensor([[1, 2],
            [3, 4]])
    """
    return cat_public(_joined(tensors, "vstack", row, 2), 0)


@public("torch.dstack")
@with_out(_CONCATENATED)
def dstack(tensors: Any) -> Tensor:
    """Concatenate tensors along the third dimension.

    >>> torch.dstack((torch.tensor([1, 2]), torch.tensor([3, 4])))
    tensor([[[1, 3],
             [2, 4]]])
    """
    return cat_public(_joined(tensors, "dstack", cube, 3), 2)


@public("torch.column_stack")
@with_out(_CONCATENATED)
def column_stack(tensors: Any) -> Tensor:
    """Concatenate tensors along the second dimension; vectors become columns.

    >>> torch.column_stack((torch.tensor([1, 2]), torch.tensor([3, 4])))
    tensor([[1, 3],
            [2, 4]])
    """
    return hstack(_joined(tensors, "column_stack", _column, 2))


def _column(x: Tensor) -> Tensor:
    return x if x._payload.ndim > 1 else reshape_public(x, (x._payload.size, 1))


# ---- splitting
def _sized(tensor: Tensor, dim: int, name: str) -> tuple[int, int]:
    shape = payload(tensor, name).shape
    if not shape:
        raise RuntimeError(f"{name} expects at least a 1-dimensional tensor")
    if type(dim) is not int or not 0 <= dim < len(shape):
        dim = normal_dim(dim, len(shape), name)
    return dim, shape[dim]


@public("torch.split Tensor.split")
def split_public(
    tensor: Tensor, split_size_or_sections: Any = None, dim: int = 0, *, split_size: Any = None
) -> tuple[Tensor, ...]:
    """Split along a dimension into views of one size (the last may be smaller) or of the sizes in a list.

    >>> torch.arange(5).split([2, 3])
    (tensor([0, 1]), tensor([2, 3, 4]))
    """
    sections = split_size_or_sections if split_size is None else split_size
    if sections is None:
        raise TypeError("Tensor.split() missing 1 required positional argument: 'split_size'")
    if type(sections) is not int and (isinstance(sections, (tuple, list)) or not hasattr(sections, "__index__")):
        return split_with_sizes_public(tensor, sections, dim)
    dim, n = _sized(tensor, dim, "split")
    if type(sections) is int and sections > 0 and type(a := tensor._payload) is np.ndarray:
        return view_results(SPLIT, tensor, (sections, dim), PIECES(a, sections, dim), [dim])
    return _views(SPLIT, tensor, _piece(sections, n), dim)


def _views(info: Operator, x: Tensor, *p: Any) -> tuple[Tensor, ...]:
    """The results of an operator on plain arrays without the operator's own calls; ``p`` ends with the dim."""
    if type(x._payload) is not np.ndarray:
        return info.op(x, *p)
    return view_results(info, x, p, getattr(ARRAYS, info.name)(x._payload, *p), [p[-1]])


def _piece(size: Any, n: int) -> int:
    size = as_int(size, "split", argument="split_size")
    if size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={size}")
    if size == 0 and n:
        raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}")
    return size


@public("torch.split_with_sizes Tensor.split_with_sizes")
@with_axis
def split_with_sizes_public(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Split along a dimension into views of the given sizes.

    >>> torch.split_with_sizes(torch.arange(5), [2, 3])
    (tensor([0, 1]), tensor([2, 3, 4]))
    """
    dim, n = _sized(input, dim, "split_with_sizes")
    return _views(SPLIT_WITH_SIZES, input, _pieces(split_sizes, n, dim), dim)


def _pieces(sizes: Any, n: int, dim: int) -> tuple[int, ...]:
    if not isinstance(sizes, (tuple, list)):
        raise TypeError(
            f"split_with_sizes(): argument 'split_sizes' (position 2) must be tuple of ints, not {type_name(sizes)}"
        )
    sizes = ints((sizes,), "split_with_sizes", "split_sizes")
    if min(sizes, default=0) < 0:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={list(sizes)}"
        )
    if sum(sizes) != n:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size at dimension {dim}), but "
            f"got split_sizes={list(sizes)}"
        )
    return sizes


@public("torch.chunk Tensor.chunk")
@with_axis
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Split along a dimension into at most ``chunks`` views of equal size; the last may be smaller.

    >>> torch.arange(5).chunk(2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    """
    split_size, _, dim = _chunks(input, chunks, dim)
    if not split_size:  # an empty dimension gives ``chunks`` pieces
        return split_with_sizes(input, (0,) * chunks, dim)
    a = input._payload
    if type(a) is not np.ndarray:
        return split(input, split_size, dim)
    return view_results(SPLIT, input, (split_size, dim), PIECES(a, split_size, dim), [dim])


def _chunks(input: Tensor, chunks: int, dim: int) -> tuple[int, int, int]:
    if type(chunks) is not int or chunks <= 0:
        if not payload(input, "chunk").shape:
            raise RuntimeError("chunk expects at least a 1-dimensional tensor")
        chunks = as_int(chunks, "chunk", argument="chunks")
        if chunks <= 0:
            raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    dim, n = _sized(input, dim, "chunk")
    return -(-n // chunks), n, dim


def _given_one(name: str, input: Any, spelt: tuple[Any, ...]) -> Any:
    """The argument that was given under one of its names."""
    given = [where for where in spelt if where is not None]
    if len(given) != 1:
        raise misfit(name, input, *given)
    return given[0]


@public("torch.tensor_split Tensor.tensor_split")
@with_axis
def tensor_split(
    input: Tensor,
    indices_or_sections: Any = None,
    dim: int = 0,
    *,
    indices: Any = None,
    sections: Any = None,
    tensor_indices_or_sections: Any = None,
) -> tuple[Tensor, ...]:
    """Split along a dimension into ``n`` views of nearly equal sizes, or at the indices in a list.

    >>> torch.arange(5).tensor_split((1, 3))
    (tensor([0]), tensor([1, 2]), tensor([3, 4]))
    """
    spelt = (indices_or_sections, indices, sections, tensor_indices_or_sections)
    where = _given_one("tensor_split", input, spelt)
    if isinstance(where, Tensor):
        if where._payload.dtype.kind != "i" or where._payload.dtype.itemsize != 8:
            raise RuntimeError(
                "tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
                f"{where.dtype.scalar_name}"
            )
        if where._payload.ndim > 1:
            raise RuntimeError(
                "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, "
                f"but got a tensor with {where._payload.ndim} dims"
            )
        where = where._payload.tolist()
    if not payload(input, "tensor_split").shape:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    dim, n = _sized(input, dim, "tensor_split")
    if isinstance(where, (tuple, list)):
        ends = [*ints((where,), "tensor_split", "indices"), n]
    else:
        sections = as_int(where, "tensor_split", argument="sections")
        if sections <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
        small, larger = divmod(n, sections)
        ends = list(accumulate(small + (i < larger) for i in range(sections)))
    pieces = []
    start = 0
    for end in ends:
        lo, hi, _ = slice(start, end).indices(n)
        pieces.append(slice_dim(input, dim, lo, max(lo, hi), 1))
        start = end
    return tuple(pieces)


def _split_along(name: str, dim: int, least: int) -> Any:
    def along(
        input: Tensor, indices_or_sections: Any = REQUIRED, *more: int, indices: Any = None, sections: Any = None
    ) -> tuple[Tensor, ...]:
        first = None if indices_or_sections is REQUIRED else indices_or_sections
        given = (first, *more) if more else first
        where = _given_one(name, input, (given, indices, sections))
        shape = payload(input, name).shape
        if len(shape) < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {len(shape)} "
                "dimensions!"
            )
        d = 0 if name == "hsplit" and len(shape) == 1 else dim
        if not isinstance(where, (tuple, list)):
            where = as_int(where, name, argument="sections")
            if not where or shape[d] % where:
                raise RuntimeError(
                    f"torch.{name} attempted to split along dimension {d}, but the size of the dimension {shape[d]} is "
                    f"not divisible by the split_size {where}!"
                )
        return tensor_split(input, where, d)

    along.__name__ = along.__qualname__ = name
    along.__doc__ = f"``tensor_split`` along dimension {dim}, into pieces of equal size or at the indices of a list."
    return public(f"torch.{name} Tensor.{name}")(along)


hsplit = _split_along("hsplit", 1, 1)
vsplit = _split_along("vsplit", 0, 2)
dsplit = _split_along("dsplit", 2, 3)


@public("torch.unbind Tensor.unbind")
@with_axis
def unbind_public(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of the slices at each index of a dimension.

    >>> torch.tensor([[1, 2], [3, 4]]).unbind(1)
    (tensor([1, 3]), tensor([2, 4]))
    """
    a = payload(input, "unbind")
    shape = a.shape
    if not shape:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    if type(dim) is int and 0 <= dim < len(shape) and type(a) is np.ndarray:
        return view_results(UNBIND, input, (dim,), SLICES(a, dim), [dim])
    return _views(UNBIND, input, normal_dim(dim, len(shape), "unbind"))
