"""Guards: each fact that a program depends on, changed between two calls; the result is eager's, by a new program."""

from __future__ import annotations

import importlib.util
import sys
import types
from typing import Any

import numpy as np
import pytest

import wengert as torch
from wengert._compile.dispatch import Compiled

SCALE = 2.0
FLAG = True
TABLE = {"scale": 2.0, "w": None}
NAMES = ["a", "b"]


def compiled(fn: Any, **options: Any) -> tuple[Any, Compiled]:
    made = torch.compile(fn, backend="numpy", **options)
    return made, made._compiled


def check(fn: Any, change: Any, *args: Any, again: Any = None) -> None:
    """Two calls, a change, two calls: eager's results, and two programs."""
    made, state = compiled(fn)
    for _ in range(2):
        assert torch.equal(made(*args), fn(*args))
    assert (state.count, state.broken) == (1, {})
    change()
    args = args if again is None else again
    for _ in range(2):
        assert torch.equal(made(*args), fn(*args))
    assert (state.count, state.broken) == (2, {})


X = torch.arange(6.0).reshape(2, 3)


@pytest.fixture(autouse=True)
def _as_before() -> Any:
    global SCALE, FLAG
    yield
    SCALE, FLAG = 2.0, True
    TABLE.update(scale=2.0, w=None)
    NAMES[:] = ["a", "b"]
    torch.set_default_dtype(torch.float32)


def _set(**values: Any) -> Any:
    return lambda: globals().update(values)


@pytest.mark.parametrize(
    "other",
    [X.double(), X[:1].clone(), X.t().contiguous().t(), X.reshape(1, 2, 3), X.clone().requires_grad_(), X.int()],
    ids=["dtype", "shape", "strides", "rank", "requires_grad", "integers"],
)
def test_facts_of_tensors(other: Any) -> None:
    check(lambda x: x * 2 + 1, lambda: None, X, again=(other,))


def test_the_same_tensor_twice() -> None:
    def fn(x: Any, y: Any) -> Any:
        return x * 2 + y

    check(fn, lambda: None, X, X.clone(), again=(X, X))


def test_a_global_number() -> None:
    check(lambda x: x * SCALE, _set(SCALE=3.0), X)


def test_a_global_flag() -> None:
    check(lambda x: x * 2 if FLAG else x - 1, _set(FLAG=False), X)


def test_a_global_container() -> None:
    check(lambda x: x * TABLE["scale"], lambda: TABLE.update(scale=4.0), X)
    check(lambda x: x * len(NAMES), lambda: NAMES.append("c"), X)


def test_a_tensor_in_a_container_is_looked_up_anew() -> None:
    TABLE["w"] = X + 1  # type: ignore[assignment]

    def fn(x: Any) -> Any:
        return x * TABLE["w"]

    made, state = compiled(fn)
    for k in range(3):
        assert torch.equal(made(X), fn(X))
        TABLE["w"] = X + k  # type: ignore[assignment]
    assert (state.count, state.broken) == (1, {})


def test_a_closure_cell() -> None:
    k = 2

    def fn(x: Any) -> Any:
        return x * k

    def change() -> None:
        nonlocal k
        k = 3

    check(fn, change, X)


def test_a_function_that_is_replaced() -> None:
    space = types.SimpleNamespace(fn=torch.sin)

    def fn(x: Any) -> Any:
        return space.fn(x)

    check(fn, lambda: setattr(space, "fn", torch.cos), X)


def test_an_attribute_of_an_object() -> None:
    class Config:
        scale = 2.0

        def apply(self, x: Any) -> Any:
            return x * self.scale

    config = Config()
    check(lambda x: config.apply(x), lambda: setattr(config, "scale", 3.0), X)


def test_an_attribute_of_a_module() -> None:
    class Scaled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = 2.0
            self.lin = torch.nn.Linear(3, 3)

        def forward(self, x: Any) -> Any:
            return self.lin(x) * self.scale

    m = Scaled()
    check(lambda x: m(x), lambda: setattr(m, "scale", 3.0), X)


def test_training_of_a_module_below() -> None:
    m = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Sequential(torch.nn.BatchNorm1d(3)))
    check(lambda x: m(x).detach(), lambda: m[1][0].eval(), X)


def test_a_layer_that_is_replaced() -> None:
    m = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
    check(lambda x: m(x), lambda: m.__setitem__(1, torch.nn.Tanh()), X)


def test_a_parameter_that_is_replaced_is_no_new_program() -> None:
    m = torch.nn.Linear(3, 3)
    made, state = compiled(lambda x: m(x))
    made(X)
    m.weight = torch.nn.Parameter(torch.ones(3, 3))
    assert torch.equal(made(X), m(X)) and state.count == 1
    m.weight = torch.nn.Parameter(torch.ones(4, 3))
    m.bias = torch.nn.Parameter(torch.ones(4))
    assert torch.equal(made(X), m(X)) and state.count == 2


def test_modes() -> None:
    w = X.clone().requires_grad_()
    made, state = compiled(lambda x: x * w)
    made(X)
    with torch.no_grad():
        assert made(X).grad_fn is None and made(X).grad_fn is None
    assert state.count == 2 and made(X).grad_fn is not None
    with torch.inference_mode():
        assert made(X).is_inference()
    made, state = compiled(lambda x: torch.ones(3) + 1)
    assert made(X).dtype is torch.float32
    torch.set_default_dtype(torch.float64)
    assert made(X).dtype is torch.float64


