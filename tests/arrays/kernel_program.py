"""Large work of every kind that compiled kernels take, for ``test_kernels``: `python kernel_program.py FILE`.

The file gets each result, and in ``NAME/size`` the size of what was added up for it, where that is not its own.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

import wengert as torch
import wengert.nn.functional as F
from wengert._arrays.compiled import Kernels, kernels

ELEMENTWISE = """
x + y; x * y; x / y; x * 2.5; 2.5 - x; -x; x ** 2; x ** 3; x.sqrt(); x.rsqrt(); x.reciprocal(); x.abs(); x.exp(); x.tanh()
x.sigmoid(); x.erf(); x.log(); x.expm1(); x.log1p(); x.exp2(); x.relu(); F.gelu(x); F.gelu(x, approximate="tanh"); F.silu(x)
F.leaky_relu(x, 0.3); F.elu(x, 0.7); F.selu(x); F.softplus(x); F.mish(x); F.hardswish(x); F.hardtanh(x); F.logsigmoid(x)
F.softsign(x); F.tanhshrink(x); F.hardshrink(x, 0.3); F.threshold(x, 0.3, 0.1); x.clamp(-0.3, 0.4); x.clamp(min=0.1)
torch.maximum(x, y); torch.minimum(x, y); torch.addcmul(x, y, y, value=0.3); x.lerp(y, 0.7); torch.where(b, x, y)
x.masked_fill(b, 0.5); F.mse_loss(x, y, reduction="none"); F.smooth_l1_loss(x, y, reduction="none"); x.sign(); x.floor()
F.binary_cross_entropy_with_logits(x, y.sigmoid(), reduction="none"); (x > y).float(); (x <= 0.2).float(); x.double()
x + row; x * column; row * x; (x.T * y.T); x + one; F.glu(x, 1); x.isnan().float()
"""
REDUCED = """
F.mse_loss(x, y); F.l1_loss(x, y); F.smooth_l1_loss(x, y); F.mse_loss(x, y, reduction="sum"); x.sum(); x.mean(); x.sum(1)
x.sum(0); x.logsumexp(1); F.softmax(x, 1); F.log_softmax(x, 1); F.layer_norm(x, (x.shape[1],), row, one + row)
F.layer_norm(x, (x.shape[1],)); F.cross_entropy(x, t); F.cross_entropy(x, t, reduction="sum")
F.cross_entropy(x, t, reduction="none"); F.batch_norm(x.view(40, 10, -1), None, None, row[:10], row[:10], True)
F.nll_loss(F.log_softmax(x, 1), t); F.rms_norm(x, (x.shape[1],)); F.softmax(x.view(40, 10, -1), 2)
F.group_norm(x.view(20, 20, -1), 5, row[:20], one + row[:20]); F.group_norm(x.view(20, 20, -1), 4)
F.instance_norm(x.view(20, 20, -1), None, None, row[:20], None); x.cumsum(1); x.cumsum(0); x.T.cumsum(1)
y.cumprod(1); F.avg_pool2d(x.view(4, 10, 100, 33), 2); F.avg_pool2d(x.view(4, 10, 100, 33), 3, 2, 1)
F.avg_pool2d(x.view(4, 10, 100, 33), (30, 20), 7, (3, 2), True, False); F.avg_pool1d(x, 5, 3, 2)
F.adaptive_avg_pool2d(x.view(4, 10, 100, 33), (7, 5)); F.adaptive_avg_pool2d(x.view(4, 10, 100, 33), 1)
x.gather(1, at); x.gather(0, at); x.scatter_add(1, at, y); x.scatter_add(0, at, y); x.index_add(0, t, y)
F.embedding(t.repeat(20), x); F.embedding(t.repeat(50), x.reshape(-1, 16)); x.index_select(1, t.repeat(3) % 330); x.index_put((t % 7,), y, True)
"""
CONVOLUTIONS = [  # x, weight, then stride, padding, dilation, groups
    ((4, 16, 30, 31), (32, 16, 3, 3), 1, 1, 1, 1),
    ((4, 16, 30, 31), (40, 16, 3, 3), 2, 1, 1, 1),
    ((3, 8, 29, 30), (24, 8, 5, 5), 1, 2, 1, 1),
    ((3, 3, 64, 64), (20, 3, 7, 7), 2, 3, 1, 1),
    ((4, 24, 20, 21), (32, 12, 3, 2), 1, (1, 0), 2, 2),
    ((4, 16, 300), (24, 16, 4), 1, 2, 1, 1),
    ((4, 16, 300), (24, 16, 3), 2, 1, 1, 1),
    ((2, 8, 10, 11, 12), (16, 8, 3, 3, 3), 1, 1, 1, 1),
    ((2, 8, 10, 11, 12), (16, 8, 2, 3, 2), (1, 2, 1), 0, 1, 1),
    ((16, 32, 16, 16), (64, 32, 1, 1), 2, 0, 1, 1),
    ((4, 12, 30, 31), (12, 1, 3, 3), 1, 1, 1, 12),
    ((4, 12, 30, 31), (24, 1, 5, 3), (2, 1), 1, (1, 2), 12),
    ((4, 16, 30, 31), (3, 16, 3, 3), 1, 2, 2, 1),
    ((4, 16, 30, 31), (40, 8, 4, 3), (3, 2), (2, 1), 1, 2),
]
POOLS = [(2, 2, 0, 1), (3, 2, 1, 1), (3, 1, 1, 1), (2, 3, 0, 2), ((2, 3), (1, 2), (1, 0), 1)]
OPTIMIZERS = """
SGD(p, 0.1, momentum=0.9, nesterov=True); SGD(p, 0.1, weight_decay=0.1, maximize=True); Adam(p); Adam(p, amsgrad=True)
AdamW(p, weight_decay=0.1); RMSprop(p, centered=True, momentum=0.9); Adagrad(p); Adadelta(p); NAdam(p); RAdam(p); Adamax(p)
"""
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 3e38, -3e38, 1e-30, 1.0, -1.0, 88.5, -88.5, 90.0, -104.0]


def works(text: str) -> list[str]:
    return [work.strip() for line in text.split("\n") if line for work in line.split("; ")]


class Results:
    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}

    def add(self, name: str, value: torch.Tensor, size: object = None) -> None:
        self.arrays[name] = value.detach().numpy().copy()
        if size is not None:
            self.arrays[f"{name}/size"] = np.asarray(size, np.float64)

    def grads(self, name: str, r: torch.Tensor, inputs: dict[str, torch.Tensor], sizes: dict[str, object]) -> None:
        if not r.requires_grad:
            return
        g = torch.from_numpy(np.random.RandomState(5).uniform(-1, 1, r.shape).astype(r.detach().numpy().dtype))
        r.backward(g)
        for key, x in inputs.items():
            if x.grad is not None:
                self.add(f"{name}, grad of {key}", x.grad, sizes.get(key))


def operands(dtype: str) -> dict[str, torch.Tensor]:
    random = np.random.RandomState(1)
    shape = (400, 330)
    made = {
        "x": random.uniform(-1, 1, shape), "y": random.uniform(0.1, 1, shape), "row": random.uniform(0.5, 1, shape[1]),
        "column": random.uniform(0.5, 1, (shape[0], 1)), "one": random.uniform(0.5, 1, ()),
    }  # fmt: skip
    return {k: torch.from_numpy(np.asarray(a, dtype)).requires_grad_() for k, a in made.items()}


def run_elementwise(out: Results, dtype: str) -> None:
    b = torch.from_numpy(np.random.RandomState(2).rand(400, 330) > 0.5)
    t = torch.from_numpy(np.random.RandomState(3).randint(0, 330, 400))
    at = torch.from_numpy(np.random.RandomState(9).randint(0, 330, (400, 330)))
    for work in works(ELEMENTWISE + REDUCED):
        given = operands(dtype)
        if any(word in work for word in ("sqrt()", "log()", "log1p")):
            given["x"] = (given["x"].detach().abs() + 0.1).requires_grad_()
        r = eval(work, {"torch": torch, "F": F, "b": b, "t": t, "at": at, **given})
        # what is added up: at most as many elements as there are, each about 1
        size = (
            None if work in works(ELEMENTWISE) else 400.0 if "sum" in work or "_add" in work or "put" in work else 4.0
        )
        out.add(f"{dtype} {work}", r, size)
        out.grads(f"{dtype} {work}", r, given, {"row": 400.0, "column": 330.0, "one": 1e5, "x": size, "y": size})


def run_special(out: Results) -> None:
    x = np.tile(np.array(SPECIAL, np.float32), 1 << 13)
    y = np.tile(np.repeat(np.array(SPECIAL, np.float32), len(SPECIAL)), (1 << 13) // len(SPECIAL))
    for work in works(ELEMENTWISE):
        if any(word in work for word in ("row", "column", "x.T", "glu(x, 1)", "one")):
            continue
        given = {"x": torch.from_numpy(x), "y": torch.from_numpy(y), "b": torch.from_numpy(y > 0)}
        out.add(f"special {work}", eval(work, {"torch": torch, "F": F, **given}))
    rows = np.random.RandomState(0).uniform(-1, 1, (512, 128)).astype(np.float32)
    for k, v in enumerate(SPECIAL):
        rows[k, 5] = v
        rows[k + 20] = v
    for work in ("softmax(x, 1)", "log_softmax(x, 1)", "layer_norm(x, (128,))"):
        out.add(f"special {work}", eval(f"F.{work}", {"F": F, "x": torch.from_numpy(rows)}), 4.0)
    out.add("special logsumexp", torch.from_numpy(rows).logsumexp(1))
    for dtype in (np.float32, np.float64):
        many = np.random.RandomState(1).uniform(-1, 1, (1 << 20) + 37).astype(dtype)
        out.add(f"sum of many, {dtype.__name__}", torch.from_numpy(many).sum(), 1e3)
    out.add("max pool of odd numbers", F.max_pool2d(torch.from_numpy(rows.reshape(1, 1, 512, 128)), 3, 2, 1))


def run_windows(out: Results) -> None:
    random = np.random.RandomState(4)
    for k, (xs, ws, *rest) in enumerate(CONVOLUTIONS * 2):
        dtype = np.float32 if k < len(CONVOLUTIONS) else np.float64
        x, w, b = (random.uniform(-1, 1, s).astype(dtype) for s in (xs, ws, ws[0]))
        conv = getattr(F, f"conv{len(xs) - 2}d")
        given = {name: torch.from_numpy(a).requires_grad_() for name, a in (("x", x), ("w", w), ("b", b))}
        r = conv(given["x"], given["w"], given["b"], *rest)
        taps = float(np.prod(ws[1:]))
        sizes = {"x": taps * ws[0], "w": float(np.prod(r.shape)) / ws[0] ** 0.5, "b": float(np.prod(r.shape))}
        out.add(f"convolution {k}", r, taps)
        out.grads(f"convolution {k}", r, given, sizes)
    for pool in POOLS:
        x = torch.from_numpy(random.uniform(-1, 1, (8, 8, 40, 42)).astype(np.float32)).requires_grad_()
        r, at = F.max_pool2d(x, *pool, return_indices=True)
        out.add(f"max pool {pool}", r)
        out.add(f"max pool {pool}, places", at)
        out.grads(f"max pool {pool}", r, {"x": x}, {})


def run_layers(out: Results) -> None:
    more = [("RNN", {"nonlinearity": kind}) for kind in ("tanh", "relu")]
    plain = [(kind, keywords) for kind in ("LSTM", "GRU") for keywords in ({}, {"bidirectional": True, "bias": False})]
    for kind, keywords in [*plain, *more, ("LSTM", {"num_layers": 2})]:
        torch.manual_seed(0)
        layer = getattr(torch.nn, kind)(32, 64, **keywords)
        x = torch.from_numpy(np.random.RandomState(6).uniform(-1, 1, (16, 35, 32)).astype(np.float32)).requires_grad_()
        r, last = layer(x)
        name = f"{kind} {keywords}"
        out.add(name, r, 4.0)
        for k, a in enumerate(last if kind == "LSTM" else (last,)):
            out.add(f"{name}, last {k}", a, 4.0)
        out.grads(name, r, {"x": x, **dict(layer.named_parameters())}, dict.fromkeys(["x"], 100.0) | {
            k: 2000.0 for k, _ in layer.named_parameters()
        })  # fmt: skip
    for causal in (False, True):
        random = np.random.RandomState(12)
        given = {
            name: torch.from_numpy(random.uniform(-1, 1, (4, 70, 2, 16)).astype(np.float32)).requires_grad_()
            for name in "qkv"
        }
        r = F.scaled_dot_product_attention(*[a.transpose(1, 2) for a in given.values()], is_causal=causal)
        out.add(f"attention {causal}", r, 4.0)
        out.grads(f"attention {causal}", r, given, dict.fromkeys("qkv", 16.0))
    for dtype in (np.float32, np.float64):
        random = np.random.RandomState(13)
        x, w = (
            torch.from_numpy(random.uniform(-1, 1, s).astype(dtype)).requires_grad_() for s in ((200, 150), (260, 150))
        )
        for name, r in (("linear", F.linear(x, w)), ("matmul", x @ w.T), ("addmm", torch.addmm(w[:, 0], x, w.mT))):
            out.add(f"{name} {dtype.__name__}", r, 150.0)
            out.grads(f"{name} {dtype.__name__}", r, {"x": x, "w": w}, {"x": 260.0, "w": 200.0})
    for work in works(OPTIMIZERS):
        p = torch.nn.Parameter(torch.from_numpy(np.random.RandomState(7).uniform(-1, 1, (300, 200)).astype(np.float32)))
        optimizer = eval(f"torch.optim.{work.replace('(p', '([p]')}", {"torch": torch, "p": p})
        for k in range(7):
            p.grad = torch.from_numpy(np.random.RandomState(8 + k).uniform(-1, 1, p.shape).astype(np.float32))
            optimizer.step()
        out.add(f"optimizer {work}", p)


if __name__ == "__main__":
    asked: set[str] = set()
    kind: Any = Kernels
    if spec := os.environ.get("WENGERT_EMULATED"):
        sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
        import emulated

        kind = emulated.EmulatedKernels
        made = kind(spec, Path(sys.argv[1]).parent)
        for module in [m for name, m in list(sys.modules.items()) if name.startswith("wengert")]:
            if vars(module).get("kernels") is kernels:
                module.kernels = lambda: made  # type: ignore[attr-defined]
    find = kind.find

    def listening(self: Any, name: str) -> int | None:
        found = find(self, name)
        if found is not None:
            asked.add(name)
        return found

    kind.find = listening
    results = Results()
    run_elementwise(results, "float32")
    run_elementwise(results, "float64")
    run_special(results)
    run_windows(results)
    run_layers(results)
    np.savez(sys.argv[1], **{k.replace("/", "|"): v for k, v in results.arrays.items()})
    found = made if spec else kernels()
    sys.stdout.write(json.dumps({"kernels": sorted(asked), "variant": found and found.variant}))
