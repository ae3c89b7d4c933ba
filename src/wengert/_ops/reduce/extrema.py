"""Largest and smallest elements: ``max``, ``min``, ``amax``, ``amin``, ``aminmax``, ``argmax``, ``argmin``.

``max(dim)`` sends its cotangent to the one element it chose, the first of equal ones; ``amax``, ``aminmax`` and
``max()`` of all elements share it evenly among equal ones, as PyTorch does. ``_take_along`` and ``_put_along``
(elements along a dim by index, and their transpose) carry the cotangents of extrema along a dim and of sorts.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._arrays.extrema import (
    ARGMAX,
    ARGMIN,
    IN_COLUMNS,
    extremum_over,
    extremum_with_place,
    in_large_columns,
    shared_by_many,
)
from ..._arrays.fused import MANY, recordable
from ..._arrays.intp import int64
from ..._arrays.layouts import as_rows, rows
from ..._arrays.sums import SMALL
from ..._arrays.threads import LARGE, among_rows, reduce_all
from ..._base.dtypes import INT64
from ..._base.registry import ARRAYS, TENSORS, public
from ..._kinds.dims import EVERY_DIM, nonempty_dims, normal_dim, not_a_bool, numpy_names, rank
from ..._kinds.fronts import in_one_dim
from ..._kinds.general import general
from ..._kinds.out import EXACT, convertible, exactly, write_out
from ..._kinds.return_types import return_type
from ..._kinds.slow_path import misfit
from ..._tape.tensor import Tensor, wrap
from ..._tape.view_chain import without_view
from .sums import NOT_REAL_OR_EMPTY, Dims, dtype_text, is_kind, reduction, restored, unimplemented, wanted_dims

_SAME_AS_INPUT = exactly(
    "Expected the dtype for input and out to match, but got {Result} for input's dtype and {Out} for out's dtype."
)

if TYPE_CHECKING:
    from collections.abc import Callable

NUMBERS_ONLY = 'not a.size or a.dtype.kind not in "fiu"'  # see ``NOT_REAL``
MaxResult = return_type("max", "values", "indices")
MinResult = return_type("min", "values", "indices")
AminmaxResult = return_type("aminmax", "min", "max")


# ---- elements along a dim, by index


@general(
    tensors=2,
    grad={"self": lambda xp, g, index, dim, unique, self_shape: xp._put_along(g, index, dim, self_shape[dim], unique)},
    batch=("dim", ("dim",)),
    dtypes="fcib",
    samples=lambda rng: [((rng.standard_normal((2, 3)), np.array([[2, 0], [1, 2]])), (1, True))],
)
def _take_along(lib, self, index, dim, unique):
    """The elements along a dim at integer positions; ``unique``: no position occurs twice."""
    return lib.taken_along(self, index, dim)


@general(
    tensors=2,
    node="ScatterBackward0",
    grad={"self": lambda xp, g, index, dim, size, unique: xp._take_along(g, index, dim, unique)},
    batch=("dim", ("dim",)),
    dtypes="fcib",
    samples=lambda rng: [
        ((rng.standard_normal((2, 2)), np.array([[2, 0], [1, 2]])), (1, 3, True)),
        ((rng.standard_normal((2, 2)), np.array([[2, 0], [2, 2]])), (0, 3, False)),
    ],
)
def _put_along(lib, self, index, dim, size, unique):
    """Zeros of ``size`` along a dim with the elements added at integer positions."""
    return lib.put_along(self, index, dim, size, unique)


def put_chosen(xp: Any, g: Any, indices: Any, shape: tuple[int, ...], dim: int, keepdim: bool) -> Any:
    """The cotangent of a reduction that chose one element along a dim."""
    g = restored(xp, g, shape, dim, keepdim)
    return xp._put_along(g, restored(xp, indices, shape, dim, keepdim), dim, shape[dim], True)


def with_places(grad: Any = None, **facts: Any) -> Callable[[Any], Any]:
    """Declare an operator whose results are elements along a dim, by default one of each row, and their indices."""
    if grad is None:
        grad = lambda xp, g, indices, dim, keepdim, self_shape: put_chosen(xp, g, indices, self_shape, dim, keepdim)
    return general(
        grad, outputs=2, results=("values", "indices"), differentiable=(True, False), batch=("dim", ("dim",)), **facts
    )


def put_all(xp: Any, g: Any, indices: Any, dim: int, self_shape: tuple[int, ...]) -> Any:
    """The cotangent of elements along a dim, each of which was chosen at most once."""
    return xp._put_along(g, indices, dim, self_shape[dim], True)


# ---- sharing evenly
@general(tensors=2, batch="elementwise", no_derivative="a comparison", samples=[((3,), (3,), (True,))], dtypes="fib")
def _ties(lib, self, result, nan):
    """A mask of the elements equal to the result; with ``nan``, nan equals nan."""
    mask = self == result
    if nan and self.dtype.kind in "fV":
        missing = lib.isnan(result)
        if missing.any():
            mask = mask | (lib.isnan(self) & missing)
    return mask


@general(
    tensors=2,
    batch=("dim", ("dim",)),
    no_derivative="it counts",
    samples=lambda rng: [((np.array([True, False]), np.zeros(2)), ((0,),))],
)
def _tie_count(lib, mask, self, dim):
    """The number of true elements over some dims, in the dtype of ``self``, with the dims kept."""
    return lib.add.reduce(mask, dim, None, None, True).astype(self.dtype)


def shared(xp: Any, g: Any, self: Any, result: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    """The cotangent of an extremum over dims, shared evenly among equal elements."""
    result, g = (restored(xp, x, self.shape, dim, keepdim) for x in (result, g))
    if xp is ARRAYS and self.size >= MANY and recordable(self) and g.dtype is self.dtype:
        return among_rows(self.shape[-1], lambda: shared_by_many(g, self, result, dim))
    mask = xp._ties(self, result, False)
    count = xp._tie_count(mask, self, dim)
    return xp.where(mask, g / count, (count - count) / count)  # 0, or nan where the result is nan: count is 0


def shared_by_all(xp: Any, g: Any, self: Any, result: Any) -> Any:
    """The cotangent of an extremum or a median of all elements; the nan elements share it if the result is nan."""
    mask = xp._ties(self, result, True)
    return as_rows(xp.where(mask, g / xp._tie_count(mask, self, tuple(range(self.ndim))), 0.0))


# ---- max and min of all
def _batch_all(name: str) -> Callable[..., Any]:
    return lambda U, info, inner, mine, p: getattr(U, name)(inner[0], tuple(range(1, inner[0].ndim)), False)


_OF_ALL: dict[str, Any] = {
    "grad": shared_by_all,
    "dtypes": "fib",
    "samples": lambda rng: [((a,), ()) for a in (rng.standard_normal((2, 3)), np.array(1.5))],
}


@general(node="MaxBackward1", batch=_batch_all("amax"), called="max", **_OF_ALL)
def max_all(lib, self):
    """The largest element."""
    if self.size <= SMALL and self.dtype.kind != "V":
        return self.ravel()[self.argmax()]  # NumPy's argmax takes a third of the time
    return lib.maximum.reduce(self, None) if self.size < LARGE else reduce_all(lib.maximum, self)


@general(node="MinBackward1", batch=_batch_all("amin"), called="min", **_OF_ALL)
def min_all(lib, self):
    """The smallest element."""
    if self.size <= SMALL and self.dtype.kind != "V":
        return self.ravel()[self.argmin()]
    return lib.minimum.reduce(self, None) if self.size < LARGE else reduce_all(lib.minimum, self)


# ---- max and min along a dim
_DIM_SAMPLES = lambda rng: [
    ((rng.standard_normal(s),), (d, keep)) for s, d in (((3, 4), 1), ((3, 4), 0), ((5,), 0)) for keep in (False, True)
]


@with_places(layout=rows, node="MaxBackward0", dtypes="fib", samples=_DIM_SAMPLES, called="max")
def max_dim(lib, self, dim, keepdim):
    """The largest element along a dim and its index: the first of equal ones, or the first nan."""
    return extremum_with_place(self, ARGMAX, lib.maximum, dim, keepdim)


@with_places(layout=rows, node="MinBackward0", dtypes="fib", samples=_DIM_SAMPLES, called="min")
def min_dim(lib, self, dim, keepdim):
    """The smallest element along a dim and its index: the first of equal ones, or the first nan."""
    return extremum_with_place(self, ARGMIN, lib.minimum, dim, keepdim)


def _extremum_of_all(op: Any, name: str) -> Callable[[Tensor], Any]:
    def of_all(input: Tensor) -> Any:
        try:
            a = input._payload
            if a.size and a.dtype.kind != "c":
                return op(input)
        except AttributeError:
            rank(input, name)
        if is_kind(input, "c"):
            raise unimplemented(f"{name}_all", input)
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
            "Specify the reduction dim with the 'dim' argument."
        )

    return of_all


_OUT_OF_ALL = convertible(
    "Expected canCast( typeMetaToScalarType(self.dtype()), typeMetaToScalarType(out.dtype())) to be true, but got "
    "false.  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.)"
)


max_of_all, min_of_all = _extremum_of_all(max_all, "max"), _extremum_of_all(min_all, "min")
_of_one_dim = partial(in_one_dim, values="dim, keepdim", unless=NOT_REAL_OR_EMPTY)


@public("torch.max Tensor.max")
@partial(_of_one_dim, name="max_dim", result=MaxResult, alone=max_of_all, pairs="maximum")
def max(input: Tensor, *args: Any, out: Any = None, **kwargs: Any) -> Any:
    """Largest elements.

    - ``max(input)``: the largest element of all;
    - ``max(input, dim, keepdim=False)``: the largest along a dim, and its indices (the first of equal ones);
    - ``max(input, other)``: the larger of each pair, like ``maximum``.

    >>> x = torch.tensor([[1., 5.], [7., 3.]])
    >>> x.max()
    tensor(7.)
    >>> x.max(1).indices
    tensor([1, 0])
    """
    return _extremum(input, args, kwargs, out, max, "max")


@public("torch.min Tensor.min")
@partial(_of_one_dim, name="min_dim", result=MinResult, alone=min_of_all, pairs="minimum")
def min(input: Tensor, *args: Any, out: Any = None, **kwargs: Any) -> Any:
    """Smallest elements: of all, along a dim (with their indices), or of each pair; see ``max``.

    >>> torch.min(torch.tensor([[1., 5.], [7., 3.]]), 0).values
    tensor([1., 3.])
    """
    return _extremum(input, args, kwargs, out, min, "min")


def _extremum(input: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any, fn: Any, name: str) -> Any:
    """``max`` or ``min`` with more arguments than the tensor: along a dim, or of pairs."""
    if kwargs:
        kwargs = numpy_names(kwargs)
    if isinstance(input, Tensor) and ("other" in kwargs or (args and isinstance(args[0], Tensor))):
        if out is not None:
            kwargs["out"] = out
        return getattr(TENSORS, name + "imum")(input, *args, **kwargs)
    if out is not None:
        rule = EXACT if isinstance(out, (tuple, list)) else None if args or kwargs else _OUT_OF_ALL
        return write_out(out, fn, (input, *args), kwargs, rule)
    dim, keepdim = _dim_and_keepdim(name, input, args, kwargs)
    if dim is None:
        return fn(input)
    ndim = rank(input, name)
    dim = normal_dim(dim, ndim, name)
    if is_kind(input, "c"):
        raise RuntimeError(f"{name}(): does not support complex input")
    if ndim:
        nonempty_dims(input._payload.shape, (dim,), name)
    values, indices = along(max_dim if name == "max" else min_dim, input, dim, keepdim)
    return (MaxResult if name == "max" else MinResult)._make((values, indices))


def _dim_and_keepdim(name: str, input: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, bool]:
    given = dict(zip(("dim", "keepdim"), args, strict=False)) | kwargs
    if not isinstance(given.get("keepdim", False), bool):
        raise not_a_bool(name, "keepdim", given["keepdim"])
    known = isinstance(input, Tensor) and set(given) <= {"dim", "keepdim"} and len(args) <= 2 and "dim" in given
    dim = given.get("dim")
    is_int = hasattr(dim, "__index__") and not isinstance(dim, bool)
    if not known or not (dim is None or is_int):
        raise misfit(name, input, *args, **kwargs)
    return dim, given.get("keepdim", False)


def along(op: Any, input: Tensor, dim: int, *p: Any) -> tuple[Tensor, ...]:
    """Call an operator with several outputs along one dim; a 0-dimensional tensor becomes a vector of one element."""
    if input._payload.ndim:
        return op(input, dim, *p)
    return tuple(map(without_dim, op(TENSORS.reshape(input, (1,)), 0, *p)))


def along_one(op: Any, input: Tensor, dim: int, *p: Any) -> Tensor:
    """``along`` for an operator with one output."""
    if input._payload.ndim:
        return op(input, dim, *p)
    return without_dim(op(TENSORS.reshape(input, (1,)), 0, *p))


def without_dim(result: Tensor) -> Tensor:
    """A one-element vector as a 0-dimensional tensor, which keeps the name of the vector's node."""
    node = result.grad_fn
    return without_view(TENSORS.reshape(result, ()), node.name() if node else None)


