"""``FileCheck``: checks that strings appear in a text in a given order, as LLVM's program of that name does."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["FileCheck"]

_LINE = re.compile(r"^\s*#\s*CHECK(-[A-Z]+)?(?:-(\d+)(-EXACTLY)?)?: ?(.*)$", re.MULTILINE)


class FileCheck:
    """Checks of a text, added by methods that can be chained, and made by ``run``.

    >>> from wengert.testing import FileCheck
    >>> FileCheck().check("first").check_not("second").check_next("third").run("first\\nthird\\n")
    >>> FileCheck().check_count("a", 2, exactly=True).run("a a a")
    Traceback (most recent call last):
    RuntimeError: Expected to not find "a" but found it
    ...
    """

    def __init__(self) -> None:
        self._checks: list[tuple[str, str, int]] = []

    def _add(self, kind: str, text: str, count: int = 1) -> FileCheck:
        self._checks.append((kind, text, count))
        return self

    def check(self, arg0: str) -> FileCheck:
        """The text appears after what the check before found."""
        return self._add("CHECK", arg0)

    def check_not(self, arg0: str) -> FileCheck:
        """The text does not appear between what the checks before and after find."""
        return self._add("CHECK-NOT", arg0)

    def check_same(self, arg0: str) -> FileCheck:
        """The text appears later in the same line."""
        return self._add("CHECK-SAME", arg0)

    def check_next(self, arg0: str) -> FileCheck:
        """The text appears in the next line."""
        return self._add("CHECK-NEXT", arg0)

    def check_count(self, str: str, count: int, exactly: bool = False) -> FileCheck:
        """The text appears this many times, and with ``exactly`` not again before what the next check finds."""
        self._add("CHECK-COUNT", str, count)
        return self.check_not(str) if exactly else self

    def check_dag(self, arg0: str) -> FileCheck:
        """The text appears; several such checks in a row may be met in any order."""
        return self._add("CHECK-DAG", arg0)

    def check_source_highlighted(self, arg0: str) -> FileCheck:
        """The text appears above a line that marks it with ``~``."""
        return self._add("CHECK-SOURCE-HIGHLIGHTED", arg0)

    def check_regex(self, arg0: str) -> FileCheck:
        """The regular expression has a match."""
        return self._add("CHECK-REGEX", arg0)

    def run(self, *texts: Any) -> None:
        """Make the checks on a text, or on ``str`` of a graph. A first of two arguments holds them as comments.

        Raises:
            RuntimeError: a check fails.
        """
        *written, text = texts
        checks = FileCheck()
        checks._checks += self._checks
        for found in _LINE.finditer(written[0] if written else ""):
            kind, count, exactly, wanted = found.groups()
            checks._add(f"CHECK{kind or ''}", wanted.strip(), int(count or 1))
            if exactly:
                checks.check_not(wanted.strip())
        if not checks._checks:
            raise RuntimeError("No checks have been added to this instance ofFilecheck! Check for bad input.")
        _Run(str(text)).all(checks._checks)


class _Run:
    """One run over a text: ``end`` is where the last match ended."""

    def __init__(self, text: str) -> None:
        self.text, self.start, self.end = text, 0, 0

    def all(self, checks: list[tuple[str, str, int]]) -> None:
        refused: list[str] = []
        i = 0
        while i < len(checks):
            kind, wanted, count = checks[i]
            if kind == "CHECK-NOT":
                refused.append(wanted)
                i += 1
                continue
            before = self.end
            if kind == "CHECK-DAG":
                ends = []
                while i < len(checks) and checks[i][0] == kind:
                    ends.append(self.find(checks[i][1], before, kind))
                    i += 1
                self.start, self.end = min(s for s, _ in ends), max(e for _, e in ends)
            else:
                for k in range(count):
                    found = self.find(wanted, self.end, f"{kind}-{count}" if kind == "CHECK-COUNT" else kind)
                    self.start, self.end = found if k == 0 else (self.start, found[1])
                i += 1
                lines = self.text.count("\n", before, self.start)
                if kind in ("CHECK-SAME", "CHECK-NEXT") and lines != (kind == "CHECK-NEXT"):
                    self.fail("not find", "\\n", before, f"{kind}: {wanted}")
            for text in refused:
                self.refuse(text, before, self.start)
            refused = []
        for text in refused:
            self.refuse(text, self.end, len(self.text))

    def find(self, wanted: str, start: int, kind: str) -> tuple[int, int]:
        if kind == "CHECK-REGEX":
            found = re.compile(wanted).search(self.text, start)
            if found is None:
                self.fail("find regex", wanted, start, f"{kind}: {wanted}")
            return found.span()
        at = self.text.find(wanted, start)
        if kind == "CHECK-SOURCE-HIGHLIGHTED":
            while at >= 0 and not self.marked(at, wanted):
                at = self.text.find(wanted, at + 1)
            if at < 0:
                raise RuntimeError(f'Expected to find "{wanted}"highlighted but it is not.\n{self.text[start:]}')
        if at < 0:
            self.fail("find", wanted, start, f"{kind}: {wanted}")
        return at, at + len(wanted)

    def marked(self, at: int, wanted: str) -> bool:
        column = at - (self.text.rfind("\n", 0, at) + 1)
        below = self.text[at:].split("\n")[1:2]
        return bool(below) and below[0][column : column + len(wanted)] == "~" * len(wanted)

    def refuse(self, text: str, start: int, end: int) -> None:
        if self.text.find(text, start, end) >= 0:
            self.fail("not find", text, start, f"CHECK-NOT: {text}")

    def fail(self, how: str, wanted: str, start: int, check: str) -> None:
        after = "but found it" if how == "not find" else "but did not find it\nSearched string:"
        shown = self.text[self.text.rfind("\n", 0, start) + 1 :]
        raise RuntimeError(f'Expected to {how} "{wanted}" {after}\n{shown}\nFrom {check}\n')
