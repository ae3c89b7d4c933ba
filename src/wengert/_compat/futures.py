"""``torch.futures``: values that come later, as some libraries' callbacks use them. Nothing here waits by itself.

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
from typing import Any, Generic, TypeVar

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")
S = TypeVar("S")


class Future(Generic[T]):
    """A value that another thread, or later code, sets: ``concurrent.futures.Future`` by PyTorch's names.

    ``devices`` is accepted; there are none besides the CPU.
    """

    def __init__(self, *, devices: Any = None) -> None:
        self._future: concurrent.futures.Future[T] = concurrent.futures.Future()

    def done(self) -> bool:
        """Whether the value, or an error, is there."""
        return self._future.done()

    def wait(self) -> T:
        """The value, waited for; the error is raised if there was one."""
        return self._future.result()

    def value(self) -> T:
        """The value of a future that is done. Raises RuntimeError if it is not."""
        if not self.done():
            raise RuntimeError("Cannot call value() on a Future that is not done")
        return self._future.result()

    def set_result(self, result: T) -> None:
        """Give the value. Raises RuntimeError the second time."""
        if self.done():
            raise RuntimeError("Future is already marked as completed.")
        self._future.set_result(result)

    def set_exception(self, result: BaseException) -> None:
        """Give an error in place of a value."""
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._future.set_exception(result)

    def then(self, callback: Callable[[Future[T]], S]) -> Future[S]:
        """A future of ``callback(self)``, which is called as soon as this one is done."""
        later: Future[S] = Future()

        def call(_: Any) -> None:
            try:
                later.set_result(callback(self))
            except Exception as error:  # noqa: BLE001  it is the result
                later.set_exception(error)

        self._future.add_done_callback(call)
        return later

    def add_done_callback(self, callback: Callable[[Future[T]], None]) -> None:
        """Call ``callback(self)`` as soon as this one is done."""
        self._future.add_done_callback(lambda _: callback(self))


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
    """The values of all of them, waited for."""
    return [future.wait() for future in collect_all(futures).wait()]
