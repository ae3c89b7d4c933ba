"""The reduction of gradients over processes during the backward pass: what PyTorch calls ``Reducer``.

Each parameter's accumulation of its gradient has a hook, which counts. When all gradients of a bucket are there and the
reductions of the buckets before it have begun, they are copied into the bucket and its reduction begins, so that all
processes reduce in the same order. When the backward pass ends, the results are copied back.

The first pass of a model uses the order of its parameters. It also notes the order in which gradients came; buckets are
made anew after it, in the order that process 0 saw.

NOTE [ Hooks that communicate again ]: The callback of a communication hook's future may call a collective. When it runs
depends on the time, and all processes must call collectives in one order. So the hook of a bucket is called only when
the future of the bucket before is done. Hooks that are known to have no such callback say so (``communicates_once``).

NOTE [ Unused parameters ]: A parameter that is not in the graph of the outputs is ready from the start, with zeros.
One that no process used keeps its ``grad``, None or not. So processes add up, per parameter, whether they used it.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

import wengert as torch
from wengert import distributed as dist

from .._base.errors import noted, warn_once
from .._tape.node import add_hook, tick, version_of
from .._tape.tensor import Tensor, alias_payload
from ..autograd.variable import Variable
from ._buckets import Bucket, GradBucket, assign, copy_scaled, same_memory

__all__ = ["Reducer"]

UNFINISHED = (
    "Expected to have finished reduction in the prior iteration before starting a new one. This error indicates"
)
OUTPUTS = (
    "making sure all `forward` function outputs participate in calculating loss. \nIf you already have done the above, "
    "then the distributed data parallel module wasn't able to locate the output tensors in the return value of your "
    "module's `forward` function. Please include the loss function and the structure of the return value of `forward` "
    "of your module when reporting this issue (e.g. list, dict, iterable)."
)
TWICE = (
    "Expected to mark a variable ready only once. This error is caused by one of the following reasons: 1) Use of a "
    "module parameter outside the `forward` function. Please make sure model parameters are not shared across multiple "
    "concurrent forward-backward passes. or try to use _set_static_graph() as a workaround if this module graph does "
    "not change during training loop.2) Reused parameters in multiple reentrant backward passes. For example, if you "
    "use multiple `checkpoint` functions to wrap the same part of your model, it would result in the same set of "
    "parameters been used by different reentrant backward passes multiple times, and hence marking a variable ready "
    "multiple times. DDP does not support such use cases in default. You can try to use _set_static_graph() as a "
    "workaround if your module graph does not change over iterations.\n"
)
ALL_USED = (
    "find_unused_parameters=True was specified in DDP constructor, but did not find any unused parameters in the "
    "forward pass. This flag results in an extra traversal of the autograd graph every iteration,  which can adversely "
    "affect performance. If your model indeed never has any unused parameters in the forward pass, consider turning "
    "this flag off. Note that this warning may be a false positive if your model has flow control causing later "
    "iterations to have unused parameters."
)
CHANGED = (
    "Your training graph has changed in this iteration, e.g., one parameter is unused in first iteration, but then got "
    "used in the second iteration. this is not compatible with static_graph set to True."
)


class Reducer:
    """Averages the gradients of parameters over the processes of a group, while the backward pass goes on."""

    def __init__(
        self,
        parameters: Sequence[Tensor],
        bucket_indices: Sequence[Sequence[int]],
        process_group: Any,
        expect_sparse: Sequence[bool],
        limits: Sequence[int],
        find_unused: bool = False,
        gradient_as_bucket_view: bool = False,
        names: dict[int, str] | None = None,
    ) -> None:
        self.parameters, self.expect_sparse, self.names = list(parameters), list(expect_sparse), names or {}
        self.process_group, self.limits = process_group, list(limits)
        self.find_unused, self.as_view, self.static_graph = find_unused, gradient_as_bucket_view, False
        self.hook: Any = None  # (state, hook)
        self.hook_name = ""
        self.iteration = 0
        self._forward_work: Any = None
        self._divide_by_world = True
        self._reset_state()
        self._make_buckets(bucket_indices)
        self._attach()

    def _reset_state(self) -> None:
        """As before the first iteration."""
        self._expecting = self._only_counts = self._unfinished = self._rebuilt = self._unused_marked = False
        self._order: list[int] = []
        self._unused: list[int] = []
        self._marked = bytearray(len(self.parameters))
        self._factor: float | None = None
        self._next = 0
        self._first_static = True
        self._used = np.zeros(len(self.parameters), np.int32)
        self._used_work: Any = None
        self._triggers = [0] * len(self.parameters)
        self._triggers_left: list[int] = []

    # ---- hooks of autograd
    def _attach(self) -> None:
        """A hook on each accumulation; it must not keep this object alive, which removes the hooks when it goes."""
        me = weakref.ref(self)
        self._accumulators, self._handles = [], []
        for index, parameter in enumerate(self.parameters):
            with torch.enable_grad():
                node: Any = parameter.expand_as(parameter).grad_fn.next_functions[0][0]

            def hook(index: int = index) -> None:
                reducer = me()
                if reducer is not None:
                    reducer._autograd_hook(index)

            self._accumulators.append(node)
            self._handles.append(add_hook(node, "done", hook))
        self._remove_autograd_hooks = weakref.finalize(self, _remove, self._handles)

    def _autograd_hook(self, index: int) -> None:
        """The gradient of a parameter has been accumulated."""
        if self._only_counts:
            self._ready(index)
            return
        first_static = self.static_graph and self._first_static
        if (self.find_unused or first_static) and self.parameters[index].grad is not None:
            self._used[index] = 1
        if not self._expecting:
            return
        if first_static:
            self._triggers[index] += 1
            return
        if not self._unused_marked:
            self._unused_marked = True
            for unused in self._unused:
                self._ready(unused)
        if self.static_graph:
            if self._triggers_left[index] <= 0:
                raise RuntimeError(CHANGED)
            self._triggers_left[index] -= 1
            if self._triggers_left[index]:
                return
        if self._rebuilds():
            self._order.append(index)
        self._ready(index)

    # ---- an iteration
    def prepare_for_forward(self) -> None:
        """An iteration begins."""
        self.iteration += 1

    def prepare_for_backward(self, outputs: Sequence[Tensor]) -> None:
        """The forward pass has ended: count from the start, and find the parameters that its outputs do not need."""
        self._expecting, self._unused_marked, self._next = True, False, 0
        self._only_counts = not (self.find_unused or self.static_graph or self._rebuilds())
        self._marked = bytearray(len(self.parameters))
        self._triggers_left = list(self._triggers)
        for bucket in self._buckets:
            bucket.pending, bucket.work = len(bucket.indices), None
        if self.find_unused and not self.static_graph:
            self._unused = self._not_reached(outputs)
            if not self._unused:
                warn_once(ALL_USED)

    def _not_reached(self, outputs: Sequence[Tensor]) -> list[int]:
        waiting = [t.grad_fn for t in outputs if t.grad_fn is not None]
        seen = set(waiting)
        while waiting:
            for node, _ in waiting.pop().next_functions:
                if node is not None and node not in seen:
                    seen.add(node)
                    waiting.append(node)
        return [i for i, node in enumerate(self._accumulators) if node not in seen]

    def _ready(self, index: int) -> None:
        """A parameter's gradient is final on this process."""
        if self._marked[index]:
            name = f" with name {self.names[index]}" if index in self.names else ""
            raise RuntimeError(
                f"{TWICE}Parameter at index {index}{name} has been marked as ready twice. This means that multiple "
                "autograd engine  hooks have fired for this particular parameter during this iteration."
            )
        self._marked[index] = self._unfinished = True
        bucket = self._bucket_of[index]
        bucket.pending -= 1
        if bucket.pending:
            return
        with torch.no_grad():
            while self._next < len(self._buckets) and not self._buckets[self._next].pending:
                self._fill(self._buckets[self._next])
                self._start(self._next)
                self._next += 1
            if self._next == len(self._buckets) and self.find_unused and not self.static_graph:
                self._settle(self._buckets[-1].work)
                self._start_used()
        if self._next == len(self._buckets):
            Variable._execution_engine.queue_callback(self._finish)

    def _fill(self, bucket: Bucket) -> None:
        """Copy the gradients into a bucket, divided by the number of processes unless a hook does that."""
        factor = None if self.hook else self._division()
        scale = None if factor is None or bucket.sparse else np.array(factor, bucket.flat._payload.dtype)
        for place, (parameter, to) in enumerate(zip(bucket.parameters, bucket.arrays, strict=True)):
            grad = parameter.grad
            a = None if grad is None or self.as_view or grad._node is not None else grad._payload
            if type(a) is not np.ndarray or to is None or a.dtype is not to.dtype:
                self._fill_place(bucket, place, factor)
            elif scale is None:
                to[...] = a
            else:
                np.multiply(a, scale, to)

    def _fill_place(self, bucket: Bucket, place: int, factor: float | None) -> None:
        """Copy a gradient of any kind, or zeros where there is none."""
        parameter = bucket.parameters[place]
        grad = parameter.grad
        if bucket.sparse:
            if grad is None:
                raise RuntimeError("DistributedDataParallel: a parameter with a sparse gradient was not used")
            if grad.layout is not torch.sparse_coo:
                raise RuntimeError("Expected variable to have sparse gradient.")
            grad = grad.detach().coalesce()
            bucket.flat = grad if factor is None else grad * factor
            return
        view = bucket.views[place]
        if grad is None:
            view.zero_()
            return
        if grad.layout is not view.layout:
            raise RuntimeError("Expected param to have dense gradient, but got a sparse one.")
        if grad.requires_grad:
            warn_once(
                "Using DistributedDataParallel with create_graph=True  is not well-supported. The higher-order "
                "gradient will  not be synchronized across ranks, and backpropagation  through all_reduce operations "
                "will not occur. If you require  DDP to work with higher-order gradients for your use case,  please "
                "ping https://github.com/pytorch/pytorch/issues/63812"
            )
        copy_scaled(view, grad, factor)  # also where they are one memory
        if self.as_view and grad is not view:
            parameter.grad = view

    def _division(self) -> float:
        if self._factor is None:
            count = dist.get_world_size(self.process_group)
            if self._forward_work is not None and not self._divide_by_world:
                count = int(self._forward_work.get_future().wait()[0].item())
            self._factor = 1.0 / count
        return self._factor

    def _start(self, index: int) -> None:
        """Begin the reduction of a bucket."""
        bucket = self._buckets[index]
        if index:
            self._settle(self._buckets[index - 1].work)
        if self.hook is None and not bucket.sparse:
            bucket.work = dist.all_reduce(bucket.flat, group=self.process_group, async_op=True)
        else:
            bucket.work = self._run_comm_hook(GradBucket(bucket, index, index == len(self._buckets) - 1))

    def _settle(self, work: Any) -> None:
        """Let the callbacks of a hook come first: see NOTE [ Hooks that communicate again ]."""
        if self.hook is not None and not getattr(self.hook[1], "communicates_once", False):
            _result(work)

    def _run_comm_hook(self, bucket: GradBucket) -> Any:
        """The future of a bucket's reduction."""
        if self.hook is not None:
            state, hook = self.hook
            return hook(state, bucket)
        if bucket._bucket.sparse:
            future: Any = torch.futures.Future()
            future.set_result(_sum_of_sparse(bucket.buffer(), self.process_group))
            return future
        return dist.all_reduce(bucket.buffer(), group=self.process_group, async_op=True).get_future()

    def _start_used(self) -> None:
        self._used_work = dist.all_reduce(torch.from_numpy(self._used), group=self.process_group, async_op=True)

    def _delay_all_reduce(self) -> None:
        """Reduce everything at the end of the first backward pass of a static graph, which is not known before."""
        self._start_used()
        self._unused = [i for i, times in enumerate(self._triggers) if not times]
        for bucket in self._buckets:
            self._fill(bucket)
        for index in range(len(self._buckets)):
            self._start(index)
        self._finish()
        self._first_static = False

    def _finish(self) -> None:
        """The backward pass has ended: wait for every bucket, and give the results to the parameters."""
        self._expecting = self._only_counts = self._unfinished = False
        if self.static_graph and not self._first_static and self._rebuilds():
            self._order += self._unused
        used: Any = None
        if self._used_work is not None:
            self._used_work.wait()
            self._used_work = None
        if self.find_unused or self.static_graph:
            used = self._used.tolist()
        for bucket in self._buckets:
            flat = bucket.flat
            if hasattr(bucket.work, "get_future"):
                bucket.work.wait()
            else:
                flat = _result(bucket.work)
            if bucket.sparse:
                bucket.parameters[0].grad = flat
                continue
            self._give_back(bucket, flat, used)
        self._factor = None
        if self.find_unused and not self.static_graph:
            self._used[:] = 0

    def _give_back(self, bucket: Bucket, flat: Tensor, used: Any) -> None:
        """Write the results of a bucket to the gradients."""
        same, now = flat is bucket.flat, tick()
        results = bucket.views if same else bucket.views_of(flat)
        arrays = bucket.arrays if same else map(alias_payload, results)
        for place, (parameter, index, source) in enumerate(zip(bucket.parameters, bucket.indices, arrays, strict=True)):
            if used is not None and not used[index]:
                continue
            grad = parameter.grad
            a = None if grad is None or self.as_view else grad._payload
            if type(a) is np.ndarray and type(source) is np.ndarray and a.dtype is source.dtype and a.flags.writeable:
                a[...] = source
                version_of(grad).write(now)
            else:
                self._give(parameter, bucket.views[place], results[place])

    def _give(self, parameter: Tensor, view: Tensor, result: Tensor) -> None:
        grad = parameter.grad
        if not self.as_view:
            if grad is None:
                parameter.grad = result.clone()
            else:
                copy_scaled(grad, result)
            return
        if result is not view and not same_memory(view, result):
            copy_scaled(view, result)
        if grad is None:
            parameter.grad = view
        elif not same_memory(grad, view):
            raise RuntimeError(
                "Detected at least one parameter gradient is not the expected DDP bucket view with "
                "gradient_as_bucket_view=True. This may happen (for example) if multiple allreduce hooks were "
                "registered onto the same parameter. If you hit this error, please file an issue with a minimal repro."
            )

    # ---- buckets
    def _make_buckets(self, bucket_indices: Sequence[Sequence[int]]) -> None:
        self._buckets = []
        self._bucket_of: dict[int, Bucket] = {}
        for indices in bucket_indices:
            bucket = Bucket([self.parameters[i] for i in indices], indices, self.expect_sparse[indices[0]])
            self._buckets.append(bucket)
            self._bucket_of.update(dict.fromkeys(indices, bucket))
            for parameter, view in zip(bucket.parameters, () if bucket.sparse else bucket.views, strict=False):
                if self.as_view and parameter.grad is not None:
                    copy_scaled(view, parameter.grad)
                    parameter.grad = view

    def _rebuilds(self) -> bool:
        return (self.static_graph or not self.find_unused) and not self._rebuilt

    def _rebuild_buckets(self) -> bool:
        """Make buckets anew, once, in the order in which gradients came; whether that was done.

        Raises:
            RuntimeError: the iteration before did not reduce all gradients.
        """
        self._check_reducer_finalized()
        if not self._rebuilds() or not self._order:
            return False
        ordered = [self.parameters[i] for i in self._order]
        indices = [assign(ordered, self.limits, self.expect_sparse, self._order)]
        dist.broadcast_object_list(indices, group=self.process_group, group_src=0)
        self._rebuilt, self._order = True, []
        self._make_buckets(indices[0])
        return True

    def _push_all_rebuilt_params(self) -> None:
        """For a process without inputs: it saw no order, but takes part in making the buckets anew."""
        if self._rebuilds():
            self._order = list(range(len(self.parameters)))

    def _check_reducer_finalized(self) -> None:
        if not self._unfinished:
            return
        missing = [i for i in range(len(self.parameters)) if not self._marked[i]]
        if self.static_graph:
            text = (
                f"{UNFINISHED} that your training graph has changed in this iteration, e.g., one parameter is used in "
                "first iteration, but then got unused in the second iteration. this is not compatible with "
                "static_graph set to True."
            )
        else:
            advice = (
                "Since `find_unused_parameters=True` is enabled, this likely  means that not all `forward` outputs "
                "participate in computing loss. You can fix this by "
                if self.find_unused
                else "You can enable unused parameter detection by passing the keyword argument "
                "`find_unused_parameters=True` to `torch.nn.parallel.DistributedDataParallel`, and by \n"
            )
            text = (
                f"{UNFINISHED} that your module has parameters that were not used in producing loss. {advice}{OUTPUTS}"
            )
        rank = dist.get_rank(self.process_group)
        if os.environ.get("TORCH_DISTRIBUTED_DEBUG", "OFF").upper() not in ("INFO", "DETAIL"):
            text += (
                f"\nParameter indices which did not receive grad for rank {rank}: {' '.join(map(str, missing))}\n In "
                "addition, you can set the environment variable TORCH_DISTRIBUTED_DEBUG to either INFO or DETAIL to "
                "print out information about which particular parameters did not receive gradient on this rank as part "
                "of this error"
            )
            raise noted(RuntimeError(text), f"They are: {', '.join(self.names.get(i, str(i)) for i in missing)}")
        names = ", ".join(self.names.get(i, str(i)) for i in missing)
        raise RuntimeError(
            f"{text}\nParameters which did not receive grad for rank {rank}: {names}\nParameter indices which did not "
            f"receive grad for rank {rank}: {' '.join(map(str, missing))}"
        )

    # ---- what DDP sets
    def register_hook(self, state: Any, hook: Any, name: str) -> None:
        """A communication hook in place of the mean."""
        if self.hook is not None:
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be called once.")
        self.hook, self.hook_name = (state, hook), name

    def _set_static_graph(self) -> None:
        if self.iteration:
            raise RuntimeError("set_static_graph() should be called before training loop starts and after DDP is "
                               "constructed.")  # fmt: skip
        self.static_graph = True
        self.find_unused = False

    def _set_forward_pass_work_handle(self, work: Any, divide_by_world: bool) -> None:
        self._forward_work, self._divide_by_world = work, divide_by_world

    def reduce_zeros(self) -> None:
        """The collectives of one backward pass, by a process that has no inputs left."""
        works = []
        for index, bucket in enumerate(self._buckets):
            flat = torch.zeros_like(bucket.flat)
            works.append(self._run_comm_hook(GradBucket(bucket, index, index == len(self._buckets) - 1, flat)))
            self._settle(works[-1])
        for work in works:
            work.wait()
        if self.find_unused:
            dist.all_reduce(torch.zeros(len(self.parameters), dtype=torch.int32), group=self.process_group)
        self._push_all_rebuilt_params()

    def _update_process_group(self, group: Any) -> None:
        self.process_group = group


def _remove(handles: list[Any]) -> None:
    for handle in handles:
        handle.remove()


def _result(future: Any) -> Tensor:
    """The tensor of a communication hook's future: itself, or the only one in a list."""
    if not hasattr(future, "wait"):
        raise noted(
            RuntimeError(
                f"DDP communication hook's callback must return a torch.futures.Future object, but got {type(future)}"
            )
        )
    value = future.wait()
    first = value[0] if isinstance(value, (list, tuple)) and value else value
    if not isinstance(first, Tensor):
        raise RuntimeError(f"Unable to cast {value!r} to Tensor")
    return first


def _sum_of_sparse(grad: Tensor, group: Any) -> Tensor:
    """The sum of the sparse tensors of all processes."""
    parts: list[Any] = [None] * dist.get_world_size(group)
    dist.all_gather_object(parts, (grad.indices().numpy(), grad.values()), group=group)
    indices = torch.from_numpy(np.concatenate([i for i, _ in parts], axis=1))
    return torch.sparse_coo_tensor(indices, torch.cat([v for _, v in parts]), grad.shape).coalesce()
