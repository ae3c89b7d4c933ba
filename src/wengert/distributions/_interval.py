"""Distributions on an interval: uniform, Kumaraswamy, continuous Bernoulli."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import wengert as torch

from .._base.constants import Size
from .._tape.tensor import Tensor
from ..nn import functional as F
from . import constraints
from ._probs import ProbsOrLogits, one_given
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform, Transform
from .utils import broadcast_all, clamp_probs, computed, euler_constant, formula, lazy_property, logits_to_probs


class Uniform(Distribution):
    """The uniform distribution on [low, high).

    ``p(x) = 1 / (high - low)``

    Parameters: ``low`` and ``high``, ``low < high``, which broadcast. Support: [low, high]; the density at ``high`` is
    zero.

    >>> import wengert as torch
    >>> d = torch.distributions.Uniform(torch.tensor([0., 1.]), 3.)
    >>> d.mean, d.log_prob(torch.tensor([2., 2.]))
    (tensor([1.5000, 2.0000]), tensor([-1.0986, -0.6931]))
    """

    has_rsample = True
    _expands = ("low", "high")

    def __init__(self, low: Tensor | float, high: Tensor | float, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.size(), validate_args=validate_args)

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        return {"low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)}

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """[low, high]."""
        return constraints.interval(self.low, self.high)

    mean = formula(lambda self: (self.high + self.low) / 2)

    mode = formula(lambda self: math.nan * self.high, "nan: no value is more probable than another.")

    stddev = formula(lambda self: (self.high - self.low) / 12**0.5)
    variance = formula(lambda self: (self.high - self.low).pow(2) / 12)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        rand = torch.rand(self._extended_shape(sample_shape), dtype=self.low.dtype)
        return self.low + rand * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        inside = self.low.le(value).type_as(self.low).mul(self.high.gt(value).type_as(self.low))
        return torch.log(inside) - torch.log(self.high - self.low)

    def cdf(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Tensor) -> Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        return torch.log(self.high - self.low)


class Kumaraswamy(TransformedDistribution):
    """The Kumaraswamy distribution on [0, 1], like Beta with simpler functions.

    ``p(x) = a * b * x ** (a - 1) * (1 - x ** a) ** (b - 1)`` with a and b the concentrations 1 and 0. The mode is nan
    unless both are at least 1 (in PyTorch 2.13 it always is).

    Parameters: ``concentration1`` and ``concentration0`` positive, which broadcast. Support: [0, 1].

    >>> import wengert as torch
    >>> d = torch.distributions.Kumaraswamy(2., torch.tensor([1., 2.]))
    >>> d.mean, d.cdf(torch.tensor(0.5))
    (tensor([0.6667, 0.5333]), tensor([0.2500, 0.4375]))
    """

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True
    _expands = ("concentration1", "concentration0")

    def __init__(
        self, concentration1: Tensor | float, concentration0: Tensor | float, validate_args: bool | None = None
    ) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        zeros = torch.full_like(self.concentration0, 0)
        base = Uniform(zeros, torch.full_like(zeros, 1), validate_args=validate_args)
        transforms: list[Transform] = [
            PowerTransform(self.concentration0.reciprocal()),
            AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(self.concentration1.reciprocal()),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def _moment(self, n: int) -> Tensor:
        """The mean of x ** n: b times the beta function of 1 + n / a and b."""
        a, b = 1 + n / self.concentration1, self.concentration0
        return b * torch.exp(torch.lgamma(a) + torch.lgamma(b) - torch.lgamma(a + b))

    mean = formula(lambda self: self._moment(1))

    @property
    def mode(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        mode = ((a - 1) / (a * b - 1)).pow(a.reciprocal())
        return mode.masked_fill((a < 1) | (b < 1), math.nan)

    variance = formula(lambda self: self._moment(2) - torch.pow(self.mean, 2))

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        harmonic = torch.digamma(b + 1) + euler_constant
        return (1 - b.reciprocal()) + (1 - a.reciprocal()) * harmonic - torch.log(a) - torch.log(b)


class ContinuousBernoulli(ProbsOrLogits, ExponentialFamily):
    """The continuous Bernoulli distribution on [0, 1].

    ``p(x) = C * probs ** x * (1 - probs) ** (1 - x)``, where C makes the integral 1. ``probs`` is no probability and
    ``logits`` are no log odds; the names are those of Bernoulli. Around ``probs = 1 / 2``, between ``lims``, series
    take the place of formulas that are 0 / 0 there.

    Parameters: ``probs`` in (0, 1) or ``logits`` real. Support: [0, 1].

    Source: Loaiza-Ganem and Cunningham, The continuous Bernoulli: fixing a pervasive error in variational
    autoencoders, NeurIPS 2019.

    >>> import wengert as torch
    >>> d = torch.distributions.ContinuousBernoulli(torch.tensor([0.2, 0.5]))
    >>> d.mean, d.log_prob(torch.tensor(0.5))
    (tensor([0.3880, 0.5000]), tensor([-0.0788,  0.0000]))
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0
    _expands = ("probs", "logits", "_param")
    _keeps = ("_lims",)

    def __init__(
        self,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        name, given = one_given(probs, logits)
        (value,) = broadcast_all(given)
        if name == "probs":
            if validate_args and not constraints.unit_interval.check(value).all():  # clamped, all would be valid
                raise ValueError("The parameter probs has invalid values")
            value = clamp_probs(value)
        self._keep(name, value)
        self._lims = lims
        super().__init__(value.size(), validate_args=validate_args)

    @lazy_property
    def probs(self) -> Tensor:
        """The parameter in (0, 1)."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _outside_unstable_region(self) -> Tensor:
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut_probs(self) -> Tensor:
        """``probs``, and the lower limit between the limits: there the exact formulas are not used."""
        return torch.where(self._outside_unstable_region(), self.probs, self._lims[0])

    def _cont_bern_log_norm(self) -> Tensor:
        """The logarithm of C."""
        cut = self._cut_probs()
        low, high = torch.where(cut <= 0.5, cut, 0.0), torch.where(cut >= 0.5, cut, 1.0)
        exact = torch.log(torch.abs(torch.log1p(-cut) - torch.log(cut))) - torch.where(
            cut <= 0.5, torch.log1p(-2.0 * low), torch.log(2.0 * high - 1.0)
        )
        x = torch.pow(self.probs - 0.5, 2)
        series = math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x
        return torch.where(self._outside_unstable_region(), exact, series)

    @property
    def mean(self) -> Tensor:
        cut = self._cut_probs()
        exact = cut / (2.0 * cut - 1.0) + 1.0 / (torch.log1p(-cut) - torch.log(cut))
        x = self.probs - 0.5
        series = 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * torch.pow(x, 2)) * x
        return torch.where(self._outside_unstable_region(), exact, series)

    @property
    def variance(self) -> Tensor:
        cut = self._cut_probs()
        exact = cut * (cut - 1.0) / torch.pow(1.0 - 2.0 * cut, 2) + 1.0 / torch.pow(
            torch.log1p(-cut) - torch.log(cut), 2
        )
        x = torch.pow(self.probs - 0.5, 2)
        series = 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x
        return torch.where(self._outside_unstable_region(), exact, series)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self.icdf(torch.rand(self._extended_shape(sample_shape), dtype=self.probs.dtype))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none") + self._cont_bern_log_norm()

    def cdf(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        cut = self._cut_probs()
        exact = (torch.pow(cut, value) * torch.pow(1.0 - cut, 1.0 - value) + cut - 1.0) / (2.0 * cut - 1.0)
        inside = torch.where(self._outside_unstable_region(), exact, value)
        return torch.where(value <= 0.0, 0.0, torch.where(value >= 1.0, 1.0, inside))

    def icdf(self, value: Tensor) -> Tensor:
        cut = self._cut_probs()
        exact = (torch.log1p(-cut + value * (2.0 * cut - 1.0)) - torch.log1p(-cut)) / (
            torch.log(cut) - torch.log1p(-cut)
        )
        return torch.where(self._outside_unstable_region(), exact, value)

    def entropy(self) -> Tensor:
        log_failure = torch.log1p(-self.probs)
        return self.mean * (log_failure - torch.log(self.probs)) - self._cont_bern_log_norm() - log_failure

    _natural_params = computed(lambda self: (self.logits,))

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        low, high = self._lims[0] - 0.5, self._lims[1] - 0.5
        outside = (x <= low) | (x > high)
        cut = torch.where(outside, x, low)
        exact = torch.log(torch.abs(torch.special.expm1(cut))) - torch.log(torch.abs(cut))
        return torch.where(outside, exact, 0.5 * x + torch.pow(x, 2) / 24.0 - torch.pow(x, 4) / 2880.0)
