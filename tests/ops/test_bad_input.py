"""What a program can get wrong: PyTorch's class and first sentence, a note that helps, and no tensor changed."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import wengert as T
from wengert.autograd import Function

Case = tuple[str, bool]
LINES = (Path(__file__).parents[1] / "data" / "bad_input.txt").read_text().splitlines()
CASES: list[Case] = [(line[2:], line[0] == "~") for line in LINES if not line.startswith("#")]


class Odd:
    """Nothing that a tensor could be made from."""


def world(torch: Any) -> dict[str, Any]:
    """What the expressions of data/bad_input.txt may name."""
    return {
        "torch": torch,
        "np": np,
        "Odd": Odd,
        "t": torch.tensor,
        "x": torch.ones(2, 3),
        "v": torch.ones(3),
        "m": torch.ones(3, 4),
        "g": torch.ones(2, 3, requires_grad=True),
        "i": torch.tensor([0, 1]),
        "b": torch.tensor([True, False]),
    }


def state_of(names: dict[str, Any]) -> Any:
    tensors = {k: x for k, x in names.items() if isinstance(x, T.Tensor)}
    return {
        k: (x.tolist(), x._version, x.grad, x.requires_grad, x.is_leaf, tuple(x.shape), str(x.dtype))
        for k, x in tensors.items()
    }


def error_of(fn: Callable[[], Any]) -> BaseException:
    """The error that ``fn`` raises."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = fn()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is looked at
        return error
    raise AssertionError(f"nothing was raised; the value is {value!r}")


def first_sentence(error: BaseException) -> str:
    return str(error).split("\n")[0].split(". ")[0].rstrip(". ")


CLEAR = (
    AssertionError,
    TypeError,
    ValueError,
    RuntimeError,
    IndexError,
    AttributeError,
    NotImplementedError,
    OverflowError,
)
NUMPYS_WORDS = re.compile(
    r"ufunc|operands could not be broadcast|could not broadcast|object arrays|\b_[a-z]\w*\(\)|has no attribute '_"
)


# ------------------------------------------------------------------------------------------------ one expression each
@pytest.mark.parametrize("code", [code for code, _ in CASES])
def test_refused_and_nothing_changed(code: str) -> None:
    names = world(T)
    before = state_of(names)
    error = error_of(lambda: eval(code, dict(names)))
    assert isinstance(error, CLEAR)
    assert type(error).__module__.split(".")[0] in ("builtins", "wengert", "torch"), type(error)  # not NumPy's own
    assert str(error).strip()
    assert not NUMPYS_WORDS.search(first_sentence(error)), error
    assert not isinstance(error, RecursionError)
    assert state_of(names) == before


@pytest.mark.parametrize(("code", "other_words"), CASES)
def test_refused_as_pytorch_does(torch: Any, code: str, other_words: bool) -> None:
    ours = error_of(lambda: eval(code, world(T)))
    theirs = error_of(lambda: eval(code, world(torch)))
    assert type(ours).__name__ == type(theirs).__name__, (ours, theirs)
    if not other_words:
        assert first_sentence(ours) == first_sentence(theirs)


# ----------------------------------------------------------------------------------------------------- enormous sizes
@pytest.mark.parametrize(
    "code",
    [
        "torch.empty(10**15)",
        "torch.zeros(10**15)",
        "torch.ones(10**12, 10**12)",
        "torch.empty(2**62, 4)",
        "torch.rand(10**15)",
        "torch.arange(10**15)",
        "torch.eye(10**8)",
        "torch.full((10**15,), 1.0)",
        "x.expand(10**12, 2, 3).clone()",
        "x.repeat(10**9, 10**6)",
        "torch.zeros(2**63)",
        "x.new_zeros(10**15)",
        "torch.randn(10**15)",
        "torch.linspace(0, 1, 10**15)",
        "x.view(1, 6).expand(10**14, 6) + 1",
        "torch.outer(v.expand(10**10, 3).reshape(-1)[:0].new_ones(1).expand(10**8), v.new_ones(1).expand(10**8))",
    ],
)
def test_enormous_sizes_are_an_error(code: str) -> None:
    """Never a crash, and nothing is swallowed: the message says how much was asked for."""
    error = error_of(lambda: eval(code, world(T)))
    assert isinstance(error, (RuntimeError, MemoryError, TypeError, OverflowError))
    assert re.search(r"\d", str(error))


