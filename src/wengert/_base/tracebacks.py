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
import re
import sys
import types
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from .errors import INTERNAL, of_memory
from .hooks import hook

F = TypeVar("F")
RAISES = frozenset(opcode.opmap[name] for name in ("RAISE_VARARGS", "RERAISE") if name in opcode.opmap)


# ---- cutting
@hook
def parsed(error: Exception, frame: Any) -> Exception | None:
    """What PyTorch's parser says of the call that fails in a frame, in place of ``error``; ``None``: nothing."""


def shorten(frame: Any) -> Any:
    """The error to raise in place of the one that is leaving a function's frame, with a shorter traceback.

    That is done if the program called the function.
    """
    error = sys.exception()
    caller = frame.f_back
    if not isinstance(error, Exception) or (caller is not None and INTERNAL[caller.f_code.co_filename]):
        return error
    instead = of_memory(error) or parsed.run(error, frame)
    if instead is not None:
        error = instead.with_traceback(error.__traceback__)
    if os.environ.get("WENGERT_TRACEBACK") != "full":
        _cut(error, frame, instead is not None)
    return error


def _cut(error: Exception, frame: Any, foreseen: bool) -> None:
    """Leave of the traceback the frame, and those of the program below it; all of it if nobody foresaw the error."""
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
    elif foreseen or was_raised(last):
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
    """The constant of a handler: ``-constant`` is a call that needs no name, local variable or cache.

    ``run`` returns the error to raise.
    """

    def __init__(self, run: Callable[[Any], Any]) -> None:
        self.run = run

    def __neg__(self) -> Any:
        return self.run(sys._getframe(1))


_SHORTEN = Exit(shorten)
_NAMES = (
    "PUSH_EXC_INFO", "LOAD_CONST", "UNARY_NEGATIVE", "SWAP", "POP_TOP", "RERAISE", "COPY", "POP_EXCEPT", "EXTENDED_ARG",
)  # fmt: skip
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
    for member in [member for member in vars(cls).values() if type(member) in _METHODS]:
        if type(member) is property:
            shortens(member.fget)
            shortens(member.fset)
        else:
            shortens(getattr(member, "__func__", member))
    return cls


_METHODS = frozenset((types.FunctionType, staticmethod, classmethod, property))


def with_handler(code: types.CodeType, leaving: Exit = _SHORTEN) -> types.CodeType:
    """The code with the last handler; the same code if it has one or can have none."""
    if not _KNOWN or code.co_flags & _NO_HANDLER or _has_handler(code):
        return code
    consts, body = code.co_consts, code.co_code
    handler, lines = _handler(len(consts))
    begin = len(body) // 2
    cleanup = begin + len(handler) // 2 - 3
    return code.replace(
        co_code=body + handler,
        co_consts=(*consts, leaving),
        co_exceptiontable=_filled(code.co_exceptiontable, begin) + _row(begin, cleanup - begin, cleanup, 2),
        co_linetable=code.co_linetable + lines,
        co_stacksize=max(code.co_stacksize, _STACK),
    )


def _has_handler(code: types.CodeType) -> bool:
    return bool(code.co_consts) and isinstance(code.co_consts[-1], Exit)


class Rescue(Exit):
    """The constant of a handler that may return a result in place of the error: see ``with_rescue``."""

    def __neg__(self) -> Any:
        try:
            result = self.run(sys._getframe(1))
        except Exception as error:  # noqa: BLE001  it replaces the first one
            return _Raised(error)
        if result is None:
            raise LookupError
        return Exit(result)


class _Raised(NamedTuple):
    error: Exception

    def __neg__(self) -> None:
        raise self.error


_ONE, _TWO = (
    [opcode.opmap[name] for name in names if name in opcode.opmap]
    for names in (
        ("STORE_FAST", "DELETE_FAST", "STORE_DEREF", "DELETE_DEREF"),
        ("STORE_FAST_STORE_FAST", "STORE_FAST_LOAD_FAST"),  # since Python 3.13: two locals, of four bits each
    )
)
_PAIRS = re.compile(b"(?=([" + re.escape(bytes(_TWO)) + b"])(.))", re.DOTALL) if _TWO else None


