"""Compressed sparse tensors, of layout ``torch.sparse_csr`` or ``torch.sparse_csc``: a type of payload, its operators.

A ``Compressed`` holds the ends of the rows (of the columns: CSC) among its elements, each element's column (row), and
the values. Names speak of *major* and *minor*: rows and columns for CSR, columns and rows for CSC.

ends      of shape (*batch, n_major + 1): PyTorch's crow_indices or ccol_indices
minor     of shape (*batch, nnz): col_indices or row_indices
values    of shape (*batch, nnz, *dense)

As in PyTorch, indices are not checked when a tensor is made, unless that is asked for. They are checked where they
are used (``coordinates``, ``matrix``): SciPy's loops would read beyond their arrays. Like sparse COO payloads, these
have a dtype object of their own, which leads operators on them and dense tensors away from the hot path.
"""

from __future__ import annotations

import math
import sys
from typing import Any, Self

import numpy as np

from .._arrays import intp
from .._arrays.library import BY_DTYPE
from .._arrays.scipy_functions import from_scipy
from .._base.aten_names import aten_name
from .._base.constants import sparse_csc, sparse_csr
from .._base.dtypes import BY_NUMPY
from .._base.errors import noted
from .._base.late_names import import_one
from .._base.registry import NO_ROWS, REGISTRY, WITH_COMPRESSED, XP
from .._base.silence import silence
from .compressed_errors import OVERLOADS, absent, layout_name, letters, no_loop, refuse_layouts
from .compressed_indices import check, coordinates, places, sizes
from .meta import dense_strides, refuse_overflow
from .sparse import ARRAY_NAMES, Sparse, own_dtypes
from .sparse_errors import public_name
from .stored import KEEP_ZERO, Stored, StoredOperators, on_values
from .transforms import VALUE_DTYPES, plain_dtype

COMPRESSED_DEPTH = -1  # a depth that no transform has: these dtypes belong to compressed payloads only


class _Flags(NO_ROWS):
    def __init__(self, of: Compressed) -> None:
        self.of = of

    c_contiguous = property(lambda self: self.of._refuse_contiguous())


