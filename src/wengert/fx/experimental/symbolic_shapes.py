"""What programs ask about symbolic shapes: there are none, so numbers are known, and each question has its answer."""

from __future__ import annotations

from typing import Any

from ..._compat import open_rows
from ._shape_env import ShapeEnv

__all__ = ["GuardOnDataDependentSymNode", "ShapeEnv"]


class GuardOnDataDependentSymNode(RuntimeError):
    """An exported program takes a number out of a tensor that depends on its inputs."""


def guard_bool(a: Any) -> bool:
    """The number itself, as ``bool``.

    >>> from wengert.fx.experimental.symbolic_shapes import guard_or_false, guard_int
    >>> guard_or_false(3 > 2), guard_int(3)
    (True, 3)
    """
    return bool(a)


guard_or_false = guard_or_true = statically_known_true = guard_bool


def guard_int(a: Any) -> int:
    """The number itself, as ``int``."""
    return int(a)


def guard_float(a: Any) -> float:
    """The number itself, as ``float``."""
    return float(a)


def bind_symbols(gm: Any, *args: Any) -> Any:
    """The numbers that inputs give the symbols of a graph: ``{s75: 4}``."""
    return gm.shape_env.bind_symbols(fx_placeholder_vals(gm), args)


def eval_guards(gm: Any, *args: Any, ignore_static: bool = True) -> bool:
    """Whether a graph is one for these inputs."""
    return bool(gm.shape_env.evaluate_guards_for_args(fx_placeholder_vals(gm), args, ignore_static=ignore_static))


def fx_placeholder_vals(gm: Any) -> list[Any]:
    """The examples of a graph's inputs."""
    return [n.meta["val"] for n in gm.graph.find_nodes(op="placeholder")]


def fx_placeholder_targets(gm: Any) -> list[str]:
    """The names of a graph's inputs."""
    return [n.target for n in gm.graph.find_nodes(op="placeholder")]


open_rows(globals())
