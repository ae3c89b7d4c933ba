"""Sums of products over named dimensions: ``einsum``, ``tensordot``, ``inner``, ``kron``, ``bilinear``, ``multi_dot``.

``contract`` is the primitive: it takes two operands whose dimensions have labels (ints), and the labels of the result.
Both of its derivatives are ``contract`` again. An equation of ``einsum`` is parsed once for its ranks and becomes a few
contractions.
"""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

import numpy as np

from ..._arrays.layouts import iterated
from ..._base.registry import REGISTRY, TENSORS, public
from ..._kinds.keywords import with_out
from ..._kinds.laid_out import receives
from ..._kinds.linear import bilinear
from ..._kinds.out import exactly, write_out
from ..._kinds.slow_path import no_complex_grad, require
from ..._tape.error_text import expect_tensors
from ..._tape.promotion import cast, common_dtype, logical_dtype
from ..._tape.tensor import Tensor
from ..shape.views_primitive import reshape
from .equations import Labels, arguments_of, labels_of, letter_of, ranks_of
from .matmul import matmul, refuse_batched, refuse_bool, same_dtype
from .public import floating

TENSORDOT = exactly(
    "tensordot: Expected the output tensor to have dtype {Result}, but got an output tensor with dtype {Out}"
)


# ---- the primitive
@functools.lru_cache(1024)
def _plan(a: Labels, b: Labels, out: Labels) -> tuple[Any, ...]:
    """The permutations of a, b and the result that make a contraction one product of (batches of) matrices.

    The product's dims are those of the batch, of a and of b, each in the order of their labels. A permutation that
    changes nothing is ``None``. Before them: the numbers of dims of the batch, of a and summed, and whether the product
    is that of the permuted operands, vectors or matrices, as they are.
    """
    labels = sorted({*a, *b})
    batch = tuple(x for x in labels if x in a and x in b and x in out)
    summed = tuple(x for x in labels if x in a and x in b and x not in out)
    only_a = tuple(x for x in labels if x not in b)
    only_b = tuple(x for x in labels if x not in a)
    perm_a = tuple(a.index(x) for x in (*batch, *only_a, *summed))
    perm_b = tuple(b.index(x) for x in (*batch, *summed, *only_b))
    made = (*batch, *only_a, *only_b)
    perm_out = tuple(made.index(x) for x in out)
    single = not batch and len(summed) == 1 and len(only_a) < 2 > len(only_b)
    perms = [None if perm == tuple(range(len(perm))) else perm for perm in (perm_a, perm_b, perm_out)]
    return len(batch), len(only_a), len(summed), single, *perms


@functools.lru_cache(1024)
def _broadcast_plan(a: Labels, b: Labels, out: Labels) -> tuple[Any, ...]:
    """The permutations and missing dims that align two operands without a summed label with the result."""
    perms = tuple(tuple(s.index(x) for x in out if x in s) for s in (a, b))
    return perms, tuple(tuple(i for i, x in enumerate(out) if x not in s) for s in (a, b))


_PRODUCT = iterated(operator.mul)


def _aligned(x: Any, perm: Labels, missing: Labels) -> Any:
    if perm != tuple(range(len(perm))):
        x = x.transpose(perm)
    if missing:
        shape = list(x.shape)
        for i in missing:
            shape.insert(i, 1)
        x = x.reshape(shape)
    return x


