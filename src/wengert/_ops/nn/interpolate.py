"""Resampling of images: ``interpolate`` in all its modes.

Every mode but "area" is linear and works on one dimension at a time: an output element is a weighted sum of a few
input elements, its *taps* (positions and weights, computed once per size, as ATen's UpSampleKernel does). ``upsample``
applies them, ``upsample_backward`` applies their transpose, and each is the other's derivative.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ..._arrays import intp
from ..._arrays.interpolation import (
    Scale,
    apply_matrix,
    apply_to_bytes,
    gather_taps,
    may_be_dense,
    scatter_taps,
    sum_runs,
    taps,
    taps_matrix,
)
from ..._arrays.layouts import always_rows, channels_last
from ..._base.dtypes import FLOATING
from ..._base.errors import warn
from ..._base.registry import TENSORS, plain_body, public
from ..._kinds.general import name_by_node
from ..._kinds.linear import linear
from ..._kinds.slow_path import require
from ..._tape.tensor import Tensor

# ---- one dimension


@functools.cache
def _kind(mode: str) -> str:
    for prefix in ("bi", "tri"):
        mode = mode.replace(prefix + "linear", "linear").replace(prefix + "cubic", "cubic")
    return mode


def _is_kept(x: Any, kind: str) -> bool:
    """Whether PyTorch leaves a dim that keeps its size as it is, whatever the scale. Not so the gradient."""
    return bool(kind.startswith("smooth ") or x.dtype == np.uint8)


# ---- operators
_SAMPLES = [
    ((1, 2, 3), ((5,), "nearest", False, (None,))),
    ((1, 2, 3, 4), ((6, 8), "nearest", False, (None, None))),
    ((1, 2, 3, 4), ((2, 3), "nearest-exact", False, (None, None))),
    ((1, 2, 4), ((7,), "linear", False, (None,))),
    ((1, 1, 3, 4), ((5, 2), "bilinear", True, (None, None))),
    ((1, 1, 3, 4), ((4, 6), "bilinear", False, (1.5, 1.5))),
    ((1, 1, 4, 4), ((6, 3), "bicubic", False, (None, None))),
    ((1, 1, 2, 3, 2), ((3, 2, 4), "trilinear", False, (None, None, None))),
    ((1, 1, 5, 4), ((2, 6), "smooth bilinear", False, (None, None))),
    ((1, 1, 5, 6), ((2, 3), "smooth bicubic", False, (None, None))),
]


@linear(
    layout=channels_last,
    transpose=lambda xp, g, self_shape, size, mode, align_corners, scales: xp.upsample_backward(
        g, tuple(self_shape[-len(size) :]), mode, align_corners, scales
    ),
    node="UpsampleNearest2DBackward0",
    batch="shape",
    dtypes="f",
    samples=_SAMPLES,
)
def upsample(lib, self, size, mode, align_corners, scales):
    """The last dimensions resampled to ``size``."""
    kind = _kind(mode)
    narrow = self.dtype.itemsize == 2 and self.dtype.kind in "fV"
    x = self.astype(np.float32) if narrow else self
    for d in range(self.ndim - 1, self.ndim - 1 - len(size), -1):
        k = d - self.ndim + len(size)
        n, out = x.shape[d], size[k]
        if n == out and _is_kept(x, kind):
            continue
        plan = (n, out, kind, align_corners, scales[k], x.dtype.char)
        if kind.startswith("nearest"):
            x = intp.take(x, taps(*plan)[0][:, 0], d)
        elif x.dtype == np.uint8:
            x = apply_to_bytes(x, d, *plan[:-1])
        elif may_be_dense(x, n, out):
            x = apply_matrix(x, d, taps_matrix(*plan))
        else:
            x = gather_taps(x, d, *taps(*plan))
    return x.astype(self.dtype) if narrow else x


@plain_body
def plain_upsample(lib, self, size, mode, align_corners, scales):
    x = self.astype(np.float32) if self.dtype.itemsize == 2 else self
    for k, out in enumerate(size):
        d = x.ndim - len(size) + k
        if x.shape[d] == out and _is_kept(x, _kind(mode)):
            continue
        positions, w = taps(x.shape[d], out, _kind(mode), align_corners, scales[k], x.dtype.char)
        parts = [lib.take(x, lib.table(positions[:, i]), d) for i in range(positions.shape[1])]
        rest = (1,) * (x.ndim - 1 - d)
        if w is not None:
            parts = [p * lib.table(w[:, i].astype(x.dtype)).reshape(-1, *rest) for i, p in enumerate(parts)]
        x = sum(parts[1:], parts[0])
    return x.astype(self.dtype, copy=False)


def _as_cotangent(fn: Any) -> Any:
    """The rule of layout: some of PyTorch's kernels write rows only."""
    kept, new = channels_last(fn), always_rows(fn)

    def run(g: Any, size: Any, mode: str, *p: Any) -> Any:
        in_order = _kind(mode).endswith("linear") or (len(size) == 2 and mode.startswith("nearest"))
        return (kept if in_order else new)(g, size, mode, *p)

    return run


