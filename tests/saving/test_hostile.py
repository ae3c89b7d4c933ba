"""Files that attack: each has done harm once, to memory, to time, to the process or to the numbers.

The files are made by hand (``archive_of``), since nothing that saves would write them.
``tests/saving/test_fuzzed_files.py`` looks for more of their kind.
"""

from __future__ import annotations

import collections
import io
import json
import os
import pickle
import struct
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert
from wengert._saving import budget
from wengert._tensor_api.copying import OWN
from wengert.safetensors import SafetensorError

CLEAR = (RuntimeError, pickle.UnpicklingError, EOFError, ValueError)
FACTOR = 32  # bytes of memory for each byte of a file


def archive_of(data_pkl: bytes, **parts: bytes) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a/data.pkl", data_pkl)
        for name, data in ({"version": b"3\n"} | parts).items():
            archive.writestr("a/" + name.replace("_", "/"), data)
    file.seek(0)
    return file


def text(value: str) -> bytes:
    data = value.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def saved(obj: Any, lib: Any = wengert, zipped: bool = True) -> io.BytesIO:
    file = io.BytesIO()
    lib.save(obj, file, _use_new_zipfile_serialization=zipped)
    file.seek(0)
    return file


def peak_of(file: io.BytesIO) -> int:
    """The most memory that a load takes, whether it fails or not."""
    tracemalloc.start()
    try:
        wengert.load(file)
    except CLEAR:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


# --------------------------------------------------------------------------------------------------- addresses in files
ADDRESS = {"shape": (8,), "typestr": "|u1", "version": 3, "data": (0x4141, False)}
ASKED_FOR = [
    "__array_interface__", "__array_struct__", "__array__", "__array_priority__", "__array_ufunc__", "__dlpack__",
    "__dict__", "__class__", "__slots__", "__len__", "__reduce_ex__", "__setstate__", "__torch_function__",
    "_payload", "_node", "_box", "_grad", "_views", "_repr_html_", "_ipython_display_", "not a name", "",
]  # fmt: skip


def attribute(obj: bytes, name: str) -> bytes:
    """A pickle that sets an attribute by every way there is for this object."""
    return b"\x80\x02" + obj.replace(b"STATE", b"}" + text(name) + b"}s")


META = b"ctorch._utils\n_rebuild_meta_tensor_no_storage\n"
OF_TYPE = b"ctorch._tensor\n_rebuild_from_type_v2\n(" + META + b"ctorch\nTensor\n(ctorch\nfloat32\n))\x89t"
OF_STATE = b"ctorch._utils\n_rebuild_parameter_with_state\n"
OBJECTS = {
    "tensor": OF_TYPE + b"STATEtR.",
    "slots": OF_TYPE + b"NSTATE\x86tR.",
    "parameter": OF_STATE + b"(" + META + b"(ctorch\nfloat32\n))\x89tR\x89)STATEtR.",
    "parameter in a tensor": b"ctorch._tensor\n_rebuild_from_type_v2\n("
    + OF_STATE
    + b"ctorch.nn.parameter\nParameter\n("
    + META
    + b"(ctorch\nfloat32\n))\x89tR\x89)STATEt}tR.",
    "ordered dict": b"ccollections\nOrderedDict\n)RSTATEb.",
}


@pytest.mark.parametrize("name", ASKED_FOR)
@pytest.mark.parametrize("kind", OBJECTS)
def test_attributes_that_python_or_numpy_ask_for_are_refused(kind: str, name: str) -> None:
    assert wengert.load(archive_of(attribute(OBJECTS[kind], "fine"))).fine == {}
    with pytest.raises(pickle.UnpicklingError, match="cannot be set from a file"):
        wengert.load(archive_of(attribute(OBJECTS[kind], name)))


def test_a_class_is_no_requires_grad() -> None:
    data = OBJECTS["parameter"].replace(b"\x89)STATE", b"ctorch.storage\nUntypedStorage\n)STATE")
    with pytest.raises(RuntimeError, match="requires_grad must be a bool"):
        wengert.load(archive_of(attribute(data, "fine")))


@pytest.mark.parametrize("name", sorted(OWN))
@pytest.mark.parametrize("kind", ["tensor", "parameter", "parameter in a tensor"])
def test_entries_of_the_librarys_own_are_refused(kind: str, name: str) -> None:
    """Also a plain value would be taken for the gradient, or for a list of views."""
    data = OBJECTS[kind].replace(b"STATE", b"}" + text(name) + b"K\1s")
    with pytest.raises(pickle.UnpicklingError, match="cannot be set from a file"):
        wengert.load(archive_of(b"\x80\x02" + data))


def test_hooks_are_not_saved_with_what_requires_no_grad_any_longer() -> None:
    w = wengert.ones(2, requires_grad=True)
    w.register_hook(lambda g: g)
    w.requires_grad_(False)
    with pytest.warns(UserWarning, match="will not be serialized"):
        assert vars(wengert.load(saved(w))) == {}
    with pytest.warns(UserWarning, match="will not be serialized"):
        assert vars(pickle.loads(pickle.dumps(w))) == {}


@pytest.mark.parametrize("zipped", [True, False])
def test_no_address_comes_from_a_file(zipped: bool) -> None:
    tensor, parameter, table = wengert.ones(4), wengert.nn.Parameter(wengert.ones(4)), collections.OrderedDict()
    for x in (tensor, parameter, table):
        x.__array_interface__ = ADDRESS
        with pytest.raises(pickle.UnpicklingError, match=r"the attribute '__array_interface__' of .* cannot be set"):
            wengert.load(saved(x, zipped=zipped))


