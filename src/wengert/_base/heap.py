"""The objects that live in the process, as Python's collector knows them."""

from __future__ import annotations

import gc
import itertools
import operator
import weakref
from collections.abc import Collection
from typing import Any


class _Mark:
    """An object that the collector lists until ``gc.freeze`` is called."""


_old = _Mark()
_is_hidden = False


def lists(listed: list[Any], value: Any) -> bool:
    """Whether a list of the collector's has an object."""
    return any(map(operator.is_, listed, itertools.repeat(value)))


def is_frozen() -> bool:
    """Whether the program has frozen its objects (``gc.freeze``); Python 3.12 freezes a few hundred of its own.

    The collector counts what is frozen one by one, so it is asked only until an object of ours is frozen too.
    """
    global _is_hidden
    if _is_hidden and not lists(gc.get_objects(), _old):
        return True
    frozen = gc.get_freeze_count() > 1000
    _is_hidden = frozen and not lists(gc.get_objects(), _old)
    return frozen


def living() -> list[Any]:
    """Every object that the collector tracks; those that the program has frozen are listed too, and stay frozen."""
    if not is_frozen():
        return gc.get_objects()
    gc.unfreeze()
    try:
        gc.collect()  # what is garbage now would be frozen, and never be freed
        return gc.get_objects()
    finally:
        gc.freeze()


_frozen: dict[type, tuple[_Mark, Collection[Any]]] = {}


def living_of(kind: type) -> list[Any]:
    """Every object of a class that can be referred to weakly and that the collector tracks.

    Those that the program has frozen are found once for each freeze, by a second one, since the collector does not tell
    of them otherwise.
    """
    listed = gc.get_objects()
    mark, frozen = _frozen.get(kind, (None, ()))
    if mark is None or not lists(listed, mark):
        # not isinstance, which asks an object for its __class__
        frozen = weakref.WeakSet(o for o in living() if issubclass(type(o), kind)) if is_frozen() else ()
        _frozen[kind] = _Mark(), frozen
    found = {id(o): o for o in frozen}
    found.update((id(o), o) for o in listed if issubclass(type(o), kind))
    return list(found.values())
