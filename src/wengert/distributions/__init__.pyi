# Made by tools/make_stubs.py; do not edit.
from builtins import bool as _bool, bytes as _bytes, complex as _complex, dict as _dict, float as _float, int as _int, list as _list, object as _object, set as _set, slice as _slice, str as _str, tuple as _tuple, type as _type
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import EllipsisType
from typing import Any, ClassVar, Final, Literal, ParamSpec, Self, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np
from typing_extensions import TypeIs

from .. import return_types as _return_types
from .._base.constants import Size as _Size
from .._base.constants import device as _device
from .._base.constants import layout as _layout
from .._base.constants import memory_format as _memory_format
from .._base.dtypes import dtype as _dtype
from .._tape.node import Node as _Node
from .._tape.node import RemovableHandle as _RemovableHandle
from .._tensor_api.storage import TypedStorage as _TypedStorage
from .._tensor_api.storage import UntypedStorage as _UntypedStorage
from ..random import Generator as _Generator
from .._tape.tensor import Tensor as Tensor
from ..distributions import constraint_registry as constraint_registry
from ..distributions import constraints as constraints
from ..distributions import distribution as distribution
from ..distributions import exp_family as exp_family
from ..distributions import independent as independent
from ..distributions import kl as kl
from ..distributions import mixture_same_family as mixture_same_family
from ..distributions import transformed_distribution as transformed_distribution
from ..distributions import transforms as transforms
from ..distributions import utils as utils
from ..distributions._categories import Categorical as Categorical
from ..distributions._categories import Multinomial as Multinomial
from ..distributions._categories import OneHotCategorical as OneHotCategorical
from ..distributions._categories import OneHotCategoricalStraightThrough as OneHotCategoricalStraightThrough
from ..distributions._circle import VonMises as VonMises
from ..distributions._counts import Bernoulli as Bernoulli
from ..distributions._counts import Binomial as Binomial
from ..distributions._counts import Geometric as Geometric
from ..distributions._counts import NegativeBinomial as NegativeBinomial
from ..distributions._counts import Poisson as Poisson
from ..distributions._gamma import Beta as Beta
from ..distributions._gamma import Chi2 as Chi2
from ..distributions._gamma import Dirichlet as Dirichlet
from ..distributions._gamma import FisherSnedecor as FisherSnedecor
from ..distributions._gamma import Gamma as Gamma
from ..distributions._gamma import InverseGamma as InverseGamma
from ..distributions._gaussian import LowRankMultivariateNormal as LowRankMultivariateNormal
from ..distributions._gaussian import MultivariateNormal as MultivariateNormal
from ..distributions._interval import ContinuousBernoulli as ContinuousBernoulli
from ..distributions._interval import Kumaraswamy as Kumaraswamy
from ..distributions._interval import Uniform as Uniform
from ..distributions._location_scale import Cauchy as Cauchy
from ..distributions._location_scale import Gumbel as Gumbel
from ..distributions._location_scale import HalfCauchy as HalfCauchy
from ..distributions._location_scale import HalfNormal as HalfNormal
from ..distributions._location_scale import Laplace as Laplace
from ..distributions._location_scale import LogNormal as LogNormal
from ..distributions._location_scale import LogisticNormal as LogisticNormal
from ..distributions._location_scale import Normal as Normal
from ..distributions._location_scale import StudentT as StudentT
from ..distributions._matrices import LKJCholesky as LKJCholesky
from ..distributions._matrices import Wishart as Wishart
from ..distributions._relaxed import RelaxedBernoulli as RelaxedBernoulli
from ..distributions._relaxed import RelaxedOneHotCategorical as RelaxedOneHotCategorical
from ..distributions._tails import Exponential as Exponential
from ..distributions._tails import GeneralizedPareto as GeneralizedPareto
from ..distributions._tails import Pareto as Pareto
from ..distributions._tails import Weibull as Weibull
from ..distributions.constraint_registry import ConstraintRegistry as _Type_of_biject_to
biject_to: _Type_of_biject_to
from ..distributions.constraint_registry import ConstraintRegistry as _Type_of_transform_to
transform_to: _Type_of_transform_to
from ..distributions.distribution import Distribution as Distribution
from ..distributions.exp_family import ExponentialFamily as ExponentialFamily
from ..distributions.independent import Independent as Independent
from ..distributions.kl import kl_divergence as kl_divergence
from ..distributions.kl import register_kl as register_kl
from ..distributions.mixture_same_family import MixtureSameFamily as MixtureSameFamily
from ..distributions.transformed_distribution import TransformedDistribution as TransformedDistribution
from ..distributions.transforms import AbsTransform as AbsTransform
from ..distributions.transforms import AffineTransform as AffineTransform
from ..distributions.transforms import CatTransform as CatTransform
from ..distributions.transforms import ComposeTransform as ComposeTransform
from ..distributions.transforms import ComposeTransform as _Type_of_identity_transform
identity_transform: _Type_of_identity_transform
from ..distributions.transforms import CorrCholeskyTransform as CorrCholeskyTransform
from ..distributions.transforms import CumulativeDistributionTransform as CumulativeDistributionTransform
from ..distributions.transforms import ExpTransform as ExpTransform
from ..distributions.transforms import IndependentTransform as IndependentTransform
from ..distributions.transforms import LowerCholeskyTransform as LowerCholeskyTransform
from ..distributions.transforms import PositiveDefiniteTransform as PositiveDefiniteTransform
from ..distributions.transforms import PowerTransform as PowerTransform
from ..distributions.transforms import ReshapeTransform as ReshapeTransform
from ..distributions.transforms import SigmoidTransform as SigmoidTransform
from ..distributions.transforms import SoftmaxTransform as SoftmaxTransform
from ..distributions.transforms import SoftplusTransform as SoftplusTransform
from ..distributions.transforms import StackTransform as StackTransform
from ..distributions.transforms import StickBreakingTransform as StickBreakingTransform
from ..distributions.transforms import TanhTransform as TanhTransform
from ..distributions.transforms import Transform as Transform

Number: TypeAlias = _bool | _int | _float | _complex
_Index: TypeAlias = SupportsIndex | _slice | EllipsisType | Tensor | np.ndarray | Sequence[Any] | None
_P = ParamSpec("_P")
_R = TypeVar("_R")
SUBMODULES: _dict

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "Bernoulli",
    "Beta",
    "Binomial",
    "CatTransform",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ComposeTransform",
    "ContinuousBernoulli",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "Dirichlet",
    "Distribution",
    "ExpTransform",
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
    "IndependentTransform",
    "InverseGamma",
    "Kumaraswamy",
    "LKJCholesky",
    "Laplace",
    "LogNormal",
    "LogisticNormal",
    "LowRankMultivariateNormal",
    "LowerCholeskyTransform",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "ReshapeTransform",
    "SUBMODULES",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "StudentT",
    "TanhTransform",
    "Transform",
    "TransformedDistribution",
    "Uniform",
    "VonMises",
    "Weibull",
    "Wishart",
    "biject_to",
    "constraint_registry",
    "constraints",
    "distribution",
    "exp_family",
    "identity_transform",
    "independent",
    "kl",
    "kl_divergence",
    "mixture_same_family",
    "register_kl",
    "transform_to",
    "transformed_distribution",
    "transforms",
    "utils",
]
