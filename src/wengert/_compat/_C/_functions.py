"""``torch._C._functions``: nodes that programs create directly.

>>> import wengert as torch
>>> x = torch.ones(2, requires_grad=True)
>>> y = torch._C._functions.DelayedError("not here", 1)(x * 2)
>>> try:
...     y.sum().backward()
... except RuntimeError as error:
...     print(error)
not here
"""

from __future__ import annotations

from typing import Any

from wengert._tape.node import AccumulateGrad
from wengert.autograd.function import Function

__all__ = ["AccumulateGrad", "DelayedError", "UndefinedGrad"]


class _Unchanged(Function):
    @staticmethod
    def forward(ctx: Any, message: str | None, *tensors: Any) -> Any:
        ctx.message = message
        return tuple(t.detach() for t in tensors)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        if ctx.message is not None:
            raise RuntimeError(ctx.message)
        return (None,) * (1 + len(grads))


class DelayedError:
    """Returns tensors unchanged; their backward raises an error with this message."""

    def __init__(self, message: str, num_inputs: int) -> None:
        self.message: str | None = message

    def __call__(self, *tensors: Any) -> Any:
        results = _Unchanged.apply(self.message, *tensors)
        return results[0] if len(results) == 1 else results


class UndefinedGrad(DelayedError):
    """Returns tensors unchanged; their backward passes no gradient on."""

    def __init__(self) -> None:
        self.message = None
