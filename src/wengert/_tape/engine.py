"""The backward pass: youngest node first, each node once, nothing recursive.

A heap by sequence number gives a topological order with no discovery pass (``_tape.node``, NOTE [ Sequence numbers ]).
A chain never touches the heap: while a node has one input and nothing else waits, the pass simply walks on.

Cotangents are plain payloads, or Tensors under ``create_graph``. A first contribution is borrowed, a sum is owned and
added to in place. A leaf's ``.grad`` never shares memory with another gradient, a saved value or the user's argument:
an array that only the pass itself refers to is given away, anything else is copied.
"""

from __future__ import annotations

from heapq import heappop, heappush
from operator import itemgetter
from sys import _getframe as getframe
from sys import getrefcount
from typing import Any

import numpy as np
from numpy import ndarray

from .._arrays.library import ARITHMETIC, BY_DTYPE, silently
from .._base.errors import noted, where
from .._base.registry import XP, T
from .node import AccumulateGrad, Node, Parts, Port, cell_of, hooked_leaves, tick
from .tensor import Tensor, make, wrap

BY_DTYPE[None] = None  # the cotangent of a node with several outputs: the node looks at its parts
observers: list[
    Any
] = []  # what looks at every step of every pass: fn(node, cotangent, step) -> pairs (anomaly mode, profiler)
lock = AccumulateGrad.lock
foreign: list[Any] = []  # array libraries besides NumPy, whose arrays share NumPy's dtypes


def xp_of(value: Any) -> Any:
    """The namespace that works on a cotangent."""
    if isinstance(value, Tensor):
        return T
    if foreign:
        return XP[type(value)]
    return BY_DTYPE[value.dtype]


class Sums:
    """Adding cotangents: a first one is borrowed, a sum is owned. Its sets are made when they are needed."""

    callbacks: list[Any] | None = None  # what queue_callback was given
    number: int | None = None  # of the pass, once somebody has asked
    owned: set[Node] | None = None
    told: set[Node] | None = None  # nodes that nothing may arrive at, and that were looked through (_nothing_for)

    def add(self, node: Node, old: Any, new: Any) -> Any:
        """The sum of what was there for a node and what comes in."""
        if type(old) is Parts:
            for k, g in new.parts.items():
                old.parts[k] = g if k not in old.parts else old.parts[k] + g
            return old
        if old is None:  # a leaf that has heard that nothing comes by one of its edges
            return new
        if isinstance(old, Tensor) or type(old) is not np.ndarray or type(new) is not np.ndarray:
            return old + new
        owned = self.owned
        if owned is None:
            owned = self.owned = set()
        elif node in owned and old.dtype is new.dtype:
            try:
                np.add(old, new, out=old)
            except ARITHMETIC:  # NumPy complains of inf - inf when the sum is done
                return old
            return old
        owned.add(node)
        try:
            return old + new
        except ARITHMETIC:
            return silently(np.add, old, new)


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
    plain = inputs is None and not (create_graph or foreign or hooked_leaves or observers)
    node, g = roots[0] if len(roots) == 1 else (None, None)
    if plain and g is not None and node.seq:  # type: ignore[union-attr]
        _walk(node, g, buf, leaves, heap, sums, keep)
    else:
        for node, g in roots:
            _put(node, g, buf, leaves, heap, sums)
    if inputs is not None:
        return _run_for(inputs, [n for n, _ in roots], buf, leaves, heap, sums, keep, create_graph)
    if not plain:
        due = _leaf_schedule([n for n, _ in roots]) if hooked_leaves else []
        while heap or due:
            if due and (not heap or -heap[0][0] < due[-1][0]):
                m = due.pop()[2]
                if m in leaves:
                    accumulate(m, leaves.pop(m), create_graph)
                continue
            n = heappop(heap)[1]
            _run_node(n, buf.pop(n), buf, leaves, heap, sums, keep, create_graph)
    else:
        while heap:
            n = heappop(heap)[1]
            _walk(n, buf.pop(n), buf, leaves, heap, sums, keep)
    n = node = g = None  # type: ignore[assignment]  # only lets go of what the loops held last
    if plain:
        _give_first(leaves)
    while leaves:
        m = next(iter(leaves))
        accumulate(m, leaves.pop(m), create_graph)
    if sums.callbacks:
        _call_back(sums.callbacks)
    return None


