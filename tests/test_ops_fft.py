"""Fourier transforms: NumPy's values, transposes, and PyTorch's own answers where it is installed."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import wengert as wg

NAMES = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng((seed, *shape)).standard_normal(shape)


def array(t: Any) -> np.ndarray:
    return t.detach().numpy()


@pytest.mark.parametrize("norm", [None, "ortho", "forward", "backward"])
@pytest.mark.parametrize("n", [None, 4, 9])
@pytest.mark.parametrize("name", NAMES)
def test_one_dimension_is_numpys(name: str, n: int | None, norm: str | None) -> None:
    x = draw(3, 6) + (0 if name in ("rfft", "ihfft") else 1j * draw(3, 6, seed=1))
    for dim in (0, -1):
        got = getattr(wg.fft, name)(wg.tensor(x), n, dim, norm)
        np.testing.assert_allclose(array(got), getattr(np.fft, name)(x, n, dim, norm), atol=1e-12)


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
def test_several_dimensions_are_numpys(name: str) -> None:
    x = draw(3, 4, 5) + (0 if name == "rfftn" else 1j * draw(3, 4, 5, seed=1))
    for s, dims in ((None, (0, 1, 2)), ((2, 6), (0, 2)), (None, (1, 2))):
        got = getattr(wg.fft, name)(wg.tensor(x), s, dims)
        np.testing.assert_allclose(array(got), getattr(np.fft, name)(x, s, dims), atol=1e-12)


def test_half_of_the_frequencies_give_the_signal_back() -> None:
    for n in (1, 2, 7, 8):
        x = wg.tensor(draw(n))
        np.testing.assert_allclose(array(wg.fft.irfft(wg.fft.rfft(x), n)), array(x), atol=1e-12)
        np.testing.assert_allclose(array(wg.fft.hfft(wg.fft.ihfft(x), n)), array(x), atol=1e-12)


def test_dtypes() -> None:
    assert wg.fft.fft(wg.ones(4)).dtype is wg.complex64
    assert wg.fft.rfft(wg.ones(4, dtype=wg.int64)).dtype is wg.complex64
    assert wg.fft.irfft(wg.ones(4, dtype=wg.complex128)).dtype is wg.float64
    x = wg.ones(4, requires_grad=True)
    wg.fft.fft(x).abs().sum().backward()
    assert x.grad.dtype is wg.float32


def test_shifts_and_frequencies() -> None:
    for n in (4, 5):
        np.testing.assert_allclose(array(wg.fft.fftfreq(n, 0.5)), np.fft.fftfreq(n, 0.5), rtol=1e-6)
        np.testing.assert_allclose(array(wg.fft.rfftfreq(n)), np.fft.rfftfreq(n), rtol=1e-6)
        x = wg.arange(float(n * 3)).view(n, 3)
        np.testing.assert_array_equal(array(wg.fft.fftshift(x)), np.fft.fftshift(array(x)))
        assert wg.fft.ifftshift(wg.fft.fftshift(x)).equal(x)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: wg.fft.fft(wg.ones(0)), RuntimeError, r"Invalid number of data points \(0\) specified"),
        (lambda: wg.fft.fft(wg.ones(4), norm="x"), RuntimeError, 'Invalid normalization mode: "x"'),
        (lambda: wg.fft.rfft(wg.ones(4, dtype=wg.complex64)), RuntimeError, "rfft expects a real input tensor"),
        (lambda: wg.fft.fftn(wg.ones(4, 4), dim=(0, 0)), RuntimeError, "FFT dims must be unique"),
        (lambda: wg.fft.fft(wg.ones(())), IndexError, "Dimension specified as -1 but tensor has no dimensions"),
    ],
)
def test_refusals(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("name", [*NAMES, "fft2", "irfft2", "rfftn", "hfftn", "ihfftn", "ifftn"])
def test_gradients_as_in_torch(torch: ModuleType, name: str) -> None:
    """Real input where it is allowed, complex where it is allowed."""
    kinds = ["real"] if name in ("rfft", "rfftn", "ihfft", "ihfftn") else ["real", "complex"]
    for kind in kinds:
        x = draw(3, 5) + (1j * draw(3, 5, seed=1) if kind == "complex" else 0)
        found = []
        for t in (torch, wg):
            leaf = t.tensor(x, requires_grad=True)
            y = getattr(t.fft, name)(leaf, norm="ortho")
            u = draw(*y.shape, seed=2) + (1j * draw(*y.shape, seed=3) if y.is_complex() else 0)
            (g,) = t.autograd.grad(y, leaf, t.tensor(u))
            found.append((y, g))
        for want, got in zip(*found, strict=True):
            assert str(want.dtype) == str(got.dtype)
            np.testing.assert_allclose(array(got), want.resolve_conj().numpy(force=True), atol=1e-10)
