"""Equal models in all processes: parameters are compared, then copied from one process to the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import wengert as torch
from wengert import distributed as dist

from .._base.errors import noted
from .._tape.tensor import Tensor

__all__: list[str] = []


def _verify_param_shape_across_processes(process_group: Any, tensors: Sequence[Tensor], logger: Any = None) -> None:
    """Compare the number, the sizes and the strides of parameters with those of process 0, on all processes.

    Raises:
        RuntimeError: they differ.
    """
    rank = dist.get_rank(process_group)
    mine = [(list(t.shape), list(t.stride()), str(t.dtype)) for t in tensors]
    everyone: list[Any] = [None] * dist.get_world_size(process_group)
    dist.all_gather_object(everyone, mine, group=process_group)
    what_to_do = "What to do: build the same model in all processes before it is wrapped."
    for other, theirs in enumerate(everyone):
        if len(theirs) != len(mine):
            raise noted(
                RuntimeError(
                    f"DDP expects same model across all ranks, but Rank {rank} has {len(mine)} params, while rank "
                    f"{other} has inconsistent {len(theirs)} params."
                ),
                what_to_do,
            )
    for other in (rank, *range(len(everyone))):  # its own error first; each process must see that there is one
        for index, (theirs, first) in enumerate(zip(everyone[other], everyone[0], strict=True)):
            for kind, here, there in zip(("sizes", "strides", "dtype"), theirs, first, strict=True):
                if here != there:
                    raise noted(
                        RuntimeError(
                            f"[{other}]: params[{index}] in this process with {kind} {here} appears not to match "
                            f"{kind} of the same param in process 0."
                        ),
                        f"Process 0 has {there}.",
                        what_to_do,
                    )


def _broadcast_coalesced(
    process_group: Any, tensors: Sequence[Tensor], buffer_size: int = 250 * 2**20, src: int = 0
) -> None:
    """Copy tensors from rank ``src`` of the group to the others, all of one dtype in one message."""
    by_dtype: dict[Any, list[Tensor]] = {}
    for tensor in tensors:
        by_dtype.setdefault(tensor.dtype, []).append(tensor.detach())
    sends = dist.get_rank(process_group) == src
    with torch.no_grad():
        for group in by_dtype.values():
            if len(group) == 1 and group[0].is_contiguous():
                dist.broadcast(group[0], group=process_group, group_src=src)
                continue
            flat = torch.cat([t.reshape(-1) for t in group])
            dist.broadcast(flat, group=process_group, group_src=src)
            for tensor, part in zip(() if sends else group, flat.split([t.numel() for t in group]), strict=False):
                tensor.copy_(part.view(tensor.shape))


def _sync_module_states(
    module: Any,
    process_group: Any,
    broadcast_bucket_size: int,
    src: int,
    params_and_buffers_to_ignore: Iterable[str] = (),
    broadcast_buffers: bool = True,
) -> None:
    """Give a module the parameters and buffers that it has on rank ``src`` of the group."""
    ignored = set(params_and_buffers_to_ignore)
    states = [p.detach() for name, p in module.named_parameters() if name not in ignored]
    if broadcast_buffers:
        states += [b.detach() for name, b in module.named_buffers() if name not in ignored]
    _sync_params_and_buffers(process_group, states, broadcast_bucket_size, src)


def _sync_params_and_buffers(
    process_group: Any, module_states: Sequence[Tensor], broadcast_bucket_size: int, src: int
) -> None:
    """Give tensors the values that they have on rank ``src`` of the group."""
    if module_states:
        _broadcast_coalesced(process_group, module_states, broadcast_bucket_size, src)
