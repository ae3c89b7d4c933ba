"""``TaskSpec`` (a task), ``Measurement`` (its times), and the formatting of times."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

import wengert as torch

__all__ = [
    "TaskSpec", "Measurement", "select_unit", "unit_to_english", "trim_sigfig", "ordered_unique", "set_torch_threads",
]  # fmt: skip

_MAX_FIGURES = 4
_LEAST_INTERVAL = 25e-9  # seconds: the resolution of clocks
_Z_90 = 1.645  # of a normal distribution: 90 % of it lies within so many standard deviations
_WIDE, _VERY_WIDE = 0.1, 0.25  # interquartile range over median, from where on a measurement says so
_UNITS = {"ns": (1e-9, "nanosecond"), "us": (1e-6, "microsecond"), "ms": (1e-3, "millisecond"), "s": (1, "second")}


@dataclasses.dataclass(repr=False, frozen=True)
class TaskSpec:
    """The task of a ``Timer``."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label, else the statement, and the sub-label."""
        if self.label is None and "\n" in self.stmt:
            aside = f" ({self.sub_label})" if self.sub_label else ""
            return f"stmt:{aside}\n{textwrap.indent(self.stmt, '  ')}"
        name = self.stmt if self.label is None else self.label
        return f"{name}: {self.sub_label}" if self.sub_label else name

    def setup_str(self) -> str:
        """The setup, unless it does nothing."""
        if not self.setup or self.setup == "pass":
            return ""
        if "\n" in self.setup:
            return f"setup:\n{textwrap.indent(self.setup, '  ')}"
        return f"setup: {self.setup}"

    def summarize(self) -> str:
        """Title, description and setup, as a measurement prints them."""
        sections = [each for each in (self.title, self.description, self.setup_str()) if each]
        return "\n".join(f"{each}\n" if "\n" in each else each for each in sections)


_SPEC_FIELDS = frozenset(field.name for field in dataclasses.fields(TaskSpec))


@dataclasses.dataclass(repr=False)
class Measurement:
    """Times of one task: ``raw_times`` are seconds for ``number_per_run`` runs each.

    Statistics (``times, mean, median, iqr``) are seconds for one run. The fields of ``task_spec`` are attributes too.

    >>> import wengert as torch
    >>> from wengert.utils.benchmark import Measurement, TaskSpec
    >>> m = Measurement(10, [10.0, 20.0, 30.0], TaskSpec("f()", "pass"))
    >>> m.median, m.stmt
    (2.0, 'f()')
    """

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = None

    def __getattr__(self, name: str) -> Any:
        if name in _SPEC_FIELDS:
            return getattr(self.task_spec, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def times(self) -> list[float]:
        """Seconds for one run, of every measurement."""
        return [t / self.number_per_run for t in self.raw_times]

    def _quantile(self, q: float) -> float:
        return float(np.quantile(self.times, q)) if self.raw_times else -1.0

    @property
    def median(self) -> float:
        """The median of ``times``."""
        return self._quantile(0.5)

    @property
    def mean(self) -> float:
        """The mean of ``times``."""
        return float(np.mean(self.times)) if self.raw_times else -1.0

    @property
    def iqr(self) -> float:
        """The range of the middle half of ``times``."""
        return self._quantile(0.75) - self._quantile(0.25)

    @property
    def significant_figures(self) -> int:
        """The approximate number of significant figures of the median: 1 to 4.

        From the 90 % confidence interval of the mean of the middle half.
        """
        n = len(self.raw_times)
        middle = np.sort(self.times)[n // 4 : -(-3 * n // 4)]
        interval = max(_Z_90 * float(np.std(middle)) / len(middle) ** 0.5, _LEAST_INTERVAL)
        return min(max(int(np.floor(np.log10(self.median / interval))), 1), _MAX_FIGURES)

    def meets_confidence(self, threshold: float = _WIDE) -> bool:
        """Whether the interquartile range is less than this share of the median."""
        return self.iqr / self.median < threshold

    @property
    def has_warnings(self) -> bool:
        """Whether the times vary so much that printing the measurement says so."""
        return bool(self._warning())

    def _warning(self) -> str:
        if not self.raw_times or self.meets_confidence(_WIDE):
            return ""
        much = not self.meets_confidence(_VERY_WIDE)
        why = (
            "This suggests significant environmental influence." if much else "This could indicate system fluctuation."
        )
        share = self.iqr / self.median * 100
        return f"  WARNING: Interquartile range is {share:.1f}% of the median measurement.\n           {why}"

    @property
    def title(self) -> str:
        """The title of the task."""
        return self.task_spec.title

    @property
    def as_row_name(self) -> str:
        """What a table calls it."""
        return self.sub_label or self.stmt or "[Unknown]"

    def __repr__(self) -> str:
        n, median, threads = len(self.raw_times), self.median, self.num_threads
        unit, scale = select_unit(median)
        lines = [
            f"<torch.utils.benchmark.utils.common.Measurement object at {id(self):#x}>",
            self.task_spec.summarize(),
            f"  {'Median: ' if n > 1 else ''}{median / scale:.2f} {unit}",
        ]
        if n >= 4:
            low, high = self._quantile(0.25) / scale, self._quantile(0.75) / scale
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit} ({low:.2f} to {high:.2f})")
        many = n > 1
        lines.append(
            f"  {n} measurement{'s' * many}, {self.number_per_run} runs {'per measurement,' if many else ','} "
            f"{threads} thread{'s' if threads > 1 else ''}"
        )
        return "\n".join([*lines, self._warning()]).strip()

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """One measurement for each task, with the times for one run of all that were given for it."""
        times: dict[TaskSpec, list[float]] = {}
        for each in measurements:
            times.setdefault(each.task_spec, []).extend(each.times)
        return [Measurement(1, t, spec) for spec, t in times.items()]


def log10(x: float) -> float:
    """The decimal logarithm in float32, in which PyTorch decides about units and digits."""
    return float(np.float32(math.log10(float(np.float32(x)))))


def select_unit(t: float) -> tuple[str, float]:
    """A suitable unit for a time in seconds, and its length in seconds.

    >>> import wengert as torch
    >>> torch.utils.benchmark.select_unit(2e-5)
    ('us', 1e-06)
    """
    thousands = int(log10(t) // 3)
    unit = {-3: "ns", -2: "us", -1: "ms"}.get(thousands, "s")
    return unit, _UNITS[unit][0]


def unit_to_english(u: str) -> str:
    """The name of a unit.

    >>> import wengert as torch
    >>> torch.utils.benchmark.unit_to_english("us")
    'microsecond'
    """
    return _UNITS[u][1]


def trim_sigfig(x: float, n: int) -> float:
    """A number with ``n`` significant figures, in float32.

    >>> import wengert as torch
    >>> round(torch.utils.benchmark.trim_sigfig(3.14159, 2), 5)
    3.1
    """
    if n != int(n):
        raise AssertionError("Number of significant figures must be an integer")
    last = 10 ** (math.ceil(log10(abs(x))) - n)  # what the last of the figures counts
    return float(torch.tensor(x / last).round() * last)


def ordered_unique(elements: Iterable[Any]) -> list[Any]:
    """The elements without repetitions, in the order in which they first come."""
    return list(dict.fromkeys(elements))


@contextlib.contextmanager
def set_torch_threads(n: int) -> Iterator[None]:
    """A block in which ``torch.get_num_threads()`` is ``n``."""
    before = torch.get_num_threads()
    torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)
