"""Hot functions, assembled from pieces of text.

The operators of a kind share one recording function, without the parts that an operator does not need: some save no
operand, some accept no number, some have no ``out=``. Such a set of needs is a *shape*. This module assembles a
shape's text from pieces that are written once, and compiles it at the first call of an operator of that shape. Each
operator has its own code object, so that tracebacks name the operator and it has its own inline caches in CPython; the
names in the text are globals of the operator's own namespace.

``python -m wengert show mul`` prints the assembled text, ``linecache`` holds it for debuggers, and
``tests/data/shapes.txt`` has the text of every shape that an operator uses.

NOTE [ The hot path ]
    The costs of an operator on small tensors are, in order: one test for modes (``slow_if_recording``), its inputs'
    slots, one identity test of dtypes (which also finds the values of transforms: their dtype is another object), the
    array library's function, one Tensor, one Node with the user's line, and the boxes of the values that the formula
    uses. Add nothing to these texts without a measurement: every line costs every program.

NOTE [ First calls ]
    Importing the package compiles nothing. A hot function starts as a trampoline: a function with the right signature
    that assembles the text, replaces its own code by the result and runs it. It remains the same object, because
    programs hold references to it. Use ``variant`` to copy such a function, so that the copy's code is replaced too.
"""

from __future__ import annotations

import linecache
import os
import re
import types
from collections.abc import Callable
from functools import lru_cache, partial
from sys import _getframe as getframe
from typing import Any

from numpy import multiply, ndarray

from .._arrays.compiled import LEAST
from .._arrays.library import ARITHMETIC, INEXACT, silently
from .._arrays.threads import elementwise, elementwise_multi, multiply_into
from .._base import errors as lines
from .._base.dtypes import FLOAT32, FLOAT64
from .._base.modes import slow_always, slow_if_recording
from .._base.registry import ARRAYS
from .._base.tracebacks import STAR, STARS, arguments, with_handler
from .._tape.node import FREED, Box, Parts, box_of, ticks
from .._tape.promotion import cast, default_np, logical_dtype
from .._tape.saved import stale, unbox
from .._tape.tensor import Tensor, alias_payload, make
from .dims import ABSENT, EVERY_DIM, TUPLES_OF_DIM, normal_dims
from .slow_path import (
    concerned,
    mixed_dtypes,
    mixed_product,
    promote_and_retry,
    refuse,
    refuse_first,
    slow,
    unsupported,
)

Texts = dict[str, str] | Callable[[], dict[str, str]] | None
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")


# ---- functions
class Shape:
    """The text of a function: its parameters, the template of its body, and the settings of the template.

    ``flags`` are the needs of the function, ``parts`` are pieces of text for the template, or make them when the text
    is needed.
    """

    __slots__ = ("_parts", "flags", "head", "kind", "template")

    def __init__(self, kind: str, template: str, head: str, parts: Texts = None, /, **flags: Any):
        self.kind = kind
        self.template = template
        self.head = head
        self._parts = parts
        self.flags = flags

    @property
    def parts(self) -> dict[str, str]:
        parts = self._parts  # read once: another thread may replace it
        if not isinstance(parts, dict):
            self._parts = parts = parts() if parts else {}
        return parts

    def but(self, head: str | None = None, **flags: Any) -> Shape:
        """The shape with other parameters, or with some flags replaced."""
        return Shape(self.kind, self.template, head or self.head, lambda: self.parts, **{**self.flags, **flags})

    @property
    def label(self) -> str:
        """The shape's name: ``unary(input): blocks keep_result records``; any parameters are ``*p`` in it."""
        head = _PARAMETERS.sub(", *p", self.head)
        flags = sorted((k, v) for k, v in self.flags.items() if v)
        return f"{self.kind}({head}): {' '.join(k if v is True else f'{k}={v}' for k, v in flags)}"

    def text(self) -> str:
        """The function's source."""
        lines = rendered(self.template, Flags(self.flags, **self.parts), 4)
        return "\n".join([f"def {self.kind}({self.head}):", *lines]) + "\n"


AnyShape = Shape | Callable[[], Shape]