@linear(
    layout=_as_cotangent,
    transpose=lambda xp, g, self_shape, size, mode, align_corners, scales: xp.upsample(
        g, tuple(self_shape[-len(size) :]), mode, align_corners, scales
    ),
    batch="shape",
    dtypes="f",
    samples=[((*shape[: -len(size)], *size), (shape[-len(size) :], *p)) for shape, (size, *p) in _SAMPLES],
)
def upsample_backward(lib, self, size, mode, align_corners, scales):
    """The transpose of ``upsample`` from ``size``."""
    kind = _kind(mode)
    narrow = self.dtype.itemsize == 2 and self.dtype.kind in "fV"
    g = self.astype(np.float32) if narrow else self
    for d in range(self.ndim - 1, self.ndim - 1 - len(size), -1):
        k = d - self.ndim + len(size)
        n, out = size[k], g.shape[d]
        plan = (n, out, kind, align_corners, scales[k], g.dtype.char)
        if kind.startswith("nearest"):
            g = sum_runs(g, d, taps(*plan)[0], n)
        elif may_be_dense(g, n, out):
            g = apply_matrix(g, d, taps_matrix(*plan).T)
        else:
            g = scatter_taps(g, d, *taps(*plan), n)
    return g.astype(self.dtype) if narrow else g


@plain_body
def plain_upsample_backward(lib, self, size, mode, align_corners, scales):
    g = self.astype(np.float32) if self.dtype.itemsize == 2 else self
    for k, n in enumerate(size):
        d = g.ndim - len(size) + k
        positions, w = taps(n, g.shape[d], _kind(mode), align_corners, scales[k], g.dtype.char)
        r, rows = lib.zeros((*g.shape[:d], n, *g.shape[d + 1 :]), g.dtype), g.swapaxes(0, d)
        for i in range(positions.shape[1]):
            weight = 1 if w is None else lib.table(w[:, i].astype(g.dtype)).reshape(-1, *(1,) * (g.ndim - 1))
            lib.add_at(r.swapaxes(0, d), lib.table(positions[:, i]), rows * weight)
        g = r
    return g.astype(self.dtype, copy=False)


def _node_name(n: Any) -> str:
    size, mode = n.params[:2]
    smooth = "Aa" if mode.startswith("smooth ") else ""
    word = "".join(part.capitalize() for part in mode.removeprefix("smooth ").split("-"))
    return f"Upsample{word}{len(size)}D{smooth}Backward0"


name_by_node("upsample", _node_name)


# ---- public functions
_RANKS = {"linear": 3, "bilinear": 4, "trilinear": 5, "bicubic": 4, "lanczos": 4}


def _sizes(input: Any, size: Any, scale_factor: Any, recompute: bool) -> tuple[tuple[int, ...], tuple[Scale, ...]]:
    """The output's size, and the given scales."""
    spatial = tuple(input._payload.shape[2:])
    k = len(spatial)
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        if not isinstance(size, (list, tuple)):
            size = [size] * k
        if len(size) != k:
            raise ValueError(
                "Input and output must have the same number of spatial dimensions, but got input with spatial "
                f"dimensions of {list(spatial)} and output size of {size}. Please provide input tensor in (N, C, d1, "
                "d2, ...,dK) format and output size in (o1, o2, ...,oK) format."
            )
        if any(isinstance(n, (bool, float)) or not hasattr(n, "__index__") for n in size):
            raise TypeError(
                "expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], but got "
                f"size with types {[type(x) for x in size]}"
            )
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        return tuple(n.__index__() for n in size), (None,) * k
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    factors = tuple(scale_factor) if isinstance(scale_factor, (list, tuple)) else (scale_factor,) * k
    if len(factors) != k:
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got input with spatial "
            f"dimensions of {list(spatial)} and scale_factor of shape {scale_factor}. Please provide input tensor in "
            "(N, C, d1, d2, ...,dK) format and scale_factor in (s1, s2, ...,sK) format."
        )
    factors = tuple(map(float, factors))
    size = tuple([math.floor(n * f) for n, f in zip(spatial, factors, strict=True)])
    return size, (None,) * k if recompute else factors


