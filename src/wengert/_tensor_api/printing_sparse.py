"""The text of a sparse tensor."""

from __future__ import annotations

from typing import Any

from .._base import dtypes
from .._tape.tensor import Tensor
from .printing import dtype_suffix, format_array, join_suffixes


def text_of(self: Tensor, indent: int, grad_fn_name: str | None) -> str:
    """The text of a sparse tensor."""
    x = self._payload
    inner = indent + len("tensor(")
    name = dtypes.BY_NUMPY[x.values.dtype].name

    def part(label: str, a: Any, dtype_name: str) -> str:
        text = format_array(a, dtype_name=dtype_name, default_dtype=dtype_name, indent=inner + len(label))
        return label + (f"{text[:-1]}, size={a.shape})" if a.size == 0 and a.ndim == 1 else text)

    parts = f"tensor({part('indices=', x.indices, 'int64')},\n{' ' * inner}{part('values=', x.values, name)},\n"
    dtype = dtype_suffix(name, dtypes.default_dtype.name)
    facts = [f"nnz={x.indices.shape[1]}", *dtype, "layout=torch.sparse_coo"]
    if grad_fn_name is not None:
        facts.append(f"grad_fn=<{grad_fn_name}>")
    elif self._node is not None:
        facts.append("requires_grad=True")
    return parts + join_suffixes(f"{' ' * inner}size={x.shape}", facts, inner, column=-2) + ")"
