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


def build(name: str, lib: Any, dtype: str = "float64") -> tuple[Any, list[Any]]:
    """The distribution of a case, and the leaves it was made from."""
    leaves: list[Any] = []

    def tensor(values: Any) -> Any:
        leaves.append(lib.tensor(values, dtype=getattr(lib, dtype), requires_grad=True))
        return leaves[-1]

    return CASES[name](lib.distributions, tensor), leaves
