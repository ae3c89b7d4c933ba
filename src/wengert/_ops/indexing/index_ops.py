"""Reading and writing slices and elements by index: ``index_select``, ``index_add``, ``index_put``, ``take``, ..."""

from __future__ import annotations

import math
from sys import _getframe as getframe
from typing import Any

import numpy as np

from ..._arrays import intp
from ..._arrays.layouts import as_operand, in_rows, relaid, strides_like
from ..._arrays.library import COLONS, may_share_memory
from ..._arrays.threads import LARGE
from ..._base.errors import noted
from ..._base.modes import slow_if_recording
from ..._base.registry import ARRAYS, public
from ..._kinds.dims import normal_dim
from ..._kinds.general import general
from ..._kinds.keywords import with_axis, with_out
from ..._kinds.laid_out import laid_out, lay, receives
from ..._kinds.out import EXACT, exactly, write_out
from ..._kinds.slow_path import no_complex_grad, require
from ..._tape.error_text import expect_tensor, expect_tensors
from ..._tape.fast_results import result_of
from ..._tape.inplace import apply_inplace, inplace_of, inplace_one_by_one
from ..._tape.node import box_of
from ..._tape.promotion import cast, logical_dtype
from ..._tape.tensor import Tensor, wrap
from ..._tape.view_chain import with_node_name, without_view
from ..._tape.views import count_write_at, unrecorded
from ..._tensor_api.settings import alert_not_deterministic
from ..create.filled import number
from ..shape.broadcasting import vector
from ..shape.views import reshape_public
from ..shape.views_primitive import expand, payload
from ._along import bad_index, fitting
from .getitem import by_tensors, check_rank, indexed, normal_part, put_at
from .index_primitive import INDEX, INDEX_PUT, batch_index, dense, index_raw, is_plain, write_at
from .scatter import dtype_name, scatter_reduce_public
from .scatter_primitive import sample_places
from .setitem import assign_at, of_its_dtype, put_into

index_put_raw = ARRAYS.index_put


# ---- index_select, index_add, index_copy, index_fill
def _line_index(name: str, self: Tensor, dim: int, index: Any) -> tuple[int, Tensor, Tensor]:
    """Check ``index_select``'s arguments: the dim, the index as a vector, ``self`` with at least one dimension."""
    payload(self, name.rstrip("_"))
    if name == "index_select" and isinstance(index, Tensor) and index._payload.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    dtype = logical_dtype(expect_tensor(name, "index", 3, index))
    if dtype.kind != "i" or dtype.itemsize < (8 if name in ("index_copy_", "index_fill_") else 4):
        given = dtype_name(dtype)
        if name == "index_fill_":
            raise IndexError("index_fill_(): Expected dtype int64 for index.")
        raise RuntimeError(
            {
                "index_copy_": f"index_copy_(): Expected a long tensor for index, but got {given}",
                "index_select": "index_select(): Expected dtype int32 or int64 for index",
            }.get(name, f"{name}(): Expected dtype int32/int64 for index but got: {given}")
        )
    ndim = index._payload.ndim
    if ndim > 1:
        if name == "index_fill_":
            raise RuntimeError("Index has to be a vector/scalar")
        if name == "index_copy_":
            raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {ndim})")
        given = f"dim: {ndim} with type: {dtype_name(dtype)} and size: {list(index._payload.shape)}"
        raise IndexError(f"{name}(): Index is supposed to be a vector, but got {given}")
    return normal_dim(dim, self._payload.ndim, name), vector(index), vector(self)


_SELECTED = exactly("index_select(): self and result must have the same scalar type")


