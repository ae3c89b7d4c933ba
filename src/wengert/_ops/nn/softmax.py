"""The softmax family: ``softmax``, ``log_softmax``, ``softmin``, ``logsumexp``.

Each saves its result only. Its derivative is an operator of its own, as in PyTorch (``_softmax_backward_data``,
``_log_softmax_backward_data``), with its own derivative. The bodies for NumPy work in place on one new array.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._arrays import softmax_large
from ..._arrays.library import in_lib, table_of_ones, vector_of_ones
from ..._arrays.threads import LARGE, elementwise, rows
from ..._base.dtypes import FLOATING
from ..._base.errors import warn
from ..._base.registry import RAW, public
from ..._kinds.dims import normal_dim, rank
from ..._kinds.general import general
from ..._kinds.out import EXACT, of_kind
from ..._tape.tensor import Tensor
from ..reduce.extrema import along_one
from ..reduce.sums import Dims, in_dtype, reduction, restored, to_default, unimplemented, wanted_dims

if TYPE_CHECKING:
    from ..._base.dtypes import dtype as DType

_max: Any = np.maximum.reduce
_min: Any = np.minimum.reduce
_add: Any = np.add.reduce
_exp: Any = np.exp
_MANY = 4096  # elements from which kernels and blocks pay
_BY_BLAS = frozenset((np.dtype(np.float32), np.dtype(np.float64)))

# NOTE [ Small rows ]
#     Products with ones take the place of reductions (``table_of_ones``). A sum of squares, which is one product, tells
#     whether any exponential is extreme (``_large_softmax``); log_softmax is computed in float64, whose digits suffice
#     without a look at the rows' maxima.
_SMALL_ROW, _SMALL = 64, 65536
_SAFE_SQUARES, _SAFE_SQUARES_64 = 60.0**2, 600.0**2


def _is_small(x: Any, dim: int) -> bool:
    n = x.shape[dim]
    return n <= _SMALL_ROW and x.size * n <= _SMALL and dim == x.ndim - 1 and x.dtype in _BY_BLAS


def _has_rows(dim: int, *arrays: Any) -> bool:
    """Whether there are many rows, whole in memory, that ``_large_softmax`` takes."""
    first = arrays[0]
    return bool(
        first.size >= _MANY
        and dim == first.ndim - 1
        and first.dtype in _BY_BLAS
        and all([a.flags.c_contiguous and a.dtype is first.dtype for a in arrays])  # noqa: C419  faster so
    )


def _filled(fill: Any, dim: int, *arrays: Any) -> Any:
    """A new array that ``fill(array, *arrays)`` fills along dim 1 of three; large ones block by block."""
    first = arrays[0]
    shape = first.shape or (1,)
    outer, n, inner = math.prod(shape[:dim]), shape[dim], math.prod(shape[dim + 1 :])
    r = np.empty(first.shape, first.dtype)
    views = [a.reshape(outer, n, inner) for a in (r, *arrays)]
    if first.size < LARGE or outer == 1:
        fill(*views)
    else:
        rows(lambda part: fill(*[a[part] for a in views]), outer, n * inner)
    return r


def _fill_softmax(r: Any, x: Any) -> None:
    if x.size < _MANY or not softmax_large.moderate_exponential(x, r):
        np.subtract(x, _max(x, 1, None, None, True), r)
        _exp(r, r)
    r /= _add(r, 1, None, None, True)


def _fill_log_softmax(r: Any, x: Any) -> None:
    np.subtract(x, _max(x, 1, None, None, True), r)
    s = _add(_exp(r), 1, None, None, True)
    r -= np.log(s, s)


def _fill_softmax_backward(r: Any, g: Any, y: Any) -> None:
    np.multiply(g, y, r)
    s = _add(r, 1, None, None, True)
    np.subtract(g, s, r)
    r *= y


def _fill_log_softmax_backward(r: Any, g: Any, y: Any) -> None:
    _exp(y, r)
    r *= _add(g, 1, None, None, True)
    np.subtract(g, r, r)


@in_lib
def softmax_rows(x: Any, dim: int) -> Any:
    """exp(x) over its sum along a dim; half precision in float32."""
    if _is_small(x, dim) and x.size:
        flat = x.ravel()
        r = _exp(x) if flat.dot(flat) <= _SAFE_SQUARES else _exp(x - _max(x, dim, None, None, True))
        r /= r.dot(table_of_ones(x.shape[dim], x.shape[dim], x.dtype))
        return r
    if x.dtype.itemsize == 2:
        return softmax_rows(x.astype(np.float32), dim).astype(x.dtype)
    if _has_rows(dim, x):
        return softmax_large.filled(softmax_large.softmax, x)
    return _filled(_fill_softmax, dim, x) if x.size else x.copy()


@in_lib
def log_softmax_rows(x: Any, dim: int) -> Any:
    """x minus the logarithm of the sum of exp(x) along a dim; half precision in float32."""
    if _is_small(x, dim) and x.size and x.dtype.itemsize == 4:
        w = x.astype(np.float64)
        flat = w.ravel()
        if flat.dot(flat) <= _SAFE_SQUARES_64:
            s = _exp(w).dot(table_of_ones(x.shape[dim], x.shape[dim], w.dtype))
            w -= np.log(s, s)
            return w.astype(np.float32)
    if x.dtype.itemsize == 2:
        return log_softmax_rows(x.astype(np.float32), dim).astype(x.dtype)
    if _has_rows(dim, x):
        return softmax_large.filled(softmax_large.log_softmax, x)
    return _filled(_fill_log_softmax, dim, x) if x.size else x.copy()


@in_lib
def softmax_backward_rows(g: Any, y: Any, dim: int) -> Any:
    """y * (g - sum(g * y)) along a dim."""
    if _is_small(y, dim):
        r = g - (g * y).dot(table_of_ones(y.shape[dim], y.shape[dim], y.dtype))
        r *= y
        return r
    if y.dtype.itemsize == 2:
        return softmax_backward_rows(g.astype(np.float32), y.astype(np.float32), dim).astype(y.dtype)
    return _backward(softmax_large.softmax_backward, _fill_softmax_backward, g, y, dim)


@in_lib
def log_softmax_backward_rows(g: Any, y: Any, dim: int) -> Any:
    """g - exp(y) * sum(g) along a dim."""
    if _is_small(y, dim):
        r = _exp(y)
        r *= g.dot(table_of_ones(y.shape[dim], y.shape[dim], y.dtype))
        return np.subtract(g, r, r)
    if y.dtype.itemsize == 2:
        return log_softmax_backward_rows(g.astype(np.float32), y.astype(np.float32), dim).astype(y.dtype)
    return _backward(softmax_large.log_softmax_backward, _fill_log_softmax_backward, g, y, dim)


def _backward(kernel: Any, fill: Any, g: Any, y: Any, dim: int) -> Any:
    """Fill the cotangent of the input from a cotangent, whose rows may be repeated, and the result."""
    if not y.size:
        return y.copy()
    g = np.ascontiguousarray(g, y.dtype)
    return softmax_large.filled(kernel, g, y) if _has_rows(dim, g, y) else _filled(fill, dim, g, y)


# -------------------------------------------------------------------------------------------------------------- softmax
_SAMPLES = [((3, 4), (1,)), ((3, 4), (0,)), ((2, 3, 2), (1,)), ((0,), (0,))]


@general(
    grad=lambda xp, g, result, dim: xp._softmax_backward_data(g, result, dim),
    batch=("dim", ("dim",)),
    samples=_SAMPLES,
    dtypes="f",
)
def softmax(lib, self, dim):
    """exp(x) over its sum along a dim."""
    return lib.softmax_rows(self, dim)


def _softmax_backward_grad(xp: Any, g: Any, grad_output: Any, output: Any, dim: int, needs: Any) -> tuple[Any, Any]:
    by_output = None
    if needs[1]:
        by_output = g * (grad_output - xp.sum_dim(grad_output * output, (dim,), True)) - grad_output * xp.sum_dim(
            g * output, (dim,), True
        )
    return (xp._softmax_backward_data(g, output, dim) if needs[0] else None, by_output)


@general(
    tensors=2,
    grad=_softmax_backward_grad,
    batch=("dim", ("dim",)),
    samples=[((3, 4), (3, 4), (1,)), ((3, 4), (3, 4), (0,))],
    dtypes="f",
)
def _softmax_backward_data(lib, grad_output, output, dim):
    """The transpose of softmax's derivative: y * (g - sum(g * y))."""
    return lib.softmax_backward_rows(grad_output, output, dim)