def _contract_batch(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    a, b, out = p
    new = min((*a, *b, *out, 0)) - 1
    return U.contract(*inner, (new, *a) if mine[0] else a, (new, *b) if mine[1] else b, (new, *out))


def _of_two_dtypes(info: Any, x: Any, y: Any, a: Labels, b: Labels, out: Labels) -> Any:
    """What adds nothing up is PyTorch's product, which promotes."""
    if {*a} & {*b} - {*out}:
        refuse_batched(info, x, y)
    dtype = common_dtype((x, y))
    return TENSORS.contract(cast(x, dtype), cast(y, dtype), a, b, out)


@bilinear(
    self=lambda xp, g, self, other, a, b, out: xp.contract(g, other, out, b, a),
    other=lambda xp, g, self, other, a, b, out: xp.contract(self, g, a, out, b),
    node="ViewBackward0",
    refuse_mixed=_of_two_dtypes,
    batch=_contract_batch,
    dtypes="fci",
    in_float32="result",
    samples=[
        ((2, 3), (3, 4), ((0, 1), (1, 2), (0, 2))),
        ((2, 3), (3, 4), ((0, 1), (1, 2), (2, 0))),
        ((2, 3, 4), (4, 2, 5), ((0, 1, 2), (2, 0, 3), (3, 0, 1))),
        ((2, 3), (2, 3), ((0, 1), (0, 1), ())),
        ((2, 3), (2, 3), ((0, 1), (0, 1), (1, 0))),
        ((2,), (3,), ((0,), (1,), (1, 0))),
        ((), (3,), ((), (1,), (1,))),
        ((2, 3), (3,), ((0, 1), (1,), (0,))),
        ((2, 0), (0, 3), ((0, 1), (1, 2), (0, 2))),
    ],
)
def contract(lib, self, other, a, b, out):
    """Sum of products over the labels that ``out`` lacks: ``a``, ``b`` and ``out`` label the dimensions, each once.

    A label of ``a`` or ``b`` is in ``out``, or it is in both and summed over.
    """
    if a == b and len(a) == 1 and not out:
        return lib.product(self, other)
    n_batch, n_a, n_summed, single, perm_a, perm_b, perm_out = _plan(a, b, out)
    if not n_summed:
        (pa, pb), (ma, mb) = _broadcast_plan(a, b, out)
        return _PRODUCT(_aligned(self, pa, ma), _aligned(other, pb, mb))
    x = self if perm_a is None else self.transpose(perm_a)
    y = other if perm_b is None else other.transpose(perm_b)
    if single:
        r = (lib.matrix_product if x.ndim == y.ndim == 2 else lib.product)(x, y)
        return r if perm_out is None else r.transpose(perm_out)
    sx, sy = x.shape, y.shape
    batch, rows, columns = sx[:n_batch], sx[n_batch : n_batch + n_a], sy[n_batch + n_summed :]
    k = math.prod(sx[n_batch + n_a :])
    if n_batch:
        size = math.prod(batch)
        x = x.reshape(size, math.prod(rows), k)
        y = y.reshape(size, k, math.prod(columns))
        r = lib.matmul(x, y).reshape(batch + rows + columns)
    else:
        x = x.reshape(math.prod(rows), k) if n_a else x.reshape(k)
        y = y.reshape(k, math.prod(columns)) if columns else y.reshape(k)
        r = (lib.matrix_product if x.ndim == y.ndim == 2 else lib.product)(x, y)
        if n_a != 1 or len(columns) > 1:
            r = r.reshape(rows + columns)
    return r if perm_out is None else r.transpose(perm_out)


REGISTRY["contract"].node.viewed = ("x", "y")


# ---- einsum
@functools.lru_cache(1024)
def _direct(equation: str, shape_x: tuple[int, ...], shape_y: tuple[int, ...]) -> tuple[Any, ...] | None:
    """The labels of two operands and the result if they make one contraction, else ``None``; see ``_pair``."""
    (a, b), out = labels_of(equation, (len(shape_x), len(shape_y)))
    if len(set(a)) < len(a) or len(set(b)) < len(b) or not set(a) ^ set(b) <= set(out):
        return None
    sizes = dict(zip(a, shape_x, strict=True))
    if any(sizes.get(x, n) != n for x, n in zip(b, shape_y, strict=True)):
        return None
    ranks = ranks_of(out, {*a, *b})
    return _pair(tuple(ranks[x] for x in a), tuple(ranks[x] for x in b), tuple(range(len(out))))


def _pair(a: Labels, b: Labels, out: Labels) -> tuple[bool, Labels, Labels, Labels]:
    """Whether the operands of a contraction are to be swapped, and the labels of what is then the first and second.

    As in PyTorch, the one whose dims come first in the result is the left factor, so that the product often is the
    result as it lies. The labels are those of ``ranks_of``.
    """
    only_a, only_b = [x for x in out if x not in b], [x for x in out if x not in a]
    swap = bool(only_a and only_b) and only_b[-1] < only_a[0] and len({*a, *b}) > len(out)
    return (True, b, a, out) if swap else (False, a, b, out)


def _sizes(labels: tuple[Labels, ...], operands: list[Any]) -> dict[int, int]:
    """The size of every label; a dimension of size one broadcasts."""
    sizes: dict[int, int] = {}
    for k, (side, t) in enumerate(zip(labels, operands, strict=True)):
        own: dict[int, int] = {}
        for label, n in zip(side, t._payload.shape, strict=True):
            if own.setdefault(label, n) != n:
                raise RuntimeError(
                    f"einsum(): subscript {letter_of(label)} is repeated for operand {k} but the sizes don't match, "
                    f"{n} != {own[label]}"
                )
            if sizes.setdefault(label, n) != n:
                if sizes[label] == 1:
                    sizes[label] = n
                elif n != 1:
                    raise RuntimeError(
                        f"einsum(): subscript {letter_of(label)} has size {n} for operand {k} which does not broadcast "
                        f"with previously seen size {sizes[label]}"
                    )
    return sizes


def _without_repeats(t: Any, side: Labels) -> tuple[Any, Labels]:
    """Diagonals of the dimensions that have the same label; the label keeps its first position."""
    for label in dict.fromkeys(side):
        while side.count(label) > 1:
            i = side.index(label)
            j = side.index(label, i + 1)
            t = TENSORS.diagonal_view(t, 0, i, j)
            side = (*side[:i], *side[i + 1 : j], *side[j + 1 :], label)
    return t, side


def _summed(t: Any, side: Labels, keep: Any, sizes: dict[int, int]) -> tuple[Any, Labels]:
    """Sum over the labels that occur nowhere else; drop dimensions of size one that broadcast."""
    ones = tuple(i for i, x in enumerate(side) if t._payload.shape[i] == 1 and sizes[x] != 1)
    if ones:
        t = TENSORS.reshape(t, tuple(n for i, n in enumerate(t._payload.shape) if i not in ones))
        side = tuple(x for i, x in enumerate(side) if i not in ones)
    dims = tuple(i for i, x in enumerate(side) if x not in keep)
    if dims:
        t = TENSORS.sum_dim(t, dims, False) if logical_dtype(t).kind != "b" else t.sum(dims)
        side = tuple(x for x in side if x in keep)
    return t, side


def _order(sides: list[Labels], out: Labels, sizes: dict[int, int]) -> tuple[int, int]:
    """The pair of operands to contract next: the cheapest one, the leftmost of those."""
    best = (math.inf, 0, 1)
    for i in range(len(sides)):
        for j in range(i + 1, len(sides)):
            cost = math.prod(sizes[x] for x in {*sides[i], *sides[j]})
            if cost < best[0]:
                best = (cost, i, j)
    return best[1], best[2]


@public("torch.einsum")
def einsum(*args: Any) -> Tensor:
    """Sum of products over dimensions named by letters: ``einsum("ij,jk->ik", a, b)`` is a product of matrices.

    A letter that the output lacks is summed over; a letter twice in one operand takes the diagonal; ``...`` stands for
    dimensions that broadcast. Without ``->`` the output has the letters that occur once, in alphabetical order. The
    form ``einsum(a, [0, 1], b, [1, 2], [0, 2])`` numbers the dimensions. More than two operands are contracted pair by
    pair, the cheapest first.

    >>> torch.einsum("ij,ij->i", torch.ones(2, 3), torch.full((2, 3), 2.))
    tensor([6., 6.])
    """
    if len(args) == 3 and type(args[0]) is str and type(args[1]) is type(args[2]) is Tensor:
        equation, operands = args[0], [args[1], args[2]]
    else:
        equation, operands = arguments_of(args)
        expect_tensors("einsum", **{f"operands[{i}]": t for i, t in enumerate(operands)})
    if len(operands) == 2 and isinstance(equation, str):
        x, y = operands
        direct = _direct(equation, tuple(x._payload.shape), tuple(y._payload.shape))
        if direct is not None and logical_dtype(x).kind != "b":
            swap, *sides = direct
            return TENSORS.contract(*((y, x) if swap else (x, y)), *sides)
    labels, out = labels_of(equation, tuple(t._payload.ndim for t in operands))
    sizes = _sizes(labels, operands)
    ranks = ranks_of(out, sizes)
    sizes, out = {ranks[label]: n for label, n in sizes.items()}, tuple(range(len(out)))
    work = []
    for k, (t, side) in enumerate(zip(operands, labels, strict=True)):
        t, side = _without_repeats(t, side)
        side = tuple(ranks[label] for label in side)
        if side != tuple(sorted(side)):
            t, side = TENSORS.permute(t, tuple(sorted(range(len(side)), key=side.__getitem__))), tuple(sorted(side))
        others = {*out, *(ranks[x] for j, s in enumerate(labels) if j != k for x in s)}
        work.append(_summed(t, side, others, sizes))
    while len(work) > 1:
        i, j = (0, 1) if len(work) == 2 else _order([s for _, s in work], out, sizes)
        (x, a), (y, b) = work[i], work[j]
        rest = [w for k, w in enumerate(work) if k not in (i, j)]
        keep = {*out, *(label for _, s in rest for label in s)}
        x, a = _summed(x, a, keep | set(b), sizes)
        y, b = _summed(y, b, keep | set(a), sizes)
        made = tuple(sorted(keep.intersection((*a, *b))))
        if logical_dtype(x).kind == logical_dtype(y).kind == "b" and {*a} & {*b} - {*made}:  # else nothing is added up
            raise NotImplementedError("\"bmm\" not implemented for 'Bool'")
        swap, *sides = _pair(a, b, made)
        work = [(TENSORS.contract(*((y, x) if swap else (x, y)), *sides), made), *rest]
    return work[0][0]


# ---- functions on contractions
def _same_dtype(x: Any, y: Any) -> None:
    if logical_dtype(x) is not logical_dtype(y):
        raise RuntimeError("both inputs should have same dtype")


@public("torch.tensordot")
@with_out(TENSORDOT)
def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """Sum of products over some dimensions of a and as many of b.

    ``dims``: the number of the last dimensions of a and the first of b, or a list of a's dimensions and one of b's.

    >>> torch.tensordot(torch.ones(2, 3, 4), torch.ones(3, 4, 5), dims=2).shape
    torch.Size([2, 5])
    """
    expect_tensors("tensordot", a=a, b=b)
    ra, rb = a._payload.ndim, b._payload.ndim
    dims_a, dims_b = _tensordot_dims(dims, ra, rb)
    if len(dims_a) != len(dims_b):
        raise RuntimeError("both dimension lists should have same length")
    _same_dtype(a, b)
    of_a = list(range(ra))
    of_b = list(range(ra, ra + rb))
    contracted: list[int] = []
    summed_a, summed_b = [], []
    for da, db in zip(dims_a, dims_b, strict=True):
        na, nb = a._payload.shape[da], b._payload.shape[db]
        if na == nb:
            contracted.append(ra + rb + len(contracted))
            of_a[da] = of_b[db] = contracted[-1]
        elif nb == 1:
            summed_a.append(da % ra)
            summed_b.append(db % rb)
        elif na == 1:
            summed_b.append(db % rb)
            summed_a.append(da % ra)
        else:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {na} in dim {da} and second has size {nb} "
                f"in dim {db}"
            )
    if summed_a:
        dtype = logical_dtype(a)  # sums of integers are int64
        a = cast(TENSORS.sum_dim(a, tuple(summed_a), False), dtype)
        b = cast(TENSORS.sum_dim(b, tuple(summed_b), False), dtype)
        of_a = [x for i, x in enumerate(of_a) if i not in summed_a]
        of_b = [x for i, x in enumerate(of_b) if i not in summed_b]
    out = tuple(x for x in of_a if x not in of_b) + tuple(x for x in of_b if x not in of_a)
    kept = [n for t, side in ((a, of_a), (b, of_b)) for n, x in zip(t._payload.shape, side, strict=True) if x in out]
    if math.prod(kept) > 1:
        if a._payload.size and b._payload.size:
            require(a, "fhciu", "addmm_impl_cpu_")
    elif math.prod(kept) == 1 and logical_dtype(a).kind == "b":
        x = TENSORS.permute(a, tuple(of_a.index(k) for k in (*(k for k in of_a if k in out), *contracted)))
        y = TENSORS.permute(b, tuple(of_b.index(k) for k in (*contracted, *(k for k in of_b if k in out))))
        if x.is_contiguous() and y.is_contiguous():  # else PyTorch multiplies and adds up
            require(a, "fhciu", "dot")
    if (a._node is not None or b._node is not None) and math.prod(kept) > 1:
        order_a = (*(of_a.index(k) for k in of_a if k in out), *(of_a.index(k) for k in contracted))
        order_b = (*(of_b.index(k) for k in contracted), *(of_b.index(k) for k in of_b if k in out))
        n_a, n_b = len(of_a) - len(contracted), len(contracted)
        if _columns(a, order_a, n_a) or _columns(b, order_b, n_b):
            r = matmul(_matrix(a, order_a, n_a), _matrix(b, order_b, n_b))
            return TENSORS.reshape(r, tuple(kept))
    return TENSORS.contract(a, b, tuple(of_a), tuple(of_b), out)


