"""``CompiledFunctionBackward``, the one node of a compiled forward pass.

Its backward step runs the second program on what the first one saved. Under ``create_graph``, or on the cotangents of a
transform, the function runs again, eagerly and recorded, on the same inputs, and the graph of that run is walked.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base.errors import noted
from .._base.grad_mode import grad_mode
from .._base.registry import TENSORS
from .._tape import engine
from .._tape.node import FREED, Node, Parts, tick
from .._tape.saved import stale
from .._tape.tensor import Tensor, wrap


class Done(Node):
    """The node of a compiled function that has run the backward pass itself; nothing is left to be saved."""

    __slots__ = ()
    fx: tuple[Any, ...] = ()

    def backward(self, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        stale(self, FREED)
        return ()

    def name(self) -> str:
        return "CompiledFunctionBackward"


Done.__name__ = Done.__qualname__ = "CompiledFunctionBackward"


class CompiledFunctionBackward(Node):
    """A compiled function in the graph: one node, however many operators it has."""

    __slots__ = ("again", "boxes", "fx", "outputs_meta", "program", "saved_arrays")

    def __init__(
        self, program: Any, edges: tuple[Any, ...], saved: Any, boxes: Any, again: Any, code: Any, lasti: int
    ) -> None:
        self.program = program
        self.fx = edges
        self.saved_arrays = saved
        self.boxes = boxes
        self.again = again
        self.outputs_meta: Any = ()
        self._hooks = None
        self._seq = tick()
        self._code, self._lasti = code, lasti

    def _edges(self) -> tuple[Any, ...]:
        return self.fx

    def _release(self) -> None:
        self.saved_arrays = None
        self.again = None
        self.boxes = ()

    def backward(self, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        if self.saved_arrays is None:
            stale(self, FREED)
        for box in self.boxes:
            if box.cell is not None and box.cell._seq > self._seq:
                stale(self, box)
        parts = g.parts if isinstance(g, Parts) else {0: g}
        plain = all(isinstance(a, (np.ndarray, np.generic)) for a in parts.values())
        if not plain or xp is TENSORS:
            return self._recorded(parts, xp)
        cotangents = [
            np.asarray(parts[k]) if k in parts else np.zeros(shape, dtype)
            for k, (shape, dtype) in enumerate(self.outputs_meta)
        ]
        with self.program.lock:
            # a program in NumPy may have saved a number, and the one in C may be ready by now
            grads = self.program.backward.run([*map(np.asarray, self.saved_arrays), *cotangents])
        if not keep:
            self._release()
        return tuple(x for pair in zip(self.fx, grads, strict=True) for x in pair)

    def _recorded(self, parts: dict[int, Any], xp: Any) -> tuple[Any, ...]:
        if self.again is None:
            raise noted(
                RuntimeError("torch.compile with aot_autograd does not currently support double backward"),
                "Why: the compiled function overwrites what it reads, or steps an optimizer: it cannot run again.",
                "What to do: leave this function out of torch.compile.",
            )
        with grad_mode(True):
            outs = self.again(self)
        given = [(outs[k]._node, a if isinstance(a, Tensor) else wrap(a)) for k, a in parts.items()]
        grads: Any = engine.run(given, keep=True, create_graph=True, inputs=list(self.fx))
        found = [g if g is None or xp is TENSORS else g._payload for g in grads]
        return tuple(x for pair in zip(self.fx, found, strict=True) for x in pair)
