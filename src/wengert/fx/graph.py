"""``Graph``: a function as a list of nodes that can be read, changed, and written as Python again."""

from __future__ import annotations

import copy
import inspect
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import wengert as torch

from .._base.errors import warn
from ..nn.modules.module import Module
from ._codegen import (
    CodeGen,
    PythonCode,
    _BoxedCodeGen,
    _PyTreeCodeGen,
    _PyTreeInfo,
    inplace_methods,
    magic_methods,
    reflectable_magic_methods,
)
from ._compatibility import compatibility as compatibility  # noqa: PLC0414  which programs take from here
from ._namespace import CUSTOM_BUILTINS as _custom_builtins
from ._namespace import Namespace, register_custom_builtin, snake_case
from ._naming import function_name
from ._naming import is_from_torch as _is_from_torch
from .immutable_collections import immutable_dict
from .node import OPS, Node, _typename, map_arg

__all__ = ["CodeGen", "Graph", "PythonCode"]

for _cls in (CodeGen, PythonCode, _BoxedCodeGen, _PyTreeCodeGen):
    _cls.__module__ = __name__  # where PyTorch has them

_Namespace, _register_custom_builtin, _snake_case = Namespace, register_custom_builtin, snake_case
Namespace.__module__, Namespace.__qualname__ = __name__, "_Namespace"  # where pickles of graphs find it


class _InsertPoint:
    """Where new nodes go, until the ``with`` block ends."""

    def __init__(self, graph: Graph, new_insert: Callable[[Node], None]) -> None:
        self.graph = graph
        self.orig_insert, graph._insert = graph._insert, new_insert

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        self.graph._insert = self.orig_insert


class _node_list:
    """The nodes in order. Nodes may be added and erased while they are gone through."""

    def __init__(self, graph: Graph, direction: str = "_next") -> None:
        if direction not in ("_next", "_prev"):
            raise AssertionError(f"direction must be '_next' or '_prev', got {direction}")
        self.graph = graph
        self.direction = direction

    def __len__(self) -> int:
        return self.graph._len

    def __iter__(self) -> Iterator[Any]:
        root = self.graph._root
        node = getattr(root, self.direction)
        while node is not root:
            if not node._erased:
                yield node
            node = getattr(node, self.direction)

    def __reversed__(self) -> Iterator[Any]:
        return iter(_node_list(self.graph, "_prev" if self.direction == "_next" else "_next"))


class _FindNodesLookupTable:
    """The nodes by ``op`` and, for functions, target, so that ``find_nodes`` need not go through all."""

    def __init__(self) -> None:
        self.table: dict[tuple[str, Any], dict[Node, None]] = defaultdict(dict)

    def _key(self, node: Node) -> tuple[str, Any]:
        return node.op, node.target if node.op == "call_function" else None

    def __contains__(self, node: Node) -> bool:
        return node in self.table[self._key(node)]

    def insert(self, node: Node) -> None:
        self.table[self._key(node)][node] = None

    def remove(self, node: Node) -> None:
        self.table[self._key(node)].pop(node)

    def find_nodes(self, *, op: str, target: Any = None) -> list[Node]:
        if op == "call_function":
            if target is None:
                raise AssertionError("target must not be None for call_function op")
            return list(self.table[op, target])
        return [node for node in self.table[op, None] if target is None or node.target == target]


