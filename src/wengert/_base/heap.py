"""The objects that live in the process, as Python's collector knows them.

NOTE [ Tuples of other threads ]
The collector lists also a tuple that another thread is building from a generator (``tuple(f(x) for x in y)``). Whoever
holds it then makes that thread fail: "SystemError: Objects/tupleobject.c: bad argument to internal function". So no
list of all objects is held while Python runs: ``lists`` makes it, looks through it and drops it in one call of C, and
``living_of`` asks for what refers to a class.
"""

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


def lists(value: Any, generation: int | None = None) -> bool:
    """Whether the collector lists an object, in a generation or at all: NOTE [ Tuples of other threads ]."""
    made = map(gc.get_objects, (generation,))  # called when ``set`` asks for it
    # to the end, not ``any``: the list has its own iterator, and would stay with it as a cycle
    return True in set(map(operator.is_, itertools.chain.from_iterable(made), itertools.repeat(value)))


def is_frozen() -> bool:
    """Whether the program has frozen its objects (``gc.freeze``); Python 3.12 freezes a few hundred of its own.

    The collector counts what is frozen one by one, so it is asked only until an object of ours is frozen too.
    """
    global _is_hidden
    if _is_hidden and not lists(_old):
        return True
    frozen = gc.get_freeze_count() > 1000
    _is_hidden = frozen and not lists(_old)
    return frozen


def _listed(*kinds: type) -> list[Any]:
    """Every object of some classes that the collector lists: each refers to its class."""
    classes = list(kinds)
    for cls in classes:
        below: list[type] = type.__subclasses__(cls)
        classes += [c for c in below if c not in classes]
    # not isinstance, which asks an object for its __class__
    return [o for o in gc.get_referrers(*classes) if issubclass(type(o), kinds)]


def _living(kind: type) -> list[Any]:
    """The same; those that the program has frozen are listed too, and stay frozen."""
    if not is_frozen():
        return _listed(kind)
    gc.unfreeze()
    try:
        gc.collect()  # what is garbage now would be frozen, and never be freed
        return _listed(kind)
    finally:
        gc.freeze()


_frozen: dict[type, tuple[_Mark, Collection[Any]]] = {}


def living_of(kind: type) -> list[Any]:
    """Every object of a class that can be referred to weakly and that the collector tracks.

    Those that the program has frozen are found once for each freeze, by a second one, since the collector does not tell
    of them otherwise.
    """
    listed = _listed(kind, _Mark)  # one search of the heap, which may be large, finds both
    mark, frozen = _frozen.get(kind, (None, ()))
    if not any(o is mark for o in listed):
        frozen = weakref.WeakSet(_living(kind)) if is_frozen() else ()
        _frozen[kind] = _Mark(), frozen
    found = {id(o): o for o in frozen}
    found.update((id(o), o) for o in listed if type(o) is not _Mark)
    return list(found.values())
