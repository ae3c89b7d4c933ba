"""Distributions of counts: of successes (Bernoulli, binomial), of failures before them, of events (Poisson)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import wengert as torch

from .._base.constants import Size
from .._base.grad_mode import no_grad
from .._tape.tensor import Tensor
from ..nn import functional as F
from . import constraints
from ._gamma import Gamma
from ._probs import ProbsOrLogits, one_given
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .utils import broadcast_all, computed, formula, lazy_property


def enumerated(values: Tensor, batch_shape: Sequence[int], expand: bool) -> Tensor:
    """Values along a new first dim, in front of a batch's dims."""
    values = values.view((-1,) + (1,) * len(batch_shape))
    return values.expand((-1, *batch_shape)) if expand else values


class Bernoulli(ProbsOrLogits, ExponentialFamily):
    """The Bernoulli distribution: 1 with probability ``probs``, else 0.

    Parameters: ``probs`` in [0, 1], or ``logits``, the log odds, real. Support: {0, 1}.

    Raises:
        ValueError: both are given, or none is.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> d = torch.distributions.Bernoulli(torch.tensor([0.3, 0.9]))
    >>> d.sample(), d.log_prob(torch.tensor(1.))
    (tensor([0., 1.]), tensor([-1.2040, -0.1054]))
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0
    _expands = ("probs", "logits", "_param")

    def __init__(
        self,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        name, given = one_given(probs, logits)
        self._keep(name, broadcast_all(given)[0])
        super().__init__(self._param.size(), validate_args=validate_args)

    mean = formula(lambda self: self.probs)

    @property
    def mode(self) -> Tensor:
        """The more probable value; NaN where both are equally probable."""
        return (self.probs >= 0.5).to(self.probs).masked_fill(self.probs == 0.5, math.nan)

    variance = formula(lambda self: self.probs * (1 - self.probs))

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with no_grad():
            return torch.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return enumerated(torch.arange(2, dtype=self._param.dtype), self._batch_shape, expand)

    _natural_params = computed(lambda self: (torch.logit(self.probs),))

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return torch.log1p(torch.exp(x))


class Geometric(ProbsOrLogits, Distribution):
    """The number of failures before the first success.

    ``P(k) = (1 - probs) ** k * probs``, k from 0 on; ``Tensor.geometric_`` counts the success too.

    Parameters: ``probs`` in (0, 1], or ``logits``, the log odds, real. Support: the whole numbers from 0 on.

    >>> import wengert as torch
    >>> d = torch.distributions.Geometric(torch.tensor([0.5, 0.25]))
    >>> d.mean, d.log_prob(torch.tensor(1.))
    (tensor([1., 3.]), tensor([-1.3863, -1.6740]))
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer
    _expands = ("probs", "logits", "_param")

    def __init__(
        self,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        name, given = one_given(probs, logits)
        self._keep(name, broadcast_all(given)[0])
        super().__init__(self._param.size(), validate_args=validate_args)
        if self._validate_args and name == "probs":
            value = self.probs
            positive = value > 0
            if not positive.all():
                raise ValueError(
                    f"Expected parameter probs ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                    f"{self!r} to be positive but found invalid values:\n{value.data[~positive]}"
                )

    mean = formula(lambda self: 1.0 / self.probs - 1.0)
    mode = formula(lambda self: torch.zeros_like(self.probs))
    variance = formula(lambda self: (1.0 / self.probs - 1.0) / self.probs)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with no_grad():
            u = self.probs.new(self._extended_shape(sample_shape)).uniform_(torch.finfo(self.probs.dtype).tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        value, probs = broadcast_all(value, self.probs)
        failure = probs.masked_fill((probs == 1) & (value == 0), 0)  # 0 * log(0) is 0 here
        return value * (-failure).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs


class _Trials(ProbsOrLogits, Distribution):
    """Base of distributions with a number of trials and a probability.

    It has no ``__init__``: subclasses of users call ``super(Binomial, new).__init__(batch_shape)``.
    """

    total_count: Tensor

    def _keep_trials(self, total_count: Any, probs: Any, logits: Any) -> Size:
        """Keep the parameters, broadcast; the shape they have."""
        name, given = one_given(probs, logits)
        self.total_count, value = broadcast_all(total_count, given)
        self.total_count = self.total_count.type_as(value)
        self._keep(name, value)
        return value.size()


def _clamp_by_zero(x: Tensor) -> Tensor:
    """``clamp(x, min=0)`` whose derivative at 0 is 1/2."""
    return (x.clamp(min=0) + x - x.clamp(max=0)) / 2


class Binomial(_Trials):
    """The number of successes in ``total_count`` trials.

    ``P(k) = C(n, k) * probs ** k * (1 - probs) ** (n - k)``

    Parameters: ``total_count``, a whole number from 0 on, and ``probs`` in [0, 1] or ``logits``, the log odds, real;
    they broadcast. Support: the whole numbers from 0 to ``total_count``. ``entropy`` and ``enumerate_support`` are for
    one number of trials only, else NotImplementedError.

    >>> import wengert as torch
    >>> d = torch.distributions.Binomial(4, torch.tensor([0.5, 0.25]))
    >>> d.mean, d.log_prob(torch.tensor(2.))
    (tensor([2., 1.]), tensor([-0.9808, -1.5562]))
    """

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True
    _expands = ("total_count", "probs", "logits", "_param")

    def __init__(
        self,
        total_count: Tensor | int = 1,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        super().__init__(self._keep_trials(total_count, probs, logits), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """0 to ``total_count``."""
        return constraints.integer_interval(0, self.total_count)

    mean = formula(lambda self: self.total_count * self.probs)
    mode = formula(lambda self: ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count))
    variance = formula(lambda self: self.total_count * self.probs * (1 - self.probs))

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return torch.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """``k * logit - n * log(1 + exp(logit))`` and the binomial coefficient, in a form that does not overflow."""
        self._check_sample(value)
        n, logits = self.total_count, self.logits
        normalizer = n * _clamp_by_zero(logits) + n * torch.log1p(torch.exp(-torch.abs(logits))) - torch.lgamma(n + 1)
        return value * logits - torch.lgamma(value + 1) - torch.lgamma(n - value + 1) - normalizer

    def _one_count(self, function: str) -> int:
        count = int(self.total_count.max())
        if self.total_count.min() != count:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{function}`.")
        return count

    def entropy(self) -> Tensor:
        self._one_count("entropy")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(torch.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        count = self._one_count("enumerate_support")
        return enumerated(torch.arange(1 + count, dtype=self._param.dtype), self._batch_shape, expand)


class NegativeBinomial(_Trials):
    """The number of successes before ``total_count`` failures.

    ``P(k) = gamma(n + k) / (k! gamma(n)) * probs ** k * (1 - probs) ** n``, for any real n from 0 on.

    Parameters: ``total_count`` from 0 on, and ``probs`` in [0, 1) or ``logits``, the log odds of a success, real; they
    broadcast. Support: the whole numbers from 0 on.

    >>> import wengert as torch
    >>> d = torch.distributions.NegativeBinomial(2., torch.tensor([0.5, 0.75]))
    >>> d.mean, d.log_prob(torch.tensor(1.))
    (tensor([2., 6.]), tensor([-1.3863, -2.3671]))
    """

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer
    _expands = ("total_count", "probs", "logits", "_param")

    def __init__(
        self,
        total_count: Tensor | float,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        super().__init__(self._keep_trials(total_count, probs, logits), validate_args=validate_args)

    mean = formula(lambda self: self.total_count * torch.exp(self.logits))
    mode = formula(lambda self: ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0))
    variance = formula(lambda self: self.mean / torch.sigmoid(-self.logits))

    @lazy_property
    def _gamma(self) -> Gamma:
        """The distribution of a Poisson rate that gives this one; its shape may be zero, so it is not checked."""
        return Gamma(self.total_count, torch.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with no_grad():
            return torch.poisson(self._gamma.sample(sample_shape=sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        n = self.total_count
        unnormalized = n * F.logsigmoid(-self.logits) + value * F.logsigmoid(self.logits)
        normalizer = -torch.lgamma(n + value) + torch.lgamma(1.0 + value) + torch.lgamma(n)
        return unnormalized - normalizer.masked_fill(n + value == 0.0, 0.0)  # no failures to wait for: k is 0


class Poisson(ExponentialFamily):
    """The Poisson distribution.

    ``P(k) = rate ** k * exp(-rate) / k!``

    Parameter: ``rate`` from 0 on. Support: the whole numbers from 0 on.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> d = torch.distributions.Poisson(torch.tensor([1., 4., 30.]))
    >>> d.sample(), d.log_prob(torch.tensor(2.))
    (tensor([ 2.,  5., 26.]), tensor([ -1.6931,  -1.9206, -23.8908]))
    """

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer
    _expands = ("rate",)

    def __init__(self, rate: Tensor | float, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size(), validate_args=validate_args)

    mean = formula(lambda self: self.rate)
    mode = formula(lambda self: self.rate.floor())
    variance = formula(lambda self: self.rate)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with no_grad():
            return torch.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()

    _natural_params = computed(lambda self: (torch.log(self.rate),))

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return torch.exp(x)
