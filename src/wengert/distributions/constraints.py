"""Constraints: the regions of valid parameters and samples, for ``check`` and ``transform_to``.

Constraints with bounds are classes (``interval(0, 1)``), the others objects (``real``, ``simplex``).

>>> import wengert as torch
>>> from wengert.distributions import constraints
>>> constraints.positive.check(torch.tensor([-1., 0., 1.]))
tensor([False, False,  True])
>>> constraints.interval(0, 1), constraints.real_vector
(Interval(lower_bound=0, upper_bound=1), IndependentConstraint(Real(), 1))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import wengert as torch

from .._base.exports import own_names
from .._tape.tensor import Tensor
from .utils import computed


class Constraint:
    """A region; subclasses say in ``check`` which events lie in it.

    ``is_discrete``: whether its points are isolated. ``event_dim``: how many of a tensor's last dims make one event.

    >>> import wengert as torch
    >>> class Even(torch.distributions.constraints.Constraint):
    ...     is_discrete = True
    ...     def check(self, value):
    ...         return value % 2 == 0
    >>> Even().check(torch.tensor([1, 2]))
    tensor([False,  True])
    """

    is_discrete: Any = False
    event_dim: Any = 0

    def check(self, value: Tensor) -> Tensor:
        """A bool for each event: the shape of ``value`` without its last ``event_dim`` dims."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{self.__class__.__name__[1:]}({self._arguments()})"

    def _arguments(self) -> str:
        return ""


# ---- known only to an instance
class _Dependent(Constraint):
    """Stands for a region that depends on other values: it cannot be checked.

    Its ``is_discrete`` and ``event_dim`` may be known all the same; asking for one that is not raises
    NotImplementedError.
    """

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete = is_discrete
        self._event_dim = event_dim
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        if self._is_discrete is NotImplemented:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return self._is_discrete

    @property
    def event_dim(self) -> int:
        if self._event_dim is NotImplemented:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return self._event_dim

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> _Dependent:
        """The same with more known: ``dependent(is_discrete=True, event_dim=1)``."""
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, x: Tensor) -> Tensor:
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint: Any) -> bool:
    """Whether a constraint depends on other values, so that it cannot be checked.

    >>> import wengert as torch
    >>> from wengert.distributions import Bernoulli, Uniform, constraints
    >>> constraints.is_dependent(Uniform.support), constraints.is_dependent(Bernoulli.support)
    (True, False)
    """
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A decorator: on a class a dependent constraint, on an instance a property that returns the real one.

    >>> from wengert.distributions import constraints
    >>> class Below:
    ...     def __init__(self, bound):
    ...         self.bound = bound
    ...     @constraints.dependent_property(is_discrete=False, event_dim=0)
    ...     def support(self):
    ...         return constraints.less_than(self.bound)
    >>> Below.support, Below(3).support
    (DependentProperty(), LessThan(upper_bound=3))
    """

    def __init__(
        self,
        fn: Callable[..., Any] | None = None,
        *,
        is_discrete: Any = NotImplemented,
        event_dim: Any = NotImplemented,
    ) -> None:
        super().__init__(fn)
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    def __call__(self, fn: Callable[..., Any]) -> _DependentProperty:  # type: ignore[override]
        """The property of a function, where the decorator was given arguments."""
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


# ---- of one another
class _Derived(Constraint):
    """A constraint made from another one, and as discrete as that."""

    def __init__(self, base_constraint: Constraint) -> None:
        if not isinstance(base_constraint, Constraint):
            raise AssertionError(f"base_constraint must be a Constraint, got {type(base_constraint).__name__}")
        self.base_constraint = base_constraint
        super().__init__()

    is_discrete = computed(lambda self: self.base_constraint.is_discrete)


class _IndependentConstraint(_Derived):
    """Another constraint for each of several dims: an event is valid if all its parts are.

    >>> import wengert as torch
    >>> from wengert.distributions import constraints
    >>> constraints.independent(constraints.positive, 1).check(torch.tensor([[1., 2.], [-1., 2.]]))
    tensor([ True, False])
    """

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        super().__init__(base_constraint)
        if not isinstance(reinterpreted_batch_ndims, int):
            raise AssertionError(
                f"reinterpreted_batch_ndims must be an int, got {type(reinterpreted_batch_ndims).__name__}"
            )
        if reinterpreted_batch_ndims < 0:
            raise AssertionError(f"reinterpreted_batch_ndims must be >= 0, got {reinterpreted_batch_ndims}")
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    event_dim = computed(lambda self: self.base_constraint.event_dim + self.reinterpreted_batch_ndims)

    def check(self, value: Tensor) -> Tensor:
        result = self.base_constraint.check(value)
        kept = result.dim() - self.reinterpreted_batch_ndims
        if kept < 0:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return result.reshape(result.shape[:kept] + (-1,)).all(-1)

    def _arguments(self) -> str:
        return f"{self.base_constraint!r}, {self.reinterpreted_batch_ndims}"


class MixtureSameFamilyConstraint(_Derived):
    """The support of a mixture: valid for every component.

    >>> import wengert as torch
    >>> from wengert.distributions import constraints
    >>> constraints.MixtureSameFamilyConstraint(constraints.positive)
    MixtureSameFamilyConstraint(GreaterThan(lower_bound=0.0))
    """

    event_dim = computed(lambda self: self.base_constraint.event_dim)

    def check(self, value: Tensor) -> Tensor:
        """Whether each event is valid for all components, along the dim that the mixture adds before the event's."""
        result = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        kept = value.dim() - self.event_dim
        if kept < 0:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return result.reshape(result.shape[:kept] + (-1,)).all(-1)

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self.base_constraint!r})"


