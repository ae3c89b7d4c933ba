"""Tables whose entries are defined by modules that are imported on demand.

An operator module is imported when one of its names is first used: `import wengert` reads an index of names
(``_ops.index_of_names``) and imports no operator module. A ``Table`` is a dict over that index: a look-up imports the
module that defines the name, and iteration imports all modules.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, ItemsView, Iterator, KeysView, ValuesView
from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import Any

from .docstrings import described
from .hooks import hook


@hook
def import_one(module: str) -> None:
    """Import one module of the index and attach its names."""


@hook
def import_all() -> None:
    """Import every module of the index."""


@hook
def make_ready(value: Any, space: str, name: str) -> None:
    """Make a public function ready for programs, and enter it in the tables under this name and its others."""


class Table(dict[str, Any]):
    """A dict of entries by name; some entries are defined in modules that are not imported yet."""

    def __init__(self) -> None:
        self.home: dict[str, str] = {}  # name -> module

    def __missing__(self, name: str) -> Any:
        if name not in self.home:
            raise KeyError(name)
        import_one.run(self.home[name])
        return dict.__getitem__(self, name)

    def names(self) -> set[str]:
        """All names, without importing anything."""
        return {*self.home, *dict.keys(self)}

    def here(self) -> ItemsView[str, Any]:
        """The entries whose modules are already imported."""
        return dict.items(self)

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default  # noqa: SIM401  this is ``get``

    def __contains__(self, name: object) -> bool:
        return name in self.home or dict.__contains__(self, name)

    def __len__(self) -> int:
        return len(self.names())

    def _complete(self) -> None:
        """Bring all entries, before the table is read as a whole."""
        import_all.run()

    def __iter__(self) -> Iterator[str]:
        self._complete()
        return dict.__iter__(self)

    def keys(self) -> KeysView[str]:  # type: ignore[override]  # dict's are views too
        self._complete()
        return dict.keys(self)

    def values(self) -> ValuesView[Any]:  # type: ignore[override]  # dict's are views too
        self._complete()
        return dict.values(self)

    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]  # dict's are views too
        self._complete()
        return dict.items(self)


class PublicTable(Table):
    """The public names of one module or class. Its functions are made ready for programs when they are looked up."""

    def __init__(self, space: str) -> None:
        super().__init__()
        self.space = space
        self.unready: dict[str, Any] = {}

    def __setitem__(self, name: str, value: Any) -> None:
        self.unready[name] = value
        self.pop(name, None)

    def __missing__(self, name: str) -> Any:
        if name in self.home:
            import_one.run(self.home[name])  # of an imported one too: another thread may be in the middle of it
        elif name not in self.unready:
            raise KeyError(name)
        value = self.unready.get(name)
        if value is not None:  # else another thread was faster
            make_ready.run(value, self.space, name)
        return dict.__getitem__(self, name)

    def peek(self, name: str) -> Any:
        """An entry whose module is imported, as it is; ``None`` if there is none."""
        return self.unready[name] if name in self.unready else dict.get(self, name)

    def names(self) -> set[str]:
        return {*super().names(), *self.unready}

    def here(self) -> ItemsView[str, Any]:
        return dict([*dict.items(self), *self.unready.items()]).items()

    def __contains__(self, name: object) -> bool:
        return name in self.unready or super().__contains__(name)

    def _complete(self) -> None:
        super()._complete()
        for name, value in [*self.unready.items()]:
            make_ready.run(value, self.space, name)


class Unmade:
    """A public function that is made when one of its names is first looked up."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self.names: tuple[str, ...] = ()

    @cached_property
    def function(self) -> Any:
        """The function; two threads that ask for it at once get the same one."""
        fn = self._make()
        fn.__doc__ = described(fn.__doc__, self.names)
        return self.__dict__.setdefault("function", fn)


class LateModule(ModuleType):
    """A module by another name that is not imported before one of its members is asked for."""

    def __init__(self, name: str, home: str) -> None:
        super().__init__(name)
        self._home = home

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what looks through all modules asks for these
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(import_module(self._home), name)


def keep_former_name(name: str, module: ModuleType, *members: Any) -> None:
    """Make a module importable by a name that old pickles contain, and give members that module's name."""
    package = __name__.partition(".")[0]
    sys.modules[f"{package}.{name}"] = module
    setattr(sys.modules[package], name, module)
    for member in members:
        member.__module__ = f"{package}.{name}"


class LateFunction:
    """A placeholder in a namespace for a function whose module is not imported yet; the import replaces it."""

    __slots__ = ("module", "name", "space")

    def __init__(self, space: Any, name: str, module: str) -> None:
        self.space = space
        self.name = name
        self.module = module

    def __call__(self, *args: Any) -> Any:
        import_one.run(self.module)
        return getattr(self.space, self.name)(*args)


class LateMember:
    """A placeholder in a class for a member that is not ready yet; its first use replaces it."""

    __slots__ = ("name", "table")

    def __init__(self, name: str, table: Table) -> None:
        self.name = name
        self.table = table

    def _replaced(self, owner: type) -> Any:
        member = self.table[self.name]
        for cls in owner.__mro__:
            if vars(cls).get(self.name) is self:
                setattr(cls, self.name, member)
        return member

    def __get__(self, obj: Any, owner: Any) -> Any:
        return self._replaced(owner).__get__(obj, owner)

    def __set__(self, obj: Any, value: Any) -> None:
        self._replaced(type(obj))
        setattr(obj, self.name, value)

    def __delete__(self, obj: Any) -> None:
        self._replaced(type(obj))
        delattr(obj, self.name)
