"""Tensors from data (Python numbers and lists, NumPy arrays, buffers, DLPack), and the checks that all makers share.

``tensor`` copies and is never a view of anything; ``from_numpy``, ``as_tensor``, ``asarray``, ``frombuffer`` and
``from_dlpack`` share memory. The dtype of a list follows PyTorch's rule: Python floats have the default dtype, NumPy
numbers and tensors keep their dtypes, and mixtures are promoted.

The old constructors (``Tensor(3, 4)``, ``FloatTensor([1., 2.])``) are in ``_tensor_api.legacy_types``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base import dtypes as _dtypes
from .._base.dtypes import BY_NUMPY, PYTHON_NUMBERS, as_dtype, type_name
from .._base.dtypes import dtype as Dtype
from .._base.errors import noted, refuse_unknown, refuses_unknown, warn, warn_once
from .._base.modes import new_tensors, slow_if_recording
from .._base.registry import publish
from .._payloads.meta import Meta, no_data, taken
from .._tape.inference import mark_if_on
from .._tape.node import leaf_node
from .._tape.promotion import cast, logical_dtype
from .._tape.tensor import CPU, Tensor, device_of, given_away, make, wrap
from .nested_lists import array_of_nested, array_of_numbers, converted, is_sequence, listed, no_dtype, number_of_its_own

__all__ = ["as_tensor", "asarray", "from_dlpack", "from_numpy", "frombuffer", "tensor"]


# ---- what all makers do
def made(a: Any, requires_grad: Any = False) -> Tensor:
    """A new tensor on an unshared array; a leaf that requires grad if ``requires_grad`` is true."""
    t = make()
    t._payload = a
    t._box = t._node = None
    if requires_grad:
        if a.dtype.kind not in "fcV":
            raise noted(
                RuntimeError("Only Tensors of floating point and complex dtype can require gradients"),
                f"Why: the tensor is {BY_NUMPY[a.dtype]}, and a derivative needs a continuous value.",
                "What to do: write the numbers with a point, torch.tensor([1., 2.]), or give dtype=torch.float32.",
                code="W007",
            )
        leaf_node(t)
    if slow_if_recording:
        mark_if_on(t)
        for tell in new_tensors:
            tell(t)
    return t


def check_flag(value: Any, function: str, argument: str = "requires_grad") -> None:
    """Check an argument that must be a bool."""
    if type(value) is not bool:
        raise TypeError(f"{function}(): argument '{argument}' must be bool, not {type_name(value)}")


def meta_device(device: Any, function: str = "tensor") -> bool:
    """Whether a device is "meta"; other devices than the CPU and libraries' raise a CPU-only PyTorch's errors."""
    if device is None or device is CPU:
        return False
    if isinstance(device, bool) or not isinstance(device, (str, int, _dtypes.device)):
        raise TypeError(f"{function}(): argument 'device' must be torch.device, not {type_name(device)}")
    kind = _dtypes.device(device).type
    if kind in ("cpu", "meta"):
        return kind == "meta"
    from .._payloads.foreign import library_at

    if library_at(kind) is not None:
        return False
    what = "wengert computes with NumPy on the CPU: leave out `device`, or give 'cpu'."
    if kind in ("cuda", "xpu", "mtia"):
        raise noted(AssertionError(f"Torch not compiled with {kind.upper()} enabled"), f"What to do: {what}")
    if function in _COPIES:
        raise noted(RuntimeError(f"PyTorch is not linked with support for {kind} devices"), f"What to do: {what}")
    operator = "empty_strided" if function.endswith("_like") else "empty.memory_format"
    raise noted(
        NotImplementedError(
            f"Could not run 'aten::{operator}' with arguments from the '{kind.upper()}' backend. This could be because "
            "the operator doesn't exist for this backend, or was omitted during the selective/custom build process (if "
            "using custom build)."
        ),
        f"What to do: {what}",
    )


_COPIES = ("tensor", "as_tensor", "asarray", "to")  # what is made on the CPU first


def elsewhere(device: Any, make: Any, shape: tuple[int, ...], np_dtype: Any, function: str = "tensor") -> Any:
    """A new payload on a device beside the CPU, by the function of ``make``'s name there; ``None`` for the CPU."""
    if device is None or device is CPU:
        return None
    if meta_device(device, function):
        return Meta(shape, np_dtype)
    device = _dtypes.device(device)
    if device is CPU or device.type == "cpu":
        return None
    from .._payloads.foreign import library_at

    return library_at(device.type).make(make, shape, np_dtype, device.index)


