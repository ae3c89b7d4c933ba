"""Tensors on another library's arrays: every operator and its derivatives, and what a program asks of a device.

The library is ``strict_array``: CuPy's functions and no others, computed by NumPy, never converted and never mixed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import strict_array
from op_cases import arguments, array, call, cases, differentiable, is_variable, tensors

import wengert as torch
from wengert._base.registry import ON_HOST, REGISTRY
from wengert._payloads.foreign import LIBRARIES, Foreign
from wengert._tape.tensor import Tensor

F = torch.nn.functional
COUNT = Counter(name for name, _ in cases())
UNINITIALISED = ("empty",)


@pytest.fixture(autouse=True, scope="module")
def library() -> Iterator[Any]:
    yield strict_array.register()
    LIBRARIES.pop("xla", None)


def on_device(a: Any) -> Tensor:
    """A tensor on an array of the library, made as a program makes it."""
    return torch.as_tensor(strict_array.StrictArray(np.array(a)))


def host(t: Tensor) -> np.ndarray:
    """The elements of a tensor that is on the library's array."""
    assert type(t._payload) is Foreign, f"the result is on {t.device}"
    return t._payload.numpy()


def variables(name: str, operands: list[Any]) -> list[int]:
    underived = REGISTRY[name].__dict__.get("underived", ())
    return [k for k, a in enumerate(operands) if is_variable(a) and k not in underived]


def moved(operands: list[Any], requires_grad: list[int]) -> list[Any]:
    ts = [on_device(a) if isinstance(a, np.ndarray) else a for a in operands]
    for k in requires_grad:
        ts[k].requires_grad_()
    return ts


def gradients(name: str, ins: list[Any], ks: list[int], params: Any) -> tuple[list[Any], list[Any]]:
    """First and second derivatives in the direction of ones."""
    wanted = [ins[k] for k in ks]
    outs = [o for o in differentiable(name, call(name, ins, params)) if o.requires_grad]
    if not outs:
        return [], []
    seeds = [torch.ones_like(o) * 0.5 for o in outs]
    first = torch.autograd.grad(outs, wanted, seeds, create_graph=True, allow_unused=True)
    live = [g for g in first if g is not None and g.requires_grad]
    if not live:
        return list(first), []
    second = torch.autograd.grad(live, wanted, [torch.ones_like(g) for g in live], allow_unused=True)
    return list(first), list(second)


def same(found: list[Any], expected: list[Any]) -> None:
    assert len(found) == len(expected)
    for f, e in zip(found, expected, strict=True):
        assert (f is None) == (e is None)
        if f is not None:
            assert host(f).dtype == array(e).dtype
            rtol, atol = (1e-4, 1e-4) if array(e).dtype in (np.float32, np.complex64) else (1e-7, 1e-9)
            np.testing.assert_allclose(host(f), array(e), rtol=rtol, atol=atol)


@pytest.mark.parametrize("name", sorted(COUNT))
def test_every_operator_forward_backward_and_second_order(name: str) -> None:
    info = REGISTRY[name]
    for i, narrow in [(i, narrow) for i in range(COUNT[name]) for narrow in (False, True)]:
        operands, params = arguments(name, i)
        if narrow:
            if any(is_variable(a) and a.dtype != np.float64 for a in operands) or not any(map(is_variable, operands)):
                continue
            operands = [a.astype(np.float32) if is_variable(a) else a for a in operands]
        expected = call(name, tensors(operands), params)
        found = call(name, moved(operands, []), params)
        for f, e in zip(found, expected, strict=True):
            assert (host(f).dtype, host(f).shape) == (array(e).dtype, array(e).shape)
        if name not in UNINITIALISED:
            same(found, expected)
        ks = variables(name, operands)
        if not ks or info.node is None or info.no_derivative is not None:
            continue
        own = gradients(name, moved(operands, ks), ks, params)
        theirs = gradients(name, tensors(operands, requires_grad=ks), ks, params)
        for f, e in zip(own, theirs, strict=True):
            same(f, e)
        ins = moved(operands, ks)
        outs = [o for o in differentiable(name, call(name, ins, params)) if o.requires_grad]
        if outs:
            torch.autograd.backward(outs, [torch.ones_like(o) * 0.5 for o in outs])
            same([ins[k].grad for k in ks], theirs[0])


def test_an_operator_without_a_body_names_itself() -> None:
    def only_numpy(lib: Any, self: Any) -> Any:
        return np.cumsum(self)

    from wengert._kinds.general import general

    only_numpy.__name__ = "only_numpy"
    op = general(batch="loop", samples=[], no_derivative="a test")(only_numpy)
    try:
        with pytest.raises(NotImplementedError, match="Could not run 'aten::only_numpy' with arguments from the 'XLA'"):
            op(on_device([1.0, 2.0]))
    finally:
        del REGISTRY["only_numpy"]


def test_operators_that_compute_on_the_host_are_these() -> None:
    assert sorted(n for n in ON_HOST if n in REGISTRY) == sorted(ON_HOST)
