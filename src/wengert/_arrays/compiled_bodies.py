"""Elementwise bodies in C: the list of a ``FusedBody`` as text, and its kernel's call.

The text names dtypes, functions and where their operands come from; numbers are left out but for exponents. So one
kernel serves a leaky ReLU of any slope. A kernel's name is the text's hash: those of the operators' bodies are made
when the library is built (``kernels/generate.py``, which runs the operators and writes down the same texts).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .compiled import GRAIN, SUFFIX, kernels
from .fused import FusedBody, Slot

_ARRAYS = 16  # that the kernels' tables have room for
_COLUMNS = 1024  # of a row that a kernel takes at once
_SHORT = 16  # columns below which rows are too short for a call each


def described(body: FusedBody) -> tuple[str, list[float]] | None:
    """The text of a body and its numbers; ``None`` if it has something that C has not."""
    kinds, steps, lasts = body.form
    places = {k: k for k in range(len(kinds))}
    numbers: list[float] = []
    lines: list[str] = []
    for fn, arguments, slot, dtype in steps:
        words = [fn.__name__]
        for x in (*arguments, *getattr(fn, "limits", ())):
            if type(x) is Slot:
                words.append(str(places[x]))
                continue
            x = getattr(x, "number", x)
            if isinstance(x, np.ndarray) and x.dtype.kind != "f":
                return None
            try:
                value = float(x)
            except (TypeError, ValueError, OverflowError):
                return None
            if fn is np.power:
                words.append(f"={value!r}")
                continue
            words.append(f"k{x.dtype.char if isinstance(x, np.ndarray) else ''}")
            numbers.append(value)
        places[slot] = len(kinds) + len(lines)
        lines.append(f"{dtype.char} {' '.join(words)}")
    operands = "".join(["-" if k is None else k.char for k in kinds])
    return ";".join([operands, *lines, " ".join([str(places[x]) for x in lasts])]), numbers


def name_of(text: str) -> str:
    """The name of the kernel of a body."""
    import hashlib

    return "body_" + hashlib.sha256(text.encode()).hexdigest()[:20]


class _Body:
    """A body's kernel and its numbers."""

    def __init__(self, kernel: int, numbers: list[float], kinds: list[Any]) -> None:
        self.address, self.numbers = kernel, numbers
        self.used = [k for k, kind in enumerate(kinds) if kind is not None]


def kernel_of(body: FusedBody) -> _Body | None:
    """The kernel of a body, if the library has it."""
    if body.compiled is None:
        found, text = kernels(), described(body)
        kernel = found.find(name_of(text[0])) if found is not None and text is not None else None
        body.compiled = _Body(kernel, text[1], body.form[0]) if kernel is not None and text is not None else False
    return body.compiled or None


def run(body: FusedBody, shape: tuple[int, ...], outs: list[Any], operands: list[Any]) -> bool:
    """Fill ``outs`` in C; ``False`` if there is no kernel, or the arrays lie so that it would not pay.

    All have the given shape or are of no dims.
    """
    kernel = kernel_of(body)
    if kernel is None:
        return False
    found: Any = kernels()
    arrays = [*outs, *[operands[k] for k in kernel.used]]
    if len(arrays) > _ARRAYS:
        return False
    if len(shape) == 1 and all([a.ndim and a.flags.c_contiguous for a in arrays]):  # noqa: C419  faster so
        found.run(kernel.address, shape[0], GRAIN, (), kernel.numbers, *arrays)
        return True
    lead, columns = shape[:-1], shape[-1]
    if columns < _SHORT:
        return False
    sizes = [kernel.address, len(arrays), columns, len(lead), *lead]
    for a in arrays:
        strides = a.strides if a.ndim else (0,) * len(shape)
        sizes += [a.itemsize, strides[-1], *strides[:-1]]
    blocks = -(-columns // _COLUMNS)
    found.run(
        found.find("spread"), math.prod(lead) * blocks, GRAIN // min(columns, _COLUMNS), sizes, kernel.numbers, *arrays
    )
    return True


def sum_of(body: FusedBody, operands: tuple[Any, ...]) -> Any:
    """The sum of all of a body's results in float64, its operands dense and of one size; ``None`` without a kernel."""
    kernel = kernel_of(body)
    if kernel is None or body.form[1][-1][3] not in SUFFIX:
        return None
    arrays = [operands[k] for k in kernel.used]
    n = arrays[0].size
    if len(arrays) > _ARRAYS or not all([a.size == n and a.flags.c_contiguous for a in arrays]):  # noqa: C419
        return None
    found: Any = kernels()
    parts = np.empty(-(-n // 4096))
    sizes = [kernel.address, n, len(arrays), *[a.itemsize for a in arrays]]
    found.run(
        found.find(f"sum_of_{SUFFIX[body.dtypes[0]]}"), len(parts), GRAIN // 4096, sizes, kernel.numbers, parts, *arrays
    )
    return np.add.reduce(parts)
