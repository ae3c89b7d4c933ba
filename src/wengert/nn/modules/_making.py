"""Helpers of layers: empty parameters, the default initial values, the text of options."""

from __future__ import annotations

import math
from typing import Any

import wengert as torch

from .. import init
from ..parameter import Parameter, UninitializedParameter


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
