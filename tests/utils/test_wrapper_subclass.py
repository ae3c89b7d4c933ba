"""Subclasses with ``__torch_dispatch__`` and no memory of their own (`Tensor._make_wrapper_subclass`)."""

from __future__ import annotations

import copy
import gc
import importlib
import io
import pickle
import weakref
from types import SimpleNamespace
from typing import Any

import pytest

import wengert
from wengert._base import modes


@pytest.fixture(params=["wengert", pytest.param("torch", marks=pytest.mark.compare)])
def T(request: pytest.FixtureRequest) -> Any:
    return wengert if request.param == "wengert" else pytest.importorskip("torch")


@pytest.fixture
def made(T: Any) -> Any:
    """Classes of wrappers: ``W`` asks its element, ``Slots`` holds it in a slot, ``log`` has what was asked."""
    tree_map = importlib.import_module(f"{T.__name__}.utils._pytree").tree_map
    log: list[str] = []

    def make(cls: Any, elem: Any, requires_grad: bool = False) -> Any:
        r = T.Tensor._make_wrapper_subclass(
            cls, elem.size(), strides=elem.stride(), storage_offset=elem.storage_offset(), dtype=elem.dtype,
            layout=elem.layout, device=elem.device, requires_grad=requires_grad,
        )  # fmt: skip
        r.elem = elem
        return r

    def ask(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        log.append(str(func))
        assert set(types) == {cls}
        args, kwargs = tree_map(lambda e: e.elem if isinstance(e, cls) else e, (args, kwargs or {}))
        return tree_map(lambda e: cls(e) if isinstance(e, T.Tensor) else e, func(*args, **kwargs))

    class W(T.Tensor):  # type: ignore[name-defined,misc]
        __new__ = make
        __torch_dispatch__ = classmethod(ask)
        __torch_function__ = T._C._disabled_torch_function_impl

        def __repr__(self) -> str:
            return super().__repr__(tensor_contents=f"{self.elem}")  # type: ignore[no-any-return]

    class Slots(T.Tensor):  # type: ignore[name-defined,misc]
        __slots__ = ("elem",)
        __new__ = make
        __torch_dispatch__ = classmethod(ask)

    return SimpleNamespace(W=W, Slots=Slots, log=log, tree_map=tree_map)


@pytest.fixture(params=["W", "Slots"])
def W(made: Any, request: pytest.FixtureRequest) -> Any:
    return getattr(made, request.param)


def values(t: Any) -> Any:
    while hasattr(t, "elem"):
        t = t.elem
    return t.tolist()


def test_wrappers_are_pickled_and_saved(T: Any, W: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    W.__module__, W.__qualname__ = __name__, "Saved"  # where pickles find it
    monkeypatch.setitem(globals(), "Saved", W)
    x = W(T.tensor([1.0, 2.0]), requires_grad=True)
    x.tag = ["a"]
    file = io.BytesIO()
    T.save(x, file)
    file.seek(0)
    with T.serialization.safe_globals([W]):
        read = T.load(file)
    for y in (read, pickle.loads(pickle.dumps(x)), pickle.loads(pickle.dumps(x, 2))):
        assert type(y) is W and y.requires_grad and values(y) == [1.0, 2.0] and y.tag == ["a"]
        (y * y).sum().backward()
        assert values(y.grad) == [2.0, 4.0] and x.grad is None


def test_operators_ask_the_class_and_are_recorded_around_it(T: Any, W: Any, made: Any) -> None:
    x = W(T.tensor([1.0, 2.0]), requires_grad=True)
    y = (x * x).sum()
    assert type(y) is W
    assert not y.is_leaf and y.grad_fn.name() == "SumBackward0" and not y.elem.requires_grad
    y.backward()
    assert type(x.grad) is W and values(x.grad) == [2.0, 4.0]
    asked = [
        "mul.Tensor",
        "sum.default",
        "ones_like.default",
        "expand.default",
        "mul.Tensor",
        "mul.Tensor",
        "add.Tensor",
    ]
    assert made.log[: len(asked)] == [f"aten.{name}" for name in asked]
    (x * 3).sum().backward()
    assert values(x.grad) == [5.0, 7.0]


def test_the_class_gets_the_program_s_own_wrappers(T: Any) -> None:
    class Same(T.Tensor):  # type: ignore[name-defined,misc]
        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            assert args[0] is x and args[1] == 2 and kwargs == {} and func is T.ops.aten.mul.Tensor
            return T.ones(3)

    x = T.Tensor._make_wrapper_subclass(Same, (3,), dtype=T.float64, requires_grad=True)
    y = T.mul(x, 2)
    assert type(y) is T.Tensor and y.tolist() == [1.0, 1.0, 1.0] and y.requires_grad


def test_to_second_order(T: Any, W: Any) -> None:
    x = W(T.tensor([1.0, 2.0]), requires_grad=True)
    (g,) = T.autograd.grad((x**3).sum(), x, create_graph=True)
    (h,) = T.autograd.grad(g.sum(), x)
    assert (type(g), values(g.detach())) == (W, [3.0, 12.0])
    assert (type(h), values(h)) == (W, [6.0, 12.0])


def test_writes_in_place_reach_the_element(T: Any, W: Any, made: Any) -> None:
    e = T.ones(3)
    x = W(e)
    assert x.add_(1) is x
    x *= 3
    x.exp_().log_()
    x[0] = 1.0
    assert [round(v, 4) for v in e.tolist()] == [1.0, 6.0, 6.0]
    assert made.log[:2] == ["aten.add_.Tensor", "aten.mul_.Tensor"]
    x.zero_()
    x.copy_(T.ones(3))
    assert e.tolist() == [1.0, 1.0, 1.0] and x._version > 0


def test_a_write_in_place_is_recorded(T: Any, W: Any) -> None:
    x = W(T.tensor([1.0, 2.0, 3.0]), requires_grad=True)
    z = W(T.ones(3))
    z += x
    z.mul_(x)
    assert type(z) is W and z.grad_fn.name() == "MulBackward0" and values(z.detach()) == [2.0, 6.0, 12.0]
    z.sum().backward()
    assert values(x.grad) == [3.0, 5.0, 7.0]
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_views(T: Any, W: Any) -> None:
    x = W(T.arange(6.0))
    v = x.view(2, 3)
    assert type(v) is W and v._base is x and tuple(v.shape) == (2, 3) and v.stride() == (3, 1)
    v[0].add_(10)
    assert values(x) == [10.0, 11.0, 12.0, 3.0, 4.0, 5.0]
    w = W(T.arange(6.0), requires_grad=True)
    t = w.view(2, 3).t()
    (t * t)[0].sum().backward()
    assert values(w.grad) == [0.0, 0.0, 0.0, 6.0, 0.0, 0.0]


def test_detach_data_and_item(T: Any, W: Any) -> None:
    x = W(T.tensor([1.0, 2.0]), requires_grad=True)
    for t in (x.detach(), x.data):
        assert type(t) is W and not t.requires_grad and values(t) == [1.0, 2.0]
    assert x.sum().item() == 3.0 and bool((x.detach() > 0).all())
    with pytest.raises(RuntimeError, match=r"\.numpy\(\) is not supported for tensor subclasses\."):
        x.detach().numpy()


def test_tensors_like_a_wrapper_are_wrappers(T: Any, W: Any) -> None:
    x = W(T.tensor([1.0, 2.0]))
    assert [values(t) for t in (T.ones_like(x), T.zeros_like(x), T.full_like(x, 7), x.new_zeros(3))] == [
        [1.0, 1.0], [0.0, 0.0], [7.0, 7.0], [0.0, 0.0, 0.0],
    ]  # fmt: skip
    assert T.empty_like(x, dtype=T.float64).elem.dtype is T.float64
    assert x.double().elem.dtype is T.float64
    assert values(T.cat([x, T.ones(1)])) == [1.0, 2.0, 1.0]
    assert values(W(T.arange(2)) + x) == [1.0, 3.0]
    assert [values(t) for t in W(T.tensor([[1.0, 5.0], [3.0, 2.0]])).max(1)] == [[5.0, 3.0], [1, 0]]
    out = W(T.zeros(2))
    T.abs(x, out=out)
    assert values(out) == [1.0, 2.0]


def test_beside_plain_tensors(T: Any, W: Any) -> None:
    x, p = W(T.tensor([1.0, 2.0])), T.ones(2, requires_grad=True)
    (p * x).sum().backward()
    assert type(p.grad) is W and values(p.grad) == [1.0, 2.0]


def test_a_wrapped_parameter(T: Any, W: Any) -> None:
    m = T.nn.Linear(3, 2)
    with T.no_grad():
        m.weight.fill_(0.5)
        m.bias.fill_(1.0)
    m.weight = T.nn.Parameter(W(m.weight.detach()))
    assert type(m.weight) is W and m.weight.requires_grad and isinstance(m.weight, T.nn.Parameter)
    o = m(T.ones(4, 3))
    o.sum().backward()
    assert values(o.detach()) == [[2.5, 2.5]] * 4
    assert values(m.weight.grad) == [[4.0] * 3] * 2
    T.optim.SGD([m.weight], lr=0.125).step()
    assert values(m.weight) == [[0.0] * 3] * 2


def test_hooks_and_custom_functions_get_wrappers(T: Any, W: Any) -> None:
    seen = []

    class Square(T.autograd.Function):  # type: ignore[name-defined,misc]
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            ctx.save_for_backward(a)
            return a * a

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            seen.extend([type(g), type(ctx.saved_tensors[0])])
            return 2 * ctx.saved_tensors[0] * g

    x = W(T.tensor([3.0]), requires_grad=True)
    y = Square.apply(x)
    y.register_hook(lambda g: seen.append(type(g)))
    y.sum().backward()
    assert seen == [W, W, W] and values(x.grad) == [6.0]


def test_text(T: Any, made: Any) -> None:
    x = made.W(T.ones(1), requires_grad=True)
    assert repr(x) == "W(tensor([1.]), requires_grad=True)"
    assert repr(x * 2) == "W(tensor([2.]), grad_fn=<MulBackward0>)"
    assert repr(made.W(T.ones(1, dtype=T.float64))) == "W(tensor([1.], dtype=torch.float64), dtype=torch.float64)"


def test_wrappers_of_wrappers_and_copies(T: Any, made: Any) -> None:
    x = made.W(made.Slots(T.ones(2)))
    y = x * 2
    assert (type(y), type(y.elem), values(y)) == (made.W, made.Slots, [2.0, 2.0])
    z = copy.deepcopy(made.W(T.ones(2)))
    assert type(z) is made.W and values(z) == [1.0, 1.0]


def test_a_mode_is_asked_first(T: Any, made: Any) -> None:
    base = importlib.import_module(f"{T.__name__}.utils._python_dispatch").TorchDispatchMode

    class Mode(base):  # type: ignore[misc]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            made.log.append("mode")
            return func(*args, **(kwargs or {}))

    x = made.W(T.ones(2))
    with Mode():
        y = x * 2
    assert made.log[:2] == ["mode", "aten.mul.Tensor"] and values(y) == [2.0, 2.0]


def test_two_elements(T: Any, made: Any) -> None:
    class Two(T.Tensor):  # type: ignore[name-defined,misc]
        def __new__(cls, a: Any, b: Any) -> Any:
            return T.Tensor._make_wrapper_subclass(cls, a.shape, dtype=a.dtype)

        def __init__(self, a: Any, b: Any) -> None:
            self.a, self.b = a, b

        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            each = [
                func(*made.tree_map(lambda e: getattr(e, k) if isinstance(e, Two) else e, args), **(kwargs or {}))  # noqa: B023
                for k in "ab"
            ]
            return Two(*each) if isinstance(each[0], T.Tensor) else each[0]

    x = Two(T.ones(2), T.full((2,), 2.0)).requires_grad_()
    (x**3).sum().backward()
    assert (x.grad.a.tolist(), x.grad.b.tolist()) == ([3.0, 3.0], [12.0, 12.0])
    m = T.nn.Sequential(T.nn.Linear(3, 4), T.nn.ReLU(), T.nn.Linear(4, 1))
    m(Two(T.ones(2, 3), T.zeros(2, 3))).pow(2).mean().backward()
    assert [type(p.grad) for p in m.parameters()] == [Two] * 4
    assert m[0].weight.grad.b.abs().sum() == 0


def test_refusals(T: Any) -> None:
    class Declines(T.Tensor):  # type: ignore[name-defined,misc]
        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return NotImplemented

    class Plain(T.Tensor):  # type: ignore[name-defined,misc]
        pass

    with pytest.raises(TypeError, match=r"Multiple dispatch failed for 'torch._ops.aten.mul.Tensor'; all __torch_"):
        T.mul(T.Tensor._make_wrapper_subclass(Declines, (2,)), 2)
    with pytest.raises(TypeError, match="cls must be a type"):
        T.Tensor._make_wrapper_subclass(3, (2,))
    with pytest.raises(TypeError, match="Plain must define __torch_dispatch__"):
        T.Tensor._make_wrapper_subclass(Plain, (2,))


def test_nothing_is_left_when_the_wrappers_are_gone() -> None:
    """Operators are watched, which costs plain tensors time, only while there are wrappers."""

    class W(wengert.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return wengert.Tensor._make_wrapper_subclass(cls, (2,))

    gc.collect()
    before = len(modes.slow_hooks)
    x = wengert.Tensor._make_wrapper_subclass(W, (2,), requires_grad=True)
    y = x * 2
    there = weakref.ref(y)
    del y
    assert there() is None and len(modes.slow_hooks) == before + 1
    del x
    gc.collect()
    assert len(modes.slow_hooks) == before


@pytest.mark.usefixtures("no_gc")
def test_wrappers_go_at_once(T: Any, W: Any) -> None:
    x = W(T.tensor([1.0, 2.0]), requires_grad=True)
    y = (x * x).exp()
    left = [weakref.ref(x), weakref.ref(y)]
    node = y.grad_fn
    del x, y
    assert left[1]() is None and values(node._saved_result) == values(T.tensor([1.0, 2.0]).square().exp())
    del node
    assert left[0]() is None


def test_policies_of_sizes_may_follow_by_position() -> None:
    class Wrapper(wengert.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            raise NotImplementedError

    rest = (None, None, wengert.float64, wengert.strided, "cpu", False, True, "sizes", False, False)
    x = wengert.Tensor._make_wrapper_subclass(Wrapper, (2, 3), (3, 1), *rest)
    assert (x.shape, x.dtype, x.requires_grad) == ((2, 3), wengert.float64, True)


def test_derivatives_of_wrappers_along_plain_tensors() -> None:
    from wengert.autograd import functional
    from wengert.testing._internal.logging_tensor import LoggingTensor

    x, z = (LoggingTensor(wengert.tensor([v, 3.0]), requires_grad=True) for v in (1.0, 2.0))
    y = x * z
    (g,) = wengert.autograd.grad(y, x, wengert.ones(2), retain_graph=True)
    assert type(g) is LoggingTensor and g.elem.tolist() == [2.0, 3.0]
    (rows,) = wengert.autograd.grad(x * wengert.ones(2), x, wengert.eye(2), is_grads_batched=True)
    assert rows.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    square = lambda a, b: (a + b).pow(2).sum()
    hessian = functional.hessian(square, (x, z), create_graph=True, vectorize=True)
    assert hessian[0][1].elem.tolist() == [[2.0, 0.0], [0.0, 2.0]]
    assert functional.hvp(lambda a: a.exp(), LoggingTensor(wengert.zeros(())))[1].item() == 1.0


def test_gradcheck_moves_the_elements_of_wrappers() -> None:
    from wengert.testing._internal.logging_tensor import LoggingTensor

    class Wrong(wengert.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 3

    elem = wengert.tensor([1.0, 2.0], dtype=wengert.float64)
    x = LoggingTensor(elem, requires_grad=True)
    assert wengert.autograd.gradcheck(lambda a: a.exp() * a, x, check_batched_grad=True)
    assert wengert.autograd.gradgradcheck(lambda a: a.exp() * a, x)
    assert elem.tolist() == [1.0, 2.0]
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        wengert.autograd.gradcheck(Wrong.apply, x)


def test_a_dropped_leaf_keeps_what_it_wraps(T: Any, W: Any) -> None:
    """A function and a checkpoint that saved a leaf find its attributes when the program has dropped it."""
    checkpoint = importlib.import_module(f"{T.__name__}.utils.checkpoint").checkpoint
    seen: list[Any] = []

    class Kept(T.autograd.Function):  # type: ignore[name-defined,misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            seen.append(ctx.saved_tensors[0].elem.tolist())
            return g * 2

    Kept.apply(W(T.ones(2), requires_grad=True)).sum().backward()
    checkpoint(lambda x: (x * x.sum()).exp(), W(T.ones(2), requires_grad=True), use_reentrant=False).sum().backward()
    assert seen == [[1.0, 1.0]]


def test_new_tensors_of_a_wrapper_have_what_was_asked(T: Any, W: Any, made: Any) -> None:
    """``new_zeros`` and its like give the wrapper's class the shared arguments; those with any were a TypeError."""
    x = W(T.ones(2, 3))
    for r in (
        x.new_zeros((2,), dtype=T.float64),
        x.new_ones(2, dtype=T.float64, device="cpu"),
        x.new_full((2,), 3, dtype=T.float64, requires_grad=True),
        x.new_empty(2, dtype=T.float64, requires_grad=True),
    ):
        assert type(r) is W and r.dtype is T.float64 and r.elem.dtype is T.float64 and r.shape == (2,)
        made.log.append(str(r.requires_grad))
    assert [name for name in made.log if "detach" not in name] == [
        "aten.new_zeros.default", "aten.new_ones.default", "aten.new_full.default", "aten.new_empty.default",
        "False", "False", "True", "True",
    ]  # fmt: skip
