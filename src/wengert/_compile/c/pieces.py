"""What generated C is made of: places of values in memory, and functions on ranges of rows.

A ``Piece`` is one C function ``static void f(void **A, i64 from, i64 to)``: ``A`` holds its arrays' addresses, the
range says which part of the work to do. How the work is cut into ranges never changes a digit, so that threads may
share it. Pieces of equal text are one function, called with other arrays.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .expressions import C_TYPES

GRAIN = 1 << 15  # elements of a range: what two threads gain from fewer is less than what waking one costs


class Place(NamedTuple):
    """An array: where it begins (a memory's number, and elements from there), dtype, shape, strides in elements."""

    memory: int
    offset: int
    dtype: Any
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dense(self) -> bool:
        """Whether the elements lie in C order without gaps."""
        n = 1
        for k, s in zip(self.shape[::-1], self.strides[::-1], strict=True):
            if k != 1 and s != n:
                return False
            n *= k
        return True

    def reshaped(self, shape: tuple[int, ...]) -> Place:
        """A dense array in another shape."""
        return self._replace(shape=shape, strides=dense_strides(shape))

    def broadcast(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The strides of this array broadcast to a shape."""
        extra = len(shape) - self.ndim
        strides = tuple([0 if k == 1 else s for k, s in zip(self.shape, self.strides, strict=True)])
        return (0,) * extra + strides


def dense_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a dense array, in elements."""
    strides, n = [], 1
    for k in reversed(shape):
        strides.append(n)
        n *= k
    return tuple(reversed(strides))


class Piece:
    """A C function that is being written.

    ``total``: the end of its range, in C if only the compiler knows it; ``grain``: the least that a thread should do;
    0: the range is not to be cut. ``even``: the bytes of an array of which step i of the range takes the i-th of
    ``total`` equal parts, 0 for one that a step takes any part of; empty if this is not known.
    """

    def __init__(self, total: int | str = 1, grain: int = 0) -> None:
        self.lines: list[str] = []
        self.arguments: list[tuple[int, int]] = []  # memory, byte
        self.types: list[str] = []
        self._names: dict[Any, str] = {}
        self.total = total
        self.grain = grain
        self.even: dict[tuple[int, int], int] = {}  # memory, byte -> bytes
        self.writes: set[tuple[int, int]] = set()
        self.by_blas = False  # whether it has a product that BLAS would cut among its own threads

    def pointer(self, place: Place) -> str:
        """The name of a pointer to the first element of a place."""
        c = C_TYPES[place.dtype]
        key = (place.memory, place.offset * place.dtype.itemsize, c)
        if key not in self._names:
            self._names[key] = f"a{len(self.arguments)}"
            self.arguments.append(key[:2])
            self.types.append(c)
        return self._names[key]

    def part(self, place: Place, evenly: bool = True, written: bool = False) -> None:
        """Note whether each step takes an equal part of an array, in the order of its memory, or any of it."""
        key = place.memory, place.offset * place.dtype.itemsize
        nbytes = place.size * place.dtype.itemsize if evenly else 0
        self.even[key] = nbytes if self.even.get(key, nbytes) == nbytes else 0
        if written:
            self.writes.add(key)

    def add(self, line: str) -> None:
        self.lines.append(line)

    def text(self, name: str) -> str:
        """The C function."""
        given = "".join(f"  {t} *a{k} = A[{k}];\n" for k, t in enumerate(self.types))
        body = "\n".join(self.lines)
        return f"static void {name}(void **A, i64 from, i64 to) {{\n{given}{body}\n}}\n"


def merged(
    shape: tuple[int, ...], columns: list[tuple[int, ...]], flags: tuple[bool, ...] | None = None
) -> tuple[list[int], list[list[int]], list[bool]]:
    """Neighbouring dims joined where all strides allow it: (sizes, strides of each array, flags).

    Dims are joined only if their flags are equal; dims of one element are left out.
    """
    sizes: list[int] = []
    strides: list[list[int]] = [[] for _ in columns]
    kinds: list[bool] = []
    for d, k in enumerate(shape):
        if k == 1:
            continue
        flag = flags[d] if flags is not None else False
        if sizes and kinds[-1] == flag and all(s[-1] == c[d] * k for s, c in zip(strides, columns, strict=True)):
            sizes[-1] *= k
            for s, c in zip(strides, columns, strict=True):
                s[-1] = c[d]
        else:
            sizes.append(k)
            kinds.append(flag)
            for s, c in zip(strides, columns, strict=True):
                s.append(c[d])
    return sizes, strides, kinds


def index(names: list[str], strides: list[int]) -> str:
    """The C expression of an element's place."""
    terms = [n if s == 1 else f"{n} * {s}" for n, s in zip(names, strides, strict=True) if s]
    return " + ".join(terms) or "0"


def is_float(*places: Any) -> bool:
    """Whether arrays are all of float32, or all of float64."""
    names = {p.dtype.name for p in places}
    return len(names) == 1 and names <= {"float32", "float64"}


def is_index(place: Any) -> bool:
    """Whether an array holds places in another."""
    return isinstance(place, Place) and place.dtype == np.int64
