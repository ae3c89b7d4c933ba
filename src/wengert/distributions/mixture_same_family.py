"""Mixtures of distributions of one family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import wengert as torch

from .._base.constants import Size
from .._base.grad_mode import no_grad
from .._tape.tensor import Tensor
from . import constraints
from ._categories import Categorical
from .distribution import Distribution
from .utils import formula

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """``p(x) = sum_k w_k p_k(x)``: the weights are a Categorical's, the components a batch of k in its last batch dim.

    The weights' batch shape is that of the components without that dim, or what broadcasts with it.

    Raises:
        ValueError: the shapes do not fit, or what is given are no distributions.

    >>> import wengert as torch
    >>> from wengert.distributions import Categorical, MixtureSameFamily, Normal
    >>> d = MixtureSameFamily(Categorical(torch.ones(2)), Normal(torch.tensor([-1., 1.]), 1.))
    >>> d.mean, d.variance, d.log_prob(torch.tensor(0.))
    (tensor(0.), tensor(2.), tensor(-1.4189))
    """

    arg_constraints: dict[str, constraints.Constraint] = {}
    has_rsample = False
    _expands = ("_mixture_distribution", "_component_distribution")
    _keeps = ("_num_component", "_event_ndims")

    def __init__(
        self, mixture_distribution: Categorical, component_distribution: Distribution, validate_args: bool | None = None
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution needs to be an instance of torch.distributions.Distribution")
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        batch_shape = self._checked_batch_shape()
        event_shape = component_distribution.event_shape
        self._num_component = component_distribution.batch_shape[-1]
        self._event_ndims = len(event_shape)
        super().__init__(batch_shape, event_shape, validate_args=validate_args)

    def _checked_batch_shape(self) -> Size:
        weights = self._mixture_distribution.batch_shape
        components = self._component_distribution.batch_shape[:-1]
        for i, j in zip(reversed(weights), reversed(components), strict=False):
            if i != 1 and j != 1 and i != j:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({weights}) is not compatible with "
                    f"`component_distribution.batch_shape`({components})"
                )
        k, count = self._mixture_distribution.logits.shape[-1], self._component_distribution.batch_shape[-1]
        if k != count:
            raise ValueError(
                f"`mixture_distribution component` ({k}) does not equal `component_distribution.batch_shape[-1]`"
                f" ({count})"
            )
        return components

    @constraints.dependent_property
    def support(self) -> Any:
        """The components' support."""
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)  # type: ignore[arg-type]

    @property
    def mixture_distribution(self) -> Categorical:
        """The distribution of the component's number."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        """The components, in the last batch dim."""
        return self._component_distribution

    def _weighted(self, values: Tensor) -> Tensor:
        """The sum over the components, weighted."""
        weights = self._pad_mixture_dimensions(self.mixture_distribution.probs)
        return torch.sum(weights * values, dim=-1 - self._event_ndims)

    mean = formula(lambda self: self._weighted(self.component_distribution.mean))

    @property
    def variance(self) -> Tensor:
        """The components' mean variance, and the variance of their means."""
        components = self.component_distribution
        return self._weighted(components.variance) + self._weighted((components.mean - self._pad(self.mean)).pow(2.0))

    def cdf(self, x: Tensor) -> Tensor:
        return torch.sum(self.component_distribution.cdf(self._pad(x)) * self.mixture_distribution.probs, dim=-1)

    def log_prob(self, x: Tensor) -> Tensor:
        self._check_sample(x)
        components = self.component_distribution.log_prob(self._pad(x))
        weights = torch.log_softmax(self.mixture_distribution.logits, dim=-1)
        return torch.logsumexp(components + weights, dim=-1)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with no_grad():
            chosen = self.mixture_distribution.sample(sample_shape)
            dim = len(sample_shape) + len(self.batch_shape)
            draws = self.component_distribution.sample(sample_shape)
            places = chosen.reshape(chosen.shape + (1,) * (self._event_ndims + 1))
            places = places.repeat((1,) * (chosen.dim() + 1) + tuple(self.event_shape))
            return torch.gather(draws, dim, places).squeeze(dim)

    def _pad(self, x: Tensor) -> Tensor:
        return x.unsqueeze(-1 - self._event_ndims)

    def _pad_mixture_dimensions(self, x: Tensor) -> Tensor:
        """Weights as they broadcast with the components' moments."""
        rank = len(self.mixture_distribution.batch_shape)
        missing = 0 if rank == 1 else len(self.batch_shape) - rank
        return x.reshape(x.shape[:-1] + (1,) * missing + x.shape[-1:] + (1,) * self._event_ndims)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
