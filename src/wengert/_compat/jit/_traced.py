"""What ``torch.jit.trace`` gives: the operators of one run, recorded as ``torch.export`` records them."""

from __future__ import annotations

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

    def save(self, f: Any, **_: Any) -> None:
        """Write the trace to a file, which ``torch.jit.load`` reads."""
        save(self.program, f)

    def _get_name(self) -> str:
        return self.original_name

    def extra_repr(self) -> str:
        """The traced class."""
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


def loaded(f: Any, map_location: Any = None) -> TracedModule:
    """Read a trace."""
    try:
        program = load(f)
    except RuntimeError as e:
        raise noted(
            RuntimeError(f"torch.jit.load: the file holds no trace that wengert wrote ({e})"),
            "Why: PyTorch's own files of torch.jit.save hold compiled programs, and wengert has no TorchScript.",
            "What to do: torch.save(module.state_dict(), path), and load_state_dict into the module's class.",
        ) from e
    return _module_of(program, program.name)


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
