"""Integers in a range, and permutations.

Source: PyTorch's `ATen/native/DistributionTemplates.h` (`random_from_to_impl`), `ATen/core/TransformationHelper.h`,
`ATen/native/TensorFactories.cpp` (`randperm_cpu`).
"""

from __future__ import annotations

import functools
import math

import numpy as np

from ..._base.dtypes import INT64
from ..._base.errors import warn
from .common import (
    CLASSIC_INTS,
    COUNTABLE,
    COUNTABLE_OR_BOOL,
    FLOATS,
    INT64_MAX,
    INT64_MIN,
    INTS,
    REAL,
    Shape,
    cast,
    cpp_name,
    filled,
    largest,
    name_of,
    require,
    resolve,
    shaped,
    torch_name,
)
from .generator import Generator, default_generator

UINT32 = np.dtype(np.uint32)


def randint(generator: Generator | None, shape: Shape, dtype: np.dtype, low: int, high: int) -> np.ndarray:
    """Integers in [low, high): `torch.randint`, `Tensor.random_(from, to)`, and `random_(to)` with `low` 0.

    All real dtypes and bool.  A range of 2**28 or more takes 64 bits a number, a smaller one 32.

    >>> randint(Generator().manual_seed(0), (5,), np.int64, 0, 10)
    array([4, 9, 3, 0, 3])
    """
    if dtype is INT64 and 0 <= low < high < 1 << 28:  # the commonest case
        if (count := math.prod(shape)) < _SHORT:
            generator = generator or default_generator
            with generator._lock:
                words = generator._words(count)
            values = (words % _divisor(high - low, UINT32)).astype(INT64)
            if low:
                values += low
            return shaped(values, shape)
        return filled(generator, shape, dtype, lambda g, count: _remainders(g._words(count), high - low, low))
    dtype = np.dtype(dtype)
    if not low < high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    if name_of(dtype) in REAL:
        low, high = _moved_up(low, dtype), _moved_down(high, dtype)
        if not low < high:
            raise RuntimeError(
                "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, "
                f"but got from={low} >= to={high}"
            )
    _check_range(low, high - 1, dtype)
    return _integers(generator, shape, dtype, low, high - low)


def random_from(generator: Generator | None, shape: Shape, dtype: np.dtype, low: int) -> np.ndarray:
    """Integers from `low` to the largest of `dtype` (2**digits for a float): `Tensor.random_(from, None)`.

    `low` = -2**63 asks for the full 64-bit range, which int64, bfloat16, float32 and float64 have.

    >>> random_from(Generator().manual_seed(0), (2,), np.int8, 120)
    array([124, 127], dtype=int8)
    """
    dtype = np.dtype(dtype)
    if low == INT64_MIN:
        if not math.prod(shape):
            return np.empty(shape, dtype)
        kernel = "random_full_64_bits_range_kernel_cpu"
        require(dtype, (REAL | CLASSIC_INTS) - {"float16"}, kernel)
        if name_of(dtype) not in REAL | {"int64"}:
            raise RuntimeError(f"{kernel} handles only int64, double, float and bfloat16")
        return filled(generator, shape, dtype, lambda g, count: cast(g._random64s(count).view(np.int64), dtype))
    if name_of(dtype) in REAL:
        last = 1 << FLOATS[name_of(dtype)][2]
        low = _moved_up(low, dtype)
        if not low < last:
            raise RuntimeError(
                "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' casted to dtype, "
                f"but got from={low} > to_inc={last}"
            )
    elif name_of(dtype) in INTS:
        # uint64's largest number becomes -1 as an int64, there as here
        last = {"bool": 1, "uint64": -1}.get(name_of(dtype)) or int(np.iinfo(dtype).max)
    else:
        raise RuntimeError("random_from_to_impl handles only integral, floating-point and boolean types")
    _check_range(low, last, dtype)
    return _integers(generator, shape, dtype, low, last - low + 1)


def random(generator: Generator | None, shape: Shape, dtype: np.dtype) -> np.ndarray:
    """Integers in [0, largest of `dtype`], [0, 2**digits] for a float: `Tensor.random_()`.

    float16, bfloat16, float32, float64, uint8, int8 to int64, bool.

    >>> random(Generator().manual_seed(0), (3,), np.uint8)
    array([172,  47, 117], dtype=uint8)
    """
    dtype = np.dtype(dtype)
    if not math.prod(shape):
        return np.empty(shape, dtype)
    require(dtype, COUNTABLE_OR_BOOL, "random_kernel_cpu")
    if dtype == np.bool_:
        span = 2
    else:
        span = (1 << FLOATS[name_of(dtype)][2] if name_of(dtype) in REAL else int(np.iinfo(dtype).max)) + 1
    return _integers(generator, shape, dtype, 0, span, dtype.itemsize == 8)


