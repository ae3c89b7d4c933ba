"""``load``: a checkpoint into the tensors of a state, whatever the number of processes that wrote it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import wengert as torch

from ..._base.errors import noted, warn_once
from ..tensor import DTensor, _slice
from ._nested import flatten_state_dict, set_element
from .api import Together
from .filesystem import FileSystemReader
from .metadata import BytesStorageMetadata, ChunkStorageMetadata, Metadata, MetadataIndex
from .state_dict_saver import _checked, _plain
from .stateful import Stateful

__all__ = ["load", "load_state_dict"]


def load(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: Any = None,
    storage_reader: Any = None,
    planner: Any = None,
    process_group: Any = None,
    no_dist: bool = False,
) -> None:
    """Read a checkpoint into ``state_dict``: tensors are written in place, other values replaced.

    An object with ``state_dict()`` and ``load_state_dict()`` is given the state that was read. Files run no code, as
    with ``torch.load(weights_only=True)``: objects of other classes need ``torch.serialization.add_safe_globals``.

    Parameters: as for ``save``; ``planner=DefaultLoadPlanner(allow_partial_load=True)`` leaves alone what the
        checkpoint lacks.

    Raises:
        CheckpointException: on all processes, if one lacks a name or has a tensor of another size.
    """
    reader = _checked(storage_reader, FileSystemReader, checkpoint_id)
    together = Together(process_group, no_dist)
    plain = _plain(state_dict)
    together.each("load", lambda: _load(plain, reader, getattr(planner, "allow_partial_load", False)))
    for key, value in state_dict.items():
        if isinstance(value, Stateful):
            value.load_state_dict(plain[key])
        else:
            state_dict[key] = plain[key]


def _load(state_dict: dict[str, Any], reader: FileSystemReader, may_lack: bool) -> None:
    metadata = reader.read_metadata()
    flat, paths = flatten_state_dict(state_dict)
    known = metadata.state_dict_metadata
    for name, value in flat.items():  # all of it is checked before anything is written
        if name not in known:
            if may_lack:
                continue
            raise noted(
                RuntimeError(f"Missing key in checkpoint state_dict: {name}."),
                f"The checkpoint has {len(known)} names.",
            )
        entry = known[name]
        if isinstance(value, torch.Tensor) and isinstance(entry, BytesStorageMetadata):
            raise ValueError(f"{name} is a tensor here and none in the checkpoint")
        if isinstance(value, torch.Tensor) and entry.size != value.size():
            raise ValueError(f"Size mismatch between saved {entry.size} and current: {value.size()} for {name}")
    for name, value in flat.items():
        if name in known:
            if isinstance(value, torch.Tensor):
                _fill(value.detach(), name, metadata, reader)
            else:
                set_element(state_dict, paths[name], _read(name, metadata, reader))


def _record(index: MetadataIndex, metadata: Metadata, reader: FileSystemReader) -> Any:
    if index not in metadata.storage_data:
        raise RuntimeError(f"the checkpoint lacks the data of {index.fqn}")
    return reader.read(metadata.storage_data[index])


def _part(name: str, chunk: ChunkStorageMetadata, metadata: Metadata, reader: FileSystemReader) -> torch.Tensor:
    """The record of a part of a tensor."""
    part = _record(MetadataIndex(name, chunk.offsets), metadata, reader)
    # one without data, or that is not contiguous, could stand for more numbers than the file has
    plain = isinstance(part, torch.Tensor) and part.layout is torch.strided and not part.is_meta
    if not plain or part.size() != chunk.sizes or not part.is_contiguous():
        raise RuntimeError(f"the record of {name} holds something else")
    return part


def _copy_part(local: torch.Tensor, begins: Sequence[int], chunk: ChunkStorageMetadata, part: Any) -> None:
    """Copy what a part of a tensor has in common with another, which begins elsewhere; ``part()`` reads it."""
    common = [(max(a, b), min(a + m, b + n)) for a, m, b, n in
              zip(begins, local.shape, chunk.offsets, chunk.sizes, strict=True)]  # fmt: skip
    if all(end > begin for begin, end in common):
        source = part()
        for dim, (begin, end) in enumerate(common):
            local = local.narrow(dim, begin - begins[dim], end - begin)
            source = source.narrow(dim, begin - chunk.offsets[dim], end - begin)
        with torch.no_grad():
            local.copy_(source)


def _fill(target: torch.Tensor, name: str, metadata: Metadata, reader: FileSystemReader) -> None:
    """Copy the parts of a tensor into another of its size, or into this process's part of it."""
    begins, local = [0] * target.dim(), target
    if isinstance(target, DTensor):
        begins, _ = _slice(target.shape, target.device_mesh, target.placements)
        local = target.to_local()
    for chunk in metadata.state_dict_metadata[name].chunks:
        _copy_part(local, begins, chunk, partial(_part, name, chunk, metadata, reader))


def _read(name: str, metadata: Metadata, reader: FileSystemReader) -> Any:
    """An object, or a tensor as a new one."""
    entry = metadata.state_dict_metadata[name]
    if isinstance(entry, BytesStorageMetadata):
        return _record(MetadataIndex(name), metadata, reader)
    chunks = [chunk for chunk in entry.chunks if 0 not in chunk.sizes] or entry.chunks[:1]
    parts = [(chunk, _part(name, chunk, metadata, reader)) for chunk in chunks]
    if len(parts) == 1 and chunks[0].sizes == entry.size:
        return parts[0][1]
    if sum(part.numel() for _, part in parts) != entry.size.numel():
        raise RuntimeError(f"the checkpoint lacks parts of {name}")
    value = torch.zeros(entry.size, dtype=entry.properties.dtype)
    for chunk, part in parts:
        _copy_part(value, [0] * value.dim(), chunk, lambda part=part: part)
    return value


def load_state_dict(
    state_dict: dict[str, Any],
    storage_reader: Any,
    process_group: Any = None,
    coordinator_rank: int = 0,
    no_dist: bool = False,
    planner: Any = None,
) -> None:
    """The older name of ``load``."""
    warn_once("'load_state_dict' is deprecated and will be removed in future versions. Please use 'load' instead.",
              FutureWarning)  # fmt: skip
    load(state_dict, storage_reader=storage_reader, process_group=process_group, no_dist=no_dist, planner=planner)


def whole(reader: FileSystemReader) -> dict[str, Any]:
    """All of a checkpoint, as a nested state."""
    metadata = reader.read_metadata()
    state: dict[str, Any] = {}
    for name in metadata.state_dict_metadata:
        path = (metadata.planner_data or {}).get(name, (name,))
        value = _read(name, metadata, reader)
        try:
            set_element(state, path, value)
        except (TypeError, AttributeError, IndexError) as error:
            raise RuntimeError(f"the checkpoint has {name} below something that is no container") from error
    return state
