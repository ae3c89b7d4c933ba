"""Functions that rebuild tensors in PyTorch's pickles; programs find them in ``torch._utils``.

They trust no argument: a tensor that would extend beyond its storage raises an error, and none allocates memory. No
argument is hashed, compared or shown in a message but by its type.

NOTE [ Memory that is not read yet ]
In the formats before PyTorch 1.6 the elements come after the object. What computes on them (conjugates, sparse indices
that must be checked, conversions) then waits until they have been read: ``when_filled``.

NOTE [ Attributes ]
Python, NumPy and notebooks ask an object for attributes by name, and believe what they find: NumPy reads memory at the
address in an object's ``__array_interface__``. So a file that is not trusted may set only what a program could have set
for itself: names without an underscore in front that the object's class does not have, and private marks on tensors
(``_is_initialized = True``), which are plain values (``check_attribute``).
"""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from types import FunctionType
from typing import Any

import numpy as np

from .._arrays.memory import address_of
from .._base import dtypes
from .._payloads.meta import Meta
from .._tape.tensor import Tensor, wrap
from .._tensor_api.copying import (
    MAX_DIMS,
    OWN,
    _rebuild_meta_tensor_no_storage,
    _rebuild_wrapper_subclass,
    whole_numbers,
)
from .._tensor_api.protocol import array_of
from .._tensor_api.storage import _Storage
from ..nn.parameter import Parameter
from .storages import tensor_on

_waiting: ContextVar[list[Callable[[], object]] | None] = ContextVar("_waiting", default=None)


@contextlib.contextmanager
def waiting(steps: list[Callable[[], object]] | None) -> Iterator[None]:
    """Put what computes on elements off into ``steps``; with None it is computed at once."""
    before = _waiting.get()
    try:
        _waiting.set(steps)
        yield
    finally:
        _waiting.set(before)


def when_filled(step: Callable[[], object]) -> None:
    """Run a step as soon as the elements are there: see NOTE [ Memory that is not read yet ]."""
    steps = _waiting.get()
    if steps is None:
        step()
    else:
        steps.append(step)


def _computed(source: Tensor, dtype: Any, compute: Callable[[Tensor], Tensor]) -> Tensor:
    """``compute(source)``, which has the size of the source; its elements may come later."""
    a = source._payload
    if _waiting.get() is None or type(a) is Meta:
        return compute(source)
    if not isinstance(a, np.ndarray):  # sparse: which elements there are is not known yet
        raise pickle.UnpicklingError("only a tensor with strides can be converted before its elements are read")
    result = wrap(np.empty_like(a, dtype.np))
    when_filled(lambda: result.detach().copy_(compute(source)))
    return result


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
        if metadata.get("conj") is True:
            tensor = _computed(tensor, tensor.dtype, Tensor.conj_physical)
        if metadata.get("neg") is True:
            tensor = _computed(tensor, tensor.dtype, Tensor.neg)
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
    try:
        memory = _memory_as(storage, dtype)
    except TypeError:
        raise NotImplementedError(f"the file holds a tensor of {dtype!r}: wengert has no such tensors") from None
    return _with_grad(tensor_on(memory, storage_offset, size, stride), requires_grad)


