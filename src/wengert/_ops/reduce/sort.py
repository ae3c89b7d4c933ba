"""Sorting and searching: ``sort``, ``argsort``, ``topk``, ``kthvalue``, ``unique``, ``searchsorted``, ``isin``.

The order is PyTorch's: stable, with nan as the largest, and ``-0.`` equal to ``0.``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._arrays import intp
from ..._arrays.layouts import like, rows
from ..._arrays.sorting import comparable, flat_rows, runs_of_rows
from ..._base.dtypes import FLOAT32
from ..._base.errors import warn_once
from ..._base.registry import TENSORS, plain_body, public
from ..._kinds.dims import as_int, normal_dim, not_a_bool, rank
from ..._kinds.general import general
from ..._kinds.out import EXACT, exactly
from ..._kinds.return_types import return_type
from ..._kinds.slow_path import check_arguments, misfit, no_complex_grad, require
from ..._tape.error_text import not_a_tensor
from ..._tape.promotion import cast, common_dtype, logical_dtype
from ..._tape.tensor import Tensor, wrap
from ..elementwise._common import refuse_forward
from ..indexing._along import bad_index
from .extrema import NUMBERS_ONLY, along, put_all, with_places, without_dim
from .sums import NOT_REAL, dtype_text, is_kind, reduction, unimplemented

_INDEX_DTYPE = exactly(
    "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending on "
    "whether out_int32 flag is True, but we got output tensor's dtype {Out} and out_int32 flag is False"
)

if TYPE_CHECKING:
    from collections.abc import Callable

SortResult = return_type("sort", "values", "indices")
TopkResult = return_type("topk", "values", "indices")
KthvalueResult = return_type("kthvalue", "values", "indices")


# ---- sort
@with_places(
    put_all,
    layout=like,
    dtypes="fib",
    samples=[((3, 4), (1, False, False)), ((3, 4), (0, True, True)), ((0,), (0, False, False))],
)
def sort(lib, self, dim, descending, stable):
    """The sorted elements along a dim, and their indices in the input."""
    return lib.sorted_with_positions(self, dim, descending, stable)


@general(
    layout=like,
    batch=("dim", ("dim",)),
    dtypes="fib",
    samples=[((3, 4), (1, False, False)), ((3, 4), (0, True, True))],
    no_derivative="indices",
)
def argsort(lib, self, dim, descending, stable):
    """The indices that sort the elements along a dim."""
    return lib.sorting_positions(self, dim, descending, stable)


def _check_sortable(input: Tensor, dim: Any, name: str) -> int:
    dim = normal_dim(dim, rank(input, name), name)
    if is_kind(input, "c"):
        raise RuntimeError(" Sort does not support complex dtypes on CPU")
    return dim


_DIM = "type(dim) is not int or not -(ndim := a.ndim) <= dim < ndim"  # of a usual call
_SORT = f"{_DIM} or {NOT_REAL} or type(descending) is not bool or type(stable) is not bool"
_SORTED = "dim % ndim, descending, stable"


@reduction("torch.sort Tensor.sort", out_rule=EXACT, usual=("sort", _SORTED, _SORT, SortResult))
def sort_public(input: Tensor, dim: int = -1, descending: bool = False, stable: bool | None = False) -> Any:
    """Sort along a dim: values and their indices. Nan is the largest; equal elements keep their order if ``stable``.

    Otherwise they have PyTorch's places in rows of up to 1,024 elements.

    >>> torch.sort(torch.tensor([3., 1., 2.]), descending=True)
    torch.return_types.sort(
    values=tensor([3., 2., 1.]),
    indices=tensor([0, 2, 1]))
    """
    if type(stable) is not bool and stable is not None:
        check_arguments("sort", input, stable=stable)
    return SortResult._make(along(sort, input, _check_sortable(input, dim, "sort"), descending, bool(stable)))


@reduction("torch.argsort Tensor.argsort", out_rule=EXACT, usual=("argsort", _SORTED, _SORT))
def argsort_public(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """The indices that sort the elements along a dim; equal elements as in ``sort``.

    >>> torch.argsort(torch.tensor([3., 1., 2.]))
    tensor([1, 2, 0])
    """
    dim = _check_sortable(input, dim, "argsort")
    if not input.ndim:
        return without_dim(argsort(TENSORS.reshape(input, (1,)), 0, False, True))
    return argsort(input, dim, descending, bool(stable))


@reduction("torch.msort Tensor.msort", out_rule=EXACT)
def msort(input: Tensor) -> Tensor:
    """Sort along the first dim.

    >>> torch.msort(torch.tensor([[3., 1.], [2., 4.]]))
    tensor([[2., 1.],
            [3., 4.]])
    """
    return sort_public(input, 0).values


# ---- topk, kthvalue
@with_places(
    put_all,
    layout=rows,
    dtypes="fi",
    samples=[((3, 5), (2, 1, True, True)), ((3, 5), (3, 0, False, False)), ((3, 5), (0, 1, True, True))],
)
def topk(lib, self, k, dim, largest, sorted):
    """The k largest (smallest) elements along a dim, and their indices."""
    return lib.largest_with_positions(self, k, dim, largest, sorted)


_OF_K = f"type(k) is not int or {_DIM} or {NUMBERS_ONLY}"
_TOPK = f"{_OF_K} or not 0 <= k <= a.shape[dim] or type(largest) is not bool or type(sorted) is not bool"
_KTHVALUE = f"{_OF_K} or not 1 <= k <= a.shape[dim] or type(keepdim) is not bool"


@reduction(
    "torch.topk Tensor.topk", out_rule=EXACT, usual=("topk", "k, dim % ndim, largest, sorted", _TOPK, TopkResult)
)
def topk_public(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The k largest (or smallest) elements along a dim, and their indices.

    Unless they are to be sorted, they have the order that PyTorch leaves them in, in rows of up to 1,024 elements.

    >>> torch.topk(torch.tensor([3., 1., 4., 2.]), 2).indices
    tensor([2, 0])
    """
    ndim = rank(input, "topk")
    k = k if type(k) is int else as_int(k, "topk", argument="k")
    dim = normal_dim(dim, ndim, "topk")
    if not 0 <= k <= (input._payload.shape[dim] if ndim else 1):
        raise RuntimeError("selected index k out of range")
    if is_kind(input, "cb"):
        what = "topk does not support bool" if is_kind(input, "b") else " topk does not support complex"
        raise RuntimeError(f"{what} dtypes on CPU")
    if not ndim:
        return TopkResult._make(map(without_dim, topk(TENSORS.reshape(input, (1,)), 1, 0, largest, sorted)))
    return TopkResult._make(topk(input, k, dim, largest, sorted))


