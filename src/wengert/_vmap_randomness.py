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


def check_random() -> tuple[int, int] | None:
    """Called by a random operator: ``(size, tag)`` if each example wants its own draw, ``None`` for one draw.

    Only the innermost vmap is asked. Raises PyTorch's error if random operators are not allowed there.
    """
    levels = LEVELS.get()
    if not levels:
        return None
    randomness, size, tag = levels[-1]
    if randomness == "error":
        raise RuntimeError(
            "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
            "randomness flags on vmap or perform the randomness operation out of vmap"
        )
    return (size, tag) if randomness == "different" else None
