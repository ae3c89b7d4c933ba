"""``Timer``: like ``timeit.Timer``, with enough repetitions to see how much a time varies."""

from __future__ import annotations

import enum
import statistics
import textwrap
import timeit
from collections.abc import Callable
from typing import Any, NoReturn

import wengert as torch

from ...._base.errors import noted
from .common import Measurement, TaskSpec, set_torch_threads

__all__ = ["Timer", "timer", "Language"]

_OVERHEAD = 1e-4  # share of a block's time that asking for the time may take
_MOST = 2147483647  # runs in one block

Callback = Callable[[int, float], Any]


def timer() -> float:
    """The time in seconds, from the best clock there is."""
    return timeit.default_timer()


class Language(enum.Enum):
    """In which language a statement is written; only Python is supported."""

    PYTHON = 0
    CPP = 1


def _dedented(code: str) -> str:
    return textwrap.dedent(code).removeprefix("\n").rstrip()


class Timer:
    """Measures how long a statement takes.

    Args:
        stmt: the statement, as text.
        setup: run once before it is measured.
        global_setup: for C++ only.
        timer: a clock in seconds.
        globals: the names that ``stmt`` and ``setup`` see; ``torch`` is among them.
        label, sub_label, description, env: for printing and for ``Compare``'s tables: the table's title, the row, the
            column, and what else tells two measurements apart.
        num_threads: kept, and set while it is measured (``torch.set_num_threads``).
        language: Python.

    >>> import wengert as torch
    >>> t = torch.utils.benchmark.Timer("torch.ones(3) + 1", label="add", sub_label="3")
    >>> t.blocked_autorange(min_run_time=0.001).title
    'add: 3'
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Language | str = Language.PYTHON,
    ) -> None:
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        _check_language(language)
        if global_setup:
            raise ValueError(
                f"global_setup is C++ only, got `{global_setup}`. Most likely this code can simply be moved to `setup`."
            )
        stmt, setup = _dedented(stmt), _dedented(setup)
        self._timer = timeit.Timer(stmt, setup, timer, {"torch": torch, **(globals or {})})
        self._task_spec = TaskSpec(stmt, setup, "", label, sub_label, description, env, num_threads)

    def _timeit(self, number: int) -> float:
        return max(self._timer.timeit(number), 1e-9)

    def _measured(self, number: int, times: list[float]) -> Measurement:
        return Measurement(number, times, self._task_spec)

    def timeit(self, number: int = 1000000) -> Measurement:
        """One measurement of ``number`` runs, after a hundredth of them to warm up."""
        with set_torch_threads(self._task_spec.num_threads):
            self._timeit(max(number // 100, 2))
            return self._measured(number, [self._timeit(number)])

    def blocked_autorange(self, callback: Callback | None = None, min_run_time: float = 0.2) -> Measurement:
        """As many measurements as fit in ``min_run_time`` seconds, each of so many runs that the clock costs nothing.

        ``callback(number, seconds)`` is called after each.
        """
        return self._repeated(self._block_size(min_run_time), min_run_time, None, lambda times: True, callback)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callback | None = None,
    ) -> Measurement:
        """Measurements until their interquartile range is below ``threshold`` of the median, and at least four.

        Not less than ``min_run_time`` seconds, and not much more than ``max_run_time``.
        """
        number = self._block_size(0.05)

        def enough(times: list[float]) -> bool:
            return len(times) > 3 and self._measured(number, times).meets_confidence(threshold)

        return self._repeated(number, min_run_time, max_run_time, enough, callback)

    def _block_size(self, min_run_time: float) -> int:
        """Runs in a block: a power of ten."""
        with set_torch_threads(self._task_spec.num_threads):
            overhead = statistics.median_low(self._timeit(0) for _ in range(5))
            number = 1
            while number * 10 <= _MOST:
                taken = self._timeit(number)
                long_enough = taken >= min_run_time / 1000 and overhead / taken <= _OVERHEAD
                if long_enough or taken > min_run_time:
                    break
                number *= 10
        return number

    def _repeated(
        self,
        number: int,
        min_run_time: float,
        max_run_time: float | None,
        enough: Callable[[list[float]], bool],
        callback: Callback | None,
    ) -> Measurement:
        times: list[float] = []
        total = 0.0
        with set_torch_threads(self._task_spec.num_threads):
            while not times or total < min_run_time or not enough(times):
                times.append(self._timeit(number))
                total += times[-1]
                if callback is not None:
                    callback(number, times[-1])
                if max_run_time and total > max_run_time:
                    break
        return self._measured(number, times)

    def repeat(self, repeat: int = -1, number: int = -1) -> NoReturn:
        """Not there: ``blocked_autorange`` does it better."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def autorange(self, callback: Callback | None = None) -> NoReturn:
        """Not there: ``blocked_autorange`` does it better."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def collect_callgrind(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Not there: NotImplementedError."""
        raise noted(
            NotImplementedError("Timer.collect_callgrind is not supported by wengert"),
            "What to do: blocked_autorange() measures time; valgrind can be run on a program from outside.",
        )


def _check_language(language: Language | str) -> None:
    if language in (Language.PYTHON, "py", "python"):
        return
    if language in (Language.CPP, "cpp", "c++"):
        raise noted(
            NotImplementedError("Timer: statements in C++ are not supported by wengert"),
            "Why: it has no C++ interface that they could be compiled against.",
        )
    raise ValueError(f"Invalid language `{language}`.")
