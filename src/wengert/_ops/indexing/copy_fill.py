"""Writing whole tensors: ``copy_``, ``fill_``, ``masked_fill``."""

from __future__ import annotations

from sys import _getframe as getframe
from typing import Any

import numpy as np

from ..._arrays.fused import MANY
from ..._arrays.index_shapes import fits_into
from ..._arrays.large import chosen, where
from ..._arrays.layouts import rows
from ..._arrays.library import cast
from ..._arrays.overlap import meets, met
from ..._base.constants import sparse_coo
from ..._base.dtypes import INTEGRAL
from ..._base.errors import warn, warn_once
from ..._base.modes import is_grad_enabled, slow_if_recording
from ..._base.registry import REGISTRY, TENSORS, public
from ..._kinds.dims import not_a_bool
from ..._kinds.general import general
from ..._kinds.slow_path import misfit
from ..._payloads.meta import Meta, no_data
from ..._payloads.transforms import dtype_of, plain_dtype
from ..._tape.error_text import common_shape, cpp_name, not_a_tensor
from ..._tape.fast_results import result_of
from ..._tape.inplace import apply_inplace, inplace_one_by_one, is_expanded, write_expanded
from ..._tape.node import box_of, view_of
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import META, Tensor, alias_payload, device_of, stale_views, wrap
from ..._tape.view_chain import memory_of, with_node_name
from ..._tape.views import (
    check_inplace,
    count_write,
    count_write_at,
    refresh,
    refresh_for_write,
    unrecorded,
    writable,
    write_recorded,
)
from ..create.convert import clone
from ..create.filled import element, number
from ..shape.views_primitive import payload
from .index_primitive import write_at


# ---- primitives
def back_to(xp: Any, g: Any, src_shape: tuple[int, ...], src_dtype: Any) -> Any:
    """The cotangent of ``src`` from the cotangent of its broadcast copy in another dtype."""
    if g.shape != src_shape:
        g = xp.sum_to(g, src_shape)
    dtype = plain_dtype(src_dtype)
    return g if dtype_of(g) is dtype else xp._to_copy(g, dtype)


