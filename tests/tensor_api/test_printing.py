"""Printing is PyTorch's to the character (SEMANTICS.md 1.5).

`data/printing_golden.json` holds texts that PyTorch printed, so that this is tested without PyTorch too; where it is
installed, generated tensors of every dtype, shape, magnitude and option are printed by both and compared.
"""

import ast
import doctest
import json
import math
import sys
import threading
import timeit
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wengert._tensor_api import printing
from wengert._tensor_api.printing import (
    format_array,
    format_contents,
    format_scalar,
    format_wrapper,
    get_printoptions,
    join_suffixes,
    printoptions,
    set_printoptions,
)

GOLDEN = json.loads(
    Path(__file__).parents[1].joinpath("data").joinpath("printing_golden.json").read_text(encoding="utf-8")
)
DEFAULTS = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}


@pytest.fixture(autouse=True)
def default_options():
    """Options are the process's: every test finds and leaves the defaults."""
    set_printoptions(profile="default")
    yield
    set_printoptions(profile="default")


# ---------------------------------------------------------------------------------------------------------------------
# Without PyTorch
# ---------------------------------------------------------------------------------------------------------------------


def golden_array(entry):
    """The array that an entry of the golden file describes; float32 stands in for bfloat16."""
    dtype = {"bfloat16": "float32"}.get(entry["dtype"], entry["dtype"])
    if entry["values"] == "arange":
        return np.arange(math.prod(entry["shape"])).astype(dtype).reshape(entry["shape"])
    values = [complex(*value) if isinstance(value, list) else value for value in entry["values"]]
    return np.resize(np.array(values, dtype), entry["shape"])


@pytest.mark.parametrize("entry", GOLDEN, ids=lambda entry: entry["text"].split("\n")[0][:40])
def test_golden(entry):
    with printoptions(**entry["options"]):
        assert format_array(golden_array(entry), dtype_name=entry["dtype"], **entry["facts"]) == entry["text"]


def test_golden_file_is_large_and_varied():
    assert len(GOLDEN) >= 130
    assert len({entry["dtype"] for entry in GOLDEN}) >= 14
    assert len({entry["text"] for entry in GOLDEN}) >= 110


@pytest.mark.parametrize(
    ("array", "facts", "text"),
    [
        ([[1, 2], [3, 4]], {"requires_grad": True}, "tensor([[1., 2.],\n        [3., 4.]], requires_grad=True)"),
        (7.5, {"grad_fn_name": "MeanBackward0"}, "tensor(7.5000, grad_fn=<MeanBackward0>)"),
        (
            [[2, 4], [6, 8]],
            {"grad_fn_name": "ViewBackward0"},
            "tensor([[2., 4.],\n        [6., 8.]], grad_fn=<ViewBackward0>)",
        ),
        ([4, 0.4, 0.02, 0.002], {}, "tensor([4.0000e+00, 4.0000e-01, 2.0000e-02, 2.0000e-03])"),
        ([20, 2, 0.1, 0.01], {}, "tensor([2.0000e+01, 2.0000e+00, 1.0000e-01, 1.0000e-02])"),
        ([0.4963, 0.7682, 0.0885], {}, "tensor([0.4963, 0.7682, 0.0885])"),
    ],
)
def test_texts_of_the_contract(array, facts, text):
    assert format_array(np.array(array, "float32"), dtype_name="float32", **facts) == text


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint64", "bool", "complex64"])
def test_numpy_scalar_prints_as_0d_array(dtype):
    array = np.ones((), dtype)
    text = format_array(array[()], dtype_name=dtype)
    assert text == format_array(array, dtype_name=dtype)
    assert text.startswith({"bool": "tensor(True", "complex64": "tensor(1.+0.j"}.get(dtype, "tensor(1"))


def test_strided_and_read_only_arrays_print_and_stay_as_they_are():
    base = np.arange(24.0).reshape(4, 6)
    base.flags.writeable = False
    view = base[::-2, ::3].T
    before = view.copy()
    assert (
        format_array(view, dtype_name="float64", default_dtype="float64") == "tensor([[18.,  6.],\n        [21.,  9.]])"
    )
    assert (view == before).all()


def test_indent_moves_every_line_but_the_first():
    array = np.arange(60.0).reshape(3, 20)
    with printoptions(linewidth=80):
        plain = format_array(array, dtype_name="float64")
    with printoptions(linewidth=90):
        moved = format_array(array, dtype_name="float64", indent=10)
    assert moved == plain.replace("\n", "\n" + " " * 10)


