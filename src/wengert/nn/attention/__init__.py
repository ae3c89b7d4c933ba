"""``torch.nn.attention``: the choice of kernels for scaled dot product attention, of which wengert has one.

>>> import wengert as torch
>>> from wengert.nn.attention import SDPBackend, sdpa_kernel
>>> with sdpa_kernel(SDPBackend.MATH):
...     out = torch.nn.functional.scaled_dot_product_attention(*[torch.ones(1, 1, 2, 4)] * 3)
>>> out.shape
torch.Size([1, 1, 2, 4])
"""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["WARN_FOR_UNFUSED_KERNELS", "SDPBackend", "sdpa_kernel"]

WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(enum.IntEnum):
    """PyTorch's kernels for attention, by name."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __str__(self) -> str:
        return f"SDPBackend.{self.name}"


@contextlib.contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[dict[Any, Any]]:
    """A context in which attention may use these kernels: one ``SDPBackend`` or several. It has no effect.

    Raises AssertionError for other arguments.
    """
    listed = [backends] if isinstance(backends, SDPBackend) else backends
    if not isinstance(listed, Iterable) or not all(isinstance(b, SDPBackend) for b in listed):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
            f"{type(backends).__name__}"
        )
    yield {}