def _batch_copy(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    from ..._payloads.batching import batch_size

    size = batch_size(inner, mine)
    x, src = inner
    if not mine[0]:
        x = U.expand(x, (size, *x.shape))
    if mine[1]:
        src = U.reshape(src, (size,) + (1,) * (x.ndim - src.ndim) + tuple(src.shape[1:]))
    return U.copy(x, src, False)


@general(
    tensors=2,
    grad={"self": lambda xp, g: xp.zeros_like(g), "src": back_to},
    jvp=lambda xp, tangents, result, self, src, into: (
        None if tangents[1] is None else xp.copy(xp.zeros_like(result), tangents[1], False)
    ),
    holomorphic=False,
    node="CopyBackwards",
    batch=_batch_copy,
    dtypes="fcib",
    samples=[((2, 3), (3,), (False,)), ((2, 3), (), (False,))],
)
def copy(lib, self, src, into):
    """``src`` in the shape and dtype of ``self``; ``into`` writes it into the memory of ``self``."""
    r = self if into else lib.empty(self.shape, self.dtype)
    other = src.dtype.kind == "c" or self.dtype.char == "e"
    lib.copyto(r, lib.cast(src, self.dtype) if other else src, casting="unsafe")
    return r


COPY = REGISTRY["copy"]


def _copy_name(node: Any) -> str:
    """PyTorch's name of this node has a namespace; ``fill_`` gives the node another name."""
    name = type(node).__name__
    return "torch::autograd::CopyBackwards" if name == "CopyBackwards" else name


COPY.node.name = _copy_name


@general(
    grad=lambda xp, g: xp.zeros_like(g),
    jvp=lambda xp, tangents, result, self, value: None,
    node="FillBackward0",
    batch="shape",
    dtypes="fcib",
    samples=[((2, 3), (1.5,))],
)
def fill_number(lib, self, value):
    """A tensor with the shape and dtype of ``self`` and one value everywhere."""
    return lib.full(self.shape, value, self.dtype)


@general(
    layout=rows,
    tensors=3,
    grad={
        "self": lambda xp, g, mask: xp.masked_fill(g, mask, 0),
        "value": lambda xp, g, mask, value_shape, value_dtype: back_to(
            xp, xp.masked_fill(g, ~mask, 0), value_shape, value_dtype
        ),
    },
    holomorphic=False,
    batch="elementwise",
    dtypes="fcib",
    samples=lambda rng: [
        ((rng.standard_normal((2, 3)), np.array([True, False, True]), 0.5), ()),
        ((rng.standard_normal((2, 3)), rng.standard_normal((2, 3)) > 0, rng.standard_normal(())), ()),
        ((rng.standard_normal(3), np.array([[True], [False]]), 1.0), ()),
    ],
)
def masked_fill(lib, self, mask, value):
    """``self`` with ``value`` where ``mask`` is true."""
    if isinstance(value, (np.ndarray, np.generic)):
        return lib.where(mask, lib.cast(value, self.dtype), self)
    return lib.where(mask, lib.asarray(value, self.dtype), self)


def _fill_edges(n: Any) -> tuple[Any, ...]:
    """The edges without the mask, and without a number, for which PyTorch has another operator."""
    return n.fx[:1] if n.name() == "MaskedFillBackward0" else n.fx[::2]


MASKED_FILL = REGISTRY["masked_fill"]
MASKED_FILL.node._edges = _fill_edges


# ---- writing into self
def copy_into(self: Tensor, src: Tensor) -> Tensor:
    """``self.copy_(src)`` with the error of ``expand`` for a shape that does not fit, as in ``x[...] = v``."""
    if not src._payload.ndim and self._payload.ndim:
        return fill_(self, src)
    if self._payload.shape != src._payload.shape:
        from ..shape.broadcasting import expand_size

        expand_size(tuple(self._payload.shape), src._payload)
    return copy_(self, src)


@public("Tensor.copy_")
def copy_(self: Tensor, other: Any, non_blocking: bool = False) -> Tensor:
    """Write the values of ``other`` into this tensor, broadcast and converted to its dtype.

    >>> torch.zeros(2, 2).copy_(torch.tensor([1, 2]))
    tensor([[1., 2.],
            [1., 2.]])
    """
    if type(other) is Tensor:
        a, s = self._payload, other._payload
        if type(a) is type(s) is np.ndarray and a.dtype is s.dtype and a.ndim >= s.ndim and a.flags.writeable:
            apart = (s.base is None and a.base is None) or not meets(a, s)
            if apart and unrecorded(self, other._node):
                try:
                    a[...] = s
                except ValueError:  # the checks below raise the error
                    pass
                else:
                    count_write_at(self, getframe(1))
                    return self
    elif not isinstance(other, Tensor):
        if not isinstance(other, (bool, int, float, complex)):
            raise not_a_tensor("copy_", "other", 1, other)
        other = wrap(number(other, logical_dtype(self)))
    if type(non_blocking) is not bool:
        raise not_a_bool("copy_", "non_blocking", non_blocking)
    if type(other._payload) is Meta and type(self._payload) is not Meta:
        raise no_data()
    if type(other._payload) is not type(self._payload):
        here, there = device_of(self._payload), device_of(other._payload)
        if here is not there and META not in (here, there):
            other = other.to(here)
    if self is other and self._node is None and type(self._payload) is np.ndarray:
        count_write(self)
        return self
    overlap = _overlap(self, other)
    if overlap or self._payload.shape != other._payload.shape:
        if self._node is not None or other._node is not None:
            check_inplace(self, True)
        if overlap:
            raise met()
        _check_broadcast(self, other)
    return _written_over(self, other, "CopyBackwards")


def _overlap(self: Tensor, src: Tensor) -> bool:
    """Whether a tensor is written with a part of its own memory."""
    a, s = memory_of(self), memory_of(src)
    return type(a) is type(s) is np.ndarray and meets(a, s)


def _written_over(self: Tensor, src: Tensor, node: str) -> Tensor:
    """Overwrite ``self`` with ``src``, which broadcasts to it."""
    a, s = self._payload, src._payload
    if type(a) is not np.ndarray:
        a = alias_payload(self)
    if not isinstance(s, (np.ndarray, np.generic)) or not isinstance(a, np.ndarray):
        if a.dtype in INTEGRAL:  # it gets no history
            src = wrap(s)
        del a  # references are counted: NOTE [ Views and writes in place ]
        return apply_inplace(lambda x, v: with_node_name(copy(x, v, False), node), self, (src,))
    if s.dtype.kind == "c" != a.dtype.kind:
        warn_once("Casting complex values to real discards the imaginary part")
        s = s.real
    if a.dtype.char == "e" and s.dtype.char == "d":
        s = cast(s, a.dtype)
    fy = None if a.dtype in INTEGRAL else src._node
    if unrecorded(self, fy):
        np.copyto(writable(self), s, casting="unsafe")
        count_write_at(self, getframe(2))
        return self
    if stale_views and is_grad_enabled():
        refresh_for_write(self)
        refresh(src)
    tracked = self._node is not None or fy is not None
    if tracked:
        check_inplace(self, True)
    a = writable(self)
    if not tracked or not is_grad_enabled():
        np.copyto(a, s, casting="unsafe")
        count_write(self)
        return self
    if np.may_share_memory(a, src._payload):
        src = clone(src, "keep")
    # the write is recorded on a view's base, which loses the old values: they need no zero cotangent
    old = wrap(a, None if view_of(self) is not None else self._node)
    made = copy(old, src, True)
    saved = old._box
    del a, old  # references are counted: NOTE [ Views and writes in place ]
    write_recorded(self, saved, made if node == "CopyBackwards" else with_node_name(made, node))
    return self


def _check_broadcast(self: Tensor, src: Tensor) -> None:
    have, both = tuple(self._payload.shape), common_shape(self, src)
    if both != have:
        raise RuntimeError(f"output with shape {list(have)} doesn't match the broadcast shape {list(both)}")


def _fill(self: Tensor, value: Any, node: str) -> Tensor:
    """Fill a tensor with a number."""
    a = self._payload
    if (
        type(a) is np.ndarray
        and (type(value) is float or not value)
        and a.dtype.kind in "fc"
        and unrecorded(self, None)
    ):
        try:
            a.fill(value)
        except ValueError:  # read-only memory: the code below raises the error
            pass
        else:
            count_write_at(self, getframe(2))
            return self
    value = element(value, logical_dtype(self))

    def filled(x: Tensor) -> Tensor:
        return with_node_name(fill_number(x, value), node)

    if is_expanded(self):
        return write_expanded(self, None, filled, (), {}, lambda into, r: into.fill(value))
    if isinstance(a, (np.ndarray, np.generic)) and (unrecorded(self, None) or not is_grad_enabled()):
        writable(self).fill(value)
        count_write(self)
        return self
    return apply_inplace(filled, self, ())


@public("Tensor.fill_ torch.fill_")
def fill_(self: Tensor, value: Any) -> Tensor:
    """Fill this tensor with a number or a 0-dimensional tensor.

    >>> torch.fill_(torch.zeros(2), 7)
    tensor([7., 7.])
    """
    if isinstance(value, Tensor):
        _one_value(value, "fill_ only supports 0-dimension value tensor but got tensor with {} dimensions.")
        return _written_over(self, value, "FillBackward3")
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, (bool, int, float, complex)):
        raise misfit(".fill_", value)
    return _fill(self, value, "FillBackward2")


