"""torch.utils.checkpoint: what is recomputed and when, what is compared, what is refused; and the same as PyTorch."""

from __future__ import annotations

import contextlib
import functools
import gc
import math
import warnings
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from op_cases import arguments, array, call, cases, differentiable, is_variable, tensors

import wengert
from wengert._base.registry import REGISTRY
from wengert.utils.checkpoint import CheckpointError, GraphExecGroup, checkpoint, checkpoint_sequential

CASES = [c for c in cases() if REGISTRY[c[0]].node is not None and REGISTRY[c[0]].no_derivative is None]


def variables(name: str, operands: list[Any]) -> list[int]:
    constant = REGISTRY[name].__dict__.get("underived", ())
    return [k for k, a in enumerate(operands) if is_variable(a) and k not in constant]


def module_of(T: ModuleType) -> Any:
    import importlib

    return importlib.import_module(f"{T.__name__}.utils.checkpoint")


def counted(fn: Callable[..., Any]) -> tuple[Callable[..., Any], list[int]]:
    runs = [0]

    def run(*args: Any, **kwargs: Any) -> Any:
        runs[0] += 1
        return fn(*args, **kwargs)

    return run, runs


def leaf(T: Any = wengert) -> Any:
    return T.tensor([1.0, 2.0], requires_grad=True)


def exp_sin_gradient() -> list[float]:
    return [math.exp(math.sin(v)) * math.cos(v) for v in (1.0, 2.0)]


# ------------------------------------------------------------------------------------------------------ values and runs
def test_the_function_runs_twice_and_the_gradient_is_right() -> None:
    block, runs = counted(lambda x: x.sin().exp())
    x = leaf()
    y = checkpoint(block, x, use_reentrant=False)
    assert runs == [1]
    y.sum().backward()
    assert runs == [2]
    assert x.grad.tolist() == pytest.approx(exp_sin_gradient(), rel=1e-6)


def test_each_pass_runs_it_again_and_a_freed_graph_is_refused() -> None:
    block, runs = counted(lambda x: x.sin().exp())
    x = leaf()
    y = checkpoint(block, x, use_reentrant=False).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert runs == [3]
    assert x.grad.tolist() == pytest.approx([2 * v for v in exp_sin_gradient()], rel=1e-6)
    with pytest.raises(RuntimeError, match=r"^Trying to backward through the graph a second time"):
        y.backward()


def test_second_order() -> None:
    x = leaf()
    y = checkpoint(lambda x: x.sin().exp(), x, use_reentrant=False)
    (first,) = wengert.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = wengert.autograd.grad(first.sum(), x)
    expected = [math.exp(math.sin(v)) * (math.cos(v) ** 2 - math.sin(v)) for v in (1.0, 2.0)]
    assert second.tolist() == pytest.approx(expected, rel=1e-5)


def test_saved_values_are_not_kept(no_gc: None) -> None:
    made: list[Any] = []

    def block(x: Any) -> Any:
        y = x.sin()
        made.append(weakref.ref(y._payload))
        return y.exp()

    x = leaf()
    y = checkpoint(block, x, use_reentrant=False)
    assert made[0]() is None  # exp saves its result and sin's derivative needs x: neither keeps sin's result
    z = checkpoint(lambda x: (x.sin() * x.cos()).exp(), x, use_reentrant=False)
    (y.sum() + z.sum()).backward()
    assert made[1]() is None


def test_nothing_waits_for_the_collector(no_gc: None) -> None:
    x = leaf()

    def block(x: Any) -> Any:
        return checkpoint(lambda x: x.sin().exp(), x, use_reentrant=False).cos() * x

    gc.collect()
    y = checkpoint(block, x, use_reentrant=False).sum()
    node = weakref.ref(y.grad_fn)
    y.backward(retain_graph=True)
    del y
    assert node() is None
    assert gc.collect() == 0


