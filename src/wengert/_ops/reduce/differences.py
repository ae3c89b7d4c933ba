"""Differences, numerical gradients and trapezoidal integrals along a dim, all composed of other operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._base.dtypes import UINT8
from ..._base.registry import TENSORS, public
from ..._kinds.dims import as_int, normal_dim, normal_dims, rank
from ..._kinds.out import CONVERTIBLE, RuleOf, exactly
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import Tensor
from .scan import cumsum_public
from .sums import Dims, is_kind, reduction, to_default

_ATTACHED = exactly("expected scalar_type {Result} but found {Out}")


@reduction("torch.diff Tensor.diff", out_rule=RuleOf(lambda input, n=1, *_, **__: CONVERTIBLE if n else _ATTACHED))
def diff(
    input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """The n-th forward difference along a dim; ``prepend`` and ``append`` are concatenated along it first.

    >>> torch.diff(torch.tensor([1., 4., 9.]))
    tensor([3., 5.])
    """
    ndim = rank(input, "diff")
    if not ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    n, dim = as_int(n, "diff", argument="n"), normal_dim(dim, ndim, "diff")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    for more in (prepend, append):
        if more is not None:
            _check_attached(input, more, dim)
    if n == 0:
        return input.clone()
    if prepend is not None or append is not None:
        input = TENSORS.cat([t for t in (prepend, input, append) if t is not None], dim)
    for _ in range(min(n, input._payload.shape[dim])):
        after, before = _neighbours(input, dim)
        input = TENSORS.logical_xor(after, before) if is_kind(input, "b") else after - before
    return input


def _check_attached(input: Tensor, more: Tensor, dim: int) -> None:
    if more.ndim != input.ndim:
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for d in range(input.ndim):
        if d != dim and more.shape[d] != input.shape[d]:
            raise RuntimeError(
                "diff expects the shape of tensor to prepend or append to match that of input except along the "
                f"differencing dimension; input.size({d}) = {input.shape[d]}, "
                f"but got tensor.size({d}) = {more.shape[d]}"
            )


def _neighbours(t: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """The elements along a dim without the first, and without the last."""
    n = t._payload.shape[dim]
    return TENSORS.slice_dim(t, dim, 1, n, 1), TENSORS.slice_dim(t, dim, 0, n - 1, 1)


@reduction("torch.trapezoid torch.trapz")
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: float | Tensor = 1, dim: int = -1) -> Tensor:
    """Integral along a dim by the trapezoidal rule, at points ``x`` or with spacing ``dx``.

    >>> torch.trapezoid(torch.tensor([1., 2., 3.]), dx=2)
    tensor(8.)
    """
    dim = _check_trapezoid("trapezoid", y, x, dim)
    n = y._payload.shape[dim]
    if not n:
        return to_default(TENSORS.sum_dim(y, (dim,), False))
    if x is None and not isinstance(dx, Tensor):
        ends = TENSORS.select(y, dim, 0) + TENSORS.select(y, dim, n - 1)
        return (TENSORS.sum_dim(y, (dim,), False) - ends * 0.5) * float(dx)
    after, before = _neighbours(y, dim)
    return ((before + after) * _spacing("trapezoid", y, x, dx, dim)).sum(dim) / 2.0


@reduction("torch.cumulative_trapezoid")
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: float | Tensor = 1, dim: int = -1) -> Tensor:
    """Cumulative integral along a dim by the trapezoidal rule; the result has one element less than ``y``.

    >>> torch.cumulative_trapezoid(torch.tensor([1., 2., 3.]))
    tensor([1.5000, 4.0000])
    """
    dim = _check_trapezoid("cumulative_trapezoid", y, x, dim)
    if not y._payload.shape[dim]:
        return to_default(y)
    after, before = _neighbours(y, dim)
    if x is None and not isinstance(dx, Tensor):
        return cumsum_public(dx / 2.0 * (before + after), dim)
    total = cumsum_public(_spacing("cumulative_trapezoid", y, x, dx, dim) * (before + after), dim)
    return total / 2.0


def _check_trapezoid(name: str, y: Tensor, x: Tensor | None, dim: int) -> int:
    ndim = rank(y, name)
    if not ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    dim = normal_dim(dim, ndim, name)
    if is_kind(y, "b") or (x is not None and is_kind(x, "b")):
        which = "`y`" if x is None else "`x` or `y`"
        raise RuntimeError(f"{name}: received a bool input for {which}, but bool is not supported")
    return dim


def _spacing(name: str, y: Tensor, x: Tensor | None, dx: Any, dim: int) -> Any:
    """The distances between the points, in a shape that broadcasts along ``dim``."""
    if x is None:
        return dx
    ndim = y.ndim
    if x.ndim == 1:
        if x.shape[0] != y.shape[dim]:
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
        x = TENSORS.reshape(x, tuple(-1 if d == dim else 1 for d in range(ndim)))
    elif x.ndim < ndim:
        x = TENSORS.reshape(x, (1,) * (ndim - x.ndim) + tuple(x.shape))
    return diff(x, dim=dim)


# ---- numerical gradients
@public("torch.gradient")
def gradient(input: Tensor, *, spacing: Any = None, dim: Dims = None, edge_order: int = 1) -> tuple[Tensor, ...]:
    """Numerical derivative along each dim: central differences inside, one-sided differences at the edges.

    ``spacing``: the distance between points (a number, or one for each dim), or the coordinates of the points
    (1-dimensional tensors). ``edge_order``: 1 or 2, the order of accuracy at the edges.

    >>> torch.gradient(torch.tensor([1., 4., 9., 16.]))
    (tensor([3., 4., 6., 7.]),)
    """
    ndim = rank(input, "gradient")
    dims = normal_dims(dim, ndim, "gradient")
    steps = _steps(spacing, dims, dim is not None)
    if logical_dtype(input) == UINT8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    for d in dims:
        if input.shape[d] < edge_order + 1:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    return tuple(
        (_slopes_at if isinstance(step, Tensor) else _slopes)(input, step, d, edge_order)
        for step, d in zip(steps, dims, strict=True)
    )


def _steps(spacing: Any, dims: tuple[int, ...], given: bool) -> list[Any]:
    """The spacing of each dim."""
    if spacing is None:
        return [1.0] * len(dims)
    if not isinstance(spacing, (list, tuple)):
        return [spacing] * len(dims) if not isinstance(spacing, Tensor) else [spacing]
    if len(spacing) != len(dims):
        if given:
            raise RuntimeError(
                "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have "
                f"the same length, but got a spacing argument of length {len(spacing)} and a dim argument of length "
                f"{len(dims)}."
            )
        raise RuntimeError(
            f"torch.gradient expected spacing to be unspecified, a scalar or a list of length {len(dims)} but got a "
            f"list of length {len(spacing)}"
        )
    return list(spacing)


def _at(t: Tensor, dim: int, start: int, stop: int) -> Tensor:
    n = t.shape[dim]
    first = start if start >= 0 else start + n
    return t.narrow(dim, first, (stop if stop > 0 else stop + n) - first)


def _joined(before: Tensor, centre: Tensor, after: Tensor, dim: int) -> Tensor:
    return TENSORS.cat([before, centre, after], dim)


def _slopes(t: Tensor, step: float, dim: int, edge_order: int) -> Tensor:
    """Slopes at equally spaced points."""
    centre = (_at(t, dim, 2, 0) - _at(t, dim, 0, -2)) / step / 2
    first = [_at(t, dim, k, k + 1) for k in range(edge_order + 1)]
    last = [_at(t, dim, k, k + 1) for k in range(-edge_order - 1, 0)]
    if edge_order == 1:
        return _joined((first[1] - first[0]) / step, centre, (last[1] - last[0]) / step, dim)
    before = (first[0] * -1.5 + first[1] * 2 + first[2] * -0.5) / step
    after = (last[0] * 0.5 + last[1] * -2 + last[2] * 1.5) / step
    return _joined(before, centre, after, dim)


def _slopes_at(t: Tensor, points: Tensor, dim: int, edge_order: int) -> Tensor:
    """Slopes at points with given coordinates, from the parabola through three neighbours."""
    if points.ndim != 1 or points.shape[0] != t.shape[dim]:
        raise RuntimeError(
            "torch.gradient expected each element of spacing to have one dimension, and as many elements as the "
            "tensor has along it"
        )
    n = points.shape[0]
    gaps = diff(points).reshape(tuple(-1 if d == dim else 1 for d in range(t.ndim)))
    a, b = _at(gaps, dim, 0, n - 2), _at(gaps, dim, 1, n - 1)
    centre = (
        _at(t, dim, 0, -2) * (-b / (a * (a + b)))
        + _at(t, dim, 1, n - 1) * ((b - a) / (a * b))
        + _at(t, dim, 2, 0) * (a / (b * (a + b)))
    )
    if edge_order == 1:
        before = (_at(t, dim, 1, 2) - _at(t, dim, 0, 1)) / _at(gaps, dim, 0, 1)
        after = (_at(t, dim, n - 1, n) - _at(t, dim, n - 2, n - 1)) / _at(gaps, dim, n - 2, n - 1)
        return _joined(before, centre, after, dim)
    return _joined(_edge(t, gaps, dim, (0, 1, 2), (0, 1)), centre, _edge(t, gaps, dim, (-1, -2, -3), (-1, -2)), dim)


def _edge(t: Tensor, gaps: Tensor, dim: int, at: Sequence[int], gap: Sequence[int]) -> Tensor:
    """The slope at the end of the parabola through the three outermost points."""
    n, m = t.shape[dim], gaps.shape[dim]
    x, y, z = (_at(t, dim, k % n, k % n + 1) for k in at)
    a, b = (_at(gaps, dim, k % m, k % m + 1) for k in gap)
    slope = x * (-(2.0 * a + b) / (a * (a + b))) + y * ((a + b) / (a * b)) + z * (-a / (b * (a + b)))
    return slope if at[0] == 0 else -slope
