"""``save`` and ``load``: PyTorch's format in both directions, hostile files, and files that survive a crash."""

from __future__ import annotations

import collections
import io
import os
import pickle
import stat
import struct
import subprocess
import sys
import tarfile
import tracemalloc
import warnings
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wengert
from wengert._saving import records
from wengert._saving.records import Archive, ArchiveWriter

DTYPES = [
    "bool",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
CLEAR = (RuntimeError, pickle.UnpicklingError, EOFError, ValueError)


def saved(obj: Any, lib: Any = wengert, **options: Any) -> io.BytesIO:
    file = io.BytesIO()
    lib.save(obj, file, **options)
    file.seek(0)
    return file


def again(obj: Any, **options: Any) -> Any:
    return wengert.load(saved(obj), **options)


def assert_same(a: Any, b: Any) -> None:
    """Two tensors, of either library, that no program can tell apart."""
    assert tuple(a.shape) == tuple(b.shape) and a.stride() == b.stride() and str(a.dtype) == str(b.dtype)
    assert a.storage_offset() == b.storage_offset() and a.requires_grad == b.requires_grad
    assert a.untyped_storage().nbytes() == b.untyped_storage().nbytes()
    assert a.tolist() == b.tolist()


# ------------------------------------------------------------------------------------------------------ what comes back
def views(lib: Any, dtype: str) -> dict[str, Any]:
    """Tensors of every layout, all but one on the same memory."""
    base = lib.arange(24).to(getattr(lib, dtype)).reshape(4, 6)
    return collections.OrderedDict(
        base=base,
        transposed=base.t(),
        steps=base[1:3, ::2],
        element=base[2, 3],
        expanded=base[0].expand(3, 6),
        restrided=base.as_strided((2, 3), (4, 1), 3),
        no_columns=base[:, :0],
        no_rows=lib.empty(0, 3, dtype=getattr(lib, dtype)).t(),
        empty=lib.empty(0, 3, dtype=getattr(lib, dtype)),
        scalar=lib.tensor(1).to(getattr(lib, dtype)),
    )


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_tensors_of_every_dtype_and_layout(dtype: str, legacy: bool) -> None:
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    want = views(wengert, dtype)
    got = wengert.load(saved(want, _use_new_zipfile_serialization=not legacy))
    assert type(got) is collections.OrderedDict and list(got) == list(want)
    for name, tensor in want.items():
        assert_same(got[name], tensor)
    got["base"][2, 3] = got["base"][1, 0] = got["base"][0, 3] = 1
    assert got["element"].item() == got["transposed"][0, 1].item() == got["restrided"][0, 0].item() == 1


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_tensors_to_and_from_torch(torch: ModuleType, dtype: str, legacy: bool) -> None:
    new = not legacy
    theirs = wengert.load(saved(views(torch, dtype), torch, _use_new_zipfile_serialization=new))
    ours = torch.load(saved(views(wengert, dtype), _use_new_zipfile_serialization=new), weights_only=True)
    for name, tensor in views(torch, dtype).items():
        assert_same(theirs[name], tensor)
        assert_same(ours[name], tensor)
    ours["base"][2, 3] = 1
    assert ours["element"].item() == 1


def objects(lib: Any) -> dict[str, Any]:
    """All else that a checkpoint may hold."""
    lib.manual_seed(0)
    weight = lib.nn.Parameter(lib.randn(3))
    frozen = lib.nn.Parameter(lib.ones(2), requires_grad=False)
    frozen.tag = "x"
    marked = lib.ones(2)
    marked.tag = [1]
    return {
        "weight": weight,
        "tied": weight,
        "frozen": frozen,
        "marked": marked,
        "grad": lib.ones(2, requires_grad=True) * 2,
        "size": lib.Size([1, 2]),
        "dtype": lib.float32,
        "device": lib.device("cpu"),
        "layout": lib.strided,
        "plain": [1, 2**70, -5, 2.5, None, True, "é", b"bytes\xff", (), (1,), (1, 2), (1, 2, 3, 4), {1, 2}, 1 + 2j],
        "bytearray": bytearray(b"ab"),
        "counter": collections.Counter("aab"),
        "storage": lib.arange(4).untyped_storage(),
        "rng": lib.get_rng_state(),
    }


def assert_objects(got: dict[str, Any], want: dict[str, Any]) -> None:
    assert got["tied"] is got["weight"] and type(got["weight"]).__name__ == "Parameter" and got["weight"].requires_grad
    assert got["frozen"].tag == "x" and not got["frozen"].requires_grad and got["marked"].tag == [1]
    assert got["grad"].requires_grad and got["grad"].is_leaf
    assert got["storage"].tolist() == want["storage"].tolist()
    for name in ("size", "dtype", "device", "layout", "plain", "bytearray", "counter", "weight", "rng"):
        assert str(got[name]) == str(want[name])


@pytest.mark.parametrize("legacy", [False, True])
def test_other_objects(legacy: bool) -> None:
    assert_objects(wengert.load(saved(objects(wengert), _use_new_zipfile_serialization=not legacy)), objects(wengert))


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")  # what torch makes of an untyped storage in a file
@pytest.mark.parametrize("legacy", [False, True])
def test_other_objects_to_and_from_torch(torch: ModuleType, legacy: bool) -> None:
    new = not legacy
    without_layout = {k: v for k, v in objects(wengert).items() if not (legacy and k == "storage")}
    ours = torch.load(saved(without_layout, _use_new_zipfile_serialization=new), weights_only=True)
    assert_objects({"storage": objects(torch)["storage"], **ours}, objects(torch))
    mine = {k: v for k, v in objects(torch).items() if not (legacy and k == "storage")}
    theirs = wengert.load(saved(mine, torch, _use_new_zipfile_serialization=new))
    assert_objects({"storage": objects(wengert)["storage"], **theirs}, objects(torch))


MODULES: dict[str, Any] = {
    "linear": lambda lib: (lib.nn.Sequential(lib.nn.Linear(2, 3), lib.nn.ReLU(), lib.nn.LayerNorm(3)), (4, 2)),
    "norm": lambda lib: (lib.nn.BatchNorm1d(2), (4, 2)),
    "conv": lambda lib: (lib.nn.Conv1d(2, 3, 2), (1, 2, 4)),
    "lstm": lambda lib: (lib.nn.LSTM(2, 3), (4, 1, 2)),
    "encoder": lambda lib: (lib.nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), (3, 1, 4)),
    "lazy": lambda lib: (lib.nn.LazyLinear(2), (1, 3)),
}


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("name", MODULES)
def test_modules_to_and_from_torch(torch: ModuleType, name: str, legacy: bool) -> None:
    new = not legacy
    torch.manual_seed(0)
    module, shape = MODULES[name](torch)
    theirs = wengert.load(saved(module, torch, _use_new_zipfile_serialization=new), weights_only=False)
    back = torch.load(saved(theirs, _use_new_zipfile_serialization=new), weights_only=False)
    if name == "lazy":
        assert theirs(wengert.ones(shape)).shape == (1, 2) and back(torch.ones(shape)).shape == (1, 2)
        return
    want, got, there = module(torch.ones(shape)), theirs(wengert.ones(shape)), back(torch.ones(shape))
    if name == "lstm":
        want, got, there = want[0], got[0], there[0]
    np.testing.assert_allclose(got.detach().numpy(), want.detach().numpy(), rtol=1e-5, atol=1e-6)
    assert torch.equal(there, want)
    assert type(theirs).__module__.startswith("wengert.") and type(back) is type(module)


