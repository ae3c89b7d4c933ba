"""Embedding bags: the sum, mean or maximum of a matrix's rows at the indices of each bag, without keeping the rows.

Composed of ``embedding`` (the rows), ``index_back`` or ``sum`` (their sums) and ``gather`` (their maxima).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._arrays import intp
from ..._arrays.library import lib
from ..._arrays.segments import bag_of
from ..._base.errors import warn
from ..._base.registry import REGISTRY, TENSORS, plain_body, public
from ..._kinds.general import general
from ..._payloads.batching import for_each_example
from ..._payloads.meta import on_meta
from ..._payloads.transforms import Batched
from ..._tape.promotion import logical_dtype
from ..._tape.saved import _type_name
from ..._tape.tensor import Tensor
from ..._tape.view_chain import with_node_name
from ..._tensor_api.construct import placed_beside
from ..indexing.embedding import _renorm, floats_for_norm, torch_embedding
from ..indexing.scatter import values_or_zeros
from ..shape.views_primitive import payload


@general(
    batch="loop",
    no_derivative="integer positions",
    dtypes="f",
    samples=lambda rng: [((rng.standard_normal((5, 2)),), (np.array([0, 2]), np.array([0, 0, 1, 1, 1])))],
)
def bag_argmax(lib, rows, starts, bag):
    """For each non-empty bag, whose rows begin at ``starts``, and each column the number of the first largest row."""
    best = intp.reduceat(lib.maximum, rows, starts, 0)[bag]
    hit = (rows == best) | lib.isnan(best) & lib.isnan(rows)
    number = lib.where(hit, lib.arange(len(rows), dtype=np.int64)[:, None], len(rows))
    return intp.reduceat(lib.minimum, number, starts, 0)


@plain_body
def plain_bag_argmax(lib, rows, starts, bag):
    n, bags = len(rows), len(starts)
    missing = lib.isnan(rows)
    key = lib.where(missing, np.inf, rows).astype(rows.dtype)
    best = lib.full((bags, rows.shape[1]), -np.inf, rows.dtype)
    any_missing = lib.zeros(best.shape, rows.dtype)
    lib.maximum.at(best, bag, key)
    lib.maximum.at(any_missing, bag, missing.astype(rows.dtype))
    hit = lib.where(any_missing[bag] > 0, missing, key == best[bag])
    first = lib.full(best.shape, n, np.uint64)
    lib.minimum.at(first, bag, lib.where(hit, lib.arange(n)[:, None], n).astype(np.uint64))
    return first.astype(np.int64)


# ---- arguments
def _wrong_type(t: Tensor, position: int, argument: str, wanted: str) -> RuntimeError:
    given = _type_name(np.empty(0, logical_dtype(t)))
    return RuntimeError(
        f"Expected tensor for argument #{position} '{argument}' to have one of the following scalar types: {wanted}; "
        f"but got {given} instead (while checking arguments for embedding_bag)"
    )


def _integers(t: Tensor) -> Any:
    dtype = logical_dtype(t)
    if dtype.kind != "i" or dtype.itemsize < 4:
        raise _wrong_type(t, 1, "indices", "Long, Int")
    return values_or_zeros(t, "embedding_bag").astype(np.int64, copy=False)


def _check_offsets(offsets: Any, n: int, include_last_offset: bool) -> None:
    if include_last_offset and not offsets.size:
        raise RuntimeError("include_last_offset: number of offset should be at least 1")
    if offsets.size and offsets[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, "
            f"got {offsets[0]}"
        )
    if offsets.size and offsets[-1] > n:
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {n} but got offsets[-1] of {offsets[-1]}"
        )
    if (offsets[1:] < offsets[:-1]).any():
        raise RuntimeError("offsets must not decrease")  # PyTorch reads out of bounds


def _check_indices(indices: Any, rows: int) -> None:
    bad = (indices < 0) | (indices >= rows)
    if bad.any():
        i = int(bad.argmax())
        raise RuntimeError(f"Index {i} of input takes value {indices[i]} which is not in the valid range [0, {rows})")


def _check(input: Tensor, weight: Tensor, offsets: Any, per_sample_weights: Any, mode: str) -> None:
    """Raise the errors that PyTorch raises before it reads values."""
    shape = tuple(input._payload.shape)
    if per_sample_weights is not None and shape != tuple(per_sample_weights._payload.shape):
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must have the "
            f"same shape as the input ({input.shape})"
        )
    if weight._payload.ndim != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight._payload.ndim}")
    if len(shape) == 2 and offsets is not None:
        raise ValueError(
            "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
            f"sequences. However, found offsets of type {type(offsets)}"
        )
    if len(shape) == 1 and offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if len(shape) == 1 and offsets._payload.ndim != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    if len(shape) not in (1, 2):
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {len(shape)}")
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")


def _check_weights(weight: Tensor, per_sample_weights: Tensor | None, mode: str, max_norm: Any) -> None:
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got "
            f"mode='{mode}'). Please open a feature request on GitHub."
        )
    if logical_dtype(weight).kind not in "fV":
        if max_norm is not None:
            floats_for_norm(weight)
        raise _wrong_type(weight, 1, "weight", "Half, BFloat16, Float, Double")
    if per_sample_weights is not None and logical_dtype(weight) != logical_dtype(per_sample_weights):
        ours, theirs = (_type_name(np.empty(0, logical_dtype(t))) for t in (weight, per_sample_weights))
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
            f"'per_sample_weights'; but type {ours} does not equal {theirs} (while checking arguments for "
            "embedding_bag)"
        )


def _padding(padding_idx: int | None, rows: int) -> int | None:
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, {-rows} through {rows - 1}, but got {padding_idx}"
        )
    return padding_idx % rows


# ---- reductions
def _sums(rows: Tensor, bag: Any, bags: int, length: int | None) -> Tensor:
    if length:
        return TENSORS.sum_dim(rows.view(bags, length, rows._payload.shape[1]), (1,), False)
    return TENSORS.index_back([rows, placed_beside(rows, bag)], (bags, rows._payload.shape[1]), (0,))


def _maxima(rows: Tensor, bag: Any, bags: int) -> Tensor:
    """The largest elements; a bag without rows has zeros."""
    if not bag.size:
        return _sums(rows, bag, bags, None)
    full, starts, own = np.unique(bag, return_index=True, return_inverse=True)
    largest = TENSORS.gather(rows, TENSORS.bag_argmax(rows.detach(), starts, own), 0)
    if full.size == bags:
        return largest
    return TENSORS.index_back([largest, placed_beside(rows, full)], (bags, rows._payload.shape[1]), (0,))


@public("nn.functional.embedding_bag")
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """The sum, mean or maximum of the rows of a matrix at the indices of each bag.

    The bags are the rows of a 2-d input, or the parts of a 1-d one that begin at ``offsets`` (with
    ``include_last_offset`` its last element ends the last bag). An empty bag has zeros. ``per_sample_weights`` are
    factors of the rows (sums only); indices equal to ``padding_idx`` do not count; ``max_norm`` as in ``embedding``.
    ``sparse``: the gradient of ``weight`` is a sparse tensor, of the rows that were read.

    >>> table = torch.tensor([[0., 1.], [2., 3.], [4., 5.]])
    >>> torch.nn.functional.embedding_bag(torch.tensor([0, 2, 1]), table, torch.tensor([0, 2]))
    tensor([[2., 3.],
            [2., 3.]])
    """
    payload(weight, "embedding_bag")
    if isinstance(input, Tensor) and isinstance(input._payload, Batched):
        one = lambda i, w, o, p: embedding_bag(
            i, w, o, max_norm, norm_type, scale_grad_by_freq, mode, sparse, p, include_last_offset, padding_idx
        )
        if (each := for_each_example(one, input, weight, offsets, per_sample_weights)) is not None:
            return each  # type: ignore[no-any-return]
    if logical_dtype(weight).kind == "i" and logical_dtype(input).kind in "fV":
        warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is "
            "deprecated, and should now be `embedding_bag(input, weight, ...)`.",
        )
        weight, input = input, weight
    _check(input, weight, offsets, per_sample_weights, mode)
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    _check_weights(weight, per_sample_weights, mode, max_norm)
    indices = _integers(input)
    length = None
    if indices.ndim == 2:
        bags, length = indices.shape
        if not length:
            raise RuntimeError("step must be nonzero")
        bag, indices = intp.repeat(np.arange(bags), length), indices.reshape(-1)
    else:
        starts = _integers(offsets)  # type: ignore[arg-type]
        _check_offsets(starts, indices.size, include_last_offset)
        # as in PyTorch, whose kernels for sums and means of all rows alone heed the last offset
        bag, bags = bag_of(starts, indices.size, include_last_offset, padding_idx is not None or mode == "max")
    _check_indices(indices, weight._payload.shape[0])
    if max_norm is not None and not on_meta(weight):
        _renorm(weight, placed_beside(weight, indices), max_norm, norm_type)
    padding = _padding(padding_idx, weight._payload.shape[0])
    chosen = np.arange(bag.size) if padding is None else (indices[: bag.size] != padding).nonzero()[0]
    if chosen.size != indices.size:
        indices, bag, length = indices[chosen], bag[chosen], None
    if sparse:
        rows = torch_embedding(weight, placed_beside(weight, indices), -1, scale_grad_by_freq, True)
    else:
        rows = TENSORS.embedding(weight, placed_beside(weight, indices), -1, bool(scale_grad_by_freq))
    if per_sample_weights is not None:
        factors = per_sample_weights.reshape(-1)
        if chosen.size != factors._payload.size:
            factors = TENSORS.index([factors, placed_beside(weight, chosen)], (0,))
        rows = rows * TENSORS.unsqueeze_dim(factors, 1)
    result = _maxima(rows, bag, bags) if mode == "max" else _sums(rows, bag, bags, length if bags else None)
    if mode == "mean":
        count = np.maximum(intp.bincount(bag, minlength=bags), 1)[:, None]
        result = result / placed_beside(weight, count.astype(logical_dtype(weight)))
    return with_node_name(result, "EmbeddingBagBackward0")


@public("torch.embedding_bag")
def torch_embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """``nn.functional.embedding_bag`` with the mode as a number, 0 (sum), 1 (mean) or 2 (maximum), and its counts.

    Returns the result, the bag of each index, the sizes of the bags and, for maxima, the rows that they come from. As
    in PyTorch, sums of float32 count nothing: the second is empty, the others are zeros.

    >>> table = torch.tensor([[0., 1.], [2., 3.], [4., 5.]])
    >>> torch.embedding_bag(table, torch.tensor([0, 2, 1]), torch.tensor([0, 2]), mode=1)[1:3]
    (tensor([0, 0, 1]), tensor([2, 1]))
    """
    name = ("sum", "mean", "max")[mode]
    result = embedding_bag(
        indices, weight, offsets, None, 2.0, scale_grad_by_freq, name, sparse, per_sample_weights,
        include_last_offset, padding_idx,
    )  # fmt: skip
    bags, columns = result._payload.shape
    if mode == 0 and padding_idx is None and logical_dtype(weight).itemsize <= 4:
        starts = offsets._payload.shape[0]
        return result, *(placed_beside(weight, np.zeros(n, np.int64)) for n in (0, starts, starts))
    rows = _integers(indices).reshape(-1)
    bag, _ = bag_of(_integers(offsets), rows.size, include_last_offset, padding_idx is not None or mode == 2)
    rows = rows[: bag.size]
    counted = (
        np.ones(bag.size, bool) if padding_idx is None else rows != _padding(padding_idx, weight._payload.shape[0])
    )
    sizes = intp.bincount(bag[counted], minlength=bags) if mode else np.zeros(offsets._payload.shape[0], np.int64)
    most = sizes.copy()
    if mode == 2:
        most = np.zeros((bags, columns), np.int64)
        own, first = np.unique(bag[counted], return_index=True)
        if own.size and not on_meta(weight):
            values = np.asarray(weight.detach()._payload)[rows[counted]]
            inverse = np.searchsorted(own, bag[counted])
            most[own] = rows[counted][np.asarray(REGISTRY["bag_argmax"].decl(lib, values, first, inverse))]
    return result, *(placed_beside(weight, counts) for counts in (bag, sizes, most))
