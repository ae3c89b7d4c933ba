"""Which line of a program cut the history of a tensor: found from the source, after the fact.

Nothing is recorded for tensors without history, so the program's text is read: from the expression on, the assignments
that made its names, and what in them leaves the graph. The answer is probable, not certain.
"""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from .._base.errors import program_frame
from .._tape.tensor import Tensor
from ..nn.modules.module import Module

CUTS = {
    **dict.fromkeys(("argmax", "argmin", "argsort", "bincount", "eq", "ge", "gt", "le", "lt", "ne", "nonzero",
                     "randperm", "searchsorted"), "has no derivative; the history ends here"),
    **dict.fromkeys(("long", "int", "short"), "makes integers, which have no gradients"),
    "bool": "makes booleans, which have no gradients", "data": "leaves the graph", "detach": "leaves the graph",
    "item": "gives a plain number", "numpy": "gives an array, which has no history", "tolist": "gives plain numbers",
    "tensor": "copies values, not history", "as_tensor": "copies values, not history",
}  # fmt: skip
MODES = {"no_grad", "inference_mode"}
_COPIES = {"tensor", "as_tensor", "FloatTensor", "DoubleTensor", "Tensor"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
DEEPEST = 200  # expressions that are looked at


class _Place(NamedTuple):
    """An expression, the statement's line below which its names were assigned, and the function that it stands in."""

    node: ast.AST
    line: int
    scope: ast.AST
    values: Callable[[str], Any]


def causes(loss: Tensor, frame: Any = None) -> list[str]:
    """Sentences on what probably cut the history of a tensor that a variable of the user's frame holds.

    Empty if the source cannot be read or nothing is found.
    """
    frame = frame if frame is not None else program_frame(sys._getframe(1))
    try:
        tree = ast.parse("".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals)))
    except (SyntaxError, ValueError):
        return []
    line = frame.f_lineno
    scope = _function_at(tree, frame.f_code.co_name, line) or tree
    values = _Values(frame)
    name = next((n for n, v in {**frame.f_globals, **frame.f_locals}.items() if v is loss), None)
    start: list[ast.AST] = [ast.Name(name, lineno=line)] if name is not None else _called_on(scope, line)
    return list(dict.fromkeys(_search(tree, [_Place(node, line, scope, values) for node in start])))


class _Values:
    """The values of names in a frame."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    def __call__(self, name: str) -> Any:
        return self.frame.f_locals.get(name, self.frame.f_globals.get(name))


def _nothing(name: str) -> Any:
    return None


def _function_at(tree: ast.AST, name: str, line: int) -> ast.AST | None:
    """The innermost function of this name around a line."""
    found = None
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS) and getattr(node, "name", "<lambda>") == name:
            if node.lineno <= line <= (node.end_lineno or node.lineno):
                found = node
    return found


def _called_on(scope: ast.AST, line: int) -> list[ast.AST]:
    """What ``backward`` is called on in a line."""
    for node in ast.walk(scope):
        if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or node.lineno):
            if isinstance(node.func, ast.Attribute) and node.func.attr == "backward":
                return list(node.args[:1]) if _spelled(node.func).endswith("autograd.backward") else [node.func.value]
    return []


def _search(tree: ast.AST, waiting: list[_Place]) -> Iterator[str]:
    seen: set[tuple[int, str]] = set()
    for _ in range(DEEPEST):
        if not waiting:
            return
        place = waiting.pop(0)
        yield from _modes_around(place)
        for node in ast.walk(place.node):
            yield from _cut(node)
            if isinstance(node, ast.Call):
                waiting += _into(tree, node, place)
            if isinstance(node, ast.Name) and (id(place.scope), node.id) not in seen:
                seen.add((id(place.scope), node.id))
                value = place.values(node.id)
                yield from _frozen(node.id, value)
                if not (isinstance(value, Tensor) and value.requires_grad):
                    waiting += _assigned(node.id, place)


def _cut(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Attribute) and node.attr in CUTS and node.attr not in _COPIES:
        yield f"line {node.lineno}: `{_spelled(node)}` {CUTS[node.attr]}"
    if isinstance(node, ast.Call) and node.args and _spelled(node.func).rpartition(".")[2] in _COPIES:
        if any(isinstance(part, (ast.Name, ast.Call, ast.Attribute)) for part in ast.walk(node.args[0])):
            yield f"line {node.lineno}: `{_spelled(node)}` copies values, not history"
    if isinstance(node, ast.Compare) and not isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
        yield f"line {node.lineno}: the comparison `{_spelled(node)}` has no derivative"
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("float", "int")
        and node.args
    ):
        yield f"line {node.lineno}: `{_spelled(node)}` gives a plain number"


def _frozen(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, Module):
        parameters = list(value.parameters())
        if parameters and not any(p.requires_grad for p in parameters):
            yield f"none of the {len(parameters)} parameters of `{name}` requires grad"


def _modes_around(place: _Place) -> Iterator[str]:
    """The regions and decorators without recording that an expression stands in."""
    line = getattr(place.node, "lineno", place.line)
    for node in ast.walk(place.scope):
        if isinstance(node, (ast.With, ast.AsyncWith)) and node.lineno < line <= (node.end_lineno or 0):
            for item in node.items:
                if _is_mode(item.context_expr):
                    yield f"line {line} is inside `with {_spelled(item.context_expr)}` (line {node.lineno})"
    for decorator in getattr(place.scope, "decorator_list", ()):
        if _is_mode(decorator):
            name = getattr(place.scope, "name", "")
            yield f"`{name}` is decorated with `@{_spelled(decorator)}` (line {decorator.lineno})"


def _is_mode(node: ast.AST) -> bool:
    function = node.func if isinstance(node, ast.Call) else node
    last = _spelled(function).rpartition(".")[2]
    if last == "set_grad_enabled" and isinstance(node, ast.Call):
        return bool(node.args) and isinstance(node.args[0], ast.Constant) and not node.args[0].value
    return last in MODES


def _assigned(name: str, place: _Place) -> list[_Place]:
    """The last assignments to a name above a line, and those inside of loops that the line is in."""
    found: list[ast.AST] = []
    for node in ast.walk(place.scope):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if not isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.NamedExpr)) or node.value is None:
            continue
        if node.lineno <= place.line and any(
            isinstance(part, ast.Name) and part.id == name for t in targets if t is not None for part in ast.walk(t)
        ):
            found.append(node)
    if not found:
        return []
    last = max(found, key=lambda node: node.lineno)
    below = [node for node in found if isinstance(node, ast.AugAssign)]
    places = [last, *(node for node in below if node is not last)]
    return [_Place(n.value, n.lineno, place.scope, place.values) for n in places]


def _into(tree: ast.AST, call: ast.Call, place: _Place) -> list[_Place]:
    """The expressions that a function of the same file returns, and ``forward`` of a module that is called."""
    name = _spelled(call.func).rpartition(".")[2]
    functions = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS[:2]) and node.name == name]
    if isinstance(call.func, ast.Name) and isinstance(model := place.values(call.func.id), Module):
        line = type(model).forward.__code__.co_firstlineno  # of the first decorator, if there is one
        functions = [
            node for node in ast.walk(tree)
            if isinstance(node, FUNCTIONS[:2]) and node.name == "forward"
            and line in (node.lineno, *(d.lineno for d in node.decorator_list))
        ]  # fmt: skip
    return [
        _Place(node.value, node.lineno, function, _nothing)
        for function in functions if function is not place.scope
        for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None
    ]  # fmt: skip


def _spelled(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 60 else text[:57] + "..."
