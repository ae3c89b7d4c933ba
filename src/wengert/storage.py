"""``torch.storage``: storages, and the names that old programs have for those of one dtype."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from ._base.dtypes import dtype as Dtype
from ._saving.storages import STORAGE_NAMES, storage_on
from ._tensor_api.storage import TypedStorage, UntypedStorage

__all__ = ["TypedStorage", "UntypedStorage", *STORAGE_NAMES]  # noqa: PLE0604  the names of a table


class _OfOneDtype(type):
    """The class of ``FloatStorage`` and its like: a name for a dtype, as ``FloatTensor`` is."""

    dtype: Dtype

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TypedStorage) and instance.dtype is cls.dtype

    def __call__(cls, *args: Any) -> TypedStorage:
        if len(args) > 1:
            raise TypeError(f"{cls.__name__}() takes a size or a sequence, not {len(args)} arguments")
        if not args or isinstance(args[0], int):
            return storage_on(np.empty(args[0] if args else 0, cls.dtype.np))
        return storage_on(np.array(list(args[0]), cls.dtype.np))


def _make(name: str, dtype: Dtype) -> _OfOneDtype:
    doc = f"A storage of ``torch.{dtype.name}``; called with a size or a sequence, it makes one."
    return _OfOneDtype(name, (), {"dtype": dtype, "__doc__": doc, "__module__": __package__})


globals().update({name: _make(name, dtype) for name, dtype in STORAGE_NAMES.items()})


def _load_from_bytes(b: bytes) -> Any:
    """What PyTorch's own pickles of storages call."""
    from .serialization import load

    return load(io.BytesIO(b), weights_only=False)
