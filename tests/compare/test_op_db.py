"""wengert beside PyTorch on PyTorch's own operator database: values, gradients, in place, `out=`, strides, errors.

One test per operator, which names the aspects that fail. Where the two are known to differ, `differences.json` says so
with a reason, and the test is one of its own; a difference that is gone fails until its line is removed.
`OP_DB_SAMPLES=100` looks at more samples than the usual few.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import op_db_cases as cases  # skips this module where torch or expecttest is not installed
from one_by_one import by_first

torch = cases.torch

LIMIT = int(os.environ.get("OP_DB_SAMPLES", "4"))
OPERATORS = {cases.full_name(op): op for op in cases.invocations.op_db}

# What these return is memory as it was found: only shape and dtype are compared.
UNSPECIFIED = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided", "resize_"}


def _known_differences() -> dict[str, dict[str, str]]:
    """`differences.json`, {aspect: {reason: [operators]}}, as {aspect: {operator: reason}}."""
    text = json.loads((Path(__file__).parent / "differences.json").read_text(encoding="utf-8"))
    return {
        aspect: {name: reason for reason, names in groups.items() for name in names} for aspect, groups in text.items()
    }


KNOWN = _known_differences()
PRESENT = {name: op for name, op in OPERATORS.items() if not cases.is_absent(op)}


# ---- aspects: each yields (what was compared, how it differs), the latter empty where it does not


Findings = Iterator[tuple[str, str]]


def values(op: Any) -> Findings:
    """Value, shape and dtype of the function, and of the method of that name, for every dtype that PyTorch takes."""
    for dtype in _dtypes(op, op.supported_dtypes("cpu")):
        for fn in (op.op, op.get_method()):
            for sample in cases.samples(op, dtype, False, LIMIT):
                if fn is None:
                    continue
                yield from _compare(op, fn, sample, lambda side: side.processed(side.call()), dtype)
            if cases.is_constructor(op):
                break


def gradients(op: Any) -> Findings:
    """The gradients of every tensor operand, for random cotangents of every differentiable result."""
    for dtype in _dtypes(op, op.supported_backward_dtypes("cpu"), complex_too=True):
        for sample in cases.samples(op, dtype, True, LIMIT):
            yield from _compare(op, op.op, sample, lambda side: first_order(side, side.call()), dtype)


def second_order(op: Any) -> Findings:
    """The gradient of a gradient, which create_graph recorded."""
    for dtype in _dtypes(op, op.supported_backward_dtypes("cpu"), complex_too=True)[:1]:
        for sample in cases.samples(op, dtype, True, LIMIT):
            yield from _compare(op, op.op, sample, _gradient_of_gradient, dtype)


def forward_mode(op: Any) -> Findings:
    """`torch.func.jvp` along a random tangent of every tensor operand."""
    for dtype in _dtypes(op, op.supported_backward_dtypes("cpu"), complex_too=True)[:1]:
        for sample in cases.samples(op, dtype, True, LIMIT):
            yield from _compare(op, op.op, sample, _tangent, dtype)


def in_place(op: Any) -> Findings:
    """The form with an underscore: what it writes and returns, and the gradients through it."""
    for dtype in _dtypes(op, op.supported_dtypes("cpu")):
        for sample in cases.samples(op, dtype, False, LIMIT):
            yield from _compare(op, op.get_inplace(), sample, _in_place, dtype)
    if op.supports_autograd and op.supports_inplace_autograd:
        for sample in cases.samples(op, torch.float64, True, LIMIT):
            yield from _compare(op, op.get_inplace(), sample, _gradients_in_place, torch.float64)


def out(op: Any) -> Findings:
    """`out=`: an empty tensor is resized, filled and returned."""
    yield from _out(op, ("empty",))


def out_of_another_dtype(op: Any) -> Findings:
    """`out=` of float64 and int64 for a float32 result: converted, or refused."""
    yield from _out(op, ("float64", "int64"))


def _out(op: Any, kinds: tuple[str, ...]) -> Findings:
    for dtype in _dtypes(op, op.supported_dtypes("cpu"))[:1]:
        for sample in cases.samples(op, dtype, False, LIMIT):
            for kind in kinds:
                yield from _compare(
                    op, op.op, sample, lambda side, kind=kind: _with_out(side, kind), f"{dtype}, {kind} out"
                )


def without_data(op: Any) -> Findings:
    """On device "meta": the results' dtypes and shapes, and those of the gradients."""
    for dtype in _dtypes(op, op.supported_dtypes("cpu")):
        backward = op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
        for sample in cases.samples(op, dtype, backward, LIMIT):
            yield from _compare(op, op.op, sample, _facts_without_data, dtype)


def strides(op: Any) -> Findings:
    """Strides and storage offsets of the results."""
    for dtype in _dtypes(op, op.supported_dtypes("cpu"))[:1]:
        for sample in cases.samples(op, dtype, False, LIMIT):
            yield from _compare(op, op.op, sample, _layouts, dtype)


