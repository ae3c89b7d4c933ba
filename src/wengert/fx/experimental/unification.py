"""Variables of types, which PyTorch infers for graphs and wengert does not."""

from __future__ import annotations

from typing import Any

__all__ = ["Var"]


class Var:
    """A variable of a type: a name in an annotation.

    >>> import wengert as torch
    >>> from wengert.fx.experimental.unification import Var
    >>> Var("n")
    ~n
    """

    def __init__(self, token: Any) -> None:
        self.token = token

    def __eq__(self, other: object) -> bool:
        return type(other) is Var and other.token == self.token

    def __hash__(self) -> int:
        return hash((Var, self.token))

    def __repr__(self) -> str:
        return f"~{self.token}"
