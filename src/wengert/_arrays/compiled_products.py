"""Calls of compiled kernels (``compiled``) for products of matrices and attention.

The kernels cut a product by sizes that follow from its own alone, and threads share the parts, each of which BLAS does
on one thread: so no digit depends on the number of threads, and none of BLAS's own threads is woken, which would wait
for each other, and for the kernels', by spinning.
"""

from __future__ import annotations

import contextlib
import math
from typing import Any

import numpy as np

from .attention import cut, new_cotangents
from .blas import UNSHARED_PRODUCT, _control, blas, one_thread
from .compiled import GRAIN, SUFFIX, Kernels


def _blas() -> tuple[int, int]:
    """BLAS's products of floats and of doubles, or zeros."""
    return blas() or (0, 0)


_alone: Any = one_thread if _control() else contextlib.nullcontext()


def _form(x: Any) -> tuple[int, int] | None:
    """Whether a matrix is transposed, as BLAS says it, and the elements between its rows, or its columns."""
    (m, n), (r, c), size = x.shape, x.strides, x.itemsize
    if c == size and r >= n * size:
        return 111, r // size
    if r == size and c >= m * size:
        return 112, c // size
    return None


def product(k: Kernels, x: Any, y: Any, out: Any = None) -> Any:
    """``blas.large_product``."""
    dtype = x.dtype
    if dtype not in SUFFIX or y.dtype is not dtype or (dtype != np.float32 and not blas()):
        return None
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != len(y):  # NumPy refuses them
        return None
    (m, depth), n = x.shape, y.shape[1]
    if m * depth * n <= UNSHARED_PRODUCT or min(m, n) < _FEW or not (first := _form(x)) or not (second := _form(y)):
        return None
    o = np.empty((m, n), dtype) if out is None else out
    sizes = (*_blas(), first[0], second[0], m, n, depth, first[1], second[1], n)
    with _alone:
        k.run(k.named("product", dtype), 1, 1, sizes, (), o, x, y)
    return o


_FEW = 8  # rows or columns: fewer are a product with vectors, by BLAS


# ---- attention
def _rows(x: Any) -> Any:
    """Matrices whose rows lie without gaps, as (examples, heads, rows, columns)."""
    if x.strides[-1] != x.itemsize or x.strides[-2] < x.shape[-1] * x.itemsize:
        x = np.ascontiguousarray(x)
    return x if x.ndim == 4 else x[None]


def _heads(k: Kernels, name: str, mask: Any, causal: bool, scale: float, made: Any, given: Any) -> bool:
    """Run a kernel on each head; return False if the operands are not what kernels take.

    ``made``: arrays to fill, or ``None``; ``given``: query, key, value, and in the backward pass the cotangent.
    """
    query, key, value = given[:3]
    dtype, lead, each = query.dtype, query.shape[:-2], query.itemsize
    if dtype not in SUFFIX or len(lead) not in (1, 2) or not query.size or not key.size or not value.size:
        return False
    if any([x.dtype is not dtype or x.shape[:-2] != lead for x in given]):  # noqa: C419
        return False
    sizes = query.shape[-2], key.shape[-2], query.shape[-1], value.shape[-1]
    if (key.shape[-1], value.shape[-2]) != (sizes[2], sizes[1]) or any(x.shape[-2:] != sizes[::3] for x in given[3:]):
        return False
    if dtype != np.float32 and (not blas() or sizes[0] * sizes[1] * max(sizes[2:]) > UNSHARED_PRODUCT):
        return False
    if mask is not None:
        if mask.dtype is not dtype:
            return False
        mask = np.broadcast_to(mask, (*lead, *sizes[:2]))
        mask = mask if mask.ndim == 4 else mask[None]
    given, made = [_rows(x) for x in given], [None if x is None else x if x.ndim == 4 else x[None] for x in made]
    in_steps = [*given[:3], mask, *given[3:], *made]
    steps = [(0, 0, 0, 0) if x is None else [s // each for s in x.strides] for x in in_steps]
    rows = [s[2] for s in steps]
    z = (*sizes, *rows[:4], steps[3][3], *rows[4:])
    z += (0,) * (13 - len(z))
    places = [s for at in steps for s in at[:2]]
    heads, work = math.prod(lead), sizes[0] * sizes[1] * (sizes[2] + sizes[3])
    numbers = (*_blas(), causal, lead[-1], *z, *places)
    k.run(
        k.named(name, dtype), heads, max(16 * GRAIN // work, 1), numbers, (scale,), *made, *given[:3], mask, *given[3:]
    )
    return True


def attended(k: Kernels, query: Any, key: Any, value: Any, mask: Any, causal: bool, scale: float, tape: Any) -> Any:
    """``attention.attended``; the weights are computed again in the backward pass."""
    parts = cut(query.shape, key.shape, value.shape, None if mask is None else mask.shape)
    if parts is None:
        return None
    r = np.empty_like(query, shape=(*query.shape[:-1], value.shape[-1]))
    if r.strides[-1] != r.itemsize or not _heads(k, "heads", mask, causal, scale, (r,), (query, key, value)):
        return None
    if tape is not None:
        tape[:] = [parts, [None] * len(parts)]
    return r


def attention_cotangents(
    k: Kernels, g: Any, query: Any, key: Any, value: Any, mask: Any, needs: Any, causal: bool, scale: float, tape: Any
) -> Any:
    """``attention.attention_cotangents``."""
    made = new_cotangents((query, key, value), mask, needs)
    if any([x is not None and x.strides[-1] != x.itemsize for x in made]):  # noqa: C419
        return None
    if not _heads(k, "heads_back", mask, causal, scale, made, (query, key, value, g)):
        return None
    return *made, None
