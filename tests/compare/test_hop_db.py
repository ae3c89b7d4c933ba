"""wengert beside PyTorch on PyTorch's database of higher-order operators: `cond`, `while_loop`, `scan`, `map`."""

from __future__ import annotations

from typing import Any

import pytest
from compare import op_db_cases as cases
from compare import test_op_db as database

import wengert

torch = cases.torch
hop_db = pytest.importorskip("torch.testing._internal.hop_db", reason="this torch has no such database")


# What is recorded for PyTorch's compilers, or runs its kernels for cards. PyTorch has no gradient of flex_attention on
# a CPU, wengert has.
OF_COMPILERS = {
    "auto_functionalize", "flex_attention", "flex_attention_backward", "inline_asm_elementwise", "invoke_quant",
    "invoke_quant_packed", "invoke_subgraph", "local_map_hop", "register_hook", "while_loop_stack_output",
}  # fmt: skip
OPERATORS = {cases.full_name(op): op for op in hop_db.hop_db if op.name not in OF_COMPILERS}


def run(side: cases.Side) -> Any:
    result = side.call()
    return [result, database.first_order(side, result)]


@pytest.mark.parametrize("name", OPERATORS)
def test_operator(name: str) -> None:
    op = OPERATORS[name]
    for sample in op.sample_inputs("cpu", torch.float32, requires_grad=op.supports_autograd):
        inputs = cases.Inputs()
        theirs = cases.Side(torch, op.op, (sample.input, *sample.args), dict(sample.kwargs), None)
        mine = cases.Side(wengert, cases.counterpart(op.op), *map(inputs, (theirs.args, theirs.kwargs)), None)
        different = cases.mismatch(cases.outcome(run, theirs), cases.outcome(run, mine), sentences=True)
        assert not different, different
