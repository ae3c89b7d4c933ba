"""A typed program as a user writes it: mypy must accept it as it stands, with the stubs that wengert ships.

Run by tests/house/test_stubs.py and in CI with `--strict`; so an `ignore` below that silences nothing is an error as
well.
"""

from collections.abc import Callable
from typing import assert_type

import wengert as torch
import wengert.nn.functional as F
from wengert import Tensor


def mean_squared_error(prediction: Tensor, target: Tensor) -> Tensor:
    difference = prediction - target
    assert_type(difference, Tensor)
    return (difference**2).mean()


def fit(inputs: Tensor, targets: Tensor, steps: int = 10, rate: float = 0.1) -> Tensor:
    weight = torch.zeros(3, requires_grad=True)
    for _ in range(steps):
        loss = mean_squared_error(inputs @ weight, targets)
        loss.backward()
        with torch.no_grad():
            assert weight.grad is not None
            weight -= rate * weight.grad
        weight.grad = None
    return weight.detach()


def functions() -> None:
    x = torch.randn(2, 3, dtype=torch.float64)
    assert_type(torch.add(x, 1.0), Tensor)
    assert_type(torch.mul(x, x).sum(dim=1, keepdim=True), Tensor)
    assert_type(torch.exp(x).exp_(), Tensor)
    assert_type(torch.cat([x, x], 1).reshape(3, -1).T, Tensor)
    assert_type(x[0, 1:] + 2 - x[0, 1:], Tensor)
    assert_type(-x * 2.0 / x, Tensor)
    assert_type(x == 1, Tensor)
    assert_type(x > 0, Tensor)
    assert_type(F.relu(x), Tensor)
    assert_type(torch.nn.functional.softmax(x, dim=-1), Tensor)
    assert_type(torch.linalg.norm(x), Tensor)
    assert_type(torch.special.erfcx(x), Tensor)


def facts(x: Tensor) -> tuple[torch.Size, torch.dtype, torch.device]:
    assert_type(x.ndim, int)
    assert_type(x.requires_grad, bool)
    assert_type(x.grad, Tensor | None)
    assert_type(x.shape.numel(), int)
    assert_type(x.dim(), int)
    assert_type(len(x), int)
    assert_type(float(x.sum()), float)
    assert_type(torch.float32, torch.dtype)
    for row in x:
        assert_type(row, Tensor)
    return x.shape, x.dtype, x.device


def derivative(f: Callable[[Tensor], Tensor], at: Tensor) -> Tensor:
    at = at.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(at).sum(), at, create_graph=True)
    assert gradient is not None
    batched = torch.vmap(f)(at.unsqueeze(0))
    assert isinstance(batched, Tensor)
    return gradient + batched.sum()


def mistakes(x: Tensor) -> None:
    """What a type checker is for: names that do not exist, and arguments that cannot be."""
    x.no_such_method()  # type: ignore[attr-defined]
    torch.no_such_function(x)  # type: ignore[attr-defined]
    F.no_such_function(x)  # type: ignore[attr-defined]
    torch.sum(x, keepdims="yes", keepdim="yes")  # type: ignore[arg-type]
    torch.exp("1")  # type: ignore[arg-type]


if __name__ == "__main__":
    torch.manual_seed(0)
    data = torch.randn(20, 3)
    found = fit(data, data @ torch.tensor([1.0, -2.0, 0.5]))
    assert found.shape == (3,)
    assert facts(data) == (torch.Size([20, 3]), torch.float32, torch.device("cpu"))
    assert derivative(torch.sin, data).shape == data.shape
    functions()
