"""What PyTorch's processes without GPUs do not do: SyncBatchNorm beside one process, sums of hooks that wait."""

import copy

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as powerSGD
from torch.distributed.algorithms.ddp_comm_hooks.ddp_zero_hook import hook_with_zero_step
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.nn.parallel.distributed import _MixedPrecision


def sync_batch_norm(shape, sizes, dtype=torch.float64, **options):
    """SyncBatchNorm on parts of a batch and BatchNorm on the whole: results, gradients, statistics."""
    torch.manual_seed(0)
    whole = torch.randn(sum(sizes), *shape, dtype=dtype)
    grad = torch.randn_like(whole)
    plain = {1: nn.BatchNorm1d, 2: nn.BatchNorm1d, 3: nn.BatchNorm2d, 4: nn.BatchNorm3d}[len(shape)]
    one = plain(shape[0], dtype=dtype, **options)
    if one.weight is not None:
        nn.init.uniform_(one.weight)
    other = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(plain(shape[0], dtype=dtype, **options)))[0]
    assert type(other) is nn.SyncBatchNorm, type(other)
    other.load_state_dict(one.state_dict())
    other = other.to(dtype)
    start = sum(sizes[: dist.get_rank()])
    own = slice(start, start + sizes[dist.get_rank()])
    for _ in range(2):
        x, part = whole.clone().requires_grad_(), whole[own].clone().requires_grad_()
        expected, result = one(x), other(part)
        expected.backward(grad)
        result.backward(grad[own])
    torch.testing.assert_close(result, expected[own])
    torch.testing.assert_close(part.grad, x.grad[own])
    for (name, p), q in zip(one.named_parameters(), other.parameters()):
        total = q.grad.clone() if q.grad is not None else torch.zeros_like(q)
        dist.all_reduce(total)
        torch.testing.assert_close(total, p.grad, msg=name)
    for (name, p), q in zip(one.named_buffers(), other.buffers()):
        torch.testing.assert_close(q, p, msg=name)
    if one.running_mean is not None:
        other.eval()
        one.eval()
        torch.testing.assert_close(other(part), one(x)[own])


def in_a_wrapper():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten(), nn.Linear(12, 2))
    wrapped = DDP(nn.SyncBatchNorm.convert_sync_batchnorm(model))
    torch.manual_seed(5)
    x, target = torch.randn(8, 1, 4, 4), torch.randint(0, 2, (8,))
    one = nn.Sequential(nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten(), nn.Linear(12, 2))
    one.load_state_dict({n.removeprefix("module."): v.clone() for n, v in wrapped.state_dict().items()})
    nn.functional.cross_entropy(one(x), target).backward()
    half = slice(4 * dist.get_rank(), 4 * dist.get_rank() + 4)
    nn.functional.cross_entropy(wrapped(x[half]), target[half]).backward()
    for p, q in zip(one.parameters(), wrapped.parameters()):
        torch.testing.assert_close(q.grad, p.grad, rtol=1e-4, atol=1e-6)


def power_sgd_in_buckets():
    """Hooks of several buckets that wait for sums inside of callbacks: under gloo they wait for each other."""
    for hook, rank in ((powerSGD.powerSGD_hook, 2), (powerSGD.batched_powerSGD_hook, 1)):
        torch.manual_seed(0)
        model = DDP(nn.Sequential(*[nn.Linear(16, 16) for _ in range(4)]), bucket_cap_mb=0.001)
        state = powerSGD.PowerSGDState(None, matrix_approximation_rank=rank, start_powerSGD_iter=2)
        model.register_comm_hook(state, hook)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        first = None
        for _ in range(6):
            g = torch.Generator().manual_seed(dist.get_rank())
            loss = model(torch.randn(8, 16, generator=g)).square().mean()
            first = first or loss.item()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        same = torch.stack([p.detach().double().sum() for p in model.parameters()])
        other = same.clone()
        dist.broadcast(other, src=0)
        assert torch.equal(same, other)
        assert loss.item() < first, (loss.item(), first)


