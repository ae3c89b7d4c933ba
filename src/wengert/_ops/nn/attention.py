"""Attention: ``scaled_dot_product_attention``.

Without dropout it is one operator, whose bodies (``_arrays.attention``) work on a few heads of a few examples at a
time, so that their weights are in the cache from the first product to the last. The number of weights is the product of
both lengths; they are saved for the backward pass if they take no more memory than the operands, else computed again.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._arrays.attention import as_cotangent, attended, is_fused
from ..._arrays.layouts import always_rows, like, needless
from ..._base.dtypes import FLOATING, get_default_dtype
from ..._base.modes import is_grad_enabled
from ..._base.registry import ARRAYS, REGISTRY, TENSORS, plain_body, public
from ..._kinds.general import general
from ..._kinds.slow_path import require
from ..._tape.error_text import cpp_name
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import Tensor, wrap
from ..linalg.matmul import dtype_name


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
    if tape and xp is ARRAYS and not needs[3]:
        return xp.lib.attention_cotangents(g, query, key, value, mask, needs, causal, scale, tape)
    p = _weights(xp, query, key, mask, causal, scale)
    gv = xp.matmul_nd(p.mT, g) if needs[2] else None
    gq = gk = gm = None
    if needs[0] or needs[1] or needs[3]:
        gs = xp._softmax_backward_data(xp.matmul_nd(g, value.mT), p, p.ndim - 1)
        gq = xp.matmul_nd(gs, key) * scale if needs[0] else None
        gk = xp.matmul_nd(gs.mT, query) * scale if needs[1] else None
        gm = gs if needs[3] else None
    cotangents = [
        d if d is None or d.shape == t.shape else xp.sum_to(d, tuple(t.shape))
        for d, t in ((gq, query), (gk, key), (gv, value), (gm, mask))
    ]
    operands = query, key, value
    return *[as_cotangent(cotangents[k], x, k == 1) for k, x in enumerate(operands)], cotangents[3]


def _attention_batch(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    """The batching rule: vmap's dimension is one more leading dimension; an operand without it broadcasts."""
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


@needless("{a}.flags.c_contiguous and 1 not in {a}.shape and {a}.size", 0)
def _as_the_query(fn: Any) -> Any:
    """PyTorch's fused kernel, which wants heads and dense rows, lays the result out as the query; products do not."""
    fused, plain = like(fn), always_rows(fn)

    def run(query: Any, *rest: Any) -> Any:
        lies_as_query = query.ndim == 4 and (query.flags.c_contiguous or is_fused(query, *rest[:3]))
        return (fused if lies_as_query else plain)(query, *rest)

    return run


@general(
    layout=_as_the_query,
    grad=_attention_grads,
    tensors=4,
    node="ScaledDotProductFlashAttentionForCpuBackward0",
    batch=_attention_batch,
    dtypes="f",
    samples=_samples,
    in_float32="both",
)
def attention(lib, query, key, value, mask, causal, scale, tape):
    """``softmax(scale * query @ key.mT + mask) @ value``.

    ``tape``: a list that receives the parts of the work and their weights for the backward pass, or ``None``.
    """
    return attended(query, key, value, mask, causal, scale, tape)


REGISTRY["attention"].node.viewed = property(  # PyTorch's kernel takes four dimensions; others are products of matrices
    lambda n: () if n.values[0].a.ndim == 4 else ("query", "key", "value")
)


@plain_body
def plain_attention(lib, query, key, value, mask, causal, scale, tape):
    scores = lib.matmul(query, key.swapaxes(-1, -2)) * scale
    scores = lib.causal_scores(scores) if causal else scores
    return lib.matmul(lib.softmax_rows_or_zero(scores if mask is None else scores + mask), value)


@general(
    grad=lambda xp, g: xp.keep_past(g),
    batch="shape",
    dtypes="f",
    libname="causal_scores",
    samples=[((2, 1, 1), ()), ((3, 1), ())],
)
def hide_future(scores):
    """-inf where a key comes after its query."""


