"""The forward and backward passes of ``LSTM``, ``GRU`` and ``RNN`` over a whole sequence, on NumPy arrays.

The steps over time work on ``(features, batch)``, so that the values of one gate are one run of memory. The operands
of all steps are in one array ``z`` of shape ``(length + 1, inputs + 1 + hidden, batch)``: a step's input, ones for the
bias, and the state before it. A step writes its state into the next part of ``z``. The backward pass goes through time
with one product per step; each weight's cotangent is one product at the end.

Sequences of different lengths are padded at their ends: ``ends`` holds the step after which each of them has its last
state. The results of later steps are not used, so they have no cotangents.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .compiled import FEWEST, with_kernel
from .kernels import has_vector_functions
from .large import column_sums, row_sums
from .library import in_lib


def _with_bias(w_ih: Any, bias: Any, w_hh: Any) -> Any:
    """``[W_ih b W_hh]``, the factors of the parts of ``z``."""
    column = np.zeros((len(w_ih), 1), w_ih.dtype) if bias is None else bias[:, None]
    return np.concatenate([w_ih, column, w_hh], 1)


def _gates_exchanged(w: Any, order: Any) -> Any:
    """The rows of each gate in another order; a copy."""
    return w.reshape(len(order), -1, w.shape[1])[order].reshape(w.shape)


def _inputs_and_states(input: Any, h: Any, reverse: bool) -> Any:
    """``z`` with the inputs, the ones and the first state in place; see the module's docstring."""
    length, batch, inputs = input.shape
    z = np.empty((length + 1, inputs + 1 + h.shape[1], batch), input.dtype)
    z[:length, :inputs] = (input[::-1] if reverse else input).swapaxes(1, 2)
    z[:, inputs] = 1
    z[0, inputs + 1 :] = h.T
    return z


def _outputs(z: Any, inputs: int, reverse: bool, ends: Any) -> tuple[Any, Any]:
    """The outputs (L, N, H) and the last state."""
    states = z[1:, inputs + 1 :].swapaxes(1, 2)
    last = states[-1] if ends is None else states[ends, np.arange(len(ends))]
    return np.ascontiguousarray(states[::-1] if reverse else states), np.ascontiguousarray(last)


# NOTE [ The LSTM's memory ]
#     A step's values are in one block of eight parts, (features, batch) each:
#         input, output and forget gate; candidate; tanh of the cell;
#         input * candidate, output * tanh, forget * cell
#     The product with the weights fills the first four. The order lets a call work on neighbouring parts. A step of the
#     backward pass needs six parts, made from these while they are in the cache:
#         the factors of the states' cotangents for input, output and forget gate, (1 - gate) * product; for the
#         candidate, input - candidate * product, and for the cell, output - tanh * product; the forget gate
#     If parts are small, the blocks of a few steps are processed together, because a call costs more than its work.
#     For the backward pass a layer keeps the six parts as (length, batch, 6, features), and the states before each
#     step, both in the input's order of steps. So they lie in memory where C computed them, row by row of the batch
#     (``_compile/c/runtime/2_lstm.h``); from NumPy they are views.
_SMALL = 4096  # elements of one part of all blocks that are processed together
_FEWEST, _MOST = 4, 16  # the number of such blocks, if it is not one
_LSTM_ORDER = [0, 3, 1, 2]  # PyTorch's is input, forget, candidate, output
_FEW_ROWS, _CACHED = 8, 1 << 18  # rows of a batch; weights that one thread keeps in its own cache
ROWS, UNITS = 8, 16  # in C: rows that a thread does at a time; units packed together, whole vectors of any width


def in_rows(input: Any, w_hh: Any) -> bool:
    """Whether threads share an LSTM's rows in C. Few rows by many weights wait for memory: they share the weights."""
    (_, batch, inputs), (gates, n) = input.shape, w_hh.shape
    return batch >= _FEW_ROWS or gates * (inputs + n) <= _CACHED


def _for_each_step(length: int, keep: bool, shape: tuple[int, ...], dtype: Any) -> Any:
    """Memory for every step; all steps share it unless ``keep``."""
    if keep:
        return np.empty((length, *shape), dtype)
    once = np.empty(shape, dtype)
    return np.ndarray((length, *shape), dtype, once, 0, (0, *once.strides))