def _memory_as(storage: Any, dtype: Any) -> Any:
    """The memory of bytes in a dtype; in this machine's order, of which a storage has one copy for each width."""
    raw = storage._array.view(np.uint8)
    if type(raw) is not Meta and address_of(raw) % dtype.np.alignment:  # a part of bytes in an old file
        raise pickle.UnpicklingError(f"a storage of {dtype!r} begins in the middle of an element")
    memory = raw[: raw.size // dtype.itemsize * dtype.itemsize]
    if getattr(storage, "_swapped", False):
        turned, width = storage.__dict__.setdefault("_turned", {}), dtype.itemsize >> dtype.is_complex
        if width not in turned:
            turned[width] = raw[: raw.size // width * width].view(f"u{width}").byteswap().view(np.uint8)
        memory = turned[width][: memory.size]
    return memory.view(dtype.np)


def _refuse_large(tensor: Tensor, storage: Any) -> None:
    """Check the size of a tensor before it is copied: a file may name an expanded tensor of any size."""
    if tensor._payload.size > storage._array.size:
        raise RuntimeError("a tensor with more elements than its storage cannot be computed on while it is loaded")


def _with_grad(tensor: Tensor, requires_grad: Any) -> Tensor:
    return tensor.requires_grad_() if _flag(requires_grad) else tensor


def _flag(value: Any) -> bool:
    if value is not None and type(value) is not bool:
        raise RuntimeError("requires_grad must be a bool")
    return value is True


def _rebuild_parameter(data: Any, requires_grad: Any, backward_hooks: Any) -> Any:
    """A parameter."""
    if not isinstance(data, Tensor):
        raise pickle.UnpicklingError(f"a parameter needs a tensor, but got {type(data)}")
    return Parameter(data, _flag(requires_grad))


def _rebuild_parameter_with_state(data: Any, requires_grad: Any, backward_hooks: Any, state: Any) -> Any:
    """A parameter with attributes of the program's."""
    return with_attributes(_rebuild_parameter(data, requires_grad, backward_hooks), state)


def _rebuild_from_type_v2(func: Any, new_type: Any, args: Any, state: Any) -> Any:
    """A tensor of a subclass, or one with attributes of the program's.

    Raises:
        UnpicklingError: the function is not one of those that rebuild tensors, or the type is no tensor's.
    """
    if not is_rebuilder(func) or not (isinstance(new_type, type) and issubclass(new_type, Tensor)):
        raise pickle.UnpicklingError(
            f"Can only rebuild tensors and their subclasses, but got {type(func)}, {type(new_type)}"
        )
    if type(args) is not tuple:
        raise pickle.UnpicklingError(f"Can only call with a tuple of arguments, but got {type(args)}")
    tensor = func(*args)
    if type(tensor) is not new_type and not (new_type is Tensor and tensor.is_nested):
        tensor = tensor.as_subclass(new_type)
    own = getattr(new_type, "__setstate__", None)
    if own is not None:
        own(tensor, state)
        return tensor
    return with_attributes(tensor, state)


def with_attributes(tensor: Tensor, state: Any) -> Tensor:
    """Set the program's attributes on a tensor; names of Tensor's own attributes raise an error."""
    for attributes in parts_of(state):
        if attributes is not None and not isinstance(attributes, dict):
            raise pickle.UnpicklingError(f"a tensor's attributes must be a dict, but got {type(attributes)}")
        for name, value in (attributes or {}).items():
            if type(name) is not str or hasattr(Tensor, name):
                raise _not_from_a_file(type(tensor), name)
            if not name.startswith(_OF_TRACERS):
                setattr(tensor, name, value)
    return tensor


def parts_of(state: Any) -> tuple[Any, ...]:
    """The dict of a state, or both of one with slots."""
    return state if isinstance(state, tuple) and len(state) == 2 else (state,)


_ASKED_FOR = ("__", "_repr_", "_ipython_")  # by Python and NumPy, by notebooks
_OF_TRACERS = ("_dynamo_", "_has_dynamo_", "_specialize_on")
"""How the marks of PyTorch's tracer begin, which it puts on the tensors in nested ones. Nothing here reads them."""
_PLAIN = {bool, int, float, str, type(None)}


def check_attribute(cls: type, name: Any, *own: str, value: Any = ...) -> None:
    """Refuse a name that a file may not set, but for those in ``own``: see NOTE [ Attributes ]."""
    if type(name) is str and (name in own or _is_free(cls, name, value)):
        return
    raise _not_from_a_file(cls, name)


def _is_free(cls: type, name: str, value: Any) -> bool:
    """Whether a name is nobody's: neither the class's or a tensor's own, nor one that Python or NumPy asks for."""
    if not name.isidentifier() or hasattr(Tensor, name) or name in OWN:
        return False
    if name.startswith(_OF_TRACERS):  # it is not set
        return True
    if name[0] == "_" and (type(value) not in _PLAIN or name.startswith(_ASKED_FOR)):
        return False
    found = getattr(cls, name, None)
    return not (callable(found) or isinstance(found, property))


def _not_from_a_file(cls: type, name: Any) -> pickle.UnpicklingError:
    shown = ascii(name[:40]) if type(name) is str else type(name)
    return pickle.UnpicklingError(f"the attribute {shown} of {cls} cannot be set from a file")


def _rebuild_device_tensor_from_cpu_tensor(data: Any, dtype: Any, device: Any, requires_grad: Any) -> Tensor:
    """A tensor that was on a device without storages: here its copy on the CPU."""
    if not isinstance(data, Tensor) or type(dtype) is not dtypes.dtype:
        raise pickle.UnpicklingError(f"a tensor and its dtype are needed, but got {type(data)}, {type(dtype)}")
    data = data.detach()
    if data.dtype is not dtype:
        if isinstance(data._payload, np.ndarray):
            _refuse_large(data, data.untyped_storage())
        data = _computed(data, dtype, lambda source: source.to(dtype))
    return _with_grad(data, requires_grad)


def _refuse_kind(*args: Any) -> Any:
    """Raises an error: wengert does not have this kind of tensor."""
    raise NotImplementedError("the file holds a tensor that is quantized: wengert reads no such tensors")


def _get_layout(name: str) -> Any:
    """``torch.strided`` and its like, by name."""
    if type(name) is not str:
        raise pickle.UnpicklingError(f"a layout's name must be text, but got {type(name)}")
    return dtypes.LAYOUTS[name.removeprefix("torch.")]


def _rebuild_sparse_tensor(layout: Any, data: Any) -> Tensor:
    """A sparse tensor: a COO tensor of indices, values, size and, in newer files, whether it is coalesced."""
    if any(layout is known for known in (dtypes.sparse_csr, dtypes.sparse_csc, dtypes.sparse_bsr, dtypes.sparse_bsc)):
        return _compressed(layout, data)
    if layout is not dtypes.sparse_coo:
        raise pickle.UnpicklingError(f"a sparse tensor needs a sparse layout, but got {type(layout)}")
    if type(data) is not tuple or len(data) not in (3, 4) or not all(isinstance(t, Tensor) for t in data[:2]):
        raise pickle.UnpicklingError("a sparse tensor needs indices and values")
    from .._payloads.sparse import Sparse

    places, elements = array_of(data[0]), array_of(data[1])
    shape = whole_numbers(data[2], "sizes")
    for part in data[:2]:
        _refuse_large(part, part.untyped_storage())
    if len(shape) > MAX_DIMS or places.ndim != 2 or places.dtype != np.int64 or elements.ndim < 1:
        raise RuntimeError("a sparse tensor's indices and values do not belong together")
    depth = places.shape[0]
    if places.shape[1] != elements.shape[0] or shape[depth:] != elements.shape[1:] or depth > len(shape):
        raise RuntimeError("a sparse tensor's values do not fit its size")
    result = Sparse(places, elements, shape)

    def check() -> None:
        limits = np.array(shape[:depth], np.int64).reshape(-1, 1)
        if (places < 0).any() or (places >= limits).any():
            raise RuntimeError("found an index of a sparse tensor that is out of bounds for its size")
        if data[3:] and data[3] is True and _is_sorted(places):
            result.coalesced = True

    when_filled(check)
    return wrap(result)


def _compressed(layout: Any, data: Any) -> Tensor:
    """A compressed sparse tensor: of its two tensors of indices, values and size."""
    if type(data) is not tuple or len(data) != 4 or not all(isinstance(t, Tensor) for t in data[:3]):
        raise pickle.UnpicklingError("a compressed sparse tensor needs two tensors of indices, and values")
    from .._payloads.blocks import GRIDS, Blocks
    from .._payloads.compressed import Compressed
    from .._payloads.compressed_indices import check

    shape = whole_numbers(data[3], "sizes")
    for part in data[:3]:
        _refuse_large(part, part.untyped_storage())
    if len(shape) > MAX_DIMS:
        raise RuntimeError("a sparse tensor of too many dimensions")
    ends, minor, values = map(array_of, data[:3])
    if layout not in GRIDS:
        result = grid = Compressed(ends, minor, values, shape, layout)
    else:
        batch = minor.ndim - 1
        sides = list(zip(shape[max(batch, 0) :], values.shape[minor.ndim : minor.ndim + 2], strict=False))
        if batch < 0 or len(sides) != 2 or any(not side or n % side for n, side in sides):
            raise RuntimeError("a sparse tensor's blocks do not fit its size")
        result = Blocks(ends, minor, values, shape, layout)
        grid = result.grid
    when_filled(lambda: check(grid, order=False))
    return wrap(result)


def _is_sorted(places: np.ndarray) -> bool:
    """Whether the columns are in ascending order, which is checked because a file may claim it wrongly."""
    if not len(places):  # no dimension is sparse: all elements have one place
        return places.shape[1] < 2
    order = np.lexsort(places[::-1])
    same = (places[:, 1:] == places[:, :-1]).all(0)
    return bool((order == np.arange(places.shape[1])).all() and not same.any())


def is_rebuilder(function: Any) -> bool:
    """Whether a value is one of the functions that rebuild tensors; a file's value is not hashed to find out."""
    return type(function) is FunctionType and any(function is known for known in REBUILDERS)


def _rebuild_nested_tensor(buffer: Any, sizes: Any, strides: Any, storage_offsets: Any) -> Tensor:
    """A nested tensor of layout ``torch.strided``."""
    from .rebuilding_nested import rebuild_strided

    made: Tensor = rebuild_strided(buffer, sizes, strides, storage_offsets, when_filled)
    return made


def _rebuild_njt(constructor_kwargs: Any) -> Tensor:
    """A nested tensor of layout ``torch.jagged``."""
    from .rebuilding_nested import rebuild_jagged

    made: Tensor = rebuild_jagged(constructor_kwargs, when_filled)
    return made


class _DimRange:
    """A mark of PyTorch's tracer, which has nothing to do here."""

    def __setstate__(self, state: Any) -> None:
        pass


REFUSED = ("_rebuild_qtensor",)
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
        _rebuild_nested_tensor,
        _rebuild_njt,
        _rebuild_wrapper_subclass,
    )
)
OTHERS = (_rebuild_from_type_v2, _get_layout, _refuse_kind)
NAMES: dict[str, Any] = {f.__name__: f for f in (*REBUILDERS, *OTHERS)} | dict.fromkeys(REFUSED, _refuse_kind)
for _function in NAMES.values():
    _function.__module__ = "wengert._utils"  # where pickles say that it is
