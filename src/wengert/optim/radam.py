"""RAdam."""

from __future__ import annotations

from typing import Any

from .._tape.tensor import Tensor
from ._elementwise import LATE, ElementwiseOptimizer, advance, check_adam, options
from .optimizer import ParamsT, functional_form

__all__ = ["RAdam"]

__getattr__ = functional_form("radam")


def _radam(x: Any, p: Any, g: Any, m: Any, v: Any, t: Any, u: Any, *constants: Any) -> Any:
    shrink, beta1, beta2, correction1, lr, eps, root, rectification = constants
    if shrink is not None:
        p = x.multiply(p, shrink, p)
    m = x.lerp(m, g, 1 - beta1, t)
    v = x.ema_of_squares(v, g, beta2, t)
    u = x.multiply(x.divide(m, correction1, u), lr, u)
    if rectification is not None:
        t = x.add(x.sqrt(v, t), eps, t)
        u = x.multiply(u, x.divide(root, t, t), u)
        u = x.multiply(u, rectification, u)
    return x.subtract(p, u, p), m, v


class RAdam(ElementwiseOptimizer):
    """RAdam: Adam that divides by the root of the average square only once its variance is known to be small.

    Source: Liu et al. 2019, "On the variance of the adaptive learning rate and beyond".

    >>> import wengert as torch
    >>> w = torch.tensor([1., 2.], requires_grad=True)
    >>> optimizer = torch.optim.RAdam([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.8000, 1.6000], requires_grad=True)
    """

    _late_options = LATE | {"decoupled_weight_decay": False, "capturable": False}
    _state = ("step", "exp_avg", "exp_avg_sq")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_adam(lr, betas, eps, weight_decay=weight_decay)
        names = "lr betas eps weight_decay maximize foreach capturable decoupled_weight_decay differentiable"
        super().__init__(params, options(locals(), names))

    def _rule(self, group: dict[str, Any], state: dict[str, Any], number: Any) -> Any:
        step = advance(state)
        lr = number(group["lr"])
        beta1, beta2 = group["betas"]
        decay = group["weight_decay"]
        shrink = 1 - lr * decay if group["decoupled_weight_decay"] and decay != 0 else None
        correction2 = 1 - beta2**step
        longest = 2 / (1 - beta2) - 1  # the length of the simple moving average equivalent to the exponential one
        length = longest - 2 * step * beta2**step / correction2
        rectification = None
        if length > 5.0:
            ratio = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
            rectification = ratio**0.5
        constants = (shrink, beta1, beta2, 1 - beta1**step, lr, group["eps"], correction2**0.5, rectification)
        return _radam, ("exp_avg", "exp_avg_sq"), constants
