"""Fused nodes show the graph that PyTorch has: `next_functions`, hooks and gradients at the nodes between."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert
import wengert.nn.functional as F
from wengert.autograd.graph import GradientEdge


def shape_of_graph(fn: Any) -> Any:
    """A graph as nested tuples of names."""
    if fn is None:
        return None
    below = tuple(shape_of_graph(child) for child, _ in fn.next_functions)
    return fn.name().rpartition("::")[2], *below


def saved_of_graph(fn: Any, lib: Any) -> Any:
    """The names and values of what every node of a graph saved; of a tensor, its shape."""
    if fn is None:
        return None
    found = {}
    for name in sorted(n for n in dir(fn) if n.startswith("_saved_")):
        value = getattr(fn, name)
        found[name] = tuple(value.shape) if lib.is_tensor(value) else value
    return fn.name(), found, [saved_of_graph(child, lib) for child, _ in fn.next_functions]


def leaf(lib: Any, *size: int, needs: bool = True) -> Any:
    values = np.sin(np.arange(1, 1 + int(np.prod(size, dtype=int)))).reshape(size).astype(np.float32)
    return lib.from_numpy(values).requires_grad_(needs)


LEAF = ("AccumulateGrad",)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ((2, 3), ("AddmmBackward0", LEAF, LEAF, ("TBackward0", LEAF))),
        ((3,), ("ViewBackward0", ("AddmmBackward0", LEAF, ("ViewBackward0", LEAF), ("TBackward0", LEAF)))),
        ((5, 2, 3), ("ViewBackward0", ("AddmmBackward0", LEAF, ("ViewBackward0", LEAF), ("TBackward0", LEAF)))),
    ],
)
def test_a_layer_shows_the_product_with_the_transposed_weight(size: tuple[int, ...], expected: Any) -> None:
    y = F.linear(leaf(wengert, *size), leaf(wengert, 4, 3), leaf(wengert, 4))
    assert shape_of_graph(y.grad_fn) == expected


def test_the_same_nodes_each_time() -> None:
    fn = F.linear(leaf(wengert, 2, 3), leaf(wengert, 4, 3), leaf(wengert, 4)).grad_fn
    first, second = fn.next_functions[2][0], fn.next_functions[2][0]
    assert first is second
    assert hash(first) == hash(second)
    assert repr(first).startswith("<TBackward0 object at 0x")


def test_looking_changes_no_digit() -> None:
    results = []
    for look in (False, True):
        x, w, b = leaf(wengert, 5, 2, 3), leaf(wengert, 4, 3), leaf(wengert, 4)
        m = leaf(wengert, 4, 6)
        y = F.linear(x, w, b) @ m @ leaf(wengert, 5, 6, 2)
        if look:
            assert "BmmBackward0" in str(shape_of_graph(y.grad_fn))
        y.sum().backward()
        results.append([t.grad.tolist() for t in (x, w, b, m)])
    assert results[0] == results[1]


def test_hooks_and_gradients_at_the_transposed_weight() -> None:
    x, w = leaf(wengert, 2, 3), leaf(wengert, 4, 3)
    y = F.linear(x, w)
    node = y.grad_fn.next_functions[1][0]
    seen = []
    node.register_prehook(lambda gs: seen.append(tuple(gs[0].shape)))
    node.register_hook(lambda gi, go: seen.append((tuple(gi[0].shape), tuple(go[0].shape))))
    (g,) = wengert.autograd.grad(y.sum(), [GradientEdge(node, 0)], retain_graph=True)
    assert tuple(g.shape) == (3, 4)
    assert seen == []
    y.sum().backward()
    assert seen == [(3, 4), ((4, 3), (3, 4))]
    assert wengert.equal(w.grad, g.t())


def test_second_order_after_looking() -> None:
    def second(look: bool) -> Any:
        x, w = leaf(wengert, 5, 2, 3), leaf(wengert, 3, 3)
        y = (x @ w) @ w.tanh()
        if look:
            shape_of_graph(y.grad_fn)
        (g,) = wengert.autograd.grad((y**2).sum(), w, create_graph=True)
        return wengert.autograd.grad((g**2).sum(), w)[0]

    np.testing.assert_allclose(second(True).numpy(), second(False).numpy(), rtol=2e-6)


def test_what_was_freed_or_written_is_still_refused() -> None:
    x, w = leaf(wengert, 2, 3), leaf(wengert, 4, 3)
    h = x * 2
    y = F.linear(h, w, leaf(wengert, 4))
    assert y.grad_fn.next_functions[1][0] is h.grad_fn
    with wengert.no_grad():
        h.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    y = F.linear(x, w)
    assert y.grad_fn.next_functions
    y.sum().backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.sum().backward()
    z = leaf(wengert, 2, 2, 3) @ w.t().detach()
    z.sum().backward()
    assert z.grad_fn.next_functions  # freed: shown as far as is known


def test_a_chain_of_layers_is_dropped_without_the_collector(no_gc: Any) -> None:
    import weakref

    w = leaf(wengert, 3, 3)
    x = leaf(wengert, 2, 3)
    for _ in range(3000):
        x = F.linear(x, w)
    fn = x.grad_fn
    count = 0
    while fn is not None and fn.name() == "MmBackward0":
        fn = fn.next_functions[0][0]
        count += 1
    assert count == 3000
    dead = weakref.ref(x.grad_fn)
    del x, fn
    assert dead() is None


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("size", [(3,), (2, 3), (5, 2, 3), (4, 5, 2, 3), (0, 3), (2, 0, 3)])
@pytest.mark.parametrize("needs", [(True, True), (False, True), (True, False)])
def test_layers_as_in_pytorch(torch: Any, size: tuple[int, ...], bias: bool, needs: tuple[bool, bool]) -> None:
    found = []
    for lib in (wengert, torch):
        x, w = leaf(lib, *size, needs=needs[0]), leaf(lib, 4, 3, needs=needs[1])
        y = lib.nn.functional.linear(x, w, leaf(lib, 4) if bias else None)
        found.append(shape_of_graph(y.grad_fn))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("left", "right"),
    [((3,), (3,)), ((3,), (3, 4)), ((2, 3), (3,)), ((2, 3), (3, 4)), ((2, 3, 4), (4,)), ((2, 3, 4), (4, 5)),
     ((2, 3, 4), (2, 4, 5)), ((2, 3, 4, 5), (2, 3, 5, 6)), ((2, 1, 4, 5), (3, 5, 6)), ((2, 3, 4, 5), (5, 6))],
)  # fmt: skip
def test_products_as_in_pytorch(torch: Any, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    found = []
    for lib in (wengert, torch):
        y = lib.matmul(leaf(lib, *left), leaf(lib, *right))
        found.append((shape_of_graph(y.grad_fn), saved_of_graph(y.grad_fn, lib)))
    assert found[0] == found[1]


SAVED = {
    "layer": lambda lib, x: lib.nn.functional.linear(x, leaf(lib, 4, 3), leaf(lib, 4)),
    "layer, no bias": lambda lib, x: lib.nn.functional.linear(x, leaf(lib, 4, 3)),
    "addmm": lambda lib, x: lib.addmm(leaf(lib, 4), x, leaf(lib, 4, 3).t(), beta=2, alpha=3),
    "mean": lambda lib, x: x.mean(),
    "mean of a dim": lambda lib, x: x.mean(1, keepdim=True),
    "sum": lambda lib, x: x.sum(),
    "sum of dims": lambda lib, x: x.sum((0, 1)),
    "view": lambda lib, x: x.view(6),
    "expand": lambda lib, x: x.expand(4, 2, 3),
    "squeeze": lambda lib, x: x[None].squeeze(0),
    "unsqueeze": lambda lib, x: x.unsqueeze(1),
    "transpose": lambda lib, x: x.transpose(0, 1),
    "permute": lambda lib, x: x.permute(1, 0),
    "clone": lambda lib, x: x.clone(),
    "add": lambda lib, x: x + x,
    "sub": lambda lib, x: x - 1,
    "mul": lambda lib, x: x * leaf(lib, 3),
    "pow": lambda lib, x: x**3,
    "exp": lambda lib, x: x.exp(),
    "softmax": lambda lib, x: x.softmax(1),
    "cat": lambda lib, x: lib.cat([x, x], 1),
    "stack": lambda lib, x: lib.stack([x, x], 1),
    "max of a dim": lambda lib, x: x.max(1)[0],
    "sort": lambda lib, x: x.sort(1)[0],
    "gather from": lambda lib, x: x.index_select(0, lib.tensor([1]))[0],
    "embedding": lambda lib, x: lib.nn.functional.embedding(lib.tensor([1, 0]), x),
    "svd": lambda lib, x: lib.linalg.svd(x, full_matrices=False)[1],
    "inverse": lambda lib, x: lib.linalg.inv(x @ x.t()),
    "select": lambda lib, x: x.select(0, 1),
    "where": lambda lib, x: lib.where(x > 0, x, 0.0),
    "masked_fill": lambda lib, x: x.masked_fill(x > 0, 1.0),
    "repeat": lambda lib, x: x.repeat(2, 1),
    "trace": lambda lib, x: x.trace(),
    "diagonal": lambda lib, x: x.diagonal(),
    "to": lambda lib, x: x.double(),
}


@pytest.mark.parametrize("name", SAVED)
def test_what_nodes_saved_is_called_as_in_pytorch(torch: Any, name: str) -> None:
    mine, theirs = (saved_of_graph(SAVED[name](lib, leaf(lib, 2, 3)).grad_fn, lib) for lib in (wengert, torch))
    assert mine == theirs
