"""``torch.amp``: mixed precision with ``autocast`` and ``GradScaler``.

``autocast`` for a GPU disables itself, as it does in PyTorch on a machine without one. For the CPU it converts the
arguments of products and losses as PyTorch does (``narrowing``). ``GradScaler("cpu")`` scales, unscales and skips
steps as PyTorch's does.
"""

from .autocast_mode import (
    autocast,
    autocast_decrement_nesting,
    autocast_increment_nesting,
    clear_autocast_cache,
    custom_bwd,
    custom_fwd,
    get_autocast_cpu_dtype,
    get_autocast_dtype,
    get_autocast_gpu_dtype,
    is_autocast_available,
    is_autocast_cache_enabled,
    is_autocast_cpu_enabled,
    is_autocast_enabled,
    set_autocast_cache_enabled,
    set_autocast_cpu_dtype,
    set_autocast_cpu_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
    set_autocast_gpu_dtype,
)
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
