"""The registry's cases, forward and backward, through compiled functions in C against eager.

A sample, since each case is a program of its own; ``WENGERT_EVERY_CASE=1`` takes all of them.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from op_cases import arguments, array, call, cases, differentiable, is_variable, tensors

import wengert as torch
from wengert._base.registry import REGISTRY
from wengert._compile import c
from wengert._compile.dispatch import Compiled

pytestmark = pytest.mark.usefixtures("c_cache")
CASES = cases()[:: 1 if os.environ.get("WENGERT_EVERY_CASE") else 47]


def both_ways(name, params, variables):
    """A function of the operands: the results and, where there are any, the gradients."""

    def fn(*operands):
        outs = call(name, list(operands), params)
        total = [o for o in differentiable(name, outs) if o.requires_grad] if variables else []
        if not total:
            return outs
        given = [operands[k] for k in variables]
        grads = torch.autograd.grad(total, given, [o.detach() for o in total], allow_unused=True)
        return [*outs, *(g for g in grads if g is not None)]

    return fn


@pytest.mark.parametrize(("name", "i"), CASES)
@pytest.mark.filterwarnings("ignore")
def test_case(name, i):
    info = REGISTRY[name]
    operands, params = arguments(name, i)
    variables = [k for k, a in enumerate(operands) if is_variable(a)] if info.node is not None else []
    fn = both_ways(name, params, variables)
    try:
        ins = tensors(operands, requires_grad=variables)
        torch.manual_seed(0)
        want = fn(*ins)
    except (RuntimeError, TypeError, ValueError, NotImplementedError):
        variables, fn = [], both_ways(name, params, [])
        ins = tensors(operands)
        torch.manual_seed(0)
        want = fn(*ins)
    f = Compiled(fn, "c", False)
    f(*ins)
    c.wait()
    torch.manual_seed(0)
    got = f(*ins)
    programs = [p for found in f.programs.values() for p in found]
    assert all(p.forward.c is not None for p in programs)
    for a, b in zip(got, want, strict=True):
        a, b = np.asarray(array(a)), np.asarray(array(b))
        assert a.shape == b.shape
        assert a.dtype == b.dtype
        if b.dtype.kind in "fc":
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)
        else:
            np.testing.assert_array_equal(a, b)
