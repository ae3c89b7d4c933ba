"""Pooling: the largest element, the mean or a p-norm of windows, of fixed sizes or as many as are wanted.

The primitives work on the last dimensions whatever stands in front of them. A maximum keeps where it was found (an
index into the flattened last dimensions); its derivative scatters to there, and the transpose of that gathers. A mean
is linear and separable: it is taken along one dimension after the other.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import numpy as np

from .._dispatch import logical_dtype
from .._general import general, named_by
from .._kinds import linear
from .._registry import REGISTRY, T, public
from .._tensor import Tensor
from .matmul import dtype_name

Ints = tuple[int, ...]


# ----------------------------------------------------------------------------------------------------------------- geometry
def pooled_size(size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool) -> Ints:
    """How many windows there are along each dimension; with ``ceil_mode`` the last one may reach over the edge."""
    found = []
    for n, k, s, p, d in zip(size, kernel, stride, padding, dilation, strict=True):
        room = n + 2 * p - d * (k - 1) - 1
        out = (room + (s - 1 if ceil_mode else 0)) // s + 1
        if ceil_mode and (out - 1) * s >= n + p:
            out -= 1
        found.append(out)
    return tuple(found)


def _reach(out: Ints, kernel: Ints, stride: Ints, dilation: Ints) -> Ints:
    """How many elements of the padded input the windows cover."""
    return tuple((o - 1) * s + d * (k - 1) + 1 for o, k, s, d in zip(out, kernel, stride, dilation, strict=True))


def _filled(x: Any, padding: Ints, reach: Ints, value: Any) -> Any:
    """The input with ``value`` around it, as far as windows reach."""
    k = len(padding)
    size = x.shape[-k:]
    if not any(padding) and all(r <= n for r, n in zip(reach, size, strict=True)):
        return x
    shape = tuple(max(r, n + p) for r, n, p in zip(reach, size, padding, strict=True))
    r = np.empty((*x.shape[:-k], *shape), x.dtype)
    r.fill(value)
    r[(..., *(slice(p, p + n) for n, p in zip(size, padding, strict=True)))] = x
    return r


def _places(offset: Ints, out: Ints, stride: Ints, dilation: Ints) -> tuple[Any, ...]:
    """Where one element of every window is."""
    return (
        ...,
        *(slice(o * d, o * d + (n - 1) * s + 1, s) for o, d, s, n in zip(offset, dilation, stride, out, strict=True)),
    )


# ------------------------------------------------------------------------------------------------------------------- maxima
def _lowest(dtype: Any) -> Any:
    return -math.inf if dtype.kind in "fV" else np.iinfo(dtype).min


@functools.lru_cache(256)
def _first_inside(out: Ints, stride: Ints, padding: Ints, dilation: Ints, kernel: Ints) -> Any:
    """For each window the number of its first element that is no padding."""
    number = np.zeros(out, np.intp)
    for i, (n, s, p, d) in enumerate(zip(out, stride, padding, dilation, strict=True)):
        first = np.maximum(0, -((np.arange(n) * s - p) // d))
        number += (first * math.prod(kernel[i + 1 :])).reshape(-1, *(1,) * (len(out) - 1 - i))
    return number


@functools.lru_cache(256)
def _index_tables(size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, out: Ints) -> tuple[Any, Any]:
    """Flat indices: of each window's corner, and of each of its elements relative to that."""
    corner = np.zeros(out, np.int64)
    relative = np.zeros(kernel, np.int64)
    for i in range(len(size)):
        step = math.prod(size[i + 1 :])
        ones = (1,) * (len(size) - 1 - i)
        corner += ((np.arange(out[i]) * stride[i] - padding[i]) * step).reshape(-1, *ones)
        relative += (np.arange(kernel[i]) * dilation[i] * step).reshape(-1, *ones)
    return corner, relative.reshape(-1)