def cpu_only(device: Any, function: str) -> None:
    """Raise for every device but the CPU."""
    if meta_device(device, function) or (device is not None and _dtypes.device(device).type != "cpu"):
        raise NotImplementedError(f"{function}(): wengert makes such tensors on the CPU only, not on device '{device}'")


def placed(a: Any, device: Any, function: str = "tensor") -> Any:
    """A new array on a device: on "meta" without its data, on a library's as an array of the library."""
    if device is None or device is CPU:
        return a
    if meta_device(device, function):
        return a if type(a) is Meta else taken(a)
    device = _dtypes.device(device)
    if device.type == "cpu":
        return a
    from .._payloads.foreign import moved

    return moved(a, device)


def placed_beside(like: Tensor, a: Any) -> Tensor:
    """A new tensor on an array, on the device of another tensor."""
    return wrap(placed(a, device_of(like._payload)))


def strided_only(layout: Any, function: str) -> None:
    """Raise for every layout but ``strided``."""
    if layout is None or layout is _dtypes.strided:
        return
    if not isinstance(layout, _dtypes.layout):
        raise TypeError(f"{function}(): argument 'layout' must be torch.layout, not {type_name(layout)}")
    raise NotImplementedError(f"{function}(): wengert has no {layout!r} tensors; its layout is torch.strided")


def no_pinning(pin_memory: Any) -> None:
    """Raise if memory is to be pinned: there is no accelerator."""
    if not pin_memory:
        return
    from .._payloads.foreign import can_pin

    if not can_pin():
        raise RuntimeError(
            "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator is available on "
            "this system."
        )


def number_of(value: Any, function: str, argument: str, position: int) -> Any:
    """Convert a Python number, a NumPy number or a 0-dimensional tensor to a Python number."""
    if type(value) in PYTHON_NUMBERS:
        return value
    if isinstance(value, Tensor) and value._payload.ndim == 0 and value._node is None:
        return value.item()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (int, float, complex)):
        return value
    raise TypeError(f"{function}(): argument '{argument}' (position {position}) must be Number, not {type_name(value)}")


# ---- tensor
@refuses_unknown
def tensor(
    data: Any, *, dtype: Dtype | None = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
    **unknown: Any,
) -> Tensor:  # fmt: skip
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
    if unknown:
        refuse_unknown(tensor, "tensor", unknown)
    if dtype is None:
        if type(data) is float and device is None and requires_grad is False and -6e4 < data < 6e4:
            number = _dtypes.default_np  # the most common call, without unneeded checks
            if number.itemsize > 2:
                return made(number.type(data)) if slow_if_recording else wrap(number.type(data))
    wanted = dtype if dtype is None or type(dtype) is Dtype else as_dtype(dtype, "tensor")
    away = device is not None and device is not CPU
    if pin_memory:
        no_pinning(pin_memory)
    if type(requires_grad) is not bool:
        check_flag(requires_grad, "tensor")
    if isinstance(data, Tensor):
        warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor)."
        )
        return made(moved_array(array_of(data, wanted), device, "tensor"), requires_grad)
    a = array_of(data, wanted)
    return made(placed(a, device) if away else a, requires_grad)


def moved_array(a: Any, device: Any, function: str) -> Any:
    """A payload on another device; a payload without data cannot move to the CPU."""
    if device is None or (device is CPU and type(a) is np.ndarray):
        return a
    if device_of(a) is CPU:
        return placed(a, device, function)
    if getattr(a, "is_foreign", False):
        from .._payloads.foreign import moved

        return moved(a, _dtypes.device(device))
    if not meta_device(device, function):
        raise no_data()
    return a


def array_of(data: Any, dtype: Dtype | None = None) -> Any:
    """The payload of a new tensor with this data: an unshared array or a NumPy number."""
    ty = type(data)
    if ty is list or ty is tuple:
        return array_of_nested(data, dtype)
    if ty in PYTHON_NUMBERS:
        a = number_of_its_own(data, ty) if dtype is None else None
        return array_of_numbers([data], {ty: None}, dtype)[0] if a is None else a
    if isinstance(data, Tensor):
        return _copied(data, dtype)
    if isinstance(data, (np.ndarray, np.generic)):
        a = checked_array(data)
        return a.astype(BY_NUMPY[a.dtype].np) if dtype is None else converted(a, dtype.np)
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{ty.__name__}'")
    library = _library_of(ty)
    if library is not None:
        a = library.payload(data)
        return a.copy() if dtype is None else a.astype(dtype.np)
    if hasattr(data, "__dlpack__") and hasattr(data, "__dlpack_device__"):
        a = np.array(np.from_dlpack(data))
        return a if dtype is None else converted(a, dtype.np)
    if is_sequence(data):
        return array_of_nested(listed(data), dtype)
    if isinstance(data, (int, float, complex)) or dtype is not None:
        return array_of_numbers([data], {ty: None}, dtype)[0]
    raise no_dtype(data)


