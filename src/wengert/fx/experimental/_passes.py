"""What ``make_fx`` writes of a backward pass beside its steps: sums of cotangents, and what leaves accumulate."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

import numpy as np

import wengert as torch

from ..._tape import delivery
from ..._tape.engine import observers
from ..._tape.node import Parts, hooked_leaves
from ..._tape.passes import Pass
from ..._tape.tensor import Tensor, wrap


@contextmanager
def passes_written(mode: Any) -> Any:
    """A context in which the backward pass writes the sums of cotangents, and hands on results without losing them."""
    plain, tracer = Pass.add, mode.tracer

    def add(self: Pass, node: Any, old: Any, new: Any) -> Any:
        if old is None or type(old) is Parts or mode.quiet:
            return plain(self, node, old, new)
        with mode.silent():
            given = tuple([tracer.node_of(x if isinstance(x, Tensor) else wrap(x)) for x in (old, new)])
            result = plain(self, node, old, new)
            written = tracer.call(torch.ops.aten.add.Tensor, given, {})
            tracer.note(result if isinstance(result, Tensor) else wrap(result), written)
        return result

    def own(alone: bool, g: Any, copied: Any = np.ndarray.copy) -> Any:
        # the tracer refers to all arrays, so a result is always copied: it stays the same node's
        made = own_plainly(False, g, copied)
        if made is not g and not mode.quiet:
            tracer.note(wrap(made), tracer.node_of(wrap(g)))
        return made

    def leaf(m: Any, g: Any, step: Any) -> None:
        if mode.quiet or isinstance(g, Tensor) or step.func is not delivery.accumulate:
            step()
        else:
            step(add=accumulated)

    def accumulated(m: Any, g: Any) -> None:
        old, node = m.grad, tracer.node_of(wrap(g))
        if old is not None:
            node = tracer.call(torch.ops.aten.add_.Tensor, (tracer.node_of(old), node), {})
        elif _lies_as(node.meta["val"], m.box.a):
            node = tracer.call(torch.ops.aten.detach.default, (node,), {})
        else:
            made = node.meta["val"]
            layout = {"dtype": made.dtype, "layout": made.layout, "device": made.device}
            strides = [s // m.box.a.itemsize for s in m.box.a.strides]
            empty = tracer.call(torch.ops.aten.new_empty_strided.default, (node, list(made.shape), strides), layout)
            node = tracer.call(torch.ops.aten.copy_.default, (empty, node), {})
        with delivery.lock:
            delivery._add_to_grad(m, g)
        tracer.note(m.grad, node)

    own_plainly = delivery._own
    step = mode.step
    Pass.add, delivery._own = add, own  # type: ignore[method-assign]
    observers.append(step)
    delivery.leaf_observers.insert(0, leaf)  # the innermost: it has an ``add`` of its own
    mark = hooked_leaves.mark()  # PyTorch's order of accumulation can be seen
    try:
        yield
    finally:
        Pass.add, delivery._own = plain, own_plainly  # type: ignore[method-assign]
        observers.remove(step)
        delivery.leaf_observers.remove(leaf)
        del mark


def _lies_as(gradient: Tensor, leaf: np.ndarray) -> bool:
    """Whether PyTorch takes a gradient as it lies in memory, without a copy."""
    strides = [s // leaf.itemsize for s in leaf.strides]
    return all(size == 1 or a == b for size, a, b in zip(leaf.shape, gradient.stride(), strides, strict=True))
