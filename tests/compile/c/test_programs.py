"""Compiled functions in C beside eager: steps, updates, views, errors, threads, and what a program is called with."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from c_programs import compiled, ready

import wengert as torch
from wengert._compile import c, record
from wengert._compile.c import cache, compilers, program, steps, threads

nn, F = torch.nn, torch.nn.functional
pytestmark = pytest.mark.usefixtures("c_cache")


def same(a, b, ulp=8):
    a, b = (np.asarray(t.detach().numpy()) for t in (a, b))
    assert a.shape == b.shape and a.dtype == b.dtype
    room = ulp * np.spacing(np.maximum(np.abs(b), np.abs(b).max(initial=0) / 8).astype(b.dtype))
    assert np.all((np.abs(a - b) <= room) | (a == b) | (np.isnan(a) & np.isnan(b)))


def both(fn, *args, calls=3):
    """Eager's and C's results of the last of some calls."""
    f = compiled(fn)
    f(*args)
    ready(f)
    for _ in range(calls - 1):
        got = f(*args)
    ready(f)
    return f(*args), got, fn(*args), f


def net(kind):
    torch.manual_seed(0)
    if kind == "mlp":
        return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3)), torch.randn(5, 6)
    if kind == "conv":
        layers = (
            nn.Conv2d(2, 4, 3, padding=1, bias=False),
            nn.BatchNorm2d(4),
            nn.ReLU(),
            nn.Conv2d(4, 4, 3, 2, groups=2),
        )
        return nn.Sequential(*layers, nn.MaxPool2d(2), nn.Flatten(), nn.Linear(16, 3)), torch.randn(5, 2, 9, 9)
    layers = (nn.LayerNorm(6), nn.Linear(6, 8), nn.GELU(), nn.Linear(8, 8), nn.SiLU(), nn.GroupNorm(2, 8))
    return nn.Sequential(*layers, nn.Linear(8, 3)), torch.randn(5, 6)


OPTIMIZERS = {
    "SGD": {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.01, "nesterov": True}, "Adam": {"amsgrad": True}, "AdamW": {},
    "RMSprop": {"centered": True, "momentum": 0.5}, "Adagrad": {}, "NAdam": {}, "RAdam": {}, "Adamax": {}, "ASGD": {},
    "Rprop": {}, "Adadelta": {"maximize": True},
}  # fmt: skip


@pytest.mark.parametrize("kind", ["mlp", "conv", "norms"])
@pytest.mark.parametrize("optimizer", ["SGD", "AdamW"])
def test_training_steps(kind, optimizer):
    train(kind, optimizer)


@pytest.mark.parametrize("optimizer", sorted(OPTIMIZERS))
def test_optimizers(optimizer):
    """The learning rate changes between calls; another number is not another program."""
    found = train("mlp", optimizer)
    assert all(set(p.calls) == {"optimizer_step"} for p in found)


def test_a_step_is_compiled_while_the_next_one_is_recorded(monkeypatch):
    """The compiler's thread asks the optimizer for its rule when no state holds what is recorded."""
    late, seen = threading.Event(), threading.Event()

    class Lock:
        def __enter__(self):
            if threading.current_thread().name == "wengert-compile":
                seen.set()
            return lock.__enter__()

        def __exit__(self, *error):
            return lock.__exit__(*error)

    lock, finish = record.recording, record.Finder.finish
    for module in (record, steps):
        monkeypatch.setattr(module, "recording", Lock(), raising=False)

    def finishing(finder):
        # of the second program: the first one's steps are compiled
        if record.TRACER.get().tape.ops and len(f.programs):
            late.set()
            assert seen.wait(60)
        finish(finder)

    def rules(step, *given):
        assert late.wait(60)
        try:
            rules_of(step, *given)
        finally:
            seen.set()

    rules_of = steps.CStep.__init__
    monkeypatch.setattr(steps.CStep, "__init__", rules)
    monkeypatch.setattr(record.Finder, "finish", finishing)
    model, x = net("mlp")
    f = compiled(step_of(model, torch.optim.AdamW(model.parameters())))
    for _ in range(3):
        f(x, torch.tensor([0, 1, 2, 1, 0]))
    found = ready(f)
    assert not f.broken and len(found) == 2


