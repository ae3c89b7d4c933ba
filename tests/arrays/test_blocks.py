"""Large work in blocks: the same values, dtype and order in memory as the plain call, for any number of threads."""

from __future__ import annotations

import contextvars
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wengert._arrays import threads as _blocks


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks so small that small arrays are cut, on three threads, whatever the machine has."""
    small = {"LARGE": 64, "_BLOCK": 512, "_ROW": 16, "_WORTH": 0, "_CALL": 0, "requested": 3}
    for name, value in small.items():
        monkeypatch.setattr(_blocks, name, value)
    monkeypatch.setattr(_blocks._pool, "processors", 3)


def _composite(x, y):
    return x * (1 - y * y)


# --------------------------------------------------------------------------------------------------------- elementwise
@st.composite
def operands(draw):
    """Two arrays of one broadcast shape, cut, transposed, repeated and reversed at random."""
    shape = draw(st.lists(st.sampled_from((1, 2, 3, 5, 8, 17, 40)), min_size=1, max_size=4))
    arrays = []
    for _ in range(2):
        dtype = draw(st.sampled_from(("f4", "f8", "i8", "c8")))
        own = [n if draw(st.integers(0, 4)) else 1 for n in shape]
        a = np.arange(np.prod(own, dtype=int)).astype(dtype).reshape(own) - 3
        kind = draw(st.sampled_from(("plain", "plain", "transposed", "stepped", "reversed", "repeated", "fewer")))
        if kind == "transposed":
            axes = draw(st.permutations(range(len(own))))
            a = np.ascontiguousarray(a.transpose(axes)).transpose(np.argsort(axes))
        elif kind == "stepped":
            a = np.repeat(a, 2, axis=-1)[..., ::2]
        elif kind == "reversed":
            a = a[::-1]
        elif kind == "repeated":
            a = np.broadcast_to(a, shape)
        elif kind == "fewer" and own[0] == 1:
            a = a[0]
        arrays.append(a)
    return arrays


def _same(result, expected):
    assert type(result) is type(expected)
    assert result.dtype == expected.dtype
    assert result.shape == expected.shape
    np.testing.assert_array_equal(result, expected)
    if expected.ndim:
        real = [k for k, n in enumerate(expected.shape) if n > 1]
        assert [result.strides[k] for k in real] == [expected.strides[k] for k in real]
        assert result.base is None
        assert result.flags.writeable


@given(operands(), st.sampled_from((np.add, np.multiply, np.greater, _composite)))
@settings(max_examples=150, deadline=None)
def test_elementwise_is_the_plain_call(arrays, body):
    _same(_blocks.elementwise(body, *arrays), body(*arrays))


@given(operands(), st.sampled_from((2, 2.5, np.float32(3), np.array(2.0))))
@settings(max_examples=50, deadline=None)
def test_numbers_keep_their_promotion(arrays, number):
    x = arrays[0]
    _same(_blocks.elementwise(np.multiply, x, number), np.multiply(x, number))
    _same(_blocks.elementwise(_composite, number, x), _composite(number, x))


@pytest.mark.parametrize("n", [64, 1000, 4097])
def test_blocks_are_used(n):
    lengths = []

    def body(x):
        lengths.append(len(x))
        return x + 1

    x = np.arange(n, dtype=np.float32)
    np.testing.assert_array_equal(_blocks.elementwise(body, x), x + 1)
    assert max(lengths) < n or n * 4 <= 512


def test_what_is_not_one_array_is_called_as_it_is():
    x = np.arange(1000.0)
    assert _blocks.elementwise(lambda x: x, x) is x
    assert _blocks.elementwise(lambda x: 3, x) == 3
    a, b = _blocks.elementwise(lambda x: (x + 1, x + 2), x)
    np.testing.assert_array_equal(b - a, np.ones(1000))
    assert _blocks.elementwise(lambda x: x[::-1], x)[0] == 999
    assert _blocks.elementwise(np.add, np.array([None, "a"] * 100, object)[:0], 1).shape == (0,)


def test_operands_that_do_not_broadcast_are_left_to_the_body():
    with pytest.raises(ValueError, match="could not be broadcast"):
        _blocks.elementwise(np.add, np.ones((100, 3)), np.ones(7))


@given(st.lists(st.integers(1, 30), min_size=1, max_size=4), st.integers(1, 200))
@settings(max_examples=100, deadline=None)
def test_parts_cover_everything_once(shape, block):
    seen = np.zeros(shape, int)
    for part in _blocks.cut_parts(tuple(shape), block):
        seen[part] += 1
    assert (seen == 1).all()


# ------------------------------------------------------------------------------------------------------------- threads
def test_results_come_in_order_and_from_several_threads():
    threads = set()
    both = threading.Barrier(3)

    def part(i):
        threads.add(threading.get_ident())
        if i < 3:
            both.wait(10)  # passes only if three threads are at it
        return i * i

    assert _blocks.parallel_map(part, range(20)) == [i * i for i in range(20)]
    assert len(threads) == 3


def test_work_is_shared_where_it_pays(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(_blocks, "requested", None)
    pool = _blocks._Pool()
    pool.default, pool.processors, pool.started, pool.trip = 4, 4, 4, 50.0
    assert pool.helpers(2) == 1
    assert pool.helpers(9, 1e6) == 3
    assert pool.helpers(9, 90.0) == 0
    assert pool.helpers(9, 150.0) == 1
    assert pool.helpers(9, 250.0) == 2


def test_a_trip_is_measured_with_the_first_thread():
    pool = _blocks._Pool()
    pool.processors = 2
    assert pool.helpers(2) == 1
    assert _blocks._LEAST_TRIP <= pool.trip <= _blocks._LONGEST_TRIP


@given(st.integers(1, 5000), st.integers(1, 4))
@settings(max_examples=50, deadline=None)
def test_free_slices_cover_everything_once(n, itemsize):
    seen = np.zeros(n, int)

    def fill(part):
        seen[part] += 1

    _blocks.parallel_slices(fill, n, itemsize, 1000.0, 3)
    assert (seen == 1).all()


def test_the_first_error_is_raised_and_nothing_is_left_behind():
    def part(i):
        if i in (5, 6):
            raise KeyError(i)
        return i

    with pytest.raises(KeyError):
        _blocks.parallel_map(part, range(12))
    assert _blocks.parallel_map(lambda i: i, range(4)) == [0, 1, 2, 3]


def test_arrays_are_let_go_at_once(no_gc):
    import weakref

    x = np.ones(5000)
    gone = weakref.ref(x)
    _blocks.elementwise(_composite, x, x)

    def failing(x):
        if len(x) > 1:
            raise ValueError("no")
        return x + 1

    with pytest.raises(ValueError, match="no"):
        _blocks.elementwise(failing, x)
    del x
    deadline = time.monotonic() + 5  # a helper may just be putting its last part away
    while gone() is not None and time.monotonic() < deadline:
        time.sleep(0.001)
    assert gone() is None


def test_numpy_error_state_goes_along():
    x = np.zeros(5000)
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        _blocks.elementwise(np.reciprocal, x)
    with np.errstate(divide="ignore"):
        assert np.isinf(_blocks.elementwise(np.reciprocal, x)).all()


def test_context_variables_go_along():
    variable = contextvars.ContextVar("variable", default=0)
    variable.set(7)
    assert _blocks.parallel_map(lambda i: variable.get(), range(8)) == [7] * 8


def test_work_inside_of_work_does_not_wait_for_itself():
    def outer(i):
        return sum(_blocks.parallel_map(lambda j: i * j, range(5)))

    assert _blocks.parallel_map(outer, range(6)) == [10 * i for i in range(6)]


def test_many_threads_at_once():
    x = np.arange(5000.0)
    wrong = []

    def user():
        same = [np.array_equal(_blocks.elementwise(_composite, x, x), _composite(x, x)) for _ in range(20)]
        wrong.extend(k for k, equal in enumerate(same) if not equal)

    users = [threading.Thread(target=user) for _ in range(4)]
    for thread in users:
        thread.start()
    for thread in users:
        thread.join(30)
    assert not any(thread.is_alive() for thread in users)
    assert not wrong


def test_without_threads_the_caller_does_it_all(monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_blocks, "_pool", _blocks._Pool())
    monkeypatch.setattr(_blocks._pool, "processors", 3)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    here = threading.get_ident()
    assert _blocks.parallel_map(lambda i: threading.get_ident(), range(4)) == [here] * 4
    x = np.arange(1000.0)
    np.testing.assert_array_equal(_blocks.elementwise(_composite, x, x), _composite(x, x))


_PROGRAM = """
import atexit, os, sys
import numpy as np
from wengert._arrays import threads as _blocks
_blocks.requested = 3
_blocks._pool.processors = 3
_blocks.LARGE = 64
_blocks._WORTH = _blocks._CALL = 0
x = np.arange(1 << 20, dtype=np.float32)
def check():
    assert np.array_equal(_blocks.elementwise(np.add, x, 1), x + 1)
