"""``ZeroRedundancyOptimizer``: each process keeps the state of its share of the parameters.

A step updates this process's parameters, by an optimizer of its own; then each process sends its share to the others.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

import wengert as torch
from wengert import distributed as dist
from wengert.optim import Optimizer

from ..._tape.tensor import Tensor
from ..algorithms.join import Join, Joinable, JoinHook

__all__ = ["ZeroRedundancyOptimizer"]


class _ZeROJoinHook(JoinHook):
    def __init__(self, zero: ZeroRedundancyOptimizer) -> None:
        self.zero = zero

    def main_hook(self) -> None:
        """A step: gradients are there, since the others averaged them."""
        self.zero.step()


def _checked(params: Any) -> list[Any]:
    """Parameters, or groups of them, as PyTorch accepts them: all of one dense type."""
    if isinstance(params, Tensor):
        raise TypeError(f"`params` argument should be an iterable of Tensors, but got {torch.typename(params)}")
    try:
        params = list(params)
    except TypeError:
        raise TypeError(
            f"`params` argument should be an iterable of Tensors or dicts, but got {torch.typename(params)}"
        ) from None
    if not params:
        raise ValueError("ZeroRedundancyOptimizer got an empty parameter list")
    if not (all(isinstance(p, Tensor) for p in params) or all(isinstance(p, dict) for p in params)):
        raise TypeError("`params` argument should be an iterable of Tensors or dicts, but got both")
    tensors = list(chain.from_iterable(p["params"] for p in params)) if isinstance(params[0], dict) else params
    for p in tensors:
        if p.is_sparse:
            raise ValueError(
                f"ZeroRedundancyOptimizer only supports using the same dense type for all parameters but got {p.type()}"
            )
        if p.type() != tensors[0].type():
            raise ValueError(
                "ZeroRedundancyOptimizer only supports using the same dense type for all parameters but got both "
                f"{tensors[0].type()} and {p.type()}"
            )
    return params


class ZeroRedundancyOptimizer(Optimizer, Joinable):
    """An optimizer whose state is divided among the processes of a group.

    Parameters are given, largest first, to the process with the fewest numbers so far.

    Parameters:
        params: as for any optimizer; the same in all processes.
        optimizer_class: the optimizer, such as ``torch.optim.Adam``; other keyword arguments are passed to it.
        process_group: the processes; all by default.
        parameters_as_bucket_view: put each process's share into one memory, which saves a copy in each step.
        overlap_with_ddp: the backward pass makes the steps, by ``ddp_zero_hook.hook_with_zero_step``; ``step()`` does
            nothing.

    ``state_dict()`` needs ``consolidate_state_dict(to=rank)`` on all processes before.

    Source: Rajbhandari et al. 2020, "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models".
    """

    def __init__(
        self,
        params: Any,
        optimizer_class: Callable[..., Optimizer],
        process_group: Any = None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        **defaults: Any,
    ) -> None:
        self.initialized, self._overlap_with_ddp = False, overlap_with_ddp
        Optimizer.__init__(self, _checked(params), defaults)
        Joinable.__init__(self)
        self.process_group = process_group if process_group is not None else dist.group.WORLD
        self.world_size, self.rank = dist.get_world_size(self.process_group), dist.get_rank(self.process_group)
        self.parameters_as_bucket_view = parameters_as_bucket_view
        self.optim = optimizer_class(self._partition_parameters()[self.rank], **defaults)
        _copy_options(self.optim.param_groups, self.param_groups)
        self._all_state_dicts: list[dict[str, Any]] = []
        self._trainable: list[bool] = []
        self._fill_buckets()
        self.initialized = True

    def _partition_parameters(self) -> list[list[dict[str, Any]]]:
        """The groups of each process. A new group changes nothing in those before it."""
        sizes = [0] * self.world_size
        groups: list[list[dict[str, Any]]] = [[] for _ in sizes]
        for group in self.param_groups:
            shares: list[list[Tensor]] = [[] for _ in sizes]
            for param in sorted(group["params"], key=lambda p: p.numel(), reverse=True):
                rank = sizes.index(min(sizes))
                shares[rank].append(param)
                sizes[rank] += param.numel()
            for rank, share in enumerate(shares):
                groups[rank].append({**group, "params": share})
        return groups

    def _all_params(self) -> list[Any]:
        return [p for group in self.param_groups for p in group["params"]]

    def _fill_buckets(self) -> None:
        """The memory in which each process's share is sent; the parameters are in it, if that is asked for."""
        self._trainable = [p.requires_grad for p in self._all_params()]
        self._shares = [[p for g in groups for p in g["params"] if p.requires_grad]
                        for groups in self._partition_parameters()]  # fmt: skip
        self._buckets: list[Any] = [None] * self.world_size
        if self.parameters_as_bucket_view:
            for rank, share in enumerate(self._shares):
                if share:
                    bucket = self._buckets[rank] = torch.cat([p.detach().reshape(-1) for p in share])
                    for p, part in zip(share, bucket.split([p.numel() for p in share]), strict=True):
                        p.data = part.view_as(p)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group, on all processes."""
        super().add_param_group(param_group)
        if self.initialized:
            self.optim.add_param_group(self._partition_parameters()[self.rank][-1])
            self._fill_buckets()

    def step(self, closure: Any = None, **kwargs: Any) -> Any:
        """Update this process's share, then exchange the shares."""
        if self._overlap_with_ddp:
            return None
        return self._step(closure, **kwargs)

    def _step(self, closure: Any = None, **kwargs: Any) -> Any:
        Join.notify_join_context(self)
        if self._trainable != [p.requires_grad for p in self._all_params()]:
            self._fill_buckets()
        _copy_options(self.param_groups, self.optim.param_groups)
        loss = self.optim.step(**kwargs) if closure is None else self.optim.step(closure=closure, **kwargs)
        _copy_options(self.optim.param_groups, self.param_groups)
        self._sync_params()
        return loss

    def _sync_params(self) -> None:
        under_way: list[tuple[Any, Any, list[Any]]] = []
        for rank, (share, bucket) in enumerate(zip(self._shares, self._buckets, strict=True)):
            if share:
                flat = torch.cat([p.detach().reshape(-1) for p in share]) if bucket is None else bucket
                work = dist.broadcast(flat, group=self.process_group, group_src=rank, async_op=True)
                under_way.append((work, flat, share if bucket is None and rank != self.rank else []))
        for work, flat, received in under_way:
            work.wait()
            for p, part in zip(received, flat.split([p.numel() for p in received]) if received else (), strict=True):
                p.detach().copy_(part.view_as(p))

    # ---- state
    def consolidate_state_dict(self, to: int = 0) -> None:
        """Collect the state of all processes on one, for ``state_dict``; called on all."""
        _copy_options(self.param_groups, self.optim.param_groups)
        parts: list[Any] | None = [None] * self.world_size if self.rank == to else None
        dist.gather_object(self.optim.state_dict(), parts, group=self.process_group, group_dst=to)
        self._all_state_dicts = parts or []

    def state_dict(self) -> dict[str, Any]:
        """The state that was collected last, as the optimizer would have it in one process.

        Raises:
            RuntimeError: none was collected on this process.
        """
        if not self._all_state_dicts:
            raise RuntimeError(
                "Optimizer state has not been consolidated on this rank. Please call "
                f"`consolidate_state_dict(to={self.rank})` on all ranks beforehand if you meant to save the global "
                "state."
            )
        whole = super().state_dict()
        places = {id(p): i for i, p in enumerate(self._all_params())}
        state = {}
        for part, groups in zip(self._all_state_dicts, self._partition_parameters(), strict=True):
            for local, group in zip(part["param_groups"], groups, strict=True):
                for index, p in zip(local["params"], group["params"], strict=True):
                    if index in part["state"]:
                        state[places[id(p)]] = part["state"][index]
        whole["state"] = dict(sorted(state.items()))
        return whole

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take this process's share of a whole state."""
        mine = {id(p) for group in self.optim.param_groups for p in group["params"]}
        params = self._all_params()
        kept = {i: value for i, value in state_dict["state"].items() if id(params[i]) in mine}
        super().load_state_dict({**state_dict, "state": kept})
        for i in kept:
            self.optim.state[params[i]] = self.state.pop(params[i])
        _copy_options(state_dict["param_groups"], self.param_groups)
        _copy_options(self.param_groups, self.optim.param_groups)

    # ---- uneven inputs
    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What a process without inputs does."""
        return _ZeROJoinHook(self)

    @property
    def join_device(self) -> torch.device:
        """The device of the parameters."""
        return self._all_params()[0].device

    @property
    def join_process_group(self) -> Any:
        """The group among which the state is divided."""
        return self.process_group


def _copy_options(source: list[dict[str, Any]], to: list[dict[str, Any]]) -> None:
    """Copy learning rates and other options from groups to the same ones elsewhere."""
    for one, other in zip(source, to, strict=True):
        other.update({name: value for name, value in one.items() if name != "params"})
