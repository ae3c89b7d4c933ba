"""Objects that live, whether the program has frozen them (`gc.freeze`) or not."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

import wengert as torch
from wengert._base.heap import is_frozen, living_of


class Thing:
    pass


@pytest.fixture(autouse=True)
def _thawed() -> Iterator[None]:
    """Nothing is frozen at the beginning; at the end what was is again."""
    was_frozen = is_frozen()
    gc.unfreeze()
    yield
    gc.unfreeze()
    gc.collect()
    if was_frozen:
        gc.freeze()


def test_objects_are_found_before_a_freeze_after_one_and_after_the_next() -> None:
    kept = [Thing()]
    assert living_of(Thing) == kept
    for _ in range(3):
        kept.append(Thing())
        gc.freeze()
        kept.append(Thing())
        for _ in range(2):
            assert sorted(map(id, living_of(Thing))) == sorted(map(id, kept))
    gc.unfreeze()
    del kept[2:]
    assert sorted(map(id, living_of(Thing))) == sorted(map(id, kept))


def test_what_is_frozen_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting goes through all of it: a recording in a large program that is frozen would wait for that."""
    counted: list[int] = []
    count = gc.get_freeze_count
    monkeypatch.setattr(gc, "get_freeze_count", lambda: counted.append(1) or count())
    w = torch.ones(2)
    gc.freeze()
    assert is_frozen()
    for number in range(4):
        assert torch.compile(lambda x, number=number: x + w + number, backend="numpy")(torch.ones(2))[0] == 2 + number
        if number == 0:
            del counted[:]
    assert is_frozen()
    assert counted == []
    gc.unfreeze()
    assert not is_frozen()
