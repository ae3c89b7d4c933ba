"""PyTorch's distributions on its CPU random stream, as functions from a generator to NumPy arrays.

Every sampler gives the values that PyTorch 2.13 gives on a CPU and spends as much of the stream, so that what is drawn
next agrees too.  The first argument is the `Generator`, or None for `default_generator`.  Samplers of one distribution
take `shape` (a tuple) and `dtype` (a NumPy dtype) next; samplers with a parameter per element take arrays instead and
give the shape these have together.  The result is a new C-contiguous array, filled in C order.  Errors are PyTorch's.

dtypes: float16, bfloat16 (ml_dtypes'), float32, float64, and more where a docstring says so.  Parameters are Python
floats; PyTorch's kernels hold them in float64, and in float32 for `uniform` and `normal` of less than float64.

Source: PyTorch's `ATen/native/DistributionTemplates.h` (checks), `ATen/native/cpu/DistributionTemplates.h` (kernels),
`ATen/core/TransformationHelper.h` (formulas), `ATen/native/Distributions.h` and `.cpp` (rejection samplers,
multinomial), `ATen/native/TensorFactories.cpp` (randperm), `ATen/native/Dropout.cpp`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator

import numpy as np

from ._generator import (
    Generator,
    box_muller_float32,
    box_muller_float64,
    default_generator,
    fused_multiply_add,
    libm,
    rounded_to_float32,
)

__all__ = [
    "bernoulli",
    "bernoulli_tensor",
    "binomial",
    "cauchy",
    "dirichlet",
    "dropout_noise",
    "exponential",
    "geometric",
    "log_normal",
    "multinomial",
    "native_dropout_mask",
    "normal",
    "normal_serial",
    "normal_tensor",
    "poisson",
    "randint",
    "random",
    "random_from",
    "randperm",
    "standard_gamma",
    "uniform",
]

Shape = tuple[int, ...]

_INT64_MIN, _INT64_MAX = -(1 << 63), (1 << 63) - 1
# dtype: PyTorch's name, C++'s name as GCC prints it, bits of the significand
_FLOATS = {
    "float16": ("Half", "c10::Half", 11),
    "bfloat16": ("BFloat16", "c10::BFloat16", 8),
    "float32": ("Float", "float", 24),
    "float64": ("Double", "double", 53),
}
_INTS = {
    "bool": ("Bool", "bool"),
    "uint8": ("Byte", "unsigned char"),
    "int8": ("Char", "signed char"),
    "int16": ("Short", "short int"),
    "int32": ("Int", "int"),
    "int64": ("Long", "long int"),
    "uint16": ("UInt16", "short unsigned int"),
    "uint32": ("UInt32", "unsigned int"),
    "uint64": ("UInt64", "long unsigned int"),
}
_COMPLEX = {"complex64": ("ComplexFloat", "c10::complex<float>"), "complex128": ("ComplexDouble", "c10::complex<double>")}
_NAMES = {**_FLOATS, **_INTS, **_COMPLEX}
_REAL = frozenset(_FLOATS)
_FULL_PRECISION = frozenset({"float32", "float64"})
_CLASSIC_INTS = frozenset({"uint8", "int8", "int16", "int32", "int64"})  # the later ones lack most kernels
_COUNTABLE = _REAL | _CLASSIC_INTS


def _of(generator: Generator | None) -> Generator:
    return default_generator if generator is None else generator


def _require(dtype: np.dtype, supported: frozenset[str], kernel: str) -> np.dtype:
    dtype = np.dtype(dtype)
    if dtype.name not in supported:
        name = _NAMES.get(dtype.name, (dtype.name,))[0]
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{name}'")
    return dtype


def _cast(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """C++'s conversion: to the 16-bit floats it goes through float32."""
    if values.dtype == dtype:
        return values
    with np.errstate(over="ignore", invalid="ignore"):
        if dtype.itemsize == 2 and dtype.name in _REAL:
            values = values.astype(np.float32, copy=False)
        return values.astype(dtype)


# ---- uniform and normal


def uniform(generator: Generator | None, shape: Shape, dtype: np.dtype, low: float = 0.0, high: float = 1.0) -> np.ndarray:
    """Uniform on [low, high): `Tensor.uniform_`, and `torch.rand` as it stands.  Floating and complex dtypes.

    A complex number is two real ones.

    >>> uniform(Generator().manual_seed(0), (3,), np.float32)
    array([0.49625659, 0.7682218 , 0.08847743], dtype=float32)
    """
    dtype = np.dtype(dtype)
    if dtype.name in _COMPLEX:
        return uniform(generator, (*shape, 2), _part(dtype), low, high).view(dtype)[..., 0]
    _check_uniform(_require(dtype, _REAL, "check_uniform_bounds"), low, high)
    generator, count = _of(generator), math.prod(shape)
    if dtype == np.float64:
        with generator._lock:
            values = generator._uniforms64(count)
        if (low, high) != (0.0, 1.0):
            values = fused_multiply_add(values, high - low, low)
    else:
        with generator._lock:
            values = generator._uniforms32(count)
        if (low, high) != (0.0, 1.0):
            start = np.float32(low)
            # one rounding, as if fused: a product of two float32 is exact in float64
            values = (values * np.float64(np.float32(high) - start) + np.float64(start)).astype(np.float32)
    if (low, high) != (0.0, 1.0) or dtype.name not in _FULL_PRECISION:
        values = _cast(values, dtype)
        first, end = _cast(np.array([low, high]), dtype)
        values[values == end] = first  # rounding may have reached the excluded end
    return values.reshape(shape)


