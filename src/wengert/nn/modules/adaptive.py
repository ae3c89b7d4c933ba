"""``AdaptiveLogSoftmaxWithLoss``: softmax over many classes sorted by frequency. Source: Grave et al. 2017."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import wengert as torch

from ..._tape.tensor import Tensor
from .. import functional as F
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    output: Tensor
    loss: Tensor


def _edges(cutoffs: Sequence[int], n_classes: int) -> list[int]:
    """The last classes (exclusive) of the head and of each tail."""
    edges = [*cutoffs, n_classes]
    if len(edges) == 1:
        raise ValueError("cutoffs should be a sequence of length larger than 0")
    whole = all(int(edge) == edge for edge in edges)
    if not whole or any(low >= high for low, high in pairwise([0, *edges])):
        raise ValueError(
            "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
            "value is between 1 and n_classes-1"
        )
    return edges


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-probabilities of classes sorted by frequency: a head for the frequent ones, smaller tails for the others."""

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.in_features, self.n_classes, self.div_value, self.head_bias = in_features, n_classes, div_value, head_bias
        self.cutoffs = _edges(cutoffs, n_classes)
        self.shortlist_size, self.n_clusters = self.cutoffs[0], len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        options = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **options)
        self.tail = ModuleList()
        for k, (low, high) in enumerate(pairwise(self.cutoffs), start=1):
            hidden = int(in_features // (div_value**k))  # rarer classes get fewer features
            down = Linear(in_features, hidden, bias=False, **options)
            self.tail.append(Sequential(down, Linear(hidden, high - low, bias=False, **options)))

    def reset_parameters(self) -> None:
        """Draw new initial values."""
        self.head.reset_parameters()
        for pair in self.tail:
            for layer in pair:
                layer.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        """Return ``(output, loss)``: the log-probability of each target, and minus their mean."""
        self._check(input_, target_)
        batched = target_.dim() > 0
        input = input_ if batched else input_.unsqueeze(0)
        target = target_ if batched else target_.unsqueeze(0)
        head = F.log_softmax(self.head(input), dim=1)
        places = target.clone()
        rest = input.new_zeros(target.size(0))
        used = int(((target >= 0) & (target < self.cutoffs[0])).sum())
        for i, tail in enumerate(self.tail):
            low, high = self.cutoffs[i], self.cutoffs[i + 1]
            rows = ((target >= low) & (target < high)).nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            used += rows.numel()
            log_probs = F.log_softmax(tail(input.index_select(0, rows)), dim=1)
            relative = target.index_select(0, rows) - low
            rest = rest.index_copy(0, rows, log_probs.gather(1, relative.unsqueeze(1)).squeeze(1))
            places[rows] = self.shortlist_size + i
        if used != target.size(0):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range [{target.min().item()}, "
                f"{target.max().item()}] were found. "
            )
        output = rest + head.gather(1, places.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output if batched else output.squeeze(0), loss)

    @staticmethod
    def _check(input: Tensor, target: Tensor) -> None:
        if target.dim() == 1:
            if input.size(0) != target.size(0):
                raise RuntimeError("Input and target should have the same size in the batch dimension.")
            if input.dim() != 2:
                raise RuntimeError(
                    f"1D target tensor expects 2D input tensors, but found inputs with size {input.size()}"
                )
        elif target.dim() == 0:
            if input.dim() != 1:
                raise RuntimeError(
                    f"0D target tensor expects 1D input tensors, but found inputs with size {input.size()}"
                )
        else:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")

    def _get_full_log_prob(self, input: Tensor, head_output: Tensor) -> Tensor:
        head = F.log_softmax(head_output, dim=1)
        parts = [head[:, : self.shortlist_size]]
        for i, tail in enumerate(self.tail):
            parts.append(F.log_softmax(tail(input), dim=1) + head[:, self.shortlist_size + i].unsqueeze(1))
        return torch.cat(parts, 1)

    def log_prob(self, input: Tensor) -> Tensor:
        """The log-probabilities of all classes: (N, in_features) to (N, n_classes)."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each row."""
        head = self.head(input)
        best = torch.argmax(head, dim=1)
        rare = best >= self.shortlist_size
        if rare.any():
            best[rare] = torch.argmax(self._get_full_log_prob(input[rare], head[rare]), dim=1)
        return best
