"""Products of vectors and matrices.

The primitives are the products that the array library hands to BLAS: ``mat_mat``, ``mat_vec``, ``vec_mat``, ``vec_vec``
and ``matmul_nd`` for everything with a batch. Their derivatives are among them again, so second derivatives need no
formulas. A transposed factor is passed as a view (``.mT``), which BLAS reads without a copy. The public functions
choose a primitive by the ranks of the operands.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._arrays.blas import FEW_HALVES, large_product
from ..._arrays.library import in_lib
from ..._base.dtypes import BOOL, BY_NUMPY, FLOAT32, INEXACT
from ..._base.errors import noted
from ..._base.registry import REGISTRY, TENSORS, plain, public, publish
from ..._kinds.backward import OperandShape
from ..._kinds.general import general
from ..._kinds.keywords import with_out
from ..._kinds.linear import MANY, between, bilinear, refuse_mixed
from ..._kinds.out import EXACT, exactly, write_out
from ..._tape.error_text import broadcast_error, expect_tensors
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import Tensor, wrap
from ..._tape.unfused import matmul_graph, row_graph, shape_of, shown_as, with_sizes
from .factors import is_columns, left_cotangent, right_cotangent

in_lib(np.ndarray.dot, "product")  # the method takes half as long as np.dot, which checks for overrides first


@in_lib
def matrix_product(a: Any, b: Any) -> Any:
    """The product of two matrices.

    NumPy's ``dot`` starts faster than its ``matmul``, but fills the result with zeros before BLAS writes it, which is a
    tenth of the time for 512x512 matrices and a third for 784x64 times 64x256.
    """
    return a.dot(b) if a.size + b.size < (MANY if a.itemsize > 2 else FEW_HALVES) else large_product(a, b)


@plain
def plain_matrix_product(lib, a, b):
    return lib.matmul(a, b)


@plain
def plain_product(lib, a, b):
    return lib.matmul(a, b)


# ---- refusals
def dtype_name(t: Any) -> str:
    """A tensor's dtype as PyTorch's C++ messages name it."""
    return BY_NUMPY[logical_dtype(t)].scalar_name


def same_dtype(name: str, **pair: Any) -> None:
    """Raise PyTorch's error unless two tensors, given by their names, have the same dtype."""
    (m, a), (n, b) = pair.items()
    if logical_dtype(a) is not logical_dtype(b):
        raise RuntimeError(
            f"{name}: Expected {m} and {n} to have the same dtype, but found {m} of type {dtype_name(a)} and {n} of "
            f"type {dtype_name(b)} instead"
        )


def refuse_bool(t: Any, kernel: str, other: Any = None) -> None:
    """Refuse bools, which have no products in PyTorch; other checks refuse an ``other`` of different dtype or size."""
    if logical_dtype(t).kind != "b" or (kernel != "dot" and (not t._payload.size or 0 in getattr(other, "shape", ()))):
        return  # where nothing is multiplied, no kernel runs
    if other is None or (logical_dtype(other).kind == "b" and t._payload.shape[-1] == other._payload.shape[-2:][0]):
        raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")


def refuse_mm(a: Any, b: Any) -> Any:
    """Refuse two matrices whose inner sizes differ."""
    raise sizes_differ(
        f"mat1 and mat2 shapes cannot be multiplied ({sizes_text(a.shape)} and {sizes_text(b.shape)})",
        a.shape[-1],
        b.shape[0],
    )


def sizes_differ(message: str, columns: int, rows: int) -> RuntimeError:
    """The error for a product whose inner sizes differ."""
    return noted(
        RuntimeError(message),
        f"Why: a product needs as many columns on the left ({columns}) as rows on the right ({rows}).",
        "What to do: transpose one of them (x.T, x.mT), or look where its shape comes from.",
        code="W008",
    )


def sizes_text(shape: tuple[int, ...]) -> str:
    """``3x4``."""
    return "x".join(map(str, shape))


def _refuse_mixed_mm(info: Any, x: Any, y: Any) -> Any:
    """Refuse two matrices of two dtypes; sizes that do not fit come first."""
    if x.shape[-1] != y.shape[0]:
        refuse_mm(x, y)
    return refuse_mixed(info, x, y)


