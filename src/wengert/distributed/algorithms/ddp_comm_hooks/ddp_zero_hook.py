"""Hooks by which the backward pass of ``DistributedDataParallel`` makes the steps of a ``ZeroRedundancyOptimizer``.

As in PyTorch, the first two iterations make no step: buckets are made anew in the second.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....autograd.variable import Variable

__all__ = ["hook_with_zero_step", "hook_with_zero_step_interleaved"]

Hook = Callable[[Any, Any], Any]


def hook_with_zero_step(hook: Hook, ddp: Any, zero: Any, shard_buckets: bool = False) -> Hook:
    """A communication hook that does what ``hook`` does, and lets the backward pass end with a step of ``zero``.

    Raises:
        ValueError: ``zero`` was made without ``overlap_with_ddp=True``.
    """
    if not zero._overlap_with_ddp:
        raise ValueError(
            "ZeroRedundancyOptimizer must be constructed with `overlap_with_ddp=True` to use this hook properly"
        )
    iterations = 0  # since buckets were made anew

    def step() -> None:  # queued once more, to come after the gradients
        Variable._execution_engine.queue_callback(zero._step)

    def with_step(state: Any, bucket: Any) -> Any:
        nonlocal iterations
        future = hook(state, bucket)
        if bucket.is_last() and ddp._has_rebuilt_buckets:
            iterations += 1
            if iterations > 1:
                Variable._execution_engine.queue_callback(step)
        return future

    with_step.communicates_once = getattr(hook, "communicates_once", False)
    return with_step


hook_with_zero_step_interleaved = hook_with_zero_step
