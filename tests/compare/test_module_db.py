"""wengert beside PyTorch on PyTorch's databases of modules and optimizers, `common_modules` and `common_optimizers`.

Each entry has constructor and call arguments, and wrong ones. Both libraries make a module from the same seed, so that
its parameters are compared too, and then values, strides, gradients, graphs, texts, states and errors.
"""

from __future__ import annotations

import copy
import io
import warnings
from typing import Any

import numpy as np
import pytest
from compare import op_db_cases as cases  # skips this module where torch or expecttest is not installed

import wengert

torch = cases.torch
modules = pytest.importorskip("torch.testing._internal.common_modules")
optimizers = pytest.importorskip("torch.testing._internal.common_optimizers")

LIMIT = 8  # inputs of each module, from first to last
MODULES = {info.name: info for info in modules.module_db}
GRAPHS = {"nn.LinearCrossEntropyLoss"}  # its chunks are a custom operator in PyTorch, with a generated name of the node
OPTIMIZERS = {info.name: info for info in optimizers.optim_db}


class Inputs(cases.Inputs):
    def __call__(self, value: Any) -> Any:
        if isinstance(value, torch.nn.utils.rnn.PackedSequence):
            return wengert.nn.utils.rnn.PackedSequence(*map(self, value))
        if isinstance(value, torch.nn.TransformerEncoderLayer):
            first, attention = value.linear1, value.self_attn
            layer = wengert.nn.TransformerEncoderLayer(
                attention.embed_dim, attention.num_heads, first.out_features, value.dropout.p, self(value.activation),
                value.norm1.eps, attention.batch_first, value.norm_first, first.bias is not None, dtype=wengert.float64,
            )  # fmt: skip
            layer.load_state_dict({name: self(t) for name, t in value.state_dict().items()})
            return layer
        return super().__call__(value)


def seen(value: Any) -> Any:
    """A value as nested lists of NumPy arrays, dtypes, shapes and strides (of dims with more than one entry)."""
    if isinstance(value, torch.Tensor | wengert.Tensor):
        value = value.to_dense() if value.layout in (torch.sparse_coo, wengert.sparse_coo) else value
        strides = [s for s, n in zip(value.stride(), value.shape, strict=True) if n != 1] if value.numel() else []
        return [str(value.dtype), value.requires_grad, strides, cases.plain(value)]
    if isinstance(value, dict):
        return [[str(key), seen(part)] for key, part in value.items()]
    if isinstance(value, list | tuple):
        return [seen(part) for part in value]
    return np.asarray(value, np.float32) if isinstance(value, float) else cases.plain(value)


def leaves_of(lib: Any, value: Any) -> list[Any]:
    return [t for t in cases.tensors_in(value) if isinstance(t, lib.Tensor) and t.requires_grad]


# ---- modules


def of_module(info: Any, training: bool, side: cases.Side) -> Any:
    """What one library's module is, gives and does: `side.fn` is its class, `side.process` the constructor's input."""
    lib, made = side.lib, side.process
    lib.manual_seed(0)
    m = side.fn(*made[0], **made[1]).train(training)
    leaves = leaves_of(lib, (side.args, side.kwargs))
    lib.manual_seed(1)
    out = m(*side.args, **side.kwargs)
    results = leaves_of(lib, out if not hasattr(out, "data") or isinstance(out, lib.Tensor) else tuple(out))
    lib.manual_seed(2)
    g = [lib.randn(t.shape, dtype=t.dtype) for t in results]
    inputs = leaves + list(m.parameters())
    grads = lib.autograd.grad(results, inputs, g, allow_unused=True) if results and inputs else ()
    names = [name for name, _ in m.named_modules()], sorted(k for k in vars(m) if k[0] != "_")
    graph = [t.grad_fn.name() for t in results if info.name not in GRAPHS]
    facts = [repr(m), m.extra_repr(), names, seen(m.state_dict()), graph, seen(out)]
    return [*facts, [cases.plain(t) for t in grads], in_place(lib, m, side)]


