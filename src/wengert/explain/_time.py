"""``time``: where a training step spends its time, by line of the program."""

from __future__ import annotations

import sys
import sysconfig
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from time import perf_counter
from typing import Any

from .._base.errors import INTERNAL
from .._tape import engine
from ._facts import Answer, Line, line_at, line_of

Key = tuple[str, int]


@cache
def _by_user(file: str) -> bool:
    """Whether a file is the user's: no part of this package, of Python's library or of an installed package."""
    installed = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    made = file.startswith("<") and not file.startswith(("<stdin>", "<doctest", "<console>"))
    return not (made or INTERNAL[file] or file.startswith(tuple(installed)))


class _Lines:
    """Charges the time between two events to the line of the program that runs, what the library does to its caller."""

    def __init__(self) -> None:
        self.forward: dict[Key, float] = defaultdict(float)
        self.backward: dict[Key, float] = defaultdict(float)
        self.lines: dict[Key, Line] = {}
        self.stack: list[Key] = []
        self.last = 0.0
        self.taken = 0.0  # by backward steps since the last event

    def charge(self) -> None:
        now = perf_counter()
        if self.stack:
            self.forward[self.stack[-1]] += now - self.last - self.taken
        self.taken = 0.0
        self.last = perf_counter()

    def trace(self, frame: Any, event: str, arg: Any) -> Any:
        """For ``sys.settrace``: follows the program's frames, not the library's."""
        if not _by_user(frame.f_code.co_filename):
            return None
        self.charge()
        self.stack.append(self.key(frame))
        return self.inside

    def inside(self, frame: Any, event: str, arg: Any) -> Any:
        self.charge()
        if event == "line":
            self.stack[-1] = self.key(frame)
        elif event == "return":
            self.stack.pop()
        return self.inside

    def key(self, frame: Any) -> Key:
        key = (frame.f_code.co_filename, frame.f_lineno)
        if key not in self.lines:
            self.lines[key] = line_at(frame.f_code, frame.f_lineno)
        return key

    def step(self, node: Any, g: Any, step: Callable[[], Any]) -> Any:
        """For ``engine.observers``: a backward step is charged to the line that made its node."""
        begun = perf_counter()
        line = line_of(node)
        started = perf_counter()
        try:
            return step()
        finally:
            ended = perf_counter()
            if line is not None:
                key = (line.file, line.number)
                self.lines.setdefault(key, line)
                self.backward[key] += ended - started
                self.taken += perf_counter() - begun


def time(step: Callable[[], Any], calls: int = 10, rows: int = 12) -> Answer:
    """The time of ``calls`` runs of ``step()`` by line of the program, forward and backward.

    The backward time stands at the line whose operations the backward steps belong to. The program is traced meanwhile:
    lines that take microseconds are shown with what the tracing costs.

    >>> import wengert as torch
    >>> from wengert import explain
    >>> w = torch.ones(10, requires_grad=True)
    >>> answer = explain.time(lambda: (w * w).sum().backward(), calls=2)
    >>> answer.text.splitlines()[0].startswith("2 calls, ")
    True
    """
    step()  # what is made on first use is no part of a step
    lines = _Lines()
    before = sys.gettrace()
    engine.observers.append(lines.step)
    begun = perf_counter()
    sys.settrace(lines.trace)
    try:
        for _ in range(calls):
            step()
    finally:
        sys.settrace(before)
        engine.observers.remove(lines.step)
    spent = (perf_counter() - begun) / calls
    return _table(lines, calls, rows, spent)


def _table(lines: _Lines, calls: int, rows: int, spent: float) -> Answer:
    keys = {*lines.forward, *lines.backward}
    total = sum(lines.forward[k] + lines.backward[k] for k in keys) or 1.0
    ordered = sorted(keys, key=lambda k: -lines.forward[k] - lines.backward[k])[:rows]
    texts = [f"{calls} calls, {_milliseconds(spent)} each"]
    texts.append(f"  {'forward':>10} {'backward':>10} {'of all':>7}   line")
    for key in ordered:
        forward, backward = lines.forward[key] / calls, lines.backward[key] / calls
        share = (lines.forward[key] + lines.backward[key]) / total
        ran = _milliseconds(backward) if backward else ""
        texts.append(f"  {_milliseconds(forward):>10} {ran:>10} {share:>6.0%}   {lines.lines[key].shown('')}")
    return Answer(*texts)


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f} us"
