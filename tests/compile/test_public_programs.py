"""Programs as they are published, with the forms of ``torch.compile`` that they use: they do what eager does."""
# ruff: noqa: T201  what programs print is compared

from __future__ import annotations

import contextlib
import io
import os
from typing import Any

import pytest

import wengert as torch
from wengert import nn
from wengert._compile import c
from wengert._compile.dispatch import Compiled
from wengert.nn import functional as F

FORMS: list[dict[str, Any]] = [
    {},
    {"mode": "reduce-overhead"},
    {"mode": "max-autotune", "dynamic": True},
    {"dynamic": False, "fullgraph": False},
    {"backend": "numpy"},
]


class Attention(nn.Module):
    def __init__(self, width: int, heads: int, block: int, dropout: float) -> None:
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.n_head, self.n_embd, self.dropout = heads, width, dropout
        self.flash = hasattr(F, "scaled_dot_product_attention")
        self.register_buffer("bias", torch.tril(torch.ones(block, block)).view(1, 1, block, block))

    def forward(self, x: Any) -> Any:
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        q, k, v = (t.view(B, T, self.n_head, C // self.n_head).transpose(1, 2) for t in (q, k, v))
        if self.flash:
            y = F.scaled_dot_product_attention(
                q, k, v, attn_mask=None, dropout_p=self.dropout if self.training else 0, is_causal=True
            )
        else:
            raise AssertionError
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


class Block(nn.Module):
    def __init__(self, width: int, heads: int, block: int) -> None:
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = Attention(width, heads, block, 0.0)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(0.1))

    def forward(self, x: Any) -> Any:
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, vocabulary: int = 17, block: int = 8, width: int = 16) -> None:
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, width), nn.Embedding(block, width)
        self.h = nn.ModuleList([Block(width, 2, block) for _ in range(2)])
        self.ln_f, self.lm_head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)
        self.wte.weight = self.lm_head.weight

    def forward(self, idx: Any, targets: Any = None) -> Any:
        pos = torch.arange(0, idx.size(1), dtype=torch.long)
        x = self.wte(idx) + self.wpe(pos)
        for block in self.h:
            x = block(x)
        x = self.ln_f(x)
        if targets is None:
            return self.lm_head(x[:, [-1], :]), None
        logits = self.lm_head(x)
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)


def gpt_training(compiling: Any, found: list[float]) -> None:
    model = GPT()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, betas=(0.9, 0.95))
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    model = compiling(model)
    data = torch.randint(0, 17, (4, 9))
    x, y = data[:, :-1].contiguous(), data[:, 1:].contiguous()
    for step in range(4):
        for group in optimizer.param_groups:
            group["lr"] = 1e-2 / (step + 1)
        for _ in range(2):
            _, loss = model(x, y)
            scaler.scale(loss / 2).backward()
        scaler.unscale_(optimizer)
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
        found += [loss.item(), float(norm)]
    model.eval()
    with torch.no_grad():
        idx = data[:1, :3]
        for _ in range(4):
            logits, _ = model(idx[:, -8:])
            idx = torch.cat((idx, logits[:, -1, :].argmax(-1, keepdim=True)), dim=1)
    found += logits.flatten().tolist()
    print(sorted(k.replace("_orig_mod.", "") for k in model.state_dict())[:3])


def breaks(compiling: Any, found: list[float]) -> None:
    @compiling
    def by_print(x: Any) -> Any:
        y = x.sin()
        print("shape", tuple(y.shape))
        return y.cos()

    @compiling
    def by_item(x: Any) -> Any:
        n = int(x.abs().max().item() * 10)
        return x * n

    @compiling
    def by_data(x: Any) -> Any:
        if x.sum() > 0:
            return x - 1
        return x + 1

    for sign in (1, -1, 1):
        x = torch.linspace(0.1, 1, 5) * sign
        for fn in (by_print, by_item, by_data):
            found += fn(x).tolist()


def left_out(compiling: Any, found: list[float]) -> None:
    torch._dynamo.config.cache_size_limit = 64
    torch._dynamo.config.suppress_errors = True

    @torch.compiler.disable
    def seen(x: Any) -> Any:
        print(torch.compiler.is_compiling())
        return x * 2

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Linear(4, 4), nn.BatchNorm1d(4)

        def forward(self, x: Any) -> Any:
            return self.b(seen(F.silu(self.a(x))))

    net = Net()
    made = compiling(net)
    for rows in (3, 5, 2, 3):
        y = made(torch.randn(rows, 4))
        y.pow(2).sum().backward()
        print(int(net.b.num_batches_tracked))
        found += [*y[0].tolist(), *net.a.weight.grad.flatten().tolist()]
    net.eval()
    torch._dynamo.mark_dynamic(x := torch.ones(6, 4), 0)
    found += made(x).flatten().tolist()


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        given = os.environ.get("WENGERT_CACHE_DIR")
        patch.setenv("WENGERT_CACHE_DIR", given or str(tmp_path_factory.mktemp("cache") / "c"))
        yield


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("program", [gpt_training, breaks, left_out])
def test_it_does_what_eager_does(program: Any, form: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = Compiled._recorded

    def waited(self: Any, *args: Any) -> Any:
        out = recorded(self, *args)
        c.wait()
        return out

    monkeypatch.setattr(Compiled, "_recorded", waited)
    for name in ("cache_size_limit", "suppress_errors"):
        monkeypatch.setattr(torch._dynamo.config, name, getattr(torch._dynamo.config, name))
    said, values = [], []
    for compiling in (lambda f: f, lambda f: torch.compile(f, **form)):
        torch._dynamo.reset()
        torch.manual_seed(1)
        found: list[float] = []
        with contextlib.redirect_stdout(io.StringIO()) as text:
            program(compiling, found)
        said.append(text.getvalue())
        values.append(found)
    assert said[0] == said[1] and said[0]
    assert values[1] == pytest.approx(values[0], rel=2e-3, abs=2e-3)
