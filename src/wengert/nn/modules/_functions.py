"""Batch normalisation over the batches of several processes, forward and backward."""

from __future__ import annotations

from typing import Any

import wengert as torch

from ..._tape.tensor import Tensor
from ...autograd.function import Function

__all__ = ["SyncBatchNorm"]


def _by_channel(values: Tensor, like: Tensor) -> Tensor:
    """One value for each channel, in a shape that broadcasts with the input."""
    return values.view(1, -1, *[1] * (like.dim() - 2))


class SyncBatchNorm(Function):
    """Batch normalisation with the mean and the variance of all processes.

    Each process gives the mean, the variance and the number of its elements, which may differ, or be 0. In the backward
    pass two sums by channel are added up; gradients of weight and bias are this process's share.
    """

    @staticmethod
    def forward(
        ctx: Any,
        input: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        running_mean: Tensor | None,
        running_var: Tensor | None,
        eps: float,
        momentum: float,
        process_group: Any,
        world_size: int,
    ) -> Tensor:
        count = input.numel() // input.size(1)
        if count == 1 and world_size < 2:
            raise ValueError(f"Expected more than 1 value per channel when training, got input size {count}")
        x = input if input.dtype in (torch.float32, torch.float64) else input.float()
        dims = [d for d in range(x.dim()) if d != 1]
        if count:
            var, mean = torch.var_mean(x, dims, correction=0)
        else:
            var = mean = x.new_zeros(x.size(1))
        own = torch.cat([mean, var, x.new_full((1,), count)])
        parts = [torch.empty_like(own) for _ in range(world_size)]
        torch.distributed.all_gather(parts, own, process_group)
        means, variances, counts = torch.stack(parts).split([x.size(1), x.size(1), 1], 1)
        total = counts.sum()
        mean = (means * counts).sum(0) / total
        var = ((variances + (means - mean).square()) * counts).sum(0) / total
        if running_mean is not None:
            running_mean.mul_(1 - momentum).add_(momentum * mean.to(running_mean.dtype))
        if running_var is not None:
            running_var.mul_(1 - momentum).add_(momentum * (var * (total / (total - 1))).to(running_var.dtype))
        invstd = (var + eps).rsqrt()
        ctx.save_for_backward(input, weight, mean, invstd, total)
        ctx.process_group = process_group
        scale = invstd if weight is None else invstd * weight
        shift = -mean * scale if bias is None else bias - mean * scale
        return (x * _by_channel(scale, x) + _by_channel(shift, x)).to(input.dtype)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Any:
        input, weight, mean, invstd, total = ctx.saved_tensors
        g, x = grad_output.to(mean.dtype), input.to(mean.dtype)
        dims = [d for d in range(x.dim()) if d != 1]
        centred = x - _by_channel(mean, x)
        sum_g, sum_g_centred = g.sum(dims), (g * centred).sum(dims)
        grad_input = grad_weight = grad_bias = None
        if weight is not None and ctx.needs_input_grad[1]:
            grad_weight = (sum_g_centred * invstd).to(weight.dtype)
        if ctx.needs_input_grad[2]:
            grad_bias = sum_g.clone()
        if ctx.needs_input_grad[0]:
            sums = torch.cat([sum_g, sum_g_centred]) / total
            torch.distributed.all_reduce(sums, group=ctx.process_group)
            mean_g, mean_g_centred = sums.split(x.size(1))
            scale = invstd if weight is None else invstd * weight
            along = _by_channel(mean_g_centred * invstd * invstd, x)
            grad_input = ((g - _by_channel(mean_g, x) - centred * along) * _by_channel(scale, x)).to(input.dtype)
        return grad_input, grad_weight, grad_bias, None, None, None, None, None, None
