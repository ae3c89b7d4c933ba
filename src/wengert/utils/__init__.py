"""``torch.utils``: ``data``, ``checkpoint``, ``benchmark``, ... Each is imported when it is first named."""

from __future__ import annotations

import copyreg
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from weakref import ref


def set_module(obj: Any, mod: str) -> None:
    """Say which module an object belongs to, for printing.

    Raises:
        TypeError: ``mod`` is not a text.
    """
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod


def swap_tensors(t1: Any, t2: Any) -> None:
    """Exchange all that two tensors are, their classes, attributes and histories, so that each name finds the other.

    Raises:
        RuntimeError: their classes have different slots.

    >>> import wengert as torch
    >>> a, b = torch.zeros(2), torch.ones(3)
    >>> torch.utils.swap_tensors(a, b)
    >>> a
    tensor([1., 1., 1.])
    """
    from .._node import AccumulateGrad

    slots = copyreg._slotnames(type(t1))  # type: ignore[attr-defined]
    if set(slots) != set(copyreg._slotnames(type(t2))):  # type: ignore[attr-defined]
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    names = (*slots, "__dict__", "__class__")
    parts = [{name: getattr(t, name) for name in names if hasattr(t, name)} for t in (t1, t2)]
    for t, theirs, mine in ((t1, parts[1], parts[0]), (t2, parts[0], parts[1])):
        for name in mine.keys() - theirs.keys():
            delattr(t, name)
        for name, value in theirs.items():
            setattr(t, name, value)
        if type(t._fn) is AccumulateGrad:
            t._fn.ref = ref(t)


def __getattr__(name: str) -> Any:
    if not name.startswith("__") and find_spec(f"{__name__}.{name}") is not None:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
