"""Masks and positions: ``masked_select``, ``masked_scatter``, ``nonzero``, ``one_hot``, ``unravel_index``."""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Any

import numpy as np

from ..._arrays.intp import int64, take
from ..._arrays.layouts import in_rows, relaid
from ..._base.dtypes import BOOL, BY_NUMPY
from ..._base.modes import slow_if_recording
from ..._base.registry import public
from ..._kinds.dims import EVERY_DIM, not_a_bool
from ..._kinds.keywords import with_out
from ..._kinds.laid_out import laid_out, receives
from ..._kinds.out import exactly, write_out
from ..._payloads.batching import for_each_example
from ..._payloads.meta import Meta, no_item, no_kernel, on_meta
from ..._tape.error_text import common_shape, expect_tensor
from ..._tape.inplace import inplace_of
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import Tensor, wrap
from ..._tape.unrecorded import unrecorded_here
from ..._tape.view_chain import with_node_name, without_view
from ..._tensor_api.construct import placed_beside
from ..create.convert import clone
from ..shape.join import unbind
from ..shape.strided import slice_dim
from ..shape.views import reshape_public
from ..shape.views_primitive import expand, payload
from .copy_fill import bool_mask
from .getitem import by_one_tensor, known_masks, put_at
from .index_primitive import index, is_plain
from .scatter import dtype_name, known_values


# ---- masks
def _broadcast_pair(x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    a, b = tuple(x._payload.shape), tuple(mask._payload.shape)
    if a == b:
        return x, mask
    both = common_shape(mask, x)
    return (x if a == both else expand(x, both)), (mask if b == both else expand(mask, both))


@public("torch.masked_select Tensor.masked_select")
@with_out(exactly("masked_select(): self and result must have the same scalar type"))
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """A vector of the elements where the bool tensor ``mask`` is true, both broadcast.

    >>> x = torch.tensor([[1, 2], [3, 4]])
    >>> x.masked_select(x > 2)
    tensor([3, 4])
    """
    a, m = payload(input, "masked_select"), getattr(mask, "_payload", None)
    if type(a) is type(m) is np.ndarray and m.dtype is BOOL and m.shape == a.shape and a.flags.c_contiguous:
        if (not slow_if_recording or unrecorded_here()) and (made := by_one_tensor(input, mask)) is not None:
            return with_node_name(made, "MaskedSelectBackward0")
    if on_meta(input) or on_meta(mask):
        raise no_kernel("masked_select")
    mask = bool_mask(
        expect_tensor("masked_select", "mask", 2, mask), "masked_select", "masked_select: expected BoolTensor for mask"
    )
    if type(a) is np.ndarray and not a.flags.c_contiguous:  # the cotangent of what is repeated is a sum, in rows
        repeated = tuple(a.shape) != common_shape(mask, input)
        input = receives(input, EVERY_DIM[a.ndim] if repeated else None)
    x, m = _broadcast_pair(input, mask)
    if not x._payload.ndim:
        x, m = reshape_public(x, (1,)), reshape_public(m, (1,))
    return with_node_name(index([x, *known_masks([m])], (0,)), "MaskedSelectBackward0")


@public("torch.masked_scatter Tensor.masked_scatter")
@laid_out(in_rows)
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """A copy of ``input`` with the first elements of ``source``, in order, where ``mask`` is true.

    >>> torch.zeros(3).masked_scatter(torch.tensor([True, False, True]), torch.tensor([1., 2., 3.]))
    tensor([1., 0., 2.])
    """
    payload(input, "masked_scatter")
    if (each := for_each_example(masked_scatter, input, mask, source)) is not None:
        return each  # type: ignore[no-any-return]
    kind = dtype_name(logical_dtype(expect_tensor("masked_scatter", "mask", 2, mask)))
    mask = bool_mask(
        mask, "masked_scatter_", f"masked_scatter_ only supports boolean masks, but got mask with dtype {kind}"
    )
    if logical_dtype(expect_tensor("masked_scatter", "source", 3, source)) is not logical_dtype(input):
        raise RuntimeError(
            f"masked_scatter: expected self and source to have same dtypes but got{dtype_name(logical_dtype(input))} "
            f"and {dtype_name(logical_dtype(source))}"
        )
    x, m = _broadcast_pair(input, mask)
    shape = tuple(x._payload.shape)
    if on_meta(x):  # the mask or the source has no elements
        return x + (source * 0).sum() if source._node is not None else clone(x, "C")
    if not shape:
        x, m = reshape_public(x, (1,)), reshape_public(m, (1,))
    (m,) = known_masks([m])
    n = int(np.count_nonzero(known_values(m, "masked_scatter")))
    if source._payload.size < n:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    values = slice_dim(reshape_public(source, (source._payload.size,)), 0, 0, n, 1)
    made = put_at(x, values, (0,), [m], False, False)
    node = "MaskedScatterBackward0"
    return with_node_name(made, node) if shape else without_view(reshape_public(made, ()), node)


public("Tensor.masked_scatter_")(inplace_of(masked_scatter, "masked_scatter_"))


# ---- indices of nonzero elements
_PLACES = exactly("nonzero: Expected out tensor to have scalar type Long but got scalar type{Out}")


@public("torch.nonzero Tensor.nonzero")
def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: bool = False) -> Any:
    """The indices of the nonzero elements: a row for each, or with ``as_tuple`` a tensor for each dimension.

    >>> torch.tensor([[0, 1], [2, 0]]).nonzero()
    tensor([[0, 1],
            [1, 0]])
    """
    if type(as_tuple) is not bool:
        raise not_a_bool("nonzero", "as_tuple", as_tuple)
    if out is not None:
        if as_tuple:
            raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
        return write_out(out, nonzero, (input,), None, _PLACES)
    a = payload(input, "nonzero")
    if type(a) is not np.ndarray:
        a = np.asarray(known_values(input, "nonzero"))
    rows = _rows_of_places(a)
    if not len(rows):
        rows = relaid(rows, (rows.itemsize, 0))
    found = wrap(rows) if type(input._payload) is np.ndarray else placed_beside(input, rows)
    if as_tuple:
        return unbind(found, 1) if a.ndim else (placed_beside(input, int64(a.reshape(1).nonzero()[0])),)
    return found


