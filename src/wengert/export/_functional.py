"""Graphs without writes: an operator that writes in place becomes one that gives the new value, as in PyTorch.

A tensor is known as the views that lead to it from the memory that was made or given. Its value is that memory's last
one, seen through these views again. What is written through views is carried back to the memory: ``y[0].add_(1)`` is
``select``, ``add`` and ``select_scatter``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import wengert as torch

from ..fx.experimental._steps import replayed
from ..fx.experimental._symbols import hint_of
from ..fx.graph import Graph
from ..fx.node import Node, map_arg
from ..utils._aten import OpOverload
from ..utils._aten_schemas import matching
from .graph_signature import InputKind, InputSpec, OutputKind, OutputSpec, TensorArgument

aten = torch.ops.aten
_VIEWS = frozenset(
    [
        "alias", "as_strided", "detach", "diagonal", "expand", "permute", "select", "slice", "split",
        "split_with_sizes", "squeeze", "t", "transpose", "unbind", "unsqueeze", "view",
    ]
)  # fmt: skip
MUTATIONS = {
    InputKind.BUFFER: OutputKind.BUFFER_MUTATION, InputKind.PARAMETER: OutputKind.PARAMETER_MUTATION,
    InputKind.USER_INPUT: OutputKind.USER_INPUT_MUTATION,
}  # fmt: skip


class _Memory:
    """A tensor's memory: the node of its last value, and how often it was written."""

    def __init__(self, value: Node) -> None:
        self.value, self.written = value, 0


class _View(NamedTuple):
    """One step from a tensor to a view of it: the call, which of its results, and the shape that it is a view of."""

    target: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    item: int | None
    shape: tuple[int, ...]


class _Tensor:
    """What a node of the old graph gives: its memory, the views that lead there, and its node as of a write."""

    def __init__(self, memory: _Memory, views: tuple[_View, ...], value: Node, written: int = 0) -> None:
        self.memory, self.views, self.value, self.written = memory, views, value, written


