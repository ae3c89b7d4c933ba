"""Functions that rebuild tensors in PyTorch's pickles; programs find them in ``torch._utils``.

They trust no argument: a tensor that would extend beyond its storage raises an error, and none allocates memory.
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from .._base import dtypes
from .._tape.tensor import Tensor, wrap
from .._tensor_api.copying import _rebuild_meta_tensor_no_storage
from .._tensor_api.protocol import array_of
from .._tensor_api.storage import _Storage
from ..nn.parameter import Parameter
from .storages import tensor_on


def _rebuild_tensor(storage: Any, storage_offset: Any, size: Any, stride: Any) -> Tensor:
    """A tensor on a typed storage."""
    if not isinstance(storage, _Storage):
        raise pickle.UnpicklingError(f"a tensor needs a storage, but got {type(storage)}")
    return tensor_on(storage._array, storage_offset, size, stride)


def _rebuild_tensor_v2(
    storage: Any,
    storage_offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    backward_hooks: Any,
    metadata: Any = None,
) -> Tensor:
    """A tensor on a typed storage, as PyTorch pickles most dtypes."""
    tensor = _rebuild_tensor(storage, storage_offset, size, stride)
    if isinstance(metadata, dict) and metadata:  # the file holds the elements before the lazy operation
        _refuse_large(tensor, storage)
        if metadata.get("conj"):
            tensor = tensor.conj_physical()  # type: ignore[attr-defined]
        if metadata.get("neg"):
            tensor = -tensor
    return _with_grad(tensor, requires_grad)


def _rebuild_tensor_v3(
    storage: Any,
    storage_offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    backward_hooks: Any,
    dtype: Any,
    metadata: Any = None,
) -> Tensor:
    """A tensor on bytes, as PyTorch pickles the dtypes that have no storages of their own."""
    if not isinstance(storage, _Storage) or type(dtype) is not dtypes.dtype:
        raise pickle.UnpicklingError(f"a tensor needs a storage and a dtype, but got {type(storage)}, {type(dtype)}")
    raw = storage._array.view(np.uint8)
    memory = raw[: raw.size // dtype.itemsize * dtype.itemsize].view(dtype.np)
    if getattr(storage, "_swapped", False):
        memory = memory.byteswap()
    return _with_grad(tensor_on(memory, storage_offset, size, stride), requires_grad)


def _refuse_large(tensor: Tensor, storage: Any) -> None:
    """Check the size of a tensor before it is copied: a file may name an expanded tensor of any size."""
    if tensor._payload.size > storage._array.size:
        raise RuntimeError("a tensor with more elements than its storage cannot be computed on while it is loaded")


def _with_grad(tensor: Tensor, requires_grad: Any) -> Tensor:
    return tensor.requires_grad_() if requires_grad is True else tensor


def _rebuild_parameter(data: Any, requires_grad: Any, backward_hooks: Any) -> Any:
    """A parameter."""
    if not isinstance(data, Tensor):
        raise pickle.UnpicklingError(f"a parameter needs a tensor, but got {type(data)}")
    return Parameter(data, requires_grad is True)


def _rebuild_parameter_with_state(data: Any, requires_grad: Any, backward_hooks: Any, state: Any) -> Any:
    """A parameter with attributes of the program's."""
    return with_attributes(_rebuild_parameter(data, requires_grad, backward_hooks), state)


def _rebuild_from_type_v2(func: Any, new_type: Any, args: Any, state: Any) -> Any:
    """A tensor of a subclass, or one with attributes of the program's.

    Raises:
        UnpicklingError: the function is not one of those that rebuild tensors, or the type is no tensor's.
    """
    if func not in REBUILDERS or not (isinstance(new_type, type) and issubclass(new_type, Tensor)):
        raise pickle.UnpicklingError(f"Can only rebuild tensors and their subclasses, but got {func}, {new_type}")
    tensor = func(*args)
    if type(tensor) is not new_type:
        tensor = tensor.as_subclass(new_type)
    own = getattr(new_type, "__setstate__", None)
    if own is not None:
        own(tensor, state)
        return tensor
    return with_attributes(tensor, state)