class FirstCall:
    """The callee of a trampoline: it assembles the function, then runs it."""

    __slots__ = ("_shape", "defaults", "fn", "head", "made", "name", "names", "scope")

    def __init__(
        self, name: str, shape: AnyShape, names: Callable[[], dict[str, Any]], head: str, defaults: Any = None
    ) -> None:
        self.name = name
        self.head = head  # the parameters; the shape may call those by position otherwise
        self._shape = shape
        self.names = names
        self.defaults = defaults
        # Python drops warnings of a module without a name: NumPy's are not shown, whatever filters a program has set
        self.scope: dict[str, Any] = {"__name__": None, "FIRST_CALL": self}
        self.made: Any = None
        self.fn = self._function()

    @property
    def shape(self) -> Shape:
        shape = self._shape  # as ``Shape.parts``
        if not isinstance(shape, Shape):
            self._shape = shape = shape()
        return shape

    def _function(self, code: types.CodeType | None = None) -> Any:
        like = _trampoline(self.head)
        fn = types.FunctionType(code or like.__code__, self.scope, self.name, self.defaults or like.__defaults__)
        fn.__kwdefaults__ = like.__kwdefaults__
        return fn

    def run(self, values: dict[str, Any]) -> Any:
        """Run the assembled function; ``values``: the trampoline's local variables."""
        made = self.put_together()
        args, kwargs = arguments(made.__code__, values)
        return made(*args, **kwargs)

    def put_together(self) -> Any:
        """The assembled function; the function that callers hold takes its code if it still has the trampoline's.

        Two threads may run this at once: both assemble the same code.
        """
        if self.made is None:
            code, own = code_of(self.shape), _trampoline(self.head).__code__.co_varnames
            variables = own + code.co_varnames[len(own) :]
            code = code.replace(co_name=self.name, co_qualname=self.name, co_varnames=variables)
            known = {**COMMON, **self.names()}
            used = _names_in(code)
            if "careful" in used:  # the same function, whose text handles failures
                known["careful"] = hot(self.name, self.shape.but(careful=True), lambda: known)
            self.scope.update({name: known[name] for name in used if name in known})
            self.made = self._function(code)
        if self.fn.__code__ is _trampoline(self.head).__code__:
            self.fn.__code__ = self.made.__code__
        return self.made


def hot(
    name: str, shape: AnyShape, names: Callable[[], dict[str, Any]], doc: str | None = None, head: str = "",
    defaults: Any = None,
) -> Any:  # fmt: skip
    """A function of this shape, assembled at its first call; ``names()`` returns the globals of its text.

    ``head``: the parameters, if the shape is made at the first call too. ``defaults``: the usual values of parameters,
    if they are not in it.
    """
    fn = FirstCall(name, shape, names, head or shape.head, defaults).fn
    fn.__qualname__ = name
    fn.__doc__ = doc
    fn.__module__ = "wengert"
    return fn


def first_call_of(fn: Any) -> FirstCall | None:
    """The ``FirstCall`` of a hot function; ``None`` for any other function."""
    return getattr(fn, "__globals__", {}).get("FIRST_CALL")


def variant(fn: Any, shape: Shape | None = None, name: str | None = None, /, **names: Any) -> Any:
    """A copy of a hot function, with another shape or name, or with some of the names in its text replaced."""
    first_call = first_call_of(fn)
    assert first_call is not None, f"{fn.__name__} was not put together from a text"
    of_text = first_call.names
    given = (lambda: {**of_text(), **names}) if names else of_text
    if shape is None:
        return hot(name or first_call.name, first_call._shape, given, fn.__doc__, first_call.head, first_call.defaults)
    return hot(name or first_call.name, shape, given, fn.__doc__)


def _first_call() -> Any:
    return FIRST_CALL.run(locals())  # type: ignore[name-defined]  # noqa: F821  in the namespace of each function


@lru_cache(None)
def _trampoline(head: str) -> Any:
    """The function that replaces all functions with these parameters until their first call; nothing is compiled."""
    plain, by_name, stars = [], [], []  # type: tuple[list[str], list[str], list[str]]
    defaults, of_name = [], {}  # type: tuple[list[Any], dict[str, Any]]
    flags, names = _first_call.__code__.co_flags, plain
    for part in head.split(", "):
        name, given, default = part.partition("=")
        if name[0] == "*":
            stars += [name.lstrip("*")] * (name != "*")
            flags |= 0 if name == "*" else STARS if name[1] == "*" else STAR
            names = by_name
            continue
        names.append(name)
        if given:
            value = _USUAL[default] if default in _USUAL else eval(default)
            defaults += [value] * (names is plain)
            of_name |= {name: value} if names is by_name else {}
    code = _trampoline_code(len(plain), len(by_name), len(stars), flags)
    code = code.replace(co_varnames=(*plain, *by_name, *stars))
    fn = types.FunctionType(code, {}, "first_call", tuple(defaults) or None)
    fn.__kwdefaults__ = of_name or None
    return fn


