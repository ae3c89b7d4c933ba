"""Optimizers' steps as one loop: the kernel that the optimizer runs in NumPy, run once on names, is the C.

A kernel gets its library of functions as an argument (``optim/_elementwise.py``). Here that library writes each
function down. The numbers of a step (learning rate, corrections) are computed by the optimizer at each call and are
operands of the loop, so that schedulers work; what a kernel asks of them (``weight < 0.5``) makes another loop.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ..._arrays.memory import address_of
from ...optim._elementwise import Library, number
from .cache import library
from .expressions import C_TYPES, SUFFIX
from .pieces import GRAIN
from .threads import address


class _Name:
    """An array that a kernel computes with."""

    def __init__(self, recorder: Recorder, text: str) -> None:
        self.recorder, self.text = recorder, text

    def _compared(self, sign: str, other: Any) -> _Name:
        return self.recorder.made(f"{self.text} {sign} {self.recorder.text(other)}", "int")

    def __gt__(self, other: Any) -> _Name:
        return self._compared(">", other)

    def __lt__(self, other: Any) -> _Name:
        return self._compared("<", other)

    def __eq__(self, other: object) -> Any:
        return self._compared("==", other)

    __hash__ = None  # type: ignore[assignment]


class Recorder(Library):
    """The functions of ``ArrayLibrary``, written down as C. ``lines`` are the structure, ``numbers`` its operands."""

    def __init__(self, dtype: Any) -> None:
        self.c, self.s = C_TYPES[dtype], SUFFIX[dtype]
        self.lines: list[str] = []
        self.numbers: list[float] = []

    def text(self, a: Any) -> str:
        if isinstance(a, _Name):
            return a.text
        if not isinstance(a, (int, float)):
            raise TypeError(type(a))
        self.numbers.append(float(a))
        return f"k[{len(self.numbers) - 1}]"

    def made(self, text: str, c: str | None = None) -> _Name:
        self.lines.append(f"const {c or self.c} v{len(self.lines)} = {text};")
        return _Name(self, f"v{len(self.lines) - 1}")

    def _binary(self, sign: str, a: Any, b: Any) -> _Name:
        return self.made(f"{self.text(a)} {sign} {self.text(b)}")

    def add(self, a: Any, b: Any, out: Any = None) -> Any:
        return self._binary("+", a, b)

    def subtract(self, a: Any, b: Any, out: Any = None) -> Any:
        return self._binary("-", a, b)

    def multiply(self, a: Any, b: Any, out: Any = None) -> Any:
        return self._binary("*", a, b)

    def divide(self, a: Any, b: Any, out: Any = None) -> Any:
        return self._binary("/", a, b)

    def negative(self, a: Any, out: Any = None) -> Any:
        return self.made(f"-{self.text(a)}")

    def positive(self, a: Any, out: Any = None) -> Any:
        return a

    def _call(self, name: str, *given: Any) -> Any:
        return self.made(f"{name}_{self.s}({', '.join(map(self.text, given))})")

    def sqrt(self, a: Any, out: Any = None) -> Any:
        return self._call("sqrt", a)

    def absolute(self, a: Any, out: Any = None) -> Any:
        return self._call("abs", a)

    def sign(self, a: Any, out: Any = None) -> Any:
        return self.made(f"{a.text} != {a.text} ? {a.text} : sign_{self.s}({a.text})")  # NumPy's of nan is nan

    def maximum(self, a: Any, b: Any, out: Any = None) -> Any:
        return self._call("max", a, b)

    def clip(self, a: Any, low: Any, high: Any, out: Any = None) -> Any:
        return self._call("min", self._call("max", a, low), high)

    def where(self, condition: Any, a: Any, b: Any) -> Any:
        return self.made(f"{self.text(condition)} ? {self.text(a)} : {self.text(b)}")

    def add_scaled(self, a: Any, b: Any, factor: Any, t: Any) -> Any:  # type: ignore[override]
        return self.made(f"{self.text(a)} + {self.text(b)} * {self.text(factor)}")

    def lerp(self, start: Any, end: Any, weight: Any, t: Any) -> Any:  # type: ignore[override]
        return Library.lerp.__func__(self, start, end, weight, t)  # type: ignore[attr-defined]

    def ema_of_squares(self, average: Any, g: Any, decay: Any, t: Any) -> Any:  # type: ignore[override]
        return Library.ema_of_squares.__func__(self, average, g, decay, t)  # type: ignore[attr-defined]

    def quotient_step(self, p: Any, n: Any, size: Any, d: Any, t: Any) -> Any:  # type: ignore[override]
        return Library.quotient_step.__func__(self, p, n, size, d, t)  # type: ignore[attr-defined]


def _recorded(
    kernel: Any, dtype: Any, states: int, constants: tuple[Any, ...], decay: float, maximize: bool
) -> tuple[str, list[float]]:
    """A step's C, and the numbers of this call."""
    r = Recorder(dtype)
    p, g, *state = [_Name(r, f"x{k}") for k in range(2 + states)]
    if decay != 0:
        w = r.multiply(p, decay)
        g = r.subtract(w, g) if maximize else r.add(w, g)
    elif maximize:
        g = r.negative(g)
    results = kernel(r, p, g, *state, None, None, *constants)
    places = [0, *range(2, 2 + states)]
    given = "".join(f"  {r.c} *a{k} = A[{k}];\n" for k in range(2 + states))
    count = len(r.numbers)
    hoisted = "".join(f" k{j} = k[{j}]," for j in range(count))
    lines = "\n    ".join(
        [
            *[f"const {r.c} x{k} = a{k}[i];" for k in range(2 + states)],
            *r.lines,
            *[f"a{k}[i] = {n.text};" for k, n in zip(places, results, strict=True)],
        ]
    )
    for j in reversed(range(count)):
        lines = lines.replace(f"k[{j}]", f"k{j}")
    numbers = f"  const {r.c} *k = A[{2 + states}];\n" + (f"  const {r.c}{hoisted[:-1]};\n" if count else "")
    body = (
        f"static void f(void **A, i64 from, i64 to) {{\n{given}{numbers}"
        f"  IVDEP\n  for (i64 i = from; i < to; i++) {{\n    {lines}\n  }}\n}}\n"
        f"EXPORT void step(void **A, i64 n) {{ go(f, A, n, {GRAIN // 4}); }}\n"
        "EXPORT void init(void **p) { shared = (parallel_t)p[0]; }\n"
    )
    return body, r.numbers


