"""``torch.distributions``: probability distributions, transforms, and Kullback-Leibler divergences.

    m = Categorical(probs)                    the score function (REINFORCE): any distribution
    action = m.sample()
    loss = -m.log_prob(action) * reward

    m = Normal(*params)                       the pathwise derivative: where ``has_rsample`` is True
    action = m.rsample()
    loss = -reward(action)

The classes stand in modules by family; ``_submodules`` makes PyTorch's modules of one class each
(``torch.distributions.normal``) from them.

>>> import wengert as torch
>>> loc = torch.tensor(1., requires_grad=True)
>>> draws = torch.distributions.Normal(loc, 1.).rsample((1000,))
>>> torch.autograd.grad(draws.mean(), loc)
(tensor(1.0000),)
"""

from . import (
    _kl_formulas,
    _submodules,
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
from ._submodules import SUBMODULES
from .constraint_registry import biject_to, transform_to
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .independent import Independent
from .kl import kl_divergence, register_kl
from .mixture_same_family import MixtureSameFamily
from .transformed_distribution import TransformedDistribution
from .transforms import *  # noqa: F403

globals().update(_submodules.MODULES | _submodules.CLASSES)

__all__ = [  # noqa: PLE0604
    "Distribution",
    "ExponentialFamily",
    "Independent",
    "MixtureSameFamily",
    "TransformedDistribution",
    "biject_to",
    "kl_divergence",
    "register_kl",
    "transform_to",
    *_submodules.CLASSES,
    *transforms.__all__,
]
