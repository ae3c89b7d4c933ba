"""Ranges of numbers: ``arange`` and the deprecated ``range``, with PyTorch's digits."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ..._arrays.random.libm import fused_multiply_add
from ..._base import dtypes
from ..._base.dtypes import BY_NUMPY, INT64, REAL_NUMBERS
from ..._base.dtypes import dtype as Dtype
from ..._base.errors import warn
from ..._kinds.slow_path import misfit
from ..._payloads.meta import Meta
from ..._tape.tensor import Tensor
from ..._tensor_api.construct import made, meta_device, number_of, placed
from .makers import FEW, allocate, dtype_chosen, finish, maker, options_of

_NEAR = 1 << 31


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
        return made(np.arange(args[0], args[1], 1, dtype=INT64))
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
    elif count <= FEW:
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
