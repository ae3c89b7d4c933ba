"""Views of the same bytes as another dtype: ``Tensor.view(dtype)``."""

from __future__ import annotations

from typing import Any

from ..._arrays.memory import bytes_around
from ..._base.dtypes import BY_NUMPY, as_dtype
from ..._base.registry import TENSORS
from ..._payloads.meta import Meta
from ..._payloads.transforms import Batched, one_example
from ..._tape.conjugates import conjugate_views, flags
from ..._tape.node import Box, version_of
from ..._tape.tensor import Tensor, alias_payload, wrap


def view_dtype(self: Tensor, dtype: Any) -> Tensor:
    """A view of the same bytes as another dtype; it has no history."""
    dtype = as_dtype(dtype, "view")
    if isinstance(self._payload, Batched):
        batch = self._payload
        view_dtype(wrap(one_example(batch)), dtype)  # the refusals
        inner = batch.v if isinstance(batch.v, Tensor) else wrap(batch.v)
        return wrap(Batched(view_dtype(inner, dtype)._payload, batch.tag))
    if conjugate_views:
        conj, neg = flags(self)
        if conj or neg:
            what = "conjugate view tensors" if conj else "tensors with negative bit set"
            raise RuntimeError(f"torch.Tensor.view is not supported for {what} when converting to a different dtype.")
    a = alias_payload(self)
    new = dtype.np
    if new is a.dtype:
        return TENSORS.alias(self)
    r = a
    if new.itemsize != a.itemsize:
        names = f"{BY_NUMPY[a.dtype].scalar_name} as {dtype.scalar_name}"
        if not a.ndim:
            raise RuntimeError(f"self.dim() cannot be 0 to view {names} (different element sizes)")
        ratio = new.itemsize // a.itemsize
        if ratio > 1 and a.shape[-1] % ratio:
            raise RuntimeError(
                f"self.size(-1) must be divisible by {ratio} to view {names} (different element sizes), but got "
                f"{a.shape[-1]}"
            )
        if ratio > 1:
            before = a.offset if isinstance(a, Meta) else bytes_around(a)[0]
            if before % new.itemsize:
                raise RuntimeError(
                    f"self.storage_offset() must be divisible by {ratio} to view {names} (different element sizes), "
                    f"but got {before // a.itemsize}"
                )
        if self.stride(-1) != 1 and a.size:
            raise RuntimeError(
                f"self.stride(-1) must be 1 to view {names} (different element sizes), but got {self.stride(-1)}"
            )
        if ratio > 1:
            for i, s in enumerate(a.strides[:-1]):
                if s % new.itemsize:
                    raise RuntimeError(
                        f"self.stride({i}) must be divisible by {ratio} to view {names} (different element sizes), but "
                        f"got {s // a.itemsize}"
                    )
    return same_memory(self, r.view(new))


def same_memory(self: Tensor, a: Any) -> Tensor:
    """A tensor without history on the array ``a`` in self's memory; it shares the version counter."""
    t = wrap(a)
    box = t._box = Box()
    box.a = a
    box.cell = version_of(self)
    return t
