"""Reading and writing along a dim at the positions in an index tensor: ``gather``, ``scatter``, ``scatter_reduce``."""

from __future__ import annotations

from sys import _getframe as getframe
from typing import Any

import numpy as np

from ..._arrays.along import add_along, check_range, read_along
from ..._arrays.library import may_share_memory
from ..._base.dtypes import BY_NUMPY
from ..._base.errors import warn_once
from ..._base.modes import slow_if_recording
from ..._base.registry import ARRAYS, REGISTRY, TENSORS, public
from ..._kinds.dims import normal_dim
from ..._kinds.keywords import with_axis, with_out
from ..._kinds.out import EXACT, write_out
from ..._kinds.slow_path import misfit, no_complex_grad, require
from ..._payloads.meta import no_kernel, no_places, on_meta
from ..._payloads.transforms import Transformed
from ..._tape.error_text import broadcast_error, expect_tensor
from ..._tape.fast_results import result_of
from ..._tape.inplace import inplace_of
from ..._tape.node import box_of
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import Tensor, wrap
from ..._tape.view_chain import with_node_name, without_view
from ..._tape.views import count_write_at, unrecorded
from ..create.filled import element, number
from ..random._common import check_elements
from ..shape.broadcasting import vector
from ..shape.views import reshape_public
from ..shape.views_primitive import expand, payload
from ._along import fitting, put_along
from .index_primitive import is_plain
from .scatter_primitive import gather, scatter, scatter_add, scatter_reduce


# ---- arguments
def dtype_name(dtype: Any) -> str:
    return BY_NUMPY[dtype].scalar_name


def known_values(x: Tensor, name: str) -> Any:
    if on_meta(x):
        raise no_places() if name == "nonzero" else no_kernel(name)
    if getattr(x._payload, "is_foreign", False):
        return x._payload.numpy()
    if isinstance(x._payload, Transformed):
        if hasattr(type(x._payload), "__array__"):
            return np.asarray(x._payload)  # torch.compile records no further
        if isinstance(x._payload.primal(), (np.ndarray, np.generic)):
            return x._payload.primal()  # forward mode
    if getattr(x._payload, "is_sparse", False):
        from ..._payloads.sparse_errors import refused

        raise refused(x._payload, name)
    if not is_plain(x):
        raise RuntimeError(
            "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
            f"aten::{name}. Please file an issue at https://github.com/pytorch/pytorch/issues if you need this feature."
        )
    return x._payload


def values_or_zeros(x: Tensor, name: str) -> Any:
    """``known_values``; zeros of a tensor without data, where no shape depends on them."""
    return np.zeros(x._payload.shape, logical_dtype(x)) if on_meta(x) else np.asarray(known_values(x, name))


def _index_tensor(index: Any, name: str, position: int = 3) -> Tensor:
    """Check the index tensor of ``gather`` and ``scatter``."""
    dtype = logical_dtype(expect_tensor(name, "index", position, index))
    if (dtype.kind != "i" or dtype.itemsize < 4) and index._payload.size:
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    return index


def _check_lines(self: Tensor, index: Tensor, dim: int, src: Tensor | None = None, scatter: bool = False) -> None:
    """Check the shapes and the range of the index of ``gather`` and ``scatter``."""
    have, want = _at_least_1d(self._payload.shape), _at_least_1d(index._payload.shape)
    if have == want and src is None and type(index._payload) is np.ndarray:
        return check_range(index._payload, dim, have[dim])
    if 0 in want:
        return
    from_ = None if src is None else _at_least_1d(src._payload.shape)
    if len(have) != len(want):
        raise RuntimeError(
            f"Index tensor must have the same number of dimensions as {'self' if scatter else 'input'} tensor"
        )
    if from_ is not None and len(from_) != len(want):
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    wide = next((d for d, (n, m) in enumerate(zip(have, want, strict=True)) if d != dim and m > n), None)
    if wide is not None and not scatter:
        raise RuntimeError(
            f"Size does not match at dimension {wide} expected index {list(index._payload.shape)} to be no larger "
            "than self "
            f"{list(self._payload.shape)} apart from dimension {dim}"
        )
    if wide is not None or (from_ is not None and any(m > n for n, m in zip(from_, want, strict=True))):
        raise RuntimeError(
            f"Expected index {list(index._payload.shape)} to be no larger than self {list(self._payload.shape)} "
            "apart from "
            f"dimension {dim}"
            + ("" if src is None else f" and to be no larger size than src {list(src._payload.shape)}")
        )
    check_elements(lambda a: check_range(a, dim, have[dim]), index._payload)


