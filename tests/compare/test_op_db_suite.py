"""wengert beside PyTorch as PyTorch's `test_ops.py` goes through its operator database: `out=` of every kind, variants,
reference inputs, arguments with gaps, conjugate and negative views, views replayed.

One test per operator, as in `test_op_db.py`; `suite_differences.json` has what is known to differ.
"""

from __future__ import annotations

import itertools
import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from compare import op_db_cases as cases
from compare import test_op_db as database
from one_by_one import by_first

torch = cases.torch
LIMIT = database.LIMIT
Findings = database.Findings
KNOWN = {
    aspect: {name: reason for reason, names in groups.items() for name in names}
    for aspect, groups in json.loads((Path(__file__).parent / "suite_differences.json").read_text("utf-8")).items()
}


class Changed:
    """A sample with its tensors exchanged."""

    def __init__(self, sample: Any, change: Any) -> None:
        new = {id(t): change(t) for t in cases.tensors_in((sample.input, sample.args, sample.kwargs))}
        self.input, self.args = cases.with_tensors((sample.input, sample.args), new)
        self.kwargs = cases.with_tensors(sample.kwargs, new)
        self.output_process_fn_grad = sample.output_process_fn_grad


def compare(op: Any, fn: Any, sample: Any, run: Any, what: Any, sentences: bool = False) -> Findings:
    yield from database._compare(op, fn, sample, run, what, sentences)


def first_dtype(op: Any) -> list[Any]:
    return database._dtypes(op, op.supported_dtypes("cpu"))[:1]


# ---- out=


def outs(op: Any) -> Findings:
    """`out=` with junk in it, of other strides, of other sizes, of another dtype: result, memory, warnings, error."""
    for dtype in first_dtype(op):
        for sample in cases.samples(op, dtype, False, LIMIT):
            for kind in OUTS:
                yield from compare(op, op.op, sample, lambda side, kind=kind: with_out(side, kind), kind, True)


def _of_other_strides(lib: Any, like: Any) -> Any:
    back = tuple(range(like.ndim))[::-1]
    return lib.zeros([like.shape[d] for d in back], dtype=like.dtype).permute(back)


OUTS = {
    "filled": lambda lib, like: lib.ones(tuple(like.shape), dtype=like.dtype),
    "of other strides": _of_other_strides,
    "with gaps": lambda lib, like: lib.zeros((*like.shape, 2), dtype=like.dtype)[..., 1],
    "larger": lambda lib, like: (
        lib.zeros((*like.shape[:-1], *(n + 1 for n in like.shape[-1:])), dtype=like.dtype)
        if like.ndim
        else lib.zeros(1, dtype=like.dtype)
    ),
    "int64": lambda lib, like: lib.zeros(tuple(like.shape), dtype=lib.int64),
    "bool": lambda lib, like: lib.zeros(tuple(like.shape), dtype=lib.bool),
    "complex128": lambda lib, like: lib.zeros(tuple(like.shape), dtype=lib.complex128),
    "float64": lambda lib, like: lib.zeros(tuple(like.shape), dtype=lib.float64),
}


