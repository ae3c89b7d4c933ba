"""What PyTorch's suites of modules ask: hooks, lazy modules, pruning, embeddings, gradients of convolutions."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest

import wengert as T
from wengert import nn
from wengert._base.modes import slow_hooks
from wengert.nn import functional as F
from wengert.nn.utils import prune


def test_full_backward_hooks_get_zeros_for_inputs_that_do_not_require_grad() -> None:
    seen: list[Any] = []
    m = nn.Module()
    m.forward = lambda x, y, n: x + y * n  # type: ignore[method-assign]
    m.register_full_backward_hook(lambda m, inputs, outputs: seen.append(inputs))
    x, y = T.ones(2, requires_grad=True), T.ones(2)
    m(x, y, 3).sum().backward()
    assert [g if g is None else g.tolist() for g in seen[0]] == [[1, 1], [0, 0], None]
    assert x.grad.tolist() == [1, 1] and y.grad is None


@pytest.mark.parametrize("make", [nn.UninitializedParameter, nn.UninitializedBuffer])
def test_uninitialized_tensors_are_not_computed_with(make: Callable[[], Any]) -> None:
    p = make()
    uses: list[Callable[[Any], Any]] = [
        lambda p: p + 1, lambda p: 2 * p, lambda p: p.sum(), T.exp, lambda p: p.clone(), lambda p: T.cat([p, p]),
    ]  # fmt: skip
    for use in uses[:-1]:
        with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter in"):
            use(p)
    assert p.double().dtype is T.float64
    p.materialize((2,))
    for use in uses:
        use(p)
    del p
    gc.collect()
    assert not slow_hooks


def test_lazy_layers_leave_nothing_on() -> None:
    layers = [nn.LazyLinear(2), nn.LazyConv2d(2, 1), nn.LazyBatchNorm1d()]
    assert len(slow_hooks) == 1
    layers[0](T.ones(1, 3))
    layers.clear()
    gc.collect()
    assert not slow_hooks


def test_amounts_of_pruning() -> None:
    with pytest.raises(TypeError, match="Invalid type for amount"):
        prune._validate_pruning_amount_init("text")
    with pytest.raises(ValueError, match="should either be a float in the range"):
        prune._validate_pruning_amount_init(1.1)
    with pytest.raises(ValueError, match="should be smaller than the number of parameters"):
        prune._validate_pruning_amount(20, 19)
    prune._validate_pruning_amount(0.3, 0)
    assert [prune._compute_nparams_toprune(a, 17) for a in (0, 10, 1.0, 0.4)] == [0, 10, 17, 7]
    with pytest.raises(ValueError, match="Structured pruning"):
        prune._validate_structured_pruning(T.ones(3))


def test_sparse_gradient_of_a_table_without_columns() -> None:
    for rows in (0, 10):
        table = nn.Embedding(rows, 0, sparse=True)
        table(T.tensor([], dtype=T.int64) if not rows else T.tensor([[0, 2], [4, 9]])).sum().backward()
        assert table.weight.grad.is_sparse and table.weight.grad.shape == (rows, 0)


def test_max_norm_with_forward_mode_and_vmap() -> None:
    fw = T.autograd.forward_ad
    with fw.dual_level():
        dual = fw.make_dual(T.full((4, 3), 2.0), T.ones(4, 3))
        primal, tangent = fw.unpack_dual(F.embedding(T.tensor([[0, 1], [2, 2]]), dual, max_norm=1.0))
        assert tangent.equal(T.ones(2, 2, 3))
        assert bool((primal.norm(dim=-1) <= 1).all())
    tables = T.ones(2, 4, 3)
    rows = T.vmap(lambda w, i: F.embedding(i, w, max_norm=1.0))(tables, T.tensor([[0, 1], [2, 2]]))
    T.testing.assert_close(rows, T.full((2, 2, 3), 3**-0.5))
    assert [(w[:, 0] < 1).tolist() for w in tables] == [[True, True, False, False], [False, False, True, False]]
    with pytest.raises(RuntimeError, match=r"embedding_renorm_.* is not possible"):
        T.vmap(lambda i: F.embedding(i, T.ones(4, 3), max_norm=1.0))(T.tensor([[0], [1]]))


def test_the_last_bag_with_padding_has_all_that_is_left() -> None:
    table = T.arange(12.0).view(4, 3)
    for offsets in ([0, 3, 3], [0, 3, 4]):
        bags = F.embedding_bag(
            T.tensor([0, 1, 2, 3]), table, T.tensor(offsets), include_last_offset=True, padding_idx=2
        )
        assert bags.tolist() == [[1.5, 2.5, 3.5], [9, 10, 11]]


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_gradients_of_convolutions(dims: int) -> None:
    options = {"stride": 2, "padding": 1, "dilation": 2, "groups": 2}
    conv = getattr(F, f"conv{dims}d")
    x = T.randn(2, 4, *(7,) * dims, dtype=T.double, requires_grad=True)
    w = T.randn(4, 2, *(2,) * dims, dtype=T.double, requires_grad=True)
    y = conv(x, w, **options)
    g = T.randn_like(y)
    gx, gw = T.autograd.grad(y, (x, w), g)
    T.testing.assert_close(getattr(nn.grad, f"conv{dims}d_input")(x.shape, w, g, **options), gx)
    T.testing.assert_close(getattr(nn.grad, f"conv{dims}d_weight")(x, w.shape, g, **options), gw)
