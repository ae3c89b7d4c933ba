"""Public functions that in the usual call are their operator: its recording function, behind a reader of arguments.

Every call between a program's line and the recording function costs, twice where the line is looked for. So the text of
an operator on one tensor also serves for the public function: for the usual arguments it records itself, for all others
it calls the function as it is written (``otherwise``).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from .._base.dtypes import REAL_NUMBERS
from .._base.registry import REGISTRY, TENSORS
from .recording import HEAD, HEAD_BY_NAME, ONE_DIM, USUAL, elsewhere, elsewhere_by_name, read_dim
from .templates import AnyShape, FirstCall, Shape, first_call_of, hot


def in_front_of(otherwise: Any, head: str, shape: AnyShape, scope: Callable[[], dict[str, Any]]) -> Any:
    """A public function that is its operator in the usual call and passes any other call to ``otherwise``."""
    fn = hot(otherwise.__name__, shape, scope, otherwise.__doc__, head)
    fn.__wrapped__ = otherwise
    return fn


def _own(name: str) -> FirstCall:
    own = first_call_of(REGISTRY[name].op)
    assert own is not None
    return own


def _with_values(own: Shape, values: str) -> dict[str, str]:
    """The texts of an operator's shape with these texts in place of its parameters."""
    texts = values.split(", ")
    return {k: re.sub(r"\bp(\d)\b", lambda m: texts[int(m[1])], text) for k, text in own.parts.items()}


def in_one_dim(
    otherwise: Any, name: str, values: str = "dims, keepdim", unless: str = "", result: Any = None, alone: Any = None,
    pairs: str = "",
) -> Any:  # fmt: skip
    """A public function that along one dim is its operator ``name``.

    ``values``: the texts of the operator's parameters, of ``dim`` (``dims``: a tuple of it, or of all dims if none is
    given; it may be given as a tuple) and ``keepdim``; with ``=`` after it never by position, and one dim alone.
    ``unless``: a condition on the array ``a`` for which it is not. ``result``: the class of several results.
    ``alone``: the function of the tensor alone. ``pairs``: the name of the operator on the tensor and a second one.
    """
    by_name, dims, keepdim = "keepdim=" in values, "dims" in values, "keepdim" in values
    several = dims and not by_name
    named = "dim=" * ("dims=" in values)
    head = HEAD_BY_NAME if named else HEAD

    def parts(own: Shape) -> dict[str, str]:
        texts = _with_values(own, re.sub(r"=|\bdims?\b", lambda m: "" if m[0] == "=" else "at", values))
        if result is not None:
            texts["returned"] = f"named(({texts['returned']}))"
        return texts | read_dim(by_name, dims, unless and f" or {unless}", named, several)

    def shape() -> Shape:
        own = _own(name).shape
        flags = {"modes": False, "dims": dims, "whole": dims, "keepdim": keepdim, "without": alone is not None}
        flags |= {"pairs": bool(pairs)}
        return Shape("one", ONE_DIM, head, lambda: parts(own), **{**own.flags, **flags})

    more = {"otherwise": otherwise, "named": getattr(result, "_make", None), "without": alone}
    more["elsewhere"] = elsewhere_by_name if named else elsewhere
    return in_front_of(
        otherwise, head, shape, lambda: _own(name).names() | more | {"pairs": pairs and getattr(TENSORS, pairs)}
    )


def in_usual_call(
    otherwise: Any, name: str, values: str = "", unless: str = "", result: Any = None, **names: Any
) -> Any:
    """A public function that without ``out=`` and ``inplace`` is its operator ``name``.

    ``values``: the texts of the operator's parameters, of the function's own, which must be numbers if ``unless`` does
    not name them: a condition on these and on the array ``a`` for which it is not; ``names`` has what it names.
    ``result``: the class of several results.
    """
    written = inspect.unwrap(otherwise)
    code, by_name = written.__code__, written.__kwdefaults__ or {}
    if "out" in (otherwise.__kwdefaults__ or {}):  # see ``with_keywords``
        by_name = {"out": None}
    placed = code.co_varnames[: code.co_argcount]
    defaults = written.__defaults__ or ()
    first = len(placed) - len(defaults)
    head = [*placed[:first], *(f"{n}={d!r}" for n, d in zip(placed[first:], defaults, strict=True))]
    head += ["*", *(f"{n}={d!r}" for n, d in by_name.items())] if by_name else []
    passed = [*placed, *(f"{n}={n}" for n in by_name)]
    unusual = ["slow_always"] + ["inplace"] * ("inplace" in placed) + ["out is not None"] * ("out" in by_name)
    if otherwise is not written:
        head, passed, unusual = [*head, "**kwargs"], [*passed, "**kwargs"], [*unusual, "kwargs"]
    of_other_types = [f"type({n}) not in REAL_NUMBERS" for n in values.split(", ") if n in placed and n not in unless]
    texts = {
        "passed": ", ".join(passed),
        "unusual": " or ".join(unusual),
        "unless": "".join(f" or {condition}" for condition in [*of_other_types, unless] if condition),
    }
    names |= {"otherwise": otherwise, "REAL_NUMBERS": REAL_NUMBERS, "named": getattr(result, "_make", None)}

    def parts(own: Shape) -> dict[str, str]:
        found = _with_values(own, values) | texts
        return found if result is None else found | {"returned": f"named(({found['returned']}))"}

    def shape() -> Shape:
        own = _own(name).shape
        flags = {**own.flags, "modes": False}
        return Shape("one", USUAL, ", ".join(head), lambda: parts(own), **flags)

    return in_front_of(otherwise, ", ".join(head), shape, lambda: _own(name).names() | names)


def in_binary(otherwise: Any, name: str) -> Any:
    """A public function of a tensor and a second operand that is its operator ``name`` on what that takes as it is."""
    first, second = otherwise.__code__.co_varnames[:2]
    head = f"{first}, {second}, *, out=None"

    def shape() -> Shape:
        own = _own(name).shape
        return Shape(own.kind, f"other = {second}\n{own.template}", head, **own.flags)

    def pass_on(info: Any, *args: Any) -> Any:
        return otherwise(*args[:2])

    names = dict.fromkeys(("reject", "refuse_first", "promote_and_retry"), pass_on)
    names["slow"] = lambda info, args, out=None: otherwise(*args, out=out)
    return in_front_of(otherwise, head, shape, lambda: _own(name).names() | names)
