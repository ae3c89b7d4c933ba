"""What functions that make tensors share: their keyword arguments, and how a tensor comes of an array.

``maker`` publishes such a function; ``Options`` reads its shared arguments; ``allocate`` turns NumPy's errors about
sizes into PyTorch's; ``finish`` makes the resulting tensor.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._base import dtypes
from ..._base.dtypes import BY_NUMPY, as_dtype, type_name
from ..._base.dtypes import dtype as Dtype
from ..._base.errors import out_of_memory, unexpected_keyword
from ..._base.registry import public
from ..._base.signatures import shown_with
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import Tensor
from ..._tape.views import check_inplace, count_write, writable
from ..._tensor_api.construct import (
    check_flag,
    elsewhere,
    made,
    meta_device,
    moved_array,
    no_pinning,
    strided_only,
)

if TYPE_CHECKING:
    from ..._tensor_api.generator import Generator


def _shared(
    *, generator: Generator | None = None, out: Tensor | None = None, dtype: Dtype | None = None, layout: Any = None,
    device: Any = None, pin_memory: bool = False, requires_grad: bool = False, memory_format: Any = None,
) -> None:  # fmt: skip
    """The keyword arguments that functions which make tensors share; ``maker`` says which of them a function has."""


_SHARED = _shared.__code__.co_varnames
FEW = 1024  # elements up to which numbers in a row are cached
OF_ALL = ("dtype", "layout", "device", "pin_memory", "requires_grad")
ACCEPTED: dict[str, list[str]] = {}
"""The shared arguments that each function has, by its name."""


def maker(name: str, *more: str) -> Callable[[Any], Any]:
    """Decorator: publish a function whose ``**kwargs`` are the shared arguments, and ``more`` of them.

    The function reads them with ``Options``. One that takes any number of arguments has other keywords too, which it
    reads itself.
    """

    def decorate(fn: Any) -> Any:
        accepted = [each for each in _SHARED if each in OF_ALL or each in more]
        ACCEPTED[name.rpartition(".")[2]] = accepted
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
            if name in ACCEPTED[function]:
                setattr(self, name, value)
            elif others:
                self.others[name] = value
            else:
                raise unexpected_keyword(function, name, ACCEPTED[function])
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
