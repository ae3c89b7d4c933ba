"""Weight normalisation in its old form, with a hook. Source: Salimans and Kingma 2016."""

from __future__ import annotations

from typing import Any

import wengert as torch

from ..._base.errors import warn
from ..._tape.tensor import Tensor
from ..modules.module import Module
from ..parameter import Parameter
from ._normalized import check_weight, take_away
from .parametrizations import norm_except_dim

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]


class WeightNorm:
    """The hook that computes the weight from its length and direction before each call."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        """``g * v / |v|``."""
        return torch._weight_norm(getattr(module, f"{self.name}_v"), getattr(module, f"{self.name}_g"), self.dim)

    @staticmethod
    def apply(module: Module, name: str, dim: int | None) -> WeightNorm:
        """Replace the parameter by its length and direction, and register the hook."""
        warn(
            "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.",
            FutureWarning,
        )
        direction = getattr(module, name)
        check_weight(module, name, direction, WeightNorm, "weight")
        hook = WeightNorm(name, dim)
        length = norm_except_dim(direction, 2, hook.dim)
        del module._parameters[name]
        for suffix, part in (("g", length), ("v", direction)):
            module.register_parameter(f"{name}_{suffix}", Parameter(part.data))
        hook(module, None)  # a plain attribute, already before the first call
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module: Module) -> None:
        """Restore an ordinary parameter."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[f"{self.name}_g"], module._parameters[f"{self.name}_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Replace a parameter by its length ``name_g`` and direction ``name_v``; deprecated: see ``parametrizations``."""
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Undo ``weight_norm``."""
    take_away(module, name, WeightNorm, "weight")
    return module
