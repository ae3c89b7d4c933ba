"""NAdam."""

from __future__ import annotations

from typing import Any

import wengert as torch

from .._tape.tensor import Tensor
from ._elementwise import ADAM_LATE, ElementwiseOptimizer, advance, check_adam, new_step, options, set_number
from .optimizer import ParamsT, functional_form

__all__ = ["NAdam"]

__getattr__ = functional_form("nadam")


def _nadam(x: Any, p: Any, g: Any, m: Any, v: Any, t: Any, u: Any, *constants: Any) -> Any:
    shrink, beta1, beta2, correction, eps, by_gradient, by_average = constants
    if shrink is not None:
        p = x.multiply(p, shrink, p)
    m = x.lerp(m, g, 1 - beta1, t)
    v = x.ema_of_squares(v, g, beta2, t)
    t = x.divide(v, correction, t)
    t = x.add(x.sqrt(t, t), eps, t)
    p = x.quotient_step(p, g, by_gradient, t, u)
    return x.quotient_step(p, m, by_average, t, u), m, v


class NAdam(ElementwiseOptimizer):
    """NAdam: Adam with Nesterov momentum, which grows from step to step. Source: Dozat 2016.

    >>> import wengert as torch
    >>> w = torch.tensor([1., 2.], requires_grad=True)
    >>> optimizer = torch.optim.NAdam([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.8944, 1.8944], requires_grad=True)
    """

    _late_options = ADAM_LATE
    _late_numbers = ("step", "mu_product")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_adam(lr, betas, eps, weight_decay=weight_decay, momentum_decay=momentum_decay)
        names = (
            "lr betas eps weight_decay momentum_decay decoupled_weight_decay maximize foreach capturable differentiable"
        )
        super().__init__(params, options(locals(), names))

    def _begin(self, group: dict[str, Any], p: Tensor, state: dict[str, Any]) -> None:
        state["step"] = new_step()
        state["mu_product"] = new_step(1.0)
        state["exp_avg"] = torch.zeros_like(p)
        state["exp_avg_sq"] = torch.zeros_like(p)

    def _rule(self, group: dict[str, Any], state: dict[str, Any], number: Any) -> Any:
        step = advance(state)
        lr = number(group["lr"])
        beta1, beta2 = group["betas"]
        decay = group["weight_decay"]
        shrink = 1 - lr * decay if group["decoupled_weight_decay"] and decay != 0 else None
        mu = beta1 * (1.0 - 0.5 * 0.96 ** (step * group["momentum_decay"]))
        mu_next = beta1 * (1.0 - 0.5 * 0.96 ** ((step + 1) * group["momentum_decay"]))
        product = set_number(state["mu_product"], state["mu_product"].item() * mu)
        by_gradient = -lr * (1.0 - mu) / (1.0 - product)
        by_average = -lr * mu_next / (1.0 - product * mu_next)
        constants = (shrink, beta1, beta2, 1 - beta2**step, group["eps"], by_gradient, by_average)
        return _nadam, ("exp_avg", "exp_avg_sq"), constants
