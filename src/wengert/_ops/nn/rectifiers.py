"""Activations made of straight lines: relu and its kin, and those that clamp or shrink.

Each is a primitive with PyTorch's formula and node name, and a function of ``nn.functional`` that takes ``inplace=``.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..._arrays.fused import MANY, recordable
from ..._arrays.layouts import as_iterated, rows
from ..._arrays.library import lib, putmask
from ..._base.dtypes import BOOL, BY_NUMPY, COMPLEX, DTYPES, FLOATING, INEXACT
from ..._base.limits import finfo
from ..._base.registry import ARRAYS, PUBLIC, REGISTRY, TENSORS, public, publish
from ..._kinds.elementwise import parametric, unary
from ..._kinds.fronts import in_usual_call
from ..._kinds.general import general
from ..._kinds.keywords import with_out
from ..._kinds.out import SAME
from ..._kinds.slow_path import not_implemented
from ..._payloads.meta import on_meta
from ..._tape.error_text import expect_tensors
from ..._tape.inplace import apply_composed_inplace, inplace_of
from ..._tape.node import in_place_nodes
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import Tensor
from ..._tape.view_chain import with_node_name
from ..._tensor_api.construct import number_of, placed_beside
from ..._tensor_api.generator import Generator
from ..elementwise._common import activation, floats_only, on_floats, plain_number


# ---- relu and its kin
def _check_relu(info: Any, x: Tensor, y: Any, dtype: Any) -> None:
    if dtype is BOOL:
        raise RuntimeError("Boolean inputs not supported for relu")
    if dtype in COMPLEX:
        raise NotImplementedError("clamp is not supported for complex types")


@general(
    tensors=2,
    grad={
        "grad": lambda xp, g, self, threshold: xp._threshold_backward(g, self, threshold),
        "self": lambda xp, g: xp.zeros_like(g),
    },
    jvp=lambda xp, tangents, result, grad, self, threshold: (
        xp.zeros_like(grad) if tangents[0] is None else xp._threshold_backward(tangents[0], self, threshold)
    ),
    batch="elementwise",
    dtypes="f",
    samples=[((3,), (3,), (0,)), ((2, 3), (2, 3), (0.5,))],
)
def _threshold_backward(lib, grad, self, threshold):
    """The cotangent where ``self`` is above the threshold (or nan), else 0; it lies as ``self``."""
    r = lib.where(self <= (lib.ZEROS[self.dtype] if threshold == 0 else threshold), lib.ZEROS[grad.dtype], grad)
    return r if type(self) is not np.ndarray or self.flags.contiguous else as_iterated(r, (self, grad))


@general(
    tensors=2,
    grad={"grad": lambda xp, g: g, "self": lambda xp, g: xp.zeros_like(g)},
    jvp=lambda xp, tangents, result, grad, self: xp.zeros_like(grad) if tangents[0] is None else tangents[0],
    batch="elementwise",
    samples=[((3,), (3,), ())],
)
def _beside_zeros(lib, grad, self):
    """The cotangent of an operator that is linear in pieces, whose derivative with respect to the operand is zeros."""
    return grad


def _relu_grad(xp: Any, g: Any, result: Any) -> Any:
    if xp is not ARRAYS:
        return xp._threshold_backward(g, result, 0)
    if g.size >= MANY and recordable(g):
        return lib.where_not_zero(g, result)
    zero = lib.ZEROS[g.dtype]
    r = lib.where(result <= zero, zero, g)  # as ``_threshold_backward``, with one call less
    return r if result.flags.contiguous else as_iterated(r, (result, g))


@unary(grad=_relu_grad, to_float=False, integers=True, fast=FLOATING, check=_check_relu, dtypes="fi")
def relu(lib, input):
    """Each element, or 0 if it is negative.

    >>> torch.relu(torch.tensor([-1., 2.]))
    tensor([0., 2.])
    """
    if input.size >= MANY:
        return lib.limited(input, 0, None)
    return lib.maximum(lib.ZEROS[input.dtype], input)  # in this order it keeps the sign of -0, as PyTorch does


@public("nn.functional.relu")
def relu_function(input: Tensor, inplace: bool = False) -> Tensor:
    """``torch.relu``.

    >>> torch.nn.functional.relu(torch.tensor([-1., 2.]))
    tensor([0., 2.])
    """
    return relu_(input) if inplace else relu(input)


relu_ = inplace_of(relu, "relu_", composed=False)
publish(relu_, "torch.relu_ Tensor.relu_ nn.functional.relu_")


def _between(lib: Any, x: Any, low: float, high: float) -> Any:
    """``lib.limited`` with less to decide for few elements, where the sign of a zero does not matter."""
    if x.size >= MANY:
        return lib.limited(x, low, high)
    number = lib.NUMBERS[x.dtype]
    return lib.clip(x, number[low] if low else lib.ZEROS[x.dtype], number[high])


@parametric(
    grad=lambda xp, g, self, min_val, max_val: xp._masked(g, (self <= min_val) | (self >= max_val), 0),
    dtypes="fi",
    samples=[((3, 4), (-1.0, 1.0)), ((2,), (0.0, 0.5))],
    piecewise=True,
)
def _hardtanh(lib, self, min_val, max_val):
    """Each element, at least ``min_val`` and at most ``max_val``."""
    return lib.limited(self, min_val, max_val)


@activation("nn.functional.hardtanh", "nn.functional.hardtanh_")
@partial(
    in_usual_call,
    name="_hardtanh",
    values="min_val, max_val",
    unless='a.dtype.kind != "f" or type(min_val) is not float or type(max_val) is not float or min_val > max_val',
)
def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """Each element, at least ``min_val`` and at most ``max_val``; the derivative is 0 at both.

    >>> torch.nn.functional.hardtanh(torch.tensor([-2., 0.5]))
    tensor([-1.0000,  0.5000])
    """
    min_val, max_val = plain_number(min_val), plain_number(max_val)
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if inplace:
        return apply_composed_inplace(hardtanh, input, (min_val, max_val))
    if isinstance(input, Tensor) and logical_dtype(input) is BOOL:
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if isinstance(input, Tensor) and logical_dtype(input) in COMPLEX:
        raise NotImplementedError("clamp is not supported for complex types")
    if isinstance(input, Tensor) and logical_dtype(input).kind == "u" and int(min_val) < 0:
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    return _hardtanh(input, *_as_integers(input, min_val, max_val))


def _as_integers(input: Any, *limits: float) -> Any:
    if isinstance(input, Tensor) and logical_dtype(input) not in INEXACT:
        return tuple(int(limit) for limit in limits)
    return limits


@public("nn.functional.relu6")
@partial(in_usual_call, name="_hardtanh", values="0.0, 6.0", unless='a.dtype.kind != "f"')
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """``min(max(0, x), 6)``.

    >>> torch.nn.functional.relu6(torch.tensor([-1., 7.]))
    tensor([0., 6.])
    """
    return hardtanh(input, 0.0, 6.0, inplace)


def _leaky_relu_grad(xp: Any, g: Any, self: Any, negative_slope: float) -> Any:
    if xp is ARRAYS and g.size >= MANY and recordable(g):
        return xp.lib.with_slope(g, self, negative_slope)
    return xp.where(self > 0, g, g * negative_slope)


@on_floats(
    "leaky_relu_cpu",
    grad=_leaky_relu_grad,
    node="LeakyReluBackward0",
    samples=[((3, 4), (0.01,)), ((2,), (0.5,))],
    piecewise=True,
    in_float32="both",
)
def _leaky_relu(lib, self, negative_slope):
    """Each element, times ``negative_slope`` if it is negative."""
    lower = self * lib.NUMBERS[self.dtype][negative_slope]
    if 0 < negative_slope <= 1:
        return lib.maximum(self, lower)
    return lib.where(self > lib.ZEROS[self.dtype], self, lower)


@activation("nn.functional.leaky_relu", "nn.functional.leaky_relu_")
@partial(in_usual_call, name="_leaky_relu", values="negative_slope")
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Each element, times ``negative_slope`` if it is negative.

    >>> torch.nn.functional.leaky_relu(torch.tensor([-1., 2.]), 0.1)
    tensor([-0.1000,  2.0000])
    """
    if inplace:
        return apply_composed_inplace(leaky_relu, input, (negative_slope,))
    return _leaky_relu(input, negative_slope)


