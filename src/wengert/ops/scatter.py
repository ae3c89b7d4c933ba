"""Reading and writing at places that a tensor names: ``gather``, ``scatter``, ``index_add``, ``embedding``, ..."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._alias import apply_inplace, inplace_of, with_out, write_out
from .._backends.numpy import in_lib
from .._dims import normal_dim
from .._dispatch import broadcast_error, cast, logical_dtype, type_text
from .._dtypes import BY_NUMPY
from .._errors import warn_once
from .._general import general
from .._modes import M
from .._node import box_of
from .._registry import RAW, REGISTRY, public
from .._tensor import Tensor, wrap
from ._ties import recorded
from .create import element
from .index import _fit, _indexed, _normal, _put, index, number, put_into
from .join import unbind
from .shape import expand, payload, reshape_public
from .strided import renamed, slice_dim, untied


# ------------------------------------------------------------------------------------------------ places along one dimension
@in_lib
def along(shape: tuple[int, ...], index: Any, dim: int) -> Any:
    """Where ``index`` along ``dim`` points to in a contiguous array of this shape, each element in its own line."""
    if not shape or not index.ndim:
        return index
    at = index if index.dtype.itemsize == 8 else index.astype(np.int64)
    step = 1
    strides = [1] * len(shape)
    for d in range(len(shape) - 1, -1, -1):
        strides[d] = step
        step *= shape[d]
    if strides[dim] != 1:
        at = at * strides[dim]
    for d, n in enumerate(index.shape):
        if d != dim and n > 1:
            at = at + (np.arange(n) * strides[d]).reshape((n,) + (1,) * (index.ndim - d - 1))
    return at


def _check_range(index: Any, dim: int, n: int) -> None:
    if not index.size:
        return
    low, high = np.minimum.reduce(index, None), np.maximum.reduce(index, None)
    if low < 0 or high >= n:
        raise RuntimeError(f"index {low if low < 0 else high} is out of bounds for dimension {dim} with size {n}")


def _batch_gather_back(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    from .._batching import batch_size

    size = batch_size(inner, mine)
    g, i = (x if m else U.expand(x, (size, *x.shape)) for x, m in zip(inner, mine, strict=True))
    return U.gather_back(g, i, (size, *p[0]), p[1] + 1)


def _places(*shape: int) -> Any:
    """Samples: places from 0 to 2, some twice."""
    return np.resize(np.array([0, 2, 1, 1, 0]), shape)


@general(
    tensors=2,
    grad={"self": lambda xp, g, self_shape, index, dim: xp.gather_back(g, index, self_shape, dim)},
    jvp=lambda xp, tangents, result, self, index, dim: xp.gather(tangents[0], index, dim),
    holomorphic=False,
    batch=("dim", ("dim",)),
    dtypes="fcib",
    samples=lambda rng: [
        ((rng.standard_normal((3, 2)), _places(2, 2)), (0,)),
        ((rng.standard_normal((2, 3)), _places(2, 4)), (1,)),
        ((rng.standard_normal((3, 2)), _places(4, 1)), (0,)),
    ],
)
def gather(lib, self, index, dim):
    """The elements at ``index`` along a dimension, each in its own line."""
    if not self.ndim or self.flags.c_contiguous:
        return self.reshape(-1).take(lib.along(self.shape, index, dim))
    key = [lib.arange(n).reshape((n,) + (1,) * (index.ndim - d - 1)) for d, n in enumerate(index.shape)]
    key[dim] = index
    return self[tuple(key)]


@general(
    tensors=2,
    grad={"self": lambda xp, g, index, dim: xp.gather(g, index, dim)},
    jvp=lambda xp, tangents, result, self, index, size, dim: xp.gather_back(tangents[0], index, size, dim),
    holomorphic=False,
    batch=_batch_gather_back,
    samples=lambda rng: [
        ((rng.standard_normal((2, 2)), _places(2, 2)), ((3, 2), 0)),
        ((rng.standard_normal((2, 4)), _places(2, 4)), ((2, 3), 1)),
    ],
)
def gather_back(lib, self, index, size, dim):
    """Zeros of a size with the tensor added at ``index`` along a dimension."""
    r = lib.zeros(size, self.dtype)
    lib.add.at(r.reshape(-1), lib.along(r.shape, index, dim).reshape(-1), self.reshape(-1))
    return r


@general(
    tensors=3,
    grad={
        "self": lambda xp, g, index, dim: xp.scatter(g, index, 0, dim),
        "src": lambda xp, g, index, dim: xp.gather(g, index, dim),
    },
    holomorphic=False,
    batch=("dim", ("dim",)),
    dtypes="fcib",
    samples=lambda rng: [
        ((rng.standard_normal((3, 2)), np.array([[0, 2], [1, 0]]), rng.standard_normal((2, 2))), (0,)),
        ((rng.standard_normal((2, 3)), np.array([[0, 2], [1, 0]]), 1.5), (1,)),
    ],
)
def scatter(lib, self, index, src, dim):
    """A copy of ``self`` with ``src`` written at ``index`` along a dimension; of several, the last stays."""
    r = lib.array(self, order="C")
    value = src.reshape(-1) if isinstance(src, (np.ndarray, np.generic)) else src
    r.reshape(-1)[lib.along(r.shape, index, dim).reshape(-1)] = value
    return r


@general(
    tensors=3,
    grad={"self": lambda xp, g: g, "src": lambda xp, g, index, dim: xp.gather(g, index, dim)},
    holomorphic=False,
    batch=("dim", ("dim",)),
    dtypes="fcib",
    samples=lambda rng: [
        ((rng.standard_normal((3, 2)), _places(2, 2), rng.standard_normal((2, 2))), (0,)),
        ((rng.standard_normal((2, 3)), _places(2, 4), rng.standard_normal((2, 4))), (1,)),
    ],
)
def scatter_add(lib, self, index, src, dim):
    """A copy of ``self`` with ``src`` added at ``index`` along a dimension."""
    r = lib.array(self, order="C")
    lib.add.at(r.reshape(-1), lib.along(r.shape, index, dim).reshape(-1), src.reshape(-1))
    return r


# --------------------------------------------------------------------------------------------------------------- scatter_reduce
def _ones(xp: Any, x: Any, dtype: Any) -> Any:
    return xp.zeros(x.shape, dtype) + 1


def _reduced_prod(xp: Any, g: Any, self: Any, index: Any, src: Any, result: Any, dim: Any, include_self: Any) -> Any:
    """PyTorch's formula: a single zero takes its factor's product of the others, two or more get zero."""
    own = xp.masked_fill(self, self == 0, 1)
    mine = g * xp.scatter_reduce(own, index, src, dim, "prod", include_self) / own
    zero = src == 0
    count = xp.scatter_add(xp.zeros_like(g), index, xp._to_copy(zero, _dtype_of(g)), dim)
    single = zero & (xp.gather(count, index, dim) == 1)
    others = xp.scatter_reduce(self, index, xp.masked_fill(src, single, 1), dim, "prod", include_self)
    theirs = xp.where(
        single, xp.gather(g * others, index, dim), xp.gather(g * result, index, dim) / xp.masked_fill(src, zero, 1)
    )
    return mine, theirs


def _dtype_of(x: Any) -> Any:
    from .._saved import payload_dtype
    from .._values import plain_dtype

    return plain_dtype(payload_dtype(x))


def _scatter_reduce_back(
    xp: Any, g: Any, self: Any, index: Any, src: Any, result: Any, dim: Any, reduce: Any, include_self: Any
) -> Any:
    """PyTorch's ``scatter_reduce_backward``."""
    if reduce == "sum":
        mine, theirs = g, xp.gather(g, index, dim)
    elif reduce == "prod":
        mine, theirs = _reduced_prod(xp, g, self, index, src, result, dim, include_self)
    elif reduce == "mean":
        count = _ones(xp, g, g.dtype) if include_self else xp.zeros_like(g)
        count = xp.scatter_add(count, index, _ones(xp, index, g.dtype), dim)
        mine = g / xp.masked_fill(count, count == 0, 1)
        theirs = xp.gather(mine, index, dim)
    else:
        here = src == xp.gather(result, index, dim)
        kept = self == result
        dtype = _dtype_of(g)
        count = xp.scatter_add(xp._to_copy(kept, dtype), index, xp._to_copy(here, dtype), dim)
        share = g / count
        mine = xp.masked_fill(share, ~kept, 0)
        theirs = xp.masked_fill(xp.gather(share, index, dim), ~here, 0)
    if not include_self:
        mine = xp.scatter(mine, index, 0, dim)
    return mine, None, theirs