def test_early_stop() -> None:
    log: list[str] = []

    def block(x: Any) -> Any:
        y = x.sin()
        log.append("sin")
        y = y.exp()
        log.append("exp")
        return y + 1

    def ran_again(early_stop: bool) -> list[str]:
        y = checkpoint(block, leaf(), use_reentrant=False, early_stop=early_stop)
        log.clear()
        y.sum().backward()
        return log[:]

    assert ran_again(True) == ["sin"]
    assert ran_again(False) == ["sin", "exp"]
    with module_of(wengert).set_checkpoint_early_stop(False):
        assert ran_again(True) == ["sin", "exp"]


@pytest.mark.parametrize(
    ("block", "again"),
    [
        (lambda x, w: x.sin(), []),
        (lambda x, w: x.exp(), ["exp"]),  # which saves its result
        (lambda x, w: x.cos().sin() * 2, ["cos"]),
        (lambda x, w: wengert.nn.functional.linear(x.exp()[None], w), ["exp", "unsqueeze"]),
        (lambda x, w: (w.detach().sum().sin() + x.sin()).cos(), ["sum", "sin", "sin", "add"]),
        (lambda x, w: x * x.double().detach(), ["_to_copy", "mul"]),  # saves a converted operand
        (lambda x, w: checkpoint(lambda y: y.sin() @ w, x.cos(), use_reentrant=False), ["cos", "sin"]),
    ],
)
def test_early_stop_comes_before_an_operator_that_saves_only_its_operands(block: Any, again: list[str]) -> None:
    from wengert.utils._python_dispatch import TorchDispatchMode

    class Names(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if wengert.is_grad_enabled() and func.__name__ != "detach.default":
                names.append(func.overloadpacket.__name__)
            return func(*args, **(kwargs or {}))

    names: list[str] = []
    x, w = leaf(), wengert.ones(2, 2, requires_grad=True)
    y = checkpoint(block, x, w, use_reentrant=False).sum()
    with Names():
        got = wengert.autograd.grad(y, x)
    assert names == again
    wengert.testing.assert_close(got, wengert.autograd.grad(block(x, w).sum(), x))


def test_random_numbers_are_the_same_again_and_the_stream_goes_on() -> None:
    wengert.manual_seed(3)
    x = wengert.ones(50, requires_grad=True)
    y = checkpoint(lambda x: wengert.nn.functional.dropout(x, 0.5) * x, x, use_reentrant=False)
    after = wengert.get_rng_state()
    y.sum().backward()
    assert wengert.equal(x.grad, 2 * y.detach())
    assert wengert.equal(wengert.get_rng_state(), after)


def test_without_the_random_state_the_stream_is_drawn_from_again() -> None:
    x = wengert.ones(50, requires_grad=True)
    y = checkpoint(
        lambda x: wengert.nn.functional.dropout(x, 0.5) * x, x, use_reentrant=False, preserve_rng_state=False
    )
    y.sum().backward()
    assert not wengert.equal(x.grad, 2 * y.detach())


def test_a_function_that_raises_when_run_again_can_be_tried_again() -> None:
    fail = [False]

    def block(x: Any) -> Any:
        if fail[0]:
            raise ValueError("not now")
        return x.sin().exp()

    x = leaf()
    y = checkpoint(block, x, use_reentrant=False).sum()
    fail[0] = True
    with pytest.raises(ValueError, match="not now"):
        y.backward()
    fail[0] = False
    y.backward()
    assert x.grad.tolist() == pytest.approx(exp_sin_gradient(), rel=1e-6)


def test_a_value_overwritten_inside_is_an_error_and_not_a_wrong_gradient() -> None:
    def block(x: Any) -> Any:
        y = x.sin()
        z = y * y
        y.detach().zero_()
        return z

    y = checkpoint(block, leaf(), use_reentrant=False, early_stop=False).sum()
    with pytest.raises(RuntimeError, match=r"^one of the variables needed for gradient computation has been modified"):
        y.backward()


def test_an_argument_overwritten_since_is_an_error() -> None:
    z = leaf() * 1
    y = checkpoint(lambda power, z: (z**power).sin().exp(), 2, z, use_reentrant=False).sum()
    z.mul_(2)
    with pytest.raises(RuntimeError, match="which is output 0 of Mul, is at version 1; expected version 0 instead"):
        y.backward()


def test_debug_lists_the_operators_of_both_runs() -> None:
    runs = [0]

    def block(x: Any) -> Any:
        runs[0] += 1
        return (x.sin() if runs[0] == 1 else x.cos()[:1]).exp()

    y = checkpoint(block, leaf(), use_reentrant=False, debug=True).sum()
    with pytest.raises(CheckpointError, match="An error happened while unpacking tensors") as error:
        y.backward()
    text = str(error.value)
    assert "$1: f32[2] = torch._ops.aten.sin.default($0)   (1 of 2 in original)" in text
    assert "aten.cos.default(" in text
    assert f"{__file__}:" in text
    assert "different metadata" in str(error.value.__cause__)


def test_a_group_of_passes_runs_it_once() -> None:
    block, runs = counted(lambda x: [x.sin().exp(), x.cos().exp()])
    x = leaf()
    a, b = checkpoint(block, x, use_reentrant=False)
    with GraphExecGroup():
        a.sum().backward()
        b.sum().backward()
    assert runs == [2]
    a, b = checkpoint(block, x, use_reentrant=False)
    a.sum().backward()
    b.sum().backward()
    assert runs == [5]
    with GraphExecGroup(), pytest.raises(RuntimeError, match=r"^GraphExecGroup contexts cannot be nested"):
        GraphExecGroup().__enter__()


def test_inside_of_transforms() -> None:
    def f(x: Any) -> Any:
        return checkpoint(lambda x: x.sin().exp(), x, use_reentrant=False).sum()

    x = wengert.tensor([[1.0, 2.0], [2.0, 1.0]], requires_grad=True)
    wengert.vmap(f)(x).sum().backward()
    a, b = exp_sin_gradient()
    assert x.grad.flatten().tolist() == pytest.approx([a, b, b, a], rel=1e-6)
    with pytest.raises(RuntimeError, match="don't yet support saved tensor hooks"):  # as PyTorch does
        wengert.vmap(wengert.func.grad(f))(x)


def test_sequential_keeps_the_values_of_the_model() -> None:
    model = wengert.nn.Sequential(*[wengert.nn.Linear(3, 3) for _ in range(5)])
    x = wengert.rand(2, 3, requires_grad=True)
    model(x).sum().backward()
    expected, x.grad = x.grad, None
    for segments in (1, 2, 5):
        y = checkpoint_sequential(model, segments, x, use_reentrant=False)
        y.sum().backward()
        assert wengert.equal(x.grad, expected)
        x.grad = None


# ------------------------------------------------------------------------------------------------------ every operator
def loss(outputs: list[Any]) -> Any:
    return sum((abs(o) ** 2).sum() for o in outputs)


@pytest.mark.parametrize("name", [name for name, i in CASES if i == 0 and variables(name, arguments(name, 0)[0])])
def test_what_an_operator_saves_goes_through_hooks(name: str) -> None:
    operands, params = arguments(name, 0)
    places = variables(name, operands)

    def gradients(run: Callable[..., Any]) -> list[Any]:
        wengert.manual_seed(0)
        inputs = tensors(operands, requires_grad=places)
        outputs = differentiable(name, run(*inputs))
        found = wengert.autograd.grad(loss(outputs), [inputs[k] for k in places], allow_unused=True)
        return [None if g is None else array(g) for g in found]

    def plain(*inputs: Any) -> Any:
        return call(name, list(inputs), params)

    def copied(*inputs: Any) -> Any:
        with wengert.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
            return plain(*inputs)

    def again(*inputs: Any) -> Any:
        return checkpoint(plain, *inputs, use_reentrant=False, early_stop=False)

    expected = gradients(plain)
    for got in (gradients(copied), gradients(again)):
        for a, b in zip(got, expected, strict=True):
            np.testing.assert_array_equal(a, b)


# ---------------------------------------------------------------------------------------- written in place inside of it
def _part(x: Any, w: Any) -> Any:
    z = x * 1
    z[:1].mul_(w[:1])
    return z * z


def _twice(x: Any, w: Any) -> Any:
    z = x * w
    z += x * x
    z *= w
    return z


WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "mul_": lambda x, w: (x * 1).mul_(w).exp_(),
    "relu_": lambda x, w: (x * w).relu_() * w,
    "residual": lambda x, w: wengert.nn.functional.relu_((x * w).add_(x)),
    "pow_": lambda x, w: (x * w).pow_(2),
    "div_": lambda x, w: (x * 1).div_(w),
    "sin_": lambda x, w: (x * w).sin_().cos_(),
    "a view": _part,
    "twice": _twice,
    "copy_": lambda x, w: wengert.zeros(2).copy_(x * w).exp_(),
}


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("how", ["early stop", "whole", "hooks"])
def test_writes_in_place_inside(name: str, how: str) -> None:
    def gradients(how: str) -> list[list[float]]:
        x, w = leaf(), wengert.tensor([0.5, -0.75], requires_grad=True)
        if how == "plain":
            y = WRITES[name](x, w)
        elif how == "hooks":
            with wengert.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
                y = WRITES[name](x, w)
        else:
            y = checkpoint(WRITES[name], x, w, use_reentrant=False, early_stop=how == "early stop")
        y.sum().backward()
        return [x.grad.tolist(), w.grad.tolist()]

    assert gradients(how) == gradients("plain")