def with_out(side: cases.Side, kind: str) -> Any:
    expected = side.call()
    given = [OUTS[kind](side.lib, t) for t in cases.tensors_in(expected)]
    before = [t.data_ptr() for t in given]
    single = isinstance(expected, side.lib.Tensor)
    side.lib.manual_seed(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = side.call(
            out=given[0] if single else type(given)(given) if isinstance(expected, list) else tuple(given)
        )
    said = {str(w.message).split(". ")[0] for w in caught if str(w.message).startswith("An output with")}
    written = cases.tensors_in(result)
    facts = [
        [t is own, list(t.shape), t.data_ptr() == place, list(t.stride()) if kind != "larger" else None]
        for t, own, place in zip(written, given, before, strict=True)
        if t.numel()
    ]
    shown = [t.detach() for t in cases.tensors_in(side.processed(result))]
    rounded = {side.lib.float64: side.lib.float32, side.lib.complex128: side.lib.complex64}  # as the kernels are
    return [sorted(said), facts, [t.to(rounded.get(t.dtype, t.dtype)) for t in shown]]


# ---- arguments


def reference_inputs(op: Any) -> Findings:
    """Values for the database's larger list of samples."""
    for dtype in first_dtype(op):
        torch.manual_seed(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = list(itertools.islice(op.reference_inputs("cpu", dtype), 400))
        step = max(1, len(made) // (4 * LIMIT))
        for sample in made[::step][: 4 * LIMIT]:
            if all(
                t.layout is torch.strided and t.numel() <= 10000 for t in cases.tensors_in([sample.input, sample.args])
            ):
                yield from compare(op, op.op, sample, lambda side: side.processed(side.call()), dtype, True)


def with_gaps(op: Any) -> Findings:
    """Values and gradients for arguments that the database made non-contiguous."""
    for dtype in database._dtypes(op, op.supported_dtypes("cpu"), complex_too=True)[:1] or first_dtype(op):
        backward = op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
        for sample in cases.samples(op, dtype, backward, LIMIT):
            other = sample.noncontiguous()
            yield from compare(op, op.op, other, lambda side: values_and_grads(side), dtype)


def values_and_grads(side: cases.Side) -> Any:
    result = side.call()
    return [side.processed(result), database.first_order(side, result)]


def conjugated(op: Any) -> Findings:
    """Values and gradients for conjugate views."""
    for dtype in [d for d in (torch.complex128,) if d in op.supported_dtypes("cpu")]:
        backward = op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
        for sample in cases.samples(op, dtype, backward, LIMIT):
            yield from compare(op, op.op, sample, lambda side: on_views(side, "conj"), dtype)


def negated(op: Any) -> Findings:
    """Values and gradients for negative views."""
    for dtype in [d for d in (torch.float64,) if d in op.supported_dtypes("cpu")]:
        backward = op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
        for sample in cases.samples(op, dtype, backward, LIMIT):
            yield from compare(op, op.op, sample, lambda side: on_views(side, "_neg_view"), dtype)


def on_views(side: cases.Side, kind: str) -> Any:
    given = cases.tensors_in((side.args, side.kwargs))
    changed = {}
    for t in given:
        if kind == "conj" and t.is_complex():
            changed[id(t)] = t.conj_physical().conj()
        elif kind == "_neg_view" and (t.is_floating_point() or t.is_complex()):
            changed[id(t)] = side.lib._neg_view(-t)
    args, kwargs = cases.with_tensors((side.args, side.kwargs), changed)
    result = side.fn(*args, **kwargs)
    return [side.processed(result), database.first_order(side, result)]


# ---- forms


def forms(op: Any) -> Findings:
    """Method, in-place method, operator, in-place operator and aliases: value and gradient of each."""
    named = [op.get_method(), op.get_operator()]
    for alias in op.aliases:
        named += [alias.op, alias.method_variant]
    in_place = [op.get_inplace(), op.get_inplace_operator(), *(alias.inplace_variant for alias in op.aliases)]
    for dtype in first_dtype(op):
        backward = op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
        for sample in cases.samples(op, dtype, backward, LIMIT):
            for fn, written in [(fn, False) for fn in named] + [(fn, True) for fn in in_place]:
                if fn is None or (written and sample.broadcasts_input):
                    continue
                yield from compare(op, fn, sample, lambda side, w=written: form(side, w), f"{dtype} {fn}", True)


def form(side: cases.Side, written: bool) -> Any:
    first = side.args[0]
    target = first.clone() if isinstance(first, side.lib.Tensor) and written else first
    result = side.fn(target, *side.args[1:], **side.kwargs)
    return [result is target, side.processed(result), database.first_order(side, result)]


def replayed(op: Any) -> Findings:
    """A result that is a view of the first argument is made again from another base, and the base from the view."""
    for dtype in first_dtype(op):
        for sample in cases.samples(op, dtype, False, LIMIT):
            yield from compare(op, op.op, sample, replay, dtype, True)


def replay(side: cases.Side) -> Any:
    base, found = side.args[0], []
    for t in cases.tensors_in(side.call()):
        if not t._is_view() or t._base is not base:
            continue
        again = t._view_func(base.clone())
        found.append([list(again.shape), list(again.stride()), again.storage_offset(), again])
    return found


ASPECTS = {
    # PyTorch writes beyond the memory of an `out` of these two that it resized: the process ends.
    "out": (outs, lambda op: op.supports_out and op.name not in ("lu_unpack", "linalg.lu")),
    "reference inputs": (reference_inputs, lambda op: True),
    "with gaps": (with_gaps, lambda op: True),
    "conjugated": (conjugated, lambda op: op.test_conjugated_samples),
    "negated": (negated, lambda op: op.test_neg_view),
    "forms": (forms, lambda op: True),
    "replayed": (replayed, lambda op: True),
}


CASES = [
    (name, aspect) for name, op in database.PRESENT.items() for aspect, (_, applies) in ASPECTS.items() if applies(op)
]


def differences(name: str, aspect: str) -> list[str]:
    return [difference for _, difference in ASPECTS[aspect][0](database.PRESENT[name]) if difference]


@by_first([(name, aspect) for name, aspect in CASES if name not in KNOWN.get(aspect, {})])
def test_operator(name: str, aspect: str) -> None:
    found = differences(name, aspect)
    assert not found, found[0]


@pytest.mark.parametrize(
    ("name", "aspect"), [(name, aspect) for name, aspect in CASES if name in KNOWN.get(aspect, {})]
)
def test_known_difference(name: str, aspect: str) -> None:
    found = differences(name, aspect)
    if found:
        pytest.xfail(f"{KNOWN[aspect][name]}: {found[0]}")
    pytest.fail(f"no difference any more: remove {name!r} from {aspect!r} in suite_differences.json")


def test_listed_operators_are_tested() -> None:
    for aspect, known in KNOWN.items():
        unknown = [n for n in known if n not in database.PRESENT or not ASPECTS[aspect][1](database.PRESENT[n])]
        assert not unknown, f"{aspect}: {unknown}"
