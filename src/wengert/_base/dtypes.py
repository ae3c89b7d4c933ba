"""The properties of a tensor apart from its numbers (dtype, shape, device, layout), and the promotion of dtypes.

The parts, in order: `dtype` and its objects; the way to and from NumPy's dtypes (`BY_NUMPY`, and the sets `FLOATING`,
`COMPLEX`, `INEXACT`, `INTEGRAL`); the default dtype; promotion (`promote_types`, `can_cast`, `result_dtype`).
`Size`, `device`, `layout` and `memory_format` are defined in `_base.constants` and re-exported here.

This module imports NumPy and the standard library. `ml_dtypes`, which provides NumPy's bfloat16, is imported when the
first bfloat16 array is made. `DTYPES` maps every public name to its dtype; the names `float`, `int` and `bool` exist
only there, because as globals of this module they would hide Python's own.

NOTE [ bfloat16 arrives late ]: until `ml_dtypes` is loaded no array can have its dtype, so the sets and `BY_NUMPY`
need not contain it. Loading `ml_dtypes` updates them in place: hold a reference to them, never a copy.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .constants import (
    _CONSTANTS,
    LAYOUTS,
    MEMORY_FORMATS,
    SIZES,
    Size,
    _Constant,
    _make_constant,
    _TorchClass,
    channels_last,
    channels_last_3d,
    contiguous_format,
    device,
    jagged,
    layout,
    legacy_contiguous_format,
    make_size,
    memory_format,
    preserve_format,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    strided,
    type_name,
)
from .tracebacks import shortens

__all__ = [
    "Size", "SIZES", "make_size", "device", "type_name", "DTYPES", "LAYOUTS", "MEMORY_FORMATS",
    "layout", "strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "jagged",
    "memory_format", "contiguous_format", "preserve_format", "channels_last", "channels_last_3d",
    "legacy_contiguous_format",
    "dtype", "as_dtype", "get_default_dtype", "set_default_dtype",
    "BY_NUMPY", "FLOATING", "COMPLEX", "INEXACT", "INTEGRAL", "from_numpy_dtype",
    "promote_types", "can_cast", "PROMOTED", "result_dtype",
]  # fmt: skip


# ---- dtype


class dtype(_Constant, metaclass=_TorchClass):
    """The type of a tensor's elements. There is one object per type, and users cannot make more.

    Attributes:
        np: the native NumPy dtype. `TypeError` for a PyTorch dtype that NumPy has no form of; for bfloat16
            `ImportError` if `ml_dtypes` is not installed.
        is_floating_point, is_complex, is_signed: as in PyTorch; both of the first two are False for integers.
        itemsize: bytes per element.
        abbr: PyTorch's short name.
        scalar_name: the name that PyTorch's C++ error messages use.
        kind: one of "bool", "unsigned", "signed", "float", "complex", or, for dtypes without tensors here, "float8",
            "float4", "subbyte unsigned", "subbyte signed", "quantized", "bits".

    >>> float32, float32.itemsize, float32.is_floating_point, float32.np
    (torch.float32, 4, True, dtype('float32'))
    >>> float32.to_complex(), complex128.to_real()
    (torch.complex64, torch.float64)
    """

    __slots__ = ("abbr", "is_complex", "is_floating_point", "is_signed", "itemsize", "kind", "np", "scalar_name")
    np: np.dtype
    is_floating_point: bool
    is_complex: bool
    is_signed: bool
    itemsize: int
    abbr: str
    scalar_name: str
    kind: str

    def __getattr__(self, name: str) -> Any:
        # Python calls this only for an empty slot or a name that does not exist.
        if name == "np":
            return _late_np(self)
        if name == "is_signed":
            raise RuntimeError(_NO_SIGN[self.kind])
        raise AttributeError(f"'torch.dtype' object has no attribute '{name}'")

    def to_real(self) -> dtype:
        """The dtype of the real part; a dtype that is not complex returns itself."""
        return _TO_REAL.get(self, self)

    def to_complex(self) -> dtype:
        """The complex dtype whose parts have this dtype; a complex dtype returns itself.

        Raises:
            RuntimeError: neither floating nor complex.
        """
        try:
            return _TO_COMPLEX[self]
        except KeyError:
            raise RuntimeError(f"Unknown Complex ScalarType for {self.scalar_name}") from None


_NO_SIGN = {"quantized": "isSignedType not supported for quantized types", "bits": "Bits types are undefined"}
_NUMPY_KINDS = frozenset(("bool", "unsigned", "signed", "float", "complex"))
_WITHOUT_NUMPY = frozenset(("bfloat16", "complex32"))


def _make_dtype(name: str, scalar_name: str, abbr: str, kind: str, itemsize: int) -> dtype:
    more: dict[str, Any] = {"is_floating_point": kind.startswith("float"), "is_complex": kind == "complex"}
    if kind not in _NO_SIGN:
        more["is_signed"] = kind != "bool" and "unsigned" not in kind and name != "float8_e8m0fnu"
    if kind in _NUMPY_KINDS and name not in _WITHOUT_NUMPY:
        more["np"] = np.dtype(name)
    return _make_constant(dtype, name, scalar_name=scalar_name, abbr=abbr, kind=kind, itemsize=itemsize, **more)


bool_ = _make_dtype("bool", "Bool", "b8", "bool", 1)
uint8 = _make_dtype("uint8", "Byte", "u8", "unsigned", 1)
uint16 = _make_dtype("uint16", "UInt16", "u16", "unsigned", 2)
uint32 = _make_dtype("uint32", "UInt32", "u32", "unsigned", 4)
uint64 = _make_dtype("uint64", "UInt64", "u64", "unsigned", 8)
int8 = _make_dtype("int8", "Char", "i8", "signed", 1)
int16 = _make_dtype("int16", "Short", "i16", "signed", 2)
int32 = _make_dtype("int32", "Int", "i32", "signed", 4)
int64 = _make_dtype("int64", "Long", "i64", "signed", 8)
float16 = _make_dtype("float16", "Half", "f16", "float", 2)
bfloat16 = _make_dtype("bfloat16", "BFloat16", "bf16", "float", 2)
float32 = _make_dtype("float32", "Float", "f32", "float", 4)
float64 = _make_dtype("float64", "Double", "f64", "float", 8)
complex32 = _make_dtype("complex32", "ComplexHalf", "c32", "complex", 4)
complex64 = _make_dtype("complex64", "ComplexFloat", "c64", "complex", 8)
complex128 = _make_dtype("complex128", "ComplexDouble", "c128", "complex", 16)

short, long, half, double = int16, int64, float16, float64
chalf, cfloat, cdouble = complex32, complex64, complex128

# Dtypes that PyTorch names and NumPy cannot hold: programs may compare with these and print them.
float8_e4m3fn = _make_dtype("float8_e4m3fn", "Float8_e4m3fn", "f8e4m3fn", "float8", 1)
float8_e4m3fnuz = _make_dtype("float8_e4m3fnuz", "Float8_e4m3fnuz", "f8e4m3fnuz", "float8", 1)
float8_e5m2 = _make_dtype("float8_e5m2", "Float8_e5m2", "f8e5m2", "float8", 1)
float8_e5m2fnuz = _make_dtype("float8_e5m2fnuz", "Float8_e5m2fnuz", "f8e5m2fnuz", "float8", 1)
float8_e8m0fnu = _make_dtype("float8_e8m0fnu", "Float8_e8m0fnu", "f8e8m0fnu", "float8", 1)
float4_e2m1fn_x2 = _make_dtype("float4_e2m1fn_x2", "Float4_e2m1fn_x2", "f4e2m1fnx2", "float4", 1)
uint1, uint2, uint3, uint4, uint5, uint6, uint7 = (
    _make_dtype(f"uint{bits}", f"UInt{bits}", f"uint{bits}", "subbyte unsigned", 1) for bits in range(1, 8)
)
bit = uint1
int1, int2, int3, int4, int5, int6, int7 = (
    _make_dtype(f"int{bits}", f"Int{bits}", f"int{bits}", "subbyte signed", 1) for bits in range(1, 8)
)
qint8 = _make_dtype("qint8", "QInt8", "qint8", "quantized", 1)
quint8 = _make_dtype("quint8", "QUInt8", "quint8", "quantized", 1)
qint32 = _make_dtype("qint32", "QInt32", "qint32", "quantized", 4)
quint4x2 = _make_dtype("quint4x2", "QUInt4x2", "quint4x2", "quantized", 1)
quint2x4 = _make_dtype("quint2x4", "QUInt2x4", "quint2x4", "quantized", 1)
bits1x8 = _make_dtype("bits1x8", "Bits1x8", "b1x8", "bits", 1)
bits2x4 = _make_dtype("bits2x4", "Bits2x4", "b2x4", "bits", 1)
bits4x2 = _make_dtype("bits4x2", "Bits4x2", "b4x2", "bits", 1)
bits8 = _make_dtype("bits8", "Bits8", "b8x1", "bits", 1)
bits16 = _make_dtype("bits16", "Bits16", "b16x1", "bits", 2)

DTYPES: dict[str, dtype] = {
    **{name: value for name, value in _CONSTANTS.items() if isinstance(value, dtype)},
    "float": float32,
    "double": float64,
    "half": float16,
    "cfloat": complex64,
    "cdouble": complex128,
    "chalf": complex32,
    "int": int32,
    "long": int64,
    "short": int16,
    "bit": uint1,
}
"""Every dtype by every public name, aliases too."""

_TO_COMPLEX = {
    float16: complex32,
    bfloat16: complex64,
    float32: complex64,
    float64: complex128,
    complex32: complex32,
    complex64: complex64,
    complex128: complex128,
}
_TO_REAL = {complex32: float16, complex64: float32, complex128: float64}
_PYTHON_TYPES = {float: float64, int: int64, bool: bool_, complex: complex128}


def as_dtype(value: object, function: str = "dtype", argument: str = "dtype", position: int | None = None) -> dtype:
    """The dtype that `value` names where PyTorch expects one: a dtype, or Python's float, int, bool or complex.

    Args:
        value: the user's argument.
        function, argument, position: for the message of the error.

    Raises:
        TypeError: anything else, NumPy's dtypes and strings among them, as in PyTorch.

    >>> as_dtype(float), as_dtype(int8)
    (torch.float64, torch.int8)
    >>> as_dtype("float32", "zeros")
    Traceback (most recent call last):
    TypeError: zeros(): argument 'dtype' must be torch.dtype, not str
    """
    if type(value) is dtype:
        return value
    if isinstance(value, type) and value in _PYTHON_TYPES:
        return _PYTHON_TYPES[value]
    place = "" if position is None else f" (position {position})"
    raise TypeError(f"{function}(): argument '{argument}'{place} must be torch.dtype, not {type_name(value)}")


# ---- to and from NumPy


class _ByNumpy(dict):
    """A dict from NumPy dtypes to ours; a missing key adds bfloat16 or raises PyTorch's error."""

    def __missing__(self, np_dtype: np.dtype) -> dtype:
        if not np_dtype.isnative:
            raise ValueError(
                "given numpy array has byte order different from the native byte order. "
                "Conversion between byte orders is currently not supported."
            )
        scalar = np_dtype.type
        if scalar.__module__ == "ml_dtypes" and scalar.__name__ == "bfloat16":
            learn_bfloat16(np_dtype)
            return bfloat16
        raise TypeError(
            f"can't convert np.ndarray of type {scalar.__module__}.{scalar.__name__}. The only supported types are: "
            "float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, "
            "uint8, and bool."
        )


