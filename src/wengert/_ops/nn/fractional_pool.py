"""Fractional max pooling: maxima of windows at pseudo-random places, for a given output size.

Source: B. Graham, "Fractional Max-Pooling", 2014. Cotangents and tangents are scattered and gathered as in ``windows``.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from ..._arrays.pooling import random_corners
from ..._base.registry import TENSORS, plain_body, public
from ..._kinds.general import general, named_by
from ..._kinds.slow_path import no_complex_grad, require
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import Tensor
from ..random.random import rand

Ints = tuple[int, ...]


@general(
    tensors=2,
    outputs=2,
    differentiable=(True, False),
    grad={
        "self": lambda xp, g, self_shape, result1, kernel, out: xp.pool_scatter(
            g, result1, tuple(self_shape[-len(out) :]), False
        ),
    },
    jvp=lambda xp, tangents, result, self, samples, kernel, out: (
        xp.pool_gather(tangents[0], result[1], len(out)),
        None,
    ),
    batch="shape",
    node="FractionalMaxPool2DBackward0",
    dtypes="f",
    samples=lambda rng: [
        ((rng.permutation(40).reshape(2, 4, 5) * 0.25, rng.random((2, 2))), ((2, 2), (2, 3))),
        ((rng.permutation(60).reshape(1, 3, 4, 5) * 0.25, rng.random((1, 3, 2))), ((1, 3), (3, 1))),
        ((rng.permutation(96).reshape(2, 3, 4, 4) * 0.25, rng.random((2, 3))), ((2, 2, 2), (2, 2, 3))),
    ],
    piecewise=True,
)
def fractional_max(lib, self, samples, kernel, out):
    """The largest element of each window and its index; ``samples`` has one draw per plane and dimension."""
    size = self.shape[-len(out) :]
    samples = samples.astype(self.dtype, copy=False)
    lead = self.shape[: self.ndim - len(out)]
    corner = random_corners(samples, size, kernel, out).reshape(*lead, math.prod(out))
    planes = self.reshape(*lead, math.prod(size))
    best = np.full(corner.shape, -math.inf, self.dtype)
    where = corner.copy()
    for offset in itertools.product(*map(range, kernel)):
        place = corner + sum(o * math.prod(size[i + 1 :]) for i, o in enumerate(offset))
        candidate = np.take_along_axis(planes, place, -1)
        better = (candidate > best) | np.isnan(candidate)
        np.copyto(best, candidate, where=better)
        np.copyto(where, place, where=better)
    return best.reshape(*lead, *out), where.reshape(*lead, *out)


@plain_body
def plain_fractional_max(lib, self, samples, kernel, out):
    lead, size = self.shape[: self.ndim - len(out)], self.shape[self.ndim - len(out) :]
    corner = random_corners(lib.host(samples), size, kernel, out).reshape(*lead, math.prod(out), 1)
    offsets = [
        sum(o * math.prod(size[i + 1 :]) for i, o in enumerate(at)) for at in itertools.product(*map(range, kernel))
    ]
    places = lib.table(corner + np.array(offsets))
    x = lib.take_along_axis(self.reshape(*lead, 1, math.prod(size)), places, -1)
    best = ((x == x.max(-1, keepdims=True)) | (x != x)).argmax(-1, keepdims=True)
    values, index = (lib.take_along_axis(a, best, -1).reshape(*lead, *out) for a in (x, places))
    return values, index


named_by("fractional_max", "out", lambda out: f"FractionalMaxPool{len(out)}DBackward0")


# ---- public functions
def _each(value: Any, k: int, argument: str) -> Ints:
    if not isinstance(value, (tuple, list)):
        return (int(value),) * k
    if len(value) != k:
        ints = "Ints" if k == 2 else "three Ints"
        raise RuntimeError(f"fractional_max_pool{k}d: {argument} must either be a single Int or tuple of {ints}")
    return tuple(int(v) for v in value)


def _wanted(k: int, input: Tensor, output_size: Any, output_ratio: Any) -> Any:
    name = f"fractional_max_pool{k}d"
    if output_size is not None:
        return output_size
    if output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    ratios = output_ratio if isinstance(output_ratio, (tuple, list)) else (output_ratio,) * k
    if len(ratios) != k:
        raise ValueError(f"{name} requires output_ratio to either be a single Int or tuple of Ints.")
    return [int(n * r) for n, r in zip(input._payload.shape[-k:], ratios, strict=True)]


def _check_samples(k: int, samples: Tensor, batch: int, planes: int, dtype: Any) -> None:
    shape = tuple(samples._payload.shape)
    if logical_dtype(samples) != dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    if len(shape) != 3:
        raise RuntimeError(f"Expect _random_samples to have 3 dimensions, got {len(shape)}")
    if shape[0] < batch:
        raise RuntimeError("Expect _random_samples.size(0) no less then input batch size.")
    if shape[1] != planes:
        raise RuntimeError("Expect _random_samples.size(1) equals to input channel size.")
    if shape[2] != k:
        raise RuntimeError(f"Expect _random_samples.size(2) equals to {k}; got {shape[2]}.")


def _check_geometry(k: int, shape: Ints, kernel: Ints, out: Ints) -> None:
    name = f"fractional_max_pool{k}d" + ("_out" if k == 3 else "")
    for d in range(len(shape) - k - 1, len(shape)):
        if shape[d] == 0:
            raise RuntimeError(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but got{list(shape)} with "
                f"dimension {d} being empty."
            )
    for word, n, w, o in zip(("time", "height", "width")[-k:], shape[-k:], kernel, out, strict=True):
        if o + w - 1 + (k == 3) > n:  # a volume must be larger than its windows
            raise RuntimeError(f"{name}(): pool {word} {w} too large relative to input {word} {n}")
    if min(out) < 0:
        full = [*shape[:-k], *out]
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(out)}: {full}")


def _pool(k: int, input: Tensor, kernel: Any, output_size: Any, output_ratio: Any, samples: Tensor | None) -> Any:
    wanted = _wanted(k, input, output_size, output_ratio)
    shape = tuple(input._payload.shape)
    if len(shape) <= k:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-len(shape)}, {len(shape) - 1}], but got {-k - 1})"
        )
    if len(shape) > k + 2:
        raise RuntimeError(f"fractional_max_pool{k}d(): Expected {k + 1}D or {k + 2}D tensor, but got: {list(shape)}")
    batch, planes = (1 if len(shape) == k + 1 else shape[0]), shape[-k - 1]
    if samples is None:
        samples = rand(batch, planes, k, dtype=input.dtype, device=input.device)
    kernel, out = _each(kernel, k, "kernel_size"), _each(wanted, k, "output_size")
    _check_geometry(k, shape, kernel, out)
    _check_samples(k, samples, batch, planes, logical_dtype(input))
    if input._payload.size:
        require(input, "fh", f"fractional_max_pool{k}d_out_frame")
    no_complex_grad(f"fractional_max_pool{k}d", input)
    samples = samples[0] if len(shape) == k + 1 else samples[:batch]
    return TENSORS.fractional_max(input, samples, kernel, out)


def _pool_in(k: int, doc: str) -> None:
    """``fractional_max_pool2d`` or ``fractional_max_pool3d``, and the function ``..._with_indices``."""
    name = f"fractional_max_pool{k}d"

    def pool(
        input: Tensor,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Any:
        found = _pool(k, input, kernel_size, output_size, output_ratio, _random_samples)
        return found if return_indices else found[0]

    def with_indices(
        input: Tensor,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Any:
        return _pool(k, input, kernel_size, output_size, output_ratio, _random_samples)

    pool.__doc__, with_indices.__doc__ = doc, f"``{name}`` with ``return_indices=True``."
    public(f"nn.functional.{name}")(pool)
    public(f"nn.functional.{name}_with_indices")(with_indices)


_pool_in(
    2,
    """The largest elements of windows at random places of images ``(N, C, H, W)`` or ``(C, H, W)``.

    There are ``output_size`` of them along each dimension, or ``output_ratio`` of the input's size. The places are
    drawn for each plane; ``_random_samples`` ``(N, C, 2)`` replaces the draws. With ``return_indices`` also returns the
    index of each in the flattened image.

    >>> torch.nn.functional.fractional_max_pool2d(torch.arange(9.).view(1, 3, 3), 2, output_size=2)
    tensor([[[4., 5.],
             [7., 8.]]])
    """,
)
_pool_in(3, "The largest elements of windows at random places of volumes; see ``fractional_max_pool2d``.")
