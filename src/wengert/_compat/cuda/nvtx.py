"""``torch.cuda.nvtx``: marks for NVIDIA's profiler, which is not there."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .._absent import refusing

_MESSAGE = "NVTX functions not installed. Are you sure you have a CUDA build?"
_REFUSED = ("mark", "range_end", "range_pop", "range_push", "range_start")

globals().update({name: refusing(name, RuntimeError, _MESSAGE) for name in _REFUSED})
_enter = refusing("range", RuntimeError, _MESSAGE)


@contextlib.contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A context, or a decorator; entering it is a RuntimeError, as the profiler is not there."""
    _enter()
    yield


__all__ = ["range", *_REFUSED]  # noqa: PLE0604  the names of a table
