"""``__torch_function__`` as every room knows it: its state, the method that overrides nothing, and its hooks.

Which classes and modes are asked, and how, is in ``_tensor_api.torch_function`` and ``_tensor_api.override_sites``.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, NamedTuple

from .hooks import hook


class State(NamedTuple):
    """What holds in this thread or task: whether classes and modes are asked, and the modes that are on."""

    classes: bool = True
    all: bool = True
    modes: tuple[Any, ...] = ()


STATE: ContextVar[State] = ContextVar("wengert_overrides", default=State())  # noqa: B039  a tuple


def _disabled_torch_function_impl(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """The ``__torch_function__`` of a class that overrides nothing: the function itself, its arguments as tensors."""
    token = STATE.set(STATE.get()._replace(classes=False))
    try:
        return func(*args, **(kwargs or {}))
    finally:
        STATE.reset(token)


DISABLED: Any = _disabled_torch_function_impl


def _disabled_torch_dispatch_impl(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """The ``__torch_dispatch__`` of a class that has none; no subclass is asked by it here."""
    return func(*args, **(kwargs or {}))


@hook
def taken_over(cls: Any, func: Any, kinds: Any, args: Any = (), kwargs: dict[str, Any] | None = None) -> Any:
    """``Tensor.__torch_function__``: run the function on tensors; its results are instances of ``cls``."""


@hook
def subclassed(cls: Any) -> None:
    """A subclass of ``Tensor`` was defined."""


@hook
def refused(info: Any, args: tuple[Any, ...]) -> Any:
    """An operator met something that is no tensor: the answer of what overrides, or ``...``."""


@hook
def refused_in_place(method: str, self: Any, other: Any) -> Any:
    """An operator such as ``+=`` met something that is no tensor: the answer of what overrides, or NotImplemented."""


@hook
def recovered(method: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any:
    """In an ``except`` clause of a method of tensors: its answer if an argument overrides, else the error again."""
