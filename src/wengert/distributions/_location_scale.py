"""Distributions on the real line that are moved by ``loc`` and stretched by ``scale``, and what is made of them.

Normal, Laplace, Cauchy, Student's t, Gumbel; the absolute values of the normal and the Cauchy distribution; the
exponential of the normal one, and its image on the simplex.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import wengert as torch

from .._base.constants import Size
from .._base.grad_mode import no_grad
from .._tape.tensor import Tensor
from . import constraints
from ._gamma import Chi2
from ._interval import Uniform
from ._probs import of_base
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .transformed_distribution import TransformedDistribution
from .transforms import AbsTransform, AffineTransform, ExpTransform, StickBreakingTransform
from .utils import NUMBER, _standard_normal, broadcast_all, computed, euler_constant, formula


class _Centred(Distribution):
    """Base of the symmetric distributions: parameters, and ``loc`` as the mode."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    loc: Tensor
    scale: Tensor

    mode = formula(lambda self: self.loc)


class Normal(_Centred, ExponentialFamily):
    """The normal distribution of mean ``loc`` and standard deviation ``scale``, which broadcast.

    ``p(x) = exp(-((x - loc) / scale) ** 2 / 2) / (scale * sqrt(2 pi))``

    Parameters: ``loc`` real, ``scale`` positive. Support: the real numbers.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> d = torch.distributions.Normal(torch.tensor([0., 1.]), 2.)
    >>> d.sample(), d.log_prob(torch.tensor(0.))
    (tensor([3.0820, 0.4131]), tensor([-1.6121, -1.7371]))
    """

    _mean_carrier_measure = 0
    _expands = ("loc", "scale")

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)

    mean = formula(lambda self: self.loc)
    stddev = formula(lambda self: self.scale)
    variance = formula(lambda self: self.stddev.pow(2))

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        loc, scale = (t if t.shape == shape else t.expand(shape) for t in (self.loc, self.scale))
        if loc._node is None and scale._node is None:
            return torch.normal(loc, scale)
        with no_grad():
            return torch.normal(loc, scale)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return (
            self.loc
            + _standard_normal(self._extended_shape(sample_shape), self.loc.dtype, self.loc.device) * self.scale
        )

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        return -((value - self.loc) ** 2) / (2 * self.scale**2) - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        return 0.5 * (1 + torch.erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * torch.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Tensor:
        return 0.5 + 0.5 * math.log(2 * math.pi) + torch.log(self.scale)

    _natural_params = computed(lambda self: (self.loc / self.scale.pow(2), -0.5 * self.scale.pow(2).reciprocal()))

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        return -0.25 * x.pow(2) / y + 0.5 * torch.log(-math.pi / y)


class Laplace(_Centred):
    """The Laplace distribution around ``loc``.

    ``p(x) = exp(-|x - loc| / scale) / (2 * scale)``

    Parameters: ``loc`` real, ``scale`` positive, which broadcast. Support: the real numbers.

    >>> import wengert as torch
    >>> d = torch.distributions.Laplace(0., torch.tensor([1., 2.]))
    >>> d.log_prob(torch.tensor(0.)), d.variance
    (tensor([-0.6931, -1.3863]), tensor([2., 8.]))
    """

    _expands = ("loc", "scale")

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)

    mean = formula(lambda self: self.loc)
    variance = formula(lambda self: 2 * self.scale.pow(2))
    stddev = formula(lambda self: (2**0.5) * self.scale)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        eps = torch.finfo(self.loc.dtype).eps
        u = self.loc.new(self._extended_shape(sample_shape)).uniform_(eps - 1, 1)
        return self.loc - self.scale * u.sign() * torch.log1p(-u.abs())

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        return -torch.log(2 * self.scale) - torch.abs(value - self.loc) / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        return 0.5 - 0.5 * (value - self.loc).sign() * torch.expm1(-(value - self.loc).abs() / self.scale)

    def icdf(self, value: Tensor) -> Tensor:
        offset = value - 0.5
        return self.loc - self.scale * offset.sign() * torch.log1p(-2 * offset.abs())

    def entropy(self) -> Tensor:
        return 1 + torch.log(2 * self.scale)


