"""The end of a backward pass: gradients go into the leaves' ``.grad`` or to the caller of ``autograd.grad``.

A leaf's ``.grad`` never shares memory with another gradient, a saved value or the user's argument: an array is handed
over if only the pass refers to it, and copied otherwise.
"""

from __future__ import annotations

from functools import partial
from sys import getrefcount
from typing import Any

import numpy as np
from numpy import ndarray

from .._arrays import shared_ufuncs
from .._arrays.layouts import as_like, in_rows, is_dense, relaid_copy
from .._arrays.library import ARITHMETIC
from .hooks import before, call_leaf_hooks, call_prehooks
from .node import AccumulateGrad, Node, tick, version_of
from .replaced import replace_payload
from .tensor import Tensor, make, tensor_on, wrap

lock = AccumulateGrad.lock


def captured(got: dict[Node, Any], inputs: list[Node]) -> list[Any]:
    """The results of ``autograd.grad``: each array belongs to the caller alone."""
    results: list[Any] = []
    last = {m: i for i, m in enumerate(inputs)} if len(inputs) > 1 else None
    for i, m in enumerate(inputs):
        g = got.get(m) if last is not None and last[m] != i else got.pop(m, None)
        if g is not None and not isinstance(g, Tensor):
            if type(g) is ndarray:
                g = wrap(_own(getrefcount(g) <= _local, g, _in_its_order))
            else:
                g = tensor_on(g if hasattr(g, "asked") else _own(getrefcount(g) <= _local, g))
        results.append(g)
    return results


def _references() -> int:
    """The reference count of an array that only a local variable holds: it depends on the interpreter's version.

    What a function receives is counted by its caller: whether the caller's stack holds it too depends on who runs the
    frames (PEP 523), such as a debugger or PyTorch's compiler, which stays after an error.
    """
    _, g = {None: np.empty(1)}.popitem()
    return getrefcount(g)


_local = _references()


def _own(alone: bool, g: Any, copied: Any = ndarray.copy) -> Any:
    """The array itself if ``alone``, only the caller's variable refers to it, and nothing else to its memory.

    A copy otherwise. ``alone`` is counted before ``g`` is on the caller's stack.
    """
    if type(g) is not np.ndarray:
        if getattr(g, "is_sparse", False) and not (alone and g.is_in_own_memory):
            return g.copy()
        return g.own() if getattr(g, "is_traced", False) or getattr(g, "is_foreign", False) else g
    if alone and g.flags.writeable and (g.base is None or _fills_its_base(g)):
        return g
    return copied(g)


def _fills_its_base(g: Any) -> bool:
    """Whether a view has all the elements, or their real parts, of an array to which nothing else refers."""
    base = g.base
    return (
        getrefcount(base) == _local + 1  # the view holds it too
        and type(base) is np.ndarray
        and base.flags.owndata
        and base.size == g.size
        and is_dense(g.shape, g.strides, base.itemsize)
    )


def _in_its_order(g: Any) -> Any:
    """A copy that lies in memory as the array does; what a reduction's cotangent repeats is written in rows."""
    if g.flags.c_contiguous or not any(g.strides):
        copy = g.copy()
        if copy.strides == g.strides or not any(g.strides):
            return copy
    return relaid_copy(g)


def give_first(leaves: dict[Node, Any]) -> None:
    """Deliver to the leaves without ``.grad`` and hooks, the common case; leave the others to ``accumulate``."""
    others: dict[Node, Any] = {}
    m: Any
    while leaves:
        m, g = leaves.popitem()
        if m._hooks is None and m.grad is None and type(g) is ndarray and g.dtype is m.box.a.dtype:
            leaf = m.ref()
            if leaf is None or leaf._node is m:
                if getrefcount(g) > _local or g.flags.num & 5 != 5:  # NumPy: row-major, in its own memory; see _own
                    g = g.copy()
                t = make()
                t._payload = g
                t._node = t._box = None
                with lock:
                    if m.grad is None:
                        m.grad = t
                        continue
        others[m] = g
    if others:
        leaves.update(others)


leaf_observers: list[Any] = []  # called for every leaf that accumulates: fn(node, cotangent, step); the profiler


