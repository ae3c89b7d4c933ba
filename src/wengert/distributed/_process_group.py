"""``ProcessGroup``: some ranks, an MPI communicator, and the collectives in the order in which they were called.

NOTE [ Fingerprints ]
    Before a collective moves data, the ranks exchange what they are about to do: which collective, reduction, root,
    dtype and shape. If these differ, every rank raises the same error, nothing has been written, and the group can be
    used further. A rank whose arguments are wrong in themselves says so in the same place.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from .._base import errors
from .._tape.tensor import Tensor
from . import _collectives as steps
from . import _mpi
from ._reduce_op import RedOpType, ReduceOp, ReduceOptions, kind_of
from ._work import Steps, Work, _kept

__all__ = ["ProcessGroup", "control"]

_PRINT = struct.Struct("<BBbBi12q")  # collective, reduction, dtype, dimensions, root; the shape, or a hash of it
_LONGEST_SHAPE = 12
NAMES = [
    "INVALID", "ALLREDUCE", "BROADCAST", "REDUCE", "ALLGATHER", "_ALLGATHER_BASE", "GATHER", "SCATTER",
    "REDUCE_SCATTER", "_REDUCE_SCATTER_BASE", "ALLTOALL", "ALLTOALL_BASE", "BARRIER", "COALESCED",
]  # fmt: skip
KIND = {name: i for i, name in enumerate(NAMES)}
_DTYPES: list[Any] = []
_prints: dict[Any, bytes] = {}


def _fingerprint(kind: str, op: int, dtype: Any, shape: tuple[int, ...], root: int) -> bytes:
    key = kind, op, dtype, shape, root
    found = _prints.get(key)
    if found is None:
        if not _DTYPES:
            from .._base.dtypes import DTYPES

            _DTYPES.extend(dict.fromkeys(DTYPES.values()))
        code = -1 if dtype is None else _DTYPES.index(dtype)
        sizes = shape if len(shape) <= _LONGEST_SHAPE else (hash(tuple(map(int, shape))),)
        sizes = tuple(sizes) + (0,) * (_LONGEST_SHAPE - len(sizes))
        if len(_prints) > 10_000:
            _prints.clear()
        found = _prints[key] = _PRINT.pack(KIND[kind], op, code, len(shape), root, *sizes)
    return found


def _shown(fingerprint: bytes, sequence: int) -> str:
    kind, op, dtype, dimensions, root, *sizes = _PRINT.unpack(fingerprint)
    if not kind:
        return "one whose arguments do not fit each other"
    parts = [f"SequenceNumber={sequence}", f"OpType={NAMES[kind]}"]
    if dtype >= 0:
        shape = sizes[:dimensions] if dimensions <= _LONGEST_SHAPE else f"{dimensions} dimensions"
        parts += [f"TensorShape={shape}", f"TensorDtypes={_DTYPES[dtype]}"]
    if NAMES[kind] in ("ALLREDUCE", "REDUCE", "REDUCE_SCATTER", "_REDUCE_SCATTER_BASE"):
        parts.append(f"ReduceOp={RedOpType(op).name}")
    if NAMES[kind] in ("BROADCAST", "REDUCE", "GATHER", "SCATTER"):
        parts.append(f"Root={root}")
    return f"CollectiveFingerPrint({', '.join(parts)})"


class ProcessGroup:
    """Ranks that communicate with each other; made by ``init_process_group`` and ``new_group``.

    ``rank()`` and ``size()`` are those in the group. The collectives are here under PyTorch's inner names
    (``group.allreduce([tensor])``), each of which returns a ``Work``.
    """

    def __init__(
        self, comm: Any, ranks: Sequence[int], backend: str, name: str, timeout: timedelta, desc: str | None = None
    ) -> None:
        self.comm, self._ranks, self._backend, self.group_name = comm, list(ranks), backend, name
        self.group_desc, self.bound_device_id = desc or "undefined", None
        self._rank: int = comm.rank
        self._size: int = comm.size
        self._timeout, self._line = timeout, deque[Work]()
        self._broken: BaseException | None = None
        self._of_all = False
        self._sequence, self._tag = 0, comm.Get_attr(_mpi.MPI.TAG_UB)
        self._gathered = bytearray(_PRINT.size * self._size)

    def rank(self) -> int:
        """This process's rank in the group."""
        return self._rank

    def size(self) -> int:
        """The number of processes."""
        return self._size

    def name(self) -> str:
        """The backend's name."""
        return self._backend

    def _shut(self) -> None:
        if not self._line and self._broken is None:
            self.comm.Free()
        else:
            _kept.append(self)
        self._broken = self._broken or ValueError("Invalid process group specified")

    # -- how a collective begins
    def _begin(
        self, kind: str, body: Steps, tensors: Any, *, of: Tensor | None = None, op: int = 0, root: int = 0,
        wrong: str | None = None, shape: tuple[int, ...] | None = None, monitored: bool | None = None,
    ) -> Work:  # fmt: skip
        if not 0 <= root < self._size:
            raise RuntimeError(f"ProcessGroupGloo::{kind.lower()}: invalid root rank: {root}")
        if wrong is not None:
            mine = _fingerprint("INVALID", 0, None, (), 0)
        else:
            given = shape if shape is not None else () if of is None else tuple(of.shape)
            mine = _fingerprint(kind, op, None if of is None else of.dtype, given, root)
        self._sequence += 1
        name = "monitored_barrier" if monitored is not None else kind.lower()
        return Work(self, name, self._agreed(mine, body, wrong, self._sequence), tensors, wrong=wrong)

    def _agreed(self, mine: bytes, body: Steps, wrong: str | None, sequence: int) -> Steps:
        """Compare fingerprints, then do it: see NOTE [ Fingerprints ]."""
        work = self._line[0]
        work._sequence = sequence
        every = self._gathered
        byte = _mpi.MPI.BYTE
        yield self.comm.Iallgather([mine, byte], [every, byte]).Test
        if wrong is not None:
            raise RuntimeError(wrong)
        if every != mine * self._size:
            raise self._differ(bytes(every), sequence)
        work._busy = True
        yield from body

    def _differ(self, every: bytes, sequence: int) -> RuntimeError:
        prints = [every[i : i + _PRINT.size] for i in range(0, len(every), _PRINT.size)]
        other = next(r for r, p in enumerate(prints) if p != prints[0])
        first, second = _shown(prints[0], sequence), _shown(prints[other], sequence)
        return errors.noted(
            RuntimeError(
                f"Detected mismatch between collectives on ranks. Rank {self._ranks[0]} is running collective: "
                f"{first}, but Rank {self._ranks[other]} is running collective: {second}."
            ),
            "What to do: call the same collectives on every rank, in one order, with tensors of one shape and dtype.",
        )

    # -- the collectives
    def allreduce(self, tensors: Any, opts: Any = ReduceOp.SUM) -> Work:
        """Reduce a tensor over the ranks, in place."""
        tensors, op = _listed(tensors), _op(opts)
        return self._begin("ALLREDUCE", steps.all_reduce(self, tensors, op), tensors, of=tensors[0], op=op)

    def allreduce_coalesced(self, tensors: list[Tensor], opts: Any = ReduceOp.SUM) -> Work:
        """Reduce several tensors in one work."""
        op = _op(opts)
        shape = (*(n for t in tensors for n in (t.dim(), *t.shape)), len(tensors))
        return self._begin("COALESCED", steps.all_reduce(self, tensors, op), tensors, of=tensors[0], op=op, shape=shape)

    def broadcast(self, tensors: Any, opts: Any = 0, root: int | None = None) -> Work:
        """Copy the root's tensor to the others."""
        tensors, root = _listed(tensors), _root(opts, root)
        return self._begin("BROADCAST", steps.broadcast(self, tensors, root), tensors, of=tensors[0], root=root)

    def reduce(self, tensors: Any, opts: Any = ReduceOp.SUM, root: int | None = None) -> Work:
        """Reduce a tensor to the root."""
        tensors, op, root = _listed(tensors), _op(opts), _root(opts, root)
        body = steps.reduce(self, tensors[0], op, root)
        return self._begin("REDUCE", body, tensors, of=tensors[0], op=op, root=root)

    def allgather(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Work:
        """Every rank's tensor to every rank."""
        outputs, t = _nested(output_tensors), _listed(input_tensors)[0]
        wrong = self._lengths("allgather", outputs) or _sizes("allgather", outputs, t)
        return self._begin("ALLGATHER", steps.all_gather(self, outputs, t), [outputs], of=t, wrong=wrong)

    def all_gather_single(self, output: Tensor, input: Tensor, opts: Any = None) -> Work:
        """Every rank's tensor to every rank, in one tensor."""
        body = steps.all_gather_single(self, [(output, input)])
        wrong = self._whole("allgather", output, input, output.numel(), input.numel() * self._size)
        return self._begin("_ALLGATHER_BASE", body, [output], of=input, wrong=wrong)

    _allgather_base = all_gather_single

    def all_gather_single_coalesced(self, outputs: list[Tensor], inputs: list[Tensor], opts: Any = None) -> Work:
        """Several ``all_gather_single`` in one work."""
        body = steps.all_gather_single(self, list(zip(outputs, inputs, strict=True)))
        shape = (*(n for t in inputs for n in (t.dim(), *t.shape)), len(inputs))
        return self._begin("COALESCED", body, outputs, of=inputs[0], shape=shape)

    def gather(self, output_tensors: Any, input_tensors: Any, opts: Any = 0, root: int | None = None) -> Work:
        """Every rank's tensor to the root."""
        t, root = _listed(input_tensors)[0], _root(opts, root)
        outputs = _nested(output_tensors) if self._rank == root else None
        wrong = None if outputs is None else self._lengths("gather", outputs) or _sizes("gather", outputs, t)
        body = steps.gather(self, outputs, t, root)
        return self._begin("GATHER", body, [outputs or []], of=t, root=root, wrong=wrong)

    def scatter(self, output_tensors: Any, input_tensors: Any, opts: Any = 0, root: int | None = None) -> Work:
        """A tensor of the root's to every rank."""
        t, root = _listed(output_tensors)[0], _root(opts, root)
        inputs = _nested(input_tensors) if self._rank == root else None
        wrong = None if inputs is None else self._lengths("scatter", inputs) or _sizes("scatter", inputs, t)
        return self._begin("SCATTER", steps.scatter(self, t, inputs, root), [t], of=t, root=root, wrong=wrong)

    def reduce_scatter(self, output_tensors: Any, input_tensors: Any, opts: Any = ReduceOp.SUM) -> Work:
        """Reduce tensors over the ranks, one for each."""
        output, inputs, op = _listed(output_tensors)[0], _nested(input_tensors), _op(opts)
        wrong = self._lengths("reduce_scatter", inputs) or _sizes("reduce_scatter", inputs, output)
        body = steps.reduce_scatter(self, output, inputs, op)
        return self._begin("REDUCE_SCATTER", body, [output], of=output, op=op, wrong=wrong)

    def reduce_scatter_single(self, output: Tensor, input: Tensor, opts: Any = ReduceOp.SUM) -> Work:
        """Reduce a tensor over the ranks, a part for each."""
        op = _op(opts)
        body = steps.reduce_scatter_single(self, [(output, input)], op)
        wrong = self._whole("reduce_scatter", output, input, output.numel() * self._size, input.numel())
        return self._begin("_REDUCE_SCATTER_BASE", body, [output], of=output, op=op, wrong=wrong)

    _reduce_scatter_base = reduce_scatter_single

    def reduce_scatter_single_coalesced(self, outputs: list[Tensor], inputs: list[Tensor], opts: Any = None) -> Work:
        """Several ``reduce_scatter_single`` in one work."""
        op = _op(ReduceOp.SUM if opts is None else opts)
        body = steps.reduce_scatter_single(self, list(zip(outputs, inputs, strict=True)), op)
        shape = (*(n for t in inputs for n in (t.dim(), *t.shape)), len(inputs))
        return self._begin("COALESCED", body, outputs, of=outputs[0], op=op, shape=shape)

    def alltoall(self, output_tensors: list[Tensor], input_tensors: list[Tensor], opts: Any = None) -> Work:
        """A tensor of every rank's to every rank."""
        wrong = self._lengths("alltoall", output_tensors) or self._lengths("alltoall", input_tensors)
        body = steps.all_to_all(self, output_tensors, input_tensors)
        return self._begin("ALLTOALL", body, output_tensors, of=input_tensors[0], wrong=wrong, shape=())

    def all_to_all_single(
        self, output: Tensor, input: Tensor, output_splits: Any = (), input_splits: Any = (), opts: Any = None
    ) -> Work:
        """A part of every rank's tensor to every rank."""
        wrong, lists = None, list[list[Tensor]]()
        for t, splits in ((output, output_splits), (input, input_splits)):
            n = len(t) if t.dim() else 0
            if not splits and n % self._size:
                wrong = wrong or "Tensor's dim 0 does not divide equally across group size"
            elif splits and (len(splits) != self._size or sum(splits) != n):
                wrong = wrong or ("Number of tensor splits not equal to group size" if len(splits) != self._size
                                  else "Split sizes doesn't match total dim 0 size")  # fmt: skip
            parts = list(splits) if splits else max(n // self._size, 1)
            lists.append([] if wrong else list(t.detach().split(parts)))
            if not wrong and not n:
                lists[-1] = [t.detach()] * self._size
        body = steps.all_to_all(self, lists[0], lists[1])
        return self._begin("ALLTOALL_BASE", body, [output], of=input, wrong=wrong, shape=tuple(input.shape[1:]))

    def barrier(self, opts: Any = None, shape: tuple[int, ...] = (), monitored: bool | None = None) -> Work:
        """Wait for every rank; ``shape`` must be the same on all."""
        self._of_all = bool(monitored)
        return self._begin("BARRIER", steps.barrier(self), [], shape=shape, monitored=monitored)

    def send(self, tensors: Any, dst: int, tag: int = 0) -> Work:
        """Send a tensor to a rank of the group."""
        return self._message("send", steps.send(self, _listed(tensors)[0], dst, tag), tensors, tag)

    def recv(self, tensors: Any, src: int, tag: int = 0) -> Work:
        """Receive a tensor from a rank of the group."""
        return self._message("recv", steps.receive(self, _listed(tensors)[0], src, tag), tensors, tag)

    def recv_anysource(self, tensors: Any, tag: int = 0) -> Work:
        """Receive a tensor from any rank; ``work.source_rank()`` says which."""
        return self.recv(tensors, _mpi.MPI.ANY_SOURCE, tag)

    def _message(self, name: str, body: Steps, tensors: Any, tag: int) -> Work:
        if not 0 <= tag < self._tag:
            raise ValueError(f"Tag must be from 0 to {self._tag - 1}, not {tag}")
        return Work(self, name, body, tensors, in_order=False)

    def _lengths(self, name: str, tensors: Sequence[Tensor]) -> str | None:
        if len(tensors) == self._size:
            return None
        many = f"{len(tensors)} for {self._size}"
        return f"ProcessGroupGloo::{name}: Tensor list input to {name} must match number of ranks in the group ({many})"

    def _whole(self, name: str, output: Tensor, input: Tensor, there: int, needed: int) -> str | None:
        if output.dtype != input.dtype:
            return "output tensor must have the same type as input tensor"
        if there == needed:
            return None
        few, many = (input, output) if name == "allgather" else (output, input)
        return (f"ProcessGroupGloo::{name}: invalid tensor size at index 0 (expected ({few.numel() * self._size} "
                f"elements), got ({many.numel()}))")  # fmt: skip

    # -- who waits, and where
    def _announce(self, work: Work) -> None:
        """Tell the others of the group that this rank waits, and where: they name it if they give up."""
        text = f"{self.group_name}\n{work._sequence or 0}\n{work._described()}".encode()
        for rank in self._ranks:
            if control.comm is not None and rank != self._ranks[self._rank]:
                _kept.append((control.comm.Isend([text, _mpi.MPI.BYTE], rank, 1), text))

    def _monitored(self, missing: list[int], milliseconds: int) -> str:
        """The error of ``monitored_barrier``: rank 0 names the ranks that did not come, or the first of them."""
        if self._rank:
            return (f"Rank {self._rank} successfully reached monitoredBarrier, but received errors while waiting for "
                    "send/recv from rank 0. Please check rank 0 logs for faulty rank.")  # fmt: skip
        who = "Ranks " + ", ".join(map(str, missing)) if self._of_all else f"Rank {missing[0]}"
        return f"[Rank 0]: {who} failed to pass monitoredBarrier in {milliseconds} ms"

    def _who_came(self, work: Work) -> tuple[list[int], list[str]]:
        """The ranks that did not come to a collective that timed out, and lines for its error."""
        sequence = work._sequence
        if sequence is None or control.comm is None:
            return [0], []
        told = control.heard()
        came, missing, lines = [self._ranks[self._rank]], list[int](), list[str]()
        for rank in self._ranks:
            name, number, place = told.get(rank, ("", 0, ""))
            if name == self.group_name and number == sequence:
                came.append(rank)
            elif rank not in came:
                missing.append(rank)
                lines.append(f"Rank {rank} did not come" + (f"; it waits in {place}" if place else "."))
        return missing or [0], [f"Ranks that came: {', '.join(map(str, sorted(came)))}.", *lines]


class _Control:
    """The communicator on which ranks that wait say so."""

    def __init__(self) -> None:
        self.comm: Any = None
        self._told: dict[int, tuple[str, int, str]] = {}

    def heard(self) -> dict[int, tuple[str, int, str]]:
        """What each rank said last: group, number of the collective, where."""
        mpi = _mpi.MPI
        status = mpi.Status()
        while self.comm.Iprobe(mpi.ANY_SOURCE, 1, status):
            text = bytearray(status.Get_count(mpi.BYTE))
            self.comm.Recv([text, mpi.BYTE], status.Get_source(), 1)
            name, number, place = text.decode(errors="replace").split("\n", 2)
            self._told[status.Get_source()] = name, int(number), place
        return self._told


control = _Control()


def _listed(tensors: Any) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else tensors


def _nested(tensors: Any) -> list[Tensor]:
    return list(tensors[0]) if tensors and isinstance(tensors[0], (list, tuple)) else tensors


def _op(opts: Any) -> RedOpType:
    return kind_of(opts.reduceOp if isinstance(opts, ReduceOptions) else opts)


def _root(opts: Any, root: int | None) -> int:
    return root if root is not None else opts.rootRank if isinstance(opts, ReduceOptions) else int(opts)


def _sizes(name: str, tensors: Sequence[Tensor], like: Tensor) -> str | None:
    for i, t in enumerate(tensors):
        if t.dtype != like.dtype:
            return f"ProcessGroupGloo::{name}: invalid tensor type at index {i} (expected {like.dtype}, got {t.dtype})"
        if t.shape != like.shape:
            expected, got = (str(tuple(x.shape)).replace(",)", ")") for x in (like, t))
            return f"ProcessGroupGloo::{name}: invalid tensor size at index {i} (expected {expected}, got {got})"
    return None
