"""Gradient accumulation: all but the last micro-batch stay on their process."""

from contextlib import nullcontext

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP


def run(accumulate, **options):
    torch.manual_seed(0)
    model = DDP(nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 3)), **options)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05, weight_decay=0.01)
    rank = dist.get_rank()
    for step in range(4):
        g = torch.Generator().manual_seed(100 * step + rank)
        inputs, labels = torch.randn(8, 6, generator=g), torch.randint(0, 3, (8,), generator=g)
        optimizer.zero_grad(set_to_none=step % 2 == 0)
        total = 0.0
        parts = list(zip(inputs.chunk(accumulate), labels.chunk(accumulate)))
        for i, (x, y) in enumerate(parts):
            with model.no_sync() if i + 1 < len(parts) else nullcontext():
                loss = nn.functional.cross_entropy(model(x), y) / accumulate
                loss.backward()
                total += loss.item()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        print(f"rank {rank} accumulate {accumulate} step {step} loss {total:.6f} norm {norm:.6f}")


dist.init_process_group("gloo")
run(1)
run(4)
run(4, gradient_as_bucket_view=True)
run(1, static_graph=True)
run(2, find_unused_parameters=True, bucket_cap_mb=0.0001)
dist.destroy_process_group()