def step_of(model, o):
    def step(x, y):
        o.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        o.step()
        return loss

    return step


def train(kind, optimizer):
    runs = []
    for in_c in (False, True):
        model, x = net(kind)
        o = getattr(torch.optim, optimizer)(model.parameters(), **OPTIMIZERS[optimizer])
        schedule = torch.optim.lr_scheduler.ExponentialLR(o, 0.8)
        y = torch.tensor([0, 1, 2, 1, 0])

        step = step_of(model, o)
        f = compiled(step) if in_c else step
        losses = []
        for k in range(7):
            losses.append(f(x + k * 0.1, y).item())
            schedule.step()
            if in_c:
                found = ready(f)
        runs.append((losses, [p.detach().clone() for p in model.parameters()]))
    (want, params), (got, others) = runs
    np.testing.assert_allclose(got, want, rtol=2e-5)
    for a, b in zip(others, params, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-3, atol=2e-5)
    return found


def test_forward_in_c_and_backward_in_c():
    def fn(x, w):
        return (torch.tanh(x @ w) * torch.sigmoid(x.sum(1, keepdim=True))).softmax(1)

    torch.manual_seed(0)
    x, w = torch.randn(4, 5, requires_grad=True), torch.randn(5, 3, requires_grad=True)
    f = compiled(fn)
    for k in range(3):
        out = f(x, w)
        c.wait()
        want = fn(x, w)
        g = torch.randn(3, 4).t() if k else torch.ones(()).expand(4, 3)  # cotangents of other strides
        same(out, want)
        for a, b in zip(torch.autograd.grad(out, (x, w), g), torch.autograd.grad(want, (x, w), g), strict=True):
            same(a, b, 64)  # sums whose terms cancel
    (one,) = [p for programs in f.programs.values() for p in programs]
    assert one.forward.c is not None and one.backward.c is not None


def test_forward_in_numpy_and_backward_in_c():
    x, w = torch.ones(3), torch.randn(3, requires_grad=True)
    f = compiled(lambda x, w: x.sum() * w)  # the program in NumPy saves a number
    for _ in range(3):
        torch.autograd.grad(f(x, w).sum(), w)
    ready(f)
    (one,) = [p for programs in f.programs.values() for p in programs]
    one.forward.c = None  # as if the compiler had ended between the two passes
    same(torch.autograd.grad(f(x, w).sum(), w)[0], torch.full((3,), 3.0))


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: x.t() + x.t(),
        lambda x: (x.t(), x[1:], x.reshape(-1)),
        lambda x: (x + 1)[:, ::2],
        lambda x: torch.cat([x, x * 2], 1)[:, 1:-1].clone(),
        lambda x: (x.unbind(0)[0], x.split(2, 1)[1] * 2, x.expand(2, 3, 4).sum(0)),
        lambda x: (x.sum((0, 1)), x.mean(0).amax(), x.double().sum(1).float().max()),
        lambda x: (x > 0, (x * 10).long() // 3, (x * 10).int() + 1, x.bool() & (x < 1)),
        lambda x: torch.where(x > 0, x, -1.0).masked_fill(x == 0, 2.0).clamp(-0.5, 0.5),
        lambda x: torch.empty(0, 4).add(x[:0]).sum(0),
        lambda x: (x[:, None] * x[None]).sum((0, 2)),
        lambda x: torch.stack([x, x.flip(0)], 1).permute(2, 0, 1).reshape(4, -1),
        lambda x: (x.mT @ x).triu(1) @ torch.linspace(0, 1, 4),
    ],
)
@pytest.mark.parametrize("strided", [False, True])
def test_small_functions(fn, strided):
    x = torch.from_numpy(np.random.default_rng(0).standard_normal((3, 8)).astype(np.float32))
    x = x[:, ::2] if strided else x[:, :4].contiguous()
    again, got, want, _ = both(fn, x)
    for results in (again, got):
        for a, b in zip(*((r if isinstance(r, tuple) else (r,)) for r in (results, want)), strict=True):
            same(a.double() if a.dtype == torch.bool else a, b.double() if b.dtype == torch.bool else b)
            assert a.stride() == b.stride()


