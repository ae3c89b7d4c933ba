"""Distributions of waiting times and of exceedances over a threshold: exponential, Weibull, Pareto."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import wengert as torch

from .._base.constants import Size
from .._tape.tensor import Tensor
from . import constraints
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, ExpTransform, PowerTransform, Transform
from .utils import broadcast_all, computed, euler_constant, formula


class Exponential(ExponentialFamily):
    """The exponential distribution.

    ``p(x) = rate * exp(-rate * x)``

    Parameter: ``rate`` positive. Support: the numbers from 0 on.

    >>> import wengert as torch
    >>> d = torch.distributions.Exponential(torch.tensor([1., 2.]))
    >>> d.mean, d.log_prob(torch.tensor(1.))
    (tensor([1.0000, 0.5000]), tensor([-1.0000, -1.3069]))
    """

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0
    _expands = ("rate",)

    def __init__(self, rate: Tensor | float, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size(), validate_args=validate_args)

    mean = formula(lambda self: self.rate.reciprocal())
    mode = formula(lambda self: torch.zeros_like(self.rate))
    stddev = formula(lambda self: self.rate.reciprocal())
    variance = formula(lambda self: self.rate.pow(-2))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self.rate.new(self._extended_shape(sample_shape)).exponential_() / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        return 1 - torch.exp(-self.rate * value)

    def icdf(self, value: Tensor) -> Tensor:
        return -torch.log1p(-value) / self.rate

    def entropy(self) -> Tensor:
        return 1.0 - torch.log(self.rate)

    _natural_params = computed(lambda self: (-self.rate,))

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return -torch.log(-x)


class Weibull(TransformedDistribution):
    """The Weibull distribution.

    ``p(x) = k / scale * y ** (k - 1) * exp(-y ** k)`` with ``y = x / scale`` and k the concentration. The mode is nan
    for k < 1.

    Parameters: ``scale`` and ``concentration`` positive, which broadcast. Support: the positive numbers.

    >>> import wengert as torch
    >>> d = torch.distributions.Weibull(1., torch.tensor([1., 2.]))
    >>> d.mean, d.cdf(torch.tensor(1.))
    (tensor([1.0000, 0.8862]), tensor([0.6321, 0.6321]))
    """

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive
    _expands = ("scale", "concentration", "concentration_reciprocal")

    def __init__(self, scale: Tensor | float, concentration: Tensor | float, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(torch.ones_like(self.scale), validate_args=validate_args)
        transforms: list[Transform] = [
            PowerTransform(self.concentration_reciprocal),
            AffineTransform(loc=0, scale=self.scale),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    mean = formula(lambda self: self.scale * torch.exp(torch.lgamma(1 + self.concentration_reciprocal)))

    @property
    def mode(self) -> Tensor:
        return self.scale * ((self.concentration - 1) / self.concentration) ** self.concentration.reciprocal()

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2) * (
            torch.exp(torch.lgamma(1 + 2 * self.concentration_reciprocal))
            - torch.exp(2 * torch.lgamma(1 + self.concentration_reciprocal))
        )

    def entropy(self) -> Tensor:
        return (
            euler_constant * (1 - self.concentration_reciprocal)
            + torch.log(self.scale * self.concentration_reciprocal)
            + 1
        )


class Pareto(TransformedDistribution):
    """The Pareto distribution of type 1.

    ``p(x) = alpha * scale ** alpha / x ** (alpha + 1)``. The mean is infinite for alpha <= 1, the variance for
    alpha <= 2.

    Parameters: ``scale`` and ``alpha`` positive, which broadcast. Support: the numbers from ``scale`` on.

    >>> import wengert as torch
    >>> d = torch.distributions.Pareto(1., torch.tensor([1., 2.]))
    >>> d.mean, d.log_prob(torch.tensor(2.))
    (tensor([inf, 2.]), tensor([-1.3863, -1.3863]))
    """

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}
    _expands = ("scale", "alpha")

    def __init__(self, scale: Tensor | float, alpha: Tensor | float, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        transforms: list[Transform] = [ExpTransform(), AffineTransform(loc=0, scale=self.scale)]
        super().__init__(base, transforms, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """The numbers from ``scale`` on."""
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Tensor:
        alpha = self.alpha.clamp(min=1)
        return alpha * self.scale / (alpha - 1)

    mode = formula(lambda self: self.scale)

    @property
    def variance(self) -> Tensor:
        alpha = self.alpha.clamp(min=2)
        return self.scale.pow(2) * alpha / ((alpha - 1).pow(2) * (alpha - 2))

    def entropy(self) -> Tensor:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class GeneralizedPareto(Distribution):
    """The generalized Pareto distribution of exceedances over a threshold ``loc``.

    ``p(x) = (1 + concentration * z) ** (-1 / concentration - 1) / scale`` with ``z = (x - loc) / scale``: exponential
    for a concentration of 0, uniform for -1. The mean is nan from a concentration of 1 on, the variance from 0.5 on.

    Parameters: ``loc`` and ``concentration`` real, ``scale`` positive, which broadcast. Support: the numbers from
    ``loc`` on, up to ``loc - scale / concentration`` if the concentration is negative.

    >>> import wengert as torch
    >>> d = torch.distributions.GeneralizedPareto(0., 1., torch.tensor([-1., 0., 0.25]))
    >>> d.mean, d.log_prob(torch.tensor(0.5))
    (tensor([0.5000, 1.0000, 1.3333]), tensor([-0.0000, -0.5000, -0.5889]))
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True
    _expands = ("loc", "scale", "concentration")

    def __init__(
        self,
        loc: Tensor | float,
        scale: Tensor | float,
        concentration: Tensor | float,
        validate_args: bool | None = None,
    ) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.size(), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """The interval from ``loc`` to the end of the density."""
        end = torch.where(self.concentration < 0, self.loc - self.scale / self.concentration, math.inf)
        return constraints.interval(self.loc, end)

    def _cases(self) -> tuple[Tensor, Tensor]:
        """Where the concentration counts as zero, and the concentration with 1 in its place there."""
        zero = torch.isclose(self.concentration, torch.zeros_like(self.concentration))
        return zero, torch.where(zero, 1.0, self.concentration)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self.icdf(torch.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype))

    def _z(self, x: Tensor) -> Tensor:
        return (x - self.loc) / self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        z = self._z(value)
        zero, concentration = self._cases()
        power = 1 / concentration + torch.ones_like(z)
        general = torch.where(power == 0, power, power * torch.log1p(concentration * z))
        return -self.scale.log() - torch.where(zero, z, general)

    def log_survival_function(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of a draw above ``value``."""
        self._check_sample(value)
        z = self._z(value)
        zero, concentration = self._cases()
        return torch.where(zero, -z, -torch.log1p(concentration * z) / concentration)

    def log_cdf(self, value: Tensor) -> Tensor:
        """The logarithm of ``cdf``."""
        return torch.log1p(-torch.exp(self.log_survival_function(value)))

    def cdf(self, value: Tensor) -> Tensor:
        return torch.exp(self.log_cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        zero, concentration = self._cases()
        log_above = torch.log1p(-value)
        general = self.loc + self.scale / concentration * torch.expm1(-concentration * log_above)
        return torch.where(zero, self.loc - self.scale * log_above, general)

    @property
    def mean(self) -> Tensor:
        finite = self.concentration < 1
        concentration = torch.where(finite, self.concentration, 0.5)
        return torch.where(finite, self.loc + self.scale / (1 - concentration), math.nan)

    @property
    def variance(self) -> Tensor:
        finite = self.concentration < 0.5
        concentration = torch.where(finite, self.concentration, 0.25)
        variance = self.scale**2 / ((1 - concentration) ** 2 * (1 - 2 * concentration))
        return torch.where(finite, variance, math.nan)

    def entropy(self) -> Tensor:
        return torch.broadcast_to(torch.log(self.scale) + self.concentration + 1, self._batch_shape)

    mode = formula(lambda self: self.loc)
