"""Digits on several processes: a CNN, a sampler with epochs, an evaluation that is summed over the processes."""

import argparse
import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, 1)
        self.bn = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 16, 3, 1)
        self.fc1 = nn.Linear(16 * 4 * 4, 32)
        self.fc2 = nn.Linear(32, 10)

    def forward(self, x):
        x = F.relu(self.bn(self.conv1(x)))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = torch.flatten(x, 1)
        return F.log_softmax(self.fc2(F.relu(self.fc1(x))), dim=1)


def digits(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 10, (n,), generator=g)
    x = torch.rand(n, 1, 12, 12, generator=g) * 0.2
    for i, label in enumerate(y.tolist()):
        x[i, 0, label, :] += 1.0
        x[i, 0, :, 11 - label] += 0.5
    return TensorDataset(x, y)


def train(args, model, loader, optimizer, epoch, rank):
    model.train()
    for batch_idx, (data, target) in enumerate(loader):
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()
        if rank == 0 and batch_idx % args.log_interval == 0:
            print(f"Train Epoch: {epoch} [{batch_idx * len(data)}/{len(loader.dataset)}]\tLoss: {loss.item():.5f}")


def test(model, loader, rank):
    model.eval()
    totals = torch.zeros(3, dtype=torch.float64)
    with torch.no_grad():
        for data, target in loader:
            output = model(data)
            totals[0] += F.nll_loss(output, target, reduction="sum").item()
            totals[1] += output.argmax(1).eq(target).sum().item()
            totals[2] += len(target)
    dist.all_reduce(totals, op=dist.ReduceOp.SUM)
    if rank == 0:
        print(f"Test set: Average loss: {totals[0] / totals[2]:.4f}, Accuracy: {int(totals[1])}/{int(totals[2])}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--log-interval", type=int, default=2)
    args = parser.parse_args([])
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(1 + rank)
    model = DDP(Net())
    optimizer = optim.Adadelta(model.parameters(), lr=1.0)
    scheduler = StepLR(optimizer, step_size=1, gamma=0.7)
    train_set, test_set = digits(96, 0), digits(32, 1)
    sampler = DistributedSampler(train_set, num_replicas=world_size, rank=rank, shuffle=True)
    test_sampler = DistributedSampler(test_set, shuffle=False)
    train_loader = DataLoader(train_set, batch_size=12, sampler=sampler)
    test_loader = DataLoader(test_set, batch_size=16, sampler=test_sampler)
    for epoch in range(1, args.epochs + 1):
        sampler.set_epoch(epoch)
        train(args, model, train_loader, optimizer, epoch, rank)
        test(model, test_loader, rank)
        scheduler.step()
    print(
        rank,
        f"{sum(p.double().abs().sum().item() for p in model.parameters()):.4f}",
        f"{model.module.bn.running_mean.sum().item():.5f}",
        os.environ["WORLD_SIZE"],
    )
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
