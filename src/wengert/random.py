"""Random numbers: PyTorch's CPU stream (``torch.random``).

``manual_seed(s)`` starts the stream that PyTorch's starts; every function that draws takes from it in the same way,
so a program that seeds prints the same digits on both. ``Generator`` is a stream of one's own.

>>> import wengert as torch
>>> _ = torch.manual_seed(0)
>>> torch.rand(3)
tensor([0.4963, 0.7682, 0.0885])
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ._arrays.random import generator
from ._base.dtypes import device, type_name
from ._tape.tensor import Tensor, wrap
from ._tensor_api.construct import cpu_only

__all__ = [
    "Generator",
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
    "thread_safe_generator",
]


class Generator(generator.Generator):
    """A stream of random numbers of its own, for the ``generator=`` argument of every function that draws.

    >>> import wengert as torch
    >>> g = torch.Generator().manual_seed(0)
    >>> torch.rand(2, generator=g)
    tensor([0.4963, 0.7682])
    """

    @property
    def device(self) -> device:
        """The CPU."""
        return device("cpu")

    def get_state(self) -> Tensor:
        """The state as a uint8 tensor of 5056 elements, for ``set_state`` here or in PyTorch."""
        return wrap(self.get_state_array())

    def set_state(self, new_state: Tensor) -> Generator:
        """Go on from a state that ``get_state`` gave here or in PyTorch.

        Raises TypeError if it is no uint8 tensor, RuntimeError if its size or content is no generator state.
        """
        if not isinstance(new_state, Tensor):
            raise TypeError(f"expected a torch.ByteTensor, but got {type_name(new_state)}")
        self.set_state_array(np.asarray(new_state._a))
        return self

    def __repr__(self) -> str:
        return f"<torch._C.Generator object at {id(self):#x}>"


class _DefaultGenerator(generator.DefaultGenerator, Generator):
    """The generator of all functions that are given none, with the methods above."""


generator.default_generator.__class__ = _DefaultGenerator
default_generator: Generator = generator.default_generator  # type: ignore[assignment]


def manual_seed(seed: int) -> Generator:
    """Start the stream of all functions that take no ``generator``; returns the default generator.

    ``seed`` is an int in [-2**63, 2**64); a negative one stands for ``seed + 2**64``.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.randperm(4)
    tensor([0, 1, 3, 2])
    """
    default_generator.manual_seed(int(seed))
    return default_generator


def seed() -> int:
    """Start a stream that the operating system chooses; returns its seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed of the current stream.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(7)
    >>> torch.initial_seed()
    7
    """
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The state of the default generator, a uint8 tensor.

    >>> import wengert as torch
    >>> state = torch.get_rng_state()
    >>> a = torch.rand(2)
    >>> torch.set_rng_state(state)
    >>> bool((torch.rand(2) == a).all())
    True
    """
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Go on from a state of ``get_rng_state``, made here or by PyTorch."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(
    devices: Iterable[Any] | None = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str = "cuda",
) -> Iterator[None]:
    """A block after which the default generator goes on from where it was before; decorator, too.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> with torch.random.fork_rng():
    ...     _ = torch.rand(100)
    >>> torch.rand(1)
    tensor([0.4963])
    """
    for each in devices or ():
        cpu_only(each, "fork_rng")
    before = get_rng_state() if enabled else None
    try:
        yield
    finally:
        if before is not None:
            set_rng_state(before)


def thread_safe_generator() -> Generator | None:
    """``None``: each draw is made under the generator's lock, in whatever thread."""
    return None
