"""PyTorch's CPU random stream: the generator, and the two standard draws that everything else is made of.

`Generator` is the 32-bit Mersenne Twister of `torch.Generator`, word for word, with the same 5056-byte state.
NumPy's own `MT19937` turns the crank; what is here is PyTorch's way of spending the words:

* a *word* is one 32-bit output; a 64-bit number is two words, the high one first;
* a float32 uniform is the low 24 bits of one word, a float64 uniform the low 53 bits of one 64-bit number;
* a *serial* normal is half of a Box-Muller pair made from two float64 uniforms; the generator keeps the other half;
* a *block* of normals is 16 uniforms made into 16 normals at once (`box_muller_float32`, `box_muller_float64`).

`_samplers` builds the distributions on these.  Every draw is made under the generator's lock.

Source of the algorithms: Matsumoto and Nishimura, "Mersenne Twister", ACM TOMACS 8(1), 1998; PyTorch's
`ATen/core/MT19937RNGEngine.h`, `ATen/CPUGeneratorImpl.cpp`, `ATen/core/DistributionsHelper.h`,
`ATen/native/cpu/DistributionTemplates.h`.

NOTE [ The C library's digits ]
PyTorch's float64 draws call the C library's `log`, `log1p`, `sin`, ... one number at a time.  NumPy has SIMD versions
of some of them, depending on the processor, that differ in the last bit.  `libm(name)` is NumPy's function where that
gives the C library's digits and Python's `math` function, element by element, where not.  Where a result is rounded
to float32 anyway, NumPy's function is used and only the few values too near to a rounding boundary are done again
(`rounded_to_float32`).  What not to do: call `np.log` for a float64 draw directly; it agrees on the machine where it
was tried and not on the next.
"""

from __future__ import annotations

import functools
import math
import os
import threading
from collections.abc import Callable

import numpy as np

__all__ = ["DEFAULT_SEED", "STATE_BYTES", "Generator", "default_generator"]

DEFAULT_SEED = 67280421310721
"""The seed of a new `Generator`, PyTorch's `default_rng_seed_val`."""

_BLOCK_WORDS = 624
_BLOCKS_PER_CALL = 52  # words are drawn about 32,000 at a time, so that NumPy's 64-bit intermediate stays in cache
CHUNK = 1 << 15
"""Elements to work on at a time in what has many passes over the data, so that they stay in cache."""


_LOW_21, _LOW_24, _LOW_53 = np.uint32((1 << 21) - 1), np.uint32((1 << 24) - 1), (1 << 53) - 1
_TWO_TO_32, _TWO_TO_MINUS_53 = 2.0**32, 2.0**-53
_ULP_24 = np.float32(2.0**-24)

_STATE_LAYOUT = np.dtype(
    {
        # struct CPUGeneratorImplState: the legacy (TH) generator's struct, then two fields, with C's padding.
        "names": [
            "seed", "left", "seeded", "next", "state", "normal_x", "normal_y", "normal_rho", "normal_is_valid",
            "next_float_normal", "next_float_normal_is_valid",
        ],
        "formats": ["<u8", "<i4", "<i4", "<u8", ("<u8", 624), "<f8", "<f8", "<f8", "<i4", "<f4", "?"],
        "offsets": [0, 8, 12, 16, 24, 5016, 5024, 5032, 5040, 5048, 5052],
        "itemsize": 5056,
    }
)  # fmt: skip
STATE_BYTES = _STATE_LAYOUT.itemsize