def _power_of_sigmoid(dtype: Any) -> tuple[Any, float]:
    """A power function and a number such that ``1 / (1 + power(number * x))`` is the sigmoid of x."""
    if dtype.itemsize == 4 and has_vector_functions():
        return np.exp2, -math.log2(math.e)
    return np.exp, -1.0


def _sigmoid(x: Any, power: Any, one: Any) -> None:
    """``1 / (1 + power(x))`` in place; see ``_power_of_sigmoid``."""
    power(x, x)
    np.add(x, one, x)
    np.divide(one, x, x)


def _one_minus_square(x: Any, one: Any, out: Any) -> Any:
    np.multiply(x, x, out)
    return np.subtract(one, out, out)


@in_lib
@with_kernel("compiled_steps.lstm_forward", 4, 1)
def lstm_forward(
    input: Any, h: Any, c: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, reverse: bool, ends: Any, tape: Any
) -> Any:
    """Outputs, last hidden and last cell state; see NOTE [ The LSTM's memory ]."""
    length, batch, inputs = input.shape
    n, dtype = w_hh.shape[1], input.dtype
    w = _gates_exchanged(_with_bias(w_ih, None if b_ih is None else b_ih + b_hh, w_hh), _LSTM_ORDER)
    z = _inputs_and_states(input, h, reverse)
    keep = tape is not None
    factors = np.empty((length if keep else 0, 6, n, batch), dtype)
    cells = None if ends is None else np.empty((length, n, batch), dtype)
    cell = np.array(c.T, order="C")
    _lstm_steps(w, z, cell, factors, cells)
    states = np.ascontiguousarray(z[:, inputs + 1 :].swapaxes(1, 2))
    if keep:
        known = factors.transpose(0, 3, 1, 2), states[:-1]
        tape[:] = [a[::-1] for a in known] if reverse else known
    outputs = (states[:0:-1] if reverse else states[1:]).copy()
    if cells is None:
        return outputs, states[-1].copy(), np.ascontiguousarray(cell.T)
    rows = np.arange(batch)
    return outputs, states[ends + 1, rows], cells[ends, :, rows]


def _lstm_steps(w: Any, z: Any, cell: Any, factors: Any, cells: Any) -> Any:
    """Fill in the states in ``z``, the last cell, the backward pass's factors and each step's cell, if asked for."""
    length, keep, (n, batch), dtype = len(z) - 1, len(factors) > 0, cell.shape, cell.dtype
    inputs = z.shape[1] - n - 1
    one = np.ones((), dtype)
    power, factor = _power_of_sigmoid(dtype)
    w[: 3 * n] *= factor
    together = _SMALL // max(n * batch, 1)  # steps processed together
    together = min(together, _MOST) if together >= _FEWEST else 1
    blocks = np.empty((together, 8, n, batch), dtype)
    steps = [(b[:4].reshape(-1, batch), b[:3], *b) for b in blocks]
    dot, multiply, add, tanh = np.dot, np.multiply, np.add, np.tanh
    for step in range(length):
        place = step % together
        gates, sigmoids, i, o, f, candidate, squashed, new, out, old = steps[place]
        dot(w, z[step], gates)
        tanh(candidate, candidate)
        _sigmoid(sigmoids, power, one)
        multiply(f, cell, old)
        multiply(i, candidate, new)
        add(old, new, cell)
        tanh(cell, squashed)
        state = z[step + 1, inputs + 1 :]
        if keep:
            multiply(o, squashed, out)
            state[...] = out
            if place == together - 1 or step == length - 1:
                _lstm_factors(blocks[: place + 1], factors[step - place : step + 1], one)
        else:
            multiply(o, squashed, state)
        if cells is not None:
            cells[step] = cell


