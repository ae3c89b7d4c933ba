"""``shared/FAULTS.md``, section by section: where each reproduction is a test, and the programs of section 5 here.

| section | tests |
|---|---|
| 1.1 inputs kept by ``func`` | ``tape/test_soak.py``, ``tape/test_memory.py`` |
| 1.2 beyond memory | ``saving/test_hostile.py``: ``test_no_view_begins_in_the_middle_of_an_element``, ``test_no_size_reaches...`` |
| 1.3 addresses in files | ``saving/test_hostile.py``: ``test_no_address_comes_from_a_file``, ``test_attributes_that_python...`` |
| 1.4 computed before it is read | ``saving/test_hostile.py``: ``test_nothing_is_computed...``; ``saving/test_hostile_repeats.py`` |
| 1.5, 1.6 deep and shared tuples | ``saving/test_hostile.py``: ``test_a_tuple_is_neither_hashed_nor_shown``, ``test_streams_of_tuples`` |
| 1.7 memory and time | ``saving/test_hostile.py``: ``REPEATED``, ``SLOW``, ``HEADERS``; ``saving/test_hostile_repeats.py`` |
| 1.8 interrupts | ``tape/test_interrupts.py`` |
| 1.9 ``spawn`` | ``utils/test_data.py``: ``test_what_a_process_leaves_is_text_in_a_file_of_its_own`` |
| 1.10 saving | ``saving/test_replacing.py`` |
| 1.11 NumPy's errors | ``optim/test_optim_strict.py`` |
| 1.12 classes of errors | ``saving/test_hostile.py``: ``HEADERS``, ``test_numbers_for_the_keys...``, ``test_a_mapping_of_a_negative_size...``; ``saving/test_replacing.py``: ``test_reads_that_make_no_sense_end`` |
| 1.13 supply | ``house/test_supply.py`` |
| 1.14 after bfloat16 | ``tape/test_interrupts.py`` (``state()["slow"]``), ``kinds/test_overhead.py`` |
| 1.15 fork and random numbers | ``test_fork_while_another_thread_draws`` |
| 1.16 threads and digits | a note; nothing to mend |
| 1.17 filters | ``house/test_imports.py`` |
| 2 files that attack | ``saving/test_fuzzed_files.py``, ``saving/fuzzing.py`` |
| 5, first 10 points | here, ``compare/test_layouts.py``, ``compare/test_reported.py`` |
| 5, points 11 to 30 | here, ``compare/test_reported.py``, ``compare/test_random_programs.py`` |
| 6 suites, operator database | ``compare/test_suites.py``, ``compare/test_op_db.py``, ``compare/test_op_db_suite.py`` |
"""  # noqa: E501  a table

from __future__ import annotations

import gc
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert
from tests.compare.test_reported import outcome, same


def layout(*names: str) -> Callable[[Any], Any]:
    """Strides and shapes of expressions of ``x``, a matrix, and ``y``, a tensor of three dimensions."""

    def of(T: Any) -> list[Any]:
        scope = {"T": T, "x": T.arange(6.0).view(2, 3), "y": T.arange(24.0).view(2, 3, 4) / 24, "F": T.nn.functional}
        scope["c"] = T.arange(96.0).view(2, 3, 4, 4).to(memory_format=T.channels_last)
        found = [eval(name, dict(scope)) for name in names]
        found = [v if isinstance(v, T.Tensor) else v[0] for v in found]
        return [(tuple(v.shape), v.stride()) for v in found]

    return of


def after(T: Any, made: Any, *lines: str) -> Any:
    """``a`` after some statements, for which ``b`` is another name."""
    scope = {"T": T, "a": made}
    for line in lines:
        exec(line, scope)
    return scope["a"].tolist()


def hooked(T: Any) -> Any:
    x, told = T.ones(3, requires_grad=True), []
    p, q = (x * 2).split([1, 2])
    p.register_hook(lambda g: told.append(g is None))
    q.sum().backward()
    return told, x.grad


def penalty(T: Any) -> Any:
    T.manual_seed(0)
    net = T.nn.Sequential(T.nn.Linear(2, 3), T.nn.ReLU(), T.nn.Linear(3, 1))
    x = T.ones(4, 2, requires_grad=True)
    (g,) = T.autograd.grad(net(x).sum(), x, create_graph=True)
    (g.norm(2, 1) - 1).pow(2).sum().backward()
    return [None if p.grad is None else p.grad.abs().sum() > 0 for p in net.parameters()], net[0].bias.grad


