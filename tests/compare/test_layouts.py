"""Layouts of results beside PyTorch's: strides, offsets, what shares memory with what, for any layout of the inputs.

The operators and samples are those of PyTorch's operator database; each sample is given in every layout of ``LAYOUTS``.
Where the two are known to differ, ``layout_differences.json`` says so with a reason; a difference that is gone fails
until its line is removed.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import op_db_cases as cases

import wengert

torch = cases.torch

LIMIT = int(os.environ.get("OP_DB_SAMPLES", "3"))
OPERATORS = {cases.full_name(op): op for op in cases.invocations.op_db if not cases.is_absent(op)}
KNOWN = {
    name: reason
    for reason, names in json.loads((Path(__file__).parent / "layout_differences.json").read_text("utf-8")).items()
    for name in names
}


# ---- layouts: each gives a tensor's values in another order in memory


def _reversed(t: Any) -> Any:
    """Column-major."""
    back = tuple(range(t.ndim))[::-1]
    return t.permute(back).contiguous().permute(back)


def _channels_last(t: Any) -> Any:
    """Dimension 1 innermost: PyTorch's channels-last in four or five dimensions."""
    return t.movedim(1, -1).contiguous().movedim(-1, 1) if t.ndim > 2 else t


def _sliced(t: Any) -> Any:
    """Every second row or element of a larger tensor, with an offset."""
    if not t.ndim:
        return t
    larger = t.repeat_interleave(2, 0)
    return torch.cat([larger[:1], larger])[1::2]


def _swapped(t: Any) -> Any:
    """The first two dimensions exchanged in memory."""
    return t.transpose(0, 1).contiguous().transpose(0, 1) if t.ndim > 1 else t


def _expanded(t: Any) -> Any:
    """The first dimension repeated, with stride 0."""
    return t[:1].expand(t.shape) if t.ndim and t.shape[0] else t


def _of_size_one(t: Any) -> Any:
    """Dimensions of size 1 with strides of their own."""
    strides = [7 if n == 1 else s for n, s in zip(t.shape, t.stride(), strict=True)]
    return t.as_strided(t.shape, strides, t.storage_offset())


def _squeezed(t: Any) -> Any:
    """One index of the last dimension, which is then of size 1, column-major."""
    return _reversed(t.narrow(-1, 0, 1)) if t.ndim and t.shape[-1] else t


LAYOUTS: dict[str, Callable[[Any, int], Any]] = {
    "as given": lambda t, k: t,
    "column-major": lambda t, k: _reversed(t),
    "first column-major": lambda t, k: _reversed(t) if not k else t,
    "others column-major": lambda t, k: _reversed(t) if k else t,
    "channels last": lambda t, k: _channels_last(t),
    "first channels last": lambda t, k: _channels_last(t) if not k else t,
    "sliced": lambda t, k: _sliced(t),
    "swapped": lambda t, k: _swapped(t),
    "expanded": lambda t, k: _expanded(t),
    "strides of size one": lambda t, k: _of_size_one(t),
    "all of size one": lambda t, k: _squeezed(t),
}


class Relaid:
    """A sample with its dense tensors in another layout."""

    def __init__(self, sample: Any, layout: Callable[[Any, int], Any]) -> None:
        given = cases.tensors_in((sample.input, sample.args, sample.kwargs))
        new = {id(t): layout(t.detach(), k).requires_grad_(t.requires_grad) for k, t in enumerate(given)}
        self.input, self.args = cases.with_tensors((sample.input, sample.args), new)
        self.kwargs = cases.with_tensors(sample.kwargs, new)
        self.output_process_fn_grad = None


def facts(side: cases.Side) -> list[Any]:
    """The layout of every result, and the index of the operand whose memory it shares."""
    given = [t.untyped_storage().data_ptr() if t.numel() else None
             for t in cases.tensors_in((side.args, side.kwargs))]  # fmt: skip
    found = []
    for t in cases.tensors_in(side.call()):
        if t.layout is not side.lib.strided or not t.numel():
            continue
        memory = t.untyped_storage().data_ptr()
        shares = given.index(memory) if memory in given else None
        offset = t.storage_offset() if shares is not None else None
        found.append([list(t.shape), list(t.stride()), t.is_contiguous(), shares, offset])
    return found


