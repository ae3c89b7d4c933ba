"""Distributions of matrices: Wishart's of positive definite ones, LKJ's of correlations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import wengert as torch

from .._base.constants import Size
from .._base.errors import warn
from .._tape.tensor import Tensor
from . import constraints
from ._gamma import Beta, Chi2
from ._gaussian import _log_diagonal, factor_of, matrix_given
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .utils import NUMBER, broadcast_all, computed, formula, lazy_property

LOG_2 = math.log(2)


def _mvdigamma(x: Tensor, p: int) -> Tensor:
    """The derivative of ``mvlgamma``: the sum of digamma at x, x - 1/2, ..., x - (p - 1) / 2."""
    if not x.gt((p - 1) / 2).all():
        raise AssertionError("Wrong domain for multivariate digamma function.")
    return torch.digamma(x.unsqueeze(-1) - torch.arange(p, dtype=x.dtype).div(2)).sum(-1)


class Wishart(ExponentialFamily):
    """The Wishart distribution of positive definite matrices: for whole ``df`` that of sums of df outer products
    ``x @ x.T`` of normal vectors with the given covariance.

    ``p(X) ~ det(X) ** ((df - n - 1) / 2) * exp(-trace(inv(covariance_matrix) @ X) / 2)``

    Parameters: ``df``, above n - 1, and one of ``covariance_matrix``, ``precision_matrix`` and ``scale_tril``, of shape
    (*, n, n); the batches broadcast. Support: positive definite n x n matrices. Draws are made by Bartlett's
    decomposition; one that rounding made singular is drawn again, ``max_try_correction`` times at most.

    Raises:
        ValueError: ``df`` is too low, or dims are missing.
        AssertionError: not exactly one matrix is given.

    >>> import wengert as torch
    >>> d = torch.distributions.Wishart(torch.tensor(3.), covariance_matrix=torch.eye(2))
    >>> d.mean, d.log_prob(torch.eye(2))
    (tensor([[3., 0.],
            [0., 3.]]), tensor(-3.5310))
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0
    _expands = ("df", "covariance_matrix", "scale_tril", "precision_matrix", "_dist_chi2")
    _keeps = ("_unbroadcasted_scale_tril",)
    df: Tensor

    def __init__(
        self,
        df: Tensor | float,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        name, matrix = matrix_given(
            AssertionError,
            covariance_matrix=covariance_matrix,
            precision_matrix=precision_matrix,
            scale_tril=scale_tril,
        )
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        n = matrix.shape[-1]
        given = torch.tensor(df, dtype=matrix.dtype) if isinstance(df, NUMBER) else df
        batch_shape = torch.broadcast_shapes(matrix.shape[:-2], given.shape)
        self.df = given if isinstance(df, NUMBER) else given.expand(batch_shape)
        if self.df.le(n - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {n - 1}.")
        if self.df.lt(n).any():
            warn("Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.")
        setattr(self, name, matrix.expand(batch_shape + (-1, -1)))
        super().__init__(batch_shape, matrix.shape[-2:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = factor_of(name, matrix)
        self._dist_chi2 = Chi2(self.df.expand(batch_shape).unsqueeze(-1) - torch.arange(n, dtype=matrix.dtype))

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance matrix."""
        return self._unbroadcasted_scale_tril.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix of the vectors."""
        factor = self._unbroadcasted_scale_tril
        return (factor @ factor.mT).expand(self._batch_shape + self._event_shape)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """Its inverse."""
        factor = self._unbroadcasted_scale_tril
        identity = torch.eye(factor.shape[-1], dtype=factor.dtype)
        return torch.cholesky_solve(identity, factor).expand(self._batch_shape + self._event_shape)

    def _per_matrix(self, numbers: Tensor) -> Tensor:
        return numbers.unsqueeze(-1).unsqueeze(-1)

    mean = formula(lambda self: self._per_matrix(self.df) * self.covariance_matrix)

    @property
    def mode(self) -> Tensor:
        factor = self.df - self._event_shape[-1] - 1
        return self._per_matrix(factor.masked_fill(factor <= 0, math.nan)) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        return self._per_matrix(self.df) * (v.pow(2) + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def _bartlett_sampling(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        n = self._event_shape[-1]
        diagonal = self._dist_chi2.rsample(sample_shape).sqrt()
        below = torch.randn(Size(sample_shape) + tuple(self._batch_shape) + (n * (n - 1) // 2,), dtype=diagonal.dtype)
        noise = diagonal.clamp(min=torch.finfo(diagonal.dtype).eps).diag_embed(dim1=-2, dim2=-1)
        rows, columns = torch.tril_indices(n, n, offset=-1)
        noise[..., rows, columns] = below
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.mT

    def rsample(self, sample_shape: Sequence[int] = Size(), max_try_correction: int | None = None) -> Tensor:
        """Draws, differentiable by ``df`` and the matrix; a warning if a singular one was drawn.

        PyTorch 2.13 has the test of its first draws the wrong way round: those that are not singular are drawn again.
        Here all are, so that what is drawn is the same wherever none is singular.
        """
        draws = self._bartlett_sampling(sample_shape)
        if not self.support.check(draws).all():
            warn("Singular sample detected.")
        again = torch.ones(Size(sample_shape), dtype=torch.bool)
        for _ in range(10 if max_try_correction is None else max_try_correction):
            new = self._bartlett_sampling((int(again.sum()),))
            draws = draws.index_put((again,), new) if again.dim() else new[0]
            singular = ~self.support.check(new).reshape(new.shape[0], self._batch_shape.numel()).all(-1)
            again = again.masked_scatter(again, singular)
            if not again.any():
                break
        return draws

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        nu, n, factor = self.df, self._event_shape[-1], self._unbroadcasted_scale_tril
        trace = torch.cholesky_solve(value, factor).diagonal(dim1=-2, dim2=-1).sum(dim=-1)
        return (
            -nu * (n * LOG_2 / 2 + _log_diagonal(factor))
            - torch.mvlgamma(nu / 2, p=n)
            + (nu - n - 1) / 2 * torch.linalg.slogdet(value).logabsdet
            - trace / 2
        )

    def entropy(self) -> Tensor:
        nu, n = self.df, self._event_shape[-1]
        return (
            (n + 1) * (n * LOG_2 / 2 + _log_diagonal(self._unbroadcasted_scale_tril))
            + torch.mvlgamma(nu / 2, p=n)
            - (nu - n - 1) / 2 * _mvdigamma(nu / 2, p=n)
            + nu * n / 2
        )

    _natural_params = computed(lambda self: (-self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2))

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        n = self._event_shape[-1]
        half = y + (n + 1) / 2
        return half * (-torch.linalg.slogdet(-2 * x).logabsdet + LOG_2 * n) + torch.mvlgamma(half, p=n)


class LKJCholesky(Distribution):
    """The LKJ distribution, of Cholesky factors of ``dim`` x ``dim`` correlation matrices.

    The density of the correlation matrix M is proportional to ``det(M) ** (concentration - 1)``: uniform for 1. Draws
    are made by the onion method.

    Parameters: ``dim``, at least 2, and ``concentration`` positive. Support: lower triangular matrices with rows of
    length 1 and a positive diagonal.

    Source: Lewandowski, Kurowicka, Joe, Generating random correlation matrices based on vines and extended onion
    method, Journal of Multivariate Analysis 100, 2009.

    Raises:
        ValueError: ``dim`` is less than 2.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> factor = torch.distributions.LKJCholesky(3, 0.5).sample()
    >>> torch.distributions.constraints.corr_cholesky.check(factor)
    tensor(True)
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky
    _expands = ("concentration", "_beta")
    _keeps = ("dim",)

    def __init__(self, dim: int, concentration: Tensor | float = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        # the squared length of each row below the diagonal; section 3.2 of the source
        marginal = self.concentration + 0.5 * (dim - 2)
        row = torch.arange(dim - 1, dtype=self.concentration.dtype)
        row = torch.cat([row.new_zeros((1,)), row])
        self._beta = Beta(row + 0.5, marginal.unsqueeze(-1) - 0.5 * row)
        super().__init__(self.concentration.size(), Size((dim, dim)), validate_args)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        square = self._beta.sample(sample_shape).unsqueeze(-1)
        normal = torch.randn(self._extended_shape(sample_shape), dtype=square.dtype).tril(-1)
        direction = normal / normal.norm(dim=-1, keepdim=True)
        direction[..., 0, :] = 0.0  # nothing is left of the first row's diagonal
        below = torch.sqrt(square) * direction
        diagonal = torch.clamp(1 - torch.sum(below**2, dim=-1), min=torch.finfo(below.dtype).tiny).sqrt()
        return below + torch.diag_embed(diagonal)

    def log_prob(self, value: Tensor) -> Tensor:
        """``sum_i (2 * (concentration - 1) + dim - i) * log(L_ii)`` from the second row on, and the constant."""
        self._check_sample(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order: Any = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - torch.arange(2, self.dim + 1)
        n = self.dim - 1
        alpha = self.concentration + 0.5 * n
        normalizer = 0.5 * n * math.log(math.pi) + torch.mvlgamma(alpha - 0.5, n) - torch.lgamma(alpha) * n
        return torch.sum(order * diagonal.log(), dim=-1) - normalizer
