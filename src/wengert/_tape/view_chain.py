"""Chains of views, which ``CopySlices`` replays, and the node of a view after its base's history was rewritten.

A chain is a tuple of (view operator's name, parameters); a multi-output view's parameters end with the output's number.
The operators on chains, ``view_gather``, ``view_scatter`` and ``view_scatter_zeros``, are in ``_ops.shape.view_chain``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._arrays.memory import address_of
from .._arrays.overlap import refuse_repeated
from .._base.errors import here
from .._base.registry import REGISTRY, XP
from .node import FREED, LEAVES, Box, Node, by_edge, named, tick, version_of, view_of
from .saved import payload_dtype, stale
from .tensor import Tensor, in_memory, wrap

CONJUGATES = frozenset(("conj", "negative_view"))  # the view operators whose results have arrays of their own
REPEATING = frozenset(("expand", "unfold_view", "as_strided_view"))  # those that may show an element several times
_REPLAYED = CONJUGATES | {"view_as_complex", "view_as_real"}  # those that as_strided cannot stand for
named_by_operator: list[bool] = []  # not empty: the node of a view that was written bears its operator's name
reshaped_in_place: list[str] = []  # not empty: a tensor's array was replaced in this process, last by this


def replay(x: Any, chain: Any) -> Any:
    """Apply a chain of views to an array; the result is a copy if strides allow no view."""
    xp = XP[type(x)]
    for name, p in chain:
        fn = getattr(xp, name)
        x = fn(x, *p) if REGISTRY[name].outputs == 1 else fn(x, *p[:-1])[p[-1]]
    return x


def is_replayed(chain: Any) -> bool:
    """Whether a chain has an operator that ``as_strided`` cannot stand for."""
    return not _REPLAYED.isdisjoint(name for name, _ in chain)


def sharing(t: Tensor) -> Iterator[Tensor]:
    """A tensor and those whose writes are writes to it: of what it is a view, or was detached from in a recording."""
    while True:
        yield t
        view = view_of(t)
        if view is None and "_alias_of" not in t.__dict__:
            return
        t = t.__dict__["_alias_of"][0] if view is None else view[0]


def base_of(tensor: Tensor) -> Tensor | None:
    """The tensor at the root of a view's chain; ``None`` for a tensor that is not a view."""
    base = root_of(tensor)
    return None if base is tensor else base


def memory_of(t: Tensor) -> Any:
    """The payload in whose memory a tensor lies: that of before the call for what shows an input of one recorded."""
    a = t._payload
    if type(a) is np.ndarray or not getattr(a, "is_traced", False):
        return a
    chain: list[Any] = []
    for x in sharing(t):
        lifted = t._payload.tracer.lifted.get(id(x))
        a = in_memory(x._payload) if lifted is None else lifted.array
        if lifted is not None:
            break
        if (view := view_of(x)) is not None:
            chain.append((view[1].name, view[2]))
    return replay(a, chain[::-1])


def root_of(tensor: Tensor) -> Tensor:
    """The tensor of which a view shows elements, at the end of its chain; the tensor itself if it is no view."""
    while (view := view_of(tensor)) is not None:
        tensor = view[0]
    return tensor


def chain_of(tensor: Tensor) -> tuple[Tensor, tuple[Any, ...]]:
    """A view's base, and the chain that makes the view from it.

    If the base, or a view between, was reshaped in place later (``t_``, ``squeeze_``, ...), the operators no longer
    lead to the view; then the chain is one ``as_strided`` with the view's sizes and strides, which is always right.
    As in PyTorch, operators that ``as_strided`` cannot stand for are replayed if they lead to the view's sizes.
    """
    base = tensor
    view = view_of(tensor)
    steps = []
    while view is not None:
        base, info, p, _ = view
        steps.append((info.name, p))
        view = getattr(base, "_view", None)
    steps.reverse()
    chain = tuple(steps)
    if not reshaped_in_place or not CONJUGATES.isdisjoint(name for name, _ in chain):
        return base, chain
    a, b = tensor._payload, base._payload
    if type(a) is not np.ndarray or type(b) is not np.ndarray:
        return base, chain
    try:
        r = replay(b, chain)
    except (ValueError, IndexError):
        r = b
    address = address_of(a)
    if r.shape != a.shape or r.strides != a.strides or address_of(r) != address:
        if r.shape != a.shape or not is_replayed(chain):
            chain = _as_strided(a, b, address - address_of(b))
    return base, chain


