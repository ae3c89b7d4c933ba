"""``torch.while_loop``: applies a function repeatedly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert as torch
from wengert._tape.tensor import Tensor
from wengert.utils import _higher_order as operators
from wengert.utils._higher_order import is_written
from wengert.utils._pytree import tree_leaves

from ._written import Flat

__all__ = ["while_loop"]


def while_loop(
    cond_fn: Callable[..., Any],
    body_fn: Callable[..., Any],
    carried_inputs: tuple[Any, ...] | list[Any],
) -> Any:
    """``carried_inputs``, replaced by ``body_fn(*carried_inputs)`` as long as ``cond_fn(*carried_inputs)`` is true.

    Raises:
        RuntimeError: ``carried_inputs`` is no tuple or list, ``cond_fn`` returns more than one truth value, or
            ``body_fn`` returns a different number of values, or tensors of other shapes or dtypes.

    >>> import wengert as torch
    >>> torch.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (torch.tensor(0), torch.ones(2)))
    (tensor(3), tensor([8., 8.]))
    """
    if not callable(cond_fn):
        raise RuntimeError("cond_fn must be callable")
    if not callable(body_fn):
        raise RuntimeError("body_fn must be callable")
    if not isinstance(carried_inputs, (tuple, list)):
        raise RuntimeError(f"Expect carried_inputs to be a tuple or list but got {type(carried_inputs)}")
    if is_written():
        if not all(isinstance(t, Tensor) for t in tree_leaves(carried_inputs)):
            raise NotImplementedError("while_loop: numbers cannot be carried in a graph; carry tensors")
        body = Flat(*carried_inputs)
        condition = Flat(*carried_inputs).function(cond_fn)
        return body.result(operators.while_loop(lambda *t: condition(*t)[0], body.function(body_fn), body.tensors, ()))
    values = tuple(carried_inputs)
    while _truth(cond_fn(*values)):
        found = body_fn(*values)
        if not isinstance(found, (tuple, list)):
            raise RuntimeError(f"body_fn should return a tuple but got {type(found)}")
        if len(found) != len(values):
            raise RuntimeError(
                "body_fn should return the same number of elements as carried_inputs, "
                f"but got {len(found)} for {len(values)}"
            )
        _check_alike(tree_leaves(found), tree_leaves(values))
        values = tuple(found)
    return values


def _check_alike(made: list[Any], carried: list[Any]) -> None:
    """Raise if what ``body_fn`` returns is not of the shapes and dtypes that it is given."""
    for i, pair in enumerate(zip(made, carried, strict=False)):
        if not all(isinstance(t, Tensor) for t in pair):
            continue
        for name in ("shape", "dtype"):
            new, old = [getattr(t, name) for t in pair]
            if new != old:
                raise torch._dynamo.exc.UncapturedHigherOrderOpError(
                    "Expected body_fn_output and carried_inputs to have same metadata but found:\n"
                    f"pair[{i}] differ in '{name}: {new} vs {old}'"
                )


def _truth(pred: Any) -> bool:
    if not isinstance(pred, bool) and not (isinstance(pred, Tensor) and pred.numel() == 1):
        raise RuntimeError(f"cond_fn must return a boolean scalar tensor or a boolean but got {pred}")
    return bool(pred)
