"""Recurrent layers and their cells."""

from __future__ import annotations

import contextlib
import math
import numbers
import sys
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import wengert as torch

from ..._base.errors import warn
from ..._tape.tensor import Tensor
from ..._tape.view_chain import with_node_name
from ..utils.rnn import PackedSequence
from ._making import add_parameters, init_within, unusual
from .module import Module

__all__ = ["GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNBase", "RNNCell", "RNNCellBase"]

_States: TypeAlias = tuple[Tensor, Tensor]
_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
_MODES = {"tanh": "RNN_TANH", "relu": "RNN_RELU"}


def _check_arguments(
    mode: str,
    input_size: Any,
    hidden_size: Any,
    num_layers: int,
    bias: Any,
    batch_first: Any,
    dropout: Any,
    proj_size: int,
) -> None:
    if isinstance(dropout, bool) or not isinstance(dropout, numbers.Number) or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
        )
    if dropout > 0 and num_layers == 1:
        warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers "
            f"greater than 1, but got dropout={dropout} and num_layers={num_layers}",
        )
    for name, value, kind in (
        ("bias", bias, bool),
        ("batch_first", batch_first, bool),
        ("input_size", input_size, int),
        ("hidden_size", hidden_size, int),
    ):
        if not isinstance(value, kind):
            raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
        if kind is int and value <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if num_layers <= 0:
        raise ValueError("num_layers must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")
    if mode not in _GATES:
        raise ValueError(f"Unrecognized RNN mode: {mode}")


class _Recurrent(Module):
    """Base of recurrent layers and cells, which draws the initial values."""

    hidden_size: int

    def reset_parameters(self) -> None:
        """Draw new initial values, uniform on ``[-1/sqrt(hidden_size), 1/sqrt(hidden_size)]``."""
        init_within(1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0, *self.parameters())


def apply_permutation(tensor: Tensor, permutation: Tensor, dim: int = 1) -> Tensor:
    """``tensor.index_select(dim, permutation)``, which programs import from here."""
    return tensor.index_select(dim, permutation)


