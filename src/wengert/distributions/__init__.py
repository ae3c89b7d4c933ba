"""``torch.distributions``: probability distributions, transforms, and Kullback-Leibler divergences.

    m = Categorical(probs)                    the score function (REINFORCE): any distribution
    action = m.sample()
    loss = -m.log_prob(action) * reward

    m = Normal(*params)                       the pathwise derivative: where ``has_rsample`` is True
    action = m.rsample()
    loss = -reward(action)

The classes stand in modules by family; PyTorch's modules of one class each (``torch.distributions.normal``) are made
from them here.

>>> import wengert as torch
>>> loc = torch.tensor(1., requires_grad=True)
>>> draws = torch.distributions.Normal(loc, 1.).rsample((1000,))
>>> torch.autograd.grad(draws.mean(), loc)
(tensor(1.0000),)
"""

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

from . import (
    _categories,
    _circle,
    _counts,
    _gamma,
    _gaussian,
    _interval,
    _kl_formulas,
    _location_scale,
    _matrices,
    _relaxed,
    _tails,
    constraint_registry,
    constraints,
    distribution,
    exp_family,
    independent,
    kl,
    mixture_same_family,
    transformed_distribution,
    transforms,
    utils,
)
from ._categories import Categorical, Multinomial, OneHotCategorical, OneHotCategoricalStraightThrough
from ._circle import VonMises
from ._counts import Bernoulli, Binomial, Geometric, NegativeBinomial, Poisson
from ._gamma import Beta, Chi2, Dirichlet, FisherSnedecor, Gamma, InverseGamma
from ._gaussian import LowRankMultivariateNormal, MultivariateNormal
from ._interval import ContinuousBernoulli, Kumaraswamy, Uniform
from ._location_scale import (
    Cauchy,
    Gumbel,
    HalfCauchy,
    HalfNormal,
    Laplace,
    LogisticNormal,
    LogNormal,
    Normal,
    StudentT,
)
from ._matrices import LKJCholesky, Wishart
from ._relaxed import RelaxedBernoulli, RelaxedOneHotCategorical
from ._tails import Exponential, GeneralizedPareto, Pareto, Weibull
from .constraint_registry import biject_to, transform_to
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .independent import Independent
from .kl import kl_divergence, register_kl
from .mixture_same_family import MixtureSameFamily
from .transformed_distribution import TransformedDistribution
from .transforms import (
    AbsTransform,
    AffineTransform,
    CatTransform,
    ComposeTransform,
    CorrCholeskyTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    PowerTransform,
    ReshapeTransform,
    SigmoidTransform,
    SoftmaxTransform,
    SoftplusTransform,
    StackTransform,
    StickBreakingTransform,
    TanhTransform,
    Transform,
    identity_transform,
)

# PyTorch's modules: name -> where its names come from, and these. The first are its public classes; the helpers after
# them are what public programs import from there.
SUBMODULES: dict[str, tuple[ModuleType, str]] = {
    "bernoulli": (_counts, "Bernoulli"),
    "beta": (_gamma, "Beta"),
    "binomial": (_counts, "Binomial"),
    "categorical": (_categories, "Categorical"),
    "cauchy": (_location_scale, "Cauchy"),
    "chi2": (_gamma, "Chi2"),
    "continuous_bernoulli": (_interval, "ContinuousBernoulli"),
    "dirichlet": (_gamma, "Dirichlet"),
    "exponential": (_tails, "Exponential"),
    "fishersnedecor": (_gamma, "FisherSnedecor"),
    "gamma": (_gamma, "Gamma _standard_gamma"),
    "generalized_pareto": (_tails, "GeneralizedPareto"),
    "geometric": (_counts, "Geometric"),
    "gumbel": (_location_scale, "Gumbel"),
    "half_cauchy": (_location_scale, "HalfCauchy"),
    "half_normal": (_location_scale, "HalfNormal"),
    "inverse_gamma": (_gamma, "InverseGamma"),
    "kumaraswamy": (_interval, "Kumaraswamy"),
    "laplace": (_location_scale, "Laplace"),
    "lkj_cholesky": (_matrices, "LKJCholesky"),
    "log_normal": (_location_scale, "LogNormal"),
    "logistic_normal": (_location_scale, "LogisticNormal"),
    "lowrank_multivariate_normal": (
        _gaussian,
        "LowRankMultivariateNormal _batch_capacitance_tril _batch_lowrank_logdet _batch_lowrank_mahalanobis _batch_mv",
    ),
    "multinomial": (_categories, "Multinomial"),
    "multivariate_normal": (_gaussian, "MultivariateNormal _batch_mahalanobis _batch_mv _precision_to_scale_tril"),
    "negative_binomial": (_counts, "NegativeBinomial"),
    "normal": (_location_scale, "Normal"),
    "one_hot_categorical": (_categories, "OneHotCategorical OneHotCategoricalStraightThrough"),
    "pareto": (_tails, "Pareto"),
    "poisson": (_counts, "Poisson"),
    "relaxed_bernoulli": (_relaxed, "LogitRelaxedBernoulli RelaxedBernoulli"),
    "relaxed_categorical": (_relaxed, "ExpRelaxedCategorical RelaxedOneHotCategorical"),
    "studentT": (_location_scale, "StudentT"),
    "uniform": (_interval, "Uniform"),
    "von_mises": (_circle, "VonMises _log_modified_bessel_fn"),
    "weibull": (_tails, "Weibull"),
    "wishart": (_matrices, "Wishart _mvdigamma"),
}


def _publish() -> None:
    """Make PyTorch's modules. A class says that it is of its module there, which is where a pickle looks for it."""
    for name, (home, names) in SUBMODULES.items():
        module = ModuleType(f"{__name__}.{name}")
        module.__spec__ = ModuleSpec(module.__name__, None, origin=home.__file__)
        module.__file__ = home.__file__
        found = {n: getattr(home, n) for n in names.split()}
        public = [n for n in found if not n.startswith("_")]
        module.__doc__ = f"``{'``, ``'.join(public)}``; defined in ``{home.__name__}``."
        vars(module).update(found, __all__=public, Distribution=Distribution, constraints=constraints)
        for n in public:
            line = found[n].__dict__.get("__firstlineno__")  # from Python 3.13 on; the next line drops it
            found[n].__module__ = module.__name__
            if line is not None:
                found[n].__firstlineno__ = line
        sys.modules[module.__name__] = module
        globals()[name] = module


_publish()

__all__ = [
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ContinuousBernoulli",
    "Dirichlet",
    "Distribution",
    "Exponential",
    "ExponentialFamily",
    "FisherSnedecor",
    "Gamma",
    "GeneralizedPareto",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "InverseGamma",
    "Kumaraswamy",
    "LKJCholesky",
    "Laplace",
    "LogNormal",
    "LogisticNormal",
    "LowRankMultivariateNormal",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "StudentT",
    "TransformedDistribution",
    "Uniform",
    "VonMises",
    "Weibull",
    "Wishart",
    "biject_to",
    "kl_divergence",
    "register_kl",
    "transform_to",
]
__all__ += transforms.__all__
