"""What a wrapper is to its user: names, pickles, logging data, buffers, parameters that it leaves alone, errors."""

import copy
import io

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP


def tell(name, f):
    try:
        print(name, f())
    except (RuntimeError, ValueError, TypeError) as error:
        print(name, type(error).__name__, str(error).splitlines()[0])


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2)

    def forward(self, x, both=True):
        return self.a(x) + self.b(x) if both else self.a(x)


def x():
    return torch.ones(1, 2) * (1 + dist.get_rank())


def buckets():
    got = []
    model = DDP(nn.Sequential(nn.Linear(10, 10), nn.Linear(10, 1000), nn.Linear(1000, 10)), bucket_cap_mb=0.03)
    names = {id(p): n for n, p in model.module.named_parameters()}

    def hook(state, bucket):
        got.append(
            (
                bucket.index(),
                bucket.is_last(),
                [names[id(p)] for p in bucket.parameters()],
                tuple(bucket.buffer().shape),
                [tuple(g.shape) for g in bucket.gradients()],
            )
        )
        return dist.all_reduce(bucket.buffer().div_(2), async_op=True).get_future().then(lambda f: f.value()[0])

    model.register_comm_hook(None, hook)
    for _ in range(3):
        model(torch.ones(1, 10)).sum().backward()
    return got


def views():
    model = DDP(nn.Linear(2, 2), gradient_as_bucket_view=True)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    seen = []
    for step in range(3):
        optimizer.zero_grad(set_to_none=step == 2)
        model(x()).sum().backward()
        grad = model.module.weight.grad
        seen.append((grad._is_view(), grad._base is model.module.bias.grad._base, grad.tolist()))
    return seen


def pickled():
    model = DDP(nn.Linear(2, 2))
    buffer = io.BytesIO()
    torch.save(model, buffer)
    buffer.seek(0)
    again = torch.load(buffer, weights_only=False)
    again(x()).sum().backward()
    copied = copy.deepcopy(model)
    copied(x()).sum().backward()
    return again.module.weight.grad.tolist(), copied.module.bias.grad.tolist(), list(model.state_dict())


def sparse():
    model = DDP(nn.Embedding(4, 2, sparse=True))
    model(torch.tensor([dist.get_rank(), 3])).sum().backward()
    return model.module.weight.grad.to_dense().tolist(), model.module.weight.grad.is_sparse


def buffers():
    class Counting(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(()))
            self.register_buffer("seen", torch.zeros(2))
            self.register_buffer("steps", torch.tensor(dist.get_rank()))

        def forward(self, x):
            self.seen += x.sum()
            self.steps += 1
            return self.w * x

    model = DDP(Counting())
    out = []
    for _ in range(2):
        model(x()).sum().backward()
        out.append((model.module.seen.tolist(), int(model.module.steps)))
    kept = DDP(Counting(), forward_sync_buffers=False)
    kept(x()).sum().backward()
    return out, kept.module.seen.tolist(), int(kept.module.steps), f"{model.module.w.grad.item():.4f}"


def ignored():
    model = Two()
    DDP._set_params_and_buffers_to_ignore_for_model(model, ["b.weight", "b.bias"])
    nn.init.constant_(model.b.bias, float(dist.get_rank()))
    wrapped = DDP(model)
    wrapped(x()).sum().backward()
    return model.b.bias.tolist(), model.a.weight.grad.tolist(), model.b.weight.grad.tolist()


def changed(first, then, **options):
    model = DDP(Two(), **options)
    for both in (*[first] * 2, *[then] * 2):
        model(x(), both).sum().backward()


def twice():
    class Hidden(nn.Module):
        def __init__(self):
            super().__init__()
            self.two = Two()

        def forward(self, x):
            return [self.two(x)].__iter__()  # no tensor is found in it

    model = DDP(Hidden(), find_unused_parameters=True)
    next(model(x())).sum().backward()


def two_passes():
    model = DDP(nn.Linear(2, 2))
    with torch.no_grad():
        model(x())
    model(x())
    (model(x()) + 0).sum().backward()
    first = model.module.weight.grad.tolist()
    model.eval()
    model(x()).sum().backward()
    return first, model.module.weight.grad.tolist()


def layouts():
    model = DDP(nn.Conv2d(2, 3, 2).to(memory_format=torch.channels_last), gradient_as_bucket_view=True)
    (model(torch.arange(16.0).reshape(1, 2, 2, 4)) * x()[0, 0]).sum().backward()
    grad = model.module.weight.grad
    return grad.stride(), grad.sum().item(), DDP(nn.Linear(2, 2).double())(x().double()).dtype


def group_of_one():
    groups = [dist.new_group([r]) for r in range(dist.get_world_size())]
    model = DDP(nn.Linear(2, 2), process_group=groups[dist.get_rank()])
    model(x()).sum().backward()
    return model.module.weight.grad.tolist()


def hook_result():
    model = DDP(nn.Linear(2, 2))

    def hook(state, bucket):
        future = torch.futures.Future()
        future.set_result(5)
        return future

    model.register_comm_hook(None, hook)
    model(x()).sum().backward()


def hooked_twice():
    model = DDP(nn.Linear(2, 2))
    for _ in range(2):
        model.register_comm_hook(None, lambda state, bucket: None)


dist.init_process_group("gloo")
wrapped = DDP(Two())
print(repr(wrapped))
data = wrapped._get_ddp_logging_data()
print({k: data[k] for k in ("module_name", "world_size", "rank", "bucket_sizes", "dtypes", "backend_name")})
for f in (
    buckets,
    views,
    pickled,
    sparse,
    buffers,
    ignored,
    twice,
    two_passes,
    layouts,
    group_of_one,
    hook_result,
    hooked_twice,
):
    tell(f.__name__, f)
tell("static", lambda: changed(False, True, static_graph=True))
tell("static", lambda: changed(True, False, static_graph=True))
tell("unused", lambda: changed(True, False))
tell("found", lambda: changed(True, False, find_unused_parameters=True))
tell("counts", lambda: DDP(nn.Sequential(*[nn.Linear(2, 2) for _ in range(1 + dist.get_rank())])))
tell("no parameters", lambda: DDP(nn.ReLU()))
tell("devices", lambda: DDP(nn.Linear(2, 2), device_ids=[0, 1]))
tell("device", lambda: DDP(nn.Linear(2, 2), device_ids=[0]))
tell("lazy", lambda: DDP(nn.LazyLinear(2)))
tell("not callable", lambda: wrapped.register_comm_hook(None, 3))
tell("autograd.grad", lambda: [g.tolist() for g in torch.autograd.grad(wrapped(x()).sum(), wrapped.module.a.bias)])
dist.destroy_process_group()