class Point:
    pass


def test_no_address_comes_with_an_object_of_the_programs_class() -> None:
    point = Point()
    point.x = 1
    with wengert.serialization.safe_globals([Point]):
        assert wengert.load(saved(point)).x == 1
        point.__array_interface__ = ADDRESS
        with pytest.raises(pickle.UnpicklingError, match="its name is Python's own"):
            wengert.load(saved(point))


class Mine(wengert.Tensor):
    # One that overrides makes functions slow while it lives, and this one lives as long as the process.
    __torch_function__ = wengert._C._disabled_torch_function_impl


def test_no_state_replaces_what_a_tensor_is() -> None:
    """A state with slots is set by ``setattr``, also where the class has a slot of that name."""
    for state in (b"}" + text("fine") + b"K\1s", b"N}" + text("fine") + b"K\1s\x86"):
        data = b"\x80\x02c%s\nMine\n)\x81" % __name__.encode() + state + b"b."
        with wengert.serialization.safe_globals([Mine]):
            assert wengert.load(archive_of(data)).fine == 1
            for name in ("_payload", "_node", "data", "shape"):
                with pytest.raises(pickle.UnpicklingError, match="cannot be set from a file"):
                    wengert.load(archive_of(data.replace(text("fine"), text(name))))


def test_private_names_are_plain_marks_unless_the_file_is_trusted() -> None:
    for x in (wengert.ones(4), wengert.nn.Parameter(wengert.ones(4))):
        x._is_initialized = True
        assert wengert.load(saved(x))._is_initialized is True
        x._own_table = {"a": 1}
        assert wengert.load(saved(x), weights_only=False)._own_table == {"a": 1}
        with pytest.raises(pickle.UnpicklingError, match=r"the attribute '_own_table' of .* cannot be set"):
            wengert.load(saved(x))
        del x._own_table
        x._repr_html_ = "text"
        with pytest.raises(pickle.UnpicklingError, match=r"the attribute '_repr_html_' of .* cannot be set"):
            wengert.load(saved(x))


def test_methods_cannot_be_replaced() -> None:
    for name in ("items", "get", "keys"):
        with pytest.raises(pickle.UnpicklingError, match="cannot be set from a file"):
            wengert.load(archive_of(attribute(OBJECTS["ordered dict"], name)))
    got = wengert.load(saved(wengert.nn.Linear(1, 1).state_dict()))
    assert got._metadata[""] == {"version": 1}


# --------------------------------------------------------------------------------- numbers that come later
def lazily(lib: Any) -> dict[str, Any]:
    """What is computed when a file is loaded."""
    z, w = lib.tensor([1 + 2j, 3 + 4j]), lib.tensor([1 + 2j, 3 + 4j])
    sparse = lib.sparse_coo_tensor(lib.tensor([[0, 2, 2], [1, 0, 1]]), lib.tensor([1.0, 2.0, 3.0]), (3, 2))
    compressed = sparse.to_sparse_csr()
    return {"conj": z.conj(), "neg": w.conj().imag, "sparse": sparse, "coalesced": sparse.coalesce(), "csr": compressed}


def values(x: Any) -> list[Any]:
    return [x.is_coalesced(), x.to_dense().tolist()] if x.is_sparse else x.to_dense().tolist()


@pytest.mark.filterwarnings("ignore:Sparse invariant checks", "ignore:Sparse CSR tensor support")
@pytest.mark.parametrize("zipped", [True, False])
def test_nothing_is_computed_on_memory_that_is_not_read_yet(torch: Any, zipped: bool) -> None:
    want = {name: values(x) for name, x in lazily(torch).items()}
    for lib in (torch, wengert):
        got = wengert.load(saved(lazily(lib), lib, zipped))
        assert {name: values(x) for name, x in got.items()} == want


def device_tensor(kind: str) -> bytes:
    storage = b"((X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\x000X\3\0\0\0cpuK\4"
    return (
        b"\x80\x02ctorch._utils\n_rebuild_device_tensor_from_cpu_tensor\n(ctorch._utils\n_rebuild_tensor_v2\n("
        + storage[1:] + b"NtQK\0K\4\x85K\1\x85\x89)tRctorch\n" + kind.encode() + b"\nX\3\0\0\0cpu\x89tR."
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["float32", "int64", "complex64"])
def test_conversions_in_a_stream_are_of_the_numbers_in_the_file(kind: str) -> None:
    file = io.BytesIO()
    for header in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}):
        pickle.dump(header, file, 2)
    file.write(device_tensor(kind))
    pickle.dump(["0"], file, 2)
    file.write(struct.pack("<q4f", 4, 1, 2, 3, 4))
    for _ in range(3):
        np.full(4, 77.0)  # memory that the tensor may get
        file.seek(0)
        got = wengert.load(file)
        assert got.tolist() == [1, 2, 3, 4] and got.dtype is getattr(wengert, kind)