@general(
    grad=lambda xp, g, result, dim: xp._log_softmax_backward_data(g, result, dim),
    batch=("dim", ("dim",)),
    samples=_SAMPLES,
    dtypes="f",
)
def log_softmax(lib, self, dim):
    """x minus the logarithm of the sum of exp(x) along a dim."""
    return lib.log_softmax_rows(self, dim)


def _log_softmax_backward_grad(xp: Any, g: Any, grad_output: Any, output: Any, dim: int) -> tuple[Any, Any]:
    h = g * xp.exp(output)
    return g - xp.sum_dim(h, (dim,), True), -h * xp.sum_dim(grad_output, (dim,), True)


@general(
    tensors=2,
    grad=_log_softmax_backward_grad,
    batch=("dim", ("dim",)),
    samples=[((3, 4), (3, 4), (1,)), ((3, 4), (3, 4), (0,))],
    dtypes="f",
)
def _log_softmax_backward_data(lib, grad_output, output, dim):
    """The transpose of log_softmax's derivative: g - exp(y) * sum(g)."""
    return lib.log_softmax_backward_rows(grad_output, output, dim)


# ----------------------------------------------------------------------------------------------------- public functions
@reduction("torch.softmax Tensor.softmax special.softmax", out_rule=EXACT)
def _softmax(input: Tensor, dim: int, dtype: DType | None = None) -> Tensor:
    """exp(x) over its sum along a dim: positive, and adding up to one. ``dtype``: what the input becomes first.

    >>> import wengert as torch
    >>> torch.softmax(torch.tensor([1., 1., 1., 1.]), 0)
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """
    return _along(softmax, "softmax", input, dim, dtype)


