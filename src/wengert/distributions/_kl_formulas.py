"""The formulas of PyTorch's divergences, in ``kl``'s registry.

Between different families most are ``-p.entropy()`` less the mean of q's log density under p, which is linear in a few
moments of p: the mean, the variance, the mean of ``log(x)``, the mean of ``exp(-t * x)``. So there is one formula for
each q, for all p that have the moments. Those of one family with itself are written out, as they lose fewer digits.

Sources: Gil, On Renyi divergence measures for continuous alphabet sources, 2011 (exponential, Laplace, Pareto);
Chyzak and Nielsen, arXiv 1905.10965 (Cauchy); Nielsen and Nock 2010 (exponential families).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import wengert as torch

from .._tape.tensor import Tensor
from ..nn import functional as F
from ._categories import Categorical, OneHotCategorical
from ._counts import Bernoulli, Binomial, Geometric, Poisson
from ._gamma import Beta, Dirichlet, Gamma
from ._gaussian import (
    LowRankMultivariateNormal,
    MultivariateNormal,
    _batch_lowrank_logdet,
    _batch_lowrank_mahalanobis,
    _batch_mahalanobis,
    _log_diagonal,
)
from ._interval import ContinuousBernoulli, Uniform
from ._location_scale import Cauchy, Gumbel, HalfNormal, Laplace, Normal
from ._tails import Exponential, Pareto
from .exp_family import ExponentialFamily
from .independent import Independent
from .kl import kl_divergence, register_kl
from .transformed_distribution import TransformedDistribution
from .utils import _sum_rightmost, euler_constant


# ---- a family with itself
@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Tensor:
    success = p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits))
    failure = (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))
    return _limits(success, p.probs == 0, q.probs == 0) + _limits(failure, p.probs == 1, q.probs == 1)


def _limits(term: Tensor, p_never: Tensor, q_never: Tensor) -> Tensor:
    """A term of the sum over events: infinite for one that q excludes, zero for one that p excludes."""
    return term.masked_fill(q_never, math.inf).masked_fill(p_never, 0)


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Tensor:
    return _limits(p.probs * (p.logits - q.logits), p.probs == 0, q.probs == 0).sum(-1)


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Tensor:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    one = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return (p.total_count * one).masked_fill(p.total_count > q.total_count, math.inf)


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Tensor:
    p_total, q_total = p.concentration1 + p.concentration0, q.concentration1 + q.concentration0
    return (
        (q.concentration1.lgamma() + q.concentration0.lgamma() + p_total.lgamma())
        - (p.concentration1.lgamma() + p.concentration0.lgamma() + q_total.lgamma())
        + (p.concentration1 - q.concentration1) * torch.digamma(p.concentration1)
        + (p.concentration0 - q.concentration0) * torch.digamma(p.concentration0)
        + (q_total - p_total) * torch.digamma(p_total)
    )


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Tensor:
    p_total, q_total = p.concentration.sum(-1), q.concentration.sum(-1)
    log_mean = p.concentration.digamma() - p_total.digamma().unsqueeze(-1)
    return (
        (p_total.lgamma() - q_total.lgamma())
        - (p.concentration.lgamma() - q.concentration.lgamma()).sum(-1)
        + ((p.concentration - q.concentration) * log_mean).sum(-1)
    )


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Tensor:
    return (
        q.concentration * (p.rate / q.rate).log()
        + (torch.lgamma(q.concentration) - torch.lgamma(p.concentration))
        + (p.concentration - q.concentration) * torch.digamma(p.concentration)
        + (q.rate - p.rate) * (p.concentration / p.rate)
    )


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Tensor:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Pareto, Pareto)
def _pareto(p: Any, q: Any) -> Tensor:
    ratio = q.alpha / p.alpha
    inside = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return inside.masked_fill(p.scale < q.scale, math.inf)


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Tensor:
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * torch.exp(-distance / p.scale) - 1


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Any, q: Any) -> Tensor:
    ratio, offset = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return (
        -ratio.log() + offset + ratio * euler_constant + torch.exp((1 + ratio).lgamma() - offset) - (1 + euler_constant)
    )


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Tensor:
    inside = ((q.high - q.low) / (p.high - p.low)).log()
    return inside.masked_fill((q.low > p.low) | (q.high < p.high), math.inf)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: Any, q: Any) -> Tensor:
    def log_at_zero(d: Any) -> Tensor:
        return d._cont_bern_log_norm() + torch.log1p(-d.probs)

    return p.mean * (p.logits - q.logits) + log_at_zero(p) - log_at_zero(q)


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p: Any, q: Any) -> Tensor:
    """The Bregman divergence of the log normaliser."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot                             "
            "be computed using Bregman divergences"
        )
    p_params, p_value, slopes = p._differentiated()
    result = q._log_normalizer(*q._natural_params) - p_value
    for p_param, q_param, slope in zip(p_params, q._natural_params, slopes, strict=True):
        result = result - _sum_rightmost((q_param - p_param) * slope, len(q.event_shape))
    return result


