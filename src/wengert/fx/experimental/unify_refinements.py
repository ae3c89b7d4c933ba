"""``infer_symbolic_types``: equal sizes of a checked graph get one name."""

from __future__ import annotations

from typing import Any

from ..graph import Graph
from ..graph_module import GraphModule
from ..tensor_type import TensorType
from .graph_gradual_typechecker import Refine
from .refinement_types import Equality
from .unification import unify

__all__ = [
    "check_for_type_equality",
    "convert_eq",
    "infer_symbolic_types",
    "infer_symbolic_types_single_pass",
    "substitute_all_types",
    "substitute_solution_one_type",
    "unify_eq",
]


def infer_symbolic_types_single_pass(traced: GraphModule) -> None:
    """Name the sizes of a checked graph, equal ones alike."""
    refiner = Refine(traced)
    refiner.refine()
    substitute_all_types(traced.graph, unify_eq(refiner.constraints))


def infer_symbolic_types(traced: GraphModule) -> None:
    """Name the sizes of a checked graph by symbols of SymPy, and write those that are computed as formulas.

    The equalities are collected twice: sums know more of their operands the second time.
    """
    infer_symbolic_types_single_pass(traced)
    infer_symbolic_types_single_pass(traced)
    Refine(traced).symbolic_relations()


def convert_eq(list_of_eq: list[Equality]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The left and the right sides."""
    return tuple([eq.lhs for eq in list_of_eq]), tuple([eq.rhs for eq in list_of_eq])


def unify_eq(list_of_eq: list[Equality]) -> Any:
    """What each name is, so that all are equal; False if that cannot be."""
    return unify(*convert_eq(list_of_eq))


def substitute_solution_one_type(mapping: dict[Any, Any], t: Any) -> Any:
    """A type, with what each name is."""
    if isinstance(t, TensorType):
        return TensorType(tuple([mapping.get(size, size) for size in t.dims]))
    if isinstance(t, (list, tuple)):
        return type(t)([substitute_solution_one_type(mapping, one) for one in t])
    return mapping.get(t, t) if getattr(t, "__hash__", None) else t


def substitute_all_types(graph: Graph, mapping: dict[Any, Any]) -> None:
    """Put what each name is into all types of a graph."""
    changed = True
    while changed:
        further = {k: mapping.get(v, v) for k, v in mapping.items()}
        changed = further != mapping
        mapping.update(further)
    for n in graph.nodes:
        n.type = substitute_solution_one_type(mapping, n.type)


def check_for_type_equality(g1: Graph, g2: Graph) -> bool:
    """Whether the nodes of two graphs have the same types."""
    return all(n.type == m.type for n, m in zip(g1.nodes, g2.nodes, strict=False))