@general(
    grad=lambda xp, g: xp.keep_past(g),
    batch="shape",
    dtypes="f",
    samples=[((2, 3, 3), ()), ((2, 4), ())],
)
def keep_past(lib, scores):
    """Zero where a key comes after its query."""
    return lib.tril(scores)


@general(
    grad=lambda xp, g, result: xp._softmax_backward_data(g, result, result.ndim - 1),
    batch="shape",
    node="SafeSoftmaxBackward0",
    libname="softmax_rows_or_zero",
    dtypes="f",
    samples=[((2, 3), ()), ((2, 2, 4), ())],
)
def softmax_or_zero(scores):
    """softmax over the last dimension; a row of -inf alone gives zeros."""


# ---- public functions
def additive_mask(mask: Any, dtype: Any) -> Any:
    """The mask of NumPy's ``dtype`` to add for a bool mask, which is true where a query may attend."""
    if mask is None or logical_dtype(mask).kind != "b":
        return mask
    look, not_look = (wrap(np.full((), v, dtype)) for v in (0, -math.inf))
    return TENSORS.where(mask, look, not_look)


def _check(query: Any, key: Any, value: Any, mask: Any, is_causal: bool) -> None:
    for t in (query, key, value):
        if t._payload.ndim < 2:
            raise RuntimeError(
                "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
                f"{query._payload.ndim} key.dim: {key._payload.ndim} and value.dim: {value._payload.ndim} instead."
            )
    if not logical_dtype(query) is logical_dtype(key) is logical_dtype(value):
        names = [f"{n}.dtype: {dtype_name(t).lower()}" for n, t in (("query", query), ("key", key), ("value", value))]
        raise RuntimeError(
            f"Expected query, key, and value to have the same dtype, but got {names[0]} {names[1]} and {names[2]} "
            "instead."
        )
    if logical_dtype(query) not in FLOATING:
        if logical_dtype(query).kind != "c":
            name = get_default_dtype().scalar_name
            raise RuntimeError(f"expected scalar type {name} but found {dtype_name(query)}")
        require(query, "fh", "softmax_lastdim_kernel_impl")
    if mask is not None:
        if logical_dtype(mask).kind != "b" and logical_dtype(mask) is not logical_dtype(query):
            raise RuntimeError(
                "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
                f"{cpp_name(mask)} and  query.dtype: {cpp_name(query)} instead."
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
    mask is true where a query may attend; a floating mask is added. A query that may attend to no key gives zeros.
    ``enable_gqa``: fewer heads (dimension -3) of keys and values than of queries, each used by several.

    >>> q = torch.ones(1, 2, 4)
    >>> torch.nn.functional.scaled_dot_product_attention(q, q, torch.tensor([[[1.], [3.]]]))
    tensor([[[2.],
             [2.]]])
    """
    q, k, v = query._payload, key._payload, value._payload
    usual = q.dtype is k.dtype is v.dtype and q.dtype in FLOATING and q.ndim > 1 < k.ndim and v.ndim > 1
    if attn_mask is not None or not usual:
        _check(query, key, value, attn_mask, is_causal)
    if enable_gqa:
        heads = query._payload.shape[-3]
        if any(heads % t._payload.shape[-3] for t in (key, value)):
            raise RuntimeError("Number of heads in key and value must divide the number of heads in ")
        key, value = (t.repeat_interleave(heads // t._payload.shape[-3], -3) for t in (key, value))
    if scale is None:
        scale = 1 / math.sqrt(q.shape[-1]) if q.shape[-1] else 1.0
    mask = attn_mask if attn_mask is None else additive_mask(attn_mask, logical_dtype(query))
    if not dropout_p:
        history = query._node is not None or key._node is not None or value._node is not None
        recorded = history and is_grad_enabled()
        try:
            return attention(query, key, value, mask, bool(is_causal), float(scale), [] if recorded else None)
        except ValueError:  # the products and the sum have PyTorch's errors
            scores = query @ key.mT
            (scores if mask is None else scores + mask) @ value
            raise
    weights = _weights(TENSORS, query, key, mask, is_causal, scale)
    from ..._base.registry import PUBLIC

    return TENSORS.matmul_nd(PUBLIC["torch"]["dropout"](weights, dropout_p, True), value)