class RNNBase(_Recurrent):
    """Base of ``RNN``, ``LSTM`` and ``GRU``."""

    __constants__ = [
        "mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional",
        "proj_size",
    ]  # fmt: skip

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check_arguments(mode, input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size)
        self.mode, self.input_size, self.hidden_size, self.proj_size = mode, input_size, hidden_size, proj_size
        self.num_layers, self.bidirectional = num_layers, bidirectional
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self._all_weights: list[list[str]] = []
        suffixes = ("", "_reverse") if bidirectional else ("",)
        inputs = input_size
        for layer in range(num_layers):
            shapes = self._shapes(inputs)
            for suffix in suffixes:
                own = {f"{name}_l{layer}{suffix}": shape for name, shape in shapes.items()}
                add_parameters(self, device, dtype, **own)
                self._all_weights.append(list(own))
            inputs = (proj_size or hidden_size) * len(suffixes)
        self.reset_parameters()

    def _shapes(self, inputs: int) -> dict[str, tuple[int, ...]]:
        """The shapes of one layer's parameters in one direction."""
        gates = _GATES[self.mode] * self.hidden_size
        shapes: dict[str, tuple[int, ...]] = {
            "weight_ih": (gates, inputs),
            "weight_hh": (gates, self.proj_size or self.hidden_size),
        }
        if self.bias:
            shapes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        return shapes

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self) -> list[Any]:
        return [self._weight(name, None) for name in self._flat_weights_names]

    @_flat_weights.setter
    def _flat_weights(self, weights: list[Any]) -> None:
        """Make ``forward`` use these tensors instead of the parameters, until a parameter is set by name."""
        names = self._flat_weights_names
        own = (getattr(self, name, None) for name in names)
        others = {name: w for name, w, o in zip(names, weights, own, strict=True) if w is not o}
        self.__dict__["_given_weights"] = others

    def _weight(self, name: str, *default: Any) -> Any:
        given = self.__dict__.get("_given_weights")
        return given[name] if given and name in given else getattr(self, name, *default)

    def __setattr__(self, name: str, value: Any) -> None:
        given = self.__dict__.get("_given_weights")
        if given:
            given.pop(name, None)
        super().__setattr__(name, value)

    def flatten_parameters(self) -> None:
        """Does nothing: only CUDA benefits from contiguous parameters."""

    # ---- checks
    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Raise an error unless the input's dtype and shape are those of this module."""
        own = getattr(self, self._all_weights[0][0]).dtype
        if input.dtype is not own and _region_dtype() is None:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({own}). Convert input: input.to({own}), "
                f"or convert model: model.to({input.dtype})"
            )
        expected = 2 if batch_sizes is not None else 3
        if input.dim() != expected:
            raise RuntimeError(f"input must have {expected} dimensions, got {input.dim()}")
        if self.input_size != input.size(-1):
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )

    def _state_shape(self, input: Tensor, batch_sizes: Tensor | None, size: int) -> tuple[int, int, int]:
        batch = int(batch_sizes[0]) if batch_sizes is not None else input.size(0 if self.batch_first else 1)
        return (self.num_layers * (2 if self.bidirectional else 1), batch, size)

    def get_expected_hidden_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """The shape of the hidden state for an input."""
        return self._state_shape(input, batch_sizes, self.proj_size or self.hidden_size)

    def check_hidden_size(
        self, hx: Tensor, expected_hidden_size: tuple[int, int, int], msg: str = "Expected hidden size {}, got {}"
    ) -> None:
        """Raise an error unless a state has the expected shape."""
        if tuple(hx.size()) != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.size())))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Raise an error unless input and state fit this module and each other."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """The state with its batch permuted."""
        return hx if permutation is None else hx.index_select(1, permutation)

    def _check_dims(self, input: Tensor, hx: Any) -> None:
        if input.dim() not in (2, 3):
            tensor = " tensor" if type(self) is RNN else ""
            raise ValueError(f"{self._get_name()}: Expected input to be 2D or 3D, got {input.dim()}D{tensor} instead")
        if hx is not None and hx.dim() != input.dim():
            kind = "batched 3-D" if input.dim() == 3 else "unbatched 2-D"
            raise RuntimeError(f"For {kind} input, hx should also be {input.dim()}-D but got {hx.dim()}-D tensor")

    # ---- forward
    def _zero_states(self, input: Tensor, batch_sizes: Tensor | None) -> list[Any]:
        """The initial states of all layers and directions: one tensor of zeros."""
        count, *shape = self.get_expected_hidden_size(input, batch_sizes)
        return [torch.zeros(shape, dtype=input.dtype, device=input.device)] * count

    def _states(self, hx: Any) -> list[Any]:
        """The states of each layer and direction."""
        return list(hx.unbind(0))

    if TYPE_CHECKING:  # a call of the module would have the first overload's result

        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

    @overload
    def forward(self, input: Tensor, hx: Tensor | None = None) -> tuple[Tensor, Tensor]: ...
    @overload
    def forward(self, input: PackedSequence, hx: Tensor | None = None) -> tuple[PackedSequence, Tensor]: ...
    def forward(self, input: Any, hx: Any = None) -> Any:
        """The last layer's output at each step, and the last state of every layer and direction.

        Input (L, N, H), (N, L, H) with ``batch_first``, unbatched (L, H), or a ``PackedSequence``.
        """
        if isinstance(input, PackedSequence):
            data, batch_sizes, sorted_indices, unsorted_indices = input
            output, hidden = self._recur(
                data, batch_sizes, None if hx is None else self.permute_hidden(hx, sorted_indices)
            )
            packed = PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices)
            return packed, self.permute_hidden(hidden, unsorted_indices)
        self._check_dims(input, hx)
        batched = input.dim() == 3
        if not batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
            hx = None if hx is None else _each(hx, lambda s: s.unsqueeze(1))
        output, hidden = self._recur(input, None, hx)
        if self.batch_first:
            output = output.transpose(0, 1)
            if self.mode != "LSTM":  # PyTorch transposes the stack of steps in place
                with_node_name(output, "TransposeBackward1")
        if not batched:
            output = output.squeeze(0 if self.batch_first else 1)
            hidden = _each(hidden, lambda s: s.squeeze(1))
        return output, hidden

    def _recur(self, input: Tensor, batch_sizes: Tensor | None, hx: Any) -> tuple[Tensor, Any]:
        narrow = _region_dtype()
        if narrow is not None and self.mode != "GRU" and input.dtype is torch.float32:
            input = input.to(narrow)  # PyTorch has no narrow kernel for GRU
        if hx is None:
            self.check_input(input, batch_sizes)
            states = self._zero_states(input, batch_sizes)
        else:
            self.check_forward_args(input, hx, batch_sizes)
            if narrow is not None:
                hx = _each(hx, lambda s: s.to(input.dtype))
            states = self._states(hx)
        own = None if self.__dict__.get("_given_weights") else self._parameters
        from ..._ops.nn import flat_weights

        weights = []
        for names in self._all_weights:
            try:  # what __getattr__ would find, without its cost
                flat = [own[name] for name in names]  # type: ignore[index]
            except (KeyError, TypeError):
                flat = [self._weight(name) for name in names]
            if narrow is not None and input.dtype is narrow:
                flat = [w.to(narrow) for w in flat]
            weights.append(flat_weights.Weights(flat, self.bias, bool(self.proj_size)))
        if self.batch_first and batch_sizes is None:
            input = input.transpose(0, 1)
        sizes = None if batch_sizes is None else batch_sizes.tolist()
        directions = 2 if self.bidirectional else 1
        output, last = flat_weights.recurrence(
            self.mode, input, sizes, states, weights, directions, self.dropout, self.training
        )
        if isinstance(last[0], tuple):
            return output, tuple(torch.stack(parts, 0) for parts in zip(*last, strict=True))
        return output, torch.stack(last, 0)

    def extra_repr(self) -> str:
        usual = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0}
        return f"{self.input_size}, {self.hidden_size}" + unusual(self, **usual, bidirectional=False)

    def __getstate__(self) -> dict[str, Any]:
        # Includes PyTorch's lists of the weights, which PyTorch needs to load a saved module.
        names = [name for layer in self._all_weights for name in layer]
        weights = [getattr(self, name, None) for name in names]
        return {**super().__getstate__(), "_flat_weights_names": names, "_flat_weights": weights}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({k: v for k, v in state.items() if k not in ("_flat_weights_names", "_flat_weights")})
        self.__dict__.setdefault("proj_size", 0)


def _region_dtype() -> Any:
    """The dtype of this thread's ``autocast`` region, or None."""
    narrowing = sys.modules.get("wengert.amp.narrowing")
    return None if narrowing is None else narrowing.region_dtype()


