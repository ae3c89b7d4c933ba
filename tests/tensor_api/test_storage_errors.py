"""Storages: made by hand, read and written item by item, and given to tensors. Errors are PyTorch's."""

from __future__ import annotations

import re
from typing import Any

import pytest

import wengert as torch


def test_storages_are_made_of_sizes_and_of_numbers() -> None:
    assert torch.UntypedStorage([1, 300, -1]).tolist() == [1, 44, 255]
    assert (torch.UntypedStorage(3).nbytes(), torch.UntypedStorage().nbytes()) == (3, 0)
    assert torch.UntypedStorage(3, device="meta").device == torch.device("meta")


MADE: dict[Any, str] = {
    "mean": r"RuntimeError.*from a sequence \(str\), but one of the items was of type str instead of int",
    (1.5,): r"RuntimeError.*from a sequence \(tuple\), but one of the items was of type float instead of int",
    None: "RuntimeError.*Expected a sequence type, but got NoneType",
    -1: "RuntimeError.*alloc_cpu.. seems to have been called with negative number: 18446744073709551615",
    2**62: "RuntimeError.*can't allocate memory: you tried to allocate 4611686018427387904 bytes",
    2**70: "ValueError.*Overflow when unpacking long long",
}


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_storages_of_a_dtype_are_made_of_sizes() -> None:
    assert torch.FloatStorage(3).nbytes() == 12
    for size, words in ((2**60, "can't allocate memory"), (-5, "called with negative number: 18446744073709551596")):
        with pytest.raises(RuntimeError, match=words):
            torch.FloatStorage(size)


@pytest.mark.parametrize("given", MADE, ids=str)
def test_what_makes_no_storage(given: Any) -> None:
    with pytest.raises((RuntimeError, ValueError)) as raised:
        torch.UntypedStorage(given)
    assert_is(raised.value, MADE[given])


def assert_is(error: BaseException, pattern: str) -> None:
    assert re.match(pattern, f"{type(error).__name__} {error}")


ITEMS = {
    "u['a']": "TypeError can't index a torch.UntypedStorage with str",
    "u[9]": "IndexError index 9 out of range for storage of size 4",
    "u[-9]": "IndexError index -5 out of range for storage of size 4",
    "u[::2]": "RuntimeError Trying to slice with a step of 2, but only a step of 1 is supported",
    "u.__setitem__(0, 'a')": "RuntimeError can only set storage content with a int types, but got str instead",
    "u.__setitem__(9, 1)": "RuntimeError out of bounds",
    "u.fill_(1.5)": "RuntimeError fill_ expects int, but got float",
    "u.copy_(3)": "TypeError copy_.*: argument 'src' .position 1. must be torch.Storage, not int",
    "u.copy_(s)": "RuntimeError size does not match, self was 4 bytes but src was 16 bytes",
    "s[[0, 1]]": "RuntimeError can't index a <class 'torch.storage.TypedStorage'> with <class 'list'>",
    "s[0:2]": "RuntimeError slices are only supported in UntypedStorage.__getitem__",
    "s[-5]": "IndexError index -5 out of range for storage of size 4",
    "s.__setitem__(0, 'a')": "TypeError can't assign a str to a torch.FloatTensor",
    "s.__setitem__(9, 1)": "IndexError index 9 is out of bounds for dimension 0 with size 4",
    "s.fill_('a')": "TypeError can't assign a str to a torch.FloatTensor",
}


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
@pytest.mark.parametrize("code", ITEMS)
def test_what_is_no_item(code: str) -> None:
    x = torch.arange(4.0)
    values = {"s": x.storage(), "u": torch.UntypedStorage([1, 2, 3, 4])}
    with pytest.raises((RuntimeError, TypeError, IndexError)) as raised:
        eval(code, values)
    assert_is(raised.value, ITEMS[code])
    assert x.tolist() == [0, 1, 2, 3]


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_items_are_written() -> None:
    x = torch.arange(4.0)
    s, u = x.storage(), x.untyped_storage()
    s[1], s[2:] = 5, 7
    assert (x.tolist(), s[-1]) == ([0, 5, 7, 7], 7.0)
    u[0:2] = 300
    assert (u[1], u[1:3].tolist()) == (44, [44, 0])
    u.copy_(torch.zeros(4).untyped_storage())
    assert x.tolist() == [0, 0, 0, 0]


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_a_tensor_on_a_storage() -> None:
    x = torch.arange(6.0)
    y = torch.empty(0).set_(x.untyped_storage(), 2, (2, 2), (2, 1))
    y[0, 0] = 9
    assert (x.tolist(), torch.empty(0).set_(x.storage()).tolist()) == ([0, 1, 9, 3, 4, 5],) * 2
    assert torch.empty(0, dtype=torch.int32).set_(x.untyped_storage())[1].item() == 0x3F800000
    assert torch.empty(0).set_(torch.UntypedStorage(7)).shape == (1,)
    with pytest.raises(RuntimeError, match="Expected a Storage of type double or an Untyped"):
        torch.empty(0, dtype=torch.float64).set_(x.storage())
    with pytest.raises(RuntimeError, match=r"out of bounds for storage of size 24"):
        torch.empty(0).set_(x.untyped_storage(), 4, (3,))
    with pytest.raises(RuntimeError, match='device "meta" to a storage on different device "cpu"'):
        torch.empty(0, device="meta").set_(x.untyped_storage())
    with pytest.raises(RuntimeError, match="the storage begins in the middle of an element"):
        torch.empty(0).set_(x.untyped_storage()[1:9])
