"""``torch.masked``: reductions and normalisations over the elements of a tensor where a mask is True.

The other elements are replaced by the neutral value of the operation (``_NEUTRAL``), such as 0 in a sum and minus
infinity in a maximum, so their gradient is zero. If no element is left, the result is that value, or NaN (``mean``,
``var``, ``median``). The mask is a bool tensor that broadcasts to the input; without a mask all elements count.

``MaskedTensor`` keeps its mask with it (``maskedtensor.core``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from .. import linalg
from .._base.dtypes import bool_, float32, int64, type_name
from .._base.dtypes import dtype as Dtype
from .._base.limits import iinfo
from .._base.registry import PUBLIC
from .._kinds.dims import normal_dim
from .._tape.tensor import Tensor

_torch: Any = SimpleNamespace(**PUBLIC["torch"])  # the functions without masks, some of which are called as those here

__all__ = [
    "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp", "logsumexp", "mean", "median",
    "norm", "normalize", "prod", "softmax", "softmin", "std", "sum", "var",
]  # fmt: skip


# ---- what counts
def _bound(sign: int) -> Callable[[Dtype, str], Any]:
    """The largest value of a dtype, or for a negative sign the smallest."""

    def bound(dtype: Dtype, name: str) -> Any:
        if dtype.is_floating_point:
            return sign * math.inf
        if dtype is bool_:
            raise NotImplementedError(f"identity of {name} on {dtype} input")
        return iinfo(dtype).max if sign > 0 else iinfo(dtype).min

    return bound


_smallest, _largest = _bound(-1), _bound(1)
_NEUTRAL: dict[str, Callable[[Dtype, str], Any]] = {
    "sum": lambda dtype, name: 0,
    "prod": lambda dtype, name: 1,
    "amax": _smallest,
    "argmax": _smallest,
    "logaddexp": _smallest,
    "logsumexp": lambda dtype, name: complex(-math.inf) if dtype.is_complex else _smallest(dtype, name),
    "amin": _largest,
    "argmin": _largest,
    "median": lambda dtype, name: math.nan,
}


def _kept(name: str, input: Tensor, mask: Tensor | None) -> Tensor:
    """The input, with the operation's neutral value wherever the mask is False."""
    if mask is None:
        return input
    return _filled(input, mask, _NEUTRAL[name](input.dtype, name))


