"""PyTorch beside the random stream: every sampler bit by bit, and the state of the two generators after every call."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from wengert._arrays import random as samplers
from wengert._arrays.random import topk_order as _topk_order
from wengert._arrays.random.generator import Generator

F2, F4, F8 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)
SIZES = (0, 1, 2, 3, 15, 16, 17, 31, 32, 100, 1000)
SEEDS = (0, 1, 2**63 + 5, -7)
LARGE = 700_000


def seeded(seed: int = 0) -> Generator:
    return Generator().manual_seed(seed)


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal to the bit, NaN and the sign of zero included."""
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.fixture
def torch() -> ModuleType:
    """The real torch, with the kernels that the stream is modelled on."""
    real = pytest.importorskip("torch")
    if real.backends.cpu.get_cpu_capability() not in ("AVX2", "AVX512"):
        pytest.skip("torch rounds float32 normals otherwise without AVX2")
    return real


class Pair:
    """The two generators, and the comparison of what comes out of them."""

    def __init__(self, torch: ModuleType, seed: int) -> None:
        self.torch = torch
        self.ours, self.theirs = seeded(seed), torch.Generator().manual_seed(seed)

    def check(self, ours: np.ndarray, theirs: Any, what: object = "") -> None:
        numbers = self.array(theirs)
        assert ours.dtype == numbers.dtype and ours.shape == numbers.shape, what
        if not same(ours, numbers):
            nan = np.isnan(ours) & np.isnan(numbers)  # of which there is more than one
            left, right = np.where(nan, 0, ours), np.where(nan, 0, numbers)
            places = np.flatnonzero(left != right)
            assert same(left, right), (what, places[:5], ours.ravel()[places[:5]], numbers.ravel()[places[:5]])
        assert same(self.ours.get_state_array(), self.theirs.get_state().numpy()), what

    def exchange(self) -> None:
        """Two new generators, each in the state of the other's old one."""
        ours, theirs = Generator(), self.torch.Generator()
        ours.set_state_array(self.theirs.get_state().numpy())
        theirs.set_state(self.torch.from_numpy(self.ours.get_state_array()))
        self.ours, self.theirs = ours, theirs

    def array(self, tensor: Any) -> np.ndarray:
        if tensor.dtype == self.torch.bfloat16:
            return tensor.view(self.torch.int16).numpy().view(pytest.importorskip("ml_dtypes").bfloat16)
        return tensor.numpy()

    def empty(self, size: int, dtype: np.dtype) -> Any:
        return self.torch.empty(size, dtype=getattr(self.torch, np.dtype(dtype).name))


def floats() -> list[np.dtype]:
    """The real floating dtypes, bfloat16 among them where ml_dtypes is installed."""
    try:
        import ml_dtypes
    except ImportError:
        return [F4, F8, F2]
    return [F4, F8, F2, np.dtype(ml_dtypes.bfloat16)]


@pytest.mark.parametrize("seed", SEEDS)
def test_seed_and_state(torch: ModuleType, seed: int) -> None:
    pair = Pair(torch, seed)
    assert pair.ours.initial_seed() == pair.theirs.initial_seed()
    for spent, normals in itertools.product((0, 1, 622, 623, 624, 625), (0, 1)):
        pair.check(samplers.uniform(pair.ours, (spent,), F4), torch.rand(spent, generator=pair.theirs))
        pair.check(samplers.normal(pair.ours, (normals,), F4), torch.randn(normals, generator=pair.theirs))
        pair.exchange()


