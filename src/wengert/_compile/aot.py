"""``aot_autograd``: backends that are given the forward and the backward graph of a piece, in ``torch.ops.aten``.

A piece is traced once with its backward pass, on copies of the example inputs, and the graph is cut in two
(``default_partition``): the forward graph also returns what the backward graph reads of it. What the compilers make of
the two runs as the forward and the backward step of one node. Pieces that write inputs or return parts of them, and
those that write what they have made or whose backward pass ``make_fx`` cannot write, run as they are, with a history of
their own; the forward compiler is shown their graph.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from .._base.grad_mode import no_grad
from .._base.modes import MODE
from .._tape.graph import grad
from .._tape.tensor import Tensor
from ..autograd.function import Function
from ..fx.experimental.proxy_tensor import get_proxy_mode, make_fx
from ..fx.graph import Graph
from ..fx.graph_module import GraphModule
from ..fx.node import Node
from ..random import fork_rng

_TAG = "partitioner_tag"
_WRITES = re.compile(r"[^_]_\.|setitem")


def aot_autograd(
    *,
    fw_compiler: Any = None,
    bw_compiler: Any = None,
    inference_compiler: Any = None,
    partition_fn: Any = None,
    **options: Any,
) -> Any:
    """A backend of ``torch.compile``.

    ``fw_compiler``, ``bw_compiler``: functions of a graph module and example inputs that return a callable; the second
    is the first's by default, and is called at the first backward pass. ``inference_compiler``: where nothing is
    differentiated; by default ``fw_compiler``. ``partition_fn``: what cuts the graph; by default ``default_partition``.

    >>> import wengert as torch
    >>> def shown(gm, example_inputs):
    ...     print([n.name for n in gm.graph.nodes if n.op == "call_function"])
    ...     return make_boxed_func(gm.forward)
    >>> sine = torch.compile(lambda x: x.sin(), backend=aot_autograd(fw_compiler=shown))
    >>> y = sine(torch.zeros(2, requires_grad=True))
    ['sin']
    >>> y.sum().backward()
    ['cos', 'mul']
    """
    forward = fw_compiler or (lambda gm, example_inputs: gm)
    compilers = forward, bw_compiler or forward, inference_compiler or forward

    def backend(gm: Any, example_inputs: Any) -> Any:
        with fork_rng():
            return _compiled(gm, list(example_inputs), compilers, partition_fn or default_partition)

    return backend


def make_boxed_func(f: Callable[..., Any]) -> Callable[[list[Any]], Any]:
    """A function of a list of arguments, which it may empty.

    >>> make_boxed_func(max)([1, 3, 2])
    3
    """

    def boxed(args: list[Any]) -> Any:
        return f(*args)

    boxed._boxed_call = True  # type: ignore[attr-defined]
    return boxed


def make_boxed_compiler(compiler: Callable[..., Any]) -> Callable[..., Any]:
    """A compiler whose functions take a list of arguments."""
    return lambda gm, example_inputs: make_boxed_func(compiler(gm, example_inputs))


def default_partition(
    joint_module: GraphModule, joint_inputs: Any, *, num_fwd_outputs: int, **options: Any
) -> tuple[GraphModule, GraphModule]:
    """The forward and the backward graph of a joint one, whose results are the forward ones and the gradients.

    Whatever was computed in the forward pass is computed there, and returned where the backward pass reads it.
    """
    nodes = list(joint_module.graph.nodes)
    results = list(nodes[-1].args[0])
    outs, grads = results[:num_fwd_outputs], results[num_fwd_outputs:]
    forward: set[Node] = set()
    for n in nodes[:-1]:
        if n.op == "placeholder":
            inside = not n.name.startswith("tangents")
        else:
            chosen = getattr(n.target, "__name__", "") == "getitem" or n.meta.get(_TAG) != "is_backward"
            inside = chosen and forward.issuperset(n.all_input_nodes)
        if inside:
            forward.add(n)
    later = [n for n in _needed(grads) if n not in forward]
    read = {m for n in later for m in n.all_input_nodes} | {g for g in grads if isinstance(g, Node)}
    saved = [n for n in nodes if n in read and n in forward and n.op != "get_attr"]
    inputs = [n for n in nodes if n.op == "placeholder"]
    tangents = [n for n in inputs if n not in forward]
    return (
        _part(joint_module, [n for n in inputs if n in forward], [*outs, *saved]),
        _part(joint_module, [*saved, *tangents], grads),
    )


def _needed(results: list[Any], known: Any = ()) -> set[Node]:
    """The nodes that results are made of, besides those that are known."""
    found: set[Node] = set()
    waiting = [n for n in results if isinstance(n, Node)]
    while waiting:
        n = waiting.pop()
        if n not in found and n not in known:
            found.add(n)
            waiting += n.all_input_nodes
    return found


def _part(module: GraphModule, inputs: list[Node], results: list[Any]) -> GraphModule:
    """The graph of results, between inputs."""
    graph = Graph()
    known = {n: graph.placeholder(n.name) for n in inputs}
    needed = _needed(results, known)
    for n in module.graph.nodes:
        if n in needed:
            known[n] = graph.node_copy(n, known.__getitem__)
    graph.output(tuple([known[r] if isinstance(r, Node) else r for r in results]))
    return GraphModule(module, graph)


def _example(t: Any) -> Any:
    return t.detach().clone().requires_grad_(t.requires_grad) if isinstance(t, Tensor) else t


def _compiled(gm: Any, inputs: list[Any], compilers: Any, partition: Any) -> Any:
    def positional(*args: Any) -> Any:
        return gm(*args)

    forward, backward, inference = compilers
    state = MODE.get()
    examples = list(map(_example, inputs))
    if not ((state is None or state.grad) and any(t.requires_grad for t in inputs if isinstance(t, Tensor))):
        return _by_position(inference(make_fx(positional, tracing_mode="aot")(*examples), inputs))
    outs = list(gm(*examples))
    needs = [isinstance(o, Tensor) and o.requires_grad for o in outs]
    tangents = [o.detach().clone() for o, need in zip(outs, needs, strict=True) if need]
    joint = None
    if not _touches(examples, outs):
        with suppress(NotImplementedError):  # ``make_fx`` cannot write every pass
            joint = _joint(gm, list(map(_example, inputs)), tangents)
    if joint is None or any(_WRITES.search(str(n.target)) for n in joint.graph.nodes):
        joint = None
        gc.collect()  # a graph is a cycle, and while it has a tensor of before a write, all operators are slow
        with no_grad():
            forward(make_fx(positional, tracing_mode="aot")(*map(_example, inputs)), inputs)
        return gm.forward
    made, back = partition(joint, (examples, tangents), num_fwd_outputs=len(outs))
    return _function(_by_position(forward(made, inputs)), lambda given: _by_position(backward(back, given)), needs)


def _touches(examples: list[Any], outs: list[Any]) -> bool:
    """Whether a call has written its inputs, or returns parts of them."""
    tensors = [t for t in examples if isinstance(t, Tensor)]
    memory = {t.untyped_storage().data_ptr() for t in tensors if t.numel()}
    returned = {o.untyped_storage().data_ptr() for o in outs if isinstance(o, Tensor) and o.numel()}
    return any(t._version for t in tensors) or not memory.isdisjoint(returned)


def _joint(gm: Any, primals: list[Any], tangents: list[Any]) -> GraphModule:
    """The graph of a piece and of its backward pass."""
    last: list[Node] = []

    def joint(primals: list[Any], tangents: list[Any]) -> list[Any]:
        outs = list(gm(*primals))
        last.append(next(iter(reversed(get_proxy_mode().tracer.graph.nodes))))  # type: ignore[union-attr]
        needs = [isinstance(p, Tensor) and p.requires_grad for p in primals]
        ends = [o for o in outs if isinstance(o, Tensor) and o.requires_grad]
        wanted = [p for p, need in zip(primals, needs, strict=True) if need]
        found = iter(grad(ends, wanted, tangents, allow_unused=True))
        return [*outs, *[next(found) if need else None for need in needs]]

    made = make_fx(joint, tracing_mode="aot")(primals, tangents)
    tag = "is_forward"
    for n in made.graph.nodes:
        n.meta[_TAG] = tag
        tag = "is_backward" if n.name == last[0].name else tag
    return made


def _by_position(run: Any) -> Any:
    return (lambda *args: run(list(args))) if getattr(run, "_boxed_call", False) else run


def _function(forward: Any, compile_backward: Any, needs: list[bool]) -> Any:
    """One node whose steps are what the compilers have made."""
    made: list[Any] = []  # of the backward graph

    class CompiledFunction(Function):
        @staticmethod
        def forward(ctx: Any, *primals: Any) -> Any:
            outs = forward(*primals)
            returned, saved = outs[: len(needs)], outs[len(needs) :]
            ctx.save_for_backward(*saved)
            ctx.mark_non_differentiable(
                *[o for o, need in zip(returned, needs, strict=True) if not need and isinstance(o, Tensor)]
            )
            return tuple(returned)

        @staticmethod
        def backward(ctx: Any, *cotangents: Any) -> Any:
            given = [g for g, need in zip(cotangents, needs, strict=True) if need]
            return CompiledFunctionBackward.apply(*ctx.saved_tensors, *given)

    class CompiledFunctionBackward(Function):
        @staticmethod
        def forward(ctx: Any, *given: Any) -> Any:
            if not made:
                made.append(compile_backward(list(given)))
            return tuple(made[0](*given))

        @staticmethod
        def backward(ctx: Any, *cotangents: Any) -> Any:
            raise RuntimeError("torch.compile with aot_autograd does not currently support double backward")

    return CompiledFunction.apply
