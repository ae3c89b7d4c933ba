"""Many cases in one test: each begins as a test does, and those that fail are named together at the end.

To make, hand out and report a test takes pytest's workers three to six milliseconds; a case of an operator takes one.
"""

from __future__ import annotations

import random
import sys
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import wengert
from wengert._base import errors


def begin() -> None:
    """As if no test had run before in this process.

    All generators have the same state, and what is warned of once in a process is warned of again.
    """
    random.seed(0)
    np.random.seed(0)
    wengert.manual_seed(0)
    real_torch = sys.modules.get("torch")
    if real_torch is not None and real_torch is not wengert:
        real_torch.manual_seed(0)
    errors.warned.clear()


def end() -> None:
    """There is no bfloat16 array any more: operators leave the hot path as soon as there is one."""
    module = sys.modules.get("wengert._kinds.bfloat16")
    if module is not None:
        module.detach()


def each(check: Callable[..., None], cases: Iterable[tuple[Any, ...]]) -> None:
    """Run a check on every case, also when some fail: the error has each failure, with a note that names its case.

    A case that skips itself counts as passed unless all of them do.
    """
    failures: list[BaseException] = []
    skips: list[BaseException] = []
    number = 0
    for case in cases:
        number += 1
        begin()
        try:
            with warnings.catch_warnings():
                check(*case)
        except pytest.skip.Exception as skip:
            skips.append(skip)
        except (Exception, pytest.fail.Exception) as failure:  # noqa: BLE001 - raised below
            failure.add_note("case: " + ", ".join(map(repr, case)))
            failures.append(failure)
        finally:
            end()
    if failures:
        raise BaseExceptionGroup(f"{check.__name__}: {len(failures)} of {number} cases", failures)
    if skips and len(skips) == number:
        raise skips[0]


def by_first(cases: Iterable[tuple[Any, ...]]) -> Callable[[Callable[..., None]], Callable[[Any], None]]:
    """Make tests of a check: one for all cases that begin with the same value, which is a part of the test's name."""
    groups: dict[Any, list[tuple[Any, ...]]] = {}
    for case in cases:
        groups.setdefault(case[0], []).append(case)

    def decorate(check: Callable[..., None]) -> Callable[[Any], None]:
        @pytest.mark.parametrize("first", groups)
        def test(first: Any) -> None:
            each(check, groups[first])

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        return test

    return decorate
