"""``Work``: a collective or message under way, and how all of them go on.

A work's steps are a generator that starts an operation of MPI's that does not block, yields what tests whether it is
done, and goes on. Whoever waits for any work moves all that are before it; a thread moves the others now and then.

NOTE [ Who moves works ]
    MPI moves data only inside of its calls. A thread that called it all the time would take the core and the
    interpreter's lock from the program. So the thread looks every two milliseconds, and only while something is
    asynchronous. Whoever waits tests without a pause for some 50 microseconds, and then rests between tests: who slept
    gets a core at once, who only yielded it waits for the turns of all. With more ranks, or other programs, than cores
    this is what makes them fast: MPI's own waits spin.

NOTE [ A work that fails ]
    MPI cannot take back what was started. After a time out, or the end of a rank, the request and its memory are kept,
    the group refuses further work, and the process leaves MPI without ``MPI_Finalize``.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from .._base import errors
from ..futures import Future  # type: ignore[import-not-found]  # `_compat.futures` would be a second module
from ._mpi import watch

if TYPE_CHECKING:
    from ._process_group import ProcessGroup

__all__ = ["Work"]

Test = Callable[[], bool]
Steps = Generator[Test, None, Any]

_lock = threading.RLock()  # of every call of MPI
_under_way: set[Work] = set()  # what nobody may be waiting for
_kept: list[Any] = []  # see NOTE [ A work that fails ]
_ticking: threading.Event | None = None
_TESTS_TILL_REST, _TESTS_TILL_LOOK = 100, 64
_REST, _LONG_REST = 1e-6, 1e-3  # seconds; the system makes at least some 50 microseconds of the first
_SECONDS_TILL_NEWS, _GRACE_DIED, _GRACE_ENDED = 0.1, 0.5, 5.0
_SECONDS_FOR_OWN_ERRORS = 5.0


class Work:
    """What an asynchronous collective returns.

    ``wait()`` waits for it, ``is_completed()`` tells whether it is done, ``get_future()`` gives a future of its
    tensors.
    """

    def __init__(
        self, group: ProcessGroup, name: str, steps: Steps, tensors: Any, in_order: bool = True,
        wrong: str | None = None,
    ) -> None:  # fmt: skip
        self._group, self._name, self._steps, self._tensors = group, name, steps, tensors
        self._test: Test | None = None
        self._done = self._busy = False
        self._error: BaseException | None = None
        self._future: Future[Any] | None = None
        self._place: tuple[Any, int] | None = None
        self._sequence: int | None = None
        self._wrong = wrong
        self._source: Any = None
        self._line: deque[Work] = group._line if in_order else deque()
        if group._broken is not None:
            raise type(group._broken)(*group._broken.args)
        with _lock:
            self._line.append(self)
            if self._line[0] is self:
                _move(self._line)

    # -- what moves it
    def _go_on(self) -> bool:
        """Start and test until something is not done yet; return whether all is."""
        try:
            test = self._test
            while test is None or test():
                test = self._test = next(self._steps)
            return False
        except StopIteration as end:
            self._source = end.value
        except BaseException as error:  # noqa: BLE001  whoever waits gets it
            self._error = _translated(error)
        self._test = None
        return True

    def _finish(self) -> None:
        self._done = True
        _under_way.discard(self)
        if self._future is not None:
            self._settle(self._future)

    def _settle(self, future: Future[Any]) -> None:
        if self._error is not None:
            future.set_exception(self._error)
        else:
            future.set_result(self._tensors)

    def _described(self) -> str:
        return f"{self._name} of group {self._group.group_name!r}, {errors.where(*(self._place or errors.here()))}"

    def _unwatched(self) -> Work:
        """Let the thread move it."""
        if not self._done:
            self._place = errors.here()
            _under_way.add(self)
            _tick()
        return self

    # -- PyTorch's names
    def wait(self, timeout: timedelta | None = None) -> bool:
        """Wait until it is done, at most ``timeout``; raise its error if it failed."""
        if not self._done:
            _drive(self, None if timeout is None or not timeout else timeout.total_seconds())
        if self._error is not None:
            raise self._error
        return True

    def synchronize(self) -> None:
        """Wait: there is no stream."""
        self.wait()

    def is_completed(self) -> bool:
        """Whether it is done, or has failed."""
        if not self._done:
            with _lock:
                _move(self._line)
        return self._done

    def is_success(self) -> bool:
        """Whether it is done and has not failed."""
        return self._done and self._error is None

    def exception(self) -> BaseException | None:
        """Its error, if it has failed."""
        return self._error

    def result(self) -> Any:
        """Its tensors. Raises RuntimeError if it is not done."""
        if not self._done:
            raise RuntimeError(
                "Work needs to be completed before calling result(). Should call wait() before result()."
            )
        return self._tensors

    def source_rank(self) -> int:
        """The rank in the group from which a message came."""
        self.wait()
        return self._source

    _source_rank = source_rank

    def get_future(self) -> Future[Any]:
        """A future of its tensors."""
        if self._future is None:
            future: Future[Any] = WorkFuture(self)
            with _lock:
                if self._done:
                    self._settle(future)
                self._future = future
        return self._future


class WorkFuture(Future[Any]):
    """A future that moves its work when it is asked."""

    def __init__(self, work: Any) -> None:
        super().__init__()
        self._work = work

    def wait(self) -> Any:
        if not super().done():
            self._move_on()
        return self.result()

    def _move_on(self) -> None:
        if isinstance(self._work, Work):
            if not self._work._done:
                _drive(self._work, None)
        else:
            self._work._move_on() if isinstance(self._work, WorkFuture) else self._work.wait()

    def done(self) -> bool:
        """Whether the value is there."""
        return super().done() or (isinstance(self._work, Work) and self._work.is_completed() and super().done())

    def _next(self) -> Future[Any]:
        return WorkFuture(self)


def _move(line: deque[Work]) -> None:
    """Move works that are done in their order, as far as they go."""
    while line and line[0]._go_on():
        line.popleft()._finish()


def _drive(work: Work, seconds: float | None) -> None:
    """Move works until one is done: see NOTE [ Who moves works ]."""
    line, turns, patience = work._line, 0, None
    while not work._done:
        with _lock:
            _move(line)
        turns += 1
        if turns > _TESTS_TILL_REST and not work._done:
            time.sleep(_REST if patience is None else patience.rest)
            if patience is None:
                patience = _Patience(work, seconds)
            elif patience.rest == _LONG_REST or turns % _TESTS_TILL_LOOK == 0:
                patience.look()


class _Patience:
    """What one does who waits for long: sleep, look for ranks that are gone, and give up at last."""

    def __init__(self, work: Work, seconds: float | None) -> None:
        self.work, self.group = work, work._group
        self.seconds = self.group._timeout.total_seconds() if seconds is None else seconds
        if work._wrong is not None:  # an error of this rank alone needs not wait for the others for long
            self.seconds = min(self.seconds, _SECONDS_FOR_OWN_ERRORS)
        self.begun, self.rest = time.monotonic(), _REST
        self.news = self.begun + _SECONDS_TILL_NEWS
        self.gone: dict[int, float] = {}
        self.announced = False

    def look(self) -> None:
        now = time.monotonic()
        waited = now - self.begun
        if waited > _SECONDS_TILL_NEWS and not self.work._busy:
            self.rest = _LONG_REST
        if now > self.news:
            self.news = now + _SECONDS_TILL_NEWS
            self._look_for_ends(now)
        if not self.announced and waited > min(1.0, self.seconds / 4):
            self.announced = True
            self.group._announce(self.work)
        if waited > self.seconds:
            _fail(self.work, self._timed_out())

    def _look_for_ends(self, now: float) -> None:
        for rank, how in watch.look().items():
            if rank in (-1, *self.group._ranks) and rank != self.group._ranks[self.group.rank()]:
                since = self.gone.setdefault(rank, now)
                if now - since > (_GRACE_ENDED if how == "ended" else _GRACE_DIED):
                    _fail(self.work, self._ended(rank, how))

    def _ended(self, rank: int, how: str) -> BaseException:
        text = {"died": "was killed, or its machine is gone", "ended": "has ended without it"}.get(
            how, f"failed: {how}"
        )
        who = f"rank {rank}" if rank >= 0 else "the launcher or rank 0"
        return errors.noted(
            RuntimeError(f"Connection closed by peer: {who} {text}"), f"Where: {self.work._described()}"
        )

    def _timed_out(self) -> BaseException:
        missing, told = self.group._who_came(self.work)
        milliseconds = round(self.seconds * 1000)
        text = f"Timed out waiting {milliseconds}ms for recv operation to complete"
        if self.work._wrong is not None:
            text = self.work._wrong
        elif self.work._name == "monitored_barrier":
            text = self.group._monitored(missing, milliseconds)
        return errors.noted(RuntimeError(text), f"Where: {self.work._described()}", *told)


def _fail(work: Work, error: BaseException) -> None:
    """Give up a work, and with it its group: see NOTE [ A work that fails ]."""
    watch.failed = True
    with _lock:
        work._group._broken = error
        waiting = list(work._line) or [work]
        work._line.clear()
        for one in waiting:
            _kept.append((one._test, one._steps))
            one._error = error
            one._finish()


def _translated(error: BaseException) -> BaseException:
    """An error of MPI's as PyTorch's class; others as they are."""
    if type(error).__module__.partition(".")[0] == "mpi4py":
        watch.failed = True
        return errors.noted(RuntimeError(f"MPI: {error}"))
    return error


# -- the thread
def _tick() -> None:
    global _ticking
    if _ticking is None:
        _ticking = threading.Event()
        threading.Thread(target=_run, args=(_ticking,), daemon=True, name="wengert-distributed").start()
    _ticking.set()


def _run(event: threading.Event) -> None:
    while event is _ticking:
        event.wait()
        while _under_way and event is _ticking:
            time.sleep(0.002)
            if _lock.acquire(blocking=False):
                try:
                    if event is _ticking:
                        for work in list(_under_way):
                            _move(work._line)
                finally:
                    _lock.release()
        event.clear()
        if _under_way:
            event.set()


def stop() -> None:
    """Let the thread end: nothing may call MPI after its end."""
    global _ticking
    with _lock:
        if _ticking is not None:
            last, _ticking = _ticking, None
            last.set()
    sys.stdout.flush()
