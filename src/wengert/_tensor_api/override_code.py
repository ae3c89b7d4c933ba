"""The code objects that can replace a public function's own: the guard, and the check of arguments.

See ``_tensor_api.override_sites``, NOTE [ No override, no cost ].
"""

from __future__ import annotations

import functools
import types
from typing import Any

from .._base.tracebacks import STAR, STARS, parameter_count


def by_position(fn: Any) -> Any:
    """A copy with only positional parameters: ``*args`` is a tuple and ``**kwargs`` a dict.

    The interpreter calls such a function in a few nanoseconds; forwarding keywords takes about a hundred.
    """
    code = fn.__code__
    count = parameter_count(code)
    flags = code.co_flags & ~(STAR | STARS)
    code = code.replace(co_argcount=count, co_posonlyargcount=0, co_kwonlyargcount=0, co_flags=flags)
    return types.FunctionType(code, fn.__globals__, fn.__name__, None, fn.__closure__)


_CHECK = """
def guard(*args, **kwargs):
    _enter = '<enter>'
    return _enter(args, kwargs)
"""


_GUARD = """
def guard({head}):
    _body = '<body>'
    try:
        return {body}
    except Exception:
        _recover = '<recover>'
        _instead = {recover}
        if _instead is None:
            raise
    return _instead()
"""
_OPERATOR_GUARD = """
def guard({head}):
    _body = '<body>'
    _result = {body}
    if _result is not NotImplemented:
        return _result
    _recover = '<recover>'
    _instead = {recover}
    return NotImplemented if _instead is None else _instead()
"""


def _template(source: str, free: int) -> types.CodeType:
    """The code of a template, with as many free variables as the function whose code it replaces.

    The code uses none of them. But reading a frame's locals, as debuggers and pytest do, reads the cells of the free
    variables, and only code compiled with free variables copies their cells into the frame: without them the
    interpreter crashes.
    """
    if free:
        names = ", ".join(f"_free{i:04}" for i in range(free))
        head, _, body = source.strip().partition("\n")
        lines = ["def outer():", f"    {names.replace(',', ' =')} = None", f"    {head}", f"        nonlocal {names}"]
        source = "\n".join([*lines, *("    " + line for line in body.split("\n")), "    return guard"])
    scope: dict[str, Any] = {}
    exec(compile(source, __file__ + "<guard>", "exec"), scope)
    code: types.CodeType = (scope["outer"]() if free else scope["guard"]).__code__
    return code


@functools.cache
def check_code(free: int) -> types.CodeType:
    """The checking code for functions with ``free`` free variables."""
    return _template(_CHECK, free)


def guard_code(code: types.CodeType, operator: bool) -> types.CodeType:
    """The code of a guard for functions with this signature, its parameters called ``p0``, ``p1``, ...

    An operator can also fail by returning ``NotImplemented``.
    """
    star, stars = bool(code.co_flags & STAR), bool(code.co_flags & STARS)
    counts = (code.co_posonlyargcount, code.co_argcount, code.co_kwonlyargcount)
    return _guard_code(*counts, star, stars, operator, len(code.co_freevars))


@functools.cache
def _guard_code(
    only: int, positional: int, keyword: int, star: bool, stars: bool, operator: bool, free: int
) -> types.CodeType:
    names = [f"p{i}" for i in range(positional + keyword)]
    head = names[:positional]
    head[only:only] = ["/"] if only else []
    head += ["*va"] if star else ["*"] if keyword else []
    head += names[positional:] + (["**kw"] if stars else [])
    call = names[:positional] + (["*va"] if star else [])
    pairs = [f"'{n}': {n}" for n in names[positional:]] + (["**kw"] if stars else [])
    values = "(" + "".join(c + ", " for c in call) + ")"
    call_body = f"_body({', '.join(names + ['va'] * star + ['kw'] * stars)})"
    call_recover = f"_recover({values}, {{{', '.join(pairs)}}})"
    template = _OPERATOR_GUARD if operator else _GUARD
    return _template(template.format(head=", ".join(head), body=call_body, recover=call_recover), free)


def with_constants(
    template: types.CodeType, original: types.CodeType, values: dict[str, Any], keep_names: bool = True
) -> types.CodeType:
    """A template's code with these constants, for a function whose own code is ``original``."""
    names = template.co_varnames
    real: tuple[str, ...] = ()
    if keep_names:
        real = original.co_varnames[: parameter_count(original)]
    renamed = dict(zip(names, real, strict=False))

    def constant(c: Any) -> Any:
        if type(c) is str:
            return values[c] if c in values else renamed.get(c, c)
        if type(c) is tuple:
            return tuple(renamed.get(x, x) for x in c)
        return c

    return template.replace(
        co_varnames=real + names[len(real) :],
        co_consts=tuple(constant(c) for c in template.co_consts),
        co_name=original.co_name,
        co_qualname=original.co_qualname,
        co_freevars=original.co_freevars,
    )
