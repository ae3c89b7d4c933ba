"""Views, writes in place and shared memory: random programs compared with PyTorch and NumPy, and rules."""

from __future__ import annotations

import gc
import math
import time
import warnings
import weakref
from typing import Any

import numpy as np
import pytest
import view_programs as programs
from hypothesis import given, settings
from hypothesis import strategies as st

import wengert as T
from wengert._base.modes import slow_always, slow_if_recording
from wengert._tape import replaced, views
from wengert._tape.tensor import stale_views
from wengert._tape.unrecorded import no_grad_views
from wengert._tape.views import prune

SHAPES = [(), (1,), (3,), (4,), (2, 3), (3, 3), (1, 4), (2, 1, 3), (2, 2, 2), (0,), (2, 0), (4, 4)]
small = st.integers(0, 8)


def steps(names: Any = programs.NAMES, recorded: Any = None) -> Any:
    how = st.sampled_from([True, True, True, False]) if recorded is None else st.just(recorded)
    return st.lists(st.tuples(st.sampled_from(names), small, small, small, small, how), min_size=1, max_size=7)


# ------------------------------------------------------------------------------------------- random programs, PyTorch
@pytest.mark.compare
@settings(max_examples=600)
@given(st.sampled_from(SHAPES), st.sampled_from(["float", "float", "complex"]), st.booleans(), steps())
def test_random_programs_do_what_pytorch_does(shape: Any, kind: str, leaf: bool, program: Any) -> None:
    """The same values, versions, nodes and gradients, or the same errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch = pytest.importorskip("torch")
    ours = programs.run(T, shape, kind, leaf, program)
    theirs = programs.run(torch, shape, kind, leaf, program)
    assert programs.difference(ours, theirs) is None


# --------------------------------------------------------------------------------------------- random programs, NumPy
class Array:
    """A NumPy array with the methods of a tensor that the programs use; ``a`` always shares memory as a view does."""

    def __init__(self, a: Any) -> None:
        self.a = np.asarray(a)

    shape = property(lambda self: self.a.shape)
    dtype = property(lambda self: self.a.dtype)
    mT = property(lambda self: Array(self.a.swapaxes(-1, -2)))
    real = property(lambda self: self)

    def dim(self) -> int:
        return self.a.ndim

    def numel(self) -> int:
        return self.a.size

    def stride(self) -> Any:
        return [s // self.a.itemsize for s in self.a.strides]

    def is_complex(self) -> bool:
        return False

    def _is_view(self) -> bool:
        return False

    def _key(self, key: Any) -> Any:
        key = key if isinstance(key, tuple) else (key,)
        key = tuple(k.a if isinstance(k, Array) else k for k in key)
        return key if any(k is Ellipsis for k in key) else (*key, Ellipsis)

    def __getitem__(self, key: Any) -> Array:
        return Array(self.a[self._key(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self.a[self._key(key)] = value.a if isinstance(value, Array) else value

    def select(self, d: int, i: int) -> Array:
        return self[(*[slice(None)] * d, i)]

    def narrow(self, d: int, start: int, n: int) -> Array:
        return self[(*[slice(None)] * d, slice(start, start + n))]

    def transpose(self, i: int, j: int) -> Array:
        return Array(self.a.swapaxes(i, j)) if self.a.ndim else Array(self.a[...])

    def permute(self, dims: Any) -> Array:
        return Array(self.a.transpose(dims))

    def t(self) -> Array:
        return Array(self.a.T)

    def movedim(self, i: int, j: int) -> Array:
        return Array(np.moveaxis(self.a, i, j)) if self.a.ndim else Array(self.a[...])

    def reshape(self, size: Any) -> Array:
        return Array(self.a.reshape(size))

    view = reshape

    def flatten(self) -> Array:
        return self if self.a.ndim == 1 else self.reshape(-1)

    def unsqueeze(self, d: int) -> Array:
        return Array(np.expand_dims(self.a, d))

    def squeeze(self, d: Any = None) -> Array:
        if d is None:
            return Array(self.a.squeeze())
        return Array(self.a.squeeze(d)) if self.a.ndim and self.a.shape[d] == 1 else Array(self.a[...])

    def expand(self, size: Any) -> Array:
        lead = len(size) - self.a.ndim
        size = [self.a.shape[i - lead] if n == -1 else n for i, n in enumerate(size)]
        r = np.broadcast_to(self.a, size)
        return Array(np.lib.stride_tricks.as_strided(self.a, r.shape, r.strides))

    def diagonal(self, offset: int, d1: int, d2: int) -> Array:
        r = self.a.diagonal(offset, d1, d2)
        r.flags.writeable = True
        return Array(r)

    def unfold(self, d: int, size: int, step: int) -> Array:
        if not self.a.ndim:
            return self.reshape(1)
        windows = np.lib.stride_tricks.sliding_window_view(self.a, size, d, writeable=True)
        return Array(windows[(*[slice(None)] * d, slice(None, None, step))])

    def unbind(self, d: int) -> list[Array]:
        return [self.select(d, i) for i in range(self.shape[d])]

    def split(self, n: int, d: int) -> list[Array]:
        return [self.narrow(d, i, min(n, self.shape[d] - i)) for i in range(0, max(self.shape[d], 1), n)]

    def chunk(self, n: int, d: int) -> list[Array]:
        return self.split(max(math.ceil(self.shape[d] / n), 1), d)

    def _write(self, value: Any) -> Array:
        self.a[...] = value
        return self

    def add_(self, y: Any) -> Array:
        return self._write(self.a + getattr(y, "a", y))

    __iadd__ = add_

    def mul_(self, y: Any) -> Array:
        return self._write(self.a * getattr(y, "a", y))

    def copy_(self, y: Any) -> Array:
        return self._write(y.a)

    def zero_(self) -> Array:
        return self._write(0)

    def fill_(self, value: float) -> Array:
        return self._write(value)

    def sin_(self) -> Array:
        return self._write(np.sin(self.a))

    def tanh_(self) -> Array:
        return self._write(np.tanh(self.a))

    def index_put_(self, where: Any, value: Array, accumulate: bool) -> Array:
        where = tuple(w.a for w in where)
        if accumulate:
            np.add.at(self.a, where, value.a)
        else:
            self.a[where] = value.a
        return self

    def masked_fill_(self, mask: Array, value: float) -> Array:
        self.a[mask.a] = value
        return self

    def clone(self) -> Array:
        return Array(self.a.copy())

    def sum(self) -> Array:
        return Array(self.a.sum())

    def exp(self) -> Array:
        return Array(np.exp(self.a))

    def __mul__(self, y: Any) -> Array:
        return Array(self.a * getattr(y, "a", y))


class Model:
    """What a program finds under the name of the package."""

    bool = np.bool_

    @staticmethod
    def tensor(values: Any, dtype: Any = None) -> Array:
        return Array(np.array(values, dtype))


FLOAT_STEPS = [n for n in programs.NAMES if n not in ("view_as_real", "detach", "data", "requires grad")]


def modelled(values: Any, made: list[tuple[Any, str]]) -> list[Any]:
    """The arrays of a program run by NumPy: those steps that did something on wengert."""
    arrays = [Array(values.copy())]
    for (name, target, a, b, c, _), said in made:
        if said != "done":
            continue
        x, other = arrays[target % len(arrays)], arrays[a % len(arrays)]
        if name in programs.PAIRS:
            result = programs.PAIRS[name](Model, x, other)
        else:
            table = next(t for t in (programs.VIEWS, programs.WRITES, programs.ALIASES) if name in t)
            result = table[name](Model, x, a, b, c)
        if isinstance(result, list):
            result = result[c % len(result)] if result else None
        if result is not None and not any(result is t for t in arrays):
            arrays.append(result)
    return arrays


@settings(max_examples=300)
@given(st.sampled_from(SHAPES), steps(FLOAT_STEPS, recorded=True))
def test_random_programs_have_numpys_values_and_their_derivative(shape: Any, program: Any) -> None:
    """Values are those of the same program on NumPy's views; the gradient is what differences of those give."""
    run = programs.Run(T, shape, "float", False)
    made = [(step, run.step(step)) for step in program]
    values = run.leaf.detach().numpy()
    arrays = modelled(values, made)
    assert len(arrays) == len(run.tensors)
    for t, m in zip(run.tensors, arrays, strict=True):
        np.testing.assert_allclose(t.detach().numpy(), m.a, rtol=1e-12)

    gradient = run.gradients()
    if gradient is None or isinstance(gradient, str) or not values.size:
        return
    weights = [i + 1 if t.requires_grad else 0 for i, t in enumerate(run.tensors)]
    direction = np.cos(np.arange(values.size)).reshape(shape)

    def total(h: float) -> float:
        return float(sum(w * m.a.sum() for w, m in zip(weights, modelled(values + h * direction, made), strict=True)))

    numeric = (total(1e-6) - total(-1e-6)) / 2e-6
    assert np.vdot(gradient, direction) == pytest.approx(numeric, rel=1e-5, abs=1e-5 * max(1.0, abs(total(0.0))))


