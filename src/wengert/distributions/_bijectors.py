"""Elementary transforms: of numbers, of vectors, of matrices, and by a distribution function."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import wengert as torch

from .._tape.tensor import Tensor
from ..nn import functional as F
from . import constraints
from ._transform import Parametric, Transform
from .distribution import Distribution
from .utils import NUMBER, broadcast_all, computed, lazy_property, tril_matrix_to_vec, vec_to_tril_matrix


class _Plain(Transform):  # noqa: PLW1641  no transform is hashable
    """A transform without parameters: equal to every other of its class."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self))


# ---- numbers
class ExpTransform(_Plain):
    """``y = exp(x)``.

    >>> import wengert as torch
    >>> torch.distributions.ExpTransform()(torch.tensor([0., 1.]))
    tensor([1.0000, 2.7183])
    """

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = +1

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """``x``."""
        return x


class PowerTransform(Parametric):  # noqa: PLW1641  as above
    """``y = x ** exponent`` for positive x.

    >>> import wengert as torch
    >>> torch.distributions.PowerTransform(torch.tensor(2.))(torch.tensor([1., 3.]))
    tensor([1., 9.])
    """

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    def _arguments(self) -> tuple[Any, ...]:
        return (self.exponent,)

    @lazy_property
    def sign(self) -> Any:
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and bool(self.exponent.eq(other.exponent).all())

    def _call(self, x: Tensor) -> Tensor:
        return x.pow(self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """``log |exponent * y / x|``."""
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Sequence[int]) -> Any:
        return torch.broadcast_shapes(shape, self.exponent.shape)

    inverse_shape = forward_shape


def _clipped_sigmoid(x: Tensor) -> Tensor:
    """The sigmoid, clamped to the open interval (0, 1)."""
    info = torch.finfo(x.dtype)
    return torch.clamp(torch.sigmoid(x), min=info.tiny, max=1.0 - info.eps)


class SigmoidTransform(_Plain):
    """``y = 1 / (1 + exp(-x))``, kept inside of (0, 1).

    >>> import wengert as torch
    >>> torch.distributions.SigmoidTransform()(torch.tensor([0., 100.]))
    tensor([0.5000, 1.0000])
    """

    domain = constraints.real
    codomain = constraints.unit_interval
    bijective = True
    sign = +1

    def _call(self, x: Tensor) -> Tensor:
        return _clipped_sigmoid(x)

    def _inverse(self, y: Tensor) -> Tensor:
        info = torch.finfo(y.dtype)
        y = y.clamp(min=info.tiny, max=1.0 - info.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """``-softplus(-x) - softplus(x)``."""
        return -F.softplus(-x) - F.softplus(x)


class SoftplusTransform(_Plain):
    """``y = log(1 + exp(x))``.

    >>> import wengert as torch
    >>> torch.distributions.SoftplusTransform()(torch.tensor([0., 30.]))
    tensor([ 0.6931, 30.0000])
    """

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = +1

    def _call(self, x: Tensor) -> Tensor:
        return F.softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """``-softplus(-x)``."""
        return -F.softplus(-x)


class TanhTransform(_Plain):
    """``y = tanh(x)``; the inverse of 1 and -1 is infinite, which ``cache_size=1`` avoids.

    The Jacobian in a form that loses no digits, after TensorFlow Probability's ``Tanh``.

    >>> import wengert as torch
    >>> torch.distributions.TanhTransform()(torch.tensor([0., 1.]))
    tensor([0.0000, 0.7616])
    """

    domain = constraints.real
    codomain = constraints.interval(-1.0, 1.0)
    bijective = True
    sign = +1

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return torch.atanh(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """``log(1 - tanh(x) ** 2)``."""
        return 2.0 * (math.log(2.0) - x - F.softplus(-2.0 * x))


class AbsTransform(_Plain):
    """``y = |x|``; not bijective, its inverse is the identity.

    >>> import wengert as torch
    >>> torch.distributions.AbsTransform()(torch.tensor([-1., 2.]))
    tensor([1., 2.])
    """

    domain = constraints.real
    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class AffineTransform(Parametric):  # noqa: PLW1641  as above
    """``y = loc + scale * x``, number by number; ``event_dim`` dims make one event.

    >>> import wengert as torch
    >>> torch.distributions.AffineTransform(1., 2.)(torch.tensor([0., 1.]))
    tensor([1., 3.])
    """

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    def _arguments(self) -> tuple[Any, ...]:
        return self.loc, self.scale, self.event_dim

    event_dim = computed(lambda self: self._event_dim)
    domain = constraints.dependent_property(
        lambda self: constraints.independent(constraints.real, self.event_dim) if self.event_dim else constraints.real,
        is_discrete=False,
    )

    codomain = domain

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AffineTransform) and _same(self.loc, other.loc) and _same(self.scale, other.scale)

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, NUMBER):
            return (self.scale > 0) - (self.scale < 0)
        return self.scale.sign()

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """``log |scale|``."""
        shape, scale = x.shape, self.scale
        result = torch.full_like(x, math.log(abs(scale))) if isinstance(scale, NUMBER) else torch.abs(scale).log()
        if self.event_dim:
            result = result.view(result.shape[: -self.event_dim] + (-1,)).sum(-1)
            shape = shape[: -self.event_dim]
        return result.expand(shape)

    def forward_shape(self, shape: Sequence[int]) -> Any:
        return torch.broadcast_shapes(shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ()))

    inverse_shape = forward_shape


def _same(a: Any, b: Any) -> bool:
    same = a == b
    return bool(same.all()) if isinstance(same, Tensor) else same


