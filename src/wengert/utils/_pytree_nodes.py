"""The containers of ``_pytree``: how each is flattened and rebuilt, and the keys of its children."""

from __future__ import annotations

import threading
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any, NamedTuple, TypeAlias

from .._base.constants import Size
from .._base.errors import noted, warn
from .._base.forks import reopened
from .._kinds.return_types import ReturnType

PyTree: TypeAlias = Any
Context: TypeAlias = Any
DumpableContext: TypeAlias = Any
FlattenFn: TypeAlias = Callable[[PyTree], tuple[list[Any], Context]]
UnflattenFn: TypeAlias = Callable[[Iterable[Any], Context], PyTree]
ToDumpableContextFn: TypeAlias = Callable[[Context], DumpableContext]
FromDumpableContextFn: TypeAlias = Callable[[DumpableContext], Context]
FlattenFunc, UnflattenFunc = FlattenFn, UnflattenFn
IsLeaf: TypeAlias = Callable[[PyTree], bool] | None


class _Frozen:
    """One value that cannot be changed, as in a frozen dataclass: to make one of those at import takes a millisecond.

    Objects of one class with equal values are equal.
    """

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        cls.__match_args__ = cls.__slots__

    @property
    def _value(self) -> Any:
        return getattr(self, self.__slots__[0])

    def __eq__(self, other: object) -> bool:
        return (
            self._value == other._value if isinstance(other, _Frozen) and type(other) is type(self) else NotImplemented
        )

    def __hash__(self) -> int:
        return hash((self._value,))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.__slots__[0]}={self._value!r})"

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"cannot delete field {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._value,)


_set = object.__setattr__


# ---- key paths
class SequenceKey(_Frozen):
    """A place in a sequence."""

    __slots__ = ("idx",)
    idx: int

    def __init__(self, idx: int) -> None:
        _set(self, "idx", idx)

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        """What is there."""
        return sequence[self.idx]


class MappingKey(_Frozen):
    """A key of a mapping."""

    __slots__ = ("key",)
    key: Any

    def __init__(self, key: Any) -> None:
        _set(self, "key", key)

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        """What is there."""
        return mapping[self.key]


class GetAttrKey(_Frozen):
    """The name of an attribute."""

    __slots__ = ("name",)
    name: str

    def __init__(self, name: str) -> None:
        _set(self, "name", name)

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """What is there."""
        return getattr(obj, self.name)


KeyEntry: TypeAlias = SequenceKey | MappingKey | GetAttrKey
KeyPath: TypeAlias = tuple[Any, ...]
FlattenWithKeysFn: TypeAlias = Callable[[PyTree], tuple[list[tuple[Any, Any]], Context]]


def keystr(kp: KeyPath) -> str:
    """A path as it would be written in a program.

    >>> keystr((MappingKey("a"), SequenceKey(0), GetAttrKey("x")))
    "['a'][0].x"
    """
    return "".join(map(str, kp))


def key_get(obj: Any, kp: KeyPath) -> Any:
    """The object at a path.

    >>> key_get({"a": [7]}, (MappingKey("a"), SequenceKey(0)))
    7
    """
    for key in kp:
        obj = key.get(obj)
    return obj


# ---- containers
class NodeDef(NamedTuple):
    """The functions that flatten and rebuild a container."""

    type: type[Any]
    flatten_fn: FlattenFn
    unflatten_fn: UnflattenFn
    flatten_with_keys_fn: FlattenWithKeysFn | None


class Written(NamedTuple):
    """The representation of a container in the string of a spec."""

    name: str | None
    to_text: ToDumpableContextFn | None
    from_text: FromDumpableContextFn | None


SUPPORTED_NODES: dict[Any, NodeDef] = {}
WRITTEN: dict[Any, Written] = {}
BY_NAME: dict[str, Any] = {}
CONSTANT_NODES: set[type] = set()
_lock = reopened(threading.RLock())


