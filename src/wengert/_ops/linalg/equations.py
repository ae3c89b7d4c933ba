"""The text of ``einsum``: its arguments, and the labels that an equation gives to the dimensions of its operands."""

from __future__ import annotations

import functools
from typing import Any

Labels = tuple[int, ...]

_CAPITALS = {c: i for i, c in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")}
_ELLIPSIS = -1


def letter_of(label: int) -> str:
    return next((c for c, i in _CAPITALS.items() if i == label), "...")


def _read_side(text: str, start: int, place: str) -> tuple[int, ...]:
    """The labels of one operand or of the output; ``...`` has the label -1."""
    labels: list[int] = []
    i = 0
    while i < len(text):
        c = text[i]
        if c == ".":
            if text[i : i + 3] != "..." or _ELLIPSIS in labels:
                if _ELLIPSIS in labels:
                    raise RuntimeError(f"einsum(): found '.' for {place} for which an ellipsis was already found")
                raise RuntimeError(f"einsum(): found '.' for {place} that is not part of any ellipsis")
            labels.append(_ELLIPSIS)
            i += 3
            continue
        if c != " ":
            if c not in _CAPITALS:
                raise RuntimeError(
                    f"einsum(): invalid subscript given at index {start + i} in the equation string, subscripts must "
                    "be in [a-zA-Z]"
                )
            labels.append(_CAPITALS[c])
        i += 1
    return tuple(labels)


def _read(equation: str) -> tuple[list[Labels], Labels | None]:
    left, arrow, right = equation.partition("->")
    sides = []
    start = 0
    for k, text in enumerate(left.split(",")):
        sides.append(_read_side(text, start, f"operand {k}"))
        start += len(text) + 1
    return sides, _read_side(right, len(left) + 2, "the output") if arrow else None


@functools.lru_cache(1024)
def labels_of(equation: Any, ranks: tuple[int, ...]) -> tuple[tuple[Labels, ...], Labels]:
    """The labels of each operand's dimensions and of the result's; an ellipsis is replaced by its dimensions."""
    sides, out = _read(equation) if isinstance(equation, str) else (list(equation[0]), equation[1])
    if len(sides) != len(ranks):
        word = "fewer" if len(ranks) < len(sides) else "more"
        raise RuntimeError(f"einsum(): {word} operands were provided than specified in the equation")
    covered = 0
    for k, (side, rank) in enumerate(zip(sides, ranks, strict=True)):
        n = len(side) - (_ELLIPSIS in side)
        if _ELLIPSIS in side:
            if n > rank:
                raise RuntimeError(
                    f"einsum(): the number of subscripts in the equation ({n}) is more than the number of dimensions "
                    f"({rank}) for operand {k}"
                )
            covered = max(covered, rank - n)
        elif n != rank:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({n}) does not match the number of dimensions "
                f"({rank}) for operand {k} and no ellipsis was given"
            )
    dots = tuple(range(100, 100 + covered))
    full = []
    for side, rank in zip(sides, ranks, strict=True):
        missing = rank - len(side) + 1
        full.append(_spell(side, dots[covered - missing :] if missing else ()))
    return tuple(full), _output_labels(sides, out, full, dots)


def _spell(side: Labels, dots: Labels) -> Labels:
    if _ELLIPSIS not in side:
        return side
    i = side.index(_ELLIPSIS)
    return (*side[:i], *dots, *side[i + 1 :])


def _output_labels(sides: list[Labels], out: Labels | None, full: list[Labels], dots: Labels) -> Labels:
    if out is None:
        counts: dict[int, int] = {}
        for side in sides:
            for label in side:
                counts[label] = counts.get(label, 0) + 1
        return (*dots, *sorted(x for x, n in counts.items() if n == 1 and x != _ELLIPSIS))
    known = {label for side in full for label in side}
    for i, label in enumerate(out):
        if label == _ELLIPSIS:
            continue
        if label in out[:i]:
            raise RuntimeError(f"einsum(): output subscript {letter_of(label)} appears more than once in the output")
        if label not in known:
            raise RuntimeError(
                f"einsum(): output subscript {letter_of(label)} does not appear in the equation for any input operand"
            )
    return _spell(out, dots)


def ranks_of(out: Labels, labels: Any) -> dict[int, int]:
    """New labels, ascending in the order in which PyTorch has the dims of every operand: the result's come first."""
    return {label: k for k, label in enumerate(dict.fromkeys((*out, *sorted(labels))))}


def arguments_of(args: tuple[Any, ...]) -> tuple[Any, list[Any]]:
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its "
            "subscripts list"
        )
    if isinstance(args[0], str):
        operands: Any = args[1:]
        if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
            operands = operands[0]
        return args[0], list(operands)
    operands = args[0 : len(args) - len(args) % 2 : 2]
    sides = tuple(_numbered(s) for s in args[1::2])
    out = _numbered(args[-1]) if len(args) % 2 else None
    return (sides, out), list(operands)


def _numbered(labels: Any) -> Labels:
    found = []
    for x in labels:
        if x is Ellipsis:
            found.append(_ELLIPSIS)
        elif isinstance(x, int) and 0 <= x < 52:
            found.append(x)
        else:
            raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")
    return tuple(found)