_NATIVE: tuple[dtype, ...] = (bool_, uint8, uint16, uint32, uint64, int8, int16, int32, int64)
_NATIVE += (float16, float32, float64, complex64, complex128)

BY_NUMPY: dict[np.dtype, dtype] = _ByNumpy((each.np, each) for each in _NATIVE)
"""The dtype of a NumPy dtype: `BY_NUMPY[array.dtype]`. Never `.get`, which knows neither bfloat16 nor the error."""

FLOATING: set[np.dtype] = {each.np for each in _NATIVE if each.is_floating_point}
COMPLEX: set[np.dtype] = {each.np for each in _NATIVE if each.is_complex}
INEXACT: set[np.dtype] = FLOATING | COMPLEX
INTEGRAL: set[np.dtype] = {each.np for each in _NATIVE} - INEXACT
REAL: set[np.dtype] = FLOATING | INTEGRAL
SINGLE_OR_DOUBLE: set[np.dtype] = {float32.np, float64.np}

# The dtypes that the fast code for small arrays tests for; a native dtype is one object, so `is` compares them.
BOOL, UINT8, INT32, INT64 = map(np.dtype, (np.bool_, np.uint8, np.int32, np.int64))
FLOAT16, FLOAT32, FLOAT64 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)
BLAS_FLOATS = frozenset((FLOAT32, FLOAT64))
BLAS_DTYPES = frozenset(map(np.dtype, "fdFD"))
REAL_NUMBERS = frozenset((float, int))  # Python's types; bool is not among them
PYTHON_NUMBERS = frozenset((bool, int, float, complex))


