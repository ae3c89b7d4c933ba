"""``ExportedProgram``: a graph of PyTorch's operators with the tensors that it needs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import wengert as torch

from ..fx._codegen import _PyTreeCodeGen, _PyTreeInfo
from ..fx._utils import first_call_function_nn_module_stack
from ..fx.experimental._symbols import SizeName as Symbol
from ..fx.graph import Graph
from ..fx.graph_module import GraphModule
from ..fx.node import Node
from ..fx.traceback import NodeSource, NodeSourceAction
from ..nn.modules.module import Module
from ..nn.parameter import Parameter
from ._guards import InputCheck, guards_of
from .graph_signature import ExportGraphSignature, InputKind

__all__ = ["ExportedProgram", "ModuleCallEntry", "ModuleCallSignature", "default_decompositions"]

Tensor = torch.Tensor


def placeholder(graph: Graph, name: str) -> Any:
    """A placeholder of just this name, which may be one of Python's own: ``input``."""
    node = graph.placeholder(name)
    node.name = name
    return node


@dataclass
class ModuleCallSignature:
    """What a module of the exported one is called with and returns."""

    inputs: list[Any]
    outputs: list[Any]
    in_spec: Any
    out_spec: Any
    forward_arg_names: list[str] | None = None


@dataclass
class ModuleCallEntry:
    """One of the exported module's modules: its name, and its signature if it is kept."""

    fqn: str
    signature: ModuleCallSignature | None = None


class CallSpec(NamedTuple):
    """The structures of the inputs and of the result."""

    in_spec: Any
    out_spec: Any


def default_decompositions() -> dict[Any, Any]:
    """The operators that ``run_decompositions`` divides where no table is given, and functions for them.

    One that is taken out stays in the graph.

    >>> import wengert as torch
    >>> table = torch.export.default_decompositions()
    >>> torch.ops.aten.linear.default in table, torch.ops.aten.addmm.default in table
    (True, False)
    """
    from .._decomp import core_aten_decompositions
    from ._composite import COMPOSED, overloads_of

    return {op: op for op in overloads_of(COMPOSED)} | core_aten_decompositions()


