"""Rprop."""

from __future__ import annotations

from typing import Any

import wengert as torch

from .._tape.tensor import Tensor
from ._elementwise import LATE, ElementwiseOptimizer, advance, check_lr, new_step, number, options
from .optimizer import ParamsT, functional_form

__all__ = ["Rprop"]

__getattr__ = functional_form("rprop")


def _rprop(
    x: Any,
    p: Any,
    g: Any,
    before: Any,
    size: Any,
    t: Any,
    u: Any,
    shrink: float,
    grow: float,
    least: float,
    most: float,
) -> Any:
    sign = x.sign(x.multiply(g, before, t), t)
    turned = sign < 0
    factor = x.where(turned, shrink, x.where(sign == 0, 1.0, x.where(sign > 0, grow, sign)))
    size = x.multiply(size, factor, size)
    size = x.clip(size, least, most, size)
    before = x.positive(x.where(turned, 0.0, g), before)  # no step where the sign has changed
    return x.subtract(p, x.multiply(x.sign(before, u), size, u), p), before, size


class Rprop(ElementwiseOptimizer):
    """Rprop uses only the signs of the gradient: an element's step grows while its sign stays the same, else shrinks.

    ``etas`` are the two factors, ``step_sizes`` the bounds of the step. Source: Riedmiller and Braun 1993.

    >>> import wengert as torch
    >>> w = torch.tensor([1., 2.], requires_grad=True)
    >>> optimizer = torch.optim.Rprop([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.9000, 1.9000], requires_grad=True)
    """

    _late_options = LATE | {"capturable": False}

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, options(locals(), "lr etas step_sizes foreach maximize differentiable capturable"))

    def _begin(self, group: dict[str, Any], p: Tensor, state: dict[str, Any]) -> None:
        lr = number(group["lr"])
        state["step"] = new_step()
        state["prev"] = torch.zeros_like(p)
        state["step_size"] = torch.full_like(p.detach(), complex(lr, lr) if p.is_complex() else lr)

    def _rule(self, group: dict[str, Any], state: dict[str, Any], number: Any) -> Any:
        advance(state)
        return _rprop, ("prev", "step_size"), (*group["etas"], *group["step_sizes"])
