"""Layers and small models in JAX: a part of the adapter in `jax_lib`.

A model is a function of a dict of parameters, which have the names, shapes and values of PyTorch's. Each step is one
jitted function, to which the parameters and the optimizer's state are donated, as JAX's users write it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from benchmarks.libs import Task
from benchmarks.works import drawn, integers, uniform

Parameters = dict[str, Any]
normalized = partial(jax.nn.standardize, epsilon=1e-5)


def conv(x: Any, w: Any, stride: int = 1, padding: int = 0) -> Any:
    return jax.lax.conv_general_dilated(x, w, (stride, stride), [(padding, padding)] * 2)


def pooled(x: Any, size: int, stride: int, padding: int = 0) -> Any:
    window, steps = (1, 1, size, size), (1, 1, stride, stride)
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, window, steps, [(0, 0), (0, 0), *[(padding, padding)] * 2])


def linear(p: Parameters, name: str, x: Any) -> Any:
    return x @ p[f"{name}.weight"].T + p[f"{name}.bias"]


def layer_norm(p: Parameters, name: str, x: Any) -> Any:
    return normalized(x) * p[f"{name}.weight"] + p[f"{name}.bias"]


def cross_entropy(logits: Any, labels: Any) -> Any:
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1).mean()


def batch_norm(p: Parameters, name: str, x: Any, statistics: Parameters) -> Any:
    """The normalized input; notes the running statistics, which a training step updates."""
    mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
    count = x.size // x.shape[1]
    for kind, value in (("mean", mean), ("var", var * (count / (count - 1)))):
        key = f"{name}.{kind}"
        statistics[key] = 0.9 * statistics.get(key, 0.0) + 0.1 * value
    scale = p[f"{name}.weight"] / jnp.sqrt(var + 1e-5)
    return (x - mean[:, None, None]) * scale[:, None, None] + p[f"{name}.bias"][:, None, None]


def attention(p: Parameters, name: str, x: Any, heads: int) -> Any:
    batch, length, width = x.shape
    qkv = linear(p, f"{name}qkv", x).reshape(batch, length, 3, heads, width // heads)
    y = jax.nn.dot_product_attention(qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2], is_causal=True)
    return linear(p, f"{name}proj", y.reshape(batch, length, width))


def block(p: Parameters, name: str, x: Any, heads: int, approximate: bool) -> Any:
    x = x + attention(p, name, layer_norm(p, f"{name}ln1", x), heads)
    hidden = jax.nn.gelu(linear(p, f"{name}up", layer_norm(p, f"{name}ln2", x)), approximate=approximate)
    return x + linear(p, f"{name}down", hidden)


def sgd(p: Any, g: Any, state: Any, _: Any, rate: float, momentum: float = 0.0, decay: float = 0.0) -> Any:
    g = g + decay * p if decay else g
    if momentum:
        state = (momentum * state[0] + g,)  # the first step begins with zeros, as PyTorch's with the gradient
        g = state[0]
    return p - rate * g, state


def adam(p: Any, g: Any, state: Any, step: Any, rate: float, beta: float = 0.999, decay: float = 0.0) -> Any:
    mean, square = 0.9 * state[0] + 0.1 * g, beta * state[1] + (1 - beta) * g * g
    p = p * (1 - rate * decay) if decay else p
    scale = rate / (1 - 0.9**step)
    return p - scale * mean / (jnp.sqrt(square) / jnp.sqrt(1 - beta**step) + 1e-8), (mean, square)


class Models:
    """The works of `torch_models` and what else needs layers."""

    _forward_backward: Any

    def _training(self, names: dict[str, tuple[int, ...]], loss_of: Any, update: Any, states: int) -> Task:
        """A step of `update` on what `loss_of` (parameters, statistics) has as gradient."""
        parameters = {name: jnp.asarray(drawn(name, shape)) for name, shape in names.items()}

        @partial(jax.jit, donate_argnums=(0, 1))
        def step(parameters: Any, state: Any, statistics: Any, count: Any) -> Any:
            def loss_and_statistics(parameters: Any) -> Any:
                noted = dict(statistics)
                return loss_of(parameters, noted), noted

            (loss, noted), gradients = jax.value_and_grad(loss_and_statistics, has_aux=True)(parameters)
            new = {n: update(p, gradients[n], state[n], count) for n, p in parameters.items()}
            return loss, {n: p for n, (p, _) in new.items()}, {n: s for n, (_, s) in new.items()}, noted

        state = {n: tuple(jnp.zeros_like(p) for _ in range(states)) for n, p in parameters.items()}
        noted: Any = {}
        steps = 0

        def call() -> Any:
            nonlocal parameters, state, noted, steps
            steps += 1
            loss, parameters, state, noted = step(parameters, state, noted, float(steps))
            return loss

        return Task(call)

    def activation(self, name: str, size: int = 1_000_000) -> Task:
        other = jnp.asarray(uniform(size, seed=2))
        function: Callable[[Any], Any] = {
            "relu": jax.nn.relu,
            "gelu": partial(jax.nn.gelu, approximate=False),
            "silu": jax.nn.silu,
            "where": lambda x: jnp.where(x > other, x, other),
            "pow 3": lambda x: x**3,
        }[name]
        return self._forward_backward(function, uniform(size, seed=1), jnp.asarray(uniform(size)))

    def cross_entropy(self, shape: tuple[int, int]) -> Task:
        labels = jnp.asarray(integers(shape[0], shape[1]))
        return self._forward_backward(
            lambda x: cross_entropy(x, labels), uniform(()) * 0 + 1, jnp.asarray(uniform(shape))
        )

    def embedding(self, rows: int, width: int, table: int) -> Task:
        index, weight = jnp.asarray(integers(rows, table)), jnp.asarray(drawn("weight", (table, width)))
        return self._forward_backward(lambda w: w[index], uniform((rows, width), seed=1), weight)

    def gather(self, rows: int, width: int = 64, table: int = 10_000) -> Task:
        index = jnp.asarray(integers(rows * width, table).reshape(rows, width))
        return self._forward_backward(
            lambda x: jnp.take_along_axis(x, index, 0),
            uniform((rows, width), seed=1),
            jnp.asarray(uniform((table, width))),
        )

    def scatter_add(self, rows: int, width: int = 64, table: int = 10_000) -> Task:
        index = jnp.asarray(integers(rows * width, table).reshape(rows, width))
        columns = jnp.arange(width)[None]
        return self._forward_backward(
            lambda x: jnp.zeros((table, width)).at[index, columns].add(x),
            uniform((table, width), seed=1),
            jnp.asarray(uniform((rows, width))),
        )

    def batch_norm(self, shape: tuple[int, ...]) -> Task:
        def function(x: Any, weight: Any, bias: Any) -> Any:
            return batch_norm({".weight": weight, ".bias": bias}, "", x, {})

        width = shape[1]
        weights = jnp.ones(width), jnp.zeros(width)
        return self._forward_backward(function, uniform(shape, seed=1), jnp.asarray(uniform(shape)), *weights)

    def recurrent(self, name: str, length: int, batch: int, inputs: int, hidden: int) -> Task:
        gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[name]
        shapes = {
            "weight_ih_l0": (gates * hidden, inputs),
            "weight_hh_l0": (gates * hidden, hidden),
            "bias_ih_l0": (gates * hidden,),
            "bias_hh_l0": (gates * hidden,),
        }

        def function(x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
            given, state = x @ w_ih.T + b_ih, jnp.zeros((batch, hidden))

            def lstm(carry: Any, row: Any) -> Any:
                h, c = carry
                i, f, g, o = jnp.split(row + h @ w_hh.T + b_hh, 4, 1)
                c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
                h = jax.nn.sigmoid(o) * jnp.tanh(c)
                return (h, c), h

            def gru(h: Any, row: Any) -> Any:
                (r, z, n), (hr, hz, hn) = jnp.split(row, 3, 1), jnp.split(h @ w_hh.T + b_hh, 3, 1)
                r, z = jax.nn.sigmoid(r + hr), jax.nn.sigmoid(z + hz)
                h = (1 - z) * jnp.tanh(n + r * hn) + z * h
                return h, h

            def rnn(h: Any, row: Any) -> Any:
                h = jnp.tanh(row + h @ w_hh.T + b_hh)
                return h, h

            if name == "LSTM":
                return jax.lax.scan(lstm, (state, state), given)[1]
            return jax.lax.scan(gru if name == "GRU" else rnn, state, given)[1]

        weights = [jnp.asarray(drawn(n, shape)) for n, shape in shapes.items()]
        x = jnp.asarray(uniform((length, batch, inputs)))
        return self._forward_backward(function, uniform((length, batch, hidden), seed=1), x, *weights)

    def mlp_adam(self, sizes: tuple[int, ...] = (784, 128, 128, 10), batch: int = 64) -> Task:
        names: dict[str, tuple[int, ...]] = {}
        for k, (n, m) in enumerate(itertools.pairwise(sizes)):
            names |= {f"{2 * k}.weight": (m, n), f"{2 * k}.bias": (m,)}
        inputs, targets = jnp.asarray(uniform((batch, sizes[0]))), jnp.asarray(integers(batch, sizes[-1]))

        def loss_of(p: Parameters, _: Any) -> Any:
            x = jax.nn.relu(linear(p, "2", jax.nn.relu(linear(p, "0", inputs))))
            return cross_entropy(linear(p, "4", x), targets)

        return self._training(names, loss_of, partial(adam, rate=1e-3), 2)

    def cnn(self, batch: int) -> Task:
        names = {"0.weight": (32, 1, 3, 3), "0.bias": (32,), "2.weight": (64, 32, 3, 3), "2.bias": (64,)}
        names |= {"6.weight": (128, 9216), "6.bias": (128,), "8.weight": (10, 128), "8.bias": (10,)}
        images, labels = jnp.asarray(uniform((batch, 1, 28, 28))), jnp.asarray(integers(batch, 10))

        def loss_of(p: Parameters, _: Any) -> Any:
            x = jax.nn.relu(conv(images, p["0.weight"]) + p["0.bias"][:, None, None])
            x = jax.nn.relu(conv(x, p["2.weight"]) + p["2.bias"][:, None, None])
            x = jax.nn.relu(linear(p, "6", pooled(x, 2, 2).reshape(batch, -1)))
            return cross_entropy(linear(p, "8", x), labels)

        return self._training(names, loss_of, partial(sgd, rate=0.01), 0)

    def residual(self, batch: int, size: int) -> Task:
        names: dict[str, tuple[int, ...]] = {"stem.weight": (16, 3, 3, 3)}
        names |= {"conv1.weight": (16, 16, 3, 3), "conv2.weight": (16, 16, 3, 3)}
        names |= {f"bn{k}.{n}": (16,) for k in range(3) for n in ("weight", "bias")}
        images = jnp.asarray(uniform((batch, 3, size, size)))

        def loss_of(p: Parameters, noted: Parameters) -> Any:
            x = jax.nn.relu(batch_norm(p, "bn0", conv(images, p["stem.weight"], 1, 1), noted))
            y = jax.nn.relu(batch_norm(p, "bn1", conv(x, p["conv1.weight"], 1, 1), noted))
            y = batch_norm(p, "bn2", conv(y, p["conv2.weight"], 1, 1), noted)
            return (jax.nn.relu(y + x) ** 2).mean()

        return self._training(names, loss_of, partial(sgd, rate=0.01), 0)

    def gpt_block(self, batch: int, length: int, width: int, heads: int = 4) -> Task:
        x, target = (jnp.asarray(uniform((batch, length, width), seed=seed)) for seed in (0, 1))

        def loss_of(p: Parameters, _: Any) -> Any:
            return ((block(p, "", x, heads, False) - target) ** 2).mean()

        return self._training(_block_names("", width), loss_of, partial(adam, rate=1e-3, decay=0.01), 2)

    def resnet18(self, batch: int, size: int) -> Task:
        names: dict[str, tuple[int, ...]] = {"conv1.weight": (64, 3, 7, 7)}
        blocks = []
        for k, width in enumerate((64, 128, 256, 512), 1):
            for j, before in enumerate((width if k == 1 else width // 2, width)):
                name = f"layer{k}.{j}."
                names |= {f"{name}conv1.weight": (width, before, 3, 3), f"{name}conv2.weight": (width, width, 3, 3)}
                if before != width:
                    names[f"{name}downsample.0.weight"] = (width, before, 1, 1)
                blocks.append((name, 2 if before != width else 1))
        norms = {n.replace("conv", "bn").replace("downsample.0", "downsample.1"): s[:1] for n, s in names.items()}
        names |= norms | {n.replace("weight", "bias"): s for n, s in norms.items()}
        names |= {"fc.weight": (1000, 512), "fc.bias": (1000,)}
        images, labels = jnp.asarray(uniform((batch, 3, size, size))), jnp.asarray(integers(batch, 1000))

        def loss_of(p: Parameters, noted: Parameters) -> Any:
            x = jax.nn.relu(batch_norm(p, "bn1", conv(images, p["conv1.weight"], 2, 3), noted))
            x = pooled(x, 3, 2, 1)
            for name, stride in blocks:
                y = conv(x, p[f"{name}conv1.weight"], stride, 1)
                y = jax.nn.relu(batch_norm(p, f"{name}bn1", y, noted))
                y = batch_norm(p, f"{name}bn2", conv(y, p[f"{name}conv2.weight"], 1, 1), noted)
                if stride == 2:
                    x = batch_norm(p, f"{name}downsample.1", conv(x, p[f"{name}downsample.0.weight"], 2), noted)
                x = jax.nn.relu(x + y)
            return cross_entropy(linear(p, "fc", x.mean((2, 3))), labels)

        return self._training(names, loss_of, partial(sgd, rate=0.001, momentum=0.9, decay=1e-4), 1)

    def gpt2(self, batch: int, length: int, layers: int, heads: int, width: int, words: int) -> Task:
        names = {"wte.weight": (words, width), "wpe.weight": (1024, width)}
        for k in range(layers):
            names |= _block_names(f"h.{k}.", width)
        names |= {"ln.weight": (width,), "ln.bias": (width,)}
        tokens = integers(batch * (length + 1), words).reshape(batch, length + 1)
        inputs, targets = jnp.asarray(tokens[:, :-1]), jnp.asarray(tokens[:, 1:].reshape(-1))

        def loss_of(p: Parameters, _: Any) -> Any:
            x = p["wte.weight"][inputs] + p["wpe.weight"][:length]
            for k in range(layers):
                x = block(p, f"h.{k}.", x, heads, True)
            logits = layer_norm(p, "ln", x) @ p["wte.weight"].T
            return cross_entropy(logits.reshape(batch * length, words), targets)

        return self._training(names, loss_of, partial(adam, rate=3e-4, beta=0.95, decay=0.1), 2)


def _block_names(name: str, width: int) -> dict[str, tuple[int, ...]]:
    names: dict[str, tuple[int, ...]] = {}
    for norm in ("ln1", "ln2"):
        names |= {f"{name}{norm}.weight": (width,), f"{name}{norm}.bias": (width,)}
    for layer, n, m in (("qkv", 1, 3), ("proj", 1, 1), ("up", 1, 4), ("down", 4, 1)):
        names |= {f"{name}{layer}.weight": (m * width, n * width), f"{name}{layer}.bias": (m * width,)}
    return names
