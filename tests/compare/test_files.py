"""PyTorch and wengert read each other's files: every kind of object, every format, mapped into memory too."""

from __future__ import annotations

import functools
import importlib
import io
import itertools
from typing import Any

import pytest
from saving.fuzzing import objects

import wengert

pytestmark = pytest.mark.filterwarnings(
    "ignore:Sparse", "ignore:TypedStorage is deprecated", "ignore:The PyTorch API of nested tensors"
)
KINDS = len(objects(wengert))
RATES = {
    "triangular": pytest.approx([0.15, 0.2, 0.15, 0.1, 0.15, 0.2]),
    "triangular2": pytest.approx([0.15, 0.2, 0.15, 0.1, 0.125, 0.15]),
    "exp_range": pytest.approx([0.125, 0.125, 0.10625, 0.1, 0.1015625, 0.1015625]),
}
LAZY = (2, 3)  # conjugates and negatives, which PyTorch computes later: their strides are other ones


def as_told(lib: Any, obj: Any, strides: bool = True) -> Any:
    """What an object is, without its library: text, types, and of tensors layout, flags and bytes."""
    if isinstance(obj, lib.Tensor) and obj.is_nested:
        flags = str(obj.dtype), str(obj.layout), obj.requires_grad, obj.is_contiguous(), getattr(obj, "tag", None)
        return flags, [as_told(lib, part.detach()) for part in obj.unbind()]
    if isinstance(obj, lib.Tensor):
        flags = (
            type(obj).__name__,
            str(obj.dtype),
            tuple(obj.shape),
            str(obj.layout),
            str(obj.device),
            obj.requires_grad,
        )
        if obj.is_sparse:
            return flags, obj.is_coalesced(), [as_told(lib, part) for part in (obj._indices(), obj._values())]
        if obj.layout is not lib.strided:
            names = (
                ("crow_indices", "col_indices")
                if obj.layout in (lib.sparse_csr, lib.sparse_bsr)
                else ("ccol_indices", "row_indices")
            )
            return flags, [as_told(lib, getattr(obj, name)(), False) for name in (*names, "values")]
        elements = None if obj.is_meta else obj.resolve_conj().resolve_neg().tolist()
        place = (obj.stride(), obj.storage_offset()) if strides else None
        return flags, place, elements, as_told(lib, getattr(obj, "tag", None))
    if isinstance(obj, dict):
        items = [(as_told(lib, k), as_told(lib, v)) for k, v in obj.items()]
        return type(obj).__name__, items, as_told(lib, getattr(obj, "_metadata", None))
    if isinstance(obj, (list, tuple)):
        return type(obj).__name__, [as_told(lib, item) for item in obj]
    return type(obj).__name__, str(obj)


def _is_read(torch: Any, writer: Any, obj: Any) -> bool:
    """Whether PyTorch reads an object in the old form: some it writes and cannot read, or reads before it is there."""
    if not isinstance(obj, writer.Tensor):
        return True
    if obj.is_nested:
        return obj.layout is not writer.strided
    return writer is not torch or obj.dtype is not torch.uint16


@pytest.mark.parametrize("form", ["zip", "mapped", "stream"])
@pytest.mark.parametrize("kind", range(KINDS))
def test_every_kind_of_file_both_ways(torch: Any, tmp_path: Any, kind: int, form: str) -> None:
    told = []
    for writer in (torch, wengert):
        obj = objects(writer)[kind]
        path = tmp_path / f"{writer.__name__}.pt"
        writer.save(obj, path, _use_new_zipfile_serialization=form != "stream")
        for reader in (torch, wengert):
            if reader is torch and form == "stream" and not _is_read(torch, writer, obj):
                continue
            with torch.serialization.safe_globals([frozenset]):
                got = reader.load(path, mmap=form == "mapped")
            told.append(as_told(reader, got, kind not in LAZY))
    for other in told[1:]:
        assert other == told[0]


def test_views_share_memory_in_what_the_other_reads(torch: Any) -> None:
    for writer, reader in ((torch, wengert), (wengert, torch)):
        for zipped in (True, False):
            x = writer.arange(6.0)
            file = io.BytesIO()
            writer.save({"x": x, "tail": x[4:], "table": x.view(2, 3).t()}, file, _use_new_zipfile_serialization=zipped)
            file.seek(0)
            got = reader.load(file)
            got["x"].mul_(10)
            assert got["tail"].tolist() == [40, 50] and got["table"].tolist() == [[0, 30], [10, 40], [20, 50]]
            assert got["table"].stride() == (1, 3) and got["tail"].storage_offset() == 4


def test_modules_and_optimizers_with_code(torch: Any) -> None:
    """``weights_only=False``: whole objects."""
    for writer, reader in ((torch, wengert), (wengert, torch)):
        module = writer.nn.Sequential(writer.nn.Linear(2, 3), writer.nn.ReLU(), writer.nn.LSTM(3, 2))
        optimizer = writer.optim.Adam(module.parameters(), lr=0.5)
        module[0](writer.ones(1, 2)).sum().backward()
        optimizer.step()
        for zipped in (True, False):
            file = io.BytesIO()
            writer.save(
                {"module": module, "state": optimizer.state_dict()}, file, _use_new_zipfile_serialization=zipped
            )
            file.seek(0)
            got = reader.load(file, weights_only=False)
            assert str(got["module"]) == str(module)
            assert got["module"][0].weight.tolist() == module[0].weight.tolist()
            reader.optim.Adam(got["module"].parameters()).load_state_dict(got["state"])


@pytest.mark.filterwarnings("ignore:Seems like `optimizer.step")  # of a loaded optimizer, in PyTorch
def test_what_pickles_find_by_name(torch: Any) -> None:
    """``weights_only=False``: functions, those of a schedule, and what a graph is made of."""
    for writer, reader in itertools.product((torch, wengert), repeat=2):
        schedules = []
        for mode in ("triangular", "triangular2", "exp_range"):
            optimizer = writer.optim.SGD([writer.nn.Parameter(writer.ones(1))], 0.1, momentum=0.9)
            schedules.append(writer.optim.lr_scheduler.CyclicLR(optimizer, 0.1, 0.2, 2, mode=mode, gamma=0.5))
        graph = importlib.import_module(f"{writer.__name__}.fx").symbolic_trace(writer.nn.ReLU()).graph
        file = io.BytesIO()
        writer.save([schedules, graph, writer.tanh, functools.partial(writer.add, alpha=3)], file)
        file.seek(0)
        schedules, again, tanh, add = reader.load(file, weights_only=False)
        assert str(again) == str(graph) and tanh is reader.tanh and add(reader.ones(1), 2).item() == 7
        for schedule in schedules:
            rates = []
            for _ in range(6):
                schedule.optimizer.step()
                schedule.step()
                rates += schedule.get_last_lr()
            assert rates == RATES[schedule.mode]
