"""The operators behind ``scatter``: gather, scatter, and sums, products, means and extrema by index."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._arrays import intp
from ..._arrays.along import add_along, read_along
from ..._arrays.layouts import as_operand, rows
from ..._base.registry import TENSORS, plain_body
from ..._kinds.general import general
from ..._payloads.transforms import dtype_of
from ..._tape.refusal import Error, refusing
from ..._tape.tensor import current_fn
from ._along import put_along


def sample_places(*shape: int) -> Any:
    """Samples of positions from 0 to 2, some of them twice."""
    return np.resize(np.array([0, 2, 1, 1, 0]), shape)


@general(
    layout=rows,
    tensors=2,
    grad={"self": lambda xp, g, self_shape, index, dim: xp.gather_back(g, index, self_shape, dim)},
    jvp=lambda xp, tangents, result, self, index, dim: xp.gather(tangents[0], index, dim),
    holomorphic=False,
    batch=("dim", ("dim",)),
    dtypes="fcib",
    samples=lambda rng: [
        ((rng.standard_normal((3, 2)), sample_places(2, 2)), (0,)),
        ((rng.standard_normal((2, 3)), sample_places(2, 4)), (1,)),
        ((rng.standard_normal((3, 2)), sample_places(4, 1)), (0,)),
    ],
)
def gather(lib, self, index, dim):
    """The elements at ``index`` along a dimension."""
    if not (self.ndim and index.ndim) or self.flags.c_contiguous:
        return read_along(self, index, dim)
    key = [lib.arange(n).reshape((n,) + (1,) * (index.ndim - d - 1)) for d, n in enumerate(index.shape)]
    key[dim] = index
    return self[tuple(key)]


@plain_body
def plain_gather(lib, self, index, dim):
    if not self.ndim or not index.ndim:
        return self.reshape(-1)[index]
    return lib.ascontiguousarray(self).reshape(-1)[lib.along(self.shape, index, dim)]


@general(
    tensors=2,
    node="ScatterAddBackward0",
    grad={"self": lambda xp, g, index, dim: xp.gather(g, index, dim)},
    jvp=lambda xp, tangents, result, self, index, size, dim: xp.gather_back(tangents[0], index, size, dim),
    holomorphic=False,
    batch=("dim", ("dim",), ("size",)),
    samples=lambda rng: [
        ((rng.standard_normal((2, 2)), sample_places(2, 2)), ((3, 2), 0)),
        ((rng.standard_normal((2, 4)), sample_places(2, 4)), ((2, 3), 1)),
    ],
)
def gather_back(lib, self, index, size, dim):
    """Zeros of ``size`` with the tensor added at ``index`` along a dimension."""
    r = lib.zeros(size, self.dtype)
    add_along(r, index, dim, self)
    return r


@plain_body
def plain_gather_back(lib, self, index, size, dim):
    r = lib.zeros(size, self.dtype)
    lib.add_at(r.reshape(-1), lib.along(size, index, dim).reshape(-1), self.reshape(-1))
    return r


@general(
    tensors=3,
    grad={
        "self": lambda xp, g, index, dim: xp.scatter(g, index, 0, dim),
        "src": lambda xp, g, index, dim: xp.gather(g, index, dim),
    },
    jvp=lambda xp, tangents, result, self, index, src, dim: xp.scatter(
        xp.zeros_like(self) if tangents[0] is None else tangents[0],
        index,
        0 if tangents[2] is None else tangents[2],
        dim,
    ),  # not the transpose of a transpose: of several elements for one place only the last counts
    holomorphic=False,
    batch=("dim", ("dim",)),
    dtypes="fcib",
    samples=lambda rng: [
        ((rng.standard_normal((3, 2)), np.array([[0, 2], [1, 0]]), rng.standard_normal((2, 2))), (0,)),
        ((rng.standard_normal((2, 3)), np.array([[0, 2], [1, 0]]), 1.5), (1,)),
    ],
)
def scatter(lib, self, index, src, dim):
    """A copy of ``self`` with ``src`` written at ``index`` along a dimension; the last of several wins."""
    r = lib.array(self, order="C")
    put_along(r, index, dim, src)
    return r


@plain_body
def plain_scatter(lib, self, index, src, dim):
    r = lib.ascontiguousarray(self).copy()
    src = src[tuple([slice(0, n) for n in index.shape])].reshape(-1) if getattr(src, "ndim", 0) else src
    r.reshape(-1)[lib.along(r.shape, index, dim).reshape(-1)] = src
    return r


@general(
    tensors=3,
    grad={"self": lambda xp, g: g, "src": lambda xp, g, index, dim: xp.gather(g, index, dim)},
    holomorphic=False,
    batch=("dim", ("dim",)),
    dtypes="fcib",
    samples=lambda rng: [
        ((rng.standard_normal((3, 2)), sample_places(2, 2), rng.standard_normal((2, 2))), (0,)),
        ((rng.standard_normal((2, 3)), sample_places(2, 4), rng.standard_normal((2, 4))), (1,)),
    ],
)
def scatter_add(lib, self, index, src, dim):
    """A copy of ``self`` with ``src`` added at ``index`` along a dimension."""
    r = lib.array(self, order="C")
    add_along(r, index, dim, src)
    return r


@plain_body
def plain_scatter_add(lib, self, index, src, dim):
    r = lib.ascontiguousarray(self).copy()
    lib.add_at(r.reshape(-1), lib.along(r.shape, index, dim).reshape(-1), src.reshape(-1))
    return r


# ---- scatter_reduce
def _ones(xp: Any, x: Any, dtype: Any) -> Any:
    return xp._to_copy(xp.zeros_like(x), dtype) + 1


def _reduced_prod(xp: Any, g: Any, self: Any, index: Any, src: Any, result: Any, dim: Any, include_self: Any) -> Any:
    """PyTorch's formula: a single zero gets the product of the other factors, and two or more zeros get zero."""
    own = xp.masked_fill(self, self == 0, 1)
    mine = g * xp.scatter_reduce(own, index, src, dim, "prod", include_self) / own
    zero = src == 0
    count = xp.scatter_add(xp.zeros_like(g), index, xp._to_copy(zero, dtype_of(g)), dim)
    single = zero & (xp.gather(count, index, dim) == 1)
    others = xp.scatter_reduce(self, index, xp.masked_fill(src, single, 1), dim, "prod", include_self)
    theirs = xp.where(
        single, xp.gather(g * others, index, dim), xp.gather(g * result, index, dim) / xp.masked_fill(src, zero, 1)
    )
    if xp is TENSORS and bool((count > 1).any()) and current_fn(theirs) is not None:
        message = (
            "scatter_reduce(): Double backward is unsupported for src when >1 zeros in src are scattered to the same "
            "position in self"
        )
        (theirs,) = refusing(Error, message, (theirs,), (current_fn(theirs),))
    return mine, theirs


