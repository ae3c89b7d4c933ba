"""``device="cuda"`` through a CuPy that is the strict array: what ``_payloads.cuda`` calls, in a process of its own.

What a card does is tested by ``test_foreign.test_on_a_card``, where there is one.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CUPY = """
import contextlib, importlib.machinery, sys, types
from types import SimpleNamespace
import numpy as np
import strict_array

def module(name, **members):
    made = types.ModuleType(name)
    made.__spec__ = importlib.machinery.ModuleSpec(name, None)
    made.__dict__.update(members)
    sys.modules[name] = made
    return made

done = []

class Device:
    def __init__(self, index): self.id = index
    def __enter__(self): done.append(self.id); return self
    def __exit__(self, *error): pass

runtime = SimpleNamespace(
    getDeviceCount=lambda: 1, getDevice=lambda: 0, setDevice=lambda index: None,
    deviceSynchronize=lambda: done.append("synchronized"), memGetInfo=lambda: (1, 2),
    getDeviceProperties=lambda index: {"name": b"Card", "totalGlobalMem": 2, "major": 9, "minor": 0,
                                       "multiProcessorCount": 1},
)
pool = SimpleNamespace(used_bytes=lambda: 64, total_bytes=lambda: 128, free_all_blocks=lambda: done.append("freed"))
strict_array.StrictArray.device = Device(0)
cupy = module("cupy", **vars(strict_array.module) | dict(
    array=lambda a: strict_array.StrictArray(np.array(a)), asnumpy=lambda a: a.get(),
    cuda=SimpleNamespace(runtime=runtime, Device=Device), get_default_memory_pool=lambda: pool,
))
module("cupyx", errstate=lambda **options: contextlib.nullcontext(), scipy=module("cupyx.scipy"))
sys.modules["cupyx"].scipy.special = module("cupyx.scipy.special", **vars(strict_array.special))
"""
PROGRAM = """
import wengert as torch

assert torch.cuda.is_available() and torch.cuda.device_count() == 1 and torch.cuda.current_device() == 0
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
torch.cuda.manual_seed_all(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)).to(device)
data = torch.utils.data.TensorDataset(torch.randn(8, 4), torch.randint(2, (8,)))
loader = torch.utils.data.DataLoader(data, batch_size=4, pin_memory=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(2):
    for x, y in loader:
        x, y = x.to(device, non_blocking=True), y.cuda()
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
torch.cuda.synchronize()
assert loss.is_cuda and str(loss.device) == "cuda:0" and loss.item() > 0
assert all(p.grad.is_cuda for p in model.parameters())
assert "device='cuda:0'" in repr(loss)
generator = torch.Generator(device="cuda").manual_seed(1)
assert generator.device.type == "cuda"
assert torch.rand(2, device="cuda", generator=generator).is_cuda
assert (torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated(), torch.cuda.memory_reserved()) == (64, 64, 128)
torch.cuda.empty_cache()
torch.cuda.reset_peak_memory_stats()
with torch.cuda.device(0):
    assert torch.ones(2, device="cuda").cuda(0).get_device() == 0
assert torch.cuda.get_device_name() == "Card" and torch.cuda.get_device_capability() == (9, 0)
assert torch.cuda.get_device_properties(0).total_memory == 2 and torch.cuda.mem_get_info() == (1, 2)
assert torch.cuda.LongTensor is not None
assert model.cpu()(torch.ones(1, 4)).device.type == "cpu"
import cupy
assert torch.as_tensor(cupy.array([1.0])).is_cuda
assert {"synchronized", "freed"} <= set(done)
print("done")
"""


def test_a_program_for_a_card() -> None:
    tests = Path(__file__).resolve().parents[1]
    source = CUPY + PROGRAM
    path = os.pathsep.join([str(tests), *sys.path])
    found = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert found.stdout == "done\n", found.stderr
