"""``torch.distributed``'s collectives; the functions of groups and messages have their names here too.

Groups are in ``_groups``, messages in ``_messages``, objects in ``_objects``. A collective checks its arguments, begins
a ``Work`` of the group's, and waits for it or returns it.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

from .._base.errors import warn
from .._tape.tensor import Tensor
from ..overrides import handle_torch_function, has_torch_function
from . import _groups, _messages
from ._groups import *  # noqa: F403
from ._groups import (
    _check_valid_timeout,
    _get_default_group,
    _get_default_store,
    _get_process_group_name,
    _group_or_default_group,
    _rank_not_in_group,
    _set_pg_timeout,
    _world,
    supports_complex,
)
from ._messages import *  # noqa: F403
from ._messages import (
    _canonicalize_group_rank,
    _check_not_self_rank,
    _check_single_tensor,
    _check_tensor_list,
    _ensure_all_tensors_same_dtype,
    _outside,
)
from ._process_group import ProcessGroup
from ._reduce_op import ReduceOp, ReduceOptions, reduce_op
from ._stores import PrefixStore, Store
from ._work import Work

__all__ = [  # noqa: PLE0604
    *_groups.__all__, *_messages.__all__,
    "AllToAllOptions", "AllreduceCoalescedOptions", "AllreduceOptions", "BarrierOptions", "BroadcastOptions",
    "GatherOptions", "PrefixStore", "ProcessGroup", "ReduceOp", "ReduceOptions", "ReduceScatterOptions",
    "ScatterOptions", "Store", "Work", "all_gather", "all_gather_coalesced", "all_gather_into_tensor",
    "all_gather_single", "all_reduce", "all_reduce_coalesced", "all_to_all", "all_to_all_single", "barrier",
    "broadcast", "gather", "monitored_barrier", "reduce", "reduce_op", "reduce_scatter", "reduce_scatter_single",
    "reduce_scatter_tensor", "scatter",
]  # fmt: skip

AllreduceOptions = AllreduceCoalescedOptions = BroadcastOptions = GatherOptions = ScatterOptions = ReduceOptions
AllToAllOptions = BarrierOptions = ReduceScatterOptions = AllgatherOptions = ReduceOptions


def _overridable(position: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: a tensor of one's own, at this position, decides by ``__torch_function__`` what the function does."""

    def decorate(fn: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(fn)
        def call(*args: Any, **kwargs: Any) -> Any:
            if len(args) > position and type(args[position]) is not Tensor and has_torch_function((args[position],)):
                return handle_torch_function(call, (args[position],), *args, **kwargs)
            return fn(*args, **kwargs)

        return call

    return decorate


def _done(work: Work, async_op: bool) -> Work | None:
    """What a collective returns: its work if that is asynchronous, else nothing, once it is done."""
    if async_op:
        return work._unwatched()
    work.wait()
    return None


# ---- collectives
@_overridable(0)
def broadcast(
    tensor: Tensor, src: int | None = None, group: Any = None, async_op: bool = False, group_src: int | None = None
) -> Work | None:
    """Copy the tensor of rank ``src`` into those of the others."""
    if _outside(group, "broadcast"):
        return None
    pg = _group_or_default_group(group)
    root = _canonicalize_group_rank(pg, src, group_src)
    _check_single_tensor(tensor, "tensor")
    return _done(pg.broadcast([tensor], root), async_op)


@_overridable(0)
def all_reduce(tensor: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Work | None:
    """Reduce the tensors of all ranks, in place: every rank gets the sum."""
    _check_single_tensor(tensor, "tensor")
    if _outside(group, "all_reduce"):
        return None
    if tensor.is_complex() and not supports_complex(op):
        raise ValueError(f"all_reduce does not support {op} on complex tensors")
    pg = _group_or_default_group(group)
    if pg in _world.coalescing:
        return _collected(pg, all_reduce, async_op, tensor, op)
    return _done(pg.allreduce([tensor], op), async_op)


def all_reduce_coalesced(tensors: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Any:
    """``all_reduce`` of several tensors; with ``async_op`` it returns a future."""
    tensors = [tensors] if isinstance(tensors, Tensor) else tensors
    _deprecated("all_reduce_coalesced")
    _check_tensor_list(tensors, "tensor")
    _ensure_all_tensors_same_dtype(tensors)
    if _outside(group, "all_reduce_coalesced"):
        return None
    if any(t.is_complex() for t in tensors) and not supports_complex(op):
        raise ValueError(f"all_reduce does not support {op} on complex tensors")
    work = _done(_group_or_default_group(group).allreduce_coalesced(tensors, op), async_op)
    return work and work.get_future()


def _deprecated(name: str) -> None:
    warn(
        f"`torch.distributed.{name}` will be deprecated. If you must use it, please revisit our documentation later at "
        "https://pytorch.org/docs/main/distributed.html#collective-functions",
        FutureWarning,
    )


@_overridable(0)
def reduce(
    tensor: Tensor, dst: int | None = None, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:  # fmt: skip
    """Reduce the tensors of all ranks into that of rank ``dst``."""
    if _outside(group, "reduce"):
        return None
    pg = _group_or_default_group(group)
    root = _canonicalize_group_rank(pg, dst, group_dst)
    _check_single_tensor(tensor, "tensor")
    return _done(pg.reduce([tensor], op, root), async_op)


@_overridable(1)
def all_gather(tensor_list: list[Tensor], tensor: Tensor, group: Any = None, async_op: bool = False) -> Work | None:
    """Gather the tensors of all ranks in ``tensor_list``, on every rank."""
    _check_tensor_list(tensor_list, "tensor_list")
    _check_single_tensor(tensor, "tensor")
    _ensure_all_tensors_same_dtype(tensor_list, tensor)
    if _outside(group, "all_gather"):
        return None
    return _done(_group_or_default_group(group).allgather([tensor_list], [tensor]), async_op)


@_overridable(1)
def all_gather_single(
    output_tensor: Tensor, input_tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """Gather the tensors of all ranks in one tensor, one after the other or stacked."""
    _check_single_tensor(input_tensor, "input_tensor")
    _check_single_tensor(output_tensor, "output_tensor")
    if _outside(group, "all_gather_single"):
        return None
    pg = _group_or_default_group(group)
    if pg in _world.coalescing:
        return _collected(pg, all_gather_single, async_op, output_tensor, input_tensor)
    return _done(pg.all_gather_single(output_tensor, input_tensor), async_op)


_all_gather_base = all_gather_single  # its first name


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """The old name of ``all_gather_single``."""
    _renamed("all_gather_into_tensor", "all_gather_single")
    return all_gather_single(output_tensor, input_tensor, group, async_op)


def _renamed(old: str, new: str) -> None:
    warn(f"`torch.distributed.{old}` is deprecated. Please use `torch.distributed.{new}` instead.", FutureWarning)


def all_gather_coalesced(
    output_tensor_lists: list[list[Tensor]], input_tensor_list: list[Tensor], group: Any = None, async_op: bool = False
) -> Any:
    """``all_gather`` of several tensors: ``output_tensor_lists[rank][i]`` is tensor i of that rank."""
    _deprecated("all_gather_coalesced")
    if _outside(group, "all_gather_coalesced"):
        return None
    _check_tensor_list(input_tensor_list, "input_tensor_list")
    _ensure_all_tensors_same_dtype(input_tensor_list)
    if not isinstance(output_tensor_lists, list):
        raise TypeError("Invalid function argument: output_tensor_lists should be a list")
    for one in output_tensor_lists:
        _check_tensor_list(one, "output_tensor_lists")
    pg = _group_or_default_group(group)
    works = [
        pg.allgather([list(outputs)], [t]) for *outputs, t in zip(*output_tensor_lists, input_tensor_list, strict=True)
    ]
    if async_op:
        return works[-1]._unwatched().get_future().then(lambda _: output_tensor_lists)
    for work in works:
        work.wait()


def _check_root_list(at_root: bool, given: Any, name: str = "gather_list", root: str = "destination") -> None:
    """The root has a list of tensors, and the others none."""
    if at_root and not given:
        raise ValueError(f"Argument ``{name}`` must be specified on {root} rank.")
    if given and not at_root:
        raise ValueError(f"Argument ``{name}`` must NOT be specified on non-{root} ranks.")


@_overridable(0)
def gather(
    tensor: Tensor, gather_list: list[Tensor] | None = None, dst: int | None = None, group: Any = None,
    async_op: bool = False, group_dst: int | None = None,
) -> Work | None:  # fmt: skip
    """Gather the tensors of all ranks in ``gather_list``, on rank ``dst``."""
    _check_single_tensor(tensor, "tensor")
    gather_list = gather_list or []
    _check_tensor_list(gather_list, "gather_list")
    _ensure_all_tensors_same_dtype(tensor, gather_list)
    if _outside(group, "gather"):
        return None
    pg = _group_or_default_group(group)
    root = _canonicalize_group_rank(pg, dst, group_dst, 0)
    _check_root_list(pg.rank() == root, gather_list)
    return _done(pg.gather([gather_list], [tensor], root), async_op)


@_overridable(0)
def scatter(
    tensor: Tensor, scatter_list: list[Tensor] | None = None, src: int | None = None, group: Any = None,
    async_op: bool = False, group_src: int | None = None,
) -> Work | None:  # fmt: skip
    """Give each rank one tensor of the list that rank ``src`` has."""
    _check_single_tensor(tensor, "tensor")
    scatter_list = scatter_list or []
    _check_tensor_list(scatter_list, "scatter_list")
    _ensure_all_tensors_same_dtype(tensor, scatter_list)
    if _outside(group, "scatter"):
        return None
    pg = _group_or_default_group(group)
    root = _canonicalize_group_rank(pg, src, group_src, 0)
    _check_root_list(pg.rank() == root, scatter_list, "scatter_list", "source")
    return _done(pg.scatter([tensor], [scatter_list], root), async_op)


@_overridable(0)
def reduce_scatter(
    output: Tensor, input_list: list[Tensor], op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Reduce lists of tensors over the ranks; each rank gets one."""
    _check_single_tensor(output, "output")
    _check_tensor_list(input_list, "input_list")
    _ensure_all_tensors_same_dtype(output, input_list)
    if _outside(group, "reduce_scatter"):
        return None
    return _done(_group_or_default_group(group).reduce_scatter([output], [input_list], op), async_op)


@_overridable(1)
def reduce_scatter_single(
    output: Tensor, input: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Reduce a tensor over the ranks; each rank gets a part of dimension 0."""
    _check_single_tensor(output, "output")
    _check_single_tensor(input, "input")
    if _outside(group, "reduce_scatter_single"):
        return None
    pg = _group_or_default_group(group)
    if pg in _world.coalescing:
        return _collected(pg, reduce_scatter_single, async_op, output, input, op)
    return _done(pg.reduce_scatter_single(output, input, op), async_op)


_reduce_scatter_base = reduce_scatter_single  # its first name


def reduce_scatter_tensor(
    output: Tensor, input: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """The old name of ``reduce_scatter_single``."""
    _renamed("reduce_scatter_tensor", "reduce_scatter_single")
    return reduce_scatter_single(output, input, op, group, async_op)


@_overridable(1)
def all_to_all_single(
    output: Tensor, input: Tensor, output_split_sizes: list[int] | None = None,
    input_split_sizes: list[int] | None = None, group: Any = None, async_op: bool = False,
) -> Work | None:  # fmt: skip
    """Send a part of dimension 0 to each rank, and receive one from each."""
    if _outside(group, "all_to_all_single"):
        return None
    _check_single_tensor(output, "output")
    _check_single_tensor(input, "input")
    _ensure_all_tensors_same_dtype(output, input)
    pg = _group_or_default_group(group)
    return _done(pg.all_to_all_single(output, input, output_split_sizes or [], input_split_sizes or []), async_op)


def all_to_all(
    output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: Any = None, async_op: bool = False
) -> Work | None:
    """Send a tensor to each rank, and receive one from each."""
    if _outside(group, "all_to_all"):
        return None
    _check_tensor_list(output_tensor_list, "output_tensor_list")
    _check_tensor_list(input_tensor_list, "input_tensor_list")
    _ensure_all_tensors_same_dtype(output_tensor_list, input_tensor_list)
    return _done(_group_or_default_group(group).alltoall(output_tensor_list, input_tensor_list), async_op)


def barrier(
    group: Any = None, async_op: bool = False, device_ids: Any = None, timeout: timedelta | None = None
) -> Work | None:
    """Wait until every rank has come here."""
    if _outside(group, "barrier"):
        return None
    work = _group_or_default_group(group).barrier()
    if async_op:
        return work._unwatched()
    work.wait(timeout)
    return None


def monitored_barrier(group: Any = None, timeout: Any = None, wait_all_ranks: bool = False) -> None:
    """Wait until every rank has come here; the error of one that waits in vain names those that did not.

    Raises:
        RuntimeError: not all have come within ``timeout``.
    """
    if _outside(group, "monitored_barrier"):
        return
    if isinstance(timeout, float):
        warn(
            f"Please specify timeout arg as a timedelta. Converting current value of {timeout} assuming it represents "
            "seconds"
        )
        timeout = timedelta(seconds=timeout)
    pg = _group_or_default_group(group)
    timeout = pg._timeout if timeout is None else timeout
    _check_valid_timeout(timeout)
    pg.barrier(monitored=wait_all_ranks).wait(timeout)


# ---- coalescing
class _IllegalWork(Work):
    """What a collective returns that waits for the end of its block."""

    def __init__(self) -> None:
        """It has nothing."""

    def __getattribute__(self, name: str) -> Any:
        if name in ("is_success", "exception", "wait", "source_rank", "_source_rank", "result", "synchronize"):
            raise ValueError(f"Illegal to call {name} on IllegalWork object")


class _CoalescingManager:
    def __init__(self) -> None:
        self.works: list[Work] = []

    def append(self, work: Work | None = None) -> None:
        if work:
            self.works.append(work)

    def wait(self) -> None:
        for work in self.works:
            work.wait()


def _collected(group: ProcessGroup, op: Callable[..., Any], async_op: bool, *arguments: Any) -> Any:
    _world.coalescing[group].append((op, *arguments))
    return _IllegalWork() if async_op else None


@contextlib.contextmanager
def _coalescing_manager(group: Any = None, device: Any = None, async_ops: bool = False) -> Iterator[_CoalescingManager]:
    """A block whose collectives, all of one kind, are one work."""
    pg = _group_or_default_group(group)
    if _world.coalescing.get(pg):
        raise ValueError("ProcessGroup has non-empty op list at the start of coalescing")
    _world.coalescing[pg] = []
    manager = _CoalescingManager()
    try:
        yield manager
    finally:
        found = _world.coalescing.pop(pg)
    if not found:
        return
    op = found[0][0]
    if any(one[0] is not op for one in found):
        names = {one[0].__name__ for one in found}
        raise RuntimeError(
            f"Coalescing manager requires all collectives to be the same type, but got mixed types: {names}"
        )
    columns = [list(column) for column in zip(*found, strict=True)]
    if op is all_reduce:
        work = pg.allreduce_coalesced(columns[1], columns[2][0])
    elif op is all_gather_single:
        work = pg.all_gather_single_coalesced(columns[1], columns[2])
    else:
        work = pg.reduce_scatter_single_coalesced(columns[1], columns[2], columns[3][0])
    if async_ops:
        manager.append(work._unwatched())
    else:
        work.wait()
