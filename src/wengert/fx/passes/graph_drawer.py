"""``FxGraphDrawer``: a picture of a graph, as SVG, and as text for Graphviz."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

from ..graph_module import GraphModule
from ..node import Node, _format_arg

__all__ = ["FxGraphDrawer"]

_COLOURS = {
    "placeholder": "AliceBlue", "call_module": "LemonChiffon1", "get_attr": "LightYellow2", "output": "PowderBlue",
    "call_function": "#CAFFE3", "call_method": "#e7d3ff",
}  # fmt: skip
_FILLS = {"LemonChiffon1": "#fffacd", "LightYellow2": "#eeeed1"}  # Graphviz's colours that SVG does not know
_LINE, _GAP, _CHARACTER = 16, 34, 7.2


class FxGraphDrawer:
    """A picture of a graph module: a box for each node, an arrow for each use.

    >>> import wengert as torch
    >>> from wengert.fx.passes.graph_drawer import FxGraphDrawer
    >>> drawing = FxGraphDrawer(torch.fx.symbolic_trace(lambda x: torch.relu(x)), "relu").get_dot_graph()
    >>> drawing.to_string().splitlines()[0]
    'digraph relu {'
    >>> drawing.create_svg().startswith(b"<svg")
    True

    Args:
        graph_module: the module.
        name: the picture's title.
        ignore_getattr: leave out parameters and other attributes.
        skip_node_names_in_args: show only the arguments that are no nodes.
    """

    def __init__(
        self,
        graph_module: GraphModule,
        name: str,
        ignore_getattr: bool = False,
        ignore_parameters_and_buffers: bool = False,
        skip_node_names_in_args: bool = True,
        parse_stack_trace: bool = False,
        dot_graph_shape: str | None = None,
        normalize_args: bool = False,
    ) -> None:
        self._name = name
        self._skip_names = skip_node_names_in_args
        hidden = ignore_getattr or ignore_parameters_and_buffers
        self._drawings = {name: Drawing(name, graph_module, hidden, self._label)}
        for child, module in graph_module.named_children():
            if isinstance(module, GraphModule):
                title = f"{name}_{child}"
                self._drawings[title] = Drawing(title, module, hidden, self._label)

    def get_dot_graph(self, submod_name: str | None = None) -> Drawing:
        """The picture of the module, or of one of its submodules that are graph modules."""
        return self._drawings[self._name if submod_name is None else f"{self._name}_{submod_name}"]

    get_main_dot_graph = get_dot_graph

    def get_submod_dot_graph(self, submod_name: str) -> Drawing:
        """The picture of a submodule."""
        return self._drawings[f"{self._name}_{submod_name}"]

    def get_all_dot_graphs(self) -> dict[str, Drawing]:
        """All pictures, by name."""
        return self._drawings

    def _label(self, module: Any, node: Node) -> list[str]:
        """The lines of text in a node's box."""
        lines = [f"name=%{node.name}", f"op_code={node.op}"]
        if node.op == "call_module":
            called = module.get_submodule(str(node.target))
            lines += [
                type(called).__name__,
                *[f"{c}: {getattr(called, c)}" for c in getattr(called, "__constants__", ()) if hasattr(called, c)],
            ]
        else:
            lines.append(f"target={node._pretty_print_target(node.target)}")
            shown: Any = [a for a in (*node.args, *node.kwargs.items()) if not (self._skip_names and _is_node(a))]
            if shown and node.op != "output":
                lines.append(f"args={_format_arg(tuple(shown), 10)}"[:80])
        lines.append(f"num_users={len(node.users)}")
        meta = node.meta.get("tensor_meta")
        if hasattr(meta, "dtype"):
            lines += [f"dtype={meta.dtype}", f"shape={tuple(meta.shape)}", f"requires_grad={meta.requires_grad}"]
        return lines


def _is_node(a: Any) -> bool:
    return isinstance(a, Node) or (isinstance(a, tuple) and len(a) == 2 and isinstance(a[1], Node))


