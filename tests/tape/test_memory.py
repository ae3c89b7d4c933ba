"""What lives how long: nothing needs the garbage collector, deep graphs need no recursion, threads may share."""

from __future__ import annotations

import gc
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from safe_programs import Square

import wengert as T
from wengert._base.modes import slow_always, slow_if_recording
from wengert._tape.node import hooked_leaves
from wengert._tape.tensor import stale_views
from wengert._tape.unrecorded import no_grad_views
from wengert.autograd import Function


class InPlace(Function):
    @staticmethod
    def forward(ctx: Any, x: T.Tensor) -> T.Tensor:
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx: Any, g: T.Tensor) -> T.Tensor:
        return g * 2


class Raises(Function):
    @staticmethod
    def forward(ctx: Any, x: T.Tensor) -> T.Tensor:
        ctx.save_for_backward(x)
        return x * 1

    @staticmethod
    def backward(ctx: Any, g: T.Tensor) -> T.Tensor:
        raise KeyError("in backward")


class Legacy(Function):
    def forward(self, x: T.Tensor) -> T.Tensor:
        self.save_for_backward(x)
        return x * 2

    def backward(self, g: T.Tensor) -> T.Tensor:
        return g * 2


SCENES: dict[str, Callable[[T.Tensor], Any]] = {}


def scene(fn: Any) -> Any:
    SCENES[fn.__name__] = fn
    return fn


def backward(y: T.Tensor, **how: Any) -> T.Tensor:
    (y if y.dim() == 0 else y.sum()).backward(**how)
    return y


for name, fn in {
    "elementwise": lambda x: (x * x + x.exp() - x / 2) ** 2,
    "scalars": lambda x: 2 * x + 1 - x / 3,
    "matrix_product": lambda x: x @ x @ x[0],
    "reductions": lambda x: x.sum() * x.mean() + x.max() + x.std() + x.norm() + x.logsumexp(0).prod(),
    "views": lambda x: x.t().reshape(-1)[1:].view(-1, 1).expand(-1, 3).permute(1, 0)[::2].diagonal(),
    "several_results": lambda x: sum(p.sum() for p in (*x.unbind(0), *x.split(1), *x.sort(0)[:1], *x.topk(2)[:1])),
    "sequences": lambda x: T.cat([x, x * 2]).sum() + T.stack([x, x]).mean() + T.where(x > 0, x, -x).sum(),
    "indexing": lambda x: x[x > 0].sum() + x[[0, 1]].mean() + x.gather(1, T.zeros(3, 2, dtype=T.int64)).sum() + x[1, 2],
    "softmax": lambda x: x.softmax(0) * x.log_softmax(1) + x.cumsum(0) * x.cumprod(1),
    "linear_algebra": lambda x: (
        T.linalg.inv(x + 5 * T.eye(3)).sum() + T.linalg.det(x) + T.einsum("ij,jk->ik", x, x).sum()
    ),
    "custom": lambda x: Square.apply(Square.apply(x)),
    "custom_in_place": lambda x: InPlace.apply(x * 1) * x,
    "legacy_custom": lambda x: Legacy()(x),
    "complex": lambda x: (x * (1 + 2j)).abs() + (x + 0j).real,
    "dtypes": lambda x: x.double().sin().float() + x.half().float(),
}.items():
    SCENES[name] = lambda x, fn=fn: backward(fn(x))
    SCENES[name + "_forward_only"] = lambda x, fn=fn: fn(x)


@scene
def kept_graph(x: T.Tensor) -> Any:
    y = (x * x).exp().sum()
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)
    return y


@scene
def second_order(x: T.Tensor) -> Any:
    y = (x.tanh() * x**3).sum()
    (g,) = T.autograd.grad(y, x, create_graph=True)
    (h,) = T.autograd.grad((g * g).sum(), x, create_graph=True)
    return T.autograd.grad(h.sum(), x)


@scene
def second_order_of_a_custom_function(x: T.Tensor) -> Any:
    (g,) = T.autograd.grad(Square.apply(x).sum(), x, create_graph=True)
    return T.autograd.grad(g.sum(), x)


@scene
def saved_values_read(x: T.Tensor) -> Any:
    y = x.exp() * x
    return (
        y.grad_fn._saved_self,
        y.grad_fn._saved_other,
        y.grad_fn.next_functions[0][0]._saved_result,
        y.grad_fn.metadata,
    )


