"""Calls of hooks during a backward pass, in PyTorch's order and with PyTorch's errors.

For one tensor the order is: its own hooks as registered, ``retain_grad`` (as if it were the last hook), the node's
pre-hooks, the node, the node's post-hooks. Hooks get Tensors; the engine continues with payloads.
"""

from __future__ import annotations

from typing import Any

from .._arrays.library import ARITHMETIC, silently
from .._base.constants import type_name
from .._base.errors import noted
from .._base.grad_mode import grad_mode
from .._base.registry import TENSORS
from .node import TOGETHER, AccumulateGrad, Hooks, Node, Parts, by_edge
from .saved import xp_of
from .tensor import Tensor, tensor_on


def _as_tensor(g: Any) -> Any:
    return g if g is None or isinstance(g, Tensor) else tensor_on(g)


def _back(value: Any, like: Any) -> Any:
    """Convert a hook's result to the form that the pass uses for cotangents."""
    return value if isinstance(like, Tensor) or value is None else value._payload


def before(n: Node, g: Any, create_graph: bool) -> Any:
    """Call the tensor hooks of a node's single output, then ``retain_grad``."""
    h = n._hooks
    if h is None:
        return g
    if h.grad_dtype is not None and g is not None:
        g = _in_grad_dtype(g, h.grad_dtype[0])
    if not h.tensor_pre and h.retain is None:
        return g
    return call_tensor_hooks(h, g, create_graph)


def _in_grad_dtype(g: Any, dtype: Any) -> Any:
    """Cast a leaf's cotangent to the leaf's ``grad_dtype``; ``None`` leaves it unchanged."""
    if dtype is None or g.dtype is dtype:
        return g
    return TENSORS._to_copy(g, dtype) if isinstance(g, Tensor) else g.astype(dtype)


def call_tensor_hooks(h: Hooks, g: Any, create_graph: bool) -> Any:
    """Call ``tensor.register_hook`` hooks, then ``retain_grad``; ``g`` is ``None`` if no cotangent arrived."""
    if h.tensor_pre:
        given = _as_tensor(g)  # one object for all hooks: a hook may set attributes on it for the next one
        with grad_mode(create_graph):
            g = _back(_through(h.tensor_pre, given, _check_one), g)
    if h.retain is not None and g is not None:
        tensor = h.retain()
        if tensor is not None:
            _retain(tensor, g)
    return g


def _through(hooks: Any, given: Any, check: Any, *more: Any) -> Any:
    """Call ``hook(given, *more)`` for each hook; ``check(result, given, hook)`` replaces ``given``."""
    for hook in list((hooks or {}).values()):
        result = hook(given, *more)
        if result is not None:
            given = check(result, given, hook)
    return given


def _retain(tensor: Tensor, g: Any) -> None:
    own = g.clone() if isinstance(g, Tensor) else tensor_on(g.copy())
    old = tensor.__dict__.get("_grad")
    if old is None:
        tensor.__dict__["_grad"] = own
    else:
        with grad_mode(isinstance(g, Tensor)):
            tensor.__dict__["_grad"] = old + own


# ---- refusals
def _name(hook: Any) -> str:
    return getattr(hook, "__name__", "<unknown>")


def _check_one(result: Any, given: Any, hook: Any) -> Any:
    """Check the result of a hook that must return one gradient."""
    if given is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if not isinstance(result, Tensor):
        raise noted(
            TypeError(f"expected Variable, but hook returned '{type_name(result)}'"),
            "Why: a hook gives a new gradient (a Tensor) or None, which leaves the gradient as it is.",
            f"Which: {_place(hook)}",
        )
    if result.dtype is not given.dtype:
        raise noted(
            RuntimeError(
                f"hook '{_name(hook)}' has changed the type of value (was {given.type()} got {result.type()})"
            ),
            f"Which: {_place(hook)}",
        )
    if tuple(result.shape) != tuple(given.shape):
        raise noted(
            RuntimeError(f"hook '{_name(hook)}' has changed the size of value"),
            f"Which: {_place(hook)}; it was given shape {list(given.shape)} and returned {list(result.shape)}.",
        )
    return result


def _place(hook: Any) -> str:
    code = getattr(hook, "__code__", None)
    return repr(hook) if code is None else f'File "{code.co_filename}", line {code.co_firstlineno}, in {code.co_name}'


def _check_all(result: Any, given: tuple[Any, ...], hook: Any) -> tuple[Any, ...]:
    """Check the result of a hook that must return a tuple of gradients."""
    if not isinstance(result, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type_name(result)}'")
    if len(result) != len(given):
        raise RuntimeError(
            f"hook '{_name(hook)}' has returned an incorrect number of values (got {len(result)}, but expected "
            f"{len(given)})"
        )
    for r, g in zip(result, given, strict=True):
        if r is not None:
            _check_one(r, g, hook)
    return result


# ---- node hooks
def call_prehooks(h: Hooks, gs: tuple[Any, ...], create_graph: bool) -> tuple[Any, ...]:
    """Call ``node.register_prehook`` hooks: each may return new grad_outputs."""
    given = tuple(_as_tensor(g) for g in gs)
    with grad_mode(create_graph):
        given = _through(h.pre, given, _check_all)
    return tuple(_back(r, g) for r, g in zip(given, gs, strict=True))


