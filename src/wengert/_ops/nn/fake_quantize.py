"""Fake quantization: floats rounded to what integers of a scale and a zero point can hold, for training.

The gradient passes where the rounded value lies inside of the integers' range (a straight-through estimator).
Source: B. Jacob et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
Inference", 2018.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._base.dtypes import bfloat16, float16, float32, float64, int32
from ..._base.registry import public
from ..._kinds.dims import normal_dim
from ..._kinds.general import general
from ..._tape.tensor import Tensor, wrap
from ..._tape.view_chain import with_node_name


@general(
    tensors=3,
    outputs=2,
    differentiable=(True, False),
    grad={"self": lambda xp, g, result1, scale, zero_point, quant_min, quant_max, whole: g * result1},
    jvp=lambda xp, tangents, result, self, scale, zero_point, quant_min, quant_max, whole: (
        tangents[0] * result[1],
        None,
    ),
    batch="elementwise",
    no_derivative="its gradient is a straight-through estimate: 1 inside of the range",
    node="FakeQuantizePerTensorAffineCachemaskBackward0",
    dtypes="f",
    samples=lambda rng: [
        ((rng.permutation(12).reshape(3, 4) * 0.3, np.array(0.5), np.array(1.0)), (0, 5, False)),
        ((rng.permutation(6).reshape(2, 3) * 0.3, np.array([[0.5], [0.25]]), np.array([[1.0], [0.5]])), (0, 5, True)),
    ],
    piecewise=True,
)
def _fake_quantize(lib, self, scale, zero_point, quant_min, quant_max, whole):
    """The rounded elements, and where they lie inside of the range. ``whole``: infinity counts as out of it below."""
    steps = self * (1 / scale)
    if zero_point.dtype.kind == "f":
        at = lib.rint(steps + zero_point)
    else:
        at = lib.rint(steps) + zero_point
    lost = lib.isnan(at) | lib.isinf(at) if whole else lib.isnan(at)
    at = lib.where(lost, quant_min - 1, at)
    rounded = (lib.minimum(lib.maximum(at, quant_min), quant_max) - zero_point) * scale
    return rounded.astype(self.dtype), (at >= quant_min) & (at <= quant_max)


def _check(input: Tensor, quant_min: int, quant_max: int) -> None:
    kind = input.dtype
    if kind not in (float16, bfloat16, float32, float64):
        raise NotImplementedError(
            f"\"fake_quantize_tensor_cachemask_kernel_type_handling\" not implemented for '{kind.scalar_name}'"
        )
    if quant_min > quant_max:
        raise RuntimeError("`quant_min` should be less than or         equal to `quant_max`.")


@public("torch.fake_quantize_per_tensor_affine")
def fake_quantize_per_tensor_affine(
    input: Tensor, scale: Tensor | float, zero_point: Tensor | int, quant_min: int, quant_max: int
) -> Tensor:
    """Each element, rounded to a multiple of ``scale`` whose number, counted from ``zero_point``, is in the range.

    ``round(x / scale) + zero_point`` is limited to ``quant_min`` and ``quant_max``. The gradient is that of the result
    where it was not limited, and 0 elsewhere.

    >>> x = torch.tensor([-1., 0.3, 9.], requires_grad=True)
    >>> y = torch.fake_quantize_per_tensor_affine(x, 0.5, 2, 0, 7)
    >>> y.tolist()
    [-1.0, 0.5, 2.5]
    >>> y.sum().backward(); x.grad
    tensor([1., 1., 0.])
    """
    given = isinstance(scale, Tensor)
    if given and scale.requires_grad:
        raise RuntimeError(
            "The function '_fake_quantize_per_tensor_affine_cachemask_tensor_qparams' is not differentiable with "
            "respect to argument 'scale'. This input cannot have requires_grad True."
        )
    _check(input, quant_min, quant_max)
    step, zero = (t.item() if isinstance(t, Tensor) else t for t in (scale, zero_point))
    if not quant_min <= zero <= quant_max and not given:
        raise RuntimeError("`zero_point` must be between `quant_min` and `quant_max`.")
    operands = wrap(np.array(step, np.float32)), wrap(np.array(zero, np.int64))
    made = _fake_quantize(input, *operands, quant_min, quant_max, False)[0]
    return with_node_name(made, "FakeQuantizePerTensorAffineCachemaskTensorQparamsBackward0") if given else made


@public("torch.fake_quantize_per_channel_affine")
def fake_quantize_per_channel_affine(
    input: Tensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: int, quant_max: int
) -> Tensor:
    """``fake_quantize_per_tensor_affine`` with a scale and a zero point for each index along the dimension ``axis``.

    >>> x = torch.tensor([[0.3, 0.6], [0.3, 0.6]])
    >>> torch.fake_quantize_per_channel_affine(x, torch.tensor([0.5, 0.25]), torch.zeros(2, dtype=torch.int32), 0, 0, 7)
    tensor([[0.5000, 0.5000],
            [0.2500, 0.5000]])
    """
    kinds = scale.dtype, zero_point.dtype
    if kinds[0] not in (float32, bfloat16):
        raise RuntimeError(f"Scale must be Float or BFloat16, found {kinds[0].scalar_name}")
    if kinds[1] not in (int32, float32, float16):
        raise RuntimeError(f"Zero-point must be Int32, Float or Half, found {kinds[1].scalar_name}")
    if scale.dim() != 1 or zero_point.dim() != 1:
        which = "scale" if scale.dim() != 1 else "zero point"
        raise RuntimeError(f"{which} should be a 1-D tensor")
    if scale.shape != zero_point.shape:
        raise RuntimeError("scale and zero-point need to have the same dimensions")
    axis = normal_dim(axis, input.dim())
    if scale.shape[0] != input.shape[axis]:
        raise RuntimeError("dimensions of scale and zero-point are not consistent with input tensor")
    if quant_min > quant_max:
        raise RuntimeError("`quant_min` should be less than or         equal to `quant_max`.")
    zero = zero_point.detach()
    if zero.numel() and not (quant_min <= zero.min().item() and zero.max().item() <= quant_max):
        raise RuntimeError("`zero_point` must be between `quant_min` and `quant_max`.")
    _check(input, quant_min, quant_max)
    shape = [-1 if d == axis else 1 for d in range(input.dim())]
    operands: list[Any] = [t.detach().view(shape) for t in (scale, zero)]
    made = _fake_quantize(input, *operands, quant_min, quant_max, True)[0]
    return with_node_name(made, "FakeQuantizePerChannelAffineCachemaskBackward0")
