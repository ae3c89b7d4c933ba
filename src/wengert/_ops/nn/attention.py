"""Attention: ``scaled_dot_product_attention``.

Without dropout it is one operator, which works on a few heads of a few examples after the other, so that their weights
are in cache from the first product to the last. Weights are as many as the product of both lengths; they are kept for
the way back where that is not more than the operands take, and computed anew where it is.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import numpy as np

from ..._arrays.blas import over_samples
from ..._arrays.large import row_sums
from ..._arrays.library import NUMBERS, in_lib, lib
from ..._arrays.softmax_large import moderate_exponential
from ..._base.grad_mode import is_grad_enabled
from ..._base.registry import RAW, T, public
from ..._kinds.general import general
from ..._kinds.slow_path import logical_dtype
from ..._tape.tensor import Tensor, wrap
from ..linalg.matmul import dtype_name

_BLOCK = 1 << 17  # weights of a block
_PER_MICROSECOND = 75_000  # multiplications


def _weights(xp: Any, query: Any, key: Any, mask: Any, causal: bool, scale: float) -> Any:
    """The weights of the values, ``(*, queries, keys)``."""
    scores = xp.matmul_nd(query * scale, key.mT)
    if causal:
        scores = xp.hide_future(scores)
    if mask is not None:
        scores = scores + mask
    return xp.softmax_or_zero(scores)


def _attention_grads(
    xp: Any, g: Any, query: Any, key: Any, value: Any, mask: Any, needs: Any, causal: bool, scale: float, tape: Any
) -> tuple[Any, ...]:
    if tape and xp is RAW and not needs[3]:
        return xp.lib.attention_cotangents(g, query, key, value, mask, needs, causal, scale, tape)  # type: ignore[no-any-return]
    p = _weights(xp, query, key, mask, causal, scale)
    gv = xp.matmul_nd(p.mT, g) if needs[2] else None
    gq = gk = gm = None
    if needs[0] or needs[1] or needs[3]:
        gs = xp._softmax_backward_data(xp.matmul_nd(g, value.mT), p, p.ndim - 1)
        gq = xp.matmul_nd(gs, key) * scale if needs[0] else None
        gk = xp.matmul_nd(gs.mT, query) * scale if needs[1] else None
        gm = gs if needs[3] else None
    return tuple(
        d if d is None or d.shape == t.shape else xp.sum_to(d, tuple(t.shape))
        for d, t in ((gq, query), (gk, key), (gv, value), (gm, mask))
    )


def _attention_batch(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    """Vmap's dimension is one more in front; an operand without it broadcasts."""
    rank = max(v.ndim - m for v, m in zip(inner, mine, strict=True) if v is not None)
    aligned = []
    for v, m in zip(inner, mine, strict=True):
        if v is not None and m and v.ndim - 1 < rank:
            v = U.reshape(v, (v.shape[0], *(1,) * (rank - v.ndim + 1), *v.shape[1:]))
        aligned.append(v)
    if not mine[0] and not mine[1] and not mine[2]:
        q = aligned[0]
        aligned[0] = U.expand(q, (aligned[3].shape[0], *(1,) * (rank - q.ndim), *q.shape))
    return U.attention(*aligned, *p[:2], None)


def _samples(rng: Any) -> Any:
    draw = rng.standard_normal
    mask = np.where(rng.uniform(size=(3, 4)) < 0.7, draw((3, 4)), -1e3)
    return [
        ((draw((2, 3, 2)), draw((2, 4, 2)), draw((2, 4, 5)), None), (False, 0.7, None)),
        ((draw((2, 2, 3, 2)), draw((2, 2, 4, 2)), draw((2, 2, 4, 3)), mask), (False, 0.5, None)),
        ((draw((3, 2)), draw((3, 2)), draw((3, 2)), None), (True, 1.0, None)),
    ]


@general(
    grad=_attention_grads,
    tensors=4,
    node="ScaledDotProductFlashAttentionForCpuBackward0",
    batch=_attention_batch,
    dtypes="f",
    samples=_samples,
)
def attention(lib, query, key, value, mask, causal, scale, tape):
    """``softmax(scale * query @ key.mT + mask) @ value``.

    ``tape``: a list that is given the parts of the work and their weights for the way back, or ``None``.
    """
    parts = _parts(query, key, value, mask)
    if parts is None:
        return lib.matmul(_block_weights(query, key, mask, causal, scale), value)
    count = query.size // query.shape[-1] * key.shape[-2]
    keep = tape is not None and count <= query.size + key.size + value.size
    if len(parts) == 1 and query.flags.c_contiguous:
        weights = [_block_weights(query, key, mask, causal, scale)]
        r = lib.matmul(weights[0], value)
    else:
        r = np.empty_like(query, shape=(*query.shape[:-1], value.shape[-1]))
        mask = _by_parts(mask, query)

        def work(part: Any) -> Any:
            own = _block_weights(query[part], key[part], mask if mask is None else mask[part], causal, scale)
            lib.matmul(own, value[part], out=r[part])
            return own if keep else None

        weights = _over_parts(work, parts, count, query.shape[-1] + value.shape[-1])
    if tape is not None:
        tape[:] = [parts, weights if keep else [None] * len(parts)]
    return r


