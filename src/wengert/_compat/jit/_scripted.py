"""What ``torch.jit.script`` gives for a module: its Python, which looks compiled from outside."""

from __future__ import annotations

import copy
from typing import Any

import wengert as torch
from wengert.fx._script_objects import ScriptObject
from wengert.nn.modules.module import Module


class ScriptedModule(torch.jit.RecursiveScriptModule, torch.jit.ScriptModule):
    """The first base of a scripted module's class, whose other one is the class of the module.

    Attributes:
        original_name: the name of the module's class.
    """

    original_name: str

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes, in one step of a trace."""
        return self._c.forward(*args, **kwargs)

    def _get_name(self) -> str:
        return "RecursiveScriptModule"

    def extra_repr(self) -> str:
        return f"original_name={self.original_name}"


class _Program:
    """The methods of a scripted module as its class has them."""

    def __init__(self, module: ScriptedModule) -> None:
        self.module = module

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super(ScriptedModule, self.module).forward(*args, **kwargs)
        except AssertionError as e:
            raise torch.jit.Error(
                "The following operation failed in the TorchScript interpreter.\n"
                f"Traceback of TorchScript (most recent call last):\nRuntimeError: AssertionError: {e}"
            ) from e

    def __getattr__(self, name: str) -> Any:
        if name == "module":
            raise AttributeError(name)
        return getattr(self.module, name)


def scripted_module(module: Module) -> Module:
    """A module of the same parameters and buffers, whose submodules are scripted too."""
    if isinstance(module, torch.jit.ScriptModule):
        return module
    kind = type(module)
    cls: Any = type("RecursiveScriptModule", (ScriptedModule, kind), {"__module__": f"{__package__}._script"})
    made = cls.__new__(cls)
    own = vars(module)
    vars(made).update({k: copy.copy(v) if k[0] == "_" and isinstance(v, dict) else v for k, v in own.items()})
    vars(made).update(original_name=kind.__name__, _c=ScriptObject(_Program(made)))
    made._modules.update({k: m and torch.jit._script_module(m) for k, m in module._modules.items()})
    return made  # type: ignore[no-any-return]
