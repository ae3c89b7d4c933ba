"""``make_fx``: a graph of the operators that a function runs on example tensors, forward and backward.

The function runs on its arguments, once. A dispatch mode writes each operator as a node (``torch.ops.aten``); a
function mode writes what no operator computes: new tensors, and writes in place, as one node each; sums of cotangents
are written where the engine makes them. A tensor is known by
its memory, because the backward pass hands on arrays. One that is neither known nor older than the trace is an error,
not a constant.

NOTE [ Replayed at once ]: wengert's operators have arguments of their own. A node is given PyTorch's name only if the
public function of that name computes the same from these arguments, which is tried when the node is written; otherwise
the node calls wengert's operator itself. So a graph computes what the function computed, whatever its nodes are called.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import wengert as torch

from ..._base.errors import noted
from ..._base.heap import living_of
from ..._tape.engine import current_pass
from ..._tape.graph import edge_node
from ..._tape.node import Parts, Port, tick
from ..._tape.tensor import Tensor, wrap
from ...nn.modules.module import Module
from ...nn.parameter import Parameter
from ...utils import _pytree as pytree
from ...utils._aten import OpOverload, bodies_written
from ...utils._aten_calls import as_written, call_of
from ...utils._higher_order import writing, written_by
from ...utils._python_dispatch import OperatorMode
from .._codegen import _PyTreeCodeGen, _PyTreeInfo
from .._lazy_graph_module import _make_graph_module
from .._symbolic_trace import Tracer
from ..graph import Graph
from ..graph_module import GraphModule
from ..interpreter import Interpreter
from ..node import Node, base_types, map_arg
from ..passes.shape_prop import _extract_tensor_metadata
from ._decomposing import Divider, divided
from ._derivatives import Unknown, WrittenCall, derived, saved_results
from ._inputs import defaults_of, fetch_at_each_use, leaf_names, parameter_names
from ._makers import Makers, memory_of
from ._passes import passes_written
from ._sizes import Sizes
from ._steps import composed, replayed
from ._symbols import Number
from ._unbacked import extremes_of_numbers

__all__ = ["DecompositionInterpreter", "ProxyTorchDispatchMode", "PythonKeyTracer", "get_proxy_mode", "make_fx"]

_RANDOM = ("rand", "bernoulli", "dropout", "multinomial", "normal", "poisson", "exponential", "uniform", "cauchy")


class PythonKeyTracer(Tracer):
    """Writes the graph: parameters are ``_param_constant0``, other tensors from outside ``_tensor_constant0``."""

    names_operands = False  # whether the inputs of branches are named as what they are given

    def __init__(self, outside: dict[Any, Tensor] | None = None) -> None:
        super().__init__(autowrap_modules=())
        self.root = Module()
        self.graph = Graph(tracer_cls=Tracer)
        self.tensor_attrs = {}
        self.nodes: dict[Any, tuple[Any, Node]] = {}  # by memory; the payload keeps it from being used again
        # kept, so that no other tensor gets their memory
        if outside is None:
            made = [t for t in living_of(Tensor) if hasattr(t, "_payload")]  # a failed call may have left others
            outside = {memory_of(t): t for t in made}
        self.outside = outside
        self.objects: dict[int, Node] = {}  # inputs that are neither tensors nor numbers, by object
        self.payloads: dict[int, tuple[Any, Node]] = {}  # the same by object: parts of a broadcast share their memory
        self.saves = True  # whether what autograd saves is written
        self.recorded: dict[Any, Any] = {}  # by a result's history: the nodes of its call, and what those need
        self.sizes: Sizes | None = None  # those that may differ
        self.dispatch: Any = None  # the mode of a ``make_fx``
        # the graphs around that of a function of ``cond``, the outermost first, and what has their attributes
        self.around: list[tuple[Graph, Module]] = []
        self.taken: dict[Node, Tensor] = {}  # what such a function takes from outside, with its history

    def note_custom(self, func: Any) -> None:
        """The program calls an operator of its own."""

    def begin_pass(self, result: Node, cotangent: Tensor) -> None:
        """Write the 1 with which a pass begins at a result."""
        if not self.knows(cotangent) and cotangent.numel() == 1 and bool(cotangent == 1):
            how = {"pin_memory": False, "memory_format": torch.preserve_format}
            self.note(cotangent, self.call(torch.ops.aten.ones_like.default, (result,), how))

    def began(self) -> tuple[Node | None, int]:
        """The last node, and where the history stands: what ``record`` is told of a call's beginning."""
        return next(iter(reversed(self.graph.nodes)), None), tick()

    def record(self, args: Any, result: Any, began: tuple[Node | None, int]) -> None:
        """Note how a call with a history was written."""
        outputs = {}
        for k, t in enumerate(result if isinstance(result, (tuple, list)) else [result]):
            if isinstance(t, Tensor) and t.requires_grad:
                n: Any = edge_node(t)
                outputs[k], made = self.node_of(t), n.fx if type(n) is Port else n
        if not outputs:
            return
        nodes: list[Node] = []
        for node in reversed(self.graph.nodes):
            if node is began[0]:
                break
            nodes.insert(0, node)
        nodes = [node for node in nodes if node.op == "call_function"]
        inputs = [(edge_node(t), self.node_of(t)) for t in pytree.tree_leaves(args) if _has_history(t)]
        results = [r for node in nodes for r in saved_results(node)]
        saved = {r: self.call(torch.ops.aten.detach.default, (r,), {}) if self.saves else r for r in results}
        call = self.recorded[made] = WrittenCall(nodes, saved, outputs, inputs)
        outer, stack = {edge for edge, _ in inputs}, [made]
        while stack:  # the other nodes of a call that made several
            for edge in stack.pop()._edges():
                if edge is not None and edge not in outer and edge._seq > began[1]:
                    call.inner.add(edge)
                    self.recorded[edge] = call
                    stack.append(edge)

    def knows(self, tensor: Tensor) -> bool:
        """Whether a tensor has a node, or may get one as an attribute."""
        return (
            id(tensor._payload) in self.payloads or memory_of(tensor) in self.nodes or memory_of(tensor) in self.outside
        )

    def is_constant(self, tensor: Tensor) -> bool:
        """Whether a tensor's elements are the same in each run: it comes from outside, or from numbers alone."""
        known = self.payloads.get(id(tensor._payload)) or self.nodes.get(memory_of(tensor))
        found: list[Node] = [known[1]] if known is not None else []
        for node in found:
            if node.op == "get_attr":
                continue
            value = node.meta.get("val")
            several = isinstance(value, Tensor) and value.numel() > 1
            if not node.all_input_nodes or several or any(word in str(node.target) for word in _RANDOM):
                return False
            found += node.all_input_nodes
        return True

    def note(self, tensor: Tensor, node: Node) -> None:
        """A tensor's value is this node's from now on."""
        self.payloads[id(tensor._payload)] = (tensor._payload, node)  # of a number, before detach makes an array of it
        if "val" not in node.meta:
            node.meta["val"] = tensor.detach()
            if node.op != "get_attr":  # what operators compute has no history there
                shown = tensor if node.op == "placeholder" else node.meta["val"]
                node.meta["tensor_meta"] = _extract_tensor_metadata(shown)
        self.nodes[memory_of(tensor)] = self.payloads[id(tensor._payload)] = (tensor._payload, node)

    def node_of(self, tensor: Tensor) -> Node:
        """The node of a tensor's value; one that the function took from outside becomes an attribute."""
        node = self._node_of(tensor)
        if self.around:
            self.taken[node] = tensor
        return node

    def _node_of(self, tensor: Tensor) -> Node:
        known = self.payloads.get(id(tensor._payload)) or self.nodes.get(memory_of(tensor))
        if known is None:
            if memory_of(tensor) not in self.outside and not (
                tensor.numel() == 1 and bool(tensor == 1)
            ):  # a pass begins
                raise noted(
                    NotImplementedError("make_fx: a tensor was made that no operator computed"),
                    "Why: values inside of torch.func.vmap and jvp, and of NumPy, are no operators' results.",
                )
            last = next(iter(reversed(self.graph.nodes)), None)
            if memory_of(tensor) not in self.outside and getattr(last and last.meta.get("val"), "shape", None) == ():
                how = {"pin_memory": False, "memory_format": torch.preserve_format}
                node = self.call(torch.ops.aten.ones_like.default, (last,), how)  # the cotangent of a result
                self.note(tensor, node)
                return node
            if self.dispatch is not None and self.dispatch.tracing_mode in ("fake", "symbolic"):
                raise _no_input(tensor)
            return self.attribute(tensor)
        return known[1]

    @contextmanager
    def outermost(self) -> Any:
        """A context in which nodes are written into the outermost graph, as attributes are."""
        inner = self.graph, self.root
        self.graph, self.root = self.around[0] if self.around else inner
        try:
            yield
        finally:
            self.graph, self.root = inner

    def attribute(self, tensor: Tensor) -> Node:
        """A new attribute for a tensor from outside."""
        with self.outermost():
            name = self.get_fresh_qualname("_param_constant" if isinstance(tensor, Parameter) else "_tensor_constant")
            if isinstance(tensor, Parameter):
                setattr(self.root, name, tensor)
            else:
                self.root.register_buffer(name, tensor.detach())
            node = self.create_node("get_attr", name, (), {})
        self.note(tensor, node)
        return node

    @property
    def numbers(self) -> Any:
        """What knows of numbers that are not known, or None."""
        return self.sizes

    def constant_of(self, node: Node) -> Any:
        """The tensor of an attribute."""
        with self.outermost():
            return getattr(self.root, str(node.target))

    def known_node(self, tensor: Tensor) -> Node | None:
        """The node of a tensor's value, if it has one."""
        known = self.payloads.get(id(tensor._payload)) or self.nodes.get(memory_of(tensor))
        return None if known is None else known[1]

    def create_arg(self, a: Any) -> Any:
        """An argument with nodes in place of tensors and of numbers that are not known."""
        if isinstance(a, Tensor):
            return self.node_of(a)
        if isinstance(a, Number):
            return a.known.node_of(a)
        if isinstance(a, torch.Size):
            a = tuple(a)
        return self.objects.get(id(a)) or super().create_arg(a)

    def create_node(self, kind: str, target: Any, args: Any, kwargs: Any, *rest: Any, **named: Any) -> Node:
        """Write a node; a number of what lies outside of a function of ``cond`` is written there."""
        if self.around and kind == "call_function" and target is not operator.getitem and _is_of_numbers(target):
            graphs: list[Any] = []
            map_arg(args, lambda n: graphs.append(n.graph))
            inner = self.graph
            try:
                self.graph = next(g for g in (inner, *[g for g, _ in reversed(self.around)]) if g in graphs)
                return super().create_node(kind, target, args, kwargs, *rest, **named)
            finally:
                self.graph = inner
        return super().create_node(kind, target, args, kwargs, *rest, **named)

    def describe(self, node: Node) -> None:
        """Note the value of a node inside of what was a single operator: a transpose, or a saved result."""
        inputs = node.all_input_nodes
        if "val" in node.meta or not isinstance(node.target, OpOverload) or _is_random(node.target):
            return
        if all("val" in n.meta for n in inputs):
            args, kwargs = map_arg((node.args, node.kwargs), lambda n: n.meta.get("hint", n.meta["val"]))
            value = replayed(node.target, args, kwargs)
            if isinstance(value, Tensor):
                node.meta["val"] = value
                node.meta["tensor_meta"] = _extract_tensor_metadata(value)

    def call(self, target: Any, args: Any, kwargs: Any) -> Node:
        """A node for a call, named as the function without its overload."""
        if self.sizes is not None:
            args, kwargs = self.sizes.symbolic(target, args, kwargs)
        name = None
        if isinstance(target, OpOverload):
            name, args = target.overloadpacket.__name__, tuple([list(a) if isinstance(a, tuple) else a for a in args])
        return self.create_node("call_function", target, args, kwargs, name=name and self.graph._target_to_str(name))

    def note_results(self, results: Any, node: Node) -> None:
        """Give each tensor of a result its node: an item of it, if the result is a tuple."""
        if isinstance(results, Tensor):
            self.note(results, node)
        elif isinstance(results, (tuple, list)):
            values = list(results)
            for i, item in enumerate(results):
                if isinstance(item, (Tensor, tuple, list)):
                    made = self.create_node("call_function", operator.getitem, (node, i), {})
                    self.note_results(item, made)
                    values[i] = made.meta.get("val")
            node.meta["val"] = tuple(values)