def _scatter_reduce_back(
    xp: Any, g: Any, self: Any, index: Any, src: Any, result: Any, dim: Any, reduce: Any, include_self: Any
) -> Any:
    """PyTorch's ``scatter_reduce_backward``."""
    if reduce == "sum":
        mine, theirs = g, xp.gather(g, index, dim)
    elif reduce == "prod":
        mine, theirs = _reduced_prod(xp, g, self, index, src, result, dim, include_self)
    elif reduce == "mean":
        dtype = dtype_of(g)
        count = _ones(xp, g, dtype) if include_self else xp.zeros_like(g)
        count = xp.scatter_add(count, index, _ones(xp, index, dtype), dim)
        mine = g / xp.masked_fill(count, count == 0, 1)
        theirs = xp.gather(mine, index, dim)
    else:
        here = src == xp.gather(result, index, dim)
        kept = self == result
        dtype = dtype_of(g)
        count = xp.scatter_add(xp._to_copy(kept, dtype), index, xp._to_copy(here, dtype), dim)
        share = g / count
        mine = xp.masked_fill(share, ~kept, 0)
        theirs = xp.masked_fill(xp.gather(share, index, dim), ~here, 0)
    if reduce in ("prod", "amax", "amin"):
        theirs = as_operand(theirs, src)
        mine = mine if reduce == "prod" else as_operand(mine, self)
    if not include_self:
        mine = xp.scatter(mine, index, 0, dim)
    return mine, None, theirs


