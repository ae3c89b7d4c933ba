"""Floating point operations of matrix products and convolutions, from the shapes of their operands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

Shape = Sequence[int]


def product(a: Shape, b: Shape) -> int:
    """The operations of ``a @ b``: a multiplication and an addition for each term."""
    rows = math.prod(a[:-1]) if len(a) > 1 else 1
    columns = b[-1] if len(b) > 1 else 1
    return 2 * rows * a[-1] * columns


def convolution(weight: Shape, result: Shape) -> int:
    """The operations of a convolution, each element of which is a sum over a window and the group's channels."""
    return 2 * math.prod(result[2:]) * result[0] * math.prod(weight)


def of_operator(name: str, shapes: Sequence[Shape], results: Sequence[Any]) -> int:
    """The operations of an operator by PyTorch's name; 0 for operators that are not counted."""
    if name in ("mm", "mv", "dot") and len(shapes) > 1:
        return product(shapes[0], shapes[1])
    if name in ("bmm", "matmul") and len(shapes) > 1 and len(shapes[0]) > 1 and len(shapes[1]) > 1:
        batch = math.prod(results[0].shape[:-2])
        return batch * product(shapes[0][-2:], shapes[1][-2:])
    if name in ("addmm", "linear"):
        return of_layer(shapes, results[0].shape)
    if name == "baddbmm" and len(shapes) > 2:
        return shapes[1][0] * product(shapes[1][1:], shapes[2][1:])
    if name == "convolution" and len(shapes) > 1:
        return convolution(shapes[1], results[0].shape)
    if name in ("mul", "add"):
        return math.prod(results[0].shape)
    return 0


def of_layer(shapes: Sequence[Shape], result: Shape) -> int:
    """``linear(input, weight, bias)`` or ``addmm(bias, a, b)``: the factors are those with an inner size in common."""
    out = math.prod(result)
    matrices = [s for s in shapes if len(s) >= 2]
    for k, a in enumerate(matrices):
        if out % math.prod(a[:-1]) == 0 and any(a[-1] in s for s in (*matrices[:k], *matrices[k + 1 :])):
            return 2 * out * a[-1]
    return 0
