"""Distributions beside SciPy and numerical integration, their draws beside their distribution functions, gradients of
draws beside derivatives of quantiles, transforms beside autograd, divergences beside integrals."""

from __future__ import annotations

import copy
import doctest
import inspect
import math
import pickle
import subprocess
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.special
import scipy.stats as st
from distribution_cases import CASES, FACTOR, SPD, build

import wengert as torch
from wengert import distributions as D
from wengert.distributions import constraints, transforms


def t(values: Any, requires_grad: bool = False) -> Any:
    return torch.tensor(values, dtype=torch.float64, requires_grad=requires_grad)


def close(actual: Any, expected: Any, rtol: float = 1e-9, atol: float = 1e-12) -> None:
    actual = actual.detach().numpy() if isinstance(actual, torch.Tensor) else actual
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=atol)


# ------------------------------------------------------------------------------------------------------ beside SciPy
# distribution, SciPy's, points
SCIPY: dict[str, tuple[Callable[[], Any], Any, Any]] = {
    "Bernoulli": (lambda: D.Bernoulli(t(0.3)), st.bernoulli(0.3), [0.0, 1.0]),
    "Beta": (lambda: D.Beta(t(2.0), t(3.5)), st.beta(2.0, 3.5), [0.1, 0.5, 0.9]),
    "Binomial": (lambda: D.Binomial(7, t(0.3)), st.binom(7, 0.3), [0.0, 3.0, 7.0]),
    "Cauchy": (lambda: D.Cauchy(t(1.0), t(2.0)), st.cauchy(1.0, 2.0), [-5.0, 0.5, 9.0]),
    "Chi2": (lambda: D.Chi2(t(3.0)), st.chi2(3.0), [0.1, 2.0, 9.0]),
    "Exponential": (lambda: D.Exponential(t(2.0)), st.expon(scale=0.5), [0.0, 0.5, 3.0]),
    "FisherSnedecor": (lambda: D.FisherSnedecor(t(3.0), t(7.0)), st.f(3.0, 7.0), [0.1, 1.0, 4.0]),
    "Gamma": (lambda: D.Gamma(t(2.5), t(3.0)), st.gamma(2.5, scale=1 / 3.0), [0.1, 1.0, 4.0]),
    "GeneralizedPareto": (
        lambda: D.GeneralizedPareto(t(1.0), t(2.0), t(0.2)), st.genpareto(0.2, 1.0, 2.0), [1.0, 3.0, 20.0]
    ),
    "GeneralizedPareto bounded": (
        lambda: D.GeneralizedPareto(t(1.0), t(2.0), t(-0.5)), st.genpareto(-0.5, 1.0, 2.0), [1.0, 2.0, 4.5]
    ),
    "Geometric": (lambda: D.Geometric(t(0.3)), st.geom(0.3, loc=-1), [0.0, 1.0, 9.0]),
    "Gumbel": (lambda: D.Gumbel(t(1.0), t(2.0)), st.gumbel_r(1.0, 2.0), [-3.0, 1.0, 9.0]),
    "HalfCauchy": (lambda: D.HalfCauchy(t(2.0)), st.halfcauchy(scale=2.0), [0.0, 1.0, 9.0]),
    "HalfNormal": (lambda: D.HalfNormal(t(2.0)), st.halfnorm(scale=2.0), [0.0, 1.0, 5.0]),
    "InverseGamma": (lambda: D.InverseGamma(t(3.0), t(2.0)), st.invgamma(3.0, scale=2.0), [0.1, 1.0, 5.0]),
    "Laplace": (lambda: D.Laplace(t(1.0), t(2.0)), st.laplace(1.0, 2.0), [-3.0, 1.0, 5.0]),
    "LogNormal": (lambda: D.LogNormal(t(0.5), t(0.7)), st.lognorm(0.7, scale=math.exp(0.5)), [0.1, 1.0, 5.0]),
    "NegativeBinomial": (lambda: D.NegativeBinomial(t(4.0), t(0.3)), st.nbinom(4.0, 0.7), [0.0, 2.0, 9.0]),
    "Normal": (lambda: D.Normal(t(1.0), t(2.0)), st.norm(1.0, 2.0), [-3.0, 1.0, 5.0]),
    "Pareto": (lambda: D.Pareto(t(2.0), t(3.0)), st.pareto(3.0, scale=2.0), [2.0, 3.0, 9.0]),
    "Poisson": (lambda: D.Poisson(t(3.5)), st.poisson(3.5), [0.0, 3.0, 12.0]),
    "StudentT": (lambda: D.StudentT(t(5.0), t(1.0), t(2.0)), st.t(5.0, 1.0, 2.0), [-5.0, 1.0, 9.0]),
    "Uniform": (lambda: D.Uniform(t(1.0), t(4.0)), st.uniform(1.0, 3.0), [1.0, 2.0, 3.9]),
    "Weibull": (lambda: D.Weibull(t(2.0), t(1.5)), st.weibull_min(1.5, scale=2.0), [0.1, 1.0, 5.0]),
}  # fmt: skip
NO_MOMENTS = {"Cauchy", "HalfCauchy"}  # nan and infinity in either's way


@pytest.mark.parametrize("name", SCIPY)
def test_log_prob(name: str) -> None:
    make, theirs, points = SCIPY[name]
    expected = theirs.logpdf(points) if hasattr(theirs.dist, "pdf") else theirs.logpmf(points)
    close(make().log_prob(t(points)), expected)


@pytest.mark.parametrize("name", SCIPY)
def test_moments_and_entropy(name: str) -> None:
    make, theirs, _ = SCIPY[name]
    ours = make()
    if name not in NO_MOMENTS:
        close(ours.mean, theirs.mean())
        close(ours.variance, theirs.var())
        close(ours.stddev, theirs.std())
    try:
        entropy = ours.entropy()
    except NotImplementedError:
        assert name in {"FisherSnedecor", "NegativeBinomial", "Poisson"}  # those PyTorch has none for
        return
    close(entropy, theirs.entropy(), rtol=1e-8)
    close(ours.perplexity(), math.exp(theirs.entropy()), rtol=1e-8)


@pytest.mark.parametrize("name", SCIPY)
def test_cdf_and_icdf(name: str) -> None:
    make, theirs, points = SCIPY[name]
    ours, probabilities = make(), t([0.01, 0.3, 0.5, 0.99])
    try:
        close(ours.cdf(t(points)), theirs.cdf(points), rtol=1e-8)
    except NotImplementedError:
        with pytest.raises(NotImplementedError):
            ours.icdf(probabilities)
        return
    try:
        quantiles = ours.icdf(probabilities)
    except NotImplementedError:
        assert name in {"Chi2", "Gamma", "InverseGamma"}
        return
    close(quantiles, theirs.ppf(probabilities.numpy()), rtol=1e-8)
    close(ours.cdf(quantiles), probabilities, rtol=1e-8)


@pytest.mark.parametrize("name", SCIPY)
def test_draws_have_the_distribution(name: str) -> None:
    make, theirs, _ = SCIPY[name]
    draws = make().sample((1500,))
    assert draws.shape == (1500,)
    assert draws.dtype is torch.float64
    if hasattr(theirs.dist, "pdf"):
        assert st.kstest(draws.numpy(), theirs.cdf).pvalue > 1e-3
    else:
        values, counts = np.unique(draws.numpy(), return_counts=True)
        expected = theirs.pmf(values) * 1500
        spread = np.abs(counts - expected) / np.sqrt(expected * (1 - theirs.pmf(values)) + 1)
        assert spread.max() < 5


