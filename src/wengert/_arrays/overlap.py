"""Memory that an operator would read and write at once, or write twice: what PyTorch's kernels refuse."""

from __future__ import annotations

from typing import Any

import numpy as np

from .layouts import is_dense
from .library import may_share_memory
from .memory import address_of, repeats

_TEXT = (
    "unsupported operation: {} written-to tensor {} to a single memory location. Please clone() the tensor before "
    "performing the operation."
)

#: operators that refuse an operand on any of the written memory; the elementwise ones refuse a part of it
APART = frozenset((
    "cat", "concat", "concatenate", "cross", "gather", "index_add", "index_copy", "index_reduce", "index_select",
    "kthvalue", "masked_select", "max", "median", "min", "mode", "nanmedian", "put", "scatter", "scatter_add",
    "scatter_reduce", "stack", "take", "take_along_dim", "topk",
))  # fmt: skip

#: in-place forms of which PyTorch's kernels do not ask where the operands lie
UNASKED = frozenset((
    "<lambda>", "addbmm", "addmm", "addmv", "addr", "baddbmm", "conj_physical", "cumprod", "cumsum", "index_fill",
    "masked_fill", "masked_scatter", "renorm", "tril", "triu",
))  # fmt: skip


def refuse_repeated(a: Any) -> None:
    """Raise PyTorch's error if a written array repeats elements by a stride of 0."""
    if a.size and repeats(a.shape, a.strides):
        raise RuntimeError(_TEXT.format("more than one element of the", "refers"))


def met() -> RuntimeError:
    """The error for an operand in the memory that is written."""
    return RuntimeError(_TEXT.format("some elements of the input tensor and the", "refer"))


def meets(a: Any, b: Any, apart: bool = False) -> bool:
    """Whether a written array has a part of an operand's memory; ``apart``: or all of it, in the same order.

    Of arrays with gaps or repeated elements PyTorch does not ask.
    """
    if not may_share_memory(a, b) or not (_dense(a) and _dense(b)):
        return False
    if apart or a.ndim != b.ndim or a.nbytes != b.nbytes or address_of(a) != address_of(b):
        return True
    return any(n > 1 and s != t for n, s, t in zip(a.shape, a.strides, b.strides, strict=True))


def refuse_met(name: str, a: Any, b: Any) -> None:
    """Raise PyTorch's error if the in-place form of an operator does not admit an operand in the written memory."""
    if type(b) is np.ndarray and name not in UNASKED and meets(a, b, name in APART):
        raise met()


def _dense(a: Any) -> bool:
    return is_dense(a.shape, a.strides, a.itemsize)
