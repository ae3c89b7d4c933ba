"""Ranges of numbers: ``arange``, ``linspace``, ``logspace`` and the deprecated ``range``, with PyTorch's digits."""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

import numpy as np

from ..._arrays.random.libm import fused_multiply_add
from ..._base import dtypes
from ..._base.dtypes import BY_NUMPY, INT64, REAL_NUMBERS
from ..._base.dtypes import dtype as Dtype
from ..._base.errors import warn
from ..._kinds.slow_path import misfit
from ..._payloads.meta import Meta, on_meta
from ..._tape.error_text import cpp_name
from ..._tape.tensor import Tensor
from ..._tensor_api.construct import made, meta_device, placed
from .create import Options, allocate, dtype_chosen, element, filled, finish, maker, number_of, options_of

_NEAR = 1 << 31
_MANY = 1 << 28  # steps


@maker("torch.arange", "out")
def arange(*args: Any, **kwargs: Any) -> Tensor:
    """``arange(end)``, ``arange(start, end, step=1)``: the numbers from start to end, without end.

    The dtype is int64 if all arguments are ints, and the default dtype if one is a float.

    Raises RuntimeError if step is zero or leads away from end.

    >>> torch.arange(3), torch.arange(1, 2.5, 0.5)
    (tensor([0, 1, 2]), tensor([1.0000, 1.5000, 2.0000]))
    """
    if not kwargs and len(args) == 1 and type(args[0]) is int and 0 <= args[0] < 1 << 31:  # the most common call
        return made(np.arange(args[0], dtype=INT64))
    if not kwargs and len(args) == 2 and type(args[0]) is int is type(args[1]) and -_NEAR < args[0] <= args[1] < _NEAR:
        return made(np.arange(*args, dtype=INT64))
    asked = options_of("arange", kwargs, True)
    dtype = asked.dtype
    if not asked.others and 1 <= len(args) <= 3 and REAL_NUMBERS.issuperset(map(type, args)):
        start, end, step = args if len(args) == 3 else (*args, 1) if len(args) == 2 else (0, *args, 1)
    else:
        start, end, step = _range_arguments("arange", args, asked.others)
    if asked.out is not None:
        dtype = BY_NUMPY[dtype_chosen(dtype, asked.out)]
    elif dtype is None:
        dtype = _range_dtype((start, end, step))
    if dtype.kind in ("bool", "complex"):
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{dtype.scalar_name}'")
    _check_range(start, end, step)
    count = _range_count(start, end, step, dtype)
    if asked.device is not None and meta_device(asked.device):
        values: Any = Meta((count,), dtype.np)
    elif count <= _FEW:
        values = _few_in_range(start, step, count, dtype).copy()
    else:
        values = _range_values(start, step, count, dtype)
    if isinstance(asked.out, Tensor) and isinstance(values, np.ndarray):
        values = _fitting(values, asked.out)
    return finish(placed(values, asked.device), asked.out, asked.requires_grad)


def _fitting(values: Any, out: Tensor) -> Any:
    """The values in the shape of an ``out`` that has as many elements; another one is resized, with a warning."""
    shape = tuple(out._payload.shape)
    have = math.prod(shape)
    if have == values.size:
        return values.reshape(shape)
    if have:
        warn(
            f"The number of elements in the out tensor of shape {list(shape)} is {have} which does not match the "
            f"computed number of elements {values.size}. Note that this may occur as a result of rounding error. The "
            f"out tensor will be resized to a tensor of shape ({values.size},)."
        )
    return values


def _range_arguments(function: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, Any]:
    names = ("end",) if len(args) == 1 and not {"end"} & kwargs.keys() else ("start", "end", "step")
    given = dict(zip(names, args, strict=False))
    if (
        len(args) > 3
        or given.keys() & kwargs.keys()
        or not kwargs.keys() <= {"start", "end", "step"}
        or not ("end" in given or "end" in kwargs)
    ):
        raise misfit(function, *args, **kwargs)
    given.update(kwargs)
    values = (given.get("start", 0), given["end"], given.get("step", 1))
    places = {name: i + 1 for i, name in enumerate(names)}
    return tuple(
        number_of(v, function, n, places.get(n, 3)) for n, v in zip(("start", "end", "step"), values, strict=True)
    )


