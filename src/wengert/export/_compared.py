"""What a program compares sizes with: a branch is taken for some sizes, and the graph is one for these alone.

While a program with sizes that may differ is traced, it is told of sizes as numbers. Each has the example's value, and
notes the comparisons that Python decides by it. When the sizes are known as expressions of those of the inputs, the
comparisons are tried for all of these.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import wengert as torch

from .._base.constants import make_size
from ..fx.experimental._symbols import Known, Number, SizeName, SymBool, SymInt, hint_of
from ..fx.node import Node

_MOST = 1 << 20  # the greatest number that is tried
_POLYNOMIAL = (operator.add, operator.sub, operator.mul, operator.neg)
_OF_ARRAYS: dict[Any, Any] = {
    torch.sym_not: np.logical_not,
    torch.sym_float: np.float64,
    torch.sym_min: np.minimum,
    torch.sym_max: np.maximum,
}

Terms = list[tuple[int, tuple[SizeName, ...]]]


class Compared(Known):
    """The sizes of one trace as numbers, and what they are compared with.

    Args:
        recorder: writes the nodes.
    """

    def __init__(self, recorder: Any) -> None:
        super().__init__(self)
        self.recorder = recorder
        self.static: set[tuple[Node, int]] = set()  # the sizes of inputs that do not differ
        self.events: list[Number] = []  # comparisons that hold for the example

    def sizes(self, tensor: Any, sizes: Any) -> Any:
        """The sizes of a tensor as numbers, besides those that are numbers already."""
        node = self.recorder.known_node(tensor)
        if node is None or node.op == "get_attr":
            return sizes
        known = [type(n) is not int or (node, dim) in self.static for dim, n in enumerate(sizes)]
        numbers = [n if k else SymInt(self, (node, dim)) for dim, (n, k) in enumerate(zip(sizes, known, strict=True))]
        return make_size(tuple(numbers))

    def size_of(self, node: Node, dim: int, k: int | None) -> int:
        """A size in the example."""
        return int(node.meta["val"].shape[dim])

    def poly_of(self, node: Node, dim: int) -> None:
        """What a size is of the inputs' sizes is not yet known."""

    def text(self, value: Any) -> str:
        """``x.size()[0] + 1``."""
        if isinstance(value, Number) and isinstance(value.made[0], Node):
            return f"{value.made[0].name}.size()[{value.made[1]}]"
        return super().text(value)

    def computed(self, function: Callable[..., Any], args: Any) -> Any:
        """The result of a function."""
        others = [a.known for a in args if isinstance(a, Number) and a.known is not self]
        if others:  # which depend on what tensors hold
            return others[0].computed(
                function, tuple([hint_of(a) if getattr(a, "known", 0) is self else a for a in args])
            )
        return super().computed(function, args)

    def decided(self, value: Number) -> bool:
        """The truth of a comparison in the example."""
        truth = bool(value.at(None))
        self.events.append(value if truth else SymBool(self, (torch.sym_not, (value,))))
        return truth

    def expect(self, value: Number) -> None:
        """A comparison holds."""
        if not self.decided(value):
            raise RuntimeError(f"Expected cond to be True, but got False: {value}")

    def constant_of(self, value: Number, start: str, around: str = "") -> Any:
        """A number of which Python needs the value, which is the example's."""
        number = value.at(None)
        self.events.append(SymBool(self, (operator.eq, (value, number))))
        return number

    def node_of(self, value: Any) -> Any:
        """A number, which is an argument like others until traces are compared; the node of what is no polynomial."""
        if not isinstance(value, Number) or not _is_written(value):
            return hint_of(value)
        if value.written is None:
            function, args = value.made
            value.written = self.recorder.create_node("call_function", function, tuple(map(self.node_of, args)), {})
            value.written.meta |= {"symbol": str(value), "val": value, "hint": value.at(None)}
        return value.written


def _is_written(value: Any) -> bool:
    if not isinstance(value, Number) or isinstance(value.made[0], Node):
        return False
    return value.made[0] not in _POLYNOMIAL or any(map(_is_written, value.made[1]))


def plain(value: Any) -> Any:
    """The value in the example of a number that is compared; other numbers as they are."""
    return value.at(None) if isinstance(value, Number) and isinstance(value.known, Compared) else value


def leaves_of(value: Any) -> Iterator[tuple[Node, int]]:
    """The sizes that a comparison is of."""
    if isinstance(value, Number):
        if isinstance(value.made[0], Node):
            yield value.made
        else:
            for a in value.made[1]:
                yield from leaves_of(a)


def holding(
    event: Number,
    terms: dict[tuple[Node, int], Terms],
    base: dict[SizeName, int],
    symbol: SizeName,
    low: int,
    high: Any,
) -> tuple[int, float]:
    """The greatest range of a size around the example's in which a comparison holds, the others as they are.

    ``terms``: what each size is of those of the inputs, as coefficients and products.
    """
    numbers = np.arange(low, min(high, max(4 * _greatest(event), 4 * base[symbol], 1024), _MOST) + 1)
    at: dict[SizeName, Any] = {**base, symbol: numbers}

    def value(x: Any) -> Any:
        if not isinstance(x, Number):
            return x
        if isinstance(x.made[0], Node):
            return sum(c * math.prod([at[s] for s in term]) for c, term in terms[x.made])
        return _OF_ARRAYS.get(x.made[0], x.made[0])(*map(value, x.made[1]))

    fails = numbers[~np.broadcast_to(value(event), numbers.shape)]
    here = base[symbol]
    return max([low, *[n + 1 for n in fails if n < here]]), min([high, *[n - 1 for n in fails if n > here]])


def _greatest(value: Any) -> int:
    """The greatest number in a comparison."""
    if isinstance(value, Number):
        return 0 if isinstance(value.made[0], Node) else max(map(_greatest, value.made[1]))
    return abs(int(value)) if isinstance(value, (int, float)) and math.isfinite(value) else 0
