"""Tensors on one memory that are no views of each other, new memory, new shapes: a program does what eager does."""

from __future__ import annotations

import warnings
import weakref
from typing import Any

import pytest

import wengert as torch
from wengert._compile.c import wait

LINES = (
    "x.detach().mul_(2); return x + 1",
    "x.data.mul_(2); return x + 1",
    "x.data += 1; return x * 2",
    "y = x * 1; y.data.mul_(2); return y",
    "y = x * 1; d = y.data; y.mul_(3); return y, d",
    "y = x * 1; d = y.detach(); y.mul_(3); d.add_(1); return y, d",
    "y = x * 1; d = y[1:].data; d.mul_(3); return y, d",
    "x[1:].detach().mul_(3); return x * 1",
    "y = x.view(2, 2).detach()[0].data; y.zero_(); return x * 1",
    "y = x.clone(); y.data = torch.zeros(4); y.add_(1); return y",
    "y = x.clone(); z = torch.empty(0).set_(y); z.add_(1); return y, z",
    "y = torch.from_dlpack(x); y.add_(1); return x * 1",
    "y = x.clone().requires_grad_(); (y * y).sum().backward(); y.grad.data.zero_(); return y.grad",
    "p = torch.nn.Parameter(x.clone()); p.data.clamp_(0, 1); return p.detach() * 1",
    "p = torch.nn.Parameter(x); p.detach().add_(1); return x * 1",
    "w = x.clone().requires_grad_(); y = (w * w).sum(); w.data.mul_(3); y.backward(); return w.grad",
    "x.unsqueeze_(0); return x",
    "x.data = torch.zeros(2); return 1",
    "x.resize_(2); return x",
    "y = x.view(2, 2); y.t_(); return x * 1",
    "x.as_strided((2,), (2,)).add_(1); return x * 1",
    "x.expand(2, 4).diagonal().add_(1); return x * 1",
    "y = x * 1; v = y.expand(4, 4)[0]; v.mul_(2); return y",
    "y = x.sum().expand(2); y[:1].add_(1); return y * 1",
    "y = x.expand(3, 4).diagonal(); y[0] = 7; return x * 1, y",
)


@pytest.mark.parametrize("line", LINES)
def test_writes_reach_all_that_share_the_memory(line: str) -> None:
    scope: dict[str, Any] = {"torch": torch}
    exec("def f(x):\n    " + line.replace("; ", "\n    "), scope)
    found = []
    for f in (scope["f"], torch.compile(scope["f"], backend="numpy")):
        calls = [torch.arange(4.0) + k for k in range(3)]
        found.append([(repr(f(x)), x.tolist(), x._version) for x in calls])
    assert found[0] == found[1]


RESULTS = (  # tensors of which the caller writes one: what shares its memory in eager sees it
    "y = x.detach(); y.mul_(2); return y, x",
    "y = x.detach(); y.normal_(); return y[1:], x",
    "y = torch.zeros_like(x); return y[1:], y",
    "y = torch.ones_like(x).view(2, 2); return y.t(), y, y.detach()",
    "y = x * 0 + x.sum(); return y.detach(), y",
    "y = x.sum(); return y.view(1), y",
    "y = x.sum(); return y.detach(), y",
    "y = (x * 2).view(2, 2); return y.diag(), y",
    "y = x.view(2, 2); return y.diag(), x",
    "return x.copy_(x) * 1, x",
    "return torch.diagonal_copy(x.view(2, 2)), x",
    "return torch.select_copy(x.view(2, 2), 0, 1), x",
    "y = x + 1; z = x + 1; return z, y, y[1:]",
    "return x.sum().expand(4), x",
    "y = x * 1; return y.expand(2, 4), x",
    "y = torch.zeros_like(x).view(2, 2); return y.expand(3, 2, 2), x",
    "y = x.sum(); return y.expand(2), y, y * 1",
    "y = x * 2; return y.view(torch.int32), y",
    "y = x.sum(); return y.view(torch.int32), y",
    "y = x * x; v = y[1:]; v.mul_(2); return v, y",
    "return (x.view(2, 2) * 1).diagonal(), x",
    "return (x * 1)[::2], x * 2",
    "y = x * x; v = y[1:]; u = v[1:]; u.mul_(2); return u, y",
    "y = x * x; v = y[1:]; u = v[1:]; u.mul_(2); return u, v",
    "y = x.clone().view(2, 2); u = y.t()[1]; u.mul_(2); return u, y.t(), y",
    "y = x.clone().view(2, 2); u = y.t()[1]; u.mul_(2); return u, x",
    "y = x.clone(); v = y.view(2, 2); u = v.detach(); u.mul_(2); return u, v",
    "y = x * 1; v = y.detach()[1:]; u = v[1:].detach(); u.mul_(2); return u, v, y",
    "v = x[1:]; u = v[1:]; u.mul_(2); return u, v, x",
    "v = x.detach()[1:]; x.mul_(2); return v, x.view(2, 2)",
)


