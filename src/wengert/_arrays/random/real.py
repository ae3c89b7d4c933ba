"""Uniform and normal draws, and distributions that are one formula on a uniform: continuous ones, coins, geometric.

Source: PyTorch's `ATen/native/DistributionTemplates.h` (checks), `ATen/native/cpu/DistributionTemplates.h` (kernels),
`ATen/core/TransformationHelper.h` (formulas), `ATen/native/Dropout.cpp`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from math import log1p

import numpy as np

from ..._base.dtypes import FLOAT32
from .box_muller import CHUNK, box_muller_float32, box_muller_float64, words_for
from .common import (
    COMPLEX,
    COUNTABLE,
    COUNTABLE_OR_BOOL,
    FULL_PRECISION,
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
from .libm import FEW_NUMBERS, fused_multiply_add, libm, rounded_to_float32


def uniform(
    generator: Generator | None, shape: Shape, dtype: np.dtype, low: float = 0.0, high: float = 1.0
) -> np.ndarray:
    """Uniform on [low, high): `Tensor.uniform_`, and `torch.rand` by default.  Floating and complex dtypes.

    A complex number is two real ones.

    >>> uniform(Generator().manual_seed(0), (3,), np.float32)
    array([0.4962566 , 0.7682218 , 0.08847743], dtype=float32)
    """
    if low == 0.0 and high == 1.0:
        if dtype is FLOAT32 and (size := math.prod(shape)) <= CHUNK:  # the commonest case
            generator = generator or default_generator
            with generator._lock:
                values = generator._uniforms32(size)
            return shaped(values, shape)
        if make := _STANDARD_UNIFORM.get(dtype):
            return filled(generator, shape, dtype, make)
    dtype = np.dtype(dtype)
    if name_of(dtype) in COMPLEX:
        return uniform(generator, (*shape, 2), _part(dtype), low, high).view(dtype)[..., 0]
    require(dtype, REAL, "check_uniform_bounds")
    if low != 0.0 or high != 1.0:
        _check_uniform(dtype, low, high)
    return filled(generator, shape, dtype, _uniform_maker(dtype, low, high))


_STANDARD_UNIFORM = {np.dtype(np.float32): Generator._uniforms32, np.dtype(np.float64): Generator._uniforms64}


@functools.lru_cache(64)
def _uniform_maker(dtype: np.dtype, low: float, high: float) -> Callable[[Generator, int], np.ndarray]:
    first, end = cast(np.array([low, high]), dtype)
    narrow = np.float64 if dtype == np.float64 else np.float32
    start = float(narrow(low))
    width = float(narrow(high) - narrow(low))

    def make(generator: Generator, count: int) -> np.ndarray:
        if dtype == np.float64:
            values = fused_multiply_add(generator._uniforms64(count), width, start)
        else:  # one rounding, as if fused: a product of two float32 is exact in float64
            wide = generator._uniforms32(count) * np.float64(width)
            wide += start
            values = cast(wide.astype(np.float32), dtype)
        values[values == end] = first  # rounding may have reached the excluded end
        return values

    return make


def _check_uniform(dtype: np.dtype, low: float, high: float) -> None:
    limit = largest(dtype)
    for bound, word in ((low, "from"), (high, "to")):
        if not -limit <= bound <= limit:
            raise RuntimeError(f"{word} is out of bounds for {cpp_name(dtype)}")
    if not low <= high:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}")
    if not high - low <= limit:
        raise RuntimeError(
            f"uniform_ expects to-from <= std::numeric_limits<{torch_name(dtype)}>::max(), "
            f"but found to={high:g} and from={low:g} which result in to-from to exceed the limit"
        )


def _part(dtype: np.dtype) -> np.dtype:
    """The real dtype that a complex one is made of."""
    return np.dtype(np.float32 if name_of(dtype) == "complex64" else np.float64)


def normal(
    generator: Generator | None, shape: Shape, dtype: np.dtype, mean: float = 0.0, std: float = 1.0
) -> np.ndarray:
    """Normal: `Tensor.normal_`, and `torch.randn` by default.  Floating and complex dtypes.

    Up to 15 numbers are serial normals made in float64, from 16 on they are made in blocks of 16 in float32 (float64
    for float64); if the number is no multiple of 16, the last 16 are drawn again.  A complex number is two real ones
    with `std / sqrt(2)`.

    >>> normal(Generator().manual_seed(0), (3,), np.float32)
    array([ 1.5409961, -0.2934289, -2.1787894], dtype=float32)
    """
    if mean == 0.0 and std == 1.0 and dtype is FLOAT32:  # the commonest case
        generator = generator or default_generator
        with generator._lock:
            values = generator._normals32(math.prod(shape))
        return shaped(values, shape)
    if not std >= 0.0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    dtype, count = np.dtype(dtype), math.prod(shape)
    if name_of(dtype) in COMPLEX:
        return normal(generator, (*shape, 2), _part(dtype), mean, std / math.sqrt(2.0)).view(dtype)[..., 0]
    if count < 16:
        return normal_serial(generator, shape, dtype, mean, std)
    require(dtype, REAL, "normal_kernel_cpu")
    values = _block_normals(resolve(generator), count, dtype)
    if mean != 0.0 or std != 1.0:
        values = _scaled(values, mean, std)
    return cast(values, dtype).reshape(shape)


_FEW = 4096


def _block_normals(generator: Generator, count: int, dtype: np.dtype) -> np.ndarray:
    """`count` >= 16 standard normals made in blocks, as float64 for float64 and as float32 for the others."""
    rest, wide = count % 16, dtype == np.float64
    with generator._lock:
        if not wide and (not rest or name_of(dtype) in FULL_PRECISION):
            return generator._block_normals32(count)
        if not rest:
            return box_muller_float64(generator._uniforms64(count))
        # The full-precision kernels draw for the incomplete last block too, and discard those draws.
        drawn = words_for(count) if wide else count - rest + 16
        source = generator._uniforms64(drawn) if wide else generator._words(drawn)
    source = np.concatenate((source[: count - rest], source[-16:]))
    made = box_muller_float64(source) if wide else box_muller_float32(source)
    values = made[:count].copy()
    values[-16:] = made[-16:]
    return values


def _scaled(values: np.ndarray, mean: float, std: float) -> np.ndarray:
    """`values * std + mean`, rounded once."""
    if values.dtype == np.float64:
        return fused_multiply_add(values, std, mean)
    mean, std = np.float64(np.float32(mean)), np.float64(np.float32(std))
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, values.size, CHUNK):
            part = values[start : start + CHUNK]
            wide = part * std
            wide += mean
            part[...] = wide
    return values


def normal_serial(
    generator: Generator | None, shape: Shape, dtype: np.dtype, mean: float = 0.0, std: float = 1.0
) -> np.ndarray:
    """Serial normals, in any number, as `Tensor.normal_` draws them for a tensor that is not contiguous.

    >>> normal_serial(Generator().manual_seed(0), (2,), np.float64)
    array([ 1.54099611, -0.29342891])
    """
    if not std >= 0.0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    dtype, count = np.dtype(dtype), math.prod(shape)
    if not count:
        return np.empty(shape, dtype)
    require(dtype, REAL, "normal_kernel_cpu")
    generator = resolve(generator)
    with generator._lock:
        values = generator._normals(count)
    if std != 1.0 or mean != 0.0:
        values = fused_multiply_add(values, std, mean)
    return shaped(cast(values, dtype), shape)


def normal_tensor(
    generator: Generator | None, mean: np.ndarray | float, std: np.ndarray | float, dtype: np.dtype | None = None
) -> np.ndarray:
    """Normal with a mean and a standard deviation per element: `torch.normal`; at least one of the two is an array.

    The result has the shape the two broadcast to, and without a `dtype` that of `mean`, of `std` if `mean` is a float.

    >>> normal_tensor(Generator().manual_seed(0), np.array([1.0, 2.0], np.float32), 0.0)
    array([1., 2.], dtype=float32)
    """
    if type(mean) is type(std) is np.ndarray and mean.shape == std.shape and 0 < std.size <= _FEW:
        if dtype is None and mean.dtype is std.dtype and std.dtype in _STANDARD_UNIFORM:  # the commonest case
            if not std.item(std.argmin()) >= 0:
                raise RuntimeError("normal expects all elements of std >= 0.0")
            values = normal(generator, mean.shape, mean.dtype)
            with np.errstate(over="ignore", invalid="ignore"):
                np.multiply(values, std, values)
                return np.add(values, mean, values)
    if isinstance(std, np.ndarray):
        if std.dtype.kind == "c":
            raise RuntimeError("normal expects standard deviation to be non-complex")
        if std.size and not std.min() >= 0:
            raise RuntimeError("normal expects all elements of std >= 0.0")
    shape = np.broadcast_shapes(np.shape(mean), np.shape(std))
    if not isinstance(mean, np.ndarray):
        mean = np.array(mean, np.asarray(std).dtype)
    dtype = dtype or mean.dtype
    if isinstance(std, np.ndarray):
        return _updated(np.add, _updated(np.multiply, normal(generator, shape, dtype), std), mean)
    return _updated(np.add, normal(generator, shape, dtype, 0.0, std), mean)


def _updated(operator: np.ufunc, values: np.ndarray, operand: np.ndarray) -> np.ndarray:
    """One of PyTorch's in-place operations, computed in the dtype that values and operand promote to."""
    if operand.ndim == 0 < values.ndim:
        operand = operand.astype(values.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        return cast(np.asarray(operator(values, operand)), values.dtype)


# ---- coins


def bernoulli(generator: Generator | None, shape: Shape, dtype: np.dtype, p: float) -> np.ndarray:
    """Ones with probability `p`, else zeros: `Tensor.bernoulli_(p)`.  One float64 uniform each, whatever the dtype.

    bool, uint8, int8 to int64 and the floats.

    >>> bernoulli(Generator().manual_seed(0), (4,), np.bool_, 0.5)
    array([False, False,  True, False])
    """
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    size = math.prod(shape)
    if not size:
        return np.empty(shape, dtype)
    if dtype is FLOAT32 and size <= CHUNK:  # the commonest case
        generator = resolve(generator)
        with generator._lock:
            return shaped(generator._coins(size, p).astype(FLOAT32), shape)
    dtype = require(dtype, COUNTABLE_OR_BOOL, "bernoulli_scalar_cpu_")
    return filled(generator, shape, dtype, lambda g, count: g._coins(count, p).astype(dtype))


def bernoulli_tensor(generator: Generator | None, shape: Shape, dtype: np.dtype, p: np.ndarray) -> np.ndarray:
    """Ones with a probability per element: `torch.bernoulli(p)` with p's shape and dtype, `Tensor.bernoulli_(p)`.

    `p` is floating and broadcasts to `shape`; a float64 `p` takes a float64 uniform each, any other a float32 one.

    >>> bernoulli_tensor(Generator().manual_seed(0), (4,), np.float32, np.full(4, 0.5, np.float32))
    array([1., 0., 1., 1.], dtype=float32)
    """
    if not math.prod(shape):
        return np.empty(shape, dtype)
    generator = resolve(generator)
    if p.dtype is FLOAT32 is dtype and p.shape == shape and p.flags.c_contiguous and p.size <= CHUNK:
        bits = p.view(np.uint32)
        if bits.item(bits.argmax()) <= _BITS_OF_ONE:  # the floats from 0 to 1; the commonest case
            with generator._lock:
                values = generator._uniforms32(p.size)
            return ((values if len(shape) == 1 else values.reshape(shape)) < p).astype(FLOAT32)
    dtype = require(dtype, COUNTABLE_OR_BOOL, "bernoulli_tensor_cpu_self_")
    require(p.dtype, REAL, "bernoulli_tensor_cpu_p_")
    wide = p.dtype == np.float64
    p = p if wide else p.astype(FLOAT32, copy=False)
    p = (p if p.shape == shape else np.broadcast_to(p, shape)).reshape(-1)
    proper = np.minimum.reduce(p) >= 0 and np.maximum.reduce(p) <= 1
    good = p.size if proper else int(np.flatnonzero(~((p >= 0) & (p <= 1)))[0])
    with generator._lock:
        # the error comes in the middle of the draws, after the stream was used up to there
        values = (generator._uniforms64 if wide else generator._uniforms32)(good)
    if not proper:
        raise RuntimeError(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  "
            "If so, please report an enhancement request to PyTorch.)"
        )
    return (values < p).astype(dtype).reshape(shape)


_BITS_OF_ONE = 0x3F800000


def dropout_noise(generator: Generator | None, shape: Shape, dtype: np.dtype, p: float) -> np.ndarray:
    """The factors that `F.dropout` multiplies its input by: 1 / (1 - p) with probability 1 - p, else 0.

    For 0 < p < 1, of the input's shape and dtype, or with ones for the trailing sizes for `F.dropout2d` and so on.
    PyTorch draws nothing where `p` is 0 or 1.

    >>> dropout_noise(Generator().manual_seed(0), (4,), np.float32, 0.5)
    array([0., 0., 2., 0.], dtype=float32)
    """
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")
    noise = bernoulli(generator, shape, dtype, 1 - p)
    if noise.dtype.itemsize == 2:
        return cast(noise.astype(np.float32) / np.float32(1 - p), noise.dtype)
    noise /= noise.dtype.type(1 - p)
    return noise


def native_dropout_mask(generator: Generator | None, shape: Shape, p: float) -> np.ndarray:
    """The bool mask of `torch.native_dropout`: True (kept) with probability 1 - p.

    >>> native_dropout_mask(Generator().manual_seed(0), (4,), 0.5)
    array([False, False,  True, False])
    """
    return bernoulli(generator, shape, np.dtype(np.bool_), 1 - p)


# ---- one formula on a float64 uniform


def _continuous(dtype: np.dtype, distribution: str, namer: Callable[[np.dtype], str]) -> np.dtype:
    if name_of(dtype) not in REAL:
        raise RuntimeError(
            f"{distribution} distribution is a continuous probability distribution. dtype must be a floating point "
            f"but you specified {namer(dtype)}"
        )
    return np.dtype(dtype)


def exponential(generator: Generator | None, shape: Shape, dtype: np.dtype, rate: float = 1.0) -> np.ndarray:
    """Exponential with the given rate: `Tensor.exponential_`; -log1p(-u) / rate.

    >>> exponential(Generator().manual_seed(0), (2,), np.float32)
    array([3.5083263, 1.2303847], dtype=float32)
    """
    if not rate > 0.0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate:g}")
    scale = -1.0 / rate
    if dtype is FLOAT32 and math.prod(shape) < FEW_NUMBERS:
        generator = resolve(generator)
        with generator._lock:
            return shaped(few_exponentials(generator, math.prod(shape), scale), shape)
    dtype = _continuous(dtype, "Exponential", torch_name)
    return _from_uniforms(generator, shape, dtype, lambda u, of: of("log1p")(-u) * scale)


