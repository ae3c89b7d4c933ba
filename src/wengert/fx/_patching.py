"""``_Patcher``: replaces functions in modules and methods of classes while a program is traced, and puts them back."""

from __future__ import annotations

import builtins
import contextlib
from collections.abc import Iterator
from functools import partial
from typing import Any

from .._base.modes import unwinding
from .._tensor_api.override_sites import check_everything, end_check

_ABSENT = object()


class _Patcher:
    """Replaces functions in modules and methods of classes, and puts them back."""

    def __init__(self) -> None:
        self.patches_made: list[tuple[Any, str, Any, Any]] = []  # dict or class, name, what was there, what is
        self.visited: set[int] = set()
        self._undo, self._put_back = unwinding()

    def patch(self, frame_dict: dict[str, Any], name: str, new_fn: Any, deduplicate: bool = True) -> None:
        """Replace a global; a builtin is added."""
        new_fn.__fx_already_patched = deduplicate
        if name not in frame_dict and hasattr(builtins, name):
            self._make(frame_dict, name, _ABSENT, new_fn)
        elif not getattr(frame_dict[name], "__fx_already_patched", False):
            self._make(frame_dict, name, frame_dict[name], new_fn)

    def patch_method(self, cls: type, name: str, new_fn: Any, deduplicate: bool = True) -> None:
        """Replace a method."""
        new_fn.__fx_already_patched = deduplicate
        orig_fn = getattr(cls, name)
        if not getattr(orig_fn, "__fx_already_patched", False):
            self._make(cls, name, orig_fn, new_fn)

    def _make(self, owner: Any, name: str, old: Any, new: Any) -> None:
        self.patches_made.append((owner, name, old, new))
        if isinstance(owner, type):
            self._undo.append(partial(setattr, owner, name, old))
        else:
            self._undo.append(partial(owner.pop, name) if old is _ABSENT else partial(owner.__setitem__, name, old))
        _put(owner, name, new)

    def visit_once(self, thing: Any) -> bool:
        """True the first time that it is called with an object."""
        seen = id(thing) in self.visited
        self.visited.add(id(thing))
        return not seen

    def revert_all_patches(self) -> list[Any]:
        """Put back what was there, the last change first; the changes stay known."""
        for owner, name, old, _ in reversed(self.patches_made):
            _put(owner, name, old)
        return self.patches_made

    def reapply_all_patches(self) -> list[Any]:
        """Make the known changes again."""
        for owner, name, _, new in self.patches_made:
            _put(owner, name, new)
        return self.patches_made

    def __enter__(self) -> _Patcher:
        self._everything = check_everything()
        return self

    def __exit__(self, *exc: object) -> None:
        self._put_back()
        end_check(self._everything)
        self.patches_made.clear()
        self.visited.clear()


def _put(owner: Any, name: str, value: Any) -> None:
    if isinstance(owner, type):
        setattr(owner, name, value)
    elif value is _ABSENT:
        del owner[name]
    else:
        owner[name] = value


CURRENT_PATCHER: _Patcher | None = None


@contextlib.contextmanager
def _new_patcher() -> Iterator[_Patcher]:
    global CURRENT_PATCHER
    former, patcher = CURRENT_PATCHER, _Patcher()
    CURRENT_PATCHER = patcher
    try:
        try:
            yield patcher
        finally:
            patcher._put_back()
    finally:
        CURRENT_PATCHER = former


@contextlib.contextmanager
def _maybe_revert_all_patches() -> Iterator[None]:
    """A context in which nothing is replaced, inside of a trace."""
    patcher = CURRENT_PATCHER
    if patcher is not None:
        patcher.revert_all_patches()
    try:
        yield
    finally:
        if patcher is not None:
            patcher.reapply_all_patches()
