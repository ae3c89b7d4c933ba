"""``torch.cond``: calls one of two functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert import SymBool, where
from wengert._compat._C._functorch import is_batchedtensor
from wengert._tape.tensor import Tensor
from wengert.utils import _higher_order as operators
from wengert.utils._higher_order import is_written
from wengert.utils._pytree import tree_leaves, tree_map

from ._written import Flat

__all__ = ["cond"]


def cond(
    pred: bool | Tensor,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    operands: tuple[Any, ...] | list[Any] = (),
) -> Any:
    """``true_fn(*operands)`` if ``pred``, a bool or a tensor with one element, is true, else ``false_fn(*operands)``.

    Raises:
        RuntimeError: ``pred`` is neither, or ``operands`` is not a tuple of tensors or of containers of tensors.

    >>> import wengert as torch
    >>> x = torch.tensor([1., -2.])
    >>> torch.cond(x.sum() > 0, lambda x: x.cos(), lambda x: -x, (x,))
    tensor([-1.,  2.])
    """
    if not isinstance(pred, (bool, int, float, Tensor, SymBool)):
        raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred}.")
    if isinstance(pred, Tensor) and pred.numel() != 1:
        raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
    for fn in (true_fn, false_fn):
        if not callable(fn):
            raise RuntimeError("Expect both branches to be callable.")
    leaves = tree_leaves(operands) if isinstance(operands, (tuple, list)) else [None]
    if not all(isinstance(t, (Tensor, int, float, bool)) for t in leaves):
        raise RuntimeError(
            "Expect operands to be a tuple of possibly nested dict/list/tuple that only consists of tensor leaves, "
            f"but got {operands}."
        )
    if is_written() and isinstance(pred, (Tensor, SymBool)):
        flat = Flat(*operands)
        return flat.result(operators.cond(pred, flat.function(true_fn), flat.function(false_fn), flat.tensors))
    if isinstance(pred, Tensor) and is_batchedtensor(pred):
        both = true_fn(*operands), false_fn(*operands)
        return tree_map(lambda a, b: where(pred, a, b), *both)
    chosen = pred.item() if isinstance(pred, Tensor) else pred  # not bool(): fullgraph=True refuses programs' branches
    return (true_fn if chosen else false_fn)(*operands)
