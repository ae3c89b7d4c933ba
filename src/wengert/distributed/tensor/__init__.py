"""``torch.distributed.tensor``: classes of distributed tensors for ``isinstance``, without instances."""

from __future__ import annotations

from ..._absent import dummy, refusing
from ..device_mesh import DeviceMesh, init_device_mesh

__all__ = [
    "DTensor", "DeviceMesh", "Partial", "Placement", "Replicate", "Shard", "distribute_module", "distribute_tensor",
    "init_device_mesh",
]  # fmt: skip

DTensor, Placement, Partial, Replicate, Shard = (
    dummy(name) for name in ("DTensor", "Placement", "Partial", "Replicate", "Shard")
)
distribute_tensor = refusing(
    "distribute_tensor", RuntimeError, "torch.distributed.tensor.distribute_tensor: wengert computes in one process"
)
distribute_module = refusing(
    "distribute_module", RuntimeError, "torch.distributed.tensor.distribute_module: wengert computes in one process"
)