def test_optimizers_and_generators_to_and_from_torch(torch: ModuleType) -> None:
    def trained(lib: Any) -> Any:
        weight = lib.nn.Parameter(lib.ones(2))
        optimizer = lib.optim.Adam([weight], lr=0.5)
        (weight * weight).sum().backward()
        optimizer.step()
        return optimizer

    ours = torch.load(saved(trained(wengert).state_dict()), weights_only=True)
    theirs = wengert.load(saved(trained(torch).state_dict(), torch))
    assert str(ours) == str(trained(torch).state_dict()) and str(theirs) == str(trained(wengert).state_dict())
    generator = wengert.load(saved(torch.Generator().manual_seed(3), torch), weights_only=False)
    assert wengert.rand(2, generator=generator).tolist() == torch.rand(2, generator=torch.manual_seed(3)).tolist()
    generator = torch.load(saved(wengert.Generator().manual_seed(3)), weights_only=False)
    assert torch.rand(2, generator=generator).tolist() == torch.rand(2, generator=torch.manual_seed(3)).tolist()


@pytest.mark.parametrize("legacy", [False, True])
def test_named_results_to_and_from_torch(torch: ModuleType, legacy: bool) -> None:
    for lib, other in ((torch, wengert), (wengert, torch), (wengert, wengert)):
        file = saved([lib.arange(4.0).reshape(2, 2).max(0), lib.tensor([2.0, 1.0]).sort()], lib,
                     _use_new_zipfile_serialization=not legacy)  # fmt: skip
        largest, ordered = other.load(file, weights_only=False)
        assert type(largest) is other.return_types.max and type(ordered) is other.return_types.sort
        assert largest.values.tolist() == [2, 3] and ordered.indices.tolist() == [1, 0]


def test_a_conjugate_view_of_torch_comes_with_its_values(torch: ModuleType) -> None:
    z = torch.tensor([1 + 2j, 3 - 1j])
    assert wengert.load(saved(z.conj(), torch)).tolist() == [1 - 2j, 3 + 1j]
    assert wengert.load(saved(z.conj().imag, torch)).tolist() == [-2.0, 1.0]


@pytest.mark.filterwarnings("ignore:The PyTorch API of MaskedTensors", "ignore:It is not recommended to create")
@pytest.mark.parametrize("zipped", [True, False])
def test_masked_tensors_to_and_from_torch(torch: ModuleType, zipped: bool) -> None:
    shown = set()
    for writer in (torch, wengert):
        mask = writer.tensor([True, False, True, True])
        masked = writer.masked.masked_tensor(writer.arange(4.0), mask, requires_grad=True)
        file = io.BytesIO()
        writer.save({"w": masked}, file, _use_new_zipfile_serialization=zipped)
        for reader in (torch, wengert):
            file.seek(0)
            with reader.serialization.safe_globals([reader.masked.MaskedTensor]):
                got = reader.load(file)["w"]
            (got * 2).sum().backward()
            shown.add((str(got), str(got.grad), got.requires_grad))
            file.seek(0)
            with pytest.raises(pickle.UnpicklingError, match=r"MaskedTensor was not an allowed global by default"):
                reader.load(file)
    assert len(shown) == 1, shown
    again = pickle.loads(pickle.dumps(wengert.masked.masked_tensor(wengert.eye(2), wengert.eye(2).bool())))
    assert again.get_mask().tolist() == [[True, False], [False, True]] and again.sum().item() == 2


@pytest.mark.filterwarnings("ignore:Sparse invariant checks")
def test_sparse_tensors_to_and_from_torch(torch: ModuleType) -> None:
    sparse = torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 0]], [1.0, 2.0, 3.0], (2, 3))
    for tensor in (sparse, sparse.coalesce()):
        ours = wengert.load(saved(tensor, torch))
        assert ours._payload.shape == (2, 3) and ours._payload.coalesced == tensor.is_coalesced()
        back = torch.load(saved(ours), weights_only=True)
        assert torch.equal(back.to_dense(), tensor.to_dense()) and back.is_coalesced() == tensor.is_coalesced()
    with zipfile.ZipFile(saved(sparse, torch)) as archive:
        pickled = archive.read("archive/data.pkl")
        parts = {f"data_{i}": archive.read(f"archive/data/{i}") for i in range(2)}
    before, size, after = pickled.rpartition(b"K\2K\3\x86")  # the last: the tensor's own
    with pytest.raises(RuntimeError, match="out of bounds for its size"):
        wengert.load(archive_of(before + b"K\1K\3\x86" + after, **parts))
    assert size


class Tagged(wengert.Tensor):
    """It overrides nothing, so it slows no other test down."""

    __torch_function__ = wengert._C._disabled_torch_function_impl


def test_subclasses_need_to_be_allowed() -> None:
    tensor = wengert.ones(2).as_subclass(Tagged)
    with pytest.raises(pickle.UnpicklingError, match=r"GLOBAL \S*Tagged was not an allowed global by default"):
        again(tensor)
    with wengert.serialization.safe_globals([Tagged]):
        assert type(again(tensor)) is Tagged
    assert wengert.serialization.get_safe_globals() == []


