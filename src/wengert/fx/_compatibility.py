"""Which names of ``torch.fx`` PyTorch promises to keep: a mark, which changes nothing here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class _Marks(dict[Any, None]):
    """The objects with a mark. All public ones of ``torch.fx`` have one, since they are PyTorch's."""

    def __contains__(self, obj: Any) -> bool:
        return super().__contains__(obj) or str(getattr(obj, "__module__", "")).partition(".")[2].startswith("fx")


_BACK_COMPAT_OBJECTS: dict[Any, None] = {}
_MARKED_WITH_COMPATIBILITY = _Marks()


def compatibility(is_backward_compatible: bool) -> Callable[[Any], Any]:
    """A decorator that notes whether a function or class stays as it is."""

    def mark(fn: Any) -> Any:
        if is_backward_compatible:
            _BACK_COMPAT_OBJECTS.setdefault(fn)
        _MARKED_WITH_COMPATIBILITY.setdefault(fn)
        return fn

    return mark
