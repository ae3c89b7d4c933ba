"""Losses reduced to their mean or sum; the cross entropy of logits and classes, and its derivative."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._base.dtypes import FLOAT64
from .._base.registry import plain
from . import intp
from .compiled import FEWEST, with_kernel
from .large import sum_of
from .library import SQUARES_OF_ONES, in_lib, vdot, vector_of_ones
from .softmax_large import log_sums, row_starts
from .sums import mean_of_all, sum_of_all
from .threads import LARGE, among_rows, rows

NONE, MEAN, SUM = 0, 1, 2
REDUCTIONS = {"none": NONE, "mean": MEAN, "sum": SUM}


@in_lib
def reduced(r: Any, reduction: int) -> Any:
    """An array of losses, their mean or their sum; half precision is added up in float32."""
    if reduction == NONE:
        return r
    if r.itemsize > 2:
        return sum_of_all(r) if reduction == SUM else mean_of_all(r)
    total = np.add.reduce(r, None, np.float32)
    return (total if reduction == SUM else total / r.size if r.size else total * np.nan).astype(r.dtype)


@plain
def plain_reduced(lib: Any, r: Any, reduction: int) -> Any:
    if reduction == NONE:
        return r
    total = r.sum(None, r.dtype if r.itemsize > 2 else np.float32)
    if reduction == MEAN:
        total = total / r.size if r.size else total * math.nan
    return total.astype(r.dtype)


def reduced_losses(lib: Any, body: Any, reduction: int, *arrays: Any) -> Any:
    """The losses that an elementwise body computes, reduced; for large arrays block by block."""
    size = arrays[0].size
    if reduction == NONE or size < LARGE or arrays[0].itemsize == 2 or type(arrays[0]) is not np.ndarray:
        return lib.reduced(body(*arrays), reduction)
    total = sum_of(body, *arrays)
    return total / size if reduction == MEAN else total


# ---- few elements: Python's floats take less time than NumPy's functions
IN_PYTHON = 32  # elements of rows up to which they do


def total_at_targets(x: Any, t: Any) -> float:
    """The sum of the elements that the targets name."""
    total = 0.0
    for row, k in zip(x.tolist(), t.tolist(), strict=True):
        total += row[k]
    return total


def total_cross_entropy(x: Any, t: Any) -> float | None:
    """The sum of the cross entropies of a few rows; ``None`` where exponentials would be extreme."""
    total = 0.0
    try:
        for row, k in zip(x.tolist(), t.tolist(), strict=True):
            exponentials = sum(map(math.exp, row))
            if exponentials < 1e-290:
                return None
            total += math.log(exponentials) - row[k]
    except OverflowError:
        return None
    return total if total - total == 0 else None


def total_margins(x: Any, t: Any, p: int, margin: float) -> float:
    """The sum of ``max(0, margin - x[target] + x[j]) ** p`` over the other classes of a few rows."""
    total = 0.0
    for row, k in zip(x.tolist(), t.tolist(), strict=True):
        edge = margin - row[k]
        del row[k]
        for value in row:
            value += edge
            if value > 0:
                total += value if p == 1 else value * value
    return total


# ---- cross entropy
_SMALL_ROW, _SMALL = 64, 65536  # rows that products with ones add up, and how many (``SQUARES_OF_ONES``)
_SAFE_SQUARES = 480.0**2  # a sum of squares up to which exponentials in float64 have all digits
_exp: Any = np.exp
_log: Any = np.log


def _few_cross_entropies(x: Any, t: Any) -> tuple[Any, Any, Any] | None:
    """The losses of a few rows and their probabilities, in float64; ``None`` where exponentials would be extreme."""
    n = x.shape[1]
    w = x.astype(FLOAT64)
    if not vdot(w, w) <= _SAFE_SQUARES:
        return None
    p = _exp(w, w)
    p /= p.dot(SQUARES_OF_ONES[FLOAT64][n])
    losses = _log(intp.take(p, t + row_starts(len(x), n)))
    return np.negative(losses, losses), p, None


@with_kernel("compiled_rows.cross_entropies", least=FEWEST)
def cross_entropies(x: Any, t: Any, keep: bool) -> tuple[Any, Any, Any]:
    """The losses, the exponentials of each row times some factor (if ``keep``), and the rows' sums."""
    n = x.shape[1]
    if n <= _SMALL_ROW and x.size * n <= _SMALL:
        found = _few_cross_entropies(x, t)
        if found is not None:
            return found
    e = np.empty(x.shape, x.dtype) if keep else None
    losses, sums = np.empty(len(x), x.dtype), np.empty(len(x), x.dtype)

    def block(part: slice) -> None:
        r = np.empty_like(x[part]) if e is None else e[part]
        top, above, sums[part] = log_sums(x[part], r)
        top -= x[part].reshape(-1)[t[part] + row_starts(len(r), n)]
        np.add(top, above, losses[part])

    if x.size < LARGE:
        among_rows(n, lambda: block(slice(0, len(x))))
    else:
        rows(block, len(x), n)
    return losses, e, sums


