"""The adapter of torch and wengert, whose programs are the same."""

from __future__ import annotations

import importlib
import itertools
import os
import time
from typing import Any

import numpy as np

from benchmarks.libs import Library, Task
from benchmarks.libs.torch_models import Models
from benchmarks.works import integers, rosenbrock, uniform


class _TorchApi(Models, Library):
    def __init__(self) -> None:
        self.T: Any = importlib.import_module(self.module)

    def to_numpy(self, value: Any) -> np.ndarray:
        return value.detach().numpy()

    def tensor(self, array: np.ndarray, requires_grad: bool = False) -> Any:
        return self.T.tensor(array, requires_grad=requires_grad)

    def operator(self, name: str, recording: bool) -> Task:
        x, y = self.tensor(uniform(4), recording), self.tensor(uniform(4, seed=1))
        matrix, vector = self.tensor(uniform((8, 8)), recording), self.tensor(uniform(8, seed=1))
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
        return Task(calls[name])

    def evaluation(self, mode: str) -> Task:
        weight, rows = self.tensor(uniform((8, 8)), True), self.tensor(uniform((3, 8)))
        context, cat = getattr(self.T, mode), self.T.cat

        def call() -> Any:
            with context():
                hidden = (rows @ weight.t()).tanh()
                return cat([hidden[0], hidden.view(-1)])

        return Task(call)

    def chain(self, name: str, backward: bool = True, length: int = 100) -> Task:
        x, y = self.tensor(uniform(4), True), self.tensor(uniform(4, 0.9, 1.1, seed=1))
        step = {"mul": lambda z: z * y, "add": lambda z: z + y, "tanh": lambda z: z.tanh()}[name]
        repeats = range(length)

        def forward() -> Any:
            z = x
            for _ in repeats:
                z = step(z)
            return z

        def both() -> Any:
            x.grad = None
            forward().sum().backward()
            return x.grad

        return Task(both if backward else forward, per=length)

    def mlp(self, sizes: tuple[int, ...], batch: int, rate: float = 0.01) -> Task:
        no_grad = self.T.no_grad
        inputs, targets = self.tensor(uniform((batch, sizes[0]))), self.tensor(uniform((batch, sizes[-1]), seed=1))
        layers = list(itertools.pairwise(sizes))
        weights = [self.tensor(uniform(s, seed=2) / np.float32(s[0] ** 0.5), True) for s in layers]
        biases = [self.tensor(uniform(s[1], seed=3), True) for s in layers]
        parameters = weights + biases

        def step() -> Any:
            for parameter in parameters:  # torch.compile of 2.13 adds up all steps' gradients if this is last
                parameter.grad = None
            hidden = (inputs @ weights[0] + biases[0]).tanh()
            loss = ((hidden @ weights[1] + biases[1] - targets) ** 2).mean()
            loss.backward()
            with no_grad():
                for parameter in parameters:
                    parameter -= rate * parameter.grad
            return loss

        return Task(step)

    def hessian(self, size: int) -> Task:
        x = self.tensor(uniform(size), True)
        grad, stack = self.T.autograd.grad, self.T.stack

        def call() -> Any:
            (gradient,) = grad(rosenbrock(x), x, create_graph=True)
            return stack([grad(element, x, retain_graph=True)[0] for element in gradient])

        return Task(call)

    def _deep(self, nodes: int) -> tuple[Any, Any]:
        x, y = self.tensor(uniform(4), True), self.tensor(np.ones(4, np.float32))
        repeats = range(nodes)

        def build() -> Any:
            z = x
            for _ in repeats:
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
            x.grad = None
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
        a = self.tensor(uniform((size, size)), backward)
        b = self.tensor(uniform((size, size), seed=1), backward)
        cotangent = self.tensor(uniform((size, size), seed=2))

        def both() -> Any:
            a.grad = b.grad = None
            (a @ b).backward(cotangent)
            return a.grad, b.grad

        return Task(both if backward else lambda: a @ b)

    def elementwise(self, names: tuple[str, ...], size: int) -> Task:
        x, y = self.tensor(uniform(size), True), self.tensor(uniform(size, seed=1))
        steps = {
            "exp": lambda z: z.exp(),
            "tanh": lambda z: z.tanh(),
            "sigmoid": lambda z: z.sigmoid(),
            "add": lambda z: z + y,
        }
        chain = [steps[name] for name in names]

        def call() -> Any:
            x.grad = None
            z = x
            for step in chain:
                z = step(z)
            z.sum().backward()
            return x.grad

        return Task(call, per=len(chain))

    def reduction(self, name: str, size: int) -> Task:
        x = self.tensor(uniform(size))
        return Task({"sum": lambda: x.sum(), "max": lambda: x.max()}[name])

    def _forward_backward(self, function: Any, cotangent: np.ndarray, *inputs: Any) -> Task:
        back = self.tensor(cotangent)

        def call() -> Any:
            for tensor in inputs:
                tensor.grad = None
            function(*inputs).backward(back)
            return [tensor.grad for tensor in inputs]

        return Task(call)

    def softmax(self, shape: tuple[int, int]) -> Task:
        softmax = self.T.softmax
        return self._forward_backward(
            lambda x: softmax(x, -1), uniform(shape, seed=1), self.tensor(uniform(shape), True)
        )

    def layer_norm(self, shape: tuple[int, int]) -> Task:
        layer_norm, width = self.T.nn.functional.layer_norm, shape[-1:]
        return self._forward_backward(
            lambda x, weight, bias: layer_norm(x, width, weight, bias),
            uniform(shape, seed=1),
            self.tensor(uniform(shape), True),
            self.tensor(uniform(width, 0.5, 1.5, seed=2), True),
            self.tensor(uniform(width, seed=3), True),
        )

    def activation(self, name: str, size: int = 1_000_000) -> Task:
        functional, other = self.T.nn.functional, self.tensor(uniform(size, seed=2))
        functions = {
            "relu": functional.relu,
            "gelu": functional.gelu,
            "silu": functional.silu,
            "where": lambda x: self.T.where(x > other, x, other),
            "pow 3": lambda x: x**3,
        }
        return self._forward_backward(functions[name], uniform(size, seed=1), self.tensor(uniform(size), True))

    def along_rows(self, name: str, shape: tuple[int, int] = (1000, 1000)) -> Task:
        x = self.tensor(uniform(shape))
        return Task({"sum": lambda: x.sum(1), "var": lambda: x.var(1), "norm": lambda: x.norm(dim=1)}[name])

    def cross_entropy(self, shape: tuple[int, int]) -> Task:
        cross_entropy, target = self.T.nn.functional.cross_entropy, self.tensor(integers(shape[0], shape[1]))
        return self._forward_backward(
            lambda x: cross_entropy(x, target), np.float32(1), self.tensor(uniform(shape), True)
        )

    def mlp_adam(self, sizes: tuple[int, ...] = (784, 128, 128, 10), batch: int = 64) -> Task:
        nn = self.T.nn
        layers = [nn.Linear(*s) for s in itertools.pairwise(sizes)]
        model = self.begun(nn.Sequential(layers[0], *(m for layer in layers[1:] for m in (nn.ReLU(), layer))))
        optimizer = self.T.optim.Adam(model.parameters(), lr=1e-3)
        inputs, targets = self.tensor(uniform((batch, sizes[0]))), self.tensor(integers(batch, sizes[-1]))

        def step() -> Any:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(inputs), targets)
            loss.backward()
            optimizer.step()
            return loss

        return Task(step)

    def gather_rows(self, rows: int, width: int = 64, table: int = 10_000) -> Task:
        index = self.tensor(integers(rows, table))
        return self._forward_backward(
            lambda weight: weight.index_select(0, index),
            uniform((rows, width), seed=1),
            self.tensor(uniform((table, width)), True),
        )

    def add_rows(self, rows: int, width: int = 64, table: int = 10_000) -> Task:
        index, zeros = self.tensor(integers(rows, table)), self.T.zeros(table, width)
        return self._forward_backward(
            lambda source: zeros.index_add(0, index, source),
            uniform((table, width), seed=1),
            self.tensor(uniform((rows, width)), True),
        )

    def gather(self, rows: int, width: int = 64, table: int = 10_000) -> Task:
        index = self.tensor(integers(rows * width, table).reshape(rows, width))
        return self._forward_backward(
            lambda x: x.gather(0, index), uniform((rows, width), seed=1), self.tensor(uniform((table, width)), True)
        )

    def scatter_add(self, rows: int, width: int = 64, table: int = 10_000) -> Task:
        index = self.tensor(integers(rows * width, table).reshape(rows, width))
        zeros = self.T.zeros(table, width)
        return self._forward_backward(
            lambda x: zeros.scatter_add(0, index, x),
            uniform((table, width), seed=1),
            self.tensor(uniform((rows, width)), True),
        )

    def pool(self, name: str, shape: tuple[int, ...] = (16, 64, 56, 56)) -> Task:
        pool = getattr(self.T.nn.functional, name)
        pooled = (*shape[:2], shape[2] // 2, shape[3] // 2)
        return self._forward_backward(lambda x: pool(x, 2), uniform(pooled, seed=1), self.tensor(uniform(shape), True))

    def conv2d(self, image: tuple[int, ...], kernel: tuple[int, ...]) -> Task:
        conv2d = self.T.nn.functional.conv2d
        out = (image[0], kernel[0], image[2] - kernel[2] + 1, image[3] - kernel[3] + 1)
        return self._forward_backward(
            lambda x, w: conv2d(x, w),
            uniform(out, seed=1),
            self.tensor(uniform(image), True),
            self.tensor(uniform(kernel, seed=2), True),
        )


class Torch(_TorchApi):
    title, module, package = "torch", "torch", "torch"

    def __init__(self) -> None:
        super().__init__()
        self.T.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))


class Wengert(_TorchApi):
    title, module, package = "wengert", "wengert", "wengert"


class WengertNumPy(Wengert):
    backend = "numpy"

    def program(self, task: Task) -> Task:
        return Task(self.T.compile(task.call, backend=self.backend), task.per)


class WengertC(WengertNumPy):
    backend = "c"

    def __init__(self) -> None:
        super().__init__()
        self.T.compile(lambda x: x + 1, backend="c")(self.T.ones(1))  # finds the compiler
        self.ready()

    def ready(self) -> None:
        importlib.import_module("wengert._compile.c").wait()


class TorchCompile(Torch):
    def program(self, task: Task) -> Task:
        return Task(self.T.compile(task.call), task.per)
