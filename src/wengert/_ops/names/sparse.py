"""Sparse COO tensors: constructors, accessors, and recorded operators.

The payload and the plain operators are in ``_payloads.sparse``, which is imported with the first sparse tensor. The
functions that compressed tensors have too call those of ``names.compressed``.
Operators with their own derivative are recorded by ``SparseNode``, whose formula is a function of Tensors. The formula
is recorded under ``create_graph`` only.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import numpy as np
from numpy import ndarray

from ..._base.dtypes import as_dtype, get_default_dtype, sparse_coo, strided
from ..._base.dtypes import dtype as DType
from ..._base.errors import here, noted
from ..._base.grad_mode import grad_mode
from ..._base.modes import is_grad_enabled
from ..._base.registry import PUBLIC, WITH_SPARSE, public, publish
from ..._kinds.slow_path import check_arguments, misfit, no_complex_grad
from ..._payloads.sparse_errors import missing, no_divisor
from ..._tape.error_text import expect_tensor
from ..._tape.node import Node, leaf_node, tick
from ..._tape.tensor import Tensor, current_fn, wrap

CHECKED: ContextVar[bool] = ContextVar("wengert_check_sparse_invariants", default=False)


class SparseNode(Node):
    """A node whose cotangents are computed by a function of Tensors; each name has a subclass."""

    __slots__ = ("formula", "fx")

    def __init__(self, inputs: tuple[Tensor, ...], formula: Callable[[Tensor], Any]) -> None:
        self.fx = tuple(current_fn(t) for t in inputs)
        self.formula = formula
        self._seq = tick()
        self._hooks = None
        self._code, self._lasti = here()

    def _edges(self) -> tuple[Node | None, ...]:
        return self.fx

    def backward(self, xp: Any, g: Any, keep: bool) -> tuple[Any, ...]:
        recorded = isinstance(g, Tensor)
        with grad_mode(recorded):
            ds = self.formula(g if recorded else wrap(g))
        pairs: list[Any] = []
        for edge, d in zip(self.fx, ds if isinstance(ds, tuple) else (ds,), strict=True):
            if edge is not None:
                pairs += (edge, d if recorded or d is None else d._payload)
        return tuple(pairs)


@functools.cache
def _node_class(label: str) -> Any:
    return type(label, (SparseNode,), {"__slots__": (), "__module__": "builtins"})


def recorded_by(label: str, a: Any, inputs: tuple[Tensor, ...], formula: Callable[[Tensor], Any]) -> Tensor:
    """A tensor on a payload, with a ``SparseNode`` if one of the inputs requires grad."""
    t = wrap(a)
    if is_grad_enabled() and any(current_fn(i) is not None for i in inputs):
        t._node = _node_class(label)(inputs, formula)
    return t


def is_sparse(t: Tensor) -> bool:
    """Whether a tensor's layout is ``torch.sparse_coo``."""
    return getattr(t._payload, "layout", None) is sparse_coo


def is_compressed(t: Tensor) -> bool:
    """Whether a tensor's layout is ``torch.sparse_csr``, ``torch.sparse_csc`` or one of blocks."""
    return getattr(t._payload, "layout", sparse_coo) is not sparse_coo


def _sparse_of(t: Any, name: str) -> Any:
    if not is_sparse(expect_tensor(name, "input", 1, t)):
        from ..._payloads.compressed_errors import absent, layout_name

        if is_compressed(t) and name.startswith("_"):
            raise absent(name)
        kind = "tensor" if name == "values" else "coordinate tensor"
        raise RuntimeError(f"{name} expected sparse {kind} layout but got {layout_name(t._payload)}")
    return t._payload


