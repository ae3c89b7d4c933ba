"""The public views and reshaped copies: ``view``, ``reshape``, ``squeeze``, ``transpose``, ``permute``, ..."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ..._arrays.library import NEW_AT
from ..._base.dtypes import BY_NUMPY, PYTHON_NUMBERS
from ..._base.errors import noted, warn_once
from ..._base.modes import in_transform, slow_if_recording
from ..._base.registry import TENSORS, public
from ..._kinds.dims import as_int, normal_dim
from ..._kinds.keywords import with_axis
from ..._kinds.slow_path import misfit
from ..._payloads.meta import Meta, restrided
from ..._tape.fast_results import view_result
from ..._tape.tensor import Tensor, alias_payload, in_memory, wrap
from ..._tape.view_chain import with_node_name
from .views_primitive import (
    PERMUTE,
    SQUEEZE_ALL,
    SQUEEZE_DIM,
    T_,
    TRANSPOSE,
    UNSQUEEZE,
    VIEW,
    alias,
    full_size,
    ints,
    listed_ints,
    matrix_t,
    payload,
    permute,
    reshape,
    shape_of_other,
    shares,
    squeeze_all,
    squeeze_dim,
    squeeze_dims,
    transpose_dims,
    unsqueeze_dim,
    view,
)


# ---- view and reshape
@public("torch.reshape Tensor.reshape")
def reshape_public(input: Tensor, *size: Any, shape: Any = None) -> Tensor:
    """Reshape to ``size``: a view where the memory allows it, else a copy.

    One size may be -1, which is inferred.

    >>> torch.arange(6).reshape(2, -1)
    tensor([[0, 1, 2],
            [3, 4, 5]])
    """
    if len(size) == 1 and type(size[0]) is tuple:
        size = size[0]
    elif shape is not None:
        size = listed_ints(shape, "reshape", "shape")
    elif not size or type(size[0]) is not int:
        size = ints(size, "reshape", "shape")
    a = getattr(input, "_payload", None)
    if type(a) is not np.ndarray:
        a = payload(input, "reshape")
        if type(a) is Meta and restrided(a, full_size(size, a.shape)) is None:
            return reshape(input, full_size(size, a.shape))
        if getattr(a, "is_sparse", False):
            from ..._payloads.sparse_errors import lacks

            raise lacks(a, "reshape")
        if not isinstance(a, np.generic):
            return view(input, full_size(size, tuple(a.shape)))
        a = alias_payload(input)
    r = _reshaped(a, size, "reshape", "shape")
    base = r.base
    if base is a or (base is a.base and base is not None) or shares(r, a):
        t = view_result(VIEW, input, (r.shape,), r)
        if not a.flags.c_contiguous:
            return with_node_name(t, "ReshapeAliasBackward0")
        return t
    return reshape(input, r.shape) if input._node is not None or slow_if_recording else wrap(r)


def _reshaped(a: Any, size: Any, name: str, argument: str) -> Any:
    """The array with another shape; raises PyTorch's errors for a size that does not fit."""
    try:
        r = a.reshape(size)
        if r.shape == size or min(size) >= -1:  # NumPy accepts every negative size as -1
            return r
    except (ValueError, TypeError):
        pass
    return a.reshape(full_size(ints((tuple(size),), name, argument), a.shape))


def _reshape_recorded(self: Tensor, size: Any) -> Tensor:
    """``xp.reshape`` on Tensors: a view if the memory allows it."""
    a = self._payload
    if type(a) is np.ndarray and a.flags.c_contiguous:
        try:
            r = a.reshape(size)
        except ValueError:
            pass  # what follows raises PyTorch's error
        else:
            return view_result(VIEW, self, (r.shape,), r)
    return reshape_public(self, tuple(size))


TENSORS.reshape = _reshape_recorded


