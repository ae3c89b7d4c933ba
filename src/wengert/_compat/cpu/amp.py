"""``torch.cpu.amp``: the older names of what ``torch.amp`` has, for "cpu"."""

from __future__ import annotations

import warnings

from wengert import amp as _amp
from wengert._base import dtypes
from wengert._base.dtypes import dtype as Dtype

__all__ = ["GradScaler", "autocast"]


def _deprecated(name: str) -> None:
    warnings.warn(
        f"`torch.cpu.amp.{name}(args...)` is deprecated. Please use `torch.amp.{name}('cpu', args...)` instead.",
        FutureWarning,
        stacklevel=3,
    )


class autocast(_amp.autocast):
    """``torch.amp.autocast("cpu", ...)``."""

    def __init__(self, enabled: bool = True, dtype: Dtype = dtypes.bfloat16, cache_enabled: bool = True) -> None:
        _deprecated("autocast")
        super().__init__("cpu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(_amp.GradScaler):
    """``torch.amp.GradScaler("cpu", ...)``."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        _deprecated("GradScaler")
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
