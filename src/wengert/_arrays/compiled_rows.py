"""Calls of compiled kernels (``compiled``) for rows, channels and sums: softmax, norms, cross entropy, sums.

Each function takes the library and the arguments of the NumPy function that it stands before, and returns its result,
or ``None`` where the arrays do not suit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .compiled import Kernels, dense

_TOGETHER = 32  # rows whose sums go into a double together, ROWS_AT_ONCE in ``entries.h``


def filled(k: Kernels, kernel: Any, *arrays: Any) -> Any:
    """``softmax_large.filled``."""
    x = arrays[0]
    if not dense(*arrays) or not x.shape[-1]:
        return None
    r, n = np.empty(x.shape, x.dtype), x.shape[-1]
    k.call(f"rows_{kernel.__name__}", x.dtype, x.size // n, 4 * n, (n,), (), r, *arrays)
    return r


def log_sum_exp(k: Kernels, x: Any) -> Any:
    """``softmax_large.log_sum_exp``."""
    if not dense(x):
        return None
    n = x.shape[-1]
    r = np.empty(x.shape[:-1], x.dtype)
    k.call("rows_logsumexp", x.dtype, r.size, 4 * n, (n,), (), r, x)
    return r


def cross_entropies(k: Kernels, x: Any, t: Any, keep: bool) -> Any:
    """``losses.cross_entropies``; the targets are in range."""
    if not dense(x) or t.dtype != np.int64:
        return None
    rows, n = x.shape
    losses, sums = np.empty(rows, x.dtype), np.empty(rows, x.dtype)
    e = np.empty(x.shape, x.dtype) if keep else None
    targets = np.ascontiguousarray(t)
    k.call("rows_cross_entropy", x.dtype, rows, 4 * n, (n, keep), (), losses, e, sums, x, targets)
    return losses, e, sums


def cross_entropy_slopes(
    k: Kernels, g: Any, t: Any, e: Any, sums: Any, dtype: Any, reduction: int, overwrite: bool
) -> Any:
    """``losses.cross_entropy_slopes``."""
    if sums is None or t.dtype != np.int64 or not dense(e, sums):
        return None
    rows, n = e.shape
    each = np.empty(rows, e.dtype)
    each[...] = g / rows if reduction == 1 else g
    r, targets = e if overwrite else np.empty_like(e), np.ascontiguousarray(t)
    k.call("rows_cross_entropy_slopes", e.dtype, rows, 4 * n, (n,), (), r, e, each, sums, targets)
    return r


# ---- norms
def _has_rows(x: Any, view: Any, dims: Any, along: Any) -> bool:
    """Whether it is a norm over rows, with weights by column."""
    return bool(
        dims == (1,)
        and len(view) == 2
        and x.shape[x.ndim - len(along) :] == along
        and view[1] == math.prod(along)
        and view[0] * view[1]
    )


def _groups(x: Any, view: Any, dims: Any, along: Any) -> Any:
    """The channels, their elements and the rows of a sample of a norm over rows with weights by channel."""
    if dims != (1,) or len(view) != 2 or math.prod(along[1:]) != 1 or x.ndim < 2 or x.shape[1] != along[0]:
        return None
    if not x.size or view[0] % len(x) or along[0] % (groups := view[0] // len(x)):
        return None
    return along[0] // groups, math.prod(x.shape[2:]), groups


def normalized(
    k: Kernels, x: Any, weight: Any, bias: Any, view: Any, dims: Any, eps: float, along: Any, stats: Any
) -> Any:
    """``norms._normalized``."""
    groups = None if _has_rows(x, view, dims, along) else _groups(x, view, dims, along)
    if not (groups or _has_rows(x, view, dims, along)) or not dense(x, weight, bias):
        return None
    rows, n = view
    r = np.empty(x.shape, x.dtype)
    mean, scale, var = (np.empty((rows, 1), x.dtype) for _ in range(3))
    name = "groups_norm" if groups else "rows_norm"
    k.call(name, x.dtype, rows, 4 * n, groups or (n,), (eps,), r, x, weight, bias, mean, scale, var)
    if stats is not None:
        stats[:] = [mean, scale, var]
    return r


def cotangents(
    k: Kernels, g: Any, x: Any, weight: Any, bias_shape: Any, needs: Any, view: Any, dims: Any, along: Any, stats: Any
) -> Any:
    """``norms._cotangents``."""
    groups = None if _has_rows(x, view, dims, along) else _groups(x, view, dims, along)
    if len(stats) != 3 or not (groups or _has_rows(x, view, dims, along)):
        return None
    g = np.ascontiguousarray(g)
    mean, scale, _ = stats
    if not dense(x, g, weight, mean, scale):
        return None
    rows, n = view
    blocks = -(-rows // _TOGETHER)
    gx = np.empty(x.shape, x.dtype) if needs[0] else None
    if groups:
        sums = np.empty((2, len(x), along[0]), x.dtype)
        k.call("groups_norm_back", x.dtype, rows, 8 * n, groups, (), gx, g, x, weight, mean, scale, *sums)
        both = np.add.reduce(sums, 1)
        return (
            gx,
            both[0].reshape(weight.shape) if needs[1] else None,
            both[1].reshape(bias_shape) if needs[2] else None,
        )
    parts = np.empty((blocks, 2 * n), x.dtype) if needs[1] or needs[2] else None
    size = 8 * n * _TOGETHER
    k.call("rows_norm_backward", x.dtype, blocks, size, (n, rows), (), gx, g, x, weight, mean, scale, parts)
    gw = gb = None
    if parts is not None:
        both = column_sums(k, parts)
        gw = both[:n].reshape(weight.shape) if needs[1] else None
        gb = both[n:].reshape(bias_shape) if needs[2] else None
    return gx, gw, gb


def channels(k: Kernels, input: Any, weight: Any, bias: Any, view: Any, eps: float, stats: Any) -> Any:
    """``batch_norm.normalized_channels``."""
    if not dense(input, weight, bias):
        return None
    n, c, m = view
    r = np.empty(input.shape, input.dtype)
    mean, scale, var = (np.empty(c) for _ in range(3))
    k.call("channels_norm", input.dtype, c, 4 * n * m, view, (eps,), r, input, weight, bias, mean, scale, var)
    if stats is not None:
        stats[:] = [mean, scale, var, mean.astype(input.dtype)[:, None]]
    return r


def channel_cotangents(
    k: Kernels, g: Any, input: Any, weight: Any, bias_shape: Any, needs: Any, view: Any, stats: Any
) -> Any:
    """``batch_norm.channel_cotangents``."""
    g = np.ascontiguousarray(g)
    if not dense(input, g, weight):
        return None
    n, c, m = view
    gx = np.empty(input.shape, input.dtype) if needs[0] else None
    gw = np.empty(weight.shape, input.dtype) if needs[1] else None
    gb = np.empty(bias_shape, input.dtype) if needs[2] else None
    mean, scale = (np.ascontiguousarray(a, np.float64) for a in stats[:2])
    k.call("channels_norm_backward", input.dtype, c, 8 * n * m, view, (), gx, gw, gb, g, input, weight, mean, scale)
    return gx, gw, gb


# ---- sums
def row_sums(k: Kernels, x: Any) -> Any:
    """``large._many_row_sums``."""
    n = x.shape[-1]
    if not n or not dense(x):
        return None
    r = np.empty(x.shape[:-1], x.dtype)
    k.call("sum_rows", x.dtype, r.size, n, (n,), (), r, x)
    return r


def whole_sum(k: Kernels, x: Any) -> Any:
    """``threads._sum``: sums of runs, added pairwise."""
    run = 1 << 15
    whole = x.size // run * run
    sums = np.add.reduce(row_sums(k, x[:whole].reshape(-1, run)))
    return sums + np.add.reduce(x[whole:]) if whole < x.size else sums


def column_sums(k: Kernels, x: Any) -> Any:
    """``large.column_sums``."""
    m, n = x.shape
    if not n or not dense(x):
        return None
    r = np.empty(n, x.dtype)
    k.call("sum_columns_of", x.dtype, -(-n // 256), 256 * m, (m, n), (), r, x)
    return r
