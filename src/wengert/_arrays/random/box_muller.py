"""Blocks of 16 normals, to the digit of PyTorch's kernels.

A float32 block is 16 words, a float64 block 16 uniforms: number i and number i + 8 give the normals i and i + 8 (Box
and Muller, Ann. Math. Stat. 29, 1958).
`box_muller_float32` makes blocks of many words. It costs at least 50 us, so short draws use a `NormalTable`: it is made
once for many words and holds every value that a word can become, and any block is composed from it.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from ..threads import parallel_map
from .libm import libm

CHUNK = 1 << 15
"""Elements to work on at a time in what has many passes over the data, so that they stay in cache."""
LOW_24 = np.array((1 << 24) - 1, np.uint32)  # NumPy takes 0-dimensional arrays faster than its scalars
ULP_24 = np.array(2.0**-24, np.float32)

# NOTE [ Fused multiply-add in float32 ]
# PyTorch's float32 blocks run Pommier's AVX transcription of the Cephes functions logf, sinf and cosf
# (ATen/native/cpu/avx_mathfun.h), where GCC fuses each product with the sum that follows: `fma(y, x, c)` is the
# exact y*x + c rounded once.  NumPy has no such function.  The product of two float32 is exact in float64, so the
# sum there, rounded to float32, is the fused result (but for a double rounding in about one number of 10**8).
# Two ways of rounding a float64 to float32 precision appear below: a cast there and back; and, where all values
# are known to lie in one binade [2**e, 2**(e+1)), adding and subtracting `_binade(e)`, which is cheaper.
# Sums that are not fused, or whose product is exact anyway, are done in float32.
# Do not simplify a constant or the order of two operations: nearly every such change shows in the last digit.


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
_FOUR_OVER_PI, _TWO_PI_ULP = np.float32(1.27323954473516), np.float32(2.0 * math.pi) * ULP_24
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
    """Blocks of 16 words to blocks of 16 float32 standard normals; `words` is a uint32 array of whole blocks."""
    out = np.empty(words.size, np.float32)

    def make(start: int) -> None:
        part = words[start : start + 2 * CHUNK] & LOW_24
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

    parallel_map(make, range(0, words.size, 2 * CHUNK))
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


class NormalTable:
    """The values that words can become in a block: a radius in its first half, a cosine and a sine in its second."""

    def __init__(self, words: np.ndarray) -> None:
        bits = (words & LOW_24).view(np.int32)
        self.radius = _radius(bits)
        self.directions = np.empty((len(bits), 2), np.float32)
        self.directions[:, 0], self.directions[:, 1] = _cosine_sine(bits)

    def normals(self, start: int, count: int) -> np.ndarray:
        """`count` >= 16 normals, of which the first is made with the word number `start`; see `words_for`."""
        first, second = _pairs(count)
        values = self.radius[start:].take(first)
        values *= self.directions[start:].reshape(-1).take(second)
        values += _ZERO  # as in box_muller_float32
        return values


def words_for(count: int) -> int:
    """The number of words for `count` >= 16 normals; if it is no multiple of 16, the last 16 are drawn again."""
    return count + 16 if count % 16 else count


@functools.lru_cache(32)
def _pairs(count: int) -> tuple[np.ndarray, np.ndarray]:
    """For each of `count` normals the number of the word that gives its radius, and of its direction."""
    number = np.arange(count)
    place = number % 16
    begin = number - place
    if count % 16:
        place[-16:], begin[-16:] = np.arange(16), count
    first = begin + place % 8
    return first, 2 * (first + 8) + place // 8
