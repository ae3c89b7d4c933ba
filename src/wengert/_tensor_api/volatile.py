"""Legacy ``volatile``: the result of an operator with a volatile input is volatile and not recorded.

Other programs pay nothing: while a volatile tensor lives, there is a reason in ``modes.slow_if_recording``, and the
slow path checks its operands.
"""

from __future__ import annotations

from typing import Any

from .._base.errors import warn
from .._base.modes import Watched
from .._base.registry import Operator
from .._kinds.slow_path import quiet
from .._tape.tensor import Tensor


def is_volatile(t: Any) -> bool:
    """Whether a tensor was made with ``volatile=True`` or computed from one that was (legacy)."""
    return isinstance(t, Tensor) and "_volatile" in t.__dict__


def get_volatile(t: Tensor) -> bool:
    """Whether the tensor was made with ``volatile=True`` or computed from one that was; PyTorch's warning, if none was.

    >>> import wengert as torch
    >>> x = torch.ones(1)
    >>> x.volatile = True
    >>> x.exp().volatile
    True
    """
    if not _alive:
        warn("volatile was removed (Variable.volatile is always False)", UserWarning)
    return is_volatile(t)


def mark_volatile(t: Tensor) -> Tensor:
    """Make a tensor volatile."""
    t.__dict__["_volatile"] = _alive.mark()
    return t


def set_volatile(t: Tensor, value: bool) -> None:
    """``t.volatile = True``, the syntax of PyTorch 0.1."""
    if value:
        mark_volatile(t)
    else:
        t.__dict__.pop("_volatile", None)


def _hook(info: Operator, args: tuple[Any, ...], proceed: Any) -> Any:
    operands = args[: info.arity] if info.arity >= 0 else args[0]
    if not any(is_volatile(t) for t in operands):
        return proceed()
    result = quiet(info, args)
    for r in result if isinstance(result, (tuple, list)) else (result,):
        mark_volatile(r)
    return result


_alive = Watched(_hook)
