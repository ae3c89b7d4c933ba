"""Conversions and copies of a tensor: ``to``, ``float``, ``clone``, ``contiguous``, ``detach``, ..."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._arrays.layouts import is_channels_last, relaid_copy
from ..._base import dtypes
from ..._base.constants import type_name
from ..._base.dtypes import as_dtype
from ..._base.dtypes import dtype as Dtype
from ..._base.errors import here, noted, warn_once
from ..._base.modes import is_grad_enabled, is_inference_mode_enabled
from ..._base.registry import TENSORS, public
from ..._kinds.linear import linear
from ..._kinds.slow_path import check_arguments, misfit
from ..._payloads.meta import Meta, laid_out, no_data, taken
from ..._payloads.transforms import Batched, Constant, Dual, OwnTape, Transformed, one_example, refuse_formats
from ..._tape.node import AccumulateGrad, Box, Node, tick, version_of, view_of
from ..._tape.promotion import cast, constant_cast, logical_dtype
from ..._tape.saved import refuse_detached
from ..._tape.tensor import CPU, META, Tensor, alias_payload, device_of, in_memory, make, shared_payload, wrap
from ..._tape.view_chain import with_node_name
from ..._tensor_api.construct import meta_device
from ..._tensor_api.protocol import array_of
from ..shape.views_primitive import payload, shape_of_other
from .create import _empty_in

_HERE, _PLACE = (CPU, "cpu", None), frozenset(("device", "dtype"))


# ---- primitives
@linear(transpose=lambda xp, g, memory_format: g, batch="shape", samples=[((2, 3), ("keep",)), ((), ("C",))])
def clone(lib, self, memory_format):
    """A copy in the same memory order (``keep``), in row-major order (``C``) or with the channels last (``last``)."""
    if memory_format == "C" or type(self) is not np.ndarray:
        return self.copy()
    if memory_format == "keep":
        return self.copy() if self.flags.c_contiguous and 1 not in self.shape else relaid_copy(self)
    r = _empty_in(self.shape, self.dtype, dtypes.channels_last if self.ndim == 4 else dtypes.channels_last_3d)
    r[...] = self
    return r


# ---- copying
_FORMATS = {
    None: "keep",
    dtypes.preserve_format: "keep",
    dtypes.contiguous_format: "C",
    dtypes.channels_last: "last",
    dtypes.channels_last_3d: "last",
}


def _order(memory_format: Any, rank: int) -> str:
    if memory_format is dtypes.channels_last and rank != 4:
        raise RuntimeError("required rank 4 tensor to use channels_last format")
    if memory_format is dtypes.channels_last_3d and rank != 5:
        raise RuntimeError("required rank 5 tensor to use channels_last_3d format")
    try:
        return _FORMATS[memory_format]
    except (KeyError, TypeError):
        raise TypeError(
            f"clone(): argument 'memory_format' must be torch.memory_format, not {type_name(memory_format)}"
        ) from None


@public("torch.clone Tensor.clone")
def clone_public(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy through which gradients flow.

    >>> x = torch.ones(2, requires_grad=True)
    >>> x.clone()
    tensor([1., 1.], grad_fn=<CloneBackward0>)
    """
    if memory_format is None:
        try:
            return clone(input, "keep")
        except AttributeError:
            payload(input, "clone")
            raise
    refuse_formats(payload(input, "clone"), memory_format, _C, dtypes.preserve_format, message=_NO_CLONE)
    return clone(input, _order(memory_format, input._payload.ndim))


_NO_CLONE = (
    "NYI: Tensor.clone(memory_format) inside vmap is only supported with memory_format torch.preserve_format or "
    "torch.contiguous_format (got {})"
)


_C = dtypes.contiguous_format