def _refuse_dot(info: Any, x: Any, y: Any) -> Any:
    raise RuntimeError(f"dot : expected both vectors to have same dtype, but found {dtype_name(x)} and {dtype_name(y)}")


def _refuse_mv(info: Any, x: Any, y: Any) -> Any:
    a, b = dtype_name(x), dtype_name(y)
    raise RuntimeError(f"addmv input tensors must have the same dtype, but got {b}, {a}, and {b}")


def refuse_batched(info: Any, x: Any, y: Any, *p: Any) -> Any:
    """Refuse batches of matrices in two dtypes."""
    raise RuntimeError(f"expected scalar type {dtype_name(x)} but found {dtype_name(y)}")


def _refuse_nd(info: Any, x: Any, y: Any) -> Any:
    """Refuse two dtypes where a batch meets one vector or matrix, which make one product, or a batch."""
    run = {1: _refuse_mv, 2: refuse_mixed}.get(y._payload.ndim, refuse_batched)
    return run(info, x, y)


# ---- primitives
def by_labels(a: tuple[int, ...], b: tuple[int, ...], out: tuple[int, ...]) -> Any:
    """The batching rule of a product: ``contract`` with these labels, and one more for the batch."""

    def rule(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
        return U.contract(inner[0], inner[1], (-9,) * mine[0] + a, (-9,) * mine[1] + b, (-9, *out))

    return rule


@bilinear(
    self=left_cotangent,
    other=right_cotangent,
    node="MmBackward0",
    libname="matrix_product",
    refuse_mixed=_refuse_mixed_mm,
    batch=lambda U, info, inner, mine, p: U.matmul_nd(*inner),
    dtypes="fci",
    samples=[((2, 3), (3, 4), ()), ((1, 3), (3, 1), ()), ((2, 0), (0, 3), ()), ((0, 2), (2, 3), ())],
)
def mat_mat(self, mat2):
    """Product of two matrices."""


@bilinear(
    self=lambda xp, g, self, other: xp.reshape(g, (g.shape[0], 1)) * other,
    other=lambda xp, g, self, other: xp.vec_mat(g, self),
    node="MvBackward0",
    libname="product",
    refuse_mixed=_refuse_mv,
    batch=by_labels((0, 1), (1,), (0,)),
    dtypes="fci",
    samples=[((2, 3), (3,), ()), ((2, 0), (0,), ())],
)
def mat_vec(self, vec):
    """Product of a matrix and a vector."""


@bilinear(
    self=lambda xp, g, self, other: xp.mat_vec(other, g),
    other=lambda xp, g, self, other: (
        (xp.reshape(g, (g.shape[0], 1)) * self).mT if is_columns(other) else xp.reshape(self, (self.shape[0], 1)) * g
    ),
    node="SqueezeBackward4",
    libname="product",
    batch=by_labels((0,), (0, 1), (1,)),
    dtypes="fci",
    samples=[((3,), (3, 2), ()), ((0,), (0, 2), ())],
)
def vec_mat(self, other):
    """Product of a vector, taken as a row, and a matrix."""


@bilinear(
    self=lambda xp, g, self, other: g * other,
    other=lambda xp, g, self, other: g * self,
    node="DotBackward0",
    libname="product",
    refuse_mixed=_refuse_dot,
    batch=by_labels((0,), (0,), ()),
    dtypes="fci",
    samples=[((3,), (3,), ()), ((0,), (0,), ())],
)
def vec_vec(self, tensor):
    """Sum of the products of two vectors' elements."""


def _nd_first(xp: Any, g: Any, self: Any, other: Any) -> Any:
    """The left factor's cotangent in a product with a batch."""
    if other.ndim == 1:
        return xp.reshape(g, (*g.shape, 1)) * other
    if other.ndim == 2:
        return xp.matmul_nd(g, other.mT)
    if self.ndim <= 2:  # one matrix or vector met a batch: the sum over the batch is part of the product
        lead = tuple(range(other.ndim - 2))
        rows = () if self.ndim == 1 else (-1,)
        return xp.contract(g, other, (*lead, *rows, -3), (*lead, -2, -3), (*rows, -2))
    d = xp.matmul_nd(g, other.mT)
    return d if d.shape == self.shape else xp.sum_to(d, tuple(self.shape))


def _nd_second(xp: Any, g: Any, self: Any, other: Any) -> Any:
    """The right factor's cotangent."""
    if self.ndim == 1:
        if type(other) is OperandShape:  # whose vector has no gradient: PyTorch makes one matrix of it only then
            return xp.reshape(self, (self.shape[0], 1)) * xp.reshape(g, (*g.shape[:-1], 1, g.shape[-1]))
        return (xp.reshape(g, (*g.shape, 1)) * self).mT
    if other.ndim == 1:
        return xp.vec_mat(xp.reshape(g, (math.prod(g.shape),)), _folded(xp, self))
    if other.ndim == 2:
        return right_cotangent(xp, _folded(xp, g), _folded(xp, self), other)
    d = xp.matmul_nd(self.mT, g) if self.ndim > 2 else xp.matmul_nd(g.mT, self).mT
    return d if d.shape == other.shape else xp.sum_to(d, tuple(other.shape))


def _folded(xp: Any, a: Any) -> Any:
    """The tensor with all but the last dimension merged into one."""
    return xp.reshape(a, (math.prod(a.shape[:-1]), a.shape[-1])) if a.ndim != 2 else a


def _nd_batch(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    a, b = inner
    many_a, many_b = mine
    rank_a, rank_b = a.ndim - many_a, b.ndim - many_b
    squeeze: tuple[int, ...] = ()
    if rank_a == 1 and (many_a or many_b):
        a = U.reshape(a, (*a.shape[:-1], 1, a.shape[-1]))
        squeeze = (-2,)
    if rank_b == 1 and many_b:
        b = U.reshape(b, (*b.shape, 1))
        squeeze = (-1,)
    lead = max(rank_a, rank_b, 2) - 2
    a, b = (_with_lead(U, t, many, lead) for t, many in ((a, many_a), (b, many_b)))
    r = U.matmul_nd(a, b)
    for d in squeeze:
        shape = list(r.shape)
        del shape[d]
        r = U.reshape(r, tuple(shape))
    return r


def _with_lead(U: Any, t: Any, many: bool, lead: int) -> Any:
    """A batched factor with as many batch dimensions behind vmap's as the other factor has."""
    missing = lead - (t.ndim - 3)
    return U.reshape(t, (t.shape[0], *(1,) * missing, *t.shape[1:])) if many and missing > 0 else t


_ND_SAMPLES = [
    ((2, 2, 3), (2, 3, 2), ()),
    ((2, 2, 3), (3, 2), ()),
    ((2, 2, 3), (3,), ()),
    ((3,), (2, 3, 2), ()),
    ((2, 3), (2, 3, 2), ()),
    ((2, 1, 2, 3), (4, 3, 1), ()),
    ((0, 2, 3), (3, 2), ()),
]


@bilinear(
    self=_nd_first,
    other=_nd_second,
    node="UnsafeViewBackward0",
    refuse_mixed=_refuse_nd,
    batch=_nd_batch,
    dtypes="fci",
    in_float32="result",
    samples=_ND_SAMPLES,
)
def matmul_nd(lib, self, other):
    """Product of vectors or matrices of which at least one has a batch; batches broadcast.

    With one matrix (or vector) on the right the whole batch is one product of matrices.
    """
    if other.ndim <= 2 < self.ndim:
        shape = self.shape[:-1]
        return lib.matrix_product(self.reshape(math.prod(shape), self.shape[-1]), other).reshape(
            shape + other.shape[1:]
        )
    r = lib.matmul(self, other)
    if r.ndim > 3 and type(r) is np.ndarray and not r.flags.c_contiguous:  # NumPy keeps the order of several batch dims
        return r.copy()
    return r


@bilinear(
    self=lambda xp, g, self, other: xp.bmm(g, other.mT),
    other=lambda xp, g, self, other: xp.bmm(self.mT, g),
    libname="matmul",
    refuse_mixed=refuse_batched,
    batch=_nd_batch,
    dtypes="fci",
    in_float32="result",
    samples=[((2, 2, 3), (2, 3, 4), ()), ((0, 2, 3), (0, 3, 1), ()), ((2, 2, 0), (2, 0, 2), ())],
)
def bmm(self, mat2):
    """Products of the matrices of two batches."""


@general(
    grad={"self": lambda xp, g, other: xp.conj(g) * other, "other": lambda xp, g, self: g * self},
    tensors=2,
    holomorphic=False,
    node="VdotBackward0",
    refuse_mixed=_refuse_dot,
    batch=lambda U, info, inner, mine, p: by_labels((0,), (0,), ())(U, info, (U.conj(inner[0]), inner[1]), mine, p),
    dtypes="fci",
    samples=[((3,), (3,), ()), ((0,), (0,), ())],
)
def conj_dot(lib, self, other):
    """Sum of the products of one vector's conjugates and the other's elements."""
    return lib.product(self.conj(), other)


with_sizes(REGISTRY["mat_mat"].node, "self", "mat2")
shown_as(REGISTRY["matmul_nd"].node, matmul_graph)
shown_as(REGISTRY["vec_mat"].node, row_graph)
REGISTRY["vec_mat"].node.viewed = ("x",)
REGISTRY["matmul_nd"].node.viewed = property(lambda n: ("x", "y") if len(shape_of(n.y) or ()) > 2 else ("x",))


# ---- public functions
@public("torch.matmul Tensor.matmul linalg.matmul")
@between(REGISTRY["mat_mat"], (2, 2))
@between(REGISTRY["mat_vec"], (2, 1))
def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Product of two tensors: of vectors, matrices, or batches of matrices, by their ranks.

    Two vectors give their dot product; a matrix and a vector give a vector; a tensor with more than two dimensions is a
    batch of matrices, and batch dimensions broadcast. Both operands must have the same dtype.

    >>> torch.matmul(torch.tensor([[1., 2.], [3., 4.]]), torch.tensor([1., 1.]))
    tensor([3., 7.])
    >>> torch.matmul(torch.ones(5, 1, 2, 3), torch.ones(4, 3, 2)).shape
    torch.Size([5, 4, 2, 2])
    """
    if out is not None:
        return write_out(out, matmul, (input, other), None, EXACT)
    try:
        a = input._payload
        b = other._payload
    except AttributeError:
        return expect_tensors("matmul", input=input, other=other)
    return _matmul_by_rank(input, other, a, b)


# By ranks, for more than two matrices; None: ``batch_kernel`` tells.
_KERNELS = {
    (1, 1): "dot", (1, 2): "addmm_impl_cpu_", (2, 1): "addmv_impl_cpu", (3, 2): "addmm_impl_cpu_",
    (2, 3): None, (3, 1): "addmv_impl_cpu", (1, 3): None, (3, 3): None,
}  # fmt: skip


def batch_kernel(small: str, a: Any, b: Any) -> str:
    """PyTorch's kernel for two batches of matrices: one for small matrices, else that of single matrices."""
    return small if (a.shape[-2] if a.ndim > 1 else 1) * a.shape[-1] * b.shape[-1] < 400 else "addmm_impl_cpu_"


def _matmul_by_rank(input: Any, other: Any, a: Any, b: Any) -> Any:
    if a.ndim == 2 and b.ndim == 2:
        if a.dtype is BOOL:
            refuse_bool(input, "addmm_impl_cpu_", other)
        try:
            return mat_mat(input, other)
        except ValueError:
            return refuse_mm(a, b)
    if not a.ndim or not b.ndim:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {a.ndim}D and {b.ndim}D")
    if a.dtype is BOOL:
        kernel = _KERNELS[min(a.ndim, 3), min(b.ndim, 3)]
        refuse_bool(input, kernel or batch_kernel("bmm", a, b), other)
    rows = b.shape[-2] if b.ndim > 1 else b.shape[0]
    if a.shape[-1] != rows:
        _refuse_sizes(a, b)
    if a.ndim == 1:
        if b.ndim == 1:
            return vec_vec(input, other)
        return vec_mat(input, other) if b.ndim == 2 else matmul_nd(input, other)
    if b.ndim == 1 and a.ndim == 2:
        return mat_vec(input, other)
    try:
        return matmul_nd(input, other)
    except ValueError:
        return _refuse_batches(a, b)


def _refuse_sizes(a: Any, b: Any) -> None:
    """Raise the error for differing inner sizes; PyTorch's text depends on the routine that it would have called."""
    if a.ndim == 1 and b.ndim == 1:
        raise sizes_differ(
            f"inconsistent tensor size, expected tensor [{a.shape[0]}] and src [{b.shape[0]}] to have the same number "
            f"of elements, but got {a.shape[0]} and {b.shape[0]} elements respectively",
            a.shape[0],
            b.shape[0],
        )
    n = math.prod(a.shape[:-1])
    if b.ndim == 1:
        message = f"size mismatch, got input ({n}), mat ({n}x{a.shape[-1]}), vec ({b.shape[0]})"
        raise sizes_differ(message, a.shape[-1], b.shape[0])
    if b.ndim == 2:
        refuse_mm(np.empty((n, a.shape[-1]), bool), b)
    try:
        n = math.prod(np.broadcast_shapes(a.shape[:-2], b.shape[:-2]))
    except ValueError:
        _refuse_batches(a, b)
    raise sizes_differ(
        f"Expected size for first two dimensions of batch2 tensor to be: [{n}, {a.shape[-1]}] but got: [{n}, "
        f"{b.shape[-2]}].",
        a.shape[-1],
        b.shape[-2],
    )


def _refuse_batches(a: Any, b: Any) -> Any:
    raise broadcast_error(np.empty(a.shape[:-2], bool), np.empty(b.shape[:-2], bool)) from None


@between(REGISTRY["mat_mat"], (2, 2))
@between(REGISTRY["mat_vec"], (2, 1))
def __matmul__(self: Tensor, other: Any, *, out: None = None) -> Any:
    """``a @ b``: see ``matmul``."""
    try:
        a = self._payload
        b = other._payload
    except AttributeError:
        return matmul(self, wrap(np.asarray(other))) if isinstance(other, np.ndarray) else NotImplemented
    return _matmul_by_rank(self, other, a, b)


def __rmatmul__(self: Tensor, other: Any) -> Any:
    """``a @ b`` where a is no Tensor."""
    if isinstance(other, np.ndarray):
        return matmul(wrap(np.asarray(other)), self)
    return matmul(other, self) if isinstance(other, Tensor) and isinstance(self, Tensor) else NotImplemented


publish(__matmul__, "Tensor.__matmul__")
publish(__rmatmul__, "Tensor.__rmatmul__")


@public("torch.mm Tensor.mm")
@between(REGISTRY["mat_mat"], (2, 2))
def mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Product of two matrices, ``(n, k)`` and ``(k, m)``.

    >>> torch.mm(torch.tensor([[1., 2.]]), torch.tensor([[3.], [4.]]))
    tensor([[11.]])
    """
    if out is not None:
        return write_out(out, mm, (input, mat2), None, EXACT)
    try:
        a = input._payload
        b = mat2._payload
    except AttributeError:
        return expect_tensors("mm", input=input, mat2=mat2)
    if a.ndim != 2 or b.ndim != 2:
        raise RuntimeError("self must be a matrix" if a.ndim != 2 else "mat2 must be a matrix")
    if a.dtype.kind == "b":
        refuse_bool(input, "addmm_impl_cpu_", mat2)
    try:
        return mat_mat(input, mat2)
    except ValueError:
        return refuse_mm(a, b)


_MV = exactly("addmv input tensors must have the same dtype, but got {Out}, {Result}, and {Result}")
_DOT = exactly("result dtype {Out} does not match input dtype {Result}")


@public("torch.bmm Tensor.bmm")
@with_out(EXACT)
def batch_mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Products of the matrices of two batches, ``(b, n, k)`` and ``(b, k, m)``; see ``matmul`` for broadcasting.

    >>> torch.bmm(torch.ones(2, 1, 3), torch.ones(2, 3, 1)).flatten()
    tensor([3., 3.])
    """
    if not type(input) is type(mat2) is Tensor:
        expect_tensors("bmm", input=input, mat2=mat2)
    check_batches(input, mat2)
    if input._payload.dtype is not FLOAT32:
        refuse_bool(input, batch_kernel("bmm", input._payload, mat2._payload), mat2)
    return bmm(input, mat2)


def check_batches(x: Any, y: Any) -> None:
    """Raise PyTorch's error if two batches of matrices do not fit."""
    a, b = x._payload, y._payload
    if a.ndim != 3 or b.ndim != 3:
        raise RuntimeError(f"batch{1 if a.ndim != 3 else 2} must be a 3D tensor")
    if a.shape[0] != b.shape[0] or a.shape[2] != b.shape[1]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{a.shape[0]}, {a.shape[2]}] but got: "
            f"[{b.shape[0]}, {b.shape[1]}]."
        )


