"""Tensors without data: the device ``"meta"``, as a type of payload.

A ``Meta`` has a shape, a dtype and strides, and a ``Memory`` that holds nothing but its size, which views share. It is
a ``Transformed`` that no transform made: the hot path's test of dtypes leads operators on it away, and
``transforms.bind`` hands them to ``computed``, which finds the shape, dtype and order of the result:

views       NumPy computes them on an array that has the shape and strides and no memory (``_ghost``)
by rule     ``_payloads.meta_rules`` computes the result's shape from the operands' shapes, without arrays
the others  run on arrays of the same shape (``stand_in``), and the elements of the result are dropped

So formulas, transforms and optimizers run on these payloads too. A write in place is checked and
changes nothing (``replaced.replace_payload``). A program without such tensors does not import the rules.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from .._arrays.layouts import known_strides, row_major_strides, shown_strides
from .._arrays.memory import memory_order
from .._base import dtypes
from .._base.errors import LinAlgError, noted
from .._base.registry import ARRAYS, REGISTRY, TRANSFORMED, XP, Operator
from .._tape.tensor import META, Tensor, device_of, wrap
from .._tape.view_chain import CONJUGATES
from .transforms import DEEPEST, VALUE_DTYPES, Transformed, plain_dtype

META_DEPTH = DEEPEST + 2  # a depth that no transform has: these dtypes belong to meta payloads only


class Memory:
    """A storage without data: a size in bytes."""

    __slots__ = ("nbytes",)

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes


class Meta(Transformed):
    """The shape, dtype and strides (in bytes, as in NumPy) of an array without memory."""

    __slots__ = ("_dtype", "_shape", "memory", "offset", "strides")
    is_meta = True
    tag = 0

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: Any,
        strides: tuple[int, ...] | None = None,
        memory: Memory | None = None,
        offset: int = 0,
    ) -> None:
        dtype = plain_dtype(dtype)
        self._shape = shape = tuple(shape)
        self._dtype = VALUE_DTYPES[dtype, META_DEPTH]
        self.strides = dense_strides(shape, dtype.itemsize) if strides is None else strides
        if memory is None:
            memory = Memory(_extent(shape, self.strides, dtype.itemsize))
        self.memory = memory
        self.offset = offset

    shape = property(lambda self: self._shape)
    dtype = property(lambda self: self._dtype)
    itemsize = property(lambda self: self._dtype.itemsize)
    nbytes = property(lambda self: self.size * self._dtype.itemsize)

    def payload_like(self, make: Any) -> Meta:
        return Meta(self._shape, self._dtype)

    def copy(self) -> Meta:
        """A row-major copy on memory of its own."""
        return Meta(self._shape, self._dtype)

    def fill(self, value: Any) -> None:
        """Write a number to all elements: nothing is done, because there are none."""

    def astype(self, dtype: Any, copy: bool = True) -> Meta:
        """Convert to another dtype."""
        return like(self, dtype)

    def view(self, dtype: Any) -> Meta:
        """View the same bytes as another dtype, whose item size scales the last dimension."""
        dtype = plain_dtype(np.dtype(dtype) if isinstance(dtype, type) else dtype)
        shape, strides = self._shape, self.strides
        if dtype.itemsize != self.itemsize:
            shape = (*shape[:-1], shape[-1] * self.itemsize // dtype.itemsize)
            strides = (*strides[:-1], dtype.itemsize)
        return Meta(shape, dtype, strides, self.memory, self.offset)

    def byteswap(self) -> Meta:
        """Return the array itself."""
        return self

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise no_data()

    def __getattr__(self, name: str) -> Any:
        if name in _ARRAY_NAMES:  # the caller expects an array
            raise no_data()
        raise AttributeError(f"a meta array has no attribute {name!r}")

    def __reduce__(self) -> Any:
        return Meta, (self._shape, self._dtype.base_dtype, self.strides)

    def __deepcopy__(self, memo: Any) -> Meta:
        if id(self.memory) not in memo:
            memo[id(self.memory)] = Memory(self.memory.nbytes)
        return Meta(self._shape, self._dtype, self.strides, memo[id(self.memory)], self.offset)

    @staticmethod
    def with_dense(info: Operator, *args: Any) -> Any:
        """Run an operator on several tensors whose payloads differ in type or dtype."""
        tensors = args[: info.arity] if info.arity >= 0 else args[0]
        given = [t for t in tensors if isinstance(t, Tensor)]
        if info.kind != "bilinear" or not on_meta(given[0]):  # PyTorch's products do not check their second factor
            check_devices(info.name, tensors)
        if info.kind == "binary":
            return info.op(*map(to_meta, given))
        if len({plain_dtype(t._payload.dtype) for t in given}) > 1:
            return info.refuse_mixed(info, *args)
        return info.op(*[to_meta(t) if isinstance(t, Tensor) else t for t in args])


_ARRAY_NAMES = frozenset(name for name in dir(np.ndarray) if not name.startswith("__"))
XP[Meta] = TRANSFORMED


# ---- refusals
def no_data() -> NotImplementedError:
    """PyTorch's error for a function that needs elements."""
    return noted(
        NotImplementedError("Cannot copy out of meta tensor; no data!"),
        "Why: a tensor on device 'meta' has a shape and a dtype and no elements.",
        "What to do: torch.empty_like(t, device='cpu') makes one to be filled; of a module, to_empty(device='cpu').",
    )