def few_exponentials(generator: Generator, count: int, scale: float) -> np.ndarray:
    """A few float32 exponentials, one by one; ``scale``: -1 by the rate."""
    numbers = generator._whole_numbers(count).tolist()
    return np.array([log1p(n * -(2.0**-53)) * scale for n in numbers], FLOAT32)


def cauchy(
    generator: Generator | None, shape: Shape, dtype: np.dtype, median: float = 0.0, sigma: float = 1.0
) -> np.ndarray:
    """Cauchy: `Tensor.cauchy_`; median + sigma * tan(pi * (u - 1/2)).

    >>> cauchy(Generator().manual_seed(0), (2,), np.float32)
    array([10.59773  ,  0.7647673], dtype=float32)
    """
    if not sigma > 0.0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    dtype = _continuous(dtype, "Cauchy", cpp_name)

    def formula(u: np.ndarray, of: Callable) -> np.ndarray:
        return fused_multiply_add(of("tan")((u - 0.5) * math.pi), sigma, median)

    return _from_uniforms(generator, shape, dtype, formula, abs(median))


def _from_uniforms(
    generator: Generator | None, shape: Shape, dtype: np.dtype, formula: Callable, offset: float = 0.0
) -> np.ndarray:
    """`formula(u, of)` of float64 uniforms; `of(name)` is the function to use for the C library's `name`."""

    def make(generator: Generator, count: int) -> np.ndarray:
        u = generator._uniforms64(count)
        with np.errstate(over="ignore", invalid="ignore"):
            if dtype.itemsize == 8 or count < FEW_NUMBERS:
                values = formula(u, libm)
                return cast(values, dtype) if dtype.itemsize == 2 else values.astype(dtype, copy=False)
            values = formula(u, np.__dict__.__getitem__)
            magnitude = np.abs(values) + offset
            return cast(rounded_to_float32(values, magnitude, lambda unsure: formula(u[unsure], libm)), dtype)

    return filled(generator, shape, dtype, make)


def log_normal(
    generator: Generator | None, shape: Shape, dtype: np.dtype, mean: float = 1.0, std: float = 2.0
) -> np.ndarray:
    """exp of a serial normal with this mean and standard deviation: `Tensor.log_normal_`.

    >>> log_normal(Generator().manual_seed(0), (2,), np.float32, 0.0, 1.0)
    array([4.669239 , 0.7457022], dtype=float32)
    """
    if not std > 0.0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    if not math.prod(shape):
        return np.empty(shape, dtype)
    dtype = require(dtype, REAL, "log_normal_cpu")
    normals = normal_serial(generator, (math.prod(shape),), np.dtype(np.float64), mean, std)
    with np.errstate(over="ignore"):
        values = libm("exp")(normals)
    return cast(values, dtype).reshape(shape)


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
    dtype = require(dtype, COUNTABLE, "geometric_cpu")
    scale = math.log1p(-p)

    def make(generator: Generator, count: int) -> np.ndarray:
        with np.errstate(divide="ignore"):
            # a difference from the C library's log in the last bit changes one in 2**45 numbers
            return cast(np.ceil(np.log(generator._uniforms64(count)) / scale), dtype)

    return filled(generator, shape, dtype, make)
