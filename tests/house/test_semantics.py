"""The contract, row by row: each test is named after the row of SEMANTICS.md that it holds."""

from __future__ import annotations

import asyncio
import copy
import gc
import pickle
import threading
import warnings
import weakref

import numpy as np
import pytest

import wengert as T
from wengert.autograd import Function, Variable


def same(t: T.Tensor, values: object) -> bool:
    return t.tolist() == values


# ------------------------------------------------------------------------------------------- 1. Variable and Tensor
def test_1_1_variable_is_tensor() -> None:
    t = T.ones(2)
    v = Variable(t)
    assert type(v) is T.Tensor
    assert isinstance(t, Variable)
    assert isinstance(v, T.Tensor)
    w = Variable(t, requires_grad=True)
    assert np.shares_memory(w.data.numpy(), t.numpy())
    assert w.requires_grad
    assert not t.requires_grad


def test_1_2_constructors_of_both_eras() -> None:
    assert T.Tensor(3, 4).shape == (3, 4)
    assert T.Tensor(3, 4).dtype is T.float32
    assert same(T.Tensor([1]), [1.0])
    assert same(T.FloatTensor([[1, 2], [3, 4]]), [[1.0, 2.0], [3.0, 4.0]])
    types = [("DoubleTensor", T.float64), ("LongTensor", T.int64), ("IntTensor", T.int32), ("ShortTensor", T.int16),
             ("CharTensor", T.int8), ("ByteTensor", T.uint8), ("BoolTensor", T.bool),
             ("HalfTensor", T.float16)]  # fmt: skip
    for name, dtype in types:
        t = getattr(T, name)([1, 0])
        assert t.dtype is dtype
        assert isinstance(t, getattr(T, name))
        assert isinstance(t, T.Tensor)
        assert not isinstance(T.ones(1, dtype=T.complex64), getattr(T, name))
    assert T.tensor([1, 2]).dtype is T.int64
    assert T.tensor([1.0]).dtype is T.float32
    assert T.tensor([1, 2], dtype=T.float64, requires_grad=True).requires_grad
    assert same(T.ones(2), [1, 1])
    assert same(T.zeros(2), [0, 0])
    assert same(T.full((2,), 7.0), [7, 7])
    assert same(T.arange(3), [0, 1, 2])
    assert same(T.eye(2), [[1, 0], [0, 1]])
    assert T.empty(2, 3).shape == T.rand(2, 3).shape == T.randn(2, 3).shape == (2, 3)
    t = T.ones(2, dtype=T.float64)
    for made in (
        T.zeros_like(t),
        T.ones_like(t),
        T.empty_like(t),
        T.rand_like(t),
        t.new_zeros(2),
        t.new_ones(2),
        t.new_full((2,), 1),
        t.new_tensor([1, 2]),
    ):
        assert made.dtype is T.float64
        assert made.shape == (2,)
    a = np.zeros(2, np.float32)
    T.from_numpy(a)[0] = 5
    assert a[0] == 5


def test_1_3_attributes() -> None:
    x = T.ones(2, 3)
    assert x.grad is None
    assert x.grad_fn is None
    assert x.requires_grad is False
    assert x.is_leaf
    assert x.shape == x.size() == (2, 3)
    assert x.dtype is T.float32
    assert x.device == T.device("cpu")
    w = T.ones(2, dtype=T.float64, requires_grad=True)
    (w * 2).sum().backward()
    assert w.grad.shape == w.shape
    assert w.grad.dtype is w.dtype
    d = w.data
    assert np.shares_memory(d.numpy(), w.detach().numpy())
    assert not d.requires_grad
    version = w._version
    d.add_(1)
    assert d._version == 1
    assert w._version == version


