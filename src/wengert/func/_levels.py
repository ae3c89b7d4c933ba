"""Going into a transform and out of it: payloads and Tensors."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from .._base.errors import noted
from .._payloads.transforms import DEEPEST, Const
from .._tape.node import AccumulateGrad, Node
from .._tape.tensor import Tensor, current_fn, wrap


def payload(x: Tensor) -> Any:
    """What goes inside: the bare payload, or the Tensor itself if it is tracked, so that its tape sees what happens."""
    return x if current_fn(x) is not None else x._a


def tensor(p: Any) -> Tensor:
    """A payload that comes out of a transform, as a Tensor."""
    return p if isinstance(p, Tensor) else wrap(p.v if type(p) is Const else p)


def bare(t: Tensor) -> Tensor:
    """The tensor without its tape."""
    return t if t._fn is None else wrap(t._a)


def check_captured(inside: Any, tag: int, message: str) -> None:
    """Refuse that a transform's function wrote to a tensor that outlives it.

    Such a tensor would go on as a value of a transform that is over. It gets its old value back.
    """
    captured = []
    for ref, a, fn in inside.rebound:
        t = ref()
        if t is None:
            continue
        if getattr(t._a, "tag", 0) & DEEPEST >= tag & DEEPEST:  # a value of this transform, or of one inside of it
            t._a, t._fn, t._m = a, fn, None
            captured.append(t)
        elif inside.outer is not None:
            inside.outer.rebound.append((ref, a, fn))
    if captured:
        raise noted(
            RuntimeError(message),
            f"Which: a tensor of shape {list(captured[0].shape)} that was made outside; it has its old value again.",
            "What to do: compute a new tensor (y = y + x rather than y += x) and return it.",
        )


def check_adopted(inside: Any, results: list[Any], message: str) -> None:
    """Refuse that reverse mode's function wrote a value that depends on its variables to a tensor that outlives it.

    Such a tensor would go on with the history of a tape that is over. It is found when the function's own tensors are
    gone, so it keeps what was written, without that history.
    """
    captured = [t for ref in inside.adopted if (t := ref()) is not None and not any(t is r for r in results)]
    for t in captured:
        t._fn = None
    if captured:
        raise noted(
            RuntimeError(message),
            f"Which: a tensor of shape {list(captured[0].shape)} that was made outside; it keeps what was written.",
            "What to do: compute a new tensor (y = y + x rather than y += x) and return it.",
        )


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
