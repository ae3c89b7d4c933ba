"""Objects that live, whether the program has frozen them (`gc.freeze`) or not."""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Iterator

import pytest

import wengert as torch
from wengert._base.heap import is_frozen, lists, living_of


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


def test_what_is_made_after_a_freeze_stays_listed_over_exports() -> None:
    """A frozen cycle is never freed; the first export alone looks at what the program has frozen."""
    gc.freeze()
    module, inputs = torch.nn.Linear(2, 2), (torch.ones(1, 2),)
    torch.export.export(module, inputs)
    kept = Thing()
    program = torch.export.export(module, inputs)
    assert torch.equal(program.run_decompositions().module()(*inputs), module(*inputs))
    assert lists(kept)


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


def test_a_tuple_that_another_thread_is_building_is_not_held() -> None:
    """Who holds it makes that thread fail: a program that compiles functions beside a thread of its own met that."""
    failed: list[str] = []
    done = threading.Event()

    def slowly() -> Iterator[list[int]]:
        for i in range(3):
            time.sleep(0)
            yield [i]

    def build() -> None:
        while not done.is_set():
            try:
                tuple(slowly())
            except SystemError as error:
                failed.append(str(error))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    thread = threading.Thread(target=build)
    thread.start()
    try:
        for n in range(4):
            assert torch.compile(lambda x, n=n: x + n, backend="numpy")(torch.ones(1)) == n + 1
            living_of(Thing)
    finally:
        done.set()
        thread.join()
        sys.setswitchinterval(interval)
    assert failed == []


def test_looking_for_an_object_leaves_no_list_of_all_objects() -> None:
    def long_lists() -> set[int]:
        return {id(o) for o in gc.get_objects() if type(o) is list and len(o) > 10_000}

    thing = Thing()
    gc.collect()
    gc.disable()
    try:
        before = long_lists()
        for value in (thing, 1):
            assert lists(value) is (value is thing)
        assert long_lists() <= before  # its own iterator would keep it
    finally:
        gc.enable()
