"""``--stand-in N``: "cuda", "cuda:0" to "cuda:N-1", "nccl" and ``torch.accelerator`` mean N processes on the CPU.

For programs that were written for N graphics cards, to run them as they are. Only the command line switches it on.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from .._base import constants
from .._saving import places
from . import _groups

__all__ = ["VARIABLE", "install"]

VARIABLE = "WENGERT_STAND_IN"  # tells processes that the program starts
_KINDS = ("cuda", "hip")


def install(count: int) -> None:
    """Let the CPU stand for ``count`` cards in this process."""
    os.environ[VARIABLE] = str(count)
    _groups.stand_in = count
    _devices(count)
    current = [int(os.environ.get("LOCAL_RANK", "0")) % count]

    def set_device(device: Any) -> None:
        index = device if isinstance(device, int) else int(str(device).partition(":")[2] or 0)
        _check(index, count)
        current[0] = index

    answers: dict[str, Any] = {
        "is_available": lambda: True,
        "device_count": lambda: count,
        "current_device": lambda: current[0],
        "set_device": set_device,
        "synchronize": lambda *args, **kwargs: None,
        "empty_cache": lambda: None,
        "init": lambda: None,
        "is_initialized": lambda: True,
        "get_device_name": lambda *args: "CPU (stand-in)",
        "is_bf16_supported": lambda *args, **kwargs: True,
        "get_device_capability": lambda *args: (9, 0),
        "mem_get_info": lambda *args: (0, 0),
    }
    cuda, accelerator = import_module("wengert.cuda"), import_module("wengert.accelerator")
    vars(cuda).update(answers)
    shared = ("is_available", "device_count", "synchronize", "empty_cache")
    vars(accelerator).update(
        {name: answers[name] for name in shared},
        current_accelerator=lambda *args, **kwargs: constants.device("cpu"),
        current_device_index=answers["current_device"],
        current_device_idx=answers["current_device"],
        set_device_index=set_device,
        set_device_idx=set_device,
    )
    places.packages.append((11, lambda storage: None, lambda s, tag: s if tag.partition(":")[0] in _KINDS else None))
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
