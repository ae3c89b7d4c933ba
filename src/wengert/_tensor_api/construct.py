"""Making tensors from data: Python numbers and lists, NumPy arrays, buffers, DLPack; and what every maker checks.

``tensor`` copies and is never a view of anything; ``from_numpy``, ``as_tensor``, ``asarray``, ``frombuffer`` and
``from_dlpack`` share memory. Which dtype a list gets is PyTorch's rule: Python floats are of the default dtype,
NumPy numbers and tensors keep theirs, and mixtures are promoted.

The old constructors (``Tensor(3, 4)``, ``FloatTensor([1., 2.])``) are in ``_tensor_api.legacy_types``.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from .._base import dtypes as _dtypes
from .._base.dtypes import BY_NUMPY, PYTHON_NUMBERS, as_dtype, promote_types, type_name
from .._base.dtypes import dtype as Dtype
from .._base.errors import noted, warn, warn_once
from .._base.modes import M
from .._tape.node import leaf_node
from .._tape.promotion import cast, logical_dtype
from .._tape.tensor import CPU, Tensor, alias_payload, device_of, wrap

__all__ = ["as_tensor", "asarray", "from_dlpack", "from_numpy", "frombuffer", "tensor"]


# --------------------------------------------------------------------------------------------------- what all makers do
def made(a: Any, requires_grad: Any = False) -> Tensor:
    """A new tensor on an array that nothing else has, a leaf if asked for."""
    t = wrap(a)
    if requires_grad:
        if a.dtype.kind not in "fcV":
            raise noted(
                RuntimeError("Only Tensors of floating point and complex dtype can require gradients"),
                f"Why: the tensor is {BY_NUMPY[a.dtype]}, and a derivative needs a continuous value.",
                "What to do: give dtype=torch.float32, or write the numbers with a point.",
                code="W007",
            )
        leaf_node(t)
    if M:
        from .._tape.inference import mark_if_on

        mark_if_on(t)
    return t


def check_flag(value: Any, function: str, argument: str = "requires_grad") -> None:
    """An argument that must be a bool."""
    if type(value) is not bool:
        raise TypeError(f"{function}(): argument '{argument}' must be bool, not {type_name(value)}")


def meta_device(device: Any, function: str = "tensor") -> bool:
    """Whether a device is the one without data; PyTorch's errors, in a build without others, for all but the CPU."""
    if device is None or device is CPU:
        return False
    if isinstance(device, bool) or not isinstance(device, (str, int, _dtypes.device)):
        raise TypeError(f"{function}(): argument 'device' must be torch.device, not {type_name(device)}")
    kind = _dtypes.device(device).type
    if kind in ("cpu", "meta"):
        return kind == "meta"
    what = "wengert computes with NumPy on the CPU: leave out `device`, or give 'cpu'."
    if kind in ("cuda", "xpu", "mtia"):
        raise noted(AssertionError(f"Torch not compiled with {kind.upper()} enabled"), f"What to do: {what}")
    raise noted(RuntimeError(f"PyTorch is not linked with support for {kind} devices"), f"What to do: {what}")


def cpu_only(device: Any, function: str) -> None:
    """Refuse every device but the CPU."""
    if meta_device(device, function):
        raise NotImplementedError(f"{function}(): wengert makes such tensors on the CPU only, not on device 'meta'")


def placed(a: Any, device: Any, function: str = "tensor") -> Any:
    """A new array on a device: on "meta" all of it but the data."""
    if device is None or not meta_device(device, function):
        return a
    from .._payloads.meta import taken

    return taken(a)


def strided_only(layout: Any, function: str) -> None:
    """Refuse every layout but the ordinary one."""
    if layout is None or layout is _dtypes.strided:
        return
    if not isinstance(layout, _dtypes.layout):
        raise TypeError(f"{function}(): argument 'layout' must be torch.layout, not {type_name(layout)}")
    raise NotImplementedError(f"{function}(): wengert has no {layout!r} tensors; its layout is torch.strided")


def no_pinning(pin_memory: Any) -> None:
    """There is no accelerator to pin memory for."""
    if pin_memory:
        raise RuntimeError(
            "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator is available on "
            "this system."
        )


