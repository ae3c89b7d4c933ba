"""The operators on chains of views (``_tape.view_chain``), which carry cotangents through the chains."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._arrays.layouts import as_like, keeping
from ..._base.registry import REGISTRY, TENSORS, Operator, plain_body
from ..._kinds.general import general
from ..._kinds.linear import linear
from ..._tape.tensor import Tensor
from ..._tape.view_chain import CONJUGATES, REPEATING, replay


def lifted(info: Operator, shape: tuple[int, ...], p: tuple[Any, ...], size: int) -> Any:
    """The batched form of a view operator for ``size`` elements of a batch, as steps (see ``Lifted``)."""
    if info.batch == "shape" or info.name in CONJUGATES:  # the parameters do not depend on the rank
        return ((info.name, p),)
    return info.batch.lift(info.name, shape, p, size)


def _lifted_chain(shape: tuple[int, ...], chain: Any, size: int) -> tuple[Any, ...]:
    """The batched form of ``chain`` for ``size`` elements of a batch."""
    steps: list[Any] = []
    x = np.empty(shape, _base_dtype(np.dtype(np.float32), chain))
    for step in chain:
        name, p = step
        info = REGISTRY[name]
        several = info.outputs != 1
        more = lifted(info, x.shape, p[:-1] if several else p, size)
        steps += more[:-1]
        last, q = more[-1]
        steps.append((last, (*q, p[-1]) if several else q))
        x = replay(x, (step,))
    return tuple(steps)


def _batch_gather(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    x = inner[0]
    return U.view_gather(x, _lifted_chain(tuple(x.shape[1:]), p[0], x.shape[0]))


def _batch_scatter(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    from ..._payloads.batching import batch_size

    size = batch_size(inner, mine)
    base, src = (x if m else U.expand(x, (size, *x.shape)) for x, m in zip(inner, mine, strict=True))
    return U.view_scatter(base, src, _lifted_chain(tuple(base.shape[1:]), p[0], size))


_CHAIN = (("select", (0, 1)), ("slice_dim", (0, 1, 4, 2)))
_REORDERED = (("permute", ((1, 0),)), ("view", ((6,),)))
_REPEATED = (("select", (1, 0)), ("expand", ((2, 3),)))
_WINDOWS = (("unfold_view", (0, 3, 1)),)


@linear(
    transpose=lambda xp, g, self_shape, chain: xp.view_scatter_zeros(g, self_shape, chain),
    batch=_batch_gather,
    samples=[((3, 4), (_CHAIN,)), ((2, 3), (_REORDERED,)), ((3, 1), (_REPEATED,)), ((5,), (_WINDOWS,))],
)
def view_gather(lib, self, chain):
    """Apply a chain of view operators to a tensor."""
    return replay(self, chain)


@linear(
    transpose=lambda xp, g, size, chain: xp.view_gather(g, chain),
    batch=lambda U, info, inner, mine, p: U.view_scatter_zeros(
        inner[0], (inner[0].shape[0], *p[0]), _lifted_chain(p[0], p[1], inner[0].shape[0])
    ),
    samples=[
        ((2,), ((3, 4), _CHAIN)),
        ((6,), ((2, 3), _REORDERED)),
        ((2, 3), ((3, 1), _REPEATED)),
        ((3, 3), ((5,), _WINDOWS)),
    ],
)
def view_scatter_zeros(lib, self, size, chain):
    """The transpose of ``view_gather``: zeros outside the part that the chain shows; repeated elements add up."""
    r = lib.zeros(size, _base_dtype(self.dtype, chain))
    part = replay(r, chain)
    if lib.may_share_memory(part, r) and part.flags.writeable and REPEATING.isdisjoint(name for name, _ in chain):
        part[...] = self
    elif part.size:
        places, signs, shown = _places(r, chain)
        lib.add.at(_components(r), places, _components(lib.asarray(self))[shown] * signs)
    return r


@plain_body
def plain_view_scatter_zeros(lib, self, size, chain):
    r = lib.zeros(size, _base_dtype(self.dtype, chain))
    if REPEATING.isdisjoint([name for name, _ in chain]):
        part = replay(r, chain)
        if lib.may_share_memory(part, r):
            part[...] = self
            return r
    places, signs, shown = _plain_places(lib, r, chain)
    if places.size:
        lib.add_at(_plain_components(r), places, _plain_components(self)[shown] * signs)
    return r


def _base_dtype(dtype: Any, chain: Any) -> Any:
    """The dtype of the first tensor of a chain of views whose last one has ``dtype``."""
    for name, _ in chain:
        if name == "view_as_real":
            return np.result_type(dtype, np.complex64)
        if name == "view_as_complex":
            return np.empty(0, dtype).real.dtype
    return dtype


def _components(a: Any) -> Any:
    """The flat real elements of an array, two for each complex one; a view if the array is C-contiguous."""
    flat = a.reshape(-1)
    return np.ascontiguousarray(flat).view(flat.real.dtype) if flat.dtype.kind == "c" else flat


def _places(a: Any, chain: Any) -> Any:
    """The flat indices of the components of ``a`` that a chain of views shows, the sign of each, and which these are.

    A strided view may show what lies between the elements, which is none of them.
    """
    count = a.size * (2 if a.dtype.kind == "c" else 1)
    numbers = np.arange(1, count + 1, dtype=np.float64)
    numbers = (numbers.view(np.complex128) if a.dtype.kind == "c" else numbers).reshape(a.shape)
    found = _components(np.ascontiguousarray(replay(numbers, chain)))
    shown = np.flatnonzero(found)
    found = found[shown]
    return np.abs(found).astype(np.int64) - 1, np.where(found < 0, -1, 1).astype(a.real.dtype), shown


@general(
    layout=keeping,
    tensors=2,
    grad={
        "base": lambda xp, g, chain: xp.view_scatter(g, xp.zeros_like(xp.view_gather(g, chain)), chain),
        "src": lambda xp, g, chain: xp.view_gather(g, chain),
    },
    jvp=lambda xp, tangents, result, base, src, chain: xp.view_scatter(
        *(xp.zeros_like(x) if t is None else t for x, t in zip((base, src), tangents, strict=True)), chain
    ),
    holomorphic=False,
    batch=_batch_scatter,
    samples=[((3, 4), (2,), (_CHAIN,)), ((2, 3), (6,), (_REORDERED,))],
)
def view_scatter(lib, base, src, chain):
    """A copy of ``base`` with ``src`` in the part that a chain of view operators shows."""
    r = lib.array(base, order="C")
    part = replay(r, chain)
    if lib.may_share_memory(part, r) and part.flags.writeable:
        part[...] = src
    elif part.size:  # the chain is no view of memory in this order: find the elements by their flat indices
        places, signs, shown = _places(r, chain)
        _components(r)[places] = _components(lib.broadcast_to(src, part.shape))[shown] * signs
    return r


@plain_body
def plain_view_scatter(lib, base, src, chain):
    r = lib.ascontiguousarray(base).copy()
    part = replay(r, chain)
    if lib.may_share_memory(part, r):
        part[...] = src
    elif part.size:
        places, signs, shown = _plain_places(lib, r, chain)
        _plain_components(r)[places] = _plain_components(lib.broadcast_to(src, part.shape))[shown] * signs
    return r


def _plain_places(lib: Any, a: Any, chain: Any) -> Any:
    return tuple(map(lib.table, _places(np.broadcast_to(np.zeros((), a.dtype), a.shape), chain)))


def _plain_components(a: Any) -> Any:
    flat = a.reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat


@general(batch="elementwise", samples=[((2, 3), ()), ((), ())], dtypes="fcib")
def zeros_like(lib, self):
    """Zeros of the tensor's shape and dtype, in its order."""
    r = lib.zeros(self.shape, self.dtype)
    return r if type(self) is not np.ndarray or self.flags.c_contiguous else as_like(self, r)


def _view_gather_recorded(self: Tensor, chain: Any) -> Tensor:
    """``xp.view_gather`` on Tensors: the views themselves."""
    for name, p in chain:
        info = REGISTRY[name]
        self = info.op(self, *p) if info.outputs == 1 else info.op(self, *p[:-1])[p[-1]]
    return self


TENSORS.view_gather = _view_gather_recorded
