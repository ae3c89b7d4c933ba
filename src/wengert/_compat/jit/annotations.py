"""``torch.jit.annotations``: names of ``typing`` that programs import from here."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: UP035  the names that are asked for

__all__ = ["Any", "Dict", "List", "Optional", "Tuple", "Union"]


class _BroadcastingList:
    """``BroadcastingList2[float]`` in an annotation: one number for all, or a list of so many."""

    def __getitem__(self, types: object) -> None:
        return None


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = _BroadcastingList()
BroadcastingList4 = BroadcastingList5 = BroadcastingList6 = BroadcastingList1
