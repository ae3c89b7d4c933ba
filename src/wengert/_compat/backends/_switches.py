"""A context that sets the switches of one of these modules and puts them back."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def switched(module: str, **switches: Any) -> Iterator[None]:
    """Set a module's names to what is not None, for a block."""
    names = vars(sys.modules[module])
    wanted = {name: value for name, value in switches.items() if value is not None}
    before = {name: names[name] for name in wanted}
    names.update(wanted)
    try:
        yield
    finally:
        names.update(before)