class Functional:
    """Writes a graph again without writes.

    Args:
        new: the graph that is written.
        value: what a node of the old graph computes, for these sizes.

    Raises:
        NotImplementedError: a write has no other form.
    """

    def __init__(self, new: Graph, value: Callable[[Node], Any]) -> None:
        self.new, self.value = new, value
        self.known: dict[Node, Any] = {}
        self.tensors: dict[Node, _Tensor] = {}
        self.example: dict[Node, Any] = {}  # what a node of the new graph computes

    # ---- nodes
    def emit(self, target: Any, args: Any, kwargs: Any = None, like: Node | None = None) -> Node:
        """A new node, with its value."""
        node = self.new.call_function(target, args, kwargs or {})
        node.meta = {k: v for k, v in like.meta.items() if k not in ("val", "tensor_meta")} if like is not None else {}
        given, named = map_arg((node.args, node.kwargs), lambda n: hint_of(self.example[n]))
        self.example[node] = node.meta["val"] = replayed(target, given, named)
        return node

    def read(self, node: Node) -> Any:
        """The last value of what an old node gives."""
        t = self.tensors.get(node)
        if t is None:
            return self.known[node]
        if t.written != t.memory.written:
            value = t.memory.value
            for view in t.views:
                value = self.seen(value, view)
            t.value, t.written = value, t.memory.written
        return t.value

    def seen(self, value: Node, view: _View) -> Node:
        """A view of a node's tensor."""
        made = self.emit(view.target, (value, *view.args), view.kwargs)
        if view.item is None:
            return made
        items = [self.emit(operator.getitem, (made, i)) for i in range(len(self.example[made]))]
        return items[view.item]

    def copy(self, graph: Graph) -> Any:
        """Write the nodes; the graph's result."""
        for node in graph.nodes:
            if node.op == "output":
                return map_arg(node.args[0], self.read)
            name = node.target.overloadpacket.__name__ if isinstance(node.target, OpOverload) else ""
            if node.target is torch._C._set_grad_enabled:
                continue
            if name == "batch_norm":
                self.batch_norm(node)
            elif name == "dropout":
                self.dropout(node)
            elif name == "detach_":
                self.tensors[node] = self.tensors[node.args[0]]
            elif node.kwargs.get("out") is not None:
                self.write_out(node, name)
            elif name.endswith("_") and not name.endswith("__"):
                self.write(node, name)
            elif name in _VIEWS and isinstance(node.args[0], Node):
                self.view(node)
            elif node.target is operator.getitem and node.args[0] in self.tensors:
                self.item(node)
            else:
                self.plain(node)
        return None

    def plain(self, node: Node) -> None:
        """An operator that gives new memory."""
        args, kwargs = map_arg((node.args, node.kwargs), self.read)
        target = aten.clone.default if node.target == aten.lift_fresh_copy.default else node.target
        target = aten._local_scalar_dense.default if target == aten.item.default else target
        if target == aten._assert_tensor_metadata.default:
            kwargs = dict(kwargs)
            args = (*args, None, None, kwargs.pop("dtype"))
        made = self.known[node] = self.new.create_node(node.op, target, args, kwargs, None, node.type)
        made.meta, self.example[made] = dict(node.meta), self.value(node)
        if node.op == "placeholder":
            made.name = node.name
        if isinstance(self.example[made], torch.Tensor):
            self.tensors[node] = _Tensor(_Memory(made), (), made)

    def new_tensor(self, node: Node, made: Node) -> None:
        """An old node gives a new one's memory."""
        self.known[node], self.tensors[node] = made, _Tensor(_Memory(made), (), made)

    # ---- views
    def view(self, node: Node) -> None:
        """A view, or the parts of a tensor."""
        source: Any = node.args[0]
        self.read(source)
        t = self.tensors[source]
        args, kwargs = map_arg((node.args[1:], node.kwargs), self.read)
        made = self.emit(node.target, (t.value, *args), kwargs, node)
        step = _View(node.target, args, kwargs, None, tuple(self.example[t.value].shape))
        self.known[node] = made
        self.tensors[node] = _Tensor(t.memory, (*t.views, step), made)  # it is seen again if there was a write

    def item(self, node: Node) -> None:
        """One of the parts of a tensor."""
        whole = self.tensors[node.args[0]]  # type: ignore[index]
        made = self.emit(operator.getitem, (whole.value, node.args[1]), {}, node)
        *views, last = whole.views
        self.known[node] = made
        self.tensors[node] = _Tensor(whole.memory, (*views, last._replace(item=node.args[1])), made)

    # ---- writes
    def write(self, node: Node, name: str) -> None:
        """An operator that writes to its first argument."""
        args, kwargs = map_arg((node.args, node.kwargs), self.read)
        packet = getattr(aten, name[:-1], None)
        if packet is None or name in ("set_", "resize_", "as_strided_", "squeeze_", "unsqueeze_", "t_", "transpose_"):
            raise NotImplementedError(f"run_decompositions(): {name} has no form that does not write")
        made = self.emit(getattr(packet, node.target._overloadname), args, kwargs, node)  # type: ignore[union-attr]
        if self.example[made] is None:
            raise NotImplementedError(f"run_decompositions(): {name} has no form that does not write")
        self.written_as(node.args[0], made, node)
        self.tensors[node] = self.tensors[node.args[0]]  # type: ignore[index]

    def write_out(self, node: Node, name: str) -> None:
        """An operator that writes what it gives into ``out``."""
        rest = {k: v for k, v in node.kwargs.items() if k != "out"}
        given: Any = map_arg((node.args, rest), self.value)
        found = matching(name, *given)
        if found is None:
            raise NotImplementedError(f"run_decompositions(): {node.target} has no form that does not write")
        args, kwargs = map_arg((node.args, rest), self.read)
        made = self.known[node] = self.emit(getattr(getattr(aten, name), found[0]), args, kwargs, node)
        out: Any = node.kwargs["out"]
        if isinstance(out, Node):
            self.written_as(out, made, node)
            self.tensors[node] = self.tensors[out]
            return
        for i, old in enumerate(out):
            self.written_as(old, self.emit(operator.getitem, (made, i), {}, node), node)

    def written_as(self, old: Any, made: Node, node: Node) -> None:
        """What an old node gives has a new value, in the old one's dtype."""
        dtype = self.example[self.read(old)].dtype
        if self.example[made].dtype is not dtype:
            made = self.emit(aten._to_copy.default, (made,), {"dtype": dtype}, node)
        self.written(old, made)

    def written(self, old: Any, made: Node) -> None:
        """What an old node gives has a new value."""
        t = self.tensors[old]
        sources = [t.memory.value]
        for view in t.views[:-1]:
            sources.append(self.seen(sources[-1], view))
        for view, source in zip(reversed(t.views), reversed(sources), strict=False):
            made = self.carried(view, source, made)
        t.memory.value = made
        t.memory.written += 1
        self.read(old)

    def carried(self, view: _View, source: Node, made: Node) -> Node:
        """A tensor with a new value of a view of it."""
        name, args = view.target.overloadpacket.__name__, view.args
        emit = self.emit
        if view.item is not None:
            dim = args[0] if name == "unbind" else args[1] if len(args) > 1 else 0
            dim = view.kwargs.get("dim", dim) if args or name != "unbind" else 0
            if name == "unbind":
                return emit(aten.select_scatter.default, (source, made, dim, view.item))
            sizes = [t.shape[dim] for t in replayed(view.target, (self.example[source], *args), view.kwargs)]
            start = sum(sizes[: view.item])
            return emit(aten.slice_scatter.default, (source, made, dim, start, start + sizes[view.item]))
        if name in ("select", "slice", "diagonal", "as_strided"):
            return emit(getattr(aten, f"{name}_scatter").default, (source, made, *args), view.kwargs)
        if name == "permute":
            order = [d % len(view.shape) for d in args[0]]
            return emit(aten.permute.default, (made, [order.index(d) for d in range(len(order))]))
        if name in ("t", "transpose"):
            return emit(view.target, (made, *args))
        if name == "unsqueeze":
            return emit(aten.squeeze.dim, (made, args[0]))
        if name in ("view", "squeeze"):
            return emit(aten.view.default, (made, list(view.shape)))
        if name in ("alias", "detach"):
            return made
        raise NotImplementedError(f"run_decompositions(): a write through {name} has no form that does not write")

    # ---- layers
    def batch_norm(self, node: Node) -> None:
        """``batch_norm``, whose running statistics are results."""
        old: Any = node.args
        args: Any
        input, weight, bias, mean, var, training, momentum, eps, *_ = map_arg(old, self.read)
        if not training:
            whole = self.emit(
                aten._native_batch_norm_legit_no_training.default,
                (input, weight, bias, mean, var, momentum, eps),
                {},
                node,
            )
        elif mean is None:
            args = (input, weight, bias, True, momentum, eps)
            whole = self.emit(aten._native_batch_norm_legit.no_stats, args, {}, node)
        else:
            args = (input, weight, bias, mean, var, True, momentum, eps)
            whole = self.emit(aten._native_batch_norm_legit_functional.default, args, {}, node)
        items = [self.emit(operator.getitem, (whole, i), {}, node) for i in range(len(self.example[whole]))]
        self.new_tensor(node, items[0])
        if len(items) > 3:
            self.written(old[3], items[3])
            self.written(old[4], items[4])

    def dropout(self, node: Node) -> None:
        """``dropout``: a copy, or one with a mask."""
        input, p, train = map_arg(node.args, self.read)
        if not train:
            self.new_tensor(node, self.emit(aten.clone.default, (input,), {}, node))
            return
        whole = self.emit(aten.native_dropout.default, (input, p, True), {}, node)
        first, _ = [self.emit(operator.getitem, (whole, i), {}, node) for i in range(2)]
        self.new_tensor(node, first)

    def mutations(self, graph: Graph, specs: list[InputSpec]) -> tuple[list[Node], list[OutputSpec]]:
        """The last values of the inputs that are written, and what they are as outputs."""
        nodes, made = [], []
        for node, spec in zip(graph.nodes, specs, strict=False):
            t = self.tensors.get(node)
            if t is not None and t.memory.written:
                target = spec.target if spec.kind is not InputKind.USER_INPUT else node.name
                made.append(OutputSpec(MUTATIONS[spec.kind], TensorArgument(t.memory.value.name), target))
                nodes.append(t.memory.value)
        return nodes, made