# ---- amax and amin
_OVER_DIMS: dict[str, Any] = {
    "batch": ("dim", ("dim",)),
    "dtypes": "fib",
    "samples": lambda rng: [
        ((rng.standard_normal(s),), (d, keep))
        for s, d in (((3, 4), (1,)), ((2, 3, 4), (0, 2)), ((), ()))
        for keep in (False, True)
    ],
}


@general(shared, layout=rows, **_OVER_DIMS)
def amax(lib, self, dim, keepdim):
    """The largest element over some dims."""
    return extremum_over(self, ARGMAX, lib.maximum, dim, keepdim)


@general(shared, layout=rows, **_OVER_DIMS)
def amin(lib, self, dim, keepdim):
    """The smallest element over some dims."""
    return extremum_over(self, ARGMIN, lib.minimum, dim, keepdim)


@reduction("torch.amax Tensor.amax", out_rule=_SAME_AS_INPUT, one_dim=("amax", "dims, keepdim", NOT_REAL_OR_EMPTY))
def amax_public(input: Tensor, dim: Dims = (), keepdim: bool = False) -> Tensor:
    """The largest element over one, several or all dims; equal ones share the gradient evenly.

    >>> torch.amax(torch.tensor([[1., 5.], [7., 3.]]), 1)
    tensor([5., 7.])
    """
    return amax(input, _extremum_dims(input, dim, "amax", "max_values_cpu"), keepdim)


