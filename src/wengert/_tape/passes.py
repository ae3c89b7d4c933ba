"""A backward pass as an object, which hooks and users' functions can ask for; and what it finds out before it runs."""

from __future__ import annotations

from itertools import count
from operator import itemgetter
from typing import Any

import numpy as np

from .._arrays.library import ARITHMETIC, silently
from .node import Node, Parts, Port
from .tensor import Tensor

_numbers = count()


class Pass:
    """One backward pass: what it was asked for, and the sums of its cotangents.

    A first cotangent is borrowed, a sum is owned. Its sets are made when they are needed.
    """

    roots: list[tuple[Node, Any]]
    inputs: list[Node] | None = None  # of a pass that runs only what leads to these
    keep = False  # whether saved values are kept
    returned = False  # whether what arrives at ``inputs`` is all that was asked for: a pass of autograd.grad
    callbacks: list[Any] | None = None  # what queue_callback was given
    number: int | None = None  # see ``id``
    owned: set[Node] | None = None
    told: set[Node] | None = None  # nodes that nothing may arrive at, and that were looked through (_nothing_for)

    @property
    def id(self) -> int:
        """A number of its own: what refers to the pass itself keeps its graph alive."""
        if self.number is None:
            self.number = next(_numbers)
        return self.number

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

    def nodes(self) -> set[Node]:
        """All nodes that this pass runs or returns."""
        if self.inputs is not None:
            wanted = {m: m for m in self.inputs}
            needed = leading_to([n for n, _ in self.roots], wanted)
            return needed | set(wanted)
        stack = [n for n, _ in self.roots]
        seen = set(stack)
        while stack:
            for m in stack.pop().edges():
                if m is not None and m not in seen:
                    seen.add(m)
                    stack.append(m)
        return seen


def call_back(callbacks: list[Any]) -> None:
    i = 0
    while i < len(callbacks):  # a callback may queue another one
        callbacks[i]()
        i += 1


# --------------------------------------------------------------------------------------------- looking through a graph
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


def leaf_schedule(roots: list[Node]) -> list[tuple[int, int, Any]]:
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
