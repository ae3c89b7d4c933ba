"""The random stream without PyTorch: SEMANTICS 7's digits, the generator's state, what each sampler spends.

tests/compare/test_random_stream.py has PyTorch beside it.
"""

from __future__ import annotations

import copy
import hashlib
import math
import pickle
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from wengert._arrays import random as samplers
from wengert._arrays.random import integers
from wengert._arrays.random import topk_order as _topk_order
from wengert._arrays.random.box_muller import box_muller_float32
from wengert._arrays.random.generator import DEFAULT_SEED, STATE_BYTES, Generator, default_generator
from wengert._arrays.random.libm import fused_multiply_add, libm, rounded_to_float32
from wengert._arrays.random.twister import BLOCK_WORDS, Twister

F2, F4, F8 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)


def seeded(seed: int = 0) -> Generator:
    return Generator().manual_seed(seed)


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal to the bit, NaN and the sign of zero included."""
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def same_state(a: Generator, b: Generator) -> bool:
    return same(a.get_state_array(), b.get_state_array())


def words_spent(before: Generator, after: Generator) -> int:
    """How many words `after` is ahead of `before`, which is moved there."""
    goal = after.clone_state()._words(8).copy()
    stream = before._words(40_000)
    places = np.flatnonzero(stream[:-8] == goal[0])
    return next(int(p) for p in places if np.array_equal(stream[p : p + 8], goal))


# ---- golden values


def test_the_digits_of_semantics_7() -> None:
    g = seeded(0)
    steps = [
        (samplers.uniform(g, (3,), F4), [0.4963, 0.7682, 0.0885]),
        (samplers.normal(g, (3,), F4), [0.3643, 0.1344, 0.1642]),
        (samplers.normal(g, (20,), F4)[:4], [-0.2041, -0.0885, 0.5239, -0.6659]),
        (samplers.randint(g, (5,), np.dtype(np.int64), 0, 10), [5, 2, 1, 0, 9]),
        (samplers.randperm(g, 6), [5, 2, 0, 1, 3, 4]),
        (samplers.uniform(g, (2,), F8), [0.8988, 0.9337]),
        (samplers.bernoulli_tensor(g, (4,), F4, np.full(4, 0.5, F4)), [0, 1, 0, 0]),
        (samplers.multinomial(g, np.ones(5, F4), 3), [4, 0, 3]),
    ]
    for made, printed in steps:
        assert np.round(made, 4).tolist() == np.array(printed, made.dtype).tolist()


GOLDEN: dict[str, tuple[Callable[[Generator], np.ndarray], str]] = {
    # Made by PyTorch 2.13 on an AVX2 machine from seed 42, one after the other; no C library function is in these.
    "uniform": (lambda g: samplers.uniform(g, (1001,), F4), "74672aa0c2d4ae95"),
    "uniform from -1.5 to 2.7": (lambda g: samplers.uniform(g, (1001,), F4, -1.5, 2.7), "473cc22b5419e895"),
    "uniform float64": (lambda g: samplers.uniform(g, (1001,), F8), "a9b8830e0c498b43"),
    "normal": (lambda g: samplers.normal(g, (1000,), F4), "45b98f0f90b4c879"),
    "normal, ragged": (lambda g: samplers.normal(g, (1001,), F4), "4905800b475593d4"),
    "normal float16": (lambda g: samplers.normal(g, (1001,), F2), "dd6bc07d7fb3e7ef"),
    "randint": (lambda g: samplers.randint(g, (1001,), np.dtype(np.int64), -5, 1000), "de60c50d5f9484ee"),
    "randint, 64 bits": (
        lambda g: samplers.randint(g, (1001,), np.dtype(np.int64), -(2**60), 2**61),
        "532188f5926d2a64",
    ),
    "randperm": (lambda g: samplers.randperm(g, 1001), "eed75118fa17eea3"),
    "bernoulli": (lambda g: samplers.bernoulli(g, (1001,), F4, 0.3), "3863662cc3312a4e"),
}


def test_golden_digests() -> None:
    g = seeded(42)
    digests = {name: hashlib.sha256(sample(g).tobytes()).hexdigest()[:16] for name, (sample, _) in GOLDEN.items()}
    assert digests == {name: digest for name, (_, digest) in GOLDEN.items()}


def test_words_are_those_of_numpys_randomstate() -> None:
    for seed in (0, 5, 2**32 - 1):
        expected = np.random.RandomState(seed).randint(0, 2**32, size=2000, dtype=np.uint32)
        assert same(seeded(seed)._words(2000), expected)
        g = seeded(seed)
        assert [g._random32() for _ in range(2000)] == expected.tolist()


def test_a_new_generator_has_pytorchs_default_seed() -> None:
    assert Generator().initial_seed() == DEFAULT_SEED == 67280421310721
    assert same_state(Generator(), seeded(DEFAULT_SEED))


# ---- the generator


def test_seeds() -> None:
    assert seeded(-1).initial_seed() == 2**64 - 1
    assert same(seeded(3)._words(9), seeded(3 + 2**32)._words(9))  # only 32 bits choose the stream
    g = Generator()
    first, second = g.seed(), g.seed()
    assert first != second and second == g.initial_seed() and 0 <= first < 2**64


@pytest.mark.parametrize(
    ("seed", "error", "message"),
    [
        (2**64, ValueError, "Overflow when unpacking long long"),
        (-(2**63) - 1, ValueError, "Overflow when unpacking long long"),
        (1.5, RuntimeError, "manual_seed expected a long, but got float"),
        (True, RuntimeError, "manual_seed expected a long, but got bool"),
        (None, RuntimeError, "manual_seed expected a long, but got NoneType"),
    ],
)
def test_seeds_that_are_none(seed: Any, error: type[Exception], message: str) -> None:
    g = seeded(1)
    with pytest.raises(error, match=message):
        g.manual_seed(seed)
    assert same_state(g, seeded(1))


def test_devices() -> None:
    assert Generator("cpu:0").initial_seed() == DEFAULT_SEED
    with pytest.raises(RuntimeError, match="Cannot get CUDA generator"):
        Generator("cuda")
    with pytest.raises(RuntimeError, match="meta is not supported"):
        Generator("meta")
    for offset in (Generator().get_offset, lambda: Generator().set_offset(0)):
        with pytest.raises(RuntimeError, match="does not use offset"):
            offset()


@pytest.mark.parametrize("spent", [0, 1, 2, 623, 624, 625, 1247, 1248, 1249])
@pytest.mark.parametrize("normals", [0, 1, 2])
def test_a_state_goes_out_and_in(spent: int, normals: int) -> None:
    g = seeded(9)
    g._words(spent)
    samplers.normal(g, (normals,), F4)
    state = g.get_state_array()
    assert state.dtype == np.uint8 and state.shape == (STATE_BYTES,) == (5056,)
    other = seeded(1)
    other.set_state_array(state)
    assert same(other.get_state_array(), state) and other.initial_seed() == 9
    for twin in (other, g.clone_state(), copy.copy(g), copy.deepcopy(g), pickle.loads(pickle.dumps(g))):
        assert same(samplers.normal(twin, (3,), F4), samplers.normal(g.clone_state(), (3,), F4))
        assert same(twin._words(700), _after_three_normals(g)._words(700))


def _after_three_normals(g: Generator) -> Generator:
    twin = g.clone_state()
    samplers.normal(twin, (3,), F4)
    return twin


def test_a_state_keeps_what_only_other_builds_use() -> None:
    state = seeded(3).get_state_array()
    state[5048:5052] = np.array([1.25], np.float32).view(np.uint8)
    state[5052] = 1
    g = Generator()
    g.set_state_array(state)
    assert same(g.get_state_array(), state)


def test_states_that_are_none() -> None:
    g = seeded(2)
    with pytest.raises(TypeError, match=r"expected a torch\.ByteTensor, but got int"):
        g.set_state_array(3)
    with pytest.raises(TypeError, match=r"RNG state must be a torch\.ByteTensor"):
        g.set_state_array(np.zeros(5056, F4))
    with pytest.raises(RuntimeError, match="of size 5056 but found the input RNG state size to be 3"):
        g.set_state_array(np.zeros(3, np.uint8))
    with pytest.raises(RuntimeError, match="Invalid mt19937 state"):
        g.set_state_array(np.zeros(5056, np.uint8))
    contradicting = g.get_state_array()
    contradicting[8] = 7  # left is 7 while next is 0
    with pytest.raises(RuntimeError, match="Invalid mt19937 state"):
        g.set_state_array(contradicting)
    assert same_state(g, seeded(2))


def test_none_is_the_default_generator() -> None:
    state = default_generator.get_state_array()
    try:
        default_generator.manual_seed(4)
        assert same(samplers.uniform(None, (3,), F4), samplers.uniform(seeded(4), (3,), F4))
        assert not same_state(default_generator, seeded(4))
    finally:
        default_generator.set_state_array(state)


def test_threads_draw_whole_pieces() -> None:
    g, pieces = seeded(6), []

    def draw() -> None:
        pieces.extend(samplers.uniform(g, (7,), F4).tobytes() for _ in range(200))

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = samplers.uniform(seeded(6), (800, 7), F4)
    assert sorted(pieces) == sorted(row.tobytes() for row in alone)


# ---- what is drawn, in which order


@pytest.mark.parametrize("dtype", [F4, F8])
@pytest.mark.parametrize("sizes", [(1, 2), (3, 1300), (623, 2), (40_000, 70_001)])
def test_uniforms_do_not_depend_on_how_they_are_asked_for(dtype: np.dtype, sizes: tuple[int, int]) -> None:
    apart = seeded(8)
    parts = [samplers.uniform(apart, (n,), dtype) for n in sizes]
    together = seeded(8)
    assert same(np.concatenate(parts), samplers.uniform(together, (sum(sizes),), dtype))
    assert same_state(apart, together)


@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 101])
def test_serial_normals_are_the_same_one_by_one(count: int) -> None:
    at_once, one_by_one = seeded(3), seeded(3)
    for g in (at_once, one_by_one):
        g._normal()  # leaves the other half of its pair to the next
    assert at_once._normals(count).tolist() == [one_by_one._normal() for _ in range(count)]
    assert same_state(at_once, one_by_one)


@pytest.mark.parametrize(
    ("sample", "words"),
    [
        (lambda g: samplers.uniform(g, (5,), F4), 5),
        (lambda g: samplers.uniform(g, (5,), F8), 10),
        (lambda g: samplers.uniform(g, (5,), np.dtype(np.complex64)), 10),
        (lambda g: samplers.normal(g, (2,), F4), 4),
        (lambda g: samplers.normal(g, (15,), F4), 32),  # one half of the eighth pair is kept
        (lambda g: samplers.normal(g, (16,), F4), 16),
        (lambda g: samplers.normal(g, (17,), F4), 17 + 16),
        (lambda g: samplers.normal(g, (17,), F2), 16 + 16),
        (lambda g: samplers.normal(g, (17,), F8), 34 + 32),
        (lambda g: samplers.normal_serial(g, (18,), F4), 36),
        (lambda g: samplers.log_normal(g, (4,), F4), 8),
        (lambda g: samplers.randint(g, (5,), np.dtype(np.uint8), 0, 7), 5),
        (lambda g: samplers.randint(g, (5,), np.dtype(np.int64), 0, 2**28), 10),
        (lambda g: samplers.random(g, (5,), np.dtype(np.int64)), 10),
        (lambda g: samplers.random(g, (5,), F4), 5),
        (lambda g: samplers.randperm(g, 6), 5),
        (lambda g: samplers.randperm(g, 0), 0),
        (lambda g: samplers.bernoulli(g, (5,), np.dtype(np.bool_), 0.5), 10),
        (lambda g: samplers.bernoulli_tensor(g, (5,), F8, np.full(5, 0.5, F4)), 5),
        (lambda g: samplers.bernoulli_tensor(g, (5,), F4, np.full(5, 0.5, F8)), 10),
        (lambda g: samplers.dropout_noise(g, (5,), F4, 0.5), 10),
        (lambda g: samplers.exponential(g, (5,), F4), 10),
        (lambda g: samplers.geometric(g, (5,), np.dtype(np.int64), 0.5), 10),
        (lambda g: samplers.multinomial(g, np.ones((2, 5), F4), 3), 20),
        (lambda g: samplers.multinomial(g, np.ones((2, 5), F4), 3, True), 12),
        (lambda g: samplers.standard_gamma(g, np.zeros(3, F4)), 0),
        (lambda g: samplers.binomial(g, np.full(3, 8.0, F4), np.array([0.0, 1.0, 2.0], F4)), 0),
        (lambda g: samplers.normal(g, (0,), F4), 0),
    ],
)
def test_words_spent(sample: Callable[[Generator], np.ndarray], words: int) -> None:
    before, after = seeded(12), seeded(12)
    sample(after)
    assert words_spent(before, after) == words


def test_short_pieces_of_normals_are_cut_from_a_long_one() -> None:
    apart, together = seeded(2), seeded(2)
    parts = [samplers.normal(apart, (n,), F4) for n in (16, 48, 16, 320, 160, 64, 16, 640)]
    assert same(np.concatenate(parts), samplers.normal(together, (1280,), F4))
    assert same_state(apart, together)
    parts[0][:] = 0  # what was handed out is the caller's own
    assert samplers.normal(apart, (16,), F4).any()


def test_short_uneven_pieces_of_normals_are_those_of_long_draws() -> None:
    """A draw of a table of words (the second and later ones) and the first, made at once, give the same digits."""
    g = seeded(5)
    for n in (40, 40, 17, 16, 23, 31, 700, 33, 1000, 40) * 4:
        fresh = Generator()
        fresh.set_state_array(g.get_state_array())
        assert same(samplers.normal(g, (n,), F4), samplers.normal(fresh, (n,), F4))
        assert same_state(g, fresh)


@pytest.mark.parametrize("spent", [0, 1, 623, 624, 625, 1248, 2495, 2496, 2497, 5000])
def test_a_state_leads_on_from_any_word_and_back_again(spent: int) -> None:
    g = seeded(3)
    samplers.random(g, (spent,), np.dtype(np.int32))
    state = g.get_state_array()
    twin = Generator()
    twin.set_state_array(state)
    assert np.array_equal(twin.get_state_array(), state)  # before a word of it is drawn
    assert same(samplers.uniform(g, (3000,), F4), samplers.uniform(twin, (3000,), F4))
    assert same_state(g, twin)
    assert not np.array_equal(g.get_state_array(), state)


def test_results_are_new_contiguous_arrays_of_the_asked_shape() -> None:
    for shape in ((), (2, 3), (0, 4), (40, 1000)):
        g = seeded()
        made = [
            samplers.uniform(g, shape, F4),
            samplers.normal(g, shape, F4),
            samplers.normal(g, shape, np.dtype(np.complex128)),
            samplers.randint(g, shape, np.dtype(np.int16), 0, 5),
            samplers.bernoulli(g, shape, F4, 0.5),
            samplers.exponential(g, shape, F4),
            samplers.poisson(g, np.ones(shape, F4)),
        ]
        for array in made:
            assert isinstance(array, np.ndarray) and array.shape == shape
            assert array.flags.c_contiguous and array.flags.writeable
            array[...] = 0  # and the stream does not see it
        assert same_state(g, g.clone_state())


def test_no_normal_is_minus_zero() -> None:
    # 1 - u is 1 for the word 0: a radius of 0, times a negative cosine
    words = np.zeros(16, np.uint32)
    words[8:] = np.arange(8) << 21
    assert same(box_muller_float32(words), np.zeros(16, F4))


# ---- permutations, ties


def shuffled_forward(steps: list[int]) -> list[int]:
    places = list(range(len(steps) + 1))
    for i, step in enumerate(steps):
        places[i], places[i + step] = places[i + step], places[i]
    return places


def shuffled_inside_out(steps: list[int]) -> list[int]:
    places = [0] * len(steps)
    for i, step in enumerate(steps):
        places[i] = places[step]
        places[step] = i
    return places


@pytest.mark.parametrize("n", [1, 2, 3, 10, 511, 512, 513, 514, 3000, 20_000])
@pytest.mark.parametrize("seed", [0, 1])
def test_shuffles_all_at_once_are_those_step_by_step(n: int, seed: int) -> None:
    g = seeded(seed)
    steps = (g._words(n - 1) % np.arange(n, 1, -1, dtype=np.uint32)).astype(np.uint32)
    assert integers._shuffled_forward(steps).tolist() == shuffled_forward(steps.tolist())
    assert integers._exchanged(np.append(np.arange(n - 1) + steps, n - 1)).tolist() == shuffled_forward(steps.tolist())
    steps = (g._random64s(n) % np.arange(1, n + 1, dtype=np.uint64)).view(np.int64)
    assert integers._shuffled_inside_out(steps).tolist() == shuffled_inside_out(steps.tolist())


@pytest.mark.parametrize("n", [0, 1, 2, 700, 100_000])
def test_randperm_is_a_permutation(n: int) -> None:
    assert np.array_equal(np.sort(samplers.randperm(seeded(5), n)), np.arange(n))


@pytest.mark.parametrize("n", [1, 2, 3, 17, 18, 64, 65, 300])
@pytest.mark.parametrize("distinct", [1, 3, 1000])
def test_topk_order_is_sorted(n: int, distinct: int) -> None:
    values = seeded(n)._words(n) % np.uint32(distinct)
    for k in {1, (n + 1) // 2, n}:
        order = _topk_order.topk_order(values.astype(F8).tolist(), k)
        assert len(set(order)) == k
        assert values[order].tolist() == np.sort(values)[::-1][:k].tolist()


def test_topk_order_falls_back_to_a_heap(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [*map(float, range(400)), *map(float, range(400, 0, -1))]  # the median of three is bad at every cut
    heaps = []
    heap_select = _topk_order._Job.heap_select
    monkeypatch.setattr(_topk_order._Job, "heap_select", lambda job, *range_: heaps.append(heap_select(job, *range_)))
    order = _topk_order.topk_order(values, len(values))
    assert heaps
    assert [values[i] for i in order] == sorted(values, reverse=True)


# ---- errors


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda g: samplers.uniform(g, (3,), F4, 2, 1), RuntimeError, r"found from=2 > to=1"),
        (lambda g: samplers.uniform(g, (3,), F4, 0, 1e39), RuntimeError, "to is out of bounds for float"),
        (lambda g: samplers.uniform(g, (3,), F2, 0, 1e5), RuntimeError, "to is out of bounds for c10::Half"),
        (lambda g: samplers.uniform(g, (3,), F4, -3e38, 3e38), RuntimeError, "to-from to exceed the limit"),
        (
            lambda g: samplers.uniform(g, (3,), np.dtype(np.int32)),
            NotImplementedError,
            "\"check_uniform_bounds\" not implemented for 'Int'",
        ),
        (lambda g: samplers.normal(g, (0,), F4, 0, -1), RuntimeError, r"normal expects std >= 0.0, but found std -1"),
        (
            lambda g: samplers.normal(g, (3,), np.dtype(np.int64)),
            NotImplementedError,
            "\"normal_kernel_cpu\" not implemented for 'Long'",
        ),
        (
            lambda g: samplers.normal_tensor(g, np.zeros(2, F4), np.array([1, -1], F4)),
            RuntimeError,
            "normal expects all elements of std >= 0.0",
        ),
        (lambda g: samplers.bernoulli(g, (3,), F4, 1.5), RuntimeError, r"p to be in \[0, 1\], but got p=1.5"),
        (lambda g: samplers.dropout_noise(g, (3,), F4, -1), RuntimeError, "between 0 and 1, but got -1"),
        (lambda g: samplers.exponential(g, (3,), F4, 0), RuntimeError, "lambda > 0.0, but found lambda=0"),
        (lambda g: samplers.cauchy(g, (3,), F4, 0, -1), RuntimeError, "sigma > 0.0, but found sigma=-1"),
        (lambda g: samplers.log_normal(g, (3,), F4, 0, 0), RuntimeError, "std > 0.0, but found std=0"),
        (lambda g: samplers.geometric(g, (3,), F4, 1), RuntimeError, r"p to be in \(0, 1\), but got p=1"),
        (lambda g: samplers.poisson(g, np.array([-1], F4)), RuntimeError, "invalid Poisson rate"),
        (lambda g: samplers.binomial(g, np.array([1]), np.array([0.5])), ValueError, "dtypes for count, got: Long"),
        (lambda g: samplers.standard_gamma(g, np.ones(1, F2)), NotImplementedError, "\"gamma_cpu\" not .* 'Half'"),
        (lambda g: samplers.dirichlet(g, np.ones(1, F2)), NotImplementedError, "\"dirichlet\" not .* 'Half'"),
        (lambda g: samplers.multinomial(g, np.ones(2, F4), 0), RuntimeError, "cannot sample n_sample <= 0 samples"),
        (lambda g: samplers.multinomial(g, np.ones(2, F4), 3), RuntimeError, "samples without replacement"),
        (lambda g: samplers.multinomial(g, np.ones(()), 1), RuntimeError, "prob_dist must be 1 or 2 dim"),
        (lambda g: samplers.multinomial(g, np.zeros(2, F4), 1), RuntimeError, r"sum of probabilities <= 0"),
        (lambda g: samplers.multinomial(g, np.array([1, np.nan], F4), 1), RuntimeError, "either `inf`, `nan` or"),
        (lambda g: samplers.multinomial(g, np.array([1, -1], F4), 2, True), RuntimeError, "entry < 0"),
        (lambda g: samplers.multinomial(g, np.array([1, np.inf], F4), 2, True), RuntimeError, "infinity or NaN"),
        (lambda g: samplers.randint(g, (2,), np.dtype(np.int64), 5, 5), RuntimeError, "got from=5 >= to=5"),
        (lambda g: samplers.randint(g, (2,), np.dtype(np.uint8), 0, 300), RuntimeError, "bounds for unsigned char"),
        (lambda g: samplers.random_from(g, (2,), np.dtype(np.int8), 200), RuntimeError, "bounds for signed char"),
        (lambda g: samplers.random(g, (2,), np.dtype(np.uint16)), NotImplementedError, "implemented for 'UInt16'"),
        (lambda g: samplers.randperm(g, -1), RuntimeError, r"negative dimension -1: \[-1\]"),
        (lambda g: samplers.randperm(g, 300, np.dtype(np.uint8)), RuntimeError, "to type uint8_t without overflow"),
        (lambda g: samplers.randperm(g, 2050, F2), RuntimeError, "n cannot be greater than 2049 for Half type"),
    ],
)
def test_errors_draw_nothing(call: Callable[[Generator], Any], error: type[Exception], message: str) -> None:
    g = seeded(7)
    with pytest.raises(error, match=message):
        call(g)
    assert same_state(g, seeded(7))


def test_a_bad_probability_is_found_when_it_is_reached() -> None:
    g, other = seeded(1), seeded(1)
    with pytest.raises(RuntimeError, match="Expected p_in >= 0 && p_in <= 1"):
        samplers.bernoulli_tensor(g, (4,), F4, np.array([0.1, 0.2, 1.5, 0.3], F4))
    samplers.uniform(other, (2,), F4)
    assert same_state(g, other)


def test_a_range_that_the_dtype_has_gaps_in_warns() -> None:
    with pytest.warns(UserWarning, match=r"to - 1 is out of bounds \[-\(2\^11\), 2\^11\]"):
        made = samplers.randint(seeded(), (1000,), F2, 0, 65504)
    assert made.max() < 65504  # though 65503 rounds to 65504


# ---- numbers


def test_fused_multiply_add_rounds_once() -> None:
    a = samplers.uniform(seeded(1), (2000,), F8)
    for b, c in ((0.7, -0.3), (1e-3, 1.0), (3.1, -3.0e-16), (1e305, -1e304), (0.7, 0.0), (1.0, 0.1)):
        exact = [float(Fraction(x) * Fraction(b) + Fraction(c)) for x in a.tolist()]
        assert fused_multiply_add(a, b, c).tolist() == exact


def test_fused_multiply_add_of_zeros() -> None:
    zeros = np.zeros(2)
    assert not np.signbit(fused_multiply_add(zeros, -1.0, 0.0)).any()
    assert np.signbit(fused_multiply_add(zeros, -1.0, -0.0)).all()


def test_fused_multiply_add_of_infinities() -> None:
    a = np.array([0.5, 2.0])
    assert fused_multiply_add(a, math.inf, 1.0).tolist() == [math.inf, math.inf]
    assert fused_multiply_add(a, 2.0, -math.inf).tolist() == [-math.inf, -math.inf]
    assert fused_multiply_add(a, 1.5e308, 1.0).tolist() == [0.75e308, math.inf]


def test_what_overflows_is_infinite_and_warns_not() -> None:
    for dtype in (F2, F4, F8):
        huge = float(np.finfo(dtype).max)
        for made in (
            samplers.normal(seeded(), (100,), dtype, 0.0, huge),
            samplers.normal(seeded(), (10,), dtype, huge, huge),
            samplers.normal_tensor(seeded(), np.zeros(40, dtype), np.full(40, huge, dtype)),
            samplers.exponential(seeded(), (100,), dtype, 1 / huge),
            samplers.cauchy(seeded(), (100,), dtype, 0.0, huge),
            samplers.log_normal(seeded(), (100,), dtype, 0.0, 1e5),
        ):
            assert np.isinf(made).any() and not np.isnan(made).any()


@pytest.mark.parametrize("name", ["log", "log1p", "sin", "cos", "tan", "exp"])
def test_libm_has_the_c_librarys_digits(name: str) -> None:
    x = samplers.uniform(seeded(2), (3000,), F8)
    assert libm(name)(x).tolist() == [getattr(math, name)(v) for v in x.tolist()]


def test_libm_exp_overflows_to_infinity() -> None:
    assert libm("exp")(np.array([1000.0])).tolist() == [math.inf]


def test_rounding_to_float32_asks_where_it_is_not_sure() -> None:
    tie = 1.0 + 2.0**-24  # halfway between two float32
    asked = []

    def exact(unsure: np.ndarray) -> np.ndarray:
        asked.extend(unsure.tolist())
        return np.full(unsure.size, 1.0 + 2.0**-23)

    approximate = np.array([1.0, tie, 2.0])
    assert rounded_to_float32(approximate, approximate, exact).tolist() == [1.0, 1.0 + 2.0**-23, 2.0]
    assert asked == [1]


@pytest.mark.parametrize(
    ("sample", "mean", "variance"),
    [
        (lambda g, n: samplers.standard_gamma(g, np.full(n, 0.4)), 0.4, 0.4),
        (lambda g, n: samplers.standard_gamma(g, np.full(n, 5.0)), 5, 5),
        (lambda g, n: samplers.poisson(g, np.full(n, 3.0)), 3, 3),
        (lambda g, n: samplers.poisson(g, np.full(n, 60.0)), 60, 60),
        (lambda g, n: samplers.binomial(g, np.full(n, 12.0), np.full(n, 0.3)), 3.6, 2.52),
        (lambda g, n: samplers.binomial(g, np.full(n, 200.0), np.full(n, 0.6)), 120, 48),
        (lambda g, n: samplers.dirichlet(g, np.full((n, 2), 2.0))[:, 0], 0.5, 0.05),
        (lambda g, n: samplers.normal(g, (n,), F8, 3, 2), 3, 4),
        (lambda g, n: samplers.exponential(g, (n,), F8, 2), 0.5, 0.25),
    ],
)
def test_moments(sample: Callable[[Generator, int], np.ndarray], mean: float, variance: float) -> None:
    made = sample(seeded(11), 6000)
    assert abs(made.mean() - mean) < 4 * math.sqrt(variance / made.size)
    assert abs(made.var() / variance - 1) < 0.2


@pytest.mark.parametrize("seed", range(8))
def test_normals_made_ahead_are_those_drawn_one_by_one(seed):
    """Short draws of normals, with other draws, states and single normals between them, near a block's end too."""
    choose, source = random.Random(seed), Generator().manual_seed(seed)
    twin = Generator().manual_seed(seed)
    for _ in range(1200):
        what, count = choose.choice("nnnnnnnnnnwsk"), choose.randrange(16)
        if what == "n":
            dtype = choose.choice((np.dtype(np.float32), np.dtype(np.float64)))
            drawn = source._few_normals(count, dtype)
            expected = np.array([twin._normal() for _ in range(count)], dtype)
            assert drawn.dtype == dtype and drawn.tobytes() == expected.tobytes()
        elif what == "w":
            assert (source._words(count) == twin._words(count)).all()
        elif what == "s":
            source.set_state_array(source.get_state_array())
        else:
            assert source._normal() == twin._normal()
    assert (source.get_state_array() == twin.get_state_array()).all()


