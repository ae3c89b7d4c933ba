"""What a file may take: memory and work in proportion to the bytes read, charged before they are taken.

NOTE [ Budgets ]
A pickle can make an object of 200 bytes out of one byte, and call a function again and again on the same long
argument. So each container, each entry of the memo, each key and each call is charged with about the bytes that it
takes, or with as many bytes as could be written in its time. The unpickler may take ``FACTOR`` bytes for each byte
that it has read; what ``torch.save`` writes takes at most 28 (many empty sets). The elements of tensors are charged
apart: storages are read once, and the copies that some calls make of them may be ``COPIES`` times the file.

NOTE [ Keys ]
A key of a dict is hashed, and CPython hashes tuples by recursion: a tuple nested a million levels deep ends the
process, and one with 60 levels that each hold the level below twice takes years; so does comparing two frozensets of
that kind. Hashing a long integer takes time in proportion to its length, each time. Keys of one hash are compared one
by one: the n-th costs n comparisons, and 20,000 integers of one hash are soon written. So a key is measured before it
is hashed (``key_work``), and in a container of more than ``FEW`` keys charged for the keys of its hash that are there.
They are counted in a table of about as many places as there are keys (``_Counts``), which takes a few bytes for each.
Nothing else of a file is hashed.
"""

from __future__ import annotations

import pickle
from array import array
from collections.abc import Collection
from typing import Any

FACTOR = 32
COPIES = 4
FREE = 1 << 21  # bytes that any file may take
MAX_KEY = 500  # items of a nested key
FEW = 32  # keys of a container that are not compared often, whatever their hashes are
_OWN_HASH = (1 << 61) - 1  # integers below it have hashes of their own

LIST, DICT, SET, MARK, MEMO, ITEM, ORDERED_ITEM = 72, 80, 232, 72, 56, 64, 100
FIRST_ITEM = 72  # a dict's table, beyond its item
TENSOR, STORAGE = 520, 600
OBJECT = 500  # the time of comparing two objects of a class, which a function of Python does


class Budget:
    """The account of one pickle.

    Args:
        file: has ``done``, the number of bytes read.
        size: the bytes of the file that hold storages.
    """

    def __init__(self, file: Any, size: int) -> None:
        self._file = file
        self._spent = -FREE
        self._copies = COPIES * size + FREE
        self._hashes: dict[int, tuple[Any, _Counts]] = {}

    def charge(self, size: int) -> None:
        """Take ``size`` bytes.

        Raises:
            UnpicklingError: the file has used up what its bytes justify.
        """
        self._spent += size
        if self._spent > FACTOR * self._file.done:
            raise _too_much()

    def copy(self, size: int) -> None:
        """Take ``size`` bytes for elements of tensors."""
        self._copies -= size
        if self._copies < 0:
            raise _too_much()

    def keys(self, target: Any, keys: Collection[Any]) -> None:
        """Charge keys before they are entered into ``target``: see NOTE [ Keys ]."""
        few = len(target) + len(keys) <= FEW
        for key in keys:
            kind = type(key)
            if kind is str or kind is bytes:
                self.charge(len(key) >> 4)
            elif key is not None and kind is not bool and not (kind is int and -_OWN_HASH < key < _OWN_HASH):
                work = key_work(key)
                self.charge(work)
                if few:
                    continue
                if id(target) not in self._hashes:
                    self._hashes[id(target)] = target, _Counts()
                comparing = 16 + work if kind.__module__ == "builtins" else OBJECT
                self.charge(comparing * self._hashes[id(target)][1].before(hash(key)))


class _Counts:
    """How many keys of one hash there were, or of some more hashes that share a place in the table."""

    def __init__(self) -> None:
        self._table = array("I", [0]) * 255
        self._known = 0

    def before(self, key: int) -> int:
        """Count a hash; return how many there were before it."""
        self._known += 1
        if self._known > len(self._table):  # the count begins anew
            self._table = array("I", [0]) * (4 * self._known + 1)
        place = key % len(self._table)
        self._table[place] += 1
        return self._table[place] - 1


def _too_much() -> pickle.UnpicklingError:
    return pickle.UnpicklingError("the pickle would take much more memory than the file has bytes")


def key_work(key: Any) -> int:
    """The work of hashing a key, in bytes; an error for one that is nested deep, or large."""
    waiting, seen, work = [(key, 0)], 0, 0
    while waiting:
        item, depth = waiting.pop()
        if isinstance(item, (tuple, frozenset)):
            seen += len(item)
            if seen > MAX_KEY or depth > 100:
                raise pickle.UnpicklingError("a key is nested too deep or too large")
            waiting.extend((inner, depth + 1) for inner in item)
        elif isinstance(item, int):
            work += item.bit_length() >> 3
        elif isinstance(item, (str, bytes)):
            work += len(item) >> 4
    return work + 8 * seen