def test_1_4_numpy_shares_memory() -> None:
    x = T.zeros(2)
    x.numpy()[0] = 3
    assert same(x, [3, 0])
    w = T.zeros(2, requires_grad=True)
    with pytest.raises(
        RuntimeError,
        match=r"Can't call numpy\(\) on Tensor that requires grad. Use tensor.detach\(\).numpy\(\) instead.",
    ):
        w.numpy()
    w.data.numpy()[1] = 4
    assert same(w.detach(), [0, 4])
    s = T.ones(2).sum()
    s.numpy()[...] = 9
    assert s.item() == 9


def test_1_5_printing() -> None:
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    assert repr(x) == "tensor([[1., 2.],\n        [3., 4.]], requires_grad=True)"
    assert repr((x * x).mean()) == "tensor(7.5000, grad_fn=<MeanBackward0>)"
    assert (
        repr((T.tensor([1.0, 2, 3, 4], requires_grad=True) * 2).view(2, 2))
        == "tensor([[2., 4.],\n        [6., 8.]], grad_fn=<ViewBackward0>)"
    )
    assert repr(T.tensor([20.0, 2, 0.1, 0.01])) == "tensor([2.0000e+01, 2.0000e+00, 1.0000e-01, 1.0000e-02])"
    assert "..." in repr(T.zeros(1001))
    assert repr(T.ones(1, dtype=T.float64)) == "tensor([1.], dtype=torch.float64)"
    assert repr(T.tensor([True, False])) == "tensor([ True, False])"
    assert repr(T.tensor([1 + 2j])) == "tensor([1.+2.j])"
    assert repr(T.tensor([float("inf"), float("nan")])) == "tensor([inf, nan])"
    assert repr(T.empty(0)) == "tensor([])"
    try:
        T.set_printoptions(precision=2)
        assert repr(T.tensor([1.23456])) == "tensor([1.23])"
    finally:
        T.set_printoptions(profile="default")


def test_1_6_size_and_dtypes_print_as_torch() -> None:
    assert repr(T.ones(4).size()) == "torch.Size([4])"
    assert isinstance(T.ones(4).size(), tuple)
    assert type(T.ones(4).size()).__name__ == "Size"
    assert repr(T.float32) == "torch.float32"


# ------------------------------------------------------------------------------------------------------- 2. the graph
def test_2_1_requires_grad_and_leaves() -> None:
    a, b = T.ones(2, requires_grad=True), T.ones(2)
    c = a + b
    assert (a.is_leaf, b.is_leaf, c.is_leaf, (b * 2).is_leaf) == (True, True, False, True)
    assert c.requires_grad
    assert not (b * 2).requires_grad
    assert a.grad_fn is None
    with T.no_grad():
        assert not (a + b).requires_grad


def test_2_2_nodes_are_named_as_pytorch_names_them() -> None:
    x = T.ones(2, 2, requires_grad=True)
    for y, name in [(x + 1, "AddBackward0"), (x * 2, "MulBackward0"), (x**2, "PowBackward0"), (x.sum(), "SumBackward0"),
                    (x.sum(0), "SumBackward1"), (x.sum(dim=None), "SumBackward1"), (x.mean(), "MeanBackward0"),
                    (x.mean(None), "MeanBackward1"), (x.view(4), "ViewBackward0"),
                    (x.exp(), "ExpBackward0"),
                    (x - 1, "SubBackward0"), (x / 2, "DivBackward0"), (-x, "NegBackward0"), (x[0], "SelectBackward0"),
                    (x.t(), "TBackward0"), (x @ x, "MmBackward0"), (T.cat([x, x]), "CatBackward0"),
                    (x.tanh(), "TanhBackward0")]:  # fmt: skip
        assert y.grad_fn.name() == name
        assert repr(y.grad_fn).startswith(f"<{name} object at 0x")
    node = (x * T.ones(2, 2)).grad_fn
    assert node.next_functions[1] == (None, 0)
    leaf = node.next_functions[0][0]
    assert type(leaf).__name__ == "AccumulateGrad"
    assert leaf.variable is x


