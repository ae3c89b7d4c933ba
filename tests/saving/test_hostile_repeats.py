"""Files that say one long thing at many places, by its number in the memo: what a look at it costs, it costs each time.

And tensors of the first formats, which a file fills after it has referred to them.
"""

from __future__ import annotations

import collections
import io
import itertools
import pickle
import struct
import tracemalloc
from typing import Any

import pytest

import wengert
from tests.saving.test_hostile import FACTOR, archive_of, long_integer, peak_of, saved, text
from wengert._saving.unpickling import globals_in
from wengert._tape import view_chain

MUCH = "much more memory than the file has bytes"
META = b"ctorch._utils\n_rebuild_meta_tensor_no_storage\n"
LETTERS = text("a" * 300_000)
BYTES = b"c_codecs\nencode\n" + LETTERS + text("latin1") + b"\x86R"


def storage(
    key: bytes = text("0"), kind: str = "Float", count: int = 4, location: bytes = text("cpu"), end: bytes = b"t"
) -> bytes:
    name = b"ctorch.storage\nUntyped" if kind == "Untyped" else b"ctorch\n" + kind.encode()
    return b"(" + text("storage") + name + b"Storage\n" + key + location + b"J" + struct.pack("<i", count) + end


def called(name: str, *args: bytes) -> bytes:
    return b"c%s\n%s\n(" % tuple(part.encode() for part in name.rsplit(".", 1)) + b"".join(args) + b"tR"


def strided(of: bytes, size: bytes = b"K\4\x85", stride: bytes = b"K\1\x85", grad: bytes = b"\x89") -> bytes:
    return called("torch._utils._rebuild_tensor_v2", of, b"K\0", size, stride, grad, b"N")


def sparse(places: bytes, values: bytes, size: bytes, coalesced: bytes = b"\x89") -> bytes:
    layout = called("torch.serialization._get_layout", text("torch.sparse_coo"))
    return called("torch._utils._rebuild_sparse_tensor", layout, b"(" + places + values + size + coalesced + b"t")


def stream_of(obj: bytes, keys: bytes, *elements: bytes) -> io.BytesIO:
    """The format before PyTorch 1.6; ``elements`` are of numbers of 4 bytes, but for those of 8 (``struct`` "q")."""
    head = b"".join(pickle.dumps(part, 2) for part in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}))
    return io.BytesIO(head + b"\x80\x02" + obj + b"." + keys + b"".join(elements))


def floats(*values: float) -> bytes:
    return struct.pack(f"<q{len(values)}f", len(values), *values)


# ------------------------------------------------------------------------------------------------- time and memory
@pytest.mark.parametrize("key", [BYTES, LETTERS], ids=["bytes", "text"])
def test_one_key_many_times_in_the_list_of_a_stream(key: bytes) -> None:
    """A copy of each took gigabytes, and the comparison of each with the next one seconds."""
    file = stream_of(b"N", b"\x80\x02" + key + b"q\0](" + b"h\0" * 1000 + b"e.")
    assert peak_of(file) < FACTOR * len(file.getvalue())
    file.seek(0)
    with pytest.raises(RuntimeError, match="list of storages is not that of its objects"):
        wengert.load(file)


@pytest.mark.parametrize("zipped", [True, False])
def test_one_long_location_of_many_storages(zipped: bool) -> None:
    first, again = storage(end=b"NtQ"), storage(location=BYTES, end=b"Ntq\1Q") + b"h\1Q" * 100_000
    obj = b"](" + first + again + b"e"
    with pytest.raises(pickle.UnpicklingError, match=MUCH):
        wengert.load(archive_of(b"\x80\x02" + obj + b".", data_0=bytes(16)) if zipped else stream_of(obj, b""))
    for part in ("key", "location"):
        beyond = storage(**{part: b"c_codecs\nencode\n" + text("é") + text("latin1") + b"\x86R"}, end=b"NtQ.")
        with pytest.raises(pickle.UnpicklingError, match="ordinal not in range"):
            wengert.load(archive_of(b"\x80\x02" + beyond, data_0=bytes(16)))


ONE_META = META + b"(ctorch\nfloat32\n))\x89tR"
NAMED = {
    "tensor": called("torch._tensor._rebuild_from_type_v2", META, b"ctorch\nTensor\n(ctorch\nfloat32\n))\x89t", b"%s"),
    "parameter": called("torch._utils._rebuild_parameter_with_state", ONE_META, b"\x89N%s"),
    "ordered dict": b"ccollections\nOrderedDict\n)R%sb",
}


@pytest.mark.parametrize("kind", NAMED)
def test_one_long_name_of_many_attributes(kind: str) -> None:
    obj = NAMED[kind].replace(b"%s", b"h\1")
    file = archive_of(b"\x80\x02(}" + LETTERS + b"K\1sq\1](" + obj * 5000 + b"et.")
    with pytest.raises(pickle.UnpicklingError, match=MUCH):
        wengert.load(file)
    good = archive_of(b"\x80\x02}" + text("a" * 3000) + b"K\1s" + b"q\1" + obj + b".")
    assert getattr(wengert.load(good), "a" * 3000) == 1