def compared(op: Any, limit: int = LIMIT) -> Iterator[tuple[str, str]]:
    """(layout, difference) of every sample in every layout; the difference is empty where there is none."""
    dtype = next((d for d in cases.DTYPES if d in op.supported_dtypes("cpu")), None)
    if dtype is None:
        return
    for sample in cases.samples(op, dtype, False, limit):
        for name, layout in LAYOUTS.items():
            try:
                relaid = Relaid(sample, layout)
                theirs, mine = cases.sides(op.op, relaid)
            except (cases.Unsupported, RuntimeError):
                continue
            expected = cases.outcome(facts, theirs)
            if isinstance(expected, cases.Failure):
                continue
            got = cases.outcome(facts, mine)
            if isinstance(got, cases.Failure):
                if name == "all of size one":  # the sizes are wrong there, and PyTorch does not always say so
                    continue
                if "is zero and using it on lu_solve" in str(got.error):  # of a singular matrix, as its rounding is
                    continue
                yield name, f"{name}, {cases.describe(relaid)}: {got.error!r}"
            else:
                yield name, "" if expected == got else f"{name}, {cases.describe(relaid)}: torch {expected}; {got}"


@pytest.mark.parametrize("name", list(OPERATORS))
def test_operator(name: str) -> None:
    found = [difference for _, difference in compared(OPERATORS[name]) if difference]
    if name not in KNOWN:
        assert not found, found[0]
    elif found:
        pytest.xfail(f"{KNOWN[name]}: {found[0]}")
    else:
        pytest.fail(f"no difference any more: remove {name!r} from layout_differences.json")


def test_listed_operators_are_tested() -> None:
    assert not set(KNOWN) - set(OPERATORS)


# ---- programs: the result of each expression, for tensors in every order of their dims

EXPRESSIONS = """
x.sum(0)
x.sum((0, 1), True)
x.mean(1)
x.amax(0)
x.max(0)
x.prod(0)
x.any(0)
x.logsumexp(0)
x.norm(dim=0)
x.var(0, keepdim=True)
x.argmax(0)
x.count_nonzero(0)
x.median(0)
x.quantile(.5, 0)
x.cumsum(0).view(-1)
x.cummax(1)
x ** 2
x * 2 + 1
x + x
x.exp().neg_()
x > 0
F.gelu(x)
2. ** x
1. ** x
T.float_power(2, x)
F.logsigmoid(x)
F.rrelu(x)
F.rrelu(x, training=True)
T.cdist(x, x)
T.cdist(x, x, p=1.)
T.unravel_index(x.abs().long(), (4, 5))
T.where(x > 0, x, 0.)
x.masked_fill(x > 0, 0.).view(-1)
x.masked_fill(T.zeros(2, dtype=T.bool)[0], 0.).view(-1)
x.softmax(0)
x.tril()
T.cat([x, x])
T.stack([x, x])
T.cat([x[:1], x.contiguous()])
x.repeat(2, 1, 1)
x[T.tensor([0, 1])]
x[:, T.tensor([0, 1])]
x.index_select(0, T.tensor([0, 1]))
x.index_copy(0, T.tensor([0]), x[:1])
x.gather(0, T.zeros(1, 2, 2, dtype=T.int64))
x.scatter(0, T.zeros(1, 2, 2, dtype=T.int64), 1.)
x.roll(1)
x.flip(0)
x.sort(0)
x.argsort(1)
x.topk(1, 0)
x.clamp(0, 1)
x.nan_to_num()
x.lerp(x, .5)
T.addcmul(x, x, x)
x @ T.ones(x.shape[2], 5)
T.einsum("abc,cd->abd", x, T.ones(x.shape[2], 5))
T.bmm(x, x.mT)
x.double()
x.bool()
x.float(memory_format=T.contiguous_format)
x.repeat_interleave(T.arange(x.shape[0]), 0)
T.logcumsumexp(T.complex(x, x), 1)
x.to(T.float64).view(-1) if x.is_contiguous() else x
x.unfold(0, 2, 1).clone()
x.clone()
x.contiguous()
x.reshape(-1, 2) if x.numel() % 2 == 0 else x
x.flatten(1)
T.zeros_like(x)
T.full_like(x, 2.)
x.new_zeros(x.shape)
F.pad(x, (1, 1))
F.pad(x, (0, 0, -1, 0))
F.layer_norm(x, x.shape[2:])
F.dropout(x.cumsum(0), .5)
F.dropout(x, .5)
T.rand_like(x)
F.linear(x, T.ones(5, x.shape[2]))
x.tile(2, 1, 1)
x.unsqueeze(0)
x.unsqueeze(-1)
x[None].transpose(0, 1)
x[:, None].permute(3, 2, 1, 0)
x.unsqueeze(1).unsqueeze(0).clone()
x[..., None].view(T.int32)
x[None, :, 0].unsqueeze(1)
x[:1].squeeze(0)
x[:1].expand(3, -1, -1)
x.expand(1, 1, *x.shape)
x[0].t()
x.unbind(1)
x.split(1, 2)
x.movedim(0, -1)
x[1:1], x[:, 2:2]
x.as_strided((0,), (1,), 1)
x.select(0, 1)[1:].storage_offset()
x.nonzero()
T.nonzero(x, as_tuple=True)
T.fft.fft(x)
T.fft.rfft2(x)
T.fft.fftn(x, dim=(0, 2))
T.linalg.inv(T.eye(3).expand(2, 3, 3) * 2)
T.linalg.qr(x)
T.linalg.svd(x)
T.linalg.eigh(T.eye(3) * 2)
T.linalg.cholesky(T.eye(3) * 2)
T.linalg.solve(T.eye(x.shape[1]) * 2, x)
x.detach().unsqueeze(0)
T.zeros(6)[None]
T.zeros(6)[None].t()
T.zeros(6, 1).t().clone()
T.zeros(())[None]
T.zeros(3, 1, 2)[:, 0]
""".strip().split("\n")


