"""The objects that live in the process, as Python's collector knows them."""

from __future__ import annotations

import gc
from typing import Any


def living() -> list[Any]:
    """Every object that the collector tracks; those that the program has frozen are listed too, and stay frozen."""
    if not gc.get_freeze_count():
        return gc.get_objects()
    gc.unfreeze()
    gc.collect()  # what is garbage now would be frozen, and never be freed
    found = gc.get_objects()
    gc.freeze()
    return found
