"""``torch.classes``: classes compiled for PyTorch, of which there are only those that its tests load."""

from __future__ import annotations

from typing import Any

__all__ = ["load_library"]

loaded_libraries: set[str] = set()


def load_library(path: str) -> None:
    """Refuse a library, as ``torch.ops.load_library`` does.

    Raises:
        OSError: always.
    """
    from wengert.library import load_library

    load_library(path)


class _ClassNamespace:
    """``torch.classes.NAMESPACE``."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, attr: str) -> Any:
        if self.name == "_TorchScriptTesting" and loaded_libraries:
            from wengert.fx._script_objects import ScriptObject
            from wengert.testing._internal._torchbind import CLASSES

            if attr in CLASSES:
                return lambda *args: ScriptObject(CLASSES[attr](*args))
        raise RuntimeError(
            f"Tried to instantiate class '{self.name}.{attr}', but it does not exist! "
            "Ensure that it is registered via torch::class_"
        )


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _ClassNamespace(name)
