"""``torch.storage``: storages, and the classes for one dtype that old programs use (``FloatStorage``)."""

from __future__ import annotations

import io
from typing import Any

from ._saving.storages import STORAGES
from ._tensor_api.storage import StorageBase as _StorageBase  # noqa: F401  where libraries find it
from ._tensor_api.storage import TypedStorage, UntypedStorage

__all__ = ["TypedStorage", "UntypedStorage", *STORAGES]  # noqa: PLE0604  the names of a table


globals().update(STORAGES)


def _load_from_bytes(b: bytes) -> Any:
    """Rebuild a storage; PyTorch's pickles of storages call this."""
    from .serialization import load

    return load(io.BytesIO(b), weights_only=False)
