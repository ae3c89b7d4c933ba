"""Short tracebacks: a refused call shows the program's lines and one frame of this package.

NOTE [ Where a traceback is cut ]
    A frame is put into a traceback when an error leaves it, so only code that runs after that can take it out. The
    functions that a program calls therefore have a last handler, which drops the frames below its own and raises the
    same error on. The handler is not in the functions' text: ``with_handler`` appends it to their code objects, and the
    table of exceptions leads to it from wherever no ``try`` of the function does. A call that does not fail runs the
    same instructions as before.

    The handler acts where the caller is no function of this package. Kept are the program's own frames (hooks, custom
    functions, layers), and all frames if NumPy or Python raised the error: then the package did not foresee it, and a
    report of the bug needs them. The frame that is left is hidden by pytest (``__tracebackhide__``) and dropped in
    notebooks (``_base.notebooks``). ``WENGERT_TRACEBACK=full`` keeps every frame.
"""

from __future__ import annotations

import inspect
import opcode
import os
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

from .errors import INTERNAL

F = TypeVar("F")
RAISES = frozenset(opcode.opmap[name] for name in ("RAISE_VARARGS", "RERAISE") if name in opcode.opmap)


# ---- cutting
def shorten(frame: Any) -> None:
    """Cut the traceback of the error that is leaving a function's frame, if the program called the function."""
    error = sys.exception()
    caller = frame.f_back
    if not isinstance(error, Exception) or (caller is not None and INTERNAL[caller.f_code.co_filename]):
        return
    if os.environ.get("WENGERT_TRACEBACK") == "full":
        return
    hide_context(error)
    first = error.__traceback__
    if first is None or first.tb_frame is not frame:
        return
    users, last, tb = [], first, first.tb_next
    while tb is not None:
        last = tb
        if not _is_ours(tb):
            users.append(tb)
        tb = tb.tb_next
    if users:
        entry = first
        for user in users:
            entry.tb_next = user
            entry = user
    elif was_raised(last):
        first.tb_next = None
    else:
        return
    frame.f_locals["__tracebackhide__"] = True
    if "IPython" in sys.modules:
        from .notebooks import without_our_frames

        without_our_frames(error)


def hide_context(error: BaseException) -> None:
    """Do not show the error that this package was handling when it raised ``error``; one of the program stays."""
    context = error.__context__
    if context is not None and error.__cause__ is None:
        tb = context.__traceback__
        if tb is None or INTERNAL[tb.tb_frame.f_code.co_filename]:
            error.__suppress_context__ = True


def _is_ours(tb: types.TracebackType) -> bool:
    """Whether an entry is one of this package or of a library that it calls."""
    filename = tb.tb_frame.f_code.co_filename
    return INTERNAL[filename] or is_of_library(filename)


def is_of_library(filename: str) -> bool:
    """Whether a file is one of NumPy or SciPy."""
    for name in ("numpy", "scipy"):
        module = sys.modules.get(name)
        if module is not None and filename.startswith(os.path.dirname(module.__file__ or "/") + os.sep):
            return True
    return False


def was_raised(tb: types.TracebackType) -> bool:
    """Whether an entry's instruction is a ``raise`` of this package, so that the error is one that it foresees."""
    code = tb.tb_frame.f_code
    return INTERNAL[code.co_filename] and code.co_code[tb.tb_lasti] in RAISES


# ---- the handler
class Exit:
    """The constant of a handler: ``-constant`` is a call that needs no name, local variable or cache."""

    def __init__(self, run: Callable[[Any], None]) -> None:
        self.run = run

    def __neg__(self) -> None:
        self.run(sys._getframe(1))


_SHORTEN = Exit(shorten)
_NAMES = ("PUSH_EXC_INFO", "LOAD_CONST", "UNARY_NEGATIVE", "POP_TOP", "RERAISE", "COPY", "POP_EXCEPT", "EXTENDED_ARG")
_KNOWN = all(name in opcode.opmap for name in _NAMES) and sys.version_info < (3, 15)
_NO_HANDLER = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_STACK = 5  # what the handler needs