@with_places(layout=rows, dtypes="fi", samples=[((3, 5), (2, 1, False)), ((3, 5), (3, 0, True))])
def kthvalue(lib, self, k, dim, keepdim):
    """The k-th smallest element along a dim, and its index."""
    return lib.kth_with_positions(self, k, dim, keepdim)


@reduction(
    "torch.kthvalue Tensor.kthvalue",
    out_rule=(
        exactly("output values must be of same type as input"),
        exactly("output indices must be of scalar type Long"),
    ),
    usual=("kthvalue", "k, dim % ndim, keepdim", _KTHVALUE, KthvalueResult),
)
def kthvalue_public(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The k-th smallest element along a dim (k counts from 1), and its index.

    >>> torch.kthvalue(torch.tensor([3., 1., 2.]), 2).values
    tensor(2.)
    """
    ndim = rank(input, "kthvalue")
    k = as_int(k, "kthvalue", argument="k")
    dim = normal_dim(dim, ndim, "kthvalue")
    n = input._payload.shape[dim] if ndim else 1
    if not n:
        raise IndexError(f"kthvalue(): Expected reduction dim {dim} to have non-zero size.")
    if not 1 <= k <= n:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}")
    if ndim and is_kind(input, "cb"):
        raise unimplemented("kthvalue_cpu", input)
    if not ndim:
        no_complex_grad("kthvalue", input)
        return KthvalueResult._make(map(without_dim, kthvalue(TENSORS.reshape(input, (1,)), 1, 0, False)))
    return KthvalueResult._make(kthvalue(input, k, dim, keepdim))


# ---- unique
def _no_derivative(name: str) -> Callable[..., Any]:
    def grad(xp: Any, g: Any) -> Any:
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    return grad


def _unique_declaration(name: str, node: str) -> dict[str, Any]:
    return {
        "grad": _no_derivative(name),
        "jvp": refuse_forward(name),
        "outputs": 3,
        "differentiable": (True, False, False),
        "node": node,
        "dtypes": "fib",
        "no_derivative": "PyTorch has none; a backward pass that arrives here is an error",
    }


_UNASKED = np.empty(0, np.int64)


@general(**_unique_declaration("_unique2", "Unique2Backward0"), samples=[((4,), (True,)), ((4,), (False,))])
def _unique2(lib, self, all_three):
    """The sorted unique elements, and, unless only they are asked for, the inverse indices and the counts."""
    flat = self.reshape(-1)
    order, n = intp.argsort(comparable(flat)), flat.size
    values = flat[order]
    new = np.empty(n, bool)
    new[:1] = True
    np.not_equal(values[1:], values[:-1], new[1:])
    if not all_three:
        return values[new], _UNASKED, _UNASKED
    inverse = np.empty(n, np.int64)
    inverse[order] = np.add.accumulate(new, 0, np.int64) - 1
    starts = new.nonzero()[0]
    ends = np.empty(starts.size + 1, np.int64)
    ends[:-1], ends[-1] = starts, n
    return values[new], inverse.reshape(self.shape), ends[1:] - ends[:-1]


@plain_body
def plain__unique2(lib, self, all_three):
    values, inverse, counts = plain_unique_dim(lib, self.reshape(-1), 0)
    if not all_three:
        return values, inverse[:0], counts[:0]
    return values, inverse.reshape(self.shape), counts


@general(**_unique_declaration("unique_dim", "UniqueDimBackward0"), samples=[((4, 2), (0,))])
def unique_dim(lib, self, dim):
    """The sorted unique slices along a dim, the inverse indices, and the counts."""
    rows = np.moveaxis(self, dim, 0)
    if not len(rows):
        return self.copy(), np.zeros(0, np.int64), np.zeros(0, np.int64)
    flat = flat_rows(rows)
    order = np.lexsort(flat.T[::-1]) if flat.shape[1] else np.arange(len(rows))
    new, group, counts = runs_of_rows(flat[order])
    inverse = np.empty(len(rows), np.int64)
    inverse[order] = group
    return np.moveaxis(rows[order[new]], 0, dim), inverse, counts


@plain_body
def plain_unique_dim(lib, self, dim):
    rows = lib.moveaxis(self, dim, 0)
    flat = rows.reshape(len(rows), math.prod(rows.shape[1:]))
    order = lib.lexsort(flat.T[::-1]) if flat.size else lib.arange(len(rows))
    new, group, counts = lib.runs_of_rows(flat[order])
    inverse = lib.zeros(len(rows), np.int64)
    inverse[order] = group
    return lib.moveaxis(rows[order[new]], 0, dim), inverse, counts


@general(**_unique_declaration("unique_consecutive", "UniqueConsecutiveBackward0"), samples=[((4,), ())])
def _unique_consecutive(lib, self):
    """The first element of each run of equal elements, the run of each element, and the lengths of the runs."""
    flat = self.reshape(-1)
    new, group, counts = runs_of_rows(flat)
    return intp.take(flat, new), group.reshape(self.shape), counts


@plain_body
def plain__unique_consecutive(lib, self):
    flat = self.reshape(-1)
    new, group, counts = lib.runs_of_rows(flat.reshape(-1, 1))
    return flat[new], group.reshape(self.shape), counts


@general(**_unique_declaration("unique_dim_consecutive", "UniqueDimConsecutiveBackward0"), samples=[((4, 2), (0,))])
def unique_dim_consecutive(lib, self, dim):
    """``_unique_consecutive`` for slices along a dim."""
    rows = np.moveaxis(self, dim, 0)
    new, group, counts = runs_of_rows(flat_rows(rows))
    return np.moveaxis(rows[new], 0, dim), group, counts


@plain_body
def plain_unique_dim_consecutive(lib, self, dim):
    rows = lib.moveaxis(self, dim, 0)
    new, group, counts = lib.runs_of_rows(rows.reshape(len(rows), math.prod(rows.shape[1:])))
    return lib.moveaxis(rows[new], 0, dim), group, counts


def _check_flags(name: str, **flags: Any) -> None:
    for argument, value in flags.items():
        if value is not True and value is not False:
            raise not_a_bool(name, argument, value)


def _asked(results: Any, return_inverse: bool, return_counts: bool) -> Any:
    if not return_inverse and not return_counts:
        return results[0]
    wanted = [results[0], *([results[1]] if return_inverse else []), *([results[2]] if return_counts else [])]
    return tuple(wanted)


@public("torch.unique Tensor.unique")
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The unique elements, or slices along a dim, always sorted.

    ``return_inverse`` and ``return_counts`` add the inverse indices and the counts.

    >>> torch.unique(torch.tensor([3, 1, 3, 2]), return_counts=True)
    (tensor([1, 2, 3]), tensor([1, 1, 2]))
    """
    ndim = rank(input, "unique")
    _check_flags("_unique2", sorted=sorted, return_inverse=return_inverse, return_counts=return_counts)
    if is_kind(input, "c"):
        raise unimplemented("unique" if dim is None else "unique_dim", input)
    if dim is None or not ndim:
        return _asked(_unique2(input, return_inverse or return_counts), return_inverse, return_counts)
    dim = normal_dim(dim, ndim, "unique")
    shape = input._payload.shape
    if 0 in shape[:dim] + shape[dim + 1 :]:
        raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    return _asked(unique_dim(input, dim), return_inverse, return_counts)


@public("torch.unique_consecutive Tensor.unique_consecutive")
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The first element of each run of equal elements, or of equal slices along a dim.

    >>> torch.unique_consecutive(torch.tensor([1, 1, 2, 2, 1]))
    tensor([1, 2, 1])
    """
    ndim = rank(input, "unique_consecutive")
    _check_flags("unique_consecutive", return_inverse=return_inverse, return_counts=return_counts)
    require(input, "fhiub", "unique" if dim is None else "unique_dim")
    if dim is None or not ndim:
        return _asked(_unique_consecutive(input), return_inverse, return_counts)
    dim = normal_dim(dim, ndim, "unique_consecutive")
    return _asked(unique_dim_consecutive(input, dim), return_inverse, return_counts)


# ---- searching sorted sequences
@general(
    tensors=2,
    promote=True,
    batch=("dim", ()),
    dtypes="fi",
    no_derivative="indices",
    samples=lambda rng: [
        ((np.sort(rng.standard_normal((2, 5))), rng.standard_normal((2, 3))), (right,)) for right in (False, True)
    ],
)
def _searchsorted(lib, sorted_sequence, self, right):
    """The insertion index of each value in the sorted row with the same leading dims."""
    return lib.places_in_rows(sorted_sequence, self, right)


def _right(side: str | None, right: bool) -> bool:
    if side is None:
        return right
    if side not in ("left", "right"):
        raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if right and side == "left":
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True"
        )
    return side == "right"


@reduction("torch.searchsorted", out_rule=_INDEX_DTYPE)
def searchsorted(
    sorted_sequence: Tensor,
    input: Tensor | float,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """The index at which to insert each value into a sorted sequence, or into the row with the same leading dims.

    >>> torch.searchsorted(torch.tensor([1, 3, 5]), torch.tensor([0, 3, 9]))
    tensor([0, 1, 3])
    """
    rank(sorted_sequence, "searchsorted")
    return _searched(sorted_sequence, input, out_int32, _right(side, right), sorter)


def _searched(sorted_sequence: Tensor, input: Any, out_int32: bool, right: bool, sorter: Any = None) -> Tensor:
    name = "torch.searchsorted()"
    a, v = sorted_sequence._payload, getattr(input, "_payload", None)
    ndim = a.ndim
    if type(a) is type(v) is np.ndarray and a.dtype is v.dtype is FLOAT32 and ndim == v.ndim == 1:  # the usual call
        if a.flags.c_contiguous and v.flags.c_contiguous and sorter is None and not out_int32:
            return _searchsorted(sorted_sequence, input, right)  # type: ignore[no-any-return]
    if not ndim:
        raise RuntimeError(f"{name}: boundaries tensor should have positive dimension, but got 0 dimension")
    values = _as_values(input, sorted_sequence)
    if ndim > 1:
        _check_rows(name, sorted_sequence, values)
    for what, given in (("boundary", sorted_sequence), ("input value", values)):
        if isinstance(given._payload, np.ndarray) and not given._payload.flags.c_contiguous:
            warn_once(
                f"{name}: {what} tensor is non-contiguous, this will lower the performance due to extra data copy when "
                f"converting non-contiguous tensor to contiguous, please use contiguous {what} tensor if possible. "
                "This message will only appear once per program."
            )
    if values._payload.size:
        require(sorted_sequence, "fhiu", "searchsorted_out_cpu")
    if sorter is not None:
        _check_sorter(name, sorted_sequence, sorter)
        sorted_sequence = TENSORS._take_along(sorted_sequence, sorter, ndim - 1, True)
    places = _search(sorted_sequence, values, right)
    return cast(places, np.dtype(np.int32)) if out_int32 else places


def _search(rows: Tensor, values: Tensor, right: bool) -> Tensor:
    if rows._payload.ndim > 1 or values._payload.ndim == 1:
        return _searchsorted(rows, values, right)
    shape = tuple(values.shape)
    n = values._payload.size
    return TENSORS.reshape(_searchsorted(rows, TENSORS.reshape(values, (n,)), right), shape)


def _as_values(input: Any, like: Tensor) -> Tensor:
    if isinstance(input, Tensor):
        return input
    if isinstance(input, (int, float)) or hasattr(input, "item"):
        return wrap(np.asarray(input).astype(common_dtype((like, input))))
    raise not_a_tensor("searchsorted", "input", 2, input)


def _check_rows(name: str, rows: Tensor, values: Tensor) -> None:
    if not values.ndim:
        raise RuntimeError(
            f"{name}: input value can be a scalar only when boundaries tensor dimension is 1, but we got boundaries "
            f"tensor dim({rows.ndim}) and input value's dim(0) numel(1)"
        )
    if rows.ndim != values.ndim or tuple(rows.shape[:-1]) != tuple(values.shape[:-1]):
        raise RuntimeError(
            f"{name}: boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and "
            f"input value tensor must match, but we got boundaries tensor {list(rows.shape)} and input value tensor "
            f"{list(values.shape)}"
        )


def _check_sorter(name: str, rows: Tensor, sorter: Tensor) -> None:
    if tuple(sorter.shape) != tuple(rows.shape):
        raise RuntimeError(
            f"{name}: boundary and sorter must have the same size, but got boundary tensor {list(rows.shape)}and got "
            f"sorter tensor {list(sorter.shape)}"
        )
    if logical_dtype(sorter) != np.int64:
        raise RuntimeError(f"{name}: sorter must be a tensor of long dtype but got dtype {dtype_text(sorter)}")
    if bad_index(sorter, rows.shape[-1]) is not None:
        raise RuntimeError(f"{name}: sorter index out of range")


@reduction("torch.bucketize", out_rule=_INDEX_DTYPE)
def bucketize(input: Tensor | float, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    """The index of the bucket between sorted boundaries that contains each value.

    >>> torch.bucketize(torch.tensor([0, 3, 9]), torch.tensor([1, 3, 5]))
    tensor([0, 1, 3])
    """
    if rank(boundaries, "bucketize") != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return _searched(boundaries, input, out_int32, right)


# ---- isin
_FEW_PAIRS = 4096  # up to so many pairs comparing is faster than sorting


@general(
    tensors=2,
    promote=True,
    batch="loop",
    dtypes="fi",
    no_derivative="truth",
    samples=lambda rng: [((np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([2.0, 3.0])), (False,))],
)
def isin(lib, elements, test_elements, invert):
    """Whether each element is among the test elements."""
    if 0 < elements.size * test_elements.size <= _FEW_PAIRS:
        found = lib.logical_or.reduce(elements[..., None] == test_elements.ravel(), -1)
        return lib.logical_not(found) if invert else found
    return lib.isin(comparable(elements), comparable(test_elements), invert=invert)[()]


@reduction("torch.isin", out_rule=EXACT)
def isin_public(
    elements: Any = None,
    test_elements: Any = None,
    *,
    element: Any = None,
    test_element: Any = None,
    assume_unique: bool = False,
    invert: bool = False,
) -> Tensor:
    """Whether each element is among the test elements; ``invert`` negates the result.

    >>> torch.isin(torch.tensor([1, 2, 3]), torch.tensor([2, 5]))
    tensor([False,  True, False])
    """
    elements = element if elements is None else elements
    test_elements = test_element if test_elements is None else test_elements
    both = (elements, test_elements)
    if not any(isinstance(e, Tensor) for e in both) or any(e is None for e in both):
        raise misfit("isin", elements, test_elements)
    dtype = common_dtype((elements, test_elements))
    tensors = [t if isinstance(t, Tensor) else wrap(np.asarray(t).astype(dtype)) for t in (elements, test_elements)]
    for t in tensors:
        if is_kind(t, "cb"):
            raise RuntimeError(f"Unsupported input type encountered for isin(): {dtype_text(t)}")
    return isin(*tensors, invert)
