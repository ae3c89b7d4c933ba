"""torch.distributed.checkpoint in one process: a kill at any moment, parts of tensors, hostile files."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pickle
import random
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import wengert as torch
from wengert.distributed import checkpoint as dcp
from wengert.distributed.checkpoint import filesystem, metadata
from wengert.distributed.checkpoint._nested import flatten_state_dict, unflatten_state_dict
from wengert.distributed.checkpoint.format_utils import dcp_to_torch_save, torch_save_to_dcp
from wengert.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_optimizer_state_dict,
    get_state_dict,
    set_optimizer_state_dict,
    set_state_dict,
)
from wengert.distributed.checkpoint.state_dict_loader import whole


def state(value: float = 1.0) -> dict[str, Any]:
    return {
        "model": {"weight": torch.full((3, 2), value), "bias": torch.full((), value, dtype=torch.float64)},
        "groups": [{"lr": value, "betas": (0.9, value)}, {"lr": 0.5}],
        "steps": [torch.full((2,), int(value)), "text"],
        "plain": [1, 2, int(value)],
        "epoch": int(value),
    }


def test_a_state_is_read_as_it_was_written(tmp_path: Path) -> None:
    dcp.save(state(3.0), checkpoint_id=tmp_path)
    read = state(0.0)
    weight = read["model"]["weight"]
    dcp.load(read, checkpoint_id=tmp_path)
    assert read["model"]["weight"] is weight
    assert str(read) == str(state(3.0)) == str(whole(dcp.FileSystemReader(tmp_path)))
    flat, paths = flatten_state_dict(state(3.0))
    assert str(unflatten_state_dict(flat, paths)) == str(state(3.0))
    assert set(flat) == set(dcp.FileSystemReader(tmp_path).read_metadata().state_dict_metadata)


def test_views_are_written_without_the_rest_of_their_memory(tmp_path: Path) -> None:
    dcp.save({"row": torch.zeros(1000, 1000)[3]}, checkpoint_id=tmp_path)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 20_000


def test_a_state_that_holds_itself_is_an_error(tmp_path: Path) -> None:
    looped: dict[str, Any] = {}
    looped["again"] = looped
    with pytest.raises(RecursionError, match="nested more than"):
        flatten_state_dict(looped)
    deep: dict[str, Any] = {"x": torch.ones(1)}
    for _ in range(98):
        deep = {"x": deep}
    dcp.save(deep, checkpoint_id=tmp_path)
    assert str(whole(dcp.FileSystemReader(tmp_path))) == str(deep)
    with pytest.raises(dcp.api.CheckpointException, match="nested more than"):  # it could not be read
        dcp.save({"x": deep}, checkpoint_id=tmp_path)


def test_parts_may_lie_in_any_way() -> None:
    wheel = [((0, 0), (1, 2)), ((0, 2), (2, 1)), ((2, 1), (1, 2)), ((1, 0), (2, 1)), ((1, 1), (1, 1)), ((3, 3), (0, 0))]
    parts = [metadata.ChunkStorageMetadata(torch.Size(begin), torch.Size(n)) for begin, n in wheel]
    assert filesystem._tiled(torch.Size((3, 3)), parts)
    parts[4] = parts[0]  # its volume fits, its place does not
    parts[0] = metadata.ChunkStorageMetadata(torch.Size((0, 0)), torch.Size((1, 1)))
    assert not filesystem._tiled(torch.Size((3, 3)), parts)


def test_parts_of_a_tensor_are_put_together(tmp_path: Path) -> None:
    """As several processes write a sharded tensor."""
    writer, size = dcp.FileSystemWriter(tmp_path), torch.Size
    rows = torch.arange(12.0).reshape(4, 3)
    places = {}
    for rank in (0, 1):
        index = dcp.MetadataIndex("rows", (2 * rank, 0))
        places.update(writer.write(rank, 0, [(index, rows[2 * rank : 2 * rank + 2])]))
    chunks = [metadata.ChunkStorageMetadata(size((2 * r, 0)), size((2, 3))) for r in (0, 1)]
    entry = metadata.TensorStorageMetadata(metadata.TensorProperties(torch.float32), size((4, 3)), chunks)
    writer.finish(metadata.Metadata({"rows": entry}, {"rows": ("rows",)}, places))
    read = {"rows": torch.zeros(4, 3)}
    dcp.load(read, checkpoint_id=tmp_path)
    assert torch.equal(read["rows"], rows)
    assert torch.equal(whole(dcp.FileSystemReader(tmp_path))["rows"], rows)


def test_one_file_and_back(tmp_path: Path) -> None:
    torch.save(state(2.0), tmp_path / "one.pt")
    torch_save_to_dcp(tmp_path / "one.pt", tmp_path / "many")
    dcp_to_torch_save(tmp_path / "many", tmp_path / "again.pt")
    assert str(torch.load(tmp_path / "again.pt")) == str(state(2.0))


KILLED = """
import os, sys
import wengert as torch
from wengert.distributed import checkpoint as dcp

