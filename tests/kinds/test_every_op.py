"""Every operator, from the registry: what its kind promises is checked, not trusted.

Derivatives are checked in one random direction. Reverse mode is compared with a numeric derivative, forward mode with
reverse mode and the numeric one, second order with a numeric derivative of the first, vmap with a loop.
"""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest
from one_by_one import by_first
from op_cases import arguments, array, call, cases, differentiable, dot, is_variable, rng_of, tensors

import wengert as torch
from wengert._base.registry import REGISTRY
from wengert._tape.tensor import Tensor, wrap

CASES = cases()
# An operator with a node and a reason why it has no derivative is one whose backward is an error, as in PyTorch.
DIFFERENTIABLE = [c for c in CASES if REGISTRY[c[0]].node is not None and REGISTRY[c[0]].no_derivative is None]
STEP = 1e-5


def variables(name: str, operands: list[Any]) -> list[int]:
    """The operands that the operator can be differentiated by."""
    underived = REGISTRY[name].__dict__.get("underived", ())
    return [k for k, a in enumerate(operands) if is_variable(a) and k not in underived]


def directions(name: str, i: int, arrays: list[np.ndarray], what: str) -> list[np.ndarray]:
    rng = rng_of(name, i, what)
    out = []
    for a in arrays:
        v = rng.standard_normal(a.shape)
        if a.dtype.kind == "c":
            v = v + 1j * rng.standard_normal(a.shape)
        out.append(v.astype(a.dtype))
    return out


def moved(operands: list[Any], ks: list[int], vs: list[np.ndarray], h: float) -> list[Any]:
    out = list(operands)
    for k, v in zip(ks, vs, strict=True):
        out[k] = np.asarray(operands[k] + h * v)
    return out


def values(name: str, operands: list[Any], params: Any) -> list[np.ndarray]:
    with torch.no_grad():
        return [array(o) for o in differentiable(name, call(name, tensors(operands), params))]


def pullback(name: str, operands: list[Any], params: Any, us: list[np.ndarray], create_graph: bool = False) -> Any:
    ks = variables(name, operands)
    ins = tensors(operands, requires_grad=ks)
    outs = differentiable(name, call(name, ins, params))
    wanted = [ins[k] for k in ks]
    live = [(o, u) for o, u in zip(outs, us, strict=True) if o.requires_grad]
    grads = torch.autograd.grad(
        [o for o, _ in live], wanted, [wrap(u) for _, u in live], create_graph=create_graph, allow_unused=True
    )
    return wanted, [wrap(np.zeros(w.shape)) if g is None else g for w, g in zip(wanted, grads, strict=True)]


def numeric(f: Any, h: float = STEP) -> list[np.ndarray]:
    """The derivative at 0 of a function of one number, by Richardson's extrapolation of central differences."""
    fine = [(p - m) / (2 * h) for p, m in zip(f(h), f(-h), strict=True)]
    coarse = [(p - m) / (4 * h) for p, m in zip(f(2 * h), f(-2 * h), strict=True)]
    return [(4 * a - b) / 3 for a, b in zip(fine, coarse, strict=True)]


def skip_if_constant(name: str, operands: list[Any]) -> list[int]:
    ks = variables(name, operands)
    if not ks:
        pytest.skip("no operand of this sample can be differentiated")
    return ks


@by_first(CASES)
def test_forward_leaves_its_inputs_alone(name: str, i: int) -> None:
    operands, params = arguments(name, i)
    before = [a.copy() if isinstance(a, np.ndarray) else a for a in operands]
    ins = tensors(operands)
    outs = call(name, ins, params)
    assert all(isinstance(o, Tensor) and o.grad_fn is None for o in outs)
    for a, b, t in zip(operands, before, ins, strict=True):
        if isinstance(a, np.ndarray):
            np.testing.assert_array_equal(a, b)
            np.testing.assert_array_equal(array(t), b)


