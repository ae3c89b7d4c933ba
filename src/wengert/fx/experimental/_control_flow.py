"""``cond`` and loops in graphs: one node, and a graph for each function that the program gave.

A function runs on inputs of its own, and what it takes from outside (``lift``) becomes further operands. All branches
run on the example; what the node gives is what the program's call gives.
"""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import wengert as torch

from ..._base.errors import noted
from ..._tape.tensor import Tensor
from ...nn.modules.module import Module
from ...utils import _pytree as pytree
from ...utils._aten import OpOverload
from ...utils._higher_order import HigherOrderOperator, cond, map_impl, scan, while_loop
from ..graph import Graph
from ..graph_module import GraphModule
from ..node import Node
from ._makers import memory_of
from ._symbols import hint_of

_NAMES = {
    "cond": ("true_graph", "false_graph"), "while_loop": ("while_loop_cond_graph", "while_loop_body_graph"),
    "map_impl": ("body_graph",), "scan": ("scan_combine_graph",),
}  # fmt: skip
_OF_INPUTS = ("val", "tensor_meta", "symbolic_shape", "symbol", "hint")


def refused(why: str, *notes: str) -> Exception:
    """PyTorch's error for a function that no graph can hold."""
    error = torch._dynamo.exc.UncapturedHigherOrderOpError(
        "This higher order operator doesn't work unless it is captured completely with torch.compile. Got graph "
        f"break/error:\n\n{why}"
    )
    return noted(error, *notes)


def written(tracer: Any, op: HigherOrderOperator, args: Any) -> Any:
    """Write a call, and give its results in the example.

    Raises:
        UncapturedHigherOrderOpError: a function writes to its inputs or returns them, or branches differ in results.
    """
    with tracer.dispatch.silent(), torch.no_grad():
        inputs = [(t[0] if k == op.sliced else t).detach().clone() for k in op.operands for t in args[k]]
        call = [tracer.create_arg(args[0]) if op is cond else None, *args[1:]]
        for k in op.operands:
            nodes = [tracer.create_arg(t) for t in args[k]]
            call[k] = nodes if op in (map_impl, scan) and k != 3 else tuple(nodes)
    made = [_traced(tracer, op, args[k], inputs, call) for k in op.functions]
    _compare(op, made, inputs)
    for place, name, inner in zip(op.functions, _NAMES[op.name()], made, strict=True):
        k = next(k for k in itertools.count() if not hasattr(tracer.root, f"{name}_{k}"))
        setattr(tracer.root, f"{name}_{k}", inner.module)
        call[place] = tracer.create_node("get_attr", f"{name}_{k}", (), {})
    node = tracer.create_node("call_function", op, tuple(call), {}, name=op.name())
    modules = [inner.module for inner in made]
    given = [t for k in op.operands for t in args[k]]
    free = lift(node, modules)
    if tracer.names_operands and not tracer.around:
        _name_inputs(node, tracer.root)
    values = [_value(tracer, n) for n in free]
    example: list[Any] = list(args)
    example[0] = hint_of(args[0])
    example[-1] = [*args[-1], *values]
    for k, module in zip(op.functions, modules, strict=True):
        example[k] = module
    with tracer.dispatch.silent(), torch.no_grad():
        results = [t.clone() for t in op.run(*example)]
    _note_results(tracer, node, results, made[-1].outputs, op)
    given += values
    if torch.is_grad_enabled() and any(isinstance(t, Tensor) and t.requires_grad for t in given):
        rows = len(args[1]) if op is map_impl else len(given)
        results = _Written.apply(tracer.dispatch, op, args[0], modules, results, rows, *given)
        with tracer.dispatch.silent():
            for result, item in zip(results, list(node.users), strict=True):
                tracer.note(result, item)
    return tuple(results)


def _value(tracer: Any, node: Node) -> Any:
    """What a function takes from outside, with its history, or a number in the example."""
    if node in tracer.taken:
        return tracer.taken[node]
    if node.op == "get_attr":
        return tracer.constant_of(node)
    return node.meta["hint"]


