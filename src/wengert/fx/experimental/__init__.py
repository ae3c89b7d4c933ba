"""Programs as operators (`proxy_tensor`), and modules made faster for inference (`optimization`)."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ..._compat import find_rows


def __getattr__(name: str) -> Any:
    if not name.startswith("__") and find_spec(f"{__name__}.{name}") is not None:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


find_rows(globals())
