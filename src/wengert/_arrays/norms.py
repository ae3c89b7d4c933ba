"""Normalisation by mean and deviation over any dims of a view of the input: ``normalized`` and ``norm_cotangents``.

Small inputs go to ``norms_small``, large ones to ``norms_large``. Sums over a contiguous last dim are left to BLAS.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._base.registry import plain
from . import norms_large, norms_small
from .compiled import FEWEST, with_kernel
from .large import column_sums, row_products, row_sums, sum_over
from .library import in_lib
from .sums import count_of
from .threads import among_rows

Dims = tuple[int, ...]
Ints = tuple[int, ...]
_LONG = 65536  # longer rows are added up pairwise


def sums_over(x: Any, dims: Dims, y: Any = None) -> Any:
    """The sums of x (of x * y) over some dimensions, kept."""
    n = x.shape[-1]
    if dims[-1] == x.ndim - 1 and 1 < n <= _LONG:
        s = row_sums(x) if y is None else row_products(y, x)
        rest = dims[:-1]
        if rest:
            s = sum_over(s, rest, True)
        return s[..., None]
    if y is not None:
        x = x * y
    if dims[0] == 0 and n == 1 and x.ndim == 3 and dims == (0, 2):
        return column_sums(x.reshape(x.shape[:2])).reshape(1, x.shape[1], 1)
    return sum_over(x, dims, True)


@in_lib
def standardized(x: Any, dims: Dims, eps: float, center: bool) -> tuple[Any, Any, Any, Any]:
    """``(x - mean) / sqrt(var + eps)`` over some dimensions, 1 / that root, the mean and the variance."""
    n = max(count_of(x.shape, dims), 1)
    mean = r = None
    if center:
        mean = sums_over(x, dims)
        mean /= n
        r = x - mean
    var, scale = _spread(x if r is None else r, dims, n, eps)
    if r is None:
        return x * scale, scale, mean, var
    if x.dtype.itemsize == 4 and x.size and not np.maximum.reduce(abs(mean * scale), None) <= norms_large.FAR:
        rest = sums_over(r, dims)  # the sum of large numbers has lost digits that count
        rest /= n
        r -= rest
        mean += rest
        var, scale = _spread(r, dims, n, eps)
    return np.multiply(r, scale, r), scale, mean, var


@plain
def plain_standardized(lib: Any, x: Any, dims: Dims, eps: float, center: bool) -> tuple[Any, Any, Any, Any]:
    mean = x.mean(dims, keepdims=True) if center else None
    r = x - mean if center else x
    var = (r * r).mean(dims, keepdims=True)
    scale = 1 / lib.sqrt(var + eps)
    return r * scale, scale, mean, var


def _spread(r: Any, dims: Dims, n: int, eps: float) -> tuple[Any, Any]:
    """The mean squares, and one over the root of them and eps."""
    var = sums_over(r, dims, r)
    var /= n
    scale = var + eps
    np.sqrt(scale, scale)
    np.reciprocal(scale, scale)
    return var, scale


def widened(x: Any) -> Any:
    """Half precision is computed in float32."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


_MEDIUM = 1 << 15  # elements from which NumPy's buffer matters


@in_lib
def normalized(input: Any, weight: Any, bias: Any, view: Any, dims: Dims, eps: float, along: Any, stats: Any) -> Any:
    """The input standardised over ``dims`` of its ``view``, scaled and shifted along the dimensions ``along``.

    ``stats``: a list that receives the mean, the inverse deviation and the variance for a backward pass that is not
    differentiated again; for a small input it receives the one value that ``norms_small`` needs instead.
    """
    if norms_small.suits(input, view, dims):
        r, found = norms_small.norm(input, view, weight, bias, eps, along)
        if stats is not None:
            stats[:] = (found,)
        return r
    if input.size < _MEDIUM:
        return _normalized(input, weight, bias, view, dims, eps, along, stats)
    return among_rows(view[-1], lambda: _normalized(input, weight, bias, view, dims, eps, along, stats))