def _prelu_grad(xp: Any, g: Any, self: Any, weight: Any) -> Any:
    if xp is ARRAYS and g.size >= MANY and recordable(g) and weight.size == 1:
        return xp.lib.with_slope(g, self, weight.item())
    return xp.where(self > 0, g, g * weight)


@general(
    tensors=2,
    grad={
        "self": _prelu_grad,
        "weight": lambda xp, g, self: xp.where(self > 0, 0, g * self),
    },
    batch="elementwise",
    dtypes="f",
    samples=[((3, 4), (1, 4), ()), ((2, 3), (1, 1), ())],
    piecewise=True,
)
def _prelu_kernel(lib, self, weight):
    """Each element, times the weight if it is negative."""
    if weight.size == 1 and weight.ndim <= self.ndim:
        weight = weight.reshape(())  # NumPy need not broadcast it
    lower = self * weight
    if weight.size == 1:
        flat = 0 < weight.item() <= 1
    else:
        flat = self.size >= MANY and lib.count_nonzero((weight > 0) & (weight <= 1)) == weight.size
    if flat:  # the larger one is the right one
        return lib.maximum(self, lower)
    return lib.chosen(self > lib.ZEROS[self.dtype], self, lower)


@public("torch.prelu Tensor.prelu nn.functional.prelu")
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Each element, times ``weight`` if it is negative; one weight, or one for each index of dim 1.

    >>> torch.prelu(torch.tensor([-2., 4.]), torch.tensor([0.25]))
    tensor([-0.5000,  4.0000])
    """
    if not type(input) is type(weight) is Tensor:
        expect_tensors("prelu", input=input, weight=weight)
    if logical_dtype(input) is not logical_dtype(weight):
        raise RuntimeError(
            f"prelu: Type promoting not supported. Got {BY_NUMPY[logical_dtype(input)].scalar_name} and "
            f"{BY_NUMPY[logical_dtype(weight)].scalar_name}"
        )
    floats_only(input, "prelu")
    count, rank, ndim = weight._payload.size, weight._payload.ndim, input._payload.ndim
    if rank > 1:
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {rank}")
    if count != 1:
        if ndim == 0:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = input._payload.shape[1] if ndim > 1 else 1
        if channels != count:
            raise RuntimeError(
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {count} and channel "
                f"size = {channels}."
            )
    if ndim != rank:
        shape = [1] * ndim
        if ndim > 1:
            shape[1] = count
        weight = TENSORS.reshape(weight, tuple(shape))
    return _prelu_kernel(input, weight)


@parametric(
    grad=lambda xp, g, self, threshold, value: xp._threshold_backward(g, self, threshold.real),
    dtypes="fi",
    samples=[((3, 4), (0.5, 2.0)), ((2,), (0.0, 0.0))],
)
def _threshold(lib, self, threshold, value):
    """Each element, or ``value`` if it is not above the threshold."""
    r = lib.where(self <= lib.NUMBERS[self.dtype][threshold.real], value, self)
    return r if r.dtype is self.dtype else r.astype(self.dtype)


@activation("torch.threshold nn.functional.threshold", "torch.threshold_ nn.functional.threshold_")
@partial(
    in_usual_call,
    name="_threshold",
    values="threshold, value",
    unless='a.dtype.kind != "f" or type(threshold) is not float or type(value) is not float',
)
@with_out(SAME)
def threshold(input: Tensor, threshold: Any, value: Any, inplace: bool = False) -> Tensor:
    """Each element, or ``value`` if it is not above the threshold.

    >>> torch.threshold(torch.tensor([-1., 2.]), 0, 9)
    tensor([9., 2.])
    """
    threshold, value = number_of(threshold, "threshold", "threshold", 2), number_of(value, "threshold", "value", 3)
    imaginary = complex in (type(threshold), type(value)) and (threshold.imag or value.imag)
    if imaginary and logical_dtype(input) not in COMPLEX:
        raise RuntimeError("value cannot be converted to type float without overflow")
    if inplace:
        return apply_composed_inplace(_threshold_of, input, (threshold, value.real))
    return _threshold_of(input, threshold, value.real)


def _threshold_of(input: Tensor, threshold: Any, value: Any) -> Tensor:
    if isinstance(input, Tensor) and (logical_dtype(input) in COMPLEX or logical_dtype(input) is BOOL):
        raise not_implemented(REGISTRY["_threshold"], input)
    return _threshold(input, *_as_integers(input, threshold, value))


def _written(result: Tensor, *operands: Any) -> Tensor:
    return with_node_name(result, "ThresholdBackward1")


in_place_nodes[threshold] = in_place_nodes[_threshold_of] = _written


@activation("torch.rrelu nn.functional.rrelu", "torch.rrelu_ nn.functional.rrelu_")
def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Each element, times a slope if it is negative: a random one in training, else the mean of the bounds.

    >>> torch.rrelu(torch.tensor([-2., 4.]), 0.25, 0.75)
    tensor([-1.,  4.])
    """
    if inplace:
        return apply_composed_inplace(lambda x, *p: rrelu(x, *p, generator=generator), input, (lower, upper, training))
    floats_only(input, "rrelu", "rrelu_with_noise_out_cpu" if training else "leaky_relu_cpu")
    lower, upper = plain_number(lower), plain_number(upper)
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    if not training:
        return _rrelu(input, (lower + upper) / 2)
    if logical_dtype(input) == np.float16:
        raise not_implemented(REGISTRY["_rrelu"], input, "rrelu_with_noise_out_cpu")
    return _rrelu_with_noise(input, _rrelu_noise(input, lower, upper, generator))