def _lstm_factors(blocks: Any, r: Any, one: Any) -> None:
    """Write the values that the backward pass needs from the steps with these blocks into r."""
    sigmoids, tanhs, products = blocks[:, :3], blocks[:, 3:5], blocks[:, 5:]
    slopes, others = r[:, :3], r[:, 3:5]
    np.subtract(one, sigmoids, slopes)
    np.multiply(slopes, products, slopes)
    np.multiply(tanhs, products[:, :2], others)
    np.subtract(sigmoids[:, :2], others, others)
    r[:, 5] = sigmoids[:, 2]


@in_lib
def lstm_cotangents(
    g: Any, input: Any, w_ih: Any, w_hh: Any, biased: bool, needs: Any, reverse: bool, ends: Any, tape: Any
) -> Any:
    """The cotangents of all operands of ``lstm_forward``."""
    factors, states = tape
    length, batch, _, n = factors.shape
    d, dh, dc = lstm_gate_cotangents(g, w_hh, reverse, ends, factors)
    dx = _input_cotangent([(d, w_ih)], length, batch, False) if needs[0] else None
    weights: Any = (None,) * 4
    if any(needs[3:]):
        x = input
        if ends is not None:
            x, states = (_until_the_ends(a, ends, reverse) for a in (x, states))
        bias = None if not biased else row_sums(d) if d.flags.c_contiguous else column_sums(d.T)
        weights = (_product(d, x.reshape(length * batch, -1)), _product(d, states.reshape(-1, n)), bias, bias)
    return (dx, dh, dc, *weights)


def _until_the_ends(x: Any, ends: Any, reverse: bool) -> Any:
    """A copy of ``(L, N, ...)`` with zeros behind the ends, where values may be infinite."""
    x = x.copy()
    steps = np.arange(len(x))[:, None]
    x[(steps[::-1] if reverse else steps) > ends] = 0
    return x


@with_kernel("compiled_steps.lstm_gate_cotangents", 1, 1)
def lstm_gate_cotangents(g: Any, w_hh: Any, reverse: bool, ends: Any, factors: Any) -> tuple[Any, Any, Any]:
    """The cotangents of the gates' arguments (4 features, length * batch), of the first state and of the first cell."""
    length, batch, _, n = factors.shape
    factors = (factors[::-1] if reverse else factors).transpose(0, 2, 3, 1)
    dtype = factors.dtype
    both = np.empty((2, n, batch), dtype)
    dc, dh = both
    last, given = _state_cotangents(g, length, (n, batch), dtype, reverse, ends)
    dh[...] = last
    dc[...], given_cells = _cell_cotangents(g[2], length, (n, batch), dtype, ends)
    d = np.empty((length, 4, n, batch), dtype)
    back = np.ascontiguousarray(_gates_exchanged(w_hh, _LSTM_ORDER).T)
    _lstm_steps_back(factors, back, both, given, given_cells, d)
    flat = np.empty((4, n, length, batch), dtype)
    for here, there in enumerate(_LSTM_ORDER):  # in the order of the weights
        flat[there] = (d[::-1] if reverse else d)[:, here].swapaxes(0, 1)
    return flat.reshape(4 * n, -1), np.ascontiguousarray(dh.T), np.ascontiguousarray(dc.T)


def _lstm_steps_back(factors: Any, back: Any, both: Any, given: Any, given_cells: Any, d: Any) -> Any:
    """Fill in the gates' cotangents and, in ``both``, those of the first cell and the first state."""
    length, _, n, batch = factors.shape
    dc, dh = both
    part = np.empty((n, batch), factors.dtype)
    dot, multiply, add = np.dot, np.multiply, np.add
    for step, arrived, arrived_cells in zip(range(length - 1, -1, -1), given, given_cells, strict=True):
        kept, now = factors[step], d[step]
        if arrived is not None:
            add(dh, arrived, dh)
        if arrived_cells is not None:
            add(dc, arrived_cells, dc)
        multiply(dh, kept[4], part)
        add(dc, part, dc)
        multiply(kept[:2], both, now[:2])
        multiply(kept[2], dc, now[2])
        multiply(kept[3], dc, now[3])
        multiply(dc, kept[5], dc)
        dot(back, now.reshape(4 * n, batch), dh)


