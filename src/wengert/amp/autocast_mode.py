"""``autocast``, its settings, and the decorators for custom functions."""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any, NamedTuple

from .._base import dtypes as _dtypes
from .._base.dtypes import dtype as Dtype
from .._base.errors import warn, warn_once
from .._base.modes import OUTER, enter, leaving
from .._base.torch_function import STATE
from .._tape.tensor import Tensor

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

_DEVICES = ("cpu", "cuda", "xpu", "hpu", "mtia", "maia", "xla", "mps", "ipu")
_LOW = (_dtypes.bfloat16, _dtypes.float16)


class Settings(NamedTuple):
    """What is set in this thread or task. ``outer``: what a region goes back to; ``casts``: the outermost region's."""

    enabled: dict[str, bool] = {}
    dtypes: dict[str, Dtype] = {}
    cache: bool = True
    nesting: int = 0
    narrowing: Any = None  # the innermost region that converts arguments, or hides the ones around it
    casts: dict[int, Any] | None = None  # the narrow copies of parameters that regions have made
    outer: Any = None


SETTINGS: ContextVar[Settings] = ContextVar("wengert_autocast", default=Settings(outer=Settings()))  # noqa: B039


def _set(**changes: Any) -> None:
    SETTINGS.set(SETTINGS.get()._replace(**changes))


def _has_bfloat16() -> bool:
    return "ml_dtypes" in sys.modules or importlib.util.find_spec("ml_dtypes") is not None


def is_autocast_available(device_type: str) -> bool:
    """Whether ``autocast`` supports a device type."""
    if not isinstance(device_type, str):
        given = type(device_type).__name__
        raise TypeError(f"_is_autocast_available(): argument 'device_type' (position 1) must be str, not {given}")
    return _dtypes.device(device_type).type in _DEVICES


def _checked(device_type: Any) -> str:
    kind = _dtypes.device(device_type).type  # "cpu" where the CPU stands for cards
    if kind not in _DEVICES:
        raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
    return kind


class autocast:
    """A region in which matrix products run in a narrower dtype, and losses in float32.

    It is a context manager and a decorator. The functions and their dtypes are PyTorch's list for the CPU (see
    ``narrowing``); a region for "cuda" disables itself with a warning. NumPy's narrow products are slower than
    float32: a region gives PyTorch's digits, not its speed.

    Args:
        device_type: "cpu", "cuda", ...
        dtype: the dtype of the products; bfloat16 by default on the CPU.
        enabled: False for a region in which nothing is converted.
        cache_enabled: convert a parameter only once in the region, if several functions use it.

    Raises:
        RuntimeError: ``device_type`` does not exist.

    >>> import wengert as torch
    >>> with torch.autocast("cpu", dtype=torch.float16):
    ...     torch.is_autocast_enabled("cpu"), torch.mm(torch.eye(2), torch.eye(2)).dtype
    (True, torch.float16)
    """

    def __init__(
        self, device_type: str, dtype: Dtype | None = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device = _checked(device_type)
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        self._cache_enabled = SETTINGS.get().cache if cache_enabled is None else cache_enabled
        self._enabled = enabled and self._is_possible()

    def _is_possible(self) -> bool:
        if self.device == "cuda":
            warn("CUDA is not available or torch_xla is imported. Disabling autocast.")
            return False
        if self.fast_dtype not in _LOW:
            name = self.device.upper()
            warn(
                f"In {name} autocast, but the target dtype is not supported. Disabling autocast.\n{name} Autocast only "
                f"supports dtypes of {', '.join(map(str, _LOW))} currently."
            )
            return False
        return True

    def __enter__(self) -> autocast:
        now, state = SETTINGS.get(), STATE.get()
        self.prev = is_autocast_enabled(self.device)
        self.prev_fastdtype = get_autocast_dtype(self.device)
        self.prev_cache_enabled = now.cache
        region = self._region()
        inside = Settings(
            {**now.enabled, self.device: self._enabled},
            {**now.dtypes, self.device: self.fast_dtype},
            self._cache_enabled,
            now.nesting + 1,
            now.narrowing if region is None else region,
            {} if now.casts is None or not now.nesting else now.casts,
            now,
        )
        try:
            if region is None:
                STATE.set(state._replace(outer=state))
            else:
                region.__enter__()
            enter(SETTINGS, inside)
        except BaseException:
            STATE.set(state)
            raise
        return self

    __exit__ = leaving((SETTINGS, OUTER), (STATE, OUTER))

    def _region(self) -> Any:
        """The mode that converts arguments, or one that converts nothing, which hides the enclosing regions."""
        if self.device != "cpu" or not (self._enabled or self.prev):
            return None
        from .narrowing import Narrowing

        if self._enabled and not _has_bfloat16() and self.fast_dtype is _dtypes.bfloat16:
            warn_once(
                "autocast('cpu'): torch.bfloat16 needs the package ml_dtypes (pip install 'wengert[bfloat16]'); "
                "without it nothing is converted, and results are those of full precision."
            )
            return None
        return Narrowing(self.fast_dtype, self._cache_enabled, self._enabled)

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(func):
            raise TypeError(
                f"autocast()(func) requires a callable, but got {type(func).__name__}. Did you mean to use autocast as "
                "a context manager? For example:\n"
                "    with torch.autocast(device_type=...):\n"
                "        output = model(input)"
            )

        @functools.wraps(func)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)

        return decorated


