"""Locks across a fork: the child has only the thread that forked, so a lock that another one held stays shut."""

from __future__ import annotations

import os
import threading
from typing import Any, TypeVar

L = TypeVar("L")


def reopened(lock: L) -> L:
    """A lock that is open in a child, whoever held it: for what is whole again as soon as it is used again."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lock._at_fork_reinit)
    return lock


def held(lock: L) -> L:
    """A reentrant lock that a fork waits for, so that the child finds what it guards whole."""
    if hasattr(os, "register_at_fork"):
        a: Any = lock
        os.register_at_fork(before=a.acquire, after_in_parent=a.release, after_in_child=a.release)
    return lock


def new_lock() -> Any:
    """A ``threading.Lock``, open in a child."""
    return reopened(threading.Lock())