def test_log_prob_of_vectors_and_matrices() -> None:
    x = np.array([0.2, 0.3, 0.5])
    close(D.Dirichlet(t([0.5, 2.0, 3.0])).log_prob(t(x)), st.dirichlet([0.5, 2.0, 3.0]).logpdf(x))
    close(D.Multinomial(6, t(x)).log_prob(t([1.0, 2.0, 3.0])), st.multinomial(6, x).logpmf([1, 2, 3]))
    close(D.Multinomial(6, t(x)).entropy(), st.multinomial(6, x).entropy(), rtol=1e-7)  # a part is float32, as there
    close(D.VonMises(t(0.5), t(2.0)).log_prob(t([0.0, 3.0])), st.vonmises(2.0, 0.5).logpdf([0.0, 3.0]), rtol=1e-6)
    close(D.Wishart(t(5.0), t(SPD)).log_prob(t(np.eye(3) * 2)), st.wishart(5, SPD).logpdf(np.eye(3) * 2))
    close(D.Wishart(t(5.0), t(SPD)).entropy(), st.wishart(5, SPD).entropy())
    close(D.Wishart(t(5.0), t(SPD)).mean, 5 * np.array(SPD))
    close(D.Wishart(t(5.0), t(SPD)).variance, st.wishart(5, SPD).var())


@pytest.mark.parametrize("given", ["covariance_matrix", "precision_matrix", "scale_tril"])
def test_multivariate_normal(given: str) -> None:
    covariance = np.array(SPD)
    matrix = {"covariance_matrix": covariance, "precision_matrix": np.linalg.inv(covariance), "scale_tril": FACTOR}
    loc, points = np.array([0.0, 1.0, 2.0]), np.random.default_rng(0).standard_normal((4, 3))
    ours, theirs = D.MultivariateNormal(t(loc), **{given: t(matrix[given])}), st.multivariate_normal(loc, covariance)
    close(ours.log_prob(t(points)), theirs.logpdf(points))
    close(ours.entropy(), theirs.entropy())
    close(ours.covariance_matrix, covariance)
    close(ours.precision_matrix, np.linalg.inv(covariance))
    close(ours.scale_tril, FACTOR)
    close(ours.variance, covariance.diagonal())
    assert np.abs(np.cov(ours.sample((20000,)).numpy().T) - covariance).max() < 0.1


def test_multivariate_normal_batches_broadcast() -> None:
    """Batches of matrices and of vectors in every combination, beside a loop."""
    rng = np.random.default_rng(0)
    factors = np.linalg.cholesky(np.array([SPD, np.eye(3), np.diag([1.0, 4.0, 9.0])]))
    for loc_batch, factor_batch, sample in [
        ((2, 3), (3,), (5,)),
        ((3,), (), ()),
        ((), (3,), (4, 1)),
        ((2, 1), (3,), ()),
    ]:
        loc = rng.standard_normal((*loc_batch, 3))
        factor = factors if factor_batch else factors[0]
        ours = D.MultivariateNormal(t(loc), scale_tril=t(factor))
        batch = np.broadcast_shapes(loc_batch, factor_batch)
        assert ours.batch_shape == batch
        x = rng.standard_normal((*sample, *batch, 3))
        locs = np.broadcast_to(loc, (*batch, 3))
        wide = np.broadcast_to(factor, (*batch, 3, 3))
        expected = np.empty((*sample, *batch))
        for place in np.ndindex(expected.shape):
            inner = place[len(sample) :]
            expected[place] = st.multivariate_normal(locs[inner], wide[inner] @ wide[inner].T).logpdf(x[place])
        close(ours.log_prob(t(x)), expected)


def test_low_rank_is_the_full_one() -> None:
    loc, factor, diag = (
        np.array([0.0, 1.0, 2.0]),
        np.array([[1.0, 0.1], [0.5, -1.0], [0.3, 0.0]]),
        np.array([1.0, 2.0, 0.5]),
    )
    covariance = factor @ factor.T + np.diag(diag)
    low, full = D.LowRankMultivariateNormal(t(loc), t(factor), t(diag)), D.MultivariateNormal(t(loc), t(covariance))
    x = np.random.default_rng(0).standard_normal((2, 5, 3))
    close(low.log_prob(t(x)), full.log_prob(t(x)))
    close(low.entropy(), full.entropy())
    for name in ("covariance_matrix", "precision_matrix", "scale_tril", "variance", "mean", "mode"):
        close(getattr(low, name), getattr(full, name))
    assert np.abs(np.cov(low.sample((20000,)).numpy().T) - covariance).max() < 0.12


def test_categories() -> None:
    weights = np.array([[1.0, 1.0, 2.0], [3.0, 0.0, 1.0]])
    probs = weights / weights.sum(-1, keepdims=True)
    ours = D.Categorical(t(weights))
    close(ours.probs, probs)
    close(ours.log_prob(torch.tensor([2, 0])), np.log([0.5, 0.75]))
    close(ours.entropy(), [st.entropy(p) for p in probs])
    assert ours.mode.tolist() == [2, 0]
    assert ours.enumerate_support().tolist() == [[0, 0], [1, 1], [2, 2]]
    draws = ours.sample((4000,))
    assert draws.dtype is torch.int64
    shares = np.stack([(draws.numpy() == k).mean(0) for k in range(3)], -1)
    assert np.abs(shares - probs).max() < 0.03
    one_hot = D.OneHotCategorical(t(weights))
    close(one_hot.log_prob(t([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])), np.log([0.5, 0.75]))
    assert one_hot.sample((7,)).sum(-1).tolist() == [[1.0, 1.0]] * 7
    assert one_hot.enumerate_support().shape == (3, 2, 3)


def test_relaxed_distributions_integrate_to_one() -> None:
    relaxed = D.RelaxedBernoulli(t(0.7), t(0.3))
    total, _ = scipy.integrate.quad(lambda x: relaxed.log_prob(t(x)).exp().item(), 0, 1)
    assert total == pytest.approx(1, abs=1e-5)
    categorical = D.RelaxedOneHotCategorical(t(0.9), t([0.3, 0.7]))  # along the simplex, by its first coordinate
    value, _ = scipy.integrate.quad(lambda x: categorical.log_prob(t([x, 1 - x])).exp().item(), 0, 1)
    assert value == pytest.approx(1, abs=1e-5)


def test_continuous_bernoulli_across_its_series() -> None:
    for p in (0.2, 0.4985, 0.4995, 0.5, 0.5005, 0.5015, 0.9):
        ours = D.ContinuousBernoulli(t(p))

        def density(x: float, ours: Any = ours) -> float:
            return ours.log_prob(t(x)).exp().item()

        total, _ = scipy.integrate.quad(density, 0, 1)
        mean, _ = scipy.integrate.quad(lambda x: x * density(x), 0, 1)
        square, _ = scipy.integrate.quad(lambda x: x * x * density(x), 0, 1)
        assert total == pytest.approx(1, abs=1e-8)
        assert ours.mean.item() == pytest.approx(mean, abs=1e-7)
        assert ours.variance.item() == pytest.approx(square - mean**2, abs=1e-7)