def _rrelu_noise(input: Tensor, lower: float, upper: float, generator: Generator | None) -> Tensor:
    """The slopes: 1 where the input is positive, else one draw in double precision per element, as in PyTorch."""
    if on_meta(input):
        return input.detach().clone()
    from ..random._common import closed, opened  # its first call must not wait for the rules of random numbers

    values, tags = opened(input._payload)
    negative = values <= 0
    draws = PUBLIC["torch"]["empty"](int(negative.sum()), dtype=DTYPES["float64"]).uniform_(
        lower, upper, generator=generator
    )
    noise = np.ones(negative.shape, values.dtype)
    noise[negative] = draws._payload
    return placed_beside(input, closed(noise, tags))


@parametric(
    layout=rows,
    grad=lambda xp, g, self, slope: xp.where(self > 0, g, g * slope),
    node="RreluWithNoiseBackward0",
    dtypes="f",
    samples=[((3, 4), (0.25,)), ((), (0.25,))],
    piecewise=True,
)
def _rrelu(lib, self, slope):
    """Each element, times the mean slope if it is negative."""
    return lib.where(self > 0, self, self * slope)


@general(
    layout=rows,
    tensors=2,
    grad={"self": lambda xp, g, noise: g * noise},
    batch="elementwise",
    dtypes="f",
    samples=[((3, 4), (3, 4), ())],
)
def _rrelu_with_noise(lib, self, noise):
    """Each element times its slope."""
    return self * noise


