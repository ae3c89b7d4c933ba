"""Backward passes and the graph's surface: what is called, in which order, and what is said, as in PyTorch."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from programs import running

import wengert as T

PROGRAMS = running.programs("engine")


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_logs_what_torch_logged(name: str) -> None:
    assert running.log_of(PROGRAMS[name], T) == running.recorded("engine")[name]


def test_recorded_logs_are_torchs(torch: ModuleType) -> None:
    assert {k: running.log_of(p, torch) for k, p in PROGRAMS.items()} == running.recorded("engine")


# ------------------------------------------------------------------------------------------------ where wengert differs
def test_a_gradient_is_the_same_whatever_else_is_asked_for() -> None:
    # torch leaves out a tensor's hooks if the tensor is asked for together with what it was computed from
    x = T.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    z = (y * 3).sum()
    (alone,) = T.autograd.grad(z, [y], retain_graph=True)
    _, together = T.autograd.grad(z, [x, y])
    assert alone.tolist() == together.tolist() == [30, 30]


def test_gradients_never_share_the_users_memory() -> None:
    x = T.ones(2, requires_grad=True)
    v = T.ones(2)
    x.backward(v)
    (g,) = T.autograd.grad(x.view(2), x, v)
    g.add_(1)
    x.grad.add_(1)
    assert v.tolist() == [1, 1]
    y = x * 1
    y.retain_grad()
    y.backward(v)
    y.grad.add_(5)
    assert v.tolist() == [1, 1]


# ------------------------------------------------------------------------------------------------------------- size
def test_a_million_nodes_deep(no_gc: None) -> None:
    x = T.ones(1, requires_grad=True)
    y = x
    for _ in range(1_000_000):
        y = y * 1.0
    y.backward(T.ones(1))
    assert x.grad.item() == 1
    ref = weakref.ref(y.grad_fn)
    del y
    assert ref() is None


def test_deep_graphs_in_every_kind_of_pass() -> None:
    depth = sys.getrecursionlimit() * 3
    x = T.ones(1, dtype=T.float64, requires_grad=True)
    y = x
    for _ in range(depth):
        y = y + x * 1e-6
    (g,) = T.autograd.grad(y, x, T.ones(1, dtype=T.float64), create_graph=True)
    assert g.item() == pytest.approx(1 + depth * 1e-6)
    y.backward(T.ones(1, dtype=T.float64), inputs=[x])
    x.register_hook(lambda g: None)  # leaves with hooks: the graph is looked through first
    y.backward(T.ones(1, dtype=T.float64))
    assert x.grad.item() == pytest.approx(2 * (1 + depth * 1e-6))


def test_wide_graphs() -> None:
    x = T.ones(2, requires_grad=True)
    total = sum(((x * float(i)) for i in range(3000)), T.zeros(2))
    total.sum().backward()
    assert x.grad.tolist() == [3000 * 2999 / 2] * 2
    many = T.cat([x[0:1] * float(i) for i in range(500)])
    many.sum().backward()
    assert x.grad[0].item() == 3000 * 2999 / 2 + 500 * 499 / 2


def test_undefined_gradients_are_looked_for_once() -> None:
    class Nothing(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return None

    x = T.ones(1, requires_grad=True)
    y = x
    for _ in range(2000):
        y = y + Nothing.apply(y)
    y.sum().backward()
    assert x.grad.item() == 1


# ---------------------------------------------------------------------------------------------------------- threads
def test_backward_in_several_threads_on_one_graph() -> None:
    x = T.ones(100, requires_grad=True)
    y = (x.exp() * x).sum()
    errors: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(20):
                y.backward(retain_graph=True)
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors
    np.testing.assert_allclose(x.grad.numpy(), np.full(100, 80 * 2 * np.e), rtol=1e-4)


def test_separate_graphs_in_several_threads() -> None:
    results: dict[int, float] = {}

    def work(k: int) -> None:
        w = T.full((10,), float(k), requires_grad=True)
        for _ in range(50):
            w.grad = None
            (w * w).sum().backward()
        results[k] = w.grad.sum().item()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == {k: 20.0 * k for k in range(4)}


# ------------------------------------------------------------------------------------------------------------ leaks
def test_nothing_waits_for_the_collector(no_gc: None) -> None:
    refs: list[weakref.ref] = []

    def keep(*values: object) -> None:
        refs.extend(weakref.ref(v) for v in values)

    x = T.ones(3, requires_grad=True)
    y = x.exp()
    y.register_hook(lambda g: g)
    y.retain_grad()
    y.grad_fn.register_hook(lambda a, b: None)
    y.grad_fn.register_prehook(lambda a: None)
    handle = x.register_post_accumulate_grad_hook(lambda t: None)
    y.sum().backward()
    keep(x, y, y.grad_fn, y.grad)
    base = x * 1
    view = base[1:]
    view.mul_(2)
    other = base[0]
    keep(base, view, other, base.grad_fn, view.grad_fn)
    edge = T.autograd.graph.get_gradient_edge(base)
    keep(edge.node)
    values, _ = (x * 1).sort()
    keep(values, values.grad_fn)
    with T.autograd.graph.saved_tensors_hooks(lambda t: t.detach().numpy().copy(), T.from_numpy):
        packed = (x * 1).exp()
    keep(packed, packed.grad_fn)
    del x, y, base, view, other, edge, values, packed
    assert [r() for r in refs] == [None] * len(refs)
    handle.remove()
    assert not gc.isenabled()


def test_a_leaf_is_made_again_from_the_graph() -> None:
    y = T.ones(2, requires_grad=True) * 3
    leaf = y.grad_fn.next_functions[0][0].variable
    y.sum().backward()
    assert leaf.grad.tolist() == [3, 3]
    assert leaf.is_leaf and leaf.requires_grad


def test_grad_of_a_tensor_on_the_way_to_an_output_that_was_saved_and_found_again() -> None:
    x = T.tensor([[3.0, 1.0], [2.0, 5.0]], dtype=T.float64, requires_grad=True)
    q, r = T.linalg.qr(x) if hasattr(T.linalg, "qr") else (None, None)
    if q is None:
        pytest.skip("no qr yet")
    (g,) = T.autograd.grad((q * q * q).sum() + r.sum(), x, create_graph=True)
    (by_q,) = T.autograd.grad((g * g).sum(), q, retain_graph=True)
    assert np.abs(by_q.numpy()).max() > 0


def what_is_asked_for(library: ModuleType) -> list[tuple[str, list[bool]]]:
    """Which cotangents the hooks of nodes see in passes for some inputs."""
    told: list[tuple[str, list[bool]]] = []

    class Both(library.autograd.Function):  # type: ignore[name-defined, misc]
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            return x + y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g, g

    def hooked(t: Any) -> Any:
        t.grad_fn.register_hook(lambda gi, go: told.append((t.grad_fn.name(), [g is not None for g in gi])))
        return t

    x, y = (library.ones(3, requires_grad=True) for _ in "xy")
    w = hooked(x * 3)
    for z in (hooked(w * y), hooked(Both.apply(w, y))):
        for inputs in (x, y, w, (x, y)):
            library.autograd.grad(z.sum(), inputs, retain_graph=True)
        z.sum().backward(inputs=[y], retain_graph=True)
    return told


def test_hooks_see_the_cotangents_that_a_pass_asks_for(torch: ModuleType) -> None:
    expected = what_is_asked_for(torch)
    assert ("MulBackward0", [False, True]) in expected
    assert what_is_asked_for(T) == expected


def what_leaves_are_told(library: ModuleType) -> list[Any]:
    """What the hooks of two leaves are told by passes for some of them: no edge leads to ``a``, or only ``None``."""
    told: list[Any] = []

    def leaf(name: str) -> Any:
        t = library.ones(3, requires_grad=True)
        node = t.view_as(t).grad_fn.next_functions[0][0]
        t.register_post_accumulate_grad_hook(lambda t: told.append((name, t.grad is None)))
        t.register_hook(lambda g: told.append((name, "tensor", g is None)))
        node.register_hook(lambda gi, go: told.append((name, "node", go[0] is None)))
        t.node = node
        return t

    class Second(library.autograd.Function):  # type: ignore[name-defined, misc]
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            return x + y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return None, g

    a, b = leaf("a"), leaf("b")
    for y in ((b * 2).sum(), Second.apply(a, b).sum()):
        for inputs in ([a], [b], [a, b]):
            told.append("pass")
            y.backward(inputs=inputs, retain_graph=True)
    return told


def test_a_pass_tells_a_leaf_that_no_edge_leads_to_nothing(torch: ModuleType) -> None:
    assert what_leaves_are_told(T) == what_leaves_are_told(torch)


def what_hooks_are_told(library: ModuleType) -> list[int]:
    """How many cotangents the hooks of nodes get whose last output is an index, and one whose outputs are all real."""
    told: list[int] = []
    x = library.ones(2, 3, requires_grad=True)
    results = [x.max(0)[0], x.sort(0)[0], x.topk(1)[0], x.unbind(0)[0]]
    for y in results:
        y.grad_fn.register_prehook(lambda gs: told.append(len(gs)))
        y.grad_fn.register_hook(lambda gi, go: told.append(len(go)))
        y.sum().backward()
    return [*told, x.max(0)[0].grad_fn(library.ones(3)).shape[0]]


def test_posthooks_get_the_gradients_that_a_limited_pass_computes() -> None:
    """None for the others; ``cat`` and custom functions compute all of theirs, as in PyTorch."""

    class Product(T.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a * b

        @staticmethod
        def backward(ctx, g):
            return g, g

    a, b = T.ones(2, requires_grad=True), T.ones(2, requires_grad=True)
    seen = []
    for made in (T.mul, lambda a, b: T.lerp(a, b, a), lambda a, b: T.cat([a, b]), Product.apply):
        for limited in ([a], [b], [a, b]):
            y = made(a * 1, b * 1)
            y.grad_fn.register_hook(lambda inputs, outputs: seen.append([g is not None for g in inputs]))
            y.sum().backward(inputs=limited)
    assert seen == [
        *([True, False], [False, True], [True, True]),
        *([True, False, True], [False, True, False], [True, True, True]),
        *[[True, True]] * 6,
    ]


@pytest.mark.parametrize("join", [T.cat, T.stack])
def test_posthooks_of_joined_tensors_get_the_gradients_of_constants(join: Any) -> None:
    x = T.ones(2, requires_grad=True)
    y = join([x, T.zeros(2), x])
    seen: list[Any] = []
    edges = y.grad_fn.next_functions
    y.grad_fn.register_hook(lambda inputs, outputs: seen.extend(inputs))
    y.grad_fn.register_hook(lambda inputs, outputs: tuple(g * 2 for g in inputs))
    assert y.grad_fn.next_functions == edges and edges[1] == (None, 0)
    (y * 3).sum().backward()
    assert [g.tolist() for g in seen] == [[3, 3]] * 3
    assert x.grad.tolist() == [12, 12]


def test_indices_have_no_cotangents() -> None:
    assert what_hooks_are_told(T) == [1, 1, 1, 1, 1, 1, 2, 2, 2]


def test_indices_have_no_cotangents_in_torch(torch: ModuleType) -> None:
    assert what_hooks_are_told(torch) == what_hooks_are_told(T)
