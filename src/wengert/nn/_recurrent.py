"""The recurrences behind ``RNN``, ``LSTM`` and ``GRU``, composed of operators.

As in PyTorch, the product of all inputs with ``weight_ih`` is one product, made before the loop over time; in the loop
there is one product with ``weight_hh`` per step. Of a packed sequence a step takes as many rows as its batch size says.
"""

from __future__ import annotations

from typing import Any

import wengert as torch

from .._tensor import Tensor
from . import functional as F


# --------------------------------------------------------------------------------------------------------- single steps
def _lstm_step(given: Tensor, hx: Any, weights: Any) -> Any:
    h, c = hx
    gates = given + F.linear(h, weights.hh, weights.bias_hh)
    i, f, g, o = gates.chunk(4, 1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    h = torch.sigmoid(o) * torch.tanh(c)
    if weights.hr is not None:
        h = F.linear(h, weights.hr)
    return h, c


def _gru_step(given: Tensor, h: Tensor, weights: Any) -> Tensor:
    from_input = given.chunk(3, 1)
    from_hidden = F.linear(h, weights.hh, weights.bias_hh).chunk(3, 1)
    r = torch.sigmoid(from_input[0] + from_hidden[0])
    z = torch.sigmoid(from_input[1] + from_hidden[1])
    n = torch.tanh(from_input[2] + r * from_hidden[2])
    return (h - n) * z + n


def _tanh_step(given: Tensor, h: Tensor, weights: Any) -> Tensor:
    return torch.tanh(given + F.linear(h, weights.hh, weights.bias_hh))


def _relu_step(given: Tensor, h: Tensor, weights: Any) -> Tensor:
    return torch.relu(given + F.linear(h, weights.hh, weights.bias_hh))


STEPS = {"LSTM": _lstm_step, "GRU": _gru_step, "RNN_TANH": _tanh_step, "RNN_RELU": _relu_step}


class Weights:
    """The parameters of one layer in one direction."""

    __slots__ = ("bias_hh", "bias_ih", "hh", "hr", "ih")
    bias_ih: Any
    bias_hh: Any

    def __init__(self, flat: Any, bias: bool, projected: bool = False) -> None:
        self.ih, self.hh = flat[:2]
        self.bias_ih, self.bias_hh = flat[2:4] if bias else (None, None)
        self.hr = flat[-1] if projected else None


def cell(mode: str, input: Tensor, hx: Any, *flat: Any) -> Any:
    """One step of one layer: what ``LSTMCell`` and the other cells compute."""
    weights = Weights(flat, True)
    return STEPS[mode](F.linear(input, weights.ih, weights.bias_ih), hx, weights)


# ------------------------------------------------------------------------------------------------------ over a sequence
def _rows(state: Any, start: int, end: int) -> Any:
    if isinstance(state, tuple):
        return tuple(s[start:end] for s in state)
    return state[start:end]


def _joined(parts: list[Any]) -> Any:
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], tuple):
        return tuple(torch.cat(p, 0) for p in zip(*parts, strict=True))
    return torch.cat(parts, 0)


def _hidden(state: Any) -> Tensor:
    return state[0] if isinstance(state, tuple) else state


def _run(mode: str, input: Tensor, state: Any, weights: Weights, reverse: bool) -> tuple[Tensor, Any]:
    """One layer in one direction over (L, N, H)."""
    step = STEPS[mode]
    given = F.linear(input, weights.ih, weights.bias_ih).unbind(0)
    outputs = []
    for x in reversed(given) if reverse else given:
        state = step(x, state, weights)
        outputs.append(_hidden(state))
    return torch.stack(outputs[::-1] if reverse else outputs, 0), state


def _run_packed(
    mode: str, data: Tensor, sizes: list[int], state: Any, weights: Weights, reverse: bool
) -> tuple[Tensor, Any]:
    """One layer in one direction over a packed sequence, whose rows are sorted from the longest to the shortest."""
    step = STEPS[mode]
    given = F.linear(data, weights.ih, weights.bias_ih).split(sizes, 0)
    outputs: list[Tensor] = []
    if not reverse:
        finished = []  # states of rows that have ended, the shortest first
        now = sizes[0]
        for x, size in zip(given, sizes, strict=True):
            if size < now:
                finished.append(_rows(state, size, now))
                state, now = _rows(state, 0, size), size
            state = step(x, state, weights)
            outputs.append(_hidden(state))
        return torch.cat(outputs, 0), _joined([state, *reversed(finished)])
    first, now = state, sizes[-1]
    state = _rows(first, 0, now)
    for x, size in zip(reversed(given), reversed(sizes), strict=True):
        if size > now:  # rows whose last element this is begin here
            state, now = _joined([state, _rows(first, now, size)]), size
        state = step(x, state, weights)
        outputs.append(_hidden(state))
    return torch.cat(outputs[::-1], 0), state


def recurrence(
    mode: str,
    input: Tensor,
    sizes: list[int] | None,
    states: list[Any],
    weights: list[Weights],
    directions: int,
    dropout: float,
    training: bool,
) -> tuple[Tensor, list[Any]]:
    """All layers over (L, N, H), or with ``sizes`` over a packed sequence: the last layer's output, all states."""
    last = []
    layers = len(weights) // directions
    for layer in range(layers):
        outputs = []
        for direction in range(directions):
            k = layer * directions + direction
            if sizes is None:
                output, state = _run(mode, input, states[k], weights[k], bool(direction))
            else:
                output, state = _run_packed(mode, input, sizes, states[k], weights[k], bool(direction))
            outputs.append(output)
            last.append(state)
        input = outputs[0] if directions == 1 else torch.cat(outputs, -1)
        if dropout and training and layer < layers - 1:
            input = F.dropout(input, dropout, True)
    return input, last
