"""Recurrent layers over a whole sequence: ``LSTM``, ``GRU`` and ``RNN``, a layer in one direction as one operator.

The arithmetic is in ``_arrays.recurrent``. Derivatives of higher orders and transforms use the composed form,
``STEPS``; so do projections and single cells.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._arrays import recurrent as recurrent  # noqa: PLC0414  puts its functions into the array library
from ..._base.modes import is_grad_enabled
from ..._base.registry import ARRAYS, PUBLIC, REGISTRY, TENSORS, plain_body
from ..._kinds.general import general, name_by_node
from ..._tape.node import Port, leaf_node, named
from ..._tape.tensor import Tensor, in_memory, wrap

_OFTEN = 4  # steps from which a program packs weights
_DTYPES = (np.dtype("f4"), np.dtype("f8"))


# ---- composed form
class Weights:
    """The parameters of one layer in one direction."""

    __slots__ = ("bias_hh", "bias_ih", "hh", "hr", "ih")
    bias_ih: Any
    bias_hh: Any

    def __init__(self, flat: Any, bias: bool, projected: bool = False) -> None:
        self.ih, self.hh = flat[:2]
        self.bias_ih, self.bias_hh = flat[2:4] if bias else (None, None)
        self.hr = flat[-1] if projected else None


def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """``nn.functional.linear`` for any rank."""
    return PUBLIC["nn.functional"]["linear"](x, weight, bias)


def _gates(x: Tensor, n: int) -> tuple[Tensor, ...]:
    """The parts of each row; their node bears the name of PyTorch's ``unsafe_chunk``."""
    parts: tuple[Tensor, ...] = x.chunk(n, 1)
    if type(parts[0]._node) is Port:
        named(parts[0]._node.fx, "UnsafeSplitBackward0")
    return parts


def _lstm_step(given: Tensor, hx: Any, weights: Any) -> Any:
    h, c = hx
    gates = given + linear(h, weights.hh, weights.bias_hh)
    i, f, g, o = _gates(gates, 4)
    c = TENSORS.sigmoid(f) * c + TENSORS.sigmoid(i) * TENSORS.tanh(g)
    h = TENSORS.sigmoid(o) * TENSORS.tanh(c)
    if weights.hr is not None:
        h = linear(h, weights.hr)
    return h, c


def _gru_step(given: Tensor, h: Tensor, weights: Any) -> Tensor:
    from_input = _gates(given, 3)
    from_hidden = _gates(linear(h, weights.hh, weights.bias_hh), 3)
    r = TENSORS.sigmoid(from_input[0] + from_hidden[0])
    z = TENSORS.sigmoid(from_input[1] + from_hidden[1])
    n = TENSORS.tanh(from_input[2] + r * from_hidden[2])
    return (h - n) * z + n


def _tanh_step(given: Tensor, h: Tensor, weights: Any) -> Tensor:
    return TENSORS.tanh(given + linear(h, weights.hh, weights.bias_hh))


def _relu_step(given: Tensor, h: Tensor, weights: Any) -> Tensor:
    return TENSORS.relu(given + linear(h, weights.hh, weights.bias_hh))


STEPS = {"LSTM": _lstm_step, "GRU": _gru_step, "RNN_TANH": _tanh_step, "RNN_RELU": _relu_step}


def hidden_of(state: Any) -> Any:
    """The hidden state of a state."""
    return state[0] if isinstance(state, tuple) else state


def _composed(mode: str, input: Tensor, state: Any, weights: Weights, reverse: bool, ends: Any) -> tuple[Tensor, Any]:
    """One layer in one direction over (L, N, H), step by step."""
    step = STEPS[mode]
    given = linear(input, weights.ih, weights.bias_ih).unbind(0)
    states = []
    for x in reversed(given) if reverse else given:
        state = step(x, state, weights)
        states.append(state)
    outputs = [hidden_of(s) for s in states]
    stack = PUBLIC["torch"]["stack"]
    output = stack(outputs[::-1] if reverse else outputs, 0)
    if ends is None:
        return output, state
    places = [wrap(ends), wrap(np.arange(len(ends)))]
    lasts = [TENSORS.index([stack(list(part), 0), *places], (0, 1)) for part in zip(*map(_parts, states), strict=True)]
    return output, tuple(lasts) if isinstance(state, tuple) else lasts[0]


def _parts(state: Any) -> tuple[Any, ...]:
    return state if isinstance(state, tuple) else (state,)