class Compressed(Stored):
    """A compressed sparse array."""

    __slots__ = ("dtype", "ends", "layout", "minor", "shape", "values")
    is_in_own_memory = False  # it is copied where that matters

    def __init__(self, ends: Any, minor: Any, values: Any, shape: tuple[int, ...], layout: Any = sparse_csr) -> None:
        self.ends, self.minor, self.values, self.shape = ends, minor, values, shape
        refuse_overflow(shape)
        self.layout = layout
        self.dtype = made = VALUE_DTYPES[values.dtype, COMPRESSED_DEPTH]
        BY_DTYPE[made] = COMPRESSED

    nbytes = property(lambda self: self.ends.nbytes + self.minor.nbytes + self.values.nbytes)
    dense_dim = property(lambda self: self.values.ndim - self.minor.ndim)

    def like(self, values: Any) -> Self:
        """Other values at the same indices."""
        return type(self)(self.ends, self.minor, values, self.shape, self.layout)

    def copy(self) -> Compressed:
        """A copy on memory of its own."""
        return type(self)(self.ends.copy(), self.minor.copy(), self.values.copy(), self.shape, self.layout)

    def emptied(self) -> Compressed:
        """An array of the same shape and layout without elements."""
        return empty(self.shape, self.dtype, self.layout)

    def become(self, other: Any) -> None:
        """Write in place: tensors on this array see it, and those that share its values if the indices are the same."""
        if getattr(other, "layout", None) is not self.layout:
            raise RuntimeError(f"Expected result Tensor to be of format {letters(self)}")
        if other.ends is self.ends and other.minor is self.minor:
            np.copyto(self.values, other.values, casting="unsafe")
        else:
            self.ends, self.minor, self.shape = other.ends, other.minor, other.shape
            self.values = other.values.astype(self.values.dtype, copy=False)

    def written_into(self, a: Any) -> None:
        """Raise: a compressed array is not written into a dense one."""
        raise RuntimeError(f"Expected result Tensor to be of format {letters(self)}")

    def to_dense(self) -> Any:
        """The dense array."""
        n, m = sizes(self)
        batch, major, minor = places(self)
        values = self.values.reshape(len(minor), *self.values.shape[self.minor.ndim :])
        dense_strides(self.shape, values.dtype.itemsize)  # an error if it is too large
        a = np.zeros((math.prod(self.shape[: self.minor.ndim - 1]), n, m, *values.shape[1:]), values.dtype)
        flat = a.reshape(-1, *values.shape[1:])
        here = (batch * n + major) * m + minor
        if (here[1:] > here[:-1]).all():
            flat[here] = values
        else:
            np.add.at(flat, here, values)
        return np.ascontiguousarray(a if self.layout is sparse_csr else a.swapaxes(1, 2)).reshape(self.shape)

    @property
    def mT(self) -> Compressed:
        """The transpose: the same arrays in the other layout."""
        d = self.minor.ndim + 1
        shape = (*self.shape[: d - 2], self.shape[d - 1], self.shape[d - 2], *self.shape[d:])
        return Compressed(
            self.ends, self.minor, self.values, shape, sparse_csc if self.layout is sparse_csr else sparse_csr
        )

    __radd__ = Stored.__add__

    def __pow__(self, other: Any) -> Any:
        raise no_loop(self)

    __rpow__ = __sub__ = __rsub__ = __truediv__ = __rtruediv__ = __mod__ = __rmod__ = __pow__
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __pow__
    __hash__ = object.__hash__

    def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **kwargs: Any) -> Any:
        name = {"negative": "neg", "multiply": "mul", "absolute": "abs"}.get(ufunc.__name__, ufunc.__name__)
        if method != "__call__" or kwargs or not hasattr(Operators, name):
            raise no_loop(self)
        return getattr(COMPRESSED, name)(*operands)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise noted(
            TypeError(f"can't convert {layout_name(self)} layout tensor to numpy. Use Tensor.to_dense() first."),
            "What to do: tensor.to_dense() gives a tensor that every operator takes.",
        )

    def __getattr__(self, name: str) -> Any:
        if name == "strides":
            raise self.without()
        if name == "flags":
            return _Flags(self)
        if name in ARRAY_NAMES:  # the caller expects an array
            raise absent(public_name(sys._getframe(1)))
        raise AttributeError(f"a compressed sparse array has no attribute {name!r}")

    def _refuse_contiguous(self) -> Any:
        raise self.without("is_contiguous")

    def without(self, what: str = "strides") -> RuntimeError:
        """PyTorch's error of views and of what asks for the order of elements in memory."""
        return noted(
            RuntimeError(f"Sparse {letters(self)} tensors do not have {what}"),
            "What to do: tensor.to_dense() gives a tensor that every operator takes.",
        )

    def __reduce__(self) -> Any:
        return type(self), (self.ends, self.minor, self.values, self.shape, self.layout), True

    def __setstate__(self, state: Any) -> None:
        self.ends, self.minor, self.values = own_dtypes(self.ends, self.minor, self.values)

    @staticmethod
    def with_dense(info: Any, *args: Any) -> Any:
        """Run an operator on several tensors, some of which are compressed."""
        if not WITH_COMPRESSED:
            import_one.run("names.compressed")
        mix = WITH_COMPRESSED.get(info.name)
        if mix is None:
            x = next(a._payload for a in args if isinstance(getattr(a, "_payload", None), Compressed))
            raise refusal(x, info.name)
        return mix(*args)


def refusal(x: Any, name: str) -> Exception:
    """PyTorch's error for an operator that a compressed array does not have."""
    info = REGISTRY.get(name)
    if isinstance(x, Compressed) and info is not None:
        if info.kind in ("unary", "binary") or info.batch == "elementwise":
            return no_loop(x)
        if info.view and info.called not in ("view", "permute", "view_as_real"):
            return x.without()
        name = aten_name(info)
    name = name.strip("_")
    overload = OVERLOADS.get(name, "")
    return absent("as_strided" if name == "permute" else name + overload if overload[:1] in ("", ".") else overload)