def second(T: Any) -> Any:
    x, F = T.arange(-2.0, 2.0).view(1, 1, 4).requires_grad_(), T.nn.functional
    found = []
    for fn in (T.relu, F.leaky_relu, F.hardtanh, F.relu6, lambda v: F.max_pool1d(v, 2), lambda v: F.avg_pool1d(v, 2)):
        (g,) = T.autograd.grad(fn(x).pow(2).sum(), x, create_graph=True)
        found.append(T.autograd.grad(g.sum(), x)[0])
    return found


def convolved(T: Any) -> Any:
    torch_of = []
    m = T.nn.Conv2d(1, 2, 2)
    m.register_full_backward_hook(
        lambda module, given, taken: torch_of.append([None if g is None else g.shape for g in given])
    )
    m(T.ones(1, 1, 3, 3, requires_grad=True)).sum().backward()
    return torch_of, m.bias.grad, m.weight.grad.shape


def detached(T: Any) -> Any:
    leaf = T.ones(2, requires_grad=True)
    a = leaf.clone()
    b = a * a
    a.detach_()
    b.sum().backward()
    return leaf.grad


def tangents(T: Any, fn: Any, *given: Any) -> Any:
    return T.func.jvp(fn, given, tuple(T.ones_like(v) for v in given))


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "2 layouts": layout(
        "x.t().masked_fill(x.t() > 3, 0)", "y.transpose(0, 2).sum(0)", "y.transpose(0, 2).mean(0)",
        "y.transpose(0, 2).amax(0)", "y.transpose(0, 2).logsumexp(0)", "x.t().cumsum(0)", "x.t().cumprod(0)",
        "x.t().cummax(0)", "x.t().sort(0)", "x.t().flip(0)", "x.t().nan_to_num()", "x.t() + x.reshape(3, 2)",
        "x.t().argsort(0)", "y.transpose(0, 2).norm(dim=0)",
    ),
    "2 views of results": lambda T: T.arange(6.0).view(2, 3).t().masked_fill(T.zeros(3, 2).bool(), 0).view(-1),
    "3 channels-last": layout(
        "F.conv2d(c, T.ones(2, 3, 2, 2))", "F.max_pool2d(c, 2)", "F.interpolate(c, scale_factor=2)", "T.cat([c, c])",
        "F.pad(c, (1, 1))", "c.flip(2)", "F.group_norm(c, 3)", "F.batch_norm(c, None, None, training=True)",
    ),
    "3 sizes of one": layout("T.zeros(6)[None]", "T.zeros(6)[:, None]", "T.zeros(6).unsqueeze(-1)"),
    "3 factorizations": layout(
        "T.linalg.cholesky(T.eye(3) * 2)", "T.linalg.qr(T.eye(3))", "T.linalg.svd(T.eye(3))", "T.linalg.lu(T.eye(3))[1]"
    ),
    "4 a number of another kind": lambda T: T.tensor([1, 2]) * T.tensor(2.5, dtype=T.float16),
    "5 tangents of scatter": lambda T: tangents(
        T, lambda a, b: a.scatter(0, T.tensor([1, 2]), b), T.ones(3), T.ones(2)
    ),
    "6 conjugates": lambda T: after(T, T.tensor([1 + 2j]), "a.conj().mul_(2)"),
    "6 transposed conjugates": lambda T: after(T, T.tensor([[1 + 2j, 2], [3, 4]]), "a.mH[0] = 0"),
    "6 unsafe_chunk": lambda T: after(T, T.zeros(4), "a.unsafe_chunk(2)[0].add_(1)"),
    "6 unsafe_split": lambda T: after(T, T.zeros(4), "a.unsafe_split(2)[1].add_(1)"),
    "6 pixel_shuffle": lambda T: after(T, T.zeros(1, 1, 1, 1), "T.nn.functional.pixel_shuffle(a, 1).add_(1)"),
    "6 as_strided of nothing": lambda T: T.arange(9.0)[4:4].as_strided((2,), (1,)),
    "6 as_strided_scatter": lambda T: T.arange(6.0).view(2, 3).t().as_strided_scatter(T.zeros(2), (2,), (2,)),
    "7 ldexp": lambda T: T.ldexp(T.tensor([1e-30, 1e30]), T.tensor([200, -200])),
    "7 round of half": lambda T: T.tensor([10000.0], dtype=T.float16).round(decimals=2),
    "7 signs of zero": lambda T: T.copysign(T.ones(2), T.tensor([4.0, -4.0]) % T.tensor([-2.0, 2.0])),
    "7 equals": lambda T: [T.tensor([1.0, 1, 1]).topk(2)[0], T.tensor([1.0, 1, 1]).kthvalue(2)[0]],
    "8 hooks are told None": hooked,
    "9 gradient penalty": penalty,
    "9 second derivatives": second,
    "10 gradients of another dtype": lambda T: T.autograd.grad(
        (x := T.ones(2, requires_grad=True)) * 2, x, T.ones(3, 2).double(), is_grads_batched=True
    ),
    "11 heads that do not fit": lambda T: T.nn.functional.scaled_dot_product_attention(
        T.ones(1, 2, 3, 4), T.ones(1, 2, 3, 5), T.ones(1, 2, 3, 5)
    ),
    "12 copies into zeros": lambda T: tangents(T, T.func.vmap(T.func.grad(lambda a: T.zeros_like(a).copy_(a) ** 2)), T.ones(2)),  # noqa: E501
    "12 masks": lambda T: T.func.jacrev(lambda a: a.masked_scatter(T.tensor([True, False]), a))(T.ones(2)),
    "12 products": lambda T: T.func.jacrev(
        lambda a: a.scatter_reduce(0, T.tensor([0, 0]), a, "prod"))(T.tensor([2.0, 3.0])),
    "13 a row for a mask": lambda T: after(T, T.zeros(2, 3), "a[a == 0] = T.ones(1, 6)"),
    "13 a tuple that is a size": lambda T: T.arange(6).view(2, 3)[T.Size([1, 2])],
    "14 half grid_sample": lambda T: T.nn.functional.grid_sample(
        T.ones(1, 1, 2, 2).half(), T.zeros(1, 1, 1, 2).half(), align_corners=False
    ),
    "14 sub with alpha": lambda T: T.sub(T.ones(2).half(), T.ones(2).half(), alpha=2),
    "17 two groups": lambda T: str(
        T.optim.SGD([{"params": [T.ones(1)]}, {"params": [T.ones(1)], "lr": 0.5}], lr=0.1)
    ).count("\n\n"),
    "18 hooks on a convolution": convolved,
    "19 slices up to a tensor": lambda T: (m := T.zeros(3), m.__setitem__(slice(None, T.tensor(2)), 1), m.requires_grad),  # noqa: E501
    "20 numbers of NumPy": lambda T: [
        T.nn.functional.softplus(T.ones(2), beta=np.log(2)).dtype is T.float32,
        T.norm(T.ones(2), np.float64(2)).dtype is T.float32, T.cdist(T.ones(1, 2), T.ones(1, 2), np.float64(2)),
    ],
    "23 a power": lambda T: T.autograd.grad(
        T.pow(-2.0, (z := T.tensor([1 + 2j], requires_grad=True))).real.sum(), z)[0].real,
    "23 no elements": lambda T: T.linalg.norm(T.zeros(0, 0)),
    "24 detach_": detached,
    "27 axis": lambda T: [T.cumsum(T.ones(2, 2), axis=0), T.ones(2, 2).softmax(axis=1), T.chunk(T.ones(4), 2, axis=0)],
    "28 arrays that were pickled": lambda T: T.from_numpy(pickle.loads(pickle.dumps(np.ones((2, 2))))) @ T.ones(2, 2).double(),  # noqa: E501
    "29 alpha of a NumPy number": lambda T: [T.add(T.ones(2), np.float64(0.75), alpha=2), T.sub(T.ones(2), np.float64(0.75), alpha=2)],  # noqa: E501
    "30 histogram": lambda T: T.histogram(T.arange(4.0), 4)[0],
    "30 storages": lambda T: (a := T.ones(2), T.Tensor(a.storage()).fill_(3), a)[2],
    "30 a gradient that was expanded": lambda T: T.autograd.grad(
        T.dist((b := T.full((3,), 0.1, requires_grad=True)).expand(2, 3), T.ones(2, 3)), b)[0],
}  # fmt: skip


# NumPy's slices of nothing begin where the memory does: ``x[4:4]`` has no place that ``as_strided`` could begin at.
NOT_YET = {"6 as_strided of nothing"}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.xfail(strict=True)) if n in NOT_YET else n for n in PROGRAMS]
)
def test_programs_of_section_5(torch: Any, name: str) -> None:
    want, got = (outcome(lib, PROGRAMS[name]) for lib in (torch, wengert))
    assert same(want, got), (want, got)


def test_a_descent_by_func_grad_keeps_nothing() -> None:
    """Section 5, point 1."""

    def living() -> int:
        gc.collect()
        return sum(type(o) is wengert.Tensor for o in gc.get_objects())

    x = wengert.ones(100)
    step = wengert.func.grad(lambda a: (a * a).sum())
    x = x - 0.1 * step(x)
    before = living()
    for _ in range(20):
        x = x - 0.1 * step(x)
    assert living() <= before
