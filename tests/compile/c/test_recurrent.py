"""LSTM layers in C: the steps beside NumPy's, compiled layers beside eager, and threads, which change no digit."""

from __future__ import annotations

import ctypes
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wengert as torch
from wengert._arrays import recurrent
from wengert._compile import c
from wengert._compile.c import cache
from wengert._compile.dispatch import Compiled

pytestmark = pytest.mark.usefixtures("c_cache")
UNITS = 16
ENTRIES = """
EXPORT void pack_S(T *to, T *w, T *u, T *b, T *c, i64 I, i64 H) {
  lstm_pack_S(to, w, u, b, c, I, H, 0, (H * sizeof(T) + VL * 4 - 1) / (VL * 4)); }
EXPORT void rows_S(T *out, T *hn, T *cn, T *f, T *s, T *cells, T *x, T *h, T *c, T *pack,
  i64 L, i64 N, i64 I, i64 H, i64 reverse, i64 from, i64 to) {
  lstm_rows_S(out, hn, cn, f, s, cells, x, h, c, pack, L, N, I, H, reverse, from, to); }
EXPORT void pack_back_S(T *to, T *u, i64 H) { lstm_pack_back_S(to, u, H, 0, 4 * H); }
EXPORT void back_S(T *d, T *dh, T *dc, T *g, T *gh, T *gc, T *f, T *pack,
  i64 L, i64 N, i64 H, i64 reverse, i64 from, i64 to) {
  lstm_back_S(d, dh, dc, g, gh, gc, f, pack, L, N, H, reverse, from, to); }
"""


@pytest.fixture(scope="module")
def lib(c_cache):
    typed = [ENTRIES.replace("_S", f"_{s}").replace("T *", f"{t} *").replace("(T)", f"({t})") for s, t in TYPES.items()]
    return cache.library("".join(typed))


TYPES = {"f": "float", "d": "double"}


def call(lib, name, *args):
    kinds = [ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else a for a in args]
    getattr(lib, name)(*[None if a is None else ctypes.c_int64(a) if type(a) is int else a for a in kinds])


