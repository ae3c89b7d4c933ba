"""``torch.distributed.nn.functional``: collectives that return their results, and have a derivative.

The derivative is a collective too, so every rank must call ``backward``.
"""

from __future__ import annotations

from typing import Any

from ..._base.errors import warn
from ..._tape.tensor import Tensor
from ...autograd.function import Function
from .. import distributed_c10d as dist
from .._reduce_op import ReduceOp

__all__ = [
    "all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "gather", "reduce", "reduce_scatter",
    "scatter",
]  # fmt: skip


def _old(name: str, new: str | None = None) -> None:
    warn(
        f"torch.distributed.nn.functional.{name} is deprecated, use "
        f"torch.distributed._functional_collectives.{new or name} instead.",
        FutureWarning,
    )


def broadcast(tensor: Tensor, src: int, group: Any = None) -> Tensor:
    """The tensor of rank ``src``; its gradient is the sum of all ranks'."""
    _old("broadcast")
    return _Broadcast.apply(src, group, tensor)


def gather(tensor: Tensor, dst: int = 0, group: Any = None) -> tuple[Tensor, ...]:
    """The tensors of all ranks, on rank ``dst``; zeros on the others."""
    return _Gather.apply(dst, group, tensor)


def scatter(tensors: list[Tensor], src: int = 0, group: Any = None) -> Tensor:
    """The tensor that rank ``src`` has for this rank."""
    return _Scatter.apply(src, group, *tensors)


def reduce(tensor: Tensor, dst: int, op: Any = ReduceOp.SUM, group: Any = None) -> Tensor:
    """The sum of all ranks' tensors on rank ``dst``, the tensor itself on the others."""
    return _Reduce.apply(dst, op, group, tensor)


def reduce_scatter(output: Tensor, input_list: list[Tensor], op: Any = ReduceOp.SUM, group: Any = None) -> Tensor:
    """The sum of what all ranks have for this rank, in ``output``."""
    _old("reduce_scatter", "reduce_scatter_single")
    return _ReduceScatter.apply(op, group, output, *input_list)


def all_gather(tensor: Tensor, group: Any = None) -> tuple[Tensor, ...]:
    """The tensors of all ranks."""
    _old("all_gather", "all_gather_single")
    return _AllGather.apply(group, tensor)


def _all_gather_base(output_tensor: Tensor, input_tensor: Tensor, group: Any = None) -> Tensor:
    return _AllGatherBase.apply(output_tensor, input_tensor, group)


def all_to_all(
    output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: Any = None
) -> tuple[Tensor, ...]:
    """What all ranks have for this rank, in ``output_tensor_list``."""
    return _AllToAll.apply(group, output_tensor_list, *input_tensor_list)


def all_to_all_single(
    output: Tensor, input: Tensor, output_split_sizes: list[int] | None = None,
    input_split_sizes: list[int] | None = None, group: Any = None,
) -> Tensor:  # fmt: skip
    """The parts of dimension 0 that all ranks have for this rank, in ``output``."""
    _old("all_to_all_single")
    return _AllToAllSingle.apply(group, output, output_split_sizes, input_split_sizes, input)


def all_reduce(tensor: Tensor, op: Any = ReduceOp.SUM, group: Any = None) -> Tensor:
    """The sum of all ranks' tensors; its gradient is the sum of all ranks' cotangents."""
    _old("all_reduce")
    return _AllReduce.apply(op, group, tensor)


class _Broadcast(Function):
    @staticmethod
    def forward(ctx: Any, src: int, group: Any, tensor: Tensor) -> Tensor:
        ctx.src, ctx.group = src, group
        tensor = tensor.clone()
        dist.broadcast(tensor, src, group)
        return tensor

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        g = _Reduce.apply(ctx.src, ReduceOp.SUM, ctx.group, grads[0])
        return None, None, g if dist.get_rank() == ctx.src else g * 0


