"""Cotangents of elementwise operators whose operands lie in several orders, laid out as PyTorch's steps leave them.

Where the orders of its operands differ, a ufunc of NumPy prefers rows and PyTorch's TensorIterator the first operand. A
formula that meets several orders runs once on ``Ordered`` arrays, which decide as TensorIterator at each of its steps;
the strides of its result are then known for all operands that lie so. A tensor that is recorded in another order than
rows has its own node class for that (``elementwise.binary``), so that row-major operands ask nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays.layouts import as_iterated, relaid
from .._base.registry import ARRAYS, REGISTRY

_MOST = 256  # so many sets of operands a formula remembers


class Ordered(np.ndarray):
    """An array of which any arithmetic lies in TensorIterator's order."""

    def __array_ufunc__(self, ufunc: Any, method: Any, *inputs: Any, **kwargs: Any) -> Any:
        return _decided(getattr(ufunc, method), inputs, kwargs, True)


class _OnOrdered:
    """The namespace of operators that a formula runs on ``Ordered`` arrays; each has its own rule of layout, if any."""

    def __getattr__(self, name: str) -> Any:
        info = REGISTRY[name]
        iterated = info.batch == "elementwise" and info.layout is None
        return lambda *args: _decided(getattr(ARRAYS, name), args, {}, iterated)


_ON_ORDERED = _OnOrdered()


def _decided(fn: Any, operands: Any, how: dict[str, Any], iterated: bool) -> Any:
    plain = [x.view(np.ndarray) if type(x) is Ordered else x for x in operands]
    r = fn(*plain, **how)
    if type(r) is not np.ndarray:
        return r
    return (as_iterated(r, [x for x in plain if type(x) is np.ndarray]) if iterated else r).view(Ordered)


def _lies(x: Any) -> Any:
    return (x.shape, x.strides, x.itemsize) if type(x) is np.ndarray else getattr(x, "shape", x)


def placed(formula: Any, of_arrays: Any) -> Any:
    """The derivative formula with the layout of PyTorch's result; ``of_arrays`` computes the same on plain arrays."""
    known: dict[Any, Any] = {}

    def run(xp: Any, g: Any, *values: Any) -> Any:
        compute = of_arrays if xp is ARRAYS else formula
        if type(g) is not np.ndarray or g.ndim < 2:
            return compute(xp, g, *values)
        for v in values:
            if type(v) is np.ndarray and v.strides != g.strides:
                break
        else:
            return compute(xp, g, *values)
        key = tuple([_lies(x) for x in (g, *values)])
        strides = known.get(key)
        if strides is None:
            if len(known) >= _MOST:
                known.clear()
            ordered = [x.view(Ordered) if type(x) is np.ndarray else x for x in (g, *values)]
            strides = known[key] = formula(_ON_ORDERED, *ordered).strides
        return relaid(compute(xp, g, *values), strides)

    return run