def backward_of(n: Node, g: Any, keep: bool, create_graph: bool) -> tuple[Any, ...]:
    """Run one backward step without hooks."""
    xp = TENSORS if create_graph else None if type(g) is Parts else xp_of(g)
    try:
        return n.backward(xp, g, keep)
    except ARITHMETIC:
        return in_silence(n, xp, g, keep)


def in_silence(n: Node, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
    """Run a formula again without NumPy's warnings, which the program makes errors, after it met inf or nan.

    A formula frees its saved values only at its end, so it can run again; a user's function does not run again.
    """
    if n.by_user:
        raise  # noqa: PLE0704 - called while the error is being handled
    return silently(n.backward, xp, g, keep)


def count_outputs(n: Node) -> int:
    """How many cotangents a node takes: an operator's last outputs have none if they are integers, such as indices."""
    metas = getattr(n, "outputs_meta", ())
    count = len(metas)
    while count > 1 and not n.by_user and (dtype := metas[count - 1][1]) is not None and dtype.kind not in "fcV":
        count -= 1
    return max(count, 1)


def call_node(n: Node, g: Any, keep: bool, create_graph: bool) -> tuple[Any, ...]:
    """Run one backward step between the node's own hooks."""
    h = n._hooks
    assert h is not None
    many = type(g) is Parts
    gs = tuple(g.parts.get(k) for k in range(count_outputs(n))) if many else (g,)
    if h.ports is not None:
        _tell_ports(h.ports, gs, create_graph)
    if h.pre:
        gs = call_prehooks(h, gs, create_graph)
    if many:
        g = Parts({k: v for k, v in enumerate(gs) if v is not None})
        nothing = not g.parts
    else:
        g = gs[0]
        nothing = g is None
    if nothing and not n.runs_on_nothing:
        pairs = tuple(x for m in n._edges() if m is not None for x in (m, None))
    else:
        pairs = backward_of(n, Parts({}) if nothing else g, keep or bool(h.post), create_graph)
    if h.post:
        pairs = call_posthooks(n, pairs, create_graph, gs)
        if not keep:  # not before: hooks may read the saved values
            n._release()
    return pairs


def _tell_ports(ports: dict[int, Any], gs: tuple[Any, ...], create_graph: bool) -> None:
    """Call the hooks of those outputs of a node that got no cotangent: they get ``None``, as in PyTorch."""
    for k, reference in list(ports.items()):
        port = reference()
        if gs[k] is None and port is not None and port._hooks is not None:
            call_tensor_hooks(port._hooks, None, create_graph)


def call_on_nothing(n: Node, h: Hooks, create_graph: bool) -> None:
    """Call the node's hooks if no cotangent arrived: they get ``None`` and can change nothing."""
    count = count_outputs(n)
    if h.ports is not None:
        _tell_ports(h.ports, (None,) * count, create_graph)
    gs = call_prehooks(h, (None,) * count, create_graph)
    if h.post:
        call_posthooks(n, tuple(x for m in n._edges() if m is not None for x in (m, None)), create_graph, gs)


def call_posthooks(n: Node, pairs: tuple[Any, ...], create_graph: bool, gs: Any = None) -> tuple[Any, ...]:
    """Call ``node.register_hook`` hooks: each may return new grad_inputs, one for each edge.

    ``gs``: the grad_outputs; as in PyTorch, hooks that were registered while the node ran are given ``None`` for them,
    and for grad_inputs that a pass limited to some inputs does not ask for, unless they are computed together.
    """
    if gs is None:
        gs = (None,) * count_outputs(n)
    edges = n._edges()
    aligned = by_edge(n, pairs)
    if not n.by_user and getattr(n, "operator", "") not in TOGETHER:  # a user's function computes all
        from .engine import current_pass  # seldom needed

        now = current_pass()
        aligned = [g if now is None or now.asks_for(m) else None for m, g in zip(edges, aligned, strict=True)]
    given, outputs = tuple(_as_tensor(a) for a in aligned), tuple(_as_tensor(g) for g in gs)
    with grad_mode(create_graph):
        given = _through(n._hooks.post, given, _check_all, outputs)
    aligned = [_back(r, a) for r, a in zip(given, aligned, strict=True)]
    return tuple(x for edge, value in zip(edges, aligned, strict=True) if edge is not None for x in (edge, value))


Node.call_posthooks = call_posthooks  # for what this module must not be imported by


def call_leaf_hooks(m: AccumulateGrad, h: Hooks, g: Any, create_graph: bool) -> None:
    """Call the hooks after accumulation into a leaf's ``.grad``: those of the leaf, then those of its node."""
    if h.post_accumulate or h.post:
        with grad_mode(create_graph):
            if h.post_accumulate:
                _through(h.post_accumulate, m.variable, _refuse_result)
            if h.post:
                _through(h.post, (), _check_all, (_as_tensor(g),))
    if h.done:
        for hook in tuple(h.done.values()):
            hook()


def _refuse_result(result: Any, given: Any, hook: Any) -> None:
    """A hook after accumulation must return None."""
    if not isinstance(result, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type_name(result)}'")
    raise RuntimeError("Tensor post accumulate grad hooks should return None.")


__all__ = ["backward_of", "before", "call_leaf_hooks", "call_node", "call_on_nothing", "call_posthooks",
           "call_prehooks", "call_tensor_hooks", "count_outputs", "in_silence"]  # fmt: skip