@public("Tensor.contiguous")
def contiguous(self: Tensor, memory_format: Any = None) -> Tensor:
    """Return the tensor itself if it is contiguous in ``memory_format`` (row-major by default), else a copy that is."""
    a = self._payload
    if type(a) is np.ndarray and memory_format is None:
        return self if a.flags.c_contiguous else clone(self, "C")
    if type(a) is Meta:
        return self if laid_out(a, memory_format) else clone(self, _order(memory_format or _C, a.ndim))
    if type(a) is not np.ndarray:
        refuse_formats(a, memory_format, None, _C)
        a = in_memory(one_example(a))
        if getattr(a, "is_sparse", False):
            from ..._payloads.sparse_errors import lacks

            raise lacks(a, "contiguous")
        if type(a) is not np.ndarray:
            return self
    if memory_format is None or memory_format is dtypes.contiguous_format:
        return self if a.flags.c_contiguous else clone(self, "C")
    if memory_format is dtypes.preserve_format:
        if a.flags.c_contiguous:
            return self
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    _order(memory_format, a.ndim)
    back = a.transpose(0, *range(2, a.ndim), 1)
    return self if back.flags.c_contiguous else clone(self, "last")


# ---- converting
def converted(self: Tensor, dtype: Dtype, force: bool = False, memory_format: Any = None) -> Tensor:
    """Convert a tensor to another dtype; returns the tensor itself if it has that dtype, unless ``force`` is true."""
    want = dtype.np
    a = self._payload
    if type(a) is np.ndarray and memory_format is None and not force:  # the common case
        have = a.dtype
        if have is want:
            return self
        if have.kind != "c":
            if self._node is None:
                return cast(self, want) if dtype.is_complex else constant_cast(self, a, want)
            if dtype.is_floating_point:  # only floating dtypes have derivatives
                return TENSORS._to_copy(self, want)  # type: ignore[no-any-return]
            if not dtype.is_complex:
                return constant_cast(self, a, want)
    same = logical_dtype(self) is want
    if same and not force:
        if memory_format is None or memory_format is dtypes.preserve_format:
            return self
        if type(a) is np.ndarray:  # as PyTorch: an array with gaps counts as row-major, and so does one that is both
            order = _order(memory_format, a.ndim)
            x = self if is_channels_last(a) is (order == "last") else clone(self, order)
        else:
            x = contiguous(self, memory_format)
        return self if x is self else with_node_name(x, "ToCopyBackward0")
    order = "keep" if memory_format is None else _order(memory_format, self._payload.ndim)
    if same:
        return with_node_name(clone(self, order), "ToCopyBackward0")
    x = self if dtype.is_floating_point or dtype.is_complex or self._node is None else detach(self)
    if x._payload.dtype.kind == "c" and not dtype.is_complex and want.kind != "b":
        warn_once("Casting complex values to real discards the imaginary part")
    x = TENSORS._to_copy(x, want)
    return x if order == "keep" else with_node_name(clone(x, order), "ToCopyBackward0")


