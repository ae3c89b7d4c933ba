"""Sorting, searching in what is sorted, and sets of values."""

from __future__ import annotations

from typing import Any, NamedTuple

import wengert as torch

from ._dtypes import together


class UniqueAll(NamedTuple):
    """What `unique_all` returns."""

    values: torch.Tensor
    indices: torch.Tensor
    inverse_indices: torch.Tensor
    counts: torch.Tensor


class UniqueCounts(NamedTuple):
    """What `unique_counts` returns."""

    values: torch.Tensor
    counts: torch.Tensor


class UniqueInverse(NamedTuple):
    """What `unique_inverse` returns."""

    values: torch.Tensor
    inverse_indices: torch.Tensor


def sort(x: torch.Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> torch.Tensor:
    """The elements along an axis in order.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.sort(torch.tensor([3, 1, 2]), descending=True)
    tensor([3, 2, 1])
    """
    return torch.sort(x, dim=axis, descending=descending, stable=stable).values


def argsort(x: torch.Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> torch.Tensor:
    """The indices that sort the elements along an axis.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.argsort(torch.tensor([3, 1, 1]))
    tensor([1, 2, 0])
    """
    return torch.argsort(x, dim=axis, descending=descending, stable=stable)


def searchsorted(
    x1: torch.Tensor, x2: Any, /, *, side: str = "left", sorter: torch.Tensor | None = None
) -> torch.Tensor:
    """The index in ``x1`` before which each element of ``x2`` keeps the order; after its equals with ``side="right"``.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.searchsorted(torch.tensor([1., 3., 3.]), torch.tensor([3., 4.]))
    tensor([1, 3])
    """
    x1, x2 = together(x1, x2)
    return torch.searchsorted(x1, x2.contiguous(), side=side, sorter=sorter)


def unique_all(x: torch.Tensor, /) -> UniqueAll:
    """The values of an array in order, where each comes first, which one each element is, how often each comes.

    Every NaN is a value of its own.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.unique_all(torch.tensor([3, 1, 3]))
    UniqueAll(values=tensor([1, 3]), indices=tensor([1, 0]), inverse_indices=tensor([1, 0, 1]), counts=tensor([1, 2]))
    """
    flat = x.flatten()
    if flat.is_complex():
        order = torch.argsort(flat.imag, stable=True)
        order = order[torch.argsort(flat.real[order], stable=True)]
    else:
        order = torch.argsort(flat, stable=True)
    ordered = flat[order]
    first = torch.ones(len(flat), dtype=torch.bool, device=x.device)
    first[1:] = ordered[1:] != ordered[:-1]
    starts = torch.nonzero(first).flatten()
    inverse = torch.empty_like(order)
    inverse[order] = torch.cumsum(first, 0) - 1
    counts = torch.diff(starts, append=starts.new_full((1,), len(flat)))
    return UniqueAll(ordered[starts], order[starts], inverse.reshape(x.shape), counts)


def unique_counts(x: torch.Tensor, /) -> UniqueCounts:
    """The values of an array in order, and how often each comes.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.unique_counts(torch.tensor([3, 1, 3])).counts
    tensor([1, 2])
    """
    found = unique_all(x)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: torch.Tensor, /) -> UniqueInverse:
    """The values of an array in order, and which one each element is.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.unique_inverse(torch.tensor([3, 1, 3])).inverse_indices
    tensor([1, 0, 1])
    """
    found = unique_all(x)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x: torch.Tensor, /) -> torch.Tensor:
    """The values of an array in order.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.unique_values(torch.tensor([3, 1, 3]))
    tensor([1, 3])
    """
    return unique_all(x).values
