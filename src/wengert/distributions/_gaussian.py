"""Multivariate normal distributions, by a full matrix or by a low-rank one and a diagonal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import wengert as torch

from .._base.constants import Size
from .._tape.tensor import Tensor
from . import constraints
from .distribution import Distribution
from .utils import _standard_normal, formula, lazy_property

LOG_2_PI = math.log(2 * math.pi)


# ---- matrices in batches
def _batch_mv(bmat: Tensor, bvec: Tensor) -> Tensor:
    """Matrices times vectors; the batches broadcast."""
    return torch.matmul(bmat, bvec.unsqueeze(-1)).squeeze(-1)


def _batch_mahalanobis(bL: Tensor, bx: Tensor) -> Tensor:
    """``x.T @ inv(L @ L.T) @ x`` for vectors of shape (*, n) and lower triangular L; the batches broadcast.

    The dims that only the vectors have become columns, so that each matrix is solved with once.
    """
    extra = max(bx.dim() - bL.dim() + 1, 0)
    lead = bx.shape[:extra]
    columns = bx.reshape((-1,) + tuple(bx.shape[extra:])).movedim(0, -1)
    squares = torch.linalg.solve_triangular(bL, columns, upper=False).pow(2).sum(-2)
    return squares.movedim(-1, 0).reshape(lead + tuple(squares.shape[:-1]))


def _log_diagonal(factor: Tensor) -> Tensor:
    """Half the logarithm of the determinant of ``factor @ factor.T``."""
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def _precision_to_scale_tril(P: Tensor) -> Tensor:
    """The Cholesky factor of the inverse of P: by that of P in reverse order, so that P is not inverted."""
    reverse = torch.linalg.cholesky(torch.flip(P, (-2, -1)))
    factor = torch.transpose(torch.flip(reverse, (-2, -1)), -2, -1)
    return torch.linalg.solve_triangular(factor, torch.eye(P.shape[-1], dtype=P.dtype), upper=False)


def _add_identity(m: Tensor) -> Tensor:
    return m + torch.eye(m.shape[-1], dtype=m.dtype)


def _batch_capacitance_tril(W: Tensor, D: Tensor) -> Tensor:
    """The Cholesky factor of ``I + W.T @ inv(D) @ W``."""
    return torch.linalg.cholesky(_add_identity(torch.matmul(W.mT / D.unsqueeze(-2), W)))


def _batch_lowrank_logdet(W: Tensor, D: Tensor, capacitance_tril: Tensor) -> Tensor:
    """The logarithm of the determinant of ``W @ W.T + D``, by the matrix determinant lemma."""
    return 2 * _log_diagonal(capacitance_tril) + D.log().sum(-1)


def _batch_lowrank_mahalanobis(W: Tensor, D: Tensor, x: Tensor, capacitance_tril: Tensor) -> Tensor:
    """``x.T @ inv(W @ W.T + D) @ x``, by Woodbury's identity."""
    projected = _batch_mv(W.mT / D.unsqueeze(-2), x)
    return (x.pow(2) / D).sum(-1) - _batch_mahalanobis(capacitance_tril, projected)


