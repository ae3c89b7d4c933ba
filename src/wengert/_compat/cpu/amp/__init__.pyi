# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool, float as _float, int as _int
from ...._base.dtypes import dtype as _dtype
from ...._compat.cpu.amp import autocast_mode as autocast_mode, grad_scaler as grad_scaler
from ....amp.autocast_mode import autocast as _Base_autocast
from ....amp.grad_scaler import GradScaler as _Base_GradScaler
class GradScaler(_Base_GradScaler):
    def __init__(self, init_scale: _float = 65536.0, growth_factor: _float = 2.0, backoff_factor: _float = 0.5, growth_interval: _int = 2000, enabled: _bool = True) -> None: ...
class autocast(_Base_autocast):
    def __init__(self, enabled: _bool = True, dtype: _dtype = ..., cache_enabled: _bool = True) -> None: ...
