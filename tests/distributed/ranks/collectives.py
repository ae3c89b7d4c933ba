"""Every collective, in every dtype, as each rank sees it: ``collectives.py FOLDER`` writes what it gets to RANK.txt.

It runs under wengert and under PyTorch with gloo; the texts are compared. ``common`` calls exist in both, those of
``own`` fail in gloo.
"""

import pickle
import sys
import warnings
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as fcol
import torch.distributed.nn.functional as dnn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor._utils import compute_local_shape_and_global_offset

warnings.simplefilter("ignore")
dist.init_process_group("gloo", timeout=timedelta(seconds=60))
r, n = dist.get_rank(), dist.get_world_size()
lines = []
OURS = "wengert" in torch.__version__
FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTS = (torch.int32, torch.int64, torch.uint8, torch.int8)
if OURS:
    from importlib.util import find_spec

    FLOATS = FLOATS if find_spec("ml_dtypes") else FLOATS[:3]


def note(name, call):
    try:
        found = call()
        found = found.tolist() if isinstance(found, torch.Tensor) else found
    except Exception as error:
        found = f"{type(error).__name__}: {str(error).splitlines()[0][:60]}"
    lines.append(f"{name}: {found}")


def made(dtype, *shape):
    return torch.arange(1, 1 + torch.Size(shape).numel()).view(shape).add(r).to(dtype)


def in_place(call, tensor):
    call(tensor)
    return tensor


def gathered(call, count, like):
    found = [torch.zeros_like(like) for _ in range(count)]
    call(found)
    return [t.tolist() for t in found]


OP = dist.ReduceOp
for dtype in (*FLOATS, *INTS):
    for op in (OP.SUM, OP.PRODUCT, OP.MIN, OP.MAX):
        note(f"all_reduce {dtype} {op}", lambda: in_place(lambda t: dist.all_reduce(t, op), made(dtype, 2, 3)))
    note(f"reduce {dtype}", lambda: (dist.reduce(t := made(dtype, 3), 1), t.tolist() if r == 1 else "")[1])
    note(f"broadcast {dtype}", lambda: in_place(lambda t: dist.broadcast(t, 1), made(dtype, 3)))
    note(f"all_gather {dtype}", lambda: gathered(lambda out: dist.all_gather(out, made(dtype, 2)), n, made(dtype, 2)))
    note(f"reduce_scatter {dtype}", lambda: in_place(
        lambda t: dist.reduce_scatter(t, [made(dtype, 2) for _ in range(n)]), made(dtype, 2)))  # fmt: skip
    note(f"gather {dtype}", lambda: gathered(
        lambda out: dist.gather(made(dtype, 2), out if r == 0 else None, 0), n, made(dtype, 2)))  # fmt: skip
    note(f"scatter {dtype}", lambda: in_place(
        lambda t: dist.scatter(t, [made(dtype, 2) + i for i in range(n)] if r == 1 else None, 1), made(dtype, 2)))  # fmt: skip
for op in (OP.BAND, OP.BOR, OP.BXOR):
    note(f"all_reduce {op}", lambda: in_place(lambda t: dist.all_reduce(t, op), made(torch.int64, 4)))
    note(f"all_reduce float {op}", lambda: in_place(lambda t: dist.all_reduce(t, op), made(torch.float32, 4)))
note("avg", lambda: in_place(lambda t: dist.all_reduce(t, OP.AVG), made(torch.float32, 4)))
note("complex", lambda: in_place(dist.all_reduce, made(torch.complex64, 2) * 1j))
note("complex max", lambda: in_place(lambda t: dist.all_reduce(t, OP.MAX), made(torch.complex64, 2)))
note("bool or", lambda: in_place(lambda t: dist.all_reduce(t, OP.MAX), torch.tensor([True, False, r == 0])))

# shapes and memory
note("0-d", lambda: in_place(dist.all_reduce, torch.tensor(float(r))))
note("empty", lambda: in_place(dist.all_reduce, torch.zeros(0, 3)))
note("transposed", lambda: in_place(dist.all_reduce, made(torch.float32, 2, 3).t()))
note("part", lambda: (dist.all_reduce((t := made(torch.float32, 4))[1:3]), t.tolist())[1])
note("parameter", lambda: in_place(lambda p: dist.broadcast(p, 0), torch.nn.Parameter(made(torch.float32, 2))).detach())
note("large", lambda: in_place(dist.all_reduce, made(torch.float64, 300_000)).sum().item())

# one tensor for all
note(
    "all_gather_single",
    lambda: in_place(lambda t: dist.all_gather_single(t, made(torch.float32, 2)), torch.zeros(2 * n)),
)
note("into_tensor", lambda: in_place(lambda t: dist.all_gather_into_tensor(t, made(torch.int64, 2)), torch.zeros(2 * n, dtype=torch.int64)))  # fmt: skip
note("reduce_scatter_single", lambda: in_place(lambda t: dist.reduce_scatter_single(t, made(torch.float32, 2 * n)), torch.zeros(2)))  # fmt: skip
note("all_to_all_single", lambda: in_place(lambda t: dist.all_to_all_single(t, made(torch.float32, 2 * n)), torch.zeros(2 * n)))  # fmt: skip
sizes = [i + 1 for i in range(n)]
note("uneven", lambda: in_place(
    lambda t: dist.all_to_all_single(t, made(torch.float32, sum(sizes)), [r + 1] * n, sizes), torch.zeros((r + 1) * n)))  # fmt: skip