@pytest.mark.parametrize(("m", "k", "n"), [(1, 300, 40), (40, 300, 1), (40, 1, 300), (1, 300, 1), (7, 5, 3)])
def test_products_that_are_read_transposed(m, k, n):
    x, w = torch.randn(m, k), torch.randn(n, k, requires_grad=True)

    def step():
        y = x @ w.t()
        return y, torch.autograd.grad((y * y).sum(), w)[0] * 2, (x @ w.detach().t()).t() + 1

    again, got, want, _ = both(step)
    for results in (again, got):
        for a, b in zip(results, want, strict=True):
            same(a, b, 64)
            assert a.stride() == b.stride()


def test_results_are_the_callers_own():
    f = compiled(lambda x: x * 2)
    x = torch.ones(3)
    f(x), ready(f)
    first, second = f(x), f(x)
    first.add_(1)
    assert second.tolist() == [2, 2, 2] and x.tolist() == [1, 1, 1]


def test_writes_into_inputs():
    def fn(x, y):
        old = x * 1.5
        x.mul_(2)
        y.copy_(old)
        x[0] = 7
        return x + y

    torch.manual_seed(0)
    ours, theirs = [[torch.arange(4.0), torch.zeros(4)] for _ in range(2)]
    f = compiled(fn)
    for _ in range(4):
        same(f(*ours), fn(*theirs))
        for a, b in zip(ours, theirs, strict=True):
            same(a, b)
        ready(f)


def test_an_index_out_of_range_is_eagers_error():
    """Nothing is written before all indices were checked."""
    x, at = torch.randn(3, 4), torch.tensor([0, 3, 1])

    def fn(x, at):
        x.add_(1)
        return F.cross_entropy(x, at)

    f = compiled(fn)
    f(x, at)
    (made,) = ready(f)
    assert made.calls == []
    same(f(x, at), F.cross_entropy(x, at))
    before = x.tolist()
    assert made([x._payload, torch.tensor([0, 4, 1])._payload]) is None
    assert x.tolist() == before
    with pytest.raises((RuntimeError, IndexError)):
        f(x, torch.tensor([0, 4, 1]))


def test_threads_change_no_digit(monkeypatch):
    def fn(x, w):
        y = F.layer_norm(torch.tanh(x) * 3, (256,)).softmax(1)
        z = F.conv2d(y.reshape(4, 2, 128, 256), w, padding=1)
        return y, z, z.sum(), x.sum(0), x.mean(1), (x * x).sum()

    torch.manual_seed(0)
    x, w = torch.randn(1024, 256), torch.randn(3, 2, 3, 3)
    f = compiled(fn)
    f(x, w), ready(f)
    found = []
    for n in (1, 2, 3, 5):
        monkeypatch.setattr(threads.threads, "requested", n)
        found.append(f(x, w))
    assert threads.told[1] == 5
    for more in found[1:]:
        for a, b in zip(found[0], more, strict=True):
            np.testing.assert_array_equal(a.numpy(), b.numpy())
    for a, b in zip(found[0], fn(x, w), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=2e-4, atol=1e-4)


def test_memory_full_of_nan_gives_the_same_digits():
    model, x = net("conv")
    f = compiled(lambda x: F.cross_entropy(model(x), torch.tensor([0, 1, 2, 1, 0])))
    model.eval()
    with torch.no_grad():
        f(x)
        (made,) = ready(f)
        plain = f(x)
        made.filled = True
        assert f(x).item() == plain.item()


def test_without_a_compiler_numpy_runs(monkeypatch):
    monkeypatch.setattr(cache, "compiler", lambda: None)
    f = compiled(lambda x: torch.tanh(x) * 1.25)
    x = torch.ones(3)
    for _ in range(3):
        same(f(x), torch.tanh(x) * 1.25)
        c.wait()
    (one,) = [p for programs in f.programs.values() for p in programs]
    assert one.forward.c is None and "def program" in one.source


def test_an_error_of_ours_stays_on_its_thread(monkeypatch, caplog):
    def broken(*args):
        raise ZeroDivisionError

    monkeypatch.setattr(program.CProgram, "_text", broken)
    monkeypatch.setattr(compilers, "_said", set())
    f = compiled(lambda x: x * 3)
    assert f(torch.ones(2)).tolist() == f(torch.ones(2)).tolist() == [3, 3]
    c.wait()
    assert f(torch.ones(2)).tolist() == [3, 3]