@by_first(DIFFERENTIABLE)
def test_reverse_mode(name: str, i: int) -> None:
    operands, params = arguments(name, i)
    ks = skip_if_constant(name, operands)
    vs = directions(name, i, [operands[k] for k in ks], "v")
    expected = numeric(lambda h: values(name, moved(operands, ks, vs, h), params))
    us = directions(name, i, expected, "u")
    _, grads = pullback(name, operands, params, us)
    for g, k in zip(grads, ks, strict=True):
        assert tuple(g.shape) == operands[k].shape
        assert array(g).dtype == operands[k].dtype
    assert dot([array(g) for g in grads], vs) == pytest.approx(dot(us, expected), rel=2e-5, abs=2e-6)


@by_first(DIFFERENTIABLE)
def test_forward_mode(name: str, i: int) -> None:
    operands, params = arguments(name, i)
    ks = skip_if_constant(name, operands)
    vs = directions(name, i, [operands[k] for k in ks], "v")

    def f(*xs: Any) -> Any:
        ins = tensors(operands)
        for k, x in zip(ks, xs, strict=True):
            ins[k] = x
        return tuple(differentiable(name, call(name, ins, params)))

    primals = tuple(wrap(operands[k].copy()) for k in ks)
    out, tangents = torch.func.jvp(f, primals, tuple(wrap(v) for v in vs))
    us = directions(name, i, [array(o) for o in out], "u")
    _, grads = pullback(name, operands, params, us)
    for o, t in zip(out, tangents, strict=True):
        assert tuple(o.shape) == tuple(t.shape)
    assert dot(us, [array(t) for t in tangents]) == pytest.approx(
        dot([array(g) for g in grads], vs), rel=1e-9, abs=1e-10
    )


@by_first(DIFFERENTIABLE)
def test_second_order(name: str, i: int) -> None:
    operands, params = arguments(name, i)
    ks = skip_if_constant(name, operands)
    us = directions(name, i, values(name, operands, params), "u")
    vs = directions(name, i, [operands[k] for k in ks], "v")
    ws = directions(name, i, [operands[k] for k in ks], "w")

    def gradients(h: float) -> list[np.ndarray]:
        return [array(g) for g in pullback(name, moved(operands, ks, vs, h), params, us)[1]]

    expected = dot(ws, numeric(gradients))
    wanted, grads = pullback(name, operands, params, us, create_graph=True)
    live = [(g, w) for g, w in zip(grads, ws, strict=True) if g.requires_grad]
    if not live:
        assert expected == pytest.approx(0, abs=1e-6)
        return
    second = torch.autograd.grad([g for g, _ in live], wanted, [wrap(w) for _, w in live], allow_unused=True)
    found = dot(
        [np.zeros(()) if s is None else array(s) for s in second],
        [np.zeros(()) if s is None else v for s, v in zip(second, vs, strict=True)],
    )
    assert found == pytest.approx(expected, rel=5e-5, abs=5e-6)


@by_first(CASES)
def test_vmap(name: str, i: int) -> None:
    info = REGISTRY[name]
    operands, params = arguments(name, i)
    ks = [k for k, a in enumerate(operands) if isinstance(a, np.ndarray)]
    if not ks or info.batch is None:
        pytest.skip("no batching rule: " + (info.no_derivative or "no tensor operand"))
    variants = [
        moved(
            operands,
            variables(name, operands),
            directions(name, i, [operands[k] for k in variables(name, operands)], f"b{j}"),
            1e-3,
        )
        for j in range(3)
    ]

    def f(*xs: Any) -> Any:
        ins = tensors(operands)
        for k, x in zip(ks, xs, strict=True):
            ins[k] = x
        outs = call(name, ins, params)
        return tuple(outs)

    stacked = [wrap(np.stack([v[k] for v in variants])) for k in ks]
    outs = torch.vmap(f)(*stacked)
    singles = [[array(o) for o in call(name, tensors(v), params)] for v in variants]
    for j, o in enumerate(outs):
        expected = np.stack([s[j] for s in singles])
        assert array(o).dtype == expected.dtype
        np.testing.assert_allclose(array(o), expected, rtol=1e-9, atol=1e-11)
    if len(ks) > 1:  # one operand mapped, the others the same for all
        outs = torch.vmap(f, in_dims=(0, *[None] * (len(ks) - 1)))(
            stacked[0], *[wrap(operands[k].copy()) for k in ks[1:]]
        )
        mixed = [[variants[j][ks[0]] if k == ks[0] else a for k, a in enumerate(operands)] for j in range(3)]
        singles = [[array(o) for o in call(name, tensors(v), params)] for v in mixed]
        for j, o in enumerate(outs):
            np.testing.assert_allclose(array(o), np.stack([s[j] for s in singles]), rtol=1e-9, atol=1e-11)


