"""Places in programs as text: file and line, or cell of a notebook, the line itself and marks below the part that ran.

Imported when an error is raised. A place is a pair (code object, offset of an instruction).
"""

from __future__ import annotations

import ast
import functools
import itertools
import linecache
import sys
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

MOST_LINES = 6  # of a statement that goes over several lines
MOST_HISTORY = 200  # lines of an interactive session that are searched


class Span(NamedTuple):
    """A part of a program's text; the columns are in bytes, 0 and -1 if unknown."""

    line: int
    end_line: int
    column: int
    end_column: int


def span(code: types.CodeType, lasti: int) -> Span:
    """The part of the program that an instruction was compiled from."""
    at: tuple[int | None, ...] = (code.co_firstlineno, None, 0, None)
    for place in itertools.islice(code.co_positions(), lasti // 2 + 1):
        if place[0] is not None:
            at = place
    first, last, column, end = at
    return Span(first or 0, last or first or 0, column or 0, -1 if end is None else end)


def text_of(code: types.CodeType, lasti: int) -> str:
    """The text of the expression at a place, "" if it is unknown."""
    at = span(code, lasti)
    lines = [_source(code, number).encode() for number in range(at.line, at.end_line + 1)]
    if at.end_column < 0 or not all(lines):
        return ""
    lines[-1] = lines[-1][: at.end_column]
    lines[0] = lines[0][at.column :]
    return b"".join(lines).decode(errors="replace")


def loop_around(code: types.CodeType, lasti: int) -> int | None:
    """The line of the innermost loop around a place in its function; None if there is none or the text is unknown."""
    line = span(code, lasti).line
    loops = _loops("".join(linecache.getlines(code.co_filename)))
    return max((first for first, last in loops if code.co_firstlineno <= first <= line <= last), default=None)


@functools.lru_cache(4)
def _loops(text: str) -> list[tuple[int, int]]:
    """The first and last lines of the loops of a program."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    kinds = (ast.For, ast.AsyncFor, ast.While)
    return [(node.lineno, node.end_lineno or 0) for node in ast.walk(tree) if isinstance(node, kinds)]


def place(code: types.CodeType, lasti: int) -> str:
    """``File "x.py", line 3, in f`` or ``Cell In[7], line 3``, with the line below it."""
    at = span(code, lasti)
    in_notebook = cell(code.co_filename)
    inside = "" if in_notebook and code.co_name.startswith("<") else f", in {code.co_name}"
    name = in_notebook or f'File "{code.co_filename}"'
    head = f"{name}, line {at.line}{inside}"
    return "\n".join([head, *_shown(code, at)])


def cell(filename: str) -> str:
    """``Cell In[7]`` for a file that stands for a cell of a notebook, else ""."""
    if "IPython" not in sys.modules:
        return ""
    from .notebooks import shell

    try:
        words = shell().compile.format_code_name(filename)
    except Exception:  # noqa: BLE001  no shell, or one of another make
        return ""
    return " ".join(words) if words else ""


def _shown(code: types.CodeType, at: Span) -> Iterator[str]:
    """The lines of a place, indented by four, with ``^^^`` below the part if it is not all of them."""
    numbers = range(at.line, min(at.end_line, at.line + MOST_LINES - 1) + 1)
    lines = [_source(code, number).rstrip() for number in numbers]
    if not any(lines):
        return
    margin = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    for number, line in zip(numbers, lines, strict=True):
        yield "    " + line[margin:]
        indent = len(line) - len(line.lstrip())
        first = _columns(line, at.column) if number == at.line else indent
        last = _columns(line, at.end_column) if number == at.end_line else len(line)
        part = line[first:last]
        if at.end_column >= 0 and part and (at.end_line > at.line or part.strip() != line.strip()):
            yield " " * (4 + _width(line[margin:first])) + "^" * _width(part)


def _columns(line: str, in_bytes: int) -> int:
    return len(line.encode()[:in_bytes].decode(errors="replace"))


def _width(text: str) -> int:
    """Columns on a screen, where characters of East Asia are two wide."""
    import unicodedata  # not needed before a line is shown

    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _source(code: types.CodeType, number: int) -> str:
    """A line of the file of a code object."""
    if code.co_filename == "<stdin>":
        lines = _typed(code)
        return lines[number - 1] + "\n" if 0 < number <= len(lines) else ""
    return linecache.getline(code.co_filename, number)


# ---- interactive sessions
def _typed(code: types.CodeType) -> list[str]:
    """The lines that were typed for a code object: those of the history that compile to it."""
    readline: Any = sys.modules.get("readline")
    if readline is None:
        return []
    count = readline.get_current_history_length()
    lines = [readline.get_history_item(k) or "" for k in range(max(1, count - MOST_HISTORY), count + 1)]
    for start in reversed(range(len(lines))):
        for stop in range(start + 1, len(lines) + 1):
            compiled = _compiled("\n".join(lines[start:stop]) + "\n")
            if compiled is not None and any(_same(code, part) for part in _parts(compiled)):
                return lines[start:stop]
            if not _goes_on(lines, stop, compiled):
                break
    return []


def _compiled(typed: str) -> types.CodeType | None:
    try:
        return compile(typed, "<stdin>", "single", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None


def _goes_on(lines: list[str], stop: int, compiled: types.CodeType | None) -> bool:
    """Whether the statement may have more lines than those before ``stop``."""
    if compiled is None:  # an open bracket or a block without a body
        return lines[stop - 1].rstrip().endswith((":", "(", "[", "{", "\\", ",")) or lines[stop - 1][:1] in " \t@"
    return stop < len(lines) and lines[stop].startswith((" ", "\t", "else", "elif", "except", "finally"))


def _parts(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _parts(constant)


def _same(one: types.CodeType, other: types.CodeType) -> bool:
    return (one.co_code, one.co_names, one.co_linetable, one.co_name) == (
        other.co_code, other.co_names, other.co_linetable, other.co_name,
    ) and [c for c in one.co_consts if not isinstance(c, types.CodeType)] == [
        c for c in other.co_consts if not isinstance(c, types.CodeType)
    ]  # fmt: skip
