"""The general kind's hot path for operators on several tensors, or on a sequence of them: ``gather``, ``cat``.

The functions here do what ``_kinds.general``'s do, for plain arrays only (and ``None``, where an operand may be
missing), of one dtype where the operator promotes; whatever else comes is handed to those.
"""

from __future__ import annotations

from sys import _getframe as getframe
from typing import Any

import numpy as np

from .._arrays.library import ARITHMETIC, silently
from .._base import errors as lines
from .._base.modes import M
from .._base.registry import Info
from .._tape.node import ticks
from .._tape.tensor import make
from .slow_path import slow

ndarray = np.ndarray


def several(info: Info, plan: Any, N: Any, table: Any, run: Any, wrapped: Any) -> Any:
    """The recording function; ``run`` is for all else, ``wrapped`` makes the results where there are several."""
    promoting = info.promote is not None  # type: ignore[attr-defined]
    records = N is not None
    many = info.outputs != 1
    differentiable = info.differentiable
    save = plan.save

    def finished(operands: Any, arrays: Any, p: Any, edges: Any, result: Any, recorded: bool) -> Any:
        """The Tensors on the results, with their node."""
        n = boxes = None
        if recorded:
            n = N()
            n.fx = edges
            n.seq = next(ticks)
            n.h = None
            f = getframe(2)
            n.code = c = f.f_code
            if c is not lines.user_code:
                f = lines.user_frame(f)
                n.code = f.f_code
            n.lasti = f.f_lasti
            boxes = save(n, operands, arrays, p, edges, result, many)
        if many:
            return wrapped(info, n, result, boxes, operands, p, differentiable, False)
        t = make()
        t._a = result
        t._fn = n
        t._m = None if boxes is None else boxes.get(0)
        return t

    def two(x: Any, y: Any, *p: Any) -> Any:
        if M:
            return slow(info, (x, y, *p))
        try:
            xa = x._a
            fx = x._fn
            if y is None:
                ya = fy = None
            else:
                ya = y._a
                fy = y._fn
        except AttributeError:
            return run(x, y, *p)
        if (
            type(xa) is not ndarray
            or (type(ya) is not ndarray and y is not None)
            or (promoting and (y is None or xa.dtype is not ya.dtype))
        ):
            return run(x, y, *p)
        try:
            result = table[ndarray](xa, ya, *p)
        except ARITHMETIC:
            result = silently(table[ndarray], xa, ya, *p)
        recorded = records and (fx is not None or fy is not None)
        if recorded or many:
            return finished((x, y), (xa, ya), p, (fx, fy), result, recorded)
        t = make()
        t._a = result
        t._m = t._fn = None
        return t

    def three(x: Any, y: Any, z: Any, *p: Any) -> Any:
        if M:
            return slow(info, (x, y, z, *p))
        try:
            xa = x._a
            fx = x._fn
            if y is None:
                ya = fy = None
            else:
                ya = y._a
                fy = y._fn
            if z is None:
                za = fz = None
            else:
                za = z._a
                fz = z._fn
        except AttributeError:
            return run(x, y, z, *p)
        if (
            type(xa) is not ndarray
            or (type(ya) is not ndarray and y is not None)
            or (type(za) is not ndarray and z is not None)
            or (promoting and (y is None or z is None or not xa.dtype is ya.dtype is za.dtype))
        ):
            return run(x, y, z, *p)
        try:
            result = table[ndarray](xa, ya, za, *p)
        except ARITHMETIC:
            result = silently(table[ndarray], xa, ya, za, *p)
        recorded = records and (fx is not None or fy is not None or fz is not None)
        if recorded or many:
            return finished((x, y, z), (xa, ya, za), p, (fx, fy, fz), result, recorded)
        t = make()
        t._a = result
        t._m = t._fn = None
        return t

    def sequence(tensors: Any, *p: Any) -> Any:
        if M:
            return slow(info, (tensors, *p))
        try:
            arrays = [t._a for t in tensors]
            edges = [t._fn for t in tensors]
        except AttributeError:
            return run(tensors, *p)
        if {*map(type, arrays)} != ARRAYS or (promoting and len({a.dtype for a in arrays}) > 1):
            return run(tensors, *p)
        try:
            result = table[ndarray](arrays, *p)
        except ARITHMETIC:
            result = silently(table[ndarray], arrays, *p)
        recorded = records and edges.count(None) < len(edges)
        if recorded or many:
            return finished(tensors, arrays, p, tuple(edges), result, recorded)
        t = make()
        t._a = result
        t._m = t._fn = None
        return t

    def more(*args: Any) -> Any:
        if M:
            return slow(info, args)
        operands = args[:arity]
        try:
            arrays = [None if t is None else t._a for t in operands]
            edges = [None if t is None else t._fn for t in operands]
        except AttributeError:
            return run(*args)
        if promoting or type(arrays[0]) is not ndarray or not ARRAYS_OR_NONE.issuperset(map(type, arrays)):
            return run(*args)
        p = args[arity:]
        try:
            result = table[ndarray](*arrays, *p)
        except ARITHMETIC:
            result = silently(table[ndarray], *arrays, *p)
        recorded = records and edges.count(None) < arity
        if recorded or many:
            return finished(operands, arrays, p, tuple(edges), result, recorded)
        t = make()
        t._a = result
        t._m = t._fn = None
        return t

    arity = info.arity
    return {2: two, 3: three, -1: sequence}.get(arity, more)


ARRAYS = {ndarray}
ARRAYS_OR_NONE = frozenset((ndarray, type(None)))
