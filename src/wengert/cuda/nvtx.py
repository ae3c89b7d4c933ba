"""``torch.cuda.nvtx``: marks for NVIDIA's profiler, which is not there."""

from __future__ import annotations

from .._absent import refusing

_MESSAGE = "NVTX functions not installed. Are you sure you have a CUDA build?"
_REFUSED = ("mark", "range", "range_end", "range_pop", "range_push", "range_start")

globals().update({name: refusing(name, RuntimeError, _MESSAGE) for name in _REFUSED})

__all__ = [*_REFUSED]  # noqa: PLE0604  the names of a table