def bfloat16():
    model = DDP(nn.Linear(2, 2))
    model.register_comm_hook(None, default_hooks.bf16_compress_hook)
    model(torch.ones(1, 2) * (1 + dist.get_rank())).sum().backward()
    assert model.module.weight.grad.tolist() == [[1.5, 1.5]] * 2
    half = DDP(nn.Linear(2, 2).to(torch.bfloat16))
    half(torch.ones(1, 2, dtype=torch.bfloat16) * (1 + dist.get_rank())).sum().backward()
    assert half.module.weight.grad.tolist() == [[1.5, 1.5]] * 2 and half.module.weight.grad.dtype is torch.bfloat16


def nothing_left():
    """A wrapper that is gone leaves no hooks: the next one of the same module reduces once."""
    module = nn.Linear(2, 1, bias=False)
    for _ in range(3):
        wrapped = DDP(module)
        module.weight.grad = None
        wrapped(torch.ones(1, 2) * (1 + dist.get_rank())).sum().backward()
        assert module.weight.grad.tolist() == [[1.5, 1.5]]
        del wrapped
    module.weight.grad = None
    module(torch.ones(1, 2) * (1 + dist.get_rank())).sum().backward()
    assert module.weight.grad.tolist() == [[1.0 + dist.get_rank()] * 2]


def other_shapes():
    """Models that differ are an error on every process."""
    try:
        DDP(nn.Linear(2, 2 + dist.get_rank()))
    except RuntimeError as error:
        text = str(error)
    else:
        raise AssertionError("no error")
    assert "[1]: params[0] in this process with sizes [3, 2] appears not to match" in text, text


def in_low_precision():
    """The forward pass in bfloat16, its gradients added up in float32: near those of float32, and the same on all."""
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
    exact = DDP(copy.deepcopy(module))
    policy = _MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.bfloat16, buffer_dtype=torch.bfloat16)
    model = DDP(module, mixed_precision=policy)
    x = torch.randn(6, 4, generator=torch.Generator().manual_seed(dist.get_rank()))
    assert model(x).dtype is torch.bfloat16
    model(x).float().pow(2).sum().backward()
    exact(x)
    exact(x).pow(2).sum().backward()
    for p, q in zip(model.parameters(), exact.parameters()):
        assert p.dtype is p.grad.dtype is torch.float32
        assert torch.equal(p.grad, p.grad.bfloat16().float())
        assert torch.allclose(p.grad, q.grad, rtol=0.1, atol=0.05), (p.grad, q.grad)
        first = p.grad.clone()
        dist.broadcast(first, 0)
        assert torch.equal(first, p.grad)
    assert all(p is q for p, q in zip(model.parameters(), module.parameters()))


def step_in_backward():
    """The third backward pass is the first that makes a step, and it is the optimizer's."""
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 2))
    plain, model = DDP(copy.deepcopy(module)), DDP(module)
    optimizer = torch.optim.Adam(plain.parameters(), lr=0.1)
    zero = ZeroRedundancyOptimizer(model.parameters(), torch.optim.Adam, overlap_with_ddp=True, lr=0.1)
    model.register_comm_hook(None, hook_with_zero_step(default_hooks.allreduce_hook, model, zero))
    x = torch.randn(6, 3, generator=torch.Generator().manual_seed(dist.get_rank()))
    for i in range(5):
        for one in (plain, model):
            one.zero_grad()
            one(x).pow(2).sum().backward()
        zero.step()
        if i > 1:
            optimizer.step()
        for p, q in zip(plain.parameters(), model.parameters()):
            assert torch.allclose(p, q, atol=1e-6), (i, p, q)


dist.init_process_group("gloo")
sync_batch_norm((3,), (4, 2))
sync_batch_norm((3, 5), (2, 3), momentum=None)
sync_batch_norm((3, 2, 4), (2, 0))
sync_batch_norm((2, 2, 2, 2), (1, 1), affine=False)
sync_batch_norm((3, 2, 4), (1, 4), torch.float32, track_running_stats=False)
for check in (
    in_a_wrapper,
    power_sgd_in_buckets,
    bfloat16,
    nothing_left,
    other_shapes,
    in_low_precision,
    step_in_backward,
):
    check()
print("all checks passed")
dist.destroy_process_group()
