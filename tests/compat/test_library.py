"""torch.library: custom operators, their schemas, derivatives, batching rules and errors."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

import wengert as T
from wengert import library


@pytest.fixture(autouse=True)
def _forget_operators() -> Iterator[None]:
    before = dict(library._OPERATORS)
    yield
    library._OPERATORS.clear()
    library._OPERATORS.update(before)


def double_and_add(a: T.Tensor, b: T.Tensor, *, alpha: float = 1.0, n: int = 2) -> tuple[T.Tensor, T.Tensor]:
    return a * b + alpha, a * n


def test_schema_of_annotations() -> None:
    def f(x: T.Tensor, y: T.Tensor | None, s: list[int], *, t: bool = True, name: str = "a") -> list[T.Tensor]:
        return []

    assert library.infer_schema(f, mutates_args=()) == (
        '(Tensor x, Tensor? y, SymInt[] s, *, bool t=True, str name="a") -> Tensor[]'
    )
    assert library.infer_schema(f, mutates_args=("x",), op_name="f").startswith("f(Tensor(a0!) x, ")


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


def test_a_batching_rule_is_asked_for() -> None:
    op = T.library.custom_op("own::two", lambda x: x * 2, mutates_args=(), schema="(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match="own::two: no batching rule is registered"):
        T.vmap(op)(T.ones(2, 3))
    op.register_vmap(lambda info, in_dims, x: (op(x), in_dims[0]))
    assert T.vmap(op)(T.ones(2, 3)).tolist() == [[2, 2, 2]] * 2


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


def test_opcheck_says_what_was_registered_wrongly() -> None:
    from wengert.testing._internal.optests import OpCheckError

    ran = ["test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic"]

    @T.library.custom_op("checked::scale", mutates_args=())
    def scale(x: T.Tensor, by: float) -> T.Tensor:
        return x * by

    with pytest.raises(OpCheckError, match="test_faketensor failed with There was no fake impl registered"):
        T.library.opcheck(scale, (T.ones(2), 2.0))
    scale.register_fake(lambda x, by: T.empty_like(x))
    assert T.library.opcheck(scale, (T.ones(2),), {"by": 2.0}) == dict.fromkeys(ran, "SUCCESS")
    with pytest.raises(OpCheckError, match="no autograd formula was registered"):
        T.library.opcheck(scale, (T.ones(2, requires_grad=True), 2.0))

    def save(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.by = inputs[1]

    scale.register_autograd(lambda ctx, g: (g * ctx.by, None), setup_context=save)
    assert T.library.opcheck(scale, (T.ones(2, requires_grad=True), 2.0)) == dict.fromkeys(ran, "SUCCESS")
    scale.register_fake(lambda x, by: T.empty(3, device="meta"))
    found = T.library.opcheck(T.ops.checked.scale, (T.ones(2), 2.0), raise_exception=False)
    assert "Shapes torch.Size([2]) and torch.Size([3]) are not equal!" in str(found["test_faketensor"])

    @T.library.custom_op("checked::careless", mutates_args=())
    def careless(x: T.Tensor) -> T.Tensor:
        return x.add_(1).clone()

    x = T.zeros(2)
    with pytest.raises(OpCheckError, match="Argument x is not defined as mutable but was mutated"):
        T.library.opcheck(careless, (x,))
    assert x.tolist() == [0, 0]
    with pytest.raises(ValueError, match="expected test_utils to be subset of"):
        T.library.opcheck(scale, (x, 1.0), test_utils="test_nothing")
    with pytest.raises(ValueError, match="op must be instance of"):
        T.library.opcheck(T.sin, (x,))