@reduction("torch.amin Tensor.amin", out_rule=_SAME_AS_INPUT, one_dim=("amin", "dims, keepdim", NOT_REAL_OR_EMPTY))
def amin_public(input: Tensor, dim: Dims = (), keepdim: bool = False) -> Tensor:
    """The smallest element over one, several or all dims; equal ones share the gradient evenly.

    >>> torch.amin(torch.tensor([[1., 5.], [7., 3.]]), (0, 1))
    tensor(1.)
    """
    return amin(input, _extremum_dims(input, dim, "amin", "min_values_cpu"), keepdim)


def _extremum_dims(input: Tensor, dim: Any, name: str, kernel: str) -> tuple[int, ...]:
    dims = wanted_dims(dim, rank(input, name), name)
    shape = input._payload.shape
    if 0 in shape:
        if dim is None or (not isinstance(dim, int) and not len(dim)):
            raise RuntimeError(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                "Specify the reduction dim with the 'dim' argument."
            )
        nonempty_dims(shape, (dim,) if isinstance(dim, int) else dim, name)  # as they were given
    if is_kind(input, "c"):
        raise unimplemented(kernel, input)
    return dims


@general(
    layout=rows,
    grad=lambda xp, g, self, min, max, dim, keepdim: (
        shared(xp, g[0], self, min, dim, keepdim) + shared(xp, g[1], self, max, dim, keepdim)
    ),
    outputs=2,
    results=("min", "max"),
    **_OVER_DIMS,
)
def aminmax(lib, self, dim, keepdim):
    """The smallest and the largest element over some dims."""
    return (
        extremum_over(self, ARGMIN, lib.minimum, dim, keepdim),
        extremum_over(self, ARGMAX, lib.maximum, dim, keepdim),
    )