def _check_uniform(dtype: np.dtype, low: float, high: float) -> None:
    name, cpp_name, _ = _FLOATS[dtype.name]
    largest = _largest(dtype)
    for bound, word in ((low, "from"), (high, "to")):
        if not -largest <= bound <= largest:
            raise RuntimeError(f"{word} is out of bounds for {cpp_name}")
    if not low <= high:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}")
    if not high - low <= largest:
        raise RuntimeError(
            f"uniform_ expects to-from <= std::numeric_limits<{name}>::max(), but found to={high:g} and from={low:g} "
            "which result in to-from to exceed the limit"
        )


def _largest(dtype: np.dtype) -> float:
    # numpy.finfo does not know bfloat16
    return (2.0 - 2.0**-7) * 2.0**127 if dtype.name == "bfloat16" else float(np.finfo(dtype).max)


def _part(dtype: np.dtype) -> np.dtype:
    """The real dtype that a complex one is made of."""
    return np.dtype(np.float32 if dtype.name == "complex64" else np.float64)


def normal(generator: Generator | None, shape: Shape, dtype: np.dtype, mean: float = 0.0, std: float = 1.0) -> np.ndarray:
    """Normal: `Tensor.normal_`, and `torch.randn` as it stands.  Floating and complex dtypes.

    Up to 15 numbers are serial normals made in float64, from 16 on they are made in blocks of 16 in float32 (float64
    for float64); the last 16 are then drawn anew if the blocks do not come out even.  A complex number is two real
    ones with `std / sqrt(2)`.

    >>> normal(Generator().manual_seed(0), (3,), np.float32)
    array([ 1.5409961, -0.2934289, -2.1787894], dtype=float32)
    """
    if not std >= 0.0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    dtype, count = np.dtype(dtype), math.prod(shape)
    if dtype.name in _COMPLEX:
        return normal(generator, (*shape, 2), _part(dtype), mean, std / math.sqrt(2.0)).view(dtype)[..., 0]
    if count < 16:
        return normal_serial(generator, shape, dtype, mean, std)
    _require(dtype, _REAL, "normal_kernel_cpu")
    generator, rest = _of(generator), count % 16
    # The full-precision kernels draw for the ragged end too, and throw it away.
    drawn = count - rest + (16 if rest else 0) + (rest if dtype.name in _FULL_PRECISION else 0)
    wide = dtype == np.float64
    with generator._lock:
        source = generator._uniforms64(drawn) if wide else generator._words(drawn)
    if rest:
        source = np.concatenate((source[: count - rest], source[-16:]))
    made = (box_muller_float64 if wide else box_muller_float32)(source, mean, std)
    if rest:
        made[count - 16 : count] = made[-16:].copy()
        made = made[:count].copy()
    return _cast(made, dtype).reshape(shape)


def normal_serial(
    generator: Generator | None, shape: Shape, dtype: np.dtype, mean: float = 0.0, std: float = 1.0
) -> np.ndarray:
    """Normal, all serial, of any size: what `Tensor.normal_` does on a tensor that is not contiguous.

    >>> normal_serial(Generator().manual_seed(0), (2,), np.float64)
    array([1.54099607, -0.2934289 ])
    """
    if not std >= 0.0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    dtype, count = np.dtype(dtype), math.prod(shape)
    if not count:
        return np.empty(shape, dtype)
    _require(dtype, _REAL, "normal_kernel_cpu")
    generator = _of(generator)
    with generator._lock:
        values = generator._normals(count)
    if std != 1.0 or mean != 0.0:
        values = fused_multiply_add(values, std, mean)
    return _cast(values, dtype).reshape(shape)


def normal_tensor(generator: Generator | None, mean: np.ndarray | float, std: np.ndarray | float) -> np.ndarray:
    """Normal with a mean and a standard deviation per element: `torch.normal`; at least one of the two is an array.

    The result has the shape the two broadcast to, and the dtype of `mean`, of `std` if `mean` is a float.

    >>> normal_tensor(Generator().manual_seed(0), np.array([1.0, 2.0], np.float32), 0.0)
    array([1., 2.], dtype=float32)
    """
    if isinstance(std, np.ndarray):
        if std.dtype.kind == "c":
            raise RuntimeError("normal expects standard deviation to be non-complex")
        if std.size and not std.min() >= 0:
            raise RuntimeError("normal expects all elements of std >= 0.0")
    dtype = (mean if isinstance(mean, np.ndarray) else std).dtype
    shape = np.broadcast_shapes(np.shape(mean), np.shape(std))
    if not isinstance(std, np.ndarray):
        return _updated(np.add, normal(generator, shape, dtype, 0.0, std), mean)
    mean = mean if isinstance(mean, np.ndarray) else np.array(mean, dtype)
    return _updated(np.add, _updated(np.multiply, normal(generator, shape, dtype), std), mean)


