"""Fetchers, which make a batch from the indices of a sampler, in the main process and in workers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np

from ...._base.modes import slow_always
from ...._tape.tensor import Tensor, wrap
from ..dataset import Subset, TensorDataset
from .collate import collate_tensor_fn, default_collate, default_collate_fn_map

Fetch = Callable[[Any], Any]


def fetcher(iterable: bool, dataset: Any, batched: bool, collate_fn: Callable[[Any], Any], drop_last: bool) -> Fetch:
    """A new function that makes batches, from the start of the dataset."""
    if iterable:
        return iterable_fetcher(dataset, batched, collate_fn, drop_last)
    return map_fetcher(dataset, batched, collate_fn)


def map_fetcher(dataset: Any, batched: bool, collate_fn: Callable[[Any], Any]) -> Fetch:
    """For datasets read by index: the function from an index, or from a list of them, to a batch."""
    if not batched:
        return lambda index: collate_fn(dataset[index])

    def fetch(indices: Any) -> Any:
        if hasattr(dataset, "__getitems__") and dataset.__getitems__:
            return collate_fn(dataset.__getitems__(indices))
        return collate_fn([dataset[i] for i in indices])

    if collate_fn is not default_collate or _rows_of(dataset) is None:
        return fetch

    def fetch_rows(indices: Any) -> Any:
        batch = _gathered(dataset, indices)
        return fetch(indices) if batch is None else batch

    return fetch_rows


def iterable_fetcher(dataset: Any, batched: bool, collate_fn: Callable[[Any], Any], drop_last: bool) -> Fetch:
    """For datasets that are read in their own order: the same, until StopIteration; of the indices only the number
    counts."""
    samples = iter(dataset)
    if not batched:
        return lambda index: collate_fn(next(samples))
    ended = False

    def fetch(indices: Any) -> Any:
        nonlocal ended
        if ended:
            raise StopIteration
        data = list(islice(samples, len(indices)))
        if len(data) < len(indices):
            ended = True
            if not data or drop_last:
                raise StopIteration
        return collate_fn(data)

    return fetch


# ---- rows of a TensorDataset
# The rows of a TensorDataset can be taken one by one and stacked, or gathered at once. They are gathered if the
# program cannot see the difference: no user code is in between, and no mode intercepts the operators.
def _rows_of(dataset: Any) -> TensorDataset | None:
    """The ``TensorDataset`` that is read, itself or through subsets of it."""
    while type(dataset) is Subset:
        dataset = dataset.dataset
    if type(dataset).__getitem__ is TensorDataset.__getitem__ and not hasattr(dataset, "__getitems__"):
        return dataset
    return None


def _gathered(dataset: Any, indices: Any) -> list[Tensor] | None:
    """The batch at these indices, or None if it must be made one by one, be it only for the right error."""
    if slow_always or default_collate_fn_map.get(Tensor) is not collate_tensor_fn or type(indices) is not list:
        return None
    try:
        while type(dataset) is Subset:
            places = dataset.indices
            indices = [places[i] for i in indices]
            dataset = dataset.dataset
    except (IndexError, TypeError):
        return None
    if set(map(type, indices)) != _INT:
        return None
    rows = np.array(indices)
    batch = []
    for tensor in dataset.tensors:
        a = tensor._payload
        if type(tensor) is not Tensor or tensor._node is not None or type(a) is not np.ndarray:
            return None
        try:
            batch.append(wrap(a.take(rows, 0)))
        except (IndexError, ValueError):
            return None
    return batch


_INT = {int}
