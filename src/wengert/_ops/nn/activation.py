"""Activations with an exponential in them: elu and its kin, sigmoids, softplus, gelu, and ``glu``.

Each is a primitive with PyTorch's formula and node name, and a function of ``nn.functional`` that takes ``inplace=``.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from numpy import ndarray

from ..._arrays.fused import MANY, recordable
from ..._arrays.layouts import as_rows, rows
from ..._arrays.library import COLONS
from ..._base.dtypes import FLOAT32, INEXACT
from ..._base.registry import ARRAYS, public
from ..._kinds.dims import normal_dim
from ..._kinds.elementwise import parametric, unary
from ..._kinds.fronts import in_usual_call
from ..._kinds.general import general
from ..._kinds.keywords import with_out
from ..._kinds.out import SAME, exactly
from ..._kinds.slow_path import no_complex_grad
from ..._tape.inplace import apply_composed_inplace
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import Tensor
from ..elementwise._common import activation, floats_only, on_floats, plain_number, sigmoid_cotangent

FEW = 4096  # elements up to which finding the largest is faster than choosing element by element
SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


# ---- exponential branches
def _negative(xp: Any, x: Any) -> Any:
    """The negative elements, else 0: ``exp`` then does not overflow and has no derivative where it is not used."""
    return xp.where(x < 0, x, 0)


def _split(lib: Any, x: Any) -> tuple[Any, Any]:
    """The positive and the negative elements, each 0 elsewhere; -0 is in both, so that sums keep its sign."""
    above = lib.limited(x, 0, None) if x.size >= MANY else lib.maximum(lib.ZEROS[x.dtype], x)
    return above, _below(lib, x)


def _below(lib: Any, x: Any) -> Any:
    """The second of ``_split``."""
    return lib.limited(x, None, 0) if x.size >= MANY else lib.minimum(lib.ZEROS[x.dtype], x)


def _decay(lib: Any, x: Any, scale: float) -> Any:
    """``exp(x * scale)`` for the negative ones of many elements, 1 for the others (nan too)."""
    return lib.exp(lib.fmin(lib.ZEROS[x.dtype], x) * scale)


def _elu_grad(xp: Any, g: Any, self: Any, alpha: float, scale: float, input_scale: float) -> Any:
    if xp is ARRAYS and self.size >= MANY and recordable(self):
        slope = _decay(xp.lib, self, input_scale) * (input_scale * alpha * scale)
        return g * (slope if input_scale * alpha == 1 else xp.where(self <= 0, slope, scale))
    below = g * (input_scale * alpha * scale) * xp.exp(_negative(xp, self) * input_scale)
    return xp.where(self <= 0, below, g * scale if scale != 1 else g)


@on_floats(
    "elu_cpu",
    grad=_elu_grad,
    node="EluBackward0",
    samples=[((3, 4), (1.0, 1.0, 1.0)), ((2,), (0.5, 2.0, 3.0))],
    in_float32="both",
    own_derivative=True,
)
def _elu(lib, self, alpha, scale, input_scale):
    """``scale * x``, and ``scale * alpha * (exp(input_scale * x) - 1)`` where x is negative."""
    if alpha == scale == input_scale == 1:
        return lib.maximum(self, lib.expm1(_below(lib, self)))  # expm1(x) >= x
    above, below = _split(lib, self)
    number = lib.NUMBERS[self.dtype]
    below = lib.expm1(below * number[input_scale] if input_scale != 1 else below)
    factor = alpha * scale
    if factor != 1:
        below *= number[factor]
    if scale != 1:
        above *= number[scale]
    below += above
    return below


@activation("nn.functional.elu", "nn.functional.elu_")
@partial(in_usual_call, name="_elu", values="alpha, 1, 1")
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Each element, and ``alpha * (exp(x) - 1)`` where it is negative.

    >>> torch.nn.functional.elu(torch.tensor([-1., 2.]))
    tensor([-0.6321,  2.0000])
    """
    if inplace:
        return apply_composed_inplace(elu, input, (alpha,))
    return _elu(input, alpha, 1, 1)


