"""CUDA's features for tests, none of which is available."""

from __future__ import annotations

__all__: list[str] = []

TEST_CUDA = TEST_MULTIGPU = TEST_CUDNN = TEST_MAGMA = TEST_CUSPARSE_GENERIC = TEST_HIPSPARSE_GENERIC = False
TEST_NUMBA_CUDA = CUDA9 = TEST_BF16 = TEST_CUDNN_VERSION = SM53OrLater = SM80OrLater = SM90OrLater = False
PLATFORM_SUPPORTS_FLASH_ATTENTION = PLATFORM_SUPPORTS_MEM_EFF_ATTENTION = PLATFORM_SUPPORTS_CUDNN_ATTENTION = False
PLATFORM_SUPPORTS_FUSED_ATTENTION = PLATFORM_SUPPORTS_BF16 = PLATFORM_SUPPORTS_FP8 = False
CUDA_DEVICE = None


def tf32_is_not_fp32() -> bool:
    """Whether products may have less precision than their dtype."""
    return False


def initialize_cuda_context_rng() -> None:
    """Nothing."""
