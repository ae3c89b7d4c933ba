"""The gamma distribution and distributions made from gamma draws: chi-squared, inverse gamma, F, Dirichlet, beta.

Their draws are differentiable by the parameters, by the implicit derivatives of ``_ops.random.implicit_gradients``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import wengert as torch

from .._base.constants import Size
from .._tape.tensor import Tensor
from ..nn import functional as F
from . import constraints
from ._probs import of_base
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .transformed_distribution import TransformedDistribution
from .transforms import PowerTransform
from .utils import NUMBER, broadcast_all, computed, formula


def _standard_gamma(concentration: Tensor) -> Tensor:
    return torch._standard_gamma(concentration)


class Gamma(ExponentialFamily):
    """The gamma distribution.

    ``p(x) = rate ** concentration * x ** (concentration - 1) * exp(-rate * x) / gamma(concentration)``

    Parameters: ``concentration`` (shape) and ``rate`` (one over the scale) positive, which broadcast. Support: the
    numbers from 0 on.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> rate = torch.tensor(2., requires_grad=True)
    >>> draw = torch.distributions.Gamma(3., rate).rsample()
    >>> draw, torch.autograd.grad(draw, rate)
    (tensor(3.0288, grad_fn=<DivBackward0>), (tensor(-1.5144),))
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0
    _expands = ("concentration", "rate")

    def __init__(self, concentration: Tensor | float, rate: Tensor | float, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.size(), validate_args=validate_args)

    mean = formula(lambda self: self.concentration / self.rate)
    mode = formula(lambda self: ((self.concentration - 1) / self.rate).clamp(min=0))
    variance = formula(lambda self: self.concentration / self.rate.pow(2))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        value = _standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        value.detach().clamp_(min=torch.finfo(value.dtype).tiny)  # the value only: the gradient passes
        return value

    def log_prob(self, value: Tensor) -> Tensor:
        value = torch.as_tensor(value, dtype=self.rate.dtype)
        self._check_sample(value)
        return (
            torch.xlogy(self.concentration, self.rate)
            + torch.xlogy(self.concentration - 1, value)
            - self.rate * value
            - torch.lgamma(self.concentration)
        )

    def cdf(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        return torch.special.gammainc(self.concentration, self.rate * value)

    def entropy(self) -> Tensor:
        return (
            self.concentration
            - torch.log(self.rate)
            + torch.lgamma(self.concentration)
            + (1.0 - self.concentration) * torch.digamma(self.concentration)
        )

    _natural_params = computed(lambda self: (self.concentration - 1, -self.rate))

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        return torch.lgamma(x + 1) + (x + 1) * torch.log(-y.reciprocal())


class Chi2(Gamma):
    """The chi-squared distribution of ``df`` degrees of freedom: ``Gamma(df / 2, 1 / 2)``.

    Parameter: ``df`` positive. Support: the numbers from 0 on.

    >>> import wengert as torch
    >>> d = torch.distributions.Chi2(torch.tensor([2., 4.]))
    >>> d.mean, d.variance
    (tensor([2., 4.]), tensor([4., 8.]))
    """

    arg_constraints = {"df": constraints.positive}
    _expands = Gamma._expands

    def __init__(self, df: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    df = formula(lambda self: self.concentration * 2, "Degrees of freedom.")


class InverseGamma(TransformedDistribution):
    """One over a gamma draw.

    ``p(x) = rate ** concentration * x ** (-concentration - 1) * exp(-rate / x) / gamma(concentration)``. The mean is
    infinite for concentrations up to 1, the variance up to 2.

    Parameters: ``concentration`` and ``rate`` positive, which broadcast. Support: the positive numbers.

    >>> import wengert as torch
    >>> d = torch.distributions.InverseGamma(torch.tensor([1., 3.]), 2.)
    >>> d.mean, d.mode
    (tensor([inf, 1.]), tensor([1.0000, 0.5000]))
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True
    concentration = of_base("concentration")
    rate = of_base("rate")
    _expands = ()

    def __init__(self, concentration: Tensor | float, rate: Tensor | float, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args=validate_args)

    mean = formula(lambda self: torch.where(self.concentration > 1, self.rate / (self.concentration - 1), math.inf))
    mode = formula(lambda self: self.rate / (self.concentration + 1))

    @property
    def variance(self) -> Tensor:
        variance = self.rate.square() / ((self.concentration - 1).square() * (self.concentration - 2))
        return torch.where(self.concentration > 2, variance, math.inf)

    def entropy(self) -> Tensor:
        return (
            self.concentration
            + self.rate.log()
            + self.concentration.lgamma()
            - (1 + self.concentration) * self.concentration.digamma()
        )


class FisherSnedecor(Distribution):
    """The F distribution: the ratio of two chi-squared draws, each over its degrees of freedom ``df1`` and ``df2``.

    The mean is nan for df2 <= 2, the variance for df2 <= 4, the mode for df1 <= 2.

    Parameters: ``df1`` and ``df2`` positive, which broadcast. Support: the positive numbers.

    >>> import wengert as torch
    >>> d = torch.distributions.FisherSnedecor(3., torch.tensor([2., 4.]))
    >>> d.mean, d.log_prob(torch.tensor(1.))
    (tensor([nan, 2.]), tensor([-1.2771, -1.0684]))
    """

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True
    _expands = ("df1", "df2", "_gamma1", "_gamma2")

    def __init__(self, df1: Tensor | float, df2: Tensor | float, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2)
        super().__init__(self.df1.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        df2 = self.df2.masked_fill(self.df2 <= 2, math.nan)
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Tensor:
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return mode.masked_fill(self.df1 <= 2, math.nan)

    @property
    def variance(self) -> Tensor:
        df2 = self.df2.masked_fill(self.df2 <= 4, math.nan)
        return 2 * df2.pow(2) * (self.df1 + df2 - 2) / (self.df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        above, below = self._gamma1.rsample(sample_shape), self._gamma2.rsample(sample_shape)
        tiny = torch.finfo(below.dtype).tiny
        return (above / below.clamp(min=tiny)).clamp(min=tiny)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        half1, half2, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        normalizer = (half1 + half2).lgamma() - half1.lgamma() - half2.lgamma()
        return (
            normalizer
            + (half1 * ratio.log() + (half1 - 1) * torch.log(value))
            - (half1 + half2) * torch.log1p(ratio * value)
        )


# ---- on the simplex
class Dirichlet(ExponentialFamily):
    """The Dirichlet distribution of the concentrations along the last dim of ``concentration``.

    ``p(x) ~ prod_i x_i ** (concentration_i - 1)``

    Parameter: ``concentration`` positive, of shape (*, n). Support: the simplex of n elements.

    Raises:
        ValueError: ``concentration`` has no dim.

    >>> import wengert as torch
    >>> d = torch.distributions.Dirichlet(torch.tensor([1., 2., 3.]))
    >>> d.mean, d.log_prob(torch.tensor([0.2, 0.3, 0.5]))
    (tensor([0.1667, 0.3333, 0.5000]), tensor(1.5041))
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True
    _expands = ("concentration",)

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return torch._sample_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        return (
            torch.xlogy(self.concentration - 1.0, value).sum(-1)
            + torch.lgamma(self.concentration.sum(-1))
            - torch.lgamma(self.concentration).sum(-1)
        )

    mean = formula(lambda self: self.concentration / self.concentration.sum(-1, True))

    @property
    def mode(self) -> Tensor:
        """The most probable point; if all concentrations are below 1, a corner."""
        excess = (self.concentration - 1).clamp(min=0.0)
        mode = excess / excess.sum(-1, True)
        corner = F.one_hot(mode.argmax(dim=-1), mode.shape[-1]).to(mode)
        return torch.where((self.concentration < 1).all(dim=-1, keepdim=True), corner, mode)

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def entropy(self) -> Tensor:
        total = self.concentration.sum(-1)
        return (
            torch.lgamma(self.concentration).sum(-1)
            - torch.lgamma(total)
            - (self.concentration.size(-1) - total) * torch.digamma(total)
            - ((self.concentration - 1.0) * torch.digamma(self.concentration)).sum(-1)
        )

    _natural_params = computed(lambda self: (self.concentration,))

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return x.lgamma().sum(-1) - torch.lgamma(x.sum(-1))


class Beta(ExponentialFamily):
    """The beta distribution: the first of a Dirichlet draw's two elements.

    ``p(x) ~ x ** (concentration1 - 1) * (1 - x) ** (concentration0 - 1)``

    Parameters: ``concentration1`` and ``concentration0`` positive, which broadcast. Support: [0, 1].

    >>> import wengert as torch
    >>> d = torch.distributions.Beta(torch.tensor([1., 2.]), 2.)
    >>> d.mean, d.log_prob(torch.tensor(0.5))
    (tensor([0.3333, 0.5000]), tensor([0.0000, 0.4055]))
    """

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True
    _expands = ("_dirichlet",)

    def __init__(
        self, concentration1: Tensor | float, concentration0: Tensor | float, validate_args: bool | None = None
    ) -> None:
        if isinstance(concentration1, NUMBER) and isinstance(concentration0, NUMBER):
            both = torch.tensor([float(concentration1), float(concentration0)])
        else:
            both = torch.stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(both, validate_args=validate_args)
        super().__init__(self._dirichlet._batch_shape, validate_args=validate_args)

    concentration1 = formula(lambda self: self._dirichlet.concentration[..., 0], "The exponent of x, plus 1.")

    concentration0 = formula(lambda self: self._dirichlet.concentration[..., 1], "The exponent of 1 - x, plus 1.")

    mean = formula(lambda self: self.concentration1 / (self.concentration1 + self.concentration0))
    mode = formula(lambda self: self._dirichlet.mode[..., 0])

    @property
    def variance(self) -> Tensor:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        return self._dirichlet.log_prob(torch.stack([value, 1.0 - value], -1))

    def entropy(self) -> Tensor:
        return self._dirichlet.entropy()

    _natural_params = computed(lambda self: (self.concentration1, self.concentration0))

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        return torch.lgamma(x) + torch.lgamma(y) - torch.lgamma(x + y)