@pytest.mark.parametrize("backend", ["numpy", "inductor"])
@pytest.mark.parametrize("line", RESULTS)
def test_what_results_share(line: str, backend: str) -> None:
    scope: dict[str, Any] = {"torch": torch}
    exec("def f(x):\n    " + line.replace("; ", "\n    "), scope)
    found = []
    for f in (scope["f"], torch.compile(scope["f"], backend=backend)):
        torch.manual_seed(1)
        found.append([])
        for k in range(3):
            x = torch.arange(4.0) + k
            results = f(x)
            strides = [t.stride() for t in results]
            if 0 not in strides[0]:
                results[0].zero_()
            found[-1].append((repr(results), strides, [t._version for t in (x, *results)], x.tolist()))
            wait()
    assert found[0] == found[1]


@pytest.mark.parametrize("backend", ["numpy", "inductor"])
@pytest.mark.parametrize(
    "line",
    [
        "y = w * x; return y, y[1:]",
        "y = w * x; return y[:2], y[1:]",
        "y = w * x; v = y.view(2, 2); return v.t(), v[1]",
        "y = w * x; return y, y.detach()[1:]",
        "y = w * x; return y.detach()[:2], y[1:]",
        "y = w.detach() * x; return y, y[1:]",
        "y = x * 2; v = y[1:]; v.mul_(w[1:]); return y, v[1:]",
        "return w[1:], w[2:]",
    ],
)
@pytest.mark.parametrize("again", [False, True])
def test_a_write_to_a_result_reaches_the_history_of_those_that_share_its_memory(
    line: str, backend: str, again: bool
) -> None:
    scope: dict[str, Any] = {}
    exec("def f(x, w):\n    " + line.replace("; ", "\n    "), scope)

    def gradients(f: Any, k: int) -> Any:
        w, p = (torch.arange(4.0).add(k).requires_grad_() for k in (k, 2))
        one, other = f(torch.ones(4), w)
        loss = (one * p[:2] if one.numel() == 2 else one.reshape(-1) * p[: one.numel()]).sum()
        try:
            other.mul_(3)
            loss = loss + (one * one).sum()
            found = torch.autograd.grad(loss, (w, p), create_graph=again, allow_unused=True)
        except RuntimeError as error:
            return str(error)[:60]
        return [None if g is None else g.tolist() for g in found]

    compiled = torch.compile(scope["f"], backend=backend)
    for k in range(3):
        assert gradients(compiled, k) == gradients(scope["f"], k)
        wait()


@pytest.mark.parametrize("backend", ["numpy", "inductor"])
@pytest.mark.parametrize(
    "value",
    [
        "x * w",
        "(x * w)[1:]",
        "(x * w).exp()",
        "(x * w).exp_()",
        "(x * w).relu_()",
        "(x * w).relu()",
        "x + w",
        "(x * w).view(2, 2).t()",
        "w.sum() * x",
    ],
)
def test_a_result_that_is_written_is_stale_where_the_backward_pass_needs_it(value: str, backend: str) -> None:
    scope: dict[str, Any] = {"torch": torch}
    exec(f"def f(x, w):\n    return {value}", scope)
    found = []
    for f in (scope["f"], torch.compile(scope["f"], backend=backend)):
        found.append([])
        for k in range(3):
            w = torch.ones(4, requires_grad=True)
            try:
                f(torch.arange(4.0) + k, w).add_(1).sum().backward()
            except RuntimeError as error:
                found[-1].append(str(error).partition(":")[0])
            else:
                found[-1].append(w.grad.tolist())
            wait()
    assert found[0] == found[1]


