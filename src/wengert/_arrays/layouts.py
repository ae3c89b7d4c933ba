"""How results lie in memory: PyTorch's rules, one for each kind of operator.

A declaration names the rule of its operator if NumPy's functions, which keep the order of their operands, differ from
it: ``layout=rows``. A rule takes the operator's raw function and returns one whose results lie as PyTorch's do.

``rows``, ``always_rows``
    row-major, whatever the operands: reductions, scans, indexing
``like``, ``keeping``
    as ``empty_like`` of the first operand: sorting, flips, copies in the order of memory; ``keeping``: its gaps too
``iterated``
    in the order that PyTorch's TensorIterator finds among all operands: elementwise work
``columns``
    batches of column-major matrices: LAPACK's results
``channels_last``, ``channels_last_2d``, ``convolved``, ``as_indices``
    channels-last if the first operand is, else row-major: convolutions, pooling, interpolation

Where PyTorch lays a cotangent out as the operand and not as what arrives, a formula says so: ``as_channels_of``.

A rule may name, for hot functions, when its function alone will do: ``needless``, a condition on the operands' arrays.

A dimension of size 1 has a stride too. NumPy ignores it, PyTorch shows it, so these rules compute it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .memory import memory_order

Strides = tuple[int, ...]
Rule = Callable[[Callable[..., Any]], Callable[..., Any]]


# ---- strides
def row_major_strides(shape: tuple[int, ...], step: int = 1) -> Strides:
    """The strides of a new array in row-major order, as PyTorch counts them; ``step``: the last one."""
    strides = []
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


def in_order(shape: tuple[int, ...], order: Any, step: int = 1) -> Strides:
    """The strides of a new array with its dims in this order in memory, outermost first."""
    strides = [0] * len(shape)
    for d in reversed(order):
        strides[d] = step
        step *= max(shape[d], 1)
    return tuple(strides)


def known_strides(a: Any) -> Strides:
    """An array's strides in bytes; those of an empty one, which NumPy sets to 0, in row-major order."""
    return row_major_strides(a.shape, a.itemsize) if not (a.size or any(a.strides)) else a.strides


@functools.lru_cache(64)
def channels_last_order(ndim: int) -> tuple[int, ...]:
    """The order of dims with the channels, dim 1, innermost."""
    return (0, *range(2, ndim), 1)


@functools.lru_cache(4096)
def shown_strides(shape: tuple[int, ...], strides: Strides, step: int) -> Strides:
    """An array's strides with those of new dims of size 1, which NumPy leaves at 0, as ``unsqueeze`` computes them."""
    shown = list(strides)
    for d in reversed(range(len(shape))):
        if shape[d] == 1 and not shown[d]:
            shown[d] = shown[d + 1] * shape[d + 1] if d + 1 < len(shape) else step
    return tuple(shown)


@functools.lru_cache(4096)
def is_dense(shape: tuple[int, ...], strides: Strides, step: int) -> bool:
    """Whether the elements fill their memory without gaps and without sharing it."""
    expected = step
    for s, n in sorted((s, n) for n, s in zip(shape, strides, strict=True) if n != 1):
        if s != expected:
            return False
        expected *= n
    return True


def strides_like(a: Any, dtype: Any = None) -> Strides:
    """The strides in bytes of ``empty_like(a)``, of another dtype if one is given.

    They are its own if it is dense, else those of the same order of dims.
    """
    own = a.itemsize
    step = own if dtype is None else dtype.itemsize
    strides = _strides_of_copy(a.shape, a.strides, own, step)
    if strides is None:
        shown = shown_strides(a.shape, tuple(map(abs, a.strides)), own)
        return in_order(a.shape, memory_order(a, shown), step)
    return strides