def _reduce_samples(rng: Any) -> Any:
    return [
        ((rng.standard_normal((3, 2)), _places(3, 2), rng.standard_normal((3, 2))), (0, reduce, include))
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
    """A copy of ``self`` in which what ``src`` has for a place, with what is there or not, is reduced to one value."""
    r = lib.array(self, order="C")
    flat = r.reshape(-1)
    at = lib.along(r.shape, index, dim).reshape(-1)
    kind = r.dtype.kind
    if not include_self:
        least, most = (-np.inf, np.inf) if kind in "fV" else (0, 1) if kind == "b" else _limits(r.dtype)
        flat[at] = {"sum": 0, "mean": 0, "prod": 1, "amax": least, "amin": most}[reduce]
    how = {"sum": lib.add, "mean": lib.add, "prod": lib.multiply, "amax": lib.maximum, "amin": lib.minimum}[reduce]
    how.at(flat, at, src.reshape(-1))
    if reduce == "mean":
        count = lib.bincount(at, minlength=flat.size) + int(include_self)
        count[count == 0] = 1
        count = count.astype(r.dtype).reshape(r.shape)
        r = r / count if kind in "fcV" else r // count
    return r


def _limits(dtype: Any) -> tuple[int, int]:
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


# ---------------------------------------------------------------------------------------------------------------- arguments
def _tensor(x: Any, name: str, argument: str, position: int) -> Tensor:
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}(): argument '{argument}' (position {position}) must be Tensor, not {type_text(x)}")
    return x


def _plain(t: Tensor) -> bool:
    return isinstance(t._a, (np.ndarray, np.generic))


def _index_tensor(index: Any, name: str, position: int = 3) -> Tensor:
    """An index tensor of ``gather`` and its like."""
    dtype = logical_dtype(_tensor(index, name, "index", position))
    if (dtype.kind != "i" or dtype.itemsize < 4) and index._a.size:
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    return index  # type: ignore[no-any-return]


