"""PyTorch's table of operators in terms of others; none is written so here."""

from __future__ import annotations

from typing import Any

__all__ = ["core_aten_decompositions", "decomposition_table", "get_decompositions"]

decomposition_table: dict[Any, Any] = {}


def get_decompositions(aten_ops: Any, type: str = "post_autograd") -> dict[Any, Any]:
    """The operators of a list that are in the table: none.

    >>> import wengert as torch
    >>> torch._decomp.get_decompositions([torch.ops.aten.addmm])
    {}
    """
    return {}


def core_aten_decompositions() -> dict[Any, Any]:
    """PyTorch's operators that are none of its core ones, in terms of these: none is written so here.

    >>> import wengert as torch
    >>> torch._decomp.core_aten_decompositions()
    {}
    """
    return {}