@activation("torch.selu nn.functional.selu", "torch.selu_ nn.functional.selu_")
@partial(in_usual_call, name="_elu", values=f"{SELU_ALPHA}, {SELU_SCALE}, 1")
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """The self-normalising ``elu`` (Klambauer and others 2017): a fixed alpha, and a scale of 1.0507.

    >>> torch.selu(torch.tensor([-1., 2.]))
    tensor([-1.1113,  2.1014])
    """
    if inplace:
        return apply_composed_inplace(selu, input, ())
    return _elu(input, SELU_ALPHA, SELU_SCALE, 1)


@on_floats(
    "elu_cpu",
    grad=lambda xp, g, self, alpha: _elu_grad(xp, g, self, alpha, 1, 1.0 / alpha),
    node="CeluBackward0",
    samples=[((3, 4), (1.0,)), ((2,), (0.5,))],
    in_float32="both",
)
def _celu(lib, self, alpha):
    """x, and ``alpha * (exp(x / alpha) - 1)`` where x is negative."""
    if alpha == 1:
        return lib.maximum(self, lib.expm1(_below(lib, self)))  # expm1(x) >= x
    above, below = _split(lib, self)
    number = lib.NUMBERS[self.dtype]
    return above + lib.expm1(below * number[1.0 / alpha]) * number[alpha]


