"""The calls of NumPy and SciPy that a call of wengert makes, and a function that makes them again and nothing else.

`benchmarks.sweep --floors` times it, with one Tensor made for each result: no operator with these bodies can take less.
A tracer reads the arguments off the value stack of each frame before an instruction runs; so it knows one CPython.
"""

from __future__ import annotations

import ctypes
import dis
import opcode
import sys
import types
from collections.abc import Callable
from sys import _getframe as getframe
from typing import Any

import numpy as np

KNOWN = sys.implementation.name == "cpython" and sys.version_info[:2] == (3, 11)
_FRAME, _STACK_TOP, _VALUES = 24, 8, 9  # PyFrameObject.f_frame in bytes; _PyInterpreterFrame's fields in words
_LIBRARIES = ("numpy", "scipy")
_VIEWS = ("T", "mT", "real", "imag")
_PLAIN = (id, len, type, isinstance)


def _top(frame: types.FrameType, count: int) -> list[Any]:
    """The values on top of a frame's stack; ``None`` also for an empty place."""
    inner = ctypes.c_void_p.from_address(id(frame) + _FRAME).value or 0
    top = ctypes.c_int.from_address(inner + 8 * _STACK_TOP).value
    places = [inner + 8 * (_VALUES + k) for k in range(top - count, top)]
    return [
        ctypes.cast(v, ctypes.py_object).value if (v := ctypes.c_void_p.from_address(p).value) else None for p in places
    ]


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic) or (
        isinstance(value, list | tuple) and any(isinstance(v, np.ndarray | np.generic) for v in value)
    )


def _counts(f: Any, args: list[Any]) -> bool:
    """Whether a call is one of NumPy or SciPy, or of Python's own about an array."""
    home = (getattr(f, "__module__", None) or type(f).__module__ or "").startswith(_LIBRARIES)
    if isinstance(f, types.FunctionType | types.MethodType):
        return home
    if f in _PLAIN or (isinstance(f, type) and not issubclass(f, np.ndarray | np.generic | np.dtype)):
        return False
    owner = getattr(f, "__self__", None)
    return home or isinstance(owner, np.ufunc) or any(map(_is_array, [owner, *args]))


class Recorder:
    """What a call computes with NumPy and SciPy: ``run()`` does it again."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.lines: list[str] = []
        self.names: dict[str, Any] = {}
        sys.settrace(self._enter)
        try:
            result = call()
        finally:
            sys.settrace(None)
        self.results = _tensors(result)
        source = f"def run({', '.join(f'{n}={n}' for n in self.names)}):\n    " + "\n    ".join(self.lines or ["pass"])
        scope = dict(self.names)
        exec(source, scope)
        self.run: Callable[[], Any] = scope["run"]

    def _enter(self, frame: types.FrameType, event: str, arg: Any) -> Any:
        if (frame.f_globals.get("__name__") or "").startswith(_LIBRARIES):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._step

    def _step(self, frame: types.FrameType, event: str, arg: Any) -> Any:
        if event == "opcode":
            code = frame.f_code.co_code
            self._note(frame, opcode.opname[code[frame.f_lasti]], code[frame.f_lasti + 1])
        return self._step

    def _note(self, frame: types.FrameType, op: str, n: int) -> None:
        if op == "CALL":
            f, *args = _top(frame, n + 2)
            f, args = (args[0], args[1:]) if f is None else (f, args)
            names = _keywords(frame)
            self._call(f, args[: len(args) - len(names)], dict(zip(names, args[len(args) - len(names) :], strict=True)))
        elif op == "CALL_FUNCTION_EX":
            f, args, *given = _top(frame, 2 + (n & 1))
            self._call(f, list(args), dict(given[0]) if given else {})
        elif op in ("BINARY_OP", "COMPARE_OP", "BINARY_SUBSCR"):
            a, b = _top(frame, 2)
            sign = opcode._nb_ops[n][1] if op == "BINARY_OP" else dis.cmp_op[n] if op == "COMPARE_OP" else "["  # type: ignore[attr-defined]
            if isinstance(a, np.ndarray) or (isinstance(b, np.ndarray) and sign != "["):
                self.lines.append(f"{self._name(a)} {sign} {self._name(b)}" + "]" * (sign == "["))
        elif op == "STORE_SUBSCR":
            value, a, key = _top(frame, 3)
            if isinstance(a, np.ndarray):
                self.lines.append(f"{self._name(a)}[{self._name(key)}] = {self._name(value)}")
        elif op == "LOAD_ATTR" and (name := frame.f_code.co_names[n]) in _VIEWS:
            (a,) = _top(frame, 1)
            if isinstance(a, np.ndarray):
                self.lines.append(f"{self._name(a)}.{name}")

    def _call(self, f: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
        if _counts(f, [*args, *kwargs.values()]):
            given = [*map(self._name, args), *(f"{k}={self._name(v)}" for k, v in kwargs.items())]
            self.lines.append(f"{self._name(f)}({', '.join(given)})")

    def _name(self, value: Any) -> str:
        name = f"v{len(self.names)}"
        self.names[name] = value
        return name


def _keywords(frame: types.FrameType) -> tuple[str, ...]:
    """The names of the keyword arguments of the call that is about to run."""
    code, i = frame.f_code.co_code, frame.f_lasti - 2
    while i >= 0 and opcode.opname[code[i]] in ("CACHE", "PRECALL"):
        i -= 2
    found = opcode.opname[code[i]] == "KW_NAMES" and frame.f_code.co_consts[code[i + 1]]
    return found or ()


def _tensors(result: Any) -> list[bool]:
    """Whether it has a node, of each tensor in a result."""
    if isinstance(result, list | tuple):
        return [recorded for part in result for recorded in _tensors(part)]
    return [result.grad_fn is not None] if hasattr(result, "grad_fn") else []


def results() -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Functions that make one Tensor on an array that is there: without and with a node, its number and its line."""
    from wengert import exp, ones
    from wengert._tape.node import ticks
    from wengert._tape.tensor import make

    x = ones(1, requires_grad=True)
    a, fx, Node = x._payload, x._node, type(exp(x).grad_fn)  # type: ignore[attr-defined]

    def plain() -> Any:
        t = make()
        t._payload = a
        t._box = t._node = None
        return t

    def recorded() -> Any:
        t = make()
        t._payload = a
        t._box = None
        n = Node()
        n.fx = fx
        n._seq = next(ticks)
        n._hooks = None
        f = getframe(1)
        n._code = f.f_code
        n._lasti = f.f_lasti
        t._node = n
        return t

    return plain, recorded
