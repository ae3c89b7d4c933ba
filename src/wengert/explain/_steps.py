"""``steps``: one HTML page, without any library or network, that steps through a backward pass."""

from __future__ import annotations

import inspect
import json
import linecache
import math
import re
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from .._base.registry import REGISTRY
from .._tape.tensor import Tensor
from ..autograd.grad_mode import no_grad
from . import svg
from ._facts import below, file_name, is_leaf, leaf_title, line_of, named, names_in_scope, saved, short_name
from ._graph import _place
from ._passes import watched

SMALL = 12  # elements that are shown one by one
BINS = 32
AROUND = 3  # lines of the program before and after those that made nodes


class Page:
    """A page that steps through a backward pass: shown in a notebook, written by ``save``."""

    def __init__(self, html: str, count: int) -> None:
        self.html = html
        self.count = count

    def __repr__(self) -> str:
        return f"<a page of {self.count} steps: .save('steps.html') writes it>"

    def _repr_html_(self) -> str:
        page = escape(self.html, quote=True)
        return f'<iframe srcdoc="{page}" title="Steps" width="100%" height="640" style="border:0"></iframe>'

    def save(self, path: str | Path) -> None:
        """Write the page to a file, for any browser."""
        Path(path).write_text(self.html, encoding="utf-8")


def steps(loss: Tensor, title: str = "") -> Page:
    """A page that steps through the backward pass from ``loss``: keys, buttons, search.

    Each step shows the line of the program, the operation as it is declared, what arrives, what was saved and what
    goes on; a leaf shows ``.grad`` before, what arrives, and ``.grad`` after. First come the operations in the order in
    which they ran, with the values that they saved. Large tensors are shown as a summary with a histogram.

    The pass runs on the tensor's own graph, which is kept; no ``.grad`` is changed.

    Raises:
        ValueError: the tensor has no history, or has more than one element.

    >>> import wengert as torch
    >>> from wengert import explain
    >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> explain.steps((w * w).sum())
    <a page of 5 steps: .save('steps.html') writes it>
    """
    if loss.grad_fn is None:
        raise ValueError("a leaf has no graph: step through the result of an operation")
    if loss.numel() != 1:
        raise ValueError("steps begin at a tensor of one element: loss.sum(), for example")
    names = names_in_scope()
    nodes, passed = watched(loss)
    number = {node: index for index, node in enumerate(nodes)}
    with no_grad():
        data = [_forward(node, number) for node in reversed(nodes) if not is_leaf(node)]
        data += [_backward(step, number) for step in passed]
        data += [_leaf(node, names, passed, number) for node in nodes if is_leaf(node)]
    labels: Any = {n: [leaf_title(n, names)] if is_leaf(n) else [short_name(n), _place(n)] for n in nodes}
    picture = svg.draw({n: below(n) for n in nodes}, labels, "")
    heading = title or f"The backward pass from {named(loss, names, 'the loss')}"
    return Page(_page(heading, data, nodes, picture), len(data))


def _line_key(node: Any) -> str:
    line = line_of(node)
    return f"{line.file}:{line.number}" if line is not None else ""


def _forward(node: Any, number: dict[Any, int]) -> dict[str, Any]:
    rows = [[f"saved {name}", _shown(value)] for name, value in saved(node)]
    return {
        "phase": "forward", "node": number[node], "name": short_name(node).partition("Backward")[0],
        "line": _line_key(node), "rows": rows, "to": [], "formula": "",
    }  # fmt: skip


def _backward(step: Any, number: dict[Any, int]) -> dict[str, Any]:
    node = step.node
    rows = [["arrives", _shown(g)] for g in step.arrived]
    rows += [[f"saved {name}", _shown(value)] for name, value in saved(node)]
    rows += [[f"to input {k}", _shown(d)] for k, d in enumerate(step.given)]
    return {
        "phase": "backward", "node": number[node], "name": short_name(node), "line": _line_key(node), "rows": rows,
        "to": [number[child] for child in below(node)], "formula": _declared(node),
    }  # fmt: skip


