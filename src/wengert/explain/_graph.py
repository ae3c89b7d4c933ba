"""``graph``: the graph behind a tensor as a picture and as text, with repeated lines folded into one box."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from .._tape.tensor import Tensor
from . import svg
from ._facts import below, history, is_leaf, leaf_title, line_of, names_in_scope, short_name

FOLD_FROM = 40  # nodes; a smaller graph shows each
_TEXT = 46  # characters of a box


class Box(NamedTuple):
    """What one box of the picture stands for."""

    title: str
    detail: str
    is_leaf: bool
    nodes: list[Any]


class Picture:
    """The graph behind a tensor: a picture in a notebook, a tree of text on ``print``, a file by ``save``."""

    def __init__(self, root: Tensor, names: Mapping[int, str], fold: bool | None, title: str) -> None:
        nodes = history(root)
        folded = len(nodes) > FOLD_FROM if fold is None else fold
        self.title = title
        self.boxes = _folded(nodes, names) if folded else _single(nodes, names)
        self.children = _arrows(self.boxes)

    def __str__(self) -> str:
        return "\n".join(_tree(self.boxes, self.children))

    __repr__ = __str__

    def _repr_svg_(self) -> str:
        return self.svg()

    def svg(self) -> str:
        """The picture as SVG."""
        labels: dict[Hashable, list[str]] = {
            key: [_cut(part) for part in (box.title, box.detail) if part] for key, box in enumerate(self.boxes)
        }
        tips: dict[Hashable, str] = {
            key: f"{box.title}\n{_operations(box.nodes)}" for key, box in enumerate(self.boxes)
        }
        return svg.draw({key: list(below) for key, below in self.children.items()}, labels, self.title, tips)

    def dot(self) -> str:
        """The graph in Graphviz's language."""
        rows = ["digraph {", '  node [shape=box, fontname="monospace"]']
        rows += [
            f"  {key} [label={_quoted(box)}{', style=filled, fillcolor=lightyellow' if box.is_leaf else ''}]"
            for key, box in enumerate(self.boxes)
        ]
        rows += [f"  {key} -> {child}" for key, below in self.children.items() for child in below]
        return "\n".join([*rows, "}\n"])

    def mermaid(self) -> str:
        """The graph in Mermaid's language, which GitHub draws."""
        rows = ["graph TD"]
        for key, box in enumerate(self.boxes):
            label = "<br>".join(escape(part, quote=True).replace("`", "'") for part in (box.title, box.detail) if part)
            rows.append(f'  n{key}(["{label}"])' if box.is_leaf else f'  n{key}["{label}"]')
        rows += [f"  n{key} --> n{child}" for key, below in self.children.items() for child in below]
        return "\n".join(rows) + "\n"

    def html(self) -> str:
        """A page with the picture."""
        return f"<!doctype html><meta charset=utf-8><title>{escape(self.title)}</title>\n{self.svg()}"

    def save(self, path: str | Path) -> None:
        """Write the picture; the ending says how: ``.svg``, ``.html``, ``.dot`` or ``.mmd`` (Mermaid).

        Raises:
            ValueError: another ending.
        """
        makers = {".svg": self.svg, ".html": self.html, ".dot": self.dot, ".mmd": self.mermaid}
        ending = Path(path).suffix
        if ending not in makers:
            raise ValueError(f"cannot write a graph as {ending or 'a file without ending'}: use {', '.join(makers)}")
        Path(path).write_text(makers[ending](), encoding="utf-8")


def graph(x: Tensor, *, fold: bool | None = None, title: str = "") -> Picture:
    """The graph behind a tensor.

    Args:
        x: a tensor with a history.
        fold: one box for each line of the program, with a count where it ran more than once; by default if the graph
            has more than 40 nodes.
        title: the picture's title.

    Raises:
        ValueError: the tensor has no history.

    >>> import wengert as torch
    >>> from wengert import explain
    >>> w = torch.ones(3, requires_grad=True)
    >>> picture = explain.graph((w * 2).sum())
    >>> [box.title for box in picture.boxes]
    ['SumBackward0', 'MulBackward0', 'w (3,)']
    """
    if x.grad_fn is None:
        raise ValueError("a leaf has no graph: draw the result of an operation")
    names = names_in_scope()
    return Picture(x, names, fold, title or f"The graph behind {names.get(id(x), 'the tensor')}")


# ---- folding
def _single(nodes: list[Any], names: Mapping[int, str]) -> list[Box]:
    return [
        Box(leaf_title(n, names), "", True, [n]) if is_leaf(n) else Box(short_name(n), _place(n), False, [n])
        for n in nodes
    ]