def _updated(operator: np.ufunc, values: np.ndarray, operand: np.ndarray) -> np.ndarray:
    """An in-place operation of PyTorch's: computed in the promoted dtype, where a number counts less than an array."""
    if operand.ndim == 0 < values.ndim:
        operand = operand.astype(values.dtype)
    return _cast(np.asarray(operator(values, operand)), values.dtype)


# ---- integers


def randint(generator: Generator | None, shape: Shape, dtype: np.dtype, low: int, high: int) -> np.ndarray:
    """Integers in [low, high): `torch.randint`, `Tensor.random_(from, to)`, and `random_(to)` with `low` 0.

    All real dtypes and bool.  A range of 2**28 or more takes 64 bits a number, a smaller one 32.

    >>> randint(Generator().manual_seed(0), (5,), np.int64, 0, 10)
    array([4, 9, 3, 0, 3])
    """
    dtype = np.dtype(dtype)
    if not low < high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    if dtype.name in _REAL:
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
    if low == _INT64_MIN:
        if not math.prod(shape):
            return np.empty(shape, dtype)
        kernel = "random_full_64_bits_range_kernel_cpu"
        _require(dtype, (_REAL | _CLASSIC_INTS) - {"float16"}, kernel)
        if dtype.name not in _REAL | {"int64"}:
            raise RuntimeError(f"{kernel} handles only int64, double, float and bfloat16")
        generator = _of(generator)
        with generator._lock:
            return _cast(generator._random64s(math.prod(shape)).view(np.int64), dtype).reshape(shape)
    if dtype.name in _REAL:
        last = 1 << _FLOATS[dtype.name][2]
        low = _moved_up(low, dtype)
        if not low < last:
            raise RuntimeError(
                "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' casted to dtype, "
                f"but got from={low} > to_inc={last}"
            )
    elif dtype.name in _INTS:
        # uint64's largest number becomes -1 as an int64, there as here
        last = {"bool": 1, "uint64": -1}.get(dtype.name) or int(np.iinfo(dtype).max)
    else:
        raise RuntimeError("random_from_to_impl handles only integral, floating-point and boolean types")
    _check_range(low, last, dtype)
    return _integers(generator, shape, dtype, low, last - low + 1)


def random(generator: Generator | None, shape: Shape, dtype: np.dtype) -> np.ndarray:
    """Integers in [0, largest of `dtype`], [0, 2**digits] for a float: `Tensor.random_()`.

    float16, bfloat16, float32, float64, uint8, int8 to int64, bool.

    >>> random(Generator().manual_seed(0), (3,), np.uint8)
    array([ 44, 239, 141], dtype=uint8)
    """
    dtype = np.dtype(dtype)
    if not math.prod(shape):
        return np.empty(shape, dtype)
    _require(dtype, _COUNTABLE | {"bool"}, "random_kernel_cpu")
    if dtype == np.bool_:
        span = 2
    else:
        span = (1 << _FLOATS[dtype.name][2] if dtype.name in _REAL else int(np.iinfo(dtype).max)) + 1
    return _integers(generator, shape, dtype, 0, span, dtype.itemsize == 8)


def _integers(
    generator: Generator | None, shape: Shape, dtype: np.dtype, low: int, span: int, wide: bool | None = None
) -> np.ndarray:
    """`low` plus the remainder of 64-bit (`wide`) or 32-bit numbers by `span`, in 64-bit arithmetic that wraps."""
    generator, count = _of(generator), math.prod(shape)
    with generator._lock:
        if span >= 1 << 28 if wide is None else wide:
            values = generator._random64s(count) % np.uint64(span)
        else:
            values = (generator._words(count) % np.uint32(span)).astype(np.uint64)
    if low:
        values += np.uint64(low % (1 << 64))
    if dtype == np.uint64:
        return values.reshape(shape)
    return _cast(values.view(np.int64), dtype).reshape(shape)


def _check_range(first: int, last: int, dtype: np.dtype) -> None:
    if dtype.name in _REAL:
        digits = _FLOATS[dtype.name][2]
        limits = -_largest(dtype), _largest(dtype)
    elif dtype == np.bool_:
        limits = 0, 1
    elif dtype.name in _INTS:
        limits = int(np.iinfo(dtype).min), min(int(np.iinfo(dtype).max), _INT64_MAX)
    else:
        raise RuntimeError("check_random_bounds handles only integral, floating-point and boolean types")
    cpp_name = _NAMES[dtype.name][1]
    for bound, word in ((first, "from"), (last, "to - 1")):
        if not limits[0] <= bound <= limits[1]:
            raise RuntimeError(f"{word} is out of bounds for {cpp_name}")
    if dtype.name in _REAL:
        for bound, word in ((first, "from"), (last, "to - 1")):
            if abs(bound) > 1 << digits:
                warnings.warn(
                    f"{word} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision limitations {cpp_name} can "
                    "support discrete uniform distribution only within this range. This warning will become an error "
                    "in version 1.7 release, please fix the code in advance",
                    stacklevel=4,
                )