def _integers(
    generator: Generator | None, shape: Shape, dtype: np.dtype, low: int, span: int, wide: bool | None = None
) -> np.ndarray:
    """`low` plus the remainder of 64-bit (`wide`) or 32-bit numbers by `span`, in 64-bit arithmetic that wraps."""
    wide = span >= 1 << 28 if wide is None else wide

    def make(generator: Generator, count: int) -> np.ndarray:
        numbers = generator._random64s(count) if wide else generator._words(count)
        values = _remainders(numbers, span, low % (1 << 64)).view(np.uint64)
        return values if dtype == np.uint64 else cast(values.view(np.int64), dtype)

    return filled(generator, shape, dtype, make)


def _remainders(numbers: np.ndarray, span: int, low: int) -> np.ndarray:
    """`low` plus the remainders of uint32 or uint64 numbers by `span`, as int64, in arithmetic that wraps."""
    divisor = _divisor(span, numbers.dtype)
    if numbers.size < _SHORT:
        numbers = numbers % divisor
    else:
        multiples = numbers // divisor  # NumPy has a fast division by one number, and none for the remainder
        multiples *= divisor
        numbers = numbers - multiples
    values = numbers.astype(np.uint64, copy=False)
    if low:
        values += np.uint64(low)
    return values.view(INT64)


_SHORT = 256


@functools.lru_cache(64)
def _divisor(span: int, dtype: np.dtype) -> np.ndarray:
    """A number as an array, which NumPy takes faster."""
    return np.full((), span, dtype)


@functools.lru_cache(64)
def _counted_down(n: int) -> np.ndarray:
    """The numbers of places that are left to each step of a short shuffle."""
    return np.arange(n, 1, -1, dtype=np.uint32)


@functools.lru_cache(32)
def _limits(dtype: np.dtype) -> tuple[float, float]:
    if name_of(dtype) in REAL:
        return -largest(dtype), largest(dtype)
    if dtype == np.bool_:
        return 0, 1
    if name_of(dtype) in INTS:
        return int(np.iinfo(dtype).min), min(int(np.iinfo(dtype).max), INT64_MAX)
    raise RuntimeError("check_random_bounds handles only integral, floating-point and boolean types")


def _check_range(first: int, last: int, dtype: np.dtype) -> None:
    limits = _limits(dtype)
    for bound, word in ((first, "from"), (last, "to - 1")):
        if not limits[0] <= bound <= limits[1]:
            raise RuntimeError(f"{word} is out of bounds for {cpp_name(dtype)}")
    if name_of(dtype) in REAL:
        digits = FLOATS[name_of(dtype)][2]
        for bound, word in ((first, "from"), (last, "to - 1")):
            if abs(bound) > 1 << digits:
                warn(
                    f"{word} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision limitations "
                    f"{cpp_name(dtype)} can support discrete uniform distribution only within this range. "
                    "This warning will become an error in version 1.7 release, please fix the code in advance",
                )


def _through(value: int, dtype: np.dtype) -> int:
    """`value` converted to the float `dtype` and back to int64."""
    there = float(cast(np.array([value], np.int64), dtype)[0])
    return int(there) if -(2.0**63) <= there < 2.0**63 else INT64_MIN


def _moved_up(low: int, dtype: np.dtype) -> int:
    """The least bound not below `low` that no rounding to `dtype` can fall below; PyTorch's `update_from`."""
    near = _through(low + 1, dtype)
    return near + _spacing(low + 1, dtype) if near < low else low


def _moved_down(high: int, dtype: np.dtype) -> int:
    """PyTorch's `update_to`."""
    near = _through(high - 1, dtype)
    return near - _spacing(high - 1, dtype) if near >= high else high


def _spacing(value: int, dtype: np.dtype) -> int:
    return 1 << (abs(value).bit_length() - FLOATS[name_of(dtype)][2])


