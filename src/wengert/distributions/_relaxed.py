"""Continuous relaxations of discrete distributions, which they approach as the temperature goes to zero.

Sources: Maddison, Mnih, Teh, The Concrete distribution, ICLR 2017; Jang, Gu, Poole, Categorical reparameterization with
Gumbel-softmax, ICLR 2017.
"""

from __future__ import annotations

from collections.abc import Sequence

import wengert as torch

from .._base.constants import Size
from .._tape.tensor import Tensor
from . import constraints
from ._categories import Categorical
from ._probs import OfCategorical, ProbsOrLogits, of_base, one_given
from .distribution import Distribution
from .transformed_distribution import TransformedDistribution
from .transforms import ExpTransform, SigmoidTransform
from .utils import broadcast_all, clamp_probs


class LogitRelaxedBernoulli(ProbsOrLogits, Distribution):
    """The logit of a ``RelaxedBernoulli`` draw: a logistic draw around the log odds, over the temperature.

    Parameters: ``temperature``, a positive tensor, and ``probs`` in [0, 1] or ``logits`` real. Support: the real
    numbers.

    >>> import wengert as torch
    >>> from wengert.distributions.relaxed_bernoulli import LogitRelaxedBernoulli
    >>> LogitRelaxedBernoulli(torch.tensor(1.), probs=0.5).log_prob(torch.tensor(0.))
    tensor(-1.3863)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    _expands = ("probs", "logits", "_param")
    _keeps = ("temperature",)

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        name, given = one_given(probs, logits)
        self._keep(name, broadcast_all(given)[0])
        super().__init__(self._param.size(), validate_args=validate_args)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        uniforms = clamp_probs(torch.rand(shape, dtype=probs.dtype))
        return (uniforms.log() - (-uniforms).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        logits, value = broadcast_all(self.logits, value)
        diff = logits - value.mul(self.temperature)
        return self.temperature.log() + diff - 2 * diff.exp().log1p()


class RelaxedBernoulli(TransformedDistribution):
    """A draw in (0, 1), near 0 or 1 for low temperatures, differentiable by probability and temperature.

    Parameters: ``temperature``, a positive tensor, and ``probs`` in [0, 1] or ``logits``, the log odds, real. Support:
    [0, 1].

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.distributions.RelaxedBernoulli(torch.tensor(2.2), torch.tensor([0.1, 0.2, 0.3, 0.99])).sample()
    tensor([0.2679, 0.4786, 0.1907, 0.7743])
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    temperature = of_base("temperature")
    logits = of_base("logits")
    probs = of_base("probs")
    _expands = ()

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)


class ExpRelaxedCategorical(OfCategorical, Distribution):
    """The logarithm of a ``RelaxedOneHotCategorical`` draw.

    Parameters: ``temperature``, a positive tensor, and ``probs``, weights of shape (*, n), or ``logits``. Support:
    logarithms of points of the simplex, checked as real vectors.

    >>> import wengert as torch
    >>> from wengert.distributions.relaxed_categorical import ExpRelaxedCategorical
    >>> ExpRelaxedCategorical(torch.tensor(1.), torch.ones(2)).rsample().exp().sum()
    tensor(1.)
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector
    has_rsample = True
    _expands = ("_categorical",)
    _keeps = ("temperature",)

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        uniforms = clamp_probs(torch.rand(self._extended_shape(sample_shape), dtype=self.logits.dtype))
        gumbels = -((-(uniforms.log())).log())
        scores = (self.logits + gumbels) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        n = self._categorical._num_events
        logits, value = broadcast_all(self.logits, value)
        log_scale = torch.full_like(self.temperature, float(n)).lgamma() - self.temperature.log().mul(-(n - 1))
        score = logits - value.mul(self.temperature)
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + log_scale


class RelaxedOneHotCategorical(TransformedDistribution):
    """A point of the simplex, near a corner for low temperatures, differentiable by weights and temperature.

    Parameters: ``temperature``, a positive tensor, and ``probs``, weights of shape (*, n), or ``logits``. Support: the
    simplex.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> torch.distributions.RelaxedOneHotCategorical(torch.tensor(2.2), torch.tensor([0.1, 0.2, 0.7])).sample()
    tensor([0.2215, 0.4734, 0.3051])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True
    temperature = of_base("temperature")
    logits = of_base("logits")
    probs = of_base("probs")
    _expands = ()

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)
