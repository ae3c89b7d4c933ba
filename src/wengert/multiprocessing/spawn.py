"""``spawn``: runs a function in several processes, and reports the first error."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import tempfile
import time
import traceback
import weakref
from collections.abc import Callable
from typing import Any

from .._base.errors import warn

__all__ = [
    "ProcessContext", "ProcessException", "ProcessExitedException", "ProcessRaisedException", "SpawnContext", "spawn",
    "start_processes",
]  # fmt: skip

_log = logging.getLogger(__name__)
_GRACE = 30.0  # seconds that a process may take to end after SIGTERM


class ProcessException(Exception):
    """Raised if a process failed; ``error_index`` is its index, ``error_pid`` its process id."""

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.error_pid = msg, error_index, error_pid

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.msg, self.error_index, self.error_pid)


class ProcessRaisedException(ProcessException):
    """Raised if a process failed with an exception; the message has the traceback."""


class ProcessExitedException(ProcessException):
    """Raised if a process was killed by a signal or ended with an exit code other than 0."""

    def __init__(
        self, msg: str, error_index: int, error_pid: int, exit_code: int, signal_name: str | None = None
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code = exit_code
        self.signal_name = signal_name

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.msg, self.error_index, self.error_pid, self.exit_code, self.signal_name)


# NOTE [ Error files ]
# A process that fails writes the traceback to a file that its parent made for it, before it was started, with access
# for this user alone. The file stays under its name until the parent has read it, so that nobody else can take the name
# in a folder of everybody's; an empty file says that the process did not fail. It holds text, which the parent only
# shows: a pickle could run code.
_LONGEST = 1 << 20  # characters of a traceback that are shown


def _end_with_parent() -> None:
    """Let Linux interrupt this process when its parent is gone, however that ended."""
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGINT)  # PR_SET_PDEATHSIG


def _run(fn: Callable[..., Any], index: int, args: tuple[Any, ...], error_file: str) -> None:
    try:
        _end_with_parent()
        fn(index, *args)
    except KeyboardInterrupt:
        pass  # the parent was interrupted too, and ends this process
    except Exception:  # noqa: BLE001
        flags = os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0)  # the parent's file, no link, and no new one
        with open(os.open(error_file, flags), "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(traceback.format_exc())
        sys.exit(1)


def _remove(error_files: list[str], owner: int) -> None:
    """Remove the files, in the process that made them."""
    if os.getpid() == owner:
        for name in error_files:
            with contextlib.suppress(OSError):
                os.unlink(name)


class ProcessContext:
    """Processes that were started together."""

    def __init__(self, processes: list[Any], error_files: list[str]) -> None:
        self.processes = processes
        self.error_files = error_files
        self.sentinels = {process.sentinel: index for index, process in enumerate(processes)}
        self._removed = weakref.finalize(self, _remove, list(error_files), os.getpid())

    def pids(self) -> list[int]:
        """Their process ids."""
        return [int(process.pid) for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait at most ``timeout`` seconds until a process ends; return whether all have ended without error.

        If a process failed, the others are terminated, after ``grace_period`` seconds.

        Raises:
            ProcessRaisedException: a process raised an exception.
            ProcessExitedException: a process was killed, or ended with an exit code other than 0.
        """
        if not self.sentinels:
            return True
        for sentinel in multiprocessing.connection.wait(list(self.sentinels), timeout):
            index = self.sentinels.pop(sentinel)
            self.processes[index].join()
            if self.processes[index].exitcode != 0:
                self._end_all(grace_period)
                self._raise(index)
        if not self.sentinels:
            self._removed()
        return not self.sentinels

    def _end_all(self, grace_period: float | None) -> None:
        if grace_period is not None:
            self._join_all(grace_period)
        for process in self.processes:
            if process.is_alive():
                _log.warning("Terminating process %s via signal SIGTERM", process.pid)
                process.terminate()
        self._join_all(_GRACE if grace_period is None else grace_period)
        for process in self.processes:
            if process.is_alive():
                _log.warning("Unable to shutdown process %s via SIGTERM , forcefully exiting via SIGKILL", process.pid)
                process.kill()
            process.join()

    def _join_all(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        for process in self.processes:
            process.join(max(0.0, end - time.monotonic()))

    def _written(self, index: int) -> str:
        """What a process wrote: see NOTE [ Error files ]."""
        try:
            with open(self.error_files[index], encoding="utf-8", errors="replace") as file:
                return file.read(_LONGEST)
        except OSError:  # a program may remove what lies in the folder
            return ""

    def _raise(self, index: int) -> None:
        process, code = self.processes[index], self.processes[index].exitcode
        text = self._written(index)
        self._removed()
        if text:
            raise ProcessRaisedException(
                f"\n\n-- Process {index} terminated with the following error:\n{text}", index, process.pid
            )
        if code < 0:
            name = _signal_name(-code)
            raise ProcessExitedException(
                f"process {index} terminated with signal {name}", index, process.pid, code, name
            )
        raise ProcessExitedException(f"process {index} terminated with exit code {code}", index, process.pid, code)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"<Unknown signal {number}>"


class SpawnContext(ProcessContext):
    """The old name of ``ProcessContext``."""

    def __init__(self, processes: list[Any], error_files: list[str]) -> None:
        warn("SpawnContext is renamed to ProcessContext since 1.4 release.")
        super().__init__(processes, error_files)


def start_processes(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run ``fn(i, *args)`` in ``nprocs`` processes, ``i`` counting from 0.

    With ``join`` wait for all processes, otherwise return their ``ProcessContext``. ``daemon`` processes end with this
    one.

    Raises:
        ProcessException: the first failure, if ``join``.
    """
    context: Any = multiprocessing.get_context(start_method)
    processes: list[Any] = []
    error_files: list[str] = []
    try:
        for index in range(nprocs):
            handle, error_file = tempfile.mkstemp(prefix="wengert-errorfile-", suffix=".txt")
            error_files.append(error_file)
            os.close(handle)
            process = context.Process(target=_run, args=(fn, index, args, error_file), daemon=daemon)
            processes.append(process)
            process.start()
    except BaseException:  # the others would wait for those that were not started, and Python for them when it ends
        failed = ProcessContext([process for process in processes if process.pid], error_files)
        failed._end_all(None)
        failed._removed()
        raise
    started = ProcessContext(processes, error_files)
    if not join:
        return started
    while not started.join():
        pass
    return None


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run ``fn(i, *args)`` in ``nprocs`` new processes: see ``start_processes``, which has other start methods too.

    ``fn`` must be defined at the top level of a module.
    """
    if start_method != "spawn":
        warn(
            f"This method only supports start_method=spawn (got: {start_method}).\nTo use a different start_method "
            "use:\n\t\t torch.multiprocessing.start_processes(...)",
            FutureWarning,
        )
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")
