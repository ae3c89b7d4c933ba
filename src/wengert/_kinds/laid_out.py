"""The layout of results of functions that put operators together (``_arrays.layouts`` has the rules of operators)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .._arrays.layouts import as_iterated, in_channels_last, is_channels_last
from .._arrays.memory import memory_order
from .._base.registry import TENSORS
from .._tape.node import view_of
from .._tape.tensor import Tensor


def laid_out(place: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Decorator of a function whose new results lie as ``place(array)`` does: ``in_rows``, ``in_columns``."""

    def decorate(fn: Any) -> Any:
        @functools.wraps(fn)
        def run(*args: Any, **kwargs: Any) -> Any:
            r = fn(*args, **kwargs)
            for t in r if isinstance(r, (tuple, list)) else (r,):
                if isinstance(t, Tensor) and id(t) not in map(id, args):
                    lay(t, place)
            return r

        return run

    return decorate


def lay(t: Tensor, place: Callable[[Any], Any]) -> Tensor:
    """Lay out the memory of a tensor that was just made, before it is shown to anyone; a view stays as it is."""
    a = t._payload
    plain = type(a) is np.ndarray
    if (plain or getattr(a, "is_traced", False)) and view_of(t) is None:
        t._payload = r = place(a) if plain else a.laid_out(place)
        if t._box is not None:
            t._box.a = r
    return t


def receives(t: Tensor, order: tuple[int, ...] | None = None) -> Tensor:
    """An operand whose cotangent lies in this order of its dims, outermost first, or as the operand itself.

    For a function that puts operators together: several of them add to the cotangent, which in PyTorch one computes.
    """
    a = t._payload
    if t._node is None or type(a) is not np.ndarray or a.ndim < 2:
        return t
    return TENSORS.received(t, tuple(memory_order(a)) if order is None else order)


def ordered(t: Tensor, *operands: Tensor) -> Tensor:
    """An elementwise result that was just made, in TensorIterator's order: arithmetic itself does not look at it."""
    arrays = [x._payload for x in operands]
    if type(arrays[0]) is np.ndarray and arrays[0].flags.c_contiguous:  # the usual case
        return t
    if type(t._payload) is not np.ndarray or any(type(a) is not np.ndarray for a in arrays):
        return t
    return lay(t, lambda r: as_iterated(r, arrays))


def with_channels_of(input: Tensor, t: Tensor) -> Tensor:
    """A tensor that was just made, channels-last if ``input`` is."""
    a = input._payload
    if type(a) is np.ndarray and a.flags.c_contiguous and 1 not in a.shape:  # the usual case
        return t
    return lay(t, in_channels_last) if is_channels_last(a) else t