# ---- constructors
@public("torch.sparse_coo_tensor")
def sparse_coo_tensor(
    indices: Any = None,
    values: Any = None,
    size: Any = None,
    *,
    dtype: DType | None = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> Tensor:
    """A tensor that stores only its elements at ``indices``, which have shape ``(sparse_dim, nnz)``.

    ``values`` has shape ``(nnz, *dense shape)``; the values of a repeated index add up. ``size`` is inferred if it is
    not given; with ``size`` alone the tensor stores nothing. Gradients flow to ``values``.

    Raises:
        RuntimeError: numbers of indices and values differ, or an index does not fit the size.

    >>> x = torch.sparse_coo_tensor([[0, 1], [2, 0]], [3., 4.], (2, 3))
    >>> x
    tensor(indices=tensor([[0, 1],
                           [2, 0]]),
           values=tensor([3., 4.]),
           size=(2, 3), nnz=2, layout=torch.sparse_coo)
    >>> x.to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """
    from ..._payloads.sparse import Sparse
    from ..._tensor_api.construct import check_flag, cpu_only, tensor

    cpu_only(device, "sparse_coo_tensor")
    check_flag(requires_grad, "sparse_coo_tensor")
    if check_invariants is not None:
        check_flag(check_invariants, "sparse_coo_tensor", "check_invariants")
    if values is None:
        shape = tuple(size if size is not None else indices)
        np_dtype = (dtype or get_default_dtype()).np
        t = wrap(Sparse(np.empty((len(shape), 0), np.int64), np.empty(0, np_dtype), shape, True))
    else:
        places = indices if isinstance(indices, Tensor) else tensor(indices)
        elements = values if isinstance(values, Tensor) else tensor(values)
        if dtype is not None:
            elements = elements.to(dtype)
        if requires_grad:
            elements = elements.detach()
        where = np.array(places._payload, np.int64)
        shape = _checked(where, elements._payload, size)
        t = stored_at(where, elements, shape, bool(is_coalesced), "SparseCooTensorWithDimsAndTensorsBackward0")
    if requires_grad:
        leaf_node(t)
    return t


def _checked(indices: Any, values: Any, size: Any) -> tuple[int, ...]:
    """Check that indices and values fit each other and the size, and return the size."""
    if indices.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(indices.shape)}")
    n, nnz = indices.shape
    if values.ndim == 0 or values.shape[0] != nnz:
        raise RuntimeError(
            f"indices and values must have same nnz, but got nnz from indices: {nnz}, nnz from values: "
            f"{values.shape[0] if values.ndim else 1}"
        )
    if indices.size and indices.min() < 0:
        raise RuntimeError(f"found negative index {indices.min()} for dim {int((indices.min(1) < 0).argmax())}")
    if size is None:
        return (*(int(i.max()) + 1 if nnz else 0 for i in indices), *values.shape[1:])
    size = tuple(int(s) for s in size)
    if len(size) != n + values.ndim - 1:
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(size)}, sparse_dim = {n}, "
            f"dense_dim = {values.ndim - 1}"
        )
    for d in range(n if nnz else 0):
        if indices[d].max() >= size[d]:
            raise noted(
                RuntimeError(
                    f"size is inconsistent with indices: for dim {d}, size is {size[d]} but found index "
                    f"{indices[d].max()}"
                ),
                "(PyTorch finds this with check_invariants=True only.)",
            )
    if size[n:] != tuple(values.shape[1:]):
        raise RuntimeError(f"values has incorrect size, expected {[nnz, *size[n:]]}, got {list(values.shape)}")
    return size


def stored_at(
    indices: Any, values: Tensor, shape: tuple[int, ...], coalesced: bool = False, label: str = "StoredAtBackward0"
) -> Tensor:
    """A sparse tensor with these values; their gradient is the tensor's gradient at their indices."""
    from ..._payloads.sparse import Sparse

    a = values._payload if isinstance(values._payload, np.ndarray) else np.asarray(values._payload)

    def formula(g: Tensor) -> Tensor:
        g = to_dense(g)
        return g[tuple(map(wrap, indices))] if len(indices) else g.expand(a.shape)

    return recorded_by(label, Sparse(indices, a, shape, coalesced), (values,), formula)