def accumulate(
    m: Any, g: Any, create_graph: bool, hooks_done: bool = False, observed: bool = False, add: Any = None
) -> None:
    """Run a leaf's hooks on its complete cotangent, then accumulate into ``.grad``.

    ``add``: what an observer has in place of ``_add_to_grad``; it may run the program's code.
    """
    if leaf_observers and not observed:
        _observed(m, g, create_graph, hooks_done)
        return
    h = m._hooks
    leaf = m.ref()
    if leaf is not None and leaf._node is not m:  # requires_grad was turned off in the meantime
        return
    del leaf
    if type(g) not in _ARRAYS and type(m.box.a) in _ARRAYS and not isinstance(g, Tensor) and g is not None:
        primal = getattr(g, "primal", None)
        g = g if primal is None else primal()  # computed with dual numbers, but the leaf is not one
    if h is not None:
        if not hooks_done:
            g = before(m, g, create_graph)
        if h.pre:
            (g,) = call_prehooks(h, (g,), create_graph)
    if m.grad is None and not isinstance(g, Tensor):
        g = _own(getrefcount(g) <= _local, g)
    if add is not None:
        add(m, g)
    elif g is not None:
        with lock:
            _add_to_grad(m, g)
    if h is not None:
        call_leaf_hooks(m, h, g, create_graph)


def _observed(m: Any, g: Any, create_graph: bool, hooks_done: bool) -> None:
    step: Any = partial(accumulate, m, g, create_graph, hooks_done, observed=True)
    for observer in tuple(leaf_observers):
        step = partial(observer, m, g, step)
    step()


_ARRAYS = frozenset((ndarray, np.float32, np.float64))


def _add_to_grad(m: Any, g: Any) -> None:
    old = m.grad
    if isinstance(g, Tensor):  # create_graph: the sum is recorded
        m.grad = _recorded_copy(m.box.a, g) if old is None else g + old if _is_sparse(old) else old + g
        return
    want = m.box.a.dtype if m._hooks is None or m._hooks.grad_dtype is None else g.dtype
    if (  # a transform's value has no kind; a sparse tensor may have a dense gradient
        g.dtype is not want
        and getattr(g.dtype, "base_dtype", None) is not want  # a sparse array's dtype
        and hasattr(want, "kind")
        and hasattr(g, "astype")
        and not getattr(m.box.a, "is_sparse", False)
    ):
        if g.dtype.kind == "c" and want.kind != "c":
            g = g.real
        g = g.astype(want)
    if old is None:
        m.grad = tensor_on(_laid_out_as(m.box.a, g))
        return
    a = old._payload
    if type(a) is np.ndarray and isinstance(g, (np.ndarray, np.generic)) and a.flags.writeable:
        try:
            shared_ufuncs.add(a, g, a, casting="same_kind")
        except ARITHMETIC:  # as in Sums.add
            g = None
    elif _is_sparse(old) and type(g) is np.ndarray:
        m.grad = wrap(g + a)
        return
    elif hasattr(a, "asked"):
        a.asked("add_.Tensor", tensor_on(g))
    elif getattr(total := a + g, "is_traced", False):  # views of the gradient see the sum
        replace_payload(old, total)
        return
    else:
        old._payload = total
        if old._box is not None:
            old._box.a = total
    version_of(old).write(tick())  # a write that no line of the user's program made


def _is_sparse(t: Tensor) -> bool:
    return getattr(t._payload, "is_sparse", False)


free_layouts: list[bool] = []  # not empty: gradients stay as they lie in memory


def _laid_out_as(a: Any, g: Any, free: Any = free_layouts) -> Any:
    """The gradient with its leaf's strides if the leaf is dense in memory, else in rows: PyTorch's layout contract."""
    if type(a) is not ndarray or type(g) is not ndarray:
        return g
    if (a.flags.c_contiguous and a.strides == g.strides) or free:  # nearly all
        return g
    if not is_dense(a.shape, a.strides, a.itemsize):
        return in_rows(g)
    return g if a.strides == g.strides else as_like(a, g)


class CopyBackwards(Node):
    """The node of the copy that a recorded pass puts into a leaf's ``.grad``; it is also that of ``copy_``."""

    __slots__ = ("fx",)
    __module__ = "builtins"

    def __init__(self, source: Node) -> None:
        self.fx = source
        self._hooks = None
        self._seq = tick()
        self._code, self._lasti = source._code, source._lasti

    def _edges(self) -> tuple[Node | None, ...]:
        return (None, self.fx)

    def name(self) -> str:
        return "torch::autograd::CopyBackwards"

    def backward(self, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        return (self.fx, g)


def _recorded_copy(a: Any, g: Tensor) -> Tensor:
    """A copy of a leaf's gradient, because ``.grad`` may be written to."""
    copy = g.clone()
    copy._payload = _laid_out_as(a, copy._payload, False)
    if copy._node is not None and (type(a) is not ndarray or not a.size or is_dense(a.shape, a.strides, a.itemsize)):
        copy._node = CopyBackwards(g._node)
    return copy
