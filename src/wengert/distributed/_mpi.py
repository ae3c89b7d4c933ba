"""MPI, through mpi4py: when it is loaded, how ranks that anything has started become its world, and how they leave it.

Ranks that ``mpiexec`` or ``srun`` started are joined already. All others meet at a store, and MPICH is told to ask the
server there (``_launch_server``) where the others are.

NOTE [ Leaving ]
    A rank that ends well must still answer those that have not received all that it sent. A rank that ends by an
    error, or that knows of one that did, must not wait for anybody. So a rank tells the server how it ends, others ask
    while they wait, and who ends well waits for the others without burning its core, until all have come or one is
    gone. ``MPI_Finalize``, which waits for ever, is called only where an MPI launcher would take its absence for a
    failure; there is nothing else that it would do.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import socket
import sys
import time
from importlib.util import find_spec
from typing import Any

from .._base.errors import noted, warn_once
from . import _launch_server as server
from ._stores import Daemon, DistBackendError, PrefixStore, Store, TCPStore, connect

MPI: Any = None
HOW = "What to do: python -m pip install 'wengert[mpi]' (mpi4py, and MPICH where there is no MPI library)."
_SECONDS_FOR_NEWS = 5.0  # of which the first byte has come
_LAUNCHERS = ("PMI_FD", "PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK")


def is_installed() -> bool:
    """Whether mpi4py can be imported."""
    return MPI is not None or find_spec("mpi4py") is not None


def missing(name: str) -> RuntimeError:
    """The error of a function that needs MPI."""
    return noted(
        RuntimeError(f"torch.distributed.{name}: mpi4py is not installed, so there is one process"),
        "Why: wengert's processes communicate by MPI; torch.distributed.is_available() is False.",
        HOW,
    )


def load(name: str) -> Any:
    """mpi4py's module, not yet initialized."""
    global MPI
    if MPI is None:
        if not is_installed():
            raise missing(name)
        import mpi4py

        mpi4py.rc.initialize = mpi4py.rc.finalize = False
        try:
            from mpi4py import MPI as loaded
        except (ImportError, RuntimeError) as error:
            raise noted(RuntimeError(f"torch.distributed: mpi4py finds no MPI library: {error}"), HOW) from None
        MPI = loaded
    return MPI


def launched() -> bool:
    """Whether an MPI launcher started this process, or the program has initialized MPI."""
    return any(name in os.environ for name in _LAUNCHERS) or (MPI is not None and bool(MPI.Is_initialized()))


def join(store: Store | None, rank: int, size: int, seconds: float) -> Any:
    """``MPI_COMM_WORLD``, after which every rank of the store's is in it."""
    mpi = load("init_process_group")
    if mpi.Is_initialized():
        return _world(mpi, rank, size)
    if store is None or size == 1 or launched():
        mpi.Init_thread(mpi.THREAD_MULTIPLE)
    else:
        host, port = _meet(mpi, store, rank, size, seconds)
        asked = {"PMI_PORT": f"{host}:{port}", "PMI_ID": str(rank)}
        os.environ.update(asked)
        try:
            mpi.Init_thread(mpi.THREAD_MULTIPLE)
        finally:
            for name in asked:  # of this process, not of those that it starts
                os.environ.pop(name, None)
        watch.open(host, port, rank)
    if not any(name in os.environ for name in _LAUNCHERS):
        _forget_shared_memory(mpi)
    _leave_at_exit()
    return _world(mpi, rank, size)


def _world(mpi: Any, rank: int, size: int) -> Any:
    world = mpi.COMM_WORLD
    if size not in (-1, world.size):
        raise noted(
            RuntimeError(f"init_process_group: world_size is {size}, but MPI's world has {world.size} processes"),
            "Why: MPI can be initialized once; its world stays until the process ends.",
        )
    if rank not in (-1, world.rank):
        raise RuntimeError(f"init_process_group: rank is {rank}, but MPI counts this process as {world.rank}")
    return world


