"""A hook that sends nothing, for measurements."""

from __future__ import annotations

from typing import Any

import wengert as torch

__all__ = ["noop_hook"]


def noop_hook(_: Any, bucket: Any) -> Any:
    """The gradients of this process: what a backward pass costs without communication."""
    future: Any = torch.futures.Future()
    future.set_result(bucket.buffer())
    return future
