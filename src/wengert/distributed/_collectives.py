"""The steps of every collective: generators that start MPI's operations and yield what tests whether they are done.

MPI reads and writes the memory of C-contiguous arrays itself; other tensors go through a copy. float16, bfloat16 and
what else MPI cannot add up is moved as bytes, and reduced in float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._base.grad_mode import no_grad
from .._tape.tensor import Tensor, wrap
from .._tape.views import count_write
from . import _mpi
from ._reduce_op import RedOpType, mpis
from ._work import Steps

_KNOWN = frozenset("?bBhHiIlLqQfdFD")
_PIECE = 4 << 20  # bytes that are added up in one operation: what fits into the caches


def array_of(t: Tensor) -> np.ndarray:
    """A tensor's elements; ``RuntimeError`` if it holds something else than an array."""
    a = t._payload
    if type(a) is np.ndarray:
        return a
    if isinstance(a, (np.ndarray, np.generic)):
        return np.asarray(a)
    raise RuntimeError(f"No backend type associated with device type {t.device.type}"
                       if t.is_meta else "Tensors must be CPU and dense")  # fmt: skip


def readable(t: Tensor) -> np.ndarray:
    """A C-contiguous array of a tensor's elements, for MPI to read."""
    return np.ascontiguousarray(array_of(t)).reshape(t.shape)


def writable(t: Tensor) -> np.ndarray | None:
    """A tensor's own array, if MPI can write into it."""
    a = t._payload
    return a if type(a) is np.ndarray and a.flags.c_contiguous and a.flags.writeable else None


def target(t: Tensor) -> np.ndarray:
    """An array that MPI can write to, of a tensor's shape and dtype: its own if that can be."""
    own = writable(t)
    return np.empty(t.shape, array_of(t).dtype) if own is None else own


def written(t: Tensor, a: np.ndarray) -> None:
    """MPI has written this array: count the write, and copy it if it is not the tensor's own."""
    if a is t._payload:
        count_write(t)
    else:
        with no_grad():
            t.detach().copy_(wrap(a.reshape(t.shape)))


def raw(a: np.ndarray) -> np.ndarray:
    """An array that MPI knows how to move: of bytes, if it does not know the dtype."""
    return a if a.dtype.char in _KNOWN else a.reshape(-1).view(np.uint8)