def _at_least_1d(shape: Any) -> tuple[int, ...]:
    return tuple(shape) or (1,)


# ---- gather and scatter
@public("torch.gather Tensor.gather")
@with_axis
def gather_public(
    input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False, out: Tensor | None = None
) -> Tensor:
    """The elements of ``input`` at the positions ``index`` along ``dim``.

    >>> torch.tensor([[1, 2], [3, 4]]).gather(1, torch.tensor([[1], [0]]))
    tensor([[2],
            [3]])
    """
    if out is not None:
        return write_out(out, gather_public, (input, dim, index), None, EXACT)
    d = -1 if sparse_grad else fitting(input, dim, index, False)
    if d >= 0:
        a, fx = input._payload, input._node
        r = (read_along if a.flags.c_contiguous else _gather_raw)(a, index._payload, d)
        if fx is None:
            return wrap(r)
        if not slow_if_recording:
            return result_of(GATHER, (fx, None), [a.shape, box_of(index), d], r, 3)
    ndim = payload(input, "gather").ndim
    index = _index_tensor(index, "gather")
    dim = normal_dim(dim, ndim, "gather")
    _check_lines(input, index, dim)
    if sparse_grad and is_plain(input) and is_plain(index):
        from ..names.sparse import sparse_gather

        return sparse_gather(input, dim, index, gather_public(input.detach(), dim, index))
    if not index._payload.size:  # an empty index may have any shape
        none = gather(vector(input), wrap(np.zeros((0,) * max(ndim, 1), np.int64)), dim)
        return without_view(reshape_public(none, tuple(index._payload.shape)), "GatherBackward0")
    if (ndim and index._payload.ndim) or (is_plain(input) and is_plain(index)):
        return gather(input, index, dim)
    # inside a transform the tensors need at least one dimension
    return reshape_public(gather(vector(input), vector(index), dim), tuple(index._payload.shape))


GATHER, SCATTER, SCATTER_ADD = REGISTRY["gather"], REGISTRY["scatter"], REGISTRY["scatter_add"]
assert GATHER.saves.uses == ("self_shape", "index", "dim")
assert SCATTER.saves.uses == SCATTER_ADD.saves.uses == ("index", "dim")
_gather_raw = ARRAYS.gather


def _scattered(name: str, self: Tensor, dim: int, index: Any, src: Any, run: Any) -> Tensor:
    """Check and align the arguments of a scatter operator, and call ``run(self, index, src, dim)``."""
    payload(self, name)
    index = _index_tensor(index, "scatter")
    ndim = self._payload.ndim
    dim = normal_dim(dim, ndim, name)
    if isinstance(src, Tensor):
        if logical_dtype(src) is not logical_dtype(self):
            raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
        _check_lines(self, index, dim, src, True)
        src = _shrunk(vector(src), _at_least_1d(index._payload.shape))
    else:
        _check_lines(self, index, dim, None, True)
    if not index._payload.size:
        index = wrap(np.zeros((0,) * max(ndim, 1), np.int64))
        src = slice_all(src, (0,) * max(ndim, 1)) if isinstance(src, Tensor) else src
    index = vector(index)
    if ndim or all(is_plain(x) for x in (self, index, src) if isinstance(x, Tensor)):
        return run(self, index, src, dim)
    return reshape_public(run(vector(self), index, src, 0), ())


