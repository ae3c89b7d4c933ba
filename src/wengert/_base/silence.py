"""Packages whose lines show no warnings of NumPy.

As in PyTorch, an operator returns inf or nan without a warning, whatever filters a program has set. NumPy's warning
names the module of the line that called it, and Python drops a warning whose module has no name. So a module of these
packages loses the entry ``__name__`` of its globals when its import is done; as an attribute it stays.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any


class Silent(ModuleType):
    """A module without a name in its globals; the import of one below it ends with its being put here."""

    @property
    def __name__(self) -> str:  # type: ignore[override]
        assert self.__spec__
        return self.__spec__.name

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        silence_below(self.__name__, value)


def silence(module: ModuleType) -> None:
    """Show no warnings of NumPy's at the lines of a module, and of those below it, now or when they are imported."""
    inside = list(vars(module).values()) if hasattr(module, "__path__") else []
    module.__class__ = Silent
    vars(module)["__name__"] = None
    for value in inside:
        silence_below(module.__name__, value)


def silence_below(package: str, value: Any) -> None:
    """Silence what is a module of a package."""
    if type(value) is ModuleType and value.__spec__ and value.__name__.rpartition(".")[0] == package:
        silence(value)
