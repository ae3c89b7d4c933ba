"""Compiled functions beside eager: whole steps, writes in place, views, draws, frames, breaks; equal to the bit."""

from __future__ import annotations

import copy
import gc
import math
import pickle
import types
import weakref
from typing import Any

import numpy as np
import pytest

import wengert as torch
from wengert._compile import dispatch, source
from wengert._compile.c import wait
from wengert._compile.dispatch import Compiled

F = torch.nn.functional
MADE: Any


def compiled(fn: Any, **options: Any) -> tuple[Any, Compiled]:
    made = torch.compile(fn, backend="numpy", **options)
    return made, made._compiled


@pytest.fixture(autouse=True, params=["shared", "alone"])
def memory(request: Any, monkeypatch: Any) -> None:
    """Planned memory filled with nan before each call, shared by values and not."""
    monkeypatch.setattr(source, "SHARING", request.param == "shared")
    monkeypatch.setattr(source, "FILL", math.nan)


def model() -> Any:
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Dropout(0.3), torch.nn.Linear(8, 8), torch.nn.ReLU(),
        torch.nn.Linear(8, 3),
    )  # fmt: skip


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    "adam": lambda p: torch.optim.Adam(p, lr=0.01),
    "amsgrad": lambda p: torch.optim.Adam(p, lr=0.01, amsgrad=True),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.01, momentum=0.5, centered=True),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.01),
    "radam": lambda p: torch.optim.RAdam(p, lr=0.01),
    "nadam": lambda p: torch.optim.NAdam(p, lr=0.01),
    "adadelta": lambda p: torch.optim.Adadelta(p),
    "lbfgs": lambda p: torch.optim.LBFGS(p, max_iter=2),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_whole_steps(name: str) -> None:
    m1, m2 = model(), model()
    o1, o2 = OPTIMIZERS[name](m1.parameters()), OPTIMIZERS[name](m2.parameters())
    s1, s2 = (torch.optim.lr_scheduler.StepLR(o, 2, 0.5) for o in (o1, o2))

    def step(m: Any, o: Any, x: Any, y: Any) -> Any:
        def closure() -> Any:
            o.zero_grad()
            loss = F.mse_loss(m(x), y)
            loss.backward()
            return loss

        if isinstance(o, torch.optim.LBFGS):
            return o.step(closure)
        loss = closure()
        o.step()
        return loss.detach()

    made, state = compiled(lambda x, y: step(m1, o1, x, y))
    for turn in range(5):
        torch.manual_seed(turn)
        x, y = torch.randn(5, 4), torch.randn(5, 3)
        random = torch.get_rng_state()
        got = made(x, y)
        after = torch.get_rng_state()
        torch.set_rng_state(random)
        want = step(m2, o2, x, y)
        assert torch.equal(after, torch.get_rng_state())
        assert torch.equal(got, want)
        for p, q in zip(m1.parameters(), m2.parameters(), strict=True):
            assert torch.equal(p, q) and torch.equal(p.grad, q.grad)
        s1.step()
        s2.step()
    if name != "lbfgs":
        assert not state.broken and state.count == 2  # without and with gradients of before
    a, b = o1.state_dict(), o2.state_dict()
    assert repr(a) == repr(b)


def agree(fn: Any, *makers: Any, programs: int | None = 1) -> Compiled:
    """Three calls on new arguments, compiled and not: results, arguments afterwards, gradients."""
    made, state = compiled(fn)
    for turn in range(3):
        seen = []
        for run in (fn, made):
            torch.manual_seed(turn)
            args = [make() for make in makers]
            out = run(*args)
            outs = [t for t in (out if isinstance(out, (list, tuple)) else [out]) if isinstance(t, torch.Tensor)]
            if any(t.requires_grad for t in outs):
                sum((t * t).sum() for t in outs if t.requires_grad).backward()
            facts = [(t.tolist(), t.dtype, t.stride(), t.requires_grad) for t in outs]
            facts += [
                (t.tolist(), t._version, t.grad.tolist() if t.is_leaf and t.grad is not None else 0) for t in args
            ]
            facts.append(("shares", [[t.data_ptr() == a.data_ptr() for a in args] for t in outs]))
            seen.append(facts)
        assert repr(seen[0]) == repr(seen[1])
    if programs is not None:
        assert (state.count, state.broken) == (programs, {})
    return state


