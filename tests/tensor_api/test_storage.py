"""Storages: made, read, written, converted, copied, given to tensors; each line as in PyTorch."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import wengert as T

LINES = """
T.UntypedStorage()
T.UntypedStorage(3).nbytes()
T.UntypedStorage((1, 300))
T.UntypedStorage([1.5])
T.UntypedStorage("a")
T.UntypedStorage(2.5)
T.UntypedStorage(3, device="meta")
T.UntypedStorage(1, 2)
T.UntypedStorage(T.ones(2))
T.UntypedStorage(dtype=3)
T.TypedStorage([1, 2], dtype=T.int16)
T.TypedStorage(3).dtype
T.TypedStorage(wrap_storage=T.UntypedStorage([0, 0, 128, 63]), dtype=T.float32)
T.TypedStorage(wrap_storage=T.UntypedStorage(4))
T.TypedStorage(wrap_storage=3, dtype=T.float32)
T.TypedStorage(1, wrap_storage=T.UntypedStorage(4), dtype=T.float32)
T.TypedStorage(2, device="meta")
T.TypedStorage(1, 2)
T.FloatStorage(), T.IntStorage([1, 2]), T.BoolStorage([1, 0]), T.HalfStorage([1.5]), T.ComplexFloatStorage([1j])
T.FloatStorage("a")
T.FloatStorage(1.5)
T.FloatStorage(1, 2)
T.FloatStorage(device="cpu")
T.FloatStorage(wrap_storage=T.UntypedStorage(8)).size()
T.FloatStorage(wrap_storage=T.FloatStorage(8))
T.FloatStorage(T.ones(2))
T.LongStorage([1.7])
T.ByteStorage([300])
isinstance(s, T.FloatStorage), isinstance(s, T.IntStorage), issubclass(T.FloatStorage, T.TypedStorage)
s.double(), s.int(), s.bool(), s.bfloat16(), s.complex_float(), s.float().data_ptr() == s.data_ptr()
u.int(), u.half().dtype
s[0], s[-1], s.size(), s.nbytes(), s.element_size(), s.type(), s.pickle_storage_type()
s[5]
s["a"]
s[0:2]
s.__setitem__(slice(0, 2), 7), s
s.__setitem__(5, 1)
s.__setitem__("a", 1)
s.is_pinned(), s.is_shared(), s.is_sparse, s.is_cuda, s.is_hpu, s.filename, s.get_device()
s == s, s.clone() == s, hash(s) == hash(s), u == u, u.clone() == u, s._cdata == s._cdata
s.copy_(T.FloatStorage([4, 5, 6])), s.copy_(T.IntStorage([0, 0, 1])).tolist()[:2]
s.copy_(T.FloatStorage([1]))
s.copy_(3)
s.to(device="cpu")
u.to(device="meta")
s.share_memory_().is_shared()
u[0], u[2:4], u.type(), u.cpu() is u, u.untyped() is u
u[100]
u["a"]
u.__setitem__(0, 300), u.__setitem__(slice(1, 3), 5), u.tolist()
u.__setitem__(0, 1.5)
u.fill_(300)
u.byteswap(T.float32), u
T.ones(2, device="meta").untyped_storage().tolist()
T.ones(2, device="meta").untyped_storage()[0]
[T.FloatStorage.from_buffer(b"abcdefgh", order) for order in ("little", "big")]
T.FloatStorage.from_buffer(b"abcdefgh", "little", offset=4), T.FloatStorage.from_buffer(b"abcdefgh", "little", count=1)
T.FloatStorage.from_buffer(b"abc", "big")
T.FloatStorage.from_buffer(b"abcdefgh", "foo")
T.FloatStorage.from_buffer(b"abcdefgh", "little", offset=9)
T.FloatStorage.from_buffer(b"abcdefgh", "little", offset=3)
T.FloatStorage.from_buffer(b"abcdefgh", "little", count=5)
T.FloatStorage.from_buffer(b"abcdefgh")
T.FloatStorage.from_buffer(3, "little")
T.FloatStorage.from_buffer(b"abcd", "little", dtype=T.int32)
T.BoolStorage.from_buffer(b"\\x00\\x01\\x02", "big"), T.ComplexFloatStorage.from_buffer(b"abcdefgh", "big")
T.UntypedStorage.from_buffer(b"abcd", byte_order="big", dtype=T.int16)
T.UntypedStorage.from_buffer(b"abcd")
T.tensor([]).set_(s), T.FloatTensor().set_(s, 1, (2,)), T.FloatTensor().set_(s.untyped(), 1, (2,), (1,))
T.IntTensor().set_(s)
T.LongTensor().set_(T.BoolStorage([1]))
T.Tensor(s), T.Tensor(T.UntypedStorage(8)).shape, T.FloatTensor(s).data_ptr() == s.data_ptr()
T.IntTensor(s)
"""


@pytest.mark.compare
@pytest.mark.parametrize("line", LINES.strip().splitlines())
@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_same_as_pytorch(torch: Any, line: str) -> None:
    seen = []
    for library in (torch, T):
        x = library.tensor([1.0, 2.0, 3.0])
        names = {"T": library, "s": x._typed_storage(), "u": x.clone().untyped_storage()}
        try:
            seen.append(repr(eval(line, names)))
        except Exception as error:  # noqa: BLE001  what it is is compared
            seen.append(f"{type(error).__name__}: {str(error).splitlines()[0].partition('. ')[0]}")
    assert seen[0] == seen[1]


def test_a_tensor_on_a_storage_shares_its_memory() -> None:
    s = T.FloatStorage([1, 2, 3])
    a, b = T.tensor([]).set_(s), T.tensor([]).set_(s, 1, (2,))
    a[1] = 9
    assert (b.tolist(), s.tolist()) == ([9.0, 3.0], [1.0, 9.0, 3.0])


def test_a_deep_copy_shares_memory_with_the_copied_tensor() -> None:
    t = T.ones(2)
    row, storage = copy.deepcopy([t, t._typed_storage()])
    row.fill_(7)
    assert storage.tolist() == [7.0, 7.0]
    assert t.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("given", ["(T.ones(3),)", "()", "(T.ones(4).untyped_storage(), 1, (2,))"])
def test_set_has_no_derivative(given: str) -> None:
    """The old history, of elements that are gone, led to a gradient of another shape."""
    x = T.ones(2, requires_grad=True)
    y = x * 2
    y.set_(*eval(given, {"T": T}))
    assert "grad_fn=<NotImplemented>" in repr(y)
    with pytest.raises(RuntimeError, match="derivative for set_ is not implemented"):
        y.sum().backward()
    z = T.zeros(2)
    z.set_(x)
    assert z.grad_fn.name() == "torch::autograd::NotImplemented"
    with T.no_grad():
        assert T.zeros(2).set_(x).is_leaf