def _through(value: int, dtype: np.dtype) -> int:
    """`value` converted to the float `dtype` and back to int64."""
    there = float(_cast(np.array([value], np.int64), dtype)[0])
    return int(there) if -(2.0**63) <= there < 2.0**63 else _INT64_MIN


def _moved_up(low: int, dtype: np.dtype) -> int:
    """The least bound not below `low` that no rounding to `dtype` can fall below; PyTorch's `update_from`."""
    near = _through(low + 1, dtype)
    return near + _spacing(low + 1, dtype) if near < low else low


def _moved_down(high: int, dtype: np.dtype) -> int:
    """PyTorch's `update_to`."""
    near = _through(high - 1, dtype)
    return near - _spacing(high - 1, dtype) if near >= high else high


def _spacing(value: int, dtype: np.dtype) -> int:
    return 1 << (abs(value).bit_length() - _FLOATS[dtype.name][2])


def randperm(generator: Generator | None, n: int, dtype: np.dtype = np.int64) -> np.ndarray:
    """A permutation of 0, ..., n - 1, shape (n,): `torch.randperm`.  Any dtype that `random` has but bool.

    Up to 214,748,363 elements Fisher and Yates's shuffle from the front with 32-bit numbers, beyond it the inside-out
    shuffle with 64-bit numbers.

    >>> randperm(Generator().manual_seed(0), 6)
    array([2, 5, 4, 1, 3, 0])
    """
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    dtype = np.dtype(dtype)
    if dtype.kind in "iu" and n - 1 > np.iinfo(dtype).max:
        raise RuntimeError(f"value cannot be converted to type {dtype.name}_t without overflow")
    if dtype.name in _REAL - {"bfloat16"} and n > (1 << _FLOATS[dtype.name][2]) + 1:
        name, _, digits = _FLOATS[dtype.name]
        limit = "2049" if digits == 11 else f"2^{digits}+1"
        raise RuntimeError(f"n cannot be greater than {limit} for {name} type.")
    _require(dtype, _COUNTABLE, "randperm")
    generator = _of(generator)
    with generator._lock:
        if n < 0xFFFFFFFF // 20:
            steps = generator._words(max(n - 1, 0)) % np.arange(n, 1, -1, dtype=np.uint32)
        else:
            steps = generator._random64s(n) % np.arange(1, n + 1, dtype=np.uint64)
    made = _shuffled_forward(steps) if steps.dtype == np.uint32 else _shuffled_inside_out(steps.view(np.int64))
    return _cast(made[:n], dtype)


def _shuffled_forward(steps: np.ndarray) -> np.ndarray:
    """0, ..., steps.size after exchanging place i with place i + steps[i], for each i in turn."""
    last = steps.size
    if last < 512:  # where the array functions below cost more than they save
        places = list(range(last + 1))
        for i, step in enumerate(steps.tolist()):
            places[i], places[i + step] = places[i + step], places[i]
        return np.array(places, np.int64)
    return _exchanged(np.append(np.arange(last) + steps, last))


def _shuffled_inside_out(steps: np.ndarray) -> np.ndarray:
    """The inside-out shuffle: for each i in turn, put what is at place steps[i] <= i at place i, and i at steps[i].

    Read backwards it is a forward shuffle of the places counted from the end, and makes the inverse permutation.
    """
    last = steps.size - 1
    backwards = last - _exchanged(last - steps[::-1])[::-1]
    made = np.empty_like(backwards)
    made[backwards] = np.arange(last + 1)
    return made


def _exchanged(targets: np.ndarray) -> np.ndarray:
    """0, ..., targets.size - 1 after exchanging place i with place targets[i] >= i, for each i in turn, all at once.

    Step i leaves at place i for good what place t = targets[i] held: what the last earlier step with the target t
    put there, or t.  A step s puts there what place s held just before: what the last step with the target s put
    there, or s.  So sorting the steps by target finds for each the step to ask, and chains of such questions (about
    log n long, Shun et al., "Sequential random permutation, list contraction and tree contraction are highly
    parallel", SODA 2015) are followed for all at once by doubling.
    """
    count = targets.size
    order = np.sort(targets << 32 | np.arange(count))  # by target, then by step; n < 2**31
    step, target = order & 0xFFFFFFFF, order >> 32
    again = np.empty(count, bool)  # the step before in `order` has the same target
    again[0] = False
    np.equal(target[1:], target[:-1], out=again[1:])
    moves = step != target
    final = moves.copy()  # the last step to put something at `target` before step number `target` itself
    final[:-1] &= ~(again[1:] & moves[1:])
    held = np.arange(count)
    held[target[final]] = step[final]
    while True:
        further = held[held]
        if np.array_equal(further, held):
            break
        held = further
    made = np.empty_like(targets)
    made[step] = target
    made[step[again]] = held[step[np.flatnonzero(again) - 1]]
    return made