# ---- making
def built(coords: Any, values: Any, shape: tuple[int, ...], layout: Any, index: Any = np.int64) -> Compressed:
    """An array of elements at distinct coordinates (batch, row, column), given in any order."""
    d = len(shape) - values.ndim - 1
    batch, major, minor = coords if layout is sparse_csr else (coords[0], coords[2], coords[1])
    n = shape[d if layout is sparse_csr else d + 1]
    batches = math.prod(shape[:d])
    per_batch = intp.bincount(batch, minlength=batches)
    if batches and (per_batch != per_batch[0]).any():
        raise RuntimeError("Expect the same number of specified elements per batch.")
    nnz = int(per_batch[0]) if batches else 0
    order = np.lexsort((minor, major, batch))
    ends = np.zeros((batches, n + 1), index)
    np.cumsum(intp.bincount(batch * n + major, minlength=batches * n).reshape(batches, n), 1, out=ends[:, 1:])
    return Compressed(
        ends.reshape(*shape[:d], n + 1),
        minor[order].astype(index, copy=False).reshape(*shape[:d], nnz),
        values[order].reshape(*shape[:d], nnz, *values.shape[1:]),
        shape,
        layout,
    )


def flat_values(x: Compressed) -> Any:
    """The values with the batches one after the other."""
    return x.values.reshape(x.minor.size, *x.values.shape[x.minor.ndim :])


def in_layout(x: Any, layout: Any, dense_dim: int = 0) -> Any:
    """An array of any layout in one of the compressed layouts."""
    if isinstance(x, Compressed):
        if x.layout is layout:
            return x
        return built(coordinates(x), flat_values(x), x.shape, layout, x.minor.dtype)
    if isinstance(x, Sparse):
        x = x.coalesce()
        return built((np.zeros(x.indices.shape[1], np.int64), *x.indices), x.values, x.shape, layout)
    d = x.ndim - 2 - dense_dim
    held = x != 0
    if dense_dim:
        held = held.any(tuple(range(d + 2, x.ndim)))
    held = held.reshape(math.prod(x.shape[:d]), *x.shape[d : d + 2])
    coords = held.nonzero()
    return built(coords, x.reshape(*held.shape, *x.shape[d + 2 :])[coords], x.shape, layout)


def to_coo(x: Compressed) -> Sparse:
    """The same elements in the layout COO, in their order."""
    batch, row, column = coordinates(x)
    shape = x.shape[: x.minor.ndim - 1]
    indices = np.array([*(np.unravel_index(batch, shape) if shape else ()), row, column], np.int64)
    return Sparse(indices.reshape(len(shape) + 2, -1), flat_values(x), x.shape, x.layout is sparse_csr)


def empty(shape: tuple[int, ...], dtype: Any, layout: Any) -> Compressed:
    """An array without elements."""
    n = shape[-2 if layout is sparse_csr else -1]
    none = np.empty((*shape[:-2], 0), np.int64)
    return Compressed(np.zeros((*shape[:-2], n + 1), np.int64), none, none.astype(plain_dtype(dtype)), shape, layout)


