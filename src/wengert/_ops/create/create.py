"""New tensors of a given shape: zeros, ones, full, empty, eye. The ``*_like`` and ``new_*`` forms are in ``like``.

None of them has a derivative, so they are plain functions that make an array. ``shape_of`` reads sizes as PyTorch
does; ``allocate`` turns NumPy's errors about sizes into PyTorch's; ``finish`` makes the resulting tensor.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import partial
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._arrays import uninitialized
from ..._base import dtypes
from ..._base.dtypes import BY_NUMPY, as_dtype, type_name
from ..._base.dtypes import dtype as Dtype
from ..._base.errors import out_of_memory, unexpected_keyword
from ..._base.limits import finfo
from ..._base.modes import slow_if_recording
from ..._base.registry import public
from ..._base.signatures import shown_with
from ..._payloads.meta import Meta, in_order
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import Tensor, wrap
from ..._tape.views import check_inplace, count_write, writable
from ..._tensor_api.construct import (
    check_flag,
    elsewhere,
    made,
    meta_device,
    moved_array,
    no_pinning,
    number_of,
    strided_only,
)

if TYPE_CHECKING:
    from ..._tensor_api.generator import Generator


# ---- arguments
def shape_of(function: str, size: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> tuple[int, ...]:
    """The shape from sizes given one by one, as one tuple or list, or as ``size`` in ``kwargs``.

    Raises TypeError for invalid or missing sizes and for unknown keyword arguments.
    """
    if kwargs:
        for key in kwargs:
            if key != "size" or size:
                raise unexpected_keyword(function, key, ("size", *_ACCEPTED.get(function, _OF_ALL)))
        size = (kwargs["size"],)
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        return _sizes(function, size[0], True)
    if not size:
        raise TypeError(f'{function}() missing 1 required positional arguments: "size"')
    if isinstance(size[0], (tuple, list)):
        raise TypeError(f"{function}() takes 1 positional argument but {len(size)} were given")
    return _sizes(function, size, False)


def plain_shape(size: tuple[Any, ...]) -> tuple[int, ...] | None:
    """The shape if it is given as ints or as one tuple of ints, without checking their values; else ``None``."""
    if len(size) == 1 and isinstance(size[0], tuple):
        size = size[0]
    elif not size:
        return None
    for n in size:
        if type(n) is not int:
            return None
    return size


def _sizes(function: str, items: Any, listed: bool) -> tuple[int, ...]:
    sizes = []
    for position, n in enumerate(items):
        if type(n) is not int:
            n = _one_size(function, n, position, listed)
        if n < 0:
            if function == "zeros":
                raise RuntimeError("zeros: Dimension size must be non-negative.")
            text = ", ".join(str(i) for i in items)
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{text}]")
        if n >= 1 << 63:
            raise TypeError(
                f"{function}(): argument 'size' failed to unpack the object at pos {position + 1} with error "
                '"Overflow when unpacking long long"'
            )
        sizes.append(n)
    return tuple(sizes)


def _one_size(function: str, n: Any, position: int, listed: bool) -> int:
    if not isinstance(n, (bool, str, float)):
        try:
            return operator.index(n)
        except (TypeError, RuntimeError):
            pass
    if position == 0:
        what = f", but found element of type {type_name(n)} at pos 0" if listed else f", not {type_name(n)}"
    else:
        raise TypeError(
            f"{function}(): argument 'size' failed to unpack the object at pos {position + 1} with error "
            f'"type must be tuple of ints,but got {type_name(n)}"'
        )
    raise TypeError(f"{function}(): argument 'size' (position 1) must be tuple of ints{what}")


def tuple_shape(function: str, size: Any) -> tuple[int, ...]:
    """Read a shape that must be given as a tuple or list."""
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"{function}(): argument 'size' (position 1) must be tuple of ints, not {type_name(size)}")
    return _sizes(function, size, True)


def _shared(
    *, generator: Generator | None = None, out: Tensor | None = None, dtype: Dtype | None = None, layout: Any = None,
    device: Any = None, pin_memory: bool = False, requires_grad: bool = False, memory_format: Any = None,
) -> None:  # fmt: skip
    """The keyword arguments that functions which make tensors share; ``maker`` says which of them a function has."""


_SHARED = _shared.__code__.co_varnames
_OF_ALL = ("dtype", "layout", "device", "pin_memory", "requires_grad")
_ACCEPTED: dict[str, list[str]] = {}  # by the function's name


def maker(name: str, *more: str) -> Callable[[Any], Any]:
    """Decorator: publish a function whose ``**kwargs`` are the shared arguments, and ``more`` of them.

    The function reads them with ``Options``. One that takes any number of arguments has other keywords too, which it
    reads itself.
    """

    def decorate(fn: Any) -> Any:
        accepted = [each for each in _SHARED if each in _OF_ALL or each in more]
        _ACCEPTED[name.rpartition(".")[2]] = accepted
        return public(name)(shown_with(partial(_with_shared, accepted))(fn))

    return decorate


def _with_shared(names: list[str], parameters: list[Parameter]) -> list[Parameter]:
    """A maker's own parameters and those of these names in place of ``**kwargs``, which stays after ``*args``."""
    *own, others = parameters
    shared = signature(_shared).parameters
    variadic = any(p.kind is p.VAR_POSITIONAL for p in own)
    return [*own, *(shared[name] for name in names), *([others] if variadic else [])]