def no_numpy(place: Any) -> TypeError:
    """PyTorch's error for NumPy's function on a tensor that is not on the CPU."""
    return TypeError(
        f"can't convert {place} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
    )


def no_item() -> RuntimeError:
    """PyTorch's error for ``item``."""
    return RuntimeError("Tensor.item() cannot be called on meta tensors")


def no_kernel(name: str) -> NotImplementedError:
    """PyTorch's error for an operator whose result's shape depends on elements."""
    return NotImplementedError(
        f"aten::{name}: attempted to run this operator with Meta tensors, but there was no fake impl or Meta kernel "
        "registered. You may have run into this message while using an operator with PT2 compilation APIs "
        "(torch.compile/torch.export); in order to use this operator with those APIs you'll need to add a fake impl. "
        "Please see the following for next steps:  "
        "https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html"
    )


def no_places() -> NotImplementedError:
    """PyTorch's error for ``nonzero``, and for an index that is a mask."""
    return NotImplementedError(
        "The register_meta function for torch.nonzero() raises unimplemented by default, as a correct data-independent "
        "implementation does not exist. This implementation returns a fake value, assuming all elements of the tensor "
        "are non-zero. To enable this registration, please set "
        "'torch.fx.experimental._config.meta_nonzero_assume_all_nonzero' to True."
    )


INDEXING = frozenset(
    ("index", "gather", "_take_along", "embedding", "index_put", "scatter", "scatter_add", "copy", "fill_number",
     "_put_along", "gather_back", "index_back", "_searchsorted")
)  # fmt: skip  # PyTorch accepts index tensors and written values from the CPU too


def two_devices(one: Any, other: Any) -> RuntimeError:
    """PyTorch's error for operands on two devices."""
    return noted(
        RuntimeError(
            f"Expected all tensors to be on the same device, but found at least two devices, {one} and {other}!"
        ),
        "What to do: move one of them with .to(device).",
    )


def check_devices(name: str, tensors: Any) -> None:
    """Raise for tensors on several devices; a 0-dimensional tensor may be on the CPU beside tensors elsewhere."""
    given = [t._payload if isinstance(t, Tensor) else t for t in tensors if hasattr(t, "dtype")]
    places = [str(device_of(a)) for a in given]
    if len(set(places)) < 2 or (name in INDEXING and places[0] != "cpu"):
        return
    if "meta" not in places:
        away = next(p for p in places if p != "cpu")
        for place, a in zip(places, given, strict=True):
            if place != away and (a.ndim or place != "cpu"):
                raise two_devices(away, place)
        return
    first = next(p for p, a in zip(places, given, strict=True) if p == "meta" or a.ndim)
    for place, a in zip(places, given, strict=True):
        if place != first and (a.ndim or place == "meta"):
            raise noted(
                RuntimeError(f"Tensor on device {place} is not on the expected device {first}!"),
                "Why: a tensor on device 'meta' has no elements to compute with.",
                "What to do: make both on one device, or move the one with elements by .to('meta').",
            )


def on_meta(a: Any) -> bool:
    """Whether a payload, or the payload inside a transform's value, has no data."""
    if type(a) is Tensor:
        a = a._payload
    return type(a) is not np.ndarray and device_of(a) is META


# ---- layout
def refuse_overflow(shape: tuple[int, ...]) -> None:
    """Raise PyTorch's error for a size with more elements than can be counted, though nothing is allocated for them."""
    count = 1
    for n in shape:
        count *= n
        if count >= 1 << 63:
            raise RuntimeError("numel: integer multiplication overflow")


def dense_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """The strides in bytes of an array in row-major order."""
    if math.prod([max(n, 1) for n in shape]) * itemsize >= 1 << 63:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)}")
    return row_major_strides(shape, itemsize)


def _extent(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> int:
    """The number of bytes that an array with these strides spans."""
    if 0 in shape:
        return 0
    return itemsize + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))


def is_contiguous(a: Meta, order: tuple[int, ...] | None = None) -> bool:
    """Whether the elements are in row-major order with the dims in this order."""
    step = a.itemsize
    for d in reversed(range(a.ndim) if order is None else order):
        if a.shape[d] != 1:
            if a.strides[d] != step:
                return a.size == 0
            step *= a.shape[d]
    return True


