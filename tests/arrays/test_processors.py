"""What must not depend on the processor: NumPy and OpenBLAS have other loops and kernels for each.

``NPY_DISABLE_CPU_FEATURES`` and ``OPENBLAS_CORETYPE`` make this machine's library work as on an older one. They are
read when NumPy is imported, so each processor has a process of its own, which runs this file.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert._arrays import blas
from wengert._arrays.random.libm import libm

F = wg.nn.functional
UMATH: Any = np._core._multiarray_umath  # type: ignore[attr-defined]
CORES = {"Nehalem": "SSE42", "Haswell": "AVX2"}  # and what a processor needs for its kernels

Shape = tuple[int, ...]

# Sizes at which work is cut, by wengert or by BLAS, and odd ones: where a part ends, other kernels begin.
OPERATORS: dict[str, tuple[Callable[..., Any], list[Shape]]] = {
    "conv2d": (lambda x, w: F.conv2d(x, w, padding=1), [(9, 6, 40, 41), (7, 6, 3, 3)]),
    "conv2d, strided": (lambda x, w: F.conv2d(x, w, stride=2, padding=1), [(4, 16, 60, 61), (5, 16, 3, 3)]),
    "conv2d, in groups": (lambda x, w: F.conv2d(x, w, padding=1, groups=2), [(4, 8, 44, 44), (8, 4, 5, 3)]),
    "conv2d of one sample": (lambda x, w: F.conv2d(x, w, padding=1), [(1, 32, 60, 61), (33, 32, 3, 3)]),
    "conv2d of one place": (F.conv2d, [(1, 65, 50, 51), (33, 65, 1, 1)]),
    "conv2d of one filter": (F.conv2d, [(3, 16, 50, 51), (1, 16, 3, 3)]),
    "conv2d of few places": (lambda x, w: F.conv2d(x, w, padding=1), [(65, 64, 8, 8), (64, 64, 3, 3)]),
    "conv2d, wide": (lambda x, w: F.conv2d(x, w, padding=2), [(1, 8, 150, 151), (9, 8, 5, 5)]),
    "conv1d": (F.conv1d, [(1, 17, 9001), (19, 17, 5)]),
    "conv_transpose2d": (lambda x, w: F.conv_transpose2d(x, w, stride=2), [(3, 17, 20, 21), (17, 9, 3, 3)]),
    "batch_norm": (lambda x: F.batch_norm(x, None, None, training=True), [(5, 7, 101, 103)]),
    "batch_norm, few channels": (lambda x: F.batch_norm(x, None, None, training=True), [(1, 3, 200, 301)]),
    "batch_norm of rows": (lambda x: F.batch_norm(x, None, None, training=True), [(4099, 33)]),
    "instance_norm": (F.instance_norm, [(2, 6, 101, 103)]),
    "group_norm": (lambda x: F.group_norm(x, 2), [(2, 6, 101, 103)]),
    "layer_norm": (lambda x, w: F.layer_norm(x, x.shape[-1:], w, w), [(33333, 17), (17,)]),
    "layer_norm, long": (lambda x, w: F.layer_norm(x, x.shape[-1:], w, w), [(3, 20011), (20011,)]),
    "layer_norm, large": (lambda x, w: F.layer_norm(x, x.shape[-1:], w, w), [(301, 1002), (1002,)]),
    "rms_norm": (lambda x, w: F.rms_norm(x, x.shape[-1:], w), [(3, 20011), (20011,)]),
    "sum": (lambda x: x.sum(-1), [(33333, 17)]),
    "mean of columns": (lambda x: x.mean(0), [(1002, 37)]),
    "var": (lambda x: x.var(-1), [(33333, 17)]),
    "softmax": (lambda x: x.softmax(-1), [(33333, 17)]),
    "log_softmax": (lambda x: x.log_softmax(-1), [(33333, 17)]),
    "cross_entropy": (lambda x, y: F.cross_entropy(x, y.softmax(1)), [(33333, 17), (33333, 17)]),
    "attention": (F.scaled_dot_product_attention, [(4, 3, 301, 65)] * 3),
    "attention of one head": (F.scaled_dot_product_attention, [(1, 1, 301, 33)] * 3),
    "interpolate": (lambda x: F.interpolate(x, size=(99, 97), mode="bicubic"), [(3, 5, 60, 61)]),
}


def found(operator: Callable[..., Any], shapes: list[Shape], dtype: str) -> list[np.ndarray]:
    """The result and the gradients."""
    rng = np.random.default_rng(0)
    inputs = [wg.tensor(rng.standard_normal(shape).astype(dtype), requires_grad=True) for shape in shapes]
    result = operator(*inputs)
    result.backward(wg.tensor(rng.standard_normal(tuple(result.shape)).astype(dtype)))
    return [result.detach().numpy(), *[x.grad.numpy() for x in inputs]]


def that_depend_on_threads() -> list[str]:
    """The operators whose digits differ between one thread and two."""
    before, names = wg.get_num_threads(), []
    try:
        for name, (operator, shapes) in OPERATORS.items():
            for dtype in ("float32", "float64"):
                wg.set_num_threads(1)
                one = found(operator, shapes, dtype)
                wg.set_num_threads(2)
                two = found(operator, shapes, dtype)
                if not all(map(np.array_equal, one, two)):
                    names.append(f"{name}, {dtype}")
    finally:
        wg.set_num_threads(before)
    return names


def facts() -> dict[str, Any]:
    """What is told of a processor."""
    return {
        "core": blas.core(),
        "features": [name for name in UMATH.__cpu_dispatch__ if UMATH.__cpu_features__.get(name)],
        "exp(1000)": libm("exp")(np.array([1000.0])).tolist(),
        "depend on threads": that_depend_on_threads(),
    }


def test_no_digit_depends_on_the_number_of_threads() -> None:
    assert that_depend_on_threads() == []


@pytest.mark.parametrize("core", CORES)
def test_on_another_processor(core: str) -> None:
    if not blas.core() or not UMATH.__cpu_features__.get(CORES[core]):
        pytest.skip("NumPy's BLAS cannot be asked, or this processor has not that core's instructions")
    variables = {"OPENBLAS_CORETYPE": core, "NPY_DISABLE_CPU_FEATURES": " ".join(UMATH.__cpu_dispatch__)}
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", __file__],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == {"core": core, "features": [], "exp(1000)": [math.inf], "depend on threads": []}


if __name__ == "__main__":
    json.dump(facts(), sys.stdout)
