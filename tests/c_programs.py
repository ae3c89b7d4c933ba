"""Tapes made by hand from the registry's cases, many operators in one program; functions compiled for C, when ready."""

from __future__ import annotations

from typing import Any

import numpy as np
from op_cases import arguments, is_variable

from wengert._base.registry import ARRAYS, REGISTRY
from wengert._compile import c
from wengert._compile.dispatch import Compiled
from wengert._compile.plan import Plan
from wengert._compile.tape import Input, Op, Tape


class Many:
    """Cases of operators, as one tape: ``arrays`` are its inputs, ``wanted`` what eager's functions give."""

    def __init__(self) -> None:
        self.tape = Tape()
        self.arrays: list[Any] = []
        self.wanted: list[Any] = []
        self.names: list[Any] = []
        self.sizes: list[float] = []  # of the largest number that went into a result

    def _input(self, a: Any) -> Any:
        if isinstance(a, np.ndarray):
            self.arrays.append(a)
            ref = self.tape.new(a.shape, a.dtype, Input(len(self.arrays) - 1, "x"))
            self.tape.values[ref].strides = a.strides
            return ref
        return a

    def add(self, name: str, operands: list[Any], params: tuple[Any, ...], note: Any = None) -> bool:
        """One case; False if eager's function refuses it."""
        info, fn = REGISTRY[name], getattr(ARRAYS, name)
        try:
            with np.errstate(all="ignore"):
                out = fn(list(operands), *params) if info.arity < 0 else fn(*operands, *params)
        except Exception:  # noqa: BLE001  what eager refuses is no case
            return False
        arrays = [a for a in operands if isinstance(a, np.ndarray)]
        many = isinstance(out, (tuple, list))
        results = [np.asarray(r) for r in (out if many else [out])]
        args = [self._input(a) for a in operands]
        refs = [self.tape.new(r.shape, r.dtype) for r in results]
        fresh = not any(np.may_share_memory(r, a) for r in results for a in arrays)
        op = Op(info, [args] if info.arity < 0 else args, tuple(params), refs, None, fn, many)
        if "fresh" in Op.__slots__:
            op.fresh = fresh
        self.tape.ops.append(op)
        self.tape.results += refs
        self.wanted += results
        self.names += [(name, note)] * len(results)
        given = [a for a in arrays if a.dtype.kind == "f" and a.size]
        size = max((float(np.abs(a).max()) for a in given), default=0.0)
        if info.kind in ("bilinear", "affine"):  # a sum of products
            with np.errstate(all="ignore"):
                size = float(
                    np.abs(fn(*[np.abs(a) if is_variable(a) else a for a in operands], *params)).max(initial=0)
                )
        self.sizes += [size] * len(results)
        return True

    def plan(self, sharing: bool = True) -> Plan:
        return Plan(self.tape, sharing)


def operands_of(name: str, i: int, dtype: Any, strided: bool = False) -> tuple[list[Any], tuple[Any, ...]]:
    """A case with floating arrays in ``dtype``; ``strided``: with gaps between the elements."""
    operands, params = arguments(name, i)

    def changed(a: Any) -> Any:
        if not isinstance(a, np.ndarray):
            return a
        a = a.astype(dtype) if a.dtype.kind == "f" else np.array(a)
        if strided and a.ndim:
            wide = np.zeros((*a.shape[:-1], 2 * a.shape[-1] + 1), a.dtype)
            wide[..., 1::2] = a
            a = wide[..., 1::2]
        return a

    return [changed(a) for a in operands], params


def differences(many: Many, got: list[Any], ulp: float) -> list[Any]:
    """The results that are not eager's: dtype, shape, nan and infinities the same, and at most ``ulp`` off.

    A unit is that of the result, or for what adds up, where digits cancel, of the largest number that is added.
    """
    bad = []
    for name, size, g, w in zip(many.names, many.sizes, got, many.wanted, strict=True):
        if g.shape != w.shape or g.dtype != w.dtype:
            bad.append((name, "shape or dtype", g.shape, w.shape, g.dtype, w.dtype))
        elif w.dtype.kind == "f":
            finite = np.isfinite(w)
            same = np.array_equal(np.isfinite(g), finite) and np.array_equal(g[~finite], w[~finite], equal_nan=True)
            adds = REGISTRY[name[0]].kind not in ("unary", "binary")
            unit = np.spacing(np.maximum(np.abs(w[finite]), size if adds else 0).astype(w.dtype))
            if not same or (np.abs(g[finite] - w[finite]) > ulp * unit).any():
                bad.append((name, g.ravel()[:4], w.ravel()[:4]))
        elif not np.array_equal(g, w, equal_nan=w.dtype.kind == "c"):
            bad.append((name, g.ravel()[:4], w.ravel()[:4]))
    return bad


def compiled(fn):
    """The function, compiled for C."""
    return Compiled(fn, "c", False)


def ready(f):
    """Wait for the compiler; the C programs of a function's forward passes."""
    c.wait()
    found = [p.forward.c for programs in f.programs.values() for p in programs]
    assert found and None not in found, (f.broken, found)
    return found