def test_what_is_refused_of_an_expanded_input_is_refused_before_it_is_recorded() -> None:
    def indexed(x: Any) -> Any:
        x[torch.tensor([0, 0])] += 1
        return x.sum()

    def added(x: Any) -> Any:
        x.add_(1)
        return x.sum()

    def masked(x: Any) -> Any:
        x[x < 2] = 5
        return x.sum()

    for f in (indexed, added, masked):
        found = []
        for g in (f, torch.compile(f, backend="numpy")):
            x = torch.arange(3.0).expand(2, 3)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    found.append((g(x).item(), x.tolist()))
                except RuntimeError as error:
                    found.append((str(error), x.tolist()))
        assert found[0] == found[1]


def test_a_written_input_of_another_order_keeps_its_values() -> None:
    """What is written is copied in the input's order: its buffer may be that of values that are computed later."""

    def f(x: Any, y: Any) -> Any:
        x.mul_(2)
        for _ in range(3):
            y = (y * 3 - 1).sin()
        return y

    compiled = torch.compile(f, backend="numpy")
    for _ in range(3):
        x = torch.arange(3.0).as_strided((1, 3), (1, 1))
        compiled(x, torch.ones(1, 3))
        assert x.tolist() == [[0.0, 2.0, 4.0]]


@pytest.mark.parametrize("line", ["x.t_(); x.mul_(2)", "x.mul_(2); x.t_()", "x.t_(); x.resize_(2)", "x.unsqueeze_(0)"])
def test_an_input_that_is_transposed_in_place(line: str) -> None:
    scope: dict[str, Any] = {}
    exec("def f(x):\n    " + line.replace("; ", "\n    "), scope)
    found = []
    for f in (scope["f"], torch.compile(scope["f"], backend="numpy")):
        for k in range(2):
            memory = torch.arange(4.0) + k
            x, y = memory.view(2, 2), torch.arange(4.0).view(2, 2)
            f(x)
            f(y)
            found.append((memory.tolist(), *[(t.tolist(), t.stride(), t._version) for t in (x, y)]))
    assert found[:2] == found[2:]


@pytest.mark.parametrize("line", ["return x[0]", "return x.view(-1)[1:]", "with torch.no_grad(): return x[0]"])
@pytest.mark.parametrize("shape", [(6,), (2, 3)])
def test_views_of_a_leaf_that_is_a_view(line: str, shape: tuple[int, ...]) -> None:
    """What comes back is a view of the leaf, and not of its base, which has no gradient."""
    scope: dict[str, Any] = {"torch": torch}
    exec(f"def f(x):\n    {line}", scope)
    compiled = torch.compile(scope["f"], backend="numpy")
    for _ in range(3):
        found = []
        for f in (scope["f"], compiled):
            x = torch.arange(6.0).view(shape).requires_grad_()
            y = f(x)
            found.append((y.requires_grad, y.grad_fn is None, y._is_view()))
            if y.grad_fn is not None:
                y.sum().backward()
                found.append(x.grad.tolist())
        assert found[: len(found) // 2] == found[len(found) // 2 :]


@pytest.mark.parametrize("one", ["x.split(1, -1)[-1]", "x.unbind(1)[0]", "x.aminmax(dim=0)[0]"])
def test_the_graph_of_the_recorded_call_goes_back(one: str) -> None:
    """Of several results only one is used: the others' cotangents are zeros of a dtype."""
    scope: dict[str, Any] = {}
    exec(f"def f(x): return {one}", scope)
    f = torch.compile(scope["f"], backend="numpy")
    for _ in range(2):
        x, y = (torch.arange(6.0).view(2, 3).requires_grad_() for _ in range(2))
        f(x).double().sum().backward()
        scope["f"](y).double().sum().backward()
        assert torch.equal(x.grad, y.grad)


def test_manual_steps_of_parameters() -> None:
    """``p.data.sub_(...)``, as old programs train: one program, and the same digits."""

    def train(compile_: Any) -> list[Any]:
        torch.manual_seed(0)
        net, target = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)

        def step(x: Any) -> Any:
            loss = (net(x) - target(x).detach()).pow(2).mean()
            loss.backward()
            for p, q in zip(net.parameters(), target.parameters(), strict=True):
                p.data.sub_(0.1 * p.grad.data)
                q.data.mul_(0.9).add_(p.data, alpha=0.1)
                p.grad.data.zero_()
            return loss.detach()

        f = compile_(step)
        found = [f(torch.full((2, 3), float(k))).item() for k in range(4)]
        if f is not step:
            assert not f._compiled.breaks and f._compiled.programs
        return [found, [(p.tolist(), p._version) for p in (*net.parameters(), *target.parameters())]]

    assert train(lambda f: f) == train(lambda f: torch.compile(f, backend="numpy"))