@scene
def hooks(x: T.Tensor) -> Any:
    y = x * 2
    y.register_hook(lambda g: g * 2)
    y.grad_fn.register_hook(lambda gi, go: None)
    y.grad_fn.register_prehook(lambda go: None)
    x.register_hook(lambda g: g + 1)
    x.register_post_accumulate_grad_hook(lambda t: None)
    return backward(y)


@scene
def hooks_taken_away(x: T.Tensor) -> Any:
    handles = [x.register_hook(lambda g: g), (x * 2).grad_fn.register_hook(lambda a, b: None)]
    for h in handles:
        h.remove()
    with x.register_hook(lambda g: g * 3):
        return backward(x * 2), handles


@scene
def hooks_that_raise(x: T.Tensor) -> Any:
    y = x.exp()

    def hook(g: T.Tensor) -> None:
        raise KeyError

    y.register_hook(hook)
    with pytest.raises(KeyError):
        backward(y)
    return y


@scene
def retained_gradients(x: T.Tensor) -> Any:
    y = x * 2
    z = y.exp()
    y.retain_grad()
    z.retain_grad()
    backward(z)
    return y.grad, z.grad


@scene
def writes(x: T.Tensor) -> Any:
    y = x * 1
    y.mul_(2).add_(x).sin_()
    y[0] = x[1]
    y[x > 5] = 0.0
    y.clamp_(0, 3)
    y += x
    y.masked_fill_(x > 4, 1.0)
    y.index_put_((T.tensor([0]),), x[0])
    return backward(y)


@scene
def written_views(x: T.Tensor) -> Any:
    y = x * 1
    v, w, d = y[1:], y.t(), y.detach()
    v.mul_(2)
    v[0].add_(w[0])
    w.diagonal().zero_()
    with T.no_grad():
        q = y[0]
        q.add_(1)
    return backward(v.sum() + w.sum() + y.sum()), d, q


@scene
def refused_writes(x: T.Tensor) -> Any:
    y = x * 1
    part = y.unbind(0)[0]
    for write in (lambda: x.add_(1), lambda: part.add_(1), lambda: y.add_(T.ones(7)), lambda: y[0].mul_(None)):
        with pytest.raises((RuntimeError, TypeError)):
            write()
    return part


@scene
def stale_values(x: T.Tensor) -> Any:
    y = x * 1
    z = y * y
    y.add_(1)
    with pytest.raises(RuntimeError):
        backward(z)
    return z


@scene
def walked_twice(x: T.Tensor) -> Any:
    y = backward((x * x).sum())
    with pytest.raises(RuntimeError):
        y.backward()
    return y


@scene
def errors_in_forward(x: T.Tensor) -> Any:
    for bad in (
        lambda: x + T.ones(7),
        lambda: x @ T.ones(7, 7),
        lambda: x.view(7),
        lambda: x.sum(9),
        lambda: T.cat([x, T.ones(1, 1)]),
    ):
        with pytest.raises((RuntimeError, IndexError)):
            bad()


@scene
def errors_in_backward(x: T.Tensor) -> Any:
    y = Raises.apply(x.exp()) * x
    with pytest.raises(KeyError):
        backward(y)
    return y


@scene
def modes(x: T.Tensor) -> Any:
    with T.no_grad():
        a = x * 2
        v = x[0]
    with T.inference_mode():
        b = x * 2
    with T.no_grad(), T.enable_grad():
        c = x * 2
    T.set_grad_enabled(False)
    d = x * 2
    T.set_grad_enabled(True)
    return a, b, c, d, v


@scene
def generators(x: T.Tensor) -> Any:
    @T.no_grad()
    def steps() -> Any:
        yield x * 2
        yield x[0]
        yield x * 3

    it = steps()
    return next(it), next(it)  # and is dropped half-way


@scene
def saved_tensor_hooks(x: T.Tensor) -> Any:
    with T.autograd.graph.saved_tensors_hooks(
        lambda t: t.numpy() if not t.requires_grad else t.detach(), lambda t: T.as_tensor(t)
    ):
        y = x.exp() * x
    return backward(y)


@scene
def iteration_and_copies(x: T.Tensor) -> Any:
    return (
        [row.sum() for row in x],
        list(x.detach()),
        x.clone(),
        x.detach().numpy(),
        x.data,
        repr(x),
        x.tolist(),
        x.detach().clone().requires_grad_(),
    )