def test_2_3_the_graph_of_wx_plus_b() -> None:
    w, x, b = T.ones(1, requires_grad=True), T.ones(1), T.ones(1, requires_grad=True)
    y = w * x
    z = y + b
    (first, second) = y.grad_fn.next_functions
    assert first[0].variable is w
    assert first[1] == 0
    assert second == (None, 0)
    assert z.grad_fn.next_functions[0][0] is y.grad_fn
    assert z.grad_fn.next_functions[1][0].variable is b


def test_2_4_saved_values() -> None:
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    assert y.grad_fn._saved_self is x
    assert same(y.grad_fn._saved_other.detach(), [1, 2])
    e = x.exp()
    assert same(e.grad_fn._saved_result.detach(), e.tolist())
    assert x.sum(0).grad_fn._saved_dim in ((0,), [0])
    y.sum().backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        _ = y.grad_fn._saved_self


def test_2_5_dynamic_graphs_leave_no_memory(no_gc: None) -> None:
    refs = []
    for n in range(4):
        x = T.ones(2, requires_grad=True)
        y = x
        for _ in range(n):
            y = (y * x).tanh() if n % 2 else y.exp() + y[0]
        refs += [weakref.ref(x), weakref.ref(y)]
        if y.grad_fn is not None:
            refs.append(weakref.ref(y.grad_fn))
    del x, y
    assert all(r() is None for r in refs)


# ---------------------------------------------------------------------------------------------------------- 3. backward
def test_3_1_the_first_example() -> None:
    w, x, b = (T.tensor(v, requires_grad=True) for v in (1.0, 2.0, 3.0))
    y = w * x + b
    y.backward()
    assert (w.grad.item(), x.grad.item(), b.grad.item()) == (2, 1, 1)
    w, x, b = T.tensor(1.0, requires_grad=True), T.tensor(2.0), T.tensor(3.0, requires_grad=True)
    (w * x + b).backward()
    assert x.grad is None
    assert (w.grad.item(), b.grad.item()) == (2, 1)


def test_3_2_roots() -> None:
    x = T.ones(2, requires_grad=True)
    x.sum().backward()
    assert same(x.grad, [1, 1])
    with pytest.raises(RuntimeError, match=r"^grad can be implicitly created only for scalar outputs"):
        (x * 2).backward()
    with pytest.raises(RuntimeError, match=r"^element 0 of tensors does not require grad and does not have a grad_fn"):
        T.ones(1).sum().backward()


def test_3_3_vector_jacobian_products() -> None:
    x = T.tensor([1.0, 2, 3, 4], requires_grad=True)
    z = 2 * x
    for v, expected in [([1, 0, 0, 0], [2, 0, 0, 0]), ([0, 1, 0, 0], [0, 2, 0, 0]), ([1, 1, 1, 1], [2, 2, 2, 2])]:
        z.backward(T.tensor(v, dtype=T.float32))
        assert same(x.grad, expected)
        x.grad.data.zero_()
    z.backward(T.tensor([1, 0.1, 0.01, 0.001]))
    np.testing.assert_allclose(x.grad.numpy(), [2, 0.2, 0.02, 0.002], rtol=1e-6)
    x.grad.data.zero_()
    z = (2 * x).view(2, 2)
    v = T.tensor([[2.0, 0.2], [0.01, 0.001]])
    z.backward(v, retain_graph=True)
    assert repr(x.grad) == "tensor([4.0000e+00, 4.0000e-01, 2.0000e-02, 2.0000e-03])"
    for _ in range(4):
        z.backward(v, retain_graph=True)
    assert repr(x.grad) == "tensor([2.0000e+01, 2.0000e+00, 1.0000e-01, 1.0000e-02])"


def test_3_4_a_freed_graph_cannot_be_walked_again() -> None:
    x = T.ones(2, requires_grad=True)
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match=r"^Trying to backward through the graph a second time"):
        y.backward()
    for keep in ({"retain_graph": True}, {"retain_variables": True}):
        y = (x * x).sum()
        y.backward(**keep)
        y.backward()
    z = ((2 * x).view(2, 1) + 1 - 3).sum()
    z.backward()
    z.backward()
    assert x.grad is not None


