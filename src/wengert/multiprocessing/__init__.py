"""``torch.multiprocessing``: the standard library's ``multiprocessing``, with tensors that go through its queues.

A tensor is copied on its way, except one whose memory is shared (``share_memory_()``): then both processes have the
same memory, on Linux also where the other one was started anew (``spawn``).

>>> import wengert as torch
>>> import wengert.multiprocessing as mp
>>> receive, send = mp.Pipe(duplex=False)
>>> send.send(torch.arange(3))
>>> receive.recv()
tensor([0, 1, 2])
"""

from __future__ import annotations

import multiprocessing
import sys
from multiprocessing import *  # noqa: F403
from multiprocessing import __all__ as _standard

from . import reductions
from .spawn import (
    ProcessContext,
    ProcessException,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

__all__ = [  # noqa: PLE0604
    *_standard,
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "set_sharing_strategy",
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "spawn",
    "start_processes",
]

_strategies = {"file_system"} if sys.platform in ("darwin", "win32") else {"file_descriptor", "file_system"}
_strategy = "file_system" if sys.platform in ("darwin", "win32") else "file_descriptor"


def get_all_sharing_strategies() -> set[str]:
    """The names that ``set_sharing_strategy`` takes."""
    return _strategies


def get_sharing_strategy() -> str:
    """The name that was set."""
    return _strategy


def set_sharing_strategy(new_strategy: str) -> None:
    """Kept and told: memory is shared in one way here, which needs neither many descriptors nor files.

    Raises:
        AssertionError: it is none of ``get_all_sharing_strategies()``.
    """
    global _strategy
    if new_strategy not in _strategies:
        raise AssertionError(f"invalid sharing strategy {new_strategy!r}, expected one of {_strategies}")
    _strategy = new_strategy


def __getattr__(name: str) -> object:
    # ``pool``, ``queues``, ``context``, ``process``, ...: the standard library's own modules
    try:
        return getattr(multiprocessing, name)
    except AttributeError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


reductions.init_reductions()