def _reduce_samples(rng: Any) -> Any:
    return [
        ((rng.standard_normal((3, 2)), sample_places(3, 2), rng.standard_normal((3, 2))), (0, reduce, include))
        for reduce in ("sum", "prod", "mean", "amax", "amin")
        for include in (True, False)
    ]


@general(
    tensors=3,
    grad=_scatter_reduce_back,
    holomorphic=False,
    batch=("dim", ("dim",)),
    dtypes="fi",
    samples=_reduce_samples,
)
def scatter_reduce(lib, self, index, src, dim, reduce, include_self):
    """A copy of ``self`` with ``src`` reduced at ``index``; ``include_self`` reduces the old elements too."""
    r = lib.array(self, order="C")
    flat = r.reshape(-1)
    at = lib.along(r.shape, index, dim).reshape(-1)
    kind = r.dtype.kind
    if not include_self:
        least, most = (-np.inf, np.inf) if kind in "fcV" else (0, 1) if kind == "b" else _limits(r.dtype)
        flat[at] = {"sum": 0, "mean": 0, "prod": 1, "amax": least, "amin": most}[reduce]
    how = {"sum": lib.add, "mean": lib.add, "prod": lib.multiply, "amax": lib.maximum, "amin": lib.minimum}[reduce]
    how.at(flat, at, src.reshape(-1))
    if reduce == "mean":
        count = intp.bincount(at, minlength=flat.size) + int(include_self)
        count[count == 0] = 1
        count = count.astype(r.dtype).reshape(r.shape)
        r = r / count if kind in "fcV" else r // count
    return r


@plain_body
def plain_scatter_reduce(lib, self, index, src, dim, reduce, include_self):
    r = lib.ascontiguousarray(self).copy()
    flat, at, kind = r.reshape(-1), lib.along(r.shape, index, dim).reshape(-1), r.dtype.kind
    src = src[tuple([slice(0, n) for n in index.shape])].reshape(-1) if src.shape != index.shape else src.reshape(-1)
    if not include_self:
        least, most = (-np.inf, np.inf) if kind in "fV" else (0, 1) if kind == "b" else _limits(r.dtype)
        flat[at] = {"sum": 0, "mean": 0, "prod": 1, "amax": least, "amin": most}[reduce]
    if reduce in ("sum", "mean"):
        lib.add_at(flat, at, src)
    else:  # the elements for one place one after the other, those for several places at once
        how = {"prod": lib.multiply, "amax": lib.maximum, "amin": lib.minimum}[reduce]
        order = lib.argsort(at)
        at, src = at[order], src[order]
        new = lib.ones(at.shape, bool)
        new[1:] = at[1:] != at[:-1]
        steps = lib.arange(at.size)
        rank = steps - lib.maximum.accumulate(lib.where(new, steps, 0)) if at.size else steps
        for k in range(int(rank.max()) + 1 if at.size else 0):
            now = rank == k
            flat[at[now]] = how(flat[at[now]], src[now])
    if reduce == "mean":
        count = lib.zeros(flat.shape, np.int64)
        lib.add_at(count, at, lib.ones(at.shape, np.int64))
        count = lib.maximum(count + int(include_self), 1).astype(r.dtype).reshape(r.shape)
        r = r / count if kind in "fcV" else r // count
    return r


def _limits(dtype: Any) -> tuple[int, int]:
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)
