"""The parts of ``DataLoader``: collating, fetching, worker processes and their channels."""

from __future__ import annotations

import sys
import traceback
from types import TracebackType
from typing import Any, NoReturn

__all__ = ["MP_STATUS_CHECK_INTERVAL", "ExceptionWrapper"]

MP_STATUS_CHECK_INTERVAL = 5.0
"""The seconds that a worker may take to end, and the interval at which each side checks that the other is alive."""


class KeyErrorMessage(str):
    """A string whose ``repr`` is itself, since ``KeyError`` shows the ``repr`` of its argument."""

    __slots__ = ()

    def __repr__(self) -> str:
        return self


class ExceptionWrapper:
    """An exception and its traceback as text, to be raised in another process.

    ``exc_info`` is a triple as from ``sys.exc_info()``, by default the exception that is being handled.
    """

    def __init__(
        self,
        exc_info: tuple[type[BaseException], BaseException, TracebackType | None] | None = None,
        where: str = "in background",
    ) -> None:
        info: Any = exc_info or sys.exc_info()
        self.exc_type: type[BaseException] = info[0]
        self.exc_msg = "".join(traceback.format_exception(*info))
        self.where = where

    def reraise(self) -> NoReturn:
        """Raise an exception of the same class, with the traceback of the other process in its message."""
        message = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            message = KeyErrorMessage(message)
        elif getattr(self.exc_type, "message", None):  # a class that stores its message under this name
            raise self.exc_type(message=message)  # type: ignore[call-arg]
        try:
            error = self.exc_type(message)
        except Exception:  # noqa: BLE001  a class that wants other arguments than a text
            raise RuntimeError(message) from None
        try:
            raise error
        finally:
            del error  # it holds this frame, and with it the iterator and its workers


from ...._compat import find_rows  # noqa: E402
from . import collate, fetch, worker  # noqa: E402  they use what is above

find_rows(globals())
