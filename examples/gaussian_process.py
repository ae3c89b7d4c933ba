"""Gaussian process regression: a curve with its uncertainty, from twenty noisy points.

    python examples/gaussian_process.py

The length scale, the amplitude and the noise are found by gradients of the log marginal likelihood through a Cholesky
factor. (Rasmussen and Williams 2006, algorithm 2.1)
"""

import math

from common import Axes, options, progress

import wengert as torch


def kernel(a, b, length, amplitude):
    """The squared exponential covariance of two sets of points, ``(n,)`` and ``(m,)``: ``(n, m)``."""
    return amplitude**2 * torch.exp(-0.5 * ((a[:, None] - b[None, :]) / length) ** 2)


def minus_log_likelihood(x, y, log_parameters):
    length, amplitude, noise = log_parameters.exp()
    covariance = kernel(x, x, length, amplitude) + noise**2 * torch.eye(len(x))
    factor = torch.linalg.cholesky(covariance)
    weights = torch.cholesky_solve(y[:, None], factor)[:, 0]
    return 0.5 * y @ weights + factor.diagonal().log().sum() + 0.5 * len(x) * math.log(2 * math.pi)


def predict(x, y, new, log_parameters):
    """Mean and standard deviation of the curve at new points."""
    length, amplitude, noise = log_parameters.exp()
    factor = torch.linalg.cholesky(kernel(x, x, length, amplitude) + noise**2 * torch.eye(len(x)))
    across = kernel(x, new, length, amplitude)
    mean = across.T @ torch.cholesky_solve(y[:, None], factor)[:, 0]
    explained = torch.linalg.solve_triangular(factor, across, upper=False)
    return mean, (amplitude**2 - explained.pow(2).sum(0)).clamp(min=0).sqrt()


def main():
    chosen = options(__doc__, steps={"type": int, "default": 150})
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(0)
    x = torch.rand(20) * 6
    y = torch.sin(2 * x) + 0.3 * x + 0.1 * torch.randn(20)

    log_parameters = torch.zeros(3, requires_grad=True)
    optimizer = torch.optim.Adam([log_parameters], lr=0.05)
    for step in progress(chosen.steps, "fitting"):
        optimizer.zero_grad()
        loss = minus_log_likelihood(x, y, log_parameters)
        loss.backward()
        optimizer.step()
        if step % 30 == 29:
            length, amplitude, noise = log_parameters.exp().tolist()
            print(
                f"step {step + 1:3}: -log p(y) {loss.item():8.4f}, length {length:.4f}, amplitude {amplitude:.4f}, "
                f"noise {noise:.4f}"
            )

    new = torch.linspace(-0.5, 6.5, 200)
    with torch.no_grad():
        mean, deviation = predict(x, y, new, log_parameters)
    low, high = mean - 2 * deviation, mean + 2 * deviation
    axes = Axes(new.numpy(), torch.cat([low, high]).numpy(), "Gaussian process: mean and two standard deviations")
    axes.band(new.tolist(), low.tolist(), high.tolist()).line(new.tolist(), mean.tolist(), "mean")
    axes.dots(x.tolist(), y.tolist()).save(chosen.out / "gaussian_process.svg")
    torch.set_default_dtype(torch.float32)


if __name__ == "__main__":
    main()
