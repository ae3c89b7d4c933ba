"""``MultiheadAttention``. Source: Vaswani et al. 2017."""

from __future__ import annotations

from typing import Any

from ..._tape.tensor import Tensor
from .. import functional as F
from ..init import constant_, xavier_normal_, xavier_uniform_
from ._making import add_parameters
from .linear import NonDynamicallyQuantizableLinear
from .module import Module

__all__ = ["MultiheadAttention"]

_SEPARATE = ("q_proj_weight", "k_proj_weight", "v_proj_weight")


class MultiheadAttention(Module):
    """Multi-head attention of sequences (L, N, E), or (N, L, E) with ``batch_first``, or unbatched (L, E).

    ``kdim``, ``vdim``: sizes of keys and values if they are not ``embed_dim``. A call returns the output and, with
    ``need_weights``, the weights: averaged over the heads, (N, L, S), or (N, num_heads, L, S).

    >>> import wengert as torch
    >>> attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    >>> x = torch.ones(3, 5, 8)
    >>> output, weights = attention(x, x, x)
    >>> output.shape, weights.shape
    (torch.Size([3, 5, 8]), torch.Size([3, 5, 5]))
    """

    __constants__ = ["batch_first"]
    in_proj_weight: Tensor | None
    in_proj_bias: Tensor | None
    bias_k: Tensor | None
    bias_v: Tensor | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} "
                "instead"
            )
        super().__init__()
        self.head_dim, rest = divmod(embed_dim, num_heads)
        if rest:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.batch_first, self.add_zero_attn = batch_first, add_zero_attn
        self.kdim, self.vdim = (embed_dim if size is None else size for size in (kdim, vdim))
        self._qkv_same_embed_dim = {self.kdim, self.vdim} == {embed_dim}
        shapes: dict[str, Any] = dict.fromkeys(("in_proj_weight", *_SEPARATE))
        if self._qkv_same_embed_dim:  # one matrix for the three projections
            shapes["in_proj_weight"] = (3 * embed_dim, embed_dim)
        else:
            inputs = (embed_dim, self.kdim, self.vdim)
            shapes.update({name: (embed_dim, size) for name, size in zip(_SEPARATE, inputs, strict=True)})
        add_parameters(self, device, dtype, **shapes, in_proj_bias=3 * embed_dim if bias else None)
        if add_bias_kv:
            one = (1, 1, embed_dim)
            add_parameters(self, device, dtype, bias_k=one, bias_v=one)
        else:
            self.bias_k = self.bias_v = None
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, device=device, dtype=dtype)
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        projections = [getattr(self, name) for name in ("in_proj_weight", *_SEPARATE)]
        zeros = [] if self.in_proj_bias is None else [self.in_proj_bias, self.out_proj.bias]
        for tensors, fill in (
            (projections, xavier_uniform_),
            (zeros, lambda bias: constant_(bias, 0.0)),
            ((self.bias_k, self.bias_v), xavier_normal_),
        ):
            for tensor in tensors:
                if tensor is not None:
                    fill(tensor)

    def __setstate__(self, state: dict[str, Any]) -> None:
        state.setdefault("_qkv_same_embed_dim", True)
        super().__setstate__(state)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Attention of ``query`` over ``key`` and ``value``.

        ``key_padding_mask`` (N, S): True (or -inf) at keys to ignore. ``attn_mask`` (L, S) or (N * num_heads, L, S).
        ``is_causal``: a hint that ``attn_mask`` is the causal one.
        """
        turned = self.batch_first and query.dim() == 3
        if turned:  # equal arguments stay one object: the projection is then one product
            same_key, same_value = key is query, value is key
            query = query.transpose(1, 0)
            key = query if same_key else key.transpose(1, 0)
            value = key if same_value else value.transpose(1, 0)
        separate: dict[str, Any] = {}
        if not self._qkv_same_embed_dim:
            separate = {name: getattr(self, name) for name in _SEPARATE}
            separate["use_separate_proj_weight"] = True
        output, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
            **separate,
        )
        return (output.transpose(1, 0) if turned else output), weights

    def merge_masks(
        self, attn_mask: Tensor | None, key_padding_mask: Tensor | None, query: Tensor
    ) -> tuple[Tensor | None, int | None]:
        """Merge both masks; return the mask and its type: None for no mask, 1 for a ``key_padding_mask``, else 2."""
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        batch, length, _ = query.shape
        if attn_mask.dim() == 3:
            merged = attn_mask.view(batch, -1, length, length)
        else:
            merged = attn_mask.view(1, 1, length, length).expand(batch, self.num_heads, -1, -1)
        if key_padding_mask is not None:
            merged = merged + key_padding_mask.view(batch, 1, 1, length).expand(-1, self.num_heads, -1, -1)
        return merged, 2