folder, names = sys.argv[1], ("replace", "unlink", "fsync", "open", "listdir")
kept, calls = {name: getattr(os, name) for name in names}, 0

def counting(name, last):
    def call(*args, **kwargs):
        global calls
        calls += 1
        if calls > last:
            os._exit(9)
        return kept[name](*args, **kwargs)
    return call

for step in range(1, 200):
    child = os.fork()
    if not child:
        for name in names:
            setattr(os, name, counting(name, step))
        dcp.save({"a": torch.full((4,), float(step)), "b": [torch.full((2,), step), step]}, checkpoint_id=folder)
        os._exit(0)
    killed = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    state = {"a": torch.zeros(4), "b": [torch.zeros(2, dtype=torch.int64), 0]}
    if os.path.exists(os.path.join(folder, ".metadata")):
        dcp.load(state, checkpoint_id=folder)
        saved = state["b"][1]
        assert state["a"].tolist() == [float(saved)] * 4 and state["b"][0].tolist() == [saved] * 2, state
    if not killed:
        assert saved == step
        print(step, len(os.listdir(folder)))
        break
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_kill_at_any_moment_leaves_the_old_checkpoint_or_the_new(tmp_path: Path) -> None:
    """The process ends at the first, second, ... call of the system; what is read afterwards is one whole state."""
    program = textwrap.dedent(KILLED)
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    steps, files = map(int, done.stdout.split())
    assert steps > 8  # there were that many moments
    assert files == 2  # nothing is left of those that were killed


def test_a_folder_without_metadata_holds_no_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(dcp.CheckpointException) as caught:
        dcp.load({"a": torch.zeros(1)}, checkpoint_id=tmp_path)
    error, _ = caught.value.failures[0]
    assert isinstance(error, FileNotFoundError)


def test_what_does_not_fit_is_an_error_before_anything_is_written(tmp_path: Path) -> None:
    dcp.save({"a": torch.ones(2), "b": torch.ones(3), "c": 1}, checkpoint_id=tmp_path)
    for wrong, text in (
        ({"a": torch.zeros(2), "b": torch.zeros(4)}, r"Size mismatch between saved torch.Size\(\[3\]\)"),
        ({"a": torch.zeros(2), "x": 1}, "Missing key in checkpoint state_dict: x."),
        ({"a": torch.zeros(2), "c": torch.zeros(2)}, "c is a tensor here"),
    ):
        with pytest.raises(dcp.CheckpointException, match=text):
            dcp.load(wrong, checkpoint_id=tmp_path)
        assert wrong["a"].tolist() == [0, 0]
    some = {"a": torch.zeros(2), "x": 1}
    dcp.load(some, checkpoint_id=tmp_path, planner=dcp.DefaultLoadPlanner(allow_partial_load=True))
    assert (some["a"].tolist(), some["x"]) == ([1, 1], 1)
    with pytest.raises(RuntimeError, match="checkpoint_id"):
        dcp.save({}, storage_writer=None)
    with pytest.raises(dcp.CheckpointException, match="overwrite"):
        dcp.save({"a": 1}, storage_writer=dcp.FileSystemWriter(tmp_path, overwrite=False))