def _range_dtype(numbers: Any) -> Dtype:
    start, end, step = numbers
    whole = isinstance(start, int) and isinstance(end, int) and isinstance(step, int)
    return dtypes.int64 if whole else dtypes.default_dtype


def _check_range(start: Any, end: Any, step: Any) -> None:
    if isinstance(start, complex) or isinstance(end, complex) or isinstance(step, complex):
        raise RuntimeError("value cannot be converted to type double without overflow")
    for n in (start, end, step):
        if isinstance(n, int) and not -(2**63) <= n < 2**63:
            raise RuntimeError("value cannot be converted to type int64_t without overflow")
    if not (step > 0 or step < 0):
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start:g} -> {end:g}")
    if (step > 0 and end < start) or (step < 0 and end > start):
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")


def _range_count(start: Any, end: Any, step: Any, dtype: Dtype) -> int:
    if dtype is dtypes.int64:
        first, last, by = int(start), int(end), int(step)
        if by == 0:
            raise ValueError("step must be nonzero")
        return max(-((first - last) // by), 0)
    count = math.ceil((float(end) - float(start)) / float(step))
    if count >= 2**63:
        raise RuntimeError("invalid size, possible overflow?")
    return count


def _range_values(start: Any, step: Any, count: int, dtype: Dtype) -> Any:
    """start + i * step; floats are counted in blocks from a rounded first number, as in PyTorch (``_by_blocks``)."""
    np_dtype = dtype.np
    i = allocate(lambda n, d: np.arange(n[0], dtype=d), (count,), np.dtype(np.int64))
    if np_dtype.kind in "iu":
        return (i * int(step) + int(start)).astype(np_dtype)
    if np_dtype.itemsize == 2:  # computed in float32
        return _by_blocks(float(np.float32(start)), float(np.float32(step)), i, np_dtype)
    return _by_blocks(float(start), float(step), i, np_dtype)


_FEW = 1024  # length up to which results are cached
_few_in_range = functools.lru_cache(256)(_range_values)


def _by_blocks(start: float, step: float, i: Any, np_dtype: Any) -> Any:
    """start + i * step with PyTorch's rounding: blocks of 32 bytes, each counted from its first element.

    A remainder of less than two blocks is counted from ``start`` (ATen/native/cpu/RangeFactoriesKernel.cpp).
    """
    width = 32 // np_dtype.itemsize
    whole = len(i) // (2 * width) * (2 * width)
    inside = i % width
    inside[whole:] = 0
    first = fused_multiply_add((i - inside).astype(np.float64), step, start)
    if np_dtype.itemsize == 2:
        first = first.astype(np.float32)
    first = first.astype(np_dtype)
    if whole:
        k = inside[:whole].astype(np.float64)
        blocks = first[:whole].astype(np.float64)
        counted = _fused(k, step, blocks) if np_dtype.itemsize == 8 else k * step + blocks
        first[:whole] = counted.astype(np.float32) if np_dtype.itemsize == 2 else counted
    return first


def _fused(a: Any, b: float, c: Any) -> Any:
    """a * b + c rounded once, for float64 arrays a and c (Dekker's product, Knuth's sum; see ``generator``)."""
    product = a * b
    split = 134217729.0  # 2**27 + 1
    a_high, b_high = a * split - (a * split - a), b * split - (b * split - b)
    a_low, b_low = a - a_high, b - b_high
    product_error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    total = product + c
    moved = total - product
    return total + (((product - (total - moved)) + (c - moved)) + product_error)


@maker("torch.range", "out")
def range_(*args: Any, **kwargs: Any) -> Tensor:
    """Deprecated: ``range(start, end, step=1)`` is ``arange`` with the end included, in the default dtype.

    >>> torch.range(1, 2, 0.5)
    tensor([1.0000, 1.5000, 2.0000])
    """
    warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end)."
    )
    asked = options_of("range", kwargs, True)
    dtype = asked.dtype or dtypes.default_dtype
    if dtype.kind in ("bool", "complex"):
        raise NotImplementedError(f"\"range_cpu\" not implemented for '{dtype.scalar_name}'")
    start, end, step = _range_arguments("range", args, asked.others)
    _check_range(start, end, step)
    count = math.floor((end - start) / step) + 1
    i = np.arange(count, dtype=np.float64 if dtype.is_floating_point else np.int64)
    return finish(placed((start + i * step).astype(dtype.np), asked.device), asked.out, asked.requires_grad)


