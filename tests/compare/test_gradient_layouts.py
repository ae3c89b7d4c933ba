"""Layouts of gradients beside PyTorch's: the strides of what `autograd.grad` returns and `backward` leaves in `.grad`.

The operators and samples are those of `test_layouts`; the cotangents are row-major, or lie as the result does. Each
operator is tested on one sample in one other layout; `python tests/compare/test_gradient_layouts.py` (from `tests`, two
minutes) prints the differences for more samples in all layouts.
Strides of dims of size 1 are not compared. Neither is a gradient that is a view of the cotangent in PyTorch, with gaps
or with elements that repeat: wengert's gradients belong to their caller alone. Where the two are known to differ
otherwise, `gradient_layout_differences.json` says so with a reason; a difference that is gone fails until its line is
removed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import op_db_cases as cases
from compare.test_layouts import LAYOUTS, OPERATORS, Relaid

import wengert
from wengert._arrays.layouts import is_dense

torch = cases.torch

DERIVED = {name: op for name, op in OPERATORS.items() if op.supports_autograd}
FILE = Path(__file__).parent / "gradient_layout_differences.json"
KNOWN = {name: reason for reason, names in json.loads(FILE.read_text("utf-8")).items() for name in names}
ALL = ("as given", "column-major", "channels last", "sliced", "swapped", "expanded", "strides of size one",
       "all of size one")  # fmt: skip


def _strides(t: Any) -> Any:
    """The shape of a gradient and the strides of its dims of more than one element; `None` where there is none."""
    if t is None or not t.numel() or t.layout not in (torch.strided, wengert.strided):
        return None
    return tuple(t.shape), tuple([s for n, s in zip(t.shape, t.stride(), strict=True) if n > 1])


def _gradients(side: cases.Side) -> list[Any]:
    """The layouts for cotangents in rows and in the order of the result."""
    outputs = [t for t in cases.tensors_in(side.call()) if t.requires_grad and t.layout is side.lib.strided]
    leaves = side.leaves()
    if not outputs or not leaves:
        return []
    found = []
    rows = [side.lib.ones(tuple(t.shape), dtype=t.dtype) for t in outputs]
    both = [rows] if all(t.is_contiguous() for t in outputs) else [rows, [side.lib.ones_like(t) for t in outputs]]
    for cotangents in both:
        found += side.lib.autograd.grad(outputs, leaves, cotangents, retain_graph=True, allow_unused=True)
    return [_strides(t) for t in found]


def _is_view(layout: Any) -> bool:
    """Whether a gradient has gaps or elements that repeat."""
    shape, strides = layout
    return not is_dense(tuple(n for n in shape if n > 1), tuple(strides), 1)


def _rank(sample: Any) -> int:
    return max((t.ndim for t in cases.tensors_in([sample.input, sample.args])), default=0)


def compared(op: Any, whole: bool = False) -> Iterator[str]:
    """The differences of the sample with the most dims, where the order of dims shows; ``whole``: of all samples."""
    dtypes = (torch.float32, torch.float64, torch.complex128)
    dtype = next((d for d in dtypes if d in op.supported_backward_dtypes("cpu")), None)
    drawn = [] if dtype is None else list(cases.samples(op, dtype, True, 2))
    for sample in drawn if whole else sorted(drawn, key=_rank)[-1:]:
        rank = _rank(sample)
        for name in ALL if whole else ("channels last",) if rank > 2 else ("column-major",) if rank == 2 else ():
            try:
                theirs, mine = cases.sides(op.op, Relaid(sample, LAYOUTS[name]))
            except (cases.Unsupported, RuntimeError):
                continue
            expected = cases.outcome(_gradients, theirs)
            if isinstance(expected, cases.Failure):
                continue
            got = cases.outcome(_gradients, mine)
            if isinstance(got, cases.Failure):
                if name not in ("expanded", "all of size one"):  # whose errors may be others
                    yield f"{name}, {cases.describe(sample)}: {got.error!r}"
                continue
            for a, b in zip(expected, got, strict=False):  # one side may have no history
                if a is not None and b is not None and a != b and not _is_view(a):
                    yield f"{name}, {cases.describe(sample)}: torch {a}; {b}"


@pytest.mark.parametrize("name", list(DERIVED))
def test_operator(name: str) -> None:
    found = next(compared(DERIVED[name]), None)
    if name not in KNOWN:
        assert found is None
    elif found:
        pytest.xfail(f"{KNOWN[name]}: {found}")
    else:
        pytest.fail(f"no difference any more: remove {name!r} from {FILE.name}")


def test_listed_operators_are_tested() -> None:
    assert not set(KNOWN) - set(DERIVED)


# ---- products, factorizations and what else has a rule of its own, with the strides of dims of size 1

EXPRESSIONS = """
a @ b
a @ b.t()
a.t() @ b
a.t() @ b.t()
a @ w.t()
w.t() @ a
v @ a
v @ a.t()
v @ c
v @ c.mT
a @ v
a.mm(b)
T.addmm(b, a, w.t())
T.addmm(b, w.t(), a)
c @ b
c @ b.t()
a @ c
c @ c
T.bmm(c, c.mT)
T.addbmm(a, c, c)
F.linear(a, b)
F.linear(a, b, v)
F.linear(v, b)
F.linear(c, b)
F.linear(w, b)
F.linear(a, w)
w @ b
w @ b.t()
w.t() @ b.t()
T.addmm(v, w, b.t())
T.addmm(v, b.mT, w)
v.detach() @ b.T
T.linalg.multi_dot([a, b, a])
T.einsum("ij,kj->ik", a, b)
a.t()
a.T
a.mT
c.mT
a[:1].t()
a[:, :1].t()
c.permute(2, 0, 1)
c.transpose(0, 1)
a.view(2, 2, 4).permute(2, 1, 0)
a + a.t()
a + v
c + b
c * b[:1]
c + c[:1, :, :1]
T.dist(a, b)
T.dist(c, b)
T.linalg.cholesky(s)
T.linalg.cholesky(s, upper=True)
T.linalg.inv(s)
T.linalg.det(s)
T.logdet(s)
T.linalg.slogdet(s)[1]
T.linalg.solve(s, a)
T.linalg.qr(a)[1]
T.linalg.qr(a[:, :2])[0]
T.linalg.pinv(a)
T.linalg.pinv(a[:2])
T.linalg.lstsq(a, b).solution
T.linalg.eigvalsh(s)
T.linalg.svdvals(a)
T.fft.fft(a)
T.fft.fft(c, n=3, dim=1)
T.fft.rfft(c, dim=0)
T.fft.rfft(c, n=6, dim=1)
F.pad(a.t(), (0, -1))
F.pad(c.mT, (-1, 0))
c.max()
c.mT.min()
c.floor()
c.mT.ceil()
c / b
T.maximum(c, b)
T.atan2(c, b)
T.copysign(a, b)
(b * b + 1) ** a
a.exp() ** 2
F.relu(a)
F.threshold(a, 0., 1.)
F.hardtanh(a)
F.hardswish(a)
F.softshrink(a)
F.hardshrink(a)
F.glu(c, 1)
F.channel_shuffle(c, 2)
F.bilinear(a, a, c)
T.erf(a)
T.erfinv(a.tanh() / 2)
T.logit(a, .2)
T.angle(a)
T.sgn(a)
T.nansum(c, 0)
T.cdist(a, b[:0], p=1.)
a.take(T.tensor([0, 5]))
a.masked_select(a > 0)
a[:, None].masked_select(a > 0)
a.masked_select(c > 0)
T.segment_reduce(a, "max", lengths=T.tensor([1, 3]))
T.fft.irfft(T.complex(c, c), dim=0)
T.fft.hfft2(T.complex(c, c), dim=(1, 0))
T.linalg.solve(s, a, left=False)
T.linalg.solve_triangular(s, a, upper=False, left=False)
T.linalg.lu_solve(s, T.tensor([1, 2, 3, 4], dtype=T.int32), a)
T.linalg.lu_solve(s, T.tensor([1, 2, 3, 4], dtype=T.int32), a, adjoint=True)
T.linalg.lu_solve(s, T.tensor([1, 2, 3, 4], dtype=T.int32), a, left=False)
T.linalg.householder_product(a, v)
T.ormqr(a, v, b)
T.ormqr(a, v, b, left=False, transpose=True)
""".strip().split("\n")


def _facts(lib: Any, expression: str, turned: bool) -> list[Any]:
    rng = np.random.default_rng(0)
    shapes = {"a": (4, 4), "b": (4, 4), "c": (4, 4, 4), "w": (4, 4), "v": (4,), "s": (4, 4)}
    names = {}
    for name, shape in shapes.items():
        x = rng.standard_normal(shape)
        x = x @ x.T + 4 * np.eye(4) if name == "s" else x
        t = lib.from_numpy(x.copy())
        names[name] = t.mT.contiguous().mT if turned and t.ndim > 1 else t
    for name in "abcvs":
        names[name] = names[name].detach().requires_grad_()
    y = eval(expression, {"T": lib, "F": lib.nn.functional, **names})
    given = [names[name] for name in "abcvs"]
    found = [tuple(y.stride())]
    for g in (lib.ones(tuple(y.shape), dtype=y.dtype), lib.ones_like(y)):
        grads = lib.autograd.grad(y, given, g, retain_graph=True, allow_unused=True)
        found += [t if t is None else tuple(t.stride()) for t in grads]
    y.backward(lib.ones(tuple(y.shape), dtype=y.dtype))
    return found + [t.grad if t.grad is None else tuple(t.grad.stride()) for t in given]


OF_COLUMNS = {
    "a @ c",  # PyTorch's steps view the column-major matrix otherwise
    "a + a.t()",  # what arrives here or lies so has two orders, and NumPy's loops choose another one
    "c + c[:1, :, :1]",
}  # which differ where matrices are column-major


@pytest.mark.parametrize("turned", [False, True], ids=["rows", "columns"])
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expression(expression: str, turned: bool) -> None:
    same = _facts(wengert, expression, turned) == _facts(torch, expression, turned)
    assert same != (turned and expression in OF_COLUMNS)


if __name__ == "__main__":  # every difference, also of what the tests have no time for
    for name, op in DERIVED.items():
        for difference in compared(op, True):
            print(f"{name} | {difference}")  # noqa: T201  to be read
