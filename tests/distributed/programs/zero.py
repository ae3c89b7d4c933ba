"""ZeroRedundancyOptimizer beside the optimizer itself: the same parameters, its state in parts."""

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.optim as optim
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP


def example(rank, use_zero, **options):
    torch.manual_seed(0)
    model = nn.Sequential(*[nn.Linear(20, 20) for _ in range(5)])
    ddp_model = DDP(model)
    loss_fn = nn.MSELoss()
    if use_zero:
        optimizer = ZeroRedundancyOptimizer(
            ddp_model.parameters(), optimizer_class=torch.optim.Adam, lr=0.01, **options
        )
    else:
        optimizer = torch.optim.Adam(ddp_model.parameters(), lr=0.01)
    scheduler = optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    for step in range(3):
        torch.manual_seed(10 * step + rank)
        outputs = ddp_model(torch.randn(20, 20))
        labels = torch.randn(20, 20)
        optimizer.zero_grad()
        loss = loss_fn(outputs, labels)
        loss.backward()
        optimizer.step()
        scheduler.step()
        print(f"rank {rank} zero {use_zero} loss {loss.item():.6f} lr {optimizer.param_groups[0]['lr']:.6f}")
    print(f"params sum is: {sum(p.double().sum() for p in model.parameters()):.3f}")
    return ddp_model, optimizer


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    example(rank, False)
    model, optimizer = example(rank, True)
    example(rank, True, parameters_as_bucket_view=True)
    print("local parameters", sum(len(g["params"]) for g in optimizer.optim.param_groups), len(optimizer.optim.state))
    try:
        optimizer.state_dict()
    except RuntimeError as error:
        print(error)
    optimizer.consolidate_state_dict(to=0)
    if rank == 0:
        state = optimizer.state_dict()
        print(len(state["state"]), sorted(state["state"][0]), f"{state['state'][3]['exp_avg'].double().sum():.6f}")
    state = [optimizer.state_dict() if rank == 0 else None]
    dist.broadcast_object_list(state, src=0)
    again = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.Adam, lr=0.5)
    again.load_state_dict(state[0])
    print(again.param_groups[0]["lr"] < 0.01, len(again.optim.state))
    again.add_param_group({"params": [nn.Parameter(torch.ones(4))], "lr": 0.1})
    print([len(g["params"]) for g in again.optim.param_groups], len(again.param_groups))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
