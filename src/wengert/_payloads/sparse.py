"""Sparse COO tensors: a type of payload, and its operators.

A ``Sparse`` holds the indices and values of the stored elements: ``indices`` of shape ``(sparse_dim, nnz)`` and
``values`` of shape ``(nnz, *dense shape)``. The values of an index that occurs more than once are summed; ``coalesce``
makes the indices unique and sorts them. Sparse payloads are the gradients of ``embedding(sparse=True)`` and similar
functions, and the results of ``torch.sparse_coo_tensor``.

Their dtype is another object than NumPy's, so the hot path's test of dtypes leads an operator on a sparse and a dense
tensor away from it (``slow_path.mixed_dtypes``, which calls ``with_dense``). The raw functions of all operators are
looked up in ``SPARSE`` (``registry.Impl``): a missing operator raises PyTorch's error for sparse tensors.
A program without sparse tensors does not import this module.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .._arrays import intp
from .._arrays.library import BY_DTYPE
from .._arrays.scipy_functions import from_scipy
from .._base.constants import sparse_coo
from .._base.dtypes import BY_NUMPY
from .._base.late_names import import_one
from .._base.registry import ARRAYS, NO_ROWS, WITH_SPARSE, XP
from .._base.silence import silence
from .meta import dense_strides, refuse_overflow
from .sparse_and_dense import dense_plus
from .sparse_errors import check_parts, kernel_name, lacks, missing, no_copy, no_divisor, public_name
from .stored import KEEP_ZERO, Stored, StoredOperators, on_values
from .transforms import DEEPEST, VALUE_DTYPES

ARRAY_NAMES = frozenset(name for name in dir(np.ndarray) if not name.startswith("__"))
SPARSE_DEPTH = DEEPEST + 1  # a depth that no transform has: these dtypes belong to sparse payloads only


_HELD_HERE = 3  # the references to an array: an attribute, a local variable and an argument


class _Flags(NO_ROWS):
    def __getattr__(self, name: str) -> Any:
        raise missing(public_name(sys._getframe(1)))


def _no_comparison(name: str) -> Any:
    def compare(self: Sparse, other: object) -> Any:
        raise missing(f"{name}.{'Tensor' if isinstance(other, (Sparse, np.ndarray)) else 'Scalar'}")

    return compare


class Sparse(Stored):
    """A sparse array."""

    __module__ = "wengert._sparse"  # the module's name in pickles
    __slots__ = ("coalesced", "dtype", "indices", "shape", "values")
    __array_ufunc__ = None
    layout = sparse_coo
    flags = _Flags()

    def __init__(self, indices: Any, values: Any, shape: tuple[int, ...], coalesced: bool = False) -> None:
        self.indices, self.values, self.shape = indices, values, shape
        refuse_overflow(shape)
        self.coalesced = coalesced or indices.shape[1] < 2
        self.dtype = _dtype(values.dtype)

    strides = property(lambda self: (0,) * len(self.shape))  # as PyTorch says
    itemsize = property(lambda self: self.values.itemsize)
    nbytes = property(lambda self: self.indices.nbytes + self.values.nbytes)

    @property
    def is_in_own_memory(self) -> bool:
        """Whether the values lie in rows in memory that nothing but this array refers to."""
        a, base = self.values, self.values.base
        own = base is None or (type(base) is np.ndarray and base.base is None and sys.getrefcount(base) <= _HELD_HERE)
        return own and a.flags.c_contiguous and sys.getrefcount(a) <= _HELD_HERE

    def like(self, values: Any, coalesced: bool | None = None) -> Sparse:
        """Other values at the same indices."""
        return Sparse(self.indices, values, self.shape, self.coalesced if coalesced is None else coalesced)

    def copy(self) -> Sparse:
        """A copy on memory of its own."""
        return Sparse(self.indices.copy(), self.values.copy(), self.shape, self.coalesced)

    def emptied(self) -> Sparse:
        """An array of the same shape without stored elements."""
        return empty(self)

    def become(self, other: Sparse) -> None:
        """Write in place: tensors on this array see it, and those that share its values if the indices are the same."""
        if getattr(other, "layout", None) is not sparse_coo:
            raise no_copy(self, other)
        if other.indices is self.indices:
            np.copyto(self.values, other.values, casting="unsafe")
        else:
            self.indices, self.values = other.indices, other.values.astype(self.values.dtype, copy=False)
        self.coalesced = other.coalesced

    def written_into(self, a: Any) -> None:
        """Write the elements into a dense array."""
        np.copyto(a, self.to_dense(), casting="unsafe")

    def coalesce(self) -> Sparse:
        """Merge the values of equal indices by their sum, and sort the indices."""
        if self.coalesced:
            return self
        n = self.indices.shape[0]
        if not n:
            return Sparse(self.indices[:, :1], self.values.sum(0, self.values.dtype, keepdims=True), self.shape, True)
        flat = np.ravel_multi_index(tuple(self.indices), self.shape[:n]) if self.indices.size else self.indices[:1]
        places, own = np.unique(flat.reshape(-1), return_inverse=True)
        values = np.zeros((places.size, *self.values.shape[1:]), self.values.dtype)
        np.add.at(values, own, self.values)
        indices = np.array(np.unravel_index(places, self.shape[:n]), np.int64).reshape(n, places.size)
        return Sparse(indices, values, self.shape, True)

    def to_dense(self) -> Any:
        """The dense array."""
        dense_strides(self.shape, self.values.dtype.itemsize)  # an error if it is too large
        a = np.zeros(self.shape, self.values.dtype)
        if not len(self.indices):
            a += self.values.sum(0, self.values.dtype)
        elif self.coalesced:
            a[tuple(self.indices)] = self.values
        else:
            np.add.at(a, tuple(self.indices), self.values)
        return a

    @property
    def mT(self) -> Any:
        """The dense transpose, which a product's gradient needs: it is dense, as in PyTorch."""
        return self.to_dense().swapaxes(-1, -2)

    def __add__(self, other: Any) -> Any:
        return other + self if isinstance(other, np.ndarray) else SPARSE.add(self, other)

    def __radd__(self, other: Any) -> Any:
        return SPARSE.add(other, self)

    def __sub__(self, other: Any) -> Any:
        return SPARSE.sub(self, other)

    def __truediv__(self, other: Any) -> Any:
        return SPARSE.div(self, other)

    def __rsub__(self, other: Any) -> Any:
        raise missing("rsub.Scalar")

    def __rtruediv__(self, other: Any) -> Any:
        raise no_divisor(self)

    def __neg__(self) -> Any:
        return self.like(-self.values)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.")

    def __getattr__(self, name: str) -> Any:
        if name in ARRAY_NAMES:  # the caller expects an array
            raise missing(public_name(sys._getframe(1)))
        raise AttributeError(f"a sparse array has no attribute {name!r}")

    __eq__, __ne__, __lt__ = _no_comparison("eq"), _no_comparison("ne"), _no_comparison("lt")
    __le__, __gt__, __ge__ = _no_comparison("le"), _no_comparison("gt"), _no_comparison("ge")
    __hash__ = object.__hash__

    def __reduce__(self) -> Any:
        return Sparse, (self.indices, self.values, self.shape, self.coalesced), True

    def __setstate__(self, state: Any) -> None:
        self.indices, self.values = own_dtypes(self.indices, self.values)

    @staticmethod
    def with_dense(info: Any, *tensors: Any) -> Any:
        """Run an operator on several tensors, some of which are sparse."""
        for t in tensors:
            run = getattr(type(getattr(t, "_payload", None)), "with_dense", None)
            if run not in (None, Sparse.with_dense):  # sparse in another layout
                return run(info, *tensors)
        if not WITH_SPARSE:
            import_one.run("names.sparse")
        mix = WITH_SPARSE.get(info.name)
        if mix is None:
            raise missing(kernel_name(info.name))
        return mix(*tensors)


