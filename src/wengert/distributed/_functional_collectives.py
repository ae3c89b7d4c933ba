"""Collectives that return their results and have derivatives, under the names that sharded programs import.

``group`` is a process group, a mesh of one dimension, or a mesh and one of its dimensions.
"""

from __future__ import annotations

from typing import Any

import wengert as torch

from .._tape.tensor import Tensor
from . import distributed_c10d as dist
from ._reduce_op import ReduceOp
from .device_mesh import DeviceMesh
from .nn.functional import _AllGather, _AllReduce, _AllToAllSingle, _Broadcast, _ReduceScatter

__all__ = [
    "all_gather_tensor", "all_gather_tensor_autograd", "all_reduce", "all_to_all_single", "all_to_all_single_autograd",
    "broadcast", "reduce_scatter_tensor", "reduce_scatter_tensor_autograd", "wait_tensor",
]  # fmt: skip


def _resolved(group: Any) -> Any:
    mesh, dim = group if isinstance(group, tuple) else (group, None)
    return mesh.get_group(dim) if isinstance(mesh, DeviceMesh) else mesh


def _op(name: str) -> Any:
    return getattr(ReduceOp, name.upper())


def wait_tensor(tensor: Tensor) -> Tensor:
    """The tensor: what the functions here return is complete."""
    return tensor


def broadcast(self: Tensor, src: int, group: Any, tag: str = "") -> Tensor:
    """The tensor of rank ``src``."""
    return _Broadcast.apply(src, _resolved(group), self)


def all_reduce(self: Tensor, reduceOp: str, group: Any, tag: str = "") -> Tensor:
    """The reduction, such as "sum", of all ranks' tensors."""
    return _AllReduce.apply(_op(reduceOp), _resolved(group), self)


def all_gather_tensor(self: Tensor, gather_dim: int, group: Any, tag: str = "") -> Tensor:
    """The tensors of all ranks, one after the other along a dimension."""
    return torch.cat(_AllGather.apply(_resolved(group), self.contiguous()), gather_dim)


def reduce_scatter_tensor(self: Tensor, reduceOp: str, scatter_dim: int, group: Any, tag: str = "") -> Tensor:
    """This rank's part, along a dimension, of the reduction of all ranks' tensors.

    Raises:
        AssertionError: the ranks do not divide the dimension's size.
    """
    group = _resolved(group)
    count, size = dist.get_world_size(group), self.shape[scatter_dim]
    assert size % count == 0, f"input dimension {scatter_dim} ({size}) must be a multiple of group_size {count}"
    parts = [part.contiguous() for part in self.chunk(count, scatter_dim)]
    return _ReduceScatter.apply(_op(reduceOp), group, torch.empty_like(parts[0]), *parts)


def all_to_all_single(
    self: Tensor, output_split_sizes: list[int] | None, input_split_sizes: list[int] | None, group: Any, tag: str = ""
) -> Tensor:
    """The parts of dimension 0 that all ranks have for this rank, one after the other."""
    rows = self.shape[0] if output_split_sizes is None else sum(output_split_sizes)
    output = self.new_empty([rows, *self.shape[1:]])
    return _AllToAllSingle.apply(_resolved(group), output, output_split_sizes, input_split_sizes, self)


all_gather_tensor_autograd = all_gather_tensor
reduce_scatter_tensor_autograd = reduce_scatter_tensor
all_to_all_single_autograd = all_to_all_single