def _wide(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in which arrays of a dtype are reduced."""
    return dtype if dtype.char in _KNOWN else np.dtype(np.float32)


def _average(a: np.ndarray, op: RedOpType, n: int) -> None:
    if op is RedOpType.AVG and a.dtype.kind != "b":
        if a.dtype.kind in "iu":
            np.floor_divide(a, n, out=a)
        else:
            np.divide(a, n, out=a)


def all_reduce(group: Any, tensors: Sequence[Tensor], op: RedOpType) -> Steps:
    for t in tensors:
        a = writable(t)
        if a is None or a.dtype.char not in _KNOWN:
            a = np.array(array_of(t), _wide(array_of(t).dtype), order="C")
        flat, pieces, kind = a.reshape(-1), range(0, max(a.size, 1), max(1, _PIECE // a.itemsize)), mpis(op, a.dtype)
        for start in pieces:
            piece = flat[start : start + pieces.step]
            yield group.comm.Iallreduce(_mpi.MPI.IN_PLACE, piece, kind).Test
        _average(a, op, group._size)
        written(t, a if a is t._payload else a.astype(array_of(t).dtype, copy=False))


def reduce(group: Any, t: Tensor, op: RedOpType, root: int) -> Steps:
    a = array_of(t)
    here = np.array(a, _wide(a.dtype), order="C")
    there = np.empty_like(here) if group._rank == root else None
    yield group.comm.Ireduce(here, there, mpis(op, here.dtype), root).Test
    if there is not None:
        _average(there, op, group._size)
        written(t, there.astype(a.dtype, copy=False))


def broadcast(group: Any, tensors: Sequence[Tensor], root: int) -> Steps:
    for t in tensors:
        if group._rank == root:
            yield group.comm.Ibcast(raw(readable(t)), root).Test
        else:
            a = target(t)
            yield group.comm.Ibcast(raw(a), root).Test
            written(t, a)


def _rows(outputs: Sequence[Tensor], shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    return np.empty((len(outputs), *shape), dtype)


def all_gather(group: Any, outputs: Sequence[Tensor], t: Tensor) -> Steps:
    a = readable(t)
    rows = _rows(outputs, a.shape, a.dtype)
    yield group.comm.Iallgather(raw(a), raw(rows)).Test
    for one, row in zip(outputs, rows, strict=True):
        written(one, row)


def all_gather_single(group: Any, pairs: Sequence[tuple[Tensor, Tensor]]) -> Steps:
    for output, t in pairs:
        a = target(output)
        yield group.comm.Iallgather(raw(readable(t)), raw(a)).Test
        written(output, a)


def gather(group: Any, outputs: Sequence[Tensor] | None, t: Tensor, root: int) -> Steps:
    a = readable(t)
    rows = None if outputs is None else _rows(outputs, a.shape, a.dtype)
    yield group.comm.Igather(raw(a), None if rows is None else raw(rows), root).Test
    if outputs is not None and rows is not None:
        for one, row in zip(outputs, rows, strict=True):
            written(one, row)


def scatter(group: Any, t: Tensor, inputs: Sequence[Tensor] | None, root: int) -> Steps:
    rows = None if inputs is None else np.stack([array_of(one) for one in inputs])
    a = target(t)
    yield group.comm.Iscatter(None if rows is None else raw(rows), raw(a), root).Test
    written(t, a)


def reduce_scatter(group: Any, output: Tensor, inputs: Sequence[Tensor], op: RedOpType) -> Steps:
    dtype = array_of(output).dtype
    rows = np.stack([array_of(one) for one in inputs]).astype(_wide(dtype), copy=False)
    a = np.empty(output.shape, rows.dtype)
    yield group.comm.Ireduce_scatter_block(rows, a, mpis(op, a.dtype)).Test
    _average(a, op, group._size)
    written(output, a.astype(dtype, copy=False))


def reduce_scatter_single(group: Any, pairs: Sequence[tuple[Tensor, Tensor]], op: RedOpType) -> Steps:
    for output, t in pairs:
        dtype = array_of(output).dtype
        here = readable(t).astype(_wide(dtype), copy=False)
        a = np.empty(output.shape, here.dtype)
        yield group.comm.Ireduce_scatter_block(here, a, mpis(op, a.dtype)).Test
        _average(a, op, group._size)
        written(output, a.astype(dtype, copy=False))


def all_to_all(group: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor]) -> Steps:
    """By messages: MPI's own wants one piece of memory. The sizes are compared first."""
    sizes = np.array([[t.numel() for t in inputs], [t.numel() for t in outputs]], np.int64)
    every = np.empty((group._size, *sizes.shape), np.int64)
    yield group.comm.Iallgather(sizes, every).Test
    if not np.array_equal(every[:, 0], every[:, 1].T):
        sender, receiver = np.argwhere(every[:, 0] != every[:, 1].T)[0]
        raise RuntimeError(
            f"all_to_all: rank {sender} sends {every[sender, 0, receiver]} elements to rank {receiver}, "
            f"which expects {every[receiver, 1, sender]}"
        )
    arrays = [target(t) for t in outputs]
    requests = [group.comm.Irecv(raw(a), r, group._tag) for r, a in enumerate(arrays)]
    requests += [group.comm.Isend(raw(readable(t)), r, group._tag) for r, t in enumerate(inputs)]
    yield lambda: _mpi.MPI.Request.Testall(requests)
    for t, a in zip(outputs, arrays, strict=True):
        written(t, a)


def barrier(group: Any) -> Steps:
    """Nothing more: who has the fingerprints of all knows that all have come."""
    yield from ()


def send(group: Any, t: Tensor, peer: int, tag: int) -> Steps:
    yield group.comm.Isend(raw(readable(t)), peer, tag).Test


def receive(group: Any, t: Tensor, peer: int, tag: int) -> Steps:
    """Returns the sender's rank in the group."""
    a, status = target(t), _mpi.MPI.Status()
    request = group.comm.Irecv(raw(a), peer, tag)
    yield lambda: request.Test(status)
    count, source = status.Get_count(_mpi.MPI.BYTE), status.Get_source()
    if count != a.nbytes:
        raise RuntimeError(f"recv: rank {source} of the group sent {count} bytes, the tensor has {a.nbytes}")
    written(t, a)
    return source