def layer(
    mode: str, input: Tensor, state: Any, weights: Weights, reverse: bool, ends: Any = None
) -> tuple[Tensor, Any]:
    """One layer in one direction over (L, N, H): its outputs, and the last state or those after the steps ``ends``."""
    given = (input, *_parts(state), weights.ih, weights.hh, weights.bias_ih, weights.bias_hh)
    traced = mode == "LSTM" and ends is None and len(input) >= _OFTEN and recurrent.in_rows(input, weights.hh)
    if weights.hr is not None or not _plain(given, traced):
        return _composed(mode, input, state, weights, reverse, ends)
    tape: list[Any] | None = None
    if is_grad_enabled() and any(t is not None and t._node is not None for t in given):
        tape = []
    if mode == "LSTM":
        output, h, c = TENSORS.lstm_layer(*given, mode, reverse, ends, tape)
        return output, (h, c)
    return TENSORS.recurrent_layer(*given, mode, reverse, ends, tape)


def _plain(given: Any, traced: bool) -> bool:
    """Whether all are non-empty arrays of one of the usual dtypes; ``traced``: or values of a tape that have such."""
    arrays = [t._payload for t in given if t is not None]
    if traced:
        arrays = list(map(in_memory, arrays))
    first = arrays[0]
    return (
        type(first) is np.ndarray
        and first.dtype in _DTYPES
        and first.size > 0
        and all(type(a) is np.ndarray and a.dtype is first.dtype for a in arrays)
    )


# ---- operators
def _composed_cotangents(g: Any, operands: Any, needs: Any, mode: str, reverse: bool, ends: Any) -> list[Any]:
    """The cotangents of all operands through the composed form, for a derivative that is differentiated again.

    They are recorded on a tape of their own, which is younger than all tapes of the operands and cotangents.
    """
    from ..._base.grad_mode import grad_mode
    from ..._payloads.transforms import OwnTape, entered
    from ..._tape.engine import run

    with grad_mode(True), entered() as tag:
        leaves: list[Any] = [None if a is None else wrap(OwnTape(a, tag)) for a in operands]
        for leaf, need in zip(leaves, needs, strict=True):
            if need:
                leaf_node(leaf)
        *known, w_ih, w_hh, b_ih, b_hh = leaves
        state = tuple(known[1:]) if mode == "LSTM" else known[1]
        weights = Weights((w_ih, w_hh, b_ih, b_hh), b_ih is not None)
        output, last = _composed(mode, known[0], state, weights, reverse, ends)
        outputs = (output, *(last if isinstance(last, tuple) else (last,)))
        roots = [
            (y._node, wrap(OwnTape(a, tag)))
            for y, a in zip(outputs, g, strict=True)
            if a is not None and y._node is not None
        ]
        wanted = [leaf._node for leaf in leaves if leaf is not None and leaf._node is not None]
        found = iter(run(roots, keep=True, create_graph=True, inputs=wanted) or ())
        ds = [next(found) if leaf is not None and leaf._node is not None else None for leaf in leaves]
    return [
        None if d is None else d._payload.v if isinstance(d._payload, OwnTape) and d._payload.tag == tag else d._payload
        for d in ds
    ]


def _cotangents(
    xp: Any, g: Any, operands: Any, needs: Any, mode: str, reverse: bool, ends: Any, tape: Any
) -> tuple[Any, ...]:
    """The cotangents of all operands: from the tape of the forward pass, or through the composed form."""
    if tape and xp is ARRAYS:
        input, *_, w_ih, w_hh, bias, _ = operands
        biased = bias is not None
        if mode == "LSTM":
            return xp.lib.lstm_cotangents(g, input, w_ih, w_hh, biased, needs, reverse, ends, tape)
        back = xp.lib.gru_cotangents if mode == "GRU" else xp.lib.rnn_cotangents
        return back(g, w_ih, w_hh, biased, needs, mode, reverse, ends, tape)
    if tape and xp is not TENSORS and getattr(tape[0], "is_traced", False):
        given, needs = [*g, operands[0], *operands[3:5], *tape], tuple(needs)
        biased = operands[5] is not None
        write = tape[0].tracer.written
        found = iter(write("lstm_cotangents", recurrent.lstm_cotangents_written, given, (biased, needs, reverse)))
        return tuple([next(found) if there else None for there in recurrent.lstm_given(needs, biased)])
    ds = _composed_cotangents(g, operands, needs, mode, reverse, ends)
    return tuple(wrap(d) if xp is TENSORS and d is not None and not isinstance(d, Tensor) else d for d in ds)


def _samples(gates: int, states: int, *modes: str) -> Any:
    def samples(rng: Any) -> Any:
        draw = rng.standard_normal
        shapes = [(gates * 2, 2), (gates * 2, 2), (gates * 2,), (gates * 2,)]
        return [
            (
                (
                    draw((3, 2, 2)),
                    *(draw((2, 2)) for _ in range(states)),
                    *(draw(s) * 0.5 if len(s) > 1 or biased else None for s in shapes),
                ),
                (mode, reverse, ends, None),
            )
            for mode in modes
            for reverse, biased, ends in ((False, True, None), (True, False, None), (False, True, np.array([2, 1])))
        ]

    return samples