def _as_facts(value: Any) -> Any:
    if isinstance(value, torch.Tensor | wengert.Tensor):
        return [list(value.shape), list(value.stride()), value.is_contiguous()]
    return [_as_facts(one) for one in value] if isinstance(value, list | tuple) else value


def _in_every_order(lib: Any) -> Iterator[tuple[Any, Any]]:
    values = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
    for order in itertools.permutations(range(3)):
        yield order, lib.from_numpy(values.copy()).permute(order)
    yield "sliced", lib.from_numpy(np.repeat(values, 2, 1))[:, ::2]
    yield "expanded", lib.from_numpy(values.copy())[:, :1].expand(2, 3, 4)
    yield "of one", lib.from_numpy(values.copy())[:1].transpose(0, 2).expand(4, 3, 2)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expression(expression: str) -> None:
    found = []
    for lib in (torch, wengert):
        lib.manual_seed(0)
        code = compile(expression, "<expression>", "eval")
        found.append([
            (order, _as_facts(eval(code, {"T": lib, "F": lib.nn.functional, "x": x})))
            for order, x in _in_every_order(lib)
        ])  # fmt: skip
    for theirs, mine in zip(*found, strict=True):
        assert theirs == mine


IMAGES = """
F.conv2d(x, w)
F.conv2d(x, w.contiguous(memory_format=T.channels_last))
F.batch_norm(x, None, None, training=True)
F.group_norm(x, 2)
F.instance_norm(x)
F.max_pool2d(x, 2)
F.avg_pool2d(x, 2)
F.adaptive_avg_pool2d(x, 2)
F.adaptive_avg_pool2d(x, 1)
F.adaptive_avg_pool3d(x, (2, 3, 3))
F.adaptive_max_pool3d(x, (2, 3, 3))
F.interpolate(x, scale_factor=2)
F.interpolate(x, scale_factor=2, mode="bilinear")
F.pad(x, (1, 1, 1, 1))
F.pad(x, (1, 1, 1, 1), mode="reflect")
F.relu(x)
F.relu(x) + x
F.dropout(x, .5)
F.softmax(x, 1)
T.cat([x, x], 1)
T.stack([x, x])
x.flip(2)
x.clone()
x.contiguous()
x.mean((2, 3), keepdim=True)
x * T.ones(4, 1, 1)
T.zeros_like(x)
x[:1]
x[:, :2]
x[:, :, 1:, 1:] * 2
F.pixel_shuffle(x, 2)
F.conv_transpose2d(x, w.transpose(0, 1))
F.layer_norm(x, x.shape[1:])
x.permute(0, 2, 3, 1)
x.flatten(1)
x.sum(1)
x.double()
x[:1].squeeze(0).unsqueeze(0)
F.conv2d(x[:1], w)
F.conv2d(x[0].unsqueeze(0), w)
F.conv2d(x[0][None], w)
F.hardtanh(x)
F.leaky_relu(x)
F.silu(x)
""".strip().split("\n")


