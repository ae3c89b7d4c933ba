"""The least that NumPy needs for a call of the sweep: its value by the cheapest NumPy calls, and nothing else.

No tape, no promotion, no check and no error message: what is left is a floor for every implementation on NumPy. A line
is `call = NumPy's expression`, with the operands of `sweep_calls.py` as arrays, `np`, `scipy.special` as `special`,
`clip`, the ufunc inside of `np.clip`, and the names of `TABLES`.
The floor of a call holds for its recorded form too. A call in which several words stand for each other is written as in
`sweep_calls.py`; the expression is then the same for all of them. What every call needs is part of it: the test that no
exponential overflows, the test of indices, digits that float32 alone does not give.

`REASONS` says of calls whose floor is low, or that have none, what a loop in C++ does at once there.
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
quarters = np.full((4, 4), 0.25, "f")
centring = np.eye(4, dtype="f") - quarters
starts = np.arange(0, 12, 4)
windows = np.arange(32).reshape(2, 2, 2, 2, 2).swapaxes(2, 3).reshape(8, 4)
columns = np.add.outer([0, 1, 4, 5, 16, 17, 20, 21], [0, 1, 2, 4, 5, 6, 8, 9, 10])
left, right = np.arange(12).reshape(3, 2, 2).swapaxes(0, 1)
D, wide, wide3 = np.float64, np.ones((4, 4)), np.ones((3, 3))
words, uniforms = np.arange(624, dtype=np.uint32), np.arange(624, dtype="f")
from math import cos, log1p, pi, sin, sqrt

def normals(count):  # the C library's digits, a pair at a time
    values = []
    for k in range(0, count, 2):
        theta, radius = 2 * pi * 0.25, sqrt(-2.0 * log1p(-0.5))
        values += (radius * cos(theta), radius * sin(theta))
    return np.array(values[:count], "f")
"""
NN = """
{F.softmax(m, dim=1)|F.softmax(m, dim=-1)} = np.divide(e := np.exp(m), e.dot(ones), e) if (f := m.ravel()).dot(f) else 0
{m.softmax(dim=1)|m.softmax(-1)} = np.divide(e := np.exp(m), e.dot(ones), e) if (f := m.ravel()).dot(f) < 3600 else 0
{F.softmax(m, dim=0)|m.softmax(dim=0)} = np.divide(e := np.exp(m), ones3.dot(e), e) if (f := m.ravel()).dot(f) else 0
{F.log_softmax(m, dim=1)|F.log_softmax(m, dim=-1)} = ((w := m.astype(D)) - np.log(np.exp(w).dot(wide))).astype("f")
{m.log_softmax(dim=1)|m.log_softmax(-1)} = ((w := m.astype(D)) - np.log(np.exp(w).dot(wide))).astype("f")
{F.log_softmax(m, dim=0)|m.log_softmax(dim=0)} = ((w := m.astype(D)) - np.log(wide3.dot(np.exp(w)))).astype("f")
F.cross_entropy(m, i) = (np.log(np.exp(w := m.astype(D)).dot(wide[0])) - w.take(i + starts)).dot(wide3[0]) / 3
F.cross_entropy(m, i, reduction='sum') = (np.log(np.exp(w := m.astype(D)).dot(wide[0])) - w.take(i + starts)).sum()
F.layer_norm(m, (4,), x, y) = (d := m.dot(centring)) / np.sqrt((d * d).dot(quarters) + epsilon) * x + y
F.avg_pool2d(p, 2) = p.take(windows).dot(quarters[0]).reshape(1, 2, 2, 2)
F.max_pool2d(p, 2) = np.maximum.reduce(p.take(windows), 1).reshape(1, 2, 2, 2)
F.max_pool1d(b, 2) = np.maximum(b[..., ::2], b[..., 1::2])
F.unfold(p, 2) = p.take(columns)
F.conv2d(p, w) = w.reshape(1, 8).dot(p.take(columns)).reshape(1, 1, 3, 3)
F.glu(m) = m.take(left) * special.expit(m.take(right))
F.selu(x) = np.maximum(x, zero) * scale + np.expm1(np.minimum(x, zero)) * factor
F.nll_loss(m, i, reduction='sum') = -m.take(i + starts).dot(ones3[0]) if min(w := i.tolist()) >= 0 and max(w) < 4 else 0
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
torch.special.spherical_bessel_j0(x) = np.sin(x) / x
torch.special.airy_ai(x) = special.airy(x)[0]
torch.igammac(x, y) = special.gammaincc(x, y)
x.lerp(y, y) = np.where(np.abs(y) < half, x + y * (d := y - x), y - d * (one - y))
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
x.equal(y) = np.count_nonzero(x == y) == 4
x.data_ptr() = x.__array_interface__["data"][0]
x.stride() = tuple([s // 4 for s in x.strides])
"""
INDEXING = """
t.scatter_add_(1, j, n) = np.add.at(m.reshape(-1), (j + np.arange(0, 12, 4)[:, None]).reshape(-1), n.reshape(-1))
m.scatter_add(1, j, n) = np.add.at(m.reshape(-1), (j + np.arange(0, 12, 4)[:, None]).reshape(-1), n.reshape(-1))
t.scatter_(1, j, n) = j.view(np.uint64).argmax() < 12 and m.reshape(-1).__setitem__(j + np.arange(0, 12, 4)[:, None], n)
m.gather(1, j) = j.view(np.uint64).argmax() < 12 and m.reshape(-1).take(j + np.arange(0, 12, 4)[:, None])
t.index_add_(0, i, n) = np.add.at(m, i, n)
m.index_fill(0, i, 1.0) = m.copy().__setitem__(i, one) if min(w := i.tolist()) >= 0 and max(w) < 3 else 0
t.index_copy_(0, i, n) = m.__setitem__(i, n)
t.tril_() = np.copyto(m, 0, where=r)
torch.kron(x, y) = (x[:, None] * y).reshape(16)
torch.vstack([x, y]) = np.concatenate((x, y)).reshape(2, 4)
torch.stack((m, n)) = np.concatenate((m, n)).reshape(2, 3, 4)
torch.linalg.qr(v) = np.linalg.qr(v)
"""
RANDOM = """
torch.randn(3) = normals(3)
torch.empty(3).normal_() = normals(3)
{torch.randn(2, 3)|torch.randn((2, 3))} = normals(6).reshape(2, 3)
torch.normal(0.0, 1.0, (3,)) = normals(3)
torch.randn_like(x) = normals(4)
torch.randn_like(m) = normals(12).reshape(3, 4)
t.normal_() = normals(12).reshape(3, 4)
torch.empty(3).exponential_() = np.array([-log1p(-0.5), -log1p(-0.25), -log1p(-0.75)], "f")
{torch.empty(3).bernoulli_()|t.bernoulli_(0.5)} = (words[:3] < 5).astype("f")
torch.bernoulli(x.detach()) = np.minimum.reduce(x) >= 0 and np.maximum.reduce(x) <= 1 and (uniforms[:4] < x).astype("f")
{torch.randint(5, (3,))|torch.randint(0, 5, (2, 2))} = (words[:4] % np.uint32(5)).astype(np.int64)
torch.randperm(5) = (words[:4].tolist(), np.array([0, 1, 2, 3, 4]))
{torch.empty(3).uniform_()|t.uniform_()|torch.rand(2, 3)} = uniforms[:12].copy()
"""
ENOUGH = 1.4  # the floor from which on the least tape around it, 0.6 of a small call in PyTorch, is above 2
REASONS = {
    "draws: the stream and its lock, and PyTorch's digits, in Python": """
{torch.randn(3)|torch.randn(2, 3)|torch.randn((2, 3))|torch.normal(0.0, 1.0, (3,))}
torch.{randn_like|rand_like}({x|m})
torch.empty(3).{normal_|exponential_|bernoulli_|uniform_}()
t.{normal_|uniform_}()
{t.bernoulli_(0.5)|torch.bernoulli(x.detach())|torch.randint(5, (3,))|torch.randint(0, 5, (2, 2))|torch.randperm(5)}
{torch.rand(3)|torch.rand(2, 3)|torch.rand((2, 3))|torch.multinomial(x.detach(), 2)}""",
    "facts: one call in Python is all of it": """
x.{shape|dtype|grad_fn|requires_grad|grad|nbytes|is_leaf}
x.{size|stride|data_ptr|is_contiguous|storage_offset|contiguous}()
{m.contiguous()|torch.Size((2, 3))|torch.result_type(x, k)|t.detach_()|t.zero_()|t.requires_grad_()|x.equal(y)}
{torch.zeros(3, requires_grad=True)|torch.ones(3, requires_grad=True)|x[...]|m.expand_as(b)|m.expand(2, 3, 4)}""",
    "numbers of Python: recurrences, point by point": """
torch.special.{chebyshev_polynomial_|shifted_chebyshev_polynomial_}{t|u|v|w}(x, y)
torch.special.{hermite_polynomial_h|hermite_polynomial_he|laguerre_polynomial_l|legendre_polynomial_p}(x, y)""",
    "SciPy's float64, and float32 again": """
torch.special.{airy_ai|spherical_bessel_j0}(x)
{torch.igammac(x, y)|torch.digamma(x)|torch.lgamma(x)}""",
    "values and positions: two results, found one after the other": """
{m.topk(2)|x.topk(2)|m.median(1)|m.median(0)|m.median(-1, keepdim=True)|m.kthvalue(2)|m.unique()}
m.cummax({dim=1|dim=0|-1})
{F.max_pool2d(p, 2)|F.max_pool1d(b, 2)}""",
    "statistics: two results in float64, as PyTorch adds them": """
torch.{var_mean|std_mean|aminmax}({x|v|k})
m.{var|std}({1|0|-1, keepdim=True})
m.aminmax()""",
    "pieces: three to six NumPy calls, and one loop in C++": """
F.{hardshrink|softshrink|hardsigmoid|hardswish|selu|elu|logsigmoid|softplus}({x|m})
{torch.sinc(x)|torch.sgn(x)|x % y|torch.remainder(x, y)|x.lerp(y, y)|t.clamp_(0, 1)|t **= 2|t.lerp_(n, 0.1)}
t.{addcmul_(n, n)|addcdiv_(n, m, value=0.1)}""",
    "rows: five to eight NumPy calls, and one loop in C++": """
F.{softmax|log_softmax|softmin}(m, dim={1|0|-1})
m.{softmax|log_softmax}({dim=1|dim=0|-1})
F.{layer_norm(m, (4,))|layer_norm(m, (4,), x, y)|group_norm(p, 2)}
F.cross_entropy(m, i{|, reduction='sum'})
F.{avg_pool2d(p, 2)|glu(m)|prelu(m, s.reshape(1))}
F.batch_norm(m, None, None, training=True)""",
    "indices: all are checked before any is used": """
{m.gather(1, j)|m.scatter_add(1, j, n)|m.index_add(0, i, n)|m.index_select(1, i)|m.scatter(1, j, n)}
{m.scatter(1, j, 1.0)|m.index_fill(0, i, 1.0)|F.nll_loss(m, i, reduction='sum')}
t.{scatter_(1, j, n)|scatter_add_(1, j, n)|index_add_(0, i, n)|index_copy_(0, i, n)}
torch.{bucketize|searchsorted}(y.sort()[0].detach(), x.detach())""",
    "composed: several recorded operators, as in PyTorch": """
{torch.kron(x, y)|torch.quantile(x, 0.5)}
torch.{vstack|hstack}({[x, y]|(m, n)})
{F.cosine_similarity(m, n)|torch.cartesian_prod(x, y)|torch.outer(x, y)|x.outer(y)|m.diff(dim=1)|m.diff(dim=0)}
{torch.broadcast_tensors(x, y)|torch.stack((m, n))|torch.cov(k)|b[i[:1], :, 1]|torch.fft.ifft(x)}""",
    "NumPy's own wrapper in Python around its LAPACK": """
torch.linalg.{qr|cholesky}(v)""",
}


def reasons() -> dict[str, str]:
    """Why a call is above the bound, by the call's name."""
    return {
        name: reason for reason, text in REASONS.items() for line in text.split("\n") if line for name in spelled(line)
    }


def floors() -> dict[str, Callable[[], Any]]:
    """The function for each call that has a floor, by the call's name."""
    import numpy as np
    import scipy.special
    import torch

    arrays = {
        name: value.numpy() if torch.is_tensor(value) else value for name, value in operands(torch, False).items()
    }
    scope = {
        **arrays,
        "np": np,
        "special": scipy.special,
        "clip": np._core.umath.clip,
    }  # type: ignore[attr-defined]
    exec(TABLES, scope)
    found = {}
    for line in filter(None, (NN + ELEMENTWISE + INDEXING + RANDOM).splitlines()):
        name, _, expression = line.partition(" = ")
        body = eval(f"lambda: {expression}", scope)
        found.update(dict.fromkeys(spelled(name), body))
    return found
