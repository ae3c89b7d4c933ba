"""A program in which rank 1 fails, in the way that is named: ``failing.py HOW [SECONDS]``."""

import os
import signal
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist

how = sys.argv[1]
dist.init_process_group("gloo", timeout=timedelta(seconds=float(sys.argv[2]) if len(sys.argv) > 2 else 60))
rank, attempt = dist.get_rank(), int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))
os.write(1, f"pid {os.getpid()} attempt {attempt}\n".encode())
if how == "restart" and attempt < 2:
    how = "raise"
if rank == 1:
    if how == "raise":
        raise ValueError("something is wrong here")
    if how == "exit":
        sys.exit(3)
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "leave":
        sys.exit()
    if how == "late":
        dist.barrier(dist.new_group([1], use_local_synchronization=True))
        signal.pause()
if how == "forever":
    if rank == 0:
        os.write(1, b"ready\n")
    while True:
        time.sleep(0.05)
t = torch.ones(3)
dist.all_reduce(t)  # the line that waits
os.write(1, f"sum {t[0].item()}\n".encode())
