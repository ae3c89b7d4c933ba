"""``torch.backends.cudnn``: not there. Its switches can be set and read."""

from __future__ import annotations

from contextlib import AbstractContextManager

from ._switches import switched

__all__ = ["flags", "is_acceptable", "is_available", "set_flags", "version"]

enabled = True
benchmark = False
benchmark_limit: int | None = None
deterministic = False
allow_tf32 = True
fp32_precision = "none"


def is_available() -> bool:
    """False."""
    return False


def version() -> int | None:
    """``None``: there is none."""
    return None


def is_acceptable(tensor: object) -> bool:
    """False: no tensor is for it."""
    return False


def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
) -> AbstractContextManager[None]:
    """A context in which the switches are these."""
    return switched(__name__, enabled=enabled, benchmark=benchmark, deterministic=deterministic, allow_tf32=allow_tf32)


def set_flags(
    _enabled: bool | None = None,
    _benchmark: bool | None = None,
    _benchmark_limit: int | None = None,
    _deterministic: bool | None = None,
    _allow_tf32: bool | None = None,
    _fp32_precision: str = "none",
) -> tuple[bool, bool, int | None, bool, bool]:
    """Set those switches that are not None; what they were."""
    names = globals()
    wanted = {
        "enabled": _enabled,
        "benchmark": _benchmark,
        "benchmark_limit": _benchmark_limit,
        "deterministic": _deterministic,
        "allow_tf32": _allow_tf32,
    }
    before = tuple(names[name] for name in wanted)
    names.update({name: value for name, value in wanted.items() if value is not None})
    return before  # type: ignore[return-value]
