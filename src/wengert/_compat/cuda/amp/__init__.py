"""``torch.cuda.amp``: the older names of what ``torch.amp`` has, for "cuda"."""

from __future__ import annotations

import functools
import warnings
from typing import Any

from wengert import amp as _amp
from wengert._base import dtypes
from wengert._base.dtypes import dtype as Dtype

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


def _deprecated(name: str, now: str) -> None:
    warnings.warn(
        f"`torch.cuda.amp.{name}(args...)` is deprecated. Please use `torch.amp.{now}` instead.",
        FutureWarning,
        stacklevel=3,
    )


class autocast(_amp.autocast):
    """``torch.amp.autocast("cuda", ...)``, which disables itself where there is no GPU."""

    def __init__(self, enabled: bool = True, dtype: Dtype = dtypes.float16, cache_enabled: bool = True) -> None:
        _deprecated("autocast", "autocast('cuda', args...)")
        super().__init__("cuda", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(_amp.GradScaler):
    """``torch.amp.GradScaler("cuda", ...)``, which disables itself where there is no GPU."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        _deprecated("GradScaler", "GradScaler('cuda', args...)")
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


def custom_fwd(fwd: Any = None, *, cast_inputs: Dtype | None = None) -> Any:
    """``torch.amp.custom_fwd`` for "cuda"."""
    _deprecated("custom_fwd", "custom_fwd(args..., device_type='cuda')")
    return functools.partial(_amp.custom_fwd, device_type="cuda")(fwd=fwd, cast_inputs=cast_inputs)


def custom_bwd(bwd: Any) -> Any:
    """``torch.amp.custom_bwd`` for "cuda"."""
    _deprecated("custom_bwd", "custom_bwd(args..., device_type='cuda')")
    return functools.partial(_amp.custom_bwd, device_type="cuda")(bwd)