def test_inputs_that_share_memory_in_a_later_call() -> None:
    """Arrays that passed once are not looked at again, but what they have in common with others is."""

    def f(x: Any, y: Any) -> Any:
        y.add_(1)
        return x * 2

    found = []
    for g in (f, torch.compile(f, backend="numpy")):
        a, b = torch.arange(4.0), torch.ones(4)
        pairs = [(a, b), (a, a.detach()), (a, a.detach()), (a, a), (a, b), (b, a), (b, b[:]), (b, b[:]), (a, b)]
        pairs += [(a, torch.ones(4, dtype=torch.float64)), (a, torch.ones(1)), (a, torch.ones(8)[::2]), (a, b.data)]
        found.append([(g(*pair).tolist(), pair[1].tolist()) for pair in pairs])
        del pairs
        found[-1] += [g(torch.full((k % 3 + 1,), 1.0 + k), torch.zeros(k % 3 + 1)).tolist() for k in range(12)]
    assert found[0] == found[1]


@pytest.mark.parametrize("backend", ["numpy", "inductor"])
def test_gradients_that_are_equal_have_their_own_memory(backend: str) -> None:
    """Both leaves of a sum get one cotangent; what is then done to one's gradient must not reach the other's."""
    a, b = (torch.ones(3, requires_grad=True) for _ in range(2))
    step = torch.compile(lambda: (a + b).sin().sum().backward(), backend=backend)
    for _ in range(3):
        a.grad = b.grad = None
        step()
        wait()
        a.grad.zero_()
        assert b.grad.count_nonzero() == 3


STEPS = {  # before the step, after it; ``w`` has a gradient already, ``m`` is the optimizer's state
    "data": ("v = w.data", "v * 2"),
    "detached": ("v = w.detach()[1:]", "v.sum() * w"),
    "view": ("v = w.view(3, 1)", "v.relu()"),
    "narrowed": ("v = w[:2]", "v * 2"),
    "written": ("v = w.data", "v.mul_(0.5).sum() * w.detach()"),
    "gradient": ("v = w.grad[1:]", "v * 2"),
    "gradient detached": ("v = w.grad.detach()", "v.mul_(0.5).sum() * w.grad"),
    "gradient given": ("w.grad = flat[:3]", "flat * 2"),
    "momentum": ("v = m[:2]", "v * 2"),
    "momentum afterwards": ("m", "m * 2"),
    "momentum written": ("m.mul_(0.5)", "w * 1"),
}


@pytest.mark.parametrize("owner", ["leaf", "view"])
@pytest.mark.parametrize("case", STEPS)
def test_what_shares_memory_with_what_a_step_writes(case: str, owner: str) -> None:
    before, after = STEPS[case]
    found = []
    for compile_ in (lambda f: f, lambda f: torch.compile(f, backend="numpy")):
        w = torch.tensor([0.5, -1.0, 2.0]) if owner == "leaf" else torch.arange(12.0).view(4, 3)[1]
        optimizer = torch.optim.SGD([w.requires_grad_()], lr=0.1, momentum=0.9)
        (w.sin() * w).sum().backward()
        optimizer.step()
        scope = {"torch": torch, "w": w, "optimizer": optimizer, "flat": torch.zeros(6)}
        scope["m"] = optimizer.state[w]["momentum_buffer"]
        text = f"def f():\n    {before}\n    (w.sin() * w).sum().backward()\n    optimizer.step()\n    return {after}"
        exec(text, scope)
        f = compile_(scope["f"])
        found.append([(f().tolist(), w.tolist(), w.grad.tolist()) for _ in range(4)])
    assert found[0] == found[1]


@pytest.mark.parametrize("change", ["t_()", "unsqueeze_(0)", "as_strided_((3,), (2,))"])
@pytest.mark.parametrize("backend", ["numpy", "eager"])
def test_views_of_a_tensor_whose_shape_changes(change: str, backend: str) -> None:
    scope: dict[str, Any] = {}
    exec(f"def f(x):\n    y = x[1:]; y.mul_(2); z = x.view(-1); z[0] = 9; x.{change}; return y, z, x * 1", scope)
    found = []
    for f in (scope["f"], torch.compile(scope["f"], backend=backend)):
        inputs = [torch.arange(6.0).view(2, 3) + k for k in range(3)]
        found.append([([t.tolist() for t in f(x)], x.tolist()) for x in inputs])
    assert found[0] == found[1]


