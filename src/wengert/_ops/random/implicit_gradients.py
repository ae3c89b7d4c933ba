"""Gamma and Dirichlet draws, which are differentiable although no formula makes them from noise.

A draw x of a distribution with parameter a and distribution function F moves with a so that F(x; a) stays the same:
``dx/da = -(dF/da) / (dF/dx)``, the implicit reparameterisation gradient (Figurnov, Mohamed, Mnih 2018). For the gamma
and the beta distribution dF/da has no closed form; the approximations and their ranges are PyTorch's
(``ATen/native/Distributions.h``; Jankowiak and Obermeyer 2018): a series near the ends of the support, a saddle point
expansion for large parameters, a fitted rational function between.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._arrays import random as _samplers
from ..._arrays.random.common import FULL_PRECISION, require
from ..._arrays.random.implicit import (
    as_float32,
    beta_fitted,
    beta_large,
    beta_saddle,
    beta_small,
    gamma_central,
    gamma_fitted,
    gamma_saddle,
    gamma_small,
    piecewise,
)
from ..._base.registry import on_host, public
from ..._kinds.general import general
from ..._tape.error_text import expect_tensor
from ..._tape.tensor import Tensor, wrap
from ..._tensor_api.generator import Generator
from ._common import needs, sampled, source_of
from .sampling import _array

_IMPLICIT = "PyTorch differentiates a draw with its quantile fixed, once: a difference of two draws is no test of it"


def _once(name: str) -> Callable[..., Any]:
    """A derivative formula that raises, for operators that PyTorch differentiates once and not twice."""

    def formula(xp: Any, g: Any) -> Any:
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    return formula


def _positive(*shapes: tuple[int, ...]) -> Callable[..., Any]:
    return lambda rng: [(tuple(rng.random(s) + 0.5 for s in shapes), ())]


def _fractions(rng: Any) -> list[Any]:
    alpha = rng.random((3, 4)) * 3 + 0.5
    return [((rng.random((3, 4)), alpha, alpha.sum(-1, keepdims=True)), ())]


def _of_shape(lib: Any, values: Any, self: Any) -> Any:
    """The draws; repeated where one draw serves several parameters (vmap with the same randomness)."""
    return values if values.shape == self.shape else values + lib.zeros(self.shape, values.dtype)


# ---- gamma
@public("torch._standard_gamma")
def _standard_gamma(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Draws of the gamma distributions of scale 1 with the shape parameters that ``input`` holds, float32 or float64.

    They are differentiable by the shape parameters, once.

    >>> _ = torch.manual_seed(0)
    >>> shape = torch.tensor([0.5, 3.], requires_grad=True)
    >>> draws = torch._standard_gamma(shape)
    >>> draws
    tensor([7.8936e-04, 1.2728e+00], grad_fn=<StandardGammaBackward0>)
    >>> torch.autograd.grad(draws.sum(), shape)
    (tensor([0.0113, 0.6664]),)
    """
    source = source_of(generator, "_standard_gamma")
    payload = _array(expect_tensor("_standard_gamma", "input", 1, input))
    draws = wrap(sampled(_samplers.standard_gamma, source, payload))
    return gamma_draws(input, draws) if needs(input) else draws


@general(
    grad={"self": lambda xp, g, self, result: g * xp._standard_gamma_grad(self, result), "values": None},
    tensors=2,
    node="StandardGammaBackward0",
    batch="elementwise",
    dtypes="f",
    no_derivative=_IMPLICIT,
    samples=_positive((3,), (3,)),
)
def gamma_draws(lib, self, values):
    """``values``, which were drawn for the shape parameters ``self``."""
    return _of_shape(lib, values, self)