def _run_for(
    inputs: list[Node],
    roots: list[Node],
    buf: dict[Node, Any],
    leaves: dict[Node, Any],
    heap: Any,
    sums: Sums,
    keep: bool,
    create_graph: bool,
) -> list[Any]:
    """A pass that runs only what leads to ``inputs``, and returns what arrives there."""
    wanted: dict[Node, Node] = {m: m for m in inputs}
    needed = leading_to(roots, wanted)
    got: dict[Node, Any] = {}
    only = (wanted, needed, got)
    plain = not (create_graph or foreign or observers)
    while heap:
        n = heappop(heap)[1]
        g = buf.pop(n)
        if type(n) is NothingArrives:
            if n.node in needed or n.node in wanted:
                _run_node(n, g, buf, leaves, heap, sums, keep, create_graph)
        elif plain and type(g) is not Parts:
            _walk(n, g, buf, leaves, heap, sums, keep, only)
        else:
            if n.h is not None and type(g) is not Parts:
                g = before(n, g, create_graph)
            if n in wanted:
                _capture(n, g, only, sums)
            if n in needed:
                _run_node(n, g, buf, leaves, heap, sums, keep, create_graph, hooks_done=True)
    n = g = None  # type: ignore[assignment]
    for m in inputs:
        if m in leaves:
            g = leaves.pop(m)
            if m.h is not None:
                g = before(m, g, create_graph)
            if g is not None:
                got[m] = g
    leaves.clear()
    g = None
    if sums.callbacks:
        _call_back(sums.callbacks)
    return _captured(got, inputs)


def _capture(n: Node, g: Any, only: Any, sums: Sums) -> None:
    """Keep what arrives at a wanted node."""
    wanted, _, got = only
    m = wanted[n]
    got[m] = g if m not in got else sums.add(m, got[m], g)


def _run_node(
    n: Any,
    g: Any,
    buf: Any,
    leaves: Any,
    heap: Any,
    sums: Sums,
    keep: bool,
    create_graph: bool,
    hooks_done: bool = False,
) -> None:
    """One node's backward step, off the hot path."""
    h = n.h
    if h is not None and not hooks_done and type(g) is not Parts:
        g = before(n, g, create_graph)
    step = _observed if observers else _stepped
    try:
        pairs = step(n, g, keep, create_graph)
    except RuntimeError as error:
        _note_origin(error, n)
        raise
    for i in range(0, len(pairs), 2):
        _put(pairs[i], pairs[i + 1], buf, leaves, heap, sums)


def _stepped(n: Any, g: Any, keep: bool, create_graph: bool) -> tuple[Any, ...]:
    """The step itself, between the node's own hooks."""
    if _has_node_hooks(n.h):
        return hooked_backward(n, g, keep, create_graph)
    xp = T if create_graph else None if type(g) is Parts else xp_of(g)
    try:
        return n.backward(xp, g, keep)
    except ARITHMETIC:
        return _in_silence(n, xp, g, keep)


def _observed(n: Any, g: Any, keep: bool, create_graph: bool) -> tuple[Any, ...]:
    """The step with whoever looks on around it."""

    def step() -> tuple[Any, ...]:
        return _stepped(n, g, keep, create_graph)

    for observer in observers:
        step = _around(observer, n, g, step)
    return step()


def _around(observer: Any, n: Any, g: Any, step: Any) -> Any:
    return lambda: observer(n, g, step)


