"""``torch.export``: graphs compute what was exported; signatures, guards, errors."""

from __future__ import annotations

import pytest
from export_cases import all_expressions, module_of

import wengert as torch
from wengert.utils import _pytree as pytree


@pytest.mark.parametrize("expression", all_expressions())
def test_a_graph_computes_what_was_exported(expression: str) -> None:
    module, inputs = module_of(torch, expression)
    program = torch.export.export(module, inputs)
    assert all(n.target.__class__.__name__ != "function" for n in program.graph.nodes if n.op == "call_function")
    _, again = module_of(torch, expression)
    expected = module(*module_of(torch, expression)[1])
    for a, b in zip(pytree.tree_leaves(program.module()(*again)), pytree.tree_leaves(expected), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=0, equal_nan=True)
