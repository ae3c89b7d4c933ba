"""What programs import from around autograd: dispatch modes, counters, weak dictionaries, hooks' handles, func."""

from __future__ import annotations

import copy
import importlib
import pickle
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import wengert
from wengert.autograd._functions import Resize, Type
from wengert.utils._device import DeviceContext, set_device
from wengert.utils._mode_utils import all_same_mode, no_dispatch
from wengert.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack
from wengert.utils.flop_counter import FlopCounterMode, register_flop_formula
from wengert.utils.hooks import RemovableHandle, unserializable_hook, warn_if_has_hooks
from wengert.utils.module_tracker import ModuleTracker
from wengert.utils.weak import TensorWeakRef, WeakTensorKeyDictionary

aten = wengert.ops.aten


def part(T: ModuleType, name: str) -> Any:
    return importlib.import_module(f"{T.__name__}.{name}")


def outcome(call: Callable[[], Any]) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return str(call())
        except Exception as error:  # noqa: BLE001  whatever PyTorch raises is compared
            return f"{type(error).__name__}: {error}"


# ------------------------------------------------------------------------------------------------------- dispatch modes
class Log(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(str(func))
        return func(*args, **(kwargs or {}))


def test_a_mode_sees_operators_and_those_of_backward() -> None:
    x, w = wengert.ones(2, 3, requires_grad=True), wengert.ones(3, 4, requires_grad=True)
    with Log() as log:
        y = ((x @ w).relu() * 2).sum()
        assert log.seen == ["aten.mm.default", "aten.relu.default", "aten.mul.Tensor", "aten.sum.default"]
        y.backward()
    assert log.seen.count("aten.mm.default") == 3
    assert "aten.threshold_backward.default" in log.seen
    assert x.grad.tolist() == [[8.0] * 3] * 2
    assert w.grad.tolist() == [[4.0] * 4] * 3


def test_a_freed_graph_is_freed_under_a_mode_too() -> None:
    y = wengert.ones(2, requires_grad=True).exp().sum()
    with Log():
        y.backward()
    with pytest.raises(RuntimeError, match=r"^Trying to backward through the graph a second time"):
        y.backward()


def test_modes_nest_and_the_innermost_is_asked_first() -> None:
    with Log() as outer, Log() as inner:
        assert _get_current_dispatch_mode_stack() == [outer, inner]
        wengert.ones(2).exp()
        with no_dispatch():
            wengert.ones(2).sin()
    assert inner.seen == outer.seen == ["aten.ones.default", "aten.exp.default"]
    assert all_same_mode([outer, outer])
    assert not all_same_mode([outer, inner])


def test_a_mode_may_answer_itself() -> None:
    class Zeros(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func == aten.exp.default:
                return wengert.zeros(2)
            return func(*args, **(kwargs or {}))

    with Zeros():
        assert wengert.ones(2).exp().tolist() == [0.0, 0.0]
    assert wengert.ones(1).exp().item() == pytest.approx(2.7182817)


def test_a_mode_is_of_its_thread() -> None:
    with Log() as log:
        other = threading.Thread(target=lambda: wengert.ones(2).exp())
        other.start()
        other.join()
    assert log.seen == []


def overloads(T: ModuleType) -> list[str]:
    mode_class = part(T, "utils._python_dispatch").TorchDispatchMode

    class Names(mode_class):  # type: ignore[misc, valid-type]
        names: list[str] = []

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self.names.append(f"{func} {func.name()} {func.overloadpacket}")
            return func(*args, **(kwargs or {}))

    z = T.ones(2)
    with Names() as mode:
        for code in (
            "z[0]; z[:1]; z > 1; z > z; z.sum(); z.sum(0); z.mean(); z**2; z**z; T.cat([z, z]); z.clone(); z.max()",
            "z / 2; z - 1; 1 - z; -z; z.view(2, 1).t(); z.add(z, alpha=2); T.softmax(z, 0)",
        ):
            exec(code, {"T": T, "z": z})
    return mode.names


def test_the_names_of_operators(torch: ModuleType) -> None:
    assert overloads(wengert) == overloads(torch)


CALLS = """
T.ones(2), T.zeros(2, 3), T.empty((2,)), T.full((2,), 3.0), T.arange(3), T.arange(1, 5, 2), T.eye(2), T.randperm(3)
T.rand(2), T.randn((2, 1)), T.randint(3, (2,)), T.linspace(0, 1, 3), T.tensor([1.0]), T.ones(2, requires_grad=True)
T.zeros_like(z), T.empty_like(z, dtype=T.float64), z.new_zeros(2), z.new_tensor([1.0]), z.new_full((2,), 2)
y.add_(1); y.mul_(z); y += 2; y *= z; y.copy_(z); y.fill_(2); y.zero_(); y.exp_(); y.clamp_(0, 1); y.relu_()
m[0] = 2.0; m[:, 1] = z; m[:1] = m[:1] * 2
z.detach(); z.data; z.sum().item(); bool(z[0] > 1); float(z[0]); z.clone(); m.t().contiguous(); z.to(T.float64)
T.add(z, z, out=y); T.exp(z, out=y)
m.view(4)[1:3]; m.t(); m.transpose(0, 1); m.expand(3, 2, 2); T.cat([z, z]); T.stack([z, z]); m[:, 0]
m.sum(1, keepdim=True); m.mean(0); m.max(1); T.softmax(m, 1); T.where(m > 0, m, m); m.gather(1, i); m[i[0]]
(w * 2).sum().backward(retain_graph=True)
w.exp().sum().backward(T.tensor(2.0))
T.nn.functional.gelu(m), T.nn.functional.mse_loss(m, m + 1), m @ m, m @ z
"""


def calls(T: ModuleType, code: str) -> list[str]:
    """The operators that a mode sees in a line, with their arguments."""

    def text(a: Any) -> str:
        if isinstance(a, (list, tuple)):
            return f"{type(a).__name__}({', '.join(map(text, a))})"
        return f"Tensor{tuple(a.shape)}" if isinstance(a, T.Tensor) else str(a)

    class Calls(part(T, "utils._python_dispatch").TorchDispatchMode):  # type: ignore[misc]
        seen: list[str] = []

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            named = {k: text(v) for k, v in sorted((kwargs or {}).items())}
            self.seen.append(f"{func}{text(args)} {named}")
            return func(*args, **(kwargs or {}))

    given = {"T": T, "z": T.ones(2), "y": T.ones(2), "m": T.ones(2, 2), "i": T.tensor([[0, 1], [1, 0]])}
    given["w"] = T.ones(2, requires_grad=True)
    with Calls() as mode:
        exec(code, given)
    unseen = "aten.detach.defaulttuple(Tensor(2,))"  # of a result that is saved, and of a gradient that becomes `.grad`
    return [call for call in mode.seen if not call.startswith(unseen) or "backward" not in code]


@pytest.mark.parametrize("code", CALLS.strip().splitlines())
def test_calls_have_the_arguments_of_the_library_that_is_compared(torch: ModuleType, code: str) -> None:
    assert calls(wengert, code) == calls(torch, code)


def test_operators_as_objects() -> None:
    assert str(aten.mul.Tensor) == "aten.mul.Tensor"
    assert aten.mm.default.name() == "aten::mm"
    assert aten.mm(wengert.ones(2, 3), wengert.ones(3, 4)).shape == (2, 4)
    assert aten.mul.Tensor(wengert.ones(2), 3).tolist() == [3.0, 3.0]
    assert aten.mm.default in {aten.mm.default}
    with pytest.raises(AttributeError, match="nonsense"):
        _ = aten.nonsense


# ------------------------------------------------------------------------------------------------------------- counters
class Net(wengert.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.c = wengert.nn.Conv2d(3, 4, 3)
        self.fc = wengert.nn.Sequential(wengert.nn.Linear(16, 8), wengert.nn.ReLU(), wengert.nn.Linear(8, 2))

    def forward(self, x: Any) -> Any:
        return self.fc(self.c(x).flatten(1))


def test_flops_by_module_forward_and_backward() -> None:
    # a convolution: 5*2*2 places x 4 filters of 3*3*3; the layers: 5 x 16 x 8 and 5 x 8 x 2; a product and a sum each
    conv, first, second = 2 * 5 * 4 * 4 * 27, 2 * 5 * 16 * 8, 2 * 5 * 8 * 2
    with FlopCounterMode(display=False) as counter:
        Net()(wengert.ones(5, 3, 4, 4)).sum().backward()
    counts = {name: {str(op): n for op, n in ops.items()} for name, ops in counter.get_flop_counts().items()}
    assert counts["Net.c"] == {"aten.convolution": conv, "aten.convolution_backward": conv}  # the input needs none
    assert counts["Net.fc.0"] == {"aten.addmm": first, "aten.mm": 2 * first}
    assert counts["Net.fc.2"] == {"aten.addmm": second, "aten.mm": 2 * second}
    assert counter.get_total_flops() == 2 * conv + 3 * (first + second)
    table = counter.get_table(1).splitlines()
    assert table[0].split() == ["Module", "FLOP", "%", "Total"]
    assert table[2].split() == ["Net", "12.960K", "100.00%"]


def test_own_formulas_for_flops(capsys: pytest.CaptureFixture[str]) -> None:
    with FlopCounterMode(custom_mapping={aten.exp: lambda x, out_shape: 7 * x[0]}) as counter:
        wengert.ones(3).exp()
    assert counter.get_total_flops() == 21
    assert "aten.exp" in capsys.readouterr().out
    with pytest.raises(ValueError, match="expected each target to be OpOverloadPacket"):
        register_flop_formula("mm")(lambda: 0)
    with pytest.raises(RuntimeError, match="duplicate registrations"):
        register_flop_formula(aten.mm)(lambda: 0)


def test_module_tracker() -> None:
    seen: list[set[str]] = []

    class Inner(wengert.nn.Module):
        def forward(self, x: Any) -> Any:
            seen.append(tracker.parents)
            return x

    class Outer(wengert.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Inner()

        def forward(self, x: Any) -> Any:
            return self.inner(x)

    net = Outer()
    with ModuleTracker() as tracker:
        net(1)
    assert seen == [{"Global", "Outer", "Outer.inner"}]
    assert tracker.parents == {"Global"}


# -------------------------------------------------------------------------------------------------- weak, hooks, device
def test_weak_dictionary_of_tensors(no_gc: None) -> None:
    a, b = wengert.ones(2), wengert.ones(2)
    d = WeakTensorKeyDictionary({a: 1})
    d[b] = 2
    assert (d[a], d[b], len(d), a in d, wengert.ones(2) in d, 3 in d) == (1, 2, 2, True, False, False)
    assert d == {a: 1, b: 2}
    assert (d | {a: 5})[a] == 5
    assert list(copy.copy(d).values()) == [1, 2]
    assert d.pop(b) == 2
    ref = TensorWeakRef(a)
    assert ref() is a
    del a
    assert len(d) == 0
    assert ref() is None


def test_handles_of_hooks() -> None:
    hooks: OrderedDict[int, str] = OrderedDict()
    extra: OrderedDict[int, bool] = OrderedDict()
    with RemovableHandle(hooks, extra_dict=extra) as handle:
        hooks[handle.id] = "hook"
        extra[handle.id] = True
        other, kept = pickle.loads(pickle.dumps((handle, hooks)))
        assert other.hooks_dict_ref()[handle.id] == "hook"
        assert kept == {handle.id: "hook"}
    assert not hooks
    assert not extra
    handle.remove()
    x = wengert.ones(1, requires_grad=True)
    assert isinstance(x.register_hook(lambda g: g), RemovableHandle)
    with pytest.warns(UserWarning, match="will not be serialized"):
        warn_if_has_hooks(x)
    y = wengert.ones(1, requires_grad=True)
    y.register_hook(unserializable_hook(lambda g: g))
    warn_if_has_hooks(y)


def test_default_device() -> None:
    with DeviceContext("cpu"):
        assert wengert.ones(1).device.type == "cpu"

    @set_device("cpu")
    def f() -> Any:
        return wengert.ones(1).device.type

    assert f() == "cpu"


# ----------------------------------------------------------------------------------------------------------------- func
def test_stacked_modules_are_an_ensemble() -> None:
    models = [wengert.nn.Linear(3, 2) for _ in range(4)]
    params, buffers = wengert.func.stack_module_state(models)
    x = wengert.rand(5, 3)
    together = wengert.vmap(lambda p, b: wengert.func.functional_call(models[0], (p, b), x))(params, buffers)
    for model, one in zip(models, together, strict=True):
        assert wengert.allclose(model(x), one)
    together.sum().backward()
    assert params["bias"].grad.tolist() == [[5.0, 5.0]] * 4
    assert params["weight"].is_leaf
    assert models[0].weight.grad is None


def refusals(T: ModuleType) -> list[str]:
    F, L = T.func, T.nn.Linear
    x, leaf = T.ones(2), T.ones(2, requires_grad=True)

    def frozen() -> Any:
        model = L(1, 1)
        model.weight.requires_grad_(False)
        return model

    calls: list[Callable[[], Any]] = [
        lambda: F.grad(lambda x: (x.sum().backward(), x.sum())[1])(x),
        lambda: F.vmap(lambda x: (leaf.sum().backward(), x)[1])(x),
        lambda: F.vjp(lambda x: (T.autograd.backward(x.sum()), x)[1], x),
        lambda: F.grad(lambda x: x.requires_grad_().sum())(x),
        lambda: F.vmap(lambda x: x.requires_grad_())(x),
        lambda: F.grad(lambda x: ((y := x * 2).retain_grad(), y.sum())[1])(x),
        lambda: (leaf * 2).sum().backward(),
        lambda: F.functional_call(L(2, 2), 3, x),
        lambda: F.functional_call(L(2, 2), [3], x),
        lambda: F.functional_call(L(2, 2), ({"a": x}, {"a": x}), x),
        lambda: F.functional_call(L(2, 2), {"a": x}, x),
        lambda: F.functional_call(L(2, 2), {"weight": x}, x, strict=True),
        lambda: F.functional_call(L(2, 2), ({"weight": T.ones(2, 2)}, {"bias": x}), (x,)),
        lambda: F.functional_call(L(2, 2), {"weight": T.ones(2, 2), "bias": x}, kwargs={"input": x}),
        lambda: F.stack_module_state([]),
        lambda: F.stack_module_state([L(1, 1), L(1, 1).eval()]),
        lambda: F.stack_module_state([L(1, 1), T.nn.Conv1d(1, 1, 1)]),
        lambda: F.stack_module_state([L(1, 1), frozen()]),
        lambda: F.functionalize(lambda x: x.clone().add_(1))(x),
        lambda: F.functionalize(lambda x: x, remove="a")(x),
        lambda: F.debug_unwrap(x),
        lambda: F.replace_all_batch_norm_modules_(T.nn.Sequential(T.nn.BatchNorm1d(2)))[0].running_var,
    ]
    return [outcome(call) for call in calls]


def test_refusals_of_func_as_pytorch(torch: ModuleType) -> None:
    for ours, theirs in zip(refusals(wengert), refusals(torch), strict=True):
        assert ours == theirs


def test_backward_in_another_thread_is_not_inside_of_a_transform() -> None:
    leaf = wengert.ones(2, requires_grad=True)

    def f(x: Any) -> Any:
        other = threading.Thread(target=lambda: (leaf * 2).sum().backward())
        other.start()
        other.join()
        return x.sum()

    wengert.func.grad(f)(wengert.ones(2))
    assert leaf.grad.tolist() == [2.0, 2.0]


# ------------------------------------------------------------------------------------------------------------- autograd
def test_late_names_of_autograd() -> None:
    a = wengert.autograd
    assert a.kineto_available() is False
    assert a._is_checkpoint_valid() is True
    assert a._tensor_or_tensors_to_tuple(None, 2) == (None, None)
    x = wengert.ones(2, requires_grad=True)
    assert a._make_grads([x.sum()], [None], False)[0].item() == 1.0
    assert a._calculate_shape(x, wengert.ones(3, 2), True) == ((2,), (2,))
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        a._make_grads([x * 1], [None], False)
    with a._unsafe_preserve_version_counter(x.detach()) as _:
        pass
    y = wengert.ones(2)
    with a._unsafe_preserve_version_counter(y):
        y.mul_(2)
    assert y._version == 0
    assert a.function._is_setup_context_defined(a.Function.setup_context) is False


def test_type_and_resize() -> None:
    x = wengert.ones(4, requires_grad=True)
    with pytest.warns(FutureWarning, match="deprecated"):
        y = Type.apply(Resize.apply(x, (2, 2)), "torch.DoubleTensor")
    assert (y.shape, y.dtype) == ((2, 2), wengert.float64)
    (y * 3).sum().backward()
    assert x.grad.tolist() == [3.0] * 4
    with pytest.raises(RuntimeError, match=r"^requested resize to 3"):
        Resize.apply(x, (3,))


def test_functions_of_nested_structures() -> None:
    class Nested(wengert.autograd.NestedIOFunction):
        def forward_extended(self, a: Any, bc: Any) -> Any:  # type: ignore[override]
            b, c = bc
            self.save_for_backward(a, (b,))
            return a * b, [c * 2]

        def backward_extended(self, g: Any, h: Any) -> Any:  # type: ignore[override]
            a, (b,) = self.saved_tensors
            return g * b, (g * a, h[0] * 2)

    a, b, c = (wengert.tensor(v, requires_grad=True) for v in (2.0, 3.0, 4.0))
    first, (second,) = Nested()(a, (b, c))
    (first + second).backward()
    assert [v.grad.item() for v in (a, b, c)] == [3.0, 2.0, 2.0]


class Twice(wengert.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (_,) = ctx.saved_tensors
        return g * 2


def test_a_node_can_be_called() -> None:
    x = wengert.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    g = y.grad_fn(wengert.ones(2))
    assert wengert.equal(g, y)
    assert g.requires_grad
    with wengert.no_grad():
        assert not y.grad_fn(wengert.ones(2)).requires_grad
    leaf = y.grad_fn.next_functions[0][0]
    assert leaf(wengert.ones(2)) == ()
    assert x.grad.tolist() == [1.0, 1.0]
    assert Twice.apply(x).grad_fn(wengert.ones(2)).tolist() == [2.0, 2.0]
    with pytest.raises(TypeError, match="expected 1 arguments, got 2 instead"):
        y.grad_fn(wengert.ones(2), wengert.ones(2))


def test_the_nodes_of_custom_functions() -> None:
    x = wengert.ones(2, requires_grad=True)
    z = x * 1
    y = Twice.apply(z)
    assert repr(y.grad_fn).startswith("<torch.autograd.function.TwiceBackward object at ")
    z.add_(1)
    with pytest.raises(RuntimeError, match="which is output 0 of Add, is at version 1; expected version 0"):
        y.sum().backward()
    y = Twice.apply(x)
    y.grad_fn.maybe_clear_saved_tensors()
    with pytest.raises(RuntimeError, match=r"^Trying to backward through the graph a second time"):
        y.sum().backward()


def test_of_several_views_of_a_custom_function_none_may_be_written() -> None:
    class Halves(wengert.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x[:1], x[1:]

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            return wengert.cat([g, h])

    a, _ = Halves.apply(wengert.ones(2, requires_grad=True) * 1)
    with pytest.raises(RuntimeError, match="This view is the output of a function that returns multiple views"):
        a.mul_(2)


def test_what_is_marked_dirty_should_be_an_input() -> None:
    class Marks(wengert.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x * 2
            ctx.mark_dirty(y)
            return y

    with pytest.warns(UserWarning, match=r"ctx\.mark_dirty\(\) received a tensor that was not an input"):
        Marks.apply(wengert.ones(1, requires_grad=True))


def test_anomaly_mode_and_profiles_know_custom_functions() -> None:
    class Fails(Twice):
        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            raise RuntimeError("on purpose")

    x = wengert.ones(2, requires_grad=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(RuntimeError, match="on purpose"), wengert.autograd.detect_anomaly():
            Fails.apply(x).sum().backward()
    text = str(caught[-1].message)
    assert text.startswith("Error detected in FailsBackward. Traceback of forward call that caused the error:")
    assert "Fails.apply(x).sum().backward()" in text
    with wengert.autograd.profiler.profile(record_shapes=True) as prof:
        Twice.apply(x).sum().backward()
    events = {e.name: e for e in prof.function_events}
    assert events["Twice"].input_shapes == [[2]]
    assert [c.name for c in events["Twice"].cpu_children] == ["aten::mul"]
    assert events["TwiceBackward"].sequence_nr == events["Twice"].sequence_nr
    assert events["TwiceBackward"].fwd_thread == 1
    of_leaf = events["torch::autograd::AccumulateGrad"]
    assert (of_leaf.sequence_nr, of_leaf.fwd_thread) == (-1, 0)  # as in PyTorch: there is no forward that it belongs to


def test_a_view_outlives_its_base_cut_off_and_may_not_be_written() -> None:
    b = wengert.ones(2, requires_grad=True) * 1
    v = b[:1]
    b.detach_()
    assert (b.requires_grad, v.requires_grad) == (False, True)
    with pytest.raises(RuntimeError, match=r"^a view of a leaf Variable that requires grad is being used"):
        v.mul_(2)
    assert b.tolist() == [1.0, 1.0]


def test_hooks_after_accumulation_return_nothing() -> None:
    for result, error, text in (
        (3, TypeError, "expected Variable, but hook returned 'int'"),
        (wengert.ones(1), RuntimeError, "Tensor post accumulate grad hooks should return None."),
    ):
        x = wengert.ones(1, requires_grad=True)
        x.register_post_accumulate_grad_hook(lambda t, result=result: result)
        with pytest.raises(error, match=text):
            x.backward()


def test_the_flag_of_set_grad_enabled_is_a_bool() -> None:
    with pytest.raises(TypeError, match="must be bool, not str"):
        wengert.set_grad_enabled("False")  # type: ignore[arg-type]
    assert wengert.is_grad_enabled()


def test_requires_grad_of_a_result_is_not_assigned() -> None:
    y = wengert.ones(1, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match=r"^you can only change requires_grad flags of leaf variables"):
        y.requires_grad = True
    assert y.requires_grad_() is y


def test_backward_of_a_dual_tensor_on_a_leaf_of_the_user() -> None:
    fw = wengert.autograd.forward_ad
    with fw.dual_level():
        w = wengert.tensor([1.0, 2.0], requires_grad=True)
        y = (fw.make_dual(w, wengert.tensor([3.0, 4.0])) ** 2).sum()
        assert str(y) == "tensor(5., grad_fn=<SumBackward0>, tangent=22.0)"
        y.backward(retain_variables=True)
        gradient, tangent = fw.unpack_dual(w.grad)
        assert gradient.tolist() == [2.0, 4.0]
        assert tangent is None  # what is accumulated has none; that of create_graph does
        w.grad = None
        y.backward(create_graph=True)
        gradient, tangent = fw.unpack_dual(w.grad)
        assert gradient.tolist() == [2.0, 4.0]
        assert tangent.tolist() == [6.0, 8.0]


def test_context_managers_that_are_decorators() -> None:
    from wengert.utils._contextlib import (
        _DecoratorContextManager,
        _NoParamDecoratorContextManager,
        context_decorator,
    )

    assert issubclass(wengert.no_grad, _DecoratorContextManager)
    log: list[str] = []

    class Note(_NoParamDecoratorContextManager):
        def __enter__(self) -> None:
            log.append("in")

        def __exit__(self, *exc: object) -> None:
            log.append("out")

    @Note
    def once(x: int) -> int:
        return x

    @Note()
    def steps() -> Any:
        log.append("a")
        yield 1
        log.append("b")

    assert once(3) == 3
    assert list(steps()) == [1]
    assert log == ["in", "out", "in", "a", "out", "in", "b", "out"]
    assert context_decorator(lambda: wengert.no_grad(), wengert.is_grad_enabled)() is False
    with pytest.raises(AssertionError, match="ambiguous"):
        context_decorator(wengert.no_grad(), once)


# ------------------------------------------------------------------------------------------------------- old keywords
def test_backward_takes_the_keywords_of_pytorch_0_1() -> None:
    x = wengert.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    with pytest.warns(FutureWarning) as caught:
        wengert.autograd.backward(variables=[y], grad_variables=[wengert.ones(2)], retain_variables=True)
    told = (
        "`variables` is deprecated. Use `tensors` instead. `retain_variables` is deprecated. Use `retain_graph` "
        "instead. `grad_variables` is deprecated. Use `grad_tensors` instead."
    )
    assert [str(w.message) for w in caught] == [told]
    assert all(w.filename == __file__ for w in caught)
    y.sum().backward()
    assert x.grad.tolist() == [4.0, 8.0]


def test_an_unknown_keyword_names_the_nearest_and_the_former_names() -> None:
    x = wengert.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(TypeError, match=r"^backward\(\) got an unexpected keyword argument 'retain'\n") as caught:
        wengert.autograd.backward([x.sum()], retain=True)
    assert "did you mean 'retain_graph'?" in caught.value.__notes__[0]
    assert "retain_graph was retain_variables until PyTorch 0.1.12" in caught.value.__notes__[1]
    with pytest.raises(TypeError, match=r"^backward\(\) missing 1 required positional argument: 'tensors'$"):
        wengert.autograd.backward()
    with pytest.warns(FutureWarning), pytest.raises(TypeError, match="multiple values for argument 'tensors'"):
        wengert.autograd.backward([x.sum()], variables=[x.sum()])
    with pytest.raises(TypeError, match=r"^ones\(\) got an unexpected keyword argument 'require_grad'\n") as caught:
        wengert.ones(2, require_grad=True)
    assert caught.value.__notes__ == ["What to do: did you mean 'requires_grad'?"]
    with pytest.raises(TypeError, match=r"^Tensor\.backward\(\) got an unexpected keyword argument 'retain'\n"):
        x.sum().backward(retain=True)


def forward_jacobians(library: ModuleType) -> list[Any]:
    """What the Jacobian by columns is for one and several inputs and outputs, complex ones among them."""
    jacobian = library.autograd.functional.jacobian
    x, y = library.tensor([1.0, 2.0]), library.tensor([3.0, 4.0], requires_grad=True)
    found = [
        jacobian(function, given, vectorize=True, strategy="forward-mode")
        for function, given in (
            (lambda x: x**2, x),
            (lambda x: (x, x * 2), x),
            (lambda x, y: x * y, (x, y)),
            (lambda x, y: (x * y, y), (x, y)),
            (lambda x: x * 1j, x),
            (lambda x: x**3, y),
        )
    ]
    return [[type(j).__name__, library.utils._pytree.tree_map(described, j)] for j in found]


def described(t: Any) -> Any:
    return str(t.detach().tolist()), str(t.dtype), t.requires_grad


def test_jacobians_by_columns(torch: ModuleType) -> None:
    assert forward_jacobians(wengert) == forward_jacobians(torch)


def test_a_hook_of_several_tensors_does_not_count_the_only_root(torch: Any) -> None:
    def seen(lib: Any) -> list[Any]:
        w, found = lib.ones(3, requires_grad=True), []
        y = w * 2
        loss, other = y.sum(), (w * 3).sum()
        for tensors, roots in (
            ((loss, w), loss),
            ((y, w, loss), loss),
            ((loss,), loss),
            ((loss, other), [loss, other]),
        ):
            found.append(len(tensors))
            handle = lib.autograd.graph.register_multi_grad_hook(
                tensors, lambda gs: found.append([g is not None for g in gs])
            )
            lib.autograd.backward(roots, retain_graph=True)
            handle.remove()
        return found

    assert seen(wengert) == seen(torch)
