"""The softmax family: ``softmax``, ``log_softmax``, ``softmin``, ``logsumexp``.

Each saves its result only. Its derivative is an operator of its own, as in PyTorch (``_softmax_backward_data``,
``_log_softmax_backward_data``), with its own derivative. The bodies for NumPy work in place on one new array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._backends.large import row_products, row_sums
from .._backends.numpy import in_lib, table_of_ones
from .._blocks import LARGE, among_rows, rows
from .._dims import normal_dim, rank
from .._dtypes import FLOATING
from .._errors import warn
from .._general import general
from .._out import EXACT, of_kind
from .._registry import public
from .._tensor import Tensor
from .extrema import along_one
from .reduce import Dims, in_dtype, reduction, restored, to_default, unimplemented, wanted_dims

if TYPE_CHECKING:
    from .._dtypes import dtype as DType

# NOTE [ When softmax need not look for each row's maximum ]
#     exp(x) / sum(exp(x)) is as accurate as the form with x - max(x) as long as no exponential leaves the normal
#     numbers and no sum overflows. The extremes of the whole array tell that, in a third of the time that the rows'
#     maxima take.
#     log_softmax may not do so: it would lose the digits of log-probabilities near zero.
_SAFE_EXPONENT = {"float32": 60.0, "float64": 500.0}
_LARGE = 4096  # elements from which these considerations pay
_max: Any = np.maximum.reduce
_min: Any = np.minimum.reduce
_add: Any = np.add.reduce
_exp: Any = np.exp


def _rows_summed(r: Any, dim: int) -> Any:
    """The sum along a dim, kept."""
    if dim == r.ndim - 1 and r.size >= _LARGE and r.dtype.kind == "f":
        return row_sums(r)[..., None]
    return _add(r, dim, None, None, True)


def _rows_maximum(x: Any, dim: int) -> Any:
    """The maximum along a dim, kept. For many short rows, column by column: NumPy starts anew for each row."""
    n = x.shape[dim]
    if dim == x.ndim - 1 and n <= 64 and x.size >= _LARGE:
        columns = x.reshape(-1, n)
        r = columns[:, 0].copy()
        for k in range(1, n):
            np.maximum(r, columns[:, k], out=r)
        return r.reshape(*x.shape[:-1], 1)
    return _max(x, dim, None, None, True)


# NOTE [ Small rows ]
#     Products with ones take the place of reductions (``table_of_ones``). And where the squares of all elements add up
#     to little, no exponential is extreme (see above), which one product tells too.
_SMALL_ROW, _SMALL, _SAFE_SQUARES = 64, 65536, 3600.0
_BY_BLAS = frozenset((np.dtype(np.float32), np.dtype(np.float64)))


def _few_summed(r: Any, dim: int) -> Any:
    """The sum along a dim of a few elements, kept."""
    if dim == r.ndim - 1 and r.dtype in _BY_BLAS:
        return r.dot(table_of_ones(r.shape[dim], 1, r.dtype))
    return _add(r, dim, None, None, True)


def _is_small(x: Any, dim: int) -> bool:
    n = x.shape[dim]
    return n <= _SMALL_ROW and x.size * n <= _SMALL and dim == x.ndim - 1 and x.dtype in _BY_BLAS


def _is_narrow(x: Any) -> bool:
    return bool(x.dtype.itemsize == 2)


def _filled(fill: Any, dim: int, *arrays: Any) -> Any:
    """A new array that ``fill(array, *arrays, dim)`` fills; large ones in blocks of rows, if the rows are whole."""
    first = arrays[0]
    n = first.shape[-1]
    if first.size < LARGE or dim != first.ndim - 1 or not all(a.flags.c_contiguous for a in arrays):
        r = np.empty_like(first)
        among_rows(n, lambda: fill(r, *arrays, dim))
        return r
    r = np.empty(first.shape, first.dtype)
    flat = [a.reshape(-1, n) for a in (r, *arrays)]
    rows(lambda part: fill(*[a[part] for a in flat], 1), first.size // n, n)
    return r


def _fill_softmax(r: Any, x: Any, dim: int) -> None:
    safe = _SAFE_EXPONENT.get(x.dtype.name, 0.0) if x.size >= _LARGE else 0.0
    if safe and _max(x, None) <= safe and _min(x, None) >= -safe:
        _exp(x, r)
    else:
        np.subtract(x, _rows_maximum(x, dim), r)
        _exp(r, r)
    r /= _rows_summed(r, dim)


def _fill_log_softmax(r: Any, x: Any, dim: int) -> None:
    np.subtract(x, _rows_maximum(x, dim), r)
    s = _rows_summed(_exp(r), dim)
    r -= np.log(s, s)


def _fill_softmax_backward(r: Any, g: Any, y: Any, dim: int) -> None:
    if dim == y.ndim - 1 and y.size >= _LARGE:
        s = row_products(g, y)[..., None]
    else:
        s = _add(g * y, dim, None, None, True)
    np.subtract(g, s, r)
    r *= y


def _fill_log_softmax_backward(r: Any, g: Any, y: Any, dim: int) -> None:
    _exp(y, r)
    r *= _rows_summed(g, dim)
    np.subtract(g, r, r)


@in_lib
def softmax_rows(x: Any, dim: int) -> Any:
    """exp(x) over its sum along a dim; half precision in float32."""
    if 0 < x.size < _LARGE and x.dtype.itemsize > 2:
        if _is_small(x, dim):
            flat = x.reshape(-1)
            r = _exp(x) if flat.dot(flat) <= _SAFE_SQUARES else _exp(x - _max(x, dim, None, None, True))
            r /= r.dot(table_of_ones(x.shape[dim], x.shape[dim], x.dtype))
            return r
        r = x - _max(x, dim, None, None, True)
        _exp(r, r)
        r /= _few_summed(r, dim)
        return r
    if _is_narrow(x):
        return softmax_rows(x.astype(np.float32), dim).astype(x.dtype)
    return _filled(_fill_softmax, dim, x) if x.size else x.copy()


@in_lib
def log_softmax_rows(x: Any, dim: int) -> Any:
    """x minus the logarithm of the sum of exp(x) along a dim; half precision in float32."""
    if 0 < x.size < _LARGE and x.dtype.itemsize > 2:
        n = x.shape[dim]
        if n <= _SMALL_ROW >> 1 and _is_small(x, dim):
            r = x - _max(x, dim, None, None, True).dot(table_of_ones(1, n, x.dtype))
            s = _exp(r).dot(table_of_ones(n, n, x.dtype))
            r -= np.log(s, s)
            return r
        r = x - _max(x, dim, None, None, True)
        s = _few_summed(_exp(r), dim)
        r -= np.log(s, s)
        return r
    if _is_narrow(x):
        return log_softmax_rows(x.astype(np.float32), dim).astype(x.dtype)
    return _filled(_fill_log_softmax, dim, x) if x.size else x.copy()


@in_lib
def softmax_backward_rows(g: Any, y: Any, dim: int) -> Any:
    """y * (g - sum(g * y)) along a dim."""
    if _is_narrow(y):
        return softmax_backward_rows(g.astype(np.float32), y.astype(np.float32), dim).astype(y.dtype)
    if y.size < _LARGE:
        if _is_small(y, dim):
            r = g - (g * y).dot(table_of_ones(y.shape[dim], y.shape[dim], y.dtype))
        else:
            r = g - _add(g * y, dim, None, None, True)
        r *= y
        return r
    return _filled(_fill_softmax_backward, dim, *_as_rows(g, y))


@in_lib
def log_softmax_backward_rows(g: Any, y: Any, dim: int) -> Any:
    """g - exp(y) * sum(g) along a dim."""
    if _is_narrow(y):
        return log_softmax_backward_rows(g.astype(np.float32), y.astype(np.float32), dim).astype(y.dtype)
    if y.size < _LARGE:
        r = np.exp(y)
        if _is_small(y, dim):
            r *= g.dot(table_of_ones(y.shape[dim], y.shape[dim], y.dtype))
        else:
            r *= _add(g, dim, None, None, True)
        return np.subtract(g, r, r)
    return _filled(_fill_log_softmax_backward, dim, *_as_rows(g, y))


def _as_rows(g: Any, y: Any) -> tuple[Any, Any]:
    """A large cotangent in one dtype and, where its rows are repeated, as an array of its own."""
    return np.ascontiguousarray(g, y.dtype) if y.size >= LARGE else g, y


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
@general(
    grad=lambda xp, g, self, result, dim, keepdim: (
        restored(xp, g, self.shape, dim, keepdim) * xp.exp(self - restored(xp, result, self.shape, dim, keepdim))
    ),
    batch=("dim", ("dim",)),
    samples=[((3, 4), ((1,), False)), ((2, 3, 4), ((0, 2), True)), ((), ((), False))],
)
def logsumexp(lib, self, dim, keepdim):
    """Logarithm of the sum of exponentials over some dims."""
    if self.dtype.itemsize == 2:
        return logsumexp_over(lib, self.astype(np.float32), dim, keepdim).astype(self.dtype)
    return logsumexp_over(lib, self, dim, keepdim)


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
