"""Errors of public functions in place of those that NumPy, SciPy and Python raise inside of them."""

from __future__ import annotations

import sys
import traceback
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


# What one of Python's or NumPy's errors came out of once; the class and the first sentence are PyTorch's.
REFUSED = {
    "torch.Tensor.item((1,))": "TypeError: descriptor 'item' for 'torch._C.TensorBase' objects doesn't apply to a "
    "'tuple' object",
    "torch.Tensor.bool(3)": "TypeError: descriptor 'bool' for 'torch._C.TensorBase' objects doesn't apply to a 'int' "
    "object",
    "torch.ones(2, out=3)": "TypeError: ones(): argument 'out' must be Tensor, not int",
    "torch.atan(x, out=[x])": "TypeError: atan(): argument 'out' must be Tensor, not list",
    "torch.eye(2).to_sparse_csc({'a': 1})": "TypeError: to_sparse_csc(): argument 'dense_dim' (position 1) must be "
    "int, not dict",
    "torch.eye(2).to_sparse_csc(True)": "TypeError: to_sparse_csc(): argument 'dense_dim' (position 1) must be int, "
    "not bool",
    "torch.fft.fftfreq(4, 'a')": "TypeError: fft_fftfreq(): argument 'd' (position 2) must be float, not str",
    "torch.fft.fftn(x, torch.ones(1, 1, 2))": "TypeError: fft_fftn(): argument 's' (position 2) must be tuple of ints, "
    "not Tensor",
    "torch.nn.functional.avg_pool1d(x, 2, torch.ones(3))": "TypeError: avg_pool1d(): argument 'stride' (position 3) "
    "must be tuple of ints, not Tensor",
    "torch.sparse.mm(3, x)": "TypeError: _sparse_mm(): argument 'sparse' (position 1) must be Tensor, not int",
    "torch.sparse.sum(3)": "TypeError: _sparse_sum(): argument 'input' (position 1) must be Tensor, not int",
    "torch.sparse.addmm(x, 3, x)": "TypeError: _sparse_addmm(): argument 'mat1' (position 2) must be Tensor, not int",
    "torch.nn.functional.multi_margin_loss(torch.nn.ReLU(), x)": "TypeError: multi_margin_loss(): argument 'input' "
    "(position 1) must be Tensor, not ReLU",
    "torch.lcm_(torch.ones(2, 3), torch.tensor([6, 9]))": "RuntimeError: The size of tensor a (3) must match the size "
    "of tensor b (2) at non-singleton dimension 1",
    "torch.broadcast_shapes((2, -1))": "ValueError: Attempting to broadcast a dimension with negative length!",
    "torch.broadcast_shapes((1,), 0.5)": "RuntimeError: Input shapes should be of type ints, a tuple of ints, or a "
    "list of ints, got 0.5",
    "torch.tensor([[1., 2.], object()])": "RuntimeError: Could not infer dtype of object",
    "torch.tensor([0., [None]])": "RuntimeError: Could not infer dtype of NoneType",
    "torch.tensor([[1., 2.], torch.ones(2, 3)])": "ValueError: only one element tensors can be converted to Python "
    "scalars",
    "torch.tensor([[[1, 2], [3]], 2.0])": "ValueError: expected sequence of length 2 at dim 2 (got 1)",
    "torch.tensor([3., range(3), 2.])": "TypeError: must be real number, not range",
    "torch.tensor([True, torch.arange(3)])": "TypeError: only integer tensors of a single element can be converted to "
    "an index",
    "torch.addmm(torch.ones(2, 2) > 0, torch.ones(2, 2), torch.ones(2, 2))": "RuntimeError: self and mat2 must have "
    "the same dtype, but got Bool and Float",
    "torch.futures.Future().then(3)": "TypeError: then(): incompatible function arguments",
    "torch.overrides.has_torch_function(3)": "TypeError: expected a sequence",
    "torch.nn.init.calculate_gain({})": "ValueError: Unsupported nonlinearity {}",
    "torch.distributions.CorrCholeskyTransform()(3)": "TypeError: tanh(): argument 'input' (position 1) must be "
    "Tensor, not int",
    "torch.nn.UninitializedParameter().materialize(torch.float32)": "TypeError: empty(): argument 'size' (position 1) "
    "must be tuple of ints, not torch.dtype",
    "torch.tensor([[1.], 'a'])": "TypeError: new(): invalid data type 'str'",
}


def refusal(library: Any, code: str) -> str:
    try:
        eval(code, {"torch": library, "x": library.ones(2, 3)})
    except Exception as error:  # noqa: BLE001  it is compared
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return ""


@pytest.mark.parametrize("code", REFUSED)
def test_the_error_is_pytorchs(code: str) -> None:
    torch.ones(2).sum()
    assert refusal(torch, code) == REFUSED[code]


@pytest.mark.parametrize("code", REFUSED)
def test_the_error_of_pytorch_is_that(code: str, request: pytest.FixtureRequest) -> None:
    assert refusal(request.getfixturevalue("torch"), code).rstrip(".").split(". ")[0] == REFUSED[code]


def test_another_error_shows_one_frame_and_leaves_nothing(no_gc: None) -> None:
    x = torch.ones(3)
    alive = weakref.ref(x)
    with pytest.raises(TypeError) as raised:
        torch.Tensor.bool([x])  # type: ignore[arg-type]
    lines = [line for _, line in traceback.walk_tb(raised.value.__traceback__)]
    assert len(lines) == 2
    assert raised.value.__suppress_context__ and sys.exception() is None
    del raised, x
    assert alive() is None


def test_nested_sequences_of_several_kinds() -> None:
    assert torch.tensor([[1.0, 2.0], torch.tensor([3.0, 4.0])]).tolist() == [[1, 2], [3, 4]]
    assert torch.tensor([[1, 2], np.array([3, 4]), range(2)]).tolist() == [[1, 2], [3, 4], [0, 1]]