# ---- the same as plain functions, for programs (``_compile``)
def lstm_written(*operands: Any) -> Any:
    """``lstm_forward`` whose results are followed by what the backward pass needs, if the last argument says so."""
    *given, _, reverse, ends, keep = operands
    tape: list[Any] | None = [] if keep else None
    results = lstm_forward(*given, reverse, ends, tape)
    return results if tape is None else (*results, *map(np.ascontiguousarray, tape))


def lstm_cotangents_written(*operands: Any) -> Any:
    """``lstm_cotangents`` without what is not needed."""
    *g, input, w_ih, w_hh, factors, states, biased, needs, reverse = operands
    *found, bias = lstm_cotangents(g, input, w_ih, w_hh, biased, needs, reverse, None, (factors, states))
    found.append(None if bias is None else bias.copy())
    return [a for a, needed in zip(found, lstm_given(needs, biased), strict=True) if needed]


def lstm_given(needs: Any, biased: bool) -> tuple[bool, ...]:
    """Which results ``lstm_cotangents_written`` has."""
    weights = any(needs[3:])
    return (*needs[:3], weights, weights, weights and biased, weights and biased)


def _state_cotangents(
    g: Any, length: int, shape: tuple[int, ...], dtype: Any, reverse: bool, ends: Any
) -> tuple[Any, Any]:
    """The cotangents of the last state and of each output, the last step first."""
    outputs, last = g[0], g[1]
    if ends is not None and last is not None:
        outputs = np.zeros((length, *shape[::-1]), dtype) if outputs is None else outputs.copy()
        outputs[ends, np.arange(len(ends))] += last
        last = None
    last = np.zeros(shape, dtype) if last is None else last.T.copy()
    if outputs is None:
        return last, [None] * length
    return last, np.ascontiguousarray((outputs if reverse else outputs[::-1]).swapaxes(1, 2))


def _cell_cotangents(g: Any, length: int, shape: tuple[int, ...], dtype: Any, ends: Any) -> tuple[Any, Any]:
    """The cotangents of the last cell state and, if some sequences end earlier, of each step's, the last step first."""
    if ends is None or g is None:
        return np.zeros(shape, dtype) if g is None else g.T.copy(), [None] * length
    each: list[Any] = [None] * length
    for end in set(ends.tolist()):
        each[length - 1 - end] = np.where(ends == end, g.T, 0).astype(dtype, copy=False)
    return np.zeros(shape, dtype), each


def _side_by_side(x: Any) -> Any:
    """``(L, rows, N)`` as ``(rows, L N)``."""
    return np.ascontiguousarray(x.swapaxes(0, 1)).reshape(x.shape[1], -1)


@with_kernel("compiled_products.product", least=1 << 10)
def _product(x: Any, y: Any, out: Any = None) -> Any:
    return np.dot(x, y, out)


def _input_cotangent(products: Any, length: int, batch: int, reverse: bool) -> Any:
    """The input's cotangent (L, N, inputs): the sum of products of gates ``(rows, L N)`` and the weights' rows."""
    (gates, w), *others = products
    dx = np.empty((length, batch, w.shape[1]), w.dtype)  # an array of its own becomes a leaf's gradient without a copy
    rows = dx.reshape(length * batch, -1)
    _product(gates.T, w, rows)
    for gates, w in others:
        rows += _product(gates.T, w)
    return np.ascontiguousarray(dx[::-1]) if reverse else dx


def _multiplied(z: Any, ends: Any) -> Any:
    """The operands that the weights multiplied, side by side; zeros behind the ends, where values may be infinite."""
    known = _side_by_side(z[:-1])
    if ends is not None:
        steps = np.arange(len(z) - 1)[:, None]
        known.reshape(len(known), len(steps), -1)[:, steps > ends] = 0
    return known


def _weight_cotangents(gates: Any, z: Any, inputs: int, biased: bool, ends: Any) -> tuple[Any, ...]:
    """The cotangents of ``w_ih``, ``w_hh`` and both biases if input and state have the same gate cotangents."""
    d = _product(gates, _multiplied(z, ends).T)
    bias = d[:, inputs] if biased else None
    return d[:, :inputs], d[:, inputs + 1 :], bias, bias