# --------------------------------------------------------------------------------------------------------------- tensor
def tensor(
    data: Any, *, dtype: Dtype | None = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """A new leaf tensor with a copy of ``data``: a number, nested lists or tuples, a NumPy array, a tensor.

    Without ``dtype`` Python floats become the default dtype (float32), ints int64, bools bool, complex numbers the
    complex dtype of the default; NumPy numbers and arrays keep theirs; mixtures are promoted. A tensor is copied
    without its history, with a warning that names the clearer form.

    Raises:
        ValueError: lists of unequal lengths, or an int that does not fit into int64.
        TypeError: strings, object arrays, numbers that the dtype cannot hold (complex into real).
        RuntimeError: something that is no number, an int that does not fit into the dtype, ``requires_grad`` for
            an integer or bool tensor.

    >>> import wengert as torch
    >>> torch.tensor([[1., 2.], [3., 4.]], requires_grad=True)
    tensor([[1., 2.],
            [3., 4.]], requires_grad=True)
    >>> torch.tensor([1, 2.5]), torch.tensor(True), torch.tensor([], dtype=torch.int64)
    (tensor([1.0000, 2.5000]), tensor(True), tensor([], dtype=torch.int64))
    """
    if dtype is None:
        if type(data) is float and device is None and requires_grad is False and -6e4 < data < 6e4:
            number = _dtypes.default_np  # the commonest call, without the checks it does not need
            if number.itemsize > 2:
                return made(number.type(data)) if M else wrap(number.type(data))
    elif type(dtype) is not Dtype:
        dtype = as_dtype(dtype, "tensor")
    meta = device is not None and meta_device(device)
    if pin_memory:
        no_pinning(pin_memory)
    if type(requires_grad) is not bool:
        check_flag(requires_grad, "tensor")
    if isinstance(data, Tensor):
        warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor)."
        )
        return made(moved_array(array_of(data, dtype), device, "tensor"), requires_grad)
    a = array_of(data, dtype)
    return made(placed(a, device) if meta else a, requires_grad)


def moved_array(a: Any, device: Any, function: str) -> Any:
    """A payload on another device; what has no data cannot go to the CPU."""
    if device is None:
        return a
    meta = meta_device(device, function)
    if device_of(a) is CPU:
        return placed(a, device) if meta else a
    if not meta:
        from .._payloads.meta import no_data

        raise no_data()
    return a


def array_of(data: Any, dtype: Dtype | None = None) -> Any:
    """The payload of a new tensor with this data: an array or NumPy number that nothing else has."""
    ty = type(data)
    if ty is list or ty is tuple:
        return _of_nested(data, dtype)
    if ty in PYTHON_NUMBERS:
        return _of_numbers([data], {ty: None}, dtype)[0]
    if isinstance(data, Tensor):
        return _copied(data, dtype)
    if isinstance(data, (np.ndarray, np.generic)):
        a = checked_array(data)
        return (
            a.astype(BY_NUMPY[a.dtype].np if dtype is None else dtype.np) if dtype is None else converted(a, dtype.np)
        )
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{ty.__name__}'")
    if hasattr(data, "__dlpack__") and hasattr(data, "__dlpack_device__"):
        a = np.array(np.from_dlpack(data))
        return a if dtype is None else converted(a, dtype.np)
    if _is_sequence(data):
        return _of_nested(_listed(data), dtype)
    if isinstance(data, (int, float, complex)) or dtype is not None:
        return _of_numbers([data], {ty: None}, dtype)[0]
    raise _no_dtype(ty)


def _listed(data: Any) -> list[Any]:
    return [data[i] for i in range(len(data))]


def _copied(data: Tensor, dtype: Dtype | None) -> Any:
    """A tensor's payload, copied and without history; the values of a transform stay such."""
    a = data._a
    if isinstance(a, np.generic):
        return a if dtype is None else converted(a, dtype.np)
    if isinstance(a, np.ndarray):
        return a.copy() if dtype is None else converted(a, dtype.np)
    detached = wrap(a)
    if dtype is not None:
        detached = cast(detached, dtype.np)
    return detached._a.copy() if hasattr(detached._a, "copy") else detached._a


def converted(a: Any, np_dtype: Any) -> Any:
    """A copy in another dtype, by C++'s rules: complex to real drops the imaginary part, float64 goes to float16 by
    way of float32."""
    if a.dtype.kind == "c" and np_dtype.kind not in "cb":
        a = a.real
    with np.errstate(all="ignore"):
        if np_dtype.itemsize == 2 and np_dtype.kind in "fV" and a.dtype.itemsize > 4:
            a = a.astype(np.float32)
        return a.astype(np_dtype)


