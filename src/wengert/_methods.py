"""Putting the declared names where users find them: methods on ``Tensor``, functions in modules."""

from __future__ import annotations

from typing import Any

from . import _graph
from ._registry import PUBLIC
from ._tensor import Tensor


def attach() -> None:
    """Give ``Tensor`` every method that the operators and the graph's surface declare."""
    for name, fn in PUBLIC.get("Tensor", {}).items():
        setattr(Tensor, name, fn)
    Tensor.backward = _graph.tensor_backward  # type: ignore[attr-defined]
    for name in ("requires_grad_", "retain_grad", "register_hook", "register_post_accumulate_grad_hook"):
        setattr(Tensor, name, getattr(_graph, name))
    Tensor.retains_grad = property(_graph.retains_grad)  # type: ignore[attr-defined]
    Tensor.__radd__ = Tensor.__add__
    Tensor.__rmul__ = Tensor.__mul__


def namespace(space: str) -> dict[str, Any]:
    """The public functions of one module, by name: ``namespace("nn.functional")``."""
    return PUBLIC.get(space, {})
