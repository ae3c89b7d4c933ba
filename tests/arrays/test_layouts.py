"""Layouts of results, with the strides that PyTorch 2.13 gives; `tests/compare/test_layouts.py` asks it for more."""

from __future__ import annotations

from typing import Any

import pytest

import wengert as torch

X = torch.arange(24.0).reshape(2, 3, 4).permute(2, 1, 0)  # of shape (4, 3, 2), column-major


@pytest.mark.parametrize(
    ("expression", "strides"),
    [
        ("X.sum(0)", (2, 1)),
        ("X.amax(0)", (2, 1)),
        ("X.norm(dim=0)", (2, 1)),
        ("X.cumsum(0)", (6, 2, 1)),
        ("X.masked_fill(X > 3, 0.)", (6, 2, 1)),
        ("X.flip(0)", (1, 4, 12)),
        ("X.sort(0).values", (1, 4, 12)),
        ("torch.where(X > 3, X, 0.)", (1, 4, 12)),
        ("torch.linalg.inv(torch.eye(3))", (1, 3)),
        ("torch.zeros(6)[None]", (6, 1)),
        ("torch.zeros(6)[None].t()", (1, 6)),
        ("torch.nonzero(X)", (1, 23)),
    ],
)
def test_strides(expression: str, strides: tuple[int, ...]) -> None:
    assert eval(expression).stride() == strides


@pytest.mark.parametrize(
    ("call", "strides"),
    [
        (lambda x: x.roll(1, 2), (144, 1, 24, 4)),
        (lambda x: x.roll(0, 1), (144, 36, 6, 1)),
        (lambda x: x.roll(1), (144, 36, 6, 1)),
        (lambda x: torch.complex(x, x).angle(), (144, 36, 6, 1)),
        (lambda x: torch.nn.functional.rms_norm(x, (6, 6)), (144, 1, 24, 4)),
        (lambda x: torch.nn.functional.rms_norm(x.permute(0, 2, 1, 3), (6,)), (144, 24, 6, 1)),
        (lambda x: torch.nn.functional.instance_norm(x), (144, 36, 6, 1)),
        (lambda x: torch.nn.functional.pad(x, (1, 1, 0, 0), mode="circular"), (192, 48, 8, 1)),
        (lambda x: torch.ones(6, 6) @ x.transpose(0, 1), (72, 36, 6, 1)),
    ],
)
def test_strides_of_images(call: Any, strides: tuple[int, ...]) -> None:
    assert call(torch.rand(2, 4, 6, 6).contiguous(memory_format=torch.channels_last)).stride() == strides


def test_channels_last_is_carried_through() -> None:
    x = torch.ones(2, 3, 6, 6).contiguous(memory_format=torch.channels_last)
    for y in (
        torch.nn.functional.conv2d(x, torch.ones(4, 3, 3, 3)),
        torch.nn.functional.max_pool2d(x, 2),
        torch.nn.functional.interpolate(x, scale_factor=2),
        torch.nn.functional.pad(x, (1, 1)),
        torch.cat([x, x], 1),
    ):
        assert y.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize(
    "call",
    [
        lambda F, x: F.conv2d(x, torch.ones(2, 3, 2, 2)),
        lambda F, x: F.conv_transpose2d(x, torch.ones(3, 2, 2, 2)),
        lambda F, x: F.batch_norm(x, None, None, training=True),
        lambda F, x: F.batch_norm(x, torch.zeros(3), torch.ones(3)),
        lambda F, x: F.group_norm(x, 3),
        lambda F, x: F.max_pool2d(x, 2),
        lambda F, x: F.avg_pool2d(x, 2),
        lambda F, x: F.adaptive_avg_pool2d(x, 2),
        lambda F, x: F.adaptive_max_pool2d(x, 1),
        lambda F, x: F.pad(x, (1, 1, 1, 1), mode="replicate"),
    ],
)
def test_cotangents_lie_as_the_operand_did(call: Any) -> None:
    x = torch.rand(2, 3, 6, 6).contiguous(memory_format=torch.channels_last).requires_grad_()
    y = call(torch.nn.functional, x)
    (g,) = torch.autograd.grad(y, x, torch.ones(y.shape))  # which arrives in rows
    assert g.stride() == (108, 1, 18, 3)
    rows = x.detach().contiguous().requires_grad_()
    y = call(torch.nn.functional, rows)
    (g,) = torch.autograd.grad(y, rows, torch.ones(y.shape).contiguous(memory_format=torch.channels_last))
    assert g.is_contiguous()


