"""``DistributedDataParallel``: a module of which each process has a copy; gradients are averaged during backward.

The wrapper compares and copies the model when it is made, prepares the reducer (``distributed._reducer``) around each
forward pass, and sends buffers. All else of a training loop stays what it is in one process.
"""

from __future__ import annotations

import copy
import itertools
import os
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum, auto
from typing import Any

import wengert as torch
from wengert import distributed as dist

from ..._base.errors import warn
from ...autograd.function import Function
from ...autograd.grad_mode import _unsafe_preserve_version_counter
from ...autograd.variable import Variable
from ...distributed._buckets import FIRST_BUCKET_BYTES, assign
from ...distributed._reducer import Reducer
from ...distributed._wrapping import (
    _MixedPrecision,
    call_in_dtype,
    check_hook,
    check_parameters,
    devices_of,
    group_of,
    use_dtypes,
)
from ...distributed.algorithms.join import Join, Joinable, JoinHook
from ...distributed.utils import _broadcast_coalesced, _sync_module_states, _verify_param_shape_across_processes
from ...utils._pytree import tree_flatten, tree_unflatten
from ..modules.module import Module
from .scatter_gather import gather, scatter_kwargs

__all__ = ["DistributedDataParallel", "_MixedPrecision"]

BUCKET_CAP_MB = 25


def _find_tensors(obj: Any) -> Iterator[torch.Tensor]:
    """All tensors in a result: in lists, tuples, dicts and dataclasses."""
    if isinstance(obj, torch.Tensor):
        return iter([obj])
    if isinstance(obj, dict):
        obj = obj.values()
    elif is_dataclass(obj):
        obj = [getattr(obj, field.name) for field in fields(obj)]
    elif not isinstance(obj, (list, tuple)):
        return iter(())
    return itertools.chain.from_iterable(map(_find_tensors, obj))


class _BufferCommHookLocation(Enum):
    PRE_FORWARD = auto()
    POST_FORWARD = auto()


@dataclass
class _BufferCommHook:
    buffer_comm_hook: Callable[..., Any]
    buffer_comm_hook_state: Any
    buffer_comm_hook_location: _BufferCommHookLocation


class _DDPSink(Function):
    """The identity on the results of a forward pass: its backward step is the first of the pass.

    Where a result is not needed for the loss, ``None`` is passed on, so that the parameters behind it are seen.
    """

    @staticmethod
    def forward(ctx: Any, wrapper: Any, *inputs: Any) -> Any:
        ctx.set_materialize_grads(False)
        ctx.wrapper = wrapper
        if not wrapper()._ddp_sink_clone:
            return inputs
        return tuple(x.clone() if isinstance(x, torch.Tensor) else x for x in inputs)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        wrapper = ctx.wrapper()
        if wrapper.static_graph and not wrapper._static_graph_delay_allreduce_enqueued:
            Variable._execution_engine.queue_callback(wrapper.reducer._delay_all_reduce)
            wrapper._static_graph_delay_allreduce_enqueued = True
        return (None, *grad_outputs)


class _DDPJoinHook(JoinHook):
    """Answers the collectives of one iteration of a ``DistributedDataParallel``."""

    def __init__(self, ddp: DistributedDataParallel, divide_by_initial_world_size: bool) -> None:
        self.ddp = ddp
        ddp._divide_by_initial_world_size = divide_by_initial_world_size

    def main_hook(self) -> None:
        """The same collectives, in the same order, with zeros."""
        ddp = self.ddp
        ddp.reducer._rebuild_buckets()
        if ddp._check_sync_bufs_pre_fwd():
            ddp._sync_module_buffers(ddp._find_common_rank(ddp._distributed_rank, False))
        synchronizes = ddp._check_global_requires_backward_grad_sync(is_joined_rank=True)
        ddp.require_forward_param_sync = bool(synchronizes)
        if not synchronizes:
            return
        ddp.reducer.reduce_zeros()

    def post_hook(self, is_last_joiner: bool) -> None:
        """All processes take the model of one that was among the last."""
        ddp = self.ddp
        ddp._authoritative_rank = ddp._find_common_rank(ddp._distributed_rank, is_last_joiner)
        _sync_module_states(
            ddp.module,
            ddp.process_group,
            ddp.broadcast_bucket_size,
            ddp._authoritative_rank,
            ddp.parameters_to_ignore,
            ddp.forward_sync_buffers,
        )