# ---- coins


def bernoulli(generator: Generator | None, shape: Shape, dtype: np.dtype, p: float) -> np.ndarray:
    """Ones with probability `p`, else zeros: `Tensor.bernoulli_(p)`.  One float64 uniform each, whatever the dtype.

    bool, uint8, int8 to int64 and the floats.

    >>> bernoulli(Generator().manual_seed(0), (4,), np.bool_, 0.5)
    array([False, False,  True, False])
    """
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    if not math.prod(shape):
        return np.empty(shape, dtype)
    dtype = _require(dtype, _COUNTABLE | {"bool"}, "bernoulli_scalar_cpu_")
    generator = _of(generator)
    with generator._lock:
        return (generator._uniforms64(math.prod(shape)) < p).astype(dtype).reshape(shape)


def bernoulli_tensor(generator: Generator | None, shape: Shape, dtype: np.dtype, p: np.ndarray) -> np.ndarray:
    """Ones with a probability per element: `torch.bernoulli(p)` with p's shape and dtype, `Tensor.bernoulli_(p)`.

    `p` is floating and broadcasts to `shape`; a float64 `p` takes a float64 uniform each, any other a float32 one.

    >>> bernoulli_tensor(Generator().manual_seed(0), (4,), np.float32, np.full(4, 0.5, np.float32))
    array([1., 0., 1., 1.], dtype=float32)
    """
    if not math.prod(shape):
        return np.empty(shape, dtype)
    dtype = _require(dtype, _COUNTABLE | {"bool"}, "bernoulli_tensor_cpu_self_")
    _require(p.dtype, _REAL, "bernoulli_tensor_cpu_p_")
    generator, wide = _of(generator), p.dtype == np.float64
    p = np.broadcast_to(p if wide else p.astype(np.float32), shape).ravel()
    bad = np.flatnonzero(~((p >= 0) & (p <= 1)))
    with generator._lock:
        # an error is found on the way, when the stream has been used up to there
        values = (generator._uniforms64 if wide else generator._uniforms32)(int(bad[0]) if bad.size else p.size)
    if bad.size:
        raise RuntimeError(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  "
            "If so, please report an enhancement request to PyTorch.)"
        )
    return (values < p).astype(dtype).reshape(shape)


def dropout_noise(generator: Generator | None, shape: Shape, dtype: np.dtype, p: float) -> np.ndarray:
    """What `F.dropout` multiplies its input with: 1 / (1 - p) with probability 1 - p, else 0.

    For 0 < p < 1, of the input's shape and dtype, or with ones for the trailing sizes for `F.dropout2d` and so on.
    PyTorch draws nothing where `p` is 0 or 1.

    >>> dropout_noise(Generator().manual_seed(0), (4,), np.float32, 0.5)
    array([0., 0., 2., 0.], dtype=float32)
    """
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")
    noise = bernoulli(generator, shape, dtype, 1 - p)
    if noise.dtype.itemsize == 2:
        return _cast(noise.astype(np.float32) / np.float32(1 - p), noise.dtype)
    noise /= noise.dtype.type(1 - p)
    return noise


def native_dropout_mask(generator: Generator | None, shape: Shape, p: float) -> np.ndarray:
    """The bool mask of `torch.native_dropout`: True (kept) with probability 1 - p.

    >>> native_dropout_mask(Generator().manual_seed(0), (4,), 0.5)
    array([False, False,  True, False])
    """
    return bernoulli(generator, shape, np.bool_, 1 - p)


# ---- one formula on a float64 uniform


def exponential(generator: Generator | None, shape: Shape, dtype: np.dtype, rate: float = 1.0) -> np.ndarray:
    """Exponential with the given rate: `Tensor.exponential_`; -log1p(-u) / rate.

    >>> exponential(Generator().manual_seed(0), (2,), np.float32)
    array([3.5083399, 1.2304083], dtype=float32)
    """
    if not rate > 0.0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate:g}")
    dtype = np.dtype(dtype)
    if dtype.name not in _REAL:
        raise RuntimeError(
            "Exponential distribution is a continuous probability distribution. dtype must be a floating point "
            f"but you specified {_NAMES[dtype.name][0]}"
        )
    scale = -1.0 / rate
    return _from_uniforms(generator, shape, dtype, lambda u, of: of("log1p")(-u) * scale)


def cauchy(
    generator: Generator | None, shape: Shape, dtype: np.dtype, median: float = 0.0, sigma: float = 1.0
) -> np.ndarray:
    """Cauchy: `Tensor.cauchy_`; median + sigma * tan(pi * (u - 1/2)).

    >>> cauchy(Generator().manual_seed(0), (2,), np.float32)
    array([10.573055 ,  0.7294193], dtype=float32)
    """
    if not sigma > 0.0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    dtype = np.dtype(dtype)
    if dtype.name not in _REAL:
        raise RuntimeError(
            "Cauchy distribution is a continuous probability distribution. dtype must be a floating point "
            f"but you specified {_NAMES[dtype.name][1]}"
        )

    def formula(u: np.ndarray, of: Callable) -> np.ndarray:
        return fused_multiply_add(of("tan")((u - 0.5) * math.pi), sigma, median)

    return _from_uniforms(generator, shape, dtype, formula, abs(median))


