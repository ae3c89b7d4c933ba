"""Ufuncs whose large work the kernels' threads share: NumPy's own results, for any operands.

The kernels are those of the installed ``wengert-kernels``; without it these tests are skipped, but for the last.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import wengert as torch
from wengert._arrays import compiled, shared_ufuncs
from wengert._arrays.shared_ufuncs import shared

with_kernels = pytest.mark.skipif(
    compiled.kernels() is None or not hasattr(compiled.kernels(), "loop"),
    reason="wengert-kernels is not installed (python -m pip install ./kernels)",
)
UFUNCS = ["add", "subtract", "multiply", "divide", "negative", "exp", "sqrt", "maximum", "floor_divide", "power"]
MANY = (1 << 17) + 77


@pytest.fixture(params=[1, 2])
def threads(request: Any) -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield
    torch.set_num_threads(before)


def operands(ufunc: Any, n: int, dtype: Any) -> list[Any]:
    rng = np.random.default_rng(n)
    arrays = [(rng.standard_normal(n) * 3).astype(dtype) for _ in range(ufunc.nin)]
    if dtype in "fd":
        for x in arrays:
            x[rng.integers(0, n, 8)] = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, 3e38]
    return arrays


def same(ufunc: Any, arrays: Any) -> None:
    with np.errstate(all="ignore"):
        want, got = ufunc(*arrays), shared(ufunc)(*arrays)
    assert (got.dtype, got.strides, got.tobytes()) == (want.dtype, want.strides, want.tobytes())


@with_kernels
@pytest.mark.parametrize("name", UFUNCS)
@pytest.mark.parametrize("dtype", ["f", "d"])
def test_every_bit_is_numpys(name: str, dtype: str, threads: None) -> None:
    ufunc = getattr(np, name)
    for n in (1, 5, MANY):
        arrays = operands(ufunc, n, dtype)
        same(ufunc, arrays)
        same(ufunc, [x[::-1] for x in arrays])
        same(ufunc, [x[::2] for x in arrays])
        same(ufunc, [x[: n - n % 3].reshape(3, -1).T for x in arrays])
        if ufunc.nin == 2:
            same(ufunc, [arrays[0], np.array(2.5, dtype)])
            same(ufunc, [arrays[0], 2.5])
            same(ufunc, [arrays[0][:, None], arrays[1][None, :2]])


@with_kernels
@pytest.mark.parametrize("name", UFUNCS)
def test_other_dtypes_are_numpys(name: str) -> None:
    """What NumPy refuses, such as the difference of bools, is refused."""
    ufunc = getattr(np, name)
    for dtype in "?bBhHiIlLeFD":
        arrays = operands(ufunc, 9, dtype)
        try:
            with np.errstate(all="ignore"):
                ufunc(*arrays)
        except (TypeError, ValueError) as error:
            with pytest.raises(type(error)):
                shared(ufunc)(*arrays)
            continue
        same(ufunc, arrays)


@with_kernels
def test_writes_and_overlaps(threads: None) -> None:
    add, x = shared(np.add), np.arange(MANY, dtype="f")
    for write in (lambda add, x: add(x, x, x), lambda add, x: add(x[1:], x[:-1], x[1:])):
        mine, theirs = x.copy(), x.copy()
        write(add, mine)
        write(np.add, theirs)
        np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(add.accumulate(x), np.add.accumulate(x))
    rows = x[: MANY // 7 * 7].reshape(-1, 7)
    np.testing.assert_array_equal(add.reduce(rows), np.add.reduce(rows))


@with_kernels
def test_operators_and_the_engine_use_them() -> None:
    x, y = (torch.rand(MANY, requires_grad=True) for _ in range(2))
    a, b = x.detach().numpy(), y.detach().numpy()
    (x + y - x * y).backward(torch.ones(MANY))  # the sums of two gradients
    np.testing.assert_array_equal(x.grad.numpy(), np.float32(1) + -b)
    x.grad = None
    (x * y).backward(torch.ones(MANY))
    (x * y).backward(torch.ones(MANY))  # accumulated
    np.testing.assert_array_equal(x.grad.numpy(), b + b)
    z = x.detach().clone()
    z += y.detach()
    z *= 2.5
    np.testing.assert_array_equal(z.numpy(), (a + b) * np.float32(2.5))
    np.testing.assert_array_equal((x / y).detach().numpy(), a / b)
    assert shared_ufuncs.add is shared(np.add) is not np.add


def test_without_kernels_they_are_numpys_own() -> None:
    program = "import numpy as np, wengert as torch; from wengert._arrays.shared_ufuncs import shared\n"
    program += "x = torch.ones(3) + 1; assert shared(np.add) is np.add, shared(np.add)"
    subprocess.run([sys.executable, "-c", program], env={**os.environ, "WENGERT_KERNELS": "0"}, check=True)
