"""``rearrange``: dims split, permuted and joined by a pattern of their names (A. Rogozhnikov's einops)."""

from __future__ import annotations

import math
from typing import Any

from wengert._base.registry import TENSORS
from wengert._tape.tensor import Tensor

from ._parsing import ParsedExpression, _ellipsis, comma_separate, parse_pattern, validate_rearrange_expressions


class DimensionBindError(Exception):
    """The sizes of a tensor do not fit a pattern."""


def rearrange(tensor: Tensor | list[Tensor] | tuple[Tensor, ...], pattern: str, **axes_lengths: int) -> Tensor:
    """A tensor (or several, stacked) with its dims as on the right of the pattern, named as on the left.

    ``axes_lengths``: the sizes of dims that are split from others; one of each group may be missing.

    Raises:
        ValueError: the pattern is none, or has another number of dims than the tensor.
        DimensionBindError: the sizes do not fit.

    >>> import wengert as torch
    >>> from wengert._functorch.functorch.einops import rearrange
    >>> rearrange(torch.zeros(2, 6, 5), "a (b c) d -> d c (a b)", b=3).shape
    torch.Size([5, 2, 6])
    """
    x: Any = tensor if isinstance(tensor, Tensor) else TENSORS.stack(_listed(tensor), 0)
    left, right = parse_pattern(pattern, axes_lengths)
    validate_rearrange_expressions(left, right, axes_lengths)
    groups = _spread(left.composition, left, x.dim())
    names: list[str] = []
    sizes: list[int] = []
    for group, size in zip(groups, x.shape, strict=True):
        if group:
            sizes += _sizes(group, size, axes_lengths, len(names))
            names += group
        else:  # without a name: it goes
            sizes.append(size)
            names.append("")
    final = [g for item in right.composition for g in _expanded(item, names)]
    kept = [name for group in final for name in group]
    dropped = [i for i, name in enumerate(names) if not name]
    moved = x.reshape(sizes).permute((*[names.index(name) for name in kept], *dropped))
    if dropped:
        moved = moved.sum(tuple(range(len(kept), len(names))))
    known = dict(zip(names, sizes, strict=True))
    return moved.reshape([math.prod(known[name] for name in group) for group in final])


def _listed(tensors: Any) -> list[Tensor]:
    if not isinstance(tensors, (list, tuple)):
        raise TypeError(
            f"stack(): argument 'tensors' (position 1) must be tuple of Tensors, not {type(tensors).__name__}"
        )
    return list(tensors)


def _spread(composition: list[Any], left: ParsedExpression, ndim: int) -> list[list[str]]:
    """The groups of the left side with a name for each dim that the ellipsis stands for."""
    count = len(composition) - left.has_ellipsis
    if count > ndim or (count < ndim and not left.has_ellipsis):
        relation = "less than or equal to" if left.has_ellipsis else "equal to"
        raise ValueError(
            f"Number of dimensions in pattern ({count}) must be {relation} the number of dimensions in the tensor "
            f"({ndim})"
        )
    groups: list[list[str]] = []
    for item in composition:
        groups += [[f"{_ellipsis}{i}"] for i in range(ndim - count)] if item == _ellipsis else [item]
    return groups


def _expanded(item: Any, names: list[str]) -> list[list[str]]:
    """A group of the right side, or the groups that its ellipsis stands for."""
    every = [name for name in names if name.startswith(_ellipsis)]
    if item == _ellipsis:
        return [[name] for name in every]
    return [[name for part in item for name in (every if part == _ellipsis else [part])]]


def _sizes(group: list[str], size: int, lengths: dict[str, int], first: int) -> list[int]:
    """The sizes of a group's dims, which make up one of this size; ``first`` counts the dims before them."""
    found = [lengths.get(name) for name in group]
    called = [f"d{first + i}" for i in range(len(group))]
    missing = [i for i, n in enumerate(found) if n is None]
    known = math.prod(n for n in found if n is not None)
    if len(missing) > 1:
        raise DimensionBindError(
            f"cannot infer the sizes of two dimensions at once {called[missing[0]]} and {called[missing[1]]}"
        )
    if missing:
        if known == 0 or size % known:
            shown = tuple("?" if n is None else n for n in found)
            raise DimensionBindError(f"inferred dimension does not evenly fit into larger dimension: {size} vs {shown}")
        found[missing[0]] = size // known
    elif known != size:
        raise DimensionBindError(
            f"Dimension sizes to do not match ({size} != {known}) when matching dimension pack "
            f"{comma_separate([called])}"
        )
    return [n for n in found if n is not None]
