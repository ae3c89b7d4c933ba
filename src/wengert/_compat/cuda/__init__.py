"""``torch.cuda`` on a machine without CUDA, as PyTorch's CPU build answers.

>>> import wengert as torch
>>> torch.cuda.is_available(), torch.cuda.device_count()
(False, 0)
>>> torch.cuda.current_device()
Traceback (most recent call last):
AssertionError: Torch not compiled with CUDA enabled
What to do: ...
"""

from __future__ import annotations

from typing import Any

from .._absent import ANSWERS, NoDevice, NoStream, dummy, refusing, returning, tensor_types
from . import amp as amp
from . import nvtx as nvtx

default_generators: tuple[Any, ...] = ()
_initialized = False  # libraries ask it before they save a device's random state
has_half = True
has_magma = False

_VALUES = {**ANSWERS, "memory_cached": lambda: 0, "max_memory_cached": lambda: 0}
_NOTHING = ("empty_cache", "manual_seed", "manual_seed_all", "seed", "seed_all")
_REFUSED = (
    "cudart", "current_blas_handle", "current_device", "current_stream", "default_stream", "get_device_capability",
    "get_device_name", "get_device_properties", "get_per_process_memory_fraction", "get_rng_state",
    "get_stream_from_external", "get_sync_debug_mode", "init", "initial_seed", "ipc_collect", "mem_get_info",
    "set_per_process_memory_fraction", "set_sync_debug_mode", "synchronize",
    # PyTorch's CPU build has an AttributeError or a worse text here
    "can_device_access_peer", "caching_allocator_alloc", "caching_allocator_delete", "clock_rate",
    "get_allocator_backend", "graph_pool_handle", "make_graphed_callables", "memory_snapshot", "memory_summary",
    "memory_usage", "power_draw", "reset_accumulated_memory_stats", "reset_max_memory_allocated",
    "reset_max_memory_cached", "reset_peak_memory_stats", "set_device", "set_rng_state", "set_stream", "temperature",
    "utilization",
)  # fmt: skip
_CLASSES = ("CUDAGraph", "CUDAPluggableAllocator", "Event", "ExternalStream", "MemPool", "Stream", "graph")
_MESSAGE = "Torch not compiled with CUDA enabled"


def is_current_stream_capturing() -> bool:
    """False: there are no streams."""
    return False


def set_rng_state_all(new_states: Any) -> None:
    """Nothing to set for no device.

    Raises:
        AssertionError: a state for a device that is not there.
    """
    if list(new_states):
        raise AssertionError(_MESSAGE)


class device(NoDevice):
    """A context in which a GPU is the current one; only that for no GPU can be entered."""

    message = "PyTorch was compiled without CUDA support"


class device_of(device):
    """A context in which a tensor's GPU is the current one: for tensors on the CPU it does nothing."""

    def __init__(self, obj: Any) -> None:
        super().__init__(-1)


StreamContext = NoStream


def stream(stream: Any) -> NoStream:
    """A context for no stream: it does nothing."""
    return NoStream(stream)


class CudaError(RuntimeError):
    """An error of the driver, which is never called."""


class DeferredCudaCallError(Exception):
    """An error of a call that waits for the driver."""


OutOfMemoryError = type("OutOfMemoryError", (RuntimeError,), {"__doc__": "A GPU's memory is full: never, without one."})

AcceleratorError = type("AcceleratorError", (RuntimeError,), {"__doc__": "An error of a GPU: never, without one."})

globals().update({name: returning(name, value, "As on a machine without a GPU.") for name, value in _VALUES.items()})
globals().update({name: returning(name, lambda: None, "Nothing: there is no GPU.") for name in _NOTHING})
globals().update({name: refusing(name, AssertionError, _MESSAGE) for name in _REFUSED})
globals().update({name: dummy(name) for name in _CLASSES})
globals().update(tensor_types("cuda"))

__all__ = [  # noqa: PLE0604  the names of tables
    "AcceleratorError", "CudaError", "DeferredCudaCallError", "OutOfMemoryError", "StreamContext", "amp",
    "default_generators", "device", "device_of", "has_half", "has_magma", "is_current_stream_capturing", "nvtx",
    "set_rng_state_all", "stream", *_VALUES, *_NOTHING, *_REFUSED, *_CLASSES,
]  # fmt: skip

from . import random as random  # noqa: E402  of the names above