def _walk(
    n: Any,
    g: Any,
    buf: dict[Node, Any],
    leaves: dict[Node, Any],
    heap: list[tuple[int, Node]],
    sums: Sums,
    keep: bool,
    only: Any = None,
) -> None:
    """Run a node on a plain cotangent, and on down its chain while nothing else waits: the hot loop.

    ``only``: (wanted, needed, got) of a pass that runs for some nodes alone.
    """
    last = xp = None
    while True:
        h = n.h
        if h is not None and type(g) is not Parts:
            g = before(n, g, False)
        if only is not None:
            if n in only[0]:
                _capture(n, g, only, sums)
            if n not in only[1]:
                return
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
        except ARITHMETIC:
            pairs = _in_silence(n, xp, g, keep)
        if len(pairs) == 2 and not heap:
            n, g = pairs
            if g is None:
                _nothing_for(n, buf, leaves, heap, sums)
                return
            if n.seq:
                continue
            del pairs  # or the leaf's gradient would seem to be in use
            leaves[n] = g if n not in leaves else sums.add(n, leaves[n], g)
            return
        if len(pairs) == 4 and not heap:  # mostly a parameter and the way on
            m, d, n, g = pairs
            if n.seq == 0 or d is None:
                n, g, m, d = pairs
            if m.seq == 0 and n.seq and g is not None and d is not None:
                leaves[m] = d if m not in leaves else sums.add(m, leaves[m], d)
                continue
        break
    for i in range(0, len(pairs), 2):
        _put(pairs[i], pairs[i + 1], buf, leaves, heap, sums)