def own_dtypes(*arrays: Any) -> Any:
    """Arrays from a pickle, where NumPy makes new objects of dtypes, with the known ones."""
    return [a.view(BY_NUMPY[a.dtype].np) for a in arrays]


def _dtype(dtype: Any) -> Any:
    made = VALUE_DTYPES[dtype, SPARSE_DEPTH]
    BY_DTYPE[made] = SPARSE
    return made


# ---- raw functions
class Operators(StoredOperators):
    """The raw functions of operators on sparse arrays, by the operators' names."""

    def refusal_of(self, name: str, args: tuple[Any, ...]) -> Exception:
        return missing(kernel_name(name))

    def _add_scaled(self, x: Any, y: Any, alpha: Any) -> Any:
        if isinstance(x, Sparse) or not isinstance(y, Sparse):
            return self.add(x, self.mul(y, alpha) if isinstance(y, Sparse) else y)
        return dense_plus(np.asarray(x), y, alpha)

    def _sub_scaled(self, x: Any, y: Any, alpha: Any) -> Any:
        return self._add_scaled(x, y, -alpha)

    def add(self, x: Any, y: Any, factor: int = 1) -> Any:
        """The sum: sparse for two sparse arrays, dense for a dense and a sparse array."""
        if not isinstance(x, Sparse):
            return dense_plus(np.asarray(x), y, factor)
        if not isinstance(y, Sparse):
            raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
        return joined(x, y, factor)

    def sub(self, x: Any, y: Any) -> Any:
        return self.add(x, y, -1)

    def mul(self, x: Any, y: Any) -> Any:
        """The product with a number, or of two arrays at the indices that both store."""
        if not isinstance(x, Sparse):
            x, y = y, x
        if isinstance(y, Sparse):
            return intersection(x, y)
        y = y if np.ndim(y) == 0 else np.broadcast_to(y, x.shape)[tuple(x.indices)]
        # other indices, if equal: ``mul_`` writes to no values that others share, see ``become``
        return Sparse(x.indices[...], x.values * y, x.shape, x.coalesced)

    def div(self, x: Any, y: Any) -> Any:
        """The quotient by a number."""
        if not isinstance(x, Sparse) or isinstance(y, Sparse) or np.ndim(y):
            raise no_divisor(y)
        return x.like(x.values / y)

    def floor_divide(self, x: Any, y: Any) -> Any:
        """The quotient by a number, rounded down: of the elements, so equal indices are merged first."""
        return self._rounded(ARRAYS.floor_divide, x, y)

    _div_floor = floor_divide

    def _div_trunc(self, x: Any, y: Any) -> Any:
        """The quotient by a number, rounded to zero."""
        return self._rounded(ARRAYS._div_trunc, x, y)

    def _rounded(self, divide: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
        if not isinstance(x, Sparse) or isinstance(y, Sparse) or np.ndim(y):
            raise no_divisor(y)
        x = x.coalesce()
        return x.like(divide(x.values, y))

    def pow(self, x: Any, y: Any) -> Any:
        """The power with a number as exponent."""
        if not isinstance(x, Sparse) or np.ndim(y):
            raise missing("pow.Tensor_Tensor")
        x = x.coalesce()
        return x.like(x.values**y)

    def zeros_like(self, x: Any, *rest: Any) -> Sparse:
        """An array without stored elements."""
        return empty(x)

    def fill_number(self, x: Any, value: Any) -> Sparse:
        """``zero_``: any other number would make the array dense."""
        if value != 0:
            raise missing("fill_.Scalar")
        return empty(x)

    def sum_dim(self, x: Any, dims: Any, keepdim: bool) -> Any:
        """The sum over some dims: sparse if a sparse dimension is left."""
        if keepdim:
            raise missing("sum.dim_IntList")
        return summed(x, dims)

    def linalg_vector_norm(self, x: Any, order: Any, dims: Any, keepdim: bool) -> Any:
        """The norm of all elements, for a positive order, to which zeros add nothing."""
        if len(dims) != x.ndim or keepdim or order <= 0:
            raise missing("linalg_vector_norm")
        return ARRAYS.linalg_vector_norm(x.coalesce().values.reshape(-1), order, (0,), False)

    def bmm(self, x: Any, y: Any) -> Any:
        """Raises: the second factor must be dense."""
        raise RuntimeError("bmm_sparse: Tensor 'mat2' must be dense")

    def mat_mat(self, x: Any, y: Any) -> Any:
        """The sparse product of two sparse matrices."""
        return scipy_product(x, y)

    def copy(self, x: Any, y: Any, *rest: Any) -> Any:
        if not isinstance(x, Sparse) or not isinstance(y, Sparse):
            raise no_copy(x, y)
        return y.astype(x.values.dtype)

    def reshape(self, x: Any, *size: Any) -> Any:
        """Raises: sparse tensors have no ``reshape``."""
        raise lacks(x, "reshape")

    def expand(self, x: Any, *size: Any) -> Any:
        """Raises: sparse tensors have no ``expand``."""
        raise RuntimeError("expand is unsupported for Sparse tensors")

    def transpose_dims(self, x: Any, dim0: int, dim1: int) -> Sparse:
        """Exchange two dimensions, both sparse or both dense."""
        n = len(x.indices)
        if (dim0 < n) != (dim1 < n):
            raise RuntimeError(
                f"sparse transpose: transposed dimensions must be sparse Got sparse_dim: {n}, d0: {dim0}, d1: {dim1}"
            )
        shape = list(x.shape)
        shape[dim0], shape[dim1] = shape[dim1], shape[dim0]
        if dim0 >= n:
            values = np.swapaxes(x.values, dim0 - n + 1, dim1 - n + 1).copy()
            return Sparse(x.indices, values, tuple(shape), x.coalesced)
        order = list(range(n))
        order[dim0], order[dim1] = dim1, dim0
        return Sparse(x.indices[order], x.values.copy(), tuple(shape), dim0 == dim1 and x.coalesced)

    def matrix_t(self, x: Any) -> Sparse:
        return self.transpose_dims(x, 0, 1) if x.ndim == 2 else x

    def permute(self, x: Any, dims: Any) -> Sparse:
        """Reorder the sparse dimensions."""
        n = len(x.indices)
        if tuple(dims[n:]) != tuple(range(n, x.ndim)):
            raise RuntimeError("permute(): sparse dimensions can only be exchanged with each other")
        return Sparse(x.indices[list(dims[:n])], x.values, tuple(x.shape[d] for d in dims))

    def unsqueeze_dim(self, x: Any, dim: int) -> Sparse:
        n = len(x.indices)
        shape = (*x.shape[:dim], 1, *x.shape[dim:])
        if dim > n:
            return Sparse(x.indices, np.expand_dims(x.values, dim - n + 1), shape)
        return Sparse(np.insert(x.indices, dim, 0, axis=0), x.values, shape)  # not coalesced, in PyTorch either

    def select(self, x: Any, dim: int, index: int) -> Any:
        """One row: sparse, or an array if only dense dimensions are left."""
        n = len(x.indices)
        shape = x.shape[:dim] + x.shape[dim + 1 :]
        if dim >= n:
            return Sparse(x.indices, x.values[(slice(None),) * (dim - n + 1) + (index,)], shape, x.coalesced)
        here = x.indices[dim] == index
        if n == 1:
            return x.values[here].sum(0)
        return Sparse(np.delete(x.indices[:, here], dim, 0), x.values[here], shape, x.coalesced)

    def index(self, operands: Any, dims: Any) -> Any:
        """``index_select`` along a sparse dimension, with the rows in the result's order."""
        if len(operands) != 2 or not isinstance(operands[0], Sparse) or dims[0] >= len(operands[0].indices):
            raise missing("index.Tensor")
        x, wanted = operands[0], np.asarray(operands[1])
        if wanted.ndim != 1 or wanted.dtype.kind not in "iu":
            raise missing("index.Tensor")
        order = np.argsort(x.indices[dims[0]], kind="stable")
        first, last = (np.searchsorted(x.indices[dims[0]], wanted, side, sorter=order) for side in ("left", "right"))
        counts = last - first
        chosen = order[intp.repeat(last - counts.cumsum(), counts) + np.arange(counts.sum())]
        indices = x.indices[:, chosen]
        indices[dims[0]] = intp.repeat(np.arange(wanted.size), counts)
        shape = (*x.shape[: dims[0]], wanted.size, *x.shape[dims[0] + 1 :])
        return Sparse(indices, x.values[chosen], shape)

    def unbind(self, x: Any, dim: int) -> Any:
        return tuple(self.select(x, dim, i) for i in range(x.shape[dim]))

    def cat(self, xs: Any, dim: int) -> Sparse:
        """Concatenate: along a dense dimension the values of each array are filled up with zeros."""
        check_parts(xs, dim)
        n, start = len(xs[0].indices), 0
        shape = [*xs[0].shape]
        shape[dim] = sum(x.shape[dim] for x in xs)
        indices, values = [], []
        for x in xs:
            at, held = x.indices, x.values
            if dim < n:
                at = at.copy()
                at[dim] += start
            else:
                held = np.zeros((len(x.values), *shape[n:]), x.values.dtype)
                held[(slice(None),) * (dim - n + 1) + (slice(start, start + x.shape[dim]),)] = x.values
            start += x.shape[dim]
            indices.append(at)
            values.append(held)
        return Sparse(np.concatenate(indices, 1), np.concatenate(values), tuple(shape))

    def stack(self, xs: Any, dim: int) -> Sparse:
        return self.cat([self.unsqueeze_dim(x, dim) for x in xs], dim)

    def any_dim(self, x: Any, dims: Any, keepdim: bool) -> Any:
        """Whether any stored element is not zero, over all dims."""
        if len(dims) != x.ndim or keepdim:
            raise missing("any.dim")
        return np.bool_(x.coalesce().values.any())

    def sum_to(self, x: Any, shape: Any) -> Any:
        """Undo broadcasting: sparse arrays do not broadcast."""
        if tuple(shape) == x.shape:
            return x
        return ARRAYS.sum_to(x.to_dense(), shape)

    def conj(self, x: Any) -> Sparse:
        return x.like(np.conj(x.values))


on_values(Operators, KEEP_ZERO, lambda name, x: x if name == "neg" else x.coalesce())
SPARSE: Any = Operators()
XP[Sparse] = SPARSE


def empty(x: Sparse) -> Sparse:
    """An array of the same shape without stored elements."""
    n = len(x.indices)
    return Sparse(np.empty((n, 0), np.int64), np.empty((0, *x.shape[n:]), x.values.dtype), x.shape, True)


def joined(x: Sparse, y: Sparse, factor: int) -> Sparse:
    """``x + factor * y``: coalesced if both are, else the elements of x followed by those of y."""
    if x.shape != y.shape:
        raise RuntimeError(
            f"add: expected sizes of 'self' and 'other' to match, but {list(x.shape)} != {list(y.shape)}"
        )
    if len(x.indices) != len(y.indices):
        raise RuntimeError("add: expected 'self' and 'other' to have same number of sparse dimensions")
    if not y.indices.shape[1]:
        return x
    added = y.values if factor == 1 else y.values * y.values.dtype.type(factor)
    if not x.indices.shape[1]:
        return y.like(added)
    if not (x.values.flags.c_contiguous and y.values.flags.c_contiguous):
        return Sparse(np.concatenate([x.indices, y.indices], 1), np.concatenate([x.values, added]), x.shape)
    if not (_in_order(x) and _in_order(y)):
        return _merged(x, y, added)
    both = Sparse(np.concatenate([x.indices, y.indices], 1), np.concatenate([x.values, added]), x.shape).coalesce()
    both.coalesced = x.coalesced and y.coalesced
    return both


def _merged(x: Sparse, y: Sparse, added: Any) -> Sparse:
    """Go through both arrays at once, as PyTorch does, and add the elements that meet: others stay apart."""
    first, second = (_flat(s).tolist() for s in (x, y))
    i = j = 0
    own, others = [], []  # the place in x and in y of each element of the result, or -1
    while i < len(first) or j < len(second):
        here = i < len(first) and (j == len(second) or first[i] <= second[j])
        there = j < len(second) and (i == len(first) or second[j] <= first[i])
        own.append(i if here else -1)
        others.append(j if there else -1)
        i += here
        j += there
    ours, theirs = np.array(own), np.array(others)
    indices = np.where(ours >= 0, x.indices[:, ours], y.indices[:, theirs])
    values = np.zeros((len(ours), *x.values.shape[1:]), x.values.dtype)
    values[ours >= 0] = x.values[ours[ours >= 0]]
    values[theirs >= 0] += added[theirs[theirs >= 0]]
    return Sparse(indices, values, x.shape)


def _in_order(x: Sparse) -> bool:
    """Whether the indices are unique and sorted, as after ``coalesce``."""
    if x.coalesced:
        return True
    flat = _flat(x)
    return bool((flat[1:] > flat[:-1]).all())


def intersection(x: Sparse, y: Sparse) -> Sparse:
    """The products at the indices that both arrays store.

    If one of them is not coalesced, the result has its indices, with zeros where the other one stores nothing; if
    neither is, those of the one with fewer elements.
    """
    if not (len(x.values) and len(y.values)):
        return Sparse(x.indices[:, :0], x.values[:0] * y.values[:0], x.shape)
    if x.coalesced and y.coalesced:
        first, second = _flat(x), _flat(y)
        _, i, j = np.intersect1d(first, second, assume_unique=True, return_indices=True)
        return Sparse(x.indices[:, i], x.values[i] * y.values[j], x.shape, True)
    if x.coalesced or (not y.coalesced and x.indices.shape[1] >= y.indices.shape[1]):
        x, y = y, x
    y = y.coalesce()
    first, second = _flat(x), _flat(y)
    at = np.minimum(np.searchsorted(second, first), len(second) - 1)
    met = second[at] == first
    values = np.zeros_like(x.values)
    values[met] = x.values[met] * y.values[at[met]]
    return Sparse(x.indices, values, x.shape, False)


def _flat(x: Sparse) -> Any:
    """The places of the indices in the sparse dimensions, which are one place if there are none."""
    n = len(x.indices)
    return np.ravel_multi_index(tuple(x.indices), x.shape[:n]) if x.indices.size else np.zeros(len(x.values), np.int64)


def summed(x: Sparse, dims: Any) -> Any:
    """The sum over some dims: sparse if a sparse dimension is left, else an array."""
    x = x.coalesce()
    n = len(x.indices)
    left = [d for d in range(n) if d not in dims]
    dense = tuple(d - n + 1 for d in dims if d >= n)
    values = x.values.sum(dense) if dense else x.values
    if not left:
        return np.asarray(values.sum(0))
    shape = tuple(s for d, s in enumerate(x.shape) if d not in dims)
    return Sparse(x.indices[left], values, shape).coalesce()


def masked(a: Any, x: Sparse) -> Sparse:
    """The elements of a dense array at the indices that x stores."""
    if not len(x.indices):
        return x.like(np.broadcast_to(a, x.values.shape).copy())
    return x.like(np.array(a[tuple(x.indices)]))


def scipy_product(a: Any, b: Any) -> Any:
    """The product of two matrices, at least one of them sparse."""
    coo_array = from_scipy("sparse").coo_array

    factors = [coo_array((s.values, tuple(s.indices)), s.shape).tocsr() if isinstance(s, Sparse) else s for s in (a, b)]
    product = factors[0] @ factors[1]
    if isinstance(product, np.ndarray):
        return product
    product = product.tocoo()
    product.sum_duplicates()
    indices = np.array(product.coords, np.int64)
    order = np.lexsort(indices[::-1])
    return Sparse(indices[:, order], product.data[order], product.shape, True)


silence(sys.modules[__name__])
