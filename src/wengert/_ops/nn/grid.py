"""Sampling images and volumes at given places: ``grid_sample`` and ``affine_grid``.

A sample is a weighted sum of the elements around it, with weights that are products over the dimensions. ``sample_at``
takes an *order* of derivative for each dimension: the weights may be those of any derivative with respect to the place.
So the derivative of a sample with respect to its place is a sample of one order more. ``spread_from``, the transpose of
``sample_at``, has the same orders, so the two are closed under differentiation.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._arrays import intp
from ..._arrays.accumulate import add_weighed_rows
from ..._arrays.grid import Ints, weighed_neighbours
from ..._base.errors import warn
from ..._base.registry import ARRAYS, plain_body, public
from ..._kinds.general import general, named_by
from ..._kinds.linear import linear
from ..._kinds.slow_path import require
from ..._tape.error_text import two_dtypes
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import Tensor
from ..create.spaces import _spaced
from ..linalg.matmul import dtype_name

_BLOCK = 1 << 15  # elements


# ---- operators
def _place_cotangent(xp: Any, g: Any, input: Any, grid: Any, mode: str, padding: str, align: bool, orders: Ints) -> Any:
    """The cotangent of the grid: for each coordinate the sample of one order more, times g, over the channels."""
    k = len(orders)
    parts = []
    for d in range(k - 1, -1, -1):
        higher = tuple(o + (i == d) for i, o in enumerate(orders))
        parts.append(xp.sum_dim(g * xp.sample_at(input, grid, mode, padding, align, higher), (1,), False))
    return xp.stack(parts, k + 1)


def _samples(rng: Any) -> Any:
    found: list[Any] = []
    for mode in ("bilinear", "nearest", "bicubic"):
        for padding in ("zeros", "border", "reflection"):
            for align in (False, True):
                grid = rng.uniform(-1.3, 1.3, (2, 2, 3, 2))
                found.append(((rng.standard_normal((2, 2, 3, 4)), grid), (mode, padding, align, (0, 0))))
    grid = rng.uniform(-1.2, 1.2, (1, 2, 2, 2, 3))
    found.append(((rng.standard_normal((1, 2, 3, 3, 2)), grid), ("bilinear", "zeros", False, (0, 0, 0))))
    found.append(
        ((rng.standard_normal((1, 1, 4, 4)), rng.uniform(-0.9, 0.9, (1, 2, 2, 2))), ("bicubic", "zeros", False, (0, 1)))
    )
    return found


def _spread_samples(rng: Any) -> Any:
    return [
        ((rng.standard_normal((*x.shape[:2], *grid.shape[1:-1])), grid), (x.shape[2:], *p))
        for (x, grid), p in _samples(rng)
    ]


@general(
    grad={
        "input": lambda xp, g, input_shape, grid, mode, padding, align, orders: xp.spread_from(
            g, grid, tuple(input_shape[2:]), mode, padding, align, orders
        ),
        "grid": _place_cotangent,
    },
    tensors=2,
    node="GridSampler2DBackward0",
    batch=("fold", 2),
    dtypes="f",
    samples=_samples,
)
def sample_at(lib, input, grid, mode, padding, align, orders):
    """``(N, C, *size)`` sampled at the places ``(N, *out, k)``, or derivatives of that with respect to the place."""
    samples, channels, *size = input.shape
    out = grid.shape[1:-1]
    flat_input = input.reshape(samples, channels, math.prod(size))
    r = lib.zeros((samples, channels, math.prod(out)), input.dtype)
    for flat, w in weighed_neighbours(lib, grid, tuple(size), mode, padding, align, orders):
        for n in range(samples):
            part = intp.take(flat_input[n], flat[n], 1)
            part *= w[n]
            r[n] += part
    return r.reshape(samples, channels, *out)


@plain_body
def plain_sample_at(lib, input, grid, mode, padding, align, orders):
    samples, channels, *size = input.shape
    rows: Any = input.reshape(samples, channels, math.prod(size))
    r: Any = lib.zeros((samples, channels, math.prod(grid.shape[1:-1])), input.dtype)
    for flat, w in weighed_neighbours(lib, grid, tuple(size), mode, padding, align, orders):
        r += lib.take_along_axis(rows, lib.broadcast_to(flat[:, None], r.shape), 2) * w[:, None]
    return r.reshape(samples, channels, *grid.shape[1:-1])


@general(
    grad={
        "g": lambda xp, h, grid, size, mode, padding, align, orders: xp.sample_at(
            h, grid, mode, padding, align, orders
        ),
        "grid": lambda xp, h, g, grid, size, mode, padding, align, orders: _place_cotangent(
            xp, g, h, grid, mode, padding, align, orders
        ),
    },
    tensors=2,
    batch=("fold", 2),
    dtypes="f",
    samples=_spread_samples,
)
def spread_from(lib, g, grid, size, mode, padding, align, orders):
    """The transpose of ``sample_at`` in its input of ``size``."""
    if g.dtype.itemsize == 2:  # SciPy's products have no half precision
        wide = lib.float32
        wider = ARRAYS.spread_from(g.astype(wide), grid.astype(wide), size, mode, padding, align, orders)
        return wider.astype(g.dtype)
    samples, channels = g.shape[:2]
    places, elements = math.prod(grid.shape[1:-1]), math.prod(size)
    r = lib.zeros((samples, channels, elements), g.dtype)
    corners = list(weighed_neighbours(lib, grid, size, mode, padding, align, orders))
    rows = g.reshape(samples, channels, places).swapaxes(1, 2)
    step = max(_BLOCK // max(channels * max(places, elements), 1), 1)  # small samples at a time
    for n in range(0, samples, step):
        some = slice(n, min(n + step, samples))
        total = lib.zeros((some.stop - n, elements, channels), g.dtype)
        begins = lib.arange(0, len(total) * elements, elements)[:, None] if elements else 0
        at = lib.stack([flat[some] + begins for flat, _ in corners], 2).reshape(-1, len(corners))
        weights = lib.stack([w[some] for _, w in corners], 2).reshape(at.shape)
        add_weighed_rows(total.reshape(-1, channels), at, weights, rows[some].reshape(-1, channels))
        r[some] = total.swapaxes(1, 2)
    return r.reshape(samples, channels, *size)


@plain_body
def plain_spread_from(lib, g, grid, size, mode, padding, align, orders):
    samples, channels = g.shape[:2]
    rows, n = g.reshape(samples, channels, -1), math.prod(size)
    r = lib.zeros(samples * channels * n, g.dtype)
    begins = (lib.arange(samples * channels) * n).reshape(samples, channels, 1)
    for flat, w in weighed_neighbours(lib, grid, size, mode, padding, align, orders):
        lib.add_at(r, (begins + flat[:, None]).reshape(-1), (rows * w[:, None]).reshape(-1))
    return r.reshape(samples, channels, *size)


named_by("sample_at", "orders", lambda orders: f"GridSampler{len(orders)}DBackward0")


def _base_grid(size: Ints, align: bool, dtype: Any) -> Any:
    """The places of an untransformed image's elements, with a 1 at the end: ``(elements, k + 1)``, x first."""
    lines = []
    for n in size:
        # Equal to PyTorch's to the bit: the places of an image that is not moved are at grid_sample's kinks.
        line = _spaced(-1, 1, n, dtype) if n > 1 else np.zeros(n, dtype)
        lines.append(line if align else line * dtype.type(n - 1) / dtype.type(n))
    axes = np.meshgrid(*lines, indexing="ij")
    return np.stack([*(a.reshape(-1) for a in axes[::-1]), np.ones(math.prod(size), dtype)], 1)


