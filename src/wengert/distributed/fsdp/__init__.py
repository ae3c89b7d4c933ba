"""``torch.distributed.fsdp``: ``fully_shard``, by which each process keeps a part of a module's parameters.

The parts are ``DTensor``s: they are what ``parameters()``, optimizers and ``state_dict()`` see. Before a forward pass
the processes gather the whole parameters, and after the backward pass each gets its part of the averaged gradients.

NOTE [ What is spared ]: gradients and the state of the optimizer lie in parts; whole parameters are let go after the
backward pass. Between the passes the graph holds them, whatever ``reshard_after_forward`` says: an array cannot be
taken from a saved value and given back. So nothing is gathered a second time for the backward pass either.

``FullyShardedDataParallel``, the older wrapper, is not there: a name for ``isinstance``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import wengert as torch
from wengert import distributed as dist

from ..._base.absent import absent_class
from ..._compat import open_rows
from ..._tape.tensor import Tensor
from ...autograd.variable import Variable
from ...nn import Module, ModuleDict, ModuleList, Parameter
from ...utils._pytree import tree_map
from ..device_mesh import init_device_mesh
from ..tensor import DTensor, Replicate, Shard, _filled, distribute_tensor

__all__ = [
    "BackwardPrefetch", "CPUOffload", "CPUOffloadPolicy", "FSDPModule", "FullStateDictConfig",
    "FullyShardedDataParallel", "MixedPrecision", "MixedPrecisionPolicy", "OffloadPolicy", "ShardedStateDictConfig",
    "ShardingStrategy", "StateDictType", "UnshardHandle", "fully_shard", "register_fsdp_forward_method",
    "share_comm_ctx",
]  # fmt: skip

FullyShardedDataParallel = absent_class("FullyShardedDataParallel")
BackwardPrefetch, CPUOffload, MixedPrecision = map(absent_class, ("BackwardPrefetch", "CPUOffload", "MixedPrecision"))
ShardingStrategy, StateDictType = map(absent_class, ("ShardingStrategy", "StateDictType"))
FullStateDictConfig, ShardedStateDictConfig = map(absent_class, ("FullStateDictConfig", "ShardedStateDictConfig"))


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """The dtypes of whole parameters, of the reduction of gradients (that of the parameters, if None), and of results.

    ``cast_forward_inputs``: inputs are converted to ``param_dtype``.
    """

    param_dtype: Any = None
    reduce_dtype: Any = None
    output_dtype: Any = None
    cast_forward_inputs: bool = True


@dataclass
class OffloadPolicy:
    """Where parts lie; it has no effect here."""


@dataclass
class CPUOffloadPolicy(OffloadPolicy):
    """Parts lie in the memory of the CPU, as they do anyway."""

    pin_memory: bool = True


class UnshardHandle:
    """What ``unshard(async_op=True)`` returns."""

    def wait(self) -> None:
        """The parameters are whole already."""


class _Sharded:
    """A parameter: where it stands in modules, its part, and gradients of the whole that are not reduced yet."""

    def __init__(self, places: list[tuple[Module, str]], part: Any) -> None:
        self.places, self.part = places, part
        self.grad: Any = None

    def find(self) -> None:
        """Take the part that stands in the module, where it has been replaced."""
        module, name = self.places[0]
        there = module._parameters[name]
        if isinstance(there, DTensor):
            self.part = there

    def put(self, parameter: Any) -> None:
        for module, name in self.places:
            module._parameters[name] = parameter

    def padded(self, count: int) -> list[int]:
        """The sizes of the largest part."""
        dim, sizes = self.dim(), list(self.part.shape)
        sizes[dim] = -(-sizes[dim] // count)
        return sizes

    def dim(self) -> int:
        return next(p.dim for p in self.part.placements if isinstance(p, Shard))

    def filled(self, count: int, dtype: Any) -> Tensor:
        """The part in the size of the largest."""
        dim = self.dim()
        return _filled(self.part.to_local().detach().to(dtype), dim, self.padded(count)[dim])

    def grad_in_rows(self, count: int, dtype: Any) -> Tensor:
        """The gradient as one row for each process."""
        dim = self.dim()
        size = self.padded(count)[dim]
        grad = _filled(self.grad.to(dtype), dim, size * count)
        return torch.stack([piece.reshape(-1) for piece in grad.split(size, dim)])


class _Group:
    """The parameters of one call of ``fully_shard``: they are gathered, and their gradients reduced, together."""

    def __init__(self, mesh: Any, policy: MixedPrecisionPolicy, reshard: bool | int | None) -> None:
        self.policy, self.reshard_after_forward = policy, reshard
        self.shard_group = mesh.get_group(mesh.ndim - 1)
        self.replicate_group = mesh.get_group(0) if mesh.ndim > 1 else None
        self.count, self.processes = mesh.shape[-1], mesh.size()
        self.parameters: list[_Sharded] = []
        self.is_root = self.syncs = self.reduces_all = self.reshard_after_backward = True
        self.whole: list[Any] | None = None
        self.factor: float | None = None
        self.missing: set[int] = set()
        self.queued = False
        self.works: list[tuple[Any, list[_Sharded], Tensor]] = []

    # -- parameters
    def unshard(self) -> None:
        """Gather the parameters, and put them into the modules."""
        if self.whole is not None:
            return
        whole: list[Any] = [None] * len(self.parameters)
        by_dtype: dict[Any, list[int]] = {}
        for i, one in enumerate(self.parameters):
            one.find()
            by_dtype.setdefault(self.policy.param_dtype or one.part.dtype, []).append(i)
        with torch.no_grad():
            for dtype, places in by_dtype.items():
                parts = [self.parameters[i].filled(self.count, dtype) for i in places]
                sizes = [p.numel() for p in parts]
                mine = torch.cat([p.reshape(-1) for p in parts])
                rows = mine.new_empty((self.count, sum(sizes)))
                dist.all_gather_single(rows.view(-1), mine, self.shard_group)
                for i, part, columns in zip(places, parts, rows.split(sizes, 1), strict=True):
                    dim, one = self.parameters[i].dim(), self.parameters[i]
                    pieces = [row.view(part.shape) for row in columns.unbind(0)]
                    whole[i] = torch.cat(pieces, dim).narrow(dim, 0, one.part.shape[dim]).contiguous()
        self.whole, self.queued = [], False
        self.missing = {i for i, one in enumerate(self.parameters) if one.part.requires_grad}
        for i, (one, value) in enumerate(zip(self.parameters, whole, strict=True)):
            leaf = Parameter(value, one.part.requires_grad)
            if one.part.requires_grad:
                leaf.register_post_accumulate_grad_hook(functools.partial(self._came, i))
            self.whole.append(leaf)
            one.put(leaf)

    def reshard(self) -> None:
        """Put the parts into the modules again."""
        if self.whole is not None:
            self.whole = None
            for one in self.parameters:
                one.put(one.part)

    # -- gradients
    def _came(self, index: int, leaf: Tensor) -> None:
        """The gradient of a whole parameter has been accumulated."""
        one, grad = self.parameters[index], leaf.grad
        leaf.grad = None
        one.grad = grad if one.grad is None else one.grad + grad
        self.missing.discard(index)
        if not self.queued:
            self.queued = True
            Variable._execution_engine.queue_callback(self._finish)
        if not self.missing:
            self._reduce()

    def _reduce(self) -> None:
        """Begin to average the gradients that have come, each dtype in one collective."""
        if not self.syncs:
            return
        by_dtype: dict[Any, list[_Sharded]] = {}
        for one in self.parameters:
            if one.grad is not None:
                by_dtype.setdefault(self.policy.reduce_dtype or one.grad.dtype, []).append(one)
        with torch.no_grad():
            for dtype, those in by_dtype.items():
                rows = torch.cat([one.grad_in_rows(self.count, dtype) for one in those], 1)
                rows *= 1.0 / (self.processes if self.factor is None else self.factor)
                mine = rows.new_empty(rows.shape[1])
                work = dist.reduce_scatter_single(mine, rows.view(-1), group=self.shard_group, async_op=True)
                self.works.append((work, those, mine))
                for one in those:
                    one.grad = None

    def _finish(self) -> None:
        """The backward pass has ended: give the averages to the parts."""
        self.queued = False
        self._reduce()
        works, self.works = self.works, []
        with torch.no_grad():
            for work, those, mine in works:
                work.wait()
                if self.replicate_group is not None and self.reduces_all:
                    dist.all_reduce(mine, group=self.replicate_group)
                shapes = [one.padded(self.count) for one in those]
                sizes = [torch.Size(shape).numel() for shape in shapes]
                for one, flat, shape in zip(those, mine.split(sizes), shapes, strict=True):
                    local, dim = one.part.to_local().detach(), one.dim()
                    grad = flat.view(shape).narrow(dim, 0, local.shape[dim]).to(local.dtype)
                    before = one.part.grad
                    if before is None:
                        one.part.grad = grad.clone()
                    else:
                        before.to_local().add_(grad)
        if self.reshard_after_backward:
            self.reshard()


class FSDPModule:
    """What a module is after ``fully_shard``, beside its own class."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """A part of a container is of the container's own class."""
        own: Any = cls.__mro__[2]
        made = own.__new__(own, *args, **kwargs)
        made.__init__(*args, **kwargs)
        return made

    def _groups(self, recurse: bool = True) -> list[_Group]:
        modules = self.modules() if recurse else [self]
        return list(dict.fromkeys(g for g in (m.__dict__.get("_fsdp_group") for m in modules) if g is not None))

    def unshard(self, async_op: bool = False) -> UnshardHandle | None:
        """Gather this module's parameters."""
        for group in self._groups(False):
            group.unshard()
        return UnshardHandle() if async_op else None

    def reshard(self) -> None:
        """Let this module have parts again."""
        for group in self._groups(False):
            group.reshard()

    def _set(self, recurse: bool, **values: Any) -> None:
        for group in self._groups(recurse):
            for name, value in values.items():
                setattr(group, name, value)

    def set_requires_gradient_sync(self, requires_gradient_sync: bool, *, recurse: bool = True) -> None:
        """Whether the next backward passes reduce gradients; if not, they add up on each process."""
        self._set(recurse, syncs=requires_gradient_sync)

    def set_requires_all_reduce(self, requires_all_reduce: bool, *, recurse: bool = True) -> None:
        """Whether gradients are reduced along the first dimension of a mesh of two, too."""
        self._set(recurse, reduces_all=requires_all_reduce)

    def set_reshard_after_forward(self, reshard_after_forward: bool, recurse: bool = True) -> None:
        """Set what ``fully_shard`` was given."""
        self._set(recurse, reshard_after_forward=reshard_after_forward)

    def set_reshard_after_backward(self, reshard_after_backward: bool, *, recurse: bool = True) -> None:
        """Whether parameters are parts again after the backward pass."""
        self._set(recurse, reshard_after_backward=reshard_after_backward)

    def set_gradient_divide_factor(self, factor: float) -> None:
        """Divide sums of gradients by this, in place of the number of processes."""
        self._set(False, factor=factor)

    set_reduce_scatter_divide_factor = set_gradient_divide_factor

    def reset_iter_state(self) -> None:
        """Forget an iteration that an error ended, with its gradients."""
        for group in self._groups():
            for one in group.parameters:
                one.grad = None
            group.works.clear()
            group.reshard()

    def _ignored(self, *args: Any, **kwargs: Any) -> None:
        """It says when parameters are gathered, which has no effect here."""

    set_modules_to_forward_prefetch = set_modules_to_backward_prefetch = set_is_last_backward = _ignored
    set_post_optim_event = set_unshard_in_backward = set_all_reduce_hook = _ignored
    set_allocate_memory_from_process_group_for_comm = set_force_sum_reduction_for_comms = _ignored

    def _apply(self, *args: Any, **kwargs: Any) -> Any:
        for group in self._groups():
            group.reshard()
        return super()._apply(*args, **kwargs)

    def __deepcopy__(self, memo: Any) -> Any:
        raise AssertionError("FSDP does not support deepcopy. Please use state dict for serialization.")


