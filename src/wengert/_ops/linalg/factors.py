"""How the cotangents of a product's factors lie: as the factors, which the backward formulas look at.

A factor that only its own cotangent concerns is not saved. Its formula gets its edge, which knows a leaf.
"""

from __future__ import annotations

from typing import Any

from numpy import ndarray

from ..._kinds.backward import OperandShape
from ..._tape.node import AccumulateGrad


def is_columns(factor: Any) -> bool:
    """Whether a factor is a column-major matrix to PyTorch's products, which lay its cotangent out as the matrix.

    ``factor``: the array, or a tensor on it; or what is known of one that was not saved, by its edge: that of a leaf,
    or of a leaf's transpose.
    """
    if type(factor) is OperandShape:
        factor = factor.edge
    if type(factor) is AccumulateGrad:
        factor = factor.box.a
    if type(factor) is not ndarray:
        if type(a := getattr(factor, "_payload", None)) is not ndarray:
            return _is_transposed(factor)
        factor = a
    if factor.flags.c_contiguous:
        return False
    return factor.ndim == 2 and factor.strides == (factor.itemsize, len(factor) * factor.itemsize)


_TURNS = {"matrix_t": ((),), "permute": (((1, 0),),), "transpose_dims": ((0, 1), (1, 0))}  # with their parameters


def _is_transposed(edge: Any) -> bool:
    """Whether an edge is the transpose of a leaf that is a row-major matrix."""
    if edge is None or getattr(edge, "params", None) not in _TURNS.get(getattr(edge, "operator", ""), ()):
        return False
    a = edge.fx.box.a if type(edge.fx) is AccumulateGrad else None
    return type(a) is ndarray and a.ndim == 2 and a.strides == (a.shape[1] * a.itemsize, a.itemsize)


def is_turned(factor: Any) -> bool:
    """Whether a factor is known not to be row-major; ``factor``: as in ``is_columns``, but for the transpose."""
    a = factor.box.a if type(factor) is AccumulateGrad else factor
    return type(a) is ndarray and not a.flags.c_contiguous


def left_cotangent(xp: Any, g: Any, self: Any, other: Any) -> Any:
    """The left factor's cotangent, column-major if the factor is, as in PyTorch: that of a transposed weight."""
    return xp.mat_mat(other, g.mT).mT if is_columns(self) else xp.mat_mat(g, other.mT)


def right_cotangent(xp: Any, g: Any, self: Any, other: Any) -> Any:
    """The right factor's cotangent, column-major if the factor is."""
    return xp.mat_mat(g.mT, self).mT if is_columns(other) else xp.mat_mat(self.mT, g)