@linear(
    transpose=lambda xp, g, size, align_corners: xp.affine_grid_backward(g, size, align_corners),
    node="AffineGridGeneratorBackward0",
    batch="shape",
    dtypes="f",
    samples=[((2, 2, 3), ((3, 2), False)), ((1, 2, 3), ((3, 2), True)), ((1, 3, 4), ((2, 1, 3), False))],
)
def affine_places(lib, self, size, align_corners):
    """The places ``(*, *size, k)`` to which matrices ``(*, k, k + 1)`` take the elements of an image."""
    base = lib.table(_base_grid(size, align_corners, self.dtype))
    return lib.matmul(base, self.swapaxes(-1, -2)).reshape(*self.shape[:-2], *size, len(size))


@linear(
    transpose=lambda xp, g, size, align_corners: xp.affine_places(g, size, align_corners),
    batch="shape",
    dtypes="f",
    samples=[((2, 3, 2, 2), ((3, 2), False)), ((1, 2, 1, 3, 3), ((2, 1, 3), True))],
)
def affine_grid_backward(lib, self, size, align_corners):
    """The transpose of ``affine_places``."""
    k = len(size)
    base = lib.table(_base_grid(size, align_corners, self.dtype))
    g = self.reshape(*self.shape[: self.ndim - k - 1], math.prod(size), k)
    return lib.matmul(g.swapaxes(-1, -2), base)