def _matrix(t: Any, order: Any, n: int) -> Any:
    """A tensor as a matrix: its dims in an order, the first ``n`` of them as the rows."""
    shape = [t._payload.shape[k] for k in order]
    return TENSORS.reshape(TENSORS.permute(t, order), (math.prod(shape[:n]), math.prod(shape[n:])))


def _columns(t: Any, order: Any, n: int) -> bool:
    """Whether such a matrix lies in columns, as then its gradient does: a product of matrices looks at that."""
    x = t._payload
    if type(x) is not np.ndarray or not 0 < n < x.ndim:
        return False
    x = x.transpose(order)
    x = x.reshape(math.prod(x.shape[:n]), math.prod(x.shape[n:]))
    return x.strides == (x.itemsize, x.itemsize * x.shape[0]) and 1 not in x.shape


def _tensordot_dims(dims: Any, ra: int, rb: int) -> tuple[list[int], list[int]]:
    if isinstance(dims, Tensor):
        dims = dims.tolist() if dims.numel() > 1 else int(dims.item())
    if isinstance(dims, (list, tuple)):
        da, db = ([int(d) for d in ([side] if isinstance(side, int) else side)] for side in dims)
        return da, db
    if dims < 0:
        raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
    if dims > min(ra, rb):
        raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
    return list(range(-dims, 0)), list(range(dims))


