"""Adam."""

from __future__ import annotations

from typing import Any

import wengert as torch

from .._tape.tensor import Tensor
from ._elementwise import ADAM_LATE, ElementwiseOptimizer, advance, check_adam, check_fused, check_lr, new_step, options
from .optimizer import ParamsT, _to_scalar, functional_form

__all__ = ["Adam"]

__getattr__ = functional_form("adam")


def _adam(x: Any, p: Any, g: Any, m: Any, v: Any, t: Any, u: Any, *constants: Any) -> Any:
    shrink, beta1, beta2, root, eps, step_size = constants
    if shrink is not None:
        p = x.multiply(p, shrink, p)
    m = x.lerp(m, g, 1 - beta1, t)
    v = x.ema_of_squares(v, g, beta2, t)
    t = x.add(x.sqrt(v, t), eps * root, t)
    return x.quotient_step(p, m, -step_size * root, t, u), m, v


def _amsgrad(x: Any, p: Any, g: Any, m: Any, v: Any, most: Any, t: Any, u: Any, *constants: Any) -> Any:
    shrink, beta1, beta2, root, eps, step_size = constants
    if shrink is not None:
        p = x.multiply(p, shrink, p)
    m = x.lerp(m, g, 1 - beta1, t)
    v = x.ema_of_squares(v, g, beta2, t)
    most = x.maximum(most, v, out=most)
    t = x.add(x.sqrt(most, t), eps * root, t)
    return x.quotient_step(p, m, -step_size * root, t, u), m, v, most


def check_tensor_lr(lr: Any, foreach: Any, capturable: bool) -> None:
    """Check that ``lr`` is a number, or a tensor with one element unless ``foreach=True``."""
    if isinstance(lr, Tensor) and foreach and not capturable:
        raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
    check_lr(lr)


def check_tensor_betas(betas: Any, foreach: Any, capturable: bool) -> None:
    """Check that both decay rates are floats, or both tensors with one element."""
    kinds = [float if isinstance(b, float) else Tensor if isinstance(b, Tensor) else None for b in betas[:2]]
    if kinds not in ([float, float], [Tensor, Tensor]):
        raise ValueError("betas must be either both floats or both Tensors")
    for i, beta in enumerate(betas[:2]):
        if isinstance(beta, Tensor):
            if not capturable and foreach:
                raise ValueError(f"betas[{i}] as a Tensor is not supported for capturable=False and foreach=True")
            if beta.numel() != 1:
                raise ValueError(f"Tensor betas[{i}] must be 1-element")


class Adam(ElementwiseOptimizer):
    """Adam: steps by the average gradient, divided by the root of the average squared gradient.

    ``amsgrad``: divide by the largest such root so far. ``decoupled_weight_decay``: shrink the parameters instead of
    adding to the gradient (AdamW). ``foreach``, ``fused`` and ``capturable`` have no effect. Source: Kingma and Ba
    2014; Reddi et al. 2018.

    >>> import wengert as torch
    >>> w = torch.tensor([1., 2.], requires_grad=True)
    >>> optimizer = torch.optim.Adam([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.9000, 1.9000], requires_grad=True)
    """

    _late_options = {"amsgrad": False} | ADAM_LATE | {"fused": None}

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        check_tensor_lr(lr, foreach, capturable)
        check_adam(lr, betas, eps, weight_decay=weight_decay)
        check_tensor_betas(betas, foreach, capturable)
        betas = tuple(map(_to_scalar, betas))
        names = (
            "lr betas eps weight_decay amsgrad maximize foreach capturable differentiable fused decoupled_weight_decay"
        )
        super().__init__(params, options(locals(), names))
        check_fused(fused, foreach, differentiable)

    def _step_sparse(self, group: dict[str, Any], p: Tensor, g: Any) -> None:
        raise RuntimeError("Adam does not support sparse gradients, please consider SparseAdam instead")

    def _begin(self, group: dict[str, Any], p: Tensor, state: dict[str, Any]) -> None:
        if group["foreach"] and isinstance(group["lr"], Tensor) and not group["capturable"]:
            raise RuntimeError("lr as a Tensor is not supported for capturable=False and foreach=True")
        state["step"] = new_step(fused=group["fused"])
        state["exp_avg"] = torch.zeros_like(p)
        state["exp_avg_sq"] = torch.zeros_like(p)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = torch.zeros_like(p)

    def _rule(self, group: dict[str, Any], state: dict[str, Any], number: Any) -> Any:
        step = advance(state)
        lr = number(group["lr"])
        beta1, beta2 = group["betas"]
        beta1, beta2 = number(beta1), number(beta2)
        decay = group["weight_decay"]
        shrink = 1 - lr * number(decay) if group["decoupled_weight_decay"] and decay != 0 else None
        step_size = lr / (1 - beta1**step)
        constants = (shrink, beta1, beta2, (1 - beta2**step) ** 0.5, group["eps"], step_size)
        if group["amsgrad"]:
            return _amsgrad, ("exp_avg", "exp_avg_sq", "max_exp_avg_sq"), constants
        return _adam, ("exp_avg", "exp_avg_sq"), constants
