"""Calls of compiled kernels (``compiled``) for the steps of recurrent layers, as in ``compiled_rows``."""

from __future__ import annotations

from typing import Any

import numpy as np

from .blas import blas
from .compiled import Kernels, dense


def _product(dtype: Any) -> Any:
    """The address of BLAS's product of matrices."""
    found = blas()
    return None if found is None else found[dtype == np.float64]


def lstm_steps(k: Kernels, w: Any, z: Any, cell: Any, factors: Any, cells: Any) -> Any:
    """``recurrent._lstm_steps``."""
    gemm = _product(z.dtype)
    if gemm is None or not dense(w, z, cell, factors, cells):
        return None
    n, batch = cell.shape
    sizes = (gemm, len(z) - 1, z.shape[1], n, batch)
    gates = np.empty((4, n, batch), z.dtype)
    k.call("lstm_steps", z.dtype, 1, 1, sizes, (), w, z, cell, factors if len(factors) else None, cells, gates)
    return True


def lstm_steps_back(
    k: Kernels, factors: Any, back: Any, both: Any, given: Any, given_cells: Any, d: Any, to_first: bool
) -> Any:
    """``recurrent._lstm_steps_back``."""
    gemm = _product(d.dtype)
    states = given if type(given) is np.ndarray else None
    if states is None and any(a is not None for a in given):
        return None
    if gemm is None or any(a is not None for a in given_cells) or not dense(factors, back, both, states, d):
        return None
    length, _, n, batch = factors.shape
    sizes = (gemm, length, n, batch, to_first)
    k.call("lstm_steps_back", d.dtype, 1, 1, sizes, (), factors, back, both, states, d)
    return True
