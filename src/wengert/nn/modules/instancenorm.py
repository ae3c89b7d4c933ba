"""Instance normalisation. Source: Ulyanov et al. 2016."""

from __future__ import annotations

from typing import Any

from ..._base.errors import warn
from ..._base.exports import own_names
from ..._tape.tensor import Tensor
from .. import functional as F
from .batchnorm import _LazyNormBase, _NormBase


class _InstanceNorm(_NormBase):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing: Any,
        unexpected: Any,
        errors: Any,
    ) -> None:
        if local_metadata.get("version", None) is None and not self.track_running_stats:  # before PyTorch 0.4
            keys = [prefix + n for n in ("running_mean", "running_var") if prefix + n in state_dict]
            if keys:
                names, own = " and ".join(f'"{k}"' for k in keys), type(self).__name__
                errors.append(
                    f"Unexpected running stats buffer(s) {names} for {own} with track_running_stats=False. If "
                    f"state_dict is a checkpoint saved before 0.4.0, this may be expected because {own} does not track "
                    "running stats by default since 0.4.0. Please remove these keys from state_dict. If the running "
                    f"stats are actually needed, instead set track_running_stats=True in {own} to enable them. See the "
                    f"documentation of {own} for details."
                )
                for key in keys:
                    state_dict.pop(key)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing, unexpected, errors)

    def _apply_instance_norm(self, input: Tensor) -> Tensor:
        statistics = (self.running_mean, self.running_var)
        by_input = self.training or not self.track_running_stats
        momentum = 0.0 if self.momentum is None else self.momentum
        return F.instance_norm(input, *statistics, self.weight, self.bias, by_input, momentum, self.eps)

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        dim = input.dim() - self._ranks[0]
        if input.size(dim) != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={dim} to match num_features ({self.num_features}), but got: "
                    f"{input.size(dim)}."
                )
            warn(
                f"input's size at dim={dim} does not match num_features. You can silence this warning by not passing "
                "in num_features, which is not used because affine=False",
            )
        if dim == 0:
            return self._apply_instance_norm(input.unsqueeze(0)).squeeze(0)
        return self._apply_instance_norm(input)


class InstanceNorm1d(_InstanceNorm):
    """Mean 0 and variance 1 for each channel of each example of (N, C, L) or (C, L)."""

    _ranks = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Mean 0 and variance 1 for each channel of each example of (N, C, H, W) or (C, H, W)."""

    _ranks = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Mean 0 and variance 1 for each channel of each example of (N, C, D, H, W) or (C, D, H, W)."""

    _ranks = (4, 5)


class LazyInstanceNorm1d(_LazyNormBase, InstanceNorm1d, becomes=InstanceNorm1d):
    """``InstanceNorm1d`` that takes ``num_features`` from its first input."""


class LazyInstanceNorm2d(_LazyNormBase, InstanceNorm2d, becomes=InstanceNorm2d):
    """``InstanceNorm2d`` that takes ``num_features`` from its first input."""


class LazyInstanceNorm3d(_LazyNormBase, InstanceNorm3d, becomes=InstanceNorm3d):
    """``InstanceNorm3d`` that takes ``num_features`` from its first input."""


__all__ = own_names(globals())  # noqa: PLE0605
