"""Copies of views: ``view_copy``, ``expand_copy``, ``split_copy`` and the others."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..._base.registry import public
from ..._kinds.dims import as_int, normal_dim
from ..._kinds.keywords import with_axis, with_out
from ..._kinds.out import EXACT, exactly
from ..._payloads.meta import Meta
from ..._payloads.transforms import Dual
from ..._tape.node import NoHistory, Port, named
from ..._tape.tensor import Tensor, wrap
from ..._tape.view_chain import with_node_name, without_view
from .broadcasting import expand_size
from .join import chunk, split_public, split_with_sizes_public, unbind_public
from .strided import as_strided, diagonal, narrow, select_public, slice_dim, unfold
from .views import permute_public, reshape_public, squeeze, transpose, view_public
from .views import t as transposed
from .views_primitive import alias, expand, ints, payload, unsqueeze_dim


def _copy_of(view: Tensor) -> Tensor:
    """A copy of a view, with the view's history."""
    a = view._payload
    if type(a) is np.ndarray and type(view._node) is not NoHistory:
        return wrap(a.copy(), view._node)
    if isinstance(a, Dual):  # a dual tensor may be written later, and its memory is the program's
        return view.clone()
    node = None if type(view._node) is NoHistory else view._node
    if isinstance(a, (np.ndarray, Meta)):
        return wrap(a.copy(), node)
    if getattr(a, "is_traced", False):  # unlike the values of transforms, it becomes an array that can be written
        return wrap(a.laid_out(np.ndarray.copy), node)
    return wrap(a, node)


def named_copy(view: Tensor, node: str | None = None) -> Tensor:
    """A copy of a view, with the view's history under another name: by default that of the view's own copy."""
    copy = _copy_of(view)
    return copy if copy._node is None else with_node_name(copy, node or type(view._node).__name__ + "_copy")


def _copy_form(name: str, of: Any, node: str | None = None, out_rule: Any = EXACT) -> Any:
    def form(*args: Any, **kwargs: Any) -> Tensor:
        return named_copy(of(*args, **kwargs), node)

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
    return expand(self, expand_size(ints((size,), "expand_copy"), self._payload))


def _viewed(self: Tensor, *shape: Any, dtype: Any = None) -> Tensor:
    """``view``, or ``reshape`` where the strides do not allow it."""
    try:
        return view_public(self, *shape, dtype=dtype)
    except RuntimeError as error:
        if "view size is not compatible" not in str(error):
            raise
        return reshape_public(self, *shape)


for _name, _of in {
    "view_copy": _viewed, "permute_copy": permute_public, "transpose_copy": transpose, "t_copy": transposed,
    "unsqueeze_copy": lambda self, dim: unsqueeze_dim(self, normal_dim(dim, self._payload.ndim + 1, "unsqueeze_copy")),
    "squeeze_copy": squeeze, "expand_copy": _expanded, "as_strided_copy": as_strided, "unfold_copy": unfold,
    "diagonal_copy": diagonal, "slice_copy": _slice,
    "select_copy": select_public, "alias_copy": alias, "detach_copy": lambda self: self.detach(),
}.items():  # fmt: skip
    _copy_form(_name, _of)


def _narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """``narrow`` with the errors of ``narrow_copy``."""
    shape = payload(input, "narrow_copy").shape
    if shape and type(dim) is int and dim >= len(shape):
        raise RuntimeError("Expected dim < static_cast<int64_t>(self_sizes.size()) to be true, but got false.")
    if shape and type(length) is int and length < 0:
        narrow(input, dim, start, 0)
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({shape[dim]}).")
    return narrow(input, dim, start, length)


narrow_copy = _copy_form(
    "narrow_copy",
    _narrow,
    "NarrowCopyBackward0",
    exactly("Expected self.dtype() == output.dtype() to be true, but got false."),
)
public("Tensor.narrow_copy")(narrow_copy)


# ---- pieces, their copies
def _pieces(pieces: tuple[Tensor, ...], name: str) -> tuple[Tensor, ...]:
    """The results of a view operator as tensors that share the memory and are no views: writes are not followed."""
    if pieces and type(pieces[0]._node) is NoHistory:
        return tuple(wrap(piece._payload) for piece in pieces)
    if pieces and pieces[0]._node is not None:
        named(pieces[0]._node.fx, name)
    return tuple(map(without_view, pieces))


def _copies(pieces: tuple[Tensor, ...], name: str) -> tuple[Tensor, ...]:
    """Copies of the results of a view operator; its one node, which they keep, gets this name."""
    if pieces and type(pieces[0]._node) is Port:
        named(pieces[0]._node.fx, name)
    return tuple(_copy_of(piece) for piece in pieces)


@public("torch.unsafe_split Tensor.unsafe_split")
@with_axis
def unsafe_split(input: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """``split`` whose results may be written to in place.

    >>> torch.unsafe_split(torch.arange(3), 2)
    (tensor([0, 1]), tensor([2]))
    """
    size = as_int(split_size, "unsafe_split", argument="split_size")
    return _pieces(split_public(input, size, dim), "UnsafeSplitBackward0")


@public("torch.unsafe_split_with_sizes Tensor.unsafe_split_with_sizes")
def unsafe_split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """``split_with_sizes`` whose results may be written to in place.

    >>> torch.unsafe_split_with_sizes(torch.arange(3), [1, 2])
    (tensor([0]), tensor([1, 2]))
    """
    return _pieces(split_with_sizes_public(input, split_sizes, dim), "UnsafeSplitWithSizesBackward0")


@public("torch.unsafe_chunk Tensor.unsafe_chunk")
@with_axis
def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """``chunk`` whose results may be written to in place.

    >>> torch.unsafe_chunk(torch.arange(3), 2)
    (tensor([0, 1]), tensor([2]))
    """
    return _pieces(chunk(input, chunks, dim), "UnsafeSplitBackward0")


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


@public("torch.split_copy")
@_into_each
def split_copy(input: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """``split`` with copies instead of views.

    >>> torch.split_copy(torch.arange(3), 2)
    (tensor([0, 1]), tensor([2]))
    """
    return _copies(split_public(input, split_size, dim), "SplitBackward0_copy")


@public("torch.split_with_sizes_copy")
@_into_each
def split_with_sizes_copy(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """``split_with_sizes`` with copies instead of views.

    >>> torch.split_with_sizes_copy(torch.arange(3), [1, 2])
    (tensor([0]), tensor([1, 2]))
    """
    return _copies(split_with_sizes_public(input, split_sizes, dim), "SplitWithSizesBackward0_copy")


@public("torch.unbind_copy")
@_into_each
def unbind_copy(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """``unbind`` with copies instead of views.

    >>> torch.unbind_copy(torch.tensor([1, 2]))
    (tensor(1), tensor(2))
    """
    return _copies(unbind_public(input, dim), "UnbindBackward0_copy")
