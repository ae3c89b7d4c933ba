"""``set_printoptions(profile="0.3")``: texts of pages and documents written for PyTorch 0.1 to 0.3."""

from __future__ import annotations

import doctest
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import wengert as torch
from wengert._tensor_api import printing, printing_0_3
from wengert.autograd import Variable


@pytest.fixture(autouse=True)
def _old_texts() -> Iterator[None]:
    torch.set_printoptions(profile="0.3")
    yield
    torch.set_printoptions(profile="default")


# What the documents of PyTorch 0.1 to 0.3, and programs of that time, say is printed.
PUBLISHED: list[tuple[Any, str]] = [
    (lambda: torch.Tensor([1, 2, 3, 4, 5, 6]), " 1\n 2\n 3\n 4\n 5\n 6\n[torch.FloatTensor of size 6]"),
    (lambda: torch.Tensor([[1, 2, 3], [4, 5, 6]]), " 1  2  3\n 4  5  6\n[torch.FloatTensor of size 2x3]"),
    (lambda: torch.LongTensor([[0, 1, 3, 2]]), " 0  1  3  2\n[torch.LongTensor of size 1x4]"),
    (
        lambda: torch.Tensor([[1], [2], [3]]).expand(3, 4),
        " 1  1  1  1\n 2  2  2  2\n 3  3  3  3\n[torch.FloatTensor of size 3x4]",
    ),
    (
        lambda: torch.Tensor([[1, 2], [3, 4], [5, 6], [7, 8]]).view(2, 2, 2),
        "(0 ,.,.) = \n  1  2\n  3  4\n\n(1 ,.,.) = \n  5  6\n  7  8\n[torch.FloatTensor of size 2x2x2]",
    ),
    (
        lambda: torch.Tensor([[1.2045, 2.4084, 0.4001, 1.1372], [0.5596, 1.5677, 0.6219, -0.7954]]),
        " 1.2045  2.4084  0.4001  1.1372\n 0.5596  1.5677  0.6219 -0.7954\n[torch.FloatTensor of size 2x4]",
    ),
    (
        lambda: torch.Tensor([[-1.0822, 1.2522, 0.2434], [0.8393, -0.6062, -0.3348]]).unsqueeze(0),
        "(0 ,.,.) = \n -1.0822  1.2522  0.2434\n  0.8393 -0.6062 -0.3348\n[torch.FloatTensor of size 1x2x3]",
    ),
    (
        lambda: torch.nn.functional.avg_pool1d(torch.Tensor([[[1, 2, 3, 4, 5, 6, 7]]]), kernel_size=3, stride=2),
        "(0 ,.,.) = \n  2  4  6\n[torch.FloatTensor of size 1x1x3]",
    ),
    (
        lambda: torch.Tensor([[0.6614, 0.2669, 0.0617, 0.6213, -0.4519, -0.1661]]).view(2, 3),
        " 0.6614  0.2669  0.0617\n 0.6213 -0.4519 -0.1661\n[torch.FloatTensor of size 2x3]",
    ),
]


@pytest.mark.parametrize(("make", "text"), PUBLISHED)
def test_published_texts(make: Any, text: str) -> None:
    assert repr(make()) == f"\n{text}\n"


def test_a_page_of_the_time() -> None:
    x = Variable(torch.ones(2, 2), requires_grad=True)
    y = x + 2
    z = y * y * 3
    out = z.mean()
    out.backward()
    size = "[torch.FloatTensor of size 2x2]\n"
    assert str(x) == f"Variable containing:\n 1  1\n 1  1\n{size}"
    assert str(y) == f"Variable containing:\n 3  3\n 3  3\n{size}"
    assert f"{z}" == f"Variable containing:\n 27  27\n 27  27\n{size}"
    assert str(out) == "Variable containing:\n 27\n[torch.FloatTensor of size 1]\n"
    assert str(x.grad) == f"Variable containing:\n 4.5000  4.5000\n 4.5000  4.5000\n{size}"
    assert str(x.grad.data) == f"\n 4.5000  4.5000\n 4.5000  4.5000\n{size}"
    assert str(x.data) == f"\n 1  1\n 1  1\n{size}"
    assert str(Variable(torch.ones(1))) == "Variable containing:\n 1\n[torch.FloatTensor of size 1]\n"
    assert str(torch.nn.Parameter(torch.ones(1))) == "Parameter containing:\n 1\n[torch.FloatTensor of size 1]\n"
    assert repr(x.data > 0) == "\n 1  1\n 1  1\n[torch.ByteTensor of size 2x2]\n"
    assert str([torch.ones(1)]) == "[\n 1\n[torch.FloatTensor of size 1]\n]"
    assert str(torch.Tensor()) == "[torch.FloatTensor with no dimension]\n"


def text(values: Any, **options: Any) -> str:
    chosen = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, **options}
    return printing_0_3.format_0_3(np.array(values, np.float64), "T", chosen).removeprefix("\n")


def test_scales_exponents_and_what_is_no_number() -> None:
    assert text([0.00012, 0.00034]) == "1.00000e-04 *\n  1.2000\n  3.4000\n[T of size 2]\n"
    assert text([[123456.5, 7e5]]) == "1.00000e+05 *\n  1.2346  7.0000\n[T of size 1x2]\n"
    assert text([1e-5, 1.0]) == " 1.0000e-05\n 1.0000e+00\n[T of size 2]\n"
    assert text([1000000.0, 2]) == " 1.0000e+06\n 2.0000e+00\n[T of size 2]\n"
    assert text([math.nan, 1, -math.inf]) == "nan\n  1\n-inf\n[T of size 3]\n"
    assert text([math.nan]) == "nan\n[T of size 1]\n"
    assert text([0.0, 0.0]) == " 0\n 0\n[T of size 2]\n"


def test_wide_and_long_tensors() -> None:
    assert text([list(range(6))], linewidth=10) == (
        "\nColumns 0 to 2 \n 0  1  2\n\nColumns 3 to 5 \n 3  4  5\n[T of size 1x6]\n"
    )
    assert text(range(8), threshold=4, edgeitems=2) == " 0\n 1\n⋮ \n 6\n 7\n[T of size 8]\n"
    assert text(np.arange(16.0).reshape(4, 4), threshold=4, edgeitems=1) == (
        "    0  ...      3\n ...    ⋱    ... \n   12  ...     15\n[T of size 4x4]\n"
    )
    assert text(np.zeros((3, 1, 2)), threshold=3, edgeitems=1) == (
        "(0 ,.,.) = \n  0  0\n...\n\n(2 ,.,.) = \n  0  0\n[T of size 3x1x2]\n"
    )


def test_other_profiles_end_it_and_options_are_restored() -> None:
    with printing.printoptions(profile="default"):
        assert repr(torch.ones(1)) == "tensor([1.])"
    assert repr(torch.ones(1)).startswith("\n 1")
    torch.set_printoptions(precision=2)
    assert repr(torch.Tensor([0.5])) == "\n   0.50\n[torch.FloatTensor of size 1]\n"
    torch.set_printoptions(profile="short")
    assert repr(torch.ones(1)) == "tensor([1.])"
    assert repr(torch.ones(1, dtype=torch.complex64)) == "tensor([1.+0.j])"


def test_docstring_examples() -> None:
    failed, attempted = doctest.testmod(printing_0_3)
    assert attempted
    assert not failed