@pytest.mark.parametrize("reentrant", [False, True])
def test_layers_have_the_same_gradients(reentrant: bool) -> None:
    nn = wengert.nn
    for model, shape in (
        (nn.TransformerEncoderLayer(8, 2, 16, dropout=0.3, batch_first=True), (2, 3, 8)),
        (
            nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU(inplace=True), nn.Dropout(), nn.Linear(4, 2)),
            (3, 4),
        ),
        (nn.Sequential(nn.Conv2d(1, 2, 3, padding=1), nn.GELU(), nn.MaxPool2d(2), nn.Flatten()), (2, 1, 4, 4)),
    ):
        x = wengert.rand(*shape, requires_grad=True)
        found = []
        for run in (model, lambda x, model=model: checkpoint(model, x, use_reentrant=reentrant)):
            wengert.manual_seed(1)
            model.zero_grad()
            (run(x) ** 2).sum().backward()
            found.append([p.grad.clone() for p in model.parameters()])
        assert all(wengert.equal(a, b) for a, b in zip(*found, strict=True))


# ------------------------------------------------------------------------------------------------------ beside PyTorch
def again_with(T: Any, second: Callable[[Any], Any], **options: Any) -> Any:
    """A checkpoint of sin and exp whose later runs do something else."""
    runs = [0]

    def block(x: Any) -> Any:
        runs[0] += 1
        return x.sin().exp() if runs[0] == 1 else second(x)

    x = leaf(T)
    module_of(T).checkpoint(block, x, use_reentrant=False, **options).sum().backward()
    return x.grad


