"""``torch.export.unflatten``: a program as modules with the names of the exported ones, which can be exchanged.

Nodes tell the calls of modules that they belong to (``meta["nn_module_stack"]``). Each call becomes a graph of its own:
what it takes from outside are its inputs, what is used outside its results. Calls of a module that do the same share
one module; another one is ``name@1``.
"""

from __future__ import annotations

import copy
import operator
from typing import Any

import wengert as torch

from ..fx._codegen import _PyTreeCodeGen, _PyTreeInfo
from ..fx.graph import Graph
from ..fx.graph_module import GraphModule
from ..fx.node import Node, map_arg
from ..nn.modules.module import Module
from ._guards import InputCheck
from .exported_program import ExportedProgram, _parameters, _place, write_mutations
from .graph_signature import InputKind

__all__ = ["InterpreterModule", "UnflattenedModule", "unflatten"]


class InterpreterModule(GraphModule):
    """What one module of an exported program computes."""

    __str__ = Module.__repr__


class UnflattenedModule(InterpreterModule):
    """An exported program with the modules that it was made of."""


def unflatten(module: ExportedProgram, flat_args_adapter: Any = None) -> UnflattenedModule:
    """The program as a module that has the exported one's submodules, parameters and buffers under their names.

    Raises:
        NotImplementedError: ``flat_args_adapter`` is given.

    >>> import wengert as torch
    >>> layers = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU())
    >>> again = torch.export.unflatten(torch.export.export(layers, (torch.ones(4, 3),)))
    >>> again.add_module("1", torch.nn.Sigmoid())
    >>> torch.equal(again(torch.ones(4, 3)), layers[0](torch.ones(4, 3)).sigmoid())
    True
    """
    if flat_args_adapter is not None:
        raise NotImplementedError("unflatten: inputs of other structures are not adapted")
    return _Writer(module).whole()


class _Scope:
    """One call of a module: ``items`` are nodes and calls inside."""

    def __init__(self, key: str, path: str) -> None:
        self.key, self.path, self.items = key, path, list[Any]()
        self.inputs: list[Node] = []
        self.outputs: list[Node] = []

    def nodes(self) -> list[Node]:
        return [n for item in self.items for n in (item.nodes() if isinstance(item, _Scope) else [item])]


