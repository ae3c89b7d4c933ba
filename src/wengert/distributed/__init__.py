"""``torch.distributed``, which is not available: wengert computes in one process.

``is_available()`` returns False, as in PyTorch built without it. Functions that need other processes raise an error.

>>> import wengert as torch
>>> torch.distributed.is_available(), torch.distributed.is_initialized()
(False, False)
"""

from __future__ import annotations

from .._compat import open_rows

__all__ = ["DeviceMesh", "ProcessGroup", "ReduceOp", "group", "init_device_mesh"]


class ReduceOp:
    """The names of reductions."""

    SUM, PRODUCT, MIN, MAX, BAND, BOR, BXOR, AVG = "SUM", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR", "AVG"


class ProcessGroup:
    """A group of processes. Never instantiated; for annotations and ``isinstance``."""


class group:
    """The group of all processes, which is None."""

    WORLD = None


open_rows(globals())

from .device_mesh import DeviceMesh, init_device_mesh  # noqa: E402  a row