def checked_array(a: Any) -> Any:
    """A NumPy array or number whose elements a tensor can have."""
    BY_NUMPY[a.dtype]
    if isinstance(a, np.ndarray):
        for stride in a.strides:
            if stride < 0:
                raise noted(
                    ValueError(
                        "At least one stride in the given numpy array is negative, and tensors with negative strides "
                        "are not currently supported. (You can probably work around this by making a copy of your "
                        "array  with array.copy().) "
                    ),
                    f"Why: the array is a reversed view, of strides {a.strides}.",
                )
            if stride % a.dtype.itemsize:
                raise ValueError(
                    "given numpy array strides not a multiple of the element byte size. Copy the numpy array to "
                    "reallocate the memory."
                )
    return a


# --------------------------------------------------------------------------------------------------------- nested lists
def _of_nested(data: Any, dtype: Dtype | None) -> Any:
    """An array from nested sequences: level by level flat, so that each level costs a few calls for all its items."""
    shape = [len(data)]
    flat = data
    kinds = dict.fromkeys(map(type, flat))
    while flat and not kinds.keys() <= PYTHON_NUMBERS and _is_sequence(flat[0]):
        flat, length = _opened(flat, kinds, len(shape))
        shape.append(length)
        if len(shape) > 64:
            raise ValueError(f"too many dimensions '{type_name(flat[0])}'")
        if isinstance(flat, np.ndarray):  # a list of arrays: what is inside of them is known
            shape[-1:] = flat.shape[1:]
            return converted(flat, (dtype or BY_NUMPY[flat.dtype]).np).reshape(shape)
        if not length:
            break
        kinds = dict.fromkeys(map(type, flat))
    if not flat:
        return np.empty(shape, (dtype or _dtypes.default_dtype).np)
    a = _of_numbers(flat, kinds, dtype)
    return a if len(shape) == 1 else a.reshape(shape)


def _is_sequence(item: Any) -> bool:
    ty = type(item)
    if ty is list or ty is tuple:
        return True
    if ty in PYTHON_NUMBERS or isinstance(item, (int, float, complex, Tensor, np.generic, dict, set, frozenset)):
        return False
    if isinstance(item, str):
        raise ValueError("too many dimensions 'str'")
    if isinstance(item, np.ndarray):
        return item.ndim > 0
    return hasattr(item, "__getitem__") and hasattr(item, "__len__") and not isinstance(item, type)


def _opened(flat: Any, kinds: dict[type, None], dim: int) -> tuple[Any, int]:
    """One level of sequences replaced by what is in them, and the length that they have in common."""
    plain = kinds.keys() <= _LISTS
    if not plain:
        if all(issubclass(ty, np.ndarray) for ty in kinds):
            return _stacked(flat, dim)
        for item in flat:
            if not _is_sequence(item):
                raise noted(
                    TypeError("not a sequence"),
                    f"Why: at dim {dim} the first item is a sequence and another one is a {type_name(item)}.",
                )
    length, *others = dict.fromkeys(map(len, flat))
    if others:
        raise noted(
            ValueError(f"expected sequence of length {length} at dim {dim} (got {others[0]})"),
            "Why: the nested lists are ragged, and every row of a tensor has the same length.",
            "What to do: pad the shorter ones, or keep a list of tensors.",
        )
    if not plain:
        flat = [item if type(item) in _LISTS else _listed(item) for item in flat]
    return list(chain.from_iterable(flat)), length


_LISTS = frozenset((list, tuple))


def _stacked(arrays: Any, dim: int) -> tuple[Any, int]:
    shapes = dict.fromkeys(a.shape for a in arrays)
    shape, *others = shapes
    for other in others:
        for d, (m, n) in enumerate(zip(shape, other, strict=False)):
            if m != n:
                raise ValueError(f"expected sequence of length {m} at dim {dim + d} (got {n})")
        raise TypeError("not a sequence")
    dtypes = list(dict.fromkeys(BY_NUMPY[a.dtype] for a in arrays))
    common = dtypes[0]
    for other_dtype in dtypes[1:]:
        common = promote_types(common, other_dtype)
    return np.array([converted(a, common.np) for a in arrays] if len(dtypes) > 1 else arrays), shape[0]