class Generator:
    """A source of random numbers: PyTorch's `torch.Generator` for the CPU, at NumPy level.

    Seeded as `numpy.random.RandomState(seed)` is.  Methods may be called from several threads; each draw is whole.
    Can be copied, deep-copied and pickled; a copy goes on from the same place in the stream.

    >>> from wengert._generator import Generator
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
        self._lock = threading.RLock()
        self._engine = np.random.MT19937()
        self._seeder = np.random.RandomState(self._engine)
        self._restart(DEFAULT_SEED)

    # ---- seeds

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream that belongs to `seed`, an int in [-2**63, 2**64); return the generator itself.

        A negative seed stands for `seed + 2**64`.  Only the low 32 bits choose the stream, as in PyTorch.

        Raises RuntimeError if `seed` is not an int, ValueError if it is out of range.

        >>> from wengert._generator import Generator
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
        self._seeder.seed(seed & 0xFFFFFFFF)
        self._seed = seed
        self._use_block(np.zeros(_BLOCK_WORDS, np.uint32), _BLOCK_WORDS)
        self._fresh = True  # PyTorch's state says so: `next` is 0, not 624, until the first word is drawn
        self._next_normal: float | None = None
        self._next_float_normal: np.float32 | None = None  # never used on a CPU, kept for a state that has it

    # ---- state

    def get_state_array(self) -> np.ndarray:
        """The state as PyTorch lays it out: a uint8 array of shape (5056,), for `set_state_array` here or there.

        >>> from wengert._generator import Generator
        >>> g = Generator().manual_seed(0)
        >>> g.get_state_array()[:12]
        array([0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0], dtype=uint8)
        """
        with self._lock:
            record = np.zeros((), _STATE_LAYOUT)
            record["seed"] = self._seed
            record["next"] = 0 if self._fresh else self._position
            record["left"] = 1 if self._fresh else _BLOCK_WORDS + 1 - self._position
            record["seeded"] = 1
            record["state"] = self._engine.state["state"]["key"]  # of the current block: see _refill
            if self._next_normal is not None:
                record["normal_is_valid"], record["normal_y"] = 1, self._next_normal
            if self._next_float_normal is not None:
                record["next_float_normal_is_valid"], record["next_float_normal"] = True, self._next_float_normal
        return np.frombuffer(record.tobytes(), np.uint8).copy()

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
        record = np.frombuffer(state.tobytes(), _STATE_LAYOUT)[0]
        left, following = int(record["left"]), int(record["next"])
        # PyTorch checks the two ranges only; `left` and `next` that contradict each other never come from a generator.
        consistent = left + following == _BLOCK_WORDS + 1 or (left == 1 and following == 0)
        if not record["seeded"] or not 0 < left <= _BLOCK_WORDS or not consistent:
            raise RuntimeError("Invalid mt19937 state")
        with self._lock:
            self._seed = int(record["seed"])
            self._fresh = following == 0
            self._engine.state = {
                "bit_generator": "MT19937",
                "state": {"key": record["state"].astype(np.uint32), "pos": _BLOCK_WORDS if self._fresh else 0},
            }
            if self._fresh:
                self._use_block(np.zeros(_BLOCK_WORDS, np.uint32), _BLOCK_WORDS)
            else:
                self._use_block(self._engine.random_raw(_BLOCK_WORDS).astype(np.uint32), following)
            self._next_normal = float(record["normal_y"]) if record["normal_is_valid"] else None
            floats = record["next_float_normal_is_valid"]
            self._next_float_normal = np.float32(record["next_float_normal"]) if floats else None

    def clone_state(self) -> Generator:
        """A new generator that goes on from the same place; the two are independent from then on."""
        twin = type(self)()
        twin.set_state_array(self.get_state_array())
        return twin

    __copy__ = clone_state

    def __reduce__(self) -> tuple:
        return type(self), (), self.get_state_array()

    def __setstate__(self, state: object) -> None:
        # PyTorch's own pickles have the seed, an offset, and the state as a tensor
        self.set_state_array(np.asarray(state[2] if isinstance(state, tuple) else state))

    # ---- draws; the caller holds the lock

    def _use_block(self, block: np.ndarray, position: int) -> None:
        block.setflags(write=False)  # _words hands out views of it
        self._block, self._position, self._scalars = block, position, block.data
        self._ahead: tuple[int, np.ndarray] | None = None

    def _words(self, count: int) -> np.ndarray:
        """The next `count` words: a uint32 array, which may be a read-only view."""
        start = self._position
        end = start + count
        if end <= _BLOCK_WORDS:
            self._position = end
            return self._block[start:end]
        return self._refill(count)

    def _refill(self, count: int) -> np.ndarray:
        # Whole blocks are drawn from the engine, always, and the last one is kept: so the engine stands at the end
        # of the block that self._position is in, and its key is the state that PyTorch would have.
        words = np.empty(count, np.uint32)
        done = _BLOCK_WORDS - self._position
        words[:done] = self._block[self._position :]
        self._fresh = False
        while done < count:
            missing = count - done
            blocks = min(-(-missing // _BLOCK_WORDS), _BLOCKS_PER_CALL)
            drawn = self._engine.random_raw(blocks * _BLOCK_WORDS)
            words[done : done + drawn.size] = drawn[:missing]
            done += drawn.size
        self._use_block(drawn[-_BLOCK_WORDS:].astype(np.uint32), _BLOCK_WORDS - (done - count))
        return words

    def _random32(self) -> int:
        if self._position == _BLOCK_WORDS:
            return int(self._refill(1)[0])
        self._position += 1
        return self._scalars[self._position - 1]

    def _random64(self) -> int:
        start = self._position
        if start <= _BLOCK_WORDS - 2:
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
        """The next `count` float32 uniforms in [0, 1)."""
        uniforms = (self._words(count) & _LOW_24).astype(np.float32)
        uniforms *= _ULP_24
        return uniforms

    def _random64s(self, count: int) -> np.ndarray:
        """The next `count` 64-bit numbers: a uint64 array."""
        words = self._words(2 * count)
        numbers = words[0::2].astype(np.uint64)
        numbers <<= np.uint64(32)
        numbers |= words[1::2]
        return numbers

    def _uniforms64(self, count: int) -> np.ndarray:
        """The next `count` float64 uniforms in [0, 1)."""
        words = self._words(2 * count)
        uniforms = (words[0::2] & _LOW_21).astype(np.float64)
        uniforms *= _TWO_TO_32  # this and the sum are exact: 21 + 32 = 53 bits
        uniforms += words[1::2]
        uniforms *= _TWO_TO_MINUS_53
        return uniforms

    def _block_normals32(self, count: int) -> np.ndarray:
        """The next `count` (a multiple of 16) words made into float32 standard normals by blocks.

        `box_muller_float32` costs about 50 us however few it makes.  So a short piece is cut from what it makes of
        all the words that are left in the generator's block, and the next short piece most often finds its normals
        there.
        """
        start = self._position
        end = start + count
        if end > _BLOCK_WORDS:
            return box_muller_float32(self._words(count))
        if self._ahead is None or (start - self._ahead[0]) % 16:
            whole = (_BLOCK_WORDS - start) // 16 * 16
            self._ahead = start, box_muller_float32(self._block[start : start + whole])
        first, normals = self._ahead
        self._position = end
        return normals[start - first : end - first].copy()

    def _normals(self, count: int) -> np.ndarray:
        """The next `count` serial standard normals, as float64: what `count` calls of `_normal` give."""
        out = np.empty(count, np.float64)
        if count < 16:  # below that the array functions cost more than they save
            for i in range(count):
                out[i] = self._normal()
            return out
        kept = self._next_normal is not None
        if kept:
            out[0] = self._normal()
        pairs = self._uniforms64((count - kept + 1) // 2 * 2)
        theta = pairs[0::2] * (2.0 * math.pi)
        radius = np.sqrt(-2.0 * libm("log1p")(-pairs[1::2]))
        out[kept::2] = radius * libm("cos")(theta)
        second = radius * libm("sin")(theta)
        if (count - kept) % 2:
            self._next_normal = float(second[-1])
            second = second[:-1]
        out[kept + 1 :: 2] = second
        return out


# ---- the C library's functions, and rounding


def _exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:  # C's exp is inf there
        return math.inf


@functools.cache
def libm(name: str) -> Callable[[np.ndarray], np.ndarray]:
    """A function on float64 arrays with the digits of the C library's `name`; see NOTE [ The C library's digits ]."""
    of_array = getattr(np, name)
    of_number = _exp if name == "exp" else getattr(math, name)

    def one_by_one(x: np.ndarray) -> np.ndarray:
        return np.fromiter(map(of_number, np.ascontiguousarray(x).data), np.float64, x.size)

    # A SIMD version that differs does so for at least one value in some hundreds.
    probe = np.random.RandomState(0).random_sample(5000)
    return of_array if np.array_equal(of_array(probe), one_by_one(probe)) else one_by_one


def rounded_to_float32(
    approximate: np.ndarray, magnitude: np.ndarray, exact: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """float64 values known to about 2**-50 of `magnitude`, rounded to float32 as the exact ones would be.

    `exact(indices)` is called for the rare values (one in some ten million) where that is not sure.
    """
    slack = np.abs(magnitude) * 2.0**-49
    rounded = (approximate - slack).astype(np.float32)
    unsure = np.flatnonzero(rounded != (approximate + slack).astype(np.float32))
    if unsure.size:
        rounded[unsure] = exact(unsure)
    return rounded


def fused_multiply_add(a: np.ndarray, b: float, c: float) -> np.ndarray:
    """`a * b + c` in float64 rounded once, as the compiler contracts it in PyTorch's kernels.

    Dekker's product and Knuth's sum ("A floating-point technique...", Numer. Math. 18, 1971; TAOCP 2, 4.2.2), wrong
    in the last bit about once in 2**50 numbers.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        product = a * b
        if c == 0.0:
            return product
        total = product + c
        if b == 1.0 or not math.isfinite(b) or not math.isfinite(c):
            return total
        if abs(b) > 2.0**900:  # would overflow below
            return fused_multiply_add(a, b * 2.0**-200, c * 2.0**-200) * 2.0**200
        split = 134217729.0  # 2**27 + 1
        a_high = a * split - (a * split - a)
        b_high = b * split - (b * split - b)
        a_low, b_low = a - a_high, b - b_high
        product_error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
        moved = total - product
        sum_error = (product - (total - moved)) + (c - moved)
        return total + (sum_error + product_error)