def region_of_now() -> Callable[[], autocast]:
    """A function that makes regions with the settings of the current one, for what is computed again later."""
    return functools.partial(
        autocast, "cpu", get_autocast_dtype("cpu"), is_autocast_enabled("cpu"), is_autocast_cache_enabled()
    )


# ---- what can be asked
def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Whether an enabled region for a device type ("cuda" if not given) is active."""
    return SETTINGS.get().enabled.get(_checked(device_type or "cuda"), False)


def set_autocast_enabled(device_type: Any, enabled: bool | None = None) -> None:
    """Enter or leave a region without ``with``."""
    if enabled is None:
        device_type, enabled = "cuda", device_type
    _set(enabled={**SETTINGS.get().enabled, _checked(device_type): bool(enabled)})


def get_autocast_dtype(device_type: str) -> Dtype:
    """The dtype of the regions of a device type."""
    default = _dtypes.float16 if device_type in ("cuda", "mps") else _dtypes.bfloat16
    return SETTINGS.get().dtypes.get(_checked(device_type), default)


def set_autocast_dtype(device_type: str, dtype: Dtype) -> None:
    """Set the dtype of the regions of a device type."""
    _set(dtypes={**SETTINGS.get().dtypes, _checked(device_type): dtype})


def is_autocast_cache_enabled() -> bool:
    """Whether regions cache converted weights."""
    return SETTINGS.get().cache


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Set whether regions cache converted weights."""
    _set(cache=bool(enabled))


def clear_autocast_cache() -> None:
    """Drop the converted weights that this thread's regions have cached."""
    casts = SETTINGS.get().casts
    if casts:
        casts.clear()


def autocast_increment_nesting() -> int:
    """Count one more region."""
    _set(nesting=SETTINGS.get().nesting + 1)
    return SETTINGS.get().nesting


def autocast_decrement_nesting() -> int:
    """Count one region less."""
    _set(nesting=SETTINGS.get().nesting - 1)
    return SETTINGS.get().nesting


def _deprecated(name: str, now: str) -> None:
    warn(f"torch.{name} is deprecated. Please use torch.{now} instead.", DeprecationWarning)


def is_autocast_cpu_enabled() -> bool:
    """``is_autocast_enabled("cpu")``."""
    _deprecated("is_autocast_cpu_enabled()", "is_autocast_enabled('cpu')")
    return is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """``set_autocast_enabled("cpu", enabled)``."""
    _deprecated("set_autocast_cpu_enabled(enabled)", "set_autocast_enabled('cpu', enabled)")
    set_autocast_enabled("cpu", enabled)


def get_autocast_cpu_dtype() -> Dtype:
    """``get_autocast_dtype("cpu")``."""
    _deprecated("get_autocast_cpu_dtype()", "get_autocast_dtype('cpu')")
    return get_autocast_dtype("cpu")


def set_autocast_cpu_dtype(dtype: Dtype) -> None:
    """``set_autocast_dtype("cpu", dtype)``."""
    _deprecated("set_autocast_cpu_dtype(dtype)", "set_autocast_dtype('cpu', dtype)")
    set_autocast_dtype("cpu", dtype)


def get_autocast_gpu_dtype() -> Dtype:
    """``get_autocast_dtype("cuda")``."""
    _deprecated("get_autocast_gpu_dtype()", "get_autocast_dtype('cuda')")
    return get_autocast_dtype("cuda")


def set_autocast_gpu_dtype(dtype: Dtype) -> None:
    """``set_autocast_dtype("cuda", dtype)``."""
    _deprecated("set_autocast_gpu_dtype(dtype)", "set_autocast_dtype('cuda', dtype)")
    set_autocast_dtype("cuda", dtype)


# ---- custom functions
def _cast(value: Any, device_type: str, dtype: Dtype) -> Any:
    """Convert floating point tensors of a device type, also in containers; float64 is kept."""
    if isinstance(value, Tensor):
        eligible = value.is_floating_point() and value.device.type == device_type and value.dtype != _dtypes.float64
        return value.to(dtype) if eligible else value
    if isinstance(value, (str, bytes)):
        return value
    if isinstance(value, Mapping):
        return {_cast(k, device_type, dtype): _cast(v, device_type, dtype) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(v, device_type, dtype) for v in value)
    return value


def custom_fwd(fwd: Any = None, *, device_type: str, cast_inputs: Dtype | None = None) -> Any:
    """Decorator for a custom function's ``forward`` that converts its inputs to ``cast_inputs`` within a region."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        ctx._dtype = get_autocast_dtype(device_type)
        inside = is_autocast_enabled(device_type)
        ctx._fwd_used_autocast = inside and cast_inputs is None
        if cast_inputs is None or not inside:
            return fwd(ctx, *args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(ctx, *_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs))

    return decorated


def custom_bwd(bwd: Any = None, *, device_type: str) -> Any:
    """Decorator for a custom function's ``backward`` that runs it with the autocast state of ``forward``."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with autocast(device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(ctx, *args, **kwargs)

    return decorated
