"""The tests of many cases: every case runs, and each that fails is named."""

from __future__ import annotations

import random
import warnings
from typing import Any

import pytest
from one_by_one import by_first, each

CASES = [("sin", 0), ("sin", 1), ("cos", 0), ("sin", 2)]


def test_every_case_runs_and_those_that_fail_are_named() -> None:
    ran = []

    def check(name: str, i: int) -> None:
        ran.append((name, i))
        if i == 1:
            pytest.fail("no exception")
        assert name != "cos", "a cosine"

    with pytest.raises(BaseExceptionGroup, match="check: 2 of 4 cases") as caught:
        each(check, CASES)
    assert ran == CASES
    assert [e.__notes__ for e in caught.value.exceptions] == [["case: 'sin', 1"], ["case: 'cos', 0"]]
    assert "a cosine" in str(caught.value.exceptions[1])


def test_a_case_begins_as_if_it_were_the_first() -> None:
    drawn: list[Any] = []

    def check(*case: Any) -> None:
        drawn.append((random.random(), list(warnings.filters)))
        warnings.simplefilter("ignore")

    each(check, [(0,)])
    each(check, CASES)
    assert drawn == drawn[:1] * 5


def test_a_test_is_skipped_where_all_its_cases_are() -> None:
    def check(name: str, i: int) -> None:
        if name == "sin":
            pytest.skip("no sines")

    each(check, CASES)
    with pytest.raises(pytest.skip.Exception, match="no sines"):
        each(check, CASES[:2])


def test_there_is_a_test_for_each_first_value() -> None:
    @by_first(CASES)
    def test_values(name: str, i: int) -> None:
        """What is tested."""
        assert name != "sin"

    assert (test_values.__name__, test_values.__doc__) == ("test_values", "What is tested.")
    (mark,) = test_values.pytestmark  # type: ignore[attr-defined]
    assert list(mark.args[1]) == ["sin", "cos"]
    test_values("cos")
    with pytest.raises(BaseExceptionGroup, match="test_values: 3 of 3 cases"):
        test_values("sin")
