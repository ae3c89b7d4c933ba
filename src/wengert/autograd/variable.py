"""``Variable``, the name of tensors with gradients in PyTorch 0.1."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from .._base.errors import nearest, noted, warn
from .._tape.engine import queue_callback
from .._tape.node import leaf_node
from .._tape.tensor import Tensor, TensorMeta, make, shared_payload
from .._tensor_api import printing


class VariableMeta(TensorMeta):
    """``isinstance(t, Variable)`` is true for every Tensor."""

    def __instancecheck__(cls, other: Any) -> bool:
        return isinstance(other, Tensor)

    def __subclasscheck__(cls, other: Any) -> bool:
        return issubclass(other, Tensor)

    def __call__(cls, data: Any = None, requires_grad: bool = False, volatile: bool = False, **kwargs: Any) -> Any:
        if kwargs.keys() - {"_grad_fn", "creator", "name"}:
            (key, *_) = kwargs.keys() - {"_grad_fn", "creator", "name"}
            near = nearest(key, ("data", "requires_grad", "volatile")).removeprefix("; ")
            text = f"'{key}' is an invalid keyword argument for this function"
            raise noted(TypeError(text), near and f"What to do: {near}")
        if data is None:
            t: Any = Tensor()
        elif isinstance(data, Tensor):
            t = make()  # a plain tensor, whatever the class of data
            t._payload = shared_payload(data, t, counted=False)
            t._node = None
            t._box = None
            if printing.era:
                t.__dict__["_is_variable"] = True
        else:
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        if volatile:
            from .._tensor_api.volatile import mark_volatile

            if requires_grad:
                raise ValueError("Variable can't be volatile and require_grad at the same time!")
            warn(
                "volatile was removed from PyTorch (Variable.volatile is always False there). Use `with "
                "torch.no_grad():` instead:\n    with torch.no_grad():\n        y = model(x)",
                DeprecationWarning,
            )
            return mark_volatile(t)
        if requires_grad:
            from .._tape.properties import check_floating

            check_floating(t)
            leaf_node(t)
        return t


class Variable(metaclass=VariableMeta):
    """``Variable(t)`` returns a Tensor on t's memory, without t's history.

    >>> import wengert as torch
    >>> from wengert.autograd import Variable
    >>> x = Variable(torch.ones(2), requires_grad=True)
    >>> isinstance(x, torch.Tensor), isinstance(x, Variable)
    (True, True)
    """

    _execution_engine = SimpleNamespace(queue_callback=queue_callback)  # programs call the engine by it