# -------------------------------------------------------------------------------------------- other libraries' memory
def test_read_only_arrays() -> None:
    a = np.ones(3, np.float32)
    a.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = T.from_numpy(a)
    assert (x + 1).tolist() == [2, 2, 2]
    for write in (
        lambda: x.add_(1),
        lambda: x.zero_(),
        lambda: x.fill_(2),
        lambda: x.__setitem__(0, 1.0),
        lambda: x.copy_(T.zeros(3)),
        lambda: x.exp_(),
        lambda: x[0].mul_(2),
        lambda: x[1:].fill_(0),
        lambda: x.uniform_(),
        lambda: x.view(3, 1).add_(1),
        lambda: x.masked_fill_(x > 0, 0.0),
        lambda: x.index_put_((T.tensor([0]),), T.tensor(0.0)),
        lambda: x.expand(2, 3)[0].add_(1),
        lambda: T.add(x, 1, out=x),
        lambda: x.detach().add_(1),
        lambda: x.data.add_(1),
    ):
        with pytest.raises(RuntimeError, match="read-only"):
            write()
    assert a.tolist() == [1, 1, 1]
    assert x._version == 0
    x.clone().add_(1)


def test_a_read_only_leaf_has_an_ordinary_gradient() -> None:
    a = np.ones(3, np.float32)
    a.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = T.from_numpy(a).requires_grad_()
    (x * 2).sum().backward()
    (x * 3).sum().backward()
    assert x.grad.tolist() == [5, 5, 5]


@pytest.mark.parametrize("make", ["from_numpy", "as_tensor", "tensor"])
def test_arrays_in_the_other_byte_order(make: str) -> None:
    a = np.array([1, 2, 3], ">f4")
    if make == "tensor":
        pass
    error = error_of(lambda: getattr(T, make)(a))
    assert isinstance(error, (ValueError, TypeError))
    assert "byte order" in str(error)


def test_negative_strides() -> None:
    a = np.arange(3.0)[::-1]
    for make in (T.from_numpy, T.as_tensor, T.tensor):
        error = error_of(lambda make=make: make(a))
        assert isinstance(error, ValueError)
        assert "negative" in str(error)
    assert T.tensor(a.copy()).tolist() == [2, 1, 0]


@pytest.mark.parametrize("dtype", [object, "U3", "S3", "M8[s]", "m8[s]", [("a", float)]])
def test_arrays_of_what_is_no_number(dtype: Any) -> None:
    a = np.zeros(3, dtype)
    for make in (T.from_numpy, T.as_tensor, T.tensor):
        assert isinstance(error_of(lambda make=make: make(a)), TypeError)


# ------------------------------------------------------------------------------------------------ gradients and hooks
def through(hook: Any = None, on: str = "leaf", kind: str = "register_hook") -> T.Tensor:
    x = T.ones(2, requires_grad=True)
    y = x * 2
    target = {"leaf": x, "middle": y, "node": y.grad_fn}[on]
    if hook is not None:
        getattr(target, kind)(hook)
    y.sum().backward()
    return x.grad


NONSENSE = {
    "a string": (lambda g: "a", TypeError, "expected Variable, but hook returned 'str'"),
    "a number": (lambda g: 3, TypeError, "expected Variable, but hook returned 'int'"),
    "an array": (lambda g: np.ones(2), TypeError, "expected Variable, but hook returned 'numpy.ndarray'"),
    "a tuple": (lambda g: (g,), TypeError, "expected Variable, but hook returned 'tuple'"),
    "False": (lambda g: False, TypeError, "expected Variable, but hook returned 'bool'"),
    "another shape": (lambda g: T.ones(3), RuntimeError, "hook '<lambda>' has changed the size of value"),
    "another dtype": (lambda g: g.double(), RuntimeError, "hook '<lambda>' has changed the type of value"),
    "integers": (lambda g: g.long(), RuntimeError, "hook '<lambda>' has changed the type of value"),
}


@pytest.mark.parametrize("on", ["leaf", "middle"])
@pytest.mark.parametrize("what", NONSENSE)
def test_tensor_hooks_that_return(what: str, on: str) -> None:
    hook, cls, text = NONSENSE[what]
    with pytest.raises(cls, match=f"^{re.escape(text)}"):
        through(hook, on)


