"""The hot path's budget, in what does not depend on the clock: bytecodes and live allocations per operator.

`tests/data/overhead.json` holds the budget. A feature that needs more of the hot path must change that file, so it
cannot creep in unseen; what it costs in time is measured beside PyTorch with `python -m benchmarks` before that.
"""

from __future__ import annotations

import gc
import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import wengert as torch
from wengert._base.modes import slow_if_recording

BUDGET_FILE = Path(__file__).parents[1] / "data" / "overhead.json"
BUDGET = json.loads(BUDGET_FILE.read_text()) if BUDGET_FILE.exists() else {}


def bytecodes(f: Callable[[], Any]) -> int:
    """How many bytecodes a call runs, its callees included."""
    count = 0

    def tracer(frame: Any, event: str, arg: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        if event == "opcode":
            count += 1
        return tracer

    f()  # whatever is made on first use
    gc.collect()  # what other tests left may have functions that run when it goes
    gc.disable()
    previous = sys.gettrace()
    sys.settrace(tracer)
    try:
        f()
    finally:
        sys.settrace(previous)
        gc.enable()
    return count


def allocations(f: Callable[[], Any], n: int = 500) -> float:
    """How many memory blocks a result holds."""
    f()
    kept: list[Any] = [None] * n
    gc.collect()
    before = sys.getallocatedblocks()
    for i in range(n):
        kept[i] = f()
    return (sys.getallocatedblocks() - before) / n


def work() -> dict[str, Callable[[], Any]]:
    x = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    y = torch.tensor([0.1, 0.2, 0.3, 0.4])
    _ = x * x  # x has its box from here on, as a parameter does

    def chain() -> Any:
        z = x
        for _ in range(100):
            z = z * y
        return z

    def backward() -> None:
        chain().sum().backward()
        x.grad = None

    def gradient_of(leaf: Any, seen: bool = False) -> Callable[[], None]:
        """A pass whose one node is an addition: what is counted beside it is the leaf's own part."""
        sum_of_two = leaf + leaf.detach()
        one = torch.ones_like(leaf)
        sum_of_two.backward(one, retain_graph=True)

        def deliver() -> None:
            if not seen:
                leaf.grad = None
            sum_of_two.backward(one, retain_graph=True)

        return deliver

    hooked = torch.ones(2, 3, 4, requires_grad=True)
    hooked.register_hook(lambda g: None)

    return {
        "mul": lambda: x * y,
        "mul, not recording": lambda: y * y,
        "mul by a number": lambda: x * 2.0,
        "add": lambda: x + y,
        "neg": lambda: -x,
        "exp": lambda: x.exp(),
        "log": lambda: x.log(),
        "sum": lambda: x.sum(),
        "chain of 100": chain,
        "chain of 100, forward and backward": backward,
        "a leaf's first gradient": gradient_of(torch.ones(2, 3, 4, requires_grad=True)),
        "a leaf's second gradient": gradient_of(torch.ones(2, 3, 4, requires_grad=True), seen=True),
        "a hooked leaf's first gradient": gradient_of(hooked),
    }


def test_no_mode_is_left_on() -> None:
    """What earlier tests turned on is off again: nothing keeps a program on the slow path for good."""
    assert slow_if_recording == []


@pytest.mark.parametrize("name", sorted(work()))
def test_bytecodes_stay_within_the_budget(name: str) -> None:
    spent = bytecodes(work()[name])
    allowed = BUDGET["bytecodes"][name]
    slack = 1.0 if sys.version_info[:2] == tuple(BUDGET["python"]) else 1.25  # other versions have other bytecodes
    assert spent <= allowed * slack


@pytest.mark.filterwarnings("ignore:Anomaly Detection:UserWarning")
@pytest.mark.parametrize("check_nan", [False, True])
def test_anomaly_mode_stays_within_three_times_the_plain_pass(check_nan: bool) -> None:
    pass_of_100 = work()["chain of 100, forward and backward"]
    spent = []

    def count() -> None:
        spent.append(bytecodes(pass_of_100))
        with torch.autograd.detect_anomaly(check_nan=check_nan):
            spent.append(bytecodes(pass_of_100))

    thread = threading.Thread(target=count)  # whose stack is short: each node notes all of it
    thread.start()
    thread.join()
    assert spent[1] <= 3 * spent[0]


@pytest.mark.parametrize("name", ["mul", "add", "neg", "exp", "log"])
def test_allocations_stay_within_the_budget(name: str) -> None:
    assert allocations(work()[name]) <= BUDGET["allocations"][name] + 0.5


if __name__ == "__main__":  # prints the present figures, for the file
    figures = {
        "python": list(sys.version_info[:2]),
        "bytecodes": {name: bytecodes(work()[name]) for name in list(work())},  # a leaf with hooks slows every pass
        "allocations": {name: round(allocations(work()[name])) for name in ("mul", "add", "neg", "exp", "log")},
    }
    print(json.dumps(figures, indent=2))  # noqa: T201  run by hand, to be read
