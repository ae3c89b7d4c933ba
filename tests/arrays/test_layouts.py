"""Layouts of results, with the strides that PyTorch 2.13 gives; `tests/compare/test_layouts.py` asks it for more."""

from __future__ import annotations

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


def test_views_and_copies() -> None:
    x = torch.zeros(4)
    x.unsafe_chunk(2)[0].add_(1)
    assert x.tolist() == [1, 1, 0, 0]
    image = torch.zeros(1, 4, 2, 2)
    assert torch.nn.functional.pixel_shuffle(image, 1).data_ptr() != image.data_ptr()
    assert x[2:].as_strided((0,), (1,), 3).storage_offset() == 3
    assert torch.ones(2).unsqueeze(-1).view(torch.int32).tolist() == [[1065353216], [1065353216]]