def _shrunk(src: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The part of ``src`` that an index of this shape reads."""
    if 0 in shape:
        return src
    for d, n in enumerate(shape):
        if src._payload.shape[d] != n:
            src = TENSORS.slice_dim(src, d, 0, n, 1)
    return src


def slice_all(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The leading part of ``x`` of this shape."""
    x = reshape_public(x, (-1,)) if x._payload.ndim != len(shape) else x
    for d, n in enumerate(shape[: x._payload.ndim]):
        x = TENSORS.slice_dim(x, d, 0, n, 1)
    return reshape_public(x, shape)


def _scattered_plainly(info: Any, write: Any, self: Any, dim: Any, index: Any, src: Any) -> Tensor | None:
    """The result of ``info`` for plain arrays that fit, made by ``write``; ``None``: take the general path."""
    d = fitting(self, dim, index, False)
    if d < 0:
        return None
    a, fx, i = self._payload, self._node, index._payload
    v, fs = src, None
    if isinstance(src, Tensor):
        v, fs = src._payload, src._node
        if type(v) is not np.ndarray or v.dtype is not a.dtype or v.shape != i.shape:
            return None
    recorded = fx is not None or fs is not None
    if recorded and slow_if_recording:
        return None
    r = a.copy()
    write(r, i, d, v)
    if not recorded:
        return wrap(r)
    saved = None if info is SCATTER_ADD and fs is None else box_of(index)
    return result_of(info, (fx, None, fs), [saved, d], r, 4)


_REDUCTIONS = {"add": "sum", "multiply": "prod"}


@public("torch.scatter Tensor.scatter")
@with_out(EXACT)
def scatter_public(
    input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None
) -> Tensor:
    """A copy of ``input`` with ``src`` (a tensor or a number) written at the positions ``index`` along ``dim``.

    ``reduce`` ("add" or "multiply") combines new and old elements.

    >>> torch.zeros(2, 2).scatter(1, torch.tensor([[1], [0]]), 1.)
    tensor([[0., 1.],
            [1., 0.]])
    """
    if src is None:
        src = value
    if reduce is None and (isinstance(src, Tensor) or _is_small_number(src, input)):
        made = _scattered_plainly(SCATTER, put_along, input, dim, index, src)
        if made is not None:
            return made if isinstance(src, Tensor) else with_node_name(made, "ScatterBackward1")
    if isinstance(src, np.generic):
        src = src.item()
    if not isinstance(src, (Tensor, bool, int, float, complex)):
        raise misfit("scatter", input, dim, index, *([] if src is None else [src]))
    if not isinstance(src, Tensor):
        src = element(src, logical_dtype(input))
    if reduce is None:
        made = _scattered("scatter", input, dim, index, src, scatter)
        return made if isinstance(src, Tensor) else with_node_name(made, "ScatterBackward1")
    if reduce not in _REDUCTIONS:
        raise RuntimeError("reduce argument must be either add or multiply.")
    if isinstance(src, Tensor):
        warn_once(
            "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future "
            "PyTorch release. Use torch.scatter_reduce instead for more reduction options."
        )
    else:
        src = expand(wrap(number(src, logical_dtype(input))), _at_least_1d(index._payload.shape))
    return scatter_reduce_public(input, dim, index, src, _REDUCTIONS[reduce])


@public("torch.scatter_add Tensor.scatter_add")
@with_axis
def scatter_add_public(input: Tensor, dim: int, index: Tensor, src: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of ``input`` with ``src`` added at the positions ``index`` along ``dim``.

    >>> torch.zeros(3).scatter_add(0, torch.tensor([0, 2, 0]), torch.ones(3))
    tensor([2., 0., 1.])
    """
    if out is not None:
        return write_out(out, scatter_add_public, (input, dim, index, src), None, EXACT)
    made = _scattered_plainly(SCATTER_ADD, add_along, input, dim, index, src)
    if made is not None:
        return made
    return _scattered("scatter_add", input, dim, index, expect_tensor("scatter_add", "src", 4, src), scatter_add)


@public("torch.scatter_reduce Tensor.scatter_reduce")
@with_out(EXACT)
def scatter_reduce_public(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """A copy of ``input`` with the elements of ``src`` reduced at the positions ``index`` along ``dim``.

    ``reduce``: "sum", "prod", "mean", "amax" or "amin"; ``include_self``: the elements of ``input`` take part too.

    >>> torch.ones(2).scatter_reduce(0, torch.tensor([0, 0, 1]), torch.tensor([3., 2., 5.]), "amax")
    tensor([3., 5.])
    """
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if reduce in ("amax", "amin"):
        require(input, "fhiub", f"scatter_gather_tensor_cpu_reduce_{reduce}")
    elif reduce == "mean":
        require(input, "fhciu", "scatter_gather_tensor_cpu_reduce_mean")
    for t in (input, src):
        no_complex_grad("scatter_reduce", t)
    return _scattered(
        "scatter_reduce",
        input,
        dim,
        index,
        expect_tensor("scatter_reduce", "src", 4, src),
        lambda a, i, s, d: scatter_reduce(a, i, s, d, reduce, bool(include_self)),
    )


def _into(self: Any, dim: Any, index: Any, src: Any, write: Any) -> bool:
    """Write directly into self's memory if nothing is recorded and the arguments are plain arrays that fit."""
    d = fitting(self, dim, index, False)
    tensor = isinstance(src, Tensor)
    if d < 0 or not unrecorded(self, src._node if tensor else None):
        return False
    a, i = self._payload, index._payload
    if not (a.flags.c_contiguous and a.flags.writeable) or (a.dtype is i.dtype and may_share_memory(a, i)):
        return False
    if tensor:
        src = src._payload
        if type(src) is not np.ndarray or src.dtype is not a.dtype or src.ndim != i.ndim or may_share_memory(a, src):
            return False
        if src.shape != i.shape:  # only a part of ``src`` is written
            src = src[tuple(map(slice, i.shape))]
            if src.shape != i.shape:
                return False
    write(a, i, d, src)
    count_write_at(self, getframe(2))
    return True


def _is_small_number(value: Any, self: Any) -> bool:
    """Whether ``self`` is a float32 or float64 tensor and ``value`` a number that both dtypes can hold."""
    return (
        type(value) in (float, int)
        and -3e38 < value < 3e38
        and type(self) is Tensor
        and type(self._payload) is np.ndarray
        and self._payload.dtype.char in "fd"
    )


_scatter_in_place = inplace_of(scatter_public, "scatter_")
_scatter_add_in_place = inplace_of(scatter_add_public, "scatter_add_")


@public("Tensor.scatter_")
def scatter_(
    self: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None
) -> Tensor:
    """In-place form of ``scatter``."""
    given = value if src is None else src
    if reduce is None and (isinstance(given, Tensor) or _is_small_number(given, self)):
        if _into(self, dim, index, given, put_along):
            return self
    rest = {} if src is not None else {"value": value}
    return _scatter_in_place(self, dim, index, *(() if src is None else (src,)), reduce=reduce, **rest)


@public("Tensor.scatter_add_")
def scatter_add_(self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """In-place form of ``scatter_add``."""
    if isinstance(src, Tensor) and _into(self, dim, index, src, add_along):
        return self
    return _scatter_add_in_place(self, dim, index, src)


public("Tensor.scatter_reduce_")(inplace_of(scatter_reduce_public, "scatter_reduce_"))


@public("torch.take_along_dim Tensor.take_along_dim")
@with_out(EXACT)
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """``gather`` with both tensors broadcast in all dimensions but ``dim``; without ``dim``, of the flat tensors.

    >>> x = torch.tensor([[3, 1, 2]])
    >>> x.take_along_dim(x.argsort(1), 1)
    tensor([[1, 2, 3]])
    """
    d = -1 if dim is None else fitting(input, dim, indices, False)
    if d >= 0:
        have, want = input._payload.shape, indices._payload.shape
        if have == want or have[:d] + have[d + 1 :] == want[:d] + want[d + 1 :]:
            return gather_public(input, d, indices)
    payload(input, "take_along_dim")
    dtype = logical_dtype(expect_tensor("take_along_dim", "indices", 2, indices))
    if dtype.kind != "i" or dtype.itemsize != 8:
        raise RuntimeError(
            "torch.take_along_dim(): dtype of indices should be Long but got " + BY_NUMPY[dtype].scalar_name
        )
    if dim is None:
        return gather_public(reshape_public(input, (-1,)), 0, reshape_public(indices, (-1,)))
    have, want = tuple(input._payload.shape), tuple(indices._payload.shape)
    if len(have) != len(want):
        raise RuntimeError(
            f"torch.take_along_dim(): input and indices should have the same number of dimensions, but got {len(have)} "
            f"dimensions for input, and {len(want)} dimensions for indices"
        )
    dim = normal_dim(dim, len(have), "take_along_dim")
    try:
        both = np.broadcast_shapes(have[:dim] + (1,) + have[dim + 1 :], want[:dim] + (1,) + want[dim + 1 :])
    except ValueError:
        raise broadcast_error(input, indices) from None
    wide = [both[:dim] + (s[dim],) + both[dim + 1 :] for s in (have, want)]
    x, i = (t if tuple(t._payload.shape) == w else expand(t, w) for t, w in zip((input, indices), wide, strict=True))
    if have[dim]:  # every index counts around the dim, as in PyTorch
        i = wrap(np.remainder(i._payload, have[dim])) if is_plain(i) else TENSORS.remainder(i, have[dim])
    return gather_public(x, dim, i)