@general(
    grad=lambda xp, g, input, h, c, w_ih, w_hh, b_ih, b_hh, needs, mode, reverse, ends, tape: _cotangents(
        xp, g, (input, h, c, w_ih, w_hh, b_ih, b_hh), needs, mode, reverse, ends, tape
    ),
    tensors=7,
    outputs=3,
    node="MkldnnRnnLayerBackward0",
    absent=True,
    holomorphic=False,
    batch="loop",
    dtypes="f",
    samples=_samples(4, 2, "LSTM"),
)
def lstm_layer(lib, input, h, c, w_ih, w_hh, b_ih, b_hh, mode, reverse, ends, tape):
    """An LSTM over a whole sequence: outputs, last hidden state, last cell state.

    ``tape``: a list that receives the values for the backward pass, or ``None``.
    """
    return lib.lstm_forward(input, h, c, w_ih, w_hh, b_ih, b_hh, reverse, ends, tape)


@plain_body
def plain_lstm_layer(lib, input, h, c, w_ih, w_hh, b_ih, b_hh, mode, reverse, ends, tape):
    def step(x, state):
        i, f, g, o = lib.split(x + lib.matmul(state[0], w_hh.T), 4, 1)
        c = state[1] / (1 + lib.exp(-f)) + lib.tanh(g) / (1 + lib.exp(-i))
        return lib.tanh(c) / (1 + lib.exp(-o)), c

    x = lib.matmul(input, w_ih.T)
    return _plain_steps(lib, step, x if b_ih is None else x + (b_ih + b_hh), (h, c), reverse, ends)


def _plain_steps(lib: Any, step: Any, x: Any, state: Any, reverse: bool, ends: Any) -> tuple[Any, ...]:
    """The outputs over time, and the last states or those after the steps ``ends``."""
    states = []
    for now in x[::-1] if reverse else x:
        state = step(now, state)
        states.append(state)
    outputs = lib.stack([s[0] for s in (states[::-1] if reverse else states)])
    if ends is not None:
        at = (lib.table(ends), lib.arange(len(ends)))
        state = [lib.stack(list(part))[at] for part in zip(*states, strict=True)]
    return (outputs, *state)


@general(
    grad=lambda xp, g, input, h, w_ih, w_hh, b_ih, b_hh, needs, mode, reverse, ends, tape: _cotangents(
        xp, g, (input, h, w_ih, w_hh, b_ih, b_hh), needs, mode, reverse, ends, tape
    ),
    tensors=6,
    outputs=2,
    node="StackBackward0",
    absent=True,
    holomorphic=False,
    batch="loop",
    dtypes="f",
    samples=lambda rng: _samples(3, 1, "GRU")(rng) + _samples(1, 1, "RNN_TANH", "RNN_RELU")(rng),
)
def recurrent_layer(lib, input, h, w_ih, w_hh, b_ih, b_hh, mode, reverse, ends, tape):
    """A GRU or an Elman network over a whole sequence: outputs and last state; ``tape`` as in ``lstm_layer``."""
    forward = lib.gru_forward if mode == "GRU" else lib.rnn_forward
    return forward(input, h, w_ih, w_hh, b_ih, b_hh, mode, reverse, ends, tape)


@plain_body
def plain_recurrent_layer(lib, input, h, w_ih, w_hh, b_ih, b_hh, mode, reverse, ends, tape):
    b_hh = 0 if b_hh is None else b_hh

    def gru(x, state):
        (r, z, n), (hr, hz, hn) = lib.split(x, 3, 1), lib.split(lib.matmul(state[0], w_hh.T) + b_hh, 3, 1)
        z = 1 / (1 + lib.exp(-z - hz))
        return ((1 - z) * lib.tanh(n + hn / (1 + lib.exp(-r - hr))) + z * state[0],)

    def elman(x, state):
        x = x + lib.matmul(state[0], w_hh.T) + b_hh
        return (lib.tanh(x) if mode == "RNN_TANH" else lib.maximum(x, 0),)

    x = lib.matmul(input, w_ih.T)
    x = x if b_ih is None else x + b_ih
    return _plain_steps(lib, gru if mode == "GRU" else elman, x, (h,), reverse, ends)


REGISTRY["lstm_layer"].written = recurrent.lstm_written
# PyTorch has one operator for float32 only; for other dtypes the outputs come from a stack
name_by_node(
    "lstm_layer", lambda n: "MkldnnRnnLayerBackward0" if n.outputs_meta[0][1] == np.float32 else "StackBackward0"
)
