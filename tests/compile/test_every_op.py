"""Every operator's cases, forward and backward, recorded and replayed: eager's bits.

The exceptions have formulas that compute with plain arrays in another order than with recorded values. A sample of
the operators, since the recorder looks through all objects that live; ``WENGERT_EVERY_CASE=1`` takes all of them.
"""

from __future__ import annotations

import gc
import os
from typing import Any

import numpy as np
import pytest
from op_cases import arguments, array, cases, is_variable, tensors

import wengert as torch
from wengert._base.registry import REGISTRY
from wengert._compile.dispatch import Compiled

# Sums that C adds in its own order; products whose last digits OpenBLAS's older kernels take from the factors' strides.
ROUNDED = frozenset(("log_ndtr", "linalg_vector_norm", "standardize_backward", "norm_by_statistics", "cofactors"))
NUMBERS: dict[str, list[int]] = {}
for _name, _k in cases():
    NUMBERS.setdefault(_name, []).append(_k)
SAMPLE = list(NUMBERS)[:: 1 if os.environ.get("WENGERT_EVERY_CASE") else 5]


@pytest.fixture(scope="module", autouse=True)
def _fewer_objects() -> None:
    """Hide what the tests before have left from the recorder."""
    gc.collect()
    gc.freeze()


@pytest.mark.parametrize("name", SAMPLE)
def test_a_program_gives_eagers_values(name: str) -> None:
    for k in NUMBERS[name]:
        _check(name, k)


def _check(name: str, k: int) -> None:
    info = REGISTRY[name]
    operands, params = arguments(name, k)
    can = info.node is not None and info.no_derivative is None
    ks = [j for j, a in enumerate(operands) if is_variable(a) and j not in info.underived] if can else []
    ins = tensors(operands, requires_grad=ks)

    op, single, sequence = info.op, info.outputs == 1, info.arity < 0

    def fn() -> list[Any]:  # it names no table: all that it names is watched
        out = op(ins, *params) if sequence else op(*ins, *params)
        outs = [out] if single else list(out)
        total = [o for o in outs if o.requires_grad] if ks else []
        grads: Any = ()
        if total:
            cotangents = [o.detach() for o in total]
            grads = torch.autograd.grad(total, [ins[j] for j in ks], cotangents, allow_unused=True)
        return [*[o.detach() for o in outs], *[g for g in grads if g is not None]]

    torch.manual_seed(0)
    try:
        want = [np.array(array(t)) for t in fn()]
    except (RuntimeError, TypeError, ValueError, IndexError):  # the case is one of an error
        return
    made = Compiled(fn, None, False)
    for _ in range(2):
        torch.manual_seed(0)
        got = [np.array(array(t)) for t in made()]
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            assert (g.shape, g.dtype) == (w.shape, w.dtype)
            if name in ROUNDED:
                assert np.allclose(g, w, rtol=1e-12, equal_nan=True)
            else:
                assert g.tobytes() == w.tobytes()
