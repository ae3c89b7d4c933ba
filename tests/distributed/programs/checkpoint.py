"""torch.distributed.checkpoint: an application's state in a folder, saved by two processes and read by two or one."""

import os
import tempfile

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.nn as nn
from torch.distributed.checkpoint.format_utils import dcp_to_torch_save
from torch.distributed.checkpoint.state_dict import get_model_state_dict, get_state_dict, set_state_dict
from torch.distributed.checkpoint.stateful import Stateful
from torch.nn.parallel import DistributedDataParallel as DDP


class AppState(Stateful):
    def __init__(self, model, optimizer=None):
        self.model, self.optimizer, self.epoch = model, optimizer, 0

    def state_dict(self):
        model_state_dict, optimizer_state_dict = get_state_dict(self.model, self.optimizer)
        return {"model": model_state_dict, "optim": optimizer_state_dict, "epoch": self.epoch}

    def load_state_dict(self, state_dict):
        self.epoch = state_dict["epoch"]
        set_state_dict(
            self.model, self.optimizer, model_state_dict=state_dict["model"], optim_state_dict=state_dict["optim"]
        )


def build(seed):
    torch.manual_seed(seed)
    model = DDP(nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2)))
    return model, torch.optim.Adam(model.parameters(), lr=0.01)


def train(model, optimizer, steps, seed):
    for step in range(steps):
        g = torch.Generator().manual_seed(seed + 10 * step + dist.get_rank())
        optimizer.zero_grad()
        loss = model(torch.randn(6, 4, generator=g)).square().mean()
        loss.backward()
        optimizer.step()
    return f"{loss.item():.5f}"


dist.init_process_group("gloo")
rank = dist.get_rank()
folder = [tempfile.mkdtemp()] if rank == 0 else [None]
dist.broadcast_object_list(folder, src=0)
path = os.path.join(folder[0], "step_3")
model, optimizer = build(0)
app = AppState(model, optimizer)
print(rank, train(model, optimizer, 3, 0))
app.epoch = 3
dcp.save({"app": app, "only": {f"rank{rank}": torch.full((2,), float(rank))}, "note": "x"}, checkpoint_id=path)
print(rank, train(model, optimizer, 2, 100))
again, other = build(1)
restored = AppState(again, other)
state = {"app": restored, "only": {"rank0": torch.zeros(2), "rank1": torch.zeros(2)}, "note": ""}
dcp.load(state, checkpoint_id=path)
print(rank, restored.epoch, state["only"], state["note"], sorted(get_model_state_dict(again))[:2])
print(rank, train(again, other, 2, 100))
dcp.save({"app": app}, storage_writer=dcp.FileSystemWriter(path))
for wrong in ({"nothing": torch.zeros(1)}, {"app": {"model": {"0.weight": torch.zeros(3, 3)}}}):
    try:
        dcp.load(wrong, checkpoint_id=path)
    except dcp.CheckpointException as error:
        print(rank, sorted(error.failures), {type(e).__name__: str(e) for e, _ in error.failures.values()})
dist.barrier()
if rank == 0:
    dcp_to_torch_save(path, os.path.join(folder[0], "whole.pt"))
    whole = torch.load(os.path.join(folder[0], "whole.pt"), weights_only=True)
    print(
        sorted(whole),
        sorted(whole["app"]),
        whole["app"]["epoch"],
        sorted(whole["app"]["model"])[:3],
        whole["app"]["optim"]["param_groups"][0]["params"],
    )
part = {"app": {"epoch": 0, "extra": 5}}
dcp.load(part, checkpoint_id=path, planner=dcp.DefaultLoadPlanner(allow_partial_load=True))
print(rank, part)
dist.barrier()
future = dcp.async_save({"x": torch.arange(3.0), "list": [torch.ones(1), 2]}, checkpoint_id=path + "b")
future.result()
read = {"x": torch.zeros(3), "list": [torch.zeros(1), 0]}
dcp.load(read, checkpoint_id=path + "b")
print(rank, read)
dist.destroy_process_group()
