"""Whether nodes can become one, and nodes in the order of their uses."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from ...node import Node

__all__ = ["topo_sort", "validate_partition"]


def topo_sort(nodes: list[Node]) -> list[Node]:
    """These nodes in an order that defines before it uses, and else as they stand.

    Raises:
        AssertionError: there is none.
    """
    place = {node: i for i, node in enumerate(nodes)}
    waits = {node: sum(n in place for n in node.all_input_nodes) for node in nodes}
    ready = [i for node, i in place.items() if waits[node] == 0]
    ordered = []
    while ready:
        node = nodes[heapq.heappop(ready)]
        ordered.append(node)
        for user in node.users:
            if user in waits:
                waits[user] -= 1
                if waits[user] == 0:
                    heapq.heappush(ready, place[user])
    if len(ordered) != len(nodes):
        raise AssertionError("topological sorted nodes doesn't have same length as input nodes")
    return ordered


def validate_partition(partition: Iterable[Node]) -> bool:
    """Whether these nodes can become one: no path leaves them and comes back."""
    inside = set(partition)
    waiting = [user for node in inside for user in node.users if user not in inside]
    seen: set[Node] = set()
    while waiting:
        node = waiting.pop()
        if node in inside:
            return False
        if node not in seen:
            seen.add(node)
            waiting.extend(node.users)
    return True
