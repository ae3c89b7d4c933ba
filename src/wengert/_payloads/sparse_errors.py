"""What sparse tensors refuse, in PyTorch's words."""

from __future__ import annotations

from typing import Any

from .._base.aten_names import aten_name
from .._base.constants import sparse_coo
from .._base.dtypes import BY_NUMPY
from .._base.errors import INTERNAL, noted
from .._base.registry import REGISTRY

KERNELS = {  # the kernels that PyTorch's dispatcher looks for, where they are not named after the operator
    **dict.fromkeys(
        ("slice_dim", "split", "squeeze_all", "squeeze_dim", "squeeze_dims", "diagonal_view"), "as_strided"
    ),
    **dict.fromkeys(("mean_all", "mean_dim"), "mean.dim"),
    "arg_sort": "sort.stable",
    "isclose": "eq.Tensor",
    "lerp_number": "lerp.Scalar",
    "linalg_det": "_linalg_det",
    "logsumexp": "logsumexp.out",
    "remainder": "remainder.Tensor",
    "rpow": "pow.Scalar",
    "singular": "_linalg_svd",
    "sort": "sort.stable",
    "std": "std.correction",
    "unfold_view": "unfold",
    "unique2": "_unique2",
    "var": "var.correction",
    "where": "where.self",
}


def kernel_name(operator: str) -> str:
    """PyTorch's name of an operator, with the overload: ``"tril"`` of ``lower_triangle``."""
    name = operator.strip("_")
    if name in KERNELS:
        return KERNELS[name]
    info = REGISTRY.get(operator)
    return name if info is None else aten_name(info)


def public_name(frame: Any) -> str:
    name = "operation"
    while frame is not None and INTERNAL[frame.f_code.co_filename]:
        name = frame.f_code.co_name.strip("_")
        frame = frame.f_back
    return name.removesuffix("_public")


def missing(operator: str, backend: str = "SparseCPU") -> NotImplementedError:
    """PyTorch's error for an operator that sparse tensors do not support."""
    return noted(
        NotImplementedError(
            f"Could not run 'aten::{operator}' with arguments from the '{backend}' backend. This could be because the "
            "operator doesn't exist for this backend, or was omitted during the selective/custom build process (if "
            "using custom build). If you are a Facebook employee using PyTorch on mobile, please visit "
            "https://fburl.com/ptmfixes for possible resolutions."
        ),
        "What to do: tensor.to_dense() gives a tensor that every operator takes.",
    )


def refused(x: Any, operator: str) -> Exception:
    """PyTorch's error for an operator that tensors of a sparse array's layout do not support."""
    return missing(operator, "SparseCPU" if x.layout is sparse_coo else "SparseCsrCPU")


def lacks(x: Any, what: str) -> Exception:
    """PyTorch's error for what a sparse array of any layout lacks: "data", "storage", "contiguous" or "reshape"."""
    if what == "data":
        return RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")
    if what == "storage":
        name = "SparseTensorImpl" if x.layout is sparse_coo else "SparseCsrTensorImpl"
        return NotImplementedError(f"Cannot access storage of {name}")
    if x.layout is not sparse_coo:
        return x.without("is_contiguous")
    if what == "contiguous":
        return RuntimeError("unsupported memory format option Contiguous")
    return RuntimeError("reshape is not implemented for sparse tensors")


def no_divisor(y: Any) -> RuntimeError:
    """PyTorch's error for a division by anything else than a number."""
    shape = list(getattr(y, "shape", ()))
    return RuntimeError(
        f"Sparse division requires a scalar or zero-dim dense tensor divisor (got shape {shape} for divisor)"
    )


def no_copy(x: Any, y: Any) -> RuntimeError:
    """PyTorch's error for a copy between two layouts."""
    names = []
    for a in (x, y):
        kind = "sparse." if getattr(a, "layout", None) is sparse_coo else ""
        names.append(f"torch.{kind}{BY_NUMPY[getattr(a, 'values', a).dtype].scalar_name}Tensor")
    return RuntimeError(
        f"copy_() between dense and sparse Tensors is not implemented! Found self type = {names[0]} and src type = "
        f"{names[1]}"
    )


def check_parts(xs: Any, dim: int) -> None:
    """Raise PyTorch's error if arrays cannot be concatenated."""
    first = xs[0]
    for position, x in enumerate(xs):
        if getattr(x, "layout", None) is not sparse_coo:
            raise RuntimeError(f"Concatenating sparse tensors, but a dense tensor was found at position {position}.")
        if (*x.shape[:dim], *x.shape[dim + 1 :]) != (*first.shape[:dim], *first.shape[dim + 1 :]):
            raise RuntimeError(
                f"All tensors must have the same shape: {list(first.shape)} (except in the concatenating dimension), "
                f"but found shape: {list(x.shape)} at position {position}."
            )
        dims, wanted = ((len(a.indices), a.ndim - len(a.indices)) for a in (x, first))
        if dims != wanted:
            raise RuntimeError(
                f"All tensors must have the same sparse_dim and dense_dim: {wanted[0]}, {wanted[1]}, but tensor at "
                f"position {position} has {dims[0]}, {dims[1]}."
            )
