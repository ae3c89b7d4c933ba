"""Sums of a dense array and a sparse one: ``dense_plus``, and in place ``add_into``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from .._base.dtypes import BY_NUMPY, promote_types
from .._base.silence import silence

if TYPE_CHECKING:
    from .sparse import Sparse


def dense_plus(a: Any, x: Sparse, factor: Any) -> Any:
    """``a + factor * x`` for a dense array a."""
    if a.shape != x.shape:
        a = np.broadcast_to(a, np.broadcast_shapes(a.shape, x.shape))
    result = a.astype(promote_types(BY_NUMPY[a.dtype], BY_NUMPY[x.values.dtype]).np)
    add_into(result, x, factor)
    return result


def add_into(a: Any, x: Sparse, factor: Any) -> None:
    """``a += factor * x``, in place."""
    values = x.values if type(factor) is int and factor == 1 else x.values * x.values.dtype.type(factor)
    if len(x.indices):
        np.add.at(a, tuple(x.indices), values)
    else:
        a += values.sum(0)


silence(sys.modules[__name__])