def nested(T: Any) -> Any:
    runs = [0, 0, 0]
    check = module_of(T).checkpoint

    def inner(x: Any) -> Any:
        runs[0] += 1
        return x.sin().exp()

    def middle(x: Any) -> Any:
        runs[1] += 1
        return check(inner, x, use_reentrant=False) * check(inner, x.cos(), use_reentrant=False)

    def outer(x: Any) -> Any:
        runs[2] += 1
        return check(middle, x, use_reentrant=False).tanh()

    x = leaf(T)
    check(outer, x, use_reentrant=False).sum().backward()
    return x.grad, runs


def keywords(T: Any) -> Any:
    x, z = leaf(T), T.tensor([3.0, 4.0], requires_grad=True)
    y = module_of(T).checkpoint(lambda x, *, d, k=2: d["z"] * x**k, x, use_reentrant=False, d={"z": z}, k=3)
    y.sum().backward()
    return x.grad, z.grad


def contexts(T: Any) -> Any:
    log: list[str] = []

    @contextlib.contextmanager
    def note(name: str) -> Any:
        log.append(f"into {name}")
        yield
        log.append(f"out of {name}")

    module_of(T).checkpoint(
        lambda x: x.sin().exp(), leaf(T), use_reentrant=False, context_fn=lambda: (note("first"), note("again"))
    ).sum().backward()
    return log