@scene
def gradients_assigned(x: T.Tensor) -> Any:
    backward(x * 2)
    x.grad = x.grad.clone()
    backward(x * 2)
    x.grad.zero_()
    x.grad = None
    x.data = T.ones(3, 3)
    x.requires_grad_(False).requires_grad_(True)
    return x


@scene
def several_roots(x: T.Tensor) -> Any:
    a, b = x * 2, x.exp()
    T.autograd.backward([a, b], [T.ones(3, 3), T.ones(3, 3)], inputs=[x])
    return T.autograd.grad([(x * 3).sum(), (x * x).sum()], [x], allow_unused=True)


@scene
def transforms(x: T.Tensor) -> Any:
    f = T.func
    g = lambda v: (v**3).sum()
    return (
        f.grad(g)(x),
        f.vmap(lambda r: r * 2)(x),
        f.jvp(g, (x,), (x,)),
        f.jacrev(lambda v: v * v)(x[0]),
        f.vjp(g, x)[0],
    )


def graph_of(value: Any, seen: list[Any]) -> None:
    """Weak references to tensors and all nodes that they lead to."""
    if isinstance(value, (tuple, list)):
        for v in value:
            graph_of(v, seen)
    elif isinstance(value, T.Tensor):
        seen.append(weakref.ref(value))
        if isinstance(value._payload, np.ndarray):
            seen.append(weakref.ref(value._payload))
        stack, known = [value._node], set()
        while stack:
            n = stack.pop()
            if n is not None and id(n) not in known:
                known.add(id(n))
                seen.append(weakref.ref(n))
                stack.extend(n._edges())


def leaf() -> T.Tensor:
    return (T.arange(9.0).reshape(3, 3) / 4 + T.eye(3)).requires_grad_()


@pytest.mark.parametrize("name", SCENES)
def test_nothing_outlives_the_last_reference(name: str, no_gc: None) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        SCENES[name](leaf())  # what is imported or cached on first use
        seen: list[Any] = []
        x = leaf()
        value = SCENES[name](x)
        graph_of((x, value), seen)
        assert seen
        del x, value
    alive = [r() for r in seen if r() is not None]
    assert not alive, [type(a) for a in alive]
    assert (len(slow_if_recording), len(slow_always), len(stale_views), len(no_grad_views), len(hooked_leaves)) == (
        0,
        0,
        0,
        0,
        0,
    )


