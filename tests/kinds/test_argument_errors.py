"""Errors of public functions in place of those that NumPy, SciPy and Python raise inside of them."""

from __future__ import annotations

import warnings
import weakref
from typing import Any

import numpy as np
import pytest

import wengert as torch

CALLS = {
    "diagonal_scatter(): argument 'src' (position 2) must be Tensor, not int": lambda x: torch.diagonal_scatter(x, 1),
    "cumsum(): argument 'dim' (position 2) must be int, not str": lambda x: torch.cumsum(x, "a"),  # type: ignore[arg-type]
    "gather(): argument 'index' (position 3) must be Tensor, not float": lambda x: torch.gather(x, 0, 1.5),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("text", CALLS)
def test_the_argument_is_named_and_nothing_waits_for_the_collector(text: str, no_gc: None) -> None:
    x = torch.ones(3, 3)
    alive = weakref.ref(x)
    with pytest.raises(TypeError) as raised:
        CALLS[text](x)
    assert str(raised.value) == text
    del raised, x
    assert alive() is None


def test_errors_of_the_program_itself_stand() -> None:
    class Own(ValueError):
        pass

    def hook(g: Any) -> Any:
        raise Own("mine")

    x = torch.ones(2, requires_grad=True)
    x.register_hook(hook)
    with pytest.raises(Own, match="mine"):
        x.sum().backward()
    with pytest.raises(ZeroDivisionError):
        torch.func.grad(lambda x: x.sum() / (1 // 0))(x)
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        torch.cumsum(x, 0, foo=1)  # type: ignore[call-arg]


def test_numpys_dtypes_may_be_equal_without_being_identical() -> None:
    other = np.dtype("f8").newbyteorder("=")
    a = np.ones(3).view(np.dtype(other.str))
    assert (torch.from_numpy(a) + torch.ones(3, dtype=torch.float64)).dtype is torch.float64


def test_a_warning_that_the_program_makes_an_error_stays_what_it_is() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="degrees of freedom"):
            torch.var(torch.ones(1))


# which two of several shapes PyTorch names
UNEQUAL = {
    (2, 3): lambda o: torch.broadcast_tensors(o(2), o(1), o(3), o(4)),
    (3, 4): lambda o: torch.where(o(1) > 0, o(3), o(4)),
    (2, 5): lambda o: torch.addcmul(o(2), o(5), o(7)),
    (5, 7): lambda o: torch.normal(o(5), o(7)),
    (6, 4): lambda o: o(4).masked_fill(o(6) > 0, 1.0),
    (4, 6): lambda o: o(4).copy_(o(6)),
    (7, 2): lambda o: torch.nn.functional.pairwise_distance(o(7, 2), o(2, 2)),
}


@pytest.mark.parametrize("sizes", UNEQUAL)
def test_the_first_two_shapes_that_do_not_broadcast_are_named(sizes: tuple[int, int]) -> None:
    a, b = sizes
    text = rf"tensor a \({a}\) must match the size of tensor b \({b}\) at non-singleton dimension 0"
    with pytest.raises(RuntimeError, match=text):
        UNEQUAL[sizes](torch.ones)
