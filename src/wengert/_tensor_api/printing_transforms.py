"""The texts of tensors inside of transforms: PyTorch's wrappers with their levels, the outermost transform's being 1.

Reverse mode on the program's own tape wraps nothing here, as PyTorch's does. What belongs to it is found by its
history, which leads to the transform's variables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._base.modes import in_transform
from .._payloads.transforms import DEEPEST, Batched, Constant, Dual, Transformed, of_transform
from .._tape.tensor import Tensor, current_fn, wrap
from .printing import format_wrapper


def tapes_above(t: Tensor) -> tuple[int, list[int]]:
    """How many running transforms use the program's own tape, and the levels of those that a tensor belongs to."""
    variables = []
    at = in_transform()
    while at is not None:
        if at.variables is not None:
            variables.append(at.variables)
        at = at.outer
    variables.reverse()
    node = current_fn(t)
    found: set[int] = set()
    seen, stack = set(), [] if node is None or not variables else [node]
    while stack:
        n = stack.pop()
        if n in seen:
            continue
        seen.add(n)
        found.update(level for level, own in enumerate(variables, 1) if n in own)
        stack.extend(m for m in n._edges() if m is not None)
    return len(variables), sorted(found)


def text_inside(t: Tensor, text_of: Callable[[Tensor], str]) -> str | None:
    """The text of a tensor of a transform; ``None`` for any other."""
    a = t._payload
    if isinstance(a, Tensor):
        return format_wrapper("GradTrackingTensor", text_of(a), level=_depth(a) + 1)
    around, levels = tapes_above(t)
    if of_transform(a):
        if isinstance(a, Constant) or (isinstance(a, Dual) and not a.tag & DEEPEST):
            return None  # as it is, and a dual tensor
        name = "BatchedTensor" if isinstance(a, Batched) else "GradTrackingTensor"
        text = text_of(program_order(a))
        text = format_wrapper(name, text, level=around + (a.tag & DEEPEST), bdim=getattr(a, "bdim", None))
    elif levels:
        text = text_of(wrap(a))
    else:
        return None
    for level in levels:
        text = format_wrapper("GradTrackingTensor", text, level=level)
    return text


def program_order(a: Transformed) -> Tensor:
    """The tensor inside of a transform's value, with its dims as the program gave them."""
    inner = a.v if isinstance(a.v, Tensor) else wrap(a.v)
    bdim = getattr(a, "bdim", 0)
    return inner.movedim(0, bdim) if bdim else inner


def _depth(a: Any) -> int:
    """The number of transforms around a tensor's payload."""
    depth = 0
    while isinstance(a, (Tensor, Transformed)):
        inner = a._payload if isinstance(a, Tensor) else a.v
        depth += isinstance(inner, Tensor) if isinstance(a, Tensor) else not isinstance(a, Constant)
        a = inner
    return depth