# ---- raw functions
class Operators(StoredOperators):
    """The raw functions of operators on compressed arrays, by the operators' names."""

    def refusal_of(self, name: str, args: tuple[Any, ...]) -> Exception:
        return refusal(next((a for a in args if isinstance(a, Compressed)), None), name)

    def add(self, x: Any, y: Any, factor: Any = 1) -> Any:
        """The sum: compressed if both arrays are, else dense."""
        if not isinstance(x, Compressed) or not isinstance(y, Compressed):
            return _plus_dense(x, y, factor)
        if x.shape != y.shape:
            raise _differ(x, y)
        if x.layout is not y.layout:
            raise RuntimeError(
                f"crow_indices expected sparse row compressed tensor layout but got {layout_name(sparse_csc)}"
            )
        added = y.values * y.values.dtype.type(factor) if factor != 1 else y.values
        if x.ends is y.ends and x.minor is y.minor:
            return x.like(x.values + added)
        all_places, own = np.unique(np.concatenate([_keys(x), _keys(y)]), return_inverse=True)
        values = np.zeros((all_places.size, *x.values.shape[x.minor.ndim :]), x.values.dtype)
        np.add.at(values, own.reshape(-1), np.concatenate([flat_values(x), flat_values(y.like(added))]))
        coords = np.unravel_index(all_places, _batched(x)) if x.size else (all_places,) * 3
        return built(coords, values, x.shape, x.layout, x.minor.dtype)

    def _add_scaled(self, x: Any, y: Any, alpha: Any) -> Any:
        return self.add(x, y, alpha)

    def mul(self, x: Any, y: Any) -> Any:
        """The product with a number or a dense array, or of two arrays at the indices that both store."""
        if not isinstance(x, Compressed):
            x, y = y, x
        sparse = isinstance(y, (Compressed, Sparse))
        if not sparse and np.ndim(y) == 0:
            return x.like(x.values * y)
        if x.layout is not sparse_csr:
            raise RuntimeError("Expected result Tensor to be of format CSR")
        if sparse:
            return _intersection(x, y)
        if y.shape != x.shape:
            raise unequal(y.shape, x)
        return x.like((flat_values(x) * _at(x, y)).reshape(x.values.shape))

    def fill_number(self, x: Any, value: Any) -> Compressed:
        """All stored elements become this number."""
        return x.like(np.full_like(x.values, value))

    def copy(self, x: Any, y: Any, *rest: Any) -> Any:
        if layout_name(x) != layout_name(y):
            if not isinstance(x, Compressed):
                raise RuntimeError("copy_sparse_compressed_ expected sparse compressed tensor layout but got Strided")
            raise RuntimeError(
                "torch.copy_: copy of sparse compressed tensors having different layouts is not supported. "
                f"self layout is {layout_name(x)} and src layout is {layout_name(y)}"
            )
        if x.values.shape != y.values.shape:
            raise RuntimeError(
                "torch.copy_: only sparse compressed tensors with the same number of specified elements are supported."
            )
        return y.copy().astype(x.values.dtype)

    def sum_dim(self, x: Any, dims: Any, keepdim: bool) -> Any:
        """The sum over one or both dimensions of a CSR matrix, as one."""
        if x.layout is not sparse_csr:
            raise RuntimeError(
                "Currently the only compressed sparse format supported for sum.dim_IntList is CSR, but got layout "
                f"{layout_name(x)}"
            )
        if not keepdim:
            raise RuntimeError("reduction operations on CSR tensors with keepdim=False is unsupported")
        if x.ndim != 2:
            raise absent("sum.dim_IntList")
        _, row, column = coordinates(x)
        lines, own = np.unique(row if 0 not in dims else column if 1 not in dims else row * 0, return_inverse=True)
        values = np.zeros(lines.size, x.values.dtype)
        np.add.at(values, own.reshape(-1), x.values)
        none = lines * 0
        coords = (none, none if 0 in dims else lines, none if 1 in dims else lines)
        return built(coords, values, tuple(1 if d in dims else s for d, s in enumerate(x.shape)), sparse_csr)

    def mat_mat(self, x: Any, y: Any) -> Any:
        return product(x, y)

    mat_vec = vec_mat = mat_mat

    def affine_mm(self, x: Any, y: Any, c: Any, beta: Any, alpha: Any) -> Any:
        """``beta * c + alpha * x @ y``."""
        refuse_layouts(*map(layout_name, (c, x, y)))
        added = c if beta == 1 else self.mul(c, c.values.dtype.type(beta))
        return self.add(added, in_layout(product(x, y), c.layout), alpha)

    def _threshold_backward(self, g: Any, x: Any, threshold: Any) -> Compressed:
        return x.like(np.where(x.values <= threshold, 0, masked(g, x).values))

    def expand(self, x: Any, *size: Any) -> Any:
        """Raises: compressed tensors have no ``expand``."""
        raise RuntimeError(f"expand is unsupported for {layout_name(x)} tensors")

    def unbind(self, x: Any, dim: int) -> Any:
        return tuple(self.select(x, dim, i) for i in range(x.shape[dim]))

    def transpose_dims(self, x: Any, dim0: int, dim1: int) -> Compressed:
        """Exchange rows and columns, which changes the layout."""
        d = x.minor.ndim - 1
        if x.dense_dim:
            raise RuntimeError("transpose(): hybrid sparse compressed tensors with dense dimensions are not supported")
        kinds = ["Batch" if i < d else "Sparse" if i < d + 2 else "Dense" for i in (dim0, dim1)]
        if kinds[0] != kinds[1]:
            raise RuntimeError(
                "transpose(): can only transpose dimensions of the same type (Batch, Sparse, Dense), got "
                f"{dim0}({kinds[0]}) and {dim1}({kinds[1]})"
            )
        if dim0 == dim1:
            return x
        if kinds[0] == "Sparse":
            return x.mT
        shape = list(x.shape)
        shape[dim0], shape[dim1] = shape[dim1], shape[dim0]
        ends, minor, values = (np.swapaxes(a, dim0, dim1) for a in (x.ends, x.minor, x.values))
        return Compressed(ends, minor, values, tuple(shape), x.layout)

    def matrix_t(self, x: Any) -> Compressed:
        return x.mT

    def select(self, x: Any, dim: int, index: int) -> Any:
        """One matrix of a batch, or a row or column in the layout COO."""
        d = x.minor.ndim - 1
        if dim < d:
            ends, minor, values = (a[(slice(None),) * dim + (index,)] for a in (x.ends, x.minor, x.values))
            return Compressed(ends, minor, values, x.shape[:dim] + x.shape[dim + 1 :], x.layout)
        if d:
            raise RuntimeError(
                f"select(): selecting rows or columns is not implemented for batched sparse compressed tensors, got "
                f"{d} batch dimensions"
            )
        if dim >= 2:
            made = x.values[(slice(None),) * (dim - 1) + (index,)]
            return Compressed(x.ends, x.minor, made, x.shape[:dim] + x.shape[dim + 1 :], x.layout)
        coo = to_coo(x)
        here = coo.indices[dim] == index
        left = coo.indices[1 - dim, here]
        order = intp.argsort(left, -1, "stable")
        return Sparse(left[None, order], coo.values[here][order], x.shape[:dim] + x.shape[dim + 1 :], True)


