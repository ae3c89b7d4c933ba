"""MyGrad: tensors with `backward()`. A tensor drops its gradient when it is used again, so none has to be cleared."""

from __future__ import annotations

import itertools
import time
from typing import Any

import mygrad as mg
import numpy as np
from mygrad.nnet.activations import sigmoid, softmax
from mygrad.nnet.layers import conv_nd, max_pool

from benchmarks.libs import Library, Task
from benchmarks.works import integers, uniform


class MyGrad(Library):
    title, module, package = "MyGrad", "mygrad", "mygrad"

    def to_numpy(self, value: Any) -> np.ndarray:
        return value.data if isinstance(value, mg.Tensor) else np.asarray(value)

    def operator(self, name: str, recording: bool) -> Task:
        x, y = mg.tensor(uniform(4), constant=not recording), mg.tensor(uniform(4, seed=1), constant=True)
        matrix = mg.tensor(uniform((8, 8)), constant=not recording)
        vector = mg.tensor(uniform(8, seed=1), constant=True)
        calls = {
            "add": lambda: x + y,
            "mul": lambda: x * y,
            "mul by 2.0": lambda: x * 2.0,
            "neg": lambda: -x,
            "exp": lambda: mg.exp(x),
            "sin": lambda: mg.sin(x),
            "sum()": lambda: x.sum(),
            "reshape": lambda: x.reshape(2, 2),
            "x[1:3]": lambda: x[1:3],
            "matmul 8x8 @ 8": lambda: matrix @ vector,
        }
        if recording:
            return Task(calls[name])

        def untracked() -> Any:
            with mg.no_autodiff:
                for _ in range(100):
                    out = calls[name]()
            return out

        return Task(untracked, per=100)

    def chain(self, name: str, backward: bool = True, length: int = 100) -> Task:
        x, y = mg.tensor(uniform(4)), mg.tensor(uniform(4, 0.9, 1.1, seed=1), constant=True)
        step = {"mul": lambda z: z * y, "add": lambda z: z + y, "tanh": mg.tanh}[name]

        def forward() -> Any:
            z = x
            for _ in range(length):
                z = step(z)
            return z

        def both() -> Any:
            forward().sum().backward()
            return x.grad

        return Task(both if backward else forward, per=length)

    def mlp(self, sizes: tuple[int, ...], batch: int, rate: float = 0.01) -> Task:
        inputs = mg.tensor(uniform((batch, sizes[0])), constant=True)
        targets = mg.tensor(uniform((batch, sizes[-1]), seed=1), constant=True)
        layers = list(itertools.pairwise(sizes))
        weights = [mg.tensor(uniform(s, seed=2) / np.float32(s[0] ** 0.5)) for s in layers]
        biases = [mg.tensor(uniform(s[1], seed=3)) for s in layers]

        def step() -> Any:
            hidden = mg.tanh(inputs @ weights[0] + biases[0])
            loss = ((hidden @ weights[1] + biases[1] - targets) ** 2).mean()
            loss.backward()
            for parameter in (*weights, *biases):
                parameter.data -= rate * parameter.grad
            return loss

        return Task(step)

    def _deep(self, nodes: int) -> tuple[Any, Any]:
        x, y = mg.tensor(uniform(4)), mg.tensor(np.ones(4, np.float32), constant=True)

        def build() -> Any:
            z = x
            for _ in range(nodes):
                z = z * y
            return z

        return x, build

    def deep_forward(self, nodes: int) -> Task:
        _, build = self._deep(nodes)

        def call() -> tuple[float, Any]:
            begin = time.perf_counter()
            z = build()
            return time.perf_counter() - begin, z

        return Task(call, per=nodes, clocked=True)

    def deep_backward(self, nodes: int) -> Task:
        x, build = self._deep(nodes)

        def call() -> tuple[float, Any]:
            root = build().sum()
            begin = time.perf_counter()
            root.backward()
            return time.perf_counter() - begin, x.grad

        return Task(call, per=nodes, clocked=True)

    def deep_release(self, nodes: int) -> Task:
        x, build = self._deep(nodes)

        def call() -> tuple[float, Any]:
            z = build()
            begin = time.perf_counter()
            del z
            return time.perf_counter() - begin, x

        return Task(call, per=nodes, clocked=True)

    def matmul(self, size: int, backward: bool = True) -> Task:
        a, b = uniform((size, size)), uniform((size, size), seed=1)
        if not backward:
            return self._untracked(lambda a, b: a @ b, a, b)
        return self._forward_backward(lambda a, b: a @ b, uniform((size, size), seed=2), a, b)

    def elementwise(self, names: tuple[str, ...], size: int) -> Task:
        x, y = mg.tensor(uniform(size)), mg.tensor(uniform(size, seed=1), constant=True)
        steps = {"exp": mg.exp, "tanh": mg.tanh, "sigmoid": sigmoid, "add": lambda z: z + y}

        def call() -> Any:
            z = x
            for name in names:
                z = steps[name](z)
            z.sum().backward()
            return x.grad

        return Task(call, per=len(names))

    def reduction(self, name: str, size: int) -> Task:
        return self._untracked({"sum": mg.sum, "max": mg.max}[name], uniform(size))

    def _untracked(self, function: Any, *arrays: np.ndarray) -> Task:
        inputs = [mg.tensor(array, constant=True) for array in arrays]

        def call() -> Any:
            with mg.no_autodiff:
                return function(*inputs)

        return Task(call)

    def _forward_backward(self, function: Any, cotangent: np.ndarray, *arrays: np.ndarray) -> Task:
        inputs = [mg.tensor(array) for array in arrays]

        def call() -> Any:
            function(*inputs).backward(cotangent)
            return [tensor.grad for tensor in inputs]

        return Task(call)

    def softmax(self, shape: tuple[int, int]) -> Task:
        return self._forward_backward(softmax, uniform(shape, seed=1), uniform(shape))

    def layer_norm(self, shape: tuple[int, int]) -> Task:
        def layer_norm(x: Any, weight: Any, bias: Any) -> Any:
            centred = x - x.mean(-1, keepdims=True)
            return centred / mg.sqrt((centred**2).mean(-1, keepdims=True) + np.float32(1e-5)) * weight + bias

        inputs = uniform(shape), uniform(shape[-1], 0.5, 1.5, seed=2), uniform(shape[-1], seed=3)
        return self._forward_backward(layer_norm, uniform(shape, seed=1), *inputs)

    def gather_rows(self, rows: int, width: int = 64, table: int = 10_000) -> Task:
        index = integers(rows, table)
        return self._forward_backward(
            lambda weight: weight[index], uniform((rows, width), seed=1), uniform((table, width))
        )

    def max_pool(self, shape: tuple[int, ...] = (16, 64, 56, 56)) -> Task:
        pooled = (*shape[:2], shape[2] // 2, shape[3] // 2)
        return self._forward_backward(lambda x: max_pool(x, (2, 2), 2), uniform(pooled, seed=1), uniform(shape))

    def conv2d(self, image: tuple[int, ...], kernel: tuple[int, ...]) -> Task:
        out = (image[0], kernel[0], image[2] - kernel[2] + 1, image[3] - kernel[3] + 1)
        return self._forward_backward(
            lambda x, w: conv_nd(x, w, stride=1), uniform(out, seed=1), uniform(image), uniform(kernel, seed=2)
        )
