"""Locks across a fork: the child has only the thread that forked, so a lock that another one held stays shut.

NOTE [ Functions at a fork ]
    Python prints an exception of a function that is called at a fork, and forgets it. A signal that is waiting is
    handled as soon as a function of Python begins: in such a function Ctrl-C would be lost, and the function would do
    nothing. So all of them are functions of C, and the signal is handled where the program's ``fork`` returns. What
    remains is a signal that ends the wait for a lock: ``_tell`` then repeats it, after ``_take`` has waited again.
"""

from __future__ import annotations

import os
import weakref
from _thread import allocate_lock, interrupt_main
from collections import deque
from itertools import repeat
from operator import call, itemgetter, methodcaller, setitem
from typing import Any, TypeVar

L = TypeVar("L")

_locks: list[weakref.ref[Any]] = []  # those for which a fork waits, each as long as it lives
_reopened: list[weakref.ref[Any]] = []  # those that are open in a child
_taken: list[Any] = []  # those that a fork holds now
_left: list[Any] = []  # what repeats the signal, unless all locks were taken


def _living(locks: list[weakref.ref[Any]]) -> Any:
    """An iterator of C, each of whose steps gives an iterator over the locks that live."""
    return map(filter, repeat(None), map(map, repeat(call), map(list, repeat(locks))))


def _taking() -> Any:
    """An iterator of C, each of whose steps takes the locks and puts each into the list as soon as it is taken."""
    return map(_taken.extend, map(filter, repeat(methodcaller("acquire")), _living(_locks)))


_everything = repeat(slice(None))
_expect = map(setitem, repeat(_left), _everything, repeat((interrupt_main,))).__next__
_take = map(setitem, repeat(_left), _everything, map(itemgetter(0), zip(repeat(()), _taking(), strict=True))).__next__
_take_again = _taking().__next__
_tell = map(deque, map(map, repeat(call), map(list, repeat(_left))), repeat(0)).__next__
_give = map(
    setitem, repeat(_taken), _everything, map(filter, repeat(methodcaller("release")), repeat(_taken))
).__next__  # ``release`` gives None, so nothing is left
_reopen = map(deque, map(map, repeat(methodcaller("_at_fork_reinit")), _living(_reopened)), repeat(0)).__next__

if hasattr(os, "register_at_fork"):
    for _step in (_tell, _take_again, _take, _expect):  # the last one first
        os.register_at_fork(before=_step)
    os.register_at_fork(after_in_parent=_give, after_in_child=_give)
    os.register_at_fork(after_in_child=_reopen)


def reopened(lock: L) -> L:
    """A lock that is open in a child, whoever held it: for what is whole again as soon as it is used again."""
    _reopened.append(weakref.ref(lock, _reopened.remove))
    return lock


def held(lock: L) -> L:
    """A reentrant lock that a fork waits for, so that the child finds what it guards whole.

    A fork takes those that were made first first.
    """
    _locks.append(weakref.ref(lock, _locks.remove))
    return lock


def new_lock() -> Any:
    """A ``threading.Lock``, open in a child."""
    return reopened(allocate_lock())