def custom(T: Any, reads: int) -> Any:
    class Square(T.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            for _ in range(reads):
                (x,) = ctx.saved_tensors
            return 2 * x * g

    x = leaf(T)
    module_of(T).checkpoint(Square.apply, x, use_reentrant=False).sum().backward()
    return x.grad


def gradient_inside(T: Any) -> Any:
    def block(x: Any) -> Any:
        y = x.sin().exp()
        (g,) = T.autograd.grad(y.sum(), x, create_graph=True)
        return g * y

    x = leaf(T)
    module_of(T).checkpoint(block, x, use_reentrant=False).sum().backward()
    return x.grad


def hooks(T: Any, inside: bool) -> Any:
    log: list[str] = []
    around = T.autograd.graph.saved_tensors_hooks
    note = (lambda t: (log.append("pack"), t)[1], lambda t: (log.append("unpack"), t)[1])

    def block(x: Any) -> Any:
        with around(*note) if inside else contextlib.nullcontext():
            y = x.sin()
        return y.exp()

    x = leaf(T)
    with contextlib.nullcontext() if inside else around(*note):
        y = module_of(T).checkpoint(block, x, use_reentrant=False)
    y.sum().backward()
    return log, x.grad


def saved_value(T: Any) -> Any:
    return module_of(T).checkpoint(lambda x: x.sin().exp(), leaf(T), use_reentrant=False).grad_fn._saved_result


def old(T: Any, **options: Any) -> Any:
    block, runs = counted(lambda x, k: (x.sin() * k).exp())
    x = leaf(T)
    y = module_of(T).checkpoint(block, x, 3, **options)
    y.sum().backward()
    return x.grad, runs, str(y)


def old_random(T: Any) -> Any:
    T.manual_seed(0)
    x = T.ones(6, requires_grad=True)
    y = module_of(T).checkpoint(lambda x: T.nn.functional.dropout(x, 0.5) * x, x, use_reentrant=True)
    y.sum().backward()
    return y, x.grad, T.rand(2)


def quiet(T: Any) -> Any:
    with T.no_grad():
        return module_of(T).checkpoint(lambda x: x.sin(), leaf(T), use_reentrant=False).requires_grad


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "fewer": lambda T: again_with(T, lambda x: x.sin()),
    "more": lambda T: again_with(T, lambda x: x.sin().exp().cos(), early_stop=False),
    "other shapes": lambda T: again_with(T, lambda x: x.sin()[:1].exp()),
    "other shapes, unchecked": lambda T: again_with(T, lambda x: x.sin()[:1].exp(), determinism_check="none"),
    "unknown check": lambda T: again_with(T, lambda x: x, determinism_check="all"),
    "nested": nested,
    "keywords": keywords,
    "contexts": contexts,
    "contexts and debug": lambda T: again_with(T, lambda x: x, debug=True, context_fn=lambda: None),
    "custom": lambda T: custom(T, 1),
    "custom that reads twice": lambda T: custom(T, 2),
    "gradient inside": gradient_inside,
    "hooks inside": lambda T: hooks(T, True),
    "hooks outside": lambda T: hooks(T, False),
    "saved value": saved_value,
    "no_grad": quiet,
    "old": lambda T: old(T, use_reentrant=True),
    "unnamed variant": old,
    "old, keywords": lambda T: old(T, use_reentrant=True, a=1, b=2),
    "old, debug": lambda T: old(T, use_reentrant=True, debug=True),
    "old, random": old_random,
    "old, grad": lambda T: T.autograd.grad(
        module_of(T).checkpoint(lambda x: x.sum(), x := leaf(T), use_reentrant=True), x
    ),
    "old, inputs": lambda T: (
        module_of(T).checkpoint(lambda x: x.sum(), x := leaf(T), use_reentrant=True).backward(inputs=[x])
    ),
    "old, detached": lambda T: (
        module_of(T).checkpoint(lambda x: x.detach().sum(), leaf(T), use_reentrant=True).backward()
    ),
    "old, no gradient": lambda T: module_of(T).checkpoint(lambda x: x.sum(), T.ones(2), use_reentrant=True),
    "sequential": lambda T: module_of(T).checkpoint_sequential([lambda x: x.sin()] * 3, 2, leaf(T)),
    "sequential, keyword": lambda T: module_of(T).checkpoint_sequential([], 2, leaf(T), use_reentrant=False, a=1),
    "detach_variable": lambda T: module_of(T).detach_variable((leaf(T).exp(), 2)),
    "detach_variable of a list": lambda T: module_of(T).detach_variable([leaf(T)]),
    "an error swallowed": lambda T: module_of(T).checkpoint(
        lambda x: {}[0],
        leaf(T),
        use_reentrant=False,
        context_fn=lambda: (contextlib.suppress(KeyError), contextlib.nullcontext()),
    ),
}


