"""The 32-bit Mersenne Twister (MT19937): Python's own until many words are asked for, then NumPy's.

NumPy's makes words three times as fast, but to import `numpy.random` takes as long as 10 million words.
"""

from __future__ import annotations

import sys
import weakref
from typing import Any

import numpy as np

try:
    from _random import Random
except ImportError:  # the class without the module in Python around it, which imports seven others
    from random import Random  # type: ignore[assignment]

BLOCK_WORDS = 624  # words that the twister makes at once
_WORDS, _SEEDS = 100 * BLOCK_WORDS, 50  # that Python's makes


class _Lent(weakref.ref["Twister"]):
    """An engine and the twister that uses it; an interrupt in a ``__del__`` would be dropped."""

    engine: Any


_idle: list[_Lent] = []  # engines of twisters that are gone: to make one takes as long as to seed it fifty times


class Twister:
    """A source of words in whole blocks, which begins at a seed or at the end of a block whose key is known."""

    _python: Any = None  # one of the two makes the words
    _numpys: Any = None

    def __init__(self) -> None:
        if "numpy.random" in sys.modules:
            self._numpys = self._borrowed()
        else:
            self._python = Random()
        self._words, self._seeds = _WORDS, _SEEDS
        self._asked: int | None = None  # the seed of a stream that is not yet begun: many generators are seeded twice

    def seed(self, seed: int) -> None:
        """Start the stream of a seed below 2**32, as `numpy.random.RandomState(seed)` does."""
        self._asked = seed

    def _begin(self) -> None:
        """Compute the key of the seed; after an interrupt the next call does so."""
        if self._asked is not None:
            self._seeded(self._asked)
            self._asked = None

    def _seeded(self, seed: int) -> None:
        if self._numpys is None:
            self._seeds -= 1
            if self._seeds >= 0 and "numpy.random" not in sys.modules:
                key = [seed]
                for k in range(1, BLOCK_WORDS):
                    seed = (1812433253 * (seed ^ (seed >> 30)) + k) & 0xFFFFFFFF
                    key.append(seed)
                self._python.setstate((*key, BLOCK_WORDS))
                return
            self._numpys = self._borrowed()
        np.random.RandomState(self._numpys).seed(seed)

    def set_key(self, key: np.ndarray) -> None:
        """Go on after the block whose key this is."""
        self._asked = None
        if self._numpys is None:
            self._python.setstate((*key.tolist(), BLOCK_WORDS))
        else:
            self._numpys.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": BLOCK_WORDS}}

    def key(self) -> np.ndarray:
        """The key of the last block."""
        self._begin()
        if self._numpys is None:
            return np.array(self._python.getstate()[:-1], np.uint32)
        return np.asarray(self._numpys.state["state"]["key"])

    def words(self, count: int) -> np.ndarray:
        """The next words of whole blocks, as unsigned ints."""
        self._begin()
        if self._numpys is None:
            self._words -= count
            if self._words >= 0 and "numpy.random" not in sys.modules:
                return np.frombuffer(self._python.getrandbits(32 * count).to_bytes(4 * count, "little"), "<u4")
            engine = self._borrowed()
            engine.state = {"bit_generator": "MT19937", "state": {"key": self.key(), "pos": BLOCK_WORDS}}
            self._numpys = engine
        return np.asarray(self._numpys.random_raw(count))

    def _borrowed(self) -> Any:
        """NumPy's engine, in any state, which others may use when this is gone."""
        lent = self._lent = _Lent(self, _idle.append)
        lent.engine = _idle.pop().engine if _idle else np.random.MT19937()
        return lent.engine
