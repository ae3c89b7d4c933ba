"""``Generator``, a stream of random numbers whose state is a tensor, and the default generator."""

from __future__ import annotations

import numpy as np

from .._arrays.random import generator
from .._base.dtypes import device as Device
from .._base.dtypes import type_name
from .._tape.tensor import Tensor, wrap


class Generator(generator.Generator):
    """An independent stream of random numbers, for the argument ``generator=`` of random functions.

    >>> import wengert as torch
    >>> g = torch.Generator().manual_seed(0)
    >>> torch.rand(2, generator=g)
    tensor([0.4963, 0.7682])
    """

    _name_in_errors = "torch._C.Generator"
    __module__ = "wengert.random"  # its home in PyTorch, and where pickles find it

    def __init__(self, device: object = None) -> None:
        if not isinstance(device, (str, int, Device, type(None))):
            name = type_name(device)
            raise TypeError(f"Generator(): argument 'device' (position 1) must be torch.device, not {name}")
        place = Device("cpu" if device is None else device)
        library = None
        if place.type == "cuda":
            from .._payloads.foreign import library_at

            library = library_at("cuda")
        super().__init__(place if library is None else "cpu")  # the CPU where it stands for cards
        self._place = None if library is None else library.place(place.index or 0)

    @property
    def device(self) -> Device:
        """The CPU, or the device that the numbers are for: they are drawn on the CPU."""
        return self.__dict__.get("_place") or Device("cpu")

    def get_state(self) -> Tensor:
        """The state as a uint8 tensor of 5056 elements, for ``set_state`` here or in PyTorch."""
        return wrap(self.get_state_array())

    def set_state(self, new_state: Tensor) -> Generator:
        """Continue from a state that ``get_state`` returned here or in PyTorch.

        Raises TypeError if it is not a uint8 tensor, RuntimeError if it is not the state of a generator.
        """
        if not isinstance(new_state, Tensor):
            raise TypeError(f"expected a torch.ByteTensor, but got {type_name(new_state)}")
        self.set_state_array(np.asarray(new_state._payload))
        return self

    def __repr__(self) -> str:
        return f"<torch._C.Generator object at {id(self):#x}>"


class _DefaultGenerator(generator.DefaultGenerator, Generator):
    """The default generator of all random functions until its first use, with the methods above."""

    _made = Generator


generator.default_generator.__class__ = _DefaultGenerator
default_generator: Generator = generator.default_generator  # type: ignore[assignment]
