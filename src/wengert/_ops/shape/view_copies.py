"""Copies of views: ``view_copy``, ``expand_copy``, ``split_copy`` and the others."""

from __future__ import annotations

import functools
from itertools import accumulate
from typing import Any

import numpy as np

from ..._arrays.along import COLONS
from ..._base.registry import public
from ..._kinds.dims import normal_dim
from ..._kinds.general import general
from ..._kinds.out import EXACT, exactly, with_out
from ..._payloads.meta import Meta
from ..._tape.node import named
from ..._tape.tensor import Tensor, wrap
from ..._tape.view_chain import with_node_name
from .broadcasting import _expand_size
from .join import _chunks, _piece, _pieces, _sized, _split_jvp
from .strided import as_strided, diagonal, narrow, select_public, slice_dim, unfold
from .views import permute_public, squeeze, transpose, view_public
from .views import t as transposed
from .views_primitive import alias, expand, ints, payload, unsqueeze_dim


def _copied(t: Tensor, name: str | None = None) -> Tensor:
    """A copy of a view, with the view's history."""
    a = t._payload
    r = wrap(a.copy() if isinstance(a, (np.ndarray, Meta)) else a, t._node)
    if r._node is not None:
        with_node_name(r, name or type(t._node).__name__ + "_copy")
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
    "unsqueeze_copy": lambda self, dim: unsqueeze_dim(self, normal_dim(dim, self._payload.ndim + 1, "unsqueeze_copy")),
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


# ----------------------------------------------------------------------------------------------- pieces that are copies
@general(
    outputs=-1,
    grad=lambda xp, g, dim: xp.cat(list(g), dim),
    jvp=_split_jvp("split_copy"),
    holomorphic=False,
    batch=("dim", ("dim",)),
    dtypes="fcib",
    samples=[((5, 2), ((2, 3), 0))],
)
def split_copy(lib, self, split_sizes, dim):
    """Copies of pieces of these sizes along a dimension."""
    return tuple([piece.copy() for piece in split_with_sizes_raw(lib, self, split_sizes, dim)])


def split_with_sizes_raw(lib: Any, self: Any, split_sizes: Any, dim: int) -> Any:
    """The pieces of an array."""
    return lib.split(self, list(accumulate(split_sizes))[:-1], dim) if split_sizes else ()


def _even(size: int, n: int) -> tuple[int, ...]:
    return tuple(min(size, n - i) for i in range(0, n, size)) if n and size else (n,)


def _named(pieces: Any, name: str) -> Any:
    if pieces and pieces[0]._node is not None:
        renamed_port(pieces[0], name)
    return pieces


def renamed_port(t: Tensor, name: str) -> None:
    """``with_node_name`` for a node with several outputs."""
    named(t._node.fx, name)  # type: ignore[union-attr]


@public("torch.unsafe_split Tensor.unsafe_split")
def unsafe_split(input: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """``split`` whose results may be written to in place."""
    dim, n = _sized(input, dim, "split")
    return _named(split_copy(input, _even(_piece(split_size, n), n), dim), "UnsafeSplitBackward0")


@public("torch.unsafe_split_with_sizes Tensor.unsafe_split_with_sizes")
def unsafe_split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """``split_with_sizes`` whose results may be written to in place."""
    dim, n = _sized(input, dim, "split_with_sizes")
    return _named(split_copy(input, _pieces(split_sizes, n, dim), dim), "UnsafeSplitWithSizesBackward0")


@public("torch.unsafe_chunk Tensor.unsafe_chunk")
def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """``chunk`` whose results may be written to in place."""
    size, n, dim = _chunks(input, chunks, dim)
    return _named(split_copy(input, _even(size, n) if size else (0,) * chunks, dim), "UnsafeSplitBackward0")


@public("torch.split_copy")
def split_copy_public(input: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """``split`` with copies instead of views."""
    dim, n = _sized(input, dim, "split")
    return _named(split_copy(input, _even(_piece(split_size, n), n), dim), "SplitBackward0_copy")


def _into_each(fn: Any) -> Any:
    """Decorator: accept ``out=``, a list with one tensor for each result; as in PyTorch, nothing is returned then."""
    inner = with_out(EXACT)(fn)

    @functools.wraps(fn)
    def form(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        if out is None:
            return fn(*args, **kwargs)
        inner(*args, out=tuple(out), **kwargs)
        return None

    return form


@public("torch.split_with_sizes_copy")
@_into_each
def split_with_sizes_copy(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """``split_with_sizes`` with copies instead of views."""
    dim, n = _sized(input, dim, "split_with_sizes")
    return _named(split_copy(input, _pieces(split_sizes, n, dim), dim), "SplitWithSizesBackward0_copy")


@public("torch.unbind_copy")
@_into_each
def unbind_copy(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """``unbind`` with copies instead of views."""
    shape = payload(input, "unbind").shape
    if not shape:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    return _named(copies_of(input, normal_dim(dim, len(shape), "unbind")), "UnbindBackward0_copy")


@general(
    outputs=-1,
    grad=lambda xp, g, dim: xp.stack(list(g), dim),
    jvp=_split_jvp("copies_of"),
    holomorphic=False,
    batch=("dim", ("dim",)),
    dtypes="fcib",
    samples=[((3, 2), (1,))],
)
def copies_of(lib, self, dim):
    """Copies of the slices at each index of a dimension."""
    lead = COLONS[dim]
    return tuple([self[lead + (i, ...)].copy() for i in range(self.shape[dim])])
