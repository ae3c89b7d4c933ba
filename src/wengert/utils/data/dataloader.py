"""``DataLoader``: batches of a dataset in the order of a sampler, made in the main process or by workers.

Random numbers are drawn in PyTorch's order: each iteration gets an iterator from its sampler, then draws the seed of
the workers (even if there are none), and the sampler draws its seed at the first index.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

import wengert as torch

from ..._base.errors import noted, warn
from ._utils.collate import default_collate, default_convert
from ._utils.fetch import fetcher
from ._utils.worker import get_worker_info
from .dataset import Dataset, IterableDataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, draw_seed

__all__ = ["DataLoader", "get_worker_info", "default_collate", "default_convert"]

_T_co = TypeVar("_T_co", covariant=True)
_collate_fn_t = Callable[[list[Any]], Any]  # libraries annotate with these two
_worker_init_fn_t = Callable[[int], None]


class _DatasetKind:
    Map = 0
    Iterable = 1


class _InfiniteConstantSampler(Sampler[None]):
    """An endless sampler of None, since an ``IterableDataset`` determines its own end."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


class DataLoader(Generic[_T_co]):
    """An iterable of a dataset's batches.

    Args:
        dataset: a ``Dataset``, anything with ``__getitem__`` and ``__len__``, or an ``IterableDataset``.
        batch_size: the number of samples in a batch; None yields single samples.
        shuffle: use a new random order in every epoch.
        sampler: an iterable of indices, instead of ``shuffle``.
        batch_sampler: an iterable of lists of indices, instead of all of the above and ``drop_last``.
        num_workers: the number of worker processes; with 0 the main process makes the batches.
        collate_fn: a function from a list of samples to a batch; by default ``default_collate``, or
            ``default_convert`` without batches.
        pin_memory: has no effect but a warning, since there is no accelerator.
        drop_last: leave out the last batch if it is smaller.
        timeout: the seconds to wait for a batch from a worker; 0 means no limit.
        worker_init_fn: called in each worker with its id, after its generators are seeded.
        multiprocessing_context: a start method, such as ``"spawn"``, or a context of ``multiprocessing``.
        generator: the generator for ``shuffle`` and the workers' seeds, instead of the default one.
        prefetch_factor: the number of batches that each worker makes in advance; 2 by default.
        persistent_workers: keep the workers, and their copies of the dataset, for the next epoch.
        pin_memory_device: has no effect.
        in_order: if False, yield batches in the order in which workers finish them.

    Raises:
        ValueError: options are out of range or exclude each other.

    The dataset, ``collate_fn`` and ``worker_init_fn`` are copied to the workers: with ``fork`` they may be any objects,
    with the other start methods (``multiprocessing.get_start_method()``) they must support pickling. An error in a
    worker is raised in the main process, with the worker's traceback in its message; the death of a worker raises a
    RuntimeError. Workers end with the iteration, or when its iterator is freed.

    >>> import wengert as torch
    >>> data = torch.utils.data.TensorDataset(torch.arange(6), torch.arange(6) * 10)
    >>> _ = torch.manual_seed(0)
    >>> for x, y in torch.utils.data.DataLoader(data, batch_size=4, shuffle=True):
    ...     print(x, y)
    tensor([0, 4, 3, 5]) tensor([ 0, 40, 30, 50])
    tensor([2, 1]) tensor([20, 10])
    """

    __initialized = False

    def __init__(
        self,
        dataset: Dataset[_T_co],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler[Any] | Iterable[Any] | None = None,
        batch_sampler: Sampler[Any] | Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[_T_co]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: torch.Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        if num_workers > 0 and prefetch_factor is None:
            prefetch_factor = 2
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset, self.generator = dataset, generator
        self.num_workers, self.persistent_workers = num_workers, persistent_workers
        self.prefetch_factor, self.in_order, self.timeout = prefetch_factor, in_order, timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self._IterableDataset_len_called: int | None = None
        self._iterator: _BaseDataLoaderIter | None = None
        stream = isinstance(dataset, IterableDataset)
        self._dataset_kind = _DatasetKind.Iterable if stream else _DatasetKind.Map
        if stream:
            _check_stream(shuffle, sampler, batch_sampler)
        _check_sampling(batch_size, bool(shuffle), sampler, batch_sampler, drop_last)
        self.sampler: Iterable[Any] = self._default_sampler(bool(shuffle)) if sampler is None else sampler
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        elif batch_size is not None:
            batch_sampler = BatchSampler(self.sampler, batch_size, drop_last)
        self.batch_size, self.drop_last, self.batch_sampler = batch_size, drop_last, batch_sampler
        usual = default_collate if self._auto_collation else default_convert
        self.collate_fn = usual if collate_fn is None else collate_fn
        self.__initialized = True
        self.check_worker_number_rationality()

    def _default_sampler(self, shuffle: bool) -> Sampler[Any]:
        if self._dataset_kind == _DatasetKind.Iterable:
            return _InfiniteConstantSampler()
        data: Any = self.dataset
        return RandomSampler(data, generator=self.generator) if shuffle else SequentialSampler(data)

    @property
    def multiprocessing_context(self) -> Any:
        """The start method of workers; None is the default of ``multiprocessing``."""
        return self.__multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: Any) -> None:
        self.__multiprocessing_context = None if context is None else _checked_context(context, self.num_workers)

    def __setattr__(self, attr: str, val: Any) -> None:
        if self.__initialized and attr in _FIXED:
            raise ValueError(f"{attr} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(attr, val)

    def __iter__(self) -> _BaseDataLoaderIter:
        if not self.persistent_workers or self.num_workers == 0:
            return self._get_iterator()
        if self._iterator is None or self._iterator._interrupted:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    def _get_iterator(self) -> _BaseDataLoaderIter:
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self)
        if sys.platform in _WITHOUT_PROCESSES:
            warn(
                f"This DataLoader was asked for {self.num_workers} worker processes. Platform {sys.platform!r} has no "
                "processes: the batches are made in the main process, as with num_workers=0."
            )
            return _SingleProcessDataLoaderIter(self)
        from ._multiprocess import _MultiProcessingDataLoaderIter

        self.check_worker_number_rationality()
        return _MultiProcessingDataLoaderIter(self)

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.batch_sampler if self._auto_collation else self.sampler

    def __len__(self) -> int:
        if self._dataset_kind != _DatasetKind.Iterable:
            return len(self._index_sampler)
        # what the dataset says; an iterator that yields more warns
        length = self._IterableDataset_len_called = len(self.dataset)  # type: ignore[arg-type]
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)

    def check_worker_number_rationality(self) -> None:
        """Warn of more workers than processors."""
        if not self.num_workers:
            return
        affinity = hasattr(os, "sched_getaffinity")
        count = len(os.sched_getaffinity(0)) if affinity else os.cpu_count()
        if count is not None and self.num_workers <= count:
            return
        advice = "DataLoader is not able to compute a suggested max number of worker in current system."
        if count is not None:
            advice = (
                f"Our suggested max number of worker in current system is {count}"
                f"{'' if affinity else ' (`cpuset` is not taken into account)'}, which is smaller than what this "
                "DataLoader is going to create."
            )
        warn(
            f"This DataLoader will create {self.num_workers} worker processes in total. {advice} Please be aware that "
            "excessive worker creation might get DataLoader running slow or even freeze, lower the worker number to "
            "avoid potential slowness/freeze if necessary."
        )


