"""The types of PyTorch 0.1: ``FloatTensor``, ``LongTensor``, ..., and ``Tensor(...)`` called as a constructor.

A legacy type is not a class of tensors but a name for a dtype: ``isinstance(t, FloatTensor)`` tests the dtype, and a
call makes a tensor of the dtype. A call of ``Tensor`` itself makes a tensor of the default dtype. These constructors
take numbers as sizes, and leave the memory uninitialised, and a list as elements.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .._arrays import uninitialized
from .._base import dtypes
from .._base.dtypes import dtype as Dtype
from .._base.dtypes import type_name
from .._base.errors import noted, warn_once
from .._base.late_names import keep_former_name
from .._base.registry import TENSORS
from .._tape.tensor import Tensor
from .construct import array_of, made

_NAMES = {
    d.scalar_name: d
    for d in (
        dtypes.float32, dtypes.float64, dtypes.float16, dtypes.bfloat16, dtypes.uint8, dtypes.int8, dtypes.int16,
        dtypes.int32, dtypes.int64, dtypes.bool_,
    )
}  # fmt: skip
# PyTorch names the types of these dtypes, but has no constructors of those names.
_ONLY_NAMES = (dtypes.complex64, dtypes.complex128, dtypes.uint16, dtypes.uint32, dtypes.uint64)
_TYPE_NAME = {d: f"torch.{d.scalar_name}Tensor" for d in (*_NAMES.values(), *_ONLY_NAMES)}


class tensortype(type):
    """The class of the legacy types."""

    dtype: Dtype

    def __new__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> Any:
        for base in bases:
            if type(base) is tensortype:
                raise TypeError(f"type 'torch.{base.__name__}' is not an acceptable base type")
        return super().__new__(cls, name, bases, members)

    def __instancecheck__(cls, instance: Any) -> bool:
        if getattr(getattr(instance, "_payload", None), "is_sparse", False):
            return False
        return isinstance(instance, Tensor) and instance.dtype is cls.dtype

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"

    def __call__(cls, *args: Any, **kwargs: Any) -> Tensor:
        return new_of(cls.dtype, f"torch.{cls.__name__}", args, kwargs)


def _make(name: str, dtype: Dtype) -> Any:
    doc = f"``torch.{dtype.name}`` as a type of PyTorch 0.1: called, it makes a tensor of that dtype."
    members = {"dtype": dtype, "layout": dtypes.strided, "is_cuda": False, "is_sparse": False, "__doc__": doc}
    return tensortype(f"{name}Tensor", (), {**members, "__module__": "torch"})


TYPES: dict[str, Any] = {f"{name}Tensor": _make(name, dtype) for name, dtype in _NAMES.items()}
"""The legacy types by name, as the package exports them."""
globals().update(TYPES)


# ---- names
def name_of_type(dtype: Dtype) -> str:
    """The result of ``t.type()``: ``"torch.FloatTensor"``."""
    return _TYPE_NAME[dtype]


def dtype_of_type(kind: Any) -> Dtype:
    """The dtype behind a dtype, a legacy type, ``Tensor`` (the default dtype), or the name of a legacy type."""
    if type(kind) is tensortype:
        return kind.dtype
    if kind is Tensor:
        return dtypes.default_dtype
    if isinstance(kind, str):
        if kind == "torch.Tensor":
            return dtypes.default_dtype
        if dtypes.device("cuda").type == "cpu":  # it stands for cards
            kind = kind.replace("torch.cuda.", "torch.")
        for dtype, name in _TYPE_NAME.items():
            if name == kind:
                return dtype
        if kind.startswith("torch.cuda."):
            raise ValueError(f"type {kind} not available. Torch not compiled with CUDA enabled.")
        raise ValueError(f"invalid type: '{kind}'")
    if isinstance(kind, Dtype):
        return kind
    if isinstance(kind, type):
        raise ValueError(f"invalid type: '{kind.__name__}'")
    raise TypeError("dtype must be a type, str, or dtype object")


def set_default_tensor_type(t: Any, /) -> None:
    """Make the dtype of a floating legacy type, or of its name, the default; ``set_default_dtype`` is today's form.

    >>> import wengert as torch
    >>> torch.set_default_tensor_type("torch.DoubleTensor")
    >>> torch.tensor(1.5).dtype
    torch.float64
    >>> torch.set_default_tensor_type(torch.FloatTensor)
    """
    warn_once(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
        "torch.set_default_device() as alternatives."
    )
    if type(t) is not tensortype and not isinstance(t, str):
        raise TypeError("invalid type object: only floating-point types are supported as the default type")
    dtypes.set_default_dtype(dtype_of_type(t))


# ---- constructors
def legacy_new(cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    """``Tensor(3, 4)``, ``Tensor([1., 2.])``, ``Tensor(other)``, ``Tensor()``, also for subclasses."""
    t = new_of(dtypes.default_dtype, "Tensor", args, kwargs)
    if cls is not Tensor:
        t.__class__ = cls
    return t


def new_of(dtype: Dtype, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    """A tensor by the old rules: from sizes (uninitialised), a sequence, an array or tensor, or no argument."""
    device = kwargs.get("device")
    if device is not None and not isinstance(device, (str, int, dtypes.device)):
        raise _mismatch(args, kwargs)
    kwargs = {k: v for k, v in kwargs.items() if k != "device"}  # the caller's are read when it has failed
    if device is not None and dtypes.device(device).type != "cpu":
        kind = dtypes.device(device).type
        raise RuntimeError(f"legacy constructor expects device type: cpu but device type: {kind} was passed")
    if kwargs:
        (key, value), *rest = kwargs.items()
        if rest or args or key not in ("size", "data", "other"):
            raise _mismatch(args, kwargs)
        if key == "size" and not isinstance(value, (int, tuple, list)):
            raise _mismatch(args, kwargs)
        args = (dtypes.Size([value] if isinstance(value, int) else value),) if key == "size" else (value,)
    if not args:
        return made(np.empty(0, dtype.np))
    first = args[0]
    if len(args) == 1 and not _is_size(first):
        return _from_data(dtype, name, first)
    if not _is_size(first) and not (isinstance(first, Tensor) and first.ndim == 0):
        raise _mismatch(args, {})
    sizes = first if len(args) == 1 and isinstance(first, dtypes.Size) else args
    return made(uninitialized.empty(_sizes(sizes), dtype.np))


def _is_size(value: Any) -> bool:
    return isinstance(value, dtypes.Size) or (isinstance(value, (int, np.integer)) and not isinstance(value, bool))


def _sizes(sizes: Any) -> list[int]:
    checked = []
    for position, n in enumerate(sizes):
        if isinstance(n, bool) or not hasattr(n, "__index__"):
            raise TypeError(
                f"new(): argument 'size' failed to unpack the object at pos {position + 1} with error "
                f'"type must be tuple of ints,but got {type_name(n)}"'
            )
        if not -(2**63) <= int(n) < 2**63:
            raise TypeError(
                f"new(): argument 'size' failed to unpack the object at pos {position + 1} with error "
                '"Overflow when unpacking long long'
            )
        checked.append(int(n))
    for n in checked:
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {checked}")
    return checked


def _from_data(dtype: Dtype, name: str, data: Any) -> Tensor:
    if isinstance(data, Tensor):
        if name != "Tensor" and data.dtype is not dtype:
            raise noted(
                TypeError(f"expected {name} (got {_TYPE_NAME[data.dtype]})"),
                "What to do: convert it: tensor.float(), tensor.long(), tensor.to(dtype).",
            )
        return TENSORS.alias(data)
    from .storage import is_storage, tensor_of

    if is_storage(data):
        return tensor_of(data, dtype, dtype.scalar_name)
    if isinstance(data, str):
        raise TypeError("new(): invalid data type 'str'")
    if isinstance(data, (int, float, complex, np.generic, dict, set)) or not hasattr(data, "__getitem__"):
        raise TypeError(f"new(): data must be a sequence (got {type_name(data)})")
    return made(array_of(data, dtype))


def _mismatch(args: Any, kwargs: Any) -> TypeError:
    got = ", ".join([type_name(a) for a in args] + [f"{k}={type_name(v)}" for k, v in kwargs.items()])
    return TypeError(
        f"new() received an invalid combination of arguments - got ({got}), but expected one of:\n"
        " * (*, torch.device device = None)\n"
        " * (Tensor other)\n"
        " * (tuple of ints size, *, torch.device device = None)\n"
        " * (object data, *, torch.device device = None)\n"
    )


keep_former_name("_legacy_types", sys.modules[__name__], set_default_tensor_type)