class _Reduce(Function):
    @staticmethod
    def forward(ctx: Any, dst: int, op: Any, group: Any, tensor: Tensor) -> Tensor:
        ctx.dst, ctx.group = dst, group
        tensor = tensor.clone()
        dist.reduce(tensor, dst, op, group)
        return tensor

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return None, None, None, _Broadcast.apply(ctx.dst, ctx.group, grads[0])


class _Gather(Function):
    @staticmethod
    def forward(ctx: Any, dst: int, group: Any, tensor: Tensor) -> Any:
        ctx.dst, ctx.group = dst, group
        gathered = [tensor.new_zeros(tensor.shape) for _ in range(dist.get_world_size(group))]
        dist.gather(tensor, gathered if dist.get_rank() == dst else None, dst, group)
        return tuple(gathered)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return None, None, _Scatter.apply(ctx.dst, ctx.group, *grads)


class _Scatter(Function):
    @staticmethod
    def forward(ctx: Any, src: int, group: Any, *tensors: Tensor) -> Tensor:
        ctx.src, ctx.group = src, group
        assert all(t.shape == tensors[0].shape for t in tensors)
        output = tensors[0].new_zeros(tensors[0].shape)
        dist.scatter(output, list(tensors) if dist.get_rank() == src else None, src, group)
        return output

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return None, None, *_Gather.apply(ctx.src, ctx.group, grads[0])


class _ReduceScatter(Function):
    @staticmethod
    def forward(ctx: Any, op: Any, group: Any, output: Tensor, *inputs: Tensor) -> Tensor:
        ctx.group = group
        dist.reduce_scatter(output, list(inputs), op, group)
        return output

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return None, None, None, *_AllGather.apply(ctx.group, grads[0])


class _AllGather(Function):
    @staticmethod
    def forward(ctx: Any, group: Any, tensor: Tensor) -> Any:
        ctx.group = group
        gathered = [tensor.new_empty(tensor.shape) for _ in range(dist.get_world_size(group))]
        dist.all_gather(gathered, tensor, group)
        return tuple(gathered)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return None, _ReduceScatter.apply(ReduceOp.SUM, ctx.group, grads[0].new_empty(grads[0].shape), *grads)


class _AllGatherBase(Function):
    @staticmethod
    def forward(ctx: Any, output: Tensor, tensor: Tensor, group: Any) -> Tensor:
        ctx.group, ctx.shape = group, tensor.shape
        dist.all_gather_single(output, tensor, group)
        return output

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        g = grads[0].new_empty(ctx.shape)
        dist.reduce_scatter_single(g, grads[0].contiguous(), ReduceOp.SUM, ctx.group)
        return None, g, None


class _AllToAll(Function):
    @staticmethod
    def forward(ctx: Any, group: Any, outputs: list[Tensor], *tensors: Tensor) -> Any:
        ctx.group, ctx.shapes = group, [t.shape for t in tensors]
        dist.all_to_all(outputs, list(tensors), group)
        return tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return None, None, *_AllToAll.apply(ctx.group, [grads[0].new_empty(shape) for shape in ctx.shapes], *grads)


class _AllToAllSingle(Function):
    @staticmethod
    def forward(ctx: Any, group: Any, output: Tensor, out_sizes: Any, in_sizes: Any, tensor: Tensor) -> Tensor:
        ctx.group, ctx.shape, ctx.sizes = group, tensor.shape, (in_sizes, out_sizes)
        dist.all_to_all_single(output, tensor, out_sizes, in_sizes, group)
        return output

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        g = _AllToAllSingle.apply(ctx.group, grads[0].new_empty(ctx.shape), *ctx.sizes, grads[0])
        return None, None, None, None, g


class _AllReduce(Function):
    @staticmethod
    def forward(ctx: Any, op: Any, group: Any, tensor: Tensor) -> Tensor:
        ctx.op, ctx.group = op, group
        tensor = tensor.clone()
        dist.all_reduce(tensor, op, group)
        return tensor

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return None, None, _AllReduce.apply(ctx.op, ctx.group, grads[0])