# ---- numbers
class _Real(Constraint):
    """Any number, infinities too; not nan."""

    def check(self, value: Tensor) -> Tensor:
        return value == value


class _Boolean(Constraint):
    """0 or 1."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value == 0) | (value == 1)


def _whole(value: Tensor) -> Tensor:
    return value % 1 == 0


class _From(Constraint):
    """What has a lower bound."""

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound
        super().__init__()

    def _arguments(self) -> str:
        return f"lower_bound={self.lower_bound}"


class _UpTo(Constraint):
    """What has an upper bound."""

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound
        super().__init__()

    def _arguments(self) -> str:
        return f"upper_bound={self.upper_bound}"


class _Between(Constraint):
    """What has both."""

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        super().__init__()

    def _arguments(self) -> str:
        return f"lower_bound={self.lower_bound}, upper_bound={self.upper_bound}"


class _GreaterThan(_From):
    """``lower_bound < x``."""

    def check(self, value: Tensor) -> Tensor:
        return self.lower_bound < value


class _GreaterThanEq(_From):
    """``lower_bound <= x``."""

    def check(self, value: Tensor) -> Tensor:
        return self.lower_bound <= value


class _IntegerGreaterThan(_From):
    """Whole numbers from ``lower_bound`` on."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return _whole(value) & (value >= self.lower_bound)


class _LessThan(_UpTo):
    """``x < upper_bound``."""

    def check(self, value: Tensor) -> Tensor:
        return value < self.upper_bound


class _IntegerLessThan(_UpTo):
    """Whole numbers up to ``upper_bound``."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return _whole(value) & (value <= self.upper_bound)


class _Interval(_Between):
    """``lower_bound <= x <= upper_bound``."""

    def check(self, value: Tensor) -> Tensor:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Between):
    """``lower_bound <= x < upper_bound``."""

    def check(self, value: Tensor) -> Tensor:
        return (self.lower_bound <= value) & (value < self.upper_bound)


class _IntegerInterval(_Between):
    """Whole numbers from ``lower_bound`` up to ``upper_bound``."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return _whole(value) & (self.lower_bound <= value) & (value <= self.upper_bound)


# ---- vectors
class _OneHot(Constraint):
    """Vectors with one 1 and zeros."""

    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return ((value == 0) | (value == 1)).all(-1) & value.sum(-1).eq(1)