@public("torch.mv Tensor.mv")
@with_out(_MV)
def mv(input: Tensor, vec: Tensor) -> Tensor:
    """Product of a matrix ``(n, m)`` and a vector ``(m,)``.

    >>> torch.mv(torch.tensor([[1., 2.], [3., 4.]]), torch.tensor([1., 1.]))
    tensor([3., 7.])
    """
    if not type(input) is type(vec) is Tensor:
        expect_tensors("mv", input=input, vec=vec)
    a, b = input._payload, vec._payload
    if a.ndim != 2 or b.ndim != 1 or a.shape[1] != b.shape[0]:
        check_mat_vec(a, b)
    if a.dtype is not FLOAT32:
        refuse_bool(input, "addmv_impl_cpu", vec)
    return mat_vec(input, vec)


def check_mat_vec(a: Any, b: Any) -> None:
    """Raise PyTorch's error if a matrix and a vector do not fit."""
    if a.ndim != 2 or b.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {a.ndim}, {b.ndim}")
    if a.shape[1] != b.shape[0]:
        _refuse_sizes(a, b)


def _check_dot(name: str, x: Any, y: Any) -> None:
    if type(x) is not Tensor or type(y) is not Tensor:
        expect_tensors(name, input=x, **{"tensor" if name == "dot" else "other": y})
    a, b = x._payload, y._payload
    if a.ndim == 1 and a.shape == b.shape and a.dtype is b.dtype and a.dtype in INEXACT:
        return
    if a.ndim != 1 or b.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {a.ndim}D and {b.ndim}D tensors")
    if logical_dtype(x) is not logical_dtype(y):
        _refuse_dot(None, x, y)
    if a.shape != b.shape:
        _refuse_sizes(a, b)
    refuse_bool(x, "dot")


