"""Nested tuples, lists, dicts, ... ("pytrees") as flat lists and back: ``tree_flatten``, ``tree_unflatten``, maps.

The types of containers are in ``SUPPORTED_NODES``, to which ``register_pytree_node`` adds; all other objects are
leaves. A ``TreeSpec`` is the structure of a tree without its leaves. ``treespec_dumps`` writes PyTorch's format.
"""

from __future__ import annotations

import functools
import types
import warnings
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from .._base.errors import noted, printable, warn
from . import _pytree_nodes
from ._pytree_nodes import (
    BUILTIN_TYPES,
    BY_NAME,
    STANDARD_DICT_TYPES,
    SUPPORTED_NODES,
    WRITTEN,
    ConstantNode,
    Context,
    DumpableContext,
    FlattenFn,
    FromDumpableContextFn,
    IsLeaf,
    KeyPath,
    PyTree,
    ToDumpableContextFn,
    UnflattenFn,
    _get_node_type,
    enum_as_dict,
    is_namedtuple,
    is_namedtuple_class,
    is_namedtuple_instance,
    is_structseq,
    is_structseq_class,
    is_structseq_instance,
    key_get,
    keystr,
    no_enum,
    register_pytree_node,
    tree_is_leaf,
)

__all__ = [
    "PyTree", "Context", "FlattenFn", "UnflattenFn", "DumpableContext", "ToDumpableContextFn", "FromDumpableContextFn",
    "PyTreeSpec", "TreeSpec", "LeafSpec", "keystr", "key_get", "register_pytree_node", "tree_is_leaf", "tree_flatten",
    "tree_flatten_with_path", "tree_unflatten", "tree_iter", "tree_leaves", "tree_leaves_with_path", "tree_structure",
    "tree_map", "tree_map_with_path", "tree_map_", "tree_map_only", "tree_map_only_", "tree_all", "tree_any",
    "tree_all_only", "tree_any_only", "treespec_dumps", "treespec_loads", "treespec_pprint", "is_namedtuple",
    "is_namedtuple_class", "is_namedtuple_instance", "is_structseq", "is_structseq_class", "is_structseq_instance",
]  # fmt: skip