@public("torch.inner Tensor.inner")
def inner(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Sum of products over the last dimension of both; a 0-dimensional operand multiplies the other.

    >>> torch.inner(torch.tensor([1, 2]), torch.tensor([3, 4]))
    tensor(11)
    """
    if out is not None:
        ranks = [t._payload.ndim for t in (input, other) if isinstance(t, Tensor)]
        return write_out(out, inner, (input, other), None, None if 0 in ranks else TENSORDOT)
    if type(input) is not Tensor or type(other) is not Tensor:
        expect_tensors("inner", input=input, other=other)
    a, b = input._payload, other._payload
    if a.ndim == 1 and a.shape == b.shape and a.dtype is b.dtype and a.dtype.kind == "f":
        return TENSORS.contract(input, other, (0,), (0,), ())
    if not a.ndim or not b.ndim:
        return input * other
    if a.shape[-1] != b.shape[-1]:
        raise RuntimeError(
            f"inner() the last dimension must match on both input tensors but got shapes {list(a.shape)} and "
            f"{list(b.shape)}"
        )
    _same_dtype(input, other)
    refuse_bool(input, "dot" if a.ndim == b.ndim == 1 else "addmm_impl_cpu_", other.mT if b.ndim > 1 else other)
    of_b = (*range(a.ndim, a.ndim + b.ndim - 1), a.ndim - 1)
    return TENSORS.contract(input, other, tuple(range(a.ndim)), of_b, (*range(a.ndim - 1), *of_b[:-1]))


@public("linalg.vecdot")
@with_out(exactly("linalg.vecdot: Expected out of dtype{Result} but found {Out}"))
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """Dot products of the vectors along ``dim``, x conjugated; the other dimensions broadcast.

    >>> torch.linalg.vecdot(torch.tensor([1., 2.]), torch.tensor([3., 4.]))
    tensor(11.)
    """
    expect_tensors("linalg_vecdot", x=x, y=y)
    floating("linalg.vecdot", x)
    same_dtype("linalg.vecdot", x=x, y=y)
    return ((TENSORS.conj(x) if logical_dtype(x).kind == "c" else x) * y).sum(dim)


@public("torch.kron Tensor.kron")
@with_out
def kron(input: Tensor, other: Tensor) -> Tensor:
    """Kronecker product: the block matrix of ``input[i, j] * other``, for any number of dimensions.

    >>> torch.kron(torch.tensor([1, 10]), torch.tensor([1, 2]))
    tensor([ 1,  2, 10, 20])
    """
    if not (isinstance(input, Tensor) and isinstance(other, Tensor)):
        expect_tensors("kron", input=input, other=other)
    spread_a, spread_b, shape = _spread(tuple(input._payload.shape), tuple(other._payload.shape))
    product = TENSORS.reshape(input, spread_a) * TENSORS.reshape(other, spread_b)
    return reshape(product, shape)


@functools.lru_cache(1024)
def _spread(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """The shapes in which the factors of ``kron`` broadcast, and the shape of the result."""
    rank = max(len(a), len(b))
    a, b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    spread = tuple(n for m in a for n in (m, 1)), tuple(n for m in b for n in (1, m))
    return *spread, tuple(m * n for m, n in zip(a, b, strict=True))


@public("torch.bilinear nn.functional.bilinear")
def bilinear_layer(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``x1 @ A[k] @ x2 + b[k]`` for every k: ``(*, n)``, ``(*, m)`` and weight ``(out, n, m)`` give ``(*, out)``.

    >>> torch.bilinear(torch.ones(1, 2), torch.ones(1, 3), torch.ones(1, 2, 3))
    tensor([[6.]])
    """
    x, y, w = input1._payload, input2._payload, weight._payload
    if x.ndim != y.ndim:
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {x.ndim} and {y.ndim}")
    for i, (m, n) in enumerate(zip(x.shape[:-1], y.shape[:-1], strict=True)):
        if m != n:
            raise RuntimeError(f"bilinear(): input batch dimensions do not match at dim {i}: got {m} and {n}")
    for name, got, wanted in (("input1", x.shape[-1], w.shape[1]), ("input2", y.shape[-1], w.shape[2])):
        if got != wanted:
            raise RuntimeError(f"bilinear(): {name} size does not match weight size: got {got} but expected {wanted}")
    if bias is not None and bias._payload.shape[0] != w.shape[0]:
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias._payload.shape[0]} but expected {w.shape[0]}"
        )
    require(input1, "fhciu", "bmm")
    lead, i, j, k = tuple(range(x.ndim - 1)), 50, 51, 52
    half = TENSORS.contract(input1, receives(weight, (0, 1, 2)), (*lead, i), (k, i, j), (*lead, k, j))
    result = TENSORS.contract(half, input2, (*lead, k, j), (*lead, j), (*lead, k))
    no_complex_grad("_trilinear", result)
    return result if bias is None else result + bias


