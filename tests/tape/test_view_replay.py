"""Views made again: ``_view_func`` and its inverse, and writes to views of another dtype reshaped in place."""

from __future__ import annotations

import importlib
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import wengert as torch

aten = torch.ops.aten
VIEWS: list[tuple[Any, Any]] = [
    (lambda x: aten.alias.default(x), (2, 2)), (lambda x: x.as_strided((4,), (1,)), (2, 2)),
    (lambda x: x.chunk(2, -1)[1], (2, 4)), (lambda x: x.diagonal(), (3, 3)), (lambda x: x.expand(-1, 3), (4, 1)),
    (lambda x: x[1:, 0], (2, 2)), (lambda x: x.permute(1, 0, 2), (2, 3, 4)), (lambda x: x.unfold(1, 3, 2), (1, 5)),
    (lambda x: x.unsqueeze(-1).transpose(0, 2).squeeze(0), (2, 4)), (torch.view_as_complex, (3, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("view", "shape"), VIEWS)
def test_back_from_a_view(view: Any, shape: Any) -> None:
    base = torch.rand(shape)
    out = view(base)
    assert out._view_func_unsafe(base * 2).tolist() == view(base * 2).tolist()
    apart = out.detach()
    again = out._rev_view_func_unsafe(apart)
    assert again._base is apart
    assert (again.shape, again.stride(), again.dtype) == (base.shape, base.stride(), base.dtype)
    assert again.tolist() == base.tolist()


def test_back_from_the_numbers_of_complex_ones() -> None:
    base = torch.rand(2, 2, dtype=torch.cfloat)
    apart = torch.view_as_real(base).detach()
    again = torch.view_as_real(base)._rev_view_func_unsafe(apart)
    assert again.tolist() == base.tolist()
    assert base._rev_view_func_unsafe(apart) is base._view_func_unsafe(apart) is None


def test_visitors_change_the_numbers_for_one_call() -> None:
    base = torch.arange(60.0).view(3, 4, 5).clone()
    view = base.select(1, 2)
    assert view._view_func(base, symint_visitor_fn=lambda n: n + 1).tolist() == base.select(1, 3).tolist()
    assert view._view_func(base).tolist() == view.tolist()
    assert base.narrow(0, 0, 1)._view_func(base, symint_visitor_fn=lambda n: min(n + 1, 2)).shape == (1, 4, 5)


def test_a_visitor_sees_the_tensor_of_slice_inverse() -> None:
    base = torch.arange(60.0).view(3, 4, 5).clone()
    part = base[:, 2:3].detach()
    whole = aten.slice_inverse(part, base, 1, 2, 3, 1)
    assert whole.tolist() == base.tolist()
    seen: list[Any] = []

    def other(t: Any) -> Any:
        seen.append(t.shape)
        return torch.empty(1, 2, 3)

    smaller = whole._view_func(part, tensor_visitor_fn=other)
    assert (seen, smaller.shape, smaller.stride()) == ([(3, 4, 5)], (1, 2, 3), (6, 3, 1))
    assert whole._view_func(part).tolist() == base.tolist()


def _gradient(T: ModuleType, view: Any, reshape: Any, size: Any = (2, 2)) -> Any:
    x = T.arange(float(size[0] * size[1])).view(size).to(T.complex64).requires_grad_()
    b = view(T, x.clone())
    reshape(b)
    b += 1
    b.backward(T.arange(b.numel()).view(b.shape).to(b.dtype))
    return b.grad_fn.name(), x.grad.tolist()


REPLAYED: list[tuple[Any, Any]] = [
    (lambda T, a: T.view_as_real(a), lambda b: b.transpose_(0, 1)),
    (lambda T, a: T.view_as_real(a)[0], lambda b: b.t_()),
    (lambda T, a: a.conj(), lambda b: b.t_()),
    (lambda T, a: a[:], lambda b: b.t_()),
]


def test_a_square_view_of_another_dtype_forgets_its_order() -> None:
    """PyTorch replays the operator that made the view, and its suite asserts that."""
    view, reshape = REPLAYED[0]
    assert _gradient(torch, view, reshape) == ("ViewAsRealBackward0", [[1j, 2 + 3j], [4 + 5j, 6 + 7j]])
    x = torch.zeros(2, 3, dtype=torch.complex64, requires_grad=True)
    b = torch.view_as_real(x.clone())
    b.transpose_(0, 1)
    b += 1
    b.backward(torch.arange(12.0).view(3, 2, 2))
    assert x.grad.tolist() == [[1j, 4 + 5j, 8 + 9j], [2 + 3j, 6 + 7j, 10 + 11j]]  # PyTorch refuses these sizes


@pytest.mark.parametrize(("view", "reshape"), REPLAYED)
def test_replayed_views_are_torchs(torch: ModuleType, view: Any, reshape: Any) -> None:
    import wengert

    assert _gradient(wengert, view, reshape) == _gradient(torch, view, reshape)


NESTED_VIEWS: list[tuple[str, Any, Any]] = [
    ("values", "nested", lambda N, nt: nt.values()),
    ("values", "aten", lambda N, nt: N.torch.ops.aten._nested_get_values.default(nt)),
    ("nested", "of values", lambda N, values: N.view(values, N.offsets)),
    ("values", "and back", lambda N, nt: N.view(nt.values(), nt.offsets().clone()).values()),
    ("nested", "and back", lambda N, values: N.view(N.view(values, N.offsets).values(), N.offsets.clone())),
    ("values", "a part", lambda N, nt: nt.values()[2:]),
]


@pytest.mark.parametrize("of", [pytest.param("torch", marks=pytest.mark.compare), "wengert"])
@pytest.mark.parametrize(("kind", "how", "make"), NESTED_VIEWS)
def test_views_of_nested_tensors_and_nested_views(of: str, kind: str, how: str, make: Any) -> None:
    """A view knows its base, nested or not, and its operators apply to another base; a write reaches the base."""
    T = pytest.importorskip(of)
    view = importlib.import_module(f"{of}.nested._internal.nested_tensor").nested_view_from_values_offsets
    values, offsets = T.rand(10, 2), T.tensor([0, 3, 10])
    base = view(values, offsets).detach().clone() if kind == "values" else values
    made = make(SimpleNamespace(torch=T, view=view, offsets=offsets), base)
    with T.autograd._force_original_view_tracking(True):
        again = made._view_func_unsafe(base.clone())
    assert made._is_view() and made._base is base
    elements = (lambda t: t.values()) if kind == "nested" else (lambda t: t)
    assert (again.is_nested, again.size(), elements(again).tolist()) == (
        made.is_nested, made.size(), elements(made).tolist(),
    )  # fmt: skip
    if how != "a part":
        new = made.detach()
        back = made._rev_view_func_unsafe(new)
        assert (back.is_nested, back.size(), back._base is new) == (base.is_nested, base.size(), True)
    elements(made).zero_()
    assert not (base.values() if kind == "values" else base)[2:].any()