class ExportedProgram:
    """What ``torch.export.export`` gives: a graph, its signature and its tensors.

    Attributes:
        graph_module, graph: the program; parameters, buffers and constants are its first inputs.
        graph_signature: what each input and output is.
        constants: tensors that are neither parameters nor buffers, by name.
        range_constraints: the bounds of each size that may differ.
        example_inputs: the arguments and keyword arguments of the trace.
    """

    def __init__(
        self, graph: Graph, graph_signature: ExportGraphSignature, state_dict: dict[str, Any],
        constants: dict[str, Any], in_spec: Any, out_spec: Any, range_constraints: dict[Any, Any],
        example_inputs: Any, name: str = "GraphModule", dynamic: dict[tuple[int, int], Symbol] | None = None,
        forward_arg_names: list[str] | None = None, module_names: list[str] | None = None,
        root: Module | None = None,
    ) -> None:  # fmt: skip
        self._graph_module = GraphModule(root or Module(), graph)
        self._graph_module.meta["inline_constraints"] = {}
        self.graph_signature = graph_signature
        self._state_dict, self._constants = state_dict, constants
        self._in_spec, self._out_spec = in_spec, out_spec
        self.range_constraints, self.example_inputs, self.name = range_constraints, example_inputs, name
        self.dynamic = dynamic or {}
        self.forward_arg_names, self.module_names = forward_arg_names or [], module_names or []
        self.dialect, self.verifiers = "TRAINING", ()

    @property
    def graph_module(self) -> GraphModule:
        """The graph as a module whose inputs are all tensors that it needs."""
        return self._graph_module

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph_module.graph

    @property
    def state_dict(self) -> dict[str, Any]:
        """Parameters and persistent buffers by name."""
        return self._state_dict

    @property
    def constants(self) -> dict[str, Any]:
        """Tensors that are neither parameters nor buffers, and buffers that are not in the state dict, by name."""
        return self._constants

    tensor_constants = constants

    @property
    def call_spec(self) -> Any:
        """The structures of the inputs and of the result."""
        return CallSpec(self._in_spec, self._out_spec)

    @property
    def module_call_graph(self) -> list[ModuleCallEntry]:
        """The module, with its signature, and those below it."""
        whole = ModuleCallSignature([], [], self._in_spec, self._out_spec, self.forward_arg_names)
        return [ModuleCallEntry("", whole), *[ModuleCallEntry(name) for name in self.module_names]]

    def parameters(self) -> Iterator[Parameter]:
        """The parameters."""
        return (p for _, p in self.named_parameters())

    def named_parameters(self) -> Iterator[tuple[str, Parameter]]:
        """The parameters and their names."""
        return ((name, self.tensor(name)) for name in self.graph_signature.parameters)

    def buffers(self) -> Iterator[Tensor]:
        """The buffers."""
        return (b for _, b in self.named_buffers())

    def named_buffers(self) -> Iterator[tuple[str, Tensor]]:
        """The buffers and their names."""
        return ((name, self.tensor(name)) for name in self.graph_signature.buffers)

    def tensor(self, target: str) -> Any:
        """The parameter, buffer or constant of a name."""
        return self._state_dict[target] if target in self._state_dict else self._constants[target]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Unable to call ExportedProgram directly. You should use `exported_program.module()` instead."
        )

    def run_decompositions(self, decomp_table: Any = None) -> ExportedProgram:
        """The program without writes, and with the functions of a table in place of operators.

        What is written in buffers and inputs is a further output; the program's ``module()`` writes it there. Without a
        table operators are divided that PyTorch composes of others (``default_decompositions``).

        Raises:
            NotImplementedError: a function makes a tensor of numbers, or a write has no other form.
            UserError: what a function does depends on a size that may differ.

        >>> import wengert as torch
        >>> program = torch.export.export(torch.nn.SiLU(), (torch.ones(2),))
        >>> divided = program.run_decompositions({torch.ops.aten.silu.default: lambda x: x * x.sigmoid()})
        >>> [n.name for n in divided.graph.nodes]
        ['input', 'sigmoid', 'mul', 'output']
        """
        if decomp_table is None:
            decomp_table = default_decompositions()
        from ._decomposed import decomposed

        new, signature, root = decomposed(self, decomp_table)
        return ExportedProgram(
            new, signature, self._state_dict, self._constants, self._in_spec,
            self._out_spec, self.range_constraints, self.example_inputs, self.name, self.dynamic,
            self.forward_arg_names, self.module_names, root,
        )  # fmt: skip

    def validate(self) -> None:
        """Check the graph.

        Raises:
            RuntimeError: it is not well formed.
        """
        self.graph.lint()

    # ---- running
    def module(self, check_guards: bool = True) -> GraphModule:
        """The program as a module that is called as the exported one was, and shares its parameters.

        Its inputs must have the examples' shapes, but for sizes that may differ.

        >>> import wengert as torch
        >>> linear = torch.nn.Linear(3, 2)
        >>> again = torch.export.export(linear, (torch.ones(4, 3),)).module()
        >>> torch.equal(again(torch.ones(4, 3)), linear(torch.ones(4, 3)))
        True
        >>> try:
        ...     again(torch.ones(5, 3))
        ... except AssertionError as e:
        ...     print(e)
        Guard failed: input.size()[0] == 4
        """
        made = self.made_module(GraphModule)
        inputs = made.graph.find_nodes(op="placeholder")
        if check_guards and inputs:
            made._guards_fn = guards_of(self, made.graph._codegen.pytree_info.orig_args)
            stack = first_call_function_nn_module_stack(made.graph)
            with made.graph.inserting_after(inputs[-1]):
                made.graph.call_module("_guards_fn", tuple(inputs)).meta["nn_module_stack"] = stack
            made.recompile()
        made.register_forward_pre_hook(InputCheck(self), with_kwargs=True)
        made.meta.update(self._graph_module.meta)
        made.train, made.eval = partial(_of_one_mode, "train"), partial(_of_one_mode, "eval")
        return made

    def made_module(self, cls: type[GraphModule]) -> GraphModule:
        """The program as a module of a class, whose inputs are not checked."""
        root = Module()
        graph = Graph()
        copied: dict[Any, Any] = {}
        nodes = list(self.graph.nodes)
        given = list(zip(nodes, self.graph_signature.input_specs, strict=False))
        users = [node for node, spec in given if spec.kind is InputKind.USER_INPUT]
        inputs = [node.name for node in users]
        for node in users:  # first, so that no attribute has their names
            copied[node] = graph.placeholder(node.name)
        with graph.inserting_before(copied[users[0]]) if users else nullcontext():
            for node, spec in given:
                if node not in copied:
                    _place(root, str(spec.target), self.tensor(str(spec.target)), spec)
                    copied[node] = graph.get_attr(str(spec.target))
                copied[node].meta = dict(node.meta)
        for node in nodes[len(given) :]:
            if node.op == "get_attr":  # the graph of a function that ``cond`` or a loop is given
                setattr(root, str(node.target), copy.deepcopy(getattr(self._graph_module, str(node.target))))
            copied[node] = graph.node_copy(node, copied.__getitem__)
        write_mutations(self, graph, copied.__getitem__)
        for old, made in copied.items():
            lifted = made.op in ("get_attr", "output")
            made.meta["from_node"] = [_unlifted(old) if lifted else _copied(old)]
        names, in_spec = _parameters(self._in_spec, inputs, self.forward_arg_names)
        graph.set_codegen(_PyTreeCodeGen(_PyTreeInfo(names, in_spec, self._out_spec)))
        return cls(root, graph)

    def __str__(self) -> str:
        text = self._graph_module._readable("GraphModule", False, {}).strip("\n").replace("\n", "\n    ")
        ranges = "{" + ", ".join(f"{k}: {v}" for k, v in self.range_constraints.items()) + "}"
        return (
            f"ExportedProgram:\n    {text}\n    \nGraph signature: "
            + str(self.graph_signature).replace("\n", "\n    ") + f"\nRange constraints: {ranges}\n"
        )  # fmt: skip

    __repr__ = __str__