def from_numpy_dtype(np_dtype: np.dtype) -> dtype:
    """The dtype for a NumPy dtype, or for anything `numpy.dtype` takes.

    Raises:
        TypeError: PyTorch has no such dtype.
        ValueError: not in native byte order.

    >>> from_numpy_dtype(np.dtype("float32")), from_numpy_dtype(np.int8)
    (torch.float32, torch.int8)
    """
    return BY_NUMPY[np.dtype(np_dtype)]


def learn_bfloat16(np_dtype: np.dtype) -> None:
    """Take note of NumPy's dtype of bfloat16: an array is about to be made of it."""
    object.__setattr__(bfloat16, "np", np_dtype)
    BY_NUMPY[np_dtype] = bfloat16
    for group in (FLOATING, INEXACT, REAL):
        group.add(np_dtype)
    for fn in bfloat16_listeners:
        fn(np_dtype)


bfloat16_listeners: list[Any] = []  # functions that are called with the NumPy dtype of bfloat16 when it is loaded
before_bfloat16: list[Any] = []  # functions that are called afterwards if no array of that dtype can exist yet


def _late_np(self: dtype) -> np.dtype:
    """The NumPy dtype of a dtype that was made without one."""
    if self is not bfloat16:
        raise TypeError(
            f"{self!r} has no NumPy dtype, so wengert cannot make tensors of it; "
            "the dtype can be named, compared and printed"
        )
    is_new = "ml_dtypes" not in sys.modules
    try:
        import ml_dtypes
    except ImportError:
        raise ImportError(
            "torch.bfloat16 needs the package ml_dtypes, which gives NumPy this dtype: pip install 'wengert[bfloat16]'"
        ) from None
    learn_bfloat16(np.dtype(ml_dtypes.bfloat16))
    if is_new:
        for fn in before_bfloat16:
            fn()
    return np.dtype(ml_dtypes.bfloat16)