_SPARSE_TOO = frozenset(("zeros", "empty", "zeros_like", "empty_like", "new_zeros", "new_empty"))


class Options:
    """The shared arguments of one call, checked; ``others`` are the remaining ones.

    ``dtype`` is ``None`` if none was given. Without ``others`` every other keyword is a TypeError.
    """

    __slots__ = (
        "device", "dtype", "generator", "layout", "memory_format", "others", "out", "pin_memory", "requires_grad",
    )  # fmt: skip
    dtype: Dtype | None

    def __init__(self, function: str, kwargs: dict[str, Any], others: bool = False) -> None:
        self.out = self.generator = self.memory_format = self.dtype = self.layout = self.device = None
        self.pin_memory = self.requires_grad = False
        self.others: dict[str, Any] = {}
        for name, value in kwargs.items():
            if name in _ACCEPTED[function]:
                setattr(self, name, value)
            elif others:
                self.others[name] = value
            else:
                raise unexpected_keyword(function, name, _ACCEPTED[function])
        if self.layout is not None and not (function in _SPARSE_TOO and isinstance(self.layout, dtypes.layout)):
            strided_only(self.layout, function)
        if self.device is not None:
            meta_device(self.device, function)
        if self.out is not None and not isinstance(self.out, Tensor):
            raise TypeError(f"{function}(): argument 'out' must be Tensor, not {type_name(self.out)}")
        if self.pin_memory:
            no_pinning(self.pin_memory)
        if type(self.requires_grad) is not bool:
            if self.requires_grad is not None:
                check_flag(self.requires_grad, function)
        if self.dtype is not None and type(self.dtype) is not Dtype:
            self.dtype = as_dtype(self.dtype, function)


_NOTHING = Options("", {})


def options_of(function: str, kwargs: dict[str, Any], others: bool = False) -> Options:
    """The ``Options`` of a call, which are one object for all calls without keywords."""
    return Options(function, kwargs, others) if kwargs else _NOTHING


def dtype_chosen(dtype: Dtype | None, out: Tensor | None) -> Any:
    """The NumPy dtype of the result: ``dtype``, else the dtype of ``out``, else the default dtype."""
    if dtype is None:
        return dtypes.default_np if out is None else logical_dtype(out)
    if out is not None and dtype.np is not logical_dtype(out):
        raise RuntimeError(
            f"dtype {dtype.scalar_name} does not match dtype of out parameter "
            f"({BY_NUMPY[out._payload.dtype].scalar_name})"
        )
    return dtype.np


def allocate(make: Callable[..., Any], shape: tuple[int, ...], np_dtype: Any, device: Any = None) -> Any:
    """``make(shape, dtype)`` with PyTorch's errors for sizes that are too large; on "meta" nothing is allocated."""
    if device is not None and (away := elsewhere(device, make, shape, np_dtype)) is not None:
        return away
    try:
        return make(shape, np_dtype)
    except MemoryError:
        raise out_of_memory(math.prod(shape) * np_dtype.itemsize) from None
    except (ValueError, OverflowError):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)}") from None


def finish(a: Any, out: Tensor | None, requires_grad: bool) -> Tensor:
    """A new tensor on the array, or ``out`` with the array's elements, resized if it has another shape."""
    if out is None:
        return made(a, requires_grad)
    if not isinstance(out, Tensor):
        raise TypeError(f"argument 'out' must be Tensor, not {type_name(out)}")
    check_inplace(out, False)
    if not isinstance(out._payload, (np.ndarray, np.generic)):  # on another device
        away = moved_array(a, out.device, "out") if isinstance(a, np.ndarray) else a
        if out._payload.shape != a.shape:
            resized(out, away.astype(out._payload.dtype))
        elif getattr(away, "is_foreign", False):
            out._payload.write(away)
    else:
        if out._payload.shape != a.shape:
            out.resize_(a.shape)
        np.copyto(writable(out), a, casting="unsafe")
    count_write(out)
    return out.requires_grad_() if requires_grad else out