def test_kumaraswamy() -> None:
    ours = D.Kumaraswamy(t(2.0), t(3.0))
    x = np.array([0.1, 0.5, 0.9])
    close(ours.log_prob(t(x)), np.log(6 * x * (1 - x**2) ** 2))
    close(ours.cdf(t(x)), 1 - (1 - x**2) ** 3)
    close(ours.mean, 3 * scipy.special.beta(1.5, 3))
    close(ours.mode, math.sqrt(1 / 5))
    entropy, _ = scipy.integrate.quad(lambda x: -6 * x * (1 - x**2) ** 2 * math.log(6 * x * (1 - x**2) ** 2), 0, 1)
    close(ours.entropy(), entropy, rtol=1e-7)


def test_logistic_normal_density() -> None:
    ours = D.LogisticNormal(t([0.3]), t([1.2]))  # one coordinate: the logit of the first element
    x = np.array([0.2, 0.5, 0.9])
    logit = np.log(x / (1 - x))
    expected = st.norm(0.3, 1.2).logpdf(logit) - np.log(x * (1 - x))
    close(ours.log_prob(t(np.stack([x, 1 - x], -1))), expected)


def test_lkj_density_of_one_correlation() -> None:
    """For 2 x 2 the correlation r has a density proportional to (1 - r**2) ** (concentration - 1)."""
    ours = D.LKJCholesky(2, t(1.7))

    def density(r: float) -> float:  # of the factor's row (r, sqrt(1 - r**2)), per dr
        return ours.log_prob(t([[1.0, 0.0], [r, math.sqrt(1 - r * r)]])).exp().item()

    total, _ = scipy.integrate.quad(density, -1, 1)
    assert total == pytest.approx(1, abs=1e-6)
    draws = ours.sample((2000,))[:, 1, 0].numpy()
    assert st.kstest((draws + 1) / 2, st.beta(1.7, 1.7).cdf).pvalue > 1e-3
    assert constraints.corr_cholesky.check(D.LKJCholesky(4, 0.5).sample((50,))).all()


def test_von_mises() -> None:
    ours = D.VonMises(t(1.0), t(2.0))
    draws = ours.sample((1500,)).numpy()
    assert np.abs(draws).max() <= math.pi
    assert st.kstest(draws, lambda x: st.vonmises(2.0, 1.0).cdf(x) - st.vonmises(2.0, 1.0).cdf(-math.pi)).pvalue > 1e-3
    close(ours.variance, 1 - scipy.special.iv(1, 2.0) / scipy.special.iv(0, 2.0), rtol=1e-6)


def test_mixture() -> None:
    weights, loc, scale = np.array([0.2, 0.8]), np.array([-1.0, 2.0]), np.array([1.0, 0.5])
    ours = D.MixtureSameFamily(D.Categorical(t(weights)), D.Normal(t(loc), t(scale)))
    x = np.array([-1.0, 0.5, 2.0])
    close(ours.log_prob(t(x)), np.log((weights * st.norm(loc, scale).pdf(x[:, None])).sum(-1)))
    close(ours.cdf(t(x)), (weights * st.norm(loc, scale).cdf(x[:, None])).sum(-1))
    close(ours.mean, 1.4)
    close(ours.variance, 0.2 * (1 + 2.4**2) + 0.8 * (0.25 + 0.6**2))
    draws = ours.sample((2000,)).numpy()
    assert st.kstest(draws, lambda x: (weights * st.norm(loc, scale).cdf(x[:, None])).sum(-1)).pvalue > 1e-3


# ------------------------------------------------------------------------------------------------ what all of them do
@pytest.mark.parametrize("name", CASES)
def test_shapes_and_support_of_draws(name: str) -> None:
    d, leaves = build(name, torch)
    whole = tuple(d.batch_shape) + tuple(d.event_shape)
    assert d.sample().shape == whole
    draws = d.sample((2, 3))
    assert draws.shape == (2, 3, *whole)
    assert not draws.requires_grad
    assert d.support.check(draws).all()
    assert d.log_prob(draws).shape == (2, 3, *d.batch_shape)
    if d.has_rsample:
        path = d.rsample((2,))
        assert path.shape == (2, *whole)
        assert path.requires_grad == bool(leaves)
    for moment in ("mean", "variance"):
        try:
            value = getattr(d, moment)
        except NotImplementedError:
            continue
        assert value.shape == whole or name.startswith("Independent")


@pytest.mark.parametrize("name", CASES)
def test_expand(name: str) -> None:
    d, _ = build(name, torch)
    batch = (4, *d.batch_shape)
    wide = d.expand(batch)
    assert type(wide) is type(d)
    assert wide.batch_shape == batch
    assert wide.event_shape == d.event_shape
    draws = wide.sample((2,))
    assert draws.shape == (2, *batch, *d.event_shape)
    expected = torch.stack([d.log_prob(draws[:, i]) for i in range(4)], 1)
    close(wide.log_prob(draws), expected.detach())
    assert wide.expand(batch).batch_shape == batch  # an expanded one can be expanded too
    try:
        entropy = d.entropy()
    except NotImplementedError:
        return
    close(wide.entropy(), entropy.detach().expand(batch))


@pytest.mark.parametrize("name", CASES)
def test_copies(name: str) -> None:
    d, _ = build(name, torch)
    value = d.sample()
    for twin in (pickle.loads(pickle.dumps(d)), copy.copy(d)):
        assert type(twin) is type(d)
        close(twin.log_prob(value), d.log_prob(value).detach())
        assert repr(twin) == repr(d)


@pytest.mark.parametrize("name", [n for n in CASES if build(n, torch)[0].has_enumerate_support])
def test_enumerated_probabilities_sum_to_one(name: str) -> None:
    d, _ = build(name, torch)
    values = d.enumerate_support()
    assert values.shape[1:] == tuple(d.batch_shape) + tuple(d.event_shape)
    log_prob = d.log_prob(values).detach()
    precision = 1e-6 if values.dtype is torch.float32 else 1e-9
    close(log_prob.exp().sum(0), np.ones(d.batch_shape), rtol=precision)
    close(d.log_prob(d.enumerate_support(expand=False)), log_prob)
    close(d.entropy(), -(log_prob.exp() * log_prob).nansum(0), rtol=precision)


@pytest.mark.parametrize("name", ["Normal", "Gamma", "Exponential", "Bernoulli probs", "ContinuousBernoulli probs"])
def test_entropy_of_an_exponential_family(name: str) -> None:
    d, _ = build(name, torch)
    close(D.ExponentialFamily.entropy(d), d.entropy().detach(), rtol=1e-5)


def test_default_dtype_and_mixed_arguments() -> None:
    assert D.Normal(0, 1).sample().dtype is torch.float32
    assert D.Normal(0, t(1.0)).loc.dtype is torch.float64
    assert D.Normal(torch.zeros(3, 1), torch.ones(2)).batch_shape == (3, 2)
    assert D.Beta(torch.ones(3, 1), 2.0).batch_shape == (3, 1)
    assert D.Binomial(3, torch.tensor([0.5, 0.1])).total_count.tolist() == [3.0, 3.0]


def test_under_vmap_and_grad() -> None:
    x = t([0.5, 1.5])
    by_loc = torch.func.grad(lambda loc: D.Normal(loc, t(2.0), validate_args=False).log_prob(x).sum())
    close(torch.func.vmap(by_loc)(t([0.0, 1.0])), [0.5, 0.0])
    draws = torch.func.vmap(lambda c: D.Gamma(c, t(1.0), validate_args=False).rsample((3,)), randomness="different")(
        t([1.0, 100.0])
    )
    assert draws.shape == (2, 3)
    assert (draws[1] > draws[0]).all()


