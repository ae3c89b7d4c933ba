"""Misspelt keywords: PyTorch's class and first sentence, and a note that names the nearest keyword."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import wengert as torch
from wengert.autograd import Variable

X = torch.ones(2, requires_grad=True)
CALLS: dict[str, tuple[Callable[[], Any], str]] = {
    "tensor() got an unexpected keyword argument 'require_grad'": (
        lambda: torch.tensor([1.0], require_grad=True), "requires_grad",
    ),
    "zeros() got an unexpected keyword argument 'require_grad'": (
        lambda: torch.zeros(2, require_grad=True), "requires_grad",
    ),
    "ones_like() got an unexpected keyword argument 'dtpe'": (lambda: torch.ones_like(X, dtpe=torch.int8), "dtype"),
    "full() got an unexpected keyword argument 'devise'": (lambda: torch.full((2,), 1.0, devise="cpu"), "device"),
    "requires_grad_() got an unexpected keyword argument 'require_grad'": (
        lambda: torch.ones(2).requires_grad_(require_grad=True), "requires_grad",
    ),
    "Parameter.__new__() got an unexpected keyword argument 'require_grad'": (
        lambda: torch.nn.Parameter(torch.ones(2), require_grad=False), "requires_grad",
    ),
    "'require_grad' is an invalid keyword argument for this function": (
        lambda: Variable(torch.ones(2), require_grad=True), "requires_grad",
    ),
    "Tensor.backward() got an unexpected keyword argument 'retain'": (
        lambda: X.sum().backward(retain=True), "retain_graph",
    ),
    "backward() got an unexpected keyword argument 'retain'": (
        lambda: torch.autograd.backward(X.sum(), retain=True), "retain_graph",
    ),
    "grad() got an unexpected keyword argument 'retain'": (
        lambda: torch.autograd.grad(X.sum(), X, retain=True), "retain_graph",
    ),
}  # fmt: skip


@pytest.mark.parametrize("message", CALLS)
def test_the_note_names_the_nearest_keyword(message: str) -> None:
    call, meant = CALLS[message]
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value) == message
    assert caught.value.__notes__[0] == f"What to do: did you mean '{meant}'?"


@pytest.mark.parametrize("message", CALLS)
def test_pytorch_says_the_same(torch: Any, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    call, _ = CALLS[message]
    scope = call.__globals__
    monkeypatch.setitem(scope, "torch", torch)
    monkeypatch.setitem(scope, "Variable", torch.autograd.Variable)
    monkeypatch.setitem(scope, "X", torch.ones(2, requires_grad=True))
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value).splitlines()[0] == message


def test_a_keyword_without_a_near_one_gets_the_list() -> None:
    with pytest.raises(TypeError) as caught:
        torch.eye(2, k=1)
    assert caught.value.__notes__[0].startswith("Why: its keywords are device, dtype")


def test_signatures_show_no_unknown_keywords_and_the_old_name_still_works() -> None:
    for function in (torch.tensor, torch.autograd.backward, torch.autograd.grad, torch.Tensor.backward):
        kinds = {p.kind for p in inspect.signature(function).parameters.values()}
        assert inspect.Parameter.VAR_KEYWORD not in kinds
    assert "retain_variables" in inspect.signature(torch.Tensor.backward).parameters
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x
    y.backward(retain_variables=True)
    y.backward()
    assert x.grad == 8
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()