# --------------------------------------------------------------------------------------------------- who shares memory
def shares(x: Any, y: Any) -> bool:
    return bool(np.shares_memory(x.detach().numpy(), y.detach().numpy()))


def test_views_detached_tensors_and_arrays_share_memory() -> None:
    x = T.arange(12, dtype=T.float32).reshape(3, 4).requires_grad_()
    y = x * 1
    for v in (
        y[0],
        y[:, 1:3],
        y[..., ::2],
        y.t(),
        y.view(-1),
        y.reshape(2, 6),
        y.unsqueeze(0),
        y[None],
        y.expand(2, 3, 4),
        y.diagonal(),
        y.unfold(0, 2, 1),
        y.narrow(1, 0, 2),
        y.chunk(2)[1],
        y.unbind(1)[2],
        y.detach(),
        y.data,
        y.mT,
        y.squeeze(),
        y.flatten(),
        y.swapaxes(0, 1),
        y.movedim(0, 1),
    ):
        assert shares(v, y)
    assert not shares(y.clone(), y)
    assert not shares(y.t().reshape(-1), y)
    assert not shares(y[[0, 1]], y)
    assert not shares(y[y > 0], y)
    assert np.shares_memory(y.detach().numpy(), y.data.numpy())
    s = y.sum()
    assert shares(s.detach(), s)
    s.detach().fill_(3)
    assert s.item() == 3