@maker("torch.linspace", "out")
def linspace(start: Any, end: Any, steps: Any = None, **kwargs: Any) -> Tensor:
    """``steps`` evenly spaced numbers from start to end, both included.

    >>> torch.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    if isinstance(start, Tensor) or isinstance(end, Tensor):
        each = _of_tensors(lambda a, b: linspace(a, b, steps, **kwargs), start, end, kwargs)
        if each is not None:
            return each  # type: ignore[no-any-return]
    asked = options_of("linspace", kwargs)
    usual = type(start) in REAL_NUMBERS and type(end) in REAL_NUMBERS and type(steps) is int and steps >= 0
    low, high, count = (start, end, steps) if usual else _space_arguments("linspace", start, end, steps)
    np_dtype = _space_dtype("linspace", low, high, asked, count).np
    if asked.device is not None and meta_device(asked.device):
        spaced: Any = Meta((count,), np_dtype)
    elif count <= _FEW:
        spaced = _few_spaced(low, high, count, np_dtype).copy()
    else:
        spaced = _spaced(low, high, count, np_dtype)
    return finish(placed(spaced, asked.device), asked.out, asked.requires_grad)


@maker("torch.logspace", "out")
def logspace(start: Any, end: Any, steps: Any = None, base: float = 10.0, **kwargs: Any) -> Tensor:
    """``base`` to the power of ``linspace(start, end, steps)``.

    >>> torch.logspace(0, 2, 3)
    tensor([  1.,  10., 100.])
    """
    if isinstance(start, Tensor) or isinstance(end, Tensor):
        each = _of_tensors(lambda a, b: logspace(a, b, steps, base, **kwargs), start, end, kwargs)
        if each is not None:
            return each  # type: ignore[no-any-return]
    asked = options_of("logspace", kwargs)
    low, high, count = _space_arguments("logspace", start, end, steps)
    np_dtype = _space_dtype("logspace", low, high, asked, count).np
    if asked.device is not None and meta_device(asked.device):
        spaced: Any = Meta((count,), np_dtype)
    elif count <= _FEW:
        spaced = _few_logspaced(low, high, count, base, np_dtype).copy()
    else:
        spaced = _logspaced(low, high, count, base, np_dtype)
    return finish(placed(spaced, asked.device), asked.out, asked.requires_grad)


def _logspaced(start: Any, end: Any, steps: int, base: float, np_dtype: Any) -> Any:
    wide = np.complex128 if np_dtype.kind == "c" else np.float64
    if steps > _MANY:
        allocate(np.empty, (steps,), np.dtype(np.float64))  # as in _spaced
    if np_dtype.kind in "iu":
        exponents = int(start) + (int(end) - int(start)) / max(steps - 1, 1) * np.arange(steps)
    else:  # exponents are not rounded, since powers amplify the error; digits agree up to a few units in the last place
        number = np_dtype.type
        exponents = _spaced(wide(number(start)), wide(number(end)), steps, np.dtype(wide))
    with np.errstate(all="ignore"):
        return np.power(wide(base), exponents).astype(np_dtype)


def _of_tensors(space: Any, start: Any, end: Any, kwargs: dict[str, Any]) -> Any:
    """The numbers between each pair of a vmap's examples, else ``None``; none between tensors without data."""
    if any(isinstance(t, Tensor) and on_meta(t) for t in (start, end)):
        kwargs.setdefault("device", "meta")
    from ..._payloads.batching import for_each_example  # only where a bound is a tensor

    return for_each_example(space, start, end)


