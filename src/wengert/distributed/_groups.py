"""The groups of processes: what backends are there, the default group and others, ranks.

The default group is MPI's world; a group is a communicator (``_process_group``).
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections import namedtuple
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from .._base.errors import noted
from . import _mpi
from ._mpi import is_installed
from ._process_group import ProcessGroup, control
from ._reduce_op import ReduceOp, kind_of
from ._stores import PrefixStore, Store
from .constants import default_pg_timeout
from .rendezvous import rendezvous

__all__ = [
    "Backend", "GroupMember", "default_pg_timeout", "destroy_process_group", "get_backend", "get_backend_config",
    "get_default_backend_for_device", "get_global_rank", "get_group_rank", "get_node_local_rank", "get_pg_count",
    "get_process_group_ranks", "get_rank", "get_world_size", "group", "init_process_group", "is_available",
    "is_backend_available", "is_gloo_available", "is_initialized", "is_mpi_available", "is_nccl_available",
    "is_torchelastic_launched", "is_ucc_available", "is_xccl_available", "new_group", "new_subgroups",
    "new_subgroups_by_enumeration", "supports_complex",
]  # fmt: skip

stand_in: int = 0  # the number of cards that this process's CPU stands for, with `--stand-in`


# ---- what is there
def is_available() -> bool:
    """Whether mpi4py is installed, by which processes communicate.

    >>> import wengert as torch
    >>> torch.distributed.is_initialized()
    False
    """
    return is_installed()


def is_mpi_available() -> bool:
    """Whether mpi4py is installed."""
    return is_installed()


def is_gloo_available() -> bool:
    """Whether programs that ask for "gloo" run: on MPI, if mpi4py is installed."""
    return is_installed()


def is_nccl_available() -> bool:
    """False, unless CPUs stand in for cards (``--stand-in``)."""
    return bool(stand_in) and is_installed()


def is_ucc_available() -> bool:
    """False."""
    return False


def is_xccl_available() -> bool:
    """False."""
    return False


def is_backend_available(backend: str) -> bool:
    """Whether a backend of this name is there; "cpu:gloo,cuda:nccl" names two."""
    names = [part.rpartition(":")[2] for part in backend.lower().split(",")]
    there = {"gloo": is_gloo_available(), "mpi": is_mpi_available(), "nccl": is_nccl_available()}
    return all(there.get(name, False) for name in names)


def is_torchelastic_launched() -> bool:
    """Whether ``python -m torch.distributed.run`` started this process."""
    return os.environ.get("TORCHELASTIC_RUN_ID") is not None


def is_initialized() -> bool:
    """Whether there is a default group."""
    return _world.default is not None


def supports_complex(reduceOp: Any) -> bool:
    """Whether complex tensors can be reduced so."""
    return kind_of(reduceOp) in (ReduceOp.SUM, ReduceOp.AVG, ReduceOp.PREMUL_SUM)


class Backend(str):
    """The name of a backend. "gloo" and "mpi" both mean MPI here, "nccl" with CPUs that stand in for cards.

    >>> import wengert as torch
    >>> torch.distributed.Backend("GLOO")
    'gloo'
    """

    UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL, FAKE = "undefined", "gloo", "nccl", "ucc", "mpi", "xccl", "fake"
    _BackendPlugin = namedtuple("_BackendPlugin", ["creator_fn", "extended_api"])
    _plugins: dict[str, Any] = {}
    backend_list = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI, FAKE]
    default_device_backend_map: dict[str, str] = {"cpu": GLOO, "cuda": NCCL, "xpu": XCCL, "mps": GLOO}
    backend_capability: dict[str, list[str]] = {GLOO: ["cpu", "cuda"], NCCL: ["cuda"], MPI: ["cpu", "cuda"]}

    def __new__(cls, name: str) -> Any:
        if not isinstance(name, str):
            raise ValueError("Backend constructor parameter must be string-ish")
        value = getattr(Backend, name.upper(), Backend.UNDEFINED)
        return name.lower() if value == Backend.UNDEFINED else value


def get_default_backend_for_device(device: Any) -> str:
    """The name of the backend for a device."""
    kind = getattr(device, "type", None) or str(device).partition(":")[0]
    backend = Backend.default_device_backend_map.get(kind)
    if backend is None:
        raise ValueError(f"Default backend not registered for device : {device}")
    return backend


# ---- groups
class _World:
    """The groups of this process."""

    def __init__(self) -> None:
        self.default: ProcessGroup | None = None
        self.store: Store | None = None
        self.groups: list[ProcessGroup] = []
        self.made = 0  # names are counted
        self.coalescing: dict[ProcessGroup, list[tuple[Any, ...]]] = {}

    @property
    def default_pg(self) -> ProcessGroup | None:
        return self.default

    @property
    def pg_map(self) -> dict[ProcessGroup, tuple[str, Store | None]]:
        return {g: (g.name(), self.store) for g in self.groups}

    @property
    def pg_group_ranks(self) -> dict[ProcessGroup, dict[int, int]]:
        return {g: {rank: i for i, rank in enumerate(g._ranks)} for g in self.groups}

    @property
    def pg_names(self) -> dict[ProcessGroup, str]:
        return {g: g.group_name for g in self.groups}


_world = _World()


class _WorldMeta(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:
        """The default group, or None."""
        return _world.default

    @WORLD.setter
    def WORLD(cls, group: ProcessGroup | None) -> None:
        _world.default = group


class group(metaclass=_WorldMeta):
    """``group.WORLD`` is the default group.

    >>> import wengert as torch
    >>> torch.distributed.group.WORLD is None  # before init_process_group
    True
    """


class GroupMember(metaclass=_WorldMeta):
    """What ``new_group`` returns to ranks that are not in the group: ``GroupMember.NON_GROUP_MEMBER``."""

    NON_GROUP_MEMBER = -100


def _get_default_group() -> ProcessGroup:
    if _world.default is None:
        raise noted(
            ValueError("Default process group has not been initialized, please make sure to call init_process_group."),
            "" if is_installed() else "Why: mpi4py is not installed, so there is one process.",
            "What to do: call it only if torch.distributed.is_available() and torch.distributed.is_initialized()."
            if not is_installed() else "",
        )  # fmt: skip
    return _world.default


def _get_default_store() -> Store | None:
    _get_default_group()
    return _world.store


def _get_process_group_name(pg: ProcessGroup) -> str:
    return pg.group_name


def _rank_not_in_group(group: Any) -> bool:
    return group is not None and not isinstance(group, ProcessGroup) and group == GroupMember.NON_GROUP_MEMBER


def _group_or_default_group(group: Any = None) -> ProcessGroup:
    return _get_default_group() if group is None else group


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """The rank in a group of a rank of the world."""
    if group is _world.default:
        return global_rank
    _registered(group)
    if global_rank not in group._ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return group._ranks.index(global_rank)


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The rank in the world of a rank in a group."""
    if group is _world.default:
        return group_rank
    _registered(group)
    if not 0 <= group_rank < len(group._ranks):
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return group._ranks[group_rank]


