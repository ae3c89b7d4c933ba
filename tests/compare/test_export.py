"""``torch.export`` beside PyTorch's: the operators of a graph, their overloads and arguments, to the character."""

from __future__ import annotations

import re
from typing import Any

import pytest
from export_cases import all_expressions, module_of

import wengert
from wengert.utils._aten_schemas import _paragraphs, schemas


def described(ep: Any) -> list[str]:
    lines = []
    for n in ep.graph.nodes:
        text = f"{n.name} = {n.op} {n.target} {n.args} {n.kwargs}"
        lines.append(re.sub(r"<built-in function (\w+)>", r"\1", text).replace("wengert", "torch"))
    return lines


def program(torch: Any, expression: str) -> Any:
    return torch.export.export(*module_of(torch, expression))


@pytest.mark.parametrize("expression", all_expressions())
def test_the_operators_of_an_expression_are_pytorchs(torch: Any, expression: str) -> None:
    assert described(program(wengert, expression)) == described(program(torch, expression))


def test_declared_arguments_are_pytorchs(torch: Any) -> None:
    """Names, order and defaults of each declared overload."""
    known = {(s.name, s.overload_name or "default"): s for s in torch._C._jit_get_all_schemas()}
    wrong = []
    for name in _paragraphs():
        for schema in schemas(name):
            theirs = known.get((f"aten::{name}", schema.overload)) or known.get((f"aten::{name}_", schema.overload))
            if theirs is None:
                wrong.append(f"{name}.{schema.overload} is not there")
                continue
            ours = [(a.name, a.keyword_only, a.required) for a in schema.arguments]
            if ours != [(a.name, a.kwarg_only, not a.has_default_value()) for a in theirs.arguments]:
                wrong.append(f"{name}.{schema.overload}: {theirs}")
    assert wrong == []
