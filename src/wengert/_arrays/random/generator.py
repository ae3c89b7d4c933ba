"""PyTorch's CPU random stream: the generator, and the two standard draws that everything else is made of.

`Generator` is the 32-bit Mersenne Twister of `torch.Generator`, word for word, with the same 5056-byte state.
`Twister` makes the words; this module uses them as PyTorch does:

* a *word* is one 32-bit output; a 64-bit number is two words, the high one first;
* a float32 uniform is the low 24 bits of one word, a float64 uniform the low 53 bits of one 64-bit number;
* a *serial* normal is half of a Box-Muller pair made from two float64 uniforms; the generator keeps the other half;
* a *block* of normals is 16 uniforms made into 16 normals at once (`box_muller_float32`, `box_muller_float64`).

`_arrays.random` builds the distributions on these.  Every draw is made under the generator's lock.

Source of the algorithms: Matsumoto and Nishimura, "Mersenne Twister", ACM TOMACS 8(1), 1998; PyTorch's
`ATen/core/MT19937RNGEngine.h`, `ATen/CPUGeneratorImpl.cpp`, `ATen/core/DistributionsHelper.h`,
`ATen/native/cpu/DistributionTemplates.h`.

NOTE [ The C library's digits ]
PyTorch's float64 draws call the C library's `log`, `log1p`, `sin`, ... one number at a time.  NumPy has SIMD versions
of some of them, depending on the processor, that differ in the last bit.  `libm(name)` is NumPy's function if it
gives the C library's digits, else Python's `math` function, element by element.  If a result is rounded to float32
anyway, NumPy's function is used and only the few values too near to a rounding boundary are computed again
(`rounded_to_float32`).  Do not call `np.log` for a float64 draw directly: it may agree on one machine and differ on
the next.
"""

from __future__ import annotations

import math
import os
import struct
import weakref
from _thread import RLock
from collections.abc import Callable
from functools import partial
from math import cos, log1p, sin, sqrt
from typing import Any, Self

import numpy as np

from ..._base.dtypes import FLOAT32, FLOAT64
from ..._base.forks import held
from ..library import NUMBERS
from .box_muller import LOW_24, ULP_24, NormalTable, box_muller_float32, words_for
from .libm import libm
from .twister import BLOCK_WORDS as _BLOCK_WORDS
from .twister import Twister

__all__ = ["DEFAULT_SEED", "STATE_BYTES", "Generator", "default_generator"]

DEFAULT_SEED = 67280421310721
"""The seed of a new `Generator`, PyTorch's `default_rng_seed_val`."""

_BLOCKS_AHEAD = 8  # the least number of blocks that are drawn
_BLOCKS_PER_CALL = 52  # words are drawn about 32,000 at a time, so that NumPy's 64-bit intermediate stays in cache

_TWO_PI = 2.0 * math.pi
_LOW_21, _LOW_53 = np.array((1 << 21) - 1, np.uint32), (1 << 53) - 1
_TWO_TO_32, _TWO_TO_MINUS_53 = np.array(2.0**32), 2.0**-53

# struct CPUGeneratorImplState: the legacy (TH) generator's struct, then two fields, with C's padding. Seed, left,
# seeded, next; 624 words of the state, 64 bits each; normal_x, normal_y, normal_rho, normal_is_valid,
# next_float_normal, next_float_normal_is_valid.
_HEAD, _TAIL = struct.Struct("<QiiQ"), struct.Struct("<dddi4xf?3x")
_TAIL_AT = _HEAD.size + 8 * _BLOCK_WORDS
STATE_BYTES = _TAIL_AT + _TAIL.size