@in_lib
def gru_forward(
    input: Any, h: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, mode: str, reverse: bool, ends: Any, tape: Any
) -> Any:
    """Outputs and the last state. The parts: reset, update, the state's term of the candidate, the candidate."""
    length, batch, inputs = input.shape
    n, dtype = w_hh.shape[1], input.dtype
    keep = tape is not None
    sums = _with_bias(w_ih[: 2 * n], None if b_ih is None else (b_ih + b_hh)[: 2 * n], w_hh[: 2 * n])
    from_input = _with_bias(w_ih[2 * n :], None if b_ih is None else b_ih[2 * n :], w_hh[2 * n :])[:, : inputs + 1]
    from_state = _with_bias(w_ih[2 * n :], None if b_ih is None else b_hh[2 * n :], w_hh[2 * n :])[:, inputs:]
    z = _inputs_and_states(input, h, reverse)
    gates = _for_each_step(length, keep, (4 * n, batch), dtype)
    _gru_steps(sums, from_state, from_input, z, gates)
    if keep:
        tape[:] = [z, gates]
    return _outputs(z, inputs, reverse, ends)


@with_kernel("compiled_steps.gru_steps", 3, FEWEST)
def _gru_steps(sums: Any, from_state: Any, from_input: Any, z: Any, gates: Any) -> Any:
    """Fill in the states in ``z`` and the gates."""
    n, batch, dtype = len(from_state), z.shape[2], z.dtype
    inputs = z.shape[1] - n - 1
    power, factor = _power_of_sigmoid(dtype)
    sums *= factor
    part, one = np.empty((n, batch), dtype), np.ones((), dtype)
    dot, multiply, add, subtract, tanh = np.dot, np.multiply, np.add, np.subtract, np.tanh
    for x, sigmoids, reset, update, state, new, before, after in zip(
        z[:-1],
        gates[:, : 2 * n],
        gates[:, :n],
        gates[:, n : 2 * n],
        gates[:, 2 * n : 3 * n],
        gates[:, 3 * n :],
        z[:-1, inputs + 1 :],
        z[1:, inputs + 1 :],
        strict=True,
    ):
        dot(sums, x, sigmoids)
        dot(from_state, x[inputs:], state)
        dot(from_input, x[: inputs + 1], new)
        _sigmoid(sigmoids, power, one)
        multiply(reset, state, part)
        add(new, part, new)
        tanh(new, new)
        subtract(before, new, after)
        multiply(after, update, after)
        add(after, new, after)


@in_lib
def gru_cotangents(
    g: Any, w_ih: Any, w_hh: Any, biased: bool, needs: Any, mode: str, reverse: bool, ends: Any, tape: Any
) -> Any:
    """The cotangents of all operands of ``gru_forward``."""
    z, gates = tape
    length, n, batch = len(gates), gates.shape[1] // 4, gates.shape[2]
    inputs = w_ih.shape[1]
    dh, given = _state_cotangents(g, length, (n, batch), gates.dtype, reverse, ends)
    d = np.empty_like(gates)
    _gru_steps_back(gates, z, np.ascontiguousarray(w_hh.T), dh, given, d)
    flat = _side_by_side(d)
    del d
    dx = None
    if needs[0]:
        dx = _input_cotangent([(flat[: 2 * n], w_ih[: 2 * n]), (flat[3 * n :], w_ih[2 * n :])], length, batch, reverse)
    weights: Any = (None,) * 4
    if any(needs[2:]):
        known = _multiplied(z, ends)
        both = _product(flat[: 2 * n], known.T)
        x = np.concatenate([both[:, : inputs + 1], _product(flat[3 * n :], known[: inputs + 1].T)])
        s = np.concatenate([both[:, inputs:], _product(flat[2 * n : 3 * n], known[inputs:].T)])
        weights = (x[:, :inputs], s[:, 1:], x[:, inputs] if biased else None, s[:, 0] if biased else None)
    return (dx, dh.T, *weights)


