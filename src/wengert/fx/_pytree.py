"""Nested arguments as flat lists, by the structure that a trace saw: what generated code calls."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

from ..utils._pytree import TreeSpec, tree_flatten

__all__ = ["register_pytree_flatten_spec", "tree_flatten_spec"]

SUPPORTED_NODES: dict[Any, Callable[[Any, TreeSpec], list[Any]]] = {}
SUPPORTED_NODES_EXACT_MATCH: dict[Any, Callable[[Any, TreeSpec], bool] | None] = {}


def register_pytree_flatten_spec(
    cls: Any,
    flatten_fn_spec: Callable[[Any, TreeSpec], list[Any]],
    flatten_fn_exact_match_spec: Callable[[Any, TreeSpec], bool] | None = None,
) -> None:
    """Say how a container's children are found, given the structure that is expected."""
    SUPPORTED_NODES[cls] = flatten_fn_spec
    SUPPORTED_NODES_EXACT_MATCH[cls] = flatten_fn_exact_match_spec


def _deregister_pytree_flatten_spec(cls: Any) -> None:
    del SUPPORTED_NODES[cls]
    del SUPPORTED_NODES_EXACT_MATCH[cls]


def tree_flatten_spec(pytree: Any, spec: TreeSpec) -> list[Any]:
    """The leaves of an object that has the structure ``spec``; what a dict has besides is left out.

    Raises:
        RuntimeError: it has another structure.
    """
    if spec.is_leaf():
        return [pytree]
    if spec.type in SUPPORTED_NODES:
        children = SUPPORTED_NODES[spec.type](pytree, spec)
        parts = [tree_flatten_spec(c, s) for c, s in zip(children, spec.children(), strict=False)]
        return [leaf for part in parts for leaf in part]
    leaves, real = tree_flatten(pytree)
    if spec != real:
        raise RuntimeError(
            f"Real spec {real} of object {pytree} is different from expected spec {spec}. "
            "Please file an issue at https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml"
        )
    return leaves


def _same_length(d: Any, spec: TreeSpec) -> bool:
    return len(d) == spec.num_children


def _by_place(d: Any, spec: TreeSpec) -> list[Any]:
    return [d[i] for i in range(spec.num_children)]


register_pytree_flatten_spec(dict, lambda d, spec: [d[k] for k in spec.context], _same_length)
for _cls in (list, tuple, namedtuple):
    register_pytree_flatten_spec(_cls, _by_place, _same_length)
