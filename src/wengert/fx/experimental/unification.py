"""Variables of types, and what they must be so that types are equal (Robinson's unification)."""

from __future__ import annotations

from typing import Any

__all__ = ["Var", "unify"]


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


def unify(u: Any, v: Any, s: dict[Any, Any] | None = None) -> Any:
    """What each variable is, so that both are equal; False if that cannot be.

    >>> from wengert.fx.experimental.unification import Var, unify
    >>> unify((1, Var("x")), (Var("y"), 2))
    {~y: 1, ~x: 2}
    """
    known: Any = {} if s is None else s
    u, v = _walked(u, known), _walked(v, known)
    if type(u) is type(v) and isinstance(u, (list, tuple)):
        if len(u) != len(v):
            return False
        for a, b in zip(u, v, strict=True):
            known = unify(a, b, known)
            if known is False:
                return False
        return known
    if u == v:
        return known
    for name, value in ((u, v), (v, u)):
        if isinstance(name, Var):
            return {**known, name: value}
    return False


def _walked(key: Any, s: dict[Any, Any]) -> Any:
    while isinstance(key, Var) and key in s:
        key = s[key]
    return key