# ---- specs
class TreeSpec:
    """The structure of a tree, made by ``tree_flatten``, with which ``tree_unflatten`` rebuilds it from its leaves.

    Attributes:
        type: the container's class (``collections.namedtuple`` for all of those); None for a leaf.
        context: the second result of its ``flatten_fn``.
        num_leaves, num_children, num_nodes: the numbers of leaves, children and nodes.
    """

    __slots__ = ("_children", "_context", "num_children", "num_leaves", "num_nodes", "type")

    def __init__(self, type: Any, context: Context, children_specs: list[TreeSpec]) -> None:
        if type is None and (context is not None or children_specs):
            raise AssertionError("leaf node should not have a context or children")
        self.type, self._context, self._children = type, context, children_specs
        self.num_children = len(children_specs)
        self.num_nodes: int = 1 + sum([child.num_nodes for child in children_specs])
        self.num_leaves: int = 1 if type is None else sum([child.num_leaves for child in children_specs])

    @property
    def context(self) -> Context:
        """The second result of the container's ``flatten_fn``."""
        return self._context

    @property
    def children_specs(self) -> list[TreeSpec]:
        """The old form of ``children()``."""
        warn(
            "`treespec.children_specs` is deprecated. Use `treespec.child(index)` to access a single child, or "
            "`treespec.children()` to get all children.",
            FutureWarning,
        )
        return self._children

    def children(self) -> list[TreeSpec]:
        """The specs of the children."""
        return list(self._children)

    def child(self, index: int) -> TreeSpec:
        """The spec of one of them."""
        return self._children[index]

    def is_leaf(self) -> bool:
        """Whether this is a single value."""
        return self.type is None

    def unflatten(self, leaves: Iterable[Any]) -> PyTree:
        """The tree with these leaves.

        Raises:
            ValueError: there are too many or too few.
        """
        leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec refers to a pytree that "
                f"holds {self.num_leaves} items ({self})."
            )
        return self._build(iter(leaves))

    def _build(self, leaves: Iterator[Any]) -> PyTree:
        if self.type is None:
            return next(leaves)
        return SUPPORTED_NODES[self.type].unflatten_fn(
            [child._build(leaves) for child in self._children], self._context
        )

    def flatten_up_to(self, tree: PyTree) -> list[PyTree]:
        """The subtrees of another tree at the positions of this one's leaves.

        Raises:
            ValueError: the other tree does not have this structure.
        """
        found: list[PyTree] = []
        self._collect(tree, found)
        return found

    def _collect(self, tree: PyTree, found: list[PyTree]) -> None:
        if self.type is None:
            found.append(tree)
            return
        for child, spec in zip(self._matched(tree), self._children, strict=True):
            spec._collect(child, found)

    def _matched(self, tree: PyTree) -> list[PyTree]:
        """The children of another container of this kind, in this one's order."""
        kind = _get_node_type(tree)
        dicts = kind in STANDARD_DICT_TYPES and self.type in STANDARD_DICT_TYPES
        builtin = self.type in BUILTIN_TYPES
        if kind != self.type and not dicts:
            raise ValueError(
                f"{'Node type' if builtin else 'Type'} mismatch; expected {self.type!r}, but got {kind!r}."
            )
        children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
        if len(children) != self.num_children:
            raise ValueError(f"Node arity mismatch; expected {self.num_children}, but got {len(children)}.")
        if dicts:
            return self._by_keys(tree)
        if context != self._context and kind is not deque:
            what = f"node type {self.type!r}; expected {self._context!r}, but got {context!r}"
            raise ValueError(f"Node context mismatch for {what if builtin else f'custom node type {self.type!r}'}.")
        return children

    def _by_keys(self, tree: Mapping[Any, Any]) -> list[PyTree]:
        keys = self._context[1] if self.type is defaultdict else self._context
        missing, extra = set(keys) - set(tree), set(tree) - set(keys)
        if missing or extra:
            text = f"; missing key(s): {missing}" if missing else ""
            text += f"; extra key(s): {extra}" if extra else ""
            raise ValueError(f"Node keys mismatch{text}.")
        return [tree[key] for key in keys]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return (
            str(self.type) == str(other.type) and self._context == other._context and self._children == other._children
        )

    def __hash__(self) -> int:
        context = self._context
        if self.type is defaultdict:
            context = (context[0], tuple(context[1]))
        elif self.type in (dict, OrderedDict):
            context = tuple(context)
        elif isinstance(context, ConstantNode):
            context = context.value
        elif self.type not in BUILTIN_TYPES:
            context = None
        return hash((self.type, context, tuple(self._children)))

    def __repr__(self) -> str:
        return _spec_text(self, 0)


def _spec_text(spec: TreeSpec, indent: int) -> str:
    if spec.type is None:
        return "*"
    indent += 2
    children = f",\n{' ' * indent}".join([_spec_text(child, indent) for child in spec._children])
    return f"TreeSpec({spec.type.__name__}, {spec._context}, [{children}])"


PyTreeSpec = TreeSpec


class LeafSpec(TreeSpec):
    """The spec of a single value. Deprecated: ``spec.is_leaf()`` asks, ``treespec_leaf()`` gives one."""

    __slots__ = ()

    def __init__(self) -> None:
        warn(
            "`isinstance(treespec, LeafSpec)` is deprecated, use `isinstance(treespec, TreeSpec) and "
            "treespec.is_leaf()` instead.",
            FutureWarning,
        )
        super().__init__(None, None, [])


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    _LEAF_SPEC = LeafSpec()


def treespec_leaf() -> TreeSpec:
    """The spec of a single value."""
    return _LEAF_SPEC