def test_what_pickle_cannot_find_is_its_error() -> None:
    for found_nowhere in (wengert.jit.ignore(), lambda: 0):
        with pytest.raises((pickle.PicklingError, AttributeError), match=r"Can't (pickle|get)|not found as"):
            saved(found_nowhere)


def test_what_has_no_name_has_the_error_of_the_pickler_in_c() -> None:
    """As in PyTorch: a scheduler with a lambda, a module of a local class."""

    class Local(wengert.nn.Module):
        pass

    for what in (lambda: 0, Local(), {"f": [Local]}):
        with pytest.raises(Exception, match="Can't") as of_c:
            pickle.dumps(what)
        with pytest.raises(of_c.type) as ours:
            saved(what)
        assert str(ours.value) == str(of_c.value)


class Point:
    def __init__(self, x: int) -> None:
        self.x = x


def test_what_is_not_allowed_is_named_as_torch_names_it(torch: ModuleType) -> None:
    with pytest.raises(pickle.UnpicklingError) as theirs:
        torch.load(saved(torch.nn.Linear(1, 1), torch))
    with pytest.raises(pickle.UnpicklingError) as ours:
        wengert.load(saved(wengert.nn.Linear(1, 1)))
    assert str(theirs.value).startswith(str(ours.value))


def test_globals_of_the_program() -> None:
    file = saved({"p": Point(3)})
    name = f"{Point.__module__}.Point"
    assert wengert.serialization.get_unsafe_globals_in_checkpoint(file) == [name]
    wengert.serialization.add_safe_globals([Point])
    try:
        assert wengert.load(file)["p"].x == 3
        assert wengert.serialization.get_safe_globals() == [Point]
    finally:
        wengert.serialization.clear_safe_globals()
    file.seek(0)
    assert wengert.load(file, weights_only=False)["p"].x == 3


def test_numpys_scalars_can_be_allowed(torch: ModuleType) -> None:
    allowed = [np._core.multiarray.scalar, np.dtype, np.dtypes.Float64DType]
    for writer in (wengert, torch):
        for lib in (wengert, torch):
            with pytest.raises(pickle.UnpicklingError, match=r"GLOBAL numpy\S*multiarray.scalar was not an allowed"):
                lib.load(saved({"best": np.float64(0.5)}, writer))
        with wengert.serialization.safe_globals(allowed):
            assert wengert.load(saved({"best": np.float64(0.5)}, writer)) == {"best": 0.5}


def test_names_can_be_allowed_for_objects() -> None:
    name = f"{Point.__module__}.Point"
    with wengert.serialization.safe_globals([(Point, name)]):
        assert again(Point(2)).x == 2
    with wengert.serialization.safe_globals([(Point, name, 3)]), pytest.raises(ValueError, match="tuple of length 2"):
        again(Point(2))


def test_what_the_environment_forces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    with pytest.warns(UserWarning, match="TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD detected"):
        assert again(Point(4)).x == 4
    with pytest.raises(pickle.UnpicklingError):
        again(Point(4), weights_only=True)
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "y")
    with pytest.raises(RuntimeError, match="Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD`"):
        again(1)
    monkeypatch.delenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    with pytest.raises(pickle.UnpicklingError):
        again(Point(4), weights_only=False)


# --------------------------------------------------------------------------------------------------- places and options
def on_cuda(lib: Any) -> io.BytesIO:
    """A file whose one storage was on a GPU."""
    file = saved([lib.ones(2)], lib)
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    out = io.BytesIO()
    writer = ArchiveWriter(out.write, "archive")
    for name, data in parts.items():
        if name.endswith("data.pkl"):
            data = data.replace(b"X\3\0\0\0cpu", b"X\6\0\0\0cuda:0")
        writer.add(name.partition("/")[2], data)
    writer.close()
    out.seek(0)
    return out


def test_storages_of_a_gpu(torch: ModuleType) -> None:
    for lib in (wengert, torch):
        with pytest.raises(RuntimeError, match="Attempting to deserialize object on a CUDA device but") as error:
            lib.load(on_cuda(lib))
        assert "map_location=torch.device('cpu')" in str(error.value)
        for place in ("cpu", lib.device("cpu"), {"cuda:0": "cpu"}, lambda storage, tag: storage):
            assert lib.load(on_cuda(lib), map_location=place)[0].tolist() == [1, 1]
    seen = []
    wengert.load(on_cuda(wengert), map_location=lambda storage, tag: seen.append((storage.nbytes(), tag)) or storage)
    assert seen == [(8, "cuda:0")]


