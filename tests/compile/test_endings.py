"""What a compiled function leaves when a call ends early, and what its programs leave when they go."""

from __future__ import annotations

import contextlib
import gc
import weakref
from typing import Any

import pytest

import wengert as torch
from wengert._compile import record


def step(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return ((x * w).relu() * 2).sum()


def of(made: Any) -> Any:
    """The program of a compiled function that has one."""
    return next(iter(made._compiled.programs.values()))[0]


@pytest.mark.usefixtures("no_gc")
def test_a_program_that_goes_needs_no_collector() -> None:
    """It took 16,000 blocks of memory until a collection, and more the longer there was none."""
    made, w = torch.compile(lambda x, w: step(x, w), backend="numpy"), torch.ones(3, requires_grad=True)
    for _ in range(3):
        made(torch.ones(3), w).backward()
    program = of(made)
    assert program.call is not None and w.grad.tolist() == [6, 6, 6]
    parts = [program, program.guards, program.recording, program.recording.finder, program.forward, program.backward]
    left = [*map(weakref.ref, parts), weakref.ref(program.call), weakref.ref(program.guards.check)]
    del made, program, parts
    assert [ref() for ref in left] == [None] * len(left)


@pytest.mark.usefixtures("no_gc")
def test_a_program_in_c_needs_no_collector_either() -> None:
    tier = pytest.importorskip("wengert._compile.c.tier")
    made = torch.compile(lambda x: (x * 2).exp())
    made(torch.ones(300))
    tier.wait()
    if (program := of(made).forward.c) is None:
        pytest.skip("there is no C compiler")
    made(torch.ones(300))
    left = weakref.ref(program)
    del made, program
    assert left() is None


def _with_a_break(x: torch.Tensor) -> Any:
    y = x.sin()
    return (y + 1).sum() if y.sum().item() > 0 else y


def _that_fails(x: torch.Tensor) -> Any:
    return x.sin() + torch.ones(5)


@pytest.mark.usefixtures("no_gc")
@pytest.mark.parametrize("function", [_with_a_break, _that_fails])
def test_a_call_that_becomes_no_program_needs_no_collector(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    class Known(record.Tracer):
        def __init__(self, start: int) -> None:
            super().__init__(start)
            made.append(weakref.ref(self))

    monkeypatch.setattr(record, "Tracer", Known)
    compiled = torch.compile(lambda x: function(x))
    with contextlib.suppress(RuntimeError):
        compiled(torch.ones(3, requires_grad=True))
    assert [ref() for ref in made] == [None]


BACKENDS = {"eager": "eager", "aot_eager": "aot_eager", "forward": lambda gm, _: gm.forward, "module": lambda gm, _: gm}


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_error_where_nothing_is_recorded_leaves_no_mode_on(backend: str) -> None:
    @torch.compile(backend=BACKENDS[backend])
    def looked_up(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            y = torch.nn.functional.embedding(i, x)
        return y * 2 + x[:2]

    x = torch.ones(3, 2, requires_grad=True)
    looked_up(x, torch.tensor([0, 1]))
    with pytest.raises(IndexError):
        looked_up(x, torch.tensor([0, 7]))
    assert torch.is_grad_enabled()


def test_an_error_in_an_exported_program_leaves_no_mode_on(capsys: Any) -> None:
    class M(torch.nn.Module):
        def forward(self, x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
            with torch.no_grad():
                y = torch.nn.functional.embedding(i, x)
            return y * 2

    program = torch.export.export(M(), (torch.ones(3, 2), torch.tensor([0, 1]))).module()
    with pytest.raises(IndexError):
        program(torch.ones(3, 2), torch.tensor([0, 7]))
    assert torch.is_grad_enabled()


def test_an_interrupt_before_a_recording_leaves_the_collector_on(monkeypatch: pytest.MonkeyPatch) -> None:
    class Collector:
        isenabled, enable = gc.isenabled, gc.enable

        @staticmethod
        def disable() -> None:
            gc.disable()
            raise KeyboardInterrupt

    assert gc.isenabled()
    monkeypatch.setattr(record, "gc", Collector)
    with pytest.raises(KeyboardInterrupt):
        torch.compile(step, backend="numpy")(torch.ones(3), torch.ones(3))
    assert gc.isenabled()


class Interrupted:
    """A lock; whoever asks for it by a call is interrupted as soon as it is held, as a signal may do."""

    def __init__(self, lock: Any) -> None:
        self.lock = lock
        self.locked, self.release = lock.locked, lock.release

    def acquire(self, *args: Any) -> None:
        self.lock.acquire(*args)
        raise KeyboardInterrupt

    def __enter__(self) -> Any:
        return self.lock.__enter__()

    def __exit__(self, *error: Any) -> None:
        self.lock.__exit__(*error)


@pytest.mark.parametrize("calls", [1, 3])
def test_an_interrupt_leaves_no_program_locked(calls: int) -> None:
    """A program that stays locked is made anew at each call, and after eight calls nothing is compiled any longer."""
    made = torch.compile(lambda x, w: step(x, w), backend="numpy")
    for _ in range(calls):
        made(torch.ones(3), torch.ones(3))
    program = of(made)
    lock, program.lock = program.lock, Interrupted(program.lock)
    with contextlib.suppress(KeyboardInterrupt):
        made(torch.ones(3), torch.ones(3))
    assert not lock.locked() and made._compiled.count == 1


REFUSED = (  # an expression that nothing else reads, what it takes, what it refuses
    ("torch.linalg.inv(x)", [[2.0, 0], [0, 1]], [[0.0, 0], [0, 0]]),
    ("torch.linalg.cholesky(x)", [[2.0, 0], [0, 1]], [[-1.0, 0], [0, 1]]),
    ("torch.linalg.solve(x, x)", [[2.0, 0], [0, 1]], [[0.0, 0], [0, 0]]),
    ("torch.linalg.svd(x)[1]", [[2.0, 0], [0, 1]], [[float("nan"), 0], [0, 0]]),
    ("torch.linalg.cond(x, 1)", [[2.0, 0], [0, 1]], [[0.0, 0], [0, 0]]),  # which is infinite
    ("torch.histc(x, 3)", [1.0, 2], [float("nan"), 2]),
    ("r[x]", [0, 1], [0, 9]),
    ("r.take(x)", [0, 1], [0, 9]),
    ("r.put(x, r[:2])", [0, 1], [0, 9]),
    ("r.index_add(0, x, r[:2])", [0, 1], [0, 9]),
    ("F.embedding(x, r[:, None])", [0, 1], [0, 9]),
    ("F.multi_margin_loss(torch.ones(2, 3), x)", [0, 1], [0, 9]),
    ("torch.searchsorted(r, r, sorter=x)", [0, 1, 2], [0, 1, 9]),
    ("torch.tensor([4, 5]) // x", [1, 2], [1, 0]),
    ("torch.tensor([4, 5]).remainder(x)", [1, 2], [1, 0]),
)


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("written", [False, True])
@pytest.mark.parametrize(("text", "good", "bad"), REFUSED)
def test_what_eager_refuses_of_elements_is_refused_in_its_words(
    text: str, good: Any, bad: Any, written: bool, kept: bool
) -> None:
    scope: dict[str, Any] = {"torch": torch, "F": torch.nn.functional}
    lines = ["def f(x, r):", " r.mul_(2)" * written, f" y = {text}", f" return r + 1{', y' * kept}"]
    exec("\n".join(line for line in lines if line), scope)
    found: list[Any] = []
    for f in (scope["f"], torch.compile(scope["f"], backend="numpy")):
        found.append([])
        for x in (good, good, bad, good):
            r = torch.arange(3.0)
            try:
                found[-1].append(repr(f(torch.tensor(x), r)))
            except (RuntimeError, IndexError) as error:
                found[-1].append((type(error), str(error)))
            found[-1].append((r.tolist(), r._version))
    assert found[0] == found[1]


@pytest.mark.parametrize("shape", [(), (3,)])
def test_a_write_before_an_error_is_counted_once(shape: tuple[int, ...]) -> None:
    count = torch.zeros(shape)

    @torch.compile(backend="numpy")
    def step(x: Any) -> Any:
        count.add_(1)
        return torch.nn.functional.batch_norm(x, None, None, training=True)

    for k, rows in enumerate((2, 2, 1, 2), 1):
        if rows == 1:
            with pytest.raises((ValueError, RuntimeError), match="more than 1 value"):
                step(torch.ones(rows, 2))
        else:
            step(torch.ones(rows, 2))
        assert count._version == k


@pytest.mark.parametrize("optimizer", ["SGD", "Adam", "RMSprop"])
@pytest.mark.parametrize("stepped", [False, True])
def test_a_step_before_an_error_is_taken_once(optimizer: str, stepped: bool) -> None:
    found = []
    for compiled in (False, True):
        w = torch.ones(3, requires_grad=True)
        options = {"momentum": 0.9} if optimizer == "SGD" else {}
        opt = getattr(torch.optim, optimizer)([w], lr=0.1, **options)

        def step(x: Any, w: Any = w, opt: Any = opt) -> Any:
            (w * x).square().sum().backward()
            opt.step()
            return x.sum().backward()  # which does not require grad

        if stepped:
            w.grad = torch.ones(3)
            opt.step()
        with pytest.raises(RuntimeError, match="does not require grad"):
            (torch.compile(step, backend="numpy") if compiled else step)(torch.ones(3))
        found.append((w.tolist(), {k: torch.as_tensor(v).tolist() for k, v in opt.state[w].items()}))
    assert found[0] == found[1]
