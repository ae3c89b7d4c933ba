"""Every operator's cases as C programs against eager's functions: values, nan, infinities, dtypes, shapes.

All cases of many operators are one program, whose memory is filled with nan before it runs.
"""

from __future__ import annotations

import collections
import itertools

import numpy as np
import pytest
from c_programs import Many, differences, operands_of
from op_cases import cases

import wengert as torch
from wengert._compile.c.expressions import NAMES
from wengert._compile.c.program import _REDUCTIONS, CProgram
from wengert._compile.c.rules import RULES

pytestmark = pytest.mark.usefixtures("c_cache")
HAVE_RULES = NAMES | frozenset(RULES) | _REDUCTIONS
BY_NAME: dict[str, list[int]] = collections.defaultdict(list)
for _name, _i in cases():
    BY_NAME[_name].append(_i)
WITH_RULES = sorted(set(BY_NAME) & HAVE_RULES)
WITHOUT = sorted(set(BY_NAME) - HAVE_RULES)


def run(names, dtype, strided=False, sharing=True):
    many = Many()
    for name in names:
        for i in BY_NAME[name]:
            operands, params = operands_of(name, i, dtype, strided)
            many.add(name, operands, params, i)
    program = CProgram(many.plan(sharing), filled=True)
    got = program(many.arrays)
    assert got is not None
    return many, program, got


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("strided", [False, True])
@pytest.mark.parametrize("part", range(4))
def test_operators_with_rules(part, dtype, strided):
    many, program, got = run(WITH_RULES[part::4], dtype, strided)
    assert differences(many, got, 4) == []
    assert len(program.calls) < len(many.wanted) / 2


def test_operators_without_rules_are_called():
    many, _, got = run(WITHOUT, np.float64)
    assert differences(many, got, 4) == []


def test_memory_of_its_own_for_each_value_gives_the_same_digits():
    some = WITH_RULES[::3]
    _, _, shared = run(some, np.float32)
    _, _, apart = run(some, np.float32, sharing=False)
    for a, b in zip(shared, apart, strict=True):
        np.testing.assert_array_equal(a, b)


SPECIAL = np.array(
    [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-40, 1e-45, 88.7, 89, -87, -100, -104, -150, 3e38, 1, -1, 0.5, 2.5],
    np.float32,
)
UNARY = [
    "neg", "abs", "exp", "log", "sqrt", "tanh", "erf", "sigmoid", "relu", "reciprocal", "rsqrt", "sin", "cos", "floor",
    "ceil", "round", "trunc", "sign", "sgn", "expm1", "log1p",
]  # fmt: skip
BINARY = ["add", "sub", "mul", "div", "maximum", "minimum", "pow", "eq", "lt", "ge"]


def test_special_numbers_are_eagers():
    many = Many()
    pairs = np.array(list(itertools.product(SPECIAL, SPECIAL)), np.float32)
    for name in UNARY:
        many.add(name, [np.tile(SPECIAL, 5)], ())
    for name in BINARY:
        many.add(name, [pairs[:, 0].copy(), pairs[:, 1].copy()], ())
    for name, p in (("_silu", ()), ("_gelu", ("none",)), ("_leaky_relu", (0.01,)), ("_hardtanh", (-1.0, 1.0))):
        many.add(name, [np.tile(SPECIAL, 5)], p)
    program = CProgram(many.plan())
    assert program.calls == []
    bad = []
    for (name, _), g, w in zip(many.names, program(many.arrays), many.wanted, strict=True):
        with np.errstate(all="ignore"):
            same = (g == w) | (np.isnan(g) & np.isnan(w))
            close = np.abs(g * 1.0 - w) <= 4 * np.spacing(np.maximum(np.abs(w * 1.0), np.float32(1e-38)))
        if name in ("sigmoid", "_silu"):  # NumPy's 1 / (1 + e**-x) is 0 where the true value is subnormal
            close |= (np.abs(g) < 1.2e-38) & (w == 0)
        if not np.all(same | close):
            bad.append((name, g[~(same | close)][:3], w[~(same | close)][:3]))
        zero = (g == 0) & (w == 0)
        if g.dtype.kind == "f" and not np.array_equal(np.signbit(g[zero]), np.signbit(w[zero])):
            bad.append((name, "the sign of zero"))
    assert bad == []


@pytest.mark.parametrize(("name", "low", "high", "ulp"), [
    ("exp", -100, 88, 1.5), ("tanh", -12, 12, 2), ("erf", -5, 5, 1.5), ("sigmoid", -100, 100, 3),
    ("log", 1e-40, 1e30, 1.5),
])  # fmt: skip
def test_functions_of_one_number(name, low, high, ulp):
    """Against the same in float64, in units of the last digit."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(low, high, 100_000), rng.normal(0, 1, 50_000).clip(max(low, -5), 5)])
    x = (np.abs(x) if name == "log" else x).astype(np.float32)
    single, double = Many(), Many()
    single.add(name, [x], ())
    double.add(name, [x.astype(np.float64)], ())
    (got,) = CProgram(single.plan())(single.arrays)
    want = double.wanted[0]
    off = np.abs(got - want) / np.spacing(np.maximum(np.abs(want), 1.2e-38).astype(np.float32))
    assert off.max() <= ulp


def test_windows_of_every_width():
    """Maxima and their places: equal elements, nan and infinities, rows of less and of more than a vector."""
    rng, many = np.random.default_rng(0), Many()
    widths, windows = (1, 3, 9, 12, 24, 41), ((1, 1, 0, 1), (2, 2, 0, 1), (3, 2, 1, 1), (3, 1, 1, 2), (2, 3, 1, 1))
    for w, (kernel, stride, padding, dilation), dtype in itertools.product(widths, windows, (np.float32, np.float64)):
        out = (w + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
        if out < 1:
            continue
        x = rng.integers(-3, 3, (64, 4, w, w)).astype(dtype)
        x[rng.random(x.shape) < 0.1] = np.nan
        x[rng.random(x.shape) < 0.2] = -np.inf
        many.add("max_windows", [x], tuple((k, k) for k in (kernel, stride, padding, dilation, out)))
    program = CProgram(many.plan())
    assert program.calls == []
    threads = torch.get_num_threads()
    try:
        for n in (1, 2):
            torch.set_num_threads(n)
            for g, w in zip(program(many.arrays), many.wanted, strict=True):
                np.testing.assert_array_equal(g, w)
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize("n", [5000, 100_000])
def test_a_long_sum_of_equal_numbers_is_within_four_ulp(n):
    """The worst case for a sum in float32: each addition is rounded the same way."""
    many = Many()
    many.add("mean_all", [np.full(n, 0.1, np.float32)], (), 0)
    many.add("mean_dim", [np.full((2, n), 0.1, np.float32)], ((1,), False), 1)
    got = CProgram(many.plan(True), filled=True)(many.arrays)
    exact = np.float32(0.1)
    for a in got:
        assert np.abs(a - exact).max() <= 4 * np.spacing(exact)
