"""``torch.nn.attention.bias``: causal masks as tensors that know their alignment."""

from __future__ import annotations

import enum
from typing import Any

import wengert as torch

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(enum.IntEnum):
    """The corner of the scores from which the mask's diagonal begins."""

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


class CausalBias(torch.Tensor):
    """A causal mask: true where a query may look at a key. ``scaled_dot_product_attention`` takes it as its mask."""

    def __new__(cls, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> Any:
        offset = seq_len_kv - seq_len_q if variant == CausalVariant.LOWER_RIGHT else 0
        mask = torch.ones(seq_len_q, seq_len_kv, dtype=torch.bool).tril(offset)
        return torch.Tensor._make_subclass(cls, mask)

    def __init__(self, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> None:
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant must be a CausalVariant, got {type(variant)}")
        self.variant, self.seq_len_q, self.seq_len_kv = variant, seq_len_q, seq_len_kv

    def _materialize(self, device: Any = None) -> torch.Tensor:
        return self.as_subclass(torch.Tensor)

    __torch_function__ = torch._C._disabled_torch_function_impl  # results are plain tensors

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        return repr(self._materialize())


def _causal(name: str, variant: CausalVariant, size: tuple[int, ...]) -> CausalBias:
    if len(size) != 2:
        raise AssertionError(f"{name} only supports 2D tensors, got {len(size)}D")
    return CausalBias(variant, *size)


def causal_upper_left(*size: int) -> CausalBias:
    """A causal mask whose diagonal begins in the upper left corner.

    >>> import wengert as torch
    >>> torch.nn.attention.bias.causal_upper_left(2, 3)
    tensor([[ True, False, False],
            [ True,  True, False]])
    """
    return _causal("causal_upper_left", CausalVariant.UPPER_LEFT, size)


def causal_lower_right(*size: int) -> CausalBias:
    """A causal mask whose diagonal ends in the lower right corner: the last query looks at all keys.

    >>> import wengert as torch
    >>> torch.nn.attention.bias.causal_lower_right(2, 3)
    tensor([[ True,  True, False],
            [ True,  True,  True]])
    """
    return _causal("causal_lower_right", CausalVariant.LOWER_RIGHT, size)