def laid_out(a: Meta, memory_format: Any) -> bool:
    """Whether the elements are in this memory format."""
    if memory_format in (dtypes.channels_last, dtypes.channels_last_3d):
        rank = 4 if memory_format is dtypes.channels_last else 5
        return a.ndim == rank and is_contiguous(a, (0, *range(2, rank), 1))
    return is_contiguous(a)


def in_order(shape: tuple[int, ...], dtype: Any, order: Any) -> Meta:
    """A dense array with the dims in this order in memory, outermost first."""
    itemsize = plain_dtype(dtype).itemsize
    inner = dense_strides(tuple(shape[d] for d in order), itemsize)
    strides = [0] * len(shape)
    for d, s in zip(order, inner, strict=True):
        strides[d] = s
    return Meta(shape, dtype, tuple(strides))


def like(a: Any, dtype: Any = None) -> Meta:
    """A dense array with the shape and the order of dims of another."""
    dtype = a.dtype if dtype is None else dtype
    if not isinstance(a, Meta) or is_contiguous(a):
        return Meta(a.shape, dtype)
    return in_order(a.shape, dtype, memory_order(a))


def restrided(a: Meta, shape: tuple[int, ...]) -> Meta | None:
    """The same memory in another shape, ``None`` if no strides fit (``computeStride`` of ATen's TensorUtils)."""
    if a.size == 0:
        return Meta(shape, a.dtype, None, a.memory, a.offset)
    strides = [0] * len(shape)
    at = len(shape) - 1
    chunk, seen = a.strides[-1] if a.ndim else a.itemsize, 1
    count = 1
    for d in range(a.ndim - 1, -1, -1):
        count *= a.shape[d]
        if d == 0 or (a.shape[d - 1] != 1 and a.strides[d - 1] != count * chunk):
            while at >= 0 and (seen < count or shape[at] == 1):
                strides[at] = seen * chunk
                seen *= shape[at]
                at -= 1
            if seen != count:
                return None
            if d:
                chunk = a.strides[d - 1]
                count = seen = 1
    for k in range(at, -1, -1):  # for a 0-dimensional tensor
        strides[k] = a.itemsize
    return Meta(shape, a.dtype, tuple(strides), a.memory, a.offset)


class _Interface:
    def __init__(self, interface: dict[str, Any]) -> None:
        self.__array_interface__ = interface


# An unmapped address: a read would crash the process, so such arrays are only viewed.
_NOWHERE = 1 << (44 if sys.maxsize >> 32 else 28)


def _ghost(a: Meta) -> Any:
    """An array with the shape and strides and without memory, from which NumPy makes views."""
    dtype = plain_dtype(a.dtype)
    typestr = f"|V{dtype.itemsize}" if dtype.kind == "V" else dtype.str
    r = np.asarray(
        _Interface(
            {"shape": a.shape, "typestr": typestr, "data": (_NOWHERE, False), "strides": a.strides, "version": 3}
        )
    )
    return r if dtype.kind != "V" else r.view(dtype)


def _seen(a: Meta, r: Any) -> Meta:
    """Convert a view of a ghost to a view of ``a``."""
    address = r.__array_interface__["data"][0] if r.size else _NOWHERE
    return Meta(r.shape, r.dtype, r.strides, a.memory, a.offset + address - _NOWHERE)


def strides_of_view(base: Any, chain: tuple[Any, ...]) -> tuple[int, ...]:
    """The strides in bytes of the view that a chain of view operators shows of an array.

    NumPy leaves the strides of new dims of size 1 at 0; so the chain is replayed, and they are computed at each step.
    """
    a = Meta(base.shape, base.dtype, shown_strides(base.shape, known_strides(base), base.itemsize))
    for name, p in chain:
        info = REGISTRY[name]
        a = _view(info, a, p) if info.outputs == 1 else _view(info, a, p[:-1])[p[-1]]
    return a.strides