def test_loops_are_vectorised():
    """As the machine's own disassembler shows: each function of many elements works on whole vectors."""
    import platform
    import shutil
    import subprocess

    if platform.machine() != "x86_64" or not shutil.which("objdump"):
        pytest.skip("needs objdump, for x86")
    f = compiled(
        lambda x: (torch.tanh(x) * torch.sigmoid(x) + F.gelu(x), x.softmax(1), x.sum(1), F.layer_norm(x, (512,)))
    )
    f(torch.ones(512, 512))
    (made,) = ready(f)
    path = cache.path_of(compilers.compiler(), f"{cache.runtime()}\n{made.source}")
    text = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", path], capture_output=True, text=True, check=True
    ).stdout
    parts = [part for part in text.split("\n\n") if "<f" in part[:60] or "rows" in part[:60] or "max" in part[:60]]
    packed = [sum(line.count("ps ") for line in part.splitlines()) for part in text.split("\n\n")]
    assert parts is not None and max(packed) > 20
    loops = [
        part for part in text.split("\n\n") if "mulss" in part and "mulps" not in part and part.count("mulss") > 30
    ]
    assert loops == []


def test_a_number_that_is_expanded_lives_as_long_as_it_is_read():
    """Eager copies a 0-d result where it expands it; in C that is a view, whose buffer another value took."""
    torch.manual_seed(0)
    w = torch.randn(4, 3, requires_grad=True)

    def step(x, t):
        w.grad = None
        loss = sum(F.cross_entropy(x[k] @ w, t[k], label_smoothing=0.1) for k in range(3))
        loss.backward()
        return loss.detach()

    f = compiled(step)
    for _ in range(4):
        x, t = torch.randn(3, 5, 4), torch.randint(0, 3, (3, 5))
        got = f(x, t), w.grad
        ready(f)
        want = step(x, t), w.grad
        same(got[0], want[0])
        same(got[1], want[1], 32)


