"""``einsum`` and ``tensordot`` in the steps in which PyTorch computes them, for graphs of operators."""

from __future__ import annotations

import math
from typing import Any

import wengert as torch

from ..._tape.tensor import Tensor

__all__ = ["einsum", "tensordot"]


def _subscripts(equation: str, operands: list[Tensor]) -> tuple[list[list[Any]], list[Any]]:
    """The labels of each operand's dimensions and of the result's; those of an ellipsis are numbers from the last."""
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    rows: list[list[Any]] = []
    most = 0
    for text, x in zip(inputs.split(","), operands, strict=True):
        before, dots, after = text.partition("...")
        count = x.ndim - len(before) - len(after) if dots else 0
        most = max(most, count)
        rows.append([*before, *range(-count, 0), *after])
    if arrow:
        before, dots, after = output.partition("...")
        return rows, [*before, *(range(-most, 0) if dots else ()), *after]
    once = [
        label
        for label in {k for row in rows for k in row if isinstance(k, str)}
        if sum(row.count(label) for row in rows) == 1
    ]
    return rows, [*range(-most, 0), *sorted(once)]


def einsum(equation: str, *operands: Any) -> Tensor:
    """Each operand's dimensions in one order, then products of pairs from the left.

    >>> x = torch.ones(2, 3)
    >>> einsum("ij,kj->ik", x, x)
    tensor([[3., 3.],
            [3., 3.]])
    """
    given: list[Tensor] = list(operands[0]) if isinstance(operands[0], (list, tuple)) else list(operands)
    rows, output = _subscripts(equation, given)
    summed = sorted({k for row in rows for k in row} - set(output), key=str)
    order = [*output, *summed]
    factors = [_placed(x, row, order) for x, row in zip(given, rows, strict=True)]
    kept = len(output)
    left = [sum(x.shape[d] != 1 for x in factors) for d in range(len(order))]
    result, *rest = factors
    for other in rest:
        now: list[int] = []
        alone: tuple[list[int], list[int]] = ([], [])
        for d in range(kept, len(order)):
            sizes = result.shape[d] != 1, other.shape[d] != 1
            if all(sizes):
                left[d] -= 1
                if left[d] == 1:
                    now.append(d)
                    left[d] = 0
            elif left[d] == 1 and any(sizes):
                alone[sizes[1]].append(d)
                left[d] = 0
        result = result.sum(alone[0], keepdim=True) if alone[0] else result
        other = other.sum(alone[1], keepdim=True) if alone[1] else other
        result = _pair(result, other, now)
    if not summed:
        return result
    if rest:
        return result.view(result.shape[:kept])
    return result.sum(list(range(kept, len(order))))


def _placed(x: Tensor, row: list[Any], order: list[Any]) -> Tensor:
    """An operand with a dimension for each label, in this order."""
    labels: list[Any] = []
    for label in row:
        if label in labels:
            first = labels.index(label)
            x = x.diagonal(0, first, len(labels)).movedim(-1, first)
        else:
            labels.append(label)
    for label in order:
        if label not in labels:
            x = x.unsqueeze(len(labels))
            labels.append(label)
    return x.permute([labels.index(label) for label in order])


def _pair(left: Tensor, right: Tensor, summed: list[int]) -> Tensor:
    """The product of two operands, summed over some dimensions, which stay with the size 1."""
    if not summed:
        return left * right
    both: list[int] = []
    of_left: list[int] = []
    of_right: list[int] = []
    for d in range(left.ndim):
        if d not in summed:
            wide = left.shape[d] != 1, right.shape[d] != 1
            (both if all(wide) else of_left if wide[0] else of_right).append(d)
    batch, rows, inner = (math.prod([left.shape[d] for d in dims]) for dims in (both, of_left, summed))
    columns = math.prod([right.shape[d] for d in of_right])
    order = [*both, *of_left, *summed, *of_right]
    a = left.permute(order).reshape([batch, rows, inner])
    b = right.permute([*both, *summed, *of_right, *of_left]).reshape([batch, inner, columns])
    sizes = [*[left.shape[d] for d in both + of_left], *[1 for _ in summed], *[right.shape[d] for d in of_right]]
    return torch.bmm(a, b).view(sizes).permute([order.index(d) for d in range(left.ndim)])


def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """One product of matrices."""
    if isinstance(dims, int):
        dims = list(range(a.ndim - dims, a.ndim)), list(range(dims))
    ours, theirs = (
        [d % x.ndim for d in ([ds] if isinstance(ds, int) else ds)] for x, ds in zip((a, b), dims, strict=True)
    )
    free = [d for d in range(a.ndim) if d not in ours], [d for d in range(b.ndim) if d not in theirs]
    sizes = [a.shape[d] for d in free[0]], [b.shape[d] for d in free[1]]
    inner = math.prod([a.shape[d] for d in ours])
    left = a.permute([*free[0], *ours]).reshape([math.prod(sizes[0]), inner])
    right = b.permute([*theirs, *free[1]]).reshape([inner, math.prod(sizes[1])])
    return torch.mm(left, right).reshape([*sizes[0], *sizes[1]])
