"""A small GPT learns to write like this project's documents, letter by letter.

    python examples/char_gpt.py

Two transformer blocks with causal attention, trained with AdamW on README.md and docs/*.md; then it writes by itself.
(Radford et al. 2018)
"""

from pathlib import Path

from common import curves, options, progress

import wengert as torch
import wengert.nn.functional as F
from wengert import nn

ROOT = Path(__file__).resolve().parent.parent


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, time, width = x.shape
        split = (batch, time, self.heads, width // self.heads)
        q, k, v = (t.view(split).transpose(1, 2) for t in self.qkv(self.before_attention(x)).chunk(3, dim=-1))
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, time, width))
        return x + self.mlp(self.before_mlp(x))


class GPT(nn.Module):
    def __init__(self, letters, context, width=64, heads=4, layers=2):
        super().__init__()
        self.context = context
        self.letter, self.place = nn.Embedding(letters, width), nn.Embedding(context, width)
        self.blocks = nn.Sequential(*[Block(width, heads) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, letters, bias=False)

    def forward(self, letters):
        x = self.letter(letters) + self.place(torch.arange(letters.shape[1]))
        return self.head(self.norm(self.blocks(x)))

    @torch.no_grad()
    def write(self, letters, count, temperature=0.8):
        """``letters``, of shape (1, time), followed by letters drawn one by one from the model's distribution."""
        for _ in range(count):
            logits = self(letters[:, -self.context :])[:, -1] / temperature
            letters = torch.cat([letters, torch.multinomial(F.softmax(logits, dim=-1), 1)], dim=1)
        return letters


def main():
    chosen = options(__doc__, steps={"type": int, "default": 300})
    torch.manual_seed(0)
    files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "docs" / "errors.md"]
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    alphabet = sorted(set(text))
    code = {letter: i for i, letter in enumerate(alphabet)}
    data = torch.tensor([code[letter] for letter in text])
    print(f"{len(text)} letters of {len(alphabet)} kinds")

    model = GPT(len(alphabet), context=48)
    print(f"{sum(p.numel() for p in model.parameters())} parameters")
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, chosen.steps, eta_min=3e-4)
    losses = []
    for step in progress(chosen.steps, "learning"):
        starts = torch.randint(len(data) - model.context - 1, (16, 1)) + torch.arange(model.context + 1)
        window = data[starts]
        loss = F.cross_entropy(model(window[:, :-1]).flatten(0, 1), window[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if step % 30 == 29 or step + 1 == chosen.steps:
            print(f"step {step + 1:3}: loss {sum(losses[-30:]) / len(losses[-30:]):.3f}")

    written = model.write(data[None, :1], 200)[0]
    print("".join(alphabet[i] for i in written.tolist()))
    curves(chosen.out / "char_gpt.svg", {"loss": losses}, "A small GPT on this project's documents", ("step", "loss"))


if __name__ == "__main__":
    main()