def shortens(fn: F) -> F:
    """Decorator for functions that programs call: their errors have short tracebacks."""
    if isinstance(fn, types.FunctionType):
        fn.__code__ = with_handler(fn.__code__)
    return fn


def shortens_methods(cls: F) -> F:
    """``shortens`` for a class's own methods and the getters and setters of its properties."""
    for member in list(vars(cls).values()):
        for fn in (member.fget, member.fset) if isinstance(member, property) else (member,):
            shortens(getattr(fn, "__func__", fn))
    return cls


def with_handler(code: types.CodeType, leaving: Exit = _SHORTEN) -> types.CodeType:
    """The code with the last handler; the same code if it has one or can have none."""
    if not _KNOWN or code.co_flags & _NO_HANDLER or (code.co_consts and type(code.co_consts[-1]) is Exit):
        return code
    begin, added = len(code.co_code) // 2, _handler(len(code.co_consts))
    units = len(added) // 2
    cleanup = begin + units - 3
    table = [*_filled(_entries(code.co_exceptiontable), begin), _Entry(begin, cleanup - begin, cleanup, 2, True)]
    lines = bytes(0x80 | 15 << 3 | min(units - k, 8) - 1 for k in range(0, units, 8))  # instructions without a line
    return code.replace(
        co_code=code.co_code + added,
        co_consts=(*code.co_consts, leaving),
        co_exceptiontable=b"".join(map(_encoded, table)),
        co_linetable=code.co_linetable + lines,
        co_stacksize=max(code.co_stacksize, _STACK),
    )


def _handler(constant: int) -> bytes:
    """``except: -constant; raise``, and the end of an ``except`` clause that is left by an error, as compiled."""
    steps: list[tuple[str, int]] = [("PUSH_EXC_INFO", 0)]
    steps += [("EXTENDED_ARG", constant >> 8)] * (constant > 255)
    steps += [("LOAD_CONST", constant & 255), ("UNARY_NEGATIVE", 0), ("POP_TOP", 0), ("RERAISE", 2)]
    steps += [("COPY", 3), ("POP_EXCEPT", 0), ("RERAISE", 1)]
    return bytes(part for name, arg in steps for part in (opcode.opmap[name], arg))


class _Entry(NamedTuple):
    """A row of a table of exceptions, in instructions: where its ``try`` is and where the handler is."""

    start: int
    length: int
    target: int
    depth: int  # of the stack that the handler finds
    lasti: bool  # whether the place of the error is put onto it


def _entries(table: bytes) -> Iterator[_Entry]:
    """The rows of a table: numbers in base 64, bit 64 set if more digits follow."""
    numbers: list[int] = []
    value = 0
    for byte in table:
        value = value << 6 | byte & 63
        if not byte & 64:
            numbers.append(value)
            value = 0
        if len(numbers) == 4:
            start, length, target, rest = numbers
            yield _Entry(start, length, target, rest >> 1, bool(rest & 1))
            numbers = []


def _filled(entries: Iterator[_Entry], end: int) -> Iterator[_Entry]:
    """The rows of a function of ``end`` instructions, with rows between them that lead to its last handler."""
    place = 0
    for entry in entries:
        if entry.start > place:
            yield _Entry(place, entry.start - place, end, 0, True)
        yield entry
        place = entry.start + entry.length
    if place < end:
        yield _Entry(place, end - place, end, 0, True)


def _encoded(entry: _Entry) -> bytes:
    out = bytearray()
    for number in (entry.start, entry.length, entry.target, entry.depth << 1 | entry.lasti):
        digits = [number & 63]
        while number := number >> 6:
            digits.append(number & 63 | 64)
        out += bytes(reversed(digits))
        if len(out) == len(digits):
            out[0] |= 128  # marks the first number of a row
    return bytes(out)
