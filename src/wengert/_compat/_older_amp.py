"""``torch.cuda.amp`` and ``torch.cpu.amp``: older names of what ``torch.amp`` has, each for one type of device."""

from __future__ import annotations

import functools
from typing import Any

from wengert import amp as _amp
from wengert._base import dtypes
from wengert._base.absent import named
from wengert._base.dtypes import dtype as Dtype
from wengert._base.errors import warn


def names(module: str, device: str) -> dict[str, Any]:
    """What the module of a device type has."""
    usual = dtypes.bfloat16 if device == "cpu" else dtypes.float16

    def deprecated(name: str, now: str) -> None:
        warn(
            f"`torch.{device}.amp.{name}(args...)` is deprecated. Please use `torch.amp.{now}` instead.",
            FutureWarning,
        )

    class autocast(_amp.autocast):
        __doc__ = f"""``torch.amp.autocast("{device}", ...)``."""

        def __init__(self, enabled: bool = True, dtype: Dtype = usual, cache_enabled: bool = True) -> None:
            deprecated("autocast", f"autocast('{device}', args...)")
            super().__init__(device, enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)

    class GradScaler(_amp.GradScaler):
        __doc__ = f"""``torch.amp.GradScaler("{device}", ...)``."""

        def __init__(
            self,
            init_scale: float = 2.0**16,
            growth_factor: float = 2.0,
            backoff_factor: float = 0.5,
            growth_interval: int = 2000,
            enabled: bool = True,
        ) -> None:
            deprecated("GradScaler", f"GradScaler('{device}', args...)")
            super().__init__(device, init_scale, growth_factor, backoff_factor, growth_interval, enabled)

    def custom_fwd(fwd: Any = None, *, cast_inputs: Dtype | None = None) -> Any:
        """``torch.amp.custom_fwd`` for the device type."""
        deprecated("custom_fwd", f"custom_fwd(args..., device_type='{device}')")
        return functools.partial(_amp.custom_fwd, device_type=device)(fwd=fwd, cast_inputs=cast_inputs)

    def custom_bwd(bwd: Any) -> Any:
        """``torch.amp.custom_bwd`` for the device type."""
        deprecated("custom_bwd", f"custom_bwd(args..., device_type='{device}')")
        return functools.partial(_amp.custom_bwd, device_type=device)(bwd)

    found: tuple[Any, ...] = (
        (autocast, GradScaler) if device == "cpu" else (autocast, GradScaler, custom_fwd, custom_bwd)
    )
    return {made.__name__: named(made, made.__name__, None, module) for made in found}