class CumulativeDistributionTransform(Parametric):
    """``y = distribution.cdf(x)``, which makes draws of the distribution uniform.

    A Gaussian copula, for example, is a multivariate normal of unit variances under this transform of ``Normal(0, 1)``.

    >>> import wengert as torch
    >>> from wengert.distributions import CumulativeDistributionTransform, Normal
    >>> CumulativeDistributionTransform(Normal(0., 1.))(torch.tensor([0., 2.]))
    tensor([0.5000, 0.9772])
    """

    bijective = True
    codomain = constraints.unit_interval
    sign = +1

    def __init__(self, distribution: Distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    def _arguments(self) -> tuple[Any, ...]:
        return (self.distribution,)

    domain = computed(lambda self: self.distribution.support)

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """The density's logarithm."""
        return self.distribution.log_prob(x)


# ---- vectors
def _at_least(shape: Sequence[int], rank: int) -> None:
    if len(shape) < rank:
        raise ValueError("Too few dimensions on input")


class SoftmaxTransform(_Plain):
    """``y = exp(x) / sum(exp(x))`` along the last dim; not bijective, its inverse is the logarithm.

    >>> import wengert as torch
    >>> torch.distributions.SoftmaxTransform()(torch.zeros(2))
    tensor([0.5000, 0.5000])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        weights = (x - x.max(-1, True)[0]).exp()
        return weights / weights.sum(-1, True)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def forward_shape(self, shape: Sequence[int]) -> Any:
        _at_least(shape, 1)
        return shape

    inverse_shape = forward_shape


class StickBreakingTransform(_Plain):
    """Vectors of n numbers to points of the simplex in n + 1 dims, by breaking a stick.

    Each number's sigmoid is the share that is broken off of what is left. The offset makes 0 the middle of the simplex.

    >>> import wengert as torch
    >>> torch.distributions.StickBreakingTransform()(torch.zeros(3))
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        share = _clipped_sigmoid(x - _stick_offset(x, x.shape[-1]))
        left = (1 - share).cumprod(-1)
        return F.pad(share, [0, 1], value=1) * F.pad(left, [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        broken = y[..., :-1]
        left = torch.clamp(1 - broken.cumsum(-1), min=torch.finfo(y.dtype).tiny)  # rounding may leave less than none
        return broken.log() - left.log() + _stick_offset(y, broken.shape[-1])

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """By ``1 - sigmoid(x) == exp(-x) * sigmoid(x)``."""
        x = x - _stick_offset(x, x.shape[-1])
        return (-x + F.logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> Any:
        _at_least(shape, 1)
        return shape[:-1] + (shape[-1] + 1,)

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        _at_least(shape, 1)
        return shape[:-1] + (shape[-1] - 1,)


def _stick_offset(like: Tensor, n: int) -> Tensor:
    """The logarithms of n, n - 1, ..., 1."""
    return (n + 1 - like.new_ones(n).cumsum(-1)).log()


# ---- matrices
class CorrCholeskyTransform(Transform):
    """Vectors of D (D - 1) / 2 numbers to the Cholesky factors of D x D correlation matrices.

    ``tanh`` of the numbers fills the matrix below its diagonal; in each row the squares are then broken off a stick,
    which makes the row's length 1.

    Source: Stan reference manual, "Cholesky factors of correlation matrices".

    >>> import wengert as torch
    >>> torch.distributions.CorrCholeskyTransform()(torch.tensor([1.]))
    tensor([[1.0000, 0.0000],
            [0.7616, 0.6481]])
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        x = torch.tanh(x)
        eps = torch.finfo(x.dtype).eps
        below = vec_to_tril_matrix(x.clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = (1 - below**2).sqrt().cumprod(-1)
        return (below + torch.eye(below.shape[-1], dtype=x.dtype)) * F.pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        left = F.pad((1 - torch.cumsum(y * y, dim=-1))[..., :-1], [1, 0], value=1)
        t = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return (t.log1p() - t.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor, intermediates: Any = None) -> Tensor:
        """That of the map to the elements below the diagonal."""
        left = tril_matrix_to_vec(1 - (y * y).cumsum(dim=-1), diag=-2)  # one to the left: what the next one is cut from
        return 0.5 * left.log().sum(-1) - 2 * (x + F.softplus(-2 * x) - math.log(2.0)).sum(dim=-1)

    def forward_shape(self, shape: Sequence[int]) -> Any:
        _at_least(shape, 1)
        n = shape[-1]
        d = round((0.25 + 2 * n) ** 0.5 + 0.5)
        if d * (d - 1) // 2 != n:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return shape[:-1] + (d, d)

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        _at_least(shape, 2)
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return shape[:-2] + (shape[-1] * (shape[-1] - 1) // 2,)


def _on_diagonal(m: Tensor, function: Any) -> Tensor:
    """The matrices' part below the diagonal, with a function of their diagonal."""
    return m.tril(-1) + function(m.diagonal(dim1=-2, dim2=-1)).diag_embed()


class LowerCholeskyTransform(_Plain):
    """Square matrices to lower triangular ones with a positive diagonal, the exponential of the given one.

    >>> import wengert as torch
    >>> torch.distributions.LowerCholeskyTransform()(torch.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return _on_diagonal(x, torch.exp)

    def _inverse(self, y: Tensor) -> Tensor:
        return _on_diagonal(y, torch.log)


class PositiveDefiniteTransform(_Plain):
    """Square matrices to positive definite ones, ``L @ L.T`` of ``LowerCholeskyTransform``'s L.

    >>> import wengert as torch
    >>> torch.distributions.PositiveDefiniteTransform()(torch.tensor([[0., 0.], [1., 0.]]))
    tensor([[1., 1.],
            [1., 2.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        factor = _on_diagonal(x, torch.exp)
        return factor @ factor.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return _on_diagonal(torch.linalg.cholesky(y), torch.log)
