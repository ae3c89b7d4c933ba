"""Random operators inside ``vmap``: an error, one draw for all examples, or one draw for each."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

LEVELS: ContextVar[tuple[tuple[str, int, int], ...]] = ContextVar("wengert_vmap_randomness", default=())


@contextmanager
def randomness_level(randomness: str, size: int, tag: int) -> Any:
    """Context in which random operators follow vmap's argument ``randomness``."""
    token = LEVELS.set((*LEVELS.get(), (randomness, size, tag)))
    try:
        yield
    finally:
        LEVELS.reset(token)