def _check_specs(specs: Iterable[Any], what: str, given: Any) -> None:
    if not all(isinstance(spec, TreeSpec) for spec in specs):
        raise ValueError(f"Expected a {what} of TreeSpec values, got: {given!r}.")


def treespec_tuple(iterable: Iterable[TreeSpec] = (), /) -> TreeSpec:
    """The spec of a tuple, from the specs of its items."""
    specs = list(iterable)
    _check_specs(specs, "tuple", specs)
    return TreeSpec(tuple, None, specs)


def treespec_dict(mapping: Any = (), /, **kwargs: TreeSpec) -> TreeSpec:
    """The spec of a dict, from the specs of its values."""
    specs = dict(mapping, **kwargs)
    _check_specs(specs.values(), "dictionary", specs)
    return TreeSpec(dict, list(specs), list(specs.values()))


class _Star(str):
    __slots__ = ()

    def __repr__(self) -> str:
        return "*"


def treespec_pprint(treespec: TreeSpec) -> str:
    """A spec as the tree that it describes, with a star for each leaf.

    >>> treespec_pprint(tree_structure({"a": [1, (2,)]}))
    "{'a': [*, (*,)]}"
    """
    return repr(treespec.unflatten([_Star("*")] * treespec.num_leaves))


# ---- apart, together
def tree_flatten(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """The leaves of a tree, in order, and its spec. ``is_leaf`` may stop it at what is a container.

    >>> tree_flatten({"a": 1, "b": (2, 3)})[0]
    [1, 2, 3]
    """
    leaves: list[Any] = []
    return leaves, _flatten(tree, leaves, is_leaf)


def _flatten(tree: Any, leaves: list[Any], is_leaf: IsLeaf) -> TreeSpec:
    kind = _get_node_type(tree)
    if kind not in SUPPORTED_NODES or (is_leaf is not None and is_leaf(tree)):
        leaves.append(tree)
        return _LEAF_SPEC
    children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    return TreeSpec(kind, context, [_flatten(child, leaves, is_leaf) for child in children])


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """The tree of a spec with these leaves.

    Raises:
        TypeError: ``treespec`` is none.
        ValueError: there are too many or too few leaves.

    >>> leaves, spec = tree_flatten([1, (2,)])
    >>> tree_unflatten([x * 10 for x in leaves], spec)
    [10, (20,)]
    """
    if not isinstance(treespec, TreeSpec):
        if not isinstance(leaves, TreeSpec):
            raise TypeError(
                f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(treespec)}."
            )
        leaves, treespec = treespec, leaves  # the order of other libraries
    return treespec.unflatten(leaves)


def tree_iter(tree: PyTree, is_leaf: IsLeaf = None) -> Iterator[Any]:
    """The leaves of a tree, one by one."""
    if tree_is_leaf(tree, is_leaf):
        yield tree
    else:
        for child in SUPPORTED_NODES[_get_node_type(tree)].flatten_fn(tree)[0]:
            yield from tree_iter(child, is_leaf)


