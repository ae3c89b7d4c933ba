"""Large work on NumPy arrays: block by block, on a few threads.

Arrays of at least ``LARGE`` elements come here, smaller ones never do. ``parallel_map`` runs a function on parts of the
work; ``elementwise``, ``rows`` and ``reduce_all`` cut arrays into parts. NumPy releases the interpreter's lock inside
its loops, so Python's threads run in parallel.

NOTE [ Blocks ]
    Results are the same to the digit for any number of threads: how a sum is cut depends on shapes and dtypes alone,
    and a product that is a step of an operator is done by one thread of BLAS (``blas``, NOTE [ One thread of BLAS ]).
    Elementwise work, whose digits do not depend on cuts, is cut into one or more parts for each thread (``_shares``).
    The calling thread works too and waits only for parts that another thread has begun. So a busy machine costs only
    the help, a block may itself be cut, and nothing is locked. If no thread can be started (WebAssembly, an interpreter
    that is shutting down), the caller does all the work.

NOTE [ What a thread costs ]
    A trip is the time from waking a sleeping thread with an empty job until the caller knows that the job is done: 10
    us on bare metal, 65 on some virtual machines. It is measured when the first thread is started (``_Pool.trip``).
    Callers state the time in microseconds that one thread would need for the work (``work``); work that is not worth
    the trip stays with the caller.
    About half of the trip passes before a thread is at work. So there is one more part than threads, a small one, which
    the caller does while the others finish: the caller need not be woken itself.
    Only one thread can hold the interpreter. A thread that returns from NumPy while another holds it is put to sleep,
    and when it wakes, half a trip later, may find it taken again: with calls of 50 us two threads did twice as much as
    one (at a trip of 65), of 25 us 1.5 times, of 13 us 1.2 times, of 6 us 0.6 times. So the blocks of several threads
    are as large as a core's cache, those of one thread are smaller, and work of many short ``passes`` gets one thread.
    The first part is the caller's: from operator to operator, each thread finds its own results in its core's cache.

NOTE [ Fresh memory ]
    glibc returns memory to the system whenever 128 kB at the top of the heap are free, and new memory comes page by
    page: a new array of a million numbers then costs five times as much as filling it, and a step of ResNet-18 spends a
    tenth of its time so. Importing this module raises that threshold: up to 1 GB that was once in use, and no more than
    a sixteenth of the machine's memory, then stays with the process. Arrays of 32 MB and more get memory of their own
    in any case, which is the most that glibc allows.
"""

from __future__ import annotations

import ctypes
import math
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextvars import copy_context
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .._base.dtypes import FLOAT32
from .._base.forks import new_lock
from . import compiled
from .compiled import LEAST, kernels
from .cuts import cut_parts, descending, evenly, merged_shape, strides_of
from .fused import SLOW, FusedBody, cost_of, fused_body_of
from .shared_ufuncs import shared

if TYPE_CHECKING:
    from queue import SimpleQueue

LARGE = 1 << 18  # elements from which blocks pay
_BLOCK = 1 << 21  # bytes of one operand in a part: several fit into the processor's cache, and threads seldom meet
_CACHED = 1 << 18  # bytes of one operand in the blocks that several passes are made over
_OWN = 1 << 22  # bytes of all arrays in such a block if there are several threads: a core's own cache
_ENORMOUS = 1 << 40  # elements that no machine has memory for: NumPy raises the error before anything is cut
_ROW = 1024  # elements that einsum adds up on 64 accumulators; the sums of rows are added pairwise
_REDUCING = 0.04  # ns that a reduction takes for a byte

