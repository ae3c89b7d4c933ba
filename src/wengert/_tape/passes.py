"""A backward pass as an object, which hooks and users' functions can query, and its searches of the graph."""

from __future__ import annotations

import operator
from itertools import count
from typing import Any

from numpy import ndarray

from .._arrays import shared_ufuncs
from .._arrays.library import ARITHMETIC, silently
from .node import Node, Parts, Port

_numbers = count()


class Pass:
    """One backward pass: its settings, and the sums of its cotangents.

    A first cotangent is borrowed, a sum is owned. The sets are made on first use.
    """

    roots: list[tuple[Node, Any]]
    inputs: list[Node] | None = None  # the pass is limited to nodes that lead to these
    only: tuple[Any, ...] | None = None  # the nodes of such a pass: those of ``inputs``, and those that lead to them
    keep = False  # whether nodes keep their saved values
    returned = False  # whether the program wants only the cotangents of ``inputs``, as in autograd.grad
    callbacks: list[Any] | None = None  # the functions given to queue_callback
    number: int | None = None  # see ``id``
    owned: set[Node] | None = None
    told: set[Node] | None = None  # nodes that may get no cotangent, already handled by _nothing_for

    @property
    def id(self) -> int:
        """The number of the pass, for code that must not hold the pass itself, which keeps the graph alive."""
        if self.number is None:
            self.number = next(_numbers)
        return self.number

    def add(self, node: Node, old: Any, new: Any) -> Any:
        """The sum of a node's previous cotangent and a new one."""
        if type(old) is Parts:
            for k, g in new.parts.items():
                old.parts[k] = g if k not in old.parts else old.parts[k] + g
            return old
        if old is None:  # a leaf with one edge that has no cotangent
            return new
        plus = operator.add
        if type(old) is ndarray and type(new) is ndarray:
            plus = shared_ufuncs.add
            owned = self.owned
            if owned is None:
                owned = self.owned = set()
            elif node in owned and old.dtype is new.dtype:
                try:
                    plus(old, new, old)
                except ARITHMETIC:  # NumPy raises for inf - inf after the sum is computed
                    return old
                return old
            owned.add(node)
        try:
            return plus(old, new)
        except ARITHMETIC:
            return silently(plus, old, new)

    def nodes(self) -> set[Node]:
        """All nodes that this pass runs or returns."""
        if self.inputs is not None:
            wanted = {m: m for m in self.inputs}
            roots = {n for n, _ in self.roots}
            needed = leading_to(list(roots), wanted)
            return needed | set(wanted).intersection(roots.union(*(n._edges() for n in needed)))
        stack = [n for n, _ in self.roots]
        seen = set(stack)
        while stack:
            for m in stack.pop()._edges():
                if m is not None and m not in seen:
                    seen.add(m)
                    stack.append(m)
        return seen


def call_back(callbacks: list[Any]) -> None:
    i = 0
    while i < len(callbacks):  # a callback may queue another one
        callbacks[i]()
        i += 1


# ---- looking through a graph
def leading_to(roots: list[Node], wanted: dict[Node, Node]) -> set[Node]:
    """The nodes from which at least one edge leads to a wanted node; iterative, because graphs are deep.

    An output of a node may have several ports (one for each time that it was saved and restored): the ports of a
    wanted output are added to ``wanted``.
    """
    lowest = -1 if Node.renumbered else min((n.fx._seq if type(n) is Port else n._seq for n in wanted), default=0)
    ports = {(n.fx, n.k): n for n in wanted if type(n) is Port}
    seen = set(roots)
    stack = list(seen)
    found: list[tuple[int, Any, Any]] = []
    while stack:
        n = stack.pop()
        if ports and type(n) is Port and (n.fx, n.k) in ports:
            wanted[n] = ports[n.fx, n.k]
        if n._seq > lowest:  # a node older than the oldest wanted node cannot lead to one
            edges = n._edges()
            found.append((n._seq, n, edges))
            for m in edges:
                if m is not None and m not in seen:
                    seen.add(m)
                    stack.append(m)
    found.sort(key=operator.itemgetter(0))  # oldest first: a node points only to older nodes
    needed: set[Node] = set()
    before = -1
    while len(needed) > before:
        before = len(needed) if Node.renumbered else len(found)
        for _, n, edges in found:
            for m in edges:
                if m in wanted or m in needed:
                    needed.add(n)
                    break
    return needed


def leaf_schedule(roots: list[Node]) -> list[tuple[int, int, Any]]:
    """``(sequence number, order, leaf)``, youngest last: a leaf is complete once its oldest user has run.

    PyTorch accumulates into a leaf as soon as its gradient is complete. Only hooks of leaves can observe the order, so
    the graph is searched beforehand only if there are such hooks.
    """
    oldest: dict[Node, tuple[int, int]] = {}
    seen: set[Node] = set(roots)
    stack = list(roots)
    for root in roots:
        if not root._seq:
            oldest[root] = (1 << 62, 0)
    while stack:
        n = stack.pop()
        for k, m in enumerate(n._edges()):
            if m is None:
                continue
            if not m._seq:
                if m not in oldest or n._seq < oldest[m][0]:
                    oldest[m] = (n._seq, k)
            if m not in seen:
                seen.add(m)
                stack.append(m)
    return sorted(((seq, -k, m) for m, (seq, k) in oldest.items()), key=lambda entry: entry[:2])
