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


# ------------------------------------------------------------------------------------------------------------- windows
@pytest.mark.parametrize("sym", [True, False])
@pytest.mark.parametrize("n", [0, 1, 2, 5, 16])
@pytest.mark.parametrize(
    ("name", "scipy_name", "ours", "theirs"),
    [
        ("bartlett", "bartlett", {}, {}),
        ("blackman", "blackman", {}, {}),
        ("cosine", "cosine", {}, {}),
        ("exponential", "exponential", {"tau": 3.0}, {"tau": 3.0}),
        ("gaussian", "gaussian", {"std": 2.0}, {"std": 2.0}),
        ("general_cosine", "general_cosine", {"a": [0.5, 0.3, 0.2]}, {"a": [0.5, 0.3, 0.2]}),
        ("general_hamming", "general_hamming", {"alpha": 0.6}, {"alpha": 0.6}),
        ("hamming", "hamming", {}, {}),
        ("hann", "hann", {}, {}),
        ("kaiser", "kaiser", {"beta": 8.0}, {"beta": 8.0}),
        ("nuttall", "nuttall", {}, {}),
    ],
)
def test_windows_are_scipys(name: str, scipy_name: str, ours: Any, theirs: Any, n: int, sym: bool) -> None:
    import scipy.signal.windows as scipy_windows

    got = getattr(wg.signal.windows, name)(n, sym=sym, dtype=wg.float64, **ours)
    np.testing.assert_allclose(array(got), getattr(scipy_windows, scipy_name)(n, sym=sym, **theirs), atol=1e-14)


@pytest.mark.parametrize("name", ["hann", "hamming", "blackman", "bartlett", "kaiser"])
def test_older_windows_are_those_of_signal(name: str) -> None:
    for n in (0, 1, 2, 7):
        old = getattr(wg, f"{name}_window")(n, dtype=wg.float64)
        new = getattr(wg.signal.windows, name)(n, sym=False, dtype=wg.float64)
        np.testing.assert_allclose(array(old), array(new), atol=1e-14)
    assert getattr(wg, f"{name}_window")(5).dtype is wg.float32


def test_windows_refuse() -> None:
    with pytest.raises(ValueError, match="general_cosine requires non-negative window length, got M=-1"):
        wg.signal.windows.hann(-1)
    with pytest.raises(ValueError, match=r"expects float32 or float64 dtypes, got: torch\.int64"):
        wg.signal.windows.gaussian(3, dtype=wg.int64)
    with pytest.raises(ValueError, match="Standard deviation must be positive"):
        wg.signal.windows.gaussian(3, std=0.0)
    with pytest.raises(RuntimeError, match="hann_window requires non-negative window_length, got window_length=-1"):
        wg.hann_window(-1)


# ---------------------------------------------------------------------------------------- short-time Fourier transforms
def test_stft_is_the_transform_of_each_frame() -> None:
    x, w = draw(40), draw(8, seed=1)
    got = array(wg.stft(wg.tensor(x), 8, 3, window=wg.tensor(w), center=False, return_complex=True))
    frames = np.stack([x[k : k + 8] * w for k in range(0, 33, 3)])
    np.testing.assert_allclose(got, np.fft.rfft(frames).T, atol=1e-12)
    centered = array(wg.stft(wg.tensor(x), 8, 3, window=wg.tensor(w), pad_mode="constant", return_complex=True))
    padded = np.pad(x, 4)
    np.testing.assert_allclose(centered[:, 0], np.fft.rfft(padded[:8] * w), atol=1e-12)
    assert centered.shape == (5, 1 + 40 // 3)


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("win_length", [16, 10])
def test_istft_inverts(win_length: int, normalized: bool) -> None:
    x = draw(2, 64)
    window = wg.hann_window(win_length, dtype=wg.float64)
    kw: dict[str, Any] = {"win_length": win_length, "window": window, "normalized": normalized}
    spectrum = wg.stft(wg.tensor(x), 16, 4, return_complex=True, **kw)
    np.testing.assert_allclose(array(wg.istft(spectrum, 16, 4, length=64, **kw)), x, atol=1e-12)


def test_stft_and_istft_have_gradients() -> None:
    window = wg.hann_window(6, dtype=wg.float64)

    def round_trip(x: Any) -> Any:
        s = wg.stft(x, 6, 2, window=window, return_complex=True)
        return wg.istft(s * s.abs(), 6, 2, window=window)

    x = wg.tensor(draw(18), requires_grad=True)
    assert wg.autograd.gradcheck(round_trip, (x,))
    node = wg.stft(x, 6, 2, window=window, return_complex=True).grad_fn
    assert [node.name(), node.next_functions[0][0].name()] == ["SqueezeBackward4", "TransposeBackward1"]


def test_stft_refuses() -> None:
    x = wg.ones(30)
    window = wg.ones(8)
    with pytest.raises(RuntimeError, match="stft requires the return_complex parameter be given for real inputs"):
        wg.stft(x, 8, window=window)
    with pytest.raises(RuntimeError, match=r"expected hop_length > 0, but got hop_length=0"):
        wg.stft(x, 8, 0, window=window, return_complex=True)
    with pytest.raises(RuntimeError, match="expected a 1D window tensor of size equal to win_length=8"):
        wg.stft(x, 8, 2, window=wg.ones(7), return_complex=True)
    spectrum = wg.stft(x, 8, 2, window=window, return_complex=True)
    with pytest.raises(RuntimeError, match="window overlap add min: 1"):
        wg.istft(spectrum, 8, 2, window=wg.zeros(8))
    wg.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match="A window was not provided"):
            wg.stft(x, 8, return_complex=True)
    finally:
        wg.set_warn_always(False)


@pytest.mark.parametrize("kw", [{}, {"center": False}, {"onesided": False}, {"win_length": 6}, {"normalized": True}])
def test_stft_beside_torch(kw: dict[str, Any], torch: ModuleType) -> None:
    x, w = draw(2, 50), draw(kw.get("win_length", 8), seed=3) ** 2 + 0.1
    found = []
    for T in (torch, wg):
        leaf = T.from_numpy(x.copy()).requires_grad_()
        window = T.from_numpy(w.copy()).requires_grad_()
        s = T.stft(leaf, 8, 3, window=window, return_complex=True, **kw)
        (s.abs() ** 3).sum().backward()
        found.append([t.detach().numpy() for t in (s, leaf.grad, window.grad)])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-9)


def test_frequencies_are_pytorch_s(torch: Any) -> None:
    def outcome(lib: Any) -> list[Any]:
        found: list[Any] = []
        for kind in (lib.float32, lib.float64, lib.float16, lib.bfloat16):
            for n, d in ((1, 1.0), (7, 0.1), (8, 3.0), (39, 0.37), (0, 1.0)):
                found += [f(n, d, dtype=kind).double().tolist() for f in (lib.fft.fftfreq, lib.fft.rfftfreq)]
        out = lib.zeros(3, dtype=lib.float64)
        found += [lib.fft.fftfreq(3, out=out) is out, out.tolist()]
        for call in (
            lambda: lib.fft.fftfreq(3, dtype=lib.int64), lambda: lib.fft.fftfreq(-1),
            lambda: lib.fft.rfftfreq(3, dtype=lib.float32, out=out),
        ):  # fmt: skip
            with pytest.raises(RuntimeError) as caught:
                call()
            found.append(str(caught.value).splitlines()[0])
        return found

    assert repr(outcome(wg)) == repr(outcome(torch))
