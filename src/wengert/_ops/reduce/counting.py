"""Counts of elements: ``bincount``, ``histc``, ``histogram``, ``histogramdd``. None of them has a derivative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._arrays import intp
from ..._arrays.counting import counts_between, equal_bins, outer_edges
from ..._arrays.library import NUMBERS
from ..._base.dtypes import BLAS_FLOATS, FLOAT32, FLOAT64
from ..._base.registry import plain_body, public
from ..._kinds.dims import as_int, rank
from ..._kinds.general import general
from ..._kinds.out import exactly
from ..._kinds.return_types import return_type
from ..._kinds.slow_path import check_arguments, require
from ..._payloads.batching import for_each_example
from ..._payloads.meta import no_kernel, on_meta
from ..._payloads.transforms import refuse_tangents
from ..._tape.promotion import cast, logical_dtype
from ..._tape.refusal import underived
from ..._tape.tensor import Tensor, wrap
from ..elementwise._common import not_derived, plain_number, refuse_forward
from .sums import is_kind, reduction, unimplemented

_SAME_HISTOGRAM = exactly(
    "torch.histogram: input tensor and hist tensor should have the same dtype, but got input {result} and hist {out}"
)

HistogramResult = return_type("histogram", "hist", "bin_edges")
HistogramddResult = return_type("histogramdd", "hist", "bin_edges")


# ---- bincount
@general(
    tensors=2,
    batch="loop",
    dtypes="i",
    grad={"weights": not_derived("bincount")},
    jvp=refuse_forward("aten::bincount"),
    node="NotImplemented",
    no_derivative="PyTorch records it without one",
    samples=lambda rng: [((np.array([1, 2, 2]), None), (4,)), ((np.array([1, 0, 2]), np.array([0.5, 1.0, 2.0])), (3,))],
)
def bincount(lib, self, weights, minlength):
    """The count, or the sum of the weights, of each integer from 0 on."""
    if weights is None:
        return lib.bincount(self, minlength=minlength)
    return lib.bincount(self, weights, minlength).astype(weights.dtype)


@public("torch.bincount Tensor.bincount")
def bincount_public(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """The number of elements equal to each integer from 0 on, or the sum of their weights.

    >>> torch.bincount(torch.tensor([1, 2, 2]))
    tensor([0, 1, 2])
    """
    ndim = rank(input, "bincount")
    if not is_kind(input, "iu"):
        raise unimplemented("bincount_cpu", input)
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    a = input._payload
    if ndim != 1 or (isinstance(a, np.ndarray) and a.size and a.item(a.argmin()) < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is not None and tuple(weights.shape) != tuple(input.shape):
        raise RuntimeError("weights should be 1-d and have the same length as input")
    if weights is not None and logical_dtype(weights) is not FLOAT32:
        weights = cast(weights, FLOAT64)
    return bincount(input, weights, minlength)


# ---- histc


@general(batch="loop", dtypes="f", no_derivative="it counts", samples=[((10,), (4, 0.0, 1.0)), ((3, 4), (5, 0.0, 0.0))])
def histc(lib, self, bins, min, max):
    """The number of elements in each of several bins of equal width."""
    x = self.ravel()
    left, right = outer_edges(x, min, max, "histc")
    if min != max:
        x = x[(x >= left) & (x <= right)]
    scale = NUMBERS[x.dtype][bins] if x.dtype in BLAS_FLOATS else bins
    place = ((x - left) * scale / (right - left)).astype(np.int64)
    return intp.bincount(np.minimum(place, bins - 1), None, bins).astype(x.dtype)


@plain_body
def plain_histc(lib, self, bins, min, max):
    x = self.reshape(-1)
    ends = (
        (x.dtype.type(min), x.dtype.type(max)) if min != max or not x.size else lib.host(lib.stack([x.min(), x.max()]))
    )
    left, right = outer_edges(np.array(ends, x.dtype), min, max, "histc")
    x = x[(x >= float(left)) & (x <= float(right))]
    place = lib.minimum(((x - float(left)) * bins / float(right - left)).astype(np.int64), bins - 1)
    r = lib.zeros(bins, x.dtype)
    lib.add_at(r, place, lib.ones(place.shape, x.dtype))
    return r


@reduction("torch.histc Tensor.histc", out_rule=_SAME_HISTOGRAM)
def histc_public(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """The number of elements in each of ``bins`` bins of equal width from min to max (of the data if both are 0).

    >>> torch.histc(torch.tensor([1., 2., 1.]), bins=4, min=0, max=3)
    tensor([0., 2., 1., 0.])
    """
    rank(input, "histc")
    bins, min, max = as_int(bins, "histc", argument="bins"), plain_number(min), plain_number(max)
    if not is_kind(input, "fV"):
        kernel = "aminmax_cpu" if is_kind(input, "c") and min == max and input._payload.size else "histogram_cpu"
        raise unimplemented("linspace_cpu" if is_kind(input, "b") else kernel, input)
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    if max < min:
        raise RuntimeError("torch.histc: max must be larger than min")
    return histc(input, bins, min, max)


# ---- histogram


def _histogram(name: str, points: Any, bins: list[Any], limits: list[Any], weight: Tensor | None, density: bool) -> Any:
    if weight is not None:
        if weight._payload.dtype != points.dtype:
            raise RuntimeError(
                f"torch.{name}: if weight tensor is provided, input tensor and weight tensor should have the same dtype"
            )
        if weight._payload.size != len(points):
            raise RuntimeError(
                f"torch.{name}: if weight tensor is provided it should have the same shape as the input tensor"
                " excluding its innermost dimension"
            )
    edges = []
    for d, (b, limit) in enumerate(zip(bins, limits, strict=True)):
        if isinstance(b, Tensor):
            edges.append(_given_edges(points, b, d))
        else:
            edges.append(equal_bins(points[:, d], int(b), limit, d))
    return counts_between(points, edges, None if weight is None else weight._payload, density), edges


def _given_edges(points: Any, b: Tensor, d: int) -> Any:
    if b._payload.dtype != points.dtype:
        names = {"float32": "float", "float64": "double"}
        raise RuntimeError(
            "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with dtype "
            f"{names.get(points.dtype.name, points.dtype.name)} and bins for dimension {d} with dtype "
            f"{names.get(b._payload.dtype.name, b._payload.dtype.name)}"
        )
    return b._payload


def _points(input: Tensor, name: str, one: bool, bins: Any, limits: Any) -> Any:
    rank(input, name)
    a = input._payload
    if getattr(a, "is_traced", False):
        a = np.asarray(a)  # torch.compile records no further
    of_tensors = isinstance(bins if one else bins[0] if isinstance(bins, (tuple, list)) else bins, Tensor)
    if on_meta(input):
        step = ("_histogramdd_bin_edges", "_histogramdd_from_bin_tensors")[of_tensors]
        raise no_kernel(("histogram.bin_ct", "histogram.bins_tensor")[of_tensors] if one else step)
    if not isinstance(a, (np.ndarray, np.generic)):
        raise RuntimeError(f"{name}() has no form under transforms: its result depends on the data's values")
    kernel = "histogram_cpu" if of_tensors or limits is not None else "histogramdd"  # which looks for the limits
    if kernel == "histogramdd" or a.dtype != np.float16:
        require(input, "f", "linspace_cpu" if a.dtype.kind == "b" and not of_tensors and limits is not None else kernel)
    return np.asarray(a).reshape(-1, 1 if one else a.shape[-1])


@public("torch.histogram Tensor.histogram")
def histogram(
    input: Tensor,
    bins: int | Tensor = 100,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
    out: Any = None,
) -> Any:
    """Counts (or weights, or a density) of the elements in bins: a number of equal bins, or bins with given edges.

    >>> torch.histogram(torch.tensor([1., 2., 1.]), bins=4, range=(0., 3.)).hist
    tensor([0., 2., 1., 0.])
    """
    given = {} if range is None else {"range": range}
    check_arguments("histogram", input, bins, weight=weight, density=density, **given)
    one = lambda x, b, w: histogram(x, b, range=range, weight=w, density=density)
    if (each := for_each_example(one, input, bins, weight)) is not None:
        return each
    for t in (input, weight):
        refuse_tangents("aten::histogram", t)
    points = _points(input, "histogram", True, bins, range)
    hist, (edges,) = _histogram("histogram", points, [bins], [range], weight, density)
    result = HistogramResult(underived("histogram", (wrap(hist), wrap(edges)), input, bins, weight))
    if out is None:
        return result
    from ..._kinds.out import store_out

    for o, r in zip(out, result, strict=True):
        _SAME_HISTOGRAM.check(logical_dtype(r), logical_dtype(o))
    for o, r in zip(out, result, strict=True):
        store_out(o, r)
    return HistogramResult(out)


@public("torch.histogramdd")
def histogramdd(
    input: Tensor,
    bins: int | Sequence[Any],
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Any:
    """Counts of points in the cells of a grid; the last dim holds the coordinates.

    >>> torch.histogramdd(torch.tensor([[0., 1.], [1., 0.], [2., 2.]]), bins=[2, 2]).hist
    tensor([[0., 1.],
            [1., 1.]])
    """
    if rank(input, "histogramdd") < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    for t in (input, weight):
        refuse_tangents("aten::_histogramdd_bin_edges", t)
    points = _points(input, "histogramdd", False, bins, range)
    n = points.shape[1]
    each = [bins] * n if isinstance(bins, int) else list(bins)
    if len(each) != n:
        raise RuntimeError("histogramdd: The size of bins must be equal to the innermost dimension of the input.")
    limits = [None] * n if range is None else [tuple(range[2 * d : 2 * d + 2]) for d in np.arange(n)]
    hist, edges = _histogram("histogramdd", points, each, limits, weight, density)
    if isinstance(each[0], Tensor):
        hists = underived("_histogramdd_from_bin_tensors", (wrap(hist),), input, *each, weight)
        return HistogramddResult((*hists, tuple(each)))
    hists = underived("_histogramdd_from_bin_cts", (wrap(hist),), input, weight)
    return HistogramddResult(
        (*hists, underived("_histogramdd_bin_edges", tuple(wrap(e) for e in edges), input, weight))
    )