def _is_of_numbers(target: Any) -> bool:
    return "sym_" in str(target) or getattr(target, "__module__", "") in ("_operator", "math")


def _no_input(tensor: Tensor) -> Exception:
    """The error of a trace of tensors without data that meets one with data."""
    if type(tensor) in (Tensor, Parameter):
        error: Exception = AssertionError(
            "Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with "
            f"'allow_non_fake_inputs'. Found a tensor of shape {list(tensor.shape)}"
        )
    else:
        error = TypeError("Multiple dispatch failed; all __torch_dispatch__ handlers returned NotImplemented")
    return noted(error, "What to do: make the tensor an input, or take tracing_mode='real'.")


def _has_history(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


def _same(a: Any, b: Any) -> bool:
    """Whether two results are the same to the bit."""
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return a.shape == b.shape and a.dtype == b.dtype and bool(torch.equal(torch.nan_to_num(a), torch.nan_to_num(b)))
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)


def _alike(a: Any, b: Any) -> bool:
    """``_same``, and False for values that cannot be compared: those of transforms."""
    try:
        return _same(a, b)
    except Exception:  # noqa: BLE001
        return False


def _is_random(func: Any) -> bool:
    return any(part in func.name() for part in _RANDOM)


def _replays(func: Any, args: Any, result: Any) -> bool:
    """Whether PyTorch's operator of this name gives the result for these arguments (NOTE [ Replayed at once ])."""
    if _is_random(func):
        return False
    named = getattr(getattr(torch.ops.aten, func.overloadpacket.__name__), func._overloadname)
    found = replayed(named, args, {})
    return found is not None and _alike(found, result)


