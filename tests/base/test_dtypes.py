"""dtypes, promotion, Size, device: by rule, and where torch is installed against all that torch says."""

from __future__ import annotations

import copy
import itertools
import operator
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from wengert._base import constants as _constants
from wengert._base import dtypes as w
from wengert._base.limits import finfo, iinfo

NUMPY_NAMES = "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float32 float64 complex64 complex128"
NATIVE = [w.DTYPES[name] for name in NUMPY_NAMES.split()]
ALL = list(dict.fromkeys(w.DTYPES.values()))
DEFAULTS = ["float16", "bfloat16", "float32", "float64"]


@pytest.fixture(autouse=True)
def _default_float32() -> Iterator[None]:
    yield
    w.set_default_dtype(w.float32)


@pytest.fixture
def bf16() -> np.dtype:
    pytest.importorskip("ml_dtypes")
    return w.bfloat16.np


def outcome(call: Callable[..., Any], *args: Any) -> str:
    """What a call gives, or its error's class and first sentence, as text that is the same for torch and wengert."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return repr(call(*args))
        except Exception as error:  # noqa: BLE001 - errors are what is compared
            return f"{type(error).__name__}: {str(error).splitlines()[0]}"


# --- dtype


def test_names_and_aliases() -> None:
    assert repr(w.float32) == str(w.float32) == f"{w.float32}" == "torch.float32"
    assert repr(w.bool_) == "torch.bool" and w.DTYPES["bool"] is w.bool_
    assert repr(type(w.float32)) == "<class 'torch.dtype'>"
    aliases = {"float": "float32", "double": "float64", "half": "float16", "int": "int32", "long": "int64"}
    aliases |= {"short": "int16", "cfloat": "complex64", "cdouble": "complex128", "chalf": "complex32", "bit": "uint1"}
    for alias, name in aliases.items():
        assert w.DTYPES[alias] is w.DTYPES[name]
    for name, each in w.DTYPES.items():
        if name not in ("float", "int", "bool"):
            assert getattr(w, name) is each


@pytest.mark.parametrize("each", NATIVE, ids=repr)
def test_numpy_says_the_same(each: w.dtype) -> None:
    assert each.np == np.dtype(each.name) and each.np.isnative
    assert w.BY_NUMPY[each.np] is w.from_numpy_dtype(each.np) is each
    assert each.itemsize == each.np.itemsize
    assert each.is_floating_point == (each.np.kind == "f") == (each.np in w.FLOATING)
    assert each.is_complex == (each.np.kind == "c") == (each.np in w.COMPLEX)
    assert (each.np in w.INEXACT) == (each.np.kind in "fc") == (each.np not in w.INTEGRAL)
    assert each.is_signed == (each.np.kind in "ifc")
    if each.is_complex:
        assert each.to_real().np == np.zeros((), each.np).real.dtype and each.to_complex() is each


@pytest.mark.parametrize("each", [*ALL, *w.LAYOUTS.values(), *w.MEMORY_FORMATS.values()], ids=repr)
def test_a_constant_is_one_object(each: Any) -> None:
    assert copy.copy(each) is each and copy.deepcopy([each])[0] is each
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(each, protocol)) is each
    assert each == each and each != str(each) and {each: 1}[each] == 1
    with pytest.raises(TypeError, match=rf"^cannot create 'torch.{type(each).__name__}' instances$"):
        type(each)("float32")
    with pytest.raises(TypeError, match="is not an acceptable base type"):
        type("Sub", (type(each),), {})
    with pytest.raises(AttributeError, match="object has no attribute 'foo'"):
        each.foo = 1
    with pytest.raises(AttributeError, match="is not writable"):
        each.name = "foo"
    with pytest.raises(AttributeError, match="is not writable"):
        del each.name
    with pytest.raises(AttributeError, match="'foo'"):
        each.foo


def test_dtypes_without_numpy() -> None:
    for each in set(ALL) - set(NATIVE) - {w.bfloat16}:
        with pytest.raises(TypeError, match=f"torch.{each.name} has no NumPy dtype"):
            each.np
    with pytest.raises(RuntimeError, match=r"^isSignedType not supported for quantized types$"):
        w.qint8.is_signed
    with pytest.raises(RuntimeError, match=r"^Unknown Complex ScalarType for Long$"):
        w.int64.to_complex()


def test_bfloat16_comes_late_and_is_known_everywhere(bf16: np.dtype) -> None:
    assert w.BY_NUMPY[bf16] is w.bfloat16
    assert bf16 in w.FLOATING and bf16 in w.INEXACT and bf16 not in w.INTEGRAL
    code = (
        "import sys\nfrom wengert._base import dtypes as w\nfrom wengert._base.limits import finfo\n"
        "assert 'ml_dtypes' not in sys.modules\n"
        "w.bfloat16.itemsize; finfo(w.bfloat16); w.promote_types(w.bfloat16, w.int8)\n"
        "assert 'ml_dtypes' not in sys.modules\n"
        "import ml_dtypes, numpy\nheld = w.FLOATING\nx = numpy.zeros(2, ml_dtypes.bfloat16)\n"
        "assert x.dtype not in held\nassert w.BY_NUMPY[x.dtype] is w.bfloat16\n"
        "assert x.dtype in held and x.dtype in w.INEXACT and w.bfloat16.np == x.dtype\nprint('ok')"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stdout == "ok\n", run.stderr


def test_bfloat16_without_ml_dtypes_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(ImportError, match=r"pip install 'wengert\[bfloat16\]'"):
        w._late_np(w.bfloat16)


def test_unsupported_arrays() -> None:
    supported = "float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16"
    for array, name in (
        (np.array([None]), "object_"),
        (np.array(["a"]), "str_"),
        (np.array([1], "M8[s]"), "datetime64"),
    ):
        with pytest.raises(TypeError) as error:
            w.from_numpy_dtype(array.dtype)
        assert str(error.value) == (
            f"can't convert np.ndarray of type numpy.{name}. "
            f"The only supported types are: {supported}, uint8, and bool."
        )
    with pytest.raises(ValueError, match=r"^given numpy array has byte order different from the native byte order"):
        w.BY_NUMPY[np.dtype("float32").newbyteorder()]


def test_as_dtype() -> None:
    assert [w.as_dtype(each) for each in (float, int, bool, complex)] == [w.float64, w.int64, w.bool_, w.complex128]
    assert w.as_dtype(w.int8) is w.int8
    wrong = {"str": "float32", "type": np.float32, "numpy.dtypes.Float32DType": np.dtype("float32"), "NoneType": None}
    wrong |= {"list": [], "int": 1, "torch.device": w.device("cpu"), "numpy.int64": np.int64(1)}
    for name, value in wrong.items():
        with pytest.raises(TypeError, match=f"^zeros\\(\\): argument 'dtype' must be torch.dtype, not {name}$"):
            w.as_dtype(value, "zeros")
    with pytest.raises(TypeError, match=r"^f\(\): argument 'a' \(position 2\) must be torch.dtype, not object$"):
        w.as_dtype(object(), "f", "a", 2)


# --- the default dtype


def test_default_dtype() -> None:
    assert w.get_default_dtype() is w.default_dtype is w.float32
    operands = ((np.dtype("int8"), "dim"), (np.dtype("float64"), "scalar"))
    for each, of_complex in ((w.float64, w.complex128), (w.float16, w.complex32), (w.float32, w.complex64)):
        w.set_default_dtype(each)
        assert w.get_default_dtype() is w.default_dtype is each
        assert w.default_np == each.np and w.default_complex_dtype is of_complex
        assert w.result_dtype(operands) == each.np
        assert finfo() == finfo(each)


def test_default_dtype_refuses() -> None:
    kept = w.get_default_dtype()
    for wrong in (w.int32, w.complex64, w.bool_, w.bits8):
        with pytest.raises(TypeError, match=r"^only floating-point types are supported as the default type$"):
            w.set_default_dtype(wrong)
    for wrong in (float, "float32", None, np.float32):
        with pytest.raises(TypeError, match=r"^invalid dtype object: only floating-point types are supported"):
            w.set_default_dtype(wrong)
    with pytest.raises(TypeError, match=r"^couldn't find storage object Float8_e4m3fnStorage$"):
        w.set_default_dtype(w.float8_e4m3fn)
    assert w.get_default_dtype() is kept


# --- promotion


def test_promotion_is_symmetric_and_bounded_below() -> None:
    order = {"bool": 0, "unsigned": 1, "signed": 1, "float": 2, "complex": 3}
    narrow = [each for each in [*NATIVE, w.bfloat16, w.complex32] if each.name not in ("uint16", "uint32", "uint64")]
    for a, b in itertools.product(narrow, repeat=2):
        result = w.promote_types(a, b)
        assert result is w.promote_types(b, a)
        assert order[result.kind] == max(order[a.kind], order[b.kind])
        assert w.promote_types(result, a) is result and w.can_cast(a, result)
    for a, b, c in itertools.product(narrow, repeat=3):
        if a.is_floating_point == b.is_floating_point == c.is_floating_point:
            assert w.promote_types(w.promote_types(a, b), c) is w.promote_types(a, w.promote_types(b, c))


def test_promotion_examples() -> None:
    cases = [
        ("int64", "float16", "float16"),
        ("uint8", "int8", "int16"),
        ("float16", "bfloat16", "float32"),
        ("complex32", "bfloat16", "complex64"),
        ("complex64", "float64", "complex128"),
        ("complex32", "int64", "complex32"),
        ("uint64", "float16", "float16"),
        ("uint16", "uint16", "uint16"),
        ("bool", "uint8", "uint8"),
    ]
    for a, b, result in cases:
        assert w.promote_types(w.DTYPES[a], w.DTYPES[b]) is w.DTYPES[result]
    assert w.promote_types(float, w.int8) is w.float64
    with pytest.raises(RuntimeError, match=r"uint64 types is not supported, attempted to promote UInt16 and Char$"):
        w.promote_types(w.uint16, w.int8)
    with pytest.raises(RuntimeError, match=r"^Promotion for Float8 Types is not supported"):
        w.promote_types(w.float8_e5m2, w.float32)
    with pytest.raises(TypeError, match=r"^promote_types\(\): argument 'type2' \(position 2\) must be"):
        w.promote_types(w.int8, "float32")
    with pytest.raises(TypeError, match=r"not list$"):
        w.promote_types(w.int8, [])
    with pytest.raises(TypeError, match=r"^can_cast\(\): argument 'to' \(position 2\) must be torch.dtype, not int$"):
        w.can_cast(w.int8, 3)


def test_can_cast_examples() -> None:
    assert w.can_cast(w.float64, w.float16) and w.can_cast(w.int64, w.uint8) and w.can_cast(w.bool_, w.int8)
    assert w.can_cast(w.float32, w.complex64) and w.can_cast(w.int8, w.float16)
    assert not w.can_cast(w.complex64, w.float64) and not w.can_cast(w.float32, w.int64)
    assert not w.can_cast(w.uint8, w.bool_) and not w.can_cast(float, int)


def test_result_dtype_examples(bf16: np.dtype) -> None:
    def result(*operands: str) -> str:
        pairs = (each.split() for each in operands)
        return str(w.result_dtype(tuple((w.DTYPES[name].np, kind) for name, kind in pairs)))

    assert result("int64 dim", "float64 scalar") == "float32"
    assert result("float32 dim", "float64 zero") == "float32"
    assert result("float32 zero", "float64 dim") == "float64"
    assert result("int8 dim", "int64 zero") == "int8"
    assert result("int8 zero", "int64 scalar") == "int8"
    assert result("bool dim", "int64 scalar") == "int64"
    assert result("int8 dim", "float64 zero") == "float64"
    assert result("int8 dim", "float64 zero", "complex128 scalar") == "complex128"
    assert result("float64 dim", "complex64 zero") == "complex128"
    assert result("bfloat16 dim", "complex128 scalar") == "complex64"
    assert result("float16 dim", "bfloat16 dim") == "float32"
    assert result("uint16 dim", "int64 scalar") == "uint16"
    assert result("float64 scalar", "complex128 scalar") == "complex64"
    assert result("int8 dim", "int16 dim", "uint8 dim", "bool dim") == "int16"
    with pytest.raises(TypeError, match="complex32 has no NumPy dtype"):
        result("float16 dim", "complex128 scalar")
    with pytest.raises(RuntimeError, match="attempted to promote Bool and UInt16"):
        result("bool dim", "uint16 zero")
    with pytest.raises(ValueError, match="operands must be"):
        w.result_dtype(())
    with pytest.raises(ValueError, match="operands must be"):
        result("int8 dimension")


def test_result_dtype_remembers_few() -> None:
    f32 = np.dtype("float32")
    pair = ((f32, "dim"), (f32, "zero"))
    w.PROMOTED.clear()
    assert w.PROMOTED[pair] == f32 and pair in w.PROMOTED
    many = pair * 100
    assert w.PROMOTED[many] == f32 and many not in w.PROMOTED


# --- Size


def test_size_is_a_tuple_that_prints_as_torch() -> None:
    size = w.Size([2, 3])
    assert repr(size) == str(size) == f"{size}" == "torch.Size([2, 3])" and repr(w.Size()) == "torch.Size([])"
    assert repr(w.Size) == "<class 'torch.Size'>" and w.Size.__name__ == "Size"
    assert size == (2, 3) and size != [2, 3] and hash(size) == hash((2, 3)) and isinstance(size, tuple)
    assert size.numel() == 6 and w.Size([]).numel() == 1 and w.Size([4, 0]).numel() == 0
    assert size.count(2) == 1 and size.index(3) == 1 and size[-1] == 3 and list(size) == [2, 3]
    assert w.make_size((2, 3)) == size and type(w.make_size((2, 3))) is w.Size
    assert not hasattr(size, "__dict__")
    with pytest.raises(TypeError, match=r"type 'torch\.Size' is not an acceptable base type"):
        type("Sub", (w.Size,), {})


def test_size_operations_stay_sizes() -> None:
    size = w.Size([2, 3])
    results = [size[:1], size[::-1], size + size, size + (4,), (4,) + size, size * 2, 2 * size, copy.copy(size)]
    results += [copy.deepcopy(size), pickle.loads(pickle.dumps(size)), size * np.int64(1)]
    expected = [(2,), (3, 2), (2, 3, 2, 3), (2, 3, 4), (4, 2, 3), (2, 3, 2, 3), (2, 3, 2, 3), (2, 3)]
    expected += [(2, 3), (2, 3), (2, 3)]
    assert results == expected and all(type(each) is w.Size for each in results)


def test_size_items() -> None:
    class Three:
        def __index__(self) -> int:
            return 3

    assert w.Size([Three(), np.array(2), True]) == (3, 2, 1)
    assert [type(each) for each in w.Size([Three(), np.array(2), True, np.int8(1)])] == [int, int, int, np.int8]
    assert w.Size(each for each in range(2)) == (0, 1)
    for items, place, name in (([2.0], 0, "float"), ([1, "a"], 1, "str"), ([1, None], 1, "NoneType"), ("ab", 0, "str")):
        with pytest.raises(TypeError) as error:
            w.Size(items)
        assert str(error.value) == f"torch.Size() takes an iterable of 'int' (item {place} is '{name}')"


# --- device, layout, memory format


def test_device() -> None:
    cpu = w.device("cpu")
    assert (repr(cpu), str(cpu), f"{cpu}", cpu.type, cpu.index) == ("device(type='cpu')", "cpu", "cpu", "cpu", None)
    one = w.device("cuda:1")
    assert (repr(one), str(one), one.type, one.index) == ("device(type='cuda', index=1)", "cuda:1", "cuda", 1)
    same = [w.device("cuda", 1), w.device(one), w.device(type="cuda", index=1), w.device("cuda", index=np.int64(1))]
    assert all(each == one and hash(each) == hash(one) for each in [*same, copy.deepcopy(one)])
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(one, protocol)) == one and pickle.loads(pickle.dumps(cpu, protocol)) == cpu
    assert cpu != w.device("cpu:0") and cpu != "cpu" and w.device("cpu:0") == w.device("cpu", 0)
    assert w.device("cpu", None) == w.device(type="cpu") == w.device(device="cpu") == cpu
    with cpu as entered:
        assert entered is cpu
    with pytest.raises(AttributeError, match=r"^attribute 'type' of 'torch\.device' objects is not writable$"):
        cpu.type = "cuda"
    with pytest.raises(TypeError):
        operator.lt(cpu, one)
    _constants._DEVICES.pop(("mkldnn", None), None)
    with pytest.warns(UserWarning, match="no longer used as device type"):
        w.device("mkldnn")


def test_making_a_tensor_on_a_device_that_has_none_is_an_error() -> None:
    import wengert

    with w.device("cuda:1"), pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        wengert.ones(1)


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        (("foo",), RuntimeError, "Expected one of cpu, cuda, "),
        (("",), RuntimeError, "Device string must not be empty"),
        (("cpu:",), RuntimeError, "Invalid device string: 'cpu:'"),
        (("cpu:01",), RuntimeError, "Invalid device string: 'cpu:01'"),
        (("cpu:0", 0), RuntimeError, "type (string) must not include an index because index was passed explicitly"),
        (("cpu", -1), RuntimeError, "Device index must not be negative"),
        (("cpu", 1.0), TypeError, "device(): argument 'index' (position 2) must be int, not float"),
        ((0,), RuntimeError, "Cannot access accelerator device when none is available."),
        ((None,), TypeError, "device() received an invalid combination of arguments - got (NoneType)"),
        ((), TypeError, "device() received an invalid combination of arguments - got ()"),
    ],
)
def test_device_errors(args: tuple[Any, ...], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        w.device(*args)
    assert str(raised.value).startswith(message)


def test_layouts_and_memory_formats() -> None:
    assert repr(w.strided) == "torch.strided" and repr(type(w.strided)) == "<class 'torch.layout'>"
    assert repr(w.channels_last_3d) == "torch.channels_last_3d"
    assert w.legacy_contiguous_format is w.contiguous_format
    assert len({*w.LAYOUTS.values(), *w.MEMORY_FORMATS.values()}) == 12


# --- finfo and iinfo


@pytest.mark.parametrize("each", [each for each in NATIVE if each.is_floating_point], ids=repr)
def test_finfo_is_numpys(each: w.dtype) -> None:
    ours, theirs = finfo(each), np.finfo(each.np)
    for name in ("bits", "eps", "max", "min", "tiny", "smallest_normal"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert ours.resolution == pytest.approx(float(theirs.resolution), rel=1e-3) and ours.dtype == each.name
    assert finfo(each.to_complex()) == ours == copy.deepcopy(ours) != finfo(w.bfloat16)


@pytest.mark.parametrize("each", [each for each in NATIVE if each.np.kind in "iu"], ids=repr)
def test_iinfo_is_numpys(each: w.dtype) -> None:
    ours, theirs = iinfo(each), np.iinfo(each.np)
    assert (ours.bits, ours.min, ours.max, ours.dtype) == (theirs.bits, theirs.min, theirs.max, each.name)
    assert ours == copy.deepcopy(ours) and ours != iinfo(w.int8 if each is not w.int8 else w.int16)


def test_info_printed_and_refused() -> None:
    assert repr(finfo()) == (
        "finfo(resolution=1e-06, min=-3.40282e+38, max=3.40282e+38, eps=1.19209e-07, "
        "smallest_normal=1.17549e-38, tiny=1.17549e-38, dtype=float32)"
    )
    assert repr(iinfo(int)) == "iinfo(min=-9.22337e+18, max=9.22337e+18, dtype=int64)"
    with pytest.raises(TypeError, match=r"^torch.finfo\(\) requires a floating point input type. Use torch.iinfo"):
        finfo(w.int8)
    with pytest.raises(TypeError, match=r"^torch.iinfo\(\) requires an integer input type. Use torch.finfo"):
        iinfo(w.float32)
    with pytest.raises(TypeError, match=r"^torch.bool is not supported by torch.iinfo$"):
        iinfo(w.bool_)
    with pytest.raises(TypeError, match=r'^iinfo\(\) missing 1 required positional arguments: "type"$'):
        iinfo()
    with pytest.raises(TypeError, match=r"^unhashable type"):
        hash(finfo())


# --- against torch


def test_torch_has_the_same_dtypes(torch: ModuleType) -> None:
    theirs = {name: repr(each) for name, each in vars(torch).items() if isinstance(each, torch.dtype)}
    assert {name: repr(each) for name, each in w.DTYPES.items()} == theirs
    for each in ALL:
        other = getattr(torch, each.name)
        for name in ("is_floating_point", "is_complex", "is_signed", "itemsize", "abbr"):
            assert outcome(getattr, each, name) == outcome(getattr, other, name), (each, name)
        for name in ("to_real", "to_complex"):
            assert outcome(getattr(each, name)) == outcome(getattr(other, name)), (each, name)
    constants = (torch.layout, torch.memory_format)
    theirs = {name: repr(each) for name, each in vars(torch).items() if isinstance(each, constants)}
    assert {name: repr(each) for name, each in (w.LAYOUTS | w.MEMORY_FORMATS).items()} == theirs


def test_torch_promotes_and_casts_all_pairs_alike(torch: ModuleType) -> None:
    for a, b in itertools.product(ALL, repeat=2):
        pair = (getattr(torch, a.name), getattr(torch, b.name))
        assert outcome(w.can_cast, a, b) == outcome(torch.can_cast, *pair), (a, b)
        ours, theirs = outcome(w.promote_types, a, b), outcome(torch.promote_types, *pair)
        if "INTERNAL ASSERT" in theirs:  # int4 and its like: torch's message is about its own source
            theirs = f"RuntimeError: Promotion from {a.scalar_name} and {b.scalar_name} is unsupported."
        assert ours == theirs, (a, b)


@pytest.fixture
def torch_default(torch: ModuleType) -> Iterator[None]:
    kept = torch.get_default_dtype()
    yield
    torch.set_default_dtype(kept)


@pytest.mark.usefixtures("torch_default")
@pytest.mark.parametrize("default", DEFAULTS)
def test_torch_result_types_of_all_pairs_and_kinds(torch: ModuleType, bf16: np.dtype, default: str) -> None:
    torch.set_default_dtype(getattr(torch, default))
    w.set_default_dtype(w.DTYPES[default])
    operands: list[tuple[Any, tuple[np.dtype, str]]] = []
    for each in [*NATIVE, w.bfloat16]:
        operands.append((torch.empty(1, dtype=getattr(torch, each.name)), (each.np, "dim")))
        operands.append((torch.empty((), dtype=getattr(torch, each.name)), (each.np, "zero")))
    operands += [(value, (np.dtype(type(value)), "scalar")) for value in (True, 1, 1.0, 1j)]
    for (tensor_a, a), (tensor_b, b) in itertools.product(operands, repeat=2):
        theirs = outcome(torch.result_type, tensor_a, tensor_b)
        assert outcome(w._result_type, (a, b)) == theirs, (a, b)
        if theirs.startswith("torch.") and theirs != "torch.complex32":
            assert w.result_dtype((a, b)) == w.DTYPES[theirs[6:]].np == w.result_dtype((a, b))


@pytest.mark.parametrize("default", ["float32", "float64"])
@pytest.mark.usefixtures("torch_default")
def test_torch_result_types_of_three(torch: ModuleType, default: str) -> None:
    torch.set_default_dtype(getattr(torch, default))
    w.set_default_dtype(w.DTYPES[default])
    kinds = {"dim": (1,), "zero": ()}
    names = ("bool", "uint8", "int8", "int64", "float16", "float32", "float64", "complex64")
    pairs = list(itertools.product(names, kinds))
    compared = 0
    for (a, kind_a), (b, kind_b) in itertools.product(pairs, repeat=2):
        for scalar in (1, 1.0, 1j):
            # addcmul promotes three tensors at once; the number has to be a tensor of no dimension
            first = torch.tensor(scalar)
            tensors = [torch.ones(kinds[k], dtype=getattr(torch, n)) for n, k in ((a, kind_a), (b, kind_b))]
            theirs = outcome(lambda: torch.addcmul(first, *tensors).dtype)  # noqa: B023
            if theirs.startswith("torch."):
                compared += 1
                operands = (
                    (w.DTYPES[a].np, kind_a),
                    (w.DTYPES[b].np, kind_b),
                    (w.DTYPES[repr(first.dtype)[6:]].np, "zero"),
                )
                assert repr(w._result_type(operands)) == theirs, operands
    assert compared > 500


@pytest.mark.usefixtures("torch_default")
def test_torch_info_is_the_same(torch: ModuleType) -> None:
    for each in ALL:
        other = getattr(torch, each.name)
        if each.kind != "float4":  # torch: "bad argument type for built-in operation"
            assert outcome(finfo, each) == outcome(torch.finfo, other)
        assert outcome(iinfo, each) == outcome(torch.iinfo, other)
        for ours, theirs in ((finfo, torch.finfo), (iinfo, torch.iinfo)):
            if outcome(ours, each) == outcome(theirs, other) and "info(" in outcome(ours, each)[:6]:
                for name in ours.__slots__:
                    assert getattr(ours(each), name) == getattr(theirs(other), name), (each, name)
    for default in DEFAULTS:
        torch.set_default_dtype(getattr(torch, default))
        w.set_default_dtype(w.DTYPES[default])
        assert repr(finfo()) == repr(torch.finfo())
    for wrong in (None, 1, "float32", np.float32):
        assert outcome(finfo, wrong) == outcome(torch.finfo, wrong)
        assert outcome(iinfo, wrong) == outcome(torch.iinfo, wrong)
        assert outcome(w.set_default_dtype, wrong) == outcome(torch.set_default_dtype, wrong)
        assert outcome(w.promote_types, wrong, w.int8) == outcome(torch.promote_types, wrong, torch.int8)


def test_torch_devices_are_the_same(torch: ModuleType) -> None:
    texts = [
        "cpu",
        "cuda:1",
        "mps",
        "meta",
        "privateuseone",
        "cpu:00",
        "cpu:x",
        "cpu:-1",
        "CPU",
        "",
        ":0",
        " cpu",
        "foo:0",
    ]
    texts += ["foo", "cuda:1:2", "cuda:1 ", "cuda:99999999999", "vpu", "hpu", "cpu:²", "cpü"]
    calls = [(text,) for text in texts] + [(text, 0) for text in texts] + [("cpu", None), ("cpu:0", None), ("cpu", -2)]
    calls += [(), (None,), (1.0,), (True,), (0,), (-1,), ("cpu", 1.0), ("cpu", True), ("cpu", "0"), (b"cpu",)]
    calls += [("cpu", 0, 1), (["cpu"], 0)]
    for call in calls:
        assert outcome(w.device, *call) == outcome(torch.device, *call), call
    for names in (
        {"device": "cpu"},
        {"type": "cuda", "index": 1},
        {"type": "cuda:0", "index": 1},
        {"foo": 1},
        {"index": 0},
    ):
        ours, theirs = outcome(lambda: w.device(**names)), outcome(lambda: torch.device(**names))  # noqa: B023
        assert ours == theirs, names


def test_torch_sizes_are_the_same(torch: ModuleType) -> None:
    items = [[2, 3], (), [1.0], ["a"], [None], [np.int8(3)], [True], [np.bool_(True)], "ab", {1: 2}, range(3), 3, None]
    for each in items:
        assert outcome(w.Size, each) == outcome(torch.Size, each), each
    ours, theirs = w.Size([2, 3]), torch.Size([2, 3])
    for index in (0, -1, 5, slice(1), slice(None, None, -1), "a", (), None):
        assert outcome(operator.getitem, ours, index) == outcome(operator.getitem, theirs, index), index
    for other in ((1,), [1], (1.0,), ("a",), None, 2, "a"):
        assert outcome(operator.add, ours, other) == outcome(operator.add, theirs, other), other
    assert outcome(operator.add, (1,), ours) == outcome(operator.add, (1,), theirs)
    assert outcome(operator.add, ("a",), ours) == outcome(operator.add, ("a",), theirs)
    for function, value in itertools.product(
        (operator.add, operator.sub, operator.mul, operator.eq, operator.lt),
        (np.array([1, 2]), np.int64(2), np.float32(2), np.array(2)),
    ):
        assert outcome(function, ours, value) == outcome(function, theirs, value), (function, value)
        if function is not operator.mul or not isinstance(value, np.generic):
            # NumPy repeats only a sequence that, unlike a class written in Python, has no multiplication of numbers
            assert outcome(function, value, ours) == outcome(function, value, theirs), (function, value)
    assert np.prod(ours) == np.prod(theirs) == 6 and np.array(ours).dtype == np.array(theirs).dtype
    for times in (0, 2, -1, 2.0, "a", None, np.int64(2)):
        assert outcome(operator.mul, ours, times) == outcome(operator.mul, theirs, times), times
        if times != "a" and not isinstance(times, np.integer):  # torch's message is about the string's; as above
            assert outcome(operator.mul, times, ours) == outcome(operator.mul, times, theirs), times