@compatibility(is_backward_compatible=True)
class Graph:
    """A function as a list of nodes: its inputs, its calls in order, its output.

    ``Tracer`` makes one of a program; a program can also be written with its methods. ``GraphModule`` makes it a module
    that can be called.

    >>> import wengert as torch
    >>> graph = torch.fx.Graph()
    >>> x = graph.placeholder("x")
    >>> y = graph.call_function(torch.relu, (x,))
    >>> _ = graph.output(y)
    >>> print(graph)
    graph():
        %x : [num_users=1] = placeholder[target=x]
        %relu : [num_users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})
        return relu
    """

    def __init__(self, owning_module: Any = None, tracer_cls: Any = None, tracer_extras: Any = None) -> None:
        self._root = Node(self, "", "root", "", (), {})
        self._used_names: dict[str, int] = {}
        self._insert: Callable[[Node], None] = self._root.prepend
        self._len = 0
        self._graph_namespace = Namespace()
        self._owning_module = owning_module
        self._tracer_cls = tracer_cls
        self._tracer_extras = tracer_extras
        self._codegen = CodeGen()
        self._co_fields: dict[str, Any] = {}
        self._find_nodes_lookup_table = _FindNodesLookupTable()

    @property
    def owning_module(self) -> Any:
        """The ``GraphModule`` whose graph this is, or None."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, mod: Any) -> None:
        self._owning_module = mod

    @property
    def nodes(self) -> _node_list:
        """The nodes in order, also ``reversed``."""
        return _node_list(self)

    def output_node(self) -> Node:
        """The last node, which is the output."""
        node = next(iter(reversed(self.nodes)))
        if node.op != "output":
            raise AssertionError(f"Expected output node, got op={node.op}")
        return node

    def find_nodes(self, *, op: str, target: Any = None, sort: bool = True) -> list[Any]:
        """The nodes with this ``op`` and target, in order; ``sort=False`` leaves them as they were made."""
        nodes = self._find_nodes_lookup_table.find_nodes(op=op, target=target)
        return sorted(nodes) if sort else nodes

    # ---- copying
    def graph_copy(self, g: Graph, val_map: dict[Node, Any], return_output_node: bool = False) -> Any:
        """Copy all nodes of another graph to the place where nodes are inserted.

        Args:
            val_map: filled with the copy of each node; nodes that it has already are not copied.

        Returns:
            What the other graph's output node holds, as nodes of this one; with ``return_output_node`` that node too.
        """
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda n: val_map[n])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def __deepcopy__(self, memo: Any = None) -> Graph:
        memo = memo if memo else {}
        g = Graph(tracer_cls=self._tracer_cls)
        copied = g.graph_copy(self, val_map=memo, return_output_node=True)
        g._codegen = copy.deepcopy(self._codegen)
        if copied is not None:
            value, old = copied
            g.output(value, type_expr=getattr(old, "type", None)).meta = copy.copy(old.meta)
        return g

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Any] = lambda x: x) -> Node:
        """A copy of a node, perhaps of another graph, whose input nodes ``arg_transform`` maps to this graph's."""
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        copied = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        copied.meta = copy.copy(node.meta)
        return copied

    # ---- making nodes
    def create_node(
        self,
        op: str,
        target: Any,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """A new node at the place where nodes are inserted; its name is made from ``name`` or the target."""
        if not args:
            args = ()
        elif not isinstance(args, tuple):
            raise AssertionError(f"args must be a tuple, got {type(args)}")
        if not kwargs:
            kwargs = immutable_dict()
        elif not isinstance(kwargs, dict):
            raise AssertionError(f"kwargs must be a dict, got {type(kwargs)}")
        candidate = name if name is not None else self._target_to_str(target)
        name = self._graph_namespace.create_name(candidate, None)
        node = Node(self, name, op, target, args, kwargs, type_expr)
        for hook in getattr(self.owning_module, "_create_node_hooks", None) or ():
            hook(node)
        self._graph_namespace.associate_name_with_obj(name, node)
        self._insert(node)
        self._find_nodes_lookup_table.insert(node)
        self._len += 1
        return node

    def _target_to_str(self, target: Any) -> str:
        if callable(target):
            return snake_case(function_name(target))
        if not isinstance(target, str):
            raise AssertionError(f"Expected target to be str, got {type(target)}")
        magic = target.startswith("__") and target.endswith("__")
        return snake_case(target[2:-2] if magic else target)

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = inspect.Signature.empty) -> Node:
        """An input."""
        args = () if default_value is inspect.Signature.empty else (default_value,)
        return self.create_node("placeholder", name, args=args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """A parameter, buffer or other attribute of the module, by its dotted name."""
        if self.owning_module is not None and not _refers(self.owning_module, qualified_name):
            warn(
                "Attempted to insert a get_attr Node with no underlying reference in the owning GraphModule! Call "
                "GraphModule.add_submodule to add the necessary submodule, GraphModule.add_parameter to add the "
                "necessary Parameter, or nn.Module.register_buffer to add the necessary buffer"
            )
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(self, module_name: str, args: Any = None, kwargs: Any = None, type_expr: Any = None) -> Node:
        """A call of a submodule, by its dotted name."""
        if self.owning_module is not None:
            self.owning_module.get_submodule(module_name)
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(self, method_name: str, args: Any = None, kwargs: Any = None, type_expr: Any = None) -> Node:
        """A call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self, the_function: Callable[..., Any], args: Any = None, kwargs: Any = None, type_expr: Any = None,
        name: str | None = None,
    ) -> Node:  # fmt: skip
        """A call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name=name, type_expr=type_expr)

    def output(self, result: Any, type_expr: Any = None) -> Node:
        """The return statement."""
        return self.create_node(op="output", target="output", args=(result,), type_expr=type_expr)

    # ---- changing
    def inserting_before(self, n: Node | None = None) -> _InsertPoint:
        """A context in which new nodes are put before a node; without one, at the beginning."""
        if n is None:
            return self.inserting_after(self._root)
        if n.graph != self:
            raise AssertionError("Node to insert before is not in graph.")
        return _InsertPoint(self, n.prepend)

    def inserting_after(self, n: Node | None = None) -> _InsertPoint:
        """A context in which new nodes are put after a node; without one, at the end."""
        if n is None:
            return self.inserting_before(self._root)
        if n.graph != self:
            raise AssertionError("Node to insert after is not in graph.")
        return _InsertPoint(self, n.append)

    def erase_node(self, to_erase: Node) -> None:
        """Remove a node.

        Raises:
            RuntimeError: another node uses it.
        """
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph: "
                f"{to_erase.users}!"
            )
        if to_erase.graph != self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warn(f"erase_node({to_erase}) on an already erased node")
            return
        for hook in getattr(self.owning_module, "_erase_node_hooks", None) or ():
            hook(to_erase)
        self._find_nodes_lookup_table.remove(to_erase)
        to_erase._remove_from_list()
        to_erase._erased = True
        self._len -= 1
        to_erase._update_args_kwargs(map_arg(to_erase._args, lambda n: None), map_arg(to_erase._kwargs, lambda n: None))

    def _clear_nodes(self) -> None:
        for node in reversed(self.nodes):
            node.meta.clear()
            self.erase_node(node)

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Remove the nodes whose values nobody uses, unless they are impure (``Node.is_impure``).

        Returns:
            Whether there were any.
        """
        self.lint()
        before = self._len
        for node in reversed(self.nodes):
            if not (is_impure_node or Node.is_impure)(node) and not node.users:
                self.erase_node(node)
        changed = self._len < before
        if self.owning_module is not None:
            used = {node.target for node in self.find_nodes(op="get_attr")}
            for name, child in self.owning_module.named_children():
                if name in used and isinstance(getattr(child, "graph", None), Graph):
                    changed |= child.graph.eliminate_dead_code()
                    child.recompile()
        return changed

    # ---- sizes
    def create_size_node(self, tensor_node: Node, dim: int) -> Node:
        """Add a node for ``tensor_node.size(dim)``."""
        return self._layout_node(torch.ops.aten.sym_size.int, tensor_node, dim)

    def create_stride_node(self, tensor_node: Node, dim: int) -> Node:
        """Add a node for ``tensor_node.stride(dim)``."""
        return self._layout_node(torch.ops.aten.sym_stride.int, tensor_node, dim)

    def create_storage_offset_node(self, tensor_node: Node) -> Node:
        """Add a node for ``tensor_node.storage_offset()``."""
        return self._layout_node(torch.ops.aten.sym_storage_offset.default, tensor_node)

    def _layout_node(self, asks: Any, tensor_node: Node, *dim: int) -> Node:
        node = self.call_function(asks, (tensor_node, *dim))
        for key in ("val", "example_value"):
            if isinstance(example := tensor_node.meta.get(key), torch.Tensor):
                node.meta[key] = asks(example, *dim)
                break
        return node

    def materialize_symints(self, values: Sequence[int]) -> list[Node | int]:
        """The sizes themselves: in wengert they are plain numbers."""
        for value in values:
            if not isinstance(value, int):
                kind = type(value).__name__
                raise TypeError(f"materialize_symints: expected SymInt or int, got {kind} ({value!r})")
        return list(values)

    def materialize_symint(self, value: int) -> Node | int:
        """``materialize_symints`` of one size."""
        return self.materialize_symints([value])[0]

    # ---- checking
    def lint(self) -> None:
        """Check that the graph is sound: nodes of this graph in an order that defines before it uses, unique names.

        Raises:
            RuntimeError: it is not, or the owning module lacks what a node refers to.
        """
        names: set[str] = set()
        seen: set[Node] = set()
        for node in self.nodes:
            if node.op not in OPS or node.op == "root":
                raise RuntimeError(f"Node {node} had unknown opcode {node.op}!")
            if node.graph is not self:
                raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
            if node not in self._find_nodes_lookup_table:
                raise RuntimeError(f"Node '{node}' is not added to the side table")
            for arg in node._input_nodes:
                self._check_arg(arg, node, seen)
            seen.add(node)
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            names.add(node.name)
        if self.owning_module is not None:
            for node in self.nodes:
                _check_target(node, self.owning_module)

    def _check_arg(self, arg: Node, node: Node, seen: set[Node]) -> None:
        if arg.graph is not self:
            raise RuntimeError(
                f"Argument '{arg}' of Node '{node}' does not belong to this Graph, but was used as an argument! If "
                "you are copying nodes from another graph, make sure to use ``arg_transform`` on node_copy() to remap "
                f"values\n{self}"
            )
        if arg not in seen:
            raise RuntimeError(
                f"Argument '{arg}' of Node '{node}' was used before it has been defined! Please check that Nodes in "
                f"the graph are topologically ordered\n{self}"
            )

    # ---- text
    def python_code(self, root_module: str, **how: Any) -> PythonCode:
        """The graph as the Python function ``forward``.

        Args:
            root_module: what the code calls the module whose attributes it uses: ``"self"``.
            verbose, include_stride, include_device, colored, expanded_def, additional_meta: what is shown besides (see
                ``GraphModule.print_readable``).
        """
        namespace = Namespace()
        former = [(node, node._repr_fn) for node in self.nodes]
        for node, _ in former:
            node._repr_fn = lambda n: namespace.create_name(n.name, n)
        try:
            return self._python_code(root_module, namespace, **how)
        finally:
            for node, repr_fn in former:
                node._repr_fn = repr_fn

    def _python_code(self, root_module: str, namespace: Namespace, **how: Any) -> PythonCode:
        return self._codegen._gen_python_code(self.nodes, root_module, namespace, **how)

    def process_inputs(self, *args: Any) -> Any:
        """What the placeholders are given, for the arguments of a call (see ``CodeGen``)."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        """What a call returns, for what the output node holds (see ``CodeGen``)."""
        return self._codegen.process_outputs(out)

    def set_codegen(self, codegen: CodeGen) -> None:
        """Write the graph's code in another way."""
        self._codegen = codegen

    def on_generate_code(self, make_transformer: Callable[[Any], Callable[[list[str]], list[str]]]) -> Any:
        """Register a function that changes the lines of the code before they are compiled.

        Args:
            make_transformer: gives that function; it is called with the one that is registered now, or None.

        Returns:
            A context manager, at whose end the former function is registered again.
        """
        old = self._codegen._body_transformer
        self._codegen._body_transformer = make_transformer(old)

        @contextmanager
        def restoring() -> Iterator[None]:
            try:
                yield
            finally:
                self._codegen._body_transformer = old

        return restoring()

    def __str__(self) -> str:
        names: list[str] = []
        returns = [""]
        lines = [node.format_node(names) for node in self.nodes]
        return "\n    ".join([f"graph({', '.join(names)}){returns[0]}:", *[line for line in lines if line]])

    def print_tabular(self) -> None:
        """Print the nodes as a table, one line each; needs the package ``tabulate``."""
        try:
            from tabulate import tabulate
        except ImportError:
            print(
                "`print_tabular` relies on the library `tabulate`, which could not be found on this machine. Run `pip "
                "install tabulate` to install the library."
            )
            raise
        rows = [[n.op, n.name, n.target, n.args, n.kwargs] for n in self.nodes]
        print(tabulate(rows, headers=["opcode", "name", "target", "args", "kwargs"]))


def _refers(mod: Module, qualified_name: str) -> bool:
    """Whether a module has a submodule, parameter or buffer of this dotted name."""
    path, _, name = qualified_name.rpartition(".")
    try:
        owner = mod.get_submodule(path)
    except AttributeError:
        warn(f"Failed to fetch module {path}!")
        return False
    return name in owner._modules or name in owner._parameters or name in owner._buffers


def _check_target(node: Node, owner: Any) -> None:
    """Check that a node's target is there."""
    target: Any = node.target
    wanted = "a Callable" if node.op == "call_function" else "a str"
    if not (callable(target) if node.op == "call_function" else isinstance(target, str)):
        raise ValueError(f"Node {node} target {target} has type {_typename(target)} but {wanted} is expected")
    if node.op not in ("get_attr", "call_module"):
        return
    found, parts = owner, target.split(".")
    for i, part in enumerate(parts):
        found, seen = getattr(found, part, None), ".".join(parts[:i])
        if found is None:
            raise RuntimeError(f"Node {node} target {target} references nonexistent attribute {part} of {seen}")
        if node.op == "call_module" and not isinstance(found, Module):
            raise RuntimeError(f"Node {node} target {target} {part} of {seen} does not reference an nn.Module")
