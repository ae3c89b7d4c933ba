"""The works to time: name, method of the adapters, sizes of the inputs, and budget.

A budget is the largest allowed ratio of wengert's time to torch's; None means no budget. The inputs are made here, from
a fixed seed: every library gets the same numbers, and the results can be compared.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

# Ratios to torch 2.13 that must be held.
OPERATOR, CHAIN, MLP, LARGE, CONVOLUTION = 0.6, 0.5, 0.5, 1.0, 1.3
ELEMENTWISE_CHAIN, REDUCTION, LOADER = 0.8, 1.5, 0.7


@dataclass(frozen=True)
class Effort:
    """The least duration of one library's turn, the number of rounds, and the rest before a turn, in seconds.

    The rest lets the threads of the previous library fall asleep: a BLAS keeps them spinning for up to 25 ms.
    """

    turn: float
    rounds: int
    rest: float = 0.0


EFFORT = {
    "small": Effort(0.005, 25),
    "graph": Effort(0.0, 7),
    "medium": Effort(0.04, 15, rest=0.03),
    "large": Effort(0.0, 5, rest=0.03),
    "model": Effort(0.0, 4, rest=0.03),
}
QUICK_EFFORT = {
    "small": Effort(0.002, 7),
    "graph": Effort(0.0, 3),
    "medium": Effort(0.04, 8, rest=0.03),  # threads that have slept are slow for a few calls
    "large": Effort(0.0, 2, rest=0.03),
    "model": Effort(0.0, 2, rest=0.03),
}


@dataclass(frozen=True)
class Work:
    """One work to time. The seconds are per `unit`; `quick` is false for works that `--quick` leaves out."""

    name: str
    method: str
    arguments: dict[str, Any] = field(default_factory=dict)
    group: str = "small"
    budget: float | None = None
    unit: str = "call"
    quick: bool = True


OPERATORS = ("add", "mul", "mul by 2.0", "neg", "exp", "sin", "sum()", "reshape", "x[1:3]", "matmul 8x8 @ 8")
ELEMENTWISE = OPERATORS[:6]


def works(quick: bool) -> list[Work]:
    """All works in the order of the table; `quick` shortens the deep graph."""
    nodes = 20_000 if quick else 100_000
    return [
        *(
            Work(f"{name}, {how}", "operator", {"name": name, "recording": how == "recording"}, budget=budget)
            for how in ("recording", "not recording")
            for name in OPERATORS
            for budget in [OPERATOR if name in ELEMENTWISE else None]
        ),
        *(
            Work(f"layer, x[0], view and cat, {mode}", "evaluation", {"mode": mode})
            for mode in ("no_grad", "inference_mode")
        ),
        Work("chain of 100 mul, forward", "chain", {"name": "mul", "backward": False}, unit="operator"),
        *(
            Work(f"chain of 100 {name}, forward and backward", "chain", {"name": name}, budget=CHAIN, unit="operator")
            for name in ("mul", "add", "tanh")
        ),
        Work("MLP 64-32-10, batch 1, SGD step", "mlp", {"sizes": (64, 32, 10), "batch": 1}, budget=MLP, unit="step"),
        Work(
            "MLP 64-32-10, batch 32, SGD step", "mlp", {"sizes": (64, 32, 10), "batch": 32}, budget=LARGE, unit="step"
        ),
        Work("Hessian of 10 variables", "hessian", {"size": 10}),
        *(
            Work(f"{nodes:,} nodes, {part}", f"deep_{part}", {"nodes": nodes}, "graph", budget, "node")
            for part, budget in (("forward", None), ("backward", CHAIN), ("release", None))
        ),
        Work(
            "MLP 784-256-10, batch 64, SGD step",
            "mlp",
            {"sizes": (784, 256, 10), "batch": 64},
            "medium",
            LARGE,
            "step",
        ),
        Work("matmul 512x512", "matmul", {"size": 512, "backward": False}, "medium", LARGE),
        Work("matmul 512x512, forward and backward", "matmul", {"size": 512}, "medium", LARGE),
        *(
            Work(
                f"{label} on 1e6, forward and backward",
                "elementwise",
                {"names": names, "size": 1_000_000},
                "medium",
                ELEMENTWISE_CHAIN,
                "operator",
            )
            for label, names in (
                ("exp, tanh, sigmoid, add", ("exp", "tanh", "sigmoid", "add")),
                ("10 tanh", ("tanh",) * 10),
                ("10 add", ("add",) * 10),
            )
        ),
        Work("sum of 1e7", "reduction", {"name": "sum", "size": 10_000_000}, "medium", REDUCTION),
        Work("max of 1e7", "reduction", {"name": "max", "size": 10_000_000}, "medium", REDUCTION),
        Work("softmax 1000x1000, forward and backward", "softmax", {"shape": (1000, 1000)}, "medium", LARGE),
        Work("layer norm 1000x1000, forward and backward", "layer_norm", {"shape": (1000, 1000)}, "medium", LARGE),
        *(
            Work(f"{name} on 1e6, forward and backward", "activation", {"name": name}, "medium", LARGE)
            for name in ("relu", "gelu", "silu", "where", "pow 3")
        ),
        *(
            Work(f"{name} of 1000x1000 along rows", "along_rows", {"name": name}, "medium", REDUCTION)
            for name in ("sum", "var", "norm")
        ),
        Work(
            "cross entropy 1000x1000, forward and backward", "cross_entropy", {"shape": (1000, 1000)}, "medium", LARGE
        ),
        Work("MLP 784-128-128-10, batch 64, Adam step", "mlp_adam", {}, "medium", ELEMENTWISE_CHAIN, "step"),
        Work("4096 rows of 64, gathered, forward and backward", "gather_rows", {"rows": 4096}, "medium", LARGE),
        Work("4096 rows of 64, added, forward and backward", "add_rows", {"rows": 4096}, "medium", LARGE),
        Work("4096x64 elements, gathered, forward and backward", "gather", {"rows": 4096}, "medium", LARGE),
        Work("4096x64 elements, scatter_add, forward and backward", "scatter_add", {"rows": 4096}, "medium", LARGE),
        Work(
            "embedding, 4096 rows of 64 of 1000, forward and backward",
            "embedding",
            {"rows": 4096, "width": 64, "table": 1000},
            "medium",
            LARGE,
        ),
        *(
            Work(
                f"{name.split('_')[0]} pool 2x2 of (16,64,56,56), forward and backward",
                "pool",
                {"name": name},
                "large",
                LARGE,
                quick=False,
            )
            for name in ("max_pool2d", "avg_pool2d")
        ),
        *(
            Work(
                f"conv2d {_shape(x)} * {_shape(w)}, forward and backward",
                "conv2d",
                {"image": x, "kernel": w},
                "medium" if small else "large",  # by the time it takes
                CONVOLUTION,
                quick=small,
            )
            for x, w, small in (
                ((8, 32, 26, 26), (64, 32, 3, 3), True),
                ((16, 64, 56, 56), (64, 64, 3, 3), False),
                ((16, 3, 224, 224), (64, 3, 7, 7), False),
            )
        ),
        *(
            Work(
                f"{name} 16x32x32 to 64, forward and backward",
                "recurrent",
                {"name": name, "length": 16, "batch": 32, "inputs": 32, "hidden": 64},
                "medium",
                LARGE,
            )
            for name in ("LSTM", "GRU", "RNN")
        ),
        *(
            Work(f"BatchNorm2d {_shape(s)}, forward and backward", "batch_norm", {"shape": s}, "medium", LARGE)
            for s in ((8, 16, 14, 14), (16, 64, 56, 56))
        ),
        *(
            Work(f"CNN 1-32-64, batch {n}, SGD step", "cnn", {"batch": n}, "medium", CONVOLUTION, "step")
            for n in (8, 64)
        ),
        Work(
            "residual block with batch norm, 16x3x32x32, SGD step",
            "residual",
            {"batch": 16, "size": 32},
            "medium",
            CONVOLUTION,
            "step",
        ),
        Work(
            "GPT block 8x64x128, AdamW step",
            "gpt_block",
            {"batch": 8, "length": 64, "width": 128},
            "medium",
            LARGE,
            "step",
        ),
        Work(
            "ResNet-18, batch 4 of 224x224, SGD step",
            "resnet18",
            {"batch": 4, "size": 224},
            "model",
            unit="step",
            quick=False,
        ),
        Work(
            "GPT-2 124M, 256 tokens, AdamW step",
            "gpt2",
            {"batch": 1, "length": 256, "layers": 12, "heads": 12, "width": 768, "words": 50257},
            "model",
            unit="step",
            quick=False,
        ),
        Work(
            "DataLoader over 10,000 items, batches of 64, no workers",
            "loader",
            {"items": 10_000, "batch": 64},
            "medium",
            LOADER,
            "pass",
        ),
    ]


def _shape(shape: tuple[int, ...]) -> str:
    return "(" + ",".join(map(str, shape)) + ")"


def uniform(shape: int | tuple[int, ...], low: float = -1.0, high: float = 1.0, seed: int = 0) -> np.ndarray:
    """float32 numbers, the same for every library."""
    return np.random.RandomState(seed).uniform(low, high, shape).astype(np.float32)


def integers(size: int, bound: int, seed: int = 0) -> np.ndarray:
    """int64 indices below `bound`."""
    return np.random.RandomState(seed).randint(0, bound, size)


def drawn(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """The first value of a parameter: random for matrices and kernels, ones for weights of norms, zeros for biases."""
    if len(shape) == 1:
        return np.full(shape, name.endswith("weight"), np.float32)
    reach = math.prod(shape[1:]) ** -0.5
    return uniform(shape, -reach, reach, seed=zlib.crc32(name.encode()))


def rosenbrock(x: Any) -> Any:
    """Rosenbrock's function, whose Hessian is a band matrix, of any library's array that has slices."""
    head, tail = x[:-1], x[1:]
    return (100.0 * (tail - head**2) ** 2 + (1.0 - head) ** 2).sum()
