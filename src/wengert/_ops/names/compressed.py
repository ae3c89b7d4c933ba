"""Compressed sparse tensors (CSR and CSC): constructors, accessors, conversions, and operators beside dense tensors.

The payload and its operators are in ``_payloads.compressed``, which is imported with the first such tensor. Functions
that COO tensors have too (``values``, ``to_dense``, ...) are in ``names.sparse`` and call those of this module.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._base.constants import layout as Layout
from ..._base.constants import sparse_bsc, sparse_bsr, sparse_coo, sparse_csc, sparse_csr, strided
from ..._base.dtypes import BY_NUMPY
from ..._base.dtypes import dtype as DType
from ..._base.errors import noted
from ..._base.registry import WITH_COMPRESSED, public, publish
from ..._kinds.slow_path import misfit
from ..._payloads.blocks import GRIDS, Blocks, blocks_at, in_blocks, in_coo, in_grid
from ..._payloads.compressed import COMPRESSED, Compressed, in_layout, masked, product, sampled, to_coo, unequal
from ..._payloads.compressed_errors import layout_name, no_blocks, refuse_layouts
from ..._payloads.compressed_indices import check, coordinates
from ..._payloads.sparse_errors import missing
from ..._tape.error_text import expect_tensor
from ..._tape.promotion import cast, common_dtype, logical_dtype
from ..._tape.tensor import Tensor, wrap
from .sparse import CHECKED, is_compressed, is_sparse, recorded_by, refuse_transforms

_CONSTRUCTED = "SparseCompressedTensorBackward0"


# ---- constructors
@public("torch.sparse_compressed_tensor")
def sparse_compressed_tensor(
    compressed_indices: Any = None,
    plain_indices: Any = None,
    values: Any = None,
    size: Any = None,
    *,
    dtype: DType | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Tensor:
    """A sparse tensor of layout ``torch.sparse_csr`` or ``torch.sparse_csc``; see ``sparse_csr_tensor``.

    >>> torch.sparse_compressed_tensor([0, 1, 2], [1, 0], [1., 2.], layout=torch.sparse_csc).to_dense()
    tensor([[0., 2.],
            [1., 0.]])
    """
    name = "sparse_compressed_tensor"
    if layout not in (sparse_csr, sparse_csc):
        if isinstance(layout, Layout) and layout not in (strided, sparse_coo):
            raise no_blocks(layout)
        shown = layout_name(layout) if isinstance(layout, Layout) else "none"
        raise RuntimeError(f"{name} expected sparse compressed tensor layout but got {shown}")
    given = (compressed_indices, plain_indices, values, size)
    return _make(name, layout, given, dtype, device, requires_grad, check_invariants)


@public("torch.sparse_csr_tensor")
def sparse_csr_tensor(
    crow_indices: Any = None,
    col_indices: Any = None,
    values: Any = None,
    size: Any = None,
    *,
    dtype: DType | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Tensor:
    """A sparse tensor in the layout CSR (compressed rows), of shape ``(*batch, rows, columns, *dense)``.

    ``crow_indices`` has shape ``(*batch, rows + 1)``: the elements of row i are those from ``crow_indices[i]`` to
    ``crow_indices[i + 1]``. ``col_indices`` has the column of each element and shape ``(*batch, nnz)``, ``values`` has
    shape ``(*batch, nnz, *dense)``; gradients flow to them. ``size`` is by default the smallest that holds all
    elements. Indices are checked now with ``check_invariants=True``, else where they are used.

    Raises:
        RuntimeError: the indices do not fit each other or the size, and are checked.

    >>> x = torch.sparse_csr_tensor([0, 1, 3], [1, 0, 2], [1., 2., 3.], (2, 3))
    >>> x
    tensor(crow_indices=tensor([0, 1, 3]),
           col_indices=tensor([1, 0, 2]),
           values=tensor([1., 2., 3.]), size=(2, 3), nnz=3,
           layout=torch.sparse_csr)
    >>> x @ torch.ones(3)
    tensor([1., 5.])
    """
    given = (crow_indices, col_indices, values, size)
    return _make("sparse_csr_tensor", sparse_csr, given, dtype, device, requires_grad, check_invariants)


@public("torch.sparse_csc_tensor")
def sparse_csc_tensor(
    ccol_indices: Any = None,
    row_indices: Any = None,
    values: Any = None,
    size: Any = None,
    *,
    dtype: DType | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Tensor:
    """A sparse tensor in the layout CSC (compressed columns): ``sparse_csr_tensor`` with rows and columns exchanged.

    >>> torch.sparse_csc_tensor([0, 1, 3], [1, 0, 1], [1., 2., 3.]).to_dense()
    tensor([[0., 2.],
            [1., 3.]])
    """
    given = (ccol_indices, row_indices, values, size)
    return _make("sparse_csc_tensor", sparse_csc, given, dtype, device, requires_grad, check_invariants)


def _make(
    name: str, layout: Any, given: tuple[Any, ...], dtype: Any, device: Any, requires_grad: bool, checked: bool | None
) -> Tensor:
    from ..._tensor_api.construct import check_flag, cpu_only, tensor

    *parts, size = given
    wrong_size = size is not None and not isinstance(size, (tuple, list, np.ndarray))
    if any(part is None for part in parts) or wrong_size or not isinstance(dtype, (DType, type(None))):
        given = tuple(part for part in given if part is not None)
        raise misfit(name, *given, **({} if dtype is None else {"dtype": dtype}))
    cpu_only(device, name)
    check_flag(requires_grad, name)
    ends, minor, values = (part if isinstance(part, Tensor) else tensor(part) for part in parts)
    if dtype is not None:
        values = values.to(dtype)
    a, b, c = (np.asarray(t._payload) for t in (ends, minor, values))
    shape = _estimate(a, b, c, layout) if size is None else tuple(int(n) for n in size)
    if any(n < 0 for n in shape) and not checked:
        raise RuntimeError("numel: integer multiplication overflow")
    x = Compressed(a, b, c, shape, layout)
    if CHECKED.get() if checked is None else checked:
        check(x)
    t = with_values(x, values, _CONSTRUCTED)
    return t.requires_grad_() if requires_grad and t._node is None else t


def _estimate(ends: Any, minor: Any, values: Any, layout: Any) -> tuple[int, ...]:
    """The smallest shape that holds all elements."""
    if minor.dtype.kind not in "iu":
        kind = BY_NUMPY[minor.dtype].scalar_name
        raise NotImplementedError(f"\"estimate_sparse_compressed_tensor_size\" not implemented for '{kind}'")
    batch = ends.ndim - 1
    if batch < 0 or minor.ndim != ends.ndim or values.ndim <= batch:
        check(Compressed(ends, minor, values, (0,) * (batch + 2), layout))
    n, m = ends.shape[-1] - 1, int(minor.max()) + 1 if minor.size else 0
    return (*ends.shape[:batch], *((n, m) if layout is sparse_csr else (m, n)), *values.shape[batch + 1 :])


@public("torch._validate_sparse_csr_tensor_args")
def _validate_sparse_csr_tensor_args(crow_indices: Tensor, col_indices: Tensor, values: Tensor, size: Any) -> None:
    """Check the arguments of ``sparse_csr_tensor``."""
    ends, minor, elements = (np.asarray(t._payload) for t in (crow_indices, col_indices, values))
    check(Compressed(ends, minor, elements, tuple(size)))


# ---- accessors
def _indices(name: str, layout: Any, kind: str, slot: str, doc: str) -> None:
    def get(self: Tensor) -> Tensor:
        if GRIDS.get(had := getattr(self._payload, "layout", strided), had) is not layout:
            raise RuntimeError(
                f"{name} expected sparse {kind} compressed tensor layout but got {layout_name(self._payload)}"
            )
        return wrap(getattr(self._payload, slot))

    def copied(input: Tensor) -> Tensor:
        return get(expect_tensor(f"{name}_copy", "input", 1, input)).clone()

    get.__doc__ = doc
    get.__name__, copied.__name__ = name, f"{name}_copy"
    shown = "[0, 1, 2]" if slot == "ends" else "[0, 1]"
    copied.__doc__ = (
        f"A copy of ``Tensor.{name}()``.\n\n    >>> import wengert as torch\n    >>> "
        f"torch.{name}_copy(torch.eye(2).to_sparse_{repr(layout)[-3:]}())\n    tensor({shown})\n    "
    )
    public(f"Tensor.{name}")(get)
    public(f"torch.{name}_copy")(copied)


_indices("crow_indices", sparse_csr, "row", "ends", "The ends of a CSR tensor's rows among its elements.")
_indices("col_indices", sparse_csr, "row", "minor", "The column of each element of a CSR tensor.")
_indices("ccol_indices", sparse_csc, "column", "ends", "The ends of a CSC tensor's columns among its elements.")
_indices("row_indices", sparse_csc, "column", "minor", "The row of each element of a CSC tensor.")


@public("torch.values_copy")
def values_copy(input: Tensor) -> Tensor:
    """A copy of ``Tensor.values()``.

    >>> torch.values_copy(torch.eye(2).to_sparse_csr())
    tensor([1., 1.])
    """
    return expect_tensor("values_copy", "input", 1, input).values().clone()


def _is_sparse_csr(self: Tensor) -> bool:
    """Whether the tensor's layout is ``torch.sparse_csr``."""
    return getattr(self._payload, "layout", None) is sparse_csr