@with_kernel("compiled_steps.gru_steps_back", least=FEWEST)
def _gru_steps_back(gates: Any, z: Any, back: Any, dh: Any, given: Any, d: Any) -> Any:
    """Fill in the cotangents of the gates' arguments at each step, and of the first state."""
    n = len(dh)
    before = z[:-1, z.shape[1] - n :]
    one = np.ones((), gates.dtype)
    reset, update, state, new = (gates[:, k * n : (k + 1) * n] for k in range(4))
    # factors from the cotangents of the state and of the candidate to those before each gate
    np.multiply(gates[:, : 2 * n], gates[:, : 2 * n], d[:, : 2 * n])
    np.subtract(gates[:, : 2 * n], d[:, : 2 * n], d[:, : 2 * n])
    d[:, :n] *= state
    d[:, n : 2 * n] *= before - new
    d[:, 2 * n : 3 * n] = reset
    _one_minus_square(new, one, d[:, 3 * n :])
    d[:, 3 * n :] *= one - update
    through = np.empty_like(dh)
    dot, multiply, add = np.dot, np.multiply, np.add
    for arrived, into_state, dr, du, ds, dn, u in zip(
        given,
        d[::-1, : 3 * n],
        d[::-1, :n],
        d[::-1, n : 2 * n],
        d[::-1, 2 * n : 3 * n],
        d[::-1, 3 * n :],
        update[::-1],
        strict=True,
    ):
        if arrived is not None:
            add(dh, arrived, dh)
        multiply(dn, dh, dn)
        multiply(du, dh, du)
        multiply(dr, dn, dr)
        multiply(ds, dn, ds)
        multiply(dh, u, through)
        dot(back, into_state, dh)
        add(dh, through, dh)


@in_lib
def rnn_forward(
    input: Any, h: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, mode: str, reverse: bool, ends: Any, tape: Any
) -> Any:
    """Outputs and the last state."""
    inputs = input.shape[2]
    w = _with_bias(w_ih, None if b_ih is None else b_ih + b_hh, w_hh)
    z = _inputs_and_states(input, h, reverse)
    _rnn_steps(z, w, mode == "RNN_TANH")
    if tape is not None:
        tape[:] = [z]
    return _outputs(z, inputs, reverse, ends)


@with_kernel("compiled_steps.rnn_steps", least=FEWEST)
def _rnn_steps(z: Any, w: Any, is_tanh: bool) -> Any:
    """Fill in the states in ``z``."""
    dot, tanh, maximum = np.dot, np.tanh, np.maximum
    zero = np.zeros((), z.dtype)
    for x, after in zip(z[:-1], z[1:, z.shape[1] - len(w) :], strict=True):
        dot(w, x, after)
        if is_tanh:
            tanh(after, after)
        else:
            maximum(after, zero, out=after)


@in_lib
def rnn_cotangents(
    g: Any, w_ih: Any, w_hh: Any, biased: bool, needs: Any, mode: str, reverse: bool, ends: Any, tape: Any
) -> Any:
    """The cotangents of all operands of ``rnn_forward``."""
    (z,) = tape
    length, inputs = len(z) - 1, w_ih.shape[1]
    states = z[1:, inputs + 1 :]
    _, n, batch = states.shape
    if mode == "RNN_TANH":
        d = _one_minus_square(states, np.ones((), z.dtype), np.empty(states.shape, z.dtype))
    else:
        d = (states > 0).astype(z.dtype)
    dh, given = _state_cotangents(g, length, (n, batch), z.dtype, reverse, ends)
    _rnn_steps_back(d, np.ascontiguousarray(w_hh.T), dh, given)
    flat = _side_by_side(d)
    dx = _input_cotangent([(flat, w_ih)], length, batch, reverse) if needs[0] else None
    weights = _weight_cotangents(flat, z, inputs, biased, ends) if any(needs[2:]) else (None,) * 4
    return (dx, dh.T, *weights)


@with_kernel("compiled_steps.rnn_steps_back", least=FEWEST)
def _rnn_steps_back(d: Any, back: Any, dh: Any, given: Any) -> Any:
    """Multiply the slopes ``d`` by the states' cotangents; ``dh`` becomes that of the first state."""
    dot, multiply, add = np.dot, np.multiply, np.add
    for arrived, now in zip(given, d[::-1], strict=True):
        if arrived is not None:
            add(dh, arrived, dh)
        multiply(now, dh, now)
        dot(back, now, dh)