def test_indices_of_a_stream_are_checked_when_they_are_there() -> None:
    good = saved(wengert.eye(3).to_sparse(), zipped=False).getvalue()
    place = good.index(struct.pack("<7q", 6, 0, 1, 2, 0, 1, 2)) + 8
    assert wengert.load(io.BytesIO(good)).to_dense().tolist() == np.eye(3).tolist()
    for wrong in (3, -1, 2**40):
        bad = good[:place] + struct.pack("<q", wrong) + good[place + 8 :]
        with pytest.raises(RuntimeError, match="out of bounds"):
            wengert.load(io.BytesIO(bad))


def blocks(x: wengert.Tensor) -> wengert.Tensor:
    return x.to_sparse_bsr((1, 1))


COMPRESSED = [wengert.Tensor.to_sparse_csr, wengert.Tensor.to_sparse_csc, blocks]


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("made", COMPRESSED, ids=lambda made: made.__name__)
def test_compressed_indices_are_checked(made: Any, zipped: bool) -> None:
    """Also those that PyTorch does not check: SciPy's loops would read beyond the arrays."""
    x = made(wengert.eye(3))
    ends, minor, values = x._payload.ends, x._payload.minor, x._payload.values
    for broken in (
        (ends, minor + 1, values), (ends, minor - 1, values), (ends, minor + 2**40, values),
        (ends + 1, minor, values), (ends[:-1], minor, values), (ends[::-1], minor, values),
        (np.array([0, 2, 1, 3]), minor, values), (ends, minor[:2], values), (ends, minor, values[:2]),
        (ends, minor, values[:, None]), (ends[None], minor, values), (ends.astype("f"), minor.astype("f"), values),
        (ends[0], minor[0], values),
    ):  # fmt: skip
        x._payload.ends, x._payload.minor, x._payload.values = (np.ascontiguousarray(a) for a in broken)
        data = saved(x, zipped=zipped).getvalue()
        for only in (True, False):
            with pytest.raises(RuntimeError, match=r"is not satisfied|must|do not fit"):
                wengert.load(io.BytesIO(data), weights_only=only)
        with pytest.raises(RuntimeError):  # and where they are used, if nobody checked them before
            x @ wengert.eye(3)
        with pytest.raises(RuntimeError):
            x.to_dense()


def test_a_file_in_a_file_is_read_at_once() -> None:
    """An object of a stream may load another file, whose tensors are complete when it gets them."""
    file = saved(Inside(), zipped=False)
    assert wengert.load(file, weights_only=False).inner == [1 - 2j]


class Inside:
    def __getstate__(self) -> bytes:
        return saved(wengert.tensor([1 + 2j]).conj()).getvalue()

    def __setstate__(self, state: bytes) -> None:
        self.inner = wengert.load(io.BytesIO(state)).tolist()


# -------------------------------------------------------------------------------- tuples that never end, and deep ones
DEEP = b"()" + b"\x85" * 200_000  # the files with it are long enough for what it takes
SHARED = b")q\0" + b"".join(b"h%c\x86q%c" % (i, i + 1) for i in range(60))
STORAGE = b"(X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\x000X\3\0\0\0cpuK\1t"
PLACES = {
    "a call of it": b"%s)R.",
    "an object of it": b"%s)\x81.",
    "a call with it": b"ctorch._utils\n_rebuild_tensor_v2\n%s\x85R.",
    "the function of a tensor": b"ctorch._tensor\n_rebuild_from_type_v2\n(%sNNNtR.",
    "the type of a tensor": b"ctorch._tensor\n_rebuild_from_type_v2\n(ctorch._utils\n_rebuild_tensor_v2\n%sNNtR.",
    "the arguments of a tensor": b"ctorch._tensor\n_rebuild_from_type_v2\n(ctorch._utils\n_rebuild_tensor_v2\n"
    b"ctorch\nTensor\n%sNtR.",
    "the state of a tensor": b"ctorch._tensor\n_rebuild_from_type_v2\n(ctorch._utils\n_rebuild_meta_tensor_no_storage\n"
    b"ctorch\nTensor\n(ctorch\nfloat32\n))\x89t%stR.",
    "a storage": b"%sQ.",
    "a storage's kind": b"(X\7\0\0\0storage%sX\1\0\0\x000X\3\0\0\0cpuK\1tQ.",
    "a storage's key": b"(X\7\0\0\0storagectorch\nFloatStorage\n%sX\3\0\0\0cpuK\1tQ.",
    "a storage's location": b"(X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\x000%sK\1tQ.",
    "a storage's size": b"(X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\x000X\3\0\0\0cpu%stQ.",
    "a size": b"ctorch._utils\n_rebuild_tensor\n(" + STORAGE + b"QK\0%sK\1\x85tR.",
    "an offset": b"ctorch._utils\n_rebuild_tensor\n(" + STORAGE + b"Q%sK\1\x85K\1\x85tR.",
    "the sizes of nothing": b"ctorch._utils\n_rebuild_meta_tensor_no_storage\n(ctorch\nfloat32\n%s)\x89tR.",
    "an encoding": b"c_codecs\nencode\nX\1\0\0\0a%s\x86R.",
    "a layout": b"ctorch.serialization\n_get_layout\n%s\x85R.",
    "a device": b"ctorch\ndevice\n%s\x85R.",
    "a torch.Size": b"ctorch\nSize\n%s\x85R.",
    "a sparse tensor": b"ctorch._utils\n_rebuild_sparse_tensor\nctorch.serialization\n_get_layout\n"
    b"X\x10\0\0\0torch.sparse_coo\x85R%s\x86R.",
    "a parameter": b"ctorch._utils\n_rebuild_parameter\n(%s\x89)tR.",
    "a key": b"}%sK\1s.",
    "a key of an ordered dict": b"ccollections\nOrderedDict\n](%sK\1\x86e\x85R.",
    "an item of a set": b"cbuiltins\nset\n](%se\x85R.",
    "an item of an empty set": b"\x8f(%s\x90.",
    "a name of an attribute": b"ccollections\nOrderedDict\n)R}%sK\1sb.",
    "an old tensor": b"ctorch\nFloatTensor\n)R%sb.",
    "an old parameter": b"ctorch.nn.parameter\nParameter\n)R%sb.",
    "a complex number": b"cbuiltins\ncomplex\n(G\0\0\0\0\0\0\0\0%stR.",
    "a bytearray": b"cbuiltins\nbytearray\n(X\1\0\0\0a%stR.",
    "what is no list": b"%sK\1a.",
    "what is no dict": b"%sK\1K\1s.",
    "what has no state": b"%sK\1b.",
}


