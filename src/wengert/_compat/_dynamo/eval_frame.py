"""``OptimizedModule``, the result of ``torch.compile`` for a module."""

from __future__ import annotations

from collections.abc import Callable, Sized
from typing import Any

from wengert._compat import open_rows
from wengert.nn.modules.module import Module

__all__ = ["OptimizedModule"]


class OptimizedModule(Module):
    """A wrapper module like PyTorch's compiled ones, which runs the programs of the inner module ``_orig_mod``.

    The parameters' names begin with ``_orig_mod.``, and hooks of both modules run. All other attributes are those of
    the inner module, for reading, writing and deleting.
    """

    def __init__(self, mod: Module, dynamo_ctx: Any = None) -> None:
        self.__dict__["_orig_mod"] = mod  # for `training`, which Module.__init__ sets
        super().__init__()
        del self.__dict__["_orig_mod"]
        self._modules["_orig_mod"] = mod

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the inner module, or a program of it."""
        compiled = self.__dict__.get("_compiled")
        return self._orig_mod(*args, **kwargs) if compiled is None else compiled(*args, **kwargs)

    @property
    def training(self) -> bool:
        """The training mode of the inner module."""
        return self._orig_mod.training

    @training.setter
    def training(self, value: bool) -> None:
        if "_modules" in self.__dict__ and self._modules:  # otherwise Module.__init__ sets it
            self._orig_mod.training = value

    def __len__(self) -> int:
        if isinstance(self._orig_mod, Sized):
            return len(self._orig_mod)
        raise TypeError(f"{type(self._orig_mod).__name__} does not support len()")

    def __dir__(self) -> list[str]:
        return sorted({*dir(self._orig_mod), *super().__dir__()})

    def __reduce__(self) -> Any:
        return (type(self), (self._orig_mod,))

    def __getattr__(self, name: str) -> Any:
        mod = self.__dict__["_modules"]["_orig_mod"]
        return mod if name == "_orig_mod" else getattr(mod, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if (
            hasattr(type(self), name)
            or name == "_compiled"
            or "_orig_mod" not in self.__dict__.get("_modules", ())
            or name == "_orig_mod"
        ):
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)

    def __delattr__(self, name: str) -> None:
        if hasattr(type(self), name):
            super().__delattr__(name)
        else:
            delattr(self._orig_mod, name)


def innermost_fn(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function or method inside of what ``disable`` and its like give."""
    while hasattr(fn, "__wrapped__") and not hasattr(fn, "__self__"):
        fn = fn.__wrapped__
    return fn


open_rows(globals())
