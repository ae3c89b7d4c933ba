"""Functions on graphs: shapes (`shape_prop`), parts (`split_module`), pictures (`graph_drawer`), patterns (`utils`)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..._compat import find_rows

_MODULES = (
    "annotate_getitem_nodes", "graph_drawer", "graph_manipulation", "graph_transform_observer", "infra",
    "net_min_base", "operator_support", "param_fetch", "pass_manager", "shape_prop", "split_module", "split_utils",
    "splitter_base", "tools_common", "utils",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


find_rows(globals())
