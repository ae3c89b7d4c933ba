"""Spread, order statistics and counts: ``var``, ``std``, ``median``, ``mode``, ``quantile``, ``histc``, ``cov``, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._arrays.library import in_lib, vector_of_ones
from ..._arrays.norms_small import row_tables
from ..._base.errors import warn
from ..._base.registry import T, public
from ..._kinds.dims import nonempty_dims, normal_dim, rank
from ..._kinds.general import general
from ..._kinds.out import exactly
from ..._kinds.return_types import return_type
from ..._kinds.slow_path import cast, type_text
from ..._tape.tensor import CPU, Tensor, device_of, wrap
from .extrema import along, put_chosen, shared_by_all
from .sort import comparable
from .sums import average, count_of, dtype_text, is_kind, reduction, restored, unimplemented, wanted_dims

_QUANTILE = exactly("quantile() out tensor must be same dtype as the input tensor")

MedianResult = return_type("median", "values", "indices")
NanmedianResult = return_type("nanmedian", "values", "indices")
ModeResult = return_type("mode", "values", "indices")

FEW = 4096  # so many float32 are widened, as PyTorch does with any number of them: their squares may overflow

if TYPE_CHECKING:
    Order = int | float


# --------------------------------------------------------------------------------------------------------------- spread
def _variance(lib: Any, x: Any, dim: tuple[int, ...], correction: float, keepdim: bool) -> tuple[Any, Any]:
    """Variance and mean over dims: two passes, each added up pairwise. Half precision, and little, in more digits.

    The results are in the wider dtype: see ``_narrowed``.
    """
    if x.dtype.itemsize == 2 or (x.dtype.itemsize == 4 and x.size <= FEW):
        return _variance(lib, x.astype(np.float64 if x.size <= FEW else np.float32), dim, correction, keepdim)
    n = count_of(x.shape, dim)
    mean = average(lib, x, dim, n, True)
    if x.dtype.kind == "f":
        v = lib.sum_of_deviations(x, mean, dim, keepdim)
    else:
        d = x - mean
        v = lib.add.reduce(d.real * d.real + d.imag * d.imag, dim, None, None, keepdim)
    if n > correction:
        v = v / (n - correction)
    else:  # over zero, without NumPy's warning
        v = lib.where(v > 0, v.dtype.type(np.inf), v.dtype.type(np.nan))
    return v, mean if keepdim else mean.reshape(v.shape)


_BY_BLAS = frozenset((np.dtype(np.float32), np.dtype(np.float64)))
_FLOAT64 = np.dtype(np.float64)
_SMALL_ROW = 64


def _only_variance(lib: Any, x: Any, dim: tuple[int, ...], correction: float, keepdim: bool) -> Any:
    """``_variance`` without the mean; of a few rows by products with tables (see ``_small_norms``)."""
    if len(dim) == x.ndim and correction < x.size <= FEW and x.dtype in _BY_BLAS:
        v = _variance_of_few(x, correction)
        return v.reshape((1,) * x.ndim) if keepdim else v
    if x.ndim == 2 and dim == (0,) and correction < len(x) and 0 < x.size <= FEW and x.dtype in _BY_BLAS:
        v = _variance_of_columns(x, correction)
        return v[None] if keepdim else v
    n = x.shape[-1] if x.ndim else 0
    if correction < n <= _SMALL_ROW and 0 < x.size <= FEW and dim == (x.ndim - 1,) and x.dtype in _BY_BLAS:
        d = x.astype(np.float64, copy=False).dot(row_tables(n, _FLOAT64)[1])
        d *= d
        v = d.dot(vector_of_ones(n, _FLOAT64))
        v /= n * n * (n - correction)
        if v.item(v.argmax()) < np.inf:  # else inf - inf, which a table does not tell, or too large squares
            return v[..., None] if keepdim else v
    return _variance(lib, x, dim, correction, keepdim)[0]


def _variance_of_few(x: Any, correction: float) -> Any:
    """The variance of all elements."""
    n = x.size
    d = x.astype(np.float64).ravel()
    d -= vector_of_ones(n, _FLOAT64).dot(d) / n
    return d.dot(d) / (n - correction)


def _variance_of_columns(x: Any, correction: float) -> Any:
    """The variance of each column of a small matrix."""
    n = len(x)
    ones = vector_of_ones(n, _FLOAT64)
    mean = ones.dot(x)
    mean /= n
    d = x - mean
    d *= d
    v = ones.dot(d)
    v /= n - correction
    return v


def _narrowed(r: Any, dtype: Any) -> Any:
    if type(r) is np.float64:  # a number: NumPy converts an array sooner
        return r if dtype is _FLOAT64 else dtype.type(r)
    return r if r.dtype is dtype else r.astype(dtype)


def _variance_grad(xp: Any, g: Any, self: Any, dim: tuple[int, ...], correction: float, keepdim: bool) -> Any:
    freedom = count_of(self.shape, dim) - correction
    scale = 2.0 / freedom if freedom > 0 else float("inf")
    return restored(xp, g, self.shape, dim, keepdim) * scale * (self - xp.mean_dim(self, dim, True))


def _mean_grad(xp: Any, g: Any, x: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    return xp.expand(restored(xp, g, x.shape, dim, keepdim) / (count_of(x.shape, dim) or 1), tuple(x.shape))


def _through_root(xp: Any, g: Any, std: Any) -> Any:
    """The cotangent of the variance from the one of its root; 0 where the root is 0, as in PyTorch."""
    zero = std == 0
    return xp.where(zero, 0.0, g) / (xp.where(zero, 1.0, std) * 2.0)


_SAMPLES = [
    ((3, 4), ((1,), 1, False)),
    ((2, 3, 4), ((0, 2), 0, True)),
    ((5,), ((0,), 1.5, False)),
]


@general(
    grad=_variance_grad,
    holomorphic=False,
    batch=("dim", ("dim",)),
    samples=_SAMPLES,
)
def var(lib, self, dim, correction, keepdim):
    """Variance over some dims."""
    return _narrowed(_only_variance(lib, self, dim, correction, keepdim), self.real.dtype)


@general(
    grad=lambda xp, g, self, result, dim, correction, keepdim: _variance_grad(
        xp, _through_root(xp, g, result), self, dim, correction, keepdim
    ),
    holomorphic=False,
    batch=("dim", ("dim",)),
    samples=_SAMPLES,
)
def std(lib, self, dim, correction, keepdim):
    """Standard deviation over some dims."""
    return _narrowed(lib.sqrt(_only_variance(lib, self, dim, correction, keepdim)), self.real.dtype)


@general(
    grad=lambda xp, g, self, dim, correction, keepdim: (
        _variance_grad(xp, g[0], self, dim, correction, keepdim) + _mean_grad(xp, g[1], self, dim, keepdim)
    ),
    outputs=2,
    holomorphic=False,
    batch=("dim", ("dim",)),
    samples=_SAMPLES,
)
def var_mean(lib, self, dim, correction, keepdim):
    """Variance and mean over some dims."""
    v, m = _variance(lib, self, dim, correction, keepdim)
    return _narrowed(v, self.real.dtype), _narrowed(m, self.dtype)


@general(
    grad=lambda xp, g, self, result0, dim, correction, keepdim: (
        _variance_grad(xp, _through_root(xp, g[0], result0), self, dim, correction, keepdim)
        + _mean_grad(xp, g[1], self, dim, keepdim)
    ),
    outputs=2,
    holomorphic=False,
    batch=("dim", ("dim",)),
    samples=_SAMPLES,
)
def std_mean(lib, self, dim, correction, keepdim):
    """Standard deviation and mean over some dims."""
    v, m = _variance(lib, self, dim, correction, keepdim)
    return _narrowed(lib.sqrt(v), self.real.dtype), _narrowed(m, self.dtype)


def _spread(op: Any, name: str, input: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Read ``(dim, unbiased, keepdim)``, ``(unbiased)`` or ``(dim, *, correction, keepdim)``, check, and run."""
    ndim = rank(input, name)
    if not args and not kwargs and input._a.size > 1 and is_kind(input, "fc"):
        return op(input, tuple(range(ndim)), 1, False)
    if len(args) == 1 and type(args[0]) is int and not kwargs and -ndim <= args[0] < ndim and is_kind(input, "fc"):
        dim = args[0] if args[0] >= 0 else args[0] + ndim
        if input._a.shape[dim] > 1:
            return op(input, (dim,), 1, False)
    names = ("unbiased",) if args and isinstance(args[0], bool) else ("dim", "unbiased", "keepdim")
    given = dict(zip(names, args, strict=False)) | kwargs
    known = {"dim", "unbiased", "keepdim", "correction"}
    clash = "unbiased" in given and "correction" in given
    if len(args) > len(names) or not set(given) <= known or clash or not isinstance(given.get("unbiased", True), bool):
        got = ", ".join([type_text(a) for a in (input, *args)] + [f"{k}={type_text(v)}" for k, v in kwargs.items()])
        raise TypeError(
            f"{name}() received an invalid combination of arguments - got ({got}), but expected one of:\n"
            " * (Tensor input, tuple of ints dim, bool unbiased = True, bool keepdim = False)\n"
            " * (Tensor input, tuple of ints dim = None, *, Number correction = None, bool keepdim = False)\n"
            " * (Tensor input, bool unbiased = True)\n"
        )
    correction = given.get("correction")
    if correction is None:
        correction = 1 if given.get("unbiased", True) else 0
    dims = wanted_dims(given.get("dim"), ndim, name)
    if not is_kind(input, "fcV"):
        raise RuntimeError("std and var only support floating point and complex dtypes")
    shape = tuple(input.shape)
    kept = count_of(shape, tuple(d for d in range(ndim) if d not in dims))
    if kept and count_of(shape, dims) - correction <= 0:
        warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
            "(input numel divided by output numel)."
        )
    return op(input, dims, correction, given.get("keepdim", False))


