"""``DistributedSampler``: every process of several reads its own share of a dataset."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, islice
from typing import Any, TypeVar

import wengert as torch

from ..._base.errors import noted
from .sampler import Sampler

__all__ = ["DistributedSampler"]

_T_co = TypeVar("_T_co", covariant=True)


def _group(question: str) -> int:
    """``get_world_size()`` or ``get_rank()`` of the process group, if there is one."""
    dist = getattr(torch, "distributed", None)
    if dist is None or not dist.is_available():
        raise noted(
            RuntimeError("Requires distributed package to be available"),
            "Why: this process belongs to no group, so it cannot be asked how many there are and which one this is.",
            "What to do: give num_replicas and rank.",
        )
    return int(getattr(dist, question)())


class DistributedSampler(Sampler[_T_co]):
    """Every ``num_replicas``-th index of a dataset, from the ``rank``-th on, shuffled alike in all processes.

    So that all have as many, the first indices are read twice, or with ``drop_last`` the last ones not at all. Call
    ``set_epoch`` before every epoch, else each has the same order.

    Raises:
        RuntimeError: ``num_replicas`` or ``rank`` is not given and there is no process group.
        ValueError: ``rank`` is not in [0, num_replicas).

    >>> import wengert as torch
    >>> from wengert.utils.data.distributed import DistributedSampler
    >>> [list(DistributedSampler(range(5), num_replicas=2, rank=r, shuffle=False)) for r in (0, 1)]
    [[0, 2, 4], [1, 3, 0]]
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None:
            num_replicas = _group("get_world_size")
        if rank is None:
            rank = _group("get_rank")
        if rank >= num_replicas or rank < 0:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.shuffle, self.seed, self.epoch, self.drop_last = shuffle, seed, 0, drop_last
        n = len(dataset)
        self.num_samples = n // num_replicas if drop_last else -(-n // num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[_T_co]:
        n = len(self.dataset)
        if n < self.total_size if self.drop_last else n > self.total_size:  # the dataset has changed since
            raise AssertionError(f"Number of indices ({n}) does not match total_size ({self.total_size})")
        order: Any = range(n)
        if self.shuffle:
            generator = torch.Generator()
            generator.manual_seed(self.seed + self.epoch)
            order = torch.randperm(n, generator=generator).tolist()
        return islice(cycle(order), self.rank, self.total_size, self.num_replicas)

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of this epoch's shuffle: the seed is ``seed + epoch``."""
        self.epoch = epoch