def _rebound_locals(body: bytes, count: int) -> set[int]:
    """Which of the first locals instructions bind anew; two halves that look like such an instruction count too."""
    found = {local for local in range(count) for op in _ONE if bytes((op, local)) in body}
    for op, arg in _PAIRS.findall(body) if _PAIRS else ():
        found |= {arg[0] >> 4, arg[0] & 15} if op[0] == _TWO[0] else {arg[0] >> 4}
    return found


_KEEPS = [opcode.opmap[name] for name in ("LOAD_FAST", "STORE_FAST", "MAKE_CELL")]


STAR, STARS = inspect.CO_VARARGS, inspect.CO_VARKEYWORDS


def parameter_count(code: types.CodeType) -> int:
    """The number of a function's parameters, with ``*args`` and ``**kwargs``."""
    return code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & STAR) + bool(code.co_flags & STARS)


def lost(code: types.CodeType, values: dict[str, Any]) -> bool:
    """Whether a function assigns one of its parameters and does not keep what the caller gave."""
    return any("." + name not in values for name in _rebound(code))


@lru_cache(256)
def _rebound(code: types.CodeType) -> tuple[str, ...]:
    """The parameters that a function assigns."""
    body, count = code.co_code, parameter_count(code)
    rebound = set().union(*[_rebound_locals(body[at : at + 2], count) for at in range(0, len(body), 2)])
    return tuple(name for k, name in enumerate(code.co_varnames[:count]) if k in rebound)


