"""Two pictures as SVG text, written by hand: a curve of numbers, and the graph behind a tensor.

The colours are CSS classes with a second set under `prefers-color-scheme: dark`, on an opaque background: viewers with
a dark mode show the dark picture, other viewers the light one.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import Any

from ._facts import below, in_order, is_leaf, leaf_title, short_name

MARK = "<!-- drawn by wengert -->"  # marks pictures of the tour, which it may overwrite

_STYLE = """<style>
  .paper { fill: #ffffff }
  text { fill: #1f2328; font: 13px system-ui, sans-serif }
  .title { font-size: 16px; font-weight: 600 }
  .name { font: 13px ui-monospace, Consolas, monospace; text-anchor: middle }
  .quiet { fill: #59636e }
  .grid { stroke: #d1d9e0 }
  .faint { fill: none; stroke: #9ec5fe }
  .bold { fill: none; stroke: #0a58ca; stroke-width: 2.5; stroke-linejoin: round }
  .edge { fill: none; stroke: #59636e; stroke-width: 1.5 }
  .head { fill: #59636e }
  .node { fill: #e7f1ff; stroke: #0a58ca }
  .leaf { fill: #fff3cd; stroke: #997404 }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117 }
    text { fill: #f0f6fc }
    .quiet { fill: #9198a1 }
    .grid { stroke: #3d444d }
    .faint { stroke: #1d4277 }
    .bold { stroke: #6ea8fe }
    .edge { stroke: #9198a1 }
    .head { fill: #9198a1 }
    .node { fill: #10243e; stroke: #6ea8fe }
    .leaf { fill: #332701; stroke: #ffda6a }
  }
</style>"""


def _page(width: float, height: float, title: str, body: Iterable[str]) -> str:
    """An SVG document with a background, a title and the elements of `body`."""
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
            MARK,
            f"<title>{escape(title)}</title>",
            _STYLE,
            f'<rect class="paper" width="{width:g}" height="{height:g}"/>',
            f'<text class="title" x="20" y="30">{escape(title)}</text>',
            *body,
            "</svg>\n",
        ]
    )


# --- the curve ---

_LEFT, _TOP, _RIGHT, _BOTTOM = 64, 66, 620, 340  # the positions of the axes, in a picture of 640 x 390


def curve(values: Sequence[float], title: str, x_label: str, y_label: str) -> str:
    """Draw `values` over their index as a faint line, and their local means as a bold one.

    The vertical axis begins at zero, or lower if there are negative values. Values that are not finite are left out.

    >>> from wengert.explain.svg import curve
    >>> curve([3.0, 2.0, 1.0], "Loss", "step", "loss").count("<path")
    2
    """
    points = [(index, value) for index, value in enumerate(values) if math.isfinite(value)]
    if not points:
        raise ValueError("a curve needs at least one finite value")
    low = min(0.0, *(value for _, value in points))
    high = max(value for _, value in points)
    y_ticks = _ticks(low, high if high > low else low + 1.0)
    x_ticks = [tick for tick in _ticks(0, max(len(values), 2)) if tick <= len(values)]

    def x(index: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * index / max(len(values) - 1, 1)

    def y(value: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * (value - y_ticks[0]) / (y_ticks[-1] - y_ticks[0])

    body = []
    for tick in y_ticks:
        body.append(f'<line class="grid" x1="{_LEFT}" x2="{_RIGHT}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>')
        body.append(f'<text x="{_LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
    body += [f'<text x="{x(tick):.1f}" y="{_BOTTOM + 20}" text-anchor="middle">{tick:g}</text>' for tick in x_ticks]
    body.append(f'<text class="quiet" x="{_RIGHT}" y="{_BOTTOM + 40}" text-anchor="end">{escape(x_label)}</text>')
    body.append(f'<text class="quiet" x="{_LEFT}" y="{_TOP - 8}">{escape(y_label)}</text>')
    body.append(_line("faint", [(x(i), y(v)) for i, v in points]))
    body.append(_line("bold", [(x(i), y(v)) for i, v in _means(points)]))
    return _page(640, 390, title, body)


def _line(kind: str, points: Iterable[tuple[float, float]]) -> str:
    steps = " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return f'<path class="{kind}" d="M{steps}"/>'


def _ticks(low: float, high: float) -> list[float]:
    """Return about five round numbers, one, two or five times a power of ten apart, that enclose `low` to `high`."""
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = power * next(factor for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(index * step, 12) for index in range(first, last + 1)]


def _means(points: Sequence[tuple[int, float]]) -> list[tuple[float, float]]:
    """Return the means of about fifty runs of neighbours."""
    size = max(1, len(points) // 50)
    runs = [points[start : start + size] for start in range(0, len(points), size)]
    return [(sum(i for i, _ in run) / len(run), sum(v for _, v in run) / len(run)) for run in runs]


# --- the graph ---
# The graph is drawn in layers (K. Sugiyama, S. Tagawa, M. Toda, 1981). A node is one layer below the lowest node that
# points to it. An edge that crosses layers has a position in each of them (a "bend"), so no box lies in its way. Each
# layer is sorted by the mean position of its neighbours.

_CHARACTER, _ROW, _LAYER, _GAP = 7.9, 18, 88, 28  # width and height of text, distance of layers, gap between boxes

_ARROW_HEAD = (
    '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="12" markerHeight="12" '
    'markerUnits="userSpaceOnUse" orient="auto">'
    '<path class="head" d="M0 0 L8 4 L0 8 z"/></marker></defs>'
)

Graph = dict[Hashable, list[Hashable]]  # the nodes that each node points to


def graph(root: Any, title: str, names: Mapping[str, Any]) -> str:
    """Draw the graph that made the tensor `root`: a box for each node, an arrow for each of its `next_functions`.

    Arrows point in the direction of `backward()`, from the result to the leaves. `names` gives the leaves' names; a
    leaf without a name shows only its shape.
    """
    if root.grad_fn is None:
        raise ValueError("a leaf has no graph: draw the result of an operation")
    children = {node: below(node) for node in in_order(root.grad_fn)}
    known = {id(tensor): name for name, tensor in reversed(list(names.items()))}
    return draw(children, {node: _label(node, known) for node in children}, title)


def _label(node: Any, names: Mapping[int, str]) -> list[str]:
    """The lines in a node's box: its name and, at a leaf, the tensor's."""
    return [short_name(node), leaf_title(node, names)] if is_leaf(node) else [short_name(node)]


def draw(
    children: Graph,
    labels: Mapping[Hashable, list[str]],
    title: str,
    tips: Mapping[Hashable, str] | None = None,
    note: str = "Arrows: grad_fn.next_functions, the way of backward()",
) -> str:
    """Draw a graph without cycles: a box with a label for each node, an arrow to each of its children.

    `children` has each node before those it points to. Boxes and arrows have the ids `n0`, `e0-1` by the nodes' order.
    `tips` are shown where the mouse rests on a box, `note` below the graph.
    """
    layers, routes = _layers(children)
    _sort_layers(layers, routes)
    places, width = _places(layers, labels)
    number = {node: index for index, node in enumerate(children)}
    body = [_ARROW_HEAD]
    body += [_arrow(route, places, labels, f"e{number[route[0]]}-{number[route[-1]]}") for route in routes]
    for node, lines in labels.items():
        tip = [f"<title>{escape(tips[node])}</title>"] if tips and node in tips else []
        box = _box(places[node], lines, "node" if children[node] else "leaf")
        body.append("\n".join([f'<g id="n{number[node]}">', *tip, *box, "</g>"]))
    height = 64 + _LAYER * len(layers)
    body.append(f'<text class="quiet" x="20" y="{height - 16}">{escape(note)}</text>')
    return _page(max(width, 24 + 9.5 * len(title), 380), height, title, body)


def _layers(children: Graph) -> tuple[list[list[Hashable]], list[list[Hashable]]]:
    """Return the layers from the top, and for each edge its route: node, bends, node."""
    depth = dict.fromkeys(children, 0)
    for node, lower in children.items():
        for child in lower:
            depth[child] = max(depth[child], depth[node] + 1)
    layers: list[list[Hashable]] = [[] for _ in range(max(depth.values()) + 1)]
    for node in children:
        layers[depth[node]].append(node)
    routes: list[list[Hashable]] = []
    for node, lower in children.items():
        for child in lower:
            bends: list[Hashable] = [("bend", len(routes), layer) for layer in range(depth[node] + 1, depth[child])]
            for layer, bend in enumerate(bends, depth[node] + 1):
                layers[layer].append(bend)
            routes.append([node, *bends, child])
    return layers, routes


def _sort_layers(layers: list[list[Hashable]], routes: list[list[Hashable]]) -> None:
    """Sort each layer by its neighbours' mean place in the layer before, downwards and upwards a few times."""
    uppers: Graph = {}
    lowers: Graph = {}
    for route in routes:
        for upper, lower in pairwise(route):
            uppers.setdefault(lower, []).append(upper)
            lowers.setdefault(upper, []).append(lower)
    for _ in range(4):
        for order, neighbours in ((layers, uppers), (layers[::-1], lowers)):
            for fixed, layer in pairwise(order):
                place = {node: (index + 0.5) / len(fixed) for index, node in enumerate(fixed)}
                mean = {}
                for index, node in enumerate(layer):
                    near = [place[other] for other in neighbours.get(node, []) if other in place]
                    mean[node] = sum(near) / len(near) if near else (index + 0.5) / len(layer)
                layer.sort(key=mean.__getitem__)


def _places(
    layers: list[list[Hashable]], labels: Mapping[Hashable, list[str]]
) -> tuple[dict[Hashable, tuple[float, float]], float]:
    """Return the middle of each node and bend, and the width of the picture."""
    widths = [[_box_width(labels.get(node)) for node in layer] for layer in layers]
    totals = [sum(row) + _GAP * (len(row) - 1) for row in widths]
    page = max(totals) + 40
    places = {}
    for level, (layer, row, total) in enumerate(zip(layers, widths, totals, strict=True)):
        left = (page - total) / 2
        for node, width in zip(layer, row, strict=True):
            places[node] = (left + width / 2, 80.0 + _LAYER * level)
            left += width + _GAP
    return places, page


def _box_width(lines: list[str] | None) -> float:
    return 8 if lines is None else 24 + _CHARACTER * max(map(len, lines))


def _box_height(lines: list[str]) -> float:
    return 14 + _ROW * len(lines)


def _box(place: tuple[float, float], lines: list[str], kind: str) -> list[str]:
    (x, y), width, height = place, _box_width(lines), _box_height(lines)
    corner = f'x="{x - width / 2:.1f}" y="{y - height / 2:.1f}"'
    first = y - height / 2 + 20
    return [
        f'<rect class="{kind}" {corner} width="{width:.1f}" height="{height}" rx="6"/>',
        *(
            f'<text class="name" x="{x:.1f}" y="{first + _ROW * row:.1f}">{escape(line)}</text>'
            for row, line in enumerate(lines)
        ),
    ]


def _arrow(
    route: list[Hashable],
    places: Mapping[Hashable, tuple[float, float]],
    labels: Mapping[Hashable, list[str]],
    name: str,
) -> str:
    points = [places[node] for node in route]
    points[0] = (points[0][0], points[0][1] + _box_height(labels[route[0]]) / 2)
    points[-1] = (points[-1][0], points[-1][1] - _box_height(labels[route[-1]]) / 2 - 1)
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (x1, y1), (x2, y2) in pairwise(points):
        middle = (y1 + y2) / 2
        path += f" C{x1:.1f} {middle:.1f} {x2:.1f} {middle:.1f} {x2:.1f} {y2:.1f}"
    return f'<path class="edge" id="{name}" marker-end="url(#head)" d="{path}"/>'
