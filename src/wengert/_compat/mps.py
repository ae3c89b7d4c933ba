"""``torch.mps`` on a machine without Apple's GPUs, as PyTorch's build without it answers.

>>> import wengert as torch
>>> torch.mps.is_available(), torch.mps.device_count()
(False, 0)
"""

from __future__ import annotations

from ._absent import dummy, refusing, returning

_CALLS = {
    "current_allocated_memory": "getCurrentAllocatedMemory",
    "driver_allocated_memory": "getDriverAllocatedMemory",
    "empty_cache": "emptyCache",
    "get_rng_state": "getDefaultGenerator",
    "recommended_max_memory": "getRecommendedMaxMemory",
    "seed": "getDefaultGenerator",
    "set_per_process_memory_fraction": "setMemoryFraction",
    "set_rng_state": "getDefaultGenerator",
    "synchronize": "deviceSynchronize",
}

is_available = returning("is_available", lambda: False, "False: there is no such device.")
device_count = returning("device_count", lambda: 0, "0: there is no such device.")
manual_seed = returning("manual_seed", lambda: None, "Nothing: there is no such device.")
compile_shader = refusing("compile_shader", RuntimeError, "MPS is not available")
Event = dummy("Event")
globals().update(
    {n: refusing(n, RuntimeError, f"Cannot execute {call}() without MPS backend.") for n, call in _CALLS.items()}
)

__all__ = [  # noqa: PLE0604  the names of a table
    "Event", "compile_shader", "device_count", "is_available", "manual_seed", *_CALLS,
]  # fmt: skip
