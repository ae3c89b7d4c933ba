"""The positions that PyTorch's sorting algorithms give to equal elements, of which its documentation says nothing.

They are those of libstdc++'s ``std::sort``, ``std::nth_element`` and ``std::partial_sort`` and of ATen's own
quickselect, step by step. Each row is a list of ranks, the same for equal elements, so only rows with ties come here,
and those of which ``topk(sorted=False)`` takes some; long ones keep a stable order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_LONGEST, _MOST = 1024, 1 << 14  # elements of a row, and of all, up to which the steps are worth their time


def placed(rows: Any) -> bool:
    """Whether equal elements of these rows get PyTorch's places."""
    return rows.shape[-1] <= _LONGEST and rows.size <= _MOST  # type: ignore[no-any-return]


def has_equal(rows: Any) -> bool:
    """Whether any elements are equal, in one row or in several."""
    return len(set(rows.ravel().tolist())) < rows.size


def _swap(r: list[int], at: list[int], i: int, j: int) -> None:
    r[i], r[j] = r[j], r[i]
    at[i], at[j] = at[j], at[i]


def _partitioned(r: list[int], at: list[int], first: int, last: int) -> int:
    """``__unguarded_partition_pivot``: the median of three is the pivot."""
    a, b, c = first + 1, first + (last - first) // 2, last - 1
    if r[a] < r[b]:
        median = b if r[b] < r[c] else c if r[a] < r[c] else a
    else:
        median = a if r[a] < r[c] else c if r[b] < r[c] else b
    _swap(r, at, first, median)
    pivot, i, j = r[first], first + 1, last
    while True:
        while r[i] < pivot:
            i += 1
        j -= 1
        while pivot < r[j]:
            j -= 1
        if i >= j:
            return i
        _swap(r, at, i, j)
        i += 1


def _insert(r: list[int], at: list[int], first: int, last: int) -> None:
    """Insertion sort, which is stable."""
    order = sorted(range(first, last), key=r.__getitem__)
    r[first:last], at[first:last] = [r[i] for i in order], [at[i] for i in order]


def sort_steps(r: list[int], at: list[int], first: int, last: int) -> None:
    """``std::sort`` of a part."""
    parts = [(first, last)]
    while parts:
        low, high = parts.pop()
        while high - low > 16:
            cut = _partitioned(r, at, low, high)
            parts.append((cut, high))
            high = cut
    _insert(r, at, first, last)


def nth_steps(r: list[int], at: list[int], n: int) -> None:
    """``std::nth_element``."""
    first, last = 0, len(r)
    while last - first > 3:
        cut = _partitioned(r, at, first, last)
        first, last = (cut, last) if cut <= n else (first, cut)
    _insert(r, at, first, last)


def _sift(heap: list[tuple[int, int]], hole: int, size: int, value: tuple[int, int]) -> None:
    """``__adjust_heap``: the hole goes down to a leaf, and the value from there up to its place."""
    top, child = hole, 2 * hole + 2
    while child <= size:
        if child == size or heap[child][0] < heap[child - 1][0]:
            child -= 1
        heap[hole] = heap[child]
        hole, child = child, 2 * child + 2
    while hole > top and heap[(hole - 1) // 2][0] < value[0]:
        heap[hole] = heap[(hole - 1) // 2]
        hole = (hole - 1) // 2
    heap[hole] = value


def partial_steps(r: list[int], at: list[int], k: int) -> None:
    """``std::partial_sort`` of the first ``k``."""
    pairs = list(zip(r, at, strict=True))
    heap = pairs[:k]
    for parent in range((k - 2) // 2, -1, -1):
        _sift(heap, parent, k, heap[parent])
    for pair in pairs[k:]:
        if pair[0] < heap[0][0]:
            _sift(heap, 0, k, pair)
    for last in range(k - 1, 0, -1):
        value, heap[last] = heap[last], heap[0]
        _sift(heap, 0, last, value)
    at[:k] = [place for _, place in heap]


def largest_steps(r: list[int], at: list[int], k: int) -> None:
    """``topk``: few are sorted by a heap, else the elements before the k-th once it is found."""
    if 64 * k <= len(r):
        return partial_steps(r, at, k)
    nth_steps(r, at, k - 1)
    return sort_steps(r, at, 0, k - 1)


def kth_steps(r: list[int], at: list[int], k: int) -> None:
    """``kthvalue``: quickselect with the median of three in front."""
    low, high = 0, len(r) - 1
    while high > low:
        if high == low + 1:
            if r[low] > r[high]:
                _swap(r, at, low, high)
            return
        _swap(r, at, low + (high - low) // 2, low + 1)
        for i, j in ((low + 1, high), (low, high), (low + 1, low)):
            if r[i] > r[j]:
                _swap(r, at, i, j)
        i, j, pivot = low + 1, high, r[low]
        while True:
            i += 1
            while pivot > r[i]:
                i += 1
            j -= 1
            while r[j] > pivot:
                j -= 1
            if j < i:
                break
            _swap(r, at, i, j)
        _swap(r, at, low, j)
        if j <= k - 1:
            low = i
        if j >= k - 1:
            high = j - 1


def in_torch_order(steps: Callable[..., Any], x: Any, order: Any, *more: int, first: int | None = None) -> Any:
    """The stable order of the rows of ``x``, with equal elements where the steps put them.

    ``first``: only ties among so many elements of a row count, and the next one.
    """
    differs = _differs(x, order)
    if (differs if first is None else differs[..., :first]).all():
        return order
    return _after(steps, order, differs, *more)


def unsorted_largest(x: Any, order: Any, k: int) -> Any:
    """The order in which ``topk(sorted=False)`` leaves the first ``k`` of each row, from the stable order."""
    return _after(nth_steps, order, _differs(x, order), k - 1)


def _differs(x: Any, order: Any) -> Any:
    """Whether each element differs from the next in this order."""
    values = np.take_along_axis(x, order, -1)
    differs = values[..., 1:] != values[..., :-1]
    if x.dtype.kind == "f":
        differs &= values[..., 1:] == values[..., 1:]
        differs |= (values[..., 1:] == values[..., 1:]) != (values[..., :-1] == values[..., :-1])
    return differs


def _after(steps: Callable[..., Any], order: Any, differs: Any, *more: int) -> Any:
    n = order.shape[-1]
    ranks = np.zeros(order.shape, np.int64)
    ranks[..., 1:] = differs.cumsum(-1)
    by_place = np.empty_like(ranks)
    np.put_along_axis(by_place, order, ranks, -1)
    found = order.copy()
    for r, row in zip(by_place.reshape(-1, n).tolist(), found.reshape(-1, n), strict=True):
        at = list(range(n))
        steps(r, at, *more)
        row[:] = at
    return found
