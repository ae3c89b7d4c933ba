"""``torch.backends.mkl``: Intel's library, which wengert does not call."""

from __future__ import annotations

__all__ = ["is_available", "verbose"]

VERBOSE_OFF, VERBOSE_ON = 0, 1


def is_available() -> bool:
    """False: matrix products are NumPy's, whatever NumPy was built with."""
    return False


class verbose:
    """A context in which PyTorch's library would log its calls; it does nothing."""

    def __init__(self, enable: int) -> None:
        self.enable = enable

    def __enter__(self) -> verbose:
        return self

    def __exit__(self, *error: object) -> None:
        pass
