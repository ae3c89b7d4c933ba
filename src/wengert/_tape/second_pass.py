"""What to do about a second pass through a graph that was freed. Imported when one has failed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from .._base.errors import program_frame
from .._base.places import loop_around, span


def advice(n: Any, roots: list[Any]) -> str:
    """The advice for the node that failed: its line, and the loop around ``backward``, tell what was meant.

    A younger node of the same line in the graph is one of a later iteration: the old one came with what is carried.
    Returns "" if neither is the case.
    """
    if any((m._code, m._lasti) == (n._code, n._lasti) and m._seq > n._seq for m in _graph(roots)):
        return (
            "What to do: a tensor of the iteration before carries its history into this one: write h = h.detach() for "
            "it where an iteration begins (or .item() for a number)."
        )
    frame = program_frame(sys._getframe(1))
    loop = loop_around(frame.f_code, frame.f_lasti) if frame.f_code is n._code else None
    if loop is not None and span(n._code, n._lasti).line < loop:
        return (
            f"What to do: this line is before the loop of line {loop}, so its graph is made once and freed by the "
            "first pass: move it into the loop. (Or .detach() its result, if it needs no gradient from here.)"
        )
    return ""


def _graph(roots: list[Any]) -> Iterator[Any]:
    """The nodes that can be reached from ``roots``."""
    seen, waiting = set(roots), list(roots)
    while waiting:
        n = waiting.pop()
        yield n
        new = {m for m in n._edges() if m is not None} - seen
        seen |= new
        waiting += new
