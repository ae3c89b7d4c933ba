"""Uneven inputs: the join context of a wrapper, of a wrapper with ZeRO, and a joinable of one's own."""

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.algorithms.join import Join, Joinable, JoinHook
from torch.distributed.optim import ZeroRedundancyOptimizer as ZeRO
from torch.nn.parallel import DistributedDataParallel as DDP

NUM_INPUTS = 5


def with_ddp(rank, **options):
    torch.manual_seed(0)
    model = DDP(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2, eps=0.1)), bucket_cap_mb=0.00001)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    inputs = [torch.tensor([[1.0, float(i)], [2.0, 1.0]]) for i in range(NUM_INPUTS + rank)]
    num_inputs = 0
    with model.join(**options):
        for input in inputs:
            num_inputs += 1
            optimizer.zero_grad()
            loss = (model(input) * torch.tensor([[1.0, 2.0], [3.0, -1.0]])).sum()
            loss.backward()
            optimizer.step()
            print(f"rank {rank} loss {loss.item():.4f}")
    print(f"Rank {rank} has exhausted all {num_inputs} of its inputs! {options}")
    print(rank, [f"{p.sum().item():.4f}" for p in model.parameters()], f"{model.module[1].running_var.sum():.3f}")


def with_zero(rank):
    torch.manual_seed(0)
    model = DDP(nn.Linear(1, 1), find_unused_parameters=True)
    optim = ZeRO(model.parameters(), torch.optim.Adam, lr=0.01)
    inputs = [torch.tensor([float(i + 1)]) for i in range(NUM_INPUTS + rank)]
    with Join([model, optim]):
        for input in inputs:
            loss = model(input).sum()
            loss.backward()
            optim.step()
    print(f"rank {rank}", [f"{p.item():.6f}" for p in model.parameters()])


class CounterJoinHook(JoinHook):
    def __init__(self, counter, sync_max_count):
        self.counter = counter
        self.sync_max_count = sync_max_count

    def main_hook(self):
        dist.all_reduce(torch.zeros(1))

    def post_hook(self, is_last_joiner):
        if self.sync_max_count:
            rank = torch.tensor([dist.get_rank(self.counter.process_group) if is_last_joiner else -1])
            dist.all_reduce(rank, op=dist.ReduceOp.MAX)
            self.counter.max_count = self.counter.count.clone()
            dist.broadcast(self.counter.max_count, src=int(rank.item()))


class Counter(Joinable):
    def __init__(self):
        super().__init__()
        self.process_group = dist.group.WORLD
        self.count = torch.zeros(1)
        self.max_count = torch.zeros(1)

    def __call__(self):
        Join.notify_join_context(self)
        t = torch.ones(1)
        dist.all_reduce(t)
        self.count += t

    def join_hook(self, **kwargs):
        return CounterJoinHook(self, kwargs.get("sync_max_count", False))

    @property
    def join_device(self):
        return torch.device("cpu")

    @property
    def join_process_group(self):
        return self.process_group


def with_counter(rank):
    counter = Counter()
    with Join([counter], sync_max_count=True):
        for _ in range(NUM_INPUTS + 3 * rank):
            counter()
    print(f"{int(counter.count.item())} inputs processed before rank {rank} joined!")
    print(f"{int(counter.max_count.item())} inputs processed across all ranks!")


def early(rank):
    model = DDP(nn.Linear(1, 1))
    try:
        with model.join(throw_on_early_termination=True):
            for i in range(2 + rank):
                model(torch.ones(1, 1)).sum().backward()
                print("early", rank, i)
    except RuntimeError as error:
        print(rank, error)


dist.init_process_group("gloo")
rank = dist.get_rank()
with_ddp(rank)
with_ddp(rank, divide_by_initial_world_size=False)
with_ddp(rank=0, enable=False)
with_zero(rank)
with_counter(rank)
early(rank)
dist.barrier()
dist.destroy_process_group()
