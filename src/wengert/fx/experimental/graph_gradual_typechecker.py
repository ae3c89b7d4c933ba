"""Types of graphs, which PyTorch infers and wengert does not: names that programs import."""

from __future__ import annotations

from typing import Any

from ..._base.errors import noted

__all__ = ["GraphTypeChecker", "Refine", "broadcast_types"]


def broadcast_types(t1: Any, t2: Any) -> Any:
    """Not there: ``NotImplementedError``."""
    raise noted(
        NotImplementedError("torch.fx.experimental.graph_gradual_typechecker: wengert infers no types of graphs"),
        "What to do: torch.fx.passes.shape_prop.ShapeProp notes shapes and dtypes for example inputs.",
    )


class GraphTypeChecker:
    """Not there: ``NotImplementedError``."""

    def __init__(self, env: Any, traced: Any) -> None:
        broadcast_types(env, traced)


class Refine(GraphTypeChecker):
    """Not there: ``NotImplementedError``."""

    def __init__(self, traced: Any) -> None:
        super().__init__({}, traced)