class Cauchy(_Centred):
    """The Cauchy (Lorentz) distribution of median ``loc`` and half width at half maximum ``scale``.

    ``p(x) = 1 / (pi * scale * (1 + ((x - loc) / scale) ** 2))``; it has no mean (nan), and its variance is infinite.

    Parameters: ``loc`` real, ``scale`` positive, which broadcast. Support: the real numbers.

    >>> import wengert as torch
    >>> torch.distributions.Cauchy(0., 1.).cdf(torch.tensor([-1., 0., 1.]))
    tensor([0.2500, 0.5000, 0.7500])
    """

    _expands = ("loc", "scale")

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)

    mean = formula(
        lambda self: torch.full(self._extended_shape(), math.nan, dtype=self.loc.dtype, device=self.loc.device)
    )
    variance = formula(
        lambda self: torch.full(self._extended_shape(), math.inf, dtype=self.loc.dtype, device=self.loc.device)
    )

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        eps = self.loc.new(self._extended_shape(sample_shape)).cauchy_()
        return self.loc + eps * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        return -math.log(math.pi) - self.scale.log() - (((value - self.loc) / self.scale) ** 2).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        return torch.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return torch.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + self.scale.log()


class StudentT(_Centred):
    """Student's t distribution with ``df`` degrees of freedom, moved by ``loc`` and stretched by ``scale``.

    ``p(x) ~ (1 + y ** 2 / df) ** (-(df + 1) / 2)`` with ``y = (x - loc) / scale``. The mean is nan for df <= 1; the
    variance is nan there, and infinite for df <= 2.

    Parameters: ``df`` and ``scale`` positive, ``loc`` real, which broadcast. Support: the real numbers. ``rsample`` is
    differentiable by all three.

    >>> import wengert as torch
    >>> d = torch.distributions.StudentT(torch.tensor([1., 2., 3.]))
    >>> d.mean, d.variance
    (tensor([nan, 0., 0.]), tensor([nan, inf, 3.]))
    """

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    _expands = ("df", "loc", "scale", "_chi2")

    def __init__(
        self,
        df: Tensor | float,
        loc: Tensor | float = 0.0,
        scale: Tensor | float = 1.0,
        validate_args: bool | None = None,
    ) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.size(), validate_args=validate_args)

    mean = formula(lambda self: self.loc.masked_fill(self.df <= 1, math.nan))

    @property
    def variance(self) -> Tensor:
        finite = self.df > 2
        df = torch.where(finite, self.df, 3.0)
        variance = torch.where(finite, self.scale.pow(2) * df / (df - 2), math.inf)
        return variance.masked_fill(self.df <= 1, math.nan)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        """A normal draw divided by the root of a chi-squared one over ``df``."""
        x = _standard_normal(self._extended_shape(sample_shape), self.df.dtype, self.df.device)
        z = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (x * torch.rsqrt(z / self.df))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        y = (value - self.loc) / self.scale
        normalizer = (
            self.scale.log()
            + 0.5 * self.df.log()
            + 0.5 * math.log(math.pi)
            + torch.lgamma(0.5 * self.df)
            - torch.lgamma(0.5 * (self.df + 1.0))
        )
        return -0.5 * (self.df + 1.0) * torch.log1p(y**2.0 / self.df) - normalizer

    def entropy(self) -> Tensor:
        half, next_half = 0.5 * self.df, 0.5 * (self.df + 1)
        log_beta = torch.lgamma(half) + math.lgamma(0.5) - torch.lgamma(next_half)
        slope = 0.5 * (self.df + 1) * (torch.digamma(next_half) - torch.digamma(half))
        return self.scale.log() + slope + 0.5 * self.df.log() + log_beta


