"""``torch.distributed.device_mesh``: a class for annotations and ``isinstance``, without instances."""

from __future__ import annotations

from .._absent import dummy, refusing

__all__ = ["DeviceMesh", "init_device_mesh"]

DeviceMesh = dummy("DeviceMesh")
init_device_mesh = refusing(
    "init_device_mesh", RuntimeError, "torch.distributed.init_device_mesh: wengert computes in one process"
)
