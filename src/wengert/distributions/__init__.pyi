# Made by tools/make_stubs.py; do not edit.
from builtins import dict as _dict
from .transforms import *
from ..distributions import constraint_registry as constraint_registry, constraints as constraints, distribution as distribution, exp_family as exp_family, independent as independent, kl as kl, mixture_same_family as mixture_same_family, transformed_distribution as transformed_distribution, transforms as transforms, utils as utils
from ..distributions._categories import Categorical as Categorical, Multinomial as Multinomial, OneHotCategorical as OneHotCategorical, OneHotCategoricalStraightThrough as OneHotCategoricalStraightThrough
from ..distributions._circle import VonMises as VonMises
from ..distributions._counts import Bernoulli as Bernoulli, Binomial as Binomial, Geometric as Geometric, NegativeBinomial as NegativeBinomial, Poisson as Poisson
from ..distributions._gamma import Beta as Beta, Chi2 as Chi2, Dirichlet as Dirichlet, FisherSnedecor as FisherSnedecor, Gamma as Gamma, InverseGamma as InverseGamma
from ..distributions._gaussian import LowRankMultivariateNormal as LowRankMultivariateNormal, MultivariateNormal as MultivariateNormal
from ..distributions._interval import ContinuousBernoulli as ContinuousBernoulli, Kumaraswamy as Kumaraswamy, Uniform as Uniform
from ..distributions._location_scale import Cauchy as Cauchy, Gumbel as Gumbel, HalfCauchy as HalfCauchy, HalfNormal as HalfNormal, Laplace as Laplace, LogNormal as LogNormal, LogisticNormal as LogisticNormal, Normal as Normal, StudentT as StudentT
from ..distributions._matrices import LKJCholesky as LKJCholesky, Wishart as Wishart
from ..distributions._relaxed import RelaxedBernoulli as RelaxedBernoulli, RelaxedOneHotCategorical as RelaxedOneHotCategorical
from ..distributions._tails import Exponential as Exponential, GeneralizedPareto as GeneralizedPareto, Pareto as Pareto, Weibull as Weibull
from ..distributions.constraint_registry import ConstraintRegistry as _Type_of_biject_to, ConstraintRegistry as _Type_of_transform_to
from ..distributions.distribution import Distribution as Distribution
from ..distributions.exp_family import ExponentialFamily as ExponentialFamily
from ..distributions.independent import Independent as Independent
from ..distributions.kl import kl_divergence as kl_divergence, register_kl as register_kl
from ..distributions.mixture_same_family import MixtureSameFamily as MixtureSameFamily
from ..distributions.transformed_distribution import TransformedDistribution as TransformedDistribution
SUBMODULES: _dict
biject_to: _Type_of_biject_to
transform_to: _Type_of_transform_to
