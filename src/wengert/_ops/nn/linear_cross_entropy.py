"""``linear_cross_entropy``: a linear layer and the cross entropy of its output, in one call."""

from __future__ import annotations

import math
from typing import Any

from ..._base.errors import warn
from ..._base.registry import TENSORS, public
from ..._tape.error_text import expect_tensors
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import Tensor
from .cross_entropy import cross_entropy
from .linear import linear


@public("nn.functional.linear_cross_entropy")
def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Tensor:
    """``cross_entropy(linear(input, linear_weight, linear_bias), target)``.

    ``input``: (N, features) or (features,); ``linear_weight``: (classes, features), or (classes, d1, ..., features)
    for a loss at each of d1 x ... places; ``target``: classes (int64) or probabilities; the others as in
    ``cross_entropy``. With ``options``, a ``nn.LinearCrossEntropyOptions``, rows are taken in chunks, so that the
    (N, classes) scores are never in memory at once; the backward pass computes each chunk again.

    >>> x, w = torch.zeros(2, 3), torch.zeros(10, 3)
    >>> torch.nn.functional.linear_cross_entropy(x, w, torch.tensor([3, 7]))
    tensor(2.3026)
    """
    expect_tensors("linear_cross_entropy", input=input, linear_weight=linear_weight, target=target)
    classes, places = _check_shapes(tuple(input._payload.shape), tuple(linear_weight._payload.shape), linear_bias)
    lead, features = tuple(input._payload.shape[:-1]), input._payload.shape[-1]
    if tuple(target._payload.shape) == (*lead, classes, *places) and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    ignored = -100 if ignore_index is None else ignore_index
    if options is not None:
        if _chunkable(reduction, label_smoothing, target, places, linear_bias):
            return options.in_chunks(input, linear_weight, target, linear_bias, weight, reduction, ignored)
    scores = linear(
        input,
        TENSORS.reshape(linear_weight, (classes * math.prod(places), features)),
        None if linear_bias is None else TENSORS.reshape(linear_bias, (-1,)),
    )
    return cross_entropy(
        TENSORS.reshape(scores, (*lead, classes, *places)),
        target,
        weight,
        ignore_index=ignored,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )


def _check_shapes(input: tuple[int, ...], weight: tuple[int, ...], bias: Tensor | None) -> tuple[int, tuple[int, ...]]:
    """The number of classes, and the shape of the places that each have a loss."""
    if len(input) not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {len(input)}")
    if len(weight) < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {len(weight)}")
    if input[-1] != weight[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input[-1]} and {weight[-1]}, respectively"
        )
    if bias is not None and tuple(bias._payload.shape) != weight[:-1]:
        raise RuntimeError(f"expected linear_bias shape {weight[:-1]}, got {tuple(bias._payload.shape)}")
    if len(weight) > 2 and len(input) == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {weight} requires batched input, (N, {input[-1]}), got "
            f"unbatched input with shape {input}"
        )
    return weight[0], weight[1:-1]


def _chunkable(
    reduction: str, label_smoothing: float, target: Tensor, places: tuple[int, ...], bias: Tensor | None
) -> bool:
    known = reduction in ("mean", "sum", "none")
    if known and not label_smoothing and logical_dtype(target).name == "int64" and not places:
        return True
    warn(
        "linear_cross_entropy: ``options`` ignored; chunked path needs reduction in {'mean','sum','none'}, "
        f"label_smoothing == 0, target.dtype == int64, out_features == (). Got reduction={reduction!r}, "
        f"label_smoothing={label_smoothing}, target.dtype={target.dtype}, out_features={places}, tracing=False, "
        f"linear_bias.shape={None if bias is None else tuple(bias.shape)}.",
    )
    return False