# ---- multivariate normals
def _squares(m: Tensor) -> Tensor:
    """The sum of a matrix's squares: the trace of ``m @ m.T``."""
    return m.pow(2).flatten(-2).sum(-1)


def _log_det(d: Any) -> Tensor:
    if isinstance(d, LowRankMultivariateNormal):
        return _batch_lowrank_logdet(*d._parts, d._capacitance_tril)
    return 2 * _log_diagonal(d._unbroadcasted_scale_tril)


def _distance(q: Any, x: Tensor) -> Tensor:
    if isinstance(q, LowRankMultivariateNormal):
        return _batch_lowrank_mahalanobis(*q._parts, x, q._capacitance_tril)
    return _batch_mahalanobis(q._unbroadcasted_scale_tril, x)


def _trace(q: Any, p: Any) -> Tensor:
    """The trace of q's precision matrix times p's covariance matrix, ``W @ W.T`` and for low rank ``+ diag(d)``."""
    low_rank = isinstance(p, LowRankMultivariateNormal)
    w, d = p._parts if low_rank else (p._unbroadcasted_scale_tril, None)
    if not isinstance(q, LowRankMultivariateNormal):
        factor = q._unbroadcasted_scale_tril
        trace = _squares(torch.linalg.solve_triangular(factor, w, upper=False))
        if d is None:
            return trace
        return trace + _squares(torch.linalg.solve_triangular(factor, torch.diag_embed(d.sqrt()), upper=False))
    # the precision matrix is inv(D) - A.T @ A
    q_factor, q_diag = q._parts
    a = torch.linalg.solve_triangular(q._capacitance_tril, q_factor.mT / q_diag.unsqueeze(-2), upper=False)
    trace = _squares(w * q_diag.rsqrt().unsqueeze(-1)) - _squares(a.matmul(w))
    if d is None:
        return trace
    return trace + (d / q_diag).sum(-1) - _squares(a * d.sqrt().unsqueeze(-2))


@register_kl(MultivariateNormal, MultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _multivariate_normal(p: Any, q: Any) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be computed"
        )
    difference = _log_det(q) - _log_det(p)
    return 0.5 * (difference + _trace(q, p) + _distance(q, q.loc - p.loc) - p.event_shape[0])


# ---- of distributions
@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Tensor:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


# ---- between two families
def _register_all(q: type, *ps: type) -> Callable[[Any], Any]:
    """One formula for several p."""

    def enter(formula: Any) -> Any:
        for p in ps:
            register_kl(p, q)(formula)
        return formula

    return enter


def _x_log_x(x: Tensor) -> Tensor:
    return torch.xlogy(x, x)


def _log_mean(p: Any) -> Tensor:
    """The mean of ``log(x)``."""
    if isinstance(p, Beta):
        return p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    if isinstance(p, Exponential):
        return -(p.rate.log() + euler_constant)
    if isinstance(p, Pareto):
        return p.scale.log() + p.alpha.reciprocal()
    return _uniform_log_mean(p.low, p.high)


def _uniform_log_mean(low: Tensor, high: Tensor) -> Tensor:
    width = high - low
    return (_x_log_x(high) - _x_log_x(low) - width) / width


def _exp_mean(p: Any, t: Tensor) -> Tensor:
    """The mean of ``exp(-t * x)``, t positive."""
    if isinstance(p, Exponential):
        return p.rate / (p.rate + t)
    if isinstance(p, Gamma):
        return (1 + t / p.rate).pow(-p.concentration)
    if isinstance(p, Normal):
        return torch.exp(0.5 * (t * p.scale).pow(2) - t * p.loc)
    return (torch.exp(-t * p.low) - torch.exp(-t * p.high)) / (t * (p.high - p.low))


def _mean(p: Any) -> Tensor:
    """The mean; where it is infinite a finite number, so that the gradient of what it is masked out of is finite."""
    return p.alpha * p.scale / (p.alpha - 1) if isinstance(p, Pareto) else p.mean


def _variance(p: Any) -> Tensor:
    """The same for the variance."""
    if isinstance(p, Pareto):
        return p.alpha * (p.scale / (p.alpha - 1)).pow(2) / (p.alpha - 2)
    return p.variance


def _if_moments(p: Any, count: int, value: Tensor) -> Tensor:
    """A divergence that needs p's first ``count`` moments: infinite without."""
    return value.masked_fill(p.alpha <= count, math.inf) if isinstance(p, Pareto) else value


def _if_positive(p: Any, value: Tensor) -> Tensor:
    """A divergence that needs positive draws: infinite without."""
    return value.masked_fill(p.low < 0, math.inf) if isinstance(p, Uniform) else value


@_register_all(Normal, Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Pareto, Uniform)
def _to_normal(p: Any, q: Any) -> Tensor:
    variance = q.scale.pow(2)
    square = _variance(p) + (_mean(p) - q.loc).pow(2)
    finite = 0.5 * (2 * math.pi * variance).log() - p.entropy() + square / (2 * variance)
    return _if_moments(p, 2, finite)