def test_mmap_reads_lazily_and_writes_nothing_back(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    wengert.save({"a": wengert.arange(1000.0), "b": wengert.ones(3)}, path)
    before = path.read_bytes()
    got = wengert.load(path, mmap=True)
    assert got["a"].data_ptr() % 64 == 0 and got["b"].data_ptr() % 64 == 0
    got["a"] += 1
    assert got["a"][999].item() == 1000 and path.read_bytes() == before
    with pytest.raises(ValueError, match="f must be a file path in order to use the mmap argument"):
        wengert.load(saved(1), mmap=True)
    wengert.save(1, path, _use_new_zipfile_serialization=False)
    with pytest.raises(RuntimeError, match="mmap can only be used with files saved with"):
        wengert.load(path, mmap=True)


def test_mmap_of_files_of_torch(torch: ModuleType, tmp_path: Path) -> None:
    path = str(tmp_path / "x.pt")
    torch.save({"a": torch.arange(1000.0)}, path)
    assert wengert.load(path, mmap=True)["a"][999].item() == 999
    wengert.save({"a": wengert.arange(1000.0)}, path)
    assert torch.load(path, mmap=True)["a"][999].item() == 999


@pytest.mark.parametrize("zipped", [True, False])
def test_errors_of_map_location_are_the_programs_own(torch: ModuleType, zipped: bool) -> None:
    """They were called damage of the file."""
    tables: dict[str, int] = {}
    wrong = (lambda storage: storage, lambda storage, tag: tables[tag], lambda storage, tag: 3, {"cpu": 3}, 3)
    for place in wrong:
        said = []
        for lib in (torch, wengert):
            file = io.BytesIO()
            lib.save(lib.ones(2), file, _use_new_zipfile_serialization=zipped)
            file.seek(0)
            with pytest.raises((TypeError, KeyError)) as info:
                lib.load(file, map_location=place)
            said.append((info.type, "" if "storage" in str(info.value) else str(info.value)))
        assert said[0] == said[1]


def test_files_of_text_are_named(torch: ModuleType) -> None:
    for lib in (torch, wengert):
        with pytest.raises(AssertionError, match=r"^Expected bytes, got str"):
            lib.load(io.StringIO("abc"))


BAD_TARS = {
    "one part": {"storages": pickle.dumps(0, 2)}, "a count": {"storages": pickle.dumps("x", 2)},
    "a storage": {"storages": pickle.dumps(1, 2) + pickle.dumps((1, 2), 2)},
    "a view": {"storages": pickle.dumps(0, 2) + pickle.dumps([(1, 2, 3, 4)], 2)},
    "a tensor": {
        "storages": pickle.dumps(0, 2) + pickle.dumps([], 2),
        "tensors": pickle.dumps(1, 2) + pickle.dumps((1, 2, 3), 2) + struct.pack("<iiq", -5, 0, 0),
    },
    "an object": {"storages": pickle.dumps(0, 2) + pickle.dumps([], 2), "pickle": b"\x80\x02K\5Q."},
}  # fmt: skip


@pytest.mark.parametrize("kind", [*BAD_TARS, "links", "no tar"])
def test_tar_files_that_lie(kind: str) -> None:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in ("storages", "tensors", "pickle") if kind != "one part" else BAD_TARS[kind]:
            data = BAD_TARS.get(kind, {}).get(name, pickle.dumps(0, 2))
            entry = tarfile.TarInfo(name)
            entry.size, entry.linkname = len(data), name
            if kind == "links":
                entry.type, entry.size = tarfile.SYMTYPE, 0
            tar.addfile(entry, io.BytesIO(data))
    data = file.getvalue() if kind != "no tar" else bytes(257) + b"ustar" + bytes(300)
    with pytest.raises(RuntimeError, match=r"the tar file is|is no file of the tar|unexpected end|refers to a tensor"):
        wengert.load(io.BytesIO(data), weights_only=False)


def test_byte_order_of_the_other_kind() -> None:
    table = {"data.pkl": None, "byteorder": b"big", "version": b"3\n"}
    with zipfile.ZipFile(saved(wengert.tensor([1.5, 2.0]))) as archive:
        table["data.pkl"] = archive.read("archive/data.pkl")
    out = io.BytesIO()
    writer = ArchiveWriter(out.write, "archive")
    for name, data in (*table.items(), ("data/0", np.array([1.5, 2.0], ">f4"))):
        writer.add(name, data if data is not None else b"")
    writer.close()
    out.seek(0)
    assert wengert.load(out).tolist() == [1.5, 2.0]


def test_options(tmp_path: Path) -> None:
    s = wengert.serialization
    assert s.get_crc32_options() is True and s.get_default_load_endianness() is None
    s.set_crc32_options(False)
    try:
        file = saved(wengert.ones(2))
    finally:
        s.set_crc32_options(True)
    with zipfile.ZipFile(file) as archive:
        assert {entry.CRC for entry in archive.infolist()} == {0}
    file.seek(0)
    assert wengert.load(file).tolist() == [1, 1]
    with pytest.raises(TypeError, match="Invalid argument type in function set_default_load_endianness"):
        s.set_default_load_endianness("little")
    with s.skip_data():
        file = saved(wengert.ones(2))
    assert wengert.load(file).tolist() == [0, 0]
    with pytest.raises(ValueError, match="Invalid argument in function set_default_mmap_options"):
        s.set_default_mmap_options(17)


def test_pickle_protocols_and_modules(torch: ModuleType) -> None:
    for protocol in (2, 3, 4, 5):
        file = saved(wengert.nn.Linear(1, 1), pickle_protocol=protocol)
        assert type(torch.load(file, weights_only=False)) is torch.nn.Linear
        file.seek(0)
        assert type(wengert.load(file, weights_only=False, pickle_module=pickle)) is wengert.nn.Linear
    with pytest.raises(RuntimeError, match="Can not safely load weights when explicit pickle_module is specified"):
        wengert.load(file, weights_only=True, pickle_module=pickle)
    for lib in (torch, wengert):
        with pytest.warns(UserWarning, match="Detected pickle protocol 3 in the checkpoint, which was not the default"):
            lib.load(saved(wengert.ones(1), pickle_protocol=3))


def test_one_memory_as_two_dtypes(torch: ModuleType) -> None:
    for lib in (wengert, torch):
        a = lib.ones(4)
        with pytest.raises(RuntimeError, match="Cannot save multiple tensors or storages that view the same data as"):
            lib.save([a, a.view(lib.int32)], io.BytesIO())


def test_a_plain_pickle_still_works() -> None:
    a = wengert.arange(3.0)
    assert pickle.loads(pickle.dumps(a)).tolist() == [0, 1, 2]
    module = pickle.loads(pickle.dumps(wengert.nn.LSTM(2, 3)))
    assert module(wengert.ones(1, 1, 2))[0].shape == (1, 1, 3)


# -------------------------------------------------------------------------------------------------------- writing files
def test_paths_and_files(tmp_path: Path) -> None:
    for path in (tmp_path / "a.pt", str(tmp_path / "b.pt"), os.fsencode(tmp_path / "c.pt")):
        wengert.save({"x": 1}, path)
        assert wengert.load(path) == {"x": 1}
    with open(tmp_path / "d.pt", "wb") as file:
        file.write(b"before")
        wengert.save([1], file)
    with open(tmp_path / "d.pt", "rb") as file:
        file.seek(6)
        assert wengert.load(file) == [1]
    with zipfile.ZipFile(tmp_path / "a.pt") as archive:
        assert "a/data.pkl" in archive.namelist() and archive.testzip() is None
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.pt", "b.pt", "c.pt", "d.pt"]


def test_an_error_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.pt"
    wengert.save([1], path)
    with pytest.raises((AttributeError, pickle.PicklingError)):
        wengert.save([lambda: 0], path)

    def full_disk(self: Any, name: str, data: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ArchiveWriter, "add", full_disk)
    with pytest.raises(OSError, match="No space left"):
        wengert.save([2], path)
    assert wengert.load(path) == [1]
    assert [p.name for p in tmp_path.iterdir()] == ["x.pt"]


@pytest.mark.skipif(os.name == "nt", reason="permissions and links of POSIX")
def test_permissions_and_links_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "x.pt", tmp_path / "link.pt"
    wengert.save([1], path)
    path.chmod(0o640)
    link.symlink_to(path)
    wengert.save([2], link)
    assert link.is_symlink() and wengert.load(path) == [2]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    wengert.save([3], os.devnull)


def test_errors_of_paths_are_torchs(torch: ModuleType, tmp_path: Path) -> None:
    for lib in (wengert, torch):
        with pytest.raises(RuntimeError, match=r"Parent directory .* does not exist"):
            lib.save(1, tmp_path / "no" / "x.pt")
        with pytest.raises(RuntimeError, match="Is a directory"):
            lib.save(1, tmp_path)
        with pytest.raises(FileNotFoundError):
            lib.load(tmp_path / "none.pt")
        with pytest.raises(AttributeError, match=r"You can only torch.load from a file that is seekable"):
            lib.load(3)
        with pytest.raises(AttributeError, match="expected 'f' to be string, path, or a file-like object with"):
            lib.save(1, 3)


def test_zip64(torch: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "_LIMIT", 200)
    file = saved({"a": wengert.arange(100), "b": wengert.ones(2)})
    assert b"PK\6\6" in file.getvalue()
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None
    for lib in (wengert, torch):
        file.seek(0)
        assert lib.load(file)["a"][99].item() == 99


# -------------------------------------------------------------------------------------------------------- hostile files
def archive_of(data_pkl: bytes, **parts: bytes) -> io.BytesIO:
    """A checkpoint with this pickle and these storages."""
    out = io.BytesIO()
    writer = ArchiveWriter(out.write, "archive")
    writer.add("data.pkl", data_pkl)
    for name, data in parts.items():
        writer.add(name.replace("_", "/"), data)
    writer.add("version", b"3\n")
    writer.close()
    out.seek(0)
    return out


def tensor_pickle(count: Any, offset: Any, size: Any, stride: Any, key: str = "0") -> bytes:
    """The pickle of one tensor, with any numbers."""

    def value(v: Any) -> bytes:
        if isinstance(v, tuple):
            return b"(" + b"".join(value(i) for i in v) + b"t"
        if isinstance(v, str):
            return b"X" + struct.pack("<I", len(v)) + v.encode()
        return b"\x8a" + bytes([9]) + int(v).to_bytes(9, "little", signed=True)

    ident = b"(" + value("storage") + b"ctorch\nFloatStorage\n" + value(key) + value("cpu") + value(count) + b"tQ"
    args = b"(" + ident + value(offset) + value(size) + value(stride) + b"\x89ccollections\nOrderedDict\n)Rt"
    return b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n" + args + b"R."


FOUR = np.arange(4, dtype="<f4").tobytes()


def test_the_builder_of_hostile_files_builds_good_ones_too() -> None:
    got = wengert.load(archive_of(tensor_pickle(4, 1, (3,), (1,)), data_0=FOUR))
    assert got.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((4, 0, (5,), (1,)), "out of bounds for storage of size 16"),
        ((4, 1, (4,), (1,)), "out of bounds"),
        ((4, 0, (2, 2), (3, 1)), "out of bounds"),
        ((4, 0, (2**62,), (1,)), "out of bounds"),
        ((4, 0, (2**62, 2**62), (0, 0)), "too large"),
        ((4, 0, (0, 2**62, 2**62), (0, 0, 0)), "too large"),
        ((4, -1, (1,), (1,)), "not negative"),
        ((4, 0, (-1,), (1,)), "not negative"),
        ((4, 3, (4,), (-1,)), "not negative"),
        ((4, 0, (4,), (1, 1)), "do not belong"),
        ((4, 0, (1,) * 65, (1,) * 65), "do not belong"),
        ((4, 0, "ab", (1, 1)), "must be integers"),
        ((2**40, 0, (1,), (1,)), "its record has 16 bytes"),
        ((-1, 0, (1,), (1,)), "id of a storage is wrong"),
        ((3, 0, (1,), (1,)), "its record has 16 bytes"),
        ((4, 0, (4,), (1,), "../../etc/passwd"), "file not found"),
    ],
)
def test_numbers_that_do_not_fit(numbers: Any, message: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(CLEAR, match=message):
            wengert.load(archive_of(tensor_pickle(*numbers), data_0=FOUR))
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


TUPLES = b"(" + b"K\1" + b"\x85" * 5000 + b"K\1d"  # a tuple nested 5000 deep, to be a key


@pytest.mark.parametrize(
    ("pickled", "message"),
    [
        (b"\x80\x02cos\nsystem\nX\2\0\0\0ls\x85R.", "os.system whose module os is blocked"),
        (b"\x80\x02cposix\nsystem\nX\2\0\0\0ls\x85R.", "blocked"),
        (b"\x80\x02c__builtin__\neval\nX\1\0\0\x001\x85R.", "GLOBAL eval was not an allowed global by default"),
        (b"\x80\x02ctorch.hub\nload\n.", "GLOBAL torch.hub.load was not an allowed global"),
        (b"\x80\x02ccollections\nOrderedDict\n}X\1\0\0\0aK\1sb.", "Can only build"),
        (b"\x80\x02ctorch\nTensor\nK\5\x85R.", "without arguments"),
        (b"\x80\x02cbuiltins\nbytearray\n\x8a\5\0\0\0\0\1\x85R.", "bytearray: only of bytes"),
        (b"\x80\x02c_codecs\nencode\nX\1\0\0\0aX\5\0\0\0rot13\x86R.", "only text into bytes"),
        (b"\x80\x02ctorch\nfloat32\n)R.", "unrecognized function"),
        (b"\x80\x02c_codecs\nencode\n)\x81.", "damaged"),
        (b"\x80\x02]r\xff\xff\xff\x7f.", None),  # a memo number for which the C unpickler takes gigabytes
        (b"\x80\x02X\xff\xff\xff\xffab.", "truncated"),
        (b"\x80\x02\x8b\xff\xff\xff\x7fab.", "truncated"),
        (b"\x80\x02K\1", "truncated"),
        (b"\x80\x02", "truncated"),
        (b"\x80\x02h\5.", "damaged"),
        (b"\x80\x02u.", "damaged"),
        (b"\x80\x02.", "damaged"),
        (b"\x80\x02}K\1u.", "damaged"),
        (b"\x80\x02}(" + b"K\1" + b"\x85" * 5000 + b"K\1u.", "a key is nested too deep"),
        (b"\x80\x02}(" + b"K\1q\0" + b"".join(b"\x86q%c" % i for i in ()) + b"]K\1u.", "damaged"),
        (b"\x80\x02}(K\1" + b"q\0h\0\x86" * 60 + b"K\1u.", "a key is nested too deep or too large"),
        (b"\x80\x02\x93.", "Unsupported operand 147"),
        (b"\x80\xff\x93.", "Unsupported operand 147"),
        (b"\x80\x02K\1Q.", "persistent_load id must be tuple"),
        (b"\x80\x02X\6\0\0\0moduleK\1\x86Q.", "Only persistent_load of storage is allowed"),
        (b"\x80\x02ctorch._utils\n_rebuild_qtensor\n)R.", "a tensor that is quantized"),
        (
            b"\x80\x02(X\7\0\0\0storagectorch\nQInt8Storage\nX\1\0\0\0aX\3\0\0\0cpuK\1tQ.",
            "a tensor that is quantized",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:Detected pickle protocol 255")
def test_pickles_that_are_not_admitted(pickled: bytes, message: str | None) -> None:
    if message is None:
        assert wengert.load(archive_of(pickled)) == []
        return
    with pytest.raises(CLEAR, match=message):
        wengert.load(archive_of(pickled))


def test_a_dtype_that_wengert_lacks_is_named() -> None:
    """The file is good, as PyTorch writes it: it is not called damaged."""
    storage = b"(X\7\0\0\0storagectorch.storage\nUntypedStorage\nX\1\0\0\0\x30X\3\0\0\0cpuK\1tQ"
    pickled = b"\x80\x02ctorch._utils\n_rebuild_tensor_v3\n(" + storage
    pickled += b"K\0K\1\x85K\1\x85\x89Nctorch\nfloat8_e5m2\ntR."
    for weights_only in (True, False):
        with pytest.raises(NotImplementedError, match=r"a tensor of torch\.float8_e5m2: wengert has no such tensors"):
            wengert.load(archive_of(pickled, data_0=b"a"), weights_only=weights_only)


def test_messages_of_long_names_are_short() -> None:
    storage = b"(X\7\0\0\0storagectorch\nFloatStorage\nX" + struct.pack("<I", 60_000) + b"x" * 60_000
    for names in ([], ["x" * 60_000] * 2):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a name that is there twice
            archive.writestr("a/data.pkl", b"\x80\x02" + storage + b"X\3\0\0\0cpuK\1tQ.")
            for name in names:
                archive.writestr("a/" + name, b"")
        file.seek(0)
        with pytest.raises(RuntimeError) as caught:
            wengert.load(file)
        assert len(str(caught.value)) < 1500


@pytest.mark.parametrize(
    "call",
    [
        b"cbuiltins\nbytearray\nh\0\x85R",
        b"c_codecs\nencode\nh\1h\2\x86R",
        b"cbuiltins\nset\nh\3\x85R",
        b"ccollections\nOrderedDict\n)Rh\4b",
        b"ccollections\nCounter\nh\4\x85R",
    ],
)
def test_one_long_argument_in_many_calls(call: bytes) -> None:
    """A file of a few hundred kilobytes that would take some gigabytes."""
    text = b"X" + struct.pack("<I", 100_000) + b"a" * 100_000
    start = b"\x80\x02](c_codecs\nencode\n" + text + b"q\1X\6\0\0\0latin1q\2\x86Rq\0"
    items = b"](" + b"".join(b"J" + struct.pack("<i", i) for i in range(20_000)) + b"eq\3"
    table = b"}(" + b"".join(b"X\5\0\0\0k%04xK\1" % i for i in range(20_000)) + b"uq\4"
    tracemalloc.start()
    try:
        with pytest.raises(pickle.UnpicklingError, match="much more memory than the file has bytes"):
            wengert.load(archive_of(start + items + table + call * 10_000 + b"e."))
        assert tracemalloc.get_traced_memory()[1] < 1 << 26
    finally:
        tracemalloc.stop()


def test_attributes_cannot_replace_a_tensors_own() -> None:
    good = saved(objects(wengert)["marked"])
    for name in ("_payload", "__class__", "add_", "data"):
        with zipfile.ZipFile(good) as archive:
            pickled = archive.read("archive/data.pkl")
            data = archive.read("archive/data/0")
        bad = pickled.replace(b"X\3\0\0\0tag", b"X" + struct.pack("<I", len(name)) + name.encode())
        assert bad != pickled
        with pytest.raises(pickle.UnpicklingError, match="cannot be set from a file"):
            wengert.load(archive_of(bad, data_0=data))


def test_long_plain_containers(torch: ModuleType) -> None:
    numbers = [*range(200), 2.5, None, True, "text", (1, "a")]
    table = {f"key {i}": (i, i / 3) for i in range(200)}
    mixed = [*range(200), (1, [2])]
    want = {"numbers": numbers, "again": numbers, "table": table, "mixed": mixed, "nested": [*range(99), ((1,),)]}
    for protocol in (2, 4):
        for got in (
            wengert.load(saved(want, pickle_protocol=protocol), weights_only=protocol == 2),
            torch.load(saved(want, pickle_protocol=protocol), weights_only=protocol == 2),
        ):
            assert got == want and got["again"] is got["numbers"]


def test_a_list_that_holds_itself_is_fine() -> None:
    cycle: list[Any] = [1]
    cycle.append(cycle)
    got = again(cycle)
    assert got[1] is got


def test_deep_nesting_loads_without_recursion() -> None:
    got = wengert.load(archive_of(b"\x80\x02" + b"](" * 20_000 + b"e" * 20_000 + b"."))
    for _ in range(20_000):
        assert len(got) in (0, 1)
        got = got[0] if got else got


def zip_with(*entries: tuple[str, bytes], method: int = zipfile.ZIP_STORED, version: bool = True) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in entries:
            archive.writestr(name, data)
        if version and "archive/version" not in archive.namelist():
            archive.writestr("a/version", b"3\n")
    file.seek(0)
    return file


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_archives_that_are_not_admitted(torch: ModuleType) -> None:
    pickled = tensor_pickle(4, 0, (4,), (1,))
    with pytest.raises(RuntimeError, match="is compressed in a way that PyTorch does not read either"):
        wengert.load(zip_with(("a/data.pkl", pickled), method=zipfile.ZIP_LZMA))
    with pytest.raises(RuntimeError, match="is compressed, and would be much larger than the file"):
        wengert.load(zip_with(("a/data.pkl", pickled), ("a/data/1", bytes(3 << 20)), method=zipfile.ZIP_DEFLATED))
    with pytest.raises(RuntimeError, match="is there twice"):
        wengert.load(zip_with(("a/data.pkl", pickled), ("a/data.pkl", pickled)))
    with pytest.raises(RuntimeError, match="file not found"):
        wengert.load(zip_with(("a/other.pkl", pickled)))
    with pytest.raises(RuntimeError, match="not in a subdirectory"):
        wengert.load(zip_with(("data.pkl", pickled)))
    with pytest.raises(RuntimeError, match="TorchScript"):
        wengert.load(zip_with(("a/data.pkl", pickled), ("a/constants.pkl", b""), method=zipfile.ZIP_DEFLATED))
    for lib in (wengert, torch):
        with pytest.raises(RuntimeError, match=r'Expected hasRecord\("version"\) to be true, but got false\.'):
            lib.load(zip_with(("a/data.pkl", b"\x80\x02K\1."), version=False), weights_only=False)
    data = bytearray(saved(wengert.ones(4)).getvalue())
    data[data.index(np.ones(4, "<f4").tobytes())] ^= 1
    with pytest.raises(RuntimeError, match="the checksum of record 'data/0' is wrong"):
        wengert.load(io.BytesIO(bytes(data)))


def test_an_archive_that_was_packed_again(torch: ModuleType, tmp_path: Path) -> None:
    """Browsers unpack what they load; who packs it again compresses it and has an entry for the folder."""
    with zipfile.ZipFile(saved(views(wengert, "float32"))) as archive:
        entries = [("archive/", b""), *((name, archive.read(name)) for name in archive.namelist())]
    file = zip_with(*entries, method=zipfile.ZIP_DEFLATED)
    (tmp_path / "again.pt").write_bytes(file.getvalue())
    want = torch.load(tmp_path / "again.pt")
    for got in (wengert.load(file), wengert.load(tmp_path / "again.pt", mmap=True)):
        for name, tensor in want.items():
            assert_same(got[name], tensor)


@pytest.mark.parametrize("lie", ["too small", "too large", "bytes"])
def test_compressed_records_that_lie(lie: str) -> None:
    data = bytearray(zip_with(("a/data.pkl", b"\x80\x02K\1."), method=zipfile.ZIP_DEFLATED).getvalue())
    entry = data.index(b"PK\1\2")
    if lie == "bytes":
        data[40] ^= 255
    else:
        data[entry + 24 : entry + 28] = struct.pack("<I", 4 if lie == "too small" else 2**20)
    with pytest.raises(RuntimeError, match=r"record 'data.pkl' (cannot be decompressed|is wrong)|checksum"):
        wengert.load(io.BytesIO(data))


def test_records_on_the_same_bytes() -> None:
    data = saved([wengert.zeros(4), wengert.ones(4)]).getvalue()
    start = data.rindex(b"PK\1\2", 0, data.index(b"archive/data/1", data.index(b"PK\1\2")))
    other = data.rindex(b"PK\1\2", 0, data.index(b"archive/data/0", data.index(b"PK\1\2")))
    bad = data[: start + 42] + data[other + 42 : other + 46] + data[start + 46 :]
    with pytest.raises(RuntimeError, match=r"header of record 'data/1' is wrong|header of record 'archive/data/1'"):
        wengert.load(io.BytesIO(bad))


def test_files_of_other_kinds(torch: ModuleType) -> None:
    for data in (b"", b"abc", b"PK\3\4", b"\x80\x02K\1.", b"\x89HDF\r\n\x1a\n" + b"x" * 600):
        with pytest.raises(CLEAR):
            wengert.load(io.BytesIO(data))
    for lib in (wengert, torch):
        with pytest.raises(RuntimeError, match="Invalid magic number; corrupt file"):
            lib.load(io.BytesIO(pickle.dumps([1, 2], 2)), weights_only=True)
        with pytest.raises(EOFError):
            lib.load(io.BytesIO(b""))


GOOD = {
    "b": wengert.arange(6.0).reshape(2, 3),
    "c": wengert.arange(6.0).to(wengert.int16),
    "d": [1, "text", wengert.nn.Parameter(wengert.ones(2))],
}
NEW, OLD = saved(GOOD).getvalue(), saved(GOOD, _use_new_zipfile_serialization=False).getvalue()


def assert_clear_or_well_formed(data: bytes) -> None:
    """And no memory is taken on the word of a file of a few kilobytes."""
    tracemalloc.start()
    try:
        got = wengert.load(io.BytesIO(data))
    except CLEAR:
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
        return
    finally:
        tracemalloc.stop()
    assert repr(got)  # what it is can be looked at


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
@given(st.data(), st.booleans())
def test_a_file_that_was_changed_is_a_clear_error_or_well_formed(draw: Any, old: bool) -> None:
    data = bytearray(OLD if old else NEW)
    for _ in range(draw.draw(st.integers(1, 3))):
        data[draw.draw(st.integers(0, len(data) - 1))] = draw.draw(st.integers(0, 255))
    assert_clear_or_well_formed(bytes(data))


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
@given(st.data())
def test_a_pickle_that_was_changed_is_a_clear_error_or_well_formed(draw: Any) -> None:
    with zipfile.ZipFile(io.BytesIO(NEW)) as archive:
        data = bytearray(archive.read("archive/data.pkl"))
        parts = {name[8:].replace("/", "_"): archive.read(name) for name in archive.namelist() if "/data/" in name}
    for _ in range(draw.draw(st.integers(1, 4))):
        place = draw.draw(st.integers(0, len(data) - 1))
        data[place : place + draw.draw(st.integers(0, 2))] = draw.draw(st.binary(max_size=3))
    assert_clear_or_well_formed(archive_of(bytes(data), **parts).getvalue())


@pytest.mark.parametrize("old", [False, True])
def test_a_file_that_was_cut_is_a_clear_error(old: bool) -> None:
    data = OLD if old else NEW
    for size in range(0, len(data), 3):
        with pytest.raises(CLEAR):
            wengert.load(io.BytesIO(data[:size]))


def test_old_streams_that_lie() -> None:
    def stream(*parts: Any, tail: bytes = b"") -> io.BytesIO:
        head = [0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}]
        return io.BytesIO(b"".join(p if isinstance(p, bytes) else pickle.dumps(p, 2) for p in (*head, *parts)) + tail)

    def tensor(count: int) -> bytes:
        return tensor_pickle(count, 0, (2,), (1,)).replace(b"tQ", b"NtQ", 1)

    good = struct.pack("<q", 2) + np.ones(2, "<f4").tobytes()
    assert wengert.load(stream(tensor(2), ["0"], tail=good)).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="larger than the file"):
        wengert.load(stream(tensor(2**40), ["0"], tail=good))
    with pytest.raises(RuntimeError, match="the file says 3"):
        wengert.load(stream(tensor(2), ["0"], tail=struct.pack("<q", 3) + bytes(12)))
    with pytest.raises(RuntimeError, match="list of storages"):
        wengert.load(stream(tensor(2), [], tail=good))
    with pytest.raises(RuntimeError, match="unexpected end of file"):
        wengert.load(stream(tensor(2), ["0"], tail=good[:-1]))
    with pytest.raises(RuntimeError, match="Invalid protocol version"):
        wengert.load(io.BytesIO(pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(7, 2)))


def test_the_tar_format(torch: ModuleType, tmp_path: Path) -> None:
    """As PyTorch before 0.1.10 wrote it; the writer stands nowhere any more, so the file is made by hand."""
    storage = pickle.dumps(1, 2) + b"\x80\x02(X\1\0\0\x007X\3\0\0\0cpuctorch\nFloatStorage\nt." + struct.pack("<q", 6)
    storage += np.arange(6, dtype="<f4").tobytes() + pickle.dumps([], 2)
    tensor = pickle.dumps(1, 2) + b"\x80\x02(K\5X\1\0\0\x007ctorch\nFloatTensor\nt."
    tensor += struct.pack("<iiqqqqq", 2, 0, 2, 2, 3, 1, 1)
    path = tmp_path / "old.pt"
    with tarfile.open(path, "w") as tar:
        for name, data in (("storages", storage), ("tensors", tensor), ("pickle", b"\x80\x02]K\5Qa.")):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    with pytest.raises(RuntimeError, match=r"files saved in the legacy .tar format"):
        wengert.load(path)
    got = wengert.load(path, weights_only=False)
    assert got[0].tolist() == [[1, 2], [4, 5]] == torch.load(path, weights_only=False)[0].tolist()


def test_an_archive_reads_what_zipfile_writes() -> None:
    archive = Archive(zip_with(("a/one", b"1"), ("a/two", b"22")))
    assert archive.read("one") == b"1" and archive.find("two").size == 2 and "three" not in archive


# --------------------------------------------------------------------------------------- programs under their own name
PROGRAM = """
import pickle, sys
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        return self.layer(x)


if __name__ == "__main__":
    folder = sys.argv[1]
    if len(sys.argv) > 2:
        net = torch.load(f"{folder}/net.pt", weights_only=False)
        print(torch.load(f"{folder}/state.pt")["layer.bias"].shape, net(torch.zeros(1, 2)).shape)
        with open(f"{folder}/plain.pkl", "rb") as file:
            print(pickle.load(file))
    else:
        net = Net()
        torch.save(net, f"{folder}/net.pt")
        torch.save(net.state_dict(), f"{folder}/state.pt")
        with open(f"{folder}/plain.pkl", "wb") as file:
            pickle.dump({"a": torch.arange(3), "p": nn.Parameter(torch.ones(1)), "s": torch.Size([2])}, file)
"""
PRINTED = (
    "torch.Size([2]) torch.Size([1, 2])\n"
    "{'a': tensor([0, 1, 2]), 'p': Parameter containing:\ntensor([1.], requires_grad=True), 's': torch.Size([2])}\n"
)


def run_program(folder: Path, *arguments: str) -> str:
    path = folder / "program.py"
    path.write_text(PROGRAM)
    command = [sys.executable, "-m", "wengert", "run", path, folder, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_a_program_reads_what_it_wrote_on_torch(
    torch: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)
    monkeypatch.setattr(sys, "argv", ["program.py", str(tmp_path)])
    exec(compile(PROGRAM, "program.py", "exec"), vars(main))
    assert sys.modules["torch"] is torch and run_program(tmp_path, "read") == PRINTED


def test_a_program_reads_what_it_wrote_here(tmp_path: Path) -> None:
    assert run_program(tmp_path) == "" and run_program(tmp_path, "read") == PRINTED


def test_names_of_functions_are_pytorchs_whatever_was_imported_under_the_alias(tmp_path: Path) -> None:
    """`wengert run` renames what it imports as torch: a second file named functions that PyTorch does not have."""
    (tmp_path / "program.py").write_text("""if True:
        import io, pickletools, zipfile
        import torch
        def names():
            buffer = io.BytesIO()
            torch.save({"dtype": torch.float32, "layout": torch.strided}, buffer)
            archive = zipfile.ZipFile(buffer)
            data = archive.read(next(name for name in archive.namelist() if name.endswith("data.pkl")))
            return [value for code, value, _ in pickletools.genops(data) if code.name == "GLOBAL"]
        first = names()
        import torch._utils
        assert first == names() == ["torch float32", "torch.serialization _get_layout"], names()
    """)
    subprocess.run([sys.executable, "-m", "wengert", "run", tmp_path / "program.py"], check=True, capture_output=True)
