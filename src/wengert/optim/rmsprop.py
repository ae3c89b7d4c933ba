"""RMSprop."""

from __future__ import annotations

from typing import Any

import wengert as torch

from .._tape.tensor import Tensor
from ._elementwise import LATE, ElementwiseOptimizer, advance, check_lr, check_not_negative, new_step, options
from .optimizer import ParamsT, functional_form

__all__ = ["RMSprop"]

__getattr__ = functional_form("rmsprop")


def _finish(x: Any, p: Any, g: Any, buffer: Any, t: Any, u: Any, lr: Any, momentum: Any) -> Any:
    """Step by ``g / t``, or by a momentum buffer to which it is added: returns ``(p,)`` or ``(p, buffer)``."""
    if buffer is None:
        return (x.quotient_step(p, g, -lr, t, u),)
    buffer = x.add(x.multiply(buffer, momentum, buffer), x.divide(g, t, u), buffer)
    return x.add_scaled(p, buffer, -lr, u), buffer


def _plain(x: Any, p: Any, g: Any, v: Any, *rest: Any) -> Any:
    *buffers, t, u, lr, alpha, eps, momentum = rest
    v = x.ema_of_squares(v, g, alpha, t)
    t = x.add(x.sqrt(v, t), eps, t)
    p, *buffers = _finish(x, p, g, buffers[0] if buffers else None, t, u, lr, momentum)
    return p, v, *buffers


def _centered(x: Any, p: Any, g: Any, v: Any, mean: Any, *rest: Any) -> Any:
    *buffers, t, u, lr, alpha, eps, momentum = rest
    v = x.ema_of_squares(v, g, alpha, t)
    mean = x.lerp(mean, g, 1 - alpha, t)
    t = x.multiply(mean, mean, t)
    t = x.subtract(v, t, t)
    t = x.add(x.sqrt(t, t), eps, t)
    p, *buffers = _finish(x, p, g, buffers[0] if buffers else None, t, u, lr, momentum)
    return p, v, mean, *buffers


class RMSprop(ElementwiseOptimizer):
    """RMSprop: divides the gradient by the root of its average square, or if ``centered`` by its standard deviation.

    Source: Hinton's lectures 2012; centered: Graves 2013. ``eps`` is added after the root.

    >>> import wengert as torch
    >>> w = torch.tensor([1., 2.], requires_grad=True)
    >>> optimizer = torch.optim.RMSprop([w], lr=0.01)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.9000, 1.9000], requires_grad=True)
    """

    _late_options = LATE | {"momentum": 0, "centered": False, "capturable": False}

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative(epsilon=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        names = "lr momentum alpha eps centered weight_decay capturable foreach maximize differentiable"
        super().__init__(params, options(locals(), names))

    def _begin(self, group: dict[str, Any], p: Tensor, state: dict[str, Any]) -> None:
        state["step"] = new_step()
        state["square_avg"] = torch.zeros_like(p)
        if group["momentum"] > 0:
            state["momentum_buffer"] = torch.zeros_like(p)
        if group["centered"]:
            state["grad_avg"] = torch.zeros_like(p)

    def _rule(self, group: dict[str, Any], state: dict[str, Any], number: Any) -> Any:
        advance(state)
        names = ["square_avg"]
        if group["centered"]:
            names.append("grad_avg")
        if group["momentum"] > 0:
            names.append("momentum_buffer")
        constants = (number(group["lr"]), group["alpha"], group["eps"], group["momentum"])
        return _centered if group["centered"] else _plain, tuple(names), constants