def matrix_given(error: type[Exception], **matrices: Tensor | None) -> tuple[str, Tensor]:
    """The name and value of the only matrix that is not None."""
    given = [(name, m) for name, m in matrices.items() if m is not None]
    if len(given) != 1:
        raise error("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
    return given[0]


def factor_of(name: str, matrix: Tensor) -> Tensor:
    """The Cholesky factor of the covariance matrix, from the given matrix."""
    if name == "covariance_matrix":
        return torch.linalg.cholesky(matrix)
    return matrix if name == "scale_tril" else _precision_to_scale_tril(matrix)


class MultivariateNormal(Distribution):
    """The normal distribution of vectors, of mean ``loc`` and a covariance matrix.

    ``log p(x) = -(d.T @ inv(covariance_matrix) @ d + log det(covariance_matrix) + n log(2 pi)) / 2``, ``d = x - loc``

    Parameters: ``loc``, of shape (*, n), and one of ``covariance_matrix``, ``precision_matrix`` (its inverse), both
    positive definite, and ``scale_tril`` (its Cholesky factor), of shape (*, n, n); the batches broadcast. All is
    computed with the factor, so ``scale_tril`` is cheapest. Support: vectors of n real numbers.

    Raises:
        ValueError: not exactly one matrix is given, or dims are missing.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> d = torch.distributions.MultivariateNormal(torch.zeros(2), torch.tensor([[2., 1.], [1., 2.]]))
    >>> d.sample(), d.log_prob(torch.zeros(2)), d.variance
    (tensor([2.1793, 0.7303]), tensor(-2.3872), tensor([2.0000, 2.0000]))
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True
    _unbroadcasted_scale_tril: Tensor
    _expands = ("loc", "covariance_matrix", "scale_tril", "precision_matrix")
    _keeps = ("_unbroadcasted_scale_tril",)

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        name, matrix = matrix_given(
            ValueError, covariance_matrix=covariance_matrix, precision_matrix=precision_matrix, scale_tril=scale_tril
        )
        if matrix.dim() < 2:
            what = "scale_tril matrix" if name == "scale_tril" else name
            raise ValueError(f"{what} must be at least two-dimensional, with optional leading batch dimensions")
        batch_shape = torch.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand(batch_shape + (-1, -1)))
        self.loc = loc.expand(batch_shape + (-1,))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = factor_of(name, matrix)

    def _expanded(self, matrix: Tensor) -> Tensor:
        # Not by _extended_shape: a subclass may draw samples of another shape (gpytorch's are as wide as its root).
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance matrix."""
        return self._expanded(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix."""
        factor = self._unbroadcasted_scale_tril
        return self._expanded(torch.matmul(factor, factor.mT))

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance matrix."""
        return self._expanded(torch.cholesky_inverse(self._unbroadcasted_scale_tril))

    mean = formula(lambda self: self.loc)
    mode = formula(lambda self: self.loc)

    @property
    def variance(self) -> Tensor:
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        eps = _standard_normal(self._extended_shape(sample_shape), self.loc.dtype, self.loc.device)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, eps)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        square = _batch_mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        return -0.5 * (self._event_shape[0] * LOG_2_PI + square) - _log_diagonal(self._unbroadcasted_scale_tril)

    def entropy(self) -> Tensor:
        entropy = 0.5 * self._event_shape[0] * (1.0 + LOG_2_PI) + _log_diagonal(self._unbroadcasted_scale_tril)
        return entropy.expand(self._batch_shape)


class LowRankMultivariateNormal(Distribution):
    """The normal distribution of vectors with the covariance matrix ``cov_factor @ cov_factor.T + diag(cov_diag)``.

    Determinant and inverse are those of the small matrix ``I + cov_factor.T @ inv(diag) @ cov_factor``, by Woodbury's
    identity.

    Parameters: ``loc`` (*, n), ``cov_factor`` (*, n, rank), ``cov_diag`` (*, n), positive; the batches broadcast.
    Support: vectors of n real numbers.

    Raises:
        ValueError: the shapes do not fit.

    >>> import wengert as torch
    >>> d = torch.distributions.LowRankMultivariateNormal(torch.zeros(2), torch.tensor([[1.], [0.]]), torch.ones(2))
    >>> d.covariance_matrix, d.log_prob(torch.zeros(2))
    (tensor([[2., 0.],
            [0., 1.]]), tensor(-2.1845))
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True
    _expands = ("loc", "cov_diag", "cov_factor")
    _keeps = ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril")

    def __init__(self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None) -> None:
        event_shape = loc.shape[-1:]
        for wrong, text in (
            (loc.dim() < 1, "loc must be at least one-dimensional."),
            (
                cov_factor.dim() < 2,
                "cov_factor must be at least two-dimensional, with optional leading batch dimensions",
            ),
            (
                cov_factor.shape[-2:-1] != event_shape,
                f"cov_factor must be a batch of matrices with shape {event_shape.numel()} x m",
            ),
            (cov_diag.shape[-1:] != event_shape, f"cov_diag must be a batch of vectors with shape {event_shape}"),
        ):
            if wrong:
                raise ValueError(text)
        columns = (loc.unsqueeze(-1), cov_factor, cov_diag.unsqueeze(-1))
        try:
            wide_loc, self.cov_factor, wide_diag = torch.broadcast_tensors(*columns)
        except RuntimeError as error:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag {cov_diag.shape}"
            ) from error
        self.loc, self.cov_diag = wide_loc[..., 0], wide_diag[..., 0]
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        self._capacitance_tril = _batch_capacitance_tril(cov_factor, cov_diag)
        super().__init__(self.loc.shape[:-1], event_shape, validate_args=validate_args)

    @property
    def _parts(self) -> tuple[Tensor, Tensor]:
        return self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag

    def _expanded(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    mean = formula(lambda self: self.loc)
    mode = formula(lambda self: self.loc)

    @lazy_property
    def variance(self) -> Tensor:
        """The diagonal of the covariance matrix."""
        factor, diag = self._parts
        return (factor.pow(2).sum(-1) + diag).expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor, by that of ``I + inv(sqrt(D)) @ W @ W.T @ inv(sqrt(D))``, which is well conditioned."""
        factor, diag = self._parts
        root = diag.sqrt().unsqueeze(-1)
        scaled = factor / root
        return self._expanded(root * torch.linalg.cholesky(_add_identity(torch.matmul(scaled, scaled.mT))))

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix."""
        factor, diag = self._parts
        return self._expanded(torch.matmul(factor, factor.mT) + torch.diag_embed(diag))

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """Its inverse."""
        factor, diag = self._parts
        half = torch.linalg.solve_triangular(self._capacitance_tril, factor.mT / diag.unsqueeze(-2), upper=False)
        return self._expanded(torch.diag_embed(diag.reciprocal()) - half.mT @ half)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        factor, diag = self._parts
        shape = self._extended_shape(sample_shape)
        eps_factor = _standard_normal(shape[:-1] + self.cov_factor.shape[-1:], self.loc.dtype, self.loc.device)
        eps_diag = _standard_normal(shape, self.loc.dtype, self.loc.device)
        return self.loc + _batch_mv(factor, eps_factor) + diag.sqrt() * eps_diag

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        square = _batch_lowrank_mahalanobis(*self._parts, value - self.loc, self._capacitance_tril)
        log_det = _batch_lowrank_logdet(*self._parts, self._capacitance_tril)
        return -0.5 * (self._event_shape[0] * LOG_2_PI + log_det + square)

    def entropy(self) -> Tensor:
        log_det = _batch_lowrank_logdet(*self._parts, self._capacitance_tril)
        entropy: Any = 0.5 * (self._event_shape[0] * (1.0 + LOG_2_PI) + log_det)
        return entropy.expand(self._batch_shape)