def _check_lines(self: Tensor, index: Tensor, dim: int, src: Tensor | None = None, scatter: bool = False) -> None:
    """The shapes of ``gather`` and ``scatter``, and the range of the index."""
    have, want = _at_least_1d(self._a.shape), _at_least_1d(index._a.shape)
    if have == want and src is None and type(index._a) is np.ndarray:
        return _check_range(index._a, dim, have[dim])
    if 0 in want:
        return
    from_ = None if src is None else _at_least_1d(src._a.shape)
    if len(have) != len(want):
        raise RuntimeError(
            f"Index tensor must have the same number of dimensions as {'self' if scatter else 'input'} tensor"
        )
    if from_ is not None and len(from_) != len(want):
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    wide = next((d for d, (n, m) in enumerate(zip(have, want, strict=True)) if d != dim and m > n), None)
    if wide is not None and not scatter:
        raise RuntimeError(
            f"Size does not match at dimension {wide} expected index {list(index._a.shape)} to be no larger than self "
            f"{list(self._a.shape)} apart from dimension {dim}"
        )
    if wide is not None or (from_ is not None and any(m > n for n, m in zip(from_, want, strict=True))):
        raise RuntimeError(
            f"Expected index {list(index._a.shape)} to be no larger than self {list(self._a.shape)} apart from dimension {dim}"
            + ("" if src is None else f" and to be no larger size than src {list(src._a.shape)}")
        )
    if _plain(index):
        _check_range(index._a, dim, have[dim])


def _at_least_1d(shape: Any) -> tuple[int, ...]:
    return tuple(shape) or (1,)


# --------------------------------------------------------------------------------------------------------- gather and scatter
@public("torch.gather Tensor.gather")
def gather_public(
    input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False, out: Tensor | None = None
) -> Tensor:
    """For each element of ``index`` the element of ``input`` in the same line along ``dim``.

    >>> import wengert as torch
    >>> torch.tensor([[1, 2], [3, 4]]).gather(1, torch.tensor([[1], [0]]))
    tensor([[2],
            [3]])
    """
    if out is not None:
        return write_out(out, gather_public, (input, dim, index))  # type: ignore[no-any-return]
    a = payload(input, "gather")
    ndim = a.ndim
    if not M and type(a) is np.ndarray and ndim and type(index) is Tensor and type(dim) is int and -ndim <= dim < ndim:
        i = index._a
        if type(i) is np.ndarray and i.dtype.kind == "i" and i.dtype.itemsize == 8 and i.ndim == ndim and i.size:
            d = dim if dim >= 0 else dim + ndim
            _check_lines(input, index, d)
            r = _gather_raw(a, i, d)
            if input._fn is None:
                return wrap(r)
            return recorded(GATHER, (input._fn, None), [a.shape, box_of(index), d], r)
    index = _index_tensor(index, "gather")
    dim = normal_dim(dim, ndim, "gather")
    _check_lines(input, index, dim)
    if not index._a.size:  # then its shape may be anything
        none = gather(_at_one(input), wrap(np.zeros((0,) * max(ndim, 1), np.int64)), dim)
        return untied(reshape_public(none, tuple(index._a.shape)), "GatherBackward0")
    if (ndim and index._a.ndim) or (_plain(input) and _plain(index)):
        return gather(input, index, dim)  # type: ignore[no-any-return]
    # inside of a transform, dimensions must be there to be counted
    return reshape_public(gather(_at_one(input), _at_one(index), dim), tuple(index._a.shape))


GATHER = REGISTRY["gather"]
assert GATHER.formulas.uses == ("self_shape", "index", "dim")  # type: ignore[attr-defined]
_gather_raw = RAW.gather


def _at_one(index: Tensor) -> Tensor:
    return index if index._a.ndim else reshape_public(index, (1,))


def _scattered(name: str, self: Tensor, dim: int, index: Any, src: Any, run: Any) -> Tensor:
    """Check, align and call a scatter operator: ``run(self, index, src, dim)``."""
    payload(self, name)
    index = _index_tensor(index, "scatter")
    ndim = self._a.ndim
    dim = normal_dim(dim, ndim, name)
    if isinstance(src, Tensor):
        if logical_dtype(src) is not logical_dtype(self):
            raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
        _check_lines(self, index, dim, src, True)
        src = _shrunk(_at_one(src), _at_least_1d(index._a.shape))
    else:
        _check_lines(self, index, dim, None, True)
    if not index._a.size:
        index = wrap(np.zeros((0,) * max(ndim, 1), np.int64))
        src = slice_all(src, (0,) * max(ndim, 1)) if isinstance(src, Tensor) else src
    index = _at_one(index)
    if ndim or all(_plain(x) for x in (self, index, src) if isinstance(x, Tensor)):
        return run(self, index, src, dim)  # type: ignore[no-any-return]
    return reshape_public(run(_at_one(self), index, src, 0), ())