publish(property(_is_sparse_csr), "Tensor.is_sparse_csr")


def values_of(t: Tensor) -> Tensor:
    """The elements, recorded."""
    x = t._payload
    return recorded_by("ValuesBackward0", x.values, (t,), lambda g: with_values(x, g))


def with_values(x: Compressed, values: Tensor, label: str = "WithValuesBackward0") -> Tensor:
    """Other values at the indices of x, recorded."""
    made = x.like(np.asarray(values._payload))
    return recorded_by(label, made, (values,), lambda g: elements_at(g, made))


def elements_at(t: Tensor, x: Compressed) -> Tensor:
    """The elements of a tensor of any layout at the indices of x, in the shape of its values."""
    if getattr(t._payload, "layout", strided) is not strided:
        return values_of(masked_by(t, x))
    d = x.minor.ndim - 1
    grid = x.grid if isinstance(x, Blocks) else x
    if grid is not x:
        t = in_grid(t, d, x.blocksize)
    rows: Any = t.reshape(math.prod(x.shape[:d]), *grid.shape[d:])
    return rows[tuple(map(wrap, coordinates(grid)))].reshape(x.values.shape)


def masked_by(t: Tensor, x: Compressed) -> Tensor:
    """The elements of a tensor of any layout at the indices of x, as a tensor like x."""
    if tuple(t.shape) != x.shape:
        raise unequal(t.shape, x)
    a = t._payload
    if isinstance(x, Blocks):
        made: Any = x.like(blocks_at(a.to_dense() if is_compressed(t) or is_sparse(t) else a, x))
    else:
        made = masked(a, x)
    return recorded_by("SparseMaskBackward0", made, (t,), lambda g: _as(g, a))


