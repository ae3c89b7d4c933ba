"""Conversion of the ``reduction`` of losses, and of the older ``size_average`` and ``reduce``, to numbers and words."""

from __future__ import annotations

from .._base.errors import warn

__all__ = ["get_enum", "legacy_get_enum", "legacy_get_string"]


def get_enum(reduction: str) -> int:
    """0 for ``"none"``, 1 for ``"mean"``, 2 for ``"sum"``. Raises ValueError for anything else."""
    from .._ops.nn.loss import reduction_code

    return reduction_code(reduction)


def legacy_get_enum(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> int:
    """The number for ``size_average`` and ``reduce``, where ``None`` counts as True."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))


def legacy_get_string(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """The word for ``size_average`` and ``reduce``, with PyTorch's warning."""
    from .._ops.nn.loss import LEGACY_WARNING, legacy_reduction

    word = legacy_reduction(size_average, reduce)
    if emit_warning:
        warn(LEGACY_WARNING.format(word))
    return word