_WITHOUT_PROCESSES = ("emscripten", "wasi")  # a browser
_FIXED = frozenset(("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"))


# ---- options
def _check_workers(num_workers: int, timeout: float, prefetch_factor: int | None, persistent: bool) -> None:
    if num_workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable "
            "multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_stream(shuffle: bool | None, sampler: Any, batch_sampler: Any) -> None:
    """Raise an error for options of order with an ``IterableDataset``, which has its own order."""
    given = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
    for name, value in given.items():
        if value is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
            )


def _check_sampling(
    batch_size: int | None, shuffle: bool | None, sampler: Any, batch_sampler: Any, drop_last: bool
) -> None:
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None:
        if batch_size != 1 or shuffle or sampler is not None or drop_last:
            raise ValueError(
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
            )
    elif batch_size is None and drop_last:
        raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")


def _checked_context(context: Any, num_workers: int) -> Any:
    import multiprocessing

    if num_workers == 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got "
            f"num_workers={num_workers}"
        )
    if isinstance(context, str):
        methods = multiprocessing.get_all_start_methods()
        if context not in methods:
            raise ValueError(
                f"multiprocessing_context option should specify a valid start method in {methods!r}, but got "
                f"multiprocessing_context={context!r}"
            )
        return multiprocessing.get_context(context)
    if not isinstance(context, multiprocessing.context.BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string specifying the start method, "
            f"but got multiprocessing_context={context}"
        )
    return context