on_values(Operators, f"{KEEP_ZERO} angle isneginf isposinf")
COMPRESSED: Any = Operators()
XP[Compressed] = COMPRESSED


def _batched(x: Compressed) -> tuple[int, ...]:
    """The shape with the batch dimensions as one, without dense dimensions."""
    d = x.minor.ndim - 1
    return (math.prod(x.shape[:d]), *x.shape[d : d + 2])


def unequal(shape: Any, x: Compressed) -> RuntimeError:
    """PyTorch's error for a mask of another shape."""
    return RuntimeError(
        f"sparse_mask(): operands have incompatible sizes; self has size {list(shape)} but mask has size "
        f"{list(x.shape)}"
    )


def _differ(x: Any, y: Any) -> RuntimeError:
    return RuntimeError(
        f"add: expected 'self' and 'other' to have same size, but self has size {list(x.shape)} while other has size "
        f"{list(y.shape)} (FYI: op2-sparse addition does not currently support broadcasting)"
    )


def _plus_dense(x: Any, y: Any, factor: Any) -> Any:
    """``x + factor * y``, of which one is dense."""
    if isinstance(y, Sparse) or isinstance(x, Sparse):
        raise RuntimeError(
            f"add: a {layout_name(x)} and a {layout_name(y)} tensor cannot be added: convert one of them"
        )
    sparse, dense = (x, np.asarray(y)) if isinstance(x, Compressed) else (y, np.asarray(x))
    if dense.shape != sparse.shape:
        raise _differ(dense, sparse)
    scaled = dense.dtype.type(factor)
    return dense * scaled + sparse.to_dense() if sparse is x else dense + sparse.to_dense() * scaled


def _at(x: Compressed, dense: Any) -> Any:
    """A dense array's elements at the indices that x stores."""
    return dense.reshape(*_batched(x), *x.shape[x.minor.ndim + 1 :])[coordinates(x)]


