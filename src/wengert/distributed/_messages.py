"""Messages between two ranks: ``send``, ``recv`` and their like. And what the arguments of all functions must be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._base.errors import warn
from .._tape.tensor import Tensor
from ._groups import GroupMember, _group_or_default_group, _world, get_global_rank, get_group_rank
from ._process_group import ProcessGroup
from ._work import Work

__all__ = ["P2POp", "batch_isend_irecv", "irecv", "isend", "recv", "send"]


# ---- arguments
def _check_single_tensor(param: Any, name: str) -> None:
    if not isinstance(param, Tensor):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n"
                        f"             but got {type(param)} instead.")  # fmt: skip


def _check_tensor_list(param: Any, name: str) -> None:
    if not isinstance(param, list):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n"
                        f"             but got {type(param)} instead.")  # fmt: skip
    if not all(isinstance(p, Tensor) for p in param):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n"
            f"             but got {type(param)} with elements of type {[type(p) for p in param]}."
        )


def _ensure_all_tensors_same_dtype(*tensors: Any) -> None:
    first = None
    for t in (t for one in tensors for t in ([one] if isinstance(one, Tensor) else one)):
        first = first or t.dtype
        if t.dtype != first:
            raise ValueError(f"Invalid usage of tensors with different dtypesFound {first} and  {t.dtype}")


def _canonicalize_group_rank(
    group: Any, global_rank: int | None, group_rank: int | None, missing: int | None = None
) -> int:
    """The rank in a group, of whichever of both was given."""
    if group_rank is not None:
        if global_rank is not None:
            raise ValueError("Can't specify both group_rank and global_rank")
        return group_rank
    global_rank = missing if global_rank is None else global_rank
    if global_rank is None:
        raise ValueError("Must specify global_rank or group_rank")
    return get_group_rank(group, global_rank)


def _check_not_self_rank(group: ProcessGroup, rank: int, kind: str) -> None:
    if group.rank() == rank:
        raise ValueError(f"Invalid {kind} rank: {kind} rank should not be the same as the rank of the current process.")


def _outside(group: Any, name: str) -> bool:
    """Whether this rank is not in a group; then the caller is warned."""
    if group is None or isinstance(group, ProcessGroup) or group != GroupMember.NON_GROUP_MEMBER:
        return False
    rank = -1 if _world.default is None else _world.default.rank()
    warn(f"Running {name} on global rank {rank} which does not belong to the given group.")
    return True


# ---- messages
def isend(
    tensor: Tensor, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None
) -> Work | None:
    """Begin to send a tensor to rank ``dst``; it must not be changed until the work is done."""
    if _outside(group, "isend"):
        return None
    pg = _group_or_default_group(group)
    peer = _canonicalize_group_rank(pg, dst, group_dst)
    _check_single_tensor(tensor, "tensor")
    return pg.send([tensor], peer, tag)._unwatched()


def irecv(
    tensor: Tensor, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None
) -> Work | None:
    """Begin to receive a tensor from rank ``src``, or from any."""
    _check_single_tensor(tensor, "tensor")
    if _outside(group, "irecv"):
        return None
    pg = _group_or_default_group(group)
    if src is None and group_src is None:
        return pg.recv_anysource([tensor], tag)._unwatched()
    return pg.recv([tensor], _canonicalize_group_rank(pg, src, group_src), tag)._unwatched()


def send(tensor: Tensor, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None) -> None:
    """Send a tensor to rank ``dst``."""
    pg = _group_or_default_group(group)
    peer = _canonicalize_group_rank(pg, dst, group_dst)
    _check_not_self_rank(pg, peer, "destination")
    work = isend(tensor, None, pg, tag, peer)
    if work is not None:
        work.wait()


def recv(tensor: Tensor, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None) -> int:
    """Receive a tensor from rank ``src``, or from any; returns the sender's rank."""
    work = irecv(tensor, src, group, tag, group_src)
    if work is None:
        return -1
    work.wait()
    if src is not None:
        return src
    pg = _group_or_default_group(group)
    return get_global_rank(pg, work.source_rank() if group_src is None else group_src)


class P2POp:
    """A message for ``batch_isend_irecv``: ``P2POp(isend, tensor, peer)``."""

    def __init__(
        self, op: Callable[..., Any], tensor: Tensor, peer: int | None = None, group: Any = None, tag: int = 0,
        group_peer: int | None = None,
    ) -> None:  # fmt: skip
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                "``torch.distributed.irecv``."
            )
        _check_single_tensor(tensor, "tensor")
        self.op, self.tensor, self.tag = op, tensor, tag
        self.group = _group_or_default_group(group)
        self.group_peer = _canonicalize_group_rank(self.group, peer, group_peer)
        self.peer = get_global_rank(self.group, self.group_peer)

    def __repr__(self) -> str:
        mine = self.group.rank()
        src, dst = (mine, self.group_peer) if self.op is isend else (self.group_peer, mine)
        return (f"P2POp({self.op.__name__} pg={self.group.group_name}, group_src={src}, group_dst={dst},  "
                f"{self.tensor.shape}, {self.tensor.dtype})")  # fmt: skip


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Work]:
    """Begin several messages; returns their works."""
    if not isinstance(p2p_op_list, list) or not all(isinstance(op, P2POp) for op in p2p_op_list):
        raise ValueError("Invalid ``p2p_op_list``. Each op is expected to to be of type ``torch.distributed.P2POp``.")
    if any(op.group is not p2p_op_list[0].group for op in p2p_op_list):
        raise ValueError("All ops need to use the same group.")
    return [op.op(op.tensor, None, op.group, op.tag, op.group_peer) for op in p2p_op_list]
