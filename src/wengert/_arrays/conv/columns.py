"""Sliding windows over signals, images and volumes on NumPy arrays, and columns: those windows as matrices.

A matrix of columns has a row for each element of a filter and a column for each place that the filter visits, so that
the products of convolution (``products``) are products of matrices. The work outside BLAS must cost little:

- Columns are made block by block, from padded samples, in a buffer that is still in the cache when BLAS reads it.
  Nothing as large as all columns or as the padded input is ever made.
- For stride one and a flattened image, the inputs of one element of the filter are one long run of memory: the whole
  image, shifted. Rows of columns are copied so, with some places at the end of each image row that do not exist and
  are left out of the result (NOTE [ Runs ]).
- With a stride the input is parted into phases first (every second element, and those between them), in each of which
  the stride is one (NOTE [ Phases ]).

NOTE [ Phases ]
    Element e of a window at place t lies at ``t * stride + e * dilation`` of the padded input. With
    ``e * dilation = shift * stride + residue`` that is element ``t + shift`` of the phase ``residue``, every
    ``stride``-th element from ``residue`` on. Each dimension has at most ``stride`` phases; phases without an element
    of the window are not made. With stride one there is one phase, the padded input. Windows as large as those of
    patches, which hardly overlap, would have too many phases: their columns are views of the padded input.

NOTE [ Runs ]
    In a flattened phase of row length W, place (i, j) lies at ``i W + j`` and element e of its window at
    ``i W + j + shift(e)``. So a row of columns may be copied as one run from ``shift(e)`` on, if the W - out places
    between the last one of a row and the first one of the next are computed too. Rows are short and slow to copy; but
    places that do not exist cost BLAS time, and leaving them out copies the rows of the result. The products estimate
    both costs and choose.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from typing import Any, NamedTuple

import numpy as np

Ints = tuple[int, ...]
BLOCK = 1 << 19  # bytes of columns up to which samples share a block
_MOST_PHASES = 16
LIMIT = 1 << 21  # bytes of columns of one sample beyond which it is cut
ROW, ELEMENT = 330, 5  # cost of copying a row, and of each element in it, in multiplications


def out_size(size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints) -> Ints:
    """The number of windows along each dimension."""
    return tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(size, kernel, stride, padding, dilation, strict=True)
    )


# ---- geometry
class Phase(NamedTuple):
    """One phase of the input and the elements of a window that lie in it."""

    kernel: tuple[slice, ...]  # which elements of the window
    counts: Ints  # their number along each dimension
    shift: int  # position of the first of them in the flattened phase
    steps: Ints  # distance to the next one along each dimension
    source: tuple[slice, ...]  # the part of the input in this phase
    target: tuple[slice, ...]  # its place in the phase, with zeros around it


class Geometry(NamedTuple):
    """Everything about a convolution's columns that depends on sizes only."""

    out: Ints
    places: int
    inner: Ints  # the size of a phase
    length: int
    strides: Ints  # of a phase, in elements
    run: int  # from the first place to the last one
    phases: tuple[Phase, ...]
    plain: bool  # the only phase is the input
    strided: bool  # the places are so far apart that the only phase is the padded input
    covered: bool  # every element of the input lies in a phase

    def rows(self, rows: slice) -> slice:
        """The run of some rows of places."""
        step = self.strides[0]
        return slice(rows.start * step, (rows.stop - 1) * step + self.run - (self.out[0] - 1) * step)


def strides_of(size: Ints) -> Ints:
    return tuple(math.prod(size[i + 1 :]) for i in range(len(size)))