@pytest.mark.parametrize("expression", IMAGES)
def test_channels_last(expression: str) -> None:
    found = []
    for lib in (torch, wengert):
        lib.manual_seed(0)
        x = lib.arange(2 * 4 * 6 * 6).reshape(2, 4, 6, 6) / 100
        names = {"T": lib, "F": lib.nn.functional, "w": lib.ones(3, 4, 3, 3)}
        found.append([
            _as_facts(eval(expression, {**names, "x": one}))
            for one in (x, x.contiguous(memory_format=lib.channels_last), x.transpose(2, 3))
        ])  # fmt: skip
    assert found[0] == found[1]


NOT_DERIVED = {
    "T.zeros_like(x)",
    "x.sum(1)",  # PyTorch's gradient is a view with repeated elements, wengert's a dense copy
    "F.relu(x)",  # of a cotangent and a result in two orders NumPy's loops choose another one
    "F.hardtanh(x)",
    "F.pixel_shuffle(x, 2)",  # one channel: NumPy's flags tell no order
}
DERIVED = """
F.conv2d(x, w, padding=1, stride=2)
F.conv1d(sequence, w[:, :, 0])
F.conv1d(sequence, w.transpose(1, 3)[:, 0].transpose(1, 2))
F.conv_transpose1d(sequence, w[:, :, 0].transpose(0, 1))
F.conv_transpose2d(x, w.transpose(0, 1).detach(), stride=2)
F.batch_norm(x, T.zeros(4), T.ones(4))
F.max_pool2d(x, 3, 1, 1)
F.avg_pool2d(x, 3, 2, 1)
F.adaptive_max_pool2d(x, 2)
F.adaptive_max_pool2d(x, 1)
F.fractional_max_pool2d(x, 2, 3)
F.interpolate(x, scale_factor=2, mode="bicubic")
F.interpolate(x, size=3, mode="bilinear", antialias=True)
F.interpolate(x, scale_factor=2, mode="area")
F.pixel_unshuffle(x, 2)
F.pad(x, (1, 1, 1, 1), mode="replicate")
F.pad(x, (1, 1, 1, 1), mode="circular")
F.cross_entropy(x, T.ones(2, 6, 6, dtype=T.int64), reduction="none")
F.mse_loss(x, T.zeros(2, 4, 6, 6))
F.mse_loss(x, T.zeros(2, 4, 6, 6), reduction="none")
F.smooth_l1_loss(x, T.zeros(2, 4, 6, 6))
F.huber_loss(x, T.zeros(2, 4, 6, 6))
x.permute(0, 2, 3, 1).contiguous()
x.flip(1)
x.cumsum(1)
x.amax(1)
x.gather(1, T.zeros(2, 2, 6, 6, dtype=T.int64))
""".strip().split("\n")


def _grads(lib: Any, expression: str, x: Any) -> list[Any]:
    """The layout of every gradient, for cotangents in rows and in the order of the result; repeated ones are not."""
    leaf = x.detach().requires_grad_()
    leaves = {"x": leaf, "w": lib.ones(3, 4, 3, 3, requires_grad=True)}
    leaves["sequence"] = lib.ones(2, 6, 4).transpose(1, 2).requires_grad_()
    y = eval(expression, {"T": lib, "F": lib.nn.functional, **leaves})
    found = []
    for g in (lib.ones(tuple(y.shape), dtype=y.dtype), lib.ones_like(y)):
        grads = lib.autograd.grad(y, list(leaves.values()), g, retain_graph=True, allow_unused=True)
        found.append([t if t is None else list(t.stride()) for t in grads])
    y.backward(lib.ones(tuple(y.shape), dtype=y.dtype))
    return [*found, [t.grad is not None and list(t.grad.stride()) for t in leaves.values()]]


@pytest.mark.parametrize("expression", [e for e in IMAGES if e not in NOT_DERIVED] + DERIVED)
def test_gradients_of_channels_last(expression: str) -> None:
    values = np.random.default_rng(0).standard_normal((2, 4, 6, 6)).astype(np.float32)
    found = []
    for lib in (torch, wengert):
        lib.manual_seed(0)
        x = lib.from_numpy(values.copy())
        found.append([
            _grads(lib, expression, one) for one in (x, x.contiguous(memory_format=lib.channels_last))
        ])  # fmt: skip
    assert found[0] == found[1]