@public("Tensor.to")
def to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Convert to another dtype or device; returns the tensor itself if nothing changes, unless ``copy`` is true.

    ``to(dtype)``, ``to(device, dtype)``, ``to(other)``, with ``non_blocking``, ``copy`` and ``memory_format``.

    >>> torch.ones(2).to(torch.int64)
    tensor([1, 1])
    >>> x = torch.ones(2)
    >>> x.to('cpu') is x
    True
    """
    place = args[0] if len(args) == 2 and not kwargs else None
    if (len(args) == 1 and not kwargs) or (
        type(args[-1] if args else None) is Dtype and (place is CPU or (type(place) is str and place == "cpu"))
    ):
        wanted = args[-1]
        ty = type(wanted)
        if ty is Dtype:
            return converted(self, wanted)
        if wanted is CPU or (ty is str and wanted == "cpu"):
            return self if type(self._payload) is np.ndarray else cpu(self)
        if ty is Tensor and type(wanted._payload) is np.ndarray is type(self._payload):
            return converted(self, wanted.dtype)
    elif type(self._payload) is np.ndarray and kwargs and not args and kwargs.keys() <= _PLACE:
        if kwargs.get("device", CPU) in _HERE:
            dtype = kwargs.get("dtype")
            if type(dtype) is Dtype:
                return converted(self, dtype)
            if dtype is None:
                return self
    dtype, device, copy_, memory_format = _to_arguments(args, kwargs)
    if device is not None and not _is_on(self._payload, device):
        return converted(to_device(self, device), self.dtype if dtype is None else dtype, False, memory_format)
    return converted(self, self.dtype if dtype is None else dtype, copy_, memory_format)


def to_device(self: Tensor, device: Any) -> Tensor:
    """Move a tensor to another device; on "meta" it loses its data and cannot be moved back."""
    here = device_of(self._payload)
    if device is not META and here is not META:
        from ..._payloads.foreign import moved

        a = self._payload if getattr(self._payload, "is_foreign", False) else array_of(self)
        r = wrap(moved(a, device))
        if self._node is not None and is_grad_enabled():
            r._node = ToDevice(self._node, here)
        return r
    if device is not META:
        raise no_data()
    r = wrap(taken(np.asarray(array_of(self))))
    if self._node is not None and is_grad_enabled():
        r._node = ToMeta(self._node)
    return r


def _is_on(a: Any, device: Any) -> bool:
    """Whether a payload is on a device; one without a number is the library's, whatever number an array's has."""
    here = device_of(a)
    return here is device or (here.type == device.type and (device.index is None or here.type == "cpu"))


_TO = ("dtype", "device", "non_blocking", "copy", "memory_format")


def _to_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, bool, Any]:
    """Read the arguments of ``to``: the dtype and the device (``None`` if not given), copy, and the memory format."""
    unknown = [k for k in kwargs if k not in _TO]
    dtype, device = kwargs.get("dtype"), kwargs.get("device")
    rest = list(args)
    ok = not unknown
    if rest and isinstance(rest[0], Tensor):
        other = rest.pop(0)
        dtype, device = other.dtype, other.device
    elif rest and (
        isinstance(rest[0], Dtype) or (isinstance(rest[0], type) and rest[0] in (float, int, bool, complex))
    ):
        dtype = as_dtype(rest.pop(0), "to")
    elif rest:
        device = rest.pop(0)
        if rest and (rest[0] is None or not isinstance(rest[0], bool)):
            dtype = rest.pop(0)
    flags = [kwargs.get("non_blocking", False), kwargs.get("copy", False)]
    ok = ok and len(rest) <= 2 and all(isinstance(f, bool) for f in (*rest, *flags))
    ok = ok and (device is None or isinstance(device, (str, int, dtypes.device)))
    ok = ok and (dtype is None or isinstance(dtype, (Dtype, type)))
    if not ok:
        raise misfit(".to", *args, **kwargs)
    flags[: len(rest)] = rest
    place = None if device is None else META if meta_device(device, "to") else dtypes.device(device)
    place = CPU if place is not None and place.type == "cpu" else place
    return None if dtype is None else as_dtype(dtype, "to"), place, flags[1], kwargs.get("memory_format")


class ToMeta(Node):
    """The node of a tensor that was moved to "meta": gradients cannot pass it."""

    __slots__ = ("fx",)
    __module__ = "builtins"  # as in PyTorch's repr

    def __init__(self, fx: Node) -> None:
        self.fx = fx
        self._seq = tick()
        self._hooks = None
        self._code, self._lasti = here()

    def _edges(self) -> tuple[Node | None, ...]:
        return (self.fx,)

    def name(self) -> str:
        return "ToCopyBackward0"

    def backward(self, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        raise no_data()


class ToDevice(ToMeta):
    """The node of a tensor that was moved to another device: its cotangent is moved back."""

    __slots__ = ("here",)
    __module__ = "builtins"

    def __init__(self, fx: Node, here: Any) -> None:
        super().__init__(fx)
        self.here = here

    def backward(self, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        from ..._payloads.foreign import moved

        return (self.fx, to_device(g, self.here) if isinstance(g, Tensor) else moved(g, self.here))


def _converter(name: str, dtype: Dtype) -> None:
    want = None if dtype in (dtypes.bfloat16, dtypes.complex32) else dtype.np  # NumPy may not have these dtypes

    def convert(self: Tensor, *, memory_format: Any = None) -> Tensor:
        if memory_format is None and self._payload.dtype is want:
            return self
        return converted(self, dtype, False, memory_format)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"The tensor in dtype ``{dtype!r}``; itself if it is in that dtype already."
    public(f"Tensor.{name}")(convert)


for _name, _dtype in {
    "float": dtypes.float32, "double": dtypes.float64, "half": dtypes.float16, "bfloat16": dtypes.bfloat16,
    "int": dtypes.int32, "long": dtypes.int64, "short": dtypes.int16, "char": dtypes.int8, "byte": dtypes.uint8,
    "bool": dtypes.bool_, "cfloat": dtypes.complex64, "cdouble": dtypes.complex128, "chalf": dtypes.complex32,
}.items():  # fmt: skip
    _converter(_name, _dtype)


@public("Tensor.type_as")
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """Convert the tensor to the dtype of ``other``."""
    shape_of_other(other, "type_as")
    return to(self, other)


@public("Tensor.cpu")
def cpu(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """Return the tensor itself, which is on the CPU; a tensor without data is an error."""
    if memory_format is not None:
        check_arguments(".cpu", memory_format=memory_format)
    return self if type(self._payload) is np.ndarray or device_of(self._payload) is CPU else to_device(self, CPU)


def _absent(name: str) -> None:
    def absent(self: Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Tensor:
        if dtypes.device(name) is CPU:  # which stands for such devices, under `python -m wengert run --stand-in`
            return self
        from ..._payloads.foreign import library_at

        if library_at(name) is not None:
            place = name if device is None else dtypes.device(name, device) if type(device) is int else device
            return to(self, place, memory_format=memory_format)
        raise noted(
            AssertionError(f"Torch not compiled with {name.upper()} enabled"),
            "What to do: wengert computes with NumPy on the CPU: leave the call out, or ask torch.cuda.is_available() "
            "first.",
        )

    absent.__name__ = absent.__qualname__ = name
    absent.__doc__ = f"The tensor on the {name} device; without one an AssertionError, as in PyTorch built without it."
    public(f"Tensor.{name}")(absent)


for _name in ("cuda", "xpu"):
    _absent(_name)


# ---- detaching
def _without_history(a: Any) -> Any:
    """A payload without tangents and without the tape of an outer transform."""
    if isinstance(a, Dual):
        return Constant(_without_history(a.v)) if not isinstance(a.v, Transformed) else _without_history(a.v)
    if isinstance(a, (Batched, OwnTape)):
        return type(a)(_without_history(a.v), a.tag)
    if isinstance(a, Tensor):
        return detach(a)
    return a


@public("torch.detach Tensor.detach")
def detach(input: Tensor) -> Tensor:
    """A view without history: a leaf that does not require grad and shares the version counter.

    >>> x = torch.ones(2, requires_grad=True)
    >>> (x * 2).detach()
    tensor([2., 2.])
    """
    try:
        a = input._payload
    except AttributeError:
        a = payload(input, "detach")
    t = make()
    if type(a) is not np.ndarray:
        if hasattr(a, "asked"):
            return a.asked("detach")  # type: ignore[no-any-return]
        a = alias_payload(input, t)
        if not isinstance(a, np.ndarray):
            a = _without_history(a)
            if getattr(a, "layout", None) is dtypes.sparse_coo:  # with the values in common, not what replaces them
                a = a.like(a.values)
            t.__dict__["_detached"] = True
            if getattr(a, "is_traced", False):
                shared_payload(input, t, counted=True)
    t._node = None
    t._payload = a
    t._box = b = Box()
    b.a = a
    b.cell = version_of(input)
    return t


@public("torch.detach_ Tensor.detach_")
def detach_(self: Tensor) -> Tensor:
    """Detach the tensor from its history, in place.

    >>> x = torch.ones(2, requires_grad=True) * 2
    >>> torch.detach_(x).requires_grad
    False
    """
    if is_inference_mode_enabled():  # in which PyTorch leaves out what concerns histories
        return self
    if view_of(self) is not None:
        raise RuntimeError(
            "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
            "training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence "
            "detach_() cannot be called on these gradients. To fix this error, please refer to the "
            "Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution."
        )
    if type(self._node) is AccumulateGrad:
        from ..._tape.properties import set_requires_grad

        set_requires_grad(self, False)  # it keeps its gradient
    elif self._node is not None and self._box is not None:
        refuse_detached(self)
    self._node = None
    if isinstance(self._payload, (Transformed, Tensor)):
        self._payload = _without_history(self._payload)
    return self