# ---- chains of matrices
@public("linalg.multi_dot")
@with_out(exactly("multi_dot(): expected out tensor to have dtype {result} but got {out}"))
def multi_dot(tensors: Any) -> Tensor:
    """Product of several matrices, in the order of multiplication that costs least.

    The first and the last may be vectors (a row, a column). The order is the one of Cormen et al., Introduction to
    Algorithms, 15.2.

    >>> torch.linalg.multi_dot([torch.ones(1, 2), torch.ones(2, 3), torch.ones(3, 1)])
    tensor([[6.]])
    """
    tensors = list(tensors)
    n = len(tensors)
    if n < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {n}")
    ranks = [t._payload.ndim for t in tensors]
    for which, k in (("first", 0), ("last", -1)):
        if ranks[k] not in (1, 2):
            raise RuntimeError(f"multi_dot(): the {which} tensor must be 1D or 2D but got {ranks[k]}D")
    for k in range(1, n - 1):
        if ranks[k] != 2:
            raise RuntimeError(f"multi_dot(): tensor {k} must be 2D but got {ranks[k]}D")
    work = list(tensors)
    if ranks[0] == 1:
        work[0] = TENSORS.reshape(work[0], (1, work[0]._payload.shape[0]))
    if ranks[-1] == 1:
        work[-1] = TENSORS.reshape(work[-1], (work[-1]._payload.shape[0], 1))
    for k in range(n - 1):
        if work[k]._payload.shape[1] != work[k + 1]._payload.shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {k} and {k + 1} with shapes {list(work[k]._payload.shape)} and "
                f"{list(work[k + 1]._payload.shape)} cannot be multiplied"
            )
    result = _multiplied(
        work, _cheapest(tuple(t._payload.shape[0] for t in work) + (work[-1]._payload.shape[1],)), 0, n - 1
    )
    if 1 in (ranks[0], ranks[-1]):
        shape = tuple(result._payload.shape)
        result = TENSORS.reshape(result, (() if ranks[0] == 1 else shape[:1]) + (() if ranks[-1] == 1 else shape[1:]))
    return result


def _multiplied(work: list[Any], split: dict[tuple[int, int], int], i: int, j: int) -> Any:
    if i == j:
        return work[i]
    k = split[i, j]
    return matmul(_multiplied(work, split, i, k), _multiplied(work, split, k + 1, j))


@functools.lru_cache(256)
def _cheapest(sizes: tuple[int, ...]) -> dict[tuple[int, int], int]:
    """The best split of each range of matrices; ``sizes`` are the rows of each and the columns of the last."""
    n = len(sizes) - 1
    cost = {(i, i): 0 for i in range(n)}
    split: dict[tuple[int, int], int] = {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i, j], split[i, j] = min(
                (cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)
            )
    return split