# ------------------------------------------------------------------------------------------------- gradients of draws
CDF_CASES = [
    "Cauchy", "ContinuousBernoulli probs", "Exponential", "GeneralizedPareto", "Gumbel", "HalfCauchy", "HalfNormal",
    "Kumaraswamy", "Laplace", "LogNormal", "Normal", "Pareto", "TransformedDistribution", "Uniform", "Weibull",
]  # fmt: skip


@pytest.mark.parametrize("name", CDF_CASES)
def test_draws_move_along_their_quantile(name: str) -> None:
    """The distribution function at a draw does not change with the parameters: its whole derivative is zero."""
    d, leaves = build(name, torch)
    draws = d.rsample((20,))
    level = d.cdf(draws)
    weights = t(np.random.default_rng(0).standard_normal(level.shape))
    for total, partial in zip(
        torch.autograd.grad((level * weights).sum(), leaves, retain_graph=True),
        torch.autograd.grad((d.cdf(draws.detach()) * weights).sum(), leaves),
        strict=True,
    ):
        assert partial.abs().max() > 1e-3  # which is not so because nothing depends on them
        close(total, np.zeros(total.shape), atol=1e-9)


# draws as a function of one parameter, and their distribution function
IMPLICIT: dict[str, tuple[Callable[[Any], Any], Callable[[Any, float], Any], list[float]]] = {
    "Gamma": (lambda a: D.Gamma(a, t(1.0)).rsample((60,)), lambda x, a: st.gamma(a).cdf(x), [0.1, 0.7, 3.0, 20, 200]),
    "Chi2": (lambda df: D.Chi2(df).rsample((60,)), lambda x, df: st.chi2(df).cdf(x), [0.5, 3.0, 30.0]),
    "InverseGamma": (
        lambda a: D.InverseGamma(a, t(2.0)).rsample((60,)), lambda x, a: st.invgamma(a, scale=2.0).cdf(x), [0.7, 3.0]
    ),
    "Beta, first": (lambda a: D.Beta(a, t(2.0)).rsample((60,)), lambda x, a: st.beta(a, 2.0).cdf(x), [0.3, 2.0, 9.0]),
    "Beta, second": (lambda b: D.Beta(t(3.0), b).rsample((60,)), lambda x, b: st.beta(3.0, b).cdf(x), [0.3, 2.0, 9.0]),
    "Beta, large": (lambda a: D.Beta(a, t(40.0)).rsample((60,)), lambda x, a: st.beta(a, 40.0).cdf(x), [30.0, 90.0]),
    "Dirichlet": (
        lambda a: D.Dirichlet(torch.stack([a, t(1.5), t(2.5)])).rsample((60,))[:, 0],
        lambda x, a: st.beta(a, 4.0).cdf(x), [0.5, 3.0],
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, (_, _, values) in IMPLICIT.items() for value in values]
)
def test_implicit_gradients(name: str, value: float) -> None:
    """``dx/da = -(dF/da) / (dF/dx)``, with SciPy's F and differences."""
    draw, cdf, _ = IMPLICIT[name]
    parameter = t(value, requires_grad=True)
    draws = draw(parameter)
    ours = np.array([torch.autograd.grad(x, parameter, retain_graph=True)[0].item() for x in draws])
    x, h = draws.detach().numpy(), 1e-4 * value
    by_parameter = (cdf(x, value + h) - cdf(x, value - h)) / (2 * h)
    step = 1e-5 * x * (1 - x if "Beta" in name or name == "Dirichlet" else 1)
    by_x = (cdf(x + step, value) - cdf(x - step, value)) / (2 * step)
    inner = (cdf(x, value) > 1e-3) & (cdf(x, value) < 1 - 1e-3)  # where differences of F have digits
    assert inner.sum() > 40
    np.testing.assert_allclose(ours[inner], -(by_parameter / by_x)[inner], rtol=5e-3, atol=1e-6)


def test_student_t_gradient_in_the_mean() -> None:
    """The mean of the gradient of ``log(1 + x**2)`` is the derivative of its mean."""
    df = t(4.0, requires_grad=True)
    estimate = torch.autograd.grad(torch.log1p(D.StudentT(df).rsample((30000,)) ** 2).mean(), df)[0].item()

    def mean(df: float) -> float:
        return scipy.integrate.quad(lambda x: math.log1p(x * x) * st.t(df).pdf(x), -np.inf, np.inf)[0]

    assert estimate == pytest.approx((mean(4.01) - mean(3.99)) / 0.02, abs=0.005)


def test_score_function_of_reinforce() -> None:
    logits = t([0.1, 0.5, -0.3], requires_grad=True)
    d = D.Categorical(logits=logits)
    (grad,) = torch.autograd.grad(d.log_prob(torch.tensor(1)), logits)
    close(grad, np.array([0.0, 1.0, 0.0]) - scipy.special.softmax([0.1, 0.5, -0.3]))


def test_straight_through() -> None:
    logits = t([0.1, 0.5, -0.3], requires_grad=True)
    d = D.OneHotCategoricalStraightThrough(logits=logits)
    draw = d.rsample()
    assert sorted(draw.tolist()) == [0.0, 0.0, 1.0]
    weights = t([1.0, 2.0, 3.0])
    (through,) = torch.autograd.grad((draw * weights).sum(), logits, retain_graph=True)
    (direct,) = torch.autograd.grad((torch.softmax(logits, -1) * weights).sum(), logits)
    close(through, direct)


def test_gradient_of_a_draw_is_taken_once() -> None:
    alpha = t([2.0, 3.0], requires_grad=True)
    for draws in (D.Gamma(alpha, 1.0).rsample(), D.Dirichlet(alpha).rsample()):
        (grad,) = torch.autograd.grad(draws[0], alpha, create_graph=True)
        with pytest.raises(NotImplementedError, match="is not implemented"):
            grad.sum().backward()