@reduction(
    "torch.aminmax Tensor.aminmax",
    out_rule=EXACT,
    one_dim=("aminmax", "dims=, keepdim=", f"args or {NOT_REAL_OR_EMPTY}", AminmaxResult),
)
def aminmax_public(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Any:
    """The smallest and the largest of all elements, or along a dim.

    >>> torch.aminmax(torch.tensor([3., 1., 2.])).max
    tensor(3.)
    """
    ndim = rank(input, "aminmax")
    dims = EVERY_DIM[ndim] if dim is None else (normal_dim(dim, ndim, "aminmax"),) * bool(ndim)
    shape = input._payload.shape
    if dim is None and 0 in shape:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
        )
    for d in dims:
        if not shape[d]:
            raise IndexError(f"aminmax: Expected reduction dim {d} to have non-zero size.")
    if is_kind(input, "c"):
        if not ndim and dim is not None:
            raise RuntimeError(f"aminmax not implemented for {dtype_text(input)}")
        raise unimplemented("aminmax_cpu", input)
    return AminmaxResult._make(aminmax(input, dims, keepdim))


# ---- argmax and argmin
_PLACE: dict[str, Any] = {
    "batch": ("dim", ("dim",)),
    "dtypes": "fi",
    "samples": [((3, 4), (1, False)), ((5,), (0, True))],
    "no_derivative": "indices",
}