def _from_uniforms(
    generator: Generator | None, shape: Shape, dtype: np.dtype, formula: Callable, offset: float = 0.0
) -> np.ndarray:
    """`formula(u, of)` of float64 uniforms; `of(name)` is the function to use for the C library's `name`."""
    generator = _of(generator)
    with generator._lock:
        u = generator._uniforms64(math.prod(shape))
    if dtype == np.float64:
        return formula(u, libm).reshape(shape)
    with np.errstate(over="ignore"):
        values = formula(u, np.__dict__.__getitem__)
        single = rounded_to_float32(values, np.abs(values) + offset, lambda unsure: formula(u[unsure], libm))
    return _cast(single, dtype).reshape(shape)


def log_normal(
    generator: Generator | None, shape: Shape, dtype: np.dtype, mean: float = 1.0, std: float = 2.0
) -> np.ndarray:
    """exp of a serial normal with this mean and standard deviation: `Tensor.log_normal_`.

    >>> log_normal(Generator().manual_seed(0), (2,), np.float32, 0.0, 1.0)
    array([4.669239 , 0.7457023], dtype=float32)
    """
    if not std > 0.0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    if not math.prod(shape):
        return np.empty(shape, dtype)
    dtype = _require(dtype, _REAL, "log_normal_cpu")
    values = libm("exp")(normal_serial(generator, (math.prod(shape),), np.float64, mean, std))
    return _cast(values, dtype).reshape(shape)


def geometric(generator: Generator | None, shape: Shape, dtype: np.dtype, p: float) -> np.ndarray:
    """Number of trials up to the first success: `Tensor.geometric_`; ceil(log(u) / log1p(-p)).

    The floats, uint8, int8 to int64.

    >>> geometric(Generator().manual_seed(0), (4,), np.int64, 0.25)
    array([1, 2, 3, 1])
    """
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    if not math.prod(shape):
        return np.empty(shape, dtype)
    dtype = _require(dtype, _COUNTABLE, "geometric_cpu")
    generator = _of(generator)
    with generator._lock:
        u = generator._uniforms64(math.prod(shape))
    with np.errstate(divide="ignore"):
        trials = np.ceil(np.log(u) / math.log1p(-p))  # the last bit of log shows once in 2**45 numbers
    return _cast(trials, dtype).reshape(shape)


# ---- rejection: how much of the stream an element takes depends on what it finds there, so one at a time


def poisson(generator: Generator | None, rate: np.ndarray) -> np.ndarray:
    """Poisson with a rate per element, of its shape and dtype: `torch.poisson`.

    Products of uniforms below a rate of 10 (Knuth), transformed rejection from there on (Hoermann, "The transformed
    rejection method for generating Poisson random variables", Insurance: Math. and Econ. 12, 1993).

    >>> poisson(Generator().manual_seed(0), np.array([1.0, 4.0, 30.0], np.float32))
    array([ 0.,  4., 34.], dtype=float32)
    """
    _require(rate.dtype, _REAL, "poisson_cpu")
    return _one_by_one(generator, rate.dtype, rate.shape, _poisson, (rate.astype(np.float64),))


def _one_by_one(
    generator: Generator | None, dtype: np.dtype, shape: Shape, sample: Callable[..., float], columns: tuple
) -> np.ndarray:
    """`sample(generator, *numbers)` for each element, the numbers from `columns`, arrays of the size of `shape`."""
    generator = _of(generator)
    rows: Iterator = zip(*(column.ravel().tolist() for column in columns), strict=True)
    with generator._lock:
        values = np.array([sample(generator, *row) for row in rows], np.float64)
    return _cast(values, dtype).reshape(shape)


def _log(x: float) -> float:
    if x > 0.0:
        return math.log(x)
    return -math.inf if x == 0.0 else math.nan


def _poisson(generator: Generator, rate: float) -> float:
    if not rate >= 0.0:
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    if rate == 0.0:
        return 0.0
    uniform = generator._uniform
    if rate < 10.0:
        limit, product, count = math.exp(-rate), uniform(), 0
        while product > limit:
            product *= uniform()
            count += 1
        return float(count)
    log_rate = math.log(rate)
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    v_r = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u, v = uniform() - 0.5, uniform()
        us = 0.5 - abs(u)
        if us == 0.0:
            continue
        k = float(math.floor((2.0 * a / us + b) * u + rate + 0.43))
        if us >= 0.07 and v <= v_r:
            return k
        if k < 0.0 or (us < 0.013 and v > us):
            continue
        accepted = _log(v) + math.log(inverse_alpha) - math.log(a / (us * us) + b)
        if accepted <= -rate + k * log_rate - math.lgamma(k + 1.0):
            return k