@public("Tensor.to_sparse Tensor.to_sparse_coo")
def to_sparse(
    self: Tensor, sparse_dim: Any = None, *, layout: Any = None, blocksize: Any = None, dense_dim: int | None = None
) -> Tensor:
    """A sparse tensor of the nonzero elements; its first ``sparse_dim`` dimensions are sparse.

    ``layout`` is ``torch.sparse_coo``, ``torch.sparse_csr`` or ``torch.sparse_csc``. ``dense_dim``: the number of last
    dimensions that stay dense in a compressed layout.

    >>> torch.tensor([[0., 5.], [0., 0.]]).to_sparse().indices()
    tensor([[0],
            [1]])
    """
    from ..._payloads.sparse import Sparse

    given = {"layout": layout, "blocksize": blocksize, "dense_dim": dense_dim}
    given = {name: value for name, value in given.items() if value is not None}
    kinds: dict[str, Any] = {"layout": type(strided), "blocksize": (tuple, list), "dense_dim": (int, np.integer)}
    fits = all(isinstance(value, kinds[name]) for name, value in given.items())
    if sparse_dim is not None:
        fits = not given and isinstance(sparse_dim, (int, np.integer)) and not isinstance(sparse_dim, bool)
    if not fits:
        raise misfit(".to_sparse", *(() if sparse_dim is None else (sparse_dim,)), **given)
    if layout is strided:
        return to_dense(self)
    if layout not in (None, sparse_coo) or is_compressed(self):
        from . import compressed

        names = [compressed.layout_name(a) for a in (self._payload, layout or sparse_coo)]
        if (blocksize is None) is (layout in compressed.GRIDS):
            kind = {"Strided": "dense", "Sparse": "sparse_coo"}.get(names[0], "sparse_compressed")
            raise RuntimeError(
                f"{kind}_to_sparse: conversion from {names[0]} to {names[1]} with{'out' * (blocksize is None)} "
                "blocksize argument given is not supported"
            )
        if sparse_dim not in (None, 2):
            raise RuntimeError(
                "sparse_compressed_to_sparse: conversion from SparseCsr to Sparse with sparse_dim argument !=2 is not "
                "supported"
            )
        size = None if blocksize is None else tuple(blocksize)
        return compressed.converted(self, layout or sparse_coo, dense_dim=dense_dim, size=size)
    if is_sparse(self):
        if sparse_dim not in (None, len(self._payload.indices)):
            raise RuntimeError(
                "to_sparse: conversion from Sparse to Sparse with sparse_dim argument !=self.sparse_dim() is not "
                "supported"
            )
        return self
    no_complex_grad("_to_sparse", self)
    refuse_transforms("_to_sparse", self)
    a = np.asarray(self._payload)
    n = a.ndim if sparse_dim is None else sparse_dim
    if not 0 <= n <= a.ndim:
        raise RuntimeError(f"dense_to_sparse: sparse_dim argument must be in [0,{a.ndim}] range, but {n} is given")
    if not n and a.ndim:
        raise RuntimeError("dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0")
    held = a != 0
    if n < a.ndim:
        held = held.any(tuple(range(n, a.ndim)))
    places = np.atleast_1d(held).nonzero()  # of a number: whether it is there
    indices = np.array(places[:n], np.int64).reshape(n, places[0].size)
    payload = Sparse(indices, np.ascontiguousarray(a[tuple(indices)] if n else a[held]), a.shape, True)
    return recorded_by(f"ToSparseBackward{int(sparse_dim is None)}", payload, (self,), to_dense)


def refuse_transforms(name: str, t: Tensor) -> None:
    """Raise PyTorch's error for a tensor of a transform, whose values no sparse tensor holds."""
    from ..._payloads.transforms import of_transform, refuse_tangents

    if of_transform(t._payload):
        refuse_tangents(name, t)
        raise noted(
            NotImplementedError("Could not run 'aten::view' with arguments from the 'SparseCPU' backend."),
            "Why: sparse tensors hold arrays, not values of torch.func's transforms.",
        )