# ---- blocks of normals

# NOTE [ Fused multiply-add in float32 ]
# PyTorch's float32 blocks run Pommier's AVX transcription of the Cephes functions logf, sinf and cosf
# (ATen/native/cpu/avx_mathfun.h), where GCC fuses each product with the sum that follows: `fma(y, x, c)` is the
# exact y*x + c rounded once.  NumPy has no such function.  The product of two float32 is exact in float64, so the
# sum there, rounded to float32, is the fused result (but for a double rounding in about one number of 10**8).
# Two ways of rounding a float64 to float32 precision appear below: a cast there and back; and, where all values
# are known to lie in one binade [2**e, 2**(e+1)), adding and subtracting `_binade(e)`, which is cheaper.
# Sums that are not fused, or whose product is exact anyway, are done in float32.
# What not to do: simplify a constant or the order of two operations; nearly every one shows in the last digit.


def _binade(e: int) -> float:
    return 1.5 * 2.0 ** (e + 29)


def _single(x: float) -> float:
    return float(np.float32(x))


_LOG_FIRST, *_LOG_MIDDLE, _LOG_LAST = map(
    _single,
    (7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
     2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1),
)  # fmt: skip
_LN2_LOW, _LN2_HIGH = np.float32(-2.12194440e-4), np.float32(0.693359375)
_COS = tuple(map(_single, (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)))
_SIN = tuple(map(_single, (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)))
_QUARTER_PI_HIGH, _QUARTER_PI_MIDDLE = np.float32(0.78515625), np.float32(2.4187564849853515625e-4)
_QUARTER_PI_LOW = _single(3.77489497744594108e-8)
_FOUR_OVER_PI, _TWO_PI_ULP = np.float32(1.27323954473516), np.float32(2.0 * math.pi) * _ULP_24
_ZERO, _ONE, _HALF, _MINUS_TWO, _EXPONENT_OF_ULP = map(np.float32, (0, 1, 0.5, -2, 24))
_SQRT_HALF_BITS, _MANTISSA_WIDTH, _COUNT_24 = np.int32(0x3F3504F3), np.int32(23), np.int32(1 << 24)


