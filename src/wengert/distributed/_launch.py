"""Starts the ranks of a program, tells them of each other, and ends them: the launcher.

``python -m wengert run --nproc 4 program.py`` and ``python -m torch.distributed.run`` both come here. Each machine has
a launcher; the one of node 0 serves the address at which all meet (``_launch_server``), for ranks and launchers.

NOTE [ Restarts ]
    If a rank fails, all ranks of all nodes are ended, and started anew up to ``max_restarts`` times. The launchers
    agree on it by keys of the store: a node that fails says so, each says when its ranks have ended, and node 0 clears
    the store and says go.
"""

from __future__ import annotations

import contextlib
import dataclasses
import ipaddress
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

from . import _launch_server as server
from ._stores import DistError, TCPStore
from .elastic.multiprocessing.errors import ChildFailedError, ProcessFailure

_SECONDS_TO_END = 10.0
_LOCK = "wengert/launcher/"


@dataclasses.dataclass
class Plan:
    """What to start, and where."""

    command: list[str]
    name: str = "program"
    nproc: int = 1
    nnodes: int = 1
    node_rank: int | None = None  # None: in the order of arrival
    host: str = "127.0.0.1"
    port: int = 0
    max_restarts: int = 0
    run_id: str = "none"
    timeout: float = 900.0
    tee: bool = False  # each line of a rank's output begins with its rank
    log_dir: str | None = None
    shown_ranks: frozenset[int] | None = None
    named: bool = False  # whether "{local_rank}" in the command is the rank's number
    extra: dict[str, str] = dataclasses.field(default_factory=dict)  # environment variables


class _Node:
    """This machine among the others."""

    def __init__(self, plan: Plan) -> None:
        self.server: server.Server | None = None
        if plan.nnodes == 1 or plan.node_rank == 0 or (plan.node_rank is None and _is_here(plan.host)):
            try:
                self.server = server.Server("127.0.0.1" if plan.nnodes == 1 else "0.0.0.0", plan.port)
            except OSError as error:
                if plan.node_rank is not None or plan.nnodes == 1:
                    raise SystemExit(f"{plan.host}:{plan.port}: {error.strerror}") from None
        self.port = self.server.port if self.server else plan.port
        self.host = "127.0.0.1" if plan.nnodes == 1 else plan.host
        self.rank, self.start, self.size = 0, 0, plan.nproc
        self._store: TCPStore | None = None
        if plan.nnodes > 1:
            self._store = TCPStore(self.host, self.port, None, False, timedelta(seconds=plan.timeout))
            self._meet(plan, self._store)

    def _meet(self, plan: Plan, store: TCPStore) -> None:
        self.rank = plan.node_rank if plan.node_rank is not None else self._arrive(store)
        store.set(f"{_LOCK}nproc/{self.rank}", str(plan.nproc))
        counts = [int(n) for n in store.multi_get([f"{_LOCK}nproc/{i}" for i in range(plan.nnodes)])]
        self.start, self.size = sum(counts[: self.rank]), sum(counts)

    def _arrive(self, store: TCPStore) -> int:
        """Node 0 is the one that serves, the others come as they come."""
        return 0 if self.server else store.add(f"{_LOCK}arrived", 1)

    def failed_elsewhere(self, attempt: int) -> bool:
        """Whether another node's ranks have failed."""
        try:
            return self._store is not None and self._store.check([f"{_LOCK}failed/{attempt}"])
        except DistError:
            return True  # node 0's launcher is gone

    def agree(self, plan: Plan, attempt: int, failed: bool) -> bool:
        """Tell the other nodes how this attempt ended here, and wait for them; return whether it failed anywhere."""
        store = self._store
        if store is not None:
            try:
                if failed:
                    store.set(f"{_LOCK}failed/{attempt}", "1")
                store.set(f"{_LOCK}ended/{attempt}/{self.rank}", "1")
                store.set_timeout(timedelta(days=10))
                store.wait([f"{_LOCK}ended/{attempt}/{i}" for i in range(plan.nnodes)])
                failed = store.check([f"{_LOCK}failed/{attempt}"])
                if self.server:
                    self.server.clear(_LOCK.encode())
                    store.set(f"{_LOCK}go/{attempt}", "1")
                store.wait([f"{_LOCK}go/{attempt}"])
                if store.add(f"{_LOCK}gone/{attempt}", 1) < plan.nnodes and self.server:
                    with contextlib.suppress(DistError):  # the others still ask
                        while store.add(f"{_LOCK}gone/{attempt}", 0) < plan.nnodes:
                            time.sleep(0.02)
            except DistError:
                return True
        elif self.server:
            self.server.clear(_LOCK.encode())
        return failed


