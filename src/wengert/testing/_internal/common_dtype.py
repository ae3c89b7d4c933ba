"""Groups of dtypes, as functions that return tuples of them.

>>> from wengert.testing._internal.common_dtype import floating_types_and
>>> import wengert as torch
>>> floating_types_and(torch.half)
(torch.float32, torch.float64, torch.float16)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert as torch

__all__: list[str] = []

_FLOATING = (torch.float32, torch.float64)
_COMPLEX = (torch.complex64, torch.complex128)
_INTEGRAL = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
_HALF = (torch.float16, torch.bfloat16)

_GROUPS = {
    "floating_types": _FLOATING,
    "floating_types_and_half": (*_FLOATING, torch.float16),
    "floating_and_complex_types": _FLOATING + _COMPLEX,
    "double_types": (torch.float64, torch.complex128),
    "complex_types": _COMPLEX,
    "integral_types": _INTEGRAL,
    "all_types": _FLOATING + _INTEGRAL,
    "all_types_and_half": (*_FLOATING, *_INTEGRAL, torch.float16),
    "all_types_and_complex": _FLOATING + _INTEGRAL + _COMPLEX,
    "custom_types": (),
    "empty_types": (),
    "all_mps_types": (torch.float32, *_HALF, *_INTEGRAL),
}


class _dispatch_dtypes(tuple[Any, ...]):
    """A tuple of dtypes that can be extended."""

    def __add__(self, other: Any) -> Any:
        return _dispatch_dtypes(tuple(self) + tuple(other))


def _group(name: str, dtypes: tuple[Any, ...]) -> Callable[..., Any]:
    def function(*more: Any) -> Any:
        return _dispatch_dtypes(dtypes + more)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The dtypes {', '.join(map(str, dtypes)) or 'given'}" + (
        ", and those given." if dtypes else "."
    )
    return function


for _name, _dtypes in _GROUPS.items():
    globals()[_name] = _group(_name, _dtypes)
    if not _name.endswith("half"):
        globals()[f"{_name}_and" if _name != "custom_types" else _name] = _group(f"{_name}_and", _dtypes)
integral_types_and = _group("integral_types_and", _INTEGRAL)


def all_types_complex_float8_and(*more: Any) -> Any:
    """All dtypes of numbers except 8-bit floats, and the given ones."""
    return _dispatch_dtypes(_FLOATING + _INTEGRAL + _COMPLEX + more)


def get_all_qint_dtypes() -> list[Any]:
    """None: there are no quantised tensors."""
    return []


def get_all_int_dtypes() -> list[Any]:
    """The dtypes of integers."""
    return list(_INTEGRAL)


def get_all_complex_dtypes(include_complex32: bool = False) -> list[Any]:
    """The complex dtypes."""
    return [torch.complex32, *_COMPLEX] if include_complex32 else list(_COMPLEX)


def get_all_fp_dtypes(include_half: bool = True, include_bfloat16: bool = True) -> list[Any]:
    """The floating point dtypes."""
    half = [torch.float16] * include_half + [torch.bfloat16] * include_bfloat16
    return [*_FLOATING, *half]


def get_all_math_dtypes(device: Any) -> list[Any]:
    """The dtypes that support arithmetic."""
    return get_all_int_dtypes() + get_all_fp_dtypes(include_half=False) + get_all_complex_dtypes()


def get_all_dtypes(
    include_half: bool = True,
    include_bfloat16: bool = True,
    include_bool: bool = True,
    include_complex: bool = True,
    include_complex32: bool = False,
    include_qint: bool = False,
) -> list[Any]:
    """All dtypes but those left out."""
    found = get_all_int_dtypes() + get_all_fp_dtypes(include_half, include_bfloat16)
    found += [torch.bool] * include_bool
    return found + (get_all_complex_dtypes(include_complex32) if include_complex else [])


def float_to_corresponding_complex_type_map() -> dict[Any, Any]:
    """The complex dtypes for given floating point dtypes."""
    return dict(zip((torch.float16, *_FLOATING), (torch.complex32, *_COMPLEX), strict=True))
