"""What sparse arrays of every layout have alike: a payload that stores some of its elements, and its operators."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from .._base.registry import ARRAYS, XP
from .._base.silence import silence

KEEP_ZERO = (
    "neg abs sign sgn sin sinh asin asinh tan tanh atan atanh sqrt ceil floor trunc round frac expm1 log1p deg2rad "
    "rad2deg relu erf erfinv isnan isinf signbit positive conj conj_physical"
)


class Stored:
    """A sparse array: its ``values`` at the places that its layout says."""

    __slots__ = ()
    is_sparse = True
    shape: tuple[int, ...]
    values: Any
    like: Callable[..., Self]
    copy: Callable[[], Self]
    emptied: Callable[[], Any]

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))

    def astype(self, dtype: Any, copy: bool = True) -> Self:
        """The values in another NumPy dtype."""
        return self.like(self.values.astype(getattr(dtype, "base_dtype", dtype)))

    def payload_like(self, make: Any) -> Any:
        """An array without elements for zeros, a dense array for others (``_tape.tensor.payload_like``)."""
        return self.emptied() if make is np.zeros else make(self.shape, self.values.dtype)

    def __add__(self, other: Any) -> Any:
        return XP[type(self)].add(self, other)

    def __mul__(self, other: Any) -> Any:
        return XP[type(self)].mul(self, other)

    __rmul__ = __mul__

    def __neg__(self) -> Any:
        return XP[type(self)].neg(self)

    def __deepcopy__(self, memo: Any) -> Self:
        return self.copy()

    @classmethod
    def run_operator(cls, info: Any, args: tuple[Any, ...]) -> Any:
        """Run an operator on payloads, some of which are of this layout (``registry.on_payloads``)."""
        return getattr(XP[cls], info.name)(*args)


class StoredOperators:
    """The raw functions of operators that are alike for all layouts, by the operators' names."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("lib", "library"):  # which other libraries' namespaces have
            raise AttributeError(name)

        def refuse(*args: Any) -> Any:
            if not any(isinstance(a, Stored) for a in args):  # what a formula computes beside a sparse cotangent
                return getattr(ARRAYS, name)(*args)
            raise self.refusal_of(name, args)

        return refuse

    def refusal_of(self, name: str, args: tuple[Any, ...]) -> Exception:
        """PyTorch's error for an operator that the layout does not have."""
        raise NotImplementedError

    def clone(self, x: Any, *layout: Any) -> Any:
        return x.copy()

    def alias(self, x: Any) -> Any:
        return x

    def _to_copy(self, x: Any, dtype: Any) -> Any:
        return x.astype(dtype)

    def sum_all(self, x: Any) -> Any:
        return ARRAYS.sum_all(x.values)


def on_values(operators: type, names: str, ready: Callable[[str, Any], Any] = lambda name, x: x) -> None:
    """Give the operators of a layout what keeps zeros: it runs on the values, once the array is ``ready`` for it."""

    def made(name: str) -> Callable[..., Any]:
        def of_values(self: Any, x: Any, *params: Any) -> Any:
            if not isinstance(x, Stored):
                return getattr(ARRAYS, name)(x, *params)
            x = ready(name, x)
            return x.like(getattr(ARRAYS, name)(x.values, *params))

        of_values.__name__ = name
        of_values.__doc__ = f"``{name}`` of the values: zeros stay zeros."
        return of_values

    for name in names.split():
        setattr(operators, name, made(name))


silence(sys.modules[__name__])
