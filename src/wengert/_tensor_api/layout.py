"""The layout of a tensor in memory: sizes, strides, offsets, its kind of dtype, and properties that never vary.

These are ``Tensor``'s methods and properties that read facts of the array and compute nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from sys import getrefcount
from typing import Any

import numpy as np
from numpy import ndarray

from .._arrays.layouts import known_strides, row_major_strides
from .._arrays.memory import IN_HEADER, WORDS_BEHIND_HEADER, address_of, offset_of
from .._base import dtypes
from .._base.constants import Recent, type_name
from .._base.dtypes import BY_NUMPY, SIZES
from .._base.registry import PUBLIC, REGISTRY, TENSORS, publish
from .._base.registry import public as method
from .._kinds.dims import normal_dim
from .._kinds.slow_path import check_arguments
from .._payloads.meta import Meta, laid_out, no_kernel, strides_of_view
from .._payloads.transforms import one_example, refuse_formats
from .._tape.error_text import expect_tensor
from .._tape.inference import is_inference
from .._tape.node import AccumulateGrad, view_of
from .._tape.tensor import CPU, META, Tensor, alias_payload, device_of, in_memory
from .._tape.view_chain import base_of, chain_of
from .legacy_types import dtype_of_type, name_of_type
from .protocol import array_of, attribute

CONTIGUOUS = dtypes.contiguous_format


def as_function(method: Callable[..., Any], name: str) -> None:
    """A method as a function of the same name, which raises if its first argument is not a tensor."""
    short = name.rpartition(".")[2]

    def function(input: Tensor, *args: Any) -> Any:
        return method(expect_tensor(short, "input", 1, input), *args)

    function.__name__ = function.__qualname__ = short
    function.__doc__ = method.__doc__
    publish(function, name)


# ---- the shape
@method("Tensor.size")
def size(self: Tensor, dim: int | None = None) -> Any:
    """The size of each dimension, or of one.

    >>> torch.ones(2, 3).size(), torch.ones(2, 3).size(-1)
    (torch.Size([2, 3]), 3)
    """
    shape = self._payload.shape
    if dim is None:
        return SIZES[shape]
    if type(dim) is int and 0 <= dim < len(shape):
        return shape[dim]
    return shape[_own_dim(dim, shape, "size")]


def _own_dim(dim: Any, shape: tuple[int, ...], function: str) -> int:
    if isinstance(dim, (float, str)):
        raise TypeError(f"{function}(): argument 'dim' (position 1) must be int, not {type_name(dim)}")
    if not shape:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return normal_dim(dim, len(shape), function)


@method("Tensor.dim Tensor.ndimension")
def dim(self: Tensor) -> int:
    """The number of dimensions.

    >>> torch.ones(2, 3).dim()
    2
    """
    return self._payload.ndim


@method("Tensor.numel Tensor.nelement")
def numel(self: Tensor) -> int:
    """The number of elements.

    >>> torch.ones(2, 3).numel()
    6
    """
    return self._payload.size


as_function(numel, "torch.numel")


@method("Tensor.stride")
def stride(self: Tensor, dim: int | None = None) -> Any:
    """The distance in elements between neighbours in each dimension, or in one.

    >>> torch.ones(2, 3).stride(), torch.ones(2, 3).stride(0)
    ((3, 1), 3)
    """
    a = self._payload
    if dim is None and type(a) is ndarray and a.size and 0 not in (strides := a.strides):
        return _IN_ELEMENTS[a.itemsize][strides]
    a = in_memory(a)
    strides = strides_of(one_example(a))
    if type(a) is np.ndarray and (not a.size or (0 in strides and 1 in a.shape)):
        base, chain = chain_of(self)  # NumPy knows no strides of empty arrays and of new dims of size 1
        strides = _IN_ELEMENTS[a.itemsize][strides_of_view(in_memory(base._payload), chain)]
    return strides if dim is None else strides[_own_dim(dim, self._payload.shape, "stride")]


def strides_of(a: Any) -> tuple[int, ...]:
    """An array's strides in elements."""
    strides = getattr(a, "strides", None)
    if strides is None:
        return row_major_strides(a.shape)
    return _IN_ELEMENTS[a.itemsize][known_strides(a) if type(a) is np.ndarray and not a.size else strides]