def in_place(lib: Any, m: Any, side: cases.Side) -> Any:
    if not hasattr(m, "inplace"):
        return None
    m.inplace = True
    x = side.args[0].detach().clone()
    return [m(x) is x, x._version, seen(x)]


def detached(value: Any) -> Any:
    """The same arguments with leaves in place of results of the database's own operators."""
    new = {id(t): t.detach().requires_grad_(t.requires_grad) for t in cases.tensors_in(value)}
    return cases.with_tensors(value, new)


@pytest.mark.compare
@pytest.mark.parametrize("name", MODULES)
def test_modules(name: str) -> None:
    info = MODULES[name]
    mine = cases.look_up(f"torch.nn.{info.module_cls.__name__}")
    for training in (True, False)[: 1 + info.train_and_eval_differ]:
        torch.manual_seed(0)
        make = {"device": "cpu", "dtype": torch.float64, "requires_grad": True, "training": training}
        samples = [s for s in info.module_inputs_func(info, **make) if s.forward_input is not None]
        for sample in samples[:: max(1, len(samples) // LIMIT)]:
            own = sample.constructor_input
            options = dict(own.kwargs)
            if "dtype" in info.module_cls.__init__.__code__.co_varnames:
                options.setdefault("dtype", torch.float64)
            args, kwargs = detached((sample.forward_input.args, sample.forward_input.kwargs))
            inputs = Inputs()
            theirs = cases.Side(torch, info.module_cls, args, kwargs, (own.args, options))
            ours = cases.Side(wengert, mine, inputs(args), inputs(kwargs), (inputs(own.args), inputs(options)))

            def run(side: cases.Side, training: bool = training) -> Any:
                return of_module(info, training, side)

            different = cases.mismatch(cases.outcome(run, theirs), cases.outcome(run, ours), sentences=True)
            assert not different, f"{sample.desc} {own.args} {own.kwargs}: {different}"


@pytest.mark.compare
@pytest.mark.parametrize("name", [n for n, info in MODULES.items() if info.module_error_inputs_func is not None])
def test_errors_of_modules(name: str) -> None:
    info = MODULES[name]

    def run(side: cases.Side) -> Any:
        m = side.fn(*side.process[0], **side.process[1])
        if side.args is not None:
            m(*side.args, **side.kwargs)

    mine = cases.look_up(f"torch.nn.{info.module_cls.__name__}")
    for wrong in info.module_error_inputs_func(info, "cpu", torch.float64, False, True):
        inputs, sample = Inputs(), wrong.module_error_input
        made = (sample.constructor_input.args, sample.constructor_input.kwargs)
        call = sample.forward_input
        calls: Any = (None, {}) if call is None else (call.args, call.kwargs)
        theirs = cases.Side(torch, info.module_cls, *calls, made)
        ours = cases.Side(wengert, mine, *map(inputs, calls), tuple(map(inputs, made)))
        different = cases.mismatch(cases.outcome(run, theirs), cases.outcome(run, ours), sentences=True)
        assert not different, different


# ---- optimizers


def gradients(lib: Any, params: list[Any], step: int, sparse: bool) -> None:
    lib.manual_seed(step)
    for p in params:
        g = lib.randn(p.shape, dtype=p.dtype)
        p.grad = (g * (lib.rand(p.shape) > 0.5)).to_sparse() if sparse else g
    if step == 1:
        params[-1].grad = None


def of_optimizer(info: Any, side: cases.Side) -> Any:
    """Steps, texts and states; a state that is saved, loaded into float32 parameters and used."""
    lib, sparse = side.lib, info.only_supports_sparse_grads
    lib.manual_seed(0)
    shapes = [(2, 3), (4, 2)] if sparse or info.name == "Muon" else [(2, 3), (4,), (), (2, 1, 2)]
    params = [lib.nn.Parameter(lib.randn(s, dtype=lib.float64)) for s in shapes]
    optimizer = side.fn(params, **side.kwargs)
    facts: list[Any] = [repr(optimizer), sorted(optimizer.defaults)]

    def loss() -> Any:
        optimizer.zero_grad()
        value = sum(((p - 1) ** 2).sum() for p in params)
        value.backward()
        return value

    def steps(first: int, last: int) -> None:
        for k in range(first, last):
            gradients(lib, params, k, sparse)
            facts.append(seen(optimizer.step(loss if info.step_requires_closure else None)))
        facts.extend((seen(params), sorted(seen(state(optimizer)), key=str)))

    def state(optimizer: Any) -> Any:
        found = optimizer.state_dict()
        return {f"{k} {name}": v for k, own in found["state"].items() for name, v in own.items() if name != "al"}

    steps(0, 3)
    file = io.BytesIO()
    lib.save(optimizer.state_dict(), file)
    file.seek(0)
    loaded = lib.load(file)
    if not sparse and not info.step_requires_closure:  # a search along lines multiplies what is rounded
        params = [lib.nn.Parameter(p.detach().float()) for p in params]
        optimizer = side.fn(params, **side.kwargs)
    for group in loaded["param_groups"]:  # as checkpoints of old versions are
        for option in ("foreach", "maximize", "differentiable", "capturable", "fused"):
            group.pop(option, None)
    optimizer.load_state_dict(loaded)
    facts.append([repr(optimizer), list(optimizer.state_dict()["param_groups"][0])])
    optimizer.load_state_dict(copy.deepcopy(loaded))
    steps(3, 4)
    return facts


@pytest.mark.compare
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers(name: str) -> None:
    info = OPTIMIZERS[name]
    samples = info.optim_inputs_func(device="cpu")
    for sample in samples[:: max(1, len(samples) // LIMIT)]:
        theirs = cases.Side(torch, info.optim_cls, (), sample.kwargs, None)
        ours = cases.Side(wengert, getattr(wengert.optim, name), (), Inputs()(sample.kwargs), None)
        outcomes = [cases.outcome(lambda side: of_optimizer(info, side), side) for side in (theirs, ours)]
        different = cases.mismatch(*outcomes, sentences=True)
        assert not different, f"{sample.kwargs}: {different}"


@pytest.mark.compare
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_errors_of_optimizers(name: str) -> None:
    info = OPTIMIZERS[name]
    kinds: dict[int, Any] = {}

    def converted(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if id(value) not in kinds:
                own = Inputs()(value.detach())
                kinds[id(value)] = wengert.nn.Parameter(own) if isinstance(value, torch.nn.Parameter) else own
            return kinds[id(value)]
        if isinstance(value, list | tuple):
            return type(value)(map(converted, value))
        return {k: converted(v) for k, v in value.items()} if isinstance(value, dict) else value

    def run(side: cases.Side) -> Any:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            params = side.args[0]
            side.fn([side.lib.nn.Parameter(side.lib.zeros(1, 1))] if params is None else params, **side.kwargs)
        return [[w.category.__name__, str(w.message)] for w in caught]

    for wrong in info.optim_error_inputs_func(device="cpu", dtype=torch.float32):
        sample = wrong.optimizer_error_input
        if wrong.error_on is not optimizers.OptimizerErrorEnum.CONSTRUCTION_ERROR or "dense" in sample.desc:
            continue
        theirs = cases.Side(torch, info.optim_cls, (sample.params,), sample.kwargs, None)
        args = (converted(sample.params),)
        ours = cases.Side(wengert, getattr(wengert.optim, name), args, converted(sample.kwargs), None)
        different = cases.mismatch(cases.outcome(run, theirs), cases.outcome(run, ours), sentences=True)
        assert not different, f"{sample.desc}: {different}"
