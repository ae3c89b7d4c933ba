"""The keywords of public functions besides their parameters: ``out=``, and NumPy's ``axis=`` and ``keepdims=``."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from .dims import NUMPY_NAMES, REQUIRED, not_a_bool, not_given
from .out import Rule, RuleOf, Rules, write_out
from .templates import FirstCall, Shape


def with_out(rule: Any) -> Any:
    """Decorator that adds ``out=`` to a public function: a tensor, or a tuple of tensors for several results.

    ``@with_out`` uses the default rule, ``@with_out(EXACT)`` another; a tuple has a rule for each result, a ``RuleOf``
    one for each call.
    """
    return (lambda fn: _with_out(fn, rule)) if isinstance(rule, (Rule, RuleOf, tuple)) else _with_out(rule, None)


def _with_out(fn: Any, rule: Rules) -> Any:
    if rule is not None:
        fn.out_rule = rule
    return with_keywords(
        fn, lambda args, out, kwargs: fn(*args, **kwargs) if out is None else write_out(out, fn, args, kwargs)
    )


def with_keywords(fn: Any, otherwise: Any) -> Any:
    """A function like ``fn`` that also accepts ``out=``, NumPy's ``axis=`` and ``keepdims=``, and other keywords.

    Without them it calls ``fn`` by position, which is the fastest; else it calls ``otherwise(args, out, kwargs)`` with
    the arguments unchanged, but for NumPy's names.
    """
    code = fn.__code__
    if code.co_flags & inspect.CO_VARARGS:

        def form(*args: Any, out: Any = None, **kwargs: Any) -> Any:
            return fn(*args) if out is None and not kwargs else otherwise(args, out, kwargs)

        return functools.wraps(fn)(form)
    names = code.co_varnames[: code.co_argcount]
    defaults = fn.__defaults__ or ()
    first = len(names) - len(defaults)
    absent = names.index("dim") if "dim" in names[:first] else first  # from here on ``axis=`` may stand for the rest
    defaults = (REQUIRED,) * (first - absent) + defaults
    flags = [name for name, annotation in fn.__annotations__.items() if annotation == "bool"]

    def shape() -> Shape:
        slots = ", ".join([f"p{k}" for k in range(len(names))])
        check = f" and p{first - 1} is not REQUIRED" * (absent < first)
        check += "".join([f" and (p{k} is False or p{k} is True)" for k, name in enumerate(names) if name in flags])
        return Shape("form", _FORM, f"{slots}{_BY_NAME}", {"names": slots, "check": check})

    def rest(args: tuple[Any, ...], out: Any, kwargs: dict[str, Any]) -> Any:
        if any(a is REQUIRED for a in args) or not kwargs.keys().isdisjoint(NUMPY_NAMES):
            args, kwargs = _respelled(fn, names, args, defaults, kwargs)
        if flags:
            _check_flags(fn, flags, dict(zip(names, args, strict=True)) | kwargs)
        for value in reversed(defaults):
            if args[-1] is not value:
                break
            args = args[:-1]
        return otherwise(args, out, kwargs)

    def scope() -> dict[str, Any]:
        return {"otherwise": fn, "rest": rest, "refused": _refused, "REQUIRED": REQUIRED, "Exception": Exception}

    return functools.wraps(fn)(FirstCall(code.co_name, shape, scope, f"{', '.join(names)}{_BY_NAME}", defaults).fn)


def _refused(*args: Any) -> None:
    from .argument_errors import refuse  # not needed before an error

    refuse(*args)


def with_axis(fn: Any) -> Any:
    """Decorator that adds NumPy's ``axis=`` and ``keepdims=`` to a public function that has no ``with_out``."""

    def otherwise(args: tuple[Any, ...], out: Any, kwargs: dict[str, Any]) -> Any:
        return fn(*args, **kwargs) if out is None else fn(*args, out=out, **kwargs)

    return with_keywords(fn, otherwise)


def _check_flags(fn: Any, flags: list[str], given: dict[str, Any]) -> None:
    """Refuse a value of a bool argument that is no bool: its truth may not be what was meant."""
    for name in flags:
        if type(given.get(name, True)) is not bool:
            raise not_a_bool(fn.__name__, name, given[name])


def _respelled(
    fn: Any, names: tuple[str, ...], args: tuple[Any, ...], defaults: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """The arguments with ``axis`` and ``keepdims`` in the places of ``dim`` and ``keepdim``."""
    values = list(args)
    usual = (None,) * (len(names) - len(defaults)) + defaults
    for key, name in NUMPY_NAMES.items():
        if key in kwargs and name in names:
            place = names.index(name)
            if values[place] is not usual[place]:
                raise TypeError(f"{fn.__name__}() got multiple values for argument '{name}'")
            values[place] = kwargs[key]
            kwargs = {k: v for k, v in kwargs.items() if k != key}
    if any(value is REQUIRED for value in values):
        raise not_given(fn.__name__, names, values)
    return tuple(values), kwargs


_BY_NAME = ", *, out=None, **kwargs"
_FORM = """
try:
    if out is None and not kwargs{check}:
        return otherwise({names})
    return rest(({names},), out, kwargs)
except Exception as error:
    refused(otherwise, ({names},), kwargs, error)
    raise
"""