class Point:
    pass


def test_one_large_state_of_many_objects() -> None:
    state = b"}(" + b"".join(text(f"name{i}") + b"N" for i in range(10_000)) + b"uq\1"
    objects = b"](" + b"c%s\nPoint\n)\x81h\1b" % __name__.encode() * 500 + b"e"
    file = archive_of(b"\x80\x02(" + state + objects + b"t.")
    with wengert.serialization.safe_globals([Point]):
        with pytest.raises(pickle.UnpicklingError, match=MUCH):
            wengert.load(file)
        assert peak_of(file) < FACTOR * len(file.getvalue()) + (4 << 20)


def test_one_dict_whose_keys_have_one_hash_counted_many_times() -> None:
    """A Counter of a dict compares the keys anew."""
    keys = b"".join(long_integer((2**61 - 1) * k) + b"N" for k in range(1, 900))
    file = archive_of(b"\x80\x02(" + text("a" * 400_000) + b"ccollections\nCounter\nq\0}(" + keys + b"u\x85q\1]("
                      + b"h\0h\1R" * 150 + b"et.")  # fmt: skip
    with pytest.raises(pickle.UnpicklingError, match=MUCH):
        wengert.load(file)


def test_two_long_texts_that_are_a_name_many_times() -> None:
    """``get_unsafe_globals_in_checkpoint`` joined them each time."""
    data = b"\x80\x04" + text("a" * 50_000) + text("b" * 50_000) + b"\x93" * 300_000 + b"."
    assert globals_in(io.BytesIO(data)) == {"a" * 50_000 + "." + "b" * 50_000}


