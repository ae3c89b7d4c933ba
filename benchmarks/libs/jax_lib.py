"""JAX on the CPU.

A single operator runs eagerly, and recording one is `jax.vjp` around a hundred of them. Everything larger is one
function under `jax.jit`, since that is how JAX is used; the time to compile is not counted.
"""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.libs import Library, Task
from benchmarks.libs.jax_models import Models, pooled
from benchmarks.works import integers, rosenbrock, uniform


class Jax(Models, Library):
    title, module, package = "JAX", "jax", "jax"

    def wait(self, value: Any) -> None:
        jax.block_until_ready(value)

    def operator(self, name: str, recording: bool, repeats: int = 100) -> Task:
        x, y = jnp.asarray(uniform(4)), jnp.asarray(uniform(4, seed=1))
        matrix, vector = jnp.asarray(uniform((8, 8))), jnp.asarray(uniform(8, seed=1))
        functions = {
            "add": (lambda x: x + y, x),
            "mul": (lambda x: x * y, x),
            "mul by 2.0": (lambda x: x * 2.0, x),
            "neg": (lambda x: -x, x),
            "exp": (jnp.exp, x),
            "sin": (jnp.sin, x),
            "sum()": (lambda x: x.sum(), x),
            "reshape": (lambda x: x.reshape(2, 2), x),
            "x[1:3]": (lambda x: x[1:3], x),
            "matmul 8x8 @ 8": (lambda x: x @ vector, matrix),
        }
        function, argument = functions[name]
        if not recording:
            return Task(lambda: function(argument))

        def many(x: Any) -> Any:
            for _ in range(repeats):
                out = function(x)
            return out

        return Task(lambda: jax.vjp(many, argument)[0], per=repeats)

    def chain(self, name: str, backward: bool = True, length: int = 100) -> Task:
        x, y = jnp.asarray(uniform(4)), jnp.asarray(uniform(4, 0.9, 1.1, seed=1))
        step = {"mul": lambda z: z * y, "add": lambda z: z + y, "tanh": jnp.tanh}[name]

        def forward(z: Any) -> Any:
            for _ in range(length):
                z = step(z)
            return z

        function = jax.jit(jax.grad(lambda z: forward(z).sum()) if backward else forward)
        return Task(lambda: function(x), per=length)

    def mlp(self, sizes: tuple[int, ...], batch: int, rate: float = 0.01) -> Task:
        inputs, targets = jnp.asarray(uniform((batch, sizes[0]))), jnp.asarray(uniform((batch, sizes[-1]), seed=1))
        layers = list(itertools.pairwise(sizes))
        weights = [jnp.asarray(uniform(s, seed=2) / np.float32(s[0] ** 0.5)) for s in layers]
        biases = [jnp.asarray(uniform(s[1], seed=3)) for s in layers]

        def loss_of(parameters: Any) -> Any:
            w, b = parameters
            hidden = jnp.tanh(inputs @ w[0] + b[0])
            return ((hidden @ w[1] + b[1] - targets) ** 2).mean()

        @jax.jit
        def update(parameters: Any) -> Any:
            loss, gradients = jax.value_and_grad(loss_of)(parameters)
            return loss, jax.tree.map(lambda p, g: p - rate * g, parameters, gradients)

        state = (weights, biases)

        def step() -> Any:
            nonlocal state
            loss, state = update(state)
            return loss

        return Task(step)

    def hessian(self, size: int) -> Task:
        x, function = jnp.asarray(uniform(size)), jax.jit(jax.hessian(rosenbrock))
        return Task(lambda: function(x))

    def matmul(self, size: int, backward: bool = True) -> Task:
        a, b = jnp.asarray(uniform((size, size))), jnp.asarray(uniform((size, size), seed=1))
        if not backward:
            function = jax.jit(jnp.matmul)
            return Task(lambda: function(a, b))
        return self._forward_backward(jnp.matmul, uniform((size, size), seed=2), a, b)

    def elementwise(self, names: tuple[str, ...], size: int) -> Task:
        x, y = jnp.asarray(uniform(size)), jnp.asarray(uniform(size, seed=1))
        steps = {"exp": jnp.exp, "tanh": jnp.tanh, "sigmoid": jax.nn.sigmoid, "add": lambda z: z + y}

        def total(z: Any) -> Any:
            for name in names:
                z = steps[name](z)
            return z.sum()

        function = jax.jit(jax.grad(total))
        return Task(lambda: function(x), per=len(names))

    def reduction(self, name: str, size: int) -> Task:
        x, function = jnp.asarray(uniform(size)), jax.jit({"sum": jnp.sum, "max": jnp.max}[name])
        return Task(lambda: function(x))

    def _forward_backward(self, function: Any, cotangent: np.ndarray, *inputs: Any) -> Task:
        back = jnp.asarray(cotangent)
        pulled = jax.jit(lambda back, *inputs: jax.vjp(function, *inputs)[1](back))
        return Task(lambda: pulled(back, *inputs))

    def softmax(self, shape: tuple[int, int]) -> Task:
        return self._forward_backward(jax.nn.softmax, uniform(shape, seed=1), jnp.asarray(uniform(shape)))

    def layer_norm(self, shape: tuple[int, int]) -> Task:
        def layer_norm(x: Any, weight: Any, bias: Any) -> Any:
            centred = x - x.mean(-1, keepdims=True)
            return centred / jnp.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * weight + bias

        inputs = uniform(shape), uniform(shape[-1], 0.5, 1.5, seed=2), uniform(shape[-1], seed=3)
        return self._forward_backward(layer_norm, uniform(shape, seed=1), *map(jnp.asarray, inputs))

    def gather_rows(self, rows: int, width: int = 64, table: int = 10_000) -> Task:
        index = jnp.asarray(integers(rows, table))
        return self._forward_backward(
            lambda weight: weight[index], uniform((rows, width), seed=1), jnp.asarray(uniform((table, width)))
        )

    def add_rows(self, rows: int, width: int = 64, table: int = 10_000) -> Task:
        index = jnp.asarray(integers(rows, table))
        return self._forward_backward(
            lambda source: jnp.zeros((table, width)).at[index].add(source),
            uniform((table, width), seed=1),
            jnp.asarray(uniform((rows, width))),
        )

    def pool(self, name: str, shape: tuple[int, ...] = (16, 64, 56, 56)) -> Task:
        if name != "max_pool2d":
            raise NotImplementedError("not written for this library")
        back = uniform((*shape[:2], shape[2] // 2, shape[3] // 2), seed=1)
        return self._forward_backward(lambda x: pooled(x, 2, 2), back, jnp.asarray(uniform(shape)))

    def along_rows(self, name: str, shape: tuple[int, int] = (1000, 1000)) -> Task:
        functions = {"sum": jnp.sum, "var": partial(jnp.var, ddof=1), "norm": jnp.linalg.norm}
        x, function = jnp.asarray(uniform(shape)), jax.jit(partial(functions[name], axis=1))
        return Task(lambda: function(x))

    def conv2d(self, image: tuple[int, ...], kernel: tuple[int, ...]) -> Task:
        out = (image[0], kernel[0], image[2] - kernel[2] + 1, image[3] - kernel[3] + 1)
        return self._forward_backward(
            lambda x, w: jax.lax.conv(x, w, (1, 1), "VALID"),
            uniform(out, seed=1),
            jnp.asarray(uniform(image)),
            jnp.asarray(uniform(kernel, seed=2)),
        )