@reduction("torch.var Tensor.var")
def _var(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Variance: ``var(input, dim=None, *, correction=1, keepdim=False)``; ``unbiased=`` is ``correction`` 1 or 0.

    >>> import wengert as torch
    >>> x = torch.tensor([1., 2., 3., 4.])
    >>> x.var(), x.var(unbiased=False), x.var(0, correction=0)
    (tensor(1.6667), tensor(1.2500), tensor(1.2500))
    """
    return _spread(var, "var", input, args, kwargs)  # type: ignore[no-any-return]


@reduction("torch.std Tensor.std")
def _std(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Standard deviation: ``std(input, dim=None, *, correction=1, keepdim=False)``; older: ``unbiased=``.

    >>> import wengert as torch
    >>> torch.std(torch.tensor([1., 2., 3., 4.]))
    tensor(1.2910)
    """
    return _spread(std, "std", input, args, kwargs)  # type: ignore[no-any-return]


@reduction("torch.var_mean")
def _var_mean(input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Variance and mean; arguments as of ``var``.

    >>> import wengert as torch
    >>> torch.var_mean(torch.tensor([1., 2., 3., 4.]))
    (tensor(1.6667), tensor(2.5000))
    """
    return _spread(var_mean, "var_mean", input, args, kwargs)


@reduction("torch.std_mean")
def _std_mean(input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Standard deviation and mean; arguments as of ``std``.

    >>> import wengert as torch
    >>> torch.std_mean(torch.tensor([1., 3.]), correction=0)
    (tensor(1.), tensor(2.))
    """
    return _spread(std_mean, "std_mean", input, args, kwargs)


# --------------------------------------------------------------------------------------------------------------- median
@in_lib
def median_positions(rows: Any, ignore_nan: bool) -> Any:
    """Where the lower median of each row is: of what is not nan, or else at the first nan if there is one."""
    rows = comparable(rows)
    n = rows.shape[-1]
    missing = np.isnan(rows) if rows.dtype.kind == "f" else None
    if missing is None or not missing.any():
        return rows.argpartition((n - 1) // 2, -1)[..., (n - 1) // 2]
    if ignore_nan:
        order = rows.argsort(-1, kind="stable")
        k = np.maximum(n - missing.sum(-1) - 1, 0) // 2
        return np.take_along_axis(order, k[..., None], -1)[..., 0]
    middle = rows.argpartition((n - 1) // 2, -1)[..., (n - 1) // 2]
    return np.where(missing.any(-1), missing.argmax(-1), middle)


def _median_all(lib: Any, x: Any, ignore_nan: bool) -> Any:
    rows = x.reshape(-1)
    return rows[lib.median_positions(rows, ignore_nan)] if rows.size else x.dtype.type(float("nan"))


def _median_dim(lib: Any, x: Any, dim: int, keepdim: bool, ignore_nan: bool) -> tuple[Any, Any]:
    rows = lib.moveaxis(x, dim, -1)
    where = lib.median_positions(rows, ignore_nan)[..., None]
    values = lib.take_along_axis(rows, where, -1)
    if keepdim:
        return lib.moveaxis(values, -1, dim), lib.moveaxis(where, -1, dim)
    return values[..., 0], where[..., 0]


def _all_declaration(node: str, by_dim: str) -> dict[str, Any]:
    return {
        "grad": shared_by_all,
        "node": node,
        "batch": lambda U, info, inner, mine, p: getattr(U, by_dim)(
            U.reshape(inner[0], (inner[0].shape[0], count_of(inner[0].shape, tuple(range(1, inner[0].ndim))))), 1, False
        )[0],
        "dtypes": "fi",
        "samples": [((2, 3), ()), ((), ())],
    }


def _dim_declaration(node: str, name: str) -> dict[str, Any]:
    return {
        "grad": lambda xp, g, indices, dim, keepdim, self_shape: put_chosen(xp, g, indices, self_shape, dim, keepdim),
        "outputs": 2,
        "results": ("values", "indices"),
        "differentiable": (True, False),
        "node": node,
        "batch": ("dim", ("dim",)),
        "dtypes": "fi",
        "samples": [((3, 5), (1, False)), ((3, 5), (0, True))],
        "called": name,
    }


@general(**_all_declaration("MedianBackward0", "median_dim"))
def median_all(lib, self):
    """The lower median of all elements."""
    return _median_all(lib, self, False)


@general(**_all_declaration("NanmedianBackward0", "nanmedian_dim"))
def nanmedian_all(lib, self):
    """The lower median of all elements that are not nan."""
    return _median_all(lib, self, True)


@general(**_dim_declaration("MedianBackward1", "median"))
def median_dim(lib, self, dim, keepdim):
    """The lower median along a dim, and where it is."""
    return _median_dim(lib, self, dim, keepdim, False)


@general(**_dim_declaration("NanmedianBackward1", "nanmedian"))
def nanmedian_dim(lib, self, dim, keepdim):
    """The lower median along a dim of the elements that are not nan, and where it is."""
    return _median_dim(lib, self, dim, keepdim, True)


def _median(input: Tensor, dim: Any, keepdim: bool, of_all: Any, of_dim: Any, result: Any) -> Any:
    ndim = rank(input, "median")
    if is_kind(input, "cb"):
        raise unimplemented("median_cpu" if dim is None else "median_out", input)
    if dim is None:
        return of_all(input)
    dim = normal_dim(dim, ndim, "median")
    if ndim:
        nonempty_dims(input._a.shape, (dim,), "median")
    return result(along(of_dim, input, dim, keepdim))


@reduction("torch.median Tensor.median")
def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The median of all elements, or along a dim with its index; of an even number the lower one. nan if there is one.

    >>> import wengert as torch
    >>> torch.median(torch.tensor([4., 1., 3., 2.]))
    tensor(2.)
    """
    return _median(input, dim, keepdim, median_all, median_dim, MedianResult)


@reduction("torch.nanmedian Tensor.nanmedian")
def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The median of the elements that are not nan, as ``median``.

    >>> import wengert as torch
    >>> torch.nanmedian(torch.tensor([4., float("nan"), 3.]))
    tensor(3.)
    """
    return _median(input, dim, keepdim, nanmedian_all, nanmedian_dim, NanmedianResult)


# ----------------------------------------------------------------------------------------------------------------- mode
@general(**_dim_declaration("ModeBackward0", "mode"))
def mode(lib, self, dim, keepdim):
    """The most frequent element along a dim, the smallest of several, and where it is last."""
    return lib.most_frequent(self, dim, keepdim)


@in_lib
def most_frequent(x: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """See ``mode``: the first of the longest runs of equal elements in order."""
    rows = np.moveaxis(x, dim, -1)
    order = comparable(rows).argsort(-1, kind="stable")
    v = np.take_along_axis(rows, order, -1)
    steps = np.arange(v.shape[-1])
    starts = np.zeros(v.shape, np.int64)
    starts[..., 1:] = np.where(v[..., 1:] != v[..., :-1], steps[1:], 0)
    where = (steps - np.maximum.accumulate(starts, -1)).argmax(-1)[..., None]
    values, indices = np.take_along_axis(v, where, -1), np.take_along_axis(order, where, -1)
    if keepdim:
        return np.moveaxis(values, -1, dim), np.moveaxis(indices, -1, dim)
    return values[..., 0], indices[..., 0]


@reduction(
    "torch.mode Tensor.mode",
    out_rule=(
        exactly("expected scalar type '{Result}' but got '{Out}' for values output"),
        exactly("expected scalar type '{Result}' but got '{Out}' for indices output"),
    ),
)
def _mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent element along a dim (the smallest of several), and where it is last.

    >>> import wengert as torch
    >>> torch.mode(torch.tensor([3, 1, 3, 1])).values
    tensor(1)
    """
    ndim = rank(input, "mode")
    dim = normal_dim(dim, ndim, "mode")
    if is_kind(input, "c"):
        raise unimplemented("mode_cpu", input)
    if ndim:
        nonempty_dims(input._a.shape, (dim,), "mode")
    return ModeResult(along(mode, input, dim, keepdim))


# ------------------------------------------------------------------------------------------------------------ quantiles
INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


@reduction("torch.quantile Tensor.quantile", out_rule=_QUANTILE)
def quantile(
    input: Tensor,
    q: float | Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """The q-th quantiles of all elements or along a dim; a 1-dimensional ``q`` gives a first dim. nan if there is one.

    ``interpolation`` between two elements: linear, lower, higher, midpoint or nearest. Differentiable in ``q`` too.

    >>> import wengert as torch
    >>> torch.quantile(torch.tensor([0., 1., 2., 3.]), torch.tensor([0.5, 0.75]))
    tensor([1.5000, 2.2500])
    """
    return _quantile("quantile", input, q, dim, keepdim, interpolation, False)


@reduction("torch.nanquantile Tensor.nanquantile", out_rule=_QUANTILE)
def nanquantile(
    input: Tensor,
    q: float | Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """The q-th quantiles of the elements that are not nan; see ``quantile``.

    >>> import wengert as torch
    >>> torch.nanquantile(torch.tensor([0., float("nan"), 2.]), 0.5)
    tensor(1.)
    """
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation, True)


def _quantile(name: str, x: Tensor, q: Any, dim: Any, keepdim: bool, interpolation: str, ignore_nan: bool) -> Tensor:
    ndim = rank(x, name)
    q = _check_quantile(name, x, q, interpolation)
    shape = tuple(x.shape)
    if dim is None:
        rows = T.reshape(x, (count_of(shape, tuple(range(ndim))),))
        kept_shape: tuple[int, ...] = (1,) * ndim if keepdim else ()
    else:
        dim = normal_dim(dim, ndim, name)
        order = (*(d for d in range(ndim) if d != dim), dim) if ndim else ()
        rows = T.permute(x, order) if ndim else T.reshape(x, (1,))
        kept_shape = tuple(1 if d == dim else n for d, n in enumerate(shape) if d != dim or keepdim)
    values, _ = T.sort(rows, rows.ndim - 1, False)
    result = _interpolated(values, T.reshape(q, (q._a.size,)), interpolation, ignore_nan)
    last = result.ndim - 1
    result = T.permute(result, (last, *range(last)))
    return T.reshape(result, (*q.shape, *kept_shape))  # type: ignore[no-any-return]


def _interpolated(values: Tensor, q: Tensor, interpolation: str, ignore_nan: bool) -> Tensor:
    """Quantiles of sorted rows, whose nan stand last: (..., n), (Q,) -> (..., Q)."""
    n = values.shape[-1]
    last = values.ndim - 1
    valid = T._not_nan_count(values, (last,), True)
    if ignore_nan:
        positions = q * (valid - 1.0).clamp(min=0.0)
    else:
        positions = T.where(valid < n, float(n - 1), q * (n - 1))
    if interpolation == "lower":
        positions = positions.floor()
    elif interpolation == "higher":
        positions = positions.ceil()
    elif interpolation == "nearest":
        positions = positions.round()
    floor = positions.detach().floor()
    below = T._take_along(values, cast(floor, np.dtype(np.int64)), last, False)
    if interpolation not in ("linear", "midpoint"):
        return below  # type: ignore[no-any-return]
    above = T._take_along(values, cast(positions.detach().ceil(), np.dtype(np.int64)), last, False)
    return below.lerp(above, 0.5 if interpolation == "midpoint" else positions - floor)  # type: ignore[no-any-return]


def _check_quantile(name: str, x: Tensor, q: Any, interpolation: str) -> Tensor:
    if not isinstance(q, Tensor):
        if isinstance(q, bool) or not isinstance(q, (int, float)):
            raise TypeError(f"{name}(): argument 'q' (position 2) must be Tensor, not {type_text(q)}")
        if not 0 <= q <= 1:
            raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q}")
        q = wrap(np.asarray(q, dtype=np.float64))
        q = cast(q, np.dtype(x.dtype.np)) if is_kind(x, "f") else q
    text = "quantile() "
    if 0 in tuple(x.shape):
        raise RuntimeError(text + "input tensor must be non-empty")
    if q.ndim > 1:
        raise RuntimeError(text + "q must be a scalar or 1D tensor")
    if str(x.dtype) not in ("torch.float32", "torch.float64"):
        raise RuntimeError(text + "input tensor must be either float or double dtype")
    if q.dtype is not x.dtype:
        raise RuntimeError(text + "q tensor must be same dtype as the input tensor")
    if interpolation not in INTERPOLATIONS:
        raise RuntimeError(
            f"{text}interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
        )
    a = q._a
    if isinstance(a, (np.ndarray, np.generic)) and not ((a >= 0) & (a <= 1)).all():
        raise RuntimeError(text + "q values must be in the range [0, 1]")
    return q if device_of(x._a) is CPU else q.to(x.device)


# ---------------------------------------------------------------------------------------------------------- correlation
@public("torch.cov Tensor.cov")
def cov(
    input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
) -> Tensor:
    """Covariance matrix; rows are variables, columns observations.

    ``fweights``: how often each observation counts; ``aweights``: how much.

    >>> import wengert as torch
    >>> torch.cov(torch.tensor([[0., 1., 2.], [2., 1., 0.]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    ndim = rank(input, "cov")
    if ndim > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {ndim} dimensions"
        )
    if is_kind(input, "b"):
        raise RuntimeError("cov(): bool dtype is not supported for input")
    if ndim < 2:
        input = T.reshape(input, (1, input._a.size))
    n = input.shape[1]
    w = _weights("fweights", fweights, n, "iu", "integral")
    a = _weights("aweights", aweights, n, "fV", "floating point")
    weights = a if w is None else w if a is None else w * a
    total: Any = n if weights is None else weights.sum()
    weighted = input if weights is None else input * weights
    mean = weighted.sum(1) / total
    freedom: Any = total - correction
    if a is not None and correction != 0:
        freedom = total - correction * (weights * a).sum() / total
    if float(freedom) <= 0:
        warn("cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.")
        freedom = 0.0
    centred = input - mean.reshape(-1, 1)
    scaled = centred if weights is None else centred * weights
    return (centred.matmul(scaled.t().conj()) / freedom).squeeze()  # type: ignore[no-any-return]


def _weights(name: str, w: Tensor | None, n: int, kinds: str, what: str) -> Tensor | None:
    if w is None:
        return None
    if w.ndim > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with {w.ndim} dimensions"
        )
    if not is_kind(w, kinds):
        raise RuntimeError(f"cov(): expected {name} to have {what} dtype but got {name} with {dtype_text(w)} dtype")
    if w._a.size != n:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got "
            f"{w._a.size} != {n}"
        )
    a = w._a
    if isinstance(a, (np.ndarray, np.generic)) and a.size and a.min() < 0:
        raise RuntimeError(f"cov(): {name} cannot be negative")
    return w


@public("torch.corrcoef Tensor.corrcoef")
def corrcoef(input: Tensor) -> Tensor:
    """Matrix of correlation coefficients; rows are variables, columns observations.

    >>> import wengert as torch
    >>> torch.corrcoef(torch.tensor([[0., 1., 2.], [4., 2., 0.]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    ndim = rank(input, "corrcoef")
    if ndim > 2:
        raise RuntimeError(
            f"corrcoef(): expected input to have two or fewer dimensions but got an input with {ndim} dimensions"
        )
    c = cov(input)
    if not c.ndim:
        return c / c  # type: ignore[no-any-return]
    variances = c.diagonal()
    deviations = (variances.real if is_kind(c, "c") else variances).sqrt()
    c = c / deviations.reshape(-1, 1) / deviations.reshape(1, -1)
    if is_kind(c, "c"):
        return T.complex(c.real.clamp(-1, 1), c.imag.clamp(-1, 1))  # type: ignore[no-any-return]
    return c.clamp(-1, 1)  # type: ignore[no-any-return]
