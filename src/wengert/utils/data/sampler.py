"""Samplers, which yield the indices, or batches of indices, of a dataset in the order of a ``DataLoader``.

The random indices are PyTorch's: `RandomSampler` without a generator draws one seed from the default generator and
shuffles with a new one, so the order depends on the seed alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import chain, islice
from typing import Any, Generic, TypeVar

import wengert as torch

from ..._base.errors import warn

__all__ = [
    "BatchSampler", "RandomSampler", "Sampler", "SequentialSampler", "SubsetRandomSampler", "WeightedRandomSampler",
]  # fmt: skip

_T_co = TypeVar("_T_co", covariant=True)

_REPLACED_AT_ONCE = 32  # block size of draws with replacement; PyTorch's, since it affects the stream


def draw_seed(generator: torch.Generator | None = None) -> int:
    """An int in [0, 2**63), from the default stream or from a generator."""
    return torch.empty((), dtype=torch.int64).random_(generator=generator).item()  # type: ignore[return-value]


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


class Sampler(Generic[_T_co]):
    """Base class: subclasses define ``__iter__``, which yields indices or lists of indices, and usually ``__len__``.

    >>> import wengert as torch
    >>> class ShortFirst(torch.utils.data.Sampler):
    ...     def __init__(self, data):
    ...         self.data = data
    ...     def __iter__(self):
    ...         return iter(sorted(range(len(self.data)), key=lambda i: len(self.data[i])))
    >>> list(ShortFirst(["ccc", "a", "bb"]))
    [1, 2, 0]
    """

    def __init__(self, data_source: Any = None) -> None:
        if data_source is not None:  # samplers of old programs say what they sample from
            warn("`data_source` argument is not used and PyTorch has removed it in 2.2.0.", FutureWarning)

    def __iter__(self) -> Iterator[_T_co]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """0, 1, 2, ... up to the length of ``data_source``."""

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """The indices of ``data_source`` in random order, or ``num_samples`` drawn from them.

    Without replacement and with ``num_samples`` greater than the length, whole shuffled rounds follow each other.

    Raises:
        TypeError: ``replacement`` is not a bool.
        ValueError: ``num_samples`` is not a positive int, or the data source is empty.

    >>> import wengert as torch
    >>> list(torch.utils.data.RandomSampler(range(5), generator=torch.Generator().manual_seed(0)))
    [4, 0, 1, 3, 2]
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        self.data_source, self.generator = data_source, generator
        self.replacement, self._num_samples = replacement, num_samples
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={self.num_samples}")

    @property
    def num_samples(self) -> int:
        """The number of indices: ``num_samples`` if given, otherwise the current length of the data source."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(self._drawn())

    def _drawn(self) -> Iterator[list[int]]:
        n = len(self.data_source)
        generator = self.generator
        if generator is None:
            generator = torch.Generator()
            generator.manual_seed(draw_seed())
        if self.replacement:
            rounds, rest = divmod(self.num_samples, _REPLACED_AT_ONCE)
            for count in [_REPLACED_AT_ONCE] * rounds + [rest]:
                yield torch.randint(high=n, size=(count,), dtype=torch.int64, generator=generator).tolist()
        else:
            rounds, rest = divmod(self.num_samples, n)
            for _ in range(rounds):
                yield torch.randperm(n, generator=generator).tolist()
            if rest or generator is self.generator:  # else nobody sees whether the last shuffle was drawn
                yield torch.randperm(n, generator=generator).tolist()[:rest]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given indices in random order."""

    def __init__(self, indices: Sequence[int], generator: torch.Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for i in torch.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """``num_samples`` indices with probabilities proportional to their weights, which need not sum to 1.

    Raises:
        ValueError: ``num_samples`` is not a positive int, ``replacement`` is not a bool, ``weights`` is not 1-d.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> list(torch.utils.data.WeightedRandomSampler([0.0, 0.0, 1.0], 4))
    [2, 2, 2, 2]
    """

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: torch.Generator | None = None,
    ) -> None:
        if not _is_count(num_samples):
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={num_samples}")
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        as_tensor = torch.as_tensor(weights, dtype=torch.double)
        if as_tensor.ndim != 1:
            raise ValueError(f"weights should be a 1d sequence but given weights have shape {tuple(as_tensor.shape)}")
        self.weights, self.num_samples = as_tensor, num_samples
        self.replacement, self.generator = replacement, generator

    def __iter__(self) -> Iterator[int]:
        drawn = torch.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator)
        yield from drawn.tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """The indices of another sampler (any iterable) in lists of ``batch_size``; the last may be shorter, or is dropped.

    Raises:
        ValueError: ``batch_size`` is not a positive int or ``drop_last`` is not a bool.

    >>> import wengert as torch
    >>> list(torch.utils.data.BatchSampler(range(5), 2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Any, batch_size: int, drop_last: bool) -> None:
        if not _is_count(batch_size):
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler: Iterable[int] = sampler
        self.batch_size, self.drop_last = batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        least = self.batch_size if self.drop_last else 1
        while len(batch := list(islice(indices, self.batch_size))) >= least:
            yield batch

    def __len__(self) -> int:
        n = len(self.sampler)  # type: ignore[arg-type]
        return n // self.batch_size if self.drop_last else (n + self.batch_size - 1) // self.batch_size