_loops: dict[str, Any] = {}  # C -> function, or None


def _loop(body: str) -> Any:
    if body not in _loops:
        lib = library(body)
        if lib is None:
            _loops[body] = None
        else:
            lib.init((ctypes.c_void_p * 1)(address()))
            lib.step.argtypes, lib.step.restype = [ctypes.c_void_p, ctypes.c_int64], None
            _loops[body] = lib.step
    return _loops[body]


_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def _dense(arrays: list[Any]) -> bool:
    a = arrays[0]
    return all(
        type(b) is np.ndarray and b.flags.c_contiguous and b.dtype == a.dtype and b.shape == a.shape for b in arrays
    )


class CStep:
    """One parameter's step in C; what is not dense, or has no loop, is stepped in NumPy."""

    def __init__(self, step: Any) -> None:
        self.step = step
        self._known: tuple[Any, ...] = ()
        optimizer, group, p = step.optimizer, step.group, step.param
        state = optimizer._state_of(group, p)
        copy = {k: v.clone() if hasattr(v, "clone") else v for k, v in state.items()}
        kernel, names, constants = optimizer._rule(group, copy, number)
        if p._payload.dtype in SUFFIX:  # the loop is there when the first step comes
            self._find(
                p._payload.dtype, kernel, len(names), constants, self._decay(group), group.get("maximize", False)
            )

    @staticmethod
    def _decay(group: dict[str, Any]) -> Any:
        return 0 if group.get("decoupled_weight_decay") else number(group.get("weight_decay", 0))

    def _find(self, dtype: Any, kernel: Any, states: int, constants: Any, decay: Any, maximize: bool) -> Any:
        """(loop, its numbers) of a step."""
        key = (dtype, kernel, states, constants, decay, maximize)
        if self._known and self._known[0] == key:
            return self._known[1]
        found = _shared.get(key)
        if found is None:
            try:
                body, numbers = _recorded(kernel, dtype, states, constants, decay, maximize)
                found = _loop(body), np.array([*numbers, 0], dtype)
            except (TypeError, ValueError, AttributeError):
                found = None, None
            if len(_shared) > 1000:
                _shared.clear()
            _shared[key] = found
        self._known = key, found
        return found

    def __call__(self, g: Any) -> None:
        optimizer, group, p = self.step.optimizer, self.step.group, self.step.param
        state = optimizer._state_of(group, p)
        decay, maximize = self._decay(group), group.get("maximize", False)
        kernel, names, constants = optimizer._rule(group, state, number)
        tensors = [state[n] for n in names]
        arrays = [p._payload, g, *[t._payload for t in tensors]]
        loop = None
        if _dense(arrays) and arrays[0].dtype in _FLOATS and not any(t._box is not None for t in tensors):
            loop, numbers = self._find(arrays[0].dtype, kernel, len(names), constants, decay, maximize)
        if loop is None:
            optimizer._step_in_place(arrays[0], g, tensors, kernel, constants, decay, maximize)
            return
        table = (ctypes.c_void_p * (len(arrays) + 1))(*map(address_of, arrays), address_of(numbers))
        loop(table, arrays[0].size)


_shared: dict[Any, Any] = {}  # what parameters with equal numbers have in common