def whole(a: Meta) -> Meta:
    """The whole memory behind an array, as one dimension."""
    return Meta((a.memory.nbytes // a.itemsize,), a.dtype, None, a.memory)


def to_meta(t: Tensor) -> Tensor:
    """A tensor with the same shape and strides, without data and history."""
    a = t._payload
    if isinstance(a, Meta):
        return t
    return wrap(taken(np.asarray(a)))


def taken(a: Any) -> Meta:
    """The ``Meta`` of an array."""
    return like(Meta(a.shape, a.dtype, a.strides))


# ---- computing
def computed(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
    """The result of an operator on payloads if some have no data."""
    from .meta_rules import REFUSED, rule_for

    if info.name in REFUSED:
        raise no_kernel(REFUSED[info.name])
    if info.view:
        return _view(info, operands[0], p)
    rule = rule_for(info)
    if rule is not None:
        r = rule(info, operands, p)
        if r is not None:
            return r
    if max((a.size for a in operands if isinstance(a, Meta)), default=0) > _LARGE:
        raise noted(
            NotImplementedError(f"{info.name}: what comes out is not known of tensors of so many elements"),
            "Why: on 'meta' the operator is run on an array of the same shape, which would take too much memory.",
        )
    try:
        return forgotten(info, run(info, [stand_in(a) for a in operands], p))
    except LinAlgError:  # a matrix of ones has no inverse
        return forgotten(info, run(info, [_regular(stand_in(a)) for a in operands], p))


Meta.computed = staticmethod(computed)


def _regular(a: Any) -> Any:
    """An invertible matrix, in place of a matrix of ones."""
    if getattr(a, "ndim", 0) < 2 or a.dtype.kind not in "fc":
        return a
    return np.broadcast_to(np.eye(*a.shape[-2:], dtype=a.dtype), a.shape)


def run(info: Operator, operands: list[Any], p: tuple[Any, ...]) -> Any:
    """Run the operator on tensors of these arrays, with the usual promotion, treatment of integers and errors."""
    lifted = [wrap(a) if isinstance(a, (np.ndarray, np.generic)) else a for a in operands]
    with np.errstate(all="ignore"):
        out = info.core(*lifted, *p) if info.arity >= 0 else info.core(lifted, *p)
    return out._payload if info.outputs == 1 else tuple(o._payload for o in out)


def forgotten(info: Operator, out: Any) -> Any:
    """Convert results to payloads without elements."""
    return tuple(map(taken, out)) if isinstance(out, tuple) else taken(out)


_SMALL = 1 << 16
_LARGE = 1 << 26


def stand_in(a: Any, shape: tuple[int, ...] | None = None, one: bool = False) -> Any:
    """An array in place of a payload without data: of ones, or of zeros if it may be an index."""
    if not isinstance(a, Meta):
        if shape is None or not isinstance(a, np.ndarray):
            return a
        return np.ones(shape, a.dtype)
    dtype = plain_dtype(a.dtype)
    value = np.array(one or dtype.kind in "fcV").astype(dtype)
    if shape is None and a.size <= _SMALL and not is_contiguous(a) and a.size:
        r = _empty_in_order(a)
        r[...] = value
        return r
    shape = a.shape if shape is None else shape
    return np.full(shape, value, dtype) if math.prod(shape) <= _SMALL else np.broadcast_to(value, shape)


def _empty_in_order(a: Meta) -> Any:
    order = memory_order(a)
    r = np.empty([a.shape[d] for d in order], plain_dtype(a.dtype))
    return r.transpose([order.index(d) for d in range(a.ndim)])


def _expanded_strides(a: Meta, size: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of ``a`` expanded to a size (``inferExpandGeometry`` of ATen's ExpandUtils)."""
    lead = len(size) - a.ndim
    if not a.ndim:
        return (0,) * lead
    strides = [0 if n != m else s for n, m, s in zip(a.shape, size[lead:], a.strides, strict=True)]
    for n in reversed(size[:lead]):
        strides.insert(0, strides[0] * size[len(size) - len(strides)] if n == 1 else 0)
    return tuple(strides)


def _view(info: Operator, a: Meta, p: tuple[Any, ...]) -> Any:
    name = info.name
    if name == "view":
        seen = restrided(a, tuple(p[0]))
        return Meta(tuple(p[0]), a.dtype) if seen is None else seen
    if name == "as_strided_view":
        size, stride, offset, _ = p
        step = a.itemsize
        return Meta(size, a.dtype, tuple(s * step for s in stride), a.memory, a.offset + offset * step)
    if name == "view_as_real":
        real = np.dtype(f"f{a.itemsize // 2}")
        return Meta((*a.shape, 2), real, (*a.strides, real.itemsize), a.memory, a.offset)
    if name == "view_as_complex":
        return Meta(a.shape[:-1], np.dtype(f"c{a.itemsize * 2}"), a.strides[:-1], a.memory, a.offset)
    if name == "unsqueeze_dim":
        d = p[0]
        step = a.strides[d] * a.shape[d] if d < a.ndim else a.itemsize
        shape, strides = (*a.shape[:d], 1, *a.shape[d:]), (*a.strides[:d], step, *a.strides[d:])
        return Meta(shape, a.dtype, strides, a.memory, a.offset)
    if name == "expand":
        return Meta(p[0], a.dtype, _expanded_strides(a, p[0]), a.memory, a.offset)
    if name in CONJUGATES:  # they compute, and a ghost has no elements
        return a
    r = getattr(ARRAYS, name)(_ghost(a), *p)
    return _seen(a, r) if info.outputs == 1 else tuple(_seen(a, each) for each in r)