@pytest.mark.parametrize("name", SCENES)
def test_memory_does_not_grow(name: str, no_gc: None) -> None:
    """Blocks of memory before and after many rounds: a leak of one object a round would show."""
    rounds = 60
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(20):
            SCENES[name](leaf())
        grown: list[int] = []
        while len(grown) < 10 and (not grown or grown[-1] >= rounds // 2):  # caches fill up; a leak goes on
            before = blocks()
            for _ in range(rounds):
                SCENES[name](leaf())
            grown.append(blocks() - before)
    assert grown[-1] < rounds // 2, grown


def blocks() -> int:
    """How many blocks of memory are in use, without those that the interpreter keeps for the next tuple or list.

    A full collection gives those back; everything alive is frozen before, so that it collects nothing, and stays so:
    to unfreeze would also be to unfreeze what `tests/conftest.py` has frozen.
    """
    gc.freeze()
    gc.collect()
    return sys.getallocatedblocks()


def test_intermediate_results_die_as_soon_as_nothing_saves_them(no_gc: None) -> None:
    x = T.ones(1000, requires_grad=True)
    y = x + 1
    r = weakref.ref(y._payload)
    z = y * 2  # saves nothing of y
    del y
    assert r() is None
    y = x * 2
    r = weakref.ref(y._payload)
    z = y.exp() + y.sin()  # saves y
    del y
    assert r() is not None
    z.sum().backward()
    assert r() is None


def test_backward_frees_what_was_saved_while_the_result_lives(no_gc: None) -> None:
    x = T.ones(1000, requires_grad=True)
    y = x * 1
    r = weakref.ref(y._payload)
    z = (y * y).sum()
    del y
    z.backward()
    assert r() is None
    assert z.grad_fn is not None


def test_a_dropped_leaf_is_made_again_for_its_node(no_gc: None) -> None:
    x = T.ones(2, requires_grad=True)
    y = x * 2
    node = y.grad_fn.next_functions[0][0]
    r = weakref.ref(x)
    del x
    assert r() is None
    y.sum().backward()
    assert node.variable.grad.tolist() == [2, 2]
    assert node.variable.requires_grad


# ----------------------------------------------------------------------------------------------- deep and wide graphs
def timed(fn: Callable[[], Any]) -> float:
    start = time.perf_counter()
    fn()
    return time.perf_counter() - start


def test_a_million_nodes_in_a_chain(no_gc: None) -> None:
    """Forward, backward and release: no recursion (the limit is 1000), and time grows with the length only."""

    def whole(n: int) -> tuple[float, ...]:
        x = T.ones(1, requires_grad=True)
        chain = [x]

        def forward() -> None:
            y = x
            for _ in range(n):
                y = y + 1.0
            chain[0] = y

        times = (timed(forward), timed(lambda: chain[0].sum().backward()), timed(lambda: chain.pop()))
        assert x.grad.tolist() == [1]
        return times

    whole(1000)
    short, long = whole(100_000), whole(1_000_000)
    for a, b in zip(short, long, strict=True):
        assert b < 40 * a + 0.5, (short, long)


@pytest.mark.parametrize(
    "step",
    [
        lambda y, x: y * y,
        lambda y, x: (y * x).tanh(),
        lambda y, x: y[:],
        lambda y, x: y.view(1, 2).t().reshape(2),
        lambda y, x: Square.apply(y),
        lambda y, x: y.mul_(0.5).add_(x),
        lambda y, x: T.cat([y, x])[1:3],
        lambda y, x: y.sort()[0],
        lambda y, x: T.where(y > 0, y, x),
        lambda y, x: y.unbind(0)[0].expand(2),
        lambda y, x: y + 2,
        lambda y, x: T.addcmul(y, x, x),
    ],
)
def test_deep_chains_of_every_kind(step: Any, no_gc: None) -> None:
    x = T.full((2,), 0.5, requires_grad=True)
    y = x * 1
    for _ in range(5000):
        y = step(y, x)
    seen = [weakref.ref(y), weakref.ref(y.grad_fn)]
    y.sum().backward(retain_graph=True)
    (g,) = T.autograd.grad(y.sum(), x)
    assert g.shape == (2,)
    del y, g
    assert all(r() is None for r in seen)


def test_a_deep_second_order_graph(no_gc: None) -> None:
    x = T.ones(1, dtype=T.float64, requires_grad=True)
    y = x
    for _ in range(3000):
        y = y * 1.0001
    (g,) = T.autograd.grad((y * y).sum(), x, create_graph=True)
    (h,) = T.autograd.grad(g.sum(), x)
    assert h.item() == pytest.approx(2 * 1.0001**6000)
    r = weakref.ref(g)
    del g, h, y
    assert r() is None


def test_a_deep_graph_released_without_a_backward_pass(no_gc: None) -> None:
    x = T.ones(1, requires_grad=True)
    y = x
    for _ in range(200_000):
        y = y * y
    r = weakref.ref(y.grad_fn)
    del y
    assert r() is None


def test_wide_graphs_take_linear_time(no_gc: None) -> None:
    def whole(n: int) -> float:
        x = T.ones(1, requires_grad=True)

        def run() -> None:
            total = T.stack([x * float(i % 3) for i in range(n)]).sum()
            total.backward()

        seconds = timed(run)
        assert x.grad.item() == sum(i % 3 for i in range(n))
        return seconds

    whole(100)
    short, long = whole(10_000), whole(100_000)
    assert long < 40 * short + 0.5


def test_many_roots_and_many_leaves(no_gc: None) -> None:
    leaves = [T.ones(1, requires_grad=True) for _ in range(20_000)]
    T.autograd.backward([x * 2 for x in leaves], [T.ones(1)] * len(leaves))
    assert all(x.grad.item() == 2 for x in leaves)
    grads = T.autograd.grad([(x * 3).sum() for x in leaves], leaves)
    assert all(g.item() == 3 for g in grads)


def test_diamonds_are_walked_once_each(no_gc: None) -> None:
    """y = y + y forty times: 2**40 paths, forty nodes."""
    x = T.ones(1, dtype=T.float64, requires_grad=True)
    y = x
    for _ in range(40):
        y = y + y
    assert timed(lambda: y.sum().backward()) < 1
    assert x.grad.item() == 2**40


# -------------------------------------------------------------------------------------------------------------- threads
def in_threads(count: int, work: Callable[[int], None]) -> None:
    """Run ``work(i)`` in threads that start together; the first error is raised."""
    errors: list[BaseException] = []
    start = threading.Barrier(count)

    def run(i: int) -> None:
        try:
            start.wait()
            work(i)
        except BaseException as error:  # noqa: BLE001 - handed over to the test
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if errors:
        raise errors[0]


@pytest.fixture
def often() -> Any:
    """Threads change places as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_gradients_of_shared_leaves_sum_exactly(often: None) -> None:
    x, w = T.ones(4, dtype=T.float64, requires_grad=True), T.full((4,), 3.0, dtype=T.float64, requires_grad=True)

    def work(i: int) -> None:
        for k in range(150):
            y = x * w
            for _ in range(3):
                y = y + x
            (y * float(i + 1)).sum().backward()
            if k % 10 == 0:
                (g,) = T.autograd.grad((x * w).sum(), x)
                assert g.tolist() == [3] * 4

    in_threads(8, work)
    factor = 150 * sum(range(1, 9))
    assert x.grad.tolist() == [6.0 * factor] * 4
    assert w.grad.tolist() == [1.0 * factor] * 4


def test_one_graph_walked_by_many_threads(often: None) -> None:
    x = T.ones(3, dtype=T.float64, requires_grad=True)
    y = (x.exp() * x).sum()
    expected = T.autograd.grad(y, x, retain_graph=True)[0].tolist()

    def work(i: int) -> None:
        for _ in range(50):
            assert T.autograd.grad(y, x, retain_graph=True)[0].tolist() == expected

    in_threads(8, work)


def test_hooks_and_leaves_of_their_own(often: None) -> None:
    shared = T.ones(2, dtype=T.float64, requires_grad=True)
    calls = [0] * 8

    def work(i: int) -> None:
        for _ in range(50):
            mine = T.full((2,), float(i), dtype=T.float64, requires_grad=True)

            def hook(g: T.Tensor, i: int = i) -> T.Tensor:
                calls[i] += 1
                return g * 2

            mine.register_hook(hook)
            y = mine * shared
            y.retain_grad()
            y.sum().backward()
            assert mine.grad.tolist() == [2, 2]
            assert y.grad.tolist() == [1, 1]

    in_threads(8, work)
    assert calls == [50] * 8
    assert shared.grad.tolist() == [50.0 * sum(range(8))] * 2
    assert not hooked_leaves


def test_modes_of_one_thread_are_not_those_of_another(often: None) -> None:
    x = T.ones(2, requires_grad=True)

    def work(i: int) -> None:
        for k in range(100):
            if (i + k) % 2:
                with T.no_grad():
                    assert not (x * 2).requires_grad
                    v = x[0]
                    v.add_(0)
                    assert not T.is_grad_enabled()
            else:
                assert (x * 2).requires_grad
                assert T.is_grad_enabled()
                y = x * 1
                w = y[:1]
                y.mul_(2)
                assert w.grad_fn.name() == "AsStridedBackward0"

    in_threads(8, work)
    del work
    x * 1  # which finds that the views of x's memory are gone
    assert (len(slow_if_recording), len(slow_always), len(stale_views), len(no_grad_views)) == (0, 0, 0, 0)


def test_backward_within_backward() -> None:
    x = T.ones(2, requires_grad=True)
    inner = T.full((2,), 3.0, requires_grad=True)

    class Nested(Function):
        @staticmethod
        def forward(ctx: Any, x: T.Tensor) -> T.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: T.Tensor) -> T.Tensor:
            with T.enable_grad():
                (inner * inner).sum().backward()
                (k,) = T.autograd.grad((inner * 5).sum(), inner)
            return g * 2 * k[0]

    (Nested.apply(Nested.apply(x)) * x).sum().backward()
    assert x.grad.tolist() == [104, 104]
    assert inner.grad.tolist() == [12, 12]


def test_references_are_counted_whoever_runs_the_frames(torch: Any, no_gc: None) -> None:
    """A debugger or PyTorch's compiler, which stays after an error, may run the frames: calls then hold arguments."""
    eval_frame = pytest.importorskip("torch._C._dynamo.eval_frame")
    before = eval_frame.set_eval_frame(False)
    try:
        x = T.ones(4, 4, requires_grad=True)
        (g,) = T.autograd.grad(T.fft.fft(x).abs().sum(), x)
        y = x * 2
        y.mul_(2)
        assert not stale_views  # nothing views y
        view = y[0]
        y.mul_(2)
        assert view.grad_fn is not None and stale_views
    finally:
        eval_frame.set_eval_frame(before)
    assert g.stride() == (8, 2)  # the real parts of what the step made: not copied
