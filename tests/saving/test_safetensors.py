"""safetensors files: what the format says, what the package of that name reads and writes, and files that lie."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wengert
from wengert.safetensors import SafetensorError, load, load_file, safe_open, save, save_file

TENSORS = {
    "weight": wengert.arange(6.0).reshape(2, 3),
    "half": wengert.ones(2, dtype=wengert.float16),
    "flag": wengert.tensor([True, False]),
    "empty": wengert.empty(0, 4),
    "scalar": wengert.tensor(7),
}


def file_of(header: Any, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def test_what_is_written_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    save_file(TENSORS, path, {"format": "pt"})
    got = load_file(path)
    assert set(got) == set(TENSORS)
    for name, tensor in TENSORS.items():
        assert got[name].dtype is tensor.dtype and got[name].tolist() == tensor.tolist()
    assert wengert.load(path)["weight"].tolist() == got["weight"].tolist() == load(save(TENSORS))["weight"].tolist()
    assert [p.name for p in tmp_path.iterdir()] == ["x.safetensors"]


DTYPES = ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"]


@pytest.mark.parametrize("dtype", [*DTYPES, "float16", "float32", "float64"])
def test_dtypes_lie_in_the_file_as_the_format_says(dtype: str) -> None:
    t = wengert.arange(3).to(getattr(wengert, dtype))
    data = save({"t": t})
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    assert (8 + size) % 8 == 0 and header["t"]["shape"] == [3] and header["t"]["data_offsets"] == [0, 3 * t.itemsize]
    assert np.frombuffer(data[8 + size :], np.dtype(dtype).newbyteorder("<")).tolist() == t.tolist()


def test_bfloat16_and_complex() -> None:
    assert load(save({"t": wengert.tensor([1 + 2j])}))["t"].tolist() == [1 + 2j]
    pytest.importorskip("ml_dtypes")
    got = load(save({"t": wengert.ones(2, dtype=wengert.bfloat16)}))["t"]
    assert got.dtype is wengert.bfloat16 and got.tolist() == [1, 1]


def test_with_the_package(tmp_path: Path) -> None:
    package = pytest.importorskip("safetensors.numpy")
    save_file(TENSORS, tmp_path / "ours")
    theirs = package.load_file(tmp_path / "ours")
    assert {name: a.tolist() for name, a in theirs.items()} == {name: t.tolist() for name, t in TENSORS.items()}
    package.save_file({name: t.numpy() for name, t in TENSORS.items()}, tmp_path / "theirs", {"a": "b"})
    with safe_open(tmp_path / "theirs", "pt") as file:
        assert file.metadata() == {"a": "b"}
        assert {name: file.get_tensor(name).tolist() for name in file} == {n: t.tolist() for n, t in TENSORS.items()}


def test_parts_of_a_file(tmp_path: Path) -> None:
    save_file(TENSORS, tmp_path / "x")
    with safe_open(tmp_path / "x", framework="pt", device="cpu") as file:
        assert file.keys() == sorted(TENSORS) and file.offset_keys()[0] == "scalar" and file.metadata() is None
        part = file.get_slice("weight")
        assert part.get_shape() == [2, 3] and part.get_dtype() == "F32" and part[1:, 0].tolist() == [3]
        with pytest.raises(SafetensorError, match="does not contain tensor none"):
            file.get_tensor("none")


def test_what_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="non contiguous tensor: `t` which is not allowed"):
        save({"t": wengert.ones(2, 3).t()})
    base = wengert.ones(4)
    with pytest.raises(RuntimeError, match="Some tensors share memory"):
        save({"a": base, "b": base[1:]})
    with pytest.raises(ValueError, match=r"no dtype torch.complex128"):
        save({"t": wengert.ones(1, dtype=wengert.complex128)})
    with pytest.raises(ValueError, match=r"expected torch.Tensor but received <class 'int'>"):
        save({"t": 1})
    with pytest.raises(ValueError, match="Expected a dict"):
        save([wengert.ones(1)])


# The cases of the format's own tests (github.com/huggingface/safetensors, safetensors/src/tensor.rs): what its files
# hold byte for byte, and what every reader must refuse.
SIX = np.arange(6, dtype="<f4").tobytes()
WRITTEN = [
    ({}, None, b"\x08" + bytes(7) + b"{}      "),
    ({}, {"framework": "pt"}, b"\x28" + bytes(7) + b'{"__metadata__":{"framework":"pt"}}     '),
    (
        {"attn.0": wengert.arange(6.0).reshape(1, 2, 3)},
        None,
        b"@" + bytes(7) + b'{"attn.0":{"dtype":"F32","shape":[1,2,3],"data_offsets":[0,24]}}' + SIX,
    ),
    (
        {"attn0": wengert.arange(6.0).reshape(1, 1, 2, 3)},
        None,
        b"H" + bytes(7) + b'{"attn0":{"dtype":"F32","shape":[1,1,2,3],"data_offsets":[0,24]}}' + b" " * 7 + SIX,
    ),
]


@pytest.mark.parametrize(("tensors", "metadata", "data"), WRITTEN)
def test_the_formats_own_files_are_written_and_read(tensors: Any, metadata: Any, data: bytes) -> None:
    assert save(tensors, metadata) == data
    assert {name: t.tolist() for name, t in load(data).items()} == {name: t.tolist() for name, t in tensors.items()}


def i32(shape: str, offsets: str, before: str = "", after: str = "") -> bytes:
    return f'{before}{{"test":{{"dtype":"I32","shape":{shape},"data_offsets":{offsets}}}}}{after}'.encode()


@pytest.mark.parametrize(
    ("header", "size", "shape"),
    [
        (i32("[]", "[0,4]"), 4, ()),
        (i32("[2,2]", "[0,16]"), 16, (2, 2)),
        (i32("[2,0]", "[0, 0]"), 0, (2, 0)),
        (i32("[2,0]", "[0,0]", after=" " * 7), 0, (2, 0)),
        (b"{}", 0, None),
    ],
)
def test_the_formats_own_files_are_read(header: bytes, size: int, shape: Any) -> None:
    got = load(file_of(header, bytes(size)))
    assert [tuple(t.shape) for t in got.values()] == ([] if shape is None else [shape])


@pytest.mark.parametrize(
    "data",
    [
        file_of(i32("[2,2]", "[0,16]"), bytes(16) + b"extra_bogus_data_for_polyglot_file"),
        file_of(i32("[2,2]", "[0,16]"), bytes(14)),
        b"<\0\0\0\0\xff\xff\xff" + i32("[2,2]", "[0,16]") + bytes(16),
        b"",
        b"<" + bytes(7),
        b"\x01" + bytes(7) + b"\xff",
        b"\x01" + bytes(7) + b"{",
        b"\x00" + bytes(7),
        file_of(i32("[2,2]", "[0, 4]"), bytes(16)),
        file_of(i32("[2,18446744073709551614]", "[0,16]"), bytes(16)),
        file_of(i32("[2,9223372036854775807]", "[0,16]"), bytes(16)),
        file_of(i32("[2,2]", "[0,16]", before=" "), bytes(16)),
        file_of({f"w{i}": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]} for i in range(10)}, bytes(16)),
    ],
)  # fmt: skip
def test_what_the_format_refuses_is_refused(data: bytes) -> None:
    with pytest.raises(SafetensorError):
        load(data)


F32 = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "header too small"),
        (b"\xff" * 8, "header too large"),
        ((1000).to_bytes(8, "little") + b"{}", "invalid header length"),
        (file_of(b"{"), "invalid JSON"),
        (file_of(b"[" * 100_000), "invalid JSON"),
        (file_of(b"\xff{}"), "invalid JSON"),
        (file_of(b'{"\\ud800":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}'), "invalid JSON"),
        (file_of(b'{"__metadata__":{"a":"\\udfff"}}'), "invalid JSON"),
        (file_of([]), "not an object"),
        (file_of(b'{"t":1,"t":2}'), "there twice"),
        (file_of({"t": F32}), "not fully covered"),
        (file_of({"t": F32}, bytes(9)), "not fully covered"),
        (file_of({"t": F32, "u": F32}, bytes(8)), "invalid offset"),
        (file_of({"t": {**F32, "data_offsets": [4, 12]}}, bytes(12)), "invalid offset"),
        (file_of({"t": {**F32, "shape": [2**62, 4]}}, bytes(8)), "entry of tensor `t` is wrong"),
        (file_of({"t": {**F32, "shape": [-2]}}, bytes(8)), "entry of tensor `t` is wrong"),
        (file_of({"t": {**F32, "shape": [2.0]}}, bytes(8)), "entry of tensor `t` is wrong"),
        (file_of({"t": {**F32, "dtype": "F8_E4M3"}}, bytes(8)), "or of a dtype that wengert does not have"),
        (file_of({"t": {}}, bytes(8)), "entry of tensor `t` is wrong"),
        (file_of({"t": 3}, bytes(8)), "entry of tensor `t` is wrong"),
        (file_of({"__metadata__": {"a": 1}}), "must hold texts"),
    ],
)
def test_files_that_lie(data: bytes, message: str) -> None:
    with pytest.raises(SafetensorError, match=message):
        load(data)


def test_a_number_is_no_open_file(tmp_path: Path) -> None:
    """The file of that number was read, and closed for the program that had it open."""
    with open(tmp_path / "own", "wb+") as file:
        file.write(save(TENSORS))
        file.flush()
        with pytest.raises(TypeError, match=r"expected str, bytes or os.PathLike object, not int"):
            safe_open(file.fileno())
        file.write(b"still open")


@given(st.data())
def test_a_file_that_was_changed_is_an_error_or_well_formed(draw: Any) -> None:
    data = bytearray(save(TENSORS))
    for _ in range(draw.draw(st.integers(1, 4))):
        data[draw.draw(st.integers(0, len(data) - 1))] = draw.draw(st.integers(0, 255))
    cut = draw.draw(st.integers(0, len(data)))
    try:
        got = load(bytes(data[:cut]))
    except SafetensorError:
        return
    assert sum(t.nbytes for t in got.values()) < len(data)