@pytest.mark.parametrize("create_graph", [False, True])
def test_gradients_share_memory_with_nothing(create_graph: bool) -> None:
    cotangent = T.ones(2, 3)
    for fn in (
        lambda a, b: a + b,
        lambda a, b: a - b,
        lambda a, b: a.view(2, 3) + b.t().t(),
        lambda a, b: a * 1 + b * 1,
        lambda a, b: (a + b).expand(2, 3),
        lambda a, b: T.where(T.ones(2, 3) > 0, a, b),
        lambda a, b: T.cat([a, b])[:2] + b,
        lambda a, b: a + 0 * b,
        lambda a, b: a * b,
    ):
        a, b = T.ones(2, 3, requires_grad=True), T.full((2, 3), 2.0, requires_grad=True)
        y = fn(a, b)
        first = T.autograd.grad(y, [a, b, y], cotangent, retain_graph=True, create_graph=create_graph)
        second = T.autograd.grad(y, [a, b], cotangent, retain_graph=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y.backward(cotangent, retain_graph=True, create_graph=create_graph)
        everything = [cotangent, a, b, y, *second, a.grad, b.grad]
        if not create_graph:  # there a gradient may be the cotangent itself, as a Tensor that carries its history
            everything += first
        for i, p in enumerate(everything):
            for q in everything[i + 1 :]:
                assert not shares(p, q), (i, fn)
        for g in (a.grad, b.grad):
            assert g.detach().numpy().flags.writeable
            assert 0 not in g.detach().numpy().strides


def test_a_leaf_as_root_does_not_keep_the_users_cotangent() -> None:
    x, g = T.ones(3, requires_grad=True), T.ones(3)
    x.backward(g)
    g.zero_()
    assert x.grad.tolist() == [1, 1, 1]
    (got,) = T.autograd.grad(x, x, x.grad)
    got.zero_()
    assert x.grad.tolist() == [1, 1, 1]


def test_accumulation_writes_into_the_same_tensor() -> None:
    x = T.ones(3, requires_grad=True)
    (x * 2).sum().backward()
    g, memory = x.grad, x.grad.numpy()
    (x * 3).sum().backward()
    assert x.grad is g
    assert memory.tolist() == [5, 5, 5]
    assert g._version == 1
    x.grad = None
    (x * 3).sum().backward()
    assert x.grad is not g
    assert g.tolist() == [5, 5, 5]


def test_hooks_may_keep_what_they_were_given() -> None:
    kept = []
    x = T.ones(2, requires_grad=True)
    x.register_hook(lambda g: kept.append(g))
    y = x * 2
    y.register_hook(lambda g: kept.append(g))
    y.retain_grad()
    y.backward(T.ones(2))
    before = [k.tolist() for k in kept]
    x.grad.zero_()
    y.grad.zero_()
    assert [k.tolist() for k in kept] == before


def test_saved_values_do_not_become_gradients() -> None:
    x = T.ones(3, requires_grad=True)
    w = T.full((3,), 5.0)
    y = (x * w).sum()
    y.backward(retain_graph=True)
    x.grad.zero_()
    assert w.tolist() == [5, 5, 5]
    x.grad = None
    y.backward()
    assert x.grad.tolist() == [5, 5, 5]


# ----------------------------------------------------------------------------------------- bases, chains, many writes
def test_a_view_outlives_its_base(no_gc: None) -> None:
    x = T.ones(3, requires_grad=True)
    y = x * 2
    v = y[1:]
    r = weakref.ref(y)
    del y
    v.mul_(x[:2])
    v.sum().backward()
    assert x.grad.tolist() == [2, 4, 2]
    assert r() is v._base
    del v
    assert r() is None


def test_ten_thousand_views_of_views() -> None:
    x = T.arange(4.0, requires_grad=True)
    y = x * 1
    v = y
    for i in range(10_000):
        v = v.view(2, 2) if i % 4 == 0 else v.view(4) if i % 4 == 3 else v.t()
    v = v[:1]
    assert v._version == 0
    v.mul_(5)
    assert y._version == v._version == 1
    assert type(y.grad_fn).__name__ == "CopySlices"
    y.sum().backward()
    assert x.grad.tolist() == [5, 1, 1, 1]
    d = T.zeros(3)
    for _ in range(10_000):
        d = d.detach()[:]
    d.add_(1)
    assert d._version == 1


def test_ten_thousand_written_views() -> None:
    """Each write through a view is one more CopySlices: none is looked at again for the next."""
    x = T.ones(3, requires_grad=True)
    y = x * 1

    def write(times: int) -> float:
        start = time.thread_time()
        for _ in range(times):
            y[:2].mul_(1.0)
        return time.thread_time() - start

    write(100)
    short, long = write(1000), write(8000)
    assert long < 30 * max(short, 1e-3)
    y.sum().backward()
    assert x.grad.tolist() == [1, 1, 1]


def test_many_writes_in_place_cost_no_memory(no_gc: None) -> None:
    import sys
    import tracemalloc

    x = T.zeros(3)
    v = x[1:]
    for _ in range(1000):
        x.add_(1)
        v.mul_(1.0)
    tracemalloc.start()
    before, blocks = tracemalloc.get_traced_memory()[0], sys.getallocatedblocks()
    for _ in range(20_000):
        x.add_(1)
        v.mul_(1.0)
        x[0] = 1.0
        x.zero_()
    grown, more = tracemalloc.get_traced_memory()[0] - before, sys.getallocatedblocks() - blocks
    tracemalloc.stop()
    assert grown < 10_000
    assert more < 300
    assert x._version == 2000 + 80_000


def test_a_hundred_thousand_writes_take_linear_time() -> None:
    x = T.zeros(3)

    def write(times: int) -> float:
        start = time.thread_time()
        for _ in range(times):
            x.add_(1.0)
        return time.thread_time() - start

    write(1000)
    short, long = write(10_000), write(100_000)
    assert x.tolist() == [111_000] * 3
    assert long < 40 * short


def test_recorded_writes_make_a_chain_that_is_walked_in_linear_time() -> None:
    x = T.ones(2, requires_grad=True)
    y = x * 1
    for _ in range(20_000):
        y.mul_(1.0)
        y += x
    y.sum().backward()
    assert x.grad.tolist() == [20_001, 20_001]


# ---------------------------------------------------------------------------------------------- finding history again
def test_every_view_refers_to_the_memorys_owner() -> None:
    """A base has other views if the array that owns the memory is referred to more often (``_mark_views``)."""
    y = T.ones(4, 4, requires_grad=True) * 1
    first = y[:]
    z = (T.ones(2, requires_grad=True) * 1j)[:]
    made = [
        first.squeeze(),
        first.squeeze(0),
        first[1:],
        first.view(16),
        first.t(),
        first.permute(1, 0),
        first.unsqueeze(0),
        first.expand(2, 4, 4),
        first.t().expand(2, 4, 4),
        first.expand(4, 4),
        first.diagonal(),
        first.unfold(0, 2, 1),
        first.mT,
        first.as_strided((2, 2), (1, 1)),
        first.unbind(0)[0],
        first.split(2)[0],
        first[None],
        first.select(0, 1),
        first[...],
        first.flatten(),
        first.narrow(0, 1, 2),
        first.unflatten(0, (2, 2)),
        first.view_as(first),
        first.reshape(4, 4),
        z.real,
        T.view_as_real(z),
        z.imag,
        first.movedim(0, 1),
        first.swapaxes(0, 1),
    ]
    for v in made:
        base = v._payload.base if isinstance(v._payload.base, np.ndarray) else v._payload.base.base
        assert base is v._base._payload or base is v._base._payload.base
        assert v._payload is not v._view[0]._payload
        if v._view[3]:
            continue  # one of several: it refuses to be looked up again
        old = v.grad_fn
        (first if v._base is y else z).mul_(2)
        assert v.grad_fn is not old


def reasons() -> tuple[int, int, int, int]:
    return len(slow_if_recording), len(slow_always), len(stale_views), len(no_grad_views)


def test_nothing_is_left_of_stale_views(no_gc: None) -> None:
    assert reasons() == (0, 0, 0, 0)
    x = T.ones(4, requires_grad=True)
    y = x * 1
    v, w = y[:2], y.detach()
    y.mul_(2)
    assert len(stale_views) == len(slow_if_recording) == len(slow_always) == 1
    y.mul_(2)
    assert len(slow_if_recording) == 1
    assert v.grad_fn.name() == "AsStridedBackward0"
    with T.no_grad():
        q = y[0]
    assert len(no_grad_views) == 1
    (v.sum() + y.sum()).backward()
    assert x.grad.tolist() == [8, 8, 4, 4]
    del v, w, q, y
    assert reasons() == (0, 0, 0, 0)
    y = x * 1
    v, z = y[:2], y.view(2, 2)
    v.mul_(3)
    del v, y
    assert len(stale_views) == 1
    assert z.tolist() == [[3, 3], [1, 1]]
    del z
    assert reasons() == (0, 0, 0, 0)


def test_a_recorded_write_by_index_leaves_the_hot_path_alone(no_gc: None) -> None:
    x = T.ones(4, requires_grad=True)
    for key in (T.tensor([True, False, True, False]), T.tensor([1, 2]), (..., 1), 0, slice(1, 3)):
        y = x * 1
        y[key] = 0
        assert reasons() == (0, 0, 0, 0)
        assert y.requires_grad


def test_a_write_without_other_views_leaves_the_hot_path_alone(no_gc: None) -> None:
    x = T.ones(4, requires_grad=True)
    y = x * 1
    y.mul_(2)
    y[0] = 7.0
    y[1:].add_(1)
    assert reasons() == (0, 0, 0, 0)


def test_a_view_made_after_the_write_keeps_its_node_and_its_hooks() -> None:
    x = T.ones(4, requires_grad=True)
    y = x * 1
    old = y[:2]
    y.mul_(3)
    young = y[:2]
    seen = []
    young.register_hook(lambda g: seen.append(g.tolist()))
    node = young.grad_fn
    (young * 2 + old).sum().backward()
    assert young.grad_fn is node
    assert seen == [[2, 2]]
    assert x.grad.tolist() == [9, 9, 0, 0]


def test_a_view_made_under_no_grad_after_a_write_can_be_read() -> None:
    """It has no history, and needs none: it was made after the base was written."""
    x = T.ones(4, requires_grad=True)
    y = x * 1
    other = y[:2]
    y.mul_(2)
    with T.no_grad():
        v = y[1:]
        assert v[0].item() == 2
    assert v.sum().item() == 6
    assert "2." in repr(v)
    y.mul_(2)  # now it is one of before
    with pytest.raises(
        RuntimeError, match=r"^A view was created in no_grad mode and its base or another view of its base has been"
    ):
        _ = v.grad_fn
    assert other.requires_grad


def test_a_view_made_under_no_grad_is_not_written_with_grad_mode_on() -> None:
    x = T.ones(4, requires_grad=True)
    for base in (x * 1, x):
        with T.no_grad():
            v = base[1:]
            w = base.view(2, 2)[0]
            v.add_(1)
            further = v[1:], v.view(3)
        for use in (lambda t: t[1:], lambda t: t * 2, lambda t: t.is_leaf):
            with pytest.raises(RuntimeError, match="its base or another view of its base has been modified inplace"):
                use(v)
        for view in (v, w, *further):
            for write in (
                lambda t: t.add_(1),
                lambda t: t.zero_(),
                lambda t: t.copy_(T.ones_like(t)),
                lambda t: t.fill_(2.0),
                lambda t: t.exp_(),
                lambda t: t.__setitem__(0, 1.0),
                lambda t: t.__iadd__(1),
                lambda t: t.mul_(T.ones(())),
                lambda t: t.uniform_(),
                lambda t: t.masked_fill_(t > 0, 1.0),
                lambda t: t.clamp_(0),
            ):
                values, version = base.tolist(), base._version
                with pytest.raises(RuntimeError, match=r"in no_grad mode and i(s being|ts base .* has been) modified"):
                    write(view)
                assert (base.tolist(), base._version) == (values, version)
        with T.no_grad():
            for write in (v.add_, w.mul_):
                write(2)
    del v, w, view, write, further
    assert not no_grad_views


def test_a_zero_dimensional_view_made_under_no_grad_shares_memory() -> None:
    y = T.ones(2, requires_grad=True).sum()
    with T.no_grad():
        v = y.view(1)
        v.add_(3)
    assert y.item() == 5
    assert y._version == 1


def test_gradients_through_views_that_repeat_elements() -> None:
    """A view that was expanded before its base was written gets its sum back, not the last of its parts."""
    for expand in (lambda y: y.expand(5, 3), lambda y: y.unfold(0, 2, 1), lambda y: y.as_strided((2, 2), (1, 1))):
        x = T.tensor([1.0, 2.0, 3.0], dtype=T.float64, requires_grad=True)
        expected = T.autograd.grad((expand(x * 2) ** 2).sum(), x)[0]
        y = x * 1
        v = expand(y)
        y.mul_(2)
        (got,) = T.autograd.grad((v**2).sum(), x, create_graph=True)
        assert got.tolist() == expected.tolist()
        (second,) = T.autograd.grad(got.sum(), x)
        assert second.tolist() == [8 * n for n in (T.autograd.grad(expand(x * 1).sum(), x)[0]).tolist()]


def test_gradients_through_real_views_of_what_was_written() -> None:
    x = T.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    y = x * 1
    real, parts = y.real, T.view_as_real(y)
    y.mul_(2)
    (real * 3 + parts[:, 1]).sum().backward()
    assert x.grad.tolist() == [6 + 2j, 6 + 2j]


def test_a_flipped_cotangent_arrives_at_a_written_part() -> None:
    x = T.zeros(2, 3, requires_grad=True)
    y = x * 1
    y.view(-1)[1:5].add_(1)
    (y.flip(1) * T.arange(6.0).view(2, 3)).sum().backward()
    assert x.grad.tolist() == [[2, 1, 0], [5, 4, 3]]


def test_views_of_an_operand_on_the_written_storage_are_none_of_the_old_ones() -> None:
    old = T.ones(2, requires_grad=True) * 1
    view = old[0]
    old.mul_(2)  # now operators look whether their operands are views that are older than a write
    x = T.arange(4.0).view(2, 2) * T.ones((), requires_grad=True)
    assert x.masked_scatter_(x > 1, x).tolist() == [[0, 1], [0, 1]] and view.item() == 2


def test_an_operand_on_the_written_storage_is_stale() -> None:
    """``y.mul_(y.detach())`` needs the old values for y's gradient, and overwrites them."""
    x = T.tensor([2.0, 3.0], requires_grad=True)
    for other in (
        lambda y: y,
        lambda y: y.detach(),
        lambda y: y[:],
        lambda y: y.view(2),
        lambda y: y.detach().view(1, 2)[0],
    ):
        y = x * 1
        y.mul_(other(y))
        assert y.tolist() == [4, 9]
        with pytest.raises(
            RuntimeError, match=r"^one of the variables needed for gradient computation.*version 1; expected version 0"
        ):
            y.sum().backward()
        y = x * 1
        y.add_(other(y))  # saves nothing
        y.sum().backward()
    y = x * 1
    y.addcmul_(y.detach(), x)
    with pytest.raises(RuntimeError, match=r"^one of the variables needed for gradient computation has been modified"):
        y.sum().backward()


def test_copying_a_tensor_onto_itself_is_a_write() -> None:
    x = T.ones(2, requires_grad=True)
    y = x * 1
    y.copy_(y)
    assert y._version == 1
    assert y.grad_fn.name().endswith("CopyBackwards")
    with pytest.raises(
        RuntimeError, match=r"^a leaf Variable that requires grad is being used in an in-place operation"
    ):
        x.copy_(x)
    with T.no_grad():
        x.copy_(x)
    assert x._version == 1


def test_parts_of_an_expanded_tensor_in_which_nothing_repeats_can_be_written() -> None:
    x = T.zeros(3, 1)
    wide = x.expand(3, 4)
    with pytest.raises(RuntimeError, match=r"^unsupported operation: more than one element of the written-to tensor"):
        wide.add_(1)
    assert wide._version == x._version == 0
    wide[:, 2].add_(1)
    wide.select(1, 0).mul_(3)
    wide.narrow(1, 1, 1).add_(T.ones(3, 1))
    assert x.tolist() == [[4.0]] * 3
    wide.as_strided((3,), (1,)).add_(1)
    assert x.tolist() == [[5.0]] * 3
    wide.zero_()
    assert x.tolist() == [[0.0]] * 3
    wide.fill_(2)
    assert x.tolist() == [[2.0]] * 3
    assert x._version == 6


def test_views_of_several_refuse_to_be_written() -> None:
    x = T.ones(4, 2, requires_grad=True)
    for make in (lambda y: y.unbind(0), lambda y: y.split(2), lambda y: y.chunk(2), lambda y: y.split([1, 3])):
        y = x * 1
        part = make(y)[1]
        name = y.grad_fn.name()
        with pytest.raises(
            RuntimeError, match=r"^Output 1 of \w+ is a view and is being modified inplace\. This view is the output of"
        ):
            part.add_(1)
        with pytest.raises(RuntimeError, match=r"^Output \d of \w+ is a view.*being modified inplace"):
            part[0] = 1.0
        assert y._version == 0
        assert y.grad_fn.name() == name
        y.mul_(2)
        with pytest.raises(
            RuntimeError, match=r"^Output 1 of \w+ is a view and its base or another view of its base has been modified"
        ):
            part * 2
        with T.no_grad():
            part.add_(1)
        assert y._version == 2
    del part, y
    gc.collect()
    assert reasons() == (0, 0, 0, 0)


def test_a_view_of_what_requires_grad_says_so_wherever_it_was_made() -> None:
    w = T.ones(3, 2, requires_grad=True)
    with T.no_grad():
        views = [w.view(-1), w[0], w.t(), w.unbind(0)[0], w.expand(2, 3, 2), w.view(-1)[1:]]
        copies = [w.detach(), w.data, w * 1, w[[0]], (w * 1).view(-1), w.clone()[0]]
        assert repr(w[:1]) == "tensor([[1., 1.]], requires_grad=True)"
        assert w[0].numpy().tolist() == [1.0, 1.0]
    assert all(v.requires_grad and v.is_leaf and v.grad_fn is None for v in views)
    assert not any(c.requires_grad for c in copies)
    p = T.zeros(3)
    early = p.view(3)
    assert not early.requires_grad
    p.requires_grad_()
    assert early.requires_grad
    assert early.is_leaf
    p.requires_grad_(False)
    assert not early.requires_grad


def test_a_quiet_view_of_a_rewritten_base_still_requires_grad() -> None:
    w = T.ones(3, requires_grad=True)
    p = T.zeros(3)
    with T.no_grad():
        part = p[1:]
    p.mul_(w)
    assert part.requires_grad
    with pytest.raises(RuntimeError, match=r"^A view was created in no_grad mode and its base or another view"):
        _ = part.grad_fn


def test_views_made_under_no_grad_print_as_in_pytorch(torch: Any) -> None:
    printed = []
    for lib in (T, torch):
        w = lib.arange(6.0).view(3, 2).requires_grad_()
        with lib.no_grad():
            shown = [w[0], w.t(), w.view(-1)[2:], w.detach(), w.clone(), *w.unbind(), w[[1]], w.squeeze(), w.real]
            printed.append([(repr(v), v.requires_grad, v.is_leaf) for v in shown])
    assert printed[0] == printed[1]


# ------------------------------------------------------------------------- an array that becomes a transform's value
def write_to_the_base(x: Any) -> Any:
    y = T.zeros(4)
    v = y[1:]
    w = v[1:]
    u = y.view(2, 2)
    y += x
    return y.sum() + 2 * v.sum() + 3 * w.sum() + u[0].sum()


def write_to_a_view_of_a_view(x: Any) -> Any:
    y = T.zeros(4)
    v = y[1:]
    w = v[1:]
    u = y.view(2, 2)
    q = u[1]
    w.mul_(0).add_(x[:2])
    return y.sum() + 2 * v.sum() + 3 * w.sum() + u[0].sum() + q.sum()


@pytest.mark.parametrize("f", [write_to_the_base, write_to_a_view_of_a_view])
def test_all_views_of_an_array_see_a_transforms_value(f: Any) -> None:
    x = T.rand(4)
    rows = T.stack([x, 2 * x])
    assert T.allclose(T.func.vmap(f)(rows), T.stack([f(x), f(2 * x)]))
    value, tangent = T.func.jvp(f, (x,), (x,))
    assert T.allclose(value, f(x))
    assert T.allclose(tangent, f(x))


WRITES = {
    "y[0] = x[0]": lambda y, x: y.__setitem__(0, x[0]),
    "y[1:] = x[1:]": lambda y, x: y.__setitem__(slice(1, None), x[1:]),
    "y += x": lambda y, x: y.__iadd__(x),
    "y[0].copy_(x[0])": lambda y, x: y[0].copy_(x[0]),
    "y[1:].mul_(x[1:])": lambda y, x: y[1:].mul_(x[1:]),
    "y.index_add_(0, i, x)": lambda y, x: y.index_add_(0, T.tensor([0, 1, 1, 2]), x),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_the_collector_is_asked_only_where_views_may_be(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks at every object of the program, which takes as long as a hundred writes."""
    asked = []

    class Collector:
        @staticmethod
        def get_referrers(*objects: Any) -> list[Any]:
            asked.append(objects)
            return gc.get_referrers(*objects)

    monkeypatch.setattr(replaced, "gc", Collector)

    def f(x: Any) -> Any:
        y = T.zeros(4)
        write(y, x)
        return y.sum()

    T.func.vmap(f)(T.rand(2, 4))
    T.func.jvp(f, (T.rand(4),), (T.rand(4),))
    assert not asked


def test_a_recorded_write_without_other_views_leaves_the_hot_path_free() -> None:
    x = T.rand(4, requires_grad=True) * 1
    x += 1
    x.mul_(x.detach().clone())
    x[1:] = 2.0
    x[0] = x.sum()
    v = x[:2]
    v.mul_(2)
    assert not stale_views
    x.mul_(3)  # there is one now
    assert stale_views
    assert v.grad_fn.next_functions[0][0] is x.grad_fn


def test_a_view_that_is_older_than_a_write_is_an_operand_of_the_next_write() -> None:
    a = T.ones(2, requires_grad=True)
    x = a * 3
    view = x[:]
    x.mul_(2)
    x.add_(view)
    (x * x).sum().backward()
    assert x.tolist() == [12, 12] and a.grad is not None and a.grad.tolist() == [288, 288]


# ---------------------------------------------------------------------------------------------------- conjugate views
def test_a_conjugate_view_and_its_base_are_kept_equal() -> None:
    base = T.tensor([1 + 2j, 3 - 1j])
    view = base.conj()
    twice = view.conj()
    view[0] = 2j
    assert base.tolist() == [-2j, 3 - 1j] == twice.tolist()
    base.mul_(2)
    assert view.tolist() == [4j, 6 + 2j] and twice.tolist() == base.tolist()
    twice.imag.zero_()
    assert view.tolist() == [0, 6] == base.tolist()
    assert view.is_conj() and not twice.is_conj() and view.imag.is_neg()


def test_conjugate_views_leave_nothing_behind(no_gc: None) -> None:
    base = T.tensor([1 + 2j])
    for _ in range(200):
        base.conj()
    assert len(base._box.cell.followers) < 40  # references that are dead are dropped
    view = weakref.ref(base.conj())
    assert view() is None


def test_no_view_has_an_array_that_owns_its_memory() -> None:
    """``view_of`` reads the slot of a view only where the array is one."""
    x = T.arange(24.0).reshape(2, 3, 4).clone()
    c = T.complex(x, x)
    views = [x[0], x[:, 1:2], x[None], x[..., 0, 0], x[:0], x.mT, x.view(-1), x.expand(5, 2, 3, 4)]
    views += [*x.unbind(), *x.split(2, 2), x.diagonal(0, 1, 2), x.permute(2, 0, 1), x.squeeze(), x.view_as(x)]
    views += [T.zeros(0, 3).view(3, 0), T.zeros(1, 1).squeeze(), x.as_strided((2,), (3,)), x.unfold(1, 2, 1)]
    views += [c.real, c.imag, c.conj(), c.conj().conj(), T.view_as_real(c)]
    moved = x[1]
    moved.data = T.ones(3, 4)
    for view in [*views, moved]:
        assert view._is_view()
        assert view._payload.base is not None
    assert not T.ones(2).detach()._is_view()


def test_a_view_that_is_older_than_its_base_s_history_is_not_written() -> None:
    for write in (lambda v: v.add_(1), lambda v: v.copy_(T.zeros(2)), lambda v: v.__setitem__(0, 1.0)):
        base = T.ones(4)
        view = base[:2]
        several = base.split(2)
        base.requires_grad_()
        with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
            write(view)
        with pytest.raises(RuntimeError, match="This view is the output of a function that returns multiple views"):
            write(several[1])
        with T.no_grad():
            write(view)
        assert base[1:].tolist() == [view[1].item(), 1.0, 1.0]
    del base, view, several
    assert not no_grad_views
    leaf = T.randn(3).requires_grad_()  # it has no views
    assert not no_grad_views and leaf.requires_grad


def test_an_unrecorded_write_gives_views_older_than_requires_grad_their_history() -> None:
    flat = T.zeros(6)
    weight, bias = flat[:4].view(2, 2), flat[4:]
    flat.requires_grad_()
    with T.no_grad():
        weight.fill_(2.0)
    (weight.sum() * 3 + bias.sum()).backward()
    assert flat.grad.tolist() == [3, 3, 3, 3, 1, 1]
    assert weight.grad_fn.name() == "AsStridedBackward0"
    del weight, bias
    prune()
    assert not stale_views


def test_a_leaf_in_numpys_memory_without_views_keeps_operators_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """The heap is searched for views a few times; after that a leaf counts as viewed as long as it lives."""
    monkeypatch.setattr(views, "_searches", [1])
    for searched in (True, False):
        leaf = T.zeros(2)
        memory = leaf.numpy()
        leaf.requires_grad_()
        with T.no_grad():
            leaf.add_(1)
        assert memory.tolist() == [1, 1] == leaf.tolist()
        assert bool(stale_views) is not searched
        del leaf
        prune()
    assert not stale_views and not no_grad_views


def test_writes_to_data_reach_conjugate_views_and_their_base() -> None:
    base = T.tensor([1 + 2j])
    view = base.conj()
    version = base._version
    view.data.mul_(2)
    assert base.tolist() == [2 + 4j] and view.tolist() == [2 - 4j]
    base.data.add_(1)
    assert view.tolist() == [3 - 4j]
    view.data.data[0] = 5j
    assert base.tolist() == [-5j] and view.data.is_conj()
    view.imag.data.zero_()
    assert base.tolist() == [0] == view.tolist()
    assert base._version == version


# ----------------------------------------------------------------------------------------- the step of what was written
PART_WRITES: list[Any] = [
    lambda xp, b, y: b[1:].mul_(y), lambda xp, b, y: b[1:].add_(y), lambda xp, b, y: b[1:].copy_(y),
    lambda xp, b, y: b.__setitem__(slice(1, None), y), lambda xp, b, y: b.__setitem__(slice(1, None), 2.0),
    lambda xp, b, y: b[1:].zero_(), lambda xp, b, y: b[1:].relu_(), lambda xp, b, y: b[1:].sin_(),
    lambda xp, b, y: b[1:].add_(b[1:]), lambda xp, b, y: b[1:].lerp_(y, 0.5), lambda xp, b, y: b[1:].addcmul_(y, y),
    lambda xp, b, y: b[1:].fill_(y.sum()), lambda xp, b, y: b[1:].view(1, 2).t().mul_(y[:, None]),
    lambda xp, b, y: b[1:].masked_fill_(xp.tensor([True, False]), y.sum()), lambda xp, b, y: b[1:].pow_(2),
]  # fmt: skip


def _of_a_part(xp: Any, write: Any) -> Any:
    """The nodes that ``CopySlices`` points to, the gradients of three orders, and what a second pass says."""
    x = xp.tensor([0.3, -0.7, 1.1], dtype=xp.float64, requires_grad=True)
    y = xp.tensor([0.9, 1.3], dtype=xp.float64, requires_grad=True)
    b = x * 1
    write(xp, b, y)
    nodes = [n.name() for n, _ in b.grad_fn.next_functions if n is not None]
    out = (b * b).sum()
    found = []
    for _ in range(3):
        grads = xp.autograd.grad(out, (x, y), create_graph=True, allow_unused=True, materialize_grads=True)
        found += [[round(v, 4) for v in g.tolist()] for g in grads]
        out = sum((g * g).sum() for g in grads)
    b = x * 1
    write(xp, b, y)
    b.sum().backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        b.sum().backward()
    return nodes, found


@pytest.mark.compare
@pytest.mark.parametrize("write", PART_WRITES)
def test_the_step_of_a_write_to_a_part_is_torchs(write: Any) -> None:
    assert _of_a_part(T, write) == _of_a_part(pytest.importorskip("torch"), write)


def test_a_part_is_not_asked_for_through_its_old_node() -> None:
    """The gradient of the base's old value has what the step gives for the part; the view's old node gets nothing."""
    x, y = T.tensor([1.0, 2.0, 3.0], requires_grad=True), T.tensor([4.0, 5.0], requires_grad=True)
    b = x * 1
    v = b[1:]
    old = T.autograd.graph.get_gradient_edge(v)
    v.mul_(y)
    assert [n.name() for n, _ in b.grad_fn.next_functions] == ["MulBackward0", "torch::autograd::AccumulateGrad"]
    assert T.autograd.grad(b.sum(), (old, x, y), retain_graph=True, allow_unused=True)[0] is None
    b.sum().backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([1, 4, 5], [2, 3])
    with pytest.raises(RuntimeError, match="a second time"):
        b.sum().backward()


def test_relu_of_a_view_twice_differentiated() -> None:
    """The step keeps what it saved: the second derivative of an operator that saves its result leads to it again."""
    x = T.tensor([1.0, -2.0, 3.0], requires_grad=True)
    b = x * x
    b[:2].relu_()
    (g,) = T.autograd.grad(b.pow(2).sum(), x, create_graph=True)
    assert T.autograd.grad(g.sum(), x)[0].tolist() == [12.0, 48.0, 108.0]
    assert (
        g.grad_fn.next_functions[0][0].next_functions[0][0].next_functions[1][0].name() == "ThresholdBackwardBackward0"
    )


@pytest.mark.parametrize("write", ["v.pow_(2)", "v.exp_()", "v.sin_()", "v.mul_(v * 2)"])
def test_a_part_of_an_expanded_tensor_that_is_written_keeps_what_the_formula_needs(write: str) -> None:
    """The array that is written is another object than the view's, which is read-only."""
    grads = []
    for clone in (False, True):
        w = T.tensor(0.3, requires_grad=True)
        x = (w * 0.7).expand(2)
        v = (x.clone() if clone else x)[1:]
        exec(write, {"v": v})
        v.sum().backward()
        grads.append(w.grad.item())
    assert grads[0] == pytest.approx(grads[1])


@pytest.mark.parametrize("write", ["with T.no_grad(): b.mul_(2)", "b.detach().mul_(2)", "with T.no_grad(): v[0] = 1"])
def test_a_view_whose_memory_was_written_unrecorded_shows_a_new_history(write: str) -> None:
    x = T.ones(2, 3, requires_grad=True)
    b = x * 1
    v, rows = b[0], b.unbind(0)
    w = v.sum()
    seen: list[str] = []
    v.register_hook(lambda g: seen.append("before"))
    exec(write, {"T": T, "b": b, "v": v})
    assert v.grad_fn is v.grad_fn
    assert v.grad_fn.name() == "AsStridedBackward0"
    assert "grad_fn=<AsStridedBackward0>" in repr(v)
    assert v.grad_fn.next_functions[0][0] is b.grad_fn
    v.register_hook(lambda g: seen.append("after"))
    v.sum().backward(retain_graph=True)
    assert seen == ["after"]
    assert x.grad.tolist() == [[1, 1, 1], [0, 0, 0]]
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        T.autograd.grad(w, v)
    with pytest.raises(RuntimeError, match="Output 0 of Unbind is a view and its base or another view of its base"):
        rows[0].grad_fn
    assert "grad_fn=<Invalid>" in repr(rows[0])


def test_a_tensor_that_is_copied_to_itself_is_written() -> None:
    x = T.ones(2, requires_grad=True)
    y = T.ones(2)
    z = x * y
    y.copy_(y)
    assert y._version == 1
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0 instead"):
        z.sum().backward()


def test_strides_of_a_part_without_elements_of_a_conjugate_view() -> None:
    """They were computed from elements at no address, which ended the process."""
    c = T.ones(2, 3, dtype=T.complex64).conj()
    parts = (c[:0], c[:0].mT, c.imag[:0], c.mH[:0])
    assert [part.stride() for part in parts] == [(3, 1), (1, 3), (6, 2), (1, 3)]


@pytest.mark.parametrize("text", ["x.exp()", "x.tanh()", "T.softmax(x, 0)", "x.max(0)[0].sqrt()", "Kept.apply(x)"])
def test_a_result_whose_data_is_replaced_was_saved_as_it_was(text: str) -> None:
    class Kept(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.saved_tensors[0]

    grads = []
    for replace in (False, True):
        x = T.tensor([0.5, 1.5], requires_grad=True)
        y = eval(text, {"T": T, "x": x, "Kept": Kept})
        z = y.sum()
        if replace:
            y.data = y.data * 10
        z.backward()
        grads.append(x.grad.tolist())
    assert grads[0] == grads[1]


def test_an_input_whose_data_is_replaced_is_read_anew() -> None:
    x = T.tensor([1.0, 2.0], requires_grad=True)
    h = x * 1
    y = h * h
    h.data = h.data * 5
    y.sum().backward()
    assert x.grad.tolist() == [10, 20]
