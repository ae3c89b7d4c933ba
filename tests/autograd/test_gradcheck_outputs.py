"""gradcheck of outputs that depend on the values in other ways, and what its fast mode tolerates."""

from __future__ import annotations

from typing import Any

import pytest

import wengert as torch
from wengert.autograd import gradcheck


@pytest.mark.parametrize("fast", [False, True])
def test_outputs_that_change_with_the_values(fast: bool) -> None:
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    where = "" if fast else r"on index \(0,\) "

    def longer(x: Any) -> Any:
        return x.repeat(2) if bool((x >= 1).all()) else x

    with pytest.raises(AssertionError, match=f"same shape when inputs are perturbed {where}by 1e-06.*2.* and .*4"):
        gradcheck(longer, (x,), fast_mode=fast)
    with pytest.raises(AssertionError, match=f"same dtype when inputs are perturbed {where}by 1e-06.*64 and .*32"):
        gradcheck(lambda x: x.float() if bool((x >= 1).all()) else x, (x,), fast_mode=fast)


def wrong_by(error: float) -> Any:
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * (1 + error)

    return lambda x: Wrong.apply(x).sum()


@pytest.mark.parametrize("size", [1, 16])
def test_fast_mode_tolerates_what_the_elements_may_differ_by(size: int) -> None:
    """The tolerance of an element is summed along the direction, with the same weights as the elements' errors."""
    for dtype, error, close in (
        (torch.float64, 9e-5, True),
        (torch.float64, 1.2e-4, False),
        (torch.complex128, 1.2e-4, True),  # the weights of both axes are added, PyTorch's too
        (torch.complex128, 4e-4, False),
    ):
        x = torch.ones(size, dtype=dtype, requires_grad=True)
        assert gradcheck(wrong_by(error), (x,), atol=1e-4, rtol=0, fast_mode=True, raise_exception=False) is close