def _library_of(ty: type) -> Any:
    """The library of a class of arrays, ``None`` for every other class."""
    from .._payloads.foreign import library_of

    return library_of(ty)


def _copied(data: Tensor, dtype: Dtype | None) -> Any:
    """A copy of a tensor's payload without history; a batch remains one."""
    a = getattr(data._payload, "constant", data._payload)
    if isinstance(a, np.generic):
        return a if dtype is None else converted(a, dtype.np)
    if isinstance(a, np.ndarray):
        return a.copy() if dtype is None else converted(a, dtype.np)
    detached = wrap(a)
    if dtype is not None:
        detached = cast(detached, dtype.np)
    return detached._payload.copy() if hasattr(detached._payload, "copy") else detached._payload


def checked_array(a: Any) -> Any:
    """A NumPy array or number, checked: a tensor can have its elements. Its dtype is the one object of that dtype.

    NumPy makes equal dtypes that are other objects, as when it reads a pickle; operators compare dtypes with ``is``.
    """
    dtype = BY_NUMPY[a.dtype].np
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
    return a if a.dtype is dtype else a.view(dtype)


# ---- sharing memory
def from_numpy(ndarray: np.ndarray) -> Tensor:
    """A tensor on the memory of a NumPy array: a write to one changes the other.

    A read-only array makes a read-only tensor, with one warning per process: writing to it raises.

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
    a = checked_array(a)
    if not a.flags.writeable:
        warn_once(
            "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means "
            "writing to this tensor will result in undefined behavior. You may want to copy the array to protect its "
            "data or make it writable before converting it to a tensor. This type of warning will be suppressed for "
            "the rest of this program. (In wengert writing to it is an error.)"
        )
    return a.view(np.ndarray) if type(a) is not np.ndarray else a[...]


def as_tensor(data: Any, dtype: Dtype | None = None, device: Any = None) -> Tensor:
    """``data`` as a tensor, without a copy if possible.

    A tensor of the right dtype is returned unchanged, a tensor of another dtype is converted (recorded); a NumPy array
    shares its memory; all other data are treated as in ``tensor``.

    >>> import numpy as np, wengert as torch
    >>> a = np.array([1, 2])
    >>> t = torch.as_tensor(a)
    >>> t[0] = 7
    >>> a
    array([7, 2])
    """
    wanted = None if dtype is None else as_dtype(dtype, "as_tensor")
    away = device is not None and device is not CPU and _dtypes.device(device).type != "cpu"
    if isinstance(data, Tensor):
        t = data if device is None else data.to(device)
        return t if wanted is None else cast(t, wanted.np)
    if isinstance(data, np.ndarray):
        checked_array(data)
        if not away and (wanted is None or wanted.np is data.dtype):
            return from_numpy(data)
    elif (library := _library_of(type(data))) is not None:
        t = made(library.payload(data))
        t = t if device is None else t.to(device)
        return t if wanted is None else cast(t, wanted.np)
    a = array_of(data, wanted)
    return made(placed(a, device, "as_tensor") if away else a)


def asarray(
    obj: Any,
    *,
    dtype: Dtype | None = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """``obj`` as a tensor: shared memory for tensors, NumPy arrays, DLPack and buffers, else as ``tensor``.

    ``copy=True`` always copies, ``copy=False`` never: it raises ValueError if sharing is impossible.
    ``requires_grad``: by default that of a tensor, else False. A buffer (bytes, array.array) without ``dtype`` is
    read as the default dtype, as in PyTorch.

    >>> import wengert as torch
    >>> torch.asarray([1, 2], dtype=torch.float32)
    tensor([1., 2.])
    >>> t = torch.ones(2)
    >>> torch.asarray(t) is t
    True
    """
    wanted = None if dtype is None else as_dtype(dtype, "asarray")
    if copy is not None:
        check_flag(copy, "asarray", "copy")
    if requires_grad is not None:
        check_flag(requires_grad, "asarray")
    t = _aliased(obj, wanted)
    if t is None:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        return made(placed(array_of(obj, wanted), device, "asarray"), requires_grad)
    if device is not None and device_of(t._payload) is not device_of(placed(np.empty(0), device, "asarray")):
        if copy is False:
            raise ValueError(f"can't alias tensor from device '{t.device}' to '{_dtypes.device(device)}'.")
        t = t.to(device)
    if wanted is not None and wanted.np is not logical_dtype(t):
        if copy is False:
            have = BY_NUMPY[logical_dtype(t)].scalar_name
            raise ValueError(f"can't alias tensor with dtype '{have}' into dtype '{wanted.scalar_name}'.")
        t = cast(t, wanted.np)
    elif copy:
        t = t.clone()
    if requires_grad is None and t.requires_grad:
        warn_once(
            "torch.asarray: unspecified requires_grad now defaults to obj.requires_grad instead of False. Pass "
            "requires_grad=False explicitly to get the old behavior and silence this warning."
        )
    if requires_grad is None or requires_grad == t.requires_grad:
        return t
    return t.requires_grad_() if requires_grad else t.detach()


def _aliased(obj: Any, dtype: Dtype | None) -> Tensor | None:
    """A tensor on the memory of an object; ``None`` for sequences and numbers."""
    if isinstance(obj, Tensor):
        return obj
    if isinstance(obj, np.ndarray):
        return from_numpy(obj)
    if isinstance(obj, np.generic):
        return made(checked_array(obj))
    library = _library_of(type(obj))
    if library is not None:
        return made(library.payload(obj))
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

    It has ``count`` elements (all if negative) from ``offset`` bytes on. A read-only buffer (bytes) makes a read-only
    tensor.

    >>> import wengert as torch
    >>> torch.frombuffer(bytearray(b"abcd"), dtype=torch.uint8, count=2, offset=1)
    tensor([98, 99], dtype=torch.uint8)
    """
    np_dtype = as_dtype(dtype, "frombuffer").np
    if not isinstance(count, (int, np.integer)) or not isinstance(offset, (int, np.integer)):
        raise TypeError("frombuffer(): the arguments 'count' and 'offset' must be int")
    try:
        view = memoryview(buffer)
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    length, size = view.nbytes, np_dtype.itemsize
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
    return made(np.frombuffer(buffer, np_dtype, max(count, -1), offset), requires_grad)