class ProxyTorchDispatchMode(OperatorMode):
    """Writes each operator that runs."""

    def __init__(self, tracer: PythonKeyTracer, tracing_mode: str = "real", pre_dispatch: bool = False) -> None:
        super().__init__()
        self.tracer, self.tracing_mode, self.pre_dispatch = tracer, tracing_mode, pre_dispatch
        self.quiet, self.grad = 0, torch.is_grad_enabled()
        self.called: Any = None  # the public function that runs, its name and arguments

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.namespace != "aten" and not self.quiet:
            return self._custom(func, args, kwargs or {})
        began = self.tracer.began()
        result = func(*args, **(kwargs or {}))
        if not self.quiet:
            with self.silent():
                _write(self.tracer, func, args, result, self.called)
                self.tracer.record(args, result, began)
        return result

    def _custom(self, func: Any, args: Any, kwargs: Any) -> Any:
        """The program's own operator: one node, whatever it runs."""
        tracer = self.tracer
        tracer.note_custom(func)
        given, named = tracer.create_arg(tuple(args)), tracer.create_arg(kwargs)
        with self.silent():
            result = func(*args, **kwargs)
            tracer.note_results(result, tracer.call(func, given, named))
        return result

    def higher_order(self, op: Any, args: Any) -> Any:
        """``cond`` or a loop: one node, and graphs of its functions."""
        from ._control_flow import written

        return written(self.tracer, op, args)

    def step(self, n: Any, g: Any, step: Any) -> Any:
        """A backward step: an observer of passes, which writes PyTorch's formula if it computes the same."""
        call = None if self.quiet or isinstance(g, Tensor) else self.tracer.recorded.get(n)
        now = current_pass()
        if call is None or now is None:
            return step()
        now.keep = True  # the step may run again
        tracer, writer = self.tracer, None
        with self.silent():
            if n not in call.inner:
                parts = g.parts if type(g) is Parts else dict.fromkeys(call.outputs, g)
                for k, p in parts.items():
                    tracer.begin_pass(call.outputs[k], wrap(p))
                if not all(tracer.knows(wrap(p)) for p in parts.values()):  # one of a transform's values
                    call = None
        if call is None:
            return step()
        with self.silent():
            pairs = step()
            if n not in call.inner:
                grads = {call.outputs[k]: (tracer.node_of(wrap(p)), wrap(p)) for k, p in parts.items()}
                edges = pairs[::2]
                wanted = {node for edge, node in call.inputs if edge in edges or not call.inner.isdisjoint(edges)}
                with suppress(Unknown):
                    writer, call.found = derived(tracer, call.nodes, call.saved, grads, wanted)
            placed = call.placed(pairs)
            if writer is not None and placed is None:
                writer.undo()
        if placed is None:
            return step()
        for payload, node in zip(pairs[1::2], placed, strict=True):
            if node is not None:
                tracer.note(wrap(payload), node)
        return pairs

    @contextmanager
    def silent(self) -> Any:
        """A context in which nothing is written."""
        self.quiet += 1
        try:
            yield
        finally:
            self.quiet -= 1