@pytest.mark.parametrize("seed", SEEDS)
def test_continuous(torch: ModuleType, seed: int) -> None:
    pair = Pair(torch, seed)
    g, t = pair.ours, pair.theirs
    for n, dtype in itertools.product(SIZES, [*floats(), np.dtype(np.complex64), np.dtype(np.complex128)]):
        for low, high in ((0.0, 1.0), (-1.5, 2.7), (0.0, 0.3), (2.0, 2.0)):
            theirs = pair.empty(n, dtype).uniform_(low, high, generator=t)
            pair.check(samplers.uniform(g, (n,), dtype, low, high), theirs, (n, dtype, low, high))
        for mean, std in ((0.0, 1.0), (0.3, 1.0), (0.0, 0.7), (1.7, 0.013)):
            theirs = pair.empty(n, dtype).normal_(mean, std, generator=t)
            pair.check(samplers.normal(g, (n,), dtype, mean, std), theirs, (n, dtype, mean, std))
    for n, dtype in itertools.product(SIZES, floats()):
        theirs = pair.empty(2 * n, dtype)[::2].normal_(0.5, 2.0, generator=t).contiguous()
        pair.check(samplers.normal_serial(g, (n,), dtype, 0.5, 2.0), theirs, (n, dtype))
        for scale in (1.0, 0.37):
            pair.check(
                samplers.exponential(g, (n,), dtype, scale), pair.empty(n, dtype).exponential_(scale, generator=t)
            )
            theirs = pair.empty(n, dtype).cauchy_(1 - scale, scale, generator=t)
            pair.check(samplers.cauchy(g, (n,), dtype, 1 - scale, scale), theirs, (n, dtype, scale))
            theirs = pair.empty(n, dtype).log_normal_(1 - scale, scale, generator=t)
            pair.check(samplers.log_normal(g, (n,), dtype, 1 - scale, scale), theirs, (n, dtype, scale))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.filterwarnings("ignore:.*is out of bounds.*:UserWarning")
def test_integers(torch: ModuleType, seed: int) -> None:
    pair = Pair(torch, seed)
    g, t = pair.ours, pair.theirs
    classic = [np.dtype(name) for name in ("int64", "int32", "int16", "int8", "uint8", "bool")]
    for n in SIZES:
        for dtype in [*floats(), *classic]:
            pair.check(samplers.random(g, (n,), dtype), pair.empty(n, dtype).random_(generator=t), (n, dtype))
            for low in (0, 1) if dtype == np.bool_ else (0, 1, 100):
                theirs = pair.empty(n, dtype).random_(low, None, generator=t)
                pair.check(samplers.random_from(g, (n,), dtype, low), theirs, (n, dtype, low))
        for dtype in (np.dtype(name) for name in ("uint16", "uint32", "uint64", "int16", "float16")):
            theirs = pair.empty(n, dtype).random_(3, 1000, generator=t)
            pair.check(samplers.randint(g, (n,), dtype, 3, 1000), theirs, (n, dtype))
        for low, high in ((-5, 7), (0, 2**28 - 1), (0, 2**28), (-(2**40), 2**50), (-(2**63), 2**63 - 1)):
            for dtype in (classic[0], F4, F8):
                theirs = pair.empty(n, dtype).random_(low, high, generator=t)
                pair.check(samplers.randint(g, (n,), dtype, low, high), theirs, (n, dtype, low, high))
        for dtype in (classic[0], F4, F8):
            theirs = pair.empty(n, dtype).random_(-(2**63), None, generator=t)
            pair.check(samplers.random_from(g, (n,), dtype, -(2**63)), theirs, (n, dtype))
        for dtype in [*floats(), *classic[:3]]:
            theirs = torch.randperm(n, dtype=getattr(torch, dtype.name), generator=t)
            pair.check(samplers.randperm(g, n, dtype), theirs, (n, dtype))


@pytest.mark.parametrize("seed", SEEDS)
def test_coins(torch: ModuleType, seed: int) -> None:
    pair = Pair(torch, seed)
    g, t = pair.ours, pair.theirs
    for n, dtype in itertools.product(SIZES, [*floats(), np.dtype(np.int64), np.dtype(np.uint8), np.dtype(np.bool_)]):
        for p in (0.0, 1.0, 0.3):
            pair.check(samplers.bernoulli(g, (n,), dtype, p), pair.empty(n, dtype).bernoulli_(p, generator=t), (n, p))
        if dtype != np.bool_:
            theirs = pair.empty(n, dtype).geometric_(0.3, generator=t)
            pair.check(samplers.geometric(g, (n,), dtype, 0.3), theirs, (n, dtype))
        for of in floats():
            p = torch.rand(n).to(getattr(torch, of.name))
            theirs = pair.empty(n, dtype).bernoulli_(p, generator=t)
            pair.check(samplers.bernoulli_tensor(g, (n,), dtype, pair.array(p)), theirs, (n, dtype, of))
    for n, dtype in itertools.product(SIZES[1:], floats()):
        torch.default_generator.set_state(t.get_state())
        ones = torch.ones(n, dtype=getattr(torch, dtype.name))
        theirs = torch.nn.functional.dropout(ones, 0.3)
        kept = torch.native_dropout(ones, 0.3, True)[1]
        t.set_state(torch.get_rng_state())
        ours = samplers.dropout_noise(g, (n,), dtype, 0.3)
        mask = samplers.native_dropout_mask(g, (n,), 0.3)
        pair.check(ours, theirs, (n, dtype))
        pair.check(mask, kept, (n, dtype))