@general(
    grad={"self": _once("_standard_gamma_grad"), "output": _once("_standard_gamma_grad")},
    tensors=2,
    node="NotImplemented",
    names="torch._standard_gamma_grad",
    batch="elementwise",
    dtypes="f",
    no_derivative="PyTorch has none; a backward pass that arrives here is an error",
    samples=_positive((3,), (3,)),
)
def _standard_gamma_grad(lib, self, output):
    """The derivatives of draws of the gamma distribution of scale 1 by its shape parameter, at fixed quantiles.

    >>> torch._standard_gamma_grad(torch.tensor([2.]), torch.tensor([1.]))
    tensor([0.7507])
    """
    dtype = require(output.dtype, FULL_PRECISION, "_standard_gamma_grad_cpu")
    alpha, x = np.broadcast_arrays(np.asarray(self, np.float64), np.asarray(output, np.float64))
    large = alpha > 8.0
    central = (as_float32(0.9) * alpha <= x) & (x <= as_float32(1.1) * alpha)
    pieces = [
        (x < as_float32(0.8), gamma_small),
        (large & central, gamma_central),
        (large, gamma_saddle),
        (np.True_, gamma_fitted),
    ]
    return piecewise(pieces, lib, alpha, x).astype(dtype)


# ---- Dirichlet
@public("torch._sample_dirichlet")
def _sample_dirichlet(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Draws of the Dirichlet distributions with the concentrations along the last dim of ``input``, float32 or float64.

    They are differentiable by the concentrations, once.

    >>> _ = torch.manual_seed(0)
    >>> torch._sample_dirichlet(torch.ones(2))
    tensor([0.8638, 0.1362])
    """
    source = source_of(generator, "_sample_dirichlet")
    payload = _array(expect_tensor("_sample_dirichlet", "input", 1, input))
    draws = wrap(sampled(_samplers.dirichlet, source, payload))
    return dirichlet_draws(input, draws) if needs(input) else draws


def _dirichlet_pullback(xp: Any, g: Any, self: Any, result: Any) -> Any:
    last = (len(self.shape) - 1,)
    slope = xp._dirichlet_grad(result, self, xp.sum_dim(self, last, True))
    return slope * (g - xp.sum_dim(result * g, last, True))


@general(
    grad={"self": _dirichlet_pullback, "values": None},
    tensors=2,
    node="_DirichletBackward",
    batch=("core", (1, 1)),
    dtypes="f",
    no_derivative=_IMPLICIT,
    samples=_positive((2, 3), (2, 3)),
)
def dirichlet_draws(lib, self, values):
    """``values``, which were drawn for the concentrations ``self``."""
    return _of_shape(lib, values, self)


@general(
    grad=dict.fromkeys(("x", "alpha", "total"), _once("_dirichlet_grad")),
    tensors=3,
    node="NotImplemented",
    names="torch._dirichlet_grad",
    batch="elementwise",
    dtypes="f",
    no_derivative="PyTorch has none; a backward pass that arrives here is an error",
    samples=_fractions,
)
def _dirichlet_grad(lib, x, alpha, total):
    """The derivative of a beta draw x by alpha at a fixed quantile, divided by 1 - x; ``total`` is alpha + beta.

    >>> torch._dirichlet_grad(torch.tensor([0.5]), torch.tensor([1.]), torch.tensor([2.]))
    tensor([0.6931])
    """
    dtype = require(x.dtype, FULL_PRECISION, "_dirichlet_grad_cpu")
    for other in (alpha, total):
        if other.dtype != dtype:
            names = {4: "Float", 8: "Double"}
            raise RuntimeError(f"Found dtype {names.get(other.dtype.itemsize)} but expected {names[dtype.itemsize]}")
    x, alpha, total = np.broadcast_arrays(x, alpha, total)
    edge = total * x * (1 - x)
    pieces = [
        ((x <= 0.5) & (edge < 2.5), beta_small),
        ((x >= 0.5) & (edge < 0.75), beta_large),
        ((alpha > 6) & (total - alpha > 6), beta_saddle),
        (np.True_, beta_fitted),
    ]
    return piecewise(pieces, lib, x, alpha, total).astype(dtype)


on_host("_standard_gamma_grad", "_dirichlet_grad")
