"""Two of the classes that PyTorch's tests load from ``libtorchbind_test.so``, in Python."""

from __future__ import annotations

from typing import Any

import wengert as torch

__all__: list[str] = []


class _ReLUClass:
    """A function that is an object."""

    def run(self, x: Any) -> Any:
        """``relu`` of the tensor."""
        return torch.relu(x)


class _StackString:
    """A stack of strings."""

    def __init__(self, items: list[str]) -> None:
        self._items = list(items)

    def push(self, item: str) -> None:
        """Put one on top."""
        self._items.append(item)

    def pop(self) -> str:
        """Take the last one."""
        return self._items.pop()

    def top(self) -> str:
        """The last one."""
        return self._items[-1]


CLASSES = {"_ReLUClass": _ReLUClass, "_StackString": _StackString}