# ---- the default dtype

# Hot code reads these as attributes of the module; a name imported from here would not follow a change.
default_dtype: dtype = float32
default_np: np.dtype = float32.np
default_complex_dtype: dtype = complex64


def get_default_dtype() -> dtype:
    """The dtype of tensors made from Python floats.

    >>> get_default_dtype()
    torch.float32
    """
    return default_dtype


def set_default_dtype(d: dtype, /) -> None:
    """Make `d`, which must be floating, the dtype of tensors made from Python floats, in all threads.

    Raises:
        TypeError: not a dtype, or one that cannot be a default.
        ImportError: bfloat16 without `ml_dtypes`.

    >>> set_default_dtype(int64)
    Traceback (most recent call last):
    TypeError: only floating-point types are supported as the default type
    """
    global default_complex_dtype, default_dtype, default_np
    if type(d) is not dtype:
        raise TypeError("invalid dtype object: only floating-point types are supported as the default type")
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    if d not in _TO_COMPLEX:
        raise TypeError(f"couldn't find storage object {d.scalar_name}Storage")
    default_dtype, default_np, default_complex_dtype = d, d.np, _TO_COMPLEX[d]
    PROMOTED.clear()


# ---- promotion

# PyTorch has few operators for these dtypes and no row in its table: they promote only with a floating dtype, to it.
_BAREBONES = frozenset((uint1, uint2, uint3, uint4, uint5, uint6, uint7, uint16, uint32, uint64))
_ORDER = {"bool": 0, "unsigned": 1, "signed": 1, "float": 2, "complex": 3}
_PAIRS: dict[tuple[dtype, dtype], dtype] = {}


@shortens
def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The smallest dtype, by PyTorch's table, that both dtypes can be converted to.

    Raises:
        RuntimeError: PyTorch does not promote the pair: uint16, uint32 and uint64 promote only with floating dtypes,
            and dtypes without tensors here promote with none.

    >>> promote_types(int64, float16), promote_types(uint8, int8), promote_types(float16, bfloat16)
    (torch.float16, torch.int16, torch.float32)
    >>> promote_types(complex64, float64)
    torch.complex128
    """
    try:
        return _PAIRS[type1, type2]
    except (KeyError, TypeError):
        pass
    a = as_dtype(type1, "promote_types", "type1", 1)
    b = as_dtype(type2, "promote_types", "type2", 2)
    result = _PAIRS[a, b] = _promote(a, b)
    return result


def _promote(a: dtype, b: dtype) -> dtype:
    if a is b:
        return a
    _refuse_unpromotable(a, b)
    if a in _BAREBONES or b in _BAREBONES:
        return a if a.is_floating_point else b
    order_a, order_b = _ORDER[a.kind], _ORDER[b.kind]
    if order_a == 3 or order_b == 3:
        reals = [each.to_real() for each in (a, b) if _ORDER[each.kind] >= 2]
        return _promote(reals[0], reals[-1]).to_complex()
    if order_a != order_b:
        return a if order_a > order_b else b
    if order_a == 2 and a.itemsize == b.itemsize:
        return float32  # float16 with bfloat16: neither represents the other
    if order_a == 1 and a.itemsize == b.itemsize:
        return int16  # uint8 with int8, likewise
    return a if a.itemsize > b.itemsize else b


def _refuse_unpromotable(a: dtype, b: dtype) -> None:
    kinds = (a.kind, b.kind)
    names = f"{a.scalar_name} and {b.scalar_name}"
    if "quantized" in kinds:
        raise RuntimeError(
            "promoteTypes with quantized numbers is not handled yet; figure out what the correct rules should be, "
            f"offending types: {a.scalar_name} {b.scalar_name}"
        )
    if "bits" in kinds:
        raise RuntimeError(f"Promotion from {names} is unsupported.")
    if "float8" in kinds:
        raise RuntimeError(f"Promotion for Float8 Types is not supported, attempted to promote {names}")
    if a in _BAREBONES or b in _BAREBONES:
        if not (a.is_floating_point or b.is_floating_point):
            raise RuntimeError(
                f"Promotion for uint16, uint32, uint64 types is not supported, attempted to promote {names}"
            )
    elif a.kind not in _ORDER or b.kind not in _ORDER:
        raise RuntimeError(f"Promotion from {names} is unsupported.")


@shortens
def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether PyTorch converts a result of dtype `from_` into an output of dtype `to`.

    A conversion that would drop a part of the number is refused: complex to real, floating to integer, anything to
    bool.

    >>> can_cast(float64, float16), can_cast(float32, int64), can_cast(int64, bool_)
    (True, False, False)
    """
    source = as_dtype(from_, "can_cast", "from_", 1)
    target = as_dtype(to, "can_cast", "to", 2)
    if source.is_complex:
        return target.is_complex
    if source.is_floating_point:
        return target.kind not in ("bool", "unsigned", "signed")
    return source is bool_ or target is not bool_


