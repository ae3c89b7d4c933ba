"""What programs ask about symbolic shapes: there are none, so numbers are known, and each question has its answer."""

from __future__ import annotations

from typing import Any

from ..._compat import open_rows

__all__ = ["GuardOnDataDependentSymNode"]


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


def fx_placeholder_vals(gm: Any) -> list[Any]:
    """The examples of a graph's inputs."""
    return [n.meta["val"] for n in gm.graph.find_nodes(op="placeholder")]


def fx_placeholder_targets(gm: Any) -> list[str]:
    """The names of a graph's inputs."""
    return [n.target for n in gm.graph.find_nodes(op="placeholder")]


open_rows(globals())
