"""``TransformedDistribution``: the distribution of transformed draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from .._base.constants import Size
from .._base.grad_mode import no_grad
from .._tape.tensor import Tensor
from . import constraints
from .distribution import Distribution
from .independent import Independent
from .transforms import ComposeTransform, Transform
from .utils import _sum_rightmost, computed

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """The distribution of f(X): X drawn from a base distribution, f a transform or a list of them, the first first.

    ``log p(y) = log p(x) + log |det dx/dy|`` at ``y = f(x)``. The base distribution is expanded to what the transforms
    need, and its batch dims become event dims where a transform mixes them.

    Raises:
        ValueError: what is given are no transforms, or the base distribution has too few dims for them.

    >>> import wengert as torch
    >>> from wengert.distributions import AffineTransform, SigmoidTransform, TransformedDistribution, Uniform
    >>> logistic = TransformedDistribution(Uniform(0., 1.), [SigmoidTransform().inv, AffineTransform(0., 2.)])
    >>> logistic.log_prob(torch.tensor(0.)), logistic.cdf(torch.tensor(0.))
    (tensor(-2.0794), tensor(0.5000))
    """

    arg_constraints: dict[str, constraints.Constraint] = {}
    base_dist: Any
    _expands: tuple[str, ...] = ()

    def __init__(
        self,
        base_distribution: Distribution,
        transforms: Transform | list[Transform],
        validate_args: bool | None = None,
    ) -> None:
        self.transforms = _as_list(transforms)
        chain = ComposeTransform(self.transforms)
        domain, codomain = chain.domain, chain.codomain
        base_shape = base_distribution.batch_shape + base_distribution.event_shape
        base_event_dim = len(base_distribution.event_shape)
        if len(base_shape) < domain.event_dim:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {domain.event_dim}, but got {base_shape}."
            )
        shape = Size(chain.forward_shape(base_shape))
        needed = Size(chain.inverse_shape(shape))
        if base_shape != needed:
            base_distribution = base_distribution.expand(needed[: len(needed) - base_event_dim])
        if domain.event_dim > base_event_dim:
            base_distribution = Independent(base_distribution, domain.event_dim - base_event_dim)
        self.base_dist = base_distribution
        # an event is as large as the transforms couple it, and as the base distribution does
        event_dim = max(codomain.event_dim, base_event_dim + codomain.event_dim - domain.event_dim)
        if len(shape) < event_dim:
            raise AssertionError(f"forward_shape length {len(shape)} must be >= event_dim {event_dim}")
        cut = len(shape) - event_dim
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Self:
        new = self._expand_parameters(self._owners()[0], batch_shape, _instance)
        shape = Size(batch_shape) + tuple(self.event_shape)
        for transform in reversed(self.transforms):
            shape = Size(transform.inverse_shape(shape))
        new.base_dist = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        new.transforms = self.transforms
        super(TransformedDistribution, new).__init__(Size(batch_shape), self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        """The codomain of the last transform."""
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        extra = len(self.event_shape) - support.event_dim
        return constraints.independent(support, extra) if extra > 0 else support

    has_rsample = computed(lambda self: self.base_dist.has_rsample)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with no_grad():
            return self._transformed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self._transformed(self.base_dist.rsample(sample_shape))

    def _transformed(self, x: Tensor) -> Tensor:
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        event_dim = len(self.event_shape)
        stretched: Any = 0.0
        for transform in reversed(self.transforms):
            before = transform.inv(value)
            batch_dims = event_dim - transform.codomain.event_dim  # of this transform, but not of the whole
            stretched = stretched - _sum_rightmost(transform.log_abs_det_jacobian(before, value), batch_dims)
            event_dim = batch_dims + transform.domain.event_dim
            value = before
        base = self.base_dist.log_prob(value)
        return stretched + _sum_rightmost(base, event_dim - len(self.base_dist.event_shape))

    def _monotonize_cdf(self, value: Tensor) -> Tensor:
        """``1 - value`` where the transforms together are decreasing."""
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        return value if isinstance(sign, int) and sign == 1 else sign * (value - 0.5) + 0.5

    def cdf(self, value: Tensor) -> Tensor:
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._monotonize_cdf(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._transformed(self.base_dist.icdf(self._monotonize_cdf(value)))


def _as_list(transforms: Any) -> list[Transform]:
    if isinstance(transforms, Transform):
        return [transforms]
    if not isinstance(transforms, list):
        raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
    if not all(isinstance(t, Transform) for t in transforms):
        raise ValueError("transforms must be a Transform or a list of Transforms")
    return transforms
