"""Imports and deprecations: what PyTorch's private modules ``_utils`` and ``_utils_internal`` do."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable
from functools import wraps
from importlib.util import find_spec
from types import ModuleType
from typing import Any


def try_import(module_name: str) -> ModuleType | None:
    """A module, ``None`` if it is not installed."""
    known = module_name in sys.modules or find_spec(module_name) is not None
    return importlib.import_module(module_name) if known else None


def deprecated() -> Callable[[Any], Any]:
    """A decorator of ``_name`` that makes ``name``, which warns, in the same module."""

    def decorate(func: Any) -> Any:
        if not func.__name__.startswith("_"):
            raise ValueError(
                "@deprecate must decorate a function whose name starts with a single leading underscore (e.g. '_foo') "
                "as the api should be considered internal for deprecation."
            )
        module, name = sys.modules[func.__module__], func.__name__[1:]
        if hasattr(module, name):
            raise RuntimeError(f"Cannot create alias '{name}' -> symbol already exists in {module.__name__}.")

        @wraps(func)
        def alias(*args: Any, **kwargs: Any) -> Any:
            warnings.warn(f"{name} is DEPRECATED, please consider using an alternative API(s). ", stacklevel=2)
            return func(*args, **kwargs)

        alias.__name__ = name
        setattr(module, name, alias)
        return func

    return decorate