def test_suffix_on_the_first_line_counts_the_column():
    assert "\n" not in join_suffixes("tensor(1.", ["requires_grad=True"], indent=7, column=40)
    assert join_suffixes("tensor(1.", ["requires_grad=True"], indent=57, column=50).endswith(
        ",\n" + " " * 57 + "requires_grad=True"
    )


def test_contents_of_an_empty_array():
    assert format_contents(np.zeros((0, 3)), "float64", 7) == "[]"


@pytest.mark.parametrize("value", [0.5, np.float32(0.5), np.array(0.5), np.array(0.5, "float16")])
@pytest.mark.parametrize("spec", ["", ".3f", "10.2e", "%", "+"])
def test_scalar_takes_any_format_spec(value, spec):
    assert format_scalar(value, spec) == format(0.5, spec)


@pytest.mark.parametrize(
    ("value", "spec", "text"),
    [
        (np.float32(0.1), "", "0.10000000149011612"),
        (np.int64(12), "05d", "00012"),
        (np.array(True), "", "True"),
        (np.complex64(1 - 2j), ".1f", "1.0-2.0j"),
        (np.uint64(2**64 - 1), ",", "18,446,744,073,709,551,615"),
    ],
)
def test_scalar_is_formatted_as_the_python_number(value, spec, text):
    assert format_scalar(value, spec) == text


def test_scalar_errors_are_pythons():
    with pytest.raises(ValueError, match="Unknown format code 'd' for object of type 'float'"):
        format_scalar(np.float32(1), "d")


def test_more_dimensions_are_formatted_as_an_object():
    class Tensor:
        def __str__(self):
            return "the text"

    assert format_scalar(np.zeros(1), "", owner=Tensor()) == "the text"
    with pytest.raises(TypeError, match=r"^unsupported format string passed to Tensor.__format__$"):
        format_scalar(np.zeros(1), ".2f", owner=Tensor())
    with pytest.raises(TypeError, match="unsupported format string"):
        format_scalar(np.zeros((2, 2)), ".2f")


def test_bfloat16_of_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    entries = [entry for entry in GOLDEN if entry["dtype"] == "bfloat16"]
    assert len(entries) >= 2
    for entry in entries:
        array = golden_array(entry).astype(ml_dtypes.bfloat16)
        assert format_array(array, dtype_name="bfloat16", **entry["facts"]) == entry["text"]
    assert format_scalar(np.array(1.5, ml_dtypes.bfloat16), ".2f") == "1.50"


def test_options_start_at_the_defaults():
    assert get_printoptions() == DEFAULTS


def test_profiles():
    set_printoptions(profile="short")
    assert get_printoptions() == {**DEFAULTS, "precision": 2, "edgeitems": 2}
    set_printoptions(profile="full", linewidth=100)
    assert get_printoptions() == {**DEFAULTS, "threshold": math.inf, "linewidth": 100}
    set_printoptions(profile="default")
    assert get_printoptions() == DEFAULTS


def test_every_call_sets_sci_mode():
    set_printoptions(sci_mode=True)
    assert get_printoptions()["sci_mode"] is True
    set_printoptions(precision=3)
    assert get_printoptions() == {**DEFAULTS, "precision": 3}


def test_get_printoptions_is_a_copy():
    get_printoptions()["precision"] = 1
    assert get_printoptions() == DEFAULTS


def test_printoptions_are_restored_after_an_error():
    set_printoptions(precision=3, sci_mode=False)
    before = get_printoptions()
    with pytest.raises(ZeroDivisionError), printoptions(precision=1, profile="full", sci_mode=True):
        assert get_printoptions() == {**DEFAULTS, "precision": 1, "threshold": math.inf, "sci_mode": True}
        raise ZeroDivisionError
    assert get_printoptions() == before


def test_printing_in_threads():
    array = np.random.RandomState(0).randn(50, 50)
    expected = format_array(array, dtype_name="float64")
    texts = []

    def work():
        texts.extend(format_array(array, dtype_name="float64") for _ in range(20))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == [expected] * 80


def test_a_summary_reads_only_what_it_shows():
    huge = np.broadcast_to(np.float32(0.5), (10**6, 10**6, 10**5))
    assert format_array(huge, dtype_name="float32").count("0.5000") == 6**3