@reduction("torch.log_softmax Tensor.log_softmax special.log_softmax", out_rule=EXACT)
def _log_softmax(input: Tensor, dim: int, dtype: DType | None = None) -> Tensor:
    """Logarithm of softmax along a dim, accurate where softmax is near 0 or 1.

    >>> import wengert as torch
    >>> torch.log_softmax(torch.tensor([1000., 0.]), 0)
    tensor([    0., -1000.])
    """
    return _along(log_softmax, "log_softmax", input, dim, dtype)


def _along(op: Any, name: str, input: Tensor, dim: Any, dtype: DType | None) -> Tensor:
    if dtype is None and type(dim) is int and type(input) is Tensor:
        a = input._a
        n = a.ndim
        if -n <= dim < n and a.dtype in FLOATING:
            return op(input, dim if dim >= 0 else dim + n)  # type: ignore[no-any-return]
    dim = normal_dim(dim, rank(input, name), name)
    if dtype is not None:
        input = in_dtype(input, dtype, name)
    elif input._a.dtype.kind not in "fV":
        raise unimplemented(f"{name}_lastdim_kernel_impl" if dim >= input.ndim - 1 else f"{name}_kernel_impl", input)
    return along_one(op, input, dim)


def _implicit_dim(name: str, ndim: int) -> int:
    warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
    )
    return 0 if ndim in (0, 1, 3) else 1


@public("nn.functional.softmax")
def functional_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None
) -> Tensor:
    """exp(x) over its sum along a dim. Without ``dim`` (as old programs call it) dim 1, or 0 for 0, 1 or 3 dimensions.

    >>> import wengert as torch
    >>> torch.nn.functional.softmax(torch.zeros(2, 2), dim=1)
    tensor([[0.5000, 0.5000],
            [0.5000, 0.5000]])
    """
    if dim is None:
        dim = _implicit_dim("softmax", rank(input, "softmax"))
    return _along(softmax, "softmax", input, dim, dtype)


