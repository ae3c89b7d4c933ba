"""``torch._dynamo.utils``: what torchvision asks before it compiles a part of itself."""

from __future__ import annotations

from typing import Any

__all__ = ["is_compile_supported"]


def is_compile_supported(device_type: Any) -> bool:
    """False: there is no compiler."""
    return False
