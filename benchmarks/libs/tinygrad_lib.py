"""tinygrad on the CPU, where it needs clang. It is lazy: a result counts when it is realized.

Each step builds its graph again and finds its compiled kernels in a cache, as tinygrad does without its `TinyJit`.
The time to compile is not counted.
"""

from __future__ import annotations

import importlib.metadata
import os
from typing import Any

os.environ.setdefault("DEV", "CPU")

import itertools

import numpy as np
from tinygrad import Tensor, dtypes

from benchmarks.libs import Library, Task
from benchmarks.works import integers, uniform


def _leaf(array: np.ndarray) -> Tensor:
    tensor = Tensor(array).realize()
    tensor.requires_grad = True
    return tensor


class TinyGrad(Library):
    title, module, package = "tinygrad", "tinygrad", "tinygrad"

    def __init__(self) -> None:
        (Tensor([1.0]) * 2).realize()  # without a compiler this fails here, once

    def version(self) -> str:
        return importlib.metadata.version("tinygrad")

    def to_numpy(self, value: Any) -> np.ndarray:
        return value.numpy()

    def operator(self, name: str, recording: bool) -> Task:
        if recording:
            raise NotImplementedError("tinygrad records nothing while it computes")
        x, y = Tensor(uniform(4)).realize(), Tensor(uniform(4, seed=1)).realize()
        matrix, vector = Tensor(uniform((8, 8))).realize(), Tensor(uniform(8, seed=1)).realize()
        calls = {
            "add": lambda: x + y,
            "mul": lambda: x * y,
            "mul by 2.0": lambda: x * 2.0,
            "neg": lambda: -x,
            "exp": lambda: x.exp(),
            "sin": lambda: x.sin(),
            "sum()": lambda: x.sum(),
            "reshape": lambda: x.reshape(2, 2),
            "x[1:3]": lambda: x[1:3],
            "matmul 8x8 @ 8": lambda: matrix @ vector,
        }
        call = calls[name]
        return Task(lambda: call().contiguous().realize())

    def chain(self, name: str, backward: bool = True, length: int = 100) -> Task:
        x, y = _leaf(uniform(4)), Tensor(uniform(4, 0.9, 1.1, seed=1)).realize()
        step = {"mul": lambda z: z * y, "add": lambda z: z + y, "tanh": lambda z: z.tanh()}[name]

        def forward() -> Tensor:
            z = x
            for _ in range(length):
                z = step(z)
            return z

        def both() -> Tensor:
            return forward().sum().gradient(x)[0].contiguous().realize()

        return Task(both if backward else lambda: forward().realize(), per=length)

    def mlp(self, sizes: tuple[int, ...], batch: int, rate: float = 0.01) -> Task:
        inputs = Tensor(uniform((batch, sizes[0]))).realize()
        targets = Tensor(uniform((batch, sizes[-1]), seed=1)).realize()
        layers = list(itertools.pairwise(sizes))
        weights = [_leaf(uniform(s, seed=2) / np.float32(s[0] ** 0.5)) for s in layers]
        biases = [_leaf(uniform(s[1], seed=3)) for s in layers]
        parameters = weights + biases

        def step() -> Tensor:
            hidden = (inputs @ weights[0] + biases[0]).tanh()
            loss = ((hidden @ weights[1] + biases[1] - targets) ** 2).mean()
            gradients = loss.gradient(*parameters)
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter.assign(parameter - rate * gradient)
            Tensor.realize(loss, *parameters)
            return loss

        return Task(step)

    def matmul(self, size: int, backward: bool = True) -> Task:
        a, b = _leaf(uniform((size, size))), _leaf(uniform((size, size), seed=1))
        if not backward:
            return Task(lambda: (a @ b).realize())
        return self._forward_backward(lambda a, b: a @ b, uniform((size, size), seed=2), a, b)

    def elementwise(self, names: tuple[str, ...], size: int) -> Task:
        x, y = _leaf(uniform(size)), Tensor(uniform(size, seed=1)).realize()
        steps = {
            "exp": lambda z: z.exp(),
            "tanh": lambda z: z.tanh(),
            "sigmoid": lambda z: z.sigmoid(),
            "add": lambda z: z + y,
        }

        def call() -> Tensor:
            z = x
            for name in names:
                z = steps[name](z)
            return z.sum().gradient(x)[0].contiguous().realize()

        return Task(call, per=len(names))

    def reduction(self, name: str, size: int) -> Task:
        x = Tensor(uniform(size)).realize()
        return Task({"sum": lambda: x.sum().realize(), "max": lambda: x.max().realize()}[name])

    def _forward_backward(self, function: Any, cotangent: np.ndarray, *inputs: Tensor) -> Task:
        back = Tensor(cotangent).realize()

        def call() -> list[Tensor]:
            gradients = function(*inputs).gradient(*inputs, gradient=back)
            gradients = [gradient.contiguous() for gradient in gradients]
            Tensor.realize(*gradients)
            return gradients

        return Task(call)

    def softmax(self, shape: tuple[int, int]) -> Task:
        return self._forward_backward(lambda x: x.softmax(-1), uniform(shape, seed=1), _leaf(uniform(shape)))

    def layer_norm(self, shape: tuple[int, int]) -> Task:
        return self._forward_backward(
            lambda x, weight, bias: x.layernorm(eps=1e-5) * weight + bias,
            uniform(shape, seed=1),
            _leaf(uniform(shape)),
            _leaf(uniform(shape[-1], 0.5, 1.5, seed=2)),
            _leaf(uniform(shape[-1], seed=3)),
        )

    def gather_rows(self, rows: int, width: int = 64, table: int = 10_000) -> Task:
        index = Tensor(integers(rows, table), dtype=dtypes.int32).realize()
        return self._forward_backward(
            lambda weight: weight[index], uniform((rows, width), seed=1), _leaf(uniform((table, width)))
        )

    def max_pool(self, shape: tuple[int, ...] = (16, 64, 56, 56)) -> Task:
        pooled = (*shape[:2], shape[2] // 2, shape[3] // 2)
        return self._forward_backward(lambda x: x.max_pool2d(2), uniform(pooled, seed=1), _leaf(uniform(shape)))

    def conv2d(self, image: tuple[int, ...], kernel: tuple[int, ...]) -> Task:
        out = (image[0], kernel[0], image[2] - kernel[2] + 1, image[3] - kernel[3] + 1)
        return self._forward_backward(
            lambda x, w: x.conv2d(w), uniform(out, seed=1), _leaf(uniform(image)), _leaf(uniform(kernel, seed=2))
        )
