"""``Distribution``, the base class of all distributions: shapes, validation, expansion, printing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import wengert as torch

from .._base.constants import Size
from .._base.errors import noted, warn
from .._base.grad_mode import no_grad
from .._tape.tensor import Tensor
from . import constraints
from .utils import lazy_property

__all__ = ["Distribution"]


class Distribution:
    """A distribution, or a batch of them.

    A sample has the shape ``sample_shape + batch_shape + event_shape``: ``batch_shape`` tells the distributions of a
    batch apart, ``event_shape`` is the shape of one draw.

    A subclass says in ``arg_constraints`` what its parameters must fulfil and in ``support`` where its samples lie.
    Both are checked, the latter by ``log_prob`` and ``cdf``, unless ``validate_args=False`` is given or set as the
    default; the default is True, and False under ``python -O``.

    A distribution that is given by its parameters names them in ``_expands`` and what it has besides in ``_keeps``;
    ``expand`` then needs no code of its own.

    >>> import wengert as torch
    >>> _ = torch.manual_seed(0)
    >>> d = torch.distributions.Normal(torch.zeros(3), 1.)
    >>> d.batch_shape, d.event_shape, d.sample((5,)).shape
    (torch.Size([3]), torch.Size([]), torch.Size([5, 3]))
    """

    has_rsample: bool = False
    has_enumerate_support: Any = False
    _validate_args: bool = __debug__
    _expands: tuple[str, ...] = ()
    _keeps: tuple[str, ...] = ()

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions check their arguments where they are not told.

        Raises:
            ValueError: not a bool.

        >>> import wengert as torch
        >>> torch.distributions.Distribution.set_default_validate_args(False)
        >>> torch.distributions.Normal(0., -1.)
        Normal(loc: 0.0, scale: -1.0)
        >>> torch.distributions.Distribution.set_default_validate_args(True)
        """
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: Sequence[int] = Size(),
        event_shape: Sequence[int] = Size(),
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape = batch_shape
        self._event_shape = event_shape
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self) -> None:
        try:
            found = self.arg_constraints
        except NotImplementedError:
            warn(
                f"{self.__class__} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or "
                "initialize the distribution with `validate_args=False` to turn off validation."
            )
            return
        for name, constraint in found.items():
            if constraints.is_dependent(constraint) or (name not in self.__dict__ and self._is_lazy(name)):
                continue
            value = getattr(self, name)
            if not torch._is_all_true(constraint.check(value)):
                raise noted(
                    ValueError(
                        f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of "
                        f"distribution {self!r} to satisfy the constraint {constraint!r}, but found invalid values:"
                        f"\n{value}"
                    ),
                    f"What to do: map an unconstrained tensor with transform_to({type(self).__name__}."
                    f"arg_constraints['{name}']); validate_args=False skips the check.",
                )

    def _is_lazy(self, name: str) -> bool:
        return isinstance(getattr(type(self), name, None), lazy_property)

    # ---- expansion
    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Self:
        """The same distribution for a larger batch, to which its parameters are expanded without a copy.

        ``_instance``: the object to fill, which a subclass that extends ``expand`` hands over.

        >>> import wengert as torch
        >>> torch.distributions.Normal(0., torch.ones(2)).expand((3, 2)).batch_shape
        torch.Size([3, 2])
        """
        owners = self._owners()
        if not owners:
            raise NotImplementedError
        new = self._expand_parameters(owners[0], batch_shape, _instance)
        base: Any = super(owners[-1], new)
        base.__init__(Size(batch_shape), self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _owners(self) -> list[Any]:
        """The classes that say what an expansion consists of, the nearest first: it decides."""
        return [c for c in type(self).__mro__ if c is not Distribution and "_expands" in c.__dict__]

    def _expand_parameters(self, owner: Any, batch_shape: Sequence[int], _instance: Any) -> Any:
        """A new instance, not initialised yet, with the parameters that ``owner`` names."""
        new = self._get_checked_instance(owner, _instance)
        rank = len(self._batch_shape)
        for name in owner._expands:
            if name in self.__dict__ or not self._is_lazy(name):
                value = getattr(self, name)
                own = value.batch_shape if isinstance(value, Distribution) else value.shape
                setattr(new, name, value.expand(Size(batch_shape) + tuple(own[rank:])))
        for name in owner._keeps:
            setattr(new, name, getattr(self, name))
        return new

    def _get_checked_instance(self, cls: Any, _instance: Any = None) -> Any:
        if _instance is None and type(self).__init__ != cls.__init__:
            raise NotImplementedError(
                f"Subclass {self.__class__.__name__} of {cls.__name__} that defines a custom __init__ method must "
                "also define a custom .expand() method."
            )
        return self.__new__(type(self)) if _instance is None else _instance

    # ---- what it is made of
    @property
    def batch_shape(self) -> Size:
        """The shape of the batch of distributions."""
        return self._batch_shape  # type: ignore[return-value]

    @property
    def event_shape(self) -> Size:
        """The shape of one draw from one distribution."""
        return self._event_shape  # type: ignore[return-value]

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        """The constraint that each parameter must fulfil, by name."""
        raise NotImplementedError

    @property
    def support(self) -> constraints.Constraint | None:
        """The constraint that samples fulfil."""
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        """The mean: ``batch_shape + event_shape``."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """The most probable value: ``batch_shape + event_shape``."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance of each element of a draw: ``batch_shape + event_shape``."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The square root of the variance."""
        return self.variance.sqrt()

    # ---- draws
    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        """Draws, without a gradient: ``sample_shape + batch_shape + event_shape``."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        """Draws that are differentiable with respect to the parameters if ``has_rsample``, of ``sample``'s shape."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """``n`` draws; deprecated, ``sample((n,))`` does the same."""
        warn("`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", FutureWarning)
        return self.sample(Size((n,)))

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values of a distribution with finitely many, along a new first dim.

        With ``expand`` they are repeated for the batch: ``(count,) + batch_shape + event_shape``; without, the batch's
        dims are 1.
        """
        raise NotImplementedError

    # ---- functions
    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density or of the probability at ``value``, one number for each event."""
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of a draw up to ``value``."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """The quantiles of the probabilities ``value``: the inverse of ``cdf``."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """The entropy in nats: ``batch_shape``."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """The exponential of the entropy."""
        return torch.exp(self.entropy())

    # ---- for subclasses
    def _extended_shape(self, sample_shape: Sequence[int] = Size()) -> Size:
        """The shape of ``sample(sample_shape)``."""
        return Size((*Size(sample_shape), *self._batch_shape, *self._event_shape))

    def _check_sample(self, value: Tensor) -> None:
        """``_validate_sample``, unless that is turned off."""
        if self._validate_args:
            self._validate_sample(value)

    def _validate_sample(self, value: Tensor) -> None:
        """Raises ValueError if ``value`` is not a tensor of a fitting shape within the support."""
        if not isinstance(value, Tensor):
            raise noted(
                ValueError("The value argument to log_prob must be a Tensor"),
                f"Found: {type(value).__name__}. What to do: torch.tensor(value).",
            )
        shape, event_shape = value.shape, self._event_shape
        if shape[len(shape) - len(event_shape) :] != event_shape:
            raise ValueError(
                f"The right-most size of value must match event_shape: {value.size()} vs {self._event_shape}."
            )
        expected = tuple(self._batch_shape) + tuple(event_shape)
        for i, j in zip(reversed(shape), reversed(expected), strict=False):
            if i != 1 and j != 1 and i != j:
                raise ValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {value.size()} vs {Size(expected)}."
                )
        self._check_support(value)

    def _check_support(self, value: Tensor) -> None:
        try:
            support = self.support
        except NotImplementedError:
            warn(
                f"{self.__class__} does not define `support` to enable sample validation. Please initialize the "
                "distribution with `validate_args=False` to turn off validation."
            )
            return
        if support is None:
            raise AssertionError("support is unexpectedly None")
        if not torch._is_all_true(support.check(value)):
            raise noted(
                ValueError(
                    f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the "
                    f"support ({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
                ),
                "What to do: validate_args=False skips the check; the result is then what the formula gives.",
            )

    def __repr__(self) -> str:
        kept = self.__dict__
        shown = [
            f"{name}: {kept[name] if kept[name].numel() == 1 else kept[name].size()}"
            for name in self.arg_constraints
            if name in kept
        ]
        return f"{self.__class__.__name__}({', '.join(shown)})"