class _Simplex(Constraint):
    """Vectors of nonnegative numbers whose sum is 1, within 1e-6."""

    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return torch.all(value >= 0, dim=-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    """Vectors of nonnegative numbers whose sum is at most ``upper_bound``."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound
        super().__init__()

    def check(self, x: Tensor) -> Tensor:
        return (x >= 0).all(dim=-1) & (x.sum(dim=-1) <= self.upper_bound)


# ---- matrices
class _Matrix(Constraint):
    """A property of the last two dims."""

    event_dim = 2


class _LowerTriangular(_Matrix):
    """Zero above the diagonal."""

    def check(self, value: Tensor) -> Tensor:
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(_LowerTriangular):
    """Zero above the diagonal, positive on it."""

    def check(self, value: Tensor) -> Tensor:
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    """Cholesky factors of correlation matrices: rows of length 1, within ten epsilon for each column."""

    def check(self, value: Tensor) -> Tensor:
        tolerance = torch.finfo(value.dtype).eps * value.size(-1) * 10
        length = torch.linalg.norm(value.detach(), dim=-1)
        return super().check(value) & (length - 1.0).abs().le(tolerance).all(dim=-1)


class _Square(_Matrix):
    """As many rows as columns."""

    def check(self, value: Tensor) -> Tensor:
        return torch.full(value.shape[:-2], value.shape[-2] == value.shape[-1], dtype=torch.bool)


class _Symmetric(_Square):
    """Equal to its transpose, within 1e-6."""

    def check(self, value: Tensor) -> Tensor:
        square_ = super().check(value)
        if not square_.all():
            return square_
        return torch.isclose(value, value.mT, atol=1e-6).all(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    """Symmetric, no eigenvalue below zero."""

    def check(self, value: Tensor) -> Tensor:
        symmetric_ = super().check(value)
        if not symmetric_.all():
            return symmetric_
        return torch.linalg.eigvalsh(value).ge(0).all(-1)


class _PositiveDefinite(_Symmetric):
    """Symmetric, with a Cholesky factor."""

    def check(self, value: Tensor) -> Tensor:
        symmetric_ = super().check(value)
        if not symmetric_.all():
            return symmetric_
        return torch.linalg.cholesky_ex(value).info.eq(0)


# ---- several in a row
class _Joined(Constraint):
    """Constraints, one for each part of a tensor along ``dim``."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        if not all(isinstance(c, Constraint) for c in cseq):
            raise AssertionError("All elements of cseq must be Constraint instances")
        self.cseq = list(cseq)
        self.dim = dim
        super().__init__()

    is_discrete = computed(lambda self: any(c.is_discrete for c in self.cseq))
    event_dim = computed(lambda self: max(c.event_dim for c in self.cseq))

    def _checks(self, value: Tensor) -> list[Tensor]:
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"dim {self.dim} out of range for value with {value.dim()} dimensions")
        return [constraint.check(part) for constraint, part in zip(self.cseq, self._parts(value), strict=False)]

    def _parts(self, value: Tensor) -> Iterator[Tensor]:
        raise NotImplementedError


class _Cat(_Joined):
    """Constraints on parts of the given lengths, as ``torch.cat`` puts them together.

    >>> import wengert as torch
    >>> from wengert.distributions import constraints
    >>> constraints.cat([constraints.positive, constraints.real], lengths=[2, 1]).check(torch.tensor([1., -1., -1.]))
    tensor([ True, False,  True])
    """

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match cseq ({len(self.cseq)})")

    def _parts(self, value: Tensor) -> Iterator[Tensor]:
        start = 0
        for length in self.lengths:
            yield value.narrow(self.dim, start, length)
            start += length

    def check(self, value: Tensor) -> Tensor:
        return torch.cat(self._checks(value), self.dim)


class _Stack(_Joined):
    """Constraints on slices, as ``torch.stack`` puts them together."""

    @property
    def event_dim(self) -> int:
        dim = super().event_dim
        return dim + 1 if self.dim + dim < 0 else dim

    def _parts(self, value: Tensor) -> Iterator[Tensor]:
        return (value.select(self.dim, i) for i in range(value.size(self.dim)))

    def check(self, value: Tensor) -> Tensor:
        return torch.stack(self._checks(value), self.dim)


# ---- by their names
dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack

__all__ = own_names(globals())  # noqa: PLE0605
