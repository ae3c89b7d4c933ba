"""Where each value of a plan lies: shapes and strides of views, without their memory.

A view's function is called on an array of the right size that is never written, so that the layout is what eager's
view has. What copies instead (a reshape of a transposed matrix) shows by memory of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..plan import Plan
from ..tape import OPTIMIZER_STEP, Constant, Input, Op, Ref, Value
from .pieces import Place, dense_strides

# Their results lie in the operand's memory where they can.
RESHAPES = frozenset(("view", "reshape", "unsqueeze_dim", "squeeze_dim", "squeeze_dims", "squeeze_all", "alias"))


# The operands in whose order the results of some operators lie, since what they are views of is read next.
_AS: dict[str, Any] = {
    "attention": lambda op: op.args[:1],
    "attention_backward": lambda op: [a for a, need in zip(op.args[1:4], op.p[2], strict=True) if need],
}


def _ordered(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of an array without gaps whose first dims lie in the order of others'; its rows lie as they are."""
    n = len(shape)
    if len(strides) != n:
        return dense_strides(shape)
    order = [*sorted(range(n - 1), key=lambda d: -strides[d]), n - 1]
    dense = dense_strides(tuple([shape[d] for d in order]))
    return tuple([dense[order.index(d)] for d in range(n)])


def empty_like_strides(a: Any, strides: tuple[int, ...]) -> Any:
    """A new array whose dims lie in the order of these strides."""
    order = sorted(range(a.ndim), key=lambda d: -strides[d])
    made = np.empty([a.shape[d] for d in order], a.dtype)
    return made.transpose(np.argsort(order))


def _stand_in(value: Value) -> Any:
    """An array with the layout of an input; nothing is written to it."""
    strides = getattr(value, "strides", None)
    if strides is None or not value.size:
        return np.empty(value.shape, value.dtype)
    if any(s < 0 for s in strides):
        raise ValueError("an operand has negative strides")
    last = sum((n - 1) * s for n, s in zip(value.shape, strides, strict=True))
    memory = np.empty(last // value.dtype.itemsize + 1, value.dtype)
    return np.lib.stride_tricks.as_strided(memory, value.shape, strides)


class Layout:
    """``places``: of each value; ``numbers``: values that are one Python number; ``copies``: views that copy;
    ``written``: results that lie in an operand's memory.

    ``place.memory`` is the number of the value that the memory belongs to.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.places: dict[int, Place] = {}
        self.numbers: dict[int, Any] = {}
        self.copies: set[int] = set()
        self.views: set[int] = set()
        self.written: set[int] = set()
        self._stands: dict[int, Any] = {}
        for value in plan.values:
            if isinstance(value.source, Input):
                self._given(value.number, _stand_in(value))
            elif isinstance(value.source, Constant):
                a = np.asarray(value.source.array)
                self._given(value.number, a)
                number = value.source.number
                if number is not None:
                    self.numbers[value.number] = number
        for op in plan.ops:
            self._result(op)

    def _given(self, number: int, a: Any) -> None:
        if type(a) is not np.ndarray or any(s % a.dtype.itemsize for s in a.strides):
            raise ValueError("an operand is no array")
        self.places[number] = Place(number, 0, a.dtype, a.shape, tuple([s // a.dtype.itemsize for s in a.strides]))
        self._stands[number] = a

    def _stand(self, r: int) -> Any:
        """An array of a value's layout."""
        if r not in self._stands:
            place = self.places[r]
            if place.memory != r:  # a parameter after its step
                return self._stand(place.memory)
            self._stands[r] = empty_like_strides(place, place.strides)
        return self._stands[r]

    def _result(self, op: Op) -> None:
        if op.info is OPTIMIZER_STEP or op.name == "_add_product":
            self.places[op.outs[0]] = self.places[op.args[0]]
            self.written.add(int(op.outs[0]))
            return
        shares = op.is_view or op.name in RESHAPES
        if shares and len(op.args) == 1 and isinstance(op.args[0], Ref) and self._view(op):
            return
        as_these = _AS.get(op.name, lambda op: [None] * len(op.outs))(op)
        for o, a in zip(op.outs, as_these, strict=True):
            v = self.plan.values[o]
            strides = dense_strides(v.shape) if a is None else _ordered(v.shape, self.places[a].strides)
            self.places[int(o)] = Place(int(o), 0, v.dtype, v.shape, strides)

    def _view(self, op: Op) -> bool:
        source = op.args[0]
        given = self._stand(source)
        made = op.lowered(given, *op.p)
        results = list(made) if op.many else [made]
        root = self._stand(self.places[source].memory)
        begin = root.__array_interface__["data"][0]
        found = []
        for a in results:
            item = a.dtype.itemsize
            inside = type(a) is np.ndarray and np.may_share_memory(a, root) and a.dtype == root.dtype
            if (not inside and a.size) or any(s % item for s in a.strides):
                self.copies.update(map(int, op.outs))
                return False
            at = (a.__array_interface__["data"][0] - begin) // item if a.size else 0
            found.append(Place(self.places[source].memory, at, a.dtype, a.shape, tuple([s // item for s in a.strides])))
        for o, place, a in zip(op.outs, found, results, strict=True):
            self.places[int(o)], self._stands[int(o)] = place, a
            self.views.add(int(o))
            if int(source) in self.numbers:
                self.numbers[int(o)] = self.numbers[int(source)]
        return True

    def forget(self) -> None:
        """Let go of the arrays that stood for memory."""
        self._stands.clear()
