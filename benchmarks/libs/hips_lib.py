"""HIPS autograd: NumPy's functions, wrapped. Recording an operator is `make_vjp` around a hundred of them."""

from __future__ import annotations

import importlib.metadata
import itertools
import time
from typing import Any

import autograd
import autograd.numpy as anp
import numpy as np
from autograd import make_vjp

from benchmarks.libs import Library, Task
from benchmarks.works import integers, rosenbrock, uniform


class Hips(Library):
    title, module, package = "autograd", "autograd", "autograd"

    def version(self) -> str:
        return importlib.metadata.version("autograd")

    def operator(self, name: str, recording: bool, repeats: int = 100) -> Task:
        x, y, matrix, vector = uniform(4), uniform(4, seed=1), uniform((8, 8)), uniform(8, seed=1)
        functions = {
            "add": (lambda x: x + y, x),
            "mul": (lambda x: x * y, x),
            "mul by 2.0": (lambda x: x * 2.0, x),
            "neg": (lambda x: -x, x),
            "exp": (anp.exp, x),
            "sin": (anp.sin, x),
            "sum()": (anp.sum, x),
            "reshape": (lambda x: anp.reshape(x, (2, 2)), x),
            "x[1:3]": (lambda x: x[1:3], x),
            "matmul 8x8 @ 8": (lambda x: anp.matmul(x, vector), matrix),
        }
        function, argument = functions[name]
        if not recording:
            return Task(lambda: function(argument))

        def many(x: Any) -> Any:
            for _ in range(repeats):
                out = function(x)
            return out

        return Task(lambda: make_vjp(many)(argument)[1], per=repeats)

    def chain(self, name: str, backward: bool = True, length: int = 100) -> Task:
        x, y = uniform(4), uniform(4, 0.9, 1.1, seed=1)
        step = {"mul": lambda z: z * y, "add": lambda z: z + y, "tanh": anp.tanh}[name]

        def forward(z: Any) -> Any:
            for _ in range(length):
                z = step(z)
            return z

        if not backward:
            return Task(lambda: make_vjp(forward)(x)[1], per=length)
        gradient = autograd.grad(lambda z: anp.sum(forward(z)))
        return Task(lambda: gradient(x), per=length)

    def mlp(self, sizes: tuple[int, ...], batch: int, rate: float = 0.01) -> Task:
        inputs, targets = uniform((batch, sizes[0])), uniform((batch, sizes[-1]), seed=1)
        layers = list(itertools.pairwise(sizes))
        state = [uniform(s, seed=2) / np.float32(s[0] ** 0.5) for s in layers]
        state += [uniform(s[1], seed=3) for s in layers]

        def loss_of(parameters: Any) -> Any:
            hidden = anp.tanh(anp.matmul(inputs, parameters[0]) + parameters[2])
            return anp.mean((anp.matmul(hidden, parameters[1]) + parameters[3] - targets) ** 2)

        gradient_of = autograd.value_and_grad(loss_of)

        def step() -> Any:
            nonlocal state
            loss, gradients = gradient_of(state)
            state = [p - rate * g for p, g in zip(state, gradients, strict=True)]
            return loss

        return Task(step)

    def hessian(self, size: int) -> Task:
        x = uniform(size)
        function = autograd.hessian(lambda x: rosenbrock(x))
        return Task(lambda: function(x))

    def _deep(self, nodes: int) -> tuple[np.ndarray, Any]:
        y = np.ones(4, np.float32)

        def build(z: Any) -> Any:
            for _ in range(nodes):
                z = z * y
            return z

        return uniform(4), make_vjp(build)

    def deep_forward(self, nodes: int) -> Task:
        x, build = self._deep(nodes)

        def call() -> tuple[float, Any]:
            begin = time.perf_counter()
            held = build(x)
            return time.perf_counter() - begin, held[1]

        return Task(call, per=nodes, clocked=True)

    def deep_backward(self, nodes: int) -> Task:
        x, build = self._deep(nodes)

        def call() -> tuple[float, Any]:
            pull, _ = build(x)
            begin = time.perf_counter()
            gradient = pull(np.ones(4, np.float32))
            return time.perf_counter() - begin, gradient

        return Task(call, per=nodes, clocked=True)

    def deep_release(self, nodes: int) -> Task:
        x, build = self._deep(nodes)

        def call() -> tuple[float, Any]:
            pull, _ = build(x)
            begin = time.perf_counter()
            del pull
            return time.perf_counter() - begin, x

        return Task(call, per=nodes, clocked=True)

    def matmul(self, size: int, backward: bool = True) -> Task:
        a, b = uniform((size, size)), uniform((size, size), seed=1)
        if not backward:
            return Task(lambda: anp.matmul(a, b))
        return self._forward_backward(anp.matmul, uniform((size, size), seed=2), a, b)

    def elementwise(self, names: tuple[str, ...], size: int) -> Task:
        x, y = uniform(size), uniform(size, seed=1)
        steps = {
            "exp": anp.exp,
            "tanh": anp.tanh,
            "sigmoid": lambda z: 1 / (1 + anp.exp(-z)),
            "add": lambda z: z + y,
        }

        def total(z: Any) -> Any:
            for name in names:
                z = steps[name](z)
            return anp.sum(z)

        function = autograd.grad(total)
        return Task(lambda: function(x), per=len(names))

    def reduction(self, name: str, size: int) -> Task:
        x, function = uniform(size), {"sum": anp.sum, "max": anp.max}[name]
        return Task(lambda: function(x))

    def _forward_backward(self, function: Any, cotangent: np.ndarray, *inputs: np.ndarray) -> Task:
        pulled = make_vjp(lambda arguments: function(*arguments))
        return Task(lambda: pulled(inputs)[0](cotangent))

    def softmax(self, shape: tuple[int, int]) -> Task:
        def softmax(x: Any) -> Any:
            powers = anp.exp(x - anp.max(x, -1, keepdims=True))
            return powers / anp.sum(powers, -1, keepdims=True)

        return self._forward_backward(softmax, uniform(shape, seed=1), uniform(shape))

    def layer_norm(self, shape: tuple[int, int]) -> Task:
        def layer_norm(x: Any, weight: Any, bias: Any) -> Any:
            centred = x - anp.mean(x, -1, keepdims=True)
            return centred / anp.sqrt(anp.mean(centred**2, -1, keepdims=True) + 1e-5) * weight + bias

        inputs = uniform(shape), uniform(shape[-1], 0.5, 1.5, seed=2), uniform(shape[-1], seed=3)
        return self._forward_backward(layer_norm, uniform(shape, seed=1), *inputs)

    def gather_rows(self, rows: int, width: int = 64, table: int = 10_000) -> Task:
        index = integers(rows, table)
        return self._forward_backward(
            lambda weight: weight[index], uniform((rows, width), seed=1), uniform((table, width))
        )
