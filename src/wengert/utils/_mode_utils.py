"""``torch.utils._mode_utils``: a helper for modes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._python_dispatch import _disable_current_modes as no_dispatch

__all__ = ["all_same_mode", "no_dispatch"]


def all_same_mode(modes: Sequence[Any]) -> bool:
    """Whether all modes of a sequence are the same."""
    return all(mode == modes[0] for mode in modes)
