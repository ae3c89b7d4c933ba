"""Spread and order statistics: ``var``, ``std``, ``median``, ``mode``, ``quantile``, ``cov``, ..."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._arrays.layouts import rows
from ..._arrays.library import ARITHMETIC, silently
from ..._arrays.order_statistics import median_along, median_of_all
from ..._arrays.sums import count_of
from ..._arrays.variance import FEW, correlation, covariance, narrowed, variance, variance_and_mean
from ..._base.dtypes import BLAS_FLOATS, INT64
from ..._base.errors import warn
from ..._base.modes import slow_always
from ..._base.registry import TENSORS, public
from ..._kinds.dims import nonempty_dims, normal_dim, rank
from ..._kinds.general import general
from ..._kinds.out import exactly
from ..._kinds.return_types import return_type
from ..._kinds.slow_path import misfit, no_complex_grad, refuse_elements
from ..._tape.error_text import not_a_tensor
from ..._tape.promotion import cast, default_np, logical_dtype
from ..._tape.tensor import CPU, Tensor, device_of, wrap
from ..._tape.view_chain import without_view
from .extrema import NUMBERS_ONLY, along, shared_by_all, with_places
from .sums import dtype_text, is_kind, reduction, restored, unimplemented, wanted_dims

_QUANTILE = exactly("quantile() out tensor must be same dtype as the input tensor")

MedianResult = return_type("median", "values", "indices")
NanmedianResult = return_type("nanmedian", "values", "indices")
ModeResult = return_type("mode", "values", "indices")


# ---- spread


def _variance_grad(xp: Any, g: Any, self: Any, dim: tuple[int, ...], correction: float, keepdim: bool) -> Any:
    freedom = count_of(self.shape, dim) - correction
    scale = 2.0 / freedom if freedom else float("inf")
    return restored(xp, g, self.shape, dim, keepdim) * scale * (self - xp.mean_dim(self, dim, True))


def _mean_grad(xp: Any, g: Any, x: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    return xp.expand(restored(xp, g, x.shape, dim, keepdim) / (count_of(x.shape, dim) or 1), tuple(x.shape))


def _through_root(xp: Any, g: Any, std: Any) -> Any:
    """The cotangent of the variance from that of the standard deviation; 0 where the latter is 0, as in PyTorch."""
    zero = std == 0
    return xp.where(zero, 0.0, g) / (xp.where(zero, 1.0, std) * 2.0)


_OF_SQUARES: dict[str, Any] = {
    "layout": rows,
    "holomorphic": False,
    "batch": ("dim", ("dim",)),
    "samples": [((3, 4), ((1,), 1, False)), ((2, 3, 4), ((0, 2), 0, True)), ((5,), ((0,), 1.5, False))],
}


@general(grad=_variance_grad, **_OF_SQUARES)
def var(lib, self, dim, correction, keepdim):
    """Variance over some dims."""
    return narrowed(variance(lib, self, dim, correction, keepdim), self.real.dtype)


@general(
    grad=lambda xp, g, self, result, dim, correction, keepdim: _variance_grad(
        xp, _through_root(xp, g, result), self, dim, correction, keepdim
    ),
    **_OF_SQUARES,
)
def std(lib, self, dim, correction, keepdim):
    """Standard deviation over some dims."""
    return narrowed(lib.sqrt(variance(lib, self, dim, correction, keepdim)), self.real.dtype)


@general(
    grad=lambda xp, g, self, dim, correction, keepdim: (
        _variance_grad(xp, g[0], self, dim, correction, keepdim) + _mean_grad(xp, g[1], self, dim, keepdim)
    ),
    outputs=2,
    **_OF_SQUARES,
)
def var_mean(lib, self, dim, correction, keepdim):
    """Variance and mean over some dims."""
    v, m = variance_and_mean(lib, self, dim, correction, keepdim)
    return narrowed(v, self.real.dtype), narrowed(m, self.dtype)


@general(
    grad=lambda xp, g, self, result0, dim, correction, keepdim: (
        _variance_grad(xp, _through_root(xp, g[0], result0), self, dim, correction, keepdim)
        + _mean_grad(xp, g[1], self, dim, keepdim)
    ),
    outputs=2,
    **_OF_SQUARES,
)
def std_mean(lib, self, dim, correction, keepdim):
    """Standard deviation and mean over some dims."""
    v, m = variance_and_mean(lib, self, dim, correction, keepdim)
    return narrowed(lib.sqrt(v), self.real.dtype), narrowed(m, self.dtype)


_SPREAD = "dims, 1, keepdim=", 'a.dtype.kind not in "fc" or (a.size if dim is ABSENT else a.shape[dim]) < 2'


def _spread(op: Any, name: str, input: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Read ``(dim, unbiased, keepdim)``, ``(unbiased)`` or ``(dim, *, correction, keepdim)``, check, and run."""
    ndim = rank(input, name)
    names = ("unbiased",) if args and isinstance(args[0], bool) else ("dim", "unbiased", "keepdim")
    given = dict(zip(names, args, strict=False)) | kwargs
    known = {"dim", "unbiased", "keepdim", "correction"}
    clash = "unbiased" in given and "correction" in given
    bools = isinstance(given.get("unbiased", True), bool) and isinstance(given.get("keepdim", False), bool)
    if len(args) > len(names) or not set(given) <= known or clash or not bools:
        raise misfit(name, input, *args, **kwargs)
    correction = given.get("correction")
    if correction is None:
        correction = 1 if given.get("unbiased", True) else 0
    if not is_kind(input, "fcV"):
        what = name if name.endswith("_mean") else "std and var"
        raise RuntimeError(f"{what} only support floating point and complex dtypes")
    dims = wanted_dims(given.get("dim"), ndim, name)
    shape = tuple(input.shape)
    kept = count_of(shape, tuple(d for d in range(ndim) if d not in dims))
    if not kept or count_of(shape, dims) - correction <= 0:
        warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
            "(input numel divided by output numel)."
        )
    return op(input, dims, correction, given.get("keepdim", False))


