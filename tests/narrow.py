"""A pytest plugin, `-p narrow`: the rules of a 32-bit NumPy, on a NumPy of 64 bits.

`intp` is int32 before the package is imported. NumPy's functions that refuse int64 there refuse it here, those that
return `intp` return int32. Methods of arrays cannot be replaced: `test_intp.py` reads the sources for these.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np


def _narrow(r: Any) -> Any:
    if isinstance(r, tuple):
        return tuple(map(_narrow, r))
    return r.astype(np.int32) if getattr(r, "dtype", None) == np.int64 else r


def _returning(fn: Any) -> Any:
    @functools.wraps(fn)
    def narrow(*args: Any, **kwargs: Any) -> Any:
        return _narrow(fn(*args, **kwargs))

    return narrow


def _arange(*args: Any, dtype: Any = None, **kwargs: Any) -> Any:
    r = _REAL_ARANGE(*args, dtype=dtype, **kwargs)
    return _narrow(r) if dtype is None else r


def _refusing(fn: Any, place: int) -> Any:
    @functools.wraps(fn)
    def narrow(*args: Any, **kwargs: Any) -> Any:
        index = np.asarray(args[place])
        if index.ndim and index.dtype == np.int64:
            raise TypeError("Cannot cast array data from dtype('int64') to dtype('int32') according to the rule 'safe'")
        return fn(*args, **kwargs)

    return narrow


_REAL_ARANGE = np.arange
np.arange = _arange
np.intp = np.int32  # type: ignore[misc]
_POSITIONS = "argsort argmax argmin argwhere argpartition flatnonzero nonzero searchsorted lexsort"
for _name in _POSITIONS.split():
    setattr(np, _name, _returning(getattr(np, _name)))
np.bincount, np.repeat = _refusing(np.bincount, 0), _refusing(np.repeat, 1)