def test_no_warnings_from_extreme_values(recwarn):
    array = np.array([5e-324, 1.7e308, math.nan, math.inf, -math.inf])
    assert format_array(array, dtype_name="float64").startswith("tensor([4.9407e-324, 1.7000e+308,         nan,")
    assert not recwarn.list


def test_wrappers_of_the_transforms():
    assert format_wrapper("GradTrackingTensor", "tensor(1.)", level=2) == (
        "GradTrackingTensor(lvl=2, value=\n    tensor(1.)\n)"
    )
    inner = "tensor([[[1.]],\n\n        [[2.]]])"
    assert format_wrapper("BatchedTensor", inner, level=1, bdim=0) == (
        "BatchedTensor(lvl=1, bdim=0, value=\n    tensor([[[1.]],\n\n            [[2.]]])\n)"
    )


def test_docstring_examples():
    failed, attempted = doctest.testmod(printing)
    assert attempted >= 10
    assert failed == 0


def test_imports_are_numpy_and_the_standard_library():
    tree = ast.parse(Path(printing.__file__).read_text(encoding="utf-8"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert "numpy" in names
    assert {name.split(".")[0] for name in names} <= {"numpy", *sys.stdlib_module_names}


# ---------------------------------------------------------------------------------------------------------------------
# Beside PyTorch
# ---------------------------------------------------------------------------------------------------------------------

FLOATING = ["float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2"]
INTEGRAL = ["uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"]
COMPLEX = ["complex32", "complex64", "complex128"]
DTYPES = [*FLOATING, *INTEGRAL, *COMPLEX, "bool"]
# NumPy holds what it has no dtype for in a wider one, which is exact.
STORAGE = dict.fromkeys(["bfloat16", "float8_e4m3fn", "float8_e5m2"], "float32") | {"complex32": "complex64"}
SHAPES = [
    *[(), (1,), (5,), (25,), (41,), (3, 4), (1, 30), (2, 3, 4), (3, 1, 2), (2, 1, 3, 2), (1, 1, 1, 1, 1)],
    *[(0,), (0, 3), (3, 0), (2, 0, 3), (0, 0, 0)],
    *[(1000,), (1001,), (1003,), (7, 150), (40, 30), (2, 600), (600, 2), (7, 7, 22), (5, 4, 60), (6, 3, 7, 9)],
]
SPECIAL = np.array([math.nan, math.inf, -math.inf, 0.0, -0.0])


def magnitudes(random, style, size):
    """Numbers of one of the kinds that PyTorch prints each in its own way."""
    normal = random.randn(size)
    return {
        "normal": lambda: normal,
        "scaled": lambda: normal * 10.0 ** random.randint(-10, 11),
        "mixed": lambda: np.sign(normal) * 10.0 ** random.uniform(-10, 10, size),
        "unit": lambda: random.uniform(0.0002, 0.02, size),
        "round": lambda: random.choice([9.99995, 99.99996, 0.00005, -9.999951, 0.5, 0.12345], size),
        "small whole": lambda: random.randint(-20, 20, size).astype("float64"),
        "large whole": lambda: np.round(normal * 10.0 ** random.randint(1, 12)),
        "negative whole": lambda: -random.randint(1, 2000, size).astype("float64"),
        "edge": lambda: random.choice([1e8, 1e8 + 8, 1.0, 1e5, 1e-4, 9.9e-5, 1000.0, 1001.0], size),
        "zero": lambda: random.choice([0.0, -0.0], size),
        "nan": lambda: np.full(size, math.nan),
        "not finite": lambda: random.choice(SPECIAL, size),
        "denormal": lambda: normal * random.choice([1e-310, 1e-42, 6e-8]),
        "extreme": lambda: normal * random.choice([1e300, 1e-300, 1e38, 1e-120, 1e99, 6e4]),
        "three digits": lambda: np.sign(normal) * 10.0 ** random.uniform(-120, 120, size),
    }[style]()


STYLES = ["normal", "scaled", "mixed", "unit", "round", "zero", "nan", "denormal", "extreme", "edge"]
STYLES += ["small whole", "large whole", "negative whole", "not finite", "three digits"]


def generated(torch, dtype, shape, style, seed, special):
    """A tensor of PyTorch with generated elements, a share `special` of which are zeros, infinities or nans."""
    random = np.random.RandomState(seed)
    size = math.prod(shape)
    if dtype == "bool":
        values = random.rand(size) < random.choice([0.0, 0.5, 1.0])
        return torch.from_numpy(values).reshape(shape)
    if dtype in INTEGRAL:
        limits = np.iinfo(dtype)
        reach = int(random.choice([10, 1000, 2**40]))
        low, high = max(limits.min, -reach), min(limits.max, reach)
        values = random.randint(low, high, size, dtype="int64").astype(dtype)
        if size and special:
            values[random.randint(size)] = (limits.min, limits.max)[random.randint(2)]
        return torch.from_numpy(values.reshape(shape))
    parts = 2 if dtype in COMPLEX else 1
    values = magnitudes(random, style, parts * size)
    values = np.where(random.rand(values.size) < special, random.choice(SPECIAL, values.size), values)
    if parts == 1:
        return torch.from_numpy(values.reshape(shape)).to(getattr(torch, dtype))
    # Part by part, for a product with 1j would turn infinities into nans.
    with np.errstate(all="ignore"):
        pairs = values.astype({"complex32": "float16", "complex64": "float32", "complex128": "float64"}[dtype])
    return torch.view_as_complex(torch.from_numpy(pairs.reshape(*shape, 2)))


def as_array(torch, tensor):
    name = str(tensor.dtype).removeprefix("torch.")
    return tensor.detach().to(getattr(torch, STORAGE.get(name, name))).numpy()


def facts_of(torch, tensor):
    """What `format_array` has to be told of a tensor of PyTorch."""
    return {
        "dtype_name": str(tensor.dtype).removeprefix("torch."),
        "default_dtype": str(torch.get_default_dtype()).removeprefix("torch."),
        "requires_grad": tensor.requires_grad,
        "grad_fn_name": None if tensor.grad_fn is None else type(tensor.grad_fn).__name__,
        "class_name": "tensor" if type(tensor) is torch.Tensor else type(tensor).__name__,
    }


def assert_same_text(torch, tensor):
    assert format_array(as_array(torch, tensor), **facts_of(torch, tensor)) == repr(tensor)


@pytest.fixture
def torch():
    """PyTorch, with its default options, and its default dtype put back afterwards; skipped where it is missing."""
    module = pytest.importorskip("torch")
    default = module.get_default_dtype()
    with module._tensor_str.printoptions(profile="default"):
        yield module
    module.set_default_dtype(default)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
def test_every_shape_and_style(torch, dtype):
    for shape in (shape for shape in SHAPES if math.prod(shape) <= 41):
        for seed, style in enumerate(STYLES if dtype in FLOATING + COMPLEX else ["integral"] * 5):
            for special in (0.0, 0.3):
                assert_same_text(torch, generated(torch, dtype, shape, style, seed, special))
    for seed, shape in enumerate(shape for shape in SHAPES if math.prod(shape) > 41):
        assert_same_text(torch, generated(torch, dtype, shape, STYLES[seed], seed, 0.01))


OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "precision": st.integers(0, 12),
        "threshold": st.sampled_from([0, 1, 5, 20, 1000, math.inf]),
        "edgeitems": st.integers(0, 5),
        "linewidth": st.sampled_from([1, 20, 40, 79, 80, 81, 120, 1000, 80.5]),
        "profile": st.sampled_from(["default", "short", "full", "unknown"]),
        "sci_mode": st.sampled_from([None, True, False]),
    },
)


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
@given(
    dtype=st.sampled_from(DTYPES),
    shape=st.one_of(st.sampled_from(SHAPES), st.lists(st.integers(0, 8), max_size=4).map(tuple)),
    style=st.sampled_from(STYLES),
    seed=st.integers(0, 2**32 - 1),
    special=st.sampled_from([0.0, 0.05, 0.5]),
    options=OPTIONS,
    default=st.sampled_from(["float32", "float32", "float64", "float16", "bfloat16"]),
    history=st.sampled_from(["none", "leaf", "node"]),
    transposed=st.booleans(),
)
def test_generated_tensors(torch, dtype, shape, style, seed, special, options, default, history, transposed):
    tensor = generated(torch, dtype, shape, style, seed, special)
    if transposed:
        tensor = tensor.permute(tuple(reversed(range(tensor.ndim))))
    if history != "none" and dtype in FLOATING + COMPLEX:
        tensor = tensor.detach().requires_grad_()
        tensor = tensor.view(tensor.shape) if history == "node" else tensor
    torch.set_default_dtype(getattr(torch, default))
    with torch._tensor_str.printoptions(**options), printoptions(**options):
        assert_same_text(torch, tensor)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(st.floats(width=64), min_size=1, max_size=12), sci_mode=st.sampled_from([None, True, False]))