def _write(tracer: PythonKeyTracer, func: Any, args: Any, result: Any, called: Any) -> None:
    """The nodes of a call: PyTorch's operators, if they compute the result, or wengert's own."""
    aten, info = torch.ops.aten, func.info
    node = composed(tracer, info.name, args, result, called) if info is not None else None
    if node is not None:
        tracer.note_results(result, node)
        return
    found = None if info is None or _is_random(func) else call_of(info.name, func.overloadpacket.__name__, args)
    if found is not None:
        name, overload, placed, named, count = found if called is None else as_written(found, *called)
        op = getattr(getattr(aten, name), overload)
        results = replayed(op, placed, named)
        several = count > 1 and isinstance(result, Tensor)  # of which ours is the first
        if results is not None and _alike(results[0] if several else results, result):
            node = tracer.call(op, tracer.create_arg(placed), tracer.create_arg(named))
            tracer.note_results((result, *results[1:]) if several else result, node)
            return
    given = tracer.create_arg(tuple(args))
    if _replays(func, args, result):
        target = getattr(getattr(aten, func.overloadpacket.__name__), func._overloadname)
    else:
        target = info.op
    tracer.note_results(result, tracer.call(target, given, {}))


# ---- tracing
def get_proxy_mode() -> ProxyTorchDispatchMode | None:
    """The mode of the ``make_fx`` that is running, or None.

    >>> import wengert as torch
    >>> torch.fx.experimental.proxy_tensor.get_proxy_mode() is None
    True
    """
    return writing[-1] if writing else None


