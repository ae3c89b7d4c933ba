"""``torch._subclasses.fake_tensor``: tensors without data, by which PyTorch's compiler finds shapes. None is here.

>>> import wengert as torch
>>> from wengert._subclasses.fake_tensor import is_fake
>>> is_fake(torch.ones(1))
False
"""

from __future__ import annotations

from typing import Any

from .._absent import dummy

__all__ = ["FakeTensor", "FakeTensorMode", "is_fake"]

FakeTensor = dummy("FakeTensor")
FakeTensorMode = dummy("FakeTensorMode")


def is_fake(x: Any) -> bool:
    """False: every tensor has its data."""
    return False
