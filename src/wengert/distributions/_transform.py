"""The base class of transforms, and transforms composed of others: inverse, chain, independent, reshape, cat, stack."""

from __future__ import annotations

import functools
import operator
import weakref
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any

import wengert as torch

from .._base.constants import Size
from .._tape.tensor import Tensor
from . import constraints
from .utils import _sum_rightmost, computed, lazy_property


class Transform:  # noqa: PLW1641  not hashable, as two may be equal by their tensors
    """An invertible map with the logarithm of its Jacobian's determinant.

    A subclass gives ``domain`` and ``codomain`` (constraints), ``bijective``, ``_call``, ``_inverse`` and, if it is
    bijective, ``log_abs_det_jacobian``; ``sign`` if it is a monotone map of numbers. One that is not bijective has at
    least ``t(t.inv(t(x))) == t(x)``.

    With ``cache_size=1`` the latest pair of input and output is kept: the inverse of an output is then the very input
    that it came from, where computing it is expensive or loses digits.

    >>> import wengert as torch
    >>> t = torch.distributions.ExpTransform()
    >>> x = torch.tensor([0., 1.])
    >>> t(x), t.inv(torch.ones(2)), t.log_abs_det_jacobian(x, t(x))
    (tensor([1.0000, 2.7183]), tensor([0., 0.]), tensor([0., 1.]))
    """

    bijective: Any = False
    domain: Any
    codomain: Any
    _forward: Any = None  # what this one is the inverse of

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._inv: weakref.ref[Transform] | None = None
        if cache_size:
            self._cached_x_y: tuple[Any, Any] = (None, None)
        super().__init__()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_inv": None}  # a weak reference

    @property
    def event_dim(self) -> int:
        """The number of dims of an event. Raises ValueError if domain and codomain differ in it."""
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self) -> Transform:
        """The inverse; ``t.inv.inv is t``."""
        if self._forward is not None:
            return self._forward
        inverse = None if self._inv is None else self._inv()
        if inverse is None:
            inverse = self._inverted()
            self._inv = weakref.ref(inverse)  # the inverse holds this one: the other way round it would be a cycle
        return inverse

    def _inverted(self) -> Transform:
        return _InverseTransform(self)

    @property
    def sign(self) -> Any:
        """1 where the map of numbers is increasing, -1 where it is decreasing."""
        raise NotImplementedError

    def with_cache(self, cache_size: int = 1) -> Transform:
        """The same transform with that cache."""
        kind = type(self)
        if cache_size != self._cache_size:
            if kind.__init__ is not Transform.__init__:  # who knows what else it takes
                raise NotImplementedError(f"{kind}.with_cache is not implemented")
            return kind(cache_size=cache_size)
        return self

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __call__(self, x: Tensor) -> Tensor:
        """The image of ``x``."""
        if not self._cache_size:
            return self._call(x)
        known, y = self._cached_x_y
        if x is not known:
            y = self._call(x)
            self._cached_x_y = x, y
        return y

    def _inv_call(self, y: Tensor) -> Tensor:
        if not self._cache_size:
            return self._inverse(y)
        x, known = self._cached_x_y
        if y is not known:
            x = self._inverse(y)
            self._cached_x_y = x, y
        return x

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """``log |dy/dx|``, one number for each event, given the input and the output."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}()"

    def forward_shape(self, shape: Sequence[int]) -> Any:
        """The output's shape for an input of this shape."""
        return shape

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        """The input's shape for an output of this shape."""
        return shape


class Parametric(Transform):
    """A transform that is made again, with its arguments, to be given another cache."""

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else type(self)(*self._arguments(), cache_size=cache_size)

    def _arguments(self) -> tuple[Any, ...]:
        raise NotImplementedError


class _InverseTransform(Transform):  # noqa: PLW1641  as above
    """The inverse of a transform: ``t.inv``."""

    def __init__(self, transform: Transform) -> None:
        super().__init__(cache_size=transform._cache_size)
        self._forward = transform

    domain = constraints.dependent_property(lambda self: self._forward.codomain, is_discrete=False)
    codomain = constraints.dependent_property(lambda self: self._forward.domain, is_discrete=False)
    bijective = computed(lambda self: self._forward.bijective)
    sign = computed(lambda self: self._forward.sign)

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self.inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._forward == other._forward

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self._forward!r})"

    def __call__(self, x: Tensor) -> Tensor:
        return self._forward._inv_call(x)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._forward.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Sequence[int]) -> Any:
        return self._forward.inverse_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        return self._forward.forward_shape(shape)


