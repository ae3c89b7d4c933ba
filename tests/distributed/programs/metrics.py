"""An evaluation whose predictions are collected: tensors, objects, a reduction to one process, a padded gather."""

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def gather_uneven(tensor):
    sizes = [torch.zeros(1, dtype=torch.long) for _ in range(dist.get_world_size())]
    dist.all_gather(sizes, torch.tensor([len(tensor)]))
    largest = max(int(s) for s in sizes)
    padded = torch.zeros(largest, *tensor.shape[1:], dtype=tensor.dtype)
    padded[: len(tensor)] = tensor
    parts = [torch.empty_like(padded) for _ in sizes]
    dist.all_gather(parts, padded)
    return torch.cat([part[: int(s)] for part, s in zip(parts, sizes)])


class AverageMeter:
    def __init__(self):
        self.sum, self.count = 0.0, 0

    def update(self, value, n):
        self.sum, self.count = self.sum + value * n, self.count + n

    def all_reduce(self):
        total = torch.tensor([self.sum, self.count], dtype=torch.float64)
        dist.all_reduce(total, dist.ReduceOp.SUM, async_op=False)
        self.sum, self.count = total.tolist()
        return self.sum / self.count


dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
data = TensorDataset(torch.randn(37, 5), torch.randint(0, 3, (37,)))
model = DDP(nn.Linear(5, 3))
for drop_last in (False, True):
    sampler = DistributedSampler(data, shuffle=True, seed=3, drop_last=drop_last)
    orders = []
    for epoch in range(3):
        sampler.set_epoch(epoch)
        orders.append(list(sampler)[:6])
    print(rank, len(sampler), orders)
loader = DataLoader(data, batch_size=4, sampler=DistributedSampler(data, shuffle=False), num_workers=0)
meter, predictions = AverageMeter(), []
model.eval()
with torch.inference_mode():
    for x, y in loader:
        out = model(x)
        meter.update(nn.functional.cross_entropy(out, y).item(), len(x))
        predictions.append(out.argmax(1))
predictions = torch.cat(predictions)[: 10 + rank]
print(rank, f"{meter.all_reduce():.6f}", meter.count, gather_uneven(predictions).tolist())
objects = [None] * world
dist.all_gather_object(objects, {"rank": rank, "correct": int((predictions == 0).sum())})
print(rank, objects)
confusion = torch.bincount(predictions, minlength=3)
dist.reduce(confusion, dst=0)
if rank == 0:
    print(confusion.tolist())
best = torch.tensor([0.5 + rank, -rank], dtype=torch.float32)
dist.all_reduce(best, op=dist.ReduceOp.MAX)
print(rank, best.tolist())
dist.destroy_process_group()