note("all_to_all", lambda: gathered(
    lambda out: dist.all_to_all(out, [made(torch.float32, 2) + 10 * i for i in range(n)]), n, torch.zeros(2)))  # fmt: skip

# asynchronous, and futures
works = [(t, dist.all_reduce(t, async_op=True)) for t in (torch.full((1000,), float(r + i)) for i in range(20))]
note("works", lambda: [(w.wait(), w.is_completed(), t[0].item()) for t, w in works])
note("future", lambda: dist.all_reduce(made(torch.float32, 2), async_op=True).get_future().then(lambda f: f.value()[0] / n).wait())  # fmt: skip
note("barrier", lambda: dist.barrier(async_op=True).wait())
note("coalesced", lambda: (dist.all_reduce_coalesced(ts := [made(torch.float32, 2), made(torch.float32, 1)]), [t.tolist() for t in ts])[1])  # fmt: skip


def coalescing():
    one, two = made(torch.float32, 2), made(torch.float32, 3)
    with dist._coalescing_manager(async_ops=True) as manager:
        dist.all_reduce(one)
        dist.all_reduce(two)
    manager.wait()
    return one.tolist(), two.tolist()


if OURS:  # gloo has no such manager, and is wrong about strides
    assert in_place(lambda t: dist.broadcast(t, 0), made(torch.float32, 6)[::2]).tolist() == [1, 3, 5]
    assert coalescing() == tuple([float(sum(range(n)) + n * i) for i in range(1, k)] for k in (3, 4))


# messages
def ring():
    t = torch.zeros(2)
    works = dist.batch_isend_irecv([
        dist.P2POp(dist.isend, made(torch.float32, 2), (r + 1) % n), dist.P2POp(dist.irecv, t, (r - 1) % n),
    ])  # fmt: skip
    for work in works:
        work.wait()
    return t


def any_source():
    if r:
        dist.send(torch.tensor([r]), 0, tag=5)
        return "sent"
    found = []
    for _ in range(n - 1):
        t = torch.zeros(1, dtype=torch.int64)
        found.append((dist.recv(t, tag=5), t.item()))
    return sorted(found)


note("ring", ring)
note("any source", any_source)
note("to itself", lambda: dist.send(torch.ones(1), r))

# objects
note("all_gather_object", lambda: (dist.all_gather_object(o := [None] * n, {"rank": r, "list": [1] * r}), o)[1])
note("gather_object", lambda: (dist.gather_object("x" * r, o := [None] * n if r == 0 else None), o)[1])
note("broadcast_object_list", lambda: (dist.broadcast_object_list(o := [r, "a" * r, None], 1), o)[1])
note("scatter_object_list", lambda: (dist.scatter_object_list(o := [None], [[i] * i for i in range(n)] if r == 0 else None), o)[1])  # fmt: skip
note("object messages", lambda: dist.send_object_list([1, "two"], 0) if r == 1 else
     (dist.recv_object_list(o := [None, None], 1), o) if r == 0 else None)  # fmt: skip
note("no pickle", lambda: dist.all_gather_object([None] * n, lambda: 1) if False else pickle.loads(pickle.dumps(3)))