# ---- piecewise
@on_floats(
    "hardsigmoid_cpu",
    grad=lambda xp, g, self: xp.where((self > -3) & (self < 3), g / 6, 0),
    node="HardsigmoidBackward0",
    samples=[((3, 4), ()), ((), ())],
    piecewise=True,
    in_float32="result",
)
def _hardsigmoid(lib, self):
    """``min(max(0, x + 3), 6) / 6``."""
    number = lib.NUMBERS[self.dtype]
    return _between(lib, self + number[3], 0, 6) / number[6]


@public("nn.functional.hardsigmoid")
@partial(in_usual_call, name="_hardsigmoid")
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """``min(max(0, x + 3), 6) / 6``.

    >>> torch.nn.functional.hardsigmoid(torch.tensor([-4., 0.]))
    tensor([0.0000, 0.5000])
    """
    if inplace:
        return apply_composed_inplace(hardsigmoid, input, ())
    return _hardsigmoid(input)


def _hardswish_grad(xp: Any, g: Any, self: Any) -> Any:
    if xp is ARRAYS and self.size >= MANY and recordable(self):
        below = self < 3
        slope = xp.where((self > -3) & below, self / 3 + 0.5, 0) + (~below).astype(self.dtype)
        return g * slope
    return xp._masked(g * xp.where(self < 3, self / 3 + 0.5, 1), self <= -3, 0)


