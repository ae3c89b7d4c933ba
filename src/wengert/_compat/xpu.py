"""``torch.xpu`` on a machine without Intel's GPUs, as PyTorch's CPU build answers.

>>> import wengert as torch
>>> torch.xpu.is_available(), torch.xpu.device_count()
(False, 0)
"""

from __future__ import annotations

from typing import Any

from ._absent import ANSWERS, NoDevice, NoStream, dummy, refusing, returning

default_generators: tuple[Any, ...] = ()

_NOTHING = ("empty_cache", "manual_seed", "manual_seed_all", "seed", "seed_all")
_REFUSED = (
    "current_device", "current_stream", "get_device_capability", "get_device_name", "get_device_properties",
    "get_rng_state", "init", "initial_seed", "mem_get_info", "reset_accumulated_memory_stats",
    "reset_peak_memory_stats", "set_device", "set_rng_state", "set_stream", "synchronize",
)  # fmt: skip
_CLASSES = ("Event", "Stream")


class device(NoDevice):
    """A context in which an XPU is the current device; only that for none can be entered."""

    message = "PyTorch was compiled without XPU support"


StreamContext = NoStream


def stream(stream: Any) -> NoStream:
    """A context for no stream: it does nothing."""
    return NoStream(stream)


globals().update({name: returning(name, value, "As on a machine without an XPU.") for name, value in ANSWERS.items()})
globals().update({name: returning(name, lambda: None, "Nothing: there is no XPU.") for name in _NOTHING})
globals().update({name: refusing(name, AssertionError, "Torch not compiled with XPU enabled") for name in _REFUSED})
globals().update({name: dummy(name) for name in _CLASSES})

__all__ = [  # noqa: PLE0604  the names of tables
    "StreamContext", "default_generators", "device", "stream", *ANSWERS, *_NOTHING, *_REFUSED, *_CLASSES,
]  # fmt: skip
