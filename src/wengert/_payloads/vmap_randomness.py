"""Random operators inside ``vmap``: an error, one draw for all examples, or one draw for each."""

from __future__ import annotations

from contextvars import ContextVar
from operator import itemgetter

from .._base.modes import enter, leaving

LEVELS: ContextVar[tuple[tuple[str, int, int], ...]] = ContextVar("wengert_vmap_randomness", default=())


class randomness_level:
    """Context in which random operators follow vmap's argument ``randomness``."""

    def __init__(self, randomness: str, size: int, tag: int) -> None:
        self.level = (randomness, size, tag)

    def __enter__(self) -> None:
        enter(LEVELS, (*LEVELS.get(), self.level))

    __exit__ = leaving((LEVELS, itemgetter(slice(-1))))
