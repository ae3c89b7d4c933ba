"""Writes to payloads that cannot be changed, such as a transform's value: the payload and its views are replaced."""

from __future__ import annotations

import gc
import weakref
from sys import getrefcount
from typing import Any

import numpy as np

from .._arrays.memory import owner_of, repeats
from .._base.modes import in_transform
from .._base.registry import TENSORS
from .node import Box, view_of
from .tensor import Tensor, in_memory, note_view, wrap
from .view_chain import REPEATING, replay, sharing
from .views import ALONE, count_write, writable

payload_replaced: list[Any] = []  # called for each payload that is replaced: fn(tensor, old payload, counted)


def replace_payload(self: Tensor, a: Any, held: int = 0, counted: bool = True) -> None:
    """Replace a payload that cannot be written to (a transform's value, another library's array).

    ``held``: the number of the callers' variables, or tensors in them, that hold the tensor's array. ``counted``:
    whether it is a write that saved values know of; one through ``.data`` is not.
    """
    if getattr(self._payload, "is_sparse", False):
        self._payload.become(a)
        return
    if getattr(a, "is_sparse", False):
        a.written_into(self._payload)
        return
    if getattr(self._payload, "is_foreign", False) and getattr(a, "is_foreign", False):
        self._payload.write(a)
        return
    if getattr(self._payload, "is_meta", False):  # it has no elements to write
        return
    if getattr(a, "is_traced", False):
        whole = [in_memory(x._payload) for x in sharing(self)]
        if any(repeats(m.shape, m.strides) for m in whole):  # a write to a part of it is one to other parts
            a.tracer.stop("a tensor whose elements lie in one place is written")
            np.copyto(writable(self), a.array, casting="unsafe")
            return
        if counted:  # a recorded call refuses what eager refuses
            count_write(self)
    _replace(self, a, held, counted)


def _replace(self: Tensor, a: Any, held: int, counted: bool) -> None:
    if type(self._payload) is np.ndarray:
        _note_views(self, held)
    if view_of(self) is not None:
        a = _replace_base(self, a, held, counted)
    inside = in_transform()
    if inside is not None and getattr(self._payload, "tag", None) != getattr(a, "tag", None):
        inside.rebound.append((weakref.ref(self), self._payload, self._node))
    old, self._payload = self._payload, a
    if self._box is not None:
        if counted:
            _new_box(self)
        else:
            self._box.a = a
    for fn in payload_replaced:
        fn(self, old, counted)
    if "_alias_of" in self.__dict__:
        other, together = self.__dict__["_alias_of"]
        if other._payload is old:
            _replace(other, a, 0, counted and together)
    if "_views" in self.__dict__:
        _replace_views(self)


def _new_box(self: Tensor) -> None:
    """Give a tensor another box, if any: saved values keep the old payload."""
    cell = None if self._box is None else self._box.cell
    self._box = None
    a = in_memory(self._payload)
    if cell is not None and isinstance(a, np.ndarray):  # the memory, and its versions, are what they were
        self._box = box = Box()
        box.a, box.cell = self._payload, cell


def _note_views(self: Tensor, held: int) -> None:
    """Note the views of an array that becomes a transform's value, because they no longer share its memory.

    NOTE [ Views are found by the garbage collector ]
        An array has no list of its views, so making a view costs nothing extra. Only this function needs all views,
        and the garbage collector can list the objects that refer to the tensor; but it visits every object of the
        program, which takes milliseconds. So it runs only if the memory has more references than ``held`` accounts
        for, and the functions that call this one drop the array first (``del a``). Do not pass a ``held`` that is too
        large: a view would keep the old values.
    """
    owner = owner_of(self._payload)
    references = getrefcount(owner)
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
    """Note a tensor's views, and their views in turn."""
    for entry in gc.get_referrers(self):
        if type(entry) is tuple and len(entry) == 4 and entry[0] is self:
            for view in gc.get_referrers(entry):
                if isinstance(view, Tensor) and view_of(view) is entry:
                    note_view(self, view)
                    _find_views(view)


def _replace_views(self: Tensor) -> None:
    """Recompute the views of a replaced payload from the new payload, and their views in turn."""
    for ref in self.__dict__["_views"]:
        view = ref()
        if view is None:
            continue
        made = view_of(view)
        old = view._payload
        if made is not None and made[0] is self:
            view._payload = replay(self._payload, ((made[1].name, made[2]),))
        elif "_alias_of" in view.__dict__:
            if old is self._payload:
                continue
            view._payload = self._payload
        elif "_detached" in view.__dict__:
            view._payload = self.detach()._payload
        else:
            continue
        _new_box(view)
        for fn in payload_replaced:
            fn(view, old, True)
        if "_views" in view.__dict__:
            _replace_views(view)


def _replace_base(self: Tensor, a: Any, held: int, counted: bool) -> Any:
    """Write to the tensor that a view shows; return the view's payload.

    Of a view of one in which elements repeat, that one is written of which they are elements: all places show them.
    """
    parent, info, p, _ = view_of(self)
    chain: tuple[Any, ...] = ((info.name, p),)
    above, steps, written = parent, chain, parent
    links = [(parent, self)]
    while (made := view_of(above)) is not None:
        links.append((made[0], above))
        above, steps = made[0], ((made[1].name, made[2]), *steps)
        if made[1].name in REPEATING:
            written, chain = above, steps
    held += type(self._payload) is np.ndarray and self._payload.base is not None
    new = TENSORS.view_scatter(wrap(written._payload), wrap(a), chain)
    if written is parent:
        _replace(parent, new._payload, held, counted)
        _note(parent, self)  # the view was made while both were arrays
        return a[...] if type(a) is np.ndarray else a
    for link in links:
        _note(*link)
    _replace(written, new._payload, held, counted)
    return replay(written._payload, chain)


def _note(parent: Tensor, view: Tensor) -> None:
    if not any(ref() is view for ref in parent.__dict__.get("_views", ())):
        note_view(parent, view)