def fully_shard(
    module: Any, *, mesh: Any = None, reshard_after_forward: bool | int | None = None,
    shard_placement_fn: Callable[[Any], Any] | None = None,
    mp_policy: MixedPrecisionPolicy = MixedPrecisionPolicy(), offload_policy: OffloadPolicy | None = None,
    ignored_params: Iterable[Any] | None = None, dp_mesh_dims: Any = None,
) -> Any:  # fmt: skip
    """Let each process keep a part of the parameters of a module, in place; return the module.

    Called on the layers of a model first and then on the model, which takes the parameters that are left.

    Parameters:
        module: the module, or a list of modules whose parameters are gathered together.
        mesh: the processes; all by default. In a mesh of two dimensions, parts are along the second.
        reshard_after_forward: whether the module has parts again after its forward pass; by default all but the model.
        shard_placement_fn: gives ``Shard(dim)`` for a parameter; ``Shard(0)`` by default.
        mp_policy: dtypes, see ``MixedPrecisionPolicy``.
        ignored_params: parameters that stay whole.

    Raises:
        ValueError: the module is a list or a dict of modules, which is never called.
        AssertionError: it was given to ``fully_shard`` before.

    Source: Zhao et al. 2023, "PyTorch FSDP: Experiences on Scaling Fully Sharded Data Parallel".
    """
    modules = list(module) if isinstance(module, (list, tuple)) else [module]
    for one in modules:
        if isinstance(one, (ModuleList, ModuleDict)) and type(one).forward is Module.forward:
            raise ValueError(f"fully_shard does not support containers that do not implement forward: {one}")
        if isinstance(one, FSDPModule):
            raise AssertionError(
                "Each distributed composable API can only be applied to a module once. fully_shard has already been "
                f"applied to the following module:\n{one}"
            )
    if dp_mesh_dims is not None:
        raise NotImplementedError("fully_shard(dp_mesh_dims=...)")
    mesh = mesh if mesh is not None else init_device_mesh("cpu", (dist.get_world_size(),))
    if mesh.ndim not in (1, 2):
        raise ValueError(f"fully_shard expects a 1D or 2D DeviceMesh but got {mesh}")
    group = _Group(mesh, mp_policy, reshard_after_forward)
    ignored = {id(p) for p in ignored_params or ()}
    found: dict[int, _Sharded] = {}
    for inner in _unclaimed(modules):
        for name, p in list(inner._parameters.items()):
            if p is None or id(p) in ignored or isinstance(p, DTensor):
                continue
            if id(p) not in found:
                found[id(p)] = _Sharded([], _cut(p, mesh, shard_placement_fn))
            found[id(p)].places.append((inner, name))
    group.parameters = list(found.values())
    for sharded in group.parameters:
        sharded.put(sharded.part)
    for one in modules:
        for inner in one.modules():
            if "_fsdp_group" in inner.__dict__:
                inner.__dict__["_fsdp_group"].is_root = False
        one.__dict__["_fsdp_group"] = group
        one.register_forward_pre_hook(_before, prepend=True, with_kwargs=True)
        one.register_forward_hook(_after)
        one.register_state_dict_pre_hook(lambda module, *args: module.reshard())
        one.register_load_state_dict_pre_hook(lambda module, *args: module.reshard())
        one.__class__ = type(f"FSDP{type(one).__name__}", (FSDPModule, type(one)), {})
    return module