@contextmanager
def disable_proxy_modes_tracing(enable_current: bool = False) -> Any:
    """A context in which nothing is written."""
    mode = get_proxy_mode()
    with mode.silent() if mode is not None else nullcontext():
        yield


def make_fx(
    f: Callable[..., Any],
    decomposition_table: Any = None,
    tracing_mode: str = "real",
    *_: Any,
    pre_dispatch: bool = False,
    **__: Any,
) -> Callable[..., GraphModule]:
    """The graph of the operators that a function runs: ``make_fx(f)(*examples)`` is a module that runs them again.

    Numbers and branches are those of the examples. Gradients that the function computes are in the graph.

    Args:
        f: a function, or a module.
        decomposition_table: functions that stand in place of operators; one may return ``NotImplemented``.
        tracing_mode: ``"symbolic"``: the graph is one for other sizes too, as far as its ``shape_env`` says; ``"real"``
            and ``"fake"``: for those of the examples. Each runs the examples.
        pre_dispatch: write functions before autograd divides them: ``linear``, and where gradients are switched off.

    Raises:
        NotImplementedError: a value comes from no operator, as inside of ``torch.func.vmap``.

    >>> import wengert as torch
    >>> from wengert.fx.experimental.proxy_tensor import make_fx
    >>> def slope(x):
    ...     return torch.func.grad(lambda x: torch.sin(x).sum())(x)
    >>> gm = make_fx(slope)(torch.ones(2))
    >>> [n.name for n in gm.graph.nodes if "cos" in n.name]
    ['cos']
    >>> torch.equal(gm(torch.zeros(2)), torch.ones(2))
    True
    """

    if tracing_mode not in ("real", "fake", "symbolic", "aot"):
        raise AssertionError(f"tracing_mode must be real/fake/symbolic, got {tracing_mode}")

    @functools.wraps(f if not isinstance(f, Module) else type(f).forward)
    @disable_proxy_modes_tracing()
    def wrapped(*args: Any) -> GraphModule:
        tracer = PythonKeyTracer()
        names = parameter_names(f, len(args))
        leaves, spec = pytree.tree_flatten(args)
        nested = not all(child.is_leaf() for child in spec.children())
        flat_names = leaf_names(names, spec) if nested else [f"{name}_1" for name in names]
        inputs = []
        defaults = {} if nested else defaults_of(f)
        for name, leaf in zip(flat_names, leaves, strict=True):
            node = tracer.graph.placeholder(name, default_value=defaults.get(name, inspect.Parameter.empty))
            if isinstance(leaf, Tensor):
                leaf = leaf.detach().requires_grad_(leaf.requires_grad) if leaf.is_leaf else leaf
                tracer.note(leaf, node)
            elif not isinstance(leaf, base_types):
                tracer.objects[id(leaf)] = node
            inputs.append(leaf)
        tracer.saves = not pre_dispatch
        mode = tracer.dispatch = ProxyTorchDispatchMode(tracer, tracing_mode, pre_dispatch)
        if tracing_mode == "symbolic":
            tracer.sizes = Sizes(tracer)
            pairs = zip(inputs, tracer.graph.nodes, strict=True)
            inputs = [tracer.sizes.input(leaf, node, i) for i, (leaf, node) in enumerate(pairs)]
        makers = Makers(mode)
        numbers = nullcontext() if tracer.sizes is None else extremes_of_numbers()
        with written_by(mode), mode, makers, passes_written(mode), bodies_written(makers.called_overload), numbers:
            result = f(*pytree.tree_unflatten(inputs, spec))
        outputs, out_spec = pytree.tree_flatten(result)
        if nested:
            tracer.graph.set_codegen(_PyTreeCodeGen(_PyTreeInfo(names, spec, out_spec)))
            result = outputs
        tracer.graph.output(tracer.create_arg(result))
        if tracer.sizes is not None:
            tracer.sizes.finish()
        if decomposition_table:
            divided(tracer, decomposition_table, make_fx)
        fetch_at_each_use(tracer.graph)
        for node in tracer.graph.nodes:
            tracer.describe(node)
        if tracer.sizes is not None:
            tracer.sizes.show_values()
        made = _make_graph_module(tracer.root, tracer.graph, getattr(f, "__name__", type(f).__name__))
        made.shape_env = None if tracer.sizes is None else tracer.sizes.known.env  # type: ignore[assignment]
        return made

    return wrapped