@public("Tensor.view")
def view_public(self: Tensor, *shape: Any, size: Any = None, dtype: Any = None) -> Tensor:
    """A view of the same memory with another shape, or, given a dtype, as elements of another type.

    Raises RuntimeError for a shape that the strides do not allow; ``reshape`` copies then.

    >>> torch.arange(6).view(3, 2)
    tensor([[0, 1],
            [2, 3],
            [4, 5]])
    >>> torch.ones(1).view(torch.int32)
    tensor([1065353216], dtype=torch.int32)
    """
    if len(shape) == 1 and type(shape[0]) is tuple:
        shape = shape[0]
    elif shape and type(shape[0]) is int:
        pass
    elif size is not None:
        shape = listed_ints(size, "view")
    elif dtype is not None or (len(shape) == 1 and _names_dtype(shape[0])):
        from .view_dtype import view_dtype

        return view_dtype(self, dtype or shape[0])
    else:
        shape = _view_size(shape)
    a = self._payload
    if type(a) is not np.ndarray:
        b = Meta(a.shape, a.dtype, a.strides) if getattr(a, "is_traced", False) else a
        if type(b) is Meta and restrided(b, full_size(shape, a.shape)) is None:
            raise _no_view(a, full_size(shape, a.shape))
        if not isinstance(a, np.generic):
            return view(self, full_size(shape, tuple(a.shape)))
        a = alias_payload(self)
    r = _reshaped(a, shape, "view", "size")
    base = r.base
    if base is not a and (base is not a.base or base is None) and not shares(r, a):
        raise _no_view(a, r.shape)
    return view_result(VIEW, self, (r.shape,), r)


def _names_dtype(value: Any) -> bool:
    return isinstance(value, type(BY_NUMPY[np.dtype(bool)])) or (isinstance(value, type) and value in PYTHON_NUMBERS)


def _no_view(a: Any, shape: Any) -> RuntimeError:
    return noted(
        RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        ),
        f"Why: the tensor's shape is {list(a.shape)} and its strides are {[s // a.itemsize for s in a.strides]}: "
        f"no strides give its elements the shape {list(shape)} in the order they have now.",
        "What to do: reshape() copies if it must; contiguous().view() always copies here.",
    )


def _view_size(shape: Any) -> tuple[int, ...]:
    try:
        if shape:
            return ints(shape, "view")
    except TypeError:
        pass
    raise misfit(".view", *shape)


@public("Tensor.reshape_as")
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """``self.reshape(other.shape)``."""
    return reshape_public(self, shape_of_other(other, "reshape_as"))


@public("Tensor.view_as")
def view_as(self: Tensor, other: Tensor) -> Tensor:
    """``self.view(other.shape)``."""
    return view_public(self, shape_of_other(other, "view_as"))