def near(got, want, size):
    """Within 4 units of the last place of what was added up."""
    unit = 4 * np.finfo(want.dtype).eps
    np.testing.assert_allclose(got, want, rtol=unit, atol=unit * size)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from("fd"), st.integers(1, 5), st.integers(1, 15), st.integers(1, 9) | st.just(130), st.integers(1, 70),
    st.booleans(), st.booleans(), st.lists(st.booleans(), min_size=3, max_size=3), st.randoms(),
)  # fmt: skip
def test_steps(lib, s, length, batch, inputs, n, biased, reverse, there, random):
    rng = np.random.default_rng(random.randrange(1000))

    def draw(*shape):
        return rng.uniform(-1, 1, shape).astype(s)

    x, h, first = draw(length, batch, inputs), draw(batch, n), draw(batch, n)
    w, u = draw(4 * n, inputs), draw(4 * n, n)
    b, more = (draw(4 * n), draw(4 * n)) if biased else (None, None)
    kept = []
    want = recurrent.lstm_forward.__wrapped__(x, h, first, w, u, b, more, reverse, None, kept)
    pack = np.empty(-(-n // UNITS) * UNITS * 4 * (1 + inputs + n), s)
    call(lib, f"pack_{s}", pack, w, u, b, more, inputs, n)
    cuts = sorted({0, batch, *(random.randrange(batch + 1) for _ in range(2))})

    def run():
        made = [np.full(a.shape, np.nan, s) for a in (*want, *kept)]
        call_made = (*made, np.empty((length, batch, n), s), x, h, first, pack, length, batch, inputs, n)
        for begin, end in itertools.pairwise(cuts):
            call(lib, f"rows_{s}", *call_made, int(reverse), begin, end)
        return made

    made = run()
    for got, expected in zip(made, (*want, *kept), strict=True):
        near(got, np.ascontiguousarray(expected), length * (inputs + n))
    cuts = [0, batch]
    assert all(np.array_equal(a, z) for a, z in zip(made, run(), strict=True))  # however the rows are shared

    g = [
        draw(*shape) if k else None
        for k, shape in zip(there, ((length, batch, n), (batch, n), (batch, n)), strict=True)
    ]
    d, dh, dc = recurrent.lstm_gate_cotangents.__wrapped__(g, u, reverse, None, made[3])
    pack = np.empty(-(-n // (4 * UNITS)) * 4 * UNITS * 4 * n, s)
    call(lib, f"pack_back_{s}", pack, u, n)
    found = [np.full((length * batch, 4 * n), np.nan, s), np.full_like(dh, np.nan), np.full_like(dc, np.nan)]
    for begin, end in ((0, batch // 2), (batch // 2, batch)):
        sizes = length, batch, n, int(reverse), begin, end
        call(lib, f"back_{s}", *found, *g, made[3], pack, *sizes)
    for got, expected in zip(found, (d.T, dh, dc), strict=True):
        near(got, expected, 4 * n * length * max(1, np.abs(d).max(), np.abs(dh).max()))


def settled(step, x, backend="c"):
    """The function, compiled: without gradients, and where they are from the call before."""
    f = Compiled(step, backend, False)
    for _ in range(3):
        f(x)
        c.wait()
    assert not f.broken
    return f


CONFIGURATIONS = {
    "plain": {}, "no bias": {"bias": False}, "both ways": {"bidirectional": True}, "two layers": {"num_layers": 2},
    "projected": {"proj_size": 3}, "batch first": {"batch_first": True},
    "all": {"bidirectional": True, "num_layers": 2, "batch_first": True, "bias": False},
}  # fmt: skip


def step_of(keywords, dtype, batch, hidden, used):
    torch.manual_seed(0)
    layer = torch.nn.LSTM(5, hidden, dtype=dtype, **keywords)
    x = torch.randn(*((batch, 6) if "batch_first" in keywords else (6, batch)), 5, dtype=dtype, requires_grad=True)

    def step(x):
        for p in (x, *layer.parameters()):
            p.grad = None
        y, (h, cell) = layer(x)
        total = {"outputs": y.sin().sum(), "all": y.sum() * h.cos().sum() + (cell * cell).sum(), "last": h.sin().sum()}
        total[used].backward()
        return y.detach(), h.detach(), cell.detach(), x.grad, *[p.grad for p in layer.parameters()]

    return step, x


@pytest.mark.parametrize("backend", ["c", "numpy"])
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_compiled_layer_is_eagers(name, backend):
    places = list(CONFIGURATIONS).index(name)
    dtype = (torch.float32, torch.float64)[places % 2]
    batch, hidden, used = (1, 3, 7, 16)[places % 4], (17, 4, 33)[places % 3], ("outputs", "all", "last")[places % 3]
    step, x = step_of(CONFIGURATIONS[name], dtype, batch, hidden, used)
    f = settled(step, x, backend)
    got = [a.numpy().copy() for a in f(x)]
    for program in (p.forward.c for programs in f.programs.values() for p in programs) if backend == "c" else ():
        assert not program.calls
        assert (name == "projected") == ("  lstm_rows_" not in program.source)
    for a, b in zip(got, [b.numpy() for b in step(x)], strict=True):
        assert a.dtype == b.dtype
        near(a, b, max(1, np.abs(b).max()) * 6 * batch)


def test_threads_change_no_digit():
    step, x = step_of({"num_layers": 2}, torch.float32, 33, 40, "all")
    x = torch.randn(60, 33, 5, requires_grad=True)
    f, threads, found = settled(step, x), torch.get_num_threads(), []
    try:
        for n in (1, 2, 3):
            torch.set_num_threads(n)
            found.append([a.numpy().copy() for a in f(x)])
    finally:
        torch.set_num_threads(threads)
    for other in found[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(found[0], other, strict=True))


def test_few_steps_and_many_weights_are_composed():
    """Weights are not packed for three steps, and one row by many weights is not one thread's."""
    torch.manual_seed(0)
    for length, batch, hidden in ((3, 4, 8), (8, 1, 300)):
        layer = torch.nn.LSTM(4, hidden)
        program = torch.compiler.program(lambda x, layer=layer: layer(x)[0], torch.randn(length, batch, 4))
        assert "lstm_layer" not in str(program.tape)


def test_second_derivatives_are_composed():
    layer = torch.nn.LSTM(3, 4, dtype=torch.float64)
    x = torch.randn(5, 2, 3, dtype=torch.float64, requires_grad=True)

    def slope(x):
        (g,) = torch.autograd.grad(layer(x)[0].sin().sum(), x, create_graph=True)
        return torch.autograd.grad((g * g).sum(), x)[0]

    near(settled(slope, x)(x).numpy(), slope(x).numpy(), 100.0)


def test_a_compiled_layer_with_eager_backward():
    layer = torch.nn.LSTM(3, 20)
    f = torch.compile(layer)
    x = torch.randn(6, 9, 3, requires_grad=True)
    found = []
    for run in (f, f, layer):
        x.grad = None
        run(x)[0].sin().sum().backward()
        c.wait()
        found.append(x.grad.numpy())
    near(found[1], found[2], 10.0)
