"""Products with a tensor added: ``addmm``, ``addmv``, ``addbmm``, ``baddbmm``, ``addr``.

The result is ``beta * input + alpha * product``; with ``beta = 0`` the input is not read, so its nan and inf have no
effect. The forms of 2017, ``addmm(beta, input, alpha, mat1, mat2)``, are accepted too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._arrays.layouts import as_rows, iterated
from ..._arrays.library import in_lib
from ..._base.errors import warn_of_overload
from ..._base.registry import REGISTRY, TENSORS, plain, publish
from ..._kinds.linear import affine
from ..._kinds.out import EXACT, write_out
from ..._tape.error_text import expect_tensors
from ..._tape.inplace import inplace_of
from ..._tape.promotion import cast, common_dtype, logical_dtype
from ..._tape.tensor import Tensor
from ..._tape.unfused import with_sizes
from ..shape.broadcasting import expand_size
from .factors import left_cotangent, right_cotangent
from .matmul import batch_kernel, check_batches, check_mat_vec, dtype_name, matrix_product, refuse_bool, refuse_mm


def scaled(x: Any, factor: Any) -> Any:
    """x times a number; x itself if the number is 1."""
    return x if factor == 1 else x * factor


def add_up(lib: Any, product: Any, input: Any, beta: Any, alpha: Any) -> Any:
    """The scaled product and the scaled input (``None`` inside of forward mode)."""
    if alpha != 1:
        product = product * product.dtype.type(alpha)
    if beta == 0 or input is None:
        return product
    return product + (input if beta == 1 else input * input.dtype.type(beta))


def _refuse(error: Exception, x: Any, y: Any, c: Any, *p: Any) -> Any:
    raise error


def _added(xp: Any, g: Any, shape: Any, beta: Any, alpha: Any) -> Any:
    g = scaled(g, beta)
    return g if g.shape == shape else xp.sum_to(g, shape)


def _spread(xp: Any, t: Any, shape: Any, beta: Any, alpha: Any) -> Any:
    t = scaled(t, beta)
    return t if t.shape == shape else xp.expand(t, shape)


def _batched(a: tuple[int, ...], b: tuple[int, ...], out: tuple[int, ...]) -> Any:
    """The batching rule of a product with these labels (see ``contract``); -9 is the batch's."""

    def rule(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
        x, y, c = inner
        beta, alpha = p
        many = mine[0] or mine[1]
        r = scaled(U.contract(x, y, (-9,) * mine[0] + a, (-9,) * mine[1] + b, (-9,) * many + out), alpha)
        if mine[2]:
            c = U.reshape(c, (c.shape[0], *(1,) * (len(out) - (c.ndim - 1)), *c.shape[1:]))
        if beta == 0 or c is None:
            return r if many else U.expand(r, (c.shape[0], *r.shape))
        return r + scaled(c, beta)

    return rule


@in_lib
def addmm_rows(mat1: Any, mat2: Any, input: Any, beta: Any, alpha: Any) -> Any:
    """The product of two matrices plus an input that broadcasts to it."""
    r = matrix_product(mat1, mat2)
    if alpha != 1 or beta != 1 or input is None or r.dtype is not input.dtype or input.ndim > 2:
        return add_up(np, r, input, beta, alpha)
    if len(r) == 1 and input.ndim == 1 and input.shape == r.shape[1:]:
        row = r[0]
        add(row, input, row)
    else:
        add(r, input, r)
    return r


@plain
def plain_addmm_rows(lib, mat1, mat2, input, beta, alpha):
    return add_up(lib, lib.matmul(mat1, mat2), input, beta, alpha)


add = np.add
_SCALES = ((1, 1), (2.0, -1.5), (0, 3.0))
_FACTS: dict[str, Any] = {
    "added": _added,
    "spread": _spread,
    "added_first": True,
    "refuse_shapes": _refuse,
    "dtypes": "fci",
}


@affine(
    first=lambda xp, g, mat1, mat2, beta, alpha: scaled(left_cotangent(xp, g, mat1, mat2), alpha),
    second=lambda xp, g, mat1, mat2, beta, alpha: scaled(right_cotangent(xp, g, mat1, mat2), alpha),
    node="AddmmBackward0",
    libname="addmm_rows",
    own_shapes=False,
    batch=_batched((0, 1), (1, 2), (0, 2)),
    samples=[((2, 3), (3, 4), c, p) for p in _SCALES for c in ((2, 4), (4,), (2, 1), ())],
    **_FACTS,
    in_float32="result",
)
def affine_mm(mat1, mat2, input, beta, alpha):
    """``beta * input + alpha * mat1 @ mat2``."""


with_sizes(REGISTRY["affine_mm"].node, "mat1", "mat2", kept=("alpha", "beta"))


def _refuse_mv(info: Any, x: Any, y: Any, c: Any, *p: Any) -> Any:
    names = [dtype_name(t) for t in (c, x, y)]
    raise RuntimeError(f"addmv input tensors must have the same dtype, but got {names[0]}, {names[1]}, and {names[2]}")


@affine(
    first=lambda xp, g, mat, vec, beta, alpha: scaled(xp.reshape(g, (g.shape[0], 1)) * vec, alpha),
    second=lambda xp, g, mat, vec, beta, alpha: scaled(xp.vec_mat(g, mat), alpha),
    node="AddmvBackward0",
    refuse_mixed=_refuse_mv,
    batch=_batched((0, 1), (1,), (0,)),
    samples=[((2, 3), (3,), c, p) for p in _SCALES for c in ((2,), (1,), ())],
    **_FACTS,
)
def affine_mv(lib, mat, vec, input, beta, alpha):
    """``beta * input + alpha * mat @ vec``."""
    return add_up(lib, lib.product(mat, vec), input, beta, alpha)


@affine(
    first=lambda xp, g, batch1, batch2, beta, alpha: scaled(
        as_rows(xp.contract(g, batch2, (1, 3), (0, 2, 3), (0, 1, 2))), alpha
    ),
    second=lambda xp, g, batch1, batch2, beta, alpha: scaled(
        xp.contract(batch1, g, (0, 1, 2), (1, 3), (0, 2, 3)), alpha
    ),
    node="AddbmmBackward0",
    batch=_batched((0, 1, 2), (0, 2, 3), (1, 3)),
    samples=[((2, 2, 3), (2, 3, 4), c, p) for p in _SCALES for c in ((2, 4), (4,))],
    **_FACTS,
)
def affine_bmm_sum(lib, batch1, batch2, input, beta, alpha):
    """``beta * input + alpha *`` the sum of the products of the matrices of two batches: one product of matrices."""
    n, rows, k = batch1.shape
    wide = batch1.transpose(1, 0, 2).reshape(rows, n * k)
    return add_up(lib, lib.matrix_product(wide, batch2.reshape(n * k, batch2.shape[2])), input, beta, alpha)


def _refuse_bmm(info: Any, x: Any, y: Any, c: Any, *p: Any) -> Any:
    names = [str(t.dtype).removeprefix("torch.") for t in (c, x, y)]
    names = [{"float32": "float", "float64": "double"}.get(n, n) for n in names]
    raise RuntimeError(f"Input dtypes must be the same, got: input {names[0]}, batch1: {names[1]}, batch2: {names[2]}")


@affine(
    first=lambda xp, g, batch1, batch2, beta, alpha: scaled(xp.bmm(g, batch2.mT), alpha),
    second=lambda xp, g, batch1, batch2, beta, alpha: scaled(xp.bmm(batch1.mT, g), alpha),
    node="BaddbmmBackward0",
    refuse_mixed=_refuse_bmm,
    batch=_batched((0, 1, 2), (0, 2, 3), (0, 1, 3)),
    samples=[((2, 2, 3), (2, 3, 4), c, p) for p in _SCALES for c in ((2, 2, 4), (2, 4), (2, 1, 1))],
    **_FACTS,
    in_float32="result",
)
def affine_bmm(lib, batch1, batch2, input, beta, alpha):
    """``beta * input + alpha *`` the products of the matrices of two batches."""
    return add_up(lib, lib.matmul(batch1, batch2), input, beta, alpha)


@affine(
    layout=iterated,
    first=lambda xp, g, vec1, vec2, beta, alpha: scaled(xp.mat_vec(g, vec2), alpha),
    second=lambda xp, g, vec1, vec2, beta, alpha: scaled(xp.vec_mat(vec1, g), alpha),
    node="AddrBackward0",
    batch=_batched((0,), (1,), (0, 1)),
    samples=[((2,), (3,), c, p) for p in _SCALES for c in ((2, 3), (3,), ())],
    **_FACTS,
)
def affine_outer(lib, vec1, vec2, input, beta, alpha):
    """``beta * input + alpha * outer(vec1, vec2)``."""
    return add_up(lib, vec1.reshape(len(vec1), 1) * vec2, input, beta, alpha)


# ---- public functions
def _unusual(fn: Any, args: tuple[Any, ...], beta: Any, alpha: Any, out: Any) -> Any:
    """Calls with ``out=``, or with beta and alpha among the positional arguments, as PyTorch took them before 0.5."""
    name = fn.__name__
    if len(args) > 3:
        numbers = [a for a in args if not isinstance(a, Tensor)]
        args = tuple(a for a in args if isinstance(a, Tensor))
        if len(args) != 3 or len(numbers) > 2:
            raise TypeError(f"{name}() takes 3 tensors, beta and alpha")
        warn_of_overload(
            name, "Number beta, Tensor input, Number alpha, ...", "Tensor input, ..., *, Number beta, Number alpha"
        )
        beta, alpha = numbers[0], numbers[1] if len(numbers) > 1 else 1
    kwargs = {"beta": beta, "alpha": alpha}
    if out is None:
        return fn(*args, **kwargs)
    return write_out(out, fn, args, kwargs, None if name == "addr" else EXACT)


def _public(names: str) -> Any:
    """Decorator: function, method and in-place method of one of these products."""

    def decorate(fn: Any) -> Any:
        name = fn.__name__
        publish(fn, names)
        publish(inplace_of(fn, name + "_"), f"Tensor.{name}_")
        return fn

    return decorate


def _check(input: Any, size: tuple[int, ...], kernel: str) -> None:
    """Raise PyTorch's error if the input does not expand to the result's size."""
    expand_size(size, input._payload)
    refuse_bool(input, kernel)


def _number(t: Any, value: Any) -> Any:
    return int(value) if t._payload.dtype.kind in "iu" else value


@_public("torch.addmm Tensor.addmm")
def addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *old: Any, beta: Any = 1, alpha: Any = 1, out: Tensor | None = None
) -> Tensor:
    """``beta * input + alpha * mat1 @ mat2``; input broadcasts to ``(n, m)``.

    >>> torch.addmm(torch.ones(2), torch.tensor([[1., 2.]]), torch.tensor([[1., 0.], [0., 1.]]), alpha=10)
    tensor([[11., 21.]])
    """
    if old or out is not None:
        return _unusual(addmm, (input, mat1, mat2, *old), beta, alpha, out)
    try:
        a, b = mat1._payload, mat2._payload
        c = input._payload
    except AttributeError:
        return expect_tensors("addmm", input=input, mat1=mat1, mat2=mat2)
    if a.ndim != 2 or b.ndim != 2:
        name, x = ("mat1", a) if a.ndim != 2 else ("mat2", b)
        raise RuntimeError(f"{name} must be a matrix, got {x.ndim}-D tensor")
    rows, inner = a.shape
    if inner != b.shape[0]:
        refuse_mm(a, b)
    shape = c.shape
    if shape != b.shape[1:] and shape != (rows, b.shape[1]):
        _check(input, (rows, b.shape[1]), "addmm_impl_cpu_")
    if c.dtype.kind in "iub":
        if c.dtype is not b.dtype and c.dtype.kind == "b":
            names = dtype_name(input), dtype_name(mat2)
            raise RuntimeError(f"self and mat2 must have the same dtype, but got {names[0]} and {names[1]}")
        refuse_bool(input, "addmm_impl_cpu_")
        beta, alpha = int(beta), int(alpha)
    return affine_mm(mat1, mat2, input, beta, alpha)


