"""Optimizers' steps as C: the kernel that an optimizer runs in NumPy, run once on names, is the loop.

A kernel gets its library of functions as an argument (``_elementwise``). Here that library writes each function down.
``torch.compile`` compiles such loops when they are met; those of this room's optimizers are among the compiled kernels
of eager work (``_arrays/compiled.py``), and run here.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from .._arrays.compiled import GRAIN, kernels
from ._elementwise import Library


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
        self.c, self.s = {"f": ("float", "f"), "d": ("double", "d")}[dtype.char]
        self.lines: list[str] = []
        self.numbers: list[float] = []

    def text(self, a: Any) -> str:
        if isinstance(a, _Name):
            return a.text
        if not isinstance(a, (int, float)):
            raise TypeError(type(a))
        self.numbers.append(float(a))
        return f"k{len(self.numbers) - 1}"

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

    def add_scaled(self, a: Any, b: Any, factor: Any, t: Any) -> Any:
        return self.made(f"{self.text(a)} + {self.text(b)} * {self.text(factor)}")

    def lerp(self, start: Any, end: Any, weight: Any, t: Any) -> Any:  # type: ignore[override]
        return Library.lerp.__func__(self, start, end, weight, t)

    def ema_of_squares(self, average: Any, g: Any, decay: Any, t: Any) -> Any:  # type: ignore[override]
        return Library.ema_of_squares.__func__(self, average, g, decay, t)

    def quotient_step(self, p: Any, n: Any, size: Any, d: Any, t: Any) -> Any:  # type: ignore[override]
        return Library.quotient_step.__func__(self, p, n, size, d, t)


def written(
    kernel: Any, dtype: Any, states: int, constants: tuple[Any, ...], decay: float, maximize: bool
) -> tuple[str, list[float]]:
    """The lines for one element, of arrays ``a0`` (the parameter), ``a1`` (the gradient), ..., and their numbers."""
    r = Recorder(dtype)
    p, g, *state = [_Name(r, f"x{k}") for k in range(2 + states)]
    if decay != 0:
        w = r.multiply(p, decay)
        g = r.subtract(w, g) if maximize else r.add(w, g)
    elif maximize:
        g = r.negative(g)
    results = kernel(r, p, g, *state, None, None, *constants)
    places = [0, *range(2, 2 + states)]
    lines = [
        *[f"const {r.c} x{k} = a{k}[i];" for k in range(2 + states)],
        *r.lines,
        *[f"a{k}[i] = {n.text};" for k, n in zip(places, results, strict=True)],
    ]
    return "\n".join(lines), r.numbers


def name_of(text: str) -> str:
    """The name of a step's compiled kernel."""
    return "step_" + hashlib.sha256(text.encode()).hexdigest()[:20]


_known: dict[Any, tuple[int | None, list[float]]] = {}  # parameters of one group have their steps in common


def stepped(kernel: Any, arrays: list[Any], constants: tuple[Any, ...], decay: Any, maximize: bool) -> bool:
    """Do a step of large dense arrays by a compiled kernel; ``False`` if there is none."""
    a, found = arrays[0], kernels()
    if found is None or a.dtype.char not in "fd":
        return False
    if any([type(b) is not np.ndarray or b.dtype is not a.dtype or b.size != a.size for b in arrays]):  # noqa: C419
        return False
    try:
        key = (a.dtype, kernel, len(arrays), constants, decay, maximize)
        step = _known.get(key)
        if step is None:
            text, numbers = written(kernel, a.dtype, len(arrays) - 2, constants, decay, maximize)
            if len(_known) >= 256:
                _known.clear()
            step = _known[key] = found.find(name_of(text)), numbers
    except (TypeError, ValueError, AttributeError):  # a number is a tensor's
        return False
    if step[0] is None:
        return False
    found.run(step[0], a.size, GRAIN, (), step[1], *arrays)
    return True