@public("nn.functional.log_softmax")
def functional_log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None
) -> Tensor:
    """Logarithm of softmax along a dim; see ``nn.functional.softmax`` for a missing ``dim``.

    >>> import wengert as torch
    >>> torch.nn.functional.log_softmax(torch.zeros(2), dim=0)
    tensor([-0.6931, -0.6931])
    """
    if dim is None:
        dim = _implicit_dim("log_softmax", rank(input, "log_softmax"))
    return _along(log_softmax, "log_softmax", input, dim, dtype)


@public("nn.functional.softmin")
def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None) -> Tensor:
    """Softmax of the negated input; see ``nn.functional.softmax`` for a missing ``dim``.

    >>> import wengert as torch
    >>> torch.nn.functional.softmin(torch.tensor([0., 1000.]), dim=0)
    tensor([1., 0.])
    """
    if dim is None:
        dim = _implicit_dim("softmin", rank(input, "softmin"))
    return _along(softmax, "softmax", -input, dim, dtype)


# ------------------------------------------------------------------------------------------------------------ logsumexp
def _logsumexp_grad(xp: Any, g: Any, self: Any, result: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    g = restored(xp, g, self.shape, dim, keepdim)
    result = restored(xp, result, self.shape, dim, keepdim)
    if xp is RAW and self.size >= LARGE:
        return elementwise(lambda x, g, r: np.exp(x - r) * g, self, g, result)
    return g * xp.exp(self - result)


@general(
    grad=_logsumexp_grad,
    batch=("dim", ("dim",)),
    samples=[((3, 4), ((1,), False)), ((2, 3, 4), ((0, 2), True)), ((), ((), False))],
)
def logsumexp(lib, self, dim, keepdim):
    """Logarithm of the sum of exponentials over some dims."""
    if self.ndim and dim == (self.ndim - 1,):
        r = _rows_logsumexp(self, dim[0])
        if r is not None:
            return r[..., None] if keepdim else r
    if self.dtype.itemsize == 2:
        return logsumexp_over(lib, self.astype(np.float32), dim, keepdim).astype(self.dtype)
    return logsumexp_over(lib, self, dim, keepdim)


def _rows_logsumexp(x: Any, dim: int) -> Any:
    """See ``logsumexp``: of few or many rows, ``None`` for others."""
    if _has_rows(dim, x):
        return softmax_large.log_sum_exp(x)
    if x.size and x.dtype.itemsize == 4 and _is_small(x, dim):
        w = x.astype(np.float64)
        flat = w.ravel()
        if flat.dot(flat) <= _SAFE_SQUARES_64:
            return np.log(_exp(w).dot(vector_of_ones(x.shape[dim], w.dtype))).astype(np.float32)
    return None


def logsumexp_over(lib: Any, x: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    """See ``logsumexp``."""
    if not x.size:
        return lib.log(lib.add.reduce(lib.exp(x), dim, None, None, keepdim))
    top = lib.maximum.reduce(x.real, dim, None, None, True)
    top = lib.where(lib.isfinite(top), top, top.dtype.type(0))
    r = lib.log(lib.add.reduce(lib.exp(x - top), dim, None, None, keepdim))
    return r + (top if keepdim else top.reshape(r.shape))


@reduction(
    "torch.logsumexp Tensor.logsumexp special.logsumexp",
    out_rule=of_kind("fcV", "logsumexp(): Expected floating point type for result tensor, but got: {Out}"),
)
def _logsumexp(input: Tensor, dim: Dims, keepdim: bool = False) -> Tensor:
    """Logarithm of the sum of exponentials along one or several dims, without overflow.

    >>> import wengert as torch
    >>> torch.logsumexp(torch.tensor([1000., 1000.]), 0)
    tensor(1000.6932)
    """
    ndim = rank(input, "logsumexp")
    if dim is None:
        raise TypeError("logsumexp(): argument 'dim' (position 2) must be tuple of ints, not NoneType")
    return logsumexp(to_default(input), wanted_dims(dim, ndim, "logsumexp"), keepdim)