def standard_gamma(generator: Generator | None, alpha: np.ndarray) -> np.ndarray:
    """Gamma with a shape parameter per element and scale 1: `torch._standard_gamma`.  float32 and float64.

    Marsaglia and Tsang, "A simple method for generating gamma variables", ACM TOMS 26(3), 2000.

    >>> standard_gamma(Generator().manual_seed(0), np.array([0.5, 3.0], np.float32))
    array([0.01130923, 1.2312565 ], dtype=float32)
    """
    _require(alpha.dtype, _FULL_PRECISION, "gamma_cpu")
    smallest = np.finfo(alpha.dtype).tiny
    made = _one_by_one(generator, alpha.dtype, alpha.shape, _gamma, _gamma_columns(alpha))
    return np.where(made > smallest, made, smallest)


def _gamma_columns(alpha: np.ndarray) -> tuple[np.ndarray, ...]:
    """alpha, 1 / alpha where it is below 1, and d and c of the method; as the C++ does it, partly in alpha's dtype."""
    kind = alpha.dtype.type
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        small = alpha < 1
        power = np.where(small, kind(1) / alpha, 0)
        d = np.where(small, alpha + kind(1), alpha) - kind(np.float32(1) / np.float32(3))
        c = 1.0 / np.sqrt(9.0 * d.astype(np.float64))
    return alpha, power, d, c


_SQUEEZE = float(np.float32(0.0331))


def _gamma(generator: Generator, alpha: float, power: float, d: float, c: float) -> float:
    uniform, normal = generator._uniform, generator._normal
    scale = 1.0
    if alpha < 1.0:
        if alpha == 0.0:
            return 0.0
        scale = math.pow(1.0 - uniform(), power)
    while True:
        x = normal()
        y = 1.0 + c * x
        if y <= 0.0:
            continue
        v = y * y * y
        u = 1.0 - uniform()
        xx = x * x
        if u < 1.0 - _SQUEEZE * xx * xx or math.log(u) < 0.5 * xx + d * (1.0 - v + _log(v)):
            return scale * d * v


def dirichlet(generator: Generator | None, alpha: np.ndarray) -> np.ndarray:
    """Dirichlet along the last dimension, of alpha's shape: `torch._sample_dirichlet`.  float32 and float64.

    Gammas in float64, divided by their sum.  float64 results may differ from PyTorch's by the order of that sum.

    >>> dirichlet(Generator().manual_seed(0), np.ones((2,), np.float32))
    array([0.83447546, 0.16552454], dtype=float32)
    """
    dtype = _require(alpha.dtype, _FULL_PRECISION, "dirichlet")
    gamma = standard_gamma(generator, alpha.astype(np.float64))
    share = (gamma / gamma.sum(-1, keepdims=True)).astype(dtype)
    return np.clip(share, np.finfo(dtype).tiny, np.nextafter(dtype.type(1), dtype.type(0)))


def binomial(generator: Generator | None, count: np.ndarray, prob: np.ndarray) -> np.ndarray:
    """Successes in `count` trials of probability `prob`, element by element: `torch.binomial`.  float32 and float64.

    Sums of geometric numbers where count * prob < 10, else transformed rejection (Hoermann, "The generation of
    binomial random variates", J. Stat. Comput. Simul. 46, 1993), both in PyTorch's mix of precisions.

    >>> binomial(Generator().manual_seed(0), np.array([10.0, 100.0], np.float32), np.array([0.5, 0.5], np.float32))
    array([ 3., 52.], dtype=float32)
    """
    for name, array in (("count", count), ("prob", prob)):
        if array.dtype.name not in _REAL:
            raise ValueError(
                f"binomial only supports floating-point dtypes for {name}, got: {_NAMES[array.dtype.name][0]}"
            )
    if count.dtype != prob.dtype:
        raise RuntimeError(f"Found dtype {_NAMES[prob.dtype.name][0]} but expected {_NAMES[count.dtype.name][0]}")
    _require(count.dtype, _FULL_PRECISION, "binomial_cpu")
    count, prob = np.broadcast_arrays(count, prob)
    return _one_by_one(generator, count.dtype, count.shape, _binomial, _binomial_columns(count, prob))


def _binomial_columns(count: np.ndarray, prob: np.ndarray) -> tuple[np.ndarray, ...]:
    """What `_binomial` takes; computed here because PyTorch does it in the dtype of `count`."""
    kind = count.dtype.type
    with np.errstate(all="ignore"):
        rare = np.where(prob > 0.5, kind(1) - prob, prob)
        expected = count * rare
        deviation = np.sqrt(expected * (kind(1) - rare))
        odds = rare / (kind(1) - rare)
        # PyTorch's log1p of a float32 is the C library's log1pf; this is the correctly rounded one
        log_failure = np.log1p(-rare.astype(np.float64)).astype(kind)
        mode = np.floor((count + kind(1)) * rare)
    return count, prob, rare, expected, deviation, odds, log_failure, mode


def _binomial(
    generator: Generator, count: float, prob: float, rare: float, expected: float, deviation: float, odds: float,
    log_failure: float, mode: float,
) -> float:  # fmt: skip
    if count <= 0.0 or prob <= 0.0:
        return 0.0
    if prob >= 1.0:
        return count
    if math.isnan(prob) or math.isnan(count):
        return math.nan
    if expected >= 10.0:
        made = _binomial_rejection(generator, count, rare, expected, deviation, odds, mode)
    else:
        made = _binomial_waiting(generator, count, log_failure)
    return made if prob <= 0.5 else count - made