class _Writer:
    """Writes the modules of one program."""

    def __init__(self, program: ExportedProgram) -> None:
        self.program = program
        placeholders = program.graph.find_nodes(op="placeholder")
        pairs = list(zip(placeholders, program.graph_signature.input_specs, strict=True))
        self.held = {n: spec for n, spec in pairs if spec.kind is not InputKind.USER_INPUT}
        self.users = [n for n, spec in pairs if spec.kind is InputKind.USER_INPUT]
        self.made: dict[str, list[InterpreterModule]] = {}
        self.copies: dict[int, Any] = {}

    def tensor(self, target: str) -> Any:
        """The copy of a parameter, buffer or constant: the module does not share them, as in PyTorch."""
        held = self.program.tensor(target)
        if isinstance(held, torch.Tensor) and id(held) not in self.copies:
            copied = held.detach().clone()
            parameter = isinstance(held, torch.nn.Parameter)
            self.copies[id(held)] = torch.nn.Parameter(copied, held.requires_grad) if parameter else copied
        return self.copies.get(id(held), held)

    def whole(self) -> UnflattenedModule:
        """The module that is called as the exported one was."""
        scope, program = self._scopes(), self.program
        scope.inputs = self.users
        made = UnflattenedModule(Module(), Graph(), "UnflattenedModule")
        self._write(scope, made)
        names, in_spec = _parameters(program._in_spec, [n.name for n in self.users], program.forward_arg_names)
        made.graph.set_codegen(_PyTreeCodeGen(_PyTreeInfo(names, in_spec, program._out_spec)))
        for spec in self.held.values():
            _place(made, str(spec.target), self.tensor(str(spec.target)), spec)
        made.recompile()
        made.register_forward_pre_hook(InputCheck(program), with_kwargs=True)
        return made

    def _scopes(self) -> _Scope:
        """The calls of the program, the module's own outermost."""
        root, stack = _Scope("", ""), dict[str, Any]()
        for node in self.program.graph.nodes:
            if node.op == "placeholder":
                continue
            stack = {} if node.op == "output" else node.meta.get("nn_module_stack", stack)
            scope = root
            for key, (path, _) in list(stack.items())[1:]:
                if not (scope.items and isinstance(scope.items[-1], _Scope) and scope.items[-1].key == key):
                    scope.items.append(_Scope(key, path))
                scope = scope.items[-1]
            scope.items.append(node)
        return root

    def _is_own(self, node: Node, path: str) -> bool:
        """Whether a node is a tensor of a module, or of one below it."""
        return node in self.held and str(self.held[node].target).startswith(f"{path}." if path else "")

    def _ends(self, scope: _Scope) -> None:
        """Find the inputs and results of a call."""
        nodes = dict.fromkeys(scope.nodes())
        used = dict.fromkeys(n for node in nodes for n in node.all_input_nodes)
        scope.inputs = [n for n in used if n not in nodes and not self._is_own(n, scope.path)]
        scope.outputs = [n for n in nodes if any(user not in nodes for user in n.users)]

    def _write(self, scope: _Scope, module: GraphModule) -> None:
        """Write the graph of a call, with the modules that it calls."""
        graph, known, start = Graph(), {}, len(scope.path) + bool(scope.path)
        for n in scope.inputs:
            known[n] = graph.placeholder(n.name)
        calls = [item for item in scope.items if isinstance(item, _Scope)]
        for call in calls:
            self._ends(call)
        needed = [
            n for item in scope.items for n in (item.inputs if isinstance(item, _Scope) else item.all_input_nodes)
        ]
        for n in self.held:
            if n in needed and n not in known:
                known[n] = graph.get_attr(str(self.held[n].target)[start:])
        for item in scope.items:
            if isinstance(item, _Scope):
                name = self._called(item, module, start)
                result = graph.call_module(name, tuple([known[n] for n in item.inputs]))
                for i, n in enumerate(item.outputs):
                    several = len(item.outputs) > 1
                    known[n] = graph.call_function(operator.getitem, (result, i)) if several else result
            else:
                if item.op == "get_attr":
                    setattr(module, item.target, copy.deepcopy(getattr(self.program.graph_module, item.target)))
                known[item] = graph.node_copy(item, known.__getitem__)
        for n in self.held:
            if self._is_own(n, scope.path) and n in known and known[n].op == "get_attr":
                target = str(self.held[n].target)
                _place(module, target[start:], self.tensor(target), self.held[n])
        if scope.path:
            results = [known[n] for n in scope.outputs]
            graph.output(results[0] if len(results) == 1 else results)
        else:
            write_mutations(self.program, graph, lambda n: known.get(n) or graph.get_attr(str(self.held[n].target)))
        module.graph = graph

    def _called(self, scope: _Scope, owner: Module, start: int) -> str:
        """The name below ``owner`` of the module of a call, which is put there."""
        module = InterpreterModule(Module(), Graph(), "InterpreterModule")
        self._write(scope, module)
        made = self.made.setdefault(scope.path, [])
        at = next((i for i, m in enumerate(made) if _described(m.graph) == _described(module.graph)), len(made))
        if at == len(made):
            made.append(module)
        name = scope.path[start:] + (f"@{at}" if at else "")
        *path, last = name.split(".")
        for part in path:
            if part not in owner._modules:
                owner.add_module(part, Module())
            owner = owner._modules[part]  # type: ignore[assignment]
        owner._modules[last] = made[at]
        return name


def _described(graph: Graph) -> list[Any]:
    """What a graph computes, with numbers for nodes."""
    places = {node: i for i, node in enumerate(graph.nodes)}
    return [
        (n.op, n.op == "placeholder" or str(n.target), str(map_arg((n.args, n.kwargs), lambda a: places[a])))
        for n in graph.nodes
    ]