def _place(node: Any) -> str:
    line = line_of(node)
    return str(line) if line is not None and line.text else ""


def _folded(nodes: list[Any], names: Mapping[int, str]) -> list[Box]:
    """A box for each line, and one for the leaves of each pattern of names: ``model.layers.*.weight``."""
    groups: dict[Any, list[Any]] = {}
    for node in nodes:
        if is_leaf(node):
            name = names.get(id(node.variable))
            key: Any = ("leaf", id(node) if name is None else re.sub(r"\d+", "*", name.rpartition(".")[0] or name))
        else:
            line = line_of(node)
            key = ("line", id(node)) if line is None else (line.file, line.number, line.function)
        groups.setdefault(key, []).append(node)
    return [_leaves(group, names) if key[0] == "leaf" else _line(group) for key, group in groups.items()]


def _leaves(group: list[Any], names: Mapping[int, str]) -> Box:
    if len(group) == 1:
        return Box(leaf_title(group[0], names), "", True, group)
    patterns = sorted({re.sub(r"\d+", "*", names[id(n.variable)]) for n in group})
    stem = patterns[0].rpartition(".")[0]
    ends = ", ".join(pattern.rpartition(".")[2] for pattern in patterns)
    return Box(stem or patterns[0], f"{ends} ({len(group)} tensors)", True, group)


def _line(group: list[Any]) -> Box:
    line = line_of(group[0])
    runs = min(Counter(type(node) for node in group).values())
    times = f" x {runs}" if runs > 1 else ""
    if line is None or not line.text:
        return Box(short_name(group[0]) + times, "", False, group)
    return Box(line.text, f"{line}{times}: {_operations(group)}", False, group)


def _operations(nodes: list[Any]) -> str:
    kinds = dict.fromkeys(short_name(n).partition("Backward")[0] for n in nodes)
    return ", ".join(kinds)


def _arrows(boxes: list[Box]) -> dict[int, list[int]]:
    """The boxes that each box points to, without those that close a circle (a loop of the program)."""
    box_of = {node: key for key, box in enumerate(boxes) for node in box.nodes}
    wanted: dict[int, list[int]] = {key: [] for key in range(len(boxes))}
    for key, box in enumerate(boxes):
        targets = [box_of[child] for node in box.nodes for child in below(node)]
        wanted[key] = [child for child in dict.fromkeys(targets) if child != key]
    return _without_circles(wanted)


def _without_circles(wanted: dict[int, list[int]]) -> dict[int, list[int]]:
    """The same arrows but for those that point back to a box on the way from the first one, in topological order."""
    state = dict.fromkeys(wanted, 0)  # 1: on the way, 2: done
    kept: dict[int, list[int]] = {key: [] for key in wanted}
    finished: list[int] = []
    way = [(0, iter(wanted[0]))]
    state[0] = 1
    while way:
        key, children = way[-1]
        child = next(children, None)
        if child is None:
            state[key] = 2
            finished.append(key)
            way.pop()
        elif state[child] == 1:
            continue
        else:
            kept[key].append(child)
            if not state[child]:
                state[child] = 1
                way.append((child, iter(wanted[child])))
    return {key: kept[key] for key in reversed(finished)}


# ---- text
def _tree(boxes: list[Box], children: dict[int, list[int]]) -> list[str]:
    """The graph as an indented list: a chain goes straight down, branches are indented, repeats are marked."""
    rows: list[str] = []
    seen: set[int] = set()
    waiting = [(0, "", "")]
    while waiting:
        key, indent, mark = waiting.pop()
        box = boxes[key]
        text = f"{indent}{mark}{box.title}"
        if key in seen:
            rows.append(f"{text}  (above)")
            continue
        seen.add(key)
        rows.append(f"{text:<50}  {box.detail}".rstrip() if box.detail else text)
        below = children[key]
        inner = indent + {"": "", "├─ ": "│  ", "└─ ": "   "}[mark]
        marks = [""] if len(below) == 1 else ["└─ "] + ["├─ "] * (len(below) - 1)
        waiting += [(child, inner, m) for child, m in zip(reversed(below), marks, strict=False)]
    return rows


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT else text[: _TEXT - 3] + "..."


def _quoted(box: Box) -> str:
    text = "\\n".join(part.replace("\\", "\\\\").replace('"', '\\"') for part in (box.title, box.detail) if part)
    return f'"{text}"'
