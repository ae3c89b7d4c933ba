"""A hook around every operator that rounds the results of bfloat16 operands back to bfloat16.

NumPy has no rule for a bfloat16 array and a Python number, so that ``x * 2.0`` or ``where(x > 0, x, 0.0)`` of
``ml_dtypes``' arrays is float32 or float64. From the first bfloat16 array on, this hook wraps every operator, on the
slow path (``_base.modes``): it rounds a wider result, runs those operators and derivatives in float32 that PyTorch
computes in float32 as a whole, unless they do by themselves (``_arrays.half``), and makes the nodes of such operators
round their cotangents. Operators on other dtypes only pass the slow path's first test (``unconcerned``). Programs
without bfloat16 never import it.

NOTE [ When nothing is bfloat16 any more ]
    The hook makes every operator slow, so it goes when no array of that dtype lives. Nothing tells when an array dies;
    but each holds a reference to the dtype object. After a row of operators that did not concern bfloat16, ``_census``
    counts the references that no container holds, and compares them with those that there were before the first array
    (``_unused``; if the program had imported ``ml_dtypes`` itself, this is not known, and the hook stays).
    With every census in vain the row becomes twice as long. ``bfloat16.np`` and its entry in ``BY_NUMPY`` go with the
    hook: what makes the next array looks one of them up, and that brings the hook back.
"""

from __future__ import annotations

import functools
import gc
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from .._arrays.library import NUMBERS, lib
from .._arrays.memory import unlocked
from .._base import dtypes
from .._base.forks import reopened
from .._base.heap import is_frozen
from .._base.modes import rounding, saved_tensors_hooks, unwatch_operators, watch_operators
from .._base.registry import Operator
from .._payloads.transforms import around_arrays
from .._tape.node import Node, Port, box_of
from .._tape.tensor import Tensor, make
from .templates import first_call_of, variant

_WIDER = frozenset((np.dtype("f4"), np.dtype("f8")))
_FLOATING = frozenset((np.dtype("f2"), np.dtype("f4"), np.dtype("f8"), np.dtype("c8"), np.dtype("c16")))
_OF_THE_FIRST = frozenset(("norm_channels", "norm_layer"))  # statistics and weights may be wider than the input
_ARRAYS = (np.ndarray, np.generic)


def attach(dtype: Any) -> None:
    """Install the hook: operators round to this NumPy dtype of bfloat16."""
    with _changing:
        if not _attached:
            hook = _hook(dtype)
            _attached.append((hook, dtype))
            rounding[:] = [hook]
            watch_operators(hook)
            around_arrays[:] = rounding


def _hook(dtype: Any) -> Any:
    def concerns(args: Any, name: str) -> bool:
        """Whether the result is bfloat16: an operand is bfloat16, and none of the same rank in promotion is wider."""
        sized: list[Any] = []
        single: list[Any] = []
        for a in args:
            for t in a if type(a) in (list, tuple) else (a,):
                if isinstance(t, Tensor):
                    payload = t._payload
                    kind = getattr(payload, "dtype", None)
                    if kind is dtype or kind in _FLOATING:
                        (sized if payload.ndim else single).append(kind)
        found = sized or single
        return dtype in found and (name in _OF_THE_FIRST or all(kind is dtype for kind in found))

    def unconcerned(args: Any) -> bool:
        """Whether no tensor among the arguments is bfloat16, or may hold what is: a value of a transform."""
        for a in args:
            if isinstance(a, Tensor):
                payload = a._payload
                if (type(payload) is not np.ndarray and not isinstance(payload, np.generic)) or payload.dtype is dtype:
                    return False
            elif type(a) in (list, tuple):
                if not unconcerned(a):
                    return False
        count()
        return True

    def count() -> None:
        _row[0] += 1
        if _row[0] > _row[1]:
            _look_whether_any_lives()

    def round_result(info: Operator, args: tuple[Any, ...], proceed: Callable[[], Any]) -> Any:
        if type(proceed) is functools.partial and _is_faster_wide(info.name, args) and saved_tensors_hooks() is None:
            twins = _wide_twins(args, dtype)
            if twins is not None:
                _row[0] = 0
                result = proceed.func(info, twins)
                del twins  # their memory may serve the rounded result
                _round(result, dtype, info.name)
                return result
        if info.name in _WIDE_INSIDE and concerns(args, info.name):
            values = _in_float32(info, args, dtype)  # before the operator in place overwrites its operand
            result = proceed()
            _round(result, dtype, info.name)
            if values is not None:
                _write(result, values.astype(dtype))
            return result
        result = proceed()
        if info.name == "_to_copy":
            return result
        if not concerns(args, info.name):
            count()
        else:
            _row[0] = 0
            for t in (result,) if isinstance(result, Tensor) else result if isinstance(result, (tuple, list)) else ():
                _round(t, dtype, info.name)
        return result

    hook: Any = round_result
    hook.unconcerned = unconcerned
    return hook


