"""Datasets for ``DataLoader``, which are read by index (``Dataset``) or as a stream (``IterableDataset``)."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, Generic, Iterable, TypeVar  # noqa: UP035  classes that derive from Iterable and Generic both

import wengert as torch

from ..._base.errors import noted, warn
from ..._tape.tensor import Tensor

__all__ = [
    "Dataset", "IterableDataset", "TensorDataset", "StackDataset", "ConcatDataset", "ChainDataset", "Subset",
    "random_split",
]  # fmt: skip

_T_co = TypeVar("_T_co", covariant=True)
_T = TypeVar("_T")
T_co = _T_co  # libraries import it


class Dataset(Generic[_T_co]):
    """Samples by index: subclasses define ``__getitem__`` and usually ``__len__``.

    A subclass may also define ``__getitems__(indices) -> list``, which a loader calls once per batch.

    >>> import wengert as torch
    >>> class Squares(torch.utils.data.Dataset):
    ...     def __len__(self):
    ...         return 5
    ...     def __getitem__(self, i):
    ...         return i * i
    >>> list(torch.utils.data.DataLoader(Squares(), batch_size=3))
    [tensor([0, 1, 4]), tensor([ 9, 16])]
    """

    def __getitem__(self, index: Any) -> _T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[_T_co]) -> ConcatDataset[_T_co]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[_T_co], Iterable[_T_co]):
    """Samples from a stream: subclasses define ``__iter__``.

    Each worker process has a copy of the dataset and yields all samples, unless ``__iter__`` (or the loader's
    ``worker_init_fn``) selects a part according to ``get_worker_info()``.

    >>> import wengert as torch
    >>> class Count(torch.utils.data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter(range(3, 7))
    >>> list(torch.utils.data.DataLoader(Count(), batch_size=3))
    [tensor([3, 4, 5]), tensor([6])]
    """

    def __add__(self, other: Dataset[_T_co]) -> ChainDataset:  # type: ignore[override]
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Tensors whose first dimension counts the samples; sample ``i`` is the tuple of each tensor's ``[i]``.

    Raises:
        AssertionError: the first dimensions differ.

    >>> import wengert as torch
    >>> torch.utils.data.TensorDataset(torch.eye(2), torch.tensor([7, 8]))[1]
    (tensor([0., 1.]), tensor(8))
    """

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensor.size(0) != tensors[0].size(0) for tensor in tensors):
            raise noted(
                AssertionError("Size mismatch between tensors"),
                f"The tensors have shapes {', '.join(str(list(tensor.shape)) for tensor in tensors)}.",
            )
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple([tensor[index] for tensor in self.tensors])

    def __len__(self) -> int:
        return self.tensors[0].size(0)


class StackDataset(Dataset[Any]):
    """Several datasets of one length side by side: samples are tuples, or dicts if they are given by keyword.

    Raises:
        ValueError: the lengths differ, both forms are used at once, or no dataset is given.

    >>> import wengert as torch
    >>> torch.utils.data.StackDataset(image=[10, 20], text=["a", "b"])[1]
    {'image': 20, 'text': 'b'}
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like input/output, but both "
                "types are given."
            )
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets: tuple[Any, ...] | dict[str, Any] = args or kwargs
        lengths = [len(dataset) for dataset in self._parts()]
        self._length = lengths[0]
        if lengths.count(self._length) != len(lengths):
            raise noted(ValueError("Size mismatch between datasets"), f"The lengths are {lengths}.")

    def _parts(self) -> Sequence[Any]:
        return list(self.datasets.values()) if isinstance(self.datasets, dict) else self.datasets

    def _sample(self, parts: Iterable[Any]) -> Any:
        return dict(zip(self.datasets, parts, strict=True)) if isinstance(self.datasets, dict) else tuple(parts)

    def __getitem__(self, index: Any) -> Any:
        return self._sample([dataset[index] for dataset in self._parts()])

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        columns = [_items(dataset, indices) for dataset in self._parts()]
        for column in columns:
            if len(column) != len(indices):
                raise ValueError(f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(column)}")
        return [self._sample(row) for row in zip(*columns, strict=True)]

    def __len__(self) -> int:
        return self._length


def _items(dataset: Any, indices: list[Any]) -> Any:
    """The samples at these indices, by the dataset's own function for many if it has one."""
    many = getattr(dataset, "__getitems__", None)
    return many(indices) if callable(many) else [dataset[i] for i in indices]


