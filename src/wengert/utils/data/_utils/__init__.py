"""What a ``DataLoader`` is made of: collating, fetching, worker processes and the channels to them."""

from __future__ import annotations

import sys
import traceback
from types import TracebackType
from typing import Any, NoReturn

__all__ = ["MP_STATUS_CHECK_INTERVAL", "ExceptionWrapper"]

MP_STATUS_CHECK_INTERVAL = 5.0
"""Seconds: how long a worker may take to end, and how often either side looks whether the other one still lives."""


class KeyErrorMessage(str):
    """A text whose ``repr`` is itself: ``KeyError`` shows the ``repr`` of what it is given."""

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
        """Raise an exception of the same class, whose text holds the traceback from over there."""
        message = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            message = KeyErrorMessage(message)
        elif getattr(self.exc_type, "message", None):  # a class that keeps its text by this name
            raise self.exc_type(message=message)  # type: ignore[call-arg]
        try:
            error = self.exc_type(message)
        except Exception:  # noqa: BLE001  a class that wants other arguments than a text
            raise RuntimeError(message) from None
        raise error


from . import collate, fetch, worker  # noqa: E402  they use what is above
