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


def _call(k: Kernels, name: str, states: Any, length: int, more: tuple[int, ...], *arrays: Any) -> Any:
    """Run the steps of a layer whose states are (features, batch)."""
    gemm = _product(states.dtype)
    if gemm is None or not dense(states, *arrays):
        return None
    k.call(name, states.dtype, 1, 1, (gemm, length, *states.shape[-2:], *more), (), *arrays)
    return True


def _each(given: Any) -> tuple[bool, Any]:
    """Whether the cotangents of each step are all there or none, and these."""
    there = type(given) is np.ndarray
    return there or all(a is None for a in given), given if there else None


def lstm_steps(k: Kernels, w: Any, z: Any, cell: Any, factors: Any, cells: Any) -> Any:
    """``recurrent._lstm_steps``."""
    gates = np.empty((4, *cell.shape), z.dtype)
    kept = factors if len(factors) else None
    return _call(k, "lstm_steps", cell, len(z) - 1, (z.shape[1],), w, z, cell, kept, cells, gates)


def lstm_steps_back(
    k: Kernels, factors: Any, back: Any, both: Any, given: Any, given_cells: Any, d: Any, to_first: bool
) -> Any:
    """``recurrent._lstm_steps_back``."""
    suits, states = _each(given)
    if not suits or any(a is not None for a in given_cells):
        return None
    return _call(k, "lstm_steps_back", factors, len(factors), (to_first,), factors, back, both, states, d)


def gru_steps(k: Kernels, sums: Any, from_state: Any, from_input: Any, z: Any, gates: Any) -> Any:
    """``recurrent._gru_steps``."""
    keep = bool(gates.strides[0])
    shape = (len(sums) // 2, z.shape[2])
    given = gates if keep else gates[0]
    weights = [np.ascontiguousarray(a) for a in (sums, from_state, from_input)]
    states = given.reshape(-1, *shape)
    return _call(k, "gru_steps", states, len(z) - 1, (z.shape[1], keep), *weights, z, given)


def gru_steps_back(k: Kernels, gates: Any, z: Any, back: Any, dh: Any, given: Any, d: Any) -> Any:
    """``recurrent._gru_steps_back``."""
    suits, states = _each(given)
    if not suits:
        return None
    return _call(k, "gru_steps_back", dh, len(gates), (z.shape[1],), gates, z, back, dh, states, d, np.empty_like(dh))


def rnn_steps(k: Kernels, z: Any, w: Any, tanh: bool) -> Any:
    """``recurrent._rnn_steps``."""
    states = z[0, z.shape[1] - len(w) :]
    return _call(k, "rnn_steps", states, len(z) - 1, (z.shape[1], tanh), w, z)


def rnn_steps_back(k: Kernels, d: Any, back: Any, dh: Any, given: Any) -> Any:
    """``recurrent._rnn_steps_back``."""
    suits, states = _each(given)
    return _call(k, "rnn_steps_back", dh, len(d), (), back, d, dh, states) if suits else None