@_public("torch.addmv Tensor.addmv")
def addmv(
    input: Tensor, mat: Tensor, vec: Tensor, *old: Any, beta: Any = 1, alpha: Any = 1, out: Tensor | None = None
) -> Tensor:
    """``beta * input + alpha * mat @ vec``; input broadcasts to ``(n,)``.

    >>> torch.addmv(torch.tensor([1., 2.]), torch.eye(2), torch.tensor([3., 4.]))
    tensor([4., 6.])
    """
    if old or out is not None:
        return _unusual(addmv, (input, mat, vec, *old), beta, alpha, out)
    expect_tensors("addmv", input=input, mat=mat, vec=vec)
    a, b = mat._payload, vec._payload
    check_mat_vec(a, b)
    if tuple(input._payload.shape) not in ((a.shape[0],), (1,), ()):
        raise RuntimeError(
            f"size mismatch, got input ({input._payload.shape[0]}), mat ({a.shape[0]}x{a.shape[1]}), vec ({b.shape[0]})"
        )
    refuse_bool(input, "addmv_impl_cpu")
    return affine_mv(mat, vec, input, _number(input, beta), _number(input, alpha))


@_public("torch.addbmm Tensor.addbmm")
def addbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *old: Any, beta: Any = 1, alpha: Any = 1, out: Tensor | None = None
) -> Tensor:
    """``beta * input + alpha * sum(batch1 @ batch2)`` over the batch.

    >>> torch.addbmm(torch.zeros(1, 1), torch.ones(2, 1, 3), torch.ones(2, 3, 1))
    tensor([[6.]])
    """
    if old or out is not None:
        return _unusual(addbmm, (input, batch1, batch2, *old), beta, alpha, out)
    expect_tensors("addbmm", input=input, batch1=batch1, batch2=batch2)
    _check(input, (batch1._payload.shape[-2], batch2._payload.shape[-1]), "addmm_impl_cpu_")
    check_batches(batch1, batch2)
    return affine_bmm_sum(batch1, batch2, input, _number(input, beta), _number(input, alpha))