# ------------------------------------------------------------------------------------------------------- divergences
LINE = (-np.inf, np.inf)
CONTINUOUS: dict[str, tuple[Callable[[], Any], tuple[float, float]]] = {
    "Beta": (lambda: D.Beta(t(2.0), t(3.0)), (0, 1)),
    "Cauchy": (lambda: D.Cauchy(t(0.5), t(1.2)), LINE),
    "ContinuousBernoulli": (lambda: D.ContinuousBernoulli(t(0.3)), (0, 1)),
    "Exponential": (lambda: D.Exponential(t(1.5)), (0, np.inf)),
    "Gamma": (lambda: D.Gamma(t(2.5), t(1.5)), (0, np.inf)),
    "Gumbel": (lambda: D.Gumbel(t(0.3), t(1.7)), (-20, 40)),
    "HalfNormal": (lambda: D.HalfNormal(t(0.8)), (0, np.inf)),
    "Laplace": (lambda: D.Laplace(t(0.3), t(0.8)), LINE),
    "Normal": (lambda: D.Normal(t(0.2), t(0.7)), (-8, 8)),
    "Pareto": (lambda: D.Pareto(t(1.0), t(3.5)), (1, np.inf)),
    "Uniform": (lambda: D.Uniform(t(0.2), t(0.8)), (0.2, 0.8)),
    "LogNormal": (lambda: D.LogNormal(t(0.2), t(0.7)), (0, np.inf)),
}  # fmt: skip
# what the second one must be, so that it covers the first, or is another of the same family
SECOND: dict[str, Callable[[], Any]] = {
    "Beta": lambda: D.Beta(t(1.5), t(1.2)),
    "Cauchy": lambda: D.Cauchy(t(0.0), t(2.0)),
    "ContinuousBernoulli": lambda: D.ContinuousBernoulli(t(0.6)),
    "Exponential": lambda: D.Exponential(t(0.7)),
    "Gamma": lambda: D.Gamma(t(1.5), t(0.5)),
    "Gumbel": lambda: D.Gumbel(t(0.0), t(1.9)),
    "HalfNormal": lambda: D.HalfNormal(t(1.3)),
    "Laplace": lambda: D.Laplace(t(0.0), t(1.3)),
    "Normal": lambda: D.Normal(t(0.5), t(1.5)),
    "Pareto": lambda: D.Pareto(t(0.1), t(1.5)),
    "Uniform": lambda: D.Uniform(t(-1.0), t(2.0)),
    "LogNormal": lambda: D.LogNormal(t(0.2), t(0.7)),
}
REGISTERED = {(p.__name__, q.__name__): f for (p, q), f in D.kl._KL_REGISTRY.items()}
# p's draws are where q never is
NEVER = {pair for pair, f in REGISTERED.items() if f.__name__ == "_infinite"}
FINITE = sorted(
    pair for pair in REGISTERED if pair not in NEVER and pair[0] in CONTINUOUS and pair[1] in CONTINUOUS
) + [("LogNormal", "LogNormal")]


@pytest.mark.parametrize(("first", "second"), FINITE)
def test_divergence_is_the_integral(first: str, second: str) -> None:
    make, (low, high) = CONTINUOUS[first]
    p, q = make(), SECOND[second]()
    p._validate_args = q._validate_args = False

    def integrand(x: float) -> float:
        log_p, log_q = p.log_prob(t(x)).item(), q.log_prob(t(x)).item()
        return math.exp(log_p) * (log_p - log_q) if log_p > -700 else 0.0

    expected, _ = scipy.integrate.quad(integrand, low, high, limit=80, epsabs=1e-9)
    close(D.kl_divergence(p, q), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(("first", "second"), sorted(NEVER))
def test_infinite_divergences(first: str, second: str) -> None:
    discrete = {"Poisson": D.Poisson(t(1.0)), "Bernoulli": D.Bernoulli(t(0.5)), "Binomial": D.Binomial(3, t(0.5))}
    p = discrete[first] if first in discrete else CONTINUOUS[first][0]()
    q = discrete[second] if second in discrete else SECOND[second]()
    assert D.kl_divergence(p, q).item() == math.inf


def test_infinite_where_the_support_is_left() -> None:
    kl = D.kl_divergence
    assert kl(D.Uniform(0.0, 2.0), D.Uniform(0.0, 1.0)).item() == math.inf
    assert kl(D.Uniform(-1.0, 1.0), D.Gamma(1.0, 1.0)).item() == math.inf
    assert kl(D.Uniform(-1.0, 1.0), D.Exponential(1.0)).item() == math.inf
    assert kl(D.Uniform(0.5, 1.5), D.Beta(1.0, 1.0)).item() == math.inf
    assert kl(D.Beta(1.0, 1.0), D.Uniform(0.5, 1.0)).item() == math.inf
    assert kl(D.Pareto(1.0, 3.0), D.Pareto(2.0, 3.0)).item() == math.inf
    assert kl(D.Pareto(1.0, 1.0), D.Exponential(1.0)).item() == math.inf
    assert kl(D.Pareto(1.0, 2.0), D.Normal(0.0, 1.0)).item() == math.inf
    assert kl(D.Bernoulli(0.5), D.Bernoulli(1.0)).item() == math.inf
    assert kl(D.Bernoulli(1.0), D.Bernoulli(1.0)).item() == 0
    assert kl(D.Categorical(t([0.5, 0.5])), D.Categorical(t([1.0, 0.0]))).item() == math.inf
    assert kl(D.Categorical(t([1.0, 0.0])), D.Categorical(t([0.5, 0.5]))).item() == pytest.approx(math.log(2))


DISCRETE: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "Bernoulli": (lambda: D.Bernoulli(t(0.3)), lambda: D.Bernoulli(t(0.6))),
    "Bernoulli, Poisson": (lambda: D.Bernoulli(t(0.3)), lambda: D.Poisson(t(0.6))),
    "Binomial": (lambda: D.Binomial(5, t(0.3)), lambda: D.Binomial(5, t(0.6))),
    "Geometric": (lambda: D.Geometric(t(0.5)), lambda: D.Geometric(t(0.3))),
    "Poisson": (lambda: D.Poisson(t(2.5)), lambda: D.Poisson(t(1.5))),
}


@pytest.mark.parametrize("name", DISCRETE)
def test_divergence_is_the_sum(name: str) -> None:
    p, q = (make() for make in DISCRETE[name])
    p._validate_args = q._validate_args = False
    top = {"Bernoulli": 2, "Bernoulli, Poisson": 2, "Binomial": 6}.get(name, 60)
    values = torch.arange(top, dtype=torch.float64)
    log_p = p.log_prob(values)
    close(D.kl_divergence(p, q), (log_p.exp() * (log_p - q.log_prob(values))).sum())


def test_divergence_of_vectors() -> None:
    kl = D.kl_divergence
    p, q = D.Categorical(t([0.2, 0.3, 0.5])), D.Categorical(t([0.5, 0.25, 0.25]))
    close(kl(p, q), st.entropy([0.2, 0.3, 0.5], [0.5, 0.25, 0.25]))
    close(kl(D.OneHotCategorical(p.probs), D.OneHotCategorical(q.probs)), kl(p, q))
    # of Dirichlets of two elements: that of betas
    beta, other = D.Beta(t(2.0), t(3.0)), D.Beta(t(1.5), t(1.0))
    close(kl(D.Dirichlet(t([2.0, 3.0])), D.Dirichlet(t([1.5, 1.0]))), kl(beta, other))
    parts = D.Normal(t([0.0, 1.0]), t([1.0, 2.0])), D.Normal(t([0.5, 0.5]), t([2.0, 1.0]))
    whole = [D.Independent(d, 1) for d in parts]
    close(kl(*whole), kl(*parts).sum())
    diagonal = [D.MultivariateNormal(d.loc, scale_tril=torch.diag(d.scale)) for d in parts]
    close(kl(*diagonal), kl(*whole))
    with pytest.raises(NotImplementedError):
        kl(whole[0], D.Independent(parts[1], 0))


def test_divergence_of_multivariate_normals() -> None:
    """All four pairs of full and low rank, beside the full one's formula."""
    factor, diag = np.array([[1.0, 0.1], [0.5, -1.0], [0.3, 0.0]]), np.array([1.0, 2.0, 0.5])
    loc, other = np.array([0.0, 1.0, 2.0]), np.array([0.5, 0.0, 1.0])
    low = (
        D.LowRankMultivariateNormal(t(loc), t(factor), t(diag)),
        D.LowRankMultivariateNormal(t(other), t(factor[:, :1]), t(diag[::-1].copy())),
    )
    full = [D.MultivariateNormal(d.loc, d.covariance_matrix) for d in low]
    a, b = (d.covariance_matrix.numpy() for d in low)
    inverse, gap = np.linalg.inv(b), other - loc
    expected = 0.5 * (
        np.linalg.slogdet(b)[1] - np.linalg.slogdet(a)[1] + np.trace(inverse @ a) + gap @ inverse @ gap - 3
    )
    for p in (low[0], full[0]):
        for q in (low[1], full[1]):
            close(D.kl_divergence(p, q), expected)
    with pytest.raises(ValueError, match="different event shapes"):
        D.kl_divergence(full[0], D.MultivariateNormal(torch.zeros(2), torch.eye(2)))


