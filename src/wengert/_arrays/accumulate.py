"""Adding values at positions that may repeat, in the order of the values, as PyTorch does.

NumPy's ``add.at`` adds single elements, not rows. A product with a sparse matrix adds rows: column ``j`` of the matrix
has its one 1 in row ``at[j]``, and SciPy's compiled product adds the values' row ``j`` there. For single elements the
same loop takes the values as the matrix and a 1 as the vector. The sums equal those of ``add.at`` to the digit, because
nothing is reordered and multiplication by 1 is exact.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .compiled import with_kernel

_FEW = 128  # elements up to which add.at is faster than preparing the other's arguments
_ELEMENTS = 2048  # the same for single elements, where the two differ less
_COMPILED = frozenset("bBhHiIlLqQfd")  # element types of the compiled loops; complex numbers go as pairs


@functools.cache
def _compiled() -> Any:
    """SciPy's module of compiled sparse products, or ``None`` if SciPy lacks it."""
    from .scipy_functions import compiled

    return compiled("sparse._sparsetools")


def add_rows(r: Any, at: Any, run: int, values: Any) -> None:
    """Add up ``values`` in the contiguous array ``r``, in runs of ``run`` elements; ``at`` is the number of each run.

    The numbers are in range and not negative.
    """
    _add_rows(values, r, at.reshape(-1), run)


def sum_rows(size: tuple[int, ...], at: Any, run: int, values: Any) -> Any:
    """``add_rows`` to zeros."""
    return _sum_rows(values, at.reshape(-1), run, size)


@with_kernel("compiled_places.sum_rows", least=1 << 18)
def _sum_rows(values: Any, at: Any, run: int, size: tuple[int, ...]) -> Any:
    r = np.zeros(size, values.dtype)
    _add_rows(values, r, at, run)
    return r


@with_kernel("compiled_places.add_rows", least=1 << 18)
def _add_rows(values: Any, r: Any, at: Any, run: int) -> None:
    at, flat = at.reshape(-1), r.reshape(-1)
    values = np.ascontiguousarray(values).reshape(-1)
    if flat.dtype.kind == "c":
        run, flat, values = 2 * run, _parts(flat), _parts(values)
    n = at.size
    few = values.size < (_FEW if run > 1 else _ELEMENTS)
    tools = None if few or flat.dtype.char not in _COMPILED else _compiled()
    if tools is None:
        if run > 1 and few:
            flat, values = flat.reshape(-1, run), values.reshape(n, run)
        elif run > 1:
            at = (at.astype(np.int64)[:, None] * run + np.arange(run)).reshape(-1)
        np.add.at(flat, at, values)
    elif run > 1:
        first = np.arange(n + 1, dtype=at.dtype)
        tools.csc_matvecs(flat.size // run, n, run, first, at, np.ones(n, flat.dtype), values, flat)
    else:
        tools.csc_matvec(flat.size, 1, np.array((0, n), at.dtype), at, values, np.ones(1, flat.dtype), flat)


def add_weighed_rows(r: Any, at: Any, weights: Any, rows: Any) -> None:
    """Add ``weights[i, k] * rows[i]`` to ``r[at[i, k]]``, ``i`` by ``i``; contiguous arrays of floats."""
    n, many = at.shape
    tools = _compiled() if r.dtype.char in _COMPILED else None
    if tools is None:
        return add_rows(r, at, r.shape[1], weights[..., None] * rows[:, None])
    first = np.arange(0, n * many + 1, many, dtype=at.dtype)
    return tools.csc_matvecs(len(r), n, r.shape[1], first, at.ravel(), weights.ravel(), rows.ravel(), r.ravel())


def _parts(x: Any) -> Any:
    """Complex numbers as pairs of real ones."""
    return x.view(x.real.dtype)