def _cell_in_region(mode: str, input: Tensor, *rest: Any) -> Any:
    """Run a cell in an ``autocast`` region; cells with gates stay in float32, as in PyTorch."""
    from ..._ops.nn import flat_weights
    from ...amp.narrowing import hidden

    keep = not mode.startswith("RNN") and input.dtype is torch.float32
    with hidden() if keep else contextlib.nullcontext():
        return flat_weights.cell(mode, input, *rest)


def _each(state: Any, fn: Any) -> Any:
    return tuple(fn(s) for s in state) if isinstance(state, tuple) else fn(state)


def _refuse_projection(options: dict[str, Any]) -> None:
    if "proj_size" in options:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


class RNN(RNNBase):
    """``h = tanh(W_ih x + b_ih + W_hh h + b_hh)`` over a sequence, or relu with ``nonlinearity="relu"``.

    ``RNN(input_size, hidden_size, num_layers=1, nonlinearity="tanh", bias=True, batch_first=False, dropout=0,
    bidirectional=False)``.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse_projection(kwargs)
        first, by_place, rest = args[:3], args[3:4], args[4:]
        nonlinearity = by_place[0] if by_place else kwargs.pop("nonlinearity", "tanh")
        mode = _MODES.get(nonlinearity)
        if mode is None:
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(mode, *first, *rest, **kwargs)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Long short-term memory over a sequence. Source: Hochreiter and Schmidhuber 1997.

    ``LSTM(input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0, bidirectional=False,
    proj_size=0)``. The state is a pair, hidden state and cell state.

    >>> import wengert as torch
    >>> lstm = torch.nn.LSTM(3, 4, batch_first=True)
    >>> output, (h, c) = lstm(torch.ones(2, 5, 3))
    >>> output.shape, h.shape, c.shape
    (torch.Size([2, 5, 4]), torch.Size([1, 2, 4]), torch.Size([1, 2, 4]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """The shape of the cell state for an input."""
        return self._state_shape(input, batch_sizes, self.hidden_size)

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Raise an error unless input and states fit this module and each other."""
        self.check_input(input, batch_sizes)
        shapes = self.get_expected_hidden_size(input, batch_sizes), self.get_expected_cell_size(input, batch_sizes)
        for k in (0, 1):
            self.check_hidden_size(hidden[k], shapes[k], f"Expected hidden[{k}] size {{}}, got {{}}")

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """The states with their batch permuted."""
        return hx if permutation is None else tuple(s.index_select(1, permutation) for s in hx)

    def _zero_states(self, input: Tensor, batch_sizes: Tensor | None) -> list[Any]:
        hidden = super()._zero_states(input, batch_sizes)
        count, *shape = self.get_expected_cell_size(input, batch_sizes)
        cells = [torch.zeros(shape, dtype=input.dtype, device=input.device)] * count if self.proj_size else hidden
        return list(zip(hidden, cells, strict=True))

    def _states(self, hx: Any) -> list[Any]:
        return list(zip(*(s.unbind(0) for s in hx), strict=True))

    def _check_dims(self, input: Tensor, hx: Any) -> None:
        super()._check_dims(input, None)
        if hx is not None and not hx[0].dim() == hx[1].dim() == input.dim():
            kind = "batched 3-D" if input.dim() == 3 else "unbatched 2-D"
            raise RuntimeError(
                f"For {kind} input, hx and cx should also be {input.dim()}-D but got ({hx[0].dim()}-D, "
                f"{hx[1].dim()}-D) tensors"
            )

    @overload  # type: ignore[override]
    def forward(self, input: Tensor, hx: _States | None = None) -> tuple[Tensor, _States]: ...
    @overload
    def forward(self, input: PackedSequence, hx: _States | None = None) -> tuple[PackedSequence, _States]: ...
    def forward(self, input: Any, hx: Any = None) -> Any:
        """The last layer's output at each step, and the last states ``(h, c)`` of every layer and direction."""
        return super().forward(input, (hx[0], hx[1]) if isinstance(hx, Tensor) else hx and tuple(hx))  # type: ignore[arg-type]