class _Promoted(dict):
    """NumPy result dtypes by operands, computed on a miss. `set_default_dtype` clears it."""

    def __missing__(self, operands: tuple[tuple[np.dtype, str], ...]) -> np.dtype:
        result = _result_type(operands).np
        if len(operands) <= 3:  # a `stack` of a thousand tensors must not leave a key of a thousand items
            self[operands] = result
        return result


PROMOTED: dict[tuple[tuple[np.dtype, str], ...], np.dtype] = _Promoted()
"""`PROMOTED[operands]` is `result_dtype(operands)` without the call."""


def result_dtype(operands: tuple[tuple[np.dtype, str], ...]) -> np.dtype:
    """The NumPy dtype that PyTorch gives the result of an operator on these operands.

    Operands with dimensions decide; 0-dimensional tensors count only if their category (bool, integer, floating,
    complex) is higher, and Python numbers only if their category is higher again. A Python float has the default
    dtype, a Python complex the complex dtype that corresponds to it.

    Args:
        operands: pairs of a NumPy dtype and "dim" (tensor of one dimension or more), "zero" (0-dimensional tensor)
            or "scalar" (Python number: bool, int64, float64 or complex128).

    Raises:
        RuntimeError: PyTorch does not promote a pair of the operands, see `promote_types`.
        TypeError: the result is complex32, which NumPy does not have (float16 with a complex number).

    >>> i8, f64 = np.dtype("int8"), np.dtype("float64")
    >>> result_dtype(((i8, "dim"), (f64, "scalar"))), result_dtype(((i8, "dim"), (f64, "zero")))
    (dtype('float32'), dtype('float64'))
    >>> result_dtype(((i8, "dim"), (np.dtype("int64"), "zero")))
    dtype('int8')
    """
    return PROMOTED[operands]


def _result_type(operands: tuple[tuple[np.dtype, str], ...]) -> dtype:
    found: dict[str, dtype] = {}
    for np_dtype, kind in operands:
        current = BY_NUMPY[np_dtype]
        if kind == "scalar":
            if current.is_complex:
                current = default_complex_dtype
            elif current.is_floating_point:
                current = default_dtype
        found[kind] = promote_types(found[kind], current) if kind in found else current
    if not found or not found.keys() <= {"dim", "zero", "scalar"}:
        raise ValueError(f"operands must be pairs of a dtype and 'dim', 'zero' or 'scalar', got {operands}")
    low = _combine(found.get("zero"), found.get("scalar"))
    return _combine(found.get("dim"), low)


def _combine(higher: dtype | None, lower: dtype | None) -> Any:
    """PyTorch's `combine_categories`: `higher` keeps its dtype unless the category of `lower` is above its own."""
    if higher is None or lower is None:
        return higher or lower
    if higher.is_complex:
        return higher
    if higher.is_floating_point:
        return higher.to_complex() if lower.is_complex else higher
    if lower.is_floating_point or lower.is_complex:
        return lower
    return promote_types(higher, lower) if higher is bool_ else higher