def test_3_5_gradients_accumulate() -> None:
    w, x = T.ones(3, requires_grad=True), T.ones(3)
    z = (w * x).sum()
    z.backward(retain_graph=True)
    assert same(w.grad, [1, 1, 1])
    z.backward()
    assert same(w.grad, [2, 2, 2])
    v = T.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    out = (v**2).mean()
    out.backward(retain_graph=True)
    assert same(v.grad, [[0.5, 1.0], [1.5, 2.0]])
    out.backward(retain_graph=True)
    out.backward()
    assert same(v.grad, [[1.5, 3.0], [4.5, 6.0]])


def test_3_6_gradients_of_intermediate_results() -> None:
    a, b = T.ones(2, requires_grad=True), T.ones(2)
    c = a.add(b)
    d = c.sum()
    assert [t.requires_grad for t in (a, b, c, d)] == [True, False, True, True]
    assert [t.is_leaf for t in (a, b, c, d)] == [True, True, False, False]
    d.backward()
    assert same(a.grad, [1, 1])
    with pytest.warns(UserWarning, match="The .grad attribute of a Tensor that is not a leaf Tensor is being accessed"):
        assert c.grad is None
    c = a.add(b)
    c.retain_grad()
    c.sum().backward()
    assert same(c.grad, [1, 1])
    a.grad = None
    a.add(b).backward(T.ones(2))
    assert same(a.grad, [1, 1])


def test_3_7_autograd_backward_and_grad() -> None:
    x, y = T.ones(2, requires_grad=True), T.ones(2, requires_grad=True)
    T.autograd.backward([x * 2, y * 3], [T.ones(2), T.ones(2)])
    assert same(x.grad, [2, 2])
    assert same(y.grad, [3, 3])
    with pytest.warns(FutureWarning, match="grad_variables"):
        T.autograd.backward((x * 2).sum(), grad_variables=None if False else T.ones(()), retain_variables=True)
    assert same(x.grad, [4, 4])
    T.autograd.backward([(x * 2).sum(), (x * 1).sum()], [None, None])
    assert same(x.grad, [7, 7])
    z = x * y
    T.autograd.backward(z.sum(), inputs=[x])
    assert same(x.grad, [8, 8])
    assert same(y.grad, [3, 3])
    before = x.grad.clone()
    mid = x * 2
    out = (mid * mid).sum()
    g_mid, g_x = T.autograd.grad(out, [mid, x])
    assert same(g_mid, [4, 4])
    assert same(g_x, [8, 8])
    assert same(x.grad, before.tolist())
    with pytest.raises(
        RuntimeError,
        match=r"^The differentiated Tensor at index 0 appears to not have been used in the graph|"
        r"^One of the differentiated Tensors appears to not have been used in the graph",
    ):
        T.autograd.grad(x.sum(), y)
    assert T.autograd.grad(x.sum(), y, allow_unused=True) == (None,)
    assert same(T.autograd.grad(x.sum(), y, materialize_grads=True)[0], [0, 0])
    rows = T.autograd.grad(x * 2, x, T.eye(2), is_grads_batched=True)[0]
    assert same(rows, [[2, 0], [0, 2]])


def test_3_8_create_graph_to_any_order() -> None:
    x = T.tensor(2.0, dtype=T.float64, requires_grad=True)
    g = x**5
    for expected in (80.0, 160.0, 240.0, 240.0, 120.0):
        (g,) = T.autograd.grad(g, x, create_graph=True)
        assert g.item() == pytest.approx(expected)


def test_3_9_retain_graph_defaults_to_create_graph() -> None:
    x = T.ones(2, requires_grad=True)
    y = (x * x).sum()
    T.autograd.grad(y, x, create_graph=True)
    T.autograd.grad(y, x)
    with pytest.raises(RuntimeError, match="second time"):
        T.autograd.grad(y, x)


