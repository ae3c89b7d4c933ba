"""``_grouped_mm``: products of the groups of rows or columns of matrices, as mixtures of experts need them."""

from __future__ import annotations

from typing import Any

from ..._base.dtypes import bfloat16, float16, float32, int32
from ..._base.registry import public
from ..._tape.tensor import Tensor
from ..._tape.view_chain import with_node_name
from ..create.create import zeros
from ..linalg.matmul import matmul
from ..shape.join import cat_public, stack_public


def _check(mat_a: Tensor, mat_b: Tensor, offs: Tensor | None, bias: Any, out_dtype: Any) -> None:
    kind = mat_a.dtype
    for name, t in (("mat_a", mat_a), ("mat_b", mat_b)):
        if t.dim() not in (2, 3):
            raise RuntimeError(f"{name} has to be 2 or 3d")
    if mat_a.shape[-1] != mat_b.shape[-2]:
        raise RuntimeError("contraction dimension of mat_a and mat_b must match")
    for name, t in (("mat_a", mat_a), ("mat_b", mat_b)):
        if t.dtype not in (float32, bfloat16, float16):
            found = t.dtype.scalar_name
            raise RuntimeError(f"Expected {name} to be Float32, BFloat16 or Float16 matrix, got {found}")
    if (offs is None) != (mat_a.dim() == mat_b.dim() == 3):
        raise RuntimeError("Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d")
    if offs is not None and offs.dtype is not int32:
        raise RuntimeError("Offsets have to be int32")
    if bias is not None:
        raise RuntimeError("Bias not supported yet")
    if out_dtype not in (None, kind):
        raise RuntimeError("Grouped gemm output dtype must match `mat_a` dtype")


@public("torch._grouped_mm")
def _grouped_mm(
    mat_a: Tensor, mat_b: Tensor, offs: Tensor | None = None, bias: Any = None, out_dtype: Any = None
) -> Tensor:
    """The products of groups of two matrices: what ``nn.functional.grouped_mm`` calls."""
    _check(mat_a, mat_b, offs, bias, out_dtype)
    if offs is None:
        return with_node_name(matmul(mat_a, mat_b), "GroupedMmBackward0")
    ends = offs.tolist()
    groups = [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]
    if mat_a.dim() == mat_b.dim():
        made = stack_public([matmul(mat_a[:, at], mat_b[at]) for at in groups])
    elif mat_a.dim() == 2:
        parts = [matmul(mat_a[at], b) for at, b in zip(groups, mat_b, strict=True)]
        made = cat_public([*parts, zeros(mat_a.shape[0] - ends[-1], mat_b.shape[-1], dtype=mat_a.dtype)])
    else:
        parts = [matmul(a, mat_b[:, at]) for at, a in zip(groups, mat_a, strict=True)]
        made = cat_public([*parts, zeros(mat_a.shape[1], mat_b.shape[-1] - ends[-1], dtype=mat_a.dtype)], 1)
    return with_node_name(made, "GroupedMmBackward0")
