"""What a view shows, as a copy of its own: ``view_copy``, ``expand_copy``, ``narrow_copy`` and the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._dims import normal_dim
from .._out import EXACT, exactly, with_out
from .._registry import public
from .._tensor import Tensor, wrap
from .broadcasting import _expand_size
from .chains import renamed
from .shape import alias, expand, ints, payload, unsqueeze_dim
from .strided import as_strided, diagonal, narrow, select_public, slice_dim, unfold
from .views import permute_public, squeeze, transpose, view_public
from .views import t as transposed


def _copied(t: Tensor, name: str | None = None) -> Tensor:
    """A copy of what a view shows, with the view's history."""
    a = t._a
    r = wrap(a.copy() if isinstance(a, np.ndarray) else a, t._fn)
    if r._fn is not None:
        renamed(r, name or type(t._fn).__name__ + "_copy")
    return r


def _copy_form(name: str, of: Any, node: str | None = None, out_rule: Any = EXACT) -> Any:
    def form(*args: Any, **kwargs: Any) -> Tensor:
        return _copied(of(*args, **kwargs), node)

    form.__name__ = form.__qualname__ = name
    form.__doc__ = f"``{name.removesuffix('_copy')}``, as a copy."
    return public(f"torch.{name}")(with_out(out_rule)(form))


def _slice(self: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
    """A view of a slice of one dimension."""
    shape = payload(self, "slice").shape
    dim = normal_dim(dim, len(shape), "slice")
    first, last, step = slice(start, end, step).indices(shape[dim])
    return slice_dim(self, dim, first, max(first, last), step)


def _expanded(self: Tensor, size: Any, *, implicit: bool = False) -> Tensor:
    return expand(self, _expand_size(ints((size,), "expand_copy"), self))


diagonal_copy = _copy_form("diagonal_copy", diagonal)
for _name, _of in {
    "view_copy": view_public, "permute_copy": permute_public, "transpose_copy": transpose, "t_copy": transposed,
    "unsqueeze_copy": lambda self, dim: unsqueeze_dim(self, normal_dim(dim, self._a.ndim + 1, "unsqueeze_copy")),
    "squeeze_copy": squeeze, "expand_copy": _expanded, "as_strided_copy": as_strided, "unfold_copy": unfold,
    "slice_copy": _slice, "select_copy": select_public, "alias_copy": alias, "detach_copy": lambda self: self.detach(),
}.items():  # fmt: skip
    _copy_form(_name, _of)
narrow_copy = _copy_form(
    "narrow_copy",
    narrow,
    "NarrowCopyBackward0",
    exactly("Expected self.dtype() == output.dtype() to be true, but got false."),
)
public("Tensor.narrow_copy")(narrow_copy)