@public("Tensor.zero_ torch.zero_")
def zero_(self: Tensor) -> Tensor:
    """Fill this tensor with zeros.

    >>> torch.zero_(torch.ones(2))
    tensor([0., 0.])
    """
    a = getattr(self, "_payload", None)
    if type(a) is np.ndarray and a.flags.writeable and unrecorded(self, None):
        a.fill(0)
        count_write_at(self, getframe(1))
        return self
    if getattr(a, "layout", sparse_coo) is not sparse_coo:  # a compressed layout keeps no element
        from ..create.like import zeros_like
        from ..names.sparse import recorded_by

        return apply_inplace(lambda x: recorded_by("ZeroBackward0", zeros_like(x)._payload, (x,), zeros_like), self, ())
    return _fill(self, 0, "ZeroBackward0")


def _one_value(value: Tensor, text: str) -> None:
    if value._payload.ndim:
        raise RuntimeError(text.format(value._payload.ndim))


@public("torch.fill")
def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor like ``input`` with one value everywhere.

    >>> torch.fill(torch.zeros(2), 7)
    tensor([7., 7.])
    """
    payload(input, "fill")
    if isinstance(value, Tensor):
        _one_value(value, "fill only supports 0-dimension value tensor but got tensor with {} dimensions.")
        return with_node_name(copy(input, value, False), "FillBackward1")
    return fill_number(input, element(value, logical_dtype(input)))


# ---- masked_fill
def bool_mask(mask: Tensor, name: str, otherwise: str) -> Tensor:
    """A mask as bools: one of uint8, as PyTorch 0.4's are, with the warning of PyTorch 1.2 to 2.0."""
    dtype = logical_dtype(mask)
    if dtype.kind == "b":
        return mask
    if dtype.kind != "u" or dtype.itemsize > 1:
        raise RuntimeError(otherwise)
    warn(
        f"{name} received a mask with dtype torch.uint8, this behavior is now deprecated, please use a mask with dtype "
        "torch.bool instead."
    )
    return TENSORS.ne(mask, 0)