def _filled(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    return _torch.where(_full_mask(input, mask), input, input.new_full((), value))


def _full_mask(input: Tensor, mask: Tensor) -> Tensor:
    """The mask as a bool tensor of the input's shape."""
    if mask.shape != input.shape:
        if mask.ndim > input.ndim:
            raise IndexError(
                "_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)"
            )
        mask = mask.expand(input.shape)
    return mask.to(dtype=bool_)


def _dims(dim: Any, ndim: int) -> tuple[int, ...]:
    """The dims in ascending order; all dims for ``None`` or ``()``."""
    if dim is None or dim == ():
        return tuple(range(ndim))
    if not isinstance(dim, (int, tuple, list)):
        raise TypeError(f"sum(): argument 'dim' must be tuple of ints, not {type_name(dim)}")
    found: list[int] = []
    for d in (dim,) if isinstance(dim, int) else dim:
        if d in found:
            raise RuntimeError(f"dim={d} appears multiple times in the list of dims")
        found.append(normal_dim(d, ndim))
    return tuple(sorted(found))


def _sum_dtype(input: Tensor, dtype: Dtype | None) -> Dtype:
    if dtype is not None:
        return dtype
    return input.dtype if input.is_floating_point() or input.is_complex() else int64


# ---- reductions
def sum(
    input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """The sum along ``dim`` (an int, several ints, or all dims by default) of the elements where ``mask`` is True.

    The sum of no elements is 0.

    >>> import wengert as torch
    >>> x, mask = torch.tensor([[1., 2.], [3., 4.]]), torch.tensor([[True, False], [True, True]])
    >>> torch.masked.sum(x, 1, mask=mask)
    tensor([1., 7.])
    """
    dtype = _sum_dtype(input, dtype)
    dims = _dims(dim, input.ndim)
    return _torch.sum(_kept("sum", input, mask), dims, bool(keepdim), dtype=dtype)


def prod(
    input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """The product of the elements where ``mask`` is True; 1 if there is none. See ``sum``."""
    dtype = _sum_dtype(input, dtype)
    dims = _dims(dim, input.ndim)
    result = _kept("prod", input, mask).to(dtype=dtype)
    for d in reversed(dims):
        result = result.prod(dim=d, keepdim=bool(keepdim))
    return result


def amax(
    input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """The largest element where ``mask`` is True; the dtype's smallest value if there is none. See ``sum``."""
    return _extreme("amax", input, dim, keepdim, dtype, mask)


def amin(
    input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """The smallest element where ``mask`` is True; the dtype's largest value if there is none. See ``sum``."""
    return _extreme("amin", input, dim, keepdim, dtype, mask)


def _extreme(name: str, input: Tensor, dim: Any, keepdim: Any, dtype: Dtype | None, mask: Tensor | None) -> Tensor:
    kept = _kept(name, input, mask)
    return getattr(_torch, name)(kept, _dims(dim, kept.ndim), bool(keepdim)).to(dtype=dtype or input.dtype)


def argmax(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: Dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The index of the largest element where ``mask`` is True, in ``dtype`` (the input's dtype by default)."""
    return _torch.argmax(_kept("argmax", input, mask), dim, bool(keepdim)).to(dtype=dtype or input.dtype)


def argmin(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: Dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The index of the smallest element where ``mask`` is True, in ``dtype`` (the input's dtype by default)."""
    return _torch.argmin(_kept("argmin", input, mask), dim, bool(keepdim)).to(dtype=dtype or input.dtype)


def _count(input: Tensor, dim: Any, keepdim: Any, mask: Tensor | None) -> Tensor:
    """The number of elements along the dims where the mask is True."""
    ones = _full_mask(input, mask) if mask is not None else _torch.ones_like(input, dtype=bool_)
    return _torch.sum(ones, _dims(dim, input.ndim), bool(keepdim))


def mean(
    input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """The mean of the elements where ``mask`` is True; NaN if there is none. See ``sum``.

    Raises ValueError for integers.

    >>> import wengert as torch
    >>> torch.masked.mean(torch.tensor([1., 2., 6.]), mask=torch.tensor([True, False, True]))
    tensor(3.5000)
    """
    source = "Input" if dtype is None else "Optional"
    dtype = dtype or input.dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(
            f"mean(): Could not infer output dtype. {source} dtype must be either a floating point or complex dtype. "
            f"Got: {dtype}"
        )
    count = _count(input, dim, keepdim, mask)
    return sum(input, dim, keepdim=keepdim, dtype=dtype, mask=mask) / count


def median(
    input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: Dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """The lower median along a dimension of the elements where ``mask`` is True; NaN if there is none.

    Raises ValueError if a row of integers has no element left, since integers have no NaN.
    """
    dtype = dtype or input.dtype
    d = _dims(dim, input.ndim)[0]
    floating = input.is_floating_point()
    kept = _kept("median", input if floating else input.to(dtype=float32), mask)
    result = _torch.nanmedian(kept, d, keepdim).values
    if floating:
        return result
    if result.isnan().any():
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return result.to(dtype=dtype)


def logsumexp(
    input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """``log(sum(exp(x)))`` of the elements where ``mask`` is True; minus infinity if there is none. See ``sum``."""
    dims = _dims(dim, input.ndim)
    kept = _kept("logsumexp", input, mask)
    return _torch.logsumexp(kept, dims, keepdim=keepdim).to(dtype=dtype or input.dtype)


def norm(
    input: Tensor,
    ord: float | None = 2.0,
    dim: Any = None,
    *,
    keepdim: bool = False,
    dtype: Dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The vector norm (``linalg.vector_norm``) of the elements where ``mask`` is True; 0 if there is none."""
    kept = input
    if mask is not None:
        if ord == -math.inf:
            assert input.is_floating_point(), f"input must be floating point, got {input.dtype}"
        kept = _filled(input, mask, math.inf if ord == -math.inf else 0)
    return linalg.vector_norm(kept, ord, _dims(dim, input.ndim), bool(keepdim), dtype=dtype or input.dtype)  # type: ignore[arg-type]


def var(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The variance of the elements where ``mask`` is True, divided by their number less ``correction`` (1 by default).

    ``unbiased=False`` is ``correction=0``. See ``sum``.

    >>> import wengert as torch
    >>> torch.masked.var(torch.tensor([1., 2., 3., 99.]), mask=torch.tensor([True, True, True, False]))
    tensor(1.)
    """
    assert unbiased is None or correction is None, "Only one of unbiased and correction may be given"
    if correction is None:
        correction = 1.0 if unbiased is None or unbiased else 0.0
    if dtype is None:
        dtype = input.dtype if input.is_floating_point() or input.is_complex() else float32
    wide = dtype if dtype.is_floating_point or dtype.is_complex else float32
    count = _count(input, dim, True, mask)
    distance = input - sum(input, dim, keepdim=True, dtype=dtype, mask=mask) / count
    total = sum(distance * distance.conj(), dim, keepdim=keepdim, dtype=wide, mask=mask)
    if not keepdim:
        count = count.reshape(total.shape)
    if correction != 0:
        count = _torch.clamp_min(count.to(wide.to_real()) - float(correction), 0)
    return (total / count).to(dtype=dtype)


def std(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The square root of ``var``."""
    return _torch.sqrt(var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask))


# ---- as large as the input
def cumsum(input: Tensor, dim: int, *, dtype: Dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The running sum along a dimension of the elements where ``mask`` is True."""
    dtype = dtype or input.dtype
    d = _dims(dim, input.ndim)[0]
    return _torch.cumsum(_kept("sum", input, mask), d, dtype=dtype).to(dtype=dtype)


def cumprod(input: Tensor, dim: int, *, dtype: Dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The running product along a dimension of the elements where ``mask`` is True."""
    dtype = dtype or input.dtype
    d = _dims(dim, input.ndim)[0]
    return _torch.cumprod(_kept("prod", input, mask), d, dtype=dtype).to(dtype=dtype)


def softmax(input: Tensor, dim: int, *, dtype: Dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """``softmax`` along a dimension over the elements where ``mask`` is True; the others get 0, NaN if none counts.

    >>> import wengert as torch
    >>> torch.masked.softmax(torch.zeros(3), 0, mask=torch.tensor([True, False, True]))
    tensor([0.5000, 0.0000, 0.5000])
    """
    d = _dims(dim, input.ndim)[0]
    return _torch.softmax(_kept("amax", input, mask), d, dtype=dtype or input.dtype)


def log_softmax(input: Tensor, dim: int, *, dtype: Dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The logarithm of ``softmax``; minus infinity where ``mask`` is False."""
    d = _dims(dim, input.ndim)[0]
    return _torch.log_softmax(_kept("amax", input, mask), d, dtype=dtype or input.dtype)


def softmin(input: Tensor, dim: int, *, dtype: Dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """``softmax`` of the negative input."""
    d = _dims(dim, input.ndim)[0]
    return _torch.softmax(-_kept("amin", input, mask), d, dtype=dtype or input.dtype)


def normalize(
    input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype: Dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """The elements where ``mask`` is True, divided by their norm along a dimension (at least ``eps``); 0 elsewhere."""
    length = norm(input, ord, dim, keepdim=True, dtype=dtype or input.dtype, mask=mask)
    return _kept("sum", input, mask) / _torch.maximum(length, length.new_full([], eps))


def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: Dtype | None = None,
    input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:
    """``log(exp(input) + exp(other))`` elementwise, where an element counts as minus infinity if its mask is False.

    >>> import wengert as torch
    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked.logaddexp(torch.tensor([-100., -200., -300.]), torch.tensor([-1., -2., -3.]),
    ...                        input_mask=mask, other_mask=mask)
    tensor([-1., -inf, -3.])
    """
    a, b = _kept("logaddexp", input, input_mask), _kept("logaddexp", other, other_mask)
    return _torch.logaddexp(a, b).to(dtype=dtype or input.dtype)


def __getattr__(name: str) -> Any:
    if name in ("MaskedTensor", "masked_tensor", "as_masked_tensor", "is_masked_tensor"):
        from . import maskedtensor  # a subclass of Tensor, which makes operators ask for more: only where it is used

        return getattr(maskedtensor, name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