@_public("torch.baddbmm Tensor.baddbmm")
def baddbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *old: Any, beta: Any = 1, alpha: Any = 1, out: Tensor | None = None
) -> Tensor:
    """``beta * input + alpha * (batch1 @ batch2)``; input broadcasts to ``(b, n, m)``.

    >>> torch.baddbmm(torch.ones(2, 1, 1), torch.ones(2, 1, 3), torch.ones(2, 3, 1)).flatten()
    tensor([4., 4.])
    """
    if old or out is not None:
        return _unusual(baddbmm, (input, batch1, batch2, *old), beta, alpha, out)
    expect_tensors("baddbmm", input=input, batch1=batch1, batch2=batch2)
    if batch1._payload.ndim == batch2._payload.ndim == 3:  # else the check of the batches raises
        a, b = batch1._payload, batch2._payload
        _check(input, (*a.shape[:2], b.shape[2]), batch_kernel("baddbmm", a, b))
    check_batches(batch1, batch2)
    return affine_bmm(batch1, batch2, input, _number(input, beta), _number(input, alpha))


@_public("torch.addr Tensor.addr")
def addr(
    input: Tensor, vec1: Tensor, vec2: Tensor, *old: Any, beta: Any = 1, alpha: Any = 1, out: Tensor | None = None
) -> Tensor:
    """``beta * input + alpha * outer(vec1, vec2)``.

    >>> torch.addr(torch.zeros(2, 2), torch.tensor([1., 2.]), torch.tensor([3., 4.]))
    tensor([[3., 4.],
            [6., 8.]])
    """
    if old or out is not None:
        return _unusual(addr, (input, vec1, vec2, *old), beta, alpha, out)
    expect_tensors("addr", input=input, vec1=vec1, vec2=vec2)
    for name, v in (("vec1", vec1), ("vec2", vec2)):
        if v.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {v.ndim}-D")
    size = (vec1._payload.shape[0], vec2._payload.shape[0])
    expand_size(size, input._payload)
    dtype = common_dtype((input, vec1, vec2))
    input, vec1, vec2 = (cast(t, dtype) for t in (input, vec1, vec2))
    if logical_dtype(input).kind == "b":
        outer = TENSORS.reshape(vec1, (size[0], 1)) & vec2 if alpha else TENSORS.zeros(size, np.dtype(np.bool_))
        return outer | input if beta else outer
    return affine_outer(vec1, vec2, input, _number(input, beta), _number(input, alpha))