def _binomial_waiting(generator: Generator, count: float, log_failure: float) -> float:
    made, trials = 0.0, 0.0
    while True:
        waited = _log(generator._uniform()) / log_failure
        trials += math.ceil(waited) if waited < math.inf else waited
        if trials > count:
            return made
        made += 1.0


def _binomial_rejection(
    generator: Generator, count: float, rare: float, expected: float, deviation: float, odds: float, mode: float
) -> float:
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * rare
    c = expected + 0.5
    v_r = 0.92 - 4.2 / b
    alpha = (2.83 + 5.1 / b) * deviation
    while True:
        u, v = generator._uniform() - 0.5, generator._uniform()
        us = 0.5 - abs(u)
        if us == 0.0:
            continue
        k = float(math.floor((2.0 * a / us + b) * u + c))
        if k < 0.0 or k > count:
            continue
        if us >= 0.07 and v <= v_r:
            return k
        upper = (
            (mode + 0.5) * math.log((mode + 1.0) / (odds * (count - mode + 1.0)))
            + (count + 1.0) * math.log((count - mode + 1.0) / (count - k + 1.0))
            + (k + 0.5) * math.log(odds * (count - k + 1.0) / (k + 1.0))
            + _stirling_tail(mode)
            + _stirling_tail(count - mode)
            - _stirling_tail(k)
            - _stirling_tail(count - k)
        )
        if _log(v * alpha / (a / (us * us) + b)) <= upper:
            return k


_STIRLING_TAIL = (
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
    0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
)  # fmt: skip


def _stirling_tail(k: float) -> float:
    """log(k!) less Stirling's formula."""
    if k < len(_STIRLING_TAIL):
        return _STIRLING_TAIL[int(k)]
    square = (k + 1.0) * (k + 1.0)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1.0)


# ---- categories


def multinomial(
    generator: Generator | None, prob: np.ndarray, num_samples: int, replacement: bool = False
) -> np.ndarray:
    """Indices drawn with the given weights: `torch.multinomial`.

    `prob` is floating, of shape (n,) or (rows, n); the result is int64 of shape (num_samples,) or (rows, num_samples).
    Without replacement, or for one sample, the largest of weight / Exp(1) (the Gumbel trick); with it, a search in the
    cumulative weights.  Where two such ratios are equal, which in float32 happens for about one pair in 2**24 and for
    all weights that are 0, the lower index comes first; PyTorch leaves that order to C++'s sort.

    >>> multinomial(Generator().manual_seed(0), np.ones(5, np.float32), 3)
    array([2, 4, 1])
    """
    if not 0 < prob.ndim <= 2:
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if prob.dtype.name not in _REAL:
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: {_NAMES[prob.dtype.name][0]}"
        )
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > prob.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if prob.shape[-1] > 1 << 24:
        raise RuntimeError("number of categories cannot exceed 2^24")
    if prob.ndim == 2 and not prob.shape[0]:
        return np.empty((0, num_samples), np.int64)
    sample = _multinomial_search if replacement and num_samples > 1 else _multinomial_race
    made = sample(_of(generator), prob.reshape(-1, prob.shape[-1]), num_samples)
    return made.reshape(*prob.shape[:-1], num_samples)


def _multinomial_race(generator: Generator, prob: np.ndarray, num_samples: int) -> np.ndarray:
    if not prob.shape[1]:
        raise RuntimeError("aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.")
    if not (prob.max() < math.inf and prob.min() >= 0):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not prob.any(1).all():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    clock = exponential(generator, prob.shape, prob.dtype)
    with np.errstate(all="ignore"):
        ratio = prob / clock
    if ratio.dtype.itemsize == 2:
        ratio = ratio.astype(np.float32)
    if num_samples == 1:
        return ratio.argmax(1)[:, None]
    return np.argsort(-ratio, axis=1, kind="stable")[:, :num_samples]


def _multinomial_search(generator: Generator, prob: np.ndarray, num_samples: int) -> np.ndarray:
    single = prob.astype(np.float64 if prob.dtype == np.float64 else np.float32, copy=False)
    made = np.empty((prob.shape[0], num_samples), np.int64)
    with generator._lock:
        for weights, row in zip(single, made, strict=True):
            bad = np.flatnonzero(~((weights >= 0) & np.isfinite(weights)))
            if bad.size:
                what = "= infinity or NaN" if weights[bad[0]] > 0 else "< 0"
                raise RuntimeError(f"invalid multinomial distribution (encountering probability entry {what})")
            cumulative = np.add.accumulate(weights)  # one after the other, in the dtype of the weights
            if not (weights.size and cumulative[-1] > 0):
                raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
            cumulative /= cumulative[-1]
            cumulative[-1] = 1
            row[:] = np.searchsorted(cumulative.astype(np.float64), generator._uniforms64(num_samples))
    return made
