"""Functions that make arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert as torch

from ._dtypes import lent


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> torch.Tensor:
    """An array of numbers, nested lists, a buffer or an array, on the device of the array where there is one.

    >>> from wengert import array_api as xp
    >>> xp.asarray([1, 2], dtype=xp.float32)
    tensor([1., 2.])
    """
    if device is None and isinstance(obj, torch.Tensor):
        device = obj.device
    if isinstance(obj, np.ndarray) and copy is None and any(step < 0 for step in obj.strides):
        obj = obj.copy()  # no tensor can share this memory
    return torch.asarray(obj, dtype=dtype, device=device, copy=copy)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> torch.Tensor:
    """A tensor on another library's memory; a copy with ``copy=True``.

    >>> import numpy as np
    >>> from wengert import array_api as xp
    >>> xp.from_dlpack(np.arange(3.))
    tensor([0., 1., 2.], dtype=torch.float64)
    """
    shared = torch.from_dlpack(x)
    return shared.to(device=device, copy=bool(copy))


def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None) -> torch.Tensor:
    """The numbers from ``start`` to below ``stop``; none where ``step`` leads away from ``stop``.

    >>> from wengert import array_api as xp
    >>> xp.arange(3), xp.arange(5, 2)
    (tensor([0, 1, 2]), tensor([], dtype=torch.int64))
    """
    if stop is None:
        start, stop = 0, start
    if (stop - start) * step <= 0 and step:
        integral = all(isinstance(number, int) for number in (start, stop, step))
        return torch.empty(0, dtype=dtype or (torch.int64 if integral else None), device=device)
    return torch.arange(start, stop, step, dtype=dtype, device=device)


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: bool = True
) -> torch.Tensor:
    """``num`` numbers at equal distances, the last of them ``stop`` or, without ``endpoint``, one distance before it.

    >>> from wengert import array_api as xp
    >>> xp.linspace(0, 1, 4, endpoint=False)
    tensor([0.0000, 0.2500, 0.5000, 0.7500])
    """
    if endpoint:
        return torch.linspace(start, stop, num, dtype=dtype, device=device)
    return torch.linspace(start, stop, num + 1, dtype=dtype, device=device)[:-1]


def _filled(name: str, function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    def filled(shape: Any, *, dtype: Any = None, device: Any = None) -> torch.Tensor:
        return function(shape, dtype=dtype, device=device)

    return lent(filled, name, f"``torch.{name}`` of a shape, which is an integer or a tuple.", function)


empty, ones, zeros = (_filled(name, getattr(torch, name)) for name in ("empty", "ones", "zeros"))


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> torch.Tensor:
    """An array of a shape, an integer or a tuple, all of whose elements are ``fill_value``.

    >>> from wengert import array_api as xp
    >>> xp.full(2, 7)
    tensor([7, 7])
    """
    return torch.full((shape,) if isinstance(shape, int) else shape, fill_value, dtype=dtype, device=device)


def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None
) -> torch.Tensor:
    """Zeros with ones on the diagonal ``k``.

    >>> from wengert import array_api as xp
    >>> xp.eye(2, 3, k=1)
    tensor([[0., 1., 0.],
            [0., 0., 1.]])
    """
    n_cols = n_rows if n_cols is None else n_cols
    made = torch.zeros(n_rows, n_cols, dtype=dtype, device=device)
    if -n_rows < k < n_cols:
        made.diagonal(k).fill_(1)
    return made


def tril(x: torch.Tensor, /, *, k: int = 0) -> torch.Tensor:
    """The lower triangles of matrices: what is above the diagonal ``k`` is zero.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.tril(torch.ones(2, 2))
    tensor([[1., 0.],
            [1., 1.]])
    """
    return torch.tril(x, k)


def triu(x: torch.Tensor, /, *, k: int = 0) -> torch.Tensor:
    """The upper triangles of matrices: what is below the diagonal ``k`` is zero.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.triu(torch.ones(2, 2), k=1)
    tensor([[0., 1.],
            [0., 0.]])
    """
    return torch.triu(x, k)


def meshgrid(*arrays: torch.Tensor, indexing: str = "xy") -> tuple[torch.Tensor, ...]:
    """The coordinates of a grid, of one array for each dimension.

    >>> import wengert as torch
    >>> from wengert import array_api as xp
    >>> xp.meshgrid(torch.arange(2), torch.arange(3))[0]
    tensor([[0, 1],
            [0, 1],
            [0, 1]])
    """
    return tuple(torch.meshgrid(*arrays, indexing=indexing)) if arrays else ()
