"""The backward pass: youngest node first, each node once, nothing recursive.

A heap by sequence number gives a topological order with no discovery pass (``_node``, NOTE [ Sequence numbers ]).
A chain never touches the heap: while a node has one input and nothing else waits, the pass simply walks on.

Cotangents are plain payloads, or Tensors under ``create_graph``. A first contribution is borrowed, a sum is owned and
added to in place. A leaf's ``.grad`` never shares memory with another gradient, a saved value or the user's argument:
an array that only the pass itself refers to is given away, anything else is copied.
"""

from __future__ import annotations

from heapq import heappop, heappush
from sys import getrefcount
from typing import Any

import numpy as np

from ._backends.numpy import BY_DTYPE
from ._errors import noted, where
from ._node import AccumulateGrad, Node, Parts, Port
from ._registry import XP, T
from ._tensor import Tensor, wrap

BY_DTYPE[None] = None  # the cotangent of a node with several outputs: the node looks at its parts
foreign: list[Any] = []  # array libraries besides NumPy, whose arrays share NumPy's dtypes


def xp_of(value: Any) -> Any:
    """The namespace that works on a cotangent."""
    if isinstance(value, Tensor):
        return T
    if foreign:
        return XP[type(value)]
    return BY_DTYPE[value.dtype]


class Sums:
    """Adding cotangents: a first one is borrowed, a sum is owned."""

    __slots__ = ("owned",)

    def __init__(self) -> None:
        self.owned: set[Node] = set()

    def add(self, node: Node, old: Any, new: Any) -> Any:
        """The sum of what was there for a node and what comes in."""
        if type(old) is Parts:
            for k, g in new.parts.items():
                old.parts[k] = g if k not in old.parts else old.parts[k] + g
            return old
        if isinstance(old, Tensor) or type(old) is not np.ndarray or type(new) is not np.ndarray:
            return old + new
        if node in self.owned and old.dtype is new.dtype:
            np.add(old, new, out=old)
            return old
        self.owned.add(node)
        return old + new


def run(
    roots: list[tuple[Node, Any]],
    *,
    keep: bool,
    create_graph: bool,
    inputs: list[Node] | None = None,
) -> list[Any] | None:
    """One backward pass from ``roots`` (node, cotangent).

    Without ``inputs`` every leaf accumulates. With ``inputs`` only what leads to them runs, their cotangents are
    returned in that order (``None`` where unreached) and no leaf is touched.
    """
    buf: dict[Node, Any] = {}
    leaves: dict[Node, Any] = {}
    heap: list[tuple[int, Node]] = []
    sums = Sums()
    wanted = None if inputs is None else set(inputs)
    needed = None if wanted is None else leading_to([n for n, _ in roots], wanted)
    got: dict[Node, Any] = {}
    for node, g in roots:
        _put(node, g, buf, leaves, heap, sums)
    if wanted is None and not create_graph and not foreign:
        while heap:
            n = heappop(heap)[1]
            _walk(n, buf.pop(n), buf, leaves, heap, sums, keep)
    else:
        while heap:
            n = heappop(heap)[1]
            g = buf.pop(n)
            if n.h is not None and type(g) is not Parts:
                g = before(n, g, create_graph)
            if wanted is not None:
                if n in wanted:
                    got[n] = g
                if n not in needed:  # type: ignore[operator]
                    continue
            for m, d in _step(n, g, keep, create_graph):
                _put(m, d, buf, leaves, heap, sums)
    n = g = None
    return _deliver(leaves, got, inputs, wanted, create_graph)


def _step(n: Any, g: Any, keep: bool, create_graph: bool) -> list[tuple[Node, Any]]:
    """One node's backward step, as (input's node, cotangent) pairs."""
    try:
        if _has_node_hooks(n.h):
            pairs = hooked_backward(n, g, keep, create_graph)
        else:
            pairs = n.backward(T if create_graph else None if type(g) is Parts else xp_of(g), g, keep)
    except RuntimeError as error:
        _note_origin(error, n)
        raise
    return [(pairs[i], pairs[i + 1]) for i in range(0, len(pairs), 2) if pairs[i + 1] is not None]


def _walk(
    n: Any, g: Any, buf: dict[Node, Any], leaves: dict[Node, Any], heap: list[tuple[int, Node]], sums: Sums, keep: bool
) -> None:
    """Run a node on a plain cotangent, and on down its chain while nothing else waits: the hot loop."""
    last = xp = None
    while True:
        h = n.h
        if h is not None and type(g) is not Parts:
            g = before(n, g, False)
        dtype = g.dtype
        if dtype is not last:
            last = dtype
            xp = BY_DTYPE[dtype]
        try:
            if h is not None and _has_node_hooks(h):
                pairs = hooked_backward(n, g, keep, False)
            else:
                pairs = n.backward(xp, g, keep)
        except RuntimeError as error:
            _note_origin(error, n)
            raise
        if len(pairs) == 2 and not heap:
            n, g = pairs
            if g is None:
                return
            if n.seq:
                continue
            del pairs  # or the leaf's gradient would seem to be in use
            leaves[n] = g if n not in leaves else sums.add(n, leaves[n], g)
            return
        break
    for i in range(0, len(pairs), 2):
        g = pairs[i + 1]
        if g is not None:
            _put(pairs[i], g, buf, leaves, heap, sums)


def _has_node_hooks(h: Any) -> bool:
    return h is not None and (h.pre or h.post or h.trace is not None)


