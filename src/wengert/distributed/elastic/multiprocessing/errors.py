"""The error that ended a process, left in a file for the launcher that started it, and what the launcher says of it.

The launcher names the file in ``TORCHELASTIC_ERROR_FILE``; without it nothing is written. The file is as little to be
trusted as any: it is read up to a length, and what is no error in it is left out.
"""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import json
import os
import shutil
import signal
import socket
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

__all__ = ["ChildFailedError", "ErrorHandler", "ProcessFailure", "get_error_handler", "record"]

T = TypeVar("T")
_NOT_AVAILABLE, _LONGEST = "<N/A>", 1 << 20
_HOW_TO_TRACE = "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html"


def _variable() -> str | None:
    return os.environ.get("TORCHELASTIC_ERROR_FILE") or None


class ErrorHandler:
    """Writes errors to the file that the launcher named."""

    def initialize(self) -> None:
        """Called before the program: signals that end the interpreter leave a trace."""
        with contextlib.suppress(AttributeError, ValueError, OSError):  # stderr is no file
            faulthandler.enable(all_threads=True)

    def record_exception(self, e: BaseException) -> None:
        """Write an error, as JSON: its class, its message and its trace."""
        path = _variable()
        if path:
            trace = "".join(traceback.format_exception(e))
            extra = {"py_callstack": trace, "timestamp": str(int(time.time()))}
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"message": {"message": f"{type(e).__name__}: {e}", "extraInfo": extra}}, file)

    def dump_error_file(self, rootcause_error_file: str, error_code: int = 0) -> None:
        """Copy the file of a process to that of this one, which a launcher above it reads."""
        path = _variable()
        if path and os.path.isfile(rootcause_error_file):
            shutil.copyfile(rootcause_error_file, path)


def get_error_handler() -> ErrorHandler:
    """The handler that ``record`` uses."""
    return ErrorHandler()


@dataclass
class ProcessFailure:
    """How a process ended, and what it has written to its file.

    ``message`` is a text, or what ``record`` has written; ``timestamp`` is in seconds.
    """

    local_rank: int
    pid: int
    exitcode: int
    error_file: str
    error_file_data: dict[str, Any] = field(init=False)
    message: Any = field(init=False)
    timestamp: int = field(init=False)

    def __post_init__(self) -> None:
        self.error_file_data, self.timestamp = {"message": "<NONE>"}, int(time.time())
        if self.exitcode < 0:
            self.message: Any = f"Signal {-self.exitcode} ({self.signal_name()}) received by PID {self.pid}"
        else:
            self.message = _HOW_TO_TRACE
        try:
            with open(self.error_file, encoding="utf-8", errors="replace") as file:
                data = json.loads(file.read(_LONGEST))
            message = data["message"]
            if not isinstance(message, str):
                str(message["extraInfo"]["py_callstack"])
            stamp = data.get("timestamp", 0) if isinstance(message, str) else message["extraInfo"]["timestamp"]
            self.error_file_data, self.message, self.timestamp = data, message, int(stamp)
        except OSError:
            self.error_file = _NOT_AVAILABLE
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError):
            pass  # a process that was killed while it wrote, or wrote something else

    def signal_name(self) -> str:
        """The signal that ended the process."""
        try:
            return signal.Signals(-self.exitcode).name
        except ValueError:
            return _NOT_AVAILABLE

    def timestamp_isoformat(self) -> str:
        """When it failed."""
        try:
            return datetime.fromtimestamp(self.timestamp).isoformat(sep="_")
        except (ValueError, OverflowError, OSError):
            return _NOT_AVAILABLE

    def _described(self, index: int, rank: int) -> str:
        text, name = self.message, self.signal_name()
        if not isinstance(text, str):
            text = str(text["extraInfo"]["py_callstack"]).replace("\n", "\n  ")
        return (
            f"[{index}]:\n  time      : {self.timestamp_isoformat()}\n  host      : {socket.gethostname()}\n"
            f"  rank      : {rank} (local_rank: {self.local_rank})\n"
            f"  exitcode  : {self.exitcode} (pid: {self.pid}) {'' if name == _NOT_AVAILABLE else f' ({name})'}\n"
            f"  error_file: {self.error_file}\n  traceback : {text}"
        )


class ChildFailedError(Exception):
    """Raised by a launcher: processes of ``name`` have failed, given by their ranks."""

    def __init__(self, name: str, failures: dict[int, ProcessFailure]) -> None:
        self.name, self.failures = name, failures
        assert failures
        super().__init__(self.format_msg())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.failures)

    def get_first_failure(self) -> tuple[int, ProcessFailure]:
        """The rank that failed first, and how."""
        rank = min(self.failures, key=lambda r: self.failures[r].timestamp)
        return rank, self.failures[rank]

    def format_msg(self, boarder_delim: str = "=", section_delim: str = "-") -> str:
        """All failures, that of the first last."""
        first, title = self.get_first_failure()[0], f"{self.name} FAILED"
        texts = {rank: failure._described(i, rank) for i, (rank, failure) in enumerate(self.failures.items())}
        width = min(60, max(len(line) for text in (title, *texts.values()) for line in text.split("\n")))
        bar, section, root = boarder_delim * width, section_delim * width, texts.pop(first)
        others = "\n".join(texts.values()) or "  <NO_OTHER_FAILURES>"
        return (
            f"\n{bar}\n{title}\n{section}\nFailures:\n{others}\n{section}\nRoot Cause (first observed failure):\n"
            f"{root}\n{bar}"
        )


def record(fn: Callable[..., T], error_handler: ErrorHandler | None = None) -> Callable[..., T | None]:
    """A decorator of a program's main function: its error is written for the launcher, and raised.

    >>> from wengert.distributed.elastic.multiprocessing.errors import record
    >>> @record
    ... def main():
    ...     return "done"
    >>> main()
    'done'
    """
    handler = error_handler or get_error_handler()

    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> T | None:
        handler.initialize()
        try:
            return fn(*args, **kwargs)
        except SystemExit as end:
            if end.code == 0:  # as after a program that was run by its path
                return None
            raise
        except ChildFailedError as error:
            failure = error.get_first_failure()[1]
            handler.dump_error_file(failure.error_file, failure.exitcode)
            raise
        except Exception as error:
            handler.record_exception(error)
            raise

    return wrapper