def dtypes(op: Any) -> Findings:
    """In every dtype, with and without a backward pass: the results' dtypes and shapes, or the refusal."""
    for dtype in EVERY_DTYPE:
        for backward in (False, True):
            if backward and not (op.supports_autograd and (dtype.is_floating_point or dtype.is_complex)):
                continue
            try:
                drawn = list(cases.samples(op, dtype, backward, LIMIT))
            except Exception:  # noqa: BLE001  (the database itself cannot make samples of this dtype)
                continue
            for sample in drawn:
                run = _facts_of_grads if backward else lambda side: _facts(side.call())
                yield from _compare(op, op.op, sample, run, dtype, sentences=True)


_NAMES = "bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128"
EVERY_DTYPE = [getattr(torch, name) for name in _NAMES.split()]


def errors(op: Any) -> Findings:
    """The database's wrong arguments: class and first sentence of the error."""
    for case in cases.error_inputs(op):
        yield from _compare(op, op.op, case.sample_input, lambda side: side.call(), "error input", sentences=True)


def _dtypes(op: Any, supported: Any, complex_too: bool = False) -> list[Any]:
    wanted = (torch.float64, torch.complex128) if complex_too else cases.DTYPES
    return [dtype for dtype in wanted if dtype in supported]


def _compare(op: Any, fn: Any, sample: Any, run: Any, what: Any, sentences: bool = False) -> Findings:
    try:
        theirs, mine = cases.sides(fn, sample)
    except cases.Unsupported:
        return
    expected = cases.outcome(run, theirs)
    difference = cases.mismatch(
        expected, cases.outcome(run, mine), values=op.name not in UNSPECIFIED, sentences=sentences
    )
    yield str(what), difference and f"{what}, {cases.describe(sample)}: {difference}"


# ---- what is run on either side


def _random(lib: Any, like: Any, rng: np.random.Generator) -> Any:
    """A tensor of the shape and dtype of `like`: the same numbers on either side."""
    values = rng.uniform(-1, 1, tuple(like.shape))
    if like.is_complex():
        values = values + 1j * rng.uniform(-1, 1, tuple(like.shape))
    return lib.from_numpy(np.array(values)).to(like.dtype)


def _weighted(side: Any, results: list[Any], seed: int) -> Any:
    """One real number that depends on every entry of the results."""
    rng = np.random.default_rng(seed)
    total = 0.0
    for result in results:
        product = result * _random(side.lib, result, rng)
        total = total + (product.real if product.is_complex() else product).sum()
    return total


def _differentiable(side: Any, result: Any) -> list[Any]:
    return [t for t in cases.tensors_in(side.processed(result)) if t.requires_grad]


def first_order(side: Any, result: Any, create_graph: bool = False) -> list[Any]:
    results = _differentiable(side, result)
    if not results:
        return [None]
    total = _weighted(side, results, 1)
    return list(side.lib.autograd.grad(total, side.leaves(), allow_unused=True, create_graph=create_graph))


def _gradient_of_gradient(side: Any) -> list[Any]:
    grads = [g for g in first_order(side, side.call(), create_graph=True) if g is not None and g.requires_grad]
    leaves = side.leaves()
    if not grads:
        return [side.lib.zeros_like(leaf) for leaf in leaves]
    total = _weighted(side, grads, 2)
    # Whether a zero is None depends on how a formula is split into operators: only the numbers are compared.
    found = side.lib.autograd.grad(total, leaves, allow_unused=True)
    return [side.lib.zeros_like(leaf) if g is None else g for leaf, g in zip(leaves, found, strict=True)]


def _tangent(side: Any) -> list[Any]:
    leaves = side.leaves()
    rng = np.random.default_rng(3)
    tangents = tuple(_random(side.lib, leaf, rng) for leaf in leaves)

    def call(*primals: Any) -> tuple[Any, ...]:
        new = {id(old): primal for old, primal in zip(leaves, primals, strict=True)}
        args, kwargs = cases.with_tensors((side.args, side.kwargs), new)
        results = cases.tensors_in(side.processed(side.fn(*args, **kwargs)))
        return tuple(t for t in results if t.is_floating_point() or t.is_complex())

    return list(side.lib.func.jvp(call, tuple(leaf.detach() for leaf in leaves), tangents))


def _in_place(side: Any) -> list[Any]:
    target = side.args[0].clone()
    result = side.fn(target, *side.args[1:], **side.kwargs)
    return [result is target, target]


def _gradients_in_place(side: Any) -> list[Any]:
    target = side.args[0].clone()
    side.fn(target, *side.args[1:], **side.kwargs)
    return first_order(side, target)


def _with_out(side: Any, kind: str) -> list[Any]:
    expected = side.call()
    outs = [_receiver(side.lib, t, kind) for t in (cases.tensors_in(expected))]
    single = isinstance(expected, side.lib.Tensor)
    side.lib.manual_seed(0)
    result = side.call(out=outs[0] if single else type(outs)(outs) if isinstance(expected, list) else tuple(outs))
    written = cases.tensors_in(result)
    same = [a is b for a, b in zip(written, outs, strict=True)]
    shown = cases.tensors_in(side.processed(result))
    # A float64 `out` of a float32 result is compared as float32: PyTorch rounds first, wengert too.
    return [same, [t.to(side.lib.float32) if t.dtype == side.lib.float64 else t for t in shown]]


