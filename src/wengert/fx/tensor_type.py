"""Types of tensors with sizes, for annotations: ``TensorType((1, 2, Dyn))``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["Dyn", "TensorType", "is_consistent", "is_more_precise"]


class TensorType:
    """The type of tensors with these sizes, of which some may be ``Dyn``.

    >>> from wengert.fx.tensor_type import Dyn, TensorType
    >>> TensorType((1, Dyn))
    TensorType[(1, Dyn)]
    """

    def __init__(self, dim: Sequence[Any]) -> None:
        self.__origin__ = TensorType
        self.__args__ = dim

    @property
    def dims(self) -> Sequence[Any]:
        """The sizes."""
        return self.__args__

    def __repr__(self) -> str:
        return f"TensorType[{self.dims}]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorType) and list(self.dims) == list(other.dims)

    __hash__ = None  # type: ignore[assignment]

    def __class_getitem__(cls, *args: Any) -> TensorType:
        return TensorType(args[0] if len(args) == 1 and isinstance(args[0], tuple) else args)


class _DynType:
    """A size or type that is not known."""

    __name__ = "_DynType"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _DynType)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "Dyn"


Dyn = _DynType()


def is_consistent(t1: Any, t2: Any) -> bool:
    """Whether two types may be the same, if what is not known is filled in.

    >>> from wengert.fx.tensor_type import Dyn, TensorType, is_consistent
    >>> is_consistent(TensorType((1, Dyn, 3)), TensorType((1, 2, 3)))
    True
    """
    if t1 in (t2, Dyn) or t2 == Dyn:
        return True
    return _sizewise(is_consistent, t1, t2)


def is_more_precise(t1: Any, t2: Any) -> bool:
    """Whether the first type says all that the second says.

    >>> from wengert.fx.tensor_type import Dyn, TensorType, is_more_precise
    >>> is_more_precise(TensorType((1, Dyn)), TensorType((1, 2)))
    False
    """
    return t1 == t2 or isinstance(t2, _DynType) or _sizewise(is_more_precise, t1, t2)


def _sizewise(relation: Any, t1: Any, t2: Any) -> bool:
    if not (isinstance(t1, TensorType) and isinstance(t2, TensorType)) or len(t1.dims) != len(t2.dims):
        return False
    return all(relation(a, b) for a, b in zip(t1.dims, t2.dims, strict=True))