class DistributedDataParallel(Module, Joinable):
    """A module of which every process has a copy; ``backward`` averages the gradients over the processes.

    Each process gives its own part of a batch, for example by ``DistributedSampler``. Names in the ``state_dict``
    begin with ``module.``.

    Parameters:
        module: the module, the same in all processes. Its parameters and buffers are copied from rank 0.
        device_ids, output_device: for programs that name one accelerator for each process.
        init_sync: whether parameters are compared and copied at the start.
        process_group: the processes; all by default.
        bucket_cap_mb: gradients are sent together up to this size, 25 MiB by default.
        find_unused_parameters: look in each iteration for parameters that the results do not need. One that no process
            used keeps its ``grad``.
        gradient_as_bucket_view: gradients are views of the memory that is sent, which saves a copy.
        mixed_precision: dtypes of the forward pass, of the reduction and of buffers, a ``_MixedPrecision``.
        static_graph: the graph stays what it is in the first iteration.
        forward_sync_buffers: send the buffers of rank 0 before each forward pass (``broadcast_buffers``, its older
            name, also decides about the start).

    Raises:
        ValueError: there is no process group.
        RuntimeError: no parameter requires grad, the models differ, or parameters were not used in the iteration
            before and ``find_unused_parameters`` is not given.

    Source: Li et al. 2020, "PyTorch Distributed: Experiences on Accelerating Data Parallel Training".
    """

    _active_ddp_module: DistributedDataParallel | None = None

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool | None = None,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        delay_all_reduce_named_params: Any = None,
        param_to_hook_all_reduce: Any = None,
        mixed_precision: Any = None,
        device_mesh: Any = None,
        skip_all_reduce_unused_params: bool = False,
        bucket_cap_mb_list: list[float] | None = None,
        batched_grad_copy: bool = False,
        forward_sync_buffers: bool | None = None,
    ) -> None:
        super().__init__()
        Joinable.__init__(self)
        if (delay_all_reduce_named_params or param_to_hook_all_reduce) is not None:
            raise NotImplementedError("DistributedDataParallel(delay_all_reduce_named_params=...)")
        self.process_group = group_of(process_group, device_mesh)
        self.parameters_to_ignore = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        self._module_parameters = [p for n, p in module.named_parameters() if n not in self.parameters_to_ignore]
        check_parameters(self._module_parameters)
        self.device = self._module_parameters[0].device
        self.device_type, self.is_multi_device_module = self.device.type, False
        self.device_ids, self.output_device = devices_of(self._module_parameters, device_ids, output_device)
        self.module, self.dim = module, dim
        init_sync_buffers = self._choose_buffers(broadcast_buffers, forward_sync_buffers)
        if check_reduction:
            warn(
                "The `check_reduction` argument in `DistributedDataParallel` module is deprecated. Please avoid using "
                "it.",
                FutureWarning,
            )
        self.find_unused_parameters, self.gradient_as_bucket_view = find_unused_parameters, gradient_as_bucket_view
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        self.static_graph, self._static_graph_delay_allreduce_enqueued = False, False
        self.skip_all_reduce_unused_params, self.batched_grad_copy = skip_all_reduce_unused_params, batched_grad_copy
        self.mixed_precision, self.use_side_stream_for_tensor_copies = mixed_precision, False
        self.broadcast_bucket_size = 250 * 2**20
        cap = int((bucket_cap_mb if bucket_cap_mb is not None else BUCKET_CAP_MB) * 2**20)
        self.bucket_bytes_cap, self.bucket_bytes_cap_default = cap, bucket_cap_mb is None
        self.bucket_bytes_cap_list = [int(mb * 2**20) for mb in bucket_cap_mb_list or ()]
        self._divide_by_initial_world_size = True
        self._ddp_sink_clone, self._has_rebuilt_buckets, self._lazy_init_ran = True, False, False
        self._comm_hooks: list[tuple[Any, Any]] = []
        if init_sync:
            parameters, _ = self._build_params_for_reducer()
            _verify_param_shape_across_processes(self.process_group, parameters)
            _sync_module_states(
                module, self.process_group, self.broadcast_bucket_size, 0, self.parameters_to_ignore, init_sync_buffers
            )
        self._make_reducer(static_graph)
        if mixed_precision is not None:
            use_dtypes(self, mixed_precision)
        if static_graph:
            self._set_static_graph()

    # ---- making the reducer
    def _choose_buffers(self, broadcast: bool | None, forward_sync: bool | None) -> bool:
        """Set whether buffers are sent before each pass; whether they are at the start."""
        if broadcast is not None:
            warn(
                "Both `broadcast_buffers` and `forward_sync_buffers` were specified. `broadcast_buffers` is deprecated "
                "and its value is ignored when `forward_sync_buffers` is provided."
                if forward_sync is not None
                else "`broadcast_buffers` is deprecated. Use `forward_sync_buffers` instead. IMPORTANT: unlike "
                "`broadcast_buffers=False`, `forward_sync_buffers=False` still syncs buffers at init. If you rely on "
                "buffers NOT being synced at init (e.g. rank-local buffers), keep using `broadcast_buffers=False` "
                "until `init_sync_buffers` is available.",
                FutureWarning,
            )
        self.forward_sync_buffers = forward_sync if forward_sync is not None else broadcast is not False
        return True if forward_sync is not None else self.forward_sync_buffers

    def _build_params_for_reducer(self) -> tuple[list[Any], list[bool]]:
        """The parameters that require grad, each once, and whether its gradient will be sparse."""
        found: dict[int, tuple[Any, bool]] = {}
        for module_name, module in self.module.named_modules():
            sparse = isinstance(module, (torch.nn.Embedding, torch.nn.EmbeddingBag)) and module.sparse
            for name, p in module.named_parameters(recurse=False):
                if p.requires_grad and f"{module_name}.{name}" not in self.parameters_to_ignore:
                    found.setdefault(id(p), (p, sparse))
        self._assign_modules_buffers()
        return [p for p, _ in found.values()], [sparse for _, sparse in found.values()]

    def _assign_modules_buffers(self) -> None:
        """Look for the buffers again, which the module may have replaced."""
        self.named_module_buffers = {
            name: buffer for name, buffer in self.module.named_buffers() if name not in self.parameters_to_ignore
        }
        self.modules_buffers = list(self.named_module_buffers.values())

    def _make_reducer(self, static_graph: bool) -> None:
        parameters, sparse = self._build_params_for_reducer()
        first = FIRST_BUCKET_BYTES if self.bucket_bytes_cap_default else self.bucket_bytes_cap
        limits = self.bucket_bytes_cap_list or [first, self.bucket_bytes_cap]
        # before the order of gradients is known, one bucket is safe: with several, other collectives of the backward
        # pass could come between them on one process and not on another
        at_first = limits if self.find_unused_parameters and not static_graph else [sys.maxsize]
        indices = assign(parameters, self.bucket_bytes_cap_list or at_first, sparse)
        order = {id(p): i for i, p in enumerate(parameters)}
        names = {
            order[id(p)]: f"{module_name}.{name}"
            for module_name, module in self.module.named_modules()
            for name, p in module.named_parameters(recurse=False)
            if id(p) in order
        }
        self.reducer = Reducer(
            parameters,
            indices[::-1],
            self.process_group,
            sparse,
            limits,
            self.find_unused_parameters,
            self.gradient_as_bucket_view,
            names,
        )

    def __getstate__(self) -> dict[str, Any]:
        if self.process_group is not dist.group.WORLD:
            raise RuntimeError(
                "DDP Pickling/Unpickling are only supported when using DDP with the default process group. That is, "
                "when you have called init_process_group and have not passed process_group argument to DDP constructor"
            )
        attributes = copy.copy(self.__dict__)
        for name in ("process_group", "reducer"):
            attributes.pop(name)
        return attributes

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.process_group = group_of(None, None)
        super().__setstate__(state)
        self._make_reducer(self.static_graph)
        if self.static_graph:
            self.reducer._set_static_graph()
            self._static_graph_delay_allreduce_enqueued = False

    @property
    def broadcast_buffers(self) -> bool:
        """The older name of ``forward_sync_buffers``."""
        return self.forward_sync_buffers

    @broadcast_buffers.setter
    def broadcast_buffers(self, value: bool) -> None:
        self.forward_sync_buffers = value

    # ---- an iteration
    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """A context in which gradients stay on their process and add up; the next pass outside of it averages the sums.

        The forward pass belongs inside of the context.
        """
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        self._pre_forward()
        before, DistributedDataParallel._active_ddp_module = DistributedDataParallel._active_ddp_module, self
        try:
            if self.mixed_precision is None:
                output = self.module(*inputs, **kwargs)
            else:
                output = call_in_dtype(self.module, self.mixed_precision.param_dtype, inputs, kwargs)
        finally:
            DistributedDataParallel._active_ddp_module = before
        return self._post_forward(output)

    def _pre_forward(self) -> None:
        recording = torch.is_grad_enabled()
        if recording and self.require_backward_grad_sync:
            self.reducer.prepare_for_forward()
        work = Join.notify_join_context(self)
        if work is not None:
            self.reducer._set_forward_pass_work_handle(work, self._divide_by_initial_world_size)
        if recording and self.reducer._rebuild_buckets():
            self._has_rebuilt_buckets = True
        if self._check_sync_bufs_pre_fwd():
            self._sync_buffers()
        if self._join_config.enable:
            self._check_global_requires_backward_grad_sync(is_joined_rank=False)

    def _post_forward(self, output: Any) -> Any:
        if self._check_sync_bufs_post_fwd():
            self._sync_buffers()
        if torch.is_grad_enabled() and self.require_backward_grad_sync:
            self.require_forward_param_sync = True
            searched = self.find_unused_parameters and not self.static_graph
            self.reducer.prepare_for_backward(list(_find_tensors(output)) if searched else [])
        else:
            self.require_forward_param_sync = False
        if self.static_graph:  # its first reduction is begun by the sink
            sinks = self.require_forward_param_sync and not self._static_graph_delay_allreduce_enqueued
        else:
            sinks = self.find_unused_parameters
        if not sinks:
            return output
        leaves, spec = tree_flatten(output)
        passed = _DDPSink.apply(weakref.ref(self), *leaves)
        return tree_unflatten(
            [x if torch.is_tensor(x) and x.grad_fn is None else y for x, y in zip(leaves, passed, strict=True)], spec
        )

    def scatter(self, inputs: Any, kwargs: Any, device_ids: Any) -> Any:
        """Arguments for several devices."""
        return scatter_kwargs(inputs, kwargs, device_ids, dim=self.dim)

    def gather(self, outputs: Any, output_device: Any) -> Any:
        """The results of several devices as one."""
        return gather(outputs, output_device, dim=self.dim)

    # ---- buffers
    def will_sync_module_buffers(self) -> bool:
        """Whether the next forward pass sends buffers."""
        return self.require_forward_param_sync and self.forward_sync_buffers and len(self.modules_buffers) > 0

    def _check_sync_bufs_pre_fwd(self) -> bool:
        return self.will_sync_module_buffers() and self._buffer_location() is _BufferCommHookLocation.PRE_FORWARD

    def _check_sync_bufs_post_fwd(self) -> bool:
        return self.will_sync_module_buffers() and self._buffer_location() is _BufferCommHookLocation.POST_FORWARD

    def _buffer_location(self) -> _BufferCommHookLocation:
        hook = self.__dict__.get("buffer_hook")
        return _BufferCommHookLocation.PRE_FORWARD if hook is None else hook.buffer_comm_hook_location

    def _sync_buffers(self) -> None:
        with torch.no_grad():
            rank = self._find_common_rank(self._distributed_rank, True) if self._join_config.enable else 0
            self._assign_modules_buffers()
            with _unsafe_preserve_version_counter(tuple(self.modules_buffers)):
                self._sync_module_buffers(rank)

    def _sync_module_buffers(self, authoritative_rank: int) -> None:
        hook = self.__dict__.get("buffer_hook")
        if hook is None:
            self._default_broadcast_coalesced(authoritative_rank=authoritative_rank)
            return
        for future in hook.buffer_comm_hook(hook.buffer_comm_hook_state, self.named_module_buffers) or ():
            future.wait()

    def _default_broadcast_coalesced(
        self, bufs: Any = None, bucket_size: int | None = None, authoritative_rank: int = 0
    ) -> None:
        _broadcast_coalesced(
            self.process_group,
            self.modules_buffers if bufs is None else bufs,
            bucket_size or self.broadcast_bucket_size,
            authoritative_rank,
        )

    def _register_buffer_comm_hook(
        self,
        state: Any,
        hook: Callable[..., Any],
        comm_hook_location: _BufferCommHookLocation = _BufferCommHookLocation.POST_FORWARD,
    ) -> None:
        """Call ``hook(state, named_buffers)`` in place of sending the buffers of rank 0."""
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        self.buffer_hook = _BufferCommHook(hook, state, comm_hook_location)

    # ---- communication hooks
    def register_comm_hook(self, state: object, hook: Callable[..., Any]) -> None:
        """Call ``hook(state, bucket)`` in place of averaging each bucket.

        The hook returns a ``torch.futures.Future`` of the tensor, or of a list with it, that replaces
        ``bucket.buffer()``. It divides by the number of processes itself.

        Raises:
            RuntimeError: there is one already.
            TypeError, ValueError: it cannot be called, or is annotated with other types.
        """
        check_hook(hook)
        self.reducer.register_hook(state, hook, getattr(hook, "__qualname__", type(hook).__name__))
        self._comm_hooks.append((hook, state))

    def _register_builtin_comm_hook(self, comm_hook_type: Any) -> None:
        from ...distributed.algorithms.ddp_comm_hooks import default_hooks

        hooks = {"ALLREDUCE": default_hooks.allreduce_hook, "FP16_COMPRESS": default_hooks.fp16_compress_hook}
        self.reducer.register_hook(self.process_group, hooks[comm_hook_type.name], str(comm_hook_type))

    # ---- uneven inputs
    def join(
        self, divide_by_initial_world_size: bool = True, enable: bool = True, throw_on_early_termination: bool = False
    ) -> Join:
        """A context around a loop in which processes may have different numbers of inputs; see ``Join``.

        ``divide_by_initial_world_size``: gradients are divided by the number of all processes, and not by that of
        those that still have inputs.
        """
        return Join(
            [self], enable, throw_on_early_termination, divide_by_initial_world_size=divide_by_initial_world_size
        )

    def join_hook(self, **kwargs: Any) -> _DDPJoinHook:
        """What a process without inputs does; ``divide_by_initial_world_size`` is as for ``join``."""
        return _DDPJoinHook(self, divide_by_initial_world_size=kwargs.get("divide_by_initial_world_size", True))

    @property
    def join_device(self) -> torch.device:
        """The device of the parameters."""
        return self.device

    @property
    def join_process_group(self) -> Any:
        """The group over which gradients are averaged."""
        return self.process_group

    @property
    def _distributed_rank(self) -> int:
        return dist.get_rank(self.process_group)

    def _check_global_requires_backward_grad_sync(self, is_joined_rank: bool) -> bool | None:
        """Whether a process at work will average gradients in this iteration, which those without inputs ask."""
        syncs = not is_joined_rank and self.require_backward_grad_sync
        tensor = torch.full((1,), float(syncs), device=self.device)
        dist.all_reduce(tensor, group=self.process_group, async_op=True).wait()
        return bool(tensor.item()) if is_joined_rank else None

    def _find_common_rank(self, input_rank: int, rank_cond: bool) -> int:
        """The highest rank of those for which ``rank_cond`` is true."""
        rank = torch.tensor([input_rank if rank_cond else -1], device=self.device)
        dist.all_reduce(rank, op=dist.ReduceOp.MAX, group=self.process_group)
        if rank.item() == -1:
            raise ValueError("BUG! Expected rank_cond to be true for at least one process.")
        return int(rank.item())

    # ---- settings
    def _set_static_graph(self) -> None:
        if self.static_graph:
            warn("You've set static_graph to be True, no need to set it again.")
            return
        self.reducer._set_static_graph()
        self.static_graph, self._static_graph_delay_allreduce_enqueued = True, False
        if self.find_unused_parameters:
            warn(
                "You passed find_unused_parameters=true to DistributedDataParallel, `_set_static_graph` will detect "
                "unused parameters automatically, so you do not need to set find_unused_parameters=true, just be sure "
                "these unused parameters will not change during training loop while calling `_set_static_graph`."
            )

    def _remove_autograd_hooks(self) -> None:
        self.reducer._remove_autograd_hooks()

    def _check_reducer_finalized(self) -> None:
        self.reducer._check_reducer_finalized()

    def _update_process_group(self, new_process_group: Any) -> None:
        self._has_rebuilt_buckets = False
        self.reducer._reset_state()
        self.process_group = self.reducer.process_group = new_process_group

    def _set_ddp_sink_clone(self, val: bool) -> None:
        self._ddp_sink_clone = val

    @classmethod
    def _get_active_ddp_module(cls) -> DistributedDataParallel | None:
        return cls._active_ddp_module

    @staticmethod
    def _get_data_parallel_params(module: Module, named_params: bool = False) -> Iterator[Any]:
        for name, parameter in module.named_parameters():
            if not hasattr(parameter, "_ddp_ignored"):
                yield (name, parameter) if named_params else parameter

    @staticmethod
    def _set_params_and_buffers_to_ignore_for_model(
        module: Module, params_and_buffers_to_ignore: Iterable[str]
    ) -> None:
        """Leave parameters and buffers of these names alone, which each process then has for itself."""
        module._ddp_params_and_buffers_to_ignore = params_and_buffers_to_ignore
        for name, tensor in (*module.named_parameters(), *module.named_buffers()):
            if name in params_and_buffers_to_ignore:
                tensor._ddp_ignored = True

    def _get_ddp_logging_data(self) -> dict[str, Any]:
        """What is known of the wrapper, under PyTorch's names; no times."""
        reducer = self.reducer
        sizes = [p.numel() * p.element_size() for p in reducer.parameters]
        by_bucket = [sum(sizes[i] for i in bucket.indices) for bucket in reducer._buckets]
        names = {torch.float32: "float", torch.float64: "double", torch.float16: "c10::Half"}
        return {
            "backend_name": dist.get_backend(self.process_group),
            "bucket_sizes": ", ".join(map(str, by_bucket)),
            "comm_hook": reducer.hook_name,
            "device_ids": ", ".join(map(str, self.device_ids or ())),
            "dtypes": ", ".join(dict.fromkeys(names.get(p.dtype, str(p.dtype)) for p in reducer.parameters)),
            "master_addr": os.environ.get("MASTER_ADDR", "N/A"),
            "master_port": os.environ.get("MASTER_PORT", "N/A"),
            "module_name": type(self.module).__name__,
            "broadcast_buffers": int(self.forward_sync_buffers),
            "bucket_cap_bytes": self.bucket_bytes_cap,
            "find_unused_parameters": int(self.find_unused_parameters),
            "gradient_as_bucket_view": int(self.gradient_as_bucket_view),
            "has_rebuilt_buckets": int(self._has_rebuilt_buckets),
            "has_sync_bn": int(any(isinstance(m, torch.nn.SyncBatchNorm) for m in self.module.modules())),
            "is_multi_device_module": 0,
            "iteration": reducer.iteration,
            "num_parameter_tensors": len(sizes),
            "output_device": -1 if self.output_device is None else self.output_device,
            "rank": self._distributed_rank,
            "static_graph": int(self.static_graph),
            "total_parameter_size_bytes": sum(sizes),
            "world_size": dist.get_world_size(self.process_group),
        }