# ---- iterators
class _BaseDataLoaderIter:
    """One pass over a loader."""

    _interrupted = False

    def __init__(self, loader: DataLoader[Any]) -> None:
        if loader.pin_memory:
            _warn_of_pinning(loader.pin_memory_device)
        self._dataset, self._dataset_kind = loader.dataset, loader._dataset_kind
        self._collate_fn, self._auto_collation = loader.collate_fn, loader._auto_collation
        self._index_sampler, self._drop_last = loader._index_sampler, loader.drop_last
        self._num_workers, self._persistent_workers = loader.num_workers, loader.persistent_workers
        self._timeout = loader.timeout
        iterable = self._dataset_kind == _DatasetKind.Iterable
        self._fetching = (iterable, self._dataset, self._auto_collation, self._collate_fn, self._drop_last)
        self._begin(loader)
        self._base_seed = draw_seed(loader.generator)

    def _begin(self, loader: DataLoader[Any]) -> None:
        self._sampler_iter = iter(self._index_sampler)
        self._num_yielded = 0
        self._IterableDataset_len_called = loader._IterableDataset_len_called

    def _reset(self, loader: DataLoader[Any], first_iter: bool = False) -> None:
        self._begin(loader)

    def __iter__(self) -> _BaseDataLoaderIter:
        return self

    def _next_index(self) -> Any:
        return next(self._sampler_iter)

    def _next_data(self) -> Any:
        raise NotImplementedError

    def __next__(self) -> Any:
        data = self._next_data()
        self._num_yielded += 1
        told = self._IterableDataset_len_called
        if told is not None and self._num_yielded > told and self._dataset_kind == _DatasetKind.Iterable:
            self._warn_of_length(told)
        return data

    def next(self) -> Any:
        """``next(iterator)``, as programs wrote it until PyTorch 1.13 took it away."""
        return self.__next__()

    def _warn_of_length(self, told: int) -> None:
        text = (
            f"Length of IterableDataset {self._dataset} was reported to be {told}(when accessing len(dataloader)), "
            f"but {self._num_yielded} samples have been fetched. "
        )
        if self._num_workers > 0:
            text += (
                "For multiprocessing data-loading, this could be caused by not properly configuring the "
                "IterableDataset replica at each worker. Please see "
                "https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for examples."
            )
        warn(text)

    def __len__(self) -> int:
        return len(self._index_sampler)

    def __getstate__(self) -> Any:
        raise noted(
            NotImplementedError("{} cannot be pickled", type(self).__name__),
            "What to do: pickle the DataLoader, and call iter() on it again.",
        )


def _warn_of_pinning(device: str) -> None:
    if device:
        warn(
            "pin_memory_device is deprecated, the current accelerator will be used as the device,ignore "
            f"pin_memory_device='{device}'."
        )
    from ..._payloads.foreign import can_pin

    if not can_pin():
        warn(
            "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be used."
        )


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Batches that the calling process makes on demand."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        if self._timeout != 0 and loader.num_workers == 0:
            raise noted(
                AssertionError("_SingleProcessDataLoaderIter requires timeout == 0"),
                "What to do: leave out timeout, or set num_workers > 0: only workers are waited for.",
            )
        self._fetch = fetcher(*self._fetching)

    def _next_data(self) -> Any:
        return self._fetch(next(self._sampler_iter))


def __getattr__(name: str) -> Any:
    if name == "_MultiProcessingDataLoaderIter":  # it imports `multiprocessing`, which most programs do without
        from ._multiprocess import _MultiProcessingDataLoaderIter

        return _MultiProcessingDataLoaderIter
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
