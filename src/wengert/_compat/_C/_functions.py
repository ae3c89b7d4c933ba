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

from wengert._base.modes import is_grad_enabled
from wengert._tape.node import AccumulateGrad
from wengert._tape.refusal import Error, UndefinedGradBackward, refusing
from wengert._tape.tensor import current_fn

__all__ = ["AccumulateGrad", "DelayedError", "UndefinedGrad"]


class DelayedError(Error):  # made by type()
    """Returns tensors unchanged; their backward raises an error with this message."""

    kind: Any = Error

    def __init__(self, message: str | None, num_inputs: int) -> None:
        super().__init__(message, (), ())

    def __call__(self, *tensors: Any) -> Any:
        edges = tuple(map(current_fn, tensors))
        if not is_grad_enabled() or not any(edges):
            results = tuple(t.detach() for t in tensors)
        else:
            results = refusing(self.kind, self.message, tensors, edges)
        return results[0] if len(results) == 1 else results


class UndefinedGrad(DelayedError):
    """Returns tensors unchanged; their backward passes no gradient on."""

    kind = UndefinedGradBackward

    def __init__(self) -> None:
        super().__init__(None, 1)