@public("torch.index_select Tensor.index_select")
@with_axis
def index_select(input: Tensor, dim: int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of the slices of ``input`` at some indices of a dimension.

    >>> torch.tensor([[1, 2], [3, 4]]).index_select(1, torch.tensor([1]))
    tensor([[2],
            [4]])
    """
    if out is not None:
        return write_out(out, index_select, (input, dim, index), None, _SELECTED)
    d = fitting(input, dim, index, True)
    if d >= 0:
        a, i, fx = input._payload, index._payload, input._node
        if fx is None or not slow_if_recording:
            few = a.flags.c_contiguous and a.size * i.size < LARGE
            r = intp.take(a, i, d) if few else in_rows(index_raw([a, i], (d,)))
            if fx is None:
                return wrap(r)
            saved = [[box_of(index)], [a.shape, i.shape], (d,)]
            return with_node_name(result_of(INDEX, (fx, None), saved, r, 3), "IndexSelectBackward0")
    dim, where, x = _line_index("index_select", input, dim, index)
    if not input._payload.ndim and where._payload.size != 1:
        raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {where._payload.size} value(s)")
    _check_selected(where, tuple(x._payload.shape), dim)
    return _shaped_as(input, lay(indexed(x, (dim,), [where]), in_rows), "IndexSelectBackward0")


def _check_selected(where: Tensor, shape: tuple[int, ...], dim: int) -> None:
    bad = bad_index(where, shape[dim])
    if bad is None:
        return
    if not shape[dim]:
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    if math.prod(shape) and dim != 1:
        raise IndexError("index out of range in self")
    raise RuntimeError(f"INDICES element is out of DATA bounds, id={bad} axis_dim={shape[dim]}")


def _shaped_as(input: Tensor, made: Tensor, node: str) -> Tensor:
    """Name the node of a result; the result is 0-dimensional if the input was."""
    return with_node_name(made, node) if input._payload.ndim else without_view(reshape_public(made, ()), node)


def _line_put(name: str, self: Tensor, dim: int, index: Any, source: Tensor, into: bool) -> Tensor:
    """``index_add_`` and ``index_copy_``: add or write ``source`` at some indices of a dimension."""
    dim, where, x = _line_index(name, self, dim, index)
    add = name == "index_add_"
    if logical_dtype(self) is not logical_dtype(source):
        raise _other_dtype(name, logical_dtype(self), logical_dtype(source))
    shape = tuple(x._payload.shape)
    n = where._payload.size
    if add and not self._payload.ndim and source._payload.ndim:
        raise _wrong_source(self, tuple(source._payload.shape))
    if not source._payload.ndim and (not add or not self._payload.ndim):
        source = reshape_public(source, (1,) * len(shape) if n == 1 else (1,))
    if add:
        _check_added(name, self, tuple(source._payload.shape), shape, dim, n)
    else:
        _check_copied(self, tuple(source._payload.shape), shape, dim, n)
    bad = bad_index(where, shape[dim])
    if bad is not None:
        raise _outside(name, bad, shape, dim)
    made = put_at(x, source, (dim,), [where], add, into and x is self)
    return _shaped_as(self, made, "IndexAddBackward0" if add else "IndexCopyBackward0")


def _other_dtype(name: str, mine: Any, theirs: Any) -> RuntimeError:
    a, b = dtype_name(mine), dtype_name(theirs)
    if name == "index_copy_":
        text = f"self and source expected to have the same dtype, but got (self) {a} and (source) {b}"
    else:
        text = f"self ({a}) and source ({b}) must have the same scalar type"
    return RuntimeError(f"{name}(): {text}")


def _outside(name: str, bad: int, shape: tuple[int, ...], dim: int) -> Exception:
    text = f"index {bad} is out of bounds for dimension {dim} with size {shape[dim]}"
    if name == "index_copy_":
        return IndexError(f"index_copy_(): {text}")
    if len(shape) > 1 and name == "index_add_":
        return RuntimeError(text)
    return noted(IndexError("index out of range in self"), f"Why: {text}.")


def _check_added(name: str, self: Tensor, have: Any, shape: Any, dim: int, n: int) -> None:
    rest = shape[:dim] + shape[dim + 1 :]
    if dim < len(have) and have[dim] != n:
        raise RuntimeError(
            f"{name}(): Number of indices ({n}) should be equal to source.size(dim): ({have[dim]}), for dim: {dim}"
        )
    if len(have) != len(shape) or have[:dim] + have[dim + 1 :] != rest:
        raise _wrong_source(self, have)


def _wrong_source(self: Tensor, have: Any) -> RuntimeError:
    return RuntimeError(
        "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
        f"{list(self._payload.shape)} source.shape = {list(have)}"
    )


def _check_copied(self: Tensor, have: Any, shape: Any, dim: int, n: int) -> None:
    if len(have) != len(shape):
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
            f"dimensionality ({len(have)}), destination dimensionality ({len(shape)})"
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


def _fitting_source(self: Any, dim: Any, index: Any, source: Any) -> int:
    """``fitting`` that also checks the dtype and shape of the source."""
    d = fitting(self, dim, index, True)
    s = getattr(source, "_payload", None)
    if d < 0 or type(s) is not np.ndarray or s.dtype is not self._payload.dtype:
        return -1
    have, n = self._payload.shape, index._payload.size
    return d if s.shape == (have if have[d] == n else (*have[:d], n, *have[d + 1 :])) else -1


def _times(alpha: Any, source: Tensor) -> Tensor:
    """``alpha`` times the source, in the source's dtype."""
    return source if alpha == 1 else source * wrap(number(alpha, logical_dtype(source)))


def _apart(x: Tensor, source: Any) -> bool:
    """Whether a write into ``x`` does not change ``source``."""
    a, s = x._payload, getattr(source, "_payload", None)
    return type(a) is np.ndarray and a.flags.writeable and not (isinstance(s, np.ndarray) and may_share_memory(a, s))


def _put_plainly(self: Tensor, d: int, index: Tensor, v: Any, fv: Any, add: bool, node: str) -> Tensor | None:
    """A copy with the array ``v``, whose node is ``fv``, at an index that fits; ``None``: take the general path."""
    fx = self._node
    recorded = fx is not None or fv is not None
    if recorded and slow_if_recording:
        return None
    a, i = self._payload, index._payload
    r = index_put_raw([a, v, i], (d,), add, False)
    if not recorded:
        return wrap(r)
    saved = [[box_of(index)], [a.shape, v.shape, i.shape], (d,), add, (fx is not None, fv is not None)]
    return with_node_name(result_of(INDEX_PUT, (fx, fv, None), saved, r), node)


def _put_lines(add: bool, self: Tensor, dim: int, index: Any, source: Any, alpha: Any = 1) -> Tensor:
    """``index_add`` or ``index_copy``."""
    d = _fitting_source(self, dim, index, source) if alpha == 1 else -1
    if d >= 0:
        node = "IndexAddBackward0" if add else "IndexCopyBackward0"
        made = _put_plainly(self, d, index, source._payload, source._node, add, node)
        if made is not None:
            made._payload = in_rows(made._payload)
            return made
    source = expect_tensor("index_add" if add else "index_copy", "source", 4, source)
    return _new_lines("index_add_" if add else "index_copy_", self, dim, index, _times(alpha, source), False)


_new_lines = laid_out(in_rows)(_line_put)


def _put_lines_into(add: bool, self: Tensor, dim: int, index: Any, source: Any, alpha: Any = 1) -> Tensor:
    """``index_add_`` or ``index_copy_``."""
    d = _fitting_source(self, dim, index, source) if alpha == 1 else -1
    if d >= 0 and unrecorded(self, source._node) and self._payload.flags.c_contiguous and _apart(self, source):
        index_put_raw([self._payload, source._payload, index._payload], (d,), add, True)
        count_write_at(self, getframe(2))
        return self
    name = "index_add_" if add else "index_copy_"
    source = expect_tensor(name[:-1], "source", 4, source)

    def put(x: Tensor, s: Tensor) -> Tensor:
        return _line_put(name, x, dim, index, _times(alpha, s), _apart(x, s))

    return apply_inplace(put, self, (source,))


@public("torch.index_add Tensor.index_add")
@with_out(EXACT)
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """A copy of ``input`` with ``alpha`` times the slices of ``source`` added at some indices of a dimension.

    >>> torch.zeros(3).index_add(0, torch.tensor([0, 0, 2]), torch.tensor([1., 2., 3.]))
    tensor([3., 0., 3.])
    """
    return _put_lines(True, input, dim, index, source, alpha)


@public("Tensor.index_add_")
def index_add_(self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """In-place form of ``index_add``."""
    return _put_lines_into(True, self, dim, index, source, alpha)


@public("torch.index_copy Tensor.index_copy")
@with_out(EXACT)
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """A copy of ``input`` with the slices of ``source`` written at some indices of a dimension.

    >>> torch.index_copy(torch.zeros(3), 0, torch.tensor([2, 0]), torch.tensor([1., 2.]))
    tensor([2., 0., 1.])
    """
    return _put_lines(False, input, dim, index, source)


@public("Tensor.index_copy_")
def index_copy_(self: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """In-place form of ``index_copy``."""
    return _put_lines_into(False, self, dim, index, source)


@public("torch.index_fill Tensor.index_fill")
@with_axis
def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """A copy of ``input`` with a number (or a 0-dimensional tensor) at some indices of a dimension.

    >>> torch.ones(3).index_fill(0, torch.tensor([0, 2]), 5.)
    tensor([5., 1., 5.])
    """
    d = fitting(input, dim, index, True)
    if d >= 0 and type(value) is float:
        v = number(value, input._payload.dtype)
        made = _put_plainly(input, d, index, v, None, False, "IndexFillBackward0")
        if made is not None:
            return made
    dim, where, x = _line_index("index_fill_", input, dim, index)
    given = logical_dtype(value).kind if isinstance(value, Tensor) else "c" if isinstance(value, complex) else ""
    if given == "c" != logical_dtype(input).kind:
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    if isinstance(value, Tensor):
        if value._payload.ndim:
            raise RuntimeError(
                f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {value._payload.ndim} "
                "dimension(s)."
            )
        v, name = cast(value, logical_dtype(input)), "IndexFillBackward1"
    else:
        v, name = wrap(number(value, logical_dtype(input))), "IndexFillBackward0"
    bad = bad_index(where, x._payload.shape[dim], -x._payload.shape[dim])
    if bad is not None:
        raise IndexError(f"index {bad} is out of bounds for dimension {dim} with size {x._payload.shape[dim]}")
    if is_plain(where):
        places = where._payload % max(x._payload.shape[dim], 1)
        where = wrap(places if v._node is None else np.unique(places))  # the value's gradient counts each position once
    return _shaped_as(input, put_at(x, v, (dim,), [where], False, False), name)


_index_fill_in_place = inplace_one_by_one(index_fill, "index_fill_", warns=True)


@public("Tensor.index_fill_")
def index_fill_(self: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """In-place form of ``index_fill``."""
    d = fitting(self, dim, index, True)
    if d >= 0 and type(value) is float and self._payload.dtype.kind in "fc" and unrecorded(self, None):
        a = self._payload
        if a.dtype.itemsize > 2 and a.flags.writeable and -3e38 < value < 3e38:
            a[COLONS[d] + (index._payload,)] = value
            count_write_at(self, getframe(1))
            return self
    return _index_fill_in_place(self, dim, index, value)


@public("torch.index_reduce Tensor.index_reduce")
@with_out(EXACT)
def index_reduce(
    input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """A copy of ``input`` with the slices of ``source`` reduced into the slices at some indices of a dimension.

    ``reduce``: "prod", "mean", "amax" or "amin".

    >>> torch.index_reduce(torch.ones(2), 0, torch.tensor([0, 0]), torch.tensor([2., 3.]), "prod")
    tensor([6., 1.])
    """
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    dim, where, x = _line_index("index_reduce_", input, dim, index)
    have, theirs = logical_dtype(input), logical_dtype(expect_tensor("index_reduce", "source", 4, source))
    if have is not theirs:
        raise _other_dtype("index_reduce_", have, theirs)
    if input._payload.ndim < 2:
        require(input, "fhiu", "index_func_" if include_self else "index_reduce_func_exclude_input_init")
    elif reduce == "mean":
        require(input, "fhciu", "div_floor_cpu")
    elif reduce != "prod":
        require(input, "fhiub", {"amin": "minimum_cpu", "amax": "maximum_cpu"}[reduce])
    for t in (input, source):
        no_complex_grad("index_reduce", t)
    x = receives(x) if not include_self and reduce[0] == "a" else x
    shape = tuple(source._payload.shape) or (1,)
    into = tuple(x._payload.shape)
    _check_added("index_reduce_", input, shape, into, dim, where._payload.size)
    bad = bad_index(where, into[dim])
    if bad is not None:
        raise _outside("index_reduce_", bad, into, dim)
    lines = expand(reshape_public(where, (1,) * dim + (-1,) + (1,) * (len(shape) - dim - 1)), shape)
    made = scatter_reduce_public(x, dim, lines, vector(source), reduce, include_self=include_self)
    return _shaped_as(input, made, "IndexReduceBackward0")


public("Tensor.index_reduce_")(inplace_of(index_reduce, "index_reduce_"))


# ---- index_put, put, take
def _places_of(self: Tensor, indices: Any) -> tuple[tuple[int, ...], list[Tensor]]:
    """The dims and index tensors of ``index_put``, whose ``indices`` have ``None`` for a whole dimension."""
    if isinstance(indices, Tensor):
        raise TypeError("index_put_(): argument 'indices' (position 2) must be tuple of Tensors, not Tensor")
    dims, found = [], []
    dim = 0
    for item in indices:
        if item is None:
            dim += 1
            continue
        if isinstance(item, Tensor) and item._payload.ndim == 0 and logical_dtype(item).kind == "i":
            item = reshape_public(item, (1,)) if len(indices) == 1 else item
        item = normal_part(item) if not (isinstance(item, Tensor) and item._payload.ndim == 0) else item
        dims.append(dim)
        found.append(item)
        dim += item._payload.ndim if logical_dtype(item).kind == "b" else 1
    if dim > self._payload.ndim:
        raise IndexError(f"too many indices for tensor of dimension {self._payload.ndim} (got {dim})")
    return tuple(dims), found


def _put_fitting(input: Any, indices: Any, values: Any) -> Tensor | None:
    """``index_put`` of plain arrays at positions that NumPy checks; ``None`` if the general path is needed."""
    if (
        type(values) is not Tensor
        or type(input._payload) is not np.ndarray
        or values._payload.dtype is not input._payload.dtype
    ):
        return None
    found = by_tensors(input._payload.shape, tuple(indices))
    if found is None or len(found[1]) != len(indices):
        return None
    a, v = input._payload, values._payload
    if v.ndim > 1:
        check_rank(input, values, *found[:2])
    r = dense(a)
    try:
        write_at(r, found[0], found[2], v)
    except (IndexError, ValueError):
        return None
    fx, fv = input._node, values._node
    if fx is None and fv is None:
        return wrap(r)
    shapes = [a.shape, v.shape, *[i.shape for i in found[2]]]
    saved = [[box_of(i) for i in found[1]], shapes, found[0], False, (fx is not None, fv is not None)]
    return result_of(INDEX_PUT, (fx, fv, *[None] * len(found[1])), saved, r)


@public("torch.index_put Tensor.index_put")
def index_put_public(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy of ``input`` with ``values`` written, or added, at the positions of a tuple of index tensors.

    >>> torch.zeros(3).index_put((torch.tensor([0, 0]),), torch.tensor(1.), accumulate=True)
    tensor([2., 0., 0.])
    """
    payload(input, "index_put")
    done = (
        None
        if accumulate or slow_if_recording or type(indices) not in (tuple, list)
        else _put_fitting(input, indices, values)
    )
    if done is not None:
        return done
    dims, found = _places_of(input, indices)
    values = of_its_dtype(input, expect_tensor("index_put", "values", 3, values), dims, found, bool(accumulate))
    return put_at(input, values, dims, found, bool(accumulate), False)


@public("Tensor.index_put_ torch.index_put_")
def index_put_(self: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """In-place form of ``index_put``.

    >>> torch.index_put_(torch.zeros(3), (torch.tensor([0, 2]),), torch.tensor([1., 2.]))
    tensor([1., 0., 2.])
    """
    plain = not accumulate and type(values) is Tensor and type(indices) in (tuple, list)
    if plain and assign_at(self, tuple(indices), values):
        return self
    dims, found = _places_of(self, indices)
    values = of_its_dtype(self, expect_tensor("index_put", "values", 3, values), dims, found, bool(accumulate))
    return put_into(self, values, dims, found, bool(accumulate))


def _batch_take(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    x, index = inner
    return batch_index(U, None, [U.reshape(x, (x.shape[0], -1) if mine[0] else (-1,)), index], mine, ((0,),))


@general(
    tensors=2,
    grad={
        "self": lambda xp, g, self, index: as_operand(
            xp.reshape(xp.index_back([g, index], (math.prod(self.shape),), (0,)), tuple(self.shape)), self
        )
    },
    jvp=lambda xp, tangents, result, self, index: xp.take_flat(tangents[0], index),
    holomorphic=False,
    node="TakeBackward0",
    batch=_batch_take,
    dtypes="fcib",
    samples=lambda rng: [((rng.standard_normal((3, 2)), sample_places(2, 2)), ())],
)
def take_flat(lib, self, index):
    """The elements at flat indices, in row-major order."""
    return lib.asarray(lib.take(lib.asarray(self), index))


@public("torch.take Tensor.take")
@with_out(
    exactly("take(): self and out expected to have the same dtype, but got self.dtype = {Result} and out.dtype = {Out}")
)
def take(input: Tensor, index: Tensor) -> Tensor:
    """The elements at some flat indices, in row-major order.

    >>> torch.tensor([[1, 2], [3, 4]]).take(torch.tensor([0, -1]))
    tensor([1, 4])
    """
    a = payload(input, "take")
    _long(index, "take")
    try:
        return take_flat(input, index)
    except IndexError:
        raise _out_of_range("take(): tried to take from an empty tensor", index, a.size) from None


def _long(index: Any, name: str) -> None:
    dtype = logical_dtype(expect_tensor(name, "index", 2, index))
    if dtype.kind != "i" or dtype.itemsize != 8:
        raise RuntimeError(f"{name}(): Expected a long tensor for index, but got {dtype_name(dtype)}")


def _out_of_range(of_none: str, index: Tensor, n: int) -> IndexError:
    i = index._payload
    if n == 0:
        return IndexError(of_none)
    bad = next(int(k) for k in i.reshape(-1) if not -n <= k < n)
    return IndexError(f"out of range: tried to access index {bad} on a tensor of {n} elements.")


@public("torch.put Tensor.put")
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """A copy of ``input`` with ``source`` written, or added, at some flat indices, in row-major order.

    >>> torch.put(torch.zeros(2, 2), torch.tensor([3, 0]), torch.tensor([1., 2.]))
    tensor([[2., 0.],
            [0., 1.]])
    """
    a = payload(input, "put")
    expect_tensors("put_", self=input, index=index, source=source)
    _long(index, "put_")
    if logical_dtype(input) is not logical_dtype(source):
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{dtype_name(logical_dtype(input))} and source.dtype = {dtype_name(logical_dtype(source))}"
        )
    if index._payload.size != source._payload.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{source._payload.size}, index.numel() = {index._payload.size}"
        )
    if not accumulate:
        alert_not_deterministic("put_")
    flat = [reshape_public(x, (x._payload.size,)) for x in (input, source, index)]
    try:
        made = put_at(flat[0], flat[1], (0,), [flat[2]], bool(accumulate), False)
    except IndexError:
        raise _out_of_range("put_(): Tried to put elements into an empty tensor", index, a.size) from None
    r = without_view(reshape_public(made, tuple(a.shape)), "PutBackward0")
    return lay(r, lambda b: relaid(b, strides_like(a))) if isinstance(a, np.ndarray) else r


public("Tensor.put_")(inplace_of(put, "put_"))
