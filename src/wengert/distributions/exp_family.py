"""Distributions of an exponential family, of which entropy and divergence follow from the log normaliser."""

from __future__ import annotations

from typing import Any

import wengert as torch

from .._tape.tensor import Tensor
from .distribution import Distribution
from .utils import _sum_rightmost

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A distribution whose density is ``exp(<t(x), theta> - F(theta) + k(x))``.

    A subclass gives the natural parameters theta (``_natural_params``), the log normaliser F (``_log_normalizer``) and
    the expectation of k (``_mean_carrier_measure``). ``entropy`` and the divergence between two of one family are then
    Bregman divergences of F, whose derivative autograd gives.

    Source: Nielsen and Nock, Entropies and cross-entropies of exponential families, ICIP 2010.

    >>> import wengert as torch
    >>> exact = torch.distributions.Exponential(2.)
    >>> exact.entropy(), super(type(exact), exact).entropy()
    (tensor(0.3069), tensor(0.3069, grad_fn=<SubBackward0>))
    """

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> float:
        raise NotImplementedError

    def _differentiated(self) -> tuple[list[Tensor], Tensor, tuple[Any, ...]]:
        """The natural parameters as leaves, the log normaliser there, and its derivatives."""
        params = [p.detach().requires_grad_() for p in self._natural_params]
        with torch.enable_grad():
            value = self._log_normalizer(*params)
            slopes = torch.autograd.grad(value.sum(), params, create_graph=True)
        return params, value, slopes

    def entropy(self) -> Tensor:
        """The entropy, from the log normaliser and its derivative."""
        params, result, slopes = self._differentiated()
        result = result - self._mean_carrier_measure
        for p, slope in zip(params, slopes, strict=True):
            result = result - _sum_rightmost(p * slope, p.dim() - len(self._batch_shape))
        return result
