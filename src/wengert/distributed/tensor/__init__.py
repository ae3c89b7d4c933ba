"""``torch.distributed.tensor``: tensors of which each process holds a part, for ``fully_shard``.

What is elementwise is computed on the parts. Every other function is computed on the whole tensor, which the processes
gather first; its results are whole on all of them. So each function is right, and only some are fast: modules in parts
(tensor parallelism) are not there. The functions are collectives: all processes of the mesh call them, in one order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import wengert as torch
from wengert import distributed as dist

from ..._base.registry import REGISTRY
from ..._base.torch_function import DISABLED
from ..._compat import open_rows
from ..._tape.tensor import Tensor
from ...autograd.function import Function
from ...utils._pytree import tree_flatten, tree_map
from ..device_mesh import DeviceMesh, init_device_mesh

__all__ = [
    "DTensor", "DeviceMesh", "Partial", "Placement", "Replicate", "Shard", "distribute_module", "distribute_tensor",
    "init_device_mesh",
]  # fmt: skip


class Placement:
    """What the processes along a dimension of a mesh have of a tensor."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether it is a part, along ``dim`` if that is given."""
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self) -> bool:
        """Whether it is the whole."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Whether it is a summand."""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


@dataclass(frozen=True)
class Shard(Placement):
    """A part along a dimension of the tensor, as ``Tensor.chunk`` cuts it."""

    dim: int

    def __str__(self) -> str:
        return f"S({self.dim})"

    @staticmethod
    def local_shard_size_and_offset(curr_local_size: int, num_chunks: int, rank: int) -> tuple[int, int]:
        """The size of one of several parts of a dimension, and where it begins."""
        step = -(-curr_local_size // num_chunks)
        begin = min(rank * step, curr_local_size)
        return min(step, curr_local_size - begin), begin


@dataclass(frozen=True)
class Replicate(Placement):
    """The whole tensor."""

    def __str__(self) -> str:
        return "R"


@dataclass(frozen=True)
class Partial(Placement):
    """A tensor whose sum over the processes, or other reduction, is meant."""

    reduce_op: str = "sum"

    def __repr__(self) -> str:
        return f"Partial({self.reduce_op})"

    def __str__(self) -> str:
        return f"P({self.reduce_op})"


def _slice(shape: Any, mesh: Any, placements: Any) -> tuple[list[int], list[int]]:
    """Where this process's part of a shape begins, and its sizes."""
    begins, sizes = [0] * len(shape), list(shape)
    if mesh._coordinate is None:
        return begins, [0] * len(shape)
    for place, at, count in zip(placements, mesh._coordinate, mesh.shape, strict=True):
        if isinstance(place, Shard):
            sizes[place.dim], begin = Shard.local_shard_size_and_offset(sizes[place.dim], count, at)
            begins[place.dim] += begin
    return begins, sizes


def _part(whole: Tensor, mesh: Any, placements: Any) -> Tensor:
    for dim, (begin, size) in enumerate(zip(*_slice(whole.shape, mesh, placements), strict=True)):
        if size != whole.shape[dim]:
            whole = whole.narrow(dim, begin, size)
    return whole


def _filled(t: Tensor, dim: int, size: int) -> Tensor:
    """The tensor with zeros after it, up to a size along a dimension."""
    if t.shape[dim] == size:
        return t
    whole = t.new_zeros([*t.shape[:dim], size, *t.shape[dim + 1 :]])
    whole.narrow(dim, 0, t.shape[dim]).copy_(t)
    return whole


def _gathered(local: Tensor, shape: Any, mesh: Any, placements: Any) -> Tensor:
    """The whole tensor of all parts, the last dimension of the mesh first."""
    for i in reversed(range(mesh.ndim)):
        place, group = placements[i], mesh.get_group(i)
        if isinstance(place, Partial):
            local = local.clone()
            dist.all_reduce(local, getattr(dist.ReduceOp, place.reduce_op.upper()), group)
        elif isinstance(place, Shard):
            total = _slice(shape, mesh, [*placements[:i], *[Replicate()] * (mesh.ndim - i)])[1][place.dim]
            mine = _filled(local, place.dim, -(-total // mesh.shape[i])).contiguous()
            parts = [torch.empty_like(mine) for _ in range(mesh.shape[i])]
            dist.all_gather(parts, mine, group)
            local = torch.cat(parts, place.dim).narrow(place.dim, 0, total)
    return local


class _Whole(Function):
    """The whole tensor; the gradient of a part is the part of the gradient."""

    @staticmethod
    def forward(ctx: Any, local: Tensor, shape: Any, mesh: Any, placements: Any) -> Tensor:
        ctx.spec = mesh, placements
        return _gathered(local, shape, mesh, placements).contiguous()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return _part(grads[0], *ctx.spec), None, None, None


class DTensor(Tensor):
    """A tensor of which each process of a mesh holds a part; made by ``distribute_tensor`` and ``DTensor.from_local``.

    ``shape`` is that of the whole tensor, ``to_local()`` this process's part.
    """

    # A class that overrides makes every function look at its arguments. So this one does only once it has an instance.
    __torch_function__ = DISABLED
    _mesh: Any
    _places: tuple[Placement, ...]
    _whole: torch.Size

    @staticmethod
    def _wrap(local: Tensor, mesh: Any, placements: Any, shape: Any) -> DTensor:
        if DTensor.__torch_function__ is DISABLED:
            DTensor.__torch_function__ = classmethod(_called)
        made: Any = DISABLED(Tensor.as_subclass, (), (local, DTensor))
        made._mesh, made._places, made._whole = mesh, tuple(placements), torch.Size(shape)
        return made

    def _like(self, local: Tensor) -> DTensor:
        return DTensor._wrap(local, self._mesh, self._places, self._whole)

    @property
    def _local_tensor(self) -> Tensor:
        return DISABLED(Tensor.as_subclass, (), (self, Tensor))

    @staticmethod
    def from_local(
        local_tensor: Tensor, device_mesh: Any = None, placements: Any = None, *, run_check: bool = False,
        shape: Any = None, stride: Any = None,
    ) -> DTensor:  # fmt: skip
        """The tensor of which ``local_tensor`` is this process's part; without ``shape``, parts are of one size."""
        mesh, placements = _spec(device_mesh, placements)
        if shape is None:
            shape = list(local_tensor.shape)
            for place, count in zip(placements, mesh.shape, strict=True):
                if isinstance(place, Shard):
                    shape[place.dim] *= count
        return DTensor._wrap(local_tensor, mesh, placements, shape)

    # -- what it is
    @property
    def device_mesh(self) -> Any:
        """The processes."""
        return self._mesh

    @property
    def placements(self) -> tuple[Placement, ...]:
        """What they have, for each dimension of the mesh."""
        return self._places

    @property
    def shape(self) -> torch.Size:
        """The shape of the whole tensor."""
        return self._whole

    @property
    def ndim(self) -> int:
        return len(self._whole)

    def size(self, dim: int | None = None) -> Any:
        """The shape of the whole tensor, or one size of it."""
        return self._whole if dim is None else self._whole[dim]

    def dim(self) -> int:
        """The number of dimensions."""
        return len(self._whole)

    def numel(self) -> int:
        """The number of elements of the whole tensor."""
        return math.prod(self._whole)

    nelement = numel

    def stride(self, dim: int | None = None) -> Any:
        """The strides of the whole tensor, which are those of a contiguous one."""
        strides = tuple(math.prod(self._whole[i + 1 :]) for i in range(len(self._whole)))
        return strides if dim is None else strides[dim]

    def __len__(self) -> int:
        return self._whole[0]

    def __repr__(self, **options: Any) -> str:  # type: ignore[override]
        local = self._local_tensor.detach()
        shown = repr(local) if local.dim() else local.item()
        return f"DTensor(local_tensor={shown}, device_mesh={self._mesh}, placements={self._places})"

    @property
    def data(self) -> Any:
        """The tensor without history, on the same memory."""
        return self._like(self._local_tensor.detach())

    @data.setter
    def data(self, value: Any) -> None:
        DISABLED(Tensor.data.__set__, (), (self, value._local_tensor if isinstance(value, DTensor) else value))

    @property
    def grad(self) -> Any:
        """The gradient, in the same parts."""
        grad = DISABLED(Tensor.grad.__get__, (), (self,))
        return grad if grad is None or isinstance(grad, DTensor) else self._like(grad)

    @grad.setter
    def grad(self, value: Any) -> None:
        value = value if value is None or isinstance(value, DTensor) else self._like(value)
        DISABLED(Tensor.grad.__set__, (), (self, value))

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    # -- other forms of it
    def to_local(self, *, grad_placements: Any = None) -> Tensor:
        """This process's part."""
        return self._local_tensor

    def full_tensor(self, *, grad_placements: Any = None) -> Tensor:
        """The whole tensor, on all processes."""
        if all(isinstance(place, Replicate) for place in self._places):
            return self._local_tensor
        return _Whole.apply(self._local_tensor, self._whole, self._mesh, self._places)

    def redistribute(
        self, device_mesh: Any = None, placements: Any = None, *, async_op: bool = False, **dtypes: Any
    ) -> DTensor:
        """The same tensor in other parts."""
        mesh = device_mesh or self._mesh
        if any(isinstance(place, Partial) for place in placements):
            raise RuntimeError("redistribute: no tensor can be made Partial")
        return DTensor._wrap(_part(self.full_tensor(), mesh, placements), mesh, placements, self._whole)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        made: Any = self._like(self._local_tensor.detach().clone()).requires_grad_(self.requires_grad)
        made._is_param = getattr(self, "_is_param", False)
        return memo.setdefault(id(self), made)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise NotImplementedError("a DTensor is saved by torch.distributed.checkpoint, or as its full_tensor()")


def _called(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """``DTensor.__torch_function__``."""
    kwargs = kwargs or {}
    name = getattr(func, "__name__", "")
    if name in ("__get__", "__set__", "__delete__"):
        name = getattr(getattr(getattr(func, "__self__", None), "fget", None), "__name__", name)
        if name not in ("T", "mT", "H", "mH", "real", "imag"):
            return DISABLED(func, types, args, kwargs)
    if name in _FACTS:
        return DISABLED(func, types, args, kwargs)
    leaves = tree_flatten((args, kwargs))[0]
    given = [t for t in leaves if isinstance(t, DTensor)]
    if any(isinstance(t, Tensor) and not isinstance(t, DTensor) and t.dim() for t in leaves):
        raise RuntimeError(
            f"aten.{name}.default got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor "
            "before calling distributed operators!"
        )
    if name in ("norm", "vector_norm") and len(given) == 1 and _is_whole_norm(args, kwargs):
        return _norm(given[0], func, args, kwargs)
    return _by_parts(name, func, args, kwargs, given) if _fits(name, given) else _whole(name, func, args, kwargs)


_FACTS = frozenset([
    "data_ptr", "element_size", "is_complex", "is_contiguous", "is_floating_point", "is_signed",
    "register_hook", "requires_grad_", "retain_grad", "register_post_accumulate_grad_hook", "untyped_storage",
    "as_subclass", "get_device", "backward",
])  # fmt: skip
_ELEMENTWISE = frozenset([
    "addcdiv", "addcmul", "bernoulli", "bfloat16", "clamp", "clamp_max", "clamp_min", "clone", "contiguous",
    "copy", "cpu", "cuda", "detach", "double", "empty_like", "exponential", "fill", "float", "full_like",
    "half", "lerp", "normal", "ones_like", "rand_like", "randn_like", "relu", "rsub", "to", "trunc_normal",
    "type", "uniform", "where", "zero", "zeros_like", "__iadd__", "__imul__", "__isub__", "__itruediv__",
])  # fmt: skip


def _fits(name: str, given: list[DTensor]) -> bool:
    """Whether a function can be computed on the parts, as it is on the whole."""
    first = max(given, key=lambda t: t.dim())
    same = all(t._mesh == first._mesh and (not t.dim() or t._whole == first._whole) for t in given)
    if same and all(isinstance(place, Replicate) for t in given for place in t._places):
        return True
    plain = name if name.startswith("__") else name.rstrip("_")
    kind = getattr(REGISTRY.get(plain), "kind", "")
    if plain not in _ELEMENTWISE and kind not in ("unary", "binary"):
        return False
    partial = any(isinstance(place, Partial) for t in given for place in t._places)
    return same and (not partial or plain in ("clone", "contiguous", "detach", "zeros_like", "empty_like"))


def _by_parts(name: str, func: Any, args: Any, kwargs: Any, given: list[DTensor]) -> Any:
    of = next((t for t in given if t.dim() and not all(isinstance(p, Replicate) for p in t._places)), given[0])

    def local(t: Any) -> Any:
        if not isinstance(t, DTensor):
            return t
        return (t if not t.dim() or t._places == of._places else t.redistribute(placements=of._places))._local_tensor

    result = func(*tree_map(local, args), **tree_map(local, kwargs))
    if name.endswith("_") and (not name.startswith("__") or name.startswith("__i")):
        return args[0]
    whole = all(isinstance(place, Replicate) for place in of._places)
    wrap = lambda t: DTensor._wrap(t, of._mesh, of._places, t.shape if whole else of._whole)
    return tree_map(lambda t: wrap(t) if isinstance(t, Tensor) else t, result)


def _whole(name: str, func: Any, args: Any, kwargs: Any) -> Any:
    """The function of whole tensors; one in place keeps this process's part."""
    first = next(t for t in tree_flatten((args, kwargs))[0] if isinstance(t, DTensor))
    wholes = tree_map(lambda t: t.full_tensor() if isinstance(t, DTensor) else t, (args, kwargs))
    result = func(*wholes[0], **wholes[1])
    changes = (name.endswith("_") and not name.startswith("__")) or name in ("__setitem__", "__imatmul__")
    if changes and isinstance(args[0], DTensor):
        with torch.no_grad():
            args[0]._local_tensor.copy_(_part(wholes[0][0], args[0]._mesh, args[0]._places))
        return args[0]
    everywhere = [Replicate()] * first._mesh.ndim
    return tree_map(
        lambda t: DTensor._wrap(t, first._mesh, everywhere, t.shape) if isinstance(t, Tensor) else t, result
    )


def _is_whole_norm(args: Any, kwargs: Any) -> bool:
    order = args[1] if len(args) > 1 else kwargs.get("ord", kwargs.get("p", 2))
    return order in (2, math.inf, "fro") and len(args) < 3 and kwargs.get("dim") is None and not kwargs.get("keepdim")


def _norm(t: DTensor, func: Any, args: Any, kwargs: Any) -> DTensor:
    """The norm of all elements, from those of the parts."""
    largest = math.inf in (*args[1:2], kwargs.get("ord"), kwargs.get("p"))
    with torch.no_grad():
        if t._local_tensor.numel():
            local = func(t._local_tensor, *args[1:], **kwargs).detach()
        else:
            local = torch.zeros((), dtype=t.dtype)
        total = local if largest else local.double() ** 2
        for i, place in enumerate(t._places):
            if isinstance(place, Shard):
                dist.all_reduce(total, dist.ReduceOp.MAX if largest else dist.ReduceOp.SUM, t._mesh.get_group(i))
        total = total if largest else total.sqrt().to(local.dtype)
    return DTensor._wrap(total, t._mesh, [Replicate()] * t._mesh.ndim, ())


# ---- making them
def _spec(mesh: Any, placements: Any) -> tuple[Any, list[Any]]:
    if mesh is None:
        mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    placements = list(placements) if placements is not None else [Replicate()] * mesh.ndim
    if len(placements) != mesh.ndim:
        raise ValueError(
            "`placements` must have the same length as `device_mesh.ndim`! Found placements length: "
            f"{len(placements)}, and device_mesh.ndim: {mesh.ndim}."
        )
    return mesh, placements


def distribute_tensor(
    tensor: Tensor, device_mesh: Any = None, placements: Any = None, *, src_data_rank: int | None = 0
) -> DTensor:
    """Divide a tensor among the processes of a mesh; its values are those of the mesh's first process.

    With ``src_data_rank=None`` each process takes its part of its own tensor, without communication.
    """
    mesh, placements = _spec(device_mesh, placements)
    if isinstance(tensor, DTensor):
        return tensor.redistribute(mesh, placements)
    placements = [Shard(p.dim % tensor.dim()) if isinstance(p, Shard) else p for p in placements]
    whole = tensor.detach()
    if src_data_rank is not None and not tensor.is_meta:
        whole = whole.clone(memory_format=torch.contiguous_format)
        for i in range(mesh.ndim):
            dist.broadcast(whole, group=mesh.get_group(i), group_src=src_data_rank)
    local = _part(whole, mesh, placements).clone(memory_format=torch.contiguous_format)
    made: Any = DTensor._wrap(local, mesh, placements, tensor.shape)
    made.requires_grad_(tensor.requires_grad)
    if isinstance(tensor, torch.nn.Parameter):
        made = torch.nn.Parameter(made, tensor.requires_grad)
    return made


def distribute_module(*args: Any, **kwargs: Any) -> Any:
    """Not there: NotImplementedError."""
    raise NotImplementedError("distribute_module: wengert has fully_shard; modules in parts are not there")


open_rows(globals())
