"""``torch._tensor_str``: functions that print tensors, by PyTorch's names, for classes that print in the same way.

>>> import wengert as torch
>>> from wengert._tensor_str import PRINT_OPTS, _add_suffixes, _tensor_str
>>> _add_suffixes("Edges(" + _tensor_str(torch.tensor([0, 1]), 6), ["nnz=2"], 6, force_newline=False)
'Edges([0, 1], nnz=2)'
>>> PRINT_OPTS.precision
4
"""

from __future__ import annotations

from typing import Any

from wengert._tape.tensor import Tensor
from wengert._tensor_api.printing import (
    _element,
    _options,
    format_contents,
    get_printoptions,
    join_suffixes,
    printoptions,
    set_printoptions,
)
from wengert._tensor_api.protocol import array_of

__all__ = ["PRINT_OPTS", "get_printoptions", "printoptions", "set_printoptions"]


class _PrinterOptions:
    """The current print options, as attributes that can be read and set."""

    def __getattr__(self, name: str) -> Any:
        try:
            return _options[name]
        except KeyError:
            raise AttributeError(f"there is no print option {name!r}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _options:
            raise AttributeError(f"there is no print option {name!r}")
        _options[name] = value

    def __repr__(self) -> str:
        return f"PrinterOptions({', '.join(f'{name}={value!r}' for name, value in _options.items())})"


PRINT_OPTS = _PrinterOptions()


class _Formatter:
    """How the elements of a tensor of real numbers are written, each in one width."""

    def __init__(self, tensor: Tensor) -> None:
        self._spec, self.max_width, _ = _element(array_of(tensor), str(tensor.dtype).removeprefix("torch."))

    def width(self) -> int:
        """The characters of an element."""
        return self.max_width

    def format(self, value: Any) -> str:
        """A number as an element's text."""
        return self._spec % value


def _tensor_str(self: Tensor, indent: int) -> str:
    """The text between ``tensor(`` and the suffixes, if its first bracket is in column ``indent``."""
    return format_contents(array_of(self), str(self.dtype).removeprefix("torch."), indent)


def _add_suffixes(tensor_str: str, suffixes: list[str], indent: int, force_newline: bool) -> str:
    """The text with suffixes, on the same line if they fit, and the closing bracket."""
    if force_newline and suffixes:
        head = f"{tensor_str},\n{' ' * indent}{suffixes[0]}"
        return join_suffixes(head, suffixes[1:], indent) + ")"
    return join_suffixes(tensor_str, suffixes, indent) + ")"
