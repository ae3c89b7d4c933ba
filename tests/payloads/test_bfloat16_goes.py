"""When no bfloat16 array lives any more, operators are as fast as if there had been none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# A process of its own: other tests have arrays of that dtype, and have frozen what the garbage collector would count.
PROGRAM = """
import sys
sys.path[:0] = {paths!r}
import wengert as torch
from test_overhead import bytecodes
from wengert._base.modes import slow_always, slow_if_recording

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = torch.tensor([0.1, 0.2])
measured = lambda: (bytecodes(lambda: x * y), bytecodes(lambda: (x * y).sum().backward()))
measured()
before = measured()

def trains():
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.LayerNorm(8), torch.nn.GELU(), torch.nn.Dropout(0.1))
    model = model.bfloat16()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.randn(5, 4).bfloat16()).sum().backward()
        optimizer.step()

def casts():
    model = torch.nn.Linear(4, 2)
    with torch.autocast("cpu"):
        loss = torch.nn.functional.cross_entropy(model(torch.randn(5, 4)), torch.tensor([0, 1, 1, 0, 1]))
    loss.backward()

def reads():
    import io
    file = io.BytesIO()
    torch.save(torch.ones(3, dtype=torch.bfloat16), file)
    file.seek(0)
    assert (torch.load(file) * 2.5).dtype is torch.bfloat16

def draws():
    torch.rand(3, 3, dtype=torch.bfloat16).tril().requires_grad_().exp().sum().backward()

def take():
    import ml_dtypes, numpy
    return torch.from_numpy(numpy.ones(2, ml_dtypes.bfloat16))

for program in (trains, casts, reads, draws, lambda: take() * 1.5):
    program()
    assert slow_if_recording
    for _ in range(9000):
        y * y
    assert (slow_if_recording, slow_always) == ([], []), program
    after = measured()
    assert after == before, (program, before, after)

# what lives is still computed as it should be, however many other operators there were
for kept in (torch.ones(2, dtype=torch.bfloat16), torch.ones(2, dtype=torch.bfloat16).sum(), take()):
    for _ in range(10000):
        y * y
    assert slow_if_recording
    assert (kept * 1.5).dtype is torch.bfloat16
    del kept
for _ in range(70000):
    y * y
assert not slow_if_recording
"""


def test_programs_are_as_fast_as_before() -> None:
    pytest.importorskip("ml_dtypes")
    here = Path(__file__).parents[1]
    program = PROGRAM.format(paths=[str(here), str(here / "kinds")])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
