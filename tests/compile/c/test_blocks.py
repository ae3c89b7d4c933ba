"""Pieces that run block by block: digits, memory, and what keeps two pieces apart."""

from __future__ import annotations

import numpy as np
import pytest
from c_programs import compiled, ready
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import wengert as torch
from wengert._compile.c import blocks, program

F = torch.nn.functional
pytestmark = pytest.mark.usefixtures("c_cache")


def run(fn, *args):
    """The results of a function's program for C, whose memory is nan before each call, and the program."""
    f = compiled(fn)
    f(*args)
    made = ready(f)[0]
    made.filled = True
    outs = f(*args)
    return [t.numpy().copy() for t in (outs if isinstance(outs, tuple) else (outs,))], made


def apart(monkeypatch, fn, *args):
    with monkeypatch.context() as patch:
        patch.setattr(program, "in_blocks", lambda p: p._segments)
        return run(fn, *args)


STEPS = {
    "softmax": lambda x, w, c: torch.softmax(x, -1),
    "log_softmax": lambda x, w, c: torch.log_softmax(x, -1),
    "norm": lambda x, w, c: F.layer_norm(x, x.shape[-1:], w),
    "tanh": lambda x, w, c: x.tanh(),
    "exp": lambda x, w, c: (-x * x).exp(),
    "columns": lambda x, w, c: x * w,
    "rows": lambda x, w, c: x + c,
    "turned": lambda x, w, c: x + x.flip(0),
    "sum": lambda x, w, c: x - x.sum(),
    "row means": lambda x, w, c: x - x.mean(-1, keepdim=True),
    "row maxima": lambda x, w, c: x / (1 + x.amax(-1, keepdim=True).abs()),
    "column means": lambda x, w, c: x - x.mean(0),
    "middle sums": lambda x, w, c: x + x.reshape(len(x), -1, 1).sum(1),
}


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    names=st.lists(st.sampled_from(sorted(STEPS)), min_size=2, max_size=6),
    rows=st.sampled_from([1, 3, 20, 160]),
    n=st.sampled_from([1, 7, 64, 1000]),
    backward=st.booleans(),
    near=st.sampled_from([64, 4096, blocks.NEAR]),
)
def test_digits_do_not_depend_on_blocks(monkeypatch, names, rows, n, backward, near):
    rng = np.random.RandomState(0)
    x = torch.tensor(rng.standard_normal((rows, n)).astype("f"), requires_grad=True)
    w, c, g = (torch.tensor(rng.standard_normal(s).astype("f")) for s in ((n,), (rows, 1), (rows, n)))

    def forward(x):
        for name in names:
            x = STEPS[name](x, w, c)
        return x

    def step():
        if not backward:
            return forward(x).detach()
        return torch.autograd.grad(forward(x), x, g)[0]

    with monkeypatch.context() as patch:
        patch.setattr(blocks, "NEAR", near)
        got, _ = run(step)
    wanted, _ = apart(monkeypatch, step)
    np.testing.assert_array_equal(got, wanted)


def test_what_only_a_block_needs_has_no_memory(monkeypatch):
    x, g = (torch.randn(400, 1000, requires_grad=k == 0) for k in range(2))

    def step():
        return torch.autograd.grad(torch.softmax(x, -1), x, g)[0]

    got, made = run(step)
    assert made.source.count("; go(f") == 1
    assert "u8 own[" in made.source
    assert not made.offsets or all(m not in made.memories for m in made.offsets)
    wanted, other = apart(monkeypatch, step)
    assert other.source.count("; go(f") == 2
    np.testing.assert_array_equal(got, wanted)


def test_a_norm_written_by_hand_is_one_run():
    x = torch.randn(200, 300)

    def norm(x):
        d = x - x.mean(-1, keepdim=True)
        return d * ((d * d).mean(-1, keepdim=True) + 1e-5).rsqrt()

    got, made = run(norm, x)
    assert made.source.count("; go(f") == 1
    np.testing.assert_allclose(got[0], F.layer_norm(x, (300,)).numpy(), rtol=1e-5, atol=1e-6)


def test_what_is_also_a_result_has_memory():
    x = torch.randn(400, 1000)

    def fn(x):
        a = x.tanh()
        return a, a.tanh()

    got, made = run(fn, x)
    assert made.source.count("; go(f") == 1
    assert "u8 own[" not in made.source
    for one, other in zip(got, fn(x), strict=True):
        np.testing.assert_allclose(one, other.numpy(), rtol=1e-6)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: x.tanh()[1:].tanh(),  # the second reads a row before the one that the first has written
        lambda x: x.tanh().t().contiguous().tanh(),
        lambda x: torch.softmax(x.tanh().sum(0), -1),
        lambda x: x.tanh() + x.tanh()[0].exp(),  # every step reads the first row
        lambda x: x.tanh().reshape(-1, 7).softmax(-1) if x.shape[0] % 7 == 0 else x.tanh().flip(1).tanh(),
    ],
)
@pytest.mark.parametrize("rows", [64, 70])
def test_other_parts_are_read_when_all_is_written(monkeypatch, fn, rows):
    x = torch.randn(rows, 64)
    got, _ = run(fn, x)
    wanted, _ = apart(monkeypatch, fn, x)
    np.testing.assert_array_equal(got[0], wanted[0])
    np.testing.assert_allclose(got[0], fn(x).numpy(), rtol=1e-5, atol=1e-6)


def test_writes_to_inputs_stay_pieces_of_their_own():
    """Inputs may lie in each other's memory."""
    whole = torch.randn(65, 64)
    x, y = whole[1:], whole[:-1]

    def fn(x, y):
        x.copy_(x.tanh())
        return torch.softmax(y.tanh(), -1)

    kept = whole.clone()
    want = fn(kept[1:], kept[:-1])
    f = compiled(fn)
    f(x.clone(), y.clone())
    ready(f)
    got = f(x, y)
    np.testing.assert_allclose(whole.numpy(), kept.numpy(), rtol=1e-6)
    np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-5, atol=1e-7)


def test_few_long_rows_are_not_joined():
    """A run of four steps would leave threads idle, and its blocks are in no cache."""
    x = torch.randn(4, 100_000)
    _, made = run(lambda x: torch.softmax(x.tanh(), -1), x)
    assert made.source.count("; go(f") == 2
