"""Communication hooks of ``DistributedDataParallel``, by name: what replaces the mean of each bucket.

``model.register_comm_hook(state, hook)`` takes any function; these are PyTorch's.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from . import debugging_hooks as debugging
from . import default_hooks as default
from . import powerSGD_hook as powerSGD

__all__ = ["DDPCommHookType", "register_ddp_comm_hook"]


class _Registering:
    """A hook that is registered with a group as its state."""

    def __init__(self, hook: Callable[[Any, Any], Any], rank: int | None = None) -> None:
        self.hook, self.rank = hook, rank

    def __call__(self, model: Any, state: Any = None, **options: Any) -> None:
        if self.rank is not None:
            state = powerSGD.PowerSGDState(state, matrix_approximation_rank=self.rank, **options)
        model.register_comm_hook(state, self.hook)


class DDPCommHookType(enum.Enum):
    """PyTorch's names of the hooks; ``DDPCommHookType.NAME.value(model=model, state=process_group)`` registers one."""

    ALLREDUCE = _Registering(default.allreduce_hook)
    FP16_COMPRESS = _Registering(default.fp16_compress_hook)
    BF16_COMPRESS = _Registering(default.bf16_compress_hook)
    POWER_SGD = _Registering(powerSGD.powerSGD_hook, 1)
    POWER_SGD_RANK2 = _Registering(powerSGD.powerSGD_hook, 2)
    BATCHED_POWER_SGD = _Registering(powerSGD.batched_powerSGD_hook, 1)
    BATCHED_POWER_SGD_RANK2 = _Registering(powerSGD.batched_powerSGD_hook, 2)
    NOOP = _Registering(debugging.noop_hook)


def register_ddp_comm_hook(comm_hook_type: DDPCommHookType, model: Any, state: Any = None) -> None:
    """Register a hook by its name; ``state`` is a process group, or None for all processes."""
    comm_hook_type.value(model=model, state=state)
