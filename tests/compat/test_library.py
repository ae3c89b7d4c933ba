"""torch.library: custom operators, their schemas, derivatives, batching rules and errors."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

import wengert as T
from wengert import library
from wengert.testing._internal.optests import OpCheckError
from wengert.utils._custom_ops import OPERATORS


@pytest.fixture(autouse=True)
def _forget_operators() -> Iterator[None]:
    before = dict(OPERATORS)
    yield
    OPERATORS.clear()
    OPERATORS.update(before)


def double_and_add(a: T.Tensor, b: T.Tensor, *, alpha: float = 1.0, n: int = 2) -> tuple[T.Tensor, T.Tensor]:
    return a * b + alpha, a * n


def test_schema_of_annotations() -> None:
    def f(x: T.Tensor, y: T.Tensor | None, s: list[int], *, t: bool = True, name: str = "a") -> list[T.Tensor]:
        return []

    assert library.infer_schema(f, mutates_args=()) == (
        '(Tensor x, Tensor? y, SymInt[] s, *, bool t=True, str name="a") -> Tensor[]'
    )
    assert library.infer_schema(f, mutates_args=("x",), op_name="f").startswith("f(Tensor(a0!) x, ")


def _schemas_refused() -> list[Any]:
    def nested(x: list[list[int]]) -> T.Tensor: ...
    def ellipsis(x: T.Tensor) -> tuple[T.Tensor, ...]: ...
    def text(x: T.Tensor) -> str: ...
    def numbers(x: T.Tensor) -> list[int]: ...
    def optional(x: T.Tensor) -> T.Tensor | None: ...
    def default(x: T.Tensor, y: list[int] = [1]) -> T.Tensor: ...  # noqa: B006  the default is what is refused
    def positional(x: T.Tensor, /) -> T.Tensor: ...
    def unknown(x: Nothing) -> T.Tensor: ...  # type: ignore[name-defined]  # noqa: F821  likewise

    return [
        (nested, (), r"Parameter x has unsupported type list\[list\[int\]\]"),
        (ellipsis, (), "Return has unsupported type tuple"),
        (text, (), "Return has unsupported type <class 'str'>"),
        (numbers, (), r"Return has unsupported type list\[int\]"),
        (optional, (), "Return has unsupported type .*Tensor | None"),
        (default, (), "Parameter y has an unsupported default value type <class 'list'>"),
        (positional, (), "We do not support positional-only args, varargs, or varkwargs."),
        (unknown, (), "Unsupported type annotation Nothing. It is not a type."),
        (default, {"y"}, "Parameter y is in mutable_args but only Tensors or collections of Tensors can be mutated"),
        (text, "x", "mutates_args must either be a sequence of the names of the arguments that are mutated or the str"),
    ]


@pytest.mark.parametrize(("function", "mutates", "text"), _schemas_refused())
def test_annotations_that_are_no_schema(function: Any, mutates: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        library.infer_schema(function, mutates_args=mutates)


def test_is_called_by_name_and_by_object() -> None:
    op = T.library.custom_op("own::double_and_add", double_and_add, mutates_args=())
    a, b = T.ones(2), T.full((2,), 3.0)
    for call in (op, T.ops.own.double_and_add, T.ops.own.double_and_add.default):
        first, second = call(a, b, n=5)
        assert (first.tolist(), second.tolist()) == ([4, 4], [5, 5])
    assert repr(op) == "<CustomOpDef(own::double_and_add)>"
    assert repr(T.ops.own.double_and_add.default) == "own.double_and_add.default"
    with pytest.raises(AttributeError, match="'_OpNamespace' 'own' object has no attribute 'other'"):
        T.ops.own.other


def test_is_one_step_of_the_tape() -> None:
    @T.library.custom_op("own::cube", mutates_args=())
    def cube(x: T.Tensor) -> T.Tensor:
        return T.from_numpy(x.numpy() ** 3)

    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = cube(x)
    with pytest.raises(
        RuntimeError, match=r"no autograd formula was registered\. Please use register_autograd to add one\."
    ):
        y.sum().backward()
    cube.register_autograd(
        lambda ctx, g: g * 3 * ctx.saved_tensors[0] ** 2,
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
    )
    cube(x).sum().backward()
    assert x.grad.tolist() == [3, 12]


def test_keyword_only_inputs_reach_setup_context() -> None:
    T.library.custom_op("own::scaled", mutates_args=())(_scaled)

    def setup_context(ctx: Any, inputs: Any, keyword_only_inputs: Any, output: Any) -> None:
        ctx.factor = keyword_only_inputs["factor"]

    T.library.register_autograd("own::scaled", lambda ctx, g: g * ctx.factor, setup_context=setup_context)
    x = T.ones(2, requires_grad=True)
    T.ops.own.scaled(x, factor=4.0).sum().backward()
    assert x.grad.tolist() == [4, 4]


def _scaled(x: T.Tensor, *, factor: float) -> T.Tensor:
    return x * factor


def test_without_a_batching_rule_examples_are_called_one_by_one() -> None:
    calls = []

    def both(x: T.Tensor, y: T.Tensor) -> tuple[T.Tensor, T.Tensor]:
        calls.append(x.shape)
        return x * 2, x.sum() + y

    op = T.library.custom_op("own::both", both, mutates_args=())
    first, second = T.vmap(op, in_dims=(1, None))(T.arange(6.0).view(2, 3), T.ones(1))
    assert (first.tolist(), second.tolist()) == ([[0, 6], [2, 8], [4, 10]], [[4], [6], [8]])
    assert calls == [(2,)] * 3
    op.register_vmap(lambda info, in_dims, x, y: (op(x, y), (in_dims[0], in_dims[0])))
    T.vmap(op, in_dims=(0, None))(T.ones(3, 2), T.ones(2))
    assert calls[3:] == [(3, 2)]


@pytest.mark.parametrize(
    ("schema", "shape", "text"),
    [
        ("(Tensor x) -> Tensor", (0, 2), "The fallback path does not support vmap over dims of size 0"),
        ("(Tensor(a!) x) -> ()", (1, 2), "the fallback path doesn't work on out= or view ops"),
        ("(Tensor x) -> int", (1, 2), "We could not generate a fallback"),
    ],
)
def test_calls_that_are_not_mapped(schema: str, shape: tuple[int, ...], text: str) -> None:
    results = {"Tensor": lambda x: x.clone(), "()": lambda x: None, "int": lambda x: 3}
    kernel = results[schema.rpartition(" ")[2]]
    op = library.custom_op("own::unmapped", kernel, mutates_args={"x"} if "!" in schema else (), schema=schema)
    with pytest.raises(RuntimeError, match=rf"Batching rule not implemented for own::unmapped.*{text}"):
        T.vmap(op)(T.ones(shape))


def test_kernels_of_devices(either: ModuleType) -> None:
    op = either.library.custom_op(
        "kernels::one", lambda x: x * 1, mutates_args=(), schema="(Tensor x) -> Tensor", device_types="cuda"
    )
    x = either.ones(1)
    with pytest.raises(NotImplementedError, match="Could not run 'kernels::one' with arguments from the 'CPU'"):
        op(x)
    op.register_kernel("cpu", lambda x: x * 2)
    assert op(x).item() == 2
    with op.set_kernel_enabled("cpu", enabled=False):
        assert op(x).item() == 1
        with op.set_kernel_enabled("cpu"):
            assert op(x).item() == 2
        assert op(x).item() == 1
    with pytest.raises(RuntimeError, match="There was no fake impl registered for <CustomOpDef"):
        op(either.ones(1, device="meta"))
    with pytest.raises(ValueError, match=r"are required to have a `device: torch.device` argument"):
        either.library.custom_op(
            "kernels::two", lambda n: n, mutates_args=(), schema="(int n) -> int", device_types="cpu"
        )
    writes = either.library.custom_op(
        "kernels::three", lambda x: None, mutates_args={"x"}, schema="(Tensor(a!) x) -> ()"
    )
    with pytest.raises(RuntimeError, match="Cannot register autograd formula for non-functional operator <Cust"):
        writes.register_autograd(lambda ctx, g: g)


def test_kernels_of_declared_operators(either: ModuleType) -> None:
    x = either.ones(1)
    for n, devices in enumerate(("default", "CPU", "CompositeExplicitAutograd", ["cpu", "cuda"], None)):
        either.library.define(f"kernels::declared{n}", "(Tensor x) -> Tensor")
        either.library.register_kernel(f"kernels::declared{n}", devices)(lambda x, n=n: x + n)
        assert getattr(either.ops.kernels, f"declared{n}")(x).item() == 1 + n
    with pytest.raises(RuntimeError, match="device type at start of device string: all"):
        either.library.register_kernel("kernels::declared0", "all", lambda x: x)


def test_operators_are_declared_once(either: ModuleType) -> None:
    with either.library._scoped_library("declared", "FRAGMENT") as lib:
        lib.define("foo(Tensor x) -> Tensor")
        with pytest.raises(RuntimeError, match=r"Tried to register an operator \(declared::foo\(Tensor x\) -> Te"):
            lib.define("foo(Tensor x) -> Tensor")
        lib.impl("foo", lambda x: x.neg(), "CPU")
        with pytest.raises(NotImplementedError, match="to run this operator with Meta tensors, but there was no f"):
            either.ops.declared.foo(either.ones(1, device="meta"))
        assert repr(lib) == "Library(kind=FRAGMENT, ns=declared, dispatch_key=)>"
    with pytest.raises(AttributeError):
        either.ops.declared.foo
    with pytest.raises(ValueError, match='to be of the form "namespace::name", but got foo'):
        either.library.define("foo", "(Tensor x) -> Tensor")
    with pytest.raises(ValueError, match="expected schema to look like"):
        either.library.define("declared::foo", "bad")


def test_former_calls_take_a_library(either: ModuleType) -> None:
    with either.library._scoped_library("former", "DEF") as lib:
        lib.define("foo(Tensor x) -> Tensor")
        either.library.impl(lib, "foo", "CPU")(lambda x: x.neg())
        kept = either.library.impl(lib, "foo", "Meta")(lambda x: x.new_empty(7))
        assert kept(either.ones(2)).shape == either.ops.former.foo(either.ones(2, device="meta")).shape == (7,)
        assert either.ops.former.foo(either.ones(2)).tolist() == [-1, -1]
        either.library.define(lib, "bar(Tensor x) -> Tensor")(lambda x: x.sin())
        x = either.zeros(2, requires_grad=True)
        either.ops.former.bar(x).sum().backward()  # the function is made of operators that have derivatives
        assert x.grad.tolist() == [1, 1]
        assert either.ops.former.bar(either.ones(3, device="meta")).is_meta
        lib.define("baz(Tensor x) -> Tensor")
        with either.library._scoped_library("former", "IMPL", "Meta") as meta:
            meta.impl("baz", lambda x: x.new_empty(5))
            assert either.ops.former.baz(either.ones(2, device="meta")).shape == (5,)


def test_a_mutated_argument_counts_a_write() -> None:
    @T.library.custom_op("own::inc_", mutates_args={"x"})
    def inc_(x: T.Tensor) -> None:
        x.numpy()[...] += 1

    t = T.zeros(2)
    before = t._version
    assert inc_(t) is None
    assert t.tolist() == [1, 1]
    assert t._version > before


def test_libraries() -> None:
    mine = T.library.Library("own2", "DEF")
    assert mine.define("foo(Tensor x, int n=3, *, float[] w=[1.0, 2.0]) -> Tensor") == "foo"
    with pytest.raises(NotImplementedError, match="Could not run 'own2::foo' with arguments from the 'CPU' backend"):
        T.ops.own2.foo(T.ones(1))
    mine.impl("foo", lambda x, n=3, w=(): x * n + w[1], "CPU")
    assert T.ops.own2.foo(T.ones(1)).item() == 5
    assert T.ops.own2.foo(T.ones(1), 5, w=[0.0, 0.0]).item() == 5


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: T.library.custom_op("own::f", lambda x: x, mutates_args=()),
            ValueError,
            "must have a type annotation",
        ),
        (lambda: T.library.custom_op("f", double_and_add, mutates_args=()), ValueError, "`namespace::name`, but got f"),
        (
            lambda: T.library.infer_schema(double_and_add, mutates_args=("z",)),
            ValueError,
            "not found in the custom op's",
        ),
        (lambda: T.library.register_autograd("own::none", None), RuntimeError, "operator own::none does not exist"),
        (lambda: T.library.custom_op("own::g", _scaled, mutates_args=())(3), RuntimeError, "own::g"),
        (
            lambda: T.library.custom_op("own::g", _scaled, mutates_args=())(3, factor=1.0),
            RuntimeError,
            "Expected a value",
        ),
        (
            lambda: T.library.custom_op("own::same", lambda x: x, mutates_args=(), schema="(Tensor x) -> Tensor")(
                T.ones(1)
            ),
            RuntimeError,
            "must not also be an input to this custom operator",
        ),
    ],
)
def test_refusals(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_schemas_as_pytorch(torch: ModuleType) -> None:
    def made(t: Any) -> list[str]:
        def f(x: t.Tensor, y: t.Tensor | None, n: int, s: list[float], *, k: bool = False) -> t.Tensor: ...  # type: ignore[name-defined,empty-body]
        def g(x: t.Tensor) -> None: ...  # type: ignore[name-defined]
        def h(x: list[t.Tensor], d: float = 1.5) -> tuple[t.Tensor, t.Tensor]: ...  # type: ignore[name-defined,empty-body]

        for fn in (f, g, h):
            fn.__annotations__ = {
                k: eval(v, {"t": t}) if isinstance(v, str) else v for k, v in fn.__annotations__.items()
            }
        return [t.library.infer_schema(fn, mutates_args=("x",) if fn is g else ()) for fn in (f, g, h)]

    assert made(T) == made(torch)


def test_gradients_that_an_operator_is_asked_for() -> None:
    @library.custom_op("own::scaled", mutates_args=())
    def scaled(x: T.Tensor, y: T.Tensor, *, by: float) -> T.Tensor:
        return x * y * by

    def setup_context(ctx: Any, inputs: Any, keyword_only_inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.by = keyword_only_inputs["by"]

    def backward(ctx: Any, g: Any) -> Any:
        x, y = ctx.saved_tensors
        needs = ctx.needs_input_grad
        return g * y * ctx.by if needs[0] else None, g * x * ctx.by if needs[1] else None

    scaled.register_autograd(backward, setup_context=setup_context)
    x, y = T.tensor(3.0, requires_grad=True), T.tensor(4.0)
    z = scaled(x, y, by=2.0)
    assert z.grad_fn.name() == "GeneratedBackwardFor_own_scaled_defaultBackward"
    z.backward()
    assert x.grad.item() == 8
    assert T.autograd.gradcheck(lambda x, y: scaled(x, y, by=2.0), [T.rand(3).double().requires_grad_() for _ in "xy"])


def test_operators_on_lists_of_tensors() -> None:
    @library.custom_op("own::halves", mutates_args=())
    def halves(xs: list[T.Tensor], dim: int) -> list[T.Tensor]:
        return [part.clone() for x in xs for part in x.chunk(2, dim)]

    def backward(ctx: Any, grads: Any) -> Any:
        assert ctx.needs_input_grad == ([True, False], False)
        return [T.cat(grads[:2], ctx.dim), None], None

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        assert len(inputs[0]) == 2 and len(output) == 4
        ctx.dim = inputs[1]

    @halves.register_fake
    def _(xs: list[T.Tensor], dim: int) -> list[T.Tensor]:
        return [T.empty_like(part) for x in xs for part in x.chunk(2, dim)]

    halves.register_autograd(backward, setup_context=setup_context)
    x = T.ones(4, requires_grad=True)
    parts = halves([x, T.ones(2)], 0)
    (parts[0].sum() + 2 * parts[1].sum()).backward()
    assert x.grad.tolist() == [1.0, 1.0, 2.0, 2.0]
    assert [p.shape for p in halves([T.ones(4, device="meta")], 0)] == [(2,), (2,)]


def declared(schema: str, kernel: Any, key: str = "CPU") -> Any:
    """An operator of schema and kernel, without a derivative."""
    lib = T.library.Library("fallback", "FRAGMENT")
    name = lib.define(schema)
    lib.impl(name, kernel, key)
    return getattr(T.ops.fallback, name).default


@pytest.fixture(params=["warn", "nothing"])
def fallback(request: pytest.FixtureRequest) -> Iterator[str]:
    before = T._C._get_autograd_fallback_mode()
    T._C._set_autograd_fallback_mode(request.param)
    yield request.param
    T._C._set_autograd_fallback_mode(before)


NOT_REGISTERED = "an autograd kernel was not registered to the Autograd key"


def test_declared_operators_are_recorded_as_what_they_call(fallback: str, recwarn: pytest.WarningsRecorder) -> None:
    op = declared("sine(Tensor x) -> Tensor", lambda x: x.sin())
    x = T.ones(2, requires_grad=True)
    op(x).sum().backward()
    assert T.equal(x.grad, x.cos())
    assert [NOT_REGISTERED in str(w.message) for w in recwarn] == [True] * (fallback == "warn")


def test_composite_kernels_never_warn(recwarn: pytest.WarningsRecorder) -> None:
    op = declared("composed(Tensor x) -> Tensor", lambda x: x.sin(), "CompositeImplicitAutograd")
    op(T.ones(2, requires_grad=True)).sum().backward()
    assert not len(recwarn)


def test_results_that_nothing_recorded(fallback: str) -> None:
    op = declared("copied(Tensor? none, Tensor x) -> (Tensor, Tensor)", lambda _, x: (None, T.tensor(x.tolist())))
    x = T.ones(2, requires_grad=True)
    none, y = op(None, x)
    assert none is None
    if fallback == "nothing":
        assert not y.requires_grad
        return
    with pytest.warns(UserWarning, match=NOT_REGISTERED):
        y.sum().backward()
    assert x.grad is None


def test_writes_to_views_warn_by_their_base(fallback: str) -> None:
    def write(x: T.Tensor) -> T.Tensor:
        with T.no_grad():
            return x.sin_()

    op = declared("written(Tensor(a!) x) -> Tensor(a!)", write)
    base = T.ones(3, requires_grad=True).clone()
    view = base[:1]
    assert op(view) is view
    if fallback == "warn":
        with pytest.warns(UserWarning, match=NOT_REGISTERED):
            base.sum().backward()


def test_a_base_that_requires_no_grad_has_no_hook(fallback: str, recwarn: pytest.WarningsRecorder) -> None:
    op = declared("zeroed(Tensor(a!) x) -> Tensor(a!)", T.no_grad()(lambda x: x.zero_()))
    x = T.ones(3)
    view = x[:].requires_grad_()[:]
    assert op(view)._base is x
    view.sum().backward()
    assert [NOT_REGISTERED in str(w.message) for w in recwarn] == [True] * (fallback == "warn")


def test_a_result_that_is_an_operand_by_its_schema_is_left_alone(fallback: str) -> None:
    op = declared("cloned(Tensor(a!) x, Tensor y) -> (Tensor(a!), Tensor)", lambda x, y: (x.clone(), y.detach() * 2))
    written, other = op(T.ones(2), T.ones(2, requires_grad=True))
    assert not written.requires_grad and other.requires_grad == (fallback == "warn")


def test_overloads_of_custom_operators() -> None:
    op = T.library.custom_op("own::halved", lambda x: x / 2, mutates_args=(), schema="(Tensor x) -> Tensor")
    overload = T.ops.own.halved.default
    assert isinstance(overload, T._ops.OpOverload)
    assert (overload.name(), overload.namespace, overload.overloadpacket) == ("own::halved", "own", T.ops.own.halved)
    assert overload == op._opoverload
    assert T.ops.own.halved.overloads() == ["default"]
    assert copy.copy(T.ops.own.halved) == T.ops.own.halved
    assert str(overload._schema) == "own::halved(Tensor x) -> Tensor"
    assert repr(T.ops.namespace_of_nobody)  # as in PyTorch, empty until an operator is declared
    del T.ops.namespace_of_nobody


def test_modes_and_selective_checkpoints_see_custom_operators() -> None:
    from functools import partial

    from wengert.utils._python_dispatch import TorchDispatchMode
    from wengert.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts

    runs: list[int] = []

    @T.library.custom_op("own::sine_and_two", mutates_args=())
    def sine_and_two(x: T.Tensor) -> tuple[T.Tensor, int]:
        runs.append(1)
        return x.sin(), 2

    def setup(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    sine_and_two.register_autograd(lambda ctx, g, _: g * ctx.saved_tensors[0].cos(), setup_context=setup)
    overload = T.ops.own.sine_and_two.default
    seen: list[Any] = []

    class Seeing(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func)
            return func(*args, **(kwargs or {}))

    x = T.ones(2)
    with Seeing():
        sine_and_two(x)
    assert seen[0] == overload
    runs.clear()
    seen.clear()
    keep = partial(create_selective_checkpoint_contexts, lambda ctx, op, *args: seen.append((op, ctx.op_output)))
    with Seeing():  # the checkpoint and a mode outside of it see the call, and not the kernel's operators
        y, _ = checkpoint(sine_and_two, x, use_reentrant=False, context_fn=keep)
    assert seen == [overload, (overload, (y, 2))]
    runs.clear()
    x = T.ones(2, requires_grad=True)
    keep = partial(create_selective_checkpoint_contexts, [overload])
    y = checkpoint(lambda x: (sine_and_two(x)[0] * x.exp()).sin(), x, use_reentrant=False, context_fn=keep)
    y.sum().backward()
    assert runs == [1]
    reference = T.ones(2, requires_grad=True)
    (reference.sin() * reference.exp()).sin().sum().backward()
    T.testing.assert_close(x.grad, reference.grad)


WRONG = """
torch.library.Library("of_tests", "BAD")
torch.library.Library("prim", "DEF")
library.define("bad")
library.impl("foo", 3, "CPU")
op()
op(torch.ones(1), 2)
op(3)
op(y=3)
torch.library.register_autograd("nope", lambda x: x)
torch.library.infer_schema(lambda: 1, mutates_args=())
torch.library.infer_schema(unnamed, mutates_args={"q"})
"""


@pytest.mark.parametrize("line", WRONG.strip().splitlines())
def test_wrong_calls_as_in_pytorch(torch: Any, line: str) -> None:
    seen = []
    for lib in (torch, T):

        def unnamed(x: Any) -> None: ...

        unnamed.__annotations__ = {"x": lib.Tensor, "return": None}
        names = {"torch": lib, "unnamed": unnamed, "library": lib.library.Library("of_tests", "FRAGMENT")}
        if not hasattr(lib.ops.of_tests, "foo"):
            names["library"].define("foo(Tensor x) -> Tensor")
        names["op"] = lib.ops.of_tests.foo
        try:
            seen.append(repr(eval(line, names)))
        except Exception as error:  # noqa: BLE001  what it is is compared
            seen.append(f"{type(error).__name__}: {str(error).splitlines()[0].partition('. ')[0]}")
    assert seen[0] == seen[1]


# ------------------------------------------------------------------------------------ what PyTorch's suite asks of them
@pytest.fixture(params=["wengert", pytest.param("torch", marks=pytest.mark.compare)])
def either(request: pytest.FixtureRequest) -> Any:
    return pytest.importorskip(request.param)


def test_nothing_is_saved_where_nothing_is_recorded(either: Any) -> None:
    calls: list[Any] = []
    op = either.library.custom_op(
        "asked::plus", lambda x, y: x + y, mutates_args=(), schema="(Tensor x, float y) -> Tensor"
    )
    op.register_autograd(lambda ctx, g: g, setup_context=lambda ctx, inputs, output: calls.append(inputs[1]))
    x = either.ones(2, requires_grad=True)
    with either.no_grad():
        op(x, 1.0)
    op(x.detach(), 2.0)
    assert calls == []
    op(x, 3.0)
    assert calls == [3.0]


def test_declared_operators_end_with_their_library(either: Any) -> None:
    for n in (2, 3):
        lib = either.library.Library("ended", "FRAGMENT")
        lib.define("times(Tensor x) -> Tensor")
        lib.impl("times", lambda x, n=n: x * n, "CPU")
        assert either.ops.ended.times.default(either.ones(1)).item() == n
        del lib.m  # as PyTorch's suites do
        del either.ops.ended, lib
    assert not hasattr(either.ops.ended, "times")


def test_a_derivative_may_return_nothing_for_defaults(either: Any) -> None:
    with either.library._scoped_library("asked", "FRAGMENT") as lib:
        lib.define("scaled(Tensor w, int x=2, *, int y=3, int z) -> Tensor")
        lib.impl("scaled", lambda w, x=2, *, y=3, z: w * x * y * z, "CPU")
        seen: list[Any] = []

        def setup(ctx: Any, inputs: Any, keyword_only_inputs: Any, output: Any) -> None:
            seen.append((inputs[1:], keyword_only_inputs))

        either.library.register_autograd("asked::scaled", lambda ctx, g: g * 7, setup_context=setup, lib=lib)
        w = either.ones(2, requires_grad=True)
        either.ops.asked.scaled(w, z=4).sum().backward()
        assert (seen, w.grad.tolist()) == ([((2,), {"y": 3, "z": 4})], [7.0, 7.0])


def test_schemas_say_what_is_written(either: Any) -> None:
    Tensor, cpu = either.Tensor, either.device("cpu")

    def op(x: Any, w: Any, kind: Any = either.int32, device: Any = cpu) -> None:
        pass

    op.__annotations__ = {
        "x": Tensor, "w": list[Tensor | None], "kind": either.dtype, "device": either.device, "return": None,
    }  # fmt: skip
    text = '(Tensor x, Tensor(a1!)?[] w, ScalarType kind=int32, Device device="cpu") -> ()'
    assert either.library.infer_schema(op, mutates_args={"w"}) == text
    with pytest.raises(ValueError, match=r"The schema suggests that the op mutates {'x'}which is different"):
        either.library.custom_op("asked::wrong", lambda x: None, mutates_args=(), schema="(Tensor(a!) x) -> ()")
    written = either.library.custom_op("asked::written", op, mutates_args={"w"})
    x, w = either.ones(2), [either.ones(2), None]
    written(x, w)
    assert (x._version, w[0]._version) == (0, 1)


def test_a_written_argument_needs_no_alias_name(either: Any) -> None:
    either.library.define("schemas::exclaim", "(Tensor x, Tensor! y, Tensor!? z=None) -> ()")
    either.library.impl("schemas::exclaim", "default")(lambda x, y, z=None: y.copy_(x) and None)
    op, y = either.ops.schemas.exclaim.default, either.zeros(1)
    declared = "schemas::exclaim(Tensor x, Tensor($0! -> ) y, Tensor($1! -> )? z=None) -> ()"
    assert str(op._schema) == declared
    assert op(either.ones(1), y) is None
    assert (y.item(), y._version) == (1, 1)


def test_tensors_by_keyword_have_no_derivative(either: Any) -> None:
    with pytest.raises(NotImplementedError, match="custom_op with kwarg-only Tensor args"):
        either.library.custom_op(
            "asked::kw", lambda x, *, y: x, mutates_args=(), schema="(Tensor x, *, Tensor y) -> Tensor"
        )
    with either.library._scoped_library("asked", "FRAGMENT") as lib:
        lib.define("keyword(Tensor x, *, Tensor y) -> Tensor")
        with pytest.raises(NotImplementedError, match="register_autograd with kwarg-only Tensor args"):
            either.library.register_autograd("asked::keyword", lambda ctx, g: g, lib=lib)


@pytest.mark.parametrize("returned", [lambda x: x, lambda x: x.view(-1), lambda x: (y := x.clone(), y[:])])
def test_results_share_no_memory(either: Any, returned: Any) -> None:
    results = "(Tensor, Tensor)" if isinstance(returned(either.ones(2)), tuple) else "Tensor"
    op = either.library.custom_op("asked::alias", returned, mutates_args=(), schema=f"(Tensor x) -> {results}")
    with pytest.raises(RuntimeError, match="may not alias"):
        op(either.ones(2))


def test_overloads_are_found_by_their_arguments(either: Any) -> None:
    one = either.library.custom_op("asked::many", lambda x: x + 1, mutates_args=(), schema="(Tensor x) -> Tensor")
    either.library.custom_op(
        "asked::many.two", lambda x, y: x + y, mutates_args=(), schema="(Tensor x, Tensor y) -> Tensor"
    )
    x, packet = either.ones(2), either.ops.asked.many
    assert (packet(x).tolist(), packet(x, x).tolist(), one(x).tolist()) == ([2, 2], [2, 2], [2, 2])
    assert (packet.overloads(), str(packet.two), packet.two(x, x).tolist()) == (
        ["default", "two"],
        "asked.many.two",
        [2, 2],
    )


def test_kernels_for_autograd(either: ModuleType) -> None:
    with either.library._scoped_library("autograds", "FRAGMENT") as lib:
        lib.define("foo(Tensor x) -> Tensor")

        class Foo(either.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                with either._C._AutoDispatchBelowAutograd():
                    return either.ops.autograds.foo(x)

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                return g * 5

        lib.impl("foo", Foo.apply, "Autograd")
        lib.impl("foo", lambda x: x * 2, "CPU")
        x = either.ones(2, requires_grad=True)
        y = either.ops.autograds.foo(x)
        assert y.tolist() == [2, 2]
        y.sum().backward()
        assert x.grad.tolist() == [5, 5]


def test_operands_are_cast_in_regions(either: ModuleType) -> None:
    op = either.library.custom_op(
        "casts::mm", lambda a, b: a @ b, mutates_args=(), schema="(Tensor a, Tensor b) -> Tensor"
    )
    op.register_autocast("cpu", either.float16)
    x = either.ones(2, 2)
    assert op(x, x).dtype is either.float32
    with either.autocast("cpu", dtype=either.float16):
        assert op(x, x).dtype is either.float16
        assert op(x.double(), x.double()).dtype is either.float64
    with pytest.raises(ValueError, match=r"register_autocast\(3\): got unexpected type for op: <class 'int'>"):
        either.library.register_autocast(3, "cpu", either.float16)


def test_rules_of_dispatch_modes(either: ModuleType) -> None:
    op = either.library.custom_op("rules::neg", lambda a: -a, mutates_args=(), schema="(Tensor a) -> Tensor")
    seen: list[str] = []

    class Mode(either.utils._python_dispatch.TorchDispatchMode):  # type: ignore[misc, name-defined]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    @either.library.register_torch_dispatch("rules::neg", Mode)
    def rule(mode: Any, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        seen.append(f"rule {func}")
        return args[0] * 7

    x = either.ones(1)
    with Mode():
        y = op(x)
    assert (y.item(), op(x).item(), seen) == (7, -1, ["rule rules.neg.default"])


def _checks(library: Any) -> list[str]:
    """What ``opcheck`` says of operators that are and are not what they were declared as."""
    x, leaf = library.ones(2), library.ones(2, requires_grad=True)

    def made(name: str, kernel: Any, fake: Any, schema: str = "(Tensor x) -> Tensor", mutates: Any = ()) -> Any:
        op = library.library.custom_op(f"checks::{name}", kernel, mutates_args=mutates, schema=schema)
        if fake is not None:
            op.register_fake(fake)
        return op

    good = made("good", lambda x: x.sin(), lambda x: library.empty_like(x))
    differentiable = made("also", lambda x: x * 2, lambda x: library.empty_like(x))
    differentiable.register_autograd(lambda ctx, g: g * 2)
    found = []
    for call in (
        lambda: library.library.opcheck(good, (x,)),
        lambda: library.library.opcheck(good, (leaf,)),
        lambda: library.library.opcheck(differentiable, (leaf,)),
        lambda: library.library.opcheck(made("faceless", lambda x: x.sin(), None), (x,)),
        lambda: library.library.opcheck(made("size", lambda x: x.sin(), lambda x: library.empty(3)), (x,)),
        lambda: library.library.opcheck(
            made("kind", lambda x: x.sin(), lambda x: library.empty(2, dtype=library.int)), (x,)
        ),
        lambda: library.library.opcheck(
            made("writes", lambda x: x.add_(1).clone(), lambda x: library.empty_like(x)), (x,)
        ),
        lambda: library.library.opcheck(
            made("told", lambda x: x.add_(1) and None, None, "(Tensor(a!) x) -> ()", {"x"}), (x,)
        ),
        lambda: library.library.opcheck(good, (x,), test_utils="test_schema"),
        lambda: library.library.opcheck(good, (x,), test_utils="other"),
        lambda: library.library.opcheck(len, (x,)),
        lambda: library.library.opcheck(good, (x,), rtol=1.0),
        lambda: library.library.opcheck(library.ops.aten.sin.default, (leaf,)),
    ):
        try:
            found.append(str(call()))
        except Exception as error:  # noqa: BLE001  which one is compared
            found.append(f"{type(error).__name__}: {str(error).partition('. ')[0]}")
    return found


def test_opcheck_as_pytorch(torch: ModuleType) -> None:
    mine, theirs = _checks(T), _checks(torch)
    assert [line.replace("wengert", "torch") for line in mine] == theirs


def test_opcheck_finds_histories_that_nothing_registered() -> None:
    op = declared("recorded(Tensor x) -> Tensor", lambda x: x.sin())
    with pytest.raises(OpCheckError, match="incorrectly registered an autograd kernel"):
        library.opcheck(op, (T.ones(2, requires_grad=True),))


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"k": "a"}, "type 'int' for argument 'k' but instead found type 'str'"),
        ({"k": 1.5}, "type 'int' for argument 'k' but instead found type 'float'"),
        ({"a": "z"}, "type 'float' for argument 'a' but instead found type 'str'"),
        ({"b": "t"}, "type 'bool' for argument 'b' but instead found type 'str'"),
        ({"s": 1}, "type 'str' for argument 's' but instead found type 'int'"),
        ({"o": 1.5}, r"type 'Optional\[int\]' for argument 'o' but instead found type 'float'"),
        ({"ks": [1.5]}, r"type 'Optional\[List\[int\]\]' for argument 'ks' but instead found type 'list'"),
    ],
)
def test_arguments_are_of_the_declared_types(given: dict[str, Any], wanted: str) -> None:
    schema = "(Tensor x, SymInt k=2, float a=1., bool b=True, str s='q', SymInt? o=None, SymInt[]? ks=None) -> Tensor"
    op = T.library.custom_op("tests::of_types", lambda x, *_, **__: x.clone(), mutates_args=(), schema=schema)
    x = T.ones(2)
    for fitting in {"k": True}, {"k": T.tensor(2)}, {"a": 1}, {"b": None}, {"o": None}, {"ks": [1, 2]}:
        assert T.equal(op(x, **fitting), x)
    with pytest.raises(RuntimeError, match=wanted):
        op(x, **given)


def test_operators_in_inference_mode_may_not_alias(either: Any) -> None:
    """All inference tensors have one version, those of other memory too."""

    given: Any = {"mutates_args": (), "schema": "(Tensor x) -> Tensor"}
    twice = either.library.custom_op("inferring::twice", lambda x: x * 2, **given)
    first = either.library.custom_op("inferring::first", lambda x: x[:1], **given)
    with either.inference_mode():
        x = either.ones(2) + 1
        total = x.sum()
        assert twice(x).tolist() == [4, 4] and twice(x).is_inference() and twice(total).item() == 8
        with pytest.raises(RuntimeError, match="may not alias"):
            first(x)
