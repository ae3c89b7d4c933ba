"""``apply_``, ``map_`` and ``map2_``: Python functions of each element, in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._base.errors import noted
from .._base.registry import public as method
from .._kinds.slow_path import misfit
from .._tape.promotion import logical_dtype
from .._tape.tensor import Tensor
from .._tape.views import check_inplace, count_write, writable
from .layout import not_expandable
from .legacy_types import name_of_type
from .protocol import array_of


def _by_elements(self: Tensor, name: str, fn: Callable[..., Any], others: dict[str, Any]) -> Tensor:
    for t in (self, *others.values()):
        if not isinstance(t, Tensor):
            raise misfit(f".{name}", self, *others.values(), fn)
        if t._node is not None:
            raise noted(
                RuntimeError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead."),
                "Why: the derivative of a Python function is not known.",
            )
    for called, other in others.items():
        if logical_dtype(other) is not logical_dtype(self):
            want, have = name_of_type(self.dtype), name_of_type(other.dtype)
            raise TypeError(f"{name}: expected {want} for {called} (got {have})")
    check_inplace(self, False)
    a = writable(self)
    columns = []
    for other in others.values():
        b = array_of(other)
        try:
            columns.append(np.broadcast_to(b, a.shape).ravel().tolist())
        except ValueError:
            raise not_expandable(a.shape, b.shape) from None
    if not callable(fn):
        raise TypeError(f"'{type(fn).__name__}' object is not callable")
    values = [fn(*row) for row in zip(a.ravel().tolist(), *columns, strict=True)]
    for value in values:
        if isinstance(value, str):
            integral = "'str' object cannot be interpreted as an integer"
            raise TypeError(integral if a.dtype.kind in "iub" else "must be real number, not str")
    a[...] = np.array(values, a.dtype).reshape(a.shape)
    count_write(self)
    return self


@method("Tensor.apply_")
def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replace each element by a Python function of it; slow, and never recorded.

    >>> torch.tensor([1., 2.]).apply_(lambda x: x * 10)
    tensor([10., 20.])
    """
    return _by_elements(self, "apply_", callable, {})


@method("Tensor.map_")
def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replace each element by a Python function of it and of another tensor's element."""
    return _by_elements(self, "map_", callable, {"'other'": tensor})


@method("Tensor.map2_")
def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
    """Replace each element by a Python function of it and of two other tensors' elements."""
    return _by_elements(self, "map2_", callable, {"argument 'x'": x, "argument 'y'": y})