@reduction("torch.var Tensor.var", one_dim=("var", *_SPREAD))
def var_public(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Variance: ``var(input, dim=None, *, correction=1, keepdim=False)``; ``unbiased=`` is ``correction`` 1 or 0.

    >>> x = torch.tensor([1., 2., 3., 4.])
    >>> x.var(), x.var(unbiased=False), x.var(0, correction=0)
    (tensor(1.6667), tensor(1.2500), tensor(1.2500))
    """
    return _spread(var, "var", input, args, kwargs)


@reduction("torch.std Tensor.std", one_dim=("std", *_SPREAD))
def std_public(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Standard deviation: ``std(input, dim=None, *, correction=1, keepdim=False)``; or ``unbiased=``, as in ``var``.

    >>> torch.std(torch.tensor([1., 2., 3., 4.]))
    tensor(1.2910)
    """
    return _spread(std, "std", input, args, kwargs)


@reduction("torch.var_mean", one_dim=("var_mean", *_SPREAD))
def var_mean_public(input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Variance and mean; the arguments are those of ``var``.

    >>> torch.var_mean(torch.tensor([1., 2., 3., 4.]))
    (tensor(1.6667), tensor(2.5000))
    """
    return _spread(var_mean, "var_mean", input, args, kwargs)


@reduction("torch.std_mean", one_dim=("std_mean", *_SPREAD))
def std_mean_public(input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Standard deviation and mean; the arguments are those of ``std``.

    >>> torch.std_mean(torch.tensor([1., 3.]), correction=0)
    (tensor(1.), tensor(2.))
    """
    return _spread(std_mean, "std_mean", input, args, kwargs)


# ---- median


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


_ALONG: dict[str, Any] = {"dtypes": "fi", "samples": [((3, 5), (1, False)), ((3, 5), (0, True))]}


@general(**_all_declaration("MedianBackward0", "median_dim"))
def median_all(lib, self):
    """The lower median of all elements."""
    return median_of_all(lib, self, False)


@general(**_all_declaration("NanmedianBackward0", "nanmedian_dim"))
def nanmedian_all(lib, self):
    """The lower median of all elements that are not nan."""
    return median_of_all(lib, self, True)


@with_places(layout=rows, node="MedianBackward1", called="median", **_ALONG)
def median_dim(lib, self, dim, keepdim):
    """The lower median along a dim, and its index."""
    return median_along(lib, self, dim, keepdim, False)


@with_places(layout=rows, node="NanmedianBackward1", called="nanmedian", **_ALONG)
def nanmedian_dim(lib, self, dim, keepdim):
    """The lower median along a dim of the elements that are not nan, and its index."""
    return median_along(lib, self, dim, keepdim, True)


def _median(input: Tensor, dim: Any, keepdim: bool, of_all: Any, of_dim: Any, result: Any) -> Any:
    ndim = rank(input, "median")
    if is_kind(input, "cb"):
        raise unimplemented("median_cpu" if dim is None else "median_out", input)
    if dim is None:
        return of_all(input)
    dim = normal_dim(dim, ndim, "median")
    if ndim:
        nonempty_dims(input._payload.shape, (dim,), "median")
    return result(along(of_dim, input, dim, keepdim))


def _median_of_all(input: Tensor) -> Any:
    if type(input) is Tensor and input._payload.dtype.kind in "fiu":
        return median_all(input)
    return _median(input, None, False, median_all, median_dim, MedianResult)


_MEDIAN_OUT = (
    exactly(
        "Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; but type "
        "torch.{Out}Tensor does not equal torch.{Result}Tensor (while checking arguments for median)"
    ),
    exactly(
        "Expected tensor for argument #1 'indices' to have scalar type Long; but got torch.{Out}Tensor instead (while "
        "checking arguments for median)"
    ),
)


@reduction(
    "torch.median Tensor.median",
    out_rule=_MEDIAN_OUT,
    one_dim=("median_dim", "dim, keepdim", NUMBERS_ONLY, MedianResult, _median_of_all),
)
def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The lower median of all elements, or along a dim with its index; nan if any element is nan.

    >>> torch.median(torch.tensor([4., 1., 3., 2.]))
    tensor(2.)
    """
    return _median(input, dim, keepdim, median_all, median_dim, MedianResult)


@reduction(
    "torch.nanmedian Tensor.nanmedian",
    out_rule=_MEDIAN_OUT,
    one_dim=("nanmedian_dim", "dim, keepdim", NUMBERS_ONLY, NanmedianResult),
)
def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The median of the elements that are not nan; see ``median``.

    >>> torch.nanmedian(torch.tensor([4., float("nan"), 3.]))
    tensor(3.)
    """
    return _median(input, dim, keepdim, nanmedian_all, nanmedian_dim, NanmedianResult)


# ---- mode
@with_places(layout=rows, **_ALONG)
def mode(lib, self, dim, keepdim):
    """The most frequent element along a dim (the smallest of several), and its last index."""
    return lib.most_frequent(self, dim, keepdim)


@reduction(
    "torch.mode Tensor.mode",
    out_rule=(
        exactly("expected scalar type '{Result}' but got '{Out}' for values output"),
        exactly("expected scalar type '{Result}' but got '{Out}' for indices output"),
    ),
)
def mode_public(input: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent element along a dim (the smallest of several), and its last index.

    >>> torch.mode(torch.tensor([3, 1, 3, 1])).values
    tensor(1)
    """
    ndim = rank(input, "mode")
    dim = normal_dim(dim, ndim, "mode")
    if is_kind(input, "c") and ndim:
        raise unimplemented("mode_cpu", input)
    no_complex_grad("mode", input)
    if ndim:
        nonempty_dims(input._payload.shape, (dim,), "mode")
    return ModeResult(along(mode, input, dim, keepdim))


# ---- quantiles
INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


@reduction("torch.quantile Tensor.quantile", out_rule=_QUANTILE)
def quantile(
    input: Tensor, q: float | Tensor, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """The q-th quantiles of all elements or along a dim; nan if any is nan. A 1-dimensional ``q`` adds a first dim.

    ``interpolation`` between two elements: linear, lower, higher, midpoint or nearest. Differentiable in ``q`` too.

    >>> torch.quantile(torch.tensor([0., 1., 2., 3.]), torch.tensor([0.5, 0.75]))
    tensor([1.5000, 2.2500])
    """
    return _quantile("quantile", input, q, dim, keepdim, interpolation, False)


@reduction("torch.nanquantile Tensor.nanquantile", out_rule=_QUANTILE)
def nanquantile(
    input: Tensor, q: float | Tensor, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """The q-th quantiles of the elements that are not nan; see ``quantile``.

    >>> torch.nanquantile(torch.tensor([0., float("nan"), 2.]), 0.5)
    tensor(1.)
    """
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation, True)


def _quantile(name: str, x: Tensor, q: Any, dim: Any, keepdim: bool, interpolation: str, ignore_nan: bool) -> Tensor:
    ndim = rank(x, name)
    q = _check_quantile(name, x, q, interpolation)
    shape = tuple(x.shape)
    if dim is None:
        rows = TENSORS.reshape(x, (count_of(shape, tuple(range(ndim))),))
        kept_shape: tuple[int, ...] = (1,) * ndim if keepdim else ()
    else:
        dim = normal_dim(dim, ndim, name)
        order = (*(d for d in range(ndim) if d != dim), dim) if ndim else ()
        rows = TENSORS.permute(x, order) if ndim else TENSORS.reshape(x, (1,))
        kept_shape = tuple(1 if d == dim else n for d, n in enumerate(shape) if d != dim or keepdim)
    values, _ = TENSORS.sort(rows, rows.ndim - 1, False, True)
    result = _interpolated(values, TENSORS.reshape(q, (q._payload.size,)), interpolation, ignore_nan)
    if not q.ndim:
        return without_view(TENSORS.reshape(result, kept_shape), "SqueezeBackward4")
    last = len(kept_shape)
    return without_view(TENSORS.permute(TENSORS.reshape(result, (*kept_shape, *q.shape)), (last, *range(last))))


def _interpolated(values: Tensor, q: Tensor, interpolation: str, ignore_nan: bool) -> Tensor:
    """Quantiles of sorted rows, which end with their nan: (..., n), (Q,) -> (..., Q)."""
    n = values.shape[-1]
    last = values.ndim - 1
    valid = TENSORS._not_nan_count(values, (last,), True)
    if ignore_nan:
        positions = q * (valid - 1.0).clamp(min=0.0)
    else:
        positions = TENSORS.where(valid < n, float(n - 1), q * (n - 1))
    if interpolation == "lower":
        positions = positions.floor()
    elif interpolation == "higher":
        positions = positions.ceil()
    elif interpolation == "nearest":
        positions = positions.round()
    known = positions.detach()
    floor = known.floor()
    below = TENSORS._take_along(values, cast(floor, INT64), last, False)
    if interpolation not in ("linear", "midpoint"):
        return below
    above = TENSORS._take_along(values, cast(known.ceil(), INT64), last, False)
    return below.lerp(above, 0.5 if interpolation == "midpoint" else positions - floor)


def _check_quantile(name: str, x: Tensor, q: Any, interpolation: str) -> Tensor:
    given, dtype = q, logical_dtype(x)
    if not isinstance(q, Tensor):
        if isinstance(q, bool) or not isinstance(q, (int, float)):
            raise not_a_tensor(name, "q", 2, q)
        if not 0 <= q <= 1:
            raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q}")
        q = wrap(np.asarray(q, dtype=np.float64))
        q = cast(q, dtype) if dtype.kind == "f" else q
    text = "quantile() "
    if 0 in x._payload.shape:
        raise RuntimeError(text + "input tensor must be non-empty")
    if q._payload.ndim > 1:
        raise RuntimeError(text + "q must be a scalar or 1D tensor")
    if dtype.char not in "fd":
        raise RuntimeError(text + "input tensor must be either float or double dtype")
    if logical_dtype(q) is not dtype:
        raise RuntimeError(text + "q tensor must be same dtype as the input tensor")
    if interpolation not in INTERPOLATIONS:
        raise RuntimeError(
            f"{text}interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
        )
    text += "q values must be in the range [0, 1]"
    if q is given:
        refuse_elements(q._payload, lambda a: not ((a >= 0) & (a <= 1)).all(), text)
    return q if device_of(x._payload) is CPU else q.to(x.device)


# ---- correlation
def _at_once(input: Tensor) -> bool:
    """Whether NumPy may take all steps on a tensor at once: none is recorded or seen by a mode."""
    a = input._payload
    if slow_always or input._node is not None or type(a) is not np.ndarray:
        return False
    return 0 < a.size <= FEW and a.flags.c_contiguous


def _quiet(fn: Any, *args: Any) -> Any:
    try:
        return fn(*args)
    except ARITHMETIC:
        return silently(fn, *args)


@public("torch.cov Tensor.cov")
def cov(
    input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
) -> Tensor:
    """Covariance matrix; rows are variables, columns observations.

    ``fweights``: the number of times each observation counts; ``aweights``: the weight of each observation.

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
    if fweights is aweights is None and type(correction) is int and _at_once(input):
        x = input._payload
        dtype = default_np() if x.dtype.kind in "iu" else x.dtype
        if dtype in BLAS_FLOATS and (x.shape[1] if ndim == 2 else x.size) > correction >= 0:
            return wrap(_quiet(covariance, x, correction, dtype))
    if ndim < 2:
        input = TENSORS.reshape(input, (1, input._payload.size))
    n = input._payload.shape[1]
    w = fweights if fweights is None else _weights("fweights", fweights, n, "iu", "integral")
    a = aweights if aweights is None else _weights("aweights", aweights, n, "fV", "floating point")
    weights = a if w is None else w if a is None else w * a
    total: Any = n if weights is None else weights.sum()
    weighted = input if weights is None else input * weights
    mean = weighted.sum(1, True) / total
    freedom: Any = total - correction
    if a is not None and correction != 0:
        freedom = total - correction * (weights * a).sum() / total
    if float(freedom) <= 0:
        warn("cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.")
        freedom = 0.0
    centred = input - mean
    scaled = (centred if weights is None else centred * weights).t()
    return (centred.matmul(scaled.conj() if is_kind(scaled, "c") else scaled) / freedom).squeeze()


def _weights(name: str, w: Tensor, n: int, kinds: str, what: str) -> Tensor:
    if w.ndim > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with {w.ndim} dimensions"
        )
    if not is_kind(w, kinds):
        raise RuntimeError(f"cov(): expected {name} to have {what} dtype but got {name} with {dtype_text(w)} dtype")
    if w._payload.size != n:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got "
            f"{w._payload.size} != {n}"
        )
    refuse_elements(w._payload, lambda a: a.min() < 0, f"cov(): {name} cannot be negative")
    return w


@public("torch.corrcoef Tensor.corrcoef")
def corrcoef(input: Tensor) -> Tensor:
    """Matrix of correlation coefficients; rows are variables, columns observations.

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
        return c / c
    if _at_once(c) and c._payload.dtype in BLAS_FLOATS:
        return wrap(_quiet(correlation, c._payload))
    variances, of_complex = c.diagonal(), is_kind(c, "c")
    deviations = (variances.real if of_complex else variances).sqrt()
    c = c / deviations.unsqueeze(1) / deviations.unsqueeze(0)
    if of_complex:
        return TENSORS.complex(c.real.clamp(-1, 1), c.imag.clamp(-1, 1))
    return c.clamp(-1, 1)
