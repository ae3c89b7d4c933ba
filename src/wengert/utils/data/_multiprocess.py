"""The iterator of a ``DataLoader`` with worker processes.

Every worker has its own channel and answers its tasks in order. The tasks go to the workers in turn, and answers are
taken in the order of the tasks; early answers wait in their channel. So the worker of each batch depends on the dataset
alone and not on timing.

NOTE [ Interrupts ]
What interrupts the wait for an answer does no harm: the program may go on. While an answer or a task is handed over,
``_interrupted`` is set: half a message may have been read, or a task is counted whose answer is lost. Who goes on then
would get other batches than the loader's, or wait for ever; it is an error, and the next iteration starts new workers.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator
from itertools import cycle
from typing import Any, NoReturn

from ..._base.errors import noted, warn
from ._utils import MP_STATUS_CHECK_INTERVAL, ExceptionWrapper
from ._utils.channel import Channel, Closed, first_ready, pair
from ._utils.worker import Exhausted, Job, Resume, Task, worker_loop
from .dataloader import DataLoader, _BaseDataLoaderIter


class Workers:
    """The processes of one iterator and their channels. It has no reference to the iterator, which it outlives."""

    def __init__(self) -> None:
        self.processes: list[Any] = []
        self.channels: list[Channel] = []
        self._owner = os.getpid()
        self._patience = MP_STATUS_CHECK_INTERVAL

    def start(self, context: Any, job: Job) -> None:
        """Start one more worker."""
        here, there = pair()
        forked = context.get_start_method() == "fork"
        self.channels.append(here)
        try:
            with _later_interrupts() as handler:
                inherited = ([*self.channels], handler) if forked else ([], None)
                process = context.Process(target=worker_loop, args=(there, job, *inherited), daemon=True)
                self.processes.append(process)
                process.start()
        except (TypeError, AttributeError, pickle.PicklingError) as error:
            warn(
                "Got pickle error when attempting to start a worker Process. This might be because the worker Process "
                "arguments are not picklable. Python 3.14+ changed the multiprocessing start method in non-Mac POSIX "
                "platforms to 'forkserver', which requires the worker Process arguments to be picklable. You can also "
                "try multiprocessing.set_start_method('fork')."
            )
            noted(
                error,
                f"Why: with the start method {context.get_start_method()!r} the dataset, collate_fn and "
                "worker_init_fn are pickled; a lambda or a function inside of a function cannot be.",
            )
            raise
        finally:
            there.forget()

    def shutdown(self) -> None:
        """End the workers: idle workers end at once, busy ones are given some seconds."""
        if os.getpid() != self._owner:  # a forked process's copy: the workers are not its own
            return
        for channel in self.channels:
            channel.close()
        seconds, self._patience = self._patience, 0.0
        _join(self.processes, seconds)
        for end in ("terminate", "kill"):
            alive = [process for process in self.processes if process.is_alive()]
            for process in alive:
                getattr(process, end)()
            _join(alive)

    def __del__(self) -> None:
        self.shutdown()  # once more, without patience, if an interrupt has ended the first time

    def died(self, worker: int) -> RuntimeError:
        """The error for a worker that has died."""
        process = self.processes[worker]
        process.join(MP_STATUS_CHECK_INTERVAL)
        error = RuntimeError(f"DataLoader worker (pid(s) {process.pid}) exited unexpectedly")
        code = process.exitcode
        if code is not None and code < 0:
            why = f"the process was killed by signal: {signal.strsignal(-code) or -code}."
        else:
            why = f"the process ended with exit code {code}."
        advice = "What to do: run again with num_workers=0, which may give a better error."
        if code == -signal.SIGTERM or code == -getattr(signal, "SIGKILL", signal.SIGTERM):
            advice += " The system kills a process if memory runs out."
        return noted(error, f"Why: {why}", advice)


@contextlib.contextmanager
def _later_interrupts() -> Iterator[Any]:
    """Ctrl-C waits until the end, where a process that is made would otherwise be lost; gives the handler before."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is None or threading.current_thread() is not threading.main_thread():
        yield None
        return
    came: list[int] = []
    try:
        signal.signal(signal.SIGINT, lambda number, _: came.append(number))
        yield handler
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            signal.raise_signal(signal.SIGINT)


