# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool, float as _float, int as _int
from typing import Any
from ..._base.dtypes import dtype as _dtype
from ...amp.autocast_mode import autocast as _Base_autocast
from ...amp.grad_scaler import GradScaler as _Base_GradScaler
from ...cuda.amp import autocast_mode as autocast_mode, common as common, grad_scaler as grad_scaler
class GradScaler(_Base_GradScaler):
    def __init__(self, init_scale: _float = 65536.0, growth_factor: _float = 2.0, backoff_factor: _float = 0.5, growth_interval: _int = 2000, enabled: _bool = True) -> None: ...
class autocast(_Base_autocast):
    def __init__(self, enabled: _bool = True, dtype: _dtype = ..., cache_enabled: _bool = True) -> None: ...
def custom_bwd(bwd: Any) -> Any:
    """``torch.amp.custom_bwd`` for the device type."""
def custom_fwd(fwd: Any = None, *, cast_inputs: _dtype | None = None) -> Any:
    """``torch.amp.custom_fwd`` for the device type."""