def _is_here(host: str) -> bool:
    """Whether a name is this machine's."""
    if host in ("localhost", socket.gethostname(), socket.getfqdn()):
        return True
    with contextlib.suppress(ValueError):
        if ipaddress.ip_address(host).is_loopback:
            return True
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind((socket.gethostbyname(host), 0))
        return True
    return False


def launch(plan: Plan, start: Callable[..., list[Rank]] | None = None) -> int:
    """Run a plan, whose ranks ``start`` starts; return the exit code.

    It is 0, or 1 if a rank failed elsewhere, or 128 and the signal that ended it all.

    Raises:
        ChildFailedError: a rank of this machine failed, and there is no restart left.
    """
    folder = tempfile.mkdtemp(prefix="torchelastic_")  # with the files in which ranks leave their errors
    failed: ChildFailedError | None = None
    try:
        with _signals() as stopped:
            node = _Node(plan)
            for attempt in range(plan.max_restarts + 1):
                ranks = (start or _start)(plan, node, attempt, folder)
                try:
                    first = _watch(ranks, node, attempt, stopped)
                finally:
                    _end(ranks, stopped)
                if stopped:
                    return 128 + stopped[0]
                failed = None if first is None else _failure(plan, ranks, first)
                if not node.agree(plan, attempt, first is not None):
                    return 0
                if failed is not None and attempt < plan.max_restarts:
                    again = f" FAILED; restarting ({attempt + 1} of {plan.max_restarts})\n"
                    sys.stderr.write(f"{failed}\n".replace(" FAILED\n", again, 1))
        if failed is not None:
            raise failed
        return 1
    finally:
        if failed is None or not any(one.error_file.startswith(folder) for one in failed.failures.values()):
            shutil.rmtree(folder, ignore_errors=True)


def exit_code(plan: Plan) -> int:
    """Run a plan for a command line, which says what failed."""
    try:
        return launch(plan)
    except ChildFailedError as error:
        sys.stderr.write(f"{error}\n")
        return 1


@contextlib.contextmanager
def _signals() -> Iterator[list[int]]:
    """A block in which Ctrl-C and SIGTERM do not end this process but are noted."""
    stopped: list[int] = []
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            before[number] = signal.signal(number, lambda number, frame: stopped.append(number))
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@dataclasses.dataclass
class Rank:
    rank: int
    local: int
    process: Any  # a Popen, or what has its methods
    error_file: str
    reader: threading.Thread | None = None


def environments(plan: Plan, node: _Node, attempt: int, folder: str) -> Iterator[dict[str, str]]:
    """The environment of each rank of this machine; its error file lies in ``folder``."""
    launchers = ("PMI_", "PMIX_", "OMPI_", "MPI_LOCAL")  # of this process, as under srun: no rank of theirs is started
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(launchers)},
        "MASTER_ADDR": node.host, "MASTER_PORT": str(node.port), "WORLD_SIZE": str(node.size),
        "LOCAL_WORLD_SIZE": str(plan.nproc), "GROUP_RANK": str(node.rank), "GROUP_WORLD_SIZE": str(plan.nnodes),
        "ROLE_NAME": "default", "ROLE_WORLD_SIZE": str(node.size), "TORCHELASTIC_USE_AGENT_STORE": "True",
        "TORCHELASTIC_RUN_ID": plan.run_id, "TORCHELASTIC_RESTART_COUNT": str(attempt),
        "TORCHELASTIC_MAX_RESTARTS": str(plan.max_restarts), **plan.extra,
    }  # fmt: skip
    if plan.nproc > 1:  # as many threads as cores in each rank would make all of them slow
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            environment.setdefault(name, "1")
    for local in range(plan.nproc):
        number = str(node.start + local)
        error_file = os.path.join(folder, f"attempt_{attempt}", str(local), "error.json")
        os.makedirs(os.path.dirname(error_file))
        told = {"RANK": number, "LOCAL_RANK": str(local), "ROLE_RANK": number, "TORCHELASTIC_ERROR_FILE": error_file}
        yield {**environment, **told}