def _fit(y: np.ndarray, wide: np.ndarray) -> np.ndarray:
    """Round the float64 `wide` into the float32 `y`."""
    np.copyto(y, wide, casting="same_kind")
    return y


def _radius(bits: np.ndarray) -> np.ndarray:
    """`sqrt(-2 * log(1 - bits * 2**-24))` as float32, for int32 `bits` in [0, 2**24)."""
    x = (_COUNT_24 - bits).astype(np.float32)  # 2**24 times the argument, exactly
    pattern = x.view(np.int32)
    exponent = pattern - _SQRT_HALF_BITS
    exponent >>= _MANTISSA_WIDTH
    e = exponent.astype(np.float32)
    e -= _EXPONENT_OF_ULP
    exponent <<= _MANTISSA_WIDTH
    pattern -= exponent  # x is now the mantissa, in [sqrt(1/2), sqrt(2))
    x -= _ONE
    wide_x = x.astype(np.float64)
    y = np.empty_like(x)
    wide = wide_x * _LOG_FIRST
    for coefficient in _LOG_MIDDLE:
        wide += coefficient
        np.copyto(wide, _fit(y, wide))
        wide *= wide_x
    wide += _LOG_LAST
    _fit(y, wide)
    y *= x
    square = x * x
    np.copyto(wide, y)
    wide *= square
    wide += e * _LN2_LOW
    _fit(y, wide)
    square *= _HALF
    y -= square
    x += y
    e *= _LN2_HIGH
    x += e
    x *= _MINUS_TWO
    return np.sqrt(x, out=x)


