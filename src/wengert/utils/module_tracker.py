"""``torch.utils.module_tracker``: tracks the modules that are running."""

from __future__ import annotations

import weakref
from functools import partial
from typing import Any

from .._base.modes import begin, together, undoing
from .._tape.engine import current_pass

__all__ = ["ModuleTracker"]

_ends: list[Any] = []  # what the contexts that are open call at their end: NOTE [ Interrupts ] in _base/modes.py


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

    @property
    def is_bw(self) -> bool:
        """Whether a backward pass is running."""
        return current_pass() is not None

    def __enter__(self) -> ModuleTracker:
        from ..nn.modules import _handles, _hooked

        key = _handles.ModuleHandle(_hooked._global_forward_hooks).id
        entries: tuple[tuple[Any, Any], ...] = (
            (_hooked._global_forward_pre_hooks, self._begin),
            (_hooked._global_forward_hooks, self._end),
            (_hooked._global_forward_hooks_always_called, True),
        )
        off = together(*[partial(found.pop, key, None) for found, _ in entries], self.running.clear)
        on = [partial(found.__setitem__, key, value) for found, value in entries]
        _handles.seen.append(True)
        begin(together(*on, partial(_ends.append, off)), together(partial(_ends.remove, off), off))
        return self

    __exit__ = undoing(_ends.pop)

    def _begin(self, module: Any, args: Any) -> None:
        if module not in self._names:  # the outermost module names itself, and what is in it
            name = type(module).__name__
            for path, inner in module.named_modules():
                self._names[inner] = f"{name}.{path}" if path else name
        self.running.append(self._names[module])

    def _end(self, module: Any, args: Any, output: Any) -> None:
        if self.running:
            self.running.pop()