def _parts(query: Any, key: Any, value: Any, mask: Any) -> list[Any] | None:
    """Indices that cut batch and heads into parts; ``None`` where operands are broadcast or there is nothing to cut."""
    shape = query.shape
    lead = shape[:-2]
    if not lead or lead != key.shape[:-2] or lead != value.shape[:-2] or not query.size or not key.size:
        return None
    if mask is not None and not _fits(mask.shape[:-2], lead):
        return None
    each_part = max(_BLOCK // (shape[-2] * key.shape[-2]), 1)  # so many matrices
    axis, inner = len(lead) - 1, 1
    while axis and inner * lead[axis] <= each_part:
        inner *= lead[axis]
        axis -= 1
    step = max(each_part // inner, 1)
    slices = [slice(i, i + step) for i in range(0, lead[axis], step)]
    if not axis:
        return [(s,) for s in slices]
    return [(*index, s) for index in np.ndindex(*lead[:axis]) for s in slices]


def _over_parts(work: Any, parts: list[Any], count: int, width: int) -> list[Any]:
    """``work`` on each part, by several threads where so many weights, with products so wide, are worth it."""
    found = over_samples(
        lambda some: [work(part) for part in parts[some]], len(parts), count * (1.3e-3 + width / _PER_MICROSECOND)
    )
    return list(itertools.chain(*found))


def _fits(shape: Any, lead: Any) -> bool:
    """Whether a mask of these first dimensions is broadcast to ``lead``, and nothing to the mask's."""
    return len(shape) <= len(lead) and all(m in (1, n) for m, n in zip(shape[::-1], lead[::-1], strict=False))


def _by_parts(mask: Any, query: Any) -> Any:
    """A mask in a form that can be cut as the query is."""
    return None if mask is None else np.broadcast_to(mask, (*query.shape[:-2], *mask.shape[-2:]))


def _block_weights(query: Any, key: Any, mask: Any, causal: bool, scale: float) -> Any:
    """The weights, ``(*, queries, keys)``."""
    scores = lib.matmul(query * NUMBERS[query.dtype][scale], key.swapaxes(-1, -2))
    if causal:
        if _past_softmax(scores):
            return scores
        _hide(scores)
    return lib.softmax_rows_or_zero(scores if mask is None else scores + mask)


def _past_softmax(scores: Any) -> bool:
    """softmax over no key that comes after its query, in place; false if scores are so large that they must be hidden.

    Exponentials of what is hidden are multiplied by 0, which is sooner done than -inf is dealt with.
    """
    if scores.dtype.char not in "fd" or not scores.size or not moderate_exponential(scores, scores):
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


@in_lib
def attention_cotangents(
    g: Any, query: Any, key: Any, value: Any, mask: Any, needs: Any, causal: bool, scale: float, tape: Any
) -> tuple[Any, ...]:
    """The cotangents of query, key and value, with the weights of each part, or computing them anew."""
    gq, gk, gv = (np.empty_like(x) if need else None for x, need in zip((query, key, value), needs, strict=False))
    mask = _by_parts(mask, query)

    def work(job: Any) -> None:
        part, weights = job
        q, k, given = query[part], key[part], g[part]
        if weights is None:
            weights = _block_weights(q, k, mask if mask is None else mask[part], causal, scale)
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
    _over_parts(work, list(zip(*tape, strict=True)), 2 * count, query.shape[-1] + value.shape[-1])
    return gq, gk, gv, None


@in_lib
def causal_scores(scores: Any) -> Any:
    """Scores with -inf where a key comes after its query."""
    scores = scores.copy()
    _hide(scores)
    return scores


def _hide(scores: Any) -> None:
    """``causal_scores`` in place."""
    queries, keys = scores.shape[-2:]
    np.copyto(scores, scores.dtype.type(-math.inf), where=np.arange(keys) > np.arange(queries)[:, None])


@general(
    grad=lambda xp, g: xp.keep_past(g),
    batch=lambda U, info, inner, mine, p: U.hide_future(inner[0]),
    dtypes="f",
    libname="causal_scores",
    samples=[((2, 1, 1), ()), ((3, 1), ())],
)
def hide_future(scores):
    """-inf where a key comes after its query."""


@general(
    grad=lambda xp, g: xp.keep_past(g),
    batch=lambda U, info, inner, mine, p: U.keep_past(inner[0]),
    dtypes="f",
    samples=[((2, 3, 3), ()), ((2, 4), ())],
)
def keep_past(lib, scores):
    """Zero where a key comes after its query."""
    return lib.tril(scores)


@in_lib
def softmax_rows_or_zero(scores: Any) -> Any:
    """softmax of rows; a row of -inf alone is zeros, as nothing may be looked at."""
    r = lib.softmax_rows(scores, scores.ndim - 1)
    if r.size and (lowest := r.item(r.argmin())) != lowest:
        empty = np.maximum.reduce(scores, -1, keepdims=True) == -math.inf
        r = np.where(empty, r.dtype.type(0), r)
    return r


@general(
    grad=lambda xp, g, result: xp._softmax_backward_data(g, result, result.ndim - 1),
    batch=lambda U, info, inner, mine, p: U.softmax_or_zero(inner[0]),
    node="SafeSoftmaxBackward0",
    libname="softmax_rows_or_zero",
    dtypes="f",
    samples=[((2, 3), ()), ((2, 2, 4), ())],
)
def softmax_or_zero(scores):
    """softmax over the last dimension; a row of -inf alone gives zeros."""


# ------------------------------------------------------------------------------------------------------ what users call
def additive_mask(mask: Any, query: Any) -> Any:
    """A bool mask (true: look) as one to add."""
    if mask is None or logical_dtype(mask).kind != "b":
        return mask
    look, not_look = (wrap(np.full((), v, logical_dtype(query))) for v in (0, -math.inf))
    return T.where(mask, look, not_look)


def _check(query: Any, key: Any, value: Any, mask: Any, is_causal: bool) -> None:
    for t in (query, key, value):
        if t._a.ndim < 2:
            raise RuntimeError(
                "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
                f"{query._a.ndim}, key.dim: {key._a.ndim} and value.dim: {value._a.ndim} instead."
            )
    if not logical_dtype(query) is logical_dtype(key) is logical_dtype(value):
        names = [f"{n}.dtype: {dtype_name(t).lower()}" for n, t in (("query", query), ("key", key), ("value", value))]
        raise RuntimeError(
            f"Expected query, key, and value to have the same dtype, but got {names[0]} {names[1]} and {names[2]} "
            "instead."
        )
    if mask is not None:
        if logical_dtype(mask).kind != "b" and logical_dtype(mask) is not logical_dtype(query):
            raise RuntimeError(
                "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
                f"{dtype_name(mask).lower()} and  query.dtype: {dtype_name(query).lower()} instead."
            )
        if is_causal:
            raise RuntimeError(
                "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
            )


@public("nn.functional.scaled_dot_product_attention")
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """``softmax(query @ key.mT / sqrt(E) + mask) @ value``.

    ``query`` is ``(*, L, E)``, ``key`` ``(*, S, E)``, ``value`` ``(*, S, Ev)``; the result is ``(*, L, Ev)``. A bool
    mask is true where a query may look, another one is added. A query that may look at nothing gives zeros.
    ``enable_gqa``: fewer heads (dimension -3) of keys and values than of queries, each used by several.

    >>> import wengert as torch
    >>> q = torch.ones(1, 2, 4)
    >>> torch.nn.functional.scaled_dot_product_attention(q, q, torch.tensor([[[1.], [3.]]]))
    tensor([[[2.],
             [2.]]])
    """
    _check(query, key, value, attn_mask, is_causal)
    if enable_gqa:
        heads = query._a.shape[-3]
        key, value = (t.repeat_interleave(heads // t._a.shape[-3], -3) for t in (key, value))
    if scale is None:
        scale = 1 / math.sqrt(query._a.shape[-1]) if query._a.shape[-1] else 1.0
    mask = additive_mask(attn_mask, query)
    if not dropout_p:
        history = query._fn is not None or key._fn is not None or value._fn is not None
        recorded = history and is_grad_enabled()
        return attention(query, key, value, mask, bool(is_causal), float(scale), [] if recorded else None)
    weights = _weights(T, query, key, mask, is_causal, scale)
    from ..._base.registry import PUBLIC

    return T.matmul_nd(PUBLIC["nn.functional"]["dropout"](weights, dropout_p, True), value)
