"""Fused loops: elementwise operators on one shape become one pass over memory, with any strides and broadcasting.

A sum of all elements at the end of such a loop joins it: the numbers go through a buffer of a block, which stays in
the first cache, and a block's sum is added up as ``runtime/0_base.h`` does. Blocks' sums are added in their order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .expressions import C_TYPES, expression, literal
from .pieces import GRAIN, Piece, Place, index, merged

BLOCK = 4096  # elements whose sum is added up in one go


class Loop:
    """Elementwise operators on one shape.

    ``steps``: (result's number, name, operands, parameters, dtype). An operand is the number of an earlier result
    (``int``), a ``Place``, or a Python number in a tuple of one.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.steps: list[tuple[int, str, list[Any], tuple[Any, ...], Any]] = []

    def pieces(self, stores: dict[int, Place], sums: list[tuple[int, Place, float]], partial: Any) -> list[Piece]:
        """The C functions. ``stores``: where results go; ``sums``: (result, where its sum goes, factor).

        ``partial(n)``: a place for n numbers of float64.
        """
        inputs: list[Place] = []
        for _, _, args, _, _ in self.steps:
            inputs += [a for a in args if isinstance(a, Place) and a not in inputs]
        columns = [p.broadcast(self.shape) for p in inputs]
        columns += [p.broadcast(self.shape) for p in stores.values()]
        sizes, strides, _ = merged(self.shape, columns)
        if not sizes:
            sizes, strides = [1], [[0] for _ in columns]
        if sums and len(sizes) > 1:
            raise ValueError("a sum joins only a flat loop")
        inner = int(np.prod(sizes[1:]))
        blocks = -(-sizes[0] // BLOCK)
        piece = Piece(blocks, max(GRAIN // BLOCK, 1)) if sums else Piece(sizes[0], max(GRAIN // max(inner, 1), 1))
        parts = [partial(blocks) for _ in sums]
        self._write(piece, inputs, stores, sums, parts, sizes, strides)
        if not sums:
            for k, (place, s) in enumerate(zip((*inputs, *stores.values()), strides, strict=True)):
                piece.part(place, _evenly(sizes, s), k >= len(inputs))
        after = []
        for (_, to, factor), part in zip(sums, parts, strict=True):
            last = Piece()
            o, q = last.pointer(to), last.pointer(part)
            last.add(f"  double t = 0; for (i64 k = 0; k < {blocks}; k++) t += {q}[k];")
            last.add(f"  {o}[0] = ({C_TYPES[to.dtype]})(t * {literal(factor, np.dtype(np.float64))});")
            after.append(last)
        return [piece, *after]

    def _write(self, piece: Piece, inputs: Any, stores: Any, sums: Any, parts: Any, sizes: Any, strides: Any) -> None:
        names = [f"i{d}" for d in range(len(sizes))]
        before: list[str] = []
        inside: list[str] = []
        known: dict[Any, tuple[str, Any]] = {}
        for k, place in enumerate(inputs):
            at = index(names, strides[k])
            c = C_TYPES[place.dtype]
            line = f"  const {c} x{k} = {piece.pointer(place)}[{at}];"
            (before if at == "0" else inside).append(line)
            known[place] = (f"x{k}", place.dtype)
        order = {n: f"v{k}" for k, (n, *_) in enumerate(self.steps)}
        for n, name, args, p, dtype in self.steps:
            operands = [a[0] if isinstance(a, tuple) and not isinstance(a, Place) else known[a] for a in args]
            text = expression(name, operands, p, dtype)
            if text is None:
                raise ValueError(name)
            inside.append(f"    const {C_TYPES[dtype]} {order[n]} = {text};")
            known[n] = (order[n], dtype)
        for k, (n, place) in enumerate(stores.items()):
            inside.append(f"    {piece.pointer(place)}[{index(names, strides[len(inputs) + k])}] = {order[n]};")
        piece.lines += before
        if sums:
            self._write_blocks(piece, inside, order, sums, parts, sizes[0])
            return
        for d, size in enumerate(sizes):
            if d == len(sizes) - 1:
                piece.add("  IVDEP")
            low, high = ("from", "to") if d == 0 else ("0", str(size))
            piece.add(f"  for (i64 i{d} = {low}; i{d} < {high}; i{d}++) {{")
        piece.lines += inside
        piece.add("  " + "}" * len(sizes))

    def _write_blocks(self, piece: Piece, inside: Any, order: Any, sums: Any, parts: Any, size: int) -> None:
        dtypes = {n: dtype for n, *_, dtype in self.steps}
        for k, (n, _, _) in enumerate(sums):
            piece.add(f"  {C_TYPES[dtypes[n]]} b{k}[{BLOCK}];")
        piece.add(
            f"  for (i64 b = from; b < to; b++) {{\n"
            f"  const i64 e = (b + 1) * {BLOCK} < {size} ? (b + 1) * {BLOCK} : {size};"
        )
        piece.add(f"  IVDEP\n  for (i64 i0 = b * {BLOCK}; i0 < e; i0++) {{")
        piece.lines += inside
        piece.lines += [f"    b{k}[i0 - b * {BLOCK}] = {order[n]};" for k, (n, _, _) in enumerate(sums)]
        piece.add("  }")
        for k, ((n, _, _), part) in enumerate(zip(sums, parts, strict=True)):
            s = "f" if dtypes[n] == np.float32 else "d"
            piece.add(f"  {piece.pointer(part)}[b] = sum_{s}(b{k}, e - b * {BLOCK});")
        piece.add("  }")


def _evenly(sizes: list[int], strides: list[int]) -> bool:
    """Whether a step along the first dim takes the next elements of an array, once or over and over."""
    own = [d for d, s in enumerate(strides) if s or d == 0]
    n = 1
    for d in reversed(own):
        if strides[d] != n:
            return False
        n *= sizes[d]
    return own == list(range(len(own)))


def copy(to: Place, source: Place) -> Piece:
    """One array's elements in another's places, in the other's dtype."""
    loop = Loop(source.shape)
    loop.steps.append((0, "_to_copy", [source], (), to.dtype))
    if to.shape != source.shape:
        raise ValueError(to.shape)
    return loop.pieces({0: to}, [], None)[0]