def test_async_save_writes_what_was_there_when_it_was_called(tmp_path: Path) -> None:
    value = {"a": torch.ones(3, requires_grad=True), "b": [1]}
    future = dcp.async_save(value, checkpoint_id=tmp_path)
    with torch.no_grad():
        value["a"].zero_()
    value["b"][0] = 2
    future.result()
    read = {"a": torch.zeros(3), "b": [0]}
    dcp.load(read, checkpoint_id=tmp_path)
    assert (read["a"].tolist(), read["b"]) == ([1, 1, 1], [1])


# -------------------------------------------------------------------------------------------------------- hostile files
def test_metadata_runs_no_code(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> Any:
            return os.system, ("true",)

    for protocol in (2, 4):
        (tmp_path / ".metadata").write_bytes(pickle.dumps(Evil(), protocol))
        with pytest.raises(pickle.UnpicklingError, match="blocked"):
            dcp.FileSystemReader(tmp_path).read_metadata()


def _parts(*places: tuple[int, int]) -> list[metadata.ChunkStorageMetadata]:
    return [metadata.ChunkStorageMetadata(torch.Size((begin,)), torch.Size((n,))) for begin, n in places]


def _with(change: Any) -> metadata.Metadata:
    size = torch.Size
    chunk = metadata.ChunkStorageMetadata(size((0,)), size((2,)))
    entry = metadata.TensorStorageMetadata(metadata.TensorProperties(torch.float32), size((2,)), [chunk])
    info = filesystem._StorageInfo("__0_0.distcp", 0, 10)
    made = metadata.Metadata({"a": entry}, {"a": ("a",)}, {metadata.MetadataIndex("a", (0,)): info})
    change(made, entry, chunk, info)
    return made


@pytest.mark.parametrize(
    "change",
    [
        lambda m, e, c, i: setattr(i, "relative_path", "../secret"),
        lambda m, e, c, i: setattr(i, "relative_path", "/etc/passwd"),
        lambda m, e, c, i: setattr(i, "relative_path", ".metadata"),
        lambda m, e, c, i: setattr(i, "offset", -1),
        lambda m, e, c, i: setattr(i, "length", 2.5),
        lambda m, e, c, i: setattr(c, "sizes", torch.Size((3,))),
        lambda m, e, c, i: setattr(c, "offsets", torch.Size((1,))),
        lambda m, e, c, i: setattr(c, "sizes", torch.Size((1,))),  # the other element would stay as it was
        lambda m, e, c, i: setattr(e, "chunks", []),
        lambda m, e, c, i: setattr(e, "chunks", _parts((0, 1), (0, 1))),  # one is there twice, the other is not
        lambda m, e, c, i: setattr(e, "chunks", _parts((0, 2), (1, 1))),
        lambda m, e, c, i: setattr(e, "chunks", None),
        lambda m, e, c, i: setattr(e, "properties", None),
        lambda m, e, c, i: setattr(m, "storage_data", []),
        lambda m, e, c, i: m.planner_data.update(a=("a", 10**9)),
        lambda m, e, c, i: m.planner_data.update(a=(1,)),
        lambda m, e, c, i: setattr(i, "relative_path", "a" * 300),
        lambda m, e, c, i: setattr(e, "chunks", [c] * 1000),
        lambda m, e, c, i: m.storage_data.update({metadata.MetadataIndex("b"): i}),  # a record read again and again
        lambda m, e, c, i: m.state_dict_metadata.update(b="no entry"),
        lambda m, e, c, i: m.storage_data.update({metadata.MetadataIndex("b", (1,) * 1000): i}),
        # a long list that many entries share
        lambda m, e, c, i: m.state_dict_metadata.update(b=dataclasses.replace(e, properties=e.properties)),
        lambda m, e, c, i: (setattr(c, "sizes", torch.Size((0,))), setattr(e, "chunks", [c] * 2)),
        lambda m, e, c, i: m.planner_data.update(b=m.planner_data["a"]),
    ],
)
def test_metadata_is_checked(tmp_path: Path, change: Any) -> None:
    (tmp_path / ".metadata").write_bytes(b"")
    with (tmp_path / ".metadata").open("wb") as file:
        filesystem.make_pickler(pickle, file, 2, filesystem.StorageTable()).dump(_with(change))
    with pytest.raises(pickle.UnpicklingError, match="damaged"):
        dcp.FileSystemReader(tmp_path).read_metadata()


# 60 levels that each hold the level below twice: it cannot be hashed nor shown in a lifetime
SHARED = b")q\0" + b"".join(b"h%c\x86q%c" % (i, i + 1) for i in range(60))


@pytest.mark.parametrize("call", [b"\x85R", b"\x85\x81"], ids=["reduce", "newobj"])
def test_a_tuple_is_neither_hashed_nor_shown(tmp_path: Path, call: bytes) -> None:
    for name in ("_MEM_FORMAT_ENCODING", *metadata.__all__):
        start = b"\x80\x02ctorch.distributed.checkpoint.metadata\n%s\n" % name.encode()
        (tmp_path / ".metadata").write_bytes(start + SHARED + call + b".")
        with pytest.raises(pickle.UnpicklingError, match="damaged"):
            dcp.FileSystemReader(tmp_path).read_metadata()


@pytest.mark.parametrize(
    ("index", "said"),
    [
        (metadata.MetadataIndex("a", (1,) * 1000), "a name"),  # hashed for each of many keys that share it
        (metadata.MetadataIndex(("a",)), "a name"),  # type: ignore[arg-type]
        (metadata.StorageMeta(*"abcd"), "an object's state"),
    ],
)
def test_what_would_be_hashed_or_copied_is_small(tmp_path: Path, index: Any, said: str) -> None:
    if type(index) is metadata.StorageMeta:
        vars(index).update({str(i): i for i in range(10)})
    with (tmp_path / ".metadata").open("wb") as file:
        filesystem.make_pickler(pickle, file, 2, filesystem.StorageTable()).dump(index)
    with pytest.raises(pickle.UnpicklingError, match=said):
        dcp.FileSystemReader(tmp_path).read_metadata()


def test_a_record_without_data_stands_for_nothing(tmp_path: Path) -> None:
    """A tensor without data, or a sparse one, of any size would be small in the file."""
    for kept in (torch.empty(2, 2, device="meta"), torch.eye(2).to_sparse(), torch.eye(2).to_sparse_csr()):
        dcp.save({"a": torch.ones(2, 2)}, checkpoint_id=tmp_path, no_dist=True)
        reader = dcp.FileSystemReader(tmp_path)
        made = reader.read_metadata()
        (info,) = made.storage_data.values()
        torch.save(kept, tmp_path / "other")
        info.relative_path, info.offset, info.length = "other", 0, (tmp_path / "other").stat().st_size
        with (tmp_path / ".metadata").open("wb") as file:
            filesystem.make_pickler(pickle, file, 2, filesystem.StorageTable()).dump(made)
        with pytest.raises(RuntimeError, match="holds something else"):
            whole(reader)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_or_a_folder_in_the_place_of_a_file_is_an_error(tmp_path: Path) -> None:
    dcp.save({"a": torch.ones(2, 2)}, checkpoint_id=tmp_path, no_dist=True)
    for name in ("__0_0.distcp", ".metadata"):
        for make in (os.mkfifo, os.mkdir):
            (tmp_path / name).unlink() if (tmp_path / name).is_file() else None
            make(tmp_path / name)
            with pytest.raises(pickle.UnpicklingError, match="is no file"):
                whole(dcp.FileSystemReader(tmp_path))
            (tmp_path / name).rmdir() if make is os.mkdir else (tmp_path / name).unlink()


def test_damaged_folders_raise_errors_of_loading(tmp_path: Path) -> None:
    draw = random.Random(5)
    dcp.save(state(), checkpoint_id=tmp_path)
    files = sorted(tmp_path.iterdir())
    for _ in range(400):
        path = draw.choice(files)
        whole_file = path.read_bytes()
        damaged = bytearray(whole_file)
        for _ in range(draw.choice((1, 3, 10))):
            at = draw.randrange(len(damaged))
            damaged[at : at + draw.randrange(4)] = bytes(draw.randrange(256) for _ in range(draw.randrange(4)))
        path.write_bytes(damaged)
        with contextlib.suppress(pickle.UnpicklingError, RuntimeError, EOFError):
            whole(dcp.FileSystemReader(tmp_path))
        path.write_bytes(whole_file)
    assert str(whole(dcp.FileSystemReader(tmp_path))) == str(state())


# -------------------------------------------------------------------------------------------------------- state dicts
def test_state_dicts_by_name() -> None:
    model = torch.nn.DataParallel(torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)))
    optimizer = torch.optim.Adam([{"params": model.module[1].parameters(), "lr": 0.1},
                                  {"params": model.module[0].parameters()}])  # fmt: skip
    weights, steps = get_state_dict(model, optimizer)
    assert list(weights) == ["0.weight", "0.bias", "1.weight", "1.bias"]
    assert [g["params"] for g in steps["param_groups"]] == [["1.weight", "1.bias"], ["0.weight", "0.bias"]]
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    weights, steps = get_state_dict(model, optimizer)
    other = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 1))
    fresh = torch.optim.Adam(other.parameters(), lr=5.0)  # all in one group
    set_state_dict(other, fresh, model_state_dict=weights, optim_state_dict=steps)
    assert torch.equal(other[0].weight, model.module[0].weight)
    assert torch.equal(fresh.state[other[0].weight]["exp_avg"], optimizer.state[model.module[0].weight]["exp_avg"])
    flat = StateDictOptions(flatten_optimizer_state_dict=True)
    again = torch.optim.Adam(other.parameters(), lr=5.0)
    set_optimizer_state_dict(other, again, get_optimizer_state_dict(other, fresh, options=flat), options=flat)
    assert str(again.state_dict()) == str(fresh.state_dict())
    with pytest.raises(ValueError, match="different number of parameter groups"):
        set_optimizer_state_dict(other, fresh, {"state": {}, "param_groups": []})


