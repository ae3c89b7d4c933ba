"""PyTorch's modules that have little to do here, under their own names: `wengert.futures` is `_compat/futures.py`.

A module that only answers (names for annotations, functions that refuse, switches that switch nothing) is no file but
a row of the table in `_rows.py`. A package finds its rows as it would find modules in a zip file: behind its folders
stands the table's file on its `__path__`, so that Python's own finder, `pkgutil` and `python -m wengert run` know them.
The table is read when something is asked for that is no file. `tools/make_stubs.py` tells type checkers of them.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

PACKAGE = __name__.partition(".")[0]
FOLDER = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(FOLDER, "_rows.py")


def _entry(package: str) -> str:
    """What stands for a package's rows on its path."""
    return os.path.join(TABLE, package) if package else TABLE


def open_rows(package: dict[str, Any]) -> None:
    """Let a file, given as its ``globals()``, have the names of its own row, and if it is a package find its rows."""
    name = package["__name__"].partition(".")[2]
    if "__path__" in package:
        find_rows(package)
    if name:
        fill(package, name)


def find_rows(package: dict[str, Any]) -> None:
    """Let a package, given as its ``globals()``, find its rows; the table is read when one is imported."""
    package["__path__"].append(_entry(package["__name__"].partition(".")[2]))


def fill(module: dict[str, Any], name: str) -> None:
    """Give a module the names of a row."""
    from ._rows import ROWS

    _, *parts = ROWS.get(name, ("",))
    listed = set(module.get("__all__", ()))
    for part in parts:
        found = part(module["__name__"])
        module.update(found)
        listed.update(n for n in found if n[0] != "_")
    module["__all__"] = sorted(listed)


def _below(package: str) -> list[str]:
    """The last names of the rows right below a package."""
    from ._rows import ROWS

    return [last for owner, _, last in (row.rpartition(".") for row in ROWS) if owner == package]


class RowFinder:
    """Finds the rows of a package: an entry of its ``__path__`` that is the table's file and the package's name."""

    def __init__(self, entry: str) -> None:
        table, _, self.package = entry.partition(TABLE)
        if table or not entry:
            raise ImportError

    def find_spec(self, fullname: str, target: ModuleType | None = None) -> ModuleSpec | None:
        """The spec of a row's module; what is a file is found before, and what is neither is not there."""
        from ._rows import ROWS

        name = fullname.partition(".")[2]
        if name not in ROWS:
            return None
        loader: Any = RowLoader()
        spec = ModuleSpec(fullname, loader, origin=TABLE, is_package=bool(_below(name)))
        spec.has_location = True
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(_entry(name))
        return spec

    def iter_modules(self, prefix: str = "") -> Iterator[tuple[str, bool]]:
        """What ``pkgutil`` asks for: names, and whether they are packages."""
        package = self.package.strip(os.sep)
        for last in _below(package):
            yield prefix + last, bool(_below(f"{package}.{last}".lstrip(".")))


class RowLoader:
    """Makes the module of a row, and then those of the rows below it: in PyTorch they come with the package."""

    def create_module(self, spec: ModuleSpec) -> None:
        """A module as Python makes it."""

    def exec_module(self, module: ModuleType) -> None:
        """Fill the module."""
        from ._rows import ROWS

        name = module.__name__.partition(".")[2]
        what = ROWS[name][0] or f"see ``torch.{name.rpartition('.')[0]}``."
        module.__doc__ = f"``torch.{name}``: {inspect.cleandoc(what)}"
        fill(vars(module), name)
        for last in _below(name):
            import_module(f"{PACKAGE}.{name}.{last}")
            module.__all__ += [last] if last[0] != "_" else []


sys.path_hooks.append(RowFinder)