def window_maxima(x: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, out: Ints) -> tuple[Any, Any]:
    """The largest element of each window and its flat index; nan is larger than everything."""
    k = len(kernel)
    padded = _filled(x, padding, _reach(out, kernel, stride, dilation), _lowest(x.dtype))
    shape = (*x.shape[:-k], *out)
    counter = np.uint8 if math.prod(kernel) <= 255 else np.uint32
    which = np.empty(shape, counter)
    which[...] = _first_inside(out, stride, padding, dilation, kernel)
    best = padded[_places((0,) * k, out, stride, dilation)].copy()
    nans = x.dtype.kind == "f" and bool(x.size) and bool(np.isnan(np.maximum.reduce(x, None)))
    for number, offset in enumerate(itertools.product(*map(range, kernel))):
        if not number:
            if nans:
                which[np.isnan(best)] = 0
            continue
        candidate = padded[_places(offset, out, stride, dilation)]
        better = candidate > best
        if nans:
            better |= np.isnan(candidate)
        np.maximum(best, candidate, best)
        # numbers grow, so the last one that was better is the largest: no masked copy is needed
        np.maximum(which, np.multiply(better.view(np.uint8), counter(number), dtype=counter), which)
    corner, relative = _index_tables(x.shape[-k:], kernel, stride, padding, dilation, out)
    index = relative.take(which)
    index += corner
    return best, index


def _apart(kernel: Ints, stride: Ints, dilation: Ints) -> bool:
    """Whether each window ends before the next one begins."""
    return all(d * (k - 1) < s for k, s, d in zip(kernel, stride, dilation, strict=True))


_MAX_SAMPLES = [
    ((2, 3, 4), ((2,), (2,), (0,), (1,), (2,))),
    ((1, 2, 4, 5), ((2, 3), (1, 2), (1, 1), (1, 1), (5, 3))),
    ((2, 5, 5), ((2, 2), (2, 2), (0, 0), (2, 1), (2, 2))),
    ((1, 1, 3, 3, 3), ((2, 2, 2), (1, 1, 1), (0, 0, 0), (1, 1, 1), (2, 2, 2))),
]


def _same(U: Any, info: Any, inner: Any, mine: Any, p: Any) -> Any:
    """What stands in front of the last dimensions does not matter."""
    return getattr(U, info.name)(*inner, *p)


def _distinct(shapes: Any) -> Any:
    """Samples whose elements all differ clearly: a maximum has no derivative where two are equal."""

    def samples(rng: Any) -> Any:
        return [((rng.permutation(math.prod(s)).reshape(s) * 0.25,), p) for s, p in shapes]

    return samples


@general(
    grad=lambda xp, g, self_shape, result1, kernel, stride, padding, dilation, out: xp.pool_scatter(
        g, result1, tuple(self_shape[-len(kernel) :]), _apart(kernel, stride, dilation)
    ),
    jvp=lambda xp, tangents, result, self, kernel, stride, padding, dilation, out: (
        xp.pool_gather(tangents[0], result[1], len(kernel)),
        None,
    ),
    outputs=2,
    differentiable=(True, False),
    batch=_same,
    node="MaxPool2DWithIndicesBackward0",
    dtypes="fi",
    samples=_distinct(_MAX_SAMPLES),
)
def max_windows(lib, self, kernel, stride, padding, dilation, out):
    """The largest element of each window, and where it is."""
    return window_maxima(self, kernel, stride, padding, dilation, out)


