"""Shapes, joining, parts of arrays and choices."""

from __future__ import annotations

from typing import Any

import wengert as torch
from wengert import moveaxis

from ._dtypes import together
from ._reductions import axes_of

__all__ = ["moveaxis"]


def broadcast_arrays(*arrays: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Arrays expanded to their common shape.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> [x.shape for x in xp.broadcast_arrays(torch.ones(3, 1), torch.ones(2))]
    [torch.Size([3, 2]), torch.Size([3, 2])]
    """
    return tuple(torch.broadcast_tensors(*arrays)) if arrays else ()


def broadcast_to(x: torch.Tensor, /, shape: tuple[int, ...]) -> torch.Tensor:
    """An array expanded to a shape.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.broadcast_to(torch.tensor(1), shape=(2,))
    tensor([1, 1])
    """
    return torch.broadcast_to(x, shape)


def concat(arrays: Any, /, *, axis: int | None = 0) -> torch.Tensor:
    """Arrays joined along an axis; flattened and joined for ``None``.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.concat([torch.ones(1, 2), torch.zeros(1, 1)], axis=None)
    tensor([1., 1., 0.])
    """
    same = together(*arrays)
    return torch.cat([x.flatten() for x in same]) if axis is None else torch.cat(same, axis)


def stack(arrays: Any, /, *, axis: int = 0) -> torch.Tensor:
    """Arrays of one shape joined along a new axis.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.stack([torch.tensor(1), torch.tensor(2.)])
    tensor([1., 2.])
    """
    return torch.stack(together(*arrays), axis)


def unstack(x: torch.Tensor, /, *, axis: int = 0) -> tuple[torch.Tensor, ...]:
    """The parts of an array along an axis.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.unstack(torch.tensor([1, 2]))
    (tensor(1), tensor(2))
    """
    return tuple(torch.unbind(x, axis))


def expand_dims(x: torch.Tensor, /, axis: int | tuple[int, ...] = 0) -> torch.Tensor:
    """An array with axes of size 1 put in, at these places of the result.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.expand_dims(torch.ones(3), axis=(0, -1)).shape
    torch.Size([1, 3, 1])
    """
    for one in axes_of(axis, x.ndim + (len(axis) if isinstance(axis, tuple) else 1)):
        x = x.unsqueeze(one)
    return x


def squeeze(x: torch.Tensor, /, axis: int | tuple[int, ...]) -> torch.Tensor:
    """An array without these axes, which must be of size 1.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.squeeze(torch.ones(1, 3, 1), axis=(0, 2)).shape
    torch.Size([3])
    """
    axes = axes_of(axis, x.ndim)
    if any(x.shape[one] != 1 for one in axes):
        raise ValueError(f"only axes of size 1 can be left out, not {axis} of an array of shape {tuple(x.shape)}")
    return torch.squeeze(x, axes)


def flip(x: torch.Tensor, /, *, axis: int | tuple[int, ...] | None = None) -> torch.Tensor:
    """An array in the reverse order along axes, all of them for ``None``.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.flip(torch.tensor([1, 2]))
    tensor([2, 1])
    """
    return torch.flip(x, axes_of(axis, x.ndim))


def roll(x: torch.Tensor, /, shift: Any, *, axis: int | tuple[int, ...] | None = None) -> torch.Tensor:
    """An array whose elements moved on by ``shift`` along axes, around the end.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.roll(torch.tensor([1, 2, 3]), 1)
    tensor([3, 1, 2])
    """
    if isinstance(axis, tuple) and isinstance(shift, int):
        shift = (shift,) * len(axis)
    return torch.roll(x, shift, axis)


def permute_dims(x: torch.Tensor, /, axes: tuple[int, ...]) -> torch.Tensor:
    """An array with its axes in another order.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.permute_dims(torch.ones(2, 3), (1, 0)).shape
    torch.Size([3, 2])
    """
    return torch.permute(x, axes)


def repeat(x: torch.Tensor, repeats: Any, /, *, axis: int | None = None) -> torch.Tensor:
    """An array with each element several times, along an axis; flattened before for ``None``.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.repeat(torch.tensor([1, 2]), 2)
    tensor([1, 1, 2, 2])
    """
    if isinstance(repeats, torch.Tensor):
        repeats = repeats.to(torch.int64)
    return torch.repeat_interleave(x, repeats, axis)


def tile(x: torch.Tensor, repetitions: tuple[int, ...], /) -> torch.Tensor:
    """An array several times beside itself.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.tile(torch.tensor([1, 2]), (2,))
    tensor([1, 2, 1, 2])
    """
    return torch.tile(x, repetitions)


def reshape(x: torch.Tensor, /, shape: tuple[int, ...], *, copy: bool | None = None) -> torch.Tensor:
    """An array in another shape. ``copy=False``: a view, and ValueError where there is none.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.reshape(torch.arange(4), (2, -1))
    tensor([[0, 1],
            [2, 3]])
    """
    if copy is False:
        try:
            return x.view(shape)
        except RuntimeError as error:
            raise ValueError(str(error)) from error
    return torch.reshape(x.clone() if copy else x, shape)


def take(x: torch.Tensor, indices: torch.Tensor, /, *, axis: int | None = None) -> torch.Tensor:
    """The parts of an array at indices along an axis; a negative index counts from the end.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.take(torch.tensor([5, 6, 7]), torch.tensor([-1, 0]))
    tensor([7, 5])
    """
    if axis is None and x.ndim != 1:
        raise ValueError(f"take needs an axis for an array of {x.ndim} dimensions")
    (at,) = axes_of(0 if axis is None else axis, x.ndim)
    return x[(slice(None),) * at + (indices,)]


def take_along_axis(x: torch.Tensor, indices: torch.Tensor, /, *, axis: int = -1) -> torch.Tensor:
    """The elements at an index for each place of the other axes.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.take_along_axis(torch.tensor([[5, 6], [7, 8]]), torch.tensor([[-1], [0]]), axis=1)
    tensor([[6],
            [7]])
    """
    (at,) = axes_of(axis, x.ndim)
    return torch.take_along_dim(x, torch.where(indices < 0, indices + x.shape[at], indices).to(torch.int64), at)


def nonzero(x: torch.Tensor, /) -> tuple[torch.Tensor, ...]:
    """The indices of the elements that are not zero, one array for each dimension.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.nonzero(torch.tensor([0, 7]))
    (tensor([1]),)
    """
    if not x.ndim:
        raise ValueError("nonzero is not defined for an array without dimensions")
    return torch.nonzero(x, as_tuple=True)


def where(condition: torch.Tensor, x1: Any, x2: Any, /) -> torch.Tensor:
    """The elements of ``x1`` where the condition is true, of ``x2`` elsewhere; one of them may be a number.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.where(torch.tensor([True, False]), torch.tensor([1, 2]), 0.5)
    tensor([1.0000, 0.5000])
    """
    x1, x2 = together(x1, x2)
    return torch.where(condition, x1, x2)
