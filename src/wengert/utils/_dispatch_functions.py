"""What dispatch modes are asked about beside operators: new tensors, writes in place, ``detach``, ``item``, ``out=``.

In wengert no operator does these things; so a function mode below all others catches the functions that do. Functions
that such a function calls inside are not seen.
"""

from __future__ import annotations

from typing import Any

import wengert as torch

from .._base import constants
from .._base.torch_function import STATE
from .._tape.tensor import Tensor
from .._tensor_api.function_modes import BaseTorchFunctionMode
from .._tensor_api.torch_function import name_of
from ._aten import aten
from ._aten_schemas import factory_defaults, matching

_FILLED = ("empty", "full", "ones", "rand", "randint", "randn", "zeros")
_MAKERS = frozenset(
    {*_FILLED, *[f"{name}_like" for name in _FILLED], *[f"new_{name}" for name in ("empty", "full", "ones", "zeros")]}
    | {"arange", "empty_strided", "eye", "linspace", "logspace", "randperm"}
)
_OF_NUMBERS = frozenset({"new_tensor", "tensor"})
_PYTHONS = {"__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_", "__itruediv__": "div_"}
_NUMBERS = frozenset({"item", "__bool__", "__float__", "__int__", "__index__", "__complex__"})
_NO_OPERATORS = frozenset({"requires_grad_", "share_memory_", "rename_", "module_load_"})


class Functions(BaseTorchFunctionMode):
    """The function mode of all dispatch modes of a thread or task; ``entered()`` is the innermost of these."""

    def __init__(self, entered: Any) -> None:
        self.entered = entered

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        mode, (_, _, name) = self.entered(), (name_of(func) or "").removesuffix(".__get__").rpartition(".")
        if mode is None:
            return func(*args, **kwargs)
        if name in _MAKERS:
            requires_grad = kwargs.get("requires_grad", False)
            found = _call(name, args, {k: v for k, v in kwargs.items() if k != "requires_grad"}, factory_defaults(name))
            if found is not None:
                made = self.ask(mode, *found)
                return made.requires_grad_() if requires_grad else made
        if name in _OF_NUMBERS:
            return self.ask(mode, aten.lift_fresh.default, (func(*args, **kwargs),))
        if not args or not isinstance(args[0], Tensor) or name in _NO_OPERATORS:
            return func(*args, **kwargs)
        if name in _NUMBERS and args[0].numel() == 1:
            number = self.ask(mode, aten._local_scalar_dense.default, args[:1])
            return number if name == "item" else getattr(number, name)()
        if name in ("detach", "data"):
            return self.ask(mode, aten.detach.default, args[:1])
        if name in _PYTHONS or (name[-1:] == "_" and name[-2:] != "__"):
            found = _call(_PYTHONS.get(name, name), args, kwargs)
            return func(*args, **kwargs) if found is None else self.ask(mode, *found)
        if name == "__setitem__" and _is_plain(*args[1:]):
            value = args[2]
            if not isinstance(value, Tensor):
                value = self.ask(mode, aten.lift_fresh.default, (torch.tensor(value, dtype=args[0].dtype),))
            part = args[0][args[1]]
            whole = value.shape == part.shape or value.ndim == 0
            return self.write(mode, part, value if whole else value.expand_as(part))
        if isinstance(kwargs.get("out"), Tensor):
            found = matching(name, args, {k: v for k, v in kwargs.items() if k != "out"})
            if found is not None and found[0] in ("Tensor", "default"):
                return self.ask(mode, getattr(aten, name).out, found[1], {**found[2], "out": kwargs["out"]})
        if name == "backward" and len(args) < 2 and kwargs.get("gradient") is None and args[0].numel() == 1:
            if args[0].requires_grad:  # the 1 with which the pass begins
                how = {"pin_memory": False, "memory_format": constants.preserve_format}
                kwargs = {**kwargs, "gradient": self.ask(mode, aten.ones_like.default, args[:1], how)}
        return func(*args, **kwargs)

    def write(self, mode: Any, part: Tensor, value: Tensor) -> None:
        """Write a tensor into a view."""
        self.ask(mode, aten.copy_.default if value.shape == part.shape else aten.fill_.Tensor, (part, value))

    def ask(self, mode: Any, op: Any, args: Any, kwargs: Any = None) -> Any:
        """The answer of the innermost dispatch mode, inside of which this one is on for the others."""
        state = STATE.get()
        try:
            STATE.set(state._replace(modes=(self, *state.modes)))
            return mode.asked(op, args, kwargs or {})
        finally:
            STATE.set(state)
            del state  # the frame of an error must not keep the modes' mark: functions would stay slow


def _is_plain(index: Any, value: Any) -> bool:
    """Whether a write by index is one of a number or tensor into a view."""
    items = index if isinstance(index, tuple) else (index,)
    views = all(i is None or i is Ellipsis or type(i) in (int, slice) for i in items)
    return views and isinstance(value, (Tensor, bool, int, float, complex))


def _call(name: str, args: Any, kwargs: Any, more: Any = None) -> Any:
    """PyTorch's call for a function's, ``None`` if none fits."""
    if getattr(torch.Tensor, name, None) is None and getattr(torch, name, None) is None:
        return None
    found = matching(name, args, kwargs)
    if found is None and more is None and name in ("copy_", "fill_", "zero_"):
        number = name == "fill_" and len(args) > 1 and not isinstance(args[1], Tensor)
        found = ("Scalar" if number else "Tensor" if name == "fill_" else "default"), args, kwargs
    if found is None:
        return None
    overload, placed, named = found
    return getattr(getattr(aten, name), overload), placed, {**(more or {}), **named}