# ------------------------------------------------------------------------------------------ 4. what turns recording off
def test_4_1_grad_modes() -> None:
    x = T.ones(1, requires_grad=True)

    @T.no_grad()
    def quiet() -> T.Tensor:
        return x * 2

    @T.no_grad()
    def generator():
        yield x * 2
        yield T.is_grad_enabled()

    assert not quiet().requires_grad
    steps = generator()
    assert not next(steps).requires_grad
    assert T.is_grad_enabled()
    assert next(steps) is False
    with T.no_grad():
        assert not T.is_grad_enabled()
        with T.enable_grad():
            assert (x * 2).requires_grad
        with T.set_grad_enabled(True):
            assert (x * 2).requires_grad
        assert not (x * 2).requires_grad
    with T.inference_mode():
        assert not (x * 2).requires_grad
        assert T.is_inference_mode_enabled()
    T.set_grad_enabled(False)
    try:
        assert not (x * 2).requires_grad
    finally:
        T.set_grad_enabled(True)
    assert (x * 2).requires_grad


def test_4_1_grad_modes_are_per_thread_and_task() -> None:
    seen = {}
    inside = threading.Event()
    done = threading.Event()

    def work() -> None:
        inside.wait()
        seen["thread"] = T.is_grad_enabled(), (T.ones(1, requires_grad=True) * 2).requires_grad
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    with T.no_grad():
        inside.set()
        done.wait()
    thread.join()
    assert seen["thread"] == (True, True)

    async def off(entered: asyncio.Event, leave: asyncio.Event) -> None:
        with T.no_grad():
            entered.set()
            await leave.wait()

    async def main() -> bool:
        entered, leave = asyncio.Event(), asyncio.Event()
        task = asyncio.create_task(off(entered, leave))
        await entered.wait()
        recording = T.is_grad_enabled()
        leave.set()
        await task
        return recording

    assert asyncio.run(main())


def test_4_2_a_branch_under_no_grad_sends_nothing_back() -> None:
    x = T.tensor(1.0, requires_grad=True)
    y1 = x**2
    with T.no_grad():
        y2 = x**3
    y3 = y1 + y2
    y3.backward()
    assert y3.item() == 2
    assert x.grad.item() == 2


def test_4_3_detach() -> None:
    x = T.ones(2, requires_grad=True)
    y = x * 2
    d = y.detach()
    assert d.is_leaf
    assert not d.requires_grad
    assert np.shares_memory(d.numpy(), y.detach().numpy())
    d.add_(1)
    assert y._version == d._version == 1
    assert same(y.detach(), [3, 3])
    y.detach_()
    assert y.is_leaf
    assert y.grad_fn is None


def test_4_4_volatile() -> None:
    with pytest.warns(DeprecationWarning, match="no_grad"):
        x = Variable(T.ones(1), volatile=True)
    w = Variable(T.ones(1), requires_grad=True)
    y = w * x
    assert [t.requires_grad for t in (x, w, y)] == [False, True, False]
    assert [t.volatile for t in (x, w, y)] == [True, False, True]
    assert (w * 2).requires_grad


# --------------------------------------------------------------------------------------------------- 5. changing values
def test_5_1_data_is_outside_of_the_graph() -> None:
    x = T.ones(1, requires_grad=True)
    y = 2 * x
    x.data *= 100
    y.backward()
    assert repr(x) == "tensor([100.], requires_grad=True)"
    assert same(x.grad, [2])