@plain
def plain_normalized(
    lib: Any, input: Any, weight: Any, bias: Any, view: Any, dims: Dims, eps: float, along: Any, stats: Any
) -> Any:
    r = lib.standardized(widened(input).reshape(view), dims, eps, True)[0].reshape(input.shape)
    r = r if weight is None else r * weight.reshape(along)
    r = r if bias is None else r + bias.reshape(along)
    return r.astype(input.dtype, copy=False)


@with_kernel("compiled_rows.normalized", least=FEWEST)
def _normalized(input: Any, weight: Any, bias: Any, view: Any, dims: Dims, eps: float, along: Any, stats: Any) -> Any:
    if input.dtype.itemsize > 2 and norms_large.suits(input, view, dims):
        r, *found = norms_large.forward(input, weight, bias, view, eps, along)
        if stats is not None:
            stats[:] = found
        return r
    r, scale, mean, var = standardized(widened(input).reshape(view), dims, eps, True)
    if stats is not None:
        stats[:] = [mean, scale, var]
        if input.dtype.itemsize == 2 and (weight is None or weight.dtype is input.dtype):
            stats[:] = [widened(a.astype(input.dtype)) for a in stats]  # PyTorch's backward pass gets them rounded
    r = r.reshape(input.shape)
    if weight is not None:
        np.multiply(r, weight.reshape(along), r)
    if bias is not None:
        np.add(r, bias.reshape(along), r)
    return r.astype(input.dtype, copy=False)


def _along_sums(x: Any, along: Any, y: Any = None) -> Any:
    """The sums of x (of x * y) over all dimensions except those of the weights."""
    k = len(along)
    if x.shape[-k:] == along:
        if y is not None:
            x = x * y
        rows = math.prod(x.shape[:-k])
        x = x.reshape(rows, math.prod(along))
        return (column_sums(x) if rows <= _LONG else sum_over(x, 0)).reshape(along)
    view = (x.shape[0], along[0], math.prod(x.shape[2:]))
    return sums_over(x.reshape(view), (0, 2), None if y is None else y.reshape(view)).reshape(along)


@in_lib
def norm_cotangents(
    g: Any, x: Any, weight: Any, bias_shape: Any, needs: Any, view: Any, dims: Dims, along: Any, stats: Any
) -> tuple[Any, Any, Any]:
    """The cotangents of input, weight and bias from the statistics that the forward pass left."""
    given = (g, x, weight, bias_shape, needs, view, dims, along, stats)
    return _cotangents(*given) if x.size < _MEDIUM else among_rows(view[-1], lambda: _cotangents(*given))


@with_kernel("compiled_rows.cotangents", 1, FEWEST)
def _cotangents(
    g: Any, x: Any, weight: Any, bias_shape: Any, needs: Any, view: Any, dims: Dims, along: Any, stats: Any
) -> tuple[Any, Any, Any]:
    dtype, shape = x.dtype, x.shape
    mean, scale, _ = stats
    if dtype.itemsize > 2 and norms_large.suits(x, view, dims):
        gx, gw, gb = norms_large.backward(g, x, weight, needs, view, along, mean, scale)
        return gx, None if gw is None else gw.reshape(weight.shape), None if gb is None else gb.reshape(bias_shape)
    g, x = widened(g), widened(x)
    gx = np.empty(shape, x.dtype)  # an array of its own, not a view, may be given away as a gradient
    z = np.subtract(x.reshape(view), mean, gx.reshape(view))
    z *= scale
    gw = gb = None
    if needs[1]:
        gw = _along_sums(g, along, gx).reshape(weight.shape).astype(weight.dtype, copy=False)
    if needs[2]:
        gb = _along_sums(g, along).reshape(bias_shape).astype(dtype, copy=False)
    if not needs[0]:
        return None, gw, gb
    gh = (g if weight is None else g * weight.reshape(along)).reshape(view)
    n = max(count_of(view, dims), 1)
    z *= sums_over(z, dims, gh) / -n
    z += gh
    z -= sums_over(gh, dims) / n
    z *= scale
    return gx.astype(dtype, copy=False), gw, gb