def _rows_of_places(a: Any) -> Any:
    """The indices of the nonzero elements of an array, a row for each."""
    if a.ndim < 2:
        return int64(a.nonzero()[0].reshape(1, -1).T if a.ndim else np.argwhere(a))
    places = a.nonzero()
    columns = np.empty((a.ndim, len(places[0])), np.int64)
    for d, column in enumerate(places):
        columns[d] = column
    return columns.T


@public("torch.argwhere Tensor.argwhere")
def argwhere(input: Tensor) -> Tensor:
    """The indices of the nonzero elements, a row for each, as in ``nonzero``.

    >>> torch.argwhere(torch.tensor([[0, 1], [2, 0]]))
    tensor([[0, 1],
            [1, 0]])
    """
    if (each := for_each_example(argwhere, input)) is not None:
        return each  # type: ignore[no-any-return]
    return nonzero(input)


@public("torch.nonzero_static Tensor.nonzero_static")
@with_out
def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """``nonzero`` with exactly ``size`` rows, truncated or filled with ``fill_value``.

    >>> torch.nonzero_static(torch.tensor([0, 1, 2]), size=3)
    tensor([[ 1],
            [ 2],
            [-1]])
    """
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    if on_meta(input):
        return wrap(Meta((size, input._payload.ndim), np.dtype(np.int64)))
    each = for_each_example(lambda one: nonzero_static(one, size=size, fill_value=fill_value), input)
    if each is not None:
        return each
    found = nonzero(input)._payload[:size]
    rows = np.full((size, found.shape[1]), fill_value, np.int64)
    rows[: len(found)] = found
    return wrap(rows)


def _refuse_classes(num_classes: int, a: Any) -> int:
    """Raise PyTorch's error for numbers that are no classes; how many classes there are."""
    if not a.size:
        return num_classes
    if a.item(a.argmin()) < 0:
        raise RuntimeError("Class values must be non-negative.")
    largest = int(a.item(a.argmax()))
    if num_classes == -1:
        return largest + 1
    if largest >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return num_classes


_FEW = 64  # classes whose rows are kept
_rows_of = cache(lambda classes: np.eye(classes, dtype=np.int64))


@public("nn.functional.one_hot")
def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """A vector for each class number, with a one at that index and zeros elsewhere.

    >>> torch.nn.functional.one_hot(torch.tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    a = payload(tensor, "one_hot")
    dtype = logical_dtype(tensor)
    if dtype.kind != "i" or dtype.itemsize != 8:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if not is_plain(tensor):
        if num_classes <= 0:
            if on_meta(tensor):
                raise no_item()
            num_classes = int(known_values(tensor, "one_hot without num_classes").max()) + 1
        if getattr(a, "is_traced", False):  # in a compiled function; vmap's are not looked at, as in PyTorch
            a.tracer.check(partial(_refuse_classes, num_classes), a)
        return (tensor.unsqueeze(-1) == placed_beside(tensor, np.arange(num_classes))).to(BY_NUMPY[dtype])
    if not a.size:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return wrap(np.zeros((*a.shape, num_classes), np.int64))
    num_classes = _refuse_classes(num_classes, a)
    if num_classes <= _FEW:
        return wrap(take(_rows_of(num_classes), a, 0))
    r = np.zeros((*a.shape, num_classes), np.int64)
    r.reshape(-1)[np.arange(0, r.size, num_classes) + a.reshape(-1)] = 1
    return wrap(r)


@public("torch.unravel_index")
def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """Convert flat indices in row-major order to one tensor of indices for each dimension.

    >>> torch.unravel_index(torch.tensor([5]), (2, 3))
    (tensor([1]), tensor([2]))
    """
    a = payload(indices, "unravel_index")
    if a.dtype.kind not in "iu":
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if not isinstance(shape, (int, tuple, list)):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    other = next((n for n in shape if not isinstance(n, int)), 0)
    if not isinstance(other, int):
        raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(other)}")
    if any(n < 0 for n in shape):
        raise ValueError(f"'shape' cannot have negative values, but got {shape}")
    size, steps = math.prod(shape), []
    for n in shape:
        size = size // n if n else 0
        steps.append(max(size, 1))
    if not shape:
        return ()
    flat = indices.long()
    below, sizes = (flat.new_tensor(values) for values in (steps, [max(n, 1) for n in shape]))
    return (flat.unsqueeze(-1) // below % sizes).unbind(-1)  # PyTorch gives slices of one tensor
