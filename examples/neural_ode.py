"""A neural differential equation learns a spiral from points.

    python examples/neural_ode.py

``dy/dt = f(y)`` with a small network f is solved by classical Runge-Kutta steps, and the gradient goes back through
all of them. (Chen et al. 2018)
"""

from common import Axes, options, progress

import wengert as torch
from wengert import nn


def runge_kutta(f, y, step):
    """One classical step of fourth order."""
    k1 = f(y)
    k2 = f(y + 0.5 * step * k1)
    k3 = f(y + 0.5 * step * k2)
    k4 = f(y + step * k3)
    return y + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def solve(f, y, times):
    """The solution from y at all times, ``(len(times), *y.shape)``."""
    path = [y]
    for step in times.diff():
        path.append(runge_kutta(f, path[-1], step))
    return torch.stack(path)


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2))

    def forward(self, y):
        return self.net(y**3)


def main():
    chosen = options(__doc__, steps={"type": int, "default": 250})
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(0)
    times = torch.linspace(0.0, 10.0, 201)
    matrix = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])
    with torch.no_grad():
        truth = solve(lambda y: (y**3) @ matrix, torch.tensor([[2.0, 0.0]]), times)[:, 0]

    field = Field()
    optimizer = torch.optim.RMSprop(field.parameters(), lr=2e-3)
    length, many = 10, 20
    for step in progress(chosen.steps, "learning"):
        first = torch.randperm(len(times) - length)[:many]
        target = torch.stack([truth[first + i] for i in range(length)])
        optimizer.zero_grad()
        loss = (solve(field, target[0], times[:length]) - target).abs().mean()
        loss.backward()
        optimizer.step()
        if step % 50 == 49:
            print(f"step {step + 1:3}: mean distance {loss.item():.5f}")

    with torch.no_grad():
        learnt = solve(field, truth[:1], times)[:, 0]
    both = torch.cat([truth, learnt])
    axes = Axes(both[:, 0].numpy(), both[:, 1].numpy(), "A spiral, and what was learnt of it")
    axes.line(truth[:, 0].tolist(), truth[:, 1].tolist(), "truth")
    axes.line(learnt[:, 0].tolist(), learnt[:, 1].tolist(), "learnt").save(chosen.out / "neural_ode.svg")
    torch.set_default_dtype(torch.float32)


if __name__ == "__main__":
    main()
