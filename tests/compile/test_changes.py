"""No stale branch: one fact is changed between two calls, and the result and all effects are eager's.

Calls without a change make no new program, and one program more after it, where the function can be compiled at all.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import compile_changes
import numpy as np
import pytest
from compile_changes import CHANGES, EFFECTS

import wengert as torch

X = torch.arange(6.0).reshape(2, 3)
BREAKS = {
    "environment", "environment by getenv", "sys.modules", "tensor's version", "deterministic algorithms",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _as_before() -> Any:
    argv = list(sys.argv)
    yield
    sys.argv[:] = argv
    sys.modules.pop("conf", None)
    os.environ.pop("WENGERT_X", None)
    torch.set_grad_enabled(True)


def _numbers(t: Any) -> Any:
    return t.dtype, t.requires_grad, t.detach().double().numpy()


@pytest.mark.parametrize("row", CHANGES)
def test_a_change(row: str) -> None:
    before, value, change = CHANGES[row]
    seen: dict[str, Any] = {}
    for way in ("eager", "compiled"):
        os.environ.pop("WENGERT_X", None)
        names = compile_changes.scope()
        f = compile_changes.function(names, before, f"return {value}")
        run = f if way == "eager" else torch.compile(f, backend="numpy")
        try:
            seen[way] = [_numbers(run(X)) for _ in range(2)]
            first = None if run is f else run._compiled.count
            exec(change, names)
            seen[way] += [_numbers(run(X)) for _ in range(2)]
        finally:
            for undo in names["undo"]:
                undo()
    for got, want in zip(seen["compiled"], seen["eager"], strict=True):
        assert got[:2] == want[:2]
        np.testing.assert_allclose(got[2], want[2], rtol=1e-5, atol=1e-6)
    made = run._compiled
    assert first == 1 and made.count <= 2
    assert not made.broken or row in BREAKS or made.count == 2


@pytest.mark.parametrize("row", EFFECTS)
def test_an_effect(row: str) -> None:
    before, body, back, left = EFFECTS[row]
    seen: dict[str, Any] = {}
    for way in ("eager", "compiled"):
        names = compile_changes.scope()
        f = compile_changes.function(names, before, f"{body}\n return x * 2")
        run = f if way == "eager" else torch.compile(f, backend="numpy")
        found = []
        for k in range(1, 6):
            names["k"] = k
            exec(back, names)
            y = run(X).detach().tolist()
            found.append((y, eval(left, names)))
        seen[way] = found
    for (y, got), (z, want) in zip(seen["compiled"], seen["eager"], strict=True):
        assert y == pytest.approx(z, rel=1e-5) if not isinstance(y, list) else np.allclose(y, z, rtol=1e-5)
        assert np.allclose(got, want, rtol=1e-5) if isinstance(want, list) else got == want


def test_keyword_arguments_in_another_order() -> None:
    def f(x: Any, **ks: Any) -> Any:
        return sum(x * (k + i) ** 2 for i, k in enumerate(ks.values()))

    g = torch.compile(f, backend="numpy")
    for ks in ({"a": 1.0, "b": 2.0}, {"b": 2.0, "a": 1.0}):
        assert torch.equal(g(X, **ks), f(X, **ks)) and torch.equal(g(X, **ks), f(X, **ks))
    assert g._compiled.count == 2


def test_views_of_another_place() -> None:
    def f(x: Any, y: Any) -> Any:
        x.add_(1)
        return y * 2

    g = torch.compile(f, backend="numpy")
    for places in ((0, 2), (0, 2), (0, 1), (2, 0), (1, 3)):
        a, b = torch.arange(6.0), torch.arange(6.0)
        got, want = (fn(t[places[0] :][:2], t[places[1] :][:2]) for fn, t in ((g, a), (f, b)))
        assert torch.equal(got, want) and torch.equal(a, b)


def test_a_traced_view_knows_its_place() -> None:
    g = torch.compile(lambda x: x * x[1:].storage_offset(), backend="numpy")
    assert torch.equal(g(X), X * 3)


LAYER = torch.nn.ReLU()
ONCE = {
    "a hook": (lambda x: x.register_hook(abs), lambda x: len(x._backward_hooks)),
    "a layer's hook": (lambda x: LAYER.register_forward_hook(lambda *args: None), lambda x: len(LAYER._forward_hooks)),
    "NumPy's stream": (lambda x: np.random.rand(), lambda x: np.random.rand()),
}


@pytest.mark.parametrize("kind", ONCE)
def test_what_was_done_before_an_error_is_done_once(kind: str) -> None:
    """A call in which an operator fails is made again without a recorder, unless it has done something."""
    do, seen = ONCE[kind]

    def f(x: Any) -> Any:
        do(x)
        return x @ torch.ones(7)

    found = []
    for run in (f, torch.compile(f)):
        LAYER._forward_hooks.clear()
        np.random.seed(0)
        x = torch.ones(2, requires_grad=True)
        with pytest.raises(RuntimeError, match="size"):
            run(x)
        found.append(seen(x))
    assert found[0] == found[1]


def test_a_product_of_other_dtypes_after_a_change() -> None:
    """It was RecursionError."""

    def f(x: Any) -> Any:
        LAYER.k = 1
        return x @ torch.ones(3, 3)

    for run in (f, torch.compile(f)):
        with pytest.raises(RuntimeError, match="expected m1 and m2 to have the same dtype") as info:
            run(torch.ones(2, 3, dtype=torch.float64))
        assert not isinstance(info.value, RecursionError)


@pytest.mark.parametrize("line", ["x * s", "s * x", "x + s", "s @ x"])
def test_a_sparse_operand_after_a_change(line: str) -> None:
    """It was RecursionError, too."""
    run: Any = eval(f"lambda x: (setattr(LAYER, 'k', 1), (s := torch.eye(3).to_sparse(), {line})[1])[1]", globals())
    x = torch.arange(9.0).view(3, 3)
    want, got = run(x), torch.compile(run)(x)
    assert got.layout is want.layout and torch.equal(got.to_dense(), want.to_dense())
