"""``--stand-in N``: "cuda", "cuda:0" to "cuda:N-1", "nccl" and ``torch.accelerator`` mean N processes on the CPU.

For programs that were written for N graphics cards, to run them as they are. Only the command line switches it on.
"""

from __future__ import annotations

import os
import time
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from .._arrays.random.generator import DEFAULT_SEED
from .._base import constants
from .._compat import _devices as devices
from .._payloads import foreign
from .._saving import places
from .._tape.tensor import Tensor
from . import _groups

__all__ = ["VARIABLE", "install"]

VARIABLE = "WENGERT_STAND_IN"  # tells processes that the program starts
_KINDS = ("cuda", "hip")


class Stream(devices.NoContext, devices.Stream):
    """A stream, and a context for it: what is called is done at once."""

    def __init__(self, device: Any = None, priority: int = 0, **kwargs: Any) -> None:
        self.device, self.priority, self.cuda_stream = constants.device("cpu"), priority, 0

    def query(self) -> bool:
        """True: all of it is done."""
        return True

    def record_event(self, event: Event | None = None) -> Event:  # type: ignore[override]
        """An event of now."""
        event = Event() if event is None else event
        event.record()
        return event

    def synchronize(self) -> None:
        """Nothing to wait for."""


class Event(devices.Event):
    """A moment of this process."""

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        self._seconds = 0.0

    def elapsed_time(self, end_event: Event) -> float:
        """The milliseconds between two recorded events."""
        return (end_event._seconds - self._seconds) * 1000

    def record(self, stream: Any = None) -> None:
        """Note the time."""
        self._seconds = time.perf_counter()


def _memory(*args: Any) -> tuple[int, int]:
    """The free and the whole memory of this machine, in bytes."""
    page = os.sysconf("SC_PAGE_SIZE")
    return page * os.sysconf("SC_AVPHYS_PAGES"), page * os.sysconf("SC_PHYS_PAGES")


def _names(count: int) -> dict[str, Any]:
    """What ``torch.cuda`` has beside its current device.

    Seeds for cards change nothing: ``torch.manual_seed`` seeds the one stream of random numbers, and a rank that seeds
    its card by its own number must still draw what the other ranks draw for the CPU.
    """
    torch: Any = import_module("wengert")
    stream = Stream()
    same = {
        None: "empty_cache init ipc_collect manual_seed manual_seed_all reset_accumulated_memory_stats "
        "reset_max_memory_allocated reset_max_memory_cached reset_peak_memory_stats seed seed_all set_stream "
        "set_per_process_memory_fraction set_sync_debug_mode synchronize",
        0: "get_sync_debug_mode max_memory_allocated max_memory_cached max_memory_reserved memory_allocated "
        "memory_cached memory_reserved memory_usage utilization",
        True: "can_device_access_peer is_available is_bf16_supported is_initialized",
    }
    answers = {name: _always(value) for value, names in same.items() for name in names.split()}
    return answers | {
        "Event": Event, "Stream": Stream, "stream": lambda stream: Stream() if stream is None else stream,
        "current_stream": lambda device=None: stream, "default_stream": lambda device=None: stream,
        "device": lambda device: Stream(), "device_count": lambda: count,
        "get_device_name": lambda device=None: "CPU (stand-in)", "get_device_capability": lambda device=None: (9, 0),
        "get_device_properties": lambda device=None: SimpleNamespace(
            name="CPU (stand-in)", total_memory=_memory()[1], major=9, minor=0, multi_processor_count=os.cpu_count(),
        ),
        "get_rng_state": lambda device=None: torch.get_rng_state(), "initial_seed": lambda: DEFAULT_SEED,
        "get_rng_state_all": lambda: [torch.get_rng_state() for _ in range(count)],
        "set_rng_state": lambda new_state, device=None: torch.set_rng_state(new_state),
        "set_rng_state_all": lambda new_states: [torch.set_rng_state(one) for one in new_states][:0],
        "mem_get_info": _memory, "memory_summary": lambda *args, **kwargs: "",
        "nccl": SimpleNamespace(version=lambda: (0, 0, 0), is_available=lambda *args: True),
        **{kind: getattr(torch, kind) for kind in vars(torch.cuda) if kind.endswith("Tensor")},
    }  # fmt: skip


def _always(value: Any) -> Any:
    return lambda *args, **kwargs: value


def install(count: int) -> None:
    """Let the CPU stand for ``count`` cards in this process."""
    os.environ[VARIABLE] = str(count)
    _groups.stand_in, foreign.stand_in = count, True
    _devices(count)
    current = [int(os.environ.get("LOCAL_RANK", "0")) % count]

    def set_device(device: Any) -> None:
        index = device if isinstance(device, int) else int(str(device).partition(":")[2] or 0)
        _check(index, count)
        current[0] = index

    cuda, accelerator = import_module("wengert.cuda"), import_module("wengert.accelerator")
    answers = _names(count) | {"current_device": lambda: current[0], "set_device": set_device}
    vars(cuda).update(answers)
    Tensor.record_stream = _always(None)  # type: ignore[attr-defined]
    marks = import_module("wengert.cuda.nvtx")
    vars(marks).update(dict.fromkeys(("mark", "range_push", "range_pop", "range_start", "range_end"), _always(None)))
    vars(marks)["range"] = lambda msg, *args, **kwargs: Stream()
    vars(accelerator).update(
        {name: answers[name] for name in vars(accelerator) if name in answers},
        current_accelerator=lambda *args, **kwargs: constants.device("cpu"),
        current_device_index=answers["current_device"],
        current_device_idx=answers["current_device"],
        set_device_index=set_device,
        set_device_idx=set_device,
    )
    places.packages.append(
        (11, lambda storage: None, lambda s, tag: s if tag.partition(":")[0] in (*_KINDS, "cpu") else None)
    )
    places.packages.sort(key=lambda package: package[0])


def _check(index: int, count: int) -> None:
    if not 0 <= index < count:
        raise RuntimeError(f"CUDA error: invalid device ordinal\n--stand-in {count}: there is no cuda:{index}")


def _devices(count: int) -> None:
    """Let names and numbers of cards be the CPU."""
    cpu = constants.device("cpu")
    intern, from_value = constants._intern, constants._device_from

    def interned(name: str, index: int | None) -> Any:
        if name in _KINDS:
            _check(index or 0, count)
            return cpu
        return cpu if name == "cpu" else intern(name, index)

    def from_any(value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if isinstance(value, int) and not isinstance(value, bool):
            _check(value, count)
            return cpu
        return from_value(value, args, kwargs)

    constants._intern, constants._device_from = interned, from_any
    for kind in _KINDS:
        constants._DEVICES.pop((kind, None), None)
