"""Transformer layers. Source: Vaswani et al. 2017."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import wengert as torch

from ..._base.errors import warn
from ..._base.exports import own_names
from ..._tape.tensor import Tensor
from .. import functional as F
from ..init import xavier_uniform_
from .activation import GELU, ReLU
from .attention import MultiheadAttention
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm


def _generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
    return torch.triu(torch.full((sz, sz), float("-inf"), dtype=dtype, device=device), diagonal=1)


def _get_clones(module: Any, n: int) -> ModuleList:
    return ModuleList([copy.deepcopy(module) for _ in range(n)])


def _get_activation_fn(activation: str) -> Callable[[Tensor], Tensor]:
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return getattr(F, activation)


def _detect_is_causal_mask(mask: Tensor | None, is_causal: bool | None, size: int | None) -> bool:
    """Whether a mask is the causal one: the given hint or, without it, by comparison."""
    if is_causal is not None or mask is None:
        return is_causal is True
    causal = _generate_square_subsequent_mask(size if size is not None else mask.size(-2), dtype=mask.dtype)
    return mask.size() == causal.size() and bool((mask == causal).all())


def _get_seq_len(src: Tensor, batch_first: bool) -> int | None:
    """The length of the sequences, unless they are nested."""
    return None if src.is_nested else src.size(1 if batch_first and src.dim() == 3 else 0)


class _TransformerLayer(Module):
    """Base of the layers of encoder and decoder: attentions, two linear layers, residual connections."""

    __constants__ = ["norm_first"]
    _attentions: tuple[str, ...]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        # The order is that in which initial values are drawn.
        options: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        for name in self._attentions:
            attention = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, **options)
            setattr(self, name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, **options)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **options)
        self.norm_first = norm_first
        parts = range(1, len(self._attentions) + 2)
        for k in parts:
            setattr(self, f"norm{k}", LayerNorm(d_model, eps=layer_norm_eps, **options))
        for k in parts:
            setattr(self, f"dropout{k}", Dropout(dropout))
        self._set_activation(activation)

    def _set_activation(self, activation: Any) -> None:
        self.activation = _get_activation_fn(activation) if isinstance(activation, str) else activation

    def _with_residual(self, k: int, x: Tensor, part: Callable[..., Tensor], *args: Any) -> Tensor:
        """The input plus the k-th part's output; the part's input (``norm_first``) or else the sum is normalised."""
        norm = getattr(self, f"norm{k}")
        if self.norm_first:
            return x + part(norm(x), *args)
        return norm(x + part(x, *args))

    def _sa_block(
        self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool = False
    ) -> Tensor:
        return self.dropout1(_attend(self.self_attn, x, x, attn_mask, key_padding_mask, is_causal))

    def _feed(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if not hasattr(self, "activation"):
            self.activation = F.relu


def _attend(attention: Any, x: Tensor, memory: Tensor, mask: Any, padding: Any, is_causal: bool) -> Tensor:
    masks = {"attn_mask": mask, "key_padding_mask": padding, "is_causal": is_causal}
    return attention(x, memory, memory, need_weights=False, **masks)[0]


def _to_add(src: Tensor, mask: Any, name: str, padding: Any) -> tuple[Any, Any]:
    """The masks of an encoder, as they are added to its scores."""
    padding = F._canonical_mask(padding, "src_key_padding_mask", F._none_or_dtype(mask), name, src.dtype)
    return F._canonical_mask(mask, name, None, "", src.dtype, False), padding


class TransformerEncoderLayer(_TransformerLayer):
    """Self-attention, then two linear layers, each with dropout, a residual connection and layer normalisation.

    ``norm_first``: normalise the input of each part instead of the sum after it.

    >>> import wengert as torch
    >>> layer = torch.nn.TransformerEncoderLayer(d_model=8, nhead=2, batch_first=True)
    >>> layer(torch.ones(2, 5, 8)).shape
    torch.Size([2, 5, 8])
    """

    _attentions = ("self_attn",)

    def _set_activation(self, activation: Any) -> None:
        super()._set_activation(activation)
        kinds = ((F.relu, ReLU), (F.gelu, GELU))
        own = self.activation
        found = [k for k, (fn, cls) in enumerate(kinds, start=1) if own is fn or isinstance(own, cls)]
        self.activation_relu_or_gelu = found[0] if found else 0

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """The layer's output, of the input's shape."""
        src_mask, src_key_padding_mask = _to_add(src, src_mask, "src_mask", src_key_padding_mask)
        x = self._with_residual(1, src, self._sa_block, src_mask, src_key_padding_mask, is_causal)
        return self._with_residual(2, x, self._ff_block)

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout2(self._feed(x))


class TransformerDecoderLayer(_TransformerLayer):
    """Self-attention, attention over the encoder's output, then two linear layers."""

    _attentions = ("self_attn", "multihead_attn")

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The layer's output, of the shape of ``tgt``."""
        x = self._with_residual(1, tgt, self._sa_block, tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        other = (memory_mask, memory_key_padding_mask, memory_is_causal)
        x = self._with_residual(2, x, self._mha_block, memory, *other)
        return self._with_residual(3, x, self._ff_block)

    def _mha_block(
        self, x: Tensor, mem: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool = False
    ) -> Tensor:
        return self.dropout2(_attend(self.multihead_attn, x, mem, attn_mask, key_padding_mask, is_causal))

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout3(self._feed(x))


class _Stack(Module):
    """Base of encoder and decoder: a chain of copies of a layer, with an optional normalisation at the end."""

    __constants__ = ["norm"]
    layers: Any
    norm: Any

    def _copy(self, layer: Any, num_layers: int, norm: Module | None) -> None:
        self.layers = _get_clones(layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def _is_causal(self, x: Tensor, mask: Tensor | None, said: bool | None) -> bool:
        return _detect_is_causal_mask(mask, said, _get_seq_len(x, self.layers[0].self_attn.batch_first))

    def _through(self, x: Tensor, *args: Any, **masks: Any) -> Tensor:
        for layer in self.layers:
            x = layer(x, *args, **masks)
        return x if self.norm is None else self.norm(x)


class TransformerEncoder(_Stack):
    """``num_layers`` copies of a layer, one after the other, and a normalisation at the end."""

    def __init__(
        self,
        encoder_layer: Any,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self._copy(encoder_layer, num_layers, norm)
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check
        why_not = _why_not_nested(encoder_layer)
        self.use_nested_tensor = enable_nested_tensor and not why_not
        if enable_nested_tensor and why_not:
            warn(f"enable_nested_tensor is True, but self.use_nested_tensor is False because {why_not}")

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """The last layer's output, of the input's shape.

        In inference (``eval``, no gradient, no other mask) the outputs of padded places at the ends are zero, as
        PyTorch's are, which computes such batches as nested tensors.
        """
        mask, src_key_padding_mask = _to_add(src, mask, "mask", src_key_padding_mask)
        padded = self._padded(src, mask, src_key_padding_mask)
        causal = self._is_causal(src, mask, is_causal)
        x = src
        for layer in self.layers:
            x = layer(x, src_mask=mask, is_causal=causal, src_key_padding_mask=src_key_padding_mask)
        if padded is not None:
            x = x.masked_fill(padded, 0.0)
        return x if self.norm is None else self.norm(x)

    def _padded(self, src: Tensor, mask: Tensor | None, padding: Tensor | None) -> Tensor | None:
        """Where PyTorch's nested tensors have no element, (N, S, 1); ``None`` where it does not make one."""
        if not self.use_nested_tensor or mask is not None or padding is None or self.training or src.dim() != 3:
            return None
        if torch.is_autocast_enabled("cpu"):
            return None
        if torch.is_grad_enabled() and (src.requires_grad or any(p.requires_grad for p in self.layers.parameters())):
            return None
        padded = padding.bool()
        at_the_ends = bool((padded[:, 1:] | ~padded[:, :-1]).all())
        return padded.unsqueeze(-1) if at_the_ends else None


def _why_not_nested(layer: Any) -> str:
    """PyTorch's reason not to use nested tensors for this layer, for its warning."""
    name = "encoder_layer"
    if not isinstance(layer, TransformerEncoderLayer):
        return f"{name} was not TransformerEncoderLayer"
    attention = layer.self_attn
    reasons = (
        (layer.norm_first, "norm_first was True"),
        (
            not attention.batch_first,
            "self_attn.batch_first was not True(use batch_first for better inference performance)",
        ),
        (not attention._qkv_same_embed_dim, "self_attn._qkv_same_embed_dim was not True"),
        (attention.in_proj_bias is None, "self_attn was passed bias=False"),
        (not layer.activation_relu_or_gelu, "activation_relu_or_gelu was not True"),
        (layer.norm1.eps != layer.norm2.eps, f"norm1.eps was not equal to {name}.norm2.eps"),
        (attention.num_heads % 2 == 1, "self_attn.num_heads is odd"),
    )
    return next((f"{name}.{text}" for is_so, text in reasons if is_so), "")


class TransformerDecoder(_Stack):
    """``num_layers`` copies of a layer, one after the other, and a normalisation at the end."""

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self._copy(decoder_layer, num_layers, norm)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The last layer's output, of the shape of ``tgt``."""
        return self._through(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=self._is_causal(tgt, tgt_mask, tgt_is_causal),
            memory_is_causal=memory_is_causal,
        )


class Transformer(Module):
    """Encoder and decoder: sequences (S, N, E) and (T, N, E) to (T, N, E); with ``batch_first`` the batch is first."""

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        each = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first)
        options: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}

        def stack(of_layers: Any, layer: Any, count: int) -> Any:
            return of_layers(layer(*each, **options), count, LayerNorm(d_model, eps=layer_norm_eps, **options))

        encoder, decoder = custom_encoder, custom_decoder
        if encoder is None:
            encoder = stack(TransformerEncoder, TransformerEncoderLayer, num_encoder_layers)
        if decoder is None:
            decoder = stack(TransformerDecoder, TransformerDecoderLayer, num_decoder_layers)
        self.encoder, self.decoder = encoder, decoder
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        matrices = (p for p in self.parameters() if p.dim() > 1)
        for matrix in matrices:
            xavier_uniform_(matrix)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The decoder's output for ``tgt`` and for the encoder's output for ``src``."""
        batch = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch) != tgt.size(batch):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """The causal mask: -inf above the diagonal, 0 elsewhere.

        >>> import wengert as torch
        >>> torch.nn.Transformer.generate_square_subsequent_mask(2)
        tensor([[0., -inf],
                [0., 0.]])
        """
        return _generate_square_subsequent_mask(sz, device, dtype)


__all__ = own_names(globals())  # noqa: PLE0605