class _Carrier:
    """An object with the methods of DLPack's protocol that wraps a capsule of memory on the CPU."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


class _Writable:
    """A capsule's memory: one of the first version cannot say that it may be written to, so NumPy forbids it."""

    def __init__(self, a: np.ndarray) -> None:
        self._array = a
        self.__array_interface__ = {**a.__array_interface__, "data": (a.__array_interface__["data"][0], False)}


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor on the memory of another library's array, or of a capsule, by the DLPack protocol.

    Raises:
        BufferError: the other library does not export it (a tensor that requires grad).
        RuntimeError: not an object with ``__dlpack__``.

    >>> import numpy as np, wengert as torch
    >>> torch.from_dlpack(np.arange(3.))
    tensor([0., 1., 2.], dtype=torch.float64)
    """
    if type(ext_tensor).__name__ == "PyCapsule":
        try:
            ext_tensor = np.asarray(_Writable(np.from_dlpack(_Carrier(ext_tensor))))
        except ValueError:
            raise _invalid_capsule("the capsule's memory was taken before.") from None
    library = _library_of(type(ext_tensor))
    if library is not None:
        t = made(library.payload(ext_tensor.copy() if copy else ext_tensor))
        return t if device is None else t.to(device)
    cpu_only(device, "from_dlpack")
    if isinstance(ext_tensor, Tensor):
        ext_tensor.__dlpack_device__()
        ext_tensor._refuse_export()
        if getattr(ext_tensor._payload, "is_sparse", False):
            ext_tensor.__dlpack__()  # its error
        a = given_away(ext_tensor)
        return made(a.copy() if copy else a if getattr(a, "is_foreign", False) else a[...])
    if not hasattr(ext_tensor, "__dlpack__"):
        raise _invalid_capsule(f"a {type_name(ext_tensor)} has no __dlpack__.")
    return made(_taken(ext_tensor, copy))


def _invalid_capsule(why: str) -> Exception:
    return noted(
        RuntimeError(
            "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you "
            "might have already constructed a tensor from it once."
        ),
        f"Why: {why}",
        "What to do: give the array itself and not a capsule.",
    )


def _taken(ext: Any, copy: bool | None) -> np.ndarray:
    if isinstance(ext, np.ndarray):  # np.from_dlpack refuses read-only NumPy arrays
        return checked_array(ext).copy() if copy else _shared(ext)
    a = np.from_dlpack(ext)
    return checked_array(a).copy() if copy else checked_array(a)


FACTORIES = (tensor, as_tensor, asarray, from_numpy, from_dlpack, frombuffer)
"""The functions that make tensors of data, for which classes of data have no override."""

for _fn in FACTORIES:
    publish(_fn, f"torch.{_fn.__name__}")
