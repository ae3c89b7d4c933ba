"""Adadelta."""

from __future__ import annotations

from typing import Any

from .._tape.tensor import Tensor
from ._elementwise import LATE, ElementwiseOptimizer, advance, check_lr, check_not_negative, check_option, options
from .optimizer import ParamsT, functional_form

__all__ = ["Adadelta"]

__getattr__ = functional_form("adadelta")


def _adadelta(x: Any, p: Any, g: Any, squares: Any, deltas: Any, t: Any, u: Any, lr: Any, rho: Any, eps: Any) -> Any:
    squares = x.ema_of_squares(squares, g, rho, t)
    t = x.add(squares, eps, t)
    t = x.sqrt(t, t)
    u = x.add(deltas, eps, u)
    u = x.sqrt(u, u)
    u = x.multiply(x.divide(u, t, u), g, u)
    deltas = x.ema_of_squares(deltas, u, rho, t)
    return x.add_scaled(p, u, -lr, t), squares, deltas


class Adadelta(ElementwiseOptimizer):
    """Adadelta: scales the gradient by the root mean square of past steps over that of past gradients.

    Source: Zeiler 2012.

    >>> import wengert as torch
    >>> w = torch.tensor([1., 2.], requires_grad=True)
    >>> optimizer = torch.optim.Adadelta([w], lr=100.)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.6838, 1.6838], requires_grad=True)
    """

    _late_options = LATE | {"capturable": False}
    _state = ("step", "square_avg", "acc_delta")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_option("rho value", rho, 0.0 <= rho <= 1.0)
        check_not_negative(epsilon=eps, weight_decay=weight_decay)
        names = "lr rho eps weight_decay maximize capturable foreach differentiable"
        super().__init__(params, options(locals(), names))

    def _rule(self, group: dict[str, Any], state: dict[str, Any], number: Any) -> Any:
        advance(state)
        return _adadelta, ("square_avg", "acc_delta"), (number(group["lr"]), group["rho"], group["eps"])
