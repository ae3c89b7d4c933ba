"""``torch.backends.mkl``: Intel's library, which is not what wengert calls."""

from __future__ import annotations

__all__ = ["is_available", "verbose"]

VERBOSE_OFF, VERBOSE_ON = 0, 1


def is_available() -> bool:
    """False: matrix products are NumPy's, whatever NumPy was built with."""
    return False


class verbose:
    """A context in which the library would tell what it does."""

    def __init__(self, enable: int) -> None:
        self.enable = enable

    def __enter__(self) -> verbose:
        return self

    def __exit__(self, *error: object) -> None:
        pass