def plain() -> Any:
    return torch.randn(3, 4)


def leaf() -> Any:
    return torch.randn(3, 4, requires_grad=True)


def nonleaf() -> Any:
    return leaf() * 2


def test_writes_into_arguments() -> None:
    def fn(x: Any, y: Any) -> Any:
        x.add_(y).mul_(2)
        x[0] = y[1]
        x[:, 1].exp_()
        return x.sum()

    agree(fn, plain, plain)


def test_exchanged_arguments() -> None:
    def fn(x: Any, y: Any) -> Any:
        old = x.clone()
        x.copy_(y)
        y.copy_(old)
        return old

    agree(fn, plain, plain)


def test_results_that_are_arguments_or_views_of_them() -> None:
    agree(lambda x: x, plain)
    agree(lambda x: (x, x.t(), x[1], x.view(-1)), plain)
    agree(lambda x: (x.t(), x[1] * 2), leaf)
    agree(lambda x: x.clone(), plain)
    agree(lambda x: (x + 1, x + 1), plain)
    agree(lambda x: x.detach(), plain, programs=None)
    agree(lambda x: x * 1.0, plain)


def test_writes_to_values_of_the_call_with_history() -> None:
    def fn(x: Any) -> Any:
        y = x * 2
        y[0].mul_(3)
        v = y.view(-1)
        v[2:5] += 1
        z = torch.zeros(3, 4)
        z[1] = y[0]
        z.t()[0].add_(y[:, 0])
        return z, y

    agree(fn, leaf)
    agree(fn, nonleaf)
    agree(fn, plain)


def test_writes_without_a_derivative() -> None:
    def fn(x: Any) -> Any:
        y, z, w = x * 2, x * 3, x * 4
        y.gt_(1)
        z[0].ne_(z[1].double())
        w.logical_and_(x)
        return (y + z + w) * x

    agree(fn, leaf)
    agree(fn, nonleaf)
    agree(fn, plain)


def test_several_results_and_unused_ones() -> None:
    def fn(x: Any, y: Any) -> Any:
        return x.exp(), (x * y).sum(), y.detach() * 2, torch.arange(3), x.argmax(1)

    agree(fn, leaf, leaf)
    made, _ = compiled(fn)
    for _ in range(3):
        x, y = leaf(), leaf()
        made(x, y)[1].backward()
        assert torch.equal(x.grad, y) and torch.equal(y.grad, x)


def test_two_forwards_before_a_backward() -> None:
    def fn(x: Any) -> Any:
        return (x.exp() * x.sin()).sum()

    made, _ = compiled(fn)
    made(leaf())
    xs = [leaf() for _ in range(3)]
    losses = [made(x) for x in xs]
    for x, loss in zip(xs, losses, strict=True):
        (want,) = torch.autograd.grad(fn(x), x)
        loss.backward()
        assert torch.equal(x.grad, want)


def test_results_belong_to_the_caller() -> None:
    made, _ = compiled(lambda x: ((x * 2).exp(), x.sum(0)))
    made(plain())
    x = plain()
    a, b = made(x)
    before = a.clone(), b.clone()
    made(plain())
    assert torch.equal(a, before[0]) and torch.equal(b, before[1])


def test_a_saved_value_that_is_overwritten() -> None:
    made, _ = compiled(lambda x: x.exp())
    for _ in range(2):
        x = leaf()
        y = made(x)
        y.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()


def test_a_second_backward() -> None:
    made, _ = compiled(lambda x: (x * x).sum())
    for _ in range(2):
        x = leaf()
        loss = made(x)
        loss.backward(retain_graph=True)
        loss.backward()
        assert torch.equal(x.grad, 4 * x)
        with pytest.raises(RuntimeError, match="a second time"):
            loss.backward()


def test_double_backward() -> None:
    made, _ = compiled(lambda x: (x**3).sum())
    for _ in range(3):
        x = leaf()
        (g,) = torch.autograd.grad(made(x), x, create_graph=True)
        (h,) = torch.autograd.grad(g.sum(), x)
        assert torch.allclose(h, 6 * x)


