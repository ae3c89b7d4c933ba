"""Layers and directions of ``RNN``, ``LSTM`` and ``GRU``, packed sequences and single cells.

A layer in one direction over sequences of one length is one operator, ``ops.recurrent.layer``. The others are composed
of steps; of a packed sequence a step takes as many rows as its batch size says.
"""

from __future__ import annotations

from typing import Any

import wengert as torch

from .._tensor import Tensor
from ..ops.recurrent import STEPS, Weights, hidden_of, layer
from . import functional as F


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
            outputs.append(hidden_of(state))
        return torch.cat(outputs, 0), _joined([state, *reversed(finished)])
    first, now = state, sizes[-1]
    state = _rows(first, 0, now)
    for x, size in zip(reversed(given), reversed(sizes), strict=True):
        if size > now:  # rows whose last element this is begin here
            state, now = _joined([state, _rows(first, now, size)]), size
        state = step(x, state, weights)
        outputs.append(hidden_of(state))
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
    for depth in range(layers):
        outputs = []
        for direction in range(directions):
            k = depth * directions + direction
            if sizes is None:
                output, state = layer(mode, input, states[k], weights[k], bool(direction))
            else:
                output, state = _run_packed(mode, input, sizes, states[k], weights[k], bool(direction))
            outputs.append(output)
            last.append(state)
        input = outputs[0] if directions == 1 else torch.cat(outputs, -1)
        if dropout and training and depth < layers - 1:
            input = F.dropout(input, dropout, True)
    return input, last