@public("Tensor.sparse_mask")
def sparse_mask(self: Tensor, mask: Tensor) -> Tensor:
    """A sparse tensor with the elements of a dense tensor at the indices of the sparse tensor ``mask``."""
    from ..._payloads.sparse import masked

    if is_compressed(mask):
        from .compressed import masked_by

        return masked_by(self, mask._payload)
    x = _sparse_of(mask, "sparse_mask")
    if is_compressed(self):
        raise RuntimeError("sparse_mask_sparse_compressed expects mask to have sparse compressed layout, got Sparse")
    if is_sparse(self):
        self = to_dense(self)
    if tuple(self.shape) != x.shape:
        raise RuntimeError(
            f"sparse_mask(): operands have incompatible sizes; self has size {list(self.shape)} but mask has size "
            f"{list(x.shape)}"
        )
    return recorded_by("SparseMaskBackward0", masked(np.asarray(self._payload), x), (self,), to_dense)


# ---- accessors
@public("Tensor.to_dense")
def to_dense(self: Tensor, dtype: Any = None, *, masked_grad: Any = None) -> Tensor:
    """Convert a sparse tensor to a dense one, in ``dtype`` if it is given; a dense tensor is returned itself.

    The gradient of a sparse tensor is sparse, with the tensor's indices.
    """
    if masked_grad is not None:
        check_arguments(".to_dense", dtype, masked_grad=masked_grad)
    r = self
    if is_compressed(self):
        from .compressed import dense_of

        r = dense_of(self, masked_grad is not False)
    elif is_sparse(self):
        pattern = self.detach()
        r = recorded_by(
            "ToDenseBackward0",
            self._payload.to_dense(),
            (self,),
            lambda g: to_sparse(g, sparse_dim(pattern)) if masked_grad is False else sparse_mask(g, _one(pattern)),
        )
    return r if dtype is None else r.to(as_dtype(dtype, "to_dense"))


def _one(t: Tensor) -> Tensor:
    return wrap(t._payload.coalesce())


@public("Tensor.coalesce")
def coalesce(self: Tensor) -> Tensor:
    """A sparse tensor with each index once, in order, and the sum of its values."""
    x = _sparse_of(self, "coalesce")
    return self if x.coalesced else recorded_by("CoalesceBackward0", x.coalesce(), (self,), lambda g: g)


@public("Tensor.is_coalesced")
def is_coalesced(self: Tensor) -> bool:
    """Whether each index is known to occur once, in order."""
    return bool(_sparse_of(self, "is_coalesced").coalesced)


@public("Tensor._coalesced_")
def _coalesced_(self: Tensor, coalesced: bool) -> Tensor:
    """Mark the tensor, without a check, as coalesced or not."""
    _sparse_of(self, "_coalesced_").coalesced = bool(coalesced)
    return self


def _coalesced(self: Tensor, name: str) -> Any:
    x = _sparse_of(self, name)
    if not x.coalesced:
        raise RuntimeError(f"Cannot get {name} on an uncoalesced tensor, please call .coalesce() first")
    return x


@public("Tensor.indices")
def indices(self: Tensor) -> Tensor:
    """The indices of the stored elements, of shape ``(sparse_dim, nnz)``; for a coalesced tensor only."""
    return wrap(_coalesced(self, "indices").indices)


@public("Tensor.values")
def values(self: Tensor) -> Tensor:
    """The stored elements, of shape ``(nnz, *dense shape)``; of a COO tensor, for a coalesced one only."""
    if is_compressed(self):
        from .compressed import values_of

        return values_of(self)
    x = _coalesced(self, "values")
    return recorded_by("ValuesBackward0", x.values, (self,), lambda g: stored_at(x.indices, g, x.shape, True))


@public("Tensor._indices")
def _indices(self: Tensor) -> Tensor:
    """``indices`` of any sparse tensor, coalesced or not."""
    return wrap(_sparse_of(self, "_indices").indices)


@public("Tensor._values")
def _values(self: Tensor) -> Tensor:
    """``values`` of any sparse tensor, coalesced or not; not recorded."""
    return wrap(_sparse_of(self, "_values").values)


@public("Tensor._nnz")
def _nnz(self: Tensor) -> int:
    """The number of stored elements (or dense parts)."""
    if is_compressed(self):
        return int(self._payload.minor.shape[-1])
    return int(_sparse_of(self, "_nnz").indices.shape[1])