@by_first(DIFFERENTIABLE)
def test_float32_stays_float32(name: str, i: int) -> None:
    operands, params = arguments(name, i)
    ks = skip_if_constant(name, operands)
    if any(operands[k].dtype != np.float64 for k in ks) or "_to_copy" in name:
        pytest.skip("a sample of another dtype")
    narrow = [a.astype(np.float32) if is_variable(a) else a for a in operands]
    ins = tensors(narrow, requires_grad=ks)
    outs = call(name, ins, params)
    assert all(array(o).dtype != np.float64 for o in outs), "float64 from float32"
    live = [o for o in outs if o.requires_grad]
    if not live:
        pytest.skip("no output of this sample can be differentiated")
    grads = torch.autograd.grad(
        live,
        [ins[k] for k in ks],
        [wrap(np.ones(o.shape, array(o).dtype)) for o in live],
        allow_unused=True,
        create_graph=True,
    )
    assert all(g is None or array(g).dtype == np.float32 for g in grads)
    with torch.no_grad():
        grads = torch.autograd.grad(
            [o for o in call_recorded(name, ins, params) if o.requires_grad], [ins[k] for k in ks],
            [wrap(np.ones(o.shape, array(o).dtype)) for o in live], allow_unused=True)  # fmt: skip
    assert all(g is None or array(g).dtype == np.float32 for g in grads)


def call_recorded(name: str, ins: list[Any], params: Any) -> list[Tensor]:
    with torch.enable_grad():
        return call(name, ins, params)


COMPLEX = [c for c in DIFFERENTIABLE if "c" in REGISTRY[c[0]].dtypes]


@by_first(COMPLEX)
def test_complex(name: str, i: int) -> None:
    operands, params = arguments(name, i)
    ks = skip_if_constant(name, operands)
    if name == "_to_copy" or any(operands[k].dtype != np.float64 for k in ks):
        pytest.skip("a sample of another dtype")
    rng = rng_of(name, i, "imaginary")
    wide = [np.asarray(a + 0.3j * rng.standard_normal(a.shape)) if is_variable(a) else a for a in operands]
    vs = directions(name, i, [wide[k] for k in ks], "v")
    expected = numeric(lambda h: values(name, moved(wide, ks, vs, h), params))
    us = directions(name, i, expected, "u")
    _, grads = pullback(name, wide, params, us)
    assert dot([array(g) for g in grads], vs) == pytest.approx(dot(us, expected), rel=5e-5, abs=5e-6)


@by_first(DIFFERENTIABLE)
def test_nothing_waits_for_the_garbage_collector(name: str, i: int) -> None:
    operands, params = arguments(name, i)
    skip_if_constant(name, operands)
    gc.disable()
    try:
        ins = tensors(operands, requires_grad=True)
        outs = call(name, ins, params)
        refs = [weakref.ref(o.grad_fn) for o in outs if o.grad_fn is not None]
        refs += [weakref.ref(t) for t in (*outs, *ins) if isinstance(t, Tensor)]
        del outs, ins
        assert all(r() is None for r in refs)
    finally:
        gc.enable()


def test_every_operator_has_cases_or_says_why() -> None:
    covered = {name for name, _ in CASES}
    missing = sorted(n for n, info in REGISTRY.items() if n not in covered and info.no_derivative is None)
    assert not missing, f"operators without samples: {missing}"


def test_every_differentiable_operator_has_a_batching_rule() -> None:
    missing = sorted(n for n, info in REGISTRY.items() if info.batch is None and info.no_derivative is None)
    assert not missing, f"operators without a batching rule: {missing}"
