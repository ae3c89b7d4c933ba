"""Adapters of the libraries, one small module each, which do the works of works.py as the library's users would.

An adapter is a class without arguments. It has a method for each work that the library can do; the method prepares the
inputs and returns a Task. Works without a method are left out. `to_numpy` turns a result into an array, and `wait`
waits for it if the library computes in the background.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class Task:
    """`call` does the work once and returns its result; `per` is the number of operators (nodes, steps) in it.

    A `clocked` call times a part of itself and returns (seconds, result), for works that need a preparation at each
    repetition which must not count, such as walking a graph that has to be built first.
    """

    call: Callable[[], Any]
    per: int = 1
    clocked: bool = False


class Library:
    """The base class of the adapters. `module` is the name to import, `package` the name of the distribution."""

    title: str
    module: str
    package: str

    def version(self) -> str:
        return importlib.import_module(self.module).__version__

    def to_numpy(self, value: Any) -> np.ndarray:
        return np.asarray(value)

    def wait(self, value: Any) -> None:
        """Waits until `value` is computed; most libraries have computed it already."""

    def program(self, task: Task) -> Task:
        """The task under the library's compiler; the task itself if the library has none."""
        return task

    def ready(self) -> None:
        """Waits for a compiler that works in the background."""


# name on the command line: module and class of the adapter, module to import, name to show
LIBRARIES = {
    "torch": ("benchmarks.libs.torch_api:Torch", "torch", "torch"),
    "wengert": ("benchmarks.libs.torch_api:Wengert", "wengert", "wengert"),
    "jax": ("benchmarks.libs.jax_lib:Jax", "jax", "JAX"),
    "autograd": ("benchmarks.libs.hips_lib:Hips", "autograd", "autograd"),
    "mygrad": ("benchmarks.libs.mygrad_lib:MyGrad", "mygrad", "MyGrad"),
    "tinygrad": ("benchmarks.libs.tinygrad_lib:TinyGrad", "tinygrad", "tinygrad"),
    "wengert-kernels": ("benchmarks.libs.torch_api:Wengert", "wengert_kernels", "wengert with kernels"),
    "wengert-numpy": ("benchmarks.libs.torch_api:WengertNumPy", "wengert", "compiled, NumPy"),
    "wengert-c": ("benchmarks.libs.torch_api:WengertC", "wengert", "compiled, C"),
    "torch-compile": ("benchmarks.libs.torch_api:TorchCompile", "torch", "torch.compile"),
}
#: what `--compiled` compares; the last four are in no other run
COMPILED = ("torch", "wengert", "wengert-kernels", "wengert-numpy", "wengert-c", "torch-compile", "jax")
EAGER = tuple(list(LIBRARIES)[:-4])
MAKERS = ("wengert-numpy", "wengert-c", "torch-compile", "jax")  # whose first call makes a program


def load(name: str) -> Library:
    """Imports the library and makes its adapter; errors of the import are passed on."""
    where, _, cls = LIBRARIES[name][0].partition(":")
    return getattr(importlib.import_module(where), cls)()