def test_arbitrary_floats(torch, values, sci_mode):
    with torch._tensor_str.printoptions(sci_mode=sci_mode), printoptions(sci_mode=sci_mode):
        assert_same_text(torch, torch.tensor(values, dtype=torch.float64))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(calls=st.lists(OPTIONS, max_size=4))
def test_options_change_as_pytorchs_do(torch, calls):
    with torch._tensor_str.printoptions(), printoptions():
        for options in calls:
            torch.set_printoptions(**options)
            set_printoptions(**options)
            assert get_printoptions() == torch._tensor_str.get_printoptions()


def test_contents_within_the_text_of_a_sparse_tensor(torch):
    """PyTorch prints contents in deeper columns in sparse tensors: a check of `indent`."""
    sparse = (torch.randn(40, 30) * (torch.rand(40, 30) < 0.5)).to_sparse()
    indices = format_contents(sparse.indices().numpy(), "int64", len("tensor(indices=tensor("))
    values = format_contents(sparse.values().numpy(), "float32", len("tensor(values=tensor("))
    start = f"tensor(indices=tensor({indices}),\n       values=tensor({values}),\n       size=(40, 30)"
    assert repr(sparse).startswith(start)


def test_parts_of_a_sparse_tensor_in_narrow_lines() -> None:
    import wengert

    set_printoptions(linewidth=20)
    empty = repr(wengert.zeros(2, 2).to_sparse())
    assert empty.startswith("tensor(indices=tensor([], size=(2, 0)),\n       values=tensor([], size=(0,)),\n")
    set_printoptions(profile="default", edgeitems=0)
    assert repr(wengert.ones(1).to_sparse()).startswith("tensor(indices=tensor([[0]]),\n       values=tensor([1.]),")


