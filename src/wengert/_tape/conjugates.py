"""Conjugate and negative views: a second array that follows the first.

NumPy has no array that shows the conjugates of another array's elements. So such a view has an array of its own, and
every write is carried over. A write through any tensor ends with the sequence number in its version cell; the cells of
the two arrays are of classes whose ``seq`` is a property that copies the elements. Other tensors have ordinary cells,
and no operator asks whether its operand is such a view.

What writes without a count, such as ``tensor.numpy()[0] = 1``, is not carried over before the next counted write.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from .._base.modes import MODE, Marks
from .node import Box, Version, version_of, view_of
from .tensor import Tensor, alias_payload
from .unrecorded import made_unrecorded

conjugate_views = Marks()  # the living ones


class FollowedVersion(Version):
    """The cell of memory that conjugate views follow; an ordinary cell becomes one."""

    __slots__ = ()

    def _number(self, seq: int) -> None:
        Version._seq.__set__(self, seq)
        _carry_over(self)

    def written(self) -> None:
        """Its memory was written without a count."""
        _carry_over(self)

    _seq = property(Version._seq.__get__, _number)


class ConjugateVersion(Version):
    """The cell of a conjugate view: it counts in the cell of its base."""

    __slots__ = ("__weakref__", "array", "followed", "mark", "shared", "ufunc")

    def _number(self, seq: int) -> None:
        self.ufunc(self.array, out=self.followed)
        self.shared._seq = seq

    def written(self) -> None:
        """Its memory was written without a count."""
        self.ufunc(self.array, out=self.followed)
        self.shared.written()

    _seq = property(lambda self: self.shared._seq, _number)


class DataVersion(Version):
    """The cell of ``.data`` of a tensor that is or has a conjugate view: it counts by itself."""

    __slots__ = ("of",)

    def __init__(self, of: Any) -> None:
        self.of: Any = None
        super().__init__()
        self.of = of

    def _number(self, seq: int) -> None:
        Version._seq.__set__(self, seq)
        if self.of is not None:
            self.of.written()

    _seq = property(Version._seq.__get__, _number)


def data_box(tensor: Tensor, a: Any) -> Box | None:
    """The box of ``tensor.data``, on the array ``a``: ``None`` if no conjugate view is to see what is written there."""
    cell = version_of(tensor)
    if type(cell) is DataVersion:
        cell = cell.of
    elif type(cell) not in _FOLLOWED:
        return None
    box = Box()
    box.a, box.cell = a, DataVersion(cell)
    return box


def _forwarded(name: str) -> Any:
    def assign(self: Any, value: Any) -> None:
        setattr(self.shared, name, value)

    return property(lambda self: getattr(self.shared, name), assign)


for _name in ("_code", "_lasti", "rebased", "version", "writer", "writes"):
    setattr(ConjugateVersion, _name, _forwarded(_name))


def _carry_over(cell: Any) -> None:
    for reference in cell.followers:
        follower = reference()
        if follower is not None:
            follower.ufunc(follower.followed, out=follower.array)
            _carry_over(follower)


def conjugate_view(parent: Tensor, view: Tensor, info: Any, ufunc: Any) -> Tensor:
    """Make the computed conjugate (or negative) of a tensor a view of it, if both hold arrays."""
    a = parent._payload
    if type(a) is not np.ndarray:
        a = alias_payload(parent)
    r = view._payload
    if type(r) is not np.ndarray:
        r = alias_payload(view)
    if not type(a) is type(r) is np.ndarray:
        return view
    r = view._payload = r[...]  # not the array that owns its memory: ``view_of``
    cell: Any = version_of(parent)
    if type(cell) is Version:
        cell.__class__ = FollowedVersion
        cell.followers = []
    elif type(cell) not in _FOLLOWED:
        return view
    own = _make_cell(ConjugateVersion)
    own.shared, own.followed, own.array, own.ufunc, own.followers = cell, a[...], r, ufunc, []
    own.mark = conjugate_views.mark()
    followers = cell.followers
    if len(followers) & 31 == 31:
        followers[:] = [ref for ref in followers if ref() is not None]
    followers.append(weakref.ref(own))
    view._box = box = Box()
    box.a, box.cell = r, own
    state = MODE.get()
    if state is None or state.grad:
        view._view = (parent, info, (), 0)
        return view
    return made_unrecorded(view, parent, info, ())


_make_cell = object.__new__
_FOLLOWED = (FollowedVersion, ConjugateVersion)


def refuse_numpy(tensor: Tensor) -> None:
    """Raise PyTorch's error for a view of conjugates or negatives: NumPy's arrays show their memory as it is."""
    conj, neg = flags(tensor)
    if conj or neg:
        bit, resolve = ("conjugate", "conj") if conj else ("negative", "neg")
        raise RuntimeError(
            f"Can't call numpy() on Tensor that has {bit} bit set. Use tensor.resolve_{resolve}().numpy() instead."
        )


def flags(tensor: Tensor) -> tuple[bool, bool]:
    """``(is_conj, is_neg)``: whether a tensor shows the conjugates, or the negatives, of its memory."""
    steps = []
    view = view_of(tensor)
    while view is not None:
        steps.append((view[1].name, view[2]))
        tensor = view[0]
        view = view_of(tensor)
    conj = neg = False
    cell = None if tensor._box is None else tensor._box.cell  # a detached view has the cell, and no parent
    if type(cell) is DataVersion:
        cell = cell.of
    a = tensor._payload
    while type(cell) is ConjugateVersion:
        conj, neg = conj ^ (cell.array.dtype.kind == "c"), neg ^ (cell.array.dtype.kind != "c")
        if conj and a.dtype.kind != "c":  # a part of the conjugates: the imaginary one shows negatives
            conj, neg = False, neg ^ ((a.ctypes.data - cell.array.ctypes.data) % cell.array.itemsize != 0)
        cell = cell.shared
    for k in range(len(steps) - 1, -1, -1):
        name, _ = steps[k]
        if name == "conj":
            conj = not conj
        elif name == "negative_view":
            neg = not neg
        elif name == "view_as_real" and conj:  # the parts of a conjugate: the imaginary one is a negative
            conj = False
            neg ^= k > 0 and steps[k - 1][0] == "select" and steps[k - 1][1][1] == 1
    return conj, neg
