"""Distributions over categories: indices, one-hot vectors, counts of several draws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import wengert as torch

from .._base.constants import Size
from .._tape.tensor import Tensor
from ..nn import functional as F
from . import constraints
from ._counts import Binomial, enumerated
from ._probs import OfCategorical, ProbsOrLogits, one_given
from .distribution import Distribution
from .utils import broadcast_all, formula, lazy_property


class Categorical(ProbsOrLogits, Distribution):
    """The number of a category, from 0 to n - 1.

    ``probs``, of shape (*, n), are weights: they are divided by their sum. ``logits`` are log probabilities up to a
    constant. Afterwards both are normalised.

    Parameters: ``probs`` nonnegative, or ``logits`` real. Support: the whole numbers from 0 to n - 1, int64. Mean and
    variance are nan: the numbers are names.

    Raises:
        ValueError: both or none are given, or the given one has no dim.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> d = torch.distributions.Categorical(torch.tensor([1., 1., 2.]))
    >>> d.sample((5,)), d.log_prob(torch.tensor(2)), d.entropy()
    (tensor([2, 2, 1, 2, 2]), tensor(-0.6931), tensor(1.0397))
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    _binary = False
    _expands = ("probs", "logits", "_param")
    _keeps = ("_num_events",)

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        name, value = one_given(probs, logits)
        if value.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if name == "probs":
            value = value / value.sum(-1, keepdim=True)
        else:
            value = value - value.logsumexp(dim=-1, keepdim=True)
        self._keep(name, value)
        self._num_events = value.size()[-1]
        super().__init__(value.size()[:-1], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """0 to n - 1."""
        return constraints.integer_interval(0, self._num_events - 1)

    mean = formula(lambda self: torch.full(self._extended_shape(), math.nan, dtype=self.probs.dtype))
    mode = formula(lambda self: self.probs.argmax(dim=-1))
    variance = formula(lambda self: torch.full(self._extended_shape(), math.nan, dtype=self.probs.dtype))

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        rows = self.probs.reshape(-1, self._num_events)
        draws = torch.multinomial(rows, Size(sample_shape).numel(), True).T
        return draws.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        places, log_probs = value.long().unsqueeze(-1), self.logits
        if value.shape != log_probs.shape[:-1]:
            wide, log_probs = torch.broadcast_tensors(places, log_probs)
            places = wide[..., :1]
        return log_probs.gather(-1, places).squeeze(-1)

    def entropy(self) -> Tensor:
        finite = torch.clamp(self.logits, min=torch.finfo(self.logits.dtype).min)
        return -(finite * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return enumerated(torch.arange(self._num_events), self._batch_shape, expand)


class OneHotCategorical(OfCategorical, Distribution):
    """A category as a vector of zeros and one 1, of the parameters' dtype; else as ``Categorical``.

    Parameters: ``probs``, weights of shape (*, n), or ``logits``. Support: one-hot vectors of n elements.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> d = torch.distributions.OneHotCategorical(torch.tensor([0.25, 0.25, 0.5]))
    >>> d.sample(), d.log_prob(torch.tensor([0., 0., 1.]))
    (tensor([0., 0., 1.]), tensor(-0.6931))
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True
    _expands = ("_categorical",)

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    mean = formula(lambda self: self.probs)
    mode = formula(lambda self: self._one_hot(self._categorical.mode))
    variance = formula(lambda self: self.probs * (1 - self.probs))

    def _one_hot(self, places: Tensor) -> Tensor:
        return F.one_hot(places, self._categorical._num_events).to(self.probs)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self._one_hot(self._categorical.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n, batch_shape = self.event_shape[0], tuple(self.batch_shape)
        values = torch.eye(n, dtype=self._param.dtype).view((n,) + (1,) * len(batch_shape) + (n,))
        return values.expand((n, *batch_shape, n)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """A one-hot category whose draws pass the gradient on to the probabilities unchanged.

    Source: Bengio, Leonard, Courville, Estimating or propagating gradients through stochastic neurons, 2013.

    >>> import wengert as torch
    >>> probs = torch.tensor([0.5, 0.5], requires_grad=True)
    >>> draw = torch.distributions.OneHotCategoricalStraightThrough(probs).rsample()
    >>> torch.autograd.grad(draw[0], probs)
    (tensor([ 0.5000, -0.5000]),)
    """

    has_rsample = True

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        """A one-hot draw; the gradient that arrives at it goes to the probabilities."""
        draws = self.sample(sample_shape)
        return draws + (self.probs - self.probs.detach())


class Multinomial(OfCategorical, Distribution):
    """How often each of n categories occurs in ``total_count`` draws.

    ``P(k) = N! prod_i probs_i ** k_i / k_i!``. ``log_prob`` takes any number of draws if ``validate_args=False``.

    Parameters: ``total_count``, one int, and ``probs``, weights of shape (*, n), or ``logits``. Support: vectors of n
    counts.

    Raises:
        NotImplementedError: ``total_count`` is not an int.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> d = torch.distributions.Multinomial(100, torch.tensor([1., 1., 2.]))
    >>> d.sample(), d.mean
    (tensor([28., 25., 47.]), tensor([25., 25., 50.]))
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    total_count: int
    _expands = ("_categorical",)
    _keeps = ("total_count",)

    def __init__(
        self,
        total_count: int = 1,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    @lazy_property
    def _binomial(self) -> Binomial:
        """The distribution of each category's count."""
        return Binomial(total_count=self.total_count, probs=self.probs)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        """Counts whose sum is at most ``total_count``."""
        return constraints.multinomial(self.total_count)

    mean = formula(lambda self: self.probs * self.total_count)
    variance = formula(lambda self: self.total_count * self.probs * (1 - self.probs))

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        draws = self._categorical.sample((self.total_count, *sample_shape)).movedim(0, -1)
        counts = torch.zeros(self._extended_shape(sample_shape), dtype=torch.int64)
        return counts.scatter_add(-1, draws, torch.ones_like(draws)).type_as(self.probs)

    def entropy(self) -> Tensor:
        n = torch.tensor(self.total_count)
        counts = self._binomial.enumerate_support(expand=False)[1:]
        expected = (torch.exp(self._binomial.log_prob(counts)) * torch.lgamma(counts + 1)).sum([0, -1])
        return n * self._categorical.entropy() - torch.lgamma(n + 1) + expected

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.masked_fill((value == 0) & (logits == -math.inf), 0)
        coefficient = torch.lgamma(value.sum(-1) + 1) - torch.lgamma(value + 1).sum(-1)
        return coefficient + (logits * value).sum(-1)