_changing = reopened(threading.RLock())
_attached: list[Any] = []  # the hook and its dtype, while it is installed
# A census takes as long as some 10,000 operators lose: the first comes after as many, later ones seldom enough.
_SHORTEST, _LONGEST = 1 << 13, 1 << 17
_row = [0, _SHORTEST]  # how many operators in a row did not concern bfloat16, and how many make a census worth it


def detach() -> None:
    """Remove the hook."""
    with _changing:
        _row[:] = [0, _SHORTEST]
        _forget_dtype()
        around_arrays.clear()
        while _attached:
            unwatch_operators(_attached.pop()[0])


def _forget_dtype() -> None:
    """Let who makes the next array call ``attach``."""
    for _, dtype in _attached:
        dtypes.BY_NUMPY.pop(dtype, None)
        if _is_known():
            object.__delattr__(dtypes.bfloat16, "np")


def _is_known() -> bool:
    try:
        _NP.__get__(dtypes.bfloat16)
    except AttributeError:
        return False
    return True


_NP = dtypes.dtype.__dict__["np"]


def _look_whether_any_lives() -> None:
    """Remove the hook if no array of its dtype lives."""
    with _changing:
        _row[:] = [0, min(2 * _row[1], _LONGEST)]
        if not _attached or not _unused or is_frozen():  # frozen objects cannot be counted
            return
        _forget_dtype()
        if _census() <= _unused[0] and not _is_known():
            detach()
        else:
            dtypes.learn_bfloat16(_attached[0][1])


@dtypes.before_bfloat16.append
def _count_first() -> None:
    """Note the census while there is no array yet."""
    _unused[:] = [_census()]


_unused: list[int] = []
_PACKAGE = __package__.partition(".")[0] + "."


def _census() -> int:
    """The references to dtype and type that no container holds: those of arrays and numbers, and of their libraries.

    No caller may hold one in a variable. What is a container in the first census must be one in all later ones: a
    plain dict that holds nothing but dtypes is none to the garbage collector, and becomes one with other contents.
    Caches are emptied first, which may hold arrays or be containers that the garbage collector does not know.
    """
    kind = sys.modules["ml_dtypes"].bfloat16
    dtype = np.dtype(kind)
    for known in (NUMBERS.get(dtype, {}), lib.ZEROS, lib.ONES):
        known.clear()
    for name, module in list(sys.modules.items()):
        if name.startswith(_PACKAGE):
            for value in list(vars(module).values()):
                if isinstance(value, functools._lru_cache_wrapper) and value.cache_info().maxsize not in (None, 1):
                    value.cache_clear()
    count = 0
    for counted in (dtype, kind):
        holders = gc.get_referrers(counted)
        count += sys.getrefcount(counted) - sum(found is counted for r in holders for found in gc.get_referents(r))
    return count


def _round(t: Any, dtype: Any, name: str) -> None:
    if not isinstance(t, Tensor):
        return
    if isinstance(t._payload, _ARRAYS) and t._payload.dtype in _WIDER:
        t._payload = t._payload.astype(dtype)
        if t._box is not None:
            t._box.a = t._payload
    node = t._node.fx if type(t._node) is Port else t._node
    if node is not None:
        wide = name in _WIDE_BACKWARD
        node.__class__ = _rounding.get((type(node), dtype, wide)) or _rounding_class(type(node), dtype, wide)


# Operators that PyTorch computes in float32 and rounds once. It does not round numbers first, except for the operators
# below; NumPy would round the number, or every step.
_WIDE_INSIDE: dict[str, Callable[..., Any]] = {
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "_add_scaled": lambda x, y, alpha: x + alpha * y,
    "_sub_scaled": lambda x, y, alpha: x - alpha * y,
    "_rsub_scaled": lambda x, y, alpha: y - alpha * x,
    "rsub": lambda x, y: y - x,
    "pow": lambda x, y: None if np.ndim(y) == 0 and y in (2, 3) else x**y,  # products, each rounded
    "_rpow": lambda x, base: base**x,
    "_lerp_number": lambda x, y, w: x + w * (y - x) if w < 0.5 else y - (y - x) * (1 - w),
    "affine_mm": lambda x, y, c, beta, alpha: beta * c + alpha * (x @ y),
    "affine_bmm": lambda x, y, c, beta, alpha: beta * c + alpha * (x @ y),
}


# A product and a sum, which are rounded together.
_WITHOUT_NUMBERS = {"linear"}
_WIDE_INSIDE["linear"] = lambda x, w, b: x @ w.T + b

