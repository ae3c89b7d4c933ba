"""The least that NumPy needs for a call of the sweep: its value by the cheapest NumPy calls, and nothing else.

No tape, no promotion, no check and no error message: what is left is a floor for every implementation on NumPy. A line
is `call = NumPy's expression`, with the operands of `sweep_calls.py` as arrays, `np`, `scipy.special` as `special`,
`clip`, the ufunc inside of `np.clip`, and the names of `TABLES`.
The floor of a call holds for its recorded form too. A call in which several words stand for each other is written as in
`sweep_calls.py`; the expression is then the same for all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.sweep_calls import operands, spelled

# What an implementation may make once for all calls: constants, and positions that depend on sizes only.
TABLES = """
zero = np.array(0, "f")
one = np.array(1, "f")
three = np.array(3, "f")
six = np.array(6, "f")
half = np.array(0.5, "f")
scale = np.array(1.0507009873554805, "f")
factor = np.array(1.7580993408473766, "f")
epsilon = np.array(1e-5, "f")
ones = np.ones((4, 4), "f")
ones3 = np.ones((3, 3), "f")
ones12 = np.ones(12, "f")
thirds = np.full(3, 1 / 3, "f")
quarters = np.full((4, 4), 0.25, "f")
centring = np.eye(4, dtype="f") - quarters
starts = np.arange(0, 12, 4)
windows = np.arange(32).reshape(2, 2, 2, 2, 2).swapaxes(2, 3).reshape(8, 4)
columns = np.add.outer([0, 1, 4, 5, 16, 17, 20, 21], [0, 1, 2, 4, 5, 6, 8, 9, 10])
left, right = np.arange(12).reshape(3, 2, 2).swapaxes(0, 1)
"""
NN = """
{F.softmax(m, dim=1)|F.softmax(m, dim=-1)|m.softmax(dim=1)|m.softmax(-1)} = np.divide(e := np.exp(m), e.dot(ones), e)
{F.softmax(m, dim=0)|m.softmax(dim=0)} = np.divide(e := np.exp(m), ones3.dot(e), e)
{F.log_softmax(m, dim=1)|F.log_softmax(m, dim=-1)} = m - np.log(np.exp(m).dot(ones))
{m.log_softmax(dim=1)|m.log_softmax(-1)} = m - np.log(np.exp(m).dot(ones))
{F.log_softmax(m, dim=0)|m.log_softmax(dim=0)} = m - np.log(ones3.dot(np.exp(m)))
F.cross_entropy(m, i) = (np.log(np.exp(m).dot(ones[0])) - m.take(i + starts)).dot(thirds)
F.cross_entropy(m, i, reduction='sum') = (np.log(np.exp(m).dot(ones[0])) - m.take(i + starts)).dot(ones3[0])
F.nll_loss(m, i) = -m.take(i + starts).dot(thirds)
F.nll_loss(m, i, reduction='sum') = -m.take(i + starts).dot(ones3[0])
F.multi_margin_loss(m, i) = (np.maximum(m - (m.take(i + starts) - one)[:, None], zero).ravel().dot(ones12) - 3) / 12
F.multi_margin_loss(m, i, reduction='sum') = np.maximum(m - m.take(i + starts)[:, None] + one, zero).sum() / 4 - 0.75
F.layer_norm(m, (4,), x, y) = (d := m.dot(centring)) / np.sqrt((d * d).dot(quarters) + epsilon) * x + y
F.avg_pool2d(p, 2) = p.take(windows).dot(quarters[0]).reshape(1, 2, 2, 2)
F.max_pool2d(p, 2) = np.maximum.reduce(p.take(windows), 1).reshape(1, 2, 2, 2)
F.max_pool1d(b, 2) = np.maximum(b[..., ::2], b[..., 1::2])
F.unfold(p, 2) = p.take(columns)
F.conv2d(p, w) = w.reshape(1, 8).dot(p.take(columns)).reshape(1, 1, 3, 3)
F.glu(m) = m.take(left) * special.expit(m.take(right))
F.selu(x) = np.maximum(x, zero) * scale + np.expm1(np.minimum(x, zero)) * factor
F.selu(m) = np.maximum(m, zero) * scale + np.expm1(np.minimum(m, zero)) * factor
F.hardsigmoid(x) = clip(x + three, zero, six) / six
F.hardsigmoid(m) = clip(m + three, zero, six) / six
F.hardswish(x) = x * clip(x + three, zero, six) / six
F.hardswish(m) = m * clip(m + three, zero, six) / six
F.softshrink(x) = x - clip(x, -half, half)
F.softshrink(m) = m - clip(m, -half, half)
F.hardshrink(x) = np.where(np.abs(x) <= half, zero, x)
F.hardshrink(m) = np.where(np.abs(m) <= half, zero, m)
"""
ELEMENTWISE = """
torch.special.chebyshev_polynomial_t(x, y) = special.eval_chebyt(y.astype(np.int64), x).astype(np.float32)
torch.special.chebyshev_polynomial_u(x, y) = special.eval_chebyu(y.astype(np.int64), x).astype(np.float32)
torch.special.chebyshev_polynomial_{v|w}(x, y) = (U := special.eval_chebyu)(d := y.astype(np.int64), x) - U(d - 1, x)
torch.special.shifted_chebyshev_polynomial_t(x, y) = special.eval_sh_chebyt(y.astype(np.int64), x).astype(np.float32)
torch.special.shifted_chebyshev_polynomial_u(x, y) = special.eval_sh_chebyu(y.astype(np.int64), x).astype(np.float32)
torch.special.shifted_chebyshev_polynomial_{v|w}(x, y) = special.eval_sh_chebyu(y.astype(int), x) - x
torch.special.hermite_polynomial_h(x, y) = special.eval_hermite(y.astype(np.int64), x).astype(np.float32)
torch.special.hermite_polynomial_he(x, y) = special.eval_hermitenorm(y.astype(np.int64), x).astype(np.float32)
torch.special.laguerre_polynomial_l(x, y) = special.eval_laguerre(y.astype(np.int64), x).astype(np.float32)
torch.special.legendre_polynomial_p(x, y) = special.eval_legendre(y.astype(np.int64), x).astype(np.float32)
torch.special.spherical_bessel_j0(x) = np.sin(x) / x
torch.special.airy_ai(x) = special.airy(x)[0]
torch.igammac(x, y) = special.gammaincc(x, y)
torch.sinc(x) = np.sin(a := x * np.pi) / a
m.topk(2) = ((d := -m).argsort(1)[:, :2], -np.sort(d, 1)[:, :2])
x.topk(2) = ((d := -x).argsort()[:2], -np.sort(d)[:2])
m.cummax({dim=1|-1}) = (v := np.maximum.accumulate(m, 1), np.maximum.accumulate((m == v) * np.arange(4), 1))
m.cummax(dim=0) = (v := np.maximum.accumulate(m, 0), np.maximum.accumulate((m == v) * np.arange(3)[:, None], 0))
m.median({1|-1, keepdim=True}) = (np.partition(m, 1)[:, 1:2], m.argpartition(1)[:, 1:2])
m.{var|std}({1|-1, keepdim=True}) = np.add.reduce(np.square(m - np.add.reduce(m, 1, None, None, True) / 4), 1) / 3
m.{var|std}(0) = np.add.reduce(np.square(m - np.add.reduce(m, 0) / 3), 0) / 2
torch.{var|std}_mean(x) = (a := np.add.reduce(x) / 4, (d := x - a).dot(d) / 3)
torch.{var|std}_mean(v) = (a := np.add.reduce(v, None) / 16, np.add.reduce(np.square(v - a), None) / 15)
torch.aminmax({x|v|k}) = (x.min(), x.max())
m.aminmax() = (m.min(), m.max())
m.unique() = np.unique(m, return_inverse=True, return_counts=True)
torch.quantile(x, 0.5) = (s := np.sort(x))[1] + (s[2] - s[1]) * np.float32(0.5)
torch.fft.rfft(x) = np.fft.rfft(x)
torch.fft.fft(x) = np.fft.fft(x)
torch.fft.ifft(x) = np.fft.ifft(x)
torch.histc({x|v}) = np.bincount(((x - (a := x.min())) * 100 / (x.max() - a)).astype(np.int64), minlength=100)
x.equal(y) = np.count_nonzero(x == y) == 4
x.data_ptr() = x.__array_interface__["data"][0]
x.stride() = tuple([s // 4 for s in x.strides])
"""
INDEXING = """
t.scatter_add_(1, j, n) = np.add.at(m.reshape(-1), (j + np.arange(0, 12, 4)[:, None]).reshape(-1), n.reshape(-1))
m.scatter_add(1, j, n) = np.add.at(m.reshape(-1), (j + np.arange(0, 12, 4)[:, None]).reshape(-1), n.reshape(-1))
t.scatter_(1, j, n) = m.reshape(-1).__setitem__(j + np.arange(0, 12, 4)[:, None], n)
m.gather(1, j) = m.reshape(-1).take(j + np.arange(0, 12, 4)[:, None])
t.index_add_(0, i, n) = np.add.at(m, i, n)
t.index_copy_(0, i, n) = m.__setitem__(i, n)
t.tril_() = np.copyto(m, 0, where=r)
torch.kron(x, y) = (x[:, None] * y).reshape(16)
torch.vstack([x, y]) = np.concatenate((x, y)).reshape(2, 4)
torch.linalg.qr(v) = np.linalg.qr(v)
"""


def floors() -> dict[str, Callable[[], Any]]:
    """The function for each call that has a floor, by the call's name."""
    import numpy as np
    import scipy.special
    import torch

    arrays = {
        name: value.numpy() if torch.is_tensor(value) else value for name, value in operands(torch, False).items()
    }
    scope = {**arrays, "np": np, "special": scipy.special, "clip": np._core.umath.clip}  # type: ignore[attr-defined]
    exec(TABLES, scope)
    found = {}
    for line in filter(None, (NN + ELEMENTWISE + INDEXING).splitlines()):
        name, _, expression = line.partition(" = ")
        body = eval(f"lambda: {expression}", scope)
        found.update(dict.fromkeys(spelled(name), body))
    return found