def test_divergence_of_wisharts_by_their_log_normalizer() -> None:
    p, q = D.Wishart(t(4.0), t(SPD)), D.Wishart(t(6.0), t(SPD))
    draws = p.sample((4000,))
    estimate = (p.log_prob(draws) - q.log_prob(draws)).mean().item()
    assert D.kl_divergence(p, q).item() == pytest.approx(estimate, abs=0.1)


def test_registered_divergences_are_found_by_class() -> None:
    class Base(D.Normal):
        pass

    class Derived(Base):
        pass

    registry = dict(D.kl._KL_REGISTRY)
    try:
        D.register_kl(Base, D.Normal)(lambda p, q: "by the first")
        assert D.kl_divergence(Derived(0.0, 1.0), Derived(0.0, 1.0)) == "by the first"
        D.register_kl(D.Normal, Base)(lambda p, q: "by the second")
        with pytest.warns(RuntimeWarning, match=r"Ambiguous kl_divergence\(Derived, Derived\)"):
            assert D.kl_divergence(Derived(0.0, 1.0), Derived(0.0, 1.0)) == "by the first"
        D.register_kl(Base, Base)(lambda p, q: "by both")
        assert D.kl_divergence(Derived(0.0, 1.0), Derived(0.0, 1.0)) == "by both"
        assert D.kl_divergence(D.Normal(0.0, 1.0), D.Normal(0.0, 1.0)).item() == 0
    finally:
        D.kl._KL_REGISTRY.clear()
        D.kl._KL_REGISTRY.update(registry)
        D.kl._KL_MEMOIZE.clear()
    with pytest.raises(TypeError, match="Expected type_q to be a Distribution subclass"):
        D.register_kl(D.Normal, 3)  # type: ignore[arg-type]


# -------------------------------------------------------------------------------------------------------- transforms
# a transform and the shape of its input; positive inputs where the name says so
TRANSFORMS: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "abs": (lambda: D.AbsTransform(), (3,)),
    "affine": (lambda: D.AffineTransform(t([1.0, 2.0, 3.0]), t([1.0, -2.0, 0.5])), (3,)),
    "affine of an event": (lambda: D.AffineTransform(t([1.0, 2.0, 3.0]), t([1.0, -2.0, 0.5]), event_dim=1), (3,)),
    "affine by numbers": (lambda: D.AffineTransform(1.0, -2.0, event_dim=1), (3,)),
    "cat": (lambda: D.CatTransform([D.ExpTransform(), D.TanhTransform()], -1, [1, 2]), (3,)),
    "cdf": (lambda: D.CumulativeDistributionTransform(D.Normal(t(0.0), t(1.0))), (3,)),
    "compose": (lambda: D.ComposeTransform([D.AffineTransform(1.0, 2.0), D.StickBreakingTransform()]), (3,)),
    "correlation": (lambda: D.CorrCholeskyTransform(), (6,)),
    "exp": (lambda: D.ExpTransform(), (3,)),
    "identity": (lambda: D.identity_transform, (3,)),
    "independent": (lambda: D.IndependentTransform(D.SigmoidTransform(), 1), (3,)),
    "inverse, positive": (lambda: D.ExpTransform().inv, (3,)),
    "lower Cholesky": (lambda: D.LowerCholeskyTransform(), (3, 3)),
    "positive definite": (lambda: D.PositiveDefiniteTransform(), (3, 3)),
    "power, positive": (lambda: D.PowerTransform(t([2.0, -0.5, 1.0])), (3,)),
    "reshape": (lambda: D.ReshapeTransform((4,), (2, 2)), (4,)),
    "sigmoid": (lambda: D.SigmoidTransform(), (3,)),
    "softmax": (lambda: D.SoftmaxTransform(), (3,)),
    "softplus": (lambda: D.SoftplusTransform(), (3,)),
    "stack": (lambda: D.StackTransform([D.ExpTransform(), D.TanhTransform(), D.identity_transform], -1), (3,)),
    "stick breaking": (lambda: D.StickBreakingTransform(), (3,)),
    "tanh": (lambda: D.TanhTransform(), (3,)),
}


def an_input(name: str, *batch: int) -> Any:
    x = np.random.default_rng(0).standard_normal((*batch, *TRANSFORMS[name][1]))
    return t(np.abs(x) + 0.1 if "positive" in name and "definite" not in name else x)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transform_and_its_inverse(name: str) -> None:
    transform, x = TRANSFORMS[name][0](), an_input(name, 2)
    y = transform(x)
    assert transform.codomain.check(y).all()
    back = transform.inv(y)
    if transform.bijective or name == "lower Cholesky":
        kept = x.tril() if name == "lower Cholesky" else x
        close(back, kept, rtol=1e-7)
    close(transform(back), y, rtol=1e-7, atol=1e-10)
    assert transform.inv.inv is transform
    assert transform.forward_shape(x.shape) == y.shape
    assert transform.inverse_shape(y.shape) == x.shape


@pytest.mark.parametrize("name", [n for n, (make, _) in TRANSFORMS.items() if make().bijective])
def test_log_abs_det_jacobian(name: str) -> None:
    transform, x = TRANSFORMS[name][0](), an_input(name)
    y = transform(x)
    ours = transform.log_abs_det_jacobian(x, y)
    matrix = torch.autograd.functional.jacobian(transform, x).numpy()
    if name == "stick breaking" or name == "compose":
        matrix = matrix[:-1]  # the last element is what is left
    if name == "correlation":
        matrix = matrix[np.tril_indices(4, -1)]
    size = int(np.prod(x.shape))
    matrix = matrix.reshape(size, size)
    if ours.shape == x.shape:  # number by number
        close(ours, np.log(np.abs(matrix.diagonal())).reshape(x.shape), rtol=1e-7)
        assert np.count_nonzero(matrix - np.diag(matrix.diagonal())) == 0
    else:
        close(ours, np.linalg.slogdet(matrix)[1], rtol=1e-7, atol=1e-10)
    close(transform.inv.log_abs_det_jacobian(y, x), -ours.detach())


@pytest.mark.parametrize("name", TRANSFORMS)
def test_cache(name: str) -> None:
    transform = TRANSFORMS[name][0]()
    cached = transform.with_cache(1)
    x = an_input(name)
    y = cached(x)
    close(y, transform(x))
    if name not in ("identity", "inverse, positive"):
        assert cached.inv(y) is x or name == "compose"
    assert cached.with_cache(1) is cached
    assert cached.with_cache(0)._cache_size == 0
    with pytest.raises(ValueError, match="cache_size must be 0 or 1"):
        D.ExpTransform(cache_size=2)