# Products, and the operators with a kernel of their own for the cotangent: PyTorch computes it in float32 as well. It
# rounds each step of the other formulas.
_WIDE_BACKWARD = {
    "_celu", "_elu", "_gelu", "_glu", "_hardswish", "_log_sigmoid", "_mish", "_silu", "_softplus", "affine_bmm",
    "affine_mm", "attention", "bmm", "linear", "log_softmax", "mat_mat", "sigmoid", "smooth_l1", "softmax", "tanh",
}  # fmt: skip

# Operators of ``_WIDE_INSIDE`` that round a number first.
_ROUNDED_FIRST = {"_add_scaled", "_sub_scaled", "_rsub_scaled", "rsub", "pow", "_rpow"}


def _widened(a: Any, dtype: Any) -> Any:
    """The arrays of this dtype in a value, in float32."""
    if type(a) in (list, tuple):
        return type(a)([_widened(each, dtype) for each in a])
    return a.astype("f4") if isinstance(a, _ARRAYS) and a.dtype == dtype else a


def _in_float32(info: Operator, args: tuple[Any, ...], dtype: Any) -> Any:
    """The result before rounding; ``None`` if rounding the operands is the same, or for a transform's payload."""
    name, values, numbers = info.name, [], 0
    for a in args:
        payload = a._payload if isinstance(a, Tensor) else a
        if isinstance(payload, _ARRAYS) and payload.dtype == dtype:
            values.append(payload.astype("f4"))
        elif isinstance(payload, (int, float)) or (isinstance(payload, _ARRAYS) and payload.ndim == 0):
            numbers += 1
            number = np.float32(payload)
            values.append(number.astype(dtype).astype("f4") if name in _ROUNDED_FIRST else number)
        else:
            return None
    if not numbers and name not in _WITHOUT_NUMBERS:
        return None
    try:
        with np.errstate(all="ignore"):
            return _WIDE_INSIDE[name](*values)
    except ValueError:  # of shapes that do not fit, of which the operator itself tells
        return None


def _write(t: Any, values: Any) -> None:
    """Write other elements into the memory of a result."""
    if not isinstance(t, Tensor) or not isinstance(t._payload, _ARRAYS) or t._payload.dtype != values.dtype:
        return
    if isinstance(t._payload, np.ndarray):
        a = t._payload
        (a if a.flags.writeable else unlocked(a))[...] = values  # a tensor of inference mode
    else:
        t._payload = values
        if t._box is not None:
            t._box.a = values


# Products are computed in float32 at once, as BLAS has no bfloat16, and NumPy's loop takes a hundred times as long.
_PRODUCTS = {"linear", "mat_mat", "matmul_nd", "bmm"}

# Functions that ``ml_dtypes`` computes element by element in float32, with the same digits for all 65,536 numbers.
_ONE_BY_ONE = {
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp2", "expm1", "log", "log10", "log1p", "log2",
    "sin", "sinh", "sqrt", "tan", "tanh",
}  # fmt: skip
_MANY = 1 << 10  # elements


def _is_faster_wide(name: str, args: tuple[Any, ...]) -> bool:
    """Whether an operator is faster in float32."""
    return name in _PRODUCTS or (name in _ONE_BY_ONE and getattr(args[0]._payload, "size", 0) >= _MANY)


def _wide_twins(args: tuple[Any, ...], dtype: Any) -> tuple[Any, ...] | None:
    """Tensors with the values in float32, and the histories and saved values of these; ``None`` if some are others."""
    twins = []
    for t in args:
        twin: Any = None
        if t is not None:
            if not isinstance(t, Tensor) or type(t._payload) is not np.ndarray or t._payload.dtype is not dtype:
                return None
            twin = make()
            twin._node = t._node
            twin._box = t._box or box_of(t)
            twin._payload = t._payload.astype("f4")
        twins.append(twin)
    return tuple(twins)


_rounding: dict[Any, Any] = {}


def _rounding_class(cls: type[Node], dtype: Any, wide: bool) -> Any:
    """A subclass of a node class that rounds its cotangents; if ``wide``, its formulas run in float32."""
    if (cls, dtype, wide) in _rounding or cls in _rounding.values():
        return cls
    step = cls.backward
    first_call = first_call_of(step) if wide else None
    if first_call is not None:
        formulas = {name: f for name, f in first_call.names().items() if name.endswith("_") and callable(f)}
        step = variant(step, **{name: _in_wide(f, dtype) for name, f in formulas.items()})

    def backward(self: Any, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        pairs = step(self, xp, g, keep)
        return tuple(p.astype(dtype) if isinstance(p, _ARRAYS) and p.dtype in _WIDER else p for p in pairs)

    members = {"__slots__": (), "__module__": cls.__module__, "backward": backward}
    made = _rounding[cls, dtype, wide] = type(cls.__name__, (cls,), members)
    return made


def _in_wide(formula: Any, dtype: Any) -> Any:
    """A derivative formula on plain arrays that runs in float32."""
    return lambda xp, *values: formula(xp, *_widened(values, dtype))