class ComposeTransform(Transform):  # noqa: PLW1641  as above
    """Transforms one after the other, the first of ``parts`` first.

    >>> import wengert as torch
    >>> from wengert.distributions import AffineTransform, ComposeTransform, ExpTransform
    >>> ComposeTransform([AffineTransform(0., 2.), ExpTransform()])(torch.tensor([0., 1.]))
    tensor([1.0000, 7.3891])
    """

    def __init__(self, parts: list[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        if not self.parts:
            return constraints.real
        backwards = [(part.codomain, part.domain) for part in reversed(self.parts)]
        return _with_event_dim(self.parts[0].domain, _event_dim_behind(backwards), "domain")

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        if not self.parts:
            return constraints.real
        forwards = [(part.domain, part.codomain) for part in self.parts]
        return _with_event_dim(self.parts[-1].codomain, _event_dim_behind(forwards), "codomain")

    @lazy_property
    def bijective(self) -> bool:
        return all(p.bijective for p in self.parts)

    @lazy_property
    def sign(self) -> Any:
        return functools.reduce(operator.mul, (p.sign for p in self.parts), 1)

    def _inverted(self) -> Transform:
        inverse = ComposeTransform([p.inv for p in reversed(self.parts)])
        inverse._forward = self
        return inverse

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else ComposeTransform(self.parts, cache_size=cache_size)

    def __call__(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if not self.parts:
            return torch.zeros_like(x)
        values = [*accumulate(self.parts[:-1], lambda value, part: part(value), initial=x), y]
        event_dim = self.domain.event_dim
        terms = []
        for part, (before, after) in zip(self.parts, pairwise(values), strict=True):
            batch_dims = event_dim - part.domain.event_dim  # of this part, but not of the whole
            terms.append(_sum_rightmost(part.log_abs_det_jacobian(before, after), batch_dims))
            event_dim = batch_dims + part.codomain.event_dim
        return functools.reduce(operator.add, terms)

    def forward_shape(self, shape: Sequence[int]) -> Any:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"


def _event_dim_behind(maps: list[tuple[Any, Any]]) -> int:
    """The event's dims behind a chain of maps, each (from, to), of which none may get fewer than it takes."""
    event_dim: int = maps[0][0].event_dim
    for source, target in maps:
        event_dim = max(event_dim - source.event_dim, 0) + target.event_dim
    return event_dim


def _with_event_dim(constraint: Any, event_dim: int, name: str) -> Any:
    if event_dim < constraint.event_dim:
        raise AssertionError(f"event_dim {event_dim} must be >= {name}.event_dim {constraint.event_dim}")
    extra = event_dim - constraint.event_dim
    return constraints.independent(constraint, extra) if extra else constraint


class IndependentTransform(Parametric):
    """A transform of which the last ``reinterpreted_batch_ndims`` dims, in front of the event's, belong to the event.

    The values are the base transform's; ``log_abs_det_jacobian`` is summed over these dims.

    >>> import wengert as torch
    >>> from wengert.distributions import ExpTransform, IndependentTransform
    >>> x = torch.tensor([1., 2.])
    >>> IndependentTransform(ExpTransform(), 1).log_abs_det_jacobian(x, x.exp())
    tensor(3.)
    """

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def _arguments(self) -> tuple[Any, ...]:
        return self.base_transform, self.reinterpreted_batch_ndims

    domain = constraints.dependent_property(
        lambda self: constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims),
        is_discrete=False,
    )

    codomain = constraints.dependent_property(
        lambda self: constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims),
        is_discrete=False,
    )

    bijective = computed(lambda self: self.base_transform.bijective)
    sign = computed(lambda self: self.base_transform.sign)

    def _call(self, x: Tensor) -> Tensor:
        if x.dim() < self.domain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform(x)

    def _inverse(self, y: Tensor) -> Tensor:
        if y.dim() < self.codomain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return _sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"

    def forward_shape(self, shape: Sequence[int]) -> Any:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        return self.base_transform.inverse_shape(shape)


class ReshapeTransform(Parametric):
    """The event reshaped, from ``in_shape`` to ``out_shape``; its Jacobian is 1.

    Raises:
        ValueError: the shapes differ in size.

    >>> import wengert as torch
    >>> torch.distributions.ReshapeTransform((4,), (2, 2))(torch.zeros(3, 4)).shape
    torch.Size([3, 2, 2])
    """

    bijective = True

    def __init__(self, in_shape: Sequence[int], out_shape: Sequence[int], cache_size: int = 0) -> None:
        self.in_shape = Size(in_shape)
        self.out_shape = Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size=cache_size)

    def _arguments(self) -> tuple[Any, ...]:
        return self.in_shape, self.out_shape

    domain = constraints.dependent_property(lambda self: constraints.independent(constraints.real, len(self.in_shape)))
    codomain = constraints.dependent_property(
        lambda self: constraints.independent(constraints.real, len(self.out_shape))
    )

    def _call(self, x: Tensor) -> Tensor:
        return x.reshape(x.shape[: x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape(y.shape[: y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    def forward_shape(self, shape: Sequence[int]) -> Any:
        return _replaced(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        return _replaced(shape, self.out_shape, self.in_shape)


def _replaced(shape: Sequence[int], old: Size, new: Size) -> Any:
    cut = len(shape) - len(old)
    if cut < 0:
        raise ValueError("Too few dimensions on input")
    if tuple(shape[cut:]) != old:
        raise ValueError(f"Shape mismatch: expected {shape[cut:]} but got {old}")
    return Size(shape[:cut]) + new


class _JoinTransform(Transform):
    """Transforms for the parts of a tensor along ``dim``; subclasses say what the parts are."""

    transforms: list[Transform]

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        if not all(isinstance(t, Transform) for t in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size=cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.dim = dim

    bijective = computed(lambda self: all(t.bijective for t in self.transforms))

    def _check(self, t: Tensor, name: str, what: str | None = None) -> None:
        if not -t.dim() <= self.dim < t.dim():
            raise AssertionError(f"dim {self.dim} out of range for {what or 'tensor'} with {t.dim()} dimensions")
        expected, wording = self._length()
        if t.size(self.dim) != expected:
            raise AssertionError(f"{name}.size({self.dim}) = {t.size(self.dim)} must equal {wording} {expected}")

    def _length(self) -> tuple[int, str]:
        """The size that a tensor must have along ``dim``, and what it is called in an error."""
        raise NotImplementedError

    def _parts(self, t: Tensor) -> Iterator[Tensor]:
        raise NotImplementedError

    def _join(self, parts: list[Tensor]) -> Tensor:
        raise NotImplementedError

    def _call(self, x: Tensor) -> Tensor:
        self._check(x, "x")
        return self._join([t(part) for t, part in zip(self.transforms, self._parts(x), strict=True)])

    def _inverse(self, y: Tensor) -> Tensor:
        self._check(y, "y")
        return self._join([t.inv(part) for t, part in zip(self.transforms, self._parts(y), strict=True)])

    def _jacobians(self, x: Tensor, y: Tensor) -> list[Tensor]:
        self._check(x, "x", "x")
        self._check(y, "y", "y")
        parts = zip(self.transforms, self._parts(x), self._parts(y), strict=True)
        return [t.log_abs_det_jacobian(a, b) for t, a, b in parts]


class CatTransform(_JoinTransform):
    """A transform for each part along ``dim``, of the given ``lengths`` (1 each if none are given).

    >>> import wengert as torch
    >>> from wengert.distributions import CatTransform, ExpTransform, identity_transform
    >>> CatTransform([ExpTransform(), identity_transform], lengths=[1, 2])(torch.zeros(3))
    tensor([1., 0., 0.])
    """

    def __init__(
        self, tseq: Sequence[Transform], dim: int = 0, lengths: Sequence[int] | None = None, cache_size: int = 0
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})")

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    @lazy_property
    def event_dim(self) -> int:
        return max(t.event_dim for t in self.transforms)

    @lazy_property
    def length(self) -> int:
        """The size along ``dim``."""
        return sum(self.lengths)

    def _length(self) -> tuple[int, str]:
        return self.length, "length"

    def _parts(self, t: Tensor) -> Iterator[Tensor]:
        start = 0
        for length in self.lengths:
            yield t.narrow(self.dim, start, length)
            start += length

    def _join(self, parts: list[Tensor]) -> Tensor:
        return torch.cat(parts, dim=self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        terms = [
            _sum_rightmost(term, self.event_dim - t.event_dim)
            for t, term in zip(self.transforms, self._jacobians(x, y), strict=True)
        ]
        dim = (self.dim - x.dim() if self.dim >= 0 else self.dim) + self.event_dim
        return torch.cat(terms, dim=dim) if dim < 0 else functools.reduce(operator.add, terms)

    domain = constraints.dependent_property(
        lambda self: constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)
    )

    codomain = constraints.dependent_property(
        lambda self: constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)
    )


class StackTransform(_JoinTransform):
    """A transform for each slice along ``dim``.

    >>> import wengert as torch
    >>> from wengert.distributions import ExpTransform, StackTransform, identity_transform
    >>> StackTransform([ExpTransform(), identity_transform], dim=1)(torch.zeros(3, 2))
    tensor([[1., 0.],
            [1., 0.],
            [1., 0.]])
    """

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else StackTransform(self.transforms, self.dim, cache_size)

    def _length(self) -> tuple[int, str]:
        return len(self.transforms), "len(transforms)"

    def _parts(self, t: Tensor) -> Iterator[Tensor]:
        return (t.select(self.dim, i) for i in range(t.size(self.dim)))

    def _join(self, parts: list[Tensor]) -> Tensor:
        return torch.stack(parts, dim=self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self._join(self._jacobians(x, y))

    domain = constraints.dependent_property(
        lambda self: constraints.stack([t.domain for t in self.transforms], self.dim)
    )

    codomain = constraints.dependent_property(
        lambda self: constraints.stack([t.codomain for t in self.transforms], self.dim)
    )
