"""What worker processes of tests/utils/test_data.py import: datasets and functions that pickle by name."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from wengert.utils.data import Dataset, IterableDataset, get_worker_info


class Numbers(Dataset[Any]):
    """Index ``i`` gives ``i``."""

    def __init__(self, length: int = 10) -> None:
        self.length = length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, i: int) -> Any:
        return i


class Failing(Numbers):
    """Index 3 raises an error of a class of its own, index 5 a KeyError."""

    def __getitem__(self, i: int) -> Any:
        if i == 3:
            raise TwoArguments("one", "two")
        if i == 5:
            raise KeyError("five")
        return i


class TwoArguments(Exception):
    """Cannot be made from a text alone."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one, two)


class Dying(Numbers):
    """Index 3 kills the process."""

    def __getitem__(self, i: int) -> Any:
        if i == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return i


class Slow(Numbers):
    """Every index takes a minute, as far as a test can tell."""

    def __getitem__(self, i: int) -> Any:
        time.sleep(60)
        return i


class Unpicklable(Numbers):
    """Samples that cannot be sent."""

    def __getitem__(self, i: int) -> Any:
        return lambda: i


class Drawing(Numbers):
    """What the generators of the process give: Python's, NumPy's, PyTorch's, and the seed and id of the worker."""

    def __init__(self, length: int, torch: Any, info: Any) -> None:
        super().__init__(length)
        self.torch, self.info = torch, info

    def __getitem__(self, i: int) -> Any:
        worker = self.info()
        return [
            random.random(),
            float(np.random.rand()),
            self.torch.rand(1).item(),
            worker.seed,
            worker.id,
            worker.num_workers,
        ]


class Share(IterableDataset[int]):
    """The numbers below 10, each worker its share; worker 0 has fewer."""

    def __init__(self, info: Any = get_worker_info) -> None:
        self.info = info

    def __iter__(self) -> Iterator[int]:
        worker = self.info()
        if worker is None:
            return iter(range(10))
        return iter(range(4) if worker.id == 0 else range(4, 10))


class Big(Numbers):
    """Samples of 1.2 MB: batches go through shared memory, and large ones are mapped."""

    def __getitem__(self, i: int) -> Any:
        return np.full((150, 2000), i, np.float32), f"text {i}"


def as_is(batch: Any) -> Any:
    """A ``collate_fn`` that does nothing."""
    return batch


def fail_to_start(worker_id: int) -> None:
    """A ``worker_init_fn`` that fails in worker 1."""
    if worker_id == 1:
        raise OSError("no such worker")


def add_rank(rank: int, tensor: Any, queue: Any) -> None:
    """For ``spawn``: write into shared memory, and send a tensor back."""
    tensor[rank] += rank + 1
    queue.put(tensor * 10)


def wait_and_exit(rank: int, begun: Any) -> None:
    """For ``start_processes``: an exit code, and no exception."""
    begun.wait()
    os._exit(3)


def fail_at_one(rank: int) -> None:
    """For ``spawn``: process 1 fails, the others would wait."""
    if rank == 1:
        raise ValueError("process one")
    time.sleep(60)
