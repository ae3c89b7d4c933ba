"""Making tensors from data."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _dtypes
from ._node import leaf_node
from ._tensor import Tensor, wrap


def legacy_new(cls: type, args: Any, kwargs: Any) -> Tensor:
    """``Tensor(3, 4)``, ``Tensor([1., 2.])``, ``Tensor()``."""
    if len(args) == 1 and not isinstance(args[0], int):
        a = np.array(args[0], dtype=np.float32)
    else:
        a = np.empty(args, np.float32)
    t = wrap(a)
    t.__class__ = cls
    return t


def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A new tensor from data."""
    a = np.array(data)
    if dtype is not None:
        a = a.astype(dtype.np)
    elif a.dtype == np.float64 and not isinstance(data, (np.ndarray, np.generic)):
        a = a.astype(_dtypes.get_default_dtype().np)
    t = wrap(a)
    if requires_grad:
        leaf_node(t)
    return t
