"""``Compare``: measurements as a table, a row for each sub-label and a column for each description."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable
from typing import Any

from .common import Measurement, log10, ordered_unique, select_unit, trim_sigfig, unit_to_english

__all__ = ["Colorize", "Compare"]

_BEST, _GOOD, _BAD, _VERY_BAD = "\033[92m", "\033[34m", "\033[2m\033[91m", "\033[31m"
_BOLD, _PLAIN = "\033[1m", "\033[0m"
_JOINT = "  |  "

Cell = Measurement | None


class Colorize(enum.Enum):
    """The reference of a time's colour."""

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


def _coloured(text: str, time: float, best: float) -> str:
    if time <= best * 1.01 or time <= best + 100e-9:
        return f"{_BEST}{_BOLD}{text}{_PLAIN}{_PLAIN}"
    if time <= best * 1.1:
        return f"{_GOOD}{_BOLD}{text}{_PLAIN}{_PLAIN}"
    if time >= best * 5:
        return f"{_VERY_BAD}{_BOLD}{text}{_PLAIN}{_PLAIN}"
    if time >= best * 2:
        return f"{_BAD}{text}{_PLAIN}{_PLAIN}"
    return text


def _digits(x: float) -> int:
    """Digits before the point."""
    return math.ceil(log10(x))


class _Column:
    """The format of the times of one column, all with the same number of decimals."""

    def __init__(self, cells: list[Cell], scale: float, trim: bool, highlight: bool) -> None:
        found = [m for m in cells if m is not None]
        digits = [_digits(m.median / scale) for m in found]
        decimals = 1
        if trim:
            decimals = min(max(m.significant_figures - d, 0) for m, d in zip(found, digits, strict=True))
        self._width = max(digits) + decimals + (1 if decimals else 0)
        self._decimals, self._scale, self._trim = decimals, scale, trim
        self._highlight = highlight and any(m.has_warnings for m in found)

    def text(self, m: Cell) -> str:
        if m is None:
            return " " * len(self._written(1.0, ""))
        value = m.median / self._scale
        if self._trim:
            value = trim_sigfig(value, m.significant_figures)
        varies = self._highlight and m.has_warnings
        return self._written(value, f" (! {m.iqr / m.median * 100:.0f}%)" if varies else "")

    def _written(self, value: float, remark: str) -> str:
        return f"{value:>{self._width}.{self._decimals}f}{remark:>{7 if self._highlight else 0}}"


class _Table:
    """The measurements of one label."""

    def __init__(self, results: list[Measurement], colorize: Colorize, trim: bool, highlight: bool) -> None:
        self.label = results[0].label or ""
        self.colorize = colorize
        self.unit, scale = select_unit(min(m.median for m in results))
        self.varies = highlight and any(m.has_warnings for m in results)
        self.keys = ordered_unique((m.num_threads, m.env, m.as_row_name) for m in results)
        self.keys.sort(key=lambda key: (key[0], key[1] is not None, key[1] or ""))
        self.heads = ordered_unique(m.description for m in results)
        place: dict[Any, Measurement] = {(m.num_threads, m.env, m.as_row_name, m.description): m for m in results}
        self.rows: list[list[Cell]] = [[place.get((*key, head)) for head in self.heads] for key in self.keys]
        self.columns = [_Column(list(cells), scale, trim, highlight) for cells in zip(*self.rows, strict=True)]

    def _names(self) -> list[str]:
        """The rows' names, with the environment where it differs from the row above."""
        envs = ordered_unique(env for _, env, _ in self.keys)
        width = max(len(str(env)) for env in envs) + 4 if len(envs) > 1 else 4
        names, above = [], None
        for threads, env, name in self.keys:
            shown = f"({env})" if len(envs) > 1 and (threads, env) != above else ""
            names.append(f"  {shown.ljust(width)}{name}")
            above = threads, env
        return names

    def _best(self, i: int, j: int) -> float:
        """The reference of row ``i``, column ``j``: the best of the row, or of the column with as many threads."""
        row = self.rows[i]
        if self.colorize == Colorize.COLUMNWISE:
            threads = self.keys[i][0]
            row = [r[j] for r, key in zip(self.rows, self.keys, strict=True) if key[0] == threads]
        return min(m.median for m in row if m is not None)

    def __str__(self) -> str:
        names = self._names()
        texts = [[column.text(m) for column, m in zip(self.columns, row, strict=True)] for row in self.rows]
        heads = ["", *[head or "" for head in self.heads]]
        widths = [max(map(len, cells)) for cells in zip(heads, *map(_joined, names, texts), strict=True)]
        lines = [_JOINT.join(head.center(width) for head, width in zip(heads, widths, strict=True))]
        overall, threads = len(lines[0]), None
        for i, (name, row) in enumerate(zip(names, texts, strict=True)):
            if self.keys[i][0] != threads:
                threads = self.keys[i][0]
                lines.append(f"{threads} threads: ".ljust(overall, "-"))
            cells = [text.center(width) for text, width in zip(row, widths[1:], strict=True)]
            if self.colorize != Colorize.NONE:
                cells = [
                    text if m is None else _coloured(text, m.median, self._best(i, j))
                    for j, (text, m) in enumerate(zip(cells, self.rows[i], strict=True))
                ]
            lines.append(_JOINT.join([name.ljust(widths[0]), *cells]))
        title = f"[{f' {self.label} '.center(overall - 2, '-')}]"
        body = "\n".join(lines)
        text = f"{title}\n{body}\n\nTimes are in {unit_to_english(self.unit)}s ({self.unit}).\n"
        if self.varies:
            text += "(! XX%) Measurement has high variance, where XX is the IQR / median * 100.\n"
        return text


def _joined(name: str, texts: list[str]) -> list[str]:
    return [name, *texts]


class Compare:
    """Measurements as tables: one for each label; rows are sub-labels (else statements), columns descriptions.

    Measurements of the same task are merged. ``str(compare)`` is the text that ``print()`` prints.
    """

    def __init__(self, results: list[Measurement]) -> None:
        self._results: list[Measurement] = []
        self._trim = False
        self._colorize = Colorize.NONE
        self._highlight = False
        self.extend_results(results)

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add measurements.

        Raises:
            ValueError: an object is not a Measurement.
        """
        results = list(results)
        for each in results:
            if not isinstance(each, Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, got {type(each)} instead.")
        self._results.extend(results)

    def trim_significant_figures(self) -> None:
        """Print only as many figures as the times' variation allows."""
        self._trim = True

    def colorize(self, rowwise: bool = False) -> None:
        """Colour each time by how it compares with the best of its column, or row."""
        self._colorize = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self) -> None:
        """Mark times that vary much."""
        self._highlight = True

    def __str__(self) -> str:
        groups: dict[str | None, list[Measurement]] = {}
        for each in Measurement.merge(self._results):
            groups.setdefault(each.label, []).append(each)
        return "\n".join(str(_Table(group, self._colorize, self._trim, self._highlight)) for group in groups.values())

    def print(self) -> None:
        """Print the tables."""
        print(str(self))  # noqa: T201  what it is for