def _receiver(lib: Any, like: Any, kind: str) -> Any:
    if kind == "empty":
        return lib.empty(0, dtype=like.dtype)
    return lib.zeros(tuple(like.shape), dtype=getattr(lib, kind))


def _layouts(side: Any) -> str:
    results = [t for t in cases.tensors_in(side.call()) if t.layout is side.lib.strided]
    return repr([[tuple(t.shape), t.stride(), t.storage_offset() if t._is_view() else 0] for t in results])


def _facts(value: Any) -> Any:
    tensors = cases.tensors_in(value)
    return [[str(t.device), str(t.dtype), list(t.shape)] for t in tensors]


def _facts_without_data(side: Any) -> list[Any]:
    given = cases.tensors_in((side.args, side.kwargs))
    new = {id(t): t.detach().to("meta").requires_grad_(t.requires_grad) for t in given}
    args, kwargs = cases.with_tensors((side.args, side.kwargs), new)
    if kwargs.get("device") is not None:
        kwargs = {**kwargs, "device": "meta"}
    result = side.fn(*args, **kwargs)
    leaves = [t for t in cases.tensors_in((args, kwargs)) if t.requires_grad]
    outputs = [t for t in cases.tensors_in(result) if t.requires_grad]
    if not leaves or not outputs:
        return [_facts(result), None]
    ones = [side.lib.ones_like(t) for t in outputs]
    grads = side.lib.autograd.grad(outputs, leaves, ones, allow_unused=True)
    return [_facts(result), [None if g is None else _facts(g) for g in grads]]


def _facts_of_grads(side: Any) -> list[Any]:
    outputs = [t for t in cases.tensors_in(side.call()) if t.requires_grad]
    ones = [side.lib.ones_like(t) for t in outputs]
    grads = side.lib.autograd.grad(outputs, side.leaves(), ones, allow_unused=True) if outputs else ()
    return [None if g is None else _facts(g) for g in grads]


# ---- tests

ASPECTS = {
    "values": (values, lambda op: True),
    "gradients": (gradients, lambda op: op.supports_autograd),
    "second order": (second_order, lambda op: op.supports_autograd and op.supports_gradgrad),
    "forward mode": (forward_mode, lambda op: op.supports_autograd and op.supports_forward_ad),
    "in place": (in_place, lambda op: op.get_inplace() is not None),
    "out": (out, lambda op: op.supports_out),
    "out of another dtype": (out_of_another_dtype, lambda op: op.supports_out),
    "without data": (without_data, lambda op: True),
    "strides": (strides, lambda op: True),
    "dtypes": (dtypes, lambda op: True),
    "errors": (errors, lambda op: op.error_inputs_func is not None),
}


def find_difference(name: str, aspect: str) -> str:
    compared = 0
    for _, difference in ASPECTS[aspect][0](PRESENT[name]):
        compared += 1
        if difference:
            return difference
    if not compared:
        pytest.skip("the database has no sample that wengert can be given")
    return ""


CASES = [(name, aspect) for name, op in PRESENT.items() for aspect, (_, applies) in ASPECTS.items() if applies(op)]


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support:UserWarning")
@by_first([(name, aspect) for name, aspect in CASES if name not in KNOWN.get(aspect, {})])
def test_operator(name: str, aspect: str) -> None:
    difference = find_difference(name, aspect)
    assert not difference, difference


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support:UserWarning")
@pytest.mark.parametrize(
    ("name", "aspect"), [(name, aspect) for name, aspect in CASES if name in KNOWN.get(aspect, {})]
)
def test_known_difference(name: str, aspect: str) -> None:
    difference = find_difference(name, aspect)
    if difference:
        pytest.xfail(f"{KNOWN[aspect][name]}: {difference}")
    pytest.fail(f"no difference any more: remove {name!r} from {aspect!r} in differences.json")


def test_absent() -> None:
    """The operators, methods, in-place forms and aliases of the database that wengert lacks are the listed ones."""
    absent = set()
    for name, op in OPERATORS.items():
        absent |= {name} if name not in PRESENT else cases.absent_forms(op)
    listed = set(KNOWN["absent"])
    assert not absent - listed, f"absent and not listed: {sorted(absent - listed)}"
    assert not listed - absent, f"there by now, remove it from 'absent': {sorted(listed - absent)}"


def test_listed_operators_are_tested() -> None:
    """Every line of differences.json names an operator and an aspect that is compared."""
    for aspect, known in KNOWN.items():
        if aspect != "absent":
            unknown = sorted(name for name in known if name not in PRESENT or not ASPECTS[aspect][1](PRESENT[name]))
            assert not unknown, f"{aspect}: {unknown}"
