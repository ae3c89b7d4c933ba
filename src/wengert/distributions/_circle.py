"""The von Mises distribution, on the circle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import wengert as torch

from .._base.constants import Size
from .._base.grad_mode import no_grad
from .._tape.tensor import Tensor
from . import constraints
from .distribution import Distribution
from .utils import broadcast_all, formula, lazy_property

# Polynomials of Abramowitz and Stegun, 9.8.1 to 9.8.4, for the modified Bessel functions of order 0 and 1: in
# (x / 3.75) ** 2 below 3.75, in 3.75 / x above.
_BESSEL_SMALL = (
    (1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.360768e-1, 0.45813e-2),
    (0.5, 0.87890594, 0.51498869, 0.15084934, 0.2658733e-1, 0.301532e-2, 0.32411e-3),
)
_BESSEL_LARGE = (
    (0.39894228, 0.1328592e-1, 0.225319e-2, -0.157565e-2, 0.916281e-2, -0.2057706e-1, 0.2635537e-1, -0.1647633e-1,
     0.392377e-2),
    (0.39894228, -0.3988024e-1, -0.362018e-2, 0.163801e-2, -0.1031555e-1, 0.2282967e-1, -0.2895312e-1, 0.1787654e-1,
     -0.420059e-2),
)  # fmt: skip


def _polynomial(x: Tensor, coefficients: tuple[float, ...]) -> Tensor:
    result: Any = coefficients[-1]
    for c in coefficients[-2::-1]:
        result = c + x * result
    return result


def _log_modified_bessel_fn(x: Tensor, order: int = 0) -> Tensor:
    """The logarithm of the modified Bessel function of order 0 or 1, for positive numbers."""
    if order not in (0, 1):
        raise AssertionError(f"order must be 0 or 1, got {order}")
    y = x / 3.75
    small = _polynomial(y * y, _BESSEL_SMALL[order])
    small = (x.abs() * small if order else small).log()
    large = x - 0.5 * x.log() + _polynomial(3.75 / x, _BESSEL_LARGE[order]).log()
    return torch.where(x < 3.75, small, large)


class VonMises(Distribution):
    """The von Mises distribution of an angle around ``loc``.

    ``p(x) = exp(concentration * cos(x - loc)) / (2 pi I0(concentration))``. Draws lie in [-pi, pi]; any real angle may
    be scored. Mean and variance are the circular ones. Draws: Best and Fisher, "Efficient simulation of the von Mises
    distribution", Applied Statistics 28, 1979, in float64 whatever the parameters are.

    Parameters: ``loc`` real, ``concentration`` positive, which broadcast. Support: the real numbers.

    >>> import wengert as torch
    >>> d = torch.distributions.VonMises(torch.tensor(0.), torch.tensor(1.))
    >>> d.log_prob(torch.tensor(0.)), d.variance
    (tensor(-1.0738), tensor(0.5536))
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False
    _expands = ("loc", "concentration")

    def __init__(self, loc: Tensor | float, concentration: Tensor | float, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, Size(), validate_args)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        log_prob = self.concentration * torch.cos(value - self.loc) - math.log(2 * math.pi)
        return log_prob - _log_modified_bessel_fn(self.concentration)

    @lazy_property
    def _proposal_r(self) -> Tensor:
        """The parameter of the wrapped Cauchy distribution that draws are proposed from, float64."""
        kappa = self.concentration.to(torch.float64)
        tau = 1 + (1 + 4 * kappa**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
        return torch.where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho**2) / (2 * rho))

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            kappa, r = self.concentration.to(torch.float64), self._proposal_r
            x = torch.zeros(shape, dtype=torch.float64)
            done = torch.zeros(shape, dtype=torch.bool)
            while not done.all():
                u1, u2, u3 = torch.rand((3, *shape), dtype=torch.float64).unbind()
                z = torch.cos(math.pi * u1)
                f = (1 + r * z) / (r + z)
                c = kappa * (r - f)
                accepted = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
                x = torch.where(accepted, (u3 - 0.5).sign() * f.acos(), x)
                done = done | accepted
            x = (x + math.pi + self.loc.to(torch.float64)) % (2 * math.pi) - math.pi
            return x.to(self.loc.dtype)

    mean = formula(lambda self: self.loc, "The circular mean.")
    mode = formula(lambda self: self.loc)

    @lazy_property
    def variance(self) -> Tensor:
        """The circular variance, between 0 and 1."""
        ratio = _log_modified_bessel_fn(self.concentration, 1) - _log_modified_bessel_fn(self.concentration, 0)
        return 1 - ratio.exp()
