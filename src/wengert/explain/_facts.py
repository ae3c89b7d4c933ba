"""What a graph says about itself: its nodes in order, their lines in the program, and the names of its leaves."""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .._base.errors import program_frame
from .._base.places import cell, span
from .._tape.node import AccumulateGrad
from .._tape.tensor import Tensor
from ..nn.modules.module import Module

WIDTH = 96  # of a line of an answer


class Answer:
    """The text of an answer; ``str``, ``repr`` and ``print`` show it."""

    def __init__(self, *lines: str) -> None:
        self.text = "\n".join(line for line in lines if line)

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(self.text)}</pre>"


class Line(NamedTuple):
    """A line of the user's program."""

    file: str
    number: int
    function: str
    text: str

    def __str__(self) -> str:
        """``train.py:31``, in a notebook ``In[7]:4``."""
        return f"{file_name(self.file)}:{self.number}"

    def shown(self, indent: str = "  ") -> str:
        """The place and the text of the line."""
        return f"{indent}{self}   {self.text}"[:WIDTH] if self.text else f"{indent}{self}"


def file_name(file: str) -> str:
    """``train.py``, and ``In[7]`` for a file that stands for a cell of a notebook."""
    return cell(file).removeprefix("Cell ") or os.path.basename(file)


def line_of(node: Any) -> Line | None:
    """The line that made a node; None for a leaf."""
    code = getattr(node, "_code", None)
    if code is None or isinstance(node, AccumulateGrad):
        return None
    return line_at(code, span(code, node._lasti).line)


def line_at(code: Any, number: int) -> Line:
    """A line of a code object."""
    return Line(code.co_filename, number, code.co_name, linecache.getline(code.co_filename, number).strip())


def history(x: Any) -> list[Any]:
    """The nodes behind a tensor, each before those that it points to."""
    if x.grad_fn is None:
        return [leaf] if (leaf := x._node) is not None else []
    return in_order(x.grad_fn)


def in_order(root: Any) -> list[Any]:
    """The nodes that can be reached from ``root``, each before those that it points to."""
    edges: dict[Any, list[Any]] = {}
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node not in edges:
            edges[node] = below(node)
            waiting += edges[node]
    arriving = dict.fromkeys(edges, 0)
    for children in edges.values():
        for child in children:
            arriving[child] += 1
    ordered, ready = [], [root]
    while ready:
        node = ready.pop()
        ordered.append(node)
        for child in edges[node]:
            arriving[child] -= 1
            if not arriving[child]:
                ready.append(child)
    return ordered


def below(node: Any) -> list[Any]:
    """The different nodes that a node points to."""
    return list(dict.fromkeys(child for child, _ in node.next_functions if child is not None))


def is_leaf(node: Any) -> bool:
    """Whether a node is a leaf's."""
    return isinstance(node, AccumulateGrad)


def short_name(node: Any) -> str:
    """A node's name without a namespace: ``AccumulateGrad`` for PyTorch's ``torch::autograd::AccumulateGrad``."""
    return str(node.name().rpartition("::")[2])


def saved(node: Any) -> Iterator[tuple[str, Tensor]]:
    """The tensors that a node has saved, by name; none once they are freed."""
    for name in node.looked_at().saved_names:
        try:
            value = getattr(node, f"_saved_{name}")
        except (RuntimeError, AttributeError):
            continue
        for part in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(part, Tensor):
                yield name, part


def names_in_scope() -> dict[int, str]:
    """The names of the tensors in the user's variables, by ``id``; parameters are named after their module."""
    frame = program_frame(sys._getframe(1))
    scope = {**frame.f_globals, **frame.f_locals}
    names: dict[int, str] = {}
    for name, value in scope.items():
        if isinstance(value, Tensor) and name.isidentifier() and not name.startswith("_"):
            names.setdefault(id(value), name)
    for name, value in scope.items():
        if isinstance(value, Module):
            for path, parameter in value.named_parameters():
                names.setdefault(id(parameter), f"{name}.{path}")
    return names


def named(x: Any, names: Mapping[int, str], other: str = "the tensor") -> str:
    """The name of a tensor, or a description."""
    return names.get(id(x), other)


def leaf_text(node: Any, names: Mapping[int, str]) -> str:
    """A leaf as its name, or as its shape."""
    variable = node.variable
    return names.get(id(variable), f"an unnamed leaf of shape {list(variable.shape)}")


def leaf_title(node: Any, names: Mapping[int, str]) -> str:
    """A leaf in a picture: its name, if it has one, and its shape."""
    return f"{names.get(id(node.variable), '')} {tuple(node.variable.shape)}".strip()


def listed(words: list[str], most: int = 6) -> str:
    """``a, b and 3 more``."""
    if len(words) <= most:
        return ", ".join(words)
    return f"{', '.join(words[:most])} and {len(words) - most} more"


def size_text(n: float) -> str:
    """A number of bytes as text."""
    for unit in ("B", "kB", "MB"):
        if n < 1000:
            return f"{n:.0f} {unit}" if unit == "B" else f"{n:.1f} {unit}"
        n /= 1000
    return f"{n:.1f} GB"