# ---- conversions
def _as(t: Tensor, a: Any) -> Tensor:
    """A tensor in the layout of a payload."""
    return converted(t, getattr(a, "layout", strided), size=getattr(a, "blocksize", None))


def converted(
    t: Tensor, layout: Any, label: str = "ToSparseBackward1", dense_dim: int | None = None, size: Any = None
) -> Tensor:
    """A tensor in one of the layouts, recorded. ``size``: that of the blocks, in a layout of blocks."""
    a = t._payload
    old = getattr(a, "layout", strided)
    if old is layout and size in (None, getattr(a, "blocksize", None)):
        return t
    if layout in GRIDS:
        if old is strided:
            refuse_transforms(f"_to_{layout}".replace("torch.", ""), t)
            a = np.asarray(a)
            if a.ndim < 2 + (dense_dim or 0):
                raise IndexError(f"Dimension out of range (expected to be in range of [-1, 0], but got {-2})")
        made: Any = in_blocks(a, layout, size, dense_dim or 0)
    elif layout in (sparse_csr, sparse_csc):
        if old in GRIDS:
            name = f"sparse_compressed_to_{layout}".replace("torch.", "")
            raise RuntimeError(f"{name}: expected SparseCsr or SparseCsc layout but got {layout_name(a)}")
        if old is strided:
            refuse_transforms(f"_to_{layout}".replace("torch.", ""), t)
            a = np.asarray(a)
            if a.ndim < 2 + (dense_dim or 0):
                raise noted(
                    IndexError(f"select(): index 1 out of range for tensor of size {[2, a.ndim]} at dimension 1"),
                    f"Why: a compressed layout is of matrices or batches of them, and the tensor has {a.ndim} dims.",
                )
        elif old is sparse_coo and len(a.indices) != 2:
            raise RuntimeError(
                f"coo_to_sparse_{layout_name(layout)[-3:].lower()}: conversion from Sparse to {layout_name(layout)} "
                "for input tensors with sparse_dim()!=2 is not supported"
            )
        made = in_layout(a, layout, dense_dim or 0)
    elif layout is sparse_coo:
        made = in_coo(a) if old in GRIDS else to_coo(a) if old is not strided else t.to_sparse()._payload
    elif layout is strided:
        made, label = a.to_dense(), "ToDenseBackward0"
    else:
        raise no_blocks(layout)
    return recorded_by(label, made, (t,), lambda g: _as(g, a))


