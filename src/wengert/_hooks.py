"""Calling hooks during a backward pass, in PyTorch's order, with PyTorch's refusals.

For one tensor: its own hooks in the order of registration, then what ``retain_grad`` keeps (as if it were the last
hook); then the node's pre-hooks, the node, the node's post-hooks. Hooks see Tensors; the engine goes on with payloads.
"""

from __future__ import annotations

from typing import Any

from ._errors import noted
from ._grad_mode import grad_mode
from ._node import AccumulateGrad, Hooks, Node, Parts, Port
from ._registry import T
from ._tensor import Tensor, wrap


def _as_tensor(g: Any) -> Any:
    return g if g is None or isinstance(g, Tensor) else wrap(g)


def _back(value: Any, like: Any) -> Any:
    """A hook's result in the form in which the pass carries cotangents."""
    return value if isinstance(like, Tensor) or value is None else value._a


def call_tensor_hooks(n: Node, h: Hooks, g: Any, create_graph: bool) -> Any:
    """``tensor.register_hook`` hooks, then ``retain_grad``."""
    if h.tensor_pre:
        with grad_mode(create_graph):
            for hook in list(h.tensor_pre.values()):
                given = _as_tensor(g)
                result = hook(given)
                if result is not None:
                    _check_result(result, given, "register_hook")
                    g = _back(result, g)
    if h.retain is not None:
        tensor = h.retain()
        if tensor is not None:
            own = g if isinstance(g, Tensor) else wrap(g.copy())
            old = tensor.__dict__.get("_grad")
            tensor.__dict__["_grad"] = own if old is None else old + own
    return g


def _check_result(result: Any, given: Any, what: str) -> None:
    if not isinstance(result, Tensor):
        raise noted(
            TypeError(f"expected Variable, but hook returned '{type(result).__name__}'"),
            f"Why: a hook from {what} gives a new gradient (a Tensor) or None, which leaves it as it is.",
        )
    if given is None:
        return
    if tuple(result.shape) != tuple(given.shape):
        raise RuntimeError("hook '<lambda>' has changed the size of value".replace("<lambda>", what))
    if result.dtype is not given.dtype:
        raise RuntimeError(f"hook '{what}' has changed the type of value (was {_tname(given)} got {_tname(result)})")


def _tname(t: Tensor) -> str:
    return t.type()


def call_prehooks(h: Hooks, gs: tuple[Any, ...], create_graph: bool) -> tuple[Any, ...]:
    """``node.register_prehook`` hooks: each may give new grad_outputs."""
    with grad_mode(create_graph):
        for hook in list((h.pre or {}).values()):
            given = tuple(_as_tensor(g) for g in gs)
            result = hook(given)
            if result is not None:
                gs = tuple(_back(r, g) for r, g in zip(_as_tuple(result, len(gs)), gs, strict=True))
    return gs


def _as_tuple(result: Any, count: int) -> tuple[Any, ...]:
    values = result if isinstance(result, tuple) else (result,)
    if len(values) != count:
        raise RuntimeError(f"hook returned incorrect number of values: expected {count}, got {len(values)}")
    return values


def call_node(n: Node, g: Any, keep: bool, create_graph: bool) -> tuple[Any, ...]:
    """One backward step with the node's own hooks around it."""
    from ._engine import xp_of

    h = n.h
    assert h is not None
    count = max(len(getattr(n, "meta", ())), 1) if type(g) is Parts else 1
    gs = tuple(g.parts.get(k) for k in range(count)) if type(g) is Parts else (g,)
    if h.pre:
        gs = call_prehooks(h, gs, create_graph)
    g = Parts({k: v for k, v in enumerate(gs) if v is not None}) if type(g) is Parts else gs[0]
    if type(g) is Parts and not g.parts:
        return ()
    xp = T if create_graph else None if type(g) is Parts else xp_of(g)
    pairs = n.backward(xp, g, keep)
    if h.post:
        pairs = _call_posthooks(n, h, pairs, gs, create_graph)
    return pairs


def _call_posthooks(n: Node, h: Hooks, pairs: tuple[Any, ...], gs: tuple[Any, ...], create_graph: bool) -> tuple[Any, ...]:
    edges = n.edges()
    aligned: list[Any] = []
    i = 0
    for edge in edges:
        if edge is None:
            aligned.append(None)
        else:
            aligned.append(pairs[i + 1] if i < len(pairs) else None)
            i += 2
    with grad_mode(create_graph):
        for hook in list((h.post or {}).values()):
            given = tuple(_as_tensor(a) for a in aligned)
            result = hook(given, tuple(_as_tensor(g) for g in gs))
            if result is not None:
                values = _as_tuple(result, len(aligned))
                for r, v in zip(values, given, strict=True):
                    if r is not None and v is not None:
                        _check_result(r, v, "register_hook")
                raw = not any(isinstance(a, Tensor) for a in aligned)
                aligned = [r if r is None or not raw else r._a for r in values]
    flat: list[Any] = []
    for edge, value in zip(edges, aligned, strict=True):
        if edge is not None:
            flat += (edge, value)
    return tuple(flat)


__all__ = ["AccumulateGrad", "Port", "call_node", "call_prehooks", "call_tensor_hooks"]
