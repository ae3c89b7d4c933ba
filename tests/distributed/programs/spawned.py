"""A program that starts its processes itself, saves what it trained, and loads it in each."""

import os
import socket
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.optim as optim
from torch.nn.parallel import DistributedDataParallel as DDP


class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1, self.relu, self.net2 = nn.Linear(10, 10), nn.ReLU(), nn.Linear(10, 5)

    def forward(self, x):
        return self.net2(self.relu(self.net1(x)))


def setup(rank, world_size, port):
    os.environ["MASTER_ADDR"] = "localhost"
    os.environ["MASTER_PORT"] = str(port)
    dist.init_process_group("gloo", rank=rank, world_size=world_size)


def demo_checkpoint(rank, world_size, port, path):
    setup(rank, world_size, port)
    torch.manual_seed(rank)
    ddp_model = DDP(ToyModel())
    if rank == 0:
        torch.save(ddp_model.state_dict(), path)
    dist.barrier()
    ddp_model.load_state_dict(torch.load(path, map_location={"cuda:0": f"cuda:{rank}"}, weights_only=True))
    loss_fn, optimizer = nn.MSELoss(), optim.SGD(ddp_model.parameters(), lr=0.001)
    optimizer.zero_grad()
    torch.manual_seed(10 + rank)
    loss = loss_fn(ddp_model(torch.randn(20, 10)), torch.randn(20, 5))
    loss.backward()
    optimizer.step()
    mean = torch.tensor([loss.item()])
    dist.all_reduce(mean)
    dist.barrier()
    if rank == 0:
        os.remove(path)
        print(f"mean loss {mean.item() / world_size:.5f}, {ddp_model.module.net2.bias.grad.norm().item():.5f}")
        sys.stdout.flush()
    dist.destroy_process_group()


def run_demo(demo_fn, world_size):
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    path = os.path.join(tempfile.mkdtemp(), "model.checkpoint")
    mp.spawn(demo_fn, args=(world_size, port, path), nprocs=world_size, join=True)


if __name__ == "__main__":
    run_demo(demo_checkpoint, 2)
