"""Models that do not use all parameters: on one process, on none, and in changing branches."""

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(4, 4)
        self.left, self.right, self.never = nn.Linear(4, 2), nn.Linear(4, 2), nn.Linear(4, 2)

    def forward(self, x, left):
        x = self.stem(x).relu()
        return {"out": self.left(x) if left else self.right(x), "aux": [x.mean()]}


def grads(model):
    return {n: None if p.grad is None else f"{p.grad.sum().item():.5f}" for n, p in model.module.named_parameters()}


dist.init_process_group("gloo")
rank = dist.get_rank()
for options in ({}, {"gradient_as_bucket_view": True}, {"bucket_cap_mb": 0.00001}):
    torch.manual_seed(0)
    model = DDP(Branches(), find_unused_parameters=True, **options)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for step, left in enumerate((True, rank == 0, False, rank == 1)):
        optimizer.zero_grad()
        torch.manual_seed(step + 10 * rank)
        out = model(torch.randn(3, 4), left)
        loss = out["out"].square().mean() + 0.1 * out["aux"][0]
        loss.backward()
        optimizer.step()
        print(rank, step, f"{loss.item():.5f}", grads(model))

# a result that the loss does not need; accumulation where a parameter is used on one process in one part only
model = DDP(Branches(), find_unused_parameters=True)
nn.init.constant_(model.module.stem.weight, 0.5)
with model.no_sync():
    model(torch.ones(1, 4), rank == 0)["out"].sum().backward()
model(torch.ones(1, 4), True)["aux"][0].backward()
print(rank, [n for n, p in model.module.named_parameters() if p.grad is None])

static = DDP(Branches(), static_graph=True)
for _ in range(4):
    for p in static.parameters():
        p.grad = None
    static(torch.ones(2, 4), True)["out"].sum().backward()
    print(rank, [n for n, p in static.module.named_parameters() if p.grad is None])

strict = DDP(Branches())
try:
    for _ in range(2):
        strict(torch.ones(2, 4), True)["out"].sum().backward()
except RuntimeError as error:
    print(rank, str(error).splitlines()[0][:160])
dist.destroy_process_group()
