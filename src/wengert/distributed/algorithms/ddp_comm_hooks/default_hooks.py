"""The mean of a bucket over the processes, as it is or in 16 bits; wrappers that compress what another hook sees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert as torch
from wengert import distributed as dist

__all__ = [
    "allreduce_hook", "bf16_compress_hook", "bf16_compress_wrapper", "fp16_compress_hook", "fp16_compress_wrapper",
]  # fmt: skip

Hook = Callable[[Any, Any], Any]


def _allreduce_fut(process_group: Any, tensor: torch.Tensor) -> Any:
    """A future of the mean of a tensor, in its own memory."""
    group = process_group if process_group is not None else dist.group.WORLD
    tensor.div_(group.size())
    return dist.all_reduce(tensor, group=group, async_op=True).get_future().then(lambda future: future.value()[0])


def allreduce_hook(process_group: Any, bucket: Any) -> Any:
    """The mean of the gradients, as without a hook."""
    return _allreduce_fut(process_group, bucket.buffer())


def _compress_hook(dtype: torch.dtype, process_group: Any, bucket: Any) -> Any:
    group = process_group if process_group is not None else dist.group.WORLD
    buffer = bucket.buffer()
    compressed = buffer.to(dtype).div_(group.size())
    work = dist.all_reduce(compressed, group=group, async_op=True)
    return work.get_future().then(lambda future: buffer.copy_(future.value()[0]))


def fp16_compress_hook(process_group: Any, bucket: Any) -> Any:
    """The mean of the gradients, which are sent in ``torch.float16``."""
    return _compress_hook(torch.float16, process_group, bucket)


def bf16_compress_hook(process_group: Any, bucket: Any) -> Any:
    """The mean of the gradients, which are sent in ``torch.bfloat16``."""
    return _compress_hook(torch.bfloat16, process_group, bucket)


for _hook in (allreduce_hook, fp16_compress_hook, bf16_compress_hook):
    _hook.communicates_once = True


def _compress_wrapper(dtype: torch.dtype, hook: Hook) -> Hook:
    def wrapper(state: Any, bucket: Any) -> Any:
        buffer = bucket.buffer()
        bucket.set_buffer(buffer.to(dtype))
        return hook(state, bucket).then(lambda future: buffer.copy_(future.value()))

    return wrapper


def fp16_compress_wrapper(hook: Hook) -> Hook:
    """A hook that gives ``hook`` its bucket in ``torch.float16``."""
    return _compress_wrapper(torch.float16, hook)


def bf16_compress_wrapper(hook: Hook) -> Hook:
    """A hook that gives ``hook`` its bucket in ``torch.bfloat16``."""
    return _compress_wrapper(torch.bfloat16, hook)
