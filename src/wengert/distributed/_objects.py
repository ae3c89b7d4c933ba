"""Collectives and messages of Python objects, as pickles: only from ranks of the same program.

A pickle can run code, so these are as trustworthy as the ranks are.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np

import wengert as torch

from .._base.errors import noted
from .._tape.tensor import Tensor, wrap
from . import distributed_c10d as c10d

__all__ = [
    "all_gather_object", "broadcast_object_list", "gather_object", "recv_object_list", "scatter_object_list",
    "send_object_list",
]  # fmt: skip


def _pickled(obj: Any) -> np.ndarray:
    file = io.BytesIO()
    pickle.Pickler(file, 5).dump(obj)
    return np.frombuffer(bytearray(file.getbuffer()), np.uint8)


def _numbers(values: Any) -> Tensor:
    return wrap(np.array(values, np.int64))


def _bytes(count: Any) -> Tensor:
    return torch.empty(int(count), dtype=torch.uint8)  # which refuses numbers that are none of bytes


def _objects(data: Tensor, sizes: Tensor) -> list[Any]:
    memory, found, start = memoryview(data._payload), [], 0
    for size in sizes._payload.tolist():
        if not 0 <= size <= len(memory) - start:
            raise RuntimeError(f"a rank has sent an object of {size} bytes, of which {len(memory) - start} have come")
        found.append(pickle.loads(memory[start : start + size]))
        start += size
    return found


def _padded(array: np.ndarray, count: int) -> Tensor:
    whole = np.zeros(count, np.uint8)
    whole[: array.size] = array
    return wrap(whole)


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """Gather an object of every rank's in ``object_list``, on every rank."""
    if c10d._outside(group, "all_gather_object"):
        return
    data, n = _pickled(obj), c10d.get_world_size(group)
    sizes = [_numbers([0]) for _ in range(n)]
    c10d.all_gather(sizes, _numbers([data.size]), group)
    most = max(int(size) for size in sizes)
    rows = [_bytes(most) for _ in range(n)]
    c10d.all_gather(rows, _padded(data, most), group)
    for i, (row, size) in enumerate(zip(rows, sizes, strict=True)):
        object_list[i] = _objects(row, size)[0]


def gather_object(
    obj: Any, object_gather_list: list[Any] | None = None, dst: int | None = None, group: Any = None,
    group_dst: int | None = None,
) -> None:  # fmt: skip
    """Gather an object of every rank's in ``object_gather_list``, on rank ``dst``."""
    if c10d._outside(group, "gather_object"):
        return
    pg = c10d._group_or_default_group(group)
    root = c10d._canonicalize_group_rank(pg, dst, group_dst, 0)
    c10d._check_root_list(pg.rank() == root, object_gather_list)
    data = _pickled(obj)
    sizes = [_numbers([0]) for _ in range(pg.size())]
    c10d.all_gather(sizes, _numbers([data.size]), pg)
    most = max(int(size) for size in sizes)
    rows = [_bytes(most) for _ in range(pg.size())] if pg.rank() == root else None
    c10d.gather(_padded(data, most), rows, None, pg, False, root)
    if rows is not None and object_gather_list is not None:
        for i, (row, size) in enumerate(zip(rows, sizes, strict=True)):
            object_gather_list[i] = _objects(row, size)[0]


def broadcast_object_list(
    object_list: list[Any], src: int | None = None, group: Any = None, device: Any = None, group_src: int | None = None
) -> None:
    """Copy the objects of rank ``src`` to the lists of the others, which are as long."""
    if c10d._outside(group, "broadcast_object_list"):
        return
    pg = c10d._group_or_default_group(group)
    root = c10d._canonicalize_group_rank(pg, src, group_src, 0)
    here = pg.rank() == root
    parts = [_pickled(obj) for obj in object_list] if here else []
    sizes = _numbers([part.size for part in parts] if here else [0] * len(object_list))
    c10d.broadcast(sizes, None, pg, False, root)
    data = wrap(np.concatenate([*parts, np.empty(0, np.uint8)])) if here else _bytes(sizes.sum())
    c10d.broadcast(data, None, pg, False, root)
    if not here:
        object_list[:] = _objects(data, sizes)


def scatter_object_list(
    scatter_object_output_list: list[Any], scatter_object_input_list: list[Any] | None = None, src: int | None = None,
    group: Any = None, group_src: int | None = None,
) -> None:  # fmt: skip
    """Give each rank one object of the list that rank ``src`` has."""
    if c10d._outside(group, "scatter_object_list"):
        return
    if not isinstance(scatter_object_output_list, list) or len(scatter_object_output_list) < 1:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    pg = c10d._group_or_default_group(group)
    root = c10d._canonicalize_group_rank(pg, src, group_src, 0)
    here = pg.rank() == root
    if here and scatter_object_input_list is None:
        raise ValueError("source rank must provide non-None scatter_object_input_list")
    parts = [_pickled(obj) for obj in scatter_object_input_list or []] if here else []
    most = _numbers([max((part.size for part in parts), default=0)])
    c10d.broadcast(most, None, pg, False, root)
    data, size = _bytes(most), _numbers([0])
    c10d.scatter(data, [_padded(part, int(most)) for part in parts] if here else None, None, pg, False, root)
    c10d.scatter(size, [_numbers([part.size]) for part in parts] if here else None, None, pg, False, root)
    scatter_object_output_list[0] = _objects(data, size)[0]


def send_object_list(
    object_list: list[Any], dst: int | None = None, group: Any = None, device: Any = None,
    group_dst: int | None = None, use_batch: bool = False,
) -> None:  # fmt: skip
    """Send objects to rank ``dst``."""
    if c10d._outside(group, "send_object_list"):
        return
    pg = c10d._group_or_default_group(group)
    peer = c10d._canonicalize_group_rank(pg, dst, group_dst)
    parts = [_pickled(obj) for obj in object_list]
    c10d.send(_numbers([part.size for part in parts]), None, pg, 0, peer)
    c10d.send(wrap(np.concatenate([*parts, np.empty(0, np.uint8)])), None, pg, 0, peer)


def recv_object_list(
    object_list: list[Any], src: int | None = None, group: Any = None, device: Any = None,
    group_src: int | None = None, use_batch: bool = False,
) -> int:  # fmt: skip
    """Receive objects from rank ``src``, as many as the list is long; returns the sender's rank."""
    if c10d._outside(group, "recv_object_list"):
        return -1
    pg = c10d._group_or_default_group(group)
    sizes = _numbers([0] * len(object_list))
    if src is None and group_src is None:
        raise noted(ValueError("Must specify global_rank or group_rank"))
    peer = c10d._canonicalize_group_rank(pg, src, group_src)
    c10d._check_not_self_rank(pg, peer, "source")
    c10d.recv(sizes, None, pg, 0, peer)
    data = _bytes(sizes.sum())
    c10d.recv(data, None, pg, 0, peer)
    object_list[:] = _objects(data, sizes)
    return c10d.get_global_rank(pg, peer)
