"""The alias of `torch` in processes that a program under `python -m wengert run` spawns.

In a spawned process `multiprocessing` first runs the program's main file again, under the name `__mp_main__`.
`teach_children` makes it run this file instead, which sets up the alias and then runs the program's main file. An
environment variable names that file, because nothing else reaches the new process early enough.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_SPAWN = "multiprocessing.spawn"
_VARIABLE = "WENGERT_RUN_MAIN"  # "init_main_from_path:/a/b.py" or "init_main_from_name:package.module"


def teach_children() -> None:
    """Set up the alias in processes that this one spawns, once it imports `multiprocessing.spawn`."""
    if _SPAWN in sys.modules:
        _change(sys.modules[_SPAWN])
    else:
        sys.meta_path.insert(0, _SpawnFinder())


class _SpawnFinder(MetaPathFinder):
    """Waits for the import of `multiprocessing.spawn`, which takes 15 ms and which most programs never need."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the module's own spec, with a loader that also changes it."""
        if fullname != _SPAWN:
            return None
        sys.meta_path.remove(self)
        return changing(importlib.util.find_spec(fullname), _change)


def changing(spec: ModuleSpec | None, change: Callable[[Any], None]) -> ModuleSpec | None:
    """A module's spec, with a loader that also changes it once it is loaded."""
    if spec is not None and spec.loader is not None:
        loader: Any = spec.loader
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            change(module)

        # Python leaves its own import machinery out of tracebacks; this name makes the loader a part of it.
        code = exec_module.__code__.replace(co_filename="<frozen importlib._bootstrap_external>")
        exec_module.__code__ = code
        loader.exec_module = exec_module
    return spec


def _change(spawn: Any) -> None:
    prepare, here = spawn.get_preparation_data, __file__  # in a spawned process the program's names replace these

    def get_preparation_data(name: str) -> dict[str, Any]:
        data: dict[str, Any] = prepare(name)
        key = "init_main_from_name" if "init_main_from_name" in data else "init_main_from_path"
        if key in data:  # not in an interactive session
            os.environ[_VARIABLE] = f"{key}:{data.pop(key)}"
            data["init_main_from_path"] = here
        return data

    spawn.get_preparation_data = get_preparation_data


def _run_main() -> dict[str, Any]:
    """In the new process: the names of the program's main file."""
    import runpy

    from wengert._cli.run import install_torch_alias

    install_torch_alias()
    teach_children()
    if "WENGERT_STAND_IN" in os.environ:
        from wengert.distributed._stand_in import VARIABLE, install

        install(int(os.environ[VARIABLE]))
    kind, _, main = os.environ[_VARIABLE].partition(":")
    if kind == "init_main_from_path":
        return runpy.run_path(main, run_name="__mp_main__")
    if main.endswith("__main__"):  # a package's: `multiprocessing` does not run those
        return {}
    return runpy.run_module(main, run_name="__mp_main__", alter_sys=True)


if __name__ == "__mp_main__":
    globals().update(_run_main())
