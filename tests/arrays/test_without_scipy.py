"""What runs where SciPy is not installed, and what the rest says."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import scipy.special

from wengert._arrays.library import lib
from wengert._arrays.scipy_functions import Scipy, compiled
from wengert._arrays.without_scipy import STAND_INS

WITHOUT = """
import sys

class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "scipy":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Refused())
import wengert as torch
import wengert.nn as nn
import wengert.nn.functional as F
"""


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT + program], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", STAND_INS)
def test_stand_ins_are_as_exact_as_scipy(name: str) -> None:
    rng = np.random.default_rng(0)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2, -2, 0.5, -3]
    x = np.concatenate([rng.normal(size=1000) * 3, 10.0 ** rng.uniform(-300, 2, 200), special])
    if name in ("erfinv", "ndtri"):
        x = np.concatenate([np.tanh(x), 1 - np.abs(np.tanh(x)), [1.5]])
    operands: Any = (x, x[::-1].copy()) if name.startswith("xlog") else (x,)
    with np.errstate(all="ignore"):
        ours, theirs = STAND_INS[name](*operands), getattr(scipy.special, name)(*operands)
    np.testing.assert_allclose(ours, theirs, rtol=3e-14, atol=1e-13 if name == "gammaln" else 0)


def test_special_functions_are_loaded_without_the_package_around_them() -> None:
    if not hasattr(compiled("special._special_ufuncs"), "erf"):
        pytest.skip("this SciPy has erf elsewhere")
    call = "torch.nn.functional.gelu(torch.ones(2))"
    program = f"import sys, wengert as torch; print({call}, 'scipy.special' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout == "tensor([0.8413, 0.8413]) False\n"


def test_special_functions_are_those_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "scipy.special._special_ufuncs", raising=False)
    alone = compiled.__wrapped__("special._special_ufuncs")
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=300) * 5, [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, 1e30, -1, -2, 1, 2]])
    for name in [name.removeprefix("scipy_") for name, fn in vars(lib).items() if isinstance(fn, Scipy)]:
        fn = getattr(alone, name, None)
        for dtype in (np.float32, np.float64) if fn is not None else ():
            operands = (x.astype(dtype), x[::-1].astype(dtype))[: fn.nin]
            assert fn(*operands).tobytes() == getattr(scipy.special, name)(*operands).tobytes(), name


def test_layers_optimizers_and_the_normal_distribution_run() -> None:
    run("""
x = torch.rand(4, 8)
model = nn.Sequential(
    nn.Linear(8, 8), nn.GELU(), nn.LayerNorm(8), nn.GELU(approximate="tanh"), nn.Dropout(0.1), nn.Linear(8, 3)
)
layer = nn.TransformerEncoderLayer(8, 2, 16, activation="gelu", batch_first=True)
for optimizer in (torch.optim.Adam, torch.optim.SGD, torch.optim.AdamW, torch.optim.LBFGS):
    step = optimizer([*model.parameters(), *layer.parameters()], lr=0.01)
    def closure():
        step.zero_grad()
        loss = F.cross_entropy(model(layer(x[None])[0]), torch.tensor([0, 1, 2, 0]))
        loss.backward()
        return loss
    step.step(closure)
nn.LSTM(8, 4)(x[None])[0].sum().backward()
nn.Conv2d(1, 2, 3)(torch.rand(1, 1, 5, 5)).sum().backward()
nn.PoissonNLLLoss(full=True)(x, x)
image, grid = torch.rand(1, 2, 4, 4, requires_grad=True), torch.rand(1, 3, 3, 2)
F.grid_sample(image, grid, align_corners=True).sum().backward()
assert abs(image.grad.sum().item() - 18) < 1e-3
normal = torch.distributions.Normal(0.0, 2.0)
for values in (normal.sample((3,)), normal.cdf(x), normal.icdf(x), normal.log_prob(x), normal.entropy()):
    assert torch.isfinite(values).all()
weight = torch.nn.init.trunc_normal_(torch.empty(3, 3), generator=torch.manual_seed(0))
y = x.double().requires_grad_()
assert torch.autograd.gradcheck(lambda y: F.gelu(y) + torch.erfinv(y / 2) + torch.special.ndtr(y), y)
""")


def test_the_tour_runs(tmp_path: Any) -> None:
    out = run(f"from wengert.__main__ import main; assert main(['tour', '--quick', '--out', {str(tmp_path)!r}]) == 0")
    assert "digits" in out and len([*tmp_path.iterdir()]) == 2


@pytest.mark.parametrize(
    "call",
    ["torch.digamma(torch.ones(2))", "torch.linalg.lu(torch.eye(2))", "torch.matrix_exp(torch.eye(2))",
     "torch.special.bessel_j0(torch.ones(2))", "torch.sparse.mm(torch.eye(2).to_sparse(), torch.eye(2))"],
)  # fmt: skip
def test_what_needs_scipy_says_what_to_install(call: str) -> None:
    out = run(f"""
try:
    {call}
except ModuleNotFoundError as error:
    print(error, *error.__notes__)
""")
    assert "No module named 'scipy" in out and "What to do: pip install scipy" in out
