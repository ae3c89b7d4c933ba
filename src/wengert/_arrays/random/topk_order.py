"""The order in which PyTorch's `topk` returns equal values, which is the order that C++'s library leaves them in.

`torch.topk` on a CPU is `std::partial_sort` if 64 * k <= n, else `std::nth_element` and `std::sort`.  The C++ standard
leaves the order of equal values open, so this module has GNU libstdc++'s algorithms (`bits/stl_algo.h`,
`bits/stl_heap.h`: introselect and introsort, both by median of three, and heap sort), step by step, on indices.  It is
needed only if values are equal.

Source: Musser, "Introspective sorting and selection algorithms", Software: Practice and Experience 27(8), 1997.
"""

from __future__ import annotations

_SORTED_BY_INSERTION = 16


def topk_order(values: list[float], k: int) -> list[int]:
    """The indices of the k largest values, largest first, with equal ones in the order of `torch.topk(values, k)`.

    `values` holds no NaN; 1 <= k <= len(values).

    >>> topk_order([1.0, 0.0, 0.0, 0.0], 3)
    [0, 2, 3]
    """
    job = _Job(values)
    if 64 * k <= len(values):
        job.heap_select(0, k, len(values))
        job.sort_heap(0, k)
    else:
        job.nth_element(0, k - 1, len(values))
        job.sort(0, k - 1)
    return job.order[:k]


def _depth_limit(length: int) -> int:
    return 2 * (length.bit_length() - 1)


class _Job:
    """`order`, a permutation of the indices, being sorted by descending value.  Ranges are half open."""

    def __init__(self, values: list[float]) -> None:
        self.values = values
        self.order = list(range(len(values)))

    # ---- heaps, with the least of the chosen on top

    def _adjust_heap(self, first: int, hole: int, length: int, index: int) -> None:
        values, order, top = self.values, self.order, hole
        child = hole
        while child < (length - 1) // 2:
            child = 2 * (child + 1)
            if values[order[first + child]] > values[order[first + child - 1]]:
                child -= 1
            order[first + hole] = order[first + child]
            hole = child
        if length % 2 == 0 and child == (length - 2) // 2:
            child = 2 * (child + 1)
            order[first + hole] = order[first + child - 1]
            hole = child - 1
        value = values[index]
        parent = (hole - 1) // 2
        while hole > top and values[order[first + parent]] > value:
            order[first + hole] = order[first + parent]
            hole = parent
            parent = (hole - 1) // 2
        order[first + hole] = index

    def _pop_heap(self, first: int, last: int, result: int) -> None:
        index = self.order[result]
        self.order[result] = self.order[first]
        self._adjust_heap(first, 0, last - first, index)

    def heap_select(self, first: int, middle: int, last: int) -> None:
        values, order = self.values, self.order
        length = middle - first
        for parent in range((length - 2) // 2, -1, -1) if length > 1 else ():
            self._adjust_heap(first, parent, length, order[first + parent])
        for i in range(middle, last):
            if values[order[i]] > values[order[first]]:
                self._pop_heap(first, middle, i)

    def sort_heap(self, first: int, last: int) -> None:
        while last - first > 1:
            last -= 1
            self._pop_heap(first, last, last)

    # ---- insertion

    def _insert_unguarded(self, place: int) -> None:
        values, order = self.values, self.order
        index = order[place]
        value = values[index]
        while value > values[order[place - 1]]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = index

    def _sort_by_insertion(self, first: int, last: int) -> None:
        values, order = self.values, self.order
        for i in range(first + 1, last):
            index = order[i]
            if values[index] > values[order[first]]:
                order[first + 1 : i + 1] = order[first:i]
                order[first] = index
            else:
                self._insert_unguarded(i)

    # ---- partition

    def _cut(self, first: int, last: int) -> int:
        values, order = self.values, self.order
        a, b, c = first + 1, first + (last - first) // 2, last - 1
        of_a, of_b, of_c = values[order[a]], values[order[b]], values[order[c]]
        if of_a > of_b:
            median = b if of_b > of_c else c if of_a > of_c else a
        else:
            median = a if of_a > of_c else c if of_b > of_c else b
        order[first], order[median] = order[median], order[first]
        pivot = values[order[first]]
        left, right = first + 1, last
        while True:
            while values[order[left]] > pivot:
                left += 1
            right -= 1
            while pivot > values[order[right]]:
                right -= 1
            if left >= right:
                return left
            order[left], order[right] = order[right], order[left]
            left += 1

    def nth_element(self, first: int, nth: int, last: int) -> None:
        depth = _depth_limit(last - first)
        while last - first > 3:
            if depth == 0:
                self.heap_select(first, nth + 1, last)
                self.order[first], self.order[nth] = self.order[nth], self.order[first]
                return
            depth -= 1
            cut = self._cut(first, last)
            if cut <= nth:
                first = cut
            else:
                last = cut
        self._sort_by_insertion(first, last)

    def sort(self, first: int, last: int) -> None:
        pending = [(first, last, _depth_limit(last - first))] if last > first else []
        while pending:
            left, right, depth = pending.pop()
            while right - left > _SORTED_BY_INSERTION:
                if depth == 0:
                    self.heap_select(left, right, right)
                    self.sort_heap(left, right)
                    break
                depth -= 1
                cut = self._cut(left, right)
                pending.append((cut, right, depth))
                right = cut
        guarded = min(last, first + _SORTED_BY_INSERTION)
        self._sort_by_insertion(first, guarded)
        for i in range(guarded, last):
            self._insert_unguarded(i)
