"""Losses as modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._base.errors import warn
from ..._base.exports import own_names
from ..._tape.tensor import Tensor
from .. import functional as F
from .._reduction import legacy_get_string
from ._making import FunctionLayer
from .distance import PairwiseDistance
from .module import Module


class _Loss(Module):
    reduction: str

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__()
        legacy = size_average is not None or reduce is not None
        self.reduction = legacy_get_string(size_average, reduce) if legacy else reduction


class _WeightedLoss(_Loss):
    weight: Any

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class _Named(FunctionLayer):
    """A mixin of losses whose function gets the options by name."""

    extra_repr = Module.extra_repr


class _Pairwise(_Named):
    """A mixin of losses of an input and a target."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:  # type: ignore[override]
        """The loss, reduced as ``reduction`` says."""
        return self._of(input, target)


# ---- regression
class L1Loss(_Pairwise, _Loss, function="l1_loss", named="reduction"):
    """``|input - target|``, reduced by mean, sum or not at all."""


class MSELoss(_Pairwise, _Loss, function="mse_loss", named="reduction"):
    """``(input - target) ** 2``, reduced by mean, sum or not at all.

    >>> import wengert as torch
    >>> torch.nn.MSELoss()(torch.tensor([1., 2.]), torch.tensor([1., 4.]))
    tensor(2.)
    """


class SmoothL1Loss(_Pairwise, _Loss, function="smooth_l1_loss", named="reduction beta"):
    """``d**2 / (2 beta)`` where ``|d| < beta``, else ``|d| - beta / 2``."""

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean", beta: float = 1.0
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta


class HuberLoss(_Pairwise, _Loss, function="huber_loss", named="reduction delta"):
    """``d**2 / 2`` where ``|d| <= delta``, else ``delta * (|d| - delta / 2)``."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        if not isinstance(delta, (float, int)):
            raise TypeError(f"delta must be a float or int, got: {type(delta)}")
        super().__init__(reduction=reduction)
        self.delta = delta


class PoissonNLLLoss(_Named, _Loss, function="poisson_nll_loss", named="log_input full eps reduction"):
    """Negative log-likelihood of counts under a Poisson distribution."""

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-08,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:  # type: ignore[override]
        """``exp(log_input) - target * log_input``."""
        return self._of(log_input, target)


class GaussianNLLLoss(_Named, _Loss, function="gaussian_nll_loss", named="full eps reduction"):
    """Negative log-likelihood under normal distributions with the given variances."""

    def __init__(self, *, full: bool = False, eps: float = 1e-06, reduction: str = "mean") -> None:
        super().__init__(None, None, reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:  # type: ignore[override]
        """``(log(var) + (input - target)**2 / var) / 2``."""
        return self._of(input, target, var)


# ---- classification
class NLLLoss(_Pairwise, _WeightedLoss, function="nll_loss", named="weight ignore_index reduction"):
    """Minus the log-probability of the target class: input (N, C, ...), target (N, ...)."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index


class NLLLoss2d(NLLLoss):
    """The name of ``NLLLoss`` for images until PyTorch 0.3; deprecated."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warn(
            "`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead as a drop-in replacement and see "
            "https://pytorch.org/docs/main/nn.html#torch.nn.NLLLoss for more details.",
            FutureWarning,
        )
        super().__init__(*args, **kwargs)


class CrossEntropyLoss(
    _Pairwise, _WeightedLoss, function="cross_entropy", named="weight ignore_index reduction label_smoothing"
):
    """``NLLLoss`` of the log-softmax of scores (N, C, ...); targets are classes (N, ...) or probabilities (N, C, ...).

    >>> import wengert as torch
    >>> torch.nn.CrossEntropyLoss()(torch.zeros(2, 4), torch.tensor([0, 3]))
    tensor(1.3863)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing


class KLDivLoss(_Pairwise, _Loss, function="kl_div", named="reduction log_target"):
    """``target * (log(target) - input)``: input holds log-probabilities."""

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target