@_register_all(Exponential, Beta, ContinuousBernoulli, Gamma, Pareto, Uniform)
def _to_exponential(p: Any, q: Any) -> Tensor:
    return _if_positive(p, _if_moments(p, 1, -p.entropy() - q.rate.log() + q.rate * _mean(p)))


@_register_all(Gamma, Beta, Exponential, Pareto, Uniform)
def _to_gamma(p: Any, q: Any) -> Tensor:
    normalizer = q.concentration.lgamma() - q.concentration * q.rate.log()
    finite = normalizer - p.entropy() - (q.concentration - 1) * _log_mean(p) + q.rate * _mean(p)
    return _if_positive(p, _if_moments(p, 1, finite))


@_register_all(Gumbel, Exponential, Gamma, Normal, Uniform)
def _to_gumbel(p: Any, q: Any) -> Tensor:
    t = q.scale.reciprocal()
    return q.scale.log() - p.entropy() + (p.mean - q.loc) * t + torch.exp(q.loc * t) * _exp_mean(p, t)


@_register_all(ContinuousBernoulli, Beta, Uniform)
def _to_continuous_bernoulli(p: Any, q: Any) -> Tensor:
    inside = -p.entropy() - p.mean * q.logits - torch.log1p(-q.probs) - q._cont_bern_log_norm()
    # PyTorch excludes the ends themselves, which have no mass
    return inside.masked_fill((p.high >= 1) | (p.low <= 0), math.inf) if isinstance(p, Uniform) else inside


@register_kl(Uniform, Beta)
def _uniform_beta(p: Any, q: Any) -> Tensor:
    a, b = q.concentration1, q.concentration0
    normalizer = a.lgamma() + b.lgamma() - (a + b).lgamma()
    log_x, log_rest = _log_mean(p), _uniform_log_mean(1 - p.high, 1 - p.low)
    inside = normalizer - p.entropy() - (a - 1) * log_x - (b - 1) * log_rest
    return inside.masked_fill((p.high > 1) | (p.low < 0), math.inf)


@register_kl(Uniform, Pareto)
def _uniform_pareto(p: Any, q: Any) -> Tensor:
    inside = (q.alpha + 1) * _log_mean(p) - p.entropy() - q.alpha.log() - q.alpha * q.scale.log()
    return inside.masked_fill(p.low < q.scale, math.inf)


@register_kl(Normal, Laplace)
def _normal_laplace(p: Any, q: Any) -> Tensor:
    difference = p.loc - q.loc
    z = difference / p.scale
    distance = math.sqrt(2 / math.pi) * p.scale * torch.exp(-0.5 * z.pow(2)) + difference * torch.erf(
        math.sqrt(0.5) * z
    )
    return (2 * q.scale).log() - p.entropy() + distance / q.scale


_SHORT: dict[tuple[type, type], Callable[[Any, Any], Tensor]] = {
    (OneHotCategorical, OneHotCategorical): lambda p, q: _categorical(p._categorical, q._categorical),
    (Geometric, Geometric): lambda p, q: -p.entropy() - torch.log1p(-q.probs) / p.probs - q.logits,
    (Poisson, Poisson): lambda p, q: p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate),
    (HalfNormal, HalfNormal): lambda p, q: _normal(p.base_dist, q.base_dist),
    (Cauchy, Cauchy): lambda p, q: (
        ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log() - (4 * p.scale * q.scale).log()
    ),
    (Beta, Uniform): lambda p, q: _over_width(p, q, (q.low > 0) | (q.high < 1)),
    # PyTorch excludes the ends themselves, which have no mass
    (ContinuousBernoulli, Uniform): lambda p, q: _over_width(p, q, (q.low >= 0) | (q.high <= 1)),
    (Bernoulli, Poisson): lambda p, q: -p.entropy() - (p.probs * q.rate.log() - q.rate),
}
for _pair, _formula in _SHORT.items():
    register_kl(*_pair)(_formula)


def _over_width(p: Any, q: Any, outside: Tensor) -> Tensor:
    return (-p.entropy() + (q.high - q.low).log()).masked_fill(outside, math.inf)


def _infinite(p: Any, q: Any) -> Tensor:
    """The divergence is infinite: draws of p may lie outside q's support."""
    return torch.full_like(getattr(p, next(iter(p.arg_constraints))), math.inf)


_BOUNDED = (Beta, ContinuousBernoulli, Pareto, Uniform)
_POSITIVE = (Exponential, Gamma)
_INFINITE: dict[type, tuple[type, ...]] = {
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Exponential: _BOUNDED,
    Gamma: _BOUNDED,
    Gumbel: _BOUNDED + _POSITIVE,
    Laplace: _BOUNDED + _POSITIVE,
    Normal: _BOUNDED + _POSITIVE,
    Pareto: (Beta, ContinuousBernoulli, Uniform),
    Poisson: (Bernoulli, Binomial),
}
for _p, _qs in _INFINITE.items():
    for _q in _qs:
        register_kl(_p, _q)(_infinite)
del _p, _q, _qs, _pair, _formula