@public("Tensor.sparse_dim Tensor._dimI")
def sparse_dim(self: Tensor) -> int:
    """The number of sparse dimensions; 0 for a dense tensor."""
    if is_compressed(self):
        return 2
    return len(self._payload.indices) if is_sparse(self) else 0


@public("Tensor.dense_dim Tensor._dimV")
def dense_dim(self: Tensor) -> int:
    """The number of dense dimensions."""
    if is_compressed(self):
        return int(self._payload.dense_dim)
    return self._payload.ndim - sparse_dim(self)


def _layout(self: Tensor) -> Any:
    """The layout of the elements: ``torch.strided``, ``torch.sparse_coo``, ``torch.sparse_csr``, ``sparse_csc``."""
    if type(self._payload) is ndarray:
        return strided
    return getattr(self._payload, "layout", strided)


publish(property(is_sparse), "Tensor.is_sparse")
publish(property(_layout), "Tensor.layout")


# ---- with dense tensors
def _sum_of(factor: int) -> Callable[[Tensor, Tensor], Tensor]:
    def plus(x: Tensor, y: Tensor) -> Tensor:
        from ..._payloads.sparse_and_dense import dense_plus

        if is_sparse(x):
            raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
        label = "AddBackward0" if factor == 1 else "SubBackward0"
        return recorded_by(
            label, dense_plus(np.asarray(x._payload), y._payload, factor), (x, y), lambda g: (g, g * factor)
        )

    return plus


def _product(x: Tensor, y: Tensor) -> Tensor:
    """The product of a sparse and a dense tensor, which is sparse."""
    from ..._payloads.sparse import SPARSE

    if is_sparse(y):
        x, y = y, x
    keep = (x.detach(), y.detach())

    def formula(g: Tensor) -> tuple[Tensor, Tensor]:
        g = to_dense(g)
        dense = g * to_dense(keep[0] if not is_grad_enabled() else x).conj()
        factor = (keep[1] if not is_grad_enabled() else y).conj()
        return sparse_mask(g * factor, _one(keep[0])), dense.sum_to_size(y.shape)

    return recorded_by("MulBackward0", SPARSE.mul(x._payload, y._payload), (x, y), formula)


def _quotient(x: Tensor, y: Tensor) -> Tensor:
    if not is_sparse(x) or y._payload.ndim:
        raise no_divisor(y._payload)
    return x * y.reciprocal()


def matrix_product(x: Tensor, y: Tensor, label: str = "MmBackward0") -> Tensor:
    """The product of matrices (the second may be a vector), of which one or both are sparse.

    The gradients are dense; those of a sparse matrix in a product of ``torch.sparse`` are sparse.
    """
    a, b = x._payload, y._payload
    if a.ndim != 2 or b.ndim not in (1, 2) or sparse_dim(x) not in (0, 2) or sparse_dim(y) not in (0, 2):
        raise RuntimeError("a product with a sparse tensor takes matrices without dense dimensions")
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and {'x'.join(map(str, b.shape))})"
        )

    def formula(g: Tensor) -> tuple[Tensor | None, Tensor | None]:
        g = to_dense(g)
        column = g if g._payload.ndim == 2 else g.unsqueeze(1)
        wide = to_dense(y) if b.ndim == 2 else y.unsqueeze(1)
        dx = column @ wide.mH if x._node is not None else None
        dy = to_dense(x).mH @ g if y._node is not None else None
        return (_in_layout(dx, x), _in_layout(dy, y)) if label.startswith("Sparse") else (dx, dy)

    from ..._payloads.sparse import scipy_product

    return recorded_by(label, scipy_product(a, b), (x, y), formula)


def _added_product(x: Tensor, y: Tensor, c: Tensor, beta: Any, alpha: Any) -> Tensor:
    """``beta * c + alpha * x @ y`` for a sparse matrix x and dense y and c."""
    from ..._payloads.sparse import scipy_product

    if is_sparse(c):
        raise RuntimeError("addmm_sparse_dense: expected strided result tensor, got tensor with layout Sparse")
    if not is_sparse(x) or is_sparse(y):
        raise missing("addmm")
    product = scipy_product(x._payload, y._payload)
    dtype = product.dtype.type
    made = (c._payload if beta == 1 else c._payload * dtype(beta)) + (product if alpha == 1 else product * dtype(alpha))

    def formula(g: Tensor) -> tuple[Tensor, ...]:
        scaled = g if alpha == 1 else g * alpha
        return scaled @ y.mH, to_dense(x).mH @ scaled, (g if beta == 1 else g * beta).sum_to_size(c.shape)

    return recorded_by("AddmmBackward0", made, (x, y, c), formula)


