"""What compressed sparse tensors refuse, in PyTorch's words."""

from __future__ import annotations

from typing import Any

from .._base.constants import layout as Layout
from .._base.constants import sparse_coo, strided
from .._base.errors import noted
from .sparse_errors import missing

LAYOUTS = {strided: "Strided", sparse_coo: "Sparse"}


def layout_name(a: Any) -> str:
    """``"SparseCsr"``: a payload's layout, or a layout, as PyTorch's errors name it."""
    layout = a if isinstance(a, Layout) else getattr(a, "layout", strided)
    return LAYOUTS.get(layout) or "Sparse" + layout.name.rpartition("_")[2].capitalize()


def letters(x: Any) -> str:
    return layout_name(x)[-3:].upper()


def no_loop(x: Any) -> RuntimeError:
    """PyTorch's error of the elementwise operators that compressed tensors do not have."""
    return noted(
        RuntimeError(f"unsupported tensor layout: {layout_name(x)}"),
        "Why: the operator does not keep zeros, or has no form for this layout in PyTorch either.",
        "What to do: tensor.to_dense() gives a tensor that every operator takes; tensor.values() are the elements.",
    )


def absent(operator: str) -> NotImplementedError:
    """PyTorch's error for an operator that compressed tensors do not support."""
    return missing(operator, "SparseCsrCPU")


def no_blocks(layout: Any) -> NotImplementedError:
    """The error for layouts of blocks."""
    return noted(
        NotImplementedError(f"tensors of layout {layout} are made by conversion only"),
        "Why: block layouts are a format of kernels for accelerators; torch.sparse_csr holds the same elements.",
        "What to do: use layout=torch.sparse_csr, or Tensor.to_sparse_bsr of a tensor of another layout.",
    )


OVERLOADS = {  # the kernels that PyTorch's dispatcher looks for, where they have a name of their own
    **dict.fromkeys(("mean", "norm", "amax", "amin", "argmax", "argmin", "cumsum", "tril", "triu", "bmm"), ".out"),
    **dict.fromkeys(("baddbmm", "cumprod", "gather", "nan_to_num"), ".out"),
    "softmax": "_softmax.out",
    "log_softmax": "_log_softmax.out",
    "linalg_vector_norm": "norm.out",
    "any": ".all_out",
    "all": ".all_out",
    "count_nonzero": ".dim_IntList",
    "std": ".correction",
    "topk": ".values",
    "var": ".correction",
}


_ROWS_AND_COLUMNS = ("SparseCsr", "SparseCsc")
_SUMS = {
    "Strided": {(x, y) for x in ("Strided", *_ROWS_AND_COLUMNS) for y in ("Strided", *_ROWS_AND_COLUMNS)}
    - {("Strided", "Strided"), ("SparseCsc", "SparseCsr")},
    "SparseCsr": {(x, y) for x in _ROWS_AND_COLUMNS for y in _ROWS_AND_COLUMNS},
    "SparseCsc": {("SparseCsc", "SparseCsc")},
}  # by the layout of what is added, and of the result: the factors that PyTorch multiplies


def refuse_layouts(whole: str, x: str, y: str) -> None:
    """PyTorch's error for layouts of ``whole + x @ y`` that it does not compute."""
    if (x, y) not in _SUMS.get(whole, ()) and not {whole, x, y} & {"SparseBsr", "SparseBsc"}:
        raise noted(
            RuntimeError(f"addmm: computation on CPU is not implemented for {whole} + {x} @ {y}"),
            "What to do: convert one of them, with to_sparse_csr(), to_sparse_coo() or to_dense().",
        )
