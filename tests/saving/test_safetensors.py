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