@public("torch.flatten Tensor.flatten")
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Merge the dimensions from ``start_dim`` to ``end_dim``; a 0-dimensional tensor becomes one-dimensional.

    >>> torch.ones(2, 3, 4).flatten(1).shape
    torch.Size([2, 12])
    """
    a = payload(input, "flatten")
    shape = tuple(a.shape)
    if type(start_dim) is not int or type(end_dim) is not int:
        start_dim, end_dim = as_int(start_dim, "flatten"), as_int(end_dim, "flatten")
    merged = _merged(shape, start_dim, end_dim)
    if merged == shape:
        return input
    if type(a) is not np.ndarray or not a.flags.c_contiguous:
        return reshape_public(input, merged)
    return view_result(VIEW, input, (merged,), a.reshape(merged))


@functools.lru_cache(256)
def _merged(shape: tuple[int, ...], start: int, end: int) -> tuple[int, ...]:
    """The shape with the dims from ``start`` to ``end`` as one."""
    start, end = normal_dim(start, len(shape)), normal_dim(end, len(shape))
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if start == end and shape:
        return shape
    return (*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :])


@public("torch.ravel Tensor.ravel")
def ravel(input: Tensor) -> Tensor:
    """Flatten to one dimension; a view if the tensor is contiguous.

    >>> torch.ravel(torch.tensor([[1, 2], [3, 4]]))
    tensor([1, 2, 3, 4])
    """
    a = payload(input, "ravel")
    if type(a) is np.ndarray and a.flags.c_contiguous:
        return view_result(VIEW, input, ((a.size,),), a.reshape(-1))
    a = in_memory(a)
    if type(a) is np.ndarray and not a.flags.c_contiguous:
        return view_public(TENSORS.clone(input, "C"), (a.size,))
    return view_public(input, (a.size,))


def _viewed(input: Tensor, shape: tuple[int, ...]) -> Tensor:
    """``view_public`` of a shape that fits: nothing is to be read of it where the memory is a plain array in rows."""
    a = input._payload
    if type(a) is not np.ndarray or not a.flags.c_contiguous:
        return view_public(input, shape)
    return view_result(VIEW, input, (shape,), a.reshape(shape))


@public("torch.unflatten Tensor.unflatten")
@with_axis
def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """Split one dimension into several; one of ``sizes`` may be -1.

    >>> torch.ones(2, 6).unflatten(1, (3, -1)).shape
    torch.Size([2, 3, 2])
    """
    a = payload(input, "unflatten")
    dim = normal_dim(dim, a.ndim, "unflatten")
    sizes = listed_ints(sizes, "unflatten", "sizes", " (position 2)")
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    shape = tuple(a.shape)
    if not shape:
        raise RuntimeError("unflatten got an unexpected error:\nDimension specified as 0 but tensor has no dimensions")
    n = shape[dim]
    try:
        sizes = full_size(sizes, (n,))
    except RuntimeError as error:
        if "is invalid for input" not in str(error):
            raise RuntimeError(f"unflatten got an unexpected error:\n{error}") from None
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} ({n}) in the input "
            "tensor"
        ) from None
    return _viewed(input, shape[:dim] + sizes + shape[dim + 1 :])


# ---- dimensions of size one
@public("torch.unsqueeze Tensor.unsqueeze")
def unsqueeze(input: Tensor, dim: int | None = None, *, axis: int | None = None) -> Tensor:
    """A view with a dimension of size one at position ``dim``.

    >>> torch.ones(3).unsqueeze(-1).shape
    torch.Size([3, 1])
    """
    if dim is None:
        if axis is None:
            raise TypeError('unsqueeze() missing 1 required positional arguments: "dim"')
        dim = axis
    a = getattr(input, "_payload", None)
    if type(a) is np.ndarray:
        rank = a.ndim
        if type(dim) is not int or not 0 <= dim <= rank:
            dim = normal_dim(dim, rank + 1, "unsqueeze")
        return view_result(UNSQUEEZE, input, (dim,), a[NEW_AT[dim]])
    return unsqueeze_dim(input, normal_dim(dim, payload(input, "unsqueeze").ndim + 1, "unsqueeze"))


@public("torch.squeeze Tensor.squeeze")
def squeeze(input: Tensor, dim: Any = None, *dims: int, axis: Any = None) -> Tensor:
    """A view without the dimensions of size one, or without those in ``dim``, a number or several.

    >>> torch.ones(1, 3, 1).squeeze(0).shape
    torch.Size([3, 1])
    >>> torch.ones(1, 3, 1).squeeze(0, 2).shape
    torch.Size([3])
    """
    if axis is not None:
        dim = axis
    a: Any = getattr(input, "_payload", None)
    fast = type(a) is np.ndarray
    if dim is None:
        if fast:
            return view_result(SQUEEZE_ALL, input, (), a.squeeze() if 1 in a.shape else a[...])
        payload(input, "squeeze")
        return squeeze_all(input)
    ndim = (a if fast else payload(input, "squeeze")).ndim
    if type(dim) is int and fast and not dims and -ndim <= dim < ndim:
        d = dim if dim >= 0 else dim + ndim
        return view_result(SQUEEZE_DIM, input, (d,), a.squeeze(d) if a.shape[d] == 1 else a[...])
    if dims:
        dim = (dim, *dims)
    if isinstance(dim, (tuple, list)):
        from ..._kinds.dims import normal_dims

        return squeeze_dims(input, normal_dims(dim, ndim, "squeeze"))
    return squeeze_dim(input, normal_dim(dim, ndim, "squeeze"))


# ---- order of dimensions
@public("torch.transpose Tensor.transpose torch.swapdims Tensor.swapdims")
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """A view with two dimensions exchanged.

    >>> torch.ones(2, 3, 4).transpose(0, -1).shape
    torch.Size([4, 3, 2])
    """
    a = getattr(input, "_payload", None)
    if type(a) is np.ndarray and type(dim0) is type(dim1) is int:
        n = a.ndim
        if -n <= dim0 < n and -n <= dim1 < n:
            p = (dim0 if dim0 >= 0 else dim0 + n, dim1 if dim1 >= 0 else dim1 + n)
            return view_result(TRANSPOSE, input, p, a.swapaxes(dim0, dim1))
    ndim = payload(input, "transpose").ndim
    dims = normal_dim(dim0, ndim, "transpose"), normal_dim(dim1, ndim, "transpose")
    if not ndim and in_transform():
        return permute(input, ())
    return transpose_dims(input, *dims)


@public("torch.swapaxes Tensor.swapaxes")
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """``transpose`` under NumPy's name.

    >>> torch.swapaxes(torch.tensor([[1, 2, 3]]), 0, 1)
    tensor([[1],
            [2],
            [3]])
    """
    return transpose(input, axis0, axis1)


@public("torch.t Tensor.t")
def t(input: Tensor) -> Tensor:
    """The transpose of a matrix; tensors of fewer dimensions are unchanged.

    >>> torch.t(torch.tensor([[1, 2], [3, 4]]))
    tensor([[1, 3],
            [2, 4]])
    """
    a = payload(input, "t")
    ndim = a.ndim
    if ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {ndim}D")
    return view_result(T_, input, (), a.transpose()) if type(a) is np.ndarray else matrix_t(input)


@public("torch.permute Tensor.permute")
def permute_public(input: Tensor, *order: Any, dims: Any = None) -> Tensor:
    """A view with the dimensions in another order.

    >>> torch.ones(2, 3, 4).permute(2, 0, 1).shape
    torch.Size([4, 2, 3])
    """
    if (dims is None) is (not order):
        raise misfit(".permute", *order, *(() if dims is None else (dims,)))
    asked = order if dims is None else (dims,)
    if len(asked) == 1 and type(asked[0]) in (tuple, list):
        asked = tuple(asked[0])
    a = payload(input, "permute")
    ndim = a.ndim
    if type(a) is np.ndarray and PERMUTATIONS.get(asked) == ndim:
        return view_result(PERMUTE, input, (asked,), a.transpose(asked))
    places = ints(asked, "permute", "dims") if asked else ()
    if len(places) != ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {ndim} is not equal to len(dims) = {len(places)}"
        )
    places = tuple([d if 0 <= d < ndim else normal_dim(d, ndim, "permute") for d in places])
    if len(set(places)) != ndim:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    if len(PERMUTATIONS) < 1000:
        PERMUTATIONS[places] = ndim
    return permute(input, places)


PERMUTATIONS: dict[Any, int] = {}  # valid dims of earlier calls, with the number of dimensions


@public("torch.movedim Tensor.movedim torch.moveaxis Tensor.moveaxis")
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """A view with some dimensions moved to other positions; the others stay in order.

    >>> torch.ones(2, 3, 4).movedim(0, -1).shape
    torch.Size([3, 4, 2])
    """
    a = payload(input, "movedim")
    ndim = a.ndim
    if type(source) is type(destination) is int and -ndim <= source < ndim and -ndim <= destination < ndim:
        order = _order_moved(ndim, source, destination)
        if type(a) is np.ndarray:
            return view_result(PERMUTE, input, (order,), a.transpose(order))
        return permute(input, order)
    several = isinstance(source, (tuple, list))
    if several is not isinstance(destination, (tuple, list)):
        raise misfit("movedim", input, source, destination)
    source, destination = (source, destination) if several else ((source,), (destination,))
    if len(source) != len(destination):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(source)} dims) should contain the same number "
            f"of dims as destination ({list(destination)} dims)"
        )
    src = [normal_dim(d, ndim, "movedim") for d in source]
    dst = [normal_dim(d, ndim, "movedim") for d in destination]
    for what, dims, given in (("source", src, source), ("destination", dst, destination)):
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{what}` ({list(given)})")
    if not ndim:
        return alias(input)
    rest = iter(d for d in range(ndim) if d not in src)
    at = dict(zip(dst, src, strict=True))
    return permute(input, tuple(at[i] if i in at else next(rest) for i in range(ndim)))


@functools.lru_cache(256)
def _order_moved(ndim: int, source: int, destination: int) -> tuple[int, ...]:
    dims = list(range(ndim))
    dims.insert(destination % ndim, dims.pop(source % ndim))
    return tuple(dims)


def _last_two(self: Tensor, name: str, conj: bool) -> Tensor:
    ndim = self._payload.ndim
    if not ndim:
        instead = "Consider using x.conj()." if conj else "This function is the identity in these cases."
        warn_once(f"{name if name.endswith('()') else f'Tensor.{name}'} is deprecated on 0-D tensors. {instead}")
        return self.conj() if conj else self
    if ndim < 2:
        raise RuntimeError(f"tensor.{name} is only supported on matrices or batches of matrices. Got {ndim}-D tensor.")
    r = transpose_dims(self, ndim - 2, ndim - 1)
    return r.conj() if conj and r._payload.dtype.kind == "c" else r


def _transposed(self: Tensor) -> Tensor:
    """The transpose of each matrix of a batch: the last two dimensions exchanged."""
    return _last_two(self, "mT", False)


def _adjoint(self: Tensor) -> Tensor:
    """The conjugate transpose of each matrix of a batch."""
    return _last_two(self, "mH", True)


@public("torch.adjoint Tensor.adjoint")
def adjoint(input: Tensor) -> Tensor:
    """The conjugate transpose of each matrix of a batch.

    >>> torch.ones(5, 2, 3).adjoint().shape
    torch.Size([5, 3, 2])
    """
    payload(input, "adjoint")
    return _last_two(input, "adjoint()", True)


def _reversed(self: Tensor) -> Tensor:
    """A view with the dimensions in reverse order."""
    ndim = self._payload.ndim
    if not ndim:
        warn_once("Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases.")
    elif ndim != 2:
        warn_once(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will "
            "throw an error in a future release. Consider `x.mT` to transpose batches of matrices or "
            "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor."
        )
    dims = tuple(range(ndim - 1, -1, -1))
    a = self._payload
    return view_result(PERMUTE, self, (dims,), a.transpose()) if type(a) is np.ndarray else permute(self, dims)


def _hermitian(self: Tensor) -> Tensor:
    """The conjugate transpose of a matrix."""
    ndim = self._payload.ndim
    if ndim not in (0, 2):
        batches = " For batches of matrices, consider using tensor.mH" if ndim > 2 else ""
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {ndim}-D tensor.{batches}")
    if not ndim:
        warn_once("Tensor.H is deprecated on 0-D tensors. Consider using x.conj().")
        return self.conj()
    return transpose_dims(self, 0, 1).conj()


public("Tensor.T")(property(_reversed))
public("Tensor.H")(property(_hermitian))
public("Tensor.mT")(property(_transposed))
public("Tensor.mH")(property(_adjoint))