@pytest.mark.parametrize(
    ("hook", "text"),
    [
        (lambda gi, go: "a", "expected tuple, but hook returned 'str'"),
        (lambda gi, go: gi[0], "expected tuple, but hook returned 'Tensor'"),
        (lambda gi, go: (3, None), "expected Variable, but hook returned 'int'"),
        (lambda gi, go: (T.ones(3), None), "hook '<lambda>' has changed the size of value"),
        (lambda gi, go: (gi[0], gi[0], gi[0]), "hook '<lambda>' has returned an incorrect number of values"),
        (lambda gi, go: (), "hook '<lambda>' has returned an incorrect number of values"),
    ],
)
def test_node_hooks_that_return(hook: Any, text: str) -> None:
    error = error_of(lambda: through(hook, "node"))
    assert isinstance(error, (TypeError, RuntimeError))
    assert str(error).startswith(text)


def test_a_hook_that_raises_leaves_a_graph_that_can_be_walked_again() -> None:
    x = T.ones(2, requires_grad=True)
    y = x.exp()
    tell = [True]

    def hook(g: T.Tensor) -> None:
        if tell:
            tell.pop()
            raise KeyError("in the hook")

    y.register_hook(hook)
    z = (y * 3).sum()
    with pytest.raises(KeyError, match="in the hook"):
        z.backward()
    assert x.grad is None
    z.backward()
    np.testing.assert_allclose(x.grad.numpy(), 3 * np.e, rtol=1e-6)


