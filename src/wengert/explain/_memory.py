"""``memory``: the graphs that are alive, and what they hold."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from .._base.heap import living_of
from .._tape.node import AccumulateGrad, Box, Node, Port
from ._facts import Answer, line_of, size_text

LONG = 20  # nodes of one line in a chain: a graph that grows


def memory() -> Answer:
    """The graphs that are alive, by the line that made their last node, with the bytes of the values they have saved.

    A graph lives as long as a tensor that it leads to. One that grows with each iteration of a loop is named.

    >>> from wengert import explain
    >>> import wengert as torch
    >>> w = torch.ones(1000, requires_grad=True)
    >>> kept = [w.exp() for _ in range(3)]
    >>> "3 x" in explain.memory().text
    True
    """
    nodes = [n for n in living_of(Node) if not isinstance(n, (AccumulateGrad, Port))]
    inner = {id(edge.fx if type(edge) is Port else edge) for n in nodes for edge in n._edges() if edge is not None}
    roots = [n for n in nodes if id(n) not in inner]
    groups: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    lines: dict[str, Any] = {}
    counted: set[int] = set()
    for root in roots:
        size, count, longest = _held(root, counted)
        line = line_of(root)
        key = f"{line.file}:{line.number}" if line is not None else type(root).__name__
        groups[key].append((size, count, longest))
        lines[key] = line
    total = sum(size for found in groups.values() for size, _, _ in found)
    rows = [
        f"{len(roots)} graphs alive, {size_text(total)}" if len(roots) != 1 else f"1 graph alive, {size_text(total)}"
    ]
    for key, found in sorted(groups.items(), key=lambda item: -sum(size for size, _, _ in item[1]))[:12]:
        size, count = sum(s for s, _, _ in found), sum(c for _, c, _ in found)
        line = lines[key]
        where = line.shown("") if line is not None else key
        rows.append(f"{size_text(size):>10}  {len(found)} x  {where}   ({count} operations)")
        longest = max(l for _, _, l in found)
        if longest >= LONG:
            rows.append(f"{'':12}this line stands {longest} times in one graph: it grows with each iteration")
            rows.append(f"{'':12}Fix: add numbers, not tensors: total += loss.item()   (or loss.detach())")
    return Answer(*rows)


def _held(root: Any, counted: set[int]) -> tuple[int, int, int]:
    """The bytes of saved arrays behind a node that were not counted before, its nodes, and how many share its line."""
    own = (root._code, getattr(root, "_lasti", 0))
    seen = {id(root)}
    waiting, size, same = [root], 0, 0
    while waiting:
        node = waiting.pop()
        same += (getattr(node, "_code", None), getattr(node, "_lasti", 0)) == own
        size += _saved_bytes(node, counted)
        for edge in node._edges():
            inner = edge.fx if type(edge) is Port else edge
            if inner is not None and id(inner) not in seen and not isinstance(inner, AccumulateGrad):
                seen.add(id(inner))
                waiting.append(inner)
    return size, len(seen), same


def _saved_bytes(node: Any, counted: set[int]) -> int:
    """The bytes of the arrays in a node's slots, each memory once."""
    size = 0
    waiting = [getattr(node, slot, None) for cls in type(node).__mro__ for slot in getattr(cls, "__slots__", ())]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Box):
            value = value.a
        if isinstance(value, (tuple, list)):
            waiting += value
            continue
        while getattr(value, "base", None) is not None and hasattr(value.base, "nbytes"):
            value = value.base
        if hasattr(value, "nbytes") and hasattr(value, "dtype") and id(value) not in counted:
            counted.add(id(value))
            size += int(value.nbytes)
    return size