# -------------------------------------------------------------------------------------------------------- with PyTorch
@pytest.mark.compare
@pytest.mark.filterwarnings("ignore:torch.distributed is disabled")
def test_pytorch_reads_it_and_it_reads_pytorchs(torch: Any, tmp_path: Path) -> None:
    import torch.distributed.checkpoint as theirs

    import wengert

    dcp.save(state(4.0), checkpoint_id=tmp_path / "ours")
    read = {"model": {"weight": torch.zeros(3, 2)}, "groups": [{"lr": 0.0}], "epoch": 0}
    theirs.load(read, checkpoint_id=str(tmp_path / "ours"), no_dist=True)
    assert (
        str(read) == "{'model': {'weight': " + str(torch.full((3, 2), 4.0)) + "}, 'groups': [{'lr': 4.0}], 'epoch': 4}"
    )
    theirs.save({"a": {"b": torch.arange(3), "half": torch.ones(2, dtype=torch.bfloat16)}, "n": 7},
                checkpoint_id=str(tmp_path / "theirs"), no_dist=True)  # fmt: skip
    mine = whole(dcp.FileSystemReader(tmp_path / "theirs"))
    assert (mine["a"]["b"].tolist(), mine["a"]["half"].dtype, mine["n"]) == ([0, 1, 2], wengert.bfloat16, 7)