@public("nn.functional.interpolate")
def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """A batch of signals, images or volumes ``(N, C, ...)`` resampled to ``size``, or by ``scale_factor``.

    ``mode``: "nearest", "nearest-exact", "linear" (3-D input), "bilinear" and "bicubic" (4-D), "trilinear" (5-D) or
    "area". ``align_corners``: the corners' centres stay where they are. ``antialias``: for bilinear, bicubic and
    "lanczos", weigh all input elements when an image shrinks.

    >>> torch.nn.functional.interpolate(torch.tensor([[[1., 2., 4.]]]), scale_factor=2, mode="linear")
    tensor([[[1.0000, 1.2500, 1.7500, 2.5000, 3.5000, 4.0000]]])
    """
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | "
                "trilinear"
            )
    rank = input._payload.ndim
    out, scales = _sizes(input, size, scale_factor, bool(recompute_scale_factor) or (mode == "area" and size is None))
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and rank == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
        )
    if mode == "lanczos" and (align_corners or not antialias):
        raise ValueError(
            "Lanczos mode does not support align_corners=True"
            if align_corners
            else "Lanczos mode requires antialias=True"
        )
    if mode in _RANKS and rank in (3, 4, 5) and rank != _RANKS[mode] and mode not in ("bicubic", "lanczos"):
        raise NotImplementedError(f"Got {rank}D input, but {mode} mode needs {_RANKS[mode]}D input")
    if rank not in (3, 4, 5) or (mode not in ("nearest", "nearest-exact", "area") and rank != _RANKS.get(mode)):
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {rank}D) for the modes: nearest | linear | "
            f"bilinear | bicubic | trilinear | lanczos | area | nearest-exact (got {mode})"
        )
    if mode == "area":
        from . import pool

        return getattr(pool, f"adaptive_avg_pool{rank - 2}d")(input, out)
    _check_sizes(input, out, mode)
    return TENSORS.upsample(input, out, ("smooth " if antialias else "") + mode, bool(align_corners), scales)


def _check_sizes(input: Any, out: tuple[int, ...], mode: str) -> None:
    shape = tuple(input._payload.shape)
    if min(*out, *shape[2:]) <= 0:
        letters = "DHW"[3 - len(out) :]
        before, after = (
            ", ".join(f"{n}: {s}" for n, s in zip(letters, sizes, strict=True)) for sizes in (shape[2:], out)
        )
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input ({before}) and output ({after})"
        )
    if 0 in shape[1:]:
        raise RuntimeError(f"Non-empty {len(shape)}D data tensor expected but got a tensor with sizes {list(shape)}")
    if input._payload.dtype not in FLOATING:
        kernel = f"compute_indices_weights_{_WEIGHTS.get(mode, mode)}"
        if len(out) == 2 and mode != "bicubic" and sum(out) <= 128:
            kernel = f"upsample_{kernel.rpartition('_')[2].replace('linear', 'bilinear')}2d_channels_last"
        require(input, "fhu" if mode.startswith("nearest") or mode in ("bilinear", "bicubic") else "fh", kernel)


# PyTorch's kernels of interpolation, where they have another name than the mode.
_WEIGHTS = {"nearest-exact": "nearest", "bilinear": "linear", "trilinear": "linear", "bicubic": "cubic"}


def _deprecated(name: str, instead: str) -> None:
    warn(f"`nn.functional.{name}` is deprecated. Use `nn.functional.{instead}` instead.")


@public("nn.functional.upsample")
def old_upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Tensor:
    """Deprecated in PyTorch: see ``interpolate``.

    >>> torch.nn.functional.upsample(torch.tensor([[[1., 2.]]]), scale_factor=2)
    tensor([[[1., 1., 2., 2.]]])
    """
    _deprecated("upsample", "interpolate")
    return interpolate(input, size, scale_factor, mode, align_corners)


@public("nn.functional.upsample_nearest")
def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Deprecated in PyTorch: see ``interpolate``.

    >>> torch.nn.functional.upsample_nearest(torch.tensor([[[1., 2.]]]), scale_factor=2)
    tensor([[[1., 1., 2., 2.]]])
    """
    _deprecated("upsample_nearest", "interpolate")
    return interpolate(input, size, scale_factor, mode="nearest")


@public("nn.functional.upsample_bilinear")
def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Deprecated in PyTorch: ``interpolate`` with ``mode="bilinear", align_corners=True``.

    >>> torch.nn.functional.upsample_bilinear(torch.tensor([[[[1., 2.]]]]), size=(1, 3))
    tensor([[[[1.0000, 1.5000, 2.0000]]]])
    """
    _deprecated("upsample_bilinear", "interpolate")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