@pytest.mark.parametrize("shape", [(70, 24), (3, 11, 40), (2, 5)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_layer_norms_backward_pass_is_one_operator(shape, dtype, monkeypatch):
    torch.manual_seed(0)
    n = shape[-1]
    x, g = (torch.randn(*shape, dtype=dtype) for _ in range(2))
    w, b, scale = (torch.randn(n, dtype=dtype, requires_grad=True) for _ in range(3))

    def step(x):
        w.grad = b.grad = scale.grad = None
        y = x * scale
        F.layer_norm(y, (n,), w, b).backward(g)
        return y.detach()

    f = compiled(step)
    f(x), f(x)
    for made in ready(f):
        assert "norm_rows_all_back" in made.source
    found = []
    for threads_ in (1, 3):
        monkeypatch.setattr(threads.threads, "requested", threads_)
        f(x)
        found.append([p.grad for p in (w, b, scale)])
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())
    step(x)
    for got, p in zip(found[0], (w, b, scale), strict=True):
        same(got, p.grad, 32)


def test_chains_of_slow_functions_are_loops_of_their_own():
    def loops(fn):
        f = compiled(fn)
        f(torch.ones(64))
        return ready(f)[0].source.count("IVDEP\n")

    assert loops(lambda x: x.tanh().tanh().tanh()) == 3
    assert loops(lambda x: (x.tanh() * 2 + 1).exp()) == 2
    assert loops(lambda x: (x.tanh() + x.exp()) * 3 + x.sigmoid()) == 1


@pytest.mark.parametrize("shape", [(7, 5, 3, 9), (4, 3, 70), (6, 11, 1, 2)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_batch_norms_moments_are_found_once_and_its_backward_pass_is_one_operator(shape, dtype, monkeypatch):
    torch.manual_seed(0)
    x, g = (torch.randn(*shape, dtype=dtype) for _ in range(2))
    norm = (nn.BatchNorm2d if len(shape) == 4 else nn.BatchNorm1d)(shape[1], dtype=dtype)
    scale = torch.randn(*shape, dtype=dtype, requires_grad=True)

    def step(x):
        norm.zero_grad()
        scale.grad = None
        y = norm(x * scale)
        y.backward(g)
        return y.detach()

    def state():
        return [*(p.grad for p in (norm.weight, norm.bias, scale)), norm.running_mean, norm.running_var]

    f = compiled(step)
    f(x), f(x)
    for made in ready(f):
        body = made.source.rpartition("#include")[2]
        assert "norm_channels_told" in body and "norm_channels_all_back" in body and "channel_moments" not in body
    found = []
    for threads_ in (1, 3):
        monkeypatch.setattr(threads.threads, "requested", threads_)
        norm.reset_running_stats()
        got = f(x)
        found.append([t.clone() for t in state()])
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())
    norm.reset_running_stats()
    same(got, step(x), 16)
    for got, want in zip(found[0], state(), strict=True):
        same(got, want, 64)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shortcut", ["none", "input", "norm"])
@pytest.mark.parametrize("bad", [0.0, float("nan")])
def test_a_relu_and_the_sum_before_it_are_in_the_batch_norms_loops(dtype, shortcut, bad, monkeypatch):
    torch.manual_seed(0)
    x, g = (torch.randn(3, 4, 5, 7, dtype=dtype) for _ in range(2))
    x[1, 2, 3, 4] = bad
    a, b = nn.BatchNorm2d(4, dtype=dtype), nn.BatchNorm2d(4, dtype=dtype)
    scale = torch.randn(3, 4, 5, 7, dtype=dtype, requires_grad=True)
    leaves = [scale, *a.parameters(), *([*b.parameters()] if shortcut == "norm" else [])]

    def step(x):
        for leaf in leaves:
            leaf.grad = None
        z = x * scale
        y = a(z)
        if shortcut != "none":
            y += z if shortcut == "input" else b(z * 2)
        y = y.relu_()
        (y * 2 if shortcut == "none" else y).backward(g)
        return y.detach()

    f = compiled(step)
    f(x), f(x)
    for made in ready(f):
        body = made.source.rpartition("#include")[2]
        assert (
            "norm_channels_relu" in body and " <= (0x0.0p+0" not in body and "relu_" not in body.replace("_relu_", "")
        )
        assert "norm_channels_back_" not in body and "norm_channels_f" not in body and "norm_channels_d" not in body
    found = []
    for threads_ in (1, 3):
        monkeypatch.setattr(threads.threads, "requested", threads_)
        found.append([f(x).clone(), *(leaf.grad.clone() for leaf in leaves)])
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())
    for got, want in zip(found[0], [step(x), *(leaf.grad for leaf in leaves)], strict=True):
        assert torch.equal(got.isnan(), want.isnan())
        same(got.nan_to_num(), want.nan_to_num(), 64)


def test_a_norms_result_that_is_read_besides_its_relu_is_kept():
    norm = nn.BatchNorm1d(3)
    x = torch.randn(5, 3, 4, requires_grad=True)

    def step(x):
        x.grad = None
        y = norm(x)
        (y.relu() * y).sum().backward()
        return y.detach()

    got, _, want, f = both(step, x)
    same(got, want, 32)
    assert all("norm_channels_relu" not in made.source.rpartition("#include")[2] for made in ready(f))


@pytest.mark.parametrize(
    ("image", "kernel", "stride", "groups", "outputs"),
    [
        ((5, 6, 7, 7), 3, 1, 1, 40),  # tiles go on over the ends of rows, bands over images
        ((3, 4, 5, 300), 3, 1, 2, 20),
        ((2, 3, 40, 41), 7, 2, 1, 17),
        ((4, 20, 14, 14), 3, 2, 1, 12),
        ((2, 3, 2, 1100), 1, 1, 1, 5),  # a row has more places than a band
    ],
)
def test_convolutions_of_any_size_are_eagers_on_any_number_of_threads(
    image, kernel, stride, groups, outputs, monkeypatch
):
    torch.manual_seed(0)
    x = torch.randn(image, requires_grad=True)
    w = torch.randn(outputs * groups, image[1] // groups, kernel, kernel, requires_grad=True)
    b = torch.randn(outputs * groups, requires_grad=True)

    def step(x, w, b):
        x.grad = w.grad = b.grad = None
        y = F.conv2d(x, w, b, stride, kernel // 2, 1, groups)
        y.backward(torch.cos(y.detach()))
        return y.detach()

    f = compiled(step)
    f(x, w, b), f(x, w, b)
    ready(f)
    found = []
    for threads_ in (1, 3):
        monkeypatch.setattr(threads.threads, "requested", threads_)
        found.append([f(x, w, b).clone(), x.grad, w.grad, b.grad])
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())
    x, w, b = (t.detach().double().requires_grad_() for t in (x, w, b))
    for got, want in zip(found[0], [step(x, w, b), x.grad, w.grad, b.grad], strict=True):
        assert np.abs(got.numpy() - want.numpy()).max() <= 2e-5 * np.abs(want.numpy()).max()


@pytest.mark.parametrize("outputs", [3, 16, 20, 40])
def test_convolutions_by_one_vector_of_outputs_and_by_two(outputs):
    torch.manual_seed(0)
    x, w = torch.randn(2, 5, 11, 9, requires_grad=True), torch.randn(outputs, 5, 3, 3, requires_grad=True)

    def slopes(x, w):
        y = F.conv2d(x, w, padding=1)
        return y.detach(), *torch.autograd.grad((y * y).sum(), (x, w))

    got, _, want, _made = both(slopes, x, w)
    for a, b in zip(got, want, strict=True):
        same(a, b, 64)


@pytest.mark.parametrize(("steps", "rows"), [(1, 3), (3, 8), (6, 8), (5, 70)])
def test_a_recurrent_layers_weight(steps, rows):
    """One copy of its transpose for several products of few rows; its gradient is added up in place."""
    torch.manual_seed(0)
    w, b = (torch.randn(48, 40) * 0.1).requires_grad_(), torch.randn(48, requires_grad=True)
    u, x = torch.randn(48, 40, requires_grad=True), torch.randn(steps, rows, 40)

    def f(w, b, u, x):
        total, found = 0, []
        for part in x:
            h = F.linear(part, w, b).tanh()
            total = total + (h @ u).sum()
            found.append(h.detach())
        parts = [x[0].t() @ found[0], x[1 % steps].t() @ found[-1]]
        sums = [x[k].t() @ found[k] for k in range(steps)]
        s = sums[0]
        for t in sums[1:]:
            s = t + s
        return [*torch.autograd.grad(total, (w, b, u)), parts[0] + parts[1] + parts[0], s * 2, s]

    first, later, wanted, made = both(f, w, b, u, x)
    for a, again, e in zip(first, later, wanted, strict=True):
        np.testing.assert_allclose(a.numpy(), e.numpy(), rtol=1e-5, atol=1e-6 * e.abs().max().item())
        assert torch.equal(a, again)
    (made,) = ready(made)
    assert ("_add_product" in {op.name for op in made.plan.ops}) == (steps > 2)
    assert len(made._turned) == (4 <= steps and rows <= 64)


ELEMENTS = {
    "binary_cross_entropy": (
        lambda x, q: F.binary_cross_entropy(q * 1, x), torch.full((40,), 0.5), torch.full((40,), torch.nan),
        "all elements of input should be between 0 and 1",
    ),
    "quantile": (
        lambda x, q: (x * torch.quantile(x, q)).sum(), torch.tensor(0.5), torch.tensor(3.0),
        "q values must be in the range",
    ),
    "one_hot": (
        lambda x, q: (F.one_hot(q, 10) * x.reshape(4, 10)).sum(), torch.tensor([0, 9, 1, 1]),
        torch.tensor([0, 10, 1, 1]), "Class values must be smaller than num_classes",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ELEMENTS)
def test_a_check_of_elements_is_part_of_the_program(name):
    """It has no result, and is not left out as what nobody reads."""
    fn, good, bad, words = ELEMENTS[name]
    x = torch.linspace(0.1, 0.9, 40)
    got, _, wanted, f = both(fn, x, good)
    same(got, wanted)
    with pytest.raises(RuntimeError, match=words):
        f(x, bad)
    same(f(x, good), wanted)


def test_a_draw_with_operands_reads_what_was_drawn():
    x, scale = torch.zeros(50), torch.ones(50)
    f = compiled(lambda x, scale: torch.normal(x, scale) * 2)
    f(x, scale)
    ready(f)
    torch.manual_seed(3)
    drawn = f(x, scale)
    torch.manual_seed(3)
    same(drawn, torch.normal(x, scale) * 2)
