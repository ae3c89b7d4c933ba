"""float16 and bfloat16 beside Python numbers: in float32, rounded once, as PyTorch computes it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import wengert

NUMBERS = (0.1, 1 / 3, 2.0, -1.5, 3, 7, 1e-3, 300, 1e5)
X = np.linspace(-4, 4, 61).astype(np.float16)


def rounded(values: Any) -> list[float]:
    with np.errstate(all="ignore"):
        return [float(v) for v in np.asarray(values, np.float32).astype(np.float16)]


@pytest.mark.parametrize("number", NUMBERS)
def test_products_and_quotients_are_rounded_once(number: float) -> None:
    x, wide, k = wengert.from_numpy(X.copy()), X.astype(np.float32), np.float32(number)
    for result in (x * number, number * x, x.clone().mul_(number), wengert.mul(x, number)):
        assert result.dtype is wengert.float16
        assert result.tolist() == rounded(wide * k)
    with np.errstate(all="ignore"):
        for result in (x / number, x.clone().div_(number)):
            assert result.tolist() == rounded(wide / k)
        keep = X != 0
        reciprocal = np.asarray(rounded(1 / wide[keep]), np.float32)
        assert (number / x).numpy()[keep].tolist() == rounded(reciprocal * k)


def test_sums_round_the_number_first() -> None:
    x = wengert.from_numpy(X.copy())
    tenth = np.float32(np.float16(0.1))
    assert (x + 0.1).tolist() == rounded(X.astype(np.float32) + tenth)
    assert (0.1 - x).tolist() == rounded(tenth - X.astype(np.float32))
    scaled = rounded(X.astype(np.float32) + X.astype(np.float32) * tenth)
    assert x.add(x, alpha=0.1).tolist() == scaled
    assert x.clone().add_(x, alpha=0.1).tolist() == scaled


def test_recorded_and_large() -> None:
    x = wengert.from_numpy(X.copy()).requires_grad_()
    assert (x * 0.1).tolist() == rounded(X.astype(np.float32) * np.float32(0.1))
    (x * 0.1).sum().backward()
    assert x.grad.dtype is wengert.float16
    assert x.grad.tolist() == [float(np.float16(0.1))] * len(X)
    big = np.tile(X, 8000)
    assert (wengert.from_numpy(big) * 0.3).numpy().tolist() == rounded(big.astype(np.float32) * np.float32(0.3))


@pytest.mark.parametrize("name", ["acos", "asin", "atan", "cosh", "expm1", "log", "log1p", "sin", "sqrt", "tanh"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_many_bfloat16_have_the_digits_of_few(name: str) -> None:
    """Many are computed in float32 at once, few one by one by ``ml_dtypes``: every number there is."""
    pytest.importorskip("ml_dtypes")
    every = wengert.from_numpy(np.arange(1 << 16, dtype=np.uint16).view(np.int16)).view(wengert.bfloat16)
    many = every.clone().requires_grad_()
    few = [part.clone().requires_grad_() for part in every.split(512)]
    function = getattr(wengert, name)
    for x in (many, *few):
        function(x).backward(wengert.full_like(x, 3.0))
    for whole, parts in ((function(many), map(function, few)), (many.grad, [x.grad for x in few])):
        np.testing.assert_array_equal(whole.detach().float().numpy(), wengert.cat(list(parts)).detach().float().numpy())


WORKS = {
    "add": lambda x, k: x + k,
    "radd": lambda x, k: k + x,
    "sub": lambda x, k: x - k,
    "rsub": lambda x, k: k - x,
    "mul": lambda x, k: x * k,
    "div": lambda x, k: x / k,
    "rdiv": lambda x, k: k / x,
    "pow": lambda x, k: x.abs() ** min(k, 9.0),
    "rpow": lambda x, k: abs(k) ** x,
    "add_": lambda x, k: x.clone().add_(k),
    "sub_": lambda x, k: x.clone().sub_(k),
    "mul_": lambda x, k: x.clone().mul_(k),
    "div_": lambda x, k: x.clone().div_(k),
    "by a scalar tensor": lambda x, k: x * sys.modules[type(x).__module__.partition(".")[0]].tensor(k),
    "alpha": lambda x, k: x.add(x, alpha=min(k, 9.0)),
    "alpha_": lambda x, k: x.clone().add_(x, alpha=min(k, 9.0)),
    "recorded": lambda x, k: (x.clone().requires_grad_() * k).detach(),
}


@pytest.mark.parametrize("work", WORKS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_numbers_as_in_pytorch(torch: Any, work: str, dtype: str) -> None:
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    for number in NUMBERS[:-1]:  # PyTorch itself is at odds about what float16 cannot hold
        mine, theirs = (
            WORKS[work](lib.from_numpy(X.astype(np.float32)).to(getattr(lib, dtype)), number).float().tolist()
            for lib in (wengert, torch)
        )
        if "alpha" in work:  # its vectors are fused multiply-adds, the remaining elements are not
            np.testing.assert_allclose(mine, theirs, rtol=1e-2, atol=1e-2, err_msg=f"{number}")
        else:
            np.testing.assert_array_equal(mine, theirs, err_msg=f"{number}")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_cotangents_of_broadcast_operands_are_added_in_float32(dtype: str) -> None:
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    kind = getattr(wengert, dtype)
    x = wengert.ones(4096, 3, dtype=kind)
    for work in (
        lambda b: x + b,
        lambda b: x * b,
        lambda b: wengert.maximum(x, b),
        lambda b: wengert.where(x > 2, x, b),
    ):
        for shape in ((3,), (1, 3), ()):
            b = wengert.full(shape, 2.0, dtype=kind, requires_grad=True)
            (work(b).sum() if shape else work(b)[:, 0].sum()).backward()
            assert b.grad.dtype is kind
            assert set(b.grad.flatten().tolist()) == {4096.0}


KERNELS = {
    "sigmoid": lambda lib, x: lib.sigmoid(x),
    "tanh": lambda lib, x: lib.tanh(x),
    "silu": lambda lib, x: lib.nn.functional.silu(x),
    "mish": lambda lib, x: lib.nn.functional.mish(x),
    "gelu": lambda lib, x: lib.nn.functional.gelu(x),
    "elu": lambda lib, x: lib.nn.functional.elu(x, 0.3),
    "celu": lambda lib, x: lib.nn.functional.celu(x, 0.7),
    "selu": lambda lib, x: lib.nn.functional.selu(x),
    "softplus": lambda lib, x: lib.nn.functional.softplus(x),
    "hardswish": lambda lib, x: lib.nn.functional.hardswish(x),
    "leaky_relu": lambda lib, x: lib.nn.functional.leaky_relu(x, 0.1),
    "addcmul": lambda lib, x: lib.addcmul(x, x.detach(), x.detach() + 9, value=0.3),
    "addcdiv": lambda lib, x: lib.addcdiv(x, x.detach(), x.detach() + 9, value=0.3),
    "lerp": lambda lib, x: lib.lerp(x, x.detach() * 3, x.detach().sigmoid()),
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_round_once(torch: Any, name: str) -> None:
    pytest.importorskip("ml_dtypes")
    outcomes = []
    for lib in (wengert, torch):
        x = lib.from_numpy(X.astype(np.float32)).to(lib.bfloat16).requires_grad_()
        y = KERNELS[name](lib, x)
        y.backward(lib.from_numpy(np.cos(X.astype(np.float32))).to(lib.bfloat16))
        outcomes.append((y.detach().float().tolist(), x.grad.float().tolist()))
    assert outcomes[0] == outcomes[1]
