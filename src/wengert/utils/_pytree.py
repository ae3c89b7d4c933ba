"""Nested tuples, lists and dicts as flat lists and back: ``tree_flatten``, ``tree_unflatten``, ``tree_map``."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any

PyTree = Any


class TreeSpec:
    """The shape of a nested structure: enough to put a flat list of leaves back into it."""

    __slots__ = ("children_specs", "context", "num_leaves", "type")

    def __init__(self, type_: Any, context: Any, children: list[TreeSpec]) -> None:
        self.type = type_
        self.context = context
        self.children_specs = children
        self.num_leaves: int = sum(c.num_leaves for c in children) if type_ is not None else 1

    def is_leaf(self) -> bool:
        """Whether this is a single value."""
        return self.type is None

    def unflatten(self, leaves: Iterable[Any]) -> PyTree:
        """The structure with these leaves."""
        return tree_unflatten(leaves, self)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TreeSpec)
            and self.type is other.type
            and self.context == other.context
            and self.children_specs == other.children_specs
        )

    def __hash__(self) -> int:
        return hash((self.type, self.num_leaves))

    def __repr__(self) -> str:
        return _spec_text(self, 0)


def _spec_text(spec: TreeSpec, indent: int) -> str:
    if spec.type is None:
        return "*"
    indent += 2
    children = f",\n{' ' * indent}".join(_spec_text(c, indent) for c in spec.children_specs)
    return f"TreeSpec({spec.type.__name__}, {spec.context}, [{children}])"


class _Star:
    def __repr__(self) -> str:
        return "*"


def pprint(spec: TreeSpec) -> str:
    """A spec as the structure that it describes, with a star for each leaf."""
    return repr(tree_unflatten([_Star()] * spec.num_leaves, spec))


class LeafSpec(TreeSpec):
    """The spec of a single value."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(None, None, [])


_nodes: dict[type, tuple[Callable[[Any], tuple[list[Any], Any]], Callable[[list[Any], Any], Any]]] = {}


def register_pytree_node(cls: type, flatten_fn: Any, unflatten_fn: Any, **_: Any) -> None:
    """Teach the tree functions a container.

    ``flatten_fn(x) -> (children, context)``, ``unflatten_fn(children, context)``.
    """
    _nodes[cls] = (flatten_fn, unflatten_fn)


register_pytree_node(tuple, lambda t: (list(t), None), lambda c, _: tuple(c))
register_pytree_node(list, lambda t: (list(t), None), lambda c, _: list(c))
register_pytree_node(dict, lambda d: (list(d.values()), list(d)), lambda c, k: dict(zip(k, c, strict=True)))
register_pytree_node(
    OrderedDict, lambda d: (list(d.values()), list(d)), lambda c, k: OrderedDict(zip(k, c, strict=True))
)
register_pytree_node(
    defaultdict,
    lambda d: (list(d.values()), (d.default_factory, list(d))),
    lambda c, x: defaultdict(x[0], zip(x[1], c, strict=True)),
)
register_pytree_node(deque, lambda d: (list(d), d.maxlen), lambda c, n: deque(c, maxlen=n))


def _node_type(tree: Any) -> Any:
    ty = type(tree)
    if ty in _nodes:
        return ty
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return "namedtuple"
    return None


def tree_flatten(tree: PyTree, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], TreeSpec]:
    """The leaves of a structure, in order, and its spec.

    >>> tree_flatten({"a": 1, "b": (2, 3)})[0]
    [1, 2, 3]
    """
    leaves: list[Any] = []
    return leaves, _flatten(tree, leaves, is_leaf)


def _flatten(tree: Any, leaves: list[Any], is_leaf: Any) -> TreeSpec:
    kind = None if is_leaf is not None and is_leaf(tree) else _node_type(tree)
    if kind is None:
        leaves.append(tree)
        return LeafSpec()
    if kind == "namedtuple":
        return TreeSpec(type(tree), "namedtuple", [_flatten(c, leaves, is_leaf) for c in tree])
    children, context = _nodes[kind][0](tree)
    return TreeSpec(kind, context, [_flatten(c, leaves, is_leaf) for c in children])


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """The structure of a spec with these leaves.

    >>> leaves, spec = tree_flatten([1, (2,)])
    >>> tree_unflatten([x * 10 for x in leaves], spec)
    [10, (20,)]
    """
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(
            f"tree_unflatten(leaves, treespec): `leaves` has length {len(leaves)} but the spec refers to a pytree that "
            f"holds {treespec.num_leaves} items ({treespec})."
        )
    return _build(iter(leaves), treespec)


def _build(leaves: Any, spec: TreeSpec) -> Any:
    if spec.type is None:
        return next(leaves)
    children = [_build(leaves, c) for c in spec.children_specs]
    if spec.context == "namedtuple" and spec.type not in _nodes:
        return spec.type(*children)
    return _nodes[spec.type][1](children, spec.context)


def tree_leaves(tree: PyTree, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """The leaves of a structure, in order."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: PyTree, is_leaf: Callable[[Any], bool] | None = None) -> TreeSpec:
    """The spec of a structure."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: Callable[[Any], bool] | None = None
) -> PyTree:
    """The structure with ``func`` applied to every leaf (and to the corresponding leaves of ``rests``).

    >>> tree_map(lambda x: x + 1, {"a": [1, 2]})
    {'a': [2, 3]}
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [tree_flatten(r, is_leaf)[0] for r in rests]
    return tree_unflatten([func(*xs) for xs in zip(leaves, *others, strict=True)], spec)


def tree_map_(func: Callable[..., Any], tree: PyTree, *rests: PyTree) -> PyTree:
    """Call ``func`` on every leaf for its effect; returns the tree."""
    for xs in zip(*[tree_leaves(t) for t in (tree, *rests)], strict=True):
        func(*xs)
    return tree


def tree_map_only(type_or_types: Any, func: Callable[[Any], Any], tree: PyTree) -> PyTree:
    """``tree_map`` on the leaves of these types only."""
    return tree_map(lambda x: func(x) if isinstance(x, type_or_types) else x, tree)


def tree_all(pred: Callable[[Any], bool], tree: PyTree) -> bool:
    """Whether ``pred`` holds for every leaf."""
    return all(map(pred, tree_leaves(tree)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree) -> bool:
    """Whether ``pred`` holds for some leaf."""
    return any(map(pred, tree_leaves(tree)))


def broadcast_to_and_flatten(tree: PyTree, treespec: TreeSpec) -> list[Any] | None:
    """A structure's prefix, such as ``in_dims=(0, None)``, as one value for each leaf; ``None`` if it does not fit."""
    if _node_type(tree) is None:
        return [tree] * treespec.num_leaves
    if treespec.type is None or _node_type(tree) not in (treespec.type, "namedtuple"):
        return None
    children = list(tree.values()) if isinstance(tree, dict) else list(tree)
    if len(children) != len(treespec.children_specs):
        return None
    result: list[Any] = []
    for child, spec in zip(children, treespec.children_specs, strict=True):
        part = broadcast_to_and_flatten(child, spec)
        if part is None:
            return None
        result += part
    return result


_broadcast_to_and_flatten = broadcast_to_and_flatten