@public("torch.masked_fill Tensor.masked_fill")
def masked_fill_public(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """The tensor with ``value`` (a number or a 0-dimensional tensor) where the bool tensor ``mask`` is true.

    >>> torch.ones(3).masked_fill(torch.tensor([True, False, True]), 0.)
    tensor([0., 1., 0.])
    """
    a = payload(input, "masked_fill")
    if type(value) is float and type(a) is np.ndarray and type(mask) is Tensor and not slow_if_recording:
        m = mask._payload
        if type(m) is np.ndarray and m.dtype.kind == "b" and a.dtype.kind in "fc" and fits_into(m.shape, a.shape):
            few = a.size < MANY and m.shape == a.shape
            r = (chosen if few else where)(m, np.asarray(value, a.dtype), a.copy() if few else a)
            if not r.flags.c_contiguous:
                r = r.copy()
            if input._node is None:
                return wrap(r)
            t = result_of(MASKED_FILL, (input._node, None, None), [box_of(mask), (), None], r)
            t._node.shapes = [a.shape, m.shape, ()]
            return t
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(mask, Tensor) or not isinstance(value, (Tensor, bool, int, float, complex)):
        raise misfit("masked_fill", input, mask, value)
    wrong = f"masked_fill_ only supports boolean masks, but got mask with dtype {cpp_name(mask)}"
    mask = bool_mask(mask, "masked_fill_", wrong)
    common_shape(mask, input)
    if isinstance(value, Tensor):
        _one_value(
            value, "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {} dimension(s)."
        )
        if logical_dtype(input).kind in "iu" and isinstance(value._payload, (np.ndarray, np.generic)):
            element(value._payload.item(), logical_dtype(input))
        return with_node_name(masked_fill(input, mask, value), "MaskedFillBackward1")
    return masked_fill(input, mask, element(value, logical_dtype(input)))


assert MASKED_FILL.saves.uses == ("mask", "value_shape", "value_dtype")
_masked_fill_in_place = inplace_one_by_one(masked_fill_public, "masked_fill_", warns=True)


@public("Tensor.masked_fill_")
def masked_fill_(self: Tensor, mask: Tensor, value: Any) -> Tensor:
    """In-place form of ``masked_fill``."""
    a, m = self._payload, getattr(mask, "_payload", None)
    if type(value) is float and type(a) is type(m) is np.ndarray and a.shape == m.shape and m.dtype.kind == "b":
        if a.dtype.char in "fd" and -3e38 < value < 3e38 and a.flags.writeable and unrecorded(self, None):
            if m.size < 4096:
                a[m] = value
            else:
                write_at(a, (0,), (m,), value)
            count_write_at(self, getframe(1))
            return self
    return _masked_fill_in_place(self, mask, value)
