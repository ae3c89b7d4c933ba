"""``torch.masked.MaskedTensor``: what it shows, its arithmetic, reductions and gradients."""

from __future__ import annotations

import gc
from typing import Any

import pytest

import wengert as torch
from wengert.masked import as_masked_tensor, masked_tensor

pytestmark = pytest.mark.filterwarnings("ignore:.*MaskedTensors is in prototype stage", "ignore:It is not recommended")


def counted(masked: Any) -> list[Any]:
    """The elements, ``None`` for one that does not count."""
    pairs = zip(masked._masked_data.tolist(), masked.get_mask().tolist(), strict=True)
    return [value if counts else None for value, counts in pairs]


def test_what_does_not_count_is_shown_as_dashes() -> None:
    masked = masked_tensor(torch.tensor([[1.0, 2.0], [3.0, 40.0]]), torch.tensor([[True, False], [False, True]]))
    assert repr(masked) == "MaskedTensor(\n  [\n    [  1.0000,       --],\n    [      --,  40.0000]\n  ]\n)"
    assert repr(masked[0, 0]) == "MaskedTensor(  1.0000, True)"
    assert repr(masked[0, 1]) == "MaskedTensor(--, False)"


def test_operands_have_the_same_mask() -> None:
    data, mask = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([True, False, True])
    a = masked_tensor(data, mask)
    assert counted(a + 2 * a) == [3.0, None, 9.0]
    assert counted(a.exp_().log()) == pytest.approx([1.0, None, 3.0])
    with pytest.raises(ValueError, match=r"^Input masks must match"):
        masked_tensor(data, mask) + masked_tensor(data, ~mask)


@pytest.mark.parametrize(
    ("name", "every", "rows"),
    [
        ("sum", 12.0, [1.0, 11.0, None]),
        ("mean", 4.0, [1.0, 5.5, None]),
        ("amax", 6.0, [1.0, 6.0, None]),
        ("prod", 30.0, [1.0, 30.0, None]),
        ("argmin", 0, [0, 1, None]),
    ],
)
def test_a_reduction_counts_what_counts(name: str, every: Any, rows: list[Any]) -> None:
    mask = torch.tensor([[True, False, False], [False, True, True], [False, False, False]])
    masked = masked_tensor(torch.arange(1.0, 10).reshape(3, 3), mask)
    assert getattr(masked, name)().item() == every
    assert counted(getattr(masked, name)(1)) == rows


def test_gradients_have_the_mask() -> None:
    x = torch.tensor([1.0, 1.0], requires_grad=True)
    divisor = torch.tensor([0.0, 1.0])
    as_masked_tensor(x / divisor, divisor != 0).sum().backward()
    assert counted(x.grad) == [None, 1.0]
    low = torch.tensor([-1.0, 2.0])
    a = masked_tensor(low, low < 0, requires_grad=True)
    b = masked_tensor(torch.ones(2), low >= 0, requires_grad=True)
    torch.where(low < 0, a * 3, b).sum().backward()
    assert (counted(a.grad), counted(b.grad)) == ([3.0, None], [None, 1.0])


def test_sparse_data_have_a_sparse_mask() -> None:
    masked = masked_tensor(torch.tensor([[0, 3], [4, 5]]), torch.tensor([[False, True], [False, True]]))
    for layout, sparse in ((torch.sparse_coo, masked.to_sparse()), (torch.sparse_csr, masked.to_sparse_csr())):
        assert sparse.layout == sparse.get_mask().layout == layout
        assert (sparse * 2).sum().item() == 16
        assert repr(sparse.to_dense()) == repr(masked)


def test_what_fits_is_said() -> None:
    for data, mask, error in (
        (torch.ones(2), torch.ones(2), "mask must have dtype bool."),
        (torch.ones(2), torch.tensor([True]), r"data.size\(\) must equal mask.size\(\)"),
        ([1.0], torch.tensor([True]), "data must be a Tensor"),
    ):
        with pytest.raises((TypeError, ValueError), match=error):
            masked_tensor(data, mask)


def test_an_error_of_a_programs_dispatch_is_its_own() -> None:
    class Refusing(torch.Tensor):
        @staticmethod
        def __new__(cls: Any) -> Any:
            return torch.Tensor._make_wrapper_subclass(cls, (2,), dtype=torch.float32)

        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            raise ValueError("mine")

    refusing: Any = Refusing()
    for call in (lambda: refusing + refusing, lambda: refusing.add(refusing), lambda: refusing * 2):
        with pytest.raises(ValueError, match=r"^mine$"):
            call()


def test_functions_are_slow_only_while_one_lives() -> None:
    from wengert._tensor_api import override_sites

    gc.collect()  # classes of other tests
    before = override_sites._level
    with pytest.warns(UserWarning, match="prototype"):
        x = torch.masked.masked_tensor(torch.ones(2), torch.tensor([True, False]))
    assert override_sites._level > before
    y = x + x
    del x
    assert override_sites._level > before
    del y
    assert override_sites._level == before
