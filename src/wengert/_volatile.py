"""Legacy ``volatile``: what is computed from a volatile input is volatile and not recorded, whatever else it depends on.

Costs other programs nothing: the first volatile tensor puts a reason into ``M`` and a look at the operands into the
slow path.
"""

from __future__ import annotations

from typing import Any

from ._dispatch import quiet, slow_hooks
from ._modes import M
from ._registry import Info
from ._tensor import Tensor


def is_volatile(t: Any) -> bool:
    """Whether a tensor was made with ``volatile=True`` or computed from one that was."""
    return isinstance(t, Tensor) and bool(t.__dict__.get("_volatile", False))


def mark_volatile(t: Tensor) -> Tensor:
    """Make a tensor volatile."""
    if _hook not in slow_hooks:
        slow_hooks.append(_hook)
        M.append("volatile")
    t.__dict__["_volatile"] = True
    return t


def _hook(info: Info, args: tuple[Any, ...]) -> Any:
    operands = args[: info.arity] if info.arity >= 0 else args[0]
    if not any(is_volatile(t) for t in operands):
        return ...
    result = quiet(info, args)
    for r in result if isinstance(result, (tuple, list)) else (result,):
        mark_volatile(r)
    return result