if sys.platform == "linux" and (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)) is not None:
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    mallopt(-1, max(1 << 26, min(1 << 30, machine // 16)))  # M_TRIM_THRESHOLD: NOTE [ Fresh memory ]
    mallopt(-3, 1 << 25)  # M_MMAP_THRESHOLD


# ---- threads
requested: int | None = None  # the argument of set_num_threads


def default_threads() -> int:
    """The number of threads that the environment sets, else the number of processors."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        number = os.environ.get(name, "")
        if number.isdigit() and int(number):
            return int(number)
    return os.cpu_count() or 1


def _usable_processors() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


_LEAST_TRIP, _LONGEST_TRIP = 30.0, 200.0  # on a busy machine both threads may be on one core, or far apart
_WORTH = 2.0  # trips that the work of each helper must be worth: out of a cold cache, waking takes twice as long
_SMALL = 0.1  # size of the additional small part, relative to the others
_CALL = 0.3  # trips that a NumPy call must take at least: with shorter calls, threads mostly wait for each other


@cache
def _queue() -> type[SimpleQueue[Any]]:
    from queue import SimpleQueue  # not imported before there is work for threads

    return SimpleQueue


class _Pool:
    """Threads that wait for jobs. They are started when first needed, and again after a fork."""

    def __init__(self) -> None:
        self.default = default_threads()
        self.processors = _usable_processors()
        self.started = 0
        self.refused = False  # no thread can be started here
        self.trip = _LEAST_TRIP  # microseconds: NOTE [ What a thread costs ]
        self.lock = new_lock()
        self.jobs: Any = None

    def helpers(self, parts: int, work: float = math.inf) -> int:
        """The number of threads besides the caller that can work on so many parts and are worth their cost."""
        n = min(requested or self.default, self.processors, parts) - 1
        if n <= 0 or work < _WORTH * self.trip:
            return 0
        if n > self.started and not self.refused:
            self._start(n)
        n = min(n, self.started)
        least = _WORTH * self.trip
        return n if n * least <= work else int(work / least)

    def _start(self, n: int) -> None:
        with self.lock:
            while self.started < n:
                name = f"wengert-{self.started + 1}"
                try:
                    import threading  # takes a millisecond, for nothing where no work is large

                    self.jobs = self.jobs or _queue()()
                    threading.Thread(target=_serve, args=(self.jobs,), name=name, daemon=True).start()
                except (RuntimeError, ImportError):  # WebAssembly, interpreter shut-down, a subinterpreter, a limit
                    self.refused = True
                    return
                if not self.started:
                    self.trip = max(self._measured(), _LEAST_TRIP)
                self.started += 1

    def _measured(self) -> float:
        """The microseconds that the first thread takes for an empty job, from its sleep on."""
        taken = []
        for _ in range(5):
            job = _Job(lambda part: None, (None,))
            start = time.perf_counter()
            self.jobs.put(job)
            job.finished.get()
            taken.append(time.perf_counter() - start)
            time.sleep(1e-4)  # it falls asleep
        return min(min(taken[1:]) * 1e6, _LONGEST_TRIP)


class _Job:
    """One call of ``parallel_map``: the parts that are left, and the results of the others."""

    __slots__ = ("context", "errors", "finished", "fn", "parts", "results", "todo")

    def __init__(self, fn: Any, parts: Sequence[Any]) -> None:
        self.fn = fn
        self.parts = parts
        self.todo = deque(range(len(parts)))
        self.results: list[Any] = [None] * len(parts)
        self.errors: list[tuple[int, BaseException]] = []
        self.finished = _queue()()
        self.context = copy_context()  # NumPy's errstate is part of it

    def work(self) -> int:
        """Do parts until none is left; return the number of parts done."""
        done = 0
        while self.todo:
            try:
                i = self.todo.popleft()
            except IndexError:
                break
            if not self.errors:
                try:
                    self.results[i] = self.fn(self.parts[i])
                except BaseException as error:  # noqa: BLE001  raised where the job came from
                    self.errors.append((i, error))
            done += 1
        return done

    def help(self) -> None:
        """Do parts in another thread."""
        done = self.context.copy().run(self.work) if self.todo else 0
        if done:
            self.finished.put(done)

    def clear(self) -> None:
        """Drop the references to the arrays: a thread that woke too late may still hold the job."""
        self.fn = self.parts = self.results = None  # type: ignore[assignment]
        self.errors = []


def _serve(jobs: SimpleQueue[_Job]) -> None:
    while True:
        job = jobs.get()
        job.help()
        del job


_pool = _Pool()


compiled.wanted_threads = lambda: min(requested or _pool.default, _pool.processors)


def single_threaded(work: float = math.inf, parts: int = 2) -> bool:
    """Whether there is one thread only, or work of so many microseconds, in so many parts, is faster on one."""
    return _pool.helpers(parts, work) < 1


if hasattr(os, "register_at_fork"):
    for _name, _value in (("started", 0), ("refused", False), ("jobs", None)):  # a child has none of the threads
        os.register_at_fork(after_in_child=partial(setattr, _pool, _name, _value))


def parallel_map(fn: Callable[[Any], Any], parts: Sequence[Any], work: float = math.inf) -> list[Any]:
    """``[fn(part) for part in parts]``, on threads. Raises the error of any part.

    ``work``: microseconds that one thread would need.
    """
    pool = _pool
    helpers = pool.helpers(len(parts), work)
    if helpers <= 0:
        return [fn(part) for part in parts]
    job = _Job(fn, parts)
    for _ in range(helpers):
        pool.jobs.put(job)
    left = len(parts) - job.work()
    while left:
        left -= job.finished.get()
    results, errors = job.results, job.errors
    job.clear()
    if errors:
        error = min(errors, key=lambda entry: entry[0])[1]
        try:
            raise error
        finally:
            del error, errors  # they would hold the frame that holds them
    return results


# ---- elementwise
def elementwise(body: Callable[..., Any], *arrays: Any) -> Any:
    """``body(*arrays)`` for a body that is elementwise in its broadcast operands, some of which may be numbers.

    The result has the dtype and the order in memory of the plain call's result. A call that cannot be cut (operands in
    different orders, reversed ones, a body that returns its operand or anything but one array) is made on the whole.
    """
    layout = _layout(arrays)
    if layout is None:
        return body(*arrays)
    if body is np.fmod and all([getattr(a, "dtype", None) is FLOAT32 for a in arrays]):  # noqa: C419
        from .kernels import fmod_in_blocks as body  # seldom needed
    if kernels() is not None:
        alone = isinstance(body, np.ufunc) and len(layout.shape) == 1
        program = None if alone and body not in SLOW else fused_body_of(body, arrays)
        if program is not None and len(program.dtypes) == 1 and (results := _run_compiled(program, layout)):
            return results[0]
        if alone:  # NumPy's own loop: a pass over memory takes no longer than in C
            return shared(body)(*arrays)
        if layout.size < LARGE:
            return body(*arrays)
    if len(layout.shape) > 1:
        return among_rows(layout.shape[-1], lambda: _run(body, arrays, layout))
    return _run(body, arrays, layout)


def _run(body: Callable[..., Any], arrays: tuple[Any, ...], layout: _Layout) -> Any:
    direct = isinstance(body, np.ufunc)
    if direct:
        work = layout.size * cost_of(body, arrays) / 1000
        if single_threaded(work):
            return body(*arrays)
    else:
        program = fused_body_of(body, arrays)
        if program is not None and len(program.dtypes) == 1:
            return _run_program(program, layout)[0]
        work = layout.nbytes * _UNKNOWN / 1000
    views, parts = layout.views, layout.parts(work)
    dtype = _ufunc_dtype(body, arrays) if direct else _body_dtype(body, layout, parts[0])
    if dtype is None:
        return body(*arrays)
    result, out = layout.empty(dtype)
    if direct:

        def fill(part: Any) -> None:
            body(*[a[part] if cut else a for a, cut in views], out=out[part])
    else:

        def fill(part: Any) -> None:
            out[part] = body(*[a[part] if cut else a for a, cut in views])

    parallel_map(fill, parts, work)
    return result


_UNKNOWN = 0.25  # ns for each byte of an operand in a body that is no program


def _ufunc_dtype(ufunc: Any, arrays: tuple[Any, ...]) -> Any:
    """The dtype of a ufunc's result; ``None`` if it has several."""
    key = (ufunc, *[getattr(x, "dtype", type(x)) for x in arrays])
    if key not in _ufunc_dtypes:
        sample = ufunc(*[np.ones(1, x.dtype) if type(x) is np.ndarray else x for x in arrays])
        _ufunc_dtypes[key] = sample.dtype if type(sample) is np.ndarray else None
    return _ufunc_dtypes[key]


_ufunc_dtypes: dict[Any, Any] = {}


def _body_dtype(body: Callable[..., Any], layout: _Layout, part: tuple[Any, ...]) -> Any:
    """The dtype of a body's result, found from one element; ``None`` if the result is no new array of that size."""
    first = (*part[:-1], slice(0, 1))
    sample = body(*[a[first] if cut else a for a, cut in layout.views])
    if type(sample) is not np.ndarray or sample.shape != layout.sample(first) or _is_operand(sample, layout.views):
        return None
    return sample.dtype


def elementwise_multi(body: Callable[..., Any], *arrays: Any) -> Any:
    """``body(*arrays)`` for a body that returns several arrays, each elementwise in the operands."""
    layout = _layout(arrays)
    program = None if layout is None else fused_body_of(body, arrays)
    if layout is None or program is None:
        return body(*arrays)
    results = _run_compiled(program, layout)
    if results is None and layout.size < LARGE:
        return body(*arrays)
    return results or _run_program(program, layout)


def _run_compiled(program: FusedBody, layout: _Layout) -> list[Any] | None:
    """The results of a recorded body, if there is a kernel for it."""
    if kernels() is None:
        return None
    from . import compiled_bodies

    if compiled_bodies.kernel_of(program) is None:
        return None
    made = [layout.empty(dtype) for dtype in program.dtypes]
    outs, operands = [out for _, out in made], [a for a, _ in layout.views]
    return [r for r, _ in made] if compiled_bodies.run(program, layout.shape, outs, operands) else None


def _run_program(program: FusedBody, layout: _Layout) -> list[Any]:
    """The results of a recorded body."""
    made = [layout.empty(dtype) for dtype in program.dtypes]
    outs = [out for _, out in made]
    views = layout.views
    run: Callable[..., None] = program.run
    work = layout.size * program.cost / 1000

    if len(layout.shape) > 1:
        parts = layout.parts(work)
    else:
        parts, size = _free_parts(layout.size, layout.itemsize, work, program.passes, program.width)
        if not program.single:
            run = partial(program.run_along, size=size)

    def fill(part: Any) -> None:
        run([out[part] for out in outs], [a[part] if cut else a for a, cut in views])

    parallel_map(fill, parts, work)
    return [result for result, _ in made]


def over_blocks(fn: Callable[..., Any], *arrays: Any) -> list[Any] | None:
    """The results of ``fn`` for each block of elementwise operands; ``None`` if they cannot be cut."""
    layout = _layout(arrays)
    if layout is None:
        return None
    views = layout.views
    parts = cut_parts(layout.shape, max(_BLOCK // layout.itemsize, 1))  # the results may be sums
    return parallel_map(lambda part: fn(*[a[part] if cut else a for a, cut in views]), parts)


def _is_operand(sample: Any, views: Any) -> bool:
    """Whether a body returned one of its operands."""
    return sample.base is not None and any(cut and np.may_share_memory(sample, a) for a, cut in views)


class _Layout:
    """Operands brought to one shape, with their axes in the order of memory and merged where that needs no copy."""

    __slots__ = ("itemsize", "like", "nbytes", "order", "shape", "size", "views", "whole")

    def __init__(self, views: Any, whole: Any, like: Any, order: Any) -> None:
        cut = [a for a, is_cut in views if is_cut]
        self.views: list[tuple[Any, bool]] = views  # operand, whether it is cut
        self.shape: tuple[int, ...] = cut[0].shape
        self.whole: tuple[int, ...] = whole  # the shape of the result
        self.like = like  # the operand whose order the result has, if that is not C order
        self.order = order
        self.itemsize = max([a.itemsize for a in cut])
        self.size = cut[0].size
        self.nbytes = self.size * self.itemsize  # of the widest operand

    def parts(self, work: float) -> list[tuple[Any, ...]]:
        """The index of each part, integers and then one slice, for work of so many microseconds."""
        block = max(_BLOCK // self.itemsize, 1)
        return _shares(self.shape[0], block, work) if len(self.shape) == 1 else cut_parts(self.shape, block)

    def sample(self, index: tuple[Any, ...]) -> tuple[int, ...]:
        """The shape that an index selects with its slice cut to one element."""
        return (1, *self.shape[len(index) :])

    def empty(self, dtype: Any) -> tuple[Any, Any]:
        """A new array for the result, and a view that is cut as the operands are."""
        if self.like is None:
            result = np.empty(self.whole, dtype)
            return result, result.reshape(self.shape)
        result = np.empty_like(self.like, dtype)
        return result, result.transpose(self.order).reshape(self.shape)


def _layout(arrays: tuple[Any, ...]) -> _Layout | None:
    """The layout in which elementwise operands are cut, or ``None`` if they are better left whole."""
    operands = [a for a in arrays if type(a) is np.ndarray and a.ndim]
    if not operands or any([a.dtype.hasobject for a in operands]):  # noqa: C419  faster so
        return None
    lead = operands[0]
    shape = lead.shape
    least = LARGE if kernels() is None else LEAST
    if all([a.shape == shape and a.flags.c_contiguous for a in operands]):  # noqa: C419
        if lead.size < least:
            return None
        flat = [(a.reshape(-1), True) if type(a) is np.ndarray and a.ndim else (a, False) for a in arrays]
        return _Layout(flat, shape, None, None)
    try:
        shape = np.broadcast_shapes(*[a.shape for a in operands])
    except ValueError:  # the body raises a better error
        return None
    full = [np.broadcast_to(a, shape) for a in operands]
    if not least <= full[0].size < _ENORMOUS:
        return None
    strides = [strides_of(a) for a in full]
    identity = tuple(range(len(shape)))
    order = identity
    if not all(descending(s, order) for s in strides):
        k = max(range(len(full)), key=lambda k: sum(map(bool, strides[k])))
        order = tuple(sorted(identity, key=lambda axis: -strides[k][axis]))
        lead = operands[k]
        if lead.shape != shape or not all(s or n == 1 for s, n in zip(strides[k], shape, strict=True)):
            return None
        if not all(descending(s, order) for s in strides):
            return None
    merged = merged_shape([shape[axis] for axis in order], [[s[axis] for axis in order] for s in strides])
    cut = iter([a.transpose(order).reshape(merged) for a in full])
    views = [(next(cut), True) if type(a) is np.ndarray and a.ndim else (a, False) for a in arrays]
    return _Layout(views, shape, None if order == identity else lead, order)


def _shares(n: int, block: int, work: float) -> list[tuple[slice]]:
    """Slices of at most ``block`` elements, cut between whole vectors: equally many for each thread, and a small one.

    The number of threads depends on the work in microseconds. See NOTE [ What a thread costs ].
    """
    threads = _pool.helpers(n, work) + 1
    pieces = -(-n // (block * threads)) * threads
    step = math.ceil(n / (pieces + (_SMALL * threads if threads > 1 else 0)) / 64) * 64
    return [(slice(i, min(i + step, n)),) for i in range(0, n, step)]


def multiply_into(x: Any, y: Any) -> Any:
    """``y * x`` written into x, of one dtype and shape; without warnings, since a half-done call cannot be repeated."""
    with np.errstate(all="ignore"):
        if not (x.flags.c_contiguous and y.flags.c_contiguous):
            return np.multiply(y, x, x)
        if kernels() is not None:
            return shared(np.multiply)(y, x, x)
        x_flat, y_flat = x.reshape(-1), y.reshape(-1)
        work = x.size * cost_of(np.multiply, (x, y)) / 1000
        parallel_map(
            lambda part: np.multiply(y_flat[part], x_flat[part], x_flat[part]), _shares(x.size, x.size, work), work
        )
    return x


def parallel_slices(
    fn: Callable[[slice], Any], n: int, itemsize: int, work: float, passes: int = 1, width: int = 3
) -> None:
    """``fn(slice)`` for slices that cover ``range(n)``, cut to suit the threads: no digit may depend on the cuts.

    ``work``: see ``parallel_map``; ``passes``: the number of NumPy calls for a slice; ``width``: that of their arrays.
    """
    parts, size = _free_parts(n, itemsize, work, passes, width)

    def share(part: tuple[slice]) -> None:
        for block in evenly(part[0].start, part[0].stop, size):
            fn(block)

    parallel_map(share, parts, work)


def _free_parts(n: int, itemsize: int, work: float, passes: int, width: int) -> tuple[list[tuple[slice]], int]:
    """A slice for each thread, or many for very many elements; and the number of elements in their blocks.

    Several threads get blocks as large as a core's own cache allows; if calls would still be short, one thread works.
    """
    held = _OWN // (width * itemsize)
    call = work / passes * min(held / n, 0.5)
    if call < _CALL * _pool.trip or single_threaded(work):
        return [(slice(0, n),)], _CACHED // itemsize
    return _shares(n, _BLOCK // itemsize, work), held


# ---- rows and reductions
# NOTE [ NumPy's buffer ]
#     If the operands of a ufunc cannot be taken as one long row (a column or a row is repeated), NumPy gathers rows
#     that are shorter than its buffer, 8192 elements, before it works on them, which doubles the time. NumPy does not
#     gather rows that are longer than a shorter buffer. For rows of less than 512 elements, gathering is faster.
_SHORT_ROW, _LONG_ROW, _BUFFER = 512, 8192, 512


def among_rows(size: int, fn: Callable[[], Any]) -> Any:
    """``fn()``, whose ufuncs go through rows of ``size`` elements, with a buffer to match."""
    if not _SHORT_ROW <= size < _LONG_ROW:
        return fn()
    with np.errstate():  # its end restores the size of the buffer too
        np.setbufsize(_BUFFER)
        return fn()


def rows(fn: Callable[[slice], Any], n: int, size: int, block: int = 0) -> list[Any]:
    """``fn(slice)`` for slices that cover ``range(n)``, each of about ``block`` elements if a row has ``size``.

    Without ``block`` no digit may depend on the cuts: blocks are then so small that a function of several passes finds
    its rows in the cache, or so large that threads seldom meet. See NOTE [ What a thread costs ].
    """
    work = n * size * _ROW_PASS * _ROW_PASSES / 1000
    large = block or _SHARED_ROWS
    if single_threaded(work) or large * _ROW_PASS / 1000 < _CALL * _pool.trip:
        work, large = 0.0, block or _OWN_ROWS
    parts = [part[-1] for part in cut_parts((n, size), max(large, size))] if size else [slice(0, n)]
    return among_rows(min(size, _SHORT_ROW), lambda: parallel_map(fn, parts, work))


_OWN_ROWS, _SHARED_ROWS = 1 << 16, 1 << 19  # elements in a block of one thread, and of several
_ROW_PASS, _ROW_PASSES = 0.12, 8  # ns that a pass takes for an element, and the number of passes of a function


def reduce_all(ufunc: Any, x: Any) -> Any:
    """``ufunc.reduce`` over all elements of an array: ``add``, ``maximum``, ``minimum``, ``logical_and``, ...

    Only float32 and float64 are added: rows on many accumulators, then pairwise, as precisely as NumPy adds them.
    """
    flat = _flat(x)
    if flat is None:
        return ufunc.reduce(x, None)
    if ufunc is np.add and x.dtype.char in "fd" and flat.size >= LARGE >> 2:
        return _sum(flat)
    work = flat.nbytes * _REDUCING / 1000
    if single_threaded(work):
        return ufunc.reduce(x, None)
    parts = _shares(flat.size, LARGE << 2, work)
    return ufunc.reduce(np.array(parallel_map(lambda part: ufunc.reduce(flat[part]), parts, work)))


def _flat(x: Any) -> Any:
    """All elements in the order of memory, without a copy; ``None`` where they are not dense."""
    if x.flags.c_contiguous:
        return x.reshape(-1)
    order = sorted(range(x.ndim), key=lambda axis: -x.strides[axis])
    x = x.transpose(order)
    return x.reshape(-1) if x.flags.c_contiguous else None


@compiled.with_kernel("compiled_rows.whole_sum", least=1 << 20)
def _sum(x: Any) -> Any:
    """The sum of a contiguous array of float32 or float64."""
    whole = x.size // _ROW * _ROW
    table = x[:whole].reshape(-1, _ROW)
    work = x.nbytes * _REDUCING / 1000
    parts = cut_parts(table.shape, LARGE << 1) if not single_threaded(work) else [...]
    sums = np.add.reduce(np.concatenate(parallel_map(lambda part: np.einsum("ij->i", table[part]), parts, work)))
    return sums + np.add.reduce(x[whole:]) if whole < x.size else sums
