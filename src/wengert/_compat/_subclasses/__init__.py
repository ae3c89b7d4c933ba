"""Kinds of tensors that PyTorch's compiler uses: ``FakeTensor``, which has no data."""

from wengert._compat import find_rows

from .fake_tensor import (
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
    UnsupportedFakeTensorException,
)

__all__ = ["DynamicOutputShapeException", "FakeTensor", "FakeTensorMode", "UnsupportedFakeTensorException"]
find_rows(globals())
