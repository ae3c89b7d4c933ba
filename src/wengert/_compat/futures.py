"""``torch.futures``: futures, for libraries that use them in callbacks.

>>> import wengert as torch
>>> f = torch.futures.Future()
>>> g = f.then(lambda done: done.value() + 1)
>>> f.set_result(1)
>>> g.wait()
2
"""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")
S = TypeVar("S")


class Future(concurrent.futures.Future[T]):
    """A value that is set later: ``concurrent.futures.Future`` with PyTorch's names.

    ``devices`` is accepted; there are none besides the CPU.
    """

    def __init__(self, *, devices: Any = None) -> None:
        super().__init__()

    def wait(self) -> T:
        """Wait for the value and return it, or raise the error."""
        return self.result()

    def value(self) -> T:
        """The value of a future that is done. Raises RuntimeError if it is not done."""
        if not self.done():
            raise RuntimeError("Cannot call value() on a Future that is not done")
        return self.result()

    def set_result(self, result: T) -> None:
        """Set the value. Raises RuntimeError if it is already set."""
        if self.done():
            raise RuntimeError("Future is already marked as completed.")
        super().set_result(result)

    def set_exception(self, result: Any) -> None:  # PyTorch's name of the argument
        """Set an error instead of a value."""
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        super().set_exception(result)

    def _next(self) -> Future[Any]:
        """An empty future that follows this one."""
        return Future()

    def then(self, callback: Callable[[Future[T]], S]) -> Future[S]:
        """A future of ``callback(self)``, which is called as soon as this one is done."""
        if not callable(callback):
            raise TypeError("then(): incompatible function arguments")
        later = self._next()

        def call(_: Any) -> None:
            try:
                later.set_result(callback(self))
            except Exception as error:  # noqa: BLE001  it is the result
                later.set_exception(error)

        self.add_done_callback(call)
        return later


def collect_all(futures: list[Future[Any]]) -> Future[list[Future[Any]]]:
    """A future of the list of these futures, done when all are."""
    collected: Future[list[Future[Any]]] = Future()

    def look(_: Any) -> None:
        if not collected.done() and all(f.done() for f in futures):
            collected.set_result(futures)

    look(None)
    for future in futures:
        future.add_done_callback(look)
    return collected


def wait_all(futures: list[Future[Any]]) -> list[Any]:
    """Wait for all futures and return their values."""
    return [future.wait() for future in collect_all(futures).wait()]
