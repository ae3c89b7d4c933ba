"""In-place changes of size and shape: ``unsqueeze_``, ``squeeze_``, ``transpose_``, ``resize_``, ``set_``, ..."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._arrays import uninitialized
from ..._arrays.layouts import row_major_strides
from ..._arrays.memory import bytes_around, locked, storage_of
from ..._base.constants import preserve_format
from ..._base.errors import warn
from ..._base.modes import inference_tensors, is_grad_enabled, is_inference_mode_enabled
from ..._base.registry import public
from ..._kinds.slow_path import check_arguments
from ..._payloads.meta import Meta
from ..._tape.error_text import cpp_name, expect_tensor
from ..._tape.inference import is_inference, refuse_write
from ..._tape.node import AccumulateGrad, Box, hooks_of, leaf_node, version_of, view_of
from ..._tape.promotion import logical_dtype
from ..._tape.refusal import NotImplemented_
from ..._tape.tensor import Tensor, alias_payload, given_away, note_view, stale_views, wrap
from ..._tape.view_chain import chain_of, is_replayed, reshaped_in_place, with_node_name
from ..._tape.views import check_inplace, count_write, rebase_history, refresh
from ..._tensor_api.storage import is_storage, tensor_of
from ..create.convert import detach
from .strided import as_strided, at_strides
from .views import reshape_public, squeeze, transpose, unsqueeze
from .views_primitive import given_twice, ints, listed_ints, matrix_t, none_given


# ---- other shape, in place
def _new_payload(self: Tensor, a: Any, cell: Any) -> None:
    """Give a tensor another array; nodes that saved the tensor keep the old array."""
    reshaped_in_place[:] = ("another array",)
    self._payload = a
    box = self._box = Box()
    box.a = a
    box.cell = cell
    if inference_tensors and is_inference(self):
        self._payload = box.a = locked(a)
    if type(self._node) is AccumulateGrad:
        self._node.box = box


def _view_in_place(view: Any, self: Tensor, name: str) -> Tensor:
    """Turn a tensor into the view ``view(self)`` of itself; ``name`` is the name of its node."""
    if stale_views:
        refresh(self)
    own = view_of(self)
    if self._node is not None or own is not None:
        check_inplace(self, self._node is not None)
    if inference_tensors:
        refuse_write(self)
    a = alias_payload(self)
    views = [each for ref in self.__dict__.get("_views", ()) if (each := ref()) is not None]
    if getattr(a, "is_traced", False) and (views or own is not None or id(self) in a.tracer.lifted):
        a.tracer.stop("a tensor that others may know changes its shape")
    cell = version_of(self)
    aside = type(self._payload) is not np.ndarray and (views or own is not None)
    old = wrap(self._payload, self._node)
    old._box = self._box
    if own is not None:
        old._view = own
    result = view(old)
    if aside:  # a transform's value: its views are views of the old shape, and so is the tensor itself
        self.__dict__.pop("_views", None)
        if own is not None:
            note_view(own[0], old)
        for each in views:
            made = view_of(each)
            if made is not None and made[0] is self:
                each._view = (old, *made[1:])
            note_view(old, each)
        self._view = result._view
        note_view(old, self)
    forgotten = own is not None and not aside and result.shape == old.shape and is_replayed(chain_of(old)[1])
    if own is not None and not aside and not forgotten:
        self._view = (*result._view[:3], own[3])
    recorded = is_grad_enabled() and result._node is not None
    if recorded:
        self._node = with_node_name(result, name)._node
        if forgotten:  # a write replays the view without its new order, as in PyTorch: ``check_inplace``
            hooks_of(self._node)
    _new_payload(self, result._payload, cell)
    count_write(self, self._node._seq if recorded else None)
    return self


@public("Tensor.unsqueeze_")
def unsqueeze_(self: Tensor, dim: int) -> Tensor:
    """In-place form of ``unsqueeze``."""
    return _view_in_place(lambda x: unsqueeze(x, dim), self, "UnsqueezeBackward1")


@public("Tensor.squeeze_")
def squeeze_(self: Tensor, dim: Any = None) -> Tensor:
    """In-place form of ``squeeze``."""
    number = 3 if dim is None else 5 if isinstance(dim, (tuple, list)) else 4
    return _view_in_place(lambda x: squeeze(x, dim), self, f"SqueezeBackward{number}")


@public("Tensor.transpose_ Tensor.swapdims_")
def transpose_(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """In-place form of ``transpose``."""
    return _view_in_place(lambda x: transpose(x, dim0, dim1), self, "TransposeBackward1")


@public("Tensor.swapaxes_")
def swapaxes_(self: Tensor, axis0: int, axis1: int) -> Tensor:
    """In-place form of ``swapaxes``."""
    return transpose_(self, axis0, axis1)


@public("Tensor.t_")
def t_(self: Tensor) -> Tensor:
    """In-place form of ``t``."""
    if self._payload.ndim > 2:
        raise RuntimeError(f"t_() expects a tensor with <= 2 dimensions, but self is {self._payload.ndim}D")
    return _view_in_place(matrix_t, self, "TBackward1")


@public("Tensor.as_strided_ torch.as_strided_")
def as_strided_(self: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """In-place form of ``as_strided``.

    >>> torch.as_strided_(torch.arange(4), (2, 2), (1, 2))
    tensor([[0, 2],
            [1, 3]])
    """
    return _view_in_place(lambda x: as_strided(x, size, stride, storage_offset), self, "AsStridedBackward1")


@public("Tensor.resize_ torch.resize_")
def resize_(self: Tensor, *sizes: Any, size: Any = None, memory_format: Any = None) -> Tensor:
    """Change the size in place, in row-major order; larger memory is allocated if needed.

    New elements are uninitialised. Memory cannot grow in place: tensors that shared the old memory keep it when larger
    memory is allocated.

    >>> torch.arange(6).resize_(2, 2)
    tensor([[0, 1],
            [2, 3]])
    """
    if (size is None) is not bool(sizes):
        raise given_twice("resize_", "size") if sizes else none_given("resize_", "size")
    size = ints(sizes, "resize_") if size is None else listed_ints(size, "resize_")
    if self._node is not None and not is_inference(self) and not is_inference_mode_enabled():
        raise RuntimeError("cannot resize variables that require grad")
    if memory_format is not None:
        check_arguments(".resize_", size, memory_format=memory_format)
    if memory_format is preserve_format:
        raise RuntimeError("Unsupported memory formatPreserve")
    if any(n < 0 for n in size):
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(size)}: {list(size)}")
    if inference_tensors:
        refuse_write(self)
    a = alias_payload(self)
    if isinstance(a, Meta):
        if a.shape != size:
            _new_payload(self, _without_data(a, size), version_of(self))
            count_write(self)
        return self
    if getattr(a, "is_sparse", False):
        from ..._payloads.sparse_errors import refused

        raise refused(a, "resize_")
    if getattr(a, "is_traced", False):
        a.tracer.stop("a tensor gets another size")
        a = alias_payload(self)
    if not isinstance(a, np.ndarray):
        raise RuntimeError("resize_() is not possible inside of a transform")
    if a.shape == size:
        return self
    r = _resized(a, size)
    cell = version_of(self)
    own = view_of(self)
    if own is not None and not np.may_share_memory(r, storage_of(a)):
        del self._view
    _new_payload(self, r, cell)
    count_write(self)
    return self


def _without_data(a: Meta, size: tuple[int, ...]) -> Meta:
    """The payload with another size; its storage grows if needed."""
    r = Meta(size, a.dtype, None, a.memory, a.offset)
    a.memory.nbytes = max(a.memory.nbytes, a.offset + r.nbytes)
    return r


def _resized(a: Any, size: tuple[int, ...]) -> Any:
    n = 1
    for s in size:
        n *= s
    have = bytes_around(a)[1] // a.itemsize
    strides = np.empty(size, np.bool_).strides if n else (0,) * len(size)
    if n <= have and n:
        return at_strides(a, size, strides, 0)
    r = uninitialized.empty(n, a.dtype)
    if have > 0 and n:
        r[:have] = at_strides(a, (have,), (1,), 0)
    return r.reshape(size)


@public("Tensor.resize_as_ torch.resize_as_")
def resize_as_(self: Tensor, other: Tensor, *, memory_format: Any = None) -> Tensor:
    """``self.resize_(other.shape)``; a sparse tensor without elements takes the shape of a sparse ``other``.

    >>> torch.resize_as_(torch.arange(4), torch.ones(2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    from ..names.sparse import is_sparse

    if memory_format is not None:
        check_arguments(".resize_as_", other, memory_format=memory_format)
    if is_sparse(self) and is_sparse(other) and not self._payload.values.size:
        from ..._payloads.sparse import Sparse

        like = other._payload
        values = np.empty((0, *like.values.shape[1:]), self._payload.values.dtype)
        self._payload.become(Sparse(np.empty((len(like.indices), 0), np.int64), values, like.shape, True))
        self._payload.shape = like.shape
        count_write(self)
        return self
    return resize_(self, tuple(other._payload.shape))


@public("Tensor.set_")
def set_(self: Tensor, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = None) -> Tensor:
    """Make a tensor use the memory and size of ``source``, a tensor or a storage; without one it becomes empty.

    ``size``, ``stride`` and ``storage_offset`` (from the tensor's first element) choose a part of its memory, which
    does not grow.

    Raises:
        RuntimeError: the source has another dtype.

    >>> torch.tensor([]).set_(torch.FloatStorage([1, 2, 3]), 1, (2,))
    tensor([2., 3.])
    """
    if self._node is not None and is_grad_enabled():
        check_inplace(self, True)
    if inference_tensors:
        refuse_write(self)
    if source is None:
        _lose_history(self, None)
        _new_payload(self, np.empty(0, self._payload.dtype), version_of(self))
        count_write(self)
        return self
    if is_storage(source):
        own, given = self.device.type, source.device.type
        if own != given:
            raise RuntimeError(
                f'Attempted to set the storage of a tensor on device "{own}" to a storage on different device '
                f'"{given}".  This is no longer allowed; the devices must match.'
            )
        source = tensor_of(source, self.dtype, cpp_name(self))
    expect_tensor("set_", "source", 2, source)
    if logical_dtype(source) is not logical_dtype(self):
        given, own = cpp_name(source), cpp_name(self)
        raise RuntimeError(f"Could not set tensor of type {given} to a tensor of type {own}")
    a = given_away(source)
    if size is not None:
        size = ints((size,), "set_")
        if stride is None:
            stride = row_major_strides(size)
        if len(size) != len(stride):
            raise RuntimeError(f"unequal size length ({len(size)}) and stride length ({len(stride)})")
        if storage_offset < 0:
            raise RuntimeError(f"Tensor: invalid storage offset {storage_offset}")
        a = as_strided(detach(source), size, stride, source.storage_offset() + storage_offset)._payload
    _lose_history(self, source._node)
    _new_payload(self, a, version_of(self))
    count_write(self)
    if type(self._node) is AccumulateGrad:  # as in PyTorch, the graph so far leads to another node
        grad, hooks = self._node.grad, self._node._hooks
        leaf_node(self).grad = grad
        self._node._hooks = hooks
    return self


def _lose_history(self: Tensor, given: Any) -> None:
    """``set_`` has no derivative: a backward pass that arrives at the tensor is an error."""
    if is_grad_enabled() and (self._node is not None or given is not None):
        rebase_history(self, NotImplemented_("derivative for set_ is not implemented", (self._node, given), (None,)))


@public("Tensor.resize")
def resize(self: Tensor, *sizes: Any) -> Tensor:
    """*Legacy:* ``reshape``."""
    warn("non-inplace resize is deprecated")
    size = ints(sizes, "resize")
    shape = tuple(self._payload.shape)
    n, have = math.prod(size), math.prod(shape)
    if n != have:
        raise RuntimeError(
            f"requested resize to {'x'.join(map(str, size))} ({n} elements in total), but the given tensor has a size "
            f"of {'x'.join(map(str, shape))} ({have} elements). autograd's resize can only change the shape of a given "
            "tensor, while preserving the number of elements. "
        )
    return reshape_public(self, size)


@public("Tensor.resize_as")
def resize_as(self: Tensor, tensor: Tensor) -> Tensor:
    """*Legacy:* ``self.resize(tensor.shape)``."""
    return resize(self, tuple(tensor._payload.shape))
