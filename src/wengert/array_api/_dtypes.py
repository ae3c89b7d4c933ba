"""Data types: promotion in which arrays of all sizes count alike, kinds, casts, limits, the inspection functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

import wengert as torch

_INTEGERS = {
    "signed integer": (torch.int8, torch.int16, torch.int32, torch.int64),
    "unsigned integer": (torch.uint8, torch.uint16, torch.uint32, torch.uint64),
}
KINDS: dict[str, tuple[torch.dtype, ...]] = {
    "bool": (torch.bool,),
    **_INTEGERS,
    "integral": sum(_INTEGERS.values(), ()),
    "real floating": (torch.float32, torch.float64),
    "complex floating": (torch.complex64, torch.complex128),
}
KINDS["numeric"] = KINDS["integral"] + KINDS["real floating"] + KINDS["complex floating"]


def lent(fn: Callable[..., Any], name: str, says: str, of: Any) -> Callable[..., Any]:
    """A function made for a name, with its docstring: what it says, and that of PyTorch's function with the example."""
    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = f"{says}\n\nPyTorch's function: {of.__doc__}"
    return fn


def _promoted(one: torch.dtype, two: torch.dtype) -> torch.dtype:
    if one == two:
        return one
    if one in KINDS["integral"] and two in KINDS["integral"]:
        # PyTorch has no promotion for uint16, uint32 and uint64; the standard's table of integers is NumPy's.
        joint = np.promote_types(str(one).partition(".")[2], str(two).partition(".")[2])
        if joint.kind in "iu":
            return getattr(torch, joint.name)
    return torch.promote_types(one, two)


def result_type(*arrays_and_dtypes: Any) -> torch.dtype:
    """The dtype to which arrays, dtypes and Python's numbers are promoted; a number counts by its kind only.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.result_type(torch.ones(2), torch.tensor(1., dtype=torch.float64))
    torch.float64
    >>> xp.result_type(xp.int8, xp.uint16, 7)
    torch.int32
    """
    dtypes = [getattr(x, "dtype", x) for x in arrays_and_dtypes if not isinstance(x, (bool, int, float, complex))]
    if not dtypes:
        raise ValueError("at least one array or dtype is required")
    found = reduce(_promoted, dtypes)
    for number in arrays_and_dtypes:
        if isinstance(number, (bool, int, float, complex)):
            found = torch.result_type(torch.empty(1, dtype=found), number)
    return found


def together(*arrays: Any) -> list[torch.Tensor]:
    """Arrays and numbers as arrays of their common dtype; arrays that have it are returned as they are."""
    device = next((x.device for x in arrays if isinstance(x, torch.Tensor)), None)
    strangers = [x for x in arrays if not isinstance(x, (torch.Tensor, bool, int, float, complex))]
    if device is None or strangers:
        got = ", ".join(type(x).__name__ for x in arrays)
        raise TypeError(f"expected tensors, and numbers beside a tensor, but got {got}")
    dtype = result_type(*arrays)
    return [x.to(dtype) if isinstance(x, torch.Tensor) else torch.tensor(x, dtype=dtype, device=device) for x in arrays]


def can_cast(from_: Any, to: torch.dtype, /) -> bool:
    """Whether a dtype, or an array's, can be cast to another by the promotion rules.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.can_cast(xp.float32, xp.float64), xp.can_cast(torch.ones(2), xp.int8)
    (True, False)
    """
    try:
        return result_type(from_, to) == to
    except RuntimeError:  # uint64 with a signed integer
        return False


def isdtype(dtype: torch.dtype, kind: Any) -> bool:
    """Whether a dtype is of a kind: a dtype, one of the standard's names of kinds, or a tuple of both.

    >>> from wengert import array_api as xp
    >>> xp.isdtype(xp.float32, "real floating"), xp.isdtype(xp.int8, ("bool", xp.int16))
    (True, False)
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str):
        if kind not in KINDS:
            raise ValueError(f"unrecognized kind of dtype: {kind!r}; it is one of {', '.join(KINDS)}")
        # float16 and bfloat16 are not in the standard's list, and are real floating all the same
        return dtype in KINDS[kind] or (kind in ("real floating", "numeric") and dtype.is_floating_point)
    return bool(dtype == kind)


def astype(x: torch.Tensor, dtype: torch.dtype, /, *, copy: bool = True, device: Any = None) -> torch.Tensor:
    """An array cast to a dtype; without ``copy``, itself where it has the dtype already.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.astype(torch.tensor([1.7, -1.7]), xp.int8)
    tensor([ 1, -1], dtype=torch.int8)
    """
    return x.to(device=device, dtype=dtype, copy=copy)


def finfo(type: Any, /) -> torch.finfo:
    """The limits of a floating-point or complex dtype, or of an array's.

    >>> from wengert import array_api as xp
    >>> xp.finfo(xp.float32).eps
    1.1920928955078125e-07
    """
    return torch.finfo(getattr(type, "dtype", type))


def iinfo(type: Any, /) -> torch.iinfo:
    """The limits of an integer dtype, or of an array's.

    >>> from wengert import array_api as xp
    >>> xp.iinfo(xp.int16).max
    32767
    """
    return torch.iinfo(getattr(type, "dtype", type))


class __array_namespace_info__:
    """What this namespace can do: devices, dtypes, capabilities.

    >>> from wengert import array_api as xp
    >>> xp.__array_namespace_info__().default_dtypes()["real floating"]
    torch.float32
    """

    def capabilities(self) -> dict[str, Any]:
        """Whether boolean indices and shapes that depend on values are there, and the most dimensions."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> torch.device:
        """The device of new arrays."""
        return torch.get_default_device()

    def devices(self) -> list[torch.device]:
        """The devices that compute."""
        return [torch.device("cpu")]

    def default_dtypes(self, *, device: Any = None) -> dict[str, torch.dtype]:
        """The dtypes of new arrays, by kind."""
        real = torch.get_default_dtype()
        default = {"real floating": real, "complex floating": real.to_complex()}
        return {**default, "integral": torch.int64, "indexing": torch.int64}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, torch.dtype]:
        """The dtypes of a kind, by name; of all kinds without one."""
        kinds = ("bool", "numeric") if kind is None else kind if isinstance(kind, tuple) else (kind,)
        return {str(dtype).partition(".")[2]: dtype for one in kinds for dtype in KINDS[one]}