def _in_blocks(name: str, layout: Any) -> None:
    def convert(self: Tensor, blocksize: Any, dense_dim: int | None = None) -> Tensor:
        size = (blocksize,) * 2 if isinstance(blocksize, int) else tuple(blocksize)
        if len(size) != 2:
            raise RuntimeError(f"dense_{name}: blocksize needs to be a tuple of size 2, but got {len(size)}")
        return converted(self, layout, f"ToSparse{name[-3:].capitalize()}Backward0", dense_dim, size)

    convert.__name__ = name
    convert.__doc__ = (
        f"The tensor in the layout {name[-3:].upper()}: its nonzero blocks of shape ``blocksize``, a number or a pair."
        f"\n\n    >>> import wengert as torch\n    >>> torch.eye(4).{name}(2).values().shape\n"
        "    torch.Size([2, 2, 2])\n    "
    )
    public(f"Tensor.{name}")(convert)


_in_blocks("to_sparse_bsr", sparse_bsr)
_in_blocks("to_sparse_bsc", sparse_bsc)


@public("Tensor.to_sparse_csr")
def to_sparse_csr(self: Tensor, dense_dim: int | None = None) -> Tensor:
    """The tensor in the layout CSR; its last ``dense_dim`` dimensions stay dense.

    >>> torch.tensor([[0., 5.], [0., 0.]]).to_sparse_csr().crow_indices()
    tensor([0, 1, 1])
    """
    return converted(self, sparse_csr, "ToSparseCsrBackward0", dense_dim)


@public("Tensor.to_sparse_csc")
def to_sparse_csc(self: Tensor, dense_dim: int | None = None) -> Tensor:
    """The tensor in the layout CSC; its last ``dense_dim`` dimensions stay dense.

    >>> torch.tensor([[0., 5.], [0., 0.]]).to_sparse_csc().ccol_indices()
    tensor([0, 0, 1])
    """
    return converted(self, sparse_csc, "ToSparseCscBackward0", dense_dim)


def dense_of(t: Tensor, masked_grad: bool) -> Tensor:
    """The dense tensor; the gradient has the indices of t, or with ``masked_grad=False`` its own."""
    x = t._payload
    back = (lambda g: masked_by(g, x)) if masked_grad else (lambda g: _as(g, x))
    return recorded_by("ToDenseBackward0", x.to_dense(), (t,), back)


# ---- with dense tensors
def sparse_product(x: Tensor, y: Tensor) -> Tensor:
    """``torch.sparse.mm``: the result is dense if a factor is, else it has the layout of the second one."""
    a, b = layout_name(x._payload), layout_name(y._payload)
    whole = "Strided" if a == "Strided" else b
    if x.ndim == y.ndim == 2 and x.shape[1] == y.shape[0]:
        refuse_layouts(whole, a, b)
    made = matrix_product(x, y, "SparseAddmmBackward0")
    return made.to_sparse_csc() if whole == "SparseCsc" else made


def matrix_product(x: Tensor, y: Tensor, label: str = "MmBackward0") -> Tensor:
    """The product of matrices (one may be a vector), of which one or both are compressed.

    The gradients are dense, as PyTorch's; those of a compressed matrix in a product of ``torch.sparse``, and of one
    that was made of values, are computed at its indices only.
    """
    _check_product(x, y)
    x_values, y_values = ((label.startswith("Sparse") and is_compressed(t)) or _of_values(t) for t in (x, y))

    def formula(g: Tensor) -> tuple[Tensor | None, Tensor | None]:
        return _factors(g, x, y, x_values, y_values)

    return recorded_by(label, product(x._payload, y._payload), (x, y), formula)


def _of_values(t: Tensor) -> bool:
    """Whether nobody sees a tensor's own gradient, but only that of the values that it was made of."""
    return type(t._node).__name__ == _CONSTRUCTED


