"""The note that an error gets in a module: the name of the innermost layer that failed, and what it was given.

Nothing is recorded for it: the last handler of ``Module.__call__`` runs when an error leaves a call. The innermost
module adds the note, and each module around it replaces it by one with a longer name.
"""

from __future__ import annotations

import ast
import contextlib
import sys
from typing import Any

from ..._base.errors import INTERNAL
from ..._base.places import text_of
from ..._base.tracebacks import shorten
from ..._tape.tensor import Tensor


class LayerNote(str):
    """``In: net.head = Linear(...), which got [5, 8]``, and the module that it is about."""

    __slots__ = ("layer", "rest")
    layer: Any
    rest: str


def leave(frame: Any) -> Any:
    """The last handler of ``Module.__call__``."""
    error = sys.exception()
    if isinstance(error, Exception):
        with contextlib.suppress(Exception):  # a user's extra_repr or modules() must not hide the error itself
            _name_layer(error, frame)
    return shorten(frame)


def _name_layer(error: Exception, frame: Any) -> None:
    outer = frame.f_locals["self"]
    notes = getattr(error, "__notes__", [])
    place = next((k for k, note in enumerate(notes) if type(note) is LayerNote), None)
    if place is None:
        error.add_note("")  # makes the list
        error.__notes__.pop()
        error.__notes__.insert(0, _note(outer, _described(outer, frame.f_locals), _called(frame.f_back)))
    else:
        old = notes[place]
        path = next((name for name, module in outer.named_modules() if module is old.layer), "")
        if path:
            name = f"{_called(frame.f_back) or type(outer).__name__}.{path}"
            notes[place] = _note(old.layer, old.rest, name)


def _note(layer: Any, rest: str, name: str) -> LayerNote:
    note = LayerNote(f"In: {name} = {rest}" if name else f"In: {rest}")
    note.layer, note.rest = layer, rest
    return note


def _described(layer: Any, values: dict[str, Any]) -> str:
    """``Linear(in_features=9, out_features=2, bias=True), which got [5, 8]``."""
    extra = "" if layer._modules else layer.extra_repr()
    given = [*map(_shape, values["args"]), *(f"{name}={_shape(value)}" for name, value in values["kwargs"].items())]
    return f"{layer._get_name()}({extra if len(extra) < 120 else '...'}), which got {', '.join(given) or 'nothing'}"


def _shape(value: Any) -> str:
    if not isinstance(value, Tensor):
        return type(value).__name__
    kind = str(value.dtype).removeprefix("torch.")
    return str(list(value.shape)) + ("" if kind == "float32" else f" ({kind})")


def _called(frame: Any) -> str:
    """What a program calls a module: ``net`` where it says ``net(x)``, "" if its text is unknown."""
    if frame is None or INTERNAL[frame.f_code.co_filename]:
        return ""
    try:
        call = ast.parse(text_of(frame.f_code, frame.f_lasti).strip(), mode="eval").body
    except SyntaxError:
        return ""
    name = ast.unparse(call.func) if isinstance(call, ast.Call) else ""
    return name if all(part.isidentifier() for part in name.split(".")) else ""
