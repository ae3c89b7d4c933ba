"""Distributions of every class, as functions of the module to take them from and of what makes its tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

SPD = [[2.0, 0.5, 0.1], [0.5, 1.5, 0.3], [0.1, 0.3, 1.0]]
FACTOR = np.linalg.cholesky(np.array(SPD)).tolist()

# D: the module `distributions`; t: a list or number -> a tensor that requires grad
CASES: dict[str, Callable[[Any, Callable[[Any], Any]], Any]] = {
    "Bernoulli probs": lambda D, t: D.Bernoulli(t([0.2, 0.5, 0.9])),
    "Bernoulli logits": lambda D, t: D.Bernoulli(logits=t([[-1.0, 0.5], [2.0, 0.0]])),
    "Bernoulli number": lambda D, t: D.Bernoulli(0.3),
    "Beta": lambda D, t: D.Beta(t([0.5, 2.0, 30.0]), t([0.7, 3.0, 20.0])),
    "Beta number": lambda D, t: D.Beta(2.0, 3.0),
    "Binomial probs": lambda D, t: D.Binomial(10, t([0.1, 0.5, 0.8])),
    "Binomial logits": lambda D, t: D.Binomial(100, logits=t([-1.0, 0.0, 2.0])),
    "Categorical probs": lambda D, t: D.Categorical(t([[0.2, 0.3, 1.5], [1.0, 1.0, 2.0]])),
    "Categorical logits": lambda D, t: D.Categorical(logits=t([0.1, -1.0, 2.0, 0.3])),
    "Cauchy": lambda D, t: D.Cauchy(t([0.0, 1.0]), t([1.0, 0.5])),
    "Chi2": lambda D, t: D.Chi2(t([0.5, 3.0, 20.0])),
    "ContinuousBernoulli probs": lambda D, t: D.ContinuousBernoulli(t([0.1, 0.4995, 0.8])),
    "ContinuousBernoulli logits": lambda D, t: D.ContinuousBernoulli(logits=t([-2.0, 0.001, 1.0])),
    "Dirichlet": lambda D, t: D.Dirichlet(t([[0.5, 2.0, 3.0], [10.0, 20.0, 30.0]])),
    "Dirichlet corner": lambda D, t: D.Dirichlet(t([0.5, 0.3])),
    "Exponential": lambda D, t: D.Exponential(t([0.5, 1.0, 4.0])),
    "Exponential number": lambda D, t: D.Exponential(2.0),
    "FisherSnedecor": lambda D, t: D.FisherSnedecor(t([1.0, 3.0, 5.0]), t([2.0, 4.0, 9.0])),
    "Gamma": lambda D, t: D.Gamma(t([0.3, 2.0, 50.0]), t([1.0, 2.0, 0.5])),
    "GeneralizedPareto": lambda D, t: D.GeneralizedPareto(t([0.0, 1.0, 0.0]), t([1.0, 2.0, 0.5]), t([-0.5, 0.0, 0.3])),
    "Geometric probs": lambda D, t: D.Geometric(t([0.2, 0.7, 1.0])),
    "Geometric logits": lambda D, t: D.Geometric(logits=t([0.2, -1.0])),
    "Gumbel": lambda D, t: D.Gumbel(t([0.0, 1.0]), t([1.0, 2.0])),
    "Gumbel number": lambda D, t: D.Gumbel(0.5, 2.0),
    "HalfCauchy": lambda D, t: D.HalfCauchy(t([1.0, 2.0])),
    "HalfNormal": lambda D, t: D.HalfNormal(t([1.0, 2.0])),
    "Independent": lambda D, t: D.Independent(D.Normal(t([[0.0, 1.0], [2.0, 3.0]]), t([1.0, 2.0])), 1),
    "Independent Bernoulli": lambda D, t: D.Independent(D.Bernoulli(t([[0.1, 0.6], [0.5, 0.9]])), 2),
    "InverseGamma": lambda D, t: D.InverseGamma(t([0.8, 2.0, 5.0]), t([1.0, 2.0, 0.5])),
    "Kumaraswamy": lambda D, t: D.Kumaraswamy(t([0.5, 2.0, 3.0]), t([2.0, 3.0, 1.0])),
    "LKJCholesky": lambda D, t: D.LKJCholesky(3, t([0.5, 1.0, 2.0])),
    "LKJCholesky number": lambda D, t: D.LKJCholesky(4),
    "Laplace": lambda D, t: D.Laplace(t([0.0, 1.0]), t([1.0, 2.0])),
    "LogNormal": lambda D, t: D.LogNormal(t([0.0, 0.5]), t([1.0, 0.3])),
    "LogisticNormal": lambda D, t: D.LogisticNormal(t([[0.0, 0.5, 1.0]]), t([1.0, 0.3, 0.5])),
    "LogisticNormal number": lambda D, t: D.LogisticNormal(0.3, 1.0),
    "LowRankMultivariateNormal": lambda D, t: D.LowRankMultivariateNormal(
        t([[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]]), t([[1.0, 0.1], [0.5, -1.0], [0.3, 0.0]]), t([1.0, 2.0, 0.5])
    ),
    "MixtureSameFamily": lambda D, t: D.MixtureSameFamily(
        D.Categorical(t([0.2, 0.3, 0.5])), D.Normal(t([-1.0, 0.0, 2.0]), t([1.0, 0.5, 2.0]))
    ),
    "MixtureSameFamily vectors": lambda D, t: D.MixtureSameFamily(
        D.Categorical(t([[0.2, 0.8], [0.5, 0.5]])),
        D.Independent(D.Normal(t([[[0.0, 1.0, 2.0], [1.0, 0.0, 1.0]]] * 2), t([1.0, 2.0, 3.0])), 1),
    ),
    "Multinomial probs": lambda D, t: D.Multinomial(10, t([[0.2, 0.3, 0.5], [1.0, 1.0, 2.0]])),
    "Multinomial logits": lambda D, t: D.Multinomial(5, logits=t([0.2, 0.3, -0.5])),
    "MultivariateNormal covariance": lambda D, t: D.MultivariateNormal(
        t([[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]]), covariance_matrix=t(SPD)
    ),
    "MultivariateNormal precision": lambda D, t: D.MultivariateNormal(t([0.0, 1.0, 2.0]), precision_matrix=t(SPD)),
    "MultivariateNormal scale": lambda D, t: D.MultivariateNormal(
        t([0.0, 1.0, 2.0]), scale_tril=t([FACTOR, (2 * np.array(FACTOR)).tolist()])
    ),
    "NegativeBinomial probs": lambda D, t: D.NegativeBinomial(t([1.0, 4.5]), t([0.3, 0.6])),
    "NegativeBinomial logits": lambda D, t: D.NegativeBinomial(3, logits=t([-0.3, 0.6])),
    "Normal": lambda D, t: D.Normal(t([0.0, 1.0, -2.0]), t([1.0, 0.5, 3.0])),
    "Normal broadcast": lambda D, t: D.Normal(t([[0.0], [1.0]]), t([1.0, 0.5, 3.0])),
    "Normal number": lambda D, t: D.Normal(1, 2.5),
    "OneHotCategorical": lambda D, t: D.OneHotCategorical(t([[0.2, 0.3, 1.5], [1.0, 1.0, 2.0]])),
    "OneHotCategoricalStraightThrough": lambda D, t: D.OneHotCategoricalStraightThrough(logits=t([0.2, 0.3, 1.5])),
    "Pareto": lambda D, t: D.Pareto(t([1.0, 2.0, 0.5]), t([0.5, 1.5, 3.0])),
    "Poisson": lambda D, t: D.Poisson(t([0.5, 4.0, 30.0])),
    "RelaxedBernoulli": lambda D, t: D.RelaxedBernoulli(t(2.0), t([0.1, 0.5, 0.9])),
    "RelaxedBernoulli logits": lambda D, t: D.RelaxedBernoulli(t([0.5]), logits=t([0.1, 0.5, 0.9])),
    "RelaxedOneHotCategorical": lambda D, t: D.RelaxedOneHotCategorical(t(0.7), t([[0.1, 0.5, 0.9]])),
    "RelaxedOneHotCategorical logits": lambda D, t: D.RelaxedOneHotCategorical(t([1.5]), logits=t([0.1, 0.5, 0.9])),
    "StudentT": lambda D, t: D.StudentT(t([0.8, 1.5, 7.0]), t([0.0, 1.0, 2.0]), t([1.0, 2.0, 0.5])),
    "StudentT number": lambda D, t: D.StudentT(3.0),
    "TransformedDistribution": lambda D, t: D.TransformedDistribution(
        D.Uniform(t([0.0, 0.0]), 1.0), [D.SigmoidTransform().inv, D.AffineTransform(t([1.0, 2.0]), t([2.0, -0.5]))]
    ),
    "TransformedDistribution matrix": lambda D, t: D.TransformedDistribution(
        D.Normal(t([0.0, 0.1, 0.2]), 1.0), [D.CorrCholeskyTransform()]
    ),
    "Uniform": lambda D, t: D.Uniform(t([0.0, -1.0]), t([1.0, 3.0])),
    "Uniform number": lambda D, t: D.Uniform(1, 3.0),
    "VonMises": lambda D, t: D.VonMises(t([0.0, 1.0, -3.0]), t([0.5, 5.0, 1e-3])),
    "Weibull": lambda D, t: D.Weibull(t([1.0, 2.0]), t([0.5, 3.0])),
    "Wishart": lambda D, t: D.Wishart(t(4.5), covariance_matrix=t(SPD)),
    "Wishart batch": lambda D, t: D.Wishart(t([4.0, 7.0]), scale_tril=t(FACTOR)),
    "Wishart precision": lambda D, t: D.Wishart(5, precision_matrix=t([SPD, SPD])),
}  # fmt: skip


def made(make: Callable[[Any, Any], Any], lib: Any, dtype: str = "float64") -> tuple[Any, list[Any]]:
    """What a case makes, and the leaves it was made from."""
    leaves: list[Any] = []

    def tensor(values: Any) -> Any:
        leaves.append(lib.tensor(values, dtype=getattr(lib, dtype), requires_grad=True))
        return leaves[-1]

    return make(lib.distributions, tensor), leaves


def build(name: str, lib: Any, dtype: str = "float64") -> tuple[Any, list[Any]]:
    """The distribution of a case, and its leaves."""
    return made(CASES[name], lib, dtype)


# For each class one or two distributions of it; divergences are taken of all from all.
DIVERGENCES: dict[str, list[Callable[[Any, Callable[[Any], Any]], Any]]] = {
    "Bernoulli": [lambda D, t: D.Bernoulli(t([0.2, 0.0, 1.0, 0.7])), lambda D, t: D.Bernoulli(t([0.5, 0.5, 1.0, 0.0]))],
    "Beta": [lambda D, t: D.Beta(t([0.5, 2.0, 3.0]), t([1.5, 0.5, 4.0]))],
    "Binomial": [
        lambda D, t: D.Binomial(t([3.0, 5.0, 5.0]), t([0.2, 0.3, 0.4])),
        lambda D, t: D.Binomial(t([3.0, 3.0, 5.0]), t([0.5, 0.3, 0.1])),
    ],
    "Categorical": [
        lambda D, t: D.Categorical(t([[0.2, 0.3, 0.5], [0.0, 0.5, 0.5], [0.2, 0.2, 0.6]])),
        lambda D, t: D.Categorical(t([[0.1, 0.8, 0.1], [0.3, 0.0, 0.7], [0.0, 0.5, 0.5]])),
    ],
    "Cauchy": [
        lambda D, t: D.Cauchy(t([0.5, 2.0, 3.0]), t([1.5, 0.5, 4.0])),
        lambda D, t: D.Cauchy(t([0.1, 2.0, 3.0]), t([1.0, 0.5, 3.0])),
    ],
    "ContinuousBernoulli": [lambda D, t: D.ContinuousBernoulli(t([0.1, 0.5, 0.7]))],
    "Dirichlet": [
        lambda D, t: D.Dirichlet(t([[0.1, 0.5, 0.7], [1.0, 2.0, 3.0], [3.0, 2.0, 5.0]])),
        lambda D, t: D.Dirichlet(t([[1.0, 1.5, 0.7], [1.0, 2.0, 3.5], [1.0, 2.0, 5.0]])),
    ],
    "Exponential": [
        lambda D, t: D.Exponential(t([0.1, 0.5, 7.0])),
    ],
    "Gamma": [
        lambda D, t: D.Gamma(t([0.4, 0.5, 7.0]), t([1.0, 0.5, 2.0])),
    ],
    "Geometric": [lambda D, t: D.Geometric(t([0.1, 0.5, 0.7])), lambda D, t: D.Geometric(t([0.2, 0.5, 0.9]))],
    "Gumbel": [
        lambda D, t: D.Gumbel(t([-0.4, 0.5, 1.0]), t([1.0, 0.5, 2.0])),
    ],
    "HalfNormal": [lambda D, t: D.HalfNormal(t([1.0, 0.5, 2.0])), lambda D, t: D.HalfNormal(t([0.1, 0.5, 0.2]))],
    "Independent": [
        lambda D, t: D.Independent(D.Normal(t([1.0, 0.5, 2.0]), 1.0), 1),
        lambda D, t: D.Independent(D.Normal(t([0.0, 0.5, -2.0]), 2.0), 1),
    ],
    "Laplace": [
        lambda D, t: D.Laplace(t([-0.4, 0.5, 1.0]), t([1.0, 0.5, 2.0])),
    ],
    "LowRank": [
        lambda D, t: D.LowRankMultivariateNormal(
            t([[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]]), t([[1.0, 0.1], [0.5, -1.0], [0.3, 0.0]]), t([1.0, 2.0, 0.5])
        ),
        lambda D, t: D.LowRankMultivariateNormal(t([0.5, 1.0, 0.0]), t([[1.0], [0.5], [0.3]]), t([1.0, 1.0, 0.5])),
    ],
    "MVN": [
        lambda D, t: D.MultivariateNormal(t([[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]]), t(SPD)),
        lambda D, t: D.MultivariateNormal(t([0.5, 1.0, 0.0]), scale_tril=t([FACTOR, (np.array(FACTOR) * 2).tolist()])),
    ],
    "Normal": [
        lambda D, t: D.Normal(t([-0.4, 0.5, 1.0]), t([1.0, 0.5, 2.0])),
        lambda D, t: D.Normal(t([0.4, 0.5, -1.0]), t([2.0, 0.7, 1.0])),
    ],
    "OneHot": [
        lambda D, t: D.OneHotCategorical(t([[0.2, 0.3, 0.5], [0.0, 0.5, 0.5], [0.2, 0.2, 0.6]])),
        lambda D, t: D.OneHotCategorical(t([[0.1, 0.8, 0.1], [0.3, 0.0, 0.7], [0.0, 0.5, 0.5]])),
    ],
    "Pareto": [
        lambda D, t: D.Pareto(t([0.4, 0.5, 1.0]), t([0.7, 1.5, 3.0])),
        lambda D, t: D.Pareto(t([0.1, 0.2, 0.5]), t([0.7, 2.5, 3.0])),
    ],
    "Poisson": [lambda D, t: D.Poisson(t([0.4, 0.5, 1.0]))],
    "Uniform": [
        lambda D, t: D.Uniform(t([0.1, 0.2, 0.3]), t([0.5, 0.9, 0.7])),
        lambda D, t: D.Uniform(t([-2.0, -1.0, 1.0]), t([3.0, 2.0, 5.0])),
        lambda D, t: D.Uniform(t([0.0, 0.5, 0.0]), t([1.0, 1.0, 0.5])),
    ],
    "LogNormal": [
        lambda D, t: D.LogNormal(t([-0.4, 0.5, 1.0]), t([1.0, 0.5, 2.0])),
        lambda D, t: D.LogNormal(t([0.4, 0.5, -1.0]), t([2.0, 0.7, 1.0])),
    ],
    "Wishart": [lambda D, t: D.Wishart(t(4.5), t(SPD)), lambda D, t: D.Wishart(t(6.0), scale_tril=t(FACTOR))],
    "StudentT": [lambda D, t: D.StudentT(t([3.0]))],
    "Chi2": [lambda D, t: D.Chi2(t([3.0, 2.0, 0.5]))],
    "InverseGamma": [lambda D, t: D.InverseGamma(t([3.0, 2.0, 0.5]), t([1.0, 2.0, 3.0]))],
}

# Transforms, and the shape of their input; "positive": what inputs they take.
TRANSFORMS: dict[str, tuple[Callable[[Any, Callable[[Any], Any]], Any], tuple[int, ...]]] = {
    "Exp": (lambda D, t: D.ExpTransform(), (3,)),
    "Power, positive": (lambda D, t: D.PowerTransform(t([2.0, -0.5, 1.0])), (3,)),
    "Power by a number, positive": (lambda D, t: D.PowerTransform(2), (3,)),
    "Sigmoid": (lambda D, t: D.SigmoidTransform(), (3,)),
    "Softplus": (lambda D, t: D.SoftplusTransform(), (3,)),
    "Tanh": (lambda D, t: D.TanhTransform(), (3,)),
    "Abs": (lambda D, t: D.AbsTransform(), (3,)),
    "Affine": (lambda D, t: D.AffineTransform(1.0, -2.0), (3,)),
    "AffineT": (lambda D, t: D.AffineTransform(t([1.0, 2.0, 3.0]), t([1.0, -2.0, 0.5])), (2, 3)),
    "AffineE": (lambda D, t: D.AffineTransform(t([1.0, 2.0, 3.0]), t([1.0, -2.0, 0.5]), event_dim=1), (2, 3)),
    "AffineE2": (lambda D, t: D.AffineTransform(1.0, 2.0, event_dim=1), (2, 3)),
    "Corr": (lambda D, t: D.CorrCholeskyTransform(), (2, 6)),
    "Softmax": (lambda D, t: D.SoftmaxTransform(), (2, 3)),
    "Stick": (lambda D, t: D.StickBreakingTransform(), (2, 3)),
    "LowerChol": (lambda D, t: D.LowerCholeskyTransform(), (2, 3, 3)),
    "PD": (lambda D, t: D.PositiveDefiniteTransform(), (2, 3, 3)),
    "Reshape": (lambda D, t: D.ReshapeTransform((4,), (2, 2)), (3, 4)),
    "Cat": (lambda D, t: D.CatTransform([D.ExpTransform(), D.identity_transform], lengths=[2, 1], dim=-1), (2, 3)),
    "Cat0": (lambda D, t: D.CatTransform([D.ExpTransform(), D.SigmoidTransform()], dim=0), (2, 3)),
    "CatE": (
        lambda D, t: D.CatTransform(
            [D.SoftmaxTransform(), D.IndependentTransform(D.ExpTransform(), 1)], dim=0, lengths=[1, 1]
        ),
        (2, 3),
    ),
    "Stack": (lambda D, t: D.StackTransform([D.ExpTransform(), D.AffineTransform(0.0, 2.0)], dim=1), (3, 2)),
    "Compose": (lambda D, t: D.ComposeTransform([D.AffineTransform(1.0, 2.0), D.ExpTransform()]), (3,)),
    "ComposeV": (lambda D, t: D.ComposeTransform([D.AffineTransform(1.0, 2.0), D.StickBreakingTransform()]), (2, 3)),
    "Indep": (lambda D, t: D.IndependentTransform(D.ExpTransform(), 1), (2, 3)),
    "CDF": (lambda D, t: D.CumulativeDistributionTransform(D.Normal(0.0, 1.0)), (3,)),
    "inverse, positive": (lambda D, t: D.ExpTransform().inv, (3,)),
    "identity": (lambda D, t: D.identity_transform, (3,)),
}


def _undefined_expand(lib: Any) -> Any:
    class Mine(lib.distributions.Normal):  # type: ignore[name-defined, misc]
        def __init__(self, loc: float) -> None:
            super().__init__(loc, 1.0)

    return Mine(0.0).expand((2,))


def _no_expand(lib: Any) -> Any:
    class Mine(lib.distributions.Distribution):  # type: ignore[name-defined, misc]
        arg_constraints: dict[str, Any] = {}

    return Mine().expand((2,))


# What must be refused, in the same words.
ERRORS: list[Callable[[Any], Any]] = [
    lambda lib: lib.distributions.Normal(0.0, -1.0),
    lambda lib: lib.distributions.Normal(lib.tensor([0.0, float("nan")]), lib.tensor([1.0, 1.0])),
    lambda lib: lib.distributions.Normal("a", 1.0),
    lambda lib: lib.distributions.Normal(lib.zeros(2), lib.ones(3)),
    lambda lib: lib.distributions.Normal(0.0, 1.0).log_prob(3.0),
    lambda lib: lib.distributions.Normal(lib.zeros(2), 1.0).log_prob(lib.zeros(3)),
    lambda lib: lib.distributions.Normal(lib.zeros(2), 1.0).log_prob(lib.tensor([0.0, float("nan")])),
    lambda lib: lib.distributions.Normal(0.0, 1.0, validate_args=False).log_prob(3.0),
    lambda lib: lib.distributions.Bernoulli(),
    lambda lib: lib.distributions.Bernoulli(0.5, 0.5),
    lambda lib: lib.distributions.Bernoulli(1.5),
    lambda lib: lib.distributions.Bernoulli(0.5).log_prob(lib.tensor(0.5)),
    lambda lib: lib.distributions.Bernoulli(0.5).rsample(),
    lambda lib: lib.distributions.Bernoulli(0.5).cdf(lib.tensor(1.0)),
    lambda lib: lib.distributions.Beta(-1.0, 1.0),
    lambda lib: lib.distributions.Beta(1.0, 1.0).log_prob(lib.tensor(1.5)),
    lambda lib: lib.distributions.Binomial(-1, lib.tensor(0.5)),
    lambda lib: lib.distributions.Binomial(3, lib.tensor(0.5)).log_prob(lib.tensor(4.0)),
    lambda lib: lib.distributions.Binomial(lib.tensor([3.0, 4.0]), lib.tensor(0.5)).enumerate_support(),
    lambda lib: lib.distributions.Binomial(lib.tensor([3.0, 4.0]), lib.tensor(0.5)).entropy(),
    lambda lib: lib.distributions.Categorical(lib.tensor(1.0)),
    lambda lib: lib.distributions.Categorical(logits=lib.tensor(1.0)),
    lambda lib: lib.distributions.Categorical(lib.tensor([-1.0, 2.0])),
    lambda lib: lib.distributions.Categorical(lib.tensor([1.0, 2.0])).log_prob(lib.tensor(2)),
    lambda lib: lib.distributions.Categorical(lib.tensor([1.0, 2.0])).log_prob(lib.tensor(0.5)),
    lambda lib: lib.distributions.ContinuousBernoulli(1.5, validate_args=True),
    lambda lib: lib.distributions.Dirichlet(lib.tensor(1.0)),
    lambda lib: lib.distributions.Dirichlet(lib.tensor([1.0, -1.0])),
    lambda lib: lib.distributions.Dirichlet(lib.tensor([1.0, 1.0])).log_prob(lib.tensor([0.5, 0.6])),
    lambda lib: lib.distributions.Dirichlet(lib.tensor([1.0, 1.0])).log_prob(lib.tensor([0.5, 0.2, 0.3])),
    lambda lib: lib.distributions.Geometric(0.0),
    lambda lib: lib.distributions.Geometric(lib.tensor([0.0, 0.5])),
    lambda lib: lib.distributions.Independent(lib.distributions.Normal(0.0, 1.0), 1),
    lambda lib: lib.distributions.Independent(lib.distributions.Bernoulli(lib.ones(2) * 0.5), 1).enumerate_support(),
    lambda lib: lib.distributions.LKJCholesky(1),
    lambda lib: lib.distributions.LKJCholesky(3).log_prob(lib.ones(3, 3)),
    lambda lib: lib.distributions.LowRankMultivariateNormal(lib.tensor(1.0), lib.ones(2, 1), lib.ones(2)),
    lambda lib: lib.distributions.LowRankMultivariateNormal(lib.ones(2), lib.ones(2), lib.ones(2)),
    lambda lib: lib.distributions.LowRankMultivariateNormal(lib.ones(2), lib.ones(3, 1), lib.ones(2)),
    lambda lib: lib.distributions.LowRankMultivariateNormal(lib.ones(2), lib.ones(2, 1), lib.ones(3)),
    lambda lib: lib.distributions.LowRankMultivariateNormal(lib.ones(5, 2), lib.ones(4, 2, 1), lib.ones(2)),
    lambda lib: lib.distributions.MixtureSameFamily(
        lib.distributions.Normal(0.0, 1.0), lib.distributions.Normal(lib.zeros(2), 1.0)
    ),
    lambda lib: lib.distributions.MixtureSameFamily(lib.distributions.Categorical(lib.ones(2)), 3),
    lambda lib: lib.distributions.MixtureSameFamily(
        lib.distributions.Categorical(lib.ones(3)), lib.distributions.Normal(lib.zeros(2), 1.0)
    ),
    lambda lib: lib.distributions.MixtureSameFamily(
        lib.distributions.Categorical(lib.ones(3, 2)), lib.distributions.Normal(lib.zeros(4, 2), 1.0)
    ),
    lambda lib: lib.distributions.MixtureSameFamily(
        lib.distributions.Categorical(lib.ones(2)), lib.distributions.Normal(lib.zeros(2), 1.0)
    ).rsample(),
    lambda lib: lib.distributions.Multinomial(2.5, lib.ones(3)),
    lambda lib: lib.distributions.Multinomial(2, lib.ones(3)).log_prob(lib.tensor([1.0, 1.0, 2.0])),
    lambda lib: lib.distributions.MultivariateNormal(lib.tensor(0.0), lib.eye(2)),
    lambda lib: lib.distributions.MultivariateNormal(lib.zeros(2)),
    lambda lib: lib.distributions.MultivariateNormal(lib.zeros(2), lib.eye(2), lib.eye(2)),
    lambda lib: lib.distributions.MultivariateNormal(lib.zeros(2), lib.ones(2)),
    lambda lib: lib.distributions.MultivariateNormal(lib.zeros(2), scale_tril=lib.ones(2)),
    lambda lib: lib.distributions.MultivariateNormal(lib.zeros(2), lib.tensor([[1.0, 2.0], [2.0, 1.0]])),
    lambda lib: lib.distributions.MultivariateNormal(lib.zeros(2), lib.tensor([[1.0, 2.0], [0.0, 1.0]])),
    lambda lib: lib.distributions.MultivariateNormal(lib.zeros(2), scale_tril=lib.tensor([[1.0, 2.0], [0.0, 1.0]])),
    lambda lib: lib.distributions.MultivariateNormal(
        lib.zeros(2), lib.tensor([[1.0, 2.0], [2.0, 1.0]]), validate_args=False
    ),
    lambda lib: lib.distributions.NegativeBinomial(-1.0, lib.tensor(0.5)),
    lambda lib: lib.distributions.NegativeBinomial(1.0, lib.tensor(1.0)),
    lambda lib: lib.distributions.OneHotCategorical(lib.ones(3)).log_prob(lib.tensor([1.0, 1.0, 0.0])),
    lambda lib: lib.distributions.Poisson(-1.0),
    lambda lib: lib.distributions.Poisson(1.0).log_prob(lib.tensor(-1.0)),
    lambda lib: lib.distributions.Poisson(lib.tensor([4])).sample(),
    lambda lib: lib.distributions.Poisson(4.0).mode and lib.distributions.Poisson(4.0).entropy(),
    lambda lib: lib.distributions.TransformedDistribution(lib.distributions.Normal(0.0, 1.0), 3),
    lambda lib: lib.distributions.TransformedDistribution(lib.distributions.Normal(0.0, 1.0), [3]),
    lambda lib: lib.distributions.TransformedDistribution(
        lib.distributions.Normal(0.0, 1.0), lib.distributions.StickBreakingTransform()
    ),
    lambda lib: (
        lib.distributions.TransformedDistribution(
            lib.distributions.Normal(0.0, 1.0), lib.distributions.ExpTransform()
        ).mean
    ),
    lambda lib: (
        lib.distributions.TransformedDistribution(
            lib.distributions.Normal(0.0, 1.0), lib.distributions.ExpTransform()
        ).mode
    ),
    lambda lib: lib.distributions.Uniform(1.0, 1.0),
    lambda lib: lib.distributions.Uniform(0.0, 1.0).log_prob(lib.tensor(2.0)),
    lambda lib: lib.distributions.Wishart(1.0, lib.eye(3)),
    lambda lib: lib.distributions.Wishart(5.0, lib.eye(3), lib.eye(3)),
    lambda lib: lib.distributions.Wishart(5.0, lib.ones(3)),
    lambda lib: lib.distributions.Distribution.set_default_validate_args(3),
    lambda lib: lib.distributions.Distribution().arg_constraints,
    lambda lib: lib.distributions.kl_divergence(lib.distributions.StudentT(3.0), lib.distributions.Cauchy(0.0, 1.0)),
    lambda lib: lib.distributions.kl_divergence(lib.distributions.Gamma(3.0, 1.0), lib.distributions.Bernoulli(0.5)),
    lambda lib: lib.distributions.kl_divergence(
        lib.distributions.Binomial(3, lib.tensor(0.5)), lib.distributions.Binomial(5, lib.tensor(0.5))
    ),
    lambda lib: lib.distributions.biject_to(lib.distributions.constraints.one_hot),
    lambda lib: lib.distributions.biject_to.register(3, 4),
    lambda lib: lib.distributions.constraints.dependent.check(3),
    lambda lib: lib.distributions.constraints.dependent.event_dim,
    lambda lib: lib.distributions.constraints.dependent.is_discrete,
    lambda lib: lib.distributions.constraints.independent(lib.distributions.constraints.real, -1),
    lambda lib: lib.distributions.constraints.independent(3, 1),
    lambda lib: lib.distributions.constraints.independent(lib.distributions.constraints.real, 1.0),
    lambda lib: lib.distributions.constraints.independent(lib.distributions.constraints.real, 2).check(lib.ones(3)),
    lambda lib: lib.distributions.constraints.cat([3]),
    lambda lib: lib.distributions.constraints.cat([lib.distributions.constraints.real], lengths=[1, 2]),
    lambda lib: lib.distributions.constraints.stack([lib.distributions.constraints.real], dim=2).check(lib.ones(1)),
    lambda lib: lib.distributions.ExpTransform(cache_size=2),
    lambda lib: lib.distributions.Transform().inv(lib.ones(2)),
    lambda lib: lib.distributions.Transform()(lib.ones(2)),
    lambda lib: lib.distributions.ReshapeTransform((2,), (3,)),
    lambda lib: lib.distributions.ReshapeTransform((2,), (2, 1)).forward_shape((3,)),
    lambda lib: lib.distributions.ReshapeTransform((2,), (2, 1)).forward_shape(()),
    lambda lib: lib.distributions.CorrCholeskyTransform().forward_shape((2,)),
    lambda lib: lib.distributions.CorrCholeskyTransform().inverse_shape((2, 3)),
    lambda lib: lib.distributions.StickBreakingTransform().forward_shape(()),
    lambda lib: lib.distributions.StickBreakingTransform().event_dim,
    lambda lib: lib.distributions.CorrCholeskyTransform().event_dim,
    lambda lib: lib.distributions.CatTransform([3]),
    lambda lib: lib.distributions.CatTransform([lib.distributions.ExpTransform()], lengths=[1, 2]),
    lambda lib: lib.distributions.CatTransform([lib.distributions.ExpTransform()], lengths=[3])(lib.ones(2)),
    lambda lib: lib.distributions.CatTransform([lib.distributions.ExpTransform()], dim=1, lengths=[3])(lib.ones(3)),
    lambda lib: lib.distributions.StackTransform([lib.distributions.ExpTransform()]).inv(lib.ones(3)),
    lambda lib: lib.distributions.StackTransform([lib.distributions.ExpTransform()]).log_abs_det_jacobian(
        lib.ones(1), lib.ones(3)
    ),
    lambda lib: lib.distributions.IndependentTransform(lib.distributions.ExpTransform(), 2)(lib.ones(1)),
    lambda lib: lib.distributions.AbsTransform().sign,
    lambda lib: lib.distributions.utils.broadcast_all([1], 2),
    lambda lib: lib.distributions.utils.vec_to_tril_matrix(lib.ones(2)),
    lambda lib: lib.distributions.utils.tril_matrix_to_vec(lib.ones(2, 2), 3),
    lambda lib: hash(lib.distributions.ExpTransform()),
    lambda lib: lib.distributions.StudentT(3.0).cdf(lib.tensor(1.0)),
    lambda lib: lib.distributions.VonMises(0.0, 1.0).rsample(),
    lambda lib: lib.distributions.Gamma(1.0, 1.0).icdf(lib.tensor(0.5)),
    _undefined_expand,
    _no_expand,
]