# ---- public functions
_CHANGED = (
    "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
    "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details."
)


@public("nn.functional.grid_sample")
def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """Images ``(N, C, H, W)`` sampled at the places ``(N, Ho, Wo, 2)``, or volumes at ``(N, Do, Ho, Wo, 3)``.

    A place is (x, y) or (x, y, z), from -1 to 1 over the image: between the outermost centres with ``align_corners``,
    between the outermost edges without. ``padding_mode`` sets the values beyond: "zeros", "border" or "reflection".

    >>> image = torch.tensor([[[[1., 2.], [3., 4.]]]])
    >>> torch.nn.functional.grid_sample(image, torch.zeros(1, 1, 1, 2), align_corners=False)
    tensor([[[[2.5000]]]])
    """
    if mode not in _MODES:
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in _PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    if align_corners is None:
        warn(_CHANGED)
        align_corners = False
    _check_grid(input, grid, mode)
    orders = (0,) * (input._payload.ndim - 2)
    return sample_at(input, grid, mode, padding_mode, bool(align_corners), orders)


_MODES, _PADDINGS = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")


@public("torch.grid_sampler torch.grid_sampler_2d torch.grid_sampler_3d")
def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """``nn.functional.grid_sample`` with numbers for the modes.

    >>> x, grid = torch.tensor([[[[1., 2.]]]]), torch.tensor([[[[0., 0.]]]])
    >>> torch.grid_sampler(x, grid, 0, 0, True)
    tensor([[[[1.5000]]]])
    """
    return grid_sample(input, grid, _MODES[interpolation_mode], _PADDINGS[padding_mode], align_corners)


def _check_grid(input: Any, grid: Any, mode: str) -> None:
    x, g = tuple(input._payload.shape), tuple(grid._payload.shape)
    k = len(x) - 2
    if len(x) not in (4, 5) or len(g) != len(x):
        raise RuntimeError(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input with sizes "
            f"{list(x)} and grid with sizes {list(g)}"
        )
    if x[0] != g[0]:
        raise RuntimeError(
            f"grid_sampler(): expected grid and input to have same batch size, but got input with sizes {list(x)} and "
            f"grid with sizes {list(g)}"
        )
    if g[-1] != k:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {k} in last dimension, but got grid with sizes {list(g)}"
        )
    for d, n in enumerate(x[2:], 2):
        if n <= 0:
            raise RuntimeError(
                "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes "
                f"{list(x)} with dimension {d} being empty"
            )
    if mode == "bicubic" and k != 2:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    require(input, "fh", "grid_sampler_2d_cpu_kernel_impl" if k == 2 else "grid_sampler3d_cpu")
    if logical_dtype(input) is not logical_dtype(grid):
        raise two_dtypes(f"expected scalar type {dtype_name(input)} but found {dtype_name(grid)}")


@public("nn.functional.affine_grid")
def affine_grid(theta: Tensor, size: Any, align_corners: bool | None = None) -> Tensor:
    """The places for ``grid_sample`` that apply affine maps ``(N, 2, 3)`` to images of ``size`` ``(N, C, H, W)``.

    Or maps ``(N, 3, 4)`` to volumes ``(N, C, D, H, W)``.

    >>> torch.nn.functional.affine_grid(torch.tensor([[[1., 0., 0.], [0., 1., 0.]]]), (1, 1, 1, 2), align_corners=False)
    tensor([[[[-0.5000,  0.0000],
              [ 0.5000,  0.0000]]]])
    """
    if align_corners is None:
        warn(_CHANGED)
        align_corners = False
    if logical_dtype(theta).kind not in "fV":
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if len(size) not in (4, 5):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size "
            f"{size}."
        )
    k = len(size) - 2
    if tuple(theta._payload.shape[1:]) != (k, k + 1) or theta._payload.ndim != 3:
        raise ValueError(
            f"Expected a batch of {k}D affine matrices of shape Nx{k}x{k + 1} for size {size}. Got {theta.shape}."
        )
    if align_corners and min(size[-k:]) == 1:
        warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. This "
            "is not an intended use case of affine_grid. See the documentation of affine_grid for details."
        )
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    if theta._payload.shape[0] != size[0]:
        raise RuntimeError(
            f"Expected tensor to have size {size[0]} at dimension 0, but got size {theta._payload.shape[0]} for "
            "argument "
            "#2 'theta'"
        )
    return affine_places(theta, tuple(int(n) for n in size[2:]), bool(align_corners))
