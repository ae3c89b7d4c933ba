"""Two wrapped models that take turns: each is used in the other's loss, with one pair of passes before a step."""

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(2)
generator = DDP(nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.LeakyReLU(0.2), nn.Linear(16, 2)))
discriminator = DDP(nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1)))
opt_g = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(discriminator.parameters(), lr=2e-3, betas=(0.5, 0.999))
criterion = nn.BCEWithLogitsLoss()
for step in range(5):
    g = torch.Generator().manual_seed(1000 * rank + step)
    real = torch.randn(16, 2, generator=g) * 0.5 + 2
    noise = torch.randn(16, 4, generator=g)
    fake = generator(noise)
    opt_d.zero_grad()
    loss_d = criterion(discriminator(real), torch.ones(16, 1))
    loss_d = loss_d + criterion(discriminator(fake.detach()), torch.zeros(16, 1))
    loss_d.backward()
    opt_d.step()
    opt_g.zero_grad()
    loss_g = criterion(discriminator(fake), torch.ones(16, 1))
    loss_g.backward()
    opt_g.step()
    print(f"[{rank}] {step} D {loss_d.item():.5f} G {loss_g.item():.5f}")
print(rank, [f"{m.module[0].weight.sum().item():.5f}" for m in (generator, discriminator)])
dist.destroy_process_group()
