"""The general kind's hot path for what is elementwise in two or three tensors: ``where``, ``addcmul``, ``lerp``.

The functions here do what ``_kinds.general``'s do, for plain arrays of one dtype and for formulas that name operands
and parameters only; whatever else comes is handed to those.
"""

from __future__ import annotations

from sys import _getframe as getframe
from typing import Any

import numpy as np

from .._arrays.library import ARITHMETIC, silently
from .._base import errors as lines
from .._base.modes import EVERY, M
from .._base.registry import RAW, Info
from .._tape.node import Box, box_of, ticks
from .._tape.saved import stale
from .._tape.tensor import make
from .slow_path import slow

ndarray = np.ndarray


def pointwise(info: Info, plan: Any, N: Any, table: Any, run: Any) -> Any:
    """The recording function of an elementwise operator on two or three plain tensors; ``run`` is for all else."""
    promoting = info.promote is not None  # type: ignore[attr-defined]
    records = N is not None
    keep = plan.keep

    def two(x: Any, y: Any, *p: Any) -> Any:
        if EVERY:
            return slow(info, (x, y, *p))
        try:
            xa = x._a
            ya = y._a
            fx = x._fn
            fy = y._fn
        except AttributeError:
            return slow(info, (x, y, *p)) if M else run(x, y, *p)
        if type(xa) is not ndarray or type(ya) is not ndarray or (promoting and xa.dtype is not ya.dtype):
            return slow(info, (x, y, *p)) if M else run(x, y, *p)
        recorded = records and (fx is not None or fy is not None)
        if M and recorded:
            return slow(info, (x, y, *p))
        t = make()
        t._m = t._fn = None
        try:
            try:
                t._a = r = table[ndarray](xa, ya, *p)
            except ARITHMETIC:
                t._a = r = silently(table[ndarray], xa, ya, *p)
        except ValueError:
            return run(x, y, *p)  # it finds the error's text
        if recorded:
            n = N()
            n.fx = edges = (fx, fy)
            n.seq = next(ticks)
            n.h = None
            n.shapes = (xa.shape, ya.shape)
            f = getframe(1)
            n.code = c = f.f_code
            if c is not lines.user_code:
                f = lines.user_frame(f)
                n.code = f.f_code
            n.lasti = f.f_lasti
            if keep is None:
                boxes = plan.save(n, (x, y), (xa, ya), p, edges, r, False)
                t._m = None if boxes is None else boxes[0]
            else:
                n.s = [_kept(how, i, users, (x, y), p, edges) for how, i, users in keep]
            t._fn = n
        return t

    def three(x: Any, y: Any, z: Any, *p: Any) -> Any:
        if EVERY:
            return slow(info, (x, y, z, *p))
        try:
            xa = x._a
            ya = y._a
            za = z._a
            fx = x._fn
            fy = y._fn
            fz = z._fn
        except AttributeError:
            return slow(info, (x, y, z, *p)) if M else run(x, y, z, *p)
        if (
            type(xa) is not ndarray
            or type(ya) is not ndarray
            or type(za) is not ndarray
            or (promoting and not xa.dtype is ya.dtype is za.dtype)
        ):
            return slow(info, (x, y, z, *p)) if M else run(x, y, z, *p)
        recorded = records and (fx is not None or fy is not None or fz is not None)
        if M and recorded:
            return slow(info, (x, y, z, *p))
        t = make()
        t._m = t._fn = None
        try:
            try:
                t._a = r = table[ndarray](xa, ya, za, *p)
            except ARITHMETIC:
                t._a = r = silently(table[ndarray], xa, ya, za, *p)
        except ValueError:
            return run(x, y, z, *p)
        if recorded:
            n = N()
            n.fx = edges = (fx, fy, fz)
            n.seq = next(ticks)
            n.h = None
            n.shapes = (xa.shape, ya.shape, za.shape)
            f = getframe(1)
            n.code = c = f.f_code
            if c is not lines.user_code:
                f = lines.user_frame(f)
                n.code = f.f_code
            n.lasti = f.f_lasti
            if keep is None:
                boxes = plan.save(n, (x, y, z), (xa, ya, za), p, edges, r, False)
                t._m = None if boxes is None else boxes[0]
            else:
                n.s = [_kept(how, i, users, (x, y, z), p, edges) for how, i, users in keep]
            t._fn = n
        return t

    return two if info.arity == 2 else three


def _kept(how: int, i: int, users: Any, operands: Any, p: Any, edges: Any) -> Any:
    """What a pointwise node keeps: a parameter, or an operand that a formula that will run names."""
    if how >= 0:
        return p[i]
    for u in users:
        if edges[u] is not None:
            t = operands[i]
            b = t._m
            return b if b is not None else box_of(t)
    return None


def pointwise_backward(plan: Any, general: Any) -> Any:
    """The backward step of a pointwise operator on plain arrays; ``general`` is for all else."""
    places = {name: j for j, name in enumerate(plan.uses)}
    calls = tuple((f, tuple(places[name] for name in names)) for f, names in plan.formulas)

    def backward(n: Any, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        if xp is not RAW:
            return general(n, xp, g, keep)
        saved = []
        for v in n.s:
            if type(v) is Box:
                c = v.cell
                if c is not None and c.seq > n.seq:
                    stale(n, v)
                v = v.a
            saved.append(v)
        pairs: list[Any] = []
        for edge, shape, (f, used) in zip(n.fx, n.shapes, calls, strict=True):
            if edge is not None:
                d = None if f is None else f(xp, g, *[saved[j] for j in used])
                if d is not None and d.shape != shape:
                    d = xp.sum_to(d, shape)
                pairs += (edge, d)
        if not keep:
            n.release()
        return tuple(pairs)

    return backward
