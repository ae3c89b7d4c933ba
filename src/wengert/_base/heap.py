"""The objects that live in the process, as Python's collector knows them."""

from __future__ import annotations

import gc
from typing import Any


def is_frozen() -> bool:
    """Whether the program has frozen its objects (``gc.freeze``); Python 3.12 freezes a few hundred of its own."""
    return gc.get_freeze_count() > 1000


def living() -> list[Any]:
    """Every object that the collector tracks; those that the program has frozen are listed too, and stay frozen."""
    if not is_frozen():
        return gc.get_objects()
    gc.unfreeze()
    gc.collect()  # what is garbage now would be frozen, and never be freed
    found = gc.get_objects()
    gc.freeze()
    return found