def _leaf(node: Any, names: dict[int, str], passed: list[Any], number: dict[Any, int]) -> dict[str, Any]:
    x = node.variable
    parts = [
        d for step in passed for (child, _), d in zip(step.node.next_functions, step.given, strict=False)
        if child is node and d is not None
    ]  # fmt: skip
    total = sum(parts[1:], parts[0]) if parts else None
    rows = [["value", _shown(x)], [".grad before", _shown(x.grad)]]
    rows += [[f"arrives by path {k}" if len(parts) > 1 else "arrives", _shown(d)] for k, d in enumerate(parts, 1)]
    after = total if x.grad is None else x.grad if total is None else x.grad + total
    rows.append([".grad after", _shown(after)])
    return {
        "phase": "leaf", "node": number[node], "name": named(x, names, "a leaf"), "line": "", "rows": rows, "to": [],
        "formula": "",
    }  # fmt: skip


_BY_NODE: dict[Any, str] = {}


def _declared(node: Any) -> str:
    """The declaration of the operator that a node is of, as source; empty for custom functions."""
    cls = type(node)
    if cls not in _BY_NODE:
        info = next((i for i in REGISTRY.values() if i.node is not None and isinstance(node, i.node)), None)
        try:
            _BY_NODE[cls] = inspect.getsource(info.body).rstrip() if info is not None else ""
        except (OSError, TypeError):  # a distribution without sources
            _BY_NODE[cls] = ""
    return _BY_NODE[cls]


def _shown(t: Tensor | None) -> Any:
    """A tensor as text, a larger one as a summary with a histogram."""
    if t is None:
        return "None (needs no gradient)"
    t = t.detach()
    if t.numel() <= SMALL:
        text = repr(t).removeprefix("tensor(").removesuffix(")")
        return f"{text}   {list(t.shape)}" if t.dim() else text
    values = t.double().reshape(-1) if not t.is_complex() else t.abs().double().reshape(-1)
    good = values[values.isfinite()]
    if not good.numel():
        return f"no finite value   {list(t.shape)}"
    low, high, mean = good.min().item(), good.max().item(), good.mean().item()
    bad = values.numel() - good.numel()
    text = f"min {low:.4g}, mean {mean:.4g}, max {high:.4g}{f', {bad} not finite' if bad else ''}   {list(t.shape)}"
    if not math.isfinite(high - low) or high == low:
        return text
    counts = good.histc(BINS, low, high).tolist()
    return {"text": text, "bars": [int(c) for c in counts]}


def _page(title: str, data: list[dict[str, Any]], nodes: list[Any], picture: str) -> str:
    template = files("wengert.explain").joinpath("steps.html").read_text(encoding="utf-8")
    # "<" must not stand in a script's text: "</script>" in a string of the program would end it
    facts = json.dumps(data, allow_nan=False).replace("<", "\\u003c")
    parts = {"TITLE": escape(title), "SOURCE": _source(nodes), "PICTURE": picture, "STEPS": facts}
    return re.sub("@@([A-Z]+)@@", lambda found: parts[found[1]], template)


def _source(nodes: list[Any]) -> str:
    """The lines of the program around those that made nodes, by file."""
    wanted: dict[str, set[int]] = {}
    for node in nodes:
        line = line_of(node)
        if line is not None and line.text:
            near = range(line.number - AROUND, line.number + AROUND + 1)
            wanted.setdefault(line.file, set()).update(near)
    rows = []
    for file, numbers in wanted.items():
        rows.append(f"<h3>{escape(file_name(file))}</h3>")
        before = None
        for number in sorted(numbers):
            text = linecache.getline(file, number)
            if not text:
                continue
            if before is not None and number > before + 1:
                rows.append("<div>&#8942;</div>")
            before = number
            key = escape(f"{file}:{number}", quote=True)
            rows.append(f'<div data-line="{key}"><i>{number:4}</i> {escape(text.rstrip())}</div>')
    return "\n".join(rows)