def resized(out: Tensor, a: Any) -> None:
    """Give ``out`` another array."""
    out._payload = a
    if out._box is not None:
        out._box.a = a


_CPP = {
    "float16": "c10::Half", "bfloat16": "c10::BFloat16", "float32": "float", "float64": "double",
    "int8": "int8_t", "int16": "int16_t", "int32": "int", "int64": "int64_t",
    "uint8": "uint8_t", "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t",
    "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
}  # fmt: skip


def element(value: Any, np_dtype: Any) -> Any:
    """Convert a Python number to a dtype; raises RuntimeError on overflow, like C++'s checked conversion."""
    kind = np_dtype.kind
    if kind == "b":
        return bool(value)
    if kind == "f" and np_dtype.itemsize > 2 and type(value) in (float, int) and -3e38 < value < 3e38:
        return value
    ok = True
    if kind != "c" and isinstance(value, complex):
        ok, value = value.imag == 0, value.real
    if ok and kind in "iu":
        largest = int(np.iinfo(np_dtype).max)  # a negative integer wraps around, a fraction does not
        smallest = -largest - 1 if kind == "i" else 0 if isinstance(value, float) else -largest
        ok = math.isfinite(value) and smallest <= value <= largest
        if ok:
            return int(value) % (1 << 8 * np_dtype.itemsize) if kind == "u" else int(value)
    elif ok:
        parts = (value.real, value.imag) if isinstance(value, complex) else (value,)
        limit = finfo(BY_NUMPY[np_dtype]).max
        ok = all(not math.isfinite(p) or abs(p) <= limit for p in parts)
    if not ok:
        raise RuntimeError(f"value cannot be converted to type {_CPP[np_dtype.name]} without overflow")
    return value


def number(value: Any, dtype: Any) -> Any:
    """A Python number as a 0-dimensional array of a dtype; raises PyTorch's error if the number does not fit."""
    if type(value) is float and dtype.char in "fd" and -3e38 < value < 3e38:
        return np.array(value, dtype)
    with np.errstate(over="ignore"):
        return np.array(element(value, dtype)).astype(dtype)


def plain_element(value: Any, np_dtype: Any) -> Any:
    """``element`` without checks for 0 and 1, which every dtype has."""
    return value if type(value) is int and 0 <= value <= 1 else element(value, np_dtype)


def filled(shape: tuple[int, ...], value: Any, np_dtype: Any, device: Any = None) -> Any:
    """A new array filled with one value."""
    value = plain_element(value, np_dtype)
    if type(value) is int and not value and device is None:
        return allocate(np.zeros, shape, np_dtype)
    a = allocate(np.empty, shape, np_dtype, device)
    a.fill(value)
    return a


# ---- zeros, ones, empty
def _ones(shape: tuple[int, ...], np_dtype: Any) -> Any:
    a = np.empty(shape, np_dtype)
    a.fill(1)
    return a


_PLAIN = frozenset(("dtype", "requires_grad"))