def _in_elements(itemsize: int) -> Callable[[tuple[int, ...]], tuple[int, ...]]:
    return lambda strides: tuple([s // itemsize for s in strides])


# Strides in elements by strides in bytes.
_IN_ELEMENTS = {itemsize: Recent(_in_elements(itemsize), 1024) for itemsize in (1, 2, 4, 8, 16)}


@method("Tensor.is_contiguous")
def is_contiguous(self: Tensor, memory_format: Any = CONTIGUOUS) -> bool:
    """Whether the elements are in row-major order in memory, or in the order of ``memory_format``.

    >>> torch.ones(2, 3).is_contiguous(), torch.ones(2, 3).t().is_contiguous()
    (True, False)
    """
    a = self._payload
    if memory_format is CONTIGUOUS and type(a) is ndarray:
        return a.flags.c_contiguous
    check_arguments(".is_contiguous", memory_format=memory_format)
    refuse_formats(a, memory_format, CONTIGUOUS)
    a = in_memory(one_example(a))
    if not isinstance(a, np.ndarray):
        if getattr(a, "is_sparse", False):
            from .._payloads.sparse_errors import lacks

            if a.layout is not dtypes.sparse_coo:
                raise lacks(a, "contiguous")
            return False
        return laid_out(a, memory_format) if type(a) is Meta else True
    if memory_format is dtypes.channels_last:
        return a.ndim == 4 and a.transpose(0, 2, 3, 1).flags.c_contiguous
    if memory_format is dtypes.channels_last_3d:
        return a.ndim == 5 and a.transpose(0, 2, 3, 4, 1).flags.c_contiguous
    return a.flags.c_contiguous


@method("Tensor.dim_order")
def dim_order(self: Tensor, *, ambiguity_check: Any = False) -> tuple[int, ...]:
    """The dimensions in their order in memory, the outermost first.

    ``ambiguity_check``: refuse a tensor whose dimensions may be ordered in several ways, or that does not lie in
    exactly one of a list of memory formats.
    """
    formats = ambiguity_check if isinstance(ambiguity_check, list) else []
    if type(ambiguity_check) not in (bool, list) or any(not isinstance(f, dtypes.memory_format) for f in formats):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    strides = strides_of(self._payload)
    if ambiguity_check is not False:
        several = 1 in self._payload.shape or any(a == b for a, b in itertools.pairwise(strides))
        if several and sum(is_contiguous(self, f) for f in formats) != 1:
            raise RuntimeError(
                "The tensor does not have unique dim order, or cannot map to exact one of the given memory formats."
            )
        if 0 in strides:
            raise RuntimeError("The tensor does not have unique dim order.")
    return tuple(sorted(range(len(strides)), key=lambda d: -strides[d]))


@method("Tensor.is_same_size")
def is_same_size(self: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape.

    >>> torch.is_same_size(torch.ones(2, 1), torch.ones(2))
    False
    """
    return self._payload.shape == other._payload.shape


as_function(is_same_size, "torch.is_same_size")


@method("Tensor.get_device torch.get_device")
def get_device(self: Tensor) -> int:
    """The number of the device: -1 for the CPU.

    >>> torch.get_device(torch.ones(1))
    -1
    """
    if type(self._payload) is ndarray:
        return -1
    index: int | None = device_of(self._payload).index
    return -1 if index is None else index


# ---- memory
@method("Tensor.element_size")
def element_size(self: Tensor) -> int:
    """Bytes per element.

    >>> torch.ones(2).element_size()
    4
    """
    return self._payload.dtype.itemsize


@attribute("Tensor.itemsize")
def itemsize(self: Tensor) -> int:
    """Bytes per element."""
    return self._payload.dtype.itemsize


@attribute("Tensor.nbytes")
def nbytes(self: Tensor) -> int:
    """Bytes of all elements together."""
    a = self._payload
    if type(a) is ndarray:
        return a.nbytes
    if getattr(a, "layout", None) is dtypes.sparse_coo:
        raise RuntimeError(
            "nbytes is not defined for sparse tensors.  If you want the size of the constituent tensors, add the "
            "nbytes of the indices and values.  If you want the size of the  equivalent dense tensor, multiply "
            "numel() by element_size()"
        )
    return int(a.dtype.itemsize * a.size)


@attribute("Tensor._cdata")
def cdata(self: Tensor) -> int:
    """A number that is unique among living tensors. PyTorch returns the address of a C++ object; pyro compares them."""
    return id(self)


@method("Tensor._use_count")
def use_count(self: Tensor) -> int:
    """PyTorch's count of owners in C++ of what a tensor stands for: Python, and the node of a leaf in a graph."""
    node = self._node
    held = getrefcount(node)  # by the leaf, the variable and the argument
    return 2 if type(node) is AccumulateGrad and held > 3 else 1


@method("Tensor.data_ptr Tensor.const_data_ptr")
def data_ptr(self: Tensor) -> int:
    """The address of the first element; 0 if there is none."""
    a = self._payload
    if type(a) is IN_HEADER and a.size:  # as ``address_of``
        return WORDS_BEHIND_HEADER[id(a) >> 3]
    if type(a) is not ndarray:
        if device_of(a) is META:
            return 0
        array_of(self)
        a = alias_payload(self)
        if not isinstance(a, ndarray):
            return 0
    return address_of(a) if a.size else 0


@method("Tensor.storage_offset")
def storage_offset(self: Tensor) -> int:
    """The offset of the first element from the beginning of the storage, in elements.

    >>> torch.ones(2, 3)[1].storage_offset()
    3
    """
    a = self._payload
    if type(a) is ndarray and a.base is None:
        return 0
    a = in_memory(a)
    if type(a) is Meta:
        return a.offset // a.itemsize
    if not isinstance(a, ndarray):
        return 0
    return offset_of(a)


@method("Tensor.is_set_to")
def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether two tensors have the same memory, shape, strides and offset."""
    if device_of(self._payload) is META or device_of(tensor._payload) is META:
        raise no_kernel("is_set_to")
    a, b = alias_payload(self), alias_payload(tensor)
    return a is b or (
        address_of(a) == address_of(b) and a.shape == b.shape and a.strides == b.strides and a.dtype == b.dtype
    )


@attribute("Tensor._base")
def base(self: Tensor) -> Tensor | None:
    """The tensor that this one is a view of; ``None`` if it is not a view."""
    if not is_view(self):
        return None
    found = base_of(self)
    whole = whole_of(found)
    return found if whole is None else whole


def whole_of(base: Tensor | None) -> Any:
    """The tensor, a nested one, that shows itself as the base of views of its elements ``base``; ``None``: no other."""
    known = None if base is None else base.__dict__.get("_elements_of")
    return None if known is None else known()


@method("Tensor._is_view")
def is_view(self: Tensor) -> bool:
    """Whether this tensor is a view of another."""
    return view_of(self) is not None and not is_inference(self)


# The parameters of view operators that PyTorch's visitors see: sizes, strides and indices, but no dims.
_SYMBOLIC = {"select": (1,), "slice_dim": (1, 2, 3), "as_strided_view": (0, 1, 2), "expand": (0,), "view": (0,),
             "split": (0,), "split_with_sizes": (0,)}  # fmt: skip


class SliceInverse:
    """The view operator of ``aten.slice_inverse``, of which a visitor sees the tensor whose geometry the view has."""

    name = "as_strided_view"
    outputs = 1

    @staticmethod
    def core(parent: Tensor, *p: Any) -> Tensor:
        """The view of another tensor."""
        return TENSORS.as_strided_view(parent, *p)  # type: ignore[no-any-return]


def _visited(value: Any, visitor: Any) -> Any:
    return tuple(_visited(v, visitor) for v in value) if isinstance(value, tuple) else visitor(value)


def _replayed(self: Tensor, new_base: Tensor, numbers: Any, tensors: Any) -> Tensor:
    """This view's operators on another base; visitors may change their numbers, and the tensor of ``SliceInverse``."""
    chain = list(chain_of(self)[1])
    if tensors is not None and view_of(self)[1] is SliceInverse:  # type: ignore[index]
        name, (size, stride, *rest) = chain[-1]
        src = tensors(_geometry(size, stride))
        chain[-1] = (name, (tuple(src.shape), src.stride(), *rest))
    for name, p in chain:
        info = REGISTRY[name]
        if numbers is not None:
            p = tuple(_visited(v, numbers) if k in _SYMBOLIC.get(name, ()) else v for k, v in enumerate(p))
        new_base = info.op(new_base, *p) if info.outputs == 1 else info.op(new_base, *p[:-1])[p[-1]]
    return new_base


def _geometry(size: Any, stride: Any) -> Tensor:
    """A tensor of these sizes and strides."""
    empty: Tensor = PUBLIC["torch"]["empty_strided"](size, stride)
    return empty


@method("Tensor._view_func")
def view_func(
    self: Tensor, new_base: Tensor, symint_visitor_fn: Any = None, tensor_visitor_fn: Any = None
) -> Tensor | None:
    """Apply this view's operators to another base of the same sizes and strides; ``None`` if this is not a view.

    ``symint_visitor_fn`` and ``tensor_visitor_fn`` get the sizes and indices, and the tensors, that the operators were
    given, and return those to apply.

    >>> torch.zeros(3)[1:]._view_func(torch.arange(3.))
    tensor([1., 2.])
    """
    base = base_of(self)
    if base is None or (base.shape, base.stride()) != (new_base.shape, new_base.stride()):
        return None
    return _replayed(self, new_base, symint_visitor_fn, tensor_visitor_fn)


@method("Tensor._view_func_unsafe")
def view_func_unsafe(
    self: Tensor, new_base: Tensor, symint_visitor_fn: Any = None, tensor_visitor_fn: Any = None
) -> Tensor | None:
    """``_view_func`` on a base of any sizes and strides."""
    return None if base_of(self) is None else _replayed(self, new_base, symint_visitor_fn, tensor_visitor_fn)


@method("Tensor._rev_view_func_unsafe")
def rev_view_func_unsafe(
    self: Tensor, new_view: Tensor, symint_visitor_fn: Any = None, tensor_visitor_fn: Any = None
) -> Tensor | None:
    """A tensor of the geometry of this view's base, on the memory of ``new_view``; ``None`` if this is not a view.

    >>> torch.zeros(2, 3)[1]._rev_view_func_unsafe(torch.arange(6.)[3:])
    tensor([[0., 1., 2.],
            [3., 4., 5.]])
    """
    base = base_of(self)
    if base is None:
        return None
    size, stride, offset = base.shape, base.stride(), base.storage_offset()
    if base.is_complex() and not self.is_complex():
        pairs = ((*size, 2), (*(2 * s for s in stride), 1), 2 * offset)
        return TENSORS.view_as_complex(new_view.as_strided(*pairs))  # type: ignore[no-any-return]
    if self.is_complex() and not base.is_complex():
        new_view = TENSORS.view_as_real(new_view)
    made, whole = new_view.as_strided(size, stride, offset), whole_of(base)
    return made if whole is None else whole._like(made)


@method("Tensor.pin_memory")
def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """Raises RuntimeError: there is no accelerator to pin memory for."""
    if device_of(self._payload) is META:
        kind = name_of_type(self.dtype).removeprefix("torch.").removesuffix("Tensor")
        raise RuntimeError(f"cannot pin 'Meta{kind}Type' only dense CPU tensors can be pinned")
    from .._payloads.foreign import can_pin

    if can_pin():
        return self  # copies to a card take any memory
    raise RuntimeError("Cannot access accelerator device when none is available.")


@method("Tensor.is_pinned")
def is_pinned(self: Tensor, device: Any = None) -> bool:
    """False: there is no accelerator."""
    check_arguments(".is_pinned", device)
    return False


# ---- kinds of dtype
@method("Tensor.is_floating_point")
def _is_floating_point(self: Tensor) -> bool:
    """Whether the dtype is a floating one."""
    return BY_NUMPY[self._payload.dtype].is_floating_point


@method("torch.is_floating_point")
def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is a floating one.

    >>> torch.is_floating_point(torch.ones(2)), torch.is_floating_point(torch.tensor(1))
    (True, False)
    """
    return BY_NUMPY[expect_tensor("is_floating_point", "input", 1, input)._payload.dtype].is_floating_point


@method("Tensor.is_complex")
def _is_complex(self: Tensor) -> bool:
    """Whether the dtype is a complex one.

    >>> torch.is_complex(torch.tensor([1j]))
    True
    """
    return BY_NUMPY[self._payload.dtype].is_complex


@method("torch.is_complex")
def is_complex(input: Tensor) -> bool:
    """Whether the dtype is a complex one.

    >>> torch.is_complex(torch.tensor([1j])), torch.is_complex(torch.ones(1))
    (True, False)
    """
    return BY_NUMPY[expect_tensor("is_complex", "input", 1, input)._payload.dtype].is_complex


@method("Tensor.is_signed")
def is_signed(self: Tensor) -> bool:
    """Whether the dtype has negative numbers.

    >>> torch.is_signed(torch.ones(1, dtype=torch.uint8))
    False
    """
    return BY_NUMPY[self._payload.dtype].is_signed


as_function(is_signed, "torch.is_signed")


@method("torch.is_tensor")
def is_tensor(obj: Any) -> bool:
    """Whether an object is a tensor.

    >>> torch.is_tensor(torch.ones(1)), torch.is_tensor([1.])
    (True, False)
    """
    return isinstance(obj, Tensor)


@method("Tensor.type")
def type_(self: Tensor, dtype: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
    """The name of the tensor's type, or the tensor converted to another.

    ``dtype``: a dtype, a legacy type (``torch.LongTensor``) or its name.

    >>> torch.ones(1).type(), torch.ones(1).type(torch.LongTensor)
    ('torch.FloatTensor', tensor([1]))
    """
    if type(dtype) is dtypes.dtype and type(self._payload) is np.ndarray and not kwargs:
        return self if dtype is self.dtype else self.to(dtype)
    if kwargs:
        check_arguments(".type", *(() if dtype is None else (dtype, non_blocking)), **kwargs)
    meta = type(self._payload) is not np.ndarray and device_of(self._payload) is META
    if getattr(self._payload, "is_sparse", False) and dtype is None:
        if self._payload.layout is not dtypes.sparse_coo:
            raise RuntimeError("Unimplemented backend SparseCsrCPU")
        return name_of_type(self.dtype).replace("torch.", "torch.sparse.")
    if dtype is None:
        return name_of_type(self.dtype).replace("torch.", "torch.meta." if meta else "torch.")
    target = dtype_of_type(dtype)
    if meta and not isinstance(dtype, dtypes.dtype):  # a legacy type implies the CPU
        return self.cpu()
    return self if target is self.dtype else self.to(target)


@method("Tensor.is_inference")
def _is_inference(self: Tensor) -> bool:
    """Whether the tensor was made under ``inference_mode``.

    >>> torch.is_inference(torch.ones(1))
    False
    """
    return is_inference(self)


as_function(_is_inference, "torch.is_inference")


def _constant(name: str, value: Any, doc: str) -> None:
    def get(self: Tensor) -> Any:
        return value

    get.__doc__ = doc
    publish(property(get), f"Tensor.{name}")


for _name in ("ipu", "vulkan", "mkldnn", "quantized", "nested"):
    _constant(f"is_{_name}", False, f"False: no tensor here is of kind {_name!r}.")


def _of_device(kind: str) -> None:
    def get(self: Tensor) -> bool:
        return type(self._payload) is not ndarray and device_of(self._payload).type == kind

    get.__doc__ = f"Whether the tensor is on a device of type {kind!r}."
    publish(property(get), f"Tensor.is_{kind}")


for _name in ("cuda", "xpu", "mps", "xla", "maia", "mtia"):
    _of_device(_name)


@attribute("Tensor.is_meta")
def is_meta(self: Tensor) -> bool:
    """Whether the tensor is on device "meta": it has a shape and a dtype and no data."""
    return type(self._payload) is not ndarray and device_of(self._payload) is META


@attribute("Tensor.is_cpu")
def is_cpu(self: Tensor) -> bool:
    """Whether the tensor is on the CPU."""
    return type(self._payload) is ndarray or device_of(self._payload) is CPU


_constant("name", None, "``None``: kept for programs that ask.")


@method("Tensor.is_distributed torch.is_distributed")
def _never(self: Tensor) -> bool:
    """False: a tensor's memory is that of this process.

    >>> torch.is_distributed(torch.ones(1))
    False
    """
    check_arguments("is_distributed", self)
    return False


def not_expandable(target: tuple[int, ...], shape: tuple[int, ...]) -> RuntimeError:
    for d in range(1, len(shape) + 1):
        if d > len(target) or shape[-d] not in (1, target[-d]):
            break
    where = len(target) - d
    return RuntimeError(
        f"The expanded size of the tensor ({target[where]}) must match the existing size ({shape[-d]}) at "
        f"non-singleton dimension {where}.  Target sizes: {list(target)}.  Tensor sizes: {list(shape)}"
    )