def test_forward_mode(torch):
    from torch.autograd import forward_ad

    x = torch.randn(3, 2)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, torch.ones(3, 2))
        text = format_array(x.numpy(), dtype_name="float32", tangent=f"{torch.ones(3, 2)}")
        assert text == repr(dual)


def test_transforms(torch):
    seen = []

    def f(x):
        seen.append(repr(x))
        return x.sum()

    x = torch.randn(2, 3, 2)
    torch.func.vmap(f)(x)
    torch.func.grad(f)(x)
    text = format_array(x.numpy(), dtype_name="float32")
    assert seen[0] == format_wrapper("BatchedTensor", text, level=1, bdim=0)
    # The wrapped tensor of `grad` tracks gradients of its own; how is not this module's to know.
    assert seen[1] == format_wrapper("GradTrackingTensor", text, level=1)


@pytest.mark.parametrize("spec", ["", ".3f", "8.1e", "d"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "int64", "bool", "complex64"])
def test_scalar_format(torch, dtype, spec):
    scalar = torch.tensor(1.2345).to(getattr(torch, dtype))
    assert outcome(format_scalar, as_array(torch, scalar), spec) == outcome(format, scalar, spec)


def outcome(function, *args):
    """What `function` returns, or the text of the ValueError that it raises."""
    try:
        return function(*args)
    except ValueError as error:
        return str(error)


def test_format_of_more_dimensions(torch):
    x = torch.ones(2)
    assert format_scalar(x.numpy(), "", owner=x) == f"{x}"
    with pytest.raises(TypeError) as ours:
        format_scalar(x.numpy(), ".2f", owner=x)
    with pytest.raises(TypeError) as theirs:
        format(x, ".2f")
    assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize("shape", [(), (4,), (10, 10), (1000,), (1000, 1000)])
def test_no_slower_than_pytorch(torch, shape):
    """Five to thirteen times faster when this was written, so the clock has room to be wrong."""
    tensor = torch.randn(shape)
    array = tensor.numpy()
    ours = min(timeit.repeat(lambda: format_array(array, dtype_name="float32"), number=5, repeat=5))
    theirs = min(timeit.repeat(lambda: repr(tensor), number=5, repeat=5))
    assert ours < theirs


@pytest.mark.parametrize("values", [[1.0, -2.0], [0.5, 3.0], [1e-9, 1.0], [1, -20], [True, False], [math.inf, 2.0]])
def test_a_formatter_writes_numbers_as_elements(torch, values):
    import wengert
    import wengert._tensor_str

    said = []
    for t in (torch, wengert):
        formatter = t._tensor_str._Formatter(t.tensor(values))
        said.append([formatter.width(), *map(formatter.format, values)])
    assert said[0] == said[1]
