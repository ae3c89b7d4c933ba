"""``scaled_dot_product_attention`` where the batch is worked on in parts, and what it keeps for the way back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert._arrays import attention as kernels
from wengert._arrays import compiled
from wengert._ops.nn import attention as module

sdpa = wg.nn.functional.scaled_dot_product_attention

# batch and heads; queries, keys, width of keys, width of values. Weights are more than the operands in the second.
SHAPES = {
    "parts, weights kept": ((40, 4), 24, 16, 24, 20),
    "parts, weights computed anew": ((40, 4), 24, 30, 2, 3),
    "parts of the heads": ((2, 3, 9), 70, 70, 8, 6),
    "one part": ((2, 3), 5, 6, 4, 4),
    "no heads": ((70,), 30, 30, 8, 8),
    "more queries than keys": ((2, 2), 7, 3, 4, 5),
}


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of a few matrices of ``SHAPES``, by several threads."""
    monkeypatch.setattr(kernels, "_BLOCK", 1 << 15)
    monkeypatch.setattr(kernels, "_PER_MICROSECOND", 10)


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng((seed, *shape)).standard_normal(shape)


def operands(name: str) -> list[np.ndarray]:
    lead, queries, keys, width, value_width = SHAPES[name]
    return [
        draw(*lead, queries, width),
        draw(*lead, keys, width, seed=1),
        draw(*lead, keys, value_width, seed=2),
    ]


def expected(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, g: np.ndarray, hidden: np.ndarray, added: Any = 0.0
) -> tuple[np.ndarray, ...]:
    """The result and the cotangents of query, key and value, by their definitions."""
    scale = q.shape[-1] ** -0.5
    scores = np.where(hidden, -np.inf, q @ k.swapaxes(-1, -2) * scale + added)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    gp = g @ v.swapaxes(-1, -2)
    gs = p * (gp - (gp * p).sum(-1, keepdims=True)) * scale
    return p @ v, gs @ k, gs.swapaxes(-1, -2) @ q, p.swapaxes(-1, -2) @ g


HOW = ["plain", "causal", "mask", "mask by batch", "mask by head", "bool mask", "large causal"]


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("name", SHAPES)
def test_values_and_cotangents(name: str, how: str) -> None:
    q, k, v = operands(name)
    if how == "large causal":
        q = q * 300
    lengths = q.shape[-2], k.shape[-2]
    causal, mask, hidden = "causal" in how, None, np.zeros(lengths, bool)
    if causal:
        hidden = ~np.tri(*lengths, dtype=bool)
    elif how == "bool mask":
        mask = draw(*lengths) < 0.5
        mask[:, 0] = True
        hidden = ~mask
    elif how != "plain":
        lead = {"mask": (), "mask by batch": q.shape[:-2], "mask by head": (1, *q.shape[1:-2])}[how]
        mask = draw(*lead, *lengths)
    g = draw(*q.shape[:-1], v.shape[-1], seed=3)
    given = [wg.tensor(a, requires_grad=True) for a in (q, k, v)]
    y = sdpa(*given, None if mask is None else wg.tensor(mask), is_causal=causal)
    y.backward(wg.tensor(g))
    wanted = expected(q, k, v, g, hidden, 0.0 if mask is None or mask.dtype == bool else mask)
    for got, want in zip((y.detach(), *(t.grad for t in given)), wanted, strict=True):
        np.testing.assert_allclose(got.numpy(), want, atol=1e-12 * max(1, np.abs(want).max()))


@pytest.mark.parametrize("name", SHAPES)
def test_back_twice_gives_the_same(name: str) -> None:
    given = [wg.tensor(a, requires_grad=True) for a in operands(name)]
    y = sdpa(*given, is_causal=True).sum()
    first = wg.autograd.grad(y, given, retain_graph=True)
    second = wg.autograd.grad(y, given)
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


@pytest.mark.parametrize("name", SHAPES)
def test_recorded_cotangents_are_the_plain_ones(name: str) -> None:
    given = [wg.tensor(a, requires_grad=True) for a in operands(name)]
    y = (sdpa(*given, is_causal=True) ** 2).sum()
    plain = wg.autograd.grad(y, given, retain_graph=True)
    recorded = wg.autograd.grad(y, given, create_graph=True)
    for a, b in zip(plain, recorded, strict=True):
        np.testing.assert_allclose(a.numpy(), b.detach().numpy(), atol=1e-10)


def test_weights_are_kept_only_if_they_take_no_more_than_the_operands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "kernels", lambda: None)  # they keep none
    kept = {}
    for name in SHAPES:
        tape: list[Any] = []
        module.attention(*(wg.tensor(a, requires_grad=True) for a in operands(name)), None, False, 1.0, tape)
        parts, weights = tape
        kept[name] = weights[0] is not None
        assert (len(parts) > 1) is (name.startswith("parts") or name == "no heads")
    anew = [name for name, yes in kept.items() if not yes]
    assert anew == ["parts, weights computed anew", "parts of the heads", "no heads"]


def test_the_result_lies_in_memory_as_the_query_does() -> None:
    q = wg.tensor(draw(2, 5, 3, 4)).transpose(1, 2)
    assert sdpa(q, q, q).stride() == q.stride()
    q = q.contiguous()
    assert sdpa(q, q, q).stride() == q.stride()


def test_what_is_hidden_may_be_nan() -> None:
    q, k = draw(1, 4, 3), draw(1, 4, 3, seed=1)
    y = sdpa(*map(wg.tensor, (q, k, k)), is_causal=True).numpy()
    k[0, 3, 1] = np.nan
    z = sdpa(wg.tensor(q), wg.tensor(k), wg.tensor(np.nan_to_num(k)), is_causal=True).numpy()
    np.testing.assert_allclose(z[0, :3], y[0, :3], rtol=1e-12)
    assert np.isnan(z[0, 3]).all()


def test_a_mask_with_a_gradient_has_one() -> None:
    q, k, v = (wg.tensor(a, requires_grad=True) for a in operands("one part"))
    mask = wg.tensor(draw(5, 6), requires_grad=True)
    sdpa(q, k, v, mask).pow(2).sum().backward()
    step, direction = 1e-6, draw(5, 6, seed=5)
    up, down = (sdpa(q, k, v, mask + s * step * wg.tensor(direction)).pow(2).sum().item() for s in (1, -1))
    assert (mask.grad.numpy() * direction).sum() == pytest.approx((up - down) / (2 * step), rel=1e-6)


def test_operands_that_lie_in_another_order() -> None:
    arrays = [draw(2, 4, n, 8, seed=n).astype(np.float32) for n in (3, 6, 7)]
    q, k, v = arrays[0], arrays[1], arrays[1] + 1
    strided = [wg.tensor(np.ascontiguousarray(np.moveaxis(a, 0, -1))).movedim(-1, 0) for a in (q, k, v)]
    expected = sdpa(*map(wg.tensor, (q, k, v)), is_causal=True)
    np.testing.assert_allclose(sdpa(*strided, is_causal=True).numpy(), expected.numpy(), rtol=1e-5)
    np.testing.assert_allclose(expected[:, :, 0].numpy(), v[:, :, 0], rtol=1e-5)  # the first query sees the first key
