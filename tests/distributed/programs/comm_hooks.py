"""Communication hooks: PyTorch's and one's own."""

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.algorithms.ddp_comm_hooks import DDPCommHookType, default_hooks, register_ddp_comm_hook
from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as powerSGD
from torch.nn.parallel import DistributedDataParallel as DDP


def train(name, register, steps=5, cap=0.004):
    torch.manual_seed(0)
    model = DDP(
        nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 4)), bucket_cap_mb=cap
    )
    register(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for step in range(steps):
        g = torch.Generator().manual_seed(50 * step + dist.get_rank())
        x, y = torch.randn(8, 16, generator=g), torch.randint(0, 4, (8,), generator=g)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(f"{loss.item():.4f}")
    print(name, dist.get_rank(), *losses)


class Counting:
    def __init__(self):
        self.seen = []


def own_hook(state: Counting, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    state.seen.append((bucket.index(), bucket.is_last(), bucket.buffer().numel(), len(bucket.gradients())))
    fut = dist.all_reduce(bucket.buffer(), async_op=True).get_future()

    def average(fut):
        return fut.value()[0] / dist.get_world_size()

    return fut.then(average)


def no_wait_hook(state, bucket):
    tensor = bucket.buffer().div_(dist.get_world_size())
    dist.all_reduce(tensor)
    future = torch.futures.Future()
    future.set_result(tensor)
    return future


dist.init_process_group("gloo")
train("none", lambda model: None)
train("allreduce", lambda model: model.register_comm_hook(None, default_hooks.allreduce_hook))
train("fp16", lambda model: model.register_comm_hook(dist.group.WORLD, default_hooks.fp16_compress_hook))
train(
    "wrapped",
    lambda model: model.register_comm_hook(None, default_hooks.fp16_compress_wrapper(default_hooks.allreduce_hook)),
)
counting = Counting()
train("own", lambda model: model.register_comm_hook(counting, own_hook))
print(counting.seen)
train("no wait", lambda model: model.register_comm_hook(None, no_wait_hook))
train("by type", lambda model: register_ddp_comm_hook(DDPCommHookType.FP16_COMPRESS, model, None))
train("builtin", lambda model: model._register_builtin_comm_hook(dist.BuiltinCommHookType.FP16_COMPRESS))
for rank in (1, 3):
    for options in ({}, {"warm_start": False, "use_error_feedback": False}, {"batch_tensors_with_same_shape": True}):
        state = powerSGD.PowerSGDState(
            process_group=None,
            matrix_approximation_rank=rank,
            start_powerSGD_iter=2,
            orthogonalization_epsilon=1e-6,
            **options,
        )
        train(
            f"powerSGD {rank} {options}",
            lambda model, state=state: model.register_comm_hook(state, powerSGD.powerSGD_hook),
            cap=25,
        )
        print([round(float(x), 4) for x in state.compression_stats()], state.iter)
dist.destroy_process_group()
