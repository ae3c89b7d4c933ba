"""Conversion between Tensors and the payloads inside a transform."""

from __future__ import annotations

import weakref
from collections.abc import Container
from typing import Any
from weakref import WeakKeyDictionary

from .._base.errors import noted
from .._base.registry import TENSORS
from .._payloads.sparse_errors import lacks
from .._payloads.transforms import DEEPEST, Constant, below, of_transform
from .._tape.node import AccumulateGrad, Node
from .._tape.tensor import Tensor, current_fn, wrap


def payload(x: Tensor) -> Any:
    """The value to pass inside: the payload, or the Tensor itself if it is tracked, for its tape to record."""
    return x if current_fn(x) is not None else x._payload


def tensor(p: Any) -> Tensor:
    """A Tensor on a payload that leaves a transform."""
    return p if isinstance(p, Tensor) else wrap(p.v if type(p) is Constant else p)


def holds(t: Any, kind: type, tag: int) -> bool:
    """Whether an object is a tensor with a value of the transform with this tag."""
    return isinstance(t, Tensor) and isinstance(t._payload, kind) and t._payload.tag == tag


def in_front(x: Tensor, d: int) -> Tensor:
    """A tensor with this dimension first."""
    return x if d == 0 else TENSORS.permute(x, (d, *(i for i in range(x._payload.ndim) if i != d)))


def to_place(t: Tensor, d: int) -> Tensor:
    """A tensor with its first dimension moved to the place ``d``."""
    return t if d == 0 else TENSORS.permute(t, (*range(1, d + 1), 0, *range(d + 1, t._payload.ndim)))


def bare(t: Tensor) -> Tensor:
    """The tensor without its history."""
    return t if t._node is None else wrap(t._payload)


def check_captured(inside: Any, tag: int, message: str) -> None:
    """Raise an error if a transform's function wrote to a tensor that outlives it.

    Otherwise the tensor would hold a value of a transform that has ended. Its old value is restored.
    """
    captured = []
    for ref, a, fn in inside.rebound:
        t = ref()
        if t is None:
            continue
        if getattr(t._payload, "tag", 0) & DEEPEST >= tag & DEEPEST:  # a value of this transform, or of one inside it
            t._payload, t._node, t._box = a, fn, None
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
    """Raise an error if reverse mode's function wrote a value that depends on its variables to an outer tensor.

    Otherwise the tensor would keep the history of a tape that has ended. The write is found only after the function's
    own tensors are freed, so the tensor keeps the new value, without the history.
    """
    captured = [t for ref in inside.adopted if (t := ref()) is not None and not any(t is r for r in results)]
    for t in captured:
        t._node = None
    if captured:
        raise noted(
            RuntimeError(message),
            f"Which: a tensor of shape {list(captured[0].shape)} that was made outside; it keeps what was written.",
            "What to do: compute a new tensor (y = y + x rather than y += x) and return it.",
        )


# The variables of transforms, with a weak reference to what dies when the transform ends.
VARIABLES: WeakKeyDictionary[Node, weakref.ref[Any]] = WeakKeyDictionary()


def only_leads_to(roots: list[Node | None], own: Container[Node]) -> bool:
    """Whether every leaf of a graph is one of ``own``, or the variable of a transform that has ended."""
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
            running = VARIABLES.get(n)
            if running is None or running() is not None:
                return False
            continue
        stack.extend(m for m in n._edges() if m is not None and m not in seen)
    return True


def check_tangent(tensor: Tensor, tangent: Tensor) -> None:
    """A tangent must have its tensor's shape, and neither may be sparse."""
    for a in (tensor._payload, tangent._payload):
        if getattr(a, "is_sparse", False):
            raise lacks(a, "storage")
    if tuple(tangent.shape) != tuple(tensor.shape):
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(tensor.shape)} while the given forward gradient is of size "
            f"{list(tangent.shape)}."
        )


def without_ended(a: Any) -> Any:
    """A value without the history of transforms that have ended, at any depth."""
    if isinstance(a, Tensor):
        return without_ended(a._payload) if only_leads_to([a._node], set()) else a
    return below(a, without_ended) if of_transform(a) else a