class Drawing:
    """One picture, with the methods of pydot's graphs that programs call."""

    def __init__(self, name: str, module: GraphModule, hidden: bool, label: Callable[[Any, Node], list[str]]) -> None:
        self.name = name
        self.nodes = [n for n in module.graph.nodes if not (hidden and n.op == "get_attr")]
        self.labels = {n: label(module, n) for n in self.nodes}
        self.colours = {n: _COLOURS[n.op] for n in self.nodes}

    def get_nodes(self) -> list[Node]:
        """The nodes that are drawn."""
        return list(self.nodes)

    def to_string(self) -> str:
        """The picture in Graphviz's language."""
        lines = [f"digraph {self.name} {{", "rankdir=TB;"]
        for n in self.nodes:
            text = "|".join(
                [line.replace('"', r"\"").translate({ord(c): f"\\{c}" for c in "{}<>|"}) for line in self.labels[n]]
            )
            lines.append(
                f'"{n.name}" [label="{{{text}}}", shape=record, style="filled,rounded", fillcolor="{self.colours[n]}"];'
            )
        for n in self.nodes:
            lines += [f'"{i.name}" -> "{n.name}";' for i in n.all_input_nodes if i in self.labels]
        return "\n".join([*lines, "}"]) + "\n"

    def create_svg(self, *_: Any, **__: Any) -> bytes:
        """The picture as SVG: nodes in rows, each below all that it uses."""
        rows: list[list[Node]] = []
        row_of: dict[Node, int] = {}
        for n in self.nodes:
            row_of[n] = max([row_of[i] + 1 for i in n.all_input_nodes if i in row_of], default=0)
            rows += [[] for _ in range(row_of[n] + 1 - len(rows))]
            rows[row_of[n]].append(n)
        boxes: dict[Node, tuple[float, float, float, float]] = {}
        top = 40.0
        for row in rows:
            left = 20.0
            for n in row:
                size = max(map(len, self.labels[n])) * _CHARACTER + 20, len(self.labels[n]) * _LINE + 12
                boxes[n] = (left, top, *size)
                left += size[0] + _GAP
            top += max(boxes[n][3] for n in row) + _GAP
        width = max([x + w for x, _, w, _ in boxes.values()], default=0.0) + 20
        look = f'viewBox="0 0 {width:g} {top:g}" font-family="monospace" font-size="12"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {look}>'
        body = [head, f'<rect width="100%" height="100%" fill="white"/><text x="20" y="24">{escape(self.name)}</text>']
        for n in self.nodes:
            body += [_arrow(boxes[i], boxes[n]) for i in n.all_input_nodes if i in boxes]
        for n, (x, y, w, h) in boxes.items():
            fill = _FILLS.get(_COLOURS[n.op], _COLOURS[n.op])
            body.append(f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="6" fill="{fill}" stroke="black"/>')
            lines = enumerate(self.labels[n])
            body += [f'<text x="{x + 10:g}" y="{y + 18 + i * _LINE:g}">{escape(line)}</text>' for i, line in lines]
        return "\n".join([*body, "</svg>\n"]).encode()

    def write_svg(self, path: Any) -> None:
        """Write the picture to a file."""
        with open(path, "wb") as file:
            file.write(self.create_svg())

    def write_raw(self, path: Any) -> None:
        """Write the text for Graphviz to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.to_string())

    write_dot = write_raw


def _arrow(source: tuple[float, ...], target: tuple[float, ...]) -> str:
    x, y = source[0] + source[2] / 2, source[1] + source[3]
    u, v = target[0] + target[2] / 2, target[1]
    line = f'<path d="M{x:g},{y:g} C{x:g},{y + 20:g} {u:g},{v - 20:g} {u:g},{v - 6:g}" fill="none" stroke="dimgray"/>'
    return line + f'<path d="M{u - 4:g},{v - 7:g} L{u:g},{v:g} L{u + 4:g},{v - 7:g}z" fill="dimgray"/>'