class Generator:
    """A source of random numbers: PyTorch's `torch.Generator` for the CPU, at NumPy level.

    Seeded as `numpy.random.RandomState(seed)` is.  Methods may be called from several threads; each draw is whole.
    Can be copied, deep-copied and pickled; a copy goes on from the same place in the stream.

    >>> g = Generator().manual_seed(0)
    >>> g.initial_seed()
    0
    >>> twin = g.clone_state()
    >>> bool((g.get_state_array() == twin.get_state_array()).all())
    True
    """

    def __init__(self, device: object = "cpu") -> None:
        kind = str(device).partition(":")[0]
        if kind == "cuda":
            raise RuntimeError(
                "Cannot get CUDA generator without ATen_cuda library. "
                "wengert computes on the CPU: leave out `device`, or give 'cpu'."
            )
        if kind != "cpu":
            raise RuntimeError(f"Device type {kind} is not supported for torch.Generator() api.")
        self._lock = held(RLock())  # a child would find it shut for ever, and half of a state
        _living.add(self)
        self._twister = Twister()
        self._restart(DEFAULT_SEED)

    _made_ahead = 0  # pairs of normals

    # ---- seeds

    def manual_seed(self, seed: int) -> Self:
        """Start the stream that belongs to `seed`, an int in [-2**63, 2**64); return the generator itself.

        A negative seed stands for `seed + 2**64`.  Only the low 32 bits choose the stream, as in PyTorch.

        Raises RuntimeError if `seed` is not an int, ValueError if it is out of range.

        >>> Generator().manual_seed(-1).initial_seed() == 2**64 - 1
        True
        """
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        seed = int(seed)
        if not -(1 << 63) <= seed < 1 << 64:
            raise ValueError("Overflow when unpacking long long")
        with self._lock:
            self._restart(seed % (1 << 64))
        return self

    def seed(self) -> int:
        """Start a stream chosen by the operating system; return its seed, an int in [0, 2**64)."""
        seed = int.from_bytes(os.urandom(8), "little")
        self.manual_seed(seed)
        return seed

    def initial_seed(self) -> int:
        """The seed of the current stream, an int in [0, 2**64)."""
        return self._seed

    def get_offset(self) -> int:
        """Raises RuntimeError: only counter-based generators have an offset."""
        raise RuntimeError("CPU Generator does not use offset")

    def set_offset(self, offset: int) -> None:
        """Raises RuntimeError: only counter-based generators have an offset."""
        raise RuntimeError("CPU Generator does not use offset")

    def _restart(self, seed: int) -> None:
        self._use_words(_NO_WORDS, 0)  # an interrupt comes before it, or not before the engine: NOTE [ Words ahead ]
        self._seed = seed
        self._fresh = True  # in PyTorch's state `next` is 0, not 624, until the first word is drawn
        self._resume: np.ndarray | None = None  # the twister's key that the engine must be given before it goes on
        self._key: tuple[int, np.ndarray] | None = None  # the number of a block here, and its key if that is known
        self._short_normals = False
        self._next_normal: float | None = None
        self._next_float_normal: float | None = None  # never used on a CPU, kept for a state that has it
        try:
            self._twister.seed(seed & 0xFFFFFFFF)
        except BaseException:
            self._twister.seed(seed & 0xFFFFFFFF)
            raise

    # ---- state

    def get_state_array(self) -> np.ndarray:
        """The state as PyTorch lays it out: a uint8 array of shape (5056,), for `set_state_array` here or there.

        >>> g = Generator().manual_seed(0)
        >>> g.get_state_array()[:12]
        array([0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0], dtype=uint8)
        """
        state = np.empty(STATE_BYTES, np.uint8)
        with self._lock:
            block, key = self._current_key()
            following = 0 if self._fresh else self._position - block * _BLOCK_WORDS
            left = 1 if self._fresh else _BLOCK_WORDS + 1 - following
            _HEAD.pack_into(state.data, 0, self._seed, left, 1, following)
            normal, short = self._next_normal, self._next_float_normal
            tail = (0.0, normal or 0.0, 0.0, normal is not None, short or 0.0, short is not None)
            _TAIL.pack_into(state.data, _TAIL_AT, *tail)
        state[_HEAD.size : _TAIL_AT].view("<u8")[...] = key
        return state

    def _current_key(self) -> tuple[int, np.ndarray]:
        """The number of the block of words that the last one drawn is in, and the twister's key behind it."""
        block = max(self._position - 1, 0) // _BLOCK_WORDS
        if self._key is None or self._key[0] != block:
            if self._fresh:
                key = self._twister.key()
            else:
                key = _untempered(self._block[block * _BLOCK_WORDS : (block + 1) * _BLOCK_WORDS])
            self._key = block, key
        return self._key

    def set_state_array(self, state: np.ndarray) -> None:
        """Go on from `state`, a uint8 array of 5056 elements that `get_state_array` or PyTorch made.

        Raises TypeError if it is no uint8 array, RuntimeError if its size or content is no generator state.
        """
        if not isinstance(state, np.ndarray):
            raise TypeError(f"expected a torch.ByteTensor, but got {type(state).__name__}")
        if state.dtype != np.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        if state.size != STATE_BYTES:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {STATE_BYTES} "
                f"but found the input RNG state size to be {state.size}"
            )
        data = state.tobytes()
        seed, left, seeded, following = _HEAD.unpack_from(data)
        # PyTorch checks the two ranges only; `left` and `next` that contradict each other never come from a generator.
        consistent = left + following == _BLOCK_WORDS + 1 or (left == 1 and following == 0)
        if not seeded or not 0 < left <= _BLOCK_WORDS or not consistent:
            raise RuntimeError("Invalid mt19937 state")
        key = np.frombuffer(data, "<u8", _BLOCK_WORDS, _HEAD.size).astype(np.uint32)
        _, normal, _, has_normal, short, has_short = _TAIL.unpack_from(data, _TAIL_AT)
        with self._lock:
            self._use_words(_NO_WORDS, following)  # they are made of the key when one is drawn: see _refill
            self._seed, self._fresh = seed, following == 0
            self._resume = key
            self._key = 0, key
            self._next_normal = normal if has_normal else None
            self._next_float_normal = short if has_short else None

    def returning(self) -> Callable[[], None]:
        """A function of C that goes back to the present place in the stream."""
        twin = object.__new__(type(self))
        twin._lock = self._lock
        twin.set_state_array(self.get_state_array())
        return partial(self.__dict__.update, twin.__dict__)

    def clone_state(self) -> Self:
        """A new generator that goes on from the same place; the two are independent from then on."""
        twin = type(self)()
        twin.set_state_array(self.get_state_array())
        return twin

    __copy__ = clone_state

    def __reduce__(self) -> tuple[type[Generator], tuple[()], np.ndarray]:
        return type(self), (), self.get_state_array()

    def __setstate__(self, state: object) -> None:
        # PyTorch's own pickles have the seed, an offset, and the state as a tensor
        self.set_state_array(np.asarray(state[2] if isinstance(state, tuple) else state))

    # ---- draws; the caller holds the lock

    # NOTE [ Words ahead ]
    #     `_block` holds whole blocks of words, of which `_position` have been drawn; the engine is at its end.
    #     PyTorch's state holds the twister's key for the block of the last word. The key is computed from the words
    #     when the state is read: making words from a key is invertible. While there are no blocks (`_size` is 0), the
    #     position is one in the block whose key is `_resume`.
    #
    #     An interrupt may come at each call. `_use_words` sets its attributes after the last call of its own, so what
    #     follows it without a call is set with it; and a refill that fails puts the engine back to the end of `_block`.

    def _use_words(self, block: np.ndarray, position: int) -> None:
        block.setflags(write=False)  # _words hands out views of it
        self._block, self._size, self._position, self._scalars = block, block.size, position, block.data
        self._key = None
        self._table: tuple[int, NormalTable] | None = None
        self._row32: np.ndarray | None = None  # for short draws: the float32 uniform of each word here
        self._ahead: _NormalsAhead | None = None  # normals that were made of the next words
        self._row53: np.ndarray | None = None  # and the float64 uniform times 2**53 of each pair of neighbours

    def _words(self, count: int) -> np.ndarray:
        """The next `count` words: a uint32 array, which may be a read-only view."""
        start = self._position
        end = start + count
        if end <= self._size:
            self._position = end
            return self._block[start:end]
        return self._refill(count)

    def _refill(self, count: int) -> np.ndarray:
        block = self._block
        try:
            return self._refilled(count)
        except BaseException:
            if self._block is block and self._resume is None:
                if block.size:
                    self._twister.set_key(_untempered(block[-_BLOCK_WORDS:]))
                else:
                    self._twister.seed(self._seed & 0xFFFFFFFF)
            raise

    def _refilled(self, count: int) -> np.ndarray:
        key = self._resume
        if key is not None:
            self._twister.set_key(key)
            if self._position:
                self._use_words(_tempered(key), self._position)
                self._key, self._resume = (0, key), None
                return self._words(count)
        words = np.empty(count, np.uint32)
        done = self._size - self._position
        words[:done] = self._block[self._position :]
        while done < count:
            missing = count - done
            ahead = _BLOCKS_AHEAD if self._size else 1  # a generator may be seeded for one draw
            blocks = min(max(-(-missing // _BLOCK_WORDS), ahead), _BLOCKS_PER_CALL)
            drawn = self._twister.words(blocks * _BLOCK_WORDS)
            words[done : done + drawn.size] = drawn[:missing]
            done += drawn.size
        kept = ((done - count) // _BLOCK_WORDS + 1) * _BLOCK_WORDS
        self._use_words(drawn[-kept:].astype(np.uint32), kept - (done - count))
        self._fresh, self._resume = False, None
        return words

    def _random32(self) -> int:
        start = self._position
        if start >= self._size:
            return int(self._refill(1)[0])
        self._position = start + 1
        return self._scalars[start]

    def _random64(self) -> int:
        start = self._position
        if start <= self._size - 2:
            self._position = start + 2
            return self._scalars[start] << 32 | self._scalars[start + 1]
        high = self._random32()
        return high << 32 | self._random32()

    def _uniform(self) -> float:
        """One float64 uniform in [0, 1)."""
        return (self._random64() & _LOW_53) * _TWO_TO_MINUS_53

    def _normal(self) -> float:
        """One serial standard normal: the kept half of the last pair, or half of a new pair."""
        kept = self._next_normal
        if kept is not None:
            self._next_normal = None
            return kept
        theta = 2.0 * math.pi * self._uniform()
        radius = math.sqrt(-2.0 * math.log1p(-self._uniform()))
        self._next_normal = radius * math.sin(theta)
        return radius * math.cos(theta)

    def _uniforms32(self, count: int) -> np.ndarray:
        """The next `count` float32 uniforms in [0, 1), which may be a view; not to be written."""
        start = self._position
        end = start + count
        if count > SHORT_DRAW or end > self._size:
            return _uniforms_of(self._words(count))
        if self._row32 is None:
            self._row32 = _uniforms_of(self._block)
        self._position = end
        return self._row32[start:end]

    def _random64s(self, count: int) -> np.ndarray:
        """The next `count` 64-bit numbers: a uint64 array."""
        words = self._words(2 * count)
        numbers = words[0::2].astype(np.uint64)
        numbers <<= np.uint64(32)
        numbers |= words[1::2]
        return numbers

    def _uniforms64(self, count: int) -> np.ndarray:
        """The next `count` float64 uniforms in [0, 1)."""
        return self._whole_numbers(count) * _TWO_TO_MINUS_53

    def _whole_numbers(self, count: int) -> np.ndarray:
        """The next `count` float64 uniforms times 2**53, which may be a view; not to be written."""
        start = self._position
        end = start + 2 * count
        if count > SHORT_DRAW or end > self._size:
            words = self._words(2 * count)
            return _whole_numbers_of(words[0::2], words[1::2])
        if self._row53 is None:
            self._row53 = _whole_numbers_of(self._block[:-1], self._block[1:])
        self._position = end
        return self._row53[start:end:2]

    def _coins(self, count: int, p: float) -> np.ndarray:
        """A bool array: for the next `count` float64 uniforms, whether each is below `p`."""
        return self._whole_numbers(count) < NUMBERS[FLOAT64][p * 2.0**53]

    def _block_normals32(self, count: int) -> np.ndarray:
        """The next `count` >= 16 float32 standard normals made by blocks.

        Short draws are composed from a `NormalTable` of the remaining words; the first draw of a stream makes none.
        """
        start = self._position
        spent = words_for(count)
        end = start + spent
        if end > self._size or spent > _LONG_DRAW:
            return self._long_block_normals32(count)
        if self._table is None:
            if not self._short_normals:
                self._short_normals = True
                return self._long_block_normals32(count)
            self._table = start, NormalTable(self._block[start:])
        first, table = self._table
        self._position = end
        return table.normals(start - first, count)

    def _long_block_normals32(self, count: int) -> np.ndarray:
        rest = count % 16
        words = self._words(words_for(count))
        if not rest:
            return box_muller_float32(words)
        made = box_muller_float32(np.concatenate((words[: count - rest], words[-16:])))
        made[count - 16 : count] = made[-16:]
        return made[:count]

    def _normals32(self, count: int) -> np.ndarray:
        """The next `count` float32 standard normals, which may be a view; not to be written."""
        return self._few_normals(count, FLOAT32) if count < 16 else self._block_normals32(count)

    def _few_normals(self, count: int, dtype: Any) -> np.ndarray:
        """The next `count` < 16 serial standard normals, computed one by one; from the second draw on, ahead.

        They may be a view; not to be written.
        """
        ahead, pairs = self._ahead, 0
        if ahead is not None and ahead.position == self._position:  # no words were drawn since
            begin = ahead.given
            end = begin + count
            if end >= ahead.size or (self._next_normal is not None) != begin & 1:
                pairs = ahead.pairs * 2
                ahead = self._ahead = self._normals_ahead(pairs)
                if ahead is not None:
                    begin = ahead.given
                    end = begin + count
            if ahead is not None:
                position = ahead.start + (end + 1 >> 1) * 4
                kept = ahead.double.item(end) if end & 1 else None
                ahead.given, ahead.position, self._position, self._next_normal = end, position, position, kept
                return (ahead.single if dtype is FLOAT32 else ahead.double)[begin:end]
        numbers = []
        if count and self._next_normal is not None:
            numbers.append(self._normal())
        whole = (count - len(numbers)) // 2
        if whole:  # each is two calls of _normal
            numbers += _normals_of(self._whole_numbers(2 * whole))
        if len(numbers) < count:
            numbers.append(self._normal())
        self._ahead = _NormalsAhead(_NONE_AHEAD, _NONE_AHEAD, 0, self._position, pairs // 2)
        return np.array(numbers, dtype)

    def _normals_ahead(self, wanted: int) -> _NormalsAhead | None:
        """So many pairs of normals of the next words, if there are as many; `None` if there are too few words here."""
        start = self._position
        many = self._made_ahead >= _MANY_AHEAD  # so that it pays to find the C library's functions among NumPy's
        wanted = min(max(wanted, _LEAST_PAIRS), _MOST_PAIRS if many else 4 * _LEAST_PAIRS)
        pairs = min(wanted, (self._size - start) // 4)
        if pairs < _LEAST_PAIRS:
            return None
        self._made_ahead += pairs
        if self._row53 is None:
            self._row53 = _whole_numbers_of(self._block[:-1], self._block[1:])
        numbers = self._row53[start : start + 4 * pairs : 2]
        made = np.array(_normals_of(numbers)) if pairs <= 4 * _LEAST_PAIRS else _many_normals_of(numbers)
        kept = self._next_normal
        if kept is not None:  # the pair of which one is given
            made = np.concatenate(([0.0, kept], made))
        return _NormalsAhead(made, made.astype(FLOAT32), int(kept is not None), start, wanted)

    def _normals(self, count: int) -> np.ndarray:
        """The next `count` serial standard normals, as float64: what `count` calls of `_normal` give."""
        if count < 16:  # below that the array functions cost more than they save
            return self._few_normals(count, FLOAT64)
        out = np.empty(count, np.float64)
        kept = self._next_normal is not None
        if kept:
            out[0] = self._normal()
        values = _many_normals_of(self._whole_numbers((count - kept + 1) // 2 * 2))
        if (count - kept) % 2:
            self._next_normal = float(values[-1])
        out[kept:] = values[: count - kept]
        return out


class _NormalsAhead:
    """Serial normals in pairs, made of the words from `start` on, of which `given` were drawn up to `position`.

    `pairs`: as many were wanted; the words of a block may have been too few for them.
    """

    __slots__ = ("double", "given", "pairs", "position", "single", "size", "start")

    def __init__(self, double: np.ndarray, single: np.ndarray, given: int, position: int, pairs: int) -> None:
        self.pairs = pairs
        self.double, self.single, self.size = double, single, double.size
        self.given = given
        self.position = position
        self.start = position - 4 * given


def _normals_of(numbers: np.ndarray) -> list[float]:
    """Pairs of serial normals, of pairs of float64 uniforms times 2**53."""
    each = iter(numbers.tolist())
    values: list[float] = []
    for angle, uniform in zip(each, each, strict=True):
        theta = angle * _ULP_OF_ANGLE
        radius = sqrt(-2.0 * log1p(-uniform * _TWO_TO_MINUS_53))
        values += (radius * cos(theta), radius * sin(theta))
    return values


def _many_normals_of(numbers: np.ndarray) -> np.ndarray:
    """`_normals_of` for many."""
    values = np.empty(numbers.size)
    theta = numbers[0::2] * _ULP_OF_ANGLE
    radius = np.sqrt(-2.0 * libm("log1p")(numbers[1::2] * -_TWO_TO_MINUS_53))
    values[0::2] = radius * libm("cos")(theta)
    values[1::2] = radius * libm("sin")(theta)
    return values


_LEAST_PAIRS, _MOST_PAIRS, _MANY_AHEAD = 12, 1250, 5000  # of normals that are made ahead
_ULP_OF_ANGLE = _TWO_PI * _TWO_TO_MINUS_53
_NO_WORDS = np.empty(0, np.uint32)
_NONE_AHEAD = np.empty(0)
SHORT_DRAW = 64  # numbers up to which a draw is taken from a row that is made for all words at once
_LONG_DRAW = 4 * _BLOCK_WORDS  # words from which on a draw is made at once


def _uniforms_of(words: np.ndarray) -> np.ndarray:
    """The float32 uniform of each word."""
    uniforms = (words & LOW_24).astype(FLOAT32)
    uniforms *= ULP_24
    return uniforms


def _whole_numbers_of(high: np.ndarray, low: np.ndarray) -> np.ndarray:
    """The float64 uniform times 2**53 of each pair of words."""
    numbers = (high & _LOW_21).astype(FLOAT64)
    numbers *= _TWO_TO_32  # this and the sum are exact: 21 + 32 = 53 bits
    numbers += low
    return numbers


# ---- words and keys of the twister


def _tempered(key: np.ndarray) -> np.ndarray:
    """The words that are made of a key."""
    y = key ^ (key >> 11)
    y ^= (y << 7) & _MASK_7
    y ^= (y << 15) & _MASK_15
    y ^= y >> 18
    return y


def _untempered(words: np.ndarray) -> np.ndarray:
    """The key that words were made of: the steps of `_tempered` undone, the last first."""
    y = words ^ (words >> 18)
    y ^= (y << 15) & _MASK_15
    x = y
    for _ in range(4):  # each time seven bits more are right
        x = y ^ ((x << 7) & _MASK_7)
    return x ^ (x >> 11) ^ (x >> 22)


_MASK_7, _MASK_15 = np.uint32(0x9D2C5680), np.uint32(0xEFC60000)


class DefaultGenerator(Generator):
    """A generator that is made and seeded when it is first used, which takes 0.1 ms; then it is of the class `_made`.

    A class with a `__getattr__` has slow attributes.
    """

    _made = Generator

    def __getattr__(self, name: str) -> object:
        # called for attributes that are not set: all of them, before the first use
        with _making:
            if name.startswith("_") and not name.startswith("__") and "_next_float_normal" not in self.__dict__:
                self.__init__()
                self.seed()
                with self._lock:
                    # The new dict shares no keys with others, which CPython 3.11 reads five times as slowly.
                    self.__class__, self.__dict__ = self._made, dict(self.__dict__)  # type: ignore[assignment]
        try:
            return self.__dict__[name]
        except KeyError:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'") from None


_living: weakref.WeakSet[Generator] = weakref.WeakSet()
_making = held(RLock())
default_generator: Generator = object.__new__(DefaultGenerator)
"""The generator that is used where none is given.  As PyTorch's, it starts at a place the operating system chooses."""
