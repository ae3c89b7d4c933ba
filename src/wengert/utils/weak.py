"""``torch.utils.weak``: dictionaries whose keys are tensors, by identity, and do not keep them alive.

``weakref.WeakKeyDictionary`` compares keys, and tensors compare by element.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, Generic, TypeVar

from .._tape.tensor import Tensor

__all__ = ["TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary"]

K = TypeVar("K")
V = TypeVar("V")


class WeakIdRef(weakref.ref[K]):
    """A weak reference that is equal to another of the same object, and to that only."""

    __slots__ = ("_id",)

    def __init__(self, key: K, callback: Any = None) -> None:
        super().__init__(key, callback)  # type: ignore[call-arg]  # typeshed knows its __new__ only
        self._id = id(key)

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        a, b = self(), other() if isinstance(other, weakref.ref) else None
        return a is b if a is not None and b is not None else self is other


class WeakIdKeyDictionary(MutableMapping[K, V], Generic[K, V]):
    """A dict that compares keys by identity and drops an entry when its key is freed.

    >>> import wengert as torch
    >>> from wengert.utils.weak import WeakTensorKeyDictionary
    >>> x = torch.ones(2)
    >>> notes = WeakTensorKeyDictionary({x: "mine"})
    >>> notes[x], torch.ones(2) in notes
    ('mine', False)
    >>> del x
    >>> len(notes)
    0
    """

    def __init__(self, dict: Any = None, ref_type: Any = WeakIdRef) -> None:
        self.data: Any = {}
        self.ref_type = ref_type
        own = weakref.ref(self)

        def remove(ref: Any) -> None:
            mine = own()
            if mine is not None:
                mine.data.pop(ref, None)

        self._remove = remove
        if dict is not None:
            self.update(dict)

    def __getitem__(self, key: K) -> V:
        return self.data[self.ref_type(key)]

    def __setitem__(self, key: K, value: V) -> None:
        self.data[self.ref_type(key, self._remove)] = value

    def __delitem__(self, key: K) -> None:
        del self.data[self.ref_type(key)]

    def __contains__(self, key: object) -> bool:
        try:
            return self.ref_type(key) in self.data
        except TypeError:  # does not support weak references
            return False

    def __iter__(self) -> Iterator[K]:
        for ref in list(self.data):
            key = ref()
            if key is not None:
                yield key

    def __len__(self) -> int:
        return len(self.data)

    def keyrefs(self) -> list[Any]:
        """The weak references of all keys."""
        return list(self.data)

    def copy(self) -> WeakIdKeyDictionary[K, V]:
        """Another one with the same entries."""
        return type(self)(self)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> WeakIdKeyDictionary[K, V]:
        from copy import deepcopy

        return type(self)({key: deepcopy(value, memo) for key, value in self.items()})  # the keys are the keys

    def __or__(self, other: Any) -> Any:
        if not isinstance(other, Mapping):
            return NotImplemented
        result = self.copy()
        result.update(other)
        return result

    def __ror__(self, other: Any) -> Any:
        if not isinstance(other, Mapping):
            return NotImplemented
        result = type(self)(other)
        result.update(self)
        return result

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        mine = {id(key): value for key, value in self.items()}
        return mine == {id(key): value for key, value in other.items()}

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor: a call returns the tensor, or ``None`` once it is freed."""

    def __init__(self, tensor: Tensor) -> None:
        if not isinstance(tensor, Tensor):
            raise AssertionError(f"expected torch.Tensor, got {type(tensor)}")
        self.ref = weakref.ref(tensor)

    def __call__(self) -> Tensor | None:
        return self.ref()