class ConcatDataset(Dataset[_T_co]):
    """Several datasets, one after the other.

    Raises:
        AssertionError: no dataset is given, or one of them is an ``IterableDataset``.

    >>> import wengert as torch
    >>> both = torch.utils.data.ConcatDataset([[1, 2], [3]])
    >>> both[2], len(both), both.cumulative_sizes
    (3, 3, [2, 3])
    """

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """The lengths, summed up."""
        return list(accumulate(len(each) for each in sequence))

    def __init__(self, datasets: Iterable[Dataset[_T_co]]) -> None:
        super().__init__()
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise noted(
                AssertionError("ConcatDataset does not support IterableDataset"),
                "What to do: ChainDataset puts IterableDatasets one after the other.",
            )
        self.cumulative_sizes = self.cumsum(self.datasets)

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> _T_co:
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        place = bisect_right(self.cumulative_sizes, idx)
        return self.datasets[place][idx - self.cumulative_sizes[place - 1] if place else idx]

    @property
    def cummulative_sizes(self) -> list[int]:
        """The old spelling of ``cumulative_sizes``."""
        warn("`cummulative_sizes` attribute is renamed to `cumulative_sizes`", FutureWarning)
        return self.cumulative_sizes


class ChainDataset(IterableDataset[Any]):
    """Several ``IterableDataset``, one after the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        super().__init__()
        self.datasets = datasets

    def _checked(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield dataset

    def __iter__(self) -> Iterator[Any]:
        for dataset in self._checked():
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self._checked())


class Subset(Dataset[_T_co]):
    """A part of a dataset: sample ``i`` is the dataset's sample ``indices[i]``.

    A subclass that defines ``__getitem__`` must define ``__getitems__`` too, since a loader calls the latter.

    >>> import wengert as torch
    >>> list(torch.utils.data.Subset("abcd", [3, 0]))
    ['d', 'a']
    """

    def __init__(self, dataset: Dataset[_T_co], indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices
        kind = type(self)
        if kind.__getitem__ is not Subset.__getitem__ and kind.__getitems__ is Subset.__getitems__:
            raise NotImplementedError(
                f"{kind.__name__} overrides __getitem__ but not __getitems__. When subclassing Subset and overriding "
                "__getitem__, you must also override __getitems__ to ensure DataLoader works correctly with your "
                "custom logic. A simple implementation:\n\n"
                "def __getitems__(self, indices):\n    return [self.__getitem__(idx) for idx in indices]"
            )

    def __getitem__(self, idx: Any) -> _T_co:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: list[int]) -> list[_T_co]:
        return _items(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


def _lengths_of_fractions(fractions: Sequence[float], total: int) -> list[int]:
    for i, fraction in enumerate(fractions):
        if fraction < 0 or fraction > 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
    lengths = [math.floor(total * fraction) for fraction in fractions]
    for i in range(total - sum(lengths)):  # the first parts get the remaining samples, one each
        lengths[i % len(lengths)] += 1
    for i, length in enumerate(lengths):
        if length == 0:
            warn(f"Length of split at index {i} is 0. This might result in an empty dataset.")
    return lengths


def random_split(
    dataset: Dataset[_T], lengths: Sequence[int | float], generator: torch.Generator | None = torch.default_generator
) -> list[Subset[_T]]:
    """Disjoint random parts of a dataset, of these lengths, or of these fractions if they sum up to 1.

    The lengths of fractions are rounded down; the first parts get the remaining samples, one each.

    Raises:
        ValueError: the lengths do not sum up to the dataset's, or a fraction is not in [0, 1].

    >>> import wengert as torch
    >>> g = torch.Generator().manual_seed(0)
    >>> [part.indices for part in torch.utils.data.random_split(range(5), [0.7, 0.3], generator=g)]
    [[4, 0, 1, 3], [2]]
    """
    size = len(dataset)  # type: ignore[arg-type]
    total: Any = sum(lengths)
    if math.isclose(total, 1) and total <= 1:
        lengths = _lengths_of_fractions(lengths, size)
        total = sum(lengths)
    if total != size:
        raise noted(
            ValueError("Sum of input lengths does not equal the length of the input dataset!"),
            f"The lengths sum up to {total}, and the dataset has {size} samples.",
        )
    order = torch.randperm(total, generator=generator).tolist()
    ends: list[Any] = list(accumulate(lengths))
    return [Subset(dataset, order[end - length : end]) for end, length in zip(ends, lengths, strict=True)]
