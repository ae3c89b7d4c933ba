"""``torch.lstm``, ``torch.gru``, ``torch.rnn_tanh``, ``torch.rnn_relu`` and their cells: layers as plain functions.

Each takes its parameters as one flat list, in a module's order, and either sequences of one length, or the data and
batch sizes of a packed sequence.
"""

from __future__ import annotations

from typing import Any

from ..._base.registry import TENSORS, public
from ..._kinds.slow_path import misfit
from ..._tape.tensor import Tensor


def _weights(flat: Any, biases: bool, projected: bool) -> list[Any]:
    from . import flat_weights

    size = 2 + 2 * bool(biases) + projected
    if len(flat) % size:
        raise RuntimeError(f"MatrixRef: ArrayRef size {len(flat)} not divisible by stride {size}")
    return [flat_weights.Weights(flat[k : k + size], bool(biases), projected) for k in range(0, len(flat), size)]


def _sequence(name: str, mode: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    from . import flat_weights

    args = (*args, *kwargs.values())
    if len(args) != 9 or not isinstance(args[0], Tensor):
        raise misfit(name, *args)
    packed = isinstance(args[1], Tensor) and isinstance(args[3], (tuple, list))
    input, sizes, hx, params, biases, layers, dropout, train, both, batch_first = (
        (*args, False) if packed else (args[0], None, *args[1:])
    )
    several = name == "lstm"
    if isinstance(hx, (tuple, list)) is not several or not isinstance(params, (tuple, list)):
        raise misfit(name, *args)
    projected = several and hx[0].shape[-1] != hx[1].shape[-1]
    directions = 2 if both else 1
    weights = _weights(params, biases, projected)[: int(layers) * directions]
    if batch_first:
        input = input.transpose(0, 1)
    states: Any = list(zip(*(s.unbind(0) for s in hx), strict=True)) if several else hx.unbind(0)
    steps = None if sizes is None else sizes.tolist()
    output, last = flat_weights.recurrence(mode, input, steps, states, weights, directions, float(dropout), bool(train))
    if batch_first:
        output = output.transpose(0, 1)
    if several:
        return (output, *(TENSORS.stack(list(parts), 0) for parts in zip(*last, strict=True)))
    return output, TENSORS.stack(list(last), 0)


@public("torch.lstm")
def lstm(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor, Tensor]:
    """``(input, (h, c), params, has_biases, num_layers, dropout, train, bidirectional, batch_first)``: output, h and c.

    Or ``(data, batch_sizes, (h, c), params, ..., bidirectional)`` for a packed sequence.

    >>> layer, state = torch.nn.LSTM(3, 4), (torch.zeros(1, 2, 4), torch.zeros(1, 2, 4))
    >>> output, h, c = torch.lstm(torch.ones(5, 2, 3), state, layer._flat_weights, True, 1, 0., False, False, False)
    >>> output.shape, h.shape
    (torch.Size([5, 2, 4]), torch.Size([1, 2, 4]))
    """
    return _sequence("lstm", "LSTM", args, kwargs)


@public("torch.gru")
def gru(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """A GRU; see ``lstm``. It has one state: ``(input, h, params, has_biases, ...)`` gives output and h.

    >>> x, h, w = torch.ones(1, 1, 1), torch.zeros(1, 1, 1), [torch.ones(3, 1), torch.ones(3, 1)]
    >>> torch.gru(x, h, w, False, 1, 0., False, False, False)[1]
    tensor([[[0.2048]]])
    """
    return _sequence("gru", "GRU", args, kwargs)


@public("torch.rnn_tanh")
def rnn_tanh(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """An RNN with ``h' = tanh(W x + b + U h + c)``; see ``gru`` for the arguments.

    >>> x, h, w = torch.ones(1, 1, 1), torch.zeros(1, 1, 1), [torch.ones(1, 1), torch.ones(1, 1)]
    >>> torch.rnn_tanh(x, h, w, False, 1, 0., False, False, False)[1]
    tensor([[[0.7616]]])
    """
    return _sequence("rnn_tanh", "RNN_TANH", args, kwargs)


@public("torch.rnn_relu")
def rnn_relu(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """An RNN with ``h' = relu(W x + b + U h + c)``; see ``gru`` for the arguments.

    >>> x, h, w = torch.ones(1, 1, 1), torch.zeros(1, 1, 1), [torch.ones(1, 1), torch.ones(1, 1)]
    >>> torch.rnn_relu(x, h, w, False, 1, 0., False, False, False)[1]
    tensor([[[1.]]])
    """
    return _sequence("rnn_relu", "RNN_RELU", args, kwargs)


def _cell(mode: str, input: Tensor, hx: Any, w_ih: Tensor, w_hh: Tensor, b_ih: Any, b_hh: Any) -> Any:
    from . import flat_weights

    h = hx[0] if mode == "LSTM" else hx
    if input.shape[-1] != w_ih.shape[-1]:
        raise RuntimeError(f"input has inconsistent input_size: got {input.shape[-1]} expected {w_ih.shape[-1]}")
    if h.shape[-1] != w_hh.shape[-1]:
        raise RuntimeError(f"hidden0 has inconsistent hidden_size: got {h.shape[-1]}, expected {w_hh.shape[-1]}")
    return flat_weights.cell(mode, input, tuple(hx) if mode == "LSTM" else hx, w_ih, w_hh, b_ih, b_hh)


@public("torch.lstm_cell")
def lstm_cell(
    input: Tensor, hx: Any, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """One step of an LSTM: the new h and c from ``hx = (h, c)``.

    >>> x, h, w = torch.ones(1, 1), torch.zeros(1, 1), torch.ones(4, 1)
    >>> torch.lstm_cell(x, (h, h), w, w)
    (tensor([[0.3696]]), tensor([[0.5568]]))
    """
    return _cell("LSTM", input, hx, w_ih, w_hh, b_ih, b_hh)


def _cell_of_one_state(name: str, doc: str) -> None:
    """``torch.gru_cell``, ``torch.rnn_tanh_cell`` or ``torch.rnn_relu_cell``."""

    def cell(
        input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
    ) -> Tensor:
        return _cell(name.upper(), input, hx, w_ih, w_hh, b_ih, b_hh)

    cell.__doc__ = doc
    public(f"torch.{name}_cell")(cell)


_cell_of_one_state("gru", "One step of a GRU: the new state.")
_cell_of_one_state("rnn_tanh", "One step of an RNN with ``tanh``: the new state.")
_cell_of_one_state("rnn_relu", "One step of an RNN with ``relu``: the new state.")
