"""Multi-head attention as a function: projections, heads, masks, and ``scaled_dot_product_attention`` between them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._base.errors import warn
from ..._base.registry import PUBLIC, TENSORS, public
from ..._kinds.slow_path import require
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import Tensor
from ..._tensor_api.construct import placed_beside
from .attention import additive_mask, scaled_dot_product_attention


def _mha_shape_check(query: Any, key: Any, value: Any, key_padding_mask: Any, attn_mask: Any, num_heads: int) -> bool:
    """Whether there is a batch. Raises PyTorch's errors if ranks do not fit."""
    rank = query._payload.ndim
    if rank not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {rank}-D query tensor")
    kind = "batched (3-D)" if rank == 3 else "unbatched (2-D)"
    if key._payload.ndim != rank or value._payload.ndim != rank:
        raise AssertionError(
            f"For {kind} `query`, expected `key` and `value` to be {rank}-D but found {key._payload.ndim}-D and "
            f"{value._payload.ndim}-D tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask._payload.ndim != rank - 1:
        raise AssertionError(
            f"For {kind} `query`, expected `key_padding_mask` to be `None` or {rank - 1}-D but found "
            f"{key_padding_mask._payload.ndim}-D tensor instead"
        )
    if attn_mask is not None:
        if attn_mask._payload.ndim not in (2, 3):
            raise AssertionError(
                f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
                f"{attn_mask._payload.ndim}-D "
                "tensor instead"
            )
        wanted = (num_heads, query._payload.shape[0], key._payload.shape[0])
        if rank == 2 and attn_mask._payload.ndim == 3 and tuple(attn_mask._payload.shape) != wanted:
            raise AssertionError(f"Expected `attn_mask` shape to be {wanted} but got {attn_mask.shape}")
    return rank == 3


def _canonical_mask(
    mask: Any, mask_name: str, other_type: Any, other_name: str, target_type: Any, check_other: bool = True
) -> Any:
    """The mask to add for a given mask; a bool mask is true where attention is not allowed."""
    if mask is None:
        return None
    is_bool = logical_dtype(mask).kind == "b"
    if not is_bool and not mask.dtype.is_floating_point:
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype != other_type:
        warn(f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both instead.")
    return additive_mask(~mask, target_type.np) if is_bool else mask


def _none_or_dtype(input: Any) -> Any:
    """The dtype of a mask that there may be."""
    if input is not None and not isinstance(input, Tensor):
        raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")
    return None if input is None else input.dtype


def _check_key_padding_mask(key_padding_mask: Any, src_len: int, bsz: int) -> None:
    for d, size in enumerate((bsz, src_len)):
        if key_padding_mask._payload.shape[d] != size:
            raise AssertionError(
                f"Expected key_padded_mask.shape[{d}] to be {size}, but got {key_padding_mask._payload.shape[d]}"
            )


def _projected(query: Any, key: Any, value: Any, weight: Any, bias: Any) -> tuple[Any, Any, Any]:
    """Queries, keys and values by the three thirds of one weight; if all come from one tensor, in one product."""
    e = query._payload.shape[-1]
    if key is value and query is key:
        together = TENSORS.linear(query, weight, bias)
        d = together._payload.ndim - 1
        return tuple(TENSORS.slice_dim(together, d, i * e, (i + 1) * e, 1) for i in range(3))
    weights = [TENSORS.slice_dim(weight, 0, i * e, (i + 1) * e, 1) for i in range(3)]
    biases = [None if bias is None else TENSORS.slice_dim(bias, 0, i * e, (i + 1) * e, 1) for i in range(3)]
    return tuple(TENSORS.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True))


def _in_projection_packed(q: Any, k: Any, v: Any, w: Any, b: Any = None) -> tuple[Any, ...]:
    """``_projected`` for attention that a program writes itself: contiguous, as a program's ``view`` needs it."""
    return tuple(x.contiguous() for x in _projected(q, k, v, w, b))


def _by_heads(x: Any, rows: int, size: int) -> Any:
    """``(length, batch, embedding)`` as ``(batch * heads, length, size)``."""
    return TENSORS.transpose_dims(TENSORS.reshape(x, (x._payload.shape[0], rows, size)), 0, 1)


def _longer(mask: Any) -> Any:
    """A mask for one more key, to which attention is allowed."""
    return None if mask is None else TENSORS.constant_pad_nd(mask, (0, 1), 0)


def _mask_size(mask: Any, heads: int, length: int, sources: int) -> Any:
    """The attention mask as ``(1 or batch * heads, length, sources)``."""
    if mask is None:
        return None
    shape = tuple(mask._payload.shape)
    wanted = (length, sources) if len(shape) == 2 else (heads, length, sources)
    if shape != wanted:
        raise RuntimeError(f"The shape of the {len(shape)}D attn_mask is {mask.shape}, but should be {wanted}.")
    return TENSORS.reshape(mask, (1, *shape)) if len(shape) == 2 else mask


@public("nn.functional.multi_head_attention_forward")
def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Multi-head attention of ``(L, N, E)`` queries on ``(S, N, E)`` keys and values; see ``nn.MultiheadAttention``.

    The result is ``(L, N, E)`` and, with ``need_weights``, the weights ``(N, L, S)``, averaged over the heads or not.

    >>> x, w = torch.ones(1, 1, 2), torch.eye(2)
    >>> F = torch.nn.functional
    >>> F.multi_head_attention_forward(x, x, x, 2, 1, w.repeat(3, 1), None, None, None, False, 0., w, None)[0]
    tensor([[[1., 1.]]])
    """
    batched = _mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        same_key, same_value = key is query, value is key
        query = TENSORS.unsqueeze_dim(query, 1)
        key = query if same_key else TENSORS.unsqueeze_dim(key, 1)
        value = key if same_value else TENSORS.unsqueeze_dim(value, 1)
        if key_padding_mask is not None:
            key_padding_mask = TENSORS.unsqueeze_dim(key_padding_mask, 0)
    length, n, embedding = query._payload.shape
    sources = key._payload.shape[0]
    other, dtype = _none_or_dtype(attn_mask), query.dtype
    padding = _canonical_mask(key_padding_mask, "key_padding_mask", other, "attn_mask", dtype)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and padding is None and not need_weights:
        mask = None
    else:
        mask = _canonical_mask(attn_mask, "attn_mask", None, "", dtype, False)
        is_causal = is_causal and padding is None and mask is None
    if embedding != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {embedding}")
    size = embedding // num_heads
    if size * num_heads != embedding:
        raise AssertionError(f"embed_dim {embedding} not divisible by num_heads {num_heads}")
    if use_separate_proj_weight:
        if key.shape[:2] != value.shape[:2]:
            raise AssertionError(
                f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}"
            )
        own = q_proj_weight, k_proj_weight, v_proj_weight
        q, k, v = _projected_by(own, in_proj_bias, query=query, key=key, value=value)
    else:
        if key.shape != value.shape:
            raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
        q, k, v = _projected(query, key, value, in_proj_weight, in_proj_bias)
    require(q, "fhiub", "softmax_lastdim_kernel_impl")  # what integers meet is another error
    rows = n * num_heads
    mask = _mask_size(mask, rows, length, sources)
    if bias_k is not None and bias_v is not None:
        k, v = (TENSORS.cat([x, b.repeat(1, n, 1)], 0) for x, b in ((k, bias_k), (v, bias_v)))
        mask, padding = _longer(mask), _longer(padding)
    q = _by_heads(q, rows, size)
    k = _by_heads(k, rows, size) if static_k is None else static_k
    v = _by_heads(v, rows, size) if static_v is None else static_v
    if add_zero_attn:
        k, v = (TENSORS.cat([x, placed_beside(x, np.zeros((rows, 1, size), logical_dtype(x)))], 1) for x in (k, v))
        mask, padding = _longer(mask), _longer(padding)
    sources = k._payload.shape[1]
    if padding is not None:
        _check_key_padding_mask(padding, sources, n)
        wide = TENSORS.expand(TENSORS.reshape(padding, (n, 1, 1, sources)), (n, num_heads, 1, sources))
        wide = TENSORS.reshape(wide, (rows, 1, sources))
        mask = wide if mask is None else mask + wide
    p = dropout_p if training else 0.0
    if need_weights:
        found, weights = _with_weights(q, k, v, mask, p)
        weights = TENSORS.reshape(weights, (n, num_heads, length, sources))
        weights = TENSORS.mean_dim(weights, (1,), False) if average_attn_weights else weights
    else:
        found, weights = _without_weights(q, k, v, mask, p, is_causal, n), None
    out = TENSORS.reshape(TENSORS.transpose_dims(found, 0, 1), (length * n, embedding))
    out = TENSORS.linear(out, out_proj_weight, out_proj_bias)
    out = TENSORS.reshape(out, (length, n, out._payload.shape[1]))
    if not batched:
        out = TENSORS.squeeze_dim(out, 1)
        weights = None if weights is None else TENSORS.squeeze_dim(weights, 0)
    return out, weights


def _projected_by(weights: Any, bias: Tensor | None, **inputs: Any) -> list[Any]:
    """Each input projected by a weight of its own."""
    width = inputs["query"]._payload.shape[-1]
    for (what, x), w in zip(inputs.items(), weights, strict=True):
        wanted = (width, x._payload.shape[-1])
        if w._payload.shape != wanted:
            raise AssertionError(f"expecting {what} weights shape of {wanted}, but got {w.shape}")
    biases = (None,) * 3 if bias is None else bias.chunk(3)
    return [TENSORS.linear(x, w, b) for x, w, b in zip(inputs.values(), weights, biases, strict=True)]


def _with_weights(q: Any, k: Any, v: Any, mask: Any, p: float) -> tuple[Any, Any]:
    scores = TENSORS.bmm(q * math.sqrt(1.0 / q._payload.shape[-1]), k.mT)
    weights = TENSORS.softmax(scores if mask is None else scores + mask, 2)
    if p > 0:
        weights = PUBLIC["nn.functional"]["dropout"](weights, p)
    return TENSORS.bmm(weights, v), weights


def _without_weights(q: Any, k: Any, v: Any, mask: Any, p: float, is_causal: bool, n: int) -> Any:
    """Attention by ``scaled_dot_product_attention``, which returns no weights."""
    heads = [TENSORS.reshape(x, (n, x._payload.shape[0] // n, *x._payload.shape[1:])) for x in (q, k, v)]
    if mask is not None and mask._payload.shape[0] != 1:
        mask = TENSORS.reshape(mask, (n, mask._payload.shape[0] // n, *mask._payload.shape[1:]))
    r = scaled_dot_product_attention(*heads, mask, p, is_causal)
    return TENSORS.reshape(r, (q._payload.shape[0], *r._payload.shape[2:]))