def _factors(g: Tensor, x: Tensor, y: Tensor, x_values: bool, y_values: bool) -> tuple[Tensor | None, Tensor | None]:
    """The gradients of the factors of ``x @ y``."""
    column = g if g._payload.ndim == 2 else g.unsqueeze(int(x._payload.ndim == 2))
    left, right = (t if t._payload.ndim == 2 else t.unsqueeze(d) for t, d in ((x, 0), (y, 1)))
    dx = dy = None
    if x._node is not None:
        dx = _product_at(x, column, right.mH) if x_values else _matmul(column, right.mH)
    if y._node is not None:
        dy = _product_at(y, left.mH, column) if y_values else _matmul(left.mH, column)
    return tuple(  # type: ignore[return-value]
        d if d is None or is_compressed(d) else d.reshape(t.shape) for d, t in ((dx, x), (dy, y))
    )


def _matmul(x: Any, y: Any) -> Any:
    return x @ y


def _product_at(t: Tensor, x: Any, y: Any) -> Tensor:
    """The elements of ``x @ y`` at the indices of t, as a tensor like t."""
    p = t._payload
    if t._node._hooks is not None and type(t._node).__name__ == _CONSTRUCTED:  # somebody may see it
        return x @ y
    if any(getattr(f._payload, "layout", strided) is not strided for f in (x, y)):
        return masked_by(x @ y, p)
    return sampled_product(p, x, y)


def sampled_product(p: Compressed, x: Tensor, y: Tensor) -> Tensor:
    """The elements of ``x @ y`` at the indices of p, as a tensor like p, recorded."""
    values = sampled(p, x._payload, y._payload)

    def formula(g: Tensor) -> tuple[Any, Any]:
        at = masked_by(g, p)
        return at @ y.mH, x.mH @ at

    return recorded_by("SparseSampledAddmmBackward0", p.like(values), (x, y), formula)


