"""The array function that computes an operator's result in a program: NOTE [ Lowering ] of ``traced``."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base.dtypes import PYTHON_NUMBERS
from .._base.registry import ARRAYS, Operator
from .._tape.tensor import wrap

PLAIN = (np.ndarray, np.generic)


def run_core(info: Operator, arrays: list[Any], p: tuple[Any, ...]) -> Any:
    """An operator's result on arrays: with its own promotion, treatment of integers and errors, unrecorded."""
    lifted = [wrap(a) if isinstance(a, PLAIN) else a for a in arrays]
    out = info.core(*lifted, *p) if info.arity >= 0 else info.core(lifted, *p)
    return out._payload if info.outputs == 1 else tuple([o._payload for o in out])


def _same(a: Any, b: Any) -> bool:
    """Whether two results are one to the bit, in dtype and in order in memory."""
    if type(a) in (tuple, list) or type(b) in (tuple, list):
        return type(a) in (tuple, list) and type(b) in (tuple, list) and len(a) == len(b) and all(map(_same, a, b))
    if not isinstance(a, PLAIN) or not isinstance(b, PLAIN):
        return False
    if a.dtype != b.dtype or a.shape != b.shape or a.strides != b.strides:
        return False
    return a is b or np.asarray(a).tobytes() == np.asarray(b).tobytes()


def lowered(info: Operator, arrays: list[Any], p: tuple[Any, ...], out: Any) -> Any:
    """The array function of NOTE [ Lowering ]."""
    flat = arrays
    plain = all(isinstance(a, PLAIN) or a is None or type(a) in PYTHON_NUMBERS for a in flat)
    kinds = "iuV" if info.kind in ("unary", "binary") else "V"
    if info.view and any(isinstance(a, PLAIN) and not a.ndim for a in flat):
        return _core(info)  # in a program it may be a NumPy number, of which array functions make no view
    if plain and not any(isinstance(a, PLAIN) and a.dtype.kind in kinds for a in flat):
        try:
            raw = getattr(ARRAYS, info.name)
            with np.errstate(all="ignore"):
                again = raw(*arrays, *p) if info.arity >= 0 else raw(list(arrays), *p)
            if _same(out, again):
                return raw
        except Exception:  # noqa: BLE001  whatever it cannot do, the operator itself can
            pass
    return _core(info)


def _core(info: Operator) -> Any:
    """The operator itself, unrecorded, as a function of arrays."""
    count = info.arity

    def core(*args: Any) -> Any:
        return run_core(info, list(args[:count]), args[count:]) if count >= 0 else run_core(info, args[0], args[1:])

    core.__name__ = f"{info.name.strip('_')}_"
    return core