def _as_strided(a: Any, b: Any, offset: int) -> tuple[Any, ...]:
    """The chain from ``b`` to ``a``, which begins ``offset`` bytes behind it and may show its numbers as pairs."""
    before: tuple[Any, ...] = ()
    after: tuple[Any, ...] = ()
    if b.dtype.kind == "c" != a.dtype.kind:
        before = (("view_as_real", ()),)
        b = b[..., None].view(b.real.dtype)
    elif a.dtype.kind == "c" != b.dtype.kind:
        after = (("view_as_complex", ()),)
        a = a[..., None].view(a.real.dtype)
    step = a.itemsize
    own = tuple(s // step for s in b.strides)
    stride = tuple(s // step for s in a.strides)
    return (*before, ("as_strided_view", (a.shape, stride, offset // step, own)), *after)


class AsStridedBackward0(Node):
    """The node of a view whose base's history was rewritten: one node for the whole chain, as in PyTorch."""

    __slots__ = ("chain", "fx", "shape")
    __module__ = "builtins"  # as PyTorch prints it

    def __init__(self, base: Tensor, chain: tuple[Any, ...], code: Any, lasti: int) -> None:
        self.fx = base._node
        self.chain = chain
        self.shape = base._payload.shape
        self._seq = tick()
        self._hooks = None
        self._code = code
        self._lasti = lasti
        if named_by_operator or chain[-1][0] in _REPLAYED:  # as in PyTorch
            named(self, REGISTRY[chain[-1][0]].node.__name__)

    def _edges(self) -> tuple[Node | None, ...]:
        return (self.fx,)

    def backward(self, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        return (self.fx, xp.view_scatter_zeros(g, self.shape, self.chain))


class CopySlices(Node):
    """The node of a tensor that was written through a view: it runs the step of what was written on the view's part.

    As in PyTorch, no cotangent goes back through the view's old node, ``old``. What the step gives for the view's old
    value takes the place of the part in the cotangent of the base's old value.
    """

    __slots__ = ("chain", "fx", "old", "others", "place", "shape", "written")
    __module__ = "builtins"
    place: int | None  # of the view's old value among the edges of what was written
    others: tuple[Node | None, ...] | None  # the edges of the other operands

    def __init__(self, base: Tensor, chain: tuple[Any, ...], written: Any, old: Node | None) -> None:
        self.fx = base._node
        self.written = written
        self.old = old
        self.others = None
        self.chain = chain
        self.shape = base._payload.shape
        self._seq = tick()
        self._hooks = None
        if written is None:
            self._code, self._lasti = here()
        else:
            self._code = written._code
            self._lasti = written._lasti

    by_user = property(lambda self: getattr(self.written, "by_user", False))  # type: ignore[assignment]

    def _edges(self) -> tuple[Node | None, ...]:
        if self.others is None:
            edges = () if self.written is None else self.written._edges()
            if self.old is not None and self.old in edges:
                self.place = edges.index(self.old)
            else:
                self.place = 0 if edges and edges[0] is None else None  # it needs no gradient, or is two nodes further
            self.others = edges if self.place is None else edges[: self.place] + edges[self.place + 1 :]
            self.old = None
        return (self.fx, *self.others)

    def name(self) -> str:
        return "torch::autograd::CopySlices"

    def backward(self, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        if self.written is FREED:
            stale(self, FREED)
        edges = self._edges()
        part, value, given = xp.view_gather(g, self.chain), None, []
        if self.written is not None:  # which keeps what it saved: a second derivative may lead to it, too
            given = by_edge(self.written, self.written.backward(xp, part, True))
            if self.place is not None:
                value = given.pop(self.place)
        if self.fx is None:
            base = None
        else:
            if not REPEATING.isdisjoint(name for name, _ in self.chain):  # PyTorch copies into the part
                refuse_repeated(replay(np.empty(self.shape, payload_dtype(g)), self.chain))
            base = xp.view_scatter(g, xp.zeros_like(part) if value is None else value, self.chain)
        if not keep:
            self._release()
        pairs = zip(edges, (base, *given), strict=True)
        return tuple(x for edge, cotangent in pairs if edge is not None for x in (edge, cotangent))

    def _release(self) -> None:
        self.written = FREED


def with_node_name(t: Tensor, name: str) -> Tensor:
    """The tensor with its node renamed, for operators that are implemented as another one."""
    if type(t._node) not in LEAVES:
        named(t._node, name)
    return t


def without_view(t: Tensor, node: str | None = None) -> Tensor:
    """The result of a view operator as a plain tensor: it keeps its history, but is no longer a view of the input."""
    if type(t) is not Tensor:  # a dual tensor, which its level has been told of
        if hasattr(t, "_view"):
            del t._view
        return t if node is None else with_node_name(t, node)
    r = wrap(t._payload, t._node)
    if root_of(t)._box is not None:  # a node may have saved the memory: it knows of writes to the result
        r._box = box = Box()
        box.a, box.cell = r._payload, version_of(t)
    return r if node is None else with_node_name(r, node)