def register_pytree_node(
    cls: type[Any],
    flatten_fn: FlattenFn,
    unflatten_fn: UnflattenFn,
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: ToDumpableContextFn | None = None,
    from_dumpable_context: FromDumpableContextFn | None = None,
    flatten_with_keys_fn: FlattenWithKeysFn | None = None,
) -> None:
    """Register a class as a container.

    Args:
        cls: the class; subclasses must be registered separately.
        flatten_fn: ``flatten_fn(x) -> (children, context)``.
        unflatten_fn: ``unflatten_fn(children, context) -> x``.
        serialized_type_name: its name in ``treespec_dumps``.
        to_dumpable_context, from_dumpable_context: conversions of the context to and from JSON values.
        flatten_with_keys_fn: as ``flatten_fn``, with pairs of a key and a child; for paths.

    Raises:
        ValueError: the class is already registered.
    """
    with _lock:
        if cls in SUPPORTED_NODES:
            raise ValueError(f"{cls} is already registered as pytree node.")
        _register(
            NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn),
            Written(serialized_type_name, to_dumpable_context, from_dumpable_context),
        )


def _register(definition: NodeDef, written: Written) -> None:
    kind = definition.type
    if (written.to_text is None) != (written.from_text is None):
        raise ValueError(f"Both to_dumpable_context and from_dumpable_context for {kind} must be None or registered.")
    with _lock:
        SUPPORTED_NODES[kind] = definition
        WRITTEN[kind] = written
        if written.name is not None:
            BY_NAME[written.name] = kind


def _register_pytree_node(cls: type[Any], flatten_fn: FlattenFn, unflatten_fn: UnflattenFn, **options: Any) -> None:
    """The old name of ``register_pytree_node``, under which a class could be registered again."""
    warn(
        "`torch.utils._pytree._register_pytree_node` is deprecated. Please use "
        "`torch.utils._pytree.register_pytree_node` instead.",
        FutureWarning,
    )
    _deregister_pytree_node(cls)
    register_pytree_node(cls, flatten_fn, unflatten_fn, **options)


def _deregister_pytree_node(cls: type[Any]) -> None:
    """Forget a container."""
    with _lock:
        SUPPORTED_NODES.pop(cls, None)
        written = WRITTEN.pop(cls, None)
        if written is not None and written.name is not None:
            BY_NAME.pop(written.name, None)
        CONSTANT_NODES.discard(cls)


