"""What a call returns: values of its tape, inputs, and tensors that show the memory of either.

A program makes a tensor that shows another one's memory as the call made it, by the same views and ``detach``, so that
the two have one version count and, where it is recorded, one history.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from .._arrays.memory import storage_of
from .._base.dtypes import Size
from .._base.exports import is_ours
from .._tape.inference import is_inference
from .._tape.node import AccumulateGrad, view_of
from .._tape.tensor import Tensor, in_memory
from .._tape.view_chain import sharing
from ..utils._pytree import tree_flatten
from .values import same_array


def flattened(out: Any) -> tuple[list[Any], Any]:
    """``tree_flatten`` of what a call returns, whose sizes come back as sizes and not as tuples."""
    return tree_flatten(out, is_leaf=lambda x: type(x) is Size)


class Result:
    """How a program makes one tensor of its result.

    ``kind``: ``"value"`` (``at`` is the index among the tape's results); else what ``chain`` makes of ``"input"``
    ``at``, of the ``"gradient"`` of input ``at``, or of ``"result"`` ``at``. ``output``: its number among the node's
    outputs, or ``None``. ``version``: of a value, after the call's writes.
    """

    def __init__(self, kind: str, at: int, chain: Any = (), version: int = 0) -> None:
        self.kind = kind
        self.at = at
        self.chain = chain
        self.version = version
        self.output: int | None = None


def shown(t: Tensor, chain: Any) -> Tensor:
    """What views and other aliases make of a tensor."""
    for info, p in chain:
        if isinstance(info, str):
            t = t.detach() if info == "detach" else t.data
        else:
            t = info.op(t, *p) if info.outputs == 1 else info.op(t, *p[:-1])[p[-1]]
    return t


class Returned:
    """The results of a call: ``results``; ``leaves``: ``Result`` or a constant; ``outputs``: those with a history."""

    def __init__(self, tracer: Any, index: dict[int, int], r: Any) -> None:
        self.tracer = tracer
        self.known = {t: ("input", k) for t, k in index.items()}
        entries = list(tracer.lifted.values())
        self.known.update((id(entries[k].node.grad), ("gradient", k)) for k, at in r.grads if at is not None)
        self.r = r
        self.results: list[Result] = []
        self.outputs: list[Tensor] = []

    def found(self, leaves: list[Any]) -> str | None:
        """Find how a program makes each leaf; or why it cannot."""
        tensors = list({id(t): t for t in leaves if isinstance(t, Tensor)}.values())
        paths = {id(t): self._path(t) for t in tensors}
        shows = Counter(id(path[-1]) for path in paths.values())
        values: dict[int, int] = {}
        known: dict[int, Result] = {}
        for t in tensors:
            path = paths[id(t)]
            if id(path[-1]) not in self.known and shows[id(path[-1])] == 1:
                path = [t]
            of = path[-1]
            if id(of) not in values and id(of) not in self.known:
                tracked = any(x._node is not None for x in tensors if paths[id(x)][-1] is of)
                reason = self._value(of, tracked or of is t)
                if reason is not None:
                    return reason
                values[id(of)] = len(self.results) - 1
            if id(of) in self.known:
                known[id(t)] = Result(*self.known[id(of)], _chain(path))
            elif t is of:
                known[id(t)] = self.results[values[id(of)]]
                continue
            else:
                known[id(t)] = Result("result", values[id(of)], _chain(path))
            reason = self._again(t, path, known[id(t)].chain) if t is not of else None
            if reason is not None:
                return reason
            self.results.append(known[id(t)])
        for leaf in leaves:
            if not isinstance(leaf, Tensor) and not _plain(leaf):
                return f"a result of type {type(leaf).__name__}"
        self.leaves = [known[id(x)] if isinstance(x, Tensor) else x for x in leaves]
        return None

    def _path(self, t: Tensor) -> list[Tensor]:
        """A tensor and those whose memory it shows, up to an input or a gradient."""
        path = []
        for x in sharing(t):
            path.append(x)
            if id(x) in self.known:
                break
        return path

    def _again(self, t: Tensor, path: list[Tensor], chain: Any) -> str | None:
        """Make a result as the program will; or say why that is not what the call has made."""
        if type(t) is not Tensor or id(t) in self.tracer.before:
            return "a result that is no tensor of the call"
        try:
            made = shown(path[-1], chain)
        except (RuntimeError, ValueError, IndexError):
            return "a view whose base was given another shape"
        a, now = in_memory(t._payload), in_memory(made._payload)
        if not isinstance(a, (np.ndarray, np.generic)) or not isinstance(now, (np.ndarray, np.generic)):
            return "a result that is no plain tensor"
        same = (made._node is None) == (t._node is None) and _ways(made, path[-1]) == _ways(t, path[-1])
        if not same or a.strides != now.strides or not same_array(np.asarray(a), np.asarray(now)):
            return "a result that shares memory in another way than it was made"
        t._payload = made._payload
        return None

    def _value(self, t: Tensor, tracked: bool) -> str | None:
        """Make a tensor a result of the tape; ``tracked``: whether a result has its history."""
        if type(t) is not Tensor or id(t) in self.tracer.before:
            return "a result that is no tensor of the call"
        if type(t._node) is AccumulateGrad:
            return "a new leaf that requires grad"
        if is_inference(t):
            return "an inference tensor is returned"
        a = in_memory(t._payload)
        if not isinstance(a, (np.ndarray, np.generic)):
            return "a result that is no plain tensor"
        if id(storage_of(a)) in self.tracer.owners and a.size:
            return "a result that shares memory with an input"
        made = Result("value", self.r.add(self.tracer.captured(t)._payload), version=t._version)
        if t._node is not None and tracked:
            made.output = len(self.outputs)
            self.outputs.append(t)
        self.results.append(made)
        return None


def _chain(path: list[Tensor]) -> list[Any]:
    """The steps from the last tensor of a path to the first."""
    steps: list[Any] = []
    for t in path[:-1]:
        if (view := view_of(t)) is not None:
            steps.append(view[1:3])
        else:
            steps.append(("detach" if t.__dict__["_alias_of"][1] else "data", ()))
    return steps[::-1]


def _ways(t: Tensor, of: Tensor) -> list[int]:
    """How the views between two tensors were made: under which mode, by which kind of operator."""
    found = []
    for x in sharing(t):
        if x is of:
            break
        view = view_of(x)
        found.append(-1 if view is None else int(view[3]))
    return found


def _plain(leaf: Any) -> bool:
    return leaf is None or isinstance(leaf, (int, float, complex, bool, str, bytes)) or is_ours(type(leaf).__module__)