def sampled_addmm(input: Tensor, mat1: Tensor, mat2: Tensor, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``torch.sparse.sampled_addmm``."""
    p, a, b = (
        expect_tensor("sparse_sampled_addmm", n, i, t)._payload
        for i, (n, t) in enumerate((("self", input), ("mat1", mat1), ("mat2", mat2)), 1)
    )
    name = "sampled_addmm:"
    if not isinstance(p, Compressed):
        raise missing("sparse_sampled_addmm", "CPU")
    if p.layout is not sparse_csr:
        raise RuntimeError(f"{name} Expected result to have sparse csr layout, but got {layout_name(p)}")
    for word, t in (("mat1", mat1), ("mat2", mat2)):
        if layout_name(t._payload) != "Strided":
            raise RuntimeError(f"{name} Expected {word} to have strided layout, but got {layout_name(t._payload)}")
        if logical_dtype(t) is not p.values.dtype:
            found = [BY_NUMPY[k].scalar_name for k in (logical_dtype(t), p.values.dtype)]
            raise RuntimeError(
                f"{name} Expected {word} and self to have the same dtype, but got {found[0]} and {found[1]}"
            )
        if t.ndim < 2:
            raise RuntimeError(f"{name} Expected {word} to be a matrix, got {t.ndim}-D tensor")
    if a.ndim != 2 or b.ndim != 2 or p.ndim != 2:
        raise missing("sparse_sampled_addmm", "SparseCsrCPU")
    sizes = "x".join(map(str, a.shape)), "x".join(map(str, b.shape))
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(f"{name} mat1 and mat2 shapes cannot be multiplied ({sizes[0]} and {sizes[1]})")
    for d, (word, t) in enumerate((("mat1", a), ("mat2", b))):
        if p.shape[d] != t.shape[d]:
            raise RuntimeError(f"{name} self.shape[{d - 2}] must match {word}.shape[{d - 2}]")
    values = sampled(p, a, b)
    made = p.like(p.values * p.values.dtype.type(beta) + values * p.values.dtype.type(alpha))

    def formula(g: Any) -> tuple[Any, ...]:
        at = masked_by(g, p)
        return g * beta, at @ mat2.mH * alpha, mat1.mH @ at * alpha

    return recorded_by("SparseSampledAddmmBackward0", made, (input, mat1, mat2), formula)


def _check_product(x: Tensor, y: Tensor) -> None:
    a, b = x._payload, y._payload
    names = [layout_name(p) for p in (a, b)]
    if a.shape[-1] != b.shape[0]:
        words = ["x".join(map(str, p.shape)) for p in (a, b)]
        if b.ndim == 1:
            raise RuntimeError(f"size mismatch, got input ({a.shape[0]}), mat ({words[0]}), vec ({words[1]})")
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({words[0]} and {words[1]})")
    if "Sparse" in names:
        raise noted(
            RuntimeError(f"addmm: computation on CPU is not implemented for {names[0]} + {names[0]} @ {names[1]}"),
            "What to do: convert one of them, with to_sparse_csr() or to_sparse_coo().",
        )
    kinds = [logical_dtype(t) for t in (x, y)]
    if kinds[0] is not kinds[1]:
        found = [BY_NUMPY[k].scalar_name for k in (reversed(kinds) if isinstance(b, Compressed) else kinds)]
        raise RuntimeError(f"expected scalar type {found[0]} but found {found[1]}")


def _promoted(x: Tensor, y: Tensor) -> Any:
    """Two tensors in their common dtype."""
    dtype = common_dtype((x, y))
    return cast(x, dtype), cast(y, dtype)


def _sum(x: Tensor, y: Tensor, alpha: Any = 1) -> Tensor:
    x, y = _promoted(x, y)
    made = COMPRESSED.add(x._payload, y._payload, alpha)
    return recorded_by("AddBackward0", made, (x, y), lambda g: (g, g if alpha == 1 else g * alpha))


def _product(x: Tensor, y: Tensor) -> Tensor:
    """The product of a compressed tensor and one of another layout."""
    x, y = _promoted(x, y)

    def formula(g: Any) -> tuple[Any, Any]:
        dx, dy = g * y.conj(), g * x.conj()
        if not is_compressed(y) and is_compressed(dy):
            dy = dy.to_dense()
        if not is_compressed(x) and is_compressed(dx):
            dx = dx.to_dense()
        return tuple(d.sum_to_size(t.shape) if d.shape != t.shape else d for d, t in ((dx, x), (dy, y)))

    if not is_compressed(x) and not isinstance(x._payload, np.ndarray) and x._payload.ndim:
        raise RuntimeError("Expected result Tensor to be of format CSR")
    return recorded_by("MulBackward0", COMPRESSED.mul(x._payload, y._payload), (x, y), formula)


def _affine(x: Tensor, y: Tensor, c: Tensor, beta: Any, alpha: Any, label: str = "AddmmBackward0") -> Tensor:
    """``beta * c + alpha * x @ y``."""
    if label == "AddmmBackward0":
        refuse_layouts(*[layout_name(t._payload) for t in (c, x, y)])
    _check_product(x, y)
    r = product(x._payload, y._payload)
    if isinstance(r, Compressed) and is_compressed(c):
        r = in_layout(r, c._payload.layout)
    if isinstance(r, Compressed) and not is_compressed(c):
        r = r.to_dense()
    scaled = c._payload if beta == 1 else c._payload * c.dtype.np.type(beta)
    if isinstance(r, np.ndarray):
        made = (scaled.to_dense() if is_compressed(c) else scaled) + (r if alpha == 1 else r * r.dtype.type(alpha))
    else:
        made = COMPRESSED.add(scaled, r, alpha)

    def formula(g: Any) -> tuple[Any, ...]:
        dx, dy = _factors(g if alpha == 1 else g * alpha, x, y, False, False)
        dc = g if beta == 1 else g * beta
        return dx, dy, dc.sum_to_size(c.shape) if dc.shape != c.shape else dc

    return recorded_by(label, made, (x, y, c), formula)


def _layer(x: Any, weight: Any, bias: Tensor | None = None) -> Tensor:
    """``nn.functional.linear`` with a compressed weight."""
    rows = x if x._payload.ndim < 3 else x.reshape(-1, x.shape[-1])
    if rows._payload.ndim == 1:
        y = matrix_product(weight, rows, "MvBackward0")
        return y if bias is None else y + bias
    y = matrix_product(rows, weight.mT) if bias is None else _affine(rows, weight.mT, bias, 1, 1)
    return y if rows is x else y.reshape(*x.shape[:-1], -1)


WITH_COMPRESSED.update(
    {  # operators on several tensors, one of which is compressed
        "add": _sum,
        "_add_scaled": _sum,
        "mul": _product,
        "mat_mat": matrix_product,
        "mat_vec": lambda x, y: matrix_product(x, y, "MvBackward0"),
        "vec_mat": matrix_product,
        "linear": _layer,
        "affine_mm": _affine,
        "affine_mv": lambda *args: _affine(*args, label="AddmvBackward0"),
    }
)
