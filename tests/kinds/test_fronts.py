"""Public functions that in the usual call are their operator (`_kinds.fronts`), in every other as they are written."""

from __future__ import annotations

import gc
import inspect
from typing import Any

import pytest

import wengert as torch
from wengert._kinds.templates import first_call_of

F = torch.nn.functional
ACTIVATIONS = ["hardshrink", "softshrink", "leaky_relu", "elu", "celu", "hardtanh", "softplus"]
ALONG_A_DIM = ["amax", "cumsum", "softmax", "sort", "max", "var", "argmin", "any", "median", "sum", "mean"]


def matrix() -> Any:
    return torch.tensor([[3.0, 1.0, 2.0], [0.5, 0.25, 4.0]], requires_grad=True)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_text_is_no_number(name: str) -> None:
    for x in (torch.ones(2), matrix()):
        with pytest.raises(TypeError):
            getattr(F, name)(x, "text")


@pytest.mark.parametrize("name", ALONG_A_DIM)
def test_a_wrong_dim_is_refused(name: str) -> None:
    fn = getattr(matrix(), name)
    assert fn(-1) is not None
    with pytest.raises(IndexError, match="Dimension out of range"):
        fn(5)
    with pytest.raises(TypeError):
        fn(1.5)
    with pytest.raises(TypeError):
        fn(1, no_such_argument=2)


@pytest.mark.parametrize("name", ["amax", "var", "sum", "prod", "median", "all", "logsumexp"])
def test_all_spellings_give_the_same(name: str) -> None:
    x = matrix().detach() if name == "all" else matrix()

    def value(result: Any) -> Any:
        return (result if isinstance(result, torch.Tensor) else result[0]).tolist()

    fn = getattr(x, name)
    expected = value(fn(1))
    for result in (fn(-1), fn(dim=1), fn(axis=1), fn(dim=-1, keepdim=False)):
        assert value(result) == expected
    with torch.no_grad():
        assert value(fn(1)) == expected
    kept = fn(1, keepdim=True)
    assert tuple((kept if isinstance(kept, torch.Tensor) else kept[0]).shape) == (2, 1)


@pytest.mark.parametrize("name", ["sum", "mean", "amax", "amin", "nansum", "logsumexp", "any", "all"])
def test_a_tuple_of_dims(name: str) -> None:
    x = torch.arange(6.0).reshape(1, 2, 3).requires_grad_(name not in ("any", "all"))
    fn = getattr(x, name)
    for dims, shape, kept in (((0, 2), (2,), (1, 2, 1)), ((-1, 1), (1,), (1, 1, 1)), ((1,), (1, 3), (1, 1, 3))):
        assert fn(dims).shape == shape and fn(dims, True).shape == kept == fn(dims, keepdim=True).shape
        assert fn(dims).tolist() == fn(list(dims)).tolist() == fn(dim=dims, keepdim=True).reshape(shape).tolist()
        with torch.no_grad():
            assert fn(dims).tolist() == fn(dims, True).reshape(shape).tolist()
    with pytest.raises(IndexError, match="Dimension out of range"):
        fn((0, 3))
    with pytest.raises(RuntimeError, match="appears multiple times in the list of dims"):
        fn((1, -2))
    with pytest.raises(TypeError):
        fn((0, 1.5))
    alone = getattr(torch.tensor(2.0), name)
    assert alone((0,)).shape == () == alone((-1,), True).shape


@pytest.mark.parametrize("name", ["topk", "kthvalue"])
def test_two_results_after_a_number(name: str) -> None:
    x = matrix()
    fn = getattr(x, name)
    values, places = fn(2)
    assert values.tolist() == ([[3.0, 2.0], [4.0, 0.5]] if name == "topk" else [2.0, 0.5])
    for result in (fn(2, -1), fn(k=2, dim=1), fn(2, axis=1), getattr(torch, name)(x.detach(), 2)):
        assert type(result) is type(fn(2))
        assert result.values.tolist() == values.tolist() and result.indices.tolist() == places.tolist()
    assert getattr(x.t(), name)(2, 0).values.t().tolist() == values.tolist()
    for wrong, error in (((4,), RuntimeError), ((2, 5), IndexError), ((2.0,), TypeError), ((2, 1, 1), TypeError)):
        with pytest.raises(error):
            fn(*wrong)
    with pytest.raises(RuntimeError if name == "topk" else NotImplementedError):
        getattr(x > 0, name)(2)


def test_the_node_has_the_line_of_the_program() -> None:
    for result in (
        matrix().topk(2).values,
        matrix().kthvalue(2).values,
        matrix().amax(1),
        F.silu(matrix()),
        matrix().max(0).values,
        matrix().sum(1),
    ):
        node = result._node.fx if type(result._node).__name__ == "Port" else result._node
        assert node._code is inspect.currentframe().f_code  # type: ignore[union-attr]


def test_an_overriding_argument_is_asked() -> None:
    class Duck:
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func.__name__, args[1:], kwargs or {}

    assert F.hardshrink(Duck(), 0.25) == ("hardshrink", (0.25,), {})
    assert torch.amax(Duck(), 1) == ("amax", (1,), {})
    assert torch.softmax(Duck(), dim=1) == ("softmax", (), {"dim": 1})
    del Duck
    gc.collect()  # as long as the class lives, functions look for it


@pytest.mark.parametrize("fn", [torch.amax, torch.max, torch.clamp, F.silu, F.softmax])
def test_the_signature_is_the_written_one(fn: Any) -> None:
    assert first_call_of(fn) is not None
    assert next(iter(inspect.signature(fn).parameters)) == "input"
    assert inspect.signature(fn) == inspect.signature(inspect.unwrap(fn))
