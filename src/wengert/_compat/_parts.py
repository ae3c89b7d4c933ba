"""What a row of the table of stand-ins consists of: functions that answer or refuse, classes, values, other names."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from wengert._base.absent import absent_class, answering, named, refusing

Part = Callable[[str], dict[str, Any]]  # module name -> names


def find(place: str) -> Any:
    """``"module:name"`` below the package, or ``":name"`` of it."""
    module, _, name = place.partition(":")
    return getattr(import_module(f"wengert.{module}".rstrip(".")), name)


def answers(names: str, answer: Any, doc: str | None = None) -> Part:
    """Functions that answer: like ``answer``, if that is a function, or with it, whatever they are given."""
    return lambda module: {n: named(answering(n, answer, doc), n, None, module) for n in names.split()}


def refusals(names: str, error: type[Exception], message: str, *notes: str) -> Part:
    """Functions that raise an error; ``{}`` in its message and notes is the function's name."""

    def made(name: str) -> Any:
        return refusing(name, error, message.format(name), *(note.format(name) for note in notes))

    return lambda module: {n: named(made(n), n, None, module) for n in names.split()}


def classes(names: str, base: str | type | None = None, doc: str | None = None, **members: Any) -> Part:
    """Classes for ``isinstance``, of which there is no object; or those with a base, which may be ``"module:name"``."""

    def made(name: str, module: str) -> Any:
        root = find(base) if isinstance(base, str) else base
        for member, function in members.items():
            if callable(function):
                function.__qualname__ = f"{name}.{member}"
        return named(absent_class(name) if root is None else type(name, (root,), dict(members)), name, doc, module)

    return lambda module: {n: made(n, module) for n in names.split()}


def own(**written: type) -> Part:
    """Classes that are written elsewhere and say that they are of this module."""
    return lambda module: {n: named(cls, n, None, module) for n, cls in written.items()}


def values(**given: Any) -> Part:
    """Plain values, such as switches that can be set and read."""
    return lambda module: dict(given)


def aliases(home: str, names: str) -> Part:
    """Names of another module: ``new=old``, or the same."""
    pairs = [(new, old or new) for new, _, old in (name.partition("=") for name in names.split())]
    return lambda module: {new: find(f"{home}:{old}") for new, old in pairs}


def older_amp(device: str) -> Part:
    return lambda module: find("_compat._older_amp:names")(module, device)
