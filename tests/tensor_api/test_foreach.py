"""``torch._foreach_*`` and what optimizers written for PyTorch import beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert
from wengert.optim.optimizer import (
    Optimizer,
    _default_to_fused_or_foreach,
    _get_value,
    _use_grad_for_differentiable,
    _view_as_real,
)
from wengert.utils._foreach_utils import _group_tensors_by_device_and_dtype, _has_foreach_support

UNARY = [
    "abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "erf", "erfc", "exp", "expm1", "floor", "frac", "lgamma",
    "log", "log10", "log1p", "log2", "neg", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt",
    "tan", "tanh", "trunc",
]  # fmt: skip


def lists() -> tuple[list[Any], list[Any]]:
    return [wengert.tensor([0.5, 1.0]), wengert.tensor([[2.0]])], [wengert.tensor([3.0, -1.0]), wengert.tensor([[0.5]])]


def as_lists(tensors: Any) -> list[Any]:
    return [t.tolist() for t in tensors]


@pytest.mark.parametrize("name", UNARY)
def test_unary_is_the_operator_of_each(name: str) -> None:
    a = [wengert.tensor([0.25, 0.5]), wengert.tensor([[0.75]])]
    expected = as_lists(getattr(wengert, name)(t) for t in a)
    result = getattr(wengert, f"_foreach_{name}")(a)
    assert type(result) is tuple and as_lists(result) == expected
    first = a[0]
    written = getattr(wengert, f"_foreach_{name}_")(a)
    assert type(written) is list and written[0] is first and as_lists(a) == expected


def test_second_argument() -> None:
    a, b = lists()
    assert as_lists(wengert._foreach_add(a, 1)) == [[1.5, 2.0], [[3.0]]]
    assert as_lists(wengert._foreach_add(a, b, alpha=2)) == [[6.5, -1.0], [[3.0]]]
    assert as_lists(wengert._foreach_mul(a, [2, 3])) == [[1.0, 2.0], [[6.0]]]
    assert as_lists(wengert._foreach_div(a, wengert.tensor(2.0))) == [[0.25, 0.5], [[1.0]]]
    assert as_lists(wengert._foreach_maximum(a, b)) == [[3.0, 1.0], [[2.0]]]
    assert as_lists(wengert._foreach_clamp_max(a, 0.75)) == [[0.5, 0.75], [[0.75]]]
    np.testing.assert_allclose(wengert._foreach_pow(2, a)[0].tolist(), [2**0.5, 2.0], rtol=1e-6)
    assert as_lists(wengert._foreach_pow(a, exponent=2)) == [[0.25, 1.0], [[4.0]]]
    assert as_lists(wengert._foreach_lerp(a, b, 0.5)) == [[1.75, 0.0], [[1.25]]]
    assert as_lists(wengert._foreach_lerp(a, b, weights=a)) == [[1.75, -1.0], [[-1.0]]]
    assert as_lists(wengert._foreach_addcmul(a, b, b, [1, 2])) == [[9.5, 2.0], [[2.5]]]
    assert as_lists(wengert._foreach_addcdiv(a, b, b, wengert.tensor([1.0, 2.0]))) == [[1.5, 2.0], [[4.0]]]
    assert as_lists(wengert._foreach_norm(b, 1)) == [4.0, 0.5]
    assert as_lists(wengert._foreach_powsum(b, 2)) == [10.0, 0.25]
    assert as_lists(wengert._foreach_max(b)) == [3.0, 0.5]


def test_writing() -> None:
    a, b = lists()
    wengert._foreach_copy_(a, b)
    assert as_lists(a) == as_lists(b) and a[0] is not b[0]
    wengert._foreach_sub_(a, b)
    assert as_lists(a) == [[0.0, 0.0], [[0.0]]]
    copies = wengert._foreach_clone(b)
    wengert._foreach_zero_(b)
    assert as_lists(copies) == [[3.0, -1.0], [[0.5]]] and b[1].item() == 0


def test_gradients() -> None:
    w = [wengert.tensor([1.0, 2.0], requires_grad=True), wengert.tensor([3.0], requires_grad=True)]
    wengert.cat(wengert._foreach_mul(wengert._foreach_add(w, 1), w)).sum().backward()
    assert [t.grad.tolist() for t in w] == [[3.0, 5.0], [7.0]]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        wengert._foreach_mul_(w, 2)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda a: wengert._foreach_add([], 1), RuntimeError, "Tensor list must have at least one tensor."),
        (lambda a: wengert._foreach_add(a, [1.0]), RuntimeError, "must have same number of elements as scalar list"),
        (lambda a: wengert._foreach_add(a, a[:1]), RuntimeError, "same number of tensors, got 2 and 1"),
        (lambda a: wengert._foreach_add(a, wengert.ones(2)), RuntimeError, "expected to be 0 dim but it has 1"),
        (lambda a: wengert._foreach_add(a, "x"), TypeError, "invalid combination of arguments"),
        (lambda a: wengert._foreach_add(a), TypeError, "invalid combination of arguments"),
        (lambda a: wengert._foreach_neg(1), TypeError, "must be tuple of Tensors, not int"),
        (lambda a: wengert._foreach_neg([1]), TypeError, "expected Tensor as element 0 in argument 0, but got int"),
        (lambda a: wengert._foreach_addcmul(a, a, a, wengert.ones(1)), RuntimeError, "match input of length 2 but got"),
        (lambda a: wengert._foreach_addcmul(a, a, a, wengert.tensor(1.0)), RuntimeError, "to be of dimension 1. Got 0"),
        (lambda a: wengert._foreach_max([wengert.zeros(0)]), RuntimeError, "of an empty tensor"),
    ],
)
def test_refusals(call: Any, error: Any, text: str) -> None:
    a, _ = lists()
    with pytest.raises(error, match=text):
        call(a)
    assert not hasattr(wengert, "_foreach_zero") and not hasattr(wengert, "_foreach_nothing")


def test_groups() -> None:
    x, y, z = wengert.zeros(1), wengert.zeros(1, dtype=wengert.float64), wengert.ones(1)
    groups = _group_tensors_by_device_and_dtype([[x, y, z], [None, y, x], []], with_indices=True)
    (lists32, indices32), (lists64, indices64) = groups.values()
    assert indices32 == [0, 2] and indices64 == [1] and lists32[2] == []
    assert lists32[0][1] is z and lists32[1][0] is None and lists32[1][1] is x and lists64[1][0] is y
    assert next(iter(Optimizer._group_tensors_by_device_and_dtype([[x]]).values())) == ([[x]], [])
    assert _has_foreach_support([x, None], x.device)


def test_an_optimizer_of_a_programs_own() -> None:
    class Descent(Optimizer):
        def __init__(self, params: Any, lr: float, differentiable: bool = False) -> None:
            super().__init__(params, {"lr": lr, "differentiable": differentiable})

        @_use_grad_for_differentiable
        def step(self) -> None:
            self.recorded = wengert.is_grad_enabled()
            for group in self.param_groups:
                grads = [p.grad for p in group["params"]]
                wengert._foreach_add_(group["params"], grads, alpha=-_get_value(group["lr"]))

    w = wengert.tensor([1.0], requires_grad=True)
    optimizer = Descent([w], 0.5)
    (w * w).sum().backward()
    optimizer.step()
    assert w.tolist() == [0.0] and not optimizer.recorded
    assert _default_to_fused_or_foreach([w], False) == (False, False)
    assert _default_to_fused_or_foreach([w], False, use_fused=True) == (True, False)
    params, state = [wengert.tensor([1 + 2j])], [wengert.tensor([3j])]
    _view_as_real(params, state)
    assert params[0].tolist() == [[1.0, 2.0]] and state[0].tolist() == [[0.0, 3.0]]


def test_as_torch(torch: Any) -> None:
    def run(lib: Any) -> list[Any]:
        a = [lib.linspace(-1, 2, 7), lib.linspace(0.5, 1, 4).view(2, 2)]
        b = [lib.linspace(3, -1, 7), lib.linspace(1, 2, 4).view(2, 2)]
        found = []
        for name in ("add", "sub", "mul", "div", "maximum", "minimum", "clamp_min", "clamp_max"):
            for second in (b, 0.5, [0.5, 2], [1, -1]):
                found += getattr(lib, f"_foreach_{name}")(a, second)
        found += lib._foreach_lerp(a, b, [0.1, 0.9]) + lib._foreach_addcdiv(a, b, b, -0.5) + lib._foreach_norm(a)
        lib._foreach_addcmul_(a, b, b, value=2)
        return [t.tolist() for t in [*found, *a]]

    for ours, theirs in zip(run(wengert), run(torch), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-7)


def test_results_of_a_list_have_one_node() -> None:
    """Its inputs are the list's, its names and saved numbers PyTorch's."""
    xs = [wengert.tensor([0.5, 2.0], requires_grad=True), wengert.tensor([[3.0]], requires_grad=True)]
    ys = wengert._foreach_maximum(xs, [1.0, 2])
    node = ys[0].grad_fn
    assert ys[1].grad_fn is node
    assert (ys[0].output_nr, ys[1].output_nr, node.name()) == (0, 1, "ForeachMaximumBackward1")
    assert (node._saved_scalars, node._saved_self[0] is xs[0]) == ((1.0, 2), True)
    assert [n.variable is x for (n, _), x in zip(node.next_functions, xs, strict=True)] == [True, True]
    (ys[0].sum() + ys[1].sum()).backward()
    assert [x.grad.tolist() for x in xs] == [[0.0, 1.0], [[1.0]]]
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        ys[1].sum().backward()
    names = {
        "mul": "ForeachMulBackward1Scalar", "div": "ForeachDivBackward1Scalar", "minimum": "ForeachMinimumBackward0",
        "clamp_min": "ForeachClampMinBackward0Scalar",
    }  # fmt: skip
    found = {name: getattr(wengert, f"_foreach_{name}")(xs, 2.0)[0].grad_fn.name() for name in names}
    assert found == names
    assert wengert._foreach_mul(xs, xs)[0].grad_fn.name() == "ForeachMulBackward0List"


@pytest.mark.parametrize("name", ["exp", "sqrt", "reciprocal", "maximum", "pow", "mul"])
def test_derivatives_of_a_list_are_the_operators(name: str) -> None:
    """The second ones too, and those of some results only."""
    second: Any = {"maximum": (1.0,), "pow": ([2.0, 3.0],), "mul": ([2.0, 3.0],)}.get(name, ())
    each: Any = getattr(wengert.Tensor, {"maximum": "clamp_min"}.get(name, name))
    xs = [wengert.tensor([0.5, 2.0], requires_grad=True), wengert.tensor([[3.0]], requires_grad=True)]
    others = [[s[k] if isinstance(s, list) else s for s in second] for k in range(2)]

    def seconds(ys: Any) -> Any:
        first = wengert.autograd.grad((ys[0] ** 2).sum() + (ys[1] ** 2).sum(), xs, create_graph=True)
        return [g.tolist() for g in (*first, *wengert.autograd.grad(sum((g**2).sum() for g in first), xs))]

    assert seconds(getattr(wengert, f"_foreach_{name}")(xs, *second)) == seconds(
        [each(x, *o) for x, o in zip(xs, others, strict=True)]
    )
    ys = getattr(wengert, f"_foreach_{name}")(xs, *second)
    assert wengert.autograd.grad(ys[1].sum(), xs, allow_unused=True)[0] is None