def _keys(x: Compressed) -> Any:
    """The number of each element's place in the dense array."""
    return np.ravel_multi_index(coordinates(x), _batched(x)) if x.size else x.minor.reshape(-1)


def _common(x: Compressed, y: Any) -> tuple[Any, Any, Any, Compressed]:
    """The places that both arrays store, which elements of x and of y lie there, and y as a compressed array."""
    if x.shape != y.shape:
        raise RuntimeError(f"mul(sparse, sparse): expected sizes to match, but {list(x.shape)} != {list(y.shape)}")
    if isinstance(y, Sparse):
        y = in_layout(y, x.layout)
    return (*np.intersect1d(_keys(x), _keys(y), return_indices=True), y)


def _intersection(x: Compressed, y: Any) -> Compressed:
    """The products at the indices that both arrays store, in the layout of x."""
    keys, i, j, y = _common(x, y)
    coords = np.unravel_index(keys, _batched(x)) if x.size else (keys,) * 3
    return built(coords, flat_values(x)[i] * flat_values(y)[j], x.shape, x.layout, x.minor.dtype)


def masked(a: Any, x: Compressed) -> Compressed:
    """The elements of an array of any layout at the indices that x stores."""
    if not isinstance(a, (Compressed, Sparse)):
        return x.like(_at(x, a).reshape(x.values.shape))
    if isinstance(a, Compressed) and a.ends is x.ends and a.minor is x.minor:
        return a
    _, i, j, a = _common(x, a)
    values = np.zeros((x.minor.size, *a.values.shape[a.minor.ndim :]), a.values.dtype)
    values[i] = flat_values(a)[j]
    return x.like(values.reshape(*x.minor.shape, *values.shape[1:]))


# ---- products
def matrix(x: Any) -> Any:
    """SciPy's array on the same memory, checked; a dense array is returned itself."""
    if not isinstance(x, Compressed):
        return x
    check(x, order=False)
    cls = getattr(from_scipy("sparse"), "csr_array" if x.layout is sparse_csr else "csc_array")
    return cls((x.values, x.minor, x.ends), shape=x.shape)


def product(x: Any, y: Any) -> Any:
    """The product of matrices, or of a matrix and a vector: CSR if both are compressed, else dense."""
    both = isinstance(x, Compressed) and isinstance(y, Compressed)
    for a in (x, y):
        if isinstance(a, Compressed):
            if a.dense_dim or a.ndim != 2:
                raise absent("mm")
            if a.values.dtype.kind not in "fc" or a.values.dtype.itemsize < 4:
                kernel = "addmm_out_sparse_csr_impl_mkl" + ("_sparse" if both else "")
                raise NotImplementedError(f"\"{kernel}\" not implemented for '{BY_NUMPY[a.values.dtype].scalar_name}'")
    if not both:
        return np.ascontiguousarray(matrix(x) @ matrix(y))
    first, second = matrix(x).tocsr(), matrix(y).tocsr()
    r = first @ second
    r.sort_indices()
    r = Compressed(r.indptr, r.indices, r.data, (x.shape[0], y.shape[1]))
    for factor in (first, second):  # once more for the elements that happen to be zero, which SciPy leaves out
        factor.data = np.ones(len(factor.data), np.float32)
    pattern = first @ second
    pattern.sort_indices()
    index = x.minor.dtype
    whole = Compressed(pattern.indptr.astype(index), pattern.indices.astype(index), pattern.data, r.shape)
    return masked(r, whole)


def sampled(x: Compressed, a: Any, b: Any) -> Any:
    """The elements of the dense product ``a @ b`` at the indices that x stores, of which no other is computed."""
    _, row, column = coordinates(x)
    r = np.empty(len(row), np.result_type(a, b))
    step = max(1, 1 << 20 // max(1, a.shape[1]))
    for first in range(0, len(row), step):
        part = slice(first, first + step)
        r[part] = np.einsum("ij,ij->i", a[row[part]], b.T[column[part]])
    return r


silence(sys.modules[__name__])