def test_keys_of_programs_stay_within_the_budget() -> None:
    pairs = [*itertools.product(range(256), range(256))]
    for obj in (
        collections.Counter(pairs), dict.fromkeys(pairs, 1), {*pairs}, {(i,): None for i in range(65536)},
        [{(1,): 1} for _ in range(20_000)], [{1.5: 1} for _ in range(20_000)],
        {(-1 - i % 2, -1 - i // 2 % 2, i): 1 for i in range(20_000)},
    ):  # fmt: skip
        assert wengert.load(saved(obj)) == obj


def test_keys_are_counted_in_little_memory() -> None:
    number = b"G" + struct.pack(">d", 1.5)
    for item in (b"}h\0Ns", b"\x8f(h\0\x90"):
        padding = text("a" * 400_000)
        file = archive_of(b"\x80\x02(" + padding + number + b"q\0](" + item * 30_000 + b"et.")
        assert peak_of(file) < FACTOR * len(file.getvalue())


def test_other_arrays_leave_nothing_behind() -> None:
    x = wengert.ones(2)
    for n in range(20):
        x.data = wengert.ones(n)
        x.resize_(n + 1)
    assert len(view_chain.reshaped_in_place) == 1


# ------------------------------------------------------------------------------------------------- other numbers
def test_an_old_tensor_is_filled_where_it_is(torch: Any) -> None:
    """A file that holds one tensor twice refers to the empty one, before its state comes."""
    obj = b"](ctorch\nDoubleTensor\n)Rq\5(" + storage(kind="Double", count=2, end=b"NtQ") + b"K\0K\2\x85K\1\x85tbh\5e"
    file = stream_of(obj, pickle.dumps(["0"], 2), struct.pack("<q2d", 2, 1, 2))
    for lib in (torch, wengert):
        file.seek(0)
        one, two = lib.load(file)
        assert one is two and one.tolist() == [1, 2] and one.dtype is lib.float64


def test_old_types_keep_their_dtypes(torch: Any) -> None:
    for name in ("Float", "Long", "Bool", "Half", "Byte"):
        obj = b"(ctorch\n%sTensor\n" % name.encode() + b"ctorch\n%sTensor\n)Rt" % name.encode()
        for lib in (torch, wengert):
            kind, empty = lib.load(stream_of(obj, pickle.dumps([], 2)))
            assert kind is getattr(lib, f"{name}Tensor") and empty.type() == f"torch.{name}Tensor"


def test_a_sparse_tensor_is_not_converted_before_it_is_read() -> None:
    """PyTorch gives numbers of its own memory."""
    places = strided(storage(text("1"), "Long", 2, end=b"NtQ"), b"(K\1K\2t", b"(K\2K\1t")
    values = strided(storage(count=2, end=b"NtQ"), b"K\2\x85")
    name = "torch._utils._rebuild_device_tensor_from_cpu_tensor"
    obj = called(name, sparse(places, values, b"K\3\x85"), b"ctorch\nfloat64\n", text("cpu"), b"\x89")
    parts = {"data_0": struct.pack("<2f", 5, 6), "data_1": struct.pack("<2q", 0, 2)}
    assert wengert.load(archive_of(b"\x80\x02" + obj + b".", **parts)).to_dense().tolist() == [5, 0, 6]
    file = stream_of(obj, pickle.dumps(["0", "1"], 2), floats(5, 6), struct.pack("<3q", 2, 0, 2))
    with pytest.raises(pickle.UnpicklingError, match="before its elements are read"):
        wengert.load(file)


def test_bytes_of_the_other_order_are_turned_number_by_number() -> None:
    for kind, layout in (("complex64", ">4f"), ("complex128", ">4d"), ("float64", ">4d"), ("uint16", ">4H")):
        data = struct.pack(layout, 1, 2, 3, 4)
        n = 2 if "complex" in kind else 4
        tensor = called(
            "torch._utils._rebuild_tensor_v3", storage(kind="Untyped", count=len(data), end=b"tQ"),
            b"K\0K%c\x85K\1\x85\x89Nctorch\n%s\n" % (n, kind.encode()),
        )  # fmt: skip
        got = wengert.load(archive_of(b"\x80\x02" + tensor + b".", byteorder=b"big", data_0=data))
        assert got.tolist() == ([1 + 2j, 3 + 4j] if n == 2 else [1, 2, 3, 4])


def test_no_number_begins_in_the_middle_of_another() -> None:
    part = b"(" + text("part") + b"K\1K\x08t"
    tensor = called("torch._utils._rebuild_tensor_v3", storage(kind="Byte", count=9, end=part + b"tQ"),
                    b"K\0K\2\x85K\1\x85\x89Nctorch\nfloat32\n")  # fmt: skip
    with pytest.raises(pickle.UnpicklingError, match="in the middle of an element"):
        wengert.load(stream_of(tensor, pickle.dumps(["0"], 2), struct.pack("<q", 9), bytes(9)))


@pytest.mark.parametrize("zipped", [True, False])
def test_a_sparse_tensor_of_no_sparse_dimension_needs_no_list_of_its_elements(zipped: bool) -> None:
    """It says that it has 2**40 elements of no size, in order: a list of their places would take 8 TB."""
    many = b"\x8a\x06" + struct.pack("<q", 2**40)[:6]
    places = strided(storage(text("1"), "Long", 1, end=b"NtQ"), b"(K\0" + many + b"t", b"(K\1K\1t")
    values = strided(storage(count=1, end=b"NtQ"), b"(" + many + b"K\0t", b"(K\1K\1t")
    obj = sparse(places, values, b"K\0\x85", b"\x88")
    zip_file = archive_of(b"\x80\x02" + obj + b".", data_0=bytes(4), data_1=bytes(8))
    stream = stream_of(obj, pickle.dumps(["0", "1"], 2), floats(0), struct.pack("<2q", 1, 0))
    tracemalloc.start()
    try:
        got = wengert.load(zip_file if zipped else stream)
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()
    assert got._nnz() == 2**40 and not got.is_coalesced()


@pytest.mark.parametrize("value", [b"K\1", text("yes"), b")", b"]", b"G" + struct.pack(">d", 1)])
def test_what_is_no_bool_does_not_say_whether_a_tensor_requires_grad(torch: Any, value: bytes) -> None:
    obj = strided(storage(end=b"NtQ"), grad=value)
    for lib in (torch, wengert):
        with pytest.raises(RuntimeError, match="requires_grad must be a bool"):
            lib.load(stream_of(obj, pickle.dumps(["0"], 2), floats(1, 2, 3, 4)))


def test_tensors_are_no_numbers_of_a_format() -> None:
    """A tensor is compared element by element: with the number of the format, too."""
    good = [pickle.dumps(part, 2) for part in (0x1950A86A20F9469CFC6C, 1001, {}, [], [])]
    tensor = b"\x80\x02" + META + b"(ctorch\nfloat32\nK\2\x85K\1\x85\x89tR."
    for place, said in ((0, "Invalid magic number"), (1, "Invalid protocol version")):
        with pytest.raises(RuntimeError, match=said):
            wengert.load(io.BytesIO(b"".join([*good[:place], tensor, *good[place + 1 :]])))


def test_names_of_dtypes_are_those_that_pytorch_writes(torch: Any) -> None:
    for lib in (torch, wengert):
        assert lib.load(stream_of(b"ctorch\nfloat64\n", pickle.dumps([], 2))) is lib.float64
        with pytest.raises(pickle.UnpicklingError, match=r"torch\.double was not an allowed global"):
            lib.load(stream_of(b"ctorch\ndouble\n", pickle.dumps([], 2)))


def test_a_name_that_cannot_be_printed_is_not_shown_at_length() -> None:
    for name in ("\x02" * 990, "\U000e0001" * 240):
        with pytest.raises(pickle.UnpicklingError) as info:
            wengert.load(archive_of(b"\x80\x02c" + name.encode() + b"\na\n."))
        assert len(str(info.value)) < 5000
