"""How the program called a function, read from its instructions when an error is raised, and what errors say of it.

PyTorch's parser knows a call as it was written: it names the function by the name that was called, counts arguments
from the first that a method is given, and names no position of an argument that was given by keyword. A function of
this package does not see that: its arguments have the same places however they were given, and several names share it.
"""

from __future__ import annotations

import dis
import functools
import re
import types
from typing import Any, NamedTuple

from .errors import INTERNAL


class Call(NamedTuple):
    """A call as it is written in the program."""

    name: str  # behind the last dot; "" if there is none
    space: str | None  # the module before the dot, of this package: "" or "linalg"; None for what is none
    method: bool  # the first argument stands before the dot
    keywords: tuple[str, ...]


def call_of(frame: Any) -> Call | None:
    """The call that a frame is making; ``None`` if it makes another one, or its arguments are not written out."""
    before = [one for one in _instructions(frame.f_code) if one.offset <= frame.f_lasti]  # it may be at a cache
    call = before.pop()
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
    while count > 0 and at:  # back to what was called, over what its arguments leave on the stack
        at -= 1
        if before[at].opcode in dis.hasjrel or before[at].opcode in dis.hasjabs:
            return None
        count -= dis.stack_effect(before[at].opcode, before[at].arg)
    while at and before[at - 1].opname == "PUSH_NULL":
        at -= 1
    name, space, method = _called(frame, before[:at])
    return Call(name, space, method, keywords)


@functools.lru_cache(64)
def _instructions(code: types.CodeType) -> list[dis.Instruction]:
    return list(dis.get_instructions(code))


def _called(frame: Any, loads: list[dis.Instruction]) -> tuple[str, str | None, bool]:
    """The name, the space and whether it is a method, of what the last of these instructions loads."""
    names: list[str] = []
    for one in reversed(loads):
        if one.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            names.append(one.argval)
            continue
        if names and one.opname in ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FAST", "LOAD_DEREF"):
            owner = frame.f_locals.get(one.argval, frame.f_globals.get(one.argval))
            for name in reversed(names[1:]):
                owner = getattr(owner, name, None) if isinstance(owner, types.ModuleType) else None
            if isinstance(owner, types.ModuleType):
                inside = INTERNAL[getattr(owner, "__file__", None) or ""]
                return names[0], owner.__name__.partition(".")[2] if inside else None, False
        break
    return (names[0], None, True) if names else ("", None, False)


_ARGUMENT = re.compile(r"(\w+)\(\): argument '(\w+)'(?: \(position (\d+)\))? must be ")
_SPACES = {"": "", "linalg": "linalg_", "fft": "fft_", "special": "special_"}
# functions that PyTorch wrote in Python: their errors are those of what they call
_IN_PYTHON = frozenset((
    "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors", "cartesian_prod",
    "cdist", "chain_matmul", "einsum", "istft", "lu", "meshgrid", "norm", "pca_lowrank", "split", "stft", "svd_lowrank",
    "tensordot", "unique", "unique_consecutive", "unravel_index",
))  # fmt: skip


def reword(error: TypeError, frame: Any, caller: Any) -> None:
    """Let an error of a function's argument name the function and count the argument as the program called it.

    ``frame`` is the function's, where the first argument counts, ``caller`` the program's.
    """
    text = error.args[0] if error.args else ""
    found = _ARGUMENT.match(text) if isinstance(text, str) else None
    call = call_of(caller) if found else None
    if found is None or call is None or call.name in _IN_PYTHON:
        return
    name, argument, position = found[1], found[2], found[3]
    if call.method:
        name = call.name
    elif call.space in _SPACES:
        name = _SPACES[call.space] + call.name
    place = ""
    if argument not in call.keywords and position is not None:
        code = frame.f_code
        names = code.co_varnames[: code.co_argcount]
        counted = names.index(argument) + 1 - call.method if argument in names else int(position)
        place = f" (position {counted})"
    error.args = (f"{name}(): argument '{argument}'{place} must be {text[found.end() :]}", *error.args[1:])
