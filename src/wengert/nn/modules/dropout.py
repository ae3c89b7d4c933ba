"""Dropout layers. Source: Hinton et al. 2012; alpha dropout: Klambauer et al. 2017."""

from __future__ import annotations

from ._making import FunctionLayer, listed

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]


class _DropoutNd(FunctionLayer, options="p training inplace", constants="p inplace"):
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        return listed(self, "p", "inplace")


class Dropout(_DropoutNd, function="dropout"):
    """In training mode each element is set to zero with probability ``p``, and the others are divided by ``1 - p``.

    >>> import wengert as torch
    >>> torch.nn.Dropout(0.5).eval()(torch.ones(3))
    tensor([1., 1., 1.])
    """


class Dropout1d(_DropoutNd, function="dropout1d"):
    """Dropout of whole channels of (N, C, L) or (C, L)."""


class Dropout2d(_DropoutNd, function="dropout2d"):
    """Dropout of whole channels of (N, C, H, W)."""


class Dropout3d(_DropoutNd, function="dropout3d"):
    """Dropout of whole channels of (N, C, D, H, W) or (C, D, H, W)."""


class AlphaDropout(_DropoutNd, function="alpha_dropout", options="p training", constants="p inplace"):
    """Dropout that keeps mean and variance, for networks with SELU."""


class FeatureAlphaDropout(_DropoutNd, function="feature_alpha_dropout", options="p training", constants="p inplace"):
    """Alpha dropout of whole channels."""