def test_an_integer_that_is_written_gets_no_history() -> None:
    def f(w: Any, x: Any) -> Any:
        w.copy_(x * 1)
        return w + 0

    compiled = torch.compile(f, backend="numpy")
    for _ in range(3):
        w = torch.zeros(3, dtype=torch.int32)
        assert compiled(w, torch.ones(3, requires_grad=True)).tolist() == [1, 1, 1]
        assert not w.requires_grad and not compiled._compiled.broken


@pytest.mark.parametrize("backend", ["numpy", "inductor"])
@pytest.mark.parametrize("value", ["w.grad", "w.grad[1:]", "w.grad.detach()", "w.grad.view(3, 1), w.grad, w.grad * 1"])
def test_a_gradient_that_is_returned_is_the_one_of_the_leaf(value: str, backend: str) -> None:
    w = torch.ones(3, requires_grad=True)
    scope = {"w": w}
    exec(f"def step(x):\n    w.grad = None\n    (w * x).sum().backward()\n    return {value}", scope)
    compiled = torch.compile(scope["step"], backend=backend)
    for k in range(3):
        made = compiled(torch.full((3,), 2.0 + k))
        first = made[0] if isinstance(made, tuple) else made
        first[1:] = 0
        kept = 1 + (first.numel() == 2)
        assert w.grad.tolist() == [2.0 + k] * kept + [0.0] * (3 - kept)
        assert w.grad._version == first._version == 1
        assert value != "w.grad" or first is w.grad
        wait()


@pytest.mark.parametrize("backend", ["numpy", "inductor"])
def test_a_program_keeps_no_memory_of_the_recorded_call(backend: str, no_gc: Any) -> None:
    weight = torch.ones(3, requires_grad=True)
    compiled = torch.compile(lambda x: ((x * weight).sin(), x.view(-1)), backend=backend)
    for _ in range(3):
        x = torch.ones(3)
        memory = weakref.ref(x._payload)
        compiled(x)[0].sum().backward()
        wait()
        del x
        assert memory() is None


@pytest.mark.parametrize("backend", ["numpy", "inductor"])
def test_views_under_no_grad_share_memory_after_the_first_call_too(backend: str) -> None:
    """A view of what requires grad does too, and was recorded as the view of another tensor."""

    def f(x: Any) -> Any:
        x.mul_(2)
        return x[0], x.view(-1)

    compiled = torch.compile(f, backend=backend)
    with torch.no_grad():
        for _ in range(3):
            x = torch.ones(2, 2, requires_grad=True)
            row, flat = compiled(x)
            x.zero_()
            assert row.tolist() == [0, 0] and flat.tolist() == [0, 0, 0, 0]


def test_out_after_a_change_of_the_program() -> None:
    """It was TypeError: a call that has changed something is not made again, and out= cannot be recorded."""
    layer = torch.nn.ReLU()

    def f(x: Any, out: Any, k: int) -> Any:
        layer.k = k
        return torch.add(x, x, out=out) * 2

    compiled = torch.compile(f)
    for k in range(3):
        out = torch.zeros(2)
        assert compiled(torch.ones(2), out, k).tolist() == [4, 4]
        assert out.tolist() == [2, 2] and out._version == 1 and layer.k == k


@pytest.mark.parametrize(
    "line", ["v = x * 2", "v = (x * 2).view(-1)", "v = x.view(-1)", "v = torch.ones(3); v = v[1:]"]
)
def test_what_inference_mode_makes_inside_of_a_call(line: str) -> None:
    """It was "Inference tensors do not track version counter."."""
    scope = {"torch": torch}
    exec(f"def f(x):\n    with torch.inference_mode():\n        {line}\n    return v, x + 1", scope)
    f: Any = scope["f"]
    compiled = torch.compile(f)
    for requires_grad in (False, True):
        x = torch.ones(2, 2, requires_grad=requires_grad)
        for _ in range(3):
            (got, after), (want, _) = compiled(x), f(x)
            assert got.tolist() == want.tolist() and got.is_inference() is want.is_inference()
            assert after.requires_grad is requires_grad
