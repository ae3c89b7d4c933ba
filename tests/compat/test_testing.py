"""``torch.testing``: what is close, the texts of what is not, and tensors to try things on."""

from __future__ import annotations

import sys
from collections import OrderedDict
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import wengert
from wengert.testing import assert_close, make_tensor
from wengert.testing._internal.common_utils import TestCase

NAN = float("nan")

# name -> (a function from the library to actual and expected, the options)
CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "equal": (lambda t: (t.ones(2), t.ones(2)), {}),
    "close": (lambda t: (t.ones(2), t.ones(2) + 1e-6), {}),
    "apart": (lambda t: (t.tensor([1.0, 2.0, 3.0]), t.tensor([1.0, 2.5, 30.0])), {}),
    "two dimensions": (lambda t: (t.arange(6.0).reshape(2, 3), t.arange(6.0).reshape(2, 3) * 1.5), {}),
    "exact": (lambda t: (t.tensor([1.0, 2.0]), t.tensor([1.0, 2.5])), {"rtol": 0, "atol": 0}),
    "tolerances": (lambda t: (t.tensor([1.0, 2.0]), t.tensor([1.0, 2.5])), {"rtol": 0.1, "atol": 0.05}),
    "tolerances that do": (lambda t: (t.tensor([1.0, 2.0]), t.tensor([1.0, 2.5])), {"rtol": 0.3, "atol": 0.0}),
    "one tolerance": (lambda t: (t.ones(1), t.ones(1)), {"rtol": 0.1}),
    "other tolerance": (lambda t: (1.0, 1.0), {"atol": 0.1}),
    "zero expected": (lambda t: (t.tensor([1.0, 0.0]), t.tensor([0.0, 0.0])), {}),
    "nan": (lambda t: (t.tensor([NAN, 1.0]), t.tensor([NAN, 1.0])), {}),
    "nan is nan": (lambda t: (t.tensor([NAN, 1.0]), t.tensor([NAN, 1.0])), {"equal_nan": True}),
    "inf": (lambda t: (t.tensor([float("inf")]), t.tensor([1.0])), {}),
    "scalar": (lambda t: (t.tensor(1.0), t.tensor(2.0)), {}),
    "scalar zero": (lambda t: (t.tensor(1.0), t.tensor(0.0)), {}),
    "integers": (lambda t: (t.tensor([1, 2]), t.tensor([1, 5])), {}),
    "bytes": (lambda t: (t.tensor([1, 2], dtype=t.uint8), t.tensor([1, 5], dtype=t.uint8)), {}),
    "booleans of tensors": (lambda t: (t.tensor([True, False]), t.tensor([True, True])), {}),
    "complex": (lambda t: (t.tensor([1 + 1j]), t.tensor([1 + 2j])), {}),
    "half": (lambda t: (t.tensor([1.0], dtype=t.float16), t.tensor([1.1], dtype=t.float16)), {}),
    "shape": (lambda t: (t.ones(2), t.ones(3)), {}),
    "dtype": (lambda t: (t.ones(2), t.ones(2, dtype=t.float64)), {}),
    "dtype unchecked": (lambda t: (t.ones(2), t.ones(2, dtype=t.float64)), {"check_dtype": False}),
    "dtype unchecked, apart": (lambda t: (t.ones(2), t.tensor([1, 3])), {"check_dtype": False}),
    "unsigned unchecked": (lambda t: (t.ones(2).to(t.uint16), t.tensor([1, 3])), {"check_dtype": False}),
    "stride": (lambda t: (t.ones(2, 3), t.ones(3, 2).t()), {"check_stride": True}),
    "stride unchecked": (lambda t: (t.ones(2, 3), t.ones(3, 2).t()), {}),
    "requires grad": (lambda t: (t.ones(2, requires_grad=True), t.zeros(2)), {}),
    "parameter": (lambda t: (t.nn.Parameter(t.ones(2)), t.ones(2)), {}),
    "subclasses": (lambda t: (t.nn.Parameter(t.ones(2)), t.ones(2)), {"allow_subclasses": False}),
    "empty": (lambda t: (t.ones(0), t.ones(0)), {}),
    "numbers": (lambda t: (1.0, 1.1), {}),
    "whole numbers": (lambda t: (1, 2), {}),
    "number close": (lambda t: (1.0, 1.0 + 1e-9), {}),
    "number types": (lambda t: (1, 1.0), {}),
    "number types unchecked": (lambda t: (1, 1.0), {"check_dtype": False}),
    "number zero": (lambda t: (1e-3, 0.0), {}),
    "number nan": (lambda t: (NAN, NAN), {}),
    "number nan is nan": (lambda t: (NAN, NAN), {"equal_nan": True}),
    "complex numbers": (lambda t: (1 + 1j, 1 - 1j), {}),
    "numpy numbers": (lambda t: (np.float64(1), 2.0), {}),
    "booleans": (lambda t: (True, False), {}),
    "numpy booleans": (lambda t: (np.bool_(True), True), {}),
    "none": (lambda t: (None, None), {}),
    "none and one": (lambda t: (None, 1), {}),
    "arrays": (lambda t: (np.ones(2), np.array([1.0, 3.0])), {}),
    "array and tensor": (lambda t: (np.ones(2), t.ones(2)), {}),
    "number and tensor": (lambda t: (1.0, t.tensor(1.0)), {}),
    "texts": (lambda t: ("a", "a"), {}),
    "objects": (lambda t: (object, object), {}),
    "lists": (lambda t: ([1, t.ones(1)], (1, t.zeros(1))), {}),
    "lengths": (lambda t: ([1, 2], [1]), {}),
    "nested lengths": (lambda t: ({"a": [[1], [1, 2]]}, {"a": [[1], [1]]}), {}),
    "mappings": (lambda t: ({"b": 1, "a": t.ones(1)}, OrderedDict(a=t.ones(1), b=2)), {}),
    "keys": (lambda t: ({"b": 1, "a": 2}, {"b": 1, "c": 3}), {}),
    "structure before values": (lambda t: ([1, [2]], [5, [2, 3]]), {}),
    "first of two": (lambda t: ([1, 2], [3, 4]), {}),
    "text": (lambda t: (1, 2), {"msg": "no"}),
    "text from text": (lambda t: ([1.0], [2.0]), {"msg": lambda text: f"before\n{text}\nafter"}),
    "text and structure": (lambda t: ([1], [1, 2]), {"msg": "no"}),
}
CLOSE = {
    "equal", "close", "tolerances that do", "nan is nan", "dtype unchecked", "stride unchecked", "parameter", "empty",
    "number close", "number types unchecked", "number nan is nan", "numpy booleans", "none",
}  # fmt: skip