class _Written(torch.autograd.Function):
    """A call with a history: its backward step is a call of the same operator."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any, mode: Any, op: Any, pred: Any, modules: Any, results: Any, rows: int, *given: Any
    ) -> Any:
        ctx.mode, ctx.op, ctx.pred, ctx.modules, ctx.rows = mode, op, pred, modules, rows
        ctx.save_for_backward(*given)
        with mode.silent():
            return tuple([t.detach() for t in results])

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        op, rows, given = ctx.op, ctx.rows, ctx.saved_tensors
        if op not in (cond, map_impl) or None in given:
            raise NotImplementedError(f"make_fx: the gradient of this {op.name()} cannot be written")
        with ctx.mode.silent():
            for g in grads:
                ctx.mode.tracer.node_of(g)  # a pass may begin here
        wanted = [k for k in range(len(given)) if ctx.needs_input_grad[k + 6]]
        steps = [_step(ctx.mode, module, wanted, rows, len(grads)) for module in ctx.modules]
        if op is cond:
            made = cond(ctx.pred, *steps, (*given, *grads))
        else:
            made = map_impl(*steps, [*given[:rows], *grads], given[rows:])
        found: list[Any] = [None] * len(given)
        for k, g in zip(wanted, made, strict=True):
            found[k] = g.sum(0) if op is map_impl and k >= rows else g
        return (*[None] * 6, *found)


def _step(mode: Any, module: GraphModule, wanted: list[int], rows: int, count: int) -> Any:
    """The gradients of a module's ``wanted`` inputs, with ``count`` cotangents after the first ``rows``."""

    def step(*tensors: Tensor) -> list[Tensor]:
        with mode.silent():
            given = [*tensors[:rows], *tensors[rows + count :]]
            inputs = [t.detach().requires_grad_(k in wanted) for k, t in enumerate(given)]
        with torch.enable_grad():
            made = pytree.tree_leaves(module(*inputs))
        pairs = [(t, g) for t, g in zip(made, tensors[rows : rows + count], strict=True) if t.requires_grad]
        asked = [inputs[k] for k in wanted]
        ends, cotangents = zip(*pairs, strict=True) if pairs else ((), ())
        found = torch.autograd.grad(ends, asked, cotangents, allow_unused=True) if pairs else [None] * len(asked)
        return [_zeros(mode, t) if g is None else g for t, g in zip(asked, found, strict=True)]

    step.may_alias = True  # type: ignore[attr-defined]
    return step


def _note_results(tracer: Any, node: Node, results: list[Tensor], outputs: list[Node], op: HigherOrderOperator) -> None:
    """Give each result its node, of other sizes where those of the function's results are."""
    for i, (result, output) in enumerate(zip(results, outputs, strict=True)):
        item = tracer.create_node("call_function", operator.getitem, (node, i), {})
        with tracer.dispatch.silent():
            tracer.note(result, item)
        if tracer.numbers is not None:
            stacked = op is map_impl or (op is scan and i >= len(node.args[1]))  # type: ignore[arg-type]
            rows = node.args[op.sliced][:1] if stacked else ()  # type: ignore[index]
            tracer.numbers.follow(item, _stacked if stacked else _same, output, *rows)
    node.meta["val"] = tuple([n.meta["val"] for n in node.users])


def _same(t: Tensor) -> Tensor:
    return t


def _row(t: Tensor) -> Tensor:
    return t[0]


def _stacked(t: Tensor, xs: Tensor) -> Tensor:
    return t.expand(len(xs), *t.shape)


def _zeros(mode: Any, like: Tensor) -> Tensor:
    with mode.silent():  # a backward pass runs without the mode that writes functions which make tensors
        zeros = torch.zeros_like(like)
        how = {"pin_memory": False}
        mode.tracer.note(zeros, mode.tracer.call(torch.ops.aten.zeros_like.default, (mode.tracer.node_of(like),), how))
    return zeros


class _Inner(NamedTuple):
    """A function's graph as a module, the nodes of its results, and those in the example."""

    module: GraphModule
    outputs: list[Node]
    results: list[Tensor]


def _traced(tracer: Any, op: HigherOrderOperator, function: Any, inputs: list[Tensor], call: list[Any]) -> _Inner:
    """The graph of a function, which is given copies of operands."""
    sources = [(n, _row if k == op.sliced else _same) for k in op.operands for n in call[k]]
    with _apart(tracer):
        given = []
        for i, (t, (source, part)) in enumerate(zip(inputs, sources, strict=True)):
            node = tracer.graph.placeholder(f"arg{i}_1")
            with tracer.dispatch.silent(), torch.no_grad():
                given.append(t.clone())
                tracer.note(given[-1], node)
            if tracer.numbers is not None:
                tracer.numbers.follow(node, part, source)
        result = function(*given)
        results = pytree.tree_leaves(result)
        if not all(isinstance(t, Tensor) for t in results):
            raise refused("Constants returned from branches must be ints.", "What to do: return tensors only.")
        outputs = [tracer.node_of(t) for t in results]
        of_gradients = op is cond and hasattr(function, "may_alias")
        several: Any = list(outputs) if op is scan or of_gradients else tuple(outputs)
        tracer.graph.output(outputs[0] if isinstance(result, Tensor) else several)
        if not hasattr(function, "may_alias"):
            _check(tracer.graph, given, results, outputs)
        return _Inner(GraphModule(tracer.root, tracer.graph, "<lambda>"), outputs, results)