@general(layout=rows, **_PLACE)
def argmax(lib, self, dim, keepdim):
    """The index of the largest element along a dim: the first of equal ones, or the first nan."""
    if self.size >= IN_COLUMNS and in_large_columns(self, dim):
        return extremum_with_place(self, ARGMAX, lib.maximum, dim, keepdim)[1]
    where = self.argmax(dim, keepdims=True) if keepdim else self.argmax(dim)
    return where if where.dtype is INT64 else int64(where)


@general(layout=rows, **_PLACE)
def argmin(lib, self, dim, keepdim):
    """The index of the smallest element along a dim: the first of equal ones, or the first nan."""
    if self.size >= IN_COLUMNS and in_large_columns(self, dim):
        return extremum_with_place(self, ARGMIN, lib.minimum, dim, keepdim)[1]
    where = self.argmin(dim, keepdims=True) if keepdim else self.argmin(dim)
    return where if where.dtype is INT64 else int64(where)


def _place_of_all(op: Any, name: str) -> Callable[[Tensor], Any]:
    def of_all(input: Tensor) -> Any:
        try:
            a = input._payload
            if type(a) is np.ndarray and a.size and a.dtype.kind in "fiu":  # finding an index is not recorded
                return op(input if a.ndim == 1 else wrap(a.reshape(-1)), 0, False)
        except AttributeError:
            pass
        return _arg_extremum(op, name, input, None, False)

    return of_all


_argmax_of_all, _argmin_of_all = _place_of_all(argmax, "argmax"), _place_of_all(argmin, "argmin")
_IN_ONE_DIM = "dim, keepdim", NUMBERS_ONLY, None


@reduction("torch.argmax Tensor.argmax", out_rule=EXACT, one_dim=("argmax", *_IN_ONE_DIM, _argmax_of_all))
def argmax_public(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Index of the largest element: in the flattened tensor, or along a dim. The first of equal ones.

    >>> x = torch.tensor([[1., 5.], [7., 3.]])
    >>> x.argmax(), x.argmax(1)
    (tensor(2), tensor([1, 0]))
    """
    return _arg_extremum(argmax, "argmax", input, dim, keepdim)


@reduction("torch.argmin Tensor.argmin", out_rule=EXACT, one_dim=("argmin", *_IN_ONE_DIM, _argmin_of_all))
def argmin_public(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Index of the smallest element: in the flattened tensor, or along a dim. The first of equal ones.

    >>> torch.argmin(torch.tensor([[1., 5.], [7., 3.]]), dim=0)
    tensor([0, 1])
    """
    return _arg_extremum(argmin, "argmin", input, dim, keepdim)


def _arg_extremum(op: Any, name: str, input: Tensor, dim: Any, keepdim: bool) -> Tensor:
    ndim = rank(input, name)
    if is_kind(input, "cb"):
        raise RuntimeError(f"{name}(): does not support {'bool' if is_kind(input, 'b') else 'complex'} input")
    shape = input._payload.shape
    if dim is None:
        n = input._payload.size
        if not n:
            raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
        found = op(input if ndim == 1 else TENSORS.reshape(input, (n,)), 0, False)
        return TENSORS.reshape(found, (1,) * ndim) if keepdim and ndim else found
    dim = normal_dim(dim, ndim, name)
    if ndim:
        nonempty_dims(shape, (dim,), name)
    return along_one(op, input, dim, keepdim)
