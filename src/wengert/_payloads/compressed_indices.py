"""The indices of compressed sparse arrays: what they must hold, and the coordinates that they stand for.

The functions take a ``_payloads.compressed.Compressed``, for whose words see there.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._arrays import intp
from .._base.constants import sparse_csr
from .._base.dtypes import BY_NUMPY


def sizes(x: Any) -> tuple[int, int]:
    """The lengths of the major and of the minor dimension."""
    d = x.minor.ndim - 1
    rows, columns = x.shape[d : d + 2]
    return (rows, columns) if x.layout is sparse_csr else (columns, rows)


def check(x: Any, order: bool = True) -> None:
    """Raise PyTorch's error for the first invariant of the layout that indices and values do not hold.

    ``order``: also that the elements of each row are sorted and distinct. Without it, what remains is what keeps
    reading and writing inside of the arrays.
    """
    major, minor = ("row", "col") if x.layout is sparse_csr else ("col", "row")
    ends, inner = f"c{major}_indices", f"{minor}_indices"
    batch = x.ends.ndim - 1
    dense = x.values.ndim - batch - 1
    shapes = [list(a.shape[:batch]) for a in (x.ends, x.minor, x.values, x)]
    if batch < 0:
        raise RuntimeError(f"{ends} must have dimensionality >= 1 but got 0")
    if x.minor.ndim != batch + 1:
        raise RuntimeError(
            f"{ends} and {inner} dimensionalities must be equal but got {batch + 1} and {x.minor.ndim}, respectively"
        )
    if dense < 0:
        raise RuntimeError(
            f"values must have dimensionality > sum of batch and block dimensionalities (={batch} + 0) but got "
            f"{x.values.ndim}"
        )
    if x.ndim != batch + 2 + dense:
        raise RuntimeError(
            "tensor dimensionality must be sum of batch, base, and dense dimensionalities "
            f"(={batch} + 2 + {dense}) but got {x.ndim}"
        )
    if any(s != shapes[3] for s in shapes):
        raise RuntimeError(
            f"all batch dimensions of {ends} (={shapes[0]}), {inner} (={shapes[1]}), and values (={shapes[2]}) must be "
            f"equal to tensor batch dimensions (={shapes[3]})"
        )
    n, m = sizes(x)
    plural = {"row": "rows", "col": "columns"}[major]
    if x.ends.shape[-1] != n + 1:
        raise RuntimeError(
            f"{ends}.shape[-1] must be equal to the number of {plural} + 1 (={n + 1}), but got {x.ends.shape[-1]}"
        )
    nnz = x.values.shape[batch]
    if x.minor.shape[-1] != nnz:
        raise RuntimeError(
            f"{inner}.shape[-1] must be equal to nnz (={nnz}) as defined by values.shape[{batch}], but got "
            f"{x.minor.shape[-1]}"
        )
    if tuple(x.values.shape[batch + 1 :]) != x.shape[batch + 2 :] and not order:
        raise RuntimeError(f"values of shape {list(x.values.shape)} do not fit a tensor of shape {list(x.shape)}")
    kinds = [BY_NUMPY[a.dtype].scalar_name for a in (x.ends, x.minor)]
    if kinds[0] != kinds[1] and (order or not {*kinds} <= {"Int", "Long"}):
        raise RuntimeError(
            f"{ends} and {inner} must have the same dtype, bot got {kinds[0]} and {kinds[1]}, respectively"
        )
    if kinds[0] not in ("Int", "Long"):
        raise RuntimeError(f"{ends} and {inner} dtype must be Int or Long, but got {kinds[0]}")
    broken = _broken(x, n, m, nnz, order)
    if broken:
        plain = minor + ("s" if minor == "row" else "")
        words = broken.format(ends=ends, minor=inner, n=f"n{major}s", m=f"n{plain.rstrip('s')}s", nnz="nnz")
        raise RuntimeError(f"`{words}` is not satisfied.")


def _broken(x: Any, n: int, m: int, nnz: int, order: bool) -> str | None:
    """The invariant that the indices' values break, in the order of PyTorch's checks."""
    batches = math.prod(x.shape[: x.ends.ndim - 1])
    ends, minor = x.ends.reshape(batches, n + 1), x.minor.reshape(batches, nnz)
    if minor.size and (minor.min() < 0 or minor.max() >= m):
        return "0 <= {minor} < {m}"
    if not len(ends):
        return None
    if ends[:, 0].any():
        return "{ends}[..., 0] == 0"
    if (ends[:, -1] != nnz).any():
        return "{ends}[..., -1] == {nnz}"
    counts = ends[:, 1:] - ends[:, :-1]
    wrong = (counts < 0) | (counts > m if order else counts > nnz)
    unsorted = np.zeros_like(wrong)
    if order and nnz:
        ascends = np.ones((len(minor), nnz), bool)
        ascends[:, 1:] = minor[:, 1:] > minor[:, :-1]
        firsts = np.zeros((len(minor), nnz + 1), bool)
        np.put_along_axis(firsts, np.clip(ends[:, :-1], 0, nnz), True, 1)
        if not wrong.any():
            unsorted[:, 0] = (~ascends & ~firsts[:, :nnz]).any(1)
        else:  # each row by itself: a row may reach beyond the elements
            for b, i in zip(*np.nonzero(counts > 0), strict=True):
                first, last = ends[b, i], ends[b, i + 1]
                unsorted[b, i] = not 0 <= first <= last <= nnz or not ascends[b, first + 1 : last].all()
    for b, i in zip(*np.nonzero(wrong | unsorted), strict=True):
        if wrong[b, i]:
            return "0 <= {ends}[..., 1:] - {ends}[..., :-1] <= {m}"
        return (
            "{minor}[..., {ends}[..., i - 1]:{ends}[..., i]] for all i = 1, ..., {n} are sorted and distinct along the "
            "last dimension values"
        )
    return None


def places(x: Any) -> tuple[Any, Any, Any]:
    """The batch, the major and the minor index of each element, checked."""
    check(x, order=False)
    n, _ = sizes(x)
    counts = np.diff(x.ends.reshape(-1, n + 1), axis=1).reshape(-1)
    line = intp.repeat(np.arange(counts.size), counts)
    batch, major = np.divmod(line, n) if n else (line, line)
    return batch, major, x.minor.reshape(-1).astype(np.int64, copy=False)


def coordinates(x: Any) -> tuple[Any, Any, Any]:
    """The batch, the row and the column of each element, checked."""
    batch, major, minor = places(x)
    return (batch, major, minor) if x.layout is sparse_csr else (batch, minor, major)
