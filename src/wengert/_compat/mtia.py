"""``torch.mtia`` on a machine without Meta's accelerators.

>>> import wengert as torch
>>> torch.mtia.is_available()
False
"""

from __future__ import annotations

from ._absent import refusing, returning

_REFUSED = ("current_device", "current_stream", "empty_cache", "init", "set_device", "stream", "synchronize")

is_available = returning("is_available", lambda: False, "False: there is no such device.")
is_initialized = returning("is_initialized", lambda: False, "False: there is no such device.")
device_count = returning("device_count", lambda: 0, "0: there is no such device.")
manual_seed = returning("manual_seed", lambda: None, "Nothing: there is no such device.")
manual_seed_all = returning("manual_seed_all", lambda: None, "Nothing: there is no such device.")
globals().update({n: refusing(n, RuntimeError, f"Cannot execute {n}() without MTIA backend.") for n in _REFUSED})

__all__ = [  # noqa: PLE0604  the names of a table
    "device_count", "is_available", "is_initialized", "manual_seed", "manual_seed_all", *_REFUSED,
]  # fmt: skip
