"""`finfo` and `iinfo`: the limits of dtypes."""

from __future__ import annotations

import functools
import math
from typing import Any

from .constants import _Frozen, _frozen, _TorchClass
from .dtypes import (
    DTYPES,
    as_dtype,
    bfloat16,
    bool_,
    dtype,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float8_e8m0fnu,
    float16,
    float32,
    float64,
    get_default_dtype,
)

__all__ = ["finfo", "iinfo"]

# bits, distance from 1 to the next number, smallest normal number, largest number
_FLOAT_FORMATS = {
    float16: (16, 2.0**-10, 2.0**-14, 65504.0),
    bfloat16: (16, 2.0**-7, 2.0**-126, (2 - 2.0**-7) * 2.0**127),
    float32: (32, 2.0**-23, 2.0**-126, (2 - 2.0**-23) * 2.0**127),
    float64: (64, 2.0**-52, 2.0**-1022, (2 - 2.0**-52) * 2.0**1023),
    float8_e4m3fn: (8, 2.0**-3, 2.0**-6, 448.0),
    float8_e4m3fnuz: (8, 2.0**-3, 2.0**-7, 240.0),
    float8_e5m2: (8, 2.0**-2, 2.0**-14, 57344.0),
    float8_e5m2fnuz: (8, 2.0**-3, 2.0**-15, 57344.0),  # PyTorch's value for eps; the format's is 2**-2
    float8_e8m0fnu: (8, 1.0, 2.0**-127, 2.0**127),
}


class _Limits(_Frozen):
    """Limits are equal if they are of one dtype, which is also what pickle writes."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]
    dtype: str

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.dtype == other.dtype

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (DTYPES[self.dtype],)


class finfo(_Limits, metaclass=_TorchClass):
    """The limits of a floating dtype or of the parts of a complex dtype; the default dtype if no argument is given.

    Attributes:
        bits: the width.
        eps: the distance from 1 to the next number above.
        max, min: the largest and the lowest number.
        tiny, smallest_normal: the smallest positive number of full precision.
        resolution: 10 to the power of minus the number of decimal digits that are always exact.
        dtype: the name, a string.

    Raises:
        TypeError: not a floating or complex dtype.

    >>> finfo(torch.float32)  # doctest: +NORMALIZE_WHITESPACE
    finfo(resolution=1e-06, min=-3.40282e+38, max=3.40282e+38, eps=1.19209e-07, smallest_normal=1.17549e-38,
          tiny=1.17549e-38, dtype=float32)
    """

    __slots__ = ("bits", "dtype", "eps", "max", "min", "resolution", "smallest_normal", "tiny")
    bits: int
    dtype: str
    eps: float
    max: float
    min: float
    resolution: float
    smallest_normal: float
    tiny: float

    def __new__(cls, *args: Any, **kwargs: Any) -> finfo:
        if not args and not kwargs:
            return _make_finfo(get_default_dtype())
        return _make_finfo(_one_dtype("finfo", args, kwargs).to_real())

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        return f"finfo({', '.join(f'{name}={getattr(self, name):g}' for name in names)}, dtype={self.dtype})"


@functools.cache  # the result is immutable
def _make_finfo(of: dtype) -> finfo:
    if of not in _FLOAT_FORMATS:
        raise TypeError("torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'")
    bits, eps, tiny, largest = _FLOAT_FORMATS[of]
    lowest, resolution = -largest if of.is_signed else tiny, float(f"1e-{int(-math.log10(eps))}")
    return _frozen(
        finfo, bits=bits, dtype=of.name, eps=eps, max=largest, min=lowest, tiny=tiny, smallest_normal=tiny,
        resolution=resolution,
    )  # fmt: skip


class iinfo(_Limits, metaclass=_TorchClass):
    """The limits of an integer dtype.

    Attributes:
        bits: the width.
        max, min: the largest and the smallest number.
        dtype: the name, a string.

    Raises:
        TypeError: not an integer dtype.

    >>> iinfo(torch.int8), iinfo(torch.uint64).max
    (iinfo(min=-128, max=127, dtype=int8), 18446744073709551615)
    """

    __slots__ = ("bits", "dtype", "max", "min")
    bits: int
    dtype: str
    max: int
    min: int

    def __new__(cls, *args: Any, **kwargs: Any) -> iinfo:
        of = _one_dtype("iinfo", args, kwargs)
        if of is bool_:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if of.kind == "quantized":
            raise NotImplementedError(f"\"dtype\" not implemented for '{of.scalar_name}'")
        if of.kind not in ("signed", "unsigned"):
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        bits = of.itemsize * 8
        lowest = -(2 ** (bits - 1)) if of.is_signed else 0
        return _frozen(cls, bits=bits, dtype=of.name, max=2 ** (bits - of.is_signed) - 1, min=lowest)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


def _one_dtype(function: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dtype:
    """The one argument, `type`, of `finfo` and `iinfo`."""
    if len(args) + len(kwargs) > 1:
        raise TypeError(f"{function}() takes 1 positional argument but {len(args) + len(kwargs)} were given")
    if not args and "type" not in kwargs:
        raise TypeError(f'{function}() missing 1 required positional arguments: "type"')
    return as_dtype(args[0] if args else kwargs["type"], function, "type", 1)