def _residues(k: int, s: int, d: int) -> list[tuple[slice, int, int, int, int]]:
    """For each phase along one dimension: elements of the window, their count, the phase, the first shift, the step."""
    period = s // math.gcd(s, d)
    return [
        (slice(e, None, period), len(range(e, k, period)), e * d % s, e * d // s, period * d // s)
        for e in range(min(period, k))
    ]


def taken(n: int, inner: int, s: int, p: int, residue: int) -> tuple[slice, slice]:
    """The slice of ``n`` elements (with ``p`` zeros before them) in a phase of size ``inner``, and its place there."""
    first = max(0, -((residue - p) // s))
    last = min(inner, (n - 1 + p - residue) // s + 1)
    if last <= first:
        return slice(0, 0), slice(0, 0)
    start = residue - p + s * first
    return slice(start, start + s * (last - first - 1) + 1, s), slice(first, last)


def geometry(size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, out: Ints) -> Geometry:
    """The geometry of a convolution of these sizes."""
    residues = [_residues(*sizes) for sizes in zip(kernel, stride, dilation, strict=True)]
    if math.prod(map(len, residues)) > _MOST_PHASES:
        return _without_phases(size, kernel, stride, padding, dilation, out)
    reach = [max(shift + (count - 1) * step for _, count, _, shift, step in r) for r in residues]
    inner = tuple(map(operator.add, out, reach))
    strides = strides_of(inner)
    phases = []
    for parts in itertools.product(*residues):
        ends = list(map(taken, size, inner, stride, padding, [part[2] for part in parts]))
        phases.append(
            Phase(
                tuple(part[0] for part in parts),
                tuple(part[1] for part in parts),
                sum(part[3] * step for part, step in zip(parts, strides, strict=True)),
                tuple(part[4] * step for part, step in zip(parts, strides, strict=True)),
                tuple(source for source, _ in ends),
                tuple(target for _, target in ends),
            )
        )
    covered = True
    for i, r in enumerate(residues):
        targets = [taken(size[i], inner[i], stride[i], padding[i], residue)[1] for _, _, residue, _, _ in r]
        covered &= sum(t.stop - t.start for t in targets) == size[i]
    run = sum((o - 1) * step for o, step in zip(out, strides, strict=True)) + 1
    plain = not any(padding) and inner == size and math.prod(stride) == 1
    return Geometry(
        out, math.prod(out), inner, math.prod(inner), strides, run, tuple(phases), plain, strided=False, covered=covered
    )


def _without_phases(size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, out: Ints) -> Geometry:
    """The geometry with columns from the padded input, for windows with too many phases, which do not overlap."""
    inner = tuple(n + 2 * p for n, p in zip(size, padding, strict=True))
    strides = strides_of(inner)
    phase = Phase(
        tuple(slice(0, None, 1) for _ in size),
        kernel,
        0,
        tuple(map(operator.mul, strides, dilation)),
        tuple(slice(0, n) for n in size),
        tuple(slice(p, p + n) for n, p in zip(size, padding, strict=True)),
    )
    places, apart = math.prod(out), tuple(map(operator.mul, strides, stride))
    plain = not any(padding)
    return Geometry(out, places, inner, math.prod(inner), apart, places, (phase,), plain, strided=True, covered=True)


def junk(g: Geometry) -> float:
    """The number of places that do not exist after each row of places in a run; infinity if there are no runs."""
    return math.inf if g.strided else (g.run - g.places) * g.out[-1] / g.places


# ---- blocks
class Cut(NamedTuple):
    """The parts of the work: samples, groups and rows of places that are done at a time."""

    samples: int
    groups: int
    rows: list[slice]  # of places, along the first dimension

    def parts(self, mine: slice, groups: int) -> list[tuple[slice, slice]]:
        """Samples and groups."""
        return [
            (slice(i, min(i + self.samples, mine.stop)), slice(j, min(j + self.groups, groups)))
            for i in range(mine.start, mine.stop, self.samples)
            for j in range(0, groups, self.groups)
        ]


def cut(samples: int, groups: int, rows: int, row_bytes: int) -> Cut:
    """Whole samples; some of the groups if one sample has too many columns; some of the rows only if one group has."""
    group_bytes = max(row_bytes * rows, 1)
    if group_bytes * groups <= LIMIT:
        return Cut(evenly(samples, BLOCK // (group_bytes * groups)), groups, [slice(0, rows)])
    return Cut(1, evenly(groups, LIMIT // group_bytes), slices(rows, evenly(rows, LIMIT // row_bytes)))


def slices(n: int, step: int) -> list[slice]:
    """``range(n)`` in parts of at most ``step``."""
    return [slice(i, min(i + step, n)) for i in range(0, n, step)]


def evenly(n: int, most: int) -> int:
    """The size of parts of n things, as equal as possible, with at most ``most`` things each."""
    most = min(max(most, 1), n)
    return -(-n // -(-n // most))


class Columns:
    """The columns of ``(N, G, C, *size)``, block by block, in buffers that are used again.

    The buffers refer to no input, and serve any other of the same sizes that is contiguous if this one was.
    """

    def __init__(self, x: Any, g: Geometry, kernel: Ints, runs: bool, cut: Cut) -> None:
        self.geometry, self.runs = g, runs
        channels, lead = x.shape[2], (cut.samples, cut.groups)
        self.images: Any = None
        self.views: list[Any] = []
        if not g.plain or not x.flags.c_contiguous:
            self.images = np.zeros((len(g.phases), *lead, channels, *g.inner), x.dtype)
            self.views = [self._view(image, phase) for image, phase in zip(self.images, g.phases, strict=True)]
        self.blocks = []
        sizes = [g.rows(rows) if runs else rows for rows in cut.rows]
        rest = () if runs else g.out[1:]
        longest = max(at.stop - at.start for at in sizes) * math.prod(rest)
        buffer = np.empty(math.prod(lead) * channels * math.prod(kernel) * longest, x.dtype)
        places = (slice(None),) * (1 + len(rest))
        for at in sizes:
            columns: Any = np.ndarray((*lead, channels, *kernel, at.stop - at.start, *rest), x.dtype, buffer)
            parts = [columns[(..., *phase.kernel, *places)] for phase in g.phases]
            self.blocks.append(
                (parts, (..., at, *places[1:]), columns.reshape(*lead, channels * math.prod(kernel), -1))
            )

    def _view(self, whole: Any, phase: Phase) -> Any:
        """The view ``(n, G, C, *elements of the window in a phase, *places)`` of samples."""
        g, size = self.geometry, whole.itemsize
        places, steps = ((g.run,), (1,)) if self.runs else (g.out, g.strides)
        return np.ndarray(
            (*whole.shape[:3], *phase.counts, *places),
            whole.dtype,
            whole,
            phase.shift * size,
            (*whole.strides[:3], *(s * size for s in (*phase.steps, *steps))),
        )

    def take(self, x: Any, part: tuple[slice, slice], n: int, m: int) -> list[Any]:
        """Pad some samples' groups; return the views that ``block`` takes."""
        phases = self.geometry.phases
        if self.images is None:
            return [self._view(x, phases[0])[part]]
        for image, phase in zip(self.images, phases, strict=True):
            image[(slice(n), slice(m), ..., *phase.target)] = x[(*part, ..., *phase.source)]
        return [view[:n, :m] for view in self.views]

    def block(self, number: int, views: list[Any], n: int, m: int) -> Any:
        """The columns ``(n, G, C kernel, places or run)`` of a block of rows of places, always in the same buffer."""
        parts, at, columns = self.blocks[number]
        for into, view in zip(parts, views, strict=True):
            np.copyto(into[:n, :m], view[at])
        return columns[:n, :m]


def run_buffer(lead: Ints, g: Geometry, rows: slice, dtype: Any) -> tuple[Any, Any]:
    """A buffer for some rows of places as a run, with zeros at places that do not exist; the view of those that do."""
    buffer: Any = np.zeros((*lead, rows.stop - rows.start, *g.inner[1:]), dtype)
    run = g.rows(rows)
    return buffer.reshape(*lead, -1)[..., : run.stop - run.start], buffer[(..., *(slice(o) for o in g.out[1:]))]


# ---- windows alone
def padded(x: Any, padding: Ints) -> Any:
    """Zeros around the last dimensions; contiguous."""
    if not any(padding):
        return np.ascontiguousarray(x)
    k = len(padding)
    shape = (*x.shape[:-k], *(n + 2 * p for n, p in zip(x.shape[-k:], padding, strict=True)))
    r: Any = np.zeros(shape, x.dtype)
    r[(..., *(slice(p, p + n) for n, p in zip(x.shape[-k:], padding, strict=True)))] = x
    return r


def windows(x: Any, groups: int, kernel: Ints, stride: Ints, dilation: Ints, out: Ints) -> Any:
    """The view ``(N, G, C, *kernel, *out)`` of a contiguous ``(N, G C, *size)``."""
    n, channels = x.shape[:2]
    steps = x.strides
    return np.ndarray(
        (n, groups, channels // groups, *kernel, *out),
        x.dtype,
        x,
        0,
        (
            steps[0],
            steps[1] * (channels // groups),
            steps[1],
            *(s * d for s, d in zip(steps[2:], dilation, strict=True)),
            *(s * t for s, t in zip(steps[2:], stride, strict=True)),
        ),
    )


FEW = 4096  # elements of windows up to which they are taken by a table: that is one NumPy call


@functools.lru_cache(64)
def few_places(shape: Ints, kernel: Ints, dilation: Ints, stride: Ints) -> Any:
    """The position of each element of the windows of ``(*, C, H, W)`` in columns ``(*, C kh kw, places)``."""
    *lead, c, h, w = shape
    out = out_size((h, w), kernel, stride, (0, 0), dilation)
    numbers = np.arange(math.prod(shape), dtype=np.intp).reshape(math.prod(lead), c, h, w)
    return windows(numbers, 1, kernel, stride, dilation, out).reshape(*lead, c * math.prod(kernel), math.prod(out))


def scatter_windows(r: Any, columns: Any, stride: Ints, dilation: Ints, first: int = 0) -> None:
    """Add ``(n, G, C, *kernel, *out)`` to the elements of ``r`` that the windows cover, from a row of places on."""
    k = len(stride)
    kernel, out = columns.shape[3 : 3 + k], columns.shape[3 + k :]
    if first:
        r = r[(..., slice(first * stride[0], None), *(slice(None),) * (k - 1))]
    for offset, place in places_of(kernel, out, stride, dilation):
        r[(..., *place)] += columns[(slice(None),) * 3 + offset]


@functools.lru_cache(256)
def places_of(kernel: Ints, out: Ints, stride: Ints, dilation: Ints) -> list[tuple[Ints, tuple[Any, ...]]]:
    """For each element of a window its offset, and the index of that element of all windows in an input."""
    return [
        (
            offset,
            tuple(
                slice(o * d, o * d + (n - 1) * s + 1, s)
                for o, d, s, n in zip(offset, dilation, stride, out, strict=True)
            ),
        )
        for offset in itertools.product(*map(range, kernel))
    ]


def plain_unfolded(
    lib: Any, x: Any, kernel: Ints, out: Ints, stride: Ints, padding: Ints, dilation: Ints, value: Any = 0
) -> Any:
    """The windows ``(*, *kernel, *out)`` of the last dims of an array of any library, with ``value`` around it."""
    k = len(kernel)
    reach = [(o - 1) * s + (m - 1) * d + 1 for o, s, m, d in zip(out, stride, kernel, dilation, strict=True)]
    size = x.shape[x.ndim - k :]
    ends = [max(r - p - n, 0) for r, p, n in zip(reach, padding, size, strict=True)]
    if any(padding) or any(ends):
        around = [(0, 0)] * (x.ndim - k) + list(zip(padding, ends, strict=True))
        x = lib.pad(x, around, constant_values=value)
    parts = [x[(..., *place)] for _, place in places_of(kernel, out, stride, dilation)]
    return lib.stack(parts, x.ndim - k).reshape(*x.shape[: x.ndim - k], *kernel, *out)


def plain_folded(lib: Any, cols: Any, size: Ints, stride: Ints, padding: Ints, dilation: Ints) -> Any:
    """The transpose of ``plain_unfolded``: windows ``(*, *kernel, *out)`` added up in an array ``(*, *size)``."""
    k = len(size)
    lead, kernel, out = cols.shape[: cols.ndim - 2 * k], cols.shape[cols.ndim - 2 * k : cols.ndim - k], cols.shape[-k:]
    reach = [(o - 1) * s + (m - 1) * d + 1 for o, s, m, d in zip(out, stride, kernel, dilation, strict=True)]
    whole = [max(r, p + n) for r, p, n in zip(reach, padding, size, strict=True)]
    r = lib.zeros((*lead, *whole), cols.dtype)
    for offset, place in places_of(kernel, out, stride, dilation):
        r[(..., *place)] += cols[(slice(None),) * len(lead) + offset]
    return r[(..., *(slice(p, p + n) for p, n in zip(padding, size, strict=True)))]
