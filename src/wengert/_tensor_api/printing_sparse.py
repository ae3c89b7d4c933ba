"""The text of a sparse tensor."""

from __future__ import annotations

from typing import Any

from .._base import dtypes
from .._tape.tensor import Tensor
from .printing import dtype_suffix, format_contents, join_suffixes


def text_of(self: Tensor, indent: int, grad_fn_name: str | None) -> str:
    """The text of a sparse tensor."""
    x = self._payload
    inner = indent + len("tensor(")
    name = dtypes.BY_NUMPY[x.values.dtype].name
    compressed = x.layout is not dtypes.sparse_coo

    def part(label: str, a: Any, dtype_name: str) -> str:
        label += "tensor("
        return label + (format_contents(a, dtype_name, inner + len(label)) if a.size else f"[], size={a.shape}") + ")"

    if compressed:
        labels = ("crow", "col") if x.layout in (dtypes.sparse_csr, dtypes.sparse_bsr) else ("ccol", "row")
        indices = [(f"{label}_indices=", a) for label, a in zip(labels, (x.ends, x.minor), strict=True)]
    else:
        indices = [("indices=", x.indices)]
    parts = [part(label, a, dtypes.BY_NUMPY[a.dtype].name) for label, a in indices]
    text = "tensor(" + f",\n{' ' * inner}".join([*parts, part("values=", x.values, name)])
    dtype = dtype_suffix(name, dtypes.default_dtype.name)
    facts = [f"nnz={x.minor.shape[-1] if compressed else x.indices.shape[1]}", *dtype, f"layout={x.layout!r}"]
    if grad_fn_name is not None:
        facts.append(f"grad_fn=<{grad_fn_name}>")
    elif self._node is not None:
        facts.append("requires_grad=True")
    if compressed:
        return join_suffixes(text, [f"size={x.shape}", *facts], inner) + ")"
    return f"{text},\n" + join_suffixes(f"{' ' * inner}size={x.shape}", facts, inner, column=-2) + ")"
