"""Optimizers' steps as C: the kernel that an optimizer runs in NumPy, run once on names, is the loop.

A kernel gets its library of functions as an argument (``_elementwise``). Here that library writes each function down.
``torch.compile`` compiles such loops when they are met; those of this room's optimizers are among the compiled kernels
of eager work (``_arrays/compiled.py``), and run here.
"""

from __future__ import annotations

import hashlib
import operator
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


class _Constant:
    """A number of a rule, and the Python of how it follows from the rule's constants ``c``.

    What a kernel asks about it is written down too; what cannot be is an error.
    """

    __slots__ = ("asked", "text", "value")

    def __init__(self, text: str, value: Any, asked: list[str]) -> None:
        self.text, self.value, self.asked = text, value, asked

    def __bool__(self) -> bool:
        raise TypeError("a number is asked whether it is zero")

    def __neg__(self) -> _Constant:
        return _Constant(f"(-{self.text})", -self.value, self.asked)

    __hash__ = None  # type: ignore[assignment]


def _follow(name: str, form: str) -> None:
    """Give ``_Constant`` an operator: the result follows from the operands, or the answer holds as long as they do."""
    of = getattr(operator, name)

    def computed(a: Any, b: Any) -> Any:
        if type(b) not in (_Constant, float, int):
            return NotImplemented
        one, other = [(x.text, x.value) if type(x) is _Constant else (f"float('{x}')", x) for x in (a, b)]
        text, value = form.format(one[0], other[0]), of(one[1], other[1])
        if not isinstance(value, bool):
            return _Constant(text, value, a.asked)
        a.asked.append(text if value else f"not {text}")
        return value

    def turned(b: Any, a: Any) -> Any:
        return computed(_Constant(f"float('{a}')", a, b.asked), b) if type(a) in (float, int) else NotImplemented

    setattr(_Constant, f"__{name}__", computed)
    if name[0] not in "lge":
        setattr(_Constant, f"__r{name}__", turned)


for _pair in ("add +", "sub -", "mul *", "truediv /", "pow **", "lt <", "gt >", "le <=", "ge >=", "eq =="):
    _follow(_pair.split()[0], f"({{}} {_pair.split()[1]} {{}})")


class Recorder(Library):
    """The functions of ``ArrayLibrary``, written down as C. ``lines`` are the structure, ``numbers`` its operands."""

    def __init__(self, dtype: Any) -> None:
        self.c, self.s = {"f": ("float", "f"), "d": ("double", "d")}[dtype.char]
        self.lines: list[str] = []
        self.numbers: list[Any] = []

    def text(self, a: Any) -> str:
        if isinstance(a, _Name):
            return a.text
        if not isinstance(a, (int, float, _Constant)):
            raise TypeError(type(a))
        self.numbers.append(a)
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

    lerp = Library.lerp.__func__
    ema_of_squares = Library.ema_of_squares.__func__
    quotient_step = Library.quotient_step.__func__


def _lines(
    kernel: Any, dtype: Any, states: int, constants: tuple[Any, ...], decay: Any, maximize: bool
) -> tuple[str, list[Any]]:
    r = Recorder(dtype)
    p, g, *state = [_Name(r, f"x{k}") for k in range(2 + states)]
    if decay is not None:
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


def _followed(key: tuple[Any, ...], given: list[Any]) -> tuple[Any, str] | None:
    """(what computes the numbers from the constants, or is ``None`` where others follow; the lines)."""
    kernel, dtype, states, kinds, decays, maximize = key
    asked: list[str] = []
    traced = [_Constant(f"c[{k}]", c, asked) if kind is _Constant else c
              for k, (c, kind) in enumerate(zip(given, (*kinds, _Constant), strict=True))]  # fmt: skip
    try:
        text, numbers = _lines(kernel, dtype, states, tuple(traced[:-1]), traced[-1] if decays else None, maximize)
    except TypeError:  # something else is done with a number
        return None
    found = ", ".join([f"float({n.text})" if type(n) is _Constant else f"float('{n}')" for n in numbers])
    return eval(f"lambda c: [{found}] if {' and '.join(asked) or True} else None"), text


def _plain(constants: list[Any]) -> bool:
    return all([c is None or type(c) in (float, int, bool) for c in constants])  # noqa: C419


_ways: dict[Any, list[Any]] = {}  # what is known of a kernel's lines


def written(
    kernel: Any, dtype: Any, states: int, constants: tuple[Any, ...], decay: float, maximize: bool
) -> tuple[str, list[float]]:
    """The lines for one element, of arrays ``a0`` (the parameter), ``a1`` (the gradient), ..., and their numbers.

    Constants change from step to step (a bias correction), lines seldom: how the numbers follow from the constants is
    found once.
    """
    kinds = tuple([_Constant if type(c) in (float, int) else c for c in constants])
    given = [*constants, decay]
    key = (kernel, dtype, states, kinds, decay != 0, maximize)
    ways = _ways.setdefault(key, []) if _plain(given) else [None]
    for way in ways:
        if way is not None and (numbers := way[0](given)) is not None:
            return way[1], numbers
    if len(ways) < 4 and None not in ways:
        ways.append(_followed(key, given))
    text, found = _lines(kernel, dtype, states, constants, decay if decay != 0 else None, maximize)
    return text, [float(n) for n in found]


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
