"""The size of a ragged dimension: a number that nobody knows, ``j1``, equal to itself alone."""

from __future__ import annotations

import weakref
from typing import Any

import wengert as torch

_state = {"next": 1}  # PyTorch's first is 1: an instance of its own has 0


class NestedInt(torch.SymInt):  # type: ignore[misc, valid-type]
    """``coeff`` times the length of a ragged dimension. It is at least 2 to a comparison, as in PyTorch."""

    def __new__(cls, number: int, coeff: int = 1) -> NestedInt:
        return object.__new__(cls)

    def __init__(self, number: int, coeff: int = 1) -> None:
        self.number, self.coeff = number, coeff

    def __repr__(self) -> str:
        return f"j{self.number}" if self.coeff == 1 else f"{self.coeff}*j{self.number}"

    def __hash__(self) -> int:
        return hash((self.number, self.coeff))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NestedInt) and (self.number, self.coeff) == (other.number, other.coeff)

    def __mul__(self, other: Any) -> NestedInt:
        return NestedInt(self.number, self.coeff * other) if isinstance(other, int) else NotImplemented

    __rmul__ = __mul__

    def _order(self, other: Any, larger: bool) -> bool:
        if isinstance(other, NestedInt) and other.number == self.number:
            return self.coeff > other.coeff if larger else self.coeff < other.coeff
        if isinstance(other, int) and other <= 2:
            return larger
        raise ValueError("nested int ordering is unknown")

    def __gt__(self, other: Any) -> bool:
        return self._order(other, larger=True)

    def __ge__(self, other: Any) -> bool:
        return self == other or self._order(other, larger=True)

    def __lt__(self, other: Any) -> bool:
        return self != other and not self.__ge__(other)

    def __le__(self, other: Any) -> bool:
        return self == other or not self.__ge__(other)


def get_tensor_symint(tensor: torch.Tensor, *, coeff: int = 1) -> NestedInt:
    """The ragged size that belongs to a tensor of offsets or lengths: the same one each time."""
    known = _OF.get(id(tensor))
    if known is None or known[0]() is not tensor:
        key = id(tensor)
        known = _OF[key] = (weakref.ref(tensor, lambda _: _OF.pop(key, None)), _state["next"])
        _state["next"] += 1
    return NestedInt(known[1], coeff)


_OF: dict[int, tuple[Any, int]] = {}
"""The id of a tensor, with a weak reference, and its number."""