def _of_numbers(flat: list[Any], kinds: dict[type, None], dtype: Dtype | None) -> Any:
    """A one-dimensional array of numbers of these types."""
    if dtype is None:
        dtype = _inferred(flat, kinds)
    np_dtype = dtype.np
    if not kinds.keys() <= PYTHON_NUMBERS:
        flat = [_number(x, np_dtype) for x in flat]
        kinds = dict.fromkeys(map(type, flat))
    kind = np_dtype.kind
    if kind == "f" and np_dtype.itemsize > 2 and _modest(flat, kinds):
        return np.array(flat, np_dtype)
    try:
        if kind in "iu":
            return _integers(flat, kinds, np_dtype)
        if kind == "b":
            return np.array([bool(x) for x in flat], np.bool_)
        if kind == "f" and complex in kinds:
            raise TypeError("must be real number, not complex")
        with np.errstate(over="ignore"):
            if np_dtype.itemsize == 2:
                return np.array(flat, np.float32).astype(np_dtype)
            return np.array(flat, np_dtype)
    except OverflowError as error:
        if kind == "i":
            raise ValueError("Overflow when unpacking long long") from None
        if kind == "u":
            negative = any(x < 0 for x in flat)
            raise OverflowError(
                "can't convert negative int to unsigned" if negative else "int too big to convert"
            ) from None
        raise error from None


def _modest(flat: list[Any], kinds: dict[type, None]) -> bool:
    """Whether a few real numbers are so small that no dtype overflows: then NumPy need not be told to be silent."""
    return len(flat) < 32 and complex not in kinds and min(flat) > -6e4 and max(flat) < 6e4


def _inferred(flat: list[Any], kinds: dict[type, None]) -> Dtype:
    """The dtype that PyTorch gives to numbers of these types together."""
    if len(kinds) == 1 and float in kinds:
        return _dtypes.default_dtype
    found: dict[Dtype, None] = {}
    for ty in kinds:
        if issubclass(ty, Tensor):
            found.update(dict.fromkeys(BY_NUMPY[logical_dtype(t)] for t in flat if type(t) is ty))
        elif issubclass(ty, np.generic):
            found[BY_NUMPY[np.dtype(ty)]] = None
        elif issubclass(ty, np.ndarray):
            found.update(dict.fromkeys(BY_NUMPY[a.dtype] for a in flat if type(a) is ty))
        elif issubclass(ty, float):
            found[_dtypes.default_dtype] = None
        elif issubclass(ty, bool):
            found[_dtypes.bool_] = None
        elif issubclass(ty, int):
            found[_dtypes.int64] = None
        elif issubclass(ty, complex):
            found[_dtypes.default_complex_dtype] = None
        elif not issubclass(ty, (list, tuple)):  # a list among numbers is refused when it is to become one
            raise _no_dtype(ty)
    common, *others = found
    for other in others:
        common = promote_types(common, other)
    return common


def _no_dtype(ty: type) -> Exception:
    if issubclass(ty, (str, bytes)):
        return TypeError(f"new(): invalid data type '{ty.__name__}'")
    name = ty.__name__ if ty.__module__ == "builtins" or ty.__flags__ & (1 << 9) else f"{ty.__module__}.{ty.__name__}"
    return noted(
        RuntimeError(f"Could not infer dtype of {name}"),
        "Why: a tensor is made of numbers: Python's, NumPy's, or tensors of one element, in lists or tuples.",
    )


def _number(x: Any, np_dtype: Any) -> Any:
    """An item that is not one of Python's own numbers, as one."""
    if isinstance(x, Tensor):
        if x._a.size != 1:
            raise noted(
                ValueError("only one element tensors can be converted to Python scalars"),
                f"Why: the list holds a tensor of shape {list(x.shape)}.",
                "What to do: torch.stack(list) makes one tensor of many, and keeps their gradients.",
            )
        return x.item()
    if isinstance(x, np.generic):
        return x.item()
    if isinstance(x, np.ndarray) and x.ndim == 0:
        return x.item()
    if isinstance(x, (bool, int, float, complex)):
        return x
    wanted = "an integer" if np_dtype.kind in "iub" else "a real number"
    try:
        if np_dtype.kind in "iub":
            return x.__index__()
        if np_dtype.kind == "c" and hasattr(x, "__complex__"):
            return complex(x)
        return float(x.__float__() if hasattr(x, "__float__") else x.__index__())
    except AttributeError:
        name = type_name(x)
        message = (
            f"'{name}' object cannot be interpreted as an integer"
            if wanted == "an integer"
            else (f"must be real number, not {name}")
        )
        raise TypeError(message) from None