check()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
def test_after_a_fork():
    program = _PROGRAM + (
        "import warnings; warnings.simplefilter('ignore')\n"
        "pid = os.fork()\n"
        "if not pid:\n"
        "    assert _blocks._pool.started == 0\n"
        "    _blocks._pool.processors = 3\n"
        "    check(); assert _blocks._pool.started == 2; os._exit(7)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7\n"
        "check()\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_at_interpreter_shutdown():
    program = _PROGRAM + (
        "atexit.register(check)\n"
        "class Late:\n"
        "    def __del__(self, blocks=_blocks, np=np, x=x, write=os.write):\n"
        "        assert np.array_equal(blocks.elementwise(np.add, x, 1), x + 1)\n"
        "        write(1, b'late')\n"
        "late = Late()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, timeout=60, capture_output=True)
    assert done.stdout == b"late", done.stderr


# ---------------------------------------------------------------------------------------------------------- reductions
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8", "c8"])
@pytest.mark.parametrize("ufunc", [np.add, np.maximum])
@pytest.mark.parametrize("shape", [(3000,), (17, 40, 9), (1,), ()])
def test_fold(dtype, ufunc, shape):
    rng = np.random.default_rng(0)
    for x in (rng.normal(size=shape) * 100).astype(dtype), (rng.normal(size=shape[::-1]) * 100).astype(dtype).T:
        result, expected = _blocks.reduce_all(ufunc, x), ufunc.reduce(x, None)
        assert result.dtype == expected.dtype
        np.testing.assert_allclose(result, expected, rtol=1e-5)


def test_fold_is_precise():
    x = np.full(1 << 21, 0.1, np.float32)
    exact = float(np.float32(0.1)) * x.size
    assert abs(float(_blocks.reduce_all(np.add, x)) - exact) <= 4e-7 * exact


def test_digits_do_not_depend_on_the_number_of_threads(monkeypatch):
    x = np.random.default_rng(0).normal(size=100_000).astype(np.float32)
    results = set()
    for n in (1, 2, 3):
        monkeypatch.setattr(_blocks, "requested", n)
        results.add((float(_blocks.reduce_all(np.add, x)), _blocks.elementwise(_composite, x, x).tobytes()))
    assert len(results) == 1


@given(st.integers(0, 50), st.integers(0, 30), st.integers(1, 300))
@settings(max_examples=50, deadline=None)
def test_rows_cover_everything_once(n, size, block):
    seen = np.zeros(n, int)

    def visit(part):
        seen[part] += 1

    _blocks.rows(visit, n, size, block)
    assert (seen == 1).all()


def test_numpys_buffer_is_as_before():
    before = np.getbufsize()
    sizes = []
    _blocks.rows(lambda part: sizes.append(np.getbufsize()), 100, 1000, 4000)
    assert set(sizes) == {512}
    assert np.getbufsize() == before
    x, row = np.ones((50, 1000)), np.arange(1000.0)
    np.testing.assert_array_equal(_blocks.elementwise(np.add, x, row), x + row)
    with pytest.raises(ZeroDivisionError):
        _blocks.rows(lambda part: 1 / 0, 100, 1000)
    assert np.getbufsize() == before


@pytest.mark.skipif(not sys.platform.startswith("linux") or not hasattr(os, "confstr"), reason="glibc's memory")
def test_memory_of_large_work_stays():
    """A second pass over 200 MB of new arrays finds its pages there."""
    if not (os.confstr("CS_GNU_LIBC_VERSION") or "").startswith("glibc"):
        pytest.skip("another C library")
    program = """if True:
        import resource

        import numpy as np

        import wengert

        def faults():
            before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
            arrays = [np.ones(2_500_000) for _ in range(10)]
            return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

        first, second = faults(), faults()
        assert second < first / 4, (first, second)
    """
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
