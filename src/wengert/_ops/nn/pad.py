"""Padding: with a constant, or by reflecting, repeating or wrapping the border.

``pad`` counts from the last dimension on, as in PyTorch: ``(left, right, top, bottom, ...)``; negative numbers crop.
Padding with zeros and cropping are each other's transposes, and so are ``pad_border`` and ``fold_border``.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..._arrays import intp
from ..._arrays.layouts import always_rows, as_channels_of, channels_last, relaid_copy
from ..._base.constants import type_name
from ..._base.registry import TENSORS, plain_body, public
from ..._kinds.general import general, name_by_node
from ..._kinds.linear import linear
from ..._kinds.slow_path import require
from ..._tape.error_text import expect_tensors
from ..._tape.promotion import logical_dtype
from ..._tape.tensor import Tensor
from ..create.filled import plain_element

Pads = tuple[int, ...]


def _in_order(fn: Any) -> Any:
    """PyTorch copies what is only cut, in its order."""
    filled = channels_last(fn)

    def run(a: Any, pad: Pads, value: Any) -> Any:
        if type(a) is not np.ndarray or a.flags.c_contiguous or max(pad, default=0) > 0:
            return filled(a, pad, value)
        source = _frame(a.shape, pad)[2]
        return relaid_copy(a if source is None else a[source])

    return run


_in_order.needless = channels_last.needless


@general(
    layout=_in_order,
    grad=lambda xp, g, pad: xp.constant_pad_nd(g, tuple(-n for n in pad), 0),
    jvp=lambda xp, tangents, result, self, pad, value: xp.constant_pad_nd(tangents[0], pad, 0),
    batch="shape",
    dtypes="fcib",
    samples=[
        ((2, 3), ((1, 2), 0.0)),
        ((2, 3), ((1, 0, 0, 2), 1.5)),
        ((2, 3), ((-1, 2, 3, -1), 0.5)),
        ((3,), ((0, 0), 0.0)),
        ((0, 2), ((1, 1, 2, 0), 1.0)),
    ],
)
def constant_pad_nd(lib, self, pad, value):
    """The tensor with ``value`` around it."""
    shape, inside, source = _frame(self.shape, pad)
    r = lib.full(shape, value, self.dtype)
    r[inside] = self if source is None else self[source]
    return r


@functools.lru_cache(256)
def _frame(shape: tuple[int, ...], pad: Pads) -> tuple[Any, Any, Any]:
    """The padded shape, the input's place in it, and the part of the input that is used; ``None`` for all."""
    whole = list(shape)
    inside = [slice(None)] * len(shape)
    source = [slice(None)] * len(shape)
    for k in range(len(pad) // 2):
        d = len(shape) - 1 - k
        left, right = pad[2 * k], pad[2 * k + 1]
        n = shape[d]
        whole[d] = n + left + right
        inside[d] = slice(max(left, 0), whole[d] - max(right, 0))
        source[d] = slice(max(-left, 0), n - max(-right, 0))
    return tuple(whole), tuple(inside), None if min(pad, default=0) >= 0 else tuple(source)


@functools.lru_cache(256)
def _sources(n: int, left: int, right: int, mode: str) -> Any:
    """For each position of a padded dimension of size n the position that it repeats."""
    if mode == "circular":  # the part left after cropping wraps around
        first, kept = max(-left, 0), n + min(left, 0) + min(right, 0)
        return first + np.arange(-max(left, 0), kept + max(right, 0)) % max(kept, 1)
    j = np.arange(-left, n + right)
    if mode == "reflect":
        return np.where(j < 0, -j, np.where(j >= n, 2 * (n - 1) - j, j))
    return np.clip(j, 0, n - 1)


_BORDER_SAMPLES = [
    ((2, 3), ((1, 2), "reflect")),
    ((2, 3, 3), ((1, 2, 2, 0), "reflect")),
    ((2, 3, 3), ((1, 2, 4, 0), "replicate")),
    ((2, 3, 3), ((1, 2, 3, 0), "circular")),
    ((2, 5), ((-1, 2), "reflect")),
    ((2, 5), ((-1, -2), "circular")),
    ((1, 2, 2, 3, 3), ((1, 2, 2, 0, 1, 1), "replicate")),
]


def _as_border(fn: Any) -> Any:
    """The rule of layout: PyTorch writes a circular border into new memory."""
    kept, new = channels_last(fn), always_rows(fn)
    return lambda self, pad, mode: (new if mode == "circular" else kept)(self, pad, mode)


@linear(
    layout=_as_border,
    transpose=lambda xp, g, self_like, pad, mode: as_channels_of(
        xp.fold_border(g, pad, mode, tuple(self_like)), self_like if mode != "circular" else ()
    ),
    node="ReflectionPad1DBackward0",
    batch="shape",
    samples=_BORDER_SAMPLES,
    piecewise=True,
)
def pad_border(lib, self, pad, mode):
    """The tensor with its own border repeated around it."""
    for k in range(len(pad) // 2):
        d = self.ndim - 1 - k
        left, right = pad[2 * k], pad[2 * k + 1]
        if left or right:
            self = intp.take(self, _sources(self.shape[d], left, right, mode), d)
    return self


@plain_body
def plain_pad_border(lib, self, pad, mode):
    for k in range(len(pad) // 2):
        d = self.ndim - 1 - k
        if pad[2 * k] or pad[2 * k + 1]:
            self = lib.take(self, lib.table(_sources(self.shape[d], pad[2 * k], pad[2 * k + 1], mode)), d)
    return self


@linear(
    transpose=lambda xp, g, pad, mode, size: xp.pad_border(g, pad, mode),
    batch=lambda U, info, inner, mine, p: U.fold_border(inner[0], p[0], p[1], (inner[0].shape[0], *p[2])),
    samples=lambda rng: [((rng.standard_normal(_padded(shape, p[0])),), (*p, shape)) for shape, p in _BORDER_SAMPLES],
)
def fold_border(lib, self, pad, mode, size):
    """The transpose of ``pad_border``: the elements of the border are added to those that they repeat."""
    for k in range(len(pad) // 2):
        d = self.ndim - 1 - k
        left, right = pad[2 * k], pad[2 * k + 1]
        n = size[d]
        if not left and not right:
            continue
        sources = _sources(n, left, right, mode)
        shape = list(self.shape)
        shape[d] = n
        r = lib.zeros(shape, self.dtype)
        before, after = max(left, 0), max(right, 0)
        inner = (slice(None),) * d + (slice(max(-left, 0), n - max(-right, 0)),)
        r[inner] = self[(slice(None),) * d + (slice(before, self.shape[d] - after),)]
        for j in (*range(before), *range(self.shape[d] - after, self.shape[d])):
            r[(slice(None),) * d + (sources[j],)] += self[(slice(None),) * d + (j,)]
        self = r
    return self


@plain_body
def plain_fold_border(lib, self, pad, mode, size):
    for k in range(len(pad) // 2):
        d = self.ndim - 1 - k
        if pad[2 * k] or pad[2 * k + 1]:
            r = lib.zeros((*self.shape[:d], size[d], *self.shape[d + 1 :]), self.dtype)
            sources = lib.table(_sources(size[d], pad[2 * k], pad[2 * k + 1], mode))
            lib.add_at(r.swapaxes(0, d), sources, self.swapaxes(0, d))
            self = r
    return self


def _padded(shape: tuple[int, ...], pad: Pads) -> tuple[int, ...]:
    n = len(shape)
    return tuple(
        s + (sum(pad[2 * (n - 1 - d) : 2 * (n - d)]) if 2 * (n - 1 - d) < len(pad) else 0) for d, s in enumerate(shape)
    )


def _border_name(n: Any) -> str:
    pad, mode = n.params
    if mode == "circular":
        return "torch::autograd::CopySlices"  # PyTorch writes the pieces into an empty tensor
    return f"{'Reflection' if mode == 'reflect' else 'Replication'}Pad{len(pad) // 2}DBackward0"


name_by_node("pad_border", _border_name)


# ---- public functions
_INTS = frozenset((int,))


def _pads(pad: Any) -> Pads:
    if type(pad) is tuple and not len(pad) % 2 and _INTS.issuperset(map(type, pad)):
        return pad
    if not isinstance(pad, (tuple, list)):
        raise TypeError(f"pad(): argument 'pad' (position 2) must be tuple of ints, not {type_name(pad)}")
    found = []
    for position, n in enumerate(pad):
        if isinstance(n, bool) or not hasattr(n, "__index__"):
            raise TypeError(
                "pad(): argument 'pad' (position 2) must be tuple of ints, but found element of type "
                f"{type_name(n)} at pos {position}"
            )
        found.append(n.__index__())
    if len(found) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    return tuple(found)


def _check_border(shape: tuple[int, ...], pad: Pads, mode: str) -> None:
    """Raise PyTorch's errors for padding with the border."""
    k = len(pad) // 2
    if k > len(shape):
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pad)} and input of dimension {len(shape)}"
        )
    if k > 3 or len(shape) not in (k + 1, k + 2):
        raise NotImplementedError(
            f"Padding size {len(pad)} is not supported for {len(shape)}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )
    if mode == "circular":
        _check_circular(shape, pad, k)
        return
    if 0 in shape[-k:] or (0 in shape[:-k] and (len(shape) == k + 1 or shape[1] == 0)):
        raise RuntimeError(
            f"Expected {k + 1}D or {k + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(shape)}"
        )
    for i in range(k):
        d = len(shape) - 1 - i
        left, right = pad[2 * i], pad[2 * i + 1]
        n = shape[d]
        if mode == "reflect" and (left >= n or right >= n):
            raise RuntimeError(
                f"Argument #{4 + 2 * i}: Padding size should be less than the corresponding input dimension, but got: "
                f"padding ({left}, {right}) at dimension {d} of input {list(shape)}"
            )
    for i in range(k):
        n, out = shape[-1 - i], shape[-1 - i] + pad[2 * i] + pad[2 * i + 1]
        if out < 1:
            raise RuntimeError(f"input ({'WHD'[i]}: {n}) is too small. Calculated output {'WHD'[i]}: {out}")


def _check_circular(shape: tuple[int, ...], pad: Pads, k: int) -> None:
    for i in range(k):
        n = shape[-1 - i]
        if pad[2 * i] > n or pad[2 * i + 1] > n:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if n + pad[2 * i] + pad[2 * i + 1] < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")


def _pad_constant(input: Any, pads: Pads, value: Any) -> Any:
    a = input._payload
    if len(pads) > 2 * a.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pads)} and input of dimension {a.ndim}"
        )
    for i in range(len(pads) // 2) if min(pads, default=0) < 0 else ():
        if (
            a.shape[-1 - i] + pads[2 * i] + pads[2 * i + 1] < 0
            or a.shape[-1 - i] + min(pads[2 * i], 0) + min(pads[2 * i + 1], 0) < 0
        ):
            raise RuntimeError("narrow(): length must be non-negative.")
    return TENSORS.constant_pad_nd(input, pads, plain_element(value, logical_dtype(input)))


@public("nn.functional.pad")
def pad(input: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    """The tensor padded: ``pad`` is (left, right) for the last dimension, then for the one before it, and so on.

    ``mode``: "constant" (``value``, 0 by default), "reflect", "replicate" or "circular". The last three take as many
    pairs as the input has dimensions behind the channels. Negative numbers crop.

    >>> torch.nn.functional.pad(torch.tensor([[1, 2, 3]]), (1, 2), mode="replicate")
    tensor([[1, 1, 2, 3, 3, 3]])
    """
    if not isinstance(input, Tensor):
        expect_tensors("pad", input=input)
    pads = _pads(pad)
    if mode == "constant":
        return _pad_constant(input, pads, 0 if value is None else float(value) if type(value) is int else value)
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    _check_border(tuple(input._payload.shape), pads, mode)
    if mode != "circular":
        kernel = "replication" if mode == "replicate" else "reflection"
        require(input, "fhciu", f"{kernel}_pad{len(pads) // 2}d")
    return pad_border(input, pads, mode)


@public("torch.constant_pad_nd")
def constant_pad(input: Tensor, pad: Any, value: Any = 0) -> Tensor:
    """``nn.functional.pad`` with a constant.

    >>> torch.constant_pad_nd(torch.tensor([1, 2]), (1, 2), 7)
    tensor([7, 1, 2, 7, 7])
    """
    return _pad_constant(input, _pads(pad), value)
