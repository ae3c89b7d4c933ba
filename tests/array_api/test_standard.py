"""The array API standard 2024.12, function by function: names, values, shapes and dtypes beside NumPy's.

NumPy follows the standard, so it is the reference; where the standard leaves a choice, the test says so.
Values go through all dtypes that the standard gives to a function.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from one_by_one import by_first

import wengert as torch
from wengert import array_api as xp

pytestmark = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="NumPy 2.0 is no reference: it follows the standard of 2022"
)

CONSTANTS = "e inf nan newaxis pi"
DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128"
FUNCTIONS = """
arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like tril triu
zeros zeros_like
astype can_cast finfo iinfo isdtype result_type __array_namespace_info__
abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_invert bitwise_or
bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1 floor floor_divide greater
greater_equal hypot imag isfinite isinf isnan less less_equal log log1p log2 log10 logaddexp logical_and logical_not
logical_or logical_xor maximum minimum multiply negative nextafter not_equal positive pow real reciprocal remainder
round sign signbit sin sinh square sqrt subtract tan tanh trunc
take take_along_axis matmul matrix_transpose tensordot vecdot
broadcast_arrays broadcast_to concat expand_dims flip moveaxis permute_dims repeat reshape roll squeeze stack tile
unstack
argmax argmin count_nonzero nonzero searchsorted where unique_all unique_counts unique_inverse unique_values argsort
sort
cumulative_prod cumulative_sum max mean min prod std sum var all any diff
"""
LINALG = """
cholesky cross det diagonal eigh eigvalsh inv matmul matrix_norm matrix_power matrix_rank matrix_transpose outer pinv qr
slogdet solve svd svdvals tensordot trace vecdot vector_norm
"""
FFT = "fft fftfreq fftn fftshift hfft ifft ifftn ifftshift ihfft irfft irfftn rfft rfftfreq rfftn"
METHODS = """
__abs__ __add__ __and__ __array_namespace__ __bool__ __complex__ __dlpack__ __dlpack_device__ __eq__ __float__
__floordiv__ __ge__ __getitem__ __gt__ __index__ __int__ __invert__ __le__ __lshift__ __lt__ __matmul__ __mod__ __mul__
__ne__ __neg__ __or__ __pos__ __pow__ __rshift__ __setitem__ __sub__ __truediv__ __xor__ __iadd__ __radd__ __isub__
__rsub__ __imul__ __rmul__ __itruediv__ __rtruediv__ __ifloordiv__ __rfloordiv__ __ipow__ __rpow__ __imod__ __rmod__
__rmatmul__ __iand__ __rand__ __ior__ __ror__ __ixor__ __rxor__ __ilshift__ __rlshift__ __irshift__ __rrshift__
to_device T mT device dtype ndim shape size
"""

INTEGERS = DTYPES.split()[1:9]
SIGNED = [name for name in INTEGERS if name[0] == "i"]
REALS = ["float32", "float64"]
COMPLEX = ["complex64", "complex128"]
NUMERIC = [*INTEGERS, *REALS, *COMPLEX]


def words(text: str) -> list[str]:
    return text.split()


def test_every_name_of_the_standard_is_there() -> None:
    assert [n for n in words(f"{CONSTANTS} {DTYPES} {FUNCTIONS}") if not hasattr(xp, n)] == []
    assert [n for n in LINALG.split() if not hasattr(xp.linalg, n)] == []
    assert [n for n in FFT.split() if not hasattr(xp.fft, n)] == []
    assert [n for n in METHODS.split() if not hasattr(torch.Tensor, n)] == []
    public = {n for n in words(f"{CONSTANTS} {DTYPES} {FUNCTIONS} linalg fft") if not n.startswith("_")}
    assert {*xp.__all__} == public | {"float16", "bfloat16", "diag"}


def test_every_function_has_a_docstring_with_an_example() -> None:
    import inspect

    spaces = {xp: xp.__all__, xp.linalg: xp.linalg.__all__, xp.fft: xp.fft.__all__}
    functions = {f"{s.__name__}.{n}": getattr(s, n) for s, names in spaces.items() for n in names}
    bare = [n for n, f in functions.items() if inspect.isroutine(f) and ">>>" not in (inspect.getdoc(f) or "")]
    assert bare == []


def draw(dtype: str, shape: tuple[int, ...], seed: int = 0, low: float = -3, high: float = 3) -> Any:
    """Numbers of a dtype within bounds, with equals among them."""
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype in INTEGERS:
        least = max(math.ceil(low), 0) if dtype[0] == "u" else math.ceil(low)
        return rng.integers(least, int(high), shape).astype(dtype)
    values = rng.uniform(low, high, shape)
    if dtype in COMPLEX:
        values = values + 1j * rng.uniform(low, high, shape)
    return values.astype(dtype)


def same(ours: Any, reference: Any, dtype: str | None = None) -> None:
    """Compare shape, dtype (NumPy's, or the one given) and values of an array or of a tuple of arrays."""
    if isinstance(reference, (tuple, list)):
        assert len(ours) == len(reference)
        for one, two in zip(ours, reference, strict=True):
            same(one, two, dtype)
        return
    reference = np.asarray(reference)
    assert isinstance(ours, torch.Tensor)
    assert tuple(ours.shape) == reference.shape
    assert str(ours.dtype) == f"torch.{dtype or reference.dtype.name}"
    rtol = 2e-5 if ours.dtype in (xp.float32, xp.complex64) else 1e-12
    np.testing.assert_allclose(ours.resolve_conj().numpy(), reference, rtol=rtol, atol=rtol)


UNARY = {
    **dict.fromkeys(words("ceil floor trunc round sign"), (NUMERIC[:-2], -3, 3)),
    **dict.fromkeys(words("abs negative positive square"), (NUMERIC, -3, 3)),
    **dict.fromkeys(words("cos cosh sin sinh tan tanh exp expm1 asinh atan"), ([*REALS, *COMPLEX], -1, 1)),
    **dict.fromkeys(words("acos asin atanh"), ([*REALS, *COMPLEX], -0.9, 0.9)),
    **dict.fromkeys(words("acosh log log2 log10 log1p sqrt reciprocal"), ([*REALS, *COMPLEX], 1.1, 3)),
    **dict.fromkeys(words("isfinite isinf isnan"), (NUMERIC, -3, 3)),
    **dict.fromkeys(words("real imag conj round sign"), (COMPLEX, -3, 3)),
    "signbit": (REALS, -3, 3), "logical_not": (["bool"], 0, 1), "bitwise_invert": (["bool", *INTEGERS], -3, 3),
}  # fmt: skip


@by_first([(n, d, shape) for n, (ds, _, _) in UNARY.items() for d in ds for shape in ((), (0,), (2, 3))])
def test_of_one_array(name: str, dtype: str, shape: tuple[int, ...]) -> None:
    x = draw(dtype, shape, 1, *UNARY[name][1:])
    reference = getattr(np, name)(x)
    same(getattr(xp, name)(xp.asarray(x.copy())), np.asarray(reference))


def test_special_values_of_one_array() -> None:
    x = np.array([math.nan, -math.inf, math.inf, -0.0, 0.0, 0.5, 1.5, -2.5])
    with np.errstate(all="ignore"):
        for name in words(
            "ceil floor trunc round sign abs sqrt exp expm1 log1p tanh atan isnan isinf isfinite signbit"
        ):
            same(getattr(xp, name)(xp.asarray(x)), getattr(np, name)(x))


SHIFTS = "bitwise_left_shift bitwise_right_shift"
BINARY = {
    **dict.fromkeys(words("add multiply subtract equal not_equal"), NUMERIC),
    **{key: [*INTEGERS, *REALS] for key in words("greater greater_equal less less_equal maximum minimum")},
    **{key: [*INTEGERS, *REALS] for key in words("floor_divide remainder")},
    "divide": [*REALS, *COMPLEX], "pow": NUMERIC, "logaddexp": REALS, "hypot": REALS, "atan2": REALS, "copysign": REALS,
    "nextafter": REALS, **{key: ["bool"] for key in words("logical_and logical_or logical_xor")},
    **{key: ["bool", *INTEGERS] for key in words("bitwise_and bitwise_or bitwise_xor")},
    **dict.fromkeys(SHIFTS.split(), INTEGERS),
}  # fmt: skip


PAIRS = [((2, 3), (2, 3)), ((2, 1), (3,)), ((), (4,)), ((0, 2), (2,))]


@by_first([(n, d, *pair) for n, ds in BINARY.items() for d in ds for pair in PAIRS])
def test_of_two_arrays(name: str, dtype: str, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    low = 0.5 if name in f"pow floor_divide remainder divide {SHIFTS}" else -3
    x, y = draw(dtype, left, 1, low), draw(dtype, right, 2, low)
    same(getattr(xp, name)(xp.asarray(x), xp.asarray(y)), getattr(np, name)(x, y))


@pytest.mark.parametrize("name", [n for n, ds in BINARY.items() if {*ds} >= {*REALS}])
def test_a_number_takes_the_dtype_of_the_array(name: str) -> None:
    x = draw("float32", (3,), 1, 0.5)
    same(getattr(xp, name)(xp.asarray(x), 2), getattr(np, name)(x, np.float32(2)))
    same(getattr(xp, name)(2.0, xp.asarray(x)), getattr(np, name)(np.float32(2), x))


def promoted(one: str, two: str) -> str | None:
    """The standard's table; None where it has no entry, or where NumPy has another result than it."""
    kinds = [{"b": "b", "u": "i", "i": "i", "f": "f", "c": "f"}[np.dtype(d).kind] for d in (one, two)]
    joint = np.promote_types(one, two)
    return joint.name if kinds[0] == kinds[1] and (kinds[0] != "i" or joint.kind != "f") else None


@by_first(itertools.product(DTYPES.split(), repeat=2))
def test_promotion_counts_arrays_of_all_sizes(one: str, two: str) -> None:
    joint = promoted(one, two)
    if joint is None:
        return
    assert str(xp.result_type(getattr(xp, one), getattr(xp, two))) == f"torch.{joint}"
    assert xp.can_cast(getattr(xp, one), getattr(xp, two)) is np.can_cast(one, two)
    x, y = draw(one, (), 1), draw(two, (3,), 2)
    compare = "logical_and" if joint == "bool" else "multiply"
    for a, b in ((x, y), (y, x)):
        same(getattr(xp, compare)(xp.asarray(a), xp.asarray(b)), getattr(np, compare)(a, b), joint)
        same(xp.where(xp.asarray([True, False, True]), xp.asarray(a), xp.asarray(b)),
             np.where([True, False, True], a, b), joint)  # fmt: skip
    same(xp.concat([xp.asarray(x[None]), xp.asarray(y)]), np.concat([x[None], y]), joint)
    same(xp.stack([xp.asarray(x), xp.asarray(y[0])]), np.stack([x, y[0]]), joint)


def test_kinds_and_limits() -> None:
    assert xp.isdtype(xp.uint16, "unsigned integer") and not xp.isdtype(xp.uint16, "signed integer")
    assert xp.isdtype(xp.complex64, ("bool", "complex floating")) and not xp.isdtype(xp.bool, "numeric")
    assert xp.isdtype(xp.bfloat16, "real floating") and xp.isdtype(xp.float32, xp.float32)
    with pytest.raises(ValueError, match="unrecognized kind"):
        xp.isdtype(xp.int8, "whole")
    for name in REALS:
        assert (
            xp.finfo(getattr(xp, name)).eps == xp.finfo(xp.ones(1, dtype=getattr(xp, name))).eps == np.finfo(name).eps
        )
    for name in INTEGERS:
        assert (xp.iinfo(getattr(xp, name)).min, xp.iinfo(getattr(xp, name)).max) == (
            np.iinfo(name).min,
            np.iinfo(name).max,
        )
    info = xp.__array_namespace_info__()
    assert {*info.dtypes()} == {*DTYPES.split()} and {*info.dtypes(kind="complex floating")} == {*COMPLEX}
    assert info.default_device() in info.devices() and info.default_dtypes()["integral"] == xp.int64
    assert xp.result_type(xp.ones(1), 1j) == xp.complex64 and xp.result_type(xp.ones(1, dtype=xp.int8), 3) == xp.int8
    with pytest.raises(ValueError, match="at least one array"):
        xp.result_type(1, 2.0)


# ---------------------------------------------------------------------------------------- reductions
AXES = [None, (), 0, -1, (0, 1), (0, 2), (2, 0, 1)]
REDUCTIONS = {"max": [*INTEGERS, *REALS], "min": [*INTEGERS, *REALS], "mean": REALS, "sum": NUMERIC, "prod": NUMERIC,
              "all": ["bool", *NUMERIC], "any": ["bool", *NUMERIC], "std": REALS, "var": REALS,
              "count_nonzero": ["bool", *NUMERIC]}  # fmt: skip


@pytest.mark.parametrize(("name", "dtype"), [(n, d) for n, ds in REDUCTIONS.items() for d in ds])
def test_reductions_over_any_axes(name: str, dtype: str) -> None:
    x = draw(dtype, (2, 3, 2))
    for axis, keepdims in itertools.product(AXES, (False, True)):
        options = {"axis": axis, "keepdims": keepdims}
        same(getattr(xp, name)(xp.asarray(x), **options), np.asarray(getattr(np, name)(x, **options)))
    same(getattr(xp, name)(xp.asarray(x[0, 0, 0])), np.asarray(getattr(np, name)(x[0, 0, 0])))


def test_options_of_reductions() -> None:
    x = draw("float64", (4, 3))
    for name, correction in itertools.product(("std", "var"), (0, 1, 1.5)):
        same(
            getattr(xp, name)(xp.asarray(x), axis=0, correction=correction),
            getattr(np, name)(x, axis=0, ddof=correction),
        )
    same(xp.sum(xp.asarray(x), dtype=xp.float32), np.sum(x, dtype=np.float32))
    same(xp.prod(xp.asarray(x), axis=1, dtype=xp.complex128), np.prod(x, axis=1, dtype=complex))
    with pytest.raises(IndexError, match="out of bounds"):
        xp.sum(xp.ones(2), axis=1)
    with pytest.raises(IndexError, match="twice"):
        xp.sum(xp.ones((2, 2)), axis=(0, -2))
    for name in ("argmax", "argmin"):
        for axis, keepdims in itertools.product((None, 0, -1), (False, True)):
            options = {"axis": axis, "keepdims": keepdims}
            same(getattr(xp, name)(xp.asarray(x), **options), np.asarray(getattr(np, name)(x, **options)))


@pytest.mark.parametrize("dtype", NUMERIC)
def test_scans_and_differences(dtype: str) -> None:
    x = draw(dtype, (3, 4), 0, 1)
    for name, axis, initial in itertools.product(("cumulative_sum", "cumulative_prod"), (0, 1, -1), (False, True)):
        options = {"axis": axis, "include_initial": initial}
        same(getattr(xp, name)(xp.asarray(x), **options), getattr(np, name)(x, **options))
    same(xp.cumulative_sum(xp.asarray(x[0])), np.cumulative_sum(x[0]))
    if dtype in (*SIGNED, *REALS):
        same(xp.diff(xp.asarray(x), n=2, axis=0), np.diff(x, n=2, axis=0))
        same(xp.diff(xp.asarray(x), prepend=xp.asarray(x[:, :1]), append=xp.asarray(x)), np.diff(x, 1, 1, x[:, :1], x))
    with pytest.raises(ValueError, match="needs an axis"):
        xp.cumulative_sum(xp.asarray(x))


# ---------------------------------------------------------------------------------------- shapes, parts and choices
@pytest.mark.parametrize("dtype", DTYPES.split())
def test_shapes(dtype: str) -> None:
    x = draw(dtype, (2, 1, 3))
    t = xp.asarray(x)
    same(xp.broadcast_arrays(t, xp.asarray(x[0])), np.broadcast_arrays(x, x[0]))
    same(xp.broadcast_to(t, (4, 2, 5, 3)), np.broadcast_to(x, (4, 2, 5, 3)))
    same(xp.concat([t, t], axis=None), np.concat([x, x], axis=None))
    same(xp.concat((t, t), axis=-1), np.concat((x, x), axis=-1))
    same(xp.stack([t, t], axis=-1), np.stack([x, x], axis=-1))
    same(xp.unstack(t, axis=-1), np.unstack(x, axis=-1))
    for axis in (0, 3, -1, (0, 2), (-1, 1)):
        same(xp.expand_dims(t, axis=axis), np.expand_dims(x, axis))
    same(xp.squeeze(t, axis=(1,)), np.squeeze(x, 1))
    for axis in (None, 0, (0, -1)):
        same(xp.flip(t, axis=axis), np.flip(x, axis))
        same(xp.roll(t, 2, axis=axis), np.roll(x, 2, axis))
    same(xp.roll(t, (1, -1), axis=(0, 2)), np.roll(x, (1, -1), (0, 2)))
    same(xp.moveaxis(t, (0, 1), (2, 0)), np.moveaxis(x, (0, 1), (2, 0)))
    same(xp.permute_dims(t, (2, 0, 1)), np.permute_dims(x, (2, 0, 1)))
    same(xp.repeat(t, 2), np.repeat(x, 2))
    same(xp.repeat(t, xp.asarray([2, 0, 1], dtype=xp.int16), axis=2), np.repeat(x, [2, 0, 1], axis=2))
    same(xp.tile(t, (2, 1, 1, 2)), np.tile(x, (2, 1, 1, 2)))
    same(xp.reshape(t, (3, -1)), x.reshape(3, -1))
    same(xp.matrix_transpose(t), np.matrix_transpose(x))
    same(xp.tril(t[0], k=1), np.tril(x[0], 1))
    same(xp.triu(t[0], k=-1), np.triu(x[0], -1))
    same(xp.take(t, xp.asarray([2, -3, 1]), axis=2), np.take(x, [2, -3, 1], axis=2))
    same(
        xp.take_along_axis(t, xp.asarray([[[-1]], [[0]]]), axis=2), np.take_along_axis(x, np.array([[[-1]], [[0]]]), 2)
    )
    same(xp.nonzero(t), np.nonzero(x))
    same(xp.where(xp.asarray(x[0] != 0), t, t), np.where(x[0] != 0, x, x))


def test_refusals_of_shapes() -> None:
    x = xp.ones((2, 3))
    for call in (lambda: xp.squeeze(x, axis=0), lambda: xp.nonzero(xp.asarray(1)), lambda: xp.take(x, xp.asarray([0])),
                 lambda: xp.matrix_transpose(xp.ones(2)), lambda: xp.reshape(x.T, (6,), copy=False)):  # fmt: skip
        with pytest.raises(ValueError):
            call()
    view = xp.reshape(x, (6,), copy=False)
    view[0] = 7
    assert x[0, 0] == 7 and xp.reshape(x, (6,), copy=True).data_ptr() != x.data_ptr()
    with pytest.raises(TypeError, match="ndarray"):
        xp.add(x, np.ones(3))


@pytest.mark.parametrize("dtype", [*INTEGERS, *REALS])
def test_order_and_sets(dtype: str) -> None:
    x = draw(dtype, (4, 5))
    for axis, descending in itertools.product((0, -1), (False, True)):
        reference = np.flip(np.sort(x, axis=axis), axis) if descending else np.sort(x, axis=axis)
        same(xp.sort(xp.asarray(x), axis=axis, descending=descending), reference)
        order = xp.argsort(xp.asarray(x), axis=axis, descending=descending)
        same(xp.take_along_axis(xp.asarray(x), order, axis=axis), reference)
    ordered = np.sort(x[0])
    for side in ("left", "right"):
        same(xp.searchsorted(xp.asarray(ordered), xp.asarray(x), side=side), np.searchsorted(ordered, x, side=side))
    sorter = np.argsort(x[1])
    same(
        xp.searchsorted(xp.asarray(x[1]), xp.asarray(x), sorter=xp.asarray(sorter)),
        np.searchsorted(x[1], x, sorter=sorter),
    )
    same(xp.clip(xp.asarray(x), 1, 2), np.clip(x, 1, 2))
    same(xp.clip(xp.asarray(x), xp.asarray(x[0])), np.clip(x, x[0], None))
    sets(x)


@pytest.mark.parametrize("dtype", ["bool", *COMPLEX])
def test_sets_of_what_has_no_order_of_its_own(dtype: str) -> None:
    sets(np.concat([draw(dtype, (3, 2)), draw(dtype, (3, 2))]))


def sets(x: Any) -> None:
    for name in ("unique_all", "unique_counts", "unique_inverse"):
        ours, reference = getattr(xp, name)(xp.asarray(x)), getattr(np, name)(x)
        assert ours._fields == reference._fields
        same(tuple(ours), tuple(reference))
    same(xp.unique_values(xp.asarray(x)), np.sort(np.unique_values(x)))


def test_every_nan_is_a_value_of_its_own() -> None:
    x = xp.asarray([math.nan, 1.0, math.nan, -0.0, 0.0])
    values, indices, inverse, counts = xp.unique_all(x)
    assert len(values) == 4 and counts.tolist() == [2, 1, 1, 1] and indices.tolist() == [3, 1, 0, 2]
    assert xp.take(values, inverse)[1] == 1 and xp.unique_values(xp.ones(0)).shape == (0,)
    assert xp.isnan(xp.clip(xp.asarray([math.nan, 1.0]), 0, math.nan)).tolist() == [True, True]
    assert xp.clip(xp.asarray([200], dtype=xp.uint8), -5, 1000).tolist() == [200]
    whole = xp.clip(xp.ones(2), None, None)
    assert whole.tolist() == [1, 1]


# ---------------------------------------------------------------------------------------- making
def test_making() -> None:
    for arguments in ((5,), (2, 5), (5, 2), (5, 0, -2), (0, 1, 0.3), (3, 3), (1.0, 0.0)):
        same(
            xp.arange(*arguments), np.arange(*arguments), None if all(type(a) is int for a in arguments) else "float32"
        )
    same(xp.arange(3, dtype=xp.uint16), np.arange(3, dtype=np.uint16))
    for num, endpoint in itertools.product((0, 1, 4), (True, False)):
        same(xp.linspace(0, 3, num, endpoint=endpoint, dtype=xp.float64), np.linspace(0, 3, num, endpoint=endpoint))
    for k in (-4, -1, 0, 2, 9):
        same(xp.eye(3, 4, k=k, dtype=xp.int8), np.eye(3, 4, k=k, dtype=np.int8))
    same(xp.eye(2), np.eye(2, dtype=np.float32))
    for name, shape in itertools.product(("zeros", "ones"), ((), 3, (2, 0))):
        same(getattr(xp, name)(shape), getattr(np, name)(shape, dtype=np.float32))
        same(getattr(xp, f"{name}_like")(xp.ones(shape), dtype=xp.int16), getattr(np, name)(shape, dtype=np.int16))
    assert xp.empty((2, 3), dtype=xp.uint32).dtype == xp.uint32 and xp.empty_like(xp.ones(2)).shape == (2,)
    same(xp.full((2,), True), np.full((2,), True))
    same(xp.full_like(xp.ones(2), 3), np.full(2, 3, dtype=np.float32))
    x, y = draw("float32", (2,)), draw("float32", (3,))
    for indexing in ("xy", "ij"):
        same(xp.meshgrid(xp.asarray(x), xp.asarray(y), indexing=indexing), np.meshgrid(x, y, indexing=indexing))
    assert xp.meshgrid() == () and xp.broadcast_arrays() == ()
    same(xp.asarray([[1, 2], [3, 4]]), np.asarray([[1, 2], [3, 4]]))
    same(xp.asarray(np.arange(4)[::-1]), np.arange(4)[::-1])
    array = np.ones(2)
    assert xp.asarray(array).data_ptr() == array.ctypes.data != xp.asarray(array, copy=True).data_ptr()
    same(xp.from_dlpack(array), array)
    assert xp.from_dlpack(array, copy=True).data_ptr() != array.ctypes.data
    same(xp.astype(xp.asarray(x), xp.int32), x.astype("int32"))
    assert xp.astype(whole := xp.ones(2), xp.float32, copy=False) is whole


# ---------------------------------------------------------------------------------------- extensions
@pytest.mark.parametrize("dtype", [*REALS, *COMPLEX])
def test_linear_algebra(dtype: str) -> None:
    x, y = draw(dtype, (2, 3, 3)), draw(dtype, (3, 3), 1)
    positive = x @ x.mT.conj() + 3 * np.eye(3, dtype=dtype)
    t, u, p = (xp.asarray(np.ascontiguousarray(a)) for a in (x, y, positive))
    la, ref = xp.linalg, np.linalg
    same(xp.matmul(t, u), x @ y)
    same(xp.tensordot(t, u, axes=1), np.tensordot(x, y, 1))
    same(la.tensordot(t, u, axes=((2, 1), (0, 1))), np.tensordot(x, y, ((2, 1), (0, 1))))
    same(xp.vecdot(t, u, axis=-2), np.vecdot(x, y, axis=-2))
    same(la.outer(u[0], u[1]), np.outer(y[0], y[1]))
    same(la.cross(t, u[0]), ref.cross(x, y[0]))
    same(la.cholesky(p), ref.cholesky(positive))
    same(la.cholesky(p, upper=True), ref.cholesky(positive).mT.conj())
    for name in ("det", "inv", "pinv"):
        same(getattr(la, name)(p), getattr(ref, name)(positive))
    same(la.slogdet(t), tuple(ref.slogdet(x)))
    same(la.solve(t, u), ref.solve(x, y))
    same(la.solve(t, u[0]), ref.solve(x, y[0]))
    same(
        la.solve(xp.asarray(x[:1]), xp.asarray(y[:1])[..., None].mT.mT.reshape(1, 3, 1)),
        ref.solve(x[:1], y[:1, :, None]),
    )
    same(la.eigvalsh(p), ref.eigvalsh(positive))
    values, vectors = la.eigh(p)
    same((vectors * values.to(vectors.dtype)[:, None, :]) @ vectors.mT.conj(), positive)
    q, r = la.qr(t)
    same(q @ r, x)
    left, singular, right = la.svd(t, full_matrices=False)
    same((left * singular.to(left.dtype)[:, None, :]) @ right, x)
    same(la.svdvals(t), ref.svd(x, compute_uv=False))
    for offset in (-1, 0, 2):
        same(la.diagonal(t, offset=offset), np.linalg.diagonal(x, offset=offset))
        same(la.trace(t, offset=offset), np.linalg.trace(x, offset=offset))
    for k in (-1, 0, 3):
        same(la.matrix_power(p, k), ref.matrix_power(positive, k))
    for order, keepdims in itertools.product((1, -1, 2, -2, math.inf, -math.inf, "fro", "nuc"), (False, True)):
        same(la.matrix_norm(t, ord=order, keepdims=keepdims), ref.matrix_norm(x, ord=order, keepdims=keepdims))
    assert la.matrix_rank(xp.ones((2, 3, 3), dtype=getattr(xp, dtype))).tolist() == [1, 1]
    assert la.matrix_rank(p, rtol=2.0).tolist() == [0, 0]


@pytest.mark.parametrize("dtype", [*REALS, *COMPLEX])
@pytest.mark.parametrize("axis", [None, (), 0, (0, 1), (2, 0)])
def test_norms_of_vectors(dtype: str, axis: Any) -> None:
    x = draw(dtype, (2, 3, 2))
    for order, keepdims in itertools.product((0, 1, 2, 3, -1, math.inf, -math.inf), (False, True)):
        ours = xp.linalg.vector_norm(xp.asarray(x), axis=axis, ord=order, keepdims=keepdims)
        if axis == ():  # NumPy has no such call: every element is a vector of its own
            same(ours, (x != 0).astype(abs(x).dtype) if order == 0 else abs(x))
        else:
            same(ours, np.linalg.vector_norm(x, axis=axis, ord=order, keepdims=keepdims), abs(x).dtype.name)


@pytest.mark.parametrize("dtype", [n for n in INTEGERS if n not in ("uint16", "uint32", "uint64")])
def test_products_of_integers(dtype: str) -> None:
    x, y = draw(dtype, (2, 3)), draw(dtype, (3, 2), 1)
    t, u = xp.asarray(x), xp.asarray(y)
    same(xp.matmul(t, u), x @ y)
    same(xp.tensordot(t, u, axes=1), np.tensordot(x, y, 1))
    same(xp.vecdot(t, t), np.vecdot(x, x))
    same(xp.linalg.outer(t[0], u[0]), np.outer(x[0], y[0]))
    same(xp.linalg.cross(t, t[0]), np.linalg.cross(x, x[0]))
    same(xp.linalg.trace(t), np.linalg.trace(x))


@pytest.mark.parametrize("dtype", [*REALS, *COMPLEX])
def test_fourier_transforms(dtype: str) -> None:
    x = draw(dtype, (4, 6))
    t = xp.asarray(x)
    real = dtype in REALS
    single = np.dtype(dtype).itemsize == (4 if real else 8)
    complexes, reals = ("complex64", "float32") if single else ("complex128", "float64")
    along_one = ("rfft", "ihfft") if real else ("fft", "ifft", "hfft", "irfft")
    for name, n, axis, norm in itertools.product(along_one, (None, 5), (0, -1), ("backward", "ortho", "forward")):
        reference = getattr(np.fft, name)(x, n, axis, norm)
        same(
            getattr(xp.fft, name)(t, n=n, axis=axis, norm=norm),
            reference,
            reals if name in ("hfft", "irfft") else complexes,
        )
    for name, axes in itertools.product(("rfftn",) if real else ("fftn", "ifftn", "irfftn"), (None, (0, 1), (1,))):
        reference = getattr(np.fft, name)(x, axes=axes)
        same(getattr(xp.fft, name)(t, axes=axes), reference, reals if name == "irfftn" else complexes)
    for axes in (None, 0, (0, 1)):
        same(xp.fft.fftshift(t, axes=axes), np.fft.fftshift(x, axes))
        same(xp.fft.ifftshift(t, axes=axes), np.fft.ifftshift(x, axes))
    same(xp.fft.fftfreq(5, d=0.5, dtype=xp.float64), np.fft.fftfreq(5, 0.5))
    same(xp.fft.rfftfreq(6, d=0.5, dtype=xp.float64), np.fft.rfftfreq(6, 0.5))


# ---------------------------------------------------------------------------------------- the array
def test_the_array_names_its_namespace() -> None:
    x = torch.ones(2)
    assert x.__array_namespace__() is xp and x.__array_namespace__(api_version="2022.12") is xp
    with pytest.raises(ValueError, match=r"2031\.12"):
        x.__array_namespace__(api_version="2031.12")
    assert x.to_device("cpu") is x and x.to_device("meta").device.type == "meta"
    with pytest.raises(ValueError, match="no streams"):
        x.to_device("cpu", stream=1)


def test_everything_is_recorded() -> None:
    x = torch.rand(3, 4, dtype=torch.float64, requires_grad=True)

    def program(x: Any) -> Any:
        y = xp.clip(xp.sort(x, axis=0), 0.1, 0.9) * xp.asarray(2.0)
        y = xp.linalg.vector_norm(xp.concat([y, xp.sign(y) * y]), axis=0) + xp.max(x, axis=0)
        return xp.std(xp.take(y, xp.asarray([0, -1, 2]))) + xp.sum(xp.unique_values(x) ** 2) + xp.prod(y, axis=(0,))

    torch.autograd.gradcheck(program, x)


def test_importing_wengert_does_not_import_it() -> None:
    import subprocess
    import sys

    program = "import sys, wengert; assert not [m for m in sys.modules if 'wengert.array_api' in m]"
    subprocess.run([sys.executable, "-c", program], check=True)
