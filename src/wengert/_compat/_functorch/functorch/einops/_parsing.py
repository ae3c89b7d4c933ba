"""The patterns of ``rearrange``: their grammar, and what a pattern must hold to."""

from __future__ import annotations

import keyword
from collections.abc import Collection, Mapping
from typing import Any

from wengert._base.errors import warn

_ellipsis = "\u2026"  # three dots as one character


class AnonymousAxis:
    """A dim without a name, given by its size; each is another one.

    >>> AnonymousAxis("3")
    3-axis
    """

    def __init__(self, value: str) -> None:
        self.value = int(value)
        if self.value < 1:
            raise ValueError(f"Anonymous axis should have positive length, not {self.value}")

    def __repr__(self) -> str:
        return f"{self.value}-axis"


class ParsedExpression:
    """One side of a pattern: its names, and what each dim of the tensor is composed of.

    >>> ParsedExpression("a (b c) 1 ...").composition
    [['a'], ['b', 'c'], [], '\u2026']
    """

    def __init__(self, expression: str, *, allow_underscore: bool = False, allow_duplicates: bool = False) -> None:
        self.has_ellipsis = "..." in expression
        self.has_ellipsis_parenthesized: bool | None = None
        self.identifiers: set[Any] = set()
        self.has_non_unitary_anonymous_axes = False
        self.composition: list[Any] = []
        self._allow_underscore, self._allow_duplicates = allow_underscore, allow_duplicates
        if "." in expression:
            message = "Expression may contain dots only inside ellipsis (...)"
            if not self.has_ellipsis:
                raise ValueError(message)
            if expression.count("...") != 1 or expression.count(".") != 3:
                raise ValueError(f"{message}; only one ellipsis for tensor ")
        self._group: list[Any] | None = None  # the names in the brackets that are open
        name = ""
        for char in expression.replace("...", _ellipsis):
            if char.isalnum() or char in ("_", _ellipsis):
                name += char
            elif char in "() ":
                self._add(name)
                name = ""
                self._bracket(char)
            else:
                raise ValueError(f"Unknown character '{char}'")
        if self._group is not None:
            raise ValueError(f"Imbalanced parentheses in expression: '{expression}'")
        self._add(name)

    def _bracket(self, char: str) -> None:
        if char == "(":
            if self._group is not None:
                raise ValueError("Axis composition is one-level (brackets inside brackets not allowed)")
            self._group = []
        elif char == ")":
            if self._group is None:
                raise ValueError("Brackets are not balanced")
            self.composition.append(self._group)
            self._group = None

    def _add(self, name: str) -> None:
        if not name:
            return
        repeated = self._allow_duplicates or (self._allow_underscore and name == "_")
        if name in self.identifiers and not repeated:
            raise ValueError(f"Indexing expression contains duplicate dimension '{name}'")
        if name == _ellipsis:
            self.has_ellipsis_parenthesized = self._group is not None
            self.identifiers.add(name)
            (self.composition if self._group is None else self._group).append(name)
            return
        if name.isdecimal() and int(name) == 1:  # an empty group has this size
            if self._group is None:
                self.composition.append([])
            return
        axis: Any = name
        if name.isdecimal():
            axis = AnonymousAxis(name)
            self.has_non_unitary_anonymous_axes = True
        else:
            valid, reason = self.check_axis_name_return_reason(name, self._allow_underscore)
            if not valid:
                raise ValueError(f"Invalid axis identifier: {name}\n{reason}")
        self.identifiers.add(axis)
        if self._group is None:
            self.composition.append([axis])
        else:
            self._group.append(axis)

    @staticmethod
    def check_axis_name_return_reason(name: str, allow_underscore: bool = False) -> tuple[bool, str]:
        """Whether a name may be a dim's, and why not."""
        if not name.isidentifier():
            return False, "not a valid python identifier"
        if name[0] == "_" or name[-1] == "_":
            if name == "_" and allow_underscore:
                return True, ""
            return False, "axis name should should not start or end with underscore"
        if keyword.iskeyword(name):
            warn(f"It is discouraged to use axes names that are keywords: {name}", RuntimeWarning)
        if name == "axis":
            warn("It is discouraged to use 'axis' as an axis name and will raise an error in future", FutureWarning)
        return True, ""

    @staticmethod
    def check_axis_name(name: str) -> bool:
        """Whether a name may be a dim's."""
        return ParsedExpression.check_axis_name_return_reason(name)[0]


def parse_pattern(pattern: str, axes_lengths: Mapping[str, int]) -> tuple[ParsedExpression, ParsedExpression]:
    """Both sides of a pattern."""
    sides = pattern.split("->")
    if len(sides) != 2:
        raise ValueError("Pattern must contain a single '->' separator")
    if _ellipsis in axes_lengths:
        raise ValueError(f"'{_ellipsis}' is not an allowed axis identifier")
    left, right = map(ParsedExpression, sides)
    if right.has_ellipsis and not left.has_ellipsis:
        raise ValueError(f"Ellipsis found in right side, but not left side of a pattern {pattern}")
    if left.has_ellipsis_parenthesized:
        raise ValueError(f"Ellipsis is parenthesis in the left side is not allowed: {pattern}")
    return left, right


def validate_rearrange_expressions(
    left: ParsedExpression, right: ParsedExpression, axes_lengths: Mapping[str, int]
) -> None:
    """Raise an error for a pattern that is none of ``rearrange``."""
    for length in axes_lengths.values():
        if type(length) is not int:
            raise TypeError(f"rearrange axis lengths must be integers, got: {type(length)}")
    if left.has_non_unitary_anonymous_axes or right.has_non_unitary_anonymous_axes:
        raise ValueError("rearrange only supports unnamed axes of size 1")
    alone = left.identifiers ^ right.identifiers
    if alone:
        raise ValueError(f"Identifiers only on one side of rearrange expression (should be on both): {alone}")
    unknown = axes_lengths.keys() - left.identifiers
    if unknown:
        raise ValueError(f"Identifiers not found in rearrange expression: {unknown}")


def comma_separate(collection: Collection[Any]) -> str:
    """The text of names and groups of names.

    >>> comma_separate(["a", ("b", "c")])
    'a, (b, c)'
    """
    return ", ".join(
        item if isinstance(item, str) else f"({comma_separate(item)}{',' if len(item) == 1 else ''})"
        for item in collection
    )