LONG = text("a" * 300_000)


@pytest.mark.parametrize("value", ["deep", "shared"])
@pytest.mark.parametrize("place", PLACES)
def test_a_tuple_is_neither_hashed_nor_shown(place: str, value: str) -> None:
    item = {"deep": DEEP, "shared": SHARED}[value]
    file = archive_of(b"\x80\x02" + LONG + PLACES[place].replace(b"%s", item), data_0=bytes(4))
    with pytest.raises(CLEAR) as info:
        wengert.load(file)
    assert len(str(info.value)) < 2000 and not isinstance(info.value, RecursionError)


@pytest.mark.parametrize("value", [SHARED, b"()" + b"\x85" * 10_000])
@pytest.mark.parametrize("part", ["magic", "version", "facts", "object", "keys", "view"])
def test_streams_of_tuples(part: str, value: bytes) -> None:
    hostile = b"\x80\x02" + value + b"."
    view = b"\x80\x02" + STORAGE[:-1] + b"(%sK\0K\1ttQ.".replace(b"%s", value)
    good = {
        "magic": pickle.dumps(0x1950A86A20F9469CFC6C, 2), "version": pickle.dumps(1001, 2),
        "facts": pickle.dumps({}, 2), "object": pickle.dumps([], 2), "keys": pickle.dumps([], 2),
    }  # fmt: skip
    parts = {**good, **({"object": view} if part == "view" else {part: hostile})}
    file = io.BytesIO(b"".join(parts.values()) + bytes(100))
    if part in ("facts", "object"):  # nothing is wrong with an object that nobody looks into
        wengert.load(file)
        return
    with pytest.raises(CLEAR) as info:
        wengert.load(file)
    assert len(str(info.value)) < 2000


def test_numbers_for_the_keys_of_a_stream() -> None:
    good = saved(wengert.ones(1), zipped=False).getvalue()
    key = good[good.rindex(b"X\x0e\0\0\0") :][:19]
    at = good.rindex(key)
    bad = good[:at] + b"J" + struct.pack("<i", 7) + good[at + 19 :]
    with pytest.raises(RuntimeError, match="the file's list of storages is no list of texts"):
        wengert.load(io.BytesIO(bad))


def test_sets_that_take_years_to_compare() -> None:
    """Two frozensets, each of 60 levels that hold the level below twice, have one hash."""
    level = b"cbuiltins\nfrozenset\nq\0"
    for name in (1, 70):
        level += b"h\0)Rq%c" % name
        for i in range(name, name + 60):
            level += b"h\0](h%cK\1\x86h%cK\2\x86e\x85Rq%c" % (i, i, i + 1)
    with pytest.raises(pickle.UnpicklingError, match="a key is nested too deep or too large"):
        wengert.load(archive_of(b"\x80\x02" + level + b"}(h%cK\1h%cK\1u." % (61, 130)))


# -------------------------------------------------------------------------------------------- what a terminal obeys
CONTROLS = "\x1b]0;a\x07\n\r\u202e\x9b2J"
SHOWN = {
    "a name": b"c\x1b]0;a\x07\r\n\xe2\x80\xae\xc2\x9b\n.",
    "a blocked name": b"csys\n\x1b]0;a\x07\n.",
    "a location": b"ctorch._utils\n_rebuild_tensor\n(" + STORAGE.replace(text("cpu"), text(CONTROLS)) + b"QK\0))tR.",
    "a key": STORAGE.replace(text("0"), text(CONTROLS)) + b"Q.",
    "a layout": b"ctorch.serialization\n_get_layout\n" + text(CONTROLS) + b"\x85R.",
    "half of a pair": b"ctorch.serialization\n_get_layout\nX\3\0\0\0\xed\xa0\x80\x85R.",
    "a device": b"ctorch\ndevice\n" + text(CONTROLS) + b"\x85R.",
    "an attribute": b"ccollections\nOrderedDict\n)R}" + text(CONTROLS) + b"K\1sb.",
}


@pytest.mark.parametrize("kind", SHOWN)
def test_no_message_tells_a_terminal_what_to_do(kind: str) -> None:
    with pytest.raises(CLEAR) as info:
        wengert.load(archive_of(b"\x80\x02" + SHOWN[kind], data_0=bytes(4)))
    _is_plain(str(info.value))