def _registered(group: Any) -> None:
    if group not in _world.groups:
        raise ValueError(f"Group {group} is not registered, please create group with torch.distributed.new_group API")


def get_process_group_ranks(group: ProcessGroup | None = None) -> list[int]:
    """The ranks of a group, as those of the world."""
    return list((group or _get_default_group())._ranks)


def get_rank(group: Any = None) -> int:
    """This process's rank in a group; -1 if it is not in it."""
    if _rank_not_in_group(group):
        return -1
    default = _get_default_group()
    return default.rank() if group is None else get_group_rank(group, default.rank())


def get_world_size(group: Any = None) -> int:
    """The number of processes of a group; -1 if this one is not in it."""
    if _rank_not_in_group(group):
        return -1
    return _get_default_group().size() if group is None else group.size()


def get_backend(group: Any = None) -> str:
    """The name of a group's backend, as the program asked for it."""
    pg = group or _get_default_group()
    if _rank_not_in_group(pg):
        raise ValueError("Invalid process group specified")
    if pg not in _world.groups:
        raise ValueError(
            f"Process group {pg} is not initialized in the world group map. Please initialize the group first."
        )
    return Backend(pg.name())


def get_backend_config(group: Any = None) -> str:
    """The backends of a group by device: ``"cpu:gloo,cuda:gloo"``."""
    name = get_backend(group)
    return name if ":" in name else f"cpu:{name},cuda:{name}"


