"""How far a reader must walk: the calls, and the files, of what programs do most.

A step through the debugger should show what happens, not how the rooms are connected. What a trip may take stands in
``TRIPS``; one that needs more must change that table, where somebody sees it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import wengert as torch
from wengert._tape import view_chain

PACKAGE = str(Path(torch.__file__).parent)


def trip(run: Callable[[], Any]) -> tuple[int, int]:
    """The calls of the package's functions during one call, and how many of its files they are in."""
    files: list[str] = []

    def entered(frame: Any, event: str, arg: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            files.append(frame.f_code.co_filename.partition("<")[0])  # the texts of the kinds are one place to read

    previous = sys.getprofile()
    sys.setprofile(entered)
    try:
        run()
    finally:
        sys.setprofile(previous)
    return len(files), len(set(files))


def leaf(*size: int) -> Any:
    return torch.rand(*size).requires_grad_()


def index_put_on_a_view() -> Callable[[], Any]:
    view, values, places = (leaf(5) * 1)[1:], leaf(2), torch.tensor([0, 2])
    return lambda: view.index_put_((places,), values)


def assignment_of_a_slice() -> Callable[[], Any]:
    x, y = leaf(5, 3) * 1, leaf(2, 3)

    def run() -> None:
        x[1:3] = y

    return run


def assignment_at_places() -> Callable[[], Any]:
    x, y, places = leaf(5, 3) * 1, leaf(2, 3), torch.tensor([0, 2])

    def run() -> None:
        x[places] = y

    return run


def multiplication_of_a_view() -> Callable[[], Any]:
    view = (leaf(5) * 1)[1:]
    return lambda: view.mul_(2)


def addition_in_place() -> Callable[[], Any]:
    x, y = leaf(5) * 1, leaf(5)
    return lambda: x.add_(y)


def reading_of_a_part() -> Callable[[], Any]:
    x = leaf(5, 3)
    return lambda: x[1, :2]


def product() -> Callable[[], Any]:
    x, y = leaf(5), leaf(5)
    return lambda: x * y


def product_and_backward() -> Callable[[], Any]:
    x, y = leaf(5), leaf(5)
    return lambda: (x * y).sum().backward()


def sum_of_columns() -> Callable[[], Any]:
    x = leaf(5, 3)
    return lambda: x.sum(0)


def linear_layer() -> Callable[[], Any]:
    layer, x = torch.nn.Linear(3, 3), torch.rand(2, 3)
    return lambda: layer(x)


def optimizer_step() -> Callable[[], Any]:
    layer = torch.nn.Linear(3, 3)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    layer(torch.rand(2, 3)).sum().backward()
    return optimizer.step


TRIPS: list[tuple[Callable[[], Callable[[], Any]], int, int]] = [  # calls, files
    (index_put_on_a_view, 34, 9),
    (assignment_of_a_slice, 20, 6),
    (assignment_at_places, 28, 6),
    (multiplication_of_a_view, 30, 8),
    (addition_in_place, 30, 9),
    (reading_of_a_part, 6, 3),
    (product, 1, 1),
    (product_and_backward, 28, 8),
    (sum_of_columns, 6, 4),
    (linear_layer, 6, 6),  # one is the guard that asks overriding classes, once any was defined
    (optimizer_step, 24, 6),  # four keep NumPy's error state out of the kernels
]


@pytest.mark.parametrize(("make", "calls", "files"), TRIPS, ids=[make.__name__ for make, _, _ in TRIPS])
def test_trips_stay_short(make: Any, calls: int, files: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_chain, "reshaped_in_place", [])  # once a tensor was reshaped in place, chains are checked
    run = make()
    for _ in range(2):  # what is made or imported on first use
        run()
    spent, entered = trip(run)
    assert spent <= calls
    assert entered <= files