# groups
pair = dist.new_group([0, 1])
last = dist.new_group([n - 1])
every = dist.new_group()
halves, both = dist.new_subgroups(n // 2)
note(
    "pair",
    lambda: (
        in_place(lambda t: dist.all_reduce(t, group=pair), made(torch.float32, 2)) if r < 2 else dist.get_rank(pair)
    ),
)
note("outside", lambda: (dist.get_rank(last), dist.get_world_size(last), last == dist.GroupMember.NON_GROUP_MEMBER))
note("halves", lambda: in_place(lambda t: dist.all_reduce(t, group=halves), made(torch.float32, 2)))
note(
    "ranks",
    lambda: (dist.get_process_group_ranks(halves), dist.get_group_rank(every, r), dist.get_global_rank(every, 1)),
)
note("group root", lambda: in_place(lambda t: dist.broadcast(t, group=every, group_src=1), made(torch.float32, 1)))
note("mesh", lambda: repr(init_device_mesh("cpu", (n,), mesh_dim_names=("a",))))
note(
    "backend", lambda: (dist.get_backend(), dist.is_initialized(), dist.group.WORLD.group_name, dist.group.WORLD.size())
)
dist.monitored_barrier(timeout=timedelta(seconds=60))

# differentiable
for name, call in (
    ("all_reduce", dnn.all_reduce), ("broadcast", lambda x: dnn.broadcast(x, 1)), ("reduce", lambda x: dnn.reduce(x, 0)),
    ("all_gather", lambda x: torch.stack(dnn.all_gather(x))), ("gather", lambda x: torch.stack(dnn.gather(x))),
    ("scatter", lambda x: dnn.scatter([x * (i + 1) for i in range(n)], 1)),
    ("reduce_scatter", lambda x: dnn.reduce_scatter(torch.zeros(2), [x * (i + 1) for i in range(n)])),
    ("all_to_all", lambda x: torch.stack(dnn.all_to_all([torch.zeros(2) for _ in range(n)], [x * i for i in range(n)]))),
    ("all_to_all_single", lambda x: dnn.all_to_all_single(torch.zeros(n), x[:1].repeat(n))),
):  # fmt: skip

    def derived(call=call):
        x = made(torch.float32, 2).requires_grad_()
        y = call(x)
        (y * (r + 1)).sum().backward()
        return y.tolist() if r == 0 or "reduce" not in name else "", x.grad.tolist()

    note(f"derivative of {name}", derived)

# functional collectives, and where the parts of a tensor lie
mesh, rows = init_device_mesh("cpu", (n,)), torch.arange(n * 2.0).view(n, 2)
for name, call in (
    ("all_reduce", lambda x: fcol.wait_tensor(fcol.all_reduce(x, "sum", mesh))),
    ("all_gather_tensor", lambda x: fcol.all_gather_tensor(x, 1, dist.group.WORLD)),
    ("reduce_scatter_tensor", lambda x: fcol.reduce_scatter_tensor(x, "sum", 0, (mesh, 0))),
    ("all_to_all_single", lambda x: fcol.all_to_all_single(x, None, None, mesh)),
    ("all_to_all_single_autograd", lambda x: fcol.all_to_all_single_autograd(x, [1] * n, [1] * n, mesh)),
    ("broadcast", lambda x: fcol.broadcast(x, 0, dist.group.WORLD)),
):

    def functional(call=call, name=name):
        x = ((rows + 1) * (r + 1)).requires_grad_(name.endswith("autograd"))
        y = call(x) * 1
        if x.requires_grad:
            (y * (r + 2)).sum().backward()
        return y.tolist(), x.grad is not None and x.grad.tolist()

    note(f"functional {name}", functional)
for dims, places in (((2 * n + 1, 3), [Shard(0)]), ((1, n), [Shard(1)]), ((n,), [Replicate()])):
    note(f"part of {dims}", lambda dims=dims, places=places: compute_local_shape_and_global_offset(dims, mesh, places))
note("parts", lambda: [Shard.local_shard_size_and_offset(7, 3, i) for i in range(3)])

# errors, on every rank alike
note("no tensor", lambda: dist.all_reduce(3))
note("no list", lambda: dist.all_gather(torch.ones(1), torch.ones(1)))
note("dtypes", lambda: dist.all_gather([torch.ones(1)] * n, torch.ones(1, dtype=torch.int64)))
note("sizes", lambda: dist.all_gather([torch.ones(3)] * n, torch.ones(2)))
note("root", lambda: dist.broadcast(torch.ones(1), 77))
note("root and group root", lambda: dist.broadcast(torch.ones(1), 0, group_src=0))
note("no root", lambda: dist.broadcast(torch.ones(1)))
note("twice", lambda: dist.init_process_group("gloo"))
note("no timeout", lambda: dist.new_group([0], timeout=3))
note("two times the same", lambda: dist.new_group([0, 0]))
note("no such rank", lambda: dist.new_group([n]))
note("op", lambda: dist.P2POp(dist.all_reduce, torch.ones(1), 0))
note("ops", lambda: dist.batch_isend_irecv([1]))
note("subgroups", lambda: dist.new_subgroups(n + 1))

if OURS:  # what gloo has no answer for, or hangs at
    for name, call in (
        ("shapes", lambda: dist.all_reduce(torch.ones(2 + r))),
        ("dtypes", lambda: dist.all_reduce(torch.ones(2, dtype=(torch.float32, torch.float64)[r % 2]))),
        ("collectives", lambda: dist.all_reduce(torch.ones(2)) if r else dist.broadcast(torch.ones(2), 0)),
        ("roots", lambda: dist.broadcast(torch.ones(2), r % 2)),
        ("lists", lambda: dist.all_gather([torch.ones(2)] * n, torch.ones(2 + r % 2))),
    ):
        try:
            call()
            raise SystemExit(f"no error: {name}")
        except RuntimeError as error:
            assert ("Detected mismatch between collectives on ranks" in str(error)) or name == "lists", error
    assert in_place(dist.all_reduce, torch.ones(1)).item() == n  # the group goes on
    for dtype in (torch.int16, torch.bool):
        assert in_place(dist.all_reduce, torch.ones(2, dtype=dtype)).tolist() == [1 if dtype is torch.bool else n] * 2

dist.destroy_process_group()
note("after the end", lambda: dist.all_reduce(torch.ones(1)))
note("and again", lambda: dist.get_rank())
Path(sys.argv[1], f"{r}.txt").write_text("\n".join(lines) + "\n")