def randperm(generator: Generator | None, n: int, dtype: np.dtype = INT64) -> np.ndarray:
    """A permutation of 0, ..., n - 1, shape (n,): `torch.randperm`.  Any dtype that `random` has but bool.

    Up to 214,748,363 elements Fisher and Yates's shuffle from the front with 32-bit numbers, beyond it the inside-out
    shuffle with 64-bit numbers.

    >>> randperm(Generator().manual_seed(0), 6)
    array([2, 5, 3, 0, 1, 4])
    """
    if dtype is INT64 and 0 < n < _SHORT:  # the commonest case
        generator = generator or default_generator
        with generator._lock:
            words = generator._words(n - 1)
        return _shuffled_forward(words % _counted_down(n))
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    dtype = np.dtype(dtype)
    if dtype.kind in "iu" and dtype is not INT64 and n - 1 > np.iinfo(dtype).max:
        raise RuntimeError(f"value cannot be converted to type {name_of(dtype)}_t without overflow")
    if name_of(dtype) in REAL - {"bfloat16"} and n > (1 << FLOATS[name_of(dtype)][2]) + 1:
        digits = FLOATS[name_of(dtype)][2]
        limit = "2049" if digits == 11 else f"2^{digits}+1"
        raise RuntimeError(f"n cannot be greater than {limit} for {torch_name(dtype)} type.")
    require(dtype, COUNTABLE, "randperm")
    generator = resolve(generator)
    with generator._lock:
        if n < 0xFFFFFFFF // 20:
            steps = generator._words(max(n - 1, 0)) % _counted_down.__wrapped__(n)
        else:
            steps = generator._random64s(n) % np.arange(1, n + 1, dtype=np.uint64)
    made = _shuffled_forward(steps) if steps.dtype == np.uint32 else _shuffled_inside_out(steps.view(np.int64))
    return cast(made[:n], dtype)


def _shuffled_forward(steps: np.ndarray) -> np.ndarray:
    """0, ..., steps.size after exchanging place i with place i + steps[i], for each i in turn."""
    last = steps.size
    if last < 512:  # where the array functions below cost more than they save
        places = list(range(last + 1))
        for i, step in enumerate(steps.tolist()):
            places[i], places[i + step] = places[i + step], places[i]
        return np.array(places, np.int64)
    return _exchanged(np.append(np.arange(last, dtype=np.int64) + steps, last))


def _shuffled_inside_out(steps: np.ndarray) -> np.ndarray:
    """The inside-out shuffle: for each i in turn, put what is at place steps[i] <= i at place i, and i at steps[i].

    Read backwards it is a forward shuffle of the places counted from the end, and makes the inverse permutation.
    """
    last = steps.size - 1
    backwards = last - _exchanged(last - steps[::-1])[::-1]
    made = np.empty_like(backwards)
    made[backwards] = np.arange(last + 1, dtype=np.int64)
    return made


def _exchanged(targets: np.ndarray) -> np.ndarray:
    """0, ..., targets.size - 1 after exchanging place i with place targets[i] >= i, for each i in turn, all at once.

    Step i moves the value of place t = targets[i] to place i, where it stays.  That value is t, unless an earlier step
    has the target t: then it is the value that the last such step s put there.  Step s put there the value of place s:
    s itself, or the value from the last step with the target s.  So sorting the steps by target links each step to the
    one that its value comes from.  These chains (about log n long, Shun et al., "Sequential random permutation, list
    contraction and tree contraction are highly parallel", SODA 2015) are followed for all at once by doubling.
    """
    count = targets.size
    order = np.sort(targets << 32 | np.arange(count, dtype=np.int64))  # by target, then by step; n < 2**31
    step, target = order & 0xFFFFFFFF, order >> 32
    again = np.empty(count, bool)  # the step before in `order` has the same target
    again[0] = False
    np.equal(target[1:], target[:-1], out=again[1:])
    moves = step != target
    final = moves.copy()  # the last step to put something at `target` before step number `target` itself
    final[:-1] &= ~(again[1:] & moves[1:])
    final = np.flatnonzero(final)
    held = np.arange(count, dtype=np.int64)
    held[target[final]] = step[final]
    while True:
        further = held[held]
        if np.array_equal(further, held):
            break
        held = further
    found = held[np.roll(step, 1)]
    found -= target
    found *= again
    found += target  # what the step before in `order` put at the target, or else the target itself
    made = np.empty_like(targets)
    made[step] = found
    return made
