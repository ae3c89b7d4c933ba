"""``torch.onnx.export``: onnxruntime gives the module's outputs for whole models and for each operator."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
import pytest
from export_cases import all_expressions, module_of

import wengert as torch
from wengert._higher_order_ops.map import map
from wengert._higher_order_ops.scan import scan
from wengert.utils import _pytree as pytree

onnx = pytest.importorskip("onnx", reason="ONNX models are made with the package onnx: pip install 'wengert[onnx]'")
ort = pytest.importorskip(
    "onnxruntime", reason="ONNX models are run by onnxruntime, to compare: pip install onnxruntime"
)

nn, F = torch.nn, torch.nn.functional


def outputs_of(model: bytes, inputs: Any) -> list[Any]:
    session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
    tensors = [t for t in pytree.tree_leaves(inputs) if isinstance(t, torch.Tensor)]
    names = [i.name for i in session.get_inputs()]
    return session.run(None, {n: t.numpy() for n, t in zip(names, tensors, strict=True)})  # type: ignore[no-any-return]


def check(model: Any, inputs: Any, *others: Any, **options: Any) -> Any:
    """Export, check, and compare the outputs for these inputs and for others."""
    file = io.BytesIO()
    torch.onnx.export(model.eval(), inputs, file, **options)
    proto = onnx.load_model_from_string(file.getvalue())
    onnx.checker.check_model(proto, full_check=True)
    for given in (inputs, *others):
        with torch.no_grad():
            expected = [t for t in pytree.tree_leaves(model(*given)) if isinstance(t, torch.Tensor)]
        for got, wanted in zip(outputs_of(file.getvalue(), given), expected, strict=True):
            np.testing.assert_allclose(got, wanted.numpy(), rtol=1e-5, atol=1e-5)
    return proto


# ------------------------------------------------------------------------------------------------------------- models
def test_mlp_and_its_names() -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    proto = check(
        model, (torch.randn(3, 4),), (torch.randn(7, 4),), input_names=["x"], output_names=["y"],
        dynamic_axes={"x": {0: "batch"}, "y": {0: "batch"}}, opset_version=17,
    )  # fmt: skip
    assert [i.name for i in proto.graph.input] == ["x"] and [o.name for o in proto.graph.output] == ["y"]
    assert proto.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"
    assert proto.graph.output[0].type.tensor_type.shape.dim[0].dim_param == "batch"
    assert {i.name for i in proto.graph.initializer} >= {"0.weight", "0.bias", "2.weight"}
    assert proto.opset_import[0].version == 17


def test_cnn() -> None:
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Dropout(),
        nn.Flatten(), nn.Linear(64, 3),
    )  # fmt: skip
    check(model, (torch.randn(2, 1, 8, 8),), (torch.randn(5, 1, 8, 8),), dynamic_axes={"input": [0]})


class Basic(nn.Module):
    """A block of ResNet-18."""

    def __init__(self, inside: int, outside: int, stride: int) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False), nn.BatchNorm2d(outside)
        self.conv2, self.bn2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False), nn.BatchNorm2d(outside)
        self.down: Any = nn.Identity()
        if stride != 1 or inside != outside:
            self.down = nn.Sequential(nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside))

    def forward(self, x: Any) -> Any:
        y = F.relu(self.bn1(self.conv1(x)), inplace=True)
        y = self.bn2(self.conv2(y))
        y += self.down(x)
        return F.relu(y)


class ResNet18(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)
        )
        blocks = [Basic(64, 64, 1), Basic(64, 64, 1)]
        for inside in (64, 128, 256):
            blocks += [Basic(inside, 2 * inside, 2), Basic(2 * inside, 2 * inside, 1)]
        self.blocks = nn.Sequential(*blocks)
        self.pool, self.fc = nn.AdaptiveAvgPool2d((1, 1)), nn.Linear(512, 10)

    def forward(self, x: Any) -> Any:
        return self.fc(torch.flatten(self.pool(self.blocks(self.stem(x))), 1))


def test_resnet18() -> None:
    check(ResNet18(), (torch.randn(2, 3, 64, 64),), (torch.randn(1, 3, 64, 64),), dynamic_axes={"x": {0: "b"}})


@pytest.mark.parametrize("layer", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize(
    "options", [{}, {"num_layers": 2, "bidirectional": True, "batch_first": True}, {"bias": False}]
)
def test_recurrent_layers(layer: str, options: Any) -> None:
    model = getattr(nn, layer)(3, 4, **options)
    check(model, (torch.randn(5, 2, 3),), (torch.randn(7, 4, 3),), dynamic_axes={"input": {0: "t", 1: "b"}})


def test_recurrent_layers_with_states_and_cells() -> None:
    check(nn.LSTM(3, 4), (torch.randn(5, 2, 3), (torch.randn(1, 2, 4), torch.randn(1, 2, 4))))
    check(nn.GRU(3, 4), (torch.randn(5, 3), torch.randn(1, 4)))  # unbatched


class Block(nn.Module):
    """A block of minGPT."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(0.1))
        self.register_buffer("mask", torch.tril(torch.ones(32, 32)).view(1, 1, 32, 32))

    def forward(self, x: Any) -> Any:
        B, T, C = x.size()
        q, k, v = self.attn(self.ln1(x)).split(C, dim=2)
        q, k, v = (t.view(B, T, self.heads, C // self.heads).transpose(1, 2) for t in (q, k, v))
        scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        scores = F.softmax(scores.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf")), dim=-1)
        x = x + self.proj((scores @ v).transpose(1, 2).contiguous().view(B, T, C))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(50, 16), nn.Embedding(32, 16)
        self.blocks = nn.ModuleList([Block(16, 4), Block(16, 4)])
        self.norm, self.head = nn.LayerNorm(16), nn.Linear(16, 50, bias=False)

    def forward(self, index: Any) -> Any:
        x = self.tokens(index) + self.places(torch.arange(index.size(1), device=index.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def test_gpt_with_any_batch_and_length() -> None:
    index = torch.randint(0, 50, (2, 8))
    check(GPT(), (index,), (torch.randint(0, 50, (3, 20)),), dynamic_axes={"index": {0: "b", 1: "t"}})


class ViT(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 16, 4, 4)
        self.first, self.places = nn.Parameter(torch.zeros(1, 1, 16)), nn.Parameter(torch.randn(1, 17, 16))
        layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, activation="gelu", norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(16, 5)

    def forward(self, x: Any) -> Any:
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.first.expand(x.shape[0], -1, -1), x], dim=1) + self.places
        return self.head(self.encoder(x)[:, 0])


def test_vit() -> None:
    b = torch.export.Dim("b")
    check(ViT(), (torch.randn(2, 3, 16, 16),), (torch.randn(5, 3, 16, 16),), dynamic_shapes={"x": {0: b}})


class VAE(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encode, self.mean, self.spread = nn.Linear(16, 8), nn.Linear(8, 2), nn.Linear(8, 2)
        self.decode = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 16), nn.Sigmoid())

    def forward(self, x: Any, noise: Any) -> Any:
        h = F.relu(self.encode(x.view(-1, 16)))
        mean, spread = self.mean(h), self.spread(h)
        return self.decode(mean + noise * torch.exp(0.5 * spread)), mean, spread


def test_vae() -> None:
    check(
        VAE(), (torch.randn(2, 4, 4), torch.randn(2, 2)), (torch.randn(5, 4, 4), torch.randn(5, 2)),
        dynamic_axes={"x": {0: "b"}, "noise": {0: "b"}},
    )  # fmt: skip


def test_attention_layers() -> None:
    encoder = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    check(encoder, (torch.randn(2, 5, 8),), (torch.randn(3, 9, 8),), dynamic_axes={"src": {0: "b", 1: "t"}})
    check(nn.MultiheadAttention(8, 2), (torch.randn(5, 2, 8),) * 3)
    decoder = nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)
    check(decoder, (torch.randn(2, 5, 8), torch.randn(2, 3, 8)))


def test_writes_in_place_reach_views_and_what_they_are_views_of() -> None:
    class Writes(nn.Module):
        def forward(self, x: Any) -> Any:
            y = torch.zeros_like(x)
            y[:, 1] = x[:, 0]
            y[0] += 1
            part = y[:, 2:]
            part.mul_(2)
            y.add_(x)
            z = x * 1
            turned = z.transpose(0, 1)
            turned[1:3] = 5.0
            flat = z.reshape(-1)
            flat += 1
            copied = turned.flatten()
            copied.zero_()
            return y, part, z.relu_(), turned, flat, copied

    check(Writes(), (torch.randn(3, 4),))


# ---------------------------------------------------------------------------------------------------------- operators
@pytest.mark.parametrize("expression", all_expressions())
def test_operators(expression: str) -> None:
    module, inputs = module_of(torch, expression)
    try:
        program = torch.onnx.export(module, inputs)
    except torch.onnx.UnsupportedOperatorError as e:
        pytest.skip(f"has no form in ONNX: {e}")
    _, again = module_of(torch, expression)
    results = outputs_of(program.model_proto.SerializeToString(), again)
    expected = [t for t in pytree.tree_leaves(module(*again)) if isinstance(t, torch.Tensor)]
    for got, wanted in zip(results, expected, strict=False):
        np.testing.assert_allclose(got, wanted.numpy(), rtol=1e-5, atol=1e-5)
        assert got.dtype == wanted.numpy().dtype


# -------------------------------------------------------------------------------------------------------------- errors
def test_an_operator_without_a_form_names_itself_and_the_line() -> None:
    class Spectrum(nn.Module):
        def forward(self, x: Any) -> Any:
            y = x * 2
            return torch.fft.fft(y).abs()

    with pytest.raises(torch.onnx.UnsupportedOperatorError, match=r"aten\.fft_fft") as e:
        torch.onnx.export(Spectrum(), (torch.ones(4),))
    assert isinstance(e.value, torch.onnx.OnnxExporterError)
    assert any("test_onnx.py" in n and "return torch.fft.fft(y).abs()" in n for n in e.value.__notes__)


def test_options_and_the_program() -> None:
    model, x = nn.Sequential(nn.Linear(2, 2), nn.Dropout()), torch.ones(1, 2)
    made = torch.onnx.export(model, x, dynamo=True)
    assert model.training and type(made).__name__ == "ONNXProgram"
    np.testing.assert_allclose(made(x)[0].numpy(), model[0](x).detach().numpy(), rtol=1e-6)
    assert torch.onnx.export(model, x, io.BytesIO(), dynamo=False) is None
    torch.onnx.export(torch.export.export(model.eval(), (x,)))
    with pytest.raises(torch.onnx.OnnxExporterError, match="Unsupported ONNX opset version: 9"):
        torch.onnx.export(model, x, opset_version=9)
    for opset in (14, 15, 18, 20, 21):
        check(
            nn.Sequential(nn.Conv1d(2, 2, 1), nn.GELU(), nn.Flatten(1), nn.LayerNorm(6)),
            (torch.ones(1, 2, 3),),
            opset_version=opset,
        )


class Flow(nn.Module):
    """A module of one way to control what is computed."""

    def __init__(self, flow: Any) -> None:
        super().__init__()
        self.linear, self.flow = nn.Linear(3, 3), flow

    def forward(self, x: Any) -> Any:
        return self.flow(self.linear, x)


@pytest.mark.parametrize("flow", [
    lambda f, x: torch.cond(x.sum() > 0, lambda x: f(x), lambda x: -x, (x,)),
    lambda f, x: torch.cond(x.sum() > 0, lambda x: torch.cond(x.max() > 2, f, torch.sin, (x,)), lambda x: x + 1, (x,)),
    lambda f, x: torch.while_loop(lambda i, y: i < x.sum(), lambda i, y: (i + 1, f(y)), (torch.tensor(0), x * 2)),
    lambda f, x: scan(lambda a, row: (f(a), a * row), x[0].clone(), x),
    lambda f, x: map(lambda row, y: f(row) * y, x, x[1].clone()),
])  # fmt: skip
def test_control_flow(flow: Any) -> None:
    x = torch.ones(2, 3)
    check(Flow(flow), (x,), (-x,), (3 * x,))
