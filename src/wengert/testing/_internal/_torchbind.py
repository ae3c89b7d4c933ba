"""Some of the classes that PyTorch's tests load from ``libtorchbind_test.so``, in Python."""

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


class _ElementwiseInterpreter:
    """Runs a list of additions and multiplications: what programs are lowered to."""

    def __init__(self) -> None:
        self._constants: dict[str, Any] = {}

    def set_instructions(self, instructions: list[Any]) -> None:
        """Set the steps: ``(name of the operation, names of its operands, name of its result)``."""
        self._instructions = list(instructions)

    def add_constant(self, name: str, value: Any) -> None:
        """Give a tensor a name."""
        self._constants[name] = value

    def set_input_names(self, names: list[str]) -> None:
        """Set the names of the inputs."""
        self._inputs = list(names)

    def set_output_name(self, name: str) -> None:
        """Set the name of what a call returns."""
        self._output = name

    def __call__(self, inputs: list[Any]) -> Any:
        """Run the steps."""
        values = self._constants | dict(zip(self._inputs, inputs, strict=True))
        for operation, operands, result in self._instructions:
            values[result] = getattr(torch, operation)(*[values[name] for name in operands])
        return values[self._output]


CLASSES = {"_ElementwiseInterpreter": _ElementwiseInterpreter, "_ReLUClass": _ReLUClass, "_StackString": _StackString}
