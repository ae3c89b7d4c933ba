"""A program with a launcher as an object: what a function returns in each process, and its failure."""

import os
import sys

import torch
import torch.distributed as dist
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
from torch.distributed.launcher.api import LaunchConfig, elastic_launch


def train(x):
    dist.init_process_group("gloo")
    t = torch.ones(1) * x * (dist.get_rank() + 1)
    dist.all_reduce(t)
    if x < 0 and dist.get_rank() == 1:
        raise ValueError("negative")
    dist.destroy_process_group()
    return t.item(), os.environ["LOCAL_RANK"], os.environ["TORCHELASTIC_RESTART_COUNT"]


if __name__ == "__main__":
    config = LaunchConfig(
        min_nodes=1, max_nodes=1, nproc_per_node=2, rdzv_backend="c10d", rdzv_endpoint="localhost:0", run_id="run",
        max_restarts=1,
    )  # fmt: skip
    sys.stdout.write(f"{elastic_launch(config, train)(2)}\n")
    try:
        elastic_launch(config, train)(-2)
    except ChildFailedError as error:
        rank, failure = error.get_first_failure()
        sys.stdout.write(f"{error.name} {rank} {failure.exitcode} {failure.message['message']}\n")
