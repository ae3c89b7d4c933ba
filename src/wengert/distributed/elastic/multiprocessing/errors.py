"""The error that ended a process, left in a file for the launcher that started it.

The launcher names the file in ``TORCHELASTIC_ERROR_FILE``; without it nothing is written.
"""

from __future__ import annotations

import functools
import json
import os
import time
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["ErrorHandler", "record"]

T = TypeVar("T")


class ErrorHandler:
    """Writes errors to the file that the launcher named."""

    def initialize(self) -> None:
        """Called before the program; for subclasses."""

    def record_exception(self, e: BaseException) -> None:
        """Write an error, as JSON: its class, its message and its trace."""
        path = os.environ.get("TORCHELASTIC_ERROR_FILE")
        if path:
            trace = "".join(traceback.format_exception(e))
            extra = {"py_callstack": trace, "timestamp": str(int(time.time()))}
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"message": {"message": f"{type(e).__name__}: {e}", "extraInfo": extra}}, file)


def record(fn: Callable[..., T], error_handler: ErrorHandler | None = None) -> Callable[..., T | None]:
    """A decorator of a program's main function: its error is written for the launcher, and raised.

    >>> from wengert.distributed.elastic.multiprocessing.errors import record
    >>> @record
    ... def main():
    ...     return "done"
    >>> main()
    'done'
    """
    handler = error_handler or ErrorHandler()

    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> T | None:
        handler.initialize()
        try:
            return fn(*args, **kwargs)
        except SystemExit as end:
            if end.code == 0:  # as after a program that was run by its path
                return None
            raise
        except Exception as error:
            handler.record_exception(error)
            raise

    return wrapper
