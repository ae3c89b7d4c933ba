"""How the program called a function, read from its instructions when an error is raised.

PyTorch's parser knows a call as it was written: it names the function by the name that was called, counts arguments
from the first that a method is given, and names no position of an argument that was given by keyword. A function of
this package does not see that: its arguments have the same places however they were given, and several names share it.
"""

from __future__ import annotations

import dis
import functools
import inspect
import sys
import types
from bisect import bisect_right
from operator import attrgetter
from typing import Any, NamedTuple


class Call(NamedTuple):
    """A call as it is written in the program."""

    name: str  # behind the last dot; "" if there is none
    owner: Any  # the module or class before the dot; None if it is something else
    positional: int | None  # the number of the arguments by position; None if they are not written out
    keywords: tuple[str, ...]


def call_of(frame: Any) -> Call | None:
    """The call that a frame is making; ``None`` if it makes another one, or its keywords are not known."""
    instructions = _instructions(frame.f_code)
    before = instructions[: bisect_right(instructions, frame.f_lasti, key=_OFFSET)]  # it may be at a cache
    call = before.pop()
    if call.opname == "CALL_FUNCTION_EX":
        return _unpacking(frame, before, call.arg)
    if call.opname not in ("CALL", "CALL_KW"):
        return None
    count = call.arg or 0
    keywords: tuple[str, ...] = ()
    at = len(before)
    if call.opname == "CALL_KW":  # from Python 3.13 on: the names lie on the stack
        at -= 1
        keywords = before[at].argval
    while at and before[at - 1].opname in ("PRECALL", "KW_NAMES"):
        at -= 1
        if before[at].opname == "KW_NAMES":
            keywords = frame.f_code.co_consts[before[at].arg]
    function = _below(before, at, count)
    return None if function is None else Call(*_called(frame, function), count - len(keywords), keywords)


def _unpacking(frame: Any, before: list[dis.Instruction], flags: int | None) -> Call | None:
    """A call with ``*`` or ``**``, if it has no keywords but those of one dict that has a name."""
    keywords: tuple[str, ...] = ()
    last = before[-1].opname
    if last == "DICT_MERGE":
        named = _value(frame, before[:-1])
        if type(named) is not dict:
            return None
        keywords = tuple(named)
    elif flags:
        return None
    function = _below(before, len(before), 1 + (last in ("DICT_MERGE", "PUSH_NULL")))
    return None if function is None else Call(*_called(frame, function), None, keywords)


def _below(before: list[dis.Instruction], at: int, count: int) -> list[dis.Instruction] | None:
    """The instructions that leave below ``count`` values on the stack what is called with them."""
    while count > 0 and at:
        at -= 1
        if before[at].opcode in dis.hasjrel or before[at].opcode in dis.hasjabs:
            return None
        count -= dis.stack_effect(before[at].opcode, before[at].arg)
    while at and before[at - 1].opname == "PUSH_NULL":
        at -= 1
    return before[:at]


_OFFSET = attrgetter("offset")


@functools.lru_cache(64)
def _instructions(code: types.CodeType) -> list[dis.Instruction]:
    return list(dis.get_instructions(code))


def _called(frame: Any, loads: list[dis.Instruction]) -> tuple[str, Any]:
    """The name behind the last dot of what the last of these instructions loads, and the module or class before it."""
    if loads and loads[-1].opname in ("LOAD_ATTR", "LOAD_METHOD"):
        owner = _value(frame, loads[:-1])
        return loads[-1].argval, owner if isinstance(owner, (types.ModuleType, type)) else None
    return "", None


def _value(frame: Any, loads: list[dis.Instruction]) -> Any:
    """What the last of these instructions loads: a variable, or something of a module or class; else ``None``.

    Nor is a local variable read where ``f_locals`` is a copy of all of them (until Python 3.12), which the frame would
    keep: the program's tensors would live on.
    """
    if not loads:
        return None
    kind, name = loads[-1].opname, loads[-1].argval
    if kind == "LOAD_GLOBAL":
        return frame.f_globals.get(name)
    if kind.startswith(("LOAD_NAME", "LOAD_FAST", "LOAD_DEREF")) and isinstance(name, str):
        copied = frame.f_code.co_flags & inspect.CO_OPTIMIZED and sys.version_info < (3, 13)
        return None if copied else frame.f_locals.get(name, frame.f_globals.get(name))
    if kind in ("LOAD_ATTR", "LOAD_METHOD"):
        owner = _value(frame, loads[:-1])
        return getattr(owner, name, None) if isinstance(owner, (types.ModuleType, type)) else None
    return None