def arguments(code: types.CodeType, values: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call, from the local variables of its frame; see ``with_rescue`` for those named ``.x``."""
    names, first = code.co_varnames[: parameter_count(code)], code.co_argcount
    last = first + code.co_kwonlyargcount
    given = [values.get(f".{name}", values.get(name)) for name in names]
    args, kwargs = tuple(given[:first]), dict(zip(names[first:last], given[first:last], strict=True))
    if code.co_flags & STAR:
        args += given[last]
    return args, kwargs | given[-1] if code.co_flags & STARS else kwargs


def with_rescue(code: types.CodeType, run: Callable[[Any], Callable[[Any], Any] | None]) -> types.CodeType | None:
    """The code with a handler that runs ``run(frame)``, and what that returns, a function of a frame, in its place.

    If it returns ``None``, the handler of ``with_handler`` follows. The frame's locals hold the caller's arguments, of
    a parameter ``x`` that the function assigns under the name ``.x``. ``None``: the function can have no such handler.
    """
    if not _KNOWN or code.co_flags & _NO_HANDLER or len(code.co_consts) > 250 or _has_handler(code):
        return None
    body, names, cells = code.co_code, code.co_varnames, code.co_cellvars
    count = parameter_count(code)
    assigned = sorted(k for k in _rebound_locals(body, count) if k < count)
    keep = b""
    if assigned:
        if code.co_freevars:  # they are numbered after locals and cells
            return None
        kept, own = len({*names, *cells}), tuple(["." + names[k] for k in assigned])
        keep = b"".join([bytes((_KEEPS[0], k, _KEEPS[1], kept + j)) for j, k in enumerate(assigned)])
        if cells:  # they are numbered after the locals
            keep += b"".join([bytes((_KEEPS[2], kept + j)) for j in range(len(own))])
            cells += own
        else:
            names += own
    steps, body = len(keep) // 2, keep + body
    handler, no_lines = _rescue(len(code.co_consts))
    end = len(body) // 2
    return code.replace(
        co_code=body + handler,
        co_consts=(*code.co_consts, Rescue(run), _SHORTEN),
        co_exceptiontable=_filled(code.co_exceptiontable, end, steps) + _rescue_rows(end),
        co_linetable=_no_lines(steps) + code.co_linetable + no_lines,
        co_stacksize=max(code.co_stacksize, _STACK),
        co_varnames=names,
        co_cellvars=cells,
        co_nlocals=len(names),
    )


# ``except: raise -constant``, and the end of an ``except`` clause that is left by an error, as compiled.
_HANDLER = (
    ("PUSH_EXC_INFO", 0), ("LOAD_CONST", 255), ("UNARY_NEGATIVE", 0), ("SWAP", 2), ("POP_TOP", 0), ("RERAISE", 2),
    ("COPY", 3), ("POP_EXCEPT", 0), ("RERAISE", 1),
)  # fmt: skip  # the constants are numbered later
_RESCUE = (
    ("PUSH_EXC_INFO", 0), ("LOAD_CONST", 254), ("UNARY_NEGATIVE", 0),  # fails if there is nothing in place of the error
    ("SWAP", 2), ("POP_TOP", 0), ("SWAP", 2), ("POP_EXCEPT", 0), ("SWAP", 2), ("POP_TOP", 0),
    ("UNARY_NEGATIVE", 0), ("RETURN_VALUE", 0),
    ("POP_TOP", 0), *_HANDLER[1:6],  # nothing: the first error goes on
    *_HANDLER,  # what was run in its place has failed
)  # fmt: skip
_RESCUE_ROWS = ((2, 1, 11, 3, 0), (9, 2, 17, 0, 1), (11, 6, 23, 2, 1), (17, 6, 23, 2, 1))


@lru_cache(None)
def _rescue_rows(begin: int) -> bytes:
    """The rows of the table of exceptions for ``_RESCUE`` behind so many instructions."""
    rows = [_row(begin + at, count, begin + to, depth, lasti) for at, count, to, depth, lasti in _RESCUE_ROWS]
    return b"".join(rows)


@lru_cache(None)
def _assembled(steps: tuple[tuple[str, int], ...]) -> bytes:
    return bytes(part for name, arg in steps for part in (opcode.opmap[name], arg))


def _loading(constant: int) -> bytes:
    """The instructions that load a constant."""
    high = bytes((opcode.opmap["EXTENDED_ARG"], constant >> 8)) if constant > 255 else b""
    return high + bytes((opcode.opmap["LOAD_CONST"], constant & 255))


@lru_cache(None)
def _rescue(constant: int) -> tuple[bytes, bytes]:
    """``_RESCUE`` with this constant and the next, and its rows of the table of lines: its instructions have none."""
    body = _assembled(_RESCUE).replace(_loading(254), _loading(constant)).replace(_loading(255), _loading(constant + 1))
    return body, _no_lines(len(_RESCUE))


@lru_cache(None)
def _handler(constant: int) -> tuple[bytes, bytes]:
    """``_HANDLER`` with this constant, and its rows of the table of lines."""
    body = _assembled(_HANDLER).replace(_loading(255), _loading(constant))
    return body, _no_lines(len(body) // 2)


@lru_cache(None)
def _no_lines(units: int) -> bytes:
    """Rows of the table of lines for instructions that have none."""
    return bytes(0x80 | 15 << 3 | min(units - k, 8) - 1 for k in range(0, units, 8))


# A table of exceptions has rows of four numbers: where a ``try`` begins, its length, where its handler is, and twice
# the depth of the stack that the handler finds, plus one if the place of the error is put onto it. A number is written
# in base 64, with bit 64 set if more digits follow (zeros may lead); the first byte of a row has bit 128 set.
def _row(start: int, length: int, target: int, depth: int, lasti: int = 1) -> bytes:
    first = start >> 12 | 192, start >> 6 & 63 | 64, start & 63
    second = length >> 12 | 64, length >> 6 & 63 | 64, length & 63
    return bytes((*first, *second, target >> 12 | 64, target >> 6 & 63 | 64, target & 63, depth << 1 | lasti))


def _filled(table: bytes, end: int, moved: int = 0) -> bytes:
    """The table of a function of ``end`` instructions, with rows between its rows that lead to the last handler.

    ``moved``: how many of them are new, in front of the others.
    """
    if not table:
        return _row(0, end, end, 0)
    rows = []
    place = value = 0
    numbers: list[int] = []
    for byte in table:
        value = value << 6 | byte & 63
        if byte & 64:
            continue
        numbers.append(value)
        value = 0
        if len(numbers) == 4:
            start, length, target, depth = numbers
            numbers.clear()
            start += moved
            if start > place:
                rows.append(_row(place, start - place, end, 0))
            rows.append(_row(start, length, target + moved, depth >> 1, depth & 1))
            place = start + length
    if place < end:
        rows.append(_row(place, end - place, end, 0))
    return b"".join(rows)