def with_attributes(tensor: Tensor, state: Any) -> Tensor:
    """Set the program's attributes on a tensor; names of Tensor's own attributes raise an error."""
    named, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    for attributes in (named, slots):
        for name, value in (attributes or {}).items():
            if not isinstance(name, str) or hasattr(Tensor, name):
                raise pickle.UnpicklingError(f"the attribute {name!r} of a tensor cannot be set from a file")
            setattr(tensor, name, value)
    return tensor


def _rebuild_device_tensor_from_cpu_tensor(data: Any, dtype: Any, device: Any, requires_grad: Any) -> Tensor:
    """A tensor that was on a device without storages: here its copy on the CPU."""
    if not isinstance(data, Tensor) or type(dtype) is not dtypes.dtype:
        raise pickle.UnpicklingError(f"a tensor and its dtype are needed, but got {type(data)}, {type(dtype)}")
    if data.dtype is not dtype:
        _refuse_large(data, data.untyped_storage())
    return _with_grad(data.to(dtype), requires_grad)


def _refuse_kind(*args: Any) -> Any:
    """Raises an error: wengert does not have this kind of tensor."""
    raise NotImplementedError(
        "the file holds a tensor that is quantized, nested, or sparse in another layout than COO: "
        "wengert has no such tensors"
    )


def _get_layout(name: str) -> Any:
    """``torch.strided`` and its like, by name."""
    return dtypes.LAYOUTS[name.removeprefix("torch.")]


def _rebuild_sparse_tensor(layout: Any, data: Any) -> Tensor:
    """A sparse COO tensor: of indices, values, size and, in newer files, whether it is coalesced."""
    if layout is not dtypes.sparse_coo:
        _refuse_kind()
    indices, values, size, *coalesced = data
    if not isinstance(indices, Tensor) or not isinstance(values, Tensor) or len(coalesced) > 1:
        raise pickle.UnpicklingError("a sparse tensor needs indices and values")
    from .._payloads.sparse import Sparse

    places, elements, shape = array_of(indices), array_of(values), tuple(size)
    if not all(type(n) is int and 0 <= n < 2**63 for n in shape):
        raise RuntimeError("a sparse tensor's sizes must be integers that are not negative")
    if places.ndim != 2 or places.dtype != np.int64 or elements.ndim < 1 or places.shape[1] != elements.shape[0]:
        raise RuntimeError("a sparse tensor's indices and values do not belong together")
    depth = places.shape[0]
    if len(shape) != depth + elements.ndim - 1 or shape[depth:] != elements.shape[1:]:
        raise RuntimeError("a sparse tensor's values do not fit its size")
    limits = np.array(shape[:depth], np.int64).reshape(-1, 1)
    if (places < 0).any() or (places >= limits).any():
        raise RuntimeError("found an index of a sparse tensor that is out of bounds for its size")
    return wrap(Sparse(places, elements, shape, bool(coalesced) and coalesced[0] is True and _is_sorted(places)))


def _is_sorted(places: np.ndarray) -> bool:
    """Whether the columns are in ascending order, which is checked because a file may claim it wrongly."""
    order = np.lexsort(places[::-1])
    same = (places[:, 1:] == places[:, :-1]).all(0)
    return bool((order == np.arange(places.shape[1])).all() and not same.any())


REFUSED = ("_rebuild_qtensor", "_rebuild_nested_tensor", "_rebuild_wrapper_subclass")
REBUILDERS = frozenset(
    (
        _rebuild_tensor,
        _rebuild_tensor_v2,
        _rebuild_tensor_v3,
        _rebuild_parameter,
        _rebuild_parameter_with_state,
        _rebuild_device_tensor_from_cpu_tensor,
        _rebuild_sparse_tensor,
        _rebuild_meta_tensor_no_storage,
    )
)
_OTHERS = (_rebuild_from_type_v2, _get_layout, _refuse_kind)
NAMES: dict[str, Any] = {f.__name__: f for f in (*REBUILDERS, *_OTHERS)} | dict.fromkeys(REFUSED, _refuse_kind)
for _function in NAMES.values():
    _function.__module__ = "wengert._utils"  # where pickles say that it is