def get_pg_count() -> int:
    """The number of groups that were made."""
    return _world.made


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """This process's rank on its machine, from ``LOCAL_RANK``."""
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError(
        "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow `get_node_local_rank` to work, "
        "assuming you are not running in a multi-device context and want the code to run locally instead."
    )


def _check_valid_timeout(timeout: Any) -> None:
    if not isinstance(timeout, timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout}")


def _set_pg_timeout(timeout: timedelta, group: ProcessGroup | None = None) -> None:
    _check_valid_timeout(timeout)
    (group or _get_default_group())._timeout = timeout


def init_process_group(
    backend: str | None = None, init_method: str | None = None, timeout: timedelta | None = None, world_size: int = -1,
    rank: int = -1, store: Store | None = None, group_name: str = "", pg_options: Any = None, device_id: Any = None,
    _ranks: list[int] | None = None,
) -> None:  # fmt: skip
    """Join the processes of a program, and make the default group of them.

    ``backend`` may be "mpi", "gloo" or nothing: each is MPI. How the processes find each other is ``init_method``
    (``env://``, ``tcp://host:port``, ``file:///path``) or a store; ranks that ``mpiexec`` started know it.

    Raises:
        RuntimeError: mpi4py is not installed.
        ValueError: it was called before, or the environment does not say what is needed.
    """
    if _world.default is not None:
        raise ValueError("trying to initialize the default process group twice!")
    if store is not None and init_method is not None:
        raise AssertionError("Cannot specify both init_method and store.")
    if store is not None and not world_size > 0:
        raise AssertionError("world_size must be positive if using store")
    if store is not None and not rank >= 0:
        raise AssertionError("rank must be non-negative if using store")
    timeout = default_pg_timeout if timeout is None else timeout
    _check_valid_timeout(timeout)
    name = _backend(backend)
    _mpi.load("init_process_group")
    if store is None and not _mpi.launched():
        store, rank, world_size = next(rendezvous(init_method or "env://", rank, world_size, timeout=timeout))
        store.set_timeout(timeout)
    comm = _mpi.join(store, rank, world_size, timeout.total_seconds())
    _world.store = None if store is None else PrefixStore("default_pg", store)
    _world.default = _new(comm.Dup(), range(comm.size), name, timeout, "default_pg")
    if control.comm is None:
        control.comm = comm.Dup()
    _prefix_errors(comm.rank)
    here = comm.Split_type(_mpi.MPI.COMM_TYPE_SHARED)
    if comm.rank == 0:
        _mpi.more_ranks_than_cores(here.size)
    here.Free()


def _backend(backend: str | None) -> str:
    name = Backend(backend or "undefined")
    for part in (part.rpartition(":")[2] for part in name.split(",")):
        if part not in ("gloo", "mpi", "undefined") and not (part == "nccl" and (stand_in or "," in name)):
            raise noted(
                RuntimeError(f"Distributed package doesn't have {part.upper()} built in"),
                "Why: wengert computes on the CPU, and its processes communicate by MPI.",
                'What to do: init_process_group("gloo"); or start the program with --stand-in N, and N CPU processes '
                "stand for N cards.",
            )
    return name


def _new(comm: Any, ranks: Sequence[int], backend: str, timeout: timedelta, desc: str | None) -> ProcessGroup:
    made = ProcessGroup(comm, ranks, backend, str(_world.made), timeout, desc)
    _world.made += 1
    _world.groups.append(made)
    return made


def _prefix_errors(rank: int) -> None:
    """Begin each line of an error that ends this process with its rank, as PyTorch does."""
    if getattr(sys.excepthook, "_prefixes", False):
        return
    hook, prefix = sys.excepthook, f"[rank{rank}]: "

    def prefixed(*error: Any) -> None:
        stderr, sys.stderr = sys.stderr, io.StringIO()
        try:
            hook(*error)
        finally:
            text, sys.stderr = sys.stderr.getvalue(), stderr
        sys.stderr.write("\n".join(f"{prefix}{line}" if line else "" for line in text.split("\n")))
        sys.stderr.flush()

    prefixed._prefixes = True
    sys.excepthook = prefixed