@pytest.mark.parametrize("blocks", [1, 8, 90])
def test_pythons_twister_and_numpys_are_one(monkeypatch, blocks):
    """Seeds, keys and words of the one are those of the other, and of a stream that changes from one to the other."""
    monkeypatch.delitem(sys.modules, "numpy.random", raising=False)
    for seed in (0, 1, 2**32 - 1):
        twister, expected = Twister(), np.random.RandomState(seed)
        twister.seed(seed)
        assert twister._numpys is None
        assert (twister.key() == expected.get_state()[1]).all()
        count = blocks * BLOCK_WORDS
        for number in range(3):
            words = twister.words(count)
            assert (words == expected.randint(0, 2**32, count, np.uint64)).all()
            assert (twister._numpys is None) is ((number + 1) * blocks <= 100)
            key = twister.key()
            assert (key == expected.get_state()[1]).all()
        twister.set_key(key)
        assert (twister.words(count) == expected.randint(0, 2**32, count, np.uint64)).all()
    for _ in range(60):
        twister.seed(7)
        twister.key()
    assert twister._numpys is not None
    assert (twister.words(BLOCK_WORDS) == np.random.RandomState(7).randint(0, 2**32, BLOCK_WORDS, np.uint64)).all()


def test_a_generator_takes_over_the_engine_of_one_that_is_gone(monkeypatch):
    """torchsde makes and seeds one for each increment of a Brownian motion; to make an engine took most of the time."""
    import numpy.random

    words = Twister().words(BLOCK_WORDS)  # of an engine that is now idle
    monkeypatch.setattr(numpy.random, "MT19937", None)
    for seed in (3, 4):
        generator = Generator().manual_seed(seed)
        expected = np.random.RandomState(seed).randint(0, 2**32, 2 * BLOCK_WORDS, np.uint64)
        assert (generator._words(2 * BLOCK_WORDS) == expected).all()
        del generator
    assert words.size == BLOCK_WORDS


def test_first_draws_import_no_random_module():
    """They take a tenth of the time of the import."""
    program = (
        "import sys, wengert as torch\n"
        "torch.manual_seed(0)\n"
        "print(torch.rand(3).tolist(), torch.randn(2, 8).shape, torch.nn.Linear(8, 8).weight.shape)\n"
        "print('numpy.random' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines() == [
        "[0.49625658988952637, 0.7682217955589294, 0.08847743272781372] torch.Size([2, 8]) torch.Size([8, 8])",
        "False",
    ], done.stderr


def test_a_generator_that_outlives_the_modules_says_nothing() -> None:
    """What holds it is cleared after the modules when the interpreter ends."""
    program = (
        "import numpy.random, wengert\n"
        "numpy.kept = wengert.Generator().manual_seed(1)\n"
        "wengert.rand(3, generator=numpy.kept)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