def _integers(flat: list[Any], kinds: dict[type, None], np_dtype: Any) -> Any:
    """Python numbers into integers: fractions are cut off, what does not fit is refused."""
    if not kinds.keys() <= _WHOLE:
        flat = [_whole(x, np_dtype) for x in flat]
    if np_dtype.itemsize == 8:
        return np.array(flat, np_dtype)
    wide = np.array(flat, np.int64)
    largest = int(np.iinfo(np_dtype).max)
    smallest = -largest if np_dtype.kind == "u" else -largest - 1  # a negative number wraps around, as in C++
    if wide.size and (wide.max() > largest or wide.min() < smallest):
        raise RuntimeError(f"value cannot be converted to type {np_dtype.name} without overflow")
    return wide.astype(np_dtype)


_WHOLE = frozenset((int, bool))


def _whole(x: Any, np_dtype: Any) -> int:
    if isinstance(x, complex):
        raise TypeError("'complex' object cannot be interpreted as an integer")
    if isinstance(x, float) and not -(2.0**63) <= x < 2.0**63:
        raise RuntimeError(f"value cannot be converted to type {np_dtype.name} without overflow")
    return int(x)


# ------------------------------------------------------------------------------------------------------- sharing memory
def from_numpy(ndarray: np.ndarray) -> Tensor:
    """A tensor on the memory of a NumPy array: what is written to one is seen in the other.

    Of a read-only array it is a read-only tensor (a warning says so, once): writing to it is an error.

    Raises:
        TypeError: not a NumPy array, or of a dtype that PyTorch does not have (objects, strings, ...).
        ValueError: negative strides, or not in native byte order.

    >>> import numpy as np, wengert as torch
    >>> a = np.zeros(3)
    >>> t = torch.from_numpy(a)
    >>> a[0] = 5
    >>> t
    tensor([5., 0., 0.], dtype=torch.float64)
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type_name(ndarray)})")
    return made(_shared(ndarray))


def _shared(a: np.ndarray) -> np.ndarray:
    checked_array(a)
    if not a.flags.writeable:
        warn_once(
            "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means "
            "writing to this tensor will result in undefined behavior. You may want to copy the array to protect its "
            "data or make it writable before converting it to a tensor. This type of warning will be suppressed for "
            "the rest of this program. (In wengert writing to it is an error.)"
        )
    return a.view(np.ndarray) if type(a) is not np.ndarray else a[...]


def as_tensor(data: Any, dtype: Dtype | None = None, device: Any = None) -> Tensor:
    """``data`` as a tensor, without a copy where that is possible.

    A tensor of the right dtype is returned as it is, one of another dtype converted (recorded); a NumPy array shares
    its memory; everything else is as in ``tensor``.

    >>> import numpy as np, wengert as torch
    >>> a = np.array([1, 2])
    >>> t = torch.as_tensor(a)
    >>> t[0] = 7
    >>> a
    array([7, 2])
    """
    if dtype is not None:
        dtype = as_dtype(dtype, "as_tensor")
    meta = device is not None and meta_device(device, "as_tensor")
    if isinstance(data, Tensor):
        data = data if device is None else data.to(device)
        return data if dtype is None else cast(data, dtype.np)
    if isinstance(data, np.ndarray):
        checked_array(data)
        if not meta and (dtype is None or dtype.np is data.dtype):
            return from_numpy(data)
    return made(placed(array_of(data, dtype), device) if meta else array_of(data, dtype))


def asarray(
    obj: Any,
    *,
    dtype: Dtype | None = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """``obj`` as a tensor: shared memory for tensors, NumPy arrays, DLPack and buffers, else as ``tensor``.

    ``copy=True`` always copies, ``copy=False`` never: where sharing is impossible it is a ValueError.
    ``requires_grad``: by default that of a tensor, else False. A buffer (bytes, array.array) without ``dtype`` is
    read as the default dtype, as PyTorch does.

    >>> import wengert as torch
    >>> torch.asarray([1, 2], dtype=torch.float32)
    tensor([1., 2.])
    >>> t = torch.ones(2)
    >>> torch.asarray(t) is t
    True
    """
    if dtype is not None:
        dtype = as_dtype(dtype, "asarray")
    meta = meta_device(device, "asarray")
    t = _aliased(obj, dtype)
    if t is None:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        a = array_of(obj, dtype)
        return made(placed(a, device) if meta else a, requires_grad)
    if device is not None and (device_of(t._a) is CPU) is meta:
        if copy is False:
            raise ValueError(f"can't alias tensor from device '{t.device}' to '{_dtypes.device(device)}'.")
        t = t.to(device)
    if dtype is not None and dtype.np is not logical_dtype(t):
        if copy is False:
            have = BY_NUMPY[logical_dtype(t)].scalar_name
            raise ValueError(f"can't alias tensor with dtype '{have}' into dtype '{dtype.scalar_name}'.")
        t = cast(t, dtype.np)
    elif copy:
        t = t.clone()
    if requires_grad is None or bool(requires_grad) == t.requires_grad:
        return t
    return t.requires_grad_() if requires_grad else t.detach()


def _aliased(obj: Any, dtype: Dtype | None) -> Tensor | None:
    """A tensor on the memory of what has some; ``None`` for sequences and numbers."""
    if isinstance(obj, Tensor):
        return obj
    if isinstance(obj, np.ndarray):
        return from_numpy(obj)
    if isinstance(obj, np.generic):
        return made(checked_array(obj))
    if hasattr(obj, "__dlpack__") and hasattr(obj, "__dlpack_device__"):
        return from_dlpack(obj)
    try:
        memoryview(obj)
    except TypeError:
        from .storage import on_storage

        array = on_storage(obj, dtype)
        return None if array is None else wrap(array)
    return frombuffer(obj, dtype=dtype or _dtypes.default_dtype)


def frombuffer(buffer: Any, *, dtype: Dtype, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """A 1-dimensional tensor on the memory of an object with Python's buffer protocol.

    ``count`` elements (all if it is negative) from ``offset`` bytes on. Of a read-only buffer (bytes) the tensor is
    read-only.

    >>> import wengert as torch
    >>> torch.frombuffer(bytearray(b"abcd"), dtype=torch.uint8, count=2, offset=1)
    tensor([98, 99], dtype=torch.uint8)
    """
    dtype = as_dtype(dtype, "frombuffer")
    try:
        view = memoryview(buffer)
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    length, size = view.nbytes, dtype.itemsize
    if length <= 0 or count == 0:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} bytes) minus 1"
        )
    if count < 0:
        if (length - offset) % size:
            raise ValueError(
                f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a multiple of element "
                f"size ({size})"
            )
        count = (length - offset) // size
    elif offset + count * size > length:
        raise ValueError(
            f"requested buffer length ({count} * {size} bytes) after offset ({offset} bytes) must not be greater than "
            f"actual buffer length ({length} bytes)"
        )
    if view.readonly:
        warn_once(
            "The given buffer is not writable, and PyTorch does not support non-writable tensors. This means you can "
            "write to the underlying (supposedly non-writable) buffer using the tensor. You may want to copy the "
            "buffer to protect its data or make it writable before converting it to a tensor. This type of warning "
            "will be suppressed for the rest of this program. (In wengert writing to it is an error.)"
        )
    return made(np.frombuffer(buffer, dtype.np, count, offset), requires_grad)


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor on the memory of another library's array, by the DLPack protocol.

    Raises:
        BufferError: the other library does not give it (a tensor that requires grad).
        TypeError: not an object with ``__dlpack__``.

    >>> import numpy as np, wengert as torch
    >>> torch.from_dlpack(np.arange(3.))
    tensor([0., 1., 2.], dtype=torch.float64)
    """
    cpu_only(device, "from_dlpack")
    if isinstance(ext_tensor, Tensor):
        ext_tensor.__dlpack_device__()
        ext_tensor._refuse_export()  # type: ignore[attr-defined]
        a = alias_payload(ext_tensor)
        return made(a.copy() if copy else a[...])
    if not hasattr(ext_tensor, "__dlpack__"):
        raise noted(
            TypeError(f"from_dlpack(): expected an object with __dlpack__, not {type_name(ext_tensor)}"),
            "What to do: give the array itself and not a capsule.",
        )
    return made(_taken(ext_tensor, copy))


def _taken(ext: Any, copy: bool | None) -> np.ndarray:
    if isinstance(ext, np.ndarray):  # np.from_dlpack refuses read-only arrays of its own
        return checked_array(ext).copy() if copy else _shared(ext)
    a = np.from_dlpack(ext)
    return checked_array(a).copy() if copy else checked_array(a)


FACTORIES = (tensor, as_tensor, asarray, from_numpy, from_dlpack, frombuffer)
"""The functions that are public under their own names and are no operators."""