@pytest.mark.parametrize(("first", "second"), [(2.0, 3.0), (2, 2.0), (1, True), (0.0, -0.0), ("a", "b"), (None, 1)])
def test_arguments_that_are_no_tensors(first: Any, second: Any) -> None:
    def fn(x: Any, k: Any) -> Any:
        return x * (k if isinstance(k, (int, float)) else len(str(k))) + (1 if type(k) is int else 2)

    check(fn, lambda: None, X, first, again=(X, second))


def test_the_structure_of_arguments() -> None:
    def fn(xs: Any) -> Any:
        return sum(xs.values() if isinstance(xs, dict) else xs)

    check(fn, lambda: None, [X, X * 2], again=([X, X * 2, X + 1],))
    check(fn, lambda: None, [X, X * 2], again=({"a": X},))


def test_an_array_of_numpy() -> None:
    a = np.ones(3, np.float32)

    def fn(x: Any) -> Any:
        return x * torch.from_numpy(a * 2)

    def change() -> None:
        a[0] = 5

    check(fn, change, X)


def test_hooks_run() -> None:
    m = torch.nn.Linear(3, 3)
    made = torch.compile(m, backend="numpy")
    made(X)
    seen: list[int] = []
    m.register_forward_hook(lambda *_: seen.append(1))
    made(X)
    assert seen == [1]
    w = X.clone().requires_grad_()
    made2, _ = compiled(lambda x: (x * 2).sum())
    made2(w).backward()
    w.grad = None
    w.register_hook(lambda g: g * 10)
    made2(w).backward()
    assert w.grad is not None and torch.equal(w.grad, torch.full((2, 3), 20.0))


def test_the_limit_of_programs() -> None:
    made, state = compiled(lambda x, k: x * k)
    for k in range(12):
        assert torch.equal(made(X, k), X * k)
    assert state.count == 8


class _Finder:
    """An import hook as editable installations and pytest have: Python code, which finds nothing here."""

    asked: list[Any] = [np.random.RandomState(0)]  # what a recording cannot watch

    def find_spec(self, *args: Any) -> None:
        self.asked.append(self.told(args))

    def told(self, args: Any) -> Any:
        return args, _SEEN


_SEEN = {"finder": object()}


def test_an_import_hook_is_no_part_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "meta_path", [_Finder(), *sys.meta_path])
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    find_spec = importlib.util.find_spec

    def f(x: Any) -> Any:
        import colorsys

        return x * len(colorsys.__all__)

    assert torch.equal(torch.compile(f, backend="numpy", fullgraph=True)(X), X * 6)
    assert len(_Finder.asked) == 2

    def g(x: Any) -> Any:
        find_spec("a_module_that_is_not_there")  # as this package does where a name is asked for first
        return x + 1

    assert torch.equal(torch.compile(g, backend="numpy", fullgraph=True)(X), X + 1)


@pytest.mark.parametrize("shared", ["tensor", "array", "parts of one array", "the parameter"])
def test_gradients_that_share_memory(shared: str) -> None:
    def set_grads(p: Any, q: Any, kind: str) -> None:
        whole = torch.arange(4.0)
        p.grad, q.grad = (whole[:3], whole[1:]) if kind == "parts of one array" else (torch.arange(3.0), torch.ones(3))
        if kind == "tensor":
            q.grad = p.grad
        elif kind == "array":
            q.grad = p.grad.detach()
        elif kind == "the parameter":
            q.grad = p.detach()

    def run(p: Any, q: Any, step: Any) -> list[Any]:
        seen = []
        for kind in ("", "", "", shared, "", shared):
            set_grads(p, q, kind)
            refused = ""
            try:
                with torch.no_grad():
                    step()
            except RuntimeError as error:  # a product of parts of one array in place is refused
                refused = str(error)
            seen.append([refused, *[t.tolist() for t in (p, q, p.grad, q.grad)]])
        return seen

    def made(compiling: bool) -> list[Any]:
        p, q = (torch.nn.Parameter(torch.full((3,), k)) for k in (1.0, 2.0))

        def step() -> None:
            p.grad.add_(1)  # type: ignore[union-attr]
            q.grad.mul_(p.grad)  # type: ignore[union-attr, arg-type]
            p.add_(q.grad)  # type: ignore[arg-type]

        return run(p, q, compiled(step)[0] if compiling else step)

    assert made(True) == made(False)


OVERLAPS = {  # of ``p`` and ``q``, parts of one array; in a program what was written has other memory from then on
    "copy": "p.add_(1); q.copy_(p)",
    "in place": "p.add_(1); q.mul_(p)",
    "index": "p.add_(1); q.index_put_((torch.tensor([3, 2, 1, 0]),), p)",
    "index by a view": "p.add_(1); q.index_put_((torch.tensor([0, 1]),), p[2:])",
    "view": "p.add_(1); q[:3].copy_(p[1:])",
    "view of a view": "p.add_(1); q[1:3].copy_(p[1:][1:])",
    "detached": "p.detach().add_(1); q.mul_(p.data)",
    "computed": "y = p * 1; y.add_(1); y[1:].mul_(y[:3])",
    "computed view": "y = p * 1; v = y[1:]; v.add_(1); y[:3].mul_(v)",
}


@pytest.mark.parametrize("case", OVERLAPS)
def test_a_write_from_a_part_of_its_own_memory_is_refused_as_in_eager(case: str) -> None:
    def made(compiling: bool) -> list[Any]:
        whole = torch.arange(6.0)
        scope: dict[str, Any] = {"torch": torch, "p": whole[:4], "q": whole[2:]}
        exec("def step():\n    " + OVERLAPS[case].replace("; ", "\n    "), scope)
        function = compiled(scope["step"])[0] if compiling else scope["step"]
        with pytest.raises(RuntimeError, match="refer to a single memory location"):
            function()
        return whole.tolist()

    assert made(True) == made(False)