# ----------------------------------------------------------------------------------------------------- custom functions
def custom(forward: Any, backward: Any) -> Any:
    return type("Custom", (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


def test_a_forward_that_raises_records_nothing() -> None:
    def forward(ctx: Any, x: T.Tensor) -> T.Tensor:
        ctx.save_for_backward(x)
        raise KeyError("in forward")

    x = T.ones(2, requires_grad=True)
    with pytest.raises(KeyError, match="in forward"):
        custom(forward, lambda ctx, g: g).apply(x)
    assert T.is_grad_enabled()
    assert (x * 2).requires_grad
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2, 2]


@pytest.mark.parametrize("retain", [False, True])
def test_a_backward_that_raises_leaves_a_graph_that_works_or_says_why(retain: bool) -> None:
    tell = [True]

    def forward(ctx: Any, x: T.Tensor) -> T.Tensor:
        ctx.save_for_backward(x)
        return x * 2

    def backward(ctx: Any, g: T.Tensor) -> T.Tensor:
        if tell:
            tell.pop()
            raise ValueError("in backward")
        return g * 2 * ctx.saved_tensors[0]

    x = T.ones(2, requires_grad=True)
    z = (custom(forward, backward).apply(x * x) * x).sum()
    with pytest.raises(ValueError, match="in backward"):
        z.backward(retain_graph=retain)
    assert T.is_grad_enabled()
    assert x.grad is None
    if retain:
        z.backward()
        assert x.grad.tolist() == [6, 6]
    else:
        with pytest.raises(RuntimeError, match=r"^Trying to backward through the graph a second time"):
            z.backward()
        assert x.grad is None


@pytest.mark.parametrize("returned", [None, "a", 3, [], np.ones(2), Odd()])
def test_a_backward_that_returns_nonsense(returned: Any) -> None:
    x = T.ones(2, requires_grad=True)
    y = custom(lambda ctx, x: x * 2, lambda ctx, g: returned).apply(x)
    if returned is None:
        y.sum().backward()
        assert x.grad is None
        return
    error = error_of(lambda: y.sum().backward())
    assert isinstance(error, (TypeError, RuntimeError))
    assert x.grad is None


@pytest.mark.parametrize("returned", ["a", None, [], {}, Odd()])
def test_a_forward_that_returns_nonsense(returned: Any) -> None:
    x = T.ones(2, requires_grad=True)
    error = error_of(lambda: custom(lambda ctx, x: returned, lambda ctx, g: g).apply(x) + x)
    assert isinstance(error, (TypeError, RuntimeError))


@pytest.mark.parametrize("made", [lambda g: T.ones(3), lambda g: T.ones(3, 4), lambda g: (g, g), lambda g: ()])
def test_a_backward_with_the_wrong_shape_or_number(made: Any) -> None:
    x = T.ones(2, requires_grad=True)
    y = custom(lambda ctx, x: x * 2, lambda ctx, g: made(g)).apply(x)
    with pytest.raises(
        RuntimeError, match=r"(?i)^function CustomBackward returned an (invalid gradient|incorrect number of gradients)"
    ):
        y.sum().backward()
    assert x.grad is None


# ---------------------------------------------------------------------------------------------------------------- NaN
def test_nan_and_infinity_pass_in_silence() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = T.tensor([float("nan"), float("inf"), 0.0, -1.0], requires_grad=True)
        y = (x.log() + x.sqrt() + 1 / x + x**0.5 + x.exp() + x / 0).sum()
        y.backward()
    assert y.isnan().item()
    assert x.grad.isnan()[0].item()
    g = T.autograd.grad(T.where(x > 0, x, T.zeros(4)).sum(), x)[0]
    assert g.tolist() == [0, 1, 0, 0]


# ------------------------------------------------------------------------------------ in-place writes that do not fit
@pytest.mark.parametrize(
    "write",
    [
        lambda t: t.add_(T.ones(5, 2, 3)),
        lambda t: t.add_(T.ones(4)),
        lambda t: t.mul_(1j),
        lambda t: t.copy_(T.ones(4)),
        lambda t: t.fill_(T.ones(3)),
        lambda t: t.masked_fill_(T.ones(4) > 0, 1.0),
        lambda t: t.__setitem__(0, T.ones(4)),
        lambda t: t.__setitem__((0, 0, 0), 1.0),
        lambda t: t.__setitem__(9, 1.0),
        lambda t: t.index_put_((T.tensor([9]),), T.ones(())),
        lambda t: t.index_put_((T.tensor([0]),), T.ones((), dtype=T.float64)),
        lambda t: t.scatter_(0, T.tensor([[9]]), 1.0),
        lambda t: t.index_add_(0, T.tensor([9]), T.ones(1, 3)),
        lambda t: t.addmm_(T.ones(2, 2), T.ones(3, 3)),
        lambda t: t.clamp_("a"),
        lambda t: t.sub_(None),
        lambda t: t.div_("a"),
        lambda t: t.pow_(T.ones(7)),
        lambda t: T.add(T.ones(2), T.ones(2), out=t.long()),
        lambda t: t.unsqueeze_(9),
        lambda t: t.transpose_(0, 5),
    ],
)
@pytest.mark.parametrize("recorded", [False, True])
def test_a_write_that_does_not_fit_changes_nothing(write: Any, recorded: bool) -> None:
    x = T.ones(2, 3, requires_grad=recorded)
    y = x * 2
    view = y[0]
    node = y.grad_fn
    error = error_of(lambda: write(y))
    assert isinstance(error, CLEAR)
    assert y.tolist() == [[2, 2, 2], [2, 2, 2]]
    assert y._version == view._version == 0
    assert y.grad_fn is node
    assert tuple(y.shape) == (2, 3)


@pytest.mark.parametrize(
    "write",
    [
        lambda t: t.add_(1.5),
        lambda t: t.mul_(T.ones(3)),
        lambda t: t.div_(2),
        lambda t: t.add_(1j),
        lambda t: t.sqrt_(),
        lambda t: t.exp_(),
        lambda t: t.mean(),
        lambda t: t.__itruediv__(2),
        lambda t: t.sigmoid_(),
        lambda t: t.uniform_(0, T.ones(3)),
    ],
)
def test_integers_refuse_what_is_no_integer(write: Any) -> None:
    x = T.ones(2, 3, dtype=T.int64)
    assert isinstance(error_of(lambda: write(x)), (RuntimeError, TypeError, NotImplementedError))
    assert x.tolist() == [[1, 1, 1], [1, 1, 1]]
    assert x._version == 0


# -------------------------------------------------------------------------------------------- the ten common mistakes
def second_backward() -> None:
    x = T.ones(2, requires_grad=True)
    y = x * x  # the line
    y.sum().backward()
    y.sum().backward()


def changed_in_place() -> None:
    x = T.ones(2, requires_grad=True)
    y = x.exp()
    z = y * y  # the line
    y.add_(1)
    z.sum().backward()


def no_grad_at_the_root() -> None:
    T.ones(2).sum().backward()


def root_of_several() -> None:
    (T.ones(2, requires_grad=True) * 2).backward()


def leaf_in_place() -> None:
    T.ones(2, requires_grad=True).add_(1)


def view_of_a_leaf_in_place() -> None:
    T.ones(2, requires_grad=True)[0] = 1.0


def numpy_of_a_result() -> None:
    (T.ones(2, requires_grad=True) * 2).numpy()


def integer_leaf() -> None:
    T.ones(2, dtype=T.int64).requires_grad_()


def integer_leaf_made() -> None:
    T.tensor([1, 2], requires_grad=True)


def broadcast() -> None:
    x = T.ones(2, requires_grad=True) * 2  # the line
    x + T.ones(3)


def broadcast_in_place() -> None:
    T.ones(2).add_(T.ones(3))


def matrices() -> None:
    T.ones(2, 3) @ T.ones(2, 3)


def matrices_by_name() -> None:
    T.mm(T.ones(2, 3), T.ones(2, 3))


def matrix_and_vector() -> None:
    T.ones(2, 3) @ T.ones(2)


def batches() -> None:
    T.ones(4, 2, 3) @ T.ones(4, 2, 3)


def unused_input() -> None:
    x, y = T.ones(2, requires_grad=True), T.ones(2, requires_grad=True)
    T.autograd.grad(x.sum(), [x, y])


MISTAKES = [
    (second_backward, "W001", "Trying to backward through the graph a second time"),
    (
        changed_in_place,
        "W002",
        "one of the variables needed for gradient computation has been modified by an inplace operation",
    ),
    (no_grad_at_the_root, "W003", "element 0 of tensors does not require grad and does not have a grad_fn"),
    (root_of_several, "W004", "grad can be implicitly created only for scalar outputs"),
    (leaf_in_place, "W005", "a leaf Variable that requires grad is being used in an in-place operation."),
    (
        view_of_a_leaf_in_place,
        "W005",
        "a view of a leaf Variable that requires grad is being used in an in-place operation.",
    ),
    (numpy_of_a_result, "W006", "Can't call numpy() on Tensor that requires grad."),
    (integer_leaf, "W007", "only Tensors of floating point dtype can require gradients"),
    (integer_leaf_made, "W007", "Only Tensors of floating point and complex dtype can require gradients"),
    (broadcast, "W008", "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0"),
    (
        broadcast_in_place,
        "W008",
        "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0",
    ),
    (matrices, "W008", "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"),
    (matrices_by_name, "W008", "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"),
    (matrix_and_vector, "W008", "size mismatch, got input (2), mat (2x3), vec (2)"),
    (batches, "W008", "Expected size for first two dimensions of batch2 tensor to be: [4, 3] but got: [4, 2]."),
    (unused_input, "W010", "The differentiated Tensor at index 1 appears to not have been used in the graph."),
]


@pytest.mark.parametrize(("mistake", "code", "text"), MISTAKES, ids=lambda v: getattr(v, "__name__", None))
def test_the_ten_mistakes_are_explained(mistake: Any, code: str, text: str) -> None:
    """The notes say why, what to do, and where it is written up; and, where a node was made, at which line."""
    error = error_of(mistake)
    assert isinstance(error, RuntimeError)
    assert str(error).startswith(text)
    notes = "\n".join(error.__notes__)
    assert "Why:" in notes
    assert "What to do:" in notes or code == "W010"
    assert notes.rstrip().endswith(f"docs/errors.md, {code} (python -m wengert explain {code})")
    source = Path(__file__).read_text().splitlines()
    start = next(i for i, line in enumerate(source) if line.startswith(f"def {mistake.__name__}("))
    end = next(i for i in range(start + 1, len(source)) if not source[i])
    for line in [line.strip() for line in source[start:end] if line.endswith("# the line")]:
        assert line in notes
        assert __file__ in notes


def test_the_gradient_of_a_result_says_where_it_was_made() -> None:
    y = T.ones(2, requires_grad=True) * 2
    with pytest.warns(
        UserWarning, match="The .grad attribute of a Tensor that is not a leaf Tensor is being accessed"
    ) as seen:
        assert y.grad is None
    (warning,) = seen
    assert warning.filename == __file__
    assert "W009" in str(warning.message)
    assert "retain_grad" in str(warning.message)
    assert "y = T.ones(2, requires_grad=True) * 2" in str(warning.message)


def test_every_code_of_the_documentation_is_raised_by_a_mistake() -> None:
    page = Path(__file__).parents[2] / "docs" / "errors.md"
    if not page.exists():
        pytest.skip("the documentation is not beside the tests")
    documented = set(re.findall(r"^## (W\d+)", page.read_text(), re.MULTILINE))
    by_layers = {f"W{number:03}" for number in range(11, 24)}  # their programs are run by tests/house/test_docs.py
    assert documented == {code for _, code, _ in MISTAKES} | {"W009"} | by_layers


def test_a_stale_value_is_explained_for_every_kind_of_node() -> None:
    """A written value that a general operator saved, or one of a list, names its producer or none."""
    x = T.ones(2, 2, requires_grad=True)
    for fn in (
        lambda y: T.addmm(y, y, y),
        lambda y: T.linalg.inv(y + T.eye(2)) @ y,
        lambda y: y.softmax(0) * y,
        lambda y: T.where(y > 0, y, -y) * y,
        lambda y: T.einsum("ij,jk->ik", y, y),
        lambda y: y.norm() * y,
        lambda y: y.var() * y,
        lambda y: T.nn.functional.layer_norm(y, (2,), y[0], y[1]),
        lambda y: y.prod(),
    ):
        y = x * 1
        z = fn(y)
        y.mul_(2)
        error = error_of(lambda z=z: z.sum().backward())
        assert str(error).startswith(
            "one of the variables needed for gradient computation has been modified by an inplace operation: ["
        )
        assert "is at version 1; expected version 0 instead" in str(error)
        assert any("y.mul_(2)" in note for note in error.__notes__)
    w = T.ones(2)
    z = x * w
    w.add_(1)
    with pytest.raises(RuntimeError, match=r"inplace operation: \[torch.FloatTensor \[2\]\] is at version 1; expected"):
        z.sum().backward()


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.dist("a"),
        lambda x: x.view_as(1),
        lambda x: x.expand_as(1),
        lambda x: x.type_as(1),
        lambda x: x.reshape_as(1),
        lambda x: x.cross(1),
        lambda x: x.masked_scatter(x > 0, 1),
        lambda x: x.clamp("a"),
        lambda x: x.clamp(max=[1]),
        lambda x: x.histc("a"),
        lambda x: x.view(dtype="a"),
    ],
)
def test_an_argument_of_another_type_is_refused_by_its_name(call):
    with pytest.raises(TypeError, match=r"argument '\w+' (\(position \d\) )?must be|invalid combination of arguments"):
        call(T.ones(3))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: x.add_("a"), r"^add_\(\): argument 'other' \(position 1\) must be Tensor, not str"),
        (lambda x: x.mul_("a"), r"^mul_\(\): argument 'other' \(position 1\) must be Tensor, not str"),
        (lambda x: x.lerp_(x, "a"), r"^lerp_\(\) received an invalid combination of arguments - got \(Tensor, str\)"),
    ],
)
def test_an_in_place_form_is_called_by_its_own_name(call, text):
    x = T.ones(2)
    with pytest.raises(TypeError, match=text):
        call(x)
    assert x.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("shape", [(1,), (2,)])
def test_index_add_of_lines_to_a_scalar(shape: tuple[int, ...]) -> None:
    with pytest.raises(RuntimeError, match=r"source tensor shape must match .* self.shape = \[\] source.shape = \["):
        T.zeros(()).index_add_(0, T.zeros(shape, dtype=T.int64), T.ones(shape))
    assert T.zeros(()).index_add_(0, T.tensor([0]), T.ones(())).item() == 1.0


@pytest.mark.parametrize(
    "text",
    [
        "T.tensor(1.).permute()",
        "T.tensor(1.).unflatten(0, (1, -1))",
        "T.sub(T.tensor([True]), 1, alpha=.5)",
        "T.tensor([1]).sub_(True, alpha=.5)",
    ],
)
def test_the_first_refusal_is_torchs(text: str, torch: ModuleType) -> None:
    found = []
    for lib in (T, torch):
        with pytest.raises((TypeError, RuntimeError)) as error:
            eval(text, {"T": lib})
        found.append((error.type, str(error.value).split("\n")[0].split(".")[0]))
    assert found[0] == found[1]