def test_transforms_are_equal_by_what_they_do() -> None:
    assert D.ExpTransform() == D.ExpTransform()
    assert D.ExpTransform() != D.TanhTransform()
    assert D.ExpTransform().inv == D.ExpTransform().inv
    assert D.ExpTransform().inv != D.ExpTransform()
    assert D.AffineTransform(1.0, 2.0) == D.AffineTransform(t(1.0), 2.0)
    assert D.AffineTransform(1.0, 2.0) != D.AffineTransform(1.0, 3.0)
    assert D.PowerTransform(2.0) == D.PowerTransform(t(2.0))
    assert D.ComposeTransform([D.ExpTransform()]) == D.ComposeTransform([D.ExpTransform()])
    assert D.CorrCholeskyTransform() != D.CorrCholeskyTransform()  # as in PyTorch


def test_transforms_survive_pickle() -> None:
    for name in TRANSFORMS:
        transform, x = TRANSFORMS[name][0](), an_input(name)
        transform.inv.inv
        close(pickle.loads(pickle.dumps(transform))(x), transform(x))
        close(pickle.loads(pickle.dumps(transform.inv))(transform(x)), transform.inv(transform(x)))


def test_nothing_waits_for_the_garbage_collector(no_gc: None) -> None:
    """A transform and its inverse know each other, a distribution keeps what it computed."""
    for make in (
        lambda s: D.TransformedDistribution(
            D.Normal(t([0.0, 0.0]), 1.0), [D.AffineTransform(0.0, s), D.ExpTransform()]
        ),
        lambda s: D.Normal(t([0.0, 0.0]), s),
        lambda s: D.Categorical(logits=s),
        lambda s: D.Gamma(s, 1.0),
        lambda s: D.MultivariateNormal(t([0.0, 0.0]), scale_tril=torch.diag(s)),
    ):
        scale = t([1.0, 2.0], requires_grad=True)
        alive = weakref.ref(scale)
        d = make(scale)
        value = d.sample()
        d.log_prob(value).sum().backward()
        D.ComposeTransform([D.AffineTransform(0.0, scale)]).inv.inv(value)
        del scale, d, value
        assert alive() is None


def test_sign_and_decreasing_transforms() -> None:
    flipped = D.TransformedDistribution(D.Uniform(t(0.0), t(1.0)), [D.AffineTransform(t(1.0), t(-2.0))])
    close(flipped.cdf(t([-1.0, -0.5, 1.0])), [0.0, 0.25, 1.0])
    close(flipped.icdf(t([0.25])), [-0.5])
    assert [D.AffineTransform(0.0, s).sign for s in (2.0, -2.0, 0.0)] == [1, -1, 0]


# -------------------------------------------------------------------------------------------------------- constraints
def test_constraints() -> None:
    x = t([-1.0, 0.0, 0.5, 1.0, 2.0, math.nan, math.inf])
    checks = {
        constraints.real: [1, 1, 1, 1, 1, 0, 1],
        constraints.positive: [0, 0, 1, 1, 1, 0, 1],
        constraints.nonnegative: [0, 1, 1, 1, 1, 0, 1],
        constraints.unit_interval: [0, 1, 1, 1, 0, 0, 0],
        constraints.half_open_interval(0.0, 1.0): [0, 1, 1, 0, 0, 0, 0],
        constraints.boolean: [0, 1, 0, 1, 0, 0, 0],
        constraints.nonnegative_integer: [0, 1, 0, 1, 1, 0, 0],
        constraints.positive_integer: [0, 0, 0, 1, 1, 0, 0],
        constraints.integer_interval(-1, 1): [1, 1, 0, 1, 0, 0, 0],
        constraints.less_than(1.0): [1, 1, 1, 0, 0, 0, 0],
        constraints.greater_than_eq(1.0): [0, 0, 0, 1, 1, 0, 1],
    }
    for constraint, expected in checks.items():
        assert constraint.check(x).tolist() == [bool(e) for e in expected], constraint
        assert constraint.check(x).dtype is torch.bool


def test_constraints_on_events() -> None:
    lower, bad = t(FACTOR), t([[1.0, 0.0], [0.0, -1.0]])
    assert constraints.lower_cholesky.check(lower).item()
    assert not constraints.lower_cholesky.check(bad).item()
    assert constraints.lower_triangular.check(bad).item()
    assert not constraints.lower_triangular.check(lower.mT).item()
    assert constraints.positive_definite.check(torch.stack([t(SPD), -t(SPD)])).tolist() == [True, False]
    assert constraints.positive_semidefinite.check(t(np.ones((2, 2)))).item()
    assert not constraints.positive_definite.check(lower).item()
    assert not constraints.square.check(torch.ones(2, 3)).item()
    assert constraints.simplex.check(t([[0.2, 0.8], [0.2, 0.9], [-0.1, 1.1]])).tolist() == [True, False, False]
    assert constraints.one_hot.check(t([[0.0, 1.0], [1.0, 1.0], [0.5, 0.5]])).tolist() == [True, False, False]
    assert constraints.independent(constraints.positive, 1).check(t([[1.0, 2.0], [1.0, -2.0]])).tolist() == [
        True,
        False,
    ]
    assert constraints.stack([constraints.positive, constraints.real]).check(t([-1.0, -1.0])).tolist() == [False, True]


UNCONSTRAINED = {
    "corr_cholesky": 6, "half_open_interval": 3, "interval": 3, "less_than": 3, "lower_cholesky": (3, 3),
    "nonnegative": 3, "positive": 3, "positive_definite": (3, 3), "real": 3, "real_vector": 3, "simplex": 3,
    "unit_interval": 3, "greater_than": 3, "independent": 3,
}  # fmt: skip


@pytest.mark.parametrize("name", UNCONSTRAINED)
@pytest.mark.parametrize("registry", ["biject_to", "transform_to"])
def test_registries_map_onto_the_region(name: str, registry: str) -> None:
    arguments = {"half_open_interval": (-1.0, 2.0), "interval": (t([-1.0, 0.0, 1.0]), 2.0), "less_than": (t(3.0),),
                 "greater_than": (2.0,), "independent": (constraints.positive, 1)}  # fmt: skip
    constraint = getattr(constraints, name)
    if name in arguments:
        constraint = constraint(*arguments[name])
    x = torch.randn(UNCONSTRAINED[name], dtype=torch.float64)
    try:
        transform = getattr(D, registry)(constraint)
    except NotImplementedError:
        assert registry == "biject_to"
        assert name in ("lower_cholesky", "positive_definite")
        return
    y = transform(x)
    assert constraint.check(y).all()
    assert constraint.check(transform(transform.inv(y))).all()
    if registry == "biject_to":
        assert transform.bijective
        assert transform.log_abs_det_jacobian(x, y).shape == x.shape[: x.dim() - transform.domain.event_dim]


def test_every_parameter_and_support_can_be_learnt() -> None:
    """transform_to takes the constraint of every parameter that a case of ours has."""
    seen = set()
    for name in CASES:
        d, _ = build(name, torch)
        for parameter, constraint in d.arg_constraints.items():
            if parameter in d.__dict__ and not constraint.is_discrete:
                value = getattr(d, parameter).detach()
                value = value.clamp(max=0.999) if parameter == "probs" else value  # 1 itself is at infinity
                transform = D.transform_to(constraint)
                assert constraint.check(transform(transform.inv(value))).all(), (name, parameter)
                seen.add(type(constraint).__name__)
    assert len(seen) > 5


