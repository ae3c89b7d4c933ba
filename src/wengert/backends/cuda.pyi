# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool, dict as _dict, str as _str
from collections.abc import Iterator
from typing import Any
def can_use_cudnn_attention(params: Any, debug: _bool = False) -> Any:
    """False."""
def can_use_efficient_attention(params: Any, debug: _bool = False) -> Any:
    """False."""
def can_use_flash_attention(params: Any, debug: _bool = False) -> Any:
    """False."""
class cuBLASModule(Any): ...
class cuFFTPlanCacheManager(Any): ...
def cudnn_sdp_enabled() -> _dict[_str, Any]:
    """The switch."""
cufft_plan_cache: Any
def enable_cudnn_sdp(enabled: Any) -> Any:
    """Set the switch, which has nothing to switch."""
def enable_flash_sdp(enabled: Any) -> Any:
    """Set the switch, which has nothing to switch."""
def enable_math_sdp(enabled: Any) -> Any:
    """Set the switch, which has nothing to switch."""
def enable_mem_efficient_sdp(enabled: Any) -> Any:
    """Set the switch, which has nothing to switch."""
def flash_sdp_enabled() -> _dict[_str, Any]:
    """The switch."""
def is_built() -> _bool:
    """False."""
def is_flash_attention_available() -> _bool:
    """False."""
def math_sdp_enabled() -> _dict[_str, Any]:
    """The switch."""
matmul: Any
def mem_efficient_sdp_enabled() -> _dict[_str, Any]:
    """The switch."""
def preferred_blas_library(backend: Any = None) -> Any:
    """No choice."""
def preferred_linalg_library(backend: Any = None) -> Any:
    """No choice."""
def sdp_kernel(enable_flash: _bool = True, enable_math: _bool = True, enable_mem_efficient: _bool = True, enable_cudnn: _bool = True) -> Iterator[None]:
    """A context in which the switches of attention are these."""