@functools.lru_cache(4096)
def _strides_of_copy(shape: tuple[int, ...], strides: Strides, own: int, step: int) -> Strides | None:
    """See ``strides_like``; ``None`` if the array is not dense."""
    strides = tuple(map(abs, strides))  # PyTorch has no array that runs backwards
    if not is_dense(shape, strides, own):
        return None
    shown = shown_strides(shape, strides, own)
    return shown if step == own else tuple([s // own * step for s in shown])


def is_channels_last(a: Any, sequences: bool = False) -> bool:
    """Whether PyTorch would call an array channels-last (``suggest_memory_format``): strides of size 1 count.

    ``sequences``: a sequence is an image of one row.
    """
    if type(a) is not np.ndarray:
        return False
    shape, strides = a.shape, shown_strides(a.shape, a.strides, a.itemsize)
    if a.ndim == 3 and sequences:
        shape, strides = (*shape[:2], 1, shape[2]), (*strides[:2], strides[2] * shape[2], strides[2])
    return len(shape) in (4, 5) and _is_channels_last(shape, strides)


@functools.lru_cache(4096)
def _is_channels_last(shape: tuple[int, ...], strides: Strides) -> bool:
    least = 0
    if strides[1] == 0:
        return False
    for d in reversed(channels_last_order(len(shape))):
        if shape[d] == 0 or strides[d] < least:
            return False
        if d == 0 and least == strides[1]:  # as row-major: the batch alone does not tell
            return False
        least = strides[d] * max(shape[d], 1) if shape[d] > 1 else strides[d]
    return True


# ---- arrays
def empty(shape: tuple[int, ...], dtype: Any, strides: Strides) -> Any:
    """An uninitialised dense array with these strides in bytes."""
    return np.ndarray(shape, dtype, np.empty(1, dtype) if 0 in shape else None, 0, strides)


def relaid(r: Any, strides: Strides) -> Any:
    """The array itself if it has these strides, else a copy that has."""
    if r.strides == strides:
        return r
    if 1 in r.shape and r.flags.c_contiguous and r.base is None and _equal_but_for_ones(r.shape, r.strides, strides):
        return np.ndarray(r.shape, r.dtype, r, 0, strides)
    copy = empty(r.shape, r.dtype, strides)
    copy[...] = r
    return copy


def empty_like(a: Any, dtype: Any) -> Any:
    """An uninitialised dense array with the shape and the order of dims of ``a``."""
    return empty(a.shape, dtype, strides_like(a, dtype))


def relaid_copy(a: Any) -> Any:
    """A dense copy with the order of dims of ``a``."""
    r = empty_like(a, a.dtype)
    r[...] = a
    return r


def _equal_but_for_ones(shape: tuple[int, ...], one: Strides, other: Strides) -> bool:
    return all(n == 1 or s == t for n, s, t in zip(shape, one, other, strict=True))


def in_rows(r: Any) -> Any:
    """The array in row-major order, a copy if it is not."""
    if not r.flags.c_contiguous:
        return r.copy()
    if (1 not in r.shape and r.size) or r.strides == _rows_of(r.shape, r.itemsize):
        return r
    return relaid(r, _rows_of(r.shape, r.itemsize))


_rows_of = functools.lru_cache(4096)(row_major_strides)


def in_columns(r: Any) -> Any:
    """The matrices of a batch in column-major order, a copy if they are not."""
    if r.ndim == 2 and r.size:
        return r if r.flags.f_contiguous and 1 not in r.shape else r.copy("F")
    if r.ndim < 2:
        return r
    return relaid(r, in_order(r.shape, column_order(r.ndim), r.itemsize))


def column_order(ndim: int) -> tuple[int, ...]:
    """The order of dims in memory of a batch of column-major matrices, outermost first."""
    return (*range(ndim - 2), ndim - 1, ndim - 2)


def as_columns(r: Any) -> Any:
    """A cotangent that LAPACK leaves column-major; a transform's value is returned unchanged."""
    return in_columns(r) if type(r) is np.ndarray else r


def as_rows(r: Any) -> Any:
    """A cotangent in row-major order; a transform's value is returned unchanged."""
    return r if type(r) is not np.ndarray or r.flags.c_contiguous else r.copy()


def as_ordered(r: Any, order: tuple[int, ...]) -> Any:
    """A cotangent with its dims in this order in memory, outermost first; a transform's value is unchanged."""
    return relaid(r, in_order(r.shape, order, r.itemsize)) if type(r) is np.ndarray else r


def as_operand(r: Any, operand: Any) -> Any:
    """A cotangent that PyTorch makes of zeros like the operand, or of its elements, and not of what arrives."""
    if type(r) is not np.ndarray or type(operand) is not np.ndarray or r.strides == operand.strides:
        return r
    return as_like(operand, r)


def in_channels_last(r: Any) -> Any:
    """The array in channels-last order, a copy if it is not."""
    return relaid(r, in_order(r.shape, channels_last_order(r.ndim), r.itemsize))


# ---- elementwise results
@functools.lru_cache(4096)
def iterated_strides(shape: tuple[int, ...], operands: tuple[tuple[Any, Strides, int], ...], step: int) -> Strides:
    """The strides of an elementwise result, in units of ``step``; of the operands (shape, strides, itemsize).

    These are the rules of ATen's TensorIterator: its fast set-up for operands that lie alike, else the order of dims of
    the first operand in which two dims can be told apart.
    """
    rank = len(shape)
    operands = tuple([(s, shown_strides(s, strides, size), size) for s, strides, size in operands])
    if all(s == shape for s, _, _ in operands):
        rows = [row_major_strides(s, size) for s, _, size in operands]
        if all(_equal_but_for_ones(s, t, r) for (s, t, _), r in zip(operands, rows, strict=True)):
            return row_major_strides(shape, step)
        last = in_order(shape, channels_last_order(4)) if rank == 4 else None
        alike = {tuple(t // size for t in strides) for _, strides, size in operands}
        if last is not None and all(_equal_but_for_ones(shape, strides, last) for strides in alike):
            return tuple(s * step for s in last)
        if len(alike) == 1 and is_dense(shape, *operands[0][1:]):
            return tuple(s * step for s in alike.pop())

    broadcast = [_broadcast(shape, s, t) for s, t, _ in operands]
    order = list(range(rank))[::-1]  # innermost first
    for i in range(1, rank):
        place = i
        for other in range(i - 1, -1, -1):
            verdict = _verdict(broadcast, shape, order[other], order[place])
            if verdict > 0:
                order[other], order[place] = order[place], order[other]
                place = other
            elif verdict < 0:
                break
    return in_order(shape, order[::-1], step)


def _broadcast(shape: tuple[int, ...], own: tuple[int, ...], strides: Strides) -> Strides:
    lead = len(shape) - len(own)
    kept = [0 if n == 1 and shape[lead + d] != 1 else strides[d] for d, n in enumerate(own)]
    return (0,) * lead + tuple(kept)


def _verdict(operands: list[Strides], shape: tuple[int, ...], d: int, e: int) -> int:
    """Above zero if dim ``d``, which comes first, lies outside of ``e`` in memory, below it if inside, 0 if unknown."""
    for strides in operands:
        first, second = strides[d], strides[e]
        if first == 0 or second == 0:
            continue
        if first != second:
            return 1 if first > second else -1
        if shape[d] > shape[e]:
            return 1
    return 0


def as_iterated(r: Any, operands: Any) -> Any:
    """An elementwise result in the order of the operands."""
    known = tuple([(a.shape, a.strides, a.itemsize) for a in operands])
    return relaid(r, iterated_strides(r.shape, known, r.itemsize))


# ---- Fourier transforms
def transformed(kind: str) -> Rule:
    """The rule of a transform ("c2c", "r2c" or "c2r") of an array along dims: these are innermost, as in PyTorch."""

    @needless("{a}.ndim == 1")
    def rule(fn: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            r, a, dims = fn(*args), args[0], args[1]
            if type(r) is not np.ndarray or not dims:
                return r
            strides = shown_strides(a.shape, a.strides, a.itemsize)
            if kind == "c2r" and len(dims) > 1:  # the other dims are transformed first
                strides = in_order(a.shape, _transformed_order(strides, dims[:-1], len(dims) - 1))
                dims = dims[-1:]
            order = _transformed_order(strides, dims, len(dims) - (kind == "r2c"))
            return relaid(r, in_order(r.shape, order, r.itemsize))

        return run

    return rule


def _transformed_order(strides: Strides, dims: Any, count: int) -> list[int]:
    """The other dims as they lie in memory, then ``count`` of these dims as they lie, then the rest of them."""
    by_stride = sorted(range(len(strides)), key=lambda d: -strides[d])
    lead = [d for d in by_stride if d not in dims]
    return lead + sorted(dims[:count], key=lambda d: -strides[d]) + list(dims[count:])


# ---- rules
def needless(condition: str, operands: int = 1) -> Callable[[Rule], Rule]:
    """Decorator of a rule: ``condition`` on each of the first operands, as text on ``{a}``; 0: on all of them.

    Where it holds, the rule changes nothing: hot functions then call the raw function without it.
    """

    def decorate(rule: Rule) -> Rule:
        rule.needless = condition, operands
        return rule

    return decorate


def when_needless(rule: Rule | None, *arrays: str, sure: int | None = None) -> str:
    """The text of a rule's condition for these operands, "" if it has none; those after ``sure`` may be no arrays."""
    condition, operands = getattr(rule, "needless", ("", 0))
    if not condition:
        return ""
    texts = [condition.format(a=a) for a in arrays[: operands or None]]
    for k in range(len(texts) if sure is None else sure, len(texts)):
        texts[k] = f"(type({arrays[k]}) is not ndarray or {texts[k]})"
    return " and ".join(texts)


def _each(place: Callable[[Any], Any], r: Any) -> Any:
    if type(r) is np.ndarray:
        return place(r)
    if type(r) in (tuple, list):
        return type(r)([_each(place, one) for one in r])
    return r


@needless("{a}.flags.c_contiguous")
def rows(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Row-major results, of a function whose results are so if the first operand is."""

    def run(*args: Any) -> Any:
        r, a = fn(*args), args[0]
        return r if type(a) is np.ndarray and a.flags.c_contiguous else _all_in_rows(r)

    return run


def always_rows(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Row-major results, of any function."""
    return lambda *args: _all_in_rows(fn(*args))


def _all_in_rows(r: Any) -> Any:
    if type(r) is np.ndarray:
        return in_rows(r)
    if type(r) is not tuple:
        return r
    found = []
    for one in r:
        if type(one) is np.ndarray and (not one.flags.c_contiguous or 1 in one.shape or not one.size):
            one = in_rows(one)
        found.append(one)
    return tuple(found)


def columns(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Results with the rank of the first operand are batches of column-major matrices, others row-major."""

    def run(*args: Any) -> Any:
        rank, results = args[0].ndim, fn(*args)
        if type(results) is np.ndarray:
            return in_columns(results) if results.ndim == rank else in_rows(results)
        if type(results) is not tuple:
            return results
        return tuple([
            r if type(r) is not np.ndarray else in_columns(r) if r.ndim == rank else in_rows(r) for r in results
        ])  # fmt: skip

    return run


@needless("{a}.flags.c_contiguous and 1 not in {a}.shape")
def like(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Results that lie as the first operand does; a result of another shape is row-major."""

    def run(*args: Any) -> Any:
        r, a = fn(*args), args[0]
        if type(a) is list:
            a = a[0]
        if type(a) is not np.ndarray or r is a:  # the latter was written in place
            return r
        if a.flags.c_contiguous and 1 not in a.shape:  # the usual case: so are the results
            return r
        return _each(functools.partial(as_like, a), r)

    return run


def as_like(a: Any, r: Any) -> Any:
    """An array in the order of ``a``, if they have one shape, else in rows."""
    if r.shape != a.shape:
        return in_rows(r)
    return relaid(r, strides_like(a, r.dtype))


def _turned_first(x: Any, y: Any) -> bool:
    """Whether a column-major matrix meets a row-major one: NumPy's result would be row-major, PyTorch's is not."""
    if type(x) is not np.ndarray or type(y) is not np.ndarray or x.ndim != 2 or x.shape != y.shape:
        return False
    return bool(x.flags.fnc and y.flags.c_contiguous)


@needless("{a}.ndim < 2", 0)
def iterated(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Elementwise results, in TensorIterator's order: row-major operands have row-major results."""

    def run(*args: Any) -> Any:
        if len(args) == 2 and _turned_first(*args):
            return fn(args[0].T, args[1].T).T
        r = fn(*args)
        if type(r) is not np.ndarray or r.ndim < 2:
            return r
        if r.flags.c_contiguous and 1 not in r.shape:
            for a in args:
                if type(a) is np.ndarray and not a.flags.c_contiguous:
                    break
            else:
                return r
        return as_iterated(r, [a for a in args if type(a) is np.ndarray])

    return run


def keeping(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of the first operand with its strides, gaps included (``clone_preserve_strides``)."""

    def run(*args: Any) -> Any:
        r, a = fn(*args), args[0]
        if a.flags.c_contiguous or not a.size or type(a) is not np.ndarray or 0 in a.strides:
            return _each(functools.partial(as_like, a), r)
        return with_strides(r, tuple(map(abs, a.strides)))  # a flip's run backwards

    return run


def with_strides(a: Any, strides: Strides) -> Any:
    """A copy of an array that has elements, with these strides, gaps included."""
    span = sum((n - 1) * s for n, s in zip(a.shape, strides, strict=True)) // a.itemsize + 1
    copy = np.ndarray(a.shape, a.dtype, np.empty(span, a.dtype), 0, strides)
    copy[...] = a
    return copy


def _by_rank(rank: int, r: Any) -> Any:
    return in_channels_last(r) if r.ndim == rank else in_rows(r)


class ChannelsLastShape(tuple[int, ...]):
    """The shape of an array that was channels-last."""

    __slots__ = ()


def shape_like(a: Any) -> Any:
    """The shape of an operand, for ``as_channels_of``."""
    if type(a) is not np.ndarray or a.flags.c_contiguous or not is_channels_last(a):
        return a.shape
    return ChannelsLastShape(a.shape)


def as_channels_of(r: Any, *operands: Any, sequences: bool = False) -> Any:
    """A cotangent of an operand of a convolution, pooling or norm: channels-last if an operand is, else row-major.

    ``operands``: arrays, or what is saved in place of one, with a shape of ``shape_like``. ``sequences``: as in
    ``is_channels_last``.
    """
    if type(r) is not np.ndarray:  # a transform's value
        return r
    for a in operands:
        if type(a) is not np.ndarray:
            if type(getattr(a, "shape", a)) is ChannelsLastShape:
                return in_channels_last(r)
        elif not a.flags.c_contiguous and is_channels_last(a, sequences):
            return in_channels_last(r)
    return in_rows(r)


def _by_channels(*ranks: tuple[int, ...]) -> Rule:
    """The rule for first operands of these ranks; an operand without ranks decides nothing."""

    @needless("{a}.flags.c_contiguous", len(ranks))
    def rule(fn: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            r = fn(*args)
            if args[0].flags.c_contiguous and (len(ranks) == 1 or args[1].flags.c_contiguous):
                return r  # the usual case
            for a, wanted in zip(args, ranks, strict=False):
                if a.ndim in wanted and not a.flags.c_contiguous and is_channels_last(a, True):
                    return _each(functools.partial(_by_rank, a.ndim), r)
            return _all_in_rows(r)

        return run

    return rule


# Channels-last results if the first operand is, else row-major ones; many of PyTorch's kernels know no such volumes.
# For a convolution the weights count too, also those of a sequence, which is an image of one row. The cotangent of a
# maximum lies as the indices do, the second operand.
channels_last, channels_last_2d = _by_channels((4, 5)), _by_channels((4,))
convolved, as_indices = _by_channels((4, 5), (3, 4, 5)), _by_channels((), (4, 5))
