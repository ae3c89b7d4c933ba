"""``torch.random``: generators of random numbers with the stream of PyTorch's CPU generator.

``manual_seed(s)`` starts the same stream as PyTorch, and every random function draws from it in the same way, so a
seeded program prints the same digits with both. A ``Generator`` has a separate stream.

>>> import wengert as torch
>>> _ = torch.manual_seed(0)
>>> torch.rand(3)
tensor([0.4963, 0.7682, 0.0885])
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from ._base.modes import begin, undoing
from ._tape.tensor import Tensor
from ._tensor_api.construct import cpu_only
from ._tensor_api.generator import Generator, default_generator

__all__ = [
    "Generator", "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed",
    "set_rng_state", "thread_safe_generator",
]  # fmt: skip
_ends: list[Any] = []  # what the open contexts of fork_rng do at their ends


def manual_seed(seed: int) -> Generator:
    """Seed the default generator and return it.

    ``seed`` is an int in [-2**63, 2**64); a negative one stands for ``seed + 2**64``.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.randperm(4)
    tensor([0, 1, 3, 2])
    """
    default_generator.manual_seed(int(seed))
    return default_generator


def seed() -> int:
    """Seed the default generator with a number from the operating system; return the seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed of the default generator.

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
    """Set the state of the default generator, from ``get_rng_state`` of wengert or PyTorch."""
    default_generator.set_state(new_state)


class _Fork(contextlib.ContextDecorator):
    """The context of ``fork_rng``."""

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled

    def __enter__(self) -> None:
        end = default_generator.returning() if self.enabled else int
        begin(partial(_ends.append, end), partial(_ends.remove, end))

    __exit__ = undoing(_ends.pop)


def fork_rng(
    devices: Iterable[Any] | None = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str = "cuda",
) -> AbstractContextManager[None]:
    """A context manager that restores the default generator's state at its end; also a decorator.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> with torch.random.fork_rng():
    ...     _ = torch.rand(100)
    >>> torch.rand(1)
    tensor([0.4963])
    """
    for each in devices or ():
        cpu_only(each, "fork_rng")
    return _Fork(enabled)


def thread_safe_generator() -> Generator | None:
    """``None``: every draw takes the generator's lock, so all threads share one generator."""
    return None
