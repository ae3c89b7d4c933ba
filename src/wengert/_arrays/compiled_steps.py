"""Calls of compiled kernels (``compiled``) for the steps of recurrent layers, as in ``compiled_rows``."""

from __future__ import annotations

from typing import Any

import numpy as np

from .blas import blas
from .compiled import Kernels, dense
from .recurrent import ROWS, UNITS, in_rows


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


def _rows(k: Kernels, name: str, dtype: Any, rows: int, work: int, sizes: tuple[int, ...], *arrays: Any) -> None:
    """Run a part of an LSTM for each row of a batch; ``work``: the multiplications of one."""
    grain = max(min(rows // 2, ROWS), 1) if rows * work > ENOUGH else rows
    k.run(k.named(name, dtype), rows, grain, sizes, (), *arrays)


ENOUGH = 1 << 19  # multiplications that are worth another thread


def lstm_forward(
    k: Kernels, input: Any, h: Any, c: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, reverse: bool, ends: Any,
    tape: Any,
) -> Any:  # fmt: skip
    """``recurrent.lstm_forward``."""
    given = [None if a is None else np.ascontiguousarray(a) for a in (input, h, c, w_ih, w_hh, b_ih, b_hh)]
    if not dense(*given) or not in_rows(input, w_hh):
        return None
    input, h, c, *weights = given
    (length, batch, inputs), n, dtype = input.shape, w_hh.shape[1], input.dtype
    blocks, keep = -(-n // UNITS), tape is not None
    packed = np.empty(blocks * UNITS * 4 * (1 + inputs + n) + UNITS, dtype)
    k.call("lstm_packed", dtype, blocks, 8 * UNITS * 4 * (inputs + n), (inputs, n), (), packed, *weights)
    outputs, cells = np.empty((length, batch, n), dtype), None if ends is None else np.empty((length, batch, n), dtype)
    last, cell = np.empty((batch, n), dtype), np.empty((batch, n), dtype)
    factors, states = (np.empty((length, batch, 6, n), dtype), np.empty_like(outputs)) if keep else (None, None)
    made = outputs, last, cell, factors, states, cells
    sizes = length, batch, inputs, n, reverse
    _rows(k, "lstm_forward", dtype, batch, 4 * length * n * (inputs + n), sizes, *made, input, h, c, packed)
    if keep:
        tape[:] = [factors, states]
    if ends is None:
        return outputs, last, cell
    at = _places(ends, length, reverse)
    return outputs, outputs[at], cells[at]  # type: ignore[index]


def _places(ends: Any, length: int, reverse: bool) -> tuple[Any, Any]:
    """Where each row's last state lies among the outputs."""
    return length - 1 - ends if reverse else ends, np.arange(len(ends))


def lstm_gate_cotangents(k: Kernels, g: Any, w_hh: Any, reverse: bool, ends: Any, factors: Any) -> Any:
    """``recurrent.lstm_gate_cotangents``."""
    (length, batch, _, n), dtype = factors.shape, factors.dtype
    if ends is not None and g[2] is not None:
        return None
    if ends is not None and g[1] is not None:
        outputs = np.zeros((length, batch, n), dtype) if g[0] is None else g[0].copy()
        outputs[_places(ends, length, reverse)] += g[1]
        g = outputs, None, None
    given = [None if a is None else np.ascontiguousarray(a) for a in (factors, w_hh, *g)]
    if not dense(*given):
        return None
    factors, w_hh, *g = given
    packed = np.empty(-(-n // (4 * UNITS)) * 4 * UNITS * 4 * n + UNITS, dtype)
    k.call("lstm_packed_back", dtype, 4 * n, n, (n,), (), packed, w_hh)
    d, dh, dc = np.empty((length * batch, 4 * n), dtype), np.empty((batch, n), dtype), np.empty((batch, n), dtype)
    sizes = length, batch, n, reverse
    _rows(k, "lstm_backward", dtype, batch, 4 * length * n * n, sizes, d, dh, dc, *g, factors, packed)
    return d.T, dh, dc


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
