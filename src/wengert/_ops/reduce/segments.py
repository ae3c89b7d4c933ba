"""Reductions of consecutive segments of a dimension, which may differ in size: ``segment_reduce``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._arrays.segments import START_VALUES, segment_places
from ..._base.registry import REGISTRY, TENSORS, public
from ..._kinds.dims import EVERY_DIM
from ..._kinds.laid_out import receives
from ..._kinds.slow_path import not_implemented
from ..._payloads.meta import on_meta
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import Tensor
from ..._tape.view_chain import with_node_name
from ..._tensor_api.construct import placed_beside
from ..indexing.scatter import values_or_zeros
from ..shape.views_primitive import payload


@public("torch.segment_reduce torch._segment_reduce")
def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: float | None = None,
) -> Tensor:
    """The "sum", "mean", "prod", "max" or "min" of each segment of ``data`` along ``axis``.

    ``lengths`` (int64 or int32) of shape ``data.shape[:axis] + (segments,)`` has the size of each segment; ``offsets``,
    with one element more, has the start of each segment and the end of the last. ``initial`` is reduced together with
    each segment, and is the result of an empty one, which otherwise is 0, NaN, 1, minus infinity or infinity.

    Raises RuntimeError if the lengths don't add up to the size of the axis, unless ``unsafe``.

    >>> torch.segment_reduce(torch.tensor([1., 2., 3., 4.]), "sum", lengths=torch.tensor([1, 0, 3]))
    tensor([1., 0., 9.])
    """
    kind = {"max": "amax", "min": "amin"}.get(reduce, reduce)
    if kind not in START_VALUES:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    shape = tuple(payload(data, "segment_reduce").shape)
    data = receives(data, EVERY_DIM[len(shape)])
    sizes, starts = _sizes(data, lengths, offsets, axis, unsafe)
    if logical_dtype(data).kind not in "fV":
        raise not_implemented(REGISTRY["abs"], data, "_segment_reduce_cpu")
    *lead, segments = sizes.shape
    rows, n = math.prod(lead), shape[axis] if shape else 1
    place, segment = segment_places(sizes.reshape(rows, segments), starts.reshape(rows, segments), n)
    flat = TENSORS.reshape(data, (rows * n, *shape[axis + 1 :]))
    if place is not None:
        flat = TENSORS.index([flat, placed_beside(flat, place)], (0,))
    result = _reduced(flat, kind, placed_beside(flat, segment), rows * segments, initial)
    if kind == "mean":
        count = sizes.reshape((rows * segments,) + (1,) * (flat._payload.ndim - 1))
        known = initial is not None and not math.isnan(initial)
        count = np.maximum(count, 1) if known else count
        result = result / placed_beside(data, count.astype(logical_dtype(data)))
    return with_node_name(TENSORS.reshape(result, (*lead, segments, *shape[axis + 1 :])), "SegmentReduceBackward0")


def _sizes(data: Tensor, lengths: Any, offsets: Any, axis: int, unsafe: bool) -> tuple[Any, Any]:
    """The size of each segment, and its start in its row."""
    given, name = (offsets, "offsets") if offsets is not None else (lengths, "lengths")
    if given is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    n = data._payload.shape[axis] if data._payload.ndim else 1
    values = values_or_zeros(given, "segment_reduce")
    if on_meta(given):
        values[..., -1:] = n  # the last segment has all elements
    axis = axis + data._payload.ndim if axis < 0 else axis
    if axis != values.ndim - 1:
        raise RuntimeError(f"segment_reduce(): Expected axis to be the last dimension of {name} but got {axis}.")
    if values.dtype.kind != "i" or values.dtype.itemsize < 4:
        raise not_implemented(REGISTRY["abs"], given, f"_segment_reduce_{name}_cpu_kernel1")
    if offsets is not None:
        return np.diff(values, axis=-1), values[..., :-1]
    if not unsafe:
        if values.size and values.min() < 0:
            raise RuntimeError("lengths contains negative value!")
        if (values.sum(-1) != n).any():
            raise RuntimeError(
                "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when "
                "!unsafe."
            )
    return values, np.cumsum(values, axis=-1) - values


def _reduced(flat: Any, kind: str, segment: Any, count: int, initial: float | None) -> Any:
    """Reduce rows to ``count`` rows."""
    rest = tuple(flat._payload.shape[1:])
    first = START_VALUES[kind] if initial is None else initial
    start = placed_beside(flat, np.full((count, *rest), first, logical_dtype(flat)))
    if kind in ("sum", "mean"):
        total = TENSORS.index_back([flat, segment], (count, *rest), (0,))
        return total if not initial else total + start
    index = TENSORS.expand(TENSORS.reshape(segment, (-1,) + (1,) * len(rest)), tuple(flat._payload.shape))
    return TENSORS.scatter_reduce(start, index, flat, 0, kind, True)
