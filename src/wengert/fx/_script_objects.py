"""Objects whose methods a trace records as calls: what PyTorch compiles for TorchScript, in Python."""

from __future__ import annotations

from typing import Any

from .._tensor_api.torch_function import ask, overriding

__all__ = ["ScriptMethod", "ScriptObject"]


class ScriptMethod:
    """A method of a ``ScriptObject``, which its arguments may override."""

    def __init__(self, owner: ScriptObject, name: str, method: Any) -> None:
        self.owner, self.name, self.method = owner, name, method
        self.__name__ = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        found = overriding(args, kwargs)
        return ask(self, found, args, kwargs) if found else self.method(*args, **kwargs)


class ScriptObject:
    """An object of which only the methods are seen. A tracer writes it as ``get_attr``, a call as ``call_method``."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        if name == "_inner" or (name.startswith("__") and name.endswith("__")):
            raise AttributeError(name)
        return ScriptMethod(self, name, getattr(self._inner, name))