class Gumbel(TransformedDistribution):
    """The Gumbel distribution (of largest values).

    ``p(x) = exp(-y - exp(-y)) / scale`` with ``y = (x - loc) / scale``

    Parameters: ``loc`` real, ``scale`` positive, which broadcast. Support: the real numbers.

    >>> import wengert as torch
    >>> d = torch.distributions.Gumbel(0., 1.)
    >>> d.mean, d.log_prob(torch.tensor(0.))
    (tensor(0.5772), tensor(-1.))
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    _expands = ("loc", "scale")

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        info = torch.finfo(self.loc.dtype)
        low: Any = info.tiny
        high: Any = 1 - info.eps
        if not (isinstance(loc, NUMBER) and isinstance(scale, NUMBER)):
            low, high = torch.full_like(self.loc, low), torch.full_like(self.loc, high)
        transforms = [
            ExpTransform().inv,
            AffineTransform(loc=0, scale=-torch.ones_like(self.scale)),
            ExpTransform().inv,
            AffineTransform(loc=loc, scale=-self.scale),
        ]
        super().__init__(Uniform(low, high, validate_args=validate_args), transforms, validate_args=validate_args)

    def log_prob(self, value: Tensor) -> Tensor:
        """Not by the transforms, which would lose digits."""
        self._check_sample(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    mean = formula(lambda self: self.loc + self.scale * euler_constant)
    mode = formula(lambda self: self.loc)
    stddev = formula(lambda self: (math.pi / math.sqrt(6)) * self.scale)
    variance = formula(lambda self: self.stddev.pow(2))

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + euler_constant)


# ---- absolute values
class _Folded:
    """A mixin: the absolute value of a draw that is symmetric around 0."""

    base_dist: Any
    support = constraints.nonnegative
    has_rsample = True
    scale = of_base("scale")
    _check_sample: Any

    mode = formula(lambda self: torch.zeros_like(self.scale))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        value = torch.as_tensor(value, dtype=self.scale.dtype)
        return torch.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob: Tensor) -> Tensor:
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)


class HalfNormal(_Folded, TransformedDistribution):  # icdf's argument is called prob in PyTorch
    """The absolute value of a normal draw of mean 0 and standard deviation ``scale``.

    ``p(x) = sqrt(2 / pi) / scale * exp(-(x / scale) ** 2 / 2)``

    Parameter: ``scale`` positive. Support: the numbers from 0 on.

    >>> import wengert as torch
    >>> torch.distributions.HalfNormal(torch.tensor([1., 2.])).mean
    tensor([0.7979, 1.5958])
    """

    arg_constraints = {"scale": constraints.positive}
    _expands = ()

    def __init__(self, scale: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    mean = formula(lambda self: self.scale * math.sqrt(2 / math.pi))
    variance = formula(lambda self: self.scale.pow(2) * (1 - 2 / math.pi))


class HalfCauchy(_Folded, TransformedDistribution):  # as above
    """The absolute value of a Cauchy draw around 0; mean and variance are infinite.

    ``p(x) = 2 / (pi * scale * (1 + (x / scale) ** 2))``

    Parameter: ``scale`` positive. Support: the numbers from 0 on.

    >>> import wengert as torch
    >>> torch.distributions.HalfCauchy(1.).cdf(torch.tensor([0., 1.]))
    tensor([0.0000, 0.5000])
    """

    arg_constraints = {"scale": constraints.positive}
    _expands = ()

    def __init__(self, scale: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    mean = formula(lambda self: torch.full(self._extended_shape(), math.inf, dtype=self.scale.dtype))
    variance = formula(lambda self: self.base_dist.variance)


# ---- of the normal
class LogNormal(TransformedDistribution):
    """The exponential of a normal draw of mean ``loc`` and standard deviation ``scale``.

    ``p(x) = exp(-((log(x) - loc) / scale) ** 2 / 2) / (x * scale * sqrt(2 pi))``

    Parameters: ``loc`` real, ``scale`` positive, which broadcast. Support: the positive numbers.

    >>> import wengert as torch
    >>> d = torch.distributions.LogNormal(0., 1.)
    >>> d.mean, d.mode
    (tensor(1.6487), tensor(0.3679))
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True
    loc = of_base("loc")
    scale = of_base("scale")
    _expands = ()

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    mean = formula(lambda self: (self.loc + self.scale.pow(2) / 2).exp())
    mode = formula(lambda self: (self.loc - self.scale.square()).exp())

    @property
    def variance(self) -> Tensor:
        square = self.scale.pow(2)
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc


class LogisticNormal(TransformedDistribution):
    """Points of the simplex whose stick-breaking coordinates are normal draws.

    ``loc`` and ``scale``, of shape (*, n), are those of the n coordinates; a draw has n + 1 elements.

    Parameters: ``loc`` real, ``scale`` positive, which broadcast. Support: the simplex.

    >>> import wengert as torch
    >>> d = torch.distributions.LogisticNormal(torch.zeros(3), torch.ones(3))
    >>> d.event_shape, d.log_prob(torch.full((4,), 0.25))
    (torch.Size([4]), tensor(2.7884))
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True
    _expands = ()

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        base = base if base.batch_shape else base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    loc = formula(lambda self: self.base_dist.base_dist.loc, "The means of the coordinates.")

    scale = formula(lambda self: self.base_dist.base_dist.scale, "Their standard deviations.")
