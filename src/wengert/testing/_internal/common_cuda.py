"""CUDA's features for tests, none of which is available."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

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


@contextlib.contextmanager
def tf32_off() -> Iterator[None]:
    """A context that does nothing: products have the precision of their dtype."""
    yield


tf32_on = tf32_off


def with_tf32_off(f: Any) -> Any:
    """The test itself."""
    return f


def tf32_on_and_off(*tolerance: Any, **kwargs: Any) -> Any:
    """A decorator that changes nothing."""
    return with_tf32_off


def _get_torch_cuda_version() -> tuple[int, int]:
    return 0, 0


_get_torch_rocm_version = _get_torch_cuda_version


def __getattr__(name: str) -> bool:
    if name.endswith(("OrLater", "OrAbove")) or name.startswith(("PLATFORM_SUPPORTS_", "TEST_", "IS_SM")):
        return False
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
