"""``fully_shard``: training, states whole and in parts, checkpoints read by models that are cut otherwise."""

import copy
import tempfile

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_optimizer_state_dict,
    set_model_state_dict,
    set_optimizer_state_dict,
)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.wide, self.narrow = (
            nn.LayerNorm(width),
            nn.Linear(width, 3 * width),
            nn.Linear(3 * width, width),
        )

    def forward(self, x):
        return x + self.narrow(torch.relu(self.wide(self.norm(x))))


class Net(nn.Module):
    def __init__(self, width=7, tied=True, recompute=False):
        super().__init__()
        self.recompute, self.embedding = recompute, nn.Embedding(11, width)
        self.layers = nn.ModuleList(Block(width) for _ in range(2))
        self.out = nn.Linear(width, 11, bias=False)
        if tied:
            self.out.weight = self.embedding.weight

    def forward(self, x):
        x = self.embedding(x)
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False) if self.recompute else layer(x)
        return self.out(x)


def sharded(model, **options):
    for layer in model.layers:
        fully_shard(layer, **options)
    return fully_shard(model, **options)


def build(tied=True, recompute=False, **options):
    torch.manual_seed(0)
    return sharded(Net(tied=tied, recompute=recompute), **options)


def train(model, steps=2, optimizer=None, parts=1):
    optimizer = optimizer or torch.optim.Adam(model.parameters(), lr=0.02)
    generator = torch.Generator().manual_seed(dist.get_rank())
    for _ in range(steps):
        for part in range(parts):
            model.set_requires_gradient_sync(part == parts - 1)
            x = torch.randint(0, 11, (4, 5), generator=generator)
            loss = nn.functional.cross_entropy(model(x).flatten(0, 1), x.flatten())
            loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        print(f"{loss.item():.4f} {(norm.full_tensor() if isinstance(norm, DTensor) else norm).item():.4f}")
    return optimizer


def whole(model):
    return [p.full_tensor().detach() for p in model.parameters()]


def same(first, second):
    return all(torch.equal(a, b) for a, b in zip(whole(first), whole(second)))


def main():
    model = build()
    print(isinstance(model, FSDPModule), isinstance(model, Net), type(model).__name__)
    for name, p in model.named_parameters():
        print(name, tuple(p.shape), tuple(p.to_local().shape), p.placements, isinstance(p, nn.Parameter))
    optimizer = train(model, 3)
    print([(name, type(value).__name__) for name, value in model.state_dict().items()][:2])

    alone, everywhere = (StateDictOptions(full_state_dict=True, cpu_offload=off) for off in (True, False))
    given = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
    state = get_model_state_dict(model, options=everywhere)
    of_optimizer = get_optimizer_state_dict(model, optimizer, options=alone)
    print([f"{name} {value.sum():.3f}" for name, value in state.items()])
    print(
        sum(round(float(v["exp_avg_sq"].sum()), 5) for v in of_optimizer["state"].values()) if of_optimizer else "none"
    )
    other = build(reshard_after_forward=False)
    set_model_state_dict(other, state if dist.get_rank() == 0 else {}, options=given)
    its = torch.optim.Adam(other.parameters(), lr=0.02)
    set_optimizer_state_dict(other, its, of_optimizer, options=given)
    print("loaded", same(model, other))
    train(other, 1, its)

    print("accumulated")
    train(build(), 2, parts=2)
    print("recomputed")
    train(build(recompute=True), 2)
    print("in bfloat16")
    half = build(mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32))
    half.unshard()
    print(next(half.parameters()).dtype)
    half.reshard()
    print(next(half.parameters()).dtype, half(torch.zeros(1, 2, dtype=torch.int64)).dtype)

    print("from meta")
    with torch.device("meta"):
        empty = Net(tied=False)
    sharded(empty)
    plain = build(tied=False)
    there = empty.state_dict()
    full = get_model_state_dict(plain, options=everywhere)
    parts = {k: nn.Parameter(distribute_tensor(full[k], t.device_mesh, t.placements)) for k, t in there.items()}
    empty.load_state_dict(parts, strict=False, assign=True)
    print(same(empty, plain))
    with torch.no_grad():
        print(f"{empty(torch.arange(6)[None]).sum():.4f}")

    folder = [tempfile.mkdtemp() if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(folder)
    dcp.save({"model": get_model_state_dict(model), "optimizer": get_optimizer_state_dict(model, optimizer)},
             checkpoint_id=folder[0])  # fmt: skip
    again = build()
    its = torch.optim.Adam(again.parameters(), lr=0.02)
    state = {"model": get_model_state_dict(again), "optimizer": get_optimizer_state_dict(again, its)}
    dcp.load(state, checkpoint_id=folder[0])
    set_model_state_dict(again, state["model"])
    set_optimizer_state_dict(again, its, state["optimizer"])
    print("read", same(again, model))
    train(again, 1, its)
    in_one = {"model": copy.deepcopy(Net().state_dict())}
    dcp.load(in_one, checkpoint_id=folder[0])
    print(all(torch.equal(in_one["model"][name], p.full_tensor()) for name, p in model.named_parameters()))

    layer = nn.Linear(4, 6)
    fully_shard(layer, shard_placement_fn=lambda p: Shard(p.dim() - 1))
    print(layer.weight.placements, tuple(layer.weight.to_local().shape), tuple(layer(torch.ones(2, 4)).shape))
    for wrong in (nn.ModuleList([nn.Linear(1, 1)]), layer):
        try:
            fully_shard(wrong)
        except (ValueError, RuntimeError, AssertionError) as error:
            print(type(error).__name__)
    if dist.get_world_size() == 4:
        print("hybrid")
        hybrid = build(mesh=init_device_mesh("cpu", (2, 2), mesh_dim_names=("replicate", "shard")))
        print(next(hybrid.parameters()).placements)
        train(hybrid)
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    t = distribute_tensor(torch.arange(10.0).view(5, 2), mesh, [Shard(0)])
    print(t.shape, t.stride(), (t * t).placements, t.sum().full_tensor(), (t + 1).norm().full_tensor())
    print(t.redistribute(mesh, [Replicate()]).to_local().shape, torch.equal(t.t().full_tensor(), t.full_tensor().t()))


dist.init_process_group("gloo")
main()
dist.destroy_process_group()
