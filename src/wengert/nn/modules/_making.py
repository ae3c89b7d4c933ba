"""Helpers of layers: the base of those that call one function, empty parameters, initial values, text of options."""

from __future__ import annotations

import math
from operator import attrgetter
from types import FunctionType
from typing import Any

import wengert as torch

from ..._tape.tensor import Tensor
from .. import functional as F
from .. import init
from ..parameter import Parameter, UninitializedParameter
from .module import Module


class FunctionLayer(Module):
    """Base of layers that call one function of ``nn.functional``, which class keywords describe.

    ``function``: its name. ``options``: the attributes that it gets after the input, ``named``: those that it gets by
    name, from ``_of``. ``shown``: those that the layer's text lists, and ``constants``: those in ``__constants__``,
    unless the class lists them itself; both are the options by default. ``dims``: the number of dimensions, where
    classes differ in nothing else.
    """

    _function = ""
    _named: tuple[str, ...] = ()
    _shown: tuple[str, ...] = ()
    _given: Any = staticmethod(lambda layer: ())  # a layer's values of the options, as a tuple
    _dims = 0
    __constants__: list[str]

    def __init_subclass__(
        cls,
        function: str = "",
        options: str | None = None,
        named: str | None = None,
        shown: str | None = None,
        constants: str | None = None,
        dims: int = 0,
        **rest: Any,
    ) -> None:
        super().__init_subclass__(**rest)
        if function:
            cls._function = function
            if "forward" not in cls.__dict__:
                cls.forward = own_form(cls, cls.forward)
        if dims:
            cls._dims = dims
        if options is not None:
            cls._shown = tuple(options.split())
            one = len(cls._shown) == 1  # of which ``attrgetter`` gives no tuple
            cls._given = staticmethod(lambda layer: (getattr(layer, options),)) if one else attrgetter(*cls._shown)
        if named is not None:
            cls._named = tuple(named.split())
        if shown is not None:
            cls._shown = tuple(shown.split())
        names = constants or options or named
        if names is not None and "__constants__" not in cls.__dict__:
            cls.__constants__ = names.split()

    def forward(self, input: Tensor) -> Tensor:
        """The function of the input and the layer's options."""
        return getattr(F, self._function)(input, *self._given(self))

    def _of(self, *inputs: Any, **named: Any) -> Any:
        """The function of inputs, options and named options."""
        named |= {name: getattr(self, name) for name in self._named}
        return getattr(F, self._function)(*inputs, *self._given(self), **named)

    def extra_repr(self) -> str:
        """The options; ``inplace`` only where it is true."""
        return listed(self, *(name for name in self._shown if name != "inplace" or self.inplace))


def own_form(cls: type, method: Any) -> Any:
    """An inherited method under the name of the class, which Python's errors about arguments show."""
    code, name = method.__code__, method.__name__
    own = FunctionType(code, method.__globals__, name, method.__defaults__, method.__closure__)
    own.__kwdefaults__, own.__annotations__ = method.__kwdefaults__, method.__annotations__
    own.__doc__, own.__qualname__ = method.__doc__, f"{cls.__qualname__}.{name}"
    return own


def add_parameters(module: Any, device: Any, dtype: Any, **shapes: Any) -> None:
    """Register parameters of these shapes, without values yet; None registers the name only."""
    for name, shape in shapes.items():
        empty = None if shape is None else Parameter(torch.empty(shape, device=device, dtype=dtype))
        module.register_parameter(name, empty)


def add_lazy_parameters(module: Any, device: Any, dtype: Any, *names: str) -> None:
    """Register parameters without a shape yet."""
    for name in names:
        setattr(module, name, UninitializedParameter(device=device, dtype=dtype))


def draw_by_inputs(weight: Any, bias: Any) -> None:
    """Fill uniformly within ``1 / sqrt(inputs of an output)``, the default of linear layers and convolutions."""
    init.kaiming_uniform_(weight, a=math.sqrt(5))
    if bias is None:
        return
    inputs, _ = init._calculate_fan_in_and_fan_out(weight)
    init_within(1 / math.sqrt(inputs) if inputs > 0 else 0, bias)


def init_within(bound: float, *tensors: Any) -> None:
    """Fill uniformly between ``-bound`` and ``bound``."""
    for tensor in tensors:
        init.uniform_(tensor, -bound, bound)


def listed(module: Any, *names: str) -> str:
    """The text ``name=value`` of options."""
    return ", ".join(f"{name}={getattr(module, name)}" for name in names)


def unusual(module: Any, **usual: Any) -> str:
    """The text ``, name=value`` of each option that does not have its default value."""
    return "".join(
        f", {name}={value}" for name, default in usual.items() if not _same(value := getattr(module, name), default)
    )


def _same(value: Any, default: Any) -> bool:
    return value is default if default is None or isinstance(default, bool) else value == default
