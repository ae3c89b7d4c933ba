"""Templates without their flags, where ``_kinds.folded`` holds them; see tools/make_templates.py."""

from __future__ import annotations

import types
from typing import Any

from .folded import FOLDED

# The free variables of a template that only say what an operator needs.
FLAGS = frozenset(
    (
        "blocks", "both_x", "both_y", "by_shape", "check_dtype", "code_x", "code_y", "keep_number", "keep_result",
        "keep_self", "keep_shape", "view", "xx", "xy", "yx", "yy",
    )
)  # fmt: skip
_codes: dict[Any, types.CodeType] = {}


def folded(template: Any, **more: Any) -> Any:
    """The template of an operator as it is for the flags in its closure; the template itself if that was not made.

    ``more``: values of parameters that callers may not give: they are no parameters of what is returned.
    """
    code = template.__code__
    cells = dict(zip(code.co_freevars, template.__closure__, strict=True))
    flags = tuple([(name, cells[name].cell_contents) for name in code.co_freevars if name in FLAGS] + [*more.items()])
    key = (template.__module__, code.co_qualname, flags)
    short = _codes.get(key)
    if short is None:
        maker = FOLDED.get(key, template)
        if maker is template:
            return template
        _codes[key] = short = next(c for c in maker.__code__.co_consts if type(c) is types.CodeType)
    closure = tuple([cells[name] for name in short.co_freevars])
    copy = types.FunctionType(short, template.__globals__, template.__name__, template.__defaults__, closure)
    if not more:
        copy.__kwdefaults__ = template.__kwdefaults__
    return copy