def outcome(lib: Any, name: str) -> tuple[Any, str]:
    make, options = CASES[name]
    try:
        lib.testing.assert_close(*make(lib), **options)
    except Exception as error:  # noqa: BLE001  what it is, is the question
        return type(error), str(error)
    return None, ""


@pytest.mark.parametrize("name", CASES)
def test_what_is_close(name: str) -> None:
    kind, _ = outcome(wengert, name)
    assert (kind is None) == (name in CLOSE)


@pytest.mark.parametrize("name", CASES)
def test_errors_are_torchs_to_the_character(torch: ModuleType, name: str) -> None:
    assert outcome(wengert, name) == outcome(torch, name)


def test_the_text_of_a_mismatch() -> None:
    with pytest.raises(AssertionError) as error:
        assert_close(wengert.tensor([[1.0, 2.0], [3.0, 4.0]]), wengert.tensor([[1.0, 2.0], [3.5, 2.0]]))
    assert str(error.value) == (
        "Tensor-likes are not close!\n\n"
        "Mismatched elements: 2 / 4 (50.0%)\n"
        "Greatest absolute difference: 2.0 at index (1, 1) (up to 1e-05 allowed)\n"
        "Greatest relative difference: 1.0 at index (1, 1) (up to 1.3e-06 allowed)"
    )


def test_a_bool_is_not_a_number(torch: ModuleType) -> None:
    for lib in (wengert, torch):
        with pytest.raises(RuntimeError, match=r"Originating a NumberPair\(\) at item \[0\] with\n\nbool\(\): True"):
            lib.testing.assert_close([True], [1])


def test_assert_allclose_is_older(torch: ModuleType) -> None:
    for lib in (wengert, torch):
        with pytest.warns(FutureWarning, match=r"`torch.testing.assert_allclose\(\)` is deprecated since 1.12"):
            lib.testing.assert_allclose(lib.ones(2), lib.ones(2, dtype=lib.float64) + 1e-5)
        with pytest.warns(FutureWarning), pytest.raises(AssertionError, match="mine"):
            lib.testing.assert_allclose([1.0], [2.0], msg="mine")
        with pytest.warns(FutureWarning):
            lib.testing.assert_allclose([NAN], [NAN])


# --------------------------------------------------------------------------------------------------------- make_tensor
DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64"]
OPTIONS: list[dict[str, Any]] = [
    {},
    {"low": 0, "high": 1},
    {"noncontiguous": True},
    {"exclude_zero": True},
    {"low": -1e3, "high": 1e3},
    {"requires_grad": True},
]


@pytest.mark.parametrize("dtype", [*DTYPES, "complex128", "uint16", "bfloat16"])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_made_tensors_are_torchs(torch: ModuleType, dtype: str, options: dict[str, Any]) -> None:
    if dtype == "uint16" and "exclude_zero" in options:
        pytest.skip("torch itself cannot")
    found = []
    for lib in (wengert, torch):
        lib.manual_seed(0)
        try:
            t = lib.testing.make_tensor(3, 5, dtype=getattr(lib, dtype), device="cpu", **options)
            found.append((t.tolist(), tuple(t.shape), t.stride(), t.storage_offset(), t.requires_grad))
        except (ValueError, TypeError) as error:
            found.append((type(error), str(error)))
    assert found[0] == found[1]