@pytest.mark.parametrize("kind", ["draws", "running statistics"])
def test_double_backward_of_a_call_with_effects(kind: str) -> None:
    """The call is made again: with the numbers that it had, and the streams and statistics are as they were."""
    norm = torch.nn.BatchNorm1d(3).double()

    def fn(x: Any) -> Any:
        drawn = F.dropout(x**3, 0.5) * torch.rand(3)
        return (drawn if kind == "draws" else norm(x**3) ** 3).sum()

    made, _ = compiled(fn)
    found = []
    for run in (fn, made):
        norm.reset_running_stats()
        for turn in range(3):
            torch.manual_seed(turn)
            x = torch.linspace(0.5, 1.5, 12, dtype=torch.float64).view(4, 3).requires_grad_()
            (g,) = torch.autograd.grad(run(x), x, create_graph=True)
            (h,) = torch.autograd.grad((g * g).sum(), x)
            found.append([g.detach(), h, torch.rand(2), *(t.clone() for t in norm.state_dict().values())])
    for want, got in zip(found[:3], found[3:], strict=True):
        for a, b in zip(want, got, strict=True):
            assert torch.allclose(a, b)


def test_double_backward_of_other_numbers_is_refused() -> None:
    """The call was made again on what the input is now: its gradient was another one, without a word."""
    made, _ = compiled(lambda x, y: (x**3 * (y * 2)).sum())
    made(leaf(), torch.ones(leaf().shape))  # eager's
    for _ in range(2):
        x, y = leaf(), torch.ones(leaf().shape)
        loss = made(x, y)
        y.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            torch.autograd.grad(loss, x, create_graph=True)

    def overwritten(x: Any, y: Any) -> Any:
        y.mul_(2)
        return (x**3 * y).sum()

    made, _ = compiled(overwritten)
    made(leaf(), torch.ones(leaf().shape))
    x = leaf()
    loss = made(x, torch.ones(x.shape))
    with pytest.raises(RuntimeError, match="does not currently support double backward"):
        torch.autograd.grad(loss, x, create_graph=True)


def test_sizes_come_back_as_sizes() -> None:
    made, _ = compiled(lambda x: (x * 2, x.shape, [x.size()], x.stride()))
    for _ in range(3):
        _, shape, (size,), stride = made(torch.ones(2, 3))
        assert type(shape) is type(size) is torch.Size and shape == size == (2, 3) and type(stride) is tuple


