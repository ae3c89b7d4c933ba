"""Dtypes that PyTorch's kernels lack are refused in its words, where nothing is recorded and where operators record."""

from __future__ import annotations

from typing import Any

import pytest

import wengert as torch

F = torch.nn.functional
C = torch.ones(2, 3, dtype=torch.complex64)
H = torch.ones(2, 3, dtype=torch.float16)
I32 = torch.ones(2, 3, dtype=torch.int32)
B = torch.ones(2, 3, dtype=torch.bool)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: F.layer_norm(C, (3,)), "\"LayerNormKernelImpl\" not implemented for 'ComplexFloat'"),
        (lambda: F.mse_loss(C, C), "\"mse_cpu\" not implemented for 'ComplexFloat'"),
        (lambda: F.avg_pool1d(I32, 2), "\"avg_pool2d\" not implemented for 'Int'"),
        (lambda: F.adaptive_max_pool1d(I32, 2), "\"adaptive_max_pool2d\" not implemented for 'Int'"),
        (lambda: F.interpolate(I32[None], size=2), "\"compute_indices_weights_nearest\" not implemented for 'Int'"),
        (lambda: torch.pdist(H), "\"pdist\" not implemented for 'Half'"),
        (lambda: torch.cross(B, B, dim=1), "\"cross\" not implemented for 'Bool'"),
        (lambda: torch.addbmm(B[:, :2], B[None], B.T[None]), "\"addmm_impl_cpu_\" not implemented for 'Bool'"),
        (lambda: torch.vdot(B[0], B[0]), "\"dot\" not implemented for 'Bool'"),
        (lambda: torch.bucketize(B, B[0]), "\"searchsorted_out_cpu\" not implemented for 'Bool'"),
        (lambda: torch.polygamma(1, C), "\"trigamma\" not implemented for 'ComplexFloat'"),
        (lambda: torch.triu_indices(2, 2, dtype=torch.float32), "\"triu_indices\" not implemented for 'Float'"),
        (lambda: torch.cumsum(B, 0, dtype=torch.bool), "\"cumsum_out_cpu\" not implemented for 'Bool'"),
        (lambda: torch.softmax(C, 0, dtype=torch.int64), "\"softmax_kernel_impl\" not implemented for 'Long'"),
        (
            lambda: F.cross_entropy(B[..., None], I32[:, :1].long() * 0),
            "\"log_softmax_kernel_impl\" not implemented for 'Bool'",
        ),
        (lambda: torch.matmul(B[0], B.T), "\"addmm_impl_cpu_\" not implemented for 'Bool'"),
        (
            lambda: F.conv1d(I32, I32[:, None, :2], dilation=2, groups=2),
            "\"slow_conv_dilated<>\" not implemented for 'Int'",
        ),
        (lambda: torch.unique(C, dim=0), "\"unique_dim\" not implemented for 'ComplexFloat'"),
        (lambda: torch.histogram(B, torch.ones(2)), "\"histogram_cpu\" not implemented for 'Bool'"),
        (lambda: torch.histogram(B, 2), "\"histogramdd\" not implemented for 'Bool'"),
        (lambda: torch.geqrf(I32), "\"geqrf_cpu\" not implemented for 'Int'"),
    ],
)
def test_kernels(call: object, message: str) -> None:
    with pytest.raises(NotImplementedError) as caught:
        call()  # type: ignore[operator]
    assert str(caught.value).split("\n")[0] == message


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: torch.maximum(x, x), "maximum not implemented for complex tensors."),
        (lambda x: torch.fmin(x, x), "fmin not implemented for complex tensors."),
        (torch.deg2rad, "deg2rad is not supported for complex tensors."),
        (torch.erf, "\"erf_vml_cpu\" not implemented for 'ComplexFloat'"),
        (torch.relu, "clamp is not supported for complex types"),
        (F.silu, "silu does not support automatic differentiation for outputs with complex dtype."),
        (torch.nan_to_num, "nan_to_num does not support automatic differentiation for outputs with complex dtype."),
    ],
)
def test_complex_tensors_that_record(call: object, message: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        call(C.clone().requires_grad_())  # type: ignore[operator]
    assert str(caught.value).split("\n")[0] == message


def test_half_precision_that_records() -> None:
    with pytest.raises(NotImplementedError, match="\"erfcx_cpu\" not implemented for 'Half'"):
        torch.special.erfcx(H.clone().requires_grad_())


def test_phases_are_not_differentiated() -> None:
    torch.manual_seed(0)
    A = torch.randn(3, 3, dtype=torch.complex64, requires_grad=True)
    with pytest.raises(RuntimeError, match="linalg_eigh_backward: The eigenvectors in the complex case are specified"):
        torch.linalg.eigh(A).eigenvectors.real.sum().backward()
    torch.linalg.eigh(A).eigenvectors.abs().sum().backward()


def test_integers_that_are_spaced() -> None:
    r = torch.linspace(-2.0, 1, 4, dtype=torch.int16)
    assert r.dtype is torch.int16
    assert r.tolist() == [-2, -1, 0, 1]


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.linalg.cholesky(H[:0, :0]),
        lambda: torch.linalg.lu(H[:0, :0]).U,
        lambda: torch.linalg.eigh(H[:0, :0]).eigenvectors,
        lambda: torch.cdist(H, H, compute_mode="use_mm_for_euclid_dist"),
    ],
)
def test_where_no_kernel_runs(call: Any) -> None:
    """Without elements, or where another kernel computes it, half precision is taken."""
    assert call().dtype is torch.float16
    assert torch.softmax(B[:0], 1).dtype is torch.bool
    assert torch.kthvalue(B[0, 0], 1).values.item() is True
    assert torch.cummax(C[0, 0], 0).values.item() == 1


def test_products_of_two_dtypes() -> None:
    batch = torch.ones(2, 3, 2, dtype=torch.uint8)
    with pytest.raises(RuntimeError, match="expected m1 and m2 to have the same dtype, but got: unsigned char != "):
        torch.matmul(batch, torch.ones(2, 2))
    with pytest.raises(RuntimeError, match="addmv input tensors must have the same dtype, but got Float, Byte, and Fl"):
        torch.matmul(batch, torch.ones(2))


def test_what_is_checked_first() -> None:
    with pytest.raises(RuntimeError, match="std and var only support floating point and complex dtypes"):
        torch.std(I32, 5)
    with pytest.raises(IndexError, match=r"amax\(\): Expected reduction dim -1 to have non-zero size"):
        torch.amax(torch.zeros(2, 0), -1)
