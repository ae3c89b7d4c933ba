"""Payloads that cannot be written to, such as a transform's value: a write replaces them, and those of their views."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np

from .._base.modes import in_transform
from .._base.registry import TENSORS
from .node import view_of
from .tensor import Tensor, note_view, wrap
from .view_chain import replay
from .views import ALONE, referred_owner

payload_replaced: list[Any] = []  # who wants to know of tensors whose payload was replaced: fn(tensor)


def replace_payload(self: Tensor, a: Any, held: int = 0) -> None:
    """A payload that cannot be written to (a transform's value, another library's array) is replaced.

    ``held``: how many of the callers' variables, or tensors in them, hold the tensor's array.
    """
    if getattr(self._payload, "is_sparse", False) and getattr(a, "is_sparse", False):
        self._payload.become(a)
        return
    if getattr(self._payload, "is_meta", False):  # there is nothing to be written
        return
    if type(self._payload) is np.ndarray:
        _note_views(self, held)
    if view_of(self) is not None:
        _replace_base(self, a, held)
    inside = in_transform()
    if inside is not None and getattr(self._payload, "tag", None) != getattr(a, "tag", None):
        inside.rebound.append((weakref.ref(self), self._payload, self._node))
    self._payload = a
    if self._box is not None:
        self._box = None  # what was saved keeps the old payload
    for fn in payload_replaced:
        fn(self)
    if "_views" in self.__dict__:
        _replace_views(self)


def _note_views(self: Tensor, held: int) -> None:
    """An array becomes a transform's value: its views, which shared memory with it until now, are noted as its views.

    NOTE [ Views are found by the garbage collector ]
        Nobody keeps a list of an array's views, so that making one costs nothing more. Here alone all of them are
        needed, and the collector knows who refers to the tensor; but it looks at every object of the program, which
        takes milliseconds. So it is asked only if more references to the memory are there than ``held`` accounts for,
        and functions on the way here let go of the array (``del a``). What not to do: pass a ``held`` that is too
        large; a view would keep the old values.
    """
    owner, references = referred_owner(self._payload)
    box = self._box
    unknown = references - ALONE - held - (box is not None and box.a is owner)
    del owner
    view = view_of(self)
    while view is not None:
        unknown -= type(view[0]._payload) is np.ndarray
        view = view_of(view[0])
    if unknown > 0:
        _find_views(self)


def _find_views(self: Tensor) -> None:
    """Note a tensor's views, and the views of these."""
    for entry in gc.get_referrers(self):
        if type(entry) is tuple and len(entry) == 4 and entry[0] is self:
            for view in gc.get_referrers(entry):
                if isinstance(view, Tensor) and view_of(view) is entry:
                    note_view(self, view)
                    _find_views(view)


def _replace_views(self: Tensor) -> None:
    """Views of a payload that was replaced are made again from the new one, with the views of these."""
    for ref in self.__dict__["_views"]:
        view = ref()
        if view is None:
            continue
        made = view_of(view)
        if made is not None and made[0] is self:
            view._payload = replay(self._payload, ((made[1].name, made[2]),))
        elif "_detached" in view.__dict__:
            view._payload = self.detach()._payload  # type: ignore[attr-defined]
        else:
            continue
        view._box = None
        for fn in payload_replaced:
            fn(view)
        if "_views" in view.__dict__:
            _replace_views(view)


def _replace_base(self: Tensor, a: Any, held: int) -> None:
    parent, info, p, _ = view_of(self)  # type: ignore[misc]
    new = TENSORS.view_scatter(wrap(parent._payload), wrap(a), ((info.name, p),))
    replace_payload(parent, new._payload, held + (type(self._payload) is np.ndarray and self._payload.base is not None))
    if not any(ref() is self for ref in parent.__dict__.get("_views", ())):  # it was made while both were arrays
        note_view(parent, self)