@lru_cache(None)
def _trampoline_code(plain: int, by_name: int, stars: int, flags: int) -> types.CodeType:
    names = tuple([f"p{k}" for k in range(plain + by_name + stars)])
    code = _first_call.__code__.replace(
        co_argcount=plain, co_kwonlyargcount=by_name, co_nlocals=len(names), co_varnames=names, co_flags=flags
    )
    return with_handler(code)


_USUAL = {"None": None, "False": False, "True": True}


def _names_in(code: types.CodeType) -> set[str]:
    """The global names that a code object uses, including its comprehensions."""
    inner = [_names_in(c) for c in code.co_consts if type(c) is types.CodeType]
    return set(code.co_names).union(*inner)


_codes: dict[Any, types.CodeType] = {}


def code_of(shape: Shape) -> types.CodeType:
    """The code of a shape, compiled once."""
    key = (shape.label, shape.head, *shape.parts.values())
    if key not in _codes:
        text = shape.text()
        filename = f"{FOLDER}<{shape.label}{f' {len(_codes)}' * bool(shape.parts)}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        module = compile(text, filename, "exec", dont_inherit=True)
        _codes[key] = with_handler(next(c for c in module.co_consts if type(c) is types.CodeType))
    return _codes[key]


# ---- templates
class Flags(dict[str, Any]):
    def __missing__(self, name: str) -> bool:
        return False


def rendered(template: str, flags: Flags, depth: int = 0) -> list[str]:
    """The lines of a template that remain for these flags, ``depth`` columns to the right.

    ``line  #? condition``: keep the line, and the lines indented below it, only if the condition on flags holds.
    ``#? condition``: keep the lines indented below only if it holds, and dedent them.
    ``line  #| condition``: if it does not hold, remove the line and dedent the lines indented below it.
    ``@piece``, ``@piece(flag="text", flag=other_flag)``: insert the piece of this name, with these additional flags.
    ``{flag}``: insert the flag's value.
    """
    out: list[str] = []
    _render(_lines_of(template), flags, depth, out)
    return out


def _render(lines: list[Line], flags: Flags, move: int, out: list[str]) -> None:
    for line in lines:
        if line.mark is None:
            line.tell_apart()
        code = line.code
        if line.mark:
            for every in line.condition:
                for name, wanted in every:
                    if bool(flags[name]) is not wanted:
                        break
                else:
                    break
            else:
                if line.mark == "#|":
                    _render(line.inner, flags, move - 4, out)
                continue
            if not code:
                _render(line.inner, flags, move - 4, out)
                continue
        if line.given is not None:
            more = Flags(flags, **{k: flags[v] if v else text for k, text, v in line.given}) if line.given else flags
            _render(_lines_of(PIECES[code]), more, line.column + move, out)
            continue
        if line.flags:
            between = line.flags.copy()
            between[1::2] = [str(flags[name] or "") for name in between[1::2]]
            code = "".join(between)
        if code:
            indent = " " * (line.column + move)
            out += [indent + each for each in code.split("\n")] if "\n" in code else [indent + code]
        if line.inner:
            _render(line.inner, flags, move, out)


class Line:
    """A line of a template, its column, and the lines indented below it.

    The rest is told apart when the line is first rendered: ``code``, its text or the name of a piece; ``flags``, its
    text split at the flags in it; its mark and condition; the flags ``given`` to a piece.
    """

    __slots__ = ("code", "column", "condition", "flags", "given", "inner", "mark", "text")
    code: str
    condition: tuple[tuple[tuple[str, bool], ...], ...]
    flags: list[str] | None

    def __init__(self, text: str, column: int) -> None:
        self.text = text
        self.column = column
        self.inner: list[Line] = []
        self.mark: str | None = None
        self.given: list[tuple[str, str, str]] | None = None

    def tell_apart(self) -> None:
        code = self.text
        mark = "#?" if "#?" in code else "#|" if "#|" in code else ""
        if mark:
            code, _, condition = code.partition(mark)
            self.condition = _alternatives(condition.strip())
        code = code.rstrip()
        if code[:1] == "@":
            code, _, more = code[1:].partition("(")
            self.given = _GIVEN.findall(more) if more else []
        self.flags = _FLAG.split(code) if "{" in code else None
        self.code, self.mark = code, mark  # the mark last: another thread may ask for it


