"""The main loop of a worker process, and ``get_worker_info``."""

from __future__ import annotations

import pickle
import random
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import wengert as torch

from . import ExceptionWrapper
from .fetch import Fetch, fetcher

if TYPE_CHECKING:
    from .channel import Channel


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """The result of ``get_worker_info()`` in a worker.

    ``id`` counts from 0 to ``num_workers - 1``; ``seed`` is the seed of Python's and PyTorch's generators; ``dataset``
    is this process's copy.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str | None = "multiprocessing"


_worker_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """The ``WorkerInfo`` in a worker process of a ``DataLoader``, None in other processes.

    >>> import wengert as torch
    >>> torch.utils.data.get_worker_info() is None
    True
    """
    return _worker_info


@dataclass(frozen=True)
class Job:
    """The arguments of a worker."""

    fetching: tuple[Any, ...]  # the arguments of `fetcher`
    base_seed: int
    init_fn: Callable[[int], None] | None
    worker_id: int
    num_workers: int


@dataclass(frozen=True)
class Task:
    """To a worker: fetch this."""

    index: Any


@dataclass(frozen=True)
class Resume:
    """To a worker: start again. From a worker: it has started again, and no earlier batches will follow."""


@dataclass(frozen=True)
class Exhausted:
    """From a worker: its iterable dataset is exhausted."""


def _seed(base_seed: int, worker_id: int) -> int:
    """Seed every generator of the process: PyTorch's and Python's alike, NumPy's from a hash, as PyTorch does."""
    seed = base_seed + worker_id
    random.seed(seed)
    torch.manual_seed(seed)
    np.random.seed(_generate_state(base_seed, worker_id))
    return seed


def _generate_state(base_seed: int, worker_id: int) -> list[int]:
    """The seed of NumPy's generator in a worker; tensordict gives it to workers of its own."""
    entropy = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    return np.random.SeedSequence(entropy).generate_state(4).tolist()


def worker_loop(channel: Channel, job: Job, siblings: list[Channel], handler: Any) -> None:
    """Answer tasks in order until the other side closes the channel or dies.

    ``siblings``: the main process's ends of channels that a fork has copied into this process. They are closed, because
    their workers could not notice the death of the main process otherwise. ``handler``: of interrupts, if the fork has
    copied another one.
    """
    global _worker_info
    from .channel import Closed

    for other in siblings:
        other.forget()
    channel.guard()
    try:
        if handler is not None:
            signal.signal(signal.SIGINT, handler)
        torch.set_num_threads(1)
        seed = _seed(job.base_seed, job.worker_id)
        _worker_info = WorkerInfo(job.worker_id, job.num_workers, seed, job.fetching[1])
        _answer(channel, job)
    except (Closed, KeyboardInterrupt):
        pass
    finally:
        channel.close()


def _answer(channel: Channel, job: Job) -> None:
    where = f"in DataLoader worker process {job.worker_id}"

    def begin(init_fn: Callable[[int], None] | None) -> Fetch | ExceptionWrapper:
        try:
            if init_fn is not None:
                init_fn(job.worker_id)
            return fetcher(*job.fetching)
        except Exception:  # noqa: BLE001  whatever it is, it is raised in the main process
            return ExceptionWrapper(where=where)

    fetch: Fetch | ExceptionWrapper | None = begin(job.init_fn)
    while True:
        task = channel.receive()
        if isinstance(task, Resume):
            channel.send(task)
            fetch = begin(None)
        elif fetch is not None:  # else it is exhausted, and the main process knows by now
            answer = _fetched(fetch, task.index, job.fetching[0], where)
            if isinstance(answer, Exhausted):
                fetch = None
            _send(channel, answer, where)
            del answer  # memory
        del task


def _fetched(fetch: Fetch | ExceptionWrapper, index: Any, iterable: bool, where: str) -> Any:
    if isinstance(fetch, ExceptionWrapper):
        return fetch
    try:
        return fetch(index)
    except Exception as error:  # noqa: BLE001
        if isinstance(error, StopIteration) and iterable:
            return Exhausted()
        return ExceptionWrapper(where=where)


def _send(channel: Channel, answer: Any, where: str) -> None:
    from .channel import Closed

    try:
        channel.send(answer)
    except Closed:
        raise
    except Exception:  # noqa: BLE001  it cannot be pickled
        failure = answer if isinstance(answer, ExceptionWrapper) else ExceptionWrapper(where=where)
        if not _picklable(failure.exc_type):
            failure.exc_type = RuntimeError
        channel.send(failure)


def _picklable(kind: type) -> bool:
    try:
        pickle.dumps(kind)
    except Exception:  # noqa: BLE001
        return False
    return True
