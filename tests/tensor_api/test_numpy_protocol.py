"""NumPy's functions on tensors: what PyTorch gives for tensors without history, and recorded for those that need it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as T
from wengert._base import errors

M = np.array([[1.5, 0.3, -0.7], [0.2, 2.5, 0.4], [-0.1, 0.6, 1.8]])
V = np.array([0.3, 0.9, 0.5])

# name -> function of (a matrix, a vector); NumPy's own result on arrays is what each must give
RECORDED: dict[str, Callable[[Any, Any], Any]] = {
    "sin": lambda m, v: np.sin(m),
    "exp": lambda m, v: np.exp(v),
    "arctan2": lambda m, v: np.arctan2(m, v),
    "add": lambda m, v: np.add(m, V),
    "array first": lambda m, v: V * m - V / v,
    "array power": lambda m, v: V**v,
    "array matmul": lambda m, v: M @ m,
    "number first": lambda m, v: np.float64(2.0) * v + np.float32(1.5),
    "multiply a list": lambda m, v: np.multiply([1.0, 2.0, 3.0], v),
    "maximum": lambda m, v: np.maximum(m, 0.35),
    "square": lambda m, v: np.square(m),
    "fabs": lambda m, v: np.fabs(m),
    "logaddexp": lambda m, v: np.logaddexp(m, v),
    "reduce": lambda m, v: np.add.reduce(m),
    "reduce all": lambda m, v: np.multiply.reduce(m, axis=None),
    "reduce keeps": lambda m, v: np.maximum.reduce(m, axis=1, keepdims=True),
    "accumulate": lambda m, v: np.multiply.accumulate(m, axis=1),
    "outer of": lambda m, v: np.subtract.outer(v, m),
    "modf": lambda m, v: np.modf(m * 3)[0],
    "sum": lambda m, v: np.sum(m),
    "sum axis": lambda m, v: np.sum(m, axis=1, keepdims=True),
    "sum axes": lambda m, v: np.sum(m, axis=(0, 1)),
    "mean": lambda m, v: np.mean(m),
    "mean axis": lambda m, v: np.mean(m, axis=0),
    "std": lambda m, v: np.std(m, axis=0, ddof=1),
    "var": lambda m, v: np.var(m),
    "prod": lambda m, v: np.prod(m, axis=1),
    "max": lambda m, v: np.max(m, axis=0),
    "min": lambda m, v: np.min(m),
    "median": lambda m, v: np.median(np.concatenate([v, V[:1] + 1])),
    "percentile": lambda m, v: np.percentile(v, 30),
    "average": lambda m, v: np.average(m, axis=0, weights=v),
    "cumsum": lambda m, v: np.cumsum(m),
    "cumprod": lambda m, v: np.cumprod(m, axis=1),
    "concatenate": lambda m, v: np.concatenate([m, M], axis=1),
    "stack": lambda m, v: np.stack([v, V], axis=1),
    "vstack": lambda m, v: np.vstack([m, v]),
    "hstack": lambda m, v: np.hstack([v, V]),
    "split": lambda m, v: np.split(v, 3)[1],
    "where": lambda m, v: np.where(M > 0.35, m, 0.0),
    "dot": lambda m, v: np.dot(m, v),
    "dot of vectors": lambda m, v: np.dot(v, V),
    "inner": lambda m, v: np.inner(v, v),
    "outer": lambda m, v: np.outer(v, m),
    "tensordot": lambda m, v: np.tensordot(m, M, 1),
    "kron": lambda m, v: np.kron(m, m),
    "einsum": lambda m, v: np.einsum("ij,j->i", m, v),
    "trace": lambda m, v: np.trace(m),
    "diagonal": lambda m, v: np.diagonal(m),
    "diag": lambda m, v: np.diag(v),
    "reshape": lambda m, v: np.reshape(m, (9,)),
    "ravel": lambda m, v: np.ravel(m),
    "transpose": lambda m, v: np.transpose(m),
    "swapaxes": lambda m, v: np.swapaxes(m, 0, 1),
    "expand_dims": lambda m, v: np.expand_dims(v, 0),
    "squeeze": lambda m, v: np.squeeze(v[None]),
    "broadcast_to": lambda m, v: np.broadcast_to(v, (2, 3)),
    "tile": lambda m, v: np.tile(v, 2),
    "repeat": lambda m, v: np.repeat(m, 2, axis=0),
    "flip": lambda m, v: np.flip(m),
    "roll": lambda m, v: np.roll(v, 1),
    "clip": lambda m, v: np.clip(m, 0.1, 1.7),
    "take": lambda m, v: np.take(m, [2, 0], axis=1),
    "sort": lambda m, v: np.sort(v),
    "diff": lambda m, v: np.diff(m, axis=0),
    "trapezoid": lambda m, v: np.trapezoid(v, dx=0.5),
    "tril": lambda m, v: np.tril(m),
    "norm": lambda m, v: np.linalg.norm(m),
    "norm of rows": lambda m, v: np.linalg.norm(m, axis=1),
    "inv": lambda m, v: np.linalg.inv(m),
    "det": lambda m, v: np.linalg.det(m),
    "solve": lambda m, v: np.linalg.solve(m, V),
    "slogdet": lambda m, v: np.linalg.slogdet(m)[1],
    "eigvalsh": lambda m, v: np.linalg.eigvalsh(m @ np.transpose(m)),
    "cholesky": lambda m, v: np.linalg.cholesky(m @ np.transpose(m)),
    "fft": lambda m, v: np.abs(np.fft.fft(v)),
}


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_a_function_of_numpy_is_recorded(name: str) -> None:
    f = RECORDED[name]
    m, v = T.tensor(M, requires_grad=True), T.tensor(V, requires_grad=True)
    result = f(m, v)
    expected = f(M, V)
    assert type(result) is T.Tensor
    assert result.requires_grad
    assert result.detach().numpy().shape == np.shape(expected)
    assert result.dtype is T.float64
    np.testing.assert_allclose(result.detach().numpy(), expected, rtol=1e-12, atol=1e-14)
    assert T.autograd.gradcheck(lambda m, v: f(m, v) + 0 * v.sum() + 0 * m.sum(), (m, v))


def test_float32_stays_float32() -> None:
    x = T.tensor([1.0, 2.0], requires_grad=True)
    for y in (np.sin(x), np.float64(2) * x, x * np.float64(2), np.multiply(2.0, x), np.maximum(x, 0.1), np.mean(x)):
        assert y.dtype is T.float32
        assert y.requires_grad
    assert (np.array([1.0, 2.0]) * x).dtype is T.float64
    assert np.sum(x, dtype=np.float64).dtype is T.float64


def test_results_that_are_steps_need_no_history() -> None:
    x = T.tensor([1.0, 3.0, 2.0], requires_grad=True)
    assert np.argmax(x) == 1
    assert np.argsort(x).tolist() == [0, 2, 1]
    assert np.allclose(x, [1, 3, 2])
    assert np.isfinite(x).tolist() == [True] * 3
    assert np.shape(x) == (3,)
    assert np.size(x) == 3
    assert np.ndim(x) == 1
    assert not (x < np.array([2.0, 2.0, 2.0])).requires_grad


def test_what_has_no_operator_is_refused_as_by_pytorch() -> None:
    x = T.tensor([1.0, 2.0], requires_grad=True)
    a = np.zeros(2, np.float32)
    refused: list[Callable[[], Any]] = [
        lambda: np.cbrt(x),
        lambda: np.interp(x, [0.0, 1.0], [1.0, 2.0]),
        lambda: np.add(x, 1, out=a),
        lambda: np.add(x, 1, where=np.array([True, False])),
        lambda: np.add.reduceat(x, [0]),
        lambda: np.convolve(x, x),
        lambda: np.asarray(x),
        lambda: np.array([x, x]),
    ]
    for f in refused:
        with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad"):
            f()
    with pytest.raises(RuntimeError, match=r"functions with out=... arguments don't support automatic diff"):
        np.add(x, 1, out=T.zeros(2))
    assert a.tolist() == [0.0, 0.0]


def test_the_error_names_the_function() -> None:
    with pytest.raises(RuntimeError) as caught:
        np.cbrt(T.ones(1, requires_grad=True))
    assert any("numpy.cbrt has no operator" in note for note in caught.value.__notes__)


def test_on_tensors_without_history_numpy_computes() -> None:
    t = T.tensor([1, 2])
    a = np.array([3.0, 4.0], np.float32)
    assert np.add(a, t).dtype is T.float64  # NumPy's rules
    assert (t * np.float64(2)).dtype is T.float32  # PyTorch's
    assert (np.float64(2) * t).dtype is T.float32
    assert type(np.sin(a.astype(float), out=T.zeros(2, dtype=T.float64))) is T.Tensor
    b = a.copy()
    b += t
    assert type(b) is np.ndarray
    assert b.tolist() == [4.0, 6.0]
    assert type(np.concatenate([t, t])) is np.ndarray
    assert np.std(T.tensor([1.0, 3.0])).item() == 1.0
    assert np.repeat(t, 2).tolist() == [1, 1, 2, 2]
    out = T.zeros(2)
    assert np.multiply(a, a, out=out) is out
    assert out.tolist() == [9.0, 16.0]


def test_inside_of_transforms() -> None:
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_allclose(T.vmap(np.sum)(x).numpy(), [3.0, 7.0])
    np.testing.assert_allclose(T.func.grad(lambda t: np.sum(np.sin(t)))(x).numpy(), np.cos(x.numpy()), rtol=1e-6)
    out, tangent = T.func.jvp(np.exp, (x,), (T.ones(2, 2),))
    np.testing.assert_allclose(out.numpy(), tangent.numpy())


def test_parameters_and_create_graph() -> None:
    w = T.nn.Parameter(T.tensor([2.0, 3.0]))
    (g,) = T.autograd.grad(np.sum(w**3), [w], create_graph=True)
    (h,) = T.autograd.grad(g.sum(), [w])
    assert h.tolist() == [12.0, 18.0]


def test_scipys_universal_functions() -> None:
    special = pytest.importorskip("scipy.special")
    x = T.tensor([0.5, 1.5], requires_grad=True, dtype=T.float64)
    for name in ("expit", "erf", "gammaln", "psi", "i0", "xlog1py"):
        f = getattr(special, name)
        args = (x, x) if name == "xlog1py" else (x,)
        y = f(*args)
        assert y.requires_grad
        np.testing.assert_allclose(y.detach().numpy(), f(*(a.detach().numpy() for a in args)), rtol=1e-12)


SAME = """np.sin(t)
np.add(a, t)
np.add(t, a)
np.add(i, a)
t * a
t - a
np.float64(2) * t
np.float64(2) * i
np.float32(2) * t
a / t
a == t
np.argmax(t)
np.concatenate([t, t])
np.stack([t, t])
np.where(t > 1, t, a)
np.dot(t, t)
np.dot(a, t)
np.reshape(t, (2, 1))
np.transpose(t)
np.asarray(t)
np.array(t, dtype=np.float64)
np.array([t, t])
np.add.reduce(t)
np.add.accumulate(t)
np.multiply.outer(t, t)
np.modf(t)
np.sin(t, out=a.copy())
np.clip(t, 0, 1)
np.cumsum(t)
np.squeeze(t)
np.expand_dims(t, 0)
np.allclose(t, t)
np.linalg.norm(t)
np.einsum('i,i->', t, t)
np.zeros_like(t)
np.ones_like(t)
np.shape(t)
np.ndim(t)
np.repeat(t, 2)
np.sort(t)
np.unique(t)
np.real(t)
np.round(t)
np.abs(t)
np.maximum(t, 1)
np.argsort(t)
np.tile(t, 2)
np.median(t)
np.ravel(t)
np.broadcast_to(t, (2, 2))
np.interp(t, a, a)
np.polyval([1., 2.], t)
a[i - 1]
np.add([1, 2], t)
np.multiply(2.0, t)
np.add(t, t, dtype=np.float64)
np.sin(z)
np.asarray(r)
np.interp(r, a, a)
np.float64(2) * r
a == r
torch.Tensor.__array_priority__"""


@pytest.mark.parametrize("line", SAME.splitlines())
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # PyTorch's __array_wrap__
def test_same_as_pytorch(torch: Any, line: str) -> None:
    seen = []
    for library in (torch, T):
        names = {
            "np": np,
            "torch": library,
            "t": library.tensor([1.0, 2.0]),
            "i": library.tensor([1, 2]),
            "z": library.tensor(1.0),
            "r": library.tensor([1.0, 2.0], requires_grad=True),
            "a": np.array([3.0, 4.0], np.float32),
        }
        try:
            value = eval(line, names)
            seen.append((type(value).__name__, repr(value)))
        except Exception as error:  # noqa: BLE001  what it is is compared
            seen.append((type(error).__name__, str(error).splitlines()[0]))
    assert seen[0] == seen[1]


# -------------------------------------------------------------------------------------------------- lost gradients
def warnings_of(function: Any) -> list[str]:
    errors.warned.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function()
    return [str(w.message) for w in caught]


LOSSES: dict[str, Any] = {
    "array[0] = t": lambda torch, t: np.zeros(3).__setitem__(0, t),
    "array.fill(t)": lambda torch, t: np.zeros(3).fill(t),
    "float(t)": lambda torch, t: float(t),
    "complex(t)": lambda torch, t: complex(t),
    "math.sin(t)": lambda torch, t: math.sin(t),
    "torch.tensor([t])": lambda torch, t: torch.tensor([t]),
    "torch.tensor([t, 1])": lambda torch, t: torch.tensor([[t], [1]]),
    "int(t)": lambda torch, t: int(t),
    "item": lambda torch, t: t.item(),
    "f-string": lambda torch, t: f"{t:.2f}",
    "bool": lambda torch, t: bool(t),
    "tolist": lambda torch, t: t.tolist(),
    "detached": lambda torch, t: float(t.detach()),
    "max": lambda torch, t: max(t, 1.0),
}


@pytest.mark.parametrize("name", LOSSES)
def test_a_number_without_its_gradient_is_told_of_as_by_pytorch(torch: Any, name: str) -> None:
    ours = warnings_of(lambda: LOSSES[name](T, T.tensor([2.0], requires_grad=True).sum()))
    torch.set_warn_always(True)
    try:
        theirs = warnings_of(lambda: LOSSES[name](torch, torch.tensor([2.0], requires_grad=True).sum()))
    finally:
        torch.set_warn_always(False)
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        assert a.split("\n")[:2] == b.partition(" (Triggered")[0].split("\n")[:2]


def test_the_warning_names_the_line_and_comes_once() -> None:
    w = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    array = np.zeros(3)

    def loop() -> None:
        for k in range(3):
            array[k] = w.sum()

    told = warnings_of(loop)
    assert len(told) == 1
    assert "array[k] = w.sum()" in told[0]
    assert "torch.zeros(...)" in told[0]
    with T.no_grad():
        assert not warnings_of(lambda: float(w[0]))


@pytest.mark.parametrize("make", [np.zeros_like, np.ones_like, np.empty_like, lambda t: np.full_like(t, 7)])
def test_an_array_like_a_tensor_that_requires_grad_is_a_tensor_and_keeps_gradients(make: Any) -> None:
    w = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
    buffer = make(w)
    assert isinstance(buffer, T.Tensor)
    assert buffer.dtype is T.float32
    buffer[0] = w.sum()
    buffer[1:] = 0
    buffer.sum().backward()
    assert w.grad.tolist() == [1.0, 1.0, 1.0]
    assert type(make(w.detach())) is np.ndarray
    assert make(w)[:2].shape == (2,)


def test_more_of_arrays_like_tensors() -> None:
    w = T.tensor([[1.0, 2.0]], requires_grad=True)
    assert np.zeros_like(w, dtype=np.float64, shape=(3,)).dtype is T.float64
    full = np.full_like(w, w.sum())
    full.sum().backward()
    assert w.grad.tolist() == [[2.0, 2.0]]
