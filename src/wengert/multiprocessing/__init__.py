"""``torch.multiprocessing``: the standard library's ``multiprocessing``, whose queues can pass tensors.

A tensor is copied, unless its memory is shared (``share_memory_()``): then both processes use the same memory, on Linux
also if one spawned the other.

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
from .spawn import *  # noqa: F403
from .spawn import __all__ as _spawning

__all__ = [  # noqa: PLE0604
    *_standard, *_spawning, "get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy",
]  # fmt: skip

_strategies = {"file_system"} if sys.platform in ("darwin", "win32") else {"file_descriptor", "file_system"}
_strategy = "file_system" if sys.platform in ("darwin", "win32") else "file_descriptor"


def get_all_sharing_strategies() -> set[str]:
    """The names that ``set_sharing_strategy`` takes."""
    return _strategies


def get_sharing_strategy() -> str:
    """The name that was set."""
    return _strategy


def set_sharing_strategy(new_strategy: str) -> None:
    """Store the strategy, which has no effect: wengert shares memory in one way.

    Raises:
        AssertionError: the strategy is not in ``get_all_sharing_strategies()``.
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
