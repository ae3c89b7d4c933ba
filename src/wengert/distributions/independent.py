"""``Independent``: a distribution with batch dims reinterpreted as event dims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from .._base.constants import Size
from .._tape.tensor import Tensor
from . import constraints
from .distribution import Distribution
from .utils import _sum_rightmost, computed, formula

__all__ = ["Independent"]

D = TypeVar("D", bound=Distribution)


class Independent(Distribution, Generic[D]):
    """A distribution of which the last ``reinterpreted_batch_ndims`` batch dims belong to the event.

    The draws are the same; ``log_prob`` and ``entropy`` are summed over these dims.

    Raises:
        ValueError: the base distribution has fewer batch dims.

    >>> import wengert as torch
    >>> from wengert.distributions import Independent, Normal
    >>> d = Independent(Normal(torch.zeros(3), torch.ones(3)), 1)
    >>> d.batch_shape, d.event_shape, d.log_prob(torch.zeros(3))
    (torch.Size([]), torch.Size([3]), tensor(-2.7568))
    """

    arg_constraints: dict[str, constraints.Constraint] = {}
    base_dist: D
    _expands = ("base_dist",)
    _keeps = ("reinterpreted_batch_ndims",)

    def __init__(self, base_distribution: D, reinterpreted_batch_ndims: int, validate_args: bool | None = None) -> None:
        base_batch = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(base_batch):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {reinterpreted_batch_ndims} vs {len(base_batch)}"
            )
        cut = len(base_batch) - reinterpreted_batch_ndims
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__(base_batch[:cut], base_batch[cut:] + base_distribution.event_shape, validate_args)

    has_rsample = computed(lambda self: self.base_dist.has_rsample)

    @property
    def has_enumerate_support(self) -> bool:
        return not self.reinterpreted_batch_ndims and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> Any:
        """That of the base distribution, for each part of the event."""
        support, extra = self.base_dist.support, self.reinterpreted_batch_ndims
        return constraints.independent(support, extra) if extra else support  # type: ignore[arg-type]

    mean = formula(lambda self: self.base_dist.mean)
    mode = formula(lambda self: self.base_dist.mode)
    variance = formula(lambda self: self.base_dist.variance)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        return _sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        return _sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"
