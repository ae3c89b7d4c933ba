"""Going into a transform and out of it: payloads and Tensors."""

from __future__ import annotations

from typing import Any

from .._node import AccumulateGrad, Node
from .._tensor import Tensor, current_fn, wrap


def payload(x: Tensor) -> Any:
    """What goes inside: the bare payload, or the Tensor itself if it is tracked, so that its tape sees what happens."""
    return x if current_fn(x) is not None else x._a


def tensor(p: Any) -> Tensor:
    """A payload that comes out of a transform, as a Tensor."""
    return p if isinstance(p, Tensor) else wrap(p)


def only_leads_to(roots: list[Node | None], own: set[Node]) -> bool:
    """Whether every leaf that a graph leads to is one of ``own``."""
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
            return False
        stack.extend(m for m in n.edges() if m is not None and m not in seen)
    return True
