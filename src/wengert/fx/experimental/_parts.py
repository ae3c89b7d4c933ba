"""Parts of tensors whose sizes may differ, for ``make_fx(tracing_mode="symbolic")``.

PyTorch computes where a part ends: with the examples' sizes alone, a graph would cut other sizes at the same places.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import wengert as torch

from ..._tape.tensor import Tensor
from ._symbols import Number

__all__ = ["PARTS", "part"]

_ALL = 9223372036854775807


def part(sizes: Any, x: Tensor, key: Any, item: Callable[..., Tensor] = operator.getitem) -> Tensor:
    """``x[key]``; a slice of a whole dim is written if the size may differ, as PyTorch does.

    ``item`` gives a part by a key, and writes it with the program's negative numbers.
    """
    keys = key if isinstance(key, tuple) else (key,)
    several = any(k is ... or isinstance(k, bool) or (isinstance(k, Tensor) and k.dim() > 1) for k in keys)
    if several or not any(map(_is_whole, keys)):
        return item(x, key)
    left: list[Any] = []  # what is not yet done, for each dim: a tensor, or nothing
    for k in keys:
        if _is_whole(k):
            sizes.settle()
            if isinstance(sizes.sizes(x)[len(left)], Number):
                x = torch.ops.aten.slice.Tensor(x, len(left), 0, _ALL)
        elif not isinstance(k, (Tensor, list)):
            x = item(x, (*[slice(None)] * len(left), k))
        left += [] if isinstance(k, int) else [k if isinstance(k, (Tensor, list)) else slice(None)]
    return x if all(map(_is_whole, left)) else item(x, tuple(left))


def _is_whole(k: Any) -> bool:
    return isinstance(k, slice) and k == slice(None)


def _narrow(sizes: Any, input: Tensor, dim: int, start: Any, length: Any) -> Any:
    if isinstance(start, Tensor) or not isinstance(end := start + length, Number):
        return NotImplemented
    return sizes.overload(torch.ops.aten.slice.Tensor, input, dim, start, end)


def _chunk(sizes: Any, input: Tensor, chunks: int, dim: int = 0) -> Any:
    size = sizes.sizes(input)[dim]
    if not isinstance(size, Number):
        return NotImplemented
    step = (size + chunks - 1) // chunks
    parts = sizes.overload(torch.ops.aten.split.Tensor, input, step, dim)
    sizes.known.decided(operator.eq((size + step - 1) // step, len(parts)))
    return parts


def _unflatten(sizes: Any, input: Tensor, dim: Any, shape: Any) -> Any:
    known = sizes.sizes(input)
    if not isinstance(dim, int) or list(shape).count(-1) != 1 or not isinstance(known[dim], Number):
        return NotImplemented
    rest = known[dim] // functools.reduce(operator.mul, [n for n in shape if n != -1], 1)
    dim %= len(known)
    inside = [rest if type(n) is int and n == -1 else n for n in shape]
    return sizes.overload(torch.ops.aten.view.default, input, [*known[:dim], *inside, *known[dim + 1 :]])


def _diff(sizes: Any, input: Tensor, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    length = sizes.sizes(input)[dim] - 1
    if n != 1 or prepend is not None or append is not None or not isinstance(length, Number):
        return NotImplemented
    first, second = [_narrow(sizes, input, dim, start, length) for start in (0, 1)]
    aten = torch.ops.aten
    return sizes.overload(aten.logical_xor.default if input.dtype is torch.bool else aten.sub.Tensor, second, first)


PARTS = {"chunk": _chunk, "diff": _diff, "narrow": _narrow, "unflatten": _unflatten}
"""What functions give by operators on numbers, for the ``Sizes`` and their arguments; ``NotImplemented``: as else."""
