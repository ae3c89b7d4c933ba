"""What a program calls besides operators: copies, an optimizer's step."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays.layouts import is_dense, with_strides
from .._arrays.memory import once, repeats
from .._tape.tensor import Tensor, alias_payload
from ..optim._elementwise import number


class InOrder:
    """A copy in the order of dims in memory that another array has."""

    __name__ = "in_order"

    def __init__(self, like: Any) -> None:
        self.order = sorted(range(like.ndim), key=lambda d: -like.strides[d])
        self.back = [self.order.index(d) for d in range(like.ndim)]

    def __call__(self, a: Any) -> Any:
        return a.transpose(self.order).copy().transpose(self.back)  # the operand's buffer may be another value's next


def copied(a: Any) -> Any:
    """A copy with the same strides; what is repeated is in memory once, as in what was expanded."""
    if not repeats(a.shape, a.strides):
        strides = tuple(map(abs, a.strides))
        if not a.size or is_dense(a.shape, strides, a.itemsize):
            return np.array(a, order="K")
        return with_strides(a, strides)
    return np.broadcast_to(np.array(a[once(a)], order="K"), a.shape)


class Step:
    """One parameter's step of an optimizer, by a gradient's array, with the state and the numbers of that moment."""

    __name__ = "step"

    def __init__(self, optimizer: Any, group: dict[str, Any], index: int) -> None:
        self.optimizer = optimizer
        self.group = group
        self.index = index

    @property
    def param(self) -> Any:
        """The parameter."""
        return self.group["params"][self.index]

    def __call__(self, g: Any) -> None:
        optimizer, group, p = self.optimizer, self.group, self.param
        state = optimizer._state_of(group, p)
        decay = 0 if group.get("decoupled_weight_decay") else number(group.get("weight_decay", 0))
        kernel, names, constants = optimizer._rule(group, state, number)
        tensors = [state[n] for n in names]
        optimizer._step_in_place(p._payload, g, tensors, kernel, constants, decay, group.get("maximize", False))

    def __repr__(self) -> str:
        return f"{type(self.optimizer).__name__}.step"

    def undoing(self) -> Any:
        """A function that gives the parameter's state back as it is now."""
        states, p = self.optimizer.state, self.param
        state = states.get(p)
        if state is None:
            return lambda: states.pop(p, None)
        was = {name: (x, np.array(alias_payload(x)) if isinstance(x, Tensor) else None) for name, x in state.items()}

        def undo() -> None:
            state.clear()
            for name, (x, a) in was.items():
                if a is not None:
                    alias_payload(x)[...] = a
                state[name] = x

        return undo
