"""What ``torch.jit.trace`` gives: the operators of one run, recorded as ``torch.export`` records them."""

from __future__ import annotations

import dis
import functools
import os
import re
from types import FunctionType, ModuleType
from typing import Any

import wengert as torch
from wengert._base.errors import noted, warn
from wengert.export import ExportedProgram, load, save
from wengert.export._tracing import exported
from wengert.fx.graph_module import GraphModule
from wengert.nn.modules.module import Module

Tensor = torch.Tensor


class TracedModule(GraphModule, torch.jit.ScriptModule):
    """A module that runs the operators of a trace. It has the traced module's parameters and buffers.

    Attributes:
        graph: the operators.
        code: Python that runs them.
        program: the ``ExportedProgram``.
    """

    program: ExportedProgram
    original_name = "Module"

    def save(self, f: Any, _extra_files: Any = None) -> None:
        """Write the trace to a file, which ``torch.jit.load`` reads, with the tensors that the module has now."""
        for tensors in (self.program.state_dict, self.program.constants):
            tensors.update({name: functools.reduce(getattr, name.split("."), self) for name in tensors})
        save(self.program, f, extra_files=_extra_files)

    def _get_name(self) -> str:
        return self.original_name

    def extra_repr(self) -> str:
        return f"original_name={self.original_name}"


class _Function(Module):
    """A function as a module."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.forward = function


def traced(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> TracedModule:
    """Record a run of a module or function."""
    module = func if isinstance(func, Module) else _Function(func)
    program = exported(module, args, kwargs, _warn_of_value)
    return _module_of(program, type(func).__name__ if module is func else getattr(func, "__name__", "function"))


def loaded(f: Any, extra_files: dict[str, Any] | None = None) -> TracedModule:
    """Read a trace; the values of ``extra_files`` become the bytes that the file has under its keys."""
    if isinstance(f, (str, os.PathLike)) and not os.path.isfile(f):
        raise ValueError(f"The provided filename {f} {'is a directory' if os.path.isdir(f) else 'does not exist'}")
    found = dict.fromkeys(extra_files or (), b"")
    try:
        program = load(f, extra_files=found)
    except RuntimeError as e:
        raise noted(
            RuntimeError(f"torch.jit.load: the file holds no trace that wengert wrote ({e})"),
            "Why: PyTorch's own files of torch.jit.save hold compiled programs, and wengert has no TorchScript.",
            "What to do: torch.save(module.state_dict(), path), and load_state_dict into the module's class.",
        ) from e
    for name, text in found.items():
        extra_files[name] = text.encode() if isinstance(text, str) else text  # type: ignore[index]
    return _module_of(program, program.name)


class ScriptedGraph(GraphModule, torch.jit.ScriptModule):
    """What ``torch.jit.script`` gives for a graph: the graph, with ``code`` in TorchScript's names of types."""

    @property
    def code(self) -> str:
        text = re.sub(r"\btyping_(\w+)", r"\1", self._code)
        return re.sub(r"\b(list|dict|tuple)\[", lambda m: m[0].capitalize(), text)


def scripted(graph: GraphModule) -> ScriptedGraph:
    """A graph as a script, after a look at the functions that it calls.

    Raises:
        RuntimeError: one of them uses a name that a module does not have.
    """
    name = type(graph).__name__
    for function in [node.target for node in graph.graph.nodes if isinstance(node.target, FunctionType)]:
        module: Any = None
        for step in dis.get_instructions(function):
            if isinstance(module, ModuleType) and step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                if not hasattr(module, step.argval):
                    raise RuntimeError(
                        f"Module {module.__name__.replace('wengert', 'torch')!r} has no attribute {step.argval!r}\n"
                        f"{function.__name__!r} is being compiled since it was called from '{name}.forward'"
                    )
                module = getattr(module, step.argval)
            else:
                module = function.__globals__.get(step.argval) if step.opname == "LOAD_GLOBAL" else None
    return ScriptedGraph(graph, graph.graph, name)


def _module_of(program: ExportedProgram, name: str) -> TracedModule:
    made: Any = program.made_module(TracedModule)
    made.program, made.original_name = program, name
    return made


def _warn_of_value(name: str, tensor: Tensor) -> None:
    kind = {"__bool__": "boolean", "__float__": "float", "__int__": "integer", "__index__": "index"}.get(name, "number")
    warn(
        f"Converting a tensor to a Python {kind} might cause the trace to be incorrect. We can't record the data flow "
        "of Python values, so this value will be treated as a constant in the future. This means that the trace might "
        "not generalize to other inputs!",
        torch.jit.TracerWarning,
    )
