"""What random operators do inside of ``vmap``: an error, one draw for all examples, or one draw for each."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

LEVELS: ContextVar[tuple[tuple[str, int, int], ...]] = ContextVar("wengert_vmap_randomness", default=())


@contextmanager
def randomness_level(randomness: str, size: int, tag: int) -> Any:
    """Inside: random operators behave as ``randomness`` says."""
    token = LEVELS.set((*LEVELS.get(), (randomness, size, tag)))
    try:
        yield
    finally:
        LEVELS.reset(token)
