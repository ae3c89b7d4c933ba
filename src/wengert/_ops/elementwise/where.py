"""Selection: ``where``, ``clamp``, ``maximum``, ``minimum``, and ``nan_to_num``.

The cotangent goes to the operand that was chosen; on a tie ``maximum`` and ``minimum`` halve it, as PyTorch does.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..._arrays.large import limited
from ..._arrays.layouts import iterated
from ..._base.dtypes import BOOL, BY_NUMPY, COMPLEX, FLOATING, INEXACT, PYTHON_NUMBERS, REAL, REAL_NUMBERS
from ..._base.errors import warn
from ..._base.limits import finfo
from ..._base.registry import PUBLIC, REGISTRY, public, publish
from ..._kinds.elementwise import binary, parametric
from ..._kinds.fronts import in_usual_call
from ..._kinds.general import general
from ..._kinds.keywords import with_out
from ..._kinds.out import CONVERTIBLE, SAME, RuleOf, exactly, write_out
from ..._kinds.slow_path import cast_operand, misfit, no_complex_grad, not_implemented
from ..._tape.error_text import expect_tensor, not_a_tensor
from ..._tape.inplace import inplace_of, inplace_with_numbers
from ..._tape.promotion import cast, common_dtype, logical_dtype
from ..._tape.tensor import Tensor, wrap
from ._common import NOTHING, no_complex, number_or_item, plain_number


# ---- where
@general(
    layout=iterated,
    tensors=3,
    grad={
        "self": lambda xp, g, condition: xp.where(condition, g, 0),
        "other": lambda xp, g, condition: xp.where(condition, 0, g),
    },
    batch="elementwise",
    holomorphic=False,
    dtypes="fcib",
    samples=lambda rng: [
        ((rng.random((3,)) > 0.5, rng.standard_normal(3), rng.standard_normal(3)), ()),
        ((rng.random((2, 1)) > 0.5, rng.standard_normal((2, 3)), rng.standard_normal(3)), ()),
        ((np.array(True), rng.standard_normal(()), rng.standard_normal((2,))), ()),
    ],
)
def where(lib, condition, self, other):
    """The element of ``self`` where the condition holds, else the element of ``other``."""
    # formulas pass the number 0, and NumPy takes longer to convert a number than to select
    if type(other) is int and other == 0 and type(self) not in PYTHON_NUMBERS:
        other = lib.ZEROS[self.dtype]
    elif type(self) is int and self == 0 and type(other) not in PYTHON_NUMBERS:
        self = lib.ZEROS[other.dtype]
    return lib.where(condition, self, other)


@general(
    layout=iterated,
    tensors=2,
    grad={"grad": lambda xp, g, mask: xp._masked(g, mask, 0)},
    batch="elementwise",
    holomorphic=False,
    samples=lambda rng: [((rng.standard_normal((2, 3)), rng.random((2, 3)) > 0.5), (0,))],
)
def _masked(lib, grad, mask, value):
    """A cotangent with ``value`` where the mask holds; it lies as the cotangent, the first operand."""
    return lib.where(mask, lib.ZEROS[grad.dtype] if value == 0 else value, grad)


class _NotGiven:
    """Stands for an operand of ``where`` that is not given, which differs from None."""

    def __repr__(self) -> str:
        return "..."


NOT_GIVEN: Any = _NotGiven()


@public("torch.where")
def where_public(
    condition: Tensor, input: Any = NOT_GIVEN, other: Any = NOT_GIVEN, *, out: Tensor | None = None
) -> Any:
    """The element of ``input`` where ``condition`` holds, else the element of ``other``; all three broadcast.

    ``input`` and ``other`` are tensors or numbers. With ``condition`` alone it is ``condition.nonzero(as_tuple=True)``.

    >>> x = torch.tensor([-1., 2.])
    >>> torch.where(x > 0, x, 0.)
    tensor([0., 2.])
    """
    if out is None and isinstance(condition, Tensor) and condition._payload.dtype is BOOL:
        if isinstance(input, Tensor):
            if isinstance(other, Tensor):
                if input._payload.dtype is other._payload.dtype:
                    return where(condition, input, other)
            elif (
                type(other) in REAL_NUMBERS and type(input._payload) is np.ndarray and input._payload.dtype in FLOATING
            ):
                return where(condition, input, wrap(np.array(other, input._payload.dtype)))
    given = [value for value in (condition, input, other) if value is not NOT_GIVEN]
    if not isinstance(condition, Tensor) or len(given) == 2 or input is None or other is None:
        raise misfit("where", *given)
    if input is NOT_GIVEN:
        return PUBLIC["torch"]["nonzero"](condition, as_tuple=True)
    if out is not None:
        if not (isinstance(input, Tensor) and isinstance(other, Tensor)):
            raise misfit("where", *given)
        rule = exactly("Expected out type to be {Result} but got {Out}")
        return write_out(out, where_public, (condition, input, other), None, rule)
    return where(_condition(condition), *_common(input, other, "where"))


def _condition(condition: Tensor) -> Tensor:
    dtype = logical_dtype(condition)
    if dtype is BOOL:
        return condition
    if dtype == np.uint8:
        warn(
            "where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future "
            "version of PyTorch. Use a boolean condition instead."
        )
        return cast(condition, BOOL)
    raise RuntimeError(
        f"where expected condition to be a boolean tensor, but got a tensor with dtype {BY_NUMPY[dtype].scalar_name}"
    )


def _common(x: Any, y: Any, name: str) -> tuple[Any, Any]:
    """Convert two tensors or numbers to their common dtype; a number stays a number beside a floating tensor only."""
    tx, ty = isinstance(x, Tensor), isinstance(y, Tensor)
    if tx and ty and x._payload.dtype is y._payload.dtype:
        return x, y
    x, y = (t if isinstance(t, Tensor) else number_or_item(t) for t in (x, y))
    for t in (x, y):
        if not isinstance(t, Tensor) and type(t) not in PYTHON_NUMBERS:
            raise not_a_tensor(name, "input", 2, t)
    dtype = common_dtype((x, y))
    numbers_stay = dtype in INEXACT and (tx or ty)
    return tuple(
        cast(t, dtype) if isinstance(t, Tensor) else t if numbers_stay else cast_operand(t, dtype) for t in (x, y)
    )


@public("Tensor.where")
def where_method(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """``self`` where the condition holds, else ``other``."""
    return where_public(condition, self, other)


# ---- clamp
def _inside(self: Any, min: Any, max: Any) -> Any:
    if min is None:
        return self <= max
    return self >= min if max is None else (self >= min) & (self <= max)


@parametric(
    grad=lambda xp, g, self, min, max: xp.where(_inside(self, min, max), g, 0),
    node="ClampBackward1",
    dtypes="fi",
    samples=[((3, 4), (-0.5, 0.5)), ((3,), (None, 0.25)), ((), (0.25, None)), ((0,), (0.0, 1.0))],
)
def _clamp(lib, self, min, max):
    """Each element limited to ``min`` and ``max``."""
    return lib.limited(self, min, max)


@parametric(
    grad=lambda xp, g, self, min: xp.where(self >= min, g, 0), dtypes="fi", samples=[((3, 4), (-0.5,)), ((), (0.25,))]
)
def _clamp_min(lib, self, min):
    """Each element limited from below by ``min``."""
    return lib.limited(self, min, None)


@parametric(
    grad=lambda xp, g, self, max: xp.where(self <= max, g, 0), dtypes="fi", samples=[((3, 4), (-0.5,)), ((), (0.25,))]
)
def _clamp_max(lib, self, max):
    """Each element limited from above by ``max``."""
    return lib.limited(self, None, max)


def _clamp_min_grad(xp: Any, g: Any, self: Any, min: Any, max: Any) -> Any:
    return xp.where(self < min if max is None else (min < max) & (self < min), g, 0)


def _clamp_max_grad(xp: Any, g: Any, self: Any, min: Any, max: Any) -> Any:
    return xp.where(self > max if min is None else (self > max) | (max < min), g, 0)


@general(
    layout=iterated,
    tensors=3,
    grad={
        "self": lambda xp, g, self, min, max: xp.where(_inside(self, min, max), g, 0),
        "min": _clamp_min_grad,
        "max": _clamp_max_grad,
    },
    promote=True,
    batch="elementwise",
    node="ClampBackward0",
    dtypes="fi",
    samples=lambda rng: [
        ((rng.standard_normal((3, 4)), rng.random((3, 1)) - 1, rng.random(4)), ()),
        ((rng.standard_normal(3), None, rng.random(3)), ()),
        ((rng.standard_normal(3), rng.random(()), None), ()),
    ],
)
def _clamp_tensors(lib, self, min, max):
    """Each element limited to the elements of ``min`` and ``max``."""
    return lib.limited(self, min, max)


@binary(
    self=lambda xp, g, self, other: xp.where(self >= other, g, 0),
    other=lambda xp, g, self, other: xp.where(self < other, g, 0),
    names="",
    libname="maximum",
    node="ClampMinBackward1",
    inplace=False,
    dtypes="fi",
)
def _clamp_min_tensor(input, other):
    """The larger of each pair of elements; the first one on a tie."""


@binary(
    self=lambda xp, g, self, other: xp.where(self <= other, g, 0),
    other=lambda xp, g, self, other: xp.where(self > other, g, 0),
    names="",
    libname="minimum",
    node="ClampMaxBackward1",
    inplace=False,
    dtypes="fi",
)
def _clamp_max_tensor(input, other):
    """The smaller of each pair of elements; the first one on a tie."""


def _bound(value: Any, dtype: Any) -> Any:
    """A limit as a number that fits the dtype."""
    if value is None or dtype in INEXACT:
        return value
    from ..create.filled import number  # a higher module of this room

    return number(number_or_item(value), dtype)[()]


LIMITS = frozenset((int, float, type(None)))


def _check_clamped(input: Any, name: str) -> None:
    if logical_dtype(expect_tensor(name, "input", 1, input)) in COMPLEX:
        raise NotImplementedError(f"{name} is not supported for complex types")


@public("torch.clamp torch.clip Tensor.clamp Tensor.clip")
@partial(
    in_usual_call,
    name="_clamp",
    values="min, max",
    unless='a.dtype.kind != "f" or min is max or not {type(min), type(max)} <= LIMITS',
    LIMITS=LIMITS,
)
def clamp(input: Tensor, min: Any = None, max: Any = None, *, out: Tensor | None = None) -> Tensor:
    """Each element limited to ``min`` and ``max``, numbers or tensors that broadcast; ``max`` if min > max.

    >>> torch.clamp(torch.tensor([-2., 0.5, 3.]), 0, 1)
    tensor([0.0000, 0.5000, 1.0000])
    """
    if out is not None:
        bounds = isinstance(min, Tensor) or isinstance(max, Tensor)
        return write_out(out, clamp, (input, min, max), None, None if bounds else SAME)
    tensor_min, tensor_max = isinstance(min, Tensor), isinstance(max, Tensor)
    if not tensor_min and not tensor_max:
        _check_clamped(input, "clamp")
        if min is None and max is None:
            raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
        for bound in (min, max):
            if bound is not None and type(number_or_item(bound)) not in PYTHON_NUMBERS:
                raise misfit("clamp", input, min, max)
        if input._payload.dtype not in FLOATING:
            input, min, max = _clamp_integers(input, min, max)
        return _clamp(input, number_or_item(min), number_or_item(max))
    if (min is not None and not tensor_min) or (max is not None and not tensor_max):
        low, high = number_or_item(min), number_or_item(max)
        if not isinstance(low, Tensor) and not isinstance(high, Tensor):
            return clamp(input, low, high)  # a 0-dimensional tensor beside a number counts as a number
        raise misfit("clamp", input, min, max)
    _check_clamped(input, "clamp")
    if min is not None and max is not None and common_dtype((input, min, max)) is BOOL:
        raise not_implemented(REGISTRY["_clamp"], input)
    return _clamp_tensors(input, min, max)


def _clamp_integers(input: Tensor, *bounds: Any) -> tuple[Any, ...]:
    dtype = common_dtype((input, *(number_or_item(b) for b in bounds if b is not None)))
    return (cast(input, dtype), *(_bound(b, dtype) for b in bounds))


def _check_bound(input: Any, bound: Any, name: str, kernel: str) -> None:
    if not isinstance(input, Tensor) or not (
        isinstance(bound, Tensor) or type(number_or_item(bound)) in PYTHON_NUMBERS
    ):
        raise misfit(name, input, bound)
    if logical_dtype(input) in COMPLEX:
        if isinstance(bound, Tensor):
            raise not_implemented(REGISTRY["_clamp"], input, kernel)
        raise NotImplementedError("clamp is not supported for complex types")


_OF_BOUND = RuleOf(lambda input, bound: CONVERTIBLE if isinstance(bound, Tensor) else SAME)


@public("torch.clamp_min Tensor.clamp_min")
@partial(in_usual_call, name="_clamp_min", values="min", unless='a.dtype.kind != "f"')
@with_out(_OF_BOUND)
def clamp_min(input: Tensor, min: Any) -> Tensor:
    """Each element limited from below by ``min``, a number or a tensor that broadcasts.

    >>> torch.clamp_min(torch.tensor([-1., 2.]), 0)
    tensor([0., 2.])
    """
    _check_bound(input, min, "clamp_min", "maximum_cpu")
    if isinstance(min, Tensor):
        return _clamp_min_tensor(input, min)
    if input._payload.dtype not in FLOATING:
        input, min = _clamp_integers(input, min)
    return _clamp_min(input, plain_number(min))


@public("torch.clamp_max Tensor.clamp_max")
@partial(in_usual_call, name="_clamp_max", values="max", unless='a.dtype.kind != "f"')
@with_out(_OF_BOUND)
def clamp_max(input: Tensor, max: Any) -> Tensor:
    """Each element limited from above by ``max``, a number or a tensor that broadcasts.

    >>> torch.clamp_max(torch.tensor([-1., 2.]), 0)
    tensor([-1.,  0.])
    """
    _check_bound(input, max, "clamp_max", "minimum_cpu")
    if isinstance(max, Tensor):
        return _clamp_max_tensor(input, max)
    if input._payload.dtype not in FLOATING:
        input, max = _clamp_integers(input, max)
    return _clamp_max(input, plain_number(max))


for _fn, _body, _names in (
    (clamp, limited, "torch.clamp_ torch.clip_ Tensor.clamp_ Tensor.clip_"),
    (clamp_min, lambda a, low: limited(a, low, None), "torch.clamp_min_ Tensor.clamp_min_"),
    (clamp_max, lambda a, high: limited(a, None, high), "torch.clamp_max_ Tensor.clamp_max_"),
):
    publish(inplace_with_numbers(inplace_of(_fn, f"{_fn.__name__}_"), _body), _names)


# ---- maximum, minimum
_EXTREMUM: dict[str, Any] = {
    "inplace": False,
    "numbers": NOTHING,
    "integers": True,
    "fast": FLOATING,
    "pairs": REAL,
    "check": no_complex("{} not implemented for complex tensors."),
    "dtypes": "fib",
}


@binary(
    self=lambda xp, g, self, other: xp.where(self == other, g / 2, xp.where(self < other, 0, g)),
    other=lambda xp, g, self, other: xp.where(self == other, g / 2, xp.where(self > other, 0, g)),
    **_EXTREMUM,
)
def maximum(input, other):
    """The larger of each pair of elements; nan if either is nan. On a tie each gets half of the gradient.

    >>> torch.maximum(torch.tensor([1., 5.]), torch.tensor([3., 2.]))
    tensor([3., 5.])
    """


@binary(
    self=lambda xp, g, self, other: xp.where(self == other, g / 2, xp.where(self > other, 0, g)),
    other=lambda xp, g, self, other: xp.where(self == other, g / 2, xp.where(self < other, 0, g)),
    **_EXTREMUM,
)
def minimum(input, other):
    """The smaller of each pair of elements; nan if either is nan. On a tie each gets half of the gradient.

    >>> torch.minimum(torch.tensor([1, 4]), torch.tensor([3, 2]))
    tensor([1, 2])
    """


@binary(
    self=lambda xp, g, self, other: xp.masked_fill(g, ~((self >= other) | xp.isnan(other)), 0),
    other=lambda xp, g, self, other: xp.masked_fill(g, (self >= other) | xp.isnan(other), 0),
    **_EXTREMUM,
)
def fmax(input, other):
    """The larger of each pair of elements; a number wins over nan.

    >>> torch.fmax(torch.tensor([1., float("nan")]), torch.tensor([3., 2.]))
    tensor([3., 2.])
    """


@binary(
    self=lambda xp, g, self, other: xp.masked_fill(g, ~((self <= other) | xp.isnan(other)), 0),
    other=lambda xp, g, self, other: xp.masked_fill(g, (self <= other) | xp.isnan(other), 0),
    **_EXTREMUM,
)
def fmin(input, other):
    """The smaller of each pair of elements; a number wins over nan.

    >>> torch.fmin(torch.tensor([1., float("nan")]), torch.tensor([3., 2.]))
    tensor([1., 2.])
    """


# ---- nan_to_num
@parametric(
    layout=iterated,
    grad=lambda xp, g, self: g * xp.isfinite(self),
    dtypes="fci",
    samples=[((3, 4), (None, None, None)), ((), (1.0, 2.0, -2.0))],
)
def _nan_to_num(lib, self, nan, posinf, neginf):
    """Replace nan and the infinities."""
    if self.dtype.kind not in "fcV":
        return lib.array(self, copy=True)
    if self.dtype.kind == "c":
        parts = [_nan_to_num_real(lib, part, nan, posinf, neginf) for part in (self.real, self.imag)]
        result = lib.empty(self.shape, self.dtype)
        result.real, result.imag = parts
        return result
    return _nan_to_num_real(lib, self, nan, posinf, neginf)


def _nan_to_num_real(lib: Any, x: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
    if x.dtype.kind == "f" and x.size <= 4096 and lib.count_nonzero(lib.isfinite(x)) == x.size:
        return x.copy()
    limits = finfo(BY_NUMPY[x.dtype])
    x = lib.where(lib.isnan(x), 0.0 if nan is None else nan, x)
    x = lib.where(x == float("inf"), limits.max if posinf is None else posinf, x)
    return lib.where(x == -float("inf"), limits.min if neginf is None else neginf, x)


@public("torch.nan_to_num Tensor.nan_to_num")
@with_out(exactly("nan_to_num: dtype of out: {Out} should be same as input: {Result}"))
def nan_to_num(
    input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """Replace nan by ``nan`` (0), infinities by ``posinf`` and ``neginf`` (the dtype's largest and smallest number).

    >>> torch.nan_to_num(torch.tensor([float("nan"), 1., float("inf")]), posinf=9.)
    tensor([0., 1., 9.])
    """
    for value in (nan, posinf, neginf):
        if not (value is None or isinstance(value, (int, float)) or getattr(value, "shape", None) == ()):
            raise misfit("nan_to_num", input, nan, posinf, neginf)
    return no_complex_grad("nan_to_num", _nan_to_num(input, nan, posinf, neginf))


publish(inplace_of(nan_to_num, "nan_to_num_"), "torch.nan_to_num_ Tensor.nan_to_num_")