def test_cotangents_of_a_convolution_lie_as_its_filters_do() -> None:
    x, w = torch.rand(2, 3, 6, 6, requires_grad=True), torch.rand(4, 3, 2, 2)
    w = w.contiguous(memory_format=torch.channels_last).requires_grad_()
    y = torch.nn.functional.conv2d(x, w)
    gx, gw = torch.autograd.grad(y.sum(), (x, w))
    assert gx.stride() == (108, 1, 18, 3)
    assert gw.stride() == (12, 1, 6, 3)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: torch.nn.functional.interpolate(x, scale_factor=2),
        lambda x: torch.nn.functional.pad(x, (1, 1)),
        lambda x: x.flip(2),
        lambda x: x.exp(),
        lambda x: x.clone(),
    ],
)
def test_cotangents_lie_as_what_arrives(call: Any) -> None:
    x = torch.rand(2, 3, 6, 6).contiguous(memory_format=torch.channels_last).requires_grad_()
    y = call(x)
    (g,) = torch.autograd.grad(y, x, torch.ones_like(y))
    assert g.stride() == (108, 1, 18, 3)


def test_cotangents_of_weights_are_row_major() -> None:
    weight, bias = torch.rand(5, 4, requires_grad=True), torch.rand(5, requires_grad=True)
    for x in (torch.rand(3, 4), torch.rand(2, 3, 4)):
        x.requires_grad_()
        for y in (torch.nn.functional.linear(x, weight, bias), x @ weight.t(), torch.nn.functional.linear(x, weight)):
            for recorded in (False, True):
                g = torch.autograd.grad(y.sum(), weight, create_graph=recorded, retain_graph=True)[0]
                assert g.stride() == (4, 1)


@pytest.mark.parametrize("mean", [lambda x: x.mean(), lambda x: x.mean(0).sum()])
def test_a_recorded_gradient_of_a_mean_may_be_written(mean: Any) -> None:
    x = torch.ones(2, 3, requires_grad=True)
    (g,) = torch.autograd.grad(mean(x), x, create_graph=True)
    before = g[1].tolist()
    with torch.no_grad():
        g[0].fill_(7.0)
    assert g.tolist() == [[7.0] * 3, before]


def test_cotangents_of_bilinear_weights_are_row_major() -> None:
    weight, x = torch.rand(2, 4, 4, requires_grad=True), torch.rand(3, 4)
    for recorded in (False, True):
        y = torch.nn.functional.bilinear(x, x, weight)
        (g,) = torch.autograd.grad(y.pow(2).sum(), weight, create_graph=recorded)
        assert g.stride() == (16, 4, 1)
    (second,) = torch.autograd.grad((g * weight.detach()).sum(), weight)
    expected = torch.autograd.functional.hvp(
        lambda w: torch.einsum("bi,kij,bj->bk", x, w, x).pow(2).sum(), weight.detach(), weight.detach()
    )[1]
    assert second.allclose(expected)


@pytest.mark.parametrize(
    ("shapes", "dims"),
    [
        (((3, 4), (3, 5)), ([0], [0])),
        (((3, 4), (5, 4)), ([1], [1])),
        (((2, 3, 4), (2, 3, 5)), ([0, 1], [0, 1])),
        (((2, 3, 4), (2, 5)), ([0], [0])),
    ],
)
def test_cotangents_of_tensordot_lie_as_the_matrices_that_it_multiplies(shapes: Any, dims: Any) -> None:
    a, b = (torch.rand(shape, requires_grad=True) for shape in shapes)
    for recorded in (False, True):
        y = torch.tensordot(a, b, dims)
        for g in torch.autograd.grad(y, (a, b), torch.rand(y.shape), create_graph=recorded):
            assert g.is_contiguous()


def test_a_gradient_lies_as_its_leaf_does() -> None:
    leaf = torch.ones(3, 4, requires_grad=True)
    y = torch.rand(4, 3).t() * leaf
    y.backward(torch.ones_like(y))  # which is column-major, as the product
    assert leaf.grad.stride() == (4, 1)
    gaps = torch.rand(2, 8, 3)[:, ::2].permute(2, 1, 0).requires_grad_()
    (gaps * 2).sum().backward()
    assert gaps.grad.is_contiguous()


def test_views_and_copies() -> None:
    x = torch.zeros(4)
    x.unsafe_chunk(2)[0].add_(1)
    assert x.tolist() == [1, 1, 0, 0]
    image = torch.zeros(1, 4, 2, 2)
    assert torch.nn.functional.pixel_shuffle(image, 1).data_ptr() != image.data_ptr()
    assert x[2:].as_strided((0,), (1,), 3).storage_offset() == 3
    assert torch.ones(2).unsqueeze(-1).view(torch.int32).tolist() == [[1065353216], [1065353216]]
