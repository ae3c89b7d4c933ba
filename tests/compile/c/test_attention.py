"""Attention in C: one operator forward and one backward, with eager's values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from c_programs import compiled, ready

import wengert as torch
import wengert.nn.functional as F
from wengert._compile.c import threads

pytestmark = pytest.mark.usefixtures("c_cache")


CASES = {  # shapes of query, key, value; mask; causal; dtype
    "heads": ((2, 3, 8, 4), (2, 3, 8, 4), (2, 3, 8, 4), None, True, torch.float32),
    "other lengths": ((2, 7, 5), (2, 12, 5), (2, 12, 3), None, False, torch.float32),
    "more queries than keys": ((2, 9, 5), (2, 4, 5), (2, 4, 5), None, True, torch.float32),
    "more keys than queries": ((2, 4, 5), (2, 9, 5), (2, 9, 5), None, True, torch.float32),
    "several blocks": ((1, 2, 300, 16), (1, 2, 300, 16), (1, 2, 300, 16), None, True, torch.float32),
    "many heads": ((4, 4, 64, 16), (4, 4, 64, 16), (4, 4, 64, 16), None, True, torch.float32),
    "blocks and a mask": ((2, 200, 8), (2, 600, 8), (2, 600, 8), (200, 600), False, torch.float32),
    "a mask for each": ((2, 2, 6, 4), (2, 2, 5, 4), (2, 2, 5, 4), (2, 1, 6, 5), False, torch.float32),
    "a mask in columns": ((2, 6, 4), (2, 5, 4), (2, 5, 4), (6, 1), False, torch.float32),
    "one query": ((2, 1, 4), (2, 5, 4), (2, 5, 4), None, False, torch.float32),
    "matrices": ((6, 4), (5, 4), (5, 4), None, True, torch.float32),
    "float64": ((2, 2, 20, 4), (2, 2, 20, 4), (2, 2, 20, 4), None, True, torch.float64),
    "large float64": ((2, 1100, 4), (2, 300, 4), (2, 300, 4), None, True, torch.float64),
}


def case(name, moved=False, wanted=(True, True, True)):
    """Leaves, a mask, and a step with them: the result and the leaves' gradients. ``moved``: read in another order."""
    *shapes, mask, causal, dtype = CASES[name]
    torch.manual_seed(0)
    turns = (-3, -2) if len(shapes[0]) > 3 else (-2, -1)  # heads beside each other in a row, as a layer's product has

    def turned(t):
        return t.transpose(*turns) if moved else t

    sizes = [turned(torch.empty(s)).shape for s in shapes]
    leaves = [torch.randn(s, dtype=dtype, requires_grad=w) for s, w in zip(sizes, wanted, strict=True)]
    if mask is not None:
        mask = torch.randn(mask, dtype=dtype)
        mask[..., ::3, :] -= 40
        mask[..., 1, :] = -math.inf
    scale = None if mask is None else 0.7

    def step(*leaves):
        for t in leaves:
            t.grad = None
        y = F.scaled_dot_product_attention(*map(turned, leaves), attn_mask=mask, is_causal=causal, scale=scale)
        (y * torch.cos(torch.arange(y.numel(), dtype=y.dtype).reshape(y.shape))).sum().backward()
        return y.detach(), *[t.grad for t in leaves if t.requires_grad]

    return leaves, step


def run(leaves, step, calls=3):
    """C's results, eager's, and the C programs."""
    f = compiled(step)
    for _ in range(calls - 1):
        f(*leaves)
    made = ready(f)
    assert not f.broken
    got = [t.clone() for t in f(*leaves)]
    return got, step(*leaves), made


def close(found, wanted):
    for got, want in zip(found, wanted, strict=True):
        bound = 64 * np.finfo(got.numpy().dtype).eps
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=bound, atol=bound * want.abs().max().item())


@pytest.mark.parametrize(
    ("name", "moved"),
    [(name, False) for name in CASES] + [(name, True) for name in ("heads", "several blocks", "one query", "float64")],
)
def test_values(name, moved):
    got, want, made = run(*case(name, moved))
    close(got, want)
    assert [a.stride() for a in got] == [b.stride() for b in want]
    if name != "large float64":
        assert not any(p.calls for p in made)
        assert made[-1].source.count(" attention_back_") == 1


@pytest.mark.parametrize("wanted", [(True, False, False), (False, True, False), (True, False, True)])
def test_cotangents_that_are_not_wanted(wanted):
    got, want, made = run(*case("heads", wanted=wanted))
    close(got, want)
    assert not any(p.calls for p in made)


def test_a_masks_cotangent():
    leaves, _ = case("a mask for each")

    def step(q, k, v, mask):
        for t in (q, k, v, mask):
            t.grad = None
        F.scaled_dot_product_attention(q, k, v, mask).square().sum().backward()
        return q.grad, k.grad, v.grad, mask.grad

    got, want, _ = run([*leaves, torch.randn(2, 1, 6, 5, requires_grad=True)], step)
    close(got, want)


def test_forward_and_backward_as_programs_of_their_own():
    leaves, _ = case("heads")
    f = compiled(lambda *x: F.scaled_dot_product_attention(*x, is_causal=True))
    found = []
    for fn in (f, f, f.fn):
        for t in leaves:
            t.grad = None
        y = fn(*leaves)
        y.square().sum().backward()
        ready(f)
        found.append([y.detach(), *[t.grad for t in leaves]])
    close(found[1], found[2])


def test_nan_and_infinity():
    """A query with nan has nan, another one has not; scores of inf are nan, as in eager mode."""
    leaves, step = case("heads")
    with torch.no_grad():
        leaves[0][0, 0, 2, 1], leaves[0][1, 2, 3] = math.nan, 3e38
    got, want, _ = run(leaves, step)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a.isnan().numpy(), b.isnan().numpy())
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=1e-6)


def test_threads_change_no_digit(monkeypatch):
    leaves, step = case("many heads")
    f = compiled(step)
    for _ in range(2):
        f(*leaves)
    ready(f)
    found = []
    for n in (1, 2, 3, 5):
        monkeypatch.setattr(threads.threads, "requested", n)
        found.append([t.numpy().copy() for t in f(*leaves)])
    for more in found[1:]:
        for a, b in zip(found[0], more, strict=True):
            np.testing.assert_array_equal(a, b)
