"""PyTorch's constants and small values: `Size`, `device`, `layout`, `memory_format`, and their base classes.

Each constant is one object for the life of the process. `_base.dtypes` makes the dtypes with the same classes and
re-exports everything here; the rest of the library imports it from there.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from types import MethodType
from typing import Any, SupportsIndex, overload

import numpy as np

from .errors import noted, warn
from .hooks import hook
from .torch_function import leave_modes

_HEAP_TYPE = 1 << 9  # CPython's Py_TPFLAGS_HEAPTYPE


# ---- constants


class _TorchClass(type):
    """A class that, like PyTorch's, prints under PyTorch's name and cannot be subclassed.

    `__module__` is still this module, because pickle finds a class by it.
    """

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> _TorchClass:
        for base in bases:
            if isinstance(base, _TorchClass):
                raise TypeError(f"type 'torch.{base.__name__}' is not an acceptable base type")
        return super().__new__(mcs, name, bases, namespace)

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"


def type_name(value: object) -> str:
    """The type of `value` as PyTorch's error messages write it.

    >>> type_name(1), type_name(np.bool_(True)), type_name(torch.float32), type_name(np.dtype("int8"))
    ('int', 'numpy.bool', 'torch.dtype', 'numpy.dtypes.Int8DType')
    """
    kind = type(value)
    if isinstance(kind, _TorchClass):
        return f"torch.{kind.__name__}"
    if "_name_in_errors" in vars(kind):  # of a class that is written in C in PyTorch
        return kind._name_in_errors  # type: ignore[attr-defined, no-any-return]
    if kind.__module__ == "builtins" or (kind.__flags__ & _HEAP_TYPE and kind.__module__ != "numpy.dtypes"):
        return kind.__name__
    return f"{kind.__module__}.{kind.__qualname__}"


class _Frozen:
    """Attributes are set once, by `_frozen`."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        if hasattr(type(self), name):
            raise AttributeError(f"attribute '{name}' of '{type_name(self)}' objects is not writable")
        raise AttributeError(f"'{type_name(self)}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)


def _frozen(cls: type, **attributes: Any) -> Any:
    """An object of a frozen class."""
    self: Any = object.__new__(cls)
    for name, value in attributes.items():
        object.__setattr__(self, name, value)
    return self


class _Constant(_Frozen):
    """One object per name: equality is identity, and copies and pickles give the object itself."""

    __slots__ = ("name",)
    name: str

    def __new__(cls, *args: object, **kwargs: object) -> _Constant:
        raise TypeError(f"cannot create 'torch.{cls.__name__}' instances")

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _constant, (self.name,)


_CONSTANTS: dict[str, _Constant] = {}


def _constant(name: str) -> _Constant:
    return _CONSTANTS[name]


def _make_constant(cls: type, name: str, **attributes: Any) -> Any:
    self = _CONSTANTS[name] = _frozen(cls, name=name, **attributes)
    return self


# ---- Size


class Size(tuple[int, ...], metaclass=_TorchClass):
    """A tensor's shape: a tuple of ints whose slices, sums and multiples are `Size` too.

    Raises:
        TypeError: an item is not an integer.

    >>> Size([2, 3]), Size((2, 3))[1:], Size([2]) + (4,), Size([2, 3]).numel()
    (torch.Size([2, 3]), torch.Size([3]), torch.Size([2, 4]), 6)
    """

    __slots__ = ()

    def __new__(cls, iterable: Iterable[Any] = (), /) -> Size:
        items = tuple(iterable)
        for item in items:
            if type(item) is not int:
                return make_size(tuple(_as_length(item, place) for place, item in enumerate(items)))
        return make_size(items)

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    @overload
    def __getitem__(self, index: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Size: ...
    def __getitem__(self, index: Any) -> Any:
        item = tuple.__getitem__(self, index)
        return make_size(item) if type(item) is tuple else item

    def __add__(self, other: tuple[int, ...]) -> Size:  # type: ignore[override]
        if isinstance(other, tuple):
            return Size(tuple.__add__(self, other))
        if isinstance(other, (np.ndarray, np.generic)):
            return np.add(tuple(self), other)
        raise TypeError(f"can only concatenate tuple (not {type_name(other)}) to torch.Size")

    def __radd__(self, other: tuple[int, ...]) -> Size:
        return Size(tuple.__add__(other, self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, times: SupportsIndex) -> Size:
        if isinstance(times, np.ndarray):
            return NotImplemented
        if not hasattr(times, "__index__"):
            raise TypeError(f"can't multiply sequence by non-int of type '{type_name(times)}'")
        return make_size(tuple.__mul__(self, times))

    def __rmul__(self, times: SupportsIndex) -> Size:
        return self * times

    def __reduce__(self) -> tuple[Any, ...]:
        return Size, (tuple(self),)

    def numel(self) -> int:
        """The number of elements of a tensor of this shape.

        >>> Size([]).numel()
        1
        """
        return math.prod(self)


make_size = MethodType(tuple.__new__, Size)
"""`make_size(shape)`: a Size from a tuple that is known to hold ints. Nothing is checked."""


class Recent(dict[Any, Any]):
    """The values of the last keys, made by a function: what ``lru_cache`` is to calls, for keys that are looked up."""

    def __init__(self, make: Callable[[Any], Any], most: int) -> None:
        self.make, self.most = make, most

    def __missing__(self, key: Any) -> Any:
        if len(self) >= self.most:
            self.clear()
        value = self[key] = self.make(key)
        return value


SIZES: dict[tuple[int, ...], Size] = Recent(lambda shape: make_size(tuple(map(int, shape))), 4096)
"""`SIZES[shape]`: the Size of a tensor's shape. To make one takes longer than to find the last one of that shape."""


def _as_length(item: Any, place: int) -> Any:
    if isinstance(item, (int, np.integer)) and item is not True and item is not False:
        return item
    if getattr(type(item), "symbolic", None) == "int":  # a size of a program that torch.export runs
        return item
    try:
        return int(operator.index(item))
    except TypeError:
        message = f"torch.Size() takes an iterable of 'int' (item {place} is '{type_name(item)}')"
        raise TypeError(message) from None


# ---- device

_DEVICE_TYPES: tuple[str, ...] = ("cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve")
_DEVICE_TYPES += ("fpga", "maia", "xla", "lazy", "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone")
_DEVICES: dict[tuple[str, int | None], device] = {}


@hook
def default_device(device: Any) -> Any:
    """The context that sets the device of tensors made without one. Set by ``_tensor_api.function_modes``."""


class device(_Frozen, metaclass=_TorchClass):
    """The device of a tensor: a type and, for some types, a number.

    Every device that PyTorch names can be made and compared; tensors live on the CPU. Equal devices are one object.

    Args:
        type: "cpu", "cuda", ..., with or without ":" and a number; or a device.
        index: the number, if `type` has none.

    Raises:
        RuntimeError: no such device, or a string that is not one.

    >>> device("cpu"), device("cuda", 1), str(device("cuda:1")), device("cuda:1").index
    (device(type='cpu'), device(type='cuda', index=1), 'cuda:1', 1)
    >>> device("cpu") == device("cpu:0")
    False
    """

    __slots__ = ("index", "type")
    type: str
    index: int  # PyTorch's stub says so, though it is None for the device without a number

    def __new__(cls, *args: Any, **kwargs: Any) -> device:
        if len(args) == 1 and not kwargs:
            return _device_from(args[0], args, kwargs)
        count = len(args) + len(kwargs)
        if count == 1 and kwargs.keys() <= {"device", "type"}:
            return _device_from(next(iter(kwargs.values())), args, kwargs)
        named = {**dict(zip(("type", "index"), args, strict=False)), **kwargs}
        if count == 2 and named.keys() == {"type", "index"}:
            return _device_of_parts(named["type"], named["index"])
        raise _device_mismatch(args, kwargs)

    def __repr__(self) -> str:
        number = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{number})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __reduce__(self) -> tuple[Any, ...]:
        return device, (self.type,) if self.index is None else (self.type, self.index)

    def __enter__(self) -> device:
        default_device.run(self).__enter__()
        return self

    __exit__ = leave_modes


def _device_from(value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> device:
    if isinstance(value, bytes):
        value = value.decode()
    if isinstance(value, str):
        known = _DEVICES.get((value, None))
        return known if known is not None else _intern(*_parse_device(value))
    if isinstance(value, device):
        return value
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        if value < 0:
            raise RuntimeError("Device index must not be negative")
        raise noted(
            RuntimeError("Cannot access accelerator device when none is available."),
            "What to do: wengert computes on the CPU: give 'cpu', or leave the device out.",
        )
    raise _device_mismatch(args, kwargs)


def _device_of_parts(kind: Any, index: Any) -> device:
    if not isinstance(kind, str):
        raise TypeError(f"device(): argument 'type' (position 1) must be str, not {type_name(kind)}")
    if index is not None:
        if isinstance(index, bool) or not hasattr(index, "__index__"):
            raise TypeError(f"device(): argument 'index' (position 2) must be int, not {type_name(index)}")
        index = operator.index(index)
    name, inner = _parse_device(kind)
    if inner is not None:
        raise RuntimeError(f"type (string) must not include an index because index was passed explicitly: {kind}")
    if index is not None and index < 0:
        raise RuntimeError("Device index must not be negative")
    return _intern(name, index)


def _parse_device(text: str) -> tuple[str, int | None]:
    if not text:
        raise RuntimeError("Device string must not be empty")
    name, colon, digits = text.partition(":")
    number_is_good = digits == "0" or (digits.isdecimal() and digits.isascii() and digits[0] != "0")
    if not name.isascii() or not name.replace("_", "a").isalpha() or (colon and not number_is_good):
        raise RuntimeError(f"Invalid device string: '{text}'")
    if name not in _DEVICE_TYPES:
        types = ", ".join(_DEVICE_TYPES)
        raise RuntimeError(f"Expected one of {types} device type at start of device string: {name}")
    if not colon:
        return name, None
    if int(digits) >= 2**31:
        raise RuntimeError(f"Could not parse device index '{digits}' in device string '{text}'")
    return name, int(digits)


def _intern(name: str, index: int | None) -> device:
    known = _DEVICES.get((name, index))
    if known is not None:
        return known
    if name == "mkldnn":
        warn(
            "'mkldnn' is no longer used as device type. So torch.device('mkldnn') will be deprecated and removed in "
            "the future. Please use other valid device types instead.",
            UserWarning,
        )
    return _DEVICES.setdefault((name, index), _frozen(device, type=name, index=index))


def _device_mismatch(args: tuple[Any, ...], kwargs: dict[str, Any]) -> TypeError:
    got = ", ".join([type_name(each) for each in args] + [f"{key}={type_name(kwargs[key])}" for key in kwargs])
    if kwargs:
        got += ", "
    return TypeError(
        f"device() received an invalid combination of arguments - got ({got}), but expected one of:\n"
        " * (torch.device device)\n * (str type, int index = -1)\n"
    )


# ---- layout and memory format


class layout(_Constant, metaclass=_TorchClass):
    """The layout of a tensor's elements: `strided` or sparse (COO, CSR, CSC); the other layouts exist as names.

    >>> strided
    torch.strided
    """

    __slots__ = ()


class memory_format(_Constant, metaclass=_TorchClass):
    """The order of a strided tensor's dimensions in memory.

    >>> channels_last
    torch.channels_last
    """

    __slots__ = ()


strided, sparse_coo, sparse_csr, sparse_csc, sparse_bsr, sparse_bsc, jagged, _mkldnn = (
    _make_constant(layout, name)
    for name in ("strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "jagged", "_mkldnn")
)
contiguous_format, preserve_format, channels_last, channels_last_3d = (
    _make_constant(memory_format, name)
    for name in ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")
)
legacy_contiguous_format = contiguous_format

LAYOUTS: dict[str, layout] = {name: each for name, each in _CONSTANTS.items() if isinstance(each, layout)}
MEMORY_FORMATS: dict[str, memory_format] = {
    **{name: each for name, each in _CONSTANTS.items() if isinstance(each, memory_format)},
    "legacy_contiguous_format": contiguous_format,
}