@activation("torch.celu nn.functional.celu", "torch.celu_ nn.functional.celu_")
@partial(in_usual_call, name="_celu", values="alpha", unless="type(alpha) is not float or alpha == 0")
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Each element, and ``alpha * (exp(x / alpha) - 1)`` where it is negative.

    >>> torch.celu(torch.tensor([-1., 2.]), 2.)
    tensor([-0.7869,  2.0000])
    """
    if inplace:
        return apply_composed_inplace(celu, input, (alpha,))
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _celu(input, alpha)


# ---- sigmoids
@unary(
    grad=sigmoid_cotangent,
    names="torch.sigmoid Tensor.sigmoid special.expit nn.functional.sigmoid",
    dtypes="fcib",
    in_float32="result",
    own_derivative=True,
)
def sigmoid(lib, input):
    """``1 / (1 + exp(-x))``.

    >>> torch.sigmoid(torch.tensor([0., 100.]))
    tensor([0.5000, 1.0000])
    """
    one = lib.ONES[input.dtype]
    if input.size >= MANY and recordable(input):
        return lib.divide(one, lib.one_and_exp_of_negative(input))
    r = -input
    if type(r) is not ndarray:  # 0-dimensional
        return lib.divide(one, lib.exp(r) + one)
    r = lib.exp(r, r)
    r = lib.add(r, one, r)
    return lib.divide(one, r, r)


def _logsigmoid_grad(xp: Any, g: Any, self: Any) -> Any:
    if xp is ARRAYS and self.size >= MANY and recordable(self):
        return g / xp.lib.one_and_exp_of_negative(-self)
    decay = xp.exp(xp.where(self < 0, self, -self))  # not of abs, whose derivative at 0 is 0
    part = decay / (1 + decay)
    return g * xp.where(self < 0, 1 - part, part)


@on_floats(
    "log_sigmoid_cpu",
    layout=rows,
    grad=_logsigmoid_grad,
    node="LogSigmoidBackward0",
    samples=[((3, 4), ()), ((), ())],
    in_float32="both",
    own_derivative=True,
)
def _log_sigmoid(lib, self):
    """The logarithm of ``sigmoid``, without overflow."""
    return lib.minimum(self, lib.ZEROS[self.dtype]) - lib.log1p(lib.exp(-lib.abs(self)))


@public("nn.functional.logsigmoid")
@partial(in_usual_call, name="_log_sigmoid")
@with_out(exactly("expected scalar type {Result} but found {Out}"))
def logsigmoid(input: Tensor) -> Tensor:
    """The logarithm of ``sigmoid``, without overflow.

    >>> torch.nn.functional.logsigmoid(torch.tensor([0., -100.]))
    tensor([  -0.6931, -100.0000])
    """
    return _log_sigmoid(input)


def _silu_grad(xp: Any, g: Any, self: Any) -> Any:
    s = xp.sigmoid(self)
    return g * (s * (1 + self * (1 - s)))


def _silu_and_slope(lib: Any, self: Any) -> tuple[Any, Any]:
    e = lib.one_and_exp_of_negative(self)
    result, s = self / e, lib.reciprocal(e)
    return result, s + result * (1 - s)


@parametric(grad=_silu_grad, slope=_silu_and_slope, samples=[((3, 4), ()), ((), ())], in_float32="both")
def _silu(lib, self):
    """``x * sigmoid(x)``."""
    if self.size >= MANY and recordable(self):
        return self / lib.one_and_exp_of_negative(self)
    r = lib.exp(-self) + lib.ONES[self.dtype]
    return lib.divide(self, r, r if type(r) is ndarray else None)


@public("nn.functional.silu")
@partial(in_usual_call, name="_silu", unless='a.dtype.kind != "f"')
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """``x * sigmoid(x)``, also known as swish.

    >>> torch.nn.functional.silu(torch.tensor([0., 2.]))
    tensor([0.0000, 1.7616])
    """
    if inplace:
        return apply_composed_inplace(silu, input, ())
    if not isinstance(input, Tensor) or logical_dtype(input) not in INEXACT:
        floats_only(input, "silu")
    return no_complex_grad("silu", _silu(input))


def _mish_grad(xp: Any, g: Any, self: Any) -> Any:
    s = xp.sigmoid(self)
    t = xp.tanh(xp._softplus(self, 1.0, 20.0))
    return g * (t + self * s * (1 - t * t))


@on_floats("mish_cpu", grad=_mish_grad, node="MishBackward0", samples=[((3, 4), ()), ((), ())], in_float32="both")
def _mish(lib, self):
    """``x * tanh(softplus(x))``."""
    return self * lib.tanh(lib.log1p(lib.exp(self)))


@public("nn.functional.mish")
@partial(in_usual_call, name="_mish")
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """``x * tanh(softplus(x))`` (Misra 2019).

    >>> torch.nn.functional.mish(torch.tensor([0., 1.]))
    tensor([0.0000, 0.8651])
    """
    if inplace:
        return apply_composed_inplace(mish, input, ())
    return _mish(input)


def _unlimited(x: Any, beta: float, threshold: float) -> bool:
    """Whether the formula of softplus, for many elements, equals x above the threshold without a choice."""
    return beta == 1 and threshold >= 17 and x.size >= MANY and x.dtype == FLOAT32


def _softplus_grad(xp: Any, g: Any, self: Any, beta: float, threshold: float) -> Any:
    if xp is ARRAYS and _unlimited(self, beta, threshold):
        return g / xp.lib.one_and_exp_of_negative(self)
    scaled = self * beta
    large = scaled > threshold
    if xp is not ARRAYS:  # in PyTorch the second derivative is 0 at the threshold already
        scaled = xp.where(scaled == threshold, threshold, scaled)
    z = xp.exp(xp.where(large, 0, scaled))
    return xp.where(large, g, g * z / (z + 1))


@on_floats(
    "softplus_cpu",
    grad=_softplus_grad,
    node="SoftplusBackward0",
    samples=[((3, 4), (1.0, 20.0)), ((2,), (2.0, 1.0))],
    in_float32="both",
    own_derivative=True,
)
def _softplus(lib, self, beta, threshold):
    """``log(1 + exp(beta * x)) / beta``, and x above the threshold."""
    if _unlimited(self, beta, threshold):
        return lib.limited(self, 0, None) + lib.log1p(lib.exp(-lib.abs(self)))
    scaled = self if beta == 1 else self * beta
    r = lib.log1p(lib.exp(scaled))
    if beta != 1:
        r = r / beta
    if type(self) is ndarray and 0 < self.size <= FEW and scaled.item(scaled.argmax()) <= threshold:
        return r
    return lib.where(scaled > threshold, self, r)


@public("nn.functional.softplus")
@partial(
    in_usual_call,
    name="_softplus",
    values="beta, threshold",
    unless="type(beta) is not int or type(threshold) is not int",
)
@with_out(SAME)
def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """``log(1 + exp(beta * x)) / beta``, and x itself where ``beta * x`` is above the threshold.

    >>> torch.nn.functional.softplus(torch.tensor([0., 30.]))
    tensor([ 0.6931, 30.0000])
    """
    return _softplus(input, plain_number(beta), plain_number(threshold))


# ---- gelu
_GELU_A, _GELU_B = math.sqrt(2.0 / math.pi), 0.044715


def _gelu_grad(xp: Any, g: Any, self: Any, approximate: str) -> Any:
    if approximate == "tanh":
        square = self * self
        t = xp.tanh((self + _GELU_B * (square * self)) * _GELU_A)
        inner = (1 + (3 * _GELU_B) * square) * _GELU_A
        return g * (0.5 * (1 + t) + 0.5 * self * (1 - t * t) * inner)
    cdf = xp.lib.normal_cdf(self) if xp is ARRAYS else (xp.erf(self * math.sqrt(0.5)) + 1) * 0.5
    pdf = xp.exp(self * self * -0.5) * (1 / math.sqrt(2 * math.pi))
    return g * (self * pdf + cdf)


def _gelu_and_slope(lib: Any, self: Any, approximate: str) -> tuple[Any, Any]:
    if approximate == "tanh":
        square = self * self
        t = lib.tanh((self + _GELU_B * (square * self)) * _GELU_A)
        half = 0.5 * self
        return half * (1 + t), 0.5 * (1 + t) + half * (1 - t * t) * ((1 + (3 * _GELU_B) * square) * _GELU_A)
    cdf = lib.normal_cdf(self)
    return cdf * self, self * lib.bell(self) + cdf


@on_floats(
    "GeluKernelImpl",
    grad=_gelu_grad,
    slope=_gelu_and_slope,
    node="GeluBackward0",
    samples=[((3, 4), ("none",)), ((3,), ("tanh",))],
    in_float32="both",
    own_derivative=True,
)
def _gelu(lib, self, approximate):
    """x times the probability that a standard normal variable is below x."""
    if approximate == "tanh":
        return 0.5 * self * (1 + lib.tanh((self + _GELU_B * (self * self * self)) * _GELU_A))
    return lib.normal_cdf(self) * self


@public("nn.functional.gelu")
@with_out(SAME)
def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    """x times the probability that a standard normal variable is below x; ``approximate="tanh"``: without erf.

    >>> torch.nn.functional.gelu(torch.tensor([-1., 1.]))
    tensor([-0.1587,  0.8413])
    """
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return _gelu(input, approximate)


# ---- glu
def _glu_grad(xp: Any, g: Any, self: Any, dim: int) -> Any:
    half = self.shape[dim] // 2
    a, b = xp.slice_dim(self, dim, 0, half, 1), xp.slice_dim(self, dim, half, 2 * half, 1)
    s = xp.sigmoid(b)
    return as_rows(xp.cat([g * s, g * (a * (s * (1 - s)))], dim))


@general(
    grad=_glu_grad, batch=("dim", ("dim",)), dtypes="f", samples=[((4, 3), (0,)), ((2, 6), (1,))], in_float32="both"
)
def _glu(lib, self, dim):
    """The first half along a dim, times the sigmoid of the second."""
    half = self.shape[dim] // 2
    lead = COLONS[dim]
    r = -self[(*lead, slice(half, None))]
    r = lib.exp(r, r)
    r += lib.ONES[r.dtype]
    return lib.divide(self[(*lead, slice(0, half))], r, r)


@public("nn.functional.glu")
@partial(
    in_usual_call,
    name="_glu",
    values="a.ndim - 1",
    unless='dim != -1 or a.dtype.kind != "f" or not a.ndim or a.shape[-1] % 2',
)
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along a dim of even size, times the sigmoid of the second.

    >>> torch.nn.functional.glu(torch.tensor([4., 0.]))
    tensor([2.])
    """
    shape = input._payload.shape
    if not shape:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    floats_only(input, "glu")
    dim = normal_dim(dim, len(shape))
    if shape[dim] % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim} is size {shape[dim]}")
    return _glu(input, dim)