def _adaptive_edges(n: int, out: int) -> list[tuple[int, int]]:
    """The windows that divide n elements into ``out`` parts; they overlap by one where they must."""
    return [(i * n // out, -(-(i + 1) * n // out)) for i in range(out)]


@general(
    grad=lambda xp, g, self_shape, result1, out: xp.pool_scatter(
        g, result1, tuple(self_shape[-len(out) :]), False
    ),
    jvp=lambda xp, tangents, result, self, out: (xp.pool_gather(tangents[0], result[1], len(out)), None),
    outputs=2,
    differentiable=(True, False),
    batch=_same,
    node="AdaptiveMaxPool2DBackward0",
    dtypes="fi",
    samples=_distinct([((2, 5), ((3,),)), ((2, 4, 5), ((3, 2),)), ((1, 2, 3, 3, 4), ((2, 2, 2),))]),
)
def max_parts(lib, self, out):
    """The largest element of each of ``out`` parts, and where it is."""
    k = len(out)
    size = self.shape[-k:]
    values = np.empty((*self.shape[:-k], *out), self.dtype)
    index = np.empty(values.shape, np.int64)
    edges = [_adaptive_edges(n, o) for n, o in zip(size, out, strict=True)]
    for place in itertools.product(*map(range, out)):
        spans = [e[i] for e, i in zip(edges, place, strict=True)]
        part = self[(..., *(slice(*s) for s in spans))]
        shape = part.shape[-k:]
        flat = part.reshape(*part.shape[:-k], -1)
        where = flat.argmax(-1)  # NumPy's finds the first nan, PyTorch's the last: only with nan do they differ
        coordinates = np.unravel_index(where, shape)
        values[(..., *place)] = np.take_along_axis(flat, where[..., None], -1)[..., 0]
        index[(..., *place)] = np.ravel_multi_index(
            tuple(c + s[0] for c, s in zip(coordinates, spans, strict=True)), size
        )
    return values, index


@general(
    grad={"g": lambda xp, h, indices, size, unique: xp.pool_gather(h, indices, len(size))},
    tensors=2,
    batch="shape",
    dtypes="fci",
    samples=lambda rng: [
        ((rng.standard_normal((2, 3)), rng.integers(0, 5, (2, 3))), ((5,), False)),
        ((rng.standard_normal((2, 2, 2)), rng.integers(0, 12, (2, 2, 2))), ((3, 4), False)),
        ((rng.standard_normal((2, 3)), np.array([[0, 2, 1], [4, 0, 3]])), ((5,), True)),
    ],
)
def pool_scatter(lib, g, indices, size, unique):
    """Zeros of ``size`` with each element of g added where its index says; ``unique``: no two at the same place."""
    k = len(size)
    lead = g.shape[: g.ndim - k]
    rows, n = math.prod(lead), math.prod(size)
    flat = indices.reshape(rows, -1) + (lib.arange(rows) * n)[:, None]
    if unique:
        r = lib.zeros(rows * n, g.dtype)
        r[flat.reshape(-1)] = g.reshape(-1)
    elif g.dtype.kind == "f" and g.size:
        r = lib.bincount(flat.reshape(-1), g.reshape(-1), rows * n).astype(g.dtype, copy=False)
    else:
        r = lib.zeros(rows * n, g.dtype)
        lib.add.at(r, flat.reshape(-1), g.reshape(-1))
    return r.reshape(*lead, *size)


@general(
    grad={
        "self": lambda xp, g, self_shape, indices, rank: xp.pool_scatter(
            g, indices, tuple(self_shape[-rank:]), False
        ),
    },
    tensors=2,
    batch="shape",
    dtypes="fci",
    samples=lambda rng: [
        ((rng.standard_normal((2, 5)), rng.integers(0, 5, (2, 3))), (1,)),
        ((rng.standard_normal((2, 3, 4)), rng.integers(0, 12, (2, 2, 2))), (2,)),
    ],
)
def pool_gather(lib, self, indices, rank):
    """The elements of the last ``rank`` dimensions that the flat indices name."""
    lead = self.shape[: self.ndim - rank]
    flat = indices.reshape(*lead, -1)
    return lib.take_along_axis(self.reshape(*lead, -1), flat, -1).reshape(indices.shape)


@general(
    grad={"self": lambda xp, g, indices, size: xp.pool_gather(g, indices, len(size))},
    tensors=2,
    batch="shape",
    node="MaxUnpool2DBackward0",
    dtypes="fi",
    samples=lambda rng: [
        ((rng.standard_normal((2, 3)), np.stack([rng.permutation(6)[:3] for _ in range(2)])), ((6,),)),
        ((rng.standard_normal((1, 2, 2)), rng.permutation(12)[:4].reshape(1, 2, 2)), ((3, 4),)),
    ],
)
def unpool(lib, self, indices, size):
    """Zeros of ``size`` with each element put where its index says."""
    lead = self.shape[: self.ndim - len(size)]
    rows, n = math.prod(lead), math.prod(size)
    r = lib.zeros((rows, n), self.dtype)
    lib.put_along_axis(r, indices.reshape(rows, -1), self.reshape(rows, -1), 1)
    return r.reshape(*lead, *size)


named_by("max_windows", "kernel", lambda kernel: f"MaxPool{len(kernel)}DWithIndicesBackward0")
named_by("max_parts", "out", lambda out: f"AdaptiveMaxPool{len(out)}DBackward0")
named_by("unpool", "size", lambda size: f"MaxUnpool{len(size)}DBackward0")


# -------------------------------------------------------------------------------------------------------------------- means
@functools.lru_cache(256)
def _divisors(
    size: Ints, kernel: Ints, stride: Ints, padding: Ints, out: Ints, include_pad: bool, override: int | None, dtype: str
) -> Any:
    """By what each window's sum is divided: how many elements it has inside the (padded) input."""
    if override is not None:
        return np.array(override, dtype)
    total = np.ones((), dtype)
    for i, (n, k, s, p, o) in enumerate(zip(size, kernel, stride, padding, out, strict=True)):
        start = np.arange(o) * s - p
        end = np.minimum(start + k, n + p)
        if not include_pad:
            start, end = np.maximum(start, 0), np.minimum(end, n)
        total = total * (end - start).astype(dtype).reshape(-1, *(1,) * (len(size) - 1 - i))
    return total.reshape(1)[0] if total.size and (total == total.flat[0]).all() and total.size == 1 else total


_AVG_SAMPLES = [
    ((2, 3, 4), ((2,), (2,), (0,), (2,), True, None)),
    ((1, 2, 4, 5), ((2, 3), (1, 2), (1, 1), (5, 3), True, None)),
    ((1, 2, 4, 5), ((2, 3), (1, 2), (1, 1), (5, 3), False, None)),
    ((2, 5, 5), ((2, 2), (2, 2), (0, 0), (3, 3), True, None)),
    ((2, 4, 4), ((2, 2), (2, 2), (0, 0), (2, 2), True, 3)),
    ((1, 1, 3, 3, 3), ((2, 2, 2), (1, 1, 1), (0, 0, 0), (2, 2, 2), True, None)),
]


@linear(
    transpose=lambda xp, g, self_shape, kernel, stride, padding, out, include_pad, override: xp.mean_windows_backward(
        g, tuple(self_shape[-len(kernel) :]), kernel, stride, padding, include_pad, override
    ),
    node="AvgPool2DBackward0",
    batch=_same,
    dtypes="f",
    samples=_AVG_SAMPLES,
)
def mean_windows(lib, self, kernel, stride, padding, out, include_pad, override):
    """The mean of each window."""
    k = len(kernel)
    size = self.shape[-k:]
    narrow = self.dtype.itemsize == 2 and self.dtype.kind in "fV"
    x = self.astype(np.float32) if narrow else self
    ones = (1,) * k
    x = _filled(x, padding, _reach(out, kernel, stride, ones), 0)
    for i in range(k):
        offset = (slice(None),) * (k - 1 - i)
        r = None
        for j in range(kernel[i]):
            part = x[(..., slice(j, j + (out[i] - 1) * stride[i] + 1, stride[i]), *offset)]
            r = part.copy() if r is None else np.add(r, part, r)
        x = r
    divisor = _divisors(size, kernel, stride, padding, out, include_pad, override, x.dtype.name)
    if x.dtype.kind in "iu":
        return (x / divisor).astype(x.dtype)  # rounded towards zero, as in PyTorch
    np.divide(x, divisor, x)
    return x.astype(self.dtype) if narrow else x


@linear(
    transpose=lambda xp, g, self_shape, size, kernel, stride, padding, include_pad, override: xp.mean_windows(
        g, kernel, stride, padding, tuple(self_shape[-len(kernel) :]), include_pad, override
    ),
    batch=_same,
    dtypes="f",
    samples=[
        ((*s[: -len(p[0])], *p[3]), (s[-len(p[0]) :], p[0], p[1], p[2], p[4], p[5])) for s, p in _AVG_SAMPLES
    ],
)
def mean_windows_backward(lib, self, size, kernel, stride, padding, include_pad, override):
    """The transpose of ``mean_windows``: each window's share to all of its elements."""
    k = len(kernel)
    out = self.shape[-k:]
    g = self / _divisors(size, kernel, stride, padding, out, include_pad, override, self.dtype.name)
    for i in range(k):
        d = g.ndim - k + i
        reach = max((out[i] - 1) * stride[i] + kernel[i], size[i] + padding[i])
        r = lib.zeros((*g.shape[:d], reach, *g.shape[d + 1 :]), g.dtype)
        for j in range(kernel[i]):
            r[(slice(None),) * d + (slice(j, j + (out[i] - 1) * stride[i] + 1, stride[i]),)] += g
        g = r[(slice(None),) * d + (slice(padding[i], padding[i] + size[i]),)]
    return g


@linear(
    transpose=lambda xp, g, self_shape, out: xp.mean_parts_backward(g, tuple(self_shape[-len(out) :])),
    node="AdaptiveAvgPool2DBackward0",
    batch=_same,
    dtypes="f",
    samples=[((2, 5), ((3,),)), ((2, 4, 6), ((3, 2),)), ((1, 2, 3, 3, 4), ((2, 2, 2),)), ((2, 3, 3), ((5, 2),))],
)
def mean_parts(lib, self, out):
    """The mean of each of ``out`` parts."""
    k = len(out)
    x = self
    for i, o in enumerate(out):
        d = x.ndim - k + i
        n = x.shape[d]
        if o == n:
            continue
        if o and n % o == 0:
            split = x.reshape(*x.shape[:d], o, n // o, *x.shape[d + 1 :])
            x = lib.add.reduce(split, d + 1) / (n // o)
        else:
            r = lib.empty((*x.shape[:d], o, *x.shape[d + 1 :]), x.dtype)
            for j, (start, end) in enumerate(_adaptive_edges(n, o)):
                lead = (slice(None),) * d
                r[(*lead, j)] = lib.add.reduce(x[(*lead, slice(start, end))], d) / (end - start)
            x = r
    return x if x is not self else x.copy()


@linear(
    transpose=lambda xp, g, self_shape, size: xp.mean_parts(g, tuple(self_shape[-len(size) :])),
    batch=_same,
    dtypes="f",
    samples=[((2, 3), ((5,),)), ((2, 3, 2), ((4, 6),)), ((2, 5, 2), ((3, 3),))],
)
def mean_parts_backward(lib, self, size):
    """The transpose of ``mean_parts`` from ``size``."""
    k = len(size)
    g = self
    for i, n in enumerate(size):
        d = g.ndim - k + i
        o = g.shape[d]
        if o == n:
            continue
        if o and n % o == 0:
            g = lib.repeat(g / (n // o), n // o, d)
        else:
            r = lib.zeros((*g.shape[:d], n, *g.shape[d + 1 :]), g.dtype)
            lead = (slice(None),) * d
            for j, (start, end) in enumerate(_adaptive_edges(n, o)):
                r[(*lead, slice(start, end))] += g[(*lead, slice(j, j + 1))] / (end - start)
            g = r
    return g if g is not self else g.copy()


REGISTRY["mean_windows"].node.name = lambda n: f"AvgPool{len(n.p[0])}DBackward0"
REGISTRY["mean_parts"].node.name = lambda n: f"AdaptiveAvgPool{len(n.p[0])}DBackward0"


# ----------------------------------------------------------------------------------------------------------- what users call
_WORDS = {1: "one int", 2: "two ints", 3: "three ints"}


def _per_dim(name: str, argument: str, value: Any, k: int, optional: bool = False) -> Ints:
    if not isinstance(value, (tuple, list)):
        return (int(value),) * k
    if len(value) not in (1, k):
        choice = "either be omitted," if optional else "either be"
        words = f"a tuple of {_WORDS[k]}"
        raise RuntimeError(f"{name}: {argument} must {choice} a single int, or {words}")
    return tuple(int(v) for v in value) if len(value) == k else (int(value[0]),) * k


def _geometry(
    name: str, k: int, input: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Kernel, stride, padding and dilation per dimension, and the output's size; PyTorch's refusals."""
    kernel = _per_dim(name, "kernel_size", kernel, k)
    empty = stride is None or (isinstance(stride, (tuple, list)) and not stride)
    stride = kernel if empty else _per_dim(name, "stride", stride, k, True)
    padding = _per_dim(name, "padding", padding, k)
    dilation = _per_dim(name, "dilation", dilation, k)
    if min(stride) == 0:
        raise RuntimeError("stride should not be zero")
    if min(kernel) <= 0:
        raise RuntimeError("kernel size should be greater than zero, but got " + _listed("kernel", kernel, k))
    if min(stride) < 0:
        raise RuntimeError("stride should be greater than zero, but got " + _listed("d", stride, k))
    if min(dilation) <= 0:
        raise RuntimeError("dilation should be greater than zero, but got " + _listed("dilation", dilation, k))
    for p, n, d in zip(padding, kernel, dilation, strict=True):
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > ((n - 1) * d + 1) // 2:
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={n} and dilation={d}"
            )
    shape = tuple(input._a.shape)
    if 0 in shape[-k - 1 :]:
        raise RuntimeError(
            f"Expected {k + 1}D or {k + 2}D (batch mode) tensor with optional 0 dim batch size for input, but got:{list(shape)}"
        )
    size = shape[-k:]
    out = pooled_size(size, kernel, stride, padding, dilation, ceil_mode)
    if min(out) < 1:
        before, after = ("x".join(map(str, (shape[-k - 1], *s))) for s in (size, out))
        raise RuntimeError(
            f"Given input size: ({before}). Calculated output size: ({after}). Output size is too small"
        )
    return kernel, stride, padding, dilation, out


def _listed(what: str, values: Ints, k: int) -> str:
    return " ".join(f"{what}{'THW'[3 - k + i]}: {v}" for i, v in enumerate(values))


def _check_rank(k: int, input: Any, name: str) -> None:
    shape = tuple(input._a.shape)
    if len(shape) not in (k + 1, k + 2):
        raise RuntimeError(f"non-empty {k + 1}D or {k + 2}D (batch mode) tensor expected for input")
    if input._a.dtype.kind in "bc":
        raise NotImplementedError(f"\"{name}\" not implemented for '{dtype_name(input)}'")


def _max_pool(
    k: int, input: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool, return_indices: bool
) -> Any:
    name = f"max_pool{k}d"
    _check_rank(k, input, name)
    geometry = _geometry(name, k, input, kernel, stride, padding, dilation, ceil_mode)
    found = T.max_windows(input, *geometry)
    return found if return_indices else found[0]


@public("torch.max_pool2d nn.functional.max_pool2d")
def max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of images ``(N, C, H, W)`` or ``(C, H, W)``.

    ``stride`` is ``kernel_size`` by default. With ``return_indices`` also where in the flattened image it was found.

    >>> import wengert as torch
    >>> torch.nn.functional.max_pool2d(torch.tensor([[[1., 2., 3., 4.], [5., 6., 7., 8.]]]), 2)
    tensor([[[6., 8.]]])
    """
    return _max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


@public("torch.max_pool3d nn.functional.max_pool3d")
def max_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of volumes; see ``max_pool2d``."""
    return _max_pool(3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def _one(name: str, argument: str, value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        if len(value) > 1:
            raise RuntimeError(f"{name}() {argument} must be an int or int list of size 1 but got size {len(value)}")
        return (1, value[0]) if value else None
    return None if value is None else (1, value)


@public("torch.max_pool1d nn.functional.max_pool1d")
def max_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of signals ``(N, C, L)`` or ``(C, L)``; see ``max_pool2d``."""
    if input._a.ndim not in (2, 3) or 0 in input._a.shape[-2:]:
        raise RuntimeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:"
            f"{list(input._a.shape)}"
        )
    for argument, value in (("kernel_size", kernel_size), ("stride", stride), ("dilation", dilation)):
        first = value[0] if isinstance(value, (tuple, list)) and value else value
        if isinstance(first, int) and first <= 0:
            raise RuntimeError(f"max_pool1d() {argument} must be greater than zero, but got {first}")
    d = input._a.ndim - 1
    pads = (0, padding[0] if isinstance(padding, (tuple, list)) else padding)
    found = max_pool2d(
        T.unsqueeze_dim(input, d),
        _one("max_pool1d", "kernel_size", kernel_size),
        _one("max_pool1d", "stride", stride),
        pads,
        _one("max_pool1d", "dilation", dilation),
        ceil_mode,
        True,
    )
    found = tuple(T.squeeze_dim(t, d) for t in found)
    return found if return_indices else found[0]


for _k, _fn in ((1, max_pool1d), (2, max_pool2d), (3, max_pool3d)):

    def _with_indices(*args: Any, _fn: Any = _fn, **kwargs: Any) -> Any:
        kwargs["return_indices"] = True
        return _fn(*args, **kwargs)

    _with_indices.__name__ = f"max_pool{_k}d_with_indices"
    public(f"nn.functional.max_pool{_k}d_with_indices")(_with_indices)


def _avg_pool(
    k: int, input: Any, kernel: Any, stride: Any, padding: Any, ceil_mode: bool, include_pad: bool, override: Any
) -> Any:
    name = f"avg_pool{k}d"
    _check_rank(k, input, name)
    if override == 0:
        raise RuntimeError("divisor must be not zero")
    kernel, stride, padding, _, out = _geometry(name, k, input, kernel, stride, padding, 1, ceil_mode)
    return T.mean_windows(input, kernel, stride, padding, out, bool(include_pad), override)


@public("nn.functional.avg_pool2d")
def avg_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window of images ``(N, C, H, W)`` or ``(C, H, W)``.

    >>> import wengert as torch
    >>> torch.nn.functional.avg_pool2d(torch.tensor([[[1., 2., 3., 4.], [5., 6., 7., 8.]]]), 2)
    tensor([[[3.5000, 5.5000]]])
    """
    return _avg_pool(2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


@public("nn.functional.avg_pool3d")
def avg_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window of volumes; see ``avg_pool2d``."""
    return _avg_pool(3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


@public("torch.avg_pool1d nn.functional.avg_pool1d")
def avg_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window of signals ``(N, C, L)`` or ``(C, L)``; see ``avg_pool2d``."""
    if input._a.ndim not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {input._a.ndim}-dimensional tensor for argument #1 'self' (while checking "
            "arguments for avg_pool1d)"
        )
    d = input._a.ndim - 1
    pads = (0, padding[0] if isinstance(padding, (tuple, list)) else padding)
    r = avg_pool2d(
        T.unsqueeze_dim(input, d),
        _one("avg_pool1d", "kernel_size", kernel_size),
        _one("avg_pool1d", "stride", stride),
        pads,
        ceil_mode,
        count_include_pad,
    )
    return T.squeeze_dim(r, d)


# ----------------------------------------------------------------------------------------------------------------- adaptive
def _wanted(name: str, k: int, input: Any, output_size: Any) -> Ints:
    """The output's size; ``None`` keeps a dimension."""
    shape = tuple(input._a.shape)
    if len(shape) < k + 1 and k > 1:
        raise ValueError(f"Input dimension should be at least {k + 1}")
    if len(shape) not in (k + 1, k + 2):
        raise RuntimeError(f"{name}(): Expected {k + 1}D or {k + 2}D tensor, but got {list(shape)}")
    if not isinstance(output_size, (tuple, list)):
        output_size = (output_size,) * k
    if len(output_size) != k:
        raise RuntimeError(f"{name}: output_size must be {k}")
    out = tuple(n if o is None else int(o) for o, n in zip(output_size, shape[-k:], strict=True))
    if min(out) < 0:
        raise RuntimeError(
            f"{name}: elements of output_size must be greater than or equal to 0 but received "
            f"{{{', '.join(map(str, out))}}}"
        )
    for i, n in enumerate(shape[-k:]):
        if n == 0:
            raise RuntimeError(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes {list(shape)} "
                f"with dimension {i + len(shape) - k} being empty"
            )
    if logical_dtype(input).kind in "iub":
        raise NotImplementedError(f"\"{name}\" not implemented for '{dtype_name(input)}'")
    return out


def _adaptive_avg(k: int, input: Any, output_size: Any) -> Any:
    out = _wanted(f"adaptive_avg_pool{k}d", k, input, output_size)
    if all(o == 1 for o in out):
        rank = input._a.ndim
        return T.mean_dim(input, tuple(range(rank - k, rank)), True)
    return T.mean_parts(input, out)


@public("nn.functional.adaptive_avg_pool2d")
def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """The means of as many parts of each image as ``output_size`` wants; ``None`` keeps a dimension's size.

    >>> import wengert as torch
    >>> torch.nn.functional.adaptive_avg_pool2d(torch.arange(12.).view(1, 3, 4), (1, 2))
    tensor([[[4.5000, 6.5000]]])
    """
    return _adaptive_avg(2, input, output_size)


@public("nn.functional.adaptive_avg_pool3d")
def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """The means of parts of volumes; see ``adaptive_avg_pool2d``."""
    return _adaptive_avg(3, input, output_size)


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, (tuple, list)) else value


@public("torch.adaptive_avg_pool1d nn.functional.adaptive_avg_pool1d")
def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """The means of parts of signals; see ``adaptive_avg_pool2d``."""
    _wanted("adaptive_avg_pool1d", 1, input, output_size)
    d = input._a.ndim - 1
    return T.squeeze_dim(adaptive_avg_pool2d(T.unsqueeze_dim(input, d), (1, _first(output_size))), d)


def _adaptive_max(k: int, input: Any, output_size: Any, return_indices: bool) -> Any:
    found = T.max_parts(input, _wanted(f"adaptive_max_pool{k}d", k, input, output_size))
    return found if return_indices else found[0]


@public("nn.functional.adaptive_max_pool2d")
def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of as many parts of each image as ``output_size`` wants."""
    return _adaptive_max(2, input, output_size, return_indices)


@public("nn.functional.adaptive_max_pool3d")
def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of parts of volumes."""
    return _adaptive_max(3, input, output_size, return_indices)


@public("nn.functional.adaptive_max_pool1d")
def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of parts of signals."""
    _wanted("adaptive_max_pool1d", 1, input, output_size)
    d = input._a.ndim - 1
    found = _adaptive_max(2, T.unsqueeze_dim(input, d), (1, _first(output_size)), True)
    found = tuple(T.squeeze_dim(t, d) for t in found)
    return found if return_indices else found[0]


public("torch.adaptive_max_pool1d")(lambda input, output_size: adaptive_max_pool1d(input, output_size, True))


# ------------------------------------------------------------------------------------------------- unpooling, p-norm pooling
def _unpooled_size(input: Any, kernel: Ints, stride: Ints, padding: Ints, output_size: Any) -> Ints:
    k = len(kernel)
    default = tuple(
        (n - 1) * s + w - 2 * p for n, s, w, p in zip(input._a.shape[-k:], stride, kernel, padding, strict=True)
    )
    if output_size is None:
        return default
    output_size = list(output_size)
    if len(output_size) == k + 2:
        output_size = output_size[2:]
    if len(output_size) != k:
        raise ValueError(
            f"output_size should be a sequence containing {k} or {k + 2} elements, but it has a length of '{len(output_size)}'"
        )
    for d, (n, m, s) in enumerate(zip(output_size, default, stride, strict=True)):
        if not m - s < n < m + s:
            raise ValueError(f'invalid output_size "{output_size}" (dim {d} must be between {m - s} and {m + s})')
    return tuple(int(n) for n in output_size)


def _max_unpool(k: int, input: Any, indices: Any, kernel: Any, stride: Any, padding: Any, output_size: Any) -> Any:
    name = f"max_unpool{k}d"
    kernel = _per_dim(name, "kernel_size", kernel, k)
    stride = kernel if stride is None else _per_dim(name, "stride", stride, k)
    size = _unpooled_size(input, kernel, stride, _per_dim(name, "padding", padding, k), output_size)
    if logical_dtype(indices).name != "int64":
        raise RuntimeError(f"elements in indices should be type int64 but got: {dtype_name(indices)}")
    if tuple(indices._a.shape) != tuple(input._a.shape):
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({list(input._a.shape)}) but got indices tensor "
            f"with shape: {list(indices._a.shape)}"
        )
    a = indices._a
    if isinstance(a, np.ndarray) and a.size and (a.min() < 0 or a.max() >= math.prod(size)):
        wrong = a[(a < 0) | (a >= math.prod(size))].flat[0]
        raise RuntimeError(
            f"Found an invalid max index: {wrong} (output volumes are of size {'x'.join(map(str, size))})"
        )
    return T.unpool(input, indices, size)


@public("nn.functional.max_unpool2d")
def max_unpool2d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """The maxima of ``max_pool2d`` put back where its indices say, zeros elsewhere."""
    return _max_unpool(2, input, indices, kernel_size, stride, padding, output_size)


@public("nn.functional.max_unpool3d")
def max_unpool3d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """The maxima of ``max_pool3d`` put back where its indices say."""
    return _max_unpool(3, input, indices, kernel_size, stride, padding, output_size)


@public("nn.functional.max_unpool1d")
def max_unpool1d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """The maxima of ``max_pool1d`` put back where its indices say."""
    kernel, pads = _first(kernel_size), _first(padding)
    step = kernel if stride is None else _first(stride)
    size = _unpooled_size(input, (kernel,), (step,), (pads,), output_size)
    d = input._a.ndim
    wide = (T.unsqueeze_dim(t, d) for t in (input, indices))
    return T.squeeze_dim(_max_unpool(2, *wide, (kernel, 1), (step, 1), (pads, 0), (*size, 1)), d)


def _lp_pool(k: int, input: Any, norm_type: float, kernel: Any, stride: Any, ceil_mode: bool) -> Any:
    highest, mean = ((max_pool1d, avg_pool1d), (max_pool2d, avg_pool2d), (max_pool3d, avg_pool3d))[k - 1]
    if norm_type == math.inf:
        return highest(T.abs(input), kernel, stride, 0, 1, ceil_mode)
    if norm_type == -math.inf:
        return -highest(-T.abs(input), kernel, stride, 0, 1, ceil_mode)
    r = mean(input**norm_type, kernel, stride, 0, ceil_mode)
    n = math.prod(_per_dim("lp_pool", "kernel_size", kernel, k))
    return ((T.sign(r) * T.abs(r).clamp_min(0)) * n) ** (1.0 / norm_type)


@public("nn.functional.lp_pool1d")
def lp_pool1d(
    input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """The p-norm of each window of signals, p being ``norm_type``."""
    return _lp_pool(1, input, norm_type, kernel_size, stride, ceil_mode)


@public("nn.functional.lp_pool2d")
def lp_pool2d(
    input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """The p-norm of each window of images."""
    return _lp_pool(2, input, norm_type, kernel_size, stride, ceil_mode)


@public("nn.functional.lp_pool3d")
def lp_pool3d(
    input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Tensor:
    """The p-norm of each window of volumes."""
    return _lp_pool(3, input, norm_type, kernel_size, stride, ceil_mode)