@lru_cache(None)
def _lines_of(template: str) -> list[Line]:
    """The lines of a template that stand at its left margin; the others are ``inner`` lines of these."""
    top: list[Line] = []
    outer: list[tuple[int, list[Line]]] = [(-1, top)]
    for text in template.strip("\n").split("\n"):
        line = Line(text.lstrip(), len(text) - len(text.lstrip()))
        while outer[-1][0] >= line.column:
            outer.pop()
        outer[-1][1].append(line)
        outer.append((line.column, line.inner))
    return top


@lru_cache(None)
def _alternatives(condition: str) -> tuple[tuple[tuple[str, bool], ...], ...]:
    """A condition as flags and their values, all of one alternative: with ``and``, ``or`` and ``not``, or ``not
    (...)`` around either."""
    if condition.startswith("not ("):
        negated = [[(name, not wanted) for name, wanted in every] for every in _alternatives(condition[5:-1])]
        return tuple(map(tuple, zip(*negated, strict=True))) if len(negated) > 1 else tuple([(n,) for n in negated[0]])
    return tuple([
        tuple([(name.removeprefix("not "), name[:4] != "not ") for name in every.split(" and ")])
        for every in condition.split(" or ")
    ])  # fmt: skip


def piece(name: str, **flags: Any) -> str:
    """The text of a piece."""
    return "\n".join(rendered(f"@{name}", Flags(flags)))


BACKWARD = "n, xp, g, keep"  # the parameters of a backward step
_PARAMETERS = re.compile(r"(, p\d+)+")
_FLAG = re.compile(r"\{(\w+)\}")
_GIVEN = re.compile(r'(\w+)=(?:"([^"]*)"|(\w+))')
PIECES = {
    "node": """
n = {N}()  #? N
n = N()  #? not (c or N)
n.fx = fx  #? not edges
n.fx = {edges}  #? edges
n.fy = {fy}  #? fy
n._seq = next(ticks)
n._hooks = None
""",
    "keep": """
n.{slot} = {t}._box or box_of({t})  #? wanted
n.{slot} = {otherwise}  #? not wanted
""",
    "keep_result": """
t._box = b = Box()
b.a = r
b.cell = None
""",
    "line": """
f = getframe(1)
n._code = c = f.f_code
if c is not lines.user_code:
    f = lines.user_frame(f)
    n._code = f.f_code
n._lasti = f.f_lasti
""",  # the user's line, which made the node
    "end": """
@line
t._node = n
return t
""",
    "unrecorded": """
t._node = None
return t
""",
    "open": """
c = {x}.cell
if c is not None and c._seq > n._seq:
    stale(n, {x})
{x} = {x}.a
""",  # a saved value, checked
}  # what several templates have


COMMON: dict[str, Any] = {
    "ABSENT": ABSENT, "ARITHMETIC": ARITHMETIC, "ARRAYS": ARRAYS, "Box": Box, "EVERY_DIM": EVERY_DIM,
    "FAILURES": (AttributeError, TypeError, ValueError, *ARITHMETIC), "FLOAT32": FLOAT32, "FLOATS": {FLOAT32, FLOAT64},
    "FREED": FREED, "INEXACT": INEXACT, "LARGE": LEAST, "Parts": Parts, "TUPLES_OF_DIM": TUPLES_OF_DIM,
    "Tensor": Tensor, "alias_payload": alias_payload, "both": elementwise_multi, "box_of": box_of, "cast": cast,
    "concerned": concerned, "default_np": default_np, "elementwise": elementwise, "getframe": getframe, "lines": lines,
    "logical_dtype": logical_dtype, "make": make, "mixed_dtypes": mixed_dtypes, "mixed_product": mixed_product,
    "multiply": multiply, "multiply_into": multiply_into, "ndarray": ndarray, "next": next, "normal_dims": normal_dims,
    "partial": partial, "promote_and_retry": promote_and_retry, "refuse": refuse, "refuse_first": refuse_first,
    "silently": silently, "slow": slow, "slow_always": slow_always, "slow_if_recording": slow_if_recording,
    "stale": stale, "ticks": ticks, "type": type, "unbox": unbox, "unsupported": unsupported,
}  # fmt: skip  # what every text may name
