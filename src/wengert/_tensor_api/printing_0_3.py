"""The text of tensors as PyTorch 0.1 to 0.3 printed them: ``set_printoptions(profile="0.3")``.

A vector has one number a line, a matrix one row a line, a tensor of more dimensions its matrices one after another
under headings such as ``(0 ,1 ,.,.) =``; the last line names the type and the sizes. Numbers have columns of equal
width, from the digits before the point of the largest; where these are many, a common factor stands above them
(``1.00000e+05 *``) or all have exponents. From ``threshold`` elements on, ``edgeitems`` remain at each end.

Nothing here depends on tensors.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

VERTICAL, DIAGONAL = "\u22ee", "\u22f1"  # dots


class _Format(NamedTuple):
    """How the numbers of one tensor are written."""

    one: str  # printf conversion
    scale: float
    width: int

    def row(self, values: Any) -> str:
        return " ".join(self.one % (value / self.scale) for value in values)

    @property
    def heading(self) -> str:
        return f"{self.scale:.5e} *\n" if self.scale != 1 else ""


def format_0_3(array: np.ndarray, type_name: str, options: dict[str, Any]) -> str:
    """The text of an array of a type such as ``torch.FloatTensor``; it begins and ends with a new line.

    >>> print(format_0_3(np.eye(2), "torch.DoubleTensor", {"precision": 4, "threshold": 1000, "edgeitems": 3,
    ...     "linewidth": 80}).strip("\\n"))
     1  0
     0  1
    [torch.DoubleTensor of size 2x2]
    """
    if array.size == 0:
        return f"[{type_name} with no dimension]\n"
    values = np.atleast_1d(array).astype(np.float64)  # there were no tensors without dimensions
    shown = (_vector, _matrix)[values.ndim - 1](values, options) if values.ndim < 3 else _matrices(values, options)
    return f"\n{shown}[{type_name} of size {'x'.join(map(str, values.shape))}]\n"


def _format(values: np.ndarray, narrowest: int, precision: int) -> _Format:
    magnitudes = np.abs(values[np.isfinite(values)])
    narrowest = max(narrowest, 2 if magnitudes.size == values.size else 3)  # nan and inf
    if not magnitudes.size:
        magnitudes = np.zeros(1)
    low, high = (math.floor(math.log10(m)) + 1 if m else 1 for m in (magnitudes.min(), magnitudes.max()))
    if (magnitudes == np.ceil(magnitudes)).all():
        if high > precision + 1:
            return _Format(f"%11.{precision}e", 1, max(narrowest, 7 + precision))
        width = max(narrowest, high + 1)
        return _Format(f"%{width}.0f", 1, width)
    if high - low > precision:
        width = max(narrowest, 7 + precision + (abs(high) > 99 or abs(low) > 99))
        return _Format(f"%{width}.{precision}e", 1, width)
    scaled = high > precision + 1 or high < 0
    width = max(narrowest, 7 if scaled or high == 0 else high + 6)
    return _Format(f"%{width}.{precision}f", 10.0 ** (high - 1) if scaled else 1, width)


def _vector(values: np.ndarray, options: dict[str, Any]) -> str:
    form = _format(values, 0, options["precision"])
    indent = " " if form.scale != 1 else ""
    edge = options["edgeitems"]
    if values.size < options["threshold"]:
        lines = [form.row([value]) for value in values]
    else:
        dots = f"{VERTICAL:^{form.width}}"
        lines = [*(form.row([v]) for v in values[:edge]), dots, *(form.row([v]) for v in values[-edge:])]
    return form.heading + "".join(f"{indent}{line}\n" for line in lines)


def _matrix(
    values: np.ndarray, options: dict[str, Any], indent: str = "", form: _Format | None = None, cut: bool = False
) -> str:
    edge = options["edgeitems"]
    tall, wide = (length > 2 * edge for length in values.shape)
    form = form or _format(values, 5 if tall or wide else 0, options["precision"])
    if not cut and (values.size < options["threshold"] or not (tall or wide)):
        return "".join(_columns(values, options, indent, form))

    def row(numbers: np.ndarray) -> str:
        if not wide:
            return form.row(numbers)
        return f"{form.row(numbers[:edge])} {'...':^5} {form.row(numbers[-edge:])}"

    if not tall:
        lines = [indent + row(numbers) for numbers in values]
    else:
        lines = [indent + row(numbers) for numbers in (*values[:edge], *values[-edge:])]
        width = (form.width + 1) * edge - 1
        whole = len(form.row(values[0])) + 1
        middle = f"{indent}{'...':^{width}} {DIAGONAL:^5} {'...':^{width}}" if wide else f"{VERTICAL:^{whole}}"
        lines.insert(edge, middle)
    return form.heading + "".join(line + "\n" for line in lines)


def _columns(values: np.ndarray, options: dict[str, Any], indent: str, form: _Format) -> Iterator[str]:
    """A whole matrix, in blocks of as many columns as fit the line."""
    count = values.shape[1]
    fit = max(1, math.floor((options["linewidth"] - len(indent)) / (form.width + 1)))
    for first in range(0, count, fit):
        last = min(first + fit, count) - 1
        if fit < count:
            yield "\n" if first != 1 else ""
            yield f"Columns {first} to {last} \n{indent}"
        yield form.heading
        margin = indent + (" " if form.scale != 1 else "")
        for numbers in values[:, first : last + 1]:
            yield f"{margin}{form.row(numbers)}\n"


def _matrices(values: np.ndarray, options: dict[str, Any]) -> str:
    edge = options["edgeitems"]
    form = _format(values, 3 if any(length > 2 * edge for length in values.shape[-2:]) else 0, options["precision"])
    cut = values.size >= options["threshold"]
    outer = values.shape[:-2]
    digits = max(2, *(len(str(length)) for length in values.shape))
    kept = [
        [k for k in range(length) if not (cut and length > 2 * edge and edge <= k < length - edge)] for length in outer
    ]
    text = ""
    before: tuple[int, ...] | None = None
    for place in product(*kept):
        if cut and before is not None:
            text += _dots(before, place, digits + 1)
        if text:
            text += "\n"
        text += f"({','.join(f'{k:^{digits}}' for k in place)},.,.) = \n"
        text += _matrix(values[place], options, " ", form, cut)
        before = place
    return text


def _dots(before: tuple[int, ...], place: tuple[int, ...], width: int) -> str:
    """The lines between two matrices of a summary: what was left out, and which dimensions begin again."""
    counted = next(k for k, (a, b) in enumerate(zip(before, place, strict=True)) if a != b)
    skipped = [k == counted and place[k] > before[k] + 1 for k in range(len(place))]
    again = [k > counted for k in range(len(place))]
    text = ""
    if any(skipped):
        text += "".join(f"{'...' if dots else '':^{width}}" for dots in skipped) + "\n"
    if any(again):
        text += " " + "".join(f"{VERTICAL if dots else '':^{width}}" for dots in again) + "\n"
    return text