def _check(graph: Graph, given: list[Tensor], results: list[Tensor], outputs: list[Node]) -> None:
    """Raise if a function writes to what it is given, or returns it."""
    held = {memory_of(t)[0] for t in given if isinstance(memory_of(t), tuple)}
    mutated = any(t._version for t in given)
    for node in graph.nodes:
        name = node.target.overloadpacket.__name__ if isinstance(node.target, OpOverload) else ""
        first = node.args[0] if node.args else None
        outside = isinstance(first, Node) and (first.graph is not graph or first.op == "placeholder")
        mutated = mutated or (name[-1:] == "_" and name[:2] != "__" and outside)
    if mutated:
        raise refused("Encountered input mutation during higher order op tracing", "What to do: write to a copy.")
    for t, node in zip(results, outputs, strict=True):
        place = memory_of(t)[0] if isinstance(memory_of(t), tuple) else id(t)
        if (place in held and "dropout" not in node.name) or node.op == "placeholder" or node.graph is not graph:
            raise refused("Encountered aliasing during higher order op tracing", "What to do: return x.clone().")
        held.add(place)


def _compare(op: HigherOrderOperator, made: list[_Inner], inputs: list[Tensor]) -> None:
    """Raise if branches give different results, or a loop's function other ones than it is given."""
    sides = [inner.results for inner in made]
    if op is while_loop:
        sides = [inputs[: len(sides[1])], sides[1]]
    kinds = [[(tuple(t.shape), t.dtype) for t in side] for side in sides]
    if any(kind != kinds[0] for kind in kinds):
        what = "What to do: give results of one shape and dtype."
        raise refused(f"the results differ: {kinds[0]} and {kinds[1]}", what)


@contextmanager
def _apart(tracer: Any) -> Iterator[None]:
    """A context in which nodes are written into another graph, after which what they are is forgotten."""
    kept = {k: dict(v) for k, v in vars(tracer).items() if k in ("nodes", "payloads", "of_object", "recorded")}
    before, numbers = (tracer.graph, tracer.root), tracer.numbers
    if tracer.sizes is not None:
        tracer.sizes.settle()
        last, tracer.sizes.last = tracer.sizes.last, None
    sizes = {k: dict(v) for k, v in vars(numbers.known).items() if k in ("written", "nodes")} if numbers else {}
    tracer.around.append(before)
    tracer.graph, tracer.root = Graph(tracer_cls=before[0]._tracer_cls), Module()
    try:
        yield
        if tracer.sizes is not None:
            tracer.sizes.settle()
    finally:
        tracer.graph, tracer.root = before
        tracer.around.pop()
        for name, known in kept.items():
            attributes = {k: v for k, v in vars(tracer)[name].items() if name != "recorded" and v[1].op == "get_attr"}
            setattr(tracer, name, attributes | known)
        if numbers:
            vars(numbers.known).update(sizes)
        if tracer.sizes is not None:
            tracer.sizes.last = last


def lift(call: Node, modules: list[GraphModule]) -> list[Node]:
    """Make operands of what the functions of a call take from outside, the last ones of each; these nodes."""
    taken = [n for m in modules for node in m.graph.nodes for n in node.all_input_nodes if n.graph is not m.graph]
    free = sorted(dict.fromkeys(taken), key=lambda n: n.op not in ("placeholder", "get_attr"))
    *rest, last = call.args
    call.args = (*rest, type(last)([*last, *free]))  # type: ignore[operator]
    for module in modules:
        graph = module.graph
        inputs = graph.find_nodes(op="placeholder")
        for n in free:
            with graph.inserting_after(inputs[-1]) if inputs else graph.inserting_before():
                made = graph.placeholder(f"arg{len(inputs)}_1")
            made.meta = {k: n.meta[k] for k in _OF_INPUTS if k in n.meta}
            inputs.append(made)
            for node in graph.nodes:
                node.replace_input_with(n, made)
        module.recompile()
    return free


def _name_inputs(call: Node, root: Any) -> None:
    """Name the inputs of branches, and of functions that are mapped, as what they are given."""
    operands = [n for k in call.target.operands for n in call.args[k]]  # type: ignore[union-attr]
    for k in call.target.functions:  # type: ignore[union-attr]
        module = getattr(root, call.args[k].target)  # type: ignore[union-attr]
        graph = module.graph
        if call.target in (cond, map_impl):
            inputs, names = graph.find_nodes(op="placeholder"), {n.name for n in operands}
            taken = names | {n.name for n in graph.nodes}
            for node in graph.nodes:
                if node.name in names and node not in inputs:
                    stem = re.sub(r"_\d+$", "", node.name)
                    node.name = next(name for k in itertools.count(1) if (name := f"{stem}_{k}") not in taken)
                    taken.add(node.name)
            for node, operand in zip(inputs, operands, strict=True):
                node.name = node.target = operand.name
        for node in graph.nodes:
            if isinstance(node.target, HigherOrderOperator):
                _name_inputs(node, module)
        module.recompile()