def _space_arguments(function: str, start: Any, end: Any, steps: Any) -> tuple[Any, Any, int]:
    bounds = {"start": start, "end": end}
    dims = {name: value._payload.ndim for name, value in bounds.items() if isinstance(value, Tensor)}
    if any(dims.values()):
        got = " and ".join(f"{name} with {n} dimension(s)" for name, n in dims.items())
        raise RuntimeError(f"{function} only supports 0-dimensional start and end tensors, but got {got}.")
    given = (start, end) if steps is None else (start, end, steps)
    if steps is None or isinstance(steps, (bool, float)) or not hasattr(steps, "__index__"):
        raise misfit(function, *given)
    steps = operator.index(steps)
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    a, b = (
        number_of((0 if on_meta(v) else v.item()) if isinstance(v, Tensor) else v, function, n, p)
        for v, n, p in ((start, "start", 1), (end, "end", 2))
    )
    return a, b, steps


def _space_dtype(function: str, start: Any, end: Any, asked: Options, steps: int) -> Dtype:
    dtype = asked.dtype
    if asked.out is not None:
        dtype = BY_NUMPY[dtype_chosen(dtype, asked.out)]
    elif dtype is None:
        either_complex = isinstance(start, complex) or isinstance(end, complex)
        dtype = dtypes.default_complex_dtype if either_complex else dtypes.default_dtype
    elif (isinstance(start, complex) or isinstance(end, complex)) and not dtype.is_complex:
        raise RuntimeError(
            f"torch.{function}(): inferred dtype {cpp_name(dtypes.default_complex_dtype.np)} can't be safely cast to "
            f"passed dtype {dtype.scalar_name}"
        )
    if dtype is dtypes.bool_ and steps > 1:
        raise NotImplementedError(f"\"{function}_cpu\" not implemented for 'Bool'")
    return dtype


def _spaced(start: Any, end: Any, steps: int, np_dtype: Any) -> Any:
    """PyTorch's evenly spaced numbers: the first half counted from start, the second from end, each rounded once."""
    if steps == 1:
        return filled((1,), start, np_dtype)
    if steps > _MANY:
        allocate(np.empty, (steps,), np.dtype(np.float64))  # which raises where there is no memory for them
    if not steps:
        return np.empty(0, np_dtype)
    kind = np_dtype.kind
    if kind == "c":
        part = np.dtype(f"f{np_dtype.itemsize // 2}")
        spaced = np.empty(steps, np_dtype)
        start, end = complex(element(start, np_dtype)), complex(element(end, np_dtype))
        spaced.real = _spaced(start.real, end.real, steps, part)
        spaced.imag = _spaced(start.imag, end.imag, steps, part)
        return spaced
    i = np.arange(steps)
    number = np.float64 if kind in "iu" else np_dtype.type
    low, high = (number(int(x)) if kind in "iu" else number(element(x, np_dtype)) for x in (start, end))
    step = (high - low) / number(steps - 1)
    if np_dtype.itemsize == 4 and kind == "f" and steps < 1 << 24 and math.isfinite(step):
        wide = i.astype(np.float64)  # products of two float32 are exact there
        spaced = wide * float(step) + float(low)
        spaced[steps // 2 :] = (steps - 1 - wide[steps // 2 :]) * (0.0 - float(step)) + float(high)
        return spaced.astype(np_dtype)
    back = i[::-1]
    first = i < steps // 2
    if np_dtype.itemsize == 2 and kind not in "iu":  # round after each operation
        return np.where(first, low + step * i.astype(np_dtype), high - step * back.astype(np_dtype))
    up = fused_multiply_add(i.astype(np.float64), float(step), float(low))
    down = fused_multiply_add(back.astype(np.float64), 0.0 - float(step), float(high))
    spaced = np.where(first, up, down)
    return (np.trunc(spaced) if kind in "iu" else spaced).astype(np_dtype)


_few_spaced = functools.lru_cache(256)(_spaced)
_few_logspaced = functools.lru_cache(256)(_logspaced)
