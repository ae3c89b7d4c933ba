"""Adamax."""

from __future__ import annotations

from typing import Any

from .._tape.tensor import Tensor
from ._elementwise import LATE, ElementwiseOptimizer, advance, check_adam, options
from .optimizer import ParamsT, functional_form

__all__ = ["Adamax"]

__getattr__ = functional_form("adamax")


def _adamax(
    x: Any, p: Any, g: Any, m: Any, most: Any, t: Any, u: Any, beta1: Any, beta2: Any, eps: Any, lr: Any
) -> Any:
    m = x.lerp(m, g, 1 - beta1, t)
    t = x.add(x.absolute(g, t), eps, t)
    most = x.maximum(x.multiply(most, beta2, most), t, out=most)
    return x.quotient_step(p, m, -lr, most, u), m, most


class Adamax(ElementwiseOptimizer):
    """Adamax: Adam with the decayed maximum of the gradient in place of the root of the average square.

    Source: Kingma and Ba 2014, section 7.1.

    >>> import wengert as torch
    >>> w = torch.tensor([1., 2.], requires_grad=True)
    >>> optimizer = torch.optim.Adamax([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.9000, 1.9000], requires_grad=True)
    """

    _late_options = LATE | {"capturable": False}
    _state = ("step", "exp_avg", "exp_inf")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_adam(lr, betas, eps, weight_decay=weight_decay)
        names = "lr betas eps weight_decay foreach maximize differentiable capturable"
        super().__init__(params, options(locals(), names))

    def _rule(self, group: dict[str, Any], state: dict[str, Any], number: Any) -> Any:
        beta1, beta2 = group["betas"]
        lr = number(group["lr"]) / (1 - beta1 ** advance(state))
        return _adamax, ("exp_avg", "exp_inf"), (beta1, beta2, group["eps"], lr)