def _reduced_angle(bits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """2*pi * bits * 2**-24 as (octant, rest): the even int32 octant, the float32 rest in [-pi/4, pi/4]."""
    rest = bits.astype(np.float32)
    rest *= _TWO_PI_ULP
    octant = (rest * _FOUR_OVER_PI).astype(np.int32)
    octant += np.int32(1)
    octant &= np.int32(-2)
    turns = octant.astype(np.float32)
    rest -= turns * _QUARTER_PI_HIGH
    rest -= turns * _QUARTER_PI_MIDDLE
    wide = octant * _QUARTER_PI_LOW
    np.subtract(rest, wide, out=wide)
    return octant, _fit(rest, wide)


def _cosine_sine(bits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cosine and sine of 2*pi * bits * 2**-24 as float32, for int32 `bits` in [0, 2**24)."""
    octant, rest = _reduced_angle(bits)
    square = rest * rest
    wide_square = square.astype(np.float64)

    wide = wide_square * _COS[0]  # values in +-[2**-10, 2**-9), then in [2**-5, 2**-4)
    wide += _COS[1] - _binade(-10)
    wide += _binade(-10)
    wide *= wide_square
    wide += _COS[2] + _binade(-5)
    wide -= _binade(-5)
    wide *= wide_square
    cosine = wide.astype(np.float32)
    np.copyto(wide, cosine)
    wide *= wide_square
    square *= _HALF
    wide -= square
    _fit(cosine, wide)
    cosine += _ONE

    np.multiply(wide_square, _SIN[0], out=wide)  # values in [2**-7, 2**-6), then in -[2**-3, 2**-2)
    wide += _SIN[1] + _binade(-7)
    wide -= _binade(-7)
    wide *= wide_square
    wide += _SIN[2] - _binade(-3)
    wide += _binade(-3)
    wide *= wide_square
    sine = wide.astype(np.float32)
    np.copyto(wide, sine)
    wide *= rest
    wide += rest
    _fit(sine, wide)

    cosine_bits, sine_bits = cosine.view(np.int32), sine.view(np.int32)
    mask = octant << np.int32(30)
    mask >>= np.int32(31)  # all ones in the octants where the two change places
    mask &= cosine_bits ^ sine_bits
    cosine_bits ^= mask
    sine_bits ^= mask
    sine_bits ^= (octant & np.int32(4)) << np.int32(29)
    octant += np.int32(2)
    cosine_bits ^= (octant & np.int32(4)) << np.int32(29)
    return cosine, sine


def box_muller_float32(words: np.ndarray) -> np.ndarray:
    """Blocks of 16 words to blocks of 16 float32 standard normals; `words` is a uint32 array of whole blocks.

    In each block word i and word i + 8 give normals i and i + 8 (Box and Muller, Ann. Math. Stat. 29, 1958).
    """
    out = np.empty(words.size, np.float32)
    for start in range(0, words.size, 2 * CHUNK):
        part = words[start : start + 2 * CHUNK] & _LOW_24
        # Half a block is moved as two items of 16 bytes, for which NumPy has a fast strided copy.
        halves = np.empty((2, 2, part.size // 16), np.complex128)
        halves[...] = part.view(np.complex128).reshape(-1, 4).T.reshape(halves.shape)
        first, second = halves.view(np.int32).reshape(2, -1)
        cosine, sine = _cosine_sine(second)
        radius = _radius(first)
        normals = out[start : start + 2 * CHUNK].view(np.complex128).reshape(-1, 4).T.reshape(halves.shape)
        for half, direction in enumerate((cosine, sine)):
            direction *= radius
            direction += _ZERO  # PyTorch adds the mean, and so never gives -0.0
            normals[half] = direction.view(np.complex128).reshape(2, -1)
    return out


def box_muller_float64(uniforms: np.ndarray) -> np.ndarray:
    """Blocks of 16 float64 uniforms to blocks of 16 float64 standard normals, paired as in `box_muller_float32`."""
    out = np.empty(uniforms.size, np.float64)
    for start in range(0, uniforms.size, 2 * CHUNK):
        chunk = slice(start, start + 2 * CHUNK)
        first, second = uniforms[chunk].reshape(-1, 2, 8).transpose(1, 0, 2)
        radius = np.sqrt(-2.0 * libm("log")((1.0 - first).ravel()))
        theta = (second * (2.0 * math.pi)).ravel()
        normals = out[chunk].reshape(-1, 2, 8)
        normals[:, 0] = (radius * libm("cos")(theta)).reshape(-1, 8)
        normals[:, 1] = (radius * libm("sin")(theta)).reshape(-1, 8)
    return out


class DefaultGenerator(Generator):
    """A generator that is made and seeded when it is first used: importing `numpy.random` takes many milliseconds."""

    def __getattr__(self, name: str) -> object:
        # reached for what is not set: everything, before the first use
        with _making:
            if name.startswith("_") and not name.startswith("__") and "_next_float_normal" not in self.__dict__:
                self.__init__()  # type: ignore[misc]
                self.seed()
        try:
            return self.__dict__[name]
        except KeyError:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'") from None


_making = threading.RLock()
default_generator: Generator = object.__new__(DefaultGenerator)
"""The generator that is used where none is given.  As PyTorch's, it starts at a place the operating system chooses."""
