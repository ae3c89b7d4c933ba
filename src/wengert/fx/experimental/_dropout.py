"""``dropout`` and its like in the steps in which PyTorch computes them, for graphs of operators."""

from __future__ import annotations

import math
from collections.abc import Callable

import wengert as torch

from ..._tape.tensor import Tensor

__all__ = ["DROPOUTS"]

_SATURATED = 1.7580993408473766  # the negative of SELU's lower limit


def _drop(x: Tensor, p: float, train: bool, *, feature: bool, alpha: bool, write: bool) -> Tensor:
    """``x`` times a noise of zeros and one other number; ``alpha``: and a sum, which keeps the mean and the variance.

    ``feature``: the noise is one number for each channel. ``write``: the result is written into ``x``.

    >>> _drop(torch.ones(2), 0.0, True, feature=False, alpha=False, write=False)
    tensor([1., 1.])
    """
    if p == 0 or not train or x.numel() == 0:
        return x
    aten = torch.ops.aten
    times = aten.mul_.Tensor if write else aten.mul.Tensor
    if p == 1:
        return times(x, aten.zeros.default([], dtype=x.dtype, layout=x.layout, device=x.device))
    channels = [*x.shape[:2], *[1] * (x.ndim - 2)]
    noise = aten.bernoulli_.float(aten.new_empty.default(x, channels) if feature else aten.empty_like.default(x), 1 - p)
    if not alpha:
        return times(x, aten.div_.Scalar(noise, 1 - p))
    scale = 1 / math.sqrt((_SATURATED * _SATURATED * p + 1) * (1 - p))
    shift = aten.mul_.Scalar(aten.add.Scalar(noise, -1), _SATURATED * scale)
    shift = aten.add_.Scalar(shift, _SATURATED * scale * p)
    return aten.add_.Tensor(times(x, aten.mul_.Scalar(noise, scale)), shift)


def _named(kind: str) -> Callable[[Tensor, float, bool], Tensor]:
    options = {"feature": "feature" in kind, "alpha": "alpha" in kind, "write": kind.endswith("_")}

    def drop(input: Tensor, p: float, train: bool) -> Tensor:
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        return _drop(input, p, train, **options)

    return drop


_KINDS = ("dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout")
DROPOUTS = {name: _named(name) for kind in _KINDS for name in (kind, f"{kind}_")}