def test_5_2_version_counters() -> None:
    for write in (
        lambda t: t.add_(1),
        lambda t: t.mul_(2),
        lambda t: t.zero_(),
        lambda t: t.copy_(T.ones(2)),
        lambda t: t.__setitem__(0, 5.0),
        lambda t: t.__iadd__(1),
    ):
        x = T.ones(2, requires_grad=True)
        y = x * 1
        view, alias = y[0:1], y.detach()
        z = y * y
        write(y)
        assert y._version == view._version == alias._version == 1
        with pytest.raises(
            RuntimeError,
            match=r"^one of the variables needed for gradient computation has been modified by an inplace operation",
        ) as e:
            z.sum().backward()
        text = str(e.value)
        assert "[torch.FloatTensor [2]]" in text
        assert "is at version 1; expected version 0 instead" in text
        assert "which is output 0 of " in text


def test_5_3_a_leaf_in_place() -> None:
    x = T.ones(2, requires_grad=True)
    with pytest.raises(
        RuntimeError, match=r"^a leaf Variable that requires grad is being used in an in-place operation\."
    ):
        x.add_(1)
    with pytest.raises(
        RuntimeError, match=r"^a view of a leaf Variable that requires grad is being used in an in-place operation\."
    ):
        x[0:1].mul_(3)
    with pytest.raises(RuntimeError, match=r"a view of a leaf Variable|a leaf Variable"):
        x[0] = 7
    assert same(x.detach(), [1, 1])
    assert x._version == 0
    with T.no_grad():
        x.add_(1)
    assert same(x.detach(), [2, 2])


def test_5_4_in_place_on_results_and_their_views() -> None:
    x = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2
    other = y[1:]
    v = y[:2]
    v.mul_(x[:2])
    assert type(y.grad_fn).__name__ == "CopySlices"
    (y.sum() + other.sum() * 10).backward()
    assert same(x.grad, [4.0, 4 * 2 * 11.0, 22.0])


def test_5_5_requires_grad_only_on_floating_leaves() -> None:
    x = T.ones(2, requires_grad=True)
    y = x * 2
    with pytest.raises(RuntimeError, match=r"^you can only change requires_grad flags of leaf variables\."):
        y.requires_grad = False
    with pytest.raises(
        RuntimeError,
        match=r"^only Tensors of floating point dtype can require gradients|"
        r"^only Tensors of floating point and complex dtype can require gradients",
    ):
        T.ones(2, dtype=T.int64).requires_grad = True
    assert T.ones(1, dtype=T.complex64).requires_grad_().requires_grad


# ------------------------------------------------------------------------------------------- 6. hooks, custom functions
def test_6_1_hooks() -> None:
    v = T.zeros(3, requires_grad=True)
    h = v.register_hook(lambda g: g * 2)
    v.backward(T.ones(3))
    assert same(v.grad, [2, 2, 2])
    h.remove()
    v.grad = None
    v.backward(T.ones(3))
    assert same(v.grad, [1, 1, 1])
    with pytest.raises(RuntimeError, match=r"^cannot register a hook on a tensor that doesn't require gradient"):
        T.ones(1).register_hook(lambda g: g)
    seen = []
    y = v * 2
    y.grad_fn.register_prehook(lambda gs: seen.append("pre") or (gs[0] * 3,))
    y.grad_fn.register_hook(lambda gi, go: seen.append("post"))
    v.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.tolist()))
    y.sum().backward()
    assert seen == ["pre", "post", [7, 7, 7]]


