"""Lists and dicts that refuse changes: a node's arguments, whose uses the graph keeps count of."""

from __future__ import annotations

from typing import Any, NoReturn

from ..utils._pytree import register_pytree_node
from ._compatibility import compatibility

__all__ = ["immutable_dict", "immutable_list"]

_HELP = """If you are attempting to modify the kwargs or args of a torch.fx.Node object,
instead create a new copy of it and assign the copy to the node:

    new_args = ...  # copy and mutate args
    node.args = new_args"""


def _refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError(f"{type(self).__name__!r} object does not support mutation. {_HELP}")


def _refusing(*names: str) -> Any:
    def decorate(cls: Any) -> Any:
        for name in names:
            setattr(cls, name, _refuse)
        return cls

    return decorate


@_refusing("__delitem__", "__iadd__", "__imul__", "__setitem__", "append", "clear", "extend", "insert", "pop")
@_refusing("remove", "reverse", "sort")
@compatibility(is_backward_compatible=True)
class immutable_list(list[Any]):
    """A list that cannot be changed, and has a hash.

    >>> import wengert as torch
    >>> torch.fx.immutable_collections.immutable_list([1, 2])
    [1, 2]
    """

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self),)


@_refusing("__delitem__", "__ior__", "__setitem__", "clear", "pop", "popitem", "setdefault", "update")
@compatibility(is_backward_compatible=True)
class immutable_dict(dict[Any, Any]):
    """A dict that cannot be changed, and has a hash.

    >>> import wengert as torch
    >>> torch.fx.immutable_collections.immutable_dict(a=1)
    {'a': 1}
    """

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self.items()),)


def _dict_unflatten(values: Any, keys: Any) -> immutable_dict:
    return immutable_dict(zip(keys, values, strict=True))


register_pytree_node(
    immutable_list,
    lambda x: (list(x), None),
    lambda values, context: immutable_list(values),
    serialized_type_name="torch.fx.immutable_collections.immutable_list",
)
register_pytree_node(
    immutable_dict,
    lambda x: (list(x.values()), list(x)),
    _dict_unflatten,
    serialized_type_name="torch.fx.immutable_collections.immutable_dict",
)