@public("torch.dot Tensor.dot")
@with_out(_DOT)
def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """Sum of the products of the elements of two vectors.

    >>> torch.dot(torch.tensor([2, 3]), torch.tensor([2, 1]))
    tensor(7)
    """
    _check_dot("dot", input, tensor)
    return vec_vec(input, tensor)


@public("torch.vdot Tensor.vdot")
@with_out(_DOT)
def vdot(input: Tensor, other: Tensor) -> Tensor:
    """``dot`` with the first vector conjugated.

    >>> torch.vdot(torch.tensor([1j, 2]), torch.tensor([1j, 1]))
    tensor(3.+0.j)
    """
    _check_dot("vdot", input, other)
    return conj_dot(input, other)


@public("torch.outer Tensor.outer torch.ger Tensor.ger")
@with_out
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Products of each element of a vector with each element of another: ``(n,)`` and ``(m,)`` give ``(n, m)``.

    >>> torch.outer(torch.tensor([1, 2]), torch.tensor([3, 4]))
    tensor([[3, 4],
            [6, 8]])
    """
    if not (isinstance(input, Tensor) and isinstance(vec2, Tensor)):
        expect_tensors("outer", input=input, vec2=vec2)
    if not input._payload.ndim == vec2._payload.ndim == 1:
        name, t = ("self", input) if input._payload.ndim != 1 else ("vec2", vec2)
        raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {t.ndim}-D")
    return TENSORS.reshape(input, (input._payload.shape[0], 1)) * vec2
