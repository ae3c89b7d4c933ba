"""Nested tensors: history, hooks, layers, what a node says of them, copies."""

from __future__ import annotations

import copy
import io
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import wengert as torch
from wengert.autograd import gradcheck

LAYOUTS = (torch.strided, torch.jagged)


@pytest.fixture(autouse=True)
def _prototype() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The PyTorch API of nested tensors")
        yield


def leaf(layout: Any, *sizes: tuple[int, ...]) -> Any:
    return torch.nested.nested_tensor([torch.randn(s) for s in sizes], layout=layout, requires_grad=True)


def test_gradients_of_a_chain_of_the_strided_layout() -> None:
    def f(a: Any, b: Any) -> Any:
        nt = torch.nested.as_nested_tensor([a, b])
        nt = torch.nn.functional.softmax(nt * nt + nt, -1).transpose(1, 2).contiguous().tanh()
        return torch.matmul(nt.transpose(1, 2), nt).sum(-1, keepdim=True).to_padded_tensor(1.0)

    rows = [torch.randn(n, 3, dtype=torch.float64, requires_grad=True) for n in (2, 4)]
    assert gradcheck(f, rows)


def test_gradients_of_a_chain_of_the_jagged_layout() -> None:
    def f(a: Any, b: Any) -> Any:
        nt = torch.nested.as_nested_tensor([a, b], layout=torch.jagged)
        nt = torch.nn.functional.layer_norm(nt.sin(), (3,)) * nt.sum(1, keepdim=True)
        return nt.softmax(-1).to_padded_tensor(0.0), nt.mean(1), nt.unbind()[1]

    rows = [torch.randn(n, 3, dtype=torch.float64, requires_grad=True) for n in (2, 4)]
    assert gradcheck(f, rows)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_hooks_and_gradients_are_nested(layout: Any) -> None:
    x = leaf(layout, (3, 2), (1, 2))
    y = x * 2
    seen = []
    y.register_hook(lambda g: seen.append(g.is_nested))
    y.retain_grad()
    y.backward(torch.ones_like(y))
    assert seen == [True] and y.grad.is_nested
    assert x.grad.unbind()[1].tolist() == [[2.0, 2.0]]
    (g,) = torch.autograd.grad(x * 3, x, torch.ones_like(x))
    assert g.is_nested and g.unbind()[1].tolist() == [[3.0, 3.0]]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_step_of_training_on_a_nested_batch(layout: Any) -> None:
    x = leaf(layout, (3, 2), (1, 2))
    model = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    padded = x.detach().to_padded_tensor(0.0)
    mask = torch.tensor([[True, True, True], [True, False, False]]).unsqueeze(-1)
    (model(padded) * mask).sum().backward()
    expected = [p.grad for p in model.parameters()]
    model.zero_grad()
    model(x).to_padded_tensor(0.0).sum().backward()
    for p, g in zip(model.parameters(), expected, strict=True):
        torch.testing.assert_close(p.grad, g)


def test_a_node_says_that_its_gradient_is_nested() -> None:
    x = leaf(torch.jagged, (3, 2), (1, 2))
    said = x.clone().grad_fn._input_metadata[0]
    assert said.shape == list(x.shape) and isinstance(said.shape[1], torch.SymInt)
    assert said.is_nested_tensor and not said.is_cpp_nested_tensor and said.dtype == x.dtype
    assert leaf(torch.strided, (3, 2), (1, 1)).clone().grad_fn._input_metadata[0].is_cpp_nested_tensor


def test_views_of_the_strided_layout_are_no_leaves() -> None:
    nt = torch.nested.nested_tensor([torch.ones(1, 3), torch.ones(2, 3)], requires_grad=True)
    views = {
        "TransposeBackward0": nt.transpose(1, 2),
        "SelectBackwardAutogradNestedTensor0": nt.select(1, 0),
        "ChunkBackwardAutogradNestedTensor0": nt.chunk(3, -1)[1],
        "ViewBackwardAutogradNestedTensor0": nt.view(2, -1, 3, 1),
    }
    for name, view in views.items():
        assert view.grad_fn.name() == name
        assert not view.is_leaf and view.requires_grad
        assert repr(view).endswith(f"grad_fn=<{name}>)")
    (views["TransposeBackward0"] * 2).unbind()[1].sum().backward()
    assert [part.tolist() for part in nt.grad.unbind()] == [[[0.0] * 3], [[2.0] * 3] * 2]


def test_the_sum_of_the_strided_layout_saves_its_input() -> None:
    x = leaf(torch.strided, (2,), (3,)).clone()
    sums = x.sum(-1, keepdim=True)
    x.add_(x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        sums.backward(torch.ones_like(sums))


def test_an_operator_for_tests_has_gradients_of_its_own_for_nested_tensors() -> None:
    for more, expected in (((), 9.0), ((True,), 12.0)):
        rows = [torch.ones(n, requires_grad=True) for n in (2, 3)]
        out = torch._test_autograd_multiple_dispatch(torch.nested.as_nested_tensor(rows), *more)
        out.backward(torch.full_like(out, 3.0).detach())
        assert [row.grad.tolist() for row in rows] == [[expected] * 2, [expected] * 3]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_copies_and_files_of_nested_tensors(layout: Any) -> None:
    x = leaf(layout, (3, 2), (1, 2))
    file = io.BytesIO()
    torch.save(x, file)
    file.seek(0)
    for other in (copy.deepcopy(x), torch.load(file, weights_only=False)):
        assert other.is_leaf and other.requires_grad and other.layout == layout
        assert torch.equal(other.values(), x.values()) and other is not x


def test_the_package_imports_nested_tensors_when_they_are_named() -> None:
    code = "import sys, wengert; assert 'wengert.nested' not in sys.modules; wengert.nested.nested_tensor"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_shape_of_a_nested_output_is_that_of_its_parts() -> None:
    from wengert.autograd import _calculate_shape

    out, grad = leaf(torch.strided, (3, 2), (1, 2)), leaf(torch.strided, (2, 3), (2, 1))
    assert [shape.tolist() for shape in _calculate_shape(out, grad, False)] == [[[3, 2], [1, 2]], [[2, 3], [2, 1]]]