def _shrunk(src: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The part of ``src`` that an index of this shape reads."""
    if 0 in shape:
        return src
    for d, n in enumerate(shape):
        if src._a.shape[d] != n:
            src = slice_dim(src, d, 0, n, 1)
    return src


def slice_all(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The part from 0 on of each dimension."""
    x = reshape_public(x, (-1,)) if x._a.ndim != len(shape) else x
    for d, n in enumerate(shape[: x._a.ndim]):
        x = slice_dim(x, d, 0, n, 1)
    return reshape_public(x, shape)


_REDUCTIONS = {"add": "sum", "multiply": "prod"}


@public("torch.scatter Tensor.scatter")
@with_out
def scatter_public(input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None) -> Tensor:
    """A copy of ``input`` with each element of ``src`` (or a number) written where ``index`` says along ``dim``.

    ``reduce`` ("add" or "multiply") combines it with what is there.

    >>> import wengert as torch
    >>> torch.zeros(2, 2).scatter(1, torch.tensor([[1], [0]]), 1.)
    tensor([[0., 1.],
            [1., 0.]])
    """
    if src is None:
        src = value
    if isinstance(src, np.generic):
        src = src.item()
    if not isinstance(src, (Tensor, bool, int, float, complex)):
        got = f"int, {type_text(index)}" + ("" if src is None else f", {type_text(src)}")
        raise TypeError(
            f"scatter() received an invalid combination of arguments - got ({got}), but expected one of:\n"
            " * (int dim, Tensor index, Tensor src)\n * (int dim, Tensor index, Number value)\n"
        )
    if not isinstance(src, Tensor):
        src = element(src, logical_dtype(input))
    if reduce is None:
        made = _scattered("scatter", input, dim, index, src, scatter)
        return made if isinstance(src, Tensor) else renamed(made, "ScatterBackward1")
    if reduce not in _REDUCTIONS:
        raise RuntimeError("reduce argument must be either add or multiply.")
    if isinstance(src, Tensor):
        warn_once(
            "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future PyTorch release. "
            "Use torch.scatter_reduce instead for more reduction options."
        )
    else:
        src = expand(wrap(number(src, logical_dtype(input))), _at_least_1d(index._a.shape))
    return scatter_reduce_public(input, dim, index, src, _REDUCTIONS[reduce])


@public("torch.scatter_add Tensor.scatter_add")
@with_out
def scatter_add_public(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """A copy of ``input`` with each element of ``src`` added where ``index`` says along ``dim``.

    >>> import wengert as torch
    >>> torch.zeros(3).scatter_add(0, torch.tensor([0, 2, 0]), torch.ones(3))
    tensor([2., 0., 1.])
    """
    return _scattered("scatter_add", input, dim, index, _tensor(src, "scatter_add", "src", 4), scatter_add)


@public("torch.scatter_reduce Tensor.scatter_reduce")
@with_out
def scatter_reduce_public(input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True) -> Tensor:
    """A copy of ``input`` in which all that ``src`` has for a place is reduced to one value.

    ``reduce``: "sum", "prod", "mean", "amax" or "amin"; ``include_self``: what is there counts too.

    >>> import wengert as torch
    >>> torch.ones(2).scatter_reduce(0, torch.tensor([0, 0, 1]), torch.tensor([3., 2., 5.]), "amax")
    tensor([3., 5.])
    """
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    return _scattered(
        "scatter_reduce",
        input,
        dim,
        index,
        _tensor(src, "scatter_reduce", "src", 4),
        lambda a, i, s, d: scatter_reduce(a, i, s, d, reduce, bool(include_self)),
    )


public("Tensor.scatter_")(inplace_of(scatter_public, "scatter_"))
public("Tensor.scatter_add_")(inplace_of(scatter_add_public, "scatter_add_"))
public("Tensor.scatter_reduce_")(inplace_of(scatter_reduce_public, "scatter_reduce_"))


@public("torch.take_along_dim Tensor.take_along_dim")
@with_out
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """``gather`` with both tensors broadcast in all dimensions but ``dim``; without ``dim``, of all elements in a row.

    >>> import wengert as torch
    >>> x = torch.tensor([[3, 1, 2]])
    >>> x.take_along_dim(x.argsort(1), 1)
    tensor([[1, 2, 3]])
    """
    payload(input, "take_along_dim")
    dtype = logical_dtype(_tensor(indices, "take_along_dim", "indices", 2))
    if dtype.kind != "i" or dtype.itemsize != 8:
        raise RuntimeError(
            "torch.take_along_dim(): dtype of indices should be Long but got " + BY_NUMPY[dtype].scalar_name
        )
    if dim is None:
        return gather_public(reshape_public(input, (-1,)), 0, reshape_public(indices, (-1,)))
    have, want = tuple(input._a.shape), tuple(indices._a.shape)
    if len(have) != len(want):
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{len(have)} dimensions for input, and {len(want)} dimensions for indices"
        )
    dim = normal_dim(dim, len(have), "take_along_dim")
    try:
        both = np.broadcast_shapes(have[:dim] + (1,) + have[dim + 1 :], want[:dim] + (1,) + want[dim + 1 :])
    except ValueError:
        raise broadcast_error(input, indices) from None
    wide = [both[:dim] + (s[dim],) + both[dim + 1 :] for s in (have, want)]
    x, i = (t if tuple(t._a.shape) == w else expand(t, w) for t, w in zip((input, indices), wide, strict=True))
    if _plain(i) and i._a.size and i._a.min() < 0:
        i = wrap(np.where(i._a < 0, i._a + have[dim], i._a))
    return gather_public(x, dim, i)


# ------------------------------------------------------------------------------------------------------- index_select and kin
def _line_index(name: str, self: Tensor, dim: int, index: Any) -> tuple[int, Tensor, Tensor]:
    """The dim, the index as a vector and ``self`` with at least one dimension, of index_select and its like."""
    payload(self, name.rstrip("_"))
    dtype = logical_dtype(_tensor(index, name, "index", 3))
    if dtype.kind != "i" or dtype.itemsize < (8 if name in ("index_copy_", "index_fill_") else 4):
        given = _c_name(dtype)
        if name == "index_fill_":
            raise IndexError("index_fill_(): Expected dtype int64 for index.")
        raise RuntimeError(
            {
                "index_copy_": f"index_copy_(): Expected a long tensor for index, but got {given}",
                "index_select": "index_select(): Expected dtype int32 or int64 for index",
            }.get(name, f"{name}(): Expected dtype int32/int64 for index but got: {given}")
        )
    if index._a.ndim > 1:
        if name == "index_fill_":
            raise RuntimeError("Index has to be a vector/scalar")
        raise IndexError(f"{name}(): Index is supposed to be a vector")
    return normal_dim(dim, self._a.ndim, name), _at_one(index), _at_one(self)


def _c_name(dtype: Any) -> str:
    return BY_NUMPY[dtype].scalar_name


def _bad_index(index: Tensor, n: int, least: int = 0) -> int | None:
    """An index that is out of range; ``None`` if there is none, or none can be known inside of a transform."""
    if _plain(index) and index._a.size:
        low, high = int(np.minimum.reduce(index._a, None)), int(np.maximum.reduce(index._a, None))
        if low < least or high >= n:
            return low if low < least else high
    return None


@public("torch.index_select Tensor.index_select")
def index_select(input: Tensor, dim: int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of the parts of ``input`` at some indices of a dimension.

    >>> import wengert as torch
    >>> torch.tensor([[1, 2], [3, 4]]).index_select(1, torch.tensor([1]))
    tensor([[2],
            [4]])
    """
    if out is not None:
        return write_out(out, index_select, (input, dim, index))  # type: ignore[no-any-return]
    dim, where, x = _line_index("index_select", input, dim, index)
    if not input._a.ndim and where._a.size != 1:
        raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {where._a.size} value(s)")
    bad = _bad_index(where, x._a.shape[dim])
    if bad is not None:
        raise IndexError("index out of range in self")
    return _shaped_as(input, _indexed(x, (dim,), [where]), "IndexSelectBackward0")


def _shaped_as(input: Tensor, made: Tensor, node: str) -> Tensor:
    """A result under its node's name; 0-dimensional if the input was."""
    return renamed(made, node) if input._a.ndim else untied(reshape_public(made, ()), node)


def _line_put(name: str, self: Tensor, dim: int, index: Any, source: Tensor, into: bool) -> Tensor:
    """``index_add_`` and ``index_copy_``: ``source`` added or written at some indices of a dimension."""
    dim, where, x = _line_index(name, self, dim, index)
    add = name == "index_add_"
    if logical_dtype(self) is not logical_dtype(source):
        a, b = _c_name(logical_dtype(self)), _c_name(logical_dtype(source))
        raise RuntimeError(
            f"index_add_(): self ({a}) and source ({b}) must have the same scalar type"
            if add
            else f"index_copy_(): self and source expected to have the same dtype, but got (self) {a} and (source) {b}"
        )
    shape = tuple(x._a.shape)
    n = where._a.size
    if not source._a.ndim and (not add or not self._a.ndim):
        source = reshape_public(source, (1,) * len(shape) if n == 1 else (1,))
    (_check_added if add else _check_copied)(self, tuple(source._a.shape), shape, dim, n)
    bad = _bad_index(where, shape[dim])
    if bad is not None:
        text = f"index {bad} is out of bounds for dimension {dim} with size {shape[dim]}"
        raise RuntimeError(text) if add else IndexError(f"index_copy_(): {text}")
    made = _put(x, source, (dim,), [where], add, into and x is self)
    return _shaped_as(self, made, "IndexAddBackward0" if add else "IndexCopyBackward0")


def _check_added(self: Tensor, have: Any, shape: Any, dim: int, n: int) -> None:
    rest = shape[:dim] + shape[dim + 1 :]
    if len(have) == len(shape) and have[:dim] + have[dim + 1 :] == rest:
        if have[dim] != n:
            raise RuntimeError(
                f"index_add_(): Number of indices ({n}) should be equal to source.size(dim): ({have[dim]}), for dim: {dim}"
            )
        return
    raise RuntimeError(
        "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
        f"{list(self._a.shape)} source.shape = {list(have)}"
    )


def _check_copied(self: Tensor, have: Any, shape: Any, dim: int, n: int) -> None:
    if len(have) != len(shape):
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source dimensionality "
            f"({len(have)}), destination dimensionality ({len(shape)})"
        )
    mine, theirs = shape[:dim] + shape[dim + 1 :], have[:dim] + have[dim + 1 :]
    if mine != theirs:
        d = next(i for i, (a, b) in enumerate(zip(mine, theirs, strict=True)) if a != b)
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{' '.join(str(k) for k in mine)} at dimension {dim} and source slice shape: "
            f"{' '.join(str(k) for k in theirs)} at dimension {d}."
        )
    if have[dim] != n:
        raise IndexError(f"index_copy_(): Number of indices ({n}) should be equal to source.size(dim) ({have[dim]})")