def register_dataclass(
    cls: type[Any],
    *,
    field_names: list[str] | None = None,
    drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:
    """Register a dataclass, or a class whose constructor takes its fields by keyword, as a container.

    ``field_names`` are the fields that it is made from, by default those of the dataclass; ``drop_field_names`` are
    left out.

    Raises:
        ValueError: ``field_names`` is missing for a class that is no dataclass, or does not fit.
    """
    names = field_names
    import dataclasses  # late, as ``_Frozen``

    if not dataclasses.is_dataclass(cls):
        if names is None:
            raise ValueError(
                f"field_names must be specified with a list of all fields used to initialize {cls}, as it is not a "
                "dataclass."
            )
    else:
        own = [field.name for field in dataclasses.fields(cls) if field.init]
        if names is None:
            names = own
        else:
            _check_fields(set(own) - set(drop_field_names or ()), set(names))
    fields = names

    def flatten(obj: Any) -> tuple[list[Any], Context]:
        values = {name: getattr(obj, name) for name in fields}
        there = [name for name in fields if values[name] is not None]
        return [values[name] for name in there], [there, [name for name in fields if values[name] is None]]

    def unflatten(values: Iterable[Any], context: Context) -> Any:
        there, none = context
        return cls(**dict(zip(there, values, strict=True)), **dict.fromkeys(none))

    def flatten_with_keys(obj: Any) -> tuple[list[tuple[Any, Any]], Context]:
        values, context = flatten(obj)
        return [(GetAttrKey(name), value) for name, value in zip(context[0], values, strict=True)], context

    _register(NodeDef(cls, flatten, unflatten, flatten_with_keys), Written(serialized_type_name, None, None))


def _check_fields(own: set[str], given: set[str]) -> None:
    if own == given:
        return
    text = "field_names does not include all dataclass fields.\n"
    if own - given:
        text += (
            f"Missing fields in `field_names`: {own - given}. If you want to include these fields in the pytree, "
            "please add them to `field_names`, otherwise please add them to `drop_field_names`.\n"
        )
    if given - own:
        text += (
            f"Unexpected fields in `field_names`: {given - own}. Please remove these fields, or add them to "
            "`drop_field_names`.\n"
        )
    raise ValueError(text)


class ConstantNode(_Frozen):
    """The context of a constant: the constant."""

    __slots__ = ("value",)
    value: Any

    def __init__(self, value: Any) -> None:
        _set(self, "value", value)


def register_constant(cls: type[Any]) -> None:
    """Register a class whose instances are constants: part of a tree's structure, compared by ``==``, without leaves.

    Raises:
        TypeError: the class has no ``__eq__`` or no ``__hash__`` of its own.
    """
    for name, inherited in (("__eq__", object.__eq__), ("__hash__", None)):
        if getattr(cls, name) is inherited:
            raise TypeError(f"register_constant(cls) expects `cls` to have a non-default `{name}` implementation.")
    apart: Any = lambda x: ([], ConstantNode(x))
    _register(NodeDef(cls, apart, lambda _, context: context.value, apart), Written(None, None, None))
    CONSTANT_NODES.add(cls)


def is_constant_class(cls: type[Any]) -> bool:
    """Whether a class was registered as constant."""
    return isinstance(cls, type) and cls in CONSTANT_NODES


# ---- the usual ones
def is_namedtuple_class(cls: type) -> bool:
    """Whether a class is a named tuple's."""
    fields = getattr(cls, "_fields", None)
    return (
        isinstance(cls, type)
        and issubclass(cls, tuple)
        and isinstance(fields, tuple)
        and all(type(name) is str for name in fields)
        and callable(getattr(cls, "_make", None))
        and callable(getattr(cls, "_asdict", None))
    )


def is_namedtuple_instance(obj: object) -> bool:
    """Whether an object is a named tuple."""
    return is_namedtuple_class(type(obj))


def is_namedtuple(obj: object | type) -> bool:
    """Whether an object is a named tuple, or the class of one."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


_FINAL = 1 << 10  # the flag of classes that may be inherited from (Py_TPFLAGS_BASETYPE)


def is_structseq_class(cls: type) -> bool:
    """Whether a class is that of a C structure seen as a tuple, as ``os.stat_result``, or of ``torch.return_types``."""
    if isinstance(cls, type) and issubclass(cls, ReturnType):
        return cls is not ReturnType
    return (
        isinstance(cls, type)
        and cls.__bases__ == (tuple,)
        and all(isinstance(getattr(cls, f"n_{part}fields", None), int) for part in ("", "sequence_", "unnamed_"))
        and not cls.__flags__ & _FINAL
    )


def is_structseq_instance(obj: object) -> bool:
    """Whether an object is a C structure seen as a tuple."""
    return is_structseq_class(type(obj))


def is_structseq(obj: object | type) -> bool:
    """Whether an object is a C structure seen as a tuple, or the class of one."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


def _usual(
    kind: Any,
    name: str | None,
    flatten: FlattenFn,
    unflatten: UnflattenFn,
    key: Callable[[Any], Any] = SequenceKey,
    keys: Callable[[Context], Iterable[Any]] | None = None,
    to_text: ToDumpableContextFn | None = None,
    from_text: FromDumpableContextFn | None = None,
) -> None:
    """Register a built-in container; ``keys`` returns its keys from the context, by default they are indices."""

    def flatten_with_keys(tree: Any) -> tuple[list[tuple[Any, Any]], Context]:
        children, context = flatten(tree)
        there = range(len(children)) if keys is None else keys(context)
        return [(key(k), child) for k, child in zip(there, children, strict=True)], context

    _register(NodeDef(kind, flatten, unflatten, flatten_with_keys), Written(name, to_text, from_text))


def _class_name(kind: Any) -> str:
    written = WRITTEN.get(kind)
    if written is None or written.name is None:
        raise NotImplementedError(
            f"Can't serialize TreeSpec of namedtuple class {kind} because we didn't register a serializated_type_name. "
            "Please register using `_register_namedtuple`."
        )
    return written.name


def _class_named(name: str) -> Any:
    if name not in BY_NAME:
        raise NotImplementedError(
            f"Can't deserialize TreeSpec of namedtuple class {name} because we couldn't find a serializated name."
        )
    return BY_NAME[name]


def _register_namedtuple(cls: type[Any], *, serialized_type_name: str) -> None:
    """Give a named tuple's class a name in ``treespec_dumps``."""
    definition = SUPPORTED_NODES[namedtuple]
    _register(definition._replace(type=cls), Written(serialized_type_name, _class_name, _class_named))


def _factory_to_text(context: Context) -> DumpableContext:
    factory, keys = context
    return {
        "default_factory_module": factory.__module__,
        "default_factory_name": factory.__qualname__,
        "dict_context": keys,
    }


_FACTORIES = {kind.__qualname__: kind for kind in (int, float, complex, str, bytes, bool, list, tuple, dict, set)}


def _factory_from_text(text: DumpableContext) -> Context:
    # a string must not cause an import
    if text["default_factory_module"] != "builtins" or text["default_factory_name"] not in _FACTORIES:
        raise NotImplementedError(
            f"Can't deserialize a defaultdict of {text['default_factory_module']}.{text['default_factory_name']}: only "
            f"{', '.join(_FACTORIES)} are known."
        )
    return [_FACTORIES[text["default_factory_name"]], text["dict_context"]]


_usual(tuple, "builtins.tuple", lambda t: (list(t), None), lambda c, _: tuple(c))
_usual(list, "builtins.list", lambda t: (t, None), lambda c, _: list(c))
for _kind, _module in ((dict, "builtins"), (OrderedDict, "collections")):
    _usual(
        _kind,
        f"{_module}.{_kind.__name__}",
        lambda d: (list(d.values()), list(d)),
        lambda c, keys, kind=_kind: kind(zip(keys, c, strict=True)),  # type: ignore[misc]
        MappingKey,
        lambda keys: keys,
    )
_usual(
    defaultdict,
    "collections.defaultdict",
    lambda d: (list(d.values()), [d.default_factory, list(d)]),
    lambda c, context: defaultdict(context[0], zip(context[1], c, strict=True)),
    MappingKey,
    lambda context: context[1],
    _factory_to_text,
    _factory_from_text,
)
_usual(Size, "torch.Size", lambda t: (list(t), None), lambda c, _: tuple(c))  # a tuple comes back, as in PyTorch
_usual(deque, "collections.deque", lambda d: (list(d), d.maxlen), deque)
_usual(
    namedtuple,
    "collections.namedtuple",
    lambda t: (list(t), type(t)),
    lambda c, kind: kind(*c),
    GetAttrKey,
    lambda kind: kind._fields,
    _class_name,
    _class_named,
)

# What PyTorch calls the functions of the usual containers: transformers registers its dicts with those of dict.
_, _tuple_flatten, _tuple_unflatten, _tuple_flatten_with_keys = SUPPORTED_NODES[tuple]
_, _list_flatten, _list_unflatten, _list_flatten_with_keys = SUPPORTED_NODES[list]
_, _dict_flatten, _dict_unflatten, _dict_flatten_with_keys = SUPPORTED_NODES[dict]
_, _ordereddict_flatten, _ordereddict_unflatten, _ordereddict_flatten_with_keys = SUPPORTED_NODES[OrderedDict]
_, _namedtuple_flatten, _namedtuple_unflatten, _namedtuple_flatten_with_keys = SUPPORTED_NODES[namedtuple]

STANDARD_DICT_TYPES: frozenset[type] = frozenset({dict, OrderedDict, defaultdict})
BUILTIN_TYPES: frozenset[Any] = frozenset({tuple, list, dict, namedtuple, OrderedDict, defaultdict, deque})


def _get_node_type(tree: Any) -> Any:
    """The key of a container in ``SUPPORTED_NODES``, if it is one: its class, or ``namedtuple``."""
    kind = type(tree)
    if kind is tuple or not issubclass(kind, tuple):
        return kind
    if issubclass(kind, ReturnType):
        if kind not in SUPPORTED_NODES:
            _usual(kind, None, lambda t: (list(t), None), lambda c, _: kind(c))
        return kind
    return namedtuple if is_namedtuple_class(kind) else kind


def tree_is_leaf(tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether an object is a leaf: not a known container, or a container for which ``is_leaf`` returns True.

    >>> tree_is_leaf(None), tree_is_leaf([])
    (True, False)
    """
    return (is_leaf is not None and bool(is_leaf(tree))) or _get_node_type(tree) not in SUPPORTED_NODES


# ---- enums
def enum_as_dict(o: object) -> Any:
    """What JSON has for an enum, as ``default`` of ``json.dumps``, which PyTorch gives as a class, ``EnumEncoder``."""
    if isinstance(o, Enum):
        return {"__enum__": True, "fqn": f"{type(o).__module__}:{type(o).__qualname__}", "name": o.name}
    raise TypeError(f"Object of type {type(o).__name__} is not JSON serializable")


def no_enum(found: dict[str, Any]) -> dict[str, Any]:
    if "__enum__" in found:
        raise noted(
            NotImplementedError(f"Deserializing the enum {found.get('fqn')} in pytree is not registered."),
            "What to do: register the container with from_dumpable_context.",
        )
    return found