def get_isolated_graphmodule(
    func: Callable[..., Any], args: Any, kwargs: Any, tracing_mode: str = "real", decomposition_table: Any = None
) -> GraphModule:
    """The graph of a call, which a ``make_fx`` that is running does not see; its inputs are the flattened arguments."""
    flat, spec = pytree.tree_flatten((args, kwargs))

    def wrapped(flat_args: list[Any]) -> Any:
        given, named = pytree.tree_unflatten(flat_args, spec)
        return func(*given, **named)

    return make_fx(wrapped, decomposition_table, tracing_mode)(flat)


class DecompositionInterpreter(Interpreter):
    """Runs a module, and writes it into another graph with operators divided.

    Args:
        new_graph: what ``run`` writes.
        decomposition_table: functions that stand in place of operators, as that of ``make_fx``.
    """

    def __init__(self, module: Any, new_graph: Graph, decomposition_table: Any = None, **kwargs: Any) -> None:
        super().__init__(module, **kwargs)
        self.new_graph, self.decomposition_table = new_graph, decomposition_table or {}
        self.values: dict[Node, Any] = {}

    def run_node(self, n: Node) -> Any:
        """Run one node, and keep its value."""
        result = self.values[n] = super().run_node(n)
        return result

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Run the module on inputs, and write the graph."""
        result = super().run(*args, **kwargs)
        divider = Divider(self.new_graph, self.decomposition_table, self.module, self.values.__getitem__, make_fx)
        self.new_graph.output(divider.copy(self.graph, {}, self.module))
        return result
