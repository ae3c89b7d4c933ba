"""``save``: the states of all processes as one checkpoint.

Each process says what it has; the first decides who writes what. Tensors that several processes have are written by
one, the one with the fewest bytes so far; other objects by the lowest rank that has them.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import wengert as torch
from wengert import distributed as dist

from ..._base.errors import warn_once
from ..tensor import DTensor, _slice
from ._nested import flatten_state_dict
from .api import Together
from .filesystem import FileSystemWriter
from .metadata import (
    BytesStorageMetadata,
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    StorageMeta,
    TensorProperties,
    TensorStorageMetadata,
)
from .stateful import Stateful

__all__ = ["async_save", "save", "save_state_dict"]

_groups: dict[Any, Any] = {}  # for saving beside training: its collectives have a group of their own


def _plain(state_dict: Mapping[str, Any]) -> dict[str, Any]:
    """The states of objects in place of the objects."""
    return {k: v.state_dict() if isinstance(v, Stateful) else v for k, v in state_dict.items()}


def _checked(storage: Any, kind: Any, checkpoint_id: Any) -> Any:
    """A writer or a reader, whichever kind it is, for this folder; by default a new one."""
    if storage is None:
        if checkpoint_id is None:
            raise RuntimeError("`checkpoint_id` must be specificed if storage_reader/storage_writer is None.")
        return kind(checkpoint_id)
    if not isinstance(storage, kind):
        raise NotImplementedError(f"torch.distributed.checkpoint with a {type(storage).__name__}")
    storage.reset(checkpoint_id)
    return storage


def save(
    state_dict: Mapping[str, Any],
    *,
    checkpoint_id: Any = None,
    storage_writer: Any = None,
    planner: Any = None,
    process_group: Any = None,
    no_dist: bool = False,
    use_collectives: bool = True,
) -> Metadata:
    """Write a nested state of tensors and plain objects into the folder ``checkpoint_id``, called on all processes.

    A process that is killed while it writes leaves the folder's former checkpoint as it is. The files are PyTorch's.

    Parameters:
        state_dict: the state; an object with ``state_dict()`` and ``load_state_dict()`` in it gives its own.
        storage_writer: a ``FileSystemWriter``, in place of ``checkpoint_id``.
        process_group: the processes; all by default, or this one where no group has been made.
        no_dist: save from this process alone.

    Raises:
        CheckpointException: it failed on one of the processes, with the errors by rank.

    >>> import tempfile, wengert as torch
    >>> import wengert.distributed.checkpoint as dcp
    >>> folder = tempfile.mkdtemp()
    >>> _ = dcp.save({"weight": torch.ones(2), "epoch": 3}, checkpoint_id=folder, no_dist=True)
    >>> state = {"weight": torch.zeros(2), "epoch": 0}
    >>> dcp.load(state, checkpoint_id=folder, no_dist=True)
    >>> state
    {'weight': tensor([1., 1.]), 'epoch': 3}
    """
    writer = _checked(storage_writer, FileSystemWriter, checkpoint_id)
    return _save(_plain(state_dict), writer, Together(process_group, no_dist))


def _save(state_dict: Mapping[str, Any], writer: FileSystemWriter, together: Together) -> Metadata:
    flat, paths = {}, {}  # type: ignore[var-annotated]

    def tell() -> Any:
        nonlocal flat, paths
        flat, paths = flatten_state_dict(state_dict)
        number = writer.begin() if together.rank == 0 else 0
        return number, {name: _described(value) for name, value in flat.items()}, paths

    told = together.each("save", tell)
    owners, whole = _owners([entries for _, entries, _ in told])
    metadata = Metadata(whole, {}, {}, StorageMeta(checkpoint_id=writer.path), "1.0.0")
    for name in whole:
        metadata.planner_data[name] = next(where[name] for _, _, where in told if name in where)
    items = [(index, flat[index.fqn]) for index, rank in owners.items() if rank == together.rank]
    for places in together.each("write", lambda: writer.write(together.rank, told[0][0], items)):
        metadata.storage_data.update(places)
    together.each("finish", lambda: writer.finish(metadata) if together.rank == 0 else None)
    return metadata


def _described(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return BytesStorageMetadata()
    begins, sizes = [0] * value.dim(), list(value.size())
    if isinstance(value, DTensor):
        begins, sizes = _slice(value.shape, value.device_mesh, value.placements)
    chunk = ChunkStorageMetadata(torch.Size(begins), torch.Size(sizes))
    return TensorStorageMetadata(TensorProperties(value.dtype), value.size(), [chunk])


def _owners(told: list[dict[str, Any]]) -> tuple[dict[MetadataIndex, int], dict[str, Any]]:
    """The process that writes each object and each part of a tensor, and what there is by name, with all parts."""
    load = [0] * len(told)
    owners: dict[MetadataIndex, int] = {}
    whole: dict[str, Any] = {}
    holders: dict[str, list[int]] = {}
    for rank, entries in enumerate(told):
        for name in entries:
            holders.setdefault(name, []).append(rank)
    for name, ranks in holders.items():
        first = told[ranks[0]][name]
        if isinstance(first, BytesStorageMetadata):
            owners[MetadataIndex(name)], whole[name] = ranks[0], first
            continue
        parts: dict[Any, tuple[Any, list[int]]] = {}
        for rank in ranks:
            entry = told[rank][name]
            if getattr(entry, "size", None) != first.size or entry.properties != first.properties:
                raise ValueError(f"{name} has other sizes or dtypes on other processes")
            chunk = entry.chunks[0]
            if chunk.sizes.numel() or not first.size.numel():
                parts.setdefault((chunk.offsets, chunk.sizes), (chunk, []))[1].append(rank)
        for i, (chunk, there) in enumerate(parts.values()):
            owner = owners[MetadataIndex(name, chunk.offsets, i)] = min(there, key=lambda rank: load[rank])
            load[owner] += chunk.sizes.numel() * first.properties.dtype.itemsize
        whole[name] = TensorStorageMetadata(first.properties, first.size, [chunk for chunk, _ in parts.values()])
    return owners, whole


def async_save(
    state_dict: Mapping[str, Any],
    *,
    checkpoint_id: Any = None,
    storage_writer: Any = None,
    planner: Any = None,
    process_group: Any = None,
    **options: Any,
) -> Future[Any]:
    """Copy a state, and write it while the program goes on; a future of what ``save`` returns.

    The processes agree through a group of their own, which is made by the first call.
    """
    writer = _checked(storage_writer, FileSystemWriter, checkpoint_id)
    copied = copy.deepcopy({k: _detached(v) for k, v in _plain(state_dict).items()})
    group = process_group
    if dist.is_initialized():
        base = group if group is not None else dist.group.WORLD
        if base not in _groups:  # of the processes of the group only
            _groups.clear()
            ranks = dist.get_process_group_ranks(base)
            _groups[base] = dist.new_group(ranks, use_local_synchronization=True)
        group = _groups[base]
    thread = ThreadPoolExecutor(1, "wengert-checkpoint")
    done = thread.submit(_save, copied, writer, Together(group, False))
    thread.shutdown(wait=False)
    return done


def _detached(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach()
    if isinstance(value, Mapping):
        return {k: _detached(v) for k, v in value.items()}
    return [_detached(v) for v in value] if type(value) is list else value


def save_state_dict(
    state_dict: Mapping[str, Any],
    storage_writer: Any,
    process_group: Any = None,
    coordinator_rank: int = 0,
    no_dist: bool = False,
    planner: Any = None,
) -> Metadata:
    """The older name of ``save``, for states without objects."""
    warn_once("'save_state_dict' is deprecated and will be removed in future versions.Please use 'save' instead.",
              FutureWarning)  # fmt: skip
    return _save(state_dict, _checked(storage_writer, FileSystemWriter, None), Together(process_group, no_dist))
