"""``torch.backends.mkldnn``: Intel's oneDNN, not there. Its switches can be set and read."""

from __future__ import annotations

from contextlib import AbstractContextManager

from ._switches import switched
from .mkl import VERBOSE_OFF, VERBOSE_ON, verbose

__all__ = ["VERBOSE_OFF", "VERBOSE_ON", "flags", "is_available", "verbose"]

enabled = True
deterministic = False
allow_tf32 = True
fp32_precision = "none"


def is_available() -> bool:
    """False."""
    return False


def flags(
    enabled: bool = False, deterministic: bool = False, allow_tf32: bool = True, fp32_precision: str = "none"
) -> AbstractContextManager[None]:
    """A context in which the switches are these."""
    return switched(__name__, enabled=enabled, deterministic=deterministic, allow_tf32=allow_tf32)
