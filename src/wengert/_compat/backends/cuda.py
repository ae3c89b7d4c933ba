"""``torch.backends.cuda``: not there. Its switches can be set and read."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

__all__ = [
    "can_use_cudnn_attention", "can_use_efficient_attention", "can_use_flash_attention", "cudnn_sdp_enabled",
    "cufft_plan_cache", "enable_cudnn_sdp", "enable_flash_sdp", "enable_math_sdp", "enable_mem_efficient_sdp",
    "flash_sdp_enabled", "is_built", "is_flash_attention_available", "math_sdp_enabled", "matmul",
    "mem_efficient_sdp_enabled", "preferred_blas_library", "preferred_linalg_library", "sdp_kernel",
]  # fmt: skip


def is_built() -> bool:
    """False."""
    return False


class cuBLASModule:
    """The switches of matrix products on a GPU."""

    def __init__(self) -> None:
        self.allow_tf32 = False
        self.allow_fp16_reduced_precision_reduction = True
        self.allow_bf16_reduced_precision_reduction = True
        self.allow_fp16_accumulation = False
        self.fp32_precision = "none"


class cuFFTPlanCacheManager:
    """The cache of plans of Fourier transforms on a GPU: empty."""

    size = 0
    max_size = 0

    def clear(self) -> None:
        """Nothing to clear."""


matmul = cuBLASModule()
cufft_plan_cache = cuFFTPlanCacheManager()
_sdp = {"flash": True, "math": True, "mem_efficient": True, "cudnn": True}


def flash_sdp_enabled() -> bool:
    """The switch of flash attention."""
    return _sdp["flash"]


def enable_flash_sdp(enabled: bool) -> None:
    """Set the switch of flash attention."""
    _sdp["flash"] = enabled


def math_sdp_enabled() -> bool:
    """The switch of attention by matrix products, which is what wengert computes."""
    return _sdp["math"]


def enable_math_sdp(enabled: bool) -> None:
    """Set the switch of attention by matrix products, which wengert computes all the same."""
    _sdp["math"] = enabled


def mem_efficient_sdp_enabled() -> bool:
    """The switch of memory-efficient attention."""
    return _sdp["mem_efficient"]


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Set the switch of memory-efficient attention."""
    _sdp["mem_efficient"] = enabled


def cudnn_sdp_enabled() -> bool:
    """The switch of cuDNN's attention."""
    return _sdp["cudnn"]


def enable_cudnn_sdp(enabled: bool) -> None:
    """Set the switch of cuDNN's attention."""
    _sdp["cudnn"] = enabled


@contextlib.contextmanager
def sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True, enable_cudnn: bool = True
) -> Iterator[None]:
    """A context in which the switches of attention are these."""
    before = dict(_sdp)
    _sdp.update(flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn)
    try:
        yield
    finally:
        _sdp.update(before)


def is_flash_attention_available() -> bool:
    """False."""
    return False


def can_use_flash_attention(params: Any, debug: bool = False) -> bool:
    """False."""
    return False


def can_use_efficient_attention(params: Any, debug: bool = False) -> bool:
    """False."""
    return False


def can_use_cudnn_attention(params: Any, debug: bool = False) -> bool:
    """False."""
    return False


def preferred_linalg_library(backend: Any = None) -> str:
    """ "default": there is nothing to choose from."""
    return "default"


def preferred_blas_library(backend: Any = None) -> str:
    """ "default": there is nothing to choose from."""
    return "default"
