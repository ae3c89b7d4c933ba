"""Attention in blocks of a few heads of a few examples, whose weights stay in the cache."""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import numpy as np

from .._base.registry import plain
from .blas import is_shared, over_samples
from .compiled import FEWEST, with_kernel
from .large import row_sums
from .layouts import as_like, in_columns, in_rows
from .library import NUMBERS, in_lib, lib
from .softmax_large import moderate_exponential

Ints = tuple[int, ...]
_BLOCK = 1 << 16  # weights of a block
_PER_MICROSECOND = 75_000  # multiplications


@functools.lru_cache(256)
def cut(query: Ints, key: Ints, value: Ints, mask: Ints | None) -> tuple[Any, ...] | None:
    """Indices that cut batch and heads into parts, for operands of these shapes; ``None`` if they are broadcast."""
    lead = query[:-2]
    if not lead or lead != key[:-2] or lead != value[:-2] or 0 in query or 0 in key:
        return None
    if mask is not None and not _fits(mask[:-2], lead):
        return None
    each_part = max(_BLOCK // (query[-2] * key[-2]), 1)  # matrices in a part
    axis, inner = len(lead) - 1, 1
    while axis and inner * lead[axis] <= each_part:
        inner *= lead[axis]
        axis -= 1
    step = max(each_part // inner, 1)
    slices = [slice(i, i + step) for i in range(0, lead[axis], step)]
    if not axis:
        return tuple([(s,) for s in slices])
    return tuple([(*index, s) for index in np.ndindex(*lead[:axis]) for s in slices])


def over_cut(work: Any, parts: Any, count: int, width: int) -> list[Any]:
    """Run ``work`` on each part, on several threads if ``count`` weights and products of this width are worth it."""
    if not is_shared(count * width, of_matrices=False):
        return [work(part) for part in parts]
    cost = count * (1.3e-3 + width / _PER_MICROSECOND)
    found = over_samples(lambda some: [work(part) for part in parts[some]], len(parts), cost)
    return list(itertools.chain(*found))


def _fits(shape: Any, lead: Any) -> bool:
    """Whether a mask of these first dimensions broadcasts to ``lead`` without enlarging ``lead``."""
    return len(shape) <= len(lead) and all(m in (1, n) for m, n in zip(shape[::-1], lead[::-1], strict=False))


def mask_by_parts(mask: Any, query: Any) -> Any:
    """A mask in a form that can be cut as the query is."""
    return None if mask is None else np.broadcast_to(mask, (*query.shape[:-2], *mask.shape[-2:]))


@with_kernel("compiled_products.attended", 0, FEWEST)
def attended(query: Any, key: Any, value: Any, mask: Any, causal: bool, scale: float, tape: Any) -> Any:
    """``softmax(scale * query @ key.mT + mask) @ value``; ``tape`` receives the parts and their weights, or None."""
    parts = cut(query.shape, key.shape, value.shape, None if mask is None else mask.shape)
    if parts is None:
        return lib.matmul(block_weights(query, key, mask, causal, scale), value)
    count = query.size // query.shape[-1] * key.shape[-2]
    keep = tape is not None and count <= query.size + key.size + value.size
    if len(parts) == 1 and query.flags.c_contiguous:

        def whole(part: Any) -> Any:
            weights = block_weights(query, key, mask, causal, scale)
            return weights, lib.matmul(weights, value)

        ((all_weights, r),) = over_cut(whole, parts, count, query.shape[-1] + value.shape[-1])
        weights = [all_weights]
    else:
        r = np.empty_like(query, shape=(*query.shape[:-1], value.shape[-1]))
        mask = mask_by_parts(mask, query)

        def work(part: Any) -> Any:
            own = block_weights(query[part], key[part], mask if mask is None else mask[part], causal, scale)
            lib.matmul(own, value[part], out=r[part])
            return own if keep else None

        weights = over_cut(work, parts, count, query.shape[-1] + value.shape[-1])
    if tape is not None:
        tape[:] = [parts, weights if keep else [None] * len(parts)]
    return r


def block_weights(query: Any, key: Any, mask: Any, causal: bool, scale: float) -> Any:
    """The weights, ``(*, queries, keys)``."""
    scores = lib.matmul(query * NUMBERS[query.dtype][scale], key.swapaxes(-1, -2))
    if causal:
        if _past_softmax(scores):
            return scores
        _hide(scores)
    return lib.softmax_rows_or_zero(scores if mask is None else scores + mask)


def _past_softmax(scores: Any) -> bool:
    """Apply causal softmax in place; return False if scores are so large that they must be masked with -inf first.

    Exponentials of masked scores are multiplied by 0, which is faster than computing with -inf.
    """
    in_rows = scores.flags.c_contiguous  # else they could not be reshaped in place
    if scores.dtype.char not in "fd" or not scores.size or not in_rows or not moderate_exponential(scores, scores):
        return False
    queries, keys = scores.shape[-2:]
    np.multiply(scores, _past(queries, keys, scores.dtype), scores)
    rows = scores.reshape(-1, keys)
    sums = row_sums(rows)
    np.multiply(rows, np.reciprocal(sums, sums)[:, None], rows)
    return True


def _past(queries: int, keys: int, dtype: Any) -> Any:
    """1 where a key does not come after its query, else 0."""
    return (_kept_past if queries * keys <= _BLOCK else np.tri)(queries, keys, 0, dtype)


_kept_past = functools.lru_cache(8)(np.tri)


# ---- layouts
def is_fused(query: Any, key: Any, value: Any, mask: Any) -> bool:
    """Whether PyTorch has one kernel for such operands: heads of one size, with dense rows."""
    return (
        query.ndim == key.ndim == value.ndim == 4
        and query.shape[:2] == key.shape[:2] == value.shape[:2]
        and query.shape[-1] == key.shape[-1] == value.shape[-1]
        and query.strides[-1] == query.itemsize == key.strides[-1] == value.strides[-1]
        and (mask is None or mask.ndim in (2, 4))
    )


def new_cotangents(operands: Any, mask: Any, needs: Any) -> list[Any]:
    """Uninitialised cotangents of query, key and value in PyTorch's order.

    Those of the fused kernel are (examples, rows, heads, columns); in products the key is transposed first.
    """
    made: list[Any] = []
    query, key, value = operands
    fused = is_fused(query, key, value, mask)
    for k, x in enumerate(operands):
        if not needs[k]:
            made.append(None)
        elif fused:
            examples, heads, rows, columns = x.shape
            made.append(np.empty((examples, rows, heads, columns), x.dtype).swapaxes(1, 2))
        else:
            made.append(np.empty(x.shape, x.dtype) if k != 1 else np.empty(x.mT.shape, x.dtype).mT)
    return made


def as_cotangent(d: Any, x: Any, is_key: bool) -> Any:
    """A cotangent of products in PyTorch's order; a transform's value is returned unchanged."""
    if not (type(d) is type(x) is np.ndarray):
        return d
    return as_like(x, d) if x.ndim == 2 else (in_columns if is_key else in_rows)(d)


@in_lib
@with_kernel("compiled_products.attention_cotangents", 1, FEWEST)
def attention_cotangents(
    g: Any, query: Any, key: Any, value: Any, mask: Any, needs: Any, causal: bool, scale: float, tape: Any
) -> tuple[Any, ...]:
    """The cotangents of query, key and value; the weights of each part are given or computed again."""
    gq, gk, gv = new_cotangents((query, key, value), mask, needs)
    mask = mask_by_parts(mask, query)

    def work(job: Any) -> None:
        part, weights = job
        q, k, given = query[part], key[part], g[part]
        if weights is None:
            weights = block_weights(q, k, mask if mask is None else mask[part], causal, scale)
        if gv is not None:
            lib.matmul(weights.swapaxes(-1, -2), given, out=gv[part])
        if gq is None and gk is None:
            return
        gs = lib.softmax_backward_rows(lib.matmul(given, value[part].swapaxes(-1, -2)), weights, weights.ndim - 1)
        gs *= gs.dtype.type(scale)
        if gq is not None:
            lib.matmul(gs, k, out=gq[part])
        if gk is not None:
            lib.matmul(gs.swapaxes(-1, -2), q, out=gk[part])

    count = query.size // query.shape[-1] * key.shape[-2]
    over_cut(work, list(zip(*tape, strict=True)), 2 * count, query.shape[-1] + value.shape[-1])
    return gq, gk, gv, None


@in_lib
def causal_scores(scores: Any) -> Any:
    """Scores with -inf where a key comes after its query."""
    scores = scores.copy()
    _hide(scores)
    return scores


@plain
def plain_causal_scores(lib: Any, scores: Any) -> Any:
    queries, keys = scores.shape[-2:]
    return lib.where(lib.arange(keys) > lib.arange(queries)[:, None], scores.dtype.type(-math.inf), scores)


def _hide(scores: Any) -> None:
    """``causal_scores`` in place."""
    queries, keys = scores.shape[-2:]
    np.copyto(scores, scores.dtype.type(-math.inf), where=np.arange(keys) > np.arange(queries)[:, None])


@in_lib
def softmax_rows_or_zero(scores: Any) -> Any:
    """softmax of rows; a row that is -inf everywhere gives zeros, because every key is masked."""
    r = lib.softmax_rows(scores, scores.ndim - 1)
    if r.size and (lowest := r.item(r.argmin())) != lowest:
        empty = np.maximum.reduce(scores, -1, keepdims=True) == -math.inf
        r = np.where(empty, r.dtype.type(0), r)
    return r


@plain
def plain_softmax_rows_or_zero(lib: Any, scores: Any) -> Any:
    r = lib.softmax_rows(scores, scores.ndim - 1)
    return lib.where(scores.max(-1, keepdims=True) == -math.inf, lib.ZEROS[r.dtype], r) if r.size else r
