"""Queries about the running backward pass, by PyTorch's names in ``torch._C``."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from sys import _getframe as getframe
from typing import Any

from .._tape import delivery, engine
from .._tape.engine import current_pass
from .._tape.node import AccumulateGrad, Node, Port

__all__: list[str] = []

_numbers = count()


def _current_graph_task_id() -> int:
    """A number of the pass that is running in this thread, or -1."""
    now = current_pass()
    if now is None:
        return -1
    return now.id


def _current_autograd_node() -> Node | None:
    """The node that the pass has come to: a local variable of the engine's (its NOTE [ Found on the stack ])."""
    names = {
        engine._walk.__code__: "n",
        engine._run_node.__code__: "n",
        engine._run_for.__code__: "n",
        delivery.accumulate.__code__: "m",
    }
    frame: Any = getframe(1)
    while frame is not None:
        name = names.get(frame.f_code)
        if name is not None:
            n = frame.f_locals.get(name) or frame.f_locals.get("m")  # leaves come last
            return n.fx if type(n) is Port else n
        frame = frame.f_back
    return None


def _will_engine_execute_node(node: Any) -> bool:
    """Whether the running pass will run this node or has run it."""
    if not isinstance(node, Node):
        raise RuntimeError(f"_will_engine_execute_node expects an grad_fn, but got {type(node).__name__}")
    now = current_pass()
    if now is None:
        raise RuntimeError("_get_should_execute_nodes should only be called during the backward pass")
    if type(node) is AccumulateGrad:
        refuse_leaf(now)
    nodes = now.nodes()
    return node in nodes or any(type(n) is Port and n.fx is node for n in nodes)


def refuse_leaf(now: Any) -> None:
    """The error about a leaf in a pass of ``autograd.grad``, where no leaf runs."""
    if now.returned:
        raise RuntimeError(
            "A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). This "
            "is currently not supported."
        )


def _current_graph_task_execution_order() -> list[Node]:
    """The nodes of the running pass, in the order of execution."""
    from .grad_mode import is_multithreading_enabled

    now = current_pass()
    if now is None:
        raise RuntimeError("_current_graph_task_execution_order should only be called during the backward pass")
    if is_multithreading_enabled():
        raise RuntimeError(
            "get_current_graph_task_execution_order expects the current backward to be executed with multithreading "
            "disabled, e.g. by running:\n\n>>> with torch.autograd.set_multithreading_enabled(False):\n"
            "...     torch.autograd.grad(...)\n"
        )
    nodes = {n.fx if type(n) is Port else n for n in now.nodes()}
    waiting: dict[Node, int] = {}
    for n in nodes:
        for m in _targets(n, nodes):
            waiting[m] = waiting.get(m, 0) + 1
    ready: list[tuple[float, int, Node]] = []
    order: list[Node] = []
    number = count()
    for n in {r.fx if type(r) is Port else r for r, _ in now.roots}:
        if n not in waiting:
            heappush(ready, (-(n._seq or float("inf")), next(number), n))
    while ready:
        n = heappop(ready)[2]
        order.append(n)
        for m in _targets(n, nodes):
            waiting[m] -= 1
            if not waiting[m]:
                heappush(ready, (-(m._seq or float("inf")), next(number), m))
    return order


def _targets(n: Node, among: set[Node]) -> list[Node]:
    edges = (m.fx if type(m) is Port else m for m in n._edges() if m is not None)
    return [m for m in edges if m in among]