@pytest.mark.parametrize("seed", SEEDS)
def test_rejection(torch: ModuleType, seed: int) -> None:
    pair = Pair(torch, seed)
    g, t = pair.ours, pair.theirs
    torch.manual_seed(seed)
    for n, dtype in itertools.product((0, 1, 2, 31, 300), floats()):
        of = getattr(torch, dtype.name)
        for scale in (0.9, 5.0, 30.0, 1000.0):
            rate = (torch.rand(n) * scale).to(of)
            pair.check(samplers.poisson(g, pair.array(rate)), torch.poisson(rate, generator=t), (n, dtype, scale))
        if dtype not in (F4, F8):
            continue
        for scale in (0.05, 1.0, 10.0, 1000.0):
            alpha = (torch.rand(n) * scale).to(of)
            theirs = torch._standard_gamma(alpha, generator=t)
            pair.check(samplers.standard_gamma(g, alpha.numpy()), theirs, (n, dtype, scale))
        for scale in (3, 18, 100, 10000, 3e7):
            count, prob = (torch.rand(n) * scale).ceil().to(of), torch.rand(n).to(of)
            theirs = torch.binomial(count, prob, generator=t)
            pair.check(samplers.binomial(g, count.numpy(), prob.numpy()), theirs, (n, dtype, scale))
    special = torch.tensor([0.0, -1.0, 1e-30, 1e30])
    pair.check(samplers.standard_gamma(g, special.numpy()), torch._standard_gamma(special, generator=t))


@pytest.mark.parametrize("shape", [(1, 2), (20, 3), (20, 5), (3, 50), (2, 1000)])
def test_dirichlet(torch: ModuleType, shape: tuple[int, int]) -> None:
    pair = Pair(torch, 5)
    alpha = torch.rand(shape) * 3
    theirs = torch._sample_dirichlet(alpha, generator=pair.theirs)
    pair.check(samplers.dirichlet(pair.ours, alpha.numpy()), theirs)
    # in float64 the order of the sum shows, which PyTorch chooses by the processor
    theirs = torch._sample_dirichlet(alpha.double(), generator=pair.theirs).numpy()
    ours = samplers.dirichlet(pair.ours, alpha.double().numpy())
    assert np.all(np.abs(ours - theirs) <= 4 * np.spacing(theirs))
    assert same(pair.ours.get_state_array(), pair.theirs.get_state().numpy())


@pytest.mark.parametrize("seed", SEEDS)
def test_multinomial(torch: ModuleType, seed: int) -> None:
    pair = Pair(torch, seed)
    torch.manual_seed(seed)
    for shape, dtype in itertools.product(((1,), (5,), (3, 4), (300,), (7, 70), (2, 1000)), floats()):
        prob = torch.rand(shape).to(getattr(torch, dtype.name))
        prob[..., 1::3] = 0  # equal ratios, whose order is the sort's
        for count, replacement in ((1, False), (2, False), (shape[-1], False), (1, True), (50, True)):
            if replacement or count <= shape[-1]:
                theirs = torch.multinomial(prob, count, replacement, generator=pair.theirs)
                ours = samplers.multinomial(pair.ours, pair.array(prob), count, replacement)
                pair.check(ours, theirs, (shape, dtype, count, replacement))


