"""Broadcasting: ``expand``, ``sum_to_size``, ``broadcast_shapes``, ``broadcast_tensors``, ``vector``, ..."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._base.constants import type_name
from ..._base.errors import unexpected_keyword
from ..._base.registry import TENSORS, public
from ..._tape.error_text import common_shape
from ..._tape.fast_results import view_result
from ..._tape.saved import _type_name
from ..._tape.tensor import Tensor
from .views import unsqueeze, view_public
from .views_primitive import (
    EXPAND,
    expand,
    expanded,
    given_twice,
    ints,
    listed_ints,
    none_given,
    payload,
    shape_of_other,
)


# ---- broadcasting
def expand_size(size: tuple[int, ...], a: Any) -> tuple[int, ...]:
    """Check the size given to ``expand`` for the payload ``a``, and replace every -1."""
    shape = tuple(a.shape)
    if len(size) < len(shape):
        ints((size,), "expand")
        raise RuntimeError(
            f"expand({_type_name(a)}{{{list(shape)}}}, size={list(size)}): the number of sizes provided "
            f"({len(size)}) must be greater or equal to the number of dimensions in the tensor ({len(shape)})"
        )
    return _full_size(size, shape)


@functools.lru_cache(4096)
def _full_size(size: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    if any(type(n) is not int for n in size):
        raise TypeError("sizes are ints")
    lead = len(size) - len(shape)
    full = list(size)
    for i in range(len(size) - 1, -1, -1):  # PyTorch checks the last dimension first, and reports the first error
        n = size[i]
        old = shape[i - lead] if i >= lead else 1
        if n < 0 and i < lead:
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) isn't allowed in a leading, non-existing dimension {i}"
            )
        if n == -1:
            full[i] = old
        elif n < 0 or old not in (1, n):
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({old}) at non-singleton "
                f"dimension {i}.  Target sizes: {list(size)}.  Tensor sizes: {list(shape)}"
            )
    return tuple(full)


@public("Tensor.expand")
def expand_public(self: Tensor, *size: Any, implicit: bool = False, **given: Any) -> Tensor:
    """A view in which dimensions of size one, and new ones in front, seem repeated; -1 keeps a dimension's size.

    The repeated elements share memory: writing to the view in place is an error.

    >>> torch.tensor([[1], [2]]).expand(-1, 3)
    tensor([[1, 1, 1],
            [2, 2, 2]])
    """
    if given:
        for name in given:
            if name != "size" or size:
                raise unexpected_keyword("expand", name, ("size",))
        size = (given["size"],)
    a = self._payload
    try:
        full = expand_size(tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size, a)
    except TypeError:  # not plain ints
        full = expand_size(ints(size, "expand"), a)
    if type(a) is not np.ndarray:
        return expand(self, full)
    return view_result(EXPAND, self, (full,), expanded(a, full))


@public("torch.broadcast_to Tensor.broadcast_to")
def broadcast_to(input: Tensor, size: Any, *sizes: int) -> Tensor:
    """``input.expand(size)``; as a method also ``input.broadcast_to(2, 3)``.

    >>> torch.broadcast_to(torch.tensor([1, 2]), (2, 2))
    tensor([[1, 2],
            [1, 2]])
    """
    payload(input, "broadcast_to")
    if sizes:
        size = (size, *sizes)
    return expand_public(input, size if type(size) is tuple else ints((size,), "broadcast_to"))


@public("Tensor.expand_as")
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """``self.expand(other.shape)``."""
    size, a = shape_of_other(other, "expand_as"), self._payload
    if type(a) is not np.ndarray or len(size) < a.ndim:
        return expand_public(self, size)
    full = _full_size(size, a.shape)
    return view_result(EXPAND, self, (full,), expanded(a, full))


@public("Tensor.sum_to_size")
def sum_to_size(self: Tensor, *sizes: Any, size: Any = None) -> Tensor:
    """Sum the elements down to the shape ``size``, which must broadcast to the shape of ``self``.

    >>> torch.ones(2, 3).sum_to_size(1, 3)
    tensor([[2., 2., 2.]])
    """
    if (size is None) is not bool(sizes):
        raise given_twice("sum_to_size", "size") if sizes else none_given("sum_to_size", "size")
    wanted = ints(sizes, "sum_to_size") if size is None else listed_ints(size, "sum_to_size")
    shape = tuple(self._payload.shape)
    lead = len(shape) - len(wanted)
    if lead < 0 or any(n not in (1, shape[i + lead]) for i, n in enumerate(wanted)):
        raise RuntimeError(f"size {{{list(wanted)}}} is not expandable to size {{{list(shape)}}}.")
    if not wanted:
        return TENSORS.sum_all(self)
    dims = tuple(i for i, n in enumerate(shape) if i < lead or wanted[i - lead] != n)
    if not dims:
        return self
    r = TENSORS.sum_dim(self, dims, True)
    return view_public(r, wanted) if lead else r


@public("torch.broadcast_shapes")
def broadcast_shapes(*shapes: Any) -> Any:
    """The shape that tensors of these shapes broadcast to.

    >>> torch.broadcast_shapes((2, 1), (3,), 1)
    torch.Size([2, 3])
    """
    from ..._base.constants import Size
    from ..._base.dtypes import make_size

    result: list[int] = []
    for k, shape in enumerate(shapes):
        if shape is None:
            continue
        if isinstance(shape, (tuple, list, str)):
            shape = tuple(Size(shape))
        elif isinstance(shape, int) or getattr(type(shape), "symbolic", None) == "int":
            shape = (shape,)
        else:
            raise RuntimeError(f"Input shapes should be of type ints, a tuple of ints, or a list of ints, got {shape}")
        if any(n < 0 for n in shape):
            raise ValueError("Attempting to broadcast a dimension with negative length!")
        result = [1] * (len(shape) - len(result)) + result
        for i in range(-1, -len(shape) - 1, -1):
            n = shape[i]
            if n in (1, result[i]):
                continue
            if result[i] != 1:
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {n} at {i}! Mismatching argument at index {k} had "
                    f"{shape}; but expected shape should be broadcastable to {result}"
                )
            result[i] = n
    return make_size(tuple(result))


@public("torch.broadcast_tensors")
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """The tensors expanded to their common shape.

    >>> torch.broadcast_tensors(torch.tensor([[1], [2]]), torch.tensor([3, 4]))
    (tensor([[1, 1],
            [2, 2]]), tensor([[3, 4],
            [3, 4]]))
    """
    tensors = listed(tensors)
    tensor_list(tensors, "broadcast_tensors")
    shape = common_shape(*tensors)
    return tuple([x if x._payload.shape == shape else expand(x, shape) for x in tensors])


LISTS, _TENSORS = frozenset((list, tuple)), {Tensor}


def tensor_list(tensors: Any, name: str) -> list[Tensor]:
    """Check a function's sequence of tensors and return it as a list."""
    if type(tensors) in LISTS and set(map(type, tensors)) == _TENSORS:
        return list(tensors)
    if isinstance(tensors, Tensor) or not isinstance(tensors, (tuple, list)):
        raise TypeError(f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not {type_name(tensors)}")
    for place, x in enumerate(tensors):
        if not isinstance(x, Tensor):
            raise TypeError(f"expected Tensor as element {place} in argument 0, but got {type_name(x)}")
    return list(tensors)


def listed(tensors: tuple[Any, ...]) -> tuple[Any, ...]:
    """Tensors that were passed one by one or as one tuple or list."""
    return tuple(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors


def vector(x: Tensor) -> Tensor:
    """The tensor with at least one dimension."""
    return x if x._payload.ndim else view_public(x, (1,))


def row(x: Tensor) -> Tensor:
    """The tensor with at least two dimensions; a vector becomes a row."""
    ndim = x._payload.ndim
    return x if ndim > 1 else unsqueeze(x, 0) if ndim else view_public(x, (1, 1))


def cube(x: Tensor) -> Tensor:
    """The tensor with at least three dimensions: (n,) becomes (1, n, 1), and (m, n) becomes (m, n, 1)."""
    ndim = x._payload.ndim
    return x if ndim > 2 else unsqueeze(row(x), 2) if ndim else view_public(x, (1, 1, 1))


def _at_least(ndim: int, one: Callable[[Tensor], Tensor], more: str) -> Any:
    def at_least(*tensors: Any) -> Any:
        found = listed(tensors)
        for x in found:
            payload(x, name)
        return one(found[0]) if found is tensors and len(tensors) == 1 else tuple(map(one, found))

    name = at_least.__name__ = at_least.__qualname__ = f"atleast_{ndim}d"
    at_least.__doc__ = f"Each tensor with at least {more}."
    return public(f"torch.{name}")(at_least)


_at_least(1, vector, "one dimension")
_at_least(2, row, "two dimensions; a vector becomes a row")
_at_least(3, cube, "three dimensions: (n,) becomes (1, n, 1), and (m, n) becomes (m, n, 1)")
