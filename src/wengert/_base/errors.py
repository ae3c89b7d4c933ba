"""Errors with notes: PyTorch's class and first sentence, then notes that say where, why and what to do.

The line of the user's program that made a node is stored as (code object, instruction offset), 0.1 us a node, and is
turned into text only when an error is raised.
"""

from __future__ import annotations

import inspect
import os
import sys
import warnings
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from .signatures import shown_with

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
E = TypeVar("E", bound=BaseException)


class _Internal(dict[str, bool]):
    """A dict from a file name to whether it belongs to this package, filled on a miss."""

    def __missing__(self, filename: str) -> bool:
        inside = self[filename] = filename.startswith(_PACKAGE)
        return inside


INTERNAL = _Internal()


user_code: Any = None  # the code object of the latest user's line: the next line mostly has the same one


def user_frame(frame: Any) -> Any:
    """The nearest calling frame outside this package (the outermost frame if all are inside)."""
    global user_code
    code = frame.f_code
    while INTERNAL[code.co_filename]:
        back = frame.f_back
        if back is None:
            return frame
        code = back.f_code
        if code is user_code:
            return back
        frame = back
    user_code = code
    return frame


_user_frame = user_frame


def program_frame(frame: Any) -> Any:
    """``user_frame`` for what makes no node: anomaly mode replaces that one, and watches ``user_code``."""
    global user_code
    code = user_code
    found = _user_frame(frame)
    user_code = code
    return found


def here() -> tuple[Any, int]:
    """The pair (code, offset) of the user's line that is running now."""
    frame = user_frame(sys._getframe(1))
    return frame.f_code, frame.f_lasti


def where(code: Any, lasti: int) -> str:
    """The position as text: ``File "x.py", line 3, in f`` and the line itself."""
    if code is None:
        return ""
    from .places import place

    return place(code, lasti)


class OtherLibraryError(TypeError):
    """One operator got tensors of two libraries: Python must not try the other operand's method, which tries ours."""


class LinAlgError(RuntimeError):
    """Raised if a matrix is singular or not positive-definite, or if an iteration did not converge."""


LinAlgError.__module__ = "torch._C"
LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"


def noted(error: E, *notes: str, code: str | None = None) -> E:
    """The error with notes added; ``code`` names its section in docs/errors.md."""
    for note in notes:
        if note:
            error.add_note(note)
    if code is not None:
        error.add_note(f"More: docs/errors.md, {code} (python -m wengert explain {code})")
    return error


def out_of_memory(size: int) -> RuntimeError:
    """PyTorch's error where ``size`` bytes cannot be had."""
    return RuntimeError(
        "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to "
        f"allocate {size} bytes. Error code 12 (Cannot allocate memory)"
    )


def of_memory(error: BaseException | None) -> RuntimeError | None:
    """PyTorch's error in place of NumPy's for an array that is too large; ``None`` for another error."""
    size = getattr(error, "_total_size", None) if isinstance(error, MemoryError) else None
    return None if size is None else out_of_memory(size)


def sizes_differ(a: Any, b: Any) -> str:
    """PyTorch's message for shapes that do not broadcast."""
    n = max(len(a), len(b))
    pa, pb = (1,) * (n - len(a)) + tuple(a), (1,) * (n - len(b)) + tuple(b)
    dim = max(d for d in range(n) if pa[d] != pb[d] and 1 not in (pa[d], pb[d]))
    return (
        f"The size of tensor a ({pa[dim]}) must match the size of tensor b ({pb[dim]}) at non-singleton dimension {dim}"
    )


def printable(text: str, most: int = 300) -> str:
    """The beginning of a text that a file holds, as it can be shown.

    A terminal obeys control characters, text that runs from right to left changes what stands beside it, and half of a
    surrogate pair cannot be written at all.

    >>> print(printable("a\\x1b[2Jb"))
    a\\x1b[2Jb
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text[:most])


def nearest(word: str, known: Iterable[str]) -> str:
    """The end of a message: ``; did you mean 'check'?`` if a known word is similar, else an empty string."""
    from difflib import get_close_matches

    found = get_close_matches(word, known, 1)
    return f"; did you mean '{found[0]}'?" if found else ""


def unexpected_keyword(function: str, word: str, known: Iterable[str], more: str = "") -> TypeError:
    """Python's error for a keyword that a function does not have, with a note that names the nearest one it has.

    >>> unexpected_keyword("zeros", "require_grad", ("dtype", "requires_grad")).__notes__
    ["What to do: did you mean 'requires_grad'?"]
    """
    near = nearest(word, known).removeprefix("; ")
    advice = f"What to do: {near}" if near else f"Why: its keywords are {', '.join(sorted(known))}."
    return noted(TypeError(f"{function}() got an unexpected keyword argument '{word}'"), advice, more)


@shown_with
def refuses_unknown(parameters: list[inspect.Parameter]) -> list[inspect.Parameter]:
    """Decorator for a function that takes unknown keywords as ``**unknown``, only to refuse them: its signature."""
    return [p for p in parameters if p.kind is not p.VAR_KEYWORD]


def refuse_unknown(fn: Any, function: str, unknown: dict[str, Any]) -> None:
    """Raise for the first keyword in ``unknown``, which a function with ``refuses_unknown`` was given."""
    known = [name for name in inspect.signature(fn).parameters if name not in ("self", "cls")]
    raise unexpected_keyword(function, next(iter(unknown)), known)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning that points at the user's line, however deep inside this package it is raised."""
    frame = program_frame(sys._getframe(1))
    warnings.warn_explicit(
        message,
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        frame.f_globals.get("__name__", "<string>"),
        frame.f_globals.setdefault("__warningregistry__", {}),
    )


def warn_once(message: str, category: type[Warning] = UserWarning, more: Callable[[], str] = str) -> None:
    """Issue a warning that the process shows once, like PyTorch's TORCH_WARN_ONCE; ``more()`` is added to its text."""
    if always or message not in warned:
        warned.add(message)
        warn(message + more(), category)


def warn_of_overload(name: str, old: str, new: str) -> None:
    """Warn of a call in an order of arguments that PyTorch has given up; the process shows the first such call only."""
    kept = f"\nConsider using one of the following signatures instead:\n\t{name}({new})"
    warn_once("This overload of ", more=lambda: f"{name} is deprecated:\n\t{name}({old}){kept}")


warned: set[str] = set()
always = False  # torch.set_warn_always


def no_stream(stream: Any) -> None:
    """Raise PyTorch's error for a stream that DLPack's consumer asks the CPU for; -1 is none."""
    if stream is not None and type(stream) is not int:
        raise TypeError("stream must be ``int`` or ``none``")
    if stream not in (None, -1):
        raise AssertionError("stream should be None on cpu.")