def test_6_2_custom_functions() -> None:
    class Exp(Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            assert ctx.needs_input_grad == (True,)
            return g * y

    x = T.tensor([0.5], dtype=T.float64, requires_grad=True)
    y = Exp.apply(x)
    assert type(y.grad_fn).__name__ == "ExpBackward"
    (g,) = T.autograd.grad(y, x, create_graph=True)
    (g2,) = T.autograd.grad(g, x)
    assert g.item() == pytest.approx(np.exp(0.5))
    assert g2.item() == pytest.approx(np.exp(0.5))


def test_6_2_legacy_functions() -> None:
    class Scale(Function):
        def __init__(self, k):
            super().__init__()
            self.k = k

        def forward(self, x):
            self.save_for_backward(x)
            return x * self.k

        def backward(self, g):
            (x,) = self.saved_tensors
            assert same(x.detach(), [1, 1])
            return g * self.k

    x = T.ones(2, requires_grad=True)
    y = Scale(3.0)(x)
    y.sum().backward()
    assert same(x.grad, [3, 3])


def test_6_3_reinforce() -> None:
    T.manual_seed(0)
    p = T.tensor([0.25, 0.75], requires_grad=True)
    probs = p * 1
    a = probs.multinomial(1)
    a.reinforce(2.0)
    T.autograd.backward([a], [None])
    expected = np.zeros(2)
    k = int(a.item())
    expected[k] = -2.0 / p.detach().numpy()[k]
    np.testing.assert_allclose(p.grad.numpy(), expected, rtol=1e-6)
    with pytest.raises(RuntimeError, match=r"^reinforce\(\) can be only called on outputs of stochastic functions"):
        T.ones(1).reinforce(1.0)


# --------------------------------------------------------------------------------------------------- 7. random numbers
def test_7_the_stream_is_pytorchs() -> None:
    T.manual_seed(0)
    assert repr(T.rand(3)) == "tensor([0.4963, 0.7682, 0.0885])"
    assert repr(T.randn(3)) == "tensor([0.3643, 0.1344, 0.1642])"
    assert repr(T.randn(20)[:4]) == "tensor([-0.2041, -0.0885,  0.5239, -0.6659])"
    assert same(T.randint(0, 10, (5,)), [5, 2, 1, 0, 9])
    assert same(T.randperm(6), [5, 2, 0, 1, 3, 4])
    assert repr(T.rand(2, dtype=T.float64)) == "tensor([0.8988, 0.9337], dtype=torch.float64)"
    assert same(T.bernoulli(T.full((4,), 0.5)), [0, 1, 0, 0])
    assert same(T.multinomial(T.ones(5), 3), [4, 0, 3])


def test_7_state_and_generators() -> None:
    T.manual_seed(3)
    state = T.get_rng_state()
    a = T.rand(3)
    T.set_rng_state(state)
    assert same(T.rand(3), a.tolist())
    g = T.Generator().manual_seed(3)
    assert same(T.rand(3, generator=g), a.tolist())
    T.manual_seed(3)
    with T.random.fork_rng():
        T.rand(100)
    assert same(T.rand(3), a.tolist())


# ------------------------------------------------------------------------------------------------------------ 8. errors
def test_8_errors_say_where_why_and_what_to_do() -> None:
    x = T.ones(2, requires_grad=True)
    y = x * x  # made here
    y.sum().backward()
    with pytest.raises(RuntimeError) as e:
        y.sum().backward()
    notes = "\n".join(e.value.__notes__)
    assert "y = x * x  # made here" in notes
    assert __file__ in notes
    assert "Why:" in notes
    assert "What to do:" in notes
    assert "W001" in notes
    y = x * 1
    z = y.exp() * y
    y.add_(1)  # written here
    with pytest.raises(RuntimeError) as e:
        z.sum().backward()
    notes = "\n".join(e.value.__notes__)
    assert "y.add_(1)  # written here" in notes
    assert "z = y.exp() * y" in notes
    with pytest.raises(
        RuntimeError,
        match=r"^The size of tensor a \(2\) must match the size of tensor b \(3\) at non-singleton dimension 0",
    ):
        x + T.ones(3)


def test_pickle_and_deepcopy_of_leaves() -> None:
    x = T.ones(2, requires_grad=True)
    for y in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert y.requires_grad
        assert same(y.detach(), [1, 1])
    with pytest.raises(RuntimeError, match=r"^Only Tensors created explicitly by the user"):
        copy.deepcopy(x * 2)


def test_no_warning_without_reason() -> None:
    gc.collect()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert T.tensor([0.0]).log().item() == float("-inf")
        assert T.tensor(1.0).div(0).item() == float("inf")
        assert (T.ones(1) / 0).item() == float("inf")
