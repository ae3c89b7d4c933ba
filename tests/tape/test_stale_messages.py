"""Which saved value PyTorch names when it was overwritten, and which node it says has made it."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

import wengert

# an expression, the shapes of its operands, of which all are written afterwards
EXPRESSIONS = {
    "a * b": ((3, 1), (2,)), "a / b": ((3, 1), (2,)), "a ** b": ((3, 1), (2,)), "t.mm(a, b)": ((2, 3), (3, 4)),
    "t.bmm(a, b)": ((2, 3, 4), (2, 4, 5)), "t.matmul(a, b)": ((2, 3), (3,)), "t.dot(a, b)": ((3,), (3,)),
    "t.addmm(c, a, b)": ((2, 3), (3, 4), (2, 4)), "t.addcmul(a, b, c)": ((2, 1), (1, 2), (2, 2)),
    "t.addcdiv(a, b, c)": ((2, 1), (1, 2), (2, 2)), "t.atan2(a, b)": ((3, 1), (2,)), "t.fmod(a, b)": ((3, 1), (2,)),
    "t.lerp(a, b, c)": ((3, 1), (2,), (3, 2)), "t.maximum(a, b)": ((3, 1), (2,)), "t.hypot(a, b)": ((3, 1), (2,)),
    "t.nn.functional.linear(a, b, c)": ((2, 3), (4, 3), (4,)), "t.logaddexp(a, b)": ((3, 1), (2,)),
    "t.xlogy(a, b)": ((3, 1), (2,)), "t.outer(a, b)": ((2,), (3,)), "t.where(a > 0, a * b, b)": ((3, 1), (2,)),
}  # fmt: skip
# a tensor with history, what is squared of it, and a write
WRITES = (
    ("x[0]", "y.mul_(2)"),
    ("x[0]", "x.mul_(2)"),
    ("x[0]", "x[1] = 3"),
    ("x.view(-1)", "y.mul_(2)"),
    ("x.view(-1)", "x.mul_(2)"),
    ("x.expand(4, 2, 3)", "x.zero_()"),
    ("x[0].contiguous()", "y.mul_(2)"),
    ("x.flatten()", "x[0].mul_(2)"),
    ("x.t().reshape(-1)", "y.mul_(2)"),
    ("x.real", "x[0].mul_(2)"),
    ("x[0].exp()", "y[0] = 2"),
    ("x.detach()", "x.mul_(2)"),
    ("x", "x[0].mul_(2)"),
    ("x", "x.mul_(2)"),
    ("x.mT", "x.relu_()"),
    ("x.unbind(0)[1]", "x[0].mul_(2)"),
    ("x.chunk(2)[0]", "x.add_(x)"),
)


def first_sentences(t: Any, program: str) -> str:
    try:
        exec(program, {"t": t})
    except RuntimeError as error:
        return str(error).partition(" Hint: ")[0]
    return ""


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_the_value_that_is_named(torch: ModuleType, expression: str) -> None:
    names = "abc"[: len(EXPRESSIONS[expression])]
    made = [
        f"{x} = t.ones({shape}, requires_grad=True) * 1"
        for x, shape in zip(names, EXPRESSIONS[expression], strict=True)
    ]
    written = [f"{x}.add_(1)" for x in names]
    program = "\n".join([*made, f"y = {expression}", *written, "y.sum().backward()"])
    assert first_sentences(wengert, program) == first_sentences(torch, program)


@pytest.mark.parametrize(("of", "write"), WRITES)
def test_the_node_that_made_it(torch: ModuleType, of: str, write: str) -> None:
    program = f"x = t.ones(2, 3, requires_grad=True) * 1\ny = {of}\nz = y * y\n{write}\nz.sum().backward()"
    assert first_sentences(wengert, program) == first_sentences(torch, program)


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logcumsumexp", "logsumexp"])
def test_a_number_that_its_node_has_saved_is_written(name: str) -> None:
    """It is computed as a vector of one element, whose memory the result has."""
    x = wengert.tensor(0.7, requires_grad=True)
    y = getattr(x, name)(0)
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
