"""``torch.utils``: the modules ``data``, ``checkpoint``, ``benchmark``, ..., which are imported at their first use."""

from __future__ import annotations

import copyreg
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from weakref import getweakrefcount, ref

from .._compat import find_rows

if TYPE_CHECKING:
    from . import checkpoint as checkpoint
    from . import data as data


def set_module(obj: Any, mod: str) -> None:
    """Set the module of an object, for printing.

    Raises:
        TypeError: ``mod`` is not a string.
    """
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod


def swap_tensors(t1: Any, t2: Any) -> None:
    """Exchange two tensors: every reference to one now sees the other.

    Raises:
        RuntimeError: a tensor is weakly referenced, or their classes have different slots.

    >>> import wengert as torch
    >>> a, b = torch.ones(2), torch.zeros(3)
    >>> torch.utils.swap_tensors(a, b)
    >>> a, b
    (tensor([0., 0., 0.]), tensor([1., 1.]))
    """
    from .._tape.node import AccumulateGrad

    for i, t in enumerate((t1, t2), 1):
        own = type(t._node) is AccumulateGrad and t._node.ref() is t
        if getweakrefcount(t) > own:
            raise RuntimeError(f"Cannot swap t{i} because it has weakref associated with it")
    names = [set(copyreg._slotnames(type(t))) for t in (t1, t2)]
    if names[0] != names[1]:
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    t1.__dict__, t2.__dict__ = t2.__dict__, t1.__dict__
    for slot in ("_payload", "_node", "_box", "_view"):
        one, other = (getattr(t, slot, ...) for t in (t1, t2))
        for t, value in ((t1, other), (t2, one)):
            if value is not ...:
                setattr(t, slot, value)
            elif hasattr(t, slot):
                delattr(t, slot)
    for t in (t1, t2):
        if type(t._node) is AccumulateGrad:
            t._node.ref = ref(t)


def __getattr__(name: str) -> Any:
    if not name.startswith("__") and find_spec(f"{__name__}.{name}") is not None:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


find_rows(globals())
