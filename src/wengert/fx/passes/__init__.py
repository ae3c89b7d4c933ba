"""Functions on graphs: shapes (`shape_prop`), parts (`split_module`), pictures (`graph_drawer`), patterns (`utils`)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_MODULES = ("graph_drawer", "graph_manipulation", "infra", "shape_prop", "split_module", "tools_common", "utils")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