def _in_silence(n: Any, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
    """A formula met inf or nan in a program that makes NumPy's warnings errors: run it again without them.

    A formula frees what it saved only at its end, so it can be run again; a user's function or hook is not.
    """
    if n.by_user or _has_node_hooks(n.h):
        raise  # noqa: PLE0704 - called while the error is being handled
    return silently(n.backward, xp, g, keep)


def _has_node_hooks(h: Any) -> bool:
    return h is not None and (h.pre or h.post)


def _put(m: Node, g: Any, buf: dict[Node, Any], leaves: dict[Node, Any], heap: Any, sums: Sums) -> None:
    """A cotangent arrives at a node."""
    if g is None:
        _nothing_for(m, buf, leaves, heap, sums)
    elif m.seq:
        if m in buf:
            buf[m] = sums.add(m, buf[m], g)
        else:
            buf[m] = g
            heappush(heap, (-m.seq, m))
    elif m in leaves:
        leaves[m] = sums.add(m, leaves[m], g)
    else:
        leaves[m] = g


# ------------------------------------------------------------------------------------------------- undefined cotangents
class NothingArrives(Node):
    """Stands in the heap right before a node that may turn out to get no cotangent at all.

    As in PyTorch such a node still runs if anybody can tell: a custom function (which may be given zeros) and hooks
    (which are given ``None``). An operator's own derivative of nothing is nothing.
    """

    __slots__ = ("buf", "node")

    def __init__(self, node: Any, buf: dict[Node, Any]) -> None:
        self.node = node
        self.buf = buf
        self.seq = node.seq + 0.5
        self.h = None
        self.code = node.code
        self.lasti = node.lasti

    def backward(self, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        n = self.node
        if n in self.buf:  # something arrived after all
            return ()
        nothing = Parts({})
        if n.h is not None:
            before(n, None, xp is T)
            if n.runs_on_nothing and _has_node_hooks(n.h):
                return hooked_backward(n, nothing, keep, xp is T)
            if _has_node_hooks(n.h):
                from .hooks import call_on_nothing

                call_on_nothing(n, n.h, xp is T)
        if n.runs_on_nothing:
            return tuple(n.backward(xp, nothing, keep))
        return tuple(x for m in n.edges() if m is not None for x in (m, None))


def _nothing_for(m: Any, buf: dict[Node, Any], leaves: dict[Node, Any], heap: Any, sums: Sums) -> None:
    """No cotangent comes by one edge: make sure that those further down who would run all the same do so."""
    told = sums.told
    if told is None:
        told = sums.told = set()
    stack = [m]
    while stack:
        n = stack.pop()
        if n in told:
            continue
        told.add(n)
        if not n.seq:
            if n.h is not None and n not in leaves:
                leaves[n] = None
        elif n.runs_on_nothing or n.h is not None:
            proxy = NothingArrives(n, buf)
            buf[proxy] = NOTHING
            heappush(heap, (-proxy.seq, proxy))
        else:
            stack.extend(e for e in n.edges() if e is not None)


NOTHING = Parts({})


# ------------------------------------------------------------------------------------------------------ when leaves run
def _leaf_schedule(roots: list[Node]) -> list[tuple[int, int, Any]]:
    """``(sequence number, order, leaf)``, youngest last: a leaf is complete once its oldest user has run.

    PyTorch lets a leaf accumulate as soon as it is complete. That can only be told apart where leaves have hooks, so
    only then the graph is looked through beforehand.
    """
    oldest: dict[Node, tuple[int, int]] = {}
    seen: set[Node] = set(roots)
    stack = list(roots)
    for root in roots:
        if not root.seq:
            oldest[root] = (1 << 62, 0)
    while stack:
        n = stack.pop()
        for k, m in enumerate(n.edges()):
            if m is None:
                continue
            if not m.seq:
                if m not in oldest or n.seq < oldest[m][0]:
                    oldest[m] = (n.seq, k)
            if m not in seen:
                seen.add(m)
                stack.append(m)
    return sorted(((seq, -k, m) for m, (seq, k) in oldest.items()), key=lambda entry: entry[:2])


# ------------------------------------------------------------------------------------------------------------- delivery
def _captured(got: dict[Node, Any], inputs: list[Node]) -> list[Any]:
    """What ``autograd.grad`` returns: each array the caller's own."""
    results: list[Any] = []
    last = {m: i for i, m in enumerate(inputs)} if len(inputs) > 1 else None
    for i, m in enumerate(inputs):
        g = got.get(m) if last is not None and last[m] != i else got.pop(m, None)
        if g is not None and not isinstance(g, Tensor):
            g = wrap(_own(g))
        results.append(g)
    return results


_local = 0  # the reference count of an array that only a local variable holds
_exclusive = 0  # the reference count, inside of _own, of an array that only _own's caller holds


def _own(g: Any) -> Any:
    """The array itself if nothing but the caller's variable refers to it or to its memory, else a copy."""
    if type(g) is np.ndarray and (getrefcount(g) > _exclusive or g.base is not None or not g.flags.writeable):
        return g.copy()
    return g


def _calibrate() -> None:
    """Find those counts: they depend on the interpreter's version."""
    global _exclusive, _local
    _, g = {None: np.empty(1)}.popitem()
    _local = getrefcount(g)
    while True:
        g = np.empty(1)
        if _own(g) is g:
            return
        _exclusive += 1


_calibrate()


def _give_first(leaves: dict[Node, Any]) -> None:
    """Deliver to the leaves that have no ``.grad`` yet and no hooks, the common case; the others stay."""
    others: dict[Node, Any] = {}
    m: Any
    while leaves:
        m, g = leaves.popitem()
        if m.h is None and m.grad is None and type(g) is ndarray and g.dtype is m.box.a.dtype:
            leaf = m.ref()
            if leaf is None or leaf._fn is m:
                if getrefcount(g) > _local or g.base is not None:  # see _own
                    g = g.copy()
                t = make()
                t._a = g
                t._fn = t._m = None
                with lock:
                    if m.grad is None:
                        m.grad = t
                        continue
        others[m] = g
    leaves.update(others)


def accumulate(m: Any, g: Any, create_graph: bool, hooks_done: bool = False) -> None:
    """A leaf's cotangent is complete: its hooks, then ``.grad``."""
    h = m.h
    leaf = m.ref()
    if leaf is not None and leaf._fn is not m:  # requires_grad was turned off since
        return
    del leaf
    if type(g) not in _ARRAYS and type(m.box.a) in _ARRAYS and not isinstance(g, Tensor) and g is not None:
        g = _primal(g)
    if h is not None:
        if not hooks_done:
            g = before(m, g, create_graph)
        if h.pre:
            (g,) = _run_pre(h, (g,), create_graph)
    if m.grad is None and not isinstance(g, Tensor):
        g = _own(g)
    if g is not None:
        with lock:
            _add_to_grad(m, g)
    if h is not None:
        from .hooks import call_leaf_hooks

        call_leaf_hooks(m, h, g, create_graph)


_ARRAYS = frozenset((ndarray, np.float32, np.float64))


def _primal(g: Any) -> Any:
    """A leaf's cotangent that was computed with dual numbers, the leaf being none: ``.grad`` has no tangent."""
    from .._payloads.transforms import Dual

    while isinstance(g, Dual):
        g = g.v
        while isinstance(g, Tensor):
            g = g._a
    return g


def _add_to_grad(m: Any, g: Any) -> None:
    old = m.grad
    if isinstance(g, Tensor):  # create_graph: the sum is recorded
        m.grad = _recorded_copy(g) if old is None else old + g
        return
    want = m.box.a.dtype if m.h is None or m.h.grad_dtype is None else g.dtype
    if g.dtype is not want and hasattr(want, "kind") and hasattr(g, "astype"):  # a transform's value has none
        if g.dtype.kind == "c" and want.kind != "c":
            g = g.real
        g = g.astype(want)
    if old is None:
        m.grad = wrap(g if m.h is None else _laid_out_as(m.box.a, g))
        return
    a = old._a
    if type(a) is np.ndarray and isinstance(g, (np.ndarray, np.generic)) and a.flags.writeable:
        try:
            np.add(a, g, a, casting="same_kind")
        except ARITHMETIC:  # as in Sums.add
            g = None
    else:
        old._a = a + g
        if old._m is not None:
            old._m.a = old._a
    cell_of(old).write(tick())  # by no line of the user's


def _laid_out_as(a: Any, g: Any) -> Any:
    """A gradient with its leaf's strides, if that lies without gaps: PyTorch's gradient layout contract."""
    if type(a) is not ndarray or type(g) is not ndarray or a.flags.c_contiguous or a.strides == g.strides:
        return g
    if not a.transpose(np.argsort([-s for s in a.strides], kind="stable")).flags.c_contiguous:
        return g
    laid_out = np.empty_like(a, g.dtype)
    np.copyto(laid_out, g)
    return laid_out


def _recorded_copy(g: Tensor) -> Tensor:
    """The gradient as a tensor of its own: what is put into ``.grad`` may be written to."""
    copy = g.clone()  # type: ignore[attr-defined]
    if copy._fn is not None:
        from .view_chain import renamed

        copy = renamed(copy, "torch::autograd::CopyBackwards")
    return copy


# ---------------------------------------------------------------------------------------------------------------- hooks
def before(n: Node, g: Any, create_graph: bool) -> Any:
    """Tensor hooks of a node's single output, then what ``retain_grad`` keeps."""
    h = n.h
    if h is None:
        return g
    if h.grad_dtype is not None and g is not None:
        g = _in_grad_dtype(g, h.grad_dtype[0])
    if not h.tensor_pre and h.retain is None:
        return g
    from .hooks import call_tensor_hooks

    return call_tensor_hooks(n, h, g, create_graph)


def _in_grad_dtype(g: Any, dtype: Any) -> Any:
    """A leaf's cotangent in the dtype that the program wants its gradient in; ``None``: as it comes."""
    if dtype is None or g.dtype is dtype:
        return g
    return T._to_copy(g, dtype) if isinstance(g, Tensor) else g.astype(dtype)


def hooked_backward(n: Node, g: Any, keep: bool, create_graph: bool) -> tuple[Any, ...]:
    """A node's backward step between its own pre- and post-hooks."""
    from .hooks import call_node

    return call_node(n, g, keep, create_graph)


def _run_pre(h: Any, gs: tuple[Any, ...], create_graph: bool) -> tuple[Any, ...]:
    from .hooks import call_prehooks

    return call_prehooks(h, gs, create_graph)


# --------------------------------------------------------------------------------------------- the pass that is running
class Pass:
    """What a hook can find out about the pass that called it."""

    def __init__(self, scope: dict[str, Any], caller: Any = None) -> None:
        self.caller = caller  # the code of the function that began the pass
        self.id: Any = scope["sums"]  # an object of its own for each pass
        self.inputs: list[Node] | None = scope["inputs"]
        self.keep: bool = scope["keep"]
        self.roots: list[Node] = [n for n, _ in scope["roots"]]

    def nodes(self) -> set[Node]:
        """All nodes that this pass runs or returns."""
        if self.inputs is not None:
            wanted = {m: m for m in self.inputs}
            needed = leading_to(self.roots, wanted)
            return needed | set(wanted)
        seen = set(self.roots)
        stack = list(self.roots)
        while stack:
            for m in stack.pop().edges():
                if m is not None and m not in seen:
                    seen.add(m)
                    stack.append(m)
        return seen


def current_pass() -> Pass | None:
    """The innermost backward pass that is running in this thread.

    Found on the stack, so that a pass that nobody asks about need not announce itself.
    """
    frame: Any = getframe(1)
    while frame is not None:
        if frame.f_code is run.__code__:
            caller = frame.f_back.f_back if frame.f_back.f_code.co_name == "_run" else frame.f_back
            return Pass(frame.f_locals, caller.f_code)
        frame = frame.f_back
    return None


def queue_callback(fn: Any) -> None:
    """Call ``fn()`` at the end of the pass that is running."""
    now = current_pass()
    if now is None:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    if now.id.callbacks is None:
        now.id.callbacks = []
    now.id.callbacks.append(fn)


def _call_back(callbacks: list[Any]) -> None:
    i = 0
    while i < len(callbacks):  # a callback may queue another one
        callbacks[i]()
        i += 1


# -------------------------------------------------------------------------------------------------------------- pruning
def leading_to(roots: list[Node], wanted: dict[Node, Node]) -> set[Node]:
    """The nodes from which a wanted node is reached by at least one edge; iterative, as graphs are deep.

    An output of a node may have several ports (one for each time that it was saved and found again): those of a wanted
    output are added to ``wanted``.
    """
    lowest = min((n.fx.seq if type(n) is Port else n.seq for n in wanted), default=0)
    ports = {(n.fx, n.k): n for n in wanted if type(n) is Port}
    seen = set(roots)
    stack = list(seen)
    found: list[tuple[int, Any, Any]] = []
    while stack:
        n = stack.pop()
        if ports and type(n) is Port and (n.fx, n.k) in ports:
            wanted[n] = ports[n.fx, n.k]
        if n.seq > lowest:  # nothing older than the oldest wanted node can lead to one
            edges = n.edges()
            found.append((n.seq, n, edges))
            for m in edges:
                if m is not None and m not in seen:
                    seen.add(m)
                    stack.append(m)
    found.sort(key=itemgetter(0))  # oldest first: a node points to older ones only
    needed: set[Node] = set()
    for _, n, edges in found:
        for m in edges:
            if m in wanted or m in needed:
                needed.add(n)
                break
    return needed


def _note_origin(error: BaseException, n: Node) -> None:
    """Say which node was running, unless the error already does."""
    if any(note.startswith("Where:") for note in getattr(error, "__notes__", ())) or type(n) is Port:
        return
    place = where(n.code, n.lasti)
    if place:
        noted(error, f"Where: in the backward pass of {n.name()}, which was made at {place}")