class BCELoss(_Pairwise, _WeightedLoss, function="binary_cross_entropy", named="weight reduction"):
    """Cross entropy of probabilities with targets between 0 and 1."""


class BCEWithLogitsLoss(
    _Pairwise, _Loss, function="binary_cross_entropy_with_logits", named="weight pos_weight reduction"
):
    """``BCELoss`` of ``sigmoid(input)``, without overflow; ``pos_weight`` weighs the positive part."""

    weight: Any
    pos_weight: Any

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)


class SoftMarginLoss(_Pairwise, _Loss, function="soft_margin_loss", named="reduction"):
    """``log(1 + exp(-target * input))`` for targets of 1 and -1."""


class MultiLabelMarginLoss(_Pairwise, _Loss, function="multilabel_margin_loss", named="reduction"):
    """Hinge loss between each class in the target's list and each class outside it."""


class MultiLabelSoftMarginLoss(
    _Pairwise, _WeightedLoss, function="multilabel_soft_margin_loss", named="weight reduction"
):
    """Binary cross entropy of each class's ``sigmoid(input)``, averaged over the classes."""


class MultiMarginLoss(_Pairwise, _WeightedLoss, function="multi_margin_loss", named="p margin weight reduction"):
    """Hinge loss between the target's class and each other class, to the power ``p`` (1 or 2)."""

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.dim() != 1:
            raise ValueError(f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.dim()}D instead")
        self.p, self.margin = p, margin


# ---- comparisons
class _MarginLoss(_Loss):
    margin: float

    def __init__(
        self, margin: float = 0.0, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class HingeEmbeddingLoss(_Pairwise, _MarginLoss, function="hinge_embedding_loss", named="margin reduction"):
    """The input where the target is 1, ``max(0, margin - input)`` where it is -1."""

    def __init__(
        self, margin: float = 1.0, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__(margin, size_average, reduce, reduction)


class CosineEmbeddingLoss(_Named, _MarginLoss, function="cosine_embedding_loss", named="margin reduction"):
    """``1 - cos(x1, x2)`` where the target is 1, ``max(0, cos(x1, x2) - margin)`` where it is -1."""

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:  # type: ignore[override]
        return self._of(input1, input2, target)


class MarginRankingLoss(_Named, _MarginLoss, function="margin_ranking_loss", named="margin reduction"):
    """``max(0, -target * (x1 - x2) + margin)``: with target 1, x1 should be larger than x2."""

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:  # type: ignore[override]
        return self._of(input1, input2, target)


def _above_zero(margin: float, name: str) -> float:
    if margin <= 0:
        raise ValueError(f"{name}: expected margin to be greater than 0, got {margin} instead")
    return margin


class TripletMarginLoss(_Named, _Loss, function="triplet_margin_loss", named="margin p eps swap reduction"):
    """``max(0, d(anchor, positive) - d(anchor, negative) + margin)``, where d is the distance in the p-norm."""

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-06,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = _above_zero(margin, "TripletMarginLoss")
        self.p, self.eps, self.swap = p, eps, swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:  # type: ignore[override]
        return self._of(anchor, positive, negative)


class TripletMarginWithDistanceLoss(
    _Named,
    _Loss,
    function="triplet_margin_with_distance_loss",
    named="distance_function margin swap reduction",
    constants="margin swap reduction",
):
    """``TripletMarginLoss`` with a given distance function."""

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        self.margin, self.swap = _above_zero(margin, "TripletMarginWithDistanceLoss"), swap
        self.distance_function = PairwiseDistance() if distance_function is None else distance_function

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:  # type: ignore[override]
        return self._of(anchor, positive, negative)


class CTCLoss(_Loss):
    """Connectionist temporal classification: the likelihood of a sequence of labels over all its alignments."""

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any) -> Tensor:
        return F.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )


__all__ = own_names(globals())  # noqa: PLE0605