def _join(processes: list[Any], seconds: float = MP_STATUS_CHECK_INTERVAL) -> None:
    deadline = time.monotonic() + seconds
    for process in processes:
        if process.pid is not None:  # it was started
            process.join(max(0.0, deadline - time.monotonic()))


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Batches that worker processes make in advance."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        self._prefetch_factor = loader.prefetch_factor or 0
        if self._prefetch_factor <= 0:
            raise AssertionError("prefetch_factor must be greater than 0 for MultiProcessingDataLoaderIter")
        self._in_order = loader.in_order
        pool = self._pool = Workers()
        self._finalizer = weakref.finalize(self, pool.shutdown)
        # When Python exits, `multiprocessing` ends its daemons itself, without waiting for busy ones.
        self._finalizer.atexit = False
        self._workers = pool.processes
        context = loader.multiprocessing_context or multiprocessing
        try:
            for worker_id in range(self._num_workers):
                job = Job(self._fetching, self._base_seed, loader.worker_init_fn, worker_id, self._num_workers)
                pool.start(context, job)
        except BaseException:
            self._shutdown_workers()
            raise
        self._reset(loader, first_iter=True)

    def _reset(self, loader: DataLoader[Any], first_iter: bool = False) -> None:
        self._interrupted = True
        super()._reset(loader, first_iter)
        n = self._num_workers
        if not first_iter:
            for worker in range(n):
                self._send(worker, Resume())
            for worker in range(n):
                while not isinstance(self._receive(worker), Resume):
                    pass  # of the pass before this one
        self._active = [True] * n  # False: its share of an iterable dataset is exhausted, or it died
        self._asked = [0] * n  # tasks that a worker has not answered
        self._tasks: deque[int] = deque()  # the workers of those tasks, in order
        self._turn = cycle(range(n))
        for _ in range(self._prefetch_factor * n):
            self._try_put_index()
        self._interrupted = False

    # ---- tasks
    def _try_put_index(self) -> None:
        """Send the next task to the next worker, if there is one."""
        try:
            index = self._next_index()
        except StopIteration:
            return
        for _ in range(self._num_workers):
            worker = next(self._turn)
            if self._active[worker] and (self._in_order or self._has_room(worker)):
                self._send(worker, Task(index))
                self._asked[worker] += 1
                self._tasks.append(worker)
                return

    def _has_room(self, worker: int) -> bool:
        return self._asked[worker] < self._prefetch_factor * self._num_workers // sum(self._active)

    def _next_data(self) -> Any:
        if self._interrupted:
            raise noted(
                RuntimeError("DataLoader iteration was interrupted while a batch was handed over"),
                "Why: a batch may be lost, or there in part, and the ones after it cannot be told apart.",
                "What to do: begin another iteration.",
            )
        tasks = self._tasks
        while tasks:
            worker = tasks[0] if self._in_order else self._first_ready()
            if worker is None:
                break
            if not self._active[worker]:
                tasks.popleft()
                continue
            if not self._finalizer.alive:
                raise AssertionError("Invalid iterator state: shutdown or no outstanding tasks when fetching next data")
            answer = self._receive(worker)
            tasks.remove(worker)
            self._asked[worker] -= 1
            if isinstance(answer, Exhausted):
                self._active[worker] = False
                if not self._persistent_workers:
                    self._pool.channels[worker].close()  # it ends
                self._try_put_index()
                self._interrupted = False
                continue
            self._try_put_index()
            failed = isinstance(answer, ExceptionWrapper)
            self._interrupted = False  # no interrupt comes from here to the caller: nothing is called
            if failed:
                answer.reraise()
            return answer
        if not self._persistent_workers:
            self._shutdown_workers()
        raise StopIteration

    def _first_ready(self) -> int | None:
        """The worker with an answer among those with open tasks; None if there are no open tasks."""
        channels = self._pool.channels
        asked = [w for w in range(self._num_workers) if self._asked[w] and self._active[w]]
        while asked:
            ready = first_ready([channels[w] for w in asked], self._timeout or MP_STATUS_CHECK_INTERVAL)
            if ready is not None:
                return channels.index(ready)
            self._check(*asked)
        return None

    # ---- channels
    def _send(self, worker: int, message: Any) -> None:
        with contextlib.suppress(Closed):  # if it died, the wait for its answer raises the error
            self._pool.channels[worker].send(message)

    def _receive(self, worker: int) -> Any:
        channel = self._pool.channels[worker]
        while not channel.wait(self._timeout or MP_STATUS_CHECK_INTERVAL):
            self._check(worker)
        try:
            self._interrupted = True  # until the caller knows what has come
            return channel.receive()
        except Closed:
            self._interrupted = False
            self._fail(worker)

    def _check(self, *workers: int) -> None:
        """After a wait without an answer: raise an error if there is a limit or one of these workers is dead."""
        if self._timeout:
            raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds")
        for worker in workers:
            if not self._workers[worker].is_alive():
                self._fail(worker)

    def _fail(self, worker: int) -> NoReturn:
        self._active[worker] = False
        raise self._pool.died(worker) from None

    def _shutdown_workers(self) -> None:
        """End the workers; a second call does nothing."""
        self._finalizer()
