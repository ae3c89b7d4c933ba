"""An error at any call leaves no mode on: KeyboardInterrupt and MemoryError at the n-th call inside of the library.

That is where Python looks for signals: where a function of Python begins. `python tests/tape/test_interrupts.py [NAME ...]`
takes every call of the programs; the test takes some of each.
"""

from __future__ import annotations

import contextlib
import gc
import random
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from safe_programs import PROGRAMS

import wengert as torch
from wengert._base import modes
from wengert._base.torch_function import STATE
from wengert._payloads.transforms import DEPTH
from wengert._payloads.vmap_randomness import LEVELS
from wengert._tape import delivery, engine, graph, replaced
from wengert._tape.node import hooked_leaves
from wengert._tape.tensor import stale_views
from wengert._tape.views import no_grad_views
from wengert._tensor_api import override_sites
from wengert.autograd import function

PACKAGE = str(Path(torch.__file__).parent)

# What runs its cleaning up in a function of its own, or in another process or thread: not interrupted call by call.
LEFT_OUT = {"copies", "threads", "profiler", "modes_of_tasks", "layers", "schedulers", "bfloat16"}


def state() -> dict[str, Any]:
    """Everything that a program may leave on."""
    return {
        "grad": torch.is_grad_enabled(),
        "inference": torch.is_inference_mode_enabled(),
        "hooks": modes.saved_tensors_hooks(),
        "slow": (len(modes.slow_if_recording), len(modes.slow_always), len(modes.slow_hooks)),
        "transforms": (len(modes.transforms), modes.in_transform(), DEPTH.get(), LEVELS.get()),
        "counts": (len(modes.anomaly), len(modes.inference_tensors), len(hooked_leaves), len(no_grad_views)),
        "views": len(stale_views),
        "modes": (STATE.get().modes, STATE.get().classes, STATE.get().all),
        "autocast": (
            torch.is_autocast_enabled("cpu"),
            torch.get_autocast_dtype("cpu"),
            torch.is_autocast_cache_enabled(),
        ),
        "anomaly": torch.is_anomaly_enabled(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "observers": tuple(
            map(
                len,
                (
                    engine.observers,
                    delivery.leaf_observers,
                    graph.interceptors,
                    replaced.payload_replaced,
                    function.watchers,
                ),
            )
        ),
        "numpy": np.geterr(),
        "filters": len(warnings.filters),
        "dual": torch.autograd.forward_ad._level() is None,
        "random": torch.get_rng_state().sum().item(),
    }


def calls(run: Callable[[], Any], at: int = 0, error: type[BaseException] = KeyboardInterrupt) -> int:
    """How many calls inside of the library a program makes; the ``at``-th one raises ``error``."""
    count = 0

    def trace(frame: Any, event: str, arg: Any) -> None:
        nonlocal count
        if frame.f_code.co_filename.startswith(PACKAGE):
            count += 1
            if count == at:
                sys.settrace(None)
                raise error

    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(None)
    return count


def follows() -> None:
    """A program that gives right results on the hot path."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    assert torch.func.grad(lambda a: (a * a).sum())(torch.ones(2)).tolist() == [2.0, 2.0]
    assert override_sites._level == override_sites.NOTHING or override_sites._subclasses or override_sites._ducks


def interrupted(name: str, at: int, error: type[BaseException], before: dict[str, Any]) -> list[str]:
    """What differs after an error at a call."""
    program = PROGRAMS[name]
    with contextlib.suppress(error, RuntimeError):
        calls(program, at, error)
    after = state()
    if after != before:  # tracebacks and frames are cycles
        gc.collect()
        after = state()
    wrong = [f"{key}: {before[key]} -> {after[key]}" for key in before if before[key] != after[key]]
    try:
        follows()
    except Exception as failure:  # noqa: BLE001  told below
        wrong.append(repr(failure))
    return wrong


def total(name: str) -> int:
    PROGRAMS[name]()
    return calls(PROGRAMS[name])


NAMES = sorted(name for name in PROGRAMS if name not in LEFT_OUT)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_an_interrupt_leaves_nothing_on(name: str) -> None:
    count = total(name)
    follows()
    gc.collect()
    before = state()
    few = random.Random(name).sample(range(1, count + 1), min(count, 25))
    for at in few:
        error = KeyboardInterrupt if at % 4 else MemoryError
        assert not interrupted(name, at, error, before), f"{error.__name__} at call {at} of {count}"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.unraisablehook = lambda _: None
    for name in sys.argv[1:] or NAMES:
        count = total(name)
        follows()
        gc.collect()
        before = state()
        bad = []
        for at in range(1, count + 1):
            wrong = interrupted(name, at, KeyboardInterrupt, before)
            if wrong:
                bad.append((at, wrong))
                before = state()
        print(f"{name}: {count} calls, {len(bad)} leave something: {bad[:3]}", flush=True)  # noqa: T201