def outcome(T: Any, program: Callable[[Any], Any]) -> tuple[str, list[str]]:
    """The text of a program's result or error (its first lines), and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            text = str(program(T))
        except Exception as error:  # noqa: BLE001  whatever PyTorch raises is compared
            text = f"{type(error).__name__}: " + str(error).split("Tip:")[0].rstrip()
    return text, [f"{w.category.__name__}: {w.message}" for w in caught]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_as_pytorch(name: str, torch: ModuleType) -> None:
    assert outcome(wengert, PROGRAMS[name]) == outcome(torch, PROGRAMS[name])


# ------------------------------------------------------------------------------------------------ selective checkpoints
def _selective(policy: Any, **options: Any) -> Any:
    from wengert.utils.checkpoint import create_selective_checkpoint_contexts

    return functools.partial(create_selective_checkpoint_contexts, policy, **options)


_ATEN = wengert.ops.aten
_KEPT = {
    "mm": [_ATEN.mm.default],
    "elementwise": [_ATEN.sin.default, _ATEN.exp.default, _ATEN.mul.Tensor, _ATEN.relu.default, _ATEN.tanh.default],
    "many": [_ATEN.mm.default, _ATEN.addmm.default, _ATEN._softmax.default, _ATEN.bmm.default, _ATEN.sum.dim_IntList],
}
_BLOCKS: dict[str, Any] = {
    "product": lambda x, w: wengert.mm(x, w).sin().cos(),
    "two products": lambda x, w: (wengert.mm(x, w).tanh() @ w).exp(),
    "layer": lambda x, w: wengert.nn.functional.linear(x, w, w[0]).relu().sum(1),
    "softmax": lambda x, w: (x @ w).softmax(-1) * x,
    "elementwise": lambda x, w: x.sin().exp().sin() * w[0],
    "batch": lambda x, w: wengert.bmm(x[None], w[None]).sigmoid(),
    "several results": lambda x, w: (x @ w).max(1)[0].exp(),
    "random": lambda x, w: wengert.nn.functional.dropout(x @ w, 0.5).tanh(),
}


@pytest.mark.parametrize("kept", _KEPT)
@pytest.mark.parametrize("block", _BLOCKS)
def test_gradients_are_the_same_whatever_is_kept(block: str, kept: str) -> None:

    x = wengert.randn(2, 3, requires_grad=True)
    w = wengert.randn(3, 3, requires_grad=True)
    f = _BLOCKS[block]
    wengert.manual_seed(1)
    expected = wengert.autograd.grad(f(x, w).sum(), (x, w))
    wengert.manual_seed(1)
    y = checkpoint(f, x, w, use_reentrant=False, context_fn=_selective(_KEPT[kept]))
    for g, e in zip(wengert.autograd.grad(y.sum(), (x, w)), expected, strict=True):
        assert wengert.equal(g, e)


def _overwritten(x: Any) -> Any:
    y = x.clone()
    y[0] = x[1] * 2
    y.diagonal().copy_(x[0])
    return y.sin_().cos_()


def test_a_kept_copy_is_that_of_its_time() -> None:
    x = wengert.randn(2, 2, requires_grad=True)
    copies = _selective(lambda ctx, op, *args: "copy" in str(op))
    y = checkpoint(_overwritten, x, use_reentrant=False, context_fn=copies)
    (expected,) = wengert.autograd.grad(_overwritten(x).sum(), x)
    assert wengert.equal(wengert.autograd.grad(y.sum(), x)[0], expected)


def test_what_is_kept_is_not_computed_again() -> None:
    from wengert.utils.checkpoint import CheckpointPolicy

    asked = []

    def policy(ctx: Any, op: Any, *args: Any, **kwargs: Any) -> Any:
        asked.append((str(op), ctx.is_recompute))
        return CheckpointPolicy.MUST_SAVE if op == _ATEN.mm.default else CheckpointPolicy.PREFER_RECOMPUTE

    w = wengert.eye(2)
    for context, expected in ((_selective(policy), math.cos(1.0)), (None, 1.0)):
        x = wengert.ones(2, 2, requires_grad=True)
        options = {} if context is None else {"context_fn": context}
        y = checkpoint(lambda x: wengert.mm(x, w).sin(), x, use_reentrant=False, **options)
        w.data.zero_()  # not seen: a second product would give zeros, whose sine has the derivative one
        seen: list[float] = []
        y.grad_fn.register_hook(lambda gi, go, seen=seen: seen.append(gi[0][0, 0].item()))
        y.sum().backward()
        assert seen == [pytest.approx(expected)]
        w.data.copy_(wengert.eye(2))
    assert asked == [("aten.mm.default", False), ("aten.sin.default", False)]


def test_selective_checkpoints_refuse() -> None:
    from wengert.utils.checkpoint import create_selective_checkpoint_contexts

    x, w = wengert.ones(2, 2, requires_grad=True), wengert.ones(2, 2)
    context = _selective([_ATEN.mm.default])
    y = checkpoint(lambda x: wengert.mm(x, w).sin(), x, use_reentrant=False, context_fn=context)
    y.sum().backward(retain_graph=True)
    with pytest.raises(RuntimeError, match=r"^Trying to backward an extra time"):
        y.sum().backward()

    def writes(x: Any) -> Any:
        y = wengert.mm(x, w)
        z = y * 2
        y.add_(1)
        return z.sin() * y

    y = checkpoint(writes, x, use_reentrant=False, context_fn=context)
    with pytest.raises(RuntimeError, match=r"^Tensor cached during selective activation checkpoint has been mutated"):
        y.sum().backward()
    with pytest.raises(ValueError, match="Please update the OpOverloadPacket to a specific OpOverload"):
        create_selective_checkpoint_contexts([_ATEN.mm])
    with pytest.raises(TypeError, match="must be either a function or a list of ops"):
        create_selective_checkpoint_contexts(3)
