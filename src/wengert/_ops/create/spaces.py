"""Numbers at equal distances, or powers of them: ``linspace`` and ``logspace``, with PyTorch's digits."""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

import numpy as np

from ..._arrays.random.libm import fused_multiply_add
from ..._base import dtypes
from ..._base.dtypes import BY_NUMPY, REAL_NUMBERS
from ..._base.dtypes import dtype as Dtype
from ..._kinds.slow_path import misfit
from ..._payloads.batching import for_each_example
from ..._payloads.meta import Meta, on_meta
from ..._tape.error_text import cpp_name
from ..._tape.tensor import Tensor
from ..._tensor_api.construct import meta_device, number_of, placed
from .filled import element, filled
from .makers import FEW, Options, allocate, dtype_chosen, finish, maker, options_of

_MANY = 1 << 28  # steps


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
    low, high, count = _space_arguments("linspace", start, end, steps)
    np_dtype = _space_dtype("linspace", low, high, asked, count).np
    if asked.device is not None and meta_device(asked.device):
        spaced: Any = Meta((count,), np_dtype)
    elif count <= FEW:
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
    elif count <= FEW:
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
    return for_each_example(space, start, end)


def _space_arguments(function: str, start: Any, end: Any, steps: Any) -> tuple[Any, Any, int]:
    if type(start) in REAL_NUMBERS and type(end) in REAL_NUMBERS and type(steps) is int and steps >= 0:
        return start, end, steps
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
