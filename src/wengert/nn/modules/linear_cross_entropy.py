"""``LinearCrossEntropyLoss``, and the computation of ``nn.functional.linear_cross_entropy`` in chunks of rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import wengert as torch

from ..._tape.tensor import Tensor
from .. import functional as F
from .linear import Linear
from .loss import _WeightedLoss

_HALVES = ("torch.float16", "torch.bfloat16")


@dataclass(frozen=True, slots=True)
class LinearCrossEntropyOptions:
    """The number of rows in a chunk of ``linear_cross_entropy``, and the dtype in which chunks are accumulated.

    ``batch_chunk_size``: rows in a chunk. ``chunking_method``: "aspect_ratio" makes a chunk's scores about as large as
    the input, "aspect_ratio:k" k times smaller, "auto" chooses one of them, ``None`` takes ``batch_chunk_size`` (all
    rows without it). ``acc_dtype``: the dtype of a chunk's scores and of sums over chunks; for half precision float32
    by default. ``acc_policy`` ("auto", "accurate", "balanced", "compact") and ``allow_retain_graph`` are checked but
    have no effect: every policy is accurate and every graph can be retained, since chunks are recomputed.

    >>> import wengert as torch
    >>> options = torch.nn.LinearCrossEntropyOptions(batch_chunk_size=2)
    >>> x, w, target = torch.ones(4, 3), torch.ones(5, 3), torch.tensor([0, 1, 2, 3])
    >>> torch.nn.functional.linear_cross_entropy(x, w, target, options=options)
    tensor(1.6094)
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None

    def __post_init__(self) -> None:
        acc_policy, chunking_method = self.acc_policy, self.chunking_method
        batch_chunk_size, acc_dtype = self.batch_chunk_size, self.acc_dtype
        if acc_policy not in ("auto", "accurate", "balanced", "compact"):
            raise ValueError(f"invalid acc_policy: {acc_policy!r}")
        if chunking_method not in (None, "auto"):
            name, colon, factor = str(chunking_method).partition(":")
            if name != "aspect_ratio" or (colon and not (factor.isdigit() and int(factor))):
                raise ValueError(f"invalid chunking_method: {chunking_method!r}")
        if batch_chunk_size is not None and (not isinstance(batch_chunk_size, int) or batch_chunk_size <= 0):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {batch_chunk_size!r}")
        if acc_dtype is not None and str(acc_dtype) not in (*_HALVES, "torch.float32", "torch.float64"):
            raise ValueError(
                "acc_dtype must be one of {None, torch.float16, torch.bfloat16, torch.float32, torch.float64}, got "
                f"{acc_dtype!r}. Pass acc_dtype=None to let the op pick automatically."
            )

    def rows_for(self, rows: int, features: int, classes: int, dtype: Any) -> int:
        """The number of rows in a chunk."""
        method = self.chunking_method
        if method == "auto":
            half = "aspect_ratio" if str(dtype) in _HALVES else "aspect_ratio:2"
            method = half if self.batch_chunk_size is None else None
        if method is None:
            return max(1, min(self.batch_chunk_size or rows, rows))
        factor = int(method.partition(":")[2] or 1)
        wanted = -(-rows // -(-classes // features))
        size = min((1 << (wanted - 1).bit_length()) // factor, rows)
        if self.batch_chunk_size not in (None, size):
            raise ValueError(
                f"batch_chunk_size (={self.batch_chunk_size}) and chunking_method ('{method}') give different chunk "
                f"sizes ({self.batch_chunk_size} vs {size}); pass only one."
            )
        return max(1, size)

    def dtype_for(self, dtype: Any) -> Any:
        """The dtype in which a chunk is computed."""
        if self.acc_dtype is not None:
            return self.acc_dtype
        return torch.float32 if str(dtype) in _HALVES else dtype

    def in_chunks(
        self,
        input: Tensor,
        linear_weight: Tensor,
        target: Tensor,
        bias: Tensor | None,
        weight: Tensor | None,
        reduction: str,
        ignored: int,
    ) -> Tensor:
        """``linear_cross_entropy`` of classes, a chunk of rows at a time."""
        single = input.dim() == 1
        if single:
            input, target = input.unsqueeze(0), target.unsqueeze(0)
        rows, features = input.shape
        size = self.rows_for(rows, features, len(linear_weight), input.dtype)
        wide = self.dtype_for(input.dtype)
        losses = _Chunked.apply(size, wide, ignored, input, linear_weight, target, bias, weight)
        if reduction == "none":
            return losses.squeeze(0) if single else losses
        total = losses.to(wide).sum()
        if reduction == "mean":
            valid = target != ignored
            if weight is None:
                total = total / valid.sum()
            else:
                total = total / (weight.to(wide)[target.masked_fill(~valid, 0)] * valid).sum()
        return total.to(input.dtype)


class _Chunked(torch.autograd.Function):
    """The losses of rows, chunk by chunk; the backward pass recomputes each chunk instead of saving its scores."""

    @staticmethod
    def forward(ctx: Any, size: int, wide: Any, ignored: int, *tensors: Any) -> Any:
        ctx.save_for_backward(*tensors)
        ctx.size, ctx.wide, ctx.ignored = size, wide, ignored
        rows = len(tensors[0])
        losses = [_losses(_rows_of(tensors, k, size), wide, ignored) for k in range(0, rows, size)]
        return torch.cat(losses) if losses else tensors[0].new_zeros((0,))

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        tensors = ctx.saved_tensors
        wanted = [k for k in (0, 1, 3) if ctx.needs_input_grad[3 + k]]
        create_graph = torch.is_grad_enabled()
        parts: list[Any] = []
        for k in range(0, len(tensors[0]), ctx.size):
            with torch.enable_grad():
                chunk = _rows_of(tensors, k, ctx.size)
                if not create_graph:
                    chunk = [t.detach().requires_grad_() if i in wanted else t for i, t in enumerate(chunk)]
                losses = _losses(chunk, ctx.wide, ctx.ignored)
            grads: Any = torch.autograd.grad(
                losses, [chunk[i] for i in wanted], g[k : k + ctx.size], create_graph=create_graph
            )
            parts.append(grads)
        found: list[Any] = [None] * len(tensors)
        for place, i in enumerate(wanted):
            grads = [p[place] for p in parts]
            if i == 0:
                found[i] = torch.cat(grads) if grads else torch.zeros_like(tensors[0])
            else:
                total = torch.zeros(tensors[i].shape, dtype=ctx.wide, device=tensors[i].device)
                for each in grads:
                    total = total + each
                found[i] = total.to(tensors[i].dtype)
        return (None, None, None, *found)


def _rows_of(tensors: Any, start: int, size: int) -> list[Any]:
    """The arguments of a chunk: its rows of the input and the target, and the other arguments whole."""
    input, weight, target, *rest = tensors
    return [input[start : start + size], weight, target[start : start + size], *rest]


def _losses(chunk: Any, wide: Any, ignored: int) -> Tensor:
    input, weight, target, bias, class_weight = chunk
    scores = F.linear(input.to(wide), weight.to(wide), None if bias is None else bias.to(wide))
    wide_weight = None if class_weight is None else class_weight.to(wide)
    return F.cross_entropy(scores, target, wide_weight, ignore_index=ignored, reduction="none").to(input.dtype)


class LinearCrossEntropyLoss(_WeightedLoss):
    """``Linear`` and ``CrossEntropyLoss`` in one: input (N, in_features), targets as of ``CrossEntropyLoss``.

    ``out_features``: further dimensions of the scores, at each place of which there is a loss.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> loss = torch.nn.LinearCrossEntropyLoss(3, 10)
    >>> loss(torch.zeros(2, 3), torch.tensor([1, 2])).shape
    torch.Size([])
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ) -> None:
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}")
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        super().__init__(weight=weight, reduction=reduction)
        self.num_classes, self.out_features, self.ignore_index = num_classes, out_features, ignore_index
        self.label_smoothing = label_smoothing
        rows = num_classes * math.prod(out_features)
        self.linear = Linear(in_features, rows, bias=bias, device=device, dtype=dtype)
        self.options = options

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        layer, shape = self.linear, (self.num_classes, *self.out_features)
        return F.linear_cross_entropy(
            input,
            layer.weight.reshape((*shape, layer.in_features)),
            target,
            linear_bias=None if layer.bias is None else layer.bias.reshape(shape),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, out_features={self.out_features}, "
            f"bias={self.linear.bias is not None}, reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )


__all__ = ["LinearCrossEntropyLoss", "LinearCrossEntropyOptions"]