def _index_add(self: Tensor, dim: int, index: Any, source: Any, alpha: Any, into: bool) -> Tensor:
    source = _tensor(source, "index_add", "source", 4)
    if alpha != 1:
        source = source * alpha
    return _line_put("index_add_", self, dim, index, source, into)


@public("torch.index_add Tensor.index_add")
@with_out
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """A copy of ``input`` with ``alpha`` times the parts of ``source`` added at some indices of a dimension.

    >>> import wengert as torch
    >>> torch.zeros(3).index_add(0, torch.tensor([0, 0, 2]), torch.tensor([1., 2., 3.]))
    tensor([3., 0., 3.])
    """
    return _index_add(input, dim, index, source, alpha, False)


@public("Tensor.index_add_")
def index_add_(self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """In-place form of ``index_add``."""
    return apply_inplace(lambda x, s: _index_add(x, dim, index, s, alpha, _apart(x, s)), self, (source,))


def _apart(x: Tensor, source: Any) -> bool:
    """Whether a write into x leaves the source as it is."""
    a, s = x._a, getattr(source, "_a", None)
    return type(a) is np.ndarray and a.flags.writeable and not (isinstance(s, np.ndarray) and np.may_share_memory(a, s))


def _index_copy(self: Tensor, dim: int, index: Any, source: Any, into: bool) -> Tensor:
    source = _tensor(source, "index_copy", "source", 4)
    return _line_put("index_copy_", self, dim, index, source, into)


@public("torch.index_copy Tensor.index_copy")
@with_out
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """A copy of ``input`` with the parts of ``source`` written at some indices of a dimension."""
    return _index_copy(input, dim, index, source, False)


@public("Tensor.index_copy_")
def index_copy_(self: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """In-place form of ``index_copy``."""
    return apply_inplace(lambda x, s: _index_copy(x, dim, index, s, _apart(x, s)), self, (source,))


@public("torch.index_fill Tensor.index_fill")
def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """A copy of ``input`` with a number (or a 0-dimensional tensor) at some indices of a dimension.

    >>> import wengert as torch
    >>> torch.ones(3).index_fill(0, torch.tensor([0, 2]), 5.)
    tensor([5., 1., 5.])
    """
    dim, where, x = _line_index("index_fill_", input, dim, index)
    if isinstance(value, Tensor):
        if value._a.ndim:
            raise RuntimeError(
                f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {value._a.ndim} dimension(s)."
            )
        v, name = cast(value, logical_dtype(input)), "IndexFillBackward1"
    else:
        v, name = wrap(number(value, logical_dtype(input))), "IndexFillBackward0"
    bad = _bad_index(where, x._a.shape[dim], -x._a.shape[dim])
    if bad is not None:
        raise IndexError(f"index {bad} is out of bounds for dimension {dim} with size {x._a.shape[dim]}")
    if _plain(where):  # each place once, as the value's gradient counts it once
        where = wrap(np.unique(where._a % max(x._a.shape[dim], 1)))
    return _shaped_as(input, _put(x, v, (dim,), [where], False, False), name)


public("Tensor.index_fill_")(inplace_of(index_fill, "index_fill_"))


@public("torch.index_reduce Tensor.index_reduce")
@with_out
def index_reduce(input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True) -> Tensor:
    """A copy of ``input`` in which all that ``source`` has for an index of a dimension is reduced to one value.

    ``reduce``: "prod", "mean", "amax" or "amin".
    """
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(
            f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}."
        )
    dim, where, x = _line_index("index_reduce", input, dim, index)
    shape = tuple(source._a.shape) or (1,)
    lines = expand(reshape_public(where, (1,) * dim + (-1,) + (1,) * (len(shape) - dim - 1)), shape)
    made = scatter_reduce_public(x, dim, lines, _at_one(source), reduce, include_self=include_self)
    return _shaped_as(input, made, "IndexReduceBackward0")


public("Tensor.index_reduce_")(inplace_of(index_reduce, "index_reduce_"))


# ------------------------------------------------------------------------------------------------------- index_put, put, take
def _places_of(self: Tensor, indices: Any) -> tuple[tuple[int, ...], list[Tensor]]:
    """The index tensors of ``index_put`` (a tuple, ``None`` where a dimension is taken whole) and their dims."""
    if isinstance(indices, Tensor):
        raise TypeError("index_put_(): argument 'indices' (position 1) must be tuple of Tensors, not Tensor")
    dims, found = [], []
    dim = 0
    for item in indices:
        if item is None:
            dim += 1
            continue
        if isinstance(item, Tensor) and item._a.ndim == 0 and logical_dtype(item).kind == "i":
            item = reshape_public(item, (1,)) if len(indices) == 1 else item
        item = _normal(item) if not (isinstance(item, Tensor) and item._a.ndim == 0) else item
        dims.append(dim)
        found.append(item)
        dim += item._a.ndim if logical_dtype(item).kind == "b" else 1
    if dim > self._a.ndim:
        raise IndexError(f"too many indices for tensor of dimension {self._a.ndim} (got {dim})")
    return tuple(dims), found


@public("torch.index_put Tensor.index_put")
def index_put_public(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy of ``input`` with ``values`` written, or added, where a tuple of index tensors points.

    >>> import wengert as torch
    >>> torch.zeros(3).index_put((torch.tensor([0, 0]),), torch.tensor(1.), accumulate=True)
    tensor([2., 0., 0.])
    """
    payload(input, "index_put")
    dims, found = _places_of(input, indices)
    _same_dtype(input, values)
    return _put(input, values, dims, found, bool(accumulate), False)


def _same_dtype(x: Tensor, values: Tensor) -> None:
    from .index import _dtype_error

    if logical_dtype(_tensor(values, "index_put", "values", 3)) is not logical_dtype(x):
        raise _dtype_error(x, values)


@public("Tensor.index_put_ torch.index_put_")
def index_put_(self: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """In-place form of ``index_put``."""
    dims, found = _places_of(self, indices)
    _same_dtype(self, values)
    return put_into(self, values, dims, found, bool(accumulate))


@public("torch.take Tensor.take")
@with_out
def take(input: Tensor, index: Tensor) -> Tensor:
    """The elements at some numbers, counted in row-major order.

    >>> import wengert as torch
    >>> torch.tensor([[1, 2], [3, 4]]).take(torch.tensor([0, -1]))
    tensor([1, 4])
    """
    a = payload(input, "take")
    _long(index, "take")
    try:
        return renamed(_indexed(reshape_public(input, (a.size,)), (0,), [index]), "TakeBackward0")
    except IndexError:
        raise _out_of_range(index, a.size) from None


def _long(index: Any, name: str) -> None:
    dtype = logical_dtype(_tensor(index, name, "index", 2))
    if dtype.kind != "i" or dtype.itemsize != 8:
        raise RuntimeError(f"{name}(): Expected a long tensor for index, but got {_c_name(dtype)}")


def _out_of_range(index: Tensor, n: int) -> IndexError:
    i = index._a
    if n == 0:
        return IndexError("take(): tried to take from an empty tensor")
    bad = next(int(k) for k in i.reshape(-1) if not -n <= k < n)
    return IndexError(f"out of range: tried to access index {bad} on a tensor of {n} elements.")


@public("torch.put Tensor.put")
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """A copy of ``input`` with ``source`` written, or added, at some numbers of elements in row-major order."""
    a = payload(input, "put")
    _long(index, "put_")
    if logical_dtype(input) is not logical_dtype(source):
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{_c_name(logical_dtype(input))} and source.dtype = {_c_name(logical_dtype(source))}"
        )
    if index._a.size != source._a.size:
        raise RuntimeError(
            f"put_(): Expected source and index to have the same number of elements, but got source.numel() = {source._a.size}, "
            f"index.numel() = {index._a.size}"
        )
    flat = [reshape_public(x, (x._a.size,)) for x in (input, source, index)]
    try:
        made = _put(flat[0], flat[1], (0,), [flat[2]], bool(accumulate), False)
    except IndexError:
        raise _out_of_range(index, a.size) from None
    return untied(reshape_public(made, tuple(a.shape)), "PutBackward0")


public("Tensor.put_")(inplace_of(put, "put_"))


# ------------------------------------------------------------------------------------------------------------------- masks
def _broadcast_pair(x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    a, b = tuple(x._a.shape), tuple(mask._a.shape)
    if a == b:
        return x, mask
    try:
        both = np.broadcast_shapes(a, b)
    except ValueError:
        raise broadcast_error(x, mask) from None
    return (x if a == both else expand(x, both)), (mask if b == both else expand(mask, both))


def _masked(x: Tensor, mask: Tensor) -> tuple[tuple[int, ...], list[Tensor]]:
    """The places that a mask of the tensor's shape names; inside of a transform an error."""
    return _fit([x], (0,), [mask])


@public("torch.masked_select Tensor.masked_select")
@with_out
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """A vector of the elements where the bool tensor ``mask`` is true, both broadcast.

    >>> import wengert as torch
    >>> x = torch.tensor([[1, 2], [3, 4]])
    >>> x.masked_select(x > 2)
    tensor([3, 4])
    """
    payload(input, "masked_select")
    if logical_dtype(_tensor(mask, "masked_select", "mask", 2)).kind != "b":
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    x, m = _broadcast_pair(input, mask)
    if not x._a.ndim:
        x, m = reshape_public(x, (1,)), reshape_public(m, (1,))
    dims, found = _masked(x, m)
    return renamed(index([x, *found], dims), "MaskedSelectBackward0")


@public("torch.masked_scatter Tensor.masked_scatter")
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """A copy of ``input`` with the first elements of ``source``, in order, where ``mask`` is true.

    >>> import wengert as torch
    >>> torch.zeros(3).masked_scatter(torch.tensor([True, False, True]), torch.tensor([1., 2., 3.]))
    tensor([1., 0., 2.])
    """
    payload(input, "masked_scatter")
    if logical_dtype(_tensor(mask, "masked_scatter", "mask", 2)).kind != "b":
        raise RuntimeError(
            f"masked_scatter_ only supports boolean masks, but got mask with dtype {_c_name(logical_dtype(mask))}"
        )
    if logical_dtype(source) is not logical_dtype(input):
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got"
            f"{_c_name(logical_dtype(input))} and {_c_name(logical_dtype(source))}"
        )
    x, m = _broadcast_pair(input, mask)
    shape = tuple(x._a.shape)
    if not shape:
        x, m = reshape_public(x, (1,)), reshape_public(m, (1,))
    dims, found = _masked(x, m)
    n = int(np.count_nonzero(m._a)) if _plain(m) else found[0]._a.size
    if source._a.size < n:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    values = slice_dim(reshape_public(source, (source._a.size,)), 0, 0, n, 1)
    made = _put(x, values, dims, found, False, False)
    return renamed(made, "MaskedScatterBackward0") if shape else untied(reshape_public(made, ()), "MaskedScatterBackward0")


public("Tensor.masked_scatter_")(inplace_of(masked_scatter, "masked_scatter_"))


# ---------------------------------------------------------------------------------------------------------- places as numbers
def _values_known(x: Tensor, name: str) -> Any:
    if not _plain(x):
        raise RuntimeError(
            f"vmap: It looks like you're calling {name} on a batched tensor: the result's shape depends on the values."
        )
    return x._a


@public("torch.nonzero Tensor.nonzero")
def nonzero(input: Tensor, *, as_tuple: bool = False, out: Tensor | None = None) -> Any:
    """The places of the elements that are not zero: a row for each, or, ``as_tuple``, a tensor for each dimension.

    >>> import wengert as torch
    >>> torch.tensor([[0, 1], [2, 0]]).nonzero()
    tensor([[0, 1],
            [1, 0]])
    """
    payload(input, "nonzero")
    a = np.asarray(_values_known(input, "nonzero"))
    found = wrap(np.argwhere(a))
    if as_tuple:
        return unbind(found, 1) if a.ndim else (wrap(a.reshape(1).nonzero()[0]),)
    if out is None:
        return found
    from .._alias import store_out

    store_out(out, found)
    return out


@public("torch.argwhere Tensor.argwhere")
def argwhere(input: Tensor) -> Tensor:
    """``nonzero``: a row for each element that is not zero."""
    return nonzero(input)  # type: ignore[no-any-return]


@public("torch.nonzero_static Tensor.nonzero_static")
@with_out
def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """``nonzero`` with exactly ``size`` rows: cut off, or filled up."""
    found = nonzero(input)._a[:size]
    rows = np.full((size, found.shape[1]), fill_value, np.int64)
    rows[: len(found)] = found
    return wrap(rows)


@public("nn.functional.one_hot")
def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """For each class number a row of zeros with a one in its place.

    >>> import wengert as torch
    >>> torch.nn.functional.one_hot(torch.tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    a = payload(tensor, "one_hot")
    dtype = logical_dtype(tensor)
    if dtype.kind != "i" or dtype.itemsize != 8:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if not _plain(tensor):
        if num_classes <= 0:
            _values_known(tensor, "one_hot without num_classes")
        return (tensor.unsqueeze(-1) == wrap(np.arange(num_classes))).to(BY_NUMPY[dtype])  # type: ignore[attr-defined,no-any-return]
    if not a.size:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return wrap(np.zeros((*a.shape, num_classes), np.int64))
    if a.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(a.max()) + 1
    elif num_classes < 1:
        raise RuntimeError("num_classes should be positive")
    elif a.max() >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    r = np.zeros((a.size, num_classes), np.int64)
    r[np.arange(a.size), a.reshape(-1)] = 1
    return wrap(r.reshape((*a.shape, num_classes)))


# ---------------------------------------------------------------------------------------------------------------- embedding
def _embedding_back(
    xp: Any, g: Any, weight_shape: Any, indices: Any, padding_idx: Any, scale_grad_by_freq: Any
) -> Any:
    if padding_idx >= 0:
        padding = xp.unsqueeze_dim(indices == padding_idx, indices.ndim)
        g = xp.masked_fill(g, padding, 0)
    if scale_grad_by_freq:
        ones = xp.zeros(indices.shape, g.dtype) + 1
        often = xp.index([xp.index_back([ones, indices], weight_shape[:1], (0,)), indices], (0,))
        g = g / xp.unsqueeze_dim(often, indices.ndim)
    return xp.index_back([g, indices], weight_shape, (0,))


@general(
    tensors=2,
    grad={"weight": _embedding_back},
    jvp=lambda xp, tangents, result, weight, indices, *p: xp.index([tangents[0], indices], (0,)),
    holomorphic=False,
    batch=lambda U, info, inner, mine, p: _batch_embedding(U, inner, mine, p),
    dtypes="fc",
    samples=lambda rng: [
        ((rng.standard_normal((3, 2)), _places(4)), (-1, False)),
        ((rng.standard_normal((3, 2)), _places(2, 2)), (-1, False)),
    ],
)
def embedding(lib, weight, indices, padding_idx, scale_grad_by_freq):
    """The rows of a matrix at some indices."""
    return weight.take(indices, 0)


def _batch_embedding(U: Any, inner: Any, mine: Any, p: Any) -> Any:
    if not mine[0]:
        return U.embedding(inner[0], inner[1], *p)
    from .index import _batch_index

    return _batch_index(U, None, inner, mine, ((0,),))


@public("torch.embedding")
def torch_embedding(
    weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Tensor:
    """The form of ``nn.functional.embedding`` with the matrix first."""
    payload(weight, "embedding")
    dtype = logical_dtype(_tensor(indices, "embedding", "indices", 2))
    if dtype.kind != "i" or dtype.itemsize < 4:
        from .._saved import _type_name

        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"{_type_name(np.empty(0, dtype))} instead (while checking arguments for embedding)"
        )
    if weight._a.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    if _bad_index(indices, weight._a.shape[0]) is not None:
        raise IndexError("index out of range in self")
    return embedding(weight, indices, padding_idx, bool(scale_grad_by_freq))  # type: ignore[no-any-return]


@public("nn.functional.embedding")
def embedding_public(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of a matrix at some indices.

    ``padding_idx``: a row that gets no gradient. ``max_norm``: rows that are read and whose ``norm_type`` norm is larger are
    first scaled down to it, in place. ``scale_grad_by_freq``: a row's gradient is divided by how often it was read.
    ``sparse`` changes nothing: the gradient is dense.

    >>> import wengert as torch
    >>> torch.nn.functional.embedding(torch.tensor([2, 0]), torch.tensor([[0., 1.], [2., 3.], [4., 5.]]))
    tensor([[4., 5.],
            [0., 1.]])
    """
    n = payload(weight, "embedding").shape[0]
    if padding_idx is None:
        padding_idx = -1
    elif padding_idx >= n or padding_idx < -n:
        raise AssertionError("Padding_idx must be within num_embeddings")
    elif padding_idx < 0:
        padding_idx += n
    if max_norm is not None:
        _renorm(weight, input, max_norm, norm_type)
    return torch_embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def _renorm(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> None:
    """PyTorch's ``embedding_renorm_``, outside of the tape."""
    from .._alias import bump, writable

    a = writable(weight)
    rows = np.unique(_values_known(indices, "embedding with max_norm"))
    norms = np.linalg.norm(a[rows].astype(np.float64), norm_type, axis=1)
    large = norms > max_norm
    if large.any():
        a[rows[large]] *= (max_norm / (norms[large] + 1e-7)).astype(a.dtype)[:, None]
        bump(weight)
