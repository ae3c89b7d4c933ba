"""Nodes that programs make by hand, as functions of tensors.

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


class _Error(Function):
    @staticmethod
    def forward(ctx: Any, message: str, *tensors: Any) -> Any:
        ctx.message = message
        return tuple(t.detach() for t in tensors)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise RuntimeError(ctx.message)


class _Undefined(Function):
    @staticmethod
    def forward(ctx: Any, *tensors: Any) -> Any:
        return tuple(t.detach() for t in tensors)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return (None,) * len(grads)


def _one_or_all(results: tuple[Any, ...]) -> Any:
    return results[0] if len(results) == 1 else results


class DelayedError:
    """Gives tensors back as they are; their backward is an error with this message."""

    def __init__(self, message: str, num_inputs: int) -> None:
        self.message = message

    def __call__(self, *tensors: Any) -> Any:
        return _one_or_all(_Error.apply(self.message, *tensors))


class UndefinedGrad:
    """Gives tensors back as they are; their backward sends nothing on."""

    def __call__(self, *tensors: Any) -> Any:
        return _one_or_all(_Undefined.apply(*tensors))
