"""One small file for each library: how it does the works of works.py, in the way its own users would write them.

A library is a class made without arguments. It has a method for each work that it can do, which prepares the inputs
and returns a Task; a work that it has no method for is left out. `to_numpy` and `wait` turn a result into an array and
wait for it where the library computes in the background.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class Task:
    """`call` does the work once and returns its result; `per` is how many operators (nodes, steps) that is.

    A `clocked` call times its own part and returns (seconds, result): for what cannot be repeated without a
    preparation that must not count, such as walking a graph that has to be built first.
    """

    call: Callable[[], Any]
    per: int = 1
    clocked: bool = False


class Library:
    """What the libraries share. `module` is what is imported, `package` what is installed."""

    title: str
    module: str
    package: str

    def version(self) -> str:
        return importlib.import_module(self.module).__version__

    def to_numpy(self, value: Any) -> np.ndarray:
        return np.asarray(value)

    def wait(self, value: Any) -> None:
        """Returns when `value` is computed; most libraries have computed it already."""


# name on the command line: where its class is, what it imports, what is shown
LIBRARIES = {
    "torch": ("benchmarks.libs.torch_api:Torch", "torch", "torch"),
    "wengert": ("benchmarks.libs.torch_api:Wengert", "wengert", "wengert"),
    "jax": ("benchmarks.libs.jax_lib:Jax", "jax", "JAX"),
    "autograd": ("benchmarks.libs.hips_lib:Hips", "autograd", "autograd"),
    "mygrad": ("benchmarks.libs.mygrad_lib:MyGrad", "mygrad", "MyGrad"),
    "tinygrad": ("benchmarks.libs.tinygrad_lib:TinyGrad", "tinygrad", "tinygrad"),
}


def load(name: str) -> Library:
    """Imports the library and makes its adapter; whatever the import raises is raised."""
    where, _, cls = LIBRARIES[name][0].partition(":")
    return getattr(importlib.import_module(where), cls)()