def total_loss(losses: Any, dtype: Any, reduction: int) -> Any:
    """The losses reduced, in the dtype of the logits."""
    if reduction == NONE:
        return losses.astype(dtype, copy=False)
    n = len(losses)
    total = losses.dot(vector_of_ones(n, losses.dtype)) if n <= 1024 else np.add.reduce(losses)
    return dtype.type(total / n if reduction == MEAN else total)


@with_kernel("compiled_rows.cross_entropy_slopes", 2, FEWEST)
def cross_entropy_slopes(g: Any, t: Any, e: Any, sums: Any, dtype: Any, reduction: int, overwrite: bool) -> Any:
    """The cotangent of the logits: the probabilities, less one at the target, times the cotangent of each loss."""
    rows_, n = e.shape
    if reduction == MEAN:
        g = g / rows_
    if sums is None:  # a few probabilities in float64
        r = np.multiply(e, g if not g.ndim else g[:, None], e if overwrite else None)
        r = r.astype(dtype, copy=False)
    elif e.size < LARGE:
        r = np.multiply(e, (g / sums)[:, None], e if overwrite else None)
    else:
        r = e if overwrite else np.empty_like(e)
        scale = (g / sums)[:, None]
        rows(lambda part: np.multiply(e[part], scale[part], r[part]), rows_, n)
    r.reshape(-1)[t + row_starts(rows_, n)] -= g
    return r


# ---- negative log-likelihoods
def places_of_targets(shape: tuple[int, ...], target: Any, ignore_index: int) -> tuple[Any, Any]:
    """The index of each sample's element, and which samples count (``None``: all)."""
    keep = None
    wide = target if target.dtype == np.int64 else target.astype(np.int64)
    if ignore_index is not None:
        ignored = wide == ignore_index
        if ignored.any():
            keep = ~ignored
            wide = np.where(ignored, 0, wide)
    if len(shape) == 1:
        return (wide,), keep
    if len(shape) == 2:
        return (np.arange(shape[0]), wide), keep
    return tuple(
        wide if d == 1 else np.arange(n).reshape(-1, *(1,) * (len(shape) - 1 - max(d, 1))) for d, n in enumerate(shape)
    ), keep


def weights_of_targets(self_dtype: Any, index: Any, keep: Any, weight: Any, size: tuple[int, ...]) -> Any:
    """Each sample's weight, ``None`` if all are one."""
    if weight is None:
        return None if keep is None else keep.astype(self_dtype)
    w = weight[index[min(1, len(index) - 1)]]
    return w if keep is None else w * keep


_FEW = 4096


def in_unit_interval(a: Any) -> bool:
    """Whether all elements are in [0, 1]; nan is not, as in PyTorch."""
    if not isinstance(a, (np.ndarray, np.generic)) or not a.size:
        return True
    if type(a) is np.ndarray and a.size <= 8:
        for value in a.ravel().tolist():  # noqa: SIM110  a generator takes three times as long
            if not 0 <= value <= 1:
                return False
        return True
    if type(a) is np.ndarray and a.size <= _FEW:  # NumPy finds positions faster than values, that of nan first
        return bool(a.item(a.argmin()) >= 0 and a.item(a.argmax()) <= 1)
    return bool(np.minimum.reduce(a, None) >= 0 and np.maximum.reduce(a, None) <= 1)