def test_topk_order(torch: ModuleType) -> None:
    for n, distinct in itertools.product((1, 3, 4, 16, 17, 64, 129, 1000), (1, 2, 5, 50)):
        values = torch.randint(0, distinct, (n,)).float()
        for k in {1, (n + 63) // 64, (n + 1) // 2, n}:
            assert _topk_order.topk_order(values.tolist(), k) == torch.topk(values, k).indices.tolist()
    organ_pipes = torch.cat((torch.arange(400.0), torch.arange(400.0, 0.0, -1.0)))  # on which introsort turns to heaps
    assert _topk_order.topk_order(organ_pipes.tolist(), 800) == torch.topk(organ_pipes, 800).indices.tolist()


@pytest.mark.parametrize("dtype", [F4, F8])
def test_normal_with_tensors(torch: ModuleType, dtype: np.dtype) -> None:
    pair = Pair(torch, 3)
    g, t = pair.ours, pair.theirs
    mean = torch.rand(3, 7).to(getattr(torch, dtype.name))
    for std in (torch.rand(7), torch.rand(7).double(), torch.tensor(0.4), torch.rand(5, 3, 1)):
        theirs = torch.normal(mean, std, generator=t)
        pair.check(samplers.normal_tensor(g, mean.numpy(), std.numpy()), theirs)
        theirs = torch.normal(0.3, std, generator=t)
        pair.check(samplers.normal_tensor(g, 0.3, std.numpy()), theirs)
    pair.check(samplers.normal_tensor(g, mean.numpy(), 0.7), torch.normal(mean, 0.7, generator=t))


@pytest.mark.parametrize("seed", SEEDS[:2])
def test_large(torch: ModuleType, seed: int) -> None:
    pair = Pair(torch, seed)
    g, t = pair.ours, pair.theirs
    for n in (LARGE, LARGE + 9):
        pair.check(samplers.uniform(g, (n,), F4), torch.rand(n, generator=t))
        pair.check(samplers.uniform(g, (n,), F4, -1, 1.3), torch.empty(n).uniform_(-1, 1.3, generator=t))
        pair.check(samplers.uniform(g, (n,), F8), torch.rand(n, generator=t, dtype=torch.float64))
        pair.check(samplers.normal(g, (n,), F4), torch.randn(n, generator=t))
        pair.check(samplers.normal(g, (n,), F4, 0.1, 0.02), torch.empty(n).normal_(0.1, 0.02, generator=t))
        pair.check(samplers.normal(g, (n,), F8), torch.randn(n, generator=t, dtype=torch.float64))
        pair.check(samplers.normal(g, (n,), F2), torch.randn(n, generator=t, dtype=torch.float16))
        theirs = torch.randint(0, 10, (n,), generator=t)
        pair.check(samplers.randint(g, (n,), np.dtype(np.int64), 0, 10), theirs)
        pair.check(samplers.randperm(g, n), torch.randperm(n, generator=t))
        pair.check(samplers.bernoulli(g, (n,), F4, 0.1), torch.empty(n).bernoulli_(0.1, generator=t))
        pair.check(samplers.exponential(g, (n,), F4), torch.empty(n).exponential_(generator=t))
        pair.check(samplers.cauchy(g, (n,), F4), torch.empty(n).cauchy_(generator=t))
        pair.check(samplers.geometric(g, (n,), F4, 0.2), torch.empty(n).geometric_(0.2, generator=t))


ANY_CALL: list[Callable[..., tuple[np.ndarray, Any]]] = [
    lambda torch, g, t, n: (samplers.uniform(g, (n,), F4), torch.rand(n, generator=t)),
    lambda torch, g, t, n: (samplers.uniform(g, (n,), F8), torch.rand(n, generator=t, dtype=torch.float64)),
    lambda torch, g, t, n: (samplers.normal(g, (n,), F4), torch.randn(n, generator=t)),
    lambda torch, g, t, n: (samplers.normal(g, (n,), F8), torch.randn(n, generator=t, dtype=torch.float64)),
    lambda torch, g, t, n: (samplers.normal(g, (n,), F2), torch.randn(n, generator=t, dtype=torch.float16)),
    lambda torch, g, t, n: (samplers.randint(g, (n,), np.dtype(np.int64), 0, 9), torch.randint(9, (n,), generator=t)),
    lambda torch, g, t, n: (samplers.randperm(g, n), torch.randperm(n, generator=t)),
    lambda torch, g, t, n: (samplers.bernoulli(g, (n,), F4, 0.5), torch.empty(n).bernoulli_(0.5, generator=t)),
    lambda torch, g, t, n: (samplers.log_normal(g, (n,), F4), torch.empty(n).log_normal_(generator=t)),
    lambda torch, g, t, n: (
        samplers.standard_gamma(g, np.full(n, 0.7, F4)),
        torch._standard_gamma(torch.full((n,), 0.7), generator=t),
    ),
]


@pytest.mark.parametrize("seed", range(6))
def test_any_order_of_calls(torch: ModuleType, seed: int) -> None:
    pair = Pair(torch, seed)
    choices = np.random.RandomState(seed)
    for _ in range(120):
        kind, n = choices.randint(len(ANY_CALL)), int(choices.choice([0, 1, 2, 3, 15, 16, 17, 48, 100, 700]))
        pair.check(*ANY_CALL[kind](torch, pair.ours, pair.theirs, n), (kind, n))
        if choices.randint(8) == 0:
            pair.exchange()
