"""The part of ``__torch_function__`` that every room uses: its state, the default methods and the hooks.

``_tensor_api.torch_function`` and ``_tensor_api.override_sites`` decide which classes and modes are called, and how.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, NamedTuple

from .hooks import hook
from .modes import OUTER, leaving


class State(NamedTuple):
    """The state of this thread or task: whether overrides of classes and modes are called, and the active modes.

    ``outer`` is the state to go back to; ``mark`` counts it while there are modes (``modes.Marks``).
    """

    classes: bool = True
    all: bool = True
    modes: tuple[Any, ...] = ()
    outer: Any = None
    mark: Any = None


STATE: ContextVar[State] = ContextVar("wengert_overrides", default=State(outer=State()))  # noqa: B039  a tuple
leave_modes = leaving((STATE, OUTER))
AROUND: ContextVar[Any] = ContextVar("wengert_around_hooks", default=None)
"""What calls a program's function inside of an operator, under the dispatch modes that were asked about it."""


def _disabled_torch_function_impl(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """The ``__torch_function__`` of a class that overrides nothing: it runs the function on plain tensors."""
    before = STATE.get()
    try:
        STATE.set(before._replace(classes=False))
        return func(*args, **(kwargs or {}))
    finally:
        STATE.set(before)


DISABLED: Any = _disabled_torch_function_impl


def _disabled_torch_dispatch_impl(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """The ``__torch_dispatch__`` of a class that overrides nothing."""
    return func(*args, **(kwargs or {}))


@hook
def taken_over(cls: Any, func: Any, kinds: Any, args: Any = (), kwargs: dict[str, Any] | None = None) -> Any:
    """``Tensor.__torch_function__``: run the function on tensors and return instances of ``cls``."""


@hook
def subclassed(cls: Any) -> None:
    """Called when a subclass of ``Tensor`` is defined."""


@hook
def refused(info: Any, args: tuple[Any, ...]) -> Any:
    """The result of an override if an operator got an argument that is not a tensor, or ``...`` if none overrides."""


@hook
def refused_in_place(method: str, self: Any, other: Any) -> Any:
    """``refused`` for an operator such as ``+=``: it returns NotImplemented if none overrides."""


@hook
def recovered(method: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any:
    """In an ``except`` clause of a tensor's method: return the result of an argument's override, or raise again."""