def _unclaimed(modules: list[Module]) -> list[Module]:
    """The modules and those in them, but for those that were given to ``fully_shard`` and what is in these."""
    found: dict[Module, None] = {}
    waiting = modules[::-1]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found[one] = None
            waiting += [m for m in list(one.children())[::-1] if not isinstance(m, FSDPModule)]
    return list(found)


def _cut(p: Any, mesh: Any, place: Any) -> Any:
    """This process's part of a parameter, of which each has its own copy."""
    if not p.dim():
        raise ValueError("fully_shard doesn't support scalar parameters. Change a scalar parameter to a 1D tensor with "
                         "numel equal to 1.")  # fmt: skip
    shard = (place and place(p)) or Shard(0)
    dim = shard.dim % p.dim()
    if dim and p.shape[dim] % mesh.shape[-1]:
        raise NotImplementedError(
            f"FSDP does not support uneven sharding on dim {dim}: {p.size()} (world size: {mesh.shape[-1]})"
        )
    placements = [*[Replicate()] * (mesh.ndim - 1), Shard(dim)]
    return Parameter(distribute_tensor(p.detach(), mesh, placements, src_data_rank=None), p.requires_grad)


def _cast(values: Any, dtype: Any) -> Any:
    return tree_map(lambda t: t.to(dtype) if isinstance(t, Tensor) and t.is_floating_point() else t, values)


def _before(module: Any, args: Any, kwargs: Any) -> Any:
    group: _Group = module.__dict__["_fsdp_group"]
    group.unshard()
    if group.policy.param_dtype is not None and group.policy.cast_forward_inputs:
        return _cast(args, group.policy.param_dtype), _cast(kwargs, group.policy.param_dtype)
    return None


def _after(module: Any, args: Any, output: Any) -> Any:
    group: _Group = module.__dict__["_fsdp_group"]
    reshards = group.reshard_after_forward
    if reshards if reshards is not None else not group.is_root:
        group.reshard()
    return output if group.policy.output_dtype is None else _cast(output, group.policy.output_dtype)


def register_fsdp_forward_method(module: Any, method_name: str) -> None:
    """Let another method gather the parameters as ``forward`` does."""
    if not isinstance(module, FSDPModule):
        return
    method = getattr(module, method_name)

    @functools.wraps(method)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = _before(module, args, kwargs) or (args, kwargs)
        return _after(module, args, method(*args, **kwargs))

    module.__dict__[method_name] = wrapped


def share_comm_ctx(modules: list[Any]) -> None:
    """It has no effect: there are no streams."""


open_rows(globals())
