"""A loader with worker processes, which are forked from a process that has joined MPI."""

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

if __name__ == "__main__":
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    ds = TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
    s = DistributedSampler(ds)
    dl = DataLoader(ds, batch_size=8, sampler=s, num_workers=2, persistent_workers=True)
    m = DDP(nn.Linear(4, 1))
    o = torch.optim.SGD(m.parameters(), lr=0.1)
    for e in range(2):
        s.set_epoch(e)
        for x, y in dl:
            o.zero_grad()
            l = nn.functional.mse_loss(m(x), y)
            l.backward()
            o.step()
    print(dist.get_rank(), f"{l.item():.5f} {m.module.weight.sum().item():.5f}")
    dist.destroy_process_group()