def _start(plan: Plan, node: _Node, attempt: int, folder: str) -> list[Rank]:
    ranks = []
    for local, environment in enumerate(environments(plan, node, attempt, folder)):
        out, read = _output(plan, node.start + local, attempt)
        err = None if out is None else subprocess.STDOUT
        command = [part.replace("{local_rank}", str(local)) for part in plan.command] if plan.named else plan.command
        process = subprocess.Popen(command, env=environment, start_new_session=True, stdout=out, stderr=err)
        ranks.append(Rank(node.start + local, local, process, environment["TORCHELASTIC_ERROR_FILE"]))
        if read:
            ranks[-1].reader = threading.Thread(target=_copy, args=(process.stdout, plan.name, local), daemon=True)
            ranks[-1].reader.start()
        elif out not in (None, subprocess.DEVNULL):
            out.close()
    return ranks


def _output(plan: Plan, rank: int, attempt: int) -> tuple[Any, bool]:
    """Where a rank writes to, and whether a thread copies it."""
    if plan.log_dir is not None:
        folder = os.path.join(plan.log_dir, plan.run_id, f"attempt_{attempt}")
        os.makedirs(folder, exist_ok=True)
        return open(os.path.join(folder, f"rank_{rank}.log"), "wb"), False
    if plan.shown_ranks is not None and rank not in plan.shown_ranks:
        return subprocess.DEVNULL, False
    return (subprocess.PIPE, True) if plan.tee else (None, False)


def _copy(pipe: Any, name: str, local: int) -> None:
    for line in pipe:
        sys.stdout.write(f"[{name}{local}]:{line.decode(errors='replace')}")
        sys.stdout.flush()


def _watch(ranks: list[Rank], node: _Node, attempt: int, stopped: list[int]) -> Rank | None:
    """Wait until all ranks have ended, or one has failed, which is returned; or until a signal has come."""
    turn = 0
    while not stopped:
        codes = [one.process.poll() for one in ranks]
        for one, code in zip(ranks, codes, strict=True):
            if code:
                return one
        if all(code == 0 for code in codes):
            return None
        turn += 1
        if turn % 25 == 0 and node.failed_elsewhere(attempt):
            return None
        time.sleep(0.02)
    return None


def _end(ranks: list[Rank], stopped: list[int]) -> None:
    """End the ranks that are left, and what they have started."""
    for number, seconds in ((stopped[0] if stopped else signal.SIGTERM, _SECONDS_TO_END / 2),
                            (signal.SIGTERM, _SECONDS_TO_END / 2), (signal.SIGKILL, 5.0)):  # fmt: skip
        left = [one for one in ranks if one.process.poll() is None]
        if not left:
            break
        for one in left:
            _kill_group(one, number)
        end = time.monotonic() + seconds
        for one in left:
            with contextlib.suppress(subprocess.TimeoutExpired):
                one.process.wait(max(0.0, end - time.monotonic()))
    for one in ranks:
        if one.process.returncode:
            _kill_group(one, signal.SIGKILL)  # the workers of a rank that was killed
        if one.reader is not None:
            one.reader.join(2)


def _kill_group(one: Rank, number: int) -> None:
    with contextlib.suppress(OSError):
        os.killpg(one.process.pid, number)


def _failure(plan: Plan, ranks: list[Rank], first: Rank) -> ChildFailedError:
    """The failures of an attempt, that of the rank that failed first before the others."""
    failures = {}
    for one in (first, *ranks):
        code = one.process.returncode
        if code and one.rank not in failures:
            failures[one.rank] = ProcessFailure(one.local, one.process.pid, code, one.error_file)
    return ChildFailedError(plan.name, failures)
