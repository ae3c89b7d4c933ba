"""``torch.ops.higher_order``: operators that take functions, of tensors in lists.

While a graph is written (``writing``), a call becomes one node, and its functions graphs of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import wengert as torch

__all__ = ["HigherOrderOperator", "cond", "map_impl", "scan", "while_loop"]

writing: list[Any] = []  # the modes that write graphs, the innermost last


class HigherOrderOperator:
    """An operator that takes functions.

    Attributes:
        run: what it computes.
        functions, operands: the places of its arguments that are functions, and lists of tensors.
        sliced: the place of the list of which a function is given slices.
    """

    namespace = "higher_order"
    __module__ = "torch._ops"

    def __init__(self, run: Callable[..., Any], functions: Any, operands: Any, sliced: int | None = None) -> None:
        self.__name__ = self._name = run.__name__
        self.run, self.functions, self.operands, self.sliced = run, functions, operands, sliced

    def name(self) -> str:
        """The name."""
        return self._name

    def __str__(self) -> str:
        return self._name

    def __call__(self, *args: Any) -> Any:
        if is_written():
            return writing[-1].higher_order(self, args)
        return self.run(*args)


def is_written() -> bool:
    """Whether calls are written into a graph."""
    return bool(writing) and not writing[-1].quiet


@contextmanager
def written_by(mode: Any) -> Iterator[None]:
    """A context in which a mode writes calls."""
    writing.append(mode)
    try:
        yield
    finally:
        writing.pop()


def _cond(pred: Any, true_fn: Any, false_fn: Any, operands: Any) -> Any:
    return (true_fn if pred else false_fn)(*operands)


def _while_loop(cond_fn: Any, body_fn: Any, carried: Any, additional: Any) -> Any:
    while cond_fn(*carried, *additional):
        carried = tuple(body_fn(*carried, *additional))
    return tuple(carried)


def _map_impl(f: Any, xs: Any, args: Any) -> Any:
    outs = [f(*parts, *args) for parts in zip(*[x.unbind() for x in xs], strict=True)]
    return tuple(map(torch.stack, zip(*outs, strict=True)))


def _scan(f: Any, init: Any, xs: Any, additional: Any) -> Any:
    carry, rows = list(init), []
    for parts in zip(*[x.unbind() for x in xs], strict=True):
        made = list(f(*carry, *parts, *additional))
        carry, row = made[: len(carry)], made[len(carry) :]
        rows.append(row)
    return (*carry, *map(torch.stack, zip(*rows, strict=True)))


for _run in (_cond, _while_loop, _map_impl, _scan):
    _run.__name__ = _run.__name__.removeprefix("_")
cond = HigherOrderOperator(_cond, (1, 2), (3,))
while_loop = HigherOrderOperator(_while_loop, (0, 1), (2, 3))
map_impl = HigherOrderOperator(_map_impl, (0,), (1, 2), 1)
scan = HigherOrderOperator(_scan, (0,), (1, 2, 3), 2)
