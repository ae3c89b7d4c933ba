"""Layers and directions of ``RNN``, ``LSTM`` and ``GRU``, packed sequences and single cells.

A layer in one direction is one operator (``recurrent``); a cell is composed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._tape.tensor import Tensor
from ..._tensor_api.construct import from_numpy
from ..shape.join import cat_public
from .dropout import dropout as apply_dropout
from .linear import linear
from .recurrent import STEPS, Weights, layer


def cell(mode: str, input: Tensor, hx: Any, *flat: Any) -> Any:
    """One step of one layer, as in ``LSTMCell`` and the other cells."""
    weights = Weights(flat, True)
    return STEPS[mode](linear(input, weights.ih, weights.bias_ih), hx, weights)


# ---- over a sequence
def _packed(
    mode: str, data: Tensor, sizes: list[int], state: Any, weights: Weights, reverse: bool
) -> tuple[Tensor, Any]:
    """One layer in one direction over a packed sequence, whose rows are sorted from the longest to the shortest.

    The sequences are padded at their ends; for the other direction each is reversed first.
    """
    counts = np.array(sizes)
    steps, rows = np.arange(len(sizes))[:, None], np.arange(sizes[0])
    lengths = (counts[:, None] > rows).sum(0)
    first = np.cumsum(counts) - counts  # the beginning of each step
    there = steps < lengths
    at = np.where(there, lengths - 1 - steps if reverse else steps, 0)
    output, last = layer(
        mode, data[from_numpy(np.where(there, first[at] + rows, 0))], state, weights, False, lengths - 1
    )
    step, row = there.nonzero()
    if reverse:
        step = lengths[row] - 1 - step
    return output[from_numpy(step), from_numpy(row)], last


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
                output, state = _packed(mode, input, sizes, states[k], weights[k], bool(direction))
            outputs.append(output)
            last.append(state)
        input = outputs[0] if directions == 1 else cat_public(outputs, -1)
        if dropout and training and depth < layers - 1:
            input = apply_dropout(input, dropout, True)
    return input, last
