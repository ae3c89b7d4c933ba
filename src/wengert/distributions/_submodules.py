"""PyTorch's modules of one distribution each (``torch.distributions.normal``), made from the modules by family."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from . import (
    _categories,
    _circle,
    _counts,
    _gamma,
    _gaussian,
    _interval,
    _location_scale,
    _matrices,
    _relaxed,
    _tails,
    constraints,
)
from .distribution import Distribution

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


def _made(name: str, home: ModuleType, names: list[str]) -> ModuleType:
    """One of PyTorch's modules. A class says that it is of its module there, which is where a pickle looks for it."""
    module = ModuleType(f"{__package__}.{name}")
    module.__spec__ = ModuleSpec(module.__name__, None, origin=home.__file__)
    module.__file__ = home.__file__
    found = {n: getattr(home, n) for n in names}
    public = [n for n in found if not n.startswith("_")]
    module.__doc__ = f"``{'``, ``'.join(public)}``; defined in ``{home.__name__}``."
    vars(module).update(found, __all__=public, Distribution=Distribution, constraints=constraints)
    for n in public:
        line = found[n].__dict__.get("__firstlineno__")  # from Python 3.13 on; the next line drops it
        found[n].__module__ = module.__name__
        if line is not None:
            found[n].__firstlineno__ = line
    sys.modules[module.__name__] = module
    return module


MODULES = {name: _made(name, home, names.split()) for name, (home, names) in SUBMODULES.items()}
#: the classes that ``torch.distributions`` has too: not the two that relaxed distributions are made from
CLASSES: dict[str, Any] = {
    name: getattr(module, name)
    for module in MODULES.values()
    for name in module.__all__
    if name not in ("LogitRelaxedBernoulli", "ExpRelaxedCategorical")
}