def test_create_graph_inside() -> None:
    def fn(x: Any) -> Any:
        (g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
        return torch.autograd.grad((g * g).sum(), x)[0]

    agree(fn, leaf)


def test_transforms_inside_and_outside() -> None:
    def fn(x: Any) -> Any:
        return torch.func.vmap(torch.func.grad(lambda r: (r**2).sum()))(x), torch.func.hessian(lambda r: r.sin().sum())(
            x[0]
        )

    agree(fn, plain)
    made, _ = compiled(lambda x: x.sin())
    x = plain()
    assert torch.equal(torch.func.vmap(made)(x), x.sin())
    assert torch.equal(torch.func.grad(lambda r: made(r).sum())(x), x.cos())


def test_gradients_add_up() -> None:
    w1, w2 = leaf(), None
    w2 = w1.detach().clone().requires_grad_()

    def fn(w: Any, x: Any) -> Any:
        loss = (w * x).sin().sum()
        loss.backward()
        return loss.detach()

    made, state = compiled(lambda x: fn(w1, x))
    for _ in range(4):
        x = plain()
        assert torch.equal(made(x), fn(w2, x)) and torch.equal(w1.grad, w2.grad)
    assert state.count == 2 and not state.broken


def test_draws_come_from_the_live_stream() -> None:
    def fn(x: Any) -> Any:
        return (
            F.dropout(x, 0.5) + torch.randn(4) * torch.rand_like(x), torch.randint(0, 9, (3,)), torch.randperm(5),
            torch.empty(3, 4).normal_(), torch.bernoulli(torch.sigmoid(x)), torch.normal(x, 1.0),
            torch.zeros(4, 3).t().uniform_(),
        )  # fmt: skip

    agree(fn, plain)
    g = torch.Generator().manual_seed(3)
    made, _ = compiled(lambda x: x + torch.randn(4, generator=g))
    x = plain()
    got = [made(x) for _ in range(3)]
    g.manual_seed(3)
    assert all(torch.equal(t, x + torch.randn(4, generator=g)) for t in got)


def test_what_our_own_objects_do_is_not_lost() -> None:
    w = leaf()
    optimizer = torch.optim.SGD([w], lr=1.0)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
    loader = torch.utils.data.DataLoader([float(k) for k in range(4)], shuffle=True)

    def scheduled(x: Any) -> Any:
        (w * x).sum().backward()
        optimizer.step()
        scheduler.step()
        return x + 1

    def seeded(x: Any) -> Any:
        torch.manual_seed(5)
        return x + torch.randn(4)

    def own(x: Any) -> Any:
        return x + torch.randn(4, generator=torch.Generator().manual_seed(1))

    def loaded(x: Any) -> Any:
        return sum(batch.sum() * k for k, batch in enumerate(loader)) + x

    def globally(x: Any) -> Any:
        global MADE
        MADE = x * 2
        return MADE + 1

    made, _ = compiled(scheduled)
    for _ in range(4):
        made(plain())
    assert scheduler.last_epoch == 4 and optimizer.param_groups[0]["lr"] == 1 / 16
    for fn in (seeded, own, globally):
        made, _ = compiled(fn)
        for _ in range(3):
            x = plain()
            assert torch.equal(made(x), fn(x))
            made(x * 3)
            if fn is globally:
                assert torch.equal(MADE, x * 6)
    made, _ = compiled(loaded)
    assert len({float(made(torch.zeros(()))) for _ in range(12)}) > 1


def test_running_statistics() -> None:
    m1, m2 = torch.nn.BatchNorm1d(4), torch.nn.BatchNorm1d(4)
    made = torch.compile(m1, backend="numpy")
    for _ in range(4):
        x = plain()
        assert torch.allclose(made(x), m2(x), atol=1e-6)
        assert torch.allclose(m1.running_mean, m2.running_mean) and m1.num_batches_tracked == m2.num_batches_tracked


# ------------------------------------------------------------------------------------------------------- graph breaks
@pytest.mark.parametrize(
    "fn",
    [
        lambda x: x * 2 if x.sum() > 0 else x - 1,
        lambda x: x * x.sum().item(),
        lambda x: x + torch.from_numpy(x.numpy() * 2),
        lambda x: x[x > 0],
        lambda x: torch.nonzero(x),
        lambda x: x * len(x.unique()),
        lambda x: x * float(str(len(repr(x)))),
        lambda x: [v * 2 for v in x.tolist()],
    ],
)
def test_what_asks_for_elements_runs_eagerly(fn: Any) -> None:
    made, state = compiled(fn)
    for k in range(6):
        x = torch.arange(4.0) * (-1) ** k - k
        assert repr(made(x)) == repr(fn(x))
    assert state.broken
    with pytest.raises(torch._dynamo.exc.Unsupported) as error:
        torch.compiler.program(fn, torch.ones(3))
    assert any("test_programs.py" in note for note in error.value.__notes__)
    if any(word in str(error.value) for word in ("bool()", "repr()", "tolist()")):
        with pytest.raises(torch._dynamo.exc.Unsupported):
            torch.compile(fn, fullgraph=True)(torch.ones(3))
    else:  # PyTorch puts these into one graph
        assert repr(torch.compile(fn, fullgraph=True)(torch.ones(3))) == repr(fn(torch.ones(3)))


def test_effects_on_python_happen_once_a_call(capsys: Any) -> None:
    log: list[int] = []
    state = {"n": 0}

    class Counter(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.calls = 0

        def forward(self, x: Any) -> Any:
            self.calls += 1
            return x * self.calls

    def appending(x: Any) -> Any:
        log.append(1)
        return x + len(log)

    def counting(x: Any) -> Any:
        state["n"] += 1
        return x * state["n"]

    def printing(x: Any) -> Any:
        print("seen")  # noqa: T201
        return x + 1

    m = Counter()
    x = plain()
    for fn in (appending, counting, printing, m):
        made = torch.compile(fn, backend="numpy")
        outs = [made(x) for _ in range(3)]
        assert len(outs) == 3
    assert len(log) == 3 and state["n"] == 3 and m.calls == 3
    assert capsys.readouterr().out == "seen\n" * 3


def test_cotangents_of_the_program_join_the_tape() -> None:
    weight, x = torch.randn(2, 3, 3), torch.randn(1, 3, 7, requires_grad=True)
    given = torch.ones(1, 2, 5)

    def step() -> Any:
        y = F.conv1d(x, weight).tanh()
        return torch.autograd.grad(y, x, given)[0], torch.autograd.grad(x.sin(), x, torch.ones_like(x))

    want = step()
    made, c = compiled(step)
    for _ in range(3):
        got = made()
        assert torch.equal(got[0], want[0]) and torch.equal(got[1][0], want[1][0])
    assert not c.breaks
    given.mul_(2)
    assert torch.equal(made()[0], want[0] * 2)


def test_index_checks_are_repeated() -> None:
    x, y = torch.randn(4, 5, requires_grad=True), torch.tensor([0, 4, 2, 1])

    def loss(y: Any) -> Any:
        return x.log_softmax(1).gather(1, y.unsqueeze(1)).sum()

    made, c = compiled(loss)
    for _ in range(2):
        assert torch.equal(made(y), loss(y))
    with pytest.raises(RuntimeError, match="index 5 is out of bounds for dimension 1 with size 5"):
        made(torch.tensor([0, 5, 2, 1]))
    assert not c.breaks


def test_a_function_that_calls_itself_keeps_no_tensor() -> None:
    def leaves(found: Any, tree: Any) -> Any:
        def visit(part: Any) -> None:
            if isinstance(part, list):
                list(map(visit, part))
            else:
                found.append(part)

        visit(tree)
        return found

    made, c = compiled(lambda x: sum(leaves([], [x * 2, [x + 1]])))
    for _ in range(2):
        assert torch.equal(made(torch.ones(3)), torch.full((3,), 4.0))
    assert not c.breaks


def test_cells_that_were_frozen_and_are_gone_are_no_cells_of_before() -> None:
    cells = [types.CellType(k) for k in range(10000)]
    gc.freeze()
    torch.compile(lambda x: x + 1, backend="numpy")(torch.ones(1))  # looks at what is frozen
    cells.clear()

    def total(x: Any) -> Any:
        parts: list[Any] = []

        def keep(part: Any) -> None:
            parts.append(part)

        keep(x * 2)
        keep(x + 1)
        return parts[0] + parts[1]

    made, c = compiled(total)
    for _ in range(2):
        assert torch.equal(made(torch.ones(3)), torch.full((3,), 4.0))
    assert not c.breaks


def test_large_work_is_left_to_eager() -> None:
    calls = []

    def double(x: Any) -> Any:
        calls.append(None) if type(x._payload) is np.ndarray else None  # not while the call is recorded
        return x * 2

    made, c = compiled(double)
    for n in (1 << 15, 1 << 15, 8, 8):
        assert torch.equal(made(torch.ones(n)), torch.full((n,), 2.0))
    assert len(calls) == 1 and not c.breaks  # the second call of the large one


@pytest.mark.parametrize("faster", [False, True])
def test_eager_runs_where_the_first_calls_were_faster_so(faster: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    now, calls = [0.0], []

    def clock() -> float:
        now[0] += 1
        return now[0]

    monkeypatch.setattr(dispatch, "perf_counter", clock)
    monkeypatch.setattr(dispatch, "TRIALS", 4)
    monkeypatch.setattr(dispatch, "REST", 3)

    def counted(x: Any) -> Any:
        calls.append(None)
        now[0] += -0.5 if faster else 0.5
        return x * 2 + 1

    made = torch.compile(lambda x: x * 2 + 1, backend="numpy")
    assert torch.equal(made(torch.zeros(3)), torch.ones(3))  # recorded
    made._compiled.fn = counted
    for k in range(12):
        assert torch.equal(made(torch.full((3,), float(k))), torch.full((3,), 2.0 * k + 1))
    assert len(calls) == (10 if faster else 2)  # two in the trial, then all or none


def test_what_eager_replaces_is_free_while_it_runs() -> None:
    """A gradient that the last call left is a guard's; held until the call ends, it would take the new one's memory."""
    x, held = torch.ones(1 << 15, requires_grad=True), []

    def step() -> None:
        old = None if x.grad is None else weakref.ref(x.grad._payload)
        x.grad = None
        if old is not None and type(x._payload) is np.ndarray:  # not while the call is recorded
            held.append(old() is not None)
        (x * 2).sum().backward()

    made = torch.compile(step, backend="numpy")
    for _ in range(6):
        made()
    assert held[-2:] == [False, False]


def test_other_arguments_are_soon_noticed_where_eager_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "REST", 3)
    made = torch.compile(lambda x: x * 2, backend="numpy")
    for n in (1 << 15, 1 << 15, 8, 8, 8):
        assert torch.equal(made(torch.ones(n)), torch.full((n,), 2.0))
    assert made._compiled.count == 1
    made(torch.ones(8))
    assert made._compiled.count == 2


def test_a_tensor_that_is_kept() -> None:
    class Keeps(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            self.last = x * 2
            return self.last + 1

    m = Keeps()
    made = torch.compile(m, backend="numpy")
    for _ in range(3):
        x = plain()
        made(x)
        assert torch.equal(m.last, x * 2)


def test_an_error_is_eagers() -> None:
    made, _ = compiled(lambda x, y: (x.add_(1) @ y).sum())
    for _ in range(2):
        x = torch.zeros(2, 3)
        with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
            made(x, torch.ones(2, 3))
        assert torch.equal(x, torch.ones(2, 3))


def test_shared_memory_of_arguments() -> None:
    def fn(x: Any, y: Any) -> Any:
        x.add_(1)
        return y * 2

    made, _ = compiled(fn)
    for _ in range(2):
        made(plain(), plain())
        x = plain()
        want = (x[0] + 1) * 2
        assert torch.equal(made(x, x[0]), want)


def test_pieces_of_a_module() -> None:
    class Inner(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lin = torch.nn.Linear(4, 4)

        def forward(self, x: Any) -> Any:
            return self.lin(x).tanh()

    class Outer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = Inner(), Inner()

        def forward(self, x: Any) -> Any:
            y = self.a(x)
            return self.b(y) if y.sum() > 0 else y

    m = Outer()
    made = torch.compile(m, backend="numpy")
    for _ in range(4):
        x = plain()
        assert torch.equal(made(x), m(x))
    assert made._compiled.broken and any(p.programs for p in made._compiled.pieces.values())


# ------------------------------------------------------------------------------------------------------ the interface
def test_arguments_of_compile() -> None:
    x = plain()
    for backend in ("inductor", "numpy", "eager", "aot_eager"):
        assert torch.equal(torch.compile(lambda x: x + 1, backend=backend)(x), x + 1)
    with pytest.raises(torch._dynamo.exc.InvalidBackend, match="Invalid backend: 'nothing'"):
        torch.compile(lambda x: x, backend="nothing")(x)
    with pytest.raises(AssertionError, match="A callable function is expected"):
        torch.compile(3)
    given = []

    def backend(program: Any, example: Any) -> Any:
        given.append([t.shape for t in example])
        return program.forward

    made = torch.compile(lambda x: (x + 1).sum(), backend=backend)
    made(x)
    assert torch.equal(made(x), (x + 1).sum()) and given == [[x.shape]]


def test_names_of_the_compiler() -> None:
    seen = []

    @torch.compile(backend="numpy")
    def fn(x: Any) -> Any:
        seen.append(torch.compiler.is_compiling())
        return x + 1

    fn(plain())
    assert seen == [True] and not torch.compiler.is_compiling()

    @torch.compiler.disable
    def secret(x: Any) -> Any:
        return x * 2

    made, state = compiled(lambda x: secret(x) + 1)
    assert torch.equal(made(torch.ones(1)), torch.tensor([3.0])) and "disabled" in next(iter(state.broken.values()))
    made, state = compiled(lambda x: x + 1)
    with torch.compiler.set_stance("force_eager"):
        made(plain())
    assert state.count == 0
    made(plain())
    with torch.compiler.set_stance("fail_on_recompile"), pytest.raises(RuntimeError, match="fail_on_recompile"):
        made(torch.ones(7))
    torch._dynamo.reset()
    assert state.count == 0 and not state.programs
    said = torch._dynamo.explain(lambda x: (x + 1).exp())(plain())
    assert (said.graph_count, said.graph_break_count, said.op_count) == (
        1,
        0,
        1,
    )  # PyTorch counts functions, not methods


def test_what_a_program_shows() -> None:
    made = torch.compiler.program(lambda x: (x * 2 + 1).exp().sum(), leaf())
    assert [op.name for op in made.tape.ops] == ["mul", "add", "exp", "sum_all"]
    assert "exp(" in made.source and "test_programs.py" in made.source
    assert made.memory["nbytes"] > 0 and any("args[0]" in said for said in made.guards)


def test_copies_and_pickles_of_compiled_modules() -> None:
    m = torch.nn.Sequential(torch.nn.Linear(4, 2))
    made = torch.compile(m, backend="numpy")
    x = plain()
    made(x)
    assert torch.equal(copy.deepcopy(made)(x), m(x))
    assert torch.equal(pickle.loads(pickle.dumps(m))(x), m(x))
    m.compile(backend="numpy")
    m(x)
    assert m(x).grad_fn.name() == "CompiledFunctionBackward"
    assert torch.equal(copy.deepcopy(m)(x), m(x)) and list(m.state_dict()) == ["0.weight", "0.bias"]


def test_an_error_of_the_functions_own() -> None:
    """It is raised once, with what the call did before it; the function stays compiled."""
    log: list[int] = []

    @torch.compile(backend="numpy")
    def f(x: Any, n: int) -> Any:
        log.append(n) if n > 2 else None
        x.add_(1)
        if n > 2:
            raise ValueError(n)
        return x * n

    x = torch.zeros(2)
    with pytest.raises(ValueError) as caught:
        f(x, 3)
    assert caught.value.__context__ is None and log == [3] and x.tolist() == [1, 1]
    f(x, 1)
    assert f._compiled.programs and not f._compiled.breaks

    @torch.compile(backend="numpy")
    def g(a: Any, b: Any) -> Any:
        return a @ b

    with pytest.raises(RuntimeError) as refused:
        g(torch.ones(2, 2), torch.ones(3, 2))
    assert refused.value.__suppress_context__


def test_a_checkpoint_that_draws() -> None:
    """The pass that is recorded would run the function again, on a stream that it sets back."""
    from wengert.utils.checkpoint import checkpoint

    def digits(compile_: Any) -> list[Any]:
        torch.manual_seed(1)
        w = torch.ones(4, requires_grad=True)
        f = compile_(lambda x: checkpoint(lambda a: F.dropout(a * w, 0.5).sin(), x, use_reentrant=False).sum())
        found = []
        for _ in range(3):
            out = f(torch.ones(4))
            out.backward()
            found.append((out.item(), w.grad.tolist()))
        return found

    assert digits(lambda f: f) == digits(lambda f: torch.compile(f, backend="numpy"))


def test_identities_keep_the_digits() -> None:
    """Negatives in sums, ones in products, powers of 0, numbers beside arrays; nan, infinities, -0, subnormal too."""
    special = torch.tensor([0.0, -0.0, 1.0, -1.5, math.inf, -math.inf, math.nan, 1e-40, -1e-45, 3e38, 0.1])
    x, y = (t.reshape(-1) for t in torch.meshgrid(special, special, indexing="ij"))

    def f(x: Any, y: Any) -> list[Any]:
        n, one = -y, torch.ones(121)
        return [
            x + n, n + x, x + n * 3, n * x + y, x + n + n, (-x) + (-y), x + (-y) * (-x), n,
            x * one, one * x, x**0, (x * one) + 1e300, x * 0.1, 2 - x, x / 3, 1e-46 * x, x > 0.1, x - 1e39, -x * one,
        ]  # fmt: skip

    for dtype in (torch.float32, torch.float64):
        made, inner = compiled(f)
        given = x.to(dtype), y.to(dtype)
        for _ in range(2):
            for a, b in zip(made(*given), f(*given), strict=True):
                assert torch.equal(a.nan_to_num(7.5), b.nan_to_num(7.5)) and torch.equal(a.isnan(), b.isnan())
                assert a.dtype == b.dtype and torch.equal(a.signbit() & (a == 0), b.signbit() & (b == 0))
        (program,) = inner.programs[next(iter(inner.programs))]
        code = "".join(line.partition("#")[0] for line in program.source.splitlines())
        assert "negative" in code and "add(" in code and code.count("subtract") > 4 and "pow" not in code


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x[x > 2],
        lambda x: x[1:].as_strided((2, 2), (1, 2), 0),  # offsets count from the storage's beginning
        lambda x: torch.histogramdd(x.reshape(4, 2), [2, 2]).hist,
        lambda x: torch.histogram(x, 3).hist,
        lambda x: x.clone().resize_(2, 2),
        lambda x: x.nonzero(),
        lambda x: x.unique(),
    ],
)
def test_what_ends_a_recording_after_the_program_has_changed_python_values(f: Any) -> None:
    calls: list[int] = []

    def counted(x: Any) -> Any:
        calls.append(1)
        return f(x)

    made, _ = compiled(counted)
    for k in range(1, 4):
        x = torch.arange(9.0)[1:]
        assert torch.equal(made(x), f(x)) and len(calls) == k


def test_a_saved_input_that_the_call_writes() -> None:
    def f(x: Any, y: Any) -> Any:
        y.mul_(x)
        return y.sum()

    made, _ = compiled(f)
    for _ in range(3):
        x, y = torch.arange(3.0).requires_grad_(), torch.full((3,), 2.0)
        made(x, y).backward()
        assert x.grad.tolist() == [2, 2, 2] and y.tolist() == [0, 2, 4]


CHECKED = (
    "x.index_select(0, i)", "F.embedding(i, x)", "x.index_add(0, i, x)", "x.index_copy(0, i, x)", "x[i]",
    "torch.index_reduce(x, 0, i, x, 'prod')", "F.multi_margin_loss(x, i)", "F.embedding(i, x, max_norm=1.0)",
    "F.max_unpool1d(x.view(1, 2, 2), i.view(1, 1, 2).expand(1, 2, 2), 1)", "x.index_add_(0, i, x.clone())",
    "torch.linalg.eigvals(x / (i + 1).double())", "torch.cov(x, fweights=i + 4)", "(x.mul_(2) * F.embedding(i, x))",
    "torch.searchsorted(x[0], x[1], sorter=i)", "F.embedding(i + 0, x) @ x",
)  # fmt: skip


@pytest.mark.parametrize("backend", ["numpy", "inductor"])
@pytest.mark.parametrize("first", [[0, 1], [-1, 0]])
@pytest.mark.parametrize("value", CHECKED)
def test_elements_that_eager_refuses_are_refused_by_a_program(value: str, first: list[int], backend: str) -> None:
    scope: dict[str, Any] = {"torch": torch, "F": torch.nn.functional}
    exec(f"def f(x, i): return {value}", scope)

    def result(f: Any, k: int, indices: list[int]) -> Any:
        x = torch.arange(4.0, dtype=torch.float64).view(2, 2) + k
        try:
            return f(x, torch.tensor(indices)).tolist(), x.tolist()
        except (RuntimeError, IndexError):
            return "refused", x.tolist()

    compiled = torch.compile(scope["f"], backend=backend)
    for k, indices in enumerate([first, [1, 0], [0, 1], [0, -1], [1, 1], [-2, 0], [0, 5], [0, -7], [1, 0]]):
        found, wanted = result(compiled, k, indices), result(scope["f"], k, indices)
        assert str(found) == str(wanted) or found == pytest.approx(wanted)
        wait()


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x, lambda x: x[None], lambda x: x.unsqueeze(-1), lambda x: x[:, None], lambda x: x.t(),
        lambda x: x[:0], lambda x: x.expand(2, *x.shape), lambda x: x * 2,
    ],
)  # fmt: skip
@pytest.mark.parametrize("shape", [(4, 3), (1, 3), (3, 1), (0, 3), (3, 0)])
def test_strides_that_numpy_does_not_know(shape: tuple[int, ...], view: Any) -> None:
    x = torch.ones(shape)
    f = torch.compile(lambda x: (x * 1, view(x).stride()), backend="numpy")
    for _ in range(3):
        assert f(x)[1] == view(x).stride()