@on_floats(
    "hardswish_cpu",
    grad=_hardswish_grad,
    node="HardswishBackward0",
    samples=[((3, 4), ()), ((), ())],
    in_float32="both",
    own_derivative=True,
)
def _hardswish(lib, self):
    """``x * min(max(0, x + 3), 6) / 6``."""
    number = lib.NUMBERS[self.dtype]
    return self * _between(lib, self + number[3], 0, 6) / number[6]


@public("nn.functional.hardswish")
@partial(in_usual_call, name="_hardswish")
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """``x * min(max(0, x + 3), 6) / 6``.

    >>> torch.nn.functional.hardswish(torch.tensor([-4., 3.]))
    tensor([-0., 3.])
    """
    if inplace:
        return apply_composed_inplace(hardswish, input, ())
    return _hardswish(input)


def _inside(self: Any, lambd: float) -> Any:
    return (self >= -lambd) & (self <= lambd)


@on_floats(
    "hardshrink_cpu",
    grad=lambda xp, g, self, lambd: xp._masked(g, _inside(self, lambd), 0),
    node="HardshrinkBackward0",
    samples=[((3, 4), (0.5,)), ((2,), (0.1,))],
    piecewise=True,
)
def _hardshrink(lib, self, lambd):
    """Each element, or 0 if its absolute value is at most ``lambd``."""
    inside, zero = lib.abs(self) <= lib.NUMBERS[self.dtype][lambd], lib.ZEROS[self.dtype]
    if type(inside) is not np.ndarray or self.size >= MANY or not self.flags.c_contiguous:
        return lib.where(inside, zero, self)
    r = self.copy()  # faster than a choice
    putmask(r, inside, zero)
    return r


@public("torch.hardshrink Tensor.hardshrink nn.functional.hardshrink")
@partial(in_usual_call, name="_hardshrink", values="lambd")
@with_out(SAME)
def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Each element, or 0 if its absolute value is at most ``lambd``.

    >>> torch.hardshrink(torch.tensor([0.25, -1.]))
    tensor([ 0., -1.])
    """
    return _hardshrink(input, lambd)


@parametric(
    grad=lambda xp, g, self, lambd: xp._masked(g, _inside(self, lambd), 0),
    dtypes="f",
    samples=[((3, 4), (0.5,)), ((2,), (0.1,))],
    piecewise=True,
)
def _softshrink(lib, self, lambd):
    """Each element moved by ``lambd`` towards 0."""
    return lib.copysign(self - _between(lib, self, -lambd, lambd), self)  # with the sign of -0, as in PyTorch


_HALF_MAX = 65504.0  # the largest bound that every floating dtype takes


@public("nn.functional.softshrink")
@partial(
    in_usual_call,
    name="_softshrink",
    values="lambd",
    unless='a.dtype.kind != "f" or type(lambd) is not float or not 0 <= lambd <= 65504.0',
)
@with_out(SAME)
def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Each element moved by ``lambd`` towards 0.

    >>> torch.nn.functional.softshrink(torch.tensor([0.25, -1.]))
    tensor([ 0.0000, -0.5000])
    """
    if type(lambd) is float and 0 <= lambd <= _HALF_MAX and input._payload.dtype in FLOATING:
        return _softshrink(input, lambd)
    floats_only(input, "softshrink", "softshrink_check")
    dtype = BY_NUMPY[logical_dtype(input)]
    if not 0 <= lambd <= finfo(dtype).max:
        raise RuntimeError(
            f"lambda must be in range [0, {finfo(dtype).max:g}] for input dtype {dtype.scalar_name}, but found "
            f"{lambd:g}"
        )
    return _softshrink(input, lambd)


@public("nn.functional.softsign")
def softsign(input: Tensor) -> Tensor:
    """``x / (1 + abs(x))``.

    >>> torch.nn.functional.softsign(torch.tensor([-1., 3.]))
    tensor([-0.5000,  0.7500])
    """
    return input / (TENSORS.abs(input) + 1)


@public("nn.functional.tanhshrink")
def tanhshrink(input: Tensor) -> Tensor:
    """``x - tanh(x)``.

    >>> torch.nn.functional.tanhshrink(torch.tensor([0., 1.]))
    tensor([0.0000, 0.2384])
    """
    return input - TENSORS.tanh(input)