# ------------------------------------------------------------------------------------------------- checks of arguments
def test_parameters_are_checked() -> None:
    with pytest.raises(ValueError, match="Expected parameter scale") as caught:
        D.Normal(torch.zeros(2), torch.tensor([1.0, -1.0]))
    assert str(caught.value) == (
        "Expected parameter scale (Tensor of shape (2,)) of distribution Normal(loc: torch.Size([2]), scale: "
        "torch.Size([2])) to satisfy the constraint GreaterThan(lower_bound=0.0), but found invalid values:\n"
        "tensor([ 1., -1.])"
    )
    assert any("transform_to" in note for note in caught.value.__notes__)
    D.Normal(0.0, -1.0, validate_args=False)


def test_values_are_checked() -> None:
    with pytest.raises(ValueError, match="to be within the support"):
        D.Exponential(1.0).log_prob(torch.tensor(-1.0))
    with pytest.raises(ValueError, match="must be a Tensor"):
        D.Exponential(1.0).log_prob(1.0)
    with pytest.raises(ValueError, match="not broadcastable with batch_shape"):
        D.Normal(torch.zeros(2), 1.0).log_prob(torch.zeros(3))
    with pytest.raises(ValueError, match="must match event_shape"):
        D.Dirichlet(torch.ones(2)).log_prob(torch.ones(3) / 3)
    assert D.Exponential(2.0, validate_args=False).log_prob(torch.tensor(-1.0)).item() == pytest.approx(2 + math.log(2))


def test_default_of_the_checks() -> None:
    try:
        D.Distribution.set_default_validate_args(False)
        D.Normal(0.0, -1.0)
        with pytest.raises(ValueError, match="Expected parameter scale"):
            D.Normal(0.0, -1.0, validate_args=True)
    finally:
        D.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError, match=r"^$"):
        D.Distribution.set_default_validate_args("yes")


def test_lazy_parameters_are_not_computed_for_a_check() -> None:
    d = D.Bernoulli(logits=torch.tensor([0.0]))
    assert "probs" not in d.__dict__
    assert d.probs.tolist() == [0.5]
    assert "probs" in d.__dict__
    wide = D.Bernoulli(logits=torch.tensor([0.0])).expand((3,))
    assert "probs" not in wide.__dict__


def test_subclasses() -> None:
    class Shifted(D.Normal):
        def __init__(self, loc: Any) -> None:
            super().__init__(loc, 1.0)

    with pytest.raises(NotImplementedError, match=r"must also define a custom \.expand\(\) method"):
        Shifted(0.0).expand((2,))

    class Expandable(Shifted):
        def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
            return super().expand(batch_shape, self._get_checked_instance(Expandable, _instance))

    assert Expandable(0.0).expand((2,)).loc.tolist() == [0.0, 0.0]

    class Copied(D.Binomial):  # as PyTorch's own classes do it
        def __init__(self, probs: Any) -> None:
            super().__init__(3, probs)

        def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
            new = self._get_checked_instance(Copied, _instance)
            new.total_count, new.probs = self.total_count.expand(batch_shape), self.probs.expand(batch_shape)
            super(D.Binomial, new).__init__(batch_shape, validate_args=False)
            return new

    assert Copied(torch.tensor(0.5)).expand(torch.Size((2,))).mean.tolist() == [1.5, 1.5]

    class Bare(D.Distribution):
        pass

    with pytest.warns(UserWarning, match="does not define `arg_constraints`"):
        bare = Bare()
    with pytest.warns(UserWarning, match="does not define `support`"):
        bare._validate_sample(torch.tensor(1.0))
    with pytest.raises(NotImplementedError):
        bare.expand((2,))
    with pytest.raises(NotImplementedError, match="does not implement mode"):
        _ = bare.mode


def test_a_distribution_may_share_its_bases_with_others() -> None:
    """As GPyTorch's priors do: a distribution that is a module too, its parameters buffers."""

    class Prior(D.Normal, torch.nn.Module):
        def __init__(self, loc: Any, scale: Any) -> None:
            torch.nn.Module.__init__(self)
            D.Normal.__init__(self, loc, scale)
            for name in ("loc", "scale"):
                value = self.__dict__.pop(name)
                self.register_buffer(name, value)

    prior = Prior(torch.zeros(2), 1.0)
    assert sorted(prior.state_dict()) == ["loc", "scale"]
    assert prior.log_prob(torch.zeros(2)).shape == (2,)
    assert prior.sample((3,)).shape == (3, 2)


def test_deprecated_sample_n() -> None:
    with pytest.warns(FutureWarning, match="sample_n"):
        assert D.Normal(torch.zeros(2), 1.0).sample_n(3).shape == (3, 2)


def test_wishart_warns_of_low_degrees_of_freedom() -> None:
    with pytest.warns(UserWarning, match="Low df values detected"):
        D.Wishart(t(2.5), t(SPD))
    with pytest.raises(ValueError, match="expected to be greater than ndim - 1 = 2"):
        D.Wishart(t(2.0), t(SPD))


def test_wishart_draws_singular_matrices_again() -> None:
    d = D.Wishart(t(3.0), t(SPD))
    good, calls = d._bartlett_sampling, []

    def sometimes(shape: Any = ()) -> Any:
        draws = good(shape)
        calls.append(tuple(shape))
        return torch.zeros_like(draws) if len(calls) < 3 else draws

    d._bartlett_sampling = sometimes
    with pytest.warns(UserWarning, match="Singular sample detected"):
        draws = d.sample((4,))
    assert calls == [(4,), (4,), (4,)]
    assert constraints.positive_definite.check(draws).all()


# ------------------------------------------------------------------------------------------------------------- modules
def test_modules_by_pytorchs_names() -> None:
    program = """
import sys
import wengert as torch
assert not any(m.startswith("wengert.distributions") for m in sys.modules)
from wengert.distributions.normal import Normal
import wengert.distributions.kl, wengert.distributions.studentT
assert Normal is torch.distributions.Normal is torch.distributions.normal.Normal
assert Normal.__module__ == "wengert.distributions.normal"
from wengert.distributions.transforms import _InverseTransform
from wengert.distributions.multivariate_normal import _batch_mahalanobis
import importlib.util, inspect
assert importlib.util.find_spec("wengert.distributions.gamma") is not None
assert "class Normal" in inspect.getsource(Normal)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_all_names_are_there() -> None:
    assert len(D.__all__) == len(set(D.__all__)) == 67
    assert all(hasattr(D, name) for name in D.__all__)
    for name in D.SUBMODULES:
        module = sys.modules[f"wengert.distributions.{name}"]
        assert getattr(D, name) is module
        assert all(getattr(module, n).__module__ == module.__name__ for n in module.__all__)
    for name in transforms.__all__[:-1]:
        assert getattr(transforms, name).__module__ == "wengert.distributions.transforms"


def _classes() -> list[type]:
    return [getattr(module, n) for name in D.SUBMODULES for module in [getattr(D, name)] for n in module.__all__]


@pytest.mark.parametrize("cls", _classes(), ids=lambda cls: cls.__name__)
def test_docstrings(cls: type) -> None:
    """Their modules are made, not files, so that tests/house/test_doctests.py does not come by."""
    assert inspect.getdoc(cls)
    tests = doctest.DocTestFinder(exclude_empty=True).find(cls, cls.__name__, module=False, globs={"torch": torch})
    assert any(test.examples for test in tests)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.REPORT_NDIFF)
    for test in tests:
        torch.manual_seed(0)
        output: list[str] = []
        runner.run(test, out=output.append)
        assert not output, "".join(output)
