"""What operators on bfloat16 give, rounded back to bfloat16.

NumPy has no rule for a bfloat16 array and a Python number, so that ``x * 2.0`` or ``where(x > 0, x, 0.0)`` of
``ml_dtypes``' arrays is float32 or float64. Once there is a bfloat16 array, this stands around every operator, on the
slow path (``_modes``): it rounds a result that came out wider, computes what PyTorch computes in float32 as a whole
in float32, and lets the node of such an operator round its cotangents. Programs without bfloat16 never import it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _dtypes
from ._dispatch import unwatch_operators, watch_operators
from ._node import Node, Port
from ._registry import Info
from ._tensor import Tensor

_WIDER = frozenset((np.dtype("f4"), np.dtype("f8")))
_ARRAYS = (np.ndarray, np.generic)


def attach(dtype: Any) -> None:
    """From now on operators round to this dtype, NumPy's of bfloat16."""

    def concerns(a: Any) -> bool:
        if isinstance(a, Tensor):
            return getattr(a._a, "dtype", None) is dtype
        return type(a) in (list, tuple) and any(concerns(x) for x in a)

    def round_result(info: Info, args: tuple[Any, ...], proceed: Callable[[], Any]) -> Any:
        if info.name in _WIDE_INSIDE and any(concerns(a) for a in args):
            values = _in_float32(info.name, args, dtype)  # before an operator in place overwrites what it is made of
            result = proceed()
            _round(result, dtype)
            if values is not None:
                _write(result, values.astype(dtype))
            return result
        result = proceed()
        if info.name != "_to_copy" and any(concerns(a) for a in args):
            for t in (result,) if isinstance(result, Tensor) else result if isinstance(result, (tuple, list)) else ():
                _round(t, dtype)
        return result

    watch_operators(round_result)
    _attached.append((round_result, dtype))


_attached: list[Any] = []


def detach() -> None:
    """As if there had been no bfloat16 yet: what a test leaves behind must not slow down the next."""
    while _attached:
        hook, dtype = _attached.pop()
        unwatch_operators(hook)
        del _dtypes.BY_NUMPY[dtype]
        object.__delattr__(_dtypes.bfloat16, "np")


def _round(t: Any, dtype: Any) -> None:
    if not isinstance(t, Tensor):
        return
    if isinstance(t._a, _ARRAYS) and t._a.dtype in _WIDER:
        t._a = t._a.astype(dtype)
        if t._m is not None:
            t._m.a = t._a
    node = t._fn.fx if type(t._fn) is Port else t._fn
    if node is not None:
        node.__class__ = _rounding.get((type(node), dtype)) or _rounding_class(type(node), dtype)


# Operators that PyTorch computes in float32 and rounds once; it does not round numbers before, but for those below.
# NumPy would round the number, or every step.
_WIDE_INSIDE: dict[str, Callable[..., Any]] = {
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "_add_scaled": lambda x, y, alpha: x + alpha * y,
    "_sub_scaled": lambda x, y, alpha: x - alpha * y,
    "rsub": lambda x, y: y - x,
    "_lerp_number": lambda x, y, w: x + w * (y - x) if w < 0.5 else y - (y - x) * (1 - w),
    "affine_mm": lambda x, y, c, beta, alpha: beta * c + alpha * (x @ y),
    "affine_bmm": lambda x, y, c, beta, alpha: beta * c + alpha * (x @ y),
}


_ROUNDED_FIRST = {"_add_scaled": 2, "_sub_scaled": 2, "rsub": 1}  # which operand, of these


def _in_float32(name: str, args: tuple[Any, ...], dtype: Any) -> Any:
    """The result before it is rounded; ``None`` where rounding operands is the same, or for transforms' payloads."""
    values, numbers = [], 0
    for a in args:
        payload = a._a if isinstance(a, Tensor) else a
        if isinstance(payload, _ARRAYS) and payload.dtype == dtype:
            values.append(payload.astype("f4"))
        elif isinstance(payload, (int, float)) or (isinstance(payload, _ARRAYS) and payload.ndim == 0):
            numbers += 1
            values.append(np.float32(payload))
        else:
            return None
    if not numbers:
        return None
    place = _ROUNDED_FIRST.get(name)
    if place is not None:
        values[place] = values[place].astype(dtype).astype("f4")
    with np.errstate(all="ignore"):
        return _WIDE_INSIDE[name](*values)


def _write(t: Any, values: Any) -> None:
    """Put other elements into the memory of a result."""
    if not isinstance(t, Tensor) or not isinstance(t._a, _ARRAYS) or t._a.dtype != values.dtype:
        return
    if isinstance(t._a, np.ndarray):
        t._a[...] = values
    else:
        t._a = values
        if t._m is not None:
            t._m.a = values


_rounding: dict[Any, Any] = {}


def _rounding_class(cls: type[Node], dtype: Any) -> Any:
    """The same node class, whose cotangents are rounded."""
    if (cls, dtype) in _rounding or cls in _rounding.values():
        return cls

    def backward(self: Any, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        pairs = cls.backward(self, xp, g, keep)  # type: ignore[attr-defined]
        return tuple(p.astype(dtype) if isinstance(p, _ARRAYS) and p.dtype in _WIDER else p for p in pairs)

    members = {"__slots__": (), "__module__": cls.__module__, "backward": backward}
    made = _rounding[cls, dtype] = type(cls.__name__, (cls,), members)
    return made
