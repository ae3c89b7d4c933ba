"""Scans: cumulative sums, products, extrema and log-sum-exps along a dim.

The multiplicative scans use one operator that is closed under differentiation, the linear recurrence

    h[t] = b[t] + a[t] * h[t-1]         and its transpose        h[t] = b[t] + a[t+1] * h[t+1]

so no derivative divides by an element: products with zeros have the right gradients in every order.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._arrays.layouts import rows
from ..._arrays.scan import ACCUMULATOR, running_extremum, scanned
from ..._base.registry import publish
from ..._kinds.dims import normal_dim, rank
from ..._kinds.general import general
from ..._kinds.linear import linear
from ..._kinds.out import exactly, of_kind
from ..._kinds.return_types import return_type
from ..._kinds.slow_path import no_complex_grad, require
from ..._tape.inplace import inplace_of
from ..._tape.tensor import Tensor
from .extrema import along, along_one, with_places
from .sums import NOT_FLOATING, NOT_REAL, in_dtype, is_kind, reduction, unimplemented

_SCALAR_TYPE = exactly("expected scalar_type {Result} but found {Out}")

if TYPE_CHECKING:
    from ..._base.dtypes import dtype as DType

CummaxResult = return_type("cummax", "values", "indices")
CumminResult = return_type("cummin", "values", "indices")


# ---- sums
@linear(
    layout=rows,
    transpose=lambda xp, g, dim: xp._cumsum_reverse(g, dim),
    batch=("dim", ("dim",)),
    samples=[((3, 4), (1,)), ((3, 4), (0,)), ((0,), (0,))],
)
def cumsum(lib, self, dim):
    """Cumulative sum along a dim."""
    return scanned(lib.add, self, dim)


@linear(
    node="FlipBackward0",
    transpose=lambda xp, g, dim: xp.cumsum(g, dim),
    batch=("dim", ("dim",)),
    samples=[((3, 4), (1,)), ((3, 4), (0,))],
)
def _cumsum_reverse(lib, self, dim):
    """Cumulative sum along a dim from its end."""
    return lib.ascontiguousarray(scanned(lib.add, self, dim, True))


@reduction(
    "torch.cumsum Tensor.cumsum",
    out_rule=of_kind("fciuV", "\"cumsum_out_cpu\" not implemented for '{Out}'", NotImplementedError),
    in_out=True,
    one_dim=("cumsum", "dim"),
)
def cumsum_public(input: Tensor, dim: int, *, dtype: DType | None = None) -> Tensor:
    """Cumulative sum along a dim; integers and bools are summed in int64.

    >>> torch.cumsum(torch.tensor([1., 2., 3.]), 0)
    tensor([1., 3., 6.])
    """
    return _accumulated(cumsum, "cumsum", input, dim, dtype)


def _accumulated(op: Any, name: str, input: Tensor, dim: int, dtype: DType | None) -> Tensor:
    dim = normal_dim(dim, rank(input, name), name)
    if dtype is not None:
        input = in_dtype(input, dtype, name)
        if input._payload.size:
            require(input, "fhciu", f"{name}_out_cpu")
    return in_dtype(along_one(op, input, dim), dtype, name)


# ---- products
@general(
    layout=rows,
    grad=lambda xp, g, self, dim: (
        xp._cumprod_before(self, dim, False) * xp._recurrence(self, g, dim, True) if math.prod(self.shape) > 1 else g
    ),
    batch=("dim", ("dim",)),
    dtypes="fcib",
    samples=lambda rng: [
        ((a,), (d,))
        for a in (rng.standard_normal((3, 4)), np.array([[1.5, 0.0, 2.0, 0.0, 3.0], [0.5, 2.0, 0.0, 1.0, 2.0]]))
        for d in (0, 1)
    ],
)
def cumprod(lib, self, dim):
    """Cumulative product along a dim."""
    return scanned(lib.multiply, self, dim)


@general(
    grad=lambda xp, g, self, dim, reverse, result: (
        result
        * (
            xp._recurrence(xp._delay(self, dim, 1), xp._delay(g, dim, 1), dim, False)
            if reverse
            else xp._recurrence(self, xp._delay(g, dim, -1), dim, True)
        )
    ),
    batch=("dim", ("dim",)),
    samples=lambda rng: [
        ((a,), (d, reverse))
        for a in (rng.standard_normal((2, 3)), np.array([[1.5, 0.0, 2.0], [0.0, 3.0, 0.0]]))
        for d in (0, 1)
        for reverse in (False, True)
    ],
)
def _cumprod_before(lib, self, dim, reverse):
    """The product of the elements before each element along a dim (after it, if ``reverse``)."""
    return lib.products_before(self, dim, reverse)


@linear(
    transpose=lambda xp, g, dim, by: xp._delay(g, dim, -by),
    batch=("dim", ("dim",)),
    samples=[((3, 4), (1, 1)), ((3, 4), (0, -1)), ((1,), (0, 1)), ((0,), (0, 1))],
)
def _delay(lib, self, dim, by):
    """Shift the elements by one along a dim, forwards (``by`` 1) or backwards (-1), and fill with zero."""
    return lib.delayed(self, dim, by)


def _recurrence_grad(xp: Any, g: Any, self: Any, dim: int, transposed: bool, result: Any) -> tuple[Any, Any]:
    gb = xp._recurrence(self, g, dim, not transposed)
    return (xp._delay(gb, dim, 1) * result if transposed else gb * xp._delay(result, dim, 1), gb)


@general(
    tensors=2,
    grad=_recurrence_grad,
    batch=("dim", ("dim",)),
    samples=lambda rng: [
        ((rng.standard_normal(s), rng.standard_normal(s)), (d, transposed))
        for s, d in (((2, 3), 1), ((3, 2), 0), ((1,), 0), ((3, 20), 0))
        for transposed in (False, True)
    ],
)
def _recurrence(lib, self, b, dim, transposed):
    """h[t] = b[t] + self[t] h[t-1] along a dim; transposed: h[t] = b[t] + self[t+1] h[t+1]."""
    return lib.linear_recurrence(self, b, dim, transposed)


@reduction(
    "torch.cumprod Tensor.cumprod",
    out_rule=of_kind("fciuV", "\"cumprod_out_cpu\" not implemented for '{Out}'", NotImplementedError),
    in_out=True,
    one_dim=("cumprod", "dim"),
)
def cumprod_public(input: Tensor, dim: int, *, dtype: DType | None = None) -> Tensor:
    """Cumulative product along a dim; integers and bools use int64. Gradients are right where elements are zero.

    >>> torch.cumprod(torch.tensor([1., 2., 3.]), 0)
    tensor([1., 2., 6.])
    """
    return _accumulated(cumprod, "cumprod", input, dim, dtype)


publish(inplace_of(cumsum_public, "cumsum_"), "Tensor.cumsum_")
publish(inplace_of(cumprod_public, "cumprod_"), "Tensor.cumprod_")


# ---- extrema


_RUNNING: dict[str, Any] = {
    "grad": lambda xp, g, indices, dim, self_shape: xp._put_along(g, indices, dim, self_shape[dim], False),
    "dtypes": "fib",
    "samples": [((3, 4), (1,)), ((3, 4), (0,)), ((0,), (0,))],
}


@with_places(layout=rows, **_RUNNING)
def cummax(lib, self, dim):
    """Cumulative maximum along a dim, and its index: the last of equal ones."""
    return running_extremum(lib.maximum, lib, self, dim)


@with_places(layout=rows, **_RUNNING)
def cummin(lib, self, dim):
    """Cumulative minimum along a dim, and its index: the last of equal ones."""
    return running_extremum(lib.minimum, lib, self, dim)


@reduction("torch.cummax Tensor.cummax", out_rule=_SCALAR_TYPE, one_dim=("cummax", "dim", NOT_REAL, CummaxResult))
def cummax_public(input: Tensor, dim: int) -> Any:
    """Cumulative maximum along a dim, and its index: the last of equal ones.

    >>> torch.cummax(torch.tensor([1., 3., 2.]), 0).values
    tensor([1., 3., 3.])
    """
    dim = normal_dim(dim, rank(input, "cummax"), "cummax")
    if is_kind(input, "c") and input._payload.ndim and input._payload.size:
        raise unimplemented("cummax_cpu", input)
    return CummaxResult._make(along(cummax, no_complex_grad("cummax", input), dim))


@reduction("torch.cummin Tensor.cummin", out_rule=_SCALAR_TYPE, one_dim=("cummin", "dim", NOT_REAL, CumminResult))
def cummin_public(input: Tensor, dim: int) -> Any:
    """Cumulative minimum along a dim, and its index: the last of equal ones.

    >>> torch.cummin(torch.tensor([3., 1., 2.]), 0).indices
    tensor([0, 1, 1])
    """
    dim = normal_dim(dim, rank(input, "cummin"), "cummin")
    if is_kind(input, "c") and input._payload.ndim and input._payload.size:
        raise unimplemented("cummin_cpu", input)
    return CumminResult._make(along(cummin, no_complex_grad("cummin", input), dim))


# ---- log-sum-exps
def _logcumsumexp_grad(xp: Any, g: Any, self: Any, result: Any, dim: int) -> Any:
    # u[t] = sum over k >= t of g[k] exp(result[t] - result[k]): a recurrence whose coefficients lie in [0, 1]
    before = xp._delay(result, dim, 1)
    decay = xp.exp(xp.where(before == result, 0, before - result))  # 0 also for two equal infinities
    return xp.exp(self - result) * xp._recurrence(decay, g, dim, True)


@general(
    layout=rows,
    grad=lambda xp, g, self, dim, result: _logcumsumexp_grad(xp, g, self, result, dim),
    batch=("dim", ("dim",)),
    samples=[((3, 4), (1,)), ((3, 4), (0,)), ((0,), (0,))],
)
def logcumsumexp(lib, self, dim):
    """Logarithm of the cumulative sum of exponentials along a dim."""
    if self.dtype.kind == "c":
        return lib.complex_logcumsumexp(self, dim)
    wide = ACCUMULATOR[self.dtype]
    r = lib.logaddexp.accumulate(self, dim, wide)
    return r if wide is self.dtype else r.astype(self.dtype)


@reduction(
    "torch.logcumsumexp Tensor.logcumsumexp", out_rule=_SCALAR_TYPE, one_dim=("logcumsumexp", "dim", NOT_FLOATING)
)
def logcumsumexp_public(input: Tensor, dim: int) -> Tensor:
    """Logarithm of the cumulative sum of exponentials along a dim, without overflow.

    >>> torch.logcumsumexp(torch.tensor([1000., 1000.]), 0)
    tensor([1000.0000, 1000.6932])
    """
    dim = normal_dim(dim, rank(input, "logcumsumexp"), "logcumsumexp")
    if is_kind(input, "biu"):
        raise unimplemented("logcumsumexp_out_cpu", input)
    return along_one(logcumsumexp, input, dim)