def _is_plain(said: str) -> None:
    said = said.replace("\033[1m", "").replace("\033[0m", "")  # PyTorch's own
    assert all(c.isprintable() or c in "\n\t" for c in said), said
    said.encode()


@pytest.mark.parametrize("name", ["a/" + CONTROLS, CONTROLS, "b/data.pkl\x1b[2J"])
def test_no_name_in_an_archive_does(name: str) -> None:
    file = archive_of(NUMBER)
    with zipfile.ZipFile(file, "a", zipfile.ZIP_LZMA) as archive:
        archive.writestr(name, bytes(99))
    file.seek(0)
    with pytest.raises(RuntimeError) as info:
        wengert.load(file)
    _is_plain(str(info.value))
    header = {f"x{CONTROLS}": {"dtype": "F32", "shape": [1], "data_offsets": [0, 3]}}
    with pytest.raises(SafetensorError) as info:
        wengert.safetensors.load(tensors_file(json.dumps(header).encode(), bytes(4)))
    _is_plain(str(info.value))


# -------------------------------------------------------------------------------------------- memory and time of files
def repeated(item: bytes, start: bytes = b"\x80\x02](", end: bytes = b"e.") -> bytes:
    return start + item * (400_000 // len(item)) + end


REPEATED = {
    "lists": repeated(b"]"),
    "dicts": repeated(b"}"),
    "sets": repeated(b"\x8f"),
    "tuples": repeated(b"N\x85"),
    "nested tuples": b"\x80\x02)" + b"\x85" * 400_000 + b".",
    "marks": b"\x80\x02" + b"(" * 400_000 + b".",
    "lists in lists": b"\x80\x02" + b"](" * 150_000 + b"e" * 150_000 + b".",
    "dicts of one": repeated(b"}NNs"),
    "entries of the memo": b"\x80\x02N" + b"".join(b"r" + struct.pack("<I", i) for i in range(80_000)) + b".",
    "tensors": repeated(b"h\0)R", b"\x80\x02](ctorch\nFloatTensor\nq\0"),
    "ordered dicts": repeated(b"h\0)R", b"\x80\x02](ccollections\nOrderedDict\nq\0"),
    "counters": repeated(b"h\0)R", b"\x80\x02](ccollections\nCounter\nq\0"),
    "byte arrays": repeated(b"h\0)R", b"\x80\x02](cbuiltins\nbytearray\nq\0"),
    "frozensets": repeated(b"h\0h\1R", b"\x80\x02](cbuiltins\nfrozenset\nq\0](K\1e\x85q\1"),
    "meta tensors": repeated(
        b"h\0h\1R", b"\x80\x02](ctorch._utils\n_rebuild_meta_tensor_no_storage\nq\0(ctorch\nfloat32\n))\x88tq\1"
    ),
    "parameters": repeated(
        b"h\0h\1R",
        b"\x80\x02](ctorch._utils\n_rebuild_parameter\nq\0(ctorch._utils\n_rebuild_meta_tensor_no_storage\n"
        b"(ctorch\nfloat32\n))\x89tR\x88)tq\1",
    ),
}


@pytest.mark.parametrize("kind", REPEATED)
def test_memory_is_in_proportion_to_the_file(kind: str) -> None:
    file = archive_of(REPEATED[kind])
    assert peak_of(file) < FACTOR * len(file.getvalue()) + (8 << 20)


CONVERSION = (
    b"\x80\x02](ctorch._tensor\n_rebuild_from_type_v2\nq\0(ctorch._utils\n_rebuild_device_tensor_from_cpu_tensor\n"
    b"ctorch\nTensor\n(ctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storagectorch\nByteStorage\nX\1\0\0\x000X\3\0\0\0cpu"
    b"J\0\0\4\0tQK\0J\0\0\4\0\x85K\1\x85\x89)tRctorch\ncomplex128\nX\3\0\0\0cpu\x89t}tq\1"
)
WITH_ATTRIBUTES = (
    b"\x80\x02](ctorch._utils\n_rebuild_parameter_with_state\nq\0(ctorch._utils\n_rebuild_meta_tensor_no_storage\n"
    b"(ctorch\nfloat32\n))\x89tR\x89)}(" + b"".join(text(f"name{i}") + b"N" for i in range(10_000)) + b"utq\1"
)


@pytest.mark.parametrize("start", [CONVERSION, WITH_ATTRIBUTES], ids=["conversions", "attributes"])
def test_calls_inside_of_calls_are_charged(start: bytes) -> None:
    file = archive_of(start + b"h\0h\1R" * 800 + b"e.", data_0=bytes(1 << 18))
    with pytest.raises(pickle.UnpicklingError, match="much more memory than the file has bytes"):
        wengert.load(file)
    assert peak_of(file) < FACTOR * len(file.getvalue())


def long_integer(value: int) -> bytes:
    data = value.to_bytes(value.bit_length() // 8 + 1, "little")
    return (b"\x8a%c" % len(data) if len(data) < 256 else b"\x8b" + struct.pack("<I", len(data))) + data


ONE_HASH = b"".join(long_integer((2**61 - 1) * k) + b"N" for k in range(1, 22_000))
SLOW = {
    "keys of one hash": b"\x80\x02}(" + ONE_HASH + b"u.",
    "keys of one hash, one by one": b"\x80\x02}" + ONE_HASH.replace(b"N", b"Ns") + b".",
    "items of one hash": b"\x80\x02cbuiltins\nset\n](" + ONE_HASH.replace(b"N", b"") + b"e\x85R.",
    "pairs of one hash": b"\x80\x02ccollections\nOrderedDict\n](" + ONE_HASH.replace(b"N", b"N\x86") + b"e\x85R.",
    "one long integer as a key, often": b"\x80\x02" + long_integer(1 << 800_000) + b"q\0}" + b"h\0Ns" * 100_000 + b".",
    "two long texts as keys, often": b"\x80\x02" + text("a" * 100_000) + b"q\0" + text("a" * 100_000) + b"q\1}"
    + b"h\0Nsh\1Ns" * 100_000 + b".",
    "sizes without end": b"\x80\x02ctorch._utils\n_rebuild_meta_tensor_no_storage\n(ctorch\nfloat32\n("
    + long_integer(2**63 - 1) * 50_000 + b"t(" + b"K\1" * 50_000 + b"t\x89tR.",
}  # fmt: skip


@pytest.mark.parametrize("kind", SLOW)
def test_time_is_in_proportion_to_the_file(kind: str) -> None:
    """Each took seconds to hours; what ends them is a count and no clock."""
    with pytest.raises(CLEAR):
        wengert.load(archive_of(SLOW[kind]))


class Key:
    """Objects of one hash, as dataclasses of small integers may have."""

    compared = 0

    def __hash__(self) -> int:
        return 1

    def __eq__(self, other: object) -> bool:
        Key.compared += 1
        return self is other


def test_objects_of_one_hash_are_not_compared_without_end() -> None:
    keys, padding = b"h\0)\x81" * 3000, text("a" * 4_000_000)
    file = archive_of(b"\x80\x02(" + padding + b"c%s\nKey\nq\0\x8f(" % __name__.encode() + keys + b"\x90t.")
    with wengert.serialization.safe_globals([Key]), pytest.raises(pickle.UnpicklingError, match="much more memory"):
        wengert.load(file)
    assert Key.compared < 1_000_000


def test_what_programs_save_stays_within_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "FREE", 1 << 15)
    n = 5000
    x = wengert.ones(n)
    for obj in (
        [[] for _ in range(n)],
        [{} for _ in range(n)],
        [{"a": 1} for _ in range(n)],
        [collections.OrderedDict(a=1, b=2, c=3) for _ in range(n)],
        [{1} for _ in range(n)],
        [frozenset([i]) for i in range(n)],
        [collections.Counter(a=1) for _ in range(n)],
        [collections.OrderedDict() for _ in range(n)],
        [wengert.Size([i]) for i in range(n)],
        [complex(i, 1) for i in range(n)],
        [(i,) for i in range(n)],
        {(i, str(i)): None for i in range(n)},
        {i / 3: None for i in range(n)},
        {float(i): {float(j): None for j in range(30)} for i in range(100)},
        set(range(n)),
        [dict.fromkeys(range(100)) for _ in range(100)],
    ):
        assert wengert.load(saved(obj)) == obj
    assert len(wengert.load(saved([x[i] for i in range(n)]))) == n
    assert len(wengert.load(saved([wengert.nn.Parameter(x[i]) for i in range(1000)]))) == 1000
    z = wengert.ones(100, dtype=wengert.complex64)
    assert len(wengert.load(saved([z[i].conj() for i in range(100)]))) == 100
    half = wengert.ones(100, dtype=wengert.uint16)
    assert len(wengert.load(saved([half[i:] for i in range(100)]))) == 100


# ---------------------------------------------------------------------------------------------------------- safetensors
def tensors_file(header: bytes, data: bytes) -> bytes:
    return struct.pack("<Q", len(header)) + header + data


def described(shape: list[int], end: int) -> bytes:
    return json.dumps({"a": {"dtype": "F32", "shape": shape, "data_offsets": [0, end]}}).encode()


HEADERS = {
    "sizes without end": described([2**63 - 1] * 200_000, 8),
    "no elements, of sizes without end": described([0, *[1] * 200_000], 0),
    "empty and too large": described([0, 2**62, 2**62], 0),
    "a size of no list": b'{"a":{"dtype":"U8","shape":{},"data_offsets":[0,1]}}',
    "objects": b'{"a":[' + b"{}," * 300_000 + b"1]}",
    "digits": b'{"a":' + b"1" * 100_000 + b"}",
    "a long name": b'{"' + b"a" * 100_000 + b'":1}',
    "a long text": b'{"a":"' + b"a" * 100_000 + b'"}',
}  # fmt: skip


@pytest.mark.parametrize("kind", HEADERS)
def test_headers_of_safetensors(kind: str) -> None:
    data = tensors_file(HEADERS[kind], bytes(8))
    tracemalloc.start()
    try:
        with pytest.raises(SafetensorError) as info:
            wengert.safetensors.load(data)
        assert tracemalloc.get_traced_memory()[1] < FACTOR * len(data) + (1 << 20)
    finally:
        tracemalloc.stop()
    assert len(str(info.value)) < 1000


# -------------------------------------------------------------------------------------------------------------- memory
def test_no_view_begins_in_the_middle_of_an_element(torch: Any) -> None:
    for lib in (torch, wengert):
        for start, kind, ratio in ((3, "int64", 2), (1, "complex64", 2), (2, "complex128", 4)):
            with pytest.raises(
                RuntimeError, match=rf"self.storage_offset\(\) must be divisible by {ratio} to view Float as"
            ):
                lib.zeros(12)[start : start + 4].view(getattr(lib, kind))
        assert lib.zeros(12)[2:8].view(lib.int64).storage_offset() == 1
        assert lib.zeros(6, 4)[3, 1:3].view(lib.int8).storage_offset() == 52


@pytest.mark.parametrize("shift", range(8))
def test_no_size_reaches_beyond_memory(shift: int) -> None:
    """An array may lie anywhere in its buffer; its bytes are counted, not its elements."""
    buffer = np.zeros(48 + 8, np.uint8)
    a = buffer[shift : shift + 24].view(np.int64)
    t = wengert.from_numpy(a)
    fits = (len(buffer) - shift) // 8
    with pytest.raises(RuntimeError, match="out of bounds for storage"):
        t.as_strided((fits + 1,), (1,), shift // 8)
    grown = wengert.from_numpy(a).resize_(fits)
    assert np.shares_memory(grown.numpy(), buffer) and not grown.any()
    assert not np.shares_memory(wengert.from_numpy(a).resize_(fits + 1).numpy(), buffer)


def test_an_array_that_was_expanded_elsewhere_has_the_memory_that_it_has(torch: Any) -> None:
    t = wengert.from_dlpack(torch.ones(1).expand(1000))
    with pytest.raises(RuntimeError, match="out of bounds for storage of size 4"):
        t.as_strided((1000,), (1,))
    assert len(t.resize_(2000)) == 2000


def test_a_mapping_of_a_negative_size_is_an_error(torch: Any, tmp_path: Any) -> None:
    for lib in (torch, wengert):
        for shared in (True, False):
            with pytest.raises(RuntimeError, match=r"unable to mmap -4 bytes from file <.*>: Cannot allocate memory"):
                lib.from_file(str(tmp_path / "x"), shared=shared, size=-1)


@pytest.mark.parametrize(("shared", "size"), [(True, 5), (False, 5), (True, 2**58), (True, 0)])
@pytest.mark.parametrize("name", ["", "new"])
def test_errors_of_mappings_are_torchs(torch: Any, tmp_path: Any, shared: bool, size: int, name: str) -> None:
    said = []
    for lib in (torch, wengert):
        try:
            said.append(str(lib.from_file(str(tmp_path / name), shared, size).shape))
        except RuntimeError as error:
            said.append(str(error))
        said.append(str([(path.name, path.stat().st_size, path.stat().st_mode) for path in tmp_path.iterdir()]))
        for path in tmp_path.iterdir():
            path.unlink()
    assert said[:2] == said[2:]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_mapping_does_not_wait_for_a_pipe(tmp_path: Any) -> None:
    os.mkfifo(tmp_path / "pipe")
    for shared in (True, False):
        with pytest.raises(RuntimeError, match=r"unable to resize|size <0> is smaller"):
            wengert.from_file(str(tmp_path / "pipe"), shared, 5)


def test_a_mapping_is_of_the_file_whose_size_was_asked(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name was opened again for the mapping, when another file could have it: numbers came from that one."""
    path, fstat = tmp_path / "x", os.fstat
    path.write_bytes(b"a" * 8)

    def replaced(number: int) -> Any:
        (tmp_path / "other").write_bytes(b"b" * 8)
        os.replace(tmp_path / "other", path)
        return fstat(number)

    monkeypatch.setattr(os, "fstat", replaced)
    monkeypatch.setattr(os.path, "getsize", lambda name: replaced(os.open(name, os.O_RDONLY)).st_size)
    assert bytes(wengert.from_file(str(path), False, 8, dtype=wengert.uint8).tolist()) == b"a" * 8


# --------------------------------------------------------------------------------------------- archives that lie
NUMBER = b"\x80\x02K\1."
VERSIONS = {
    b"0": "version 0, but the minimum", b"-1": "version -1, but the minimum", b"0x3": "version 0, but the minimum",
    b"11": "version 11, but the maximum", b"9" * 9000: "version 9{20}, but the maximum",
    b"": "Couldn't parse the version", b"x": "parse the version x as Long Long", b"\xff3": "Couldn't parse the version",
}  # fmt: skip


@pytest.mark.parametrize("version", VERSIONS, ids=lambda v: repr(v[:5]))
def test_formats_of_other_versions_are_refused(version: bytes) -> None:
    for good in (b"3\n", b"1", b"10\n", b" +3.5"):
        assert wengert.load(archive_of(NUMBER, version=good)) == 1
    with pytest.raises(RuntimeError, match=VERSIONS[version]):
        wengert.load(archive_of(NUMBER, version=version))
    with pytest.raises(RuntimeError, match=VERSIONS[version]):
        wengert.load(archive_of(NUMBER, version=b"3", **{".data_version": version}))


def patched(at: int, *bits: int) -> bytes:
    """An archive of one record with bits set in its directory."""
    data = bytearray(archive_of(NUMBER).getvalue())
    start = data.index(b"PK\1\2") + at
    for bit in bits:
        data[start + bit // 8] |= 1 << bit % 8
    return bytes(data)


def with_end64(length: int) -> bytes:
    """An archive whose ZIP64 end says that it has this many bytes."""
    data = archive_of(NUMBER).getvalue()
    end = data.index(b"PK\5\6")
    size, start = struct.unpack_from("<2I", data, end + 12)
    wide = struct.pack("<4sQ2H2I4Q", b"PK\6\6", length, 45, 45, 0, 0, 2, 2, size, start)
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, end, 1)
    return data[:end] + wide + locator + b"PK\5\6" + bytes(4) + b"\xff" * 12 + bytes(2)


LIARS = {
    "another disk": patched(34, 0), "encrypted": patched(8, 0), "strongly encrypted": patched(8, 0, 6),
    "masked": patched(8, 13), "a patch": patched(8, 5), "short end": with_end64(43),
}  # fmt: skip


@pytest.mark.parametrize("kind", LIARS)
def test_archives_with_parts_elsewhere_are_refused(kind: str) -> None:
    with pytest.raises(RuntimeError, match=r"zip archive: (record 'a/data.pkl' is encrypted, a|failed finding)"):
        wengert.load(io.BytesIO(LIARS[kind]))
    assert wengert.load(io.BytesIO(with_end64(44))) == 1


def test_an_archive_has_one_folder() -> None:
    file = archive_of(NUMBER)
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("b/data.pkl", NUMBER)
    file.seek(0)
    with pytest.raises(RuntimeError, match=r"file in archive is not in a subdirectory a/: b/data.pkl"):
        wengert.load(file)


PARTS = {
    "beyond": ((2, 3), (3, 1), 4), "before": ((2, 3), (3, 1), -1), "steps": ((2, 2), (2**62, 1), 0),
    "backwards": ((2, 2), (-1, 1), 3), "expanded": ((2**40, 3), (0, 1), 0), "empty": ((0, -5), (1, 1), 0),
    "empty and large": ((0, 2**62), (1, 1), 0), "empty and far": ((0, 1), (2**62, 1), 0),
}  # fmt: skip
OFFSETS = {
    "beyond": ([0, 2, 4], None), "descending": ([0, 3, 2], None), "before": ([-1, 2, 3], None),
    "long": ([0, 2, 3], [2, 2]), "huge": ([1, 2, 3], [2**63 - 1, 1]), "negative": ([0, 2, 3], [2, -1]),
    "few": ([0, 2, 3], [2]), "none": ([], None),
}  # fmt: skip


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("lie", [*PARTS, *OFFSETS])
def test_nested_tensors_with_parts_elsewhere_are_refused(lie: str, zipped: bool) -> None:
    torch, row = wengert, wengert.arange(9.0).view(3, 3)
    if lie in PARTS and (lie != "beyond" or zipped):
        nested = torch.nested._internal.strided.StridedNested(row.view(9), [PARTS[lie]])
        nested._places = [torch.nested._internal.strided.Place(*PARTS[lie])]
    else:
        nested = torch.nested.nested_tensor([row[:2], row[:1]], layout=torch.jagged)
        nested._offsets, lengths = torch.tensor(OFFSETS[lie][0], dtype=torch.int64), OFFSETS[lie][1]
        nested._lengths = None if lengths is None else torch.tensor(lengths)
    with pytest.raises(RuntimeError, match="a nested tensor's parts reach out of its elements, or do not belong"):
        wengert.load(saved(nested, zipped=zipped))


@pytest.mark.filterwarnings("ignore:NestedTensor.__torch_dispatch__ is not called")
def test_a_nested_tensor_is_no_other_tensor_and_no_wrapper() -> None:
    named = b"ctorch.nested._internal.nested_tensor\nNestedTensor\n"
    storage = b"(X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0\x30X\3\0\0\0cpuK\1tQ"
    plain = b"ctorch._tensor\n_rebuild_from_type_v2\n(ctorch._utils\n_rebuild_tensor_v2\n" + named
    plain += b"(" + storage + b"K\0K\1\x85K\1\x85\x89Nt}tR."
    wrapper = b"ctorch._utils\n_rebuild_wrapper_subclass\n(" + named + b"ctorch\nfloat32\n))K\0NN\x89tR."
    for pickled in (plain, wrapper, wrapper.replace(named, b"ctorch\nTensor\n")):
        with pytest.raises(pickle.UnpicklingError):
            wengert.load(archive_of(b"\x80\x02" + pickled, data_0=bytes(4)))


CUT_WHILE_READ = """
import os, sys, zipfile, wengert
path, order, dtype = sys.argv[1:]
x = wengert.arange(100_000).to(getattr(wengert, dtype))
wengert.save(x, path + "0")
with zipfile.ZipFile(path + "0") as old, zipfile.ZipFile(path, "w") as new:
    for name in old.namelist():
        new.writestr("a/" + name.split("/", 1)[1], order if name.endswith("byteorder") else old.read(name))
def cut(storage, location):
    os.truncate(path, 100)
    return storage
got = wengert.load(path, mmap=True, map_location=cut)
print(got.tolist() == x.tolist() or order == "big")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not let a mapped file be cut")
@pytest.mark.parametrize("order", ["little", "big"])
def test_what_is_copied_from_a_mapped_file_survives_its_end(order: str, tmp_path: Path) -> None:
    """zipfile aligns nothing, so the storage is copied; the other byte order is copied too."""
    at = tmp_path / ("x" if order == "big" else "xy")
    run = [sys.executable, "-c", CUT_WHILE_READ, str(at), order, "float64"]
    done = subprocess.run(run, check=False, capture_output=True, text=True, timeout=300)
    assert done.stdout == "True\n", (done.returncode, done.stderr)