def write_mutations(program: ExportedProgram, graph: Graph, copied: Callable[[Node], Node]) -> None:
    """Write the outputs that are new values of inputs into these, in place of returning them.

    ``copied``: the node of one of the program's inputs in this copy of its graph.
    """
    output = next(reversed(graph.nodes))
    signature, results = program.graph_signature, []
    inputs = dict(zip(program.graph.nodes, signature.input_specs, strict=False))
    places = {s.target or n.name: n for n, s in inputs.items()}
    for spec, value in zip(signature.output_specs, output.args[0], strict=True):  # type: ignore[arg-type]
        if spec.target is None:
            results.append(value)
            continue
        with graph.inserting_before(output):
            graph.call_function(torch.ops.aten.copy_.default, (copied(places[spec.target]), value))
    output.args = (tuple(results),)


def _place(root: Module, target: str, tensor: Any, spec: Any) -> None:
    """Put a tensor where the exported module had it."""
    *path, name = target.split(".")
    for part in path:
        if not isinstance(root._modules.get(part), Module):
            root.add_module(part, Module())
        root = root._modules[part]
    if spec.kind is InputKind.PARAMETER:
        root._parameters[name] = tensor
    else:
        root.register_buffer(name, tensor, persistent=spec.kind is InputKind.BUFFER and spec.persistent is not False)


def _copied(node: Node) -> NodeSource:
    return NodeSource(node, "ExportedProgram.module()", NodeSourceAction.CREATE)


def _unlifted(node: Node) -> NodeSource:
    both = [NodeSourceAction.CREATE, NodeSourceAction.REPLACE]
    source = NodeSource(node, "ExportedProgram.module().unlift()", both)
    source.from_node = [_copied(node)]
    return source


def _of_one_mode(name: str, mode: bool = True) -> Any:
    """The modes of a program's module, which has been traced in one of them."""
    raise NotImplementedError(f"Calling {name}() is not supported yet.")


def _parameters(in_spec: Any, inputs: list[str], known: list[str]) -> tuple[list[str], Any]:
    """The names of the parameters of a call, one for each argument, and the structure of the arguments.

    ``known``: the names that the exported module gave to the first of them.
    """
    args_spec, kwargs_spec = in_spec.children()
    if len(known) == len(args_spec.children()):
        return [*known, *(kwargs_spec.context or [])], in_spec
    names: list[str] = []
    at = 0
    for child, key in [(c, None) for c in args_spec.children()] + list(
        zip(kwargs_spec.children(), kwargs_spec.context or [], strict=True)
    ):
        count = child.num_leaves
        first = inputs[at] if at < len(inputs) else f"arg_{len(names)}"
        names.append(
            key if key is not None else first if child.is_leaf() else _stem(inputs[at : at + count], len(names))
        )
        at += count
    return names, in_spec


def _stem(leaves: list[str], i: int) -> str:
    stem = leaves[0].split("_")[0] if leaves else ""
    return f"{stem}_" if stem.isidentifier() and stem not in leaves else f"args_{i}"
