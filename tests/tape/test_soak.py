"""Nothing grows: programs of every kind run again and again with the garbage collector off.

`python tests/tape/test_soak.py 100000 [NAME ...]` runs each that many times and prints what is left of each. Programs
that make cycles, as they do in PyTorch, run with the collector on.
"""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from safe_programs import PROGRAMS

from wengert._base.heap import is_frozen
from wengert._base.modes import slow_always, slow_if_recording


def blocks(cycles: bool = False) -> int:
    """How many blocks of memory are in use, without those that the interpreter keeps for the next tuple or list.

    A full collection gives those back; everything alive is frozen before, so that it collects nothing but ``cycles``.
    """
    if not cycles:
        gc.freeze()
    gc.collect()
    sys._clear_type_cache()  # it holds names that are looked up
    return sys.getallocatedblocks()


def grown(run: Callable[[], Any], rounds: int, tries: int, cycles: bool = False) -> list[int]:
    """How many more blocks are in use after this many rounds, tried until there is nothing for each round."""
    found: list[int] = []
    while len(found) < tries and (not found or found[-1] >= rounds // 2):  # caches fill up; a leak goes on
        before = blocks(cycles)
        for _ in range(rounds):
            run()
        found.append(blocks(cycles) - before)
    return found


def quietly(run: Callable[[], Any], rounds: int, tries: int, cycles: bool = False) -> list[int]:
    """``grown`` after a first round, without warnings, and with the collector off if there are no cycles."""
    was = gc.isenabled()
    if not cycles:
        gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run()
            return grown(run, rounds, tries, cycles)
    finally:
        if was:
            gc.enable()


HALF = {"autocast", "bfloat16"}  # its hook goes with the last array of that dtype: test_bfloat16_goes.py

# What makes cycles, as PyTorch does: events know their parents, each call of save makes a class, nodes their graphs.
CYCLES = {"profiler", "profiler_of_steps", "copies", "symbolic_trace", "make_fx", "export"}


@pytest.mark.parametrize("name", sorted(set(PROGRAMS) - CYCLES))
def test_nothing_grows(name: str) -> None:
    if name == "bfloat16":
        pytest.importorskip("ml_dtypes")
    found = quietly(PROGRAMS[name], 16, 8)
    assert found[-1] < 8, found
    assert (slow_if_recording, slow_always) == ([], []) or name in HALF


# Freezes its cycles, too, where the program has frozen something.
FREEZES = {"export"}


@pytest.mark.parametrize("name", sorted(CYCLES))
def test_the_collector_frees_what_makes_cycles(name: str) -> None:
    was_frozen = is_frozen()
    gc.unfreeze()
    gc.collect()
    if name not in FREEZES:  # the collector walks through what the program makes, not through what the tests before did
        gc.freeze()
    try:
        found = quietly(PROGRAMS[name], 4, 8, True)
    finally:
        if was_frozen:
            gc.freeze()
    assert found[-1] < 2, found


if __name__ == "__main__":
    count = int(sys.argv[1])
    for name in sys.argv[2:] or sorted(PROGRAMS):
        (first,) = quietly(PROGRAMS[name], count // 10, 1, name in CYCLES)
        (rest,) = quietly(PROGRAMS[name], count - count // 10, 1, name in CYCLES)
        print(f"{name}: {first} blocks after {count // 10} rounds, {rest} more after the others", flush=True)  # noqa: T201