def _meet(mpi: Any, store: Store, rank: int, size: int, seconds: float) -> tuple[str, int]:
    """Wait for all ranks; return where their server is."""
    if "mpich" not in mpi.Get_library_version().lower() and "intel" not in mpi.Get_library_version().lower():
        raise noted(
            RuntimeError(f"init_process_group: {mpi.Get_library_version().split(',')[0]} starts its processes itself"),
            "Why: only MPICH and its descendants let other programs start their processes.",
            "What to do: mpiexec -n N python -m wengert run program.py; or install mpich.",
        )
    below = store
    while isinstance(below, PrefixStore):
        below = below.underlying_store
    if isinstance(below, TCPStore):
        host, port = below.host, below.port
    else:
        if rank == 0:
            watch.daemon = Daemon("127.0.0.1", 0)
            store.set("wengert/server", f"127.0.0.1:{watch.daemon.port}")
        host, _, text = store.get("wengert/server").decode().rpartition(":")
        port = int(text)
    host = socket.gethostbyname(host)
    asking = TCPStore(host, port, None, False, _seconds(seconds))
    there = int(asking._now(server.SIZE, b"%d" % size)[0])
    if there != size:
        raise RuntimeError(f"init_process_group: rank {rank} was told world_size={size}, another rank {there}")
    if asking.compare_set(f"wengert/rank/{rank}", "", str(os.getpid())) != str(os.getpid()).encode():
        raise RuntimeError(f"init_process_group: two processes have the rank {rank}")
    asking.set_timeout(_seconds(seconds))
    asking.wait([f"wengert/rank/{r}" for r in range(size)])
    return host, port


def _forget_shared_memory(mpi: Any) -> None:
    """Remove the names of MPICH's shared memory, which all ranks have mapped: no end leaves them."""
    mpi.COMM_WORLD.Barrier()
    with contextlib.suppress(OSError), open("/proc/self/maps", encoding="utf-8") as maps:
        for name in {line.split()[-1] for line in maps if "/dev/shm/mpich_" in line}:
            with contextlib.suppress(OSError):
                os.unlink(name)


def _seconds(seconds: float) -> Any:
    from datetime import timedelta

    return timedelta(seconds=seconds)


class Watch:
    """A connection on which the server says how other ranks ended; it sees by it how this one does."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        self._owner = os.getpid()
        self.daemon: Daemon | None = None
        self.ended: dict[int, str] = {}  # rank -> how
        self.failed = False  # whether this process, or MPI in it, has
        self.last_words: bytes | None = None

    def open(self, host: str, port: int, rank: int) -> None:
        """Begin to watch."""
        self._socket, self._owner = connect(host, port, 30), os.getpid()
        server.write_message(self._socket, server.WATCH, b"%d" % rank)

    def look(self) -> dict[int, str]:
        """The ranks that have ended, and how."""
        while self._socket is not None and select.select([self._socket], [], [], 0)[0]:
            try:
                _, (rank, how) = server.read_message(self._socket, _SECONDS_FOR_NEWS)
                self.ended[int(rank[:20])] = how.decode(errors="replace")
            except (OSError, server.Malformed, ValueError):
                self._socket = None
                self.ended[-1] = "died"  # the rank or the launcher that started the server
        return self.ended

    def tell(self, how: str) -> None:
        """Say how this rank ends."""
        if self._socket is not None and self._owner == os.getpid() and self.last_words is None:
            self.last_words = how.encode(errors="replace")[:2000]
            with contextlib.suppress(OSError):
                server.write_message(self._socket, server.OK, self.last_words)


watch = Watch()


def _leave_at_exit() -> None:
    hook, owner = sys.excepthook, os.getpid()

    def noticing(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        watch.failed = True
        watch.tell(_last_line(error))
        hook(kind, error, trace)

    def leaving() -> None:
        if os.getpid() == owner:
            leave()

    sys.excepthook = noticing
    atexit.register(leaving)
    process = sys.modules.get("multiprocessing.process")
    if process is not None and process.parent_process() is not None:  # such a process runs no exit functions of atexit
        from multiprocessing.util import Finalize

        Finalize(None, leaving, exitpriority=0)


def _last_line(error: BaseException) -> str:
    first = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {first}".rstrip(": ")


def leave() -> None:
    """End MPI, once: see NOTE [ Leaving ]."""
    error = sys.exc_info()[1]
    if isinstance(error, SystemExit) and error.code in (None, 0):
        error = None
    if error is not None:
        watch.failed = True
    watch.tell("ended" if not watch.failed else _last_line(error) if error is not None else "failed")
    if MPI is None or not MPI.Is_initialized() or MPI.Is_finalized():
        return
    from . import _work

    _work.stop()
    if watch.failed or any(how != "ended" for how in watch.look().values()):
        return
    everyone, pause = MPI.COMM_WORLD.Ibarrier(), 0.0
    while not everyone.Test():
        if any(how != "ended" for how in watch.look().values()):
            return
        time.sleep(pause := min(0.01, pause + 1e-5))
    if any(name in os.environ for name in _LAUNCHERS):
        MPI.Finalize()


def more_ranks_than_cores(here: int) -> None:
    """Say once that processes wait for each other's cores."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if here > cores:
        warn_once(f"{here} processes of this group run on {cores} cores: they wait for each other's turns")


__all__ = ["HOW", "MPI", "DistBackendError", "join", "launched", "leave", "load", "missing", "watch"]