def destroy_process_group(group: Any = None) -> None:
    """End a group; without one, all groups."""
    if _rank_not_in_group(group):
        return
    pg = _world.default if group is None else group
    if pg is None:
        raise AssertionError("Process group cannot be None")
    if pg not in _world.groups:
        raise ValueError("Invalid process group specified")
    ending = list(reversed(_world.groups)) if pg is _world.default else [pg]
    for one in ending:
        with contextlib.suppress(RuntimeError):
            while one._line:
                one._line[-1].wait()
        one._shut()
        _world.groups.remove(one)
        _world.coalescing.pop(one, None)
    if pg is _world.default:
        _world.default, _world.store, _world.made = None, None, 0


def new_group(
    ranks: Sequence[int] | None = None, timeout: timedelta | None = None, backend: str | None = None,
    pg_options: Any = None, use_local_synchronization: bool = False, group_desc: str | None = None,
    device_id: Any = None, sort_ranks: bool = True,
) -> Any:  # fmt: skip
    """A group of some ranks; every rank of the world calls this, in the same order.

    Ranks that are not in it get ``GroupMember.NON_GROUP_MEMBER``. With ``use_local_synchronization`` only those that
    are in it call.
    """
    world = _get_default_group()
    timeout = default_pg_timeout if timeout is None else timeout
    _check_valid_timeout(timeout)
    if use_local_synchronization and ranks is not None and world.rank() not in ranks:
        return None
    chosen = list(range(world.size())) if ranks is None else sorted(ranks) if sort_ranks else list(ranks)
    if len(set(chosen)) != len(chosen):
        raise ValueError(f"ranks list must not contain duplicate entries, got {chosen}")
    if len(chosen) > world.size():
        raise ValueError(
            "the new group's world size should be less or equal to the world size set by init_process_group"
        )
    for rank in chosen:
        if not 0 <= rank < world.size():
            raise ValueError(
                f"Rank {rank} is out of range. Valid ranks are 0 to {world.size() - 1} (world_size={world.size()})"
            )
    name = _backend(backend) if backend else world.name()
    if not use_local_synchronization and world.size() > 1:
        world.barrier(shape=tuple(chosen)).wait()  # an error if a rank does something else, or names others
    if world.rank() not in chosen:
        _world.made += 1
        return GroupMember.NON_GROUP_MEMBER
    members = world.comm.group.Incl(chosen)
    comm = world.comm.Create_group(members, hash(tuple(chosen)) % 10_000)
    members.Free()
    return _new(comm, chosen, name, timeout, group_desc)


def new_subgroups(
    group_size: int | None = None, group: Any = None, timeout: timedelta | None = None, backend: str | None = None,
    pg_options: Any = None, group_desc: str | None = None,
) -> tuple[Any, list[Any]]:  # fmt: skip
    """Groups of so many ranks each that follow each other; returns (this rank's, all of them)."""
    if group_size is None:
        if not stand_in:
            raise ValueError(
                "Default group size only takes effect when CUDA is available.If your subgroup using a backend that "
                "does not depend on CUDA,please pass in 'group_size' correctly."
            )
        group_size = stand_in
    if group_size <= 0:
        raise ValueError(f"The arg 'group_size' ({group_size}) must be positive")
    size = get_world_size(group)
    if size < group_size:
        raise ValueError(f"The arg 'group_size' ({group_size}) must not exceed the world size ({size})")
    if size % group_size:
        raise ValueError(f"The world size ({size}) must be divisible by 'group_size={group_size!r}'")
    ranks = get_process_group_ranks(group)
    lists = [ranks[i : i + group_size] for i in range(0, size, group_size)]
    return new_subgroups_by_enumeration(lists, timeout, backend, pg_options, group_desc)


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list: list[list[int]], timeout: timedelta | None = None, backend: str | None = None,
    pg_options: Any = None, group_desc: str | None = None,
) -> tuple[Any, list[Any]]:  # fmt: skip
    """A group for each list of ranks; returns (this rank's, all of them)."""
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    made, mine, seen = [], None, dict[int, list[int]]()
    for ranks in ranks_per_subgroup_list:
        one = new_group(ranks, timeout, backend, pg_options, group_desc=group_desc)
        made.append(one)
        for rank in ranks:
            if rank in seen:
                raise ValueError(f"Rank {rank} has appeared in both subgroup {seen[rank]} and {ranks}")
            seen[rank] = ranks
            mine = one if rank == get_rank() else mine
    return mine, made
