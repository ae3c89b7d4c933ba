"""Where the part of a tensor that a process has lies in the whole; loaders of checkpoints read no more of a file."""

from __future__ import annotations

from collections.abc import Sequence

from ..device_mesh import DeviceMesh
from . import Placement, _slice

__all__ = ["compute_local_shape_and_global_offset"]


def compute_local_shape_and_global_offset(
    global_shape: Sequence[int], mesh: DeviceMesh, placements: Sequence[Placement], skip_offset: bool = False
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shape of this process's part of a tensor, and where it begins (``()`` with ``skip_offset``).

    A process outside of the mesh has ``((0,), ())``.
    """
    if mesh._coordinate is None:
        return (0,), ()
    begins, sizes = _slice(global_shape, mesh, placements)
    return tuple(sizes), () if skip_offset else tuple(begins)
