"""Helpers of tests of modules."""

from __future__ import annotations

from typing import Any

import wengert as torch

from ... import nn
from ..._tape.tensor import Tensor
from ._test_case import TestCase
from .common_utils import freeze_rng_state as freeze_rng_state  # noqa: PLC0414  programs import it from here

__all__: list[str] = []


class NNTestCase(TestCase):
    """Base of the tests of modules."""


def get_reduction(m: Any) -> str:
    """How a loss reduces."""
    return m.reduction


def get_weight(m: Any) -> Any:
    """The weight of a loss, or ``None``."""
    return getattr(m, "weight", None)


def _create_basic_net() -> tuple[Any, Any, Any]:
    """A layer, a net with such a layer, and a sequence with that net twice; all with a parameter and a buffer."""

    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer_dummy_param = nn.Parameter(torch.empty(3, 5))
            self.layer_dummy_buf = nn.Buffer(torch.zeros(1, 3, 3, 7))

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.l1 = Layer()
            self.dummy_param = nn.Parameter(torch.empty(3, 5))
            self.dummy_buf = nn.Buffer(torch.zeros(7, 3, 3, 1))

    net = Net()
    return Layer(), net, nn.Sequential(net, net)


def _test_bfloat16_ops(
    test_case: Any, op: Any, device: Any, inp_dims: Any = (), prec: float = 1e-2, scale_factor: float | None = None
) -> None:
    """Compare a module's result and gradient in bfloat16 with those in float32."""
    start = torch.randn(inp_dims, device=device) if scale_factor is None else torch.rand(inp_dims) * scale_factor
    x = start.requires_grad_()
    out = op(x)
    g = torch.randn_like(out)
    out.backward(g)
    y = x.detach().bfloat16().requires_grad_()
    narrow = op.bfloat16()(y)
    narrow.backward(g.bfloat16())
    for one, other in ((out, narrow), (x.grad, y.grad)):
        test_case.assertEqual(one, other, atol=prec, rtol=prec, exact_dtype=False)


def _test_module_empty_input(
    test_case: Any, module: Any, inp: Tensor, check_size: bool = True, inference: bool = False
) -> None:
    """Run a module on a tensor without elements; its gradients are zeros."""
    if not inference:
        inp.requires_grad_()
    out = module(inp)
    if check_size:
        test_case.assertEqual(out.size(), inp.size())
    if inference:
        return
    out.backward(torch.rand_like(out))
    for p in (*module.parameters(), inp):
        if p.requires_grad:
            test_case.assertEqual(p.grad, torch.zeros_like(p))


# ---- layers for tests: the name, what it is made with, and the sizes of its input
_LAYERS: tuple[tuple[str, tuple[Any, ...], tuple[int, ...]], ...] = (
    ("Linear", (10, 8), (4, 10)),
    ("Linear", (10, 8, False), (4, 10)),
    ("Bilinear", (3, 4, 2), ()),
    ("RReLU", (0.1, 0.9), (4, 4, 5)),
    ("Flatten", (), (2, 3, 4, 5)),
    ("Unflatten", (-2, torch.Size([2, 2])), (3, 4, 5)),
    *(("Conv1d", (4, 6, 3, 1, 1, 1, 1, True, mode), (2, 4, 10)) for mode in ("zeros", "reflect", "circular")),
    ("Conv2d", (3, 4, (3, 2), 2, 1), (2, 3, 7, 5)),
    ("Conv3d", (2, 3, (2, 3, 2)), (1, 2, 4, 5, 4)),
    ("ConvTranspose1d", (3, 4, 3, 2, 1, 1), (1, 3, 6)),
    ("ConvTranspose2d", (3, 4, 3, (3, 2), 1, (1, 1)), (1, 3, 7, 6)),
    ("ConvTranspose3d", (2, 3, 2), (1, 2, 3, 4, 3)),
    ("MaxPool1d", (2,), (2, 3, 6)),
    ("MaxPool2d", ((2, 2), 1), (2, 3, 5, 5)),
    ("AvgPool2d", (2,), (2, 3, 6, 6)),
    ("AdaptiveAvgPool2d", (3,), (2, 3, 7, 6)),
    ("LPPool2d", (2, 2), (1, 3, 6, 6)),
    ("ZeroPad2d", (1,), (2, 3, 4, 4)),
    ("ReplicationPad3d", (1,), (1, 2, 3, 3, 3)),
    ("PixelShuffle", (3,), (1, 9, 4, 4)),
    ("PixelUnshuffle", (3,), (1, 1, 12, 12)),
    ("BatchNorm1d", (4,), (5, 4)),
    ("BatchNorm2d", (3,), (2, 3, 4, 4)),
    ("GroupNorm", (2, 6), (3, 6, 4)),
    ("LayerNorm", ([5],), (3, 5)),
    ("LocalResponseNorm", (3,), (1, 5, 4)),
    ("TransformerEncoderLayer", (4, 2, 16, 0.0), (2, 3, 4)),
    *(
        (name, (), (4, 6))
        for name in ("CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh")
    ),
    *((name, (), (4, 6)) for name in ("Identity", "LeakyReLU", "LogSigmoid", "Mish", "PReLU", "ReLU", "ReLU6", "SELU")),
    *((name, (), (4, 6)) for name in ("SiLU", "Sigmoid", "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink")),
    *((name, (1,), (4, 6)) for name in ("Softmax", "Softmin", "LogSoftmax")),
    ("Softmax2d", (), (1, 3, 2, 2)),
    ("Threshold", (2.0, 1.0), (4,)),
)
_INPUTS: dict[str, Any] = {"Bilinear": lambda: (torch.randn(5, 3), torch.randn(5, 4))}


def _described(name: str, args: tuple[Any, ...], size: tuple[int, ...]) -> dict[str, Any]:
    given = {"input_fn": _INPUTS[name]} if name in _INPUTS else {"input_size": size}
    return {"module_name": name, "constructor_args": args, **given}


module_tests = [_described(*layer) for layer in _LAYERS]


def get_new_module_tests() -> list[dict[str, Any]]:
    """More layers for tests: those that take indices or two tensors."""
    return [
        {"module_name": "Embedding", "constructor_args": (4, 3), "input_fn": lambda: torch.randint(4, (2, 3))},
        {"module_name": "EmbeddingBag", "constructor_args": (4, 3), "input_fn": lambda: torch.randint(4, (2, 3))},
        *(
            {"module_name": name, "constructor_args": (), "input_fn": lambda: (torch.randn(8, 5), torch.randn(8, 5))}
            for name in ("CosineSimilarity", "PairwiseDistance")
        ),
    ]
