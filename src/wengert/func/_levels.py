"""Going into a transform and out of it: payloads and Tensors."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from .._node import AccumulateGrad, Node
from .._tensor import Tensor, current_fn, wrap
from .._values import Const


def payload(x: Tensor) -> Any:
    """What goes inside: the bare payload, or the Tensor itself if it is tracked, so that its tape sees what happens."""
    return x if current_fn(x) is not None else x._a


def tensor(p: Any) -> Tensor:
    """A payload that comes out of a transform, as a Tensor."""
    return p if isinstance(p, Tensor) else wrap(p.v if type(p) is Const else p)


def bare(t: Tensor) -> Tensor:
    """The tensor without its tape."""
    return t if t._fn is None else wrap(t._a)


TAPES: WeakKeyDictionary[Node, Any] = WeakKeyDictionary()  # the variables of transforms, and whose they are


def only_leads_to(roots: list[Node | None], own: set[Node]) -> bool:
    """Whether every leaf that a graph leads to is one of ``own``, or the variable of a transform that is over."""
    seen: set[Node] = set()
    stack = [n for n in roots if n is not None]
    while stack:
        n = stack.pop()
        if n in seen:
            continue
        seen.add(n)
        if n in own:
            continue
        if type(n) is AccumulateGrad:
            tape = TAPES.get(n)
            if tape is None or tape.open:
                return False
            continue
        stack.extend(m for m in n.edges() if m is not None and m not in seen)
    return True
