"""ASGD."""

from __future__ import annotations

from typing import Any

import wengert as torch

from .._tape.tensor import Tensor
from ._elementwise import (
    LATE,
    ElementwiseOptimizer,
    advance,
    check_lr,
    check_not_negative,
    new_step,
    options,
    set_number,
)
from .optimizer import ParamsT, functional_form

__all__ = ["ASGD"]

__getattr__ = functional_form("asgd")


def _asgd(x: Any, p: Any, g: Any, average: Any, t: Any, u: Any, shrink: float, eta: float, mu: float) -> Any:
    p = x.multiply(p, shrink, p)
    p = x.subtract(p, x.multiply(g, eta, t), p)
    if mu == 1:
        return p, x.positive(p, average)
    t = x.multiply(x.subtract(p, average, t), mu, t)
    return p, x.add(average, t, average)


class ASGD(ElementwiseOptimizer):
    """Averaged stochastic gradient descent. From step ``t0`` on, the state ``ax`` is the mean of the parameters.

    Source: Polyak and Juditsky 1992.

    >>> import wengert as torch
    >>> w = torch.tensor([1., 2.], requires_grad=True)
    >>> optimizer = torch.optim.ASGD([w], lr=0.25)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.5000, 1.0000], requires_grad=True)
    """

    _late_options = LATE | {"capturable": False}
    _late_numbers = ("step", "eta", "mu")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative(weight_decay=weight_decay)
        names = "lr lambd alpha t0 weight_decay foreach maximize differentiable capturable"
        super().__init__(params, options(locals(), names))

    def _begin(self, group: dict[str, Any], p: Tensor, state: dict[str, Any]) -> None:
        state["step"] = new_step()
        state["eta"] = new_step(float(group["lr"]))
        state["mu"] = new_step(1.0)
        state["ax"] = torch.zeros_like(p)

    def _rule(self, group: dict[str, Any], state: dict[str, Any], number: Any) -> Any:
        step = advance(state)
        eta, mu = state["eta"].item(), state["mu"].item()
        lr, lambd = float(group["lr"]), group["lambd"]
        set_number(state["eta"], lr / ((1 + lambd * lr * step) ** group["alpha"]))
        set_number(state["mu"], 1 / max(1, step - group["t0"]))
        return _asgd, ("ax",), (1 - lambd * eta, eta, mu)
