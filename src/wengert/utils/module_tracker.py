"""``torch.utils.module_tracker``: tracks the modules that are running."""

from __future__ import annotations

import weakref
from typing import Any

__all__ = ["ModuleTracker"]


class ModuleTracker:
    """A context in which ``parents`` is the set of names of the modules that are running, with ``"Global"``.

    >>> import wengert as torch
    >>> from wengert.utils.module_tracker import ModuleTracker
    >>> class Net(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.act = torch.nn.ReLU()
    ...     def forward(self, x):
    ...         print(sorted(tracker.parents))
    ...         return self.act(x)
    >>> with ModuleTracker() as tracker:
    ...     _ = Net()(torch.ones(1))
    ['Global', 'Net']
    """

    def __init__(self) -> None:
        self.running: list[str] = []
        self._names: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()

    @property
    def parents(self) -> set[str]:
        """The names of the modules that are running, and ``"Global"``."""
        return {"Global", *self.running}

    def __enter__(self) -> ModuleTracker:
        from ..nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

        self._handles = [
            register_module_forward_pre_hook(self._begin),
            register_module_forward_hook(self._end, always_call=True),
        ]
        return self

    def __exit__(self, *exc: object) -> None:
        for handle in self._handles:
            handle.remove()
        self.running.clear()

    def _begin(self, module: Any, args: Any) -> None:
        if module not in self._names:  # the outermost module names itself, and what is in it
            name = type(module).__name__
            for path, inner in module.named_modules():
                self._names[inner] = f"{name}.{path}" if path else name
        self.running.append(self._names[module])

    def _end(self, module: Any, args: Any, output: Any) -> None:
        if self.running:
            self.running.pop()