class GRU(RNNBase):
    """Gated recurrent units over a sequence. Source: Cho et al. 2014.

    ``GRU(input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0, bidirectional=False)``.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse_projection(kwargs)
        super().__init__("GRU", *args, **kwargs)


# ---- cells
class RNNCellBase(_Recurrent):
    """What the cells share."""

    __constants__ = ["input_size", "hidden_size", "bias"]
    weight_ih: Any
    weight_hh: Any
    bias_ih: Any
    bias_hh: Any

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        gates = num_chunks * hidden_size
        add_parameters(self, device, dtype, weight_ih=(gates, input_size), weight_hh=(gates, hidden_size))
        per_gate = gates if bias else None
        add_parameters(self, device, dtype, bias_ih=per_gate, bias_hh=per_gate)
        self.reset_parameters()

    def extra_repr(self) -> str:
        own = {"nonlinearity": "tanh"} if "nonlinearity" in self.__dict__ else {}
        return f"{self.input_size}, {self.hidden_size}" + unusual(self, bias=True, **own)

    def _step(self, mode: str, input: Tensor, hx: Any, checked: Any) -> Any:
        """Run one step for a batch or for a single example."""
        if input.dim() not in (1, 2):
            raise ValueError(f"{self._get_name()}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        for name, state in checked:
            if state.dim() not in (1, 2):
                raise ValueError(f"{self._get_name()}: Expected {name} to be 1D or 2D, got {state.dim()}D instead")
        single = input.dim() == 1
        if single:
            input = input.unsqueeze(0)
            hx = None if hx is None else _each(hx, lambda s: s.unsqueeze(0))
        if hx is None:
            hx = torch.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
            hx = (hx, hx) if mode == "LSTM" else hx
        self._check_sizes(input, hx)
        from ..._ops.nn import flat_weights

        given = (mode, input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        result = flat_weights.cell(*given) if _region_dtype() is None else _cell_in_region(*given)
        return _each(result, lambda s: s.squeeze(0)) if single else result

    def _check_sizes(self, input: Tensor, hx: Any) -> None:
        if input.size(1) != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {input.size(1)} expected {self.input_size}")
        for k, state in enumerate(hx if isinstance(hx, tuple) else (hx,)):
            if input.size(0) != state.size(0):
                raise RuntimeError(
                    f"Input batch size {input.size(0)} doesn't match hidden{k} batch size {state.size(0)}"
                )
            if state.size(1) != self.hidden_size:
                raise RuntimeError(
                    f"hidden{k} has inconsistent hidden_size: got {state.size(1)}, expected {self.hidden_size}"
                )


class RNNCell(RNNCellBase):
    """One step of ``RNN``: (N, input_size) and (N, hidden_size) to (N, hidden_size)."""

    __constants__ = ["input_size", "hidden_size", "bias", "nonlinearity"]

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        mode = _MODES.get(self.nonlinearity)
        if mode is None:
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._step(mode, input, hx, () if hx is None else (("hidden", hx),))


class LSTMCell(RNNCellBase):
    """One step of ``LSTM``: (N, input_size) and the states (h, c), each (N, hidden_size), to the next states."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """The next states ``(h, c)``."""
        checked = () if hx is None else tuple((f"hx[{k}]", s) for k, s in enumerate(hx))
        if isinstance(hx, Tensor) and input.dim() == 2:
            raise TypeError("lstm_cell(): argument 'hx' (position 2) must be tuple of Tensors, not Tensor")
        return self._step("LSTM", input, None if hx is None else tuple(hx), checked)


class GRUCell(RNNCellBase):
    """One step of ``GRU``: (N, input_size) and (N, hidden_size) to (N, hidden_size)."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._step("GRU", input, hx, () if hx is None else (("hidden", hx),))
