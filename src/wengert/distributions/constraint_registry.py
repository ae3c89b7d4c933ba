"""From constraints to transforms onto them: ``biject_to`` and ``transform_to``.

``biject_to(constraint)`` is a bijection of unconstrained tensors onto the region, with a Jacobian, for samplers and
variational inference. ``transform_to(constraint)`` need not be a bijection: it is what an optimizer should work
through.

>>> import wengert as torch
>>> from wengert.distributions import constraints, transform_to
>>> transform_to(constraints.interval(-1., 1.))(torch.tensor([-100., 0., 100.]))
tensor([-1.0000,  0.0000,  1.0000])
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from . import constraints, transforms
from .transforms import Transform
from .utils import NUMBER

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]

Factory = Callable[[Any], Transform]


class ConstraintRegistry:
    """Functions from a constraint to a transform, by the constraint's class.

    >>> import wengert as torch
    >>> from wengert.distributions import constraint_registry, constraints, transforms
    >>> registry = constraint_registry.ConstraintRegistry()
    >>> @registry.register(constraints.positive)
    ... def positive(constraint):
    ...     return transforms.SoftplusTransform()
    >>> registry(constraints.positive)
    SoftplusTransform()
    """

    def __init__(self) -> None:
        self._registry: dict[type, Factory] = {}
        super().__init__()

    def register(self, constraint: Any, factory: Factory | None = None) -> Any:
        """Enter a function for a constraint's class, given as class or by an instance; a decorator without ``factory``.

        Raises:
            TypeError: it is no constraint.
        """
        if factory is None:
            return functools.partial(self.register, constraint)
        kind = constraint if isinstance(constraint, type) else type(constraint)
        if not issubclass(kind, constraints.Constraint):
            raise TypeError(f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}")
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> Transform:
        """The transform onto a constraint's region.

        Raises:
            NotImplementedError: there is none for its class.
        """
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()
BOTH = (biject_to, transform_to)


def _shifted(bound: Any, scale: Any, to_positive: Transform) -> Transform:
    return transforms.ComposeTransform([to_positive, transforms.AffineTransform(bound, scale)])


def _between(constraint: Any) -> Transform:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, NUMBER) and isinstance(high, NUMBER) and low == 0 and high == 1:
        return transforms.SigmoidTransform()
    return _shifted(low, high - low, transforms.SigmoidTransform())


def _independent(registry: ConstraintRegistry, constraint: Any) -> Transform:
    base = registry(constraint.base_constraint)
    return transforms.IndependentTransform(base, constraint.reinterpreted_batch_ndims)


def _cat(registry: ConstraintRegistry, constraint: Any) -> Transform:
    return transforms.CatTransform([registry(c) for c in constraint.cseq], constraint.dim, constraint.lengths)


def _stack(registry: ConstraintRegistry, constraint: Any) -> Transform:
    return transforms.StackTransform([registry(c) for c in constraint.cseq], constraint.dim)


_FACTORIES: tuple[tuple[tuple[ConstraintRegistry, ...], tuple[Any, ...], Factory], ...] = (
    (BOTH, (constraints.real,), lambda c: transforms.identity_transform),
    (
        BOTH,
        (constraints.greater_than, constraints.greater_than_eq),  # positive and nonnegative are among them
        lambda c: _shifted(c.lower_bound, 1, transforms.ExpTransform()),
    ),
    (BOTH, (constraints.less_than,), lambda c: _shifted(c.upper_bound, -1, transforms.ExpTransform())),
    (BOTH, (constraints.interval, constraints.half_open_interval), _between),
    (BOTH, (constraints.corr_cholesky,), lambda c: transforms.CorrCholeskyTransform()),
    ((biject_to,), (constraints.simplex,), lambda c: transforms.StickBreakingTransform()),
    ((transform_to,), (constraints.simplex,), lambda c: transforms.SoftmaxTransform()),
    ((transform_to,), (constraints.lower_cholesky,), lambda c: transforms.LowerCholeskyTransform()),
    (
        (transform_to,),
        (constraints.positive_definite, constraints.positive_semidefinite),
        lambda c: transforms.PositiveDefiniteTransform(),
    ),
)
for _registries, _found, _factory in _FACTORIES:
    for _registry in _registries:
        for _constraint in _found:
            _registry.register(_constraint, _factory)
for _registry in BOTH:  # these look up their parts in the same registry
    _registry.register(constraints.independent, functools.partial(_independent, _registry))
    _registry.register(constraints.cat, functools.partial(_cat, _registry))
    _registry.register(constraints.stack, functools.partial(_stack, _registry))
del _registries, _found, _factory, _registry, _constraint