def _put(m: Node, g: Any, buf: dict[Node, Any], leaves: dict[Node, Any], heap: Any, sums: Sums) -> None:
    """A cotangent arrives at a node."""
    if m.seq:
        if m in buf:
            buf[m] = sums.add(m, buf[m], g)
        else:
            buf[m] = g
            heappush(heap, (-m.seq, m))
    elif m in leaves:
        leaves[m] = sums.add(m, leaves[m], g)
    else:
        leaves[m] = g


def _deliver(
    leaves: dict[Node, Any], got: dict[Node, Any], inputs: Any, wanted: Any, create_graph: bool
) -> list[Any] | None:
    """The end of a pass: leaves accumulate, or what was asked for is returned."""
    if wanted is not None:
        for m in list(leaves):
            g = leaves.pop(m)
            if m in wanted:
                got[m] = before(m, g, create_graph) if m.h is not None else g
        return _captured(got, inputs)
    while leaves:
        m = next(iter(leaves))
        accumulate(m, leaves.pop(m), create_graph)
    return None


def _captured(got: dict[Node, Any], inputs: list[Node]) -> list[Any]:
    """What ``autograd.grad`` returns: each array the caller's own."""
    results: list[Any] = []
    for i, m in enumerate(inputs):
        again = m in inputs[i + 1 :]
        g = got.get(m) if again else got.pop(m, None)
        if g is not None and not isinstance(g, Tensor):
            g = wrap(_own(g))
        results.append(g)
    return results


_exclusive = 0  # the reference count, inside of _own, of an array that only _own's caller holds


def _own(g: Any) -> Any:
    """The array itself if nothing but the caller's variable refers to it or to its memory, else a copy."""
    if type(g) is np.ndarray and (getrefcount(g) > _exclusive or g.base is not None or not g.flags.writeable):
        return g.copy()
    return g


def _calibrate() -> None:
    """Find that count: it depends on the interpreter's version."""
    global _exclusive
    while True:
        g = np.empty(1)
        if _own(g) is g:
            return
        _exclusive += 1


_calibrate()


def accumulate(m: Any, g: Any, create_graph: bool, hooks_done: bool = False) -> None:
    """A leaf's cotangent is complete: its hooks, then ``.grad``."""
    h = m.h
    if h is not None:
        if not hooks_done:
            g = before(m, g, create_graph)
        if h.pre:
            (g,) = _run_pre(h, (g,), create_graph)
    if m.grad is None and not isinstance(g, Tensor):
        g = _own(g)
    with AccumulateGrad.lock:
        _add_to_grad(m, g)
    if h is not None:
        if h.post_accumulate:
            variable = m.variable
            for hook in list(h.post_accumulate.values()):
                hook(variable)
        if h.post:
            g_out = g if isinstance(g, Tensor) else wrap(g)
            for hook in list(h.post.values()):
                hook((), (g_out,))


def _add_to_grad(m: Any, g: Any) -> None:
    old = m.grad
    if isinstance(g, Tensor):  # create_graph: the sum is recorded
        if old is None:
            m.grad = g
        else:
            m.grad = old + g
        return
    want = m.box.a.dtype
    if g.dtype is not want and hasattr(want, "kind"):
        if g.dtype.kind == "c" and want.kind != "c":
            g = g.real
        g = g.astype(want)
    if old is None:
        m.grad = wrap(g)
    elif old._fn is None and type(old._a) is np.ndarray and type(g) is np.ndarray and old._a.dtype is g.dtype:
        from ._alias import bump

        a = old._a
        np.add(a, g, out=a)
        bump(old)
    else:
        m.grad = wrap(old._a + g)


# ------------------------------------------------------------------------------------------------------------------- hooks
def before(n: Node, g: Any, create_graph: bool) -> Any:
    """Tensor hooks of a node's single output, then what ``retain_grad`` keeps."""
    h = n.h
    if h is None or (not h.tensor_pre and h.retain is None):
        return g
    from ._hooks import call_tensor_hooks

    return call_tensor_hooks(n, h, g, create_graph)


def hooked_backward(n: Node, g: Any, keep: bool, create_graph: bool) -> tuple[Any, ...]:
    """A node's backward step between its own pre- and post-hooks."""
    from ._hooks import call_node

    return call_node(n, g, keep, create_graph)


def _run_pre(h: Any, gs: tuple[Any, ...], create_graph: bool) -> tuple[Any, ...]:
    from ._hooks import call_prehooks

    return call_prehooks(h, gs, create_graph)


# ------------------------------------------------------------------------------------------------------------------ pruning
def leading_to(roots: list[Node], wanted: set[Node]) -> set[Node]:
    """The nodes from which a wanted node is reached by at least one edge; iterative, as graphs are deep."""
    needed: set[Node] = set()
    state: dict[Node, int] = {}
    lowest = min((n.seq for n in wanted), default=0)
    stack = list(roots)
    while stack:
        n = stack[-1]
        mark = state.get(n, 0)
        if mark == 0:
            state[n] = 1
            if n.seq > lowest:  # nothing older than the oldest wanted node can lead to one
                stack.extend(m for m in n.edges() if m is not None and m not in state)
        else:
            stack.pop()
            if mark == 1:
                state[n] = 2
                if n.seq > lowest and any(m is not None and (m in wanted or m in needed) for m in n.edges()):
                    needed.add(n)
    return needed


def _note_origin(error: BaseException, n: Node) -> None:
    """Say which node was running, unless the error already does."""
    if any(note.startswith("Where:") for note in getattr(error, "__notes__", ())) or type(n) is Port:
        return
    place = where(n.code, n.lasti)
    if place:
        noted(error, f"Where: in the backward pass of {n.name()}, which was made at {place}")