@pytest.mark.parametrize("dtype", DTYPES)
def test_made_tensors_lie_in_the_interval(dtype: str) -> None:
    kind = getattr(wengert, dtype)
    t = make_tensor((50,), dtype=kind, device="cpu", exclude_zero=True, noncontiguous=True)
    assert t.dtype is kind and t.shape == (50,) and t.stride() == (2,) and not (t == 0).any()
    parts = wengert.view_as_real(t) if kind.is_complex else t
    assert (parts.double().abs() <= 10).all()


def test_made_tensors_of_a_layout() -> None:
    t = make_tensor((2, 3, 4, 5), dtype=wengert.float32, device="cpu", memory_format=wengert.channels_last)
    assert t.is_contiguous(memory_format=wengert.channels_last)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"low": 1.0, "high": NAN}, "cannot be NaN"),
        ({"low": 2, "high": 1}, "`low` must be less than `high`, but got 2 >= 1"),
        ({"dtype": "uint8", "low": -5, "high": -1}, r"but torch.uint8 only supports \[0, 256\)"),
        ({"dtype": "int8", "low": 3, "high": 3}, "`low` must be less than `high`"),
        ({"noncontiguous": True, "memory_format": "channels_last"}, "mutually exclusive"),
        ({"dtype": "int64", "requires_grad": True}, "not supported for boolean and integral dtypes"),
    ],
)
def test_errors_of_make_tensor(torch: ModuleType, options: dict[str, Any], message: str) -> None:
    texts = []
    for lib in (wengert, torch):
        given = {"dtype": "float32", **options}
        for name in ("dtype", "memory_format"):
            if name in given:
                given[name] = getattr(lib, given[name])
        with pytest.raises(ValueError, match=message) as error:
            lib.testing.make_tensor((2, 3, 1, 1), device="cpu", **given)
        texts.append(str(error.value))
    assert texts[0] == texts[1]
    for lib in (wengert, torch):
        with pytest.warns(FutureWarning, match="Passing `low==high`"):
            assert lib.testing.make_tensor((1,), dtype=lib.float32, device="cpu", low=1, high=1).tolist() == [1.0]


def test_texts_of_files_beside_the_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("some_tests")
    module.__file__ = str(tmp_path / "some_tests.py")
    monkeypatch.setitem(sys.modules, "some_tests", module)
    (tmp_path / "expect").mkdir()

    class TestTexts(TestCase):
        __module__ = "some_tests"
        __qualname__ = "TestTexts"

        def runTest(self) -> None:
            """Nothing."""

    case = TestTexts()
    with pytest.raises(RuntimeError, match=r"^I got this output for TestTexts\.runTest \(first\):\n\na text\n"):
        case.assertExpected("a text", "first")
    with monkeypatch.context() as accepting:
        accepting.setenv("EXPECTTEST_ACCEPT", "1")
        case.assertExpected("a text", "first")
        case.assertExpected("another", None)
    assert sorted(p.name for p in (tmp_path / "expect").iterdir()) == [
        "TestTexts.runTest-first.expect", "TestTexts.runTest.expect",
    ]  # fmt: skip
    case.assertExpected("a text", "first")
    case.assertExpected("another")
    with pytest.raises(AssertionError, match="a text"):
        case.assertExpected("another text", "first")
    with pytest.raises(TypeError, match="assertExpected is strings only"):
        case.assertExpected(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("of", ["wengert", pytest.param("torch", marks=pytest.mark.compare)])
def test_jagged_tensors_are_compared_by_their_elements(of: str) -> None:
    """Their offsets must be the same tensor."""
    T = pytest.importorskip(of)
    parts = [T.ones(2, 2), T.zeros(3, 2)]
    jagged = T.nested.nested_tensor(parts, layout=T.jagged)
    T.testing.assert_close(jagged, jagged.clone())
    with pytest.raises(AssertionError, match="Mismatched elements: 10 / 10"):
        T.testing.assert_close(jagged, jagged + 1)
    with pytest.raises(AssertionError, match="'shape' do not match"):
        T.testing.assert_close(jagged, T.nested.nested_tensor(parts, layout=T.jagged))


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_cases_compare_strided_nested_tensors_part_by_part() -> None:
    compare, parts = TestCase().assertEqual, [wengert.ones(2, 2), wengert.zeros(3, 2)]
    strided = wengert.nested.nested_tensor(parts, layout=wengert.strided)
    compare(strided, strided.clone())
    with pytest.raises(AssertionError, match="Mismatched elements: 4 / 4"):
        compare(strided, wengert.nested.nested_tensor([wengert.zeros(2, 2), parts[1]], layout=wengert.strided))
