"""Ranks that the program starts itself: ``started.py HOW WHERE START``; each prints what an all_reduce gives."""

import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def rank(r, n, how, where):
    if how == "env":
        os.environ.update(MASTER_ADDR="localhost", MASTER_PORT=where)
        dist.init_process_group("gloo", rank=r, world_size=n)
    elif how == "store":
        dist.init_process_group("gloo", rank=r, world_size=n, store=dist.TCPStore("localhost", int(where), n, r == 0))
    else:
        dist.init_process_group("gloo", init_method=where, rank=r, world_size=n)
    t = torch.ones(1) * (r + 1)
    dist.all_reduce(t)
    if "fail" in sys.argv and r == 1:
        raise ValueError("rank 1 fails")
    if "fail" in sys.argv:
        dist.barrier()
    if "forever" in sys.argv:
        os.write(1, b"ready\n")
        while True:
            dist.barrier()
    os.write(1, f"rank {r} has {t.item()}\n".encode())
    dist.destroy_process_group()
    dist.init_process_group("gloo", rank=r, world_size=n, init_method="env://" if how == "env" else None,
                            store=None if how == "env" else dist.HashStore())  # fmt: skip
    dist.barrier()  # and the end comes without destroy_process_group


if __name__ == "__main__":
    how, where, start = sys.argv[1:4]
    if start == "spawn":
        mp.spawn(rank, args=(2, how, where), nprocs=2)
    else:
        ranks = [mp.get_context(start).Process(target=rank, args=(i, 2, how, where)) for i in range(2)]
        for process in ranks:
            process.start()
        for process in ranks:
            process.join()
        sys.exit(max(abs(process.exitcode) for process in ranks))