def tree_leaves(tree: PyTree, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves of a tree, in order."""
    return tree_flatten(tree, is_leaf)[0]


def arg_tree_leaves(*args: PyTree, **kwargs: PyTree) -> list[Any]:
    """The leaves of all arguments."""
    return tree_leaves((args, kwargs))


def tree_structure(tree: PyTree, is_leaf: IsLeaf = None) -> TreeSpec:
    """The spec of a tree."""
    return tree_flatten(tree, is_leaf)[1]


def tree_leaves_with_path(tree: PyTree, is_leaf: IsLeaf = None) -> list[tuple[KeyPath, Any]]:
    """Pairs of a leaf's path and the leaf, in order.

    Raises:
        ValueError: a container was registered without ``flatten_with_keys_fn``.

    >>> [(keystr(path), leaf) for path, leaf in tree_leaves_with_path({"a": [1, 2]})]
    [("['a'][0]", 1), ("['a'][1]", 2)]
    """
    return list(_paths((), tree, is_leaf))


def _paths(path: KeyPath, tree: PyTree, is_leaf: IsLeaf) -> Iterator[tuple[KeyPath, Any]]:
    if tree_is_leaf(tree, is_leaf):
        yield path, tree
        return
    kind = _get_node_type(tree)
    flatten_with_keys = SUPPORTED_NODES[kind].flatten_with_keys_fn
    if flatten_with_keys is None:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {kind}. Please pass a flatten_with_keys_fn argument to "
            "register_pytree_node."
        )
    for key, child in flatten_with_keys(tree)[0]:
        yield from _paths((*path, key), child, is_leaf)


def tree_flatten_with_path(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """Pairs of a leaf's path and the leaf, and the spec."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


# ---- maps
def tree_map(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """The tree with ``func`` applied to every leaf and to the subtrees at the same position in ``rests``.

    >>> tree_map(lambda x, y: [x, *y], {"a": 5, "b": 6}, {"a": [7, 9], "b": [1]})
    {'a': [5, 7, 9], 'b': [6, 1]}
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    return spec.unflatten(map(func, leaves, *[spec.flatten_up_to(rest) for rest in rests]))


def tree_map_(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """Call ``func`` as ``tree_map`` does, for its effect; returns the tree."""
    leaves, spec = tree_flatten(tree, is_leaf)
    deque(map(func, leaves, *[spec.flatten_up_to(rest) for rest in rests]), maxlen=0)
    return tree


def tree_map_with_path(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """``tree_map`` with the leaf's path as the first argument of ``func``."""
    pairs, spec = tree_flatten_with_path(tree, is_leaf)
    others = [spec.flatten_up_to(rest) for rest in rests]
    return spec.unflatten(func(*pair, *more) for pair, *more in zip(pairs, *others, strict=True))


def map_only(type_or_types_or_pred: Any, /) -> Callable[[Callable[[Any], Any]], Any]:
    """A decorator that applies a function only to objects of these types, or that satisfy a predicate.

    >>> map_only(int)(lambda x: x + 1)("a")
    'a'
    """
    if isinstance(type_or_types_or_pred, (type, tuple, types.UnionType)):
        kinds = type_or_types_or_pred
        chosen: Any = lambda x: isinstance(x, kinds)
    elif callable(type_or_types_or_pred):
        chosen = type_or_types_or_pred
    else:
        raise TypeError("Argument must be a type, a tuple of types, or a callable.")

    def decorate(func: Callable[[Any], Any]) -> Callable[[Any], Any]:
        @functools.wraps(func)
        def call(x: Any) -> Any:
            return func(x) if chosen(x) else x

        return call

    return decorate


def tree_map_only(
    type_or_types_or_pred: Any, /, func: Callable[[Any], Any], tree: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """``tree_map`` on the leaves of these types only, or on those that satisfy a predicate.

    >>> tree_map_only(int, lambda x: x + 1, [1, "a"])
    [2, 'a']
    """
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(
    type_or_types_or_pred: Any, /, func: Callable[[Any], Any], tree: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """Call ``func`` on those leaves for its effect; returns the tree."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether ``pred`` holds for every leaf."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether ``pred`` holds for some leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(type_or_types: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether ``pred`` holds for every leaf of these types."""
    return all(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def tree_any_only(type_or_types: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether ``pred`` holds for some leaf of these types."""
    return any(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def broadcast_to_and_flatten(tree: PyTree, treespec: TreeSpec, is_leaf: IsLeaf = None) -> list[Any] | None:
    """A tree's prefix, such as ``in_dims=(0, None)``, as one value for each leaf; None if it does not fit."""
    values, prefix = tree_flatten(tree, is_leaf)
    if prefix == treespec:  # the usual case
        return values
    try:
        parts = prefix.flatten_up_to(treespec.unflatten(range(treespec.num_leaves)))
    except ValueError:
        return None
    return [value for value, part in zip(values, parts, strict=True) for _ in tree_iter(part, is_leaf)]


_broadcast_to_and_flatten = broadcast_to_and_flatten


# ---- texts
_PROTOCOL = 1


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """A spec as a string in PyTorch's format, for ``treespec_loads``.

    Raises:
        TypeError: ``treespec`` is no TreeSpec, or a context cannot be written as JSON.
        ValueError: the protocol is not 1, or the string is no spec.
        NotImplementedError: a container has no ``serialized_type_name``.
    """
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(treespec)}.")
    _check_protocol(protocol)
    import json

    return json.dumps((_PROTOCOL, _as_json(treespec)), default=enum_as_dict)


def _check_protocol(protocol: int | None) -> None:
    if protocol not in (None, _PROTOCOL):
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: {[_PROTOCOL]}")


def _as_json(spec: TreeSpec) -> dict[str, Any]:
    if spec.type is None:
        return {"type": None, "context": None, "children_spec": []}
    written = WRITTEN[spec.type]
    if written.name is None:
        raise NotImplementedError(
            f"No registered serialization name for {spec.type} found. Please update your _register_pytree_node call "
            "with a `serialized_type_name` kwarg."
        )
    if written.to_text is not None:
        context = written.to_text(spec._context)
    else:
        import json

        try:
            context = json.dumps(spec._context, default=enum_as_dict)
        except TypeError as error:
            raise TypeError(
                "Unable to serialize context. Please make the context json dump-able, or register a custom serializer "
                "using _register_pytree_node."
            ) from error
    return {"type": written.name, "context": context, "children_spec": [_as_json(each) for each in spec._children]}


def treespec_loads(serialized: str) -> TreeSpec:
    """The spec of a string made by ``treespec_dumps`` of wengert or PyTorch.

    Raises:
        ValueError: the protocol is not 1.
        NotImplementedError: a container is not registered, or the string names an enum, whose code would have to run.

    >>> spec = tree_structure({"a": [1, (2,)]})
    >>> treespec_loads(treespec_dumps(spec)) == spec
    True
    """
    import json

    try:
        written = json.loads(serialized)
        if type(written) is not list or len(written) != 2:
            raise _no_spec()
        _check_protocol(written[0])
        return _from_json(written[1])
    except RecursionError:
        raise _no_spec("it is nested too deep") from None


def _no_spec(why: str = "") -> ValueError:
    return noted(ValueError("The string is no TreeSpec that treespec_dumps wrote"), why and f"Why: {why}.")


def _from_json(schema: Any) -> TreeSpec:
    import json

    if type(schema) is not dict or schema.keys() != {"type", "context", "children_spec"}:
        raise _no_spec("a container needs a type, a context and its children, and nothing else")
    name, children = schema["type"], schema["children_spec"]
    if type(children) is not list or (name is None and children):
        raise _no_spec("the children of a container are a list, and a leaf has none")
    if name is None:
        return _LEAF_SPEC
    if type(name) is not str or name not in BY_NAME:
        raise NotImplementedError(f"Deserializing {name} in pytree is not registered.")
    from_text = WRITTEN[BY_NAME[name]].from_text or (lambda text: json.loads(text, object_hook=no_enum))
    try:
        context = from_text(schema["context"])
    except (LookupError, TypeError, AttributeError) as error:
        raise _no_spec(f"the context of a {printable(name, 100)} is wrong") from error
    return TreeSpec(BY_NAME[name], context, [_from_json(each) for each in children])


pprint = treespec_pprint


def __getattr__(name: str) -> Any:  # programs know one module: the rest of what concerns containers
    if name == "EnumEncoder":
        from json import JSONEncoder

        facts = {"default": lambda self, o: enum_as_dict(o), "__module__": __name__}
        return globals().setdefault(name, type(name, (JSONEncoder,), facts))
    if name.startswith("__") or name not in vars(_pytree_nodes):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return vars(_pytree_nodes)[name]
