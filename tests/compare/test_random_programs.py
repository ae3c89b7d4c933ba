"""2,000 random programs on both libraries, line by line (``compare.random_programs``): in each week others."""

from __future__ import annotations

import datetime
from types import ModuleType

import pytest
from compare.random_programs import difference

import wengert

WEEK = (datetime.date.today() - datetime.date(2026, 1, 5)).days // 7


@pytest.mark.parametrize("part", range(20))
def test_the_same_after_every_line(part: int, torch: ModuleType) -> None:
    first = WEEK * 2000 + part * 100
    for seed in range(first, first + 100):
        found = difference(seed, torch, wengert)
        assert found is None, found