def _batch_product(x: Tensor, y: Tensor) -> Tensor:
    """The products of a batch of sparse matrices with a batch of dense ones: one product of a block matrix."""
    from ..._payloads.sparse import Sparse, scipy_product

    if is_sparse(y):
        raise RuntimeError("bmm_sparse: Tensor 'mat2' must be dense")
    a, b = x._payload, y._payload
    batch, rows, inner = a.shape
    places = np.stack([a.indices[0] * rows + a.indices[1], a.indices[0] * inner + a.indices[2]])
    blocks = Sparse(places, a.values, (batch * rows, batch * inner))
    made = scipy_product(blocks, np.asarray(b).reshape(batch * inner, -1)).reshape(batch, rows, b.shape[2])
    return recorded_by("BmmBackward0", made, (x, y), lambda g: (g @ y.mH, to_dense(x).mH @ g))


def _in_layout(d: Tensor | None, like: Tensor) -> Tensor | None:
    """Convert a gradient to the layout of its tensor."""
    return sparse_mask(d, _one(like.detach())) if d is not None and is_sparse(like) else d


def _layer(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """``nn.functional.linear`` with a sparse weight."""
    y = matrix_product(weight, x.t()).t() if is_sparse(weight) else matrix_product(x, weight.t())
    return y if bias is None else y + bias


publish(PUBLIC["torch"]["mm"], "torch.dsmm torch.spmm")
publish(PUBLIC["torch"]["addmm"], "torch.saddmm")


WITH_SPARSE.update(
    {  # operators on two tensors, one of which is sparse
        "add": _sum_of(1),
        "sub": _sum_of(-1),
        "mul": _product,
        "div": _quotient,
        "mat_mat": matrix_product,
        "mat_vec": lambda x, y: matrix_product(x, y, "MvBackward0"),
        "vec_mat": lambda x, y: matrix_product(y.t(), x),
        "linear": _layer,
        "affine_mm": _added_product,
        "bmm": _batch_product,
    }
)


# ---- sparse gradients
def sparse_rows(weight: Tensor, indices: Tensor, padding_idx: int, rows: Tensor) -> Tensor:
    """``rows``, the rows of ``weight`` at ``indices``, recorded with a sparse gradient of ``weight``."""
    where = np.asarray(indices._payload, np.int64).reshape(-1)
    kept = None if padding_idx < 0 else (where != padding_idx).nonzero()[0]
    if kept is not None and kept.size == where.size:
        kept = None
    shape = tuple(weight._payload.shape)

    def formula(g: Tensor) -> Tensor:
        g = g.reshape(where.size, shape[1])
        if kept is None:
            return stored_at(where[None], g, shape)
        return stored_at(where[kept][None], g[wrap(kept)], shape)

    return recorded_by("EmbeddingBackward0", rows._payload, (weight,), formula)


def sparse_gather(input: Tensor, dim: int, index: Tensor, gathered: Tensor) -> Tensor:
    """``gathered``, which is ``input.gather(dim, index)``, recorded with a sparse gradient of ``input``."""
    i = np.asarray(index._payload, np.int64)
    shape = tuple(input._payload.shape)
    if shape:
        where = np.indices(i.shape).reshape(i.ndim, -1) if i.ndim else np.zeros((1, 1), np.int64)
        where[dim if i.ndim else 0] = i.reshape(-1)
    else:
        where = np.zeros((0, i.size), np.int64)

    def formula(g: Tensor) -> Tensor:
        return stored_at(where, g.reshape(-1), shape)

    return recorded_by("GatherBackward0", gathered._payload, (input,), formula)