def _of_sizes(function: str, make: Callable[..., Any], size: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    """``make(shape, dtype)`` as a tensor; for ``zeros``, ``ones`` and ``empty``."""
    if not (kwargs or slow_if_recording):
        plain = plain_shape(size)
        if plain is not None:
            try:
                return wrap(make(plain, dtypes.default_np))
            except (ValueError, MemoryError):
                pass  # the checks below raise the error
    elif not slow_if_recording and kwargs.keys() <= _PLAIN:
        plain, dtype, requires_grad = plain_shape(size), kwargs.get("dtype"), kwargs.get("requires_grad", False)
        if plain is not None and (dtype is None or type(dtype) is Dtype) and type(requires_grad) is bool:
            try:
                a = make(plain, dtypes.default_np if dtype is None else dtype.np)
                return made(a, True) if requires_grad else wrap(a)
            except (ValueError, MemoryError):
                pass  # the checks below raise the error
    asked = options_of(function, kwargs, True)
    shape = shape_of(function, size, asked.others)
    if asked.memory_format is dtypes.preserve_format:
        raise RuntimeError("unsupported memory format Preserve")
    np_dtype = dtype_chosen(asked.dtype, asked.out)
    if asked.layout not in (None, dtypes.strided):
        a = empty_sparse(shape, np_dtype, asked.layout)
    elif asked.memory_format is not None:
        a = _empty_in(shape, np_dtype, asked.memory_format, asked.device)
    else:
        a = allocate(make, shape, np_dtype, asked.device)
    return finish(a, asked.out, asked.requires_grad)


@maker("torch.zeros", "out")
def zeros(*size: Any, **kwargs: Any) -> Tensor:
    """A tensor of zeros.

    >>> torch.zeros(2, 3), torch.zeros((2,), dtype=torch.int64)
    (tensor([[0., 0., 0.],
            [0., 0., 0.]]), tensor([0, 0]))
    """
    return _of_sizes("zeros", np.zeros, size, kwargs)


@maker("torch.ones", "out")
def ones(*size: Any, **kwargs: Any) -> Tensor:
    """A tensor of ones.

    >>> torch.ones(2, requires_grad=True)
    tensor([1., 1.], requires_grad=True)
    """
    return _of_sizes("ones", _ones, size, kwargs)


@maker("torch.empty", "out", "memory_format")
def empty(*size: Any, **kwargs: Any) -> Tensor:
    """An uninitialised tensor.

    >>> torch.empty(2, 3).shape
    torch.Size([2, 3])
    """
    return _of_sizes("empty", uninitialized.empty, size, kwargs)


def empty_sparse(shape: tuple[int, ...], np_dtype: Any, layout: Any) -> Any:
    """A payload in a sparse layout that stores nothing."""
    from ..._payloads.compressed import empty
    from ..._payloads.compressed_errors import no_blocks
    from ..._payloads.sparse import Sparse

    if layout is dtypes.sparse_coo:
        return Sparse(np.empty((len(shape), 0), np.int64), np.empty(0, np_dtype), shape, True)
    if layout not in (dtypes.sparse_csr, dtypes.sparse_csc):
        raise no_blocks(layout)
    if len(shape) < 2:
        raise RuntimeError(
            f"torch.empty: Only batched sparse compressed (non-block) tensors are supported, but got size {list(shape)}"
        )
    return empty(shape, np_dtype, layout)


def _empty_in(shape: tuple[int, ...], np_dtype: Any, memory_format: Any = None, device: Any = None) -> Any:
    """An uninitialised array in a memory format."""
    for wanted, rank, name in (
        (dtypes.channels_last, 4, "channels_last"),
        (dtypes.channels_last_3d, 5, "channels_last_3d"),
    ):
        if memory_format is wanted:
            if len(shape) != rank:
                raise RuntimeError(f"required rank {rank} tensor to use {name} format")
            order = (0, *range(2, rank), 1)
            return _in_order(shape, order, np_dtype, device)
    return allocate(uninitialized.empty, shape, np_dtype, device)


def _in_order(shape: tuple[int, ...], order: tuple[int, ...], np_dtype: Any, device: Any) -> Any:
    """An uninitialised array with its dims in the given memory order, outermost first."""
    if device is not None and meta_device(device):
        return in_order(shape, np_dtype, order)
    if device is not None and (away := elsewhere(device, np.empty, shape, np_dtype)) is not None:
        return away
    a = allocate(uninitialized.empty, tuple(shape[d] for d in order), np_dtype)
    return a.transpose(tuple(order.index(d) for d in range(len(shape))))


@maker("torch.full", "out")
def full(size: Any, fill_value: Any, **kwargs: Any) -> Tensor:
    """A tensor filled with one value; its type determines the dtype if none is given.

    Raises RuntimeError if the dtype cannot hold the value.

    >>> torch.full((2,), 3), torch.full((2,), 3.)
    (tensor([3, 3]), tensor([3., 3.]))
    """
    if type(fill_value) is float and not kwargs and not slow_if_recording:
        plain = type(size) is tuple and plain_shape(size) is size
        if plain and -3e38 < fill_value < 3e38 and dtypes.default_np.itemsize > 2:
            try:
                a = np.empty(size, dtypes.default_np)
                a.fill(fill_value)
                return wrap(a)
            except (ValueError, MemoryError):
                pass  # the checks below raise the error
    asked = options_of("full", kwargs)
    shape = tuple_shape("full", size)
    value = number_of(fill_value, "full", "fill_value", 2)
    dtype = _dtype_of_number(value) if asked.dtype is asked.out is None else asked.dtype
    return finish(filled(shape, value, dtype_chosen(dtype, asked.out), asked.device), asked.out, asked.requires_grad)


def _dtype_of_number(value: Any) -> Dtype:
    if isinstance(value, bool):
        return dtypes.bool_
    if isinstance(value, int):
        return dtypes.int64
    return dtypes.default_complex_dtype if isinstance(value, complex) else dtypes.default_dtype


@maker("torch.scalar_tensor")
def scalar_tensor(s: Any, **kwargs: Any) -> Tensor:
    """A 0-dimensional tensor of a number, in the default dtype if none is given.

    >>> torch.scalar_tensor(3)
    tensor(3.)
    """
    asked = options_of("scalar_tensor", kwargs)
    value = number_of(s, "scalar_tensor", "s", 1)
    return made(filled((), value, dtype_chosen(asked.dtype, None), asked.device), asked.requires_grad)


@maker("torch.eye", "out")
def eye(n: int, m: int | None = None, **kwargs: Any) -> Tensor:
    """A matrix of shape (n, m) with ones on the diagonal and zeros elsewhere; m defaults to n.

    >>> torch.eye(2, 3)
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """
    asked = options_of("eye", kwargs)
    n = _count("eye", "n", 1, n)
    m = n if m is None else _count("eye", "m", 2, m)
    a = allocate(np.zeros, (n, m), dtype_chosen(asked.dtype, asked.out), asked.device)
    if isinstance(a, np.ndarray):
        a.reshape(-1)[: min(n, m) * m : m + 1] = 1
    elif getattr(a, "is_foreign", False):
        a.v.diagonal()[...] = 1
    return finish(a, asked.out, asked.requires_grad)


def _count(function: str, argument: str, position: int, value: Any) -> int:
    if isinstance(value, (bool, float)) or not hasattr(value, "__index__"):
        raise TypeError(
            f"{function}(): argument '{argument}' (position {position}) must be int, not {type_name(value)}"
        )
    value = operator.index(value)
    if value < 0:
        raise RuntimeError(f"{argument} must be greater or equal to 0, got {value}")
    return value


@maker("torch.empty_strided")
def empty_strided(size: Any, stride: Any, **kwargs: Any) -> Tensor:
    """An uninitialised tensor with given strides, counted in elements.

    >>> torch.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    asked = options_of("empty_strided", kwargs)
    shape = tuple_shape("empty_strided", size)
    return made(_strided(shape, stride, dtype_chosen(asked.dtype, None), asked.device), asked.requires_grad)


def _strided(shape: tuple[int, ...], stride: Any, np_dtype: Any, device: Any = None) -> Any:
    strides = tuple(_stride(s, k) for k, s in enumerate(stride))
    if len(shape) != len(strides):
        raise RuntimeError(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(strides)})"
        )
    if any(s < 0 for s in strides):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)} and strides={list(strides)}")
    if device is not None and meta_device(device):
        return Meta(shape, np_dtype, tuple(s * np_dtype.itemsize for s in strides))
    if device is not None and (away := elsewhere(device, np.empty, shape, np_dtype)) is not None:
        return away
    count = 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    memory = allocate(uninitialized.empty, (count,), np_dtype)
    if not count:
        return np.empty(shape, np_dtype)
    return np.ndarray(shape, np_dtype, memory, 0, tuple(s * np_dtype.itemsize for s in strides))


def _stride(step: Any, place: int) -> int:
    try:
        return operator.index(step)
    except TypeError:
        raise TypeError(
            f"empty_strided(): argument 'stride' (position 2) must be tuple of ints, but found element of type "
            f"{type_name(step)} at pos {place}"
        ) from None


@maker("torch.empty_permuted")
def empty_permuted(size: Any, physical_layout: Any, **kwargs: Any) -> Tensor:
    """An uninitialised tensor with its dimensions in the given memory order, outermost first.

    >>> torch.empty_permuted((2, 3, 4), (2, 0, 1)).stride()
    (3, 1, 6)
    """
    asked = options_of("empty_permuted", kwargs)
    shape = tuple_shape("empty_permuted", size)
    order = tuple(physical_layout)
    if len(order) != len(shape):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = "
            f"{len(shape)} is not equal to len(physical_layout) = {len(order)}"
        )
    for d in order:
        if not 0 <= d < len(shape):
            raise RuntimeError(
                f"Dimension out of range (expected to be between 0 and {len(shape) - 1}, but got {d} at index "
                f"{order.index(d)}).  NB: negative dims not currently supported; file an issue if you want it."
            )
    if len(set(order)) != len(order):
        raise RuntimeError("Duplicate dim not allowed")
    return made(_in_order(shape, order, dtype_chosen(asked.dtype, None), asked.device), asked.requires_grad)


__all__ = [
    "Options", "allocate", "element", "filled", "finish", "maker", "number", "number_of", "shape_of", "tuple_shape",
]  # fmt: skip
